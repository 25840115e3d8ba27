// test_special_values.c - NaN and infinities through generated kernels, on the emulator: where the evaluation has a NaN
// or an infinity, so has the kernel, as a user of PyTorch expects (relu and maxima keep a NaN).
#include "mirage/emulator.h"

#include "block_graphs.h"
#include "capture.h"
#include "mirage/eval.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static Capture capture;
static const MirageDiag DIAG = {capture_emit, &capture};

enum { ROWS = 7, COLUMNS = 6, ELEMENTS = ROWS * COLUMNS };

// One special value a row, at a column of its own.
static double special(int row, int column) {
  static const double SPECIAL[ROWS] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.5, -1.5};
  return row == column ? SPECIAL[row] : 0.25 * (column - row);
}

static MirageUGraph *program(MirageOp op) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "special", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, ROWS, COLUMNS));
  MirageValue y = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, ROWS, COLUMNS));
  switch (mirage_op_info(op)->kind) {
  case MIRAGE_KIND_BINARY:
    return finish_with(g, op2(g, op, x, y));
  case MIRAGE_KIND_REDUCE:
    return finish_with(g, op2(g, MIRAGE_OP_ADD, reduce_over(g, op, x, 1, 1), y));
  default:
    return finish_with(g, op2(g, MIRAGE_OP_ADD, op1(g, op, x), y));
  }
}

static bool alike(double a, double b) {
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  return isinf(a) || isinf(b) ? a == b : fabs(a - b) <= 2e-3 * (1 + fabs(b));
}

// The second input has a NaN too, and a bottom where the first has one: bottom less bottom is bottom.
static void check(MirageOp op, const char *target) {
  double x[ELEMENTS], y[ELEMENTS], expected[ELEMENTS];
  uint16_t x_bits[ELEMENTS], y_bits[ELEMENTS], got[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) {
    x[i] = special(i / COLUMNS, i % COLUMNS);
    y[i] = i == 3 * COLUMNS ? NAN : i == 2 * COLUMNS + 2 ? -INFINITY : 0.5;
    x_bits[i] = mirage_f16_from_double(x[i]);
    y_bits[i] = mirage_f16_from_double(y[i]);
  }
  MirageUGraph *graph = program(op);
  assert_non_null(graph);
  const void *reals[] = {x, y}, *inputs[] = {x_bits, y_bits};
  void *real_output[] = {expected}, *output[] = {got};
  assert_int_equal(mirage_eval(graph, mirage_domain_f64(), reals, real_output, NULL, &DIAG), MIRAGE_OK);
  if (mirage_emulate(graph, mirage_target_find(target), inputs, output, NULL, &DIAG) != MIRAGE_OK)
    fail_msg("%s", capture.text);
  for (int i = 0; i < ELEMENTS; i++)
    if (!alike(mirage_f16_to_double(got[i]), expected[i]))
      fail_msg("%s on %s, element %d of x = %g, y = %g: %g, expected %g", mirage_op_info(op)->mnemonic, target, i, x[i],
               y[i], mirage_f16_to_double(got[i]), expected[i]);
  mirage_ugraph_destroy(graph);
}

static void test_nan_and_infinity(void **state) {
  static const MirageOp OPS[] = {MIRAGE_OP_RELU, MIRAGE_OP_MAX,        MIRAGE_OP_MIN,         MIRAGE_OP_REDUCE_MAX,
                                 MIRAGE_OP_EXP,  MIRAGE_OP_REDUCE_SUM, MIRAGE_OP_SIGMOID,     MIRAGE_OP_TANH,
                                 MIRAGE_OP_ERF,  MIRAGE_OP_SQRT,       MIRAGE_OP_REDUCE_MEAN, MIRAGE_OP_SUB};
  for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++) {
    check(OPS[i], "h200");
    check(OPS[i], "a100");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_nan_and_infinity)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
