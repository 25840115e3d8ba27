// search_plans.c - the search for one-kernel µGraphs of a program without views.
//
// For each choice of the loop's axis (one of the reduced axes, or no loop) a task derives all tensors, reads the block
// graphs off them and keeps the best; candidates are made of the best over all of these (schedule/). Tasks
// share nothing and their results are merged in order of the axis, structure or candidate, so the answer does not
// depend on the number of threads (run/search_pool.h).
//
// Source: [Mirage 4]
#include "search/search_plans.h"
#include "search/block/search_options.h"
#include "search/run/search_funnel.h"
#include "search/schedule/search_candidates.h"
#include "search/walk/search_extract.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES_IN_MEMORY = 16 }; // `optimal`: pieces that together may use as much memory as the whole beside them

/// One choice of the loops' axis, and how many follow each other.
typedef struct Plan {
  uint32_t loop_axis, num_loops;
  SearchKept kept;
  MirageFunnel funnel;
  uint32_t too_large_input; // number + 1
  MirageStatus status;
} Plan;

typedef struct Search {
  SearchProgram program;
  MirageSearchOptions options; // defaults filled in
  SearchPart part;
  Plan plans[(1 + SEARCH_MAX_LOOPS) * SEARCH_MAX_AXES];
  uint32_t num_plans;
  uint32_t share; // of the limits on states and memory: plans of a program of one loop
} Search;

// ------------------------------------------------------------------------------------------ structures

static uint32_t kept_capacity(const Search *search) {
  return search->options.optimal ? UINT32_MAX : mirage__search_scheduled_at_once(&search->options);
}

// Derives all tensors, then reads block graphs off them: also off what was derived when a limit or the caller stopped
// it, which may hold the goal already.
static MirageStatus search_space(Search *search, SearchSpace *space, SearchKept *kept) {
  MIRAGE_TRY(mirage__search_restore_space(space));
  MIRAGE_TRY(mirage__search_saturate(space));
  MirageStop stop = space->stop;
  if (space->slot.checkpoint && stop < MIRAGE_STOP_TIME_BUDGET)
    MIRAGE_TRY(mirage__search_save_space(space));
  space->watch.deaf = stop >= MIRAGE_STOP_TIME_BUDGET;
  mirage__search_begin_extract(space, search->share);
  MirageStatus status = mirage__search_extract(space, search->part.pool, kept);
  space->stop = stop > space->stop ? stop : space->stop;
  if (space->stop == MIRAGE_STOP_NONE && space->lost)
    space->stop = MIRAGE_STOP_MEMORY;
  space->funnel.stop = space->stop;
  space->funnel.exhausted = space->stop == MIRAGE_STOP_NONE;
  return status;
}

// Writes or reads what a finished plan found.
static MirageStatus pass_plan(SearchBytes *bytes, Plan *plan) {
  SEARCH_PASS(bytes, plan->funnel);
  SEARCH_PASS(bytes, plan->too_large_input);
  return mirage__structure_pass_kept(bytes, &plan->kept);
}

static MirageStatus save_plan(const SearchSlot *slot, Plan *plan) {
  SearchBytes bytes = {0};
  MirageStatus status = pass_plan(&bytes, plan);
  bytes.failed |= status != MIRAGE_OK;
  MIRAGE_TRY(mirage__checkpoint_put(slot, SEARCH_RECORD_PLAN, &bytes));
  mirage__checkpoint_drop(slot, SEARCH_RECORD_SPACE);
  mirage__checkpoint_drop(slot, SEARCH_RECORD_WALK);
  return MIRAGE_OK;
}

// A plan that another run finished.
static MirageStatus resume_plan(Search *search, Plan *plan, SearchBytes *bytes) {
  SearchWatch watch = mirage__search_watch(&search->part);
  plan->kept.capacity = kept_capacity(search);
  MIRAGE_TRY(pass_plan(bytes, plan));
  mirage__search_publish(&watch, &plan->funnel);
  if (!search->part.piece)
    mirage__search_step(search->part.monitor, 1);
  return MIRAGE_OK;
}

/// Plans that are run at once: from `first` on.
typedef struct PlanRange {
  Search *search;
  uint32_t first;
} PlanRange;

static MirageStatus run_plan(void *user, uint32_t index) {
  const PlanRange *range = user;
  Search *search = range->search;
  Plan *plan = &search->plans[range->first + index];
  SearchSlot slot = {search->part.checkpoint, search->part.first_record + search->part.piece, range->first + index};
  SearchBytes bytes;
  if (mirage__checkpoint_find(&slot, SEARCH_RECORD_PLAN, &bytes))
    return plan->status = resume_plan(search, plan, &bytes);
  plan->funnel.stop = mirage__search_wanted_stop(search->part.monitor, search->part.deadline);
  if (plan->funnel.stop != MIRAGE_STOP_NONE)
    return MIRAGE_OK;
  plan->kept.capacity = kept_capacity(search);
  MirageField *field = mirage__search_field(&search->options);
  if (!field)
    return plan->status = MIRAGE_NO_MEMORY;
  SearchSpace space;
  MirageStatus status = mirage__search_space_init(&space, &search->program, &search->options, plan->loop_axis,
                                                  plan->num_loops, search->share, mirage_field_domain(field), field);
  space.watch = mirage__search_watch(&search->part);
  space.slot = slot;
  if (search->options.optimal && search->part.piece)
    space.max_bytes /= PIECES_IN_MEMORY;
  if (status == MIRAGE_OK)
    status = search_space(search, &space, &plan->kept);
  if (status == MIRAGE_OK && !plan->loop_axis)
    status = mirage__search_pointwise(&search->program, &search->options, &plan->kept);
  for (uint32_t i = 0; status == MIRAGE_OK && i < MIRAGE_NUM_AXIOMS; i++)
    space.funnel.axioms[i] = mirage_expr_stats(space.exprs)->axioms[i];
  plan->funnel = space.funnel;
  plan->too_large_input = space.too_large_input;
  mirage__search_publish(&space.watch, &space.funnel);
  mirage__search_space_deinit(&space);
  mirage_field_destroy(field);
  if (status == MIRAGE_OK && slot.checkpoint && plan->funnel.stop < MIRAGE_STOP_TIME_BUDGET)
    status = save_plan(&slot, plan);
  if (!search->part.piece)
    mirage__search_step(search->part.monitor, 1);
  return plan->status = status;
}

// ----------------------------------------------------------------------------------------------- plans

// From the structures of all plans to the candidates that are kept.
static MirageStatus choose_candidates(Search *search, MirageSearchResult *result) {
  uint32_t num = 0, count = 0;
  for (uint32_t p = 0; p < search->num_plans; p++)
    num += search->plans[p].kept.num;
  const SearchStructure **structures = calloc((size_t)num + 1, sizeof *structures);
  if (!structures)
    return MIRAGE_NO_MEMORY;
  for (uint32_t p = 0; p < search->num_plans; p++)
    for (uint32_t i = 0; i < search->plans[p].kept.num; i++) {
      search->plans[p].kept.items[i]->order = count;
      structures[count++] = search->plans[p].kept.items[i];
    }
  SearchPlans plans = {&search->program,
                       &search->options,
                       &search->part,
                       {NULL, search->part.first_record + search->part.piece, search->num_plans}};
  if (result->funnel.stop < MIRAGE_STOP_TIME_BUDGET) // another run has the same block graphs
    plans.slot.checkpoint = search->part.checkpoint;
  MirageStatus status = mirage__search_candidates(&plans, num, structures, result);
  free(structures);
  return status;
}

// The input that no block can hold a piece of, in whichever plan; 0 = there is none, else number + 1.
static uint32_t too_large_input(const Search *search) {
  uint32_t input = search->plans[0].too_large_input;
  for (uint32_t i = 0; i < search->num_plans; i++)
    if (search->plans[i].too_large_input != input)
      return 0;
  return input;
}

// Why there is no candidate.
static void explain(const Search *search, MirageSearchResult *result) {
  const MirageFunnel *funnel = &result->funnel;
  const MirageTarget *target = search->options.target;
  uint32_t input = too_large_input(search);
  char *text = result->reason, type[64];
  size_t size = sizeof result->reason;
  if (funnel->structures > 0)
    snprintf(text, size,
             "none of the block graphs fits the target in a schedule that griddims, blockdims, imaps, omaps, fmaps and "
             "franges allow");
  else if (funnel->stop != MIRAGE_STOP_NONE)
    snprintf(text, size, "stopped by %s before a block graph was met", mirage_stop_name(funnel->stop));
  else if (input) {
    const MirageUGraph *graph = search->program.graph;
    mirage_type_format(mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, input - 1)), type, sizeof type);
    snprintf(text, size, "no block can hold a row of input %u (%s): %lld bytes of shared memory are there", input - 1,
             type, (long long)target->shared_bytes_per_block);
  } else if (funnel->cut_memory > 0)
    snprintf(text, size,
             "no block graph of at most %u operators computes it; %" PRIu64
             " tensors were left out that do not fit %lld "
             "bytes of shared memory",
             search->options.max_block_ops, funnel->cut_memory, (long long)target->shared_bytes_per_block);
  else
    snprintf(text, size, "no block graph of at most %u operators computes it", search->options.max_block_ops);
}

static void add_plan(Search *search, uint32_t loop_axis, uint32_t num_loops) {
  search->plans[search->num_plans++] = (Plan){.loop_axis = loop_axis, .num_loops = num_loops};
}

// Runs the plans from `first` on and adds up what they met.
static MirageStatus run_plans(Search *search, uint32_t first, const MirageDiag *diag, MirageFunnel *funnel) {
  PlanRange range = {search, first};
  mirage__search_run_tasks(search->part.pool, search->num_plans - first, run_plan,
                           &range); // each plan keeps its status
  for (uint32_t i = first; i < search->num_plans; i++) {
    if (search->plans[i].status == MIRAGE_LIMIT)
      return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED,
                              "search: the program's abstract expression has too many terms");
    if (search->plans[i].status == MIRAGE_REDRAW || search->plans[i].status == MIRAGE_UNSUPPORTED)
      return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED, "search: the program has no value in a finite field: %s",
                              search->plans[i].status == MIRAGE_REDRAW ? "it divides by zero"
                                                                       : "an operator has no rule");
    MIRAGE_TRY(search->plans[i].status);
    mirage__search_add_to_funnel(funnel, &search->plans[i].funnel);
  }
  return MIRAGE_OK;
}

// Whether rows are long and few: a block for each leaves multiprocessors idle, and where rows are taken whole no blocks share one.
static bool leaves_idle(const Search *search, uint32_t row_axis) {
  enum { LONG_ROW = 16384 };
  const SearchProgram *program = &search->program;
  double blocks = 1;
  for (uint32_t axis = 1; axis < program->num_axes; axis++)
    if (search_axis_is_parallel(&program->axes[axis]))
      blocks *= (double)program->axes[axis].extent;
  return program->axes[row_axis].extent >= LONG_ROW && 2 * blocks <= search->options.target->num_sms;
}

// Where no block holds what one loop asks for: one loop more.
static MirageStatus search_longer(Search *search, const MirageDiag *diag, MirageSearchResult *result) {
  const SearchProgram *program = &search->program;
  uint32_t first = search->num_plans;
  for (uint32_t axis = 1; axis < program->num_axes; axis++) {
    bool row = search_axis_is_row(&program->axes[axis]), tried = row && leaves_idle(search, axis);
    uint32_t loops = row ? 3 : 2;
    if (!tried && (row || search_axis_is_loop(&program->axes[axis])) && loops <= search->options.max_loops)
      add_plan(search, axis, loops);
  }
  MIRAGE_TRY(run_plans(search, first, diag, &result->funnel));
  free(result->candidates);
  result->candidates = NULL;
  return choose_candidates(search, result);
}

// Rows are held whole, or walked twice; or once more, where that divides them among blocks.
static MirageStatus search_plans(Search *search, const MirageDiag *diag, MirageSearchResult *result) {
  const SearchProgram *program = &search->program;
  add_plan(search, 0, 0);
  for (uint32_t axis = 1; axis < program->num_axes; axis++)
    if (search_axis_is_loop(&program->axes[axis]))
      add_plan(search, axis, 1);
  search->share = search->num_plans;
  for (uint32_t axis = 1; axis < program->num_axes; axis++)
    for (uint32_t loops = 2; search_axis_is_row(&program->axes[axis]) && loops <= search->options.max_loops; loops++)
      if (loops == 2 || leaves_idle(search, axis))
        add_plan(search, axis, loops);
  if (!search->part.piece)
    mirage__search_phase(search->part.monitor, MIRAGE_PHASE_PLANS, search->num_plans);
  result->funnel.exhausted = true;
  MIRAGE_TRY(run_plans(search, 0, diag, &result->funnel));
  MIRAGE_TRY(choose_candidates(search, result));
  if (result->num_candidates == 0)
    MIRAGE_TRY(search_longer(search, diag, result));
  if (result->num_candidates == 0)
    explain(search, result);
  else if (!search->part.piece)
    mirage__search_show_best(search->part.monitor, mirage_ugraph_get_meta(result->candidates[0])->cost.time_us);
  return MIRAGE_OK;
}

MirageStatus mirage__search_whole(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const SearchPart *part, const MirageDiag *diag, MirageSearchResult *out_result) {
  *out_result = (MirageSearchResult){0};
  Search *search = calloc(1, sizeof *search);
  if (!search)
    return MIRAGE_NO_MEMORY;
  search->options = *options;
  search->part = *part;
  MirageStatus status = mirage__search_program_init(&search->program, program, diag);
  if (status == MIRAGE_OK) {
    mirage__search_allow_more(&search->program, &search->options);
    status = mirage__search_drop_stabilisers(&search->program, &search->options);
    if (status == MIRAGE_OK)
      status = search_plans(search, diag, out_result);
    mirage__search_program_deinit(&search->program);
  }
  for (uint32_t i = 0; i < search->num_plans; i++)
    mirage__structure_release(&search->plans[i].kept);
  free(search);
  if (status != MIRAGE_OK)
    mirage_search_result_deinit(out_result);
  return status;
}
