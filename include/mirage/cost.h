// cost.h - predicted time of a kernel graph on a target: bytes, flops, launches, waves. lib/search/cost/README.md says how.
#ifndef MIRAGE_COST_H
#define MIRAGE_COST_H

#include "mirage/target.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Cost of the whole graph; kernel-level operators outside custom count as one kernel each (their own lowering).
/// Errors: UNSUPPORTED for sugar that was not expanded.
MirageStatus mirage_cost(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                         MirageCost *out_cost);

#ifdef __cplusplus
}
#endif
#endif
