// test_maxima.c - loops that keep the maximum of their first tile: which may, what they then leave out, and when they run again.
#include "layout/block.h"

#include "block_graphs.h"
#include "capture.h"
#include "codegen/host.h"
#include "mirage/emulator.h"
#include "mirage/eval.h"
#include "mirage/layout.h"
#include "mirage/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 64, TILE = 64, RANGE = 4, DEPTH = 16, KEYS = TILE * RANGE };

// How the loop over keys is written, and what becomes of its results.
typedef enum Form {
  PLAIN,          // now = max(old, top); weights exp(s - now); sums rescaled by exp(old - now); output / sum
  TURNED,         // now = max(top, old)
  CARRIES_NOW,    // the carry takes now
  HALVED,         // exp(0.5 (s - now))
  OF_ROUNDED,     // sums are taken of the weights as f16
  IN_BF16,        // weights as bf16
  WITH_LOG,       // log(sum) + maximum is stored
  OVER_GRID,      // blocks agree on the largest of their maxima, and add up sums and outputs rescaled to it
  BIASED,         // the output plus something else, divided by the sum: (o + v sum) / sum
  DOUBLED_FACTOR, // sums rescaled by 2 exp(old - now)
  TWO_MAXIMA,     // of all tops, too, which nobody subtracts: tops are asked for
  NUM_RIGHT,
  STORES_SUM = NUM_RIGHT,
  STORES_MAXIMUM,
  WITH_SQUARE,   // output / sum^2
  BIASED_BY_ONE, // (o + 1) / sum
  OTHER_FACTOR,  // rescaled by exp(2 (old - now))
  OTHER_WEIGHTS, // exp(0.5 (s - now)), rescaled by exp(old - now)
  WRONG_WAY,     // exp(now - s), rescaled by exp(now - old)
  NOT_RESCALED,
  LOCAL,          // exp(s - top)
  ROUNDED_SUM,    // the output as f16 before it is divided
  ROOT,           // weights sqrt(exp(s - now)), rescaled by exp(old - now)
  OVER_ROWS,      // the sum of all rows
  TRANSPOSED,     // a product whose rows are columns of weights
  DOUBLED,        // 2 exp(s - now) as f16: no sum says that it has room
  NOTHING_TELLS,  // the sum is of weights times something
  READS_SUM,      // an iteration reads the sum that it rescales
  BOTH_READ,      // two running maxima
  OLD_AND_NOW,    // exp(s - old - now), rescaled by exp(old - now)
  NO_MAXIMUM,     // carried, but nothing subtracts it
  ROUNDED_SHARE,  // blocks agree, and round to f16 what their sums are rescaled by
  GRID_OF_SUMS,   // blocks add up sums of their own references
  GRID_OF_OTHERS, // blocks agree over one axis, and add up over two
  NUM_FORMS,
} Form;

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

typedef struct Fixture {
  MirageUGraph *graph;
  MirageArena arena;
  Block block;
  MirageValue scores, top, now, factor, weight;
} Fixture;

typedef MirageUGraph G;
typedef MirageValue V;

static V number(G *g, double value) { return mirage_ugraph_constant(g, tile2(1, 1), value); }

static V collective(G *g, MirageOp op, V a, bool y) {
  MirageAttrs axes = {.axes = {{true, y, false}}};
  return mirage_ugraph_apply(g, op, 1, &a, &axes);
}

static void fill_loop(Fixture *f, MirageNode custom, MirageNode loop, Form form) {
  G *g = f->graph;
  MirageAccessAttrs k_map = access_of(-1, 1), v_map = access_of(-1, 0), q_map = access_of(-1, -1);
  V q = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &q_map);
  V k = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 1), &k_map);
  V v = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 2), &v_map);
  V s = f->scores = op2(g, MIRAGE_OP_MATMUL, q, k), old = mirage_ugraph_argument(g, loop, 0);
  V top = f->top = reduce_over(g, MIRAGE_OP_REDUCE_MAX, s, 1, 1);
  V now = f->now = form == TURNED ? op2(g, MIRAGE_OP_MAX, top, old) : op2(g, MIRAGE_OP_MAX, old, top);
  V less = form == NO_MAXIMUM  ? s
           : form == WRONG_WAY ? op2(g, MIRAGE_OP_SUB, now, s)
                               : op2(g, MIRAGE_OP_SUB, s, form == LOCAL ? top : now);
  V change = form == WRONG_WAY ? op2(g, MIRAGE_OP_SUB, now, old) : op2(g, MIRAGE_OP_SUB, old, now);
  if (form == HALVED || form == OTHER_WEIGHTS)
    less = op2(g, MIRAGE_OP_MUL, less, number(g, 0.5));
  if (form == OLD_AND_NOW)
    less = op2(g, MIRAGE_OP_SUB, less, old);
  if (form == BOTH_READ)
    less = op2(g, MIRAGE_OP_SUB, less, op2(g, MIRAGE_OP_MAX, mirage_ugraph_argument(g, loop, 3), top));
  if (form == HALVED || form == OTHER_FACTOR)
    change = op2(g, MIRAGE_OP_MUL, change, number(g, form == HALVED ? 0.5 : 2));
  V e = f->weight = op1(g, MIRAGE_OP_EXP, less);
  V factor = f->factor = form == NO_MAXIMUM ? number(g, 1) : op1(g, MIRAGE_OP_EXP, change);
  if (form == NO_MAXIMUM)
    factor = op2(g, MIRAGE_OP_ADD, mirage_ugraph_constant(g, tile2(ROWS, 1), 0), factor);
  if (form == DOUBLED_FACTOR)
    factor = op2(g, MIRAGE_OP_MUL, factor, number(g, 2));
  if (form == ROOT)
    e = op1(g, MIRAGE_OP_SQRT, e);
  V rounded = mirage_ugraph_cast(g, form == DOUBLED ? op2(g, MIRAGE_OP_MUL, e, number(g, 2)) : e,
                                 form == IN_BF16 ? MIRAGE_BF16 : MIRAGE_F16);
  V summed = form == OF_ROUNDED ? mirage_ugraph_cast(g, rounded, MIRAGE_F32) : e;
  if (form == NOTHING_TELLS)
    summed = op2(g, MIRAGE_OP_MUL, summed, op2(g, MIRAGE_OP_MUL, s, s));
  V sum = reduce_over(g, MIRAGE_OP_REDUCE_SUM, summed, 1, 1);
  MirageAttrs product = {.matmul = {.transpose_a = form == TRANSPOSED}};
  V part = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (V[]){rounded, v}, &product);
  if (form == READS_SUM)
    part = op2(g, MIRAGE_OP_MUL, part, mirage_ugraph_argument(g, loop, 1));
  V carried = form == CARRIES_NOW ? now : top;
  if (form == NOT_RESCALED)
    mirage_ugraph_close(g, 4, (V[]){carried, sum, part, factor});
  else if (form == TWO_MAXIMA || form == BOTH_READ)
    mirage_ugraph_close(g, 6, (V[]){carried, sum, part, top, factor, factor});
  else
    mirage_ugraph_close(g, 5, (V[]){carried, sum, part, factor, factor});
}

static V result_of(Fixture *f, MirageNode loop, Form form) {
  G *g = f->graph;
  V top = mirage_ugraph_result(g, loop, 0), sum = mirage_ugraph_result(g, loop, 1),
    o = mirage_ugraph_result(g, loop, 2);
  V zero = mirage_ugraph_constant(g, tile2(ROWS, DEPTH), 0);
  switch (form) {
  case WITH_LOG:
    return op2(g, MIRAGE_OP_ADD, zero, op2(g, MIRAGE_OP_ADD, top, op1(g, MIRAGE_OP_LOG, sum)));
  case STORES_SUM:
    return op2(g, MIRAGE_OP_MUL, mirage_ugraph_constant(g, tile2(ROWS, DEPTH), 1), sum);
  case STORES_MAXIMUM:
    return op2(g, MIRAGE_OP_ADD, zero, top);
  case WITH_SQUARE:
    return op2(g, MIRAGE_OP_DIV, o, op2(g, MIRAGE_OP_MUL, sum, sum));
  case BIASED:
    return op2(g, MIRAGE_OP_DIV, op2(g, MIRAGE_OP_ADD, o, op2(g, MIRAGE_OP_MUL, sum, number(g, 3))), sum);
  case BIASED_BY_ONE:
    return op2(g, MIRAGE_OP_DIV, op2(g, MIRAGE_OP_ADD, o, number(g, 1)), sum);
  case ROUNDED_SUM:
    return op2(g, MIRAGE_OP_DIV, mirage_ugraph_cast(g, mirage_ugraph_cast(g, o, MIRAGE_F16), MIRAGE_F32), sum);
  case OVER_ROWS:
    return op2(g, MIRAGE_OP_DIV, o, reduce_over(g, MIRAGE_OP_REDUCE_SUM, sum, 0, 1));
  case OVER_GRID:
  case ROUNDED_SHARE:
  case GRID_OF_OTHERS: {
    V most = collective(g, MIRAGE_OP_GRID_MAX, top, false);
    V share = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, top, most));
    bool y = form == GRID_OF_OTHERS;
    if (form == ROUNDED_SHARE)
      share = mirage_ugraph_cast(g, mirage_ugraph_cast(g, share, MIRAGE_F16), MIRAGE_F32);
    return op2(g, MIRAGE_OP_DIV, collective(g, MIRAGE_OP_GRID_SUM, op2(g, MIRAGE_OP_MUL, o, share), y),
               collective(g, MIRAGE_OP_GRID_SUM, op2(g, MIRAGE_OP_MUL, sum, share), y));
  }
  case GRID_OF_SUMS:
    return op2(g, MIRAGE_OP_DIV, collective(g, MIRAGE_OP_GRID_SUM, o, false),
               collective(g, MIRAGE_OP_GRID_SUM, sum, false));
  default:
    return op2(g, MIRAGE_OP_DIV, o, sum);
  }
}

static void begin(Fixture *f, Form form) {
  capture = (Capture){0};
  G *g = f->graph = mirage_ugraph_create(NULL, "maxima", &DIAG);
  MirageDType weights = form == IN_BF16 ? MIRAGE_BF16 : MIRAGE_F16;
  V in[] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, ROWS, DEPTH)),
            mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, DEPTH, KEYS)),
            mirage_ugraph_input(g, tensor_type(weights, 2, KEYS, DEPTH))};
  MirageType result = tensor_type(MIRAGE_F32, 2, ROWS, DEPTH);
  MirageCustomAttrs attrs = {.grid = {2, 2, 1}, .cluster = {1, 1, 1}};
  MirageNode custom = mirage_ugraph_open_custom(g, 3, in, 1, &result, &attrs);
  MirageAttrs column = {.shape = {tile2(ROWS, 1)}};
  V bottom = mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &column);
  V inits[] = {bottom, mirage_ugraph_constant(g, tile2(ROWS, 1), 0), mirage_ugraph_constant(g, tile2(ROWS, DEPTH), 0),
               bottom};
  MirageCombine how = form == NOT_RESCALED ? MIRAGE_COMBINE_SUM : MIRAGE_COMBINE_RESCALE;
  MirageCarry carries[] = {{MIRAGE_COMBINE_MAX, 0}, {MIRAGE_COMBINE_RESCALE, 0}, {how, 0}, {MIRAGE_COMBINE_MAX, 0}};
  uint32_t count = form == TWO_MAXIMA || form == BOTH_READ ? 4 : 3;
  MirageNode loop = mirage_ugraph_open_loop(g, count, inits, &(MirageLoopAttrs){RANGE, count, carries});
  fill_loop(f, custom, loop, form);
  MirageAccessAttrs out = access_of(-1, -1);
  mirage_ugraph_store(g, result_of(f, loop, form), mirage_ugraph_argument(g, custom, 3), &out);
  mirage_ugraph_close(g, 0, NULL);
  V y = mirage_ugraph_result(g, custom, 0);
  mirage_ugraph_return(g, 1, &y);
  if (mirage_ugraph_status(g) != MIRAGE_OK)
    fail_msg("form %d: %s", (int)form, capture.text);
  mirage_arena_init(&f->arena, NULL);
  assert_int_equal(mirage__block_init(&f->block, g, custom, &f->arena, true, &DIAG), MIRAGE_OK);
  for (uint32_t i = 0; i < count; i++) // as the planner would have them
    f->block.values[mirage_ugraph_result(g, loop, i).index].resident = true;
}

static void end(Fixture *f) {
  mirage_arena_deinit(&f->arena);
  mirage_ugraph_destroy(f->graph);
}

static void test_may(void **state) {
  (void)state;
  for (Form form = PLAIN; form < NUM_RIGHT; form++) {
    Fixture f;
    BlockMaxima maxima;
    begin(&f, form);
    const char *reason = mirage__maxima_reason(&f.block, 0, &maxima);
    if (reason)
      fail_msg("form %d: %s", (int)form, reason);
    assert_int_equal(maxima.carry, 0);
    assert_int_equal(maxima.now.index, f.now.index);
    assert_true(!maxima.tells[0] && maxima.tells[1] && !maxima.tells[2]);
    assert_int_equal(maxima.kept[f.top.index], form == TWO_MAXIMA ? KEPT_NOT : KEPT_UNREAD);
    assert_int_equal(maxima.kept[f.now.index], KEPT_MAXIMUM);
    assert_int_equal(maxima.kept[f.factor.index], KEPT_ONE);
    assert_int_equal(maxima.kept[f.weight.index], KEPT_NOT);
    assert_true(maxima.sought[f.scores.index] && maxima.sought[f.top.index]);
    assert_int_equal(maxima.sought[f.now.index], form == CARRIES_NOW);
    assert_false(maxima.sought[f.factor.index] || maxima.sought[f.weight.index]);
    assert_int_equal(maxima.sample.columns, 0); // of 64 nothing is left out
    double margin = form == IN_BF16 ? 0 : form == HALVED ? 16 * log(2) : 8 * log(2);
    assert_true(fabs(maxima.margin - margin) < 1e-12);
    assert_true(maxima.limit == (form == IN_BF16 ? 0x1p40 : 60000));
    assert_false(mirage__keeps_maxima(&f.block, 0, &maxima)); // nobody asked for it
    f.block.first_maxima = true;
    assert_true(mirage__keeps_maxima(&f.block, 0, &maxima));
    end(&f);
  }
}

static void test_may_not(void **state) {
  (void)state;
  for (Form form = NUM_RIGHT; form < NUM_FORMS; form++) {
    Fixture f;
    BlockMaxima maxima;
    begin(&f, form);
    const char *reason = mirage__maxima_reason(&f.block, 0, &maxima);
    if (!reason)
      fail_msg("form %d may", (int)form);
    print_message("form %d: %s\n", (int)form, reason);
    end(&f);
  }
}

// Of tiles of 128 columns the first 64, where products then get shorter and no mask hides them from some rows.
static void test_sample(void **state) {
  (void)state;
  for (int carries_now = 0; carries_now <= 1; carries_now++) {
    Fixture f;
    BlockMaxima maxima;
    LoopBound certain = {.step = 1};
    begin(&f, carries_now ? CARRIES_NOW : PLAIN);
    BlockLoop *loop = &f.block.loops[0];
    f.block.types[f.scores.index].shape[1] = 128;
    f.block.partition.by_col = 1;
    assert_null(mirage__maxima_reason(&f.block, 0, &maxima));
    assert_int_equal(maxima.sample.columns, 0);
    f.block.values[f.scores.index].warpgroup = true;
    loop->certain = &certain;
    loop->num_certain = 1;
    assert_null(mirage__maxima_reason(&f.block, 0, &maxima));
    assert_int_equal(maxima.sample.columns, 64);
    assert_int_equal(maxima.sample.width, 128);
    assert_int_equal(maxima.sample.hidden[f.scores.index], COLUMNS_BOTTOM);
    assert_int_equal(maxima.sample.hidden[f.weight.index], COLUMNS_SHOWN);
    certain.step = -1; // a mask hides the first columns
    assert_null(mirage__maxima_reason(&f.block, 0, &maxima));
    assert_int_equal(maxima.sample.columns, 0);
    loop->num_certain = 0;
    f.block.partition.by_col = 2;
    assert_null(mirage__maxima_reason(&f.block, 0, &maxima));
    assert_int_equal(maxima.sample.columns, 0);
    end(&f);
  }
}

// What has to be decided before: places, who loads, how many tiles a block takes.
static void test_places(void **state) {
  (void)state;
  Fixture f;
  BlockMaxima maxima;
  begin(&f, PLAIN);
  Block *block = &f.block;
  BlockValue *sum = &block->values[mirage_ugraph_result(f.graph, block->loops[0].node, 1).index];
  assert_null(mirage__maxima_reason(block, 0, &maxima));
  sum->resident = false;
  assert_non_null(mirage__maxima_reason(block, 0, &maxima));
  sum->resident = true;
  block->persistent = 132;
  assert_non_null(mirage__maxima_reason(block, 0, &maxima));
  block->persistent = 0;
  block->loops[0].range = 2;
  assert_non_null(mirage__maxima_reason(block, 0, &maxima));
  block->loops[0].range = RANGE;
  block->loops[0].parent = 0;
  assert_non_null(mirage__maxima_reason(block, 0, &maxima));
  block->loops[0].parent = -1;
  block->loops[0].stages = 1; // the first tile is looked at where it waits for the first iteration,
  assert_non_null(mirage__maxima_reason(block, 0, &maxima));
  block->loops[0].ahead = true; // or in it
  assert_null(mirage__maxima_reason(block, 0, &maxima));
  block->loops[0].ahead = false;
  block->loops[0].stages = 0;
  block->loads[block->num_loads++] = (BlockLoad){.loop = 0, .multicast = true};
  assert_non_null(mirage__maxima_reason(block, 0, &maxima));
  block->loads[0].loop = -1; // shared by blocks, before the loop
  assert_null(mirage__maxima_reason(block, 0, &maxima));
  end(&f);
}

// ------------------------------------------------------------------------------------------------------- on the emulator

enum { QUERIES = 64, WIDTH = 64, MANY = 512, MOST = MANY * WIDTH }; // keys in tiles of 128

typedef struct Run {
  uint16_t bits[3][MOST], output[QUERIES * WIDTH];
  double values[3][MOST], reference[QUERIES * WIDTH], got[QUERIES * WIDTH];
} Run;

typedef enum Data { MILD, STEEP, NO_NUMBER } Data;

// Keys grow towards the end where data are steep: then later scores are more than 17 above those of the first tile.
static double key_scale(Data data, int64_t key) { return data == STEEP ? 1 + 8.0 * (double)key / MANY : 1; }

static void draw(Run *run, const MirageUGraph *graph, Data data) {
  static const int64_t SIZES[] = {QUERIES * WIDTH, WIDTH * MANY, MANY * WIDTH};
  const void *inputs[3];
  void *outputs[] = {run->reference};
  for (int i = 0; i < 3; i++) {
    MirageRandom random;
    mirage_random_init(&random, 5, (uint64_t)i);
    for (int64_t j = 0; j < SIZES[i]; j++) {
      double value = mirage_random_normal(&random) / (i == 0 ? 8 : 1);
      if (i == 1)
        value = value * key_scale(data, j % MANY) + (data == NO_NUMBER && j == 200 ? NAN : 0);
      run->bits[i][j] = mirage_f16_from_double(value);
      run->values[i][j] = mirage_f16_to_double(run->bits[i][j]);
    }
    inputs[i] = run->values[i];
  }
  assert_int_equal(mirage_eval(graph, mirage_domain_f64(), inputs, outputs, NULL, &DIAG), MIRAGE_OK);
}

// The kernel's error; infinite where it is no number.
static double error_of(Run *run, const MirageUGraph *graph, MirageFault *fault) {
  MirageEmulationOptions options = {.fault = fault};
  const void *inputs[] = {run->bits[0], run->bits[1], run->bits[2]};
  void *outputs[] = {run->output};
  capture = (Capture){0};
  if (mirage_emulate(graph, mirage_target_find("h200"), inputs, outputs, &options, &DIAG) != MIRAGE_OK)
    fail_msg("%s", capture.text);
  assert_string_equal(capture.text, ""); // no remark that says that it cannot
  for (int i = 0; i < QUERIES * WIDTH; i++)
    run->got[i] = mirage_f16_to_double(run->output[i]);
  double relative, largest;
  mirage_compare(run->got, run->reference, QUERIES * WIDTH, &relative, &largest);
  return isnan(relative) ? INFINITY : relative;
}

static MirageUGraph *kernel(void) {
  const Sizes sizes = {.m = QUERIES, .n = MANY, .rank = WIDTH, .grid = 1, .loop = 4};
  MirageUGraph *graph = attention_flash(sizes, FLASH_RIGHT, &DIAG);
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  const MirageSchedule schedule = {.warps = 4, .maxima = MIRAGE_MAXIMA_FIRST};
  mirage_ugraph_set_schedule(graph, body.nodes[0], &schedule);
  return graph;
}

// The first run is enough where nothing overflows, and the second one is what makes the result right where something does: with the
// answer at the barrier taken for no, which leaves the first run alone.
static void test_runs_again_where_it_must(void **state) {
  (void)state;
  static Run run;
  MirageUGraph *graph = kernel();
  for (Data data = MILD; data <= STEEP; data++) {
    MirageFault once = {.kind = MIRAGE_FAULT_SKIP_AGAIN};
    draw(&run, graph, data);
    assert_true(error_of(&run, graph, NULL) < 1e-3);
    double alone = error_of(&run, graph, &once);
    assert_int_equal(once.seen, 1);
    if (data == MILD)
      assert_true(alone < 1e-3);
    else
      assert_true(alone > 0.1);
  }
  mirage_ugraph_destroy(graph);
}

// Queries are 1/8 in all 64 dimensions, keys 0 but for one, whose score is `gap`: how far it may lie above the maximum that is
// kept. 8 ln 2 are added to the first maximum, and sums stay below 60000: ln 60000 + 8 ln 2 = 16.5.
static void draw_gap(Run *run, const MirageUGraph *graph, int key, double gap) {
  draw(run, graph, MILD);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < (i ? WIDTH * MANY : QUERIES * WIDTH); j++) {
      run->values[i][j] = i == 0 ? 0.125 : j % MANY == key ? gap / 8 : 0;
      run->bits[i][j] = mirage_f16_from_double(run->values[i][j]);
    }
  const void *inputs[] = {run->values[0], run->values[1], run->values[2]};
  void *outputs[] = {run->reference};
  assert_int_equal(mirage_eval(graph, mirage_domain_f64(), inputs, outputs, NULL, &DIAG), MIRAGE_OK);
}

// Keys of the sample, the first 64, make the maximum; others of the first tile are as those of the last.
static void test_room_above_the_first(void **state) {
  (void)state;
  static Run run;
  static const double GAPS[] = {-20, 10, 16, 17, 40};
  static const int KEYS_AT[] = {5, 63, 64, 100, MANY - 7};
  MirageUGraph *graph = kernel();
  for (size_t k = 0; k < sizeof KEYS_AT / sizeof *KEYS_AT; k++)
    for (size_t i = 0; i < sizeof GAPS / sizeof *GAPS; i++) {
      MirageFault once = {.kind = MIRAGE_FAULT_SKIP_AGAIN};
      draw_gap(&run, graph, KEYS_AT[k], GAPS[i]);
      assert_true(error_of(&run, graph, NULL) < 1e-3);
      if ((error_of(&run, graph, &once) < 1e-3) != (GAPS[i] < 16.5 || KEYS_AT[k] < 64))
        fail_msg("a score of key %d %g above the first", KEYS_AT[k], GAPS[i]);
    }
  mirage_ugraph_destroy(graph);
}

// What is no number comes out as one of every tile's maxima would have it: rows are NaN, or they are right.
static void test_no_number(void **state) {
  (void)state;
  static Run run;
  MirageUGraph *graph = kernel();
  draw(&run, graph, NO_NUMBER);
  error_of(&run, graph, NULL);
  for (int i = 0; i < QUERIES * WIDTH; i++)
    assert_int_equal(isnan(run.got[i]), isnan(run.reference[i]));
  mirage_ugraph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_may),
      cmocka_unit_test(test_may_not),
      cmocka_unit_test(test_sample),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_runs_again_where_it_must),
      cmocka_unit_test(test_room_above_the_first),
      cmocka_unit_test(test_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
