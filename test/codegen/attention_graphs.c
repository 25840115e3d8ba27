// attention_graphs.c - attention in one kernel: keys in a loop, split over blocks that meet, in registers, all at once.
#include "graph_words.h"
#include "kernel_graphs.h"

// What an iteration of `l` makes of its scores, `old` being the maximum so far, and the quotient behind the loop.
static V weighted(G *g, const KernelCase *c, MirageNode l, V old, V score, V values) {
  V top = op2(g, MIRAGE_OP_MAX, old, reduce(g, MIRAGE_OP_REDUCE_MAX, score, 2, 1));
  V weight = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, score, top));
  V factor = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, old, top));
  V total = reduce(g, MIRAGE_OP_REDUCE_SUM, weight, 2, 1);
  V out = matmul(g, cast(g, weight, c->dtype), values, false, false);
  mirage_ugraph_close(g, 5, (V[]){out, total, top, factor, factor});
  return op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, l, 0), mirage_ugraph_result(g, l, 1));
}

// p: heads, rows, keys, depth, key iterations, row blocks.  Online softmax attention; k is [heads, depth, keys].
void attention(G *g, const KernelCase *c) {
  int64_t h = c->p[0], s = c->p[1], t = c->p[2], d = c->p[3], bs = parts(s, c->p[5]);
  V in[] = {input(g, c->dtype, SHAPE(h, s, d)), input(g, c->dtype, SHAPE(h, d, t)), input(g, c->dtype, SHAPE(h, t, d))};
  MirageNode kernel = custom(g, 3, in, mirage_type_tensor(c->dtype, SHAPE(h, s, d)), h, c->p[5], 1);
  V q = load(g, kernel, 0, access4(0, 1, -1, -1, -1));
  V inits[] = {splat(g, 0, SHAPE(1, bs, d)), splat(g, 0, SHAPE(1, bs, 1)), bottom(g, SHAPE(1, bs, 1))};
  MirageCarry carries[] = {
      {.combine = MIRAGE_COMBINE_RESCALE}, {.combine = MIRAGE_COMBINE_RESCALE}, {.combine = MIRAGE_COMBINE_ASSIGN}};
  MirageNode l = loop(g, c->p[4], 3, inits, carries);
  V keys = load(g, kernel, 1, access4(0, -1, -1, 2, -1)), values = load(g, kernel, 2, access4(0, -1, -1, 1, -1));
  V old = mirage_ugraph_argument(g, l, 2);
  V score = op2(g, MIRAGE_OP_MUL, matmul(g, q, keys, false, false), splat(g, 0.125, SHAPE(1, 1, 1)));
  V y = weighted(g, c, l, old, score, values);
  store(g, y, kernel, 3, access4(0, 1, -1, -1, -1));
  finish(g, kernel);
}

// p: heads, rows, depth, keys, blocks over keys, iterations, which loads are cyclic.  softmax(q k^T) v with a running maximum; the parts of the
// blocks meet at the end, as f32 sums or, `narrow`, divided by the block's own row sums and rounded.
static void split_attention(G *g, const KernelCase *c, bool in_cluster, bool narrow) {
  int64_t h = c->p[0], r = c->p[1], d = c->p[2], n = c->p[3];
  V in[] = {input(g, c->dtype, SHAPE(h, r, d)), input(g, c->dtype, SHAPE(h, n, d)), input(g, c->dtype, SHAPE(h, n, d))};
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(h, r, d));
  MirageCustomAttrs attrs = {.grid = {h, c->p[4], 1}, .cluster = {1, in_cluster ? c->p[4] : 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &result, &attrs);
  V q = load(g, kernel, 0, access4(0, -1, -1, -1, -1));
  V inits[] = {bottom(g, SHAPE(1, r, 1)), splat(g, 0, SHAPE(1, r, 1)), splat(g, 0, SHAPE(1, r, d))};
  MirageCarry how[] = {
      {.combine = MIRAGE_COMBINE_MAX}, {.combine = MIRAGE_COMBINE_RESCALE}, {.combine = MIRAGE_COMBINE_RESCALE}};
  MirageNode l = loop(g, c->p[5], 3, inits, how);
  V k = load(g, kernel, 1, cyclic(access4(0, 1, -1, 1, -1), c->p[6] & 1));
  V v = load(g, kernel, 2, cyclic(access4(0, 1, -1, 1, -1), c->p[6] & 2));
  V s = matmul(g, q, k, false, true), top = reduce(g, MIRAGE_OP_REDUCE_MAX, s, 2, 1);
  V next = op2(g, MIRAGE_OP_MAX, mirage_ugraph_argument(g, l, 0), top);
  V f = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, mirage_ugraph_argument(g, l, 0), next));
  V e = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, s, next));
  V pv = matmul(g, cast(g, e, c->dtype), v, false, false);
  mirage_ugraph_close(g, 5, (V[]){top, reduce(g, MIRAGE_OP_REDUCE_SUM, e, 2, 1), pv, f, f});
  V m = mirage_ugraph_result(g, l, 0), sum = mirage_ugraph_result(g, l, 1), o = mirage_ugraph_result(g, l, 2);
  MirageOp add = in_cluster ? MIRAGE_OP_CLUSTER_SUM : MIRAGE_OP_GRID_SUM;
  V all = collective(g, in_cluster ? MIRAGE_OP_CLUSTER_MAX : MIRAGE_OP_GRID_MAX, m, 1);
  V weight = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, m, all)), lw = op2(g, MIRAGE_OP_MUL, sum, weight);
  V ow = narrow ? op2(g, MIRAGE_OP_MUL, cast(g, op2(g, MIRAGE_OP_DIV, o, sum), c->dtype), lw)
                : op2(g, MIRAGE_OP_MUL, o, weight);
  V sums = collective(g, add, lw, 1), os = collective(g, add, ow, 1);
  store(g, op2(g, MIRAGE_OP_DIV, os, sums), kernel, 3, access4(0, -1, -1, -1, -1));
  finish(g, kernel);
}
void attention_grid(G *g, const KernelCase *c) { split_attention(g, c, false, false); }
void attention_grid_narrow(G *g, const KernelCase *c) { split_attention(g, c, false, true); }
void attention_cluster(G *g, const KernelCase *c) { split_attention(g, c, true, false); }

// p: heads, rows, keys, depth, key iterations, row blocks, warps.  As attention, scores and probabilities in registers;
// k is [heads, keys, depth] and ragged keys are masked by a tile of 0 and bottom.
void attention_registers(G *g, const KernelCase *c) {
  int64_t h = c->p[0], s = c->p[1], t = c->p[2], d = c->p[3], bs = parts(s, c->p[5]);
  V in[] = {input(g, c->dtype, SHAPE(h, s, d)), input(g, c->dtype, SHAPE(h, t, d)), input(g, c->dtype, SHAPE(h, t, d)),
            input(g, c->dtype, SHAPE(1, t))};
  MirageNode kernel = custom_rows(g, 4, in, mirage_type_tensor(c->dtype, SHAPE(h, s, d)), h, c->p[5], c->p[6]);
  V q = load(g, kernel, 0, access4(0, 1, -1, -1, -1));
  V inits[] = {splat(g, 0, SHAPE(1, bs, d)), splat(g, 0, SHAPE(1, bs, 1)), bottom(g, SHAPE(1, bs, 1))};
  MirageCarry carries[] = {
      {.combine = MIRAGE_COMBINE_RESCALE}, {.combine = MIRAGE_COMBINE_RESCALE}, {.combine = MIRAGE_COMBINE_ASSIGN}};
  MirageNode l = loop(g, c->p[4], 3, inits, carries);
  V keys = load(g, kernel, 1, access4(0, -1, -1, 1, -1)), values = load(g, kernel, 2, access4(0, -1, -1, 1, -1));
  MirageAccessAttrs masked = access4(-1, -1, -1, 1, -1);
  masked.fill = MIRAGE_FILL_BOTTOM;
  V bias = load(g, kernel, 3, masked);
  V old = mirage_ugraph_argument(g, l, 2);
  V score = op2(g, MIRAGE_OP_MUL, matmul(g, q, keys, false, true), splat(g, 0.125, SHAPE(1, 1, 1)));
  score = op2(g, MIRAGE_OP_ADD, score, bias);
  V y = weighted(g, c, l, old, score, values);
  store(g, y, kernel, 4, access4(0, 1, -1, -1, -1));
  finish(g, kernel);
}

// p: heads, rows, keys, depth, -, row blocks, warps.  All scores at once.
void attention_at_once(G *g, const KernelCase *c) {
  int64_t h = c->p[0], s = c->p[1], t = c->p[2], d = c->p[3];
  V in[] = {input(g, c->dtype, SHAPE(h, s, d)), input(g, c->dtype, SHAPE(h, d, t)), input(g, c->dtype, SHAPE(h, t, d))};
  MirageNode kernel = custom_rows(g, 3, in, mirage_type_tensor(c->dtype, SHAPE(h, s, d)), h, c->p[5], c->p[6]);
  V q = load(g, kernel, 0, access4(0, 1, -1, -1, -1)), keys = load(g, kernel, 1, access4(0, -1, -1, -1, -1));
  V values = load(g, kernel, 2, access4(0, -1, -1, -1, -1));
  V score = matmul(g, q, keys, false, false);
  V weight = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, score, reduce(g, MIRAGE_OP_REDUCE_MAX, score, 2, 1)));
  V out = matmul(g, cast(g, weight, c->dtype), values, false, false);
  V y = op2(g, MIRAGE_OP_DIV, out, reduce(g, MIRAGE_OP_REDUCE_SUM, weight, 2, 1));
  store(g, y, kernel, 3, access4(0, 1, -1, -1, -1));
  finish(g, kernel);
}

// p: heads, rows, keys, depth, splits, row blocks, warps, whether parts are exchanged in the element type.  The keys of
// a head split over blocks, which then agree.
void attention_split(G *g, const KernelCase *c) {
  int64_t h = c->p[0], s = c->p[1], t = c->p[2], d = c->p[3];
  V in[] = {input(g, c->dtype, SHAPE(h, s, d)), input(g, c->dtype, SHAPE(h, d, t)), input(g, c->dtype, SHAPE(h, t, d))};
  MirageSchedule schedule;
  MirageCustomAttrs attrs = {
      .grid = {h, c->p[5], c->p[4]}, .cluster = {1, 1, 1}, .schedule = rows_schedule(&schedule, c->p[6])};
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(h, s, d));
  MirageNode kernel = mirage_ugraph_open_custom(g, 3, in, 1, &result, &attrs);
  V q = load(g, kernel, 0, access4(0, 1, -1, -1, -1)), keys = load(g, kernel, 1, access4(0, -1, 2, -1, -1));
  V values = load(g, kernel, 2, access4(0, -1, 1, -1, -1));
  V score = matmul(g, q, keys, false, false), top = reduce(g, MIRAGE_OP_REDUCE_MAX, score, 2, 1);
  V weight = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, score, top));
  V total = reduce(g, MIRAGE_OP_REDUCE_SUM, weight, 2, 1);
  V out = matmul(g, cast(g, weight, c->dtype), values, false, false);
  if (c->p[7])
    out = cast(g, out, c->dtype);
  MirageAttrs axes = {.axes = {{false, false, true}}};
  V all = mirage_ugraph_apply(g, MIRAGE_OP_GRID_MAX, 1, &top, &axes);
  V factor = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, top, all));
  V l = op2(g, MIRAGE_OP_MUL, total, factor), o = op2(g, MIRAGE_OP_MUL, out, factor);
  l = mirage_ugraph_apply(g, MIRAGE_OP_GRID_SUM, 1, &l, &axes);
  o = mirage_ugraph_apply(g, MIRAGE_OP_GRID_SUM, 1, &o, &axes);
  store(g, op2(g, MIRAGE_OP_DIV, o, l), kernel, 3, access4(0, 1, -1, -1, -1));
  finish(g, kernel);
}
