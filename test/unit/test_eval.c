// test_eval.c - the meaning of every operator on tiny values worked out by hand, and of block graphs against their
// programs.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "block_graphs.h"
#include "mirage/eval.h"
#include "mirage/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static char last_message[256];
static void keep_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  snprintf(last_message, sizeof last_message, "%s", message);
}
static const MirageDiag DIAG = {keep_message, NULL};

// Evaluates a one-output graph and destroys it.
static MirageStatus run(const MirageDomain *domain, MirageUGraph *g, const double *const *inputs, double *out) {
  if (!g)
    print_message("graph did not build: %s\n", last_message);
  assert_non_null(g);
  last_message[0] = 0;
  MirageStatus status = mirage_eval(g, domain, (const void *const *)inputs, (void *const[]){out}, NULL, &DIAG);
  mirage_ugraph_destroy(g);
  return status;
}

static void expect_values(size_t n, const double *got, const double *expected, double tolerance) {
  for (size_t i = 0; i < n; i++) {
    bool same =
        got[i] == expected[i] || fabs(got[i] - expected[i]) <= tolerance || (isnan(got[i]) && isnan(expected[i]));
    if (!same)
      print_message("element %zu is %.17g instead of %.17g\n", i, got[i], expected[i]);
    assert_true(same);
  }
}

#define LIST(...) ((const double[]){__VA_ARGS__})
#define COUNT(list) (sizeof(list) / sizeof(double))

// One operator on inputs a (and b, when its rank is not 0xff).
static MirageUGraph *single(MirageOp op, MirageType a, const MirageType *b, const MirageAttrs *attrs) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "single", &DIAG);
  MirageValue v[2] = {mirage_ugraph_input(g, a)};
  if (b)
    v[1] = mirage_ugraph_input(g, *b);
  return finish_with(g, mirage_ugraph_apply(g, op, b ? 2 : 1, v, attrs));
}

#define EXPECT1(op, type, attrs, in, expected)                                                                         \
  do {                                                                                                                 \
    double out[COUNT(expected)];                                                                                       \
    assert_int_equal(run(mirage_domain_f64(), single(op, type, NULL, attrs), (const double *const[]){in}, out),        \
                     MIRAGE_OK);                                                                                       \
    expect_values(COUNT(expected), out, expected, 1e-12);                                                              \
  } while (0)
#define EXPECT2(op, type_a, type_b, attrs, a, b, expected)                                                             \
  do {                                                                                                                 \
    double out[COUNT(expected)];                                                                                       \
    MirageType type_of_b = type_b;                                                                                     \
    assert_int_equal(                                                                                                  \
        run(mirage_domain_f64(), single(op, type_a, &type_of_b, attrs), (const double *const[]){a, b}, out),           \
        MIRAGE_OK);                                                                                                    \
    expect_values(COUNT(expected), out, expected, 1e-12);                                                              \
  } while (0)

#define T1(n) tensor_type(MIRAGE_F32, 1, n)
#define T2(m, n) tensor_type(MIRAGE_F32, 2, m, n)
#define T3(b, m, n) tensor_type(MIRAGE_F32, 3, b, m, n)

static void unary_operators(void **state) {
  EXPECT1(MIRAGE_OP_EXP, T1(2), NULL, LIST(0, 1), LIST(1, 2.718281828459045));
  EXPECT1(MIRAGE_OP_LOG, T1(2), NULL, LIST(1, 2.718281828459045), LIST(0, 1));
  EXPECT1(MIRAGE_OP_SQRT, T1(2), NULL, LIST(0, 9), LIST(0, 3));
  EXPECT1(MIRAGE_OP_RSQRT, T1(2), NULL, LIST(4, 16), LIST(0.5, 0.25));
  EXPECT1(MIRAGE_OP_SQUARE, T1(2), NULL, LIST(-3, 0.5), LIST(9, 0.25));
  EXPECT1(MIRAGE_OP_NEG, T1(2), NULL, LIST(-3, 0.5), LIST(3, -0.5));
  EXPECT1(MIRAGE_OP_SIGMOID, T1(2), NULL, LIST(0, 1), LIST(0.5, 0.73105857863000490));
  EXPECT1(MIRAGE_OP_SILU, T1(2), NULL, LIST(0, 2), LIST(0, 1.7615941559557649));
  EXPECT1(MIRAGE_OP_GELU, T1(2), NULL, LIST(0, 1), LIST(0, 0.84134474606854293));
  EXPECT1(MIRAGE_OP_GELU_TANH, T1(2), NULL, LIST(0, 1), LIST(0, 0.84119199060827671));
  EXPECT1(MIRAGE_OP_ERF, T1(2), NULL, LIST(0, 1), LIST(0, 0.84270079294971487));
  EXPECT1(MIRAGE_OP_TANH, T1(2), NULL, LIST(0, 1), LIST(0, 0.76159415595576489));
  EXPECT1(MIRAGE_OP_RELU, T1(3), NULL, LIST(-1, 0, 2), LIST(0, 0, 2));
}

static void circular_functions(void **state) {
  EXPECT1(MIRAGE_OP_SIN, T1(3), NULL, LIST(0, 1, -1), LIST(0, 0.8414709848078965, -0.8414709848078965));
  EXPECT1(MIRAGE_OP_COS, T1(3), NULL, LIST(0, 1, -1), LIST(1, 0.54030230586813977, 0.54030230586813977));
}

static void functions(void **state) {
  MirageAttrs slope = {.slope = {0.25}}, steep = {.slope = {2}}, bounds = {.bounds = {-1, 2}};
  EXPECT1(MIRAGE_OP_ABS, T1(3), NULL, LIST(-2, 0, 3), LIST(2, 0, 3));
  EXPECT1(MIRAGE_OP_SIGN, T1(3), NULL, LIST(-2, 0, 3), LIST(-1, 0, 1));
  EXPECT1(MIRAGE_OP_LOG1P, T1(2), NULL, LIST(0, 1), LIST(0, 0.69314718055994531));
  EXPECT1(MIRAGE_OP_SOFTPLUS, T1(3), NULL, LIST(0, 1000, -1000), LIST(0.69314718055994531, 1000, 0));
  EXPECT1(MIRAGE_OP_HARD_SIGMOID, T1(4), NULL, LIST(-4, 0, 1.5, 4), LIST(0, 0.5, 0.75, 1));
  EXPECT1(MIRAGE_OP_HARD_SWISH, T1(4), NULL, LIST(-4, -1.5, 1.5, 4), LIST(0, -0.375, 1.125, 4));
  EXPECT1(MIRAGE_OP_LEAKY_RELU, T1(3), &slope, LIST(-4, 0, 4), LIST(-1, 0, 4));
  EXPECT1(MIRAGE_OP_LEAKY_RELU, T1(3), &steep, LIST(-4, 0, 4), LIST(-8, 0, 4));
  EXPECT1(MIRAGE_OP_CLAMP, T1(4), &bounds, LIST(-4, -1, 0.5, 4), LIST(-1, -1, 0.5, 2));
}

static void powers(void **state) {
  static const double exponents[] = {1, 2, 3, 7, 64, -1, -3, 0.5, -0.5, 1.5, -2.5, 8.5, 9.5, 0.3, -1.75};
  for (size_t i = 0; i < COUNT(exponents); i++) {
    const double x[] = {1, 0.75, 1.0625};
    MirageAttrs attrs = {.exponent = {exponents[i]}};
    EXPECT1(MIRAGE_OP_POW, T1(3), &attrs, x, LIST(1, pow(x[1], exponents[i]), pow(x[2], exponents[i])));
  }
  MirageAttrs odd = {.exponent = {3}}, root = {.exponent = {0.3}};
  EXPECT1(MIRAGE_OP_POW, T1(2), &odd, LIST(-2, 0), LIST(-8, 0));
  EXPECT1(MIRAGE_OP_POW, T1(2), &root, LIST(-2, 0), LIST(NAN, 0)); // as pow has it
}

static void derived_operators_are_their_expansions(void **state) {
  for (int op = 1; op < MIRAGE_NUM_OPS; op++) {
    if (mirage_op_info((MirageOp)op)->kind != MIRAGE_KIND_UNARY || !mirage_op_expansion((MirageOp)op))
      continue;
    const double in[4] = {0.3, 1.0, 1.7, 2.5};
    double direct[4], expanded[4];
    MirageUGraph *g = single((MirageOp)op, T1(4), NULL, NULL), *plain = NULL;
    assert_int_equal(mirage_ugraph_expand(g, &DIAG, &plain), MIRAGE_OK);
    assert_int_equal(run(mirage_domain_f64(), g, (const double *const[]){in}, direct), MIRAGE_OK);
    assert_int_equal(run(mirage_domain_f64(), plain, (const double *const[]){in}, expanded), MIRAGE_OK);
    expect_values(4, direct, expanded, 1e-12);
  }
}

static void binary_operators_broadcast_from_the_right(void **state) {
  EXPECT2(MIRAGE_OP_ADD, T2(2, 2), T1(2), NULL, LIST(1, 2, 3, 4), LIST(10, 20), LIST(11, 22, 13, 24));
  EXPECT2(MIRAGE_OP_SUB, T2(2, 1), T2(1, 3), NULL, LIST(1, 2), LIST(1, 2, 3), LIST(0, -1, -2, 1, 0, -1));
  EXPECT2(MIRAGE_OP_MUL, T2(2, 2), T2(2, 1), NULL, LIST(1, 2, 3, 4), LIST(2, 3), LIST(2, 4, 9, 12));
  EXPECT2(MIRAGE_OP_DIV, T1(2), T1(2), NULL, LIST(1, 9), LIST(4, 3), LIST(0.25, 3));
  EXPECT2(MIRAGE_OP_MAX, T1(2), T1(2), NULL, LIST(1, 9), LIST(4, 3), LIST(4, 9));
  EXPECT2(MIRAGE_OP_MIN, T1(2), T1(2), NULL, LIST(1, 9), LIST(4, 3), LIST(1, 3));
}

static void matrix_products(void **state) {
  MirageAttrs none = {0}, ta = {.matmul = {.transpose_a = true, .transpose_b = false}},
              tb = {.matmul = {.transpose_a = false, .transpose_b = true}};
  EXPECT2(MIRAGE_OP_MATMUL, T2(2, 3), T2(3, 2), &none, LIST(1, 2, 3, 4, 5, 6), LIST(1, 2, 3, 4, 5, 6),
          LIST(22, 28, 49, 64));
  EXPECT2(MIRAGE_OP_MATMUL, T2(3, 2), T2(3, 2), &ta, LIST(1, 4, 2, 5, 3, 6), LIST(1, 2, 3, 4, 5, 6),
          LIST(22, 28, 49, 64));
  EXPECT2(MIRAGE_OP_MATMUL, T2(2, 3), T2(2, 3), &tb, LIST(1, 2, 3, 4, 5, 6), LIST(1, 3, 5, 2, 4, 6),
          LIST(22, 28, 49, 64));
  // batches; the right operand has one for both
  EXPECT2(MIRAGE_OP_MATMUL, T3(2, 1, 2), T3(1, 2, 1), &none, LIST(1, 2, 3, 4), LIST(10, 1), LIST(12, 34));
  EXPECT2(MIRAGE_OP_MATMUL, T3(2, 1, 2), T3(2, 2, 1), &none, LIST(1, 2, 3, 4), LIST(10, 1, 1, 10), LIST(12, 43));
}

// Large enough for several threads, with tiles that are cut off at both ends. Values are small integers, so that every
// order of additions gives the same sum.
static void large_matrix_product(void **state) {
  enum { M = 602, K = 301, N = 701 };
  double *a = malloc(sizeof(double) * M * K), *b = malloc(sizeof(double) * K * N), *y = malloc(sizeof(double) * M * N);
  MirageType right = T2(K, N);
  assert_true(a && b && y);
  for (int i = 0; i < M * K; i++)
    a[i] = i * 7 % 23 - 11;
  for (int i = 0; i < K * N; i++)
    b[i] = i * 5 % 19 - 9;
  assert_int_equal(
      run(mirage_domain_f64(), single(MIRAGE_OP_MATMUL, T2(M, K), &right, NULL), (const double *const[]){a, b}, y),
      MIRAGE_OK);
  for (int at = 0; at < M * N; at += at % N == N - 1 ? 1 : 13) {
    double sum = 0;
    for (int k = 0; k < K; k++)
      sum += a[at / N * K + k] * b[k * N + at % N];
    if (y[at] != sum)
      fail_msg("element %d: expected %g, got %g", at, sum, y[at]);
  }
  free(a), free(b), free(y);
}

static void reductions(void **state) {
  MirageAttrs rows = {.reduce = {.dim = 0, .extent = 1}}, columns = {.reduce = {.dim = 1, .extent = 1}},
              half = {.reduce = {.dim = 1, .extent = 2}};
  EXPECT1(MIRAGE_OP_REDUCE_SUM, T2(2, 4), &rows, LIST(1, 2, 3, 4, 5, 6, 7, 8), LIST(6, 8, 10, 12));
  EXPECT1(MIRAGE_OP_REDUCE_SUM, T2(2, 4), &columns, LIST(1, 2, 3, 4, 5, 6, 7, 8), LIST(10, 26));
  EXPECT1(MIRAGE_OP_REDUCE_SUM, T2(2, 4), &half, LIST(1, 2, 3, 4, 5, 6, 7, 8), LIST(4, 6, 12, 14)); // j, j + 2
  EXPECT1(MIRAGE_OP_REDUCE_MAX, T2(2, 4), &columns, LIST(1, 9, 3, 4, 5, 6, -7, 8), LIST(9, 8));
  EXPECT1(MIRAGE_OP_REDUCE_MEAN, T2(2, 4), &half, LIST(1, 2, 3, 4, 5, 6, 7, 8), LIST(2, 3, 6, 7));
}

static void data_movement(void **state) {
  MirageAttrs wide = {.shape = {T2(2, 3)}}, flat = {.shape = {T1(6)}};
  MirageAttrs twice = {.repeat = {1, 2}}, slice = {.slice = {1, 1, 3}}, dim0 = {.dim = {0}}, dim1 = {.dim = {1}};
  MirageAttrs swap = {.perm = {{1, 0}}}, turn = {.perm = {{2, 0, 1}}};
  EXPECT1(MIRAGE_OP_BROADCAST, T2(2, 1), &wide, LIST(1, 2), LIST(1, 1, 1, 2, 2, 2));
  EXPECT1(MIRAGE_OP_RESHAPE, T2(2, 3), &flat, LIST(1, 2, 3, 4, 5, 6), LIST(1, 2, 3, 4, 5, 6));
  EXPECT1(MIRAGE_OP_REPEAT, T2(2, 2), &twice, LIST(1, 2, 3, 4), LIST(1, 2, 1, 2, 3, 4, 3, 4));
  EXPECT1(MIRAGE_OP_TRANSPOSE, T2(2, 3), &swap, LIST(1, 2, 3, 4, 5, 6), LIST(1, 4, 2, 5, 3, 6));
  EXPECT1(MIRAGE_OP_TRANSPOSE, T3(1, 2, 3), &turn, LIST(1, 2, 3, 4, 5, 6), LIST(1, 4, 2, 5, 3, 6));
  EXPECT1(MIRAGE_OP_SLICE, T2(2, 3), &slice, LIST(1, 2, 3, 4, 5, 6), LIST(2, 3, 5, 6));
  EXPECT2(MIRAGE_OP_CONCAT, T2(1, 2), T2(2, 2), &dim0, LIST(1, 2), LIST(3, 4, 5, 6), LIST(1, 2, 3, 4, 5, 6));
  EXPECT2(MIRAGE_OP_CONCAT, T2(2, 1), T2(2, 2), &dim1, LIST(1, 2), LIST(3, 4, 5, 6), LIST(1, 3, 4, 2, 5, 6));
}

static void large_transpositions_agree_with_their_definition(void **state) {
  enum { M = 70, N = 45 };
  static double in[M * N], out[M * N];
  MirageAttrs swap = {.perm = {{1, 0}}};
  for (int i = 0; i < M * N; i++)
    in[i] = i;
  assert_int_equal(
      run(mirage_domain_f64(), single(MIRAGE_OP_TRANSPOSE, T2(M, N), NULL, &swap), (const double *const[]){in}, out),
      MIRAGE_OK);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      assert_true(out[i * M + j] == in[j * N + i]);
}

static void sugar(void **state) {
  MirageAttrs last = {.dim = {1}}, eps = {.eps = {0.0}};
  EXPECT1(MIRAGE_OP_SOFTMAX, T2(1, 2), &last, LIST(0, 1.0986122886681098), LIST(0.25, 0.75));
  EXPECT1(MIRAGE_OP_SOFTMAX, T2(1, 2), &last, LIST(5000, 5000), LIST(0.5, 0.5)); // safe
  EXPECT1(MIRAGE_OP_RMS_NORM, T2(1, 2), &eps, LIST(1, 7), LIST(0.2, 1.4));
  EXPECT2(MIRAGE_OP_RMS_NORM, T2(1, 2), T1(2), &eps, LIST(1, 7), LIST(10, 1), LIST(2, 1.4));
  EXPECT1(MIRAGE_OP_LAYER_NORM, T2(1, 2), &eps, LIST(1, 7), LIST(-1, 1));
}

static void real_types_round_every_result(void **state) {
  double out[2];
  MirageType h = tensor_type(MIRAGE_F16, 1, 2);
  run(mirage_domain_real(), single(MIRAGE_OP_ADD, h, &h, NULL),
      (const double *const[]){LIST(2048, 1), LIST(1, 0x1p-12)}, out);
  expect_values(2, out, LIST(2048, 1), 0); // 2049 and 1 + 2^-12 are no halves
  run(mirage_domain_real(), single(MIRAGE_OP_SQUARE, h, NULL, NULL), (const double *const[]){LIST(300, 3)}, out);
  expect_values(2, out, LIST(INFINITY, 9), 0);
  // Sugar rounds once: in f16 the sum of squares would overflow.
  MirageAttrs eps = {.eps = {0.0}};
  run(mirage_domain_real(), single(MIRAGE_OP_RMS_NORM, tensor_type(MIRAGE_F16, 2, 1, 2), NULL, &eps),
      (const double *const[]){LIST(300, 300)}, out);
  expect_values(2, out, LIST(1, 1), 0);
}

// -------------------------------------------------------------------------------------------- block graphs vs programs

static double *random_values(uint64_t stream, size_t n) {
  MirageRandom random;
  double *values = malloc(n * sizeof *values);
  assert_non_null(values);
  mirage_random_init(&random, 99, stream);
  for (size_t i = 0; i < n; i++)
    values[i] = mirage_random_normal(&random);
  return values;
}

// Both graphs on the same random inputs, in doubles; consumes them.
static double difference(MirageUGraph *a, MirageUGraph *b) {
  assert_non_null(a);
  assert_non_null(b);
  double *inputs[8] = {0}, relative, largest;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(a); i++)
    inputs[i] = random_values(i, (size_t)mirage_type_elements(mirage_ugraph_type(a, mirage_ugraph_get_input(a, i))));
  size_t n = (size_t)mirage_type_elements(mirage_ugraph_type(a, mirage_ugraph_get_output(a, 0)));
  double *left = random_values(50, n), *right = random_values(51, n);
  assert_int_equal(run(mirage_domain_f64(), a, (const double *const *)inputs, left), MIRAGE_OK);
  assert_int_equal(run(mirage_domain_f64(), b, (const double *const *)inputs, right), MIRAGE_OK);
  mirage_compare(right, left, n, &relative, &largest);
  for (uint32_t i = 0; i < 8; i++)
    free(inputs[i]);
  free(left);
  free(right);
  return relative;
}

static void block_graphs_equal_their_programs(void **state) {
  const Sizes even = {.m = 2, .k = 64, .n = 48, .grid = 4, .loop = 8, .rank = 8};
  const Sizes ragged = {.m = 3, .k = 61, .n = 43, .grid = 4, .loop = 8, .rank = 8};
  const Sizes empty = {
      .m = 3, .k = 9, .n = 9, .grid = 4, .loop = 4, .rank = 2}; // chunks of 3: the fourth part is empty
  const Sizes cases[] = {even, ragged, empty};
  for (size_t i = 0; i < 3; i++) {
    Sizes s = cases[i];
    assert_true(difference(rms_program(s, &DIAG), rms_fused(s, RMS_RIGHT, &DIAG)) < 1e-12);
    assert_true(difference(mlp_program(s, &DIAG), mlp_fused(s, MLP_RIGHT, &DIAG)) < 1e-12);
    assert_true(difference(lora_program(s, &DIAG), lora_fused(s, false, &DIAG)) < 1e-12);
    assert_true(difference(linear_program(s, &DIAG), linear_split(s, SPLIT_GRID_SUM, &DIAG)) < 1e-12);
    assert_true(difference(linear_program(s, &DIAG), linear_split(s, SPLIT_CLUSTER_SUM, &DIAG)) < 1e-12);
    assert_true(difference(rms_program(s, &DIAG), rms_fused(s, RMS_NO_SQRT, &DIAG)) > 1e-3);
    assert_true(difference(lora_program(s, &DIAG), lora_fused(s, true, &DIAG)) > 1e-3);
  }
  const Sizes heads = {.m = 6, .n = 20, .rank = 5, .grid = 2, .loop = 4};
  assert_true(difference(attention_program(heads, true, &DIAG), attention_flash(heads, FLASH_RIGHT, &DIAG)) < 1e-12);
  assert_true(difference(attention_program(heads, true, &DIAG), attention_flash(heads, FLASH_NO_RESCALE, &DIAG)) >
              1e-3);
}

// x[2, 8] -> loop of 4 tiles [2, 2] with the given combine; the result is stored whole. One block.
static MirageUGraph *loop_graph(MirageCombine combine, MirageFill fill, int64_t columns, bool nested) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "loop", &DIAG);
  MirageValue x = mirage_ugraph_input(g, T2(2, (int)columns));
  int64_t width = combine == MIRAGE_COMBINE_CONCAT ? 8 : nested ? 1 : 2;
  MirageType y_type = T2(2, (int)width);
  MirageCustomAttrs attrs = blocks(1);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(-1, 1), whole = access_of(-1, -1);
  map.fill = fill;
  MirageAttrs bottom = {.shape = {tile2(2, width)}};
  MirageValue init = combine == MIRAGE_COMBINE_MAX ? mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &bottom)
                                                   : mirage_ugraph_constant(g, tile2(2, width), 0.0);
  MirageCarry carry = {combine, 1};
  MirageNode loop = mirage_ugraph_open_loop(g, 1, &init, &(MirageLoopAttrs){nested ? 2 : 4, 1, &carry});
  if (nested) { // the inner loop takes single columns of the outer's half
    map.loop[1] = 1;
    MirageNode inner = mirage_ugraph_open_loop(g, 1, &init, &(MirageLoopAttrs){columns / 2, 1, &carry});
    MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
    mirage_ugraph_close(g, 1, &t);
    MirageValue sum = mirage_ugraph_result(g, inner, 0);
    mirage_ugraph_close(g, 1, &sum);
  } else {
    MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
    MirageValue factor = mirage_ugraph_constant(g, tile2(1, 1), 2.0);
    mirage_ugraph_close(g, combine == MIRAGE_COMBINE_RESCALE ? 2 : 1, (MirageValue[]){t, factor});
  }
  mirage_ugraph_store(g, mirage_ugraph_result(g, loop, 0), mirage_ugraph_argument(g, kernel, 1), &whole);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void expect_loop(MirageCombine combine, MirageFill fill, int64_t columns, bool nested, size_t n,
                        const double *expected) {
  const double x8[] = {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, -8};
  const double x7[] = {1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, -7};
  double out[16];
  assert_int_equal(run(mirage_domain_f64(), loop_graph(combine, fill, columns, nested),
                       (const double *const[]){columns == 8 ? x8 : x7}, out),
                   MIRAGE_OK);
  expect_values(n, out, expected, 0);
}

static void loops_combine_their_carries(void **state) {
  expect_loop(MIRAGE_COMBINE_SUM, MIRAGE_FILL_ZERO, 8, false, 4, LIST(16, 20, -16, -20));
  expect_loop(MIRAGE_COMBINE_MAX, MIRAGE_FILL_ZERO, 8, false, 4, LIST(7, 8, -1, -2));
  expect_loop(MIRAGE_COMBINE_ASSIGN, MIRAGE_FILL_ZERO, 8, false, 4, LIST(7, 8, -7, -8));
  expect_loop(MIRAGE_COMBINE_RESCALE, MIRAGE_FILL_ZERO, 8, false, 4, LIST(37, 52, -37, -52)); // ((1*2+3)*2+5)*2+7
  expect_loop(MIRAGE_COMBINE_CONCAT, MIRAGE_FILL_ZERO, 8, false, 16,
              LIST(1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, -8));
  expect_loop(MIRAGE_COMBINE_SUM, MIRAGE_FILL_ZERO, 8, true, 2, LIST(36, -36));
}

// x[n] -> for each of 2 blocks its elements in 3 iterations, one after the other, beyond the end 0: y[2, all].
static MirageUGraph *parts_graph(int64_t n, int64_t tile, int64_t given, bool cyclic) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "parts", &DIAG);
  MirageValue x = mirage_ugraph_input(g, mirage_type_tensor(MIRAGE_F32, 1, &n));
  MirageType y_type = T2(2, (int)(3 * tile));
  MirageCustomAttrs attrs = blocks(2);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(0, 0), row = access_of(0, -1);
  map.tiles[0] = given;
  map.cyclic = cyclic;
  MirageValue init = mirage_ugraph_constant(g, tile2(1, 3 * tile), 0.0);
  MirageCarry carry = {MIRAGE_COMBINE_CONCAT, 1};
  MirageNode loop = mirage_ugraph_open_loop(g, 1, &init, &(MirageLoopAttrs){3, 1, &carry});
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  MirageAttrs shape = {.shape = {tile2(1, tile)}};
  t = mirage_ugraph_cast(g, mirage_ugraph_apply(g, MIRAGE_OP_RESHAPE, 1, &t, &shape), MIRAGE_F32);
  mirage_ugraph_close(g, 1, &t);
  mirage_ugraph_store(g, mirage_ugraph_result(g, loop, 0), mirage_ugraph_argument(g, kernel, 1), &row);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void expect_parts(int64_t n, int64_t tile, int64_t given, bool cyclic, const double *expected) {
  const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  double out[12];
  assert_int_equal(run(mirage_domain_f64(), parts_graph(n, tile, given, cyclic), (const double *const[]){x}, out),
                   MIRAGE_OK);
  expect_values((size_t)(6 * tile), out, expected, 0);
}

static void cyclic_loads_take_every_nth_tile(void **state) {
  expect_parts(12, 2, 0, false, LIST(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  expect_parts(12, 2, 0, true, LIST(1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12));
  expect_parts(9, 2, 0, false, LIST(1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 0, 0)); // chunks of 5
  expect_parts(9, 2, 0, true, LIST(1, 2, 4, 5, 7, 8, 3, 0, 6, 0, 9, 0));  // of 3, one an iteration
  expect_parts(9, 2, 2, false, LIST(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0)); // of 6
  expect_parts(9, 2, 2, true, LIST(1, 2, 5, 6, 9, 0, 3, 4, 7, 8, 0, 0));  // of 4
}

static void masked_elements_hold_their_fill(void **state) {
  expect_loop(MIRAGE_COMBINE_SUM, MIRAGE_FILL_ZERO, 7, false, 4, LIST(16, 12, -16, -12));
  expect_loop(MIRAGE_COMBINE_SUM, MIRAGE_FILL_ONE, 7, false, 4, LIST(16, 13, -16, -11));
  expect_loop(MIRAGE_COMBINE_MAX, MIRAGE_FILL_BOTTOM, 7, false, 4, LIST(7, 6, -1, -2));
  expect_loop(MIRAGE_COMBINE_MAX, MIRAGE_FILL_ZERO, 7, false, 4,
              LIST(7, 6, -1, 0)); // zero is not neutral for a maximum
}

static void thread_regions_compute_on_fragments(void **state) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "thread", &DIAG);
  MirageValue x = mirage_ugraph_input(g, T2(2, 4));
  MirageType y_type = T2(2, 4);
  MirageCustomAttrs attrs = blocks(2);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(0, -1);
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  MirageNode thread = mirage_ugraph_open_thread(g, 1, &t);
  MirageValue f = op1(g, MIRAGE_OP_SQUARE, mirage_ugraph_argument(g, thread, 0));
  f = op2(g, MIRAGE_OP_ADD, f, mirage_ugraph_argument(g, thread, 0));
  mirage_ugraph_close(g, 1, &f);
  mirage_ugraph_store(g, mirage_ugraph_result(g, thread, 0), mirage_ugraph_argument(g, kernel, 1), &map);
  mirage_ugraph_close(g, 0, NULL);
  double out[8];
  assert_int_equal(run(mirage_domain_f64(), finish_with(g, mirage_ugraph_result(g, kernel, 0)),
                       (const double *const[]){LIST(1, 2, 3, 4, 5, 6, 7, 8)}, out),
                   MIRAGE_OK);
  expect_values(8, out, LIST(2, 6, 12, 20, 30, 42, 56, 72), 0);
}

// Blocks on a grid 2 x 4, clusters of 1 x 4; block (i, j) holds x[i][j].
static MirageUGraph *collective_graph(MirageOp op, bool over_x) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "collective", &DIAG);
  MirageValue x = mirage_ugraph_input(g, T2(2, 4));
  MirageType y_type = T2(2, 4);
  MirageCustomAttrs attrs = {.grid = {2, 4, 1}, .cluster = {1, 4, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(0, -1);
  map.grid[1] = 1;
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  t = mirage_ugraph_apply(g, op, 1, &t, &(MirageAttrs){.axes = {{over_x, true, false}}});
  mirage_ugraph_store(g, t, mirage_ugraph_argument(g, kernel, 1), &map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void collectives_join_blocks(void **state) {
  const double x[] = {1, 2, 3, 4, 50, 60, 70, 80};
  double out[8];
  assert_int_equal(
      run(mirage_domain_f64(), collective_graph(MIRAGE_OP_CLUSTER_SUM, false), (const double *const[]){x}, out),
      MIRAGE_OK);
  expect_values(8, out, LIST(10, 10, 10, 10, 260, 260, 260, 260), 0);
  assert_int_equal(
      run(mirage_domain_f64(), collective_graph(MIRAGE_OP_GRID_SUM, false), (const double *const[]){x}, out),
      MIRAGE_OK);
  expect_values(8, out, LIST(10, 10, 10, 10, 260, 260, 260, 260), 0);
  assert_int_equal(
      run(mirage_domain_f64(), collective_graph(MIRAGE_OP_GRID_MAX, true), (const double *const[]){x}, out), MIRAGE_OK);
  expect_values(8, out, LIST(80, 80, 80, 80, 80, 80, 80, 80), 0);
  assert_int_equal(
      run(mirage_domain_f64(), collective_graph(MIRAGE_OP_CLUSTER_MAX, false), (const double *const[]){x}, out),
      MIRAGE_OK);
  expect_values(8, out, LIST(4, 4, 4, 4, 80, 80, 80, 80), 0);
}

// -------------------------------------------------------------------------------------------------------------- errors

// Copies x[n]; x_axis, y_axis: the dimension that the grid splits in the load and in the store, or -1.
static MirageUGraph *copy_graph(int64_t n, int64_t grid, int x_axis, int y_axis) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "copy", &DIAG);
  MirageValue x = mirage_ugraph_input(g, T1((int)n));
  MirageType y_type = T1((int)(y_axis < 0 && x_axis >= 0 ? n / grid : n));
  MirageCustomAttrs attrs = blocks(grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(x_axis, -1), y_map = access_of(y_axis, -1);
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &x_map);
  mirage_ugraph_store(g, t, mirage_ugraph_argument(g, kernel, 1), &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void racing_blocks_are_an_error(void **state) {
  double out[4];
  assert_int_equal(run(mirage_domain_f64(), copy_graph(4, 2, 0, 0), (const double *const[]){LIST(1, 2, 3, 4)}, out),
                   MIRAGE_OK);
  assert_int_equal(run(mirage_domain_f64(), copy_graph(4, 2, -1, -1), (const double *const[]){LIST(1, 2, 3, 4)}, out),
                   MIRAGE_OK);
  assert_int_equal(run(mirage_domain_f64(), copy_graph(4, 2, 0, -1), (const double *const[]){LIST(1, 2, 3, 4)}, out),
                   MIRAGE_BAD_GRAPH);
  assert_string_equal(last_message, "store: blocks 0 and 1 store different values to element 0 of output 0");
}

// Copies x[4] in a loop of 4, one element an iteration.
static MirageUGraph *loop_store(void) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "loop_store", &DIAG);
  MirageValue x = mirage_ugraph_input(g, T1(4));
  MirageType y_type = T1(4);
  MirageCustomAttrs attrs = blocks(1);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(-1, 0);
  MirageLoopAttrs loop = {.range = 4, .num_carries = 0};
  mirage_ugraph_open_loop(g, 0, NULL, &loop);
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  mirage_ugraph_store(g, t, mirage_ugraph_argument(g, kernel, 1), &map);
  mirage_ugraph_close(g, 0, NULL);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// The tile is f32, the tensor f16: what the next kernel reads has been rounded. Not so in the reals.
static void stores_round_to_the_tensor(void **state) {
  const double one = 1.0 + 0x1p-9, inputs[2] = {one, 70000.0};
  for (int real = 0; real < 2; real++) {
    MirageUGraph *g = mirage_ugraph_create(NULL, "stores", &DIAG);
    MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 2));
    const MirageType y_type = tensor_type(MIRAGE_F16, 1, 2);
    const MirageAccessAttrs whole = access_of(-1, -1);
    const MirageCustomAttrs attrs = blocks(1);
    MirageNode custom = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
    MirageValue tile = mirage_ugraph_load(g, mirage_ugraph_argument(g, custom, 0), &whole);
    mirage_ugraph_store(g, op2(g, MIRAGE_OP_MUL, tile, tile), mirage_ugraph_argument(g, custom, 1), &whole);
    mirage_ugraph_close(g, 0, NULL);
    double out[2];
    assert_int_equal(run(real ? mirage_domain_real() : mirage_domain_f64(),
                         finish_with(g, mirage_ugraph_result(g, custom, 0)), (const double *const[]){inputs}, out),
                     MIRAGE_OK);
    const double squares[2] = {one * one, 4.9e9}, rounded[2] = {1.0 + 0x1p-8, INFINITY};
    expect_values(2, out, real ? rounded : squares, 0);
  }
}

static void stores_inside_loops_cover_the_output(void **state) {
  double out[4];
  assert_int_equal(run(mirage_domain_f64(), loop_store(), (const double *const[]){LIST(1, 2, 3, 4)}, out), MIRAGE_OK);
  expect_values(4, out, LIST(1, 2, 3, 4), 0);
}

static void memory_has_a_limit(void **state) {
  MirageUGraph *g = linear_program((Sizes){.m = 8, .k = 8, .n = 8}, &DIAG);
  double x[64] = {0}, y[64];
  MirageEvalOptions options = {.max_bytes = 64 * sizeof(double) - 1};
  assert_int_equal(
      mirage_eval(g, mirage_domain_f64(), (const void *const[]){x, x}, (void *const[]){y}, &options, &DIAG),
      MIRAGE_LIMIT);
  assert_non_null(strstr(last_message, "memory limit"));
  options.max_bytes++;
  assert_int_equal(
      mirage_eval(g, mirage_domain_f64(), (const void *const[]){x, x}, (void *const[]){y}, &options, &DIAG), MIRAGE_OK);
  mirage_ugraph_destroy(g);
}

// ------------------------------------------------------------------------------------------------------ numbers, speed

static void bit_patterns_round_trip(void **state) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    double h = mirage_f16_to_double((uint16_t)bits), b = mirage_bf16_to_double((uint16_t)bits);
    if (!isnan(h)) {
      assert_int_equal(mirage_f16_from_double(h), bits);
      assert_true(mirage_round_to(MIRAGE_F16, h) == h);
    }
    if (!isnan(b)) {
      assert_int_equal(mirage_bf16_from_double(b), bits);
      assert_true(mirage_round_to(MIRAGE_BF16, b) == b);
    }
  }
  assert_true(isnan(mirage_f16_to_double(mirage_f16_from_double(NAN))));
}

static void rounding_is_to_nearest_even(void **state) {
  assert_true(mirage_round_to(MIRAGE_F16, 1 + 0x1p-11) == 1);              // tie, even below
  assert_true(mirage_round_to(MIRAGE_F16, 1 + 3 * 0x1p-11) == 1 + 0x1p-9); // tie, even above
  assert_true(mirage_round_to(MIRAGE_F16, 1 + 0x1.001p-11) == 1 + 0x1p-10);
  assert_true(mirage_round_to(MIRAGE_F16, 65519.99) == 65504);
  assert_true(mirage_round_to(MIRAGE_F16, 65520) == INFINITY);
  assert_true(mirage_round_to(MIRAGE_F16, -1e300) == -INFINITY);
  assert_true(mirage_round_to(MIRAGE_F16, 0x1p-25) == 0); // half the smallest subnormal
  assert_true(mirage_round_to(MIRAGE_F16, 0x1.8p-25) == 0x1p-24);
  assert_true(mirage_round_to(MIRAGE_BF16, 1 + 0x1p-8) == 1);
  assert_true(mirage_round_to(MIRAGE_BF16, 0x1.fep127) == 0x1.fep127);
  assert_true(mirage_round_to(MIRAGE_BF16, 0x1.ffp127) == INFINITY);
  assert_true(mirage_round_to(MIRAGE_F32, 0x1.ffffffp127) == INFINITY);
  assert_true(mirage_round_to(MIRAGE_F32, 0x1.fffffefp127) == 0x1.fffffep127);
  assert_true(signbit(mirage_round_to(MIRAGE_F16, -0x1p-30)));
}

// Arrays are rounded by loops of their own: the same numbers, at the edges too.
// Bit for bit, but for the bits of a NaN.
static void assert_same_numbers(size_t count, const double *a, const double *b) {
  for (size_t i = 0; i < count; i++)
    assert_true(memcmp(&a[i], &b[i], sizeof *a) == 0 || (isnan(a[i]) && isnan(b[i])));
}

static void arrays_are_rounded_like_numbers(void **state) {
  static const double NUMBERS[] = {
      0.0,     -0.0,      1 + 0x1p-11, 1 + 0x1p-8,    -65519.99,      65520,           -65520,
      0x1p-25, 0x1.8p-25, -0x1p-30,    0x1.ffp127,    0x1.ffffffp127, 0x1.fffffefp127, 1e300,
      -1e300,  5e-324,    -0x1p-140,   0x1.0001p-126, INFINITY,       -INFINITY,       NAN,
      3.0};
  enum { COUNT = sizeof NUMBERS / sizeof *NUMBERS };
  static const MirageDType DTYPES[] = {MIRAGE_F16, MIRAGE_BF16, MIRAGE_F32};
  for (size_t t = 0; t < sizeof DTYPES / sizeof *DTYPES; t++) {
    double out[COUNT];
    run(mirage_domain_real(), single(MIRAGE_OP_NEG, tensor_type(DTYPES[t], 1, COUNT), NULL, NULL),
        (const double *const[]){NUMBERS}, out);
    for (size_t i = 0; i < COUNT; i++) {
      double expected = mirage_round_to(DTYPES[t], -NUMBERS[i]);
      assert_true(isnan(expected) ? isnan(out[i]) : out[i] == expected);
      assert_true(isnan(expected) || signbit(out[i]) == signbit(expected));
    }
  }
}

static void comparison_measures_frobenius_norms(void **state) {
  double relative, largest;
  mirage_compare(LIST(3, 4), LIST(3, 4), 2, &relative, &largest);
  assert_true(relative == 0 && largest == 0);
  mirage_compare(LIST(3, 9), LIST(3, 4), 2, &relative, &largest);
  assert_true(relative == 1 && largest == 5);
  mirage_compare(LIST(NAN, 4), LIST(3, 4), 2, &relative, &largest);
  assert_true(isinf(relative) && isinf(largest));
  mirage_compare(LIST(1, 0), LIST(0, 0), 2, &relative, &largest);
  assert_true(isinf(relative));
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// Prints; a bound on time would make the test depend on the machine.
static void benchmark_shapes(void **state) {
  const Sizes rms = {.m = 2, .k = 4096, .n = 6144, .grid = 128, .loop = 32};
  const Sizes mlp = {.m = 8, .k = 4096, .n = 4096, .grid = 128, .loop = 32};
  const size_t weights = (size_t)4096 * 6144;
  double *x = random_values(1, 8 * 4096), *g = random_values(2, 4096), *w = random_values(3, weights),
         *w3 = random_values(4, weights);
  double *a = random_values(5, 8 * 6144), *b = random_values(6, 8 * 6144), relative, largest, t = now_ms();
  run(mirage_domain_f64(), rms_program(rms, &DIAG), (const double *const[]){x, g, w}, a);
  print_message("rmsnorm_linear in f64: program %.0f ms", now_ms() - t), t = now_ms();
  run(mirage_domain_f64(), rms_fused(rms, RMS_RIGHT, &DIAG), (const double *const[]){x, g, w}, b);
  print_message(", one kernel %.0f ms", now_ms() - t), t = now_ms();
  mirage_compare(b, a, (size_t)rms.m * (size_t)rms.n, &relative, &largest);
  assert_true(relative < 1e-12);
  run(mirage_domain_real(), rms_program(rms, &DIAG), (const double *const[]){x, g, w}, b);
  print_message(", program in f16 %.0f ms\n", now_ms() - t), t = now_ms();
  mirage_compare(b, a, (size_t)rms.m * (size_t)rms.n, &relative, &largest);
  assert_true(relative > 1e-6 && relative < 1e-3);
  run(mirage_domain_f64(), mlp_program(mlp, &DIAG), (const double *const[]){x, w, w3}, a);
  print_message("gated_mlp in f64: program %.0f ms", now_ms() - t), t = now_ms();
  run(mirage_domain_f64(), mlp_fused(mlp, MLP_RIGHT, &DIAG), (const double *const[]){x, w, w3}, b);
  print_message(", one kernel %.0f ms\n", now_ms() - t);
  mirage_compare(b, a, (size_t)mlp.m * (size_t)mlp.n, &relative, &largest);
  assert_true(relative < 1e-12);
  free(x), free(g), free(w), free(w3), free(a), free(b);
}

static void arrays_are_rounded_as_numbers_are(void **state) {
  enum { COUNT = 500 };
  MirageRandom random;
  mirage_random_init(&random, 72, 0);
  for (int dtype = 0; dtype < MIRAGE_NUM_DTYPES; dtype++) {
    double values[COUNT], rounded[COUNT];
    for (size_t i = 0; i < COUNT; i++)
      values[i] = ldexp(mirage_random_normal(&random), (int)mirage_random_below(&random, 200) - 120);
    values[1] = INFINITY, values[2] = -INFINITY, values[3] = NAN, values[4] = -0.0, values[5] = 65520,
    values[6] = 1e300;
    memcpy(rounded, values, sizeof values);
    mirage_round_array((MirageDType)dtype, COUNT, rounded);
    for (size_t i = 0; i < COUNT; i++)
      values[i] = mirage_round_to((MirageDType)dtype, values[i]);
    assert_same_numbers(COUNT, rounded, values);
  }
}

// Also where they come to nothing.
static void exponentials_are_those_of_the_library(void **state) {
  const double x[] = {
      0,    -1,     1,    -700,      -744.4400719213812, -745, -745.1332191019411, -745.1332191019412, -745.2, -745.99,
      -746, -746.1, -1e4, -INFINITY, INFINITY,           710};
  enum { COUNT = sizeof x / sizeof *x };
  const MirageDomain *d = mirage_domain_f64();
  const MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){COUNT});
  double out[COUNT], not_a_number = NAN;
  assert_int_equal(d->unary(d, MIRAGE_OP_EXP, &type, COUNT, x, out), MIRAGE_OK);
  for (size_t i = 0; i < COUNT; i++)
    assert_true(out[i] == exp(x[i]));
  assert_true(out[6] > 0 && out[10] == 0);
  assert_int_equal(d->unary(d, MIRAGE_OP_EXP, &type, 1, &not_a_number, out), MIRAGE_OK);
  assert_true(isnan(out[0]));
}

// Reductions fold several rows at once: the same bits as one element after the other, at any number of rows, also in place.
static void rows_are_folded_in_their_order(void **state) {
  static const double ODD[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e300};
  const MirageDomain *domains[] = {mirage_domain_f64(), mirage_domain_real()};
  const MirageType type = mirage_type_tensor(MIRAGE_F32, 1, (int64_t[]){1});
  MirageRandom random;
  mirage_random_init(&random, 71, 0);
  for (size_t rows = 1; rows <= 19; rows++)
    for (size_t n = 1; n <= 33; n += 8)
      for (int which = 0; which < 4; which++) {
        const MirageDomain *d = domains[which / 2];
        MirageOp op = which % 2 ? MIRAGE_OP_REDUCE_MAX : MIRAGE_OP_REDUCE_SUM;
        double a[19 * 33], one[19], all[19];
        for (size_t i = 0; i < rows * n; i++)
          a[i] = mirage_random_below(&random, 20) ? mirage_round_to(MIRAGE_F32, mirage_random_normal(&random))
                                                  : ODD[mirage_random_below(&random, 6)];
        for (size_t r = 0; r < rows; r++) { // as columns of which there are two: not folded at once
          double twice[2 * 33], both[2];
          for (size_t j = 0; j < n; j++)
            twice[2 * j] = twice[2 * j + 1] = a[r * n + j];
          assert_int_equal(d->reduce(d, op, &type, 1, n, 2, twice, both), MIRAGE_OK);
          one[r] = both[1];
        }
        assert_int_equal(d->reduce(d, op, &type, rows, n, 1, a, all), MIRAGE_OK);
        assert_same_numbers(rows, all, one);
        assert_int_equal(d->reduce(d, op, &type, rows, n, 1, a, a), MIRAGE_OK);
        assert_same_numbers(rows, a, one);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_folded_in_their_order),
      cmocka_unit_test(arrays_are_rounded_as_numbers_are),
      cmocka_unit_test(exponentials_are_those_of_the_library),
      cmocka_unit_test(unary_operators),
      cmocka_unit_test(circular_functions),
      cmocka_unit_test(functions),
      cmocka_unit_test(powers),
      cmocka_unit_test(derived_operators_are_their_expansions),
      cmocka_unit_test(binary_operators_broadcast_from_the_right),
      cmocka_unit_test(matrix_products),
      cmocka_unit_test(large_matrix_product),
      cmocka_unit_test(reductions),
      cmocka_unit_test(data_movement),
      cmocka_unit_test(large_transpositions_agree_with_their_definition),
      cmocka_unit_test(sugar),
      cmocka_unit_test(real_types_round_every_result),
      cmocka_unit_test(block_graphs_equal_their_programs),
      cmocka_unit_test(loops_combine_their_carries),
      cmocka_unit_test(cyclic_loads_take_every_nth_tile),
      cmocka_unit_test(masked_elements_hold_their_fill),
      cmocka_unit_test(thread_regions_compute_on_fragments),
      cmocka_unit_test(collectives_join_blocks),
      cmocka_unit_test(racing_blocks_are_an_error),
      cmocka_unit_test(stores_round_to_the_tensor),
      cmocka_unit_test(stores_inside_loops_cover_the_output),
      cmocka_unit_test(memory_has_a_limit),
      cmocka_unit_test(bit_patterns_round_trip),
      cmocka_unit_test(rounding_is_to_nearest_even),
      cmocka_unit_test(arrays_are_rounded_like_numbers),
      cmocka_unit_test(comparison_measures_frobenius_norms),
      cmocka_unit_test(benchmark_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
