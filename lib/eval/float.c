// float.c - element types as numbers: rounding, bit patterns, tensors as bytes, and comparison of results.
#include "domain_internal.h"

#include <math.h>
#include <string.h>

// Precision and range of a binary format.
typedef struct Format {
  int fraction_bits;
  int64_t min_exponent; // of the smallest normal number
  double overflow;      // the first power of two that is not finite
} Format;

static const Format F16 = {10, -14, 0x1p16}, BF16 = {7, -126, 0x1p128};
static const Format F8E4M3 = {3, -6, 0x1p9}, F8E5M2 = {2, -14, 0x1p16};

// Adding and subtracting 1.5 * 2^52 units in the last place lets the double adder round to nearest even for us; the
// unit is that of v's binade, or of the subnormals below it.
// No branches, so that arrays are rounded several at a time.
static inline double round_format(Format format, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023;
  int64_t unit = exponent < format.min_exponent ? format.min_exponent : exponent > 200 ? 200 : exponent;
  uint64_t magic_bits = (uint64_t)(unit - format.fraction_bits + 52 + 1023) << 52 | UINT64_C(1) << 51;
  double magic;
  memcpy(&magic, &magic_bits, sizeof magic);
  double rounded = (fabs(v) + magic) - magic; // not simplified away: C keeps the order of rounding
  rounded = copysign(rounded >= format.overflow ? INFINITY : rounded, v);
  return exponent == 1024 ? v : rounded; // inf, NaN
}

static inline double round_single(double v) {
  bool overflows = fabs(v) >= 0x1.ffffffp127; // whose conversion is undefined in C
  double rounded = (double)(float)(overflows ? 0 : v);
  return overflows ? copysign(INFINITY, v) : rounded;
}

static double clamp(double value, double most) { return copysign(fmin(fabs(value), most), value); }

// An integer has no NaN: 0.
static double round_integer(double value, double least, double most) {
  return isnan(value) ? 0 : nearbyint(fmax(least, fmin(value, most)));
}

// Integers go around 2^32, as sums of them do.
static double around(double value) {
  if (isnan(value))
    return 0;
  double whole = rint(value), rest = whole - 0x1p32 * floor((whole + 0x1p31) * 0x1p-32);
  return rest >= -0x1p31 && rest < 0x1p31 ? rest : value > 0 ? 0x1p31 - 1 : -0x1p31; // the last: of what has no units
}

double mirage_round_to(MirageDType dtype, double value) {
  switch (dtype) {
  case MIRAGE_F16:
    return round_format(F16, value);
  case MIRAGE_BF16:
    return round_format(BF16, value);
  case MIRAGE_I8:
    return round_integer(value, -128, 127);
  case MIRAGE_I4:
    return round_integer(value, -8, 7);
  case MIRAGE_F8E4M3FN:
    return isnan(value) ? value : round_format(F8E4M3, clamp(value, 448));
  case MIRAGE_F8E5M2:
    return isnan(value) ? value : round_format(F8E5M2, clamp(value, 57344));
  case MIRAGE_I1:
    return value != 0;
  case MIRAGE_I32:
    return around(value);
  default:
    return round_single(value);
  }
}

void mirage_round_array(MirageDType dtype, size_t n, double *values) {
  switch (dtype) {
  case MIRAGE_F32:
    for (size_t i = 0; i < n; i++)
      values[i] = round_single(values[i]);
    return;
  case MIRAGE_F16:
    for (size_t i = 0; i < n; i++)
      values[i] = round_format(F16, values[i]);
    return;
  case MIRAGE_BF16:
    for (size_t i = 0; i < n; i++)
      values[i] = round_format(BF16, values[i]);
    return;
  default:
    for (size_t i = 0; i < n; i++)
      values[i] = mirage_round_to(dtype, values[i]);
  }
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

// Assembled from its fields: results of measured kernels are 1e8 elements and more.
static double decode(Format format, uint16_t bits) {
  enum { FRACTION = 52, BIAS = 1023, EXPONENTS = 2047 }; // of a double
  int width = format.fraction_bits, exponent = bits >> width & ((1 << (15 - width)) - 1);
  uint64_t sign = (uint64_t)(bits & 0x8000) << 48, fraction = bits & ((UINT64_C(1) << width) - 1), all;
  double value;
  if (exponent == 0) { // subnormal: so many units
    all = (uint64_t)(format.min_exponent - width + BIAS) << FRACTION;
    memcpy(&value, &all, sizeof value);
    value *= (double)fraction;
    return sign ? -value : value;
  }
  bool finite = exponent < (1 << (15 - width)) - 1;
  uint64_t field = finite ? (uint64_t)(exponent - 1 + format.min_exponent + BIAS) : EXPONENTS;
  all = sign | field << FRACTION | fraction << (FRACTION - width);
  memcpy(&value, &all, sizeof value);
  return value;
}

uint16_t mirage_f16_from_double(double value) { return encode(F16, value); }
double mirage_f16_to_double(uint16_t bits) { return decode(F16, bits); }
uint16_t mirage_bf16_from_double(double value) { return encode(BF16, value); }
double mirage_bf16_to_double(uint16_t bits) { return decode(BF16, bits); }

// --------------------------------------------------------------------------------------------------------------- bytes

// An f8E4M3FN has no infinity, and numbers where other formats have one: only all ones are NaN.
static uint8_t e4m3_from_double(double value) {
  double v = mirage_round_to(MIRAGE_F8E4M3FN, value), magnitude = fabs(v);
  uint8_t sign = signbit(v) ? 0x80 : 0;
  if (isnan(v))
    return sign | 0x7f;
  if (magnitude < 0x1p-6)
    return sign | (uint8_t)ldexp(magnitude, 9);
  int exponent;
  double fraction = frexp(magnitude, &exponent); // in [0.5, 1)
  return sign | (uint8_t)((exponent + 6) << 3 | (int)ldexp(fraction - 0.5, 4));
}

static double e4m3_to_double(uint8_t bits) {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  double value = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
  value = (bits & 0x7f) == 0x7f ? NAN : value;
  return bits & 0x80 ? -value : value;
}

static uint32_t encode_as(MirageDType dtype, double value) {
  float single = (float)value;
  uint32_t bits;
  switch (dtype) {
  case MIRAGE_F16:
    return mirage_f16_from_double(value);
  case MIRAGE_BF16:
    return mirage_bf16_from_double(value);
  case MIRAGE_F8E4M3FN:
    return e4m3_from_double(value);
  case MIRAGE_F8E5M2: // the upper byte of an f16
    return mirage_f16_from_double(mirage_round_to(dtype, value)) >> 8;
  case MIRAGE_F32:
    memcpy(&bits, &single, sizeof bits);
    return bits;
  default:
    return (uint32_t)(int32_t)mirage_round_to(dtype, value);
  }
}

static double decode_as(MirageDType dtype, uint32_t bits) {
  float single;
  switch (dtype) {
  case MIRAGE_F16:
    return mirage_f16_to_double((uint16_t)bits);
  case MIRAGE_BF16:
    return mirage_bf16_to_double((uint16_t)bits);
  case MIRAGE_F8E4M3FN:
    return e4m3_to_double((uint8_t)bits);
  case MIRAGE_F8E5M2:
    return mirage_f16_to_double((uint16_t)(bits << 8));
  case MIRAGE_I8:
    return (int8_t)bits;
  case MIRAGE_I4:
    return (int)(bits ^ 8) - 8;
  case MIRAGE_I1:
    return bits != 0;
  case MIRAGE_I32:
    return (int32_t)bits;
  default:
    memcpy(&single, &bits, sizeof single);
    return (double)single;
  }
}

void mirage_tensor_pack(const MirageType *tensor, const double *values, void *bytes) {
  size_t count = (size_t)mirage_type_elements(tensor), size = mirage_dtype_bytes(tensor->dtype);
  bool halves = mirage_dtype_bits(tensor->dtype) == 4;
  uint8_t *to = bytes;
  for (size_t i = 0; i < count; i++) {
    uint32_t bits = encode_as(tensor->dtype, values[i]);
    if (!halves)
      memcpy(to + i * size, &bits, size); // little-endian, as GPUs are
    else
      to[i / 2] = (uint8_t)(i % 2 ? (to[i / 2] & 15) | bits << 4 : bits & 15);
  }
}

static uint32_t bits_at(const uint8_t *from, size_t index, uint32_t width) {
  uint16_t two;
  uint32_t four;
  switch (width) {
  case 4:
    return from[index / 2] >> (index % 2 * 4) & 15;
  case 16:
    memcpy(&two, from + 2 * index, sizeof two);
    return two;
  case 32:
    memcpy(&four, from + 4 * index, sizeof four);
    return four;
  default:
    return from[index];
  }
}

void mirage_tensor_unpack(const MirageType *tensor, const void *bytes, double *values) {
  size_t count = (size_t)mirage_type_elements(tensor);
  uint32_t width = mirage_dtype_bits(tensor->dtype);
  for (size_t i = 0; i < count; i++)
    values[i] = decode_as(tensor->dtype, bits_at(bytes, i, width));
}

// ---------------------------------------------------------------------------------------------------------- comparison

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
