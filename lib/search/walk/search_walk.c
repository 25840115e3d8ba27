// search_walk.c - walks through the choices of derivations, from the goals towards the inputs.
//
// `pending` holds the tensors that are needed and not yet derived; the next to be derived is always the one latest in a
// topological order of all derivations, so that each graph is met exactly once, a tensor needed twice is derived once,
// and nothing derived so far can serve below the next one. That makes the bounds hold (search_bounds.c).
#include "search/walk/search_walk.h"
#include "search/schedule/search_schedule.h"
#include <stdlib.h>
#include <string.h>

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
  if (level->num_pending == WALK_MAX_PENDING) {
    walk->lost = true;
    return false;
  }
  memmove(&level->pending[at + 1], &level->pending[at], (level->num_pending - at) * sizeof *level->pending);
  level->pending[at] = place;
  level->num_pending++;
  return true;
}

// Whether `place` is needed for `above`, among what is derived so far. Asked of each tensor once in a question.
static bool leads_to(Walk *walk, uint32_t above, uint32_t place) {
  if (above == place)
    return true;
  const PathStep *step = above ? mirage__walk_step(walk, above) : NULL;
  if (!step || walk->asked[above] == walk->question)
    return false;
  walk->asked[above] = walk->question;
  return leads_to(walk, step->a, place) || leads_to(walk, step->b, place);
}

static bool depends(Walk *walk, uint32_t above, uint32_t place) {
  walk->question++;
  return leads_to(walk, above, place);
}

// An accumulation of a reduction counts with it, and a sum of exponentials with them: `counts` says that it may, and
// here that turns out to be wrong.
static uint32_t count_step(const Walk *walk, uint32_t place, const PathStep *step) {
  return step->counts + (step->reduction ? 0u : walk->loops[place]) +
         (step->op == MIRAGE_OP_EXP ? 0u : walk->sums[place]);
}

static void count_user(Walk *walk, uint32_t place, uint32_t user, bool reduction, int change) {
  walk->users[place] = (uint8_t)(walk->users[place] + change);
  walk->user[place] ^= user;
  if (!reduction)
    walk->others[place] = (uint8_t)(walk->others[place] + change);
}

static void count_users(Walk *walk, uint32_t place, const PathStep *step, int change) {
  if (step->op == MIRAGE_OP_LOOP && !step->counts)
    walk->loops[step->a] = (uint8_t)(walk->loops[step->a] + change);
  if (step->op == MIRAGE_OP_REDUCE_SUM && !step->counts)
    walk->sums[step->a] = (uint8_t)(walk->sums[step->a] + change);
  count_user(walk, step->a, place, step->reduction, change);
  count_user(walk, step->b, place, step->reduction, change);
}

static void count_kind(Walk *walk, const PathStep *step, int change) {
  if (!step->kind)
    return;
  uint8_t *times = &walk->times[step->elementwise][step->kind];
  *times = (uint8_t)(*times + change);
  uint64_t bit = (uint64_t)1 << step->kind,
           *done = step->elementwise ? &walk->done_kinds.elementwise : &walk->done_kinds.counted;
  *done = *times ? *done | bit : *done & ~bit;
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
    below->used.counted++;
    below->used.loaded |= (uint64_t)1 << paths->space->derivations[step->derivation].a;
  }
  below->num_pending = level->num_pending;
  memcpy(below->pending, level->pending, level->num_pending * sizeof *level->pending);
  walk->chosen[level->place] = number + 1;
  count_users(walk, level->place, step, 1);
  count_kind(walk, step, 1);
  mark_done(walk, level->place);
  if (mirage__walk_is_regrouped(walk, level->place)) {
    walk->funnel.cut_order++;
    return false;
  }
  // s = (s c) / c, s c = s * c goes in a circle.
  return !depends(walk, step->a, level->place) && !depends(walk, step->b, level->place) && need(walk, below, step->a) &&
         need(walk, below, step->b) && mirage__walk_within_bounds(walk, below);
}

static void forget(Walk *walk, const Level *level) {
  const PathStep *step = mirage__walk_step(walk, level->place);
  if (!step)
    return;
  count_users(walk, level->place, step, -1);
  count_kind(walk, step, -1);
  mark_done(walk, level->place);
  walk->chosen[level->place] = 0;
}

static MirageStatus complete(Walk *walk, const Used *used) {
  if (used->elementwise < walk->bounds.elementwise)
    return MIRAGE_OK; // met in an earlier round
  const SearchSpace *space = walk->paths->space;
  SearchStructure structure;
  if (!mirage__paths_assemble(walk->paths, walk->chosen, walk->nodes, &structure))
    return MIRAGE_OK;
  structure.num_ops = mirage__structure_count(&structure);
  if (structure.num_ops > walk->bounds.counted || !mirage__search_stabilise(space->program, &structure))
    return MIRAGE_OK;
  walk->funnel.structures++;
  mirage__search_score(space->program, space->options, &structure);
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

MirageStatus mirage__walk_follow(Walk *walk, const Branch *branch) {
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

// ---------------------------------------------------------------------------------------------- life cycle

void mirage__walk_destroy(Walk *walk) {
  if (!walk)
    return;
  mirage__structure_release(&walk->kept);
  free(walk->left.items);
  free(walk->chosen);
  free(walk->nodes);
  free(walk->asked);
  free(walk->loops);
  free(walk->user);
  free(walk->done);
  free(walk);
}

Walk *mirage__walk_create(const Paths *paths) {
  size_t count = (size_t)paths->num + 1;
  Walk *walk = calloc(1, sizeof *walk);
  if (!walk)
    return NULL;
  walk->paths = paths;
  walk->chosen = calloc(count, sizeof *walk->chosen);
  walk->nodes = calloc(count, sizeof *walk->nodes);
  walk->asked = calloc(count, sizeof *walk->asked);
  walk->loops = calloc(4 * count, sizeof *walk->loops);
  walk->user = calloc(count, sizeof *walk->user);
  walk->done = calloc(paths->num_words, sizeof *walk->done);
  if (walk->chosen && walk->nodes && walk->asked && walk->loops && walk->user && walk->done) {
    walk->sums = walk->loops + count;
    walk->others = walk->sums + count;
    walk->users = walk->others + count;
    return walk;
  }
  mirage__walk_destroy(walk);
  return NULL;
}
