// test_search_softmax.c - programs that subtract a maximum: the search works without it and puts maxima back, running
// ones with rescaled accumulators where a loop walks the row.
#include "search_helpers.h"

// -------------------------------------------------------------------------------------------- programs

static Value reduce_last(MirageUGraph *g, MirageOp op, Value x) {
  int32_t last = (int32_t)mirage_ugraph_type(g, x)->rank - 1;
  return mirage_ugraph_apply(g, op, 1, &x, &(MirageAttrs){.reduce = {.dim = last, .extent = 1}});
}

static Value softmax_of(MirageUGraph *g, Value x) {
  int32_t last = (int32_t)mirage_ugraph_type(g, x)->rank - 1;
  return mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &x, &(MirageAttrs){.dim = {last}});
}

static MirageUGraph *qknorm(int64_t heads, int64_t rows, int64_t depth, int64_t keys) {
  MirageUGraph *g = begin("qknorm");
  Value q = input(g, 3, (int64_t[]){heads, rows, depth}), k = input(g, 3, (int64_t[]){heads, keys, depth});
  Value v = input(g, 3, (int64_t[]){heads, keys, depth});
  q = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &q, &(MirageAttrs){.eps = {0.0}});
  k = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &k, &(MirageAttrs){.eps = {0.0}});
  return end(g, mirage_ugraph_apply(g, MIRAGE_OP_SDPA, 3, (Value[]){q, k, v}, &(MirageAttrs){.sdpa = {.scale = 1.0}}));
}

// softmax(x w) v + x: a program named nowhere.
static MirageUGraph *softmax_mix(int64_t rows, int64_t depth, int64_t keys) {
  MirageUGraph *g = begin("softmax_mix");
  Value x = matrix(g, rows, depth), w = matrix(g, depth, keys), v = matrix(g, keys, depth);
  return end(g, binary(g, MIRAGE_OP_ADD, matmul(g, softmax_of(g, matmul(g, x, w)), v), x));
}

static MirageUGraph *stable_exp(int64_t rows, int64_t columns) { // not a softmax: the maximum matters
  MirageUGraph *g = begin("stable_exp");
  Value x = matrix(g, rows, columns);
  return end(g, unary(g, MIRAGE_OP_EXP, binary(g, MIRAGE_OP_SUB, x, reduce_last(g, MIRAGE_OP_REDUCE_MAX, x))));
}

static MirageUGraph *log_softmax(int64_t rows, int64_t columns) {
  MirageUGraph *g = begin("log_softmax");
  Value x = matrix(g, rows, columns), d = binary(g, MIRAGE_OP_SUB, x, reduce_last(g, MIRAGE_OP_REDUCE_MAX, x));
  Value sum = reduce_last(g, MIRAGE_OP_REDUCE_SUM, unary(g, MIRAGE_OP_EXP, d));
  return end(g, binary(g, MIRAGE_OP_SUB, d, unary(g, MIRAGE_OP_LOG, sum)));
}

// max + log(sum(exp(x - max))); with `left`, what is only off by the maximum.
static MirageUGraph *logsumexp(int64_t rows, int64_t columns, bool left) {
  MirageUGraph *g = begin("logsumexp");
  Value x = matrix(g, rows, columns), top = reduce_last(g, MIRAGE_OP_REDUCE_MAX, x);
  Value power = unary(g, MIRAGE_OP_EXP, binary(g, MIRAGE_OP_SUB, x, top));
  Value log = unary(g, MIRAGE_OP_LOG, reduce_last(g, MIRAGE_OP_REDUCE_SUM, power));
  return end(g, left ? log : binary(g, MIRAGE_OP_ADD, top, log));
}

// sum(t (x - log(sum(exp x)))), safely: log-likelihoods of soft labels.
static MirageUGraph *cross_entropy(int64_t rows, int64_t columns) {
  MirageUGraph *g = begin("cross_entropy");
  Value x = matrix(g, rows, columns), t = matrix(g, rows, columns);
  Value d = binary(g, MIRAGE_OP_SUB, x, reduce_last(g, MIRAGE_OP_REDUCE_MAX, x));
  Value log = unary(g, MIRAGE_OP_LOG, reduce_last(g, MIRAGE_OP_REDUCE_SUM, unary(g, MIRAGE_OP_EXP, d)));
  return end(g, reduce_last(g, MIRAGE_OP_REDUCE_SUM, binary(g, MIRAGE_OP_MUL, t, binary(g, MIRAGE_OP_SUB, d, log))));
}

// softmax(x) log(sum(exp x)), the second part without a maximum.
static MirageUGraph *half_safe(int64_t rows, int64_t columns) {
  MirageUGraph *g = begin("half_safe");
  Value x = matrix(g, rows, columns);
  Value log = unary(g, MIRAGE_OP_LOG, reduce_last(g, MIRAGE_OP_REDUCE_SUM, unary(g, MIRAGE_OP_EXP, x)));
  return end(g, binary(g, MIRAGE_OP_MUL, softmax_of(g, x), log));
}

// ---------------------------------------------------------------------------------------------- checks

/// What stabilises a candidate: maxima, and how its loop carries values.
typedef struct Carried {
  uint32_t maxima, sums, rescaled, loops;
} Carried;

static void add_carried(const MirageUGraph *graph, MirageRegion region, Carried *carried) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    for (uint32_t c = 0; node.op == MIRAGE_OP_LOOP && c < node.attrs->loop.num_carries; c++) {
      MirageCombine combine = node.attrs->loop.carries[c].combine;
      carried->maxima += combine == MIRAGE_COMBINE_MAX;
      carried->sums += combine == MIRAGE_COMBINE_SUM;
      carried->rescaled += combine == MIRAGE_COMBINE_RESCALE;
    }
    carried->loops += node.op == MIRAGE_OP_LOOP;
    if (node.region.index)
      add_carried(graph, node.region, carried);
  }
}

static Carried carried_by(const MirageUGraph *graph) {
  Carried carried = {0};
  add_carried(graph, mirage_ugraph_body(graph), &carried);
  return carried;
}

// Little work, exhausted, better than the program's own kernels; the best is proven, and some are an online softmax: one
// running maximum, two rescaled sums.
static void check_online(MirageUGraph *program) {
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0 && result.funnel.exhausted);
  assert_true(took_less(&result.funnel, 2000000));
  assert_true(mirage_ugraph_get_meta(result.candidates[0])->cost.time_us < program_cost(program, options.target));
  bool online = false;
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    Carried carried = carried_by(result.candidates[i]);
    online |= carried.loops == 1 && carried.maxima == 1 && carried.sums == 0 && carried.rescaled == 2;
    if (i == 0)
      assert_equivalent(program, result.candidates[i]);
  }
  if (!online)
    fail_msg("%s: no online softmax among %u", mirage_ugraph_get_meta(program)->name, result.num_candidates);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// ----------------------------------------------------------------------------------------------- tests

static void test_online_softmax_is_found_and_proven(void **state) {
  check_online(sdpa(2, 256, 64, 4096));
  check_online(qknorm(2, 256, 64, 4096));
  check_online(softmax_mix(256, 64, 4096));
}

static void test_values_are_right(void **state) {
  MirageSearchOptions options = defaults();
  check_all(sdpa(2, 6, 4, 24), &options, 4);
  check_all(qknorm(1, 5, 6, 18), &options, 4);
  check_all(softmax_mix(5, 8, 30), &options, 4);
  check_all(softmax(4, 37), &options, 1);
}

static uint32_t count_maxima(const MirageUGraph *graph, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  uint32_t count = count_in(graph, region, MIRAGE_OP_REDUCE_MAX);
  for (uint32_t i = 0; i < view.num_nodes; i++)
    if (mirage_ugraph_node(graph, view.nodes[i]).op == MIRAGE_OP_LOOP)
      count += count_maxima(graph, mirage_ugraph_node(graph, view.nodes[i]).region);
  return count;
}

// A logarithm turns the factor exp(max) into a summand: the space of the whole has some ten tensors, every candidate is
// proven, and some walk the row once with a running maximum.
static void check_logarithm(MirageUGraph *program) {
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0 && result.funnel.whole_exhausted);
  bool online = false;
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    Carried carried = carried_by(result.candidates[i]);
    online |= carried.maxima == 1 && carried.rescaled == 1;
    assert_equivalent(program, result.candidates[i]);
  }
  if (!online)
    fail_msg("%s: no running maximum", mirage_ugraph_get_meta(program)->name);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_logarithms_carry_the_maximum(void **state) {
  check_logarithm(log_softmax(64, 1 << 18)); // a row that fits a block is predicted to be better off whole
  check_logarithm(logsumexp(64, 1 << 18, false));
  check_logarithm(cross_entropy(64, 1 << 18));
  MirageSearchOptions options = defaults();
  options.max_states = 20000;
  check_all(logsumexp(3, 26, false), &options, 2);
  check_all(cross_entropy(3, 26), &options, 4);
}

// No proof knows log(a exp(m)) = log(a) + m: where the program takes no such logarithm, no candidate does.
static void test_no_logarithm_is_stabilised_that_was_not(void **state) {
  MirageUGraph *program = half_safe(3, 26);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  for (uint32_t i = 0; i < result.num_candidates; i++)
    assert_equivalent(program, result.candidates[i]);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// A maximum on which the value depends stays what it is.
static void test_maxima_that_matter_are_kept(void **state) {
  MirageSearchOptions options = defaults();
  check_all(stable_exp(4, 10), &options, 1);
  check_all(log_softmax(4, 10), &options, 1);
  check_all(logsumexp(4, 10, true), &options, 1);
  MirageUGraph *program = stable_exp(4, 10);
  MirageSearchResult result = search(program, &options);
  uint32_t whole = 0; // those of one kernel
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    if (mirage_ugraph_region(result.candidates[i], mirage_ugraph_body(result.candidates[i])).num_nodes > 2)
      continue;
    assert_int_equal(count_maxima(result.candidates[i], only_custom(result.candidates[i]).region), 1);
    whole++;
  }
  assert_true(whole > 0);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// A program without a maximum gets none.
static void test_no_maximum_is_invented(void **state) {
  MirageUGraph *program = attention(2, 6, 4, 24);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  for (uint32_t i = 0; i < result.num_candidates; i++) {
    Carried carried = carried_by(result.candidates[i]);
    assert_int_equal(carried.maxima + carried.rescaled, 0);
  }
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static MirageUGraph *safe_attention(int64_t rows, int64_t depth, int64_t keys) {
  MirageUGraph *g = begin("safe_attention");
  Value q = matrix(g, rows, depth), k = matrix(g, depth, keys), v = matrix(g, keys, depth);
  return end(g, matmul(g, softmax_of(g, matmul(g, q, k)), v));
}

// Keys that no number of iterations divides: the tail is bottom below the maximum, in loops and in parts of a split.
static void test_ragged_keys_are_masked(void **state) {
  static const int64_t keys[] = {23, 37};
  for (int i = 0; i < 2; i++) {
    MirageUGraph *program = safe_attention(5, 8, keys[i]);
    MirageSearchOptions options = defaults();
    options.franges = (MirageInt64List){(const int64_t[]){3, 5}, 2};
    MirageSearchResult result = search(program, &options);
    uint32_t looped = 0;
    for (uint32_t c = 0; c < result.num_candidates; c++) {
      looped += carried_by(result.candidates[c]).loops > 0;
      double relative = difference(program, result.candidates[c]);
      if (!(relative < 1e-10))
        fail_msg("%lld keys, candidate %u: relative error %g", (long long)keys[i], c, relative);
      assert_equivalent(program, result.candidates[c]);
    }
    assert_true(looped > 0);
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(program);
  }
}

// Without a maximum, and where a norm would divide by a masked row, only divisors are tried where exponentials are summed: 45 = 3 * 15.
static void test_other_ragged_loops_divide(void **state) {
  MirageSearchOptions options = defaults();
  options.franges = (MirageInt64List){(const int64_t[]){2, 3, 4}, 3};
  MirageUGraph *programs[] = {attention(1, 6, 4, 45), qknorm(1, 5, 6, 45)};
  for (int i = 0; i < 2; i++) {
    MirageSearchResult result = search(programs[i], &options);
    assert_true(result.num_candidates > 0);
    for (uint32_t c = 0; c < result.num_candidates; c++) {
      const MirageUGraph *graph = result.candidates[c];
      for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++) {
        MirageNodeView node = mirage_ugraph_node(graph, (MirageNode){n});
        if (node.op == MIRAGE_OP_LOOP && count_in(graph, node.region, MIRAGE_OP_EXP) > 0 &&
            count_in(graph, node.region, MIRAGE_OP_REDUCE_SUM) > 0)
          assert_int_equal(node.attrs->loop.range, 3);
      }
      assert_true(difference(programs[i], graph) < 1e-10);
    }
    mirage_search_result_deinit(&result);
    mirage_ugraph_destroy(programs[i]);
  }
}

// q and k are normalised after their product, by reciprocals: no element of the scores is divided.
static void test_scores_are_not_divided(void **state) {
  MirageUGraph *program = qknorm(4, 256, 64, 4096);
  MirageSearchOptions options = defaults();
  MirageSearchResult result = search(program, &options);
  assert_true(result.num_candidates > 0);
  const MirageUGraph *best = result.candidates[0];
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(best); n++) {
    MirageNodeView node = mirage_ugraph_node(best, (MirageNode){n});
    MirageNode around = mirage_ugraph_region(best, node.parent).owner;
    if (node.op == MIRAGE_OP_DIV && around.index && mirage_ugraph_node(best, around).op == MIRAGE_OP_LOOP)
      assert_true(mirage_type_elements(mirage_ugraph_type(best, node.first_result)) <= 256);
  }
  assert_equivalent(program, best);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_online_softmax_is_found_and_proven),
      cmocka_unit_test(test_values_are_right),
      cmocka_unit_test(test_logarithms_carry_the_maximum),
      cmocka_unit_test(test_no_logarithm_is_stabilised_that_was_not),
      cmocka_unit_test(test_maxima_that_matter_are_kept),
      cmocka_unit_test(test_no_maximum_is_invented),
      cmocka_unit_test(test_ragged_keys_are_masked),
      cmocka_unit_test(test_other_ragged_loops_divide),
      cmocka_unit_test(test_scores_are_not_divided),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
