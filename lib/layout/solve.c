// solve.c - layouts and offsets of tiles in shared memory: bounds, a greedy packing, and the solver for what they
// leave.
//
// Level by level, in the order wanted:
//   impossible   at some step the tiles alive, each at its smallest, exceed the room
//   settled      each tile at its cheapest is packed into the room by first fit, largest first
//   open         neither: only search can tell
// A settled level with no open one before it is the answer. Otherwise the solver decides among the open levels and the
// settled one behind them, exactly; when it reaches its limit, the rule is: the settled level; without one, the first
// open level where first fit packs each tile at its smallest.
//
// Example: two tiles of 64 x 64 f16 live together in 16 KiB. With padded rows they take 18 KiB; the level is open, and
//          the solver swizzles both (or one, where 17 KiB are there).
#include "solve.h"

typedef enum Verdict { IMPOSSIBLE, SETTLED, OPEN } Verdict;

typedef struct Packing {
  const SolveProblem *problem;
  uint32_t level;
  const uint32_t *variant;
  int64_t *offset;
} Packing;

static int64_t round_up(int64_t a, int64_t to) { return (a + to - 1) / to * to; }

static int64_t size_in(const SolveProblem *problem, uint32_t tile, uint32_t variant, uint32_t level) {
  return problem->tiles[tile].variants[variant].bytes * problem->tiles[tile].copies[level];
}

static bool live_together(const SolveTile *a, const SolveTile *b) { return a->begin <= b->end && b->begin <= a->end; }

// --------------------------------------------------------------------------------------------------------- first fit

static int64_t size_of(const Packing *p, uint32_t tile) {
  return size_in(p->problem, tile, p->variant[tile], p->level);
}

static bool overlap(const Packing *p, uint32_t a, int64_t a_offset, uint32_t b) {
  return live_together(&p->problem->tiles[a], &p->problem->tiles[b]) && a_offset < p->offset[b] + size_of(p, b) &&
         p->offset[b] < a_offset + size_of(p, a);
}

// The lowest offset at which `tile` meets none of placed[0 .. count).
static int64_t first_fit(const Packing *p, uint32_t tile, const uint32_t *placed, uint32_t count) {
  int64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < count; i++)
      if (overlap(p, tile, offset, placed[i])) {
        offset = round_up(p->offset[placed[i]] + size_of(p, placed[i]), p->problem->tiles[tile].alignment);
        moved = true;
      }
  }
  return offset;
}

// Fixed tiles first, then by size; among equals in their order.
static bool comes_before(const Packing *p, uint32_t a, uint32_t b) {
  bool fixed_a = p->problem->tiles[a].offset >= 0, fixed_b = p->problem->tiles[b].offset >= 0;
  if (fixed_a != fixed_b)
    return fixed_a;
  return size_of(p, a) > size_of(p, b);
}

// Fills p->offset; returns the bytes used.
static int64_t pack(const Packing *p, uint32_t *order) {
  int64_t top = 0;
  for (uint32_t i = 0; i < p->problem->num_tiles; i++) {
    uint32_t at = i;
    for (; at > 0 && comes_before(p, i, order[at - 1]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  for (uint32_t i = 0; i < p->problem->num_tiles; i++) {
    int64_t by_hand = p->problem->tiles[order[i]].offset;
    p->offset[order[i]] = by_hand >= 0 ? by_hand : first_fit(p, order[i], order, i);
    int64_t end = p->offset[order[i]] + size_of(p, order[i]);
    top = end > top ? end : top;
  }
  return top;
}

// ------------------------------------------------------------------------------------------------------------- bounds

// The variant of least cost, or of least size, in a level.
static void choose(const SolveProblem *problem, uint32_t level, bool smallest, uint32_t *variant) {
  for (uint32_t t = 0; t < problem->num_tiles; t++) {
    const SolveTile *tile = &problem->tiles[t];
    variant[t] = 0;
    for (uint32_t v = 1; v < (problem->any_variant[level] ? tile->num_variants : tile->num_good); v++) {
      const SolveVariant *a = &tile->variants[v], *b = &tile->variants[variant[t]];
      bool cheaper = a->cost != b->cost ? a->cost < b->cost : a->bytes < b->bytes;
      bool less = a->bytes != b->bytes ? a->bytes < b->bytes : a->cost < b->cost;
      if (smallest ? less : cheaper)
        variant[t] = v;
    }
  }
}

// At some step all tiles alive are there: the most that any step holds. Steps where a tile begins suffice.
static int64_t least_bytes(const SolveProblem *problem, uint32_t level, const uint32_t *smallest) {
  int64_t most = 0;
  for (uint32_t t = 0; t < problem->num_tiles; t++) {
    int64_t sum = 0, step = problem->tiles[t].begin;
    for (uint32_t u = 0; u < problem->num_tiles; u++)
      if (problem->tiles[u].begin <= step && step <= problem->tiles[u].end)
        sum += size_in(problem, u, smallest[u], level);
    most = sum > most ? sum : most;
  }
  return most;
}

typedef struct Search {
  const SolveProblem *problem;
  uint32_t *cheapest, *smallest, *order, *candidates;
  int64_t *offset;
} Search;

// Whether two tiles that a person placed meet.
static bool fixed_meet(const Packing *p) {
  for (uint32_t t = 0; t < p->problem->num_tiles; t++)
    for (uint32_t u = 0; u < t; u++)
      if (p->problem->tiles[t].offset >= 0 && p->problem->tiles[u].offset >= 0 && overlap(p, t, p->offset[t], u))
        return true;
  return false;
}

static Verdict judge(const Search *s, uint32_t level, int64_t *out_bytes) {
  int64_t room = s->problem->rooms[level];
  choose(s->problem, level, false, s->cheapest);
  choose(s->problem, level, true, s->smallest);
  *out_bytes = least_bytes(s->problem, level, s->smallest);
  if (*out_bytes > room)
    return IMPOSSIBLE;
  Packing p = {s->problem, level, s->cheapest, s->offset};
  *out_bytes = pack(&p, s->order);
  return fixed_meet(&p) ? IMPOSSIBLE : *out_bytes <= room ? SETTLED : OPEN;
}

static int64_t top_of(const SolveProblem *problem, const SolveAnswer *answer) {
  int64_t top = 0;
  for (uint32_t t = 0; t < problem->num_tiles; t++) {
    int64_t end = answer->offset[t] + size_in(problem, t, answer->variant[t], answer->level);
    top = end > top ? end : top;
  }
  return top;
}

static void take(const Search *s, SolveHow how, uint32_t level, bool smallest, SolveAnswer *answer) {
  choose(s->problem, level, smallest, answer->variant);
  answer->how = how;
  answer->level = level;
  answer->bytes = pack(&(Packing){s->problem, level, answer->variant, answer->offset}, s->order);
}

// When the solver gave up.
static void by_rule(const Search *s, uint32_t count, bool settled, SolveAnswer *answer) {
  uint32_t last = count - 1;
  if (settled) {
    take(s, SOLVE_RULE, s->candidates[last], false, answer);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    take(s, SOLVE_RULE, s->candidates[i], true, answer);
    if (answer->bytes <= s->problem->rooms[s->candidates[i]])
      return;
  }
  answer->how = SOLVE_NOTHING;
  answer->open = true;
}

static void search(const Search *s, MirageArena *arena, SolveAnswer *answer) {
  uint32_t count = 0;
  bool settled = false;
  for (uint32_t level = 0; level < s->problem->num_levels && !settled; level++) {
    Verdict verdict = judge(s, level, &answer->bytes);
    settled = verdict == SETTLED;
    if (verdict != IMPOSSIBLE)
      s->candidates[count++] = level;
  }
  if (count == 0) {
    answer->how = SOLVE_NOTHING;
    return;
  }
  if (settled && count == 1)
    take(s, SOLVE_BOUND, s->candidates[0], false, answer);
  else if (s->problem->rlimit && mirage__layout_ask_solver(s->problem, s->candidates, count, arena, answer))
    *answer =
        (SolveAnswer){SOLVE_SOLVER, false, answer->level, answer->variant, answer->offset, top_of(s->problem, answer)};
  else
    by_rule(s, count, settled, answer);
}

MirageStatus mirage__layout_solve(const SolveProblem *problem, MirageArena *arena, SolveAnswer *out_answer) {
  size_t tiles = (size_t)problem->num_tiles + 1;
  Search s = {.problem = problem};
  *out_answer = (SolveAnswer){.how = SOLVE_NOTHING};
  uint32_t **arrays[] = {&s.cheapest, &s.smallest, &s.order, &out_answer->variant};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    if (!(*arrays[i] = mirage_arena_alloc_array(arena, tiles, sizeof(uint32_t))))
      return MIRAGE_NO_MEMORY;
  s.candidates = mirage_arena_alloc_array(arena, (size_t)problem->num_levels + 1, sizeof(uint32_t));
  s.offset = mirage_arena_alloc_array(arena, tiles, sizeof(int64_t));
  out_answer->offset = mirage_arena_alloc_array(arena, tiles, sizeof(int64_t));
  if (!s.candidates || !s.offset || !out_answer->offset)
    return MIRAGE_NO_MEMORY;
  search(&s, arena, out_answer);
  return MIRAGE_OK;
}
