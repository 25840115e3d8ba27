// functions.c - element-wise functions that are sugar, as other operators: on tensors of a program, and on tiles of a block.
//
//   abs(x)           max(x, -x)
//   sign(x)          (0 < x) - (x < 0), of predicates as 0 and 1
//   log1p(x)         log(1 + x)
//   softplus(x)      max(x, 0) + log(1 + exp(-|x|)): log(1 + exp(x)), which never overflows
//   hard_sigmoid(x)  clamp(x / 6 + 1/2, 0, 1);  hard_swish(x)  x times that
//   leaky_relu(x)    max(x, slope x), or min where the slope is above 1
//   pow(x)           products of x and of its square root where the exponent is whole or half; else exp(exponent log(x)), which
//                    below 0 is no number, as it should be
//   clamp(x)         min(max(x, low), high)
//
// What they are made of has no derived operator in it: -y is y * -1, and min(x, y) -max(-x, -y).
#include "mirage/ugraph.h"

#include <math.h>

static MirageValue unary(MirageUGraph *g, MirageOp op, MirageValue x) {
  return mirage_ugraph_apply(g, op, 1, &x, NULL);
}

static MirageValue binary(MirageUGraph *g, MirageOp op, MirageValue x, MirageValue y) {
  return mirage_ugraph_apply(g, op, 2, (MirageValue[]){x, y}, NULL);
}

static MirageDType dtype_of(MirageUGraph *g, MirageValue x) { return mirage_ugraph_type(g, x)->dtype; }

// A tile's in f32, in which blocks compute.
static MirageValue number(MirageUGraph *g, MirageValue like, double value) {
  const MirageType *type = mirage_ugraph_type(g, like);
  return mirage_ugraph_constant(g,
                                type->space == MIRAGE_SPACE_DEVICE ? mirage_type_tensor(type->dtype, 0, NULL)
                                                                   : mirage_type_tile(MIRAGE_F32, 0, NULL),
                                value);
}

static MirageValue times(MirageUGraph *g, MirageValue x, double factor) {
  return binary(g, MIRAGE_OP_MUL, x, number(g, x, factor));
}

static MirageValue at_least(MirageUGraph *g, MirageValue x, double least) {
  return binary(g, MIRAGE_OP_MAX, x, number(g, x, least));
}

static MirageValue at_most(MirageUGraph *g, MirageValue x, double most) {
  return times(g, at_least(g, times(g, x, -1), -most), -1);
}

static MirageValue absolute(MirageUGraph *g, MirageValue x) { return binary(g, MIRAGE_OP_MAX, x, times(g, x, -1)); }

static MirageValue sign(MirageUGraph *g, MirageValue x) {
  MirageValue zero = number(g, x, 0);
  MirageDType dtype = mirage_ugraph_type(g, x)->space == MIRAGE_SPACE_DEVICE ? dtype_of(g, x) : MIRAGE_F32;
  MirageValue above = mirage_ugraph_cast(g, binary(g, MIRAGE_OP_LESS, zero, x), dtype);
  return binary(g, MIRAGE_OP_SUB, above, mirage_ugraph_cast(g, binary(g, MIRAGE_OP_LESS, x, zero), dtype));
}

static MirageValue log1p_of(MirageUGraph *g, MirageValue x) {
  return unary(g, MIRAGE_OP_LOG, binary(g, MIRAGE_OP_ADD, x, number(g, x, 1)));
}

static MirageValue softplus(MirageUGraph *g, MirageValue x) {
  MirageValue tail = log1p_of(g, unary(g, MIRAGE_OP_EXP, times(g, absolute(g, x), -1)));
  return binary(g, MIRAGE_OP_ADD, at_least(g, x, 0), tail);
}

static MirageValue hard_sigmoid(MirageUGraph *g, MirageValue x) {
  MirageValue sixth = binary(g, MIRAGE_OP_DIV, x, number(g, x, 6));
  return at_most(g, at_least(g, binary(g, MIRAGE_OP_ADD, sixth, number(g, x, 0.5)), 0), 1);
}

static MirageValue leaky_relu(MirageUGraph *g, MirageValue x, double slope) {
  if (slope <= 1)
    return binary(g, MIRAGE_OP_MAX, x, times(g, x, slope));
  return times(g, binary(g, MIRAGE_OP_MAX, times(g, x, -1), times(g, x, -slope)), -1);
}

// x^n, by squares of squares: x^6 = x^2 * (x^2)^2.
static MirageValue whole_power(MirageUGraph *g, MirageValue x, int n) {
  MirageValue result = {0};
  for (; n > 0; n /= 2) {
    if (n % 2)
      result = result.index ? binary(g, MIRAGE_OP_MUL, result, x) : x;
    if (n > 1)
      x = binary(g, MIRAGE_OP_MUL, x, x);
  }
  return result;
}

static MirageValue power(MirageUGraph *g, MirageValue x, double exponent) {
  enum { MOST_HALVES = 8 };
  double size = fabs(exponent), whole = floor(size);
  bool half = size - whole == 0.5 && whole <= MOST_HALVES;
  if (size != whole && !half)
    return unary(g, MIRAGE_OP_EXP, times(g, unary(g, MIRAGE_OP_LOG, x), exponent));
  MirageValue result = whole_power(g, x, (int)whole);
  if (half) {
    MirageValue root = unary(g, MIRAGE_OP_SQRT, x);
    result = result.index ? binary(g, MIRAGE_OP_MUL, result, root) : root;
  }
  return exponent < 0 ? binary(g, MIRAGE_OP_DIV, number(g, x, 1), result) : result;
}

MirageValue mirage_ugraph_apply_function(MirageUGraph *g, MirageOp op, const MirageAttrs *attrs, MirageValue x) {
  if (mirage_ugraph_status(g) != MIRAGE_OK)
    return x;
  switch (op) {
  case MIRAGE_OP_ABS:
    return absolute(g, x);
  case MIRAGE_OP_SIGN:
    return sign(g, x);
  case MIRAGE_OP_LOG1P:
    return log1p_of(g, x);
  case MIRAGE_OP_SOFTPLUS:
    return softplus(g, x);
  case MIRAGE_OP_HARD_SIGMOID:
    return hard_sigmoid(g, x);
  case MIRAGE_OP_HARD_SWISH:
    return binary(g, MIRAGE_OP_MUL, x, hard_sigmoid(g, x));
  case MIRAGE_OP_LEAKY_RELU:
    return leaky_relu(g, x, attrs->slope.slope);
  case MIRAGE_OP_POW:
    return power(g, x, attrs->exponent.exponent);
  case MIRAGE_OP_CLAMP:
    return at_most(g, at_least(g, x, attrs->bounds.low), attrs->bounds.high);
  default:
    return x;
  }
}
