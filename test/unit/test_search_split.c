// test_search_split.c - reductions that are split over blocks: combined by a cluster, by the grid or by a second
// kernel, with softmax's maxima brought together; chosen where the parallel axes leave multiprocessors idle.
#include "search_helpers.h"

// -------------------------------------------------------------------------------------------- programs

static MirageUGraph *biased(int64_t m, int64_t k, int64_t n) {
  MirageUGraph *g = begin("biased");
  Value x = matrix(g, m, k), w = matrix(g, k, n), b = input(g, 1, &n);
  return end(g, binary(g, MIRAGE_OP_ADD, matmul(g, x, w), b));
}

static MirageUGraph *row_maximum(int64_t m, int64_t n) { // a maximum that is the result
  MirageUGraph *g = begin("row_maximum");
  Value x = matrix(g, m, n);
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_MAX, 1, &x, &(MirageAttrs){.reduce = {.dim = 1, .extent = 1}}));
}

// ---------------------------------------------------------------------------------------------- checks

typedef enum { WHOLE, GRID, CLUSTER, TWO_KERNELS, PIECES, NUM_KINDS } Kind;

static Kind kind_of(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t num_customs = count_in(graph, mirage_ugraph_body(graph), MIRAGE_OP_CUSTOM);
  if (body.num_nodes > 2) // one more is the return
    return num_customs == 2 && body.num_nodes == 3 ? TWO_KERNELS : PIECES;
  MirageRegion block = only_custom(graph).region;
  if (count_in(graph, block, MIRAGE_OP_CLUSTER_SUM) + count_in(graph, block, MIRAGE_OP_CLUSTER_MAX))
    return CLUSTER;
  return count_in(graph, block, MIRAGE_OP_GRID_SUM) + count_in(graph, block, MIRAGE_OP_GRID_MAX) ? GRID : WHOLE;
}

static int64_t blocks_of(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  const int64_t *grid = mirage_ugraph_node(graph, body.nodes[0]).attrs->custom.grid;
  return grid[0] * grid[1] * grid[2];
}

// Searches, proves the best of each kind, and reports the place of the first of each kind (num_candidates = none).
static MirageSearchResult search_kinds(const MirageUGraph *program, const MirageSearchOptions *options,
                                       uint32_t first[NUM_KINDS]) {
  MirageSearchResult result = search(program, options);
  for (int kind = 0; kind < NUM_KINDS; kind++)
    first[kind] = result.num_candidates;
  for (uint32_t i = result.num_candidates; i-- > 0;)
    first[kind_of(result.candidates[i])] = i;
  for (int kind = 0; kind < NUM_KINDS; kind++)
    if (first[kind] < result.num_candidates)
      assert_equivalent(program, result.candidates[first[kind]]);
  return result;
}

// ----------------------------------------------------------------------------------------------- tests

// 8 blocks of 64 rows would leave 124 multiprocessors idle: the keys are divided.
static void test_decoding_attention_is_split(void **state) {
  MirageUGraph *programs[] = {sdpa(2, 256, 64, 4096), attention(2, 256, 64, 4096), sdpa(1, 1024, 64, 4096),
                              sdpa(32, 16, 64, 4096)};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    MirageSearchOptions options = defaults();
    uint32_t first[NUM_KINDS];
    MirageSearchResult result = search_kinds(programs[i], &options, first);
    assert_true(result.funnel.exhausted && took_less(&result.funnel, 2000000));
    assert_true(first[CLUSTER] < result.num_candidates);
    assert_true(first[TWO_KERNELS] < result.num_candidates);
    assert_true(first[GRID] < result.num_candidates);
    for (uint32_t c = 1; c < result.num_candidates; c++)
      assert_true(mirage_ugraph_get_meta(result.candidates[c - 1])->cost.time_us <=
                  mirage_ugraph_get_meta(result.candidates[c])->cost.time_us);
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(programs[i]);
  }
}

static void test_a_split_is_predicted_to_pay_where_blocks_are_few(void **state) {
  MirageUGraph *program = sdpa(2, 256, 64, 4096);
  MirageSearchOptions options = defaults();
  uint32_t first[NUM_KINDS];
  MirageSearchResult result = search_kinds(program, &options, first);
  assert_true(first[WHOLE] > 0);
  assert_true(blocks_of(result.candidates[0]) >= 64);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  program = linear(16, 4096, 6144); // 128 tiles of 48 columns fill the chip
  result = search_kinds(program, &options, first);
  assert_int_equal(first[WHOLE], 0);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_grids_that_meet_are_resident(void **state) {
  MirageUGraph *program = sdpa(2, 256, 64, 4096);
  MirageSearchOptions options = defaults();
  options.max_candidates = 64;
  MirageSearchResult result = search(program, &options);
  for (uint32_t i = 0; i < result.num_candidates; i++)
    if (kind_of(result.candidates[i]) == GRID)
      assert_true(blocks_of(result.candidates[i]) <= options.target->num_sms);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_no_clusters_without_hardware(void **state) {
  MirageUGraph *program = sdpa(2, 256, 64, 4096);
  MirageSearchOptions options = defaults();
  options.target = mirage_target_find("a100");
  uint32_t first[NUM_KINDS];
  MirageSearchResult result = search_kinds(program, &options, first);
  assert_int_equal(first[CLUSTER], result.num_candidates);
  assert_true(first[TWO_KERNELS] < result.num_candidates);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Whatever combines the parts: the values are the program's.
static void test_values_are_right(void **state) {
  MirageSearchOptions options = defaults();
  check_all(biased(4, 512, 8), &options, 8);
  check_all(sdpa(1, 4, 8, 512), &options, 8);
  check_all(attention(2, 4, 8, 256), &options, 8);
  check_all(row_maximum(4, 1024), &options, 4);
  check_all(rmsnorm_linear(2, 512, 16), &options, 8);
}

// A prime number of keys is not divided evenly: the last part ends in a tail of bottom.
static void test_parts_of_prime_extents_are_right(void **state) {
  MirageSearchOptions options = defaults();
  uint32_t first[NUM_KINDS];
  MirageUGraph *program = sdpa(1, 4, 8, 509);
  MirageSearchResult result = search_kinds(program, &options, first);
  assert_true(first[CLUSTER] < result.num_candidates || first[GRID] < result.num_candidates ||
              first[TWO_KERNELS] < result.num_candidates);
  mirage_search_result_deinit(&result);
  check_all(program, &options, 8);
}

// What is stored along each axis of the grid.
static bool walks(const MirageUGraph *graph, MirageRegion region, uint32_t axis) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    bool meets = mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE && node.attrs->axes.axis[axis];
    if (meets || (node.op == MIRAGE_OP_STORE && node.attrs->access.grid[axis] >= 0) ||
        (node.region.index && walks(graph, node.region, axis)))
      return true;
  }
  return false;
}

// The columns of y come after the sum over those of x: blocks that leave parts of the sum are not multiplied by them.
static void test_no_two_blocks_do_the_same(void **state) {
  MirageUGraph *g = begin("scaled");
  Value x = matrix(g, 33, 4097), y = matrix(g, 33, 512);
  Value square = binary(g, MIRAGE_OP_MUL, x, x);
  Value sum =
      mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &square, &(MirageAttrs){.reduce = {.dim = 1, .extent = 1}});
  MirageUGraph *program = end(g, binary(g, MIRAGE_OP_MUL, y, sum));
  MirageSearchOptions options = defaults();
  options.max_candidates = 128;
  uint32_t first[NUM_KINDS], kernels = 0;
  MirageSearchResult result = search_kinds(program, &options, first);
  assert_true(first[TWO_KERNELS] < result.num_candidates);
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    MirageRegionView body = mirage_ugraph_region(result.candidates[i], mirage_ugraph_body(result.candidates[i]));
    for (uint32_t n = 0; n < body.num_nodes; n++) {
      MirageNodeView node = mirage_ugraph_node(result.candidates[i], body.nodes[n]);
      for (uint32_t axis = 0; node.op == MIRAGE_OP_CUSTOM && axis < 3; axis++, kernels++)
        assert_true(node.attrs->custom.grid[axis] == 1 || walks(result.candidates[i], node.region, axis));
    }
  }
  assert_true(kernels > 0);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Forms of the same arithmetic under one schedule do not crowd out other grids and loops.
static void test_candidates_have_many_schedules(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 4096, 6144);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  uint32_t alike = 0;
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    uint32_t same = 0;
    for (uint32_t j = 0; j < result.num_candidates; j++)
      same += kind_of(result.candidates[j]) == kind_of(result.candidates[i]) &&
              blocks_of(result.candidates[j]) == blocks_of(result.candidates[i]);
    alike = same > alike ? same : alike;
  }
  assert_int_equal(result.num_candidates, 16);
  assert_true(alike <= 8);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_same_answer_at_any_thread_count(void **state) {
  MirageUGraph *program = sdpa(2, 256, 64, 4096);
  MirageSearchOptions options = defaults();
  options.num_threads = 1;
  MirageSearchResult one = search(program, &options);
  for (uint32_t threads = 2; threads <= 8; threads *= 4) {
    options.num_threads = threads;
    MirageSearchResult many = search(program, &options);
    assert_int_equal(one.num_candidates, many.num_candidates);
    for (uint32_t i = 0; i < one.num_candidates; i++) {
      const MirageUGraph *a = one.candidates[i], *b = many.candidates[i];
      assert_int_equal(kind_of(a), kind_of(b));
      assert_int_equal(mirage_ugraph_num_nodes(a), mirage_ugraph_num_nodes(b));
      assert_true(mirage_ugraph_get_meta(a)->cost.time_us == mirage_ugraph_get_meta(b)->cost.time_us);
    }
    assert_int_equal(one.funnel.states, many.funnel.states);
    mirage_search_result_deinit(&many);
  }
  mirage_search_result_deinit(&one);
  mirage_ugraph_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decoding_attention_is_split),
      cmocka_unit_test(test_a_split_is_predicted_to_pay_where_blocks_are_few),
      cmocka_unit_test(test_grids_that_meet_are_resident),
      cmocka_unit_test(test_no_clusters_without_hardware),
      cmocka_unit_test(test_values_are_right),
      cmocka_unit_test(test_parts_of_prime_extents_are_right),
      cmocka_unit_test(test_no_two_blocks_do_the_same),
      cmocka_unit_test(test_candidates_have_many_schedules),
      cmocka_unit_test(test_same_answer_at_any_thread_count),
  };
  return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
