// solve.h - which layout each tile takes and where it lies in shared memory: the choice among what was found possible.
//
// A problem is small and knows nothing of graphs: tiles with the steps between which they live, a few layouts for each
// with their sizes and costs, and levels - an amount of room together with a number of copies of every tile - in the
// order in which they are wanted.
#ifndef MIRAGE_LAYOUT_SOLVE_H
#define MIRAGE_LAYOUT_SOLVE_H

#include "mirage/arena.h"
#include "mirage/status.h"
#include <stdbool.h>

enum { SOLVE_MAX_VARIANTS = 5, SOLVE_UNIT = 16 }; // bytes of which sizes and offsets are multiples

typedef struct SolveVariant {
  int64_t bytes; // of one copy
  int64_t cost;  // cycles lost to bank conflicts
} SolveVariant;

typedef struct SolveTile {
  int32_t begin, end; // steps, both included
  int64_t alignment;  // of the offset, a multiple of SOLVE_UNIT
  int64_t offset;     // where a person put it, -1 = open
  uint32_t num_variants, num_good;
  SolveVariant variants[SOLVE_MAX_VARIANTS]; // the first num_good for any level, the others where `any_variant` holds
  const int32_t *copies;                     // by level
} SolveTile;

typedef struct SolveProblem {
  uint32_t num_tiles, num_levels;
  const SolveTile *tiles;
  const int64_t *rooms;    // by level, in bytes
  const bool *any_variant; // by level
  uint32_t rlimit;         // steps that the solver may take; 0 = never ask it
} SolveProblem;

/// BOUND: no question was left; SOLVER: the solver's optimum; RULE: the rule that holds when the solver gives up;
/// NOTHING: no level has room.
typedef enum SolveHow { SOLVE_BOUND, SOLVE_SOLVER, SOLVE_RULE, SOLVE_NOTHING } SolveHow;

typedef struct SolveAnswer {
  SolveHow how;
  bool open; // with NOTHING: some level is not impossible, and was not searched to its end
  uint32_t level;
  uint32_t *variant; // by tile
  int64_t *offset;   // by tile
  int64_t bytes;     // used; with NOTHING, what the least demanding level would take
} SolveAnswer;

/// The first level in which the tiles fit, the cheapest layouts with which they fit there, and offsets.
///
/// Tiles that live at a common step do not overlap. Cheapest: least total cost, then what the solver finds; where the
/// cheapest layout of every tile fits, each takes that one, the smallest among equals.
/// The same problem has the same answer: no clock decides, only rlimit.
/// Owns:    answer's arrays come from `arena`.
/// Errors:  NO_MEMORY. That nothing fits is an answer.
MirageStatus mirage__layout_solve(const SolveProblem *problem, MirageArena *arena, SolveAnswer *out_answer);

/// The solver's part (solve_z3.c): levels `candidates[0 .. count)` in this order. False when it gives up or there is no
/// such layout; else level, variant and offset of `answer` are filled in.
bool mirage__layout_ask_solver(const SolveProblem *problem, const uint32_t *candidates, uint32_t count,
                               MirageArena *arena, SolveAnswer *answer);

#endif
