// test_emulator.c - generated kernels on the emulator: equal to the evaluator, and defects put into the code are
// caught.
//
// A defect is one instruction left out, one mask dropped, one swizzle skewed, or shared memory cut short, in the code
// of a right graph (MirageFault). Every place where it can be put in is tried. A barrier or a wait too many is no
// error, so leaving one out may go unnoticed - but then the results must not change, with copies late or early.
#include "mirage/emulator.h"

#include "block_graphs.h"
#include "capture.h"
#include "codegen/host.h"
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

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};
static const Sizes SMALL = {.m = 8, .k = 128, .n = 64, .grid = 2, .loop = 4};
static const Sizes RAGGED = {.m = 5, .k = 100, .n = 50, .grid = 3, .loop = 3};

enum { MOST = 16384, MOST_INPUTS = 4 };

typedef struct Tensors {
  const MirageUGraph *graph;
  double values[MOST_INPUTS][MOST], reference[MOST];
  uint16_t bits[MOST_INPUTS][MOST], output[MOST];
} Tensors;

// f16 inputs, normal / 4, and the float64 evaluation.
static Tensors *draw_seeded(const MirageUGraph *graph, uint64_t seed) {
  static Tensors t;
  t = (Tensors){.graph = graph};
  const void *inputs[MOST_INPUTS];
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    int64_t n = mirage_type_elements(mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i)));
    assert_true(i < MOST_INPUTS && n <= MOST);
    MirageRandom random;
    mirage_random_init(&random, seed, i);
    for (int64_t j = 0; j < n; j++) {
      t.bits[i][j] = mirage_f16_from_double(mirage_random_normal(&random) / 4);
      t.values[i][j] = mirage_f16_to_double(t.bits[i][j]);
    }
    inputs[i] = t.values[i];
  }
  void *outputs[1] = {t.reference};
  assert_int_equal(mirage_eval(graph, mirage_domain_f64(), inputs, outputs, NULL, &DIAG), MIRAGE_OK);
  return &t;
}

static Tensors *draw(const MirageUGraph *graph) { return draw_seeded(graph, 11); }

static MirageStatus run(Tensors *t, MirageEmulation *emulation, MirageCopyTime copies) {
  const void *inputs[MOST_INPUTS];
  for (int i = 0; i < MOST_INPUTS; i++)
    inputs[i] = t->bits[i];
  void *outputs[1] = {t->output};
  capture = (Capture){0};
  return mirage_emulation_run(emulation, copies, inputs, outputs, &DIAG);
}

static double error_of(const Tensors *t) {
  static double got[MOST];
  size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(t->graph, mirage_ugraph_get_output(t->graph, 0)));
  for (size_t i = 0; i < n; i++)
    got[i] = mirage_f16_to_double(t->output[i]);
  double relative, largest;
  mirage_compare(got, t->reference, n, &relative, &largest);
  return relative;
}

static void right(MirageUGraph *graph, const char *target) {
  assert_non_null(graph);
  Tensors *t = draw(graph);
  MirageEmulation *emulation = NULL;
  if (mirage_emulation_create(graph, mirage_target_find(target), NULL, &DIAG, &emulation) != MIRAGE_OK)
    fail_msg("%s", capture.text);
  uint16_t first[MOST];
  for (int copies = 0; copies < 2; copies++) {
    if (run(t, emulation, (MirageCopyTime)copies) != MIRAGE_OK)
      fail_msg("%s", capture.text);
    if (!(error_of(t) < 2e-3))
      fail_msg("error %g", error_of(t));
    if (copies)
      assert_memory_equal(first, t->output, sizeof first); // bit for bit
    memcpy(first, t->output, sizeof first);
  }
  mirage_emulation_destroy(emulation);
  mirage_ugraph_destroy(graph);
}

static void test_equal_to_evaluator(void **state) {
  static const char *const TARGETS[] = {"h200", "a100"};
  for (int i = 0; i < 2; i++) {
    right(rms_fused(SMALL, RMS_RIGHT, &DIAG), TARGETS[i]);
    right(rms_fused(RAGGED, RMS_RIGHT, &DIAG), TARGETS[i]);
    right(rms_program(RAGGED, &DIAG), TARGETS[i]); // its own lowering: several kernels
  }
}

static void test_in_one_call(void **state) {
  MirageUGraph *graph = rms_fused(SMALL, RMS_RIGHT, &DIAG);
  Tensors *t = draw(graph);
  const void *inputs[MOST_INPUTS] = {t->bits[0], t->bits[1], t->bits[2]};
  void *outputs[1] = {t->output};
  assert_int_equal(mirage_emulate(graph, mirage_target_find("h200"), inputs, outputs, NULL, &DIAG), MIRAGE_OK);
  assert_true(error_of(t) < 2e-3);
  MirageEmulationOptions little = {.max_work = 1};
  assert_int_equal(mirage_emulate(graph, mirage_target_find("h200"), inputs, outputs, &little, &DIAG), MIRAGE_LIMIT);
  mirage_ugraph_destroy(graph);
}

static void test_wrong_graph_is_not_a_fault(void **state) {
  MirageUGraph *program = rms_program(SMALL, &DIAG), *wrong = rms_fused(SMALL, RMS_GAIN_TWICE, &DIAG);
  Tensors *t = draw(program);
  MirageEmulation *emulation = NULL;
  assert_int_equal(mirage_emulation_create(wrong, mirage_target_find("h200"), NULL, &DIAG, &emulation), MIRAGE_OK);
  assert_int_equal(run(t, emulation, MIRAGE_COPIES_LATE), MIRAGE_OK);
  assert_true(error_of(t) > 0.1); // it computes what the graph says
  mirage_emulation_destroy(emulation);
  mirage_ugraph_destroy(wrong);
  mirage_ugraph_destroy(program);
}

// ------------------------------------------------------------------------------------------------------------- defects

typedef struct Tally {
  int tried, caught, changed, unnoticed;
  char sentence[256]; // the first
} Tally;

// Puts the defect into every place where it fits.
static Tally seed(MirageUGraph *graph, MirageFaultKind kind, MiragePrimitive primitive) {
  Tally tally = {0};
  Tensors *t = draw(graph);
  for (int32_t index = 0;; index++) {
    struct MirageFault fault = {kind, primitive, index, 0};
    MirageEmulationOptions options = {.fault = &fault};
    MirageEmulation *emulation = NULL;
    if (mirage_emulation_create(graph, mirage_target_find("h200"), &options, &DIAG, &emulation) != MIRAGE_OK)
      fail_msg("%s", capture.text);
    if (fault.seen <= index) { // no such place
      mirage_emulation_destroy(emulation);
      mirage_ugraph_destroy(graph);
      return tally;
    }
    tally.tried++;
    bool caught = false, changed = false;
    for (int copies = 0; copies < 2; copies++) {
      MirageStatus status = run(t, emulation, (MirageCopyTime)copies);
      assert_true(status == MIRAGE_OK || status == MIRAGE_FAULT);
      if (status == MIRAGE_FAULT && !caught && !tally.sentence[0])
        snprintf(tally.sentence, sizeof tally.sentence, "%.250s", capture.text);
      caught |= status == MIRAGE_FAULT;
      changed |= status == MIRAGE_OK && !(error_of(t) < 2e-3);
    }
    tally.caught += caught;
    tally.changed += changed && !caught;
    tally.unnoticed += !caught && !changed;
    mirage_emulation_destroy(emulation);
  }
}

static void expect(const char *what, Tally tally, int least_caught, int most_unnoticed, const char *sentence) {
  print_message("%s: %d places; %d caught, %d with wrong results, %d without effect; \"%s\"\n", what, tally.tried,
                tally.caught, tally.changed, tally.unnoticed, tally.sentence);
  assert_true(tally.caught >= least_caught);
  assert_true(tally.unnoticed <= most_unnoticed);
  if (sentence && !strstr(tally.sentence, sentence))
    fail_msg("\"%s\" does not contain \"%s\"", tally.sentence, sentence);
}

static void test_dropped_barrier(void **state) {
  expect("barrier", seed(rms_fused(SMALL, RMS_RIGHT, &DIAG), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_BARRIER), 3, 1,
         "with no barrier in between");
}

static void test_dropped_wait(void **state) {
  expect("wait", seed(rms_fused(SMALL, RMS_RIGHT, &DIAG), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_CP_ASYNC_WAIT), 1, 1,
         "under way and not waited for");
}

static void test_dropped_commit(void **state) {
  expect("commit", seed(rms_fused(SMALL, RMS_RIGHT, &DIAG), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_CP_ASYNC_COMMIT),
         1, 1, "under way and not waited for");
}

// Without effect: the copies of the first iterations, whose tiles lie inside, and columns that the store drops.
static void test_dropped_mask(void **state) {
  expect("mask", seed(rms_fused(RAGGED, RMS_RIGHT, &DIAG), MIRAGE_FAULT_DROP_MASK, 0), 4, 18, "which has");
}

// A tile of 64 columns of f16 with its 16-byte pieces exchanged within each row, as a person may ask for.
static MirageUGraph *swizzled(void) {
  const Sizes wide = {.m = 8, .k = 64, .n = 64, .grid = 1, .loop = 2};
  MirageUGraph *graph = rms_fused(wide, RMS_RIGHT, &DIAG);
  assert_int_equal(mirage_layout_plan(graph, mirage_target_find("h200"), &DIAG), MIRAGE_OK);
  int tiles = 0;
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(graph); id++) {
    const MirageType *type = mirage_ugraph_type(graph, (MirageValue){id});
    if (type->space != MIRAGE_SPACE_SHARED || type->rank != 2 || type->dtype != MIRAGE_F16 || type->shape[1] != 64)
      continue;
    MirageLayout layout = type->layout;
    layout.strides[0] = 64;
    layout.swizzle = 3;
    mirage_ugraph_set_placement(graph, (MirageValue){id}, MIRAGE_SPACE_SHARED, &layout);
    tiles++;
  }
  assert_int_equal(tiles, 1);
  return graph;
}

static void test_skewed_swizzle(void **state) {
  right(swizzled(), "h200");
  Tally tally = seed(swizzled(), MIRAGE_FAULT_SKEW_SWIZZLE, 0);
  assert_true(tally.tried > 0);
  expect("swizzle", tally, 0, 0, NULL);
}

// Blocks of a cluster that read each other's shared memory.
static MirageUGraph *cluster_sum(void) {
  const Sizes split = {.m = 8, .k = 64, .n = 32, .grid = 2, .loop = 2};
  return linear_split(split, SPLIT_CLUSTER_SUM, &DIAG);
}

static void test_dropped_cluster_barrier(void **state) {
  right(cluster_sum(), "h200");
  expect("cluster arrive", seed(cluster_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_CLUSTER_ARRIVE_RELAXED), 2, 0,
         NULL);
  expect("cluster fence", seed(cluster_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_FENCE_CLUSTER_SHARED), 1, 1,
         "with no barrier in between");
  expect("await", seed(cluster_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_AWAIT_VALUE), 1, 0,
         "before what it reads of a peer has come");
  expect("cluster wait", seed(cluster_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_CLUSTER_WAIT), 1, 1, NULL);
}

// Blocks that sum their parts through device memory.
static MirageUGraph *grid_sum(void) {
  const Sizes split = {.m = 8, .k = 64, .n = 32, .grid = 2, .loop = 2};
  return linear_split(split, SPLIT_GRID_SUM, &DIAG);
}

static void test_dropped_barrier_of_grid(void **state) {
  right(grid_sum(), "h200");
  // One is there for the epoch alone, which all have read before the barriers of the loop.
  expect("grid barrier", seed(grid_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_BARRIER), 2, 1, NULL);
  expect("words", seed(grid_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_ST_WORDS_4), 1, 0,
         "words of device memory");
}

// Elements of 16 bits, two in a word, of which each thread reads one.
static MirageUGraph *rounded_grid_sum(void) {
  const Sizes split = {.m = 2, .k = 64, .n = 32, .grid = 2, .loop = 2};
  return linear_split(split, SPLIT_ROUNDED, &DIAG);
}

// Each launch finds the slots that the one before cleared, and not what the one before that had left there.
static void check_launches(MirageUGraph *graph) {
  MirageEmulation *emulation = NULL;
  assert_int_equal(mirage_emulation_create(graph, mirage_target_find("h200"), NULL, &DIAG, &emulation), MIRAGE_OK);
  for (uint64_t launch = 0; launch < 5; launch++) {
    Tensors *t = draw_seeded(graph, 100 + launch);
    if (run(t, emulation, (MirageCopyTime)(launch % 2)) != MIRAGE_OK)
      fail_msg("%s", capture.text);
    assert_true(error_of(t) < 2e-3);
  }
  mirage_emulation_destroy(emulation);
  mirage_ugraph_destroy(graph);
}

static void test_launches_of_a_grid(void **state) {
  check_launches(grid_sum());
  check_launches(rounded_grid_sum());
}

// Rows of 15 elements of 16 bits end in the midst of a word, so a counter tells that the others are there.
static MirageUGraph *odd_grid_sum(void) {
  const Sizes split = {.m = 8, .k = 64, .n = 30, .grid = 2, .loop = 2};
  return linear_split(split, SPLIT_ROUNDED, &DIAG);
}

static void test_dropped_counter_of_grid(void **state) {
  right(odd_grid_sum(), "h200");
  expect("arrival", seed(odd_grid_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_RED_RELEASE), 1, 0,
         "a word of device memory");
  expect("departure", seed(odd_grid_sum(), MIRAGE_FAULT_DROP_PRIMITIVE, MIRAGE_PRIM_RED_INC), 1, 0,
         "of the workspace is not left zero");
}

static void test_shrunk_buffer(void **state) {
  expect("shared memory", seed(rms_fused(SMALL, RMS_RIGHT, &DIAG), MIRAGE_FAULT_SHRINK_SHARED, 0), 1, 0,
         "of shared memory, which has");
}

// ------------------------------------------------------------------------------------------------------------ refusals

static void test_refused(void **state) {
  MirageUGraph *graph = rms_fused(SMALL, RMS_RIGHT, &DIAG);
  MirageEmulation *emulation = NULL;
  const MirageTarget *target = mirage_target_find("h200");
  assert_int_equal(mirage_emulation_create(NULL, target, NULL, &DIAG, &emulation), MIRAGE_BAD_ARGUMENT);
  assert_int_equal(mirage_emulation_create(graph, NULL, NULL, &DIAG, &emulation), MIRAGE_BAD_ARGUMENT);
  MirageEmulationOptions options = {.max_work = 100};
  assert_int_equal(mirage_emulation_create(graph, target, &options, &DIAG, &emulation), MIRAGE_LIMIT);
  assert_non_null(strstr(capture.text, "at most 1e+02 are allowed"));
  assert_null(emulation);
  mirage_emulation_destroy(NULL);
  mirage_ugraph_destroy(graph);
}

static void test_work(void **state) {
  MirageUGraph *small = rms_fused(SMALL, RMS_RIGHT, &DIAG);
  Sizes twice = SMALL;
  twice.k *= 2;
  twice.loop *= 2;
  MirageUGraph *large = rms_fused(twice, RMS_RIGHT, &DIAG);
  double ratio = mirage_emulation_work(large) / mirage_emulation_work(small);
  assert_true(ratio > 1.5 && ratio < 2.1);
  mirage_ugraph_destroy(small);
  mirage_ugraph_destroy(large);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_to_evaluator),
      cmocka_unit_test(test_in_one_call),
      cmocka_unit_test(test_wrong_graph_is_not_a_fault),
      cmocka_unit_test(test_dropped_barrier),
      cmocka_unit_test(test_dropped_wait),
      cmocka_unit_test(test_dropped_commit),
      cmocka_unit_test(test_dropped_mask),
      cmocka_unit_test(test_skewed_swizzle),
      cmocka_unit_test(test_dropped_cluster_barrier),
      cmocka_unit_test(test_shrunk_buffer),
      cmocka_unit_test(test_dropped_barrier_of_grid),
      cmocka_unit_test(test_launches_of_a_grid),
      cmocka_unit_test(test_dropped_counter_of_grid),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_work),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
