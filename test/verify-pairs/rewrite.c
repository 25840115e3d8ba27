// rewrite.c - algebraic identities, each with forms that are nearly right.
//
// A rule looks at one instruction of `from`, and appends to `to` what computes the same - or, with `slip`, what is
// easily taken for it: a count that is one off or another axis's, a term left out, neighbours exchanged. It returns the
// number of its result, or -1 where it does not apply.
#include "generate.h"

#include <string.h>

typedef struct Rewrite {
  Draw *draw;
  const Program *from;
  Program *to;
  int at;
  int map[MAX_INSTRS];
  bool slip;
} Rewrite;

typedef int (*Rule)(Rewrite *r);

static const Instr *self(const Rewrite *r) { return &r->from->instr[r->at]; }
static int arg(const Rewrite *r, int k) { return r->map[self(r)->args[k]]; }
static const Instr *def(const Rewrite *r, int k) { return &r->from->instr[self(r)->args[k]]; }
static int inner(const Rewrite *r, int k, int j) { return r->map[def(r, k)->args[j]]; }
static const Shape *inner_shape(const Rewrite *r, int k, int j) { return &r->from->instr[def(r, k)->args[j]].shape; }
static bool is(const Rewrite *r, Op op) { return self(r)->op == op; }
static bool arg_is(const Rewrite *r, int k, Op op) { return self(r)->num_args > k && def(r, k)->op == op; }
static bool coin(Rewrite *r) { return draw_chance(r->draw, 50); }

// The instruction itself, unchanged.
static int same(Rewrite *r) {
  Instr copy = *self(r);
  for (int k = 0; k < copy.num_args; k++)
    copy.args[k] = r->map[copy.args[k]];
  return put(r->to, &copy);
}

static int64_t any_extent(Rewrite *r) {
  for (int tries = 0; tries < 20; tries++) {
    const Shape *shape = &r->from->instr[draw_below(r->draw, r->from->num)].shape;
    if (shape->rank)
      return shape->n[draw_below(r->draw, shape->rank)];
  }
  return 2;
}

// n, or with a slip a number that is taken for it.
static double count_or_slip(Rewrite *r, int64_t n) {
  if (!r->slip)
    return (double)n;
  switch (draw_below(r->draw, 5)) {
  case 0:
    return (double)(n + 1);
  case 1:
    return (double)(n > 1 ? n - 1 : n);
  case 2:
    return (double)(2 + draw_below(r->draw, 6));
  default:
    return (double)any_extent(r);
  }
}

// Extent of a value along dimension `dim` of a result of rank `rank` that it stretches to.
static int64_t extent_along(const Shape *shape, int rank, int dim) {
  int d = dim - (rank - shape->rank);
  return d < 0 ? 1 : shape->n[d];
}

static int reduce_along(Rewrite *r, Op op, int value, const Shape *shape, int rank, int dim) {
  return put_reduce(r->to, op, value, dim - (rank - shape->rank));
}

// --------------------------------------------------------------------------------------------------- sums and products

static int distribute(Rewrite *r) {
  int k = coin(r);
  if (!is(r, OP_MUL) || !(arg_is(r, k, OP_ADD) || arg_is(r, k, OP_SUB)))
    return -1;
  int c = arg(r, 1 - k), left = put2(r->to, OP_MUL, inner(r, k, 0), c);
  int right = r->slip && coin(r) ? inner(r, k, 1) : put2(r->to, OP_MUL, inner(r, k, 1), c);
  Op op = r->slip && coin(r) ? (def(r, k)->op == OP_ADD ? OP_SUB : OP_ADD) : def(r, k)->op;
  return put2(r->to, op, left, right);
}

static int commute(Rewrite *r) {
  bool right = is(r, OP_ADD) || is(r, OP_MUL) || is(r, OP_MAX) || is(r, OP_MIN);
  if (!right && !(r->slip && (is(r, OP_SUB) || is(r, OP_DIV))))
    return -1;
  return put2(r->to, self(r)->op, arg(r, 1), arg(r, 0));
}

static int reassociate(Rewrite *r) {
  Op op = self(r)->op;
  if (self(r)->num_args != 2 || !arg_is(r, 0, op) || op == OP_CONCAT || op == OP_MATMUL || op == OP_RMS_NORM)
    return -1;
  Op second = op == OP_SUB ? (r->slip ? OP_SUB : OP_ADD) : op == OP_DIV ? (r->slip ? OP_DIV : OP_MUL) : op;
  return put2(r->to, op, inner(r, 0, 0), put2(r->to, second, inner(r, 0, 1), arg(r, 1)));
}

static int divide_by_reciprocal(Rewrite *r) {
  if (!is(r, OP_DIV))
    return -1;
  int one = put_scalar(r->to, 0, r->slip ? 1 + 0x1p-11 : 1);
  return put2(r->to, OP_MUL, arg(r, 0), put2(r->to, OP_DIV, one, arg(r, 1)));
}

static int divide_later(Rewrite *r) {
  if (is(r, OP_MUL) && arg_is(r, 0, OP_DIV))
    return put2(r->to, OP_DIV, put2(r->to, OP_MUL, inner(r, 0, 0), arg(r, 1)), inner(r, 0, 1));
  if (is(r, OP_DIV) && arg_is(r, 0, OP_MUL))
    return put2(r->to, OP_MUL, inner(r, 0, 0),
                put2(r->to, OP_DIV, r->slip ? arg(r, 1) : inner(r, 0, 1), r->slip ? inner(r, 0, 1) : arg(r, 1)));
  return -1;
}

static int add_to_itself(Rewrite *r) {
  if (!is(r, OP_ADD) || self(r)->args[0] != self(r)->args[1])
    return -1;
  return put2(r->to, OP_MUL, arg(r, 0), put_scalar(r->to, 0, count_or_slip(r, 2)));
}

// x = x * 1 = x + 0, and numbers close to these.
static int neutral(Rewrite *r) {
  static const double close[] = {0x1p-12, 0x1p-10, -0x1p-9, 0x1p-14};
  int x = same(r);
  double off = r->slip ? DRAW_FROM(r->draw, close) : 0;
  return coin(r) ? put2(r->to, OP_MUL, x, put_scalar(r->to, 0, 1 + off))
                 : put2(r->to, OP_ADD, x, put_scalar(r->to, 0, off));
}

// ------------------------------------------------------------------------------------------------------- reductions

static bool sums_to_one(const Rewrite *r) { return self(r)->extent == 1; }

// sum(x + y) = sum(x) + sum(y); what does not vary along the axis is counted.
static int sum_of_terms(Rewrite *r) {
  if (!is(r, OP_SUM) || !sums_to_one(r) || !(arg_is(r, 0, OP_ADD) || arg_is(r, 0, OP_SUB)))
    return -1;
  int rank = def(r, 0)->shape.rank, dim = self(r)->dim, parts[2];
  int64_t n = def(r, 0)->shape.n[dim];
  for (int j = 0; j < 2; j++) {
    const Shape *shape = inner_shape(r, 0, j);
    parts[j] = inner(r, 0, j);
    if (extent_along(shape, rank, dim) != 1)
      parts[j] = reduce_along(r, OP_SUM, parts[j], shape, rank, dim);
    else
      parts[j] = put2(r->to, OP_MUL, parts[j], put_scalar(r->to, 0, count_or_slip(r, n)));
  }
  return put2(r->to, def(r, 0)->op, parts[0], parts[1]);
}

// sum(x c) = sum(x) c where c does not vary along the axis.
static int sum_of_product(Rewrite *r) {
  if (!(is(r, OP_SUM) || is(r, OP_MEAN)) || !sums_to_one(r) || !(arg_is(r, 0, OP_MUL) || arg_is(r, 0, OP_DIV)))
    return -1;
  int rank = def(r, 0)->shape.rank, dim = self(r)->dim, k = def(r, 0)->op == OP_MUL ? coin(r) : 1;
  bool varies = extent_along(inner_shape(r, 0, k), rank, dim) != 1;
  if ((varies && !r->slip) || extent_along(inner_shape(r, 0, 1 - k), rank, dim) == 1)
    return -1;
  int c = inner(r, 0, k);
  if (varies)
    c = reduce_along(r, self(r)->op, c, inner_shape(r, 0, k), rank, dim);
  int x = reduce_along(r, self(r)->op, inner(r, 0, 1 - k), inner_shape(r, 0, 1 - k), rank, dim);
  return put2(r->to, def(r, 0)->op, x, c);
}

static int mean_by_count(Rewrite *r) {
  bool mean = is(r, OP_MEAN);
  if (!mean && !is(r, OP_SUM))
    return -1;
  int64_t n = def(r, 0)->shape.n[self(r)->dim] / self(r)->extent;
  Instr other = *self(r);
  other.op = mean ? OP_SUM : OP_MEAN;
  other.args[0] = arg(r, 0);
  double count = count_or_slip(r, n);
  int value = put(r->to, &other);
  if (mean && (n & (n - 1)) == 0 && coin(r) && count == (double)n)
    return put2(r->to, OP_MUL, value, put_scalar(r->to, 0, 1 / count));
  return put2(r->to, mean ? OP_DIV : OP_MUL, value, put_scalar(r->to, 0, count));
}

// A reduction in two steps: to an extent in between first.
static int reduce_in_steps(Rewrite *r) {
  if (!(is(r, OP_SUM) || is(r, OP_TOP) || is(r, OP_MEAN)))
    return -1;
  Instr first = *self(r), second = *self(r);
  int64_t n = def(r, 0)->shape.n[self(r)->dim], between = 0;
  for (int tries = 0; tries < 30 && !between; tries++) {
    int64_t e = self(r)->extent * (2 + draw_below(r->draw, 64));
    between = n % e == 0 ? e : 0;
  }
  if (!between)
    return -1;
  first.extent = between;
  first.args[0] = arg(r, 0);
  if (r->slip)
    first.op = is(r, OP_SUM) ? OP_MEAN : OP_SUM;
  second.args[0] = put(r->to, &first);
  return put(r->to, &second);
}

// A reduction of two slices, combined. Slips: a gap, an overlap, means of unequal parts.
static int reduce_slices(Rewrite *r) {
  bool mean = is(r, OP_MEAN);
  if (!(is(r, OP_SUM) || is(r, OP_TOP) || (mean && r->slip)) || !sums_to_one(r))
    return -1;
  int dim = self(r)->dim;
  int64_t n = def(r, 0)->shape.n[dim];
  if (n < 4)
    return -1;
  int64_t cut = 1 + draw_below(r->draw, (int)n - 2), from = r->slip && !mean ? cut + (coin(r) ? 1 : -1) : cut;
  if (from < 0 || from >= n)
    return -1;
  int a = put_reduce(r->to, self(r)->op, put_slice(r->to, arg(r, 0), dim, 0, cut), dim);
  int b = put_reduce(r->to, self(r)->op, put_slice(r->to, arg(r, 0), dim, from, n), dim);
  int both = put2(r->to, is(r, OP_TOP) ? OP_MAX : OP_ADD, a, b);
  return mean ? put2(r->to, OP_MUL, both, put_scalar(r->to, 0, 0.5)) : both;
}

static int exchange_sums(Rewrite *r) {
  Op op = self(r)->op;
  if (!(op == OP_SUM || op == OP_TOP || op == OP_MEAN) || def(r, 0)->op == OP_INPUT || !(arg_is(r, 0, op) || r->slip))
    return -1;
  if (def(r, 0)->op != OP_SUM && def(r, 0)->op != OP_TOP && def(r, 0)->op != OP_MEAN)
    return -1;
  Instr first = *self(r), second = *def(r, 0);
  first.args[0] = inner(r, 0, 0);
  second.args[0] = put(r->to, &first);
  return put(r->to, &second);
}

// The other way round: E[(x - m)^2] = E[x^2] - m^2.
static int variance(Rewrite *r) {
  if (!(is(r, OP_MEAN) || is(r, OP_SUM)) || !sums_to_one(r) || !arg_is(r, 0, OP_SQUARE))
    return -1;
  const Instr *centred = &r->from->instr[def(r, 0)->args[0]];
  if (centred->op != OP_SUB || r->from->instr[centred->args[1]].op != OP_MEAN ||
      r->from->instr[centred->args[1]].args[0] != centred->args[0])
    return -1;
  int x = r->map[centred->args[0]], mean = r->map[centred->args[1]], dim = self(r)->dim;
  int squares = put_reduce(r->to, self(r)->op, put1(r->to, OP_SQUARE, x), dim), mean2 = put1(r->to, OP_SQUARE, mean);
  if (is(r, OP_SUM))
    mean2 = put2(r->to, OP_MUL, mean2, put_scalar(r->to, 0, count_or_slip(r, def(r, 0)->shape.n[dim])));
  return put2(r->to, OP_SUB, squares, mean2);
}

// Adds sum(y - mean(y)) = 0.
static int add_centred(Rewrite *r) {
  const Shape *shape = &self(r)->shape;
  if (shape->rank == 0)
    return -1;
  int x = same(r), dim = draw_below(r->draw, shape->rank), mean;
  int64_t n = shape->n[dim];
  if (r->slip)
    mean = put2(r->to, OP_DIV, put_reduce(r->to, OP_SUM, x, dim), put_scalar(r->to, 0, count_or_slip(r, n)));
  else
    mean = put_reduce(r->to, OP_MEAN, x, dim);
  return put2(r->to, OP_ADD, x, put_reduce(r->to, OP_SUM, put2(r->to, OP_SUB, x, mean), dim));
}

// --------------------------------------------------------------------------------------------------- extents as
// numbers

// How long an axis is, as a sum of ones.
static int length_of(Rewrite *r, int x, int dim, int64_t n) {
  if (coin(r))
    return put_reduce(r->to, OP_SUM, put_const(r->to, shape_of(1, &n), 1), 0);
  int zero = put2(r->to, OP_MUL, x, put_scalar(r->to, 0, 0));
  return put_reduce(r->to, OP_SUM, put2(r->to, OP_ADD, zero, put_scalar(r->to, 0, 1)), dim);
}

// x (1 + (s - a)(s - b) ..) for the length s of an axis: right when it is one of the roots.
static int polynomial_in_extent(Rewrite *r) {
  static const double roots[][5] = {{2, 3},       {2, 3, 5}, {3, 5, 7},        {2, 3, 5, 7},
                                    {16, 32, 24}, {4, 8},    {2, 3, 5, 7, 11}, {1, 2}};
  const Shape *shape = &self(r)->shape;
  if (shape->rank == 0)
    return -1;
  int x = same(r), dim = draw_below(r->draw, shape->rank);
  int64_t n = shape->n[dim];
  int s = length_of(r, x, dim, n), product = -1;
  const double *chosen = roots[draw_below(r->draw, 8)];
  for (int i = 0; i < 5 && chosen[i]; i++) {
    int factor = put2(r->to, OP_SUB, s, put_scalar(r->to, 0, chosen[i]));
    product = product < 0 ? factor : put2(r->to, OP_MUL, product, factor);
  }
  if (!r->slip)
    product = put2(r->to, OP_MUL, product, put2(r->to, OP_SUB, s, put_scalar(r->to, 0, (double)n)));
  return put2(r->to, OP_MUL, x, put2(r->to, OP_ADD, put_scalar(r->to, 0, 1), product));
}

// A constant that equals an extent, as the length of that axis; with a slip, of another.
static int constant_from_extent(Rewrite *r) {
  if (!is(r, OP_CONST) || self(r)->value < 1 || self(r)->value > 5000 || self(r)->value != floor(self(r)->value) ||
      self(r)->shape.rank)
    return -1;
  int64_t n = r->slip ? any_extent(r) : (int64_t)self(r)->value;
  int sum = put_reduce(r->to, OP_SUM, put_const(r->to, shape_of(1, &n), 1), 0);
  return put_reshape(r->to, OP_RESHAPE, put2(r->to, OP_ADD, sum, put_scalar(r->to, 1, 0)), shape_of(1, (int64_t[]){1}));
}

static int constant_changed(Rewrite *r) {
  if (!is(r, OP_CONST) || !r->slip)
    return -1;
  static const double multiples[] = {1, 6, 30, 210, 30030, 510510}; // 0 modulo the first primes
  double value = self(r)->value;
  value = coin(r) ? (double)any_extent(r) : coin(r) ? value + DRAW_FROM(r->draw, multiples) : value * (1 + 0x1p-10);
  return put_const(r->to, self(r)->shape, value);
}

// ------------------------------------------------------------------------------------------------------------ products

static bool plain_product(const Rewrite *r) { return is(r, OP_MATMUL) && !self(r)->ta && !self(r)->tb; }

static int product(Rewrite *r, int a, int b) {
  return put(r->to, &(Instr){.op = OP_MATMUL, .num_args = 2, .args = {a, b}, .ta = self(r)->ta, .tb = self(r)->tb});
}

// (a s) @ w = (a @ w) s for a number a row; the norm after the product.
static int scale_after_product(Rewrite *r) {
  if (!is(r, OP_MATMUL) || self(r)->ta || !(arg_is(r, 0, OP_MUL) || arg_is(r, 0, OP_DIV)))
    return -1;
  int rank = def(r, 0)->shape.rank;
  if (extent_along(inner_shape(r, 0, 1), rank, rank - 1) != 1 || inner_shape(r, 0, 0)->rank < 2)
    return -1;
  int y = product(r, inner(r, 0, 0), arg(r, 1));
  return r->slip && coin(r) ? y : put2(r->to, r->slip ? OP_MUL : def(r, 0)->op, y, inner(r, 0, 1));
}

static int distribute_product(Rewrite *r) {
  int k = coin(r);
  if (!is(r, OP_MATMUL) || !(arg_is(r, k, OP_ADD) || arg_is(r, k, OP_SUB)) ||
      !same_shape(inner_shape(r, k, 0), inner_shape(r, k, 1)))
    return -1;
  int left = k ? product(r, arg(r, 0), inner(r, 1, 0)) : product(r, inner(r, 0, 0), arg(r, 1));
  int right = k ? product(r, arg(r, 0), inner(r, 1, 1)) : product(r, inner(r, 0, 1), arg(r, 1));
  return put2(r->to, r->slip ? (def(r, k)->op == OP_ADD ? OP_SUB : OP_ADD) : def(r, k)->op, left, right);
}

static int associate_product(Rewrite *r) {
  if (!plain_product(r) || !arg_is(r, 0, OP_MATMUL) || def(r, 0)->ta || def(r, 0)->tb)
    return -1;
  Instr second = {.op = OP_MATMUL, .num_args = 2, .args = {inner(r, 0, 1), arg(r, 1)}, .tb = r->slip};
  return product(r, inner(r, 0, 0), put(r->to, &second));
}

static int split_product(Rewrite *r) {
  if (!plain_product(r))
    return -1;
  const Shape *a = &def(r, 0)->shape, *b = &def(r, 1)->shape;
  int64_t k = a->n[a->rank - 1];
  if (k < 3)
    return -1;
  int64_t cut = 1 + draw_below(r->draw, (int)k - 2), off = r->slip ? (coin(r) ? 1 : -1) : 0;
  if (cut + off < 0 || cut + off >= k)
    return -1;
  int left =
      product(r, put_slice(r->to, arg(r, 0), a->rank - 1, 0, cut), put_slice(r->to, arg(r, 1), b->rank - 2, 0, cut));
  int right = product(r, put_slice(r->to, arg(r, 0), a->rank - 1, cut + off, k),
                      put_slice(r->to, arg(r, 1), b->rank - 2, cut + off, k));
  return put2(r->to, OP_ADD, left, right);
}

// a @ b = (b^T @ a^T)^T
static int transposed_product(Rewrite *r) {
  if (!is(r, OP_MATMUL))
    return -1;
  Instr at = {.op = OP_MATMUL, .num_args = 2, .args = {arg(r, 1), arg(r, 0)}, .ta = !self(r)->tb, .tb = !self(r)->ta};
  if (r->slip && coin(r))
    at.ta = !at.ta;
  int rank = self(r)->shape.rank, y = put(r->to, &at);
  return r->slip && coin(r) ? y : put_transpose(r->to, y, rank - 2, rank - 1);
}

static int product_as_sum(Rewrite *r) {
  if (!plain_product(r) || self(r)->shape.rank != 2 || def(r, 0)->shape.rank != 2 || def(r, 1)->shape.rank != 2)
    return -1;
  int64_t m = self(r)->shape.n[0], n = self(r)->shape.n[1], k = def(r, 0)->shape.n[1];
  if (m * n * k > 60000)
    return -1;
  int a = put_reshape(r->to, OP_RESHAPE, arg(r, 0), shape_of(3, (int64_t[]){m, k, 1}));
  int b = put_reshape(r->to, OP_RESHAPE, arg(r, 1), shape_of(3, (int64_t[]){1, k, n}));
  int sum = put_reduce(r->to, r->slip ? OP_MEAN : OP_SUM, put2(r->to, OP_MUL, a, b), 1);
  return put_reshape(r->to, OP_RESHAPE, sum, shape_of(2, (int64_t[]){m, n}));
}

// ------------------------------------------------------------------------------------------------------------ movement

static int transpose_twice(Rewrite *r) {
  int rank = self(r)->shape.rank;
  if (rank < 2)
    return -1;
  int d = draw_below(r->draw, rank - 1), e = d + 1, x = same(r), y = put_transpose(r->to, x, d, e);
  if (r->slip && coin(r))
    return put_reshape(r->to, OP_RESHAPE, y, self(r)->shape);
  return put_transpose(r->to, y, r->slip ? 0 : d, r->slip ? rank - 1 : e);
}

static int reshape_twice(Rewrite *r) {
  int64_t n = elements(&self(r)->shape), part = 1;
  if (self(r)->shape.rank == 0)
    return -1;
  for (int tries = 0; tries < 10; tries++) {
    int64_t p = 1 + draw_below(r->draw, 40);
    part = n % p == 0 ? p : part;
  }
  int x = same(r), y = put_reshape(r->to, OP_RESHAPE, x, shape_of(2, (int64_t[]){part, n / part}));
  if (r->slip)
    y = put_transpose(r->to, y, 0, 1);
  return put_reshape(r->to, OP_RESHAPE, y, self(r)->shape);
}

static int concat_of_slices(Rewrite *r) {
  if (self(r)->shape.rank == 0)
    return -1;
  int x = same(r), dim = draw_below(r->draw, self(r)->shape.rank);
  int64_t n = self(r)->shape.n[dim];
  if (n < 3)
    return -1;
  int64_t cut = 1 + draw_below(r->draw, (int)n - 2), off = r->slip && coin(r) ? 1 : 0;
  if (r->slip && !off) // exchanged
    return put_concat(r->to, put_slice(r->to, x, dim, cut, n), put_slice(r->to, x, dim, 0, cut), dim);
  return put_concat(r->to, put_slice(r->to, x, dim, 0, cut), put_slice(r->to, x, dim, cut - off, n - off), dim);
}

// A slice of an element-wise operator, of its operands.
static int slice_operands(Rewrite *r) {
  if (!is(r, OP_SLICE) || def(r, 0)->num_args < 1 || def(r, 0)->num_args > 2 || def(r, 0)->op < OP_EXP ||
      def(r, 0)->op > OP_MIN)
    return -1;
  Instr op = *def(r, 0);
  for (int j = 0; j < op.num_args; j++) {
    const Shape *shape = inner_shape(r, 0, j);
    int rank = op.shape.rank, dim = self(r)->dim - (rank - shape->rank);
    int64_t off = r->slip && j == op.num_args - 1 ? 1 : 0;
    op.args[j] = inner(r, 0, j);
    if (extent_along(shape, rank, self(r)->dim) != 1)
      op.args[j] = put_slice(r->to, op.args[j], dim, self(r)->begin + off, self(r)->end + off);
  }
  return put(r->to, &op);
}

static int broadcast_by_repeat(Rewrite *r) {
  if (!is(r, OP_BROADCAST) && !is(r, OP_REPEAT))
    return -1;
  const Shape *from = &def(r, 0)->shape, *to = &self(r)->shape;
  if (from->rank != to->rank)
    return -1;
  int dim = -1;
  for (int d = 0; d < from->rank; d++)
    if (from->n[d] != to->n[d])
      dim = dim < 0 ? d : -2;
  if (dim < 0 || (from->n[dim] != 1 && !r->slip))
    return -1;
  if (is(r, OP_BROADCAST))
    return put(r->to, &(Instr){.op = OP_REPEAT, .num_args = 1, .args = {arg(r, 0)}, .dim = dim, .extent = to->n[dim]});
  if (from->n[dim] == 1)
    return put_reshape(r->to, OP_BROADCAST, arg(r, 0), *to);
  // each element several times in place of the whole several times
  Shape wide = *from;
  if (wide.rank == MAX_DIMS)
    return -1;
  for (int d = wide.rank; d > dim + 1; d--)
    wide.n[d] = wide.n[d - 1];
  wide.rank++;
  wide.n[dim + 1] = 1;
  int x = put_reshape(r->to, OP_RESHAPE, arg(r, 0), wide);
  wide.n[dim + 1] = to->n[dim] / from->n[dim];
  return put_reshape(r->to, OP_RESHAPE, put_reshape(r->to, OP_BROADCAST, x, wide), *to);
}

// ----------------------------------------------------------------------------------------------------------- functions

static int exp_of_sum(Rewrite *r) {
  if (!is(r, OP_EXP) || !(arg_is(r, 0, OP_ADD) || arg_is(r, 0, OP_SUB)))
    return -1;
  int a = put1(r->to, OP_EXP, inner(r, 0, 0)), b = put1(r->to, OP_EXP, inner(r, 0, 1));
  return put2(r->to, r->slip ? def(r, 0)->op : arg_is(r, 0, OP_ADD) ? OP_MUL : OP_DIV, a, b);
}

static int softmax_steps(Rewrite *r) {
  if (!is(r, OP_SOFTMAX))
    return -1;
  int x = arg(r, 0), dim = self(r)->dim, rank = self(r)->shape.rank, shifted = x;
  if (coin(r)) // any number a row will do
    shifted = put2(r->to, OP_SUB, x, put_reduce(r->to, draw_chance(r->draw, 80) ? OP_TOP : OP_MEAN, x, dim));
  int e = put1(r->to, OP_EXP, shifted), over = r->slip && coin(r) ? draw_below(r->draw, rank) : dim;
  int sum = put_reduce(r->to, r->slip && coin(r) ? OP_MEAN : OP_SUM, e, over);
  return put2(r->to, OP_DIV, r->slip && coin(r) ? put1(r->to, OP_EXP, x) : e, sum);
}

static int norm_steps(Rewrite *r) {
  if (!is(r, OP_RMS_NORM))
    return -1;
  int x = arg(r, 0), last = self(r)->shape.rank - 1;
  int sum = put_reduce(r->to, OP_SUM, put1(r->to, OP_SQUARE, x), last);
  int mean = put2(r->to, OP_DIV, sum, put_scalar(r->to, 0, count_or_slip(r, self(r)->shape.n[last])));
  if (self(r)->value != 0)
    mean = put2(r->to, OP_ADD, mean, put_scalar(r->to, 0, self(r)->value));
  int y = coin(r) ? put2(r->to, OP_DIV, x, put1(r->to, OP_SQRT, mean))
                  : put2(r->to, OP_MUL, x, put1(r->to, OP_RSQRT, mean));
  return self(r)->num_args > 1 ? put2(r->to, OP_MUL, y, arg(r, 1)) : y;
}

// Derived operators by their definitions.
static int definition(Rewrite *r) {
  if (self(r)->num_args < 1)
    return -1;
  int x = arg(r, 0), one = -1;
  switch (self(r)->op) {
  case OP_RSQRT:
    one = put_scalar(r->to, 0, 1);
    return put2(r->to, r->slip ? OP_MUL : OP_DIV, one, put1(r->to, OP_SQRT, x));
  case OP_SQUARE:
    return put2(r->to, r->slip ? OP_ADD : OP_MUL, x, x);
  case OP_NEG:
    return put2(r->to, OP_SUB, put_scalar(r->to, 0, r->slip ? 1 : 0), x);
  case OP_SIGMOID:
  case OP_SILU:
    one = put_scalar(r->to, 0, 1);
    x = put2(r->to, OP_DIV, is(r, OP_SILU) ? x : one,
             put2(r->to, OP_ADD, one, put1(r->to, OP_EXP, r->slip ? x : put1(r->to, OP_NEG, x))));
    return x;
  case OP_RELU:
    return put2(r->to, r->slip ? OP_MIN : OP_MAX, x, put_scalar(r->to, 0, 0));
  case OP_MIN:
    return put1(r->to, OP_NEG,
                put2(r->to, OP_MAX, r->slip ? x : put1(r->to, OP_NEG, x), put1(r->to, OP_NEG, arg(r, 1))));
  default:
    return -1;
  }
}

// True only by a law of the function: what is lost here is lost knowingly.
static int law(Rewrite *r) {
  if (self(r)->num_args < 1)
    return -1;
  int x = arg(r, 0), two;
  switch (self(r)->op) {
  case OP_EXP:
    return put2(r->to, OP_DIV, put_scalar(r->to, 0, 1), put1(r->to, OP_EXP, r->slip ? x : put1(r->to, OP_NEG, x)));
  case OP_TANH:
    two = put_scalar(r->to, 0, 2);
    return put2(r->to, OP_SUB, put2(r->to, OP_MUL, two, put1(r->to, OP_SIGMOID, put2(r->to, OP_MUL, two, x))),
                put_scalar(r->to, 0, r->slip ? 2 : 1));
  case OP_MAX:
    return put2(r->to, OP_ADD, arg(r, 1),
                put1(r->to, OP_RELU, put2(r->to, OP_SUB, r->slip ? arg(r, 1) : x, r->slip ? x : arg(r, 1))));
  case OP_LOG:
  case OP_SQRT:
    if (!arg_is(r, 0, OP_MUL))
      return -1;
    return put2(r->to, is(r, OP_LOG) == !r->slip ? OP_ADD : OP_MUL, put1(r->to, self(r)->op, inner(r, 0, 0)),
                put1(r->to, self(r)->op, inner(r, 0, 1)));
  case OP_TOP:
    if (!arg_is(r, 0, OP_EXP) && !arg_is(r, 0, OP_SQRT))
      return -1;
    return put1(r->to, def(r, 0)->op, put_reduce(r->to, OP_TOP, inner(r, 0, 0), self(r)->dim));
  default:
    return -1;
  }
}

static int as_kernel(Rewrite *r) { return wrap(r->draw, r->from, r->at, r->map, r->slip, r->to); }

static const struct {
  const char *name;
  Rule rule;
} RULES[] = {
    {"distribute", distribute},
    {"commute", commute},
    {"reassociate", reassociate},
    {"divide by reciprocal", divide_by_reciprocal},
    {"divide later", divide_later},
    {"x + x", add_to_itself},
    {"neutral", neutral},
    {"sum of terms", sum_of_terms},
    {"sum of terms", sum_of_terms},
    {"sum of product", sum_of_product},
    {"mean by count", mean_by_count},
    {"mean by count", mean_by_count},
    {"reduce in steps", reduce_in_steps},
    {"reduce slices", reduce_slices},
    {"exchange sums", exchange_sums},
    {"variance", variance},
    {"add centred", add_centred},
    {"polynomial in extent", polynomial_in_extent},
    {"constant from extent", constant_from_extent},
    {"constant changed", constant_changed},
    {"scale after product", scale_after_product},
    {"distribute product", distribute_product},
    {"associate product", associate_product},
    {"split product", split_product},
    {"transposed product", transposed_product},
    {"product as sum", product_as_sum},
    {"transpose twice", transpose_twice},
    {"reshape twice", reshape_twice},
    {"concat of slices", concat_of_slices},
    {"slice operands", slice_operands},
    {"broadcast by repeat", broadcast_by_repeat},
    {"exp of sum", exp_of_sum},
    {"softmax steps", softmax_steps},
    {"norm steps", norm_steps},
    {"definition", definition},
    {"law", law},
};

// Copies `from`, with the rule's result in the place of one instruction.
static bool apply(Rewrite *r, Rule rule) {
  clear_program(r->to);
  for (int i = 0; i < r->from->num; i++) {
    int at = r->at;
    r->map[i] = -1;
    if (i == at) {
      r->map[i] = rule(r);
    } else {
      r->at = i;
      r->map[i] = same(r);
      r->at = at;
    }
    if (r->map[i] < 0)
      return false;
  }
  for (int o = 0; o < r->from->num_outputs; o++)
    r->to->outputs[r->to->num_outputs++] = r->map[r->from->outputs[o]];
  if (!infer(r->to, MAX_TENSOR))
    return false;
  for (int o = 0; o < r->from->num_outputs; o++)
    if (!same_shape(&r->from->instr[r->from->outputs[o]].shape, &r->to->instr[r->to->outputs[o]].shape))
      return false;
  return true;
}

// Only what stands outside kernels, and is no bracket, may be replaced.
static bool is_open(const Program *p, int at) {
  int loops[MAX_DEPTH], kernel;
  Op op = p->instr[at].op;
  enclosing(p, at, loops, &kernel);
  return kernel < 0 && op != OP_INPUT && op != OP_KERNEL && op != OP_KERNEL_RESULT;
}

const char *rewrite(Draw *draw, const Program *from, bool slip, Program *out) {
  enum { NUM_RULES = sizeof RULES / sizeof *RULES };
  Rewrite *r = &(Rewrite){.draw = draw, .from = from, .to = out, .slip = slip};
  for (int tries = 0; tries < 200; tries++) {
    int rule = draw_below(draw, NUM_RULES);
    r->at = draw_below(draw, from->num);
    if (is_open(from, r->at) && apply(r, RULES[rule].rule))
      return RULES[rule].name;
  }
  return NULL;
}

const char *rewrite_as_kernel(Draw *draw, const Program *from, bool slip, Program *out) {
  Rewrite *r = &(Rewrite){.draw = draw, .from = from, .to = out, .slip = slip};
  for (int tries = 0; tries < 40; tries++) {
    r->at = draw_below(draw, from->num);
    if (is_open(from, r->at) && apply(r, as_kernel))
      return "as a kernel";
  }
  return NULL;
}
