// codegen_persistent.c - blocks that take tiles of the grid in turn, instead of a block for each tile.
//
//     cluster = number of this block's cluster in the launch
//     do {  the place in the grid of tile number `cluster`;  the block graph;  cluster += clusters of the launch
//     } while (cluster < clusters of the grid)
//
// A block that streams rows of weights (codegen_rows.c) loads the first steps of its next tile before it sums and stores this one's.
//
// A producer and its workers each go through such a loop of their own, so that copies for the next tile are issued while the
// workers still store this one. Stages and phases of mbarriers go on from tile to tile, as in a loop around the block
// graph: Emit.turn is its iteration.
//
// Groups of workers that take these tiles in turn (overlap = tiles) each begin with the tile of their number and pass over those
// of the others. The producer knows nothing of it: tiles come in order. A group waits for the stages of its tile when the one
// before it has got its last ones - a wait for the phase of an mbarrier after the next would not hold -, and multiplies while that
// one stores.
#include "emit.h"

#include <string.h>

static int64_t clusters_of(const Emit *e, const int64_t *grid) {
  return grid[0] * grid[1] * grid[2] / mirage__block_cluster(&e->block);
}

static int64_t launched_clusters(const Emit *e) { return e->block.persistent / mirage__block_cluster(&e->block); }

static LLVMValueRef is_tile(Emit *e, LLVMValueRef number) {
  return mirage__less_than(e, number, clusters_of(e, mirage__block_custom(&e->block)->grid));
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

void mirage__place_first_tile(Emit *e) { place(e, mirage__div(e, e->launched[0], e->block.cluster[0])); }

// What a group needs of its threads' places is worked out for each tile, and once more for what it does behind the tile's loop. It would
// else be kept from before the tiles, in registers for which accumulators leave no room.
static void place_threads(Emit *e) {
  if (!e->group)
    return;
  e->thread = GPU(&e->gpu, UNKNOWN, e->thread);
  e->lane = mirage__mod(e, e->thread, 32);
}

Tiles mirage__begin_tiles(Emit *e) {
  Tiles tiles = {.thread = e->thread, .lane = e->lane};
  if (!e->block.persistent)
    return tiles;
  LLVMValueRef turn = mirage__group_plus(e, 0), first = mirage__div(e, e->launched[0], e->block.cluster[0]);
  tiles.after = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "done");
  tiles.header = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "tile");
  if (e->group) { // the first group has a tile
    first = mirage__add(e, first, mirage__mul(e, e->group, launched_clusters(e)));
    LLVMBuildCondBr(e->gpu.builder, is_tile(e, first), tiles.header, tiles.after);
  } else {
    LLVMBuildBr(e->gpu.builder, tiles.header);
  }
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->gpu.builder);
  LLVMPositionBuilderAtEnd(e->gpu.builder, tiles.header);
  tiles.turn = LLVMBuildPhi(e->gpu.builder, e->gpu.i32, "");
  tiles.number = LLVMBuildPhi(e->gpu.builder, e->gpu.i32, "");
  LLVMAddIncoming(tiles.turn, &turn, &before, 1);
  LLVMAddIncoming(tiles.number, &first, &before, 1);
  mirage__forget_elements(e);
  e->turn = tiles.turn;
  e->tile = tiles.number;
  place_threads(e);
  place(e, tiles.number);
  return tiles;
}

void mirage__end_tiles(Emit *e, const Tiles *tiles) {
  if (!tiles->header)
    return;
  int32_t step = e->group ? mirage__team_groups(&e->block.team) : 1;
  LLVMValueRef turn = mirage__add(e, tiles->turn, gpu_i32(&e->gpu, step));
  LLVMValueRef number = mirage__add(e, tiles->number, gpu_i32(&e->gpu, step * launched_clusters(e)));
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->gpu.builder);
  LLVMAddIncoming(tiles->turn, &turn, &latch, 1);
  LLVMAddIncoming(tiles->number, &number, &latch, 1);
  LLVMBuildCondBr(e->gpu.builder, is_tile(e, number), tiles->header, tiles->after);
  LLVMPositionBuilderAtEnd(e->gpu.builder, tiles->after);
  mirage__forget_elements(e);
  e->turn = e->tile = NULL;
  e->thread = tiles->thread;
  e->lane = tiles->lane;
}

NextTile mirage__begin_next_tile(Emit *e) {
  NextTile next;
  LLVMValueRef number = mirage__add(e, e->tile, gpu_i32(&e->gpu, launched_clusters(e)));
  next.join = mirage__begin_if(e, is_tile(e, number));
  memcpy(next.block_id, e->block_id, sizeof next.block_id);
  mirage__forget_elements(e);
  place(e, number);
  return next;
}

void mirage__end_next_tile(Emit *e, const NextTile *next) {
  memcpy(e->block_id, next->block_id, sizeof e->block_id);
  mirage__forget_elements(e);
  mirage__end_if(e, next->join);
}

// The first loop of a tile, or the last one.
static bool is_outer_end(const Emit *e, int32_t loop, bool last) {
  int32_t end = -1;
  for (int32_t l = 0; l < e->block.num_loops; l++)
    if (e->block.loops[l].parent < 0 && (end < 0 || last))
      end = l;
  return e->group && loop == end;
}

// Barriers behind those at which each group meets alone.
static LLVMValueRef stages_barrier(Emit *e, int32_t behind) {
  int32_t groups = mirage__team_groups(&e->block.team);
  LLVMValueRef group = mirage__mod(e, mirage__group_plus(e, behind), groups);
  return mirage__add(e, group, gpu_i32(&e->gpu, CONSUMERS_BARRIER + groups));
}

void mirage__await_stages(Emit *e, int32_t loop) {
  if (!is_outer_end(e, loop, false))
    return;
  LLVMBasicBlockRef join =
      mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntSGT, e->turn, gpu_i32(&e->gpu, 0), ""));
  GPU(&e->gpu, BARRIER_NAMED, stages_barrier(e, 0), gpu_i32(&e->gpu, 2 * e->threads));
  mirage__end_if(e, join);
}

void mirage__pass_stages(Emit *e, int32_t loop) {
  if (!is_outer_end(e, loop, true))
    return;
  LLVMValueRef next = mirage__add(e, e->tile, gpu_i32(&e->gpu, launched_clusters(e)));
  LLVMBasicBlockRef join = mirage__begin_if(e, is_tile(e, next));
  GPU(&e->gpu, BARRIER_NAMED_ARRIVE, stages_barrier(e, 1), gpu_i32(&e->gpu, 2 * e->threads));
  mirage__end_if(e, join);
  place_threads(e);
}
