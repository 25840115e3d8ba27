// test_eval_memory.c - arrays that evaluations hand on: which of them one gets, how many are kept, and that results are the same.
#include "mirage/eval.h"

#include "block_graphs.h"
#include "capture.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KIB = 1024, LARGE = 400 * KIB };

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

static void test_the_array_that_fits(void **state) {
  (void)state;
  MirageEvalMemory *memory = mirage_eval_memory_create(0);
  char *a = mirage_eval_memory_take(memory, LARGE), *b = mirage_eval_memory_take(memory, LARGE + 4);
  assert_true(a && b && a != b);
  assert_int_equal(mirage_eval_memory_bytes(memory), 0);
  mirage_eval_memory_give(memory, b, LARGE + 4);
  mirage_eval_memory_give(memory, a, LARGE);
  assert_int_equal(mirage_eval_memory_bytes(memory), 2 * LARGE + 4);
  char *again = mirage_eval_memory_take(memory, LARGE); // the smaller of the two, given last or not
  assert_ptr_equal(again, a);
  memset(again, 1, LARGE);
  char *other = mirage_eval_memory_take(memory, LARGE + 5); // larger than what is left
  assert_ptr_not_equal(other, b);
  char *less = mirage_eval_memory_take(memory, LARGE * 4 / 5 - 4); // more than a quarter is too much
  assert_ptr_not_equal(less, b);
  char *fits = mirage_eval_memory_take(memory, LARGE * 4 / 5 + 4);
  assert_ptr_equal(fits, b);
  assert_int_equal(mirage_eval_memory_bytes(memory), 0);
  mirage_eval_memory_give(memory, again, LARGE);
  mirage_eval_memory_give(memory, other, LARGE + 5);
  mirage_eval_memory_give(memory, less, LARGE * 4 / 5 - 4);
  mirage_eval_memory_give(memory, fits, LARGE * 4 / 5 + 4);
  mirage_eval_memory_destroy(memory);
}

static void test_what_is_kept(void **state) {
  (void)state;
  MirageEvalMemory *memory = mirage_eval_memory_create(LARGE);
  void *small = mirage_eval_memory_take(memory, KIB), *none = mirage_eval_memory_take(memory, 0);
  assert_non_null(none);
  mirage_eval_memory_give(memory, small, KIB); // the C library does as well with these
  mirage_eval_memory_give(memory, none, 0);
  mirage_eval_memory_give(memory, NULL, LARGE);
  assert_int_equal(mirage_eval_memory_bytes(memory), 0);
  void *a = mirage_eval_memory_take(memory, LARGE), *b = mirage_eval_memory_take(memory, LARGE / 2);
  void *c = mirage_eval_memory_take(memory, LARGE + 1);
  mirage_eval_memory_give(memory, c, LARGE + 1); // more than it may keep at all
  assert_int_equal(mirage_eval_memory_bytes(memory), 0);
  mirage_eval_memory_give(memory, b, LARGE / 2);
  mirage_eval_memory_give(memory, a, LARGE); // and with the other
  assert_int_equal(mirage_eval_memory_bytes(memory), LARGE / 2);
  mirage_eval_memory_destroy(memory);
  mirage_eval_memory_destroy(NULL);
  void *d = mirage_eval_memory_take(NULL, LARGE);
  assert_non_null(d);
  mirage_eval_memory_give(NULL, d, LARGE);
}

// More arrays than it has room to note.
static void test_many(void **state) {
  (void)state;
  enum { MANY = 600, EACH = 64 * KIB };
  static void *arrays[MANY];
  MirageEvalMemory *memory = mirage_eval_memory_create(0);
  for (int i = 0; i < MANY; i++)
    arrays[i] = mirage_eval_memory_take(memory, EACH);
  for (int i = 0; i < MANY; i++)
    mirage_eval_memory_give(memory, arrays[i], EACH);
  assert_true(mirage_eval_memory_bytes(memory) > 0 && mirage_eval_memory_bytes(memory) <= (size_t)MANY * EACH);
  mirage_eval_memory_destroy(memory);
}

// ---------------------------------------------------------------------------------------------------------- evaluation

static const Sizes SIZES = {.m = 128, .n = 512, .rank = 32, .grid = 4, .loop = 4};

static double q[128 * 32], k[32 * 512], v[512 * 32];

static int set_inputs(void **state) {
  (void)state;
  for (int i = 0; i < 128 * 32; i++)
    q[i] = (i * 7 % 13 - 6) / 8.0;
  for (int i = 0; i < 32 * 512; i++)
    k[i] = v[i] = (i * 5 % 17 - 8) / 8.0;
  return 0;
}

static MirageStatus run(const MirageUGraph *graph, const MirageEvalOptions *options, const MirageDiag *diag,
                        double *y) {
  return mirage_eval(graph, mirage_domain_f64(), (const void *const[]){q, k, v}, (void *const[]){y}, options, diag);
}

static void evaluate(const MirageUGraph *graph, const MirageEvalOptions *options, double *y) {
  MirageStatus status = run(graph, options, &DIAG, y);
  assert_string_equal(capture.text, "");
  assert_int_equal(status, MIRAGE_OK);
}

static void test_evaluations(void **state) {
  (void)state;
  static double alone[128 * 32], shared[128 * 32];
  MirageUGraph *graphs[] = {attention_program(SIZES, true, &DIAG), attention_flash(SIZES, FLASH_RIGHT, &DIAG)};
  for (uint32_t threads = 1; threads <= 4; threads += 3) {
    MirageEvalMemory *memory = mirage_eval_memory_create(0);
    const MirageEvalOptions plain = {.num_threads = threads}, keeping = {.num_threads = threads, .memory = memory};
    size_t kept = 0;
    for (int round = 0; round < 3; round++) {
      for (int g = 0; g < 2; g++) {
        evaluate(graphs[g], &plain, alone);
        evaluate(graphs[g], &keeping, shared);
        assert_memory_equal(alone, shared, sizeof alone);
      }
      if (round && threads == 1) // all that the second round needs is there; of several threads some may run no group
        assert_int_equal(mirage_eval_memory_bytes(memory), kept);
      kept = mirage_eval_memory_bytes(memory);
      assert_true(kept >= 128 * 512 * sizeof(double)); // the scores, at least
    }
    mirage_eval_memory_destroy(memory);
  }
  for (int g = 0; g < 2; g++)
    mirage_ugraph_destroy(graphs[g]);
}

// What an evaluation may have does not change by what others have left.
static void test_limits(void **state) {
  (void)state;
  static double y[128 * 32];
  MirageUGraph *graph = attention_program(SIZES, true, &DIAG);
  MirageEvalMemory *memory = mirage_eval_memory_create(0);
  evaluate(graph, &(MirageEvalOptions){.memory = memory}, y);
  const MirageEvalOptions little = {.memory = memory, .max_bytes = 128 * 512 * sizeof(double)};
  assert_int_equal(run(graph, &little, &DIAG, y), MIRAGE_LIMIT);
  assert_non_null(strstr(capture.text, "memory limit reached"));
  capture.text[0] = '\0';
  mirage_eval_memory_destroy(memory);
  mirage_ugraph_destroy(graph);
}

typedef struct Shared {
  const MirageUGraph *graph;
  MirageEvalMemory *memory;
  MirageStatus status;
  double y[128 * 32];
} Shared;

static void *evaluate_often(void *user) {
  Shared *shared = user;
  const MirageEvalOptions options = {.num_threads = 2, .memory = shared->memory};
  for (int i = 0; i < 5 && shared->status == MIRAGE_OK; i++)
    shared->status = run(shared->graph, &options, NULL, shared->y);
  return NULL;
}

static void test_several_at_once(void **state) {
  (void)state;
  static double alone[128 * 32];
  static Shared shared[3];
  MirageUGraph *graph = attention_flash(SIZES, FLASH_RIGHT, &DIAG);
  MirageEvalMemory *memory = mirage_eval_memory_create(0);
  pthread_t threads[3];
  evaluate(graph, NULL, alone);
  for (int t = 0; t < 3; t++) {
    shared[t].graph = graph, shared[t].memory = memory;
    assert_int_equal(pthread_create(&threads[t], NULL, evaluate_often, &shared[t]), 0);
  }
  for (int t = 0; t < 3; t++)
    pthread_join(threads[t], NULL);
  for (int t = 0; t < 3; t++) {
    assert_int_equal(shared[t].status, MIRAGE_OK);
    assert_memory_equal(shared[t].y, alone, sizeof alone);
  }
  mirage_eval_memory_destroy(memory);
  mirage_ugraph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_array_that_fits),
      cmocka_unit_test(test_what_is_kept),
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_evaluations),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_several_at_once),
  };
  return cmocka_run_group_tests(tests, set_inputs, NULL);
}
