// rules.h - what the C++ classes of the dialects ask of C: the rules of every operation. Internal to dialect/.
#ifndef MIRAGE_DIALECT_RULES_H
#define MIRAGE_DIALECT_RULES_H

#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The operator behind "mirage_block.matmul", with its level; MIRAGE_OP_NONE for other names (mirage_kernel.graph too).
MirageOp mirage_dialect_find(MlirStringRef name, MirageLevel *out_level);

/// Checks one operation. `regions` false: before what its region holds has been checked; true: after.
MlirLogicalResult mirage_dialect_verify(MlirOperation operation, bool regions);

/// Infers the single result type of an operator. Says why at `location` when it cannot, unless that is null.
MlirLogicalResult mirage_dialect_infer(MlirStringRef name, intptr_t num_operands, const MlirType *operands,
                                       MlirAttribute attributes, MlirContext context, MlirLocation location,
                                       MlirType *out_type);

/// Checks that `source`, which a candidate's `source` names (null: nothing of that name), is a graph of the same
/// signature.
MlirLogicalResult mirage_dialect_check_source(MlirOperation candidate, MlirOperation source);

/// Checks that `graph`, which a call names (null: nothing of that name), is a graph of the call's operands and results.
MlirLogicalResult mirage_dialect_check_callee(MlirOperation call, MlirOperation graph);

/// Element type, rank and extents of a tile or fragment; `what` names it in sentences. NULL `diag` is silent.
MirageStatus mirage_dialect_check_type(const char *what, intptr_t rank, const int64_t *shape, MlirType element,
                                       const MirageDiag *diag);

/// True when removing or merging this load would shift the positions that its kernel's schedule counts by.
bool mirage_dialect_load_is_listed(MlirOperation load);

#ifdef __cplusplus
}
#endif
#endif
