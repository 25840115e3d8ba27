// test_bounds.c - loops that leave out tiles which a mask rules out: which iterations each block runs, beside what the mask
// says of every element; and loops that must run all.
#include "layout/block.h"

#include "block_graphs.h"
#include "capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { QUERIES = 192, KEYS = 384 };

// What the loop carries, and what becomes of it.
typedef enum Body {
  SUMS,         // exp(mask(c, s)), summed: a tile that is masked adds 0
  ONLINE,       // beside a running maximum, rescaled
  MAXIMUM,      // of masked scores
  NOT_FROM_0,   // ONLINE, but the sum begins with 1
  OTHER_FACTOR, // ONLINE, rescaled by exp(-max)
  OF_ALL,       // a second sum, of scores that are not masked
  NUMBERS,      // the mask as numbers 0 and 1 that are added
  AFTER,        // the mask of exponentials, not of scores: bottom, which is no 0
  LAST,         // what the last iteration gives
  EITHER,       // c or a comparison that always holds
} Body;

typedef struct Mask {
  int64_t offset, window; // key <= query + offset, and query + offset - window < key; 0 = no window
  int64_t rows, keys;     // of a tile
  bool turned;            // query + offset >= key
} Mask;

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

static MirageValue iota(MirageUGraph *g, int32_t dim, int64_t extent, int64_t start, int64_t grid, int64_t loop) {
  MirageType type = mirage_type_tile(MIRAGE_I32, 2, (int64_t[]){dim ? 1 : extent, dim ? extent : 1});
  return mirage_ugraph_apply(g, MIRAGE_OP_IOTA, 0, NULL,
                             &(MirageAttrs){.iota = {type, dim, start, {grid, 0, 0}, {loop, 0, 0, 0}}});
}

static MirageValue visible(MirageUGraph *g, Mask m) {
  MirageValue key = iota(g, 1, m.keys, 0, 0, m.keys), query = iota(g, 0, m.rows, m.offset, m.rows, 0);
  MirageValue c = m.turned ? op2(g, MIRAGE_OP_GREATER_EQUAL, query, key) : op2(g, MIRAGE_OP_LESS_EQUAL, key, query);
  if (!m.window)
    return c;
  return op2(g, MIRAGE_OP_AND, c, op2(g, MIRAGE_OP_LESS, iota(g, 0, m.rows, m.offset - m.window, m.rows, 0), key));
}

typedef struct Yield {
  uint32_t count;
  MirageCarry carries[3];
  MirageValue inits[3], values[4];
} Yield;

// Before the loop: what each carry begins with.
static void begin_with(MirageUGraph *g, Body body, Mask m, Yield *y) {
  MirageValue zero = mirage_ugraph_constant(g, tile2(m.rows, 1), body == NOT_FROM_0), all = zero;
  MirageValue none = mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &(MirageAttrs){.shape = {tile2(m.rows, 1)}});
  MirageCarry max = {.combine = MIRAGE_COMBINE_MAX}, sum = {.combine = MIRAGE_COMBINE_SUM};
  bool online = body == ONLINE || body == NOT_FROM_0 || body == OTHER_FACTOR;
  if (online || body == MAXIMUM) {
    y->carries[y->count] = max;
    y->inits[y->count++] = none;
  }
  if (body != MAXIMUM) {
    y->carries[y->count] = sum;
    if (online)
      y->carries[y->count].combine = MIRAGE_COMBINE_RESCALE;
    if (body == LAST)
      y->carries[y->count].combine = MIRAGE_COMBINE_ASSIGN;
    y->inits[y->count++] = zero;
  }
  if (body == OF_ALL) {
    y->carries[y->count] = sum;
    y->inits[y->count++] = all;
  }
}

static void fill_loop(MirageUGraph *g, MirageNode custom, MirageNode loop, Body body, Mask m, Yield *y) {
  MirageAccessAttrs access = access_of(0, 1);
  MirageValue s = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &access), c = visible(g, m), z, e;
  if (body == EITHER)
    c = op2(g, MIRAGE_OP_OR, c, op2(g, MIRAGE_OP_LESS_EQUAL, iota(g, 1, m.keys, 0, 0, 0), iota(g, 1, m.keys, 0, 0, 0)));
  z = body == NUMBERS ? op2(g, MIRAGE_OP_ADD, s, mirage_ugraph_cast(g, c, MIRAGE_F32)) : op2(g, MIRAGE_OP_MASK, c, s);
  MirageValue top = reduce_over(g, MIRAGE_OP_REDUCE_MAX, z, 1, 1), old = mirage_ugraph_argument(g, loop, 0);
  MirageValue factor = {0};
  uint32_t n = 0;
  if (y->carries[0].combine == MIRAGE_COMBINE_MAX)
    y->values[n++] = top;
  if (n && body != MAXIMUM) {
    MirageValue now = op2(g, MIRAGE_OP_MAX, old, top);
    MirageValue zero = mirage_ugraph_constant(g, tile2(m.rows, 1), 0);
    factor = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, body == OTHER_FACTOR ? zero : old, now));
    z = op2(g, MIRAGE_OP_SUB, z, now);
  }
  e = op1(g, MIRAGE_OP_EXP, body == AFTER ? s : z);
  if (body == AFTER)
    e = op2(g, MIRAGE_OP_MASK, c, e);
  if (body != MAXIMUM)
    y->values[n++] = reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1);
  if (body == OF_ALL)
    y->values[n++] = reduce_over(g, MIRAGE_OP_REDUCE_SUM, s, 1, 1);
  if (factor.index)
    y->values[n++] = factor;
  mirage_ugraph_close(g, n, y->values);
}

static MirageUGraph *graph_of(Body body, Mask m) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "masked", &DIAG);
  MirageValue scores = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, QUERIES, KEYS));
  MirageType result = tensor_type(MIRAGE_F32, 2, QUERIES, 1);
  MirageCustomAttrs attrs = blocks(QUERIES / m.rows);
  MirageAccessAttrs out = access_of(0, -1);
  Yield y = {0};
  MirageNode custom = mirage_ugraph_open_custom(g, 1, &scores, 1, &result, &attrs);
  begin_with(g, body, m, &y);
  const MirageLoopAttrs loop_attrs = {.range = KEYS / m.keys, .num_carries = y.count, .carries = y.carries};
  MirageNode loop = mirage_ugraph_open_loop(g, y.count, y.inits, &loop_attrs);
  fill_loop(g, custom, loop, body, m, &y);
  mirage_ugraph_store(g, mirage_ugraph_result(g, loop, y.count - 1), mirage_ugraph_argument(g, custom, 1), &out);
  mirage_ugraph_close(g, 0, NULL);
  MirageUGraph *finished = finish_with(g, mirage_ugraph_result(g, custom, 0));
  assert_string_equal(capture.text, "");
  assert_non_null(finished);
  return finished;
}

// The maximum of the scores whose key is less than a length, of keys that two blocks share: in one piece each, or dealt out.
enum { SHARED_TILE = 32, SHARED_RANGE = KEYS / 2 / SHARED_TILE };
static MirageUGraph *shared_graph(bool cyclic) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "shared", &DIAG);
  MirageValue in[] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 1, KEYS)),
                      mirage_ugraph_input(g, tensor_type(MIRAGE_I32, 2, 1, 1))};
  MirageType result = tensor_type(MIRAGE_F32, 2, 1, 1);
  MirageCustomAttrs attrs = blocks(2);
  MirageAccessAttrs access = access_of(1, 1), whole = access_of(-1, -1);
  access.cyclic = cyclic;
  MirageNode custom = mirage_ugraph_open_custom(g, 2, in, 1, &result, &attrs);
  MirageValue none = mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &(MirageAttrs){.shape = {tile2(1, 1)}});
  MirageCarry carry = {.combine = MIRAGE_COMBINE_MAX};
  MirageNode loop = mirage_ugraph_open_loop(g, 1, &none, &(MirageLoopAttrs){SHARED_RANGE, 1, &carry});
  MirageValue s = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &access);
  MirageValue n = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 1), &whole);
  MirageValue key = iota(g, 1, SHARED_TILE, 0, cyclic ? SHARED_TILE : KEYS / 2, cyclic ? 2 * SHARED_TILE : SHARED_TILE);
  MirageValue top = op2(g, MIRAGE_OP_MASK, op2(g, MIRAGE_OP_LESS, key, n), s);
  top = reduce_over(g, MIRAGE_OP_REDUCE_MAX, top, 1, 1);
  mirage_ugraph_close(g, 1, &top);
  top = mirage_ugraph_result(g, loop, 0);
  top = mirage_ugraph_apply(g, MIRAGE_OP_GRID_MAX, 1, &top, &(MirageAttrs){.axes = {{true, false, false}}});
  mirage_ugraph_store(g, top, mirage_ugraph_argument(g, custom, 2), &whole);
  mirage_ugraph_close(g, 0, NULL);
  MirageUGraph *finished = finish_with(g, mirage_ugraph_result(g, custom, 0));
  assert_string_equal(capture.text, "");
  assert_non_null(finished);
  return finished;
}

typedef struct Fixture {
  MirageUGraph *graph;
  MirageArena arena;
  Block block;
} Fixture;

static void begin_with_graph(Fixture *f, MirageUGraph *graph) {
  f->graph = graph;
  mirage_arena_init(&f->arena, NULL);
  MirageNode custom = mirage_ugraph_region(f->graph, mirage_ugraph_body(f->graph)).nodes[0];
  assert_int_equal(mirage__block_init(&f->block, f->graph, custom, &f->arena, true, &DIAG), MIRAGE_OK);
  assert_int_equal(f->block.num_loops, 1);
  assert_int_equal(mirage__block_bounds(&f->block, 0), MIRAGE_OK);
}

static void begin(Fixture *f, Body body, Mask m) { begin_with_graph(f, graph_of(body, m)); }

static void end(Fixture *f) {
  mirage_arena_deinit(&f->arena);
  mirage_ugraph_destroy(f->graph);
}

// How many pairs of a query of the block and a key of the tile see each other: asked element by element.
static int64_t pairs(Mask m, int64_t block, int64_t iteration) {
  int64_t count = 0;
  for (int64_t q = block * m.rows; q < (block + 1) * m.rows; q++)
    for (int64_t k = iteration * m.keys; k < (iteration + 1) * m.keys; k++)
      count += k <= q + m.offset && (!m.window || q + m.offset - m.window < k);
  return count;
}

static bool sees(Mask m, int64_t block, int64_t iteration) { return pairs(m, block, iteration) > 0; }

// Whether each block runs all tiles that it sees something of, and, of those before the first and behind the last, none.
static bool are_right(const BlockLoop *loop, Mask m) {
  for (int64_t b = 0; b < QUERIES / m.rows; b++) {
    int64_t first, end, seen = 0;
    mirage__block_turns(loop, (int64_t[]){b, 0, 0}, &first, &end);
    if (first < 0 || first >= end || end > loop->range)
      return false;
    for (int64_t i = 0; i < loop->range; i++) {
      seen += sees(m, b, i);
      if (sees(m, b, i) && (i < first || i >= end))
        return false;
    }
    if (seen && (!sees(m, b, first) || !sees(m, b, end - 1)))
      return false;
    if (!seen && end - first > 1)
      return false;
  }
  return true;
}

// Whether the iterations in which all is certain are those, of the ones that a block runs, whose tiles are seen whole.
static bool certain_are_right(const BlockLoop *loop, Mask m) {
  for (int64_t b = 0; b < QUERIES / m.rows; b++) {
    int64_t first, end, begin, until;
    mirage__block_turns(loop, (int64_t[]){b, 0, 0}, &first, &end);
    mirage__block_certain(loop, (int64_t[]){b, 0, 0}, &begin, &until);
    if (begin < first || until < begin || until > end)
      return false;
    for (int64_t i = first; i < end; i++)
      if ((pairs(m, b, i) == m.rows * m.keys) != (i >= begin && i < until))
        return false;
  }
  return true;
}

static const int64_t TILES[][2] = {{16, 16}, {64, 16}, {16, 48}, {192, 128}, {32, 384}, {1, 1}};
static const int64_t OFFSETS[] = {-500, -192, -17, -1, 0, 1, 15, 16, 17, 192, 191, 193, 500};
static const int64_t WINDOWS[] = {0, 1, 16, 17, 100, 1000};

static void test_every_boundary(void **state) {
  (void)state;
  for (size_t t = 0; t < sizeof TILES / sizeof *TILES; t++)
    for (size_t o = 0; o < sizeof OFFSETS / sizeof *OFFSETS; o++)
      for (size_t w = 0; w < sizeof WINDOWS / sizeof *WINDOWS; w++) {
        Mask m = {OFFSETS[o], WINDOWS[w], TILES[t][0], TILES[t][1], o % 2 == 1};
        Fixture f;
        begin(&f, o % 3 == 0 ? ONLINE : o % 3 == 1 ? SUMS : MAXIMUM, m);
        assert_int_equal(f.block.loops[0].num_bounds, m.window ? 2 : 1);
        assert_int_equal(f.block.loops[0].num_certain, m.window ? 2 : 1);
        if (!are_right(&f.block.loops[0], m) || !certain_are_right(&f.block.loops[0], m))
          fail_msg("tiles of %d x %d, offset %d, window %d", (int)m.rows, (int)m.keys, (int)m.offset, (int)m.window);
        end(&f);
      }
}

// The check above notices a bound that leaves one tile too many out, or one too few.
static void test_off_by_one_is_noticed(void **state) {
  (void)state;
  const Mask masks[] = {{0, 0, 16, 16, false}, {5, 100, 32, 16, false}};
  for (size_t i = 0; i < 2; i++)
    for (uint32_t bound = 0; bound <= i; bound++)
      for (int side = -1; side <= 1; side += 2) {
        Fixture f;
        begin(&f, ONLINE, masks[i]);
        assert_true(are_right(&f.block.loops[0], masks[i]));
        f.block.loops[0].bounds[bound].constant += side * masks[i].keys;
        assert_false(are_right(&f.block.loops[0], masks[i]));
        f.block.loops[0].bounds[bound].constant -= side * masks[i].keys;
        assert_true(certain_are_right(&f.block.loops[0], masks[i]));
        f.block.loops[0].certain[bound].constant += side * masks[i].keys;
        assert_false(certain_are_right(&f.block.loops[0], masks[i]));
        end(&f);
      }
}

// By one index: a tile more or less wherever the boundary of mask and tile is the same.
static void test_off_by_one_index_is_noticed(void **state) {
  (void)state;
  Mask m = {0, 0, 16, 16, false};
  Fixture f;
  begin(&f, ONLINE, m);
  f.block.loops[0].bounds[0].constant++;
  assert_false(are_right(&f.block.loops[0], m));
  f.block.loops[0].bounds[0].constant -= 17; // below that of the mask
  assert_false(are_right(&f.block.loops[0], m));
  f.block.loops[0].bounds[0].constant += 16;
  assert_true(certain_are_right(&f.block.loops[0], m));
  f.block.loops[0].certain[0].constant += 15; // the tile on the diagonal, of which the first query sees one key
  assert_false(certain_are_right(&f.block.loops[0], m));
  end(&f);
}

static void test_loops_that_run_all(void **state) {
  (void)state;
  const Body all[] = {NOT_FROM_0, OTHER_FACTOR, OF_ALL, NUMBERS, AFTER, LAST, EITHER};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    Fixture f;
    begin(&f, all[i], (Mask){0, 0, 16, 16, false});
    if (f.block.loops[0].num_bounds)
      fail_msg("a loop of kind %d leaves tiles out", (int)all[i]);
    assert_int_equal(f.block.loops[0].num_certain, 0);
    assert_string_equal(mirage__bounds_reason(&f.block, 0), "no mask rules out whole tiles");
    end(&f);
  }
}

static void test_share(void **state) {
  (void)state;
  Fixture f;
  begin(&f, ONLINE, (Mask){0, 0, 64, 64, false}); // 1, 2 and 3 of 6 tiles
  assert_true(mirage__block_share(&f.block, 0) == 1);
  f.block.loops[0].skips = true;
  assert_true(mirage__block_share(&f.block, 0) == 2.0 / 6);
  assert_true(mirage__block_certain_share(&f.block, 0) == 0.5); // 0, 1 and 2 of these
  f.block.loops[0].range = 2;
  assert_true(mirage__block_certain_share(&f.block, 0) == 0);
  end(&f);
}

// A length is expected to be half of the keys: of parts in one piece the first block's, or half of what each is dealt.
static void test_a_length_is_half_of_the_keys(void **state) {
  (void)state;
  for (int cyclic = 0; cyclic < 2; cyclic++) {
    Fixture f;
    begin_with_graph(&f, shared_graph(cyclic));
    assert_int_equal(f.block.loops[0].num_bounds, 1);
    assert_int_equal(f.block.loops[0].bounds[0].expected, KEYS / 2);
    for (int64_t b = 0; b < 2; b++) {
      int64_t first, end;
      mirage__block_turns(&f.block.loops[0], (int64_t[]){b, 0, 0}, &first, &end);
      assert_int_equal(first, 0);
      assert_int_equal(end, cyclic ? SHARED_RANGE / 2 : b == 0 ? SHARED_RANGE : 1);
    }
    end(&f);
  }
}

static BlockLengths lengths_of(Mask m, bool skips, int *out_axis, bool *out_reversed) {
  Fixture f;
  begin(&f, ONLINE, m);
  f.block.loops[0].skips = skips;
  *out_axis = mirage__block_longest_axis(&f.block, out_reversed);
  BlockLengths lengths = mirage__block_lengths(&f.block);
  end(&f);
  return lengths;
}

static void test_lengths_of_blocks(void **state) {
  (void)state;
  int axis;
  bool reversed;
  BlockLengths l = lengths_of((Mask){0, 0, 64, 64, false}, true, &axis, &reversed); // 1, 2 and 3 of 6 tiles
  assert_true(l.least == 1 && l.mean == 2 && l.most == 3);
  assert_true(axis == 0 && reversed);
  l = lengths_of((Mask){0, 0, 64, 64, false}, false, &axis, &reversed); // none is left out
  assert_true(l.least == 6 && l.mean == 6 && l.most == 6 && axis == -1);
  l = lengths_of((Mask){500, 0, 64, 64, false}, true, &axis, &reversed); // every query sees every key
  assert_true(l.least == 6 && l.most == 6 && axis == -1);
  l = lengths_of((Mask){300, 192, 64, 64, false}, true, &axis,
                 &reversed); // the last queries' windows end beyond the keys
  assert_true(l.least == 3 && l.mean == 4 && l.most == 5);
  assert_true(axis == 0 && !reversed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_boundary),
      cmocka_unit_test(test_off_by_one_is_noticed),
      cmocka_unit_test(test_off_by_one_index_is_noticed),
      cmocka_unit_test(test_loops_that_run_all),
      cmocka_unit_test(test_share),
      cmocka_unit_test(test_lengths_of_blocks),
      cmocka_unit_test(test_a_length_is_half_of_the_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
