// search_schedule.c - grid sizes and loop range for a block graph whose dataflow is decided.
//
// A schedule says into how many parts each axis is split: parallel axes into blocks, the loop's axis into iterations,
// and, where the parallel axes do not fill the chip, among blocks whose parts are combined at the end: by the blocks
// themselves (a cluster, or the grid when all of it is resident) or by a second kernel. Which numbers are tried:
// search_choices.c. All are scored by the cost model without building a graph. Each split of the loop's axis is a task.
#include "search/cost/cost_kernel.h"
#include "search/schedule/search_choices.h"
#include "search/schedule/search_rows.h"
#include "search/schedule/search_tails.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_CLUSTER = 8,
  OF_ONE_GRID = 2, // schedules that are kept of it, with different numbers of iterations,
  OF_A_CHAINS = 3, // and where products feed each other in the loop: what runs beside what, only a plan tells
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

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

// ------------------------------------------------------------------------------------------ the search

/// The second kernel of a split reduction, for one number of parts.
typedef struct Combiner {
  int64_t parts[SEARCH_MAX_AXES];
  uint8_t order[3];
  double time_us; // infinite: there is none
} Combiner;

/// How the parallel axes may be split, in both kernels.
typedef struct Grids {
  SearchChoices first[SEARCH_MAX_AXES], second[SEARCH_MAX_AXES];
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
  return mirage__search_is_chain(structure) ? OF_A_CHAINS : OF_ONE_GRID;
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
  return power || !structure->uneven || mirage__search_has_lists(options) || split == options->target->num_sms / blocks;
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
  const SearchChoices *choices = &scheduler->grids->first[index];
  for (uint32_t i = 0; i < choices->num; i++) {
    uint32_t split = num_split + (choices->parts[i] > 1);
    int64_t all = blocks * choices->parts[i];
    bool fits = schedule->split == 1 || may_split(scheduler->structure, scheduler->options->target, all);
    if (split + (schedule->split > 1) > 3 || !fits) // a grid has three axes
      continue;
    mirage__search_set_parts(scheduler->program, schedule->parts, choices->axis, choices->parts[i]);
    choose(scheduler, index + 1, split, all, schedule);
  }
  mirage__search_set_parts(scheduler->program, schedule->parts, choices->axis, 1);
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
  const SearchChoices *choices = &scheduler->grids->second[index];
  for (uint32_t i = 0; i < choices->num; i++) {
    uint32_t split = num_split + (choices->parts[i] > 1);
    if (split > 3)
      continue;
    mirage__search_set_parts(scheduler->program, schedule->parts, choices->axis, choices->parts[i]);
    choose_combiner(scheduler, index + 1, split, schedule);
  }
  mirage__search_set_parts(scheduler->program, schedule->parts, choices->axis, 1);
}

static MirageStatus choose_split(void *user, uint32_t index) {
  Scheduler *scheduler = (Scheduler *)user + index;
  SearchSchedule schedule;
  mirage__search_nothing_split(scheduler->program, &schedule);
  schedule.split = scheduler->split;
  scheduler->combiner.time_us = INFINITY;
  if (scheduler->split > 1 && may_combine_by_kernel(scheduler->structure)) {
    schedule.second = true;
    choose_combiner(scheduler, 0, 0, &schedule);
    schedule.second = false;
  }
  uint32_t axis = scheduler->structure->loop_axis;
  SearchChoices loops = {.num = 1, .parts = {1}};
  if (axis)
    loops = mirage__search_loop_choices(scheduler->program, scheduler->structure, scheduler->options, scheduler->split);
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
      out->first[out->num] = mirage__search_grid_choices(program, structure, i, false, options);
      out->second[out->num++] = mirage__search_grid_choices(program, structure, i, true, options);
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
  SearchChoices splits = mirage__search_split_choices(program, structure, options);
  size_t kept = (size_t)max * SEARCH_NUM_COMBINES;
  SearchCandidate *best = malloc(splits.num * kept * sizeof *best);
  uint32_t of_one_grid = kept_of_one_grid(structure);
  Scheduler parts[SEARCH_MAX_PARTS], whole = {.best = out_best, .max_best = max, .of_one_grid = of_one_grid};
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

static bool has_choice(const SearchChoices *choices, int64_t parts) {
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
      SearchChoices second = mirage__search_grid_choices(program, structure, i, true, options);
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
    SearchChoices choices = mirage__search_grid_choices(program, structure, i, false, options);
    int64_t parts = schedule->parts[i], extent = program->axes[i].extent;
    if (!has_choice(&choices, parts)) {
      snprintf(out_why, size, "%lld blocks along an axis of %lld, tiles of %lld, are not tried", (long long)parts,
               (long long)extent, (long long)ceil_div(extent, parts));
      return false;
    }
    blocks *= parts;
    num_split += parts > 1;
  }
  SearchChoices splits = mirage__search_split_choices(program, structure, options);
  SearchChoices loops = {.num = 1, .parts = {1}};
  if (structure->loop_axis)
    loops = mirage__search_loop_choices(program, structure, options, schedule->split);
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
