// The pool of threads, and searches on it: the same answer and the same funnel whatever their number.
#include "search/run/search_pool.h"
#include "search_helpers.h"

#include <sched.h>

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

// Two trees of tasks side by side. Leaves of the first take longer the higher their number, so threads wait for others.
typedef struct Beside {
  SearchPool *pool;
  uint32_t leaves[2];    // run, of each half
  uint32_t inside_first; // leaves of the second that ran while their thread was busy with the first
} Beside;

static _Thread_local uint32_t first_depth; // tasks of the first that this thread is in

static MirageStatus first_leaf(void *user, uint32_t task) {
  Beside *beside = user;
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i <= 2000 * task; i++)
    sum += i;
  __atomic_add_fetch(&beside->leaves[0], 1, __ATOMIC_RELAXED);
  return MIRAGE_OK;
}

static MirageStatus second_leaf(void *user, uint32_t task) {
  Beside *beside = user;
  __atomic_add_fetch(&beside->leaves[1], 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&beside->inside_first, first_depth > 0, __ATOMIC_RELAXED);
  return MIRAGE_OK;
}

static MirageStatus first_branch(void *user, uint32_t task) {
  first_depth++;
  MirageStatus status = mirage__search_run_tasks(((Beside *)user)->pool, NESTED, first_leaf, user);
  first_depth--;
  return status;
}

static MirageStatus second_branch(void *user, uint32_t task) {
  return mirage__search_run_tasks(((Beside *)user)->pool, NESTED, second_leaf, user);
}

static MirageStatus run_half(void *user, uint32_t half) {
  Beside *beside = user;
  if (half == 1) {
    mirage__search_run_tasks(beside->pool, TASKS, second_branch, beside);
    return MIRAGE_LIMIT;
  }
  first_depth++;
  MirageStatus status = mirage__search_run_tasks(beside->pool, TASKS, first_branch, beside);
  first_depth--;
  return status;
}

// What waits within the first half never takes up work of the second.
static void test_two_halves(void **state) {
  for (uint32_t threads = 0; threads <= 8; threads = threads ? 2 * threads : 1) {
    Beside beside = {.pool = threads ? mirage__search_pool_create(threads) : NULL};
    assert_int_equal(mirage__search_run_beside(beside.pool, run_half, &beside), MIRAGE_LIMIT);
    assert_int_equal(beside.leaves[0], TASKS * NESTED);
    assert_int_equal(beside.leaves[1], TASKS * NESTED);
    assert_int_equal(beside.inside_first, 0);
    mirage__search_pool_destroy(beside.pool);
  }
}

/// Two halves of two tasks: the thread in the second has just done one and finds one of each half.
typedef struct Choice {
  SearchPool *pool;
  uint32_t begun;  // atomic: tasks of the first
  uint32_t missed; // tasks of the first that had not begun when the second's last one did
} Choice;

static MirageStatus run_first(void *user, uint32_t task) {
  Choice *choice = user;
  __atomic_add_fetch(&choice->begun, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&choice->begun, __ATOMIC_SEQ_CST) < 2)
    sched_yield();
  return MIRAGE_OK;
}

static MirageStatus run_second(void *user, uint32_t task) {
  Choice *choice = user;
  while (task == 0 && __atomic_load_n(&choice->begun, __ATOMIC_SEQ_CST) == 0)
    sched_yield();
  if (task == 1)
    choice->missed = 2 - __atomic_load_n(&choice->begun, __ATOMIC_SEQ_CST);
  return MIRAGE_OK;
}

static MirageStatus choose_half(void *user, uint32_t half) {
  return mirage__search_run_tasks(((Choice *)user)->pool, 2, half == 0 ? run_first : run_second, user);
}

static void test_the_first_half_comes_first(void **state) {
  for (uint32_t i = 0; i < 100; i++) {
    Choice choice = {.pool = mirage__search_pool_create(2)};
    assert_int_equal(mirage__search_run_beside(choice.pool, choose_half, &choice), MIRAGE_OK);
    assert_int_equal(choice.missed, 0);
    mirage__search_pool_destroy(choice.pool);
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
      cmocka_unit_test(test_two_halves),
      cmocka_unit_test(test_the_first_half_comes_first),
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
