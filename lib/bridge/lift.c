// lift.c - values that are lifted, and the operations that only move them: reshapes, slices, concatenations.
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

bool mirage__lift_splat(MlirValue value, double *out_value) {
  MlirOperation op = definition(value);
  if (mlirOperationIsNull(op))
    return false;
  if (mirage__lift_named(op, "arith.constant"))
    return mirage__lift_number(mlirOperationGetAttributeByName(op, str("value")), out_value);
  if (mirage__lift_named(op, "linalg.fill"))
    return mirage__lift_splat(mlirOperationGetOperand(op, 0), out_value);
  return mirage__lift_named(op, "tensor.splat") && mirage__lift_splat(mlirOperationGetOperand(op, 0), out_value);
}

bool mirage__lift_is_empty(MlirValue value) {
  MlirOperation op = definition(value);
  return !mlirOperationIsNull(op) && mirage__lift_named(op, "tensor.empty");
}

bool mirage__lift_type(MlirType type, MirageType *out) {
  if (mirage_bridge_type_import(type, NULL, NULL, out) == MIRAGE_OK)
    return true;
  if (!mlirTypeIsARankedTensor(type) || !mlirTypeIsAF64(mlirShapedTypeGetElementType(type)))
    return false;
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
  int64_t shape[MIRAGE_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t d = 0; d < rank && rank <= MIRAGE_MAX_RANK; d++)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  MlirType narrow = mlirRankedTensorTypeGet(rank <= MIRAGE_MAX_RANK ? rank : 0, shape,
                                            mlirF32TypeGet(mlirTypeGetContext(type)), encoding);
  return rank <= MIRAGE_MAX_RANK && mirage_bridge_type_import(narrow, NULL, NULL, out) == MIRAGE_OK;
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

bool mirage__lift_bind(Lift *lift, MlirValue value, MirageValue lifted) {
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
  lift->values[lift->count++] = (LiftValue){value.ptr, lifted};
  return true;
}

MirageValue mirage__lift_value(Lift *lift, MlirValue value) {
  for (uint32_t i = lift->count; i-- > 0;)
    if (lift->values[i].value == value.ptr)
      return lift->values[i].lifted;
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

MirageValue mirage__lift_reshape(Lift *lift, MirageValue a, uint32_t rank, const int64_t *shape) {
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
  bool moves = false;
  uint32_t rank = mirage_ugraph_type(lift->graph, a)->rank;
  for (uint32_t i = 0; i < rank; i++) {
    attrs.perm.perm[i] = perm[i];
    moves |= perm[i] != (int32_t)i;
  }
  return moves ? mirage_ugraph_apply(lift->graph, MIRAGE_OP_TRANSPOSE, 1, &a, &attrs) : a;
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

static bool result_type(Lift *lift, MlirOperation op, MirageType *out_type) {
  if (mirage__lift_type(mlirValueGetType(mlirOperationGetResult(op, 0)), out_type))
    return true;
  return mirage__lift_fail(lift, "its result is no static tensor of f16, bf16 or f32");
}

static bool lift_reshape(Lift *lift, MlirOperation op) {
  MirageType type;
  if (!result_type(lift, op, &type))
    return false;
  MirageValue value = mirage__lift_value(lift, mlirOperationGetOperand(op, 0));
  return value.index && bind_result(lift, op, mirage__lift_reshape(lift, value, type.rank, type.shape));
}

typedef struct Slice {
  uint32_t rank;
  int64_t offsets[MIRAGE_MAX_RANK], sizes[MIRAGE_MAX_RANK];
} Slice;

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

/// The box that a slice operation names in `whole`; only steps of 1.
static bool read_slice(Lift *lift, MlirOperation op, const MirageType *whole, Slice *out) {
  int64_t strides[MIRAGE_MAX_RANK];
  out->rank = whole->rank;
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
  Slice slice;
  MirageValue value = mirage__lift_value(lift, mlirOperationGetOperand(op, 0));
  if (!value.index || !result_type(lift, op, &type))
    return false;
  const MirageType whole = *mirage_ugraph_type(lift->graph, value);
  if (!read_slice(lift, op, &whole, &slice))
    return false;
  for (uint32_t d = 0; d < whole.rank; d++) {
    if (slice.offsets[d] == 0 && slice.sizes[d] == whole.shape[d])
      continue;
    MirageAttrs attrs = {.slice = {(int32_t)d, slice.offsets[d], slice.offsets[d] + slice.sizes[d]}};
    value = mirage_ugraph_apply(lift->graph, MIRAGE_OP_SLICE, 1, &value, &attrs);
  }
  return bind_result(lift, op, mirage__lift_reshape(lift, value, type.rank, type.shape));
}

static bool lift_concat(Lift *lift, MlirOperation op) {
  enum { MOST = 64 };
  MirageValue parts[MOST];
  double dim;
  intptr_t count = mlirOperationGetNumOperands(op);
  if (count > MOST)
    return mirage__lift_fail(lift, "it puts %d tensors together, %d are possible", (int)count, MOST);
  if (!mirage__lift_number(mlirOperationGetAttributeByName(op, str("dim")), &dim))
    return mirage__lift_fail(lift, "its dimension is not known");
  for (intptr_t i = 0; i < count; i++) {
    parts[i] = mirage__lift_value(lift, mlirOperationGetOperand(op, i));
    if (!parts[i].index)
      return false;
  }
  MirageAttrs attrs = {.dim = {(int32_t)dim}};
  return bind_result(lift, op, mirage_ugraph_apply(lift->graph, MIRAGE_OP_CONCAT, (uint32_t)count, parts, &attrs));
}

// -------------------------------------------------------------------------------------------------- element-wise tensors

static bool lift_element_wise(Lift *lift, MlirOperation op) {
  uint32_t operands;
  MirageOp found = mirage__lift_operator(mirage__lift_name(op), &operands);
  MirageType type;
  MirageValue values[2] = {{0}};
  if (found == MIRAGE_OP_NONE || !result_type(lift, op, &type))
    return found == MIRAGE_OP_NONE ? mirage__lift_fail(lift, "no operator computes it") : false;
  for (uint32_t i = 0; i < operands; i++) {
    values[i] = mirage__lift_value(lift, mlirOperationGetOperand(op, (intptr_t)i));
    if (!values[i].index)
      return false;
  }
  MirageValue result = found == MIRAGE_OP_CAST ? mirage__lift_cast(lift, values[0], type.dtype)
                                               : mirage_ugraph_apply(lift->graph, found, operands, values, NULL);
  return bind_result(lift, op, result);
}

static bool try_lift(Lift *lift, MlirOperation op) {
  if (mirage__lift_is_structured(op))
    return mirage__lift_structured(lift, op);
  if (mirage__lift_named(op, "tensor.expand_shape") || mirage__lift_named(op, "tensor.collapse_shape") ||
      mirage__lift_named(op, "tensor.reshape"))
    return lift_reshape(lift, op);
  if (mirage__lift_named(op, "tensor.extract_slice"))
    return lift_extract(lift, op);
  if (mirage__lift_named(op, "tensor.concat"))
    return lift_concat(lift, op);
  if (mlirOperationGetNumResults(op) == 1 && mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, 0))))
    return lift_element_wise(lift, op);
  return mirage__lift_fail(lift, "no operator computes it");
}

bool mirage__lift(Lift *lift, MlirOperation op) {
  if (!try_lift(lift, op))
    return false;
  MirageStatus status = mirage_ugraph_status(lift->graph);
  if (status == MIRAGE_OK)
    return true;
  return mirage__lift_fail(lift, "%s", mirage_status_string(status));
}
