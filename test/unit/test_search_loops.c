// test_search_loops.c - loops in sequence: rows that no block holds are walked once for their statistics, and again to
// be stored tile by tile.
#include "search_helpers.h"

// -------------------------------------------------------------------------------------------- programs

static Value rms_norm(MirageUGraph *g, Value x) {
  return mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {1e-6}});
}

static MirageUGraph *norm(int64_t m, int64_t n) {
  MirageUGraph *g = begin("norm");
  return end(g, rms_norm(g, matrix(g, m, n)));
}

static MirageUGraph *layer_norm(int64_t m, int64_t n) {
  MirageUGraph *g = begin("layer_norm");
  Value operands[] = {matrix(g, m, n), input(g, 1, &n), input(g, 1, &n)};
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_LAYER_NORM, 3, operands, &(MirageAttrs){.eps = {1e-5}}));
}

// The second norm's statistic needs the first, and no algebra leads around that.
static MirageUGraph *norm_of_bent_norm(int64_t m, int64_t n) {
  MirageUGraph *g = begin("norm_of_bent_norm");
  return end(g, rms_norm(g, unary(g, MIRAGE_OP_TANH, rms_norm(g, matrix(g, m, n)))));
}

// What is contracted needs a statistic of the row first.
static MirageUGraph *bent_norm_and_linear(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("bent_norm_and_linear");
  Value x = matrix(g, m, k), w = matrix(g, k, n);
  return end(g, matmul(g, unary(g, MIRAGE_OP_TANH, rms_norm(g, x)), w));
}

static MirageUGraph *added_and_normalised(int64_t m, int64_t n) {
  MirageUGraph *g = begin("added_and_normalised");
  Value sum = binary(g, MIRAGE_OP_ADD, matrix(g, m, n), matrix(g, m, n));
  return end_with(g, 2, (Value[]){sum, rms_norm(g, sum)});
}

static MirageUGraph *added_and_summed(int64_t m, int64_t n) {
  MirageUGraph *g = begin("added_and_summed");
  Value sum = binary(g, MIRAGE_OP_ADD, matrix(g, m, n), matrix(g, m, n));
  MirageAttrs attrs = {.reduce = {.dim = 1, .extent = 1}};
  return end_with(g, 2, (Value[]){sum, mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &sum, &attrs)});
}

// ---------------------------------------------------------------------------------------------- checks

/// What a kernel's loops hold, and what stands beside them.
typedef struct Sequence {
  uint32_t loops, stores[4], loads[4], maxima, collectives; // stores and loads by loop; maxima of all
} Sequence;

static Sequence sequence_of(const MirageUGraph *graph) {
  MirageRegion block = only_custom(graph).region;
  MirageRegionView view = mirage_ugraph_region(graph, block);
  Sequence found = {.maxima = count_in(graph, block, MIRAGE_OP_REDUCE_MAX),
                    .collectives =
                        count_in(graph, block, MIRAGE_OP_GRID_SUM) + count_in(graph, block, MIRAGE_OP_CLUSTER_SUM)};
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    if (node.op != MIRAGE_OP_LOOP || found.loops == 4)
      continue;
    found.stores[found.loops] = count_in(graph, node.region, MIRAGE_OP_STORE);
    found.loads[found.loops++] = count_in(graph, node.region, MIRAGE_OP_LOAD);
    found.maxima += count_in(graph, node.region, MIRAGE_OP_REDUCE_MAX);
  }
  return found;
}

static bool is_one_kernel(const MirageUGraph *graph) {
  return mirage_ugraph_region(graph, mirage_ugraph_body(graph)).num_nodes == 2;
}

// The first candidate of one kernel with this many loops; NULL when there is none.
static const MirageUGraph *find_loops(const MirageSearchResult *result, uint32_t loops, bool collective) {
  for (uint32_t i = 0; i < result->num_candidates; i++) {
    if (!is_one_kernel(result->candidates[i]))
      continue;
    Sequence found = sequence_of(result->candidates[i]);
    if (found.loops == loops && (found.collectives > 0) == collective)
      return result->candidates[i];
  }
  return NULL;
}

// A candidate with this many loops is found, is proven, and is what `expected` says; the program is destroyed.
static void check_sequence(MirageUGraph *program, Sequence expected, bool collective) {
  MirageSearchOptions options = defaults();
  options.max_candidates = 64;
  options.optimal = true; // also what is predicted far behind
  MirageSearchResult result = search(program, &options);
  const MirageUGraph *found = find_loops(&result, expected.loops, collective);
  if (!found)
    fail_msg("%s: no candidate of %u loops", mirage_ugraph_get_meta(program)->name, expected.loops);
  Sequence actual = sequence_of(found);
  assert_memory_equal(actual.stores, expected.stores, sizeof actual.stores);
  assert_int_equal(actual.maxima, expected.maxima);
  for (uint32_t i = 0; i < expected.loops; i++)
    assert_int_equal(actual.loads[i], expected.loads[i]);
  assert_equivalent(program, found);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Candidates at a small size: some walk their rows with this many loops, and all are right.
static void check_values(MirageUGraph *program, uint32_t loops) {
  MirageSearchOptions options = defaults();
  options.max_candidates = 64;
  options.optimal = true; // also what is predicted far behind
  MirageSearchResult result = search(program, &options);
  assert_non_null(find_loops(&result, loops, false));
  mirage_search_result_deinit(&result);
  check_all(program, &options, 2);
}

// ----------------------------------------------------------------------------------------------- tests

// The second loop subtracts the maximum with which the first one ended.
static void test_softmax_of_long_rows(void **state) {
  check_sequence(softmax(8, 1 << 17), (Sequence){.loops = 2, .loads = {1, 1}, .stores = {0, 1}, .maxima = 1}, false);
  check_sequence(softmax(8, 1 << 17), (Sequence){.loops = 2, .loads = {1, 1}, .stores = {0, 1}, .maxima = 1}, true);
  check_values(softmax(3, 64), 2);
}

static void test_norms_of_long_rows(void **state) {
  check_sequence(norm(4, 1 << 17), (Sequence){.loops = 2, .loads = {1, 1}, .stores = {0, 1}}, false);
  check_sequence(norm(4, 100003), (Sequence){.loops = 2, .loads = {1, 1}, .stores = {0, 1}}, false); // a prime
  check_sequence(layer_norm(256, 1 << 16), (Sequence){.loops = 3, .loads = {1, 1, 3}, .stores = {0, 0, 1}}, true);
  check_values(norm(3, 61), 2);
}

// Where one loop more is needed, and nothing with fewer fits, it is found.
static void test_three_loops(void **state) {
  check_sequence(norm_of_bent_norm(4, 1 << 17), (Sequence){.loops = 3, .loads = {1, 1, 1}, .stores = {0, 0, 1}}, false);
}

static void test_a_statistic_before_a_product(void **state) {
  check_sequence(bent_norm_and_linear(4, 1 << 17, 16), (Sequence){.loops = 2, .loads = {1, 2}}, false);
}

// Each result is stored by the loop that has it first.
static void test_results_of_different_loops(void **state) {
  check_sequence(added_and_normalised(4, 1 << 17), (Sequence){.loops = 2, .loads = {2, 2}, .stores = {1, 1}}, false);
  check_sequence(added_and_summed(4, 1 << 17), (Sequence){.loops = 1, .loads = {2}, .stores = {1}}, false);
  check_values(added_and_normalised(3, 60), 2);
  check_values(added_and_summed(3, 60), 1);
}

// Without loops in sequence, long rows are in no block graph.
static void test_one_loop(void **state) {
  MirageUGraph *program = softmax(8, 1 << 17);
  MirageSearchOptions options = defaults();
  options.max_loops = 1;
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.num_candidates, 0);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Blocks that each take a part of a row at once load it once.
static void test_rows_shared_by_blocks(void **state) {
  MirageUGraph *program = softmax(8, 16384);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  const MirageUGraph *found = find_loops(&result, 0, true);
  assert_non_null(found);
  MirageRegion block = only_custom(found).region;
  assert_int_equal(count_in(found, block, MIRAGE_OP_LOAD), 1);
  assert_int_equal(count_in(found, block, MIRAGE_OP_STORE), 1);
  assert_equivalent(program, found);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  check_all(softmax(2, 256), &options, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_softmax_of_long_rows),
      cmocka_unit_test(test_norms_of_long_rows),
      cmocka_unit_test(test_three_loops),
      cmocka_unit_test(test_a_statistic_before_a_product),
      cmocka_unit_test(test_results_of_different_loops),
      cmocka_unit_test(test_rows_shared_by_blocks),
      cmocka_unit_test(test_one_loop),
  };
  return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
