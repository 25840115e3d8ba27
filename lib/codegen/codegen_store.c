// codegen_store.c - evaluates a tile element by element into device memory or into a buffer.
//
// Blocks that differ only in grid axes which a store does not name hold the same tile: each writes a share of it.
#include "emit.h"

typedef struct StoreJob {
  MirageValue from;
  const MirageType *tile; // the shape that is walked
  uint32_t width;
  Access access;        // store
  LLVMValueRef first;   // store: this block's first item
  int64_t end;          // store: items of the tile where shares reach beyond them, else 0
  const MirageType *to; // materialize
} StoreJob;

uint32_t mirage__useful_width(int64_t elements, uint32_t width, int32_t threads) {
  while (width > 1 && elements / width < threads)
    width /= 2;
  return width;
}

LLVMTypeRef mirage__packed(Emit *e, uint32_t width, MirageDType dtype) {
  LLVMTypeRef scalar = mirage__gpu_dtype(&e->gpu, dtype);
  return width > 1 ? LLVMVectorType(scalar, width) : scalar;
}

// Pairs of bf16, each of which is the upper half of its f32: one instruction an element, where LLVM makes two of the second.
static void unpack_bf16(Emit *e, LLVMValueRef packed, uint32_t width, LLVMValueRef *out) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef words = LLVMBuildBitCast(b, packed, LLVMVectorType(e->gpu.i32, width / 2), "");
  for (uint32_t i = 0; i < width; i++) {
    LLVMValueRef word = LLVMBuildExtractElement(b, words, gpu_i32(&e->gpu, i / 2), "");
    word = i % 2 ? LLVMBuildAnd(b, word, gpu_i32(&e->gpu, 0xffff0000), "")
                 : LLVMBuildShl(b, word, gpu_i32(&e->gpu, 16), "");
    out[i] = LLVMBuildBitCast(b, word, e->gpu.f32, "");
  }
}

void mirage__unpack(Emit *e, LLVMValueRef packed, uint32_t width, MirageDType dtype, LLVMValueRef *out) {
  if (dtype == MIRAGE_BF16 && width % 2 == 0) {
    unpack_bf16(e, packed, width, out);
    return;
  }
  for (uint32_t i = 0; i < width; i++) {
    LLVMValueRef one = width > 1 ? LLVMBuildExtractElement(e->gpu.builder, packed, gpu_i32(&e->gpu, i), "") : packed;
    out[i] = mirage__gpu_to_f32(&e->gpu, one, dtype);
  }
}

LLVMValueRef mirage__pack(Emit *e, const LLVMValueRef *values, uint32_t width, MirageDType dtype) {
  if (width == 1)
    return mirage__gpu_from_f32(&e->gpu, values[0], dtype);
  LLVMValueRef vector = LLVMGetUndef(mirage__packed(e, width, dtype));
  for (uint32_t i = 0; i < width; i++)
    vector = LLVMBuildInsertElement(e->gpu.builder, vector, mirage__gpu_from_f32(&e->gpu, values[i], dtype),
                                    gpu_i32(&e->gpu, i), "");
  return vector;
}

static void store_item(Emit *e, LLVMValueRef item, void *user) {
  StoreJob *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  item = mirage__add(e, job->first, item);
  LLVMBasicBlockRef inside = mirage__begin_if(e, job->end ? mirage__less_than(e, item, job->end) : NULL);
  mirage__item_index(e, job->tile, job->width, item, index);
  mirage__awaited_element(e, job->from, index, job->width, values);
  mirage__await_peers(e, job->from, job->width, values);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__access_valid(e, &job->access, index));
  mirage__gpu_store_global(&e->gpu, mirage__pack(e, values, job->width, job->access.tensor->dtype),
                           mirage__access_address(e, &job->access, index));
  mirage__end_if(e, join);
  mirage__end_if(e, inside);
}

// How many blocks hold the same tile, and which of them this one is.
static int64_t sharers(Emit *e, const MirageAccessAttrs *attrs, LLVMValueRef *out_number) {
  const MirageCustomAttrs *custom = mirage__block_custom(&e->block);
  int64_t count = 1;
  *out_number = gpu_i32(&e->gpu, 0);
  for (int a = 0; a < 3; a++) {
    if (attrs->grid[a] >= 0)
      continue;
    *out_number = mirage__add(e, *out_number, mirage__mul(e, e->block_id[a], count));
    count *= custom->grid[a];
  }
  return count;
}

static LLVMValueRef cell_address(Emit *e, const LLVMValueRef *index, LLVMValueRef *out_valid, void *user) {
  const Access *access = user;
  *out_valid = mirage__access_valid(e, access, index);
  return mirage__access_address(e, access, index);
}

// Of blocks that hold the same tile the first writes it, where there are several (`number` is not NULL).
static void store_cells(Emit *e, StoreJob *job, MirageValue staged, LLVMValueRef number) {
  LLVMValueRef first = number ? mirage__equals(e, number, 0) : NULL;
  LLVMBasicBlockRef join = mirage__begin_if(e, first);
  if (staged.index)
    mirage__store_staged(e, job->from, staged, &job->access);
  else
    mirage__cells_write(e, job->from, job->access.tensor->dtype, job->access.width, cell_address,
                        mirage__gpu_store_global, &job->access);
  mirage__end_if(e, join);
}

void mirage__emit_store(Emit *e, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  const MirageType *tile = emit_type(e, view.operands[0]);
  mirage__wait_to_store(e);
  mirage__begin_operation(e);
  mirage__will_read(e, view.operands[0]);
  StoreJob job = {.from = view.operands[0], .tile = tile};
  LLVMValueRef number;
  int64_t blocks = sharers(e, &view.attrs->access, &number), elements = mirage_type_elements(tile);
  job.access = mirage__access(e, node, view.operands[1], tile, NULL);
  // What each item of a gathered value costs, whatever its width, is a row's vectors of every member: one warp of wide
  // items is better than several of narrow ones.
  bool gathered = e->block.values[mirage__block_resolve(&e->block, job.from).index].gathered;
  job.width = mirage__useful_width((elements + blocks - 1) / blocks, job.access.width, gathered ? 32 : e->threads);
  if (mirage__in_cells(e, job.from)) {
    store_cells(e, &job, mirage__block_staged(&e->block, &view), blocks > 1 ? number : NULL);
    return;
  }
  int64_t items = elements / job.width, each = (items + blocks - 1) / blocks;
  job.first = mirage__mul(e, number, each);
  job.end = each * blocks > items ? items : 0;
  mirage__for_items(e, each, store_item, &job);
}

static void materialize_item(Emit *e, LLVMValueRef item, void *user) {
  StoreJob *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  mirage__item_index(e, job->tile, job->width, item, index);
  mirage__awaited_element(e, job->from, index, job->width, values);
  mirage__await_peers(e, job->from, job->width, values);
  mirage__tile_store(e, job->to, NULL, index, job->width, values);
}

void mirage__materialize(Emit *e, MirageValue from, MirageValue to) {
  const MirageType *type = emit_type(e, to);
  mirage__begin_operation(e);
  bool self = from.index == to.index; // an inline value into its own buffer: its operands are what is read
  if (self) {
    MirageNodeView def = mirage__block_def(&e->block, from);
    for (uint32_t i = 0; i < def.num_operands; i++)
      mirage__will_read(e, def.operands[i]);
  } else {
    mirage__will_read(e, from);
  }
  mirage__will_write(e, to);
  StoreJob job = {.from = from, .tile = type, .to = type};
  job.width = mirage__useful_width(mirage_type_elements(type), mirage__tile_width(type), e->threads);
  if (self)
    e->block.values[from.index].shared = false; // compute it, do not read it
  if (mirage__in_cells(e, from))
    mirage__cells_to_buffer(e, from, to);
  else
    mirage__for_items(e, mirage_type_elements(type) / job.width, materialize_item, &job);
  if (self)
    e->block.values[from.index].shared = true;
}
