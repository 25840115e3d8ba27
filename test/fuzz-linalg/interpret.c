// interpret.c - values, functions, blocks, calls and control flow.
#include "interpret.h"

#include "generate.h" // OPEN_EXTENT
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESULTS = 64, MOST_DEPTH = 16 };

bool give_up(Interpreter *in, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!in->reason[0]) // the first one says most
    vsnprintf(in->reason, sizeof in->reason, format, arguments);
  va_end(arguments);
  return false;
}

bool is_named(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), mlirStringRefCreateFromCString(name));
}

MlirAttribute attribute_of(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString(name));
}

// ----------------------------------------------------------------------------------------------------------------- values

bool elem_of(MlirType type, Elem *out) {
  if (mlirTypeIsAShaped(type))
    type = mlirShapedTypeGetElementType(type);
  if (mlirTypeIsAIndex(type))
    *out = INDEX;
  else if (mlirTypeIsAInteger(type)) {
    unsigned bits = mlirIntegerTypeGetWidth(type);
    *out = bits == 1 ? I1 : bits == 8 ? I8 : bits == 32 ? I32 : I64;
    return bits == 1 || bits == 8 || bits == 32 || bits == 64;
  } else
    *out = mlirTypeIsAF16(type) ? F16 : mlirTypeIsABF16(type) ? BF16 : mlirTypeIsAF32(type) ? F32 : F64;
  return *out != F64 || mlirTypeIsAF64(type);
}

Tensor *tensor_like(Interpreter *in, Elem elem, int rank, const int64_t *shape) {
  Tensor *tensor = mirage_arena_alloc(in->arena, sizeof *tensor);
  if (!tensor)
    abort(); // a test program
  *tensor = (Tensor){.elem = elem, .rank = rank, .count = 1};
  for (int d = 0; d < rank; d++)
    tensor->count *= tensor->shape[d] = shape[d];
  tensor->data = mirage_arena_alloc_array(in->arena, (size_t)tensor->count + 1, sizeof *tensor->data);
  if (!tensor->data)
    abort();
  for (int64_t i = 0; i < tensor->count; i++) // nobody has written it
    tensor->data[i] = is_float(elem) ? (Scalar){.f = NAN} : (Scalar){.i = 0};
  return tensor;
}

Tensor *tensor_create(Interpreter *in, MlirType type, int64_t open) {
  int64_t shape[TENSOR_RANK];
  Elem elem;
  intptr_t rank = mlirTypeIsAShaped(type) ? mlirShapedTypeGetRank(type) : 0;
  if (!elem_of(type, &elem) || rank > TENSOR_RANK)
    return give_up(in, "a type that is not known"), NULL;
  for (intptr_t d = 0; d < rank; d++)
    shape[d] = mlirShapedTypeIsDynamicDim(type, d) ? open : mlirShapedTypeGetDimSize(type, d);
  return tensor_like(in, elem, (int)rank, shape);
}

Tensor *tensor_copy(Interpreter *in, const Tensor *tensor) {
  Tensor *copy = tensor_like(in, tensor->elem, tensor->rank, tensor->shape);
  memcpy(copy->data, tensor->data, (size_t)tensor->count * sizeof *copy->data);
  return copy;
}

static Binding *binding_of(const Interpreter *in, const void *value) {
  uint64_t hash = (uint64_t)(uintptr_t)value * UINT64_C(0x9E3779B97F4A7C15);
  for (uint64_t i = hash >> 32;; i++) {
    Binding *binding = &in->bindings[i & (in->room - 1)];
    if (!binding->value || binding->value == value)
      return binding;
  }
}

static void grow(Interpreter *in) {
  Interpreter old = *in;
  in->room = old.room ? 2 * old.room : 256;
  in->bindings = mirage_arena_alloc_array(in->arena, in->room, sizeof *in->bindings);
  if (!in->bindings)
    abort();
  memset(in->bindings, 0, in->room * sizeof *in->bindings);
  for (uint32_t i = 0; i < old.room; i++)
    if (old.bindings[i].value)
      *binding_of(in, old.bindings[i].value) = old.bindings[i];
}

/// Values and operations have addresses of their own. A value inside a loop or a function is bound anew each time.
bool bind(Interpreter *in, MlirValue value, Tensor *tensor) {
  if (!tensor)
    return false;
  if (2 * in->num_bindings >= in->room)
    grow(in);
  Binding *binding = binding_of(in, value.ptr);
  in->num_bindings += binding->value == NULL;
  *binding = (Binding){value.ptr, tensor};
  return true;
}

Tensor *value_at(Interpreter *in, MlirValue value) {
  Tensor *tensor = in->room ? binding_of(in, value.ptr)->tensor : NULL;
  if (!tensor)
    give_up(in, "a value that nobody has made");
  return tensor;
}

Tensor *operand_at(Interpreter *in, MlirOperation op, intptr_t index) {
  return value_at(in, mlirOperationGetOperand(op, index));
}

// -------------------------------------------------------------------------------------------------------------- constants

static double from_bits(Elem elem, const void *data, intptr_t index) {
  if (elem == F64)
    return ((const double *)data)[index];
  if (elem == F32)
    return (double)((const float *)data)[index];
  unsigned bits = ((const uint16_t *)data)[index];
  int exponent_bits = elem == F16 ? 5 : 8, fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  int fraction = (int)bits & ((1 << fraction_bits) - 1);
  double value = exponent == (1 << exponent_bits) - 1 ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexp(fraction, 1 - bias - fraction_bits)
                                 : ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  return bits >> 15 ? -value : value;
}

static Scalar number_of(MlirAttribute attribute) {
  if (mlirAttributeIsAFloat(attribute))
    return (Scalar){.f = mlirFloatAttrGetValueDouble(attribute)};
  if (mlirAttributeIsABool(attribute))
    return (Scalar){.i = mlirBoolAttrGetValue(attribute) ? -1 : 0};
  return (Scalar){.i = mlirIntegerAttrGetValueInt(attribute)};
}

static Scalar element_of(MlirAttribute attribute, Elem elem, intptr_t index) {
  const void *data = mlirDenseElementsAttrGetRawData(attribute);
  switch (elem) {
  case I1:
    return (Scalar){.i = mlirDenseElementsAttrGetBoolValue(attribute, index) ? -1 : 0};
  case I8:
    return (Scalar){.i = ((const int8_t *)data)[index]};
  case I32:
    return (Scalar){.i = ((const int32_t *)data)[index]};
  case I64:
  case INDEX:
    return (Scalar){.i = ((const int64_t *)data)[index]};
  default:
    return (Scalar){.f = from_bits(elem, data, index)};
  }
}

Tensor *constant_of(Interpreter *in, MlirAttribute attribute, MlirType type) {
  Tensor *tensor = tensor_create(in, type, 0);
  bool dense = mlirAttributeIsADenseElements(attribute), splat = dense && mlirDenseElementsAttrIsSplat(attribute);
  for (int64_t i = 0; tensor && i < tensor->count; i++)
    tensor->data[i] = splat   ? number_of(mlirDenseElementsAttrGetSplatValue(attribute))
                      : dense ? element_of(attribute, tensor->elem, i)
                              : number_of(attribute);
  return tensor;
}

// -------------------------------------------------------------------------------------------------------------- functions

static MlirOperation function_named(MlirOperation from, MlirStringRef name) {
  MlirOperation module = mlirOperationGetParentOperation(from);
  while (!mlirOperationIsNull(module) && !is_named(module, "builtin.module"))
    module = mlirOperationGetParentOperation(module);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = attribute_of(op, "sym_name");
    if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
      return op;
  }
  return (MlirOperation){NULL};
}

static void remember(Interpreter *in, const Tensor *tensor) {
  Trace *trace = &in->trace;
  if (trace->count == trace->room) {
    uint32_t room = trace->room ? 2 * trace->room : 16;
    Tensor **values = mirage_arena_alloc_array(in->arena, room, sizeof *values);
    if (!values)
      abort();
    if (trace->count)
      memcpy(values, trace->values, trace->count * sizeof *values);
    trace->values = values;
    trace->room = room;
  }
  trace->values[trace->count++] = tensor_copy(in, tensor);
}

/// A function from elsewhere: what it is given is remembered; what it gives depends on that and on the calls before.
static bool call_outside(Interpreter *in, MlirOperation call) {
  const Tensor *first = NULL;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(call); i++) {
    first = operand_at(in, call, i);
    if (!first)
      return false;
    remember(in, first);
  }
  for (intptr_t r = 0; r < mlirOperationGetNumResults(call); r++) {
    MlirValue result = mlirOperationGetResult(call, r);
    Tensor *made = tensor_create(in, mlirValueGetType(result), OPEN_EXTENT);
    for (int64_t i = 0; made && i < made->count; i++) {
      made->data[i] = !is_float(made->elem)
                          ? (Scalar){.i = first && first->count ? first->data[i % first->count].i & 1 : 1}
                      : first && first->count && is_float(first->elem)
                          ? (Scalar){.f = 0.5 * first->data[i % first->count].f + 0.125 * in->trace.count}
                          : (Scalar){.f = 0.25 * (double)(i % 7)};
      if (is_float(made->elem)) // whoever gives it gives it in its type
        made->data[i].f = round_to(in->arithmetic.rounds ? made->elem : F64, made->data[i].f);
    }
    if (!bind(in, result, made))
      return false;
  }
  return true;
}

static bool run_call(Interpreter *in, MlirOperation op) {
  MlirOperation callee = function_named(op, mlirFlatSymbolRefAttrGetValue(attribute_of(op, "callee")));
  Tensor *arguments[MOST_RESULTS], *results[MOST_RESULTS];
  if (mlirOperationIsNull(callee) || !is_named(callee, "func.func"))
    return give_up(in, "a call of nobody");
  MlirRegion region = mlirOperationGetRegion(callee, 0);
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(region)))
    return call_outside(in, op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!(arguments[i] = operand_at(in, op, i)))
      return false;
  if (!interpret_region(in, region, arguments, results))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    bind(in, mlirOperationGetResult(op, i), results[i]);
  return true;
}

// ----------------------------------------------------------------------------------------------------------- control flow

static bool bind_results(Interpreter *in, MlirOperation op, Tensor **results) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (!bind(in, mlirOperationGetResult(op, i), results[i]))
      return false;
  return true;
}

static bool run_if(Interpreter *in, MlirOperation op) {
  Tensor *condition = operand_at(in, op, 0), *results[MOST_RESULTS];
  if (!condition)
    return false;
  return interpret_region(in, mlirOperationGetRegion(op, condition->data[0].i ? 0 : 1), NULL, results) &&
         bind_results(in, op, results);
}

static bool run_for(Interpreter *in, MlirOperation op) {
  Tensor *bounds[3], *carried[MOST_RESULTS];
  intptr_t count = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < 3; i++)
    if (!(bounds[i] = operand_at(in, op, i)))
      return false;
  for (intptr_t i = 0; i < count; i++)
    if (!(carried[1 + i] = operand_at(in, op, 3 + i)))
      return false;
  for (int64_t i = bounds[0]->data[0].i; i < bounds[1]->data[0].i; i += bounds[2]->data[0].i) {
    Tensor *results[MOST_RESULTS];
    carried[0] = tensor_like(in, INDEX, 0, NULL);
    carried[0]->data[0].i = i;
    if (!interpret_region(in, mlirOperationGetRegion(op, 0), carried, results))
      return false;
    memcpy(carried + 1, results, (size_t)count * sizeof *results);
  }
  return bind_results(in, op, carried + 1);
}

/// The block that a branch goes on with, its arguments bound; null with a reason.
static MlirBlock branch(Interpreter *in, MlirOperation op) {
  intptr_t which = 0, first = 0;
  if (is_named(op, "cf.cond_br")) {
    Tensor *condition = operand_at(in, op, 0);
    if (!condition)
      return (MlirBlock){NULL};
    which = condition->data[0].i ? 0 : 1;
    first = 1 + (which ? mlirBlockGetNumArguments(mlirOperationGetSuccessor(op, 0)) : 0);
  }
  MlirBlock block = mlirOperationGetSuccessor(op, which);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
    if (!bind(in, mlirBlockGetArgument(block, i), operand_at(in, op, first + i)))
      return (MlirBlock){NULL};
  return block;
}

static bool run_index(Interpreter *in, MlirOperation op) {
  Tensor *index = tensor_like(in, INDEX, 0, NULL);
  index->data[0].i = in->point[mlirIntegerAttrGetValueInt(attribute_of(op, "dim"))];
  return bind(in, mlirOperationGetResult(op, 0), index);
}

static bool run_operation(Interpreter *in, MlirOperation op) {
  bool known;
  if (in->work > in->most_work)
    return give_up(in, "too much work");
  if (is_named(op, "func.call"))
    return run_call(in, op);
  if (is_named(op, "scf.if"))
    return run_if(in, op);
  if (is_named(op, "scf.for"))
    return run_for(in, op);
  if (is_named(op, "linalg.index"))
    return run_index(in, op);
  if (is_named(op, "mirage_kernel.call"))
    return interpret_kernel_call(in, op);
  bool ok = interpret_tensor(in, op, &known);
  if (known)
    return ok;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return give_up(in, "%.*s is not known", (int)name.length, name.data);
}

static bool ends(MlirOperation op) {
  return is_named(op, "func.return") || is_named(op, "scf.yield") || is_named(op, "linalg.yield");
}

bool interpret_region(Interpreter *in, MlirRegion region, Tensor *const *arguments, Tensor **results) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
    bind(in, mlirBlockGetArgument(block, i), arguments[i]);
  MlirOperation op = mlirBlockGetFirstOperation(block);
  while (!ends(op)) {
    if (is_named(op, "cf.br") || is_named(op, "cf.cond_br")) {
      block = branch(in, op);
      if (mlirBlockIsNull(block))
        return false;
      op = mlirBlockGetFirstOperation(block);
      continue;
    }
    if (!run_operation(in, op))
      return false;
    op = mlirOperationGetNextInBlock(op);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (i == MOST_RESULTS || !(results[i] = operand_at(in, op, i)))
      return false;
  return true;
}

bool interpret_function(Interpreter *in, MlirOperation function, Tensor *const *arguments, Tensor **results) {
  return interpret_region(in, mlirOperationGetRegion(function, 0), arguments, results);
}
