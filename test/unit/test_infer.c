// test_infer.c - the shape rules, case by case: a result, or the sentence that says why there is none.
//
// Types are written as in messages: "16x64xf16".
#include "mirage/ugraph.h"

#include "capture.h"
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define K MIRAGE_LEVEL_KERNEL
#define B MIRAGE_LEVEL_BLOCK
#define T MIRAGE_LEVEL_THREAD

static MirageType parse_type(const char *text, MirageSpace space) {
  MirageType type = {.space = space};
  char *end;
  for (int64_t extent; extent = strtoll(text, &end, 10), end != text; text = end + 1)
    type.shape[type.rank++] = extent;
  type.dtype = strcmp(text, "f16") == 0 ? MIRAGE_F16 : strcmp(text, "bf16") == 0 ? MIRAGE_BF16 : MIRAGE_F32;
  return type;
}

typedef struct Case {
  MirageOp op;
  MirageLevel level;
  const char *operands[4];
  MirageAttrs attrs;
  const char *expected; // a type, or a message
  MirageStatus status;
} Case;

static void run(const Case *c, const MirageScope *scope) {
  static const MirageSpace spaces[] = {[K] = MIRAGE_SPACE_DEVICE, [B] = MIRAGE_SPACE_TILE, [T] = MIRAGE_SPACE_FRAGMENT};
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MirageType operands[4], result = {.rank = 99}, untouched = result;
  uint32_t n = 0;
  for (; n < 4 && c->operands[n]; n++) {
    bool tensor = (c->op == MIRAGE_OP_LOAD && n == 0) || (c->op == MIRAGE_OP_STORE && n == 1);
    operands[n] = parse_type(c->operands[n], tensor ? MIRAGE_SPACE_DEVICE : spaces[c->level]);
  }
  int cookie = 0;
  MirageStatus status = mirage_op_infer(c->op, c->level, n, operands, &c->attrs, scope, &diag, &cookie, &result);
  char text[200];
  if (c->status == MIRAGE_OK) {
    if (status != MIRAGE_OK)
      fail_msg("%s refused: %s", c->expected, capture.text);
    if (c->op == MIRAGE_OP_STORE)
      return;
    assert_string_equal(mirage_type_format(&result, text, sizeof text), c->expected);
    assert_int_equal(result.space, spaces[c->level]);
    return;
  }
  assert_string_equal(capture.text, c->expected);
  assert_int_equal(status, c->status);
  assert_ptr_equal(capture.loc, &cookie);
  assert_memory_equal(&result, &untouched, sizeof result); // an out value is untouched after a failure
}

#define RUN(scope, ...)                                                                                                \
  do {                                                                                                                 \
    const Case cases[] = {__VA_ARGS__};                                                                                \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)                                                          \
      run(&cases[i], scope);                                                                                           \
  } while (0)

#define SHAPE_TO(text)                                                                                                 \
  {                                                                                                                    \
    .shape = {.type = parse_type(text, MIRAGE_SPACE_DEVICE) }                                                          \
  }

static void test_element_wise(void **state) {
  RUN(NULL, //
      {MIRAGE_OP_EXP, K, {"2x3xf16"}, {{0}}, "2x3xf16", 0}, {MIRAGE_OP_EXP, B, {"2x3xf16"}, {{0}}, "2x3xf32", 0},
      {MIRAGE_OP_NEG, T, {"2x3xbf16"}, {{0}}, "2x3xf32", 0},
      {MIRAGE_OP_ADD, K, {"2x3xf16", "3xf16"}, {{0}}, "2x3xf16", 0},
      {MIRAGE_OP_ADD, K, {"2x1xf16", "1x3xf16"}, {{0}}, "2x3xf16", 0},
      {MIRAGE_OP_MUL, K, {"f16", "5x2x3xf16"}, {{0}}, "5x2x3xf16", 0},
      {MIRAGE_OP_MUL, K, {"f32", "f32"}, {{0}}, "f32", 0},
      {MIRAGE_OP_DIV, B, {"2x3xf16", "2x1xf32"}, {{0}}, "2x3xf32", 0},
      {MIRAGE_OP_MAX, T, {"4xf16", "4xbf16"}, {{0}}, "4xf32", 0},
      {MIRAGE_OP_ADD, K, {"2x3xf16", "3xf32"}, {{0}}, "2x3xf32", 0}, // two types: f32
      {MIRAGE_OP_DIV, K, {"f32", "2x3xbf16"}, {{0}}, "2x3xf32", 0},
      {MIRAGE_OP_MAX, K, {"2x3xbf16", "2x3xf16"}, {{0}}, "2x3xf32", 0},
      {MIRAGE_OP_ADD,
       K,
       {"2x3xf16", "2xf32"},
       {{0}},
       "add: extents do not broadcast: 3 vs 2 (2x3xf16, 2xf32)",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_SUB,
       K,
       {"2x3xf16", "2xf16"},
       {{0}},
       "sub: extents do not broadcast: 3 vs 2 (2x3xf16, 2xf16)",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_EXP,
       K,
       {"0xf16"},
       {{0}},
       "exp: operand 0 has extent 0 in dimension 0, at least 1 is needed",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_EXP,
       K,
       {"2xf16", "2xf16"},
       {{0}},
       "exp: too many operands: 2, at most 1 are taken",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_ADD, K, {"2xf16"}, {{0}}, "add: too few operands: 1, at least 2 are needed", MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_ADD,
       K,
       {"3000000000x1xf16", "3000000000xf16"},
       {{0}},
       "add: result 0 has too many elements: 3000000000x3000000000xf16",
       MIRAGE_BAD_SHAPE});
}

static void test_places(void **state) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MirageType tensor = parse_type("4xf16", MIRAGE_SPACE_DEVICE), tile = parse_type("4xf16", MIRAGE_SPACE_SHARED);
  MirageType fragment = parse_type("4xf16", MIRAGE_SPACE_FRAGMENT), result;
  assert_int_equal(mirage_op_infer(MIRAGE_OP_EXP, K, 1, &tile, NULL, NULL, &diag, NULL, &result), MIRAGE_BAD_TYPE);
  assert_string_equal(capture.text, "exp: operand 0 is a tile, the kernel level works on tensors");
  assert_int_equal(mirage_op_infer(MIRAGE_OP_EXP, B, 1, &tensor, NULL, NULL, &diag, NULL, &result), MIRAGE_BAD_TYPE);
  assert_string_equal(capture.text, "exp: operand 0 is a tensor, the block level works on tiles");
  assert_int_equal(mirage_op_infer(MIRAGE_OP_EXP, T, 1, &tile, NULL, NULL, &diag, NULL, &result), MIRAGE_BAD_TYPE);
  assert_string_equal(capture.text, "exp: operand 0 is a tile, the thread level works on fragments");
  assert_int_equal(mirage_op_infer(MIRAGE_OP_EXP, B, 1, &fragment, NULL, NULL, &diag, NULL, &result), MIRAGE_BAD_TYPE);
  assert_int_equal(mirage_op_infer(MIRAGE_OP_EXP, B, 1, &tile, NULL, NULL, &diag, NULL, &result), MIRAGE_OK);
  assert_int_equal(result.space, MIRAGE_SPACE_TILE); // where it lies is the planner's business
}

static void test_matmul(void **state) {
  RUN(NULL, //
      {MIRAGE_OP_MATMUL, K, {"16x64xf16", "64x32xf16"}, {{0}}, "16x32xf16", 0},
      {MIRAGE_OP_MATMUL, B, {"16x64xf16", "64x32xf16"}, {{0}}, "16x32xf32", 0},
      {MIRAGE_OP_MATMUL, K, {"5x1x16x64xf16", "7x64x32xf16"}, {{0}}, "5x7x16x32xf16", 0},
      {MIRAGE_OP_MATMUL,
       K,
       {"64x16xf16", "32x64xf16"},
       {.matmul = {.transpose_a = true, .transpose_b = true}},
       "16x32xf16",
       0},
      {MIRAGE_OP_MATMUL, K, {"16x64xf16", "64x32xf16"}, {.matmul = {.wide = true}}, "16x32xf32", 0},
      {MIRAGE_OP_MATMUL,
       K,
       {"64x16xbf16", "32x64xbf16"},
       {.matmul = {.transpose_a = true, .transpose_b = true, .wide = true}},
       "16x32xf32",
       0},
      {MIRAGE_OP_MATMUL, K, {"16x64xf32", "64x32xf32"}, {.matmul = {.wide = true}}, "16x32xf32", 0},
      {MIRAGE_OP_MATMUL, B, {"16x64xf16", "64x32xf16"}, {.matmul = {.wide = true}}, "16x32xf32", 0},
      {MIRAGE_OP_MATMUL,
       K,
       {"16x64xf16", "64x32xbf16"},
       {.matmul = {.wide = true}},
       "matmul: element types differ: f16 vs bf16",
       MIRAGE_BAD_TYPE},
      {MIRAGE_OP_MMA, T, {"16x16xf16", "16x8xf16", "16x8xf32"}, {{0}}, "16x8xf32", 0},
      {MIRAGE_OP_MATMUL,
       K,
       {"16x64xf16", "63x32xf16"},
       {{0}},
       "matmul: inner dimensions differ: 64 vs 63",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_MATMUL,
       K,
       {"16x64xf16", "64x32xf16"},
       {.matmul = {.transpose_a = false, .transpose_b = true}},
       "matmul: inner dimensions differ: 64 vs 32",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_MATMUL,
       B,
       {"16x64xf16", "64x32xf32"},
       {{0}},
       "matmul: element types differ: f16 vs f32",
       MIRAGE_BAD_TYPE},
      {MIRAGE_OP_MATMUL,
       K,
       {"64xf16", "64x32xf16"},
       {{0}},
       "matmul: operands need at least rank 2: 1 vs 2",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_MATMUL,
       K,
       {"2x16x64xf16", "3x64x32xf16"},
       {{0}},
       "matmul: batch dimensions do not broadcast: 2 vs 3 (2x16x64xf16, 3x64x32xf16)",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_MMA,
       T,
       {"16x16xf16", "16x8xf16", "16x8xf16"},
       {{0}},
       "mma: accumulator does not fit the product: 16x8xf16 vs 16x8xf32",
       MIRAGE_BAD_TYPE},
      {MIRAGE_OP_MMA,
       T,
       {"16x16xf16", "16x8xf16", "8x16xf32"},
       {{0}},
       "mma: accumulator does not fit the product: 8x16xf32 vs 16x8xf32",
       MIRAGE_BAD_SHAPE});
}

static void test_reduce(void **state) {
  RUN(NULL, //
      {MIRAGE_OP_REDUCE_SUM, K, {"2x64xf16"}, {.reduce = {.dim = 1, .extent = 1}}, "2x1xf16", 0},
      {MIRAGE_OP_REDUCE_SUM, K, {"2x64xf16"}, {.reduce = {.dim = 1, .extent = 1, .wide = true}}, "2x1xf32", 0},
      {MIRAGE_OP_REDUCE_MEAN, K, {"2x64xbf16"}, {.reduce = {.dim = 0, .extent = 2, .wide = true}}, "2x64xf32", 0},
      {MIRAGE_OP_REDUCE_SUM, B, {"2x64xf16"}, {.reduce = {.dim = 1, .extent = 16}}, "2x16xf32", 0},
      {MIRAGE_OP_REDUCE_MAX, T, {"2x64xf16"}, {.reduce = {.dim = 0, .extent = 1}}, "1x64xf32", 0},
      {MIRAGE_OP_REDUCE_SUM,
       K,
       {"2x64xf16"},
       {.reduce = {.dim = 2, .extent = 1}},
       "reduce_sum: dimension 2 is out of range for rank 2",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_REDUCE_MAX,
       K,
       {"2x64xf16"},
       {.reduce = {.dim = -1, .extent = 1}},
       "reduce_max: dimension -1 is out of range for rank 2",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_REDUCE_MEAN,
       K,
       {"2x64xf16"},
       {.reduce = {.dim = 1, .extent = 3}},
       "reduce_mean: extent 3 does not divide dimension 1 of extent 64",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_REDUCE_SUM,
       K,
       {"2x64xf16"},
       {.reduce = {.dim = 1, .extent = 0}},
       "reduce_sum: extent 0 does not divide dimension 1 of extent 64",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_REDUCE_SUM,
       K,
       {"f16"},
       {.reduce = {.dim = 0, .extent = 1}},
       "reduce_sum: dimension 0 is out of range for rank 0",
       MIRAGE_BAD_ARGUMENT});
}

static void test_data_movement(void **state) {
  RUN(NULL, //
      {MIRAGE_OP_BROADCAST, K, {"1x3xf16"}, SHAPE_TO("4x2x3xf16"), "4x2x3xf16", 0},
      {MIRAGE_OP_BROADCAST, B, {"3xf16"}, SHAPE_TO("2x3xf16"), "2x3xf16", 0},
      {MIRAGE_OP_BROADCAST, K, {"f16"}, SHAPE_TO("2x3xf16"), "2x3xf16", 0},
      {MIRAGE_OP_RESHAPE, K, {"4x6xf16"}, SHAPE_TO("2x12xf16"), "2x12xf16", 0},
      {MIRAGE_OP_REPEAT, K, {"2x3xf16"}, {.repeat = {0, 4}}, "8x3xf16", 0},
      {MIRAGE_OP_TRANSPOSE, B, {"2x3x4xbf16"}, {.perm = {{2, 0, 1}}}, "4x2x3xbf16", 0},
      {MIRAGE_OP_SLICE, K, {"8x3xf16"}, {.slice = {0, 2, 7}}, "5x3xf16", 0},
      {MIRAGE_OP_CONCAT, K, {"8x3xf16", "8x1xf16", "8x2xf16"}, {.dim = {1}}, "8x6xf16", 0},
      {MIRAGE_OP_CAST, K, {"8x3xf16"}, SHAPE_TO("f32"), "8x3xf32", 0},
      {MIRAGE_OP_CAST, B, {"8x3xf32"}, SHAPE_TO("8x3xf16"), "8x3xf16", 0},
      {MIRAGE_OP_BROADCAST,
       K,
       {"2x3xf16"},
       SHAPE_TO("2x6xf16"),
       "broadcast: 2x3xf16 does not stretch to 2x6xf16",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_BROADCAST,
       K,
       {"1x3xf16"},
       SHAPE_TO("3xf16"),
       "broadcast: 1x3xf16 does not stretch to 3xf16",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_BROADCAST,
       K,
       {"1x3xf16"},
       SHAPE_TO("2x3xf32"),
       "broadcast: element types differ: f16 vs f32",
       MIRAGE_BAD_TYPE},
      {MIRAGE_OP_RESHAPE,
       K,
       {"4x6xf16"},
       SHAPE_TO("5x5xf16"),
       "reshape: numbers of elements differ: 24 vs 25 (4x6xf16 to 5x5xf16)",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_RESHAPE,
       K,
       {"1xf16"},
       SHAPE_TO("f16"),
       "reshape: result has rank 0, which only constants may have",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_REPEAT,
       K,
       {"2x3xf16"},
       {.repeat = {0, 0}},
       "repeat: times is 0, at least 1 is needed",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_REPEAT,
       K,
       {"2x3xf16"},
       {.repeat = {0, INT64_MAX}},
       "repeat: result has too many elements: 2 times 9223372036854775807",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_TRANSPOSE,
       K,
       {"2x3xf16"},
       {.perm = {{1, 1}}},
       "transpose: perm names dimension 1 twice",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_TRANSPOSE,
       K,
       {"2x3xf16"},
       {.perm = {{0, 2}}},
       "transpose: dimension 2 is out of range for rank 2",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_SLICE,
       K,
       {"8x3xf16"},
       {.slice = {0, 4, 4}},
       "slice: range 4 to 4 is empty or outside dimension 0 of extent 8",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_SLICE,
       K,
       {"8x3xf16"},
       {.slice = {0, 4, 9}},
       "slice: range 4 to 9 is empty or outside dimension 0 of extent 8",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_CONCAT,
       K,
       {"8x3xf16", "7x3xf16"},
       {.dim = {1}},
       "concat: extents of dimension 0 differ: 8 vs 7",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_CONCAT, K, {"8x3xf16", "8xf16"}, {.dim = {1}}, "concat: ranks differ: 2 vs 1", MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_CONCAT,
       B,
       {"8x3xf16", "8x3xf32"},
       {.dim = {1}},
       "concat: element types differ: f16 vs f32",
       MIRAGE_BAD_TYPE});
}

static void test_constants(void **state) {
#define VALUE(text, v)                                                                                                 \
  {                                                                                                                    \
    .constant = {.type = parse_type(text, MIRAGE_SPACE_DEVICE), .value = (v) }                                         \
  }
  RUN(NULL, //
      {MIRAGE_OP_CONSTANT, K, {0}, VALUE("f16", 65519.0), "f16", 0},
      {MIRAGE_OP_CONSTANT, B, {0}, VALUE("2x3xf32", -1e38), "2x3xf32", 0},
      {MIRAGE_OP_BOTTOM, B, {0}, SHAPE_TO("2x1xf32"), "2x1xf32", 0},
      {MIRAGE_OP_CONSTANT, K, {0}, VALUE("f16", 65520.0), "constant: 65520 is not a finite f16", MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_CONSTANT,
       K,
       {0},
       VALUE("bf16", -3.4e38),
       "constant: -3.4e+38 is not a finite bf16",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_CONSTANT, K, {0}, VALUE("f32", INFINITY), "constant: inf is not a finite f32", MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_CONSTANT, K, {0}, VALUE("f32", NAN), "constant: nan is not a finite f32", MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_BOTTOM,
       K,
       {0},
       SHAPE_TO("2x1xf32"),
       "bottom: not an operator of the kernel level",
       MIRAGE_BAD_ARGUMENT});
}

static void test_sugar(void **state) {
  RUN(NULL, //
      {MIRAGE_OP_SOFTMAX, K, {"2x3xf16"}, {.dim = {0}}, "2x3xf16", 0},
      {MIRAGE_OP_RMS_NORM, K, {"2x64xf16", "64xf16"}, {.eps = {1e-5}}, "2x64xf16", 0},
      {MIRAGE_OP_LAYER_NORM, K, {"2x64xf16", "64xf16", "64xf16"}, {.eps = {0}}, "2x64xf16", 0},
      {MIRAGE_OP_SDPA,
       K,
       {"8x16x64xf16", "8x128x64xf16", "8x128x32xf16"},
       {.sdpa = {.scale = 0.125}},
       "8x16x32xf16",
       0},
      {MIRAGE_OP_SDPA, K, {"8x16x64xf16", "1x128x64xf16", "128x32xf16"}, {.sdpa = {.scale = 0.125}}, "8x16x32xf16", 0},
      {MIRAGE_OP_SOFTMAX,
       K,
       {"2x3xf16"},
       {.dim = {2}},
       "softmax: dimension 2 is out of range for rank 2",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_RMS_NORM,
       K,
       {"2x64xf16", "2xf16"},
       {.eps = {0}},
       "rms_norm: gain must have the extent of x's last dimension: 2xf16 vs 64",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_LAYER_NORM,
       K,
       {"2x64xf16", "64xf16", "1x64xf16"},
       {.eps = {0}},
       "layer_norm: bias must have the extent of x's last dimension: 1x64xf16 vs 64",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_RMS_NORM,
       K,
       {"2x64xf16"},
       {.eps = {-1.0}},
       "rms_norm: eps is -1, a finite number of at least 0 is needed",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_RMS_NORM,
       K,
       {"2x64xf16"},
       {.eps = {NAN}},
       "rms_norm: eps is nan, a finite number of at least 0 is needed",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_SDPA,
       K,
       {"16x64xf16", "128x63xf16", "128x32xf16"},
       {.sdpa = {.scale = 1}},
       "scaled_dot_product_attention: inner dimensions differ: 64 vs 63",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_SDPA,
       K,
       {"16x64xf16", "128x64xf16", "127x32xf16"},
       {.sdpa = {.scale = 1}},
       "scaled_dot_product_attention: numbers of keys and values differ: 128 vs 127",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_SDPA,
       K,
       {"16x64xf16", "128x64xf16", "128x32xf16"},
       {.sdpa = {.scale = INFINITY}},
       "scaled_dot_product_attention: scale is inf, a finite number is needed",
       MIRAGE_BAD_ARGUMENT});
}

#define NUMBERS(a, b)                                                                                                  \
  {                                                                                                                    \
    .bounds = {(a), (b) }                                                                                              \
  }

static void test_functions(void **state) {
  RUN(NULL, //
      {MIRAGE_OP_SIN, K, {"2x3xbf16"}, {{0}}, "2x3xbf16", 0}, {MIRAGE_OP_COS, B, {"2x3xf16"}, {{0}}, "2x3xf32", 0},
      {MIRAGE_OP_ABS, K, {"2x3xf16"}, {{0}}, "2x3xf16", 0}, {MIRAGE_OP_SOFTPLUS, K, {"2x3xf32"}, {{0}}, "2x3xf32", 0},
      {MIRAGE_OP_POW, K, {"2x3xf16"}, NUMBERS(-0.75, 0), "2x3xf16", 0},
      {MIRAGE_OP_POW, K, {"2x3xf16"}, NUMBERS(64, 0), "2x3xf16", 0},
      {MIRAGE_OP_CLAMP, K, {"2x3xf16"}, NUMBERS(-1, -1), "2x3xf16", 0},
      {MIRAGE_OP_LEAKY_RELU, K, {"2x3xf16"}, NUMBERS(-3, 0), "2x3xf16", 0},
      {MIRAGE_OP_SOFTPLUS, B, {"2x3xf16"}, {{0}}, "softplus: not an operator of the block level", MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_POW,
       K,
       {"2x3xf16"},
       NUMBERS(0, 0),
       "pow: exponent is 0, a whole one is 1 to 64 or the negative of that",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_POW,
       K,
       {"2x3xf16"},
       NUMBERS(-65, 0),
       "pow: exponent is -65, a whole one is 1 to 64 or the negative of that",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_POW,
       K,
       {"2x3xf16"},
       NUMBERS(NAN, 0),
       "pow: exponent is nan, a finite number is needed",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LEAKY_RELU,
       K,
       {"2x3xf16"},
       NUMBERS(INFINITY, 0),
       "leaky_relu: slope is inf, a finite number is needed",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_CLAMP,
       K,
       {"2x3xf16"},
       NUMBERS(-INFINITY, 1),
       "clamp: low is -inf, a finite number is needed",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_CLAMP, K, {"2x3xf16"}, NUMBERS(1, 0.5), "clamp: low is 1, above high, 0.5", MIRAGE_BAD_ARGUMENT});
}

#define CYCLIC(x, y, z, l0, l1)                                                                                        \
  {                                                                                                                    \
    .access = {.grid = {x, y, z}, .loop = {l0, l1, -1, -1}, .cyclic = true }                                           \
  }
#define MAP(x, y, z, l0, l1)                                                                                           \
  {                                                                                                                    \
    .access = {.grid = {x, y, z}, .loop = {l0, l1, -1, -1} }                                                           \
  }

static void test_access(void **state) {
  const MirageScope scope = {.grid = {128, 3, 1}, .cluster = {1, 1, 1}, .num_loops = 2, .ranges = {32, 10}};
  RUN(&scope, //
      {MIRAGE_OP_LOAD, B, {"4096x6144xf16"}, MAP(1, -1, -1, 0, -1), "128x48xf16", 0},
      {MIRAGE_OP_LOAD, B, {"4096x6144xf16"}, MAP(-1, -1, -1, -1, -1), "4096x6144xf16", 0},
      // ceil(4096 / 3) = 1366, ceil(1366 / 10) = 137; ceil(100 / 128) = 1
      {MIRAGE_OP_LOAD, B, {"100x4096xf32"}, MAP(0, 1, -1, -1, 1), "1x137xf32", 0},
      // one dimension split by x, y and both loops: 1000000 -> 7813 -> 2605 -> 82 -> 9
      {MIRAGE_OP_LOAD, B, {"1000000xf32"}, MAP(0, 0, -1, 0, 0), "9xf32", 0},
      // loops first: 1000000 -> 31250 -> 3125 -> 25 -> 9
      {MIRAGE_OP_LOAD, B, {"1000000xf32"}, CYCLIC(0, 0, -1, 0, 0), "9xf32", 0},
      {MIRAGE_OP_STORE, B, {"4096x48xf32", "4096x6144xf16"}, MAP(1, -1, -1, -1, -1), "", 0},
      {MIRAGE_OP_STORE,
       B,
       {"48x4096xf32", "4096x6144xf16"},
       MAP(1, -1, -1, -1, -1),
       "store: tile does not fit the tensor's part: 48x4096xf32 vs 4096x48xf32",
       MIRAGE_BAD_SHAPE},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       MAP(1, -1, -1, -1, -1),
       "load: grid map entry 0 is 1, out of range for rank 1",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       MAP(-1, -1, -1, -2, -1),
       "load: loop map entry 0 is -2, out of range for rank 1",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, 0, -1}}},
       "load: loop map names loop 2, but 2 loops enclose it",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64x64xf16"},
       CYCLIC(0, -1, -1, 1, -1),
       "load: is cyclic, and no dimension is split by both the grid and a loop: leave that out, or name one dimension "
       "in "
       "both maps",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       CYCLIC(2, -1, -1, 2, -1),
       "load: grid map entry 0 is 2, out of range for rank 1",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .fill = (MirageFill)3}},
       "load: fill 3 does not exist",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .begin = {8}, .end = {65}}},
       "load: window [8, 65) of dimension 0 does not lie in its 64 elements",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .begin = {8}}},
       "load: window [8, 0) of dimension 0 does not lie in its 64 elements",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .begin = {8}, .end = {8}}},
       "load: window [8, 8) of dimension 0 does not lie in its 64 elements",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .begin = {0, 0}, .end = {8, 1}}},
       "load: window [0, 1) of dimension 1 does not lie in its 0 elements",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"8x4x64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .order = {1, 1, 2}}},
       "load: order entry 1 is 1, which makes it no permutation of 3 dimensions",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"8x64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .order = {0, 2}}},
       "load: order entry 1 is 2, which makes it no permutation of 2 dimensions",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"8x64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .order = {0, 1, 2}}},
       "load: order entry 2 is 2, which makes it no permutation of 2 dimensions",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"8x64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .order = {1, 0}}},
       "load: order puts dimension 0 last, the last one of 2 must stay there",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"8x4x64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .order = {1, 0, 2}, .begin = {0, 0}, .end = {0, 9}}},
       "load: window [0, 9) of dimension 1 does not lie in its 8 elements",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_LOAD,
       B,
       {"8x4x64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {1, -1, -1, -1}, .order = {1, 0, 2}, .end = {2}}},
       "2x1x64xf16",
       0},
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       {.access = {.grid = {-1, -1, -1}, .loop = {0, -1, -1, -1}, .begin = {8}, .end = {40}}},
       "1xf16",
       0});
  RUN(NULL, //
      {MIRAGE_OP_LOAD,
       B,
       {"64xf16"},
       MAP(-1, -1, -1, -1, -1),
       "load: stands outside a custom kernel",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_STORE, B, {"1xf32", "4096xf16"}, MAP(0, -1, -1, -1, -1), "", 0}); // checked where the scope is known
  MirageType tile = {.rank = 77}, tensor = parse_type("64xf16", MIRAGE_SPACE_TILE);
  const MirageAccessAttrs all = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  assert_int_equal(mirage_access_tile(&tensor, &all, &scope, NULL, NULL, &tile), MIRAGE_BAD_TYPE);
  assert_int_equal(tile.rank, 77);
}

static void test_collectives(void **state) {
  const MirageScope scope = {.grid = {8, 4, 1}, .cluster = {2, 4, 1}};
  RUN(&scope, //
      {MIRAGE_OP_CLUSTER_SUM, B, {"2x3xf16"}, {.axes = {{false, true, false}}}, "2x3xf32", 0},
      {MIRAGE_OP_GRID_MAX, B, {"2x3xf32"}, {.axes = {{true, true, false}}}, "2x3xf32", 0},
      {MIRAGE_OP_CLUSTER_MAX,
       B,
       {"2x3xf32"},
       {.axes = {{true, false, false}}},
       "cluster_max: axis 0 has 8 blocks, the cluster spans 2",
       MIRAGE_BAD_ARGUMENT},
      {MIRAGE_OP_GRID_SUM,
       B,
       {"2x3xf32"},
       {.axes = {{false, false, false}}},
       "grid_sum: names no grid axis",
       MIRAGE_BAD_ARGUMENT});
}

// ------------------------------------------------------------------------------------------------------ loop

static void loop_case(MirageCarry carry, int64_t range, const char *init, const char *contribution, const char *factor,
                      const char *message) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  MirageType inits[] = {parse_type(init, MIRAGE_SPACE_TILE)};
  MirageType yielded[2] = {parse_type(contribution, MIRAGE_SPACE_TILE)};
  if (factor)
    yielded[1] = parse_type(factor, MIRAGE_SPACE_TILE);
  MirageLoopAttrs attrs = {.range = range, .num_carries = 1, .carries = &carry};
  MirageStatus status = mirage_op_check_loop(&attrs, 1, inits, factor ? 2 : 1, yielded, &diag, NULL);
  assert_string_equal(capture.text, message ? message : "");
  assert_int_equal(status != MIRAGE_OK, message != NULL);
}

static void test_loop(void **state) {
  const MirageCarry sum = {MIRAGE_COMBINE_SUM, 0}, max = {MIRAGE_COMBINE_MAX, 0}, rescale = {MIRAGE_COMBINE_RESCALE, 0};
  const MirageCarry concat = {MIRAGE_COMBINE_CONCAT, 1}, assign = {MIRAGE_COMBINE_ASSIGN, 0};
  loop_case(sum, 4, "2x8xf32", "2x8xf32", NULL, NULL);
  loop_case(sum, 4, "2x8xf32", "2x8xf16", NULL, NULL);
  loop_case(max, 4, "2x1xf16", "2x1xf16", NULL, NULL);
  loop_case(max, 4, "2x1xf32", "2x1xf16", NULL, NULL);
  loop_case(rescale, 4, "2x8xf32", "2x8xf32", "2x1xf32", NULL);
  loop_case(rescale, 4, "2x8xf32", "2x8xf32", "8xf32", NULL);
  loop_case(concat, 4, "2x8xf16", "2x2xf16", NULL, NULL);
  loop_case(assign, 4, "2x8xf16", "2x8xf16", NULL, NULL);

  loop_case(sum, 4, "2x8xf16", "2x8xf16", NULL, "loop: carry 0 accumulates in f16, f32 is needed");
  loop_case(sum, 4, "2x8xf32", "2x1xf32", NULL, "loop: contribution 0 does not fit its carry: 2x1xf32 vs 2x8xf32");
  loop_case(sum, 4, "2x8xf32", "2x8xf32", "2x1xf32", "loop: yields 2 values, 1 carries and 0 factors are needed");
  loop_case(max, 4, "2x1xf16", "2x1xf32", NULL,
            "loop: contribution 0 and its carry differ in element type: f32 vs f16");
  loop_case(rescale, 4, "2x8xf32", "2x8xf32", NULL, "loop: yields 1 values, 1 carries and 1 factors are needed");
  loop_case(rescale, 4, "2x1xf32", "2x1xf32", "2x8xf32",
            "loop: factor of carry 0 does not broadcast to it: 2x8xf32 vs 2x1xf32");
  loop_case(concat, 3, "2x8xf16", "2x2xf16", NULL, "loop: carry 0: range 3 does not divide extent 8");
  loop_case(concat, 4, "2x8xf16", "2x8xf16", NULL, "loop: contribution 0 does not fit its carry: 2x8xf16 vs 2x2xf16");
  loop_case((MirageCarry){MIRAGE_COMBINE_CONCAT, 2}, 4, "2x8xf16", "2x2xf16", NULL,
            "loop: carry 0: dimension 2 is out of range for rank 2");
  loop_case((MirageCarry){(MirageCombine)9, 0}, 4, "2x8xf16", "2x8xf16", NULL,
            "loop: carry 0 has an unknown combine: 9");
  loop_case(assign, 4, "2x8xf32", "2x8xf16", NULL,
            "loop: contribution 0 and its carry differ in element type: f16 vs f32");
  loop_case(sum, 0, "2x8xf32", "2x8xf32", NULL, "loop: range is 0, at least 1 is needed");
}

// ---------------------------------------------------------------------------------------------------- custom

static const MirageCustomAttrs PLAIN = {.grid = {8, 2, 1}, .cluster = {1, 1, 1}};

static void custom_case(MirageCustomAttrs attrs, const MirageSchedule *schedule, const char *message) {
  Capture capture = {0};
  const MirageDiag diag = {capture_emit, &capture};
  attrs.schedule = schedule;
  MirageStatus status = mirage_op_check_custom(&attrs, &diag, NULL);
  assert_string_equal(capture.text, message ? message : "");
  assert_int_equal(status != MIRAGE_OK, message != NULL);
}

static void test_custom_grid(void **state) {
  custom_case(PLAIN, NULL, NULL);
  custom_case((MirageCustomAttrs){.grid = {8, 2, 1}, .cluster = {4, 2, 1}}, NULL, NULL);
  custom_case((MirageCustomAttrs){.grid = {8, 2, 0}, .cluster = {1, 1, 1}}, NULL,
              "custom: grid axis 2 has 0 blocks, 1 to 65535 are possible");
  custom_case((MirageCustomAttrs){.grid = {8, 65536, 1}, .cluster = {1, 1, 1}}, NULL,
              "custom: grid axis 1 has 65536 blocks, 1 to 65535 are possible");
  custom_case((MirageCustomAttrs){.grid = {8, 2, 1}, .cluster = {3, 1, 1}}, NULL,
              "custom: cluster does not divide grid axis 0: 3 vs 8");
  custom_case((MirageCustomAttrs){.grid = {8, 2, 1}, .cluster = {1, 0, 1}}, NULL,
              "custom: cluster does not divide grid axis 1: 0 vs 2");
  custom_case((MirageCustomAttrs){.grid = {8, 4, 1}, .cluster = {8, 4, 1}}, NULL,
              "custom: cluster has 32 blocks or more, at most 16 are possible");
}

static void test_custom_schedule(void **state) {
  const MirageRole producer = {MIRAGE_ROLE_PRODUCER, 1, 40}, consumer = {MIRAGE_ROLE_CONSUMER, 4, 232};
  MirageSchedule good = {.warps = 5, .num_roles = 2, .roles = {producer, consumer}};
  custom_case(PLAIN, &good, NULL);
  MirageSchedule s = good;
  s.warps = 6;
  custom_case(PLAIN, &s, "custom: warps of the roles and of the block differ: 5 vs 6");
  s = good;
  s.roles[0].registers = 41;
  custom_case(PLAIN, &s, "custom: role 0 has 41 registers, a multiple of 8 from 24 on is needed");
  s = good;
  s.roles[1].warps = 0;
  custom_case(PLAIN, &s, "custom: role 1 has warps = 0, 1 to 32 are possible");
  s = (MirageSchedule){.num_roles = 2, .roles = {{MIRAGE_ROLE_CONSUMER, 32, 0}, producer}};
  custom_case(PLAIN, &s, "custom: roles have 33 warps, a block has at most 32");
  s = (MirageSchedule){.num_roles = 9};
  custom_case(PLAIN, &s, "custom: schedule has 9 roles, at most 8 are supported");
  s = (MirageSchedule){.num_loads = 25};
  custom_case(PLAIN, &s, "custom: schedule has 25 loads, at most 24 are supported");
  s = (MirageSchedule){.num_loads = 2, .loads = {{.stages = 64}, {.stages = 65}}};
  custom_case(PLAIN, &s, "custom: load 1 has stages = 65, 0 to 64 are possible");
  s = (MirageSchedule){.num_loads = 1, .loads = {{.landing = (MirageLanding)5}}};
  custom_case(PLAIN, &s, "custom: load 0 has landing = 5, 0 to 4 are possible");
  s = (MirageSchedule){.split = (MirageWarpSplit)4};
  custom_case(PLAIN, &s, "custom: schedule has split = 4, 0 to 3 are possible");
  s = good;
  s.roles[1].registers = 264;
  custom_case(PLAIN, &s, "custom: role 1 has registers = 264, 0 to 256 are possible");
  s = (MirageSchedule){.num_loads = 1, .loads = {{.multicast = true}}};
  custom_case(PLAIN, &s, "custom: load 0 is multicast, but there is no cluster");
  custom_case((MirageCustomAttrs){.grid = {8, 2, 1}, .cluster = {2, 1, 1}}, &s, NULL);
  s = (MirageSchedule){.side_blocks = -1};
  custom_case(PLAIN, &s, "custom: schedule has side_blocks = -1, at least 0 is needed");
}

// ----------------------------------------------------------------------------------------------------- types

static void test_types(void **state) {
  MirageType a = parse_type("2x64xf16", MIRAGE_SPACE_DEVICE), b = parse_type("2x64xf32", MIRAGE_SPACE_TILE);
  char text[8];
  assert_string_equal(mirage_type_format(&a, text, sizeof text), "2x64xf1"); // truncated
  assert_int_equal(mirage_type_elements(&a), 128);
  assert_int_equal(mirage_type_bytes(&b), 512);
  assert_true(mirage_type_same_shape(&a, &b));
  assert_false(mirage_type_same_meaning(&a, &b));
  a.dtype = MIRAGE_F32;
  assert_true(mirage_type_same_meaning(&a, &b)); // wherever they lie
  a.shape[1] = 63;
  assert_false(mirage_type_same_shape(&a, &b));
  a.shape[0] = INT64_MAX;
  assert_int_equal(mirage_type_bytes(&a), INT64_MAX); // saturates
  a.rank = 0;
  assert_int_equal(mirage_type_elements(&a), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_element_wise), cmocka_unit_test(test_places),        cmocka_unit_test(test_matmul),
      cmocka_unit_test(test_reduce),       cmocka_unit_test(test_data_movement), cmocka_unit_test(test_constants),
      cmocka_unit_test(test_sugar),        cmocka_unit_test(test_access),        cmocka_unit_test(test_collectives),
      cmocka_unit_test(test_loop),         cmocka_unit_test(test_custom_grid),   cmocka_unit_test(test_custom_schedule),
      cmocka_unit_test(test_types),        cmocka_unit_test(test_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
