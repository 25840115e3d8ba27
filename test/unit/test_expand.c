// test_expand.c - the canonical form of every derived operator and of the sugar, written out; and their value in the
// reals, from a small evaluator of the steps.
#include "mirage/ugraph.h"

#include "capture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TENSOR(...)                                                                                                    \
  mirage_type_tensor(MIRAGE_F16, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

// The kernel region as text, one node per line: "%4 = div %1, %3" ; types only where they are not obvious.
static const char *print(const MirageUGraph *g, char *buffer, size_t size) {
  MirageRegionView body = mirage_ugraph_region(g, mirage_ugraph_body(g));
  size_t used = 0;
#define PUT(...) (used += (size_t)snprintf(buffer + used, used < size ? size - used : 0, __VA_ARGS__))
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(g, body.nodes[i]);
    if (node.num_results)
      PUT("%%%u = ", node.first_result.index);
    PUT("%s", mirage_op_info(node.op)->mnemonic);
    for (uint32_t k = 0; k < node.num_operands; k++)
      PUT("%s %%%u", k ? "," : "", node.operands[k].index);
    if (node.op == MIRAGE_OP_CONSTANT)
      PUT(" %g", node.attrs->constant.value);
    if (mirage_op_info(node.op)->kind == MIRAGE_KIND_REDUCE)
      PUT(" dim %d extent %d", node.attrs->reduce.dim, (int)node.attrs->reduce.extent);
    if (node.op == MIRAGE_OP_MATMUL && node.attrs->matmul.transpose_b)
      PUT(" transpose_b");
    bool reduces = mirage_op_info(node.op)->kind == MIRAGE_KIND_REDUCE;
    if (reduces ? node.attrs->reduce.wide : node.op == MIRAGE_OP_MATMUL && node.attrs->matmul.wide)
      PUT(" wide");
    PUT("\n");
  }
#undef PUT
  return buffer;
}

// Builds inputs, applies one operator, expands; *out_graph is the caller's.
static MirageStatus expand_one(MirageOp op, uint32_t n, const MirageType *inputs, MirageAttrs attrs,
                               const MirageDiag *diag, MirageUGraph **out_graph) {
  MirageValue values[4];
  MirageUGraph *g = mirage_ugraph_create(NULL, "one", diag);
  for (uint32_t i = 0; i < n; i++)
    values[i] = mirage_ugraph_input(g, inputs[i]);
  MirageValue y = mirage_ugraph_apply(g, op, n, values, &attrs);
  mirage_ugraph_return(g, 1, &y);
  assert_int_equal(mirage_ugraph_finish(g), MIRAGE_OK);
  MirageType before = *mirage_ugraph_type(g, y);
  MirageStatus status = mirage_ugraph_expand(g, diag, out_graph);
  mirage_ugraph_destroy(g);
  if (status == MIRAGE_OK)
    assert_true(
        mirage_type_same_meaning(&before, mirage_ugraph_type(*out_graph, mirage_ugraph_get_output(*out_graph, 0))));
  return status;
}

static void expect(MirageOp op, uint32_t n, const MirageType *inputs, MirageAttrs attrs, const char *expected) {
  char text[2000];
  MirageUGraph *g = NULL;
  assert_int_equal(expand_one(op, n, inputs, attrs, NULL, &g), MIRAGE_OK);
  assert_string_equal(print(g, text, sizeof text), expected);
  mirage_ugraph_destroy(g);
}

static void test_derived_forms(void **state) {
  const MirageType x[] = {TENSOR(2, 4), TENSOR(4)};
  const MirageAttrs none = {{0}};
  expect(MIRAGE_OP_SQUARE, 1, x, none, "%2 = mul %1, %1\nreturn %2\n");
  expect(MIRAGE_OP_RSQRT, 1, x, none, "%2 = constant 1\n%3 = sqrt %1\n%4 = div %2, %3\nreturn %4\n");
  expect(MIRAGE_OP_NEG, 1, x, none, "%2 = constant -1\n%3 = mul %1, %2\nreturn %3\n");
  expect(MIRAGE_OP_SILU, 1, x, none,
         "%2 = constant -1\n%3 = mul %1, %2\n%4 = exp %3\n%5 = constant 1\n%6 = add %5, %4\n%7 = div %5, %6\n"
         "%8 = mul %1, %7\nreturn %8\n");
  expect(MIRAGE_OP_RELU, 1, x, none, "%2 = constant 0\n%3 = max %1, %2\nreturn %3\n");
  expect(MIRAGE_OP_MIN, 2, x, none,
         "%3 = constant -1\n%4 = mul %1, %3\n%5 = mul %2, %3\n%6 = max %4, %5\n%7 = mul %6, %3\nreturn %7\n");
  expect(MIRAGE_OP_EXP, 1, x, none, "%2 = exp %1\nreturn %2\n"); // elementary: copied
}

static void test_sugar_forms(void **state) {
  const MirageType x[] = {TENSOR(2, 64), TENSOR(64), TENSOR(64)};
  expect(MIRAGE_OP_REDUCE_MEAN, 1, x, (MirageAttrs){.reduce = {.dim = 1, .extent = 16}},
         "%2 = reduce_sum %1 dim 1 extent 16\n%3 = constant 4\n%4 = div %2, %3\nreturn %4\n");
  expect(MIRAGE_OP_SOFTMAX, 1, x, (MirageAttrs){.dim = {0}},
         "%2 = reduce_max %1 dim 0 extent 1\n%3 = sub %1, %2\n%4 = exp %3\n%5 = reduce_sum %4 dim 0 extent 1\n"
         "%6 = div %4, %5\nreturn %6\n");
  expect(MIRAGE_OP_RMS_NORM, 2, x, (MirageAttrs){.eps = {0.0}}, // no add
         "%3 = mul %1, %1\n%4 = reduce_sum %3 dim 1 extent 1\n%5 = constant 64\n%6 = div %4, %5\n%7 = sqrt %6\n"
         "%8 = div %1, %7\n%9 = mul %8, %2\nreturn %9\n");
  expect(MIRAGE_OP_RMS_NORM, 1, x, (MirageAttrs){.eps = {0.5}}, // no gain
         "%2 = mul %1, %1\n%3 = reduce_sum %2 dim 1 extent 1\n%4 = constant 64\n%5 = div %3, %4\n%6 = constant 0.5\n"
         "%7 = add %5, %6\n%8 = sqrt %7\n%9 = div %1, %8\nreturn %9\n");
  expect(MIRAGE_OP_LAYER_NORM, 3, x, (MirageAttrs){.eps = {0.0}},
         "%4 = reduce_sum %1 dim 1 extent 1\n%5 = constant 64\n%6 = div %4, %5\n%7 = sub %1, %6\n%8 = mul %7, %7\n"
         "%9 = reduce_sum %8 dim 1 extent 1\n%10 = constant 64\n%11 = div %9, %10\n%12 = sqrt %11\n%13 = div %7, %12\n"
         "%14 = mul %13, %2\n%15 = add %14, %3\nreturn %15\n");
  const MirageType qkv[] = {TENSOR(8, 16, 64), TENSOR(8, 128, 64), TENSOR(8, 128, 32)};
  expect(MIRAGE_OP_SDPA, 3, qkv, (MirageAttrs){.sdpa = {.scale = 0.125}},
         "%4 = matmul %1, %2 transpose_b\n%5 = constant 0.125\n%6 = mul %4, %5\n%7 = reduce_max %6 dim 2 extent 1\n"
         "%8 = sub %6, %7\n%9 = exp %8\n%10 = reduce_sum %9 dim 2 extent 1\n%11 = div %9, %10\n%12 = matmul %11, %3\n"
         "return %12\n");
}

// Stated to be f32, a mean sums and divides in f32, whatever the count.
static void test_wide_mean(void **state) {
  const MirageType x[] = {TENSOR(2, 100000)};
  expect(MIRAGE_OP_REDUCE_MEAN, 1, x, (MirageAttrs){.reduce = {.dim = 1, .extent = 1, .wide = true}},
         "%2 = reduce_sum %1 dim 1 extent 1 wide\n%3 = constant 100000\n%4 = div %2, %3\nreturn %4\n");
  expect(MIRAGE_OP_MATMUL, 2, (MirageType[]){TENSOR(2, 4), TENSOR(4, 2)}, (MirageAttrs){.matmul = {.wide = true}},
         "%3 = matmul %1, %2 wide\nreturn %3\n"); // elementary: copied
}

// The count is no f16: it divides as an f32, and the mean is an f16 again.
static void test_mean_beyond_f16(void **state) {
  const MirageType x[] = {TENSOR(2, 100000)};
  expect(MIRAGE_OP_REDUCE_MEAN, 1, x, (MirageAttrs){.reduce = {.dim = 1, .extent = 1}},
         "%2 = reduce_sum %1 dim 1 extent 1\n%3 = constant 100000\n%4 = cast %2\n%5 = div %4, %3\n%6 = cast %5\nreturn "
         "%6\n");
  const MirageType largest[] = {TENSOR(2, 65519)}; // rounds to the largest f16
  expect(MIRAGE_OP_REDUCE_MEAN, 1, largest, (MirageAttrs){.reduce = {.dim = 1, .extent = 1}},
         "%2 = reduce_sum %1 dim 1 extent 1\n%3 = constant 65519\n%4 = div %2, %3\nreturn %4\n");
}

// -------------------------------------------------------------------------------------- value of the steps

static double apply(MirageOp op, double a, double b) {
  switch (op) {
  case MIRAGE_OP_EXP:
    return exp(a);
  case MIRAGE_OP_SQRT:
    return sqrt(a);
  case MIRAGE_OP_ERF:
    return erf(a);
  case MIRAGE_OP_TANH:
    return tanh(a);
  case MIRAGE_OP_ADD:
    return a + b;
  case MIRAGE_OP_MUL:
    return a * b;
  case MIRAGE_OP_DIV:
    return a / b;
  case MIRAGE_OP_MAX:
    return fmax(a, b);
  default:
    fail_msg("%s is not used by any expansion", mirage_op_info(op)->name);
    return 0;
  }
}

static double steps(MirageOp op, double x, double y) {
  const MirageExpansion *expansion = mirage_op_expansion(op);
  double values[2 + 14] = {x, y};
  for (uint32_t i = 0; i < expansion->num_steps; i++) {
    const MirageExpansionStep *step = &expansion->steps[i];
    values[2 + i] = step->op == MIRAGE_OP_CONSTANT ? step->value : apply(step->op, values[step->a], values[step->b]);
  }
  return values[1 + expansion->num_steps];
}

static void test_values(void **state) {
  const double pi = 3.14159265358979323846;
  for (double x = -4; x <= 4; x += 0.37) {
    const double tolerance = 1e-14;
    assert_true(fabs(steps(MIRAGE_OP_RSQRT, x * x + 1, 0) - pow(x * x + 1, -0.5)) < tolerance);
    assert_true(steps(MIRAGE_OP_SQUARE, x, 0) == x * x);
    assert_true(steps(MIRAGE_OP_NEG, x, 0) == -x);
    assert_true(fabs(steps(MIRAGE_OP_SIGMOID, x, 0) - 0.5 * (1 + tanh(x / 2))) < tolerance);
    assert_true(fabs(steps(MIRAGE_OP_SILU, x, 0) - x / (1 + exp(-x))) < tolerance);
    assert_true(fabs(steps(MIRAGE_OP_GELU, x, 0) - 0.5 * x * erfc(-x / sqrt(2))) < tolerance);
    double inner = sqrt(2 / pi) * (x + 0.044715 * pow(x, 3));
    assert_true(fabs(steps(MIRAGE_OP_GELU_TANH, x, 0) - 0.5 * x * (1 + tanh(inner))) < tolerance);
    assert_true(steps(MIRAGE_OP_RELU, x, 0) == (x > 0 ? x : 0));
    assert_true(steps(MIRAGE_OP_MIN, x, 0.5) == (x < 0.5 ? x : 0.5));
  }
}

// ------------------------------------------------------------------------------------------- whole programs

// softmax(exp-kernel(x)) where the exponential is a custom kernel: that is copied as it is.
static MirageUGraph *with_custom(const MirageAllocator *allocator) {
  MirageUGraph *g = mirage_ugraph_create(allocator, "mixed", NULL);
  if (!g)
    return NULL;
  const MirageAccessAttrs rows = {.grid = {0, -1, -1}, .loop = {-1, -1, -1, -1}};
  const MirageCustomAttrs attrs = {.grid = {2, 1, 1}, .cluster = {1, 1, 1}};
  MirageType type = TENSOR(2, 64);
  MirageValue x = mirage_ugraph_input(g, type);
  MirageNode k = mirage_ugraph_open_custom(g, 1, &x, 1, &type, &attrs);
  MirageValue tile = mirage_ugraph_load(g, mirage_ugraph_argument(g, k, 0), &rows);
  MirageValue sigmoid = mirage_ugraph_apply(g, MIRAGE_OP_SIGMOID, 1, &tile, NULL);
  mirage_ugraph_store(g, sigmoid, mirage_ugraph_argument(g, k, 1), &rows);
  mirage_ugraph_close(g, 0, NULL);
  MirageValue y = mirage_ugraph_result(g, k, 0);
  MirageValue z = mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &y, &(MirageAttrs){.dim = {1}});
  mirage_ugraph_return(g, 1, &z);
  mirage_ugraph_finish(g);
  return g;
}

static void test_custom_is_copied(void **state) {
  char text[2000];
  MirageUGraph *g = with_custom(NULL), *expanded = NULL;
  mirage_ugraph_meta(g)->selected = true;
  assert_int_equal(mirage_ugraph_expand(g, NULL, &expanded), MIRAGE_OK);
  mirage_ugraph_destroy(g);
  assert_string_equal(print(expanded, text, sizeof text),
                      "%6 = custom %1\n%7 = reduce_max %6 dim 1 extent 1\n%8 = sub %6, %7\n%9 = exp %8\n"
                      "%10 = reduce_sum %9 dim 1 extent 1\n%11 = div %9, %10\nreturn %11\n");
  MirageNodeView custom = mirage_ugraph_node(expanded, mirage_ugraph_def(expanded, (MirageValue){6}));
  MirageRegionView block = mirage_ugraph_region(expanded, custom.region);
  assert_int_equal(block.num_nodes, 3);
  assert_int_equal(mirage_ugraph_node(expanded, block.nodes[1]).op, MIRAGE_OP_SIGMOID);
  assert_true(mirage_ugraph_get_meta(expanded)->selected);
  mirage_ugraph_destroy(expanded);
}

// An expanded graph holds nothing that expands.
static void test_idempotent(void **state) {
  char first[2000], second[2000];
  MirageUGraph *g = with_custom(NULL), *once = NULL, *twice = NULL;
  assert_int_equal(mirage_ugraph_expand(g, NULL, &once), MIRAGE_OK);
  assert_int_equal(mirage_ugraph_expand(once, NULL, &twice), MIRAGE_OK);
  assert_string_equal(print(once, first, sizeof first), print(twice, second, sizeof second));
  mirage_ugraph_destroy(g);
  mirage_ugraph_destroy(once);
  mirage_ugraph_destroy(twice);
}

static void test_unfinished(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MirageUGraph *g = mirage_ugraph_create(NULL, "open", NULL), *expanded = NULL;
  mirage_ugraph_input(g, TENSOR(2, 64));
  assert_int_equal(mirage_ugraph_expand(g, &diag, &expanded), MIRAGE_BAD_GRAPH);
  assert_string_equal(capture.text, "graph open is copied before it is finished");
  mirage_ugraph_destroy(g);
}

static MirageStatus build_and_expand(const MirageAllocator *allocator) {
  MirageUGraph *g = with_custom(allocator), *expanded = NULL;
  MirageStatus status = g ? mirage_ugraph_status(g) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = mirage_ugraph_expand(g, NULL, &expanded);
  assert_int_equal(expanded != NULL, status == MIRAGE_OK);
  mirage_ugraph_destroy(expanded);
  mirage_ugraph_destroy(g);
  return status;
}

static void test_oom(void **state) {
  unsigned failures = 0;
  for (size_t bytes = 0;; bytes += 16) {
    Scarce scarce = {.left = bytes};
    const MirageAllocator allocator = {tight_alloc, scarce_free, &scarce};
    MirageStatus status = build_and_expand(&allocator);
    assert_int_equal(scarce.live, 0);
    if (status == MIRAGE_OK)
      break;
    assert_int_equal(status, MIRAGE_NO_MEMORY);
    failures++;
    assert_true(bytes < 1 << 20);
  }
  assert_true(failures >= 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_derived_forms), cmocka_unit_test(test_sugar_forms), cmocka_unit_test(test_mean_beyond_f16),
      cmocka_unit_test(test_wide_mean),     cmocka_unit_test(test_values),      cmocka_unit_test(test_custom_is_copied),
      cmocka_unit_test(test_idempotent),    cmocka_unit_test(test_unfinished),  cmocka_unit_test(test_oom),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
