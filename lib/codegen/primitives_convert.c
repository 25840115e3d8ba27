// primitives_convert.c - numbers in registers: f32 from and to the element types. An i32 stays what it is.
//
// Types that are computed in are LLVM's own. A stored type travels as i8: an integer, or the bits of an f8. An f8E5M2 is the
// upper byte of an f16. An f8E4M3FN, shifted to where an f16 has its exponent, is that f16 divided by 2^8, subnormal
// numbers included; only its NaN is none there.
#include "primitives.h"

#include <math.h>

static LLVMTypeRef like(LLVMTypeRef shape, LLVMTypeRef element) {
  if (LLVMGetTypeKind(shape) == LLVMVectorTypeKind)
    return LLVMVectorType(element, LLVMGetVectorSize(shape));
  return element;
}

LLVMTypeRef mirage__gpu_dtype(const MirageGpu *gpu, MirageDType dtype) {
  switch (dtype) {
  case MIRAGE_F16:
    return gpu->f16;
  case MIRAGE_BF16:
    return gpu->bf16;
  case MIRAGE_F32:
    return gpu->f32;
  case MIRAGE_I32:
    return gpu->i32;
  default:
    return gpu->i8;
  }
}

static LLVMValueRef i16(const MirageGpu *gpu, int value) { return LLVMConstInt(gpu->i16, (unsigned)value, 0); }

// The f16 of these bits, as f32.
static LLVMValueRef f32_of_half(const MirageGpu *gpu, LLVMValueRef bits) {
  LLVMValueRef half = LLVMBuildBitCast(gpu->builder, bits, gpu->f16, "");
  return LLVMBuildFPExt(gpu->builder, half, gpu->f32, "");
}

static LLVMValueRef half_of_f32(const MirageGpu *gpu, LLVMValueRef value) {
  LLVMValueRef half = LLVMBuildFPTrunc(gpu->builder, value, gpu->f16, "");
  return LLVMBuildBitCast(gpu->builder, half, gpu->i16, "");
}

static LLVMValueRef e5m2_to_f32(const MirageGpu *gpu, LLVMValueRef byte) {
  LLVMValueRef bits = LLVMBuildZExt(gpu->builder, byte, gpu->i16, "");
  return f32_of_half(gpu, LLVMBuildShl(gpu->builder, bits, i16(gpu, 8), ""));
}

static LLVMValueRef e5m2_from_f32(const MirageGpu *gpu, LLVMValueRef value) {
  LLVMValueRef upper = LLVMBuildLShr(gpu->builder, half_of_f32(gpu, value), i16(gpu, 8), "");
  return LLVMBuildTrunc(gpu->builder, upper, gpu->i8, "");
}

static LLVMValueRef e4m3_to_f32(const MirageGpu *gpu, LLVMValueRef byte) {
  LLVMBuilderRef b = gpu->builder;
  LLVMValueRef bits = LLVMBuildZExt(b, byte, gpu->i16, ""), magnitude = LLVMBuildAnd(b, bits, i16(gpu, 0x7f), "");
  LLVMValueRef sign = LLVMBuildShl(b, LLVMBuildAnd(b, bits, i16(gpu, 0x80), ""), i16(gpu, 8), "");
  LLVMValueRef half = LLVMBuildOr(b, sign, LLVMBuildShl(b, magnitude, i16(gpu, 7), ""), "");
  LLVMValueRef number = LLVMBuildFMul(b, f32_of_half(gpu, half), gpu_f32(gpu, 0x1p8), "");
  LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntEQ, magnitude, i16(gpu, 0x7f), "");
  return LLVMBuildSelect(b, is_nan, gpu_f32(gpu, NAN), number, "");
}

static LLVMValueRef e4m3_from_f32(const MirageGpu *gpu, LLVMValueRef value) {
  LLVMBuilderRef b = gpu->builder;
  LLVMValueRef half = half_of_f32(gpu, LLVMBuildFMul(b, value, gpu_f32(gpu, 0x1p-8), ""));
  LLVMValueRef sign = LLVMBuildAnd(b, LLVMBuildLShr(b, half, i16(gpu, 8), ""), i16(gpu, 0x80), "");
  LLVMValueRef magnitude = LLVMBuildAnd(b, LLVMBuildLShr(b, half, i16(gpu, 7), ""), i16(gpu, 0x7f), "");
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, value, value, "");
  LLVMValueRef bits = LLVMBuildSelect(b, is_nan, i16(gpu, 0x7f), LLVMBuildOr(b, sign, magnitude, ""), "");
  return LLVMBuildTrunc(b, bits, gpu->i8, "");
}

LLVMValueRef mirage__gpu_to_f32(const MirageGpu *gpu, LLVMValueRef value, MirageDType dtype) {
  LLVMTypeRef to = like(LLVMTypeOf(value), gpu->f32);
  switch (dtype) {
  case MIRAGE_I32:
    return value;
  case MIRAGE_I8:
  case MIRAGE_I4:
  case MIRAGE_I1:
    return LLVMBuildSIToFP(gpu->builder, value, to, "");
  case MIRAGE_F8E4M3FN:
    return e4m3_to_f32(gpu, value);
  case MIRAGE_F8E5M2:
    return e5m2_to_f32(gpu, value);
  default:
    return LLVMTypeOf(value) == to ? value : LLVMBuildFPExt(gpu->builder, value, to, "");
  }
}

LLVMValueRef mirage__gpu_from_f32(const MirageGpu *gpu, LLVMValueRef value, MirageDType dtype) {
  LLVMTypeRef to = like(LLVMTypeOf(value), mirage__gpu_dtype(gpu, dtype));
  switch (dtype) {
  case MIRAGE_I32:
    return value;
  case MIRAGE_I8:
  case MIRAGE_I4:
  case MIRAGE_I1:
    return LLVMBuildFPToSI(gpu->builder, value, to, "");
  case MIRAGE_F8E4M3FN:
    return e4m3_from_f32(gpu, value);
  case MIRAGE_F8E5M2:
    return e5m2_from_f32(gpu, value);
  default:
    return LLVMTypeOf(value) == to ? value : LLVMBuildFPTrunc(gpu->builder, value, to, "");
  }
}
