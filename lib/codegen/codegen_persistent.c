// codegen_persistent.c - blocks that take tiles of the grid in turn, instead of a block for each tile.
//
//     cluster = number of this block's cluster in the launch
//     do {  the place in the grid of tile number `cluster`;  the block graph;  cluster += clusters of the launch
//     } while (cluster < clusters of the grid)
//
// A producer and its workers each go through such a loop of their own, so that copies for the next tile are issued while the
// workers still store this one. Stages and phases of mbarriers go on from tile to tile, as in a loop around the block
// graph: Emit.turn is its iteration.
#include "emit.h"

static int64_t clusters_of(const Emit *e, const int64_t *grid) {
  return grid[0] * grid[1] * grid[2] / mirage__block_cluster(&e->block);
}

// Where in the grid a cluster's blocks are, by the number of the cluster; along each axis the block keeps its place in it.
static void place(Emit *e, LLVMValueRef number) {
  const MirageCustomAttrs *custom = mirage__block_custom(&e->block);
  int64_t shape[3];
  LLVMValueRef index[3];
  for (int a = 0; a < 3; a++)
    shape[2 - a] = custom->grid[a] / e->block.cluster[a];
  mirage__delinearize(e, number, 3, shape, index);
  for (int a = 0; a < 3; a++) {
    LLVMValueRef within = mirage__mod(e, e->launched[a], e->block.cluster[a]);
    e->block_id[a] = mirage__add(e, mirage__mul(e, index[2 - a], e->block.cluster[a]), within);
  }
  mirage__order_tiles(e);
}

Tiles mirage__begin_tiles(Emit *e) {
  Tiles tiles = {.header = NULL};
  if (!e->block.persistent)
    return tiles;
  LLVMValueRef zero = gpu_i32(&e->gpu, 0), first = mirage__div(e, e->launched[0], e->block.cluster[0]);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->gpu.builder);
  tiles.header = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "tile");
  LLVMBuildBr(e->gpu.builder, tiles.header);
  LLVMPositionBuilderAtEnd(e->gpu.builder, tiles.header);
  tiles.turn = LLVMBuildPhi(e->gpu.builder, e->gpu.i32, "");
  tiles.number = LLVMBuildPhi(e->gpu.builder, e->gpu.i32, "");
  LLVMAddIncoming(tiles.turn, &zero, &before, 1);
  LLVMAddIncoming(tiles.number, &first, &before, 1);
  mirage__forget_elements(e);
  e->turn = tiles.turn;
  place(e, tiles.number);
  return tiles;
}

void mirage__end_tiles(Emit *e, const Tiles *tiles) {
  if (!tiles->header)
    return;
  int64_t launched = e->block.persistent / mirage__block_cluster(&e->block);
  LLVMValueRef turn = mirage__add(e, tiles->turn, gpu_i32(&e->gpu, 1));
  LLVMValueRef number = mirage__add(e, tiles->number, gpu_i32(&e->gpu, launched));
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->gpu.builder);
  LLVMAddIncoming(tiles->turn, &turn, &latch, 1);
  LLVMAddIncoming(tiles->number, &number, &latch, 1);
  LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "done");
  LLVMValueRef more = mirage__less_than(e, number, clusters_of(e, mirage__block_custom(&e->block)->grid));
  LLVMBuildCondBr(e->gpu.builder, more, tiles->header, after);
  LLVMPositionBuilderAtEnd(e->gpu.builder, after);
  mirage__forget_elements(e);
  e->turn = NULL;
}
