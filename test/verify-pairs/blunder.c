// blunder.c - one change of one number, name or operand of a program, of the kinds that people make.
//
// Some change nothing that is computed; the judge finds out. What is no program any more is taken back.
#include "generate.h"

static int64_t other_number(Draw *draw, const Program *p, int64_t n) {
  if (draw_chance(draw, 50))
    return n + (draw_chance(draw, 50) ? 1 : -1);
  const Shape *shape = &p->instr[draw_below(draw, p->num)].shape;
  return shape->rank ? shape->n[draw_below(draw, shape->rank)] : 2;
}

static bool is_value(Op op) {
  return op != OP_KERNEL && op != OP_OUTPUT && op != OP_LOOP && op != OP_END_LOOP && op != OP_STORE &&
         op != OP_END_KERNEL;
}

// Whether the value `from` may be used by the instruction `at`.
static bool is_visible(const Program *p, int from, int at) {
  int a[MAX_DEPTH], b[MAX_DEPTH], kernel_a, kernel_b;
  int depth_a = enclosing(p, from, a, &kernel_a), depth_b = enclosing(p, at, b, &kernel_b);
  bool visible = is_value(p->instr[from].op) && depth_a <= depth_b && kernel_a == kernel_b;
  for (int l = 0; visible && l < depth_a; l++)
    visible = a[l] == b[l];
  return visible;
}

static const char *other_operand(Draw *draw, Program *p, int i) {
  Instr *at = &p->instr[i];
  bool fixed = at->op == OP_CARRY || at->op == OP_LOOP_RESULT || at->op == OP_KERNEL_RESULT || at->num_args == 0;
  if (fixed)
    return NULL;
  int k = draw_below(draw, at->op == OP_STORE ? 1 : at->num_args);
  for (int tries = 0; tries < 20; tries++) {
    int from = draw_below(draw, i);
    bool tensor = at->op == OP_LOAD;
    int loops[MAX_DEPTH], kernel;
    enclosing(p, from, loops, &kernel);
    bool visible = tensor ? kernel < 0 && is_value(p->instr[from].op) : is_visible(p, from, i);
    if (from == at->args[k] || !visible || !same_shape(&p->instr[from].shape, &p->instr[at->args[k]].shape))
      continue;
    at->args[k] = from;
    return "other operand";
  }
  return NULL;
}

static const char *other_op(Draw *draw, Instr *at) {
  static const Op families[][2] = {{OP_ADD, OP_SUB},
                                   {OP_MUL, OP_DIV},
                                   {OP_MAX, OP_MIN},
                                   {OP_MAX, OP_ADD},
                                   {OP_SUM, OP_TOP},
                                   {OP_SUM, OP_MEAN},
                                   {OP_EXP, OP_SIGMOID},
                                   {OP_RELU, OP_SILU},
                                   {OP_GELU, OP_GELU_TANH},
                                   {OP_SQRT, OP_RSQRT},
                                   {OP_GATHER_SUM, OP_GATHER_MAX}};
  for (int tries = 0; tries < 30; tries++) {
    const Op *family = DRAW_FROM(draw, families);
    if (at->op != family[0] && at->op != family[1])
      continue;
    at->op = at->op == family[0] ? family[1] : family[0];
    return "other operator";
  }
  return NULL;
}

static const char *change_access(Draw *draw, const Program *p, Instr *at) {
  const Shape *tensor = &p->instr[at->args[at->op == OP_STORE]].shape;
  int d = draw_below(draw, tensor->rank);
  int64_t n = tensor->n[at->at.order[d]];
  if (may_cycle(&at->at) && draw_chance(draw, 20)) {
    at->at.cyclic = !at->at.cyclic;
    return "other order of grid and loops";
  }
  switch (draw_below(draw, 5)) {
  case 0:
    at->at.fill = (Fill)draw_below(draw, 3);
    return at->op == OP_LOAD ? "other fill" : NULL;
  case 1:
    at->at.grid[draw_below(draw, 3)] = draw_below(draw, tensor->rank + 1) - 1;
    return "other grid map";
  case 2:
    at->at.loop[draw_below(draw, 2)] = draw_below(draw, tensor->rank + 1) - 1;
    return "other loop map";
  case 3: // a window one short, or one tile, so that the last is dropped
    at->at.begin[d] = draw_chance(draw, 70) ? 0 : 1;
    at->at.end[d] = draw_chance(draw, 50) ? n - 1 : n - at->shape.n[d];
    return at->at.end[d] > 0 ? "shorter window" : NULL;
  default:
    if (tensor->rank < 3)
      return NULL;
    at->at.reordered = !at->at.reordered;
    at->at.order[0] = at->at.reordered;
    at->at.order[1] = !at->at.reordered;
    return "other order";
  }
}

static const char *change_number(Draw *draw, Program *p, Instr *at) {
  int64_t step = draw_chance(draw, 50) ? 1 : -1;
  switch (at->op) {
  case OP_CONST:
    at->value = draw_chance(draw, 30) ? at->value * (1 + 0x1p-10) : (double)other_number(draw, p, (int64_t)at->value);
    return "other constant";
  case OP_SUM:
  case OP_TOP:
  case OP_MEAN:
  case OP_SOFTMAX:
    at->dim = draw_below(draw, at->shape.rank);
    return "other dimension";
  case OP_RMS_NORM:
    at->value += 0x1p-8;
    return "other epsilon";
  case OP_SLICE:
    at->begin += step;
    at->end += step;
    return "other slice";
  case OP_CONCAT:
    step = at->args[0];
    at->args[0] = at->args[1];
    at->args[1] = (int)step;
    return "exchanged parts";
  case OP_TRANSPOSE: {
    int d = draw_below(draw, at->shape.rank), e = draw_below(draw, at->shape.rank), perm = at->perm[d];
    at->perm[d] = at->perm[e];
    at->perm[e] = perm;
    return d == e ? NULL : "other permutation";
  }
  case OP_MATMUL:
    *(draw_chance(draw, 50) ? &at->ta : &at->tb) ^= true;
    return "transposed operand";
  case OP_LOOP:
    if (at->num_args && draw_chance(draw, 50)) {
      at->combine[draw_below(draw, at->num_args)] = (Combine)draw_below(draw, 5);
      return "other combine";
    }
    at->extent += step;
    return "other range";
  case OP_KERNEL:
    at->grid[draw_below(draw, 3)] += step;
    for (int axis = 0; axis < 3; axis++)
      at->cluster[axis] = at->cluster[axis] > 1 ? at->grid[axis] : 1;
    return "other grid";
  case OP_GATHER_SUM:
  case OP_GATHER_MAX:
    at->axes[draw_below(draw, 3)] ^= true;
    return "other blocks together";
  case OP_LOAD:
  case OP_STORE:
    return change_access(draw, p, at);
  default:
    return NULL;
  }
}

static bool outputs_keep(const Program *before, const Program *after) {
  for (int o = 0; o < before->num_outputs; o++)
    if (!same_shape(&before->instr[before->outputs[o]].shape, &after->instr[after->outputs[o]].shape))
      return false;
  return true;
}

const char *blunder(Draw *draw, Program *p) {
  static _Thread_local Program changed;
  for (int tries = 0; tries < 100; tries++) {
    copy_program(&changed, p);
    int i = draw_below(draw, p->num), kind = draw_below(draw, 10);
    Instr *at = &changed.instr[i];
    const char *what = kind < 6   ? change_number(draw, &changed, at)
                       : kind < 8 ? other_op(draw, at)
                                  : other_operand(draw, &changed, i);
    if (!what || !infer(&changed, MAX_TENSOR) || !outputs_keep(p, &changed) || work_of(&changed) > 6e6)
      continue;
    copy_program(p, &changed);
    return what;
  }
  return NULL;
}
