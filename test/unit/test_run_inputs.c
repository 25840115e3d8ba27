// test_run_inputs.c - inputs whose numbers repeat, as those are that candidates are measured on.
#include "run.h"

#include "mirage/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { HELD = 6 };
static const double NUMBERS[HELD] = {1, -2, 3, 4, -5, 6};

typedef struct Fixture {
  MirageUGraph *program;
  RunInputs inputs;
} Fixture;

// One input of so many numbers, of which six are held where there are more.
static void create(Fixture *fixture, MirageDType dtype, int64_t rows, int64_t columns) {
  fixture->program = mirage_ugraph_create(NULL, "program", NULL);
  MirageType type = {.dtype = dtype, .rank = 2, .shape = {rows, columns}};
  MirageValue x = mirage_ugraph_input(fixture->program, type);
  mirage_ugraph_return(fixture->program, 1, &x);
  assert_int_equal(mirage_ugraph_finish(fixture->program), MIRAGE_OK);
  size_t held = rows * columns < HELD ? (size_t)(rows * columns) : HELD;
  fixture->inputs = (RunInputs){.count = 1, .values = calloc(1, sizeof(double *)), .held = calloc(1, sizeof(size_t))};
  fixture->inputs.values[0] = malloc(sizeof NUMBERS);
  memcpy(fixture->inputs.values[0], NUMBERS, sizeof NUMBERS);
  fixture->inputs.held[0] = held;
}

static void destroy(Fixture *fixture) {
  run_inputs_deinit(&fixture->inputs);
  mirage_ugraph_destroy(fixture->program);
}

// Packed, the bytes hold the numbers once.
static void check(MirageDType dtype, int64_t rows, int64_t columns) {
  Fixture fixture;
  create(&fixture, dtype, rows, columns);
  const MirageType *type = mirage_ugraph_type(fixture.program, mirage_ugraph_get_input(fixture.program, 0));
  MirageType held = {.dtype = dtype, .rank = 1};
  RunRepeated packed;
  double values[HELD];
  assert_int_equal(run_inputs_pack(&fixture.inputs, 0, type, &packed), MIRAGE_OK);
  assert_int_equal(packed.held, rows * columns < HELD ? rows * columns : HELD);
  held.shape[0] = (int64_t)packed.held;
  mirage_tensor_unpack(&held, packed.bytes, values);
  assert_memory_equal(values, NUMBERS, packed.held * sizeof *values);
  free(packed.bytes);
  destroy(&fixture);
}

static void test_numbers_repeat(void **state) {
  check(MIRAGE_F16, 5, 7);  // the last round is cut short
  check(MIRAGE_BF16, 4, 3); // two rounds
  check(MIRAGE_F32, 1, 101);
  check(MIRAGE_I4, 5, 8); // two numbers a byte
}

static void test_few_numbers_stay(void **state) {
  check(MIRAGE_F16, 2, 2);
  check(MIRAGE_F32, 1, 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers_repeat), cmocka_unit_test(test_few_numbers_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
