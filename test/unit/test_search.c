// test_search.c - the search finds the known one-kernel µGraphs at real shapes, everything it returns is right, and it
// says so when there is nothing to find.
//
// "Right" is checked here against the float64 evaluation of the program at small shapes; the proof is lib/verify's.
#include "search_helpers.h"

// ------------------------------------------------------------------- the known µGraphs, at real shapes

// The first candidate of one kernel; of those predicted to take as long, a norm in front may be another.
static uint32_t first_fused(const MirageSearchResult *result) {
  uint32_t index = 0;
  while (index < result->num_candidates && mirage_ugraph_get_meta(result->candidates[index])->cost.kernels != 1)
    index++;
  assert_true(index < result->num_candidates);
  assert_true(mirage_ugraph_get_meta(result->candidates[index])->cost.time_us <
              1.03 * mirage_ugraph_get_meta(result->candidates[0])->cost.time_us);
  return index;
}

static void test_finds_rmsnorm_linear(void **state) {
  static const int64_t rows[] = {2, 16};
  for (int i = 0; i < 2; i++) {
    MirageUGraph *program = rmsnorm_linear(rows[i], 4096, 6144);
    MirageSearchOptions options = defaults();
    MirageSearchResult result = search(program, &options);
    const MirageUGraph *fused = result.candidates[first_fused(&result)];
    Shape best = shape_of(fused);
    assert_int_equal(best.accumulators, 2); // the product, and the sum of squares beside it
    assert_int_equal(best.matmuls_inside, 1);
    assert_int_equal(best.divisions_inside, 0);
    assert_int_equal(best.divisions_outside, 2); // the mean, and by its root
    assert_int_equal(best.loads_inside, 3);      // x is loaded once for both
    const MirageGraphMeta *meta = mirage_ugraph_get_meta(fused);
    assert_memory_equal(meta->name, "rmsnorm_linear_", 15);
    assert_string_equal(meta->source, "rmsnorm_linear");
    assert_true(meta->cost.present);
    assert_true(meta->cost.time_us < program_cost(program, options.target));
    assert_true(result.funnel.exhausted);
    assert_true(took_less(&result.funnel, 1000000));
    int64_t blocks = only_custom(fused).attrs->custom.grid[0];
    assert_true(blocks > 64 && blocks <= options.target->num_sms); // one wave, most multiprocessors busy
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(program);
  }
}

static void test_finds_gated_mlp(void **state) {
  static const int64_t rows[] = {1, 8};
  for (int i = 0; i < 2; i++) {
    MirageUGraph *program = gated_mlp(rows[i], 4096, 4096);
    MirageSearchOptions options = defaults();
    MirageSearchResult result = search(program, &options);
    assert_true(result.num_candidates > 0);
    Shape best = shape_of(result.candidates[0]);
    assert_int_equal(best.accumulators, 2);
    assert_int_equal(best.matmuls_inside, 2);
    assert_int_equal(best.loads_inside, 3);
    assert_int_equal(best.divisions_inside, 0);
    assert_true(mirage_ugraph_get_meta(result.candidates[0])->cost.time_us < program_cost(program, options.target));
    assert_true(took_less(&result.funnel, 1000000));
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(program);
  }
}

static void test_finds_lora(void **state) {
  static const int64_t rows[] = {2, 16};
  for (int i = 0; i < 2; i++) {
    MirageUGraph *program = lora(rows[i], 4096, 16, 4096);
    MirageSearchOptions options = defaults();
    MirageSearchResult result = search(program, &options);
    assert_true(result.num_candidates > 0);
    Shape best = shape_of(result.candidates[0]);
    assert_int_equal(best.accumulators, 2); // x w and x a in one loop
    assert_int_equal(best.matmuls_inside, 2);
    assert_int_equal(best.loads_inside, 3);
    assert_int_equal(best.loads_outside, 1); // b
    assert_int_equal(best.matmuls_outside, 1);
    assert_true(mirage_ugraph_get_meta(result.candidates[0])->cost.time_us < program_cost(program, options.target));
    assert_true(took_less(&result.funnel, 1000000));
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(program);
  }
}

static MirageUGraph *norm_transformer(int64_t m, int64_t n) {
  MirageUGraph *g = begin("norm_transformer");
  Value h = matrix(g, m, n), x = matrix(g, m, n), alpha = matrix(g, m, n);
  Value d = binary(g, MIRAGE_OP_SUB, mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &h, &(MirageAttrs){.eps = {0}}), x);
  Value u = binary(g, MIRAGE_OP_ADD, x, binary(g, MIRAGE_OP_MUL, alpha, d));
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &u, &(MirageAttrs){.eps = {0}}));
}

static void test_finds_norm_transformer(void **state) {
  MirageUGraph *program = norm_transformer(8, 4096);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0 && result.funnel.exhausted);
  assert_true(took_less(&result.funnel, 1000000));
  assert_int_equal(shape_of(result.candidates[0]).loads_outside, 3);
  assert_int_equal(only_custom(result.candidates[0]).attrs->custom.grid[0], 8); // a row a block
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  check_all(norm_transformer(3, 20), &options, 1);
}

static void test_candidates_are_ranked(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 4096, 6144);
  MirageSearchOptions options = defaults();
  options.max_candidates = 5;
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.num_candidates, 5);
  for (uint32_t i = 1; i < result.num_candidates; i++)
    assert_true(mirage_ugraph_get_meta(result.candidates[i - 1])->cost.time_us <=
                mirage_ugraph_get_meta(result.candidates[i])->cost.time_us + 1e-9);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// ------------------------------------------------------------------------ small and odd shapes, values

static void test_all_candidates_are_right(void **state) {
  MirageSearchOptions options = defaults();
  check_all(rmsnorm_linear(3, 30, 24), &options, 4);
  check_all(rmsnorm_linear(2, 45, 20), &options, 4); // tails of the loop
  check_all(gated_mlp(1, 33, 18), &options, 4);
  check_all(gated_mlp(5, 17, 9), &options, 4);
  check_all(lora(3, 37, 5, 22), &options, 4);
  check_all(linear(7, 19, 13), &options, 2);
  check_all(transposed_linear(6, 20, 14), &options, 2);
  check_all(exp_linear(4, 21, 10), &options, 1); // exp(0) = 1: the tail is not neutral
  check_all(attention(2, 6, 4, 24), &options, 1);
  check_all(softmax(5, 12), &options, 1);
}

static bool has_exp(const MirageUGraph *graph, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++)
    if (mirage_ugraph_node(graph, view.nodes[i]).op == MIRAGE_OP_EXP)
      return true;
  return false;
}

// How many loops with exponentials the kernels of a µGraph have, all of the same range; asserts that.
static uint32_t count_loops(const MirageUGraph *graph, int64_t range) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView kernel = mirage_ugraph_node(graph, body.nodes[i]);
    if (kernel.op != MIRAGE_OP_CUSTOM)
      continue;
    MirageRegionView block = mirage_ugraph_region(graph, kernel.region);
    for (uint32_t k = 0; k < block.num_nodes; k++) {
      MirageNodeView node = mirage_ugraph_node(graph, block.nodes[k]);
      if (node.op != MIRAGE_OP_LOOP || !has_exp(graph, node.region))
        continue;
      assert_int_equal(node.attrs->loop.range, range);
      count++;
    }
  }
  return count;
}

// 34 = 2 * 17: three tiles would leave a tail, of which exp(0) = 1 would be summed. Where a weight multiplies it, it is zero; so it is where
// another kernel has computed one of the two exponentials, which is loaded then.
static void test_loop_ranges_divide_when_tails_are_not_neutral(void **state) {
  MirageUGraph *programs[] = {sum_of_exp(4, 34), sum_of_exp(4, 34), exp_linear(4, 34, 8)};
  const int64_t ranges[] = {2, 3, 3};
  const bool found[] = {true, false, true};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    MirageSearchOptions options = defaults();
    options.franges = (MirageInt64List){&ranges[i], 1};
    MirageSearchResult result = search(programs[i], &options);
    uint32_t loops = 0;
    for (uint32_t c = 0; c < result.num_candidates; c++)
      if (mirage_ugraph_get_meta(result.candidates[c])->cost.kernels == 1)
        loops += count_loops(result.candidates[c], ranges[i]);
    assert_int_equal(loops > 0, found[i]);
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(programs[i]);
  }
}

static void test_grid_option_is_obeyed(void **state) {
  MirageUGraph *program = linear(16, 256, 512);
  MirageSearchOptions options = defaults();
  options.griddims = (MirageInt64List){(const int64_t[]){4}, 1};
  options.franges = (MirageInt64List){(const int64_t[]){8}, 1};
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    MirageRegionView body = mirage_ugraph_region(result.candidates[i], mirage_ugraph_body(result.candidates[i]));
    for (uint32_t kernel = 0; kernel + 1 < body.num_nodes; kernel++)
      for (int axis = 0; axis < 3; axis++) {
        int64_t blocks = mirage_ugraph_node(result.candidates[i], body.nodes[kernel]).attrs->custom.grid[axis];
        assert_true(blocks == 1 || blocks == 4);
      }
  }
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// ------------------------------------------------------------------------------------- nothing to find

static void test_small_limit_finds_nothing(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 4096, 6144);
  MirageSearchOptions options = defaults();
  options.max_block_ops = 2; // a norm alone has two loads
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.num_candidates, 0);
  assert_int_equal(result.funnel.structures, 0);
  assert_true(result.funnel.states > 0 && result.funnel.exhausted);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Its own lowering takes the same tiles: those of 128 x 128 wait for L2.
static void test_lone_matmul_takes_wide_tiles(void **state) {
  MirageUGraph *program = linear(4096, 4096, 4096);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  assert_true(mirage_ugraph_get_meta(result.candidates[0])->cost.time_us <= program_cost(program, options.target));
  const int64_t *grid = only_custom(result.candidates[0]).attrs->custom.grid;
  assert_int_equal(grid[0] * grid[1], 4096 / 128 * 4096 / 256);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Rows of q by rows of k, each divided by its norm: any order of the divisions, and of the roots, is a graph.
static MirageUGraph *cosines(int64_t rows, int64_t columns, int64_t depth) {
  MirageUGraph *g = begin("cosines");
  Value sides[2] = {matrix(g, rows, depth), matrix(g, columns, depth)};
  for (uint32_t i = 0; i < 2; i++) {
    Value square = binary(g, MIRAGE_OP_MUL, sides[i], sides[i]);
    MirageAttrs over = {.reduce = {.dim = 1, .extent = 1}};
    Value sum = mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &square, &over);
    sides[i] = binary(g, MIRAGE_OP_DIV, sides[i], unary(g, MIRAGE_OP_SQRT, sum));
  }
  MirageAttrs attrs = {.matmul.transpose_b = true};
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, sides, &attrs));
}

static void test_default_limits_follow_operators(void **state) {
  assert_int_equal(mirage_search_states(1, false), 200000);
  assert_int_equal(mirage_search_states(11, false), 200000);
  assert_int_equal(mirage_search_states(12, false), 400000);
  assert_int_equal(mirage_search_states(13, false), 800000);
  assert_int_equal(mirage_search_states(64, false), 800000);
  assert_int_equal(mirage_search_states(12, true), 2000000);
  MirageUGraph *program = cosines(128, 256, 1024);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0 && result.funnel.exhausted); // and its pieces, of which some are as large
  assert_true(result.funnel.states < 1000000);                       // bounded by paths alone it were 1.8 million
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// x0 op x1 op ... in the order of the text.
static MirageUGraph *many(MirageOp op, uint32_t operators, uint32_t inputs) {
  MirageUGraph *g = begin("many");
  Value values[64];
  for (uint32_t i = 0; i < inputs; i++)
    values[i] = matrix(g, 32, 1024);
  Value all = values[0];
  for (uint32_t i = 0; i < operators; i++)
    all = binary(g, op, all, values[(i + 1) % inputs]);
  return end(g, all);
}

// Nine values can be added in two million orders, of which one stands for all, and 60 in more than any search can walk.
static void test_orders_of_a_sum_are_one(void **state) {
  static const MirageOp ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_MUL};
  for (int i = 0; i < 2; i++)
    for (uint32_t operators = 8; operators < 64; operators += 51) {
      MirageUGraph *program = many(ops[i], operators, operators + 1);
      MirageSearchOptions options = defaults();
      options.optimal = true;
      MirageSearchResult result = search(program, &options);
      assert_true(result.num_candidates > 0 && result.funnel.exhausted);
      assert_in_range(result.funnel.structures, 1, 200); // those of pieces, too
      mirage_search_result_deinit(&result);
      mirage_ugraph_destroy(program);
    }
  MirageSearchOptions options = defaults();
  check_all(many(MIRAGE_OP_ADD, 5, 6), &options, 1);
}

// 22 x + 22 y + 22 z has more ways through 2 x, 3 x, 5 x ... than can be walked: the search says so, and soon.
static void test_optimal_ends_by_itself(void **state) {
  MirageUGraph *program = many(MIRAGE_OP_ADD, 65, 3);
  MirageSearchOptions options = defaults();
  options.optimal = true;
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  assert_in_range(result.funnel.states, 1, 50000000); // 3 s
  assert_false(result.funnel.exhausted);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_MAX_STATES);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_state_limit_stops(void **state) {
  MirageUGraph *program = gated_mlp(8, 4096, 4096);
  MirageSearchOptions options = defaults();
  options.max_states = 100;
  MirageSearchResult result = search(program, &options);
  assert_false(result.funnel.exhausted);
  assert_in_range(result.funnel.states, 1, 1000); // of the whole, and of all pieces, a third of the limit each
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_too_large_for_one_block(void **state) {
  // A row of a softmax that no block holds; one loop takes its statistics, and the second is forbidden.
  MirageUGraph *program = begin("wide");
  Value x = matrix(program, 8, 1 << 20);
  end(program, mirage_ugraph_apply(program, MIRAGE_OP_SOFTMAX, 1, &x, &(MirageAttrs){.dim = {1}}));
  MirageSearchOptions options = defaults();
  options.max_loops = 1;
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.num_candidates, 0);
  assert_true(result.funnel.cut_memory > 0);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void expect_unsupported(MirageUGraph *program, const char *operator_name) {
  MirageSearchOptions options = defaults();
  MirageSearchResult result;
  last_message[0] = '\0';
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_UNSUPPORTED);
  assert_null(result.candidates);
  assert_int_equal(result.num_candidates, 0);
  if (strncmp(last_message, operator_name, strlen(operator_name)) != 0)
    fail_msg("'%s' does not name %s", last_message, operator_name);
  mirage_ugraph_destroy(program);
}

static void test_unsupported_operators_are_named(void **state) {
  MirageUGraph *g = begin("sliced");
  Value x = matrix(g, 8, 16);
  expect_unsupported(end(g, mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &x, &(MirageAttrs){.slice = {1, 0, 4}})),
                     "slice: ");
  g = begin("joined");
  x = matrix(g, 8, 16);
  expect_unsupported(end(g, mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, (Value[]){x, x}, &(MirageAttrs){.dim = {0}})),
                     "concat: ");
  g = begin("repeated"); // what is computed; an input may be
  x = unary(g, MIRAGE_OP_EXP, matrix(g, 8, 16));
  expect_unsupported(end(g, mirage_ugraph_apply(g, MIRAGE_OP_REPEAT, 1, &x, &(MirageAttrs){.repeat = {0, 2}})),
                     "repeat: ");
  g = begin("partly");
  x = matrix(g, 8, 16);
  expect_unsupported(
      end(g, mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &x, &(MirageAttrs){.reduce = {.dim = 1, .extent = 4}})),
      "reduce_sum: ");
  g = begin("many");
  Value y = unary(g, MIRAGE_OP_EXP, matrix(g, 8, 16)), outputs[] = {y, y, y, y, y, y, y, y, y};
  end_with(g, 9, outputs);
  expect_unsupported(g, "search: ");
}

static void test_bad_options(void **state) {
  MirageUGraph *program = linear(4, 8, 8);
  MirageSearchResult result;
  MirageSearchOptions options = defaults();
  options.griddims = (MirageInt64List){(const int64_t[]){0}, 1};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  options = defaults();
  options.max_loops = 4;
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  options = defaults();
  options.franges = (MirageInt64List){(const int64_t[]){-3}, 1};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  options = defaults();
  options.blockdims = (MirageInt64List){(const int64_t[]){256, 100}, 2};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  options = defaults();
  options.fmaps = (MirageInt64List){(const int64_t[]){MIRAGE_MAX_RANK}, 1};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  const MirageTriple grid = {{4, 0, 1}}, map = {{0, -2, 1}};
  options = defaults();
  options.grids = (MirageTripleList){&grid, 1};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  options = defaults();
  options.imaps = (MirageTripleList){&map, 1};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  options = defaults();
  options.omaps = (MirageTripleList){&map, 1};
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  options = defaults();
  options.max_block_ops = 1000;
  assert_int_equal(mirage_search(program, &options, &diag, &result), MIRAGE_BAD_ARGUMENT);
  assert_int_equal(result.num_candidates, 0);
  mirage_ugraph_destroy(program);
}

// ----------------------------------------------------------------------- determinism, switches, losses

enum { TEXT = 8192 };

static int compare_text(const void *a, const void *b) { return strcmp(a, b); }

static char *describe_all(const MirageSearchResult *result, bool sorted) {
  char *text = calloc((size_t)result->num_candidates + 1, TEXT);
  for (uint32_t i = 0; i < result->num_candidates; i++)
    describe(result->candidates[i], mirage_ugraph_body(result->candidates[i]), text + (size_t)i * TEXT, TEXT);
  if (sorted)
    qsort(text, result->num_candidates, TEXT, compare_text);
  return text;
}

static void test_seed_does_not_decide(void **state) {
  MirageUGraph *program = rmsnorm_linear(4, 64, 64);
  MirageSearchOptions options = defaults();
  MirageSearchResult one = search(program, &options);
  options.seed = 99;
  MirageSearchResult other = search(program, &options);
  assert_int_equal(one.funnel.structures, other.funnel.structures);
  assert_int_equal(one.num_candidates, other.num_candidates);
  mirage_search_result_deinit(&one);
  mirage_search_result_deinit(&other);
  mirage_ugraph_destroy(program);
}

// With a switch off nothing new is found and nothing is lost.
static void check_switch(MirageUGraph *program, MirageSearchOptions options, MirageSearchOptions without) {
  MirageSearchResult with = search(program, &options), all = search(program, &without);
  assert_true(with.funnel.exhausted && all.funnel.exhausted);
  assert_true(with.num_candidates > 0);
  assert_int_equal(with.num_candidates, all.num_candidates);
  assert_true(all.funnel.states >= with.funnel.states);
  char *a = describe_all(&with, true), *b = describe_all(&all, true);
  assert_memory_equal(a, b, (size_t)with.num_candidates * TEXT);
  free(a);
  free(b);
  mirage_search_result_deinit(&with);
  mirage_search_result_deinit(&all);
  mirage_ugraph_destroy(program);
}

static MirageSearchOptions narrow(uint32_t max_block_ops) {
  static const int64_t one_grid[] = {2}, one_range[] = {2};
  MirageSearchOptions options = defaults();
  options.max_block_ops = max_block_ops;
  options.max_candidates = 200;
  options.griddims = (MirageInt64List){one_grid, 1};
  options.franges = (MirageInt64List){one_range, 1};
  return options;
}

static void test_expression_pruning_loses_nothing(void **state) {
  MirageSearchOptions options = narrow(4), without = options;
  without.no_prune_expr = true;
  check_switch(linear(4, 16, 12), options, without);
}

static void test_expression_pruning_loses_nothing_with_a_chain(void **state) {
  MirageSearchOptions options = narrow(4), without = options;
  without.no_prune_expr = true;
  MirageUGraph *g = begin("chain");
  Value x = matrix(g, 4, 12);
  check_switch(end(g, unary(g, MIRAGE_OP_EXP, unary(g, MIRAGE_OP_SQRT, x))), options, without);
}

static void test_axis_pruning_loses_nothing(void **state) {
  MirageSearchOptions options = narrow(8), without = options;
  without.no_prune_axis = true;
  check_switch(lora(4, 16, 16, 16), options, without); // equal extents, so that wrong axes would fit
}

// Where no two sums are multiplied, nothing is lost; where they are, only graphs that multiply them out.
static void test_keeping_products_loses_nothing(void **state) {
  MirageSearchOptions options = narrow(8), without = options;
  without.no_keep_products = true;
  check_switch(lora(4, 16, 8, 16), options, without);
  check_switch(gated_mlp(4, 16, 12), options, without);
}

static void test_merging_loses_nothing(void **state) {
  MirageSearchOptions options = narrow(5), without = options;
  without.no_merge = true;
  check_switch(linear(4, 16, 12), options, without);
}

static void test_bounds_lose_nothing(void **state) {
  MirageSearchOptions options = narrow(8), without = options;
  without.no_bound_needs = true;
  check_switch(lora(4, 16, 8, 16), options, without);
  check_switch(gated_mlp(4, 16, 12), options, without);
  check_switch(rmsnorm_linear(4, 16, 12), options, without);
}

static void test_capacity_loses_nothing(void **state) {
  MirageSearchOptions options = narrow(8), without = options;
  without.no_prune_memory = true;
  check_switch(lora(4, 16, 8, 16), options, without);
}

static void test_shared_pieces_are_the_same(void **state) {
  MirageSearchOptions options = defaults(), without = options;
  without.no_share_pieces = true;
  MirageUGraph *g = begin("layers");
  Value x = matrix(g, 8, 64), w[] = {matrix(g, 64, 64), matrix(g, 64, 64), matrix(g, 64, 64)};
  for (uint32_t i = 0; i < 3; i++)
    x = matmul(g, unary(g, MIRAGE_OP_EXP, x), w[i]);
  check_switch(end(g, x), options, without);
}

static void test_funnel_counts_what_is_cut(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 4096, 6144);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  const MirageFunnel *funnel = &result.funnel;
  assert_true(funnel->cut_expr > 0 && funnel->cut_axis > 0 && funnel->cut_order > 0 && funnel->cut_merge > 0);
  assert_true(funnel->structures > 0 && funnel->scheduled > funnel->structures);
  assert_int_equal(funnel->candidates, 16);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_finds_rmsnorm_linear),
      cmocka_unit_test(test_finds_gated_mlp),
      cmocka_unit_test(test_finds_lora),
      cmocka_unit_test(test_finds_norm_transformer),
      cmocka_unit_test(test_candidates_are_ranked),
      cmocka_unit_test(test_all_candidates_are_right),
      cmocka_unit_test(test_loop_ranges_divide_when_tails_are_not_neutral),
      cmocka_unit_test(test_grid_option_is_obeyed),
      cmocka_unit_test(test_small_limit_finds_nothing),
      cmocka_unit_test(test_lone_matmul_takes_wide_tiles),
      cmocka_unit_test(test_default_limits_follow_operators),
      cmocka_unit_test(test_orders_of_a_sum_are_one),
      cmocka_unit_test(test_optimal_ends_by_itself),
      cmocka_unit_test(test_state_limit_stops),
      cmocka_unit_test(test_too_large_for_one_block),
      cmocka_unit_test(test_unsupported_operators_are_named),
      cmocka_unit_test(test_bad_options),
      cmocka_unit_test(test_seed_does_not_decide),
      cmocka_unit_test(test_expression_pruning_loses_nothing),
      cmocka_unit_test(test_expression_pruning_loses_nothing_with_a_chain),
      cmocka_unit_test(test_axis_pruning_loses_nothing),
      cmocka_unit_test(test_keeping_products_loses_nothing),
      cmocka_unit_test(test_merging_loses_nothing),
      cmocka_unit_test(test_bounds_lose_nothing),
      cmocka_unit_test(test_capacity_loses_nothing),
      cmocka_unit_test(test_shared_pieces_are_the_same),
      cmocka_unit_test(test_funnel_counts_what_is_cut),
  };
  return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
