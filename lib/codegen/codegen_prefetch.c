// codegen_prefetch.c - tiles that are asked for before anybody loads them: their lines come into L2.
//
// Nothing depends on when they arrive, or on whether they do. Who asks: a kernel that starts early, for its first tiles (codegen_early.c);
// and workers that a producer feeds, at the beginning of a tile of the grid, for what they read at its end. Example: a residual
// that is added to a product; with nobody to ask for it, it would come out of device memory when all else is done.
//
// When a kernel begins, all its blocks wait for device memory, and what is asked for then comes before tiles of the loop. So blocks
// that take tiles in turn ask from their second one on. Those whose products have swapped operands ask in any case: they gain by it
// (measured; test/bench/history/2026-11-28.md).
#include "emit.h"

// The lines of a load's tiles, iteration by iteration of its loop.
typedef struct Lines {
  const BlockLoad *load;
  MirageValue tensor;
  const MirageType *tile;
  uint32_t along;                     // the dimension whose elements follow each other in memory
  int64_t width;                      // elements of a line
  int64_t shape[1 + MIRAGE_MAX_RANK]; // iterations; then the tile's, in lines along that dimension
} Lines;

static int64_t count_lines(const Lines *lines) {
  int64_t count = 1;
  for (uint32_t d = 0; d < lines->tile->rank; d++)
    count *= lines->shape[1 + d];
  return count;
}

static Lines lines_of(Emit *e, const BlockLoad *load) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, load->node);
  const MirageType *tensor = emit_type(e, mirage__block_resolve(&e->block, view.operands[0]));
  Lines lines = {.load = load, .tensor = view.operands[0], .tile = emit_type(e, load->tile), .width = 1};
  uint32_t rank = lines.tile->rank;
  int64_t pitch[MIRAGE_MAX_RANK];
  mirage__access_pitches(tensor, &view.attrs->access, pitch);
  lines.shape[0] = load->loop < 0 ? 1 : e->block.loops[load->loop].range;
  for (uint32_t d = 0; d < rank; d++) {
    lines.shape[1 + d] = lines.tile->shape[d];
    if (lines.tile->shape[d] > 1 && pitch[d] == mirage_dtype_bytes(tensor->dtype)) {
      lines.along = d;
      lines.width = MIRAGE_LINE_BYTES * 8 / mirage_dtype_bits(tensor->dtype);
    }
  }
  if (rank > 0)
    lines.shape[1 + lines.along] = (lines.tile->shape[lines.along] + lines.width - 1) / lines.width;
  return lines;
}

static void prefetch_line(Emit *e, LLVMValueRef item, void *user) {
  const Lines *lines = user;
  LLVMValueRef index[1 + MIRAGE_MAX_RANK];
  mirage__delinearize(e, item, 1 + lines->tile->rank, lines->shape, index);
  Access access = mirage__access(e, lines->load->node, lines->tensor, lines->tile, index[0]);
  if (lines->tile->rank > 0)
    index[1 + lines->along] = mirage__mul(e, index[1 + lines->along], lines->width);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__access_valid(e, &access, index + 1));
  GPU(&e->gpu, PREFETCH, mirage__access_address(e, &access, index + 1));
  mirage__end_if(e, join);
}

int64_t mirage__tile_lines(Emit *e, const BlockLoad *load) {
  Lines lines = lines_of(e, load);
  return count_lines(&lines);
}

int64_t mirage__tile_line_bytes(Emit *e, const BlockLoad *load) {
  Lines lines = lines_of(e, load);
  int64_t width = lines.tile->rank > 0 ? lines.tile->shape[lines.along] : 1;
  width = width < lines.width ? width : lines.width;
  return (width * mirage_dtype_bits(emit_type(e, mirage__block_resolve(&e->block, lines.tensor))->dtype) + 7) / 8;
}

void mirage__prefetch_tiles(Emit *e, const BlockLoad *load, int64_t count) {
  Lines lines = lines_of(e, load);
  int64_t all = lines.shape[0] * count_lines(&lines);
  uint32_t op = e->gpu.op;
  e->gpu.op = load->node.index;
  if (count > 0)
    mirage__for_items(e, count < all ? count : all, prefetch_line, &lines);
  e->gpu.op = op;
}

static bool takes(const Block *block, const MirageNodeView *view, MirageValue tile) {
  for (uint32_t i = 0; i < view->num_operands; i++)
    if (mirage__block_resolve(block, view->operands[i]).index == tile.index)
      return true;
  return false;
}

// Threads read such a tile where they use it, wherever its load stands.
static bool is_read_at_end(const Block *block, const BlockLoad *load) {
  bool behind = false, read = false;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    bool inside = block->steps[s].loop >= 0;
    read |= behind && !inside && takes(block, &view, load->tile);
    behind |= inside;
  }
  return read && load->loop < 0 && load->by == BY_READER;
}

static void prefetch_ends(Emit *e) {
  for (uint32_t i = 0; i < e->block.num_loads; i++)
    if (is_read_at_end(&e->block, &e->block.loads[i]))
      mirage__prefetch_tiles(e, &e->block.loads[i], mirage__tile_lines(e, &e->block.loads[i]));
}

void mirage__prefetch_ends(Emit *e) {
  if (e->block.team.swap && e->block.num_meetings == 0) {
    prefetch_ends(e);
  } else if (e->block.persistent) {
    LLVMValueRef later = LLVMBuildICmp(e->gpu.builder, LLVMIntSGT, e->turn, gpu_i32(&e->gpu, 0), "");
    LLVMBasicBlockRef join = mirage__begin_if(e, later);
    prefetch_ends(e);
    mirage__end_if(e, join);
  }
}
