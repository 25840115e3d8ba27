// random_kernels.c - random custom kernels: a skeleton that computes an output tile, and random operators on the way.
//
// Axes:      every dimension of a tile walks one axis, which the grid or the loop may split; a result is stored along
//            BATCH, ROW and COL, a loop runs over DEPTH, and INNER is contracted whole. Extents, parts, tails are
//            drawn.
// Skeletons: a product summed over a loop, by one block or by several that meet (cluster, grid) or leave their parts;
//            attention, its exponentials plain or online; rows in one pass or in two; rows one after the other, stored
//            inside the loop; carries of every kind.
// Decoration: what may stand between: functions, other tensors, norms, exponentials, shape operators, thread regions.
//
// What is computed need not make sense: masked tails enter sums as what they hold. The evaluator says what is meant.
// As in random_programs.c, tensors are found out in rounds, because a kernel opens with all its operands.
#include "random_graphs.h"

#include <string.h>

enum { BATCH, ROW, COL, DEPTH, INNER, NUM_AXES, ONE = -1 };
enum { MOST_OPERANDS = 12, MOST_RESULTS = 3, MOST_KERNELS = 2, BLOCKS_THAT_MEET = 2 };

typedef struct Axis {
  int64_t extent, parts, range; // parts of the grid, iterations of the loop; 1 = not split
  int8_t grid;                  // grid axis, -1 = none
} Axis;

typedef struct Tile {
  MirageValue v;
  uint32_t rank;
  int8_t axes[4]; // ONE where the extent is 1
} Tile;

// How blocks share DEPTH along a grid axis.
typedef enum { MEET_NOT, MEET_PARTS, MEET_GRID, MEET_CLUSTER } Meet;

// What a kernel reads and writes, as the last round found it.
typedef struct Interface {
  MirageType operands[MOST_OPERANDS], results[MOST_RESULTS];
  int8_t input[MOST_OPERANDS]; // number of the graph's input; -1: the kernel before feeds it
  uint32_t num_operands, num_results;
} Interface;

typedef struct Kernels {
  Choices *choices;
  MirageUGraph *graph;
  MirageType inputs[MOST_KERNELS * MOST_OPERANDS];
  uint32_t num_inputs;
  Interface kernels[MOST_KERNELS];
  bool missing, by_hand;
  // of the kernel being built
  Interface *now;
  uint32_t used_operands, used_results, num_loads;
  MirageNode custom;
  MirageDType dtype;
  Axis axes[NUM_AXES];
  bool even, batch, in_loop;
  Meet meet;
  bool clustered;   // neighbouring blocks form a cluster
  bool cyclic;      // some loads are, of what a loop splits as well
  int meet_axis;    // grid axis along which blocks share DEPTH, -1 = none
  MirageValue feed; // result of the kernel before, {0} = none or taken
} Kernels;

// ------------------------------------------------------------------------------------------------------------ numbers

static const int64_t EXTENTS[] = {16, 1, 2, 3, 5, 8, 17, 24, 32, 33, 40, 48, 63, 64, 65, 96, 97, 100, 128};
enum { NUM_EXTENTS = sizeof EXTENTS / sizeof *EXTENTS };

// Sizes that tensor copies, swizzles and warpgroup products are made for.
static const int64_t EVEN[] = {64, 128, 32, 256, 16, 192};
enum { NUM_EVEN = sizeof EVEN / sizeof *EVEN };

static int64_t extent(Kernels *k) {
  uint32_t which = choose(k->choices, 1u << 16);
  return k->even ? EVEN[which % NUM_EVEN] : EXTENTS[which % NUM_EXTENTS];
}
static int64_t parts(Kernels *k, uint32_t most) {
  uint32_t which = choose(k->choices, most);
  return k->even ? (which > 1 ? 2 : 1) : 1 + which;
}
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

// Elements of an axis that a tile holds, here.
static int64_t held(const Kernels *k, int8_t axis) {
  if (axis == ONE)
    return 1;
  const Axis *a = &k->axes[axis];
  int64_t n = ceil_div(a->extent, a->parts);
  if (axis == DEPTH && k->meet_axis >= 0)
    n = ceil_div(a->extent, BLOCKS_THAT_MEET);
  return k->in_loop ? ceil_div(n, a->range) : n;
}

static MirageAccessAttrs access_of(const Kernels *k, const Tile *tile) {
  MirageAccessAttrs access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  for (uint32_t d = 0; d < tile->rank; d++) {
    int8_t axis = tile->axes[d];
    if (axis == ONE)
      continue;
    if (k->axes[axis].grid >= 0)
      access.grid[k->axes[axis].grid] = (int8_t)d;
    if (axis == DEPTH && k->meet_axis >= 0)
      access.grid[k->meet_axis] = (int8_t)d;
    if (k->in_loop && k->axes[axis].range > 1)
      access.loop[0] = (int8_t)d;
  }
  access.cyclic = k->cyclic && mirage_access_may_cycle(&access) && once_in(k->choices, 2);
  return access;
}

// ----------------------------------------------------------------------------------------------------------- operators

static Tile none(Kernels *k) {
  k->missing = true;
  return (Tile){0};
}

static MirageType tile_type(const Kernels *k, MirageDType dtype, const Tile *tile) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < tile->rank; d++)
    shape[d] = held(k, tile->axes[d]);
  return mirage_type_tile(dtype, tile->rank, shape);
}

static Tile one(Kernels *k, MirageOp op, Tile x) {
  x.v = mirage_ugraph_apply(k->graph, op, 1, &x.v, NULL);
  return x;
}

// Dimensions where either has more than 1.
static Tile two(Kernels *k, MirageOp op, Tile a, Tile b) {
  Tile y = a.rank >= b.rank ? a : b;
  for (uint32_t i = 1; i <= a.rank && i <= b.rank; i++)
    y.axes[y.rank - i] = a.axes[a.rank - i] == ONE ? b.axes[b.rank - i] : a.axes[a.rank - i];
  y.v = mirage_ugraph_apply(k->graph, op, 2, (MirageValue[]){a.v, b.v}, NULL);
  return y;
}

static Tile with(Kernels *k, MirageOp op, Tile x, MirageAttrs attrs) {
  x.v = mirage_ugraph_apply(k->graph, op, 1, &x.v, &attrs);
  return x;
}

static Tile number(Kernels *k, double value) {
  return (Tile){mirage_ugraph_constant(k->graph, mirage_type_tile(MIRAGE_F32, 0, NULL), value), 0, {0}};
}

static Tile filled(Kernels *k, Tile like, double value) {
  like.v = mirage_ugraph_constant(k->graph, tile_type(k, MIRAGE_F32, &like), value);
  return like;
}

static Tile lowest(Kernels *k, Tile like) {
  MirageAttrs attrs = {.shape = {tile_type(k, MIRAGE_F32, &like)}};
  like.v = mirage_ugraph_apply(k->graph, MIRAGE_OP_BOTTOM, 0, NULL, &attrs);
  return like;
}

static Tile cast(Kernels *k, Tile x, MirageDType dtype) {
  x.v = mirage_ugraph_cast(k->graph, x.v, dtype);
  return x;
}

static Tile reduce(Kernels *k, MirageOp op, Tile x, uint32_t dim) {
  x.axes[dim] = ONE;
  return with(k, op, x, (MirageAttrs){.reduce = {.dim = (int32_t)dim, .extent = 1}});
}

static Tile over_columns(Kernels *k, MirageOp op, Tile x) { return reduce(k, op, x, x.rank - 1); }

static Tile swapped(Kernels *k, Tile x) {
  MirageAttrs attrs = {0};
  for (uint32_t d = 0; d < x.rank; d++)
    attrs.perm.perm[d] = (int32_t)d;
  attrs.perm.perm[x.rank - 1] = (int32_t)x.rank - 2;
  attrs.perm.perm[x.rank - 2] = (int32_t)x.rank - 1;
  Tile y = with(k, MIRAGE_OP_TRANSPOSE, x, attrs);
  y.axes[x.rank - 1] = x.axes[x.rank - 2];
  y.axes[x.rank - 2] = x.axes[x.rank - 1];
  return y;
}

// a @ b for tiles (.., i, j) and (.., j, k), in the type of the kernel.
static Tile product(Kernels *k, Tile a, bool ta, Tile b, bool tb) {
  MirageAttrs attrs = {.matmul = {.transpose_a = ta, .transpose_b = tb}};
  MirageDType da = mirage_ugraph_type(k->graph, a.v)->dtype, db = mirage_ugraph_type(k->graph, b.v)->dtype;
  if (da != k->dtype)
    a = cast(k, a, k->dtype);
  if (db != k->dtype)
    b = cast(k, b, k->dtype);
  Tile y = a.rank >= b.rank ? a : b;
  y.axes[y.rank - 2] = a.axes[a.rank - 2 + ta];
  y.axes[y.rank - 1] = b.axes[b.rank - 1 - tb];
  y.v = mirage_ugraph_apply(k->graph, MIRAGE_OP_MATMUL, 2, (MirageValue[]){a.v, b.v}, &attrs);
  return y;
}

// ------------------------------------------------------------------------------------------------------ loads, stores

static Tile along(const Kernels *k, int8_t row, int8_t col) {
  return k->batch ? (Tile){{0}, 3, {BATCH, row, col}} : (Tile){{0}, 2, {row, col}};
}

// Whether the kernel before left a tensor of this type.
static bool fed(const Kernels *k, const MirageType *type) {
  return k->feed.index && mirage_type_same_meaning(mirage_ugraph_type(k->graph, k->feed), type);
}

static Tile load(Kernels *k, Tile tile, MirageFill fill) {
  uint32_t number = k->used_operands;
  if (number < k->now->num_operands) {
    MirageAccessAttrs access = access_of(k, &tile);
    access.fill = fill;
    tile.v = mirage_ugraph_load(k->graph, mirage_ugraph_argument(k->graph, k->custom, number), &access);
    k->used_operands++;
    k->num_loads++;
    return tile;
  }
  if (number == MOST_OPERANDS)
    return none(k);
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < tile.rank; d++)
    shape[d] = tile.axes[d] == ONE ? 1 : k->axes[tile.axes[d]].extent;
  MirageType type = mirage_type_tensor(k->dtype, tile.rank, shape);
  k->now->operands[number] = type;
  k->now->input[number] = -1;
  if (!fed(k, &type)) {
    k->now->input[number] = (int8_t)k->num_inputs;
    k->inputs[k->num_inputs++] = type;
  }
  k->now->num_operands++;
  return none(k);
}

static MirageFill any_fill(Kernels *k) { return once_in(k->choices, 6) ? MIRAGE_FILL_ONE : MIRAGE_FILL_ZERO; }

// A tile of a new tensor along these axes, now and then a transposed one that is turned.
static Tile fetch(Kernels *k, int8_t row, int8_t col) {
  if (once_in(k->choices, 6)) {
    Tile tile = load(k, along(k, col, row), any_fill(k));
    return k->missing ? tile : swapped(k, tile);
  }
  return load(k, along(k, row, col), any_fill(k));
}

// The same, sometimes one for all of the batch.
static Tile fetch_weight(Kernels *k, int8_t row, int8_t col) {
  if (!once_in(k->choices, 4))
    return fetch(k, row, col);
  Tile tile = {{0}, 2, {row, col}};
  return load(k, tile, any_fill(k));
}

static void store(Kernels *k, Tile tile) {
  uint32_t number = k->used_results;
  MirageAccessAttrs access = access_of(k, &tile);
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < tile.rank; d++)
    shape[d] = tile.axes[d] == ONE ? 1 : k->axes[tile.axes[d]].extent;
  MirageDType dtype = once_in(k->choices, 5) ? MIRAGE_F32 : k->dtype;
  if (k->meet == MEET_PARTS) { // parts side by side in the last dimension
    access.grid[k->meet_axis] = (int8_t)(tile.rank - 1);
    shape[tile.rank - 1] *= BLOCKS_THAT_MEET;
  }
  if (number < k->now->num_results) {
    mirage_ugraph_store(k->graph, tile.v, mirage_ugraph_argument(k->graph, k->custom, k->now->num_operands + number),
                        &access);
  } else if (number < MOST_RESULTS) {
    k->now->results[number] = mirage_type_tensor(dtype, tile.rank, shape);
    k->now->num_results++;
    k->missing = true;
  }
  k->used_results++;
}

// ---------------------------------------------------------------------------------------------------------- decoration

static Tile function(Kernels *k, Tile x) {
  static const MirageOp plain[] = {MIRAGE_OP_RELU, MIRAGE_OP_NEG,       MIRAGE_OP_SIGMOID, MIRAGE_OP_SILU,
                                   MIRAGE_OP_GELU, MIRAGE_OP_GELU_TANH, MIRAGE_OP_TANH,    MIRAGE_OP_ERF};
  static const MirageOp positive[] = {MIRAGE_OP_SQRT, MIRAGE_OP_LOG, MIRAGE_OP_RSQRT};
  switch (choose(k->choices, 4)) {
  case 0:
  case 1:
    return one(k, plain[choose(k->choices, 8)], x);
  case 2:
    return one(k, MIRAGE_OP_EXP, one(k, MIRAGE_OP_TANH, x));
  default: {
    Tile bounded = one(k, MIRAGE_OP_SQUARE, one(k, MIRAGE_OP_TANH, x));
    return one(k, positive[choose(k->choices, 3)], two(k, MIRAGE_OP_ADD, bounded, number(k, 1)));
  }
  }
}

static Tile with_other(Kernels *k, Tile x) {
  static const MirageOp ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_SUB, MIRAGE_OP_MUL, MIRAGE_OP_MAX, MIRAGE_OP_MIN};
  Tile like = x;
  for (uint32_t d = 0; d < x.rank; d++)
    if (once_in(k->choices, 3))
      like.axes[d] = ONE;
  if (once_in(k->choices, 3)) { // fewer dimensions
    memmove(like.axes, like.axes + x.rank - 1, 1);
    like.rank = 1;
  }
  Tile y = once_in(k->choices, 3) ? number(k, 0.5 * (double)choose(k->choices, 8) - 1) : load(k, like, any_fill(k));
  if (k->missing)
    return y;
  uint32_t which = choose(k->choices, 6);
  if (which == 5)
    return two(k, MIRAGE_OP_DIV, x, two(k, MIRAGE_OP_ADD, one(k, MIRAGE_OP_SIGMOID, y), number(k, 0.5)));
  return once_in(k->choices, 3) ? two(k, ops[which], y, x) : two(k, ops[which], x, y);
}

// x / sqrt(mean of squares + 1)
static Tile normed(Kernels *k, Tile x, uint32_t dim) {
  Tile mean = reduce(k, MIRAGE_OP_REDUCE_MEAN, one(k, MIRAGE_OP_SQUARE, x), dim);
  return two(k, MIRAGE_OP_DIV, x, one(k, MIRAGE_OP_SQRT, two(k, MIRAGE_OP_ADD, mean, number(k, 1))));
}

static Tile weights(Kernels *k, Tile x, uint32_t dim) {
  Tile e = one(k, MIRAGE_OP_EXP, two(k, MIRAGE_OP_SUB, x, reduce(k, MIRAGE_OP_REDUCE_MAX, x, dim)));
  return once_in(k->choices, 2) ? e : two(k, MIRAGE_OP_DIV, e, reduce(k, MIRAGE_OP_REDUCE_SUM, e, dim));
}

// Shape operators that give the same shape back.
static Tile moved(Kernels *k, Tile x) {
  uint32_t dim = choose(k->choices, x.rank), which = choose(k->choices, 3);
  int64_t n = held(k, x.axes[dim]), cut = 1 + n / 3;
  MirageType type = *mirage_ugraph_type(k->graph, x.v);
  if (which == 0)
    return swapped(k, function(k, swapped(k, x)));
  if (which == 1 && n > cut) { // two pieces change places
    Tile low = with(k, MIRAGE_OP_SLICE, x, (MirageAttrs){.slice = {(int32_t)dim, 0, cut}});
    Tile high = with(k, MIRAGE_OP_SLICE, x, (MirageAttrs){.slice = {(int32_t)dim, cut, n}});
    MirageAttrs attrs = {.dim = {(int32_t)dim}};
    x.v = mirage_ugraph_apply(k->graph, MIRAGE_OP_CONCAT, 2, (MirageValue[]){high.v, low.v}, &attrs);
    return x;
  }
  MirageType flat = type;
  flat.rank = 1;
  flat.shape[0] = mirage_type_elements(&type);
  return with(k, MIRAGE_OP_RESHAPE, with(k, MIRAGE_OP_RESHAPE, x, (MirageAttrs){.shape = {flat}}),
              (MirageAttrs){.shape = {type}});
}

static Tile in_thread(Kernels *k, Tile x) {
  MirageNode thread = mirage_ugraph_open_thread(k->graph, 1, &x.v);
  Tile inside = x;
  inside.v = mirage_ugraph_argument(k->graph, thread, 0);
  inside = function(k, inside);
  if (once_in(k->choices, 2)) {
    Tile top = over_columns(k, MIRAGE_OP_REDUCE_MAX, inside);
    inside = two(k, MIRAGE_OP_SUB, inside, top);
  }
  mirage_ugraph_close(k->graph, 1, &inside.v);
  inside.v = mirage_ugraph_result(k->graph, thread, 0);
  return inside;
}

static Tile decorate_once(Kernels *k, Tile x) {
  switch (choose(k->choices, 9)) {
  case 0:
  case 1:
    return function(k, x);
  case 2:
  case 3:
    return with_other(k, x);
  case 4:
    return normed(k, x, x.rank - 1);
  case 5:
    return weights(k, x, once_in(k->choices, 4) ? x.rank - 2 : x.rank - 1);
  case 6:
    return moved(k, x);
  case 7:
    return in_thread(k, x);
  default:
    return cast(k, x, k->dtype);
  }
}

static Tile decorate(Kernels *k, Tile x, uint32_t most) {
  for (uint32_t n = choose(k->choices, most + 1); n > 0 && !k->missing; n--)
    x = decorate_once(k, x);
  return x;
}

// ------------------------------------------------------------------------------------------------------------
// skeletons

typedef struct Loop {
  MirageNode node;
  Tile inits[4], contributions[4], factors[4];
  MirageCarry carries[4];
  uint32_t num_carries, num_factors;
} Loop;

static uint32_t carry(Loop *loop, MirageCombine combine, Tile init) {
  loop->carries[loop->num_carries] = (MirageCarry){.combine = combine};
  loop->inits[loop->num_carries] = init;
  return loop->num_carries++;
}

static void open(Kernels *k, Loop *loop) {
  MirageValue inits[4];
  for (uint32_t i = 0; i < loop->num_carries; i++)
    inits[i] = loop->inits[i].v;
  MirageLoopAttrs attrs = {.range = k->axes[DEPTH].range, .num_carries = loop->num_carries, .carries = loop->carries};
  loop->node = mirage_ugraph_open_loop(k->graph, loop->num_carries, inits, &attrs);
  k->in_loop = true;
}

static Tile running(Kernels *k, const Loop *loop, uint32_t index) {
  Tile t = loop->inits[index];
  t.v = mirage_ugraph_argument(k->graph, loop->node, index);
  return t;
}

static void close(Kernels *k, Loop *loop) {
  MirageValue values[8];
  uint32_t n = 0;
  for (uint32_t i = 0; i < loop->num_carries; i++)
    values[n++] = loop->contributions[i].v;
  for (uint32_t i = 0; i < loop->num_factors; i++)
    values[n++] = loop->factors[i].v;
  mirage_ugraph_close(k->graph, n, values);
  k->in_loop = false;
}

static Tile total(Kernels *k, const Loop *loop, uint32_t index) {
  Tile t = loop->inits[index];
  t.v = mirage_ugraph_result(k->graph, loop->node, index);
  return t;
}

static Tile meet(Kernels *k, Tile x) {
  MirageAttrs attrs = {0};
  if (k->meet != MEET_GRID && k->meet != MEET_CLUSTER)
    return x;
  attrs.axes.axis[k->meet_axis] = true;
  return with(k, k->meet == MEET_GRID ? MIRAGE_OP_GRID_SUM : MIRAGE_OP_CLUSTER_SUM, x, attrs);
}

// x[row, depth] @ w[depth, col], and a sum over x's rows beside it.
static Tile product_over_loop(Kernels *k) {
  Loop loop = {0};
  bool squares = once_in(k->choices, 2), two_products = once_in(k->choices, 4);
  Tile out = along(k, ROW, COL), row = along(k, ROW, ONE);
  carry(&loop, MIRAGE_COMBINE_SUM, filled(k, out, 0.5 * (double)choose(k->choices, 2)));
  if (squares)
    carry(&loop, MIRAGE_COMBINE_SUM, filled(k, row, 0));
  if (two_products)
    carry(&loop, MIRAGE_COMBINE_SUM, filled(k, out, 0));
  open(k, &loop);
  Tile x = fetch(k, ROW, DEPTH);
  if (k->missing)
    return x;
  x = decorate(k, x, 1);
  if (k->missing)
    return x;
  uint32_t n = 0;
  for (int i = 0; i < 1 + two_products; i++) {
    bool tb = once_in(k->choices, 3);
    Tile w = tb ? fetch_weight(k, COL, DEPTH) : fetch_weight(k, DEPTH, COL);
    if (k->missing)
      return w;
    w = decorate(k, w, once_in(k->choices, 4));
    if (k->missing)
      return w;
    loop.contributions[n] = product(k, x, false, w, tb);
    n += 1 + (i == 0 && squares);
  }
  if (squares)
    loop.contributions[1] = over_columns(k, MIRAGE_OP_REDUCE_SUM, one(k, MIRAGE_OP_SQUARE, x));
  close(k, &loop);
  Tile y = meet(k, total(k, &loop, 0));
  if (squares) {
    Tile s = meet(k, total(k, &loop, 1));
    y = two(k, MIRAGE_OP_DIV, y, one(k, MIRAGE_OP_SQRT, two(k, MIRAGE_OP_ADD, s, number(k, 1))));
  }
  if (two_products)
    y = two(k, MIRAGE_OP_MUL, one(k, MIRAGE_OP_SIGMOID, y), meet(k, total(k, &loop, squares + 1)));
  return y;
}

// Scores of a chunk of keys.
static Tile scores(Kernels *k, Tile q) {
  bool tb = once_in(k->choices, 2);
  Tile keys = tb ? fetch_weight(k, DEPTH, INNER) : fetch_weight(k, INNER, DEPTH);
  if (k->missing)
    return keys;
  Tile s = product(k, q, false, keys, tb);
  return once_in(k->choices, 2) ? two(k, MIRAGE_OP_MUL, s, number(k, 0.25)) : s;
}

static Tile attention(Kernels *k) {
  Loop loop = {0};
  bool online = once_in(k->choices, 2);
  Tile q = fetch(k, ROW, INNER);
  if (k->missing)
    return q;
  q = decorate(k, q, 1);
  if (k->missing)
    return q;
  Tile out = along(k, ROW, COL), row = along(k, ROW, ONE);
  MirageCombine how = online ? MIRAGE_COMBINE_RESCALE : MIRAGE_COMBINE_SUM;
  carry(&loop, how, filled(k, out, 0));
  carry(&loop, how, filled(k, row, 0));
  bool assigned = online && once_in(k->choices, 2); // the maximum as a carry of its own kind
  if (online)
    carry(&loop, assigned ? MIRAGE_COMBINE_ASSIGN : MIRAGE_COMBINE_MAX, lowest(k, row));
  open(k, &loop);
  Tile s = scores(k, q), e;
  if (k->missing)
    return s;
  s = decorate(k, s, once_in(k->choices, 4));
  if (k->missing)
    return s;
  if (online) {
    Tile old = running(k, &loop, 2), top = over_columns(k, MIRAGE_OP_REDUCE_MAX, s);
    Tile newest = two(k, MIRAGE_OP_MAX, old, top), factor = one(k, MIRAGE_OP_EXP, two(k, MIRAGE_OP_SUB, old, newest));
    e = one(k, MIRAGE_OP_EXP, two(k, MIRAGE_OP_SUB, s, newest));
    loop.contributions[2] = assigned ? newest : top;
    loop.factors[0] = loop.factors[1] = factor;
    loop.num_factors = 2;
  } else {
    e = one(k, MIRAGE_OP_EXP, one(k, MIRAGE_OP_TANH, s));
  }
  bool tv = once_in(k->choices, 4);
  Tile v = tv ? fetch(k, COL, DEPTH) : fetch(k, DEPTH, COL);
  if (k->missing)
    return v;
  loop.contributions[1] = over_columns(k, MIRAGE_OP_REDUCE_SUM, e);
  loop.contributions[0] = product(k, e, false, v, tv);
  close(k, &loop);
  return two(k, MIRAGE_OP_DIV, total(k, &loop, 0), total(k, &loop, 1));
}

// One carry of each kind over the columns of a row, read inside the loop and after it.
static Tile all_carries(Kernels *k) {
  Loop loop = {0};
  Tile row = along(k, ROW, ONE), piece = along(k, ROW, DEPTH);
  k->in_loop = true; // the tiles of an iteration
  Tile sum_init = filled(k, piece, 0.25);
  k->in_loop = false;
  int64_t shape[3] = {0};
  for (uint32_t d = 0; d < piece.rank; d++)
    shape[d] = mirage_ugraph_type(k->graph, sum_init.v)->shape[d];
  shape[piece.rank - 1] *= k->axes[DEPTH].range;
  Tile long_row = piece;
  MirageType whole = mirage_type_tile(MIRAGE_F32, piece.rank, shape);
  long_row.v = mirage_ugraph_constant(k->graph, whole, 0);
  carry(&loop, MIRAGE_COMBINE_MAX, lowest(k, row));
  carry(&loop, MIRAGE_COMBINE_SUM, sum_init);
  uint32_t concat = carry(&loop, MIRAGE_COMBINE_CONCAT, long_row);
  loop.carries[concat].dim = (int32_t)piece.rank - 1;
  carry(&loop, MIRAGE_COMBINE_ASSIGN, filled(k, row, 1));
  open(k, &loop);
  Tile x = load(k, piece, once_in(k->choices, 3) ? MIRAGE_FILL_ONE : MIRAGE_FILL_ZERO);
  if (k->missing)
    return x;
  x = decorate(k, x, 2);
  if (k->missing)
    return x;
  if (mirage_ugraph_type(k->graph, x.v)->dtype != MIRAGE_F32)
    x = cast(k, x, MIRAGE_F32);
  loop.contributions[0] = over_columns(k, MIRAGE_OP_REDUCE_MAX, x);
  loop.contributions[1] = x;
  loop.contributions[2] = once_in(k->choices, 2) ? two(k, MIRAGE_OP_SUB, x, running(k, &loop, 3)) : x;
  loop.contributions[3] = over_columns(k, MIRAGE_OP_REDUCE_SUM, one(k, MIRAGE_OP_TANH, x));
  close(k, &loop);
  Tile y = over_columns(k, MIRAGE_OP_REDUCE_MEAN, total(k, &loop, 1));
  y = two(k, MIRAGE_OP_ADD, y, total(k, &loop, 0));
  y = two(k, MIRAGE_OP_ADD, y, over_columns(k, MIRAGE_OP_REDUCE_MAX, total(k, &loop, 2)));
  y = two(k, MIRAGE_OP_ADD, y, total(k, &loop, 3));
  Tile g = load(k, along(k, ROW, COL), MIRAGE_FILL_ZERO);
  return k->missing ? g : two(k, MIRAGE_OP_MUL, g, y);
}

// Statistics of the row in one loop, the result in another; both walk DEPTH, which is then the result's last axis.
static Tile two_passes(Kernels *k) {
  Loop first = {0}, second = {0};
  carry(&first, MIRAGE_COMBINE_SUM, filled(k, along(k, ROW, ONE), 0));
  open(k, &first);
  Tile x = load(k, along(k, ROW, DEPTH), MIRAGE_FILL_ZERO);
  if (k->missing)
    return x;
  x = decorate(k, x, 1);
  if (k->missing)
    return x;
  first.contributions[0] = over_columns(k, MIRAGE_OP_REDUCE_SUM, one(k, MIRAGE_OP_SQUARE, x));
  close(k, &first);
  Tile root = one(k, MIRAGE_OP_SQRT, two(k, MIRAGE_OP_ADD, total(k, &first, 0), number(k, 1)));
  open(k, &second);
  x = load(k, along(k, ROW, DEPTH), any_fill(k));
  if (k->missing)
    return x;
  Tile y = decorate(k, two(k, MIRAGE_OP_DIV, x, root), 1);
  if (k->missing)
    return y;
  store(k, y);
  close(k, &second);
  return y;
}

static Tile one_pass(Kernels *k) {
  Tile x = fetch(k, ROW, COL);
  return k->missing ? x : decorate(k, x, 4);
}

static Tile low_rank(Kernels *k, Tile y) {
  Tile a = load(k, along(k, ROW, INNER), MIRAGE_FILL_ZERO);
  if (k->missing)
    return a;
  Tile b = fetch(k, INNER, COL);
  return k->missing ? b : two(k, MIRAGE_OP_ADD, y, product(k, a, false, b, false));
}

// ---------------------------------------------------------------------------------------------------------------
// kernels

enum { PRODUCT, ROWS, ATTENTION, CARRIES, PASSES, NUM_SKELETONS };

static void draw_axes(Kernels *k, uint32_t skeleton) {
  static const int8_t orders[][3] = {{COL, ROW, BATCH}, {ROW, COL, BATCH}, {BATCH, COL, ROW}, {BATCH, ROW, COL}};
  const int8_t *order = orders[choose(k->choices, 4)];
  k->even = once_in(k->choices, 3);
  k->batch = k->feed.index ? mirage_ugraph_type(k->graph, k->feed)->rank == 3 : once_in(k->choices, 3);
  for (int a = 0; a < NUM_AXES; a++)
    k->axes[a] =
        (Axis){.extent = a == BATCH ? 1 + choose(k->choices, 4) : extent(k), .parts = 1, .range = 1, .grid = -1};
  k->meet_axis = -1;
  for (int8_t g = 0; g < 3; g++) {
    Axis *axis = &k->axes[order[g]];
    if (order[g] == BATCH && !k->batch)
      continue;
    if (order[g] == COL && skeleton == PASSES)
      continue; // not an axis of the result
    axis->parts = at_most(parts(k, 4), axis->extent);
    axis->grid = g;
  }
  if (k->feed.index) { // so that the first load fits what the kernel before left
    const MirageType *type = mirage_ugraph_type(k->graph, k->feed);
    int8_t last = skeleton == ROWS ? COL : skeleton == ATTENTION ? INNER : DEPTH;
    k->axes[BATCH].extent = type->shape[0];
    k->axes[ROW].extent = type->shape[type->rank - 2];
    k->axes[last].extent = type->shape[type->rank - 1];
    for (int a = 0; a < NUM_AXES; a++)
      k->axes[a].parts = at_most(k->axes[a].parts, k->axes[a].extent);
  }
  k->axes[DEPTH].range = at_most(k->even ? 1 << choose(k->choices, 3) : parts(k, 5), k->axes[DEPTH].extent);
}

// Blocks that share the contraction, along a grid axis that is free.
static void draw_meeting(Kernels *k, uint32_t skeleton) {
  k->meet = MEET_NOT;
  k->cyclic = false;
  for (int g = 2; g >= 0 && skeleton == PRODUCT && once_in(k->choices, 3); g--) {
    bool taken = false;
    for (int a = 0; a < NUM_AXES; a++)
      taken |= k->axes[a].grid == g;
    if (taken)
      continue;
    k->meet_axis = g;
    k->meet = (Meet)(1 + choose(k->choices, 3));
    k->cyclic = once_in(k->choices, 2);
    return;
  }
}

// Warps that copy and warps that compute.
static void draw_roles(Kernels *k, MirageSchedule *schedule) {
  static const int32_t producers[] = {4, 1}, consumers[] = {4, 8};
  int32_t copy = producers[choose(k->choices, 2)], compute = consumers[choose(k->choices, 2)];
  bool registers = copy == 4 && once_in(k->choices, 2);
  schedule->warps = copy + compute;
  schedule->num_roles = 2;
  schedule->roles[0] = (MirageRole){MIRAGE_ROLE_PRODUCER, copy, registers ? 40 : 0};
  schedule->roles[1] = (MirageRole){MIRAGE_ROLE_CONSUMER, compute, registers ? 232 : 0};
}

static void draw_loads(Kernels *k, MirageSchedule *schedule) {
  static const MirageLanding landings[] = {MIRAGE_LANDING_AUTO, MIRAGE_LANDING_ASYNC, MIRAGE_LANDING_REGISTER,
                                           MIRAGE_LANDING_TENSOR, MIRAGE_LANDING_BULK};
  int32_t stages = (int32_t)choose(k->choices, 5);
  uint32_t same = choose(k->choices, 6); // most often all loads land alike
  schedule->num_loads = k->now->num_operands;
  for (uint32_t i = 0; i < MOST_OPERANDS; i++) {
    MirageLanding landing = landings[same < 5 ? same : choose(k->choices, 5)];
    bool copied = landing != MIRAGE_LANDING_AUTO && landing != MIRAGE_LANDING_REGISTER;
    schedule->loads[i] = (MirageLoadSchedule){.landing = landing, .stages = copied ? stages : 0};
    schedule->loads[i].multicast = once_in(k->choices, 4) && k->clustered;
  }
}

static bool draw_schedule(Kernels *k, MirageSchedule *schedule) {
  static const int32_t warps[] = {0, 4, 1, 2, 8, 16};
  *schedule = (MirageSchedule){.warps = warps[choose(k->choices, 6)]};
  if (!once_in(k->choices, 2))
    return schedule->warps != 0;
  k->by_hand = true;
  schedule->split = (MirageWarpSplit)choose(k->choices, 4);
  schedule->swap = once_in(k->choices, 8);
  schedule->tile_order = (MirageTileOrder)(once_in(k->choices, 3) ? choose(k->choices, 5) : 0);
  schedule->overlap = (MirageOverlap)choose(k->choices, 4);
  schedule->maxima = (MirageMaxima)choose(k->choices, 2);
  if (once_in(k->choices, 3))
    draw_roles(k, schedule);
  draw_loads(k, schedule);
  return true;
}

// Pairs of neighbouring blocks, which load some tiles alike: for copies that serve them both.
static void draw_cluster(Kernels *k, MirageCustomAttrs *attrs) {
  k->clustered = k->meet == MEET_CLUSTER;
  if (k->clustered)
    attrs->cluster[k->meet_axis] = BLOCKS_THAT_MEET;
  bool wanted = once_in(k->choices, 4) && k->meet == MEET_NOT;
  for (int a = 0; a < 3 && wanted && !k->clustered; a++)
    if (attrs->grid[a] % 2 == 0) {
      attrs->cluster[a] = 2;
      k->clustered = true;
    }
}

static void open_kernel(Kernels *k) {
  MirageCustomAttrs attrs = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}};
  MirageSchedule schedule;
  MirageValue operands[MOST_OPERANDS];
  for (int a = 0; a < NUM_AXES; a++)
    if (k->axes[a].grid >= 0)
      attrs.grid[k->axes[a].grid] = k->axes[a].parts;
  if (k->meet_axis >= 0)
    attrs.grid[k->meet_axis] = BLOCKS_THAT_MEET;
  draw_cluster(k, &attrs);
  if (draw_schedule(k, &schedule))
    attrs.schedule = &schedule;
  for (uint32_t i = 0; i < k->now->num_operands; i++)
    operands[i] = k->now->input[i] < 0 ? k->feed : mirage_ugraph_get_input(k->graph, (uint32_t)k->now->input[i]);
  k->custom =
      mirage_ugraph_open_custom(k->graph, k->now->num_operands, operands, k->now->num_results, k->now->results, &attrs);
}

static Tile body(Kernels *k, uint32_t skeleton) {
  switch (skeleton) {
  case PRODUCT:
    return product_over_loop(k);
  case ATTENTION:
    return attention(k);
  case CARRIES:
    return all_carries(k);
  case PASSES:
    return two_passes(k);
  default:
    return one_pass(k);
  }
}

static void build_kernel(Kernels *k) {
  static const MirageDType dtypes[] = {MIRAGE_F16, MIRAGE_BF16, MIRAGE_F16, MIRAGE_F32};
  uint32_t skeleton = choose(k->choices, NUM_SKELETONS);
  k->dtype = k->feed.index ? mirage_ugraph_type(k->graph, k->feed)->dtype : dtypes[choose(k->choices, 4)];
  k->used_operands = k->used_results = k->num_loads = 0;
  k->in_loop = false;
  draw_axes(k, skeleton);
  draw_meeting(k, skeleton);
  open_kernel(k);
  Tile y = body(k, skeleton);
  if (k->missing || skeleton == PASSES)
    return;
  bool parts = k->meet_axis >= 0;
  if (!parts && once_in(k->choices, 4))
    y = low_rank(k, y);
  if (!k->missing)
    y = decorate(k, y, 2);
  if (k->missing)
    return;
  store(k, y);
  if (!parts && once_in(k->choices, 4)) { // a second result
    y = function(k, y);
    if (k->axes[COL].parts == 1 && once_in(k->choices, 2))
      y = over_columns(k, MIRAGE_OP_REDUCE_SUM, y);
    store(k, y);
  }
}

// ----------------------------------------------------------------------------------------------------------------
// rounds

static void build(Kernels *k) {
  uint32_t count = 1 + once_in(k->choices, 4);
  k->feed = (MirageValue){0};
  k->by_hand = false;
  MirageNode last = {0};
  for (uint32_t i = 0; i < count && !k->missing; i++) {
    k->now = &k->kernels[i];
    if (last.index)
      k->feed = mirage_ugraph_result(k->graph, last, 0);
    build_kernel(k);
    if (k->missing)
      return;
    mirage_ugraph_close(k->graph, 0, NULL);
    last = k->custom;
  }
  MirageValue results[MOST_RESULTS];
  for (uint32_t i = 0; i < k->now->num_results; i++)
    results[i] = mirage_ugraph_result(k->graph, last, i);
  if (once_in(k->choices, 4)) // an operator of the kernel level behind
    results[0] = mirage_ugraph_apply(k->graph, MIRAGE_OP_TANH, 1, results, NULL);
  mirage_ugraph_return(k->graph, k->now->num_results, results);
}

MirageUGraph *random_kernels(Choices *choices, bool *out_by_hand) {
  Kernels k = {.choices = choices, .missing = true};
  for (int round = 0; round < 2 * MOST_KERNELS * (MOST_OPERANDS + MOST_RESULTS) && k.missing; round++) {
    k.graph = mirage_ugraph_create(NULL, "random", NULL);
    for (uint32_t i = 0; i < k.num_inputs; i++)
      mirage_ugraph_input(k.graph, k.inputs[i]);
    k.missing = false;
    choices->next = 0;
    build(&k);
    *out_by_hand = k.by_hand;
    if (!k.missing && mirage_ugraph_finish(k.graph) == MIRAGE_OK)
      return k.graph;
    mirage_ugraph_destroy(k.graph);
  }
  return NULL;
}
