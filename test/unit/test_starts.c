// test_starts.c - which kernels have ended when one starts early, and which operands may still be written.
#include "codegen/starts.h"
#include "layout/block.h"

#include "block_graphs.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 5 };

// Programs of kernels that add their operands: `reads` of kernel k has bit i + 1 for the result of kernel i, bit 0 for the input.
typedef struct Program {
  MirageUGraph *graph;
  MirageNode kernels[MOST];
  KernelStart starts[MOST];
  uint32_t count;
} Program;

static Program begin(uint32_t count, const uint32_t *reads, const bool *early) {
  MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){8});
  MirageCustomAttrs attrs = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}};
  MirageAccessAttrs access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  Program p = {.graph = mirage_ugraph_create(NULL, "p", NULL), .count = count};
  MirageValue values[MOST + 1] = {mirage_ugraph_input(p.graph, type)};
  for (uint32_t k = 0; k < count; k++) {
    MirageValue operands[MOST + 1], sum = {0};
    uint32_t num = 0;
    for (uint32_t i = 0; i <= k; i++)
      if (reads[k] >> i & 1)
        operands[num++] = values[i];
    p.kernels[k] = mirage_ugraph_open_custom(p.graph, num, operands, 1, &type, &attrs);
    for (uint32_t i = 0; i < num; i++) {
      MirageValue tile = mirage_ugraph_load(p.graph, mirage_ugraph_argument(p.graph, p.kernels[k], i), &access);
      sum = i ? mirage_ugraph_apply(p.graph, MIRAGE_OP_ADD, 2, (MirageValue[]){sum, tile}, NULL) : tile;
    }
    mirage_ugraph_store(p.graph, sum, mirage_ugraph_argument(p.graph, p.kernels[k], num), &access);
    mirage_ugraph_close(p.graph, 0, NULL);
    values[k + 1] = mirage_ugraph_result(p.graph, p.kernels[k], 0);
    if (k == 0) { // a reshape is no kernel: what reads it reads what it is of
      MirageType flat = mirage_type_tensor(MIRAGE_F32, 2, (int64_t[]){1, 8});
      MirageValue there =
          mirage_ugraph_apply(p.graph, MIRAGE_OP_RESHAPE, 1, &values[1], &(MirageAttrs){.shape = {flat}});
      values[1] = mirage_ugraph_apply(p.graph, MIRAGE_OP_RESHAPE, 1, &there, &(MirageAttrs){.shape = {type}});
    }
    p.starts[k].early = early[k];
  }
  mirage_ugraph_return(p.graph, 1, &values[count]);
  assert_int_equal(mirage_ugraph_finish(p.graph), MIRAGE_OK);
  mirage__kernel_starts(p.graph, p.kernels, count, false, p.starts);
  return p;
}

static void assert_start(const Program *p, uint32_t k, uint32_t settled, uint32_t needs, bool lets_next,
                         bool after_wait) {
  assert_int_equal(p->starts[k].settled, settled);
  assert_int_equal(p->starts[k].needs, needs);
  assert_int_equal(p->starts[k].lets_next, lets_next);
  assert_int_equal(p->starts[k].after_wait, after_wait);
}

static bool pending(const Program *p, uint32_t k, uint32_t operand) {
  return mirage__is_pending(p->graph, p->kernels, p->starts, k, operand);
}

// The first may start early, too.
static const bool ALL[MOST] = {true, true, true, true, true}, REST[MOST] = {false, true, true, true, true};

// Each reads the one before it: all let the next start at once, and nothing is known to have ended but what ran before the program.
static void test_chain(void **state) {
  Program p = begin(3, (uint32_t[]){1, 2, 4}, REST);
  assert_start(&p, 0, 1, 1, true, false);
  assert_start(&p, 1, 1, 2, true, false);
  assert_start(&p, 2, 1, 3, false, false);
  assert_false(pending(&p, 0, 0));
  assert_true(pending(&p, 1, 0));
  assert_true(pending(&p, 2, 0));
  mirage_ugraph_destroy(p.graph);
}

// The first waits for what runs before the program, and then lets the second start: inputs are complete for all but the first.
static void test_first_of_all(void **state) {
  Program p = begin(3, (uint32_t[]){1, 1 | 2, 1 | 4}, ALL);
  assert_start(&p, 0, 0, 1, true, true);
  assert_start(&p, 1, 1, 2, true, false);
  assert_start(&p, 2, 1, 3, false, false);
  assert_true(pending(&p, 0, 0));
  for (uint32_t k = 1; k < 3; k++) {
    assert_false(pending(&p, k, 0));
    assert_true(pending(&p, k, 1));
  }
  mirage_ugraph_destroy(p.graph);
}

// A program of one kernel lets what follows start, behind its wait where it has one.
static void test_next_program(void **state) {
  for (int early = 0; early < 2; early++) {
    Program p = begin(1, (uint32_t[]){1}, early ? ALL : REST);
    assert_start(&p, 0, early ? 0 : 1, 1, false, false);
    mirage__kernel_starts(p.graph, p.kernels, 1, true, p.starts);
    assert_start(&p, 0, early ? 0 : 1, 1, true, early);
    mirage_ugraph_destroy(p.graph);
  }
}

// A norm and two products of it: the second starts when the first has waited.
static void test_two_of_one(void **state) {
  Program p = begin(3, (uint32_t[]){1, 2, 2}, REST);
  assert_start(&p, 0, 1, 1, true, false);
  assert_start(&p, 1, 1, 2, true, true);
  assert_start(&p, 2, 2, 2, false, false);
  assert_true(pending(&p, 1, 0));
  assert_false(pending(&p, 2, 0));
  mirage_ugraph_destroy(p.graph);
}

// Kernels of inputs: each may start at once.
static void test_inputs_alone(void **state) {
  Program p = begin(3, (uint32_t[]){1, 1, 1}, REST);
  for (uint32_t k = 0; k < 3; k++) {
    assert_start(&p, k, 1, 1, k < 2, false);
    assert_false(pending(&p, k, 0));
  }
  mirage_ugraph_destroy(p.graph);
}

// What two kernels back is settled, what the one before computes is not: an operand of each.
static void test_one_settled_one_not(void **state) {
  Program p = begin(4, (uint32_t[]){1, 2, 2, 2 | 8}, ALL); // kernel 3 reads kernels 0 and 2
  assert_start(&p, 1, 1, 2, true, true);
  assert_start(&p, 2, 2, 2, true, false);
  assert_start(&p, 3, 2, 4, false, false);
  assert_false(pending(&p, 3, 0));
  assert_true(pending(&p, 3, 1));
  mirage_ugraph_destroy(p.graph);
}

// Behind a kernel that starts after all others these have ended, without its wait.
static void test_behind_one_that_starts_after(void **state) {
  Program p = begin(3, (uint32_t[]){1, 2, 2}, (const bool[]){false, false, true});
  assert_start(&p, 0, 1, 1, false, false);
  assert_start(&p, 1, 2, 2, true, false);
  assert_start(&p, 2, 2, 2, false, false);
  assert_false(pending(&p, 1, 0));
  assert_false(pending(&p, 2, 0));
  mirage_ugraph_destroy(p.graph);
}

// Far back through a chain: the one before has waited for the whole of it.
static void test_far_back(void **state) {
  Program p = begin(4, (uint32_t[]){1, 2, 4, 2}, ALL);
  assert_start(&p, 1, 1, 2, true, false);
  assert_start(&p, 2, 1, 3, true, true);
  assert_start(&p, 3, 3, 2, false, false);
  assert_false(pending(&p, 3, 0));
  mirage_ugraph_destroy(p.graph);
}

// A kernel that doubles x, each block its part of dimension `dim`; of f16.
static MirageNode doubles(MirageUGraph *graph, int64_t rows, int64_t columns, int8_t dim,
                          const MirageCustomAttrs *attrs) {
  MirageType type = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){rows, columns});
  MirageAccessAttrs access = {.grid = {dim, -1, -1}, .loop = {-1, -1, -1, -1}};
  MirageValue x = mirage_ugraph_input(graph, type);
  MirageNode kernel = mirage_ugraph_open_custom(graph, 1, &x, 1, &type, attrs);
  MirageValue tile = mirage_ugraph_load(graph, mirage_ugraph_argument(graph, kernel, 0), &access);
  MirageValue sum = mirage_ugraph_apply(graph, MIRAGE_OP_ADD, 2, (MirageValue[]){tile, tile}, NULL);
  mirage_ugraph_store(graph, sum, mirage_ugraph_argument(graph, kernel, 1), &access);
  mirage_ugraph_close(graph, 0, NULL);
  MirageValue result = mirage_ugraph_result(graph, kernel, 0);
  mirage_ugraph_return(graph, 1, &result);
  assert_int_equal(mirage_ugraph_finish(graph), MIRAGE_OK);
  return kernel;
}

// A grid starts early by itself where multiprocessors have about as many of its blocks each.
static void test_shares(void **state) {
  const MirageTarget *h200 = mirage_target_find("h200"), *a100 = mirage_target_find("a100");
  const struct {
    int64_t blocks, cluster;
    MirageStart start;
    bool early;
  } grids[] = {
      {1, 1, MIRAGE_START_AUTO, true},      {132, 1, MIRAGE_START_AUTO, true},  {136, 1, MIRAGE_START_AUTO, false},
      {188, 1, MIRAGE_START_AUTO, true},    {264, 1, MIRAGE_START_AUTO, true},  {136, 1, MIRAGE_START_EARLY, true},
      {132, 1, MIRAGE_START_AFTER, false},  {128, 8, MIRAGE_START_AUTO, true},  {136, 8, MIRAGE_START_AUTO, false},
      {100000, 1, MIRAGE_START_AUTO, true}, {12800, 8, MIRAGE_START_AUTO, true}};
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    MirageSchedule schedule = {.start = grids[i].start};
    MirageCustomAttrs custom = {
        .grid = {grids[i].blocks, 1, 1}, .cluster = {grids[i].cluster, 1, 1}, .schedule = &schedule};
    MirageUGraph *graph = mirage_ugraph_create(NULL, "p", NULL);
    MirageNode kernel = doubles(graph, grids[i].blocks, 8, 0, &custom);
    assert_int_equal(mirage__starts_early(graph, kernel, true, h200), grids[i].early);
    assert_int_equal(mirage__starts_early(graph, kernel, false, h200), grids[i].early);
    assert_false(mirage__starts_early(graph, kernel, true, a100));
    mirage_ugraph_destroy(graph);
  }
  assert_int_equal(mirage__certain_sms(h200, 1), 132);
  assert_int_equal(mirage__certain_sms(h200, 8), 132 - 8 * 7);
  assert_int_equal(mirage__certain_sms(h200, 64), 1);
  assert_int_equal(mirage__certain_sms(a100, 8), a100->num_sms); // which has none
}

// What moves much starts early where its blocks leave no gaps, behind other programs, and neighbours that share lines lie beside each other.
static void test_places(void **state) {
  const MirageTarget *h200 = mirage_target_find("h200"), *a100 = mirage_target_find("a100");
  const struct {
    int64_t rows, columns, blocks, cluster;
    int8_t dim;
    bool first, second, pairs;
  } grids[] = {{4096, 128 * 32, 128, 1, 1, true, true, true},    // 64 bytes of a line each
               {4096, 128 * 48, 128, 1, 1, false, false, true},  // 96: two share a line with the next two
               {4096, 128 * 64, 128, 1, 1, true, true, false},   // whole lines
               {4096, 127 * 32, 127, 1, 1, false, false, false}, // one would stand alone
               {4096, 128 * 32, 128, 2, 1, true, true, false},   // they are together as it is
               {128 * 32, 4096, 128, 1, 0, true, true, false},   // rows of their own
               {128, 4096, 128, 1, 0, true, true, false},        // 2 MB in all
               {64, 128 * 32, 128, 1, 1, true, true, false},     // 1 MB
               {80 * 32, 4096, 80, 1, 0, false, true, false},    // leaves gaps
               {118 * 32, 4096, 118, 1, 0, false, true, false},  //
               {119 * 32, 4096, 119, 1, 0, true, true, false},   //
               {64 * 32, 4096, 64, 8, 0, false, true, false},    //
               {80 * 2, 4096, 80, 1, 0, true, true, false},      // but moves little
               {1320 * 4, 4096, 1320, 1, 0, true, true, false}}; // several each
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    MirageCustomAttrs custom = {.grid = {grids[i].blocks, 1, 1}, .cluster = {grids[i].cluster, 1, 1}};
    MirageUGraph *graph = mirage_ugraph_create(NULL, "p", NULL);
    MirageNode kernel = doubles(graph, grids[i].rows, grids[i].columns, grids[i].dim, &custom);
    assert_int_equal(mirage__starts_early(graph, kernel, true, h200), grids[i].first);
    assert_int_equal(mirage__starts_early(graph, kernel, false, h200), grids[i].second);
    assert_int_equal(mirage__stands_in_pairs(graph, kernel, h200), grids[i].pairs);
    assert_false(mirage__stands_in_pairs(graph, kernel, a100));
    mirage_ugraph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_first_of_all),
      cmocka_unit_test(test_next_program),
      cmocka_unit_test(test_two_of_one),
      cmocka_unit_test(test_inputs_alone),
      cmocka_unit_test(test_one_settled_one_not),
      cmocka_unit_test(test_behind_one_that_starts_after),
      cmocka_unit_test(test_far_back),
      cmocka_unit_test(test_shares),
      cmocka_unit_test(test_places),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
