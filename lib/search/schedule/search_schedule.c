// search_schedule.c - grid sizes and loop range for a block graph whose dataflow is decided.
//
// A schedule says into how many parts each axis is split: parallel axes into blocks, the loop's axis into iterations,
// and, where the parallel axes do not fill the chip, among blocks whose parts are combined at the end: by the blocks
// themselves (a cluster, or the grid when all of it is resident) or by a second kernel.
// Tile extents follow as ceil(extent / parts) and need not be powers of two or divisors: 6144 columns in 128 blocks are
// tiles of 48; tails are masked where that is neutral (search_tails.c), and only exact divisions are tried elsewhere.
// All are scored by the cost model without building a graph. Each split of the loop's axis is a task.
#include "search/cost/cost_kernel.h"
#include "search/schedule/search_rows.h"
#include "search/schedule/search_tails.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_PARTS = 64,
  REFERENCE_COLUMNS = 64,
  REFERENCE_TILE = 64,
  REFERENCE_ROW = 1024,
  LONGEST_TILE = 1024,
  LONGEST_TILE_ALONE = 16384,
  LONGEST_ROW = 8192,
  MIN_PIECE = 64,
  MAX_CLUSTER = 8,
  MAX_DIVISOR = 512,
  WARPGROUP_ROWS = 64, // of the matrix instruction of a warpgroup
  ALIGNED = 8,         // elements of 16 bytes
  OF_ONE_GRID = 2,     // schedules that are kept of it, with different numbers of iterations,
  OF_A_CHAINS = 3,     // and where products feed each other in the loop: what runs beside what, only a plan tells
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
static bool is_chain(const SearchStructure *structure) {
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
  return axis && is_chain(structure) && have_many_rows(program, structure) && is_multiplied(structure, axis) &&
         !is_tied(program, axis) && tails_are_neutral(structure);
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

static void want(const SearchStructure *structure, uint32_t index, SearchStage last, bool *wanted) {
  const SearchNode *node = &structure->nodes[index];
  if (wanted[index])
    return;
  wanted[index] = true;
  if (node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT ||
      (node->op == MIRAGE_OP_LOOP && last == SEARCH_AFTER))
    return;
  want(structure, node->a, last, wanted);
  if (mirage__search_is_binary(node->op) || (node->op == MIRAGE_OP_LOOP && node->flags == SEARCH_RESCALE))
    want(structure, node->b, last, wanted);
}

void mirage__search_wanted(const SearchStructure *structure, SearchStage stage, bool *out_wanted) {
  memset(out_wanted, 0, structure->num_nodes * sizeof *out_wanted);
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (structure->nodes[i].op == MIRAGE_OP_LOOP)
      want(structure, i, stage, out_wanted);
  if (stage == SEARCH_AFTER)
    for (uint32_t i = 0; i < structure->num_outputs; i++)
      want(structure, structure->outputs[i], stage, out_wanted);
}

// --------------------------------------------------------------------------------------------- choices

typedef struct Choices {
  uint32_t axis;
  bool exact;  // without a tail
  bool rounds; // tiles may be rounded up
  uint32_t num;
  int64_t parts[MAX_PARTS];
} Choices;

static void add_parts(Choices *choices, int64_t extent, int64_t parts) {
  bool empty = (parts - 1) * ceil_div(extent, parts) >= extent; // the last part would be
  if (empty || (choices->exact && extent % parts != 0) || choices->num == MAX_PARTS)
    return;
  for (uint32_t i = 0; i < choices->num; i++)
    if (choices->parts[i] == parts)
      return;
  choices->parts[choices->num++] = parts;
}

// Adds the number of parts whose tiles have at most `tile` elements, unless tiles would lose the alignment that the
// axis has: 8 elements are the 16 bytes of an access and the columns of an instruction.
static void add_tile(Choices *choices, int64_t extent, int64_t tile) {
  if (tile < 1 || tile > extent)
    return;
  int64_t parts = ceil_div(extent, tile), real = ceil_div(extent, parts);
  bool rounded = choices->rounds && round_tile(extent, 1, parts);
  if (real <= ALIGNED || extent % ALIGNED != 0 || real % ALIGNED == 0 || rounded)
    add_parts(choices, extent, parts);
}

static void add_listed(Choices *choices, MirageInt64List list, int64_t extent) {
  for (size_t i = 0; i < list.size; i++)
    if (list.data[i] <= extent)
      add_parts(choices, extent, list.data[i]);
}

static void add_grids(Choices *choices, const MirageSearchOptions *options, int64_t extent) {
  add_listed(choices, options->griddims, extent);
  for (size_t i = 0; i < options->grids.size; i++)
    add_listed(choices, (MirageInt64List){options->grids.data[i].xyz, 3}, extent);
}

// Every axis is split into as many parts as the one that it is tied to.
static void set_parts(const SearchProgram *program, int64_t *parts, uint32_t axis, int64_t count) {
  for (uint32_t i = axis; i < program->num_axes; i++)
    if (program->axes[i].tied == axis)
      parts[i] = count;
}

// Keeps what leaves no part of a tied axis empty either, nor a tail where there must be none.
static void keep_tied(const SearchProgram *program, const SearchStructure *structure, bool parts, Choices *choices) {
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

static bool has_lists(const MirageSearchOptions *options) { return options->griddims.size || options->grids.size; }

// Tiles of a parallel axis: whole, single elements and small powers of two, and multiples of the instruction's 8
// columns.
static Choices grid_choices(const SearchProgram *program, const SearchStructure *structure, uint32_t axis, bool parts,
                            const MirageSearchOptions *options) {
  Choices choices = {.axis = axis, .num = 1, .parts = {1}}; // not a grid axis: always allowed
  choices.exact = mirage__search_tails_divide(structure, axis, parts);
  choices.rounds = !parts && structure->rounded >> axis & 1;
  int64_t extent = program->axes[axis].extent;
  if (has_lists(options)) {
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
                       const MirageSearchOptions *options, uint32_t axis, int64_t blocks, Choices *choices) {
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
  Choices parts = grid_choices(program, structure, axis, false, options);
  for (uint32_t i = 0; i < parts.num; i++)
    if (blocks * parts.parts[i] <= sms / 2)
      add_uneven(program, structure, options, axis + 1, blocks * parts.parts[i], choices);
}

// How many blocks the loop's axis is divided among.
static Choices split_choices(const SearchProgram *program, const SearchStructure *structure,
                             const MirageSearchOptions *options) {
  Choices choices = {.axis = structure->loop_axis, .num = 1, .parts = {1}}, kept = choices;
  if (!structure->loop_axis)
    return kept;
  int64_t extent = program->axes[structure->loop_axis].extent, most = extent / MIN_PIECE;
  most = most < options->target->num_sms ? most : options->target->num_sms;
  choices.exact = !tails_are_neutral(structure);
  if (has_lists(options))
    add_grids(&choices, options, extent);
  else
    for (int64_t split = 2; split <= most; split += choices.exact && extent % 2 ? 1 : split)
      add_parts(&choices, extent, split);
  if (structure->uneven && !has_lists(options))
    add_uneven(program, structure, options, 1, 1, &choices);
  for (uint32_t i = 1; i < choices.num; i++)
    if (choices.parts[i] > 1 && choices.parts[i] <= most)
      kept.parts[kept.num++] = choices.parts[i];
  return kept;
}

// Iterations over the part of one block.
static Choices loop_choices(const SearchProgram *program, const SearchStructure *structure,
                            const MirageSearchOptions *options, int64_t split) {
  Choices choices = {.axis = structure->loop_axis,
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

static void nothing_split(const SearchProgram *program, SearchSchedule *schedule) {
  *schedule = (SearchSchedule){.split = 1, .order = {0, 1, 2}, .combine_order = {0, 1, 2}};
  for (uint32_t i = 0; i < program->num_axes; i++)
    schedule->parts[i] = schedule->combine_parts[i] = 1;
}

void mirage__search_reference_schedule(const SearchProgram *program, const SearchStructure *structure, int64_t columns,
                                       SearchSchedule *out_schedule) {
  nothing_split(program, out_schedule);
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
      set_parts(program, out_schedule->parts, best, most);
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

// ------------------------------------------------------------------------------------------ the search

/// The second kernel of a split reduction, for one number of parts.
typedef struct Combiner {
  int64_t parts[SEARCH_MAX_AXES];
  uint8_t order[3];
  double time_us; // infinite: there is none
} Combiner;

/// How the parallel axes may be split, in both kernels.
typedef struct Grids {
  Choices first[SEARCH_MAX_AXES], second[SEARCH_MAX_AXES];
  uint32_t num;
} Grids;

/// Tries all schedules that divide the loop's axis among `split` blocks.
typedef struct Scheduler {
  const SearchProgram *program;
  const SearchStructure *structure;
  const MirageSearchOptions *options;
  const Grids *grids;
  int64_t split;
  Combiner combiner;
  SearchCandidate *best; // [SEARCH_NUM_COMBINES][max_best]
  uint32_t num_best[SEARCH_NUM_COMBINES], max_best;
  uint32_t of_one_grid; // of these
  uint64_t scheduled;
} Scheduler;

// Whether two schedules differ in nothing but the loop's iterations.
static bool same_grid(const SearchCandidate *a, const SearchCandidate *b) {
  const SearchSchedule *x = &a->schedule, *y = &b->schedule;
  uint32_t loop_axis = a->structure->loop_axis;
  if (x->split != y->split || x->threads != y->threads || x->swapped != y->swapped)
    return false;
  for (uint32_t axis = 0; axis < SEARCH_MAX_AXES; axis++)
    if (axis != loop_axis && x->parts[axis] != y->parts[axis])
      return false;
  return true;
}

static uint32_t kept_of_one_grid(const SearchStructure *structure) {
  return is_chain(structure) ? OF_A_CHAINS : OF_ONE_GRID;
}

// The place that a schedule takes from the slowest of those that are kept, or of those of its grid where these are enough;
// `num`: a new one.
static uint32_t place_of(const Scheduler *scheduler, const SearchCandidate *best, uint32_t num,
                         const SearchCandidate *candidate) {
  uint32_t alike = 0, max = scheduler->max_best, last = num < max ? num : max - 1;
  for (uint32_t i = 0; i < num; i++)
    if (same_grid(&best[i], candidate) && ++alike == scheduler->of_one_grid)
      last = i;
  return last;
}

// The best in order, of one grid not many: what a GPU may find faster than the model does are tiles of another shape.
static void keep_candidate(Scheduler *scheduler, const SearchCandidate *candidate) {
  SearchCandidate *best = &scheduler->best[candidate->schedule.combine * scheduler->max_best];
  uint32_t *num_best = &scheduler->num_best[candidate->schedule.combine];
  uint32_t at = place_of(scheduler, best, *num_best, candidate);
  if (at < *num_best && best[at].time_us <= candidate->time_us)
    return;
  *num_best += at == *num_best;
  for (; at > 0 && best[at - 1].time_us > candidate->time_us; at--)
    best[at] = best[at - 1];
  best[at] = *candidate;
}

static void keep_timed(Scheduler *scheduler, const SearchSchedule *schedule) {
  double time = mirage__search_schedule_cost(scheduler->program, scheduler->structure, schedule,
                                             scheduler->options->target, NULL);
  if (schedule->combine == SEARCH_BY_KERNEL)
    time += scheduler->combiner.time_us;
  scheduler->scheduled++;
  if (isfinite(time))
    keep_candidate(scheduler,
                   &(SearchCandidate){.structure = scheduler->structure, .schedule = *schedule, .time_us = time});
}

static void keep_schedule(Scheduler *scheduler, SearchSchedule *schedule) {
  if (!mirage__search_place(scheduler->program, scheduler->structure, scheduler->options, false, schedule))
    return;
  MirageInt64List threads = scheduler->options->blockdims;
  if (!threads.size)
    keep_timed(scheduler, schedule);
  for (size_t i = 0; i < threads.size; i++) {
    schedule->threads = (uint32_t)threads.data[i];
    keep_timed(scheduler, schedule);
  }
}

// Whether all blocks of a kernel that leaves parts differ: along an axis that no accumulator walks, as the columns of a
// product that comes after the statistics, they would do the same work.
static bool parts_differ(const SearchProgram *program, const SearchStructure *structure,
                         const SearchSchedule *schedule) {
  for (uint32_t axis = 1; axis < program->num_axes; axis++) {
    bool walked = !search_axis_is_parallel(&program->axes[axis]) || schedule->parts[axis] == 1;
    for (uint32_t i = 0; i < structure->num_nodes && !walked; i++)
      for (uint32_t other = 1; other < program->num_axes && structure->nodes[i].op == MIRAGE_OP_LOOP; other++)
        walked |=
            program->axes[other].tied == program->axes[axis].tied && mirage__search_walks(&structure->nodes[i], other);
    if (!walked)
      return false;
  }
  return true;
}

static bool has_product(const SearchStructure *structure) {
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (structure->nodes[i].op == MIRAGE_OP_MATMUL)
      return true;
  return false;
}

// Whether the loop's axis may be split beside so many blocks: products that fill the chip by themselves gain nothing, rows may be too
// long for a block.
static bool may_split(const SearchStructure *structure, const MirageTarget *target, int64_t blocks) {
  return blocks < target->num_sms || !has_product(structure);
}

// A number of parts that is no power of two is tried beside the blocks that it was found for.
static bool suits(const SearchStructure *structure, const MirageSearchOptions *options, int64_t split, int64_t blocks) {
  bool power = (split & (split - 1)) == 0;
  return power || !structure->uneven || has_lists(options) || split == options->target->num_sms / blocks;
}

// The ways in which the parts of a split reduction may be combined.
static void keep_combined(Scheduler *scheduler, SearchSchedule *schedule, int64_t blocks) {
  const MirageTarget *target = scheduler->options->target;
  if (blocks * schedule->split <= target->num_sms) {
    schedule->combine = SEARCH_BY_GRID;
    keep_schedule(scheduler, schedule);
  }
  if (target->has_cluster && schedule->split <= MAX_CLUSTER) {
    schedule->combine = SEARCH_BY_CLUSTER;
    keep_schedule(scheduler, schedule);
  }
  if (!scheduler->options->no_second_kernel && isfinite(scheduler->combiner.time_us) &&
      parts_differ(scheduler->program, scheduler->structure, schedule)) {
    schedule->combine = SEARCH_BY_KERNEL;
    memcpy(schedule->combine_parts, scheduler->combiner.parts, sizeof schedule->combine_parts);
    memcpy(schedule->combine_order, scheduler->combiner.order, sizeof schedule->combine_order);
    keep_schedule(scheduler, schedule);
  }
}

static void keep_split(Scheduler *scheduler, SearchSchedule *schedule, int64_t blocks) {
  if (schedule->split == 1)
    keep_schedule(scheduler, schedule);
  else if (suits(scheduler->structure, scheduler->options, schedule->split, blocks))
    keep_combined(scheduler, schedule, blocks);
}

static void choose(Scheduler *scheduler, uint32_t index, uint32_t num_split, int64_t blocks, SearchSchedule *schedule) {
  if (index == scheduler->grids->num) {
    keep_split(scheduler, schedule, blocks);
    schedule->swapped =
        mirage__search_may_swap(scheduler->program, scheduler->structure, scheduler->options->target, schedule);
    if (schedule->swapped)
      keep_split(scheduler, schedule, blocks);
    schedule->swapped = false;
    return;
  }
  const Choices *choices = &scheduler->grids->first[index];
  for (uint32_t i = 0; i < choices->num; i++) {
    uint32_t split = num_split + (choices->parts[i] > 1);
    int64_t all = blocks * choices->parts[i];
    bool fits = schedule->split == 1 || may_split(scheduler->structure, scheduler->options->target, all);
    if (split + (schedule->split > 1) > 3 || !fits) // a grid has three axes
      continue;
    set_parts(scheduler->program, schedule->parts, choices->axis, choices->parts[i]);
    choose(scheduler, index + 1, split, all, schedule);
  }
  set_parts(scheduler->program, schedule->parts, choices->axis, 1);
}

// Parts of an accumulator are a tensor with one dimension more; one that keeps a piece of the loop's axis has no shape
// that a second kernel knows. Nor does that kernel go through what was loaded again.
static bool may_combine_by_kernel(const SearchStructure *structure) {
  if (structure->num_loops > 1)
    return false;
  for (uint32_t i = 0; i < structure->num_outputs; i++)
    if (mirage__search_is_inside(structure->nodes[structure->outputs[i]].stage))
      return false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (node->op == MIRAGE_OP_LOOP && (node->rank == SEARCH_RANK || mirage__search_walks(node, structure->loop_axis)))
      return false;
  }
  return true;
}

static void keep_combiner(Scheduler *scheduler, const SearchSchedule *schedule, double time_us) {
  SearchSchedule second = *schedule;
  second.split = 1;
  if (!mirage__search_place(scheduler->program, scheduler->structure, scheduler->options, true, &second))
    return;
  scheduler->combiner.time_us = time_us;
  memcpy(scheduler->combiner.parts, second.parts, sizeof second.parts);
  memcpy(scheduler->combiner.order, second.order, sizeof second.order);
}

static void choose_combiner(Scheduler *scheduler, uint32_t index, uint32_t num_split, SearchSchedule *schedule) {
  if (index == scheduler->grids->num) {
    double time =
        mirage__search_combine_cost(scheduler->program, scheduler->structure, schedule, scheduler->options->target);
    if (time < scheduler->combiner.time_us)
      keep_combiner(scheduler, schedule, time);
    return;
  }
  const Choices *choices = &scheduler->grids->second[index];
  for (uint32_t i = 0; i < choices->num; i++) {
    uint32_t split = num_split + (choices->parts[i] > 1);
    if (split > 3)
      continue;
    set_parts(scheduler->program, schedule->parts, choices->axis, choices->parts[i]);
    choose_combiner(scheduler, index + 1, split, schedule);
  }
  set_parts(scheduler->program, schedule->parts, choices->axis, 1);
}

static MirageStatus choose_split(void *user, uint32_t index) {
  Scheduler *scheduler = (Scheduler *)user + index;
  SearchSchedule schedule;
  nothing_split(scheduler->program, &schedule);
  schedule.split = scheduler->split;
  scheduler->combiner.time_us = INFINITY;
  if (scheduler->split > 1 && may_combine_by_kernel(scheduler->structure)) {
    schedule.second = true;
    choose_combiner(scheduler, 0, 0, &schedule);
    schedule.second = false;
  }
  uint32_t axis = scheduler->structure->loop_axis;
  Choices loops = {.num = 1, .parts = {1}};
  if (axis)
    loops = loop_choices(scheduler->program, scheduler->structure, scheduler->options, scheduler->split);
  for (uint32_t i = 0; i < loops.num; i++) {
    schedule.parts[axis] = loops.parts[i];
    choose(scheduler, 0, 0, 1, &schedule);
  }
  return MIRAGE_OK;
}

static void list_grids(const SearchProgram *program, const SearchStructure *structure,
                       const MirageSearchOptions *options, Grids *out) {
  out->num = 0;
  for (uint32_t i = 1; i < program->num_axes; i++)
    if (search_axis_is_parallel(&program->axes[i]) && program->axes[i].tied == i) {
      out->first[out->num] = grid_choices(program, structure, i, false, options);
      out->second[out->num++] = grid_choices(program, structure, i, true, options);
    }
}

// In the order of the splits, as if one had tried them all.
static void merge(Scheduler *whole, const Scheduler *parts, uint32_t num) {
  for (uint32_t i = 0; i < num; i++) {
    whole->scheduled += parts[i].scheduled;
    for (uint32_t kind = 0; kind < SEARCH_NUM_COMBINES; kind++)
      for (uint32_t k = 0; k < parts[i].num_best[kind]; k++)
        keep_candidate(whole, &parts[i].best[kind * whole->max_best + k]);
  }
}

MirageStatus mirage__search_schedules(const SearchProgram *program, const SearchStructure *structure,
                                      const MirageSearchOptions *options, SearchPool *pool, uint32_t max,
                                      SearchCandidate *out_best, uint32_t *out_num, uint64_t *in_out_scheduled) {
  Grids grids;
  list_grids(program, structure, options, &grids);
  Choices splits = split_choices(program, structure, options);
  size_t kept = (size_t)max * SEARCH_NUM_COMBINES;
  SearchCandidate *best = malloc(splits.num * kept * sizeof *best);
  uint32_t of_one_grid = kept_of_one_grid(structure);
  Scheduler parts[MAX_PARTS], whole = {.best = out_best, .max_best = max, .of_one_grid = of_one_grid};
  *out_num = 0;
  if (!best)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < splits.num; i++)
    parts[i] = (Scheduler){.program = program,
                           .structure = structure,
                           .options = options,
                           .grids = &grids,
                           .split = splits.parts[i],
                           .best = &best[i * kept],
                           .max_best = max,
                           .of_one_grid = of_one_grid};
  mirage__search_run_tasks(pool, splits.num, choose_split, parts);
  merge(&whole, parts, splits.num);
  free(best);
  *in_out_scheduled += whole.scheduled;
  for (uint32_t kind = 0; kind < SEARCH_NUM_COMBINES; kind++)
    for (uint32_t i = 0; i < whole.num_best[kind]; i++)
      out_best[(*out_num)++] = out_best[kind * max + i];
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------- a given schedule

static bool has_choice(const Choices *choices, int64_t parts) {
  for (uint32_t i = 0; i < choices->num; i++)
    if (choices->parts[i] == parts)
      return true;
  return false;
}

static bool is_combine_tried(const SearchProgram *program, const SearchStructure *structure,
                             const MirageSearchOptions *options, const SearchSchedule *schedule, int64_t blocks) {
  switch (schedule->combine) {
  case SEARCH_BY_GRID:
    return blocks * schedule->split <= options->target->num_sms;
  case SEARCH_BY_CLUSTER:
    return options->target->has_cluster && schedule->split <= MAX_CLUSTER;
  case SEARCH_BY_KERNEL:
    for (uint32_t i = 1; i < program->num_axes; i++) {
      if (!search_axis_is_parallel(&program->axes[i]) || program->axes[i].tied != i)
        continue;
      Choices second = grid_choices(program, structure, i, true, options);
      if (!has_choice(&second, schedule->combine_parts[i]))
        return false;
    }
    return may_combine_by_kernel(structure) && parts_differ(program, structure, schedule);
  default:
    return schedule->split == 1;
  }
}

// Whether the options allow both kernels' grids, in some order of x, y and z.
static bool is_placed(const SearchProgram *program, const SearchStructure *structure,
                      const MirageSearchOptions *options, const SearchSchedule *schedule) {
  SearchSchedule first = *schedule, second = *schedule;
  memcpy(second.parts, schedule->combine_parts, sizeof second.parts);
  second.split = 1;
  return mirage__search_place(program, structure, options, false, &first) &&
         (schedule->combine != SEARCH_BY_KERNEL || mirage__search_place(program, structure, options, true, &second));
}

bool mirage__search_schedule_is_tried(const SearchProgram *program, const SearchStructure *structure,
                                      const MirageSearchOptions *options, const SearchSchedule *schedule, char *out_why,
                                      size_t size) {
  int64_t blocks = 1;
  uint32_t num_split = schedule->split > 1;
  for (uint32_t i = 1; i < program->num_axes; i++) {
    if (!search_axis_is_parallel(&program->axes[i]) || program->axes[i].tied != i)
      continue;
    Choices choices = grid_choices(program, structure, i, false, options);
    int64_t parts = schedule->parts[i], extent = program->axes[i].extent;
    if (!has_choice(&choices, parts)) {
      snprintf(out_why, size, "%lld blocks along an axis of %lld, tiles of %lld, are not tried", (long long)parts,
               (long long)extent, (long long)ceil_div(extent, parts));
      return false;
    }
    blocks *= parts;
    num_split += parts > 1;
  }
  Choices splits = split_choices(program, structure, options);
  Choices loops = {.num = 1, .parts = {1}};
  if (structure->loop_axis)
    loops = loop_choices(program, structure, options, schedule->split);
  int64_t range = structure->loop_axis ? schedule->parts[structure->loop_axis] : 1;
  bool tried = has_choice(&splits, schedule->split) && num_split <= 3 &&
               (schedule->split == 1 ||
                (may_split(structure, options->target, blocks) && suits(structure, options, schedule->split, blocks)));
  if (!tried)
    snprintf(out_why, size, "%lld blocks of the loop's axis beside %lld others are not tried",
             (long long)schedule->split, (long long)blocks);
  else if (!(tried = has_choice(&loops, range)))
    snprintf(out_why, size, "a loop of %lld iterations over %lld elements is not tried", (long long)range,
             (long long)ceil_div(program->axes[structure->loop_axis].extent, schedule->split));
  else if (!(tried = is_combine_tried(program, structure, options, schedule, blocks)))
    snprintf(out_why, size, "%lld parts of %lld blocks are not combined like this", (long long)schedule->split,
             (long long)blocks);
  else if (!(tried = is_placed(program, structure, options, schedule)))
    snprintf(out_why, size, "griddims, blockdims, imaps, omaps or fmaps do not allow it");
  else if (!(tried = isfinite(mirage__search_schedule_cost(program, structure, schedule, options->target, NULL))))
    snprintf(out_why, size, "its tiles do not fit shared memory and registers");
  return tried;
}
