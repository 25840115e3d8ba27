// test_search_results.c - programs of several results: one kernel stores all of them.
#include "search_helpers.h"

enum { MAX_RESULTS = 8 }; // of a kernel that the search finds

// -------------------------------------------------------------------------------------------- programs

static Value rms_norm(MirageUGraph *g, Value x) {
  return mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0.0}});
}

// The residual stream and its norm, as every layer of a transformer needs them.
static MirageUGraph *added_and_normalised(int64_t m, int64_t n) {
  MirageUGraph *g = begin("added_and_normalised");
  Value sum = binary(g, MIRAGE_OP_ADD, matrix(g, m, n), matrix(g, m, n));
  return end_with(g, 2, (Value[]){sum, rms_norm(g, sum)});
}

static MirageUGraph *two_products(int64_t m, int64_t k, int64_t n1, int64_t n2) {
  MirageUGraph *g = begin("two_products");
  Value x = matrix(g, m, k), a = matrix(g, k, n1), b = matrix(g, k, n2);
  return end_with(g, 2, (Value[]){matmul(g, x, a), matmul(g, x, b)});
}

// softmax, and the logarithm of what it divides by.
static MirageUGraph *softmax_and_its_sum(int64_t m, int64_t n) {
  MirageUGraph *g = begin("softmax_and_its_sum");
  MirageAttrs attrs = {.reduce = {.dim = 1, .extent = 1}};
  Value x = matrix(g, m, n), top = mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_MAX, 1, &x, &attrs);
  Value e = unary(g, MIRAGE_OP_EXP, binary(g, MIRAGE_OP_SUB, x, top));
  Value sum = mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &e, &attrs);
  Value log_sum = binary(g, MIRAGE_OP_ADD, unary(g, MIRAGE_OP_LOG, sum), top);
  return end_with(g, 2, (Value[]){binary(g, MIRAGE_OP_DIV, e, sum), log_sum});
}

// Attention without a maximum, and its denominators: what a split of the keys leaves to be merged by others.
static MirageUGraph *attention_and_sums(int64_t heads, int64_t rows, int64_t depth, int64_t keys) {
  MirageUGraph *g = begin("attention_and_sums");
  Value q = input(g, 3, (int64_t[]){heads, rows, depth}), k = input(g, 3, (int64_t[]){heads, depth, keys});
  Value v = input(g, 3, (int64_t[]){heads, keys, depth}), e = unary(g, MIRAGE_OP_EXP, matmul(g, q, k));
  Value sum = mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &e, &(MirageAttrs){.reduce = {.dim = 2, .extent = 1}});
  return end_with(g, 2, (Value[]){matmul(g, binary(g, MIRAGE_OP_DIV, e, sum), v), sum});
}

// One result does not depend on the loop that the other needs, one is an input, one comes twice.
static MirageUGraph *odd_results(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("odd_results");
  Value x = matrix(g, m, k), w = matrix(g, k, n), gain = matrix(g, 1, n), scale = unary(g, MIRAGE_OP_EXP, gain);
  Value y = binary(g, MIRAGE_OP_MUL, matmul(g, x, w), scale);
  return end_with(g, 4, (Value[]){scale, y, gain, y});
}

static MirageUGraph *many_results(uint32_t count) {
  MirageUGraph *g = begin("many_results");
  Value x = matrix(g, 6, 10), results[16];
  for (uint32_t i = 0; i < count; i++)
    results[i] = x = unary(g, i % 2 ? MIRAGE_OP_EXP : MIRAGE_OP_TANH, x);
  return end_with(g, count, results);
}

// ---------------------------------------------------------------------------------------------- checks

static uint32_t num_kernels(const MirageUGraph *graph) {
  return count_in(graph, mirage_ugraph_body(graph), MIRAGE_OP_CUSTOM);
}

static bool is_one_kernel(const MirageUGraph *graph) {
  return mirage_ugraph_region(graph, mirage_ugraph_body(graph)).num_nodes == 2 && num_kernels(graph) == 1;
}

// The grid axes that the stores of a kernel name, in order of the results.
static void stored_along(const MirageUGraph *graph, const int8_t *out_grid[MAX_RESULTS]) {
  MirageRegionView block = mirage_ugraph_region(graph, only_custom(graph).region);
  uint32_t count = 0;
  for (uint32_t i = 0; i < block.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, block.nodes[i]);
    if (node.op == MIRAGE_OP_STORE)
      out_grid[count++] = node.attrs->access.grid;
  }
}

// The best is one kernel that is proven; all compute the program, which is destroyed.
static void check_one_kernel(MirageUGraph *program) {
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0 && is_one_kernel(result.candidates[0]));
  assert_int_equal(count_in(result.candidates[0], only_custom(result.candidates[0]).region, MIRAGE_OP_STORE),
                   mirage_ugraph_num_outputs(program));
  assert_equivalent(program, result.candidates[0]);
  assert_true(mirage_ugraph_get_meta(result.candidates[0])->cost.time_us < program_cost(program, options.target));
  mirage_search_result_deinit(&result);
  check_all(program, &options, 1);
}

// ----------------------------------------------------------------------------------------------- tests

static void test_a_sum_and_its_norm(void **state) {
  check_one_kernel(added_and_normalised(64, 128));
  check_one_kernel(added_and_normalised(7, 13));
}

static void test_a_softmax_and_its_sum(void **state) { check_one_kernel(softmax_and_its_sum(5, 24)); }

static void test_attention_and_sums(void **state) { check_one_kernel(attention_and_sums(2, 3, 8, 60)); }

static void test_odd_results(void **state) { check_one_kernel(odd_results(3, 70, 20)); }

// Columns of both products go to the same blocks, although there are fewer of the second.
static void test_axes_of_different_results_are_tied(void **state) {
  MirageUGraph *program = two_products(8, 512, 384, 128);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    const int8_t *grid[MAX_RESULTS];
    if (!is_one_kernel(result.candidates[i]))
      continue;
    stored_along(result.candidates[i], grid);
    assert_memory_equal(grid[0], grid[1], 3);
  }
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  check_one_kernel(two_products(3, 100, 60, 20));
}

// Sixteen columns would leave most blocks of 4096 without any: all compute them, and each stores a share.
static void test_axes_too_unequal_are_not_tied(void **state) {
  MirageUGraph *program = two_products(4, 512, 4096, 16);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  const int8_t *grid[MAX_RESULTS];
  stored_along(result.candidates[0], grid);
  assert_true(memcmp(grid[0], grid[1], 3) != 0);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  check_one_kernel(two_products(3, 64, 200, 5));
}

// Reductions split over blocks, by each way to combine them.
static void test_split_reductions(void **state) {
  MirageUGraph *program = two_products(2, 8192, 32, 16);
  MirageSearchOptions options = defaults();
  options.max_candidates = 32;
  MirageSearchResult result = search(program, &options);
  bool second_kernel = false, collective = false;
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    second_kernel |= num_kernels(result.candidates[i]) == 2;
    if (is_one_kernel(result.candidates[i]))
      collective |=
          count_in(result.candidates[i], only_custom(result.candidates[i]).region, MIRAGE_OP_CLUSTER_SUM) == 2;
  }
  assert_true(second_kernel && collective);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  check_all(two_products(2, 512, 3, 4), &options, 8);
}

// More than a kernel stores: refused as a whole, but not in pieces.
static void test_too_many_results(void **state) {
  MirageUGraph *program = many_results(MAX_RESULTS + 1);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  for (uint32_t i = 0; i < result.num_candidates; i++)
    assert_false(is_one_kernel(result.candidates[i]));
  mirage_search_result_deinit(&result);
  check_all(program, &options, 1);
  check_one_kernel(many_results(MAX_RESULTS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sum_and_its_norm),
      cmocka_unit_test(test_a_softmax_and_its_sum),
      cmocka_unit_test(test_attention_and_sums),
      cmocka_unit_test(test_odd_results),
      cmocka_unit_test(test_axes_of_different_results_are_tied),
      cmocka_unit_test(test_axes_too_unequal_are_not_tied),
      cmocka_unit_test(test_split_reductions),
      cmocka_unit_test(test_too_many_results),
  };
  return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
