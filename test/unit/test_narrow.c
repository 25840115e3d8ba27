// test_narrow.c - turns of a loop in which a mask rules out the last columns of its tiles: how many are left, and who asks
// for the others.
#include "layout/block.h"

#include "block_graphs.h"
#include "capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROWS = 64, TILE = 64, RANGE = 4, DEPTH = 16, KEYS = TILE * RANGE };

// What becomes of the scores of a tile of keys, of which those below a constant count.
typedef enum Body {
  MASKED,        // exp(mask(key < n, s))
  ADDED,         // exp(s + mask(key < n, 0))
  COMPUTED,      // exp(mask(key < n, tanh(2 s)))
  SHIFTED,       // exp(mask(key < n, s) - max(mask(key < n, s)))
  BOTH,          // key < n and key < n + 100
  TURNED_AROUND, // n > key
  TIMES_SCORES,  // exp(mask(key < n, s)) s: the product with s is 0 there, too
  NUM_NARROW,
  MAX_OF_ALL = NUM_NARROW, // exp(mask(key < n, s) - max(s)): asks for all scores
  MAX_OF_OTHERS,           // exp(mask(key < n, s) - max(mask(row < 7, s))): another mask hides other scores
  BY_GRID,                 // keys begin elsewhere in each block
  LOADED,                  // n is known when the kernel runs
  TRANSPOSED,              // exponentials are read as columns
  OF_ROWS,                 // row < n
  NUM_BODIES,
} Body;

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

typedef struct Fixture {
  MirageUGraph *graph;
  MirageArena arena;
  Block block;
  MirageValue score, masked, weight;
} Fixture;

static MirageType index_type(int64_t rows, int64_t columns) {
  MirageType type = tile2(rows, columns);
  type.dtype = MIRAGE_I32;
  return type;
}

static MirageValue visible(Fixture *f, MirageNode custom, Body body, int64_t keys) {
  MirageUGraph *g = f->graph;
  bool rows = body == OF_ROWS;
  MirageAttrs index = {.iota = {index_type(rows ? TILE : 1, rows ? 1 : TILE), rows ? 0 : 1, 0, {0}, {TILE}}};
  index.iota.grid[0] = body == BY_GRID ? KEYS : 0;
  MirageValue key = mirage_ugraph_apply(g, MIRAGE_OP_IOTA, 0, NULL, &index);
  MirageValue bound = mirage_ugraph_constant(g, index_type(1, 1), (double)keys);
  MirageAccessAttrs whole = access_of(-1, -1);
  if (body == LOADED)
    bound = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 3), &whole);
  MirageValue c = body == TURNED_AROUND ? op2(g, MIRAGE_OP_GREATER, bound, key) : op2(g, MIRAGE_OP_LESS, key, bound);
  if (body == BOTH)
    c = op2(g, MIRAGE_OP_AND,
            op2(g, MIRAGE_OP_LESS, key, mirage_ugraph_constant(g, index_type(1, 1), (double)keys + 100)), c);
  return c;
}

static MirageValue of_first_rows(MirageUGraph *g, MirageValue s) {
  MirageAttrs index = {.iota = {index_type(ROWS, 1), 0, 0, {0}, {0}}};
  MirageValue row = mirage_ugraph_apply(g, MIRAGE_OP_IOTA, 0, NULL, &index);
  MirageValue first = op2(g, MIRAGE_OP_LESS, row, mirage_ugraph_constant(g, index_type(1, 1), 7));
  return op2(g, MIRAGE_OP_MASK, first, s);
}

static void fill_loop(Fixture *f, MirageNode custom, Body body, int64_t keys) {
  MirageUGraph *g = f->graph;
  MirageAccessAttrs k_map = access_of(-1, 1), v_map = access_of(-1, 0), q_map = access_of(0, -1);
  MirageValue q = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &q_map);
  MirageValue k = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 1), &k_map);
  MirageValue v = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 2), &v_map);
  MirageValue c = visible(f, custom, body, keys), s = f->score = op2(g, MIRAGE_OP_MATMUL, q, k), z;
  if (body == COMPUTED)
    s = op1(g, MIRAGE_OP_TANH, op2(g, MIRAGE_OP_MUL, s, mirage_ugraph_constant(g, tile2(1, 1), 2)));
  if (body == ADDED)
    z = op2(g, MIRAGE_OP_ADD, s, op2(g, MIRAGE_OP_MASK, c, mirage_ugraph_constant(g, tile2(1, TILE), 0)));
  else
    z = op2(g, MIRAGE_OP_MASK, c, s);
  f->masked = z;
  if (body == SHIFTED || body == MAX_OF_ALL)
    z = op2(g, MIRAGE_OP_SUB, z, reduce_over(g, MIRAGE_OP_REDUCE_MAX, body == SHIFTED ? z : s, 1, 1));
  if (body == MAX_OF_OTHERS)
    z = op2(g, MIRAGE_OP_SUB, z, reduce_over(g, MIRAGE_OP_REDUCE_MAX, of_first_rows(g, s), 1, 1));
  MirageValue e = op1(g, MIRAGE_OP_EXP, z);
  if (body == TIMES_SCORES)
    e = op2(g, MIRAGE_OP_MUL, e, s);
  f->weight = e;
  MirageAttrs turned = {.matmul = {.transpose_a = body == TRANSPOSED}};
  MirageValue part =
      mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (MirageValue[]){mirage_ugraph_cast(g, e, MIRAGE_F16), v}, &turned);
  mirage_ugraph_close(g, 2, (MirageValue[]){reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1), part});
}

static void begin(Fixture *f, Body body, int64_t keys) {
  MirageUGraph *g = f->graph = mirage_ugraph_create(NULL, "narrow", &DIAG);
  MirageValue in[] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 2 * ROWS, DEPTH)),
                      mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, DEPTH, KEYS)),
                      mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, KEYS, DEPTH)),
                      mirage_ugraph_input(g, tensor_type(MIRAGE_I32, 2, 1, 1))};
  MirageType result = tensor_type(MIRAGE_F16, 2, 2 * ROWS, DEPTH);
  MirageCustomAttrs attrs = blocks(2);
  MirageNode custom = mirage_ugraph_open_custom(g, 4, in, 1, &result, &attrs);
  MirageValue inits[] = {mirage_ugraph_constant(g, tile2(ROWS, 1), 0),
                         mirage_ugraph_constant(g, tile2(ROWS, DEPTH), 0)};
  MirageCarry carries[] = {{.combine = MIRAGE_COMBINE_SUM}, {.combine = MIRAGE_COMBINE_SUM}};
  MirageNode loop = mirage_ugraph_open_loop(g, 2, inits, &(MirageLoopAttrs){RANGE, 2, carries});
  fill_loop(f, custom, body, keys);
  MirageAccessAttrs out = access_of(0, -1);
  MirageValue y = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, loop, 1), mirage_ugraph_result(g, loop, 0));
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, custom, 4), &out);
  mirage_ugraph_close(g, 0, NULL);
  assert_non_null(finish_with(g, mirage_ugraph_result(g, custom, 0)));
  assert_string_equal(capture.text, "");
  mirage_arena_init(&f->arena, NULL);
  assert_int_equal(mirage__block_init(&f->block, g, custom, &f->arena, true, &DIAG), MIRAGE_OK);
  assert_int_equal(mirage__block_bounds(&f->block, 0), MIRAGE_OK);
  f->block.partition.by_col = 1;
  f->block.values[f->score.index].warpgroup = true;
}

static void end(Fixture *f) {
  mirage_arena_deinit(&f->arena);
  mirage_ugraph_destroy(f->graph);
}

static void test_columns_left(void **state) {
  (void)state;
  for (Body body = MASKED; body < NUM_NARROW; body++)
    for (int64_t keys = KEYS - TILE - 1; keys <= KEYS; keys++) {
      Fixture f;
      begin(&f, body, keys);
      for (int64_t i = 0; i < RANGE; i++) {
        BlockNarrow narrow = {0};
        int64_t left = keys - i * TILE;
        bool expected = left > 0 && left <= TILE - 8;
        if (mirage__block_narrow(&f.block, 0, i, &narrow) != expected)
          fail_msg("form %d, %d keys, iteration %d", (int)body, (int)keys, (int)i);
        assert_int_equal(narrow.columns, expected ? left : 0);
        if (!expected)
          continue;
        assert_int_equal(narrow.width, TILE);
        assert_int_equal(narrow.hidden[f.score.index], COLUMNS_UNREAD);
        assert_int_equal(narrow.hidden[f.masked.index], COLUMNS_BOTTOM);
        assert_int_equal(narrow.hidden[f.weight.index], COLUMNS_ZERO);
      }
      end(&f);
    }
}

static void test_others_have_all(void **state) {
  (void)state;
  for (Body body = NUM_NARROW; body < NUM_BODIES; body++) {
    Fixture f;
    BlockNarrow narrow;
    begin(&f, body, KEYS - TILE + 8);
    if (f.block.loops[0].num_certain != 1)
      fail_msg("form %d compares nothing", (int)body);
    for (int64_t i = 0; i < RANGE; i++)
      if (mirage__block_narrow(&f.block, 0, i, &narrow))
        fail_msg("form %d is narrow in iteration %d", (int)body, (int)i);
    end(&f);
  }
}

// Nothing is saved where no product of warpgroups has fewer columns, and cells of a row must lie in one warp.
static void test_products_of_warpgroups(void **state) {
  (void)state;
  Fixture f;
  BlockNarrow narrow;
  begin(&f, MASKED, KEYS - TILE + 8);
  assert_true(mirage__block_narrow(&f.block, 0, RANGE - 1, &narrow));
  f.block.partition.by_col = 2;
  assert_false(mirage__block_narrow(&f.block, 0, RANGE - 1, &narrow));
  f.block.partition.by_col = 1;
  f.block.values[f.score.index].warpgroup = false;
  assert_false(mirage__block_narrow(&f.block, 0, RANGE - 1, &narrow));
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_left),
      cmocka_unit_test(test_others_have_all),
      cmocka_unit_test(test_products_of_warpgroups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
