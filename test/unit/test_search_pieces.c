// test_search_pieces.c - programs that no single block graph computes well: they are cut into pieces, a kernel or more
// each; and odd programs, which end in time with an answer that is right.
#include "search_helpers.h"

// -------------------------------------------------------------------------------------------- programs

// act(x a) b for several experts: no block holds a row of x a.
static MirageUGraph *experts(int64_t num, int64_t rows, int64_t depth, int64_t hidden) {
  MirageUGraph *g = begin("experts");
  Value x = input(g, 3, (int64_t[]){num, rows, depth}), a = input(g, 3, (int64_t[]){num, depth, hidden});
  Value b = input(g, 3, (int64_t[]){num, hidden, depth});
  return end(g, matmul(g, unary(g, MIRAGE_OP_SILU, matmul(g, x, a)), b));
}

// softmax(x w), its halves added up by an operator that the search does not treat: a reduction that leaves two.
static MirageUGraph *folded_softmax(int64_t rows, int64_t depth, int64_t columns) {
  MirageUGraph *g = begin("folded_softmax");
  Value x = matrix(g, rows, depth), w = matrix(g, depth, columns), y = matmul(g, x, w);
  Value half =
      mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &y, &(MirageAttrs){.reduce = {.dim = 1, .extent = columns / 2}});
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &half, &(MirageAttrs){.dim = {1}}));
}

// softmax of a product beside itself: who computes it stores it in both places.
static MirageUGraph *joined_softmax(int64_t rows, int64_t depth, int64_t columns) {
  MirageUGraph *g = begin("joined_softmax");
  Value x = matrix(g, rows, depth), w = matrix(g, depth, columns), y = matmul(g, x, w);
  Value twice = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, (Value[]){y, y}, &(MirageAttrs){.dim = {1}});
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &twice, &(MirageAttrs){.dim = {1}}));
}

// Two branches, their operators written in turn; one begins with an operator that the search does not treat.
static MirageUGraph *interleaved(int64_t rows, int64_t columns) {
  MirageUGraph *g = begin("interleaved");
  Value x = matrix(g, rows, columns), y = matrix(g, rows, columns), z = matrix(g, rows, columns);
  Value a = mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &x, &(MirageAttrs){.dim = {1}});
  Value b =
      mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &y, &(MirageAttrs){.reduce = {.dim = 1, .extent = columns / 2}});
  Value c = binary(g, MIRAGE_OP_MUL, a, z), d = unary(g, MIRAGE_OP_TANH, b);
  Value e = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &c, &(MirageAttrs){.eps = {0.0}});
  return end_with(g, 2, (Value[]){e, unary(g, MIRAGE_OP_EXP, d)});
}

// The same operator twice on one path: what it joins cannot be one piece without it.
static MirageUGraph *joined_and_scaled(int64_t rows, int64_t columns) {
  MirageUGraph *g = begin("joined_and_scaled");
  Value x = matrix(g, rows, columns), y = matrix(g, 2 * rows, columns);
  Value a = mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &x, &(MirageAttrs){.dim = {1}}),
        b = unary(g, MIRAGE_OP_EXP, a);
  Value c = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, (Value[]){a, b}, &(MirageAttrs){.dim = {0}});
  Value d = binary(g, MIRAGE_OP_MUL, c, y), e = binary(g, MIRAGE_OP_ADD, a, b);
  return end_with(g, 2, (Value[]){mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &d, &(MirageAttrs){.dim = {1}}), e});
}

static MirageUGraph *chain(uint32_t length) {
  MirageUGraph *g = begin("chain");
  Value x = matrix(g, 6, 10), y = matrix(g, 6, 10);
  for (uint32_t i = 0; i < length; i++)
    x = i % 2 ? binary(g, MIRAGE_OP_ADD, x, y) : unary(g, MIRAGE_OP_TANH, x);
  return end(g, x);
}

static MirageUGraph *many_inputs(uint32_t count) {
  MirageUGraph *g = begin("many_inputs");
  Value inputs[32], sum;
  for (uint32_t i = 0; i < count; i++)
    inputs[i] = matrix(g, 4, 6);
  sum = inputs[0];
  for (uint32_t i = 1; i < count; i++)
    sum = binary(g, MIRAGE_OP_ADD, sum, inputs[i]);
  return end(g, sum);
}

static MirageUGraph *norm_and_linear(int64_t m, int64_t k, int64_t n) { // two results, one of them used by the other
  MirageUGraph *g = begin("norm_and_linear");
  Value x = matrix(g, m, k), w = matrix(g, k, n);
  Value norm = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0.0}});
  return end_with(g, 2, (Value[]){norm, matmul(g, norm, w)});
}

// One query over many keys.
static MirageUGraph *row_over_keys(int64_t heads, int64_t depth, int64_t keys) {
  MirageUGraph *g = begin("row_over_keys");
  Value q = input(g, 3, (int64_t[]){heads, 1, depth}), k = input(g, 3, (int64_t[]){heads, keys, depth});
  Value v = input(g, 3, (int64_t[]){heads, keys, depth});
  MirageAttrs by_rows = {.matmul = {.transpose_b = true}};
  Value s = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (Value[]){q, k}, &by_rows);
  Value p = mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &s, &(MirageAttrs){.dim = {2}});
  return end(g, matmul(g, p, v));
}

// ---------------------------------------------------------------------------------------------- checks

static uint32_t count_kernels(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageOpKind kind = mirage_op_info(mirage_ugraph_node(graph, body.nodes[i]).op)->kind;
    count += kind != MIRAGE_KIND_CONSTANT && kind != MIRAGE_KIND_TERMINATOR;
  }
  return count;
}

enum { MOST_KERNELS = 8 };

static uint32_t kernels_of(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++)
    count += mirage_ugraph_node(graph, body.nodes[i]).op == MIRAGE_OP_CUSTOM;
  return count < MOST_KERNELS ? count : MOST_KERNELS;
}

// Ends after little work, on its own options, and what it finds is right.
static void check_ends(MirageUGraph *program, uint32_t at_least) {
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(took_less(&result.funnel, 2000000));
  mirage_search_result_deinit(&result);
  check_all(program, &options, at_least);
}

// ----------------------------------------------------------------------------------------------- tests

static void test_experts_are_two_kernels(void **state) {
  MirageUGraph *program = experts(8, 8, 4096, 4096);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0 && result.funnel.exhausted);
  bool fused = false; // the activation joins the first product
  for (uint32_t i = 0; i < result.num_candidates; i++)
    fused |= count_kernels(result.candidates[i]) == 2;
  assert_true(fused);
  assert_true(mirage_ugraph_get_meta(result.candidates[0])->cost.time_us < program_cost(program, options.target));
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  check_all(experts(2, 3, 12, 20), &options, 1);
}

static void test_an_untreated_operator_stays(void **state) {
  MirageUGraph *program = folded_softmax(6, 24, 16);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  assert_int_equal(count_in(result.candidates[0], mirage_ugraph_body(result.candidates[0]), MIRAGE_OP_REDUCE_SUM), 1);
  assert_true(count_in(result.candidates[0], mirage_ugraph_body(result.candidates[0]), MIRAGE_OP_CUSTOM) > 0);
  mirage_search_result_deinit(&result);
  check_all(program, &options, 1);
}

static void test_a_concatenation_is_where_its_parts_are_stored(void **state) {
  MirageUGraph *program = joined_softmax(6, 24, 16);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  assert_int_equal(count_kernels(result.candidates[0]), 2);
  assert_int_equal(count_in(result.candidates[0], mirage_ugraph_body(result.candidates[0]), MIRAGE_OP_CUSTOM), 2);
  mirage_search_result_deinit(&result);
  check_all(program, &options, 1);
}

// The operators of a branch become one kernel, whatever the text has in between.
static void test_pieces_are_no_matter_of_the_text(void **state) {
  MirageUGraph *program = interleaved(64, 256);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  MirageRegion body = mirage_ugraph_body(result.candidates[0]);
  assert_int_equal(count_in(result.candidates[0], body, MIRAGE_OP_REDUCE_SUM), 1);
  assert_true(count_in(result.candidates[0], body, MIRAGE_OP_CUSTOM) > 0); // softmax to norm
  assert_int_equal(count_kernels(result.candidates[0]), 3);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  check_all(interleaved(3, 10), &options, 1);
  check_all(joined_and_scaled(3, 10), &options, 1);
}

static void test_odd_programs_end(void **state) {
  check_ends(chain(60), 1);
  check_ends(many_inputs(20), 1);
  check_ends(joined_softmax(7, 13, 11), 1); // primes
  check_ends(linear(127, 61, 31), 1);
}

static void test_several_results(void **state) {
  MirageUGraph *program = norm_and_linear(16, 256, 512);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  assert_int_equal(mirage_ugraph_num_outputs(result.candidates[0]), 2);
  assert_equivalent(program, result.candidates[0]);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_pieces_do_not_displace_a_better_whole(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 4096, 6144);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_int_equal(count_kernels(result.candidates[0]), 1);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Three kernels are predicted to be a little faster than one, in many tiles each; one was (H100: 66 us, 102).
static void test_every_number_of_kernels_has_candidates(void **state) {
  MirageUGraph *program = row_over_keys(40, 256, 4095);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  uint32_t of[MOST_KERNELS + 1] = {0};
  for (uint32_t i = 0; i < result.num_candidates; i++)
    of[kernels_of(result.candidates[i])]++;
  assert_true(of[1] >= 4 && of[2] >= 3 && of[3] >= 3);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_same_answer_at_any_thread_count(void **state) {
  MirageUGraph *program = experts(8, 8, 512, 512);
  MirageSearchOptions options = defaults();
  options.num_threads = 1;
  MirageSearchResult one = search(program, &options);
  options.num_threads = 8;
  MirageSearchResult many = search(program, &options);
  assert_int_equal(one.num_candidates, many.num_candidates);
  assert_int_equal(one.funnel.states, many.funnel.states);
  for (uint32_t i = 0; i < one.num_candidates; i++)
    assert_true(mirage_ugraph_get_meta(one.candidates[i])->cost.time_us ==
                mirage_ugraph_get_meta(many.candidates[i])->cost.time_us);
  mirage_search_result_deinit(&one);
  mirage_search_result_deinit(&many);
  mirage_ugraph_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_experts_are_two_kernels),
      cmocka_unit_test(test_an_untreated_operator_stays),
      cmocka_unit_test(test_a_concatenation_is_where_its_parts_are_stored),
      cmocka_unit_test(test_pieces_are_no_matter_of_the_text),
      cmocka_unit_test(test_odd_programs_end),
      cmocka_unit_test(test_several_results),
      cmocka_unit_test(test_pieces_do_not_displace_a_better_whole),
      cmocka_unit_test(test_every_number_of_kernels_has_candidates),
      cmocka_unit_test(test_same_answer_at_any_thread_count),
  };
  return cmocka_run_group_tests_name("pieces", tests, NULL, NULL);
}
