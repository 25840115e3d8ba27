// test_ugraph_hash.c - the hash of a graph: what leaves it alone, what changes it, and the hash of a pair.
#include "mirage/ugraph.h"

#include "block_graphs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const Sizes SMALL = {.m = 4, .k = 32, .n = 24, .grid = 3, .loop = 4};

static MirageGraphHash hash_of(const MirageUGraph *graph) {
  MirageGraphHash hash = {0};
  assert_int_equal(mirage_ugraph_hash(graph, NULL, &hash), MIRAGE_OK);
  return hash;
}

static bool equal(MirageGraphHash a, MirageGraphHash b) { return a.low == b.low && a.high == b.high; }

/// z = op(exp(x), y), or with the operands exchanged; `unused` adds a node that nothing reads.
static MirageUGraph *two_operands(const char *name, MirageOp op, bool exchanged, bool unused) {
  MirageUGraph *g = mirage_ugraph_create(NULL, name, NULL);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 4, 8));
  MirageValue y = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 4, 8));
  if (unused)
    op1(g, MIRAGE_OP_SQRT, y);
  MirageValue e = op1(g, MIRAGE_OP_EXP, x);
  return finish_with(g, exchanged ? op2(g, op, y, e) : op2(g, op, e, y));
}

static bool same_hash(MirageOp op, bool exchanged, bool unused) {
  MirageUGraph *a = two_operands("a", op, false, false), *b = two_operands("b", op, exchanged, unused);
  bool same = equal(hash_of(a), hash_of(b));
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
  return same;
}

static void test_names_and_unused_nodes_do_not_enter(void **state) {
  assert_true(same_hash(MIRAGE_OP_DIV, false, false));
  assert_true(same_hash(MIRAGE_OP_DIV, false, true));
}

static void test_operand_order_enters_where_it_matters(void **state) {
  assert_true(same_hash(MIRAGE_OP_ADD, true, false));
  assert_true(same_hash(MIRAGE_OP_MUL, true, false));
  assert_false(same_hash(MIRAGE_OP_DIV, true, false));
  assert_false(same_hash(MIRAGE_OP_SUB, true, false));
}

// The sums of x[64] that 2 blocks make of tiles of 16: of two that lie side by side, or of every other one.
static MirageUGraph *sum_graph(bool cyclic) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "sum", NULL);
  int64_t n = 64, two = 2;
  MirageValue x = mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F32, 1, &n));
  MirageType result = mirage_type_tensor(MIRAGE_F32, 1, &two);
  MirageCustomAttrs attrs = blocks(2);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &result, &attrs);
  MirageValue zero = mirage_ugraph_constant(g, mirage_type_tile(MIRAGE_F32, 1, (int64_t[]){1}), 0);
  MirageCarry carry = {MIRAGE_COMBINE_SUM, 0};
  MirageNode loop = mirage_ugraph_open_loop(g, 1, &zero, &(MirageLoopAttrs){2, 1, &carry});
  MirageAccessAttrs map = access_of(0, 0), row = access_of(0, -1);
  map.cyclic = cyclic;
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  MirageValue sum =
      mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &t, &(MirageAttrs){.reduce = {.dim = 0, .extent = 1}});
  mirage_ugraph_close(g, 1, &sum);
  mirage_ugraph_store(g, mirage_ugraph_result(g, loop, 0), mirage_ugraph_argument(g, kernel, 1), &row);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void test_cyclic_loads_differ(void **state) {
  MirageUGraph *parts = sum_graph(false), *cyclic = sum_graph(true), *clone = NULL;
  assert_non_null(parts);
  assert_non_null(cyclic);
  assert_false(equal(hash_of(parts), hash_of(cyclic)));
  assert_int_equal(mirage_ugraph_clone(cyclic, NULL, &clone), MIRAGE_OK);
  assert_true(equal(hash_of(clone), hash_of(cyclic)));
  mirage_ugraph_destroy(parts);
  mirage_ugraph_destroy(cyclic);
  mirage_ugraph_destroy(clone);
}

// Each of these kernels computes something else, or in another way.
static void test_kernels_differ(void **state) {
  MirageGraphHash seen[RMS_NUM_BUGS];
  for (int bug = 0; bug < RMS_NUM_BUGS; bug++) {
    if (bug == RMS_W_WRONG_MAP)
      continue; // needs other sizes
    MirageUGraph *g = rms_fused(SMALL, (RmsBug)bug, NULL);
    assert_non_null(g);
    seen[bug] = hash_of(g);
    for (int other = 0; other < bug; other++)
      assert_false(other != RMS_W_WRONG_MAP && equal(seen[bug], seen[other]));
    mirage_ugraph_destroy(g);
  }
}

static uint64_t pair_of(const MirageUGraph *a, const MirageUGraph *b) {
  uint64_t pair = 0;
  assert_int_equal(mirage_ugraph_pair_hash(a, b, NULL, &pair), MIRAGE_OK);
  assert_int_not_equal(pair, 0);
  return pair;
}

// What a schedule enters by: a key that it left out would make two kernels one.
static bool same_numbers(const MirageSchedule *a, const MirageSchedule *b) {
  int32_t left[MIRAGE_SCHEDULE_NUMBERS], right[MIRAGE_SCHEDULE_NUMBERS];
  uint32_t count = mirage_schedule_numbers(a, left);
  return count == mirage_schedule_numbers(b, right) && memcmp(left, right, count * sizeof *left) == 0;
}

static void change_each(const MirageRecord *record, const MirageSchedule *usual, MirageSchedule *changed,
                        void *values) {
  for (uint32_t i = 0; i < record->num_keys; i++) {
    const MirageKey *key = &record->keys[i];
    uint32_t count;
    if (key->form == MIRAGE_FORM_LIST) {
      change_each(key->items, usual, changed, (void *)mirage_key_items(key, changed, &count));
      continue;
    }
    mirage_key_set(key, values, 1);
    if (same_numbers(usual, changed))
      fail_msg("%s of a %s does not enter", key->name, record->name);
    mirage_key_set(key, values, 0);
    assert_true(same_numbers(usual, changed));
  }
}

static void test_every_key_enters(void **state) {
  const MirageSchedule usual = {.num_roles = 1, .num_loads = 1};
  MirageSchedule changed = usual;
  change_each(mirage_schedule_record(), &usual, &changed, &changed);
  changed.num_loads = 2; // an item like the others is one more
  assert_false(same_numbers(&usual, &changed));
}

static void test_pairs_leave_schedules_out(void **state) {
  MirageUGraph *program = rms_program(SMALL, NULL), *kernel = rms_fused(SMALL, RMS_RIGHT, NULL);
  const MirageSchedule schedule = {.warps = 8, .swap = true};
  MirageGraphHash hash = hash_of(kernel);
  uint64_t pair = pair_of(program, kernel);
  MirageRegionView body = mirage_ugraph_region(kernel, mirage_ugraph_body(kernel));
  assert_int_equal(mirage_ugraph_node(kernel, body.nodes[0]).op, MIRAGE_OP_CUSTOM);
  mirage_ugraph_set_schedule(kernel, body.nodes[0], &schedule);
  assert_false(equal(hash, hash_of(kernel)));
  assert_true(pair == pair_of(program, kernel));
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(kernel);
}

static void test_a_pair_has_an_order_and_two_members(void **state) {
  MirageUGraph *program = rms_program(SMALL, NULL), *kernel = rms_fused(SMALL, RMS_RIGHT, NULL);
  MirageUGraph *wrong = rms_fused(SMALL, RMS_NO_GAIN, NULL);
  uint64_t pair = pair_of(program, kernel);
  assert_false(pair == pair_of(kernel, program));
  assert_false(pair == pair_of(program, wrong));
  assert_false(pair == pair_of(wrong, kernel));
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(kernel);
  mirage_ugraph_destroy(wrong);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_and_unused_nodes_do_not_enter),
      cmocka_unit_test(test_operand_order_enters_where_it_matters),
      cmocka_unit_test(test_cyclic_loads_differ),
      cmocka_unit_test(test_kernels_differ),
      cmocka_unit_test(test_every_key_enters),
      cmocka_unit_test(test_pairs_leave_schedules_out),
      cmocka_unit_test(test_a_pair_has_an_order_and_two_members),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
