// search_walk.h - a walk through the choices of derivations: its state, shared by the steps and by their bounds.
#ifndef MIRAGE_LIB_SEARCH_WALK_H
#define MIRAGE_LIB_SEARCH_WALK_H

#include "search/walk/search_paths.h"

enum { WALK_MAX_PENDING = 2 * SEARCH_MAX_NODES };

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
  uint32_t pending[WALK_MAX_PENDING];
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
  uint8_t *users;                     // by place: what takes it
  uint32_t *user;                     // by place: exclusive or of these, so that one alone is known
  uint8_t *others;                    // by place: what takes it and is no reduction
  uint64_t *done;                     // what is chosen, as in Paths.needs
  PathKinds done_kinds;
  uint8_t times[2][PATHS_MAX_KINDS]; // chosen, by kind: counted and element-wise ones
  uint32_t *nodes;                   // as mirage__paths_assemble wants
  uint64_t *asked, question;         // by place: the last question in which it was asked (search_walk.c)
} Walk;

/// Somewhere below a level: a tensor that is derived has a step. NULL: it has none yet.
static inline const PathStep *mirage__walk_step(const Walk *walk, uint32_t place) {
  return walk->chosen[place] ? &walk->paths->steps[walk->chosen[place] - 1] : NULL;
}

/// Whether the step just chosen for a place makes a sum or product of three that another order stands for.
/// search_orders.c
bool mirage__walk_is_regrouped(const Walk *walk, uint32_t place);

/// Whether a block graph that goes on from this level can stay within the bounds. search_bounds.c
bool mirage__walk_within_bounds(Walk *walk, const Level *level);

// search_walk.c
/// Owns:   free with mirage__walk_destroy. NULL when memory is out.
Walk *mirage__walk_create(const Paths *paths);
void mirage__walk_destroy(Walk *walk);
/// Walks everything below a branch, within its bounds and its share of states.
MirageStatus mirage__walk_follow(Walk *walk, const Branch *branch);

#endif
