// test_meetings.c - which collectives of a block graph meet together, what they publish, and the code of a meeting.
//
// The graphs are ends of attention split over blocks along grid axis y: tiles m, l [rows, 1] and o [rows, depth], one
// of each block, become sums over the blocks after each has brought its own to the common maximum.
#include "layout/block.h"

#include "block_graphs.h"
#include "capture.h"
#include "mirage/codegen.h"
#include "mirage/layout.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 8, DEPTH = 64, BLOCKS = 4 };

typedef enum Tail {
  PLAIN,          // store os / ls
  NARROW,         // o is divided by l and rounded to f16 before
  BY_CLUSTER,     //
  REDUCED,        // the second operand is a row sum of what the first result gives
  OTHER_AXES,     // the last sum goes over both axes
  OWN_COLUMNS,    // the store names the axis
  WHOLE_FOR_ROWS, // beside the store, a row sum of o's total is stored
  STRETCHED,      // l is broadcast to o's shape before its sum, next to a constant
} Tail;

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

static MirageValue collective(MirageUGraph *g, MirageOp op, MirageValue a, bool x) {
  return mirage_ugraph_apply(g, op, 1, &a, &(MirageAttrs){.axes = {{x, true, false}}});
}

static MirageUGraph *tail(Tail kind, int64_t count) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "tail", &DIAG);
  int b = (int)count;
  bool cluster = kind == BY_CLUSTER, alone = kind == OWN_COLUMNS;
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 3, b, ROWS, 1)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 3, b, ROWS, 1)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 3, b, ROWS, DEPTH))};
  MirageType y_type = tensor_type(MIRAGE_F16, 3, alone ? b : 1, ROWS, kind == WHOLE_FOR_ROWS ? 1 : DEPTH);
  MirageCustomAttrs attrs = {.grid = {2, count, 1}, .cluster = {1, cluster ? count : 1, 1}};
  MirageNode k = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs mine = {.grid = {-1, 0, -1}, .loop = {-1, -1, -1, -1}}, all = mine;
  all.grid[1] = -1;
  MirageOp sum = cluster ? MIRAGE_OP_CLUSTER_SUM : MIRAGE_OP_GRID_SUM;
  MirageValue m = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 0), &mine);
  MirageValue l = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 1), &mine);
  MirageValue o = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 2), &mine);
  MirageValue top = collective(g, cluster ? MIRAGE_OP_CLUSTER_MAX : MIRAGE_OP_GRID_MAX, m, false);
  MirageValue c = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, m, top)), lc = op2(g, MIRAGE_OP_MUL, l, c), oc;
  if (kind == NARROW)
    oc = op2(g, MIRAGE_OP_MUL, mirage_ugraph_cast(g, op2(g, MIRAGE_OP_DIV, o, l), MIRAGE_F16), lc);
  else
    oc = op2(g, MIRAGE_OP_MUL, o, c);
  if (kind == REDUCED)
    lc = reduce_over(g, MIRAGE_OP_REDUCE_SUM, op2(g, MIRAGE_OP_MUL, o, c), 2, 1);
  if (kind == STRETCHED) {
    MirageType wide = mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){1, ROWS, DEPTH});
    MirageValue spread = mirage_ugraph_apply(g, MIRAGE_OP_BROADCAST, 1, &l, &(MirageAttrs){.shape = {wide}});
    lc = op2(g, MIRAGE_OP_MUL, op2(g, MIRAGE_OP_MUL, spread, c), mirage_ugraph_constant(g, wide, 1.0));
  }
  MirageValue ls = collective(g, sum, lc, false), os = collective(g, sum, oc, kind == OTHER_AXES);
  MirageValue y = op2(g, MIRAGE_OP_DIV, os, ls);
  if (kind == WHOLE_FOR_ROWS)
    y = op2(g, MIRAGE_OP_DIV, reduce_over(g, MIRAGE_OP_REDUCE_SUM, os, 2, 1), ls);
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, k, 3), alone ? &mine : &all);
  mirage_ugraph_close(g, 0, NULL);
  MirageUGraph *finished = finish_with(g, mirage_ugraph_result(g, k, 0));
  if (!finished)
    fail_msg("%s", capture.text);
  return finished;
}

typedef struct Planned {
  MirageUGraph *graph;
  MirageArena arena;
  Block block;
} Planned;

static Planned *begin(Tail kind) {
  static Planned p;
  p = (Planned){.graph = tail(kind, BLOCKS)};
  mirage_arena_init(&p.arena, NULL);
  MirageNode custom = mirage_ugraph_region(p.graph, mirage_ugraph_body(p.graph)).nodes[0];
  if (mirage__plan_block(p.graph, custom, mirage_target_find("h200"), &p.arena, &DIAG, &p.block) != MIRAGE_OK)
    fail_msg("%s", capture.text);
  return &p;
}

static void end(Planned *p) {
  mirage_arena_deinit(&p->arena);
  mirage_ugraph_destroy(p->graph);
}

// How many collectives' results are gathered, and how many stored.
static void count_results(const Planned *p, int *gathered, int *stored) {
  *gathered = *stored = 0;
  for (int32_t i = 0; i < p->block.num_meetings; i++)
    for (uint32_t v = 0; v < p->block.meetings[i].num_values; v++) {
      MirageValue value = p->block.meetings[i].values[v];
      if (mirage_op_info(mirage__block_op(&p->block, value))->kind != MIRAGE_KIND_COLLECTIVE)
        continue;
      *gathered += p->block.values[value.index].gathered;
      *stored += p->block.values[value.index].shared;
    }
}

static void expect(Tail kind, int meetings, int leaves, int gathered, int stored) {
  Planned *p = begin(kind);
  int have_gathered, have_stored, have_leaves = 0;
  count_results(p, &have_gathered, &have_stored);
  for (int32_t i = 0; i < p->block.num_meetings; i++)
    have_leaves += (int)p->block.meetings[i].num_leaves;
  print_message("tail %d: %d meetings, %d leaves, %d gathered, %d stored\n", kind, p->block.num_meetings, have_leaves,
                have_gathered, have_stored);
  assert_int_equal(p->block.num_meetings, meetings);
  assert_int_equal(have_leaves, leaves);
  assert_int_equal(have_gathered, gathered);
  assert_int_equal(have_stored, stored);
  end(p);
}

static void test_one_meeting(void **state) {
  expect(PLAIN, 1, 3, 3, 0);
  expect(NARROW, 1, 3, 3, 0);
  expect(BY_CLUSTER, 1, 3, 3, 0);
  expect(STRETCHED, 1, 3, 3, 0);
}

static void test_results_needed_whole(void **state) {
  expect(OWN_COLUMNS, 1, 3, 1, 2);    // the maximum is needed by the meeting alone
  expect(WHOLE_FOR_ROWS, 1, 3, 2, 1); // the total of o feeds a reduction
}

static void test_two_meetings(void **state) {
  expect(REDUCED, 2, 3, 2, 1); // m; then the row sum, and o * c, which needs the first meeting's result
  expect(OTHER_AXES, 2, 3, 2, 1);
}

static void test_leaves_are_narrow(void **state) {
  Planned *p = begin(NARROW);
  int half = 0;
  for (uint32_t i = 0; i < p->block.meetings[0].num_leaves; i++)
    half += mirage_ugraph_type(p->graph, p->block.meetings[0].leaves[i])->dtype == MIRAGE_F16;
  assert_int_equal(half, 1); // the rounded tile travels, not what it is made of
  end(p);
  p = begin(STRETCHED);
  for (uint32_t i = 0; i < p->block.meetings[0].num_leaves; i++) {
    MirageValue leaf = p->block.meetings[0].leaves[i];
    assert_int_equal(mirage__block_op(&p->block, leaf), MIRAGE_OP_LOAD); // no broadcast, no constant
  }
  end(p);
}

static void test_planning_twice(void **state) {
  for (Tail kind = PLAIN; kind <= STRETCHED; kind++) {
    MirageUGraph *graph = tail(kind, BLOCKS);
    MirageNode custom = mirage_ugraph_region(graph, mirage_ugraph_body(graph)).nodes[0];
    assert_int_equal(mirage_layout_plan(graph, mirage_target_find("h200"), &DIAG), MIRAGE_OK);
    int32_t bytes = mirage_layout_shared_bytes(graph, custom);
    MirageSpace spaces[64];
    assert_true(mirage_ugraph_num_values(graph) < 64);
    for (uint32_t id = 1; id <= mirage_ugraph_num_values(graph); id++)
      spaces[id] = mirage_ugraph_type(graph, (MirageValue){id})->space;
    assert_int_equal(mirage_layout_plan(graph, mirage_target_find("h200"), &DIAG), MIRAGE_OK);
    assert_int_equal(mirage_layout_shared_bytes(graph, custom), bytes);
    for (uint32_t id = 1; id <= mirage_ugraph_num_values(graph); id++)
      assert_int_equal(mirage_ugraph_type(graph, (MirageValue){id})->space, spaces[id]);
    mirage_ugraph_destroy(graph);
  }
}

// ---------------------------------------------------------------------------------------------------------------- code

static int count(const char *text, const char *what) {
  int found = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
    found++;
  return found;
}

static MirageStatus generate(Tail kind, int64_t blocks, const MirageTarget *target, MirageCode *out_code,
                             int64_t *out_workspace) {
  MirageUGraph *graph = tail(kind, blocks);
  capture = (Capture){0};
  MirageStatus status = mirage_codegen(graph, target, &(MirageCodegenOptions){.opt_level = 3}, &DIAG, out_code);
  MirageNode custom = mirage_ugraph_region(graph, mirage_ugraph_body(graph)).nodes[0];
  if (status == MIRAGE_OK)
    *out_workspace = mirage_ugraph_node(graph, custom).attrs->custom.launch->workspace_bytes;
  mirage_ugraph_destroy(graph);
  return status;
}

static void test_code_of_a_meeting(void **state) {
  MirageCode code;
  int64_t workspace;
  assert_int_equal(generate(PLAIN, BLOCKS, mirage_target_find("h200"), &code, &workspace), MIRAGE_OK);
  assert_int_equal(count(code.ptx, "red.release.gpu") + count(code.ptx, "ld.acquire.gpu"), 0); // words are signals
  assert_true(count(code.ptx, "st.relaxed.gpu") > 0 && count(code.ptx, "ld.relaxed.gpu") > 0);
  assert_int_equal(count(code.ptx, "st.shared"), 0);   // from registers to the workspace, from there to the result
  int64_t epochs = 2 * BLOCKS * 4, slots = 2 * BLOCKS; // of which there are two copies
  assert_int_equal(workspace, MIRAGE_WORKSPACE_COUNTERS + epochs + 2 * slots * ROWS * (1 + 1 + DEPTH) * 4);
  mirage_code_deinit(&code);
  assert_int_equal(generate(NARROW, BLOCKS, mirage_target_find("a100"), &code, &workspace), MIRAGE_OK);
  assert_int_equal(workspace, MIRAGE_WORKSPACE_COUNTERS + epochs + 2 * slots * ROWS * (4 + 4 + DEPTH * 2));
  mirage_code_deinit(&code);
  assert_int_equal(generate(REDUCED, BLOCKS, mirage_target_find("h200"), &code, &workspace), MIRAGE_OK);
  assert_int_equal(count(code.ptx, "ld.acquire.gpu"), 0);
  mirage_code_deinit(&code);
  assert_int_equal(generate(BY_CLUSTER, BLOCKS, mirage_target_find("h200"), &code, &workspace), MIRAGE_OK);
  assert_int_equal(count(code.ptx, "barrier.cluster.arrive"), 2);
  assert_int_equal(workspace, 0);
  mirage_code_deinit(&code);
}

// One block on a multiprocessor; more blocks than multiprocessors, where several certainly fit on each; and beyond that.
static void test_residence(void **state) {
  MirageCode code;
  int64_t workspace;
  const MirageTarget *h200 = mirage_target_find("h200");
  assert_int_equal(generate(PLAIN, h200->num_sms / 2, h200, &code, &workspace), MIRAGE_OK);
  assert_int_equal(count(code.ptx, ".minnctapersm 1"), 1);
  mirage_code_deinit(&code);
  assert_int_equal(generate(PLAIN, h200->num_sms, h200, &code, &workspace), MIRAGE_OK);
  assert_int_equal(count(code.ptx, ".minnctapersm 2"), 1);
  mirage_code_deinit(&code);
  assert_int_equal(generate(PLAIN, 100 * h200->num_sms, h200, &code, &workspace), MIRAGE_LIMIT);
  assert_non_null(strstr(capture.text, "grid_max: 26400 blocks wait for each other, h200 holds 2112 at once for "
                                       "certain, 16 on a multiprocessor"));
}

static void test_refused(void **state) {
  MirageCode code;
  int64_t workspace;
  MirageTarget small = *mirage_target_find("h200");
  small.max_cluster_blocks = 8;
  assert_int_equal(generate(BY_CLUSTER, 16, &small, &code, &workspace), MIRAGE_LIMIT);
  assert_non_null(strstr(capture.text, "cluster_max: a cluster of 16 blocks, h200 has at most 8"));
  assert_int_equal(generate(BY_CLUSTER, 16, mirage_target_find("h200"), &code, &workspace), MIRAGE_OK);
  assert_int_equal(count(code.ptx, "barrier.cluster.arrive"), 2);
  mirage_code_deinit(&code);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_meeting),    cmocka_unit_test(test_results_needed_whole),
      cmocka_unit_test(test_two_meetings),   cmocka_unit_test(test_leaves_are_narrow),
      cmocka_unit_test(test_planning_twice), cmocka_unit_test(test_code_of_a_meeting),
      cmocka_unit_test(test_residence),      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
