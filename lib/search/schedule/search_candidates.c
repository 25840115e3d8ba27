// search_candidates.c - from the block graphs of all plans to candidates: schedules for the best, then µGraphs.
//
// Structures are ranked at a middling schedule; the best get schedules of their own, the best of these are built at
// real shapes and ranked by the cost of their plans. Structures and candidates are tasks, merged in order.
#include "search/schedule/search_candidates.h"
#include "search/cost/cost_memo.h"
#include "search/run/search_funnel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEAST_CANDIDATES = 16,
  SCHEDULES_PER_STRUCTURE = 8,
  SCHEDULES = SCHEDULES_PER_STRUCTURE * SEARCH_NUM_COMBINES,
  WAYS = 2 * SEARCH_NUM_COMBINES, // to combine parts, of products as they stand and swapped:
  OF_EACH_WAY = 16,               // at least a sixteenth of the candidates is of each
  OF_ONE_SCHEDULE = 8,            // at most an eighth and one has one schedule, while there are others
  AFTER_INTERRUPT = 4,            // block graphs that get schedules all the same
  MORE_BUILT = 12,                // than half as many again as are wanted
};
static const double save_interval = 1; // seconds

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

// ------------------------------------------------------------------------------------------------------------- variety

// Whether blocks and iterations have the same parts of every axis, and parts are combined in the same way.
static bool same_schedule(const SearchCandidate *a, const SearchCandidate *b) {
  const SearchSchedule *x = &a->schedule, *y = &b->schedule;
  return a->structure->loop_axis == b->structure->loop_axis && a->structure->num_loops == b->structure->num_loops &&
         x->split == y->split && x->combine == y->combine && x->threads == y->threads &&
         memcmp(x->parts, y->parts, sizeof x->parts) == 0 &&
         memcmp(x->combine_parts, y->combine_parts, sizeof x->combine_parts) == 0;
}

// How many of those chosen before it have its schedule.
static uint32_t count_alike(const SearchCandidate *candidates, uint32_t index) {
  uint32_t alike = 0;
  for (uint32_t i = 0; i < index; i++)
    alike += candidates[i].chosen && same_schedule(&candidates[i], &candidates[index]);
  return alike;
}

static uint32_t way_of(const SearchSchedule *schedule) { return 2 * schedule->combine + schedule->swapped; }

// Brings the best `wanted` to the front, in order, among them some of each way to combine split reductions, and not too
// many of one schedule, whose algebra differs: a GPU knows better than the cost model which of these is the fastest.
static void vary(SearchCandidate *candidates, uint32_t count, uint32_t wanted) {
  enum { OF_WAYS, SCHEDULES_APART, ANY, NUM_PASSES };
  uint32_t left = wanted, share = wanted < OF_EACH_WAY ? 1 : wanted / OF_EACH_WAY, of_way[WAYS] = {0}, front = 0;
  for (uint32_t i = 0; i < count; i++)
    candidates[i].chosen = false;
  for (uint32_t pass = 0; pass < NUM_PASSES; pass++)
    for (uint32_t i = 0; i < count && left > 0; i++) {
      bool takes = pass == OF_WAYS           ? of_way[way_of(&candidates[i].schedule)]++ < share
                   : pass == SCHEDULES_APART ? count_alike(candidates, i) < 1 + wanted / OF_ONE_SCHEDULE
                                             : true;
      if (candidates[i].chosen || !takes)
        continue;
      candidates[i].chosen = true;
      left--;
    }
  for (uint32_t i = 0; i < count; i++) {
    if (!candidates[i].chosen)
      continue;
    SearchCandidate next = candidates[i];
    memmove(&candidates[front + 1], &candidates[front], (i - front) * sizeof *candidates);
    candidates[front++] = next;
  }
}

// ------------------------------------------------------------------------------------------------------------ building

/// Candidates that are built at once.
typedef struct Building {
  const SearchPlans *plans;
  const SearchCandidate *candidates;
  MirageUGraph **graphs; // in the same order; NULL: without the axis test, a structure may have no real shape
} Building;

static double built_us(const MirageUGraph *graph) { return mirage_ugraph_get_meta(graph)->cost.time_us; }

static MirageStatus build_at_cost(const SearchPlans *plans, const SearchCandidate *candidate, uint32_t index,
                                  MirageUGraph **out_graph) {
  MIRAGE_TRY(mirage__search_build(plans->program, candidate, index, NULL, out_graph));
  return mirage__cost_graph(*out_graph, plans->options->target, plans->part->memo, NULL,
                            &mirage_ugraph_meta(*out_graph)->cost);
}

static double time_of(const MirageUGraph *graph) {
  const MirageCost *cost = graph ? &mirage_ugraph_get_meta(graph)->cost : NULL;
  return cost && cost->present ? cost->time_us : INFINITY;
}

// As it is, or with operands whose rows tensor copies cannot read copied first, where that is faster.
static MirageStatus build_candidate(void *user, uint32_t index) {
  const Building *building = user;
  SearchCandidate candidate = building->candidates[index];
  MirageUGraph **graph = &building->graphs[index], *padded = NULL;
  MirageStatus status = build_at_cost(building->plans, &candidate, index, graph);
  if (status == MIRAGE_NO_MEMORY || !building->plans->options->target->has_tensor_copy ||
      !mirage__search_may_pad(building->plans->program, candidate.structure))
    return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
  candidate.padded = true;
  status = build_at_cost(building->plans, &candidate, index, &padded);
  if (time_of(padded) < time_of(*graph)) {
    mirage_ugraph_destroy(*graph);
    *graph = padded;
    padded = NULL;
  }
  mirage_ugraph_destroy(padded);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

// Builds candidates, best first, until `wanted` have a plan; these come to the front, each with the cost of its plan and
// its graph as number `order`.
static MirageStatus build_best(const SearchPlans *plans, SearchCandidate *candidates, uint32_t count, uint32_t wanted,
                               MirageUGraph **graphs, uint32_t *out_built) {
  MirageStatus status = MIRAGE_OK;
  uint32_t done = 0, built = 0;
  while (status == MIRAGE_OK && done < count && built < wanted) {
    uint32_t left = count - done, next = wanted - built < left ? wanted - built : left;
    Building building = {plans, candidates + done, graphs + done};
    status = mirage__search_run_tasks(plans->part->pool, next, build_candidate, &building);
    for (uint32_t end = done + next; done < end; done++) {
      const MirageCost *cost = graphs[done] ? &mirage_ugraph_get_meta(graphs[done])->cost : NULL;
      if (!cost || !cost->present || !isfinite(cost->time_us))
        continue;
      candidates[built] = candidates[done];
      candidates[built].time_us = cost->time_us;
      candidates[built++].order = done;
    }
  }
  *out_built = built;
  return status;
}

static void keep(MirageSearchResult *result, MirageUGraph **graph) {
  uint32_t at = result->num_candidates++;
  for (; at > 0 && built_us(result->candidates[at - 1]) > built_us(*graph); at--)
    result->candidates[at] = result->candidates[at - 1];
  result->candidates[at] = *graph;
  *graph = NULL;
}

static void number(MirageSearchResult *result, const MirageUGraph *program) {
  const char *source = mirage_ugraph_get_meta(program)->name;
  for (uint32_t i = 0; i < result->num_candidates; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s_%u", source ? source : "program", i);
    mirage_ugraph_meta(result->candidates[i])->name = mirage_ugraph_intern_string(result->candidates[i], name);
  }
}

// Keeps the best of the candidates that were built, by what their plans cost.
static void keep_best(const MirageSearchOptions *options, SearchCandidate *built, uint32_t count, MirageUGraph **graphs,
                      MirageSearchResult *result) {
  uint32_t wanted = options->max_candidates;
  qsort(built, count, sizeof *built, compare_candidates);
  while (!options->optimal && count && built[count - 1].time_us > SEARCH_FAR_BEHIND * built[0].time_us)
    count--;
  vary(built, count, wanted);
  for (uint32_t i = 0; i < count && i < wanted; i++)
    keep(result, &graphs[built[i].order]);
}

// More are built than wanted: structure and schedule tell less than a plan.
static MirageStatus build_candidates(const SearchPlans *plans, SearchCandidate *candidates, uint32_t count,
                                     MirageSearchResult *result) {
  uint32_t wanted = plans->options->max_candidates, more = wanted + wanted / 2 + MORE_BUILT, built = 0;
  MirageUGraph **graphs = calloc((size_t)count + 1, sizeof(MirageUGraph *));
  result->candidates = calloc(wanted, sizeof(MirageUGraph *));
  MirageStatus status = result->candidates && graphs ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  vary(candidates, count, more);
  if (status == MIRAGE_OK)
    status = build_best(plans, candidates, count, more, graphs, &built);
  if (status == MIRAGE_OK)
    keep_best(plans->options, candidates, built, graphs, result);
  for (uint32_t i = 0; graphs && i < count; i++)
    mirage_ugraph_destroy(graphs[i]);
  free(graphs);
  number(result, plans->program->source);
  result->funnel.candidates = result->num_candidates;
  return status;
}

// ----------------------------------------------------------------------------------------------------------- schedules

/// The best schedules of one structure.
typedef struct Scheduled {
  uint32_t num;
  uint64_t tried;
} Scheduled;

typedef struct Scheduling {
  const SearchPlans *plans;
  const SearchStructure **structures; // of a round; best first
  SearchCandidate *candidates;        // of a round: [structure][SCHEDULES]
  Scheduled *scheduled;               // by structure of a round
  int skipped;                        // atomic: an interrupt came, and some of the round have no schedules
} Scheduling;

static MirageStatus schedule_structure(void *user, uint32_t index) {
  Scheduling *scheduling = user;
  Scheduled *scheduled = &scheduling->scheduled[index];
  if (index >= AFTER_INTERRUPT && mirage__search_is_interrupted(scheduling->plans->part->monitor)) {
    __atomic_store_n(&scheduling->skipped, 1, __ATOMIC_RELAXED);
    return MIRAGE_OK;
  }
  return mirage__search_schedules(scheduling->plans->program, scheduling->structures[index], scheduling->plans->options,
                                  scheduling->plans->part->pool, SCHEDULES_PER_STRUCTURE,
                                  &scheduling->candidates[(size_t)index * SCHEDULES], &scheduled->num,
                                  &scheduled->tried);
}

// Leaves the best `wanted` of each way to combine.
static uint32_t thin(SearchCandidate *candidates, uint32_t count, uint32_t wanted) {
  uint32_t of_kind[SEARCH_NUM_COMBINES] = {0}, left = 0;
  for (uint32_t i = 0; i < count; i++)
    if (of_kind[candidates[i].schedule.combine]++ < wanted)
      candidates[left++] = candidates[i];
  return left;
}

// Chooses schedules for a round of structures, those after the ones that are done.
static MirageStatus rank_round(Scheduling *scheduling, SearchRanking *ranking, uint32_t round) {
  SearchCandidate *candidates = ranking->candidates;
  scheduling->structures = ranking->structures + ranking->done;
  scheduling->candidates = &candidates[ranking->count];
  memset(scheduling->scheduled, 0, round * sizeof *scheduling->scheduled);
  MIRAGE_TRY(mirage__search_run_tasks(scheduling->plans->part->pool, round, schedule_structure, scheduling));
  for (uint32_t i = 0; i < round; i++) {
    const Scheduled *found = &scheduling->scheduled[i];
    memmove(&candidates[ranking->count], &scheduling->candidates[(size_t)i * SCHEDULES],
            found->num * sizeof *candidates);
    for (uint32_t k = 0; k < found->num; k++)
      candidates[ranking->count++].order = ranking->order++;
    ranking->scheduled += found->tried;
  }
  qsort(candidates, ranking->count, sizeof *candidates, compare_candidates);
  ranking->done += round;
  return MIRAGE_OK;
}

// Chooses schedules for all structures, a round of them at a time. Between two rounds the caller may end it, and
// another run can go on. An interrupt ends a round as well: what it has is used, but the checkpoint stays at its begin.
static MirageStatus rank_candidates(Scheduling *scheduling, SearchRanking *ranking, uint32_t at_once,
                                    MirageFunnel *funnel) {
  const SearchPart *part = scheduling->plans->part;
  double next_save = mirage__search_clock() + save_interval;
  while (ranking->done < ranking->num) {
    uint32_t left = ranking->num - ranking->done, round = left < at_once ? left : at_once;
    MIRAGE_TRY(rank_round(scheduling, ranking, round));
    if (!part->piece && ranking->count)
      mirage__search_show_best(part->monitor, ranking->candidates[0].time_us);
    mirage__search_step(part->monitor, part->piece ? 0 : round);
    if (__atomic_load_n(&scheduling->skipped, __ATOMIC_RELAXED)) {
      mirage__search_add_to_funnel(funnel, &(MirageFunnel){.stop = MIRAGE_STOP_INTERRUPT});
      break;
    }
    if (round == left)
      break;
    ranking->count = thin(ranking->candidates, ranking->count, scheduling->plans->options->max_candidates);
    MirageStop stop = mirage__search_wanted_stop(part->monitor, part->deadline);
    if (scheduling->plans->slot.checkpoint && (stop != MIRAGE_STOP_NONE || mirage__search_clock() >= next_save)) {
      MIRAGE_TRY(mirage__search_save_ranking(&scheduling->plans->slot, ranking));
      next_save = mirage__search_clock() + save_interval;
    }
    if (stop == MIRAGE_STOP_NONE)
      continue;
    mirage__search_add_to_funnel(funnel, &(MirageFunnel){.stop = stop});
    break;
  }
  funnel->scheduled += ranking->scheduled;
  return MIRAGE_OK;
}

// Half the candidates could be schedules of one structure; four times as many structures leaves room for misjudgement,
// also where few candidates are wanted.
uint32_t mirage__search_scheduled_at_once(const MirageSearchOptions *options) {
  bool few = options->max_candidates < LEAST_CANDIDATES && !options->optimal;
  return 4 * (few ? LEAST_CANDIDATES : options->max_candidates);
}

static uint32_t plan_of(const SearchStructure *structure) {
  return structure->loop_axis * (SEARCH_MAX_LOOPS + 1) + structure->num_loops;
}

// Brings `wanted` structures to the front, in order: half of them shared evenly among the plans, since the middling
// schedule compares structures of one plan better than those that loop with those that do not; and the best of the
// rest.
static void take_of_each_plan(const SearchStructure **structures, uint32_t num, uint32_t wanted) {
  uint32_t of_plan[SEARCH_MAX_AXES * (SEARCH_MAX_LOOPS + 1)] = {0}, plans = 0, reserved = 0, front = 0;
  for (uint32_t i = 0; i < num; i++)
    plans += of_plan[plan_of(structures[i])]++ == 0;
  uint32_t share = wanted / (2 * plans);
  memset(of_plan, 0, sizeof of_plan);
  for (uint32_t i = 0; i < num; i++)
    reserved += of_plan[plan_of(structures[i])]++ < share;
  uint32_t free_places = wanted - reserved;
  memset(of_plan, 0, sizeof of_plan);
  for (uint32_t i = 0; i < num && front < wanted; i++) {
    bool of_share = of_plan[plan_of(structures[i])]++ < share;
    if (!of_share && free_places == 0)
      continue;
    free_places -= !of_share;
    structures[front++] = structures[i];
  }
}

MirageStatus mirage__search_candidates(const SearchPlans *plans, uint32_t num, const SearchStructure **structures,
                                       MirageSearchResult *result) {
  uint32_t wanted = plans->options->max_candidates, at_once = mirage__search_scheduled_at_once(plans->options);
  SearchRanking ranking = {.structures = structures, .num = num, .room = wanted * SEARCH_NUM_COMBINES};
  ranking.candidates = calloc(ranking.room + (size_t)at_once * SCHEDULES, sizeof *ranking.candidates);
  Scheduling scheduling = {.plans = plans, .scheduled = calloc(at_once, sizeof *scheduling.scheduled)};
  MirageStatus status = ranking.candidates && scheduling.scheduled ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  qsort(structures, num, sizeof *structures, compare_structures);
  if (num > at_once && !plans->options->optimal) {
    take_of_each_plan(structures, num, at_once);
    ranking.num = at_once;
  }
  if (!plans->part->piece)
    mirage__search_phase(plans->part->monitor, MIRAGE_PHASE_SCHEDULES, ranking.num);
  if (status == MIRAGE_OK)
    status = mirage__search_restore_ranking(&plans->slot, &ranking);
  mirage__search_step(plans->part->monitor, plans->part->piece ? 0 : ranking.done);
  if (status == MIRAGE_OK)
    status = rank_candidates(&scheduling, &ranking, at_once, &result->funnel);
  if (status == MIRAGE_OK)
    status = build_candidates(plans, ranking.candidates, ranking.count, result);
  free(ranking.candidates);
  free(scheduling.scheduled);
  return status;
}
