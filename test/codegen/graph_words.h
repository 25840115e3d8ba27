// graph_words.h - short words for building graphs of one custom kernel, as the cases of mirage-kernel-test do.
#ifndef MIRAGE_TEST_GRAPH_WORDS_H
#define MIRAGE_TEST_GRAPH_WORDS_H

#include "mirage/ugraph.h"

typedef MirageUGraph G;
typedef MirageValue V;

#define SHAPE(...)                                                                                                     \
  (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }

static inline V input(G *g, MirageDType dtype, uint32_t rank, const int64_t *shape) {
  return mirage_ugraph_input(g, mirage_type_tensor(dtype, rank, shape));
}
static inline V op1(G *g, MirageOp op, V a) { return mirage_ugraph_apply(g, op, 1, &a, NULL); }
static inline V op2(G *g, MirageOp op, V a, V b) { return mirage_ugraph_apply(g, op, 2, (V[]){a, b}, NULL); }
static inline V matmul(G *g, V a, V b, bool ta, bool tb) {
  MirageAttrs attrs = {.matmul = {.transpose_a = ta, .transpose_b = tb}};
  return mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, (V[]){a, b}, &attrs);
}
static inline V reduce(G *g, MirageOp op, V a, int32_t dim, int64_t extent) {
  MirageAttrs attrs = {.reduce = {.dim = dim, .extent = extent}};
  return mirage_ugraph_apply(g, op, 1, &a, &attrs);
}
static inline V cast(G *g, V a, MirageDType dtype) { return mirage_ugraph_cast(g, a, dtype); }
static inline V splat(G *g, double value, uint32_t rank, const int64_t *shape) {
  return mirage_ugraph_constant(g, mirage_type_tile(MIRAGE_F32, rank, shape), value);
}
static inline V bottom(G *g, uint32_t rank, const int64_t *shape) {
  MirageAttrs attrs = {.shape = {mirage_type_tile(MIRAGE_F32, rank, shape)}};
  return mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &attrs);
}
static inline MirageAccessAttrs access4(int x, int y, int z, int l0, int l1) {
  return (MirageAccessAttrs){.grid = {(int8_t)x, (int8_t)y, (int8_t)z}, .loop = {(int8_t)l0, (int8_t)l1, -1, -1}};
}
static inline V load(G *g, MirageNode k, uint32_t argument, MirageAccessAttrs access) {
  return mirage_ugraph_load(g, mirage_ugraph_argument(g, k, argument), &access);
}
static inline void store(G *g, V tile, MirageNode k, uint32_t argument, MirageAccessAttrs access) {
  mirage_ugraph_store(g, tile, mirage_ugraph_argument(g, k, argument), &access);
}
static inline MirageNode custom(G *g, uint32_t n, const V *operands, MirageType result, int64_t x, int64_t y,
                                int64_t z) {
  MirageCustomAttrs attrs = {.grid = {x, y, z}, .cluster = {1, 1, 1}};
  return mirage_ugraph_open_custom(g, n, operands, 1, &result, &attrs);
}
static inline MirageNode loop(G *g, int64_t range, uint32_t n, const V *inits, const MirageCarry *carries) {
  MirageLoopAttrs attrs = {.range = range, .num_carries = n, .carries = carries};
  return mirage_ugraph_open_loop(g, n, inits, &attrs);
}
static inline void finish(G *g, MirageNode k) {
  mirage_ugraph_close(g, 0, NULL);
  V y = mirage_ugraph_result(g, k, 0);
  mirage_ugraph_return(g, 1, &y);
}
static inline void finish_program(G *g, V y) { mirage_ugraph_return(g, 1, &y); }
static inline int64_t parts(int64_t n, int64_t by) { return (n + by - 1) / by; }
static inline V collective(G *g, MirageOp op, V a, int axis) {
  MirageAttrs axes = {.axes = {{axis == 0, axis == 1, axis == 2}}};
  return mirage_ugraph_apply(g, op, 1, &a, &axes);
}

// Which of two loads are cyclic, as bits; sums do not show whether both are.
static inline MirageAccessAttrs cyclic(MirageAccessAttrs access, bool is) {
  access.cyclic = is;
  return access;
}

// Of a kernel whose warps divide rows.
static inline const MirageSchedule *rows_schedule(MirageSchedule *schedule, int64_t warps) {
  *schedule = (MirageSchedule){.warps = (int32_t)warps, .split = MIRAGE_SPLIT_ROWS};
  return schedule;
}
static inline MirageNode custom_rows(G *g, uint32_t n, const V *operands, MirageType result, int64_t x, int64_t y,
                                     int64_t warps) {
  MirageSchedule schedule;
  MirageCustomAttrs attrs = {.grid = {x, y, 1}, .cluster = {1, 1, 1}, .schedule = rows_schedule(&schedule, warps)};
  return mirage_ugraph_open_custom(g, n, operands, 1, &result, &attrs);
}

#endif
