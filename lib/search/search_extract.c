// search_extract.c - reads block graphs off the derivations: every choice of one derivation for each tensor needed.
//
// Depth-first from the goals towards the inputs. `pending` holds the tensors that are needed and not yet derived; the
// next to be derived is always the one latest in a topological order of all derivations, so that each graph is met
// exactly once, a tensor needed twice is derived once, and nothing derived so far can serve below the next one. That
// makes the bounds hold: what is pending still needs its own loads and operators (search_paths.c), and a chain of
// element-wise operators that nothing pending can continue is one more.
//
// Links of a chain are free (search_structure.c counts), so their number is bounded by deepening: graphs with the
// fewest element-wise operators, and with one more, are kept; those with more only rearrange the same arithmetic.
//
// Threads: a walk that has not ended after its share of states gives back the branches it has left, as paths from the
// goal, and these are the walks of the next round. Shares, rounds and the order of branches do not depend on how many
// threads walk, so neither does where a limit on states strikes.
#include "search_extract.h"
#include "search_checkpoint.h"
#include "search_control.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_PENDING = 2 * SEARCH_MAX_NODES,
  SPARE_ELEMENTWISE = 1,
  AT_ONCE = 64,       // walks of a round
  FIRST_SHARE = 4096, // states of the first walk, which most searches end in
  SHARE = 65536,      // of every other
};

/// What has been derived so far.
typedef struct Used {
  uint32_t counted;     // loads included
  uint32_t elementwise; // in `Walk.chained`, the first ones
  uint64_t loaded;      // inputs, as a bit set
} Used;

/// One tensor on the way from the goal down.
typedef struct Level {
  uint32_t place, next; // tensor; its next step to try, counted from its first
  uint32_t num_pending; // besides the tensor
  uint32_t pending[MAX_PENDING];
  Used used; // before the tensor
} Level;

/// One round's bounds, the same for all walks.
typedef struct Bounds {
  uint32_t counted, elementwise;
} Bounds;

/// A walk through one branch, and what comes of it.
typedef struct Walk {
  const Paths *paths;
  Bounds bounds;
  uint64_t max_states;
  SearchKept kept;
  MirageFunnel funnel;
  SearchWatch watch;
  bool lost;            // there was no room for some graph
  MirageStop stop;      // what the caller wanted; what is left then is lost
  bool cut_elementwise; // some graph has more element-wise operators than the round allows
  Branches left;        // where the share of states ended; in the order in which they would have been walked
  // Where the walk is.
  Level levels[SEARCH_MAX_NODES];
  uint32_t depth;
  uint32_t chained[SEARCH_MAX_NODES]; // places of element-wise tensors
  uint32_t *chosen;                   // by place: the number of the step and 1; 0 = none
  uint8_t *loops, *sums;              // by place: accumulations and sums over it that count with what they take
  uint64_t *done;                     // what is chosen, as in Paths.needs
  uint32_t *nodes;                    // as mirage__structure_order wants
} Walk;

// ------------------------------------------------------------------------------------------------- bounds

static const PathStep *chosen_step(const Walk *walk, uint32_t place) {
  return walk->chosen[place] ? &walk->paths->steps[walk->chosen[place] - 1] : NULL;
}

static uint32_t chain_root(const uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i];
  return i;
}

// What an operand means for a chain of its stage.
typedef enum { LINK_NONE, LINK_JOINS, LINK_OPEN } Link;

static Link find_link(const Walk *walk, const PathTensor *user, uint32_t operand) {
  const PathTensor *tensor = &walk->paths->tensors[operand];
  if (!operand || tensor->stage != user->stage || !tensor->may_chain)
    return LINK_NONE;
  const PathStep *step = chosen_step(walk, operand);
  if (!step)
    return LINK_OPEN;
  if (step->op == MIRAGE_OP_REDUCE_SUM) { // a norm is one operator with its statistic; a sum of exponentials is not
    const PathStep *summed = chosen_step(walk, step->a);
    return summed && summed->op == MIRAGE_OP_EXP ? LINK_NONE : LINK_OPEN;
  }
  return step->elementwise ? LINK_JOINS : step->reduction ? LINK_OPEN : LINK_NONE;
}

// Chains of element-wise operators that can neither grow any more nor become one operator with a reduction.
static uint32_t count_closed_chains(const Walk *walk, uint32_t num_chained) {
  uint32_t parent[SEARCH_MAX_NODES], closed = 0;
  bool open[SEARCH_MAX_NODES] = {false};
  for (uint32_t i = 0; i < num_chained; i++)
    parent[i] = i;
  for (uint32_t i = 0; i < num_chained; i++) {
    uint32_t place = walk->chained[i];
    const PathStep *step = chosen_step(walk, place);
    open[i] = step->op == MIRAGE_OP_MUL && step->a == step->b; // a square may be one operator with its sum
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t operand = k ? step->b : step->a, j = 0;
      Link link = find_link(walk, &walk->paths->tensors[place], operand);
      open[i] |= link == LINK_OPEN;
      while (link == LINK_JOINS && walk->chained[j] != operand)
        j++;
      if (link == LINK_JOINS)
        parent[chain_root(parent, i)] = chain_root(parent, j);
    }
  }
  for (uint32_t i = 0; i < num_chained; i++)
    if (open[i])
      open[chain_root(parent, i)] = true;
  for (uint32_t i = 0; i < num_chained; i++)
    closed += parent[i] == i && !open[i];
  return closed;
}

typedef struct Needs {
  uint32_t counted, elementwise;
} Needs;

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

// What the pending tensors of a level still take, at least.
static Needs find_needs(const Walk *walk, const Level *level) {
  const Paths *paths = walk->paths;
  uint64_t all[PATHS_MAX_WORDS] = {0};
  Needs depth = {0}, needs = {0};
  for (uint32_t i = 0; i < level->num_pending; i++) {
    const PathTensor *tensor = &paths->tensors[level->pending[i]];
    const uint64_t *words = &paths->needs[(size_t)level->pending[i] * paths->num_words];
    for (uint32_t w = 0; w < paths->num_words; w++)
      all[w] |= words[w];
    depth.counted = larger(depth.counted, tensor->counted_depth);
    depth.elementwise = larger(depth.elementwise, tensor->elementwise_depth);
  }
  for (uint32_t w = 1; w < paths->num_words && !paths->space->options->no_bound_needs; w++)
    *(w < paths->first_elementwise ? &needs.counted : &needs.elementwise) +=
        (uint32_t)__builtin_popcountll(all[w] & ~walk->done[w]);
  needs.counted = larger(needs.counted, depth.counted) + (uint32_t)__builtin_popcountll(all[0] & ~level->used.loaded);
  needs.elementwise = larger(needs.elementwise, depth.elementwise);
  return needs;
}

static bool within_bounds(Walk *walk, const Level *level) {
  Needs needs = find_needs(walk, level);
  uint32_t counted = level->used.counted + needs.counted, chained = level->used.elementwise;
  if (counted > walk->bounds.counted)
    return false;
  if (counted + chained > walk->bounds.counted && !walk->paths->space->options->no_bound_needs &&
      counted + count_closed_chains(walk, chained) > walk->bounds.counted)
    return false;
  bool fits = chained + needs.elementwise <= walk->bounds.elementwise;
  walk->cut_elementwise |= !fits;
  return fits;
}

// -------------------------------------------------------------------------------------------------- steps

// Makes a tensor pending, in order of place, unless it is derived or pending already; false when there is no room.
static bool need(Walk *walk, Level *level, uint32_t place) {
  if (!place || walk->chosen[place])
    return true;
  uint32_t at = level->num_pending;
  while (at > 0 && level->pending[at - 1] > place)
    at--;
  if (at > 0 && level->pending[at - 1] == place)
    return true;
  if (level->num_pending == MAX_PENDING) {
    walk->lost = true;
    return false;
  }
  memmove(&level->pending[at + 1], &level->pending[at], (level->num_pending - at) * sizeof *level->pending);
  level->pending[at] = place;
  level->num_pending++;
  return true;
}

// Whether `place` is needed for `above`, among what is derived so far.
static bool depends(const Walk *walk, uint32_t above, uint32_t place) {
  if (above == place)
    return true;
  const PathStep *step = above ? chosen_step(walk, above) : NULL;
  return step && (depends(walk, step->a, place) || depends(walk, step->b, place));
}

// An accumulation of a reduction counts with it, and a sum of exponentials with them: `counts` says that it may, and
// here that turns out to be wrong.
static uint32_t count_step(const Walk *walk, uint32_t place, const PathStep *step) {
  return step->counts + (step->reduction ? 0u : walk->loops[place]) +
         (step->op == MIRAGE_OP_EXP ? 0u : walk->sums[place]);
}

static void count_users(Walk *walk, const PathStep *step, int change) {
  if (step->op == MIRAGE_OP_LOOP && !step->counts)
    walk->loops[step->a] = (uint8_t)(walk->loops[step->a] + change);
  if (step->op == MIRAGE_OP_REDUCE_SUM && !step->counts)
    walk->sums[step->a] = (uint8_t)(walk->sums[step->a] + change);
}

static void mark_done(Walk *walk, uint32_t place) {
  uint32_t event = walk->paths->tensors[place].event;
  walk->done[event / 64] ^= (uint64_t)(event > 0) << event % 64;
}

// Derives the level's tensor by its next step, and fills the level below; whether that is within the bounds.
static bool choose(Walk *walk, Level *level, Level *below) {
  const Paths *paths = walk->paths;
  uint32_t number = paths->tensors[level->place].first_step + level->next++;
  const PathStep *step = &paths->steps[number];
  below->used = level->used;
  below->used.counted += count_step(walk, level->place, step);
  if (step->elementwise)
    walk->chained[below->used.elementwise++] = level->place;
  if (step->op == MIRAGE_OP_LOAD) {
    uint64_t input = (uint64_t)1 << paths->space->derivations[step->derivation].a;
    below->used.counted += !(level->used.loaded & input);
    below->used.loaded |= input;
  }
  below->num_pending = level->num_pending;
  memcpy(below->pending, level->pending, level->num_pending * sizeof *level->pending);
  walk->chosen[level->place] = number + 1;
  count_users(walk, step, 1);
  mark_done(walk, level->place);
  // s = (s c) / c, s c = s * c goes in a circle.
  return !depends(walk, step->a, level->place) && !depends(walk, step->b, level->place) && need(walk, below, step->a) &&
         need(walk, below, step->b) && within_bounds(walk, below);
}

static void forget(Walk *walk, const Level *level) {
  const PathStep *step = chosen_step(walk, level->place);
  if (!step)
    return;
  count_users(walk, step, -1);
  mark_done(walk, level->place);
  walk->chosen[level->place] = 0;
}

static MirageStatus complete(Walk *walk, const Used *used) {
  if (used->elementwise < walk->bounds.elementwise)
    return MIRAGE_OK; // met in an earlier round
  const SearchSpace *space = walk->paths->space;
  SearchStructure structure;
  if (!mirage__structure_order(walk->paths, walk->chosen, walk->nodes, &structure))
    return MIRAGE_OK;
  if (structure.num_loops < space->num_loops && search_axis_is_loop(&space->program->axes[space->loop_axis]))
    return MIRAGE_OK; // met by the plan with fewer loops
  structure.num_ops = mirage__structure_count(&structure);
  if (structure.num_ops > walk->bounds.counted || !mirage__search_stabilise(&structure))
    return MIRAGE_OK;
  walk->funnel.structures++;
  SearchSchedule schedule;
  mirage__search_reference_schedule(space->program, &structure, space->options, &schedule);
  structure.score_us = mirage__search_schedule_cost(space->program, &structure, &schedule, space->options->target);
  if (structure.score_us < walk->watch.best_us)
    walk->watch.best_us = structure.score_us;
  return mirage__structure_keep(&walk->kept, &structure);
}

// --------------------------------------------------------------------------------------------------- walks

static void take_latest(Level *level) {
  level->place = level->pending[--level->num_pending];
  level->next = 0;
}

// What this walk has not tried, deepest first.
static MirageStatus leave(Walk *walk, uint32_t top) {
  for (uint32_t depth = walk->depth; depth >= top; depth--) {
    const Level *level = &walk->levels[depth - 1];
    if (level->next == walk->paths->tensors[level->place].num_steps)
      continue;
    Branch *branch = mirage__branches_add(&walk->left);
    if (!branch)
      return MIRAGE_NO_MEMORY;
    branch->depth = depth;
    for (uint32_t i = 0; i + 1 < depth; i++)
      branch->steps[i] = walk->levels[i].next - 1;
    branch->steps[depth - 1] = level->next;
  }
  return MIRAGE_OK;
}

// Takes the steps that lead to a branch, which were within the bounds before.
static void enter(Walk *walk, const Branch *branch) {
  Level *level = &walk->levels[0];
  *level = (Level){0};
  for (uint32_t i = 0; i < walk->paths->space->num_goals; i++)
    need(walk, level, walk->paths->goals[i]);
  take_latest(level);
  for (uint32_t i = 0; i + 1 < branch->depth; i++, level++) {
    level->next = branch->steps[i];
    choose(walk, level, level + 1);
    take_latest(level + 1);
  }
  level->next = branch->steps[branch->depth - 1];
  walk->depth = branch->depth;
}

static MirageStatus follow(Walk *walk, const Branch *branch) {
  enter(walk, branch);
  while (walk->depth >= branch->depth) {
    Level *level = &walk->levels[walk->depth - 1];
    forget(walk, level);
    if (level->next == walk->paths->tensors[level->place].num_steps) {
      walk->depth--;
      continue;
    }
    if (walk->funnel.states == walk->max_states)
      return leave(walk, branch->depth);
    walk->stop = mirage__search_ask(&walk->watch, &walk->funnel);
    if (walk->stop != MIRAGE_STOP_NONE)
      return MIRAGE_OK;
    Level *below = walk->depth < SEARCH_MAX_NODES ? level + 1 : NULL;
    walk->lost |= !below;
    if (!below || !choose(walk, level, below))
      continue;
    if (below->num_pending) {
      take_latest(below);
      walk->funnel.states++;
      walk->depth++;
    } else {
      MIRAGE_TRY(complete(walk, &below->used));
    }
  }
  return MIRAGE_OK;
}

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

static void free_walk(Walk *walk) {
  if (!walk)
    return;
  mirage__structure_release(&walk->kept);
  free(walk->left.items);
  free(walk->chosen);
  free(walk->nodes);
  free(walk->loops);
  free(walk->done);
  free(walk);
}

static Walk *create_walk(const Paths *paths) {
  size_t count = (size_t)paths->num + 1;
  Walk *walk = calloc(1, sizeof *walk);
  if (!walk)
    return NULL;
  walk->paths = paths;
  walk->chosen = calloc(count, sizeof *walk->chosen);
  walk->nodes = calloc(count, sizeof *walk->nodes);
  walk->loops = calloc(2 * count, sizeof *walk->loops);
  walk->done = calloc(paths->num_words, sizeof *walk->done);
  if (walk->chosen && walk->nodes && walk->loops && walk->done) {
    walk->sums = walk->loops + count;
    return walk;
  }
  free_walk(walk);
  return NULL;
}

static MirageStatus run_walk(void *user, uint32_t index) {
  Round *round = user;
  Walk *walk = round->walks[index] = create_walk(round->paths);
  if (!walk)
    return MIRAGE_NO_MEMORY;
  walk->bounds = round->bounds;
  walk->max_states = round->share;
  walk->kept.capacity = round->capacity;
  walk->watch = round->watch;
  return follow(walk, &round->branches[index]);
}

static SearchWatch fresh_watch(const SearchWatch *of) {
  return (SearchWatch){
      .monitor = of->monitor, .deadline = of->deadline, .piece = of->piece, .deaf = of->deaf, .best_us = INFINITY};
}

// Adds what a walk found; its branches take its place in the list of those that are left.
static MirageStatus collect(SearchSpace *space, const Walk *walk, SearchKept *kept, Branches *left) {
  space->funnel.states += walk->funnel.states;
  space->funnel.structures += walk->funnel.structures;
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
  MirageStatus status = mirage__pass_standing(&bytes, &extraction->at, extraction->space, extraction->kept);
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
    free_walk(round.walks[i]);
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

// One tensor for each goal, in every way. With a loop some result comes out of it; without, see the other plans.
static MirageStatus choose_goals(Extraction *extraction, uint32_t goal, bool looped, uint32_t *goals) {
  SearchSpace *space = extraction->space;
  if (goal == space->num_goals) {
    if (!looped && space->loop_axis)
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
    MIRAGE_TRY(choose_goals(extraction, goal + 1, looped || space->tensors[i].stage != SEARCH_BEFORE, goals));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__search_extract(SearchSpace *space, SearchPool *pool, SearchKept *kept) {
  Extraction extraction = {.space = space, .pool = pool, .kept = kept};
  SearchBytes bytes;
  MirageStatus status = MIRAGE_OK;
  extraction.resuming = !space->watch.deaf && mirage__checkpoint_find(&space->slot, SEARCH_RECORD_WALK, &bytes);
  if (extraction.resuming)
    status = mirage__pass_standing(&bytes, &extraction.at, space, kept);
  uint32_t goals[SEARCH_MAX_GOALS];
  if (status == MIRAGE_OK)
    status = choose_goals(&extraction, 0, false, goals);
  free(extraction.at.branches.items);
  return status;
}
