// test_search_sections.c - programs of many operators: searched in sections, equal ones once; what that finds is right,
// and the work, counted in states, does not grow with the number of equal layers. And many products at once.
#include "mirage/guard.h"
#include "search_helpers.h"

enum { MOST = 512 };

// -------------------------------------------------------------------------------------------- programs

// x = tanh(x w) + x, again and again.
static MirageUGraph *layers(uint32_t count, int64_t rows, int64_t width) {
  MirageUGraph *g = begin("layers");
  Value x = matrix(g, rows, width), weights[MOST];
  for (uint32_t i = 0; i < count; i++)
    weights[i] = matrix(g, width, width);
  for (uint32_t i = 0; i < count; i++)
    x = binary(g, MIRAGE_OP_ADD, unary(g, MIRAGE_OP_TANH, matmul(g, x, weights[i])), x);
  return end(g, x);
}

// Each operator takes the one before it twice.
static MirageUGraph *doubled(uint32_t count) {
  MirageUGraph *g = begin("doubled");
  Value x = matrix(g, 6, 10);
  for (uint32_t i = 0; i < count; i++)
    x = i % 4 == 3 ? unary(g, MIRAGE_OP_TANH, x) : binary(g, i % 2 ? MIRAGE_OP_MUL : MIRAGE_OP_ADD, x, x);
  return end(g, x);
}

// The same, behind a concatenation that nobody can take apart: it is what view recognition looks for.
static MirageUGraph *doubled_concatenation(uint32_t count) {
  MirageUGraph *g = begin("doubled_concatenation");
  Value x = matrix(g, 6, 10), y = matrix(g, 6, 10);
  Value z = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, (Value[]){x, y}, &(MirageAttrs){.dim = {1}});
  for (uint32_t i = 0; i < count; i++)
    z = binary(g, i % 2 ? MIRAGE_OP_MAX : MIRAGE_OP_ADD, z, z);
  return end(g, z);
}

// What the first section computes is read by the last, seen in another shape; a result comes from the middle; constants
// are everywhere; and one operator's result is not read.
static MirageUGraph *knotted(uint32_t count) {
  MirageUGraph *g = begin("knotted");
  Value x = matrix(g, 6, 10), y = matrix(g, 10, 6), middle = x, first = {0};
  MirageType turned = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){10, 6});
  MirageAttrs half = {.constant = {.type = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){1, 1}), .value = 0.5}};
  for (uint32_t i = 0; i < count; i++) {
    Value c = mirage_ugraph_apply(g, MIRAGE_OP_CONSTANT, 0, NULL, &half);
    x = i % 2 ? binary(g, MIRAGE_OP_MUL, x, c) : unary(g, MIRAGE_OP_TANH, x);
    first = i == 3 ? x : first;
    middle = i == count / 2 ? x : middle;
  }
  unary(g, MIRAGE_OP_EXP, x);
  Value seen = mirage_ugraph_apply(g, MIRAGE_OP_RESHAPE, 1, &first, &(MirageAttrs){.shape = {.type = turned}});
  Value last = binary(g, MIRAGE_OP_ADD, x, matmul(g, matmul(g, x, seen), x));
  return end_with(g, 3, (Value[]){last, middle, binary(g, MIRAGE_OP_ADD, seen, y)});
}

// After `lead` operators, blocks of 17 whose residual passes between attention-like and gated half, too.
static MirageUGraph *blocks(uint32_t lead, uint32_t count) {
  MirageUGraph *g = begin("blocks");
  Value x = matrix(g, 4, 8), w = matrix(g, 8, 8);
  for (uint32_t i = 0; i < lead; i++)
    x = unary(g, MIRAGE_OP_TANH, x);
  for (uint32_t i = 0; i < count; i++) {
    Value half = x;
    for (int k = 0; k < 9; k++)
      half = k % 3 == 2 ? matmul(g, half, w) : unary(g, MIRAGE_OP_RELU, half);
    x = half = binary(g, MIRAGE_OP_ADD, half, x);
    for (int k = 0; k < 6; k++)
      half = k % 3 == 2 ? matmul(g, half, w) : unary(g, MIRAGE_OP_EXP, half);
    x = binary(g, MIRAGE_OP_ADD, half, x);
  }
  return end(g, x);
}

// Element-wise operators, which are found by rule, then norms, for which a search without states finds nothing.
static MirageUGraph *norms_behind(uint32_t lead, uint32_t count) {
  MirageUGraph *g = begin("norms_behind");
  Value x = matrix(g, 4, 64);
  for (uint32_t i = 0; i < lead; i++)
    x = unary(g, MIRAGE_OP_RELU, x);
  for (uint32_t i = 0; i < count; i++)
    x = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0.0}});
  return end(g, x);
}

static MirageUGraph *products(uint32_t count, int64_t rows, int64_t width) {
  MirageUGraph *g = begin("products");
  Value a[MOST], b[MOST], results[MOST];
  for (uint32_t i = 0; i < count; i++) {
    a[i] = matrix(g, rows, width);
    b[i] = matrix(g, width, width);
  }
  for (uint32_t i = 0; i < count; i++)
    results[i] = matmul(g, a[i], b[i]);
  return end_with(g, count, results);
}

// ----------------------------------------------------------------------------------------------- tests

static uint64_t states_of(MirageUGraph *program) {
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  uint64_t states = result.funnel.states;
  assert_true(result.num_candidates > 0);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  return states;
}

// 30 layers have 90 operators; ten times as many have the same sections, and one at the end that is shorter.
static void test_equal_sections_are_searched_once(void **state) {
  uint64_t few = states_of(layers(30, 64, 256)), many = states_of(layers(300, 64, 256));
  print_message("states: %llu and %llu\n", (unsigned long long)few, (unsigned long long)many);
  assert_true(many <= 2 * few);
}

// "it has 204 operators, and is searched in 12 sections, 1 of them different": the last two numbers.
static void count_sections(MirageUGraph *program, int *out_sections, int *out_different) {
  MirageSearchOptions options = defaults();
  options.max_states = 1000;
  MirageSearchResult result = search(program, &options);
  if (sscanf(result.reason, "it has %*d operators, and is searched in %d sections, %d of them different", out_sections,
             out_different) != 2)
    fail_msg("%s", result.reason);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Of sections of 32 operators each would begin elsewhere in a block of 17, and none would be another's equal.
static void test_sections_end_with_the_period(void **state) {
  static const struct {
    uint32_t lead, blocks;
    int sections, different;
  } cases[] = {{0, 12, 12, 1}, {0, 16, 16, 1}, {7, 12, 13, 2}, {40, 14, 16, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int sections, different;
    count_sections(blocks(cases[i].lead, cases[i].blocks), &sections, &different);
    print_message("%u operators, then %u blocks: %d sections, %d different\n", cases[i].lead, cases[i].blocks, sections,
                  different);
    assert_int_equal(sections, cases[i].sections);
    assert_int_equal(different, cases[i].different);
  }
}

// What is not found keeps its own operators, as accurate as the program's: a norm is computed in f32 and rounded once.
static void test_own_operators_are_as_accurate(void **state) {
  MirageUGraph *program = norms_behind(45, 25);
  MirageSearchOptions options = defaults();
  options.max_states = 1;
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  MirageGuardReport report;
  assert_int_equal(mirage_guard(program, result.candidates[0], NULL, &diag, &report), MIRAGE_OK);
  if (!report.passed)
    fail_msg("%s", report.reason);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_values_used_twice(void **state) {
  static const uint32_t lengths[] = {10, 28, 40, 80, 320, 1280, 5000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    assert_true(states_of(doubled(lengths[i])) < 100000);
  assert_true(states_of(doubled_concatenation(40)) < 1000000);
}

static void test_what_sections_find_is_right(void **state) {
  MirageSearchOptions options = defaults();
  check_all(layers(24, 3, 6), &options, 1);
  check_all(knotted(90), &options, 1);
}

// The cost of the program is that of its sections: no more kernels than they have, and fewer than its operators.
static void test_sections_are_joined(void **state) {
  MirageUGraph *program = layers(70, 64, 256);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  const MirageUGraph *best = result.candidates[0];
  assert_int_equal(mirage_ugraph_num_inputs(best), mirage_ugraph_num_inputs(program));
  assert_true(mirage_ugraph_get_meta(best)->cost.kernels <= 70); // each layer at most one
  assert_string_equal(mirage_ugraph_get_meta(best)->source, "layers");
  assert_non_null(strstr(result.reason, "sections"));
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_products_without_a_common_value(void **state) {
  static const uint32_t counts[] = {4, 9, 33, 64};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    MirageUGraph *program = products(counts[i], 64, 512);
    MirageSearchOptions options = defaults();
    MirageSearchResult result = search(program, &options);
    assert_true(result.num_candidates > 0);
    assert_true(mirage_ugraph_get_meta(result.candidates[0])->cost.kernels < counts[i]);
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(program);
  }
  MirageSearchOptions options = defaults();
  check_all(products(9, 3, 6), &options, 1);
}

static void test_same_answer_at_any_thread_count(void **state) {
  MirageUGraph *program = layers(40, 16, 64);
  MirageSearchOptions options = defaults();
  options.num_threads = 1;
  MirageSearchResult one = search(program, &options);
  options.num_threads = 4;
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

// Interrupted before it began, a program in sections ends with nothing, which is no error.
static void test_an_interrupt_is_heard(void **state) {
  const int interrupt = 1;
  const MirageSearchControl control = {.interrupt = &interrupt};
  MirageUGraph *program = layers(300, 64, 256);
  MirageSearchOptions options = defaults();
  options.control = &control;
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.num_candidates, 0);
  assert_int_equal(result.funnel.states, 0);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_INTERRUPT);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_sections_are_searched_once),
      cmocka_unit_test(test_sections_end_with_the_period),
      cmocka_unit_test(test_own_operators_are_as_accurate),
      cmocka_unit_test(test_values_used_twice),
      cmocka_unit_test(test_what_sections_find_is_right),
      cmocka_unit_test(test_sections_are_joined),
      cmocka_unit_test(test_products_without_a_common_value),
      cmocka_unit_test(test_same_answer_at_any_thread_count),
      cmocka_unit_test(test_an_interrupt_is_heard),
  };
  return cmocka_run_group_tests_name("sections", tests, NULL, NULL);
}
