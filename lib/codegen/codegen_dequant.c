// codegen_dequant.c - pairs of 16-bit numbers out of registers that hold stored ones as they lie in memory.
//
// The matrix instruction wants neighbours along the contraction side by side: column c of two rows. What two rows have of
// neighbouring columns is brought into one register first, from which several pairs come: LLVM sees that they share it.
// Then an integer becomes a number without a conversion instruction, of which there are few: its bits are put below those
// of a power of two that leaves them the last places, and what this adds is taken away.
//
//   i8 -> f16    0x6400 | (x ^ 0x80)         = 1024 + 128 + x        less 1152
//   i8 -> bf16   0x4300 | (x & 0x7f)         = 128 + x mod 128       less 128, or 256 where x is negative
//   i4 -> f16    0x6400 | (x ^ 8)            = 1024 + 8 + x          less 1032
//                0x6400 | (x ^ 8) << 4       = 1024 + 16 (8 + x)     by 1/16, less 72: columns that lie four bits up
//   i4 -> bf16   0x4300 | (x ^ 8)            = 128 + 8 + x           less 136
//   f8E5M2 -> f16    the upper byte
//   f8E4M3FN -> f16  cvt, where the GPU has it; else it is, shifted to where an f16 has its exponent, that f16 divided by
//                    2^8, but for its NaN, to which the bits of an f16's are added
//   f8 -> bf16       by way of f16 and f32
//
// Of rows along the contraction, neighbours of one register make a pair, and which of them is free. There the power and what it
// adds need not be taken away weight by weight: the sums are corrected once, by what the activations add up to (RowFormat).
//
//   i8 -> f16    x ^ 0x80                    = (128 + x) / 2^24     a subnormal number, which the matrix instruction takes
//   i4 -> f16    x ^ 8, (x ^ 8) << 4         = (8 + x) / 2^24, / 2^20
//   i4 -> bf16   0x4300 | (x ^ 8)            = 136 + x
//
// Every step is exact.
#include "emit.h"

#include <string.h>

int32_t mirage__raw_words(MirageDType stored, int32_t columns) {
  int32_t bits = columns * (int32_t)mirage_dtype_bits(stored);
  return bits < 32 ? 1 : bits / 32;
}

static LLVMValueRef and_bits(Emit *e, LLVMValueRef x, uint32_t bits) {
  return LLVMBuildAnd(e->gpu.builder, x, gpu_i32(&e->gpu, bits), "");
}

static LLVMValueRef xor_bits(Emit *e, LLVMValueRef x, uint32_t bits) {
  return LLVMBuildXor(e->gpu.builder, x, gpu_i32(&e->gpu, bits), "");
}

static LLVMValueRef permute(Emit *e, LLVMValueRef low, LLVMValueRef high, uint32_t selector) {
  return GPU(&e->gpu, BYTE_PERMUTE, low, high, gpu_i32(&e->gpu, selector));
}

// a - b as pairs of `dtype`.
static LLVMValueRef subtract(Emit *e, MirageDType dtype, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef pair = LLVMVectorType(mirage__gpu_dtype(&e->gpu, dtype), 2);
  LLVMBuilderRef builder = e->gpu.builder;
  LLVMValueRef difference =
      LLVMBuildFSub(builder, LLVMBuildBitCast(builder, a, pair, ""), LLVMBuildBitCast(builder, b, pair, ""), "");
  return LLVMBuildBitCast(builder, difference, e->gpu.i32, "");
}

// Bytes c and c + 1 of both registers, for the even one of column `byte` and its neighbour: low c, high c, low c + 1, ..
static LLVMValueRef interleave(Emit *e, LLVMValueRef low, LLVMValueRef high, int32_t byte) {
  return permute(e, low, high, byte < 2 ? 0x5140 : 0x7362);
}

// The two bytes of column `byte` below two copies of `upper`.
static LLVMValueRef below(Emit *e, LLVMValueRef low, LLVMValueRef high, int32_t byte, uint32_t upper) {
  LLVMValueRef bytes = interleave(e, low, high, byte);
  return permute(e, bytes, gpu_i32(&e->gpu, upper), byte % 2 ? 0x4342 : 0x4140);
}

static LLVMValueRef i8_pair(Emit *e, MirageDType dtype, LLVMValueRef low, LLVMValueRef high, int32_t column) {
  if (dtype == MIRAGE_F16) {
    LLVMValueRef shifted = below(e, xor_bits(e, low, 0x80808080), xor_bits(e, high, 0x80808080), column, 0x64646464);
    return subtract(e, dtype, shifted, gpu_i32(&e->gpu, 0x64806480));
  }
  LLVMValueRef shifted = below(e, low, high, column, 0x43434343);
  return subtract(e, dtype, and_bits(e, shifted, 0xff7fff7f), and_bits(e, shifted, 0xff80ff80));
}

// a / 16 - 72 as pairs of f16: both steps are exact, so one instruction may do them.
static LLVMValueRef shift_down(Emit *e, LLVMValueRef a) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMTypeRef pair = LLVMVectorType(e->gpu.f16, 2);
  LLVMValueRef sixteenth = LLVMConstBitCast(gpu_i32(&e->gpu, 0x2c002c00), pair);
  LLVMValueRef offset = LLVMConstBitCast(gpu_i32(&e->gpu, 0xd480d480), pair);
  LLVMValueRef scaled = LLVMBuildFMul(b, LLVMBuildBitCast(b, a, pair, ""), sixteenth, "");
  LLVMValueRef number = LLVMBuildFAdd(b, scaled, offset, "");
  LLVMSetFastMathFlags(scaled, LLVMFastMathAllowContract);
  LLVMSetFastMathFlags(number, LLVMFastMathAllowContract);
  return LLVMBuildBitCast(b, number, e->gpu.i32, "");
}

static LLVMValueRef i4_pair(Emit *e, MirageDType dtype, LLVMValueRef low, LLVMValueRef high, int32_t column) {
  bool half = dtype == MIRAGE_F16, up = half && column % 2;
  int32_t shift = 4 * (column % 4) - (up ? 4 : 0);
  uint32_t power = half ? 0x64006400 : 0x43004300, mask = up ? 0x00f000f0 : 0x000f000f,
           eight = up ? 0x00800080 : 0x00080008;
  LLVMValueRef columns = permute(e, low, high, column < 4 ? 0x5410 : 0x7632);
  if (shift)
    columns = LLVMBuildLShr(e->gpu.builder, columns, gpu_i32(&e->gpu, shift), "");
  LLVMValueRef shifted = GPU(&e->gpu, AND_XOR, columns, gpu_i32(&e->gpu, mask), gpu_i32(&e->gpu, power | eight));
  return up ? shift_down(e, shifted) : subtract(e, dtype, shifted, gpu_i32(&e->gpu, power | eight));
}

// Both bytes of a column as the upper ones of f16: f8E5M2.
static LLVMValueRef upper_bytes(Emit *e, LLVMValueRef low, LLVMValueRef high, int32_t column) {
  LLVMValueRef columns = permute(e, low, high, column < 2 ? 0x5410 : 0x7632);
  if (column % 2 == 0)
    columns = LLVMBuildShl(e->gpu.builder, columns, gpu_i32(&e->gpu, 8), "");
  return and_bits(e, columns, 0xff00ff00);
}

// f8E4M3FN without the instruction. What is added to a magnitude of all ones carries into the sign's place.
static LLVMValueRef e4m3_by_bits(Emit *e, LLVMValueRef bytes) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMTypeRef pair = LLVMVectorType(e->gpu.f16, 2);
  LLVMValueRef magnitude = and_bits(e, bytes, 0x7f007f00), one = gpu_i32(&e->gpu, 1);
  LLVMValueRef small = LLVMBuildOr(b, and_bits(e, bytes, 0x80008000), LLVMBuildLShr(b, magnitude, one, ""), "");
  LLVMValueRef number =
      LLVMBuildFMul(b, LLVMBuildBitCast(b, small, pair, ""), LLVMConstBitCast(gpu_i32(&e->gpu, 0x5c005c00), pair), "");
  LLVMValueRef carried = LLVMBuildAdd(b, magnitude, gpu_i32(&e->gpu, 0x01000100), "");
  LLVMValueRef is_nan = and_bits(e, carried, 0x80008000);
  LLVMValueRef nan = LLVMBuildSub(b, is_nan, LLVMBuildLShr(b, is_nan, gpu_i32(&e->gpu, 6), ""), "");
  return LLVMBuildOr(b, LLVMBuildBitCast(b, number, e->gpu.i32, ""), nan, "");
}

static LLVMValueRef f8_halves(Emit *e, MirageDType stored, LLVMValueRef low, LLVMValueRef high, int32_t column) {
  if (stored == MIRAGE_F8E5M2)
    return upper_bytes(e, low, high, column);
  if (e->target->compute_major < 9)
    return e4m3_by_bits(e, upper_bytes(e, low, high, column));
  LLVMValueRef bytes = interleave(e, low, high, column);
  return column % 2 ? GPU(&e->gpu, F16_OF_E4M3_UPPER, bytes) : GPU(&e->gpu, F16_OF_E4M3, bytes);
}

LLVMValueRef mirage__halves_of_f8(Emit *e, MirageDType stored, LLVMValueRef word, int32_t pair) {
  LLVMValueRef bytes = permute(e, word, gpu_i32(&e->gpu, 0), pair ? 0x3424 : 0x1404); // each above a zero
  return stored == MIRAGE_F8E5M2 ? bytes : e4m3_by_bits(e, bytes);
}

static LLVMValueRef bf16_of_halves(Emit *e, LLVMValueRef halves) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef values[2];
  halves = LLVMBuildBitCast(b, halves, LLVMVectorType(e->gpu.f16, 2), "");
  for (uint32_t i = 0; i < 2; i++)
    values[i] = LLVMBuildFPExt(b, LLVMBuildExtractElement(b, halves, gpu_i32(&e->gpu, i), ""), e->gpu.f32, "");
  return mirage__pack_pair(e, MIRAGE_BF16, values[0], values[1]);
}

static LLVMValueRef f8_pair(Emit *e, MirageDType stored, MirageDType dtype, LLVMValueRef low, LLVMValueRef high,
                            int32_t column) {
  LLVMValueRef halves = f8_halves(e, stored, low, high, column);
  return dtype == MIRAGE_F16 ? halves : bf16_of_halves(e, halves);
}

LLVMValueRef mirage__dequant_pair(Emit *e, MirageDType stored, MirageDType dtype, const LLVMValueRef *low,
                                  const LLVMValueRef *high, int32_t column) {
  int32_t per_word = 32 / (int32_t)mirage_dtype_bits(stored), word = column / per_word, at = column % per_word;
  if (stored == dtype)
    return permute(e, low[word], high[word], at ? 0x7632 : 0x5410);
  if (stored == MIRAGE_I4)
    return i4_pair(e, dtype, low[word], high[word], at);
  if (stored == MIRAGE_I8)
    return i8_pair(e, dtype, low[word], high[word], at);
  return f8_pair(e, stored, dtype, low[word], high[word], at);
}

// ---------------------------------------------------------------------------------------------------------------- rows

static const double two_24 = 16777216.0, two_20 = 1048576.0;

RowFormat mirage__row_format(MirageDType stored, MirageDType dtype) {
  RowFormat format = {{0, 1, 2, 3, 4, 5, 6, 7}, {1, 1}, 0};
  if (stored == MIRAGE_I8) {
    format = (RowFormat){{0, 2, 1, 3, 4, 6, 5, 7}, {1, 1}, 0};
    if (dtype == MIRAGE_F16)
      format.factor[0] = format.factor[1] = two_24, format.offset = 128;
  }
  if (stored == MIRAGE_I4) {
    format = (RowFormat){{0, 4, 2, 6, 1, 5, 3, 7}, {1, 1}, 136};
    if (dtype == MIRAGE_F16)
      format.factor[0] = two_24, format.factor[1] = two_20, format.offset = 8;
  }
  return format;
}

RowFormat mirage__column_format(MirageDType stored, MirageDType dtype) {
  RowFormat format = mirage__row_format(stored, dtype);
  for (uint8_t i = 0; i < 8; i++)
    format.order[i] = i;
  return format;
}

static LLVMValueRef shift_right(Emit *e, LLVMValueRef word, int32_t bits) {
  return bits ? LLVMBuildLShr(e->gpu.builder, word, gpu_i32(&e->gpu, bits), "") : word;
}

static LLVMValueRef masked(Emit *e, LLVMValueRef word, uint32_t mask, uint32_t flip) {
  return GPU(&e->gpu, AND_XOR, word, gpu_i32(&e->gpu, mask), gpu_i32(&e->gpu, flip));
}

LLVMValueRef mirage__dequant_column(Emit *e, MirageDType dtype, LLVMValueRef low, LLVMValueRef high, int32_t column) {
  bool half = dtype == MIRAGE_F16, up = half && column % 2;
  LLVMValueRef columns = permute(e, low, high, column < 4 ? 0x5410 : 0x7632);
  columns = shift_right(e, columns, 4 * (column % 4) - (up ? 4 : 0));
  uint32_t eight = up ? 0x00800080 : 0x00080008;
  return masked(e, columns, up ? 0x00f000f0 : 0x000f000f, half ? eight : 0x43004300 | eight);
}

static LLVMValueRef i8_of_row(Emit *e, MirageDType dtype, LLVMValueRef word, int32_t odd) {
  word = shift_right(e, word, 8 * odd);
  if (dtype == MIRAGE_F16)
    return masked(e, word, 0x00ff00ff, 0x00800080);
  return subtract(e, dtype, masked(e, word, 0x007f007f, 0x43004300), masked(e, word, 0x00800080, 0x43004300));
}

static LLVMValueRef i4_of_row(Emit *e, MirageDType dtype, LLVMValueRef word, int32_t pair) {
  int32_t up = pair / 2;
  if (dtype == MIRAGE_F16)
    return masked(e, shift_right(e, word, 8 * (pair % 2)), up ? 0x00f000f0 : 0x000f000f, up ? 0x00800080 : 0x00080008);
  return masked(e, shift_right(e, word, 8 * (pair % 2) + 4 * up), 0x000f000f, 0x43004300 | 0x00080008);
}

static LLVMValueRef f8_of_row(Emit *e, MirageDType stored, LLVMValueRef word, int32_t odd) {
  if (stored == MIRAGE_F8E4M3FN && e->target->compute_major >= 9)
    return odd ? GPU(&e->gpu, F16_OF_E4M3_UPPER, word) : GPU(&e->gpu, F16_OF_E4M3, word);
  LLVMValueRef upper = permute(e, word, gpu_i32(&e->gpu, 0), odd ? 0x3424 : 0x1404);
  return stored == MIRAGE_F8E5M2 ? upper : e4m3_by_bits(e, upper);
}

LLVMValueRef mirage__dequant_row(Emit *e, MirageDType stored, MirageDType dtype, const LLVMValueRef *words,
                                 int32_t pair) {
  if (stored == dtype)
    return words[pair];
  if (stored == MIRAGE_I4)
    return i4_of_row(e, dtype, words[0], pair);
  if (stored == MIRAGE_I8)
    return i8_of_row(e, dtype, words[pair / 2], pair % 2);
  LLVMValueRef halves = f8_of_row(e, stored, words[pair / 2], pair % 2);
  return dtype == MIRAGE_F16 ? halves : bf16_of_halves(e, halves);
}
