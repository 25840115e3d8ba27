// search_build_tail.c - what a candidate computes of the tile that reaches past the end of the loop's axis.
//
// Its elements there become bottom, by their index: which part of the axis a block and an iteration have is known, so it takes
// no memory to say which elements of it are there. Nothing else is loaded for it, and loads keep filling with zeros.
//
// Example:   scores [64, 64] of 1000 keys in 16 iterations:
//              %at = iota {dim = 1, loop = [64]} : tile<1x64xi32>    %end = constant 1000.0 : tile<1x1xi32>
//              %inside = less %at, %end                              %t = mask %inside, %scores
#include "search/schedule/search_builder.h"
#include "search/schedule/search_tails.h"

// Indices along dimension d of the tile; `grid`, `loop`: how far apart those of neighbouring blocks and iterations are.
static MirageValue indices(Builder *builder, const MirageType *tile, uint32_t d, int64_t grid, int64_t loop) {
  int64_t extents[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  extents[d] = tile->shape[d];
  MirageAttrs attrs = {.iota = {.type = mirage_type_tile(MIRAGE_I32, tile->rank, extents), .dim = (int32_t)d}};
  if (builder->split_axis >= 0)
    attrs.iota.grid[builder->split_axis] = grid;
  if (mirage__build_has_loop(builder))
    attrs.iota.loop[0] = loop;
  return mirage_ugraph_apply(builder->graph, MIRAGE_OP_IOTA, 0, NULL, &attrs);
}

static MirageValue is_less(Builder *builder, MirageValue at, uint32_t rank, int64_t end) {
  const int64_t one[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  MirageValue limit = mirage_ugraph_constant(builder->graph, mirage_type_tile(MIRAGE_I32, rank, one), (double)end);
  return mirage_ugraph_apply(builder->graph, MIRAGE_OP_LESS, 2, (MirageValue[]){at, limit}, NULL);
}

// The end of the axis, and that of the block's chunk, each where a tile may reach beyond it.
static MirageValue inside(Builder *builder, const MirageType *tile, const MirageAccessAttrs *access, uint32_t d) {
  const SearchSchedule *schedule = builder->schedule;
  uint32_t axis = builder->structure->loop_axis, rank = tile->rank;
  int64_t extent = builder->program->axes[axis].extent, chunks[3];
  const int64_t parts[] = {schedule->split, schedule->parts[axis]};
  mirage_access_chunks(access, d, extent, 2, parts, chunks);
  MirageValue by_end = {0}, by_chunk = {0};
  if (chunks[1] * parts[0] != extent || chunks[2] * parts[1] != chunks[1])
    by_end = is_less(builder, indices(builder, tile, d, chunks[1], chunks[2]), rank, extent);
  if (parts[0] > 1 && chunks[2] * parts[1] != chunks[1])
    by_chunk = is_less(builder, indices(builder, tile, d, 0, chunks[2]), rank, chunks[1]);
  if (!by_end.index || !by_chunk.index)
    return by_end.index ? by_end : by_chunk;
  return mirage_ugraph_apply(builder->graph, MIRAGE_OP_AND, 2, (MirageValue[]){by_end, by_chunk}, NULL);
}

MirageValue mirage__build_masked(Builder *builder, uint32_t node) {
  const SearchNode *of = &builder->structure->nodes[node];
  MirageValue value = builder->values[node];
  const MirageType *tile = mirage_ugraph_type(builder->graph, value);
  if (!tile)
    return value;
  MirageType type = *tile;
  MirageAccessAttrs access = mirage__build_access(builder, of);
  uint32_t d = mirage__search_loop_dim(builder->structure, of) - (SEARCH_RANK - of->rank);
  return mirage_ugraph_apply(builder->graph, MIRAGE_OP_MASK, 2,
                             (MirageValue[]){inside(builder, &type, &access, d), value}, NULL);
}
