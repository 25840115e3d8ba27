// search.c - the search for one-kernel µGraphs, from options to candidates.
//
// For each choice of the loop's axis (one of the reduced axes, or no loop) a worker derives all tensors, reads the
// block graphs off them and keeps the best; then schedules are chosen for the best over all workers, the winners are
// built at real shapes, and ranked by the cost of what was built. Workers share nothing and their results are merged in
// order of the axis, so the answer does not depend on the number of threads.
//
// Source: [Mirage 4]
#define _POSIX_C_SOURCE 200809L // clock_gettime, sysconf
#include "mirage/search.h"
#include "search_internal.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  DEFAULT_BLOCK_OPS = 11,
  DEFAULT_CANDIDATES = 16,
  SCHEDULES_PER_STRUCTURE = 3,
  FIELD_TRIAL = 0,
  EXTRACTION_SHARE = 50
};
static const uint64_t default_states = 200000;

/// One choice of the loop's axis.
typedef struct Plan {
  uint32_t loop_axis;
  SearchKept kept;
  MirageFunnel funnel;
  MirageStatus status;
} Plan;

typedef struct Search {
  SearchProgram program;
  MirageSearchOptions options; // defaults filled in
  Plan plans[SEARCH_MAX_AXES];
  uint32_t num_plans;
  uint32_t next_plan; // taken by workers under the lock
  pthread_mutex_t lock;
} Search;

// ------------------------------------------------------------------------------------------ structures

static MirageStatus run_plan(Search *search, Plan *plan) {
  // Half the candidates could be schedules of one structure; four times as many structures leaves room for
  // misjudgement.
  plan->kept.capacity = 4 * search->options.max_candidates;
  plan->kept.items = calloc(plan->kept.capacity, sizeof *plan->kept.items);
  MirageField *field = mirage_field_create(search->options.seed, FIELD_TRIAL);
  if (!plan->kept.items || !field) {
    mirage_field_destroy(field);
    return MIRAGE_NO_MEMORY;
  }
  SearchSpace space;
  MirageStatus status = mirage__search_space_init(&space, &search->program, &search->options, plan->loop_axis,
                                                  search->num_plans, mirage_field_domain(field), field);
  if (status == MIRAGE_OK)
    status = mirage__search_saturate(&space);
  bool saturated = !space.stopped;
  if (status == MIRAGE_OK) { // what was derived before the limit may hold the goal already
    space.stopped = false;
    space.max_states = space.funnel.states + EXTRACTION_SHARE * search->options.max_states / search->num_plans;
    status = mirage__search_extract(&space, &plan->kept);
  }
  space.funnel.exhausted = saturated && !space.stopped;
  plan->funnel = space.funnel;
  mirage__search_space_deinit(&space);
  mirage_field_destroy(field);
  return status;
}

static void *work(void *argument) {
  Search *search = argument;
  for (;;) {
    pthread_mutex_lock(&search->lock);
    uint32_t index = search->next_plan++;
    pthread_mutex_unlock(&search->lock);
    if (index >= search->num_plans)
      return NULL;
    search->plans[index].status = run_plan(search, &search->plans[index]);
  }
}

static void run_plans(Search *search) {
  pthread_t threads[SEARCH_MAX_AXES];
  uint32_t started = 0;
  while (started + 1 < search->options.num_threads && started + 1 < search->num_plans &&
         pthread_create(&threads[started], NULL, work, search) == 0)
    started++;
  work(search);
  for (uint32_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}

void mirage__search_add_to_funnel(MirageFunnel *total, const MirageFunnel *part) {
  total->states += part->states;
  total->cut_expr += part->cut_expr;
  total->cut_axis += part->cut_axis;
  total->cut_order += part->cut_order;
  total->cut_merge += part->cut_merge;
  total->cut_memory += part->cut_memory;
  total->structures += part->structures;
  total->exhausted = total->exhausted && part->exhausted;
}

// ------------------------------------------------------------------------------------------ candidates

static int compare_structures(const void *a, const void *b) {
  const SearchStructure *x = *(const SearchStructure *const *)a, *y = *(const SearchStructure *const *)b;
  if (x->score_us != y->score_us)
    return x->score_us < y->score_us ? -1 : 1;
  if (x->num_nodes != y->num_nodes)
    return x->num_nodes < y->num_nodes ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static int compare_candidates(const void *a, const void *b) {
  const SearchCandidate *x = a, *y = b;
  if (x->time_us != y->time_us)
    return x->time_us < y->time_us ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static uint32_t collect_structures(Search *search, const SearchStructure **out) {
  uint32_t count = 0;
  for (uint32_t p = 0; p < search->num_plans; p++)
    for (uint32_t i = 0; i < search->plans[p].kept.num; i++) {
      search->plans[p].kept.items[i].order = count;
      out[count++] = &search->plans[p].kept.items[i];
    }
  return count;
}

static double built_us(const MirageUGraph *graph) { return mirage_ugraph_get_meta(graph)->cost.time_us; }

// By the cost of what was built, which knows more than the estimate of a schedule; then numbers them.
static void sort_built(MirageSearchResult *result, const MirageUGraph *program) {
  const char *source = mirage_ugraph_get_meta(program)->name;
  for (uint32_t i = 1; i < result->num_candidates; i++)
    for (uint32_t j = i; j > 0 && built_us(result->candidates[j]) < built_us(result->candidates[j - 1]); j--) {
      MirageUGraph *swap = result->candidates[j];
      result->candidates[j] = result->candidates[j - 1];
      result->candidates[j - 1] = swap;
    }
  for (uint32_t i = 0; i < result->num_candidates; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s_%u", source ? source : "program", i);
    mirage_ugraph_meta(result->candidates[i])->name = mirage_ugraph_intern_string(result->candidates[i], name);
  }
}

static MirageStatus build_candidates(Search *search, SearchCandidate *candidates, uint32_t count,
                                     const MirageDiag *diag, MirageSearchResult *result) {
  uint32_t wanted = search->options.max_candidates;
  result->candidates = calloc(wanted, sizeof(MirageUGraph *));
  if (!result->candidates)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < count && result->num_candidates < wanted; i++) {
    MirageUGraph *graph = NULL;
    MirageStatus status = mirage__search_build(&search->program, &candidates[i], result->num_candidates, NULL, &graph);
    if (status == MIRAGE_NO_MEMORY)
      return status;
    if (status != MIRAGE_OK)
      continue; // without the axis test, a structure may have no real shape
    result->candidates[result->num_candidates++] = graph;
    MIRAGE_TRY(mirage_cost(graph, search->options.target, diag, &mirage_ugraph_meta(graph)->cost));
  }
  sort_built(result, search->program.source);
  result->funnel.candidates = result->num_candidates;
  return MIRAGE_OK;
}

// Brings the best `wanted` to the front, in order, among them some of each way to combine split reductions: which of
// these is the fastest, a GPU knows better than the cost model.
static void vary(SearchCandidate *candidates, uint32_t count, uint32_t wanted) {
  uint32_t reserved = wanted / 8, left = wanted, of_kind[SEARCH_NUM_COMBINES] = {0}, front = 0;
  for (uint32_t i = 0; i < count; i++) {
    candidates[i].chosen = of_kind[candidates[i].schedule.combine]++ < reserved;
    left -= candidates[i].chosen;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!candidates[i].chosen && left == 0)
      continue;
    left -= !candidates[i].chosen;
    SearchCandidate next = candidates[i];
    memmove(&candidates[front + 1], &candidates[front], (i - front) * sizeof *candidates);
    candidates[front++] = next;
  }
}

// Chooses schedules for the best structures, ranks all of them, builds the first.
static MirageStatus choose_candidates(Search *search, const MirageDiag *diag, MirageSearchResult *result) {
  uint32_t capacity = search->num_plans * 4 * search->options.max_candidates;
  const SearchStructure **structures = calloc(capacity, sizeof *structures);
  SearchCandidate *candidates =
      calloc((size_t)capacity * SCHEDULES_PER_STRUCTURE * SEARCH_NUM_COMBINES, sizeof *candidates);
  MirageStatus status = structures && candidates ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    uint32_t num_structures = collect_structures(search, structures), count = 0;
    qsort(structures, num_structures, sizeof *structures, compare_structures);
    if (num_structures > 4 * search->options.max_candidates)
      num_structures = 4 * search->options.max_candidates;
    for (uint32_t i = 0; i < num_structures; i++)
      count += mirage__search_schedules(&search->program, structures[i], &search->options, SCHEDULES_PER_STRUCTURE,
                                        &candidates[count], &result->funnel.scheduled);
    for (uint32_t i = 0; i < count; i++)
      candidates[i].order = i;
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    vary(candidates, count, search->options.max_candidates);
    status = build_candidates(search, candidates, count, diag, result);
  }
  free(structures);
  free(candidates);
  return status;
}

// ---------------------------------------------------------------------------------------------- public

static MirageStatus fill_options(const MirageSearchOptions *given, const MirageDiag *diag, MirageSearchOptions *out) {
  *out = given ? *given : (MirageSearchOptions){0};
  if (!out->target)
    out->target = mirage_target_get(0);
  if (!out->max_block_ops)
    out->max_block_ops = DEFAULT_BLOCK_OPS;
  if (!out->max_candidates)
    out->max_candidates = DEFAULT_CANDIDATES;
  if (!out->max_states)
    out->max_states = default_states;
  if (!out->num_threads) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    out->num_threads = cores > 0 ? (uint32_t)cores : 1;
  }
  for (size_t i = 0; i < out->griddims.size; i++)
    if (out->griddims.data[i] < 1)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "search: griddims must be at least 1, got %lld",
                              (long long)out->griddims.data[i]);
  for (size_t i = 0; i < out->franges.size; i++)
    if (out->franges.data[i] < 1)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "search: franges must be at least 1, got %lld",
                              (long long)out->franges.data[i]);
  if (out->max_block_ops > 24 || out->max_candidates > 4096)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "search: at most 24 block operators and 4096 candidates, got %u and %u", out->max_block_ops,
                            out->max_candidates);
  return MIRAGE_OK;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static MirageStatus search_plans(Search *search, const MirageDiag *diag, MirageSearchResult *result) {
  search->plans[search->num_plans++] = (Plan){.loop_axis = 0};
  for (uint32_t axis = 1; axis < search->program.num_axes; axis++)
    if (search_axis_is_loop(&search->program.axes[axis]))
      search->plans[search->num_plans++] = (Plan){.loop_axis = axis};
  if (pthread_mutex_init(&search->lock, NULL) != 0)
    return MIRAGE_NO_MEMORY;
  run_plans(search);
  pthread_mutex_destroy(&search->lock);
  result->funnel.exhausted = true;
  for (uint32_t i = 0; i < search->num_plans; i++) {
    if (search->plans[i].status == MIRAGE_LIMIT)
      return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED,
                              "search: the program's abstract expression has too many terms");
    if (search->plans[i].status == MIRAGE_REDRAW || search->plans[i].status == MIRAGE_UNSUPPORTED)
      return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED, "search: the program has no value in a finite field: %s",
                              search->plans[i].status == MIRAGE_REDRAW ? "it divides by zero"
                                                                       : "an operator has no rule");
    MIRAGE_TRY(search->plans[i].status);
    mirage__search_add_to_funnel(&result->funnel, &search->plans[i].funnel);
  }
  return choose_candidates(search, diag, result);
}

MirageStatus mirage__search_whole(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const MirageDiag *diag, MirageSearchResult *out_result) {
  *out_result = (MirageSearchResult){0};
  Search *search = calloc(1, sizeof *search);
  if (!search)
    return MIRAGE_NO_MEMORY;
  search->options = *options;
  MirageStatus status = mirage__search_program_init(&search->program, program, diag);
  if (status == MIRAGE_OK) {
    status = mirage__search_drop_stabilisers(&search->program, &search->options);
    if (status == MIRAGE_OK)
      status = search_plans(search, diag, out_result);
    mirage__search_program_deinit(&search->program);
  }
  for (uint32_t i = 0; i < search->num_plans; i++)
    free(search->plans[i].kept.items);
  free(search);
  if (status != MIRAGE_OK)
    mirage_search_result_deinit(out_result);
  return status;
}

/// The last message of a search that may fail without consequence.
typedef struct Held {
  char text[256];
  const void *loc;
} Held;

static void hold(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Held *held = user;
  (void)severity;
  held->loc = loc;
  strncpy(held->text, message, sizeof held->text - 1);
}

MirageStatus mirage_search(const MirageUGraph *program, const MirageSearchOptions *options, const MirageDiag *diag,
                           MirageSearchResult *out_result) {
  double start = now();
  *out_result = (MirageSearchResult){0};
  MirageSearchOptions filled;
  MIRAGE_TRY(fill_options(options, diag, &filled));
  Held held = {0};
  MirageDiag holding = {hold, &held};
  MirageStatus status = mirage__search_whole(program, &filled, &holding, out_result), pieces = MIRAGE_OK;
  if (status == MIRAGE_OK || status == MIRAGE_UNSUPPORTED)
    pieces = mirage__search_partition(program, &filled, out_result);
  if (status == MIRAGE_UNSUPPORTED && out_result->num_candidates > 0)
    status = MIRAGE_OK; // pieces of it can be treated
  else if (status != MIRAGE_OK && held.text[0])
    mirage_diag_emit(diag, MIRAGE_SEVERITY_ERROR, held.loc, "%s", held.text);
  status = pieces != MIRAGE_OK ? pieces : status;
  if (status != MIRAGE_OK)
    mirage_search_result_deinit(out_result);
  else
    out_result->funnel.seconds = now() - start;
  return status;
}

void mirage_search_result_deinit(MirageSearchResult *result) {
  for (uint32_t i = 0; i < result->num_candidates; i++)
    mirage_ugraph_destroy(result->candidates[i]);
  free(result->candidates);
  *result = (MirageSearchResult){0};
}
