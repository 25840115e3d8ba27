// lift_product.c - structured operations that add up a product of two operands: matmul on [batch, m, k] and [batch, k, n].
//
// The dimensions of the space are sorted into those of the batch, of each operand alone, and of the sum, whatever the maps.
// Example: (d0, d1, d2) -> x (d0, d2), w (d2, d1), y (d0, d1), y + x * w   is a product with m = d0, n = d1, k = d2.
#include "lift_structured.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

typedef LiftStructured Structured;
typedef LiftOperand Operand;

enum { NO_DIM = LIFT_NO_DIM };

static bool widens(MlirOperation op) {
  return mirage__lift_named(op, "arith.extf") || mirage__lift_named(op, "arith.extsi");
}

/// The input that a body's value is, perhaps widened; NO_DIM otherwise.
static int32_t input_of(const Structured *s, MlirValue value) {
  while (mlirValueIsAOpResult(value) && widens(mlirOpResultGetOwner(value)))
    value = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
  if (!mlirValueIsABlockArgument(value))
    return NO_DIM;
  intptr_t index = mlirBlockArgumentGetArgNumber(value);
  return index < (intptr_t)s->num_inputs && s->operands[index].is_tensor ? (int32_t)index : NO_DIM;
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
    bool other = mirage__lift_walks(b, dim), kept = mirage__lift_walks(y, dim);
    if (!other && !kept)
      return false;
    add_dim(other && kept ? batch : other ? k : m, dim);
  }
  for (uint32_t i = 0; i < b->rank; i++) {
    if (b->dims[i] == NO_DIM || mirage__lift_walks(a, (uint32_t)b->dims[i]))
      continue;
    if (!mirage__lift_walks(y, (uint32_t)b->dims[i]))
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
  value = mirage__lift_arranged(s, operand, value, order->count, order->dims);
  int64_t shape[3] = {size_of(s, batch), size_of(s, *out_turned ? columns : rows),
                      size_of(s, *out_turned ? rows : columns)};
  return batch->count ? mirage__lift_reshape(s->lift, value, 3, shape)
                      : mirage__lift_reshape(s->lift, value, 2, shape + 1);
}

/// Whether all of the operand's dimensions are walked, of which there are two: bytes are turned, but not moved.
static bool lies_as_matrix(const Operand *operand) {
  return operand->rank == 2 && operand->dims[0] != NO_DIM && operand->dims[1] != NO_DIM;
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

/// extsi of an argument of i8 to i32.
static bool is_widened_byte(MlirValue value) {
  if (!mlirValueIsAOpResult(value) || !mirage__lift_named(mlirOpResultGetOwner(value), "arith.extsi"))
    return false;
  MlirValue byte = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
  MlirType type = mlirValueGetType(byte), wide = mlirValueGetType(value);
  return mlirValueIsABlockArgument(byte) && mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 8 &&
         mlirTypeIsAInteger(wide) && mlirIntegerTypeGetWidth(wide) == 32;
}

bool mirage__lift_adds_bytes(MlirOperation op, MlirValue *out_product) {
  if (!mirage__lift_is_structured(op) || mlirOperationGetNumResults(op) != 1)
    return false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(block), 0);
  MlirValue held = mlirBlockGetArgument(block, mlirBlockGetNumArguments(block) - 1);
  if (!mlirValueIsAOpResult(yielded) || !mirage__lift_named(mlirOpResultGetOwner(yielded), "arith.addi"))
    return false;
  for (intptr_t i = 0; i < 2; i++) {
    MlirValue product = mlirOperationGetOperand(mlirOpResultGetOwner(yielded), i);
    bool adds = mlirValueEqual(mlirOperationGetOperand(mlirOpResultGetOwner(yielded), 1 - i), held);
    if (!adds || !mlirValueIsAOpResult(product) || !mirage__lift_named(mlirOpResultGetOwner(product), "arith.muli"))
      continue;
    MlirOperation multiply = mlirOpResultGetOwner(product);
    *out_product = product;
    return is_widened_byte(mlirOperationGetOperand(multiply, 0)) &&
           is_widened_byte(mlirOperationGetOperand(multiply, 1));
  }
  return false;
}

MirageValue mirage__lift_product(LiftStructured *s, const LiftOperand *y, MlirValue summed) {
  MirageValue none = {0};
  if (!mlirValueIsAOpResult(summed))
    return none;
  bool integers = mirage__lift_named(mlirOpResultGetOwner(summed), "arith.muli");
  if (!integers && !mirage__lift_named(mlirOpResultGetOwner(summed), "arith.mulf"))
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
  MirageDType narrow = mirage_ugraph_type(s->lift->graph, left)->dtype, dtype = y->type.dtype;
  MirageDType other = mirage_ugraph_type(s->lift->graph, right)->dtype;
  bool bytes = integers || (mirage_dtype_is_f8(narrow) && mirage_dtype_is_f8(other) && dtype == MIRAGE_F32 &&
                            lies_as_matrix(a) && lies_as_matrix(b));
  bool mixed = !bytes && narrow != dtype && narrow == other && !mirage_dtype_is_stored(narrow);
  bool wide = mixed && dtype == MIRAGE_F32 && !rounds_again(s, narrow);
  if (wide || (mixed && rounds_again(s, narrow)))
    dtype = narrow;
  left = as_matrix(s, a, mirage__lift_cast(s->lift, left, bytes ? narrow : dtype), &batch, &m, &k, &turned_a);
  right = as_matrix(s, b, mirage__lift_cast(s->lift, right, bytes ? other : dtype), &batch, &k, &n, &turned_b);
  MirageAttrs attrs = {.matmul = {.transpose_a = turned_a, .transpose_b = turned_b, .wide = wide}};
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
  return mirage__lift_to_output(s, y, mirage__lift_reshape(s->lift, value, order.count, shape), order.count,
                                order.dims);
}
