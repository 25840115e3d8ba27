// generate_scheduled.c - programs over rows R, an axis K that is reduced, and columns N, as kernels.
//
// Source:   element-wise operators on [R|1, K|1], reductions over K, products [R, K] @ [K, N], and what follows them.
// Target:   one kernel with a pass over K for each level of reductions (what a later level needs is computed again), K
//           split over grid axis y and one or two loops, R over x, N over z; the parts of y meet in a cluster, in the
//           grid, or in what follows the kernel. Splits need not divide; fills of masked tails are searched so that
//           they add nothing, and where none does the split is made even - mostly.
// Example:  sum(exp(x) v) with x's tail filled by bottom: exp(bottom) v = 0.
#include "generate.h"

#include <string.h>

typedef enum Kind { KIND_ONE, KIND_K, KIND_N } Kind; // what the last dimension is

typedef struct Schedule {
  Draw *draw;
  const Program *from;
  Program *to;
  int64_t rows, k, n;
  Kind kind[MAX_INSTRS];
  bool wide[MAX_INSTRS]; // has the row axis
  int level[MAX_INSTRS], levels;
  int64_t grid[3], loops[2]; // of K: grid[1], then the loops
  int num_loops;
  bool in_cluster, second_kernel, cyclic;
  int global[MAX_INSTRS], local[MAX_INSTRS]; // values in `to`: of the whole kernel, of this pass
  Fill fill[MAX_INSTRS];
} Schedule;

static bool is_reduction(const Instr *at) {
  return at->op == OP_SUM || at->op == OP_TOP || at->op == OP_MEAN || at->op == OP_MATMUL;
}

// ------------------------------------------------------------------------------------------------------------- source

static int grow_row_op(Schedule *s, Program *p, bool rational, double *size, bool *positive) {
  static const Op binary[] = {OP_ADD, OP_SUB, OP_MUL, OP_MUL, OP_MAX};
  static const Op unary[] = {OP_EXP, OP_SQUARE, OP_SILU, OP_RELU, OP_SQRT, OP_NEG, OP_TANH};
  int a = p->num - 1 - draw_below(s->draw, p->num < 4 ? p->num : 4), b = draw_below(s->draw, p->num),
      roll = draw_below(s->draw, 100), i;
  if (p->instr[a].shape.rank != 2)
    return -1;
  if (roll < 25) {
    Op op = rational ? OP_SQUARE : DRAW_FROM(s->draw, unary);
    if ((op == OP_EXP && size[a] > 8) || (op == OP_SQRT && !positive[a]))
      return -1;
    i = put1(p, op, a);
    size[i] = op == OP_EXP ? exp(size[a]) : op == OP_SQUARE ? size[a] * size[a] : size[a];
    positive[i] = op == OP_EXP || op == OP_SQUARE || op == OP_SQRT;
    s->kind[i] = s->kind[a];
  } else if (roll < 60) {
    bool ratio = positive[b] && draw_chance(s->draw, 50);
    if ((s->kind[a] == KIND_K && s->kind[b] == KIND_N) || (s->kind[a] == KIND_N && s->kind[b] == KIND_K))
      return -1;
    Op op = ratio ? OP_DIV : binary[draw_below(s->draw, rational ? 4 : 5)];
    i = put2(p, op, a, b);
    size[i] = op == OP_MUL ? size[a] * size[b] : size[a] * 3 + size[b];
    positive[i] = positive[a] && positive[b] && op != OP_SUB;
    s->kind[i] = s->kind[a] > s->kind[b] ? s->kind[a] : s->kind[b];
  } else if (roll < 85 || p->instr[b].op != OP_INPUT || s->kind[b] != KIND_N) {
    if (s->kind[a] != KIND_K)
      return -1;
    Op op = rational ? OP_SUM : draw_chance(s->draw, 70) ? OP_SUM : OP_TOP;
    i = put_reduce(p, draw_chance(s->draw, 25) ? OP_MEAN : op, a, 1);
    size[i] = size[a] * (double)s->k;
    positive[i] = positive[a];
    s->kind[i] = KIND_ONE;
  } else {
    if (s->kind[a] != KIND_K)
      return -1;
    i = put2(p, OP_MATMUL, a, b);
    size[i] = size[a] * size[b] * (double)s->k;
    positive[i] = false;
    s->kind[i] = KIND_N;
  }
  p->num_outputs = 1;
  p->outputs[0] = i;
  if (size[i] < 1e7 && infer(p, MAX_TENSOR))
    return i;
  p->num--;
  return -1;
}

static bool grow_source(Schedule *s, Program *p) {
  double size[MAX_INSTRS];
  bool positive[MAX_INSTRS] = {false}, rational = draw_chance(s->draw, 45);
  clear_program(p);
  const Shape shapes[] = {{2, {s->rows, s->k}}, {2, {1, s->k}},    {2, {s->rows, 1}},
                          {1, {s->k}},          {2, {s->k, s->n}}, {2, {s->rows, s->k}}};
  static const Kind kinds[] = {KIND_K, KIND_K, KIND_ONE, KIND_K, KIND_N, KIND_K};
  for (int i = 0; i < 6; i++)
    if (i == 0 || draw_chance(s->draw, i == 4 ? 70 : 40)) {
      s->kind[p->num] = kinds[i];
      size[put_input(p, shapes[i])] = 4;
    }
  if (draw_chance(s->draw, 25)) { // a part of a wider tensor
    int64_t begin = draw_below(s->draw, 9), extra = begin + draw_below(s->draw, 9);
    int whole_tensor = put_input(p, shape_of(2, (int64_t[]){s->rows, s->k + extra}));
    s->kind[whole_tensor] = KIND_K;
    size[whole_tensor] = 1e9; // of no other use
    int part = put_slice(p, whole_tensor, 1, begin, begin + s->k);
    s->kind[part] = KIND_K;
    size[part] = 4;
    p->num_outputs = 1;
    p->outputs[0] = part;
    infer(p, MAX_TENSOR);
  }
  for (int i = 0, n = draw_below(s->draw, 3); i < n; i++) {
    double value = i == 0 ? (double)s->k : 1 + draw_below(s->draw, 5);
    s->kind[p->num] = KIND_ONE;
    positive[p->num] = true;
    size[put_scalar(p, 2, value)] = value;
  }
  int grown = 0, reductions = 0;
  for (int tries = 0, wanted = 2 + draw_below(s->draw, 9);
       tries < 150 && (grown < wanted || (!reductions && grown < 14)); tries++) {
    int i = grow_row_op(s, p, rational, size, positive);
    grown += i >= 0;
    reductions += i >= 0 && is_reduction(&p->instr[i]);
  }
  return grown > 0 && p->instr[p->num - 1].op != OP_INPUT && p->instr[p->num - 1].op != OP_CONST &&
         infer(p, MAX_TENSOR) && work_of(p) < 8e6;
}

// ------------------------------------------------------------------------------------------ what each value depends on

static bool is_window(const Program *p, int i) {
  return p->instr[i].op == OP_SLICE && p->instr[p->instr[i].args[0]].op == OP_INPUT &&
         p->instr[i].dim == p->instr[i].shape.rank - 1;
}

// Kinds and levels of any program of these operators; false if there is another in it.
static bool analyse(Schedule *s) {
  const Program *p = s->from;
  s->levels = 0;
  for (int i = 0; i < p->num; i++) {
    const Instr *at = &p->instr[i];
    bool plain = at->op == OP_INPUT || is_window(p, i) || at->op == OP_CONST ||
                 (at->op >= OP_EXP && at->op <= OP_MIN) || is_reduction(at);
    if (!plain || at->ta || at->tb || at->shape.rank > 2)
      return false;
    int level = 0;
    Kind kind = at->op == OP_INPUT ? s->kind[i] : KIND_ONE;
    if (at->op == OP_CONST && elements(&at->shape) != 1)
      return false;
    for (int k = 0; k < at->num_args; k++) {
      int a = at->args[k];
      bool part = s->kind[a] == KIND_K && p->instr[a].shape.n[p->instr[a].shape.rank - 1] != s->k;
      if (part != (is_window(p, i) && s->kind[a] == KIND_K))
        return false;
      level = s->level[a] > level ? s->level[a] : level;
      if ((kind == KIND_K && s->kind[a] == KIND_N) || (kind == KIND_N && s->kind[a] == KIND_K))
        if (at->op != OP_MATMUL)
          return false;
      kind = s->kind[a] > kind ? s->kind[a] : kind;
    }
    if (is_reduction(at)) {
      bool over_k = s->kind[at->args[0]] == KIND_K &&
                    (at->op == OP_MATMUL ? p->instr[at->args[1]].op == OP_INPUT && s->kind[at->args[1]] == KIND_N &&
                                               p->instr[at->args[1]].shape.n[0] == s->k
                                         : at->dim == 1 && at->extent == 1 && p->instr[at->args[0]].shape.rank == 2);
      if (!over_k)
        return false;
      level++;
      kind = at->op == OP_MATMUL ? KIND_N : KIND_ONE;
    }
    s->kind[i] = kind;
    s->level[i] = level;
    s->levels = level > s->levels ? level : s->levels;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------ masked
// elements

typedef enum Lane { LANE_ZERO, LANE_ONE, LANE_BOTTOM, LANE_OTHER } Lane;

static Lane lane_of(const Instr *at, Lane a, Lane b) {
  switch (at->op) {
  case OP_EXP:
    return a == LANE_BOTTOM ? LANE_ZERO : a == LANE_ZERO ? LANE_ONE : LANE_OTHER;
  case OP_SQUARE:
  case OP_SQRT:
  case OP_RELU:
    return a == LANE_ZERO || a == LANE_ONE ? a : LANE_OTHER;
  case OP_SILU:
  case OP_TANH:
  case OP_NEG:
    return a == LANE_ZERO ? a : LANE_OTHER;
  case OP_ADD:
    return a == LANE_BOTTOM || b == LANE_BOTTOM ? LANE_BOTTOM : a == LANE_ZERO ? b : b == LANE_ZERO ? a : LANE_OTHER;
  case OP_SUB:
    return a == LANE_BOTTOM ? a : a == LANE_ZERO && b == LANE_ZERO ? LANE_ZERO : LANE_OTHER;
  case OP_MUL:
    return (a == LANE_ZERO && b != LANE_BOTTOM) || (b == LANE_ZERO && a != LANE_BOTTOM) ? LANE_ZERO : LANE_OTHER;
  case OP_DIV:
    return a == LANE_ZERO && b != LANE_BOTTOM && b != LANE_ZERO ? LANE_ZERO : LANE_OTHER;
  case OP_MAX:
    return a == b ? a : LANE_OTHER;
  default:
    return LANE_OTHER;
  }
}

// Whether masked elements add nothing to any reduction over K, with these fills.
static bool fills_fit(const Schedule *s) {
  Lane lane[MAX_INSTRS];
  for (int i = 0; i < s->from->num; i++) {
    const Instr *at = &s->from->instr[i];
    Lane a = at->num_args > 0 ? lane[at->args[0]] : LANE_OTHER, b = at->num_args > 1 ? lane[at->args[1]] : LANE_OTHER;
    bool loaded = at->op == OP_INPUT || at->op == OP_SLICE;
    lane[i] = loaded && (s->kind[i] == KIND_K || s->kind[i] == KIND_N) ? (Lane)s->fill[i] : lane_of(at, a, b);
    bool fits = at->op == OP_TOP      ? a == LANE_BOTTOM
                : at->op == OP_MATMUL ? a == LANE_ZERO && b != LANE_BOTTOM
                                      : a == LANE_ZERO;
    if (is_reduction(at) && !fits)
      return false;
    if (is_reduction(at))
      lane[i] = LANE_OTHER;
  }
  return true;
}

static bool find_fills(Schedule *s) {
  for (int tries = 0; tries < 40; tries++) {
    for (int i = 0; i < s->from->num; i++)
      s->fill[i] = (Fill)draw_below(s->draw, 3);
    if (fills_fit(s))
      return true;
  }
  return false;
}

// -------------------------------------------------------------------------------------------------------------- target

static Shape tile_of(const Schedule *s, int i) {
  Shape shape = s->from->instr[i].shape;
  int64_t k = s->k;
  k = (k + s->grid[1] - 1) / s->grid[1];
  for (int l = 0; l < s->num_loops; l++)
    k = (k + s->loops[l] - 1) / s->loops[l];
  if (shape.rank == 2 && shape.n[0] == s->rows && s->wide[i])
    shape.n[0] = (s->rows + s->grid[0] - 1) / s->grid[0];
  if (s->kind[i] == KIND_K)
    shape.n[shape.rank - 1] = k;
  if (s->kind[i] == KIND_N)
    shape.n[shape.rank - 1] = (s->n + s->grid[2] - 1) / s->grid[2];
  return shape;
}

// Map of tensor i's dimensions; K is dimension 0 of a weight.
static Access access_to(const Schedule *s, int i, bool in_loop) {
  const Instr *at = &s->from->instr[i];
  Access access = whole();
  if (at->op == OP_SLICE) {
    access.begin[at->dim] = at->begin;
    access.end[at->dim] = at->end;
  }
  int last = at->shape.rank - 1, k_dim = s->kind[i] == KIND_K                         ? last
                                         : s->kind[i] == KIND_N && at->op == OP_INPUT ? 0
                                                                                      : -1;
  if (s->wide[i])
    access.grid[0] = 0;
  access.grid[1] = k_dim;
  if (s->kind[i] == KIND_N)
    access.grid[2] = last;
  for (int l = 0; in_loop && l < s->num_loops; l++)
    access.loop[l] = k_dim;
  access.fill = s->fill[i];
  access.cyclic = s->cyclic;
  return access;
}

static int emit_value(Schedule *s, int i, bool in_kernel) {
  if (s->global[i] >= 0)
    return s->global[i];
  if (s->local[i] >= 0)
    return s->local[i];
  Instr at = s->from->instr[i];
  bool window = in_kernel && at.op == OP_SLICE;
  if (at.op == OP_INPUT || window) // inputs have the same numbers in both programs
    at = (Instr){.op = OP_LOAD, .num_args = 1, .args = {window ? at.args[0] : i}, .at = access_to(s, i, true)};
  else
    for (int k = 0; k < at.num_args; k++) {
      int value = emit_value(s, at.args[k], in_kernel);
      at.args[k] = value;
    }
  return s->local[i] = put(s->to, &at);
}

static void forget(Schedule *s) { memset(s->local, 0xff, sizeof s->local); }

static Op part_op(const Instr *at) { return at->op == OP_TOP ? OP_TOP : OP_SUM; }

// The number of elements of K; or what it is where all parts are full.
static int count_of(Schedule *s) {
  int64_t tile = s->k, parts = s->grid[1];
  for (int l = 0; l < s->num_loops; l++)
    parts *= s->loops[l];
  tile = (tile + s->grid[1] - 1) / s->grid[1];
  for (int l = 0; l < s->num_loops; l++)
    tile = (tile + s->loops[l] - 1) / s->loops[l];
  int style = draw_below(s->draw, 6);
  if (style > 1)
    return put_scalar(s->to, 2, (double)s->k);
  if (style == 1)
    return put_scalar(s->to, 2, (double)(tile * parts));
  int ones = put_const(s->to, shape_of(2, (int64_t[]){1, tile}), 1);
  return put2(s->to, OP_MUL, put_reduce(s->to, OP_SUM, ones, 1), put_scalar(s->to, 2, (double)parts));
}

// Values of all reductions of one level; carries of the loops around.
static void emit_level(Schedule *s, int level) {
  int reductions[MAX_ARGS], count = 0, inits[MAX_ARGS], loops[2], results[MAX_ARGS];
  for (int i = 0; i < s->from->num; i++)
    if (is_reduction(&s->from->instr[i]) && s->level[i] == level && count < MAX_ARGS - 1)
      reductions[count++] = i;
  for (int c = 0; c < count; c++) {
    bool top = part_op(&s->from->instr[reductions[c]]) == OP_TOP;
    inits[c] = put(s->to, &(Instr){.op = top ? OP_BOTTOM : OP_CONST, .shape = tile_of(s, reductions[c])});
  }
  for (int l = 0; l < s->num_loops; l++) {
    Instr loop = {.op = OP_LOOP, .num_args = count, .extent = s->loops[l]};
    for (int c = 0; c < count; c++) {
      loop.args[c] = inits[c];
      loop.combine[c] = part_op(&s->from->instr[reductions[c]]) == OP_TOP ? COMBINE_MAX : COMBINE_SUM;
    }
    loops[l] = put(s->to, &loop);
    for (int c = 0; c < count; c++)
      put(s->to, &(Instr){.op = OP_CARRY, .num_args = 1, .args = {loops[l]}, .dim = c});
  }
  forget(s);
  for (int c = 0; c < count; c++) {
    Instr at = s->from->instr[reductions[c]];
    for (int k = 0; k < at.num_args; k++)
      at.args[k] = emit_value(s, s->from->instr[reductions[c]].args[k], true);
    at.op = at.op == OP_MEAN ? OP_SUM : at.op;
    results[c] = put(s->to, &at);
  }
  for (int l = s->num_loops - 1; l >= 0; l--) {
    Instr yield = {.op = OP_END_LOOP, .num_args = count};
    memcpy(yield.args, results, sizeof results[0] * (size_t)count);
    put(s->to, &yield);
    for (int c = 0; c < count; c++)
      results[c] = put(s->to, &(Instr){.op = OP_LOOP_RESULT, .num_args = 1, .args = {loops[l]}, .dim = c});
  }
  forget(s);
  for (int c = 0; c < count; c++) {
    const Instr *at = &s->from->instr[reductions[c]];
    int value = results[c];
    if (s->grid[1] > 1 && !s->second_kernel)
      value = put(s->to, &(Instr){.op = part_op(at) == OP_TOP ? OP_GATHER_MAX : OP_GATHER_SUM,
                                  .num_args = 1,
                                  .args = {value},
                                  .axes = {false, true, false},
                                  .in_cluster = s->in_cluster});
    if (at->op == OP_MEAN && !s->second_kernel)
      value = put2(s->to, OP_DIV, value, count_of(s));
    s->global[reductions[c]] = value;
  }
}

// The parts of each reduction go to memory, [parts, R|1, N|1], and are put together behind the kernel.
static void finish_behind(Schedule *s, int kernel) {
  int outs[MAX_INSTRS], first_out = kernel + 1, next = 0;
  for (int i = 0; i < s->from->num; i++) {
    if (!is_reduction(&s->from->instr[i]))
      continue;
    Shape tile = tile_of(s, i), wide = {3, {1, tile.n[0], tile.n[1]}};
    int value = put_reshape(s->to, OP_RESHAPE, s->global[i], wide);
    Instr store = {.op = OP_STORE, .num_args = 2, .args = {value, first_out + next}, .at = whole()};
    store.at.grid[1] = 0;
    store.at.grid[0] = s->wide[i] ? 1 : -1;
    store.at.grid[2] = s->kind[i] == KIND_N ? 2 : -1;
    put(s->to, &store);
    outs[next++] = i;
  }
  put(s->to, &(Instr){.op = OP_END_KERNEL});
  for (int o = 0; o < next; o++) {
    const Instr *at = &s->from->instr[outs[o]];
    int parts = put(s->to, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {first_out + o}});
    int value = put_reshape(s->to, OP_RESHAPE, put_reduce(s->to, part_op(at), parts, 0), at->shape);
    if (at->op == OP_MEAN)
      value = put2(s->to, OP_DIV, value, put_scalar(s->to, 0, (double)s->k));
    s->global[outs[o]] = value;
  }
  for (int i = 0, input = 0; i < s->from->num; i++) // what follows reads the program's inputs themselves
    if (s->from->instr[i].op == OP_INPUT)
      s->global[i] = input++;
  forget(s);
  for (int o = 0; o < s->from->num_outputs; o++)
    s->to->outputs[s->to->num_outputs++] = emit_value(s, s->from->outputs[o], false);
}

static void finish_inside(Schedule *s, int first_out) {
  for (int o = 0; o < s->from->num_outputs; o++) {
    int i = s->from->outputs[o];
    bool loops = s->kind[i] == KIND_K;
    forget(s);
    for (int l = 0; loops && l < s->num_loops; l++)
      put(s->to, &(Instr){.op = OP_LOOP, .extent = s->loops[l]});
    Instr store = {
        .op = OP_STORE, .num_args = 2, .args = {emit_value(s, i, true), first_out + o}, .at = access_to(s, i, loops)};
    store.at.fill = FILL_ZERO;
    put(s->to, &store);
    for (int l = 0; loops && l < s->num_loops; l++)
      put(s->to, &(Instr){.op = OP_END_LOOP});
  }
  put(s->to, &(Instr){.op = OP_END_KERNEL});
  for (int o = 0; o < s->from->num_outputs; o++)
    s->to->outputs[s->to->num_outputs++] =
        put(s->to, &(Instr){.op = OP_KERNEL_RESULT, .num_args = 1, .args = {first_out + o}});
}

// Which values have the row axis: told by what they are made of, for it may be as long as another.
static void find_rows(Schedule *s) {
  for (int i = 0; i < s->from->num; i++) {
    const Instr *at = &s->from->instr[i];
    s->wide[i] =
        at->op == OP_INPUT && at->shape.rank == 2 && s->kind[i] != KIND_N && at->shape.n[0] == s->rows && s->rows > 1;
    for (int k = 0; k < (at->op == OP_MATMUL ? 1 : at->num_args); k++)
      s->wide[i] |= s->wide[at->args[k]];
  }
}

static bool lower(Schedule *s, Program *to) {
  s->to = to;
  clear_program(to);
  memset(s->global, 0xff, sizeof s->global);
  find_rows(s);
  for (int i = 0; i < s->from->num; i++)
    if (s->from->instr[i].op == OP_INPUT)
      put_input(to, s->from->instr[i].shape);
  bool needs_k = false;
  for (int o = 0; o < s->from->num_outputs; o++)
    needs_k |= s->kind[s->from->outputs[o]] == KIND_K;
  for (int i = 0; i < s->from->num; i++) // a row value with a K axis may not be needed behind the kernel
    needs_k |= s->kind[i] == KIND_K && s->level[i] > 0;
  s->second_kernel = s->grid[1] > 1 && s->levels == 1 && !needs_k && draw_chance(s->draw, 50);
  Instr kernel = {.op = OP_KERNEL, .cluster = {1, 1, 1}};
  memcpy(kernel.grid, s->grid, sizeof kernel.grid);
  s->in_cluster = s->grid[1] <= 16 && draw_chance(s->draw, 50);
  Draw aside = draw_of(s->draw->state, 0, 0); // what else is drawn stays as it was
  s->cyclic = draw_chance(&aside, 35);
  if (s->in_cluster)
    kernel.cluster[1] = s->grid[1];
  int at = put(to, &kernel);
  if (s->second_kernel) {
    for (int i = 0; i < s->from->num; i++)
      if (is_reduction(&s->from->instr[i])) {
        const Shape *shape = &s->from->instr[i].shape;
        put(to, &(Instr){.op = OP_OUTPUT, .shape = {3, {s->grid[1], shape->n[0], shape->n[1]}}});
      }
  } else {
    for (int o = 0; o < s->from->num_outputs; o++)
      put(to, &(Instr){.op = OP_OUTPUT, .shape = s->from->instr[s->from->outputs[o]].shape});
  }
  forget(s);
  for (int level = 1; level <= s->levels; level++)
    emit_level(s, level);
  if (s->second_kernel)
    finish_behind(s, at);
  else
    finish_inside(s, at + 1);
  return infer(to, MAX_TENSOR) && work_of(to) < 1.6e7;
}

static void draw_splits(Schedule *s, bool even) {
  static const int64_t parts[] = {1, 1, 2, 2, 3, 4, 5, 7, 8, 16, 64};
  int64_t k = s->k, n = s->n, rows = s->rows;
  s->num_loops = draw_below(s->draw, 3);
  for (int tries = 0; tries < 40; tries++) {
    s->grid[0] = parts[draw_below(s->draw, 8)];
    s->grid[1] = DRAW_FROM(s->draw, parts);
    s->grid[2] = parts[draw_below(s->draw, 6)];
    s->loops[0] = parts[2 + draw_below(s->draw, 9)];
    s->loops[1] = parts[2 + draw_below(s->draw, 4)];
    int64_t total = s->grid[1];
    for (int l = 0; l < s->num_loops; l++)
      total *= s->loops[l];
    bool fits = s->grid[0] <= rows && s->grid[2] <= n && total <= 2 * k && s->grid[0] * s->grid[1] * s->grid[2] <= 128;
    if (fits && (!even || k % total == 0))
      return;
  }
  s->grid[0] = s->grid[1] = s->grid[2] = 1;
  s->num_loops = 0;
}

bool generate_scheduled(Draw *draw, Pair *pair) {
  Schedule *s = &(Schedule){.draw = draw};
  s->k = draw_extent(draw, 0, draw_chance(draw, 50) ? 5000 : 300);
  s->rows = draw_extent(draw, draw_chance(draw, 30) ? s->k : 0, s->k > 300 && draw_chance(draw, 60) ? 8 : 60);
  s->n = draw_extent(draw, draw_chance(draw, 50) ? s->k : s->rows, s->k > 300 && draw_chance(draw, 60) ? 16 : 80);
  if (!grow_source(s, &pair->source))
    return false;
  s->from = &pair->source;
  static _Thread_local Program changed;
  bool slip = draw_chance(draw, 25);
  const char *rule = draw_chance(draw, 40) ? rewrite(draw, &pair->source, slip, &changed) : NULL;
  if (rule) {
    s->from = &changed;
    if (analyse(s) && s->levels > 0) {
      tell(pair, slip ? "slip:" : "rule:");
      tell(pair, rule);
    } else {
      s->from = &pair->source;
    }
  }
  if (!analyse(s) || s->levels == 0)
    return false;
  bool fills = find_fills(s);
  draw_splits(s, !fills && !draw_chance(draw, 15));
  return lower(s, &pair->target);
}
