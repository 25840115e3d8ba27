// test_replay.c - given µGraphs through the enumerator: all that the search emits is in its space, whatever its form;
// what it could not emit is cut by the test that it names. Text tests: test/passes/replay.mlir.
#include "search_helpers.h"

static MirageReplay *replay_of(const MirageUGraph *program, const MirageSearchOptions *options) {
  MirageReplay *replay;
  last_message[0] = '\0';
  if (mirage_replay_create(program, options, &diag, &replay) != MIRAGE_OK)
    fail_msg("replay: %s", last_message);
  return replay;
}

static MirageReplayResult run(MirageReplay *replay, const MirageUGraph *candidate) {
  MirageReplayResult result;
  if (mirage_replay_run(replay, candidate, &diag, &result) != MIRAGE_OK)
    fail_msg("replay: %s", last_message);
  return result;
}

static double time_of(const MirageUGraph *graph) { return mirage_ugraph_get_meta(graph)->cost.time_us; }

// --------------------------------------------------------------------------------- what the search emits

static MirageUGraph *row_maximum(int64_t m, int64_t n) {
  MirageUGraph *g = begin("row_maximum");
  Value x = matrix(g, m, n);
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_MAX, 1, &x, &(MirageAttrs){.reduce = {.dim = 1, .extent = 1}}));
}

// act(x a) b: only pieces.
static MirageUGraph *two_layers(int64_t m, int64_t k) {
  MirageUGraph *g = begin("two_layers");
  Value x = matrix(g, m, k), a = matrix(g, k, k), b = matrix(g, k, k);
  return end(g, matmul(g, unary(g, MIRAGE_OP_SILU, matmul(g, x, a)), b));
}

// softmax(s) v: its maxima are put back when the candidate is built.
static MirageUGraph *soft_product(int64_t heads, int64_t rows, int64_t keys) {
  MirageUGraph *g = begin("soft_product");
  Value s = input(g, 3, (int64_t[]){heads, rows, keys}), v = input(g, 3, (int64_t[]){heads, keys, 64});
  return end(g, matmul(g, mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &s, &(MirageAttrs){.dim = {2}}), v));
}

// Each candidate is in the space, and what stands for it is itself.
static void check_own(MirageUGraph *program, const MirageSearchOptions *options) {
  MirageSearchResult found = search(program, options);
  MirageReplay *replay = replay_of(program, options);
  assert_true(found.num_candidates > 0);
  for (uint32_t i = 0; i < found.num_candidates; i++) {
    MirageReplayResult result = run(replay, found.candidates[i]);
    if (!result.in_space)
      fail_msg("%s: cut by %s: %s", mirage_ugraph_get_meta(found.candidates[i])->name,
               mirage_replay_cut_name(result.cut), result.why);
    assert_true(result.pieces > 1 || result.graph);
    if (result.graph) {
      assert_int_equal(mirage_ugraph_num_nodes(result.graph), mirage_ugraph_num_nodes(found.candidates[i]));
      // Blocks that all do the same, which the first of two kernels may have, are not read.
      if (i == 0 && time_of(result.graph) != time_of(found.candidates[i]))
        fail_msg("%s: %g us, what stands for it %g us", mirage_ugraph_get_meta(found.candidates[i])->name,
                 time_of(found.candidates[i]), time_of(result.graph));
    }
    mirage_ugraph_destroy(result.graph);
  }
  mirage_replay_destroy(replay);
  mirage_search_result_deinit(&found);
  mirage_ugraph_destroy(program);
}

static void test_all_that_is_found_is_met(void **state) {
  MirageSearchOptions options = defaults();
  options.max_candidates = 48;
  check_own(rmsnorm_linear(2, 4096, 6144), &options);
  check_own(rmsnorm_linear(3, 1000, 4097), &options);
  check_own(gated_mlp(8, 4096, 4096), &options);
  check_own(lora(2, 4096, 16, 4096), &options);
  check_own(attention(2, 256, 64, 4096), &options);
  check_own(sdpa(2, 256, 64, 4096), &options);
  check_own(softmax(16, 1024), &options);
  check_own(soft_product(2, 64, 2048), &options);
  check_own(transposed_linear(16, 1024, 512), &options);
  check_own(row_maximum(4, 1024), &options);
  check_own(linear(16, 4096, 6144), &options);
}

static void test_pieces_are_met(void **state) {
  MirageSearchOptions options = defaults();
  check_own(two_layers(16, 4096), &options);
}

static void test_other_targets_and_limits(void **state) {
  MirageSearchOptions options = defaults();
  options.target = mirage_target_find("a100");
  options.max_block_ops = 8;
  options.griddims = (MirageInt64List){(int64_t[]){4, 8, 128}, 3};
  options.franges = (MirageInt64List){(int64_t[]){4, 32}, 2};
  check_own(sdpa(2, 256, 64, 4096), &options);
  check_own(gated_mlp(8, 4096, 4096), &options);
}

// --------------------------------------------------------------------------------------- what it does not

// y = x w on `blocks` column blocks in a loop of `range`.
static MirageUGraph *looped(int64_t m, int64_t k, int64_t n, int64_t blocks, int64_t range) {
  MirageUGraph *g = begin("looped");
  Value x = matrix(g, m, k), w = matrix(g, k, n);
  MirageType y = mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){m, n});
  MirageCustomAttrs attrs = {.grid = {blocks, 1, 1}, .cluster = {1, 1, 1}};
  MirageNode custom = mirage_ugraph_open_custom(g, 2, (Value[]){x, w}, 1, &y, &attrs);
  Value zero = mirage_ugraph_constant(g, mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){m, n / blocks}), 0.0);
  MirageCarry carry = {.combine = MIRAGE_COMBINE_SUM};
  MirageNode loop =
      mirage_ugraph_open_loop(g, 1, &zero, &(MirageLoopAttrs){.range = range, .num_carries = 1, .carries = &carry});
  MirageAccessAttrs rows = {.grid = {-1, -1, -1}, .loop = {1, -1, -1, -1}};
  MirageAccessAttrs columns = {.grid = {1, -1, -1}, .loop = {0, -1, -1, -1}};
  MirageAccessAttrs out = {.grid = {1, -1, -1}, .loop = {-1, -1, -1, -1}};
  Value a = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &rows);
  Value b = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 1), &columns);
  Value p = matmul(g, a, b);
  mirage_ugraph_close(g, 1, &p);
  mirage_ugraph_store(g, mirage_ugraph_result(g, loop, 0), mirage_ugraph_argument(g, custom, 2), &out);
  mirage_ugraph_close(g, 0, NULL);
  return end(g, mirage_ugraph_result(g, custom, 0));
}

static void test_schedules(void **state) {
  MirageUGraph *program = linear(16, 4096, 6144);
  MirageSearchOptions options = defaults();
  MirageReplay *replay = replay_of(program, &options);
  const struct {
    int64_t blocks, range;
    bool met;
  } cases[] = {{128, 32, true}, {96, 64, true}, {512, 32, false}, {128, 2048, false}, {1, 32, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    MirageUGraph *graph = looped(16, 4096, 6144, cases[i].blocks, cases[i].range);
    MirageReplayResult result = run(replay, graph);
    if (result.in_space != cases[i].met || (!cases[i].met && result.cut != MIRAGE_REPLAY_SCHEDULE))
      fail_msg("%d blocks, %d iterations: cut by %s: %s", (int)cases[i].blocks, (int)cases[i].range,
               mirage_replay_cut_name(result.cut), result.why);
    assert_true(result.graph && result.counted_ops == 4 && result.operators == 4); // the sum counts
    mirage_ugraph_destroy(result.graph);
    mirage_ugraph_destroy(graph);
  }
  mirage_replay_destroy(replay);
  mirage_ugraph_destroy(program);
}

// What is replayed first does not matter.
static void test_order_of_replays(void **state) {
  MirageUGraph *program = linear(16, 1024, 512), *right = looped(16, 1024, 512, 8, 8);
  MirageUGraph *foreign = begin("foreign");
  Value x = matrix(foreign, 16, 1024), w = matrix(foreign, 1024, 512);
  end(foreign, matmul(foreign, binary(foreign, MIRAGE_OP_ADD, x, x), w));
  MirageSearchOptions options = defaults();
  MirageReplay *replay = replay_of(program, &options);
  for (uint32_t i = 0; i < 3; i++) {
    MirageReplayResult cut = run(replay, foreign), met = run(replay, right);
    assert_int_equal(cut.cut, MIRAGE_REPLAY_EXPRESSION);
    assert_int_equal(cut.op, MIRAGE_OP_ADD);
    assert_true(met.in_space);
    mirage_ugraph_destroy(met.graph);
  }
  mirage_replay_destroy(replay);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(right);
  mirage_ugraph_destroy(foreign);
}

static void test_other_shapes_are_refused(void **state) {
  MirageUGraph *program = linear(16, 1024, 512), *other = linear(16, 512, 512);
  MirageSearchOptions options = defaults();
  MirageReplay *replay = replay_of(program, &options);
  MirageReplayResult result;
  assert_int_equal(mirage_replay_run(replay, other, &diag, &result), MIRAGE_BAD_SHAPE);
  assert_string_equal(last_message, "replay: input 0 is 16x1024xf16 in the program, 16x512xf16 in the candidate");
  assert_null(result.graph);
  mirage_replay_destroy(replay);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(other);
}

static void test_options_are_checked(void **state) {
  MirageUGraph *program = linear(16, 1024, 512);
  MirageSearchOptions options = defaults();
  MirageReplay *replay;
  options.max_block_ops = 40;
  assert_int_equal(mirage_replay_create(program, &options, &diag, &replay), MIRAGE_BAD_ARGUMENT);
  assert_null(replay);
  mirage_ugraph_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_that_is_found_is_met), cmocka_unit_test(test_pieces_are_met),
      cmocka_unit_test(test_other_targets_and_limits), cmocka_unit_test(test_schedules),
      cmocka_unit_test(test_order_of_replays),         cmocka_unit_test(test_other_shapes_are_refused),
      cmocka_unit_test(test_options_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
