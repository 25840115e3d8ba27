// scalar.c - scalar operators of arith and math, and roundings.
#include "interpret.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------------- roundings

/// To nearest, ties to even: `bits` of significand, exponents from `least` up.
static double round_bits(double value, int bits, int least, double most) {
  if (!isfinite(value) || value == 0)
    return value;
  int exponent = ilogb(value);
  int unit = (exponent < least ? least : exponent) - (bits - 1);
  double rounded = ldexp(nearbyint(ldexp(value, -unit)), unit);
  return fabs(rounded) > most ? copysign(INFINITY, value) : rounded;
}

double round_to(Elem elem, double value) {
  switch (elem) {
  case F16:
    return round_bits(value, 11, -14, 65504);
  case BF16:
    return round_bits(value, 8, -126, 0x1.FEp127);
  case F32:
    return (double)(float)value;
  default:
    return value;
  }
}

int64_t wrap_to(Elem elem, int64_t value) {
  int unused = 64 - elem_bits(elem);
  return unused ? (int64_t)((uint64_t)value << unused) >> unused : value;
}

/// f64 is noisy as f32: programs compute it so.
static double unit_of(const Interpreter *in, Elem elem) {
  if (!in->arithmetic.rounds)
    return 0x1p-52;
  return elem == F16 ? 0x1p-11 : elem == BF16 ? 0x1p-8 : 0x1p-24;
}

/// Noise comes behind the rounding, which would often take it away: another order of sums rounds elsewhere.
static double settle(Interpreter *in, Elem elem, double value) {
  value = in->arithmetic.rounds ? round_to(elem, value) : value;
  if (in->arithmetic.noise != 0)
    value *= 1 + in->arithmetic.noise * unit_of(in, elem) * (2 * draw_unit(&in->draw) - 1);
  return value;
}

/// Noise of what may be written as a difference or a sum: e^x - 1, log(1 + x).
static double slack(Interpreter *in, Elem elem, double of) {
  return in->arithmetic.noise != 0 ? of * in->arithmetic.noise * unit_of(in, elem) * (2 * draw_unit(&in->draw) - 1) : 0;
}

// ---------------------------------------------------------------------------------------------------------------- operators

#define EXACT_FLOATS(ROW)                                                                                              \
  ROW(NEGF, "arith.negf", 1, -a)                                                                                       \
  ROW(MAXIMUMF, "arith.maximumf", 2, isnan(a) || isnan(b) ? NAN : fmax(a, b))                                          \
  ROW(MINIMUMF, "arith.minimumf", 2, isnan(a) || isnan(b) ? NAN : fmin(a, b))                                          \
  ROW(MAXNUMF, "arith.maxnumf", 2, fmax(a, b))                                                                         \
  ROW(MINNUMF, "arith.minnumf", 2, fmin(a, b))                                                                         \
  ROW(ABSF, "math.absf", 1, fabs(a))                                                                                   \
  ROW(CEIL, "math.ceil", 1, ceil(a))                                                                                   \
  ROW(FLOOR, "math.floor", 1, floor(a))                                                                                \
  ROW(ROUND, "math.round", 1, round(a))                                                                                \
  ROW(ROUNDEVEN, "math.roundeven", 1, nearbyint(a))                                                                    \
  ROW(TRUNC, "math.trunc", 1, trunc(a))                                                                                \
  ROW(COPYSIGN, "math.copysign", 2, copysign(a, b))                                                                    \
  ROW(EXTF, "arith.extf", 1, a)

#define FLOATS(ROW)                                                                                                    \
  ROW(ADDF, "arith.addf", 2, a + b)                                                                                    \
  ROW(SUBF, "arith.subf", 2, a - b)                                                                                    \
  ROW(MULF, "arith.mulf", 2, a *b)                                                                                     \
  ROW(DIVF, "arith.divf", 2, a / b)                                                                                    \
  ROW(REMF, "arith.remf", 2, fmod(a, b))                                                                               \
  ROW(TRUNCF, "arith.truncf", 1, a)                                                                                    \
  ROW(EXP, "math.exp", 1, exp(a))                                                                                      \
  ROW(EXP2, "math.exp2", 1, exp2(a))                                                                                   \
  ROW(EXPM1, "math.expm1", 1, expm1(a) + slack(in, result, exp(a)))                                                    \
  ROW(LOG, "math.log", 1, log(a))                                                                                      \
  ROW(LOG1P, "math.log1p", 1, log1p(a) + slack(in, result, 1))                                                         \
  ROW(LOG2, "math.log2", 1, log2(a))                                                                                   \
  ROW(SQRT, "math.sqrt", 1, sqrt(a))                                                                                   \
  ROW(RSQRT, "math.rsqrt", 1, 1 / sqrt(a))                                                                             \
  ROW(CBRT, "math.cbrt", 1, cbrt(a))                                                                                   \
  ROW(SIN, "math.sin", 1, sin(a))                                                                                      \
  ROW(COS, "math.cos", 1, cos(a))                                                                                      \
  ROW(ATAN, "math.atan", 1, atan(a))                                                                                   \
  ROW(ATAN2, "math.atan2", 2, atan2(a, b))                                                                             \
  ROW(TANH, "math.tanh", 1, tanh(a))                                                                                   \
  ROW(ERF, "math.erf", 1, erf(a))                                                                                      \
  ROW(POWF, "math.powf", 2, pow(a, b))

#define INTEGERS(ROW)                                                                                                  \
  ROW(ADDI, "arith.addi", 2, (int64_t)((uint64_t)a + (uint64_t)b))                                                     \
  ROW(SUBI, "arith.subi", 2, (int64_t)((uint64_t)a - (uint64_t)b))                                                     \
  ROW(MULI, "arith.muli", 2, (int64_t)((uint64_t)a * (uint64_t)b))                                                     \
  ROW(ANDI, "arith.andi", 2, a &b)                                                                                     \
  ROW(ORI, "arith.ori", 2, a | b)                                                                                      \
  ROW(XORI, "arith.xori", 2, a ^ b)                                                                                    \
  ROW(MAXSI, "arith.maxsi", 2, a > b ? a : b)                                                                          \
  ROW(MINSI, "arith.minsi", 2, a < b ? a : b)                                                                          \
  ROW(MINUI, "arith.minui", 2, (uint64_t)a < (uint64_t)b ? a : b)                                                      \
  ROW(EXTSI, "arith.extsi", 1, a)                                                                                      \
  ROW(TRUNCI, "arith.trunci", 1, a)                                                                                    \
  ROW(INDEX_CAST, "arith.index_cast", 1, a)

#define OTHERS(ROW)                                                                                                    \
  ROW(CMPF, "arith.cmpf", 2, 0)                                                                                        \
  ROW(CMPI, "arith.cmpi", 2, 0)                                                                                        \
  ROW(SELECT, "arith.select", 3, 0)                                                                                    \
  ROW(SITOFP, "arith.sitofp", 1, 0)                                                                                    \
  ROW(UITOFP, "arith.uitofp", 1, 0)                                                                                    \
  ROW(FPTOSI, "arith.fptosi", 1, 0)                                                                                    \
  ROW(EXTUI, "arith.extui", 1, 0)                                                                                      \
  ROW(FPOWI, "math.fpowi", 2, 0)

#define ROW_CODE(code, name, operands, value) CODE_##code,
enum { EXACT_FLOATS(ROW_CODE) FIRST_INEXACT, FLOATS(ROW_CODE) INTEGERS(ROW_CODE) OTHERS(ROW_CODE) };

bool scalar_op(MlirOperation op, ScalarOp *out) {
#define ROW_NAME(code, name, operands, value) {name, CODE_##code, operands},
  static const struct {
    const char *name;
    int code, operands;
  } rows[] = {EXACT_FLOATS(ROW_NAME) FLOATS(ROW_NAME) INTEGERS(ROW_NAME) OTHERS(ROW_NAME)};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length < 6 || (memcmp(name.data, "arith.", 6) && memcmp(name.data, "math.", 5)))
    return false;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strlen(rows[i].name) == name.length && !memcmp(rows[i].name, name.data, name.length)) {
      *out = (ScalarOp){rows[i].code, rows[i].operands, rows[i].code < FIRST_INEXACT};
      return true;
    }
  return false;
}

int predicate_of(MlirOperation op) {
  MlirAttribute attribute = attribute_of(op, "predicate");
  return mlirAttributeIsNull(attribute) ? 0 : (int)mlirIntegerAttrGetValueInt(attribute);
}

/// arith.cmpf's predicates by number: four bits say for which of unordered, less, greater, equal it holds.
static bool compare_floats(int predicate, double a, double b) {
  enum { EQUAL = 1, GREATER = 2, LESS = 4, UNORDERED = 8 };
  static const int holds[16] = {0,
                                EQUAL,
                                GREATER,
                                GREATER | EQUAL,
                                LESS,
                                LESS | EQUAL,
                                LESS | GREATER,
                                LESS | GREATER | EQUAL,
                                UNORDERED | EQUAL,
                                UNORDERED | GREATER,
                                UNORDERED | GREATER | EQUAL,
                                UNORDERED | LESS,
                                UNORDERED | LESS | EQUAL,
                                UNORDERED | LESS | GREATER,
                                UNORDERED,
                                15};
  int relation = isnan(a) || isnan(b) ? UNORDERED : a < b ? LESS : a > b ? GREATER : EQUAL;
  return holds[predicate & 15] & relation;
}

static bool compare_integers(int predicate, int64_t a, int64_t b) {
  uint64_t p = (uint64_t)a, q = (uint64_t)b;
  const bool holds[10] = {a == b, a != b, a<b, a <= b, a> b, a >= b, p<q, p <= q, p> q, p >= q};
  return predicate < 10 && holds[predicate];
}

static uint64_t unsigned_of(Elem elem, int64_t value) {
  return elem_bits(elem) == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << elem_bits(elem)) - 1);
}

static int64_t to_integer(Elem elem, double value) {
  return fabs(value) < 0x1p62 ? wrap_to(elem, (int64_t)value) : 0; // beyond: undefined, and nothing of ours
}

/// What gives a number, or a truth, of a NaN.
static bool swallows(int code) {
  return code == CODE_MAXNUMF || code == CODE_MINNUMF || code == CODE_CMPF || code == CODE_FPTOSI || code == CODE_POWF;
}

Scalar scalar_apply(Interpreter *in, const ScalarOp *op, Elem result, Elem operand, int predicate, const Scalar *x) {
  Scalar y = {.i = 0};
  in->work++;
  in->swallowed |= is_float(operand) && swallows(op->code) && (isnan(x[0].f) || (op->operands > 1 && isnan(x[1].f)));
  switch (op->code) {
#define ROW_EXACT(code, name, operands, value)                                                                         \
  case CODE_##code: {                                                                                                  \
    double a = x[0].f, b = operands > 1 ? x[1].f : 0;                                                                  \
    (void)b;                                                                                                           \
    y.f = value;                                                                                                       \
    break;                                                                                                             \
  }
#define ROW_FLOAT(code, name, operands, value)                                                                         \
  case CODE_##code: {                                                                                                  \
    double a = x[0].f, b = operands > 1 ? x[1].f : 0;                                                                  \
    (void)b;                                                                                                           \
    y.f = settle(in, result, value);                                                                                   \
    break;                                                                                                             \
  }
#define ROW_INTEGER(code, name, operands, value)                                                                       \
  case CODE_##code: {                                                                                                  \
    int64_t a = x[0].i, b = operands > 1 ? x[1].i : 0;                                                                 \
    (void)b;                                                                                                           \
    y.i = wrap_to(result, value);                                                                                      \
    break;                                                                                                             \
  }
    EXACT_FLOATS(ROW_EXACT)
    FLOATS(ROW_FLOAT)
    INTEGERS(ROW_INTEGER)
  case CODE_CMPF:
    y.i = wrap_to(I1, compare_floats(predicate, x[0].f, x[1].f));
    break;
  case CODE_CMPI:
    y.i = wrap_to(I1, compare_integers(predicate, x[0].i, x[1].i));
    break;
  case CODE_SELECT:
    y = x[0].i ? x[1] : x[2];
    break;
  case CODE_SITOFP:
    y.f = settle(in, result, (double)x[0].i);
    break;
  case CODE_UITOFP:
    y.f = settle(in, result, (double)unsigned_of(operand, x[0].i));
    break;
  case CODE_FPTOSI:
    in->poison |= !(fabs(x[0].f) < ldexp(1, elem_bits(result) - 1));
    y.i = to_integer(result, x[0].f);
    break;
  case CODE_EXTUI:
    y.i = wrap_to(result, (int64_t)unsigned_of(operand, x[0].i));
    break;
  case CODE_FPOWI:
    y.f = settle(in, result, pow(x[0].f, (double)x[1].i));
    break;
  }
  in->swallowed |=
      is_float(result) && is_float(operand) && isinf(y.f) && isfinite(x[0].f) && (op->operands < 2 || isfinite(x[1].f));
  return y;
}
