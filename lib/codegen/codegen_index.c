// codegen_index.c - integer arithmetic, control flow, and dividing work over the threads of a block.
//
// Index arithmetic folds constants and the neutral cases itself, so that what LLVM sees of a simple tile is simple.
// Tile-local indices are i32 and never negative.
#include "emit.h"

enum { UNROLL = 8 }; // items per thread up to which a loop over them is written out

static bool is_const(LLVMValueRef value, int64_t *out) {
  if (!LLVMIsAConstantInt(value))
    return false;
  *out = LLVMConstIntGetSExtValue(value);
  return true;
}

LLVMValueRef mirage__add(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  int64_t x, y;
  bool cx = is_const(a, &x), cy = is_const(b, &y);
  if (cx && cy)
    return LLVMConstInt(LLVMTypeOf(a), (unsigned long long)(x + y), 1);
  if (cx && x == 0)
    return b;
  if (cy && y == 0)
    return a;
  return LLVMBuildNSWAdd(e->gpu.builder, a, b, "");
}

LLVMValueRef mirage__mul(Emit *e, LLVMValueRef a, int64_t factor) {
  int64_t x;
  if (is_const(a, &x))
    return LLVMConstInt(LLVMTypeOf(a), (unsigned long long)(x * factor), 1);
  if (factor == 1)
    return a;
  if (factor == 0)
    return LLVMConstInt(LLVMTypeOf(a), 0, 0);
  return LLVMBuildNSWMul(e->gpu.builder, a, LLVMConstInt(LLVMTypeOf(a), (unsigned long long)factor, 1), "");
}

LLVMValueRef mirage__div(Emit *e, LLVMValueRef a, int64_t divisor) {
  int64_t x;
  if (is_const(a, &x))
    return LLVMConstInt(LLVMTypeOf(a), (unsigned long long)(x / divisor), 1);
  if (divisor == 1)
    return a;
  return LLVMBuildUDiv(e->gpu.builder, a, LLVMConstInt(LLVMTypeOf(a), (unsigned long long)divisor, 1), "");
}

LLVMValueRef mirage__mod(Emit *e, LLVMValueRef a, int64_t divisor) {
  int64_t x;
  if (is_const(a, &x))
    return LLVMConstInt(LLVMTypeOf(a), (unsigned long long)(x % divisor), 1);
  if (divisor == 1)
    return LLVMConstInt(LLVMTypeOf(a), 0, 0);
  return LLVMBuildURem(e->gpu.builder, a, LLVMConstInt(LLVMTypeOf(a), (unsigned long long)divisor, 1), "");
}

LLVMValueRef mirage__less(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildICmp(e->gpu.builder, LLVMIntSLT, a, b, "");
}

LLVMValueRef mirage__less_than(Emit *e, LLVMValueRef a, int64_t b) {
  return mirage__less(e, a, LLVMConstInt(LLVMTypeOf(a), (unsigned long long)b, 1));
}

LLVMValueRef mirage__equals(Emit *e, LLVMValueRef a, int64_t b) {
  return LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, a, LLVMConstInt(LLVMTypeOf(a), (unsigned long long)b, 1), "");
}

LLVMValueRef mirage__and(Emit *e, LLVMValueRef a, LLVMValueRef b) {
  if (!a || !b)
    return a ? a : b;
  return LLVMBuildAnd(e->gpu.builder, a, b, "");
}

LLVMValueRef mirage__select(Emit *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no) {
  return condition ? LLVMBuildSelect(e->gpu.builder, condition, yes, no, "") : yes;
}

void mirage__delinearize(Emit *e, LLVMValueRef linear, uint32_t rank, const int64_t *shape, LLVMValueRef *index) {
  int64_t above = 1; // extents of the dimensions not yet split off
  for (uint32_t i = 0; i < rank; i++)
    above *= shape[i];
  for (uint32_t i = rank; i-- > 0;) {
    above /= shape[i];
    if (shape[i] == 1) {
      index[i] = LLVMConstInt(LLVMTypeOf(linear), 0, 0);
    } else if (above == 1) {
      index[i] = linear;
    } else {
      index[i] = mirage__mod(e, linear, shape[i]);
      linear = mirage__div(e, linear, shape[i]);
    }
  }
}

LLVMValueRef mirage__linearize(Emit *e, uint32_t rank, const int64_t *shape, const LLVMValueRef *index) {
  LLVMValueRef linear = gpu_i32(&e->gpu, 0);
  for (uint32_t i = 0; i < rank; i++)
    linear = mirage__add(e, mirage__mul(e, linear, shape[i]), index[i]);
  return linear;
}

void mirage__along_row(Emit *e, uint32_t rank, const LLVMValueRef *index, int64_t by, LLVMValueRef *out) {
  for (uint32_t d = 0; d < rank; d++)
    out[d] = index[d];
  if (by)
    out[rank - 1] = mirage__add(e, index[rank - 1], gpu_i32(&e->gpu, by));
}

LLVMValueRef mirage__uniform(Emit *e, LLVMValueRef value) {
  return GPU(&e->gpu, SHUFFLE_IDX, gpu_i32(&e->gpu, -1), value, gpu_i32(&e->gpu, 0), gpu_i32(&e->gpu, 31));
}

LLVMValueRef mirage__variable(Emit *e, LLVMTypeRef type) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->gpu.builder);
  LLVMPositionBuilderBefore(e->gpu.builder, LLVMGetFirstInstruction(e->entry));
  LLVMValueRef variable = LLVMBuildAlloca(e->gpu.builder, type, "");
  LLVMPositionBuilderAtEnd(e->gpu.builder, here);
  return variable;
}

LLVMValueRef mirage__get(Emit *e, LLVMValueRef variable) {
  return LLVMBuildLoad2(e->gpu.builder, LLVMGetAllocatedType(variable), variable, "");
}

void mirage__set(Emit *e, LLVMValueRef variable, LLVMValueRef value) {
  LLVMBuildStore(e->gpu.builder, value, variable);
}

void *mirage__emit_array(Emit *e, size_t count, size_t size) {
  void *array = mirage_arena_alloc_array(e->block.arena, count + 1, size);
  if (!array)
    mirage__emit_fail(e, NULL, MIRAGE_NO_MEMORY, "codegen: out of memory");
  return array;
}

Accumulators mirage__accumulators(Emit *e, MirageDType dtype, int32_t count) {
  Accumulators acc = {mirage__emit_array(e, (size_t)count, sizeof(LLVMValueRef)), count};
  if (!acc.cells)
    return (Accumulators){0};
  for (int32_t i = 0; i < count; i++)
    acc.cells[i] = mirage__variable(e, gpu_register(&e->gpu, dtype));
  return acc;
}

LLVMValueRef mirage__at(Emit *e, LLVMValueRef base, LLVMValueRef bytes) {
  return LLVMBuildGEP2(e->gpu.builder, e->gpu.i8, base, &bytes, 1, "");
}

LLVMValueRef mirage__clamp(Emit *e, LLVMValueRef at, int64_t extent, int64_t reach, LLVMValueRef *valid) {
  if (reach <= extent)
    return at;
  LLVMValueRef inside = mirage__less_than(e, at, extent);
  *valid = mirage__and(e, *valid, inside);
  return mirage__select(e, inside, at, gpu_i32(&e->gpu, 0));
}

LLVMValueRef mirage__iteration(Emit *e, int32_t loop) {
  if (loop < 0)
    return e->turn ? e->turn : gpu_i32(&e->gpu, 0);
  const BlockLoop *l = &e->block.loops[loop];
  return mirage__add(e, mirage__mul(e, mirage__iteration(e, l->parent), l->range), e->loops[loop].iteration);
}

LLVMBasicBlockRef mirage__begin_if(Emit *e, LLVMValueRef condition) {
  if (!condition)
    return NULL;
  LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "then");
  LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "join");
  LLVMBuildCondBr(e->gpu.builder, condition, then, join);
  LLVMPositionBuilderAtEnd(e->gpu.builder, then);
  return join;
}

void mirage__end_if(Emit *e, LLVMBasicBlockRef join) {
  if (!join)
    return;
  LLVMBuildBr(e->gpu.builder, join);
  LLVMPositionBuilderAtEnd(e->gpu.builder, join);
}

LLVMBasicBlockRef mirage__begin_spin(Emit *e) {
  LLVMBasicBlockRef spin = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "spin");
  LLVMBuildBr(e->gpu.builder, spin);
  LLVMPositionBuilderAtEnd(e->gpu.builder, spin);
  return spin;
}

void mirage__end_spin(Emit *e, LLVMBasicBlockRef spin, LLVMValueRef again) {
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "done");
  LLVMBuildCondBr(e->gpu.builder, again, spin, done);
  LLVMPositionBuilderAtEnd(e->gpu.builder, done);
}

Repeat mirage__begin_repeat(Emit *e, int64_t count) { return mirage__begin_repeat_until(e, gpu_i32(&e->gpu, count)); }

Repeat mirage__begin_repeat_until(Emit *e, LLVMValueRef count) {
  return mirage__begin_repeat_from(e, gpu_i32(&e->gpu, 0), count);
}

Repeat mirage__begin_repeat_from(Emit *e, LLVMValueRef begin, LLVMValueRef end) {
  Repeat repeat = {.count = end};
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->gpu.builder);
  repeat.header = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "repeat");
  LLVMBuildBr(e->gpu.builder, repeat.header);
  LLVMPositionBuilderAtEnd(e->gpu.builder, repeat.header);
  repeat.index = LLVMBuildPhi(e->gpu.builder, e->gpu.i32, "");
  LLVMAddIncoming(repeat.index, &begin, &before, 1);
  return repeat;
}

void mirage__end_repeat(Emit *e, const Repeat *repeat) {
  LLVMValueRef next = LLVMBuildNSWAdd(e->gpu.builder, repeat->index, gpu_i32(&e->gpu, 1), "");
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->gpu.builder);
  LLVMAddIncoming(repeat->index, &next, &latch, 1);
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "done");
  LLVMBuildCondBr(e->gpu.builder, mirage__less(e, next, repeat->count), repeat->header, after);
  LLVMPositionBuilderAtEnd(e->gpu.builder, after);
}

static void run_body(Emit *e, LLVMValueRef item, Body body, void *user) {
  mirage__forget_elements(e);
  body(e, item, user);
  mirage__forget_elements(e);
}

void mirage__for_items(Emit *e, int64_t count, Body body, void *user) {
  int64_t full = count / e->threads, rest = count % e->threads;
  if (full > UNROLL) {
    Repeat repeat = mirage__begin_repeat(e, full);
    run_body(e, mirage__add(e, e->thread, mirage__mul(e, repeat.index, e->threads)), body, user);
    mirage__end_repeat(e, &repeat);
  } else {
    for (int64_t i = 0; i < full; i++)
      run_body(e, mirage__add(e, e->thread, gpu_i32(&e->gpu, i * e->threads)), body, user);
  }
  if (rest) {
    LLVMBasicBlockRef join = mirage__begin_if(e, mirage__less_than(e, e->thread, rest));
    run_body(e, mirage__add(e, e->thread, gpu_i32(&e->gpu, full * e->threads)), body, user);
    mirage__end_if(e, join);
  }
}

void mirage__item_index(Emit *e, const MirageType *tile, uint32_t width, LLVMValueRef item, LLVMValueRef *index) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < tile->rank; d++)
    shape[d] = tile->shape[d];
  if (tile->rank)
    shape[tile->rank - 1] /= width;
  mirage__delinearize(e, item, tile->rank, shape, index);
  if (tile->rank)
    index[tile->rank - 1] = mirage__mul(e, index[tile->rank - 1], width);
}
