// test_eval_threads.c - one evaluation on several threads: the same bits at any number of them, the same errors, and an
// end when somebody asks for it. Built once more under the thread sanitizer (test_eval_races).
#include "../verify-stats/benchmarks.h"
#include "block_graphs.h"
#include "field/field_internal.h"
#include "mirage/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZED 1 // ten times slower: fewer and smaller evaluations
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { MOST_THREADS = 7, LONG = SANITIZED ? 250 : 1000, SHARE = SANITIZED ? 32 : 8 };

static char last_message[256];
static void keep_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  snprintf(last_message, sizeof last_message, "%s", message);
}
static const MirageDiag DIAG = {keep_message, NULL};

static size_t elements_of(const MirageUGraph *g, MirageValue v) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(g, v));
}

// Output 0 at a point of its own field; NULL and the status where evaluation fails. The inputs are the field's.
static MirageResidue *evaluate_in(MirageField *field, const MirageUGraph *g, uint32_t threads, MirageStatus *status) {
  MirageResidue *inputs[8], *out = malloc(elements_of(g, mirage_ugraph_get_output(g, 0)) * sizeof *out);
  uint32_t count = mirage_ugraph_num_inputs(g);
  for (uint32_t i = 0; i < count; i++) {
    size_t n = elements_of(g, mirage_ugraph_get_input(g, i));
    inputs[i] = malloc(n * sizeof *inputs[i]);
    mirage_field_draw(field, i, n, inputs[i]);
  }
  const MirageEvalOptions options = {.num_threads = threads};
  last_message[0] = 0;
  *status =
      mirage_eval(g, mirage_field_domain(field), (const void *const *)inputs, (void *const[]){out}, &options, &DIAG);
  for (uint32_t i = 0; i < count; i++)
    free(inputs[i]);
  if (*status == MIRAGE_OK)
    return out;
  free(out);
  return NULL;
}

static MirageResidue *evaluate(const MirageUGraph *g, MirageFieldModes modes, uint32_t threads, MirageStatus *status) {
  MirageField *field = mirage_field_create_with(21, 0, modes);
  MirageResidue *out = evaluate_in(field, g, threads, status);
  mirage_field_destroy(field);
  return out;
}

// ------------------------------------------------------------------------------------------------------------ same
// bits

static void expect_same_bits(const char *name, const MirageUGraph *g, MirageFieldModes modes) {
  static const uint32_t counts[] = {2, 3, MOST_THREADS};
  size_t n = elements_of(g, mirage_ugraph_get_output(g, 0));
  MirageStatus alone, status;
  MirageResidue *expected = evaluate(g, modes, 1, &alone);
  for (size_t i = 0; i < (SANITIZED ? 1 : sizeof counts / sizeof *counts); i++) {
    MirageResidue *got = evaluate(g, modes, counts[i], &status);
    assert_int_equal(status, alone);
    if (got && memcmp(got, expected, n * sizeof *got)) {
      print_message("%s: other bits on %u threads\n", name, counts[i]);
      fail();
    }
    free(got);
  }
  free(expected);
}

// Long extents become an eighth: enough for several pieces of each operator, and for the sanitizer.
static Extents reduced(Extents e) {
  e.m = e.m < 32 ? 33 : e.m;
  e.k = e.k > LONG ? e.k / SHARE : e.k;
  e.n = e.n > LONG ? e.n / SHARE : e.n;
  return e;
}

static void results_do_not_depend_on_threads(void **state) {
  static const MirageFieldModes modes[] = {{0}, {.partial = true}, {.partial = true, .free_exp = true}};
  uint32_t built = 0;
  for (uint32_t i = 0; i < NUM_BENCHMARKS; i++) {
    const Benchmark *benchmark = &BENCHMARKS[i];
    Extents extents = benchmark->ragged ? reduced(benchmark->decode) : benchmark->decode;
    if (!benchmark->ragged) {
      extents.k = extents.k > LONG ? extents.k / (SHARE / 2) : extents.k;
      extents.n = extents.n > LONG ? extents.n / (SHARE / 2) : extents.n;
    }
    MirageUGraph *graphs[2] = {benchmark->program(extents, NULL), benchmark->candidate(extents, NULL)};
    for (int g = 0; g < 2; g++) {
      for (size_t m = SANITIZED ? 2 : 0; graphs[g] && m < sizeof modes / sizeof *modes; m++)
        expect_same_bits(benchmark->name, graphs[g], modes[m]);
      built += graphs[g] != NULL;
      mirage_ugraph_destroy(graphs[g]);
    }
  }
  assert_true(built >= NUM_BENCHMARKS); // extents that a pair does not take are left out
}

// Both graphs of a pair in one field, on different numbers of threads: the sets behind maxima are recognised whoever
// entered them.
static void pairs_agree_across_threads(void **state) {
  const Sizes sizes = {.m = 48, .n = 512, .rank = 16, .grid = 6, .loop = 8};
  MirageUGraph *program = attention_program(sizes, true, &DIAG),
               *candidate = attention_flash(sizes, FLASH_RIGHT, &DIAG);
  MirageUGraph *wrong = attention_flash(sizes, FLASH_NO_RESCALE, &DIAG);
  assert_true(program && candidate && wrong);
  size_t n = elements_of(program, mirage_ugraph_get_output(program, 0));
  for (int free_exp = 0; free_exp < 2; free_exp++) {
    MirageField *field = mirage_field_create_with(22, 0, (MirageFieldModes){.partial = true, .free_exp = free_exp});
    MirageStatus status;
    MirageResidue *a = evaluate_in(field, program, 3, &status), *b = evaluate_in(field, candidate, 2, &status);
    MirageResidue *c = evaluate_in(field, wrong, 2, &status);
    assert_true(a && b && c);
    size_t same = 0, fooled = 0;
    for (size_t i = 0; i < n; i++) {
      same += a[i].p == b[i].p;
      fooled += a[i].p == c[i].p;
    }
    assert_int_equal(same, n);
    assert_int_equal(fooled, 0);
    free(a);
    free(b);
    free(c);
    mirage_field_destroy(field);
  }
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  mirage_ugraph_destroy(wrong);
}

// max(a, b) at the kernel level and again: the second maximum finds the sets that other threads' pieces made.
static void maxima_are_recognised_in_later_operators(void **state) {
  enum { N = 40000 };
  MirageUGraph *g = mirage_ugraph_create(NULL, "maxima", &DIAG), *h = mirage_ugraph_create(NULL, "other", &DIAG);
  MirageUGraph *graphs[2] = {g, h};
  for (int i = 0; i < 2; i++) {
    MirageValue v[3];
    for (int j = 0; j < 3; j++)
      v[j] = mirage_ugraph_input(graphs[i], tensor_type(MIRAGE_F32, 1, N));
    MirageValue y =
        op2(graphs[i], MIRAGE_OP_MAX, op2(graphs[i], MIRAGE_OP_MAX, v[i ? 1 : 0], v[i ? 2 : 1]), v[i ? 0 : 2]);
    assert_non_null(finish_with(graphs[i], y));
  }
  MirageField *field = mirage_field_create(23, 0);
  MirageStatus status;
  MirageResidue *a = evaluate_in(field, g, 4, &status), *b = evaluate_in(field, h, 1, &status);
  assert_true(a && b);
  assert_memory_equal(a, b, N * sizeof *a);
  free(a);
  free(b);
  mirage_field_destroy(field);
  mirage_ugraph_destroy(g);
  mirage_ugraph_destroy(h);
}

// --------------------------------------------------------------------------------------------------------- same errors

// Copies x[n] in `grid` blocks; x_axis, y_axis: the dimension that the grid splits, or -1. With `loop`, a loop of four
// whose iterations load four parts and store all to the same place.
static MirageUGraph *copy_graph(int64_t n, int64_t grid, int x_axis, int y_axis, bool loop) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "copy", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, (int)n));
  int64_t stored = (y_axis < 0 && x_axis >= 0 ? n / grid : n) / (loop ? 4 : 1);
  MirageType y_type = tensor_type(MIRAGE_F32, 1, (int)stored);
  MirageCustomAttrs attrs = blocks(grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(x_axis, loop ? 0 : -1), y_map = access_of(y_axis, -1);
  MirageLoopAttrs four = {.range = 4};
  if (loop)
    mirage_ugraph_open_loop(g, 0, NULL, &four);
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &x_map);
  mirage_ugraph_store(g, t, mirage_ugraph_argument(g, kernel, 1), &y_map);
  if (loop)
    mirage_ugraph_close(g, 0, NULL);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void races_are_told_in_the_same_words(void **state) {
  MirageUGraph *g = copy_graph(64 * 512, 64, 0, -1, false);
  for (uint32_t threads = 1; threads <= MOST_THREADS; threads += 2) {
    MirageStatus status;
    assert_null(evaluate(g, (MirageFieldModes){0}, threads, &status));
    assert_int_equal(status, MIRAGE_BAD_GRAPH);
    assert_string_equal(last_message, "store: blocks 0 and 1 store different values to element 0 of output 0");
  }
  mirage_ugraph_destroy(g);
}

// A block may write over what it has stored; and all blocks may store one value.
static void what_is_no_race_is_none_on_threads(void **state) {
  MirageUGraph *twice = copy_graph(64 * 512, 64, 0, 0, true), *same = copy_graph(8192, 16, -1, -1, false);
  assert_true(twice && same);
  expect_same_bits("stored twice", twice, (MirageFieldModes){0});
  expect_same_bits("stored by all", same, (MirageFieldModes){0});
  MirageStatus status;
  free(evaluate(twice, (MirageFieldModes){0}, 4, &status));
  assert_int_equal(status, MIRAGE_OK);
  free(evaluate(same, (MirageFieldModes){0}, 4, &status));
  assert_int_equal(status, MIRAGE_OK);
  mirage_ugraph_destroy(twice);
  mirage_ugraph_destroy(same);
}

// x / (y - y): every piece fails; so does a piece far behind the others.
static void division_by_zero_is_found_on_threads(void **state) {
  enum { N = 100000 };
  MirageUGraph *g = mirage_ugraph_create(NULL, "quotient", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, N)),
              y = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, N));
  assert_non_null(finish_with(g, op2(g, MIRAGE_OP_DIV, x, y)));
  MirageField *field = mirage_field_create(24, 0);
  MirageResidue *inputs[2], *out = malloc(N * sizeof *out);
  for (uint32_t i = 0; i < 2; i++) {
    inputs[i] = malloc(N * sizeof **inputs);
    mirage_field_draw(field, i, N, inputs[i]);
  }
  inputs[1][N - 1].p = 0;
  for (uint32_t threads = 1; threads <= MOST_THREADS; threads += 2) {
    const MirageEvalOptions options = {.num_threads = threads};
    assert_int_equal(
        mirage_eval(g, mirage_field_domain(field), (const void *const *)inputs, (void *const[]){out}, &options, &DIAG),
        MIRAGE_REDRAW);
  }
  free(inputs[0]);
  free(inputs[1]);
  free(out);
  mirage_field_destroy(field);
  mirage_ugraph_destroy(g);
}

// ------------------------------------------------------------------------------------------------------ end, dead
// nodes

static int interrupt;
static atomic_int boxes;
static atomic_size_t largest_box; // terms

// y[batch, m, n] = x[batch, m, k] @ w^T; w[n, k] is the same for all of the batch. `explicit`: by a transposition.
static MirageUGraph *turned_program(Sizes s, int batch, bool explicit) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "turned", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, batch, (int)s.m, (int)s.k));
  MirageValue w = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.n, (int)s.k));
  const MirageAttrs swapped = {.perm = {.perm = {1, 0}}}, turned = {.matmul = {.transpose_b = true}};
  if (explicit)
    w = mirage_ugraph_apply(g, MIRAGE_OP_TRANSPOSE, 1, &w, &swapped);
  return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (MirageValue[]){x, w}, explicit ? NULL : &turned));
}

// A transposed factor is read where it lies: as if it had been turned before, in small products and in boxes.
static void a_transposed_factor_is_as_one_that_was_turned(void **state) {
  const Sizes sizes[] = {{.m = 3, .k = 5, .n = 7}, {.m = 1, .k = 1, .n = 9}, {.m = 33, .k = 300, .n = 201}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
      MirageUGraph *a = turned_program(sizes[i], 2, false), *b = turned_program(sizes[i], 2, true);
      MirageStatus status[2];
      MirageResidue *y = evaluate(a, (MirageFieldModes){0}, threads, &status[0]);
      MirageResidue *wanted = evaluate(b, (MirageFieldModes){0}, threads, &status[1]);
      assert_int_equal(status[0], MIRAGE_OK);
      assert_int_equal(status[1], MIRAGE_OK);
      assert_memory_equal(y, wanted, elements_of(a, mirage_ugraph_get_output(a, 0)) * sizeof *y);
      free(y);
      free(wanted);
      mirage_ugraph_destroy(a);
      mirage_ugraph_destroy(b);
    }
}

// The field's product, which asks for the end in its third box.
static MirageStatus (*real_box)(const MirageDomain *, const MirageType *, size_t, size_t, size_t, const void *,
                                const void *, bool, const void *, void *, const MirageBox *);
static MirageStatus interrupting_box(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                                     const void *a, const void *b, bool turned, const void *c, void *out,
                                     const MirageBox *box) {
  size_t terms = box->rows * box->columns * k;
  if (terms > atomic_load(&largest_box))
    atomic_store(&largest_box, terms);
  if (atomic_fetch_add(&boxes, 1) == 2)
    __atomic_store_n(&interrupt, 1, __ATOMIC_RELAXED);
  return real_box(self, result, m, n, k, a, b, turned, c, out, box);
}

static void a_product_ends_when_asked(void **state) {
  enum { M = 300, K = 700, N = 2000, BOX_LIMIT = 1 << 25 };
  MirageUGraph *g = linear_program((Sizes){.m = M, .k = K, .n = N}, &DIAG);
  for (uint32_t threads = 1; threads <= 4; threads += 3) {
    MirageField *field = mirage_field_create(25, 0);
    real_box = field->domain.matmul_box;
    field->domain.matmul_box = interrupting_box;
    MirageResidue *x = malloc(M * K * sizeof *x), *w = malloc((size_t)K * N * sizeof *w),
                  *y = malloc(M * N * sizeof *y);
    mirage_field_draw(field, 0, M * K, x);
    mirage_field_draw(field, 1, (size_t)K * N, w);
    const MirageCancel cancel = {.interrupt = &interrupt};
    const MirageEvalOptions options = {.num_threads = threads, .cancel = &cancel};
    interrupt = 0;
    atomic_store(&boxes, 0);
    assert_int_equal(mirage_eval(g, &field->domain, (const void *const[]){x, w}, (void *const[]){y}, &options, &DIAG),
                     MIRAGE_CANCELLED);
    assert_in_range(atomic_load(&boxes), 3, 3 + threads); // each thread finishes what it has begun
    assert_true(atomic_load(&largest_box) <= BOX_LIMIT);  // some milliseconds
    interrupt = 1;                                        // from the beginning
    atomic_store(&boxes, 10);
    assert_int_equal(mirage_eval(g, &field->domain, (const void *const[]){x, w}, (void *const[]){y}, &options, &DIAG),
                     MIRAGE_CANCELLED);
    assert_int_equal(atomic_load(&boxes), 10);
    free(x);
    free(w);
    free(y);
    mirage_field_destroy(field);
  }
  mirage_ugraph_destroy(g);
}

static void custom_kernels_end_when_asked(void **state) {
  MirageUGraph *g = copy_graph(64 * 512, 64, 0, 0, false);
  MirageField *field = mirage_field_create(26, 0);
  MirageResidue *x = calloc(64 * 512, sizeof *x), *y = calloc(64 * 512, sizeof *y);
  interrupt = 1;
  for (uint32_t threads = 1; threads <= 4; threads += 3) {
    const MirageCancel cancel = {.interrupt = &interrupt};
    const MirageEvalOptions options = {.num_threads = threads, .cancel = &cancel};
    assert_int_equal(mirage_eval(g, &field->domain, (const void *const[]){x}, (void *const[]){y}, &options, &DIAG),
                     MIRAGE_CANCELLED);
  }
  interrupt = 0;
  free(x);
  free(y);
  mirage_field_destroy(field);
  mirage_ugraph_destroy(g);
}

// A quotient by zero that no output needs is not computed; one that is needed still asks for another draw.
static void only_what_outputs_need_is_evaluated(void **state) {
  for (int needed = 0; needed < 2; needed++) {
    MirageUGraph *g = mirage_ugraph_create(NULL, "dead", &DIAG);
    MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 5));
    MirageValue lost = op2(g, MIRAGE_OP_DIV, x, op2(g, MIRAGE_OP_SUB, x, x));
    MirageValue y = op2(g, MIRAGE_OP_ADD, x, needed ? lost : x);
    assert_non_null(finish_with(g, y));
    MirageStatus status;
    free(evaluate(g, (MirageFieldModes){0}, 1, &status));
    assert_int_equal(status, needed ? MIRAGE_REDRAW : MIRAGE_OK);
    mirage_ugraph_destroy(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(pairs_agree_across_threads),
      cmocka_unit_test(maxima_are_recognised_in_later_operators),
      cmocka_unit_test(races_are_told_in_the_same_words),
      cmocka_unit_test(what_is_no_race_is_none_on_threads),
      cmocka_unit_test(division_by_zero_is_found_on_threads),
      cmocka_unit_test(a_transposed_factor_is_as_one_that_was_turned),
      cmocka_unit_test(a_product_ends_when_asked),
      cmocka_unit_test(custom_kernels_end_when_asked),
      cmocka_unit_test(only_what_outputs_need_is_evaluated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
