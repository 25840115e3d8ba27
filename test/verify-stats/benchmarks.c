// benchmarks.c - programs of the benchmark set and, for each, the µGraphs that are known to be good for it.
//
//   rmsnorm        rms_norm(x, g) @ w in one kernel: the division waits until the loop has ended
//   gated_mlp      silu(x @ w1) * (x @ w3) in one kernel, by block operators or with a thread graph as epilogue
//   lora           x @ w + (x @ a) @ b in one kernel
//   linear         x @ w with the contraction split over a cluster, over the grid, or over two kernels
//   gqa, mqa       attention without a maximum, keys split over blocks; a second kernel adds the parts
//   attention      online softmax in one block, or split over blocks that agree on the maximum at the end
//   linear_bias    x @ transpose(w) + b, through tiles that are transposed, cut, joined and repeated
//   norm_transformer   rms(x + alpha * (rms(h) + x)): two loops in sequence, the second one's tiles concatenated
#include "benchmarks.h"

#include "../unit/block_graphs.h"

static Sizes sizes_of(Extents e) {
  return (Sizes){.m = e.m, .k = e.k, .n = e.n, .grid = e.grid, .loop = e.loop, .rank = e.rank};
}
static MirageValue argument(MirageUGraph *g, MirageNode owner, uint32_t index) {
  return mirage_ugraph_argument(g, owner, index);
}
static MirageType tile3(int64_t a, int64_t b, int64_t c) {
  return mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){a, b, c});
}
static MirageValue zeros(MirageUGraph *g, MirageType type) { return mirage_ugraph_constant(g, type, 0.0); }

// ----------------------------------------------------------------------------------- as the unit tests build them

static MirageUGraph *rmsnorm_program(Extents e, const MirageDiag *diag) { return rms_program(sizes_of(e), diag); }
static MirageUGraph *rmsnorm_one_kernel(Extents e, const MirageDiag *diag) {
  return rms_fused(sizes_of(e), RMS_RIGHT, diag);
}
static MirageUGraph *gated_mlp_program(Extents e, const MirageDiag *diag) { return mlp_program(sizes_of(e), diag); }
static MirageUGraph *gated_mlp_one_kernel(Extents e, const MirageDiag *diag) {
  return mlp_fused(sizes_of(e), MLP_RIGHT, diag);
}
static MirageUGraph *low_rank_program(Extents e, const MirageDiag *diag) { return lora_program(sizes_of(e), diag); }
static MirageUGraph *low_rank_one_kernel(Extents e, const MirageDiag *diag) {
  return lora_fused(sizes_of(e), false, diag);
}
static MirageUGraph *matmul_program(Extents e, const MirageDiag *diag) { return linear_program(sizes_of(e), diag); }
static MirageUGraph *matmul_cluster(Extents e, const MirageDiag *diag) {
  return linear_split(sizes_of(e), SPLIT_CLUSTER_SUM, diag);
}
static MirageUGraph *matmul_grid(Extents e, const MirageDiag *diag) {
  return linear_split(sizes_of(e), SPLIT_GRID_SUM, diag);
}
static MirageUGraph *safe_attention_program(Extents e, const MirageDiag *diag) {
  return attention_program(sizes_of(e), true, diag);
}
static MirageUGraph *attention_online(Extents e, const MirageDiag *diag) {
  return attention_flash(sizes_of(e), FLASH_RIGHT, diag);
}

// ------------------------------------------------------------------------------------------------- gated MLP, threads

// The epilogue as a thread graph: z / (1 + exp(-z)) * u on fragments.
static MirageUGraph *gated_mlp_threads(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "gated_mlp_1", diag);
  MirageValue in[3] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)e.m, (int)e.k)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)e.k, (int)e.n)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)e.k, (int)e.n))};
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)e.m, (int)e.n);
  MirageCustomAttrs attrs = blocks(e.grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(-1, 1), w_map = access_of(1, 0), y_map = access_of(1, -1);
  MirageValue zero = zeros(g, tile2(e.m, (e.n + e.grid - 1) / e.grid));
  MirageCarry carries[2] = {{MIRAGE_COMBINE_SUM, 0}, {MIRAGE_COMBINE_SUM, 0}};
  MirageNode loop = mirage_ugraph_open_loop(g, 2, (MirageValue[]){zero, zero}, &(MirageLoopAttrs){e.loop, 2, carries});
  MirageValue xt = mirage_ugraph_load(g, argument(g, kernel, 0), &x_map);
  MirageValue p1 = op2(g, MIRAGE_OP_MATMUL, xt, mirage_ugraph_load(g, argument(g, kernel, 1), &w_map));
  MirageValue p3 = op2(g, MIRAGE_OP_MATMUL, xt, mirage_ugraph_load(g, argument(g, kernel, 2), &w_map));
  mirage_ugraph_close(g, 2, (MirageValue[]){p1, p3});
  MirageValue sums[2] = {mirage_ugraph_result(g, loop, 0), mirage_ugraph_result(g, loop, 1)};
  MirageNode thread = mirage_ugraph_open_thread(g, 2, sums);
  MirageValue z = argument(g, thread, 0), u = argument(g, thread, 1);
  MirageType fragment = *mirage_ugraph_type(g, z);
  MirageValue below =
      op2(g, MIRAGE_OP_ADD, mirage_ugraph_constant(g, fragment, 1.0), op1(g, MIRAGE_OP_EXP, op1(g, MIRAGE_OP_NEG, z)));
  MirageValue gated = op2(g, MIRAGE_OP_MUL, op2(g, MIRAGE_OP_DIV, z, below), u);
  mirage_ugraph_close(g, 1, &gated);
  mirage_ugraph_store(g, mirage_ugraph_result(g, thread, 0), argument(g, kernel, 3), &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// ---------------------------------------------------------------------------------------------- linear in two kernels

// Kernel 1 leaves e.split partial products beside each other, [m, split * n]; kernel 2 adds them.
static MirageUGraph *matmul_two_kernels(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "linear_2", diag);
  MirageValue in[2] = {mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)e.m, (int)e.k)),
                       mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)e.k, (int)e.n))};
  MirageType part_type = tensor_type(MIRAGE_F32, 2, (int)e.m, (int)(e.split * e.n));
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)e.m, (int)e.n);
  MirageCustomAttrs attrs = {.grid = {e.split, e.grid, 1}, .cluster = {1, 1, 1}}, reduce_attrs = blocks(e.m);
  MirageNode first = mirage_ugraph_open_custom(g, 2, in, 1, &part_type, &attrs);
  MirageAccessAttrs x_map = {.grid = {1, -1, -1}, .loop = {1, -1, -1, -1}};
  MirageAccessAttrs w_map = {.grid = {0, 1, -1}, .loop = {0, -1, -1, -1}};
  MirageAccessAttrs part_map = {.grid = {1, 1, -1}, .loop = {-1, -1, -1, -1}};
  MirageValue zero = zeros(g, tile2(e.m, e.n / e.grid));
  MirageCarry sum = {MIRAGE_COMBINE_SUM, 0};
  MirageNode loop = mirage_ugraph_open_loop(g, 1, &zero, &(MirageLoopAttrs){e.loop, 1, &sum});
  MirageValue p = op2(g, MIRAGE_OP_MATMUL, mirage_ugraph_load(g, argument(g, first, 0), &x_map),
                      mirage_ugraph_load(g, argument(g, first, 1), &w_map));
  mirage_ugraph_close(g, 1, &p);
  mirage_ugraph_store(g, mirage_ugraph_result(g, loop, 0), argument(g, first, 2), &part_map);
  mirage_ugraph_close(g, 0, NULL);
  MirageValue parts = mirage_ugraph_result(g, first, 0);
  MirageNode second = mirage_ugraph_open_custom(g, 1, &parts, 1, &y_type, &reduce_attrs);
  MirageAccessAttrs rows = access_of(0, -1);
  MirageValue all = mirage_ugraph_load(g, argument(g, second, 0), &rows);
  mirage_ugraph_store(g, reduce_over(g, MIRAGE_OP_REDUCE_SUM, all, 1, e.n), argument(g, second, 1), &rows);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, second, 0));
}

// ------------------------------------------------------------------------------------------------------ data movement

// x @ transpose(w), with w [n, k] as frameworks keep it, and a bias for each of two groups of columns, b [n / 2].
static void bias_inputs(MirageUGraph *g, Extents e, MirageValue in[3]) {
  in[0] = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, (int)e.m, (int)e.k));
  in[1] = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 2, (int)e.n, (int)e.k));
  in[2] = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, (int)(e.n / 2)));
}
static MirageValue slice_of(MirageUGraph *g, MirageValue a, int32_t dim, int64_t begin, int64_t end) {
  return mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &a, &(MirageAttrs){.slice = {dim, begin, end}});
}

static MirageUGraph *bias_program(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "linear_bias", diag);
  MirageValue in[3];
  bias_inputs(g, e, in);
  MirageValue y = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, in,
                                      &(MirageAttrs){.matmul = {.transpose_a = false, .transpose_b = true}});
  MirageValue b =
      mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, (MirageValue[]){in[2], in[2]}, &(MirageAttrs){.dim = {0}});
  return finish_with(g, op2(g, MIRAGE_OP_ADD, y, b));
}

// Rows over the grid. The weight tile is transposed and cut in two; the halves of the product are put side by side and
// get the bias, repeated.
static MirageUGraph *bias_one_kernel(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "linear_bias_0", diag);
  MirageValue in[3];
  bias_inputs(g, e, in);
  MirageType y_type = tensor_type(MIRAGE_F32, 2, (int)e.m, (int)e.n);
  MirageCustomAttrs attrs = blocks(e.grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs x_map = access_of(0, 1), w_map = access_of(-1, 1), b_map = access_of(-1, -1),
                    y_map = access_of(0, -1);
  MirageValue zero = zeros(g, tile2((e.m + e.grid - 1) / e.grid, e.n));
  MirageCarry sum = {MIRAGE_COMBINE_SUM, 0};
  MirageNode loop = mirage_ugraph_open_loop(g, 1, &zero, &(MirageLoopAttrs){e.loop, 1, &sum});
  MirageValue xt = mirage_ugraph_load(g, argument(g, kernel, 0), &x_map);
  MirageValue wt = mirage_ugraph_load(g, argument(g, kernel, 1), &w_map), halves[2];
  wt = mirage_ugraph_apply(g, MIRAGE_OP_TRANSPOSE, 1, &wt, &(MirageAttrs){.perm = {{1, 0}}});
  for (int64_t i = 0; i < 2; i++)
    halves[i] = op2(g, MIRAGE_OP_MATMUL, xt, slice_of(g, wt, 1, i * (e.n / 2), (i + 1) * (e.n / 2)));
  MirageValue product = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, halves, &(MirageAttrs){.dim = {1}});
  mirage_ugraph_close(g, 1, &product);
  MirageValue b = mirage_ugraph_load(g, argument(g, kernel, 2), &b_map);
  b = mirage_ugraph_apply(g, MIRAGE_OP_REPEAT, 1, &b, &(MirageAttrs){.repeat = {0, 2}});
  mirage_ugraph_store(g, op2(g, MIRAGE_OP_ADD, mirage_ugraph_result(g, loop, 0), b), argument(g, kernel, 3), &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// ---------------------------------------------------------------------------------------------------------- attention

// q [heads, m, depth], k [heads, depth, n], v [heads, n, depth]; depth = e.rank.
static void attention_inputs(MirageUGraph *g, Extents e, MirageValue in[3]) {
  in[0] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)e.heads, (int)e.m, (int)e.rank));
  in[1] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)e.heads, (int)e.rank, (int)e.n));
  in[2] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 3, (int)e.heads, (int)e.n, (int)e.rank));
}

static MirageUGraph *gqa_program(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "gqa", diag);
  MirageValue in[3];
  attention_inputs(g, e, in);
  MirageValue weights = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_MATMUL, in[0], in[1]));
  MirageValue share = op2(g, MIRAGE_OP_DIV, weights, reduce_over(g, MIRAGE_OP_REDUCE_SUM, weights, 2, 1));
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, share, in[2]));
}

// Kernel 2: the parts lie beside each other in the last dimension; [heads, m, split * depth] and [heads, m, split].
static MirageValue gqa_combine(MirageUGraph *g, Extents e, const MirageValue parts[2]) {
  MirageType y_type = tensor_type(MIRAGE_F16, 3, (int)e.heads, (int)e.m, (int)e.rank);
  MirageCustomAttrs attrs = {.grid = {e.heads, e.grid, 1}, .cluster = {1, 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 2, parts, 1, &y_type, &attrs);
  MirageAccessAttrs row = {.grid = {0, 1, -1}, .loop = {-1, -1, -1, -1}};
  MirageValue top = mirage_ugraph_load(g, argument(g, kernel, 0), &row);
  MirageValue below = mirage_ugraph_load(g, argument(g, kernel, 1), &row);
  MirageValue y = op2(g, MIRAGE_OP_DIV, reduce_over(g, MIRAGE_OP_REDUCE_SUM, top, 2, e.rank),
                      reduce_over(g, MIRAGE_OP_REDUCE_SUM, below, 2, 1));
  mirage_ugraph_store(g, y, argument(g, kernel, 2), &row);
  mirage_ugraph_close(g, 0, NULL);
  return mirage_ugraph_result(g, kernel, 0);
}

// Kernel 1: heads over grid axis x, keys over y and the loop; each block sums exp(q k) and exp(q k) v of its keys.
static MirageUGraph *gqa_two_kernels(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "gqa_0", diag);
  MirageValue in[3];
  attention_inputs(g, e, in);
  MirageType part_types[2] = {tensor_type(MIRAGE_F32, 3, (int)e.heads, (int)e.m, (int)(e.split * e.rank)),
                              tensor_type(MIRAGE_F32, 3, (int)e.heads, (int)e.m, (int)e.split)};
  MirageCustomAttrs attrs = {.grid = {e.heads, e.split, 1}, .cluster = {1, 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 2, part_types, &attrs);
  MirageAccessAttrs q_map = {.grid = {0, -1, -1}, .loop = {-1, -1, -1, -1}};
  MirageAccessAttrs k_map = {.grid = {0, 2, -1}, .loop = {2, -1, -1, -1}};
  MirageAccessAttrs v_map = {.grid = {0, 1, -1}, .loop = {1, -1, -1, -1}};
  MirageAccessAttrs part_map = {.grid = {0, 2, -1}, .loop = {-1, -1, -1, -1}};
  MirageValue qt = mirage_ugraph_load(g, argument(g, kernel, 0), &q_map);
  MirageValue inits[2] = {zeros(g, tile3(1, e.m, e.rank)), zeros(g, tile3(1, e.m, 1))};
  MirageCarry carries[2] = {{MIRAGE_COMBINE_SUM, 0}, {MIRAGE_COMBINE_SUM, 0}};
  MirageNode loop = mirage_ugraph_open_loop(g, 2, inits, &(MirageLoopAttrs){e.loop, 2, carries});
  MirageValue kt = mirage_ugraph_load(g, argument(g, kernel, 1), &k_map);
  MirageValue vt = mirage_ugraph_load(g, argument(g, kernel, 2), &v_map);
  MirageValue weights = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_MATMUL, qt, kt));
  MirageValue sums[2] = {op2(g, MIRAGE_OP_MATMUL, mirage_ugraph_cast(g, weights, MIRAGE_F16), vt),
                         reduce_over(g, MIRAGE_OP_REDUCE_SUM, weights, 2, 1)};
  mirage_ugraph_close(g, 2, sums);
  for (uint32_t i = 0; i < 2; i++)
    mirage_ugraph_store(g, mirage_ugraph_result(g, loop, i), argument(g, kernel, 3 + i), &part_map);
  mirage_ugraph_close(g, 0, NULL);
  MirageValue parts[2] = {mirage_ugraph_result(g, kernel, 0), mirage_ugraph_result(g, kernel, 1)};
  return finish_with(g, gqa_combine(g, e, parts));
}

static MirageUGraph *sdpa_program(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "attention", diag);
  MirageValue in[3];
  attention_inputs(g, e, in);
  MirageValue scores = op2(g, MIRAGE_OP_MATMUL, in[0], in[1]);
  MirageValue weights = mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &scores, &(MirageAttrs){.dim = {2}});
  return finish_with(g, op2(g, MIRAGE_OP_MATMUL, weights, in[2]));
}

// The rescaled sum of all blocks along grid axis y.
static MirageValue sum_over_y(MirageUGraph *g, MirageValue sum, MirageValue factor) {
  MirageValue scaled = op2(g, MIRAGE_OP_MUL, sum, factor);
  return mirage_ugraph_apply(g, MIRAGE_OP_GRID_SUM, 1, &scaled, &(MirageAttrs){.axes = {{false, true, false}}});
}

// Online softmax within a block; blocks then agree on the maximum and add their rescaled sums.
static MirageUGraph *attention_grid(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "attention_1", diag);
  MirageValue in[3];
  attention_inputs(g, e, in);
  MirageType y_type = tensor_type(MIRAGE_F16, 3, (int)e.heads, (int)e.m, (int)e.rank);
  MirageCustomAttrs attrs = {.grid = {e.heads, e.split, 1}, .cluster = {1, 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs q_map = {.grid = {0, -1, -1}, .loop = {-1, -1, -1, -1}};
  MirageAccessAttrs k_map = {.grid = {0, 2, -1}, .loop = {2, -1, -1, -1}};
  MirageAccessAttrs v_map = {.grid = {0, 1, -1}, .loop = {1, -1, -1, -1}};
  MirageValue qt = mirage_ugraph_load(g, argument(g, kernel, 0), &q_map);
  MirageAttrs column = {.shape = {tile3(1, e.m, 1)}};
  MirageValue inits[3] = {mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &column), zeros(g, tile3(1, e.m, 1)),
                          zeros(g, tile3(1, e.m, e.rank))};
  MirageCarry carries[3] = {{MIRAGE_COMBINE_MAX, 0}, {MIRAGE_COMBINE_RESCALE, 0}, {MIRAGE_COMBINE_RESCALE, 0}};
  MirageNode loop = mirage_ugraph_open_loop(g, 3, inits, &(MirageLoopAttrs){e.loop, 3, carries});
  MirageValue kt = mirage_ugraph_load(g, argument(g, kernel, 1), &k_map);
  MirageValue vt = mirage_ugraph_load(g, argument(g, kernel, 2), &v_map);
  MirageValue scores = op2(g, MIRAGE_OP_MATMUL, qt, kt), old = argument(g, loop, 0);
  MirageValue tile_max = reduce_over(g, MIRAGE_OP_REDUCE_MAX, scores, 2, 1);
  MirageValue top = op2(g, MIRAGE_OP_MAX, old, tile_max);
  MirageValue factor = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, old, top));
  MirageValue weights = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, scores, top));
  MirageValue part = op2(g, MIRAGE_OP_MATMUL, mirage_ugraph_cast(g, weights, MIRAGE_F16), vt);
  MirageValue sum = reduce_over(g, MIRAGE_OP_REDUCE_SUM, weights, 2, 1);
  mirage_ugraph_close(g, 5, (MirageValue[]){tile_max, sum, part, factor, factor});
  MirageValue mine = mirage_ugraph_result(g, loop, 0);
  MirageValue all =
      mirage_ugraph_apply(g, MIRAGE_OP_GRID_MAX, 1, &mine, &(MirageAttrs){.axes = {{false, true, false}}});
  MirageValue behind = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, mine, all));
  MirageValue below = sum_over_y(g, mirage_ugraph_result(g, loop, 1), behind);
  MirageValue above = sum_over_y(g, mirage_ugraph_result(g, loop, 2), behind);
  mirage_ugraph_store(g, op2(g, MIRAGE_OP_DIV, above, below), argument(g, kernel, 3), &q_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// -------------------------------------------------------------------------------------------------- norm transformer

static MirageUGraph *norm_transformer_program(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "norm_transformer", diag);
  MirageValue in[3];
  for (uint32_t i = 0; i < 3; i++)
    in[i] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)e.m, (int)e.k));
  MirageAttrs eps = {.eps = {0.0}};
  MirageValue norm = mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &in[0], &eps);
  MirageValue step = op2(g, MIRAGE_OP_MUL, in[2], op2(g, MIRAGE_OP_ADD, norm, in[1]));
  MirageValue moved = op2(g, MIRAGE_OP_ADD, in[1], step);
  return finish_with(g, mirage_ugraph_apply(g, MIRAGE_OP_RMS_NORM, 1, &moved, &eps));
}

// Root of the mean of k squares whose sum is `squares`, [rows, 1].
static MirageValue root_mean(MirageUGraph *g, MirageValue squares, int64_t k) {
  MirageValue count = mirage_ugraph_constant(g, tile2(1, 1), (double)k);
  return op1(g, MIRAGE_OP_SQRT, op2(g, MIRAGE_OP_DIV, squares, count));
}

// Rows over the grid. One loop sums h's squares; the next forms the update tile by tile, keeps it, and sums its
// squares.
static MirageUGraph *norm_transformer_one_kernel(Extents e, const MirageDiag *diag) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "norm_transformer_0", diag);
  MirageValue in[3];
  for (uint32_t i = 0; i < 3; i++)
    in[i] = mirage_ugraph_input(g, tensor_type(MIRAGE_F16, 2, (int)e.m, (int)e.k));
  MirageType y_type = tensor_type(MIRAGE_F16, 2, (int)e.m, (int)e.k);
  MirageCustomAttrs attrs = blocks(e.grid);
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &y_type, &attrs);
  MirageAccessAttrs map = access_of(0, 1), y_map = access_of(0, -1);
  int64_t rows = e.m / e.grid;
  MirageValue none = zeros(g, tile2(rows, 1)), blank = zeros(g, tile2(rows, e.k));
  MirageCarry carries[2] = {{MIRAGE_COMBINE_SUM, 0}, {MIRAGE_COMBINE_CONCAT, 1}};
  MirageNode first = mirage_ugraph_open_loop(g, 1, &none, &(MirageLoopAttrs){e.loop, 1, carries});
  MirageValue ht = mirage_ugraph_load(g, argument(g, kernel, 0), &map);
  MirageValue squares = reduce_over(g, MIRAGE_OP_REDUCE_SUM, op1(g, MIRAGE_OP_SQUARE, ht), 1, 1);
  mirage_ugraph_close(g, 1, &squares);
  MirageValue h_root = root_mean(g, mirage_ugraph_result(g, first, 0), e.k);
  MirageNode second =
      mirage_ugraph_open_loop(g, 2, (MirageValue[]){none, blank}, &(MirageLoopAttrs){e.loop, 2, carries});
  MirageValue tiles[3];
  for (uint32_t i = 0; i < 3; i++)
    tiles[i] = mirage_ugraph_load(g, argument(g, kernel, i), &map);
  MirageValue towards = op2(g, MIRAGE_OP_ADD, op2(g, MIRAGE_OP_DIV, tiles[0], h_root), tiles[1]);
  MirageValue moved = op2(g, MIRAGE_OP_ADD, tiles[1], op2(g, MIRAGE_OP_MUL, tiles[2], towards));
  MirageValue moved_squares = reduce_over(g, MIRAGE_OP_REDUCE_SUM, op1(g, MIRAGE_OP_SQUARE, moved), 1, 1);
  mirage_ugraph_close(g, 2, (MirageValue[]){moved_squares, moved});
  MirageValue root = root_mean(g, mirage_ugraph_result(g, second, 0), e.k);
  mirage_ugraph_store(g, op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, second, 1), root), argument(g, kernel, 3),
                      &y_map);
  mirage_ugraph_close(g, 0, NULL);
  return finish_with(g, mirage_ugraph_result(g, kernel, 0));
}

// ------------------------------------------------------------------------------------------------------------ the set

const Benchmark BENCHMARKS[] = {
    {"rmsnorm", rmsnorm_program, rmsnorm_one_kernel, true, {.m = 2, .k = 4096, .n = 6144, .grid = 128, .loop = 32}},
    {"gated_mlp",
     gated_mlp_program,
     gated_mlp_one_kernel,
     true,
     {.m = 1, .k = 4096, .n = 4096, .grid = 128, .loop = 32}},
    {"gated_mlp_threads",
     gated_mlp_program,
     gated_mlp_threads,
     true,
     {.m = 1, .k = 4096, .n = 4096, .grid = 128, .loop = 32}},
    {"lora",
     low_rank_program,
     low_rank_one_kernel,
     true,
     {.m = 2, .k = 4096, .n = 4096, .rank = 16, .grid = 64, .loop = 32}},
    {"linear_cluster", matmul_program, matmul_cluster, true, {.m = 2, .k = 4096, .n = 4096, .grid = 32, .loop = 4}},
    {"linear_grid", matmul_program, matmul_grid, true, {.m = 2, .k = 4096, .n = 4096, .grid = 32, .loop = 4}},
    {"linear_two_kernels",
     matmul_program,
     matmul_two_kernels,
     false,
     {.m = 2, .k = 4096, .n = 4096, .grid = 16, .split = 8, .loop = 8}},
    {"linear_bias", bias_program, bias_one_kernel, false, {.m = 8, .k = 4096, .n = 4096, .grid = 1, .loop = 64}},
    {"gqa",
     gqa_program,
     gqa_two_kernels,
     false,
     {.heads = 2, .m = 256, .n = 4096, .rank = 64, .grid = 16, .split = 16, .loop = 4}},
    {"mqa",
     gqa_program,
     gqa_two_kernels,
     false,
     {.heads = 1, .m = 1024, .n = 4096, .rank = 64, .grid = 64, .split = 16, .loop = 4}},
    {"mha",
     gqa_program,
     gqa_two_kernels,
     false,
     {.heads = 32, .m = 16, .n = 4096, .rank = 64, .grid = 4, .split = 4, .loop = 16}},
    {"online_softmax",
     safe_attention_program,
     attention_online,
     false,
     {.m = 256, .n = 4096, .rank = 64, .grid = 4, .loop = 64}},
    {"flash_decoding",
     sdpa_program,
     attention_grid,
     false,
     {.heads = 2, .m = 16, .n = 4096, .rank = 64, .split = 16, .loop = 4}},
    {"norm_transformer",
     norm_transformer_program,
     norm_transformer_one_kernel,
     false,
     {.m = 1, .k = 4096, .grid = 1, .loop = 4}},
};
const uint32_t NUM_BENCHMARKS = sizeof BENCHMARKS / sizeof *BENCHMARKS;
