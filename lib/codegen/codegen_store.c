// codegen_store.c - evaluates a tile element by element into device memory or into a buffer.
#include "emit.h"

typedef struct StoreJob {
  MirageValue from;
  const MirageType *tile; // the shape that is walked
  uint32_t width;
  Access access;        // store
  const MirageType *to; // materialize
} StoreJob;

// Wide pieces, but not so wide that threads go idle.
static uint32_t useful_width(const Emit *e, int64_t elements, uint32_t width) {
  while (width > 1 && elements / width < e->threads)
    width /= 2;
  return width;
}

static void store_item(Emit *e, LLVMValueRef item, void *user) {
  StoreJob *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  mirage__item_index(e, job->tile, job->width, item, index);
  mirage__element(e, job->from, index, job->width, values);
  MirageDType dtype = job->access.tensor->dtype;
  LLVMValueRef value = mirage__gpu_from_f32(&e->gpu, values[0], dtype);
  if (job->width > 1) {
    LLVMValueRef vector = LLVMGetUndef(LLVMVectorType(mirage__gpu_dtype(&e->gpu, dtype), job->width));
    for (uint32_t i = 0; i < job->width; ++i)
      vector = LLVMBuildInsertElement(e->gpu.builder, vector, mirage__gpu_from_f32(&e->gpu, values[i], dtype),
                                      gpu_i32(&e->gpu, i), "");
    value = vector;
  }
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__access_valid(e, &job->access, index));
  mirage__gpu_store_global(&e->gpu, value, mirage__access_address(e, &job->access, index));
  mirage__end_if(e, join);
}

// Blocks that differ only in an axis which the store does not name hold the same tile: the first of them writes it.
static LLVMValueRef writes_it(Emit *e, const MirageAccessAttrs *attrs) {
  const MirageCustomAttrs *custom = &mirage_ugraph_node(e->block.graph, e->block.custom).attrs->custom;
  LLVMValueRef mine = NULL;
  for (int a = 0; a < 3; ++a)
    if (attrs->grid[a] < 0 && custom->grid[a] > 1)
      mine = mirage__and(e, mine, LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->block_id[a], gpu_i32(&e->gpu, 0), ""));
  return mine;
}

void mirage__emit_store(Emit *e, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  const MirageType *tile = emit_type(e, view.operands[0]);
  mirage__begin_operation(e);
  mirage__will_read(e, view.operands[0]);
  StoreJob job = {.from = view.operands[0], .tile = tile};
  LLVMBasicBlockRef join = mirage__begin_if(e, writes_it(e, &view.attrs->access));
  job.access = mirage__access(e, node, view.operands[1], tile, NULL);
  job.width = useful_width(e, mirage_type_elements(tile), job.access.width);
  mirage__for_items(e, mirage_type_elements(tile) / job.width, store_item, &job);
  mirage__end_if(e, join);
}

static void materialize_item(Emit *e, LLVMValueRef item, void *user) {
  StoreJob *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  mirage__item_index(e, job->tile, job->width, item, index);
  mirage__element(e, job->from, index, job->width, values);
  mirage__tile_store(e, job->to, NULL, index, job->width, values);
}

void mirage__materialize(Emit *e, MirageValue from, MirageValue to) {
  const MirageType *type = emit_type(e, to);
  mirage__begin_operation(e);
  bool self = from.index == to.index; // an inline value into its own buffer: its operands are what is read
  if (self) {
    MirageNodeView def = mirage__block_def(&e->block, from);
    for (uint32_t i = 0; i < def.num_operands; ++i)
      mirage__will_read(e, def.operands[i]);
  } else {
    mirage__will_read(e, from);
  }
  mirage__will_write(e, to);
  StoreJob job = {.from = from, .tile = type, .to = type};
  job.width = useful_width(e, mirage_type_elements(type), mirage__tile_width(type));
  if (self)
    e->block.values[from.index].shared = false; // compute it, do not read it
  mirage__for_items(e, mirage_type_elements(type) / job.width, materialize_item, &job);
  if (self)
    e->block.values[from.index].shared = true;
}
