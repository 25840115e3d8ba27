// lift_structured.c - structured operations: products, reductions and element-wise bodies over an iteration space.
//
// Every operand is a projection of the iteration space: each of its dimensions walks one of the space's, or stays at 0. It is
// lifted to the space by moving its dimensions into the space's order and giving those that it lacks an extent of 1.
//   product       the body adds up a product of two operands: matmul on [batch, m, k] and [batch, k, n], whatever the maps
//   reduction     the body adds up, or keeps the maximum of, what it computes: that as element-wise, then a reduction a dimension
//   element-wise  everything else
// Example: (d0, d1, d2) -> x (d0, d2), w (d2, d1), y (d0, d1), y + x * w   is a product with m = d0, n = d1, k = d2.
#include "lift.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <math.h>
#include <string.h>

enum { MAX_OPERANDS = 16, NO_DIM = -1 };

typedef struct Operand {
  MlirValue value;
  bool is_tensor;
  MirageType type; // of a tensor
  uint32_t rank;
  int32_t dims[MIRAGE_MAX_RANK]; // of the space, or NO_DIM: always 0
} Operand;

typedef struct Structured {
  Lift *lift;
  MlirOperation op;
  MlirBlock block;
  uint32_t rank; // of the space
  int64_t extents[LIFT_MAX_DIMS];
  uint32_t num_inputs, num_outputs;
  Operand operands[MAX_OPERANDS]; // inputs, then outputs
} Structured;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// --------------------------------------------------------------------------------------------------------------- reading

bool mirage__lift_is_structured(MlirOperation op) {
  MlirStringRef name = mirage__lift_name(op);
  if (name.length < 7 || memcmp(name.data, "linalg.", 7) != 0 || mlirOperationGetNumRegions(op) != 1)
    return false;
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, str("operandSegmentSizes"))) ||
         mirage__lift_named(op, "linalg.transpose") || mirage__lift_named(op, "linalg.broadcast") ||
         mirage__lift_named(op, "linalg.reduce") || mirage__lift_named(op, "linalg.map");
}

static bool read_map(Structured *s, MlirAffineMap map, Operand *operand) {
  uint32_t seen = 0;
  operand->rank = (uint32_t)mlirAffineMapGetNumResults(map);
  if (operand->rank > MIRAGE_MAX_RANK)
    return mirage__lift_fail(s->lift, "an operand of %u dimensions, at most %d are supported", operand->rank,
                             MIRAGE_MAX_RANK);
  for (uint32_t i = 0; i < operand->rank; i++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, (intptr_t)i);
    if (mlirAffineExprIsAConstant(expr) && mlirAffineConstantExprGetValue(expr) == 0) {
      operand->dims[i] = NO_DIM;
      continue;
    }
    if (!mlirAffineExprIsADim(expr))
      return mirage__lift_fail(s->lift, "an operand is indexed by more than one dimension at a time");
    operand->dims[i] = (int32_t)mlirAffineDimExprGetPosition(expr);
    if (seen & 1u << operand->dims[i])
      return mirage__lift_fail(s->lift, "an operand is read along its diagonal");
    seen |= 1u << operand->dims[i];
  }
  return true;
}

static bool read_operand(Structured *s, uint32_t i, MlirAffineMap map) {
  Operand *operand = &s->operands[i];
  operand->value = mlirOperationGetOperand(s->op, (intptr_t)i);
  MlirType type = mlirValueGetType(operand->value);
  operand->is_tensor = mlirTypeIsARankedTensor(type);
  if (!operand->is_tensor)
    return mlirAffineMapGetNumResults(map) == 0 || mirage__lift_fail(s->lift, "an operand is no tensor");
  if (!read_map(s, map, operand))
    return false;
  if (!mirage__lift_type(type, &operand->type))
    operand->type = (MirageType){.rank = UINT32_MAX}; // an output that nobody uses may be of any type
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); d++) {
    if (mlirShapedTypeIsDynamicDim(type, d))
      return mirage__lift_fail(s->lift, "its shape is known at run time alone");
    int32_t dim = operand->dims[d];
    int64_t extent = mlirShapedTypeGetDimSize(type, d);
    if (dim == NO_DIM && extent != 1)
      return mirage__lift_fail(s->lift, "it reads one row of an operand that has more");
    if (dim != NO_DIM)
      s->extents[dim] = extent;
  }
  return true;
}

static bool read_counts(Structured *s) {
  MlirAttribute sizes = mlirOperationGetAttributeByName(s->op, str("operandSegmentSizes"));
  intptr_t operands = mlirOperationGetNumOperands(s->op);
  if (!mlirAttributeIsNull(sizes) && mlirDenseArrayGetNumElements(sizes) == 2) {
    s->num_inputs = (uint32_t)mlirDenseI32ArrayGetElement(sizes, 0);
    s->num_outputs = (uint32_t)mlirDenseI32ArrayGetElement(sizes, 1);
  } else {
    s->num_outputs = (uint32_t)mlirOperationGetNumResults(s->op);
    s->num_inputs = (uint32_t)operands - s->num_outputs;
  }
  return operands <= MAX_OPERANDS ||
         mirage__lift_fail(s->lift, "it has %d operands, at most %d are supported", (int)operands, MAX_OPERANDS);
}

static bool read_structured(Structured *s) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(s->op);
  if (mlirAttributeIsNull(maps) || mlirOperationGetNumResults(s->op) == 0)
    return mirage__lift_fail(s->lift, "it works on memory");
  if (!read_counts(s))
    return false;
  if (mlirArrayAttrGetNumElements(maps) != (intptr_t)(s->num_inputs + s->num_outputs))
    return mirage__lift_fail(s->lift, "its maps do not fit its operands");
  for (uint32_t i = 0; i < s->num_inputs + s->num_outputs; i++) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, (intptr_t)i));
    s->rank = (uint32_t)mlirAffineMapGetNumDims(map);
    if (s->rank > LIFT_MAX_DIMS || mlirAffineMapGetNumSymbols(map) > 0)
      return mirage__lift_fail(s->lift, "its iteration space has %u dimensions", s->rank);
    if (!read_operand(s, i, map))
      return false;
  }
  s->block = mlirRegionGetFirstBlock(mlirOperationGetRegion(s->op, 0));
  for (uint32_t d = 0; d < s->rank; d++)
    if (s->extents[d] < 1)
      return mirage__lift_fail(s->lift, "dimension %u of its iteration space has no elements", d);
  return true;
}

// --------------------------------------------------------------------------------------------------------------- lifting

static bool walks(const Operand *operand, uint32_t dim) {
  for (uint32_t i = 0; i < operand->rank; i++)
    if (operand->dims[i] == (int32_t)dim)
      return true;
  return false;
}

/// The operand's value with those of its dimensions that walk the space in the order `order`, each extent its own, without
/// the others.
static MirageValue arranged(Structured *s, const Operand *operand, MirageValue value, uint32_t count,
                            const uint32_t *order) {
  int32_t perm[MIRAGE_MAX_RANK];
  int64_t shape[MIRAGE_MAX_RANK];
  uint32_t used = 0;
  for (uint32_t k = 0; k < count; k++)
    for (uint32_t i = 0; i < operand->rank; i++)
      if (operand->dims[i] == (int32_t)order[k]) {
        shape[used] = s->extents[order[k]];
        perm[used++] = (int32_t)i;
      }
  uint32_t walked = used;
  for (uint32_t i = 0; i < operand->rank; i++)
    if (operand->dims[i] == NO_DIM)
      perm[used++] = (int32_t)i;
  value = mirage__lift_transpose(s->lift, value, perm);
  return mirage__lift_reshape(s->lift, value, walked, shape);
}

/// The operand over the whole space: its extents, and 1 where it does not walk.
static MirageValue over_space(Structured *s, const Operand *operand) {
  uint32_t order[LIFT_MAX_DIMS];
  int64_t shape[MIRAGE_MAX_RANK];
  MirageValue value = mirage__lift_value(s->lift, operand->value);
  if (!value.index)
    return value;
  for (uint32_t d = 0; d < s->rank; d++) {
    order[d] = d;
    shape[d] = walks(operand, d) ? s->extents[d] : 1;
  }
  int32_t perm[MIRAGE_MAX_RANK];
  uint32_t used = 0;
  for (uint32_t d = 0; d < s->rank; d++)
    for (uint32_t i = 0; i < operand->rank; i++)
      if (operand->dims[i] == (int32_t)order[d])
        perm[used++] = (int32_t)i;
  for (uint32_t i = 0; i < operand->rank; i++)
    if (operand->dims[i] == NO_DIM)
      perm[used++] = (int32_t)i;
  return mirage__lift_reshape(s->lift, mirage__lift_transpose(s->lift, value, perm), s->rank, shape);
}

/// A value over the dimensions `order` of the space as the output wants it: reordered, stretched, reshaped, rounded.
static MirageValue to_output(Structured *s, const Operand *output, MirageValue value, uint32_t count,
                             const uint32_t *order) {
  int32_t perm[LIFT_MAX_DIMS];
  int64_t full[LIFT_MAX_DIMS];
  uint32_t used = 0;
  for (uint32_t i = 0; i < output->rank; i++)
    for (uint32_t k = 0; k < count; k++)
      if (output->dims[i] == (int32_t)order[k]) {
        full[used] = s->extents[order[k]];
        perm[used++] = (int32_t)k;
      }
  for (uint32_t k = 0; k < count; k++) // reduced: of extent 1
    if (!walks(output, order[k])) {
      full[used] = 1;
      perm[used++] = (int32_t)k;
    }
  value = mirage__lift_transpose(s->lift, value, perm);
  value = mirage__lift_broadcast(s->lift, value, used, full);
  return mirage__lift_reshape(s->lift, value, output->type.rank, output->type.shape);
}

// -------------------------------------------------------------------------------------------------------------- products

/// The input that a body's value is, perhaps widened; NO_DIM otherwise.
static int32_t input_of(const Structured *s, MlirValue value) {
  while (mlirValueIsAOpResult(value) && mirage__lift_named(mlirOpResultGetOwner(value), "arith.extf"))
    value = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
  if (!mlirValueIsABlockArgument(value))
    return NO_DIM;
  intptr_t index = mlirBlockArgumentGetArgNumber(value);
  return index < (intptr_t)s->num_inputs && s->operands[index].is_tensor ? (int32_t)index : NO_DIM;
}

// What a body adds up, or keeps the maximum of.
typedef struct Fold {
  MirageOp reduce; // REDUCE_SUM or REDUCE_MAX; NONE: element-wise
  MlirValue value;
} Fold;

static Fold fold_of(const Structured *s, uint32_t output, MlirValue yielded) {
  Fold none = {MIRAGE_OP_NONE, yielded};
  if (!mlirValueIsAOpResult(yielded))
    return none;
  MlirOperation op = mlirOpResultGetOwner(yielded);
  MirageOp reduce = mirage__lift_named(op, "arith.addf") ? MIRAGE_OP_REDUCE_SUM
                    : mirage__lift_named(op, "arith.maximumf") || mirage__lift_named(op, "arith.maxnumf")
                        ? MIRAGE_OP_REDUCE_MAX
                        : MIRAGE_OP_NONE;
  if (reduce == MIRAGE_OP_NONE)
    return none;
  MlirValue held = mlirBlockGetArgument(s->block, (intptr_t)(s->num_inputs + output));
  for (intptr_t i = 0; i < 2; i++)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), held))
      return (Fold){reduce, mlirOperationGetOperand(op, 1 - i)};
  return none;
}

typedef struct Dims {
  uint32_t count, dims[LIFT_MAX_DIMS];
} Dims;

static void add_dim(Dims *dims, uint32_t dim) { dims->dims[dims->count++] = dim; }

static void add_dims(Dims *dims, const Dims *more) {
  for (uint32_t i = 0; i < more->count; i++)
    add_dim(dims, more->dims[i]);
}

static int64_t size_of(const Structured *s, const Dims *dims) {
  int64_t size = 1;
  for (uint32_t i = 0; i < dims->count; i++)
    size *= s->extents[dims->dims[i]];
  return size;
}

/// Sorts the space's dimensions into those of the batch, of each operand alone, and of both; false where one is of one operand
/// and summed, or of neither.
static bool product_dims(const Structured *s, const Operand *a, const Operand *b, const Operand *y, Dims *batch,
                         Dims *m, Dims *n, Dims *k) {
  // In the order in which the operand has them, so that little is moved.
  for (uint32_t i = 0; i < a->rank; i++) {
    if (a->dims[i] == NO_DIM)
      continue;
    uint32_t dim = (uint32_t)a->dims[i];
    bool other = walks(b, dim), kept = walks(y, dim);
    if (!other && !kept)
      return false;
    add_dim(other && kept ? batch : other ? k : m, dim);
  }
  for (uint32_t i = 0; i < b->rank; i++) {
    if (b->dims[i] == NO_DIM || walks(a, (uint32_t)b->dims[i]))
      continue;
    if (!walks(y, (uint32_t)b->dims[i]))
      return false;
    add_dim(n, (uint32_t)b->dims[i]);
  }
  return batch->count + m->count + n->count + k->count == s->rank && k->count > 0;
}

/// An operand as [batch, rows, columns] or, where it lies like that, [batch, columns, rows]; no batch: without it.
static MirageValue as_matrix(Structured *s, const Operand *operand, MirageValue value, const Dims *batch,
                             const Dims *rows, const Dims *columns, bool *out_turned) {
  Dims turned = *batch, straight = *batch;
  add_dims(&turned, columns);
  add_dims(&turned, rows);
  add_dims(&straight, rows);
  add_dims(&straight, columns);
  uint32_t used = 0;
  *out_turned = rows->count > 0 && columns->count > 0;
  for (uint32_t i = 0; i < operand->rank; i++)
    if (operand->dims[i] != NO_DIM)
      *out_turned = *out_turned && operand->dims[i] == (int32_t)turned.dims[used++];
  const Dims *order = *out_turned ? &turned : &straight;
  value = arranged(s, operand, value, order->count, order->dims);
  int64_t shape[3] = {size_of(s, batch), size_of(s, *out_turned ? columns : rows),
                      size_of(s, *out_turned ? rows : columns)};
  return batch->count ? mirage__lift_reshape(s->lift, value, 3, shape)
                      : mirage__lift_reshape(s->lift, value, 2, shape + 1);
}

/// Where the product is of narrow operands, wide, and only rounded to their type again, in the same graph: that type.
static bool rounds_again(const Structured *s, MirageDType narrow) {
  MlirValue result = mlirOperationGetResult(s->op, 0);
  MlirOpOperand use = mlirValueGetFirstUse(result);
  if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)) || !s->lift->together)
    return false;
  MlirOperation user = mlirOpOperandGetOwner(use);
  if (!mirage__lift_is_structured(user) || !s->lift->together(s->lift->user, s->op, user))
    return false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(user, 0));
  MlirOperation first = mlirBlockGetFirstOperation(block);
  MirageType type;
  return mirage__lift_named(first, "arith.truncf") && mlirValueIsABlockArgument(mlirOperationGetOperand(first, 0)) &&
         mlirBlockArgumentGetArgNumber(mlirOperationGetOperand(first, 0)) == mlirOpOperandGetOperandNumber(use) &&
         mlirOperationEqual(mlirOperationGetNextInBlock(first), mlirBlockGetTerminator(block)) &&
         mirage__lift_type(mlirValueGetType(mlirOperationGetResult(user, 0)), &type) && type.dtype == narrow;
}

/// A product in the type that the body computes in. {0} where it is none; without a reason, since it may be something else.
static MirageValue product(Structured *s, const Operand *y, MlirValue summed) {
  MirageValue none = {0};
  if (!mlirValueIsAOpResult(summed) || !mirage__lift_named(mlirOpResultGetOwner(summed), "arith.mulf"))
    return none;
  MlirOperation multiply = mlirOpResultGetOwner(summed);
  int32_t first = input_of(s, mlirOperationGetOperand(multiply, 0)),
          second = input_of(s, mlirOperationGetOperand(multiply, 1));
  if (first == NO_DIM || second == NO_DIM)
    return none;
  const Operand *a = &s->operands[first], *b = &s->operands[second];
  Dims batch = {0}, m = {0}, n = {0}, k = {0};
  bool turned_a, turned_b;
  if (!product_dims(s, a, b, y, &batch, &m, &n, &k) || m.count + n.count == 0) // a sum of squares is no product
    return none;
  MirageValue left = mirage__lift_value(s->lift, a->value), right = mirage__lift_value(s->lift, b->value);
  if (!left.index || !right.index)
    return none;
  MirageDType narrow = mirage_ugraph_type(s->lift->graph, left)->dtype;
  bool mixed = narrow != y->type.dtype && narrow == mirage_ugraph_type(s->lift->graph, right)->dtype;
  MirageDType dtype = mixed && rounds_again(s, narrow) ? narrow : y->type.dtype;
  left = as_matrix(s, a, mirage__lift_cast(s->lift, left, dtype), &batch, &m, &k, &turned_a);
  right = as_matrix(s, b, mirage__lift_cast(s->lift, right, dtype), &batch, &k, &n, &turned_b);
  MirageAttrs attrs = {.matmul = {turned_a, turned_b}};
  MirageValue value = mirage_ugraph_apply(s->lift->graph, MIRAGE_OP_MATMUL, 2, (MirageValue[]){left, right}, &attrs);
  Dims order = batch;
  add_dims(&order, &m);
  add_dims(&order, &n);
  int64_t shape[LIFT_MAX_DIMS];
  for (uint32_t i = 0; i < order.count; i++)
    shape[i] = s->extents[order.dims[i]];
  if (order.count > MIRAGE_MAX_RANK)
    return none;
  if (order.count == 0) {
    shape[0] = 1;
    return mirage__lift_reshape(s->lift, value, 1, shape);
  }
  return to_output(s, y, mirage__lift_reshape(s->lift, value, order.count, shape), order.count, order.dims);
}

// ----------------------------------------------------------------------------------------------- reductions, element-wise

static bool prepare_body(Structured *s, LiftBody *body, MirageValue inputs[MAX_OPERANDS]) {
  if (s->rank > MIRAGE_MAX_RANK)
    return mirage__lift_fail(s->lift, "its iteration space has %u dimensions, at most %d are supported", s->rank,
                             MIRAGE_MAX_RANK);
  *body =
      (LiftBody){.lift = s->lift, .block = s->block, .rank = s->rank, .num_inputs = s->num_inputs, .inputs = inputs};
  for (uint32_t i = 0; i < s->num_inputs; i++) {
    double number;
    inputs[i] = (MirageValue){0};
    if (s->operands[i].is_tensor) {
      inputs[i] = over_space(s, &s->operands[i]);
    } else if (mirage__lift_splat(s->operands[i].value, &number)) {
      LiftElement element = {mlirBlockGetArgument(s->block, (intptr_t)i).ptr, true, number, MIRAGE_F32, {0}};
      mirage__lift_dtype(mlirValueGetType(s->operands[i].value), &element.dtype);
      body->values[body->count++] = element;
    }
  }
  return true;
}

/// The value, stretched over the dimensions that are reduced, and reduced over them.
static MirageValue reduced(Structured *s, const Operand *y, MirageOp reduce, MirageValue value) {
  int64_t shape[MIRAGE_MAX_RANK];
  const MirageType *type = mirage_ugraph_type(s->lift->graph, value);
  for (uint32_t d = 0; d < s->rank; d++)
    shape[d] = walks(y, d) ? type->shape[d] : s->extents[d];
  value = mirage__lift_broadcast(s->lift, value, s->rank, shape);
  for (uint32_t d = 0; d < s->rank; d++) {
    MirageAttrs attrs = {.reduce = {(int32_t)d, 1}};
    if (!walks(y, d))
      value = mirage_ugraph_apply(s->lift->graph, reduce, 1, &value, &attrs);
  }
  return value;
}

/// What the output held before, folded in: nothing where it is neutral.
static MirageValue with_start(Structured *s, const Operand *y, MirageOp reduce, MirageValue value) {
  double start;
  if (mirage__lift_splat(y->value, &start)) {
    if (reduce == MIRAGE_OP_REDUCE_SUM ? start == 0 : start == -INFINITY)
      return value;
    MirageValue constant = mirage__lift_constant(s->lift, y->type.dtype, y->type.rank, start);
    return mirage__lift_binary(s->lift, reduce == MIRAGE_OP_REDUCE_SUM ? MIRAGE_OP_ADD : MIRAGE_OP_MAX, value,
                               constant);
  }
  MirageValue held = mirage__lift_value(s->lift, y->value);
  if (!held.index)
    return held;
  held = mirage__lift_cast(s->lift, held, mirage_ugraph_type(s->lift->graph, value)->dtype);
  return mirage__lift_binary(s->lift, reduce == MIRAGE_OP_REDUCE_SUM ? MIRAGE_OP_ADD : MIRAGE_OP_MAX, value, held);
}

static MirageValue lift_output(Structured *s, uint32_t output, MlirValue yielded) {
  const Operand *y = &s->operands[s->num_inputs + output];
  Fold fold = fold_of(s, output, yielded);
  MirageValue none = {0}, inputs[MAX_OPERANDS];
  uint32_t order[LIFT_MAX_DIMS];
  LiftBody body;
  s->lift->reason[0] = '\0';
  if (fold.reduce == MIRAGE_OP_REDUCE_SUM) {
    MirageValue value = product(s, y, fold.value);
    if (value.index)
      return with_start(s, y, fold.reduce, value);
  }
  bool reduces = false;
  for (uint32_t d = 0; d < s->rank; d++) {
    order[d] = d;
    reduces |= !walks(y, d);
  }
  if (reduces && fold.reduce == MIRAGE_OP_NONE)
    return mirage__lift_fail(s->lift, "it reduces by what is no sum and no maximum"), none;
  if (!prepare_body(s, &body, inputs))
    return none;
  MirageValue value = mirage__lift_tensor(&body, reduces ? fold.value : yielded);
  if (!value.index)
    return none;
  if (reduces)
    value = reduced(s, y, fold.reduce, value);
  value = to_output(s, y, value, s->rank, order);
  return reduces ? with_start(s, y, fold.reduce, value) : value;
}

bool mirage__lift_structured(Lift *lift, MlirOperation op) {
  Structured s = {.lift = lift, .op = op};
  if (!read_structured(&s))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(s.block);
  for (uint32_t i = 0; i < s.num_outputs; i++) {
    MlirValue result = mlirOperationGetResult(op, (intptr_t)i);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
      continue; // an argmax that nobody wants
    if (s.operands[s.num_inputs + i].type.rank > MIRAGE_MAX_RANK || s.operands[s.num_inputs + i].type.rank == 0)
      return mirage__lift_fail(lift, "its result is no tensor of f16, bf16 or f32 with 1 to %d dimensions",
                               MIRAGE_MAX_RANK);
    MirageValue value = lift_output(&s, i, mlirOperationGetOperand(yield, (intptr_t)i));
    if (!value.index)
      return lift->reason[0] ? false : mirage__lift_fail(lift, "shapes or types that no operator takes");
    if (!mirage__lift_bind(lift, result, value))
      return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- safety

/// The one operation of a body before its yield, beside a widening of its operand, if it is called so, else null.
static MlirOperation only_operation(MlirOperation op, const char *name) {
  MlirOperation none = {NULL};
  if (!mirage__lift_is_structured(op) || mlirOperationGetNumResults(op) != 1)
    return none;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation first = mlirBlockGetFirstOperation(block);
  if (mirage__lift_named(first, "arith.extf"))
    first = mlirOperationGetNextInBlock(first);
  bool only = mirage__lift_named(first, name) &&
              mlirOperationEqual(mlirOperationGetNextInBlock(first), mlirBlockGetTerminator(block));
  return only ? first : none;
}

/// x == -inf, element by element.
static bool is_minus_inf_test(MlirOperation op) {
  enum { ORDERED_EQUAL = 1 };
  MlirOperation compare = only_operation(op, "arith.cmpf");
  double predicate, number;
  return !mlirOperationIsNull(compare) &&
         mirage__lift_number(mlirOperationGetAttributeByName(compare, str("predicate")), &predicate) &&
         predicate == ORDERED_EQUAL && mirage__lift_splat(mlirOperationGetOperand(compare, 1), &number) &&
         number == -INFINITY;
}

/// Whether all who use the result choose by it, as the condition of their body's select.
static bool only_chooses(MlirOperation op) {
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
  bool any = !mlirOpOperandIsNull(use);
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation select = only_operation(mlirOpOperandGetOwner(use), "arith.select");
    if (mlirOperationIsNull(select))
      return false;
    MlirValue condition = mlirOperationGetOperand(select, 0);
    if (!mlirValueIsABlockArgument(condition) ||
        mlirBlockArgumentGetArgNumber(condition) != mlirOpOperandGetOperandNumber(use))
      return false;
  }
  return any;
}

static bool is_conjunction(MlirOperation op) { return !mlirOperationIsNull(only_operation(op, "arith.andi")); }

bool mirage__lift_is_safety(MlirOperation op) {
  if (is_conjunction(op)) {
    MlirValue tested = mlirOperationGetOperand(op, 0);
    return mlirValueIsAOpResult(tested) && is_minus_inf_test(mlirOpResultGetOwner(tested)) && only_chooses(op);
  }
  if (!is_minus_inf_test(op))
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
  bool any = !mlirOpOperandIsNull(use);
  for (; any && !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    any = is_conjunction(mlirOpOperandGetOwner(use)) && only_chooses(mlirOpOperandGetOwner(use));
  return any;
}

// ---------------------------------------------------------------------------------------------------------------- weight

static bool has_reduction(MlirOperation op) {
  Lift lift = {.arena = NULL};
  Structured s = {.lift = &lift, .op = op};
  if (!read_structured(&s))
    return false;
  for (uint32_t d = 0; d < s.rank; d++)
    if (!walks(&s.operands[s.num_inputs], d))
      return true;
  return false;
}

uint32_t mirage__lift_weight(MlirOperation op) {
  uint32_t operands;
  if (!mirage__lift_is_structured(op))
    return mirage__lift_operator(mirage__lift_name(op), &operands) != MIRAGE_OP_NONE ? 1 : 0;
  if (has_reduction(op))
    return 2;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation at = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(at);
       at = mlirOperationGetNextInBlock(at)) {
    MirageOp found = mirage__lift_operator(mirage__lift_name(at), &operands);
    if ((found != MIRAGE_OP_NONE && found != MIRAGE_OP_CAST) || mirage__lift_named(at, "math.powf") ||
        mirage__lift_named(at, "arith.select"))
      return 1;
  }
  return 0;
}
