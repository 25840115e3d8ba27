// primitives_host.c - device primitives for the host: each row of primitives.def as a call. See host.h for the calls.
#include "host.h"

#include <stdio.h>
#include <string.h>

// What an operand of the row is as an argument of the call.
static LLVMValueRef argument(const MirageGpu *gpu, char code, LLVMValueRef operand) {
  switch (code) {
  case 'p':
    return LLVMBuildZExt(gpu->builder, operand, gpu->i32, "");
  case 'h':
    return LLVMBuildBitCast(gpu->builder, operand, gpu->i32, "");
  case 's':
  case 'g':
  case 'c':
  case 'm':
    return LLVMBuildPtrToInt(gpu->builder, operand, gpu->i64, "");
  default:
    return operand;
  }
}

static LLVMTypeRef returned_type(const MirageGpu *gpu, char code) {
  switch (code) {
  case 'i':
  case 'p':
  case 'h':
    return gpu->i32;
  case 'f':
    return gpu->f32;
  case 'l':
  case 's':
  case 'g':
  case 'c':
    return gpu->i64;
  default:
    return gpu->void_type;
  }
}

static LLVMValueRef result(const MirageGpu *gpu, char code, LLVMValueRef call) {
  switch (code) {
  case 'p':
    return LLVMBuildTrunc(gpu->builder, call, gpu->i1, "");
  case 'h':
    return LLVMBuildBitCast(gpu->builder, call, LLVMVectorType(gpu->f16, 2), "");
  case 's':
    return LLVMBuildIntToPtr(gpu->builder, call, gpu->shared_ptr, "");
  case 'g':
    return LLVMBuildIntToPtr(gpu->builder, call, gpu->global_ptr, "");
  case 'c':
    return LLVMBuildIntToPtr(gpu->builder, call, gpu->cluster_ptr, "");
  default:
    return call;
  }
}

static unsigned array_length(char code) {
  return code == '2' ? 2 : code == '4' || code == 'F' ? 4 : code == '8' ? 8 : 0;
}

static LLVMValueRef call(const MirageGpu *gpu, const char *name, LLVMTypeRef returns, unsigned count,
                         LLVMValueRef *args) {
  LLVMTypeRef types[20];
  for (unsigned i = 0; i < count; i++)
    types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(returns, types, count, 0);
  LLVMValueRef function = LLVMGetNamedFunction(gpu->module, name);
  if (!function)
    function = LLVMAddFunction(gpu->module, name, type);
  return LLVMBuildCall2(gpu->builder, type, function, args, count, "");
}

// An array of the kernel for registers of a call, by name and size: written before it or read right after.
static LLVMValueRef scratch(const MirageGpu *gpu, const char *name, unsigned count) {
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(gpu->function));
  size_t length;
  for (LLVMValueRef at = first; at; at = LLVMGetNextInstruction(at))
    if (LLVMIsAAllocaInst(at) && strcmp(LLVMGetValueName2(at, &length), name) == 0)
      return at;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(gpu->builder);
  LLVMPositionBuilderBefore(gpu->builder, first);
  LLVMValueRef array = LLVMBuildAlloca(gpu->builder, LLVMArrayType2(gpu->i32, count), name);
  LLVMPositionBuilderAtEnd(gpu->builder, here);
  return array;
}

static LLVMValueRef element(const MirageGpu *gpu, LLVMValueRef array, unsigned index) {
  LLVMValueRef at = gpu_i32(gpu, index);
  return LLVMBuildGEP2(gpu->builder, gpu->i32, array, &at, 1, "");
}

static LLVMValueRef read_array(const MirageGpu *gpu, LLVMValueRef array, LLVMTypeRef type, unsigned count) {
  LLVMTypeRef fields[8];
  for (unsigned i = 0; i < count; i++)
    fields[i] = type;
  LLVMValueRef registers = LLVMGetUndef(LLVMStructTypeInContext(gpu->context, fields, count, 0));
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef value = LLVMBuildLoad2(gpu->builder, type, element(gpu, array, i), "");
    registers = LLVMBuildInsertValue(gpu->builder, registers, value, i, "");
  }
  return registers;
}

LLVMValueRef mirage__host_emit(const MirageGpu *gpu, const char *name, const char *signature,
                               const LLVMValueRef *operands) {
  LLVMValueRef args[20];
  unsigned count = 0, registers = array_length(signature[0]);
  char symbol[64];
  snprintf(symbol, sizeof symbol, "mirage_emu_%s", name);
  args[count++] = gpu_i32(gpu, gpu->op);
  for (const char *code = signature + 1; *code; code++, count++)
    args[count] = argument(gpu, *code, operands[count - 1]);
  LLVMValueRef array = registers ? scratch(gpu, "registers", 8) : NULL;
  if (array)
    args[count++] = array;
  LLVMValueRef done = call(gpu, symbol, returned_type(gpu, signature[0]), count, args);
  if (array)
    return read_array(gpu, array, signature[0] == 'F' ? gpu->f32 : gpu->i32, registers);
  return result(gpu, signature[0], done);
}

// ------------------------------------------------------------------------------------------------------------- memory

// A value of up to 16 bytes travels as two u64.
LLVMValueRef mirage__host_load(const MirageGpu *gpu, const char *function, LLVMTypeRef type, unsigned bytes,
                               LLVMValueRef address) {
  LLVMBuilderRef b = gpu->builder;
  LLVMTypeRef words[2] = {gpu->i64, gpu->i64};
  LLVMValueRef args[3] = {gpu_i32(gpu, gpu->op), LLVMBuildPtrToInt(b, address, gpu->i64, ""), gpu_i32(gpu, bytes)};
  LLVMValueRef pair = call(gpu, function, LLVMStructTypeInContext(gpu->context, words, 2, 0), 3, args);
  LLVMValueRef low = LLVMBuildExtractValue(b, pair, 0, "");
  if (bytes <= 8)
    return LLVMBuildBitCast(
        b, bytes == 8 ? low : LLVMBuildTrunc(b, low, LLVMIntTypeInContext(gpu->context, bytes * 8), ""), type, "");
  LLVMValueRef both = LLVMGetUndef(LLVMVectorType(gpu->i64, 2));
  both = LLVMBuildInsertElement(b, both, low, gpu_i32(gpu, 0), "");
  both = LLVMBuildInsertElement(b, both, LLVMBuildExtractValue(b, pair, 1, ""), gpu_i32(gpu, 1), "");
  return LLVMBuildBitCast(b, both, type, "");
}

void mirage__host_store(const MirageGpu *gpu, const char *function, LLVMValueRef value, unsigned bytes,
                        LLVMValueRef address) {
  LLVMBuilderRef b = gpu->builder;
  LLVMValueRef low, high = gpu_i64(gpu, 0);
  if (bytes <= 8) {
    low = LLVMBuildBitCast(b, value, LLVMIntTypeInContext(gpu->context, bytes * 8), "");
    low = bytes == 8 ? low : LLVMBuildZExt(b, low, gpu->i64, "");
  } else {
    LLVMValueRef both = LLVMBuildBitCast(b, value, LLVMVectorType(gpu->i64, 2), "");
    low = LLVMBuildExtractElement(b, both, gpu_i32(gpu, 0), "");
    high = LLVMBuildExtractElement(b, both, gpu_i32(gpu, 1), "");
  }
  LLVMValueRef args[5] = {gpu_i32(gpu, gpu->op), LLVMBuildPtrToInt(b, address, gpu->i64, ""), gpu_i32(gpu, bytes), low,
                          high};
  call(gpu, function, gpu->void_type, 5, args);
}

// -------------------------------------------------------------------------------------------------- warpgroup products

enum { MOST_CELLS = 256 };

static LLVMValueRef write_cells(const MirageGpu *gpu, uint32_t count, const LLVMValueRef *cells) {
  LLVMValueRef array = scratch(gpu, "cells", MOST_CELLS);
  for (uint32_t i = 0; i < count; i++)
    LLVMBuildStore(gpu->builder, cells[i], element(gpu, array, i));
  return array;
}

// As values of the type that they had.
static void read_cells(const MirageGpu *gpu, uint32_t count, LLVMValueRef array, LLVMValueRef *cells) {
  for (uint32_t i = 0; i < count; i++)
    cells[i] = LLVMBuildLoad2(gpu->builder, LLVMTypeOf(cells[i]), element(gpu, array, i), "");
}

void mirage__host_wgmma(const MirageGpu *gpu, MirageDType a_dtype, MirageDType b_dtype, int32_t n, LLVMValueRef a_desc,
                        const LLVMValueRef *a_regs, bool a_mn_major, LLVMValueRef b_desc, bool b_mn_major,
                        LLVMValueRef *cells) {
  LLVMValueRef array = write_cells(gpu, (uint32_t)n / 2, cells);
  LLVMValueRef registers = LLVMConstNull(LLVMTypeOf(array));
  if (a_regs) {
    registers = scratch(gpu, "a", 4);
    for (unsigned i = 0; i < 4; i++)
      LLVMBuildStore(gpu->builder, LLVMBuildBitCast(gpu->builder, a_regs[i], gpu->i32, ""), element(gpu, registers, i));
  }
  LLVMValueRef args[8] = {gpu_i32(gpu, gpu->op),
                          gpu_i32(gpu, (int64_t)a_dtype | (int64_t)b_dtype << 8),
                          gpu_i32(gpu, n),
                          gpu_i32(gpu, a_mn_major | b_mn_major << 1),
                          a_desc ? a_desc : gpu_i64(gpu, 0),
                          registers,
                          b_desc,
                          array};
  call(gpu, "mirage_emu_wgmma", gpu->void_type, 8, args);
  read_cells(gpu, (uint32_t)n / 2, array, cells);
}

void mirage__host_wgmma_results(const MirageGpu *gpu, uint32_t count, LLVMValueRef *cells) {
  LLVMValueRef array = write_cells(gpu, count, cells);
  LLVMValueRef args[3] = {gpu_i32(gpu, gpu->op), gpu_i32(gpu, count), array};
  call(gpu, "mirage_emu_wgmma_results", gpu->void_type, 3, args);
  read_cells(gpu, count, array, cells);
}

// ---------------------------------------------------------------------------------------------------------- addresses

LLVMValueRef mirage__host_shared_base(const MirageGpu *gpu) {
  return LLVMConstIntToPtr(gpu_i64(gpu, (int64_t)MIRAGE_HOST_SHARED_BASE), gpu->shared_ptr);
}

LLVMValueRef mirage__host_parameter(const MirageGpu *gpu, unsigned index) {
  LLVMValueRef at = gpu_i32(gpu, index);
  at = LLVMBuildGEP2(gpu->builder, gpu->i64, LLVMGetParam(gpu->function, 0), &at, 1, "");
  return LLVMBuildIntToPtr(gpu->builder, LLVMBuildLoad2(gpu->builder, gpu->i64, at, ""), gpu->global_ptr, "");
}
