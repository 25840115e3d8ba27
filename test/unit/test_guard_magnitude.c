// test_guard_magnitude.c - pairs that are equal in exact arithmetic, each judged by the guard and, from the outside, by
// evaluating both in full at inputs that this file says.
//
// Evidence: at inputs of the stated size the program, in its own types, is within a few per cent of float64; the
//           candidate there is, for a wrong one, inf or NaN or worse than the guard allows; for a right one it is
//           within that. The draws, the measure and the bound are this file's own.
#include "block_graphs.h"
#include "mirage/eval.h"
#include "mirage/guard.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void print_message_of(void *user, MirageSeverity severity, const void *loc, const char *message) {
  print_message("  %s\n", message);
}
static const MirageDiag DIAG = {print_message_of, NULL};

enum { MAX_INPUTS = 3 };

typedef struct Case {
  const char *name;
  MirageUGraph *(*build)(bool candidate);
  bool right;
  double scales[MAX_INPUTS]; // standard deviations at which the evidence is taken
  bool same_sign;            // absolute values
  MirageGuardInstance instance;
} Case;

// ------------------------------------------------------------------------------------------------------------ evidence

static double uniform(uint64_t *state) { // splitmix64
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double about_normal(uint64_t *state) { // the sum of twelve uniforms
  double sum = -6;
  for (int i = 0; i < 12; i++)
    sum += uniform(state);
  return sum;
}

static size_t count(const MirageUGraph *graph, MirageValue v) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(graph, v));
}

static double *evaluate(const MirageUGraph *graph, const MirageDomain *domain, double *const *inputs) {
  double *out = malloc(count(graph, mirage_ugraph_get_output(graph, 0)) * sizeof *out);
  assert_int_equal(mirage_eval(graph, domain, (const void *const *)inputs, (void *[]){out}, NULL, &DIAG), MIRAGE_OK);
  return out;
}

static double relative_error(size_t n, const double *a, const double *reference) {
  double norm = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    norm += reference[i] * reference[i];
    squares += (a[i] - reference[i]) * (a[i] - reference[i]);
  }
  return isfinite(squares) ? sqrt(squares / norm) : INFINITY;
}

// Relative errors of program and candidate, both in full.
static void take_evidence(const Case *test, double factor, double out_errors[2]) {
  MirageUGraph *program = test->build(false), *candidate = test->build(true), *wide = NULL;
  double *inputs[MAX_INPUTS] = {NULL};
  uint64_t state = 42;
  assert_non_null(program);
  assert_non_null(candidate);
  assert_int_equal(mirage_ugraph_expand_wide(program, &DIAG, &wide), MIRAGE_OK);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++) {
    MirageValue input = mirage_ugraph_get_input(program, i);
    inputs[i] = malloc(count(program, input) * sizeof(double));
    for (size_t j = 0; j < count(program, input); j++) {
      double x = factor * test->scales[i] * about_normal(&state);
      inputs[i][j] = mirage_round_to(mirage_ugraph_type(program, input)->dtype, test->same_sign ? fabs(x) : x);
    }
  }
  double *reference = evaluate(wide, mirage_domain_f64(), inputs), *own = evaluate(wide, mirage_domain_real(), inputs),
         *other = evaluate(candidate, mirage_domain_real(), inputs);
  size_t n = count(program, mirage_ugraph_get_output(program, 0));
  out_errors[0] = relative_error(n, own, reference);
  out_errors[1] = relative_error(n, other, reference);
  for (int i = 0; i < MAX_INPUTS; i++)
    free(inputs[i]);
  free(reference);
  free(own);
  free(other);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  mirage_ugraph_destroy(wide);
}

// What a candidate may lose, as include/mirage/guard.h says it.
static double allowed(const Case *test, double program) {
  MirageUGraph *graph = test->build(false);
  MirageDType dtype = mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, 0))->dtype;
  mirage_ugraph_destroy(graph);
  return 2 * program + (dtype == MIRAGE_F32 ? 0x1p-25 : dtype == MIRAGE_F16 ? 0x1p-12 : 0x1p-9);
}

static void check(const Case *test) {
  static const double factors[] = {1, 0.25, 4};
  double errors[2];
  for (int i = 0; i < (test->right ? 3 : 1); i++) {
    take_evidence(test, factors[i], errors);
    bool stands = errors[0] < 0.06;
    if (i == 0 && !stands)
      fail_msg("%s: the program itself has an error of %g", test->name, errors[0]);
    if (stands && (errors[1] <= allowed(test, errors[0])) != test->right)
      fail_msg("%s: evaluated in full: error %g, the program's own %g", test->name, errors[1], errors[0]);
  }
  MirageUGraph *program = test->build(false), *candidate = test->build(true);
  MirageGuardReport report;
  assert_int_equal(mirage_guard(program, candidate, &(MirageGuardOptions){.seed = 3}, &DIAG, &report), MIRAGE_OK);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  if (report.passed != test->right || !report.guard.present)
    fail_msg("%s: %s: %s", test->name, report.passed ? "passed" : "refused", report.reason);
  if (report.instance != test->instance)
    fail_msg("%s: measured %s", test->name, mirage_guard_instance_name(report.instance));
}

// ------------------------------------------------------------------------------------------------------------ building

static MirageUGraph *begin(void) { return mirage_ugraph_create(NULL, "graph", &DIAG); }

static MirageValue input(MirageUGraph *g, MirageDType dtype, int rows, int columns) {
  return mirage_ugraph_input(g, tensor_type(dtype, 2, rows, columns));
}

static MirageValue with(MirageUGraph *g, MirageOp op, MirageValue a, double constant) {
  MirageType type = mirage_type_tensor(mirage_ugraph_type(g, a)->dtype, 0, NULL);
  return op2(g, op, a, mirage_ugraph_constant(g, type, constant));
}

static MirageValue sum(MirageUGraph *g, MirageValue a) { return reduce_over(g, MIRAGE_OP_REDUCE_SUM, a, 1, 1); }
static MirageValue mean(MirageUGraph *g, MirageValue a) { return reduce_over(g, MIRAGE_OP_REDUCE_MEAN, a, 1, 1); }
static MirageValue wide(MirageUGraph *g, MirageValue a) { return mirage_ugraph_cast(g, a, MIRAGE_F32); }
static MirageValue narrow(MirageUGraph *g, MirageValue a) { return mirage_ugraph_cast(g, a, MIRAGE_F16); }

static MirageValue softmax_of(MirageUGraph *g, MirageValue x) {
  return mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &x, &(MirageAttrs){.dim = {1}});
}

// exp(x - m) over its sum.
static MirageValue divided(MirageUGraph *g, MirageValue x, MirageValue m) {
  MirageValue e = op1(g, MIRAGE_OP_EXP, m.index ? op2(g, MIRAGE_OP_SUB, x, m) : x);
  return op2(g, MIRAGE_OP_DIV, e, sum(g, e));
}

// --------------------------------------------------------------------------------------------------------------- wrong

// The sum of 65,536 squares is no f16.
static MirageUGraph *mean_square_f16(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 2, 65536), q = op1(g, MIRAGE_OP_SQUARE, x);
  return finish_with(g, candidate ? with(g, MIRAGE_OP_MUL, sum(g, q), 0x1p-16) : mean(g, q));
}

static MirageUGraph *product_times_1024(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 4, 4096), w = input(g, MIRAGE_F16, 4096, 256),
              y = op2(g, MIRAGE_OP_MATMUL, x, w);
  return finish_with(g, candidate ? with(g, MIRAGE_OP_DIV, with(g, MIRAGE_OP_MUL, y, 1024), 1024) : y);
}

// The same between two products, where both contractions are too long to be measured as they are.
static MirageUGraph *hidden_times_1024(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 1, 4096), a = input(g, MIRAGE_F16, 4096, 4096),
              b = input(g, MIRAGE_F16, 4096, 8);
  MirageValue h = op2(g, MIRAGE_OP_MATMUL, x, a);
  if (candidate)
    h = with(g, MIRAGE_OP_DIV, with(g, MIRAGE_OP_MUL, h, 1024), 1024);
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, h, b));
}

static MirageUGraph *attention_by(bool candidate, bool right) {
  MirageUGraph *g = begin();
  MirageValue q = input(g, MIRAGE_F16, 64, 64), k = input(g, MIRAGE_F16, 64, 1024), v = input(g, MIRAGE_F16, 1024, 64);
  MirageValue s = op2(g, MIRAGE_OP_MATMUL, q, k);
  if (!candidate)
    return finish_with(g, op2(g, MIRAGE_OP_MATMUL, softmax_of(g, s), v));
  MirageValue f = wide(g, s), top = reduce_over(g, MIRAGE_OP_REDUCE_MAX, f, 1, 1);
  MirageValue p = narrow(g, divided(g, f, right ? top : sum(g, f)));
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, p, v));
}
static MirageUGraph *attention_less_sum(bool candidate) { return attention_by(candidate, false); }

static MirageUGraph *tanh_by_exp(MirageDType dtype, bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, dtype, 8, 64), t = op1(g, MIRAGE_OP_TANH, x);
  if (!candidate)
    return finish_with(g, t);
  MirageValue e = op1(g, MIRAGE_OP_EXP, x);
  return finish_with(g, op2(g, MIRAGE_OP_DIV, op2(g, MIRAGE_OP_MUL, t, e), e));
}
static MirageUGraph *tanh_by_exp_f16(bool candidate) { return tanh_by_exp(MIRAGE_F16, candidate); }
static MirageUGraph *tanh_by_exp_bf16(bool candidate) { return tanh_by_exp(MIRAGE_BF16, candidate); }
static MirageUGraph *tanh_by_exp_f32(bool candidate) { return tanh_by_exp(MIRAGE_F32, candidate); }

// e^x / (1 + e^x): inf / inf from x = 89 on, where the program has 1.
static MirageUGraph *sigmoid_by_quotient(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F32, 8, 64);
  if (!candidate)
    return finish_with(g, op1(g, MIRAGE_OP_SIGMOID, x));
  MirageValue e = op1(g, MIRAGE_OP_EXP, x);
  return finish_with(g, op2(g, MIRAGE_OP_DIV, e, with(g, MIRAGE_OP_ADD, e, 1)));
}

static MirageUGraph *softmax_without_maximum(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F32, 8, 4096);
  return finish_with(g, candidate ? divided(g, x, (MirageValue){0}) : softmax_of(g, x));
}

static MirageUGraph *log_sum(MirageUGraph *g, MirageValue x, bool safe) {
  MirageValue top = reduce_over(g, MIRAGE_OP_REDUCE_MAX, x, 1, 1);
  MirageValue e = op1(g, MIRAGE_OP_EXP, safe ? op2(g, MIRAGE_OP_SUB, x, top) : x), y = op1(g, MIRAGE_OP_LOG, sum(g, e));
  return finish_with(g, safe ? op2(g, MIRAGE_OP_ADD, y, top) : y);
}
static MirageUGraph *log_sum_without_maximum(bool candidate) {
  MirageUGraph *g = begin();
  return log_sum(g, input(g, MIRAGE_F32, 8, 1000), !candidate);
}

// A mean over 4096 whose sum is an f16: inf where all are about 32.
static MirageUGraph *mean_by_sum(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 4, 4096);
  return finish_with(g, candidate ? with(g, MIRAGE_OP_MUL, sum(g, x), 0x1p-12) : mean(g, x));
}

static MirageUGraph *rms_then_product(bool candidate, bool stored) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 4, 4096), w = input(g, MIRAGE_F16, 4096, 64);
  if (!candidate) {
    MirageValue n = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0}});
    return finish_with(g, op2(g, MIRAGE_OP_MATMUL, n, w));
  }
  MirageValue f = wide(g, x), root = op1(g, MIRAGE_OP_SQRT, mean(g, op1(g, MIRAGE_OP_SQUARE, f)));
  MirageValue y = stored ? wide(g, op2(g, MIRAGE_OP_MATMUL, x, w)) : op2(g, MIRAGE_OP_MATMUL, f, wide(g, w));
  return finish_with(g, narrow(g, op2(g, MIRAGE_OP_DIV, y, root)));
}
// x w is stored in f16 before it is divided by the norm of x: inf where x is about 1000.
static MirageUGraph *norm_after_store(bool candidate) { return rms_then_product(candidate, true); }

// Squares in f16: none above 256, and few digits below 2^-7.
static MirageUGraph *norm_by_squares(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 4, 256);
  if (!candidate)
    return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0}}));
  MirageValue root = op1(g, MIRAGE_OP_SQRT, mean(g, op1(g, MIRAGE_OP_SQUARE, x)));
  return finish_with(g, op2(g, MIRAGE_OP_DIV, x, root));
}

// (x y) / y
static MirageUGraph *times_over(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 16, 64), y = input(g, MIRAGE_F16, 16, 64), p = op2(g, MIRAGE_OP_MUL, x, y);
  MirageValue z = candidate ? op2(g, MIRAGE_OP_MUL, p, x) : op2(g, MIRAGE_OP_MUL, x, p);
  return finish_with(g, candidate ? op2(g, MIRAGE_OP_DIV, op2(g, MIRAGE_OP_MUL, z, x), x) : z);
}

// A constant that only f32 holds, times itself.
static MirageUGraph *through_1e30(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F32, 8, 64), y = with(g, MIRAGE_OP_MUL, x, 3);
  return finish_with(g, candidate ? with(g, MIRAGE_OP_MUL, with(g, MIRAGE_OP_MUL, y, 1e30), 1e-30) : y);
}

// One sum of 16384 in two f16 halves, of which each overflows where their difference does not.
static MirageUGraph *difference_of_sums(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 4, 8192), y = input(g, MIRAGE_F16, 4, 8192);
  if (candidate)
    return finish_with(g, op2(g, MIRAGE_OP_SUB, sum(g, x), sum(g, y)));
  return finish_with(g, narrow(g, op2(g, MIRAGE_OP_SUB, sum(g, wide(g, x)), sum(g, wide(g, y)))));
}

// --------------------------------------------------------------------------------------------------------------- right

static MirageUGraph *mean_square_f32(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 2, 65536);
  if (!candidate)
    return finish_with(g, mean(g, op1(g, MIRAGE_OP_SQUARE, x)));
  return finish_with(g, narrow(g, with(g, MIRAGE_OP_MUL, sum(g, op1(g, MIRAGE_OP_SQUARE, wide(g, x))), 0x1p-16)));
}

static MirageUGraph *product_times_2(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 4, 4096), w = input(g, MIRAGE_F16, 4096, 256),
              y = op2(g, MIRAGE_OP_MATMUL, x, w);
  return finish_with(g, candidate ? with(g, MIRAGE_OP_MUL, with(g, MIRAGE_OP_DIV, y, 2), 2) : y);
}

static MirageUGraph *attention_less_maximum(bool candidate) { return attention_by(candidate, true); }
static MirageUGraph *norm_in_f32(bool candidate) { return rms_then_product(candidate, false); }

static MirageUGraph *log_sum_with_maximum(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F32, 8, 1000);
  return log_sum(g, candidate ? with(g, MIRAGE_OP_MUL, x, 1) : x, true);
}

// 1 / (1 + e^-x): the overflow is where the value is 0.
static MirageUGraph *sigmoid_by_steps(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F32, 8, 64);
  if (!candidate)
    return finish_with(g, op1(g, MIRAGE_OP_SIGMOID, x));
  MirageValue e = op1(g, MIRAGE_OP_EXP, with(g, MIRAGE_OP_MUL, x, -1)), d = with(g, MIRAGE_OP_ADD, e, 1);
  MirageValue one = mirage_ugraph_constant(g, mirage_type_tensor(MIRAGE_F32, 0, NULL), 1);
  return finish_with(g, op2(g, MIRAGE_OP_DIV, one, d));
}

// x (w + w), each term in its own product.
static MirageUGraph *sum_of_products(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 4, 2048), w = input(g, MIRAGE_F16, 2048, 128),
              y = op2(g, MIRAGE_OP_MATMUL, x, w);
  return finish_with(g, candidate ? op2(g, MIRAGE_OP_MATMUL, x, op2(g, MIRAGE_OP_ADD, w, w))
                                  : op2(g, MIRAGE_OP_ADD, y, y));
}

// Programs that overflow themselves: no more is asked of their candidates.
static MirageUGraph *unsafe_divided_last(bool candidate) {
  MirageUGraph *g = begin();
  MirageValue x = input(g, MIRAGE_F16, 64, 512), v = input(g, MIRAGE_F16, 512, 64);
  if (!candidate)
    return finish_with(g, op2(g, MIRAGE_OP_MATMUL, divided(g, x, (MirageValue){0}), v));
  MirageValue e = op1(g, MIRAGE_OP_EXP, wide(g, x));
  return finish_with(g, narrow(g, op2(g, MIRAGE_OP_DIV, op2(g, MIRAGE_OP_MATMUL, e, wide(g, v)), sum(g, e))));
}

static const Case CASES[] = {
    {"mean square of 65536 in f16", mean_square_f16, false, {1}, true, MIRAGE_GUARD_REPEATED},
    {"product times 1024", product_times_1024, false, {1, 1}, false, MIRAGE_GUARD_SAMPLED},
    {"hidden times 1024", hidden_times_1024, false, {1, 1, 0.0625}, false, MIRAGE_GUARD_REPEATED},
    {"attention less the sum", attention_less_sum, false, {1, 1, 1}, false, MIRAGE_GUARD_SAMPLED},
    {"tanh by exp in f16", tanh_by_exp_f16, false, {20}, false, MIRAGE_GUARD_FULL},
    {"tanh by exp in bf16", tanh_by_exp_bf16, false, {60}, false, MIRAGE_GUARD_FULL},
    {"tanh by exp in f32", tanh_by_exp_f32, false, {60}, false, MIRAGE_GUARD_FULL},
    {"sigmoid by a quotient", sigmoid_by_quotient, false, {60}, false, MIRAGE_GUARD_FULL},
    {"softmax without its maximum", softmax_without_maximum, false, {60}, false, MIRAGE_GUARD_FULL},
    {"log-sum-exp without its maximum", log_sum_without_maximum, false, {60}, false, MIRAGE_GUARD_FULL},
    {"mean by a sum in f16", mean_by_sum, false, {32}, true, MIRAGE_GUARD_FULL},
    {"product stored before its norm", norm_after_store, false, {1000, 1}, false, MIRAGE_GUARD_SAMPLED},
    {"norm by squares in f16", norm_by_squares, false, {200}, false, MIRAGE_GUARD_FULL},
    {"cube by a fourth power", times_over, false, {16, 1}, false, MIRAGE_GUARD_FULL},
    {"through 1e30", through_1e30, false, {1e9}, false, MIRAGE_GUARD_FULL},
    {"difference of sums", difference_of_sums, false, {16, 16}, true, MIRAGE_GUARD_FULL},
    {"mean square of 65536 in f32", mean_square_f32, true, {1}, false, MIRAGE_GUARD_REPEATED},
    {"product times 2", product_times_2, true, {1, 1}, false, MIRAGE_GUARD_SAMPLED},
    {"attention less its maximum", attention_less_maximum, true, {0.5, 1, 1}, false, MIRAGE_GUARD_SAMPLED},
    {"norm in f32", norm_in_f32, true, {64, 1}, false, MIRAGE_GUARD_SAMPLED},
    {"log-sum-exp with its maximum", log_sum_with_maximum, true, {20}, false, MIRAGE_GUARD_FULL},
    {"sigmoid by steps", sigmoid_by_steps, true, {8}, false, MIRAGE_GUARD_FULL},
    {"sum of products", sum_of_products, true, {1, 1}, false, MIRAGE_GUARD_SAMPLED},
    {"unsafe softmax, divided last", unsafe_divided_last, true, {1, 1}, false, MIRAGE_GUARD_SAMPLED},
};

static void guard_agrees_with_evaluation(void **state) { check(*state); }

int main(void) {
  enum { NUM_CASES = sizeof CASES / sizeof *CASES };
  struct CMUnitTest tests[NUM_CASES];
  for (int i = 0; i < NUM_CASES; i++)
    tests[i] = (struct CMUnitTest){.name = CASES[i].name,
                                   .test_func = guard_agrees_with_evaluation,
                                   .initial_state = (void *)&CASES[i]}; // cmocka takes no const; nobody writes it
  return cmocka_run_group_tests(tests, NULL, NULL);
}
