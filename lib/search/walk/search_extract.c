// search_extract.c - reads block graphs off the derivations: every choice of one derivation for each tensor needed.
//
// Links of a chain are free (search_structure.c counts), so their number is bounded by deepening: graphs with the
// fewest element-wise operators, and with one more, are kept; those with more only rearrange the same arithmetic.
//
// Threads: a walk (search_walk.c) that has not ended after its share of states gives back the branches it has left, as
// paths from the goal, and these are the walks of the next round. Shares, rounds and the order of branches do not
// depend on how many threads walk, so neither does where a limit on states strikes.
#include "search/walk/search_extract.h"
#include "search/walk/search_walk.h"
#include <math.h>
#include <stdlib.h>

enum {
  SPARE_ELEMENTWISE = 1,
  AT_ONCE = 64,       // walks of a round
  FIRST_SHARE = 4096, // states of the first walk, which most searches end in
  SHARE = 65536,      // of every other
  STATES_SHARE = 125, // partial block graphs for each state of max_states
};
// What is derived when the caller stops the search is still read, for this many states: a fraction of a second.
static const uint64_t last_states = 100000;

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

// -------------------------------------------------------------------------------------------------- rounds

typedef struct Round {
  const Paths *paths;
  Bounds bounds;
  uint64_t share;    // of states, for each walk
  uint32_t capacity; // of what is kept
  SearchWatch watch; // of a walk that begins
  const Branch *branches;
  Walk *walks[AT_ONCE]; // what came of them
} Round;

static MirageStatus run_walk(void *user, uint32_t index) {
  Round *round = user;
  Walk *walk = round->walks[index] = mirage__walk_create(round->paths);
  if (!walk)
    return MIRAGE_NO_MEMORY;
  walk->bounds = round->bounds;
  walk->max_states = round->share;
  walk->kept.capacity = round->capacity;
  walk->watch = round->watch;
  return mirage__walk_follow(walk, &round->branches[index]);
}

static SearchWatch fresh_watch(const SearchWatch *of) {
  return (SearchWatch){
      .monitor = of->monitor, .deadline = of->deadline, .piece = of->piece, .deaf = of->deaf, .best_us = INFINITY};
}

// Adds what a walk found; its branches take its place in the list of those that are left.
static MirageStatus collect(SearchSpace *space, const Walk *walk, SearchKept *kept, Branches *left) {
  space->funnel.states += walk->funnel.states;
  space->funnel.structures += walk->funnel.structures;
  space->funnel.cut_order += walk->funnel.cut_order;
  space->lost |= walk->lost;
  mirage__search_adopt(&space->watch, &walk->watch);
  if (walk->stop != MIRAGE_STOP_NONE) {
    space->stopped = true;
    space->stop = walk->stop;
  }
  for (uint32_t i = 0; i < walk->kept.num; i++)
    MIRAGE_TRY(mirage__structure_keep(kept, walk->kept.items[i]));
  for (uint32_t i = 0; i < walk->left.num; i++) {
    Branch *branch = mirage__branches_add(left);
    if (!branch)
      return MIRAGE_NO_MEMORY;
    *branch = walk->left.items[i];
  }
  return MIRAGE_OK;
}

typedef struct Extraction {
  SearchSpace *space;
  SearchPool *pool;
  SearchKept *kept;
  Paths paths;
  Standing at;
  uint32_t choice; // at hand
  bool resuming;   // `at` is where another run stood
} Extraction;

static MirageStatus save(Extraction *extraction) {
  const SearchSpace *space = extraction->space;
  if (!space->slot.checkpoint || space->watch.deaf)
    return MIRAGE_OK;
  SearchBytes bytes = {0};
  MirageStatus status = mirage__standing_pass(&bytes, &extraction->at, extraction->space, extraction->kept);
  bytes.failed |= status != MIRAGE_OK;
  return mirage__checkpoint_put(&space->slot, SEARCH_RECORD_WALK, &bytes);
}

// Walks the first branches, as many as a round holds, and puts what is left of them in their place.
static MirageStatus walk_round(Extraction *extraction) {
  SearchSpace *space = extraction->space;
  Branches *branches = &extraction->at.branches;
  uint64_t share = extraction->at.share;
  uint64_t states = space->max_states - space->funnel.states;
  uint32_t count = branches->num < AT_ONCE ? branches->num : AT_ONCE;
  count = states < count ? (uint32_t)states : count;
  Round round = {.paths = &extraction->paths,
                 .bounds = {.counted = space->options->max_block_ops, .elementwise = extraction->at.round},
                 .share = states / count < share ? states / count : share,
                 .capacity = extraction->kept->capacity,
                 .watch = fresh_watch(&space->watch),
                 .branches = branches->items};
  MirageStatus status = mirage__search_run_tasks(extraction->pool, count, run_walk, &round);
  Branches left = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (status == MIRAGE_OK) {
      status = collect(space, round.walks[i], extraction->kept, &left);
      extraction->at.cut_elementwise |= round.walks[i]->cut_elementwise;
    }
    mirage__walk_destroy(round.walks[i]);
  }
  for (uint32_t i = count; status == MIRAGE_OK && i < branches->num; i++) {
    Branch *branch = mirage__branches_add(&left);
    if (branch)
      *branch = branches->items[i];
    else
      status = MIRAGE_NO_MEMORY;
  }
  free(branches->items);
  *branches = left;
  return status;
}

// Everything below the goals that is left, within the bounds.
static MirageStatus walk_all(Extraction *extraction) {
  SearchSpace *space = extraction->space;
  MirageStatus status = MIRAGE_OK;
  while (status == MIRAGE_OK && extraction->at.branches.num && !space->stopped) {
    if (space->funnel.states >= space->max_states) {
      space->stopped = true;
      space->stop = MIRAGE_STOP_MAX_STATES;
      break;
    }
    status = save(extraction);
    if (status == MIRAGE_OK)
      status = walk_round(extraction);
    extraction->at.share = SHARE;
  }
  return status;
}

static MirageStatus begin_round(Standing *at) {
  at->cut_elementwise = false;
  at->share = FIRST_SHARE;
  at->branches.num = 0;
  Branch *root = mirage__branches_add(&at->branches);
  if (root)
    *root = (Branch){.depth = 1};
  return root ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

// Each loop may need the same values.
static uint32_t elementwise_limit(const SearchSpace *space) {
  uint32_t again = space->num_loops > 1 ? (space->num_loops - 1) * space->program->num_elementwise : 0;
  return mirage__search_elementwise_limit(space->program) + again;
}

// Deepens the bound on element-wise operators until graphs are found, and a little further: a safe softmax has one
// operator more than an unsafe one, and only the numeric guard can tell which is needed.
static MirageStatus deepen(Extraction *extraction) {
  SearchSpace *space = extraction->space;
  Standing *at = &extraction->at;
  if (!extraction->resuming) {
    at->choice = extraction->choice;
    at->round = 0;
    at->last = elementwise_limit(space);
    at->before = space->funnel.structures;
    at->cut_elementwise = true;
    for (uint32_t i = 0; i < space->num_goals; i++)
      at->round = larger(at->round, extraction->paths.tensors[extraction->paths.goals[i]].elementwise_depth);
  }
  for (; extraction->resuming || (at->round <= at->last && at->cut_elementwise && !space->stopped); at->round++) {
    if (!extraction->resuming)
      MIRAGE_TRY(begin_round(at));
    extraction->resuming = false;
    MIRAGE_TRY(walk_all(extraction));
    if (!space->options->optimal && space->funnel.structures > at->before && at->round + SPARE_ELEMENTWISE < at->last)
      at->last = at->round + SPARE_ELEMENTWISE;
  }
  uint32_t most = at->cut_elementwise ? at->last : elementwise_limit(space);
  space->most_elementwise = larger(space->most_elementwise, most);
  return MIRAGE_OK;
}

// Loops that a block graph of this plan has at least: what has fewer is met by another plan. Rows are walked twice at
// once, so that plan is the first with a loop.
static uint32_t least_loops(const SearchSpace *space) {
  bool first = space->num_loops == 2 && search_axis_is_row(&space->program->axes[space->loop_axis]);
  return first ? 1 : space->num_loops;
}

// One tensor for each goal, in every way. `loops`: that these take.
static MirageStatus choose_goals(Extraction *extraction, uint32_t goal, uint32_t loops, uint32_t *goals) {
  SearchSpace *space = extraction->space;
  if (goal == space->num_goals) {
    if (loops < least_loops(space))
      return MIRAGE_OK;
    if (++extraction->choice < extraction->at.choice)
      return MIRAGE_OK; // done by another run
    MirageStatus status = mirage__paths_init(&extraction->paths, space, goals);
    if (status == MIRAGE_OK)
      status = deepen(extraction);
    mirage__paths_deinit(&extraction->paths);
    return status;
  }
  for (uint32_t i = 1; i <= space->num_tensors && !space->stopped; i++) {
    if (!mirage__search_is_goal(&space->goals[goal], &space->tensors[i]))
      continue;
    goals[goal] = i;
    MIRAGE_TRY(choose_goals(extraction, goal + 1, larger(loops, (space->tensors[i].stage + 1u) / 2), goals));
  }
  return MIRAGE_OK;
}

void mirage__search_begin_extract(SearchSpace *space, uint32_t share) {
  uint64_t states = STATES_SHARE * space->options->max_states / share;
  space->stopped = false;
  space->stop = MIRAGE_STOP_NONE;
  space->max_states = space->funnel.states + (space->watch.deaf ? last_states : states);
}

MirageStatus mirage__search_extract(SearchSpace *space, SearchPool *pool, SearchKept *kept) {
  Extraction extraction = {.space = space, .pool = pool, .kept = kept};
  SearchBytes bytes;
  MirageStatus status = MIRAGE_OK;
  extraction.resuming = !space->watch.deaf && mirage__checkpoint_find(&space->slot, SEARCH_RECORD_WALK, &bytes);
  if (extraction.resuming)
    status = mirage__standing_pass(&bytes, &extraction.at, space, kept);
  uint32_t goals[SEARCH_MAX_GOALS];
  if (status == MIRAGE_OK)
    status = choose_goals(&extraction, 0, 0, goals);
  free(extraction.at.branches.items);
  return status;
}

// ---------------------------------------------------------------------------------------------- one choice

// A tensor's derivations before one was chosen for it.
typedef struct Before {
  uint32_t first, next;
} Before;

static Before *hide_others(SearchSpace *space, const SearchChoice *choice) {
  Before *before = calloc(choice->num + 1, sizeof *before);
  for (uint32_t i = 0; before && i < choice->num; i++) {
    uint32_t *first = &space->tensors[choice->tensors[i]].derivations;
    uint32_t *next = &space->derivations[choice->derivations[i]].next;
    before[i] = (Before){*first, *next};
    *first = choice->derivations[i];
    *next = 0;
  }
  return before;
}

static void show_others(SearchSpace *space, const SearchChoice *choice, const Before *before) {
  for (uint32_t i = choice->num; i-- > 0;) {
    space->tensors[choice->tensors[i]].derivations = before[i].first;
    space->derivations[choice->derivations[i]].next = before[i].next;
  }
}

MirageStatus mirage__search_extract_choice(SearchSpace *space, const SearchChoice *choice, uint32_t max_block_ops,
                                           SearchStructure *out) {
  const MirageSearchOptions *options = space->options;
  MirageSearchOptions relaxed = *options;
  SearchKept kept = {.capacity = 1};
  uint32_t most = space->most_elementwise;
  Before *before = hide_others(space, choice);
  if (!before)
    return MIRAGE_NO_MEMORY;
  relaxed.max_block_ops = max_block_ops;
  space->options = &relaxed;
  MirageStatus status = mirage__search_extract(space, NULL, &kept);
  space->options = options;
  show_others(space, choice, before);
  space->most_elementwise = most;
  out->num_nodes = 0;
  if (kept.num)
    *out = *kept.items[0];
  mirage__structure_release(&kept);
  free(before);
  return status;
}
