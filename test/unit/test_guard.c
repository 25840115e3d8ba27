// test_guard.c - what rounding does to right graphs: those that keep the program's accuracy pass, those that overflow,
// cancel or round away what the program keeps do not.
#include "block_graphs.h"
#include "mirage/guard.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void print_message_of(void *user, MirageSeverity severity, const void *loc, const char *message) {
  print_message("  %s\n", message);
}
static const MirageDiag DIAG = {print_message_of, NULL};

// Consumes both graphs.
static MirageGuardReport measure(MirageUGraph *program, MirageUGraph *candidate, MirageGuardOptions options) {
  MirageGuardReport report;
  assert_non_null(program);
  assert_non_null(candidate);
  assert_int_equal(mirage_guard(program, candidate, &options, &DIAG, &report), MIRAGE_OK);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  return report;
}

static void expect_pass(MirageUGraph *program, MirageUGraph *candidate, MirageGuardInstance instance) {
  MirageGuardReport report = measure(program, candidate, (MirageGuardOptions){.seed = 3});
  if (!report.passed)
    print_message("%s\n", report.reason);
  assert_true(report.passed);
  assert_true(report.guard.present);
  assert_string_equal(mirage_guard_instance_name(report.instance), mirage_guard_instance_name(instance));
  assert_int_equal(report.guard.shrunken, instance != MIRAGE_GUARD_FULL);
  assert_true(report.guard.candidate_relative < 1e-2);
}

static void expect_refusal(MirageUGraph *program, MirageUGraph *candidate, MirageGuardScale scale, const char *why) {
  MirageGuardReport report = measure(program, candidate, (MirageGuardOptions){.seed = 3});
  assert_false(report.passed);
  assert_string_equal(mirage_guard_scale_name(report.worst), mirage_guard_scale_name(scale));
  if (!strstr(report.reason, why))
    print_message("%s\n", report.reason);
  assert_non_null(strstr(report.reason, why));
}

// ----------------------------------------------------------------------------------------------------------- programs

typedef enum { SAFE, UNSAFE, SUGAR } Softmax;

static MirageUGraph *softmax(MirageDType dtype, Softmax form) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "softmax", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(dtype, 2, 4, 16));
  if (form == SUGAR)
    return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &x, &(MirageAttrs){.dim = {1}}));
  if (form == SAFE)
    x = op2(g, MIRAGE_OP_SUB, x, reduce_over(g, MIRAGE_OP_REDUCE_MAX, x, 1, 1));
  MirageValue e = op1(g, MIRAGE_OP_EXP, x);
  return finish_with(g, op2(g, MIRAGE_OP_DIV, e, reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1)));
}

// c / sqrt(variance) with c = x - mean; the variance as mean(c^2), or as mean(x^2) - mean^2.
static MirageUGraph *normalized(MirageDType dtype, bool one_pass) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "normalized", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(dtype, 2, 4, 16));
  MirageValue mean = reduce_over(g, MIRAGE_OP_REDUCE_MEAN, x, 1, 1), c = op2(g, MIRAGE_OP_SUB, x, mean), variance;
  if (one_pass) {
    MirageValue squares = reduce_over(g, MIRAGE_OP_REDUCE_MEAN, op1(g, MIRAGE_OP_SQUARE, x), 1, 1);
    variance = op2(g, MIRAGE_OP_SUB, squares, op1(g, MIRAGE_OP_SQUARE, mean));
  } else {
    variance = reduce_over(g, MIRAGE_OP_REDUCE_MEAN, op1(g, MIRAGE_OP_SQUARE, c), 1, 1);
  }
  return finish_with(g, op2(g, MIRAGE_OP_DIV, c, op1(g, MIRAGE_OP_SQRT, variance)));
}

// x @ w, through another type when `via` is not the tensors' own.
static MirageUGraph *product(MirageDType dtype, MirageDType via, int k) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "product", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(dtype, 2, 4, k));
  MirageValue w = mirage_ugraph_input(g, tensor_type(dtype, 2, k, 8));
  if (via != dtype) {
    x = mirage_ugraph_cast(g, x, via);
    w = mirage_ugraph_cast(g, w, via);
  }
  MirageValue y = op2(g, MIRAGE_OP_MATMUL, x, w);
  return finish_with(g, via != dtype ? mirage_ugraph_cast(g, y, dtype) : y);
}

// -------------------------------------------------------------------------------------------------------------- tests

static void fused_kernels_pass(void **state) {
  const Sizes small = {.m = 2, .k = 16, .n = 12, .grid = 3, .loop = 4, .rank = 4};
  const Sizes decode = {.m = 2, .k = 4096, .n = 6144, .grid = 128, .loop = 32, .rank = 16};
  expect_pass(rms_program(small, &DIAG), rms_fused(small, RMS_RIGHT, &DIAG), MIRAGE_GUARD_FULL);
  expect_pass(rms_program(decode, &DIAG), rms_fused(decode, RMS_RIGHT, &DIAG), MIRAGE_GUARD_SAMPLED);
  expect_pass(mlp_program(decode, &DIAG), mlp_fused(decode, MLP_RIGHT, &DIAG), MIRAGE_GUARD_SAMPLED);
  expect_pass(lora_program(decode, &DIAG), lora_fused(decode, false, &DIAG), MIRAGE_GUARD_SAMPLED);
}

static void online_softmax_passes(void **state) {
  const Sizes heads = {.m = 4, .n = 6, .rank = 3, .grid = 2, .loop = 3};
  expect_pass(attention_program(heads, true, &DIAG), attention_flash(heads, FLASH_RIGHT, &DIAG), MIRAGE_GUARD_FULL);
}

static void a_graph_passes_against_itself(void **state) {
  const MirageDType types[] = {MIRAGE_F16, MIRAGE_BF16, MIRAGE_F32};
  for (size_t i = 0; i < 3; i++) {
    expect_pass(product(types[i], types[i], 64), product(types[i], types[i], 64), MIRAGE_GUARD_FULL);
    MirageUGraph *a = softmax(types[i], SAFE), *b = softmax(types[i], SAFE);
    assert_true(measure(a, b, (MirageGuardOptions){.seed = 1}).passed);
    a = normalized(types[i], true), b = normalized(types[i], true); // bad, but no worse than itself
    assert_true(measure(a, b, (MirageGuardOptions){.seed = 1}).passed);
  }
}

static void a_missing_maximum_overflows(void **state) {
  expect_refusal(softmax(MIRAGE_F16, SAFE), softmax(MIRAGE_F16, UNSAFE), MIRAGE_GUARD_LOGITS,
                 "inf or NaN where the program has none");
  expect_refusal(softmax(MIRAGE_F16, SUGAR), softmax(MIRAGE_F16, UNSAFE), MIRAGE_GUARD_LOGITS,
                 "inf or NaN where the program has none");
  // exp(60) is a number in f32, exp(100) is not; and a maximum where the program has none can only help.
  expect_refusal(softmax(MIRAGE_F32, SAFE), softmax(MIRAGE_F32, UNSAFE), MIRAGE_GUARD_EXPONENTS,
                 "inf or NaN where the program has none");
  assert_true(measure(softmax(MIRAGE_F32, UNSAFE), softmax(MIRAGE_F32, SAFE), (MirageGuardOptions){.seed = 3}).passed);
  assert_true(measure(softmax(MIRAGE_F16, UNSAFE), softmax(MIRAGE_F16, SAFE), (MirageGuardOptions){.seed = 3}).passed);
}

static void one_pass_variances_cancel(void **state) {
  MirageGuardReport report =
      measure(normalized(MIRAGE_F32, false), normalized(MIRAGE_F32, true), (MirageGuardOptions){.seed = 3});
  assert_false(report.passed);
  assert_int_equal(report.worst, MIRAGE_GUARD_CONSTANT);
  assert_true(report.errors[MIRAGE_GUARD_UNIT].measured);
  assert_true(report.errors[MIRAGE_GUARD_UNIT].candidate_relative < 1e-5); // nothing to see at the usual scale
  expect_pass(normalized(MIRAGE_F32, true), normalized(MIRAGE_F32, false), MIRAGE_GUARD_FULL);
}

static void a_narrow_type_loses_digits(void **state) {
  expect_refusal(product(MIRAGE_F32, MIRAGE_F32, 64), product(MIRAGE_F32, MIRAGE_F16, 64), MIRAGE_GUARD_LARGE,
                 "inf or NaN where the program has none (inputs: all at 2^");
  expect_pass(product(MIRAGE_F16, MIRAGE_F16, 64), product(MIRAGE_F16, MIRAGE_F32, 64), MIRAGE_GUARD_FULL);
  MirageGuardReport report = measure(product(MIRAGE_F16, MIRAGE_F16, 64), product(MIRAGE_F16, MIRAGE_BF16, 64),
                                     (MirageGuardOptions){.seed = 3});
  assert_false(report.passed);
  report = measure(product(MIRAGE_F16, MIRAGE_F16, 64), product(MIRAGE_F16, MIRAGE_BF16, 64),
                   (MirageGuardOptions){.seed = 3, .factor = 100});
  assert_true(report.passed); // the factor is the caller's
}

// Wrong graphs are the verifier's, but one that got this far would be stopped.
static void a_wrong_graph_is_inaccurate(void **state) {
  const Sizes small = {.m = 2, .k = 16, .n = 12, .grid = 3, .loop = 4};
  MirageGuardReport report =
      measure(rms_program(small, &DIAG), rms_fused(small, RMS_PARTIAL_NORM, &DIAG), (MirageGuardOptions){.seed = 3});
  assert_false(report.passed);
  assert_true(report.errors[report.worst].candidate_relative > 0.01);
}

// Twice the sum of 65,536 squares and as many times `more`, in f16: with 4 it is inf whatever the inputs.
static MirageUGraph *sum_of_squares(double more, bool twice) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "sum_of_squares", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 1, 65536));
  MirageType scalar = mirage_type_tensor(MIRAGE_F16, 0, NULL);
  MirageValue q = op2(g, MIRAGE_OP_ADD, op1(g, MIRAGE_OP_SQUARE, x), mirage_ugraph_constant(g, scalar, more));
  MirageValue y = reduce_over(g, MIRAGE_OP_REDUCE_SUM, q, 1, 1);
  return finish_with(g, twice ? op2(g, MIRAGE_OP_ADD, y, y)
                              : op2(g, MIRAGE_OP_MUL, y, mirage_ugraph_constant(g, scalar, 2)));
}

static void a_gap_of_the_program_is_said(void **state) {
  MirageGuardReport report =
      measure(sum_of_squares(4, false), sum_of_squares(4, true), (MirageGuardOptions){.seed = 3});
  assert_true(report.passed);
  assert_false(report.guard.present);
  assert_non_null(strstr(report.reason, "accuracy of output 0 not measured: the program itself has inf or NaN"));
  report =
      measure(sum_of_squares(0, false), sum_of_squares(0, true), (MirageGuardOptions){.seed = 3}); // not at all scales
  assert_true(report.passed);
  assert_true(report.guard.present);
  assert_string_equal(report.reason, "");
}

// Half of all logarithms of normals are NaN, but inputs of one sign are measured.
static void what_is_undefined_is_not_counted(void **state) {
  MirageUGraph *graphs[2];
  for (int i = 0; i < 2; i++) {
    MirageUGraph *g = graphs[i] = mirage_ugraph_create(NULL, "log", &DIAG);
    MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 1, 64));
    assert_non_null(finish_with(g, op1(g, MIRAGE_OP_LOG, x)));
  }
  MirageGuardReport report = measure(graphs[0], graphs[1], (MirageGuardOptions){.seed = 3});
  assert_true(report.passed);
  assert_false(report.errors[MIRAGE_GUARD_UNIT].measured);
  assert_true(report.errors[MIRAGE_GUARD_SAME_SIGN].measured);
}

static void too_large_is_refused(void **state) {
  const Sizes decode = {.m = 2, .k = 4096, .n = 6144, .grid = 128, .loop = 32};
  MirageGuardReport report = measure(rms_program(decode, &DIAG), rms_fused(decode, RMS_RIGHT, &DIAG),
                                     (MirageGuardOptions){.seed = 3, .max_work = 10});
  assert_false(report.passed);
  assert_false(report.guard.present);
  assert_non_null(strstr(report.reason, "its accuracy cannot be measured"));
}

// The same verdict on instances of all kinds: the largest work takes the pair as it is.
static void instances_agree(void **state) {
  const Sizes sizes = {.m = 2, .k = 512, .n = 96, .grid = 8, .loop = 8, .rank = 16};
  const uint64_t works[] = {30000, 400000, 1000000000};
  for (int i = 0; i < 3; i++) {
    const MirageGuardOptions options = {.seed = 3, .max_work = works[i]};
    MirageGuardReport report = measure(rms_program(sizes, &DIAG), rms_fused(sizes, RMS_RIGHT, &DIAG), options);
    assert_int_equal(report.instance, i == 0   ? MIRAGE_GUARD_REPEATED
                                      : i == 1 ? MIRAGE_GUARD_SAMPLED
                                               : MIRAGE_GUARD_FULL);
    assert_true(report.passed);
    assert_true(report.guard.candidate_relative > 1e-5 && report.guard.candidate_relative < 1e-3);
    report = measure(product(MIRAGE_F16, MIRAGE_F16, 8192), product(MIRAGE_F16, MIRAGE_BF16, 8192), options);
    assert_false(report.passed);
    report = measure(product(MIRAGE_F16, MIRAGE_F16, 8192), product(MIRAGE_F16, MIRAGE_F32, 8192), options);
    assert_true(report.passed);
  }
}

// On an instance where both graphs differ in float64, nothing is measured: the pair itself decides.
static void a_wrong_graph_is_not_excused_by_its_instance(void **state) {
  const Sizes sizes = {.m = 2, .k = 512, .n = 96, .grid = 8, .loop = 8};
  for (int bug = RMS_RIGHT + 1; bug < RMS_NUM_BUGS; bug++) {
    if (bug == RMS_W_WRONG_MAP)
      continue; // no graph at these sizes
    MirageGuardReport report = measure(rms_program(sizes, &DIAG), rms_fused(sizes, bug, &DIAG),
                                       (MirageGuardOptions){.seed = 3, .max_work = 30000});
    if (report.passed || report.instance != MIRAGE_GUARD_FULL)
      fail_msg("bug %d: %s %s", bug, report.passed ? "passed" : "refused", mirage_guard_instance_name(report.instance));
  }
}

static void an_interrupt_ends_it(void **state) {
  const Sizes small = {.m = 2, .k = 16, .n = 12, .grid = 3, .loop = 4};
  int interrupt = 1;
  const MirageCancel asked = {.interrupt = &interrupt}, late = {.deadline = 1e-9};
  for (int i = 0; i < 2; i++) {
    MirageGuardReport report;
    MirageUGraph *program = rms_program(small, &DIAG), *candidate = rms_fused(small, RMS_RIGHT, &DIAG);
    const MirageGuardOptions options = {.seed = 3, .cancel = i ? &late : &asked};
    assert_int_equal(mirage_guard(program, candidate, &options, &DIAG, &report), MIRAGE_CANCELLED);
    assert_false(report.passed);
    interrupt = 0;
    assert_int_equal(
        mirage_guard(program, candidate, &(MirageGuardOptions){.seed = 3, .cancel = &asked}, &DIAG, &report),
        MIRAGE_OK);
    assert_true(report.passed);
    interrupt = 1;
    mirage_ugraph_destroy(program);
    mirage_ugraph_destroy(candidate);
  }
}

static void reports_repeat(void **state) {
  MirageGuardReport a = measure(softmax(MIRAGE_F16, SUGAR), softmax(MIRAGE_F16, SAFE), (MirageGuardOptions){.seed = 5});
  MirageGuardReport b = measure(softmax(MIRAGE_F16, SUGAR), softmax(MIRAGE_F16, SAFE), (MirageGuardOptions){.seed = 5});
  MirageGuardReport c = measure(softmax(MIRAGE_F16, SUGAR), softmax(MIRAGE_F16, SAFE), (MirageGuardOptions){.seed = 6});
  assert_true(a.guard.candidate_relative == b.guard.candidate_relative && a.guard.program_max == b.guard.program_max);
  assert_true(a.guard.candidate_relative != c.guard.candidate_relative);
}

// log sum exp(x) - sum x t of each row, with the maximum m subtracted, or exp(m) divided by.
static MirageUGraph *cross_entropy(bool safe) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "cross_entropy", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 4, 8192));
  MirageValue t = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 4, 8192));
  MirageValue wide = mirage_ugraph_cast(g, x, MIRAGE_F32), m = reduce_over(g, MIRAGE_OP_REDUCE_MAX, wide, 1, 1);
  MirageValue e = op1(g, MIRAGE_OP_EXP, safe ? op2(g, MIRAGE_OP_SUB, wide, m) : wide);
  MirageValue sum = reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1);
  if (!safe)
    sum = op2(g, MIRAGE_OP_DIV, sum, op1(g, MIRAGE_OP_EXP, m));
  MirageValue logarithm = op2(g, MIRAGE_OP_ADD, m, op1(g, MIRAGE_OP_LOG, sum));
  MirageValue picked = reduce_over(g, MIRAGE_OP_REDUCE_SUM, op2(g, MIRAGE_OP_MUL, x, t), 1, 1);
  picked = mirage_ugraph_cast(g, picked, MIRAGE_F32); // a sum that was stored in f16
  return finish_with(g, mirage_ugraph_cast(g, op2(g, MIRAGE_OP_SUB, logarithm, picked), MIRAGE_F16));
}

// The sum of x t leaves f16 long before exp(x) leaves f32, unless t is small: where inputs repeat, at every seed.
static void exponents_grow_by_one_input(void **state) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    const MirageGuardOptions options = {.seed = seed, .max_work = 20000};
    MirageGuardReport report = measure(cross_entropy(true), cross_entropy(false), options);
    assert_int_equal(report.instance, MIRAGE_GUARD_REPEATED);
    if (report.passed)
      fail_msg("seed %u: passed", (unsigned)seed);
    report = measure(cross_entropy(true), cross_entropy(true), options);
    if (!report.passed)
      fail_msg("seed %u: %s", (unsigned)seed, report.reason);
  }
}

typedef enum { WHOLE, HALVES, NARROW } Scores;

// softmax(x a (x b)^T) (x c): at the unit scale a saturated softmax, whose ties any rounding decides. Scores as one
// product, as the sum of two, or by way of bf16.
static MirageUGraph *saturated(Scores form) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "saturated", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 48, 32)), w[3], y[3];
  for (int i = 0; i < 3; i++)
    w[i] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 32, 32));
  for (int i = 0; i < 3; i++)
    y[i] = op2(g, MIRAGE_OP_MATMUL, x, w[i]);
  const MirageAttrs transposed = {.matmul = {.transpose_b = true}};
  MirageValue scores = {0}, parts[2][2];
  for (int h = 0; h < 2 && form == HALVES; h++)
    for (int i = 0; i < 2; i++)
      parts[h][i] = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &y[i],
                                        &(MirageAttrs){.slice = {.dim = 1, .begin = 16 * h, .end = 16 * h + 16}});
  if (form == HALVES)
    scores = op2(g, MIRAGE_OP_ADD, mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, parts[0], &transposed),
                 mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, parts[1], &transposed));
  else
    scores = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, y, &transposed);
  if (form == NARROW)
    scores = mirage_ugraph_cast(g, mirage_ugraph_cast(g, scores, MIRAGE_BF16), MIRAGE_F16);
  MirageValue p = mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &scores, &(MirageAttrs){.dim = {1}});
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, p, y[2]));
}

// One verdict at every seed. Single draws have, one in five, a tie that the program wins and the candidate loses.
static void ties_do_not_decide(void **state) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    MirageGuardReport right = measure(saturated(WHOLE), saturated(HALVES), (MirageGuardOptions){.seed = seed});
    if (!right.passed)
      fail_msg("seed %u: %s", (unsigned)seed, right.reason);
    if (seed % 4)
      continue;
    MirageGuardReport wrong = measure(saturated(WHOLE), saturated(NARROW), (MirageGuardOptions){.seed = seed});
    if (wrong.passed)
      fail_msg("seed %u: scores in bf16 pass: error %g, the program's own %g", (unsigned)seed,
               wrong.guard.candidate_relative, wrong.guard.program_relative);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fused_kernels_pass),
      cmocka_unit_test(online_softmax_passes),
      cmocka_unit_test(a_graph_passes_against_itself),
      cmocka_unit_test(a_missing_maximum_overflows),
      cmocka_unit_test(one_pass_variances_cancel),
      cmocka_unit_test(a_narrow_type_loses_digits),
      cmocka_unit_test(a_wrong_graph_is_inaccurate),
      cmocka_unit_test(what_is_undefined_is_not_counted),
      cmocka_unit_test(a_gap_of_the_program_is_said),
      cmocka_unit_test(too_large_is_refused),
      cmocka_unit_test(instances_agree),
      cmocka_unit_test(a_wrong_graph_is_not_excused_by_its_instance),
      cmocka_unit_test(an_interrupt_ends_it),
      cmocka_unit_test(exponents_grow_by_one_input),
      cmocka_unit_test(ties_do_not_decide),
      cmocka_unit_test(reports_repeat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
