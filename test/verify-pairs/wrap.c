// wrap.c - one kernel-level operator as a custom kernel, with any grid, loop and ragged split.
//
// Element-wise:  blocks and iterations take parts of the result; each operand is split where it has the result's
// extent. Reductions:    the other dimensions over x and z; the reduced one over a loop, and over y with a collective.
// Products:      rows over x, columns over z, the contraction over a loop and over y.
// Parts need not divide, and some may be empty; masked elements are filled so that they add nothing - but for slips.
#include "generate.h"

typedef struct Wrap {
  Draw *draw;
  const Program *from;
  const Instr *at;
  Program *to;
  const int *map; // values of `from` in `to`
  bool slip;
  int64_t grid[3], range;
  bool in_cluster;
} Wrap;

static const Shape *operand_shape(const Wrap *w, int k) { return &w->from->instr[w->at->args[k]].shape; }

static int64_t draw_parts(Wrap *w, int64_t extent) {
  static const int64_t parts[] = {1, 2, 2, 3, 4, 5, 7, 8};
  int64_t count = DRAW_FROM(w->draw, parts);
  return count <= extent ? count : 1;
}

static int open_kernel(Wrap *w, Shape result) {
  Instr kernel = {.op = OP_KERNEL, .grid = {w->grid[0], w->grid[1], w->grid[2]}, .cluster = {1, 1, 1}};
  w->in_cluster = w->grid[1] <= 16 && draw_chance(w->draw, 50);
  kernel.cluster[1] = w->in_cluster ? w->grid[1] : 1;
  put(w->to, &kernel);
  return put(w->to, &(Instr){.op = OP_OUTPUT, .shape = result});
}

static int close_kernel(Wrap *w, int tile, int out, const Access *access) {
  if (tile >= 0)
    put(w->to, &(Instr){.op = OP_STORE, .num_args = 2, .args = {tile, out}, .at = *access});
  put(w->to, &(Instr){.op = OP_END_KERNEL});
  return put(w->to, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {out}});
}

static int load(Wrap *w, int k, Access access, Fill fill) {
  access.fill = fill;
  return put(w->to, &(Instr){.op = OP_LOAD, .num_args = 1, .args = {w->map[w->at->args[k]]}, .at = access});
}

static Fill fill_or_slip(Wrap *w, Fill fill) { return w->slip ? (Fill)draw_below(w->draw, 3) : fill; }

// The collective over y, and the count of a mean.
static int finish_parts(Wrap *w, int value, int64_t n) {
  bool top = w->at->op == OP_TOP;
  if (w->grid[1] > 1)
    value = put(w->to, &(Instr){.op = top ? OP_GATHER_MAX : OP_GATHER_SUM,
                                .num_args = 1,
                                .args = {value},
                                .axes = {false, true, false},
                                .in_cluster = w->in_cluster});
  if (w->at->op != OP_MEAN)
    return value;
  int64_t tile = ((n + w->grid[1] - 1) / w->grid[1] + w->range - 1) / w->range;
  double count = (double)(w->slip && draw_chance(w->draw, 50) ? tile * w->grid[1] * w->range : n);
  return put2(w->to, OP_DIV, value, put_scalar(w->to, operand_shape(w, 0)->rank, count));
}

// ----------------------------------------------------------------------------------------------------------
// element-wise

// `access` of the result, for an operand that stretches to it.
static Access access_of_operand(const Wrap *w, int k, const Access *access) {
  Access own = whole();
  const Shape *from = operand_shape(w, k), *to = &w->at->shape;
  for (int axis = 0; axis < 3; axis++) {
    int d = access->grid[axis], f = d - (to->rank - from->rank);
    own.grid[axis] = d >= 0 && f >= 0 && from->n[f] == to->n[d] ? f : -1;
  }
  int d = access->loop[0], f = d - (to->rank - from->rank);
  own.loop[0] = d >= 0 && f >= 0 && from->n[f] == to->n[d] ? f : -1;
  return own;
}

static int wrap_element_wise(Wrap *w) {
  const Shape *shape = &w->at->shape;
  Access access = whole();
  if (shape->rank == 0 || operand_shape(w, 0)->rank == 0 || operand_shape(w, w->at->num_args - 1)->rank == 0)
    return -1;
  for (int axis = 0; axis < 3; axis++) {
    int d = draw_below(w->draw, shape->rank + 1) - 1;
    access.grid[axis] = d;
    w->grid[axis] = draw_parts(w, d < 0 ? 3 : shape->n[d]);
  }
  bool loops = draw_chance(w->draw, 50);
  access.loop[0] = loops ? draw_below(w->draw, shape->rank) : -1;
  w->range = loops ? draw_parts(w, shape->n[access.loop[0]]) : 1;
  int out = open_kernel(w, *shape), args[2] = {0};
  if (loops)
    put(w->to, &(Instr){.op = OP_LOOP, .extent = w->range});
  for (int k = 0; k < w->at->num_args; k++) {
    Access own = access_of_operand(w, k, &access);
    if (w->slip && k == 0) { // two dimensions taken for each other
      int kept = own.grid[0];
      own.grid[0] = own.grid[1];
      own.grid[1] = kept;
    }
    args[k] = load(w, k, own, (Fill)draw_below(w->draw, 2));
  }
  Instr op = *w->at;
  op.args[0] = args[0];
  op.args[1] = args[1];
  put(w->to, &(Instr){.op = OP_STORE, .num_args = 2, .args = {put(w->to, &op), out}, .at = access});
  if (loops)
    put(w->to, &(Instr){.op = OP_END_LOOP});
  return close_kernel(w, -1, out, &access);
}

// ------------------------------------------------------------------------------------- reductions, products, softmax

// acc = init; loop { acc = acc combined with contribution }; the caller has put what lies in the loop before `end`.
static int open_loop(Wrap *w, Shape tile, bool top) {
  int init = put(w->to, &(Instr){.op = top ? OP_BOTTOM : OP_CONST, .shape = tile});
  Instr loop = {.op = OP_LOOP, .num_args = 1, .args = {init}, .extent = w->range};
  loop.combine[0] = top ? COMBINE_MAX : COMBINE_SUM;
  int at = put(w->to, &loop);
  put(w->to, &(Instr){.op = OP_CARRY, .num_args = 1, .args = {at}});
  return at;
}

static int close_loop(Wrap *w, int loop, int contribution) {
  put(w->to, &(Instr){.op = OP_END_LOOP, .num_args = 1, .args = {contribution}});
  return put(w->to, &(Instr){.op = OP_LOOP_RESULT, .num_args = 1, .args = {loop}});
}

static int wrap_reduction(Wrap *w) {
  const Shape *shape = operand_shape(w, 0);
  int dim = w->at->dim, d = draw_below(w->draw, shape->rank), e = draw_below(w->draw, shape->rank);
  Access in = whole(), store = whole();
  if (w->at->extent != 1)
    return -1;
  w->grid[0] = d == dim ? 1 : draw_parts(w, shape->n[d]);
  w->grid[2] = e == dim || e == d ? 1 : draw_parts(w, shape->n[e]);
  w->grid[1] = draw_parts(w, shape->n[dim]);
  w->range = 1 + draw_below(w->draw, 9);
  in.grid[0] = store.grid[0] = d == dim ? -1 : d;
  in.grid[2] = store.grid[2] = e == dim || e == d ? -1 : e;
  in.grid[1] = in.loop[0] = dim;
  Shape tile = *shape;
  tile.n[dim] = 1;
  if (in.grid[0] >= 0)
    tile.n[d] = (shape->n[d] + w->grid[0] - 1) / w->grid[0];
  if (in.grid[2] >= 0)
    tile.n[e] = (shape->n[e] + w->grid[2] - 1) / w->grid[2];
  bool top = w->at->op == OP_TOP;
  int out = open_kernel(w, w->at->shape), loop = open_loop(w, tile, top);
  int x = load(w, 0, in, fill_or_slip(w, top ? FILL_BOTTOM : FILL_ZERO));
  int total = close_loop(w, loop, put_reduce(w->to, top ? OP_TOP : OP_SUM, x, dim));
  return close_kernel(w, finish_parts(w, total, shape->n[dim]), out, &store);
}

static int wrap_product(Wrap *w) {
  const Shape *a = operand_shape(w, 0), *b = operand_shape(w, 1);
  if (a->rank != 2 || b->rank != 2)
    return -1;
  int a_row = w->at->ta, b_col = 1 - w->at->tb;
  int64_t m = a->n[a_row], n = b->n[b_col], k = a->n[1 - a_row];
  w->grid[0] = draw_parts(w, m);
  w->grid[1] = draw_parts(w, k);
  w->grid[2] = draw_parts(w, n);
  w->range = 1 + draw_below(w->draw, 9);
  Access left = whole(), right = whole(), store = whole();
  left.grid[0] = a_row;
  left.grid[1] = left.loop[0] = 1 - a_row;
  right.grid[2] = b_col;
  right.grid[1] = right.loop[0] = 1 - b_col;
  store.grid[0] = 0;
  store.grid[2] = 1;
  Shape tile = {2, {(m + w->grid[0] - 1) / w->grid[0], (n + w->grid[2] - 1) / w->grid[2]}};
  int out = open_kernel(w, w->at->shape), loop = open_loop(w, tile, false);
  Instr product = *w->at;
  product.args[0] = load(w, 0, left, fill_or_slip(w, FILL_ZERO));
  product.args[1] = load(w, 1, right, w->slip ? FILL_ONE : (Fill)draw_below(w->draw, 2));
  int total = close_loop(w, loop, put(w->to, &product));
  return close_kernel(w, finish_parts(w, total, k), out, &store);
}

// Each part of the axis normalised by itself and weighted by its sum: right unless a part is empty.
static int wrap_softmax(Wrap *w) {
  const Shape *shape = &w->at->shape;
  int dim = w->at->dim;
  Access access = whole();
  w->grid[0] = w->grid[2] = 1;
  w->grid[1] = draw_parts(w, shape->n[dim]);
  access.grid[1] = dim;
  int out = open_kernel(w, *shape), e = put1(w->to, OP_EXP, load(w, 0, access, FILL_BOTTOM));
  int sum = put_reduce(w->to, OP_SUM, e, dim), all = sum;
  if (w->grid[1] > 1)
    all = put(w->to, &(Instr){.op = OP_GATHER_SUM,
                              .num_args = 1,
                              .args = {sum},
                              .axes = {false, true, false},
                              .in_cluster = w->in_cluster});
  int y = draw_chance(w->draw, 50) ? put2(w->to, OP_MUL, put2(w->to, OP_DIV, e, sum), put2(w->to, OP_DIV, sum, all))
                                   : put2(w->to, OP_DIV, e, w->slip ? sum : all);
  return close_kernel(w, y, out, &access);
}

int wrap(Draw *draw, const Program *from, int at, const int *map, bool slip, Program *to) {
  Wrap w = {.draw = draw, .from = from, .at = &from->instr[at], .to = to, .map = map, .slip = slip};
  Op op = w.at->op;
  w.range = 1;
  if (op >= OP_EXP && op <= OP_MIN)
    return wrap_element_wise(&w);
  if (op == OP_SUM || op == OP_TOP || op == OP_MEAN)
    return wrap_reduction(&w);
  if (op == OP_MATMUL)
    return wrap_product(&w);
  return op == OP_SOFTMAX ? wrap_softmax(&w) : -1;
}
