// evaluate_field.c - evaluation in the integers modulo the Mersenne prime 2^61 - 1, for programs of + - * / only.
//
// An identity of rational functions holds here, too. What is none differs at a random point, except with probability
// degree / 2^61. An element that divides by zero is FIELD_UNDEFINED, and so is all that is computed from it.
#include <math.h>
#include <stddef.h>

#include "evaluate.h"

typedef uint64_t Num;
#define EVALUATE evaluate_field

static uint64_t add(uint64_t a, uint64_t b) {
  uint64_t sum = a + b;
  return sum >= FIELD_PRIME ? sum - FIELD_PRIME : sum;
}

static uint64_t mul(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return add((uint64_t)product & FIELD_PRIME, (uint64_t)(product >> 61));
}

static uint64_t power(uint64_t a, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, a = mul(a, a))
    if (exponent & 1)
      result = mul(result, a);
  return result;
}

uint64_t field_constant(double value) {
  int exponent;
  int64_t mantissa = (int64_t)ldexp(frexp(value, &exponent), 53);
  uint64_t residue = mantissa < 0 ? FIELD_PRIME - (uint64_t)-mantissa : (uint64_t)mantissa;
  exponent -= 53; // 2^61 = 1
  return mul(residue, UINT64_C(1) << ((exponent % 61 + 61) % 61));
}

static uint64_t checked(uint64_t a, uint64_t b, uint64_t result) {
  return a == FIELD_UNDEFINED || b == FIELD_UNDEFINED ? FIELD_UNDEFINED : result;
}

static inline Num num_constant(double value) { return field_constant(value); }
static inline Num num_bottom(void) { return FIELD_UNDEFINED; }
static inline double num_gap(Num a, Num b) { return a == b ? 0 : (double)INFINITY; }
static inline Num num_fma(Num sum, Num a, Num b) { return checked(a, b, checked(sum, sum, add(sum, mul(a, b)))); }
static inline Num num_quotient(Num a, Num b) {
  return b == 0 ? FIELD_UNDEFINED : checked(a, b, mul(a, power(b, FIELD_PRIME - 2)));
}
static inline Num num_fold(bool top, Num a, Num b, int no_laws) {
  (void)no_laws;
  return top ? FIELD_UNDEFINED : checked(a, b, add(a, b));
}

static void num_binary(Op op, int64_t n, const Num *a, int64_t da, const Num *b, int64_t db, Num *out, int no_laws) {
  (void)no_laws;
  uint64_t inverse = op == OP_DIV && db == 0 ? num_quotient(1, *b) : 0; // one for all
  for (int64_t i = 0; i < n; i++, a += da, b += db)
    switch (op) {
    case OP_ADD:
      out[i] = checked(*a, *b, add(*a, *b));
      break;
    case OP_SUB:
      out[i] = checked(*a, *b, add(*a, FIELD_PRIME - *b));
      break;
    case OP_MUL:
      out[i] = checked(*a, *b, mul(*a, *b));
      break;
    case OP_DIV:
      out[i] = db == 0 ? checked(*a, inverse, mul(*a, inverse)) : num_quotient(*a, *b);
      break;
    default:
      out[i] = FIELD_UNDEFINED;
      break;
    }
}

static void num_unary(Op op, int64_t n, const Num *a, Num *out, int no_laws) {
  (void)no_laws;
  for (int64_t i = 0; i < n; i++)
    out[i] = a[i] == FIELD_UNDEFINED ? FIELD_UNDEFINED
             : op == OP_SQUARE       ? mul(a[i], a[i])
             : op == OP_NEG          ? add(0, FIELD_PRIME - a[i])
                                     : FIELD_UNDEFINED;
}

#include "evaluate_body.h"
