// test_layout_solve.c - the choice of layouts and offsets: against brute force, when the solver gives up, and what
// known access patterns cost in known layouts.
#include "layout/solve.h"

#include "capture.h"
#include "layout/banks.h"
#include "mirage/random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 6, RLIMIT = 2000000 };

typedef struct Case {
  SolveTile tiles[MOST];
  int32_t copies[MOST][3];
  int64_t rooms[3];
  bool any_variant[3];
  SolveProblem problem;
} Case;

static SolveProblem *pose(Case *c, uint32_t tiles, uint32_t levels) {
  for (uint32_t t = 0; t < tiles; t++)
    c->tiles[t].copies = c->copies[t];
  c->problem = (SolveProblem){tiles, levels, c->tiles, c->rooms, c->any_variant, RLIMIT};
  return &c->problem;
}

// A tile with one layout and one copy.
static void add_plain(Case *c, uint32_t t, int32_t begin, int32_t end, int64_t bytes) {
  c->tiles[t] = (SolveTile){begin, end, SOLVE_UNIT, -1, 1, 1, {{bytes, 0}}, NULL};
  for (int level = 0; level < 3; level++)
    c->copies[t][level] = 1;
}

static SolveAnswer solve(const SolveProblem *problem, MirageArena *arena) {
  SolveAnswer answer;
  assert_int_equal(mirage__layout_solve(problem, arena, &answer), MIRAGE_OK);
  if (answer.how == SOLVE_NOTHING)
    return answer;
  for (uint32_t t = 0; t < problem->num_tiles; t++) {
    const SolveTile *a = &problem->tiles[t];
    int64_t a_size = a->variants[answer.variant[t]].bytes * a->copies[answer.level];
    assert_int_equal(answer.offset[t] % a->alignment, 0);
    assert_true(answer.offset[t] >= 0 && answer.offset[t] + a_size <= problem->rooms[answer.level]);
    assert_true(a->offset < 0 || a->offset == answer.offset[t]);
    assert_true(answer.variant[t] < (problem->any_variant[answer.level] ? a->num_variants : a->num_good));
    for (uint32_t u = 0; u < t; u++) {
      const SolveTile *b = &problem->tiles[u];
      int64_t b_size = b->variants[answer.variant[u]].bytes * b->copies[answer.level];
      bool together = a->begin <= b->end && b->begin <= a->end;
      assert_true(!together || answer.offset[t] + a_size <= answer.offset[u] ||
                  answer.offset[u] + b_size <= answer.offset[t]);
    }
  }
  return answer;
}

// ------------------------------------------------------------------------------------------------------------ choices

// Two tiles live together; each may be padded (free, larger) or swizzled.
static void two_tiles(Case *c, int64_t room) {
  *c = (Case){0};
  for (uint32_t t = 0; t < 2; t++) {
    add_plain(c, t, 0, 1, 9216);
    c->tiles[t].num_variants = c->tiles[t].num_good = 2;
    c->tiles[t].variants[1] = (SolveVariant){8192, 100 + 50 * t};
  }
  c->rooms[0] = room;
}

#ifdef MIRAGE_WITH_Z3

// ------------------------------------------------------------------------------------------------------- brute force

// Least top over all orders: some order of putting each tile at the lowest free offset reaches it.
static int64_t best_top(const Case *c, uint32_t count, uint32_t *order, uint32_t done, int64_t *offset) {
  if (done == count) {
    int64_t top = 0;
    for (uint32_t t = 0; t < count; t++) {
      int64_t end = offset[t] + c->tiles[t].variants[0].bytes;
      top = end > top ? end : top;
    }
    return top;
  }
  int64_t best = INT64_MAX;
  for (uint32_t t = 0; t < count; t++) {
    bool used = false;
    for (uint32_t i = 0; i < done; i++)
      used |= order[i] == t;
    if (used)
      continue;
    order[done] = t;
    offset[t] = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t i = 0; i < done; i++) {
        const SolveTile *a = &c->tiles[t], *b = &c->tiles[order[i]];
        if (a->begin > b->end || b->begin > a->end || offset[t] >= offset[order[i]] + b->variants[0].bytes ||
            offset[order[i]] >= offset[t] + a->variants[0].bytes)
          continue;
        offset[t] = offset[order[i]] + b->variants[0].bytes;
        moved = true;
      }
    }
    int64_t top = best_top(c, count, order, done + 1, offset);
    best = top < best ? top : best;
  }
  return best;
}

// In exactly the least room there is an answer, in one unit less there is none.
static void test_exact(void **state) {
  MirageRandom random;
  mirage_random_init(&random, 5, 0);
  int solved = 0;
  for (int round = 0; round < 40; round++) {
    MirageArena arena;
    mirage_arena_init(&arena, NULL);
    Case c = {0};
    uint32_t order[MOST], count = 4 + (uint32_t)(mirage_random_next(&random) % 3);
    int64_t offset[MOST];
    for (uint32_t t = 0; t < count; t++) {
      int32_t begin = (int32_t)(mirage_random_next(&random) % 8), length = (int32_t)(mirage_random_next(&random) % 5);
      add_plain(&c, t, begin, begin + length, SOLVE_UNIT * (1 + (int64_t)(mirage_random_next(&random) % 40)));
    }
    c.rooms[0] = best_top(&c, count, order, 0, offset);
    SolveAnswer answer = solve(pose(&c, count, 1), &arena);
    assert_int_equal(answer.bytes, c.rooms[0]);
    solved += answer.how == SOLVE_SOLVER;
    c.rooms[0] -= SOLVE_UNIT;
    assert_int_equal(solve(pose(&c, count, 1), &arena).how, SOLVE_NOTHING);
    mirage_arena_deinit(&arena);
  }
  print_message("%d of 40 packings needed the solver\n", solved);
  assert_true(solved > 0);
}

static void test_cheapest_that_fits(void **state) {
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  Case c;
  two_tiles(&c, 2 * 9216);
  SolveAnswer answer = solve(pose(&c, 2, 1), &arena);
  assert_int_equal(answer.how, SOLVE_BOUND); // no question
  assert_true(answer.variant[0] == 0 && answer.variant[1] == 0);
  two_tiles(&c, 9216 + 8192);
  answer = solve(pose(&c, 2, 1), &arena);
  assert_int_equal(answer.how, SOLVE_SOLVER);
  assert_true(answer.variant[0] == 1 && answer.variant[1] == 0); // the one that costs less
  two_tiles(&c, 2 * 8192);
  answer = solve(pose(&c, 2, 1), &arena);
  assert_true(answer.variant[0] == 1 && answer.variant[1] == 1);
  two_tiles(&c, 2 * 8192 - SOLVE_UNIT);
  answer = solve(pose(&c, 2, 1), &arena);
  assert_int_equal(answer.how, SOLVE_NOTHING);
  assert_int_equal(answer.bytes, 2 * 8192);
  mirage_arena_deinit(&arena);
}

// A level with more copies comes before a cheaper layout; what costs conflicts only where it is allowed.
static void test_levels(void **state) {
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  Case c;
  two_tiles(&c, 4 * 8192);
  c.rooms[1] = c.rooms[2] = c.rooms[0];
  c.copies[0][0] = c.copies[1][0] = 2;
  SolveAnswer answer = solve(pose(&c, 2, 2), &arena);
  assert_int_equal(answer.level, 0);
  assert_true(answer.variant[0] == 1 && answer.variant[1] == 1);
  c.tiles[0].num_good = 1;
  answer = solve(pose(&c, 2, 2), &arena);
  assert_int_equal(answer.level, 1);
  assert_true(answer.variant[0] == 0 && answer.variant[1] == 0);
  c.any_variant[0] = true;
  assert_int_equal(solve(pose(&c, 2, 2), &arena).level, 0);
  mirage_arena_deinit(&arena);
}

#endif

static void test_rule(void **state) {
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  Case c;
  two_tiles(&c, 9216 + 8192);
  pose(&c, 2, 1)->rlimit = 1; // the solver gives up at once
  SolveAnswer answer = solve(&c.problem, &arena);
  assert_int_equal(answer.how, SOLVE_RULE);
  assert_true(answer.variant[0] == 1 && answer.variant[1] == 1); // each at its smallest, largest first
  assert_true(answer.offset[0] == 0 && answer.offset[1] == 8192);
  c.rooms[1] = 2 * 9216;
  pose(&c, 2, 2)->rlimit = 1;
  answer = solve(&c.problem, &arena);
  assert_int_equal(answer.level, 1); // settled without a question
  assert_true(answer.variant[0] == 0 && answer.variant[1] == 0);
  mirage_arena_deinit(&arena);
}

static void test_by_hand(void **state) {
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  Case c = {0};
  add_plain(&c, 0, 0, 2, 1024);
  add_plain(&c, 1, 1, 3, 512);
  add_plain(&c, 2, 0, 3, 512);
  c.tiles[0].offset = 512;
  c.tiles[2].alignment = 1024;
  c.rooms[0] = 4096;
  SolveAnswer answer = solve(pose(&c, 3, 1), &arena);
  assert_true(answer.offset[0] == 512);
  c.tiles[1].offset = 1024; // meets tile 0
  assert_int_equal(solve(pose(&c, 3, 1), &arena).how, SOLVE_NOTHING);
  mirage_arena_deinit(&arena);
}

static void test_same_answer(void **state) {
  SolveAnswer first = {0};
  MirageArena arena;
  mirage_arena_init(&arena, NULL);
  for (int round = 0; round < 3; round++) {
    Case c;
    two_tiles(&c, 9216 + 8192);
    SolveAnswer answer = solve(pose(&c, 2, 1), &arena);
    if (round) {
      assert_memory_equal(first.variant, answer.variant, 2 * sizeof *answer.variant);
      assert_memory_equal(first.offset, answer.offset, 2 * sizeof *answer.offset);
    }
    first = answer;
  }
  mirage_arena_deinit(&arena);
}

// ------------------------------------------------------------------------------------------------------------- banks

static MirageType tile(MirageDType dtype, int64_t rows, int64_t columns, int64_t stride, uint8_t swizzle) {
  MirageType type = mirage_type_tile(dtype, 2, (int64_t[]){rows, columns});
  type.layout = (MirageLayout){.swizzle = swizzle, .strides = {stride, 1}};
  return type;
}

static int64_t rows_of_ldmatrix(MirageType type, int64_t row, int64_t column) {
  BankIndex index[8] = {{0}};
  for (int i = 0; i < 8; i++) {
    index[i][0] = row + i;
    index[i][1] = column;
  }
  return mirage__bank_conflicts_of_rows(&type, (const BankIndex *)index);
}

static void test_rows_of_ldmatrix(void **state) {
  assert_int_equal(rows_of_ldmatrix(tile(MIRAGE_F16, 64, 64, 64, 0), 0, 0), 7);  // all in the same banks
  assert_int_equal(rows_of_ldmatrix(tile(MIRAGE_F16, 64, 64, 72, 0), 8, 16), 0); // padded
  assert_int_equal(rows_of_ldmatrix(tile(MIRAGE_F16, 64, 64, 64, 3), 8, 16), 0); // swizzled
  assert_int_equal(rows_of_ldmatrix(tile(MIRAGE_F16, 64, 64, 64, 1), 0, 0), 3);
  assert_int_equal(rows_of_ldmatrix(tile(MIRAGE_F16, 64, 32, 32, 0), 0, 0), 3);
  assert_int_equal(rows_of_ldmatrix(tile(MIRAGE_F16, 64, 32, 32, 2), 0, 0), 0);  // by row pair
  assert_int_equal(rows_of_ldmatrix(tile(MIRAGE_BF16, 16, 24, 24, 0), 0, 8), 0); // 48 bytes: odd already
}

static int64_t in_order(MirageType type, uint32_t width) {
  BankIndex index[BANK_LANES] = {{0}};
  for (int i = 0; i < BANK_LANES; i++) {
    index[i][0] = i * width / type.shape[1];
    index[i][1] = i * width % type.shape[1];
  }
  return mirage__bank_conflicts(&type, width, BANK_LANES, (const BankIndex *)index);
}

static void test_neighbours(void **state) {
  assert_int_equal(in_order(tile(MIRAGE_F16, 64, 32, 32, 0), 8), 0); // dense rows: one piece of memory
  assert_true(in_order(tile(MIRAGE_F16, 64, 32, 40, 0), 8) > 0);     // padding tears it
  assert_int_equal(in_order(tile(MIRAGE_F32, 64, 32, 32, 0), 1), 0);
  assert_int_equal(in_order(tile(MIRAGE_F16, 64, 64, 64, 3), 8), 0);
  MirageType type = tile(MIRAGE_F32, 64, 32, 32, 0);
  BankIndex column[BANK_LANES] = {{0}}, same[BANK_LANES] = {{0}};
  for (int i = 0; i < BANK_LANES; i++)
    column[i][0] = i;
  assert_int_equal(mirage__bank_conflicts(&type, 1, BANK_LANES, (const BankIndex *)column), 31);
  assert_int_equal(mirage__bank_conflicts(&type, 1, BANK_LANES, (const BankIndex *)same), 0); // a broadcast
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef MIRAGE_WITH_Z3
      cmocka_unit_test(test_exact),
      cmocka_unit_test(test_cheapest_that_fits),
      cmocka_unit_test(test_levels),
#endif
      cmocka_unit_test(test_rule),
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_same_answer),
      cmocka_unit_test(test_neighbours),
      cmocka_unit_test(test_rows_of_ldmatrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
