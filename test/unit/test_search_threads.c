// The pool of threads, and searches on it: the same answer and the same funnel whatever their number.
#include "search/search_pool.h"
#include "search_helpers.h"

// ------------------------------------------------------------------------------------------------ pool

enum { TASKS = 200, NESTED = 7 };

typedef struct Sums {
  SearchPool *pool;
  uint64_t parts[TASKS][NESTED];
  uint32_t runs[TASKS];
} Sums;

typedef struct Inner {
  Sums *sums;
  uint32_t outer;
} Inner;

static MirageStatus add_inner(void *user, uint32_t task) {
  Inner *inner = user;
  for (uint64_t i = 0; i <= 50 * task; i++)
    inner->sums->parts[inner->outer][task] += i;
  return MIRAGE_OK;
}

static MirageStatus add_outer(void *user, uint32_t task) {
  Inner inner = {user, task};
  inner.sums->runs[task]++;
  return mirage__search_run_tasks(inner.sums->pool, NESTED, add_inner, &inner);
}

static void check_nested(uint32_t threads) {
  Sums *sums = calloc(1, sizeof *sums);
  sums->pool = threads ? mirage__search_pool_create(threads) : NULL;
  assert_int_equal(mirage__search_run_tasks(sums->pool, TASKS, add_outer, sums), MIRAGE_OK);
  for (uint64_t i = 0; i < TASKS; i++) {
    assert_int_equal(sums->runs[i], 1);
    for (uint64_t j = 0; j < NESTED; j++)
      assert_int_equal(sums->parts[i][j], 50 * j * (50 * j + 1) / 2);
  }
  mirage__search_pool_destroy(sums->pool);
  free(sums);
}

static void test_each_task_runs_once(void **state) {
  check_nested(0);
  check_nested(1);
  check_nested(2);
  check_nested(8);
}

static MirageStatus fail_some(void *user, uint32_t task) {
  bool *run = user;
  run[task] = true;
  return task == 151 ? MIRAGE_LIMIT : task % 100 == 60 ? MIRAGE_NO_MEMORY : MIRAGE_OK;
}

static void test_the_first_failure_counts_and_all_run(void **state) {
  for (uint32_t threads = 1; threads <= 8; threads *= 2) {
    bool run[TASKS] = {false};
    SearchPool *pool = mirage__search_pool_create(threads);
    assert_int_equal(mirage__search_run_tasks(pool, TASKS, fail_some, run), MIRAGE_NO_MEMORY);
    for (uint32_t i = 0; i < TASKS; i++)
      assert_true(run[i]);
    assert_int_equal(mirage__search_run_tasks(pool, 0, fail_some, run), MIRAGE_OK);
    mirage__search_pool_destroy(pool);
  }
}

// -------------------------------------------------------------------------------------------- searches

// Takes the program.
static void check_same_answer(MirageUGraph *program, uint64_t max_states, bool exhausted) {
  static const uint32_t threads[] = {1, 2, 8};
  MirageSearchResult expected = {0};
  for (uint32_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    MirageSearchOptions options = defaults();
    options.num_threads = threads[i];
    options.max_states = max_states;
    MirageSearchResult result = search(program, &options);
    assert_int_equal(result.funnel.exhausted, exhausted);
    assert_true(result.num_candidates > 0);
    if (i == 0) {
      expected = result;
    } else {
      assert_same_result(&result, &expected);
      mirage_search_result_deinit(&result);
    }
  }
  mirage_search_result_deinit(&expected);
  mirage_ugraph_destroy(program);
}

static void test_lora(void **state) { check_same_answer(lora(2, 512, 16, 512), 0, true); }
static void test_gated_mlp(void **state) { check_same_answer(gated_mlp(8, 4096, 4096), 0, true); }
// One row: outer products align, and walks of block graphs are long enough to be shared.
static void test_long_walks(void **state) { check_same_answer(gated_mlp(1, 4096, 4096), 0, true); }
static void test_rmsnorm_linear(void **state) { check_same_answer(rmsnorm_linear(2, 4096, 6144), 0, true); }
static void test_attention(void **state) { check_same_answer(sdpa(2, 256, 64, 4096), 0, true); }

// Two layers, whose pieces are searched too, one of them twice.
static void test_pieces(void **state) {
  MirageUGraph *g = begin("layers");
  Value x = matrix(g, 8, 512), w[4];
  for (uint32_t i = 0; i < 4; i++)
    w[i] = matrix(g, 512, 512);
  for (uint32_t i = 0; i < 4; i += 2)
    x = matmul(g, unary(g, MIRAGE_OP_RELU, matmul(g, x, w[i])), w[i + 1]);
  check_same_answer(end(g, x), 0, true);
}

// A limit is reached at the same place.
static void test_limits(void **state) {
  check_same_answer(gated_mlp(8, 4096, 4096), 1000, false);
  check_same_answer(rmsnorm_linear(2, 4096, 6144), 600, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_task_runs_once),
      cmocka_unit_test(test_the_first_failure_counts_and_all_run),
      cmocka_unit_test(test_lora),
      cmocka_unit_test(test_gated_mlp),
      cmocka_unit_test(test_long_walks),
      cmocka_unit_test(test_rmsnorm_linear),
      cmocka_unit_test(test_attention),
      cmocka_unit_test(test_pieces),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
