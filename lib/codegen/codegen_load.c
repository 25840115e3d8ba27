// codegen_load.c - copies a tile from device memory into its buffer in shared memory.
//
// Asynchronous (cp.async of 16, 8 or 4 bytes) wherever alignment allows; masked pieces copy zero bytes and let the
// hardware write zeros. Tiles that it cannot serve - odd widths, a fill other than zero, i4, which is a byte each in a
// tile - go through registers, in the same place of the pipeline.
#include "emit.h"

typedef struct LoadJob {
  Access access;
  const MirageType *tile;
  LLVMValueRef copy;
  uint32_t width; // elements per item
  bool async;
} LoadJob;

static MiragePrimitive copy_primitive(uint32_t bytes, bool masked) {
  switch (bytes) {
  case 16:
    return masked ? MIRAGE_PRIM_CP_ASYNC_16_FILL : MIRAGE_PRIM_CP_ASYNC_16;
  case 8:
    return masked ? MIRAGE_PRIM_CP_ASYNC_8_FILL : MIRAGE_PRIM_CP_ASYNC_8;
  default:
    return masked ? MIRAGE_PRIM_CP_ASYNC_4_FILL : MIRAGE_PRIM_CP_ASYNC_4;
  }
}

static void copy_item(Emit *e, LLVMValueRef item, void *user) {
  const LoadJob *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__item_index(e, job->tile, job->width, item, index);
  if (!job->async) {
    LLVMValueRef values[MAX_WIDTH];
    mirage__access_read(e, &job->access, index, job->width, values);
    mirage__tile_store(e, job->tile, job->copy, index, job->width, values);
    return;
  }
  uint32_t bytes = job->width * mirage_dtype_bytes(job->tile->dtype);
  LLVMValueRef to = mirage__tile_address(e, job->tile, job->copy, index);
  LLVMValueRef from = mirage__access_address(e, &job->access, index);
  LLVMValueRef valid = mirage__access_valid(e, &job->access, index);
  LLVMValueRef operands[3] = {to, from, NULL};
  if (valid) {
    operands[1] = mirage__select(e, valid, from, job->access.base);
    operands[2] = mirage__select(e, valid, gpu_i32(&e->gpu, bytes), gpu_i32(&e->gpu, 0));
  }
  mirage__gpu_emit(&e->gpu, copy_primitive(bytes, valid != NULL), operands);
}

void mirage__issue_load(Emit *e, MirageNode node, LLVMValueRef iteration, LLVMValueRef copy) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  const MirageType *tile = emit_type(e, view.first_result);
  LoadJob job = {.access = mirage__access(e, node, view.operands[0], tile, iteration), .tile = tile, .copy = copy};
  uint32_t tile_width = mirage__tile_width(tile), bytes = mirage_dtype_bytes(tile->dtype);
  job.width = job.access.width < tile_width ? job.access.width : tile_width;
  job.async = mirage_dtype_bits(tile->dtype) >= 8 && job.width * bytes >= 4 &&
              !(job.access.masked && job.access.fill != MIRAGE_FILL_ZERO);
  uint32_t around = e->gpu.op;
  e->gpu.op = node.index;
  mirage__for_items(e, mirage_type_elements(tile) / job.width, copy_item, &job);
  e->gpu.op = around;
}
