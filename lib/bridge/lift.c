// lift.c - values that are lifted, and the operations that only move them: reshapes, slices.
#include "lift.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

MlirStringRef mirage__lift_name(MlirOperation op) { return mlirIdentifierStr(mlirOperationGetName(op)); }

bool mirage__lift_named(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mirage__lift_name(op), str(name));
}

bool mirage__lift_fail(Lift *lift, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(lift->reason, sizeof lift->reason, format, arguments);
  va_end(arguments);
  return false;
}

// ------------------------------------------------------------------------------------------------------------ constants

bool mirage__lift_number(MlirAttribute attribute, double *out_value) {
  if (mlirAttributeIsNull(attribute))
    return false;
  if (mlirAttributeIsAFloat(attribute)) {
    *out_value = mlirFloatAttrGetValueDouble(attribute);
    return true;
  }
  if (mlirAttributeIsAInteger(attribute)) {
    MlirType type = mlirAttributeGetType(attribute);
    *out_value = mlirTypeIsAIndex(type) || mlirIntegerTypeIsSignless(type)
                     ? (double)mlirIntegerAttrGetValueInt(attribute)
                     : (double)mlirIntegerAttrGetValueSInt(attribute);
    return true;
  }
  return mlirAttributeIsADenseElements(attribute) && mlirDenseElementsAttrIsSplat(attribute) &&
         mirage__lift_number(mlirDenseElementsAttrGetSplatValue(attribute), out_value);
}

static MlirOperation definition(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

/// Whether the operation gives what its operand holds, or some of it, in another shape.
static bool only_moves(MlirOperation op) {
  static const char *const names[] = {"tensor.expand_shape", "tensor.collapse_shape", "tensor.extract_slice",
                                      "linalg.transpose", "linalg.broadcast"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (mirage__lift_named(op, names[i]))
      return true;
  return false;
}

/// The operand, or constant, that a structured operation does nothing but copy, over any maps; null: it does something.
static MlirValue copied(MlirOperation op) {
  MlirValue none = {NULL};
  if (!mirage__lift_named(op, "linalg.generic") || mlirOperationGetNumResults(op) != 1)
    return none;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirValue yielded = mlirOperationGetOperand(yield, 0);
  if (mlirValueIsAOpResult(yielded))
    return mirage__lift_named(mlirOpResultGetOwner(yielded), "arith.constant") ? yielded : none;
  if (!mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), block))
    return none;
  intptr_t index = mlirBlockArgumentGetArgNumber(yielded);
  return index + 1 < mlirOperationGetNumOperands(op) ? mlirOperationGetOperand(op, index) : none;
}

bool mirage__lift_splat(MlirValue value, double *out_value) {
  MlirOperation op = definition(value);
  if (mlirOperationIsNull(op))
    return false;
  if (mirage__lift_named(op, "arith.constant"))
    return mirage__lift_number(mlirOperationGetAttributeByName(op, str("value")), out_value);
  bool fills = mirage__lift_named(op, "linalg.fill") || mirage__lift_named(op, "tensor.splat");
  MlirValue source = fills || only_moves(op) ? mlirOperationGetOperand(op, 0) : copied(op);
  return !mlirValueIsNull(source) && mirage__lift_splat(source, out_value);
}

bool mirage__lift_is_empty(MlirValue value) {
  MlirOperation op = definition(value);
  return !mlirOperationIsNull(op) && mirage__lift_named(op, "tensor.empty");
}

/// The shape of a static tensor as a graph holds it.
static bool lifted_shape(MlirType type, MirageType *out) {
  if (!mlirTypeIsARankedTensor(type) || !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  intptr_t rank = mlirShapedTypeGetRank(type);
  *out = (MirageType){.dtype = MIRAGE_F32, .rank = 0};
  for (intptr_t d = 0; d < rank; d++) {
    int64_t extent = mlirShapedTypeGetDimSize(type, d);
    if (mlirShapedTypeIsDynamicDim(type, d) || extent < 1)
      return false;
    if (rank > MIRAGE_MAX_RANK && extent == 1)
      continue;
    if (out->rank == MIRAGE_MAX_RANK)
      return false;
    out->shape[out->rank++] = extent;
  }
  if (out->rank == 0)
    out->shape[out->rank++] = 1;
  return true;
}

bool mirage__lift_type(MlirType type, MirageType *out) {
  MirageType shape;
  MirageDType dtype;
  if (!lifted_shape(type, &shape) || !mirage__lift_dtype(mlirShapedTypeGetElementType(type), &dtype))
    return false;
  *out = mirage_type_tensor(dtype, shape.rank, shape.shape);
  return true;
}

bool mirage__lift_input_dtype(MlirType type, MirageDType *out) {
  if (mirage__lift_dtype(type, out))
    return true;
  bool integer = mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type);
  unsigned width = integer ? mlirIntegerTypeGetWidth(type) : 0;
  if (width == 1)
    *out = MIRAGE_I1;
  else if (width == 4)
    *out = MIRAGE_I4;
  else if (width == 8)
    *out = MIRAGE_I8;
  else if (mlirTypeIsAFloat8E4M3FN(type))
    *out = MIRAGE_F8E4M3FN;
  else if (mlirTypeIsAFloat8E5M2(type))
    *out = MIRAGE_F8E5M2;
  else
    return false;
  return true;
}

bool mirage__lift_input_type(MlirType type, MirageType *out) {
  MirageType shape;
  MirageDType dtype;
  if (!lifted_shape(type, &shape) || !mirage__lift_input_dtype(mlirShapedTypeGetElementType(type), &dtype))
    return false;
  *out = mirage_type_tensor(dtype, shape.rank, shape.shape);
  return true;
}

static bool is_truth(MlirType type) {
  return mlirTypeIsARankedTensor(type) && mirage__lift_is_truth_type(mlirShapedTypeGetElementType(type));
}

static bool is_positions(MlirType type) {
  return mlirTypeIsARankedTensor(type) && mirage__lift_is_position_type(mlirShapedTypeGetElementType(type));
}

bool mirage__lift_positions_type(MlirType type, MirageType *out) {
  return is_positions(type) && lifted_shape(type, out);
}

bool mirage__lift_truth_type(MlirType type, MirageType *out) {
  MirageType shape;
  if (!is_truth(type) || !lifted_shape(type, &shape))
    return false;
  *out = mirage_type_tensor(MIRAGE_F32, shape.rank, shape.shape);
  return true;
}

bool mirage__lift_outer_type(MlirValue value, MirageType *out) {
  MlirOperation op = definition(value);
  MlirValue product;
  MlirType type = mlirValueGetType(value);
  if (mlirOperationIsNull(op) || !mirage__lift_adds_bytes(op, &product))
    return mirage__lift_type(type, out);
  bool shaped = lifted_shape(type, out);
  out->dtype = MIRAGE_I32;
  return shaped;
}

bool mirage__lift_is_virtual(MlirValue value) {
  MlirOperation op = definition(value);
  MlirValue product;
  if (!mlirOperationIsNull(op) && mirage__lift_adds_bytes(op, &product))
    return false;
  return !mlirOperationIsNull(op) && (is_truth(mlirValueGetType(value)) || is_positions(mlirValueGetType(value)) ||
                                      mirage__lift_named(op, "tensor.insert_slice"));
}

bool mirage__lift_is_source(MlirOperation op) {
  double number;
  if (mlirOperationGetNumResults(op) != 1)
    return false;
  MlirValue result = mlirOperationGetResult(op, 0);
  return mirage__lift_is_empty(result) || mirage__lift_splat(result, &number) ||
         mirage__lift_named(op, "arith.constant");
}

// --------------------------------------------------------------------------------------------------------------- values

static bool bind(Lift *lift, LiftValue bound) {
  if (lift->count == lift->room) {
    uint32_t room = lift->room ? 2 * lift->room : 64;
    LiftValue *values = mirage_arena_alloc_array(lift->arena, room, sizeof *values);
    if (!values)
      return mirage__lift_fail(lift, "out of memory");
    if (lift->count)
      memcpy(values, lift->values, lift->count * sizeof *values);
    lift->values = values;
    lift->room = room;
  }
  lift->values[lift->count++] = bound;
  return true;
}

bool mirage__lift_bind(Lift *lift, MlirValue value, MirageValue lifted) {
  return bind(lift, (LiftValue){.value = value.ptr, .lifted = lifted});
}

bool mirage__lift_bind_test(Lift *lift, MlirValue value, const LiftTest *test) {
  return bind(lift, (LiftValue){.value = value.ptr, .test = test});
}

bool mirage__lift_bind_pieces(Lift *lift, MlirValue value, const LiftPieces *pieces) {
  return bind(lift, (LiftValue){.value = value.ptr, .pieces = pieces});
}

const LiftValue *mirage__lift_find(const Lift *lift, MlirValue value) {
  for (uint32_t i = lift->count; i-- > 0;)
    if (lift->values[i].value == value.ptr)
      return &lift->values[i];
  return NULL;
}

/// What is 0 where a mask holds as a tensor of its own.
static MirageValue bias_tensor(Lift *lift, MlirValue value, const LiftTest *bias) {
  MirageType type;
  if (!mirage__lift_type(mlirValueGetType(value), &type))
    return (MirageValue){0};
  LiftBody body = {.lift = lift, .rank = type.rank, .extents = type.shape};
  MirageValue tensor = mirage__lift_bias(&body, bias);
  return tensor.index ? mirage__lift_broadcast(lift, tensor, type.rank, type.shape) : tensor;
}

MirageValue mirage__lift_value(Lift *lift, MlirValue value) {
  const LiftValue *bound = mirage__lift_find(lift, value);
  if (bound && bound->test && bound->test->kind == LIFT_BIAS)
    return bias_tensor(lift, value, bound->test);
  if (bound && bound->test)
    mirage__lift_fail(lift, "it reads truth values");
  else if (bound && bound->pieces)
    mirage__lift_fail(lift, "it reads a tensor of which a part is not written");
  else if (bound && !bound->lifted.index)
    mirage__lift_fail(lift, "an operand has more elements than can be counted");
  if (bound)
    return bound->lifted;
  MirageType type;
  double number;
  if (!mirage__lift_splat(value, &number)) {
    mirage__lift_fail(lift, mirage__lift_is_empty(value) ? "reads a tensor that nobody has written"
                                                         : "an operand is not known");
    return (MirageValue){0};
  }
  if (!mirage__lift_type(mlirValueGetType(value), &type)) {
    mirage__lift_fail(lift, "a constant's type is not f16, bf16 or f32");
    return (MirageValue){0};
  }
  return mirage_ugraph_constant(lift->graph, type, number);
}

// ----------------------------------------------------------------------------------------------------------- short forms

MirageValue mirage__lift_unary(Lift *lift, MirageOp op, MirageValue a) {
  return mirage_ugraph_apply(lift->graph, op, 1, &a, NULL);
}

MirageValue mirage__lift_binary(Lift *lift, MirageOp op, MirageValue a, MirageValue b) {
  return mirage_ugraph_apply(lift->graph, op, 2, (MirageValue[]){a, b}, NULL);
}

MirageValue mirage__lift_cast(Lift *lift, MirageValue a, MirageDType dtype) {
  return mirage_ugraph_type(lift->graph, a)->dtype == dtype ? a : mirage_ugraph_cast(lift->graph, a, dtype);
}

static bool has_shape(const MirageType *type, uint32_t rank, const int64_t *shape) {
  return type->rank == rank && memcmp(type->shape, shape, rank * sizeof *shape) == 0;
}

/// What a value was before it was reshaped.
static MirageValue before_reshape(const Lift *lift, MirageValue a) {
  MirageNode node = mirage_ugraph_def(lift->graph, a);
  if (node.index == 0)
    return a;
  MirageNodeView view = mirage_ugraph_node(lift->graph, node);
  return view.op == MIRAGE_OP_RESHAPE ? view.operands[0] : a;
}

MirageValue mirage__lift_reshape(Lift *lift, MirageValue a, uint32_t rank, const int64_t *shape) {
  if (has_shape(mirage_ugraph_type(lift->graph, a), rank, shape))
    return a;
  a = before_reshape(lift, a);
  const MirageType *type = mirage_ugraph_type(lift->graph, a);
  if (has_shape(type, rank, shape))
    return a;
  MirageAttrs attrs = {.shape.type = mirage_type_tensor(type->dtype, rank, shape)};
  return mirage_ugraph_apply(lift->graph, MIRAGE_OP_RESHAPE, 1, &a, &attrs);
}

MirageValue mirage__lift_broadcast(Lift *lift, MirageValue a, uint32_t rank, const int64_t *shape) {
  const MirageType *type = mirage_ugraph_type(lift->graph, a);
  if (has_shape(type, rank, shape))
    return a;
  MirageAttrs attrs = {.shape.type = mirage_type_tensor(type->dtype, rank, shape)};
  return mirage_ugraph_apply(lift->graph, MIRAGE_OP_BROADCAST, 1, &a, &attrs);
}

MirageValue mirage__lift_transpose(Lift *lift, MirageValue a, const int32_t *perm) {
  MirageAttrs attrs = {0};
  int64_t shape[MIRAGE_MAX_RANK];
  bool moves = false;
  int32_t last = -1; // of those that are not of extent 1
  const MirageType *type = mirage_ugraph_type(lift->graph, a);
  uint32_t rank = type->rank;
  for (uint32_t i = 0; i < rank; i++) {
    attrs.perm.perm[i] = perm[i];
    shape[i] = type->shape[perm[i]];
    if (shape[i] == 1)
      continue;
    moves |= perm[i] < last;
    last = perm[i];
  }
  return moves ? mirage_ugraph_apply(lift->graph, MIRAGE_OP_TRANSPOSE, 1, &a, &attrs)
               : mirage__lift_reshape(lift, a, rank, shape);
}

MirageValue mirage__lift_slice(Lift *lift, MirageValue a, uint32_t dim, int64_t begin, int64_t end) {
  MirageAttrs attrs = {.slice = {(int32_t)dim, begin, end}};
  if (begin == 0 && end == mirage_ugraph_type(lift->graph, a)->shape[dim])
    return a;
  return mirage_ugraph_apply(lift->graph, MIRAGE_OP_SLICE, 1, &a, &attrs);
}

MirageValue mirage__lift_constant(Lift *lift, MirageDType dtype, uint32_t rank, double value) {
  int64_t ones[MIRAGE_MAX_RANK];
  for (uint32_t i = 0; i < MIRAGE_MAX_RANK; i++)
    ones[i] = 1;
  return mirage_ugraph_constant(lift->graph, mirage_type_tensor(dtype, rank, ones), value);
}

// -------------------------------------------------------------------------------------------------------------- movement

static bool bind_result(Lift *lift, MlirOperation op, MirageValue value) {
  return mirage__lift_bind(lift, mlirOperationGetResult(op, 0), value);
}

bool mirage__lift_result_type(Lift *lift, MlirOperation op, MirageType *out_type) {
  if (mirage__lift_type(mlirValueGetType(mlirOperationGetResult(op, 0)), out_type))
    return true;
  return mirage__lift_fail(lift, "its result is no static tensor of f16, bf16 or f32");
}

// From one shape to another of as many elements.
typedef struct Reshaping {
  Lift *lift;
  MirageType from, to;
  bool only_ones; // extents of 1 come and go, and no other
} Reshaping;

static MirageValue reshape_stretched(void *user, MirageValue tensor) {
  const Reshaping *r = user;
  return mirage__lift_reshape(r->lift, tensor, r->to.rank, r->to.shape);
}

/// Which of the new dimensions with more than one element is the `from`-th of the old ones.
static void reshape_steps(void *user, const int64_t *from, int64_t *out_steps) {
  const Reshaping *r = user;
  uint32_t d = 0;
  memset(out_steps, 0, LIFT_MAX_DIMS * sizeof *out_steps);
  for (uint32_t i = 0; i < r->from.rank; i++) {
    if (r->from.shape[i] == 1)
      continue;
    while (d < r->to.rank && r->to.shape[d] == 1)
      d++;
    if (d < r->to.rank)
      out_steps[d++] = from[i];
  }
}

static MirageValue reshape_truth(void *user, MirageValue tensor) {
  const Reshaping *r = user;
  int64_t shape[MIRAGE_MAX_RANK], extents[LIFT_MAX_DIMS] = {0};
  const MirageType type = *mirage_ugraph_type(r->lift->graph, tensor);
  for (uint32_t i = 0; i < type.rank; i++)
    extents[i] = type.shape[i];
  int64_t moved[LIFT_MAX_DIMS];
  reshape_steps(user, extents, moved);
  for (uint32_t d = 0; d < r->to.rank; d++)
    shape[d] = moved[d] ? moved[d] : 1;
  return mirage__lift_reshape(r->lift, tensor, r->to.rank, shape);
}

static bool same_but_ones(const MirageType *a, const MirageType *b) {
  uint32_t i = 0, k = 0;
  for (;; i++, k++) {
    while (i < a->rank && a->shape[i] == 1)
      i++;
    while (k < b->rank && b->shape[k] == 1)
      k++;
    if (i == a->rank || k == b->rank)
      return i == a->rank && k == b->rank;
    if (a->shape[i] != b->shape[k])
      return false;
  }
}

/// Truth values, positions or a bias in another shape.
static bool reshape_test(Lift *lift, MlirOperation op, const LiftTest *test) {
  Reshaping r = {.lift = lift};
  if (!lifted_shape(mlirValueGetType(mlirOperationGetOperand(op, 0)), &r.from) ||
      !lifted_shape(mlirValueGetType(mlirOperationGetResult(op, 0)), &r.to))
    return mirage__lift_fail(lift, "its result is no static tensor");
  if (test->kind != LIFT_COMPARES && !same_but_ones(&r.from, &r.to))
    return mirage__lift_fail(lift, "positions that are reshaped");
  const LiftMove move = {lift, reshape_stretched, reshape_truth, reshape_steps, &r};
  const LiftTest *moved = mirage__lift_move_test(&move, test);
  return moved && mirage__lift_bind_test(lift, mlirOperationGetResult(op, 0), moved);
}

/// An i1 that comes from outside, as what moves like one that is made here.
static const LiftTest *truth_of(Lift *lift, const LiftValue *bound) {
  if (!bound || bound->test)
    return bound ? bound->test : NULL;
  if (!bound->lifted.index || mirage_ugraph_type(lift->graph, bound->lifted)->dtype != MIRAGE_I1)
    return NULL;
  const LiftTest truth = {.kind = LIFT_TRUTH, .tensor = bound->lifted};
  return mirage_arena_copy(lift->arena, &truth, sizeof truth);
}

const LiftTest *mirage__lift_find_test(Lift *lift, MlirValue value) {
  const LiftValue *bound = mirage__lift_find(lift, value);
  MlirOperation op = definition(value);
  MirageType shape;
  bool constant = !bound && !mlirOperationIsNull(op) && mirage__lift_named(op, "arith.constant");
  if (constant && mirage__lift_positions_type(mlirValueGetType(value), &shape))
    return mirage__lift_constant_positions(lift, value, &shape);
  return truth_of(lift, bound);
}

static bool lift_reshape(Lift *lift, MlirOperation op) {
  MirageType type;
  MlirValue operand = mlirOperationGetOperand(op, 0);
  const LiftTest *test = mirage__lift_find_test(lift, operand);
  if (test)
    return reshape_test(lift, op, test);
  if (!mirage__lift_result_type(lift, op, &type))
    return false;
  MirageValue value = mirage__lift_value(lift, operand);
  if (!value.index)
    return false;
  if (mirage_type_elements(mirage_ugraph_type(lift->graph, value)) != mirage_type_elements(&type))
    return mirage__lift_fail(lift, "its shape is known at run time alone");
  return bind_result(lift, op, mirage__lift_reshape(lift, value, type.rank, type.shape));
}

static bool read_static(MlirOperation op, const char *name, uint32_t rank, int64_t *out) {
  MlirAttribute attribute = mlirOperationGetAttributeByName(op, str(name));
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsADenseI64Array(attribute) ||
      mlirDenseArrayGetNumElements(attribute) != (intptr_t)rank)
    return false;
  for (uint32_t i = 0; i < rank; i++) {
    out[i] = mlirDenseI64ArrayGetElement(attribute, (intptr_t)i);
    if (out[i] == INT64_MIN) // known at run time alone
      return false;
  }
  return true;
}

/// A tensor that has other dimensions in the graph has no such box.
static bool keeps_rank(MlirOperation op, const MirageType *whole) {
  MlirAttribute offsets = mlirOperationGetAttributeByName(op, str("static_offsets"));
  return !mlirAttributeIsNull(offsets) && mlirDenseArrayGetNumElements(offsets) == (intptr_t)whole->rank;
}

bool mirage__lift_read_slice(Lift *lift, MlirOperation op, const MirageType *whole, LiftSlice *out) {
  int64_t strides[MIRAGE_MAX_RANK];
  out->rank = whole->rank;
  if (!keeps_rank(op, whole))
    return mirage__lift_fail(lift, "a slice of a tensor of more than %d dimensions, or none", MIRAGE_MAX_RANK);
  if (!read_static(op, "static_offsets", whole->rank, out->offsets) ||
      !read_static(op, "static_sizes", whole->rank, out->sizes) ||
      !read_static(op, "static_strides", whole->rank, strides))
    return mirage__lift_fail(lift, "its offsets or sizes are known at run time alone");
  for (uint32_t i = 0; i < whole->rank; i++)
    if (strides[i] != 1)
      return mirage__lift_fail(lift, "it takes every %" PRId64 "th element", strides[i]);
  return true;
}

static bool lift_extract(Lift *lift, MlirOperation op) {
  MirageType type;
  LiftSlice slice;
  MirageValue value = mirage__lift_value(lift, mlirOperationGetOperand(op, 0));
  if (!value.index || !mirage__lift_result_type(lift, op, &type))
    return false;
  const MirageType whole = *mirage_ugraph_type(lift->graph, value);
  if (!mirage__lift_read_slice(lift, op, &whole, &slice))
    return false;
  for (uint32_t d = 0; d < whole.rank; d++)
    value = mirage__lift_slice(lift, value, d, slice.offsets[d], slice.offsets[d] + slice.sizes[d]);
  return bind_result(lift, op, mirage__lift_reshape(lift, value, type.rank, type.shape));
}

// -------------------------------------------------------------------------------------------------- element-wise tensors

static bool lift_element_wise(Lift *lift, MlirOperation op) {
  MirageType type;
  LiftElement result;
  if (!mirage__lift_is_scalar(op))
    return mirage__lift_fail(lift, "no operator computes it");
  MlirType given = mlirValueGetType(mlirOperationGetResult(op, 0));
  bool truth = mirage__lift_truth_type(given, &type) || mirage__lift_positions_type(given, &type);
  if (!truth && !mirage__lift_result_type(lift, op, &type))
    return false;
  if (!mirage__lift_whole(lift, op, &type, &result))
    return false;
  if (truth && !result.test)
    return mirage__lift_fail(lift, "truth values or positions that are all the same");
  if (result.test)
    return mirage__lift_bind_test(lift, mlirOperationGetResult(op, 0), result.test);
  if (result.is_number)
    result.tensor = mirage_ugraph_constant(lift->graph, type, result.number);
  return bind_result(lift, op, mirage__lift_broadcast(lift, result.tensor, type.rank, type.shape));
}

static bool try_lift(Lift *lift, MlirOperation op) {
  if (mirage__lift_is_structured(op))
    return mirage__lift_is_indexed_concat(op) ? mirage__lift_indexed_concat(lift, op)
                                              : mirage__lift_structured(lift, op);
  if (mirage__lift_named(op, "tensor.expand_shape") || mirage__lift_named(op, "tensor.collapse_shape") ||
      mirage__lift_named(op, "tensor.reshape"))
    return lift_reshape(lift, op);
  if (mirage__lift_named(op, "tensor.extract_slice"))
    return lift_extract(lift, op);
  if (mirage__lift_named(op, "tensor.concat"))
    return mirage__lift_concat(lift, op);
  if (mirage__lift_named(op, "tensor.insert_slice"))
    return mirage__lift_insert(lift, op);
  if (mlirOperationGetNumResults(op) == 1 && mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, 0))))
    return lift_element_wise(lift, op);
  return mirage__lift_fail(lift, "no operator computes it");
}

/// Whether each result that became a tensor of the graph has its own shape and type there; a wide product that is only rounded
/// may be a narrow one.
static bool results_fit(Lift *lift, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    const LiftValue *bound = mirage__lift_find(lift, result);
    MirageType type;
    if (!bound || !bound->lifted.index)
      continue;
    const MirageType *is = mirage_ugraph_type(lift->graph, bound->lifted);
    if (!mirage__lift_outer_type(result, &type) || !mirage_type_same_shape(&type, is) ||
        (type.dtype != is->dtype && type.dtype != MIRAGE_F32))
      return mirage__lift_fail(lift, "its types do not fit together");
  }
  return true;
}

bool mirage__lift(Lift *lift, MlirOperation op) {
  if (!try_lift(lift, op))
    return false;
  MirageStatus status = mirage_ugraph_status(lift->graph);
  if (status == MIRAGE_OK)
    return results_fit(lift, op);
  return mirage__lift_fail(lift, "%s", mirage_status_string(status));
}
