// codegen_math.c - the arithmetic operators on f32, by fast hardware functions where those are good to f32.
//
// Errors against the exact value, relative unless said: exp 2^-22 (times |x| log2 e for large arguments; of exp(x - y)
// in a row that shares y, times |y| log2 e), division and square roots within 2 ulp, log within 4 ulp, tanh 3e-6, erf
// 2e-7 absolute, sine and cosine 2e-7 absolute up to |x| = 2^22. Each stays far below half an ulp of f16 and bf16. Kernels that store
// bf16 alone take the processor's tanh, 2^-11: a quarter of half an ulp, in one instruction of a dozen.
#include "emit.h"

#include <math.h>

static const double LOG2_E = 1.4426950408889634, LN_2 = 0.6931471805599453;

static LLVMValueRef number(Emit *e, double value) { return gpu_f32(&e->gpu, value); }

// Products may be fused into following sums.
static LLVMValueRef contract(LLVMValueRef value) {
  if (LLVMCanValueUseFastMathFlags(value))
    LLVMSetFastMathFlags(value, LLVMFastMathAllowContract);
  return value;
}
static LLVMValueRef add(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  return contract(LLVMBuildFAdd(e->gpu.builder, a, b, ""));
}
static LLVMValueRef sub(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  return contract(LLVMBuildFSub(e->gpu.builder, a, b, ""));
}
LLVMValueRef mirage__subtract(Emit *e, LLVMValueRef a, LLVMValueRef b) { return sub(e, a, b); }
static LLVMValueRef mul(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  return contract(LLVMBuildFMul(e->gpu.builder, a, b, ""));
}
static LLVMValueRef fused(Emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  return GPU(&e->gpu, FMA, a, b, c);
}
static LLVMValueRef scale(Emit *e, LLVMValueRef a, double factor) { return mul(e, a, number(e, factor)); }
static LLVMValueRef negate(Emit *e, LLVMValueRef a) { return LLVMBuildFNeg(e->gpu.builder, a, ""); }
static LLVMValueRef less(Emit *e, LLVMValueRef a, double b) {
  return LLVMBuildFCmp(e->gpu.builder, LLVMRealOLT, a, number(e, b), "");
}
static LLVMValueRef choose(Emit *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no) {
  return LLVMBuildSelect(e->gpu.builder, condition, yes, no, "");
}
static LLVMValueRef absolute(Emit *e, LLVMValueRef x) { return GPU(&e->gpu, MAX, x, negate(e, x)); }

// c[0] + x (c[1] + x (c[2] + ...))
static LLVMValueRef polynomial(Emit *e, LLVMValueRef x, const double *c, int count) {
  LLVMValueRef sum = number(e, c[count - 1]);
  for (int i = count - 2; i >= 0; i--)
    sum = fused(e, sum, x, number(e, c[i]));
  return sum;
}

static LLVMValueRef exponential(Emit *e, LLVMValueRef x) { return GPU(&e->gpu, EX2, scale(e, x, LOG2_E)); }

// log(m 2^k) = k log 2 + 2 atanh(s), s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)), so |s| < 0.172 and six terms do.
// Zero, infinity, negatives, NaN and denormals take the hardware's answer.
static LLVMValueRef logarithm(Emit *e, LLVMValueRef x) {
  static const double ATANH[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11};
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef bits = LLVMBuildBitCast(b, x, e->gpu.i32, "");
  LLVMValueRef shifted = LLVMBuildSub(b, bits, gpu_i32(&e->gpu, 0x3f3504f3), ""); // bits of sqrt(1/2)
  LLVMValueRef k = LLVMBuildAShr(b, shifted, gpu_i32(&e->gpu, 23), "");
  LLVMValueRef mantissa = LLVMBuildSub(b, bits, LLVMBuildShl(b, k, gpu_i32(&e->gpu, 23), ""), "");
  LLVMValueRef m = LLVMBuildBitCast(b, mantissa, e->gpu.f32, "");
  LLVMValueRef s = GPU(&e->gpu, DIV, add(e, m, number(e, -1)), add(e, m, number(e, 1)));
  LLVMValueRef tail = mul(e, s, polynomial(e, mul(e, s, s), ATANH, 6));
  LLVMValueRef normal = fused(e, LLVMBuildSIToFP(b, k, e->gpu.f32, ""), number(e, LN_2), tail);
  LLVMValueRef special = scale(e, GPU(&e->gpu, LG2, x), LN_2);
  LLVMValueRef in_range =
      LLVMBuildAnd(b, LLVMBuildFCmp(b, LLVMRealOGE, x, number(e, 0x1p-126), ""), less(e, x, INFINITY), "");
  return choose(e, in_range, normal, special);
}

static LLVMValueRef sigmoid(Emit *e, LLVMValueRef x) {
  return GPU(&e->gpu, RCP, add(e, number(e, 1), GPU(&e->gpu, EX2, scale(e, x, -LOG2_E))));
}

static bool stores_bf16_alone(const Emit *e) {
  MirageNodeView custom = mirage_ugraph_node(e->block.graph, e->block.custom);
  for (uint32_t i = 0; i < custom.num_results; i++)
    if (mirage_ugraph_type(e->block.graph, (MirageValue){custom.first_result.index + i})->dtype != MIRAGE_BF16)
      return false;
  return true;
}

// 1 - 2 / (exp(2 x) + 1), of either sign; near zero, where that cancels, the Taylor series. Two special functions, and few registers.
static LLVMValueRef tanh_of_exponential(Emit *e, LLVMValueRef x) {
  static const double SERIES[] = {1.0, -1.0 / 3, 2.0 / 15};
  LLVMValueRef near = mul(e, x, polynomial(e, mul(e, x, x), SERIES, 3));
  LLVMValueRef power = GPU(&e->gpu, EX2, scale(e, x, 2 * LOG2_E));
  LLVMValueRef far = fused(e, GPU(&e->gpu, RCP, add(e, power, number(e, 1))), number(e, -2), number(e, 1));
  return choose(e, less(e, absolute(e, x), 0.1), near, far);
}

// x P(x^2) / Q(x^2) of the least relative error: one special function, which takes as long as eight other instructions. The error is
// 1.1e-6 up to 7, where 1 - tanh is 1.7e-6, so that no result reaches 1; what lies beyond is taken for 7.
static LLVMValueRef tanh_of_polynomials(Emit *e, LLVMValueRef x) {
  static const double UPPER[] = {0.999998967, 0.123220565, 0.00229309013, 3.9958755e-06},
                      LOWER[] = {1, 0.456546165, 0.0211516207, 0.000143984579};
  x = GPU(&e->gpu, MIN, GPU(&e->gpu, MAX, x, number(e, -7)), number(e, 7));
  LLVMValueRef x2 = mul(e, x, x);
  return mul(e, mul(e, x, polynomial(e, x2, UPPER, 4)), GPU(&e->gpu, RCP, polynomial(e, x2, LOWER, 4)));
}

// Where a block keeps tiles in registers, ptxas keeps in memory what polynomials of many elements side by side have no room for.
static LLVMValueRef hyperbolic_tangent(Emit *e, LLVMValueRef x) {
  if (stores_bf16_alone(e))
    return GPU(&e->gpu, TANH_FAST, x);
  return e->block.partition.by_row ? tanh_of_exponential(e, x) : tanh_of_polynomials(e, x);
}

// 1 - erf(|x|) by Abramowitz & Stegun 7.1.26, absolute error 1.5e-7.
static LLVMValueRef complement(Emit *e, LLVMValueRef magnitude, LLVMValueRef x2) {
  static const double TAIL[] = {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
  LLVMValueRef t = GPU(&e->gpu, RCP, fused(e, number(e, 0.3275911), magnitude, number(e, 1)));
  LLVMValueRef decay = GPU(&e->gpu, EX2, scale(e, x2, -LOG2_E));
  return mul(e, mul(e, t, polynomial(e, t, TAIL, 5)), decay);
}

// Near zero, where that cancels, the Maclaurin series.
static LLVMValueRef error_function(Emit *e, LLVMValueRef x) {
  static const double SERIES[] = {1.1283791670955126, -1.1283791670955126 / 3, 1.1283791670955126 / 10,
                                  -1.1283791670955126 / 42};
  LLVMValueRef magnitude = absolute(e, x), x2 = mul(e, x, x);
  LLVMValueRef near = mul(e, x, polynomial(e, x2, SERIES, 4));
  LLVMValueRef far = sub(e, number(e, 1), complement(e, magnitude, x2));
  far = choose(e, less(e, x, 0), negate(e, far), far);
  return choose(e, less(e, magnitude, 0.25), near, far);
}

bool mirage__has_one_more(const Emit *e, MirageOp op) {
  return op == MIRAGE_OP_ERF || (op == MIRAGE_OP_TANH && !stores_bf16_alone(e));
}

LLVMValueRef mirage__one_more(Emit *e, MirageOp op, LLVMValueRef x) {
  if (op == MIRAGE_OP_TANH)
    return scale(e, sigmoid(e, scale(e, x, 2)), 2);
  LLVMValueRef rest = complement(e, absolute(e, x), mul(e, x, x));
  return choose(e, less(e, x, 0), rest, sub(e, number(e, 2), rest));
}

// x = k pi/2 + r, |r| <= pi/4, k by adding what leaves a sum no bits behind the point; its last two bits choose the series and
// the sign. pi/2 is the sum of three numbers, of which k times each meets the difference in one rounding.
static LLVMValueRef circular(Emit *e, LLVMValueRef x, uint32_t quadrant) {
  static const double SINE[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880};
  static const double COSINE[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};
  static const double PARTS[] = {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50}, SHIFT = 0x1.8p23;
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef shifted = fused(e, x, number(e, 0.63661977236758134), number(e, SHIFT)), r = x;
  LLVMValueRef minus_k = LLVMBuildFSub(b, number(e, SHIFT), shifted, "");
  for (int i = 0; i < 3; i++)
    r = fused(e, minus_k, number(e, PARTS[i]), r);
  LLVMValueRef r2 = mul(e, r, r), bits = LLVMBuildBitCast(b, shifted, e->gpu.i32, "");
  bits = LLVMBuildAdd(b, bits, gpu_i32(&e->gpu, (int32_t)quadrant), "");
  LLVMValueRef odd = LLVMBuildTrunc(b, bits, e->gpu.i1, "");
  LLVMValueRef high = LLVMBuildLShr(b, bits, gpu_i32(&e->gpu, 1), "");
  LLVMValueRef turned = LLVMBuildTrunc(b, high, e->gpu.i1, "");
  LLVMValueRef y = choose(e, odd, polynomial(e, r2, COSINE, 6), mul(e, r, polynomial(e, r2, SINE, 5)));
  return choose(e, turned, negate(e, y), y);
}

static LLVMValueRef gelu(Emit *e, LLVMValueRef x) {
  return mul(e, scale(e, x, 0.5), mirage__one_more(e, MIRAGE_OP_ERF, scale(e, x, 0.7071067811865476)));
}

static LLVMValueRef gelu_tanh(Emit *e, LLVMValueRef x) {
  LLVMValueRef cubic = mul(e, x, fused(e, scale(e, x, 0.044715), x, number(e, 1)));
  LLVMValueRef half = scale(e, x, 0.5), inner = scale(e, cubic, 0.7978845608028654);
  if (mirage__has_one_more(e, MIRAGE_OP_TANH))
    return mul(e, half, mirage__one_more(e, MIRAGE_OP_TANH, inner));
  return fused(e, half, hyperbolic_tangent(e, inner), half);
}

// y = bottom, of a row in which all is masked so far, counts as a finite number below all others: exp(bottom - y) = 0.
LLVMValueRef mirage__exp_difference(Emit *e, double factor, LLVMValueRef x, LLVMValueRef y) {
  y = GPU(&e->gpu, MAX, y, number(e, -1e38));
  return GPU(&e->gpu, EX2, fused(e, x, number(e, factor * LOG2_E), scale(e, y, -LOG2_E)));
}

// Bottom less anything is bottom, as in lib/eval.
static LLVMValueRef difference(Emit *e, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef bottom = LLVMBuildFCmp(e->gpu.builder, LLVMRealOEQ, x, number(e, -INFINITY), "");
  return choose(e, bottom, x, sub(e, x, y));
}

// By a constant whose reciprocal is a normal number, a product.
static LLVMValueRef quotient(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  LLVMBool inexact;
  double divisor = LLVMIsAConstantFP(b) ? fabs(LLVMConstRealGetDouble(b, &inexact)) : 0;
  if (divisor >= 0x1p-100 && divisor <= 0x1p100)
    return mul(e, a, number(e, 1 / LLVMConstRealGetDouble(b, &inexact)));
  return GPU(&e->gpu, DIV, a, b);
}

// 1 or 0.
static LLVMValueRef truth(Emit *e, LLVMValueRef holds) {
  return LLVMBuildUIToFP(e->gpu.builder, holds, e->gpu.f32, "");
}
static LLVMValueRef holds(Emit *e, LLVMValueRef predicate) {
  return LLVMBuildFCmp(e->gpu.builder, LLVMRealUNE, predicate, number(e, 0), "");
}
static LLVMValueRef compare(Emit *e, LLVMRealPredicate how, LLVMValueRef a, LLVMValueRef b) {
  return truth(e, LLVMBuildFCmp(e->gpu.builder, how, a, b, ""));
}

LLVMValueRef mirage__unary(Emit *e, MirageOp op, LLVMValueRef x) {
  switch (op) {
  case MIRAGE_OP_EXP:
    return exponential(e, x);
  case MIRAGE_OP_LOG:
    return logarithm(e, x);
  case MIRAGE_OP_SQRT:
    return GPU(&e->gpu, SQRT, x);
  case MIRAGE_OP_RSQRT:
    return GPU(&e->gpu, RSQRT, x);
  case MIRAGE_OP_SQUARE:
    return mul(e, x, x);
  case MIRAGE_OP_NEG:
    return negate(e, x);
  case MIRAGE_OP_SIGMOID:
    return sigmoid(e, x);
  case MIRAGE_OP_SILU:
    return mul(e, x, sigmoid(e, x));
  case MIRAGE_OP_GELU:
    return gelu(e, x);
  case MIRAGE_OP_GELU_TANH:
    return gelu_tanh(e, x);
  case MIRAGE_OP_ERF:
    return error_function(e, x);
  case MIRAGE_OP_TANH:
    return hyperbolic_tangent(e, x);
  case MIRAGE_OP_SIN:
    return circular(e, x, 0);
  case MIRAGE_OP_COS:
    return circular(e, x, 1);
  case MIRAGE_OP_RELU:
    return GPU(&e->gpu, MAX, x, number(e, 0));
  case MIRAGE_OP_NOT:
    return truth(e, LLVMBuildNot(e->gpu.builder, holds(e, x), ""));
  default:
    mirage__emit_fail(e, NULL, MIRAGE_UNSUPPORTED, "%s: is not a one-operand function", mirage_op_info(op)->mnemonic);
    return x;
  }
}

// Of i32, which go around 2^32.
static LLVMValueRef binary_of_integers(Emit *e, MirageOp op, LLVMValueRef a, LLVMValueRef b) {
  static const LLVMIntPredicate HOW[] = {
      [MIRAGE_OP_LESS] = LLVMIntSLT,          [MIRAGE_OP_LESS_EQUAL] = LLVMIntSLE, [MIRAGE_OP_GREATER] = LLVMIntSGT,
      [MIRAGE_OP_GREATER_EQUAL] = LLVMIntSGE, [MIRAGE_OP_EQUAL] = LLVMIntEQ,       [MIRAGE_OP_NOT_EQUAL] = LLVMIntNE,
  };
  if (op == MIRAGE_OP_ADD)
    return LLVMBuildAdd(e->gpu.builder, a, b, "");
  if ((size_t)op < sizeof HOW / sizeof *HOW && HOW[op])
    return truth(e, LLVMBuildICmp(e->gpu.builder, HOW[op], a, b, ""));
  mirage__emit_fail(e, NULL, MIRAGE_UNSUPPORTED, "%s: has no integer form", mirage_op_info(op)->mnemonic);
  return a;
}

LLVMValueRef mirage__binary(Emit *e, MirageOp op, LLVMValueRef a, LLVMValueRef b) {
  if (LLVMTypeOf(a) == e->gpu.i32)
    return binary_of_integers(e, op, a, b);
  switch (op) {
  case MIRAGE_OP_ADD:
    return add(e, a, b);
  case MIRAGE_OP_SUB:
    return difference(e, a, b);
  case MIRAGE_OP_MUL:
    return mul(e, a, b);
  case MIRAGE_OP_DIV:
    return quotient(e, a, b);
  case MIRAGE_OP_MAX:
    return GPU(&e->gpu, MAX, a, b);
  case MIRAGE_OP_MIN:
    return GPU(&e->gpu, MIN, a, b);
  case MIRAGE_OP_LESS:
    return compare(e, LLVMRealOLT, a, b);
  case MIRAGE_OP_LESS_EQUAL:
    return compare(e, LLVMRealOLE, a, b);
  case MIRAGE_OP_GREATER:
    return compare(e, LLVMRealOGT, a, b);
  case MIRAGE_OP_GREATER_EQUAL:
    return compare(e, LLVMRealOGE, a, b);
  case MIRAGE_OP_EQUAL:
    return compare(e, LLVMRealOEQ, a, b);
  case MIRAGE_OP_NOT_EQUAL:
    return compare(e, LLVMRealUNE, a, b);
  case MIRAGE_OP_AND:
    return truth(e, LLVMBuildAnd(e->gpu.builder, holds(e, a), holds(e, b), ""));
  case MIRAGE_OP_OR:
    return truth(e, LLVMBuildOr(e->gpu.builder, holds(e, a), holds(e, b), ""));
  case MIRAGE_OP_MASK:
    return choose(e, holds(e, a), b, number(e, -INFINITY));
  default:
    mirage__emit_fail(e, NULL, MIRAGE_UNSUPPORTED, "%s: is not a two-operand function", mirage_op_info(op)->mnemonic);
    return a;
  }
}

LLVMValueRef mirage__round_to(Emit *e, MirageDType dtype, LLVMValueRef x) {
  if (LLVMTypeOf(x) == e->gpu.i32 && dtype != MIRAGE_I32)
    x = LLVMBuildSIToFP(e->gpu.builder, x, e->gpu.f32, "");
  return mirage__gpu_to_f32(&e->gpu, mirage__gpu_from_f32(&e->gpu, x, dtype), dtype);
}
