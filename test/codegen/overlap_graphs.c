// overlap_graphs.c - attention whose products run on while it computes, in the ways in which a schedule may ask for it.
//
// p: heads, queries, keys, depth, iterations over keys, warpgroups (64 queries each in a block), stages, form (bits of
// OVERLAP_*). Blocks over queries are grid axis x, heads are grid axis y.
#include "graph_words.h"
#include "kernel_graphs.h"

enum { GROUP_ROWS = 64 };

static V reduce_rows(G *g, MirageOp op, V a) { return reduce(g, op, a, 2, 1); }
static MirageType tensor3(MirageDType dtype, int64_t x, int64_t y, int64_t z) {
  return mirage_type_tensor(dtype, 3, (int64_t[]){x, y, z});
}
static MirageType column(int64_t rows) { return mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){1, rows, 1}); }

static MirageSchedule schedule_of(const KernelCase *c) {
  int32_t groups = (int32_t)c->p[5], stages = (int32_t)c->p[6];
  MirageSchedule s = {.split = MIRAGE_SPLIT_ROWS, .num_roles = 2, .num_loads = c->p[7] & OVERLAP_MASK ? 4 : 3};
  s.warps = 4 + 4 * groups;
  s.roles[0] = (MirageRole){MIRAGE_ROLE_PRODUCER, 4, 24};
  s.roles[1] = (MirageRole){MIRAGE_ROLE_CONSUMER, 4 * groups, groups < 3 ? 240 : 160};
  s.overlap = c->p[7] & OVERLAP_NONE    ? MIRAGE_OVERLAP_NONE
              : c->p[7] & OVERLAP_TURNS ? MIRAGE_OVERLAP_TURNS
                                        : MIRAGE_OVERLAP_AHEAD;
  s.maxima = c->p[7] & OVERLAP_FIRST ? MIRAGE_MAXIMA_FIRST : MIRAGE_MAXIMA_EVERY;
  if (c->p[7] & OVERLAP_ALONE) {
    s.num_roles = 0;
    s.warps = 4 * groups;
  }
  for (int i = 0; i < 3; i++)
    s.loads[i] = (MirageLoadSchedule){
        .landing = MIRAGE_LANDING_TENSOR, .stages = i ? stages : 0, .multicast = i && c->p[7] & OVERLAP_PAIRS};
  if (c->p[7] & OVERLAP_ASYNC_QUERIES)
    s.loads[0].landing = MIRAGE_LANDING_ASYNC;
  return s;
}

// Keys that iterations do not divide come in tiles of whole steps of the instruction.
static int64_t key_tile(const KernelCase *c) {
  int64_t each = (c->p[2] + c->p[4] - 1) / c->p[4];
  return c->p[2] % c->p[4] ? (each + 15) / 16 * 16 : 0;
}

// Scores by a constant, those of keys beyond the last as bottom.
static V told_by_index(G *g, const KernelCase *c, V score, int key_loop) {
  int64_t tile = mirage_ugraph_type(g, score)->shape[2];
  MirageAttrs index = {.iota = {.type = mirage_type_tile(MIRAGE_I32, 3, (int64_t[]){1, 1, tile}), .dim = 2}};
  index.iota.loop[key_loop] = tile;
  MirageType one = mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){1, 1, 1}), whole = one;
  whole.dtype = MIRAGE_I32;
  double factor = c->p[7] & OVERLAP_STEEP ? 100 : 0.125;
  V scale = mirage_ugraph_constant(g, one, c->p[7] & OVERLAP_NEGATIVE ? -factor : factor);
  V at = mirage_ugraph_apply(g, MIRAGE_OP_IOTA, 0, NULL, &index);
  V inside = op2(g, MIRAGE_OP_LESS, at, mirage_ugraph_constant(g, whole, (double)c->p[2]));
  return op2(g, MIRAGE_OP_MASK, inside, op2(g, MIRAGE_OP_MUL, scale, score));
}

// The loop over keys; results: rescaled output, and the sums of its weights.
static MirageNode keys_loop(G *g, const KernelCase *c, MirageNode kernel, V q, int64_t rows, int head_loop) {
  int64_t d = c->p[3], form = c->p[7];
  int key_loop = head_loop < 0 ? 0 : 1, head_grid = head_loop < 0 ? 0 : -1;
  MirageAttrs none = {.shape = {column(rows)}};
  V inits[] = {mirage_ugraph_constant(g, mirage_type_tile(MIRAGE_F32, 3, (int64_t[]){1, rows, d}), 0),
               mirage_ugraph_constant(g, column(rows), 0), mirage_ugraph_apply(g, MIRAGE_OP_BOTTOM, 0, NULL, &none)};
  MirageCarry carries[] = {
      {.combine = MIRAGE_COMBINE_RESCALE}, {.combine = MIRAGE_COMBINE_RESCALE}, {.combine = MIRAGE_COMBINE_MAX}};
  MirageLoopAttrs loop = {.range = c->p[4], .num_carries = 3, .carries = carries};
  MirageNode l = mirage_ugraph_open_loop(g, 3, inits, &loop);
  MirageAccessAttrs by_rows = {.grid = {-1, (int8_t)head_grid, -1}, .loop = {-1, -1, -1, -1}}, by_columns;
  if (head_loop >= 0)
    by_rows.loop[head_loop] = 0;
  by_columns = by_rows;
  by_rows.loop[key_loop] = 1;
  by_columns.loop[key_loop] = 2;
  by_rows.tiles[1] = by_columns.tiles[2] = key_tile(c);
  bool rowwise = form & OVERLAP_KEYS_BY_ROWS;
  V k = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 1), rowwise ? &by_rows : &by_columns);
  V v = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 2), &by_rows);
  V score = matmul(g, q, k, false, rowwise), old = mirage_ugraph_argument(g, l, 2);
  if (form & OVERLAP_MASK) {
    MirageAccessAttrs masked = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}, .fill = MIRAGE_FILL_BOTTOM};
    masked.loop[key_loop] = 1;
    masked.tiles[1] = key_tile(c);
    score = op2(g, MIRAGE_OP_ADD, score, mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 3), &masked));
  }
  if (form & OVERLAP_INDEX)
    score = told_by_index(g, c, score, key_loop);
  V top = reduce_rows(g, MIRAGE_OP_REDUCE_MAX, score), now = op2(g, MIRAGE_OP_MAX, old, top);
  V weight = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, score, now));
  V factor = op1(g, MIRAGE_OP_EXP, op2(g, MIRAGE_OP_SUB, old, now));
  V out = matmul(g, cast(g, weight, c->dtype), v, false, false);
  mirage_ugraph_close(g, 5, (V[]){out, reduce_rows(g, MIRAGE_OP_REDUCE_SUM, weight), top, factor, factor});
  return l;
}

void overlapped_attention(G *g, const KernelCase *c) {
  int64_t h = c->p[0], s = c->p[1], t = c->p[2], d = c->p[3], form = c->p[7], rows = GROUP_ROWS * c->p[5];
  bool rowwise = form & OVERLAP_KEYS_BY_ROWS, heads_in_block = form & OVERLAP_HEADS_IN_BLOCK;
  V in[4] = {mirage_ugraph_input(g, tensor3(c->dtype, h, s, d)),
             mirage_ugraph_input(g, rowwise ? tensor3(c->dtype, h, t, d) : tensor3(c->dtype, h, d, t)),
             mirage_ugraph_input(g, tensor3(c->dtype, h, t, d))};
  if (form & OVERLAP_MASK)
    in[3] = mirage_ugraph_input(g, mirage_type_tensor(c->dtype, 2, (int64_t[]){1, t}));
  uint32_t inputs = form & OVERLAP_MASK ? 4 : 3;
  MirageSchedule schedule = schedule_of(c);
  MirageCustomAttrs attrs = {.grid = {(s + rows - 1) / rows, heads_in_block ? 1 : h, 1},
                             .cluster = {form & OVERLAP_PAIRS ? 2 : 1, 1, 1},
                             .schedule = &schedule};
  MirageType result = tensor3(c->dtype, h, s, d);
  MirageNode kernel = mirage_ugraph_open_custom(g, inputs, in, 1, &result, &attrs);
  MirageAccessAttrs own = {.grid = {1, heads_in_block ? -1 : 0, -1}, .loop = {-1, -1, -1, -1}};
  if (s % rows)
    own.tiles[1] = rows;
  MirageLoopAttrs heads = {.range = h};
  if (heads_in_block) {
    mirage_ugraph_open_loop(g, 0, NULL, &heads);
    own.loop[0] = 0;
  }
  V q = mirage_ugraph_load(g, mirage_ugraph_argument(g, kernel, 0), &own);
  MirageNode l = keys_loop(g, c, kernel, q, rows, heads_in_block ? 0 : -1);
  V y = op2(g, MIRAGE_OP_DIV, mirage_ugraph_result(g, l, 0), mirage_ugraph_result(g, l, 1));
  mirage_ugraph_store(g, y, mirage_ugraph_argument(g, kernel, inputs), &own);
  if (heads_in_block)
    mirage_ugraph_close(g, 0, NULL);
  mirage_ugraph_close(g, 0, NULL);
  V out = mirage_ugraph_result(g, kernel, 0);
  mirage_ugraph_return(g, 1, &out);
}
