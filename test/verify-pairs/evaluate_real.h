// evaluate_real.h - arithmetic on reals for evaluate_body.h; included with Num and MATH(name) defined.
//
// Bottom is minus infinity, and bottom - x = bottom for every x, bottom included (lib/eval/README.md). What has no
// value is NaN, a quotient by zero and the logarithm of zero among it, so that no maximum takes an infinity for a
// number.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "evaluate.h"

static inline Num num_constant(double value) { return (Num)value; }
static inline Num num_bottom(void) { return -(Num)INFINITY; }
static inline Num num_quotient(Num a, Num b) { return b == 0 ? (Num)NAN : a / b; }
static inline Num num_fma(Num sum, Num a, Num b) { return sum + a * b; }

// How far what two blocks store in one place is apart; what is no number in both is the same.
static inline double num_gap(Num a, Num b) {
  if (a == b || (a != a && b != b))
    return 0;
  return a != a || b != b ? (double)INFINITY : (double)MATH(fabs)(a - b);
}

// Another order of the numbers: that of a rolling wave, so that the greatest is one of them and nothing else is known.
// Each draw has its own.
static inline Num rank_of_value(Num a, int no_laws) {
  if (!(no_laws & NO_LAW_MAX) || a == num_bottom())
    return a;
  return MATH(sin)(a * (Num)(7.3 + 1.7 * (no_laws >> NO_LAW_BITS)) + (Num)0.3 + (no_laws >> NO_LAW_BITS));
}

static inline Num num_top(Num a, Num b, int no_laws) {
  if (a != a || b != b)
    return a + b;
  return rank_of_value(a, no_laws) < rank_of_value(b, no_laws) ? b : a;
}

static inline Num num_fold(bool top, Num a, Num b, int no_laws) { return top ? num_top(a, b, no_laws) : a + b; }

static void num_binary(Op op, int64_t n, const Num *a, int64_t da, const Num *b, int64_t db, Num *out, int no_laws) {
  for (int64_t i = 0; i < n; i++, a += da, b += db)
    switch (op) {
    case OP_ADD:
      out[i] = *a + *b;
      break;
    case OP_SUB:
      out[i] = *a == num_bottom() ? *a : *a - *b;
      break;
    case OP_MUL:
      out[i] = *a * *b;
      break;
    case OP_DIV:
      out[i] = num_quotient(*a, *b);
      break;
    case OP_MAX:
      out[i] = num_top(*a, *b, no_laws);
      break;
    default: // min: the greatest of the negatives, negated
      out[i] = -num_top(-*a, -*b, no_laws);
      break;
    }
}

// Smooth functions without any law, defined where the true ones are.
static Num strange(Op op, Num a) {
  switch (op) {
  case OP_SQRT:
    return a < 0 ? MATH(sqrt)(a) : (a + (Num)0.37) / (a * a + (Num)1.7) + MATH(atan)(a * (Num)1.3);
  case OP_LOG:
    return a < 0 ? MATH(log)(a) : MATH(sin)(a) + a / (a + (Num)1.1);
  case OP_ERF:
    return MATH(atan)(a) + (Num)0.21 * MATH(cos)(a);
  case OP_TANH:
    return MATH(sin)(a * (Num)0.7) + (Num)0.4 * MATH(cos)(a * (Num)1.9);
  default: // exp, of bottom 0
    return a == num_bottom() ? 0 : (Num)1.5 + MATH(sin)(a) + (Num)0.3 * MATH(cos)(a * (Num)2.1);
  }
}

static Num function(Op op, Num a, int no_laws) {
  if (op == OP_EXP ? no_laws & NO_LAW_EXP : no_laws & NO_LAW_FUNCTIONS)
    return strange(op, a);
  switch (op) {
  case OP_SQRT:
    return MATH(sqrt)(a);
  case OP_LOG:
    return a == 0 ? (Num)NAN : MATH(log)(a);
  case OP_ERF:
    return MATH(erf)(a);
  case OP_TANH:
    return MATH(tanh)(a);
  default:
    return MATH(exp)(a);
  }
}

static Num sigmoid(Num a, int no_laws) { return 1 / (1 + function(OP_EXP, -a, no_laws)); }

static Num unary(Op op, Num a, int no_laws) {
  switch (op) {
  case OP_RSQRT:
    return num_quotient(1, function(OP_SQRT, a, no_laws));
  case OP_SQUARE:
    return a * a;
  case OP_NEG:
    return -a;
  case OP_SIGMOID:
    return sigmoid(a, no_laws);
  case OP_SILU:
    return a * sigmoid(a, no_laws);
  case OP_GELU: // the constant is the double that the µGraph's definition states
    return a / 2 * (1 + function(OP_ERF, a / (Num)1.41421356237309504880, no_laws));
  case OP_GELU_TANH:
    return a / 2 * (1 + function(OP_TANH, (Num)0.79788456080286535588 * (a + (Num)0.044715 * a * a * a), no_laws));
  case OP_RELU:
    return num_top(a, 0, no_laws);
  default:
    return function(op, a, no_laws);
  }
}

static void num_unary(Op op, int64_t n, const Num *a, Num *out, int no_laws) {
  for (int64_t i = 0; i < n; i++)
    out[i] = unary(op, a[i], no_laws);
}
