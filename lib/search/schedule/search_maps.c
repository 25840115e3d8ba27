// search_maps.c - which schedules the options griddims, blockdims, imaps, omaps and fmaps allow.
//
// A schedule says into how many parts each axis is split; which of them grid x, y and z walk is open until here,
// because no result depends on it. By itself the search lets x walk the last dimension of the output. Where maps or
// whole grids are asked for, the first order of the three that satisfies them all is taken, and a schedule that has
// none is refused.
//
// Example: softmax(q k) v over q[16, 256, 64], heads in 16 and keys in 8 blocks, with imaps = 0:-1:2, 0:-1:-1, 0:-1:1:
//          x walks the heads, z the keys, y nothing; so q is 0:-1:-1, k [16, 64, 4096] is 0:-1:2, v is 0:-1:1
#include "search/schedule/search_builder.h"
#include "search/schedule/search_tails.h"
#include <string.h>

static bool has_number(MirageInt64List list, int64_t number) {
  for (size_t i = 0; i < list.size; i++)
    if (list.data[i] == number)
      return true;
  return list.size == 0;
}

// ---------------------------------------------------------------------------------------------- one kernel

static bool allows_grid(const MirageSearchOptions *options, const int64_t grid[3]) {
  bool each = options->griddims.size || !options->grids.size;
  for (uint32_t a = 0; a < 3; a++)
    each &= grid[a] == 1 || has_number(options->griddims, grid[a]);
  for (size_t i = 0; i < options->grids.size && !each; i++) {
    const int64_t *whole = options->grids.data[i].xyz;
    each = whole[0] == grid[0] && whole[1] == grid[1] && whole[2] == grid[2];
  }
  return each;
}

// Along an axis with one block, a map may say what it likes.
static bool allows_map(MirageTripleList maps, const MirageAccessAttrs *access, const int64_t grid[3]) {
  for (size_t i = 0; i < maps.size; i++) {
    bool same = true;
    for (uint32_t a = 0; a < 3; a++)
      same &= grid[a] == 1 || maps.data[i].xyz[a] == access->grid[a];
    if (same)
      return true;
  }
  return maps.size == 0;
}

// Whether the kernel is allowed with the grid as it is ordered now.
static bool allows(Builder *builder, const MirageSearchOptions *options, bool stores, bool looped) {
  MirageCustomAttrs attrs = {0};
  mirage__build_grid(builder, &attrs);
  if (!allows_grid(options, attrs.grid))
    return false;
  const SearchStructure *structure = builder->structure;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (node->op != MIRAGE_OP_LOAD || (builder->wanted && !builder->wanted[i]))
      continue;
    MirageAccessAttrs access = mirage__build_access(builder, node);
    if (!allows_map(options->imaps, &access, attrs.grid) || (looped && !has_number(options->fmaps, access.loop[0])))
      return false;
  }
  bool allowed = true;
  for (uint32_t i = 0; i < structure->num_outputs && stores; i++) {
    MirageAccessAttrs store = mirage__build_access(builder, &structure->nodes[structure->outputs[i]]);
    allowed &= allows_map(options->omaps, &store, attrs.grid);
  }
  return allowed;
}

bool mirage__search_place(const SearchProgram *program, const SearchStructure *structure,
                          const MirageSearchOptions *options, bool second, SearchSchedule *schedule) {
  static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  bool open = !options->grids.size && !options->imaps.size && !options->omaps.size && !options->fmaps.size;
  if (open)
    return true; // what griddims says of each axis was asked when the parts were chosen
  bool first = schedule->combine == SEARCH_BY_KERNEL && !second, wanted[SEARCH_MAX_NODES];
  Builder builder = {.program = program, .structure = structure, .schedule = schedule};
  if (first || second) {
    mirage__search_wanted(structure, second ? SEARCH_AFTER : SEARCH_INSIDE, wanted);
    builder.wanted = wanted;
  }
  bool looped = structure->loop_axis && !second && schedule->parts[structure->loop_axis] > 1;
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    memcpy(schedule->order, orders[i], sizeof schedule->order);
    if (allows(&builder, options, !first, looped))
      return true;
  }
  return false;
}
