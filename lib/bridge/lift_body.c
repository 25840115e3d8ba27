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
      {"math.tanh", 1, MIRAGE_OP_TANH},    {"math.erf", 1, MIRAGE_OP_ERF},       {"math.sin", 1, MIRAGE_OP_SIN},
      {"math.cos", 1, MIRAGE_OP_COS},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (mlirStringRefEqual(name, str(rows[i].name))) {
      *out_operands = rows[i].operands;
      return rows[i].op;
    }
  return MIRAGE_OP_NONE;
}

bool mirage__lift_is_math(MlirOperation op) {
  MlirStringRef name = mirage__lift_name(op);
  return name.length > 5 && memcmp(name.data, "math.", 5) == 0;
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

MirageValue mirage__lift_as_tensor(LiftBody *body, const LiftElement *element) {
  if (element->test && element->test->kind == LIFT_BIAS)
    return mirage__lift_bias(body, element->test);
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
  if (out->tensor.index)
    return true;
  return mirage__lift_fail(body->lift, mlirTypeIsAFloat(mlirValueGetType(value))
                                           ? "its body reads a tensor that is not known"
                                           : "its body reads integers or truth values that nothing here computes");
}

/// x^n, by squares of squares: x^6 = (x^2)^2 * x^2.
static MirageValue whole_power(Lift *lift, MirageValue x, int exponent) {
  MirageValue result = {0};
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2)
      result = result.index ? mirage__lift_binary(lift, MIRAGE_OP_MUL, result, x) : x;
    if (exponent > 1)
      x = mirage__lift_binary(lift, MIRAGE_OP_MUL, x, x);
  }
  return result;
}

/// x to the power of a number, as far as other operators say it.
static bool power(LiftBody *body, const LiftElement *x, double exponent, LiftElement *out) {
  enum { MOST = 8 };
  Lift *lift = body->lift;
  MirageValue value = mirage__lift_as_tensor(body, x);
  double size = fabs(exponent);
  if (size == 0.5)
    out->tensor = mirage__lift_unary(lift, exponent > 0 ? MIRAGE_OP_SQRT : MIRAGE_OP_RSQRT, value);
  else if (size >= 1 && size <= MOST && size == floor(size))
    out->tensor = whole_power(lift, value, (int)size);
  else
    return mirage__lift_fail(lift, "a power of %g", exponent);
  if (exponent <= -1)
    out->tensor = mirage__lift_binary(
        lift, MIRAGE_OP_DIV, mirage__lift_constant(lift, mirage_ugraph_type(lift->graph, value)->dtype, body->rank, 1),
        out->tensor);
  return true;
}

// What other operators say: the operator's name, its operands, how it is written.
typedef struct Written {
  const char *name;
  uint32_t operands;
  MirageValue (*write)(Lift *lift, const MirageValue *x, MirageValue one);
} Written;

static MirageValue write_abs(Lift *lift, const MirageValue *x, MirageValue one) {
  return mirage__lift_binary(lift, MIRAGE_OP_MAX, x[0], mirage__lift_unary(lift, MIRAGE_OP_NEG, x[0]));
}

static MirageValue write_expm1(Lift *lift, const MirageValue *x, MirageValue one) {
  return mirage__lift_binary(lift, MIRAGE_OP_SUB, mirage__lift_unary(lift, MIRAGE_OP_EXP, x[0]), one);
}

static MirageValue write_log1p(Lift *lift, const MirageValue *x, MirageValue one) {
  return mirage__lift_unary(lift, MIRAGE_OP_LOG, mirage__lift_binary(lift, MIRAGE_OP_ADD, x[0], one));
}

static MirageValue write_erfc(Lift *lift, const MirageValue *x, MirageValue one) {
  return mirage__lift_binary(lift, MIRAGE_OP_SUB, one, mirage__lift_unary(lift, MIRAGE_OP_ERF, x[0]));
}

static MirageValue write_fma(Lift *lift, const MirageValue *x, MirageValue one) {
  return mirage__lift_binary(lift, MIRAGE_OP_ADD, mirage__lift_binary(lift, MIRAGE_OP_MUL, x[0], x[1]), x[2]);
}

static MirageValue write_clamp(Lift *lift, const MirageValue *x, MirageValue one) {
  return mirage__lift_binary(lift, MIRAGE_OP_MIN, mirage__lift_binary(lift, MIRAGE_OP_MAX, x[0], x[1]), x[2]);
}

static const Written *written(MlirOperation op) {
  static const Written rows[] = {
      {"math.absf", 1, write_abs},  {"math.expm1", 1, write_expm1}, {"math.log1p", 1, write_log1p},
      {"math.erfc", 1, write_erfc}, {"math.fma", 3, write_fma},     {"math.clampf", 3, write_clamp},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (mirage__lift_named(op, rows[i].name))
      return &rows[i];
  return NULL;
}

static bool apply_written(LiftBody *body, MlirOperation op, const Written *row, MirageDType dtype, LiftElement *out) {
  MirageValue values[3];
  for (uint32_t i = 0; i < row->operands; i++) {
    LiftElement element;
    if (!mirage__lift_element(body, mlirOperationGetOperand(op, (intptr_t)i), &element))
      return false;
    values[i] = mirage__lift_as_tensor(body, &element);
  }
  out->tensor = row->write(body->lift, values, mirage__lift_constant(body->lift, dtype, body->rank, 1));
  return true;
}

static MlirType element_type(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
}

/// A number that was written as an integer.
static bool is_number_cast(MlirOperation op) {
  return mirage__lift_named(op, "arith.sitofp") || mirage__lift_named(op, "arith.uitofp");
}

/// A constant of integers is read with its sign, and a truth so is -1: what is meant without one is above.
static double without_sign(double number, MlirType type) {
  return number < 0 && mlirTypeIsAInteger(type) ? number + ldexp(1, (int)mlirIntegerTypeGetWidth(type)) : number;
}

static bool apply_number_cast(LiftBody *body, MlirOperation op, MirageDType dtype, LiftElement *out) {
  MlirValue operand = mlirOperationGetOperand(op, 0);
  if (!mirage__lift_element(body, operand, out))
    return false;
  out->dtype = dtype;
  bool without = mirage__lift_named(op, "arith.uitofp");
  if (out->is_number && without)
    out->number = without_sign(out->number, element_type(operand));
  if (out->is_number)
    return true;
  // A truth is -1 with its sign; a stored type has one.
  LiftElement of = *out;
  if (without != mirage__lift_is_truth_type(element_type(operand)))
    return mirage__lift_fail(body->lift, without ? "its body reads integers without a sign"
                                                 : "its body reads truth values with a sign");
  return mirage__lift_number_of(body, &of, dtype, out);
}

static bool apply_power(LiftBody *body, MlirOperation op, LiftElement *out) {
  LiftElement x, exponent;
  if (!mirage__lift_element(body, mlirOperationGetOperand(op, 0), &x) ||
      !mirage__lift_element(body, mlirOperationGetOperand(op, 1), &exponent))
    return false;
  return exponent.is_number ? power(body, &x, exponent.number, out)
                            : mirage__lift_fail(body->lift, "a power that is no constant");
}

/// The operand that an operator gives as it is, since the other is a number that changes nothing; NULL otherwise.
static const LiftElement *unchanged(MirageOp op, const LiftElement elements[2]) {
  for (int i = 0; i < 2; i++) {
    const LiftElement *x = &elements[i], *by = &elements[1 - i];
    bool changes_nothing =
        (op == MIRAGE_OP_MAX && by->number == -INFINITY) || (op == MIRAGE_OP_MIN && by->number == INFINITY) ||
        (op == MIRAGE_OP_MUL && by->number == 1) || (op == MIRAGE_OP_DIV && i == 0 && by->number == 1);
    if (by->is_number && !x->is_number && changes_nothing)
      return x;
  }
  return NULL;
}

/// 0 and -inf in another type.
static bool cast_bias(LiftBody *body, const LiftTest *bias, MirageDType dtype, LiftElement *out) {
  LiftTest *copy = mirage_arena_copy(body->lift->arena, bias, sizeof *copy);
  if (!copy)
    return mirage__lift_fail(body->lift, "out of memory");
  copy->dtype = dtype;
  *out = (LiftElement){.test = copy};
  return true;
}

static bool apply_operator(LiftBody *body, MlirOperation op, MirageOp found, uint32_t operands, MirageDType dtype,
                           LiftElement *out) {
  LiftElement elements[2] = {{0}};
  for (uint32_t i = 0; i < operands; i++)
    if (!mirage__lift_element(body, mlirOperationGetOperand(op, (intptr_t)i), &elements[i]))
      return false;
  if (elements[0].is_number && (operands == 1 || elements[1].is_number) &&
      fold(found, elements[0].number, elements[1].number, &out->number)) {
    out->is_number = true;
    out->dtype = dtype;
    return true;
  }
  if (found == MIRAGE_OP_ADD && mirage__lift_add_bias(body, elements, out))
    return true;
  if (found == MIRAGE_OP_CAST && elements[0].test && elements[0].test->kind == LIFT_BIAS)
    return cast_bias(body, elements[0].test, dtype, out);
  const LiftElement *x = operands == 2 ? unchanged(found, elements) : NULL;
  if (x) {
    *out = *x;
    return true;
  }
  MirageValue a = mirage__lift_as_tensor(body, &elements[0]);
  if (found == MIRAGE_OP_CAST)
    out->tensor = mirage__lift_cast(body->lift, a, dtype);
  else
    out->tensor = operands == 1 ? mirage__lift_unary(body->lift, found, a)
                                : mirage__lift_binary(body->lift, found, a, mirage__lift_as_tensor(body, &elements[1]));
  return true;
}

/// The exclusive or of truth values.
static bool is_negation(MlirOperation op) {
  if (!mirage__lift_named(op, "arith.xori"))
    return false;
  MlirType type = element_type(mlirOperationGetResult(op, 0));
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
}

/// Whether what is negated is a comparison of numbers.
static bool negates_comparison(LiftBody *body, MlirOperation op) {
  LiftElement element;
  return mirage__lift_element(body, mlirOperationGetOperand(op, 0), &element) && element.test &&
         element.test->kind == LIFT_COMPARES;
}

static bool is_power(MlirOperation op) {
  return mirage__lift_named(op, "math.powf") || mirage__lift_named(op, "math.fpowi");
}

bool mirage__lift_is_scalar(MlirOperation op) {
  uint32_t operands;
  return mlirOperationGetNumResults(op) == 1 &&
         (mirage__lift_operator(mirage__lift_name(op), &operands) != MIRAGE_OP_NONE || written(op) || is_power(op) ||
          is_negation(op) || is_number_cast(op) || mirage__lift_is_integer_op(op) ||
          mirage__lift_named(op, "arith.select") || mirage__lift_named(op, "arith.cmpf"));
}

static bool apply(LiftBody *body, MlirOperation op, MlirValue value, LiftElement *out) {
  uint32_t operands = 0;
  MirageDType dtype;
  MirageOp found = mirage__lift_operator(mirage__lift_name(op), &operands);
  const Written *row = written(op);
  if (!mirage__lift_is_scalar(op)) {
    MlirStringRef name = mirage__lift_name(op);
    return mirage__lift_fail(body->lift, "its body has %.*s", (int)(name.length < 64 ? name.length : 64), name.data);
  }
  if (mirage__lift_named(op, "arith.select"))
    return mirage__lift_choose(body, op, out);
  if (mirage__lift_named(op, "arith.cmpf"))
    return mirage__lift_compare(body, op, out);
  if (is_negation(op) && negates_comparison(body, op))
    return mirage__lift_negate_test(body, op, out);
  if (mirage__lift_is_integer_op(op))
    return mirage__lift_integer_op(body, op, out);
  if (!mirage__lift_dtype(element_type(value), &dtype))
    return mirage__lift_fail(body->lift, "its body computes what is not f16, bf16 or f32");
  if (is_power(op))
    return apply_power(body, op, out);
  if (is_number_cast(op))
    return apply_number_cast(body, op, dtype, out);
  return row ? apply_written(body, op, row, dtype, out) : apply_operator(body, op, found, operands, dtype, out);
}

static bool find_element(LiftBody *body, MlirValue value, LiftElement *out) {
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

bool mirage__lift_element(LiftBody *body, MlirValue value, LiftElement *out) {
  enum { MOST_DEPTH = sizeof body->values / sizeof *body->values };
  if (known(body, value, out))
    return true;
  if (body->depth == MOST_DEPTH)
    return mirage__lift_fail(body->lift, "its body has too many operators");
  body->depth++;
  bool found = find_element(body, value, out);
  body->depth--;
  return found;
}

MirageValue mirage__lift_tensor(LiftBody *body, MlirValue value) {
  LiftElement element;
  MirageValue none = {0};
  if (!mirage__lift_element(body, value, &element))
    return none;
  if (element.test && element.test->kind != LIFT_BIAS)
    return mirage__lift_fail(body->lift, "its body gives truth values"), none;
  return mirage__lift_as_tensor(body, &element);
}

bool mirage__lift_whole(Lift *lift, MlirOperation op, const MirageType *shape, LiftElement *out) {
  LiftBody body = {.lift = lift, .rank = shape->rank, .extents = shape->shape};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    const LiftTest *test = mirage__lift_find_test(lift, value);
    LiftElement element = {.value = value.ptr};
    element.is_number = mirage__lift_splat(value, &element.number);
    if (!mirage__lift_dtype(element_type(value), &element.dtype))
      element.dtype = MIRAGE_F32;
    element.test = element.is_number ? NULL : test;
    if (!element.is_number && !element.test)
      element.tensor = mirage__lift_value(lift, value);
    if (!element.is_number && !element.test && !element.tensor.index)
      return false;
    if (!keep(&body, value, &element))
      return false;
  }
  *out = (LiftElement){0};
  return apply(&body, op, mlirOperationGetResult(op, 0), out);
}
