// test_verify.c - pairs with their verdict: for each right µGraph several tempting wrong ones, which must be told
// apart.
//
// A wrong graph that is accepted is the worst thing that can happen here, so every wrong graph is tried at full size
// and shrunken, and has to be DIFFERENT (not merely unproven).
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "block_graphs.h"
#include "mirage/random.h"
#include "mirage/verify.h"
#include "verify/verify_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void print_message_of(void *user, MirageSeverity severity, const void *loc, const char *message) {
  print_message("  %s\n", message);
}
static const MirageDiag DIAG = {print_message_of, NULL};

static const char *kind_name(MirageVerdictKind kind) {
  static const char *names[] = {"equivalent", "different", "unsupported"};
  return names[kind];
}

static MirageVerdict verify(MirageUGraph *source, MirageUGraph *target, uint64_t max_work) {
  MirageVerdict verdict = {0};
  MirageVerifyOptions options = {.seed = 7, .max_work = max_work};
  assert_non_null(source);
  assert_non_null(target);
  assert_int_equal(mirage_verify(source, target, &options, &DIAG, &verdict), MIRAGE_OK);
  return verdict;
}

// Consumes both graphs.
static void expect(MirageUGraph *source, MirageUGraph *target, uint64_t max_work, MirageVerdictKind kind,
                   bool shrunken) {
  MirageVerdict verdict = verify(source, target, max_work);
  if (verdict.kind != kind)
    print_message("verdict %s instead of %s: %s; output %u index %llu\n", kind_name(verdict.kind), kind_name(kind),
                  verdict.reason, verdict.output, (unsigned long long)verdict.index);
  assert_int_equal(verdict.kind, kind);
  if (kind != MIRAGE_VERDICT_UNSUPPORTED)
    assert_int_equal(verdict.proof.shrunken, shrunken);
  if (kind == MIRAGE_VERDICT_EQUIVALENT) {
    assert_true(verdict.proof.present);
    assert_true(verdict.proof.log2_bound <= -60);
    assert_true(verdict.proof.trials >= 1);
  } else if (kind == MIRAGE_VERDICT_DIFFERENT) {
    assert_true(verdict.source_value != verdict.target_value);
  }
  mirage_ugraph_destroy(source);
  mirage_ugraph_destroy(target);
}

enum { FULL = 100000000, SMALL_WORK = 20000 };

static const Sizes SMALL = {.m = 2, .k = 16, .n = 12, .grid = 3, .loop = 4, .rank = 4};
static const Sizes MEDIUM = {.m = 2, .k = 256, .n = 192, .grid = 4, .loop = 8, .rank = 16};
static const Sizes RAGGED = {.m = 2, .k = 250, .n = 187, .grid = 4, .loop = 8, .rank = 16};
static const Sizes SQUARE = {.m = 2, .k = 256, .n = 256, .grid = 8, .loop = 8, .rank = 16}; // k / loop == n / grid

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

// ------------------------------------------------------------------------------------------------------------ accepted

static void accepts_identical_graphs(void **state) {
  const Sizes sizes[] = {SMALL, MEDIUM, RAGGED};
  for (size_t i = 0; i < 3; i++) {
    expect(rms_program(sizes[i], &DIAG), rms_program(sizes[i], &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
    expect(mlp_program(sizes[i], &DIAG), mlp_program(sizes[i], &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
    expect(lora_program(sizes[i], &DIAG), lora_program(sizes[i], &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  }
}

static void accepts_fused_rms_norm_linear(void **state) {
  expect(rms_program(SMALL, &DIAG), rms_fused(SMALL, RMS_RIGHT, &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  expect(rms_program(RAGGED, &DIAG), rms_fused(RAGGED, RMS_RIGHT, &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  expect(rms_program(MEDIUM, &DIAG), rms_fused(MEDIUM, RMS_RIGHT, &DIAG), SMALL_WORK, MIRAGE_VERDICT_EQUIVALENT, true);
  expect(rms_program(RAGGED, &DIAG), rms_fused(RAGGED, RMS_RIGHT, &DIAG), SMALL_WORK, MIRAGE_VERDICT_EQUIVALENT, true);
}

static void accepts_fused_gated_mlp(void **state) {
  const MlpBug right[] = {MLP_RIGHT, MLP_SPELLED_OUT};
  for (size_t i = 0; i < 2; i++) {
    expect(mlp_program(MEDIUM, &DIAG), mlp_fused(MEDIUM, right[i], &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
    expect(mlp_program(MEDIUM, &DIAG), mlp_fused(MEDIUM, right[i], &DIAG), SMALL_WORK, MIRAGE_VERDICT_EQUIVALENT, true);
  }
}

static void accepts_fused_lora(void **state) {
  expect(lora_program(MEDIUM, &DIAG), lora_fused(MEDIUM, false, &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  expect(lora_program(MEDIUM, &DIAG), lora_fused(MEDIUM, false, &DIAG), SMALL_WORK, MIRAGE_VERDICT_EQUIVALENT, true);
  expect(lora_program(RAGGED, &DIAG), lora_fused(RAGGED, false, &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
}

static void accepts_split_contraction(void **state) {
  expect(linear_program(MEDIUM, &DIAG), linear_split(MEDIUM, SPLIT_GRID_SUM, &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT,
         false);
  expect(linear_program(RAGGED, &DIAG), linear_split(RAGGED, SPLIT_CLUSTER_SUM, &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT,
         false);
  expect(linear_program(MEDIUM, &DIAG), linear_split(MEDIUM, SPLIT_GRID_SUM, &DIAG), SMALL_WORK,
         MIRAGE_VERDICT_EQUIVALENT, true);
}

static const Sizes HEADS = {.m = 4, .n = 6, .rank = 3, .grid = 2, .loop = 3};
static const Sizes LONG = {.m = 32, .n = 256, .rank = 16, .grid = 2, .loop = 4};

static void accepts_online_softmax(void **state) {
  expect(attention_program(HEADS, true, &DIAG), attention_flash(HEADS, FLASH_RIGHT, &DIAG), FULL,
         MIRAGE_VERDICT_EQUIVALENT, false);
  expect(attention_program(HEADS, false, &DIAG), attention_flash(HEADS, FLASH_RIGHT, &DIAG), FULL,
         MIRAGE_VERDICT_EQUIVALENT, false);
  expect(attention_program(HEADS, true, &DIAG), attention_program(HEADS, false, &DIAG), FULL, MIRAGE_VERDICT_EQUIVALENT,
         false);
  expect(attention_program(LONG, true, &DIAG), attention_flash(LONG, FLASH_RIGHT, &DIAG), SMALL_WORK,
         MIRAGE_VERDICT_EQUIVALENT, true);
}

// ------------------------------------------------------------------------------------------------------------- refused

static void refuses_wrong_rms_norm_linear(void **state) {
  for (int bug = RMS_RIGHT + 1; bug < RMS_NUM_BUGS; bug++) {
    expect(rms_program(SQUARE, &DIAG), rms_fused(SQUARE, (RmsBug)bug, &DIAG), FULL, MIRAGE_VERDICT_DIFFERENT, false);
    expect(rms_program(SQUARE, &DIAG), rms_fused(SQUARE, (RmsBug)bug, &DIAG), SMALL_WORK, MIRAGE_VERDICT_DIFFERENT,
           true);
  }
}

static void refuses_wrong_gated_mlp(void **state) {
  for (int bug = MLP_RIGHT + 1; bug < MLP_NUM_BUGS; bug++) {
    if (bug == MLP_SPELLED_OUT)
      continue;
    expect(mlp_program(MEDIUM, &DIAG), mlp_fused(MEDIUM, (MlpBug)bug, &DIAG), FULL, MIRAGE_VERDICT_DIFFERENT, false);
    expect(mlp_program(MEDIUM, &DIAG), mlp_fused(MEDIUM, (MlpBug)bug, &DIAG), SMALL_WORK, MIRAGE_VERDICT_DIFFERENT,
           true);
  }
}

static void refuses_wrong_lora(void **state) {
  expect(lora_program(MEDIUM, &DIAG), lora_fused(MEDIUM, true, &DIAG), FULL, MIRAGE_VERDICT_DIFFERENT, false);
  expect(lora_program(MEDIUM, &DIAG), lora_fused(MEDIUM, true, &DIAG), SMALL_WORK, MIRAGE_VERDICT_DIFFERENT, true);
}

static void refuses_wrong_online_softmax(void **state) {
  for (int bug = FLASH_RIGHT + 1; bug < FLASH_NUM_BUGS; bug++) {
    expect(attention_program(HEADS, true, &DIAG), attention_flash(HEADS, (FlashBug)bug, &DIAG), FULL,
           MIRAGE_VERDICT_DIFFERENT, false);
    expect(attention_program(LONG, true, &DIAG), attention_flash(LONG, (FlashBug)bug, &DIAG), SMALL_WORK,
           MIRAGE_VERDICT_DIFFERENT, true);
  }
}

// Blocks that store different partial sums to the same place race; whichever came last, the graph is not a proof.
static void refuses_a_split_contraction_without_its_sum(void **state) {
  MirageUGraph *source = linear_program(MEDIUM, &DIAG), *race = linear_split(MEDIUM, SPLIT_NO_SUM, &DIAG);
  MirageVerdict verdict = verify(source, race, FULL);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  assert_non_null(strstr(verdict.reason, "store different values"));
  mirage_ugraph_destroy(source);
  mirage_ugraph_destroy(race);
  expect(linear_program(MEDIUM, &DIAG), linear_split(MEDIUM, SPLIT_GRID_MAX, &DIAG), FULL, MIRAGE_VERDICT_DIFFERENT,
         false);
}

static MirageUGraph *unary_chain(uint32_t n, const MirageOp *ops, double scale) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "chain", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 3, 5));
  if (scale != 1.0)
    x = op2(g, MIRAGE_OP_MUL, x, mirage_ugraph_constant(g, tensor_type(MIRAGE_F32, 0), scale));
  for (uint32_t i = 0; i < n; i++)
    x = op1(g, ops[i], x);
  return finish_with(g, x);
}

#define CHAIN(scale, ...)                                                                                              \
  unary_chain(sizeof((MirageOp[]){__VA_ARGS__}) / sizeof(MirageOp), (MirageOp[]){__VA_ARGS__}, scale)

static void knows_the_algebra_of_unary_operators(void **state) {
  expect(CHAIN(1.0, MIRAGE_OP_NEG, MIRAGE_OP_NEG, MIRAGE_OP_EXP), CHAIN(1.0, MIRAGE_OP_EXP), FULL,
         MIRAGE_VERDICT_EQUIVALENT, false);
  expect(CHAIN(2.0, MIRAGE_OP_EXP), CHAIN(1.0, MIRAGE_OP_EXP, MIRAGE_OP_SQUARE), FULL, MIRAGE_VERDICT_EQUIVALENT,
         false);
  expect(CHAIN(3.0, MIRAGE_OP_EXP), CHAIN(1.0, MIRAGE_OP_EXP, MIRAGE_OP_SQUARE), FULL, MIRAGE_VERDICT_DIFFERENT, false);
  expect(CHAIN(1.0, MIRAGE_OP_EXP, MIRAGE_OP_EXP), CHAIN(1.0, MIRAGE_OP_EXP, MIRAGE_OP_EXP), FULL,
         MIRAGE_VERDICT_EQUIVALENT, false);
  expect(CHAIN(1.0, MIRAGE_OP_EXP, MIRAGE_OP_EXP), CHAIN(1.0, MIRAGE_OP_EXP), FULL, MIRAGE_VERDICT_DIFFERENT, false);
  expect(CHAIN(1.0, MIRAGE_OP_GELU), CHAIN(1.0, MIRAGE_OP_GELU_TANH), FULL, MIRAGE_VERDICT_DIFFERENT, false);
  expect(CHAIN(1.0, MIRAGE_OP_GELU), CHAIN(1.0, MIRAGE_OP_GELU), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  // True, but not for every function in place of sqrt: refused, never guessed.
  expect(CHAIN(1.0, MIRAGE_OP_SQRT, MIRAGE_OP_SQUARE), CHAIN(1.0), FULL, MIRAGE_VERDICT_DIFFERENT, false);
}

static MirageUGraph *nested_max(int order) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "nested_max", &DIAG);
  MirageValue v[3];
  for (int i = 0; i < 3; i++)
    v[i] = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 4));
  MirageValue y;
  if (order == 0)
    y = op2(g, MIRAGE_OP_MAX, op2(g, MIRAGE_OP_MAX, v[0], v[1]), v[2]);
  else if (order == 1)
    y = op2(g, MIRAGE_OP_MAX, op2(g, MIRAGE_OP_MAX, v[2], v[1]), op2(g, MIRAGE_OP_MAX, v[0], v[2]));
  else
    y = op2(g, MIRAGE_OP_MAX, v[0], v[1]);
  return finish_with(g, y);
}

static void knows_that_a_maximum_depends_on_a_set(void **state) {
  expect(nested_max(0), nested_max(1), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  expect(nested_max(0), nested_max(2), FULL, MIRAGE_VERDICT_DIFFERENT, false);
}

// ------------------------------------------------------------------------------------------------------ more schedules

enum { SPLIT_LOCAL_SUM = 1, SPLIT_LOCAL_MAX = 2 };

// Flash-decoding: s.loop blocks along grid axis y share the keys; maximum, sum and product are combined over the grid.
static MirageUGraph *attention_split(Sizes s, int bug) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "attention_split", &DIAG);
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.rank)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.rank, (int)s.n)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.n, (int)s.rank))};
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.rank);
  MirageCustomAttrs attrs = {.grid = {s.grid, s.loop, 1}, .cluster = {1, 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs q_map = access_of(0, -1), k_map = access_of(-1, -1), v_map = access_of(-1, -1);
  k_map.grid[1] = 1;
  v_map.grid[1] = 0;
  MirageAttrs over_y = {.axes = {{false, true, false}}};
  MirageValue qt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &q_map);
  MirageValue kt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &k_map);
  MirageValue vt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 2), &v_map);
  MirageValue scores = op2(g, MIRAGE_OP_MATMUL, qt, kt);
  MirageValue top = reduce_over(g, MIRAGE_OP_REDUCE_MAX, scores, 1, 1);
  if (bug != SPLIT_LOCAL_MAX)
    top = mirage_ugraph_apply(g, MIRAGE_OP_GRID_MAX, 1, &top, &over_y);
  MirageValue e = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, scores, top));
  MirageValue sum = reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1);
  if (bug != SPLIT_LOCAL_SUM)
    sum = mirage_ugraph_apply(g, MIRAGE_OP_GRID_SUM, 1, &sum, &over_y);
  MirageValue part = op2(g, MIRAGE_OP_DIV, op2(g, MIRAGE_OP_MATMUL, mirage_ugraph_cast(g, e, MIRAGE_F16), vt), sum);
  MirageValue y = mirage_ugraph_apply(g, MIRAGE_OP_GRID_SUM, 1, &part, &over_y);
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 3), &q_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void knows_flash_decoding(void **state) {
  expect(attention_program(HEADS, true, &DIAG), attention_split(HEADS, 0), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  expect(attention_program(LONG, true, &DIAG), attention_split(LONG, 0), SMALL_WORK, MIRAGE_VERDICT_EQUIVALENT, true);
  expect(attention_program(LONG, true, &DIAG), attention_split(LONG, SPLIT_LOCAL_SUM), SMALL_WORK,
         MIRAGE_VERDICT_DIFFERENT, true);
  expect(attention_program(LONG, true, &DIAG), attention_split(LONG, SPLIT_LOCAL_MAX), SMALL_WORK,
         MIRAGE_VERDICT_DIFFERENT, true);
}

// Keys that do not divide evenly: masked lanes have score 0, not bottom, and count in the sum. Also when shrunken.
static void refuses_masked_lanes_that_count(void **state) {
  const Sizes odd = {.m = 4, .n = 61, .rank = 3, .grid = 2, .loop = 4};
  expect(attention_program(odd, true, &DIAG), attention_flash(odd, FLASH_RIGHT, &DIAG), FULL, MIRAGE_VERDICT_DIFFERENT,
         false);
  expect(attention_program(odd, true, &DIAG), attention_flash(odd, FLASH_RIGHT, &DIAG), 500, MIRAGE_VERDICT_DIFFERENT,
         true);
}

// y = x / sqrt(mean(x * x)) with a block-level mean; one block for each part of the rows. `dim`: of the mean.
static MirageUGraph *norm_kernel(int64_t rows, int64_t columns, int64_t grid, int32_t dim) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "norm_0", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)rows, (int)columns));
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)rows, (int)columns);
  MirageCustomAttrs attrs = blocks(grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(0, -1);
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  MirageValue mean = reduce_over(g, MIRAGE_OP_REDUCE_MEAN, op1(g, MIRAGE_OP_SQUARE, t), dim, 1);
  MirageValue y = op2(g, MIRAGE_OP_MUL, t, op1(g, MIRAGE_OP_RSQRT, mean));
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 1), &map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static MirageUGraph *norm_program(int64_t rows, int64_t columns) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "norm", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)rows, (int)columns));
  return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0.0}}));
}

static void means_keep_their_count_when_shrunken(void **state) {
  expect(norm_program(64, 640), norm_kernel(64, 640, 4, 1), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
  expect(norm_program(64, 640), norm_kernel(64, 640, 4, 1), 1000, MIRAGE_VERDICT_EQUIVALENT, true);
  expect(norm_program(64, 640), norm_kernel(64, 640, 4, 0), 1000, MIRAGE_VERDICT_DIFFERENT, true);
}

// Batched attention with k as [batch, n, depth]; one block a batch, or (wrong) all blocks on batch 0's values.
static MirageUGraph *sdpa_kernel(int64_t batch, int64_t m, int64_t n, int64_t depth, int64_t loop, double scale) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "sdpa_0", &DIAG);
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)batch, (int)m, (int)depth)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)batch, (int)n, (int)depth)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)batch, (int)n, (int)depth))};
  MirageType y_type = tensor_type(MIRAGE_F16, 3, (int)batch, (int)m, (int)depth);
  MirageCustomAttrs attrs = blocks(batch);
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs q_map = access_of(0, -1), k_map = access_of(0, 1);
  MirageType sums = mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){1, m, 1}),
             acc = mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){1, m, depth});
  MirageValue qt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &q_map);
  MirageValue inits[2] = {mirage_ugraph_constant(g, sums, 0.0), mirage_ugraph_constant(g, acc, 0.0)};
  MirageCarry carries[2] = {{MIRAGE_COMBINE_SUM, 0}, {MIRAGE_COMBINE_SUM, 0}};
  MirageNode l = mirage_ugraph_open_loop(g, 2, inits, &(MirageLoopAttrs){loop, 2, carries});
  MirageValue kt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &k_map);
  MirageValue vt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 2), &k_map);
  MirageAttrs transposed = {.matmul = {.transpose_b = true}};
  MirageValue scores = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (MirageValue[]){qt, kt}, &transposed);
  MirageValue factor = mirage_ugraph_constant(g, mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){1, 1, 1}), scale);
  MirageValue e = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_MUL, scores, factor));
  MirageValue sum = reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 2, 1);
  MirageValue part = op2(g, MIRAGE_OP_MATMUL, mirage_ugraph_cast(g, e, MIRAGE_F16), vt);
  mirage_ugraph_close(g, 2, (MirageValue[]){sum, part});
  MirageValue y = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, l, 1), mirage_ugraph_result(g, l, 0));
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 3), &q_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static MirageUGraph *sdpa_program(int64_t batch, int64_t m, int64_t n, int64_t depth, double scale) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "sdpa", &DIAG);
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)batch, (int)m, (int)depth)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)batch, (int)n, (int)depth)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)batch, (int)n, (int)depth))};
  return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_SDPA, 3, in, &(MirageAttrs){.sdpa = {.scale = scale}}));
}

static void knows_batched_attention(void **state) {
  expect(sdpa_program(2, 8, 64, 16, 0.125), sdpa_kernel(2, 8, 64, 16, 4, 0.125), FULL, MIRAGE_VERDICT_EQUIVALENT,
         false);
  expect(sdpa_program(2, 8, 64, 16, 0.125), sdpa_kernel(2, 8, 64, 16, 4, 0.125), 5000, MIRAGE_VERDICT_EQUIVALENT, true);
  expect(sdpa_program(2, 8, 64, 16, 0.125), sdpa_kernel(2, 8, 64, 16, 4, 0.25), 5000, MIRAGE_VERDICT_DIFFERENT, true);
  expect(sdpa_program(2, 8, 64, 16, 0.1), sdpa_kernel(2, 8, 64, 16, 4, 0.1), FULL, MIRAGE_VERDICT_EQUIVALENT, false);
}

// x times the value below every number.
static MirageUGraph *bottom_graph(const void *cookie) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "below", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 2, 2));
  MirageType y_type = tensor_type(MIRAGE_F32, 2, 2, 2);
  MirageCustomAttrs attrs = blocks(1);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(-1, -1);
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  MirageAttrs shape = {.shape = {tile2(2, 2)}};
  MirageValue low = mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &shape);
  mirage_ugraph_set_loc(g, cookie);
  MirageValue y = op2(g, MIRAGE_OP_MUL, t, low);
  mirage_ugraph_set_loc(g, NULL);
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 1), &map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void says_which_operator_has_no_rule(void **state) {
  static const int cookie = 0;
  MirageUGraph *a = bottom_graph(&cookie), *b = bottom_graph(&cookie);
  MirageVerdict verdict = verify(a, b, FULL);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  assert_string_equal(verdict.reason, "mul: no rule in the domain field");
  assert_ptr_equal(verdict.loc, &cookie);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
}

static void expect_shape(const MirageUGraph *g, uint32_t input, int64_t rows, int64_t columns) {
  const MirageType *type = mirage_ugraph_type(g, mirage_ugraph_get_input(g, input));
  assert_int_equal(type->shape[0], rows);
  assert_int_equal(type->shape[1], columns);
}

static void shrinking_keeps_every_split(void **state) {
  const Sizes even = {.m = 2, .k = 4096, .n = 6144, .grid = 128, .loop = 32};  // tiles 2x128, 128x48
  const Sizes tails = {.m = 2, .k = 4096, .n = 6100, .grid = 128, .loop = 32}; // 127 tiles of 48, one of 4
  const Sizes unit = {.m = 2, .k = 32, .n = 128, .grid = 128, .loop = 32};     // tiles of one column, one row
  char reason[160] = "";
  for (int i = 0; i < 3; i++) {
    Sizes s = i == 0 ? even : i == 1 ? tails : unit;
    MirageUGraph *a = linear_program(s, &DIAG), *b = linear_split(s, SPLIT_GRID_SUM, &DIAG), *small_a, *small_b;
    assert_int_equal(mirage__verify_shrink(a, b, SHRINK_SMALLEST, &(bool){false}, &small_a, &small_b, reason),
                     MIRAGE_OK);
    if (i < 2) {
      assert_non_null(small_a);
      assert_non_null(small_b);
      expect_shape(small_a, 0, 2, 32 * 3);
      expect_shape(small_b, 1, 32 * 3, i == 0 ? 128 * 2 : 127 * 2 + 1);
    } else {
      assert_null(small_a);
      assert_string_equal(reason, "no axis can be shrunk");
    }
    mirage_ugraph_destroy(a);
    mirage_ugraph_destroy(b);
    mirage_ugraph_destroy(small_a);
    mirage_ugraph_destroy(small_b);
  }
}

// x - mean, over its root variance: mean(c^2) against mean(x^2) - mean^2, equal only if the count is the extent.
// `count` overrides the divisor of the second moment.
static MirageUGraph *variance_program(int64_t n, bool one_pass, double count) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "variance", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 2, (int)n));
  MirageValue mean = reduce_over(g, MIRAGE_OP_REDUCE_MEAN, x, 1, 1), c = op2(g, MIRAGE_OP_SUB, x, mean);
  if (!one_pass)
    return finish_with(g, reduce_over(g, MIRAGE_OP_REDUCE_MEAN, op1(g, MIRAGE_OP_SQUARE, c), 1, 1));
  MirageValue sum = reduce_over(g, MIRAGE_OP_REDUCE_SUM, op1(g, MIRAGE_OP_SQUARE, x), 1, 1);
  MirageValue squares = op2(g, MIRAGE_OP_DIV, sum, mirage_ugraph_constant(g, tensor_type(MIRAGE_F32, 0), count));
  return finish_with(g, op2(g, MIRAGE_OP_SUB, squares, op1(g, MIRAGE_OP_SQUARE, mean)));
}

static void counts_follow_their_extents_when_they_must(void **state) {
  for (int shrunken = 0; shrunken < 2; shrunken++) {
    uint64_t work = shrunken ? 1000 : FULL;
    expect(variance_program(1024, false, 0), variance_program(1024, true, 1024), work, MIRAGE_VERDICT_EQUIVALENT,
           shrunken);
    expect(variance_program(1024, false, 0), variance_program(1024, true, 1023), work, MIRAGE_VERDICT_DIFFERENT,
           shrunken);
    expect(variance_program(1024, false, 0), variance_program(1024, true, 512), work, MIRAGE_VERDICT_DIFFERENT,
           shrunken);
  }
}

// -------------------------------------------------------------------------------------------------------- random pairs

// Grows the same random expression twice; the second copy takes detours that keep the value and, when `slips`, now and
// then one that does not. Returns whether it slipped.
static bool random_pair(uint64_t seed, bool slips, MirageUGraph *graphs[2]) {
  enum { STEPS = 6, INPUTS = 3, ALL = INPUTS + STEPS };
  MirageRandom random;
  MirageValue v[2][ALL];
  bool slipped = false;
  mirage_random_init(&random, seed, 0);
  for (int g = 0; g < 2; g++) {
    graphs[g] = mirage_ugraph_create(NULL, "random", &DIAG);
    for (int i = 0; i < INPUTS; i++)
      v[g][i] = mirage_ugraph_input(graphs[g], tensor_type(MIRAGE_F32, 2, 3, 4));
  }
  for (int i = INPUTS; i < ALL; i++) {
    uint64_t op = mirage_random_below(&random, 6), detour = mirage_random_below(&random, 3);
    bool slip = slips && mirage_random_below(&random, 4) == 0;
    uint64_t left = mirage_random_below(&random, (uint64_t)i), right = mirage_random_below(&random, (uint64_t)i);
    for (int g = 0; g < 2; g++) {
      MirageUGraph *to = graphs[g];
      MirageValue a = v[g][left], b = v[g][right], *y = &v[g][i];
      bool other = g == 1 && detour != 0, wrong = g == 1 && slip;
      slipped |= wrong;
      if (op == 0)
        *y = op2(to, MIRAGE_OP_ADD, other ? b : a, other ? (wrong ? b : a) : wrong ? a : b);
      else if (op == 1) // a - b = a + -b
        *y = other ? op2(to, MIRAGE_OP_ADD, a, wrong ? b : op1(to, MIRAGE_OP_NEG, b))
                   : op2(to, MIRAGE_OP_SUB, wrong ? b : a, wrong ? a : b);
      else if (op == 2)
        *y = op2(to, MIRAGE_OP_MUL, other ? b : a, other ? (wrong ? b : a) : wrong ? a : b);
      else if (op == 3) // max(a, b) = max(b, max(a, b))
        *y = op2(to, MIRAGE_OP_MAX, b, other ? op2(to, MIRAGE_OP_MAX, a, wrong ? a : b) : wrong ? b : a);
      else if (op == 4) { // exp(a + b) = exp(a) exp(b), of inputs only
        MirageValue c = v[g][left % INPUTS], d = v[g][right % INPUTS];
        *y = other ? op2(to, MIRAGE_OP_MUL, op1(to, MIRAGE_OP_EXP, c), op1(to, MIRAGE_OP_EXP, wrong ? c : d))
                   : op1(to, MIRAGE_OP_EXP, op2(to, MIRAGE_OP_ADD, c, wrong ? c : d));
      } else { // a * (sum of b over a row) = sum over the row of ... b, taken outside
        MirageValue sum = reduce_over(to, MIRAGE_OP_REDUCE_SUM, b, wrong ? 0 : 1, 1);
        *y = other ? op2(to, MIRAGE_OP_MUL, sum, a) : op2(to, MIRAGE_OP_MUL, a, sum);
      }
    }
  }
  for (int g = 0; g < 2; g++)
    assert_non_null(finish_with(graphs[g], v[g][ALL - 1]));
  return slipped;
}

// Largest relative difference of both graphs in doubles.
static double difference_in_doubles(MirageUGraph *graphs[2], uint64_t seed) {
  double x[3][12], y[2][12], relative, largest;
  MirageRandom random;
  mirage_random_init(&random, seed, 1);
  for (int i = 0; i < 36; i++)
    x[i / 12][i % 12] = mirage_random_normal(&random) / 2;
  for (int g = 0; g < 2; g++)
    assert_int_equal(mirage_eval(graphs[g], mirage_domain_f64(), (const void *const[]){x[0], x[1], x[2]},
                                 (void *const[]){y[g]}, NULL, &DIAG),
                     MIRAGE_OK);
  mirage_compare(y[1], y[0], 12, &relative, &largest);
  return relative;
}

// Pairs without a slip are equivalent; what is called equivalent agrees in doubles, slip or not.
static void random_pairs_agree_with_doubles(void **state) {
  int different = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    MirageUGraph *graphs[2];
    bool slipped = random_pair(seed, seed % 2, graphs);
    MirageVerdict verdict = verify(graphs[0], graphs[1], FULL);
    if (!slipped)
      assert_int_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
    if (verdict.kind == MIRAGE_VERDICT_EQUIVALENT)
      assert_true(difference_in_doubles(graphs, seed) < 1e-9);
    different += verdict.kind == MIRAGE_VERDICT_DIFFERENT;
    mirage_ugraph_destroy(graphs[0]);
    mirage_ugraph_destroy(graphs[1]);
  }
  assert_true(different > 30); // the slips are not all harmless
}

// ----------------------------------------------------------------------------------------------- bounds, errors, speed

static void bounds_are_those_of_the_theorem(void **state) {
  MirageUGraph *a = CHAIN(1.0), *b = CHAIN(1.0);
  MirageVerdict verdict = verify(a, b, FULL); // degree 1 in p >= 2^61, and nothing to draw again for: one trial
  assert_int_equal(verdict.proof.trials, 1);
  assert_true(fabs(verdict.proof.log2_bound - -61.0) < 0.01);
  assert_int_equal(verdict.proof.q, 0);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
  a = CHAIN(1.0, MIRAGE_OP_EXP);
  b = CHAIN(1.0, MIRAGE_OP_EXP);
  verdict = verify(a, b, FULL);
  assert_true(verdict.proof.q >> 30 == 1);
  assert_true(verdict.proof.trials >= 3 && verdict.proof.trials <= 4);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
}

// A product of 2^40 different exponentials in one denominator: nothing can be shown, and that is said.
// Squared 70 times, a value has degree 2^70: every residue may be a zero of it. Inside a kernel there is nothing to
// cut.
static MirageUGraph *powers(const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "powers", diag);
  MirageType type = tensor_type(MIRAGE_F32, 1, 3);
  MirageValue x = mirage_ugraph_input(g, type);
  MirageCustomAttrs attrs = blocks(1);
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x, 1, &type, &attrs);
  MirageAccessAttrs map = access_of(-1, -1);
  MirageValue t = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &map);
  for (int n = 0; n < 70; n++)
    t = op1(g, MIRAGE_OP_SQUARE, t);
  mirage_ugraph_store(g, t, mirage_ugraph_argument(g, kernel, 1), &map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

static void says_when_no_bound_is_useful(void **state) {
  MirageUGraph *a = powers(&DIAG), *b = powers(&DIAG);
  MirageVerdict verdict = verify(a, b, FULL);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  assert_non_null(strstr(verdict.reason, "no useful error bound"));
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
}

// As operators of their own, each squaring is a piece. The claim is held by proving them again.
static void long_chains_go_by_pieces(void **state) {
  MirageUGraph *graphs[2];
  for (int i = 0; i < 2; i++) {
    MirageUGraph *g = graphs[i] = mirage_ugraph_create(NULL, "chain", &DIAG);
    MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 3));
    for (int n = 0; n < 70; n++)
      x = i ? op2(g, MIRAGE_OP_MUL, x, x) : op1(g, MIRAGE_OP_SQUARE, x);
    assert_non_null(finish_with(g, x));
  }
  MirageVerdict verdict = verify(graphs[0], graphs[1], FULL);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
  assert_int_equal(verdict.proof.pieces, 70);
  assert_true(verdict.proof.log2_bound <= -60);
  double bound = 1;
  assert_int_equal(mirage_verify_claim(graphs[0], graphs[1], &verdict.proof, &DIAG, &bound), MIRAGE_OK);
  assert_true(bound <= verdict.proof.log2_bound);
  const int interrupt = 1;
  const MirageCancel cancel = {.interrupt = &interrupt};
  assert_int_equal(mirage_verify_claim_until(graphs[0], graphs[1], &verdict.proof, &cancel, &DIAG, &bound),
                   MIRAGE_CANCELLED);
  MirageField *field = mirage_field_create(1, 0);
  MirageResidue drawn[3];
  assert_int_equal(mirage_field_draw_until(field, 0, 3, &cancel, drawn), MIRAGE_CANCELLED);
  assert_int_equal(mirage_field_draw_until(field, 0, 3, NULL, drawn), MIRAGE_OK);
  mirage_field_destroy(field);
  verdict.proof.pieces = 0;
  assert_int_equal(mirage_verify_claim(graphs[0], graphs[1], &verdict.proof, &DIAG, &bound), MIRAGE_OK);
  assert_true(bound == 0);
  mirage_ugraph_destroy(graphs[0]);
  mirage_ugraph_destroy(graphs[1]);
}

typedef enum { LAYERS_SILU, LAYERS_SIGMOID, LAYERS_SWAPPED } Layers;
enum { NUM_LAYERS = 24 };

// x + silu(norm(x) a) b, NUM_LAYERS times, each with weights of its own; silu as an operator or by its sigmoid, or that
// with the weights b of two layers exchanged.
static MirageUGraph *layers(Layers form) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "layers", &DIAG);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 64, 1024)), a[NUM_LAYERS], b[NUM_LAYERS];
  for (int i = 0; i < NUM_LAYERS; i++) {
    a[i] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 1024, 4096));
    b[i] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, 4096, 1024));
  }
  for (int i = 0; i < NUM_LAYERS; i++) {
    MirageValue norm = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &x, &(MirageAttrs){.eps = {0.5}});
    MirageValue h = op2(g, MIRAGE_OP_MATMUL, norm, a[i]);
    MirageValue s =
        form == LAYERS_SILU ? op1(g, MIRAGE_OP_SILU, h) : op2(g, MIRAGE_OP_MUL, op1(g, MIRAGE_OP_SIGMOID, h), h);
    int taken = form == LAYERS_SWAPPED && i >= NUM_LAYERS - 2 ? 2 * NUM_LAYERS - 3 - i : i;
    x = op2(g, MIRAGE_OP_ADD, x, op2(g, MIRAGE_OP_MATMUL, s, b[taken]));
  }
  return finish_with(g, x);
}

typedef struct Seen {
  uint32_t reports, last_piece, pieces;
} Seen;

static void see(void *user, const MirageVerifyProgress *at) {
  Seen *seen = user;
  assert_in_range(at->trial, 1, at->trials);
  assert_true(at->pieces ? at->piece >= 1 && at->piece <= at->pieces : at->piece == 0);
  assert_true(at->piece >= seen->last_piece);
  seen->last_piece = at->piece;
  seen->pieces = at->pieces;
  seen->reports++;
}

// So large that only small instances can be evaluated. A piece has the inputs that it reads: of all 48 weights, which
// nothing ties to one another, none would be left with one of the axes that an instance may shrink.
static void large_pieces_are_transferred(void **state) {
  MirageUGraph *program = layers(LAYERS_SILU), *right = layers(LAYERS_SIGMOID), *wrong = layers(LAYERS_SWAPPED);
  MirageVerdict verdict = verify(program, right, 2000000);
  if (verdict.kind != MIRAGE_VERDICT_EQUIVALENT)
    fail_msg("%s", verdict.reason);
  assert_true(verdict.proof.shrunken);
  assert_true(verdict.proof.pieces >= NUM_LAYERS);
  assert_true(verdict.proof.log2_bound <= -60);
  double bound = 1;
  assert_int_equal(mirage_verify_claim(program, right, &verdict.proof, &DIAG, &bound), MIRAGE_OK);
  assert_true(bound <= verdict.proof.log2_bound);
  Seen seen = {0};
  const MirageVerifyOptions options = {.seed = 7, .max_work = 2000000, .progress = see, .user = &seen};
  assert_int_equal(mirage_verify(program, right, &options, &DIAG, &verdict), MIRAGE_OK);
  assert_true(seen.reports >= verdict.proof.pieces && seen.last_piece >= verdict.proof.pieces);
  assert_true(seen.pieces >= seen.last_piece);
  verdict = verify(program, wrong, 2000000);
  assert_int_not_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(right);
  mirage_ugraph_destroy(wrong);
}

// A sum of 42 sigmoids has 2^42 exponential monomials over its common denominator, and degree 43 in the values of exp.
// The claim is checked by the same theorem.
static void counts_no_monomials_of_free_exponentials(void **state) {
  MirageUGraph *graphs[2];
  for (int i = 0; i < 2; i++) {
    MirageUGraph *g = graphs[i] = mirage_ugraph_create(NULL, "fractions", &DIAG);
    MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, 1, 43));
    // the slices at 42 and 43 leave nothing to shrink
    MirageValue s = op1(g, MIRAGE_OP_SIGMOID, x);
    MirageValue head = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &s, &(MirageAttrs){.slice = {1, 0, 42}});
    MirageValue tail = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &s, &(MirageAttrs){.slice = {1, 42, 43}});
    MirageValue y = op2(g, MIRAGE_OP_ADD, reduce_over(g, MIRAGE_OP_REDUCE_SUM, head, 1, 1), tail);
    assert_non_null(finish_with(g, y));
  }
  MirageVerdict verdict = verify(graphs[0], graphs[1], FULL);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
  assert_true(verdict.proof.free_exp && !verdict.proof.shrunken && verdict.proof.q == 0);
  double bound = 1;
  assert_int_equal(mirage_verify_claim(graphs[0], graphs[1], &verdict.proof, &DIAG, &bound), MIRAGE_OK);
  assert_true(bound == verdict.proof.log2_bound && bound <= -60);
  verdict.proof.free_exp = false;
  assert_int_equal(mirage_verify_claim(graphs[0], graphs[1], &verdict.proof, &DIAG, &bound), MIRAGE_OK);
  assert_true(bound == 0);
  mirage_ugraph_destroy(graphs[0]);
  mirage_ugraph_destroy(graphs[1]);
}

// exp(a + b) = exp(a) exp(b) is no law of free exponentials: they prove nothing, and find no difference either.
static void free_exponentials_are_no_homomorphisms(void **state) {
  MirageUGraph *graphs[2];
  for (int i = 0; i < 2; i++) {
    MirageUGraph *g = graphs[i] = mirage_ugraph_create(NULL, i ? "product" : "sum", &DIAG);
    MirageValue a = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 3));
    MirageValue b = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 3));
    MirageValue y = i ? op2(g, MIRAGE_OP_MUL, op1(g, MIRAGE_OP_EXP, a), op1(g, MIRAGE_OP_EXP, b))
                      : op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_ADD, a, b));
    assert_non_null(finish_with(g, y));
  }
  MirageVerdict verdict = verify(graphs[0], graphs[1], FULL);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
  assert_false(verdict.proof.free_exp);
  const MirageVerifyOptions options = {.free_exp = true};
  assert_int_equal(mirage_verify(graphs[0], graphs[1], &options, &DIAG, &verdict), MIRAGE_OK);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  mirage_ugraph_destroy(graphs[0]);
  mirage_ugraph_destroy(graphs[1]);
}

// A claim is what the trials give, no more; at full size and shrunken.
static void claims_are_held_to_their_trials(void **state) {
  for (int shrunken = 0; shrunken < 2; shrunken++) {
    MirageUGraph *a = rms_program(MEDIUM, &DIAG), *b = rms_fused(MEDIUM, RMS_RIGHT, &DIAG);
    MirageVerdict verdict = verify(a, b, shrunken ? SMALL_WORK : FULL);
    double bound = 1, less = 1;
    assert_int_equal(mirage_verify_claim(a, b, &verdict.proof, &DIAG, &bound), MIRAGE_OK);
    assert_true(bound == verdict.proof.log2_bound);
    verdict.proof.trials--;
    assert_int_equal(mirage_verify_claim(a, b, &verdict.proof, &DIAG, &less), MIRAGE_OK);
    assert_true(less > bound && less <= 0);
    mirage_ugraph_destroy(a);
    mirage_ugraph_destroy(b);
  }
  const Sizes unit = {.m = 2, .k = 1, .n = 1, .grid = 1, .loop = 1};
  MirageUGraph *a = linear_program(unit, &DIAG), *b = linear_program(unit, &DIAG);
  double bound = -1;
  const MirageProof proof = {.present = true, .trials = 2, .shrunken = true};
  assert_int_equal(mirage_verify_claim(a, b, &proof, &DIAG, &bound), MIRAGE_OK);
  assert_true(bound == 0); // there is no shrunken instance to speak of
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
}

static void full_size_means_full_size(void **state) {
  MirageUGraph *a = rms_program(MEDIUM, &DIAG), *b = rms_fused(MEDIUM, RMS_RIGHT, &DIAG);
  MirageVerdict verdict;
  MirageVerifyOptions options = {.seed = 7, .max_work = SMALL_WORK, .full_size = true};
  assert_int_equal(mirage_verify(a, b, &options, &DIAG, &verdict), MIRAGE_OK);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  assert_non_null(strstr(verdict.reason, "at full size"));
  options.max_work = FULL;
  assert_int_equal(mirage_verify(a, b, &options, &DIAG, &verdict), MIRAGE_OK);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_EQUIVALENT);
  assert_false(verdict.proof.shrunken);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
}

// A budget that pays for one trial and not for the proof: the trial is run, and shows what it can, a difference.
static void a_trial_at_full_size_shows_differences_only(void **state) {
  MirageUGraph *a = rms_program(MEDIUM, &DIAG);
  MirageUGraph *right = rms_fused(MEDIUM, RMS_RIGHT, &DIAG), *wrong = rms_fused(MEDIUM, RMS_SWAPPED_DIV, &DIAG);
  MirageVerifyOptions options = {.seed = 7, .trials = 1000, .max_work = FULL, .full_size = true};
  MirageVerdict verdict;
  assert_int_equal(mirage_verify(a, right, &options, &DIAG, &verdict), MIRAGE_OK);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  assert_non_null(strstr(verdict.reason, "at full size"));
  assert_int_equal(mirage_verify(a, wrong, &options, &DIAG, &verdict), MIRAGE_OK);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_DIFFERENT);
  options.max_work = SMALL_WORK; // not even one
  assert_int_equal(mirage_verify(a, wrong, &options, &DIAG, &verdict), MIRAGE_OK);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(right);
  mirage_ugraph_destroy(wrong);
}

// A witness names a trial; that trial alone gives the same witness, and another one another.
static void witnesses_can_be_seen_again(void **state) {
  MirageUGraph *a = mlp_program(SMALL, &DIAG), *b = mlp_fused(SMALL, MLP_SIGMOID, &DIAG);
  MirageVerdict first, again, other;
  MirageVerifyOptions options = {.seed = 7, .first_trial = 5};
  assert_int_equal(mirage_verify(a, b, &options, &DIAG, &first), MIRAGE_OK);
  assert_int_equal(first.kind, MIRAGE_VERDICT_DIFFERENT);
  assert_int_equal(first.trial, 5);
  options = (MirageVerifyOptions){.seed = first.seed, .first_trial = first.trial, .trials = 1};
  assert_int_equal(mirage_verify(a, b, &options, &DIAG, &again), MIRAGE_OK);
  assert_true(again.source_value == first.source_value && again.target_value == first.target_value);
  assert_true(again.output == first.output && again.index == first.index && again.draw == first.draw);
  options.first_trial = 6;
  assert_int_equal(mirage_verify(a, b, &options, &DIAG, &other), MIRAGE_OK);
  assert_true(other.source_value != first.source_value);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
}

static void rejects_signatures_that_do_not_pair(void **state) {
  MirageVerdict verdict;
  MirageUGraph *a = linear_program(SMALL, NULL), *b = linear_program(MEDIUM, NULL), *c = lora_program(SMALL, NULL);
  assert_int_equal(mirage_verify(a, b, NULL, NULL, &verdict), MIRAGE_BAD_SHAPE);
  assert_int_equal(mirage_verify(a, c, NULL, NULL, &verdict), MIRAGE_BAD_SHAPE);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
  mirage_ugraph_destroy(c);
}

static void divides_by_zero_everywhere(void **state) {
  MirageUGraph *graphs[2];
  for (int i = 0; i < 2; i++) {
    MirageUGraph *g = graphs[i] = mirage_ugraph_create(NULL, "pole", &DIAG);
    MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 4));
    assert_non_null(finish_with(g, op2(g, MIRAGE_OP_DIV, x, op2(g, MIRAGE_OP_SUB, x, x))));
  }
  MirageVerdict verdict = verify(graphs[0], graphs[1], FULL);
  assert_int_equal(verdict.kind, MIRAGE_VERDICT_UNSUPPORTED);
  assert_non_null(strstr(verdict.reason, "divides by zero"));
  mirage_ugraph_destroy(graphs[0]);
  mirage_ugraph_destroy(graphs[1]);
}

static void verdicts_repeat(void **state) {
  MirageUGraph *source = mlp_program(SMALL, &DIAG), *wrong = mlp_fused(SMALL, MLP_SIGMOID, &DIAG);
  MirageVerdict a = verify(source, wrong, FULL), b = verify(source, wrong, FULL);
  assert_int_equal(a.kind, MIRAGE_VERDICT_DIFFERENT);
  assert_true(a.source_value == b.source_value && a.target_value == b.target_value && a.index == b.index);
  mirage_ugraph_destroy(source);
  mirage_ugraph_destroy(wrong);
}

// The benchmark shapes, shrunken.
static void benchmark_shapes_verify_quickly(void **state) {
  const Sizes rms = {.m = 2, .k = 4096, .n = 6144, .grid = 128, .loop = 32};
  const Sizes mlp = {.m = 8, .k = 4096, .n = 4096, .grid = 128, .loop = 32};
  const Sizes lora = {.m = 16, .k = 4096, .n = 4096, .grid = 128, .loop = 32, .rank = 16};
  const Sizes gqa = {.m = 256, .n = 4096, .rank = 64, .grid = 4, .loop = 32};
  double start = now_ms(), t;
  expect(rms_program(rms, &DIAG), rms_fused(rms, RMS_RIGHT, &DIAG), 1000000, MIRAGE_VERDICT_EQUIVALENT, true);
  print_message("rmsnorm_linear %.1f ms\n", (t = now_ms()) - start);
  expect(mlp_program(mlp, &DIAG), mlp_fused(mlp, MLP_RIGHT, &DIAG), 1000000, MIRAGE_VERDICT_EQUIVALENT, true);
  print_message("gated_mlp %.1f ms\n", now_ms() - t), t = now_ms();
  expect(lora_program(lora, &DIAG), lora_fused(lora, false, &DIAG), 1000000, MIRAGE_VERDICT_EQUIVALENT, true);
  print_message("lora %.1f ms\n", now_ms() - t), t = now_ms();
  expect(rms_program(rms, &DIAG), rms_fused(rms, RMS_PARTIAL_NORM, &DIAG), 1000000, MIRAGE_VERDICT_DIFFERENT, true);
  print_message("a wrong rmsnorm_linear %.1f ms\n", now_ms() - t), t = now_ms();
  MirageUGraph *a = attention_program(gqa, true, &DIAG), *b = attention_flash(gqa, FLASH_RIGHT, &DIAG);
  MirageVerdict verdict = verify(a, b, 1000000);
  print_message("attention: %s, %s, 2^%.0f in %u trials, %.1f ms\n", kind_name(verdict.kind), verdict.reason,
                verdict.proof.log2_bound, verdict.proof.trials, now_ms() - t);
  mirage_ugraph_destroy(a);
  mirage_ugraph_destroy(b);
  t = now_ms();
  expect(rms_program(rms, &DIAG), rms_fused(rms, RMS_RIGHT, &DIAG), UINT64_C(400000000), MIRAGE_VERDICT_EQUIVALENT,
         false);
  print_message("rmsnorm_linear at full size %.0f ms\n", now_ms() - t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepts_identical_graphs),
      cmocka_unit_test(accepts_fused_rms_norm_linear),
      cmocka_unit_test(accepts_fused_gated_mlp),
      cmocka_unit_test(accepts_fused_lora),
      cmocka_unit_test(accepts_split_contraction),
      cmocka_unit_test(accepts_online_softmax),
      cmocka_unit_test(refuses_wrong_rms_norm_linear),
      cmocka_unit_test(refuses_wrong_gated_mlp),
      cmocka_unit_test(refuses_wrong_lora),
      cmocka_unit_test(refuses_wrong_online_softmax),
      cmocka_unit_test(refuses_a_split_contraction_without_its_sum),
      cmocka_unit_test(knows_the_algebra_of_unary_operators),
      cmocka_unit_test(knows_that_a_maximum_depends_on_a_set),
      cmocka_unit_test(knows_flash_decoding),
      cmocka_unit_test(refuses_masked_lanes_that_count),
      cmocka_unit_test(means_keep_their_count_when_shrunken),
      cmocka_unit_test(knows_batched_attention),
      cmocka_unit_test(says_which_operator_has_no_rule),
      cmocka_unit_test(shrinking_keeps_every_split),
      cmocka_unit_test(random_pairs_agree_with_doubles),
      cmocka_unit_test(bounds_are_those_of_the_theorem),
      cmocka_unit_test(says_when_no_bound_is_useful),
      cmocka_unit_test(long_chains_go_by_pieces),
      cmocka_unit_test(large_pieces_are_transferred),
      cmocka_unit_test(counts_no_monomials_of_free_exponentials),
      cmocka_unit_test(free_exponentials_are_no_homomorphisms),
      cmocka_unit_test(counts_follow_their_extents_when_they_must),
      cmocka_unit_test(claims_are_held_to_their_trials),
      cmocka_unit_test(full_size_means_full_size),
      cmocka_unit_test(a_trial_at_full_size_shows_differences_only),
      cmocka_unit_test(witnesses_can_be_seen_again),
      cmocka_unit_test(rejects_signatures_that_do_not_pair),
      cmocka_unit_test(divides_by_zero_everywhere),
      cmocka_unit_test(verdicts_repeat),
      cmocka_unit_test(benchmark_shapes_verify_quickly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
