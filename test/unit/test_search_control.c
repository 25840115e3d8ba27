// test_search_control.c - a search that is watched, stopped, interrupted or given a budget: what it tells is true, what
// it has found by then is right, and one that is not stopped does not change.
#include "search_helpers.h"

// Many states: without its ideas the search goes nowhere for as long as one lets it.
static MirageSearchOptions endless(void) {
  MirageSearchOptions options = defaults();
  options.max_states = (uint64_t)1 << 40;
  options.no_prune_expr = options.no_prune_axis = options.no_merge = options.no_keep_products = true;
  return options;
}

/// What a watching caller sees, and when it interrupts.
typedef struct Watcher {
  int inside;    // calls that run now
  int interrupt; // the flag
  bool interrupts_at_structure;
  uint32_t calls, wrong;
  MirageSearchProgress last;
} Watcher;

static void watch(void *user, const MirageSearchProgress *progress) {
  Watcher *watcher = user;
  watcher->wrong += __atomic_add_fetch(&watcher->inside, 1, __ATOMIC_SEQ_CST) != 1;
  const MirageSearchProgress *last = &watcher->last;
  watcher->wrong += watcher->calls && progress->phase < last->phase;
  watcher->wrong += progress->funnel.states < last->funnel.states || progress->funnel.seconds < last->funnel.seconds;
  watcher->wrong += progress->total && progress->done > progress->total;
  watcher->last = *progress;
  watcher->calls++;
  if (watcher->interrupts_at_structure && progress->funnel.structures > 0)
    __atomic_store_n(&watcher->interrupt, 1, __ATOMIC_RELAXED);
  __atomic_sub_fetch(&watcher->inside, 1, __ATOMIC_SEQ_CST);
}

static MirageSearchControl watched_by(Watcher *watcher) {
  return (MirageSearchControl){.progress = watch, .user = watcher, .interval = 1e-9, .interrupt = &watcher->interrupt};
}

static void test_watching_changes_nothing(void **state) {
  MirageUGraph *program = gated_mlp(2, 512, 512);
  MirageSearchOptions options = defaults();
  MirageSearchResult alone = search(program, &options);
  for (uint32_t threads = 1; threads <= 4; threads++) {
    Watcher watcher = {0};
    MirageSearchControl control = watched_by(&watcher);
    control.time_budget = 1000;
    options.num_threads = threads;
    options.control = &control;
    MirageSearchResult watched = search(program, &options);
    assert_same_result(&alone, &watched);
    assert_true(watcher.calls > 3);
    assert_int_equal(watcher.wrong, 0);
    assert_int_equal(watcher.last.phase, MIRAGE_PHASE_PIECES);
    assert_true(watcher.last.funnel.states > 0 && watcher.last.funnel.states <= alone.funnel.states);
    assert_true(watcher.last.seconds_left > 0 && watcher.last.seconds_left < 1000);
    double best = mirage_ugraph_get_meta(watched.candidates[0])->cost.time_us;
    assert_true(fabs(watcher.last.best_us - best) < 1e-9); // one kernel wins here
    mirage_search_result_deinit(&watched);
  }
  mirage_search_result_deinit(&alone);
  mirage_ugraph_destroy(program);
}

static void test_interrupt_before_it_begins(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 4096, 6144);
  Watcher watcher = {.interrupt = 1};
  MirageSearchControl control = watched_by(&watcher);
  MirageSearchOptions options = defaults();
  options.control = &control;
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.num_candidates, 0);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_INTERRUPT);
  assert_false(result.funnel.exhausted || result.funnel.whole_exhausted);
  assert_string_equal(result.reason, "stopped by interrupt before a block graph was met");
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// Stopped once it has met a block graph: what it has met by then is scheduled and built, and right.
static void test_interrupt_keeps_what_was_found(void **state) {
  MirageUGraph *program = attention(2, 8, 8, 24);
  Watcher watcher = {.interrupts_at_structure = true};
  MirageSearchControl control = watched_by(&watcher);
  MirageSearchOptions options = defaults();
  options.max_block_ops = 16;
  options.max_states = (uint64_t)1 << 40;
  options.control = &control;
  MirageSearchResult result = search(program, &options);
  assert_true(watcher.interrupt);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_INTERRUPT);
  assert_false(result.funnel.exhausted);
  assert_true(result.num_candidates > 0);
  for (uint32_t i = 0; i < result.num_candidates; i++)
    assert_true(difference(program, result.candidates[i]) < 1e-10);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

static void test_budget_ends_the_search(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 64, 64);
  MirageSearchControl control = {.time_budget = 0.3};
  MirageSearchOptions options = endless();
  options.control = &control;
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_TIME_BUDGET);
  assert_false(result.funnel.exhausted);
  assert_true(result.funnel.seconds >= 0.3 * 2 / 3); // how long after it depends on what else the machine does
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

// The greater stop is told; it is only told where it struck.
static void test_reasons_are_told(void **state) {
  MirageUGraph *program = gated_mlp(8, 4096, 4096);
  MirageSearchOptions options = defaults();
  options.max_states = 20;
  MirageSearchResult result = search(program, &options);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_MAX_STATES);
  assert_string_equal(result.reason, "stopped by max-states before a block graph was met");
  mirage_search_result_deinit(&result);
  options.max_states = 0;
  options.max_block_ops = 2;
  result = search(program, &options);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_NONE);
  assert_true(result.funnel.exhausted);
  assert_string_equal(result.reason, "no block graph of at most 2 operators computes it");
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);

  program = softmax(2, 1 << 22);
  options = defaults();
  options.max_loops = 1;
  result = search(program, &options);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_NONE);
  if (!strstr(result.reason, "no block can hold a row of input 0 (2x4194304xf16)"))
    fail_msg("%s", result.reason);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);

  program = rmsnorm_linear(2, 4096, 6144);
  result = search(program, &options);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_NONE);
  assert_string_equal(result.reason, "");
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
  assert_string_equal(mirage_stop_name(MIRAGE_STOP_NONE), "");
  assert_string_equal(mirage_stop_name((MirageStop)99), "");
}

// ---------------------------------------------------------------------------------------- `optimal`

static void test_optimal_covers_the_space(void **state) {
  MirageUGraph *programs[] = {rmsnorm_linear(2, 64, 96), lora(4, 32, 8, 32), attention(2, 8, 8, 24)};
  for (uint32_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    MirageSearchOptions options = defaults();
    options.max_block_ops = 10;
    MirageSearchResult usual = search(programs[i], &options);
    options.optimal = true;
    MirageSearchResult all = search(programs[i], &options);
    assert_true(all.funnel.exhausted && all.funnel.stop == MIRAGE_STOP_NONE);
    assert_true(all.funnel.structures >= usual.funnel.structures);
    assert_true(all.funnel.scheduled >= usual.funnel.scheduled);
    assert_true(usual.num_candidates > 0 && all.num_candidates >= usual.num_candidates);
    double best = mirage_ugraph_get_meta(all.candidates[0])->cost.time_us;
    assert_true(best <= mirage_ugraph_get_meta(usual.candidates[0])->cost.time_us + 1e-9);
    mirage_search_result_deinit(&usual);
    options.num_threads = 5;
    MirageSearchResult again = search(programs[i], &options);
    assert_same_result(&all, &again);
    mirage_search_result_deinit(&again);
    mirage_search_result_deinit(&all);
    mirage_ugraph_destroy(programs[i]);
  }
}

// Graphs with more links in their chains than the fewest, which the usual search leaves out.
static void test_optimal_deepens_to_the_end(void **state) {
  MirageUGraph *program = gated_mlp(2, 64, 64);
  MirageSearchOptions options = defaults();
  MirageSearchResult usual = search(program, &options);
  options.optimal = true;
  MirageSearchResult all = search(program, &options);
  assert_true(usual.funnel.exhausted && all.funnel.exhausted);
  assert_true(all.funnel.structures > usual.funnel.structures);
  mirage_search_result_deinit(&usual);
  mirage_search_result_deinit(&all);
  mirage_ugraph_destroy(program);
}

// Whatever cuts the space, it is not said to be exhausted.
static void test_optimal_says_when_it_is_cut(void **state) {
  MirageUGraph *program = rmsnorm_linear(2, 64, 64);
  MirageSearchOptions options = defaults();
  options.optimal = true;
  options.max_states = 300;
  MirageSearchResult result = search(program, &options);
  assert_false(result.funnel.exhausted);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_MAX_STATES);
  mirage_search_result_deinit(&result);

  int interrupt = 1;
  MirageSearchControl control = {.interrupt = &interrupt};
  options.max_states = 0;
  options.control = &control;
  result = search(program, &options);
  assert_false(result.funnel.exhausted);
  mirage_search_result_deinit(&result);

  control = (MirageSearchControl){.time_budget = 1e-6};
  result = search(program, &options);
  assert_false(result.funnel.exhausted);
  assert_int_equal(result.funnel.stop, MIRAGE_STOP_TIME_BUDGET);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);

  MirageUGraph *g = begin("reshaped"); // pieces of it can be searched, the whole cannot
  Value x = matrix(g, 16, 64), w = matrix(g, 64, 128), y = unary(g, MIRAGE_OP_EXP, matmul(g, x, w));
  MirageAttrs wide = {.shape = {mirage_type_tensor(MIRAGE_F16, 2, (int64_t[]){32, 64})}};
  y = mirage_ugraph_apply(g, MIRAGE_OP_RESHAPE, 1, &y, &wide);
  program = end(g, unary(g, MIRAGE_OP_EXP, y));
  options.control = NULL;
  result = search(program, &options);
  assert_true(result.num_candidates > 0);
  assert_false(result.funnel.exhausted || result.funnel.whole_exhausted);
  assert_memory_equal(result.reason, "reshape: ", 9);
  mirage_search_result_deinit(&result);
  mirage_ugraph_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_watching_changes_nothing),
      cmocka_unit_test(test_interrupt_before_it_begins),
      cmocka_unit_test(test_interrupt_keeps_what_was_found),
      cmocka_unit_test(test_budget_ends_the_search),
      cmocka_unit_test(test_reasons_are_told),
      cmocka_unit_test(test_optimal_covers_the_space),
      cmocka_unit_test(test_optimal_deepens_to_the_end),
      cmocka_unit_test(test_optimal_says_when_it_is_cut),
  };
  return cmocka_run_group_tests_name("search control", tests, NULL, NULL);
}
