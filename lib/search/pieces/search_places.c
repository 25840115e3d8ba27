// search_places.c - the places that candidates have, and who gives one up.
//
// A GPU knows better than the cost model which candidate is fastest, if it is among them. So when one more wants a place, copies go first, which
// differ in algebra or iterations alone; then what is behind the best, but for the last of its way; then the slowest of the way that has
// most places.
//
// Example: a gated product of one row. Swapped operands on 64 blocks, 18.4 us predicted, in five forms of the same sum; a stream by 128
// blocks, 18.8; cuts into two and three kernels, 18.6 to 21. The third to fifth copy go, then cuts above 19.3 of which there is another.
#include "search/pieces/search_pieces.h"
#include "search/program/search_program.h"
#include <math.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { OF_ONE_SHAPE = 2 };         // so many µGraphs with the same grids are kept, where others want their places
static const double behind = 1.05; // times the best

// How a µGraph combines what blocks have, in how many kernels, and whether products are swapped: what a model of costs compares worst.
static uint64_t way_of(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint64_t kernels = mirage__search_count_kernels(graph), cluster = 0, grid = 0, swap = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView kernel = mirage_ugraph_node(graph, body.nodes[i]);
    if (kernel.op != MIRAGE_OP_CUSTOM)
      continue;
    MirageRegionView block = mirage_ugraph_region(graph, kernel.region);
    swap |= search_kernel_swaps(&kernel.attrs->custom);
    for (uint32_t k = 0; k < block.num_nodes; k++) {
      MirageOp op = mirage_ugraph_node(graph, block.nodes[k]).op;
      cluster |= op == MIRAGE_OP_CLUSTER_SUM || op == MIRAGE_OP_CLUSTER_MAX;
      grid |= op == MIRAGE_OP_GRID_SUM || op == MIRAGE_OP_GRID_MAX;
    }
  }
  return 8 * kernels + 4 * swap + 2 * cluster + grid;
}

// The same with the grids of its kernels, and whether their operands are swapped, as a number.
static uint64_t shape_of(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint64_t shape = way_of(graph);
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView kernel = mirage_ugraph_node(graph, body.nodes[i]);
    if (kernel.op != MIRAGE_OP_CUSTOM)
      continue;
    const MirageCustomAttrs *custom = &kernel.attrs->custom;
    uint64_t words[] = {shape, (uint64_t)custom->grid[0], (uint64_t)custom->grid[1], (uint64_t)custom->grid[2],
                        search_kernel_swaps(custom)};
    shape = XXH3_64bits(words, sizeof words);
  }
  return shape;
}

static uint32_t count_group(const uint64_t *groups, uint32_t num, uint64_t group) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < num; i++)
    count += groups[i] == group;
  return count;
}

// The slowest of the group of which there are most, if these are more than `enough`.
static bool find_crowded(const uint64_t *groups, uint32_t num, uint32_t enough, uint32_t *out_index) {
  uint32_t most = enough;
  for (uint32_t i = num; i-- > 0;) {
    uint32_t alike = count_group(groups, num, groups[i]);
    if (alike > most) {
      most = alike;
      *out_index = i;
    }
  }
  return most > enough;
}

// The slowest of those that are behind the best, unless it is the only one of its way.
static bool find_behind(const MirageSearchResult *result, const uint64_t *ways, uint32_t *out_index) {
  uint32_t i = result->num_candidates;
  while (i-- > 0 && search_time_of(result->candidates[i]) > behind * search_time_of(result->candidates[0]))
    if (count_group(ways, result->num_candidates, ways[i]) > 1) {
      *out_index = i;
      return true;
    }
  return false;
}

// Of more than two that differ in algebra and iterations alone the slowest; else what is behind; else of the way that most have,
// so that every way keeps about as many.
static MirageStatus find_least_missed(const MirageSearchResult *result, uint32_t *out_index) {
  uint32_t num = result->num_candidates;
  uint64_t *shapes = calloc(2 * (size_t)num, sizeof *shapes);
  if (!shapes)
    return MIRAGE_NO_MEMORY;
  uint64_t *ways = shapes + num;
  for (uint32_t i = 0; i < num; i++) {
    shapes[i] = shape_of(result->candidates[i]);
    ways[i] = way_of(result->candidates[i]);
  }
  if (!find_crowded(shapes, num, OF_ONE_SHAPE, out_index) && !find_behind(result, ways, out_index))
    find_crowded(ways, num, 0, out_index);
  free(shapes);
  return MIRAGE_OK;
}

static void drop(MirageSearchResult *result, uint32_t index) {
  mirage_ugraph_destroy(result->candidates[index]);
  for (uint32_t i = index + 1; i < result->num_candidates; i++)
    result->candidates[i - 1] = result->candidates[i];
  result->num_candidates--;
}

MirageStatus mirage__search_insert(MirageSearchResult *result, uint32_t wanted, MirageUGraph *graph) {
  double time = search_time_of(graph);
  if (!isfinite(time)) { // some kernel of it has no plan
    mirage_ugraph_destroy(graph);
    return MIRAGE_OK;
  }
  MirageUGraph **grown = realloc(result->candidates, (result->num_candidates + 1) * sizeof(MirageUGraph *));
  if (!grown) {
    mirage_ugraph_destroy(graph);
    return MIRAGE_NO_MEMORY;
  }
  result->candidates = grown;
  uint32_t at = result->num_candidates++;
  for (; at > 0 && search_time_of(grown[at - 1]) > time; at--)
    grown[at] = grown[at - 1];
  grown[at] = graph;
  uint32_t least = 0;
  if (result->num_candidates > wanted) {
    MIRAGE_TRY(find_least_missed(result, &least));
    drop(result, least);
  }
  return MIRAGE_OK;
}

void mirage__search_drop_far_behind(MirageSearchResult *result) {
  for (uint32_t i = result->num_candidates; i-- > 1;) {
    if (search_time_of(result->candidates[i]) > SEARCH_FAR_BEHIND * search_time_of(result->candidates[0]))
      drop(result, i);
  }
}
