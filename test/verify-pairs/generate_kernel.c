// generate_kernel.c - random programs of kernel-level operators, grown from the inputs one operator at a time.
//
// Extents come from a few axes that are equal, multiples, neighbours or coprime, so that numbers may be taken for each
// other. A rough interval of each value keeps functions in their domains and numbers of moderate size; what it cannot
// see the judge notices.
#include "generate.h"

#include <string.h>

enum { FEW_AXES = 4, MAX_AXES = 12 };

typedef struct Grow {
  Draw *draw;
  Program *p;
  int64_t axes[MAX_AXES];
  int num_axes;
  int64_t most; // elements of a value
  bool rational;
  double largest[MAX_INSTRS];
  bool positive[MAX_INSTRS];
} Grow;

int64_t draw_extent(Draw *draw, int64_t beside, int64_t most) {
  static const int64_t pool[] = {1,    2,    3,    4,    5,    6,    7,    8,    9,    12,   13,   16,
                                 17,   24,   31,   32,   33,   48,   63,   64,   65,   96,   100,  127,
                                 128,  200,  255,  256,  333,  500,  512,  777,  1000, 1008, 1023, 1024,
                                 1025, 1500, 2000, 2048, 3000, 3001, 4000, 4096, 4999, 5000};
  int64_t extent = DRAW_FROM(draw, pool);
  switch (beside ? draw_below(draw, 8) : 7) {
  case 0:
  case 1:
    extent = beside;
    break;
  case 2:
    extent = beside * (2 + draw_below(draw, 3));
    break;
  case 3:
    extent = beside + 1;
    break;
  case 4:
    extent = beside - 1;
    break;
  default:
    break;
  }
  if (extent > 5000 || extent > most)
    extent = 1 + draw_below(draw, (int)(most < 40 ? most : 40));
  return extent < 1 ? 1 : extent;
}

// ------------------------------------------------------------------------------------------------------ what is known

static void note(Grow *grow, int i, double largest, bool positive) {
  grow->largest[i] = largest;
  grow->positive[i] = positive;
}

// Keeps the last instruction if it fits, with what is known of it; else takes it back.
static int keep(Grow *grow, int i, double largest, bool positive) {
  grow->p->num_outputs = 1;
  grow->p->outputs[0] = i;
  if (!infer(grow->p, grow->most) || largest > 1e8) {
    grow->p->num--;
    return -1;
  }
  note(grow, i, largest, positive);
  return i;
}

static const Shape *shape_at(const Grow *grow, int i) { return &grow->p->instr[i].shape; }

// ------------------------------------------------------------------------------------------------------------- leaves

static Shape random_shape(Grow *grow) {
  Shape shape = {.rank = 1 + draw_below(grow->draw, grow->num_axes > FEW_AXES ? 4 : 3)};
  for (int tries = 0; tries < 20; tries++) {
    for (int d = 0; d < shape.rank; d++)
      shape.n[d] = draw_chance(grow->draw, 12) ? 1 : grow->axes[draw_below(grow->draw, grow->num_axes)];
    if (elements(&shape) <= grow->most)
      return shape;
    if (shape.rank > 1)
      shape.rank--;
  }
  return shape_of(1, (int64_t[]){1});
}

// Inputs stand first, all of them: there are a few of each useful shape from the start.
static int input(Grow *grow, Shape shape) {
  int i = put_input(grow->p, shape);
  note(grow, i, 4, false);
  return i;
}

static int number(Grow *grow, double value) {
  int i = put_scalar(grow->p, 0, value);
  note(grow, i, fabs(value), value > 0);
  return i;
}

static double random_number(Grow *grow) {
  static const double plain[] = {1, 2, 3, 0.5, -1, 0.25, 4, 5, 0.125, 1.5};
  int64_t axis = grow->axes[draw_below(grow->draw, grow->num_axes)];
  switch (draw_below(grow->draw, 4)) {
  case 0:
    return (double)axis;
  case 1:
    return (axis & (axis - 1)) == 0 ? 1.0 / (double)axis : (double)(axis + 1);
  default:
    return DRAW_FROM(grow->draw, plain);
  }
}

static int pick(Grow *grow) { // the latest values first
  int n = grow->p->num;
  return draw_chance(grow->draw, 55) ? n - 1 - draw_below(grow->draw, n < 3 ? n : 3) : draw_below(grow->draw, n);
}

// ---------------------------------------------------------------------------------------------------------- operators

static int grow_unary(Grow *grow, int a) {
  static const Op rational[] = {OP_SQUARE, OP_NEG};
  static const Op any[] = {OP_SQUARE, OP_NEG,  OP_EXP,       OP_EXP, OP_SIGMOID, OP_SILU, OP_RELU, OP_TANH,
                           OP_ERF,    OP_GELU, OP_GELU_TANH, OP_LOG, OP_SQRT,    OP_SQRT, OP_RSQRT};
  Op op = grow->rational ? DRAW_FROM(grow->draw, rational) : DRAW_FROM(grow->draw, any);
  double size = grow->largest[a];
  if ((op == OP_EXP && size > 8) || ((op == OP_LOG || op == OP_SQRT || op == OP_RSQRT) && !grow->positive[a]))
    return -1;
  double out = op == OP_SQUARE ? size * size : op == OP_EXP ? exp(size) : op == OP_RSQRT ? 1e3 : size + 1;
  bool positive = op == OP_SQUARE || op == OP_EXP || op == OP_SIGMOID || op == OP_SQRT || op == OP_RSQRT;
  return keep(grow, put1(grow->p, op, a), out, positive && (op != OP_SQUARE || grow->p->instr[a].op == OP_INPUT));
}

static int grow_binary(Grow *grow, int a) {
  static const Op ops[] = {OP_ADD, OP_ADD, OP_SUB, OP_MUL, OP_MUL, OP_MUL, OP_DIV, OP_MAX, OP_MIN};
  Op op = ops[draw_below(grow->draw, grow->rational ? 7 : 9)];
  int b = draw_chance(grow->draw, 25) ? number(grow, random_number(grow)) : pick(grow);
  if (op == OP_DIV && !grow->positive[b] && !(grow->rational && grow->p->instr[b].op == OP_INPUT))
    op = OP_MUL;
  double x = grow->largest[a], y = grow->largest[b];
  double out = op == OP_MUL ? x * y : op == OP_DIV ? x * 10 : x + y;
  bool both = grow->positive[a] && grow->positive[b] && op != OP_SUB;
  return keep(grow, put2(grow->p, op, a, b), out, both);
}

static int grow_reduce(Grow *grow, int a) {
  static const Op ops[] = {OP_SUM, OP_SUM, OP_SUM, OP_MEAN, OP_MEAN, OP_TOP};
  Op op = ops[draw_below(grow->draw, grow->rational ? 5 : 6)];
  const Shape *shape = shape_at(grow, a);
  if (shape->rank == 0)
    return -1;
  int dim = draw_below(grow->draw, shape->rank), i;
  int64_t n = shape->n[dim];
  i = put_reduce(grow->p, op, a, dim);
  if (draw_chance(grow->draw, 15) && n % 4 == 0)
    grow->p->instr[i].extent = n / 4;
  return keep(grow, i, op == OP_SUM ? grow->largest[a] * (double)n : grow->largest[a], grow->positive[a]);
}

static int grow_matmul(Grow *grow, int a) {
  const Shape *x = shape_at(grow, a);
  for (int tries = 0; tries < 12; tries++) {
    int b = draw_below(grow->draw, grow->p->num);
    const Shape *y = shape_at(grow, b);
    if (x->rank < 2 || y->rank < 2)
      continue;
    Instr at = {.op = OP_MATMUL,
                .num_args = 2,
                .args = {a, b},
                .ta = draw_chance(grow->draw, 20),
                .tb = draw_chance(grow->draw, 40)};
    int64_t k = x->n[x->rank - 1 - at.ta];
    int i = keep(grow, put(grow->p, &at), grow->largest[a] * grow->largest[b] * (double)k,
                 grow->positive[a] && grow->positive[b]);
    if (i >= 0)
      return i;
  }
  return -1;
}

static int grow_moved(Grow *grow, int a) {
  Shape shape = *shape_at(grow, a);
  double size = grow->largest[a];
  bool positive = grow->positive[a];
  if (shape.rank == 0)
    return -1;
  int d = draw_below(grow->draw, shape.rank), e = draw_below(grow->draw, shape.rank);
  switch (draw_below(grow->draw, 6)) {
  case 0:
    return d == e ? -1 : keep(grow, put_transpose(grow->p, a, d, e), size, positive);
  case 1: {
    int64_t begin = draw_below(grow->draw, (int)shape.n[d]),
            count = 1 + draw_below(grow->draw, (int)(shape.n[d] - begin));
    return keep(grow, put_slice(grow->p, a, d, begin, begin + count), size, positive);
  }
  case 2:
    return keep(grow, put_concat(grow->p, a, pick(grow), d), size, false);
  case 3: // merge two dimensions
    if (d + 1 >= shape.rank)
      return -1;
    shape.n[d] *= shape.n[d + 1];
    for (int k = d + 1; k + 1 < shape.rank; k++)
      shape.n[k] = shape.n[k + 1];
    shape.rank--;
    return keep(grow, put_reshape(grow->p, OP_RESHAPE, a, shape), size, positive);
  case 4:
    return keep(
        grow,
        put(grow->p,
            &(Instr){.op = OP_REPEAT, .num_args = 1, .args = {a}, .dim = d, .extent = 2 + draw_below(grow->draw, 3)}),
        size, positive);
  default:
    if (shape.n[d] != 1)
      return -1;
    shape.n[d] = grow->axes[draw_below(grow->draw, grow->num_axes)];
    return keep(grow, put_reshape(grow->p, OP_BROADCAST, a, shape), size, positive);
  }
}

// Well-known pieces, which random growth meets too rarely: norms, variances, softmax, sums of x w + w.
static int grow_motif(Grow *grow, int a) {
  const Shape shape = *shape_at(grow, a);
  Program *p = grow->p;
  if (shape.rank == 0)
    return -1;
  int last = shape.rank - 1, kind = draw_below(grow->draw, 6);
  if (kind == 0 && !grow->rational && grow->largest[a] < 50)
    return keep(
        grow, put(p, &(Instr){.op = OP_SOFTMAX, .num_args = 1, .args = {a}, .dim = draw_below(grow->draw, shape.rank)}),
        1, true);
  if (kind == 1 && !grow->rational) {
    static const double eps[] = {0, 0x1p-10, 0x1p-17, 1};
    return keep(grow,
                put(p, &(Instr){.op = OP_RMS_NORM, .num_args = 1, .args = {a}, .value = DRAW_FROM(grow->draw, eps)}),
                10, false);
  }
  int count = p->num;
  int first = kind == 2 ? put2(p, OP_MUL, a, pick(grow)) : put_reduce(p, OP_MEAN, a, last);
  double size = grow->largest[a] * 5;
  note(grow, first, size, false);
  int second = kind == 2 ? put2(p, OP_ADD, first, p->instr[first].args[1]) : put2(p, OP_SUB, a, first);
  note(grow, second, size, false);
  int third = kind == 2 ? second : put1(p, OP_SQUARE, second);
  note(grow, third, size * size, false);
  int result = keep(grow, put_reduce(p, kind == 3 ? OP_MEAN : OP_SUM, third, last), size * size * (double)shape.n[last],
                    kind != 2);
  if (result < 0)
    p->num = count;
  return result;
}

static int grow_one(Grow *grow) {
  int a = pick(grow), roll = draw_below(grow->draw, 100), before = grow->p->num;
  int i = roll < 20   ? grow_unary(grow, a)
          : roll < 50 ? grow_binary(grow, a)
          : roll < 65 ? grow_reduce(grow, a)
          : roll < 75 ? grow_matmul(grow, a)
          : roll < 87 ? grow_moved(grow, a)
                      : grow_motif(grow, a);
  if (i < 0)
    grow->p->num = before;
  return i;
}

static void draw_axes(Grow *grow) {
  bool many = draw_chance(grow->draw, 18), large = !many && draw_chance(grow->draw, 55);
  grow->num_axes = many ? MAX_AXES - draw_below(grow->draw, 5) : 2 + draw_below(grow->draw, FEW_AXES - 1);
  // one large axis; the others stay small beside it
  for (int i = 0; i < grow->num_axes; i++)
    grow->axes[i] = draw_extent(grow->draw, i ? grow->axes[draw_below(grow->draw, i)] : 0,
                                i == 0 && large ? 5000
                                : many          ? 12
                                                : 200);
}

static bool is_used(const Program *p, int i) {
  for (int k = i + 1; k < p->num; k++)
    for (int a = 0; a < p->instr[k].num_args; a++)
      if (p->instr[k].args[a] == i)
        return true;
  return false;
}

bool generate_kernel_level(Draw *draw, Program *out) {
  Grow *grow = &(Grow){.draw = draw, .p = out, .rational = draw_chance(draw, 50)};
  grow->most = draw_chance(draw, 40) ? 400000 : draw_chance(draw, 50) ? 30000 : 4000;
  clear_program(out);
  draw_axes(grow);
  for (int i = 0, n = 2 + draw_below(draw, 4) + (grow->num_axes > FEW_AXES ? 3 : 0); i < n; i++)
    input(grow, random_shape(grow));
  int wanted = 1 + draw_below(draw, 12), grown = 0;
  for (int tries = 0; tries < 120 && grown < wanted; tries++)
    grown += grow_one(grow) >= 0;
  out->num_outputs = 0;
  for (int i = out->num - 1; i >= 0 && out->num_outputs < 2; i--) // the last value, and sometimes one more
    if (out->instr[i].op != OP_INPUT && out->instr[i].op != OP_CONST && !is_used(out, i) &&
        (out->num_outputs == 0 || draw_chance(draw, 30)))
      out->outputs[out->num_outputs++] = i;
  return grown > 0 && out->num_outputs > 0 && infer(out, MAX_TENSOR) &&
         work_of(out) < (draw_chance(draw, 35) ? 6e6 : 1.5e6);
}
