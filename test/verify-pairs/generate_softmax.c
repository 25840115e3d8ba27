// generate_softmax.c - weighted means over K keys, split and put together again, with parts that may be empty.
//
//   y = sum_k w_k v_k / sum_k w_k       w = exp(s - max), exp(s), or s itself (then all is rational);  s = x, or q @
//   k^T + b
//
// K is split over a loop and over grid axis y; the parts of y meet in a cluster, in the grid or behind the kernel; a
// maximum runs along the loop (sums are rescaled) and is made common to the parts. Each part may be divided by its own
// sum before it is weighted with it again: right, unless it has no elements and so no value.
#include "generate.h"

#include <string.h>

#include <string.h>

typedef struct Split {
  Draw *draw;
  Program *p;
  int64_t rows, keys, depth, columns;
  bool product; // s = q @ k^T + b
  bool exponential, maximum;
  bool part_normal, loop_normal; // parts of y, and of the loop, divided by their own sum
  bool second_kernel, in_cluster, forget_factor, stale_maximum, cyclic;
  int64_t grid_x, parts, range;
  int q, k, b, x, v; // tensors
} Split;

enum { TOP_PART, SUM_PART, VALUE_PART, NUM_PARTS };

static int scores_of_source(Split *s) {
  if (!s->product)
    return s->x;
  Instr product = {.op = OP_MATMUL, .num_args = 2, .args = {s->q, s->k}, .tb = true};
  return put2(s->p, OP_ADD, put(s->p, &product), s->b);
}

static void put_inputs(Split *s) {
  if (s->product) {
    s->q = put_input(s->p, shape_of(2, (int64_t[]){s->rows, s->depth}));
    s->k = put_input(s->p, shape_of(2, (int64_t[]){s->keys, s->depth}));
    s->b = put_input(s->p, shape_of(2, (int64_t[]){1, s->keys}));
  } else {
    s->x = put_input(s->p, shape_of(2, (int64_t[]){s->rows, s->keys}));
  }
  s->v = put_input(s->p, shape_of(2, (int64_t[]){s->keys, s->columns}));
}

static void build_source(Split *s) {
  put_inputs(s);
  int scores = scores_of_source(s), weights = scores;
  if (s->exponential && draw_chance(s->draw, 50)) {
    weights = put(s->p, &(Instr){.op = OP_SOFTMAX, .num_args = 1, .args = {scores}, .dim = 1});
    s->p->outputs[s->p->num_outputs++] = put2(s->p, OP_MATMUL, weights, s->v);
    return;
  }
  if (s->exponential && draw_chance(s->draw, 60))
    scores = put2(s->p, OP_SUB, scores, put_reduce(s->p, OP_TOP, scores, 1));
  if (s->exponential)
    weights = put1(s->p, OP_EXP, scores);
  int sum = put_reduce(s->p, OP_SUM, weights, 1);
  bool late = draw_chance(s->draw, 50);
  int y = put2(s->p, OP_MATMUL, late ? weights : put2(s->p, OP_DIV, weights, sum), s->v);
  s->p->outputs[s->p->num_outputs++] = late ? put2(s->p, OP_DIV, y, sum) : y;
}

// ------------------------------------------------------------------------------------------------------------- a part

static int load(Split *s, int tensor, int row_dim, int key_dim, Fill fill, bool in_loop) {
  Instr at = {.op = OP_LOAD, .num_args = 1, .args = {tensor}, .at = whole()};
  at.at.grid[0] = row_dim;
  at.at.grid[1] = key_dim;
  at.at.loop[0] = in_loop ? key_dim : -1;
  at.at.cyclic = s->cyclic;
  at.at.fill = draw_chance(s->draw, 3) ? (Fill)draw_below(s->draw, 3) : fill;
  return put(s->p, &at);
}

static int scores_of_tile(Split *s, bool in_loop) {
  Fill masked = s->exponential ? FILL_BOTTOM : FILL_ZERO;
  if (!s->product)
    return load(s, s->x, 0, 1, masked, in_loop);
  Instr product = {.op = OP_MATMUL, .num_args = 2, .args = {load(s, s->q, 0, -1, FILL_ZERO, false), 0}, .tb = true};
  product.args[1] = load(s, s->k, -1, 0, FILL_ZERO, in_loop);
  return put2(s->p, OP_ADD, put(s->p, &product), load(s, s->b, -1, 1, masked, in_loop));
}

static int constant(Split *s, int64_t columns, bool bottom) {
  int64_t rows = (s->rows + s->grid_x - 1) / s->grid_x;
  return put(s->p, &(Instr){.op = bottom ? OP_BOTTOM : OP_CONST, .shape = {2, {rows, columns}}});
}

// exp(s - top), exp(s) or s.
static int weigh(Split *s, int scores, int top) {
  if (!s->exponential)
    return scores;
  return put1(s->p, OP_EXP, s->maximum ? put2(s->p, OP_SUB, scores, top) : scores);
}

// exp(old - new), or 1 where the rescaling is forgotten.
static int factor(Split *s, int old, int new) {
  return s->forget_factor ? put_scalar(s->p, 2, 1) : put1(s->p, OP_EXP, put2(s->p, OP_SUB, old, new));
}

static int values_of(Split *s, int weights, int sum, bool in_loop) {
  int y = put2(s->p, OP_MATMUL, weights, load(s, s->v, -1, 0, FILL_ZERO, in_loop));
  return s->loop_normal ? put2(s->p, OP_MUL, put2(s->p, OP_DIV, y, sum), sum) : y;
}

static void emit_loop(Split *s, int out[NUM_PARTS]) {
  Instr loop = {.op = OP_LOOP, .extent = s->range}, yield = {.op = OP_END_LOOP};
  int first = s->maximum ? TOP_PART : SUM_PART, count = NUM_PARTS - first;
  for (int c = first; c < NUM_PARTS; c++) {
    loop.args[loop.num_args] = constant(s, c == VALUE_PART ? s->columns : 1, c == TOP_PART);
    loop.combine[loop.num_args++] = c == TOP_PART ? COMBINE_MAX : s->maximum ? COMBINE_RESCALE : COMBINE_SUM;
  }
  int at = put(s->p, &loop), carry = at + 1;
  for (int c = 0; c < count; c++)
    put(s->p, &(Instr){.op = OP_CARRY, .num_args = 1, .args = {at}, .dim = c});
  int scores = scores_of_tile(s, true), top = -1, next = -1;
  if (s->maximum) {
    top = put_reduce(s->p, OP_TOP, scores, 1);
    next = put2(s->p, OP_MAX, carry, top);
    yield.args[yield.num_args++] = top;
  }
  int weights = weigh(s, scores, s->stale_maximum ? top : next), sum = put_reduce(s->p, OP_SUM, weights, 1);
  yield.args[yield.num_args++] = sum;
  yield.args[yield.num_args++] = values_of(s, weights, sum, true);
  if (s->maximum) {
    int f = factor(s, carry, next);
    yield.args[yield.num_args++] = f;
    yield.args[yield.num_args++] = f;
  }
  put(s->p, &yield);
  for (int c = first; c < NUM_PARTS; c++)
    out[c] = put(s->p, &(Instr){.op = OP_LOOP_RESULT, .num_args = 1, .args = {at}, .dim = c - first});
}

static void emit_part(Split *s, int out[NUM_PARTS]) {
  out[TOP_PART] = -1;
  if (s->range > 1) {
    emit_loop(s, out);
    return;
  }
  int scores = scores_of_tile(s, false);
  if (s->maximum)
    out[TOP_PART] = put_reduce(s->p, OP_TOP, scores, 1);
  int weights = weigh(s, scores, out[TOP_PART]);
  out[SUM_PART] = put_reduce(s->p, OP_SUM, weights, 1);
  out[VALUE_PART] = values_of(s, weights, out[SUM_PART], false);
}

// --------------------------------------------------------------------------------------------------- parts put
// together

static int together(Split *s, Op op, int value, bool behind) {
  if (behind)
    return put_reduce(s->p, op == OP_GATHER_MAX ? OP_TOP : OP_SUM, value, 0);
  return put(
      s->p,
      &(Instr){.op = op, .num_args = 1, .args = {value}, .axes = {false, true, false}, .in_cluster = s->in_cluster});
}

static int join(Split *s, const int part[NUM_PARTS], bool behind) {
  int sum = part[SUM_PART], value = part[VALUE_PART];
  if (s->maximum) {
    int top = together(s, OP_GATHER_MAX, part[TOP_PART], behind);
    int f = s->forget_factor && draw_chance(s->draw, 50) ? put_scalar(s->p, 2, 1)
                                                         : put1(s->p, OP_EXP, put2(s->p, OP_SUB, part[TOP_PART], top));
    sum = put2(s->p, OP_MUL, sum, f);
    value = s->part_normal ? value : put2(s->p, OP_MUL, value, f);
  }
  if (s->part_normal)
    value = put2(s->p, OP_MUL, value, sum);
  return put2(s->p, OP_DIV, together(s, OP_GATHER_SUM, value, behind), together(s, OP_GATHER_SUM, sum, behind));
}

static void finish_behind(Split *s, int part[NUM_PARTS], int first_out) {
  int first = s->maximum ? TOP_PART : SUM_PART;
  for (int c = first; c < NUM_PARTS; c++) {
    int64_t rows = (s->rows + s->grid_x - 1) / s->grid_x, columns = c == VALUE_PART ? s->columns : 1;
    int value = put_reshape(s->p, OP_RESHAPE, part[c], shape_of(3, (int64_t[]){1, rows, columns}));
    Instr store = {.op = OP_STORE, .num_args = 2, .args = {value, first_out + c - first}, .at = whole()};
    store.at.grid[0] = 1;
    store.at.grid[1] = 0;
    put(s->p, &store);
  }
  put(s->p, &(Instr){.op = OP_END_KERNEL});
  for (int c = first; c < NUM_PARTS; c++)
    part[c] = put(s->p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {first_out + c - first}});
  int y = join(s, part, true);
  s->p->outputs[s->p->num_outputs++] = put_reshape(s->p, OP_RESHAPE, y, shape_of(2, (int64_t[]){s->rows, s->columns}));
}

static void build_target(Split *s) {
  put_inputs(s);
  Instr kernel = {.op = OP_KERNEL, .grid = {s->grid_x, s->parts, 1}, .cluster = {1, s->in_cluster ? s->parts : 1, 1}};
  int first_out = put(s->p, &kernel) + 1, part[NUM_PARTS];
  for (int c = s->maximum ? TOP_PART : SUM_PART; s->second_kernel && c < NUM_PARTS; c++)
    put(s->p, &(Instr){.op = OP_OUTPUT, .shape = {3, {s->parts, s->rows, c == VALUE_PART ? s->columns : 1}}});
  if (!s->second_kernel)
    put(s->p, &(Instr){.op = OP_OUTPUT, .shape = {2, {s->rows, s->columns}}});
  emit_part(s, part);
  if (s->part_normal)
    part[VALUE_PART] = put2(s->p, OP_DIV, part[VALUE_PART], part[SUM_PART]);
  if (s->second_kernel) {
    finish_behind(s, part, first_out);
    return;
  }
  int y = s->parts > 1     ? join(s, part, false)
          : s->part_normal ? part[VALUE_PART]
                           : put2(s->p, OP_DIV, part[VALUE_PART], part[SUM_PART]);
  Instr store = {.op = OP_STORE, .num_args = 2, .args = {y, first_out}, .at = whole()};
  store.at.grid[0] = 0;
  put(s->p, &store);
  put(s->p, &(Instr){.op = OP_END_KERNEL});
  s->p->outputs[s->p->num_outputs++] = put(s->p, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {first_out}});
}

// Keys that leave the last part ragged, even or empty.
static void draw_keys(Split *s) {
  static const int64_t parts[] = {1, 2, 3, 4, 5, 8, 16, 64}, ranges[] = {1, 1, 2, 3, 4, 5, 8, 16},
                       tiles[] = {1, 2, 3, 4, 5, 8, 16};
  s->parts = DRAW_FROM(s->draw, parts);
  s->range = DRAW_FROM(s->draw, ranges);
  int64_t tile = DRAW_FROM(s->draw, tiles), all = s->parts * s->range;
  if (all * tile > 4000)
    tile = 1 + 4000 / all;
  s->keys = all * tile;
  int kind = draw_below(s->draw, 4); // 0, 1: even
  if (kind == 2)
    s->keys -= draw_below(s->draw, (int)tile);
  if (kind == 3)
    s->keys -= tile * (1 + draw_below(s->draw, 2)) + draw_below(s->draw, (int)tile);
  if (s->keys < 1)
    s->keys = all * tile;
}

bool generate_softmax(Draw *draw, Pair *pair) {
  Split *s = &(Split){.draw = draw, .p = &pair->source};
  draw_keys(s);
  s->rows = 1 + draw_below(draw, s->keys > 200 && draw_chance(draw, 50) ? 4 : 40);
  s->columns = draw_chance(draw, 30) ? s->rows : 1 + draw_below(draw, s->keys > 200 && draw_chance(draw, 50) ? 6 : 48);
  s->depth = 1 + draw_below(draw, 8);
  s->grid_x = draw_chance(draw, 50) || s->rows == 1 ? 1 : 1 + draw_below(draw, (int)(s->rows < 4 ? s->rows : 4));
  s->exponential = draw_chance(draw, 65);
  s->maximum = s->exponential && draw_chance(draw, 65);
  s->product = draw_chance(draw, 35);
  s->part_normal = draw_chance(draw, 30);
  s->loop_normal = draw_chance(draw, 15);
  s->second_kernel = draw_chance(draw, 35);
  s->in_cluster = s->parts <= 16 && draw_chance(draw, 50);
  s->forget_factor = draw_chance(draw, 8);
  s->stale_maximum = draw_chance(draw, 5);
  Draw aside = draw_of(draw->state, 0, 0); // what else is drawn stays as it was
  s->cyclic = draw_chance(&aside, 35);
  clear_program(&pair->source);
  clear_program(&pair->target);
  build_source(s);
  s->p = &pair->target;
  build_target(s);
  if (s->part_normal)
    tell(pair, "parts normalised");
  if (s->loop_normal)
    tell(pair, "steps normalised");
  if (s->forget_factor)
    tell(pair, "factor forgotten");
  if (s->keys <= (s->parts * s->range - 1) * ((s->keys + s->parts * s->range - 1) / (s->parts * s->range)))
    tell(pair, "empty parts");
  return infer(&pair->source, MAX_TENSOR) && infer(&pair->target, MAX_TENSOR) && work_of(&pair->target) < 1.2e7;
}
