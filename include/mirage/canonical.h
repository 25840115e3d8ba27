// canonical.h - the kernel that a kernel-level operator becomes where no search makes it part of another.
#ifndef MIRAGE_CANONICAL_H
#define MIRAGE_CANONICAL_H

#include "mirage/target.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rewrites kernel-level operators outside `custom` as custom nodes with their canonical one-operator block graph, so that
/// a program has its own lowering and code generation sees nothing else. Softmax and norms are one kernel each, attention
/// is three; what such a kernel computes is rounded once. A reshape stays, since it is no kernel: mirage_ugraph_storage.
MirageStatus mirage_canonicalize(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                                 MirageUGraph **out_graph);

#ifdef __cplusplus
}
#endif
#endif
