// canonical.h - block graphs for single kernel-level operators; shared by canonical.c and canonical_ops.c.
#ifndef MIRAGE_CODEGEN_CANONICAL_H
#define MIRAGE_CODEGEN_CANONICAL_H

#include "mirage/target.h"
#include "mirage/ugraph.h"

/// One kernel-level operator being rewritten: operands are values of the new graph.
typedef struct CanonicalOp {
  MirageUGraph *graph;
  const MirageTarget *target;
  MirageOp op;
  const MirageAttrs *attrs;
  uint32_t num_operands;
  const MirageValue *operands;
  const MirageType *operand_types;
  const MirageAttrs *const
      *constants; // per operand: the attributes of the constant it is, or NULL; folded by pointwise
  MirageType result;
} CanonicalOp;

/// Appends the custom node that computes the operator and returns its result; {0} after a builder's failure.
MirageValue mirage__canonical_matmul(const CanonicalOp *op);
MirageValue mirage__canonical_reduce(const CanonicalOp *op);
MirageValue mirage__canonical_reshape(const CanonicalOp *op);
/// Element-wise operators, casts, constants, and the remaining shape operators.
MirageValue mirage__canonical_pointwise(const CanonicalOp *op);

#endif
