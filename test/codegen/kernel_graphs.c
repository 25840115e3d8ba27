// kernel_graphs.c - graphs for mirage-kernel-test: every feature of the generator at even and odd sizes.
//
// Two kinds: programs (kernel-level operators only; the test canonicalizes them) and hand-written µGraphs with one
// custom kernel. A case is a row of KERNEL_CASES: a builder and its sizes.
#include "kernel_graphs.h"
#include "graph_words.h"

static const MirageCarry SUMS[] = {{.combine = MIRAGE_COMBINE_SUM}, {.combine = MIRAGE_COMBINE_SUM}};

// ----------------------------------------------------------------------------------------------------- fused kernels

// p: m, k, n, blocks, iterations.  y = (x * g) @ w / sqrt(mean(x^2))
static void rmsnorm_linear(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2], blocks = c->p[3], bn = parts(n, blocks);
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k)), input(g, c->dtype, SHAPE(k, n))};
  MirageNode kernel = custom(g, 3, in, mirage_type_tensor(c->dtype, SHAPE(m, n)), blocks, 1, 1);
  V inits[] = {splat(g, 0, SHAPE(m, bn)), splat(g, 0, SHAPE(m, 1))};
  MirageNode l = loop(g, c->p[4], 2, inits, SUMS);
  V x = load(g, kernel, 0, access4(-1, -1, -1, 1, -1)), gain = load(g, kernel, 1, access4(-1, -1, -1, 0, -1));
  V w = load(g, kernel, 2, access4(1, -1, -1, 0, -1));
  V product = matmul(g, cast(g, op2(g, MIRAGE_OP_MUL, x, gain), c->dtype), w, false, false);
  V squares = reduce(g, MIRAGE_OP_REDUCE_SUM, op1(g, MIRAGE_OP_SQUARE, x), 1, 1);
  mirage_ugraph_close(g, 2, (V[]){product, squares});
  V mean = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, l, 1), splat(g, (double)k, SHAPE(1, 1)));
  V y = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, l, 0), op1(g, MIRAGE_OP_SQRT, mean));
  store(g, y, kernel, 3, access4(1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: m, k, n, blocks, iterations.  y = silu(x @ w1) * (x @ w3)
static void gated_mlp(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2], blocks = c->p[3], bn = parts(n, blocks);
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n)), input(g, c->dtype, SHAPE(k, n))};
  MirageNode kernel = custom(g, 3, in, mirage_type_tensor(c->dtype, SHAPE(m, n)), blocks, 1, 1);
  V inits[] = {splat(g, 0, SHAPE(m, bn)), splat(g, 0, SHAPE(m, bn))};
  MirageNode l = loop(g, c->p[4], 2, inits, SUMS);
  V x = load(g, kernel, 0, access4(-1, -1, -1, 1, -1));
  V w1 = load(g, kernel, 1, access4(1, -1, -1, 0, -1)), w3 = load(g, kernel, 2, access4(1, -1, -1, 0, -1));
  mirage_ugraph_close(g, 2, (V[]){matmul(g, x, w1, false, false), matmul(g, x, w3, false, false)});
  V y = op2(g, MIRAGE_OP_MUL, op1(g, MIRAGE_OP_SILU, mirage_ugraph_result(g, l, 0)), mirage_ugraph_result(g, l, 1));
  store(g, y, kernel, 3, access4(1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: m, k, n, rank, blocks, iterations.  y = x @ w + (x @ a) @ b
static void lora(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2], r = c->p[3], blocks = c->p[4], bn = parts(n, blocks);
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n)), input(g, c->dtype, SHAPE(k, r)),
            input(g, c->dtype, SHAPE(r, n))};
  MirageNode kernel = custom(g, 4, in, mirage_type_tensor(c->dtype, SHAPE(m, n)), blocks, 1, 1);
  V inits[] = {splat(g, 0, SHAPE(m, bn)), splat(g, 0, SHAPE(m, r))};
  MirageNode l = loop(g, c->p[5], 2, inits, SUMS);
  V x = load(g, kernel, 0, access4(-1, -1, -1, 1, -1));
  V w = load(g, kernel, 1, access4(1, -1, -1, 0, -1)), a = load(g, kernel, 2, access4(-1, -1, -1, 0, -1));
  mirage_ugraph_close(g, 2, (V[]){matmul(g, x, w, false, false), matmul(g, x, a, false, false)});
  V b = load(g, kernel, 3, access4(1, -1, -1, -1, -1));
  V side = matmul(g, cast(g, mirage_ugraph_result(g, l, 1), c->dtype), b, false, false);
  store(g, op2(g, MIRAGE_OP_ADD, mirage_ugraph_result(g, l, 0), side), kernel, 4, access4(1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: m, k, n, side columns, blocks, iterations.  Two weights of one activation, one of another, row sums and maxima,
// and starts other than zero: y = 1 + x @ w + max(x) * (x^2 @ v) + mean(x) + sum(x @ s)
static void streams(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2], side = c->p[3], blocks = c->p[4], bn = parts(n, blocks);
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n)), input(g, c->dtype, SHAPE(k, n)),
            input(g, c->dtype, SHAPE(k, side))};
  MirageNode kernel = custom(g, 4, in, mirage_type_tensor(c->dtype, SHAPE(m, n)), blocks, 1, 1);
  V inits[] = {splat(g, 1, SHAPE(m, bn)), splat(g, 0, SHAPE(m, bn)), splat(g, 0, SHAPE(m, side)),
               splat(g, 0, SHAPE(m, 1)), splat(g, 0.5, SHAPE(m, 1))};
  MirageCarry carries[] = {{.combine = MIRAGE_COMBINE_SUM},
                           {.combine = MIRAGE_COMBINE_SUM},
                           {.combine = MIRAGE_COMBINE_SUM},
                           {.combine = MIRAGE_COMBINE_SUM},
                           {.combine = MIRAGE_COMBINE_MAX}};
  MirageNode l = loop(g, c->p[5], 5, inits, carries);
  V x = load(g, kernel, 0, access4(-1, -1, -1, 1, -1));
  V w = load(g, kernel, 1, access4(1, -1, -1, 0, -1)), v = load(g, kernel, 2, access4(1, -1, -1, 0, -1));
  V s = load(g, kernel, 3, access4(-1, -1, -1, 0, -1));
  V square = cast(g, op1(g, MIRAGE_OP_SQUARE, x), c->dtype);
  mirage_ugraph_close(g, 5,
                      (V[]){matmul(g, x, w, false, false), matmul(g, square, v, false, false),
                            matmul(g, x, s, false, false), reduce(g, MIRAGE_OP_REDUCE_SUM, x, 1, 1),
                            reduce(g, MIRAGE_OP_REDUCE_MAX, x, 1, 1)});
  V mean = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, l, 3), splat(g, (double)k, SHAPE(1, 1)));
  V scaled = op2(g, MIRAGE_OP_MUL, mirage_ugraph_result(g, l, 1), mirage_ugraph_result(g, l, 4));
  V y = op2(g, MIRAGE_OP_ADD, op2(g, MIRAGE_OP_ADD, mirage_ugraph_result(g, l, 0), scaled), mean);
  y = op2(g, MIRAGE_OP_ADD, y, reduce(g, MIRAGE_OP_REDUCE_SUM, mirage_ugraph_result(g, l, 2), 1, 1));
  store(g, y, kernel, 4, access4(1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns, blocks.  Rows that stay in their threads between three reductions: softmax(x) + gain * mean(x)
static void row_update(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], n = c->p[1], blocks = c->p[2];
  V in[] = {input(g, c->dtype, SHAPE(rows, n)), input(g, c->dtype, SHAPE(n))};
  MirageNode kernel = custom(g, 2, in, mirage_type_tensor(c->dtype, SHAPE(rows, n)), blocks, 1, 1);
  V x = load(g, kernel, 0, access4(0, -1, -1, -1, -1)), gain = load(g, kernel, 1, access4(-1, -1, -1, -1, -1));
  V power = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, x, reduce(g, MIRAGE_OP_REDUCE_MAX, x, 1, 1)));
  V soft = op2(g, MIRAGE_OP_DIV, power, reduce(g, MIRAGE_OP_REDUCE_SUM, power, 1, 1));
  V y = op2(g, MIRAGE_OP_ADD, soft, op2(g, MIRAGE_OP_MUL, gain, reduce(g, MIRAGE_OP_REDUCE_MEAN, x, 1, 1)));
  store(g, y, kernel, 2, access4(0, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns.  x / 3 and x / -0.1, which are products, and x / 3e35 / 1e-35, which are not.
static void quotients(G *g, const KernelCase *c) {
  V x0 = input(g, c->dtype, SHAPE(c->p[0], c->p[1]));
  MirageNode kernel = custom(g, 1, &x0, mirage_type_tensor(c->dtype, SHAPE(c->p[0], c->p[1])), 1, 1, 1);
  V x = load(g, kernel, 0, access4(-1, -1, -1, -1, -1));
  V third = op2(g, MIRAGE_OP_DIV, x, splat(g, 3.0, SHAPE(1, 1)));
  V tenth = op2(g, MIRAGE_OP_DIV, op1(g, MIRAGE_OP_SQUARE, x), splat(g, -0.1, SHAPE(1, 1)));
  V small = op2(g, MIRAGE_OP_DIV, x, splat(g, 3e35, SHAPE(1, 1)));
  V again = op2(g, MIRAGE_OP_DIV, op1(g, MIRAGE_OP_NEG, small), splat(g, 1e-35, SHAPE(1, 1)));
  store(g, op2(g, MIRAGE_OP_ADD, op2(g, MIRAGE_OP_MUL, third, tenth), again), kernel, 1, access4(-1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns, row blocks, column blocks, warps.  Nothing is reduced: v = max(silu(x) * y, column), v + v * tanh(row).
static void elements(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], n = c->p[1];
  V in[] = {input(g, c->dtype, SHAPE(rows, n)), input(g, c->dtype, SHAPE(rows, n)), input(g, c->dtype, SHAPE(n)),
            input(g, c->dtype, SHAPE(rows, 1))};
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(rows, n));
  MirageSchedule schedule = {.warps = (int32_t)c->p[4]};
  MirageCustomAttrs attrs = {
      .grid = {c->p[2], c->p[3], 1}, .cluster = {1, 1, 1}, .schedule = c->p[4] ? &schedule : NULL};
  MirageNode kernel = mirage_ugraph_open_custom(g, 4, in, 1, &result, &attrs);
  V x = load(g, kernel, 0, access4(0, 1, -1, -1, -1)), y = load(g, kernel, 1, access4(0, 1, -1, -1, -1));
  V row = load(g, kernel, 2, access4(-1, 0, -1, -1, -1)), column = load(g, kernel, 3, access4(0, -1, -1, -1, -1));
  V v = op2(g, MIRAGE_OP_MAX, op2(g, MIRAGE_OP_MUL, op1(g, MIRAGE_OP_SILU, x), y), column);
  V scaled = op2(g, MIRAGE_OP_MUL, v, op1(g, MIRAGE_OP_TANH, row));
  store(g, op2(g, MIRAGE_OP_ADD, v, scaled), kernel, 4, access4(0, 1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns, row blocks.  Softmax of rows, everything in one block graph without a loop.
static void softmax_rows(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], cols = c->p[1];
  V x0 = input(g, c->dtype, SHAPE(rows, cols));
  MirageNode kernel = custom(g, 1, &x0, mirage_type_tensor(c->dtype, SHAPE(rows, cols)), c->p[2], 1, 1);
  V x = load(g, kernel, 0, access4(0, -1, -1, -1, -1));
  V e = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, x, reduce(g, MIRAGE_OP_REDUCE_MAX, x, 1, 1)));
  store(g, op2(g, MIRAGE_OP_DIV, e, reduce(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1)), kernel, 1, access4(0, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns, row blocks, iterations.  Two loops: sum of squares, then x / rms, stored inside the loop.
static void two_pass_norm(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], cols = c->p[1], br = parts(rows, c->p[2]);
  V x0 = input(g, c->dtype, SHAPE(rows, cols));
  MirageNode kernel = custom(g, 1, &x0, mirage_type_tensor(c->dtype, SHAPE(rows, cols)), c->p[2], 1, 1);
  V zero = splat(g, 0, SHAPE(br, 1));
  MirageNode first = loop(g, c->p[3], 1, &zero, SUMS);
  V x = load(g, kernel, 0, access4(0, -1, -1, 1, -1));
  V squares = reduce(g, MIRAGE_OP_REDUCE_SUM, op1(g, MIRAGE_OP_SQUARE, x), 1, 1);
  mirage_ugraph_close(g, 1, &squares);
  V rms = op1(g, MIRAGE_OP_SQRT,
              op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, first, 0), splat(g, (double)cols, SHAPE(1, 1))));
  loop(g, c->p[3], 0, NULL, NULL);
  V again = load(g, kernel, 0, access4(0, -1, -1, 1, -1));
  store(g, op2(g, MIRAGE_OP_DIV, again, rms), kernel, 1, access4(0, -1, -1, 1, -1));
  mirage_ugraph_close(g, 0, NULL);
  finish(g, kernel);
}

// p: m, k, n, blocks over n, iterations over m, iterations over k.  Nested loops, a store in the outer one.
static void nested(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2];
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n))};
  MirageNode kernel = custom(g, 2, in, mirage_type_tensor(c->dtype, SHAPE(m, n)), c->p[3], 1, 1);
  loop(g, c->p[4], 0, NULL, NULL);
  V zero = splat(g, 0, SHAPE(parts(m, c->p[4]), parts(n, c->p[3])));
  MirageNode inner = loop(g, c->p[5], 1, &zero, SUMS);
  V a = load(g, kernel, 0, access4(-1, -1, -1, 0, 1)), b = load(g, kernel, 1, access4(1, -1, -1, -1, 0));
  V product = matmul(g, a, b, false, false);
  mirage_ugraph_close(g, 1, &product);
  store(g, op1(g, MIRAGE_OP_RELU, mirage_ugraph_result(g, inner, 0)), kernel, 2, access4(1, -1, -1, 0, -1));
  mirage_ugraph_close(g, 0, NULL);
  finish(g, kernel);
}

// p: m, k, n, blocks over n, blocks over k, iterations, which loads are cyclic; `cluster` or device memory adds the
// blocks' parts.
static void split_k(G *g, const KernelCase *c, bool in_cluster) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2];
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n))};
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(m, n));
  MirageCustomAttrs attrs = {.grid = {c->p[3], c->p[4], 1}, .cluster = {1, in_cluster ? c->p[4] : 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 2, in, 1, &result, &attrs);
  V zero = splat(g, 0, SHAPE(m, parts(n, c->p[3])));
  MirageNode l = loop(g, c->p[5], 1, &zero, SUMS);
  V a = load(g, kernel, 0, cyclic(access4(-1, 1, -1, 1, -1), c->p[6] & 1));
  V b = load(g, kernel, 1, cyclic(access4(1, 0, -1, 0, -1), c->p[6] & 2));
  V product = matmul(g, a, b, false, false);
  mirage_ugraph_close(g, 1, &product);
  MirageAttrs axes = {.axes = {{false, true, false}}};
  V part = mirage_ugraph_result(g, l, 0);
  V total = mirage_ugraph_apply(g, in_cluster ? MIRAGE_OP_CLUSTER_SUM : MIRAGE_OP_GRID_SUM, 1, &part, &axes);
  store(g, total, kernel, 2, access4(1, -1, -1, -1, -1));
  finish(g, kernel);
}
static void split_k_cluster(G *g, const KernelCase *c) { split_k(g, c, true); }
static void split_k_grid(G *g, const KernelCase *c) { split_k(g, c, false); }

// p: rows, columns, blocks over columns, `in_cluster`.  Softmax along split rows: two meetings, since the second
// operand is a reduction, and results that every block needs for its own columns.
static void split_softmax(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], cols = c->p[1];
  V x0 = input(g, c->dtype, SHAPE(rows, cols));
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(rows, cols));
  MirageCustomAttrs attrs = {.grid = {c->p[2], 1, 1}, .cluster = {c->p[3] ? c->p[2] : 1, 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x0, 1, &result, &attrs);
  MirageAccessAttrs access = access4(1, -1, -1, -1, -1);
  access.fill = MIRAGE_FILL_BOTTOM;
  V x = load(g, kernel, 0, access);
  V top =
      collective(g, c->p[3] ? MIRAGE_OP_CLUSTER_MAX : MIRAGE_OP_GRID_MAX, reduce(g, MIRAGE_OP_REDUCE_MAX, x, 1, 1), 0);
  V e = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, x, top));
  V sum =
      collective(g, c->p[3] ? MIRAGE_OP_CLUSTER_SUM : MIRAGE_OP_GRID_SUM, reduce(g, MIRAGE_OP_REDUCE_SUM, e, 1, 1), 0);
  store(g, op2(g, MIRAGE_OP_DIV, e, sum), kernel, 1, access4(1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns, blocks.  What blocks published makes room for a reduction of the result.
static void cluster_then_reduce(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], cols = c->p[1];
  V x0 = input(g, c->dtype, SHAPE(c->p[2] * rows, cols));
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(rows, cols));
  MirageCustomAttrs attrs = {.grid = {c->p[2], 1, 1}, .cluster = {c->p[2], 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x0, 1, &result, &attrs);
  V total = collective(g, MIRAGE_OP_CLUSTER_SUM, load(g, kernel, 0, access4(0, -1, -1, -1, -1)), 0);
  V top = reduce(g, MIRAGE_OP_REDUCE_MAX, op1(g, MIRAGE_OP_RELU, total), 1, 1);
  store(g, op2(g, MIRAGE_OP_SUB, total, top), kernel, 1, access4(-1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: m, k, n, blocks over k, blocks over n.  relu(x @ v) @ w: all blocks need the whole of the first product.
static void split_chain(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2];
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, k)), input(g, c->dtype, SHAPE(k, n))};
  MirageNode kernel = custom(g, 3, in, mirage_type_tensor(c->dtype, SHAPE(m, n)), c->p[3], c->p[4], 1);
  V x = load(g, kernel, 0, access4(1, -1, -1, -1, -1)), v = load(g, kernel, 1, access4(0, -1, -1, -1, -1));
  V total = collective(g, MIRAGE_OP_GRID_SUM, matmul(g, x, v, false, false), 0);
  V hidden = cast(g, op1(g, MIRAGE_OP_RELU, total), c->dtype);
  store(g, matmul(g, hidden, load(g, kernel, 2, access4(-1, 1, -1, -1, -1)), false, false), kernel, 3,
        access4(-1, 1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns, blocks over columns, iterations, inner iterations.  Blocks meet in every iteration: the sum of the
// squared columns over blocks, its greatest element so far beside it.
static void meet_in_loop(G *g, const KernelCase *c, bool in_cluster) {
  int64_t rows = c->p[0], cols = c->p[1], br = parts(parts(rows, c->p[3]), c->p[4]), bc = parts(cols, c->p[2]);
  V x0 = input(g, c->dtype, SHAPE(rows, cols));
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(rows, bc));
  MirageCustomAttrs attrs = {.grid = {c->p[2], 1, 1}, .cluster = {in_cluster ? c->p[2] : 1, 1, 1}};
  MirageNode kernel = mirage_ugraph_open_custom(g, 1, &x0, 1, &result, &attrs);
  MirageCarry how[] = {{.combine = MIRAGE_COMBINE_MAX}, {.combine = MIRAGE_COMBINE_MAX}};
  loop(g, c->p[3], 0, NULL, NULL);
  V least = splat(g, 0, SHAPE(br, 1));
  MirageNode inner = loop(g, c->p[4], 1, &least, how);
  V x = load(g, kernel, 0, access4(1, -1, -1, 0, 0));
  MirageOp add = in_cluster ? MIRAGE_OP_CLUSTER_SUM : MIRAGE_OP_GRID_SUM;
  V square = collective(g, add, op1(g, MIRAGE_OP_SQUARE, x), 0);
  V scaled = collective(g, add, op2(g, MIRAGE_OP_DIV, x, op2(g, MIRAGE_OP_ADD, square, splat(g, 1, SHAPE(1, 1)))), 0);
  store(g, scaled, kernel, 1, access4(-1, -1, -1, 0, 0));
  V top = reduce(g, MIRAGE_OP_REDUCE_MAX, square, 1, 1);
  mirage_ugraph_close(g, 1, &top);
  (void)mirage_ugraph_result(g, inner, 0);
  mirage_ugraph_close(g, 0, NULL);
  finish(g, kernel);
}
static void meet_in_loop_grid(G *g, const KernelCase *c) { meet_in_loop(g, c, false); }
static void meet_in_loop_cluster(G *g, const KernelCase *c) { meet_in_loop(g, c, true); }

// p: rows, columns, row blocks, iterations.  max over a ragged loop, a concatenation and an assignment beside it:
// y = (last tile's row sum + maximum) + sum of the concatenated row sums
static void carries(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], cols = c->p[1], br = parts(rows, c->p[2]), range = c->p[3];
  V x0 = input(g, c->dtype, SHAPE(rows, cols));
  MirageNode kernel = custom(g, 1, &x0, mirage_type_tensor(MIRAGE_F32, SHAPE(rows, 1)), c->p[2], 1, 1);
  V inits[] = {bottom(g, SHAPE(br, 1)), splat(g, 0, SHAPE(br, range)), splat(g, 0, SHAPE(br, 1))};
  MirageCarry how[] = {{.combine = MIRAGE_COMBINE_MAX},
                       {.combine = MIRAGE_COMBINE_CONCAT, .dim = 1},
                       {.combine = MIRAGE_COMBINE_ASSIGN}};
  MirageNode l = loop(g, range, 3, inits, how);
  MirageAccessAttrs masked = access4(0, -1, -1, 1, -1);
  V zeros = load(g, kernel, 0, masked);
  masked.fill = MIRAGE_FILL_BOTTOM;
  V lows = load(g, kernel, 0, masked);
  V sum = reduce(g, MIRAGE_OP_REDUCE_SUM, zeros, 1, 1);
  mirage_ugraph_close(g, 3, (V[]){reduce(g, MIRAGE_OP_REDUCE_MAX, lows, 1, 1), sum, sum});
  V all = reduce(g, MIRAGE_OP_REDUCE_SUM, mirage_ugraph_result(g, l, 1), 1, 1);
  V y = op2(g, MIRAGE_OP_ADD, op2(g, MIRAGE_OP_ADD, mirage_ugraph_result(g, l, 2), mirage_ugraph_result(g, l, 0)), all);
  store(g, y, kernel, 1, access4(0, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns, blocks x, blocks y.  A thread region with an element-wise chain and a reduction.
static void thread_region(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], cols = c->p[1];
  V in[] = {input(g, c->dtype, SHAPE(rows, cols)), input(g, c->dtype, SHAPE(cols))};
  MirageNode kernel = custom(g, 2, in, mirage_type_tensor(c->dtype, SHAPE(rows, cols)), c->p[2], 1, 1);
  V tiles[] = {load(g, kernel, 0, access4(0, -1, -1, -1, -1)), load(g, kernel, 1, access4(-1, -1, -1, -1, -1))};
  MirageNode thread = mirage_ugraph_open_thread(g, 2, tiles);
  V x = mirage_ugraph_argument(g, thread, 0), b = mirage_ugraph_argument(g, thread, 1);
  V y = op1(g, MIRAGE_OP_TANH, op2(g, MIRAGE_OP_ADD, x, b));
  V scale = reduce(g, MIRAGE_OP_REDUCE_MAX, op1(g, MIRAGE_OP_SQUARE, y), 1, 1);
  mirage_ugraph_close(g, 2, (V[]){y, scale});
  V out = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, thread, 0), mirage_ugraph_result(g, thread, 1));
  store(g, out, kernel, 2, access4(0, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: m, k, n, blocks over n.  The matrix instruction in a thread region, on top of a bias.
static void thread_mma(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2];
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n)), input(g, MIRAGE_F32, SHAPE(m, n))};
  MirageNode kernel = custom(g, 3, in, mirage_type_tensor(c->dtype, SHAPE(m, n)), c->p[3], 1, 1);
  V tiles[] = {load(g, kernel, 0, access4(-1, -1, -1, -1, -1)), load(g, kernel, 1, access4(1, -1, -1, -1, -1)),
               load(g, kernel, 2, access4(1, -1, -1, -1, -1))};
  MirageNode thread = mirage_ugraph_open_thread(g, 3, tiles);
  V operands[3];
  for (uint32_t i = 0; i < 3; i++)
    operands[i] = mirage_ugraph_argument(g, thread, i);
  MirageAttrs none = {.matmul = {.transpose_a = false, .transpose_b = false}};
  V sum = mirage_ugraph_apply(g, MIRAGE_OP_MMA, 3, operands, &none);
  V y = op1(g, MIRAGE_OP_SIGMOID, sum);
  mirage_ugraph_close(g, 1, &y);
  store(g, mirage_ugraph_result(g, thread, 0), kernel, 3, access4(1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: rows, columns.  Shape operators inside a block: transpose, slice, concat, repeat, reshape, broadcast.
static void shapes_in_block(G *g, const KernelCase *c) {
  int64_t rows = c->p[0], cols = c->p[1];
  V x0 = input(g, c->dtype, SHAPE(rows, cols));
  MirageNode kernel = custom(g, 1, &x0, mirage_type_tensor(c->dtype, SHAPE(2 * cols, rows)), 1, 1, 1);
  V x = load(g, kernel, 0, access4(-1, -1, -1, -1, -1));
  MirageAttrs perm = {.perm = {{1, 0}}}, head = {.slice = {0, 0, cols / 2}}, tail = {.slice = {0, cols / 2, cols}},
              dim = {.dim = {0}};
  MirageAttrs twice = {.repeat = {0, 2}}, flat = {.shape = {mirage_type_tile(c->dtype, SHAPE(2 * cols * rows))}};
  MirageAttrs square = {.shape = {mirage_type_tile(c->dtype, SHAPE(2 * cols, rows))}};
  V t = mirage_ugraph_apply(g, MIRAGE_OP_TRANSPOSE, 1, &x, &perm);
  V low = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &t, &head),
    high = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &t, &tail);
  V swapped = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, (V[]){high, low}, &dim);
  V repeated = mirage_ugraph_apply(g, MIRAGE_OP_REPEAT, 1, &swapped, &twice);
  V y = mirage_ugraph_apply(g, MIRAGE_OP_RESHAPE, 1, &repeated, &flat);
  y = mirage_ugraph_apply(g, MIRAGE_OP_RESHAPE, 1, &y, &square);
  store(g, y, kernel, 1, access4(-1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: batch, m, k, n.  Products inside one block with batch, a transposed view and an init that is not zero.
static void block_products(G *g, const KernelCase *c) {
  int64_t b = c->p[0], m = c->p[1], k = c->p[2], n = c->p[3];
  V in[] = {input(g, c->dtype, SHAPE(b, m, k)), input(g, c->dtype, SHAPE(b, n, k))};
  MirageNode kernel = custom(g, 2, in, mirage_type_tensor(c->dtype, SHAPE(b, m, n)), 1, 1, 1);
  V one = splat(g, 1.0, SHAPE(b, m, n));
  MirageNode l = loop(g, 2, 1, &one, SUMS);
  V x = load(g, kernel, 0, access4(-1, -1, -1, 2, -1)), w = load(g, kernel, 1, access4(-1, -1, -1, 2, -1));
  MirageAttrs perm = {.perm = {{0, 2, 1}}};
  V product = matmul(g, x, mirage_ugraph_apply(g, MIRAGE_OP_TRANSPOSE, 1, &w, &perm), false, false);
  mirage_ugraph_close(g, 1, &product);
  store(g, mirage_ugraph_result(g, l, 0), kernel, 2, access4(-1, -1, -1, -1, -1));
  finish(g, kernel);
}

// ------------------------------------------------------------------------------------------------- tiles in registers

// p: m, k, n, blocks over m, blocks over n, iterations, warps (0: nothing said of the schedule)
// y = silu(x @ w + bias) + residual
static void gemm_epilogue(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2];
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n)), input(g, c->dtype, SHAPE(n)),
            input(g, c->dtype, SHAPE(m, n))};
  MirageType result = mirage_type_tensor(c->dtype, SHAPE(m, n));
  MirageNode kernel = c->p[6] ? custom_rows(g, 4, in, result, c->p[3], c->p[4], c->p[6])
                              : custom(g, 4, in, result, c->p[3], c->p[4], 1);
  V zero = splat(g, 0, SHAPE(parts(m, c->p[3]), parts(n, c->p[4])));
  MirageNode l = loop(g, c->p[5], 1, &zero, SUMS);
  V a = load(g, kernel, 0, access4(0, -1, -1, 1, -1)), b = load(g, kernel, 1, access4(-1, 1, -1, 0, -1));
  V product = matmul(g, a, b, false, false);
  mirage_ugraph_close(g, 1, &product);
  V bias = load(g, kernel, 2, access4(-1, 0, -1, -1, -1)), residual = load(g, kernel, 3, access4(0, 1, -1, -1, -1));
  V y = op1(g, MIRAGE_OP_SILU, op2(g, MIRAGE_OP_ADD, mirage_ugraph_result(g, l, 0), bias));
  store(g, op2(g, MIRAGE_OP_ADD, y, residual), kernel, 4, access4(0, 1, -1, -1, -1));
  finish(g, kernel);
}

// p: batch, m, k, warps, iterations (0: no loop).  y = p p^T + column sums of s, with p = cast(s) and s = tanh(x @ w)
// [b, m, m], or what a loop sums: s is read cell by cell, and in other orders from a second copy.
static void mixed_readers(G *g, const KernelCase *c) {
  int64_t b = c->p[0], m = c->p[1], k = c->p[2];
  V in[] = {input(g, c->dtype, SHAPE(b, m, k)), input(g, c->dtype, SHAPE(b, k, m))};
  MirageNode kernel = custom_rows(g, 2, in, mirage_type_tensor(c->dtype, SHAPE(b, m, m)), 1, 1, c->p[3]);
  V zero = splat(g, 0, SHAPE(b, m, m));
  MirageNode l = c->p[4] ? loop(g, c->p[4], 1, &zero, SUMS) : (MirageNode){0};
  V x = load(g, kernel, 0, access4(-1, -1, -1, c->p[4] ? 2 : -1, -1));
  V w = load(g, kernel, 1, access4(-1, -1, -1, c->p[4] ? 1 : -1, -1)), s = matmul(g, x, w, false, false);
  if (c->p[4]) {
    mirage_ugraph_close(g, 1, &s);
    s = mirage_ugraph_result(g, l, 0);
  } else {
    s = op1(g, MIRAGE_OP_TANH, s);
  }
  V p = cast(g, s, c->dtype);
  V columns = reduce(g, MIRAGE_OP_REDUCE_SUM, s, 1, 1);
  store(g, op2(g, MIRAGE_OP_ADD, matmul(g, p, p, false, true), columns), kernel, 2, access4(-1, -1, -1, -1, -1));
  finish(g, kernel);
}

// p: m, k, n, iterations, warps (0: buffers).  Two carries that take each other's old value, a third that sums, and a
// fourth that collects: a, b = b, a + rows(x w); y = a * columns(concat of b) + sum of rows(x w)
static void exchanging_carries(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2], range = c->p[3];
  V in[] = {input(g, c->dtype, SHAPE(m, k)), input(g, c->dtype, SHAPE(k, n))};
  MirageType result = mirage_type_tensor(MIRAGE_F32, SHAPE(m, 1));
  MirageNode kernel = c->p[4] ? custom_rows(g, 2, in, result, 1, 1, c->p[4]) : custom(g, 2, in, result, 1, 1, 1);
  V inits[] = {splat(g, 1, SHAPE(m, 1)), splat(g, 2, SHAPE(m, 1)), splat(g, 3, SHAPE(m, 1)),
               splat(g, 0, SHAPE(m, range))};
  MirageCarry how[] = {{.combine = MIRAGE_COMBINE_ASSIGN},
                       {.combine = MIRAGE_COMBINE_ASSIGN},
                       {.combine = MIRAGE_COMBINE_SUM},
                       {.combine = MIRAGE_COMBINE_CONCAT, .dim = 1}};
  MirageNode l = loop(g, range, 4, inits, how);
  V x = load(g, kernel, 0, access4(-1, -1, -1, -1, -1)), w = load(g, kernel, 1, access4(-1, -1, -1, 1, -1));
  V s = matmul(g, x, w, false, false), row = reduce(g, MIRAGE_OP_REDUCE_MEAN, s, 1, 1);
  V a = mirage_ugraph_argument(g, l, 0), b = mirage_ugraph_argument(g, l, 1);
  mirage_ugraph_close(g, 4, (V[]){b, op2(g, MIRAGE_OP_ADD, a, row), row, b});
  V all = reduce(g, MIRAGE_OP_REDUCE_SUM, mirage_ugraph_result(g, l, 3), 1, 1);
  V y = op2(g, MIRAGE_OP_MUL, mirage_ugraph_result(g, l, 0), all);
  store(g, op2(g, MIRAGE_OP_ADD, y, mirage_ugraph_result(g, l, 2)), kernel, 2, access4(-1, -1, -1, -1, -1));
  finish(g, kernel);
}

// -------------------------------------------------------------------------------------------------------- programs

// p: m, k, n, transpose a, transpose b, batch of a, batch of b (0 = none)
static void linear(G *g, const KernelCase *c) {
  int64_t m = c->p[0], k = c->p[1], n = c->p[2], ta = c->p[3], tb = c->p[4];
  int64_t a[] = {c->p[5], ta ? k : m, ta ? m : k}, b[] = {c->p[6], tb ? n : k, tb ? k : n};
  V x = input(g, c->dtype, c->p[5] ? 3 : 2, a + !c->p[5]), w = input(g, c->dtype, c->p[6] ? 3 : 2, b + !c->p[6]);
  finish_program(g, matmul(g, x, w, ta, tb));
}

// p: operator, rows, columns
static void unary(G *g, const KernelCase *c) {
  finish_program(g, op1(g, (MirageOp)c->p[0], input(g, c->dtype, SHAPE(c->p[1], c->p[2]))));
}

// p: operator, dim, extent, shape of rank 3
static void reduction(G *g, const KernelCase *c) {
  V x = input(g, c->dtype, SHAPE(c->p[3], c->p[4], c->p[5]));
  finish_program(g, reduce(g, (MirageOp)c->p[0], x, (int32_t)c->p[1], c->p[2]));
}

// p: rows, columns
static void softmax_program(G *g, const KernelCase *c) {
  MirageAttrs attrs = {.dim = {1}};
  V x = input(g, c->dtype, SHAPE(c->p[0], c->p[1]));
  finish_program(g, mirage_ugraph_apply(g, MIRAGE_OP_SOFTMAX, 1, &x, &attrs));
}

static void layer_norm_program(G *g, const KernelCase *c) {
  MirageAttrs attrs = {.eps = {1e-5}};
  V in[] = {input(g, c->dtype, SHAPE(c->p[0], c->p[1])), input(g, c->dtype, SHAPE(c->p[1])),
            input(g, c->dtype, SHAPE(c->p[1]))};
  finish_program(g, mirage_ugraph_apply(g, MIRAGE_OP_LAYER_NORM, 3, in, &attrs));
}

// p: heads, rows, keys, depth
static void attention_program(G *g, const KernelCase *c) {
  int64_t h = c->p[0], s = c->p[1], t = c->p[2], d = c->p[3];
  MirageAttrs attrs = {.sdpa = {.scale = 0.125}};
  V in[] = {input(g, c->dtype, SHAPE(h, s, d)), input(g, c->dtype, SHAPE(h, t, d)), input(g, c->dtype, SHAPE(h, t, d))};
  finish_program(g, mirage_ugraph_apply(g, MIRAGE_OP_SDPA, 3, in, &attrs));
}

// p: rows, columns.  Every two-operand function, with broadcasting.
static void binary_chain(G *g, const KernelCase *c) {
  V x = input(g, c->dtype, SHAPE(c->p[0], c->p[1])), y = input(g, c->dtype, SHAPE(c->p[1])),
    z = input(g, c->dtype, SHAPE(c->p[0], 1));
  V a = op2(g, MIRAGE_OP_ADD, x, y), b = op2(g, MIRAGE_OP_SUB, a, z), m = op2(g, MIRAGE_OP_MUL, b, y);
  V s = op2(g, MIRAGE_OP_MAX, m, x), t = op2(g, MIRAGE_OP_MIN, s, a);
  finish_program(
      g, op2(g, MIRAGE_OP_DIV, t, op2(g, MIRAGE_OP_ADD, op2(g, MIRAGE_OP_MUL, z, z), op2(g, MIRAGE_OP_MUL, y, y))));
}

// p: a, b, d.  Shape operators at kernel level.
static void shape_program(G *g, const KernelCase *c) {
  int64_t a = c->p[0], b = c->p[1], d = c->p[2];
  V x = input(g, c->dtype, SHAPE(a, b, d));
  MirageAttrs perm = {.perm = {{1, 0, 2}}}, flat = {.shape = {mirage_type_tensor(c->dtype, SHAPE(b, a * d))}};
  MirageAttrs half = {.slice = {1, 0, a * d / 2}}, dim = {.dim = {1}}, twice = {.repeat = {0, 2}};
  MirageAttrs wide = {.shape = {mirage_type_tensor(c->dtype, SHAPE(3, 2 * b, a * d))}};
  V t = mirage_ugraph_apply(g, MIRAGE_OP_TRANSPOSE, 1, &x, &perm);
  V f = mirage_ugraph_apply(g, MIRAGE_OP_RESHAPE, 1, &t, &flat);
  V h = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &f, &half);
  MirageAttrs rest = {.slice = {1, a * d / 2, a * d}};
  V r = mirage_ugraph_apply(g, MIRAGE_OP_SLICE, 1, &f, &rest);
  V y = mirage_ugraph_apply(g, MIRAGE_OP_CONCAT, 2, (V[]){r, h}, &dim);
  y = mirage_ugraph_apply(g, MIRAGE_OP_REPEAT, 1, &y, &twice);
  finish_program(g, mirage_ugraph_apply(g, MIRAGE_OP_BROADCAST, 1, &y, &wide));
}

#define F16 MIRAGE_F16
#define BF16 MIRAGE_BF16
#define F32 MIRAGE_F32
#define UNARY_CASE(op, dtype, offset)                                                                                  \
  {"unary " #op " " #dtype, unary, dtype, {MIRAGE_OP_##op, 37, 129}, offset, 0, false}

const KernelCase KERNEL_CASES[] = {
    {"rmsnorm_linear 2x4096x6144", rmsnorm_linear, F16, {2, 4096, 6144, 128, 32}, 0, 0, false},
    {"rmsnorm_linear 2x4096x6144 direct", rmsnorm_linear, F16, {2, 4096, 6144, 128, 8}, 0, 0, false},
    {"rmsnorm_linear 3x1024x96 direct", rmsnorm_linear, F16, {3, 1024, 96, 2, 2}, 0, 0, false},
    {"rmsnorm_linear 16x2048x96 direct", rmsnorm_linear, F16, {16, 2048, 96, 2, 2}, 0, 0, false},
    {"rmsnorm_linear 11x1024x60 direct bf16", rmsnorm_linear, BF16, {11, 1024, 60, 3, 2}, 0, 0, false},
    {"rmsnorm_linear 2x1664x64 no padding", rmsnorm_linear, F16, {2, 1664, 64, 1, 1}, 0, 0, true},
    {"gated_mlp 1x512x256 direct", gated_mlp, F16, {1, 512, 256, 8, 1}, 0, 0, false},
    {"gated_mlp 8x1535x92 direct ragged bf16", gated_mlp, BF16, {8, 1535, 92, 4, 3}, 0, 0, false},
    {"lora 16x1024x128 direct", lora, F16, {16, 1024, 128, 16, 4, 2}, 0, 0, false},
    {"streams 5x1024x80 direct", streams, F16, {5, 1024, 80, 16, 2, 2}, 0, 0, false},
    {"streams 12x1535x70 direct ragged", streams, F16, {12, 1535, 70, 6, 3, 3}, 0, 0, false},
    {"rmsnorm_linear 16x1024x768", rmsnorm_linear, F16, {16, 1024, 768, 16, 8}, 0, 0, false},
    {"rmsnorm_linear 1x512x320 bf16", rmsnorm_linear, BF16, {1, 512, 320, 8, 4}, 0, 0, false},
    {"rmsnorm_linear 7x100x50 ragged", rmsnorm_linear, F16, {7, 100, 50, 3, 3}, 0, 0, false},
    {"rmsnorm_linear 5x96x72 f32", rmsnorm_linear, F32, {5, 96, 72, 3, 3}, 0, 0, false},
    {"gated_mlp 1x1024x1024", gated_mlp, F16, {1, 1024, 1024, 32, 8}, 0, 0, false},
    {"gated_mlp 8x512x512", gated_mlp, F16, {8, 512, 512, 8, 8}, 0, 0, false},
    {"gated_mlp 3x130x66 ragged bf16", gated_mlp, BF16, {3, 130, 66, 4, 3}, 0, 0, false},
    {"lora 2x1024x1024", lora, F16, {2, 1024, 1024, 16, 32, 8}, 0, 0, false},
    {"lora 16x256x512", lora, F16, {16, 256, 512, 16, 16, 4}, 0, 0, false},
    {"attention 2x64x256x64", attention, F16, {2, 64, 256, 64, 4, 1}, 0, 0, false},
    {"attention 3x48x160x32", attention, F16, {3, 48, 160, 32, 5, 2}, 0, 0, false},
    {"attention 1x40x96x64 bf16", attention, BF16, {1, 40, 96, 64, 3, 1}, 0, 0, false},
    {"attention 2x16x64x16 f32", attention, F32, {2, 16, 64, 16, 4, 1}, 0, 0, false},
    {"attention registers 2x64x256x64", attention_registers, F16, {2, 64, 256, 64, 4, 1, 4}, 0, 0, false},
    {"attention registers 1x128x192x128 bf16", attention_registers, BF16, {1, 128, 192, 128, 3, 1, 8}, 0, 0, false},
    {"attention registers 3x48x150x64 ragged", attention_registers, F16, {3, 48, 150, 64, 4, 1, 4}, 0, 0, false},
    {"attention registers 2x40x75x24 odd", attention_registers, F16, {2, 40, 75, 24, 5, 2, 2}, 0, 0, false},
    {"attention ahead 2x64x256x64", overlapped_attention, F16, {2, 64, 256, 64, 4, 1, 2, 0}, 0, 0, true},
    {"attention ahead 1x128x128x128 bf16", overlapped_attention, BF16, {1, 128, 128, 128, 2, 2, 2, 0}, 0, 0, true},
    {"attention ahead, keys by rows",
     overlapped_attention,
     F16,
     {1, 64, 160, 32, 5, 1, 3, OVERLAP_KEYS_BY_ROWS},
     0,
     0,
     true},
    {"attention turns 2x128x256x64", overlapped_attention, F16, {2, 128, 256, 64, 4, 2, 3, OVERLAP_TURNS}, 0, 0, true},
    {"attention turns of three 1x192x192x64 bf16",
     overlapped_attention,
     BF16,
     {1, 192, 192, 64, 3, 3, 2, OVERLAP_TURNS},
     0,
     0,
     true},
    {"attention turns of one", overlapped_attention, F16, {1, 64, 128, 64, 2, 1, 2, OVERLAP_TURNS}, 0, 0, true},
    {"attention turns, ragged queries",
     overlapped_attention,
     F16,
     {2, 200, 128, 64, 2, 2, 2, OVERLAP_TURNS},
     0,
     0,
     true},
    {"attention turns, ragged keys",
     overlapped_attention,
     F16,
     {1, 100, 187, 64, 3, 2, 2, OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_MASK},
     0,
     0,
     true},
    {"attention turns, heads in a block",
     overlapped_attention,
     F16,
     {3, 128, 192, 64, 3, 2, 2, OVERLAP_TURNS | OVERLAP_HEADS_IN_BLOCK},
     0,
     0,
     true},
    {"attention turns, queries by cp.async",
     overlapped_attention,
     F16,
     {1, 128, 128, 64, 2, 2, 2, OVERLAP_TURNS | OVERLAP_ASYNC_QUERIES},
     0,
     0,
     true},
    {"attention ahead of one stage", overlapped_attention, F16, {1, 64, 128, 64, 2, 1, 1, 0}, 0, 0, true},
    {"attention given back 2x128x256x64",
     overlapped_attention,
     F16,
     {2, 128, 256, 64, 4, 2, 3, OVERLAP_ALONE | OVERLAP_NONE},
     0,
     0,
     true},
    {"attention given back, two stages bf16",
     overlapped_attention,
     BF16,
     {1, 128, 192, 128, 3, 2, 2, OVERLAP_ALONE | OVERLAP_NONE},
     0,
     0,
     true},
    {"attention given back, one stage",
     overlapped_attention,
     F16,
     {1, 64, 128, 64, 2, 1, 1, OVERLAP_ALONE | OVERLAP_NONE},
     0,
     0,
     true},
    {"attention given back, more stages than iterations",
     overlapped_attention,
     F16,
     {1, 64, 128, 64, 2, 1, 4, OVERLAP_ALONE | OVERLAP_NONE},
     0,
     0,
     true},
    {"attention given back, ragged",
     overlapped_attention,
     F16,
     {2, 100, 187, 64, 3, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_MASK},
     0,
     0,
     true},
    {"attention given back, heads in a block",
     overlapped_attention,
     F16,
     {3, 128, 320, 64, 5, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_HEADS_IN_BLOCK},
     0,
     0,
     true},
    {"attention given back, queries by cp.async",
     overlapped_attention,
     F16,
     {1, 128, 256, 64, 4, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_ASYNC_QUERIES},
     0,
     0,
     true},
    {"attention ahead, given back", overlapped_attention, F16, {2, 64, 320, 64, 5, 1, 3, OVERLAP_ALONE}, 0, 0, true},
    {"attention turns, given back, heads in a block",
     overlapped_attention,
     F16,
     {2, 128, 256, 64, 4, 2, 2, OVERLAP_ALONE | OVERLAP_TURNS | OVERLAP_HEADS_IN_BLOCK},
     0,
     0,
     true},
    {"attention given back, keys by index, depth 80",
     overlapped_attention,
     F16,
     {2, 100, 187, 80, 3, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX},
     0,
     0,
     true},
    {"attention given back, keys by columns and index, depth 48",
     overlapped_attention,
     F16,
     {1, 64, 184, 48, 3, 1, 2, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_INDEX},
     0,
     0,
     true},
    {"attention given back, 42 of 64 keys last",
     overlapped_attention,
     F16,
     {2, 100, 170, 80, 3, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX},
     0,
     0,
     true},
    {"attention given back, 9 of 64 keys last, by columns",
     overlapped_attention,
     BF16,
     {1, 64, 201, 48, 4, 1, 2, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_INDEX},
     0,
     0,
     true},
    {"attention ahead, 1 of 64 keys last",
     overlapped_attention,
     BF16,
     {1, 128, 193, 64, 4, 2, 2, OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX},
     0,
     0,
     true},
    {"attention turns, 26 of 64 keys last, negative scale",
     overlapped_attention,
     F16,
     {2, 100, 154, 64, 3, 2, 2, OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_NEGATIVE},
     0,
     0,
     true},
    {"attention ahead, keys by index, depth 96 bf16",
     overlapped_attention,
     BF16,
     {1, 128, 200, 96, 4, 2, 2, OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX},
     0,
     0,
     true},
    {"attention turns, keys by index, depth 112",
     overlapped_attention,
     F16,
     {2, 100, 187, 112, 3, 2, 2, OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX},
     0,
     0,
     true},
    {"attention turns, keys by index, negative scale",
     overlapped_attention,
     F16,
     {1, 128, 187, 64, 3, 2, 2, OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_NEGATIVE},
     0,
     0,
     true},
    {"attention turns of pairs, keys by index, depth 128",
     overlapped_attention,
     F16,
     {2, 256, 320, 128, 3, 2, 3, OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_PAIRS},
     0,
     0,
     true},
    {"attention ahead of pairs, depth 80 bf16",
     overlapped_attention,
     BF16,
     {1, 200, 192, 80, 3, 2, 2, OVERLAP_KEYS_BY_ROWS | OVERLAP_PAIRS},
     0,
     0,
     true},
    {"attention of first maxima",
     overlapped_attention,
     F16,
     {2, 128, 256, 64, 4, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_INDEX | OVERLAP_FIRST},
     0,
     0,
     true},
    {"attention of first maxima, again",
     overlapped_attention,
     F16,
     {2, 128, 256, 64, 4, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, ragged, depth 80 bf16",
     overlapped_attention,
     BF16,
     {1, 100, 187, 80, 3, 2, 2, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_FIRST},
     0,
     0,
     true},
    {"attention of first maxima, ragged, again",
     overlapped_attention,
     F16,
     {2, 100, 234, 48, 5, 2, 2,
      OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, two buffers, again",
     overlapped_attention,
     F16,
     {1, 64, 201, 64, 4, 1, 2, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, a tile of masks",
     overlapped_attention,
     F16,
     {1, 100, 187, 64, 3, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_MASK | OVERLAP_FIRST},
     0,
     0,
     true},
    {"attention of first maxima, given back",
     overlapped_attention,
     F16,
     {2, 64, 320, 64, 5, 1, 3, OVERLAP_ALONE | OVERLAP_INDEX | OVERLAP_FIRST},
     0,
     0,
     true},
    {"attention of first maxima, given back, again",
     overlapped_attention,
     F16,
     {2, 64, 320, 64, 5, 1, 3, OVERLAP_ALONE | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, turns alone, again",
     overlapped_attention,
     F16,
     {1, 128, 250, 64, 4, 2, 2,
      OVERLAP_ALONE | OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, producer",
     overlapped_attention,
     F16,
     {2, 128, 256, 64, 4, 2, 3, OVERLAP_INDEX | OVERLAP_FIRST},
     0,
     0,
     true},
    {"attention of first maxima, producer, again",
     overlapped_attention,
     F16,
     {2, 128, 256, 64, 4, 2, 3, OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, producer, ragged turns, again",
     overlapped_attention,
     F16,
     {1, 200, 187, 128, 3, 2, 2, OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, producer, each product waited for, bf16",
     overlapped_attention,
     BF16,
     {1, 128, 193, 64, 4, 2, 2, OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, of a sample",
     overlapped_attention,
     F16,
     {1, 128, 384, 64, 3, 2, 2, OVERLAP_INDEX | OVERLAP_FIRST},
     0,
     0,
     true},
    {"attention of first maxima, of a sample, again",
     overlapped_attention,
     F16,
     {1, 128, 384, 64, 3, 2, 2, OVERLAP_TURNS | OVERLAP_INDEX | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, of a sample, alone, ragged",
     overlapped_attention,
     BF16,
     {1, 100, 350, 64, 3, 2, 3, OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_INDEX | OVERLAP_FIRST},
     0,
     0,
     true},
    {"attention of first maxima, of a sample, a tile of masks, again",
     overlapped_attention,
     F16,
     {1, 100, 300, 64, 3, 2, 3,
      OVERLAP_ALONE | OVERLAP_NONE | OVERLAP_KEYS_BY_ROWS | OVERLAP_MASK | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention of first maxima, negative scale, again",
     overlapped_attention,
     F16,
     {1, 128, 187, 64, 3, 2, 2,
      OVERLAP_TURNS | OVERLAP_KEYS_BY_ROWS | OVERLAP_INDEX | OVERLAP_NEGATIVE | OVERLAP_FIRST | OVERLAP_STEEP},
     0,
     0,
     true},
    {"attention at once 2x64x256x64", attention_at_once, F16, {2, 64, 256, 64, 0, 1, 4}, 0, 0, false},
    {"attention at once 1x50x70x20 ragged bf16", attention_at_once, BF16, {1, 50, 70, 20, 0, 1, 2}, 0, 0, false},
    {"gemm epilogue 128x128x128 rows", gemm_epilogue, F16, {128, 128, 128, 2, 1, 2, 4}, 0, 0, false},
    {"gemm epilogue 50x96x40 rows ragged bf16", gemm_epilogue, BF16, {50, 96, 40, 1, 1, 3, 3}, 0, 0, false},
    {"gemm epilogue 30x50x33 rows odd", gemm_epilogue, F16, {30, 50, 33, 1, 1, 2, 2}, 0, 0, false},
    {"gemm epilogue 128x128x128", gemm_epilogue, F16, {128, 128, 128, 1, 1, 2, 0}, 0, 0, false},
    {"gemm epilogue 70x64x52 ragged bf16", gemm_epilogue, BF16, {70, 64, 52, 1, 1, 2, 0}, 0, 0, false},
    {"mixed readers 2x24x32", mixed_readers, F16, {2, 24, 32, 4}, 0, 0, false},
    {"mixed readers 3x37x20 bf16", mixed_readers, BF16, {3, 37, 20, 5}, 0, 0, false},
    {"mixed readers 1x64x96 loop", mixed_readers, F16, {1, 64, 96, 4, 3}, 0, 0, false},
    {"mixed readers 2x21x30 loop odd", mixed_readers, F16, {2, 21, 30, 2, 2}, 0, 0, false},
    {"exchanging carries 64x32x48 rows", exchanging_carries, F16, {64, 32, 48, 3, 4}, 0, 2e-3, false},
    {"exchanging carries 20x16x40 rows", exchanging_carries, BF16, {20, 16, 40, 5, 2}, 0, 2e-3, false},
    {"exchanging carries 20x16x40 buffers", exchanging_carries, F16, {20, 16, 40, 4, 0}, 0, 2e-3, false},
    {"exchanging carries 9x12x21 buffers f32", exchanging_carries, F32, {9, 12, 21, 3, 0}, 0, 0, false},
    {"attention split 1x128x192x64 parts", attention_split, F16, {1, 128, 192, 64, 3, 2, 4, 1}, 0, 0, false},
    {"attention split 2x40x60x24 parts", attention_split, BF16, {2, 40, 60, 24, 2, 1, 3, 1}, 0, 0, false},
    {"attention split 2x64x128x32", attention_split, F16, {2, 64, 128, 32, 4, 1, 4}, 0, 0, false},
    {"softmax rows 8x4096", softmax_rows, F16, {8, 4096, 8}, 0, 0, false},
    {"softmax rows 33x250 ragged", softmax_rows, F16, {33, 250, 5}, 0, 0, false},
    {"softmax rows 4x1000 f32", softmax_rows, F32, {4, 1000, 4}, 0, 0, false},
    {"row update 4x4096", row_update, F16, {4, 4096, 4}, 0, 0, false},
    {"row update 7x1000 ragged bf16", row_update, BF16, {7, 1000, 3}, 0, 0, false},
    {"row update 5x333 f32", row_update, F32, {5, 333, 5}, 0, 0, false},
    {"row update 40x1024 in turn", row_update, F16, {40, 1024, 1}, 0, 0, false},
    {"row update 37x3000 in turn ragged bf16", row_update, BF16, {37, 3000, 2}, 0, 0, false},
    {"row update 50x99 in turn f32", row_update, F32, {50, 99, 1}, 0, 0, false},
    {"softmax rows 300x40 in one warp", softmax_rows, F16, {300, 40, 2}, 0, 0, false},
    {"softmax rows 3x20000 all threads", softmax_rows, F16, {3, 20000, 3}, 0, 0, true},
    {"quotients by constants f32", quotients, F32, {7, 60}, 0, 0, false},
    {"elements 32x512", elements, F16, {32, 512, 4, 1}, 0, 0, false},
    {"elements 33x250 ragged bf16", elements, BF16, {33, 250, 4, 3}, 0, 0, false},
    {"elements 7x4100 pieces", elements, F16, {7, 4100, 1, 1}, 0, 0, false},
    {"elements 1x9000 pieces abreast", elements, F16, {1, 9000, 1, 1}, 0, 0, false},
    {"elements 64x3 f32", elements, F32, {64, 3, 2, 1}, 0, 0, false},
    {"elements 9x35 threads left over f32", elements, F32, {9, 35, 1, 1, 2}, 0, 0, false},
    {"elements 5x65 one warp", elements, F16, {5, 65, 1, 1, 1}, 0, 0, false},
    {"two-pass norm 6x1024", two_pass_norm, F16, {6, 1024, 3, 4}, 0, 0, false},
    {"two-pass norm 5x200 ragged", two_pass_norm, BF16, {5, 200, 2, 3}, 0, 0, false},
    {"nested loops 64x128x96", nested, F16, {64, 128, 96, 3, 4, 4}, 0, 0, false},
    {"nested loops 30x70x40 ragged", nested, F16, {30, 70, 40, 2, 4, 3}, 0, 0, false},
    {"nested loops 20x36x24 f32", nested, F32, {20, 36, 24, 2, 2, 3}, 0, 0, false},
    {"split k by cluster", split_k_cluster, F16, {16, 512, 128, 4, 4, 4}, 0, 0, false},
    {"split k by grid", split_k_grid, F16, {16, 512, 128, 4, 4, 4}, 0, 0, false},
    {"split k by grid f32", split_k_grid, F32, {4, 96, 40, 2, 3, 2}, 0, 0, false},
    {"split k by cluster of 16", split_k_cluster, F16, {8, 512, 24, 1, 16, 1}, 0, 0, false},
    {"split k, 20 blocks meet", split_k_grid, F16, {4, 640, 24, 2, 20, 1}, 0, 0, false},
    {"split k cyclic", split_k_grid, F16, {16, 512, 128, 4, 4, 4, 1}, 0, 0, false},
    {"split k cyclic by cluster", split_k_cluster, BF16, {64, 512, 128, 2, 2, 4, 2}, 0, 0, false},
    {"split k cyclic, both", split_k_grid, F16, {4, 512, 128, 4, 4, 4, 3}, 0, 0, false},
    {"split k cyclic, ragged", split_k_grid, F16, {5, 203, 40, 2, 3, 4, 2}, 0, 0, false},
    {"split k cyclic, ragged f32", split_k_grid, F32, {4, 97, 40, 2, 3, 2, 1}, 0, 0, false},
    {"split attention cyclic", attention_grid, F16, {2, 16, 32, 128, 4, 2, 1}, 0, 0, false},
    {"split attention cyclic, wide", attention_grid, F16, {2, 64, 64, 512, 2, 4, 2}, 0, 0, false},
    {"split attention cyclic by cluster", attention_cluster, BF16, {2, 16, 32, 128, 2, 4, 2}, 0, 0, false},
    {"split attention cyclic, ragged", attention_grid, F16, {3, 5, 24, 61, 5, 3, 3}, 0, 0, false},
    {"split attention by grid", attention_grid, F16, {2, 16, 32, 128, 4, 2}, 0, 0, false},
    {"split attention ragged", attention_grid, F16, {3, 5, 24, 60, 5, 3}, 0, 0, false},
    {"split attention, 18 blocks meet", attention_grid, F16, {1, 3, 16, 288, 18, 2}, 0, 0, false},
    {"split attention, f16 parts", attention_grid_narrow, F16, {2, 16, 32, 128, 4, 2}, 0, 0, false},
    {"split attention, bf16 parts", attention_grid_narrow, BF16, {1, 6, 16, 96, 3, 2}, 0, 0, false},
    {"split attention by cluster", attention_cluster, F16, {2, 16, 32, 128, 4, 2}, 0, 0, false},
    {"split softmax", split_softmax, F16, {6, 96, 4, 0}, 0, 0, false},
    {"split softmax ragged", split_softmax, F32, {5, 50, 3, 0}, 0, 0, false},
    {"split softmax by cluster", split_softmax, F16, {6, 90, 4, 1}, 0, 0, false},
    {"split softmax by cluster, in turn", split_softmax, BF16, {70, 1999, 2, 1}, 0, 0, true},
    {"split softmax by cluster, many pieces", split_softmax, F16, {2, 5001, 4, 1}, 0, 0, true},
    {"reduction of a cluster's sum", cluster_then_reduce, F16, {16, 16, 2}, 0, 0, false},
    {"product of a split product", split_chain, F16, {16, 64, 48, 4, 2}, 0, 0, false},
    {"meet in a loop", meet_in_loop_grid, F32, {12, 64, 4, 3, 2}, 0, 0, false},
    {"meet in a loop ragged", meet_in_loop_grid, F16, {13, 33, 3, 2, 3}, 0, 0, false},
    {"meet in a loop by cluster", meet_in_loop_cluster, F32, {12, 64, 4, 3, 2}, 0, 0, false},
    {"carries 12x100", carries, F16, {12, 100, 4, 7}, 0, 1e-4, false},
    {"carries 3x512 f32", carries, F32, {3, 512, 3, 4}, 0, 0, false},
    {"thread region 10x256", thread_region, F16, {10, 256, 5}, 0, 0, false},
    {"thread mma 32x64x48", thread_mma, F16, {32, 64, 48, 2}, 0, 0, false},
    {"thread mma 9x20x22 ragged f32", thread_mma, F32, {9, 20, 22, 2}, 0, 0, false},
    {"shapes in a block 6x10", shapes_in_block, F16, {6, 10}, 0, 0, false},
    {"shapes in a block 16x32 f32", shapes_in_block, F32, {16, 32}, 0, 0, false},
    {"block products 3x20x48x24", block_products, F16, {3, 20, 48, 24}, 0, 0, false},
    {"block products 2x8x20x12 f32", block_products, F32, {2, 8, 20, 12}, 0, 0, false},
    {"linear 128x256x192", linear, F16, {128, 256, 192}, 0, 0, false},
    {"linear 128x256x192 ta", linear, F16, {128, 256, 192, 1, 0}, 0, 0, false},
    {"linear 128x256x192 tb", linear, F16, {128, 256, 192, 0, 1}, 0, 0, false},
    {"linear 128x256x192 ta tb", linear, F16, {128, 256, 192, 1, 1}, 0, 0, false},
    {"linear 33x65x17", linear, F16, {33, 65, 17}, 0, 0, false},
    {"linear 33x65x17 ta tb bf16", linear, BF16, {33, 65, 17, 1, 1}, 0, 0, false},
    {"linear 1x1000x7", linear, F16, {1, 1000, 7}, 0, 0, false},
    {"linear 512x512x512", linear, F16, {512, 512, 512}, 0, 0, false},
    {"linear 100x52x60 f32", linear, F32, {100, 52, 60}, 0, 0, false},
    {"linear 70x40x33 ta tb f32", linear, F32, {70, 40, 33, 1, 1}, 0, 0, false},
    {"linear batch 5x64x64x40", linear, F16, {64, 64, 40, 0, 0, 5, 5}, 0, 0, false},
    {"linear batch 3x5x1024x72 direct", linear, F16, {5, 1024, 72, 0, 0, 3, 3}, 0, 0, false},
    {"linear batch of weights 8x1024x48 direct", linear, F16, {8, 1024, 48, 0, 0, 0, 4}, 0, 0, false},
    {"linear batch 2x16x1024x40 ta direct bf16", linear, BF16, {16, 1024, 40, 1, 0, 2, 2}, 0, 0, false},
    {"linear batch of one side tb", linear, F16, {24, 72, 36, 0, 1, 4, 0}, 0, 0, false},
    // m, k, n, blocks over m, over n, iterations, stages
    {"tensor copies 32x128x32", copied_linear, F16, {32, 128, 32, 2, 2, 4, 3, 0}, 0, 0, false},
    {"tensor copies 48x192x128 panels", copied_linear, BF16, {48, 192, 256, 3, 1, 3, 2, 0}, 0, 0, false},
    {"tensor copies 32x96x48 dense rows", copied_linear, F16, {32, 96, 96, 2, 2, 4, 1, 0}, 0, 0, false},
    {"tensor copies 40x280x72 ragged", copied_linear, F16, {40, 280, 72, 3, 3, 9, 2, 0}, 0, 0, false},
    {"tensor copies 33x65x17 not possible", copied_linear, F16, {33, 65, 17, 2, 2, 3, 2, 0}, 0, 0, false},
    {"tensor copies f32 32x64x64", copied_linear, F32, {32, 64, 64, 2, 2, 2, 2, 0}, 0, 0, false},
    {"tensor copies outside loops", copied_linear, F16, {32, 64, 64, 2, 2, 1, 1, COPY_OUTSIDE}, 0, 0, false},
    {"tensor and async copies", copied_linear, F16, {32, 128, 64, 2, 2, 4, 3, COPY_SECOND_ASYNC}, 0, 0, false},
    {"tensor copies in nested loops", copied_linear, F16, {64, 160, 64, 4, 2, 5, 3, COPY_PERSISTENT}, 0, 0, false},
    {"bulk copies 32x128x32", copied_linear, F16, {32, 128, 32, 2, 2, 4, 3, COPY_BULK}, 0, 0, false},
    {"bulk copies 32x128x64 whole rows", copied_linear, F32, {32, 32, 64, 2, 1, 2, 2, COPY_BULK}, 0, 0, false},
    {"bulk copies 40x100x72 not possible", copied_linear, F16, {40, 100, 72, 3, 2, 3, 2, COPY_BULK}, 0, 0, false},
    {"roles 32x128x32", copied_linear, F16, {32, 128, 32, 2, 2, 4, 3, COPY_ROLES}, 0, 0, false},
    {"roles 32x128x64 one producer",
     copied_linear,
     F16,
     {32, 128, 64, 2, 1, 4, 2, COPY_ROLES + COPY_SMALL_PRODUCER},
     0,
     0,
     false},
    {"roles outside loops", copied_linear, F16, {32, 64, 64, 2, 2, 1, 1, COPY_ROLES + COPY_OUTSIDE}, 0, 0, false},
    {"roles with async copies",
     copied_linear,
     F16,
     {32, 128, 64, 2, 2, 4, 3, COPY_ROLES + COPY_SECOND_ASYNC},
     0,
     0,
     false},
    {"roles and a cluster's sum",
     copied_linear,
     F16,
     {32, 128, 64, 2, 2, 4, 3, COPY_ROLES + COPY_CLUSTER_SUM},
     0,
     0,
     false},
    {"roles, multicast and a cluster's sum",
     copied_linear,
     F16,
     {128, 256, 128, 2, 2, 2, 2, COPY_ROLES + COPY_MULTICAST + COPY_CLUSTER_SUM + COPY_SMALL_PRODUCER},
     0,
     0,
     false},
    {"roles without copies", copied_linear, F16, {32, 128, 64, 2, 2, 4, 3, COPY_ROLES + COPY_ASYNC}, 0, 0, false},
    {"roles bulk", copied_linear, F16, {32, 128, 64, 2, 2, 4, 3, COPY_ROLES + COPY_BULK}, 0, 0, false},
    {"roles persistent", copied_linear, F16, {64, 160, 64, 4, 2, 5, 3, COPY_ROLES + COPY_PERSISTENT}, 0, 0, false},
    {"roles persistent multicast",
     copied_linear,
     F16,
     {64, 160, 64, 4, 2, 5, 3, COPY_ROLES + COPY_PERSISTENT + COPY_MULTICAST},
     0,
     0,
     false},
    {"roles multicast grouped",
     copied_linear,
     F16,
     {64, 96, 128, 4, 4, 3, 2, COPY_ROLES + COPY_MULTICAST + COPY_GROUPED},
     0,
     0,
     false},
    {"warpgroup 64x64x32", copied_linear, F16, {128, 64, 64, 2, 2, 1, 1, 0}, 0, 0, false},
    {"warpgroup 64x128x64 ta tb",
     copied_linear,
     BF16,
     {128, 128, 64, 2, 1, 2, 2, COPY_TRANSPOSE_A + COPY_TRANSPOSE_B},
     0,
     0,
     false},
    {"warpgroup 64x192x128 async", copied_linear, F16, {64, 192, 128, 1, 1, 3, 2, COPY_ASYNC}, 0, 0, false},
    {"warpgroups 128x128x64 outside",
     copied_linear,
     F16,
     {128, 128, 64, 1, 1, 1, 1, COPY_EIGHT_WARPS + COPY_OUTSIDE},
     0,
     0,
     false},
    {"warpgroups 64x128x128 columns", copied_linear, F16, {64, 128, 128, 1, 1, 2, 2, COPY_EIGHT_WARPS}, 0, 0, false},
    {"warpgroups 128x256x128 roles",
     copied_linear,
     F16,
     {128, 256, 128, 1, 1, 4, 3, COPY_EIGHT_WARPS + COPY_ROLES},
     0,
     0,
     false},
    {"warpgroups 128x128x64 tb roles persistent",
     copied_linear,
     F16,
     {256, 192, 64, 2, 1, 3, 2, COPY_EIGHT_WARPS + COPY_ROLES + COPY_PERSISTENT + COPY_TRANSPOSE_B},
     0,
     0,
     false},
    {"warpgroups 128x128x64 roles multicast",
     copied_linear,
     F16,
     {256, 128, 256, 2, 2, 2, 2, COPY_EIGHT_WARPS + COPY_ROLES + COPY_MULTICAST},
     0,
     0,
     false},
    {"warpgroups 256x160x64 roles",
     copied_linear,
     F16,
     {256, 128, 320, 1, 2, 2, 2, COPY_EIGHT_WARPS + COPY_ROLES},
     0,
     0,
     false},
    {"warpgroups 256x192x64 tb roles multicast bf16",
     copied_linear,
     BF16,
     {256, 128, 384, 1, 2, 2, 2, COPY_EIGHT_WARPS + COPY_ROLES + COPY_MULTICAST + COPY_TRANSPOSE_B},
     0,
     0,
     false},
    {"warpgroups 128x320x64 roles persistent",
     copied_linear,
     F16,
     {256, 128, 320, 2, 1, 2, 2, COPY_EIGHT_WARPS + COPY_ROLES + COPY_PERSISTENT},
     0,
     0,
     false},
    {"warpgroups 128x128x64 resident",
     copied_linear,
     F16,
     {128, 128, 64, 1, 1, 2, 2, COPY_EIGHT_WARPS + COPY_ROWS},
     0,
     0,
     false},
    {"warpgroups 256x128x64 resident roles",
     copied_linear,
     BF16,
     {512, 192, 64, 2, 1, 3, 2, COPY_EIGHT_WARPS + COPY_ROWS + COPY_ROLES + COPY_PERSISTENT},
     0,
     0,
     false},
    {"warpgroup 64x64x320 resident", copied_linear, F16, {64, 64, 320, 1, 1, 1, 1, COPY_ROWS}, 0, 0, false},
    {"linear 4096 roles",
     copied_linear,
     F16,
     {4096, 4096, 4096, 32, 16, 64, 4, COPY_EIGHT_WARPS + COPY_ROLES + COPY_GROUPED + COPY_ROWS},
     0,
     0,
     false},
    UNARY_CASE(EXP, F32, 0),
    UNARY_CASE(LOG, F32, 6),
    UNARY_CASE(SQRT, F32, 6),
    UNARY_CASE(RSQRT, F32, 6),
    UNARY_CASE(SIGMOID, F32, 0),
    UNARY_CASE(SILU, F16, 0),
    UNARY_CASE(GELU, F32, 0),
    UNARY_CASE(GELU_TANH, F32, 0),
    UNARY_CASE(ERF, F32, 0),
    UNARY_CASE(TANH, F32, 0),
    UNARY_CASE(RELU, BF16, 0),
    UNARY_CASE(NEG, F16, 0),
    UNARY_CASE(SQUARE, F16, 0),
    {"reduce_sum dim 2", reduction, F16, {MIRAGE_OP_REDUCE_SUM, 2, 1, 5, 9, 1000}, 0, 0, false},
    {"reduce_sum dim 1", reduction, F16, {MIRAGE_OP_REDUCE_SUM, 1, 1, 5, 300, 40}, 0, 0, false},
    {"reduce_max dim 0 extent 4", reduction, F32, {MIRAGE_OP_REDUCE_MAX, 0, 4, 32, 7, 33}, 0, 0, false},
    {"reduce_mean dim 2 extent 3", reduction, F32, {MIRAGE_OP_REDUCE_MEAN, 2, 3, 4, 6, 99}, 0, 0, false},
    {"softmax program 17x300", softmax_program, F16, {17, 300}, 0, 0, false},
    {"layer norm program 9x512", layer_norm_program, F32, {9, 512}, 0, 0, false},
    {"attention program 4x32x128x64", attention_program, F16, {4, 32, 128, 64}, 0, 0, false},
    {"binary chain 31x77", binary_chain, F32, {31, 77}, 0, 0, false},
    {"binary chain 64x128 bf16", binary_chain, BF16, {64, 128}, 0, 4e-2, false},
    {"shape program 4x6x10", shape_program, F16, {4, 6, 10}, 0, 0, false},
};
const unsigned NUM_KERNEL_CASES = sizeof KERNEL_CASES / sizeof *KERNEL_CASES;
