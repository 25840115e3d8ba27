// primitives_wgmma.c - matrix instructions of a warpgroup: rows of primitives.def with as many registers as the shape
// has.
//
// The instruction runs on after it was issued, and PTX tells the assembler so, not LLVM. So accumulators are tied
// operands: what goes in comes out in the same register, of the product and again of the wait, and nothing that uses
// them can stand between.
//
// Example, n = 8: { ... wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, ...; } with
// constraints "=f,=f,=f,=f,0,1,2,3,l,l,~{memory}".
#include "primitives.h"

#include "host.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { MOST_CELLS = 256, TEXT_BYTES = 4096 };

typedef struct Text {
  char chars[TEXT_BYTES];
  size_t used;
} Text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void add(Text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text->used += (size_t)vsnprintf(text->chars + text->used, sizeof text->chars - text->used, format, args);
  va_end(args);
  assert(text->used < sizeof text->chars);
}

// "{$first, ...}"
static void add_registers(Text *text, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    add(text, "%s$%u", i ? ", " : "{", first + i);
  add(text, "}");
}

// Emits `code` with `cells` of type `cell` in and out, or only out where they begin with nothing, and more inputs, each
// of constraint inputs[i].
static void emit_tied(const MirageGpu *gpu, const Text *code, LLVMTypeRef cell, uint32_t count, LLVMValueRef *cells,
                      const char *inputs, const LLVMValueRef *operands) {
  Text constraints = {.used = 0};
  LLVMTypeRef fields[MOST_CELLS], params[MOST_CELLS + 8];
  LLVMValueRef args[MOST_CELLS + 8];
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    add(&constraints, cell == gpu->f32 ? "=f," : "=r,");
    fields[i] = cell;
  }
  for (; cells[0] && used < count; used++) {
    add(&constraints, "%u,", used);
    params[used] = cell;
    args[used] = cells[used];
  }
  for (; *inputs; inputs++, operands++, used++) {
    add(&constraints, "%c,", *inputs);
    args[used] = *operands;
    params[used] = LLVMTypeOf(*operands);
  }
  add(&constraints, "~{memory}");
  LLVMTypeRef results = LLVMStructTypeInContext(gpu->context, fields, count, 0);
  LLVMTypeRef type = LLVMFunctionType(count == 1 ? gpu->f32 : results, params, used, 0);
  LLVMValueRef callee = LLVMGetInlineAsm(type, code->chars, code->used, constraints.chars, constraints.used, 1, 0,
                                         LLVMInlineAsmDialectATT, 0);
  LLVMValueRef call = LLVMBuildCall2(gpu->builder, type, callee, args, used, "");
  mirage__gpu_mark_convergent(gpu, call);
  for (uint32_t i = 0; i < count; i++)
    cells[i] = count == 1 ? call : LLVMBuildExtractValue(gpu->builder, call, i, "");
}

static const char *operand_name(MirageDType dtype) {
  switch (dtype) {
  case MIRAGE_F16:
    return "f16";
  case MIRAGE_BF16:
    return "bf16";
  case MIRAGE_I8:
    return "s8";
  case MIRAGE_F8E4M3FN:
    return "e4m3";
  default:
    return "e5m2";
  }
}

int32_t mirage__gpu_wgmma_columns(MirageDType dtype, int32_t n) {
  return dtype == MIRAGE_I8 && n > 32 ? n / 16 * 16 : n / 8 * 8;
}

// "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 "
static void add_instruction(Text *text, MirageDType a, MirageDType b, int32_t n) {
  bool bytes = mirage_dtype_bits(a) == 8;
  add(text, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s ", n, bytes ? 32 : 16, a == MIRAGE_I8 ? "s32" : "f32",
      operand_name(a), operand_name(b));
}

// Whether the cells count; by which the operands are scaled, unless they are integers; and which are transposed, which
// bytes cannot be.
static void add_scales(Text *text, MirageDType dtype, const bool *mn_major, int count) {
  add(text, dtype == MIRAGE_I8 ? ", p" : ", p, 1, 1");
  for (int i = 0; i < count && mirage_dtype_bits(dtype) == 16; i++)
    add(text, ", %d", mn_major[i]);
  add(text, "; }");
}

void mirage__gpu_wgmma(const MirageGpu *gpu, MirageDType a_dtype, MirageDType b_dtype, int32_t n, LLVMValueRef a_desc,
                       const LLVMValueRef *a_regs, bool a_mn_major, LLVMValueRef b_desc, bool b_mn_major,
                       LLVMValueRef *cells) {
  assert(n >= 8 && n <= 256 && n == mirage__gpu_wgmma_columns(a_dtype, n) && !(a_regs && a_mn_major));
  assert(mirage_dtype_bits(a_dtype) == 16 || !(a_mn_major || b_mn_major));
  LLVMTypeRef cell = a_dtype == MIRAGE_I8 ? gpu->i32 : gpu->f32;
  if (gpu->host) {
    for (int32_t i = 0; !cells[0] && i < n / 2; i++)
      cells[n / 2 - 1 - i] = LLVMConstNull(cell);
    mirage__host_wgmma(gpu, a_dtype, b_dtype, n, a_desc, a_regs, a_mn_major, b_desc, b_mn_major, cells);
    return;
  }
  uint32_t count = (uint32_t)n / 2, a = cells[0] ? 2 * count : count;
  Text code = {.used = 0};
  add(&code, "{ .reg .pred p; setp.ne.b32 p, %d, 0; ", cells[0] != NULL);
  add_instruction(&code, a_dtype, b_dtype, n);
  add_registers(&code, 0, count);
  add(&code, ", ");
  if (a_regs) {
    add_registers(&code, a, 4);
    add(&code, ", $%u", a + 4);
    add_scales(&code, a_dtype, &b_mn_major, 1);
    LLVMValueRef operands[5] = {a_regs[0], a_regs[1], a_regs[2], a_regs[3], b_desc};
    emit_tied(gpu, &code, cell, count, cells, "rrrrl", operands);
  } else {
    add(&code, "$%u, $%u", a, a + 1);
    add_scales(&code, a_dtype, (bool[]){a_mn_major, b_mn_major}, 2);
    LLVMValueRef operands[2] = {a_desc, b_desc};
    emit_tied(gpu, &code, cell, count, cells, "ll", operands);
  }
}

static LLVMTypeRef cell_type(const MirageGpu *gpu, const LLVMValueRef *cells) {
  return cells[0] ? LLVMTypeOf(cells[0]) : gpu->f32;
}

void mirage__gpu_wgmma_fence(const MirageGpu *gpu, uint32_t count, LLVMValueRef *cells) {
  if (gpu->host) {
    GPU0(gpu, WGMMA_FENCE);
    return;
  }
  Text code = {.used = 0};
  add(&code, "wgmma.fence.sync.aligned;");
  emit_tied(gpu, &code, cell_type(gpu, cells), count, cells, "", NULL);
}

void mirage__gpu_wgmma_wait(const MirageGpu *gpu, int32_t groups, uint32_t count, LLVMValueRef *cells) {
  if (gpu->host || count == 0) {
    GPU(gpu, WGMMA_WAIT, gpu_i64(gpu, groups));
    if (count)
      mirage__host_wgmma_results(gpu, count, cells);
    return;
  }
  assert(count <= MOST_CELLS);
  Text code = {.used = 0};
  add(&code, "wgmma.wait_group.sync.aligned %d;", groups);
  emit_tied(gpu, &code, cell_type(gpu, cells), count, cells, "", NULL);
}

// Start address, leading and stride offsets by 16 bytes at bits 0, 16, 32; the swizzle at bit 62 as 0 none, 1 = 128
// bytes, 2 = 64, 3 = 32. [PTX ISA, asynchronous warpgroup level matrix instructions]
LLVMValueRef mirage__gpu_matrix_descriptor(const MirageGpu *gpu, LLVMValueRef address, int64_t leading_bytes,
                                           int64_t stride_bytes, int32_t swizzle) {
  LLVMBuilderRef b = gpu->builder;
  if (swizzle && mirage__gpu_fault(gpu, MIRAGE_FAULT_SKEW_SWIZZLE))
    swizzle = swizzle % 3 + 1;
  uint64_t mode = swizzle ? 4 - (uint64_t)swizzle : 0;
  uint64_t fixed =
      mode << 62 | (uint64_t)(stride_bytes / 16 & 0x3fff) << 32 | (uint64_t)(leading_bytes / 16 & 0x3fff) << 16;
  LLVMValueRef start = LLVMBuildPtrToInt(b, address, gpu->i64, "");
  start = LLVMBuildAnd(b, LLVMBuildLShr(b, start, gpu_i64(gpu, 4), ""), gpu_i64(gpu, 0x3fff), "");
  return LLVMBuildOr(b, start, gpu_i64(gpu, (int64_t)fixed), "");
}
