// infer.c - the shape rule of every operator that has no region: checks operands and attributes, gives the result's
// type.
//
// One function per family (MirageOpKind); mirage_op_infer checks what all share - level, number of operands, their
// types and places - and dispatches. The rules of load, store and collectives, and of loop and custom, are in
// infer_region.c.
//
// Element types: at the kernel level arithmetic keeps its operands' type, and gives f32 where those of an element-wise
// operator differ or a product or reduction says so (`wide`); below it arithmetic gives f32. What only moves data (shape
// operators, concat) keeps the type at every level. Stored types are loaded, moved in a block, cast and multiplied with each
// other: at every level a product of i8 is i32, one of f8, of either kind each, f32; as tensors they are reshaped as well,
// since no kernel writes them. Predicates (i1) and integers (i32: indices, and sums of products of i8) are no numbers that
// arithmetic takes: mirage_op_typing says who takes and gives them, and cast makes numbers of them.
#include "ugraph_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INDEX = 1 << 24 }; // f32, in which kernels compute, has all whole numbers up to here

// ---------------------------------------------------------------------------------- what all share

const char *mirage__level_name(MirageLevel level) {
  return level == MIRAGE_LEVEL_KERNEL ? "kernel" : level == MIRAGE_LEVEL_BLOCK ? "block" : "thread";
}

// Rows begin at whole bytes, so that an even number of elements of four bits makes one.
static MirageStatus check_packed(const InferCall *call, const char *what, uint32_t index, const MirageType *type) {
  bool packed = type->space == MIRAGE_SPACE_DEVICE && mirage_dtype_bits(type->dtype) < 8;
  int64_t row = type->rank ? type->shape[type->rank - 1] : 1;
  if (!packed || row % 2 == 0)
    return MIRAGE_OK;
  return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "%s %u has rows of %" PRId64 " %s, an even number is needed", what, index,
                    row, mirage_dtype_name(type->dtype));
}

MirageStatus mirage__check_type(const InferCall *call, const char *what, uint32_t index, const MirageType *type) {
  if (!mirage_dtype_exists((int)type->dtype))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s %u has an unknown element type: %d", what, index, (int)type->dtype);
  if (type->rank > MIRAGE_MAX_RANK)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "%s %u has rank %u, at most %d is supported", what, index, type->rank,
                      MIRAGE_MAX_RANK);
  for (uint32_t i = 0; i < type->rank; i++)
    if (type->shape[i] < 1)
      return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "%s %u has extent %" PRId64 " in dimension %u, at least 1 is needed",
                        what, index, type->shape[i], i);
  MIRAGE_TRY(check_packed(call, what, index, type));
  char text[TYPE_TEXT_BYTES];
  if (mirage_type_bytes(type) == INT64_MAX)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "%s %u has too many elements: %s", what, index,
                      mirage_type_format(type, text, sizeof text));
  return MIRAGE_OK;
}

static bool is_tile(MirageSpace space) {
  return space == MIRAGE_SPACE_TILE || space == MIRAGE_SPACE_SHARED || space == MIRAGE_SPACE_REGISTER;
}

MirageStatus mirage__check_space(const InferCall *call, uint32_t index, const MirageType *type) {
  const char *what = type->space == MIRAGE_SPACE_DEVICE ? "a tensor" : is_tile(type->space) ? "a tile" : "a fragment";
  if (call->level == MIRAGE_LEVEL_KERNEL && type->space != MIRAGE_SPACE_DEVICE)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "operand %u is %s, the kernel level works on tensors", index, what);
  if (call->level == MIRAGE_LEVEL_BLOCK && !is_tile(type->space))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "operand %u is %s, the block level works on tiles", index, what);
  if (call->level == MIRAGE_LEVEL_THREAD && type->space != MIRAGE_SPACE_FRAGMENT)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "operand %u is %s, the thread level works on fragments", index, what);
  return MIRAGE_OK;
}

MirageStatus mirage__result(const InferCall *call, MirageDType dtype, uint32_t rank, const int64_t *shape,
                            MirageType *out_result) {
  MirageType result = mirage_type_tensor(dtype, rank, shape);
  if (call->level == MIRAGE_LEVEL_BLOCK)
    result.space = MIRAGE_SPACE_TILE;
  if (call->level == MIRAGE_LEVEL_THREAD)
    result.space = MIRAGE_SPACE_FRAGMENT;
  MIRAGE_TRY(mirage__check_type(call, "result", 0, &result));
  *out_result = result;
  return MIRAGE_OK;
}

// The element type that arithmetic on `operand` gives.
static MirageDType arithmetic_dtype(const InferCall *call, const MirageType *operand) {
  return call->level == MIRAGE_LEVEL_KERNEL ? operand->dtype : MIRAGE_F32;
}

// Of operands of two types: f32, which holds every number of either.
static MirageDType common_dtype(const MirageType *a, const MirageType *b) {
  return a->dtype == b->dtype ? a->dtype : MIRAGE_F32;
}

static MirageStatus check_same_dtype(const InferCall *call, const MirageType *a, const MirageType *b) {
  if (a->dtype != b->dtype)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "element types differ: %s vs %s", mirage_dtype_name(a->dtype),
                      mirage_dtype_name(b->dtype));
  return MIRAGE_OK;
}

static MirageStatus check_dim(const InferCall *call, int32_t dim, const MirageType *type) {
  if (dim < 0 || (uint32_t)dim >= type->rank)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "dimension %d is out of range for rank %u", dim, type->rank);
  return MIRAGE_OK;
}

static MirageStatus check_finite(const InferCall *call, const char *what, double value, double least) {
  if (!isfinite(value) || value < least)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s is %g, a finite number%s is needed", what, value,
                      least == 0.0 ? " of at least 0" : "");
  return MIRAGE_OK;
}

// Right-aligned broadcasting of the leading dimensions: all but the last `fixed` of each operand.
// shape[0 .. *rank) receives the result. Extents agree, or one of them is 1.
static MirageStatus broadcast(const InferCall *call, const MirageType *a, const MirageType *b, uint32_t fixed,
                              const char *what, uint32_t *rank, int64_t *shape) {
  uint32_t na = a->rank - fixed, nb = b->rank - fixed;
  *rank = na > nb ? na : nb;
  for (uint32_t i = 0; i < *rank; i++) { // i counts from the right
    int64_t x = i < na ? a->shape[na - 1 - i] : 1, y = i < nb ? b->shape[nb - 1 - i] : 1;
    char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
    if (x != y && x != 1 && y != 1)
      return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "%s do not broadcast: %" PRId64 " vs %" PRId64 " (%s, %s)", what, x, y,
                        mirage_type_format(a, left, sizeof left), mirage_type_format(b, right, sizeof right));
    shape[*rank - 1 - i] = x > y ? x : y;
  }
  return MIRAGE_OK;
}

static MirageStatus check_family(const InferCall *call, uint32_t index, MirageFamily family) {
  static const char *const NAMES[] = {[MIRAGE_FAMILY_FLOAT] = "floating-point numbers (cast gives them)",
                                      [MIRAGE_FAMILY_PREDICATE] = "predicates, i1 (a comparison gives them)",
                                      [MIRAGE_FAMILY_INDEX] = "integers, i32"};
  MirageDType dtype = call->operands[index].dtype;
  if (mirage_dtype_family(dtype) != family)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "operand %u is of %s, %s are needed", index, mirage_dtype_name(dtype),
                      NAMES[family]);
  return MIRAGE_OK;
}

static MirageStatus check_numbers(const InferCall *call) {
  for (uint32_t i = 0; i < call->num_operands; i++)
    MIRAGE_TRY(check_family(call, i, MIRAGE_FAMILY_FLOAT));
  return MIRAGE_OK;
}

// The operands of a comparison: numbers, or indices.
static MirageStatus check_compared(const InferCall *call) {
  MirageDType a = call->operands[0].dtype, b = call->operands[1].dtype;
  if (mirage_dtype_family(a) == MIRAGE_FAMILY_PREDICATE)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s",
                      "compares numbers or indices, operand 0 is of i1; and, or, not are the logic of predicates");
  if (mirage_dtype_family(a) != mirage_dtype_family(b))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "compares numbers with numbers or indices with indices: %s vs %s",
                      mirage_dtype_name(a), mirage_dtype_name(b));
  return MIRAGE_OK;
}

// Checks the operands' elements, and gives those of the result.
static MirageStatus element_wise_dtype(const InferCall *call, MirageDType *out_dtype) {
  const MirageTyping typing = mirage_op_typing(call->op);
  bool kernel = call->level == MIRAGE_LEVEL_KERNEL;
  *out_dtype = MIRAGE_I1;
  if (typing == MIRAGE_TYPING_COMPARES)
    MIRAGE_TRY(check_compared(call));
  for (uint32_t i = 0; typing == MIRAGE_TYPING_PREDICATES && i < call->num_operands; i++)
    MIRAGE_TRY(check_family(call, i, MIRAGE_FAMILY_PREDICATE));
  if (typing == MIRAGE_TYPING_COMPARES || typing == MIRAGE_TYPING_PREDICATES)
    return MIRAGE_OK;
  uint32_t first = typing == MIRAGE_TYPING_MASKS;
  if (first)
    MIRAGE_TRY(check_family(call, 0, MIRAGE_FAMILY_PREDICATE));
  for (uint32_t i = first; i < call->num_operands; i++)
    MIRAGE_TRY(check_family(call, i, MIRAGE_FAMILY_FLOAT));
  *out_dtype = kernel ? call->operands[first].dtype : MIRAGE_F32;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------ element-wise

static MirageStatus infer_unary(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0];
  MirageDType dtype;
  MIRAGE_TRY(element_wise_dtype(call, &dtype));
  return mirage__result(call, dtype, a->rank, a->shape, out_result);
}

static MirageStatus infer_binary(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0], *b = &call->operands[1];
  uint32_t rank;
  int64_t shape[MIRAGE_MAX_RANK];
  MirageDType dtype;
  MIRAGE_TRY(element_wise_dtype(call, &dtype));
  if (call->level == MIRAGE_LEVEL_KERNEL && mirage_op_typing(call->op) == MIRAGE_TYPING_NUMBERS)
    dtype = common_dtype(a, b);
  MIRAGE_TRY(broadcast(call, a, b, 0, "extents", &rank, shape));
  return mirage__result(call, dtype, rank, shape, out_result);
}

static MirageStatus infer_cast(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0];
  MirageDType dtype = call->attrs->shape.type.dtype;
  bool number = !mirage_dtype_exists((int)dtype) || mirage_dtype_family(dtype) == MIRAGE_FAMILY_FLOAT;
  if (dtype != a->dtype && !number && !mirage_dtype_is_stored(dtype))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s to %s: a comparison gives predicates, iota gives indices",
                      mirage_dtype_name(a->dtype), mirage_dtype_name(dtype));
  if (mirage_dtype_is_stored(dtype))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s to %s: nothing is cast to a stored type; quantise outside",
                      mirage_dtype_name(a->dtype), mirage_dtype_name(dtype));
  return mirage__result(call, dtype, a->rank, a->shape, out_result);
}

// ------------------------------------------------------------------------------------- contraction

// The element type of a product. Exact in i32 up to sums beyond 2^31, which no contraction shorter than 2^17 reaches; in f32
// but for the rounding of sums.
static MirageStatus product_dtype(const InferCall *call, const MirageType *a, const MirageType *b, MirageDType *out) {
  bool wide = call->attrs && call->attrs->matmul.wide;
  *out = wide ? MIRAGE_F32 : arithmetic_dtype(call, a);
  if (mirage_dtype_is_f8(a->dtype) && mirage_dtype_is_f8(b->dtype)) {
    *out = MIRAGE_F32;
    return MIRAGE_OK;
  }
  if (a->dtype == MIRAGE_I8 && b->dtype == MIRAGE_I8) {
    *out = MIRAGE_I32;
    return wide ? INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s", "operands of i8 give i32, which no `wide` changes; cast it")
                : MIRAGE_OK;
  }
  if (mirage_dtype_is_stored(a->dtype) && mirage_dtype_is_stored(b->dtype))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE,
                      "operands are of %s and %s: of stored types, i8 is multiplied with i8 and f8 with f8; cast them",
                      mirage_dtype_name(a->dtype), mirage_dtype_name(b->dtype));
  MIRAGE_TRY(check_numbers(call));
  return check_same_dtype(call, a, b);
}

// a [.., m, k] @ b [.., k, n] -> [.., m, n]; either may be given transposed. mma adds c, f32 and of the result's shape.
static MirageStatus infer_matmul(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0], *b = &call->operands[1];
  bool ta = call->attrs && call->attrs->matmul.transpose_a, tb = call->attrs && call->attrs->matmul.transpose_b;
  if (a->rank < 2 || b->rank < 2)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "operands need at least rank 2: %u vs %u", a->rank, b->rank);
  MirageDType dtype;
  MIRAGE_TRY(product_dtype(call, a, b, &dtype));
  int64_t m = a->shape[a->rank - (ta ? 1 : 2)], ka = a->shape[a->rank - (ta ? 2 : 1)];
  int64_t kb = b->shape[b->rank - (tb ? 1 : 2)], n = b->shape[b->rank - (tb ? 2 : 1)];
  if (ka != kb)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "inner dimensions differ: %" PRId64 " vs %" PRId64, ka, kb);
  uint32_t rank;
  int64_t shape[MIRAGE_MAX_RANK];
  MIRAGE_TRY(broadcast(call, a, b, 2, "batch dimensions", &rank, shape));
  shape[rank++] = m;
  shape[rank++] = n;
  MirageType result;
  MIRAGE_TRY(mirage__result(call, dtype, rank, shape, &result));
  if (call->op == MIRAGE_OP_MMA) {
    const MirageType *c = &call->operands[2];
    char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
    if (!mirage_type_same_meaning(c, &result))
      return INFER_FAIL(call, c->dtype == dtype ? MIRAGE_BAD_SHAPE : MIRAGE_BAD_TYPE,
                        "accumulator does not fit the product: %s vs %s", mirage_type_format(c, left, sizeof left),
                        mirage_type_format(&result, right, sizeof right));
  }
  *out_result = result;
  return MIRAGE_OK;
}

static MirageStatus infer_reduce(const InferCall *call, MirageType *out_result) {
  MirageType result = call->operands[0];
  int32_t dim = call->attrs->reduce.dim;
  int64_t extent = call->attrs->reduce.extent;
  MIRAGE_TRY(check_dim(call, dim, &result));
  if (extent < 1 || result.shape[dim] % extent != 0)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "extent %" PRId64 " does not divide dimension %d of extent %" PRId64,
                      extent, dim, result.shape[dim]);
  result.shape[dim] = extent;
  if (call->op == MIRAGE_OP_REDUCE_MAX && result.dtype == MIRAGE_I1 && call->level == MIRAGE_LEVEL_KERNEL) // any holds
    return mirage__result(call, MIRAGE_I1, result.rank, result.shape, out_result);
  MIRAGE_TRY(check_numbers(call));
  MirageDType dtype = call->attrs->reduce.wide ? MIRAGE_F32 : arithmetic_dtype(call, &result);
  return mirage__result(call, dtype, result.rank, result.shape, out_result);
}

// ----------------------------------------------------------------------------------- data movement

// Checks the type that an attribute asks for, and that it keeps the operand's element type.
static MirageStatus check_target(const InferCall *call, const MirageType *target) {
  MIRAGE_TRY(mirage__check_type(call, "result", 0, target));
  if (target->rank == 0)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "result has rank %u, which only constants may have", target->rank);
  return check_same_dtype(call, &call->operands[0], target);
}

static MirageStatus infer_broadcast(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0], *target = &call->attrs->shape.type;
  char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
  MIRAGE_TRY(check_target(call, target));
  bool fits = a->rank <= target->rank;
  for (uint32_t i = 0; fits && i < a->rank; i++) {
    int64_t have = a->shape[a->rank - 1 - i], want = target->shape[target->rank - 1 - i];
    fits = have == want || have == 1;
  }
  if (!fits)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "%s does not stretch to %s", mirage_type_format(a, left, sizeof left),
                      mirage_type_format(target, right, sizeof right));
  return mirage__result(call, a->dtype, target->rank, target->shape, out_result);
}

static MirageStatus infer_reshape(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0], *target = &call->attrs->shape.type;
  char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
  MIRAGE_TRY(check_target(call, target));
  if (mirage_type_elements(a) != mirage_type_elements(target))
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "numbers of elements differ: %" PRId64 " vs %" PRId64 " (%s to %s)",
                      mirage_type_elements(a), mirage_type_elements(target), mirage_type_format(a, left, sizeof left),
                      mirage_type_format(target, right, sizeof right));
  return mirage__result(call, a->dtype, target->rank, target->shape, out_result);
}

static MirageStatus infer_repeat(const InferCall *call, MirageType *out_result) {
  MirageType result = call->operands[0];
  int32_t dim = call->attrs->repeat.dim;
  int64_t times = call->attrs->repeat.times;
  MIRAGE_TRY(check_dim(call, dim, &result));
  if (times < 1)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "times is %" PRId64 ", at least 1 is needed", times);
  if (__builtin_mul_overflow(result.shape[dim], times, &result.shape[dim]))
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "result has too many elements: %" PRId64 " times %" PRId64,
                      call->operands[0].shape[dim], times);
  return mirage__result(call, result.dtype, result.rank, result.shape, out_result);
}

static MirageStatus infer_transpose(const InferCall *call, MirageType *out_result) {
  const MirageType *a = &call->operands[0];
  int64_t shape[MIRAGE_MAX_RANK] = {0};
  uint32_t seen = 0;
  for (uint32_t i = 0; i < a->rank; i++) {
    int32_t from = call->attrs->perm.perm[i];
    MIRAGE_TRY(check_dim(call, from, a));
    if (seen & (1u << from))
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "perm names dimension %d twice", from);
    seen |= 1u << from;
    shape[i] = a->shape[from];
  }
  return mirage__result(call, a->dtype, a->rank, shape, out_result);
}

static MirageStatus infer_slice(const InferCall *call, MirageType *out_result) {
  MirageType result = call->operands[0];
  int32_t dim = call->attrs->slice.dim;
  int64_t begin = call->attrs->slice.begin, end = call->attrs->slice.end;
  MIRAGE_TRY(check_dim(call, dim, &result));
  if (begin < 0 || begin >= end || end > result.shape[dim])
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE,
                      "range %" PRId64 " to %" PRId64 " is empty or outside dimension %d of extent %" PRId64, begin,
                      end, dim, result.shape[dim]);
  result.shape[dim] = end - begin;
  return mirage__result(call, result.dtype, result.rank, result.shape, out_result);
}

static MirageStatus infer_concat(const InferCall *call, MirageType *out_result) {
  MirageType result = call->operands[0];
  int32_t dim = call->attrs->dim.dim;
  MIRAGE_TRY(check_dim(call, dim, &result));
  for (uint32_t i = 1; i < call->num_operands; i++) {
    const MirageType *next = &call->operands[i];
    MIRAGE_TRY(check_same_dtype(call, &call->operands[0], next));
    if (next->rank != result.rank)
      return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "ranks differ: %u vs %u", result.rank, next->rank);
    for (uint32_t d = 0; d < result.rank; d++)
      if (d != (uint32_t)dim && next->shape[d] != result.shape[d])
        return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "extents of dimension %u differ: %" PRId64 " vs %" PRId64, d,
                          result.shape[d], next->shape[d]);
    if (__builtin_add_overflow(result.shape[dim], next->shape[dim], &result.shape[dim]))
      return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "result has too many elements along dimension %d", dim);
  }
  return mirage__result(call, result.dtype, result.rank, result.shape, out_result);
}

static MirageStatus infer_shape(const InferCall *call, MirageType *out_result) {
  switch (call->op) {
  case MIRAGE_OP_BROADCAST:
    return infer_broadcast(call, out_result);
  case MIRAGE_OP_RESHAPE:
    return infer_reshape(call, out_result);
  case MIRAGE_OP_REPEAT:
    return infer_repeat(call, out_result);
  case MIRAGE_OP_TRANSPOSE:
    return infer_transpose(call, out_result);
  case MIRAGE_OP_SLICE:
    return infer_slice(call, out_result);
  case MIRAGE_OP_CONCAT:
    return infer_concat(call, out_result);
  default:
    return INFER_FAIL(call, MIRAGE_UNSUPPORTED, "operator %d has no shape rule", (int)call->op);
  }
}

// --------------------------------------------------------------------------------------- constants

// The largest number and half a unit in its last place.
double mirage__overflow_bound(MirageDType dtype) {
  switch (dtype) {
  case MIRAGE_F16:
    return 65520.0;
  case MIRAGE_BF16:
    return 0x1.FFp127;
  default:
    return 0x1.FFFFFFp127;
  }
}

// Predicates are 0 or 1, indices whole numbers.
static MirageStatus check_constant_elements(const InferCall *call, MirageDType dtype) {
  double value = call->op == MIRAGE_OP_CONSTANT ? call->attrs->constant.value : 0;
  MirageFamily family = mirage_dtype_family(dtype);
  if (call->op == MIRAGE_OP_BOTTOM && family != MIRAGE_FAMILY_FLOAT)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "there is none in %s", mirage_dtype_name(dtype));
  if (family == MIRAGE_FAMILY_PREDICATE && value != 0 && value != 1)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%.17g is neither 0 nor 1, the values of i1", value);
  if (family == MIRAGE_FAMILY_INDEX && (value != floor(value) || fabs(value) > MOST_INDEX))
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%.17g is no index: a whole number of at most %d, on either side of 0",
                      value, MOST_INDEX);
  return MIRAGE_OK;
}

// What states its type in a block graph states its place as well.
static void keep_place(const InferCall *call, const MirageType *type, MirageType *result) {
  if (!is_tile(type->space) || call->level != MIRAGE_LEVEL_BLOCK)
    return;
  result->space = type->space;
  result->layout = type->layout;
}

static MirageStatus infer_constant(const InferCall *call, MirageType *out_result) {
  const MirageType *type = call->op == MIRAGE_OP_CONSTANT ? &call->attrs->constant.type : &call->attrs->shape.type;
  MirageType result;
  MIRAGE_TRY(mirage__check_type(call, "result", 0, type));
  MIRAGE_TRY(mirage__result(call, type->dtype, type->rank, type->shape, &result));
  if (mirage_dtype_is_stored(type->dtype))
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "%s is a stored type; use f16, bf16 or f32",
                      mirage_dtype_name(type->dtype));
  if (call->op == MIRAGE_OP_CONSTANT && !(fabs(call->attrs->constant.value) < mirage__overflow_bound(type->dtype)))
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%.17g is not a finite %s", call->attrs->constant.value,
                      mirage_dtype_name(type->dtype));
  MIRAGE_TRY(check_constant_elements(call, type->dtype));
  keep_place(call, type, &result);
  *out_result = result;
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------- iota

// The farthest that the grid's blocks and the loops' iterations move an index, towards `sign`.
static double farthest(const InferCall *call, int sign) {
  double sum = 0;
  for (uint32_t a = 0; call->scope && a < 3; a++)
    sum += fmax(0, sign * (double)call->attrs->iota.grid[a] * (double)(call->scope->grid[a] - 1));
  for (uint32_t l = 0; call->scope && l < call->scope->num_loops && l < MIRAGE_MAX_LOOPS; l++)
    sum += fmax(0, sign * (double)call->attrs->iota.loop[l] * (double)(call->scope->ranges[l] - 1));
  return sign * sum;
}

static MirageStatus check_steps(const InferCall *call) {
  bool kernel = call->level == MIRAGE_LEVEL_KERNEL;
  for (uint32_t a = 0; a < 3; a++)
    if (kernel && call->attrs->iota.grid[a])
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "follows grid axis %u, which only a block graph has", a);
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
    if (call->attrs->iota.loop[l] && (kernel || (call->scope && l >= call->scope->num_loops)))
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "follows loop %u, but %u loops enclose it", l,
                        kernel ? 0 : call->scope->num_loops);
  return MIRAGE_OK;
}

static MirageStatus infer_iota(const InferCall *call, MirageType *out_result) {
  const MirageType *type = &call->attrs->iota.type;
  MirageType result;
  MIRAGE_TRY(mirage__check_type(call, "result", 0, type));
  if (type->dtype != MIRAGE_I32)
    return INFER_FAIL(call, MIRAGE_BAD_TYPE, "gives indices, i32, not %s; cast turns them into numbers",
                      mirage_dtype_name(type->dtype));
  MIRAGE_TRY(check_dim(call, call->attrs->iota.dim, type));
  MIRAGE_TRY(check_steps(call));
  double first = (double)call->attrs->iota.start + farthest(call, -1);
  double last = (double)call->attrs->iota.start + (double)(type->shape[call->attrs->iota.dim] - 1) + farthest(call, 1);
  if (first < -MOST_INDEX || last > MOST_INDEX)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "its elements run from %.0f to %.0f, at most %d on either side of 0",
                      first, last, MOST_INDEX);
  MIRAGE_TRY(mirage__result(call, type->dtype, type->rank, type->shape, &result));
  keep_place(call, type, &result);
  *out_result = result;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------- sugar

// Gain and bias of a norm: one number per element of x's last dimension.
static MirageStatus infer_norm(const InferCall *call, MirageType *out_result) {
  const MirageType *x = &call->operands[0];
  MIRAGE_TRY(check_numbers(call));
  if (x->rank == 0)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "operand 0 has rank %u, at least 1 is needed", x->rank);
  MIRAGE_TRY(check_finite(call, "eps", call->attrs->eps.eps, 0.0));
  for (uint32_t i = 1; i < call->num_operands; i++) {
    const MirageType *factor = &call->operands[i];
    char text[TYPE_TEXT_BYTES];
    MIRAGE_TRY(check_same_dtype(call, x, factor));
    if (factor->rank != 1 || factor->shape[0] != x->shape[x->rank - 1])
      return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "%s must have the extent of x's last dimension: %s vs %" PRId64,
                        i == 1 ? "gain" : "bias", mirage_type_format(factor, text, sizeof text), x->shape[x->rank - 1]);
  }
  return mirage__result(call, x->dtype, x->rank, x->shape, out_result);
}

// A mask is i1 or of the scores' type, and broadcasts to them. What causal masks need makes sense with them alone.
static MirageStatus check_visibility(const InferCall *call, const MirageType *scores) {
  const MirageAttrs *attrs = call->attrs;
  char left[TYPE_TEXT_BYTES], right[TYPE_TEXT_BYTES];
  MIRAGE_TRY(check_finite(call, "cap", attrs->sdpa.cap, 0.0));
  if (!attrs->sdpa.causal && (attrs->sdpa.offset || attrs->sdpa.window))
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s is given without causal",
                      attrs->sdpa.offset ? "offset" : "window");
  if (attrs->sdpa.window < 0 || attrs->sdpa.window > MOST_INDEX || llabs(attrs->sdpa.offset) > MOST_INDEX)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT,
                      "offset %" PRId64 " or window %" PRId64 " is out of range, which is %d", attrs->sdpa.offset,
                      attrs->sdpa.window, MOST_INDEX);
  if (call->num_operands < 4)
    return MIRAGE_OK;
  const MirageType *mask = &call->operands[3];
  if (mask->dtype != MIRAGE_I1)
    MIRAGE_TRY(check_same_dtype(call, scores, mask));
  uint32_t rank;
  int64_t shape[MIRAGE_MAX_RANK];
  MIRAGE_TRY(broadcast(call, mask, scores, 0, "mask and scores", &rank, shape));
  MirageType both = mirage_type_tensor(scores->dtype, rank, shape);
  if (!mirage_type_same_shape(&both, scores))
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "mask has more than the scores: %s vs %s",
                      mirage_type_format(mask, left, sizeof left), mirage_type_format(scores, right, sizeof right));
  return MIRAGE_OK;
}

// q [.., m, d], k [.., n, d], v [.., n, e] -> [.., m, e]: the shapes of its two products.
static MirageStatus infer_attention(const InferCall *call, MirageType *out_result) {
  const MirageType *q = &call->operands[0], *k = &call->operands[1], *v = &call->operands[2];
  if (q->rank < 2 || k->rank < 2 || v->rank < 2)
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "operands need at least rank 2: %u, %u, %u", q->rank, k->rank, v->rank);
  MIRAGE_TRY(check_finite(call, "scale", call->attrs->sdpa.scale, -INFINITY));
  MirageType scores;
  InferCall product = *call;
  product.num_operands = 2;
  product.attrs = &(MirageAttrs){.matmul = {.transpose_b = true}};
  MIRAGE_TRY(infer_matmul(&product, &scores));
  if (k->shape[k->rank - 2] != v->shape[v->rank - 2])
    return INFER_FAIL(call, MIRAGE_BAD_SHAPE, "numbers of keys and values differ: %" PRId64 " vs %" PRId64,
                      k->shape[k->rank - 2], v->shape[v->rank - 2]);
  MIRAGE_TRY(check_visibility(call, &scores));
  product.attrs = NULL;
  product.operands = (MirageType[]){scores, *v};
  return infer_matmul(&product, out_result);
}

// c, x, y: x where c holds, y elsewhere.
static MirageStatus infer_select(const InferCall *call, MirageType *out_result) {
  MirageType chosen;
  InferCall part = *call;
  MIRAGE_TRY(check_family(call, 0, MIRAGE_FAMILY_PREDICATE));
  part.op = MIRAGE_OP_MAX;
  part.num_operands = 2;
  part.operands = &call->operands[1];
  MIRAGE_TRY(infer_binary(&part, &chosen));
  part.op = MIRAGE_OP_MASK;
  part.operands = (MirageType[]){call->operands[0], chosen};
  return infer_binary(&part, out_result);
}

// Whole powers are products, and only so many.
static MirageStatus check_exponent(const InferCall *call, double exponent) {
  enum { MOST = 64 };
  bool whole = exponent == floor(exponent);
  if (exponent == 0 || (whole && fabs(exponent) > MOST))
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "exponent is %g, a whole one is 1 to %d or the negative of that",
                      exponent, MOST);
  return MIRAGE_OK;
}

static MirageStatus infer_function(const InferCall *call, MirageType *out_result) {
  uint32_t count;
  const MirageAttrField *fields = mirage_attrs_fields(mirage_op_info(call->op)->attrs, &count);
  MIRAGE_TRY(check_numbers(call));
  for (uint32_t i = 0; i < count; i++)
    MIRAGE_TRY(check_finite(call, fields[i].name, mirage_attr_number(&fields[i], call->attrs), -INFINITY));
  if (call->op == MIRAGE_OP_POW)
    MIRAGE_TRY(check_exponent(call, call->attrs->exponent.exponent));
  if (call->op == MIRAGE_OP_CLAMP && call->attrs->bounds.low > call->attrs->bounds.high)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "low is %g, above high, %g", call->attrs->bounds.low,
                      call->attrs->bounds.high);
  return infer_unary(call, out_result);
}

static MirageStatus infer_sugar(const InferCall *call, MirageType *out_result) {
  switch (call->op) {
  case MIRAGE_OP_SOFTMAX:
    MIRAGE_TRY(check_dim(call, call->attrs->dim.dim, &call->operands[0]));
    return infer_unary(call, out_result);
  case MIRAGE_OP_RMS_NORM:
  case MIRAGE_OP_LAYER_NORM:
    return infer_norm(call, out_result);
  case MIRAGE_OP_SDPA:
    return infer_attention(call, out_result);
  case MIRAGE_OP_SELECT:
    return infer_select(call, out_result);
  default:
    return infer_function(call, out_result);
  }
}

// ---------------------------------------------------------------------------------------- dispatch

// Which operators take a stored type: those that move it, cast, and products of two of them.
static MirageStatus check_stored(const InferCall *call, const MirageOpInfo *info, uint32_t index) {
  MirageDType dtype = call->operands[index].dtype;
  bool moves = info->kind == MIRAGE_KIND_SHAPE && (call->level != MIRAGE_LEVEL_KERNEL || call->op == MIRAGE_OP_RESHAPE);
  bool multiplies = info->kind == MIRAGE_KIND_MATMUL && call->num_operands >= 2 && index < 2 &&
                    mirage_dtype_is_stored(call->operands[1 - index].dtype);
  if (!mirage_dtype_is_stored(dtype) || moves || multiplies || info->kind == MIRAGE_KIND_CAST ||
      call->op == MIRAGE_OP_LOAD)
    return MIRAGE_OK;
  return INFER_FAIL(call, MIRAGE_BAD_TYPE, "operand %u is %s, a stored type; cast it to f16, bf16 or f32 first", index,
                    mirage_dtype_name(dtype));
}

static MirageStatus check_call(const InferCall *call, const MirageOpInfo *info) {
  if (call->level != MIRAGE_LEVEL_KERNEL && call->level != MIRAGE_LEVEL_BLOCK && call->level != MIRAGE_LEVEL_THREAD)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "level %d does not exist", (int)call->level);
  if (!(info->levels & (uint32_t)call->level))
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "not an operator of the %s level", mirage__level_name(call->level));
  if (info->kind == MIRAGE_KIND_REGION || info->kind == MIRAGE_KIND_TERMINATOR)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s, so it has no single result type",
                      info->kind == MIRAGE_KIND_REGION ? "holds a region" : "ends a region");
  if (call->num_operands < info->min_operands)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "too few operands: %u, at least %u are needed", call->num_operands,
                      info->min_operands);
  if (call->num_operands > info->max_operands)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "too many operands: %u, at most %u are taken", call->num_operands,
                      info->max_operands);
  bool optional = info->attrs == MIRAGE_ATTRS_NONE || info->attrs == MIRAGE_ATTRS_MATMUL;
  if (!call->attrs && !optional)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s", "attributes are missing");
  for (uint32_t i = 0; i < call->num_operands; i++) {
    MIRAGE_TRY(mirage__check_type(call, "operand", i, &call->operands[i]));
    MIRAGE_TRY(check_stored(call, info, i));
    if (info->kind != MIRAGE_KIND_ACCESS) // load and store cross levels: infer_region.c checks each operand
      MIRAGE_TRY(mirage__check_space(call, i, &call->operands[i]));
  }
  return MIRAGE_OK;
}

MirageStatus mirage_op_infer(MirageOp op, MirageLevel level, uint32_t num_operands, const MirageType *operands,
                             const MirageAttrs *attrs, const MirageScope *scope, const MirageDiag *diag,
                             const void *loc, MirageType *out_result) {
  if (op <= MIRAGE_OP_NONE || op >= MIRAGE_NUM_OPS)
    return mirage_diag_fail(diag, loc, MIRAGE_BAD_ARGUMENT, "operator %d does not exist", (int)op);
  const MirageOpInfo *info = mirage_op_info(op);
  const InferCall call = {op, info->mnemonic, level, num_operands, operands, attrs, scope, diag, loc};
  MIRAGE_TRY(check_call(&call, info));
  switch (info->kind) {
  case MIRAGE_KIND_UNARY:
    return infer_unary(&call, out_result);
  case MIRAGE_KIND_BINARY:
    return infer_binary(&call, out_result);
  case MIRAGE_KIND_MATMUL:
    return infer_matmul(&call, out_result);
  case MIRAGE_KIND_REDUCE:
    return infer_reduce(&call, out_result);
  case MIRAGE_KIND_SHAPE:
    return infer_shape(&call, out_result);
  case MIRAGE_KIND_CAST:
    return infer_cast(&call, out_result);
  case MIRAGE_KIND_CONSTANT:
    return infer_constant(&call, out_result);
  case MIRAGE_KIND_IOTA:
    return infer_iota(&call, out_result);
  case MIRAGE_KIND_SUGAR:
    return infer_sugar(&call, out_result);
  case MIRAGE_KIND_ACCESS:
    return op == MIRAGE_OP_LOAD ? mirage__infer_load(&call, out_result) : mirage__infer_store(&call);
  case MIRAGE_KIND_COLLECTIVE:
    return mirage__infer_collective(&call, out_result);
  case MIRAGE_KIND_REGION:
  case MIRAGE_KIND_TERMINATOR:
    break; // refused by check_call
  }
  return INFER_FAIL(&call, MIRAGE_UNSUPPORTED, "operator %d has no shape rule", (int)op);
}
