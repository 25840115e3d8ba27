// codegen_dequant.c - pairs of 16-bit numbers out of registers that hold stored ones as they lie in memory.
//
// The matrix instruction wants neighbours along the contraction side by side: column c of two rows. Bytes of both rows
// are brought together first, then an integer becomes a number without a conversion instruction, of which there are few:
// its bits are put below those of a power of two that leaves them the last places, and what this adds is taken away.
//
//   i8 -> f16    0x6400 | (x ^ 0x80)         = 1024 + 128 + x    less 1152
//   i8 -> bf16   0x4300 | (x & 0x7f)         = 128 + x mod 128   less 128, or 256 where x is negative
//   i4 -> f16    0x6400 | (x ^ 8)            = 1024 + 8 + x      less 1032
//   i4 -> bf16   0x4300 | (x ^ 8)            = 128 + 8 + x       less 136
//   f8E5M2 -> f16    the upper byte
//   f8E4M3FN -> f16  cvt, where the GPU has it
//
// Every step is exact. What is not listed goes by way of f32.
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

// Byte `byte` of both registers, each in both bytes of its half.
static LLVMValueRef spread(Emit *e, LLVMValueRef low, LLVMValueRef high, uint32_t byte) {
  return permute(e, low, high, byte * 0x1111 + 0x4400);
}

// a - b as pairs of `dtype`.
static LLVMValueRef subtract(Emit *e, MirageDType dtype, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef pair = LLVMVectorType(mirage__gpu_dtype(&e->gpu, dtype), 2);
  LLVMBuilderRef builder = e->gpu.builder;
  LLVMValueRef difference =
      LLVMBuildFSub(builder, LLVMBuildBitCast(builder, a, pair, ""), LLVMBuildBitCast(builder, b, pair, ""), "");
  return LLVMBuildBitCast(builder, difference, e->gpu.i32, "");
}

static LLVMValueRef i8_pair(Emit *e, MirageDType dtype, LLVMValueRef bytes) {
  if (dtype == MIRAGE_F16) {
    LLVMValueRef shifted = permute(e, xor_bits(e, bytes, 0x80808080), gpu_i32(&e->gpu, 0x64646464), 0x4240);
    return subtract(e, dtype, shifted, gpu_i32(&e->gpu, 0x64806480));
  }
  LLVMValueRef shifted = permute(e, bytes, gpu_i32(&e->gpu, 0x43434343), 0x4240);
  return subtract(e, dtype, and_bits(e, shifted, 0xff7fff7f), and_bits(e, shifted, 0xff80ff80));
}

static LLVMValueRef i4_pair(Emit *e, MirageDType dtype, LLVMValueRef bytes, bool upper) {
  uint32_t power = dtype == MIRAGE_F16 ? 0x64086408 : 0x43084308;
  if (upper)
    bytes = LLVMBuildLShr(e->gpu.builder, bytes, gpu_i32(&e->gpu, 4), "");
  LLVMValueRef shifted = xor_bits(e, and_bits(e, bytes, 0x000f000f), power);
  return subtract(e, dtype, shifted, gpu_i32(&e->gpu, power));
}

// One number at a time.
static LLVMValueRef by_f32(Emit *e, MirageDType stored, MirageDType dtype, LLVMValueRef bytes) {
  LLVMValueRef values[2];
  for (uint32_t i = 0; i < 2; i++) {
    LLVMValueRef byte = LLVMBuildLShr(e->gpu.builder, bytes, gpu_i32(&e->gpu, 16 * i), "");
    byte = LLVMBuildTrunc(e->gpu.builder, byte, e->gpu.i8, "");
    values[i] = mirage__gpu_to_f32(&e->gpu, byte, stored);
  }
  return mirage__pack_pair(e, dtype, values[0], values[1]);
}

static LLVMValueRef e4m3_pair(Emit *e, LLVMValueRef bytes) {
  LLVMValueRef both = permute(e, bytes, bytes, 0x0020);
  return GPU(&e->gpu, F16_OF_E4M3, both);
}

LLVMValueRef mirage__dequant_pair(Emit *e, MirageDType stored, MirageDType dtype, const LLVMValueRef *low,
                                  const LLVMValueRef *high, int32_t column) {
  int32_t per_word = 32 / (int32_t)mirage_dtype_bits(stored), word = column / per_word, at = column % per_word;
  if (stored == dtype)
    return permute(e, low[word], high[word], at ? 0x7632 : 0x5410);
  bool halves = stored == MIRAGE_I4;
  LLVMValueRef bytes = spread(e, low[word], high[word], (uint32_t)(halves ? at / 2 : at));
  if (halves)
    return i4_pair(e, dtype, bytes, at % 2 != 0);
  if (stored == MIRAGE_I8)
    return i8_pair(e, dtype, bytes);
  if (stored == MIRAGE_F8E5M2 && dtype == MIRAGE_F16)
    return and_bits(e, bytes, 0xff00ff00);
  if (stored == MIRAGE_F8E4M3FN && dtype == MIRAGE_F16 && e->target->compute_major >= 9)
    return e4m3_pair(e, bytes);
  return by_f32(e, stored, dtype, bytes);
}
