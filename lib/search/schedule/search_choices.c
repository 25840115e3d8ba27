// search_choices.c - into how many parts each axis of a block graph may be split, and the tiles that follow.
//
// Tile extents follow as ceil(extent / parts) and need not be powers of two or divisors: 6144 columns in 128 blocks are
// tiles of 48; tails are masked where that is neutral (search_tails.c), and only exact divisions are tried elsewhere. Where no tile of
// whole instructions divides an axis of products, tiles are rounded up to them, and the last block's is cut short.
#include "search/schedule/search_choices.h"
#include "search/schedule/search_rows.h"
#include "search/schedule/search_tails.h"
#include <math.h>

enum {
  REFERENCE_COLUMNS = 64,
  REFERENCE_TILE = 64,
  REFERENCE_ROW = 1024,
  LONGEST_TILE = 1024,
  LONGEST_TILE_ALONE = 16384,
  LONGEST_ROW = 8192,
  MIN_PIECE = 64,
  MAX_DIVISOR = 512,
  WARPGROUP_ROWS = 64, // of the matrix instruction of a warpgroup
  ALIGNED = 8,         // elements of 16 bytes
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

static bool tails_are_neutral(const SearchStructure *structure) {
  bool masked[SEARCH_MAX_NODES];
  return mirage__search_masks(structure, masked);
}

// Whether a product contracts the axis, or has it as rows or columns.
static bool is_multiplied(const SearchStructure *structure, uint32_t axis) {
  bool found = false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    if (structure->nodes[i].op != MIRAGE_OP_MATMUL)
      continue;
    const uint8_t *a = structure->nodes[structure->nodes[i].a].dims, *b = structure->nodes[structure->nodes[i].b].dims;
    for (uint32_t d = SEARCH_RANK - 2; d < SEARCH_RANK; d++)
      found |= a[d] == axis || b[d] == axis;
  }
  return found;
}

static bool is_tied(const SearchProgram *program, uint32_t axis) {
  for (uint32_t i = 0; i < program->num_axes; i++)
    if (i != axis && program->axes[i].tied == program->axes[axis].tied)
      return true;
  return false;
}

// Those that no tile of a whole instruction divides, and that may have a tail.
static uint64_t find_rounded(const SearchProgram *program, const SearchStructure *structure) {
  uint64_t rounded = 0;
  for (uint32_t axis = 1; axis < program->num_axes; axis++) {
    // What is not walked is summed whole; what iterations divide well needs no tail.
    bool looped = axis == structure->loop_axis, walked = looped || search_axis_is_parallel(&program->axes[axis]);
    bool even = looped && program->axes[axis].extent % WARPGROUP_ROWS == 0;
    if (even || !walked || !is_multiplied(structure, axis) || is_tied(program, axis))
      continue;
    bool exact = axis == structure->loop_axis ? !tails_are_neutral(structure)
                                              : mirage__search_tails_divide(structure, axis, false);
    rounded |= (uint64_t)!exact << axis;
  }
  return rounded;
}

// Whether the loop multiplies what it has multiplied.
bool mirage__search_is_chain(const SearchStructure *structure) {
  bool accumulated[SEARCH_MAX_NODES] = {false};
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (structure->nodes[i].op == MIRAGE_OP_LOOP)
      accumulated[structure->nodes[i].a] = true;
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (structure->nodes[i].op == MIRAGE_OP_MATMUL && mirage__search_is_inside(structure->nodes[i].stage) &&
        !accumulated[i])
      return true;
  return false;
}

// Whether all products have so many rows, beside the loop's axis, that they take the time, and not what is loaded: bytes come about as
// quickly to two multiprocessors of three as to all.
static bool have_many_rows(const SearchProgram *program, const SearchStructure *structure) {
  bool many = false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (node->op != MIRAGE_OP_MATMUL)
      continue;
    uint32_t axis = mirage__search_axis_of(structure->nodes[node->a].dims[SEARCH_RANK - 2]);
    if (axis == structure->loop_axis || program->axes[axis].extent < WARPGROUP_ROWS)
      return false;
    many = true;
  }
  return many;
}

// A loop's axis that may have a tail wherever a block's part of it ends. A product alone is as quick in equal parts, of clusters.
static bool may_be_uneven(const SearchProgram *program, const SearchStructure *structure) {
  uint32_t axis = structure->loop_axis;
  return axis && mirage__search_is_chain(structure) && have_many_rows(program, structure) &&
         is_multiplied(structure, axis) && !is_tied(program, axis) && tails_are_neutral(structure);
}

static bool is_rounded(const SearchProgram *program, const SearchStructure *structure, int64_t split, uint32_t axis) {
  bool uneven = structure->uneven && axis == structure->loop_axis && program->axes[axis].extent % split != 0;
  return uneven || structure->rounded >> axis & 1;
}

// The tile of `parts` parts of each of `outer`; 0: by division. Whole instructions are worth two thirds more elements,
// whole accesses an eighth.
static int64_t round_tile(int64_t extent, int64_t outer, int64_t parts) {
  static const int64_t units[] = {WARPGROUP_ROWS, ALIGNED};
  static const double shares[] = {2.0 / 3, 1.0 / 8};
  int64_t even = ceil_div(ceil_div(extent, outer), parts);
  for (size_t i = 0; i < sizeof units / sizeof *units && even > ALIGNED; i++) {
    int64_t tile = ceil_div(even, units[i]) * units[i], part = outer > 1 ? tile * parts : tile;
    bool filled = part * ((outer > 1 ? outer : parts) - 1) < extent;
    if (filled && (double)(tile - even) <= shares[i] * (double)even)
      return tile * parts * outer == extent ? 0 : tile;
  }
  return 0;
}

// Rounded up to whole accesses, whatever that adds; 0: by division.
static int64_t round_to_eights(int64_t extent, int64_t parts) {
  int64_t tile = ceil_div(ceil_div(extent, parts), ALIGNED) * ALIGNED;
  return tile * (parts - 1) < extent && tile * parts != extent ? tile : 0;
}

int64_t mirage__search_rounded_tile(const SearchProgram *program, const SearchStructure *structure,
                                    const SearchSchedule *schedule, uint8_t dim) {
  uint32_t axis = mirage__search_axis_of(dim);
  if (dim & SEARCH_WHOLE || schedule->second || !is_rounded(program, structure, schedule->split, axis) ||
      (axis == structure->loop_axis && schedule->split * schedule->parts[axis] == 1))
    return 0;
  if (schedule->swapped && axis == structure->row_axis)
    return round_to_eights(program->axes[axis].extent, schedule->parts[axis]);
  return round_tile(program->axes[axis].extent, axis == structure->loop_axis ? schedule->split : 1,
                    schedule->parts[axis]);
}

int64_t mirage__search_tile_extent(const SearchProgram *program, const SearchStructure *structure,
                                   const SearchSchedule *schedule, uint8_t dim) {
  uint32_t axis = mirage__search_axis_of(dim);
  int64_t extent = program->axes[axis].extent, tile;
  if (dim & SEARCH_WHOLE)
    return extent;
  if ((tile = mirage__search_rounded_tile(program, structure, schedule, dim)))
    return tile;
  if (axis && axis == structure->loop_axis)
    extent = ceil_div(extent, schedule->split);
  return ceil_div(extent, schedule->parts[axis]);
}

// ----------------------------------------------------------------------------------------------- choices

static void add_parts(SearchChoices *choices, int64_t extent, int64_t parts) {
  bool empty = (parts - 1) * ceil_div(extent, parts) >= extent; // the last part would be
  if (empty || (choices->exact && extent % parts != 0) || choices->num == SEARCH_MAX_PARTS)
    return;
  for (uint32_t i = 0; i < choices->num; i++)
    if (choices->parts[i] == parts)
      return;
  choices->parts[choices->num++] = parts;
}

// Adds the number of parts whose tiles have at most `tile` elements, unless tiles would lose the alignment that the
// axis has: 8 elements are the 16 bytes of an access and the columns of an instruction.
static void add_tile(SearchChoices *choices, int64_t extent, int64_t tile) {
  if (tile < 1 || tile > extent)
    return;
  int64_t parts = ceil_div(extent, tile), real = ceil_div(extent, parts);
  bool rounded = choices->rounds && round_tile(extent, 1, parts);
  if (real <= ALIGNED || extent % ALIGNED != 0 || real % ALIGNED == 0 || rounded)
    add_parts(choices, extent, parts);
}

static void add_listed(SearchChoices *choices, MirageInt64List list, int64_t extent) {
  for (size_t i = 0; i < list.size; i++)
    if (list.data[i] <= extent)
      add_parts(choices, extent, list.data[i]);
}

static void add_grids(SearchChoices *choices, const MirageSearchOptions *options, int64_t extent) {
  add_listed(choices, options->griddims, extent);
  for (size_t i = 0; i < options->grids.size; i++)
    add_listed(choices, (MirageInt64List){options->grids.data[i].xyz, 3}, extent);
}

// Every axis is split into as many parts as the one that it is tied to.
void mirage__search_set_parts(const SearchProgram *program, int64_t *parts, uint32_t axis, int64_t count) {
  for (uint32_t i = axis; i < program->num_axes; i++)
    if (program->axes[i].tied == axis)
      parts[i] = count;
}

// Keeps what leaves no part of a tied axis empty either, nor a tail where there must be none.
static void keep_tied(const SearchProgram *program, const SearchStructure *structure, bool parts,
                      SearchChoices *choices) {
  for (uint32_t i = choices->axis + 1; i < program->num_axes; i++) {
    if (program->axes[i].tied != choices->axis)
      continue;
    int64_t extent = program->axes[i].extent;
    bool exact = mirage__search_tails_divide(structure, i, parts);
    uint32_t kept = 0;
    for (uint32_t c = 0; c < choices->num; c++) {
      int64_t count = choices->parts[c];
      if ((count - 1) * ceil_div(extent, count) < extent && (!exact || extent % count == 0))
        choices->parts[kept++] = count;
    }
    choices->num = kept;
  }
}

bool mirage__search_has_lists(const MirageSearchOptions *options) {
  return options->griddims.size || options->grids.size;
}

// Tiles of a parallel axis: whole, single elements and small powers of two, and multiples of the instruction's 8
// columns.
SearchChoices mirage__search_grid_choices(const SearchProgram *program, const SearchStructure *structure, uint32_t axis,
                                          bool parts, const MirageSearchOptions *options) {
  SearchChoices choices = {.axis = axis, .num = 1, .parts = {1}}; // not a grid axis: always allowed
  choices.exact = mirage__search_tails_divide(structure, axis, parts);
  choices.rounds = !parts && structure->rounded >> axis & 1;
  int64_t extent = program->axes[axis].extent;
  if (mirage__search_has_lists(options)) {
    add_grids(&choices, options, extent);
    keep_tied(program, structure, parts, &choices);
    return choices;
  }
  for (int64_t tile = 1; tile < 8; tile *= 2)
    add_tile(&choices, extent, tile);
  for (int64_t tile = 8; tile <= 128; tile += 8)
    add_tile(&choices, extent, tile);
  for (int64_t tile = 160; tile <= 512; tile += tile < 256 ? 32 : 128)
    add_tile(&choices, extent, tile);
  for (int64_t tile = 1024; tile <= LONGEST_TILE_ALONE && ceil_div(extent, tile / 2) > options->target->num_sms;
       tile *= 2)
    add_tile(&choices, extent, tile); // of an axis that has more than its share of the elements
  keep_tied(program, structure, parts, &choices);
  return choices;
}

// Numbers of blocks that are no powers of two, where these leave more than a seventh of the multiprocessors idle: 40 heads are 80 blocks by
// 2, and 120 by 3, of 132. `blocks`: along the axes before `axis`.
static void add_uneven(const SearchProgram *program, const SearchStructure *structure,
                       const MirageSearchOptions *options, uint32_t axis, int64_t blocks, SearchChoices *choices) {
  int64_t sms = options->target->num_sms, most = sms / blocks, even = 1;
  while (axis < program->num_axes &&
         !(search_axis_is_parallel(&program->axes[axis]) && program->axes[axis].tied == axis))
    axis++;
  if (axis == program->num_axes) {
    while (2 * even <= most)
      even *= 2;
    if (6 * most > 7 * even)
      add_parts(choices, program->axes[structure->loop_axis].extent, most);
    return;
  }
  SearchChoices parts = mirage__search_grid_choices(program, structure, axis, false, options);
  for (uint32_t i = 0; i < parts.num; i++)
    if (blocks * parts.parts[i] <= sms / 2)
      add_uneven(program, structure, options, axis + 1, blocks * parts.parts[i], choices);
}

// How many blocks the loop's axis is divided among.
SearchChoices mirage__search_split_choices(const SearchProgram *program, const SearchStructure *structure,
                                           const MirageSearchOptions *options) {
  SearchChoices choices = {.axis = structure->loop_axis, .num = 1, .parts = {1}}, kept = choices;
  if (!structure->loop_axis)
    return kept;
  int64_t extent = program->axes[structure->loop_axis].extent, most = extent / MIN_PIECE;
  most = most < options->target->num_sms ? most : options->target->num_sms;
  choices.exact = !tails_are_neutral(structure);
  if (mirage__search_has_lists(options))
    add_grids(&choices, options, extent);
  else
    for (int64_t split = 2; split <= most; split += choices.exact && extent % 2 ? 1 : split)
      add_parts(&choices, extent, split);
  if (structure->uneven && !mirage__search_has_lists(options))
    add_uneven(program, structure, options, 1, 1, &choices);
  for (uint32_t i = 1; i < choices.num; i++)
    if (choices.parts[i] > 1 && choices.parts[i] <= most)
      kept.parts[kept.num++] = choices.parts[i];
  return kept;
}

// Iterations over the part of one block.
SearchChoices mirage__search_loop_choices(const SearchProgram *program, const SearchStructure *structure,
                                          const MirageSearchOptions *options, int64_t split) {
  SearchChoices choices = {.axis = structure->loop_axis,
                           .rounds = is_rounded(program, structure, split, structure->loop_axis)},
                kept = {.axis = structure->loop_axis};
  int64_t extent = ceil_div(program->axes[structure->loop_axis].extent, split);
  int64_t longest = structure->num_loops > 1 ? LONGEST_ROW : LONGEST_TILE;
  if (options->franges.size)
    add_listed(&choices, options->franges, extent);
  else
    for (int64_t tile = 16; tile <= longest; tile += tile < 64 ? 16 : tile < 128 ? 32 : tile)
      add_tile(&choices, extent, tile);
  if (!options->franges.size)
    for (int64_t tile = extent / 2; tile >= 1 && tile < 16; tile /= 2)
      add_tile(&choices, extent, tile);
  bool neutral = tails_are_neutral(structure);
  for (int64_t tile = MIN_PIECE / 2; !neutral && !options->franges.size && tile <= MAX_DIVISOR; tile++)
    if (extent % tile == 0)
      add_parts(&choices, extent, extent / tile);
  if (split > 1) // a block that takes its part at once has no loop
    kept.parts[kept.num++] = 1;
  for (uint32_t i = 0; i < choices.num; i++) // a loop of one iteration over all is the search without a loop
    if (choices.parts[i] > 1 && (neutral || extent % choices.parts[i] == 0))
      kept.parts[kept.num++] = choices.parts[i];
  return kept;
}

void mirage__search_nothing_split(const SearchProgram *program, SearchSchedule *schedule) {
  *schedule = (SearchSchedule){.split = 1, .order = {0, 1, 2}, .combine_order = {0, 1, 2}};
  for (uint32_t i = 0; i < program->num_axes; i++)
    schedule->parts[i] = schedule->combine_parts[i] = 1;
}

void mirage__search_reference_schedule(const SearchProgram *program, const SearchStructure *structure, int64_t columns,
                                       SearchSchedule *out_schedule) {
  mirage__search_nothing_split(program, out_schedule);
  for (uint32_t split = 0; split < 3; split++) { // those that make most blocks, single elements of a batch first
    uint32_t best = 0;
    int64_t most = 1;
    for (uint32_t i = program->num_axes; i-- > 1;) {
      const SearchAxis *axis = &program->axes[i];
      int64_t parts = axis->batch ? axis->extent : ceil_div(axis->extent, columns);
      bool open = search_axis_is_parallel(axis) && axis->tied == i && out_schedule->parts[i] == 1;
      bool first = best && axis->batch != program->axes[best].batch ? axis->batch : parts > most;
      if (open && parts > 1 && (!best || first)) {
        best = i;
        most = parts;
      }
    }
    if (best)
      mirage__search_set_parts(program, out_schedule->parts, best, most);
  }
  if (structure->loop_axis) {
    int64_t extent = program->axes[structure->loop_axis].extent;
    int64_t parts = ceil_div(extent, structure->num_loops > 1 ? REFERENCE_ROW : REFERENCE_TILE);
    bool groups = parts == 1 && extent % 2 == 0; // of one iteration there would be no loop
    out_schedule->parts[structure->loop_axis] = groups ? 2 : parts;
  }
}

// In smaller tiles where the usual ones do not fit.
void mirage__search_score(const SearchProgram *program, const MirageSearchOptions *options,
                          SearchStructure *structure) {
  SearchSchedule schedule;
  mirage__search_find_rows(program, structure);
  structure->rounded = find_rounded(program, structure);
  structure->uneven = may_be_uneven(program, structure);
  structure->score_us = INFINITY;
  for (int64_t columns = REFERENCE_COLUMNS; columns > 0 && !isfinite(structure->score_us); columns /= 4) {
    mirage__search_reference_schedule(program, structure, columns, &schedule);
    structure->score_us =
        mirage__search_schedule_cost(program, structure, &schedule, options->target, &structure->amounts);
  }
}
