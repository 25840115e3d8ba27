// codegen_shared.c - buffers in shared memory: addresses, element access, and the barriers between threads.
//
// Hazards: every access of the block to shared memory since the last barrier is noted by its byte range. An access that
//          meets an earlier one, with a write on either side, is preceded by a barrier. Elements that a thread writes
//          and reads back itself are not told apart: one barrier too many is cheap, one too few is not. Accesses of one
//          operation (between two mirage__begin_operation) do not meet each other: an operation whose own threads
//          exchange data puts its barriers itself.
// Loops:   the body starts behind a barrier (codegen_block.c), so hazards never cross from one iteration to the next.
#include "emit.h"
#include "host.h"

#include <string.h>

enum { LINE = 128 };

// How many elements position `at` of dimension `i` lies behind its start.
static LLVMValueRef along_dim(Emit *e, const MirageType *type, uint32_t i, LLVMValueRef at) {
  const MirageLayout *layout = &type->layout;
  if (i + 1 < type->rank || !layout->panel || layout->panel >= type->shape[i])
    return mirage__mul(e, at, layout->strides[i]);
  LLVMValueRef panel = mirage__mul(e, mirage__div(e, at, layout->panel), mirage__panel_rows(type) * layout->panel);
  return mirage__add(e, panel, mirage__mod(e, at, layout->panel));
}

LLVMValueRef mirage__tile_address(Emit *e, const MirageType *type, LLVMValueRef copy, const LLVMValueRef *index) {
  const MirageLayout *layout = &type->layout;
  int64_t bytes = mirage_dtype_bytes(type->dtype);
  LLVMValueRef linear = gpu_i32(&e->gpu, 0);
  for (uint32_t i = 0; i < type->rank; i++)
    linear = mirage__add(e, linear, along_dim(e, type, i, index[i]));
  linear = mirage__mul(e, linear, bytes);
  if (layout->swizzle && type->rank >= 2) { // XOR of the 16-byte chunk with the row, or the line that it lies in
    int64_t row_bytes = layout->strides[type->rank - 2] * bytes, rows_of_line = row_bytes < LINE ? LINE / row_bytes : 1;
    LLVMValueRef row = index[type->rank - 2];
    if (mirage__gpu_fault(&e->gpu, MIRAGE_FAULT_SKEW_SWIZZLE))
      row = mirage__add(e, row, gpu_i32(&e->gpu, rows_of_line));
    row = mirage__div(e, row, rows_of_line);
    row = mirage__mod(e, row, (int64_t)1 << layout->swizzle);
    linear = LLVMBuildXor(e->gpu.builder, linear, mirage__mul(e, row, 16), "");
  }
  if (copy)
    linear = mirage__add(e, linear, mirage__mul(e, copy, mirage__buffer_bytes(type)));
  linear = mirage__add(e, linear, gpu_i32(&e->gpu, layout->offset));
  return mirage__at(e, e->shared, linear);
}

uint32_t mirage__tile_width(const MirageType *type) {
  if (type->rank == 0 || type->layout.strides[type->rank - 1] != 1)
    return 1;
  uint32_t width = 16 / mirage_dtype_bytes(type->dtype);
  width = width > MAX_WIDTH ? MAX_WIDTH : width;
  for (uint32_t i = 0; i < type->rank; i++) {
    int64_t step = i + 1 == type->rank ? mirage__panel_width(type) : type->shape[i] > 1 ? type->layout.strides[i] : 0;
    while (step % width)
      width /= 2;
  }
  return width;
}

void mirage__tile_load(Emit *e, const MirageType *type, LLVMValueRef copy, const LLVMValueRef *index, uint32_t width,
                       LLVMValueRef *out) {
  uint32_t piece = mirage__tile_width(type);
  piece = piece > width ? width : piece;
  for (uint32_t at = 0; at < width; at += piece) {
    LLVMValueRef here[MIRAGE_MAX_RANK];
    mirage__along_row(e, type->rank, index, at, here);
    LLVMTypeRef packed = mirage__packed(e, piece, type->dtype);
    LLVMValueRef loaded = mirage__gpu_load_shared(&e->gpu, packed, mirage__tile_address(e, type, copy, here));
    mirage__unpack(e, loaded, piece, type->dtype, out + at);
  }
}

void mirage__tile_store(Emit *e, const MirageType *type, LLVMValueRef copy, const LLVMValueRef *index, uint32_t width,
                        const LLVMValueRef *values) {
  uint32_t piece = mirage__tile_width(type);
  piece = piece > width ? width : piece;
  for (uint32_t at = 0; at < width; at += piece) {
    LLVMValueRef here[MIRAGE_MAX_RANK];
    mirage__along_row(e, type->rank, index, at, here);
    LLVMValueRef address = mirage__tile_address(e, type, copy, here);
    mirage__gpu_store_shared(&e->gpu, mirage__pack(e, values + at, piece, type->dtype), address);
  }
}

LLVMValueRef mirage__current_copy(Emit *e, MirageValue value) {
  const BlockValue *v = &e->block.values[value.index];
  if (v->loop < 0 || !v->def.index || mirage_ugraph_node(e->block.graph, v->def).op != MIRAGE_OP_LOAD)
    return NULL;
  return e->loops[v->loop].copy;
}

// ----------------------------------------------------------------------------------------------------------- hazards

void mirage__forget_hazards(Emit *e) { e->num_hazards = e->operation = 0; }

void mirage__begin_operation(Emit *e) { e->operation = e->num_hazards; }

void mirage__barrier(Emit *e) {
  if (e->copies_pending)
    GPU(&e->gpu, CP_ASYNC_WAIT, gpu_i32(&e->gpu, 0));
  e->copies_pending = false;
  mirage__await_landing(e);
  if (e->block.fences)
    GPU0(&e->gpu, FENCE_ASYNC_SHARED);
  if (e->barrier)
    GPU(&e->gpu, BARRIER_NAMED, mirage__group_plus(e, e->barrier), gpu_i32(&e->gpu, e->threads));
  else
    GPU(&e->gpu, BARRIER, gpu_i32(&e->gpu, 0));
  e->changes++;
  mirage__forget_hazards(e);
  mirage__forget_elements(e);
}

// Tiles that a loop gives back by mbarriers.
static bool is_given_back(const Emit *e, MirageValue value) {
  const Channel *channel = mirage__block_channel_of(&e->block, value);
  return channel && channel->free.kind == SIGNAL_MBARRIER;
}

static void touch(Emit *e, MirageValue value, bool write) {
  if (is_given_back(e, value))
    return;
  const MirageType *type = emit_type(e, value);
  e->changes += write;
  const Channel *channel = mirage__block_channel_of(&e->block, value);
  if (channel && channel->loop < 0 && channel->full.kind == SIGNAL_MBARRIER && !write)
    mirage__await_landing(e);
  int64_t begin = type->layout.offset, end = mirage__buffer_end(type);
  bool met = e->num_hazards == MAX_HAZARDS;
  for (uint32_t i = 0; i < e->operation; i++) {
    const Hazard *h = &e->hazards[i];
    met |= (h->write || write) && h->begin < end && begin < h->end;
  }
  if (met) { // the operation's own accesses come after the barrier: keep them
    uint32_t own = e->num_hazards - e->operation;
    Hazard *keep = e->hazards + e->operation;
    mirage__barrier(e);
    memmove(e->hazards, keep, own * sizeof *keep);
    e->num_hazards = own;
  }
  if (e->num_hazards < MAX_HAZARDS)
    e->hazards[e->num_hazards++] = (Hazard){begin, end, write};
  else
    mirage__emit_fail(e, NULL, MIRAGE_LIMIT, "codegen: one operation touches more than %d buffers", MAX_HAZARDS);
}

static void read_leaf(void *user, MirageValue leaf) {
  Emit *e = user;
  if (emit_is_shared(e, leaf))
    touch(e, leaf, false);
}

void mirage__will_read(Emit *e, MirageValue value) { mirage__block_leaves(&e->block, value, read_leaf, e); }
void mirage__will_read_buffer(Emit *e, MirageValue value) { touch(e, value, false); }
void mirage__copied_by_engine(Emit *e) { e->hazards[e->num_hazards - 1].write = false; }
void mirage__will_write(Emit *e, MirageValue value) { touch(e, value, true); }

void mirage__note_read(Emit *e, MirageValue value) {
  const MirageType *type = emit_type(e, value);
  int64_t begin = type->layout.offset, end = mirage__buffer_end(type);
  if (e->num_hazards < MAX_HAZARDS)
    e->hazards[e->num_hazards++] = (Hazard){begin, end, false};
  else
    mirage__barrier(e);
}
