// lift_body.c - the body of a structured operation, an operator of scalars at a time, as operators of tensors.
//
// What the body computes for each element is computed for all of them at once: an argument is the operand lifted to the
// iteration space, a scalar operator the element-wise one. Constants stay numbers until a tensor needs them. Types mean what
// the source says: what is computed in f32 is f32 here, with the casts that are written.
#include "lift.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <string.h>

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

bool mirage__lift_dtype(MlirType type, MirageDType *out) {
  if (mlirTypeIsAF16(type))
    *out = MIRAGE_F16;
  else if (mlirTypeIsABF16(type))
    *out = MIRAGE_BF16;
  else if (mlirTypeIsAF32(type) || mlirTypeIsAF64(type))
    *out = MIRAGE_F32;
  else
    return false;
  return true;
}

// -------------------------------------------------------------------------------------------------------------- operators

MirageOp mirage__lift_operator(MlirStringRef name, uint32_t *out_operands) {
  static const struct {
    const char *name;
    uint32_t operands;
    MirageOp op;
  } rows[] = {
      {"arith.addf", 2, MIRAGE_OP_ADD},    {"arith.subf", 2, MIRAGE_OP_SUB},     {"arith.mulf", 2, MIRAGE_OP_MUL},
      {"arith.divf", 2, MIRAGE_OP_DIV},    {"arith.negf", 1, MIRAGE_OP_NEG},     {"arith.maximumf", 2, MIRAGE_OP_MAX},
      {"arith.maxnumf", 2, MIRAGE_OP_MAX}, {"arith.minimumf", 2, MIRAGE_OP_MIN}, {"arith.minnumf", 2, MIRAGE_OP_MIN},
      {"arith.extf", 1, MIRAGE_OP_CAST},   {"arith.truncf", 1, MIRAGE_OP_CAST},  {"math.exp", 1, MIRAGE_OP_EXP},
      {"math.log", 1, MIRAGE_OP_LOG},      {"math.sqrt", 1, MIRAGE_OP_SQRT},     {"math.rsqrt", 1, MIRAGE_OP_RSQRT},
      {"math.tanh", 1, MIRAGE_OP_TANH},    {"math.erf", 1, MIRAGE_OP_ERF},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (mlirStringRefEqual(name, str(rows[i].name))) {
      *out_operands = rows[i].operands;
      return rows[i].op;
    }
  return MIRAGE_OP_NONE;
}

/// Both are numbers: computed here, in double; what is then rounded is the result.
static bool fold(MirageOp op, double a, double b, double *out) {
  switch (op) {
  case MIRAGE_OP_ADD:
    *out = a + b;
    return true;
  case MIRAGE_OP_SUB:
    *out = a - b;
    return true;
  case MIRAGE_OP_MUL:
    *out = a * b;
    return true;
  case MIRAGE_OP_DIV:
    *out = a / b;
    return b != 0;
  case MIRAGE_OP_NEG:
    *out = -a;
    return true;
  case MIRAGE_OP_CAST:
    *out = a;
    return true;
  default:
    return false;
  }
}

// --------------------------------------------------------------------------------------------------------------- elements

static MirageValue as_tensor(LiftBody *body, const LiftElement *element) {
  return element->is_number ? mirage__lift_constant(body->lift, element->dtype, body->rank, element->number)
                            : element->tensor;
}

static bool known(const LiftBody *body, MlirValue value, LiftElement *out) {
  for (uint32_t i = 0; i < body->count; i++)
    if (body->values[i].value == value.ptr) {
      *out = body->values[i];
      return true;
    }
  return false;
}

static bool keep(LiftBody *body, MlirValue value, LiftElement *element) {
  element->value = value.ptr;
  if (body->count == sizeof body->values / sizeof *body->values)
    return mirage__lift_fail(body->lift, "its body has too many operators");
  body->values[body->count++] = *element;
  return true;
}

static bool argument(LiftBody *body, MlirValue value, LiftElement *out) {
  intptr_t index = mlirBlockArgumentGetArgNumber(value);
  if (!mlirBlockEqual(mlirBlockArgumentGetOwner(value), body->block))
    return mirage__lift_fail(body->lift, "its body uses a value of the function's");
  if (index >= (intptr_t)body->num_inputs)
    return mirage__lift_fail(body->lift, "its body reads what its output held");
  *out = (LiftElement){.tensor = body->inputs[index]};
  return out->tensor.index || mirage__lift_fail(body->lift, "its body reads a tensor that is not known");
}

/// x to the power of a number, as far as other operators say it.
static bool power(LiftBody *body, const LiftElement *x, double exponent, LiftElement *out) {
  MirageValue value = as_tensor(body, x);
  Lift *lift = body->lift;
  if (exponent == 1)
    out->tensor = value;
  else if (exponent == 2)
    out->tensor = mirage__lift_binary(lift, MIRAGE_OP_MUL, value, value);
  else if (exponent == 3)
    out->tensor =
        mirage__lift_binary(lift, MIRAGE_OP_MUL, mirage__lift_binary(lift, MIRAGE_OP_MUL, value, value), value);
  else if (exponent == 0.5)
    out->tensor = mirage__lift_unary(lift, MIRAGE_OP_SQRT, value);
  else if (exponent == -0.5)
    out->tensor = mirage__lift_unary(lift, MIRAGE_OP_RSQRT, value);
  else if (exponent == -1)
    out->tensor = mirage__lift_binary(
        lift, MIRAGE_OP_DIV, mirage__lift_constant(lift, mirage_ugraph_type(lift->graph, value)->dtype, body->rank, 1),
        value);
  else
    return mirage__lift_fail(lift, "a power of %g", exponent);
  return true;
}

/// select(all masked, 0, x) of a softmax that is made safe: x.
static bool pass_safety(LiftBody *body, MlirOperation op, LiftElement *out) {
  MlirValue condition = mlirOperationGetOperand(op, 0), chosen = mlirOperationGetOperand(op, 1);
  double zero;
  bool is_input =
      mlirValueIsABlockArgument(condition) && mlirBlockEqual(mlirBlockArgumentGetOwner(condition), body->block);
  MlirOperation owner = mlirBlockGetParentOperation(body->block);
  if (is_input && mlirValueIsABlockArgument(chosen))
    chosen = mlirOperationGetOperand(owner, mlirBlockArgumentGetArgNumber(chosen));
  MlirValue tensor = is_input ? mlirOperationGetOperand(owner, mlirBlockArgumentGetArgNumber(condition)) : condition;
  if (!is_input || !mlirValueIsAOpResult(tensor) || !mirage__lift_is_safety(mlirOpResultGetOwner(tensor)) ||
      !mirage__lift_splat(chosen, &zero) || zero != 0)
    return mirage__lift_fail(body->lift, "its body has arith.select");
  return mirage__lift_element(body, mlirOperationGetOperand(op, 2), out);
}

/// select(a > b, a, b) and its like, as exporters print relu and clamps: MAX or MIN of a and b; NONE for other choices.
static MirageOp choice_by_order(MlirOperation select) {
  enum { GREATER = 2, GREATER_EQUAL, LESS, LESS_EQUAL, UNORDERED = 7 }; // of arith.cmpf; the unordered ones 7 behind
  MlirValue condition = mlirOperationGetOperand(select, 0);
  double predicate;
  if (!mlirValueIsAOpResult(condition) || !mirage__lift_named(mlirOpResultGetOwner(condition), "arith.cmpf"))
    return MIRAGE_OP_NONE;
  MlirOperation compare = mlirOpResultGetOwner(condition);
  MlirValue a = mlirOperationGetOperand(compare, 0), b = mlirOperationGetOperand(compare, 1);
  bool straight =
      mlirValueEqual(a, mlirOperationGetOperand(select, 1)) && mlirValueEqual(b, mlirOperationGetOperand(select, 2));
  bool turned =
      mlirValueEqual(a, mlirOperationGetOperand(select, 2)) && mlirValueEqual(b, mlirOperationGetOperand(select, 1));
  if ((!straight && !turned) ||
      !mirage__lift_number(mlirOperationGetAttributeByName(compare, str("predicate")), &predicate))
    return MIRAGE_OP_NONE;
  int order = (int)predicate > UNORDERED ? (int)predicate - UNORDERED : (int)predicate;
  if (order < GREATER || order > LESS_EQUAL)
    return MIRAGE_OP_NONE;
  return (order <= GREATER_EQUAL) == straight ? MIRAGE_OP_MAX : MIRAGE_OP_MIN;
}

static bool choose(LiftBody *body, MlirOperation op, LiftElement *out) {
  MirageOp found = choice_by_order(op);
  LiftElement a, b;
  MirageDType dtype;
  if (found == MIRAGE_OP_NONE)
    return pass_safety(body, op, out);
  if (!mirage__lift_dtype(mlirValueGetType(mlirOperationGetResult(op, 0)), &dtype))
    return mirage__lift_fail(body->lift, "its body computes what is not f16, bf16 or f32");
  if (!mirage__lift_element(body, mlirOperationGetOperand(op, 1), &a) ||
      !mirage__lift_element(body, mlirOperationGetOperand(op, 2), &b))
    return false;
  out->tensor = mirage__lift_binary(body->lift, found, as_tensor(body, &a), as_tensor(body, &b));
  return true;
}

static bool apply(LiftBody *body, MlirOperation op, MlirValue value, LiftElement *out) {
  uint32_t operands;
  LiftElement elements[2] = {{0}};
  MirageDType dtype;
  MirageOp found = mirage__lift_operator(mirage__lift_name(op), &operands);
  bool is_power = mirage__lift_named(op, "math.powf") || mirage__lift_named(op, "math.fpowi");
  if (mirage__lift_named(op, "arith.select"))
    return choose(body, op, out);
  if (found == MIRAGE_OP_NONE && !is_power && !mirage__lift_named(op, "math.absf")) {
    MlirStringRef name = mirage__lift_name(op);
    return mirage__lift_fail(body->lift, "its body has %.*s", (int)(name.length < 64 ? name.length : 64), name.data);
  }
  if (!mirage__lift_dtype(mlirValueGetType(value), &dtype))
    return mirage__lift_fail(body->lift, "its body computes what is not f16, bf16 or f32");
  operands = is_power ? 2 : found == MIRAGE_OP_NONE ? 1 : operands;
  for (uint32_t i = 0; i < operands; i++)
    if (!mirage__lift_element(body, mlirOperationGetOperand(op, (intptr_t)i), &elements[i]))
      return false;
  if (is_power)
    return elements[1].is_number ? power(body, &elements[0], elements[1].number, out)
                                 : mirage__lift_fail(body->lift, "a power that is no constant");
  if (elements[0].is_number && (operands == 1 || elements[1].is_number) &&
      fold(found, elements[0].number, elements[1].number, &out->number)) {
    out->is_number = true;
    out->dtype = dtype;
    return true;
  }
  MirageValue a = as_tensor(body, &elements[0]);
  if (found == MIRAGE_OP_NONE) // |a|
    out->tensor = mirage__lift_binary(body->lift, MIRAGE_OP_MAX, a, mirage__lift_unary(body->lift, MIRAGE_OP_NEG, a));
  else if (found == MIRAGE_OP_CAST)
    out->tensor = mirage__lift_cast(body->lift, a, dtype);
  else
    out->tensor = operands == 1 ? mirage__lift_unary(body->lift, found, a)
                                : mirage__lift_binary(body->lift, found, a, as_tensor(body, &elements[1]));
  return true;
}

bool mirage__lift_element(LiftBody *body, MlirValue value, LiftElement *out) {
  if (known(body, value, out))
    return true;
  *out = (LiftElement){0};
  if (mlirValueIsABlockArgument(value))
    return argument(body, value, out) && keep(body, value, out);
  MlirOperation op = mlirOpResultGetOwner(value);
  if (mirage__lift_named(op, "arith.constant")) {
    out->is_number = mirage__lift_number(mlirOperationGetAttributeByName(op, str("value")), &out->number);
    if (!mirage__lift_dtype(mlirValueGetType(value), &out->dtype))
      out->dtype = MIRAGE_F32; // an integer power's exponent
    return (out->is_number || mirage__lift_fail(body->lift, "a constant that is no number")) && keep(body, value, out);
  }
  return apply(body, op, value, out) && keep(body, value, out);
}

MirageValue mirage__lift_tensor(LiftBody *body, MlirValue value) {
  LiftElement element;
  return mirage__lift_element(body, value, &element) ? as_tensor(body, &element) : (MirageValue){0};
}
