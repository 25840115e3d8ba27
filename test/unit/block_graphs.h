// block_graphs.h - programs and hand-written µGraphs for them, some right and some temptingly wrong, for the tests of
// evaluation and verification. Static functions: each test file that includes it gets its own copy.
#ifndef MIRAGE_TEST_BLOCK_GRAPHS_H
#define MIRAGE_TEST_BLOCK_GRAPHS_H

#include "mirage/ugraph.h"

#include <stdarg.h>
#include <stddef.h>

#define UNUSED_OK __attribute__((unused))

static UNUSED_OK MirageType tensor_type(MirageDType dtype, uint32_t rank, ...) {
  int64_t shape[MIRAGE_MAX_RANK] = {0};
  va_list list;
  va_start(list, rank);
  for (uint32_t d = 0; d < rank; d++)
    shape[d] = va_arg(list, int);
  va_end(list);
  return mirage_type_tensor(dtype, rank, shape);
}
static UNUSED_OK MirageType tile2(int64_t rows, int64_t columns) {
  return mirage_type_tile(MIRAGE_F32, 2, (int64_t[]){rows, columns});
}
static UNUSED_OK MirageValue op1(MirageUGraph *g, MirageOp op, MirageValue a) {
  return mirage_ugraph_apply(g, op, 1, &a, NULL);
}
static UNUSED_OK MirageValue op2(MirageUGraph *g, MirageOp op, MirageValue a, MirageValue b) {
  MirageAttrs none = {0};
  return mirage_ugraph_apply(g, op, 2, (MirageValue[]){a, b}, op == MIRAGE_OP_MATMUL ? &none : NULL);
}
static UNUSED_OK MirageValue reduce_over(MirageUGraph *g, MirageOp op, MirageValue a, int32_t dim, int64_t extent) {
  return mirage_ugraph_apply(g, op, 1, &a, &(MirageAttrs){.reduce = {.dim = dim, .extent = extent}});
}
/// Grid axis x splits dimension `grid`, the outermost loop splits `loop`; -1 = neither.
static UNUSED_OK MirageAccessAttrs access_of(int grid, int loop) {
  return (MirageAccessAttrs){.grid = {(int8_t)grid, -1, -1}, .loop = {(int8_t)loop, -1, -1, -1}};
}
static UNUSED_OK MirageCustomAttrs blocks(int64_t x) {
  return (MirageCustomAttrs){.grid = {x, 1, 1}, .cluster = {1, 1, 1}};
}
static UNUSED_OK MirageUGraph *finish_with(MirageUGraph *g, MirageValue y) {
  mirage_ugraph_return(g, 1, &y);
  if (mirage_ugraph_finish(g) == MIRAGE_OK)
    return g;
  mirage_ugraph_destroy(g);
  return NULL;
}

// ---------------------------------------------------------------------------------------------------- RMSNorm + linear

typedef struct Sizes {
  int64_t m, k, n, grid, loop;
  int64_t rank; // LoRA only
} Sizes;

static UNUSED_OK MirageUGraph *rms_program(Sizes s, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "rmsnorm_linear", diag);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k));
  MirageValue gain = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 1, (int)s.k));
  MirageValue w = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n));
  MirageValue norm =
      mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 2, (MirageValue[]){x, gain}, &(MirageAttrs){.eps = {0.0}});
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, norm, w));
}

typedef enum RmsBug {
  RMS_RIGHT,
  RMS_SWAPPED_DIV,          // rms / acc
  RMS_NORM_NOT_ACCUMULATED, // the last tile's sum of squares only
  RMS_NO_GAIN,
  RMS_GAIN_TWICE,
  RMS_PARTIAL_NORM,   // divides by the norm of the columns seen so far, inside the loop
  RMS_WRONG_CONSTANT, // mean over k + 1
  RMS_NO_SQRT,
  RMS_X_NOT_ADVANCED, // every iteration reads the first tile of x (by slicing a whole-row load)
  RMS_W_WRONG_MAP,    // grid over the rows and loop over the columns of w: needs k / loop == n / grid
  RMS_MAX_FOR_SUM,    // accumulates the maximum of the partial products
  RMS_SUM_NOT_SQUARED,
  RMS_NUM_BUGS,
} RmsBug;

/// One kernel: y = (sum over the loop of (x * g) @ w) / sqrt(sum of squares / k); columns over the grid.
static UNUSED_OK MirageUGraph *rms_fused(Sizes s, RmsBug bug, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "rmsnorm_linear_0", diag);
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 1, (int)s.k)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n))};
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.n);
  MirageCustomAttrs attrs = blocks(s.grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(-1, 1), g_map = access_of(-1, 0), w_map = access_of(1, 0),
                    y_map = access_of(1, -1);
  if (bug == RMS_W_WRONG_MAP)
    w_map = access_of(0, 1);
  int64_t columns = (s.n + s.grid - 1) / s.grid, depth = (s.k + s.loop - 1) / s.loop;
  MirageValue inits[2] = {mirage_ugraph_constant(g, tile2(s.m, columns), 0.0),
                          mirage_ugraph_constant(g, tile2(s.m, 1), 0.0)};
  MirageCarry carries[2] = {{bug == RMS_MAX_FOR_SUM ? MIRAGE_COMBINE_MAX : MIRAGE_COMBINE_SUM, 0},
                            {bug == RMS_NORM_NOT_ACCUMULATED ? MIRAGE_COMBINE_ASSIGN : MIRAGE_COMBINE_SUM, 0}};
  MirageNode loop = mirage_ugraph_open_loop(g, 2, inits, &(MirageLoopAttrs){s.loop, 2, carries});
  MirageAccessAttrs whole = access_of(-1, -1);
  MirageValue xt =
      mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), bug == RMS_X_NOT_ADVANCED ? &whole : &x_map);
  if (bug == RMS_X_NOT_ADVANCED)
    xt = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &xt, &(MirageAttrs){.slice = {1, 0, depth}});
  MirageValue gt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &g_map);
  MirageValue wt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 2), &w_map);
  MirageValue xg = bug == RMS_NO_GAIN ? xt : op2(g, MIRAGE_OP_MUL, xt, gt);
  if (bug == RMS_GAIN_TWICE)
    xg = op2(g, MIRAGE_OP_MUL, xg, gt);
  MirageValue p = op2(g, MIRAGE_OP_MATMUL, mirage_ugraph_cast(g, xg, MIRAGE_F16), wt);
  MirageValue sq = bug == RMS_SUM_NOT_SQUARED ? xt : op1(g, MIRAGE_OP_SQUARE, xt);
  MirageValue ss = reduce_over(g, MIRAGE_OP_REDUCE_SUM, sq, 1, 1);
  if (bug == RMS_PARTIAL_NORM)
    p = op2(g, MIRAGE_OP_DIV, p, op1(g, MIRAGE_OP_SQRT, op2(g, MIRAGE_OP_ADD, mirage_ugraph_argument(g, loop, 1), ss)));
  mirage_ugraph_close(g, 2, (MirageValue[]){p, ss});
  MirageValue acc = mirage_ugraph_result(g, loop, 0), squares = mirage_ugraph_result(g, loop, 1);
  double count = (double)(bug == RMS_WRONG_CONSTANT ? s.k + 1 : s.k);
  MirageValue norm = op2(g, MIRAGE_OP_DIV, squares, mirage_ugraph_constant(g, tile2(1, 1), count));
  if (bug != RMS_NO_SQRT)
    norm = op1(g, MIRAGE_OP_SQRT, norm);
  MirageValue y = bug == RMS_PARTIAL_NORM  ? acc
                  : bug == RMS_SWAPPED_DIV ? op2(g, MIRAGE_OP_DIV, norm, acc)
                                           : op2(g, MIRAGE_OP_DIV, acc, norm);
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 3), &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// --------------------------------------------------------------------------------------------------------------- gated
// MLP

static UNUSED_OK MirageUGraph *mlp_program(Sizes s, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "gated_mlp", diag);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k));
  MirageValue w1 = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n));
  MirageValue w3 = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n));
  MirageValue gate = op1(g, MIRAGE_OP_SILU, op2(g, MIRAGE_OP_MATMUL, x, w1));
  return finish_with(g, op2(g, MIRAGE_OP_MUL, gate, op2(g, MIRAGE_OP_MATMUL, x, w3)));
}

typedef enum MlpBug {
  MLP_RIGHT,
  MLP_SILU_OF_PARTIAL, // the non-linear operator inside the loop
  MLP_SILU_OF_OTHER,   // silu on the wrong factor
  MLP_NO_GATE,
  MLP_SIGMOID,
  MLP_SPELLED_OUT, // right: z / (1 + exp(-z)) * u
  MLP_NUM_BUGS,
} MlpBug;

static UNUSED_OK MirageUGraph *mlp_fused(Sizes s, MlpBug bug, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "gated_mlp_0", diag);
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n))};
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.n);
  MirageCustomAttrs attrs = blocks(s.grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(-1, 1), w_map = access_of(1, 0), y_map = access_of(1, -1);
  MirageValue zero = mirage_ugraph_constant(g, tile2(s.m, (s.n + s.grid - 1) / s.grid), 0.0);
  MirageCarry carries[2] = {{MIRAGE_COMBINE_SUM, 0}, {MIRAGE_COMBINE_SUM, 0}};
  MirageNode loop = mirage_ugraph_open_loop(g, 2, (MirageValue[]){zero, zero}, &(MirageLoopAttrs){s.loop, 2, carries});
  MirageValue xt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &x_map);
  MirageValue p1 = op2(g, MIRAGE_OP_MATMUL, xt, mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &w_map));
  MirageValue p3 = op2(g, MIRAGE_OP_MATMUL, xt, mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 2), &w_map));
  if (bug == MLP_SILU_OF_PARTIAL)
    p1 = op1(g, MIRAGE_OP_SILU, p1);
  mirage_ugraph_close(g, 2, (MirageValue[]){p1, p3});
  MirageValue z = mirage_ugraph_result(g, loop, 0), u = mirage_ugraph_result(g, loop, 1), y;
  if (bug == MLP_SILU_OF_OTHER)
    y = op2(g, MIRAGE_OP_MUL, z, op1(g, MIRAGE_OP_SILU, u));
  else if (bug == MLP_NO_GATE)
    y = op1(g, MIRAGE_OP_SILU, z);
  else if (bug == MLP_SIGMOID)
    y = op2(g, MIRAGE_OP_MUL, op1(g, MIRAGE_OP_SIGMOID, z), u);
  else if (bug == MLP_SILU_OF_PARTIAL)
    y = op2(g, MIRAGE_OP_MUL, z, u);
  else if (bug == MLP_SPELLED_OUT)
    y = op2(g, MIRAGE_OP_MUL,
            op2(g, MIRAGE_OP_DIV, z,
                op2(g, MIRAGE_OP_ADD, mirage_ugraph_constant(g, tile2(1, 1), 1.0),
                    op1(g, MIRAGE_OP_EXP, op1(g, MIRAGE_OP_NEG, z)))),
            u);
  else
    y = op2(g, MIRAGE_OP_MUL, op1(g, MIRAGE_OP_SILU, z), u);
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 3), &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// -----------------------------------------------------------------------------------------------------------------
// LoRA

static UNUSED_OK MirageUGraph *lora_program(Sizes s, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "lora", diag);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k));
  MirageValue w = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n));
  MirageValue a = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.rank));
  MirageValue b = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.rank, (int)s.n));
  MirageValue low = op2(g, MIRAGE_OP_MATMUL, op2(g, MIRAGE_OP_MATMUL, x, a), b);
  return finish_with(g, op2(g, MIRAGE_OP_ADD, op2(g, MIRAGE_OP_MATMUL, x, w), low));
}

/// `wrong`: adds the low-rank product of the last iteration only.
static UNUSED_OK MirageUGraph *lora_fused(Sizes s, bool wrong, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "lora_0", diag);
  MirageValue in[4] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.rank)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.rank, (int)s.n))};
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.n);
  MirageCustomAttrs attrs = blocks(s.grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 4, in, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(-1, 1), w_map = access_of(1, 0), a_map = access_of(-1, 0),
                    y_map = access_of(1, -1);
  MirageValue inits[2] = {mirage_ugraph_constant(g, tile2(s.m, (s.n + s.grid - 1) / s.grid), 0.0),
                          mirage_ugraph_constant(g, tile2(s.m, s.rank), 0.0)};
  MirageCarry carries[2] = {{MIRAGE_COMBINE_SUM, 0}, {wrong ? MIRAGE_COMBINE_ASSIGN : MIRAGE_COMBINE_SUM, 0}};
  MirageNode loop = mirage_ugraph_open_loop(g, 2, inits, &(MirageLoopAttrs){s.loop, 2, carries});
  MirageValue xt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &x_map);
  MirageValue p = op2(g, MIRAGE_OP_MATMUL, xt, mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &w_map));
  MirageValue q = op2(g, MIRAGE_OP_MATMUL, xt, mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 2), &a_map));
  mirage_ugraph_close(g, 2, (MirageValue[]){p, q});
  MirageValue low = mirage_ugraph_cast(g, mirage_ugraph_result(g, loop, 1), MIRAGE_F16);
  MirageValue bt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 3), &y_map);
  MirageValue y = op2(g, MIRAGE_OP_ADD, mirage_ugraph_result(g, loop, 0), op2(g, MIRAGE_OP_MATMUL, low, bt));
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 4), &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// ------------------------------------------------------------------------------------------------------ split-K linear

static UNUSED_OK MirageUGraph *linear_program(Sizes s, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "linear", diag);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k));
  MirageValue w = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n));
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, x, w));
}

typedef enum SplitKind {
  SPLIT_GRID_SUM,
  SPLIT_CLUSTER_SUM,
  SPLIT_NO_SUM,
  SPLIT_GRID_MAX,
  SPLIT_ROUNDED, // to f16, and then summed over the grid
} SplitKind;

/// Columns over grid axis x (s.grid), the contraction over axis y (s.loop), combined by a collective.
static UNUSED_OK MirageUGraph *linear_split(Sizes s, SplitKind kind, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "linear_0", diag);
  MirageValue in[2] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.k)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.k, (int)s.n))};
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.n);
  MirageCustomAttrs attrs = {.grid = {s.grid, s.loop, 1}, .cluster = {1, kind == SPLIT_CLUSTER_SUM ? s.loop : 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 2, in, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(-1, -1), w_map = access_of(1, -1), y_map = access_of(1, -1);
  x_map.grid[1] = 1;
  w_map.grid[1] = 0;
  MirageValue xt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &x_map);
  MirageValue p = op2(g, MIRAGE_OP_MATMUL, xt, mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &w_map));
  MirageAttrs over_y = {.axes = {{false, true, false}}};
  MirageOp combine = kind == SPLIT_CLUSTER_SUM ? MIRAGE_OP_CLUSTER_SUM
                     : kind == SPLIT_GRID_MAX  ? MIRAGE_OP_GRID_MAX
                                               : MIRAGE_OP_GRID_SUM;
  if (kind == SPLIT_ROUNDED)
    p = mirage_ugraph_cast(g, p, MIRAGE_F16);
  if (kind != SPLIT_NO_SUM)
    p = mirage_ugraph_apply(g, combine, 1, &p, &over_y);
  mirage_ugraph_store(g, p, mirage_ugraph_argument(g, kernel, 2), &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// ----------------------------------------------------------------------------------------------------------- attention

/// softmax(q @ k) @ v with q [m, depth], k [depth, n], v [n, depth]; depth = s.rank.
static UNUSED_OK MirageUGraph *attention_program(Sizes s, bool safe, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "attention", diag);
  MirageValue q = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.rank));
  MirageValue k = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.rank, (int)s.n));
  MirageValue v = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.n, (int)s.rank));
  MirageValue scores = op2(g, MIRAGE_OP_MATMUL, q, k), weights;
  if (safe) {
    weights = mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &scores, &(MirageAttrs){.dim = {1}});
  } else {
    MirageValue e = op1(g, MIRAGE_OP_EXP, scores);
    weights = op2(g, MIRAGE_OP_DIV, e, reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1));
  }
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, weights, v));
}

typedef enum FlashBug {
  FLASH_RIGHT,
  FLASH_NO_RESCALE, // partial sums keep the factor of an older maximum
  FLASH_LOCAL_MAX,  // rescales by the tile's own maximum, not the running one
  FLASH_SUM_NOT_RESCALED,
  FLASH_NUM_BUGS,
} FlashBug;

/// Online softmax over s.loop tiles of keys, one block for each part of the rows.
static UNUSED_OK MirageUGraph *attention_flash(Sizes s, FlashBug bug, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "attention_0", diag);
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.rank)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.rank, (int)s.n)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)s.n, (int)s.rank))};
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)s.m, (int)s.rank);
  MirageCustomAttrs attrs = blocks(s.grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs q_map = access_of(0, -1), k_map = access_of(-1, 1), v_map = access_of(-1, 0);
  int64_t rows = (s.m + s.grid - 1) / s.grid;
  MirageValue qt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &q_map);
  MirageAttrs column = {.shape = {tile2(rows, 1)}};
  MirageValue inits[3] = {mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &column),
                          mirage_ugraph_constant(g, tile2(rows, 1), 0.0),
                          mirage_ugraph_constant(g, tile2(rows, s.rank), 0.0)};
  MirageCarry carries[3] = {{MIRAGE_COMBINE_MAX, 0},
                            {bug == FLASH_SUM_NOT_RESCALED ? MIRAGE_COMBINE_SUM : MIRAGE_COMBINE_RESCALE, 0},
                            {MIRAGE_COMBINE_RESCALE, 0}};
  if (bug == FLASH_NO_RESCALE)
    carries[1].combine = carries[2].combine = MIRAGE_COMBINE_SUM;
  MirageNode loop = mirage_ugraph_open_loop(g, 3, inits, &(MirageLoopAttrs){s.loop, 3, carries});
  MirageValue kt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), &k_map);
  MirageValue vt = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 2), &v_map);
  MirageValue scores = op2(g, MIRAGE_OP_MATMUL, qt, kt);
  MirageValue tile_max = reduce_over(g, MIRAGE_OP_REDUCE_MAX, scores, 1, 1), old = mirage_ugraph_argument(g, loop, 0);
  MirageValue top = bug == FLASH_LOCAL_MAX ? tile_max : op2(g, MIRAGE_OP_MAX, old, tile_max);
  MirageValue factor = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, old, top));
  MirageValue e = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, scores, top));
  MirageValue sum = reduce_over(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1);
  MirageValue part = op2(g, MIRAGE_OP_MATMUL, mirage_ugraph_cast(g, e, MIRAGE_F16), vt);
  uint32_t factors = bug == FLASH_NO_RESCALE ? 0 : bug == FLASH_SUM_NOT_RESCALED ? 1 : 2;
  mirage_ugraph_close(g, 3 + factors, (MirageValue[]){tile_max, sum, part, factor, factor});
  MirageValue y = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, loop, 2), mirage_ugraph_result(g, loop, 1));
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, 3), &q_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

#endif
