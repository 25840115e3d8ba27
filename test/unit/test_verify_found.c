// test_verify_found.c - pairs that the mutation test (test/verify-stats) and the fuzzer (test/fuzz) once found judged
// wrongly, made small. All of them are about smaller instances, so each is tried with no room for the full size.
#include "block_graphs.h"
#include "mirage/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 4, COLUMNS = 8 };

// sum over 8 columns of x [4, 8] (plus `inside`, a constant, each), times `factor`, plus `outside`.
static MirageUGraph *sum(double inside, double factor, double outside) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "sum", NULL);
  MirageType scalar = tensor_type(MIRAGE_F32, 0);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, ROWS, COLUMNS));
  if (inside != 0)
    x = op2(g, MIRAGE_OP_ADD, x, mirage_ugraph_constant(g, scalar, inside));
  MirageValue y = reduce_over(g, MIRAGE_OP_REDUCE_SUM, x, 1, 1);
  y = op2(g, MIRAGE_OP_MUL, y, mirage_ugraph_constant(g, scalar, factor));
  if (outside != 0)
    y = op2(g, MIRAGE_OP_ADD, y, mirage_ugraph_constant(g, scalar, outside));
  return finish_with(g, y);
}

// Consumes both graphs.
static MirageVerdict shrunken_verdict(MirageUGraph *source, MirageUGraph *target) {
  const MirageVerifyOptions options = {.seed = 3, .max_work = 60};
  MirageVerdict verdict = {0};
  assert_non_null(source);
  assert_non_null(target);
  assert_int_equal(mirage_verify(source, target, &options, NULL, &verdict), MIRAGE_OK);
  mirage_ugraph_destroy(source);
  mirage_ugraph_destroy(target);
  return verdict;
}

static void expect_different(MirageUGraph *source, MirageUGraph *target) {
  MirageVerdict verdict = shrunken_verdict(source, target);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_DIFFERENT);
  assert_true(verdict.proof.shrunken);
}

static void expect_equivalent(MirageUGraph *source, MirageUGraph *target) {
  MirageVerdict verdict = shrunken_verdict(source, target);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
  assert_true(verdict.proof.shrunken);
}

// Where the constant 1/8 follows its axis, to 1/2 and to 1/3, a constant that is 1/2 or 1/3 to begin with must not
// pass.
static void a_wrong_mean_does_not_pass_as_the_shrunken_count(void **state) {
  for (int n = 1; n <= 16; n++)
    if (n != COLUMNS)
      expect_different(sum(0, 1.0 / COLUMNS, 0), sum(0, 1.0 / n, 0));
  expect_equivalent(sum(0, 1.0 / COLUMNS, 0), sum(0, 1.0 / COLUMNS, 0));
}

// Eight summands that have become two, or three, are not two or three.
static void a_wrong_number_of_summands_does_not_pass(void **state) {
  for (int n = 1; n <= 16; n++)
    if (n != COLUMNS)
      expect_different(sum(1, 1, 0), sum(0, 1, n));
  expect_equivalent(sum(1, 1, 0), sum(0, 1, COLUMNS));
}

// The summed axis belongs to a constant: neither an input nor an output ties the two graphs' copies of it together.
static MirageUGraph *constants_product(double value, const int64_t depth) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "constants", NULL);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, ROWS, COLUMNS));
  MirageValue a = mirage_ugraph_constant(g, tensor_type(MIRAGE_F32, 2, ROWS, (int)depth), value);
  MirageValue b = mirage_ugraph_constant(g, tensor_type(MIRAGE_F32, 2, (int)depth, COLUMNS), 1.0);
  return finish_with(g, op2(g, MIRAGE_OP_ADD, x, op2(g, MIRAGE_OP_MATMUL, a, b)));
}

static void an_axis_of_constants_keeps_its_extent(void **state) {
  expect_equivalent(constants_product(1, 16), constants_product(1, 16));
  expect_equivalent(constants_product(1, 16), constants_product(2, 8));
  expect_different(constants_product(1, 16), constants_product(1, 8));
  expect_different(constants_product(1, 16), constants_product(2, 16));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wrong_mean_does_not_pass_as_the_shrunken_count),
      cmocka_unit_test(a_wrong_number_of_summands_does_not_pass),
      cmocka_unit_test(an_axis_of_constants_keeps_its_extent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
