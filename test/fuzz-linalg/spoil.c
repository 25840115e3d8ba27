// spoil.c - programs that are made wrong on purpose after the pass: what a wrong lift would have made.
#include "judge.h"

#include "interpret.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

const char *const SPOIL_NAMES[NUM_SPOILS] = {"none",  "sub",      "start", "transpose", "matmul", "max",
                                             "slice", "constant", "call",  "effect",    "round"};

static bool same_types(MlirValue a, MlirValue b) { return mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)); }

static bool swap_operands(MlirOperation op, intptr_t i, intptr_t j) {
  MlirValue a = mlirOperationGetOperand(op, i), b = mlirOperationGetOperand(op, j);
  if (mlirValueEqual(a, b) || !same_types(a, b))
    return false;
  mlirOperationSetOperand(op, i, b);
  mlirOperationSetOperand(op, j, a);
  return true;
}

static bool swap_any(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    for (intptr_t j = 0; j < i; j++)
      if (swap_operands(op, i, j))
        return true;
  return false;
}

/// The result gives way to an operand of its type.
static bool bypass(MlirOperation op, intptr_t operand) {
  MlirValue x = mlirOperationGetOperand(op, operand), y = mlirOperationGetResult(op, 0);
  if (!same_types(x, y))
    return false;
  mlirValueReplaceAllUsesOfWith(y, x);
  return true;
}

/// Whether elements change places: dimensions of more than one.
static bool is_moved(MlirOperation op) {
  MlirAttribute perm = attribute_of(op, "perm");
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  int64_t last = -1;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(perm); i++) {
    int64_t from = mlirDenseI64ArrayGetElement(perm, i);
    if (mlirShapedTypeGetDimSize(type, from) == 1)
      continue;
    if (from < last)
      return true;
    last = from;
  }
  return false;
}

static bool is_square(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t columns = mlirShapedTypeGetDimSize(type, rank - 1);
  return columns > 1 && mlirShapedTypeGetDimSize(type, rank - 2) == columns;
}

/// A square product's operands change places; otherwise an operand that is square is turned.
static bool spoil_product(MlirOperation op) {
  static const char *const flags[] = {"transpose_a", "transpose_b"};
  MlirAttribute turned[] = {attribute_of(op, flags[0]), attribute_of(op, flags[1])};
  if (mlirAttributeIsNull(turned[0]) && mlirAttributeIsNull(turned[1]) && is_square(mlirOperationGetResult(op, 0)) &&
      swap_operands(op, 0, 1))
    return true;
  for (intptr_t i = 0; i < 2; i++)
    if (is_square(mlirOperationGetOperand(op, i))) {
      MlirAttribute other =
          mlirAttributeIsNull(turned[i]) ? mlirUnitAttrGet(mlirOperationGetContext(op)) : mlirAttributeGetNull();
      mlirOperationSetInherentAttributeByName(op, mlirStringRefCreateFromCString(flags[i]), other);
      return true;
    }
  return false;
}

static MlirOperation create(MlirOperation beside, const char *name, intptr_t count, MlirValue *operands,
                            MlirType type) {
  MlirOperationState state =
      mlirOperationStateGet(mlirStringRefCreateFromCString(name), mlirOperationGetLocation(beside));
  mlirOperationStateAddOperands(&state, count, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  if (!mlirOperationIsNull(op))
    mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(beside), beside, op);
  return op;
}

static bool rename_op(MlirOperation op, const char *name) {
  MlirValue operands[2] = {mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1)},
            result = mlirOperationGetResult(op, 0);
  if (mlirValueEqual(operands[0], operands[1]))
    return false;
  MlirOperation other = create(op, name, 2, operands, mlirValueGetType(result));
  mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(other, 0));
  return true;
}

static bool shift_slice(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  MlirAttribute begin = attribute_of(op, "begin"), end = attribute_of(op, "end");
  int64_t dim = mlirIntegerAttrGetValueInt(attribute_of(op, "dim")), first = mlirIntegerAttrGetValueInt(begin),
          last = mlirIntegerAttrGetValueInt(end), by = last < mlirShapedTypeGetDimSize(type, dim) ? 1 : -1;
  if (first + by < 0)
    return false;
  mlirOperationSetInherentAttributeByName(op, mlirStringRefCreateFromCString("begin"),
                                          mlirIntegerAttrGet(mlirAttributeGetType(begin), first + by));
  mlirOperationSetInherentAttributeByName(op, mlirStringRefCreateFromCString("end"),
                                          mlirIntegerAttrGet(mlirAttributeGetType(end), last + by));
  return true;
}

static bool change_constant(MlirOperation op) {
  MlirAttribute value = attribute_of(op, "value");
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAFloat(value))
    return false;
  double number = mlirFloatAttrGetValueDouble(value);
  MlirAttribute other = mlirFloatAttrDoubleGet(mlirOperationGetContext(op), mlirAttributeGetType(value), number + 0.75);
  mlirOperationSetInherentAttributeByName(op, mlirStringRefCreateFromCString("value"), other);
  return true;
}

static bool round_result(MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(result), element = mlirShapedTypeGetElementType(type);
  int64_t shape[TENSOR_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (!mlirTypeIsAF32(element))
    return false;
  for (intptr_t d = 0; d < rank; d++)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  MlirType narrow =
      mlirRankedTensorTypeGet(rank, shape, mlirBF16TypeGet(mlirTypeGetContext(type)), mlirAttributeGetNull());
  MlirOperation down = create(op, "mirage_kernel.cast", 1, &result, narrow);
  MlirValue rounded = mlirOperationGetResult(down, 0);
  MlirOperation up = create(down, "mirage_kernel.cast", 1, &rounded, type);
  mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(up, 0));
  mlirOperationSetOperand(down, 0, result);
  return true;
}

typedef struct Search {
  Spoil spoil;
  bool done;
} Search;

static bool try_one(MlirOperation op, Spoil spoil) {
  switch (spoil) {
  case SPOIL_SUB:
    return (is_named(op, "mirage_kernel.sub") || is_named(op, "mirage_kernel.div")) && swap_operands(op, 0, 1);
  case SPOIL_START:
    return is_named(op, "mirage_kernel.add") && bypass(op, 0);
  case SPOIL_TRANSPOSE:
    return is_named(op, "mirage_kernel.transpose") && is_moved(op) && bypass(op, 0);
  case SPOIL_MATMUL:
    return is_named(op, "mirage_kernel.matmul") && spoil_product(op);
  case SPOIL_MAX:
    return is_named(op, "mirage_kernel.max") && rename_op(op, "mirage_kernel.min");
  case SPOIL_SLICE:
    return is_named(op, "mirage_kernel.slice") && shift_slice(op);
  case SPOIL_CONSTANT:
    return is_named(op, "mirage_kernel.constant") && change_constant(op);
  case SPOIL_CALL:
    return is_named(op, "mirage_kernel.call") && swap_any(op);
  case SPOIL_EFFECT:
    if (!is_named(op, "func.call") || mlirOperationGetNumResults(op))
      return false;
    mlirOperationRemoveFromParent(op); // the walk goes on from elsewhere
    mlirOperationDestroy(op);
    return true;
  case SPOIL_ROUND:
    return (is_named(op, "mirage_kernel.mul") || is_named(op, "mirage_kernel.exp") ||
            is_named(op, "mirage_kernel.matmul")) &&
           round_result(op);
  default:
    return false;
  }
}

static MlirWalkResult visit(MlirOperation op, void *user) {
  Search *search = user;
  if (mlirOperationGetNumResults(op) && mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, 0))))
    return MlirWalkResultAdvance; // nobody would see it
  search->done = try_one(op, search->spoil);
  return search->done ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

bool spoil_module(MlirModule module, Spoil spoil) {
  Search search = {.spoil = spoil};
  mlirOperationWalk(mlirModuleGetOperation(module), visit, &search, MlirWalkPostOrder);
  return search.done;
}
