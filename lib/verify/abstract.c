// abstract.c - arithmetic on bounds of exponential fractions.
//
// Each function bounds the exact operation on any two (or n) values that its operands bound. Everything is monotone and
// saturates to infinity. abstract.h says what the numbers are, README.md what they are for.
#include "abstract.h"

#include <math.h>

// --------------------------------------------------------------------------------------------------------- polynomials

static const Poly ONE = {0};

double mirage__verify_log2_sum(double a, double b) {
  double high = a > b ? a : b, low = a > b ? b : a;
  return isinf(high) ? high : high + log2(1.0 + exp2(low - high));
}

static Poly poly_mul(Poly a, Poly b) {
  Poly result = {a.degree + b.degree, a.terms + b.terms, a.size + b.size, a.scale + b.scale, {0}};
  for (uint32_t i = 0; i < ABSTRACT_MAX_WEIGHTS; i++)
    result.width[i] = a.width[i] + b.width[i];
  return result;
}

static Poly poly_power(Poly a, double n) {
  Poly result = {a.degree * n, a.terms * n, a.size * n, a.scale * n, {0}};
  for (uint32_t i = 0; i < ABSTRACT_MAX_WEIGHTS; i++)
    result.width[i] = a.width[i] > 0 ? a.width[i] * (float)n : 0;
  return result;
}

static Poly widest(Poly result, const Poly *a, const Poly *b) {
  for (uint32_t i = 0; i < ABSTRACT_MAX_WEIGHTS; i++)
    result.width[i] = fmaxf(a->width[i], b->width[i]);
  return result;
}

// `exp`: the summands hold different exponential monomials; without any, all terms share the one monomial e^0.
static Poly poly_add(Poly a, Poly b, bool exp) {
  Poly result = {fmax(a.degree, b.degree),
                 exp ? mirage__verify_log2_sum(a.terms, b.terms) : 0,
                 mirage__verify_log2_sum(a.size, b.size),
                 fmax(a.scale, b.scale),
                 {0}};
  return widest(result, &a, &b);
}

static Poly poly_join(Poly a, Poly b) {
  Poly result = {fmax(a.degree, b.degree), fmax(a.terms, b.terms), fmax(a.size, b.size), fmax(a.scale, b.scale), {0}};
  return widest(result, &a, &b);
}

static bool is_one(Poly a) { return a.degree == 0 && a.terms == 0 && a.size == 0 && a.scale == 0; }

Ratio mirage__verify_ratio_add(Ratio a, Ratio b) {
  return (Ratio){poly_add(poly_mul(a.num, b.den), poly_mul(b.num, a.den), false), poly_mul(a.den, b.den)};
}
static Ratio ratio_join(Ratio a, Ratio b) { return (Ratio){poly_join(a.num, b.num), poly_join(a.den, b.den)}; }

// ----------------------------------------------------------------------------------------------------- abstract values

Abstract mirage__abstract_polynomial(double degree, double size, double scale) {
  return (Abstract){.num = {.degree = degree, .size = size, .scale = scale}, .den = ONE, .unit = NAN};
}

Abstract mirage__abstract_input(void) {
  Abstract result = mirage__abstract_polynomial(1, 0, 0);
  result.axes = DIM_AXES;
  return result;
}

// The last weight is the total minus the others.
Abstract mirage__abstract_weight(uint32_t weight, double total) {
  Abstract result = mirage__abstract_polynomial(1, log2(2 * total), 0);
  result.axes = DIM_AXES;
  result.num.width[weight] = 1;
  result.weight = (uint8_t)(weight + 1);
  return result;
}

Abstract mirage__abstract_constant(double value) {
  if (value == 0.0 || !isfinite(value)) // zero, or bottom
    return mirage__abstract_polynomial(0, -1000, 0);
  int exponent;
  double mantissa = ldexp(frexp(fabs(value), &exponent), 53);
  exponent -= 53;
  for (; fmod(mantissa, 2.0) == 0.0; exponent++)
    mantissa /= 2.0;
  Abstract result = mirage__abstract_polynomial(0, log2(fabs(value)), exponent < 0 ? -exponent : 0);
  result.unit = mantissa == 1.0 ? exponent : NAN;
  return result;
}

Abstract mirage__abstract_known(double largest) {
  Abstract result = mirage__abstract_polynomial(0, log2(largest), 0);
  result.axes = ALL_AXES;
  result.known = true;
  return result;
}

Abstract mirage__abstract_bit(void) {
  Abstract result = mirage__abstract_known(1);
  result.known = false;
  result.bits = result.support = 1;
  return result;
}

void mirage__abstract_of_support(Abstract *value, const Abstract *a, double n) {
  value->support = a->support > 0 ? n * a->support : 0;
  value->bits = value->support;
}

// Exponents of a product of monomials of both.
static Ratio both_exponents(const Abstract *a, const Abstract *b) {
  return a->exp && b->exp ? mirage__verify_ratio_add(a->exponent, b->exponent) : a->exp ? a->exponent : b->exponent;
}

static Abstract combine(const Abstract *a, const Abstract *b) { // what every operator on two values has in common
  return (Abstract){.unit = NAN,
                    .reads = a->reads | b->reads,
                    .exp = a->exp || b->exp,
                    .mixed = a->mixed || b->mixed,
                    .axes = a->axes | b->axes,
                    .den_axes = a->den_axes | b->den_axes,
                    .bits = fmax(a->bits, b->bits),
                    .support = a->support + b->support,
                    .lacking = a->lacking || b->lacking,
                    .exponent = both_exponents(a, b)};
}

Abstract mirage__abstract_mul(Abstract a, Abstract b) {
  Abstract result = combine(&a, &b);
  result.num = poly_mul(a.num, b.num);
  result.den = poly_mul(a.den, b.den);
  result.bits =
      result.lacking ? result.support : a.bits + b.bits; // bottom has no product: defined or not is a bit more
  result.lacking = false;
  return result;
}

Abstract mirage__abstract_div(Abstract a, Abstract b) {
  Abstract result = combine(&a, &b);
  result.num = poly_mul(a.num, b.den);
  result.den = poly_mul(a.den, b.num);
  result.den_axes |= b.axes;
  result.bits = b.support > 0 ? INFINITY : result.lacking ? result.support : a.bits;
  result.lacking = false;
  if (!isnan(b.unit)) { // by a power of two: no denominator
    result.num = a.num;
    result.num.size -= b.unit;
    result.num.scale += fmax(b.unit, 0);
    result.den = a.den;
    result.den_axes = a.den_axes;
  }
  return result;
}

Abstract mirage__abstract_add(Abstract a, Abstract b) {
  Abstract result = combine(&a, &b);
  bool plain = is_one(a.den) && is_one(b.den);
  result.num =
      plain ? poly_add(a.num, b.num, result.exp) : poly_add(poly_mul(a.num, b.den), poly_mul(b.num, a.den), result.exp);
  result.den = poly_mul(a.den, b.den);
  if (plain && a.exp && b.exp)
    result.exponent = ratio_join(a.exponent, b.exponent);
  return result;
}

Abstract mirage__abstract_join(Abstract a, Abstract b) {
  Abstract result = combine(&a, &b);
  result.num = poly_join(a.num, b.num);
  result.den = poly_join(a.den, b.den);
  result.mixed = result.mixed || a.exp != b.exp;
  result.maximum = a.maximum || b.maximum;
  result.difference = a.difference || b.difference;
  result.known = a.known && b.known;
  result.axes = ALL_AXES;
  result.den_axes = is_one(a.den) && is_one(b.den) ? 0 : ALL_AXES; // which of the two, may change anywhere
  if (a.exp && b.exp)
    result.exponent = ratio_join(a.exponent, b.exponent);
  return result;
}

Abstract mirage__abstract_sum(Abstract a, double n, uint32_t axes) {
  if (a.den_axes & axes) {
    a.num = poly_mul(a.num, poly_power(a.den, n - 1));
    a.den = poly_power(a.den, n);
    if (a.exp) { // products of n monomials: sums of n exponents
      a.exponent.num = poly_mul(a.exponent.num, poly_power(a.exponent.den, n - 1));
      a.exponent.num.size += log2(n);
      a.exponent.den = poly_power(a.exponent.den, n);
    }
  }
  a.num.size += log2(n);
  a.num.terms += a.exp ? log2(n) : 0;
  a.support *= a.support > 0 ? n : 1;
  a.unit = NAN;
  return a;
}

Abstract mirage__abstract_exp(Abstract a) {
  Abstract result = {
      .num = ONE, .den = ONE, .exponent = {a.num, a.den}, .unit = NAN, .axes = a.axes, .reads = a.reads, .exp = true};
  mirage__abstract_of_support(&result, &a, 1);
  return result;
}
