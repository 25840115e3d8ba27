// test_resident.c - which tiles the planner keeps in registers, how it divides them, and what it refuses.
#include "mirage/layout.h"

#include "block_graphs.h"
#include "capture.h"
#include "layout/block.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct Fixture {
  Capture capture;
  MirageDiag diag;
  MirageUGraph *graph;
  MirageNode custom;
  MirageArena arena;
  Block block;
  MirageValue scores, weights, output, result; // softmax(q k^T) v: see attention
} Fixture;

typedef struct Case {
  MirageDType dtype;
  int64_t rows, keys, depth;
  int32_t warps;
  MirageWarpSplit split;
  bool columns; // also sums the weights of each column
  bool cluster; // four blocks add up their outputs
  bool swap;
} Case;

// One block: o = softmax(q k^T) v, and where asked for a tile of the weights' column sums is added to it.
static void attention(Fixture *f, Case c) {
  *f = (Fixture){0};
  f->diag = (MirageDiag){capture_emit, &f->capture};
  mirage_arena_init(&f->arena, NULL);
  MirageUGraph *g = f->graph = mirage_ugraph_create(NULL, "attention", &f->diag);
  MirageSchedule schedule = {.warps = c.warps, .split = c.split, .swap = c.swap};
  int64_t blocks = c.cluster ? 4 : 1;
  MirageCustomAttrs attrs = {.grid = {blocks, 1, 1}, .cluster = {blocks, 1, 1}, .schedule = &schedule};
  MirageType q = mirage_type_tensor(c.dtype, 2, (int64_t[]){c.rows, c.depth});
  MirageType k = mirage_type_tensor(c.dtype, 2, (int64_t[]){c.keys, c.depth});
  MirageValue in[] = {mirage_ugraph_input(g, q), mirage_ugraph_input(g, k), mirage_ugraph_input(g, k)};
  f->custom = mirage_ugraph_open_custom(g, 3, in, 1, &q, &attrs);
  MirageAccessAttrs whole = access_of(-1, -1);
  MirageValue tiles[3];
  for (uint32_t i = 0; i < 3; i++)
    tiles[i] = mirage_ugraph_load(g, mirage_ugraph_argument(g, f->custom, i), &whole);
  MirageAttrs transposed = {.matmul = {.transpose_a = false, .transpose_b = true}},
              straight = {.matmul = {.transpose_a = false, .transpose_b = false}};
  f->scores = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, tiles, &transposed);
  MirageValue top = reduce_over(g, MIRAGE_OP_REDUCE_MAX, f->scores, 1, 1);
  f->weights = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, f->scores, top));
  MirageValue operands[] = {mirage_ugraph_cast(g, f->weights, c.dtype), tiles[2]};
  f->output = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, operands, &straight);
  MirageAttrs axes = {.axes = {.axis = {true}}};
  MirageValue total = c.cluster ? mirage_ugraph_apply(g, MIRAGE_OP_CLUSTER_SUM, 1, &f->output, &axes) : f->output;
  f->result = op2(g, MIRAGE_OP_DIV, total, reduce_over(g, MIRAGE_OP_REDUCE_SUM, f->weights, 1, 1));
  if (c.columns) {
    MirageValue sums = reduce_over(g, MIRAGE_OP_REDUCE_SUM, f->weights, 0, 1);
    f->result = op2(g, MIRAGE_OP_ADD, f->result, reduce_over(g, MIRAGE_OP_REDUCE_MAX, sums, 1, 1));
  }
  mirage_ugraph_store(g, f->result, mirage_ugraph_argument(g, f->custom, 3), &whole);
  mirage_ugraph_close(g, 0, NULL);
  finish_with(g, mirage_ugraph_result(g, f->custom, 0));
  assert_int_equal(mirage_ugraph_status(g), MIRAGE_OK);
}

static MirageStatus plan(Fixture *f) {
  return mirage__plan_block(f->graph, f->custom, mirage_target_find("h200"), &f->arena, &f->diag, &f->block);
}

static void end(Fixture *f) {
  mirage_arena_deinit(&f->arena);
  mirage_ugraph_destroy(f->graph);
}

static bool resident(const Fixture *f, MirageValue value) { return f->block.values[value.index].resident; }
static bool shared(const Fixture *f, MirageValue value) { return f->block.values[value.index].shared; }

static const Case USUAL = {MIRAGE_F16, 64, 128, 64, 4, MIRAGE_SPLIT_ROWS, false, false, false};

static void test_only_loads_are_shared(void **state) {
  Fixture f;
  attention(&f, USUAL);
  assert_int_equal(plan(&f), MIRAGE_OK);
  assert_true(resident(&f, f.scores) && resident(&f, f.weights) && resident(&f, f.output));
  assert_false(resident(&f, f.result)); // computed where it is stored
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(f.graph); id++)
    if (f.block.values[id].inside && f.block.values[id].shared)
      assert_int_equal(mirage__block_op(&f.block, (MirageValue){id}), MIRAGE_OP_LOAD);
  end(&f);
}

static void test_partition(void **state) {
  Fixture f;
  attention(&f, USUAL);
  assert_int_equal(plan(&f), MIRAGE_OK);
  const Partition *p = &f.block.partition;
  assert_int_equal(p->by_row, 4);
  assert_int_equal(p->by_col, 1);
  assert_int_equal(p->rows_each, 1);
  assert_int_equal(mirage__partition_columns(p, &f.block.types[f.scores.index]), 16);
  assert_int_equal(mirage__partition_cells(p, &f.block.types[f.scores.index]), 64);
  MirageNodeView product = mirage__block_def(&f.block, f.output);
  assert_true(mirage__block_operand_in_cells(&f.block, &product));
  MatmulSplit split = mirage__block_matmul_split(&f.block, &product);
  assert_true(split.resident && !split.swap);
  assert_int_equal(split.by_depth, 1);
  assert_int_equal(split.accumulators, 32);
  end(&f);
}

// A tile that is read cell by cell and down its columns lives in both places.
static void test_another_order_gets_a_copy(void **state) {
  Fixture f;
  Case c = USUAL;
  c.columns = true;
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_OK);
  assert_true(resident(&f, f.output) && !shared(&f, f.output));
  assert_true(shared(&f, f.weights));
  end(&f);
}

static void test_planning_twice_changes_nothing(void **state) {
  for (int columns = 0; columns < 2; columns++) {
    Fixture f;
    Case c = USUAL;
    c.columns = columns;
    attention(&f, c);
    assert_int_equal(plan(&f), MIRAGE_OK);
    Block first = f.block;
    assert_int_equal(mirage_layout_plan(f.graph, mirage_target_find("h200"), &f.diag), MIRAGE_OK);
    assert_int_equal(plan(&f), MIRAGE_OK);
    for (uint32_t id = 1; id <= mirage_ugraph_num_values(f.graph); id++) {
      assert_int_equal(first.values[id].resident, f.block.values[id].resident);
      assert_int_equal(first.values[id].shared, f.block.values[id].shared);
    }
    end(&f);
  }
}

static void refuse(Case c, const char *sentence) {
  Fixture f;
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_UNSUPPORTED);
  if (!strstr(f.capture.text, sentence))
    fail_msg("\"%s\" does not contain \"%s\"", f.capture.text, sentence);
  end(&f);
}

static void test_refused(void **state) {
  Case floats = USUAL, wide = USUAL;
  floats.dtype = MIRAGE_F32;
  refuse(floats, "split = rows is not possible: no product of f16 or bf16 tiles");
  wide.keys = 512; // 256 accumulators of scores beside 32 of output
  refuse(wide, "its tiles take 290 registers of a thread, 4 warps leave 199");
}

// Nobody asks: rows where no warp is idle, and never a second copy.
static void test_by_itself(void **state) {
  Fixture f;
  Case c = USUAL;
  c.split = MIRAGE_SPLIT_AUTO;
  c.warps = 0;
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_OK);
  assert_true(resident(&f, f.scores) && resident(&f, f.weights));
  assert_int_equal(mirage__team_warps(&f.block.team), 4); // 64 rows
  end(&f);
  c.columns = true;
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_OK);
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(f.graph); id++)
    assert_false(f.block.values[id].resident && f.block.values[id].shared);
  end(&f);
  c.columns = false;
  c.warps = 8; // half of them would have no rows
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_OK);
  assert_false(resident(&f, f.scores));
  end(&f);
}

// What is read in another order once, after everything else, does not keep the rest out of registers.
static void test_parts_for_a_cluster(void **state) {
  Fixture f;
  Case c = USUAL;
  c.split = MIRAGE_SPLIT_AUTO;
  c.cluster = true;
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_OK);
  assert_true(resident(&f, f.scores) && resident(&f, f.weights) && resident(&f, f.output));
  assert_true(!shared(&f, f.scores) && !shared(&f, f.weights));
  end(&f);
}

static void test_rows_say_how_many_warps(void **state) {
  static const int32_t expected[][2] = {{64, 4}, {40, 2}, {16, 1}}; // rows, warps
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    Fixture f;
    Case c = USUAL;
    c.rows = expected[i][0];
    c.warps = 0;
    attention(&f, c);
    assert_int_equal(plan(&f), MIRAGE_OK);
    assert_int_equal(mirage__team_warps(&f.block.team), expected[i][1]);
    assert_true(resident(&f, f.scores));
    end(&f);
  }
}

static void test_swap_by_hand_is_kept(void **state) {
  Fixture f;
  Case c = USUAL;
  c.split = MIRAGE_SPLIT_AUTO;
  c.swap = true;
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_OK);
  assert_false(resident(&f, f.scores));
  MirageNodeView product = mirage__block_def(&f.block, f.scores);
  assert_true(mirage__block_matmul_split(&f.block, &product).swap);
  end(&f);
}

static void test_without_the_request(void **state) {
  Fixture f;
  Case c = USUAL;
  c.split = MIRAGE_SPLIT_COLUMNS;
  attention(&f, c);
  assert_int_equal(plan(&f), MIRAGE_OK);
  assert_false(resident(&f, f.scores));
  assert_int_equal(f.block.partition.by_row, 0);
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_loads_are_shared),
      cmocka_unit_test(test_partition),
      cmocka_unit_test(test_another_order_gets_a_copy),
      cmocka_unit_test(test_planning_twice_changes_nothing),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_by_itself),
      cmocka_unit_test(test_parts_for_a_cluster),
      cmocka_unit_test(test_rows_say_how_many_warps),
      cmocka_unit_test(test_swap_by_hand_is_kept),
      cmocka_unit_test(test_without_the_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
