// lift.h - operations of linalg, tensor, arith and math as operators of a program. Private to lib/bridge.
//
//   lift.c             values; constants; reshapes, slices, concatenations
//   lift_structured.c  structured operations (linalg.generic and the named ones): products, reductions, element-wise
//   lift_body.c        what a structured operation computes for an element, operator by operator
//   partition.c        which operations of a function become which program
//
// A lift is made twice: once for each operation alone, to see whether it can be said, and once for all operations of a part.
#ifndef MIRAGE_BRIDGE_LIFT_H
#define MIRAGE_BRIDGE_LIFT_H

#include "mirage/arena.h"
#include "mirage/bridge.h"

enum { LIFT_MAX_DIMS = 12, LIFT_REASON = 160 };

typedef struct LiftValue {
  const void *value; // MlirValue's pointer
  MirageValue lifted;
} LiftValue;

typedef struct Lift {
  MirageUGraph *graph;
  MirageArena *arena;
  uint32_t count, room;
  LiftValue *values;
  // Whether two operations come to stand in the same graph; NULL: one operation alone is tried.
  bool (*together)(const void *user, MlirOperation a, MlirOperation b);
  const void *user;
  char reason[LIFT_REASON]; // why it failed
} Lift;

/// Lifts one operation: its operands' values have been bound, its results' are bound by it. False with a reason.
bool mirage__lift(Lift *lift, MlirOperation op);
/// Binds `value` to `lifted`; false when memory is out.
bool mirage__lift_bind(Lift *lift, MlirValue value, MirageValue lifted);
/// What `value` was bound to, or is by its definition (a constant, a filled tensor); {0} with a reason otherwise.
MirageValue mirage__lift_value(Lift *lift, MlirValue value);

/// Formats the reason and returns false.
__attribute__((format(printf, 2, 3))) bool mirage__lift_fail(Lift *lift, const char *format, ...);

/// A value whose elements are all the same number, by its definition: constants, linalg.fill of one.
bool mirage__lift_splat(MlirValue value, double *out_value);
/// Whether nobody has written to the tensor: tensor.empty.
bool mirage__lift_is_empty(MlirValue value);
/// Whether the operation only makes such a value: it is no part's own, and lifted wherever it is needed.
bool mirage__lift_is_source(MlirOperation op);
/// A constant attribute's number: a float, an integer, or a splat of one.
bool mirage__lift_number(MlirAttribute attribute, double *out_value);

bool mirage__lift_structured(Lift *lift, MlirOperation op);
bool mirage__lift_is_structured(MlirOperation op);
/// 2 for products and reductions, 1 for arithmetic, 0 for what moves data.
uint32_t mirage__lift_weight(MlirOperation op);

// Short forms over the builder; types by inference.
MirageValue mirage__lift_unary(Lift *lift, MirageOp op, MirageValue a);
MirageValue mirage__lift_binary(Lift *lift, MirageOp op, MirageValue a, MirageValue b);
MirageValue mirage__lift_cast(Lift *lift, MirageValue a, MirageDType dtype);
MirageValue mirage__lift_reshape(Lift *lift, MirageValue a, uint32_t rank, const int64_t *shape);
MirageValue mirage__lift_transpose(Lift *lift, MirageValue a, const int32_t *perm);
MirageValue mirage__lift_broadcast(Lift *lift, MirageValue a, uint32_t rank, const int64_t *shape);
MirageValue mirage__lift_constant(Lift *lift, MirageDType dtype, uint32_t rank, double value);

// One element of a structured operation: what its body says of it, over the iteration space.
typedef struct LiftBody {
  Lift *lift;
  MlirBlock block;
  uint32_t rank;             // of the iteration space
  uint32_t num_inputs;       // the block's first arguments; the others are outputs
  const MirageValue *inputs; // lifted to the iteration space: extents of it, or 1
  uint32_t count;            // of values below
  struct LiftElement {
    const void *value;
    bool is_number;
    double number;
    MirageDType dtype; // of a number
    MirageValue tensor;
  } values[64];
} LiftBody;
typedef struct LiftElement LiftElement;

/// The element `value` as a tensor over the iteration space, or a number.
bool mirage__lift_element(LiftBody *body, MlirValue value, LiftElement *out);
/// The same as a tensor, whatever it is.
MirageValue mirage__lift_tensor(LiftBody *body, MlirValue value);
/// The operator on tensors behind "arith.addf" and its like, over a type's elements; MIRAGE_OP_NONE for others.
MirageOp mirage__lift_operator(MlirStringRef name, uint32_t *out_operands);

/// f16, bf16, f32, and f64 as f32: exporters compute statistics of f16 data in f64. False, and untouched, for other types.
bool mirage__lift_dtype(MlirType type, MirageDType *out);
/// The same of a static ranked tensor. One of f64 may be inside a part, and not at its border.
bool mirage__lift_type(MlirType type, MirageType *out);
/// Whether the operation tests for rows that are masked wholly (all of them -inf), for nothing but a select that would put
/// zeros there: exp(-inf - -inf) in a softmax that is made safe. Without masks there are none, and the test is passed over.
bool mirage__lift_is_safety(MlirOperation op);
bool mirage__lift_named(MlirOperation op, const char *name);
MlirStringRef mirage__lift_name(MlirOperation op);

#endif
