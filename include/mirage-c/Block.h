// Block.h - C API of the mirage_block dialect: tiles, layouts, and the attributes of load and loop.
//
// In each group: IsA tells, Get builds, GetValue reads. GetValue asks for a type or attribute of its own kind.
#ifndef MIRAGE_C_BLOCK_H
#define MIRAGE_C_BLOCK_H

#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

// !mirage_block.tile<...>. `space` is TILE, SHARED or REGISTER.
MLIR_CAPI_EXPORTED bool mirageBlockTypeIsATile(MlirType type);
MLIR_CAPI_EXPORTED MlirType mirageBlockTileTypeGet(MlirContext context, const MirageType *tile);
MLIR_CAPI_EXPORTED void mirageBlockTileTypeGetValue(MlirType type, MirageType *out_tile);

// #mirage_block.layout<...>. Get is for layouts with `planned` set, of a tile of `rank` dimensions; strides that are
// all 0 are left out. GetValue sets `planned`, and strides that were left out to 0.
MLIR_CAPI_EXPORTED bool mirageBlockAttributeIsALayout(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageBlockLayoutAttrGet(MlirContext context, uint32_t rank,
                                                          const MirageLayout *layout);
MLIR_CAPI_EXPORTED void mirageBlockLayoutAttrGetValue(MlirAttribute attribute, MirageLayout *out_layout);

// #mirage_block<carry ...>, one element of a loop's `carries`.
MLIR_CAPI_EXPORTED bool mirageBlockAttributeIsACarry(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageBlockCarryAttrGet(MlirContext context, MirageCarry carry);
MLIR_CAPI_EXPORTED MirageCarry mirageBlockCarryAttrGetValue(MlirAttribute attribute);

// #mirage_block.fill<...>, a load's `fill`.
MLIR_CAPI_EXPORTED bool mirageBlockAttributeIsAFill(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageBlockFillAttrGet(MlirContext context, MirageFill fill);
MLIR_CAPI_EXPORTED MirageFill mirageBlockFillAttrGetValue(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif
#endif
