// test_tune_judge.c - errors of runs against bytes and against a float64 evaluation, of all outputs or of a sample.
#include "tune.h"

#include "mirage/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

// y = x + x, z = -x in f16; x: [rows, columns], which may be stored as i4
typedef struct Fixture {
  MirageUGraph *program;
  MirageType type; // of the outputs
  size_t count;
  double *x;
  RunRepeated inputs[1];
  char *own[2], *candidate[2];
} Fixture;

static void pack_times(const Fixture *fixture, const MirageType *type, double factor, char *bytes) {
  double *values = malloc(fixture->count * sizeof *values);
  for (size_t i = 0; i < fixture->count; i++)
    values[i] = factor * fixture->x[i];
  mirage_tensor_pack(type, values, bytes);
  free(values);
}

static void create(Fixture *fixture, MirageDType dtype, int64_t rows, int64_t columns) {
  MirageUGraph *program = mirage_ugraph_create(NULL, "program", NULL);
  MirageType stored = {.dtype = dtype, .rank = 2, .shape = {rows, columns}};
  *fixture = (Fixture){.program = program, .type = stored};
  fixture->type.dtype = MIRAGE_F16;
  MirageValue x = mirage_ugraph_input(program, stored);
  if (dtype != MIRAGE_F16)
    x = mirage_ugraph_cast(program, x, MIRAGE_F16);
  MirageValue both[] = {x, x}, outputs[2];
  outputs[0] = mirage_ugraph_apply(program, MIRAGE_OP_ADD, 2, both, NULL);
  outputs[1] = mirage_ugraph_apply(program, MIRAGE_OP_NEG, 1, &x, NULL);
  mirage_ugraph_return(program, 2, outputs);
  assert_int_equal(mirage_ugraph_finish(program), MIRAGE_OK);
  size_t bytes = (size_t)mirage_type_bytes(&fixture->type);
  fixture->count = (size_t)(rows * columns);
  fixture->x = malloc(fixture->count * sizeof *fixture->x);
  for (size_t i = 0; i < fixture->count; i++)
    fixture->x[i] = (double)(i % 7) - 3;
  fixture->inputs[0] = (RunRepeated){malloc((size_t)mirage_type_bytes(&stored)), fixture->count};
  pack_times(fixture, &stored, 1, fixture->inputs[0].bytes);
  for (int i = 0; i < 2; i++) {
    fixture->own[i] = malloc(bytes);
    fixture->candidate[i] = malloc(bytes);
    pack_times(fixture, &fixture->type, i ? -1 : 2, fixture->own[i]);
    pack_times(fixture, &fixture->type, i ? -1 : 2, fixture->candidate[i]);
  }
}

static void destroy(Fixture *fixture) {
  for (int i = 0; i < 2; i++) {
    free(fixture->own[i]);
    free(fixture->candidate[i]);
  }
  free(fixture->inputs[0].bytes);
  free(fixture->x);
  mirage_ugraph_destroy(fixture->program);
}

static TuneVerdict judge(const Fixture *fixture, double max_work) {
  TuneVerdict verdict;
  MirageStatus status =
      tune_judge(fixture->program, max_work, fixture->inputs, fixture->own, fixture->candidate, NULL, &verdict);
  assert_int_equal(status, MIRAGE_OK);
  assert_true(verdict.judged);
  return verdict;
}

// Sets one element of an output; the numbers are f16.
static void set(char *bytes, size_t index, double value) {
  const MirageType one = {.dtype = MIRAGE_F16, .rank = 1, .shape = {1}};
  mirage_tensor_pack(&one, &value, bytes + 2 * index);
}

static void test_whole(void **state) {
  Fixture fixture;
  create(&fixture, MIRAGE_F16, 5, 9);
  TuneVerdict verdict = judge(&fixture, 1e6);
  assert_false(verdict.sampled);
  assert_true(verdict.error == 0 && verdict.own_error == 0);
  set(fixture.own[1], 44, INFINITY); // the last element of the last output
  set(fixture.candidate[0], 0, 1e3);
  verdict = judge(&fixture, 1e6);
  assert_true(isinf(verdict.own_error));
  assert_true(verdict.error > 10 && isfinite(verdict.error));
  destroy(&fixture);
}

// An element takes five operations. The longest axis is halved twice: the first 8 of 33 columns are looked at, of all rows.
static void test_sample(void **state) {
  enum { ROWS = 8, COLUMNS = 33, SEEN = 8 };
  Fixture fixture;
  create(&fixture, MIRAGE_F16, ROWS, COLUMNS);
  const double max_work = 5 * ROWS * SEEN;
  TuneVerdict verdict = judge(&fixture, max_work);
  assert_true(verdict.sampled);
  assert_true(verdict.error == 0 && verdict.own_error == 0);
  for (size_t row = 0; row < ROWS; row++)
    set(fixture.candidate[1], row * COLUMNS + SEEN, NAN);
  assert_true(judge(&fixture, max_work).error == 0);
  set(fixture.candidate[1], (ROWS - 1) * COLUMNS + SEEN - 1, NAN);
  verdict = judge(&fixture, max_work);
  assert_true(isinf(verdict.error) && verdict.own_error == 0);
  assert_true(isinf(judge(&fixture, 5 * ROWS * COLUMNS).error));
  destroy(&fixture);
}

// Of the input: two numbers a byte. 30 columns are halved to 14, since 15 would not be whole bytes, and to 6.
static void test_sample_of_halves_of_bytes(void **state) {
  Fixture fixture;
  create(&fixture, MIRAGE_I4, 6, 30);
  TuneVerdict verdict = judge(&fixture, 7 * 6 * 6);
  assert_true(verdict.sampled && verdict.error == 0);
  fixture.inputs[0].bytes[(5 * 30 + 6) / 2] ^= 0x33; // the last row's seventh and eighth
  assert_true(judge(&fixture, 7 * 6 * 6).error == 0);
  fixture.inputs[0].bytes[(5 * 30 + 5) / 2] ^= 0x33; // its fifth and sixth
  assert_true(judge(&fixture, 7 * 6 * 6).error > 0);
  destroy(&fixture);
}

// Of the input fourteen numbers are held, which all others repeat: its numbers have a period of seven.
static void test_inputs_repeat(void **state) {
  static const MirageDType stored[] = {MIRAGE_F16, MIRAGE_I4};
  for (int i = 0; i < 2; i++) {
    Fixture fixture;
    create(&fixture, stored[i], 6, 30);
    fixture.inputs[0].held = 14;
    TuneVerdict verdict = judge(&fixture, 1e6);
    assert_true(!verdict.sampled && verdict.error == 0 && verdict.own_error == 0);
    verdict = judge(&fixture, 7 * 6 * 6);
    assert_true(verdict.sampled && verdict.error == 0);
    fixture.inputs[0].held = 12;
    assert_true(judge(&fixture, 1e6).error > 0.1);
    destroy(&fixture);
  }
}

static void test_nothing_small_enough(void **state) {
  Fixture fixture;
  TuneVerdict verdict;
  create(&fixture, MIRAGE_F16, 5, 9);
  assert_int_equal(tune_judge(fixture.program, 1, fixture.inputs, fixture.own, fixture.candidate, NULL, &verdict),
                   MIRAGE_LIMIT);
  assert_false(verdict.judged);
  destroy(&fixture);
}

static void test_bytes(void **state) {
  Fixture fixture;
  size_t compared;
  create(&fixture, MIRAGE_F16, 3, 4099); // more than a range of elements
  assert_true(tune_error(&fixture.type, fixture.candidate[0], fixture.own[0], &compared) == 0);
  assert_int_equal(compared, 3 * 4099);
  set(fixture.own[0], 4098, INFINITY); // there the own lowering says nothing
  assert_true(tune_error(&fixture.type, fixture.candidate[0], fixture.own[0], &compared) == 0);
  assert_int_equal(compared, 3 * 4099 - 1);
  set(fixture.candidate[0], 3 * 4099 - 1, NAN);
  assert_true(isinf(tune_error(&fixture.type, fixture.candidate[0], fixture.own[0], &compared)));
  destroy(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole),
      cmocka_unit_test(test_sample),
      cmocka_unit_test(test_sample_of_halves_of_bytes),
      cmocka_unit_test(test_inputs_repeat),
      cmocka_unit_test(test_nothing_small_enough),
      cmocka_unit_test(test_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
