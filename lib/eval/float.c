// float.c - element types as numbers: rounding to f16, bf16 and f32, their bit patterns, and comparison of results.
#include "domain_internal.h"

#include <math.h>
#include <string.h>

// Precision and range of a binary format.
typedef struct Format {
  int fraction_bits;
  int min_exponent; // of the smallest normal number
  double overflow;  // the first power of two that is not finite
} Format;

static const Format F16 = {10, -14, 0x1p16}, BF16 = {7, -126, 0x1p128};

// Adding and subtracting 1.5 * 2^52 units in the last place lets the double adder round to nearest even for us; the
// unit is that of v's binade, or of the subnormals below it.
static double round_format(Format format, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent == 1024 || v == 0.0)
    return v; // inf, NaN, zero
  if (exponent < format.min_exponent)
    exponent = format.min_exponent;
  if (exponent > 200)
    return copysign(INFINITY, v);
  uint64_t magic_bits = (uint64_t)(exponent - format.fraction_bits + 52 + 1023) << 52 | UINT64_C(1) << 51;
  double magic;
  memcpy(&magic, &magic_bits, sizeof magic);
  double rounded = (fabs(v) + magic) - magic; // not simplified away: C keeps the order of rounding
  return copysign(rounded >= format.overflow ? INFINITY : rounded, v);
}

double mirage_round_to(MirageDType dtype, double value) {
  switch (dtype) {
  case MIRAGE_F16:
    return round_format(F16, value);
  case MIRAGE_BF16:
    return round_format(BF16, value);
  default:
    if (fabs(value) >= 0x1.ffffffp127 && value - value == 0) // float conversion of what overflows is undefined in C
      return copysign(INFINITY, value);
    return (double)(float)value;
  }
}

void mirage__eval_round_array(MirageDType dtype, size_t n, double *values) {
  for (size_t i = 0; i < n; i++)
    values[i] = mirage_round_to(dtype, values[i]);
}

static uint16_t encode(Format format, double value) {
  double v = round_format(format, value);
  int exponent_bits = 15 - format.fraction_bits;
  uint16_t sign = signbit(v) ? 0x8000 : 0, infinity = (uint16_t)(((1 << exponent_bits) - 1) << format.fraction_bits);
  if (isnan(v))
    return sign | infinity | (uint16_t)(1 << (format.fraction_bits - 1));
  if (isinf(v))
    return sign | infinity;
  if (v == 0.0)
    return sign;
  int exponent;
  double fraction = frexp(fabs(v), &exponent); // in [0.5, 1)
  exponent -= 1;
  if (exponent < format.min_exponent)
    return sign | (uint16_t)ldexp(fabs(v), format.fraction_bits - format.min_exponent);
  uint16_t mantissa = (uint16_t)(ldexp(fraction, format.fraction_bits + 1) - ldexp(1.0, format.fraction_bits));
  return sign | (uint16_t)((exponent - format.min_exponent + 1) << format.fraction_bits) | mantissa;
}

static double decode(Format format, uint16_t bits) {
  int exponent_bits = 15 - format.fraction_bits;
  int exponent = bits >> format.fraction_bits & ((1 << exponent_bits) - 1);
  double mantissa = bits & ((1 << format.fraction_bits) - 1), value;
  if (exponent == (1 << exponent_bits) - 1)
    value = mantissa != 0 ? NAN : INFINITY;
  else if (exponent == 0)
    value = ldexp(mantissa, format.min_exponent - format.fraction_bits);
  else
    value =
        ldexp(mantissa + ldexp(1.0, format.fraction_bits), exponent - 1 + format.min_exponent - format.fraction_bits);
  return bits & 0x8000 ? -value : value;
}

uint16_t mirage_f16_from_double(double value) { return encode(F16, value); }
double mirage_f16_to_double(uint16_t bits) { return decode(F16, bits); }
uint16_t mirage_bf16_from_double(double value) { return encode(BF16, value); }
double mirage_bf16_to_double(uint16_t bits) { return decode(BF16, bits); }

void mirage_compare(const double *a, const double *reference, size_t n, double *out_relative, double *out_max_abs) {
  double difference = 0.0, norm = 0.0, largest = 0.0;
  bool broken = false;
  for (size_t i = 0; i < n; i++) {
    double d = fabs(a[i] - reference[i]);
    broken = broken || !isfinite(a[i]) || !isfinite(d);
    difference += d * d;
    norm += reference[i] * reference[i];
    largest = d > largest ? d : largest;
  }
  if (broken) {
    *out_relative = *out_max_abs = INFINITY;
    return;
  }
  *out_relative = difference == 0.0 ? 0.0 : norm == 0.0 ? INFINITY : sqrt(difference / norm);
  *out_max_abs = largest;
}
