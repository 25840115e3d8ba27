// Values.h - single types, attributes and diagnostics across the border between MLIR and the core.
//
// The dialects' verifiers, their type inference and the bridge all go through here, so that they agree.
#ifndef MIRAGE_C_VALUES_H
#define MIRAGE_C_VALUES_H

#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A sink that emits MLIR diagnostics at the MlirLocation whose pointer is `loc` (or at `fallback` when loc is NULL).
/// `storage` is the caller's and must outlive the diag.
typedef struct MirageBridgeDiag {
  MirageDiag diag; // hand &storage.diag to the core
  MlirLocation fallback;
} MirageBridgeDiag;
void mirage_bridge_diag_init(MirageBridgeDiag *storage, MlirLocation fallback);

/// Element types: false for one that is no row of mirage/dtypes.def.
bool mirage_bridge_dtype_import(MlirType element, MirageDType *out_dtype);
MlirType mirage_bridge_dtype_export(MlirContext context, MirageDType dtype);
/// BAD_TYPE for anything but a ranked static tensor / tile / fragment of f16, bf16, f32 with extents >= 1: the sentence
/// names the type and the remedy.
MirageStatus mirage_bridge_type_import(MlirType type, const MirageDiag *diag, const void *loc, MirageType *out_type);
MlirType mirage_bridge_type_export(MlirContext context, const MirageType *type);
/// Attributes of an operation from its attribute dictionary (inherent ones). Pointers in `out_attrs` live in `arena`.
/// What the result type says is no attribute in MLIR: mirage_bridge_attrs_add_result fills it in.
MirageStatus mirage_bridge_attrs_import(MirageOp op, MlirAttribute dictionary, MirageArena *arena,
                                        const MirageDiag *diag, const void *loc, MirageAttrs *out_attrs);
/// The type of `shape` and `constant`, and whether a product or reduction of `operand` is `wide`. `operand` is the first
/// operand's type, NULL without operands.
void mirage_bridge_attrs_add_result(MirageOp op, MirageLevel level, const MirageType *operand, const MirageType *result,
                                    MirageAttrs *attrs);

#ifdef __cplusplus
}
#endif
#endif
