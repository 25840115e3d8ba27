// canonical_op.h - block graphs for single kernel-level operators; shared by the files of this folder.
#ifndef MIRAGE_LIB_CANONICAL_OP_H
#define MIRAGE_LIB_CANONICAL_OP_H

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
  double scale; // softmax only; 1 = none
} CanonicalOp;

/// How a result is cut: parts[d] blocks along dimension d, of which at most three differ from 1.
typedef struct Cut {
  int64_t parts[MIRAGE_MAX_RANK];
  int axis[MIRAGE_MAX_RANK]; // grid axis of dimension d, -1 = whole
  MirageCustomAttrs attrs;
} Cut;

static inline int64_t cut_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t cut_chunk(int64_t extent, int64_t parts) { return cut_ceil_div(extent, parts); }
static inline MirageAccessAttrs no_access(void) {
  return (MirageAccessAttrs){.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
}

/// Cuts dimensions outermost first until a tile has at most `target` elements; `whole` (or -1) stays uncut.
Cut mirage__cut(const MirageType *type, int whole, int64_t target);
/// Elements of a tile: `most`, or fewer, so that each multiprocessor gets a block where there is enough to do.
int64_t mirage__tile_target(const CanonicalOp *op, int64_t elements, int64_t most);
MirageType mirage__cut_tile(const MirageType *tensor, const Cut *cut, MirageDType dtype);
/// Access to an operand that broadcasts to the result.
MirageAccessAttrs mirage__broadcast_access(const Cut *cut, const MirageType *from, const MirageType *to);
/// Opens the custom node on all operands; stores its one result and closes it.
MirageNode mirage__open_canonical(const CanonicalOp *op, const MirageCustomAttrs *attrs);
MirageValue mirage__close_canonical(const CanonicalOp *op, MirageNode custom, MirageValue tile,
                                    const MirageAccessAttrs *access);

/// Appends the custom node that computes the operator and returns its result; {0} after a builder's failure.
MirageValue mirage__canonical_matmul(const CanonicalOp *op);
MirageValue mirage__canonical_reduce(const CanonicalOp *op);
/// Softmax (of op->scale times its operand), norms. canonical_rows.c
MirageValue mirage__canonical_rows(const CanonicalOp *op);
/// Element-wise operators, casts, constants, and the remaining shape operators.
MirageValue mirage__canonical_pointwise(const CanonicalOp *op);

#endif
