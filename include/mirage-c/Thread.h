// Thread.h - C API of the mirage_thread dialect: fragments.
#ifndef MIRAGE_C_THREAD_H
#define MIRAGE_C_THREAD_H

#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

// !mirage_thread.fragment<...>. `space` is FRAGMENT.
MLIR_CAPI_EXPORTED bool mirageThreadTypeIsAFragment(MlirType type);
MLIR_CAPI_EXPORTED MlirType mirageThreadFragmentTypeGet(MlirContext context, const MirageType *fragment);
MLIR_CAPI_EXPORTED void mirageThreadFragmentTypeGetValue(MlirType type, MirageType *out_fragment);

#ifdef __cplusplus
}
#endif
#endif
