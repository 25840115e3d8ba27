// bound.c - the quantities of the theorem of README.md, for every value of a graph; chance.c puts them in.
//
// An output element is, formally, a quotient N / D of exponential polynomials: sums of terms c(x) e^h(x), c a
// polynomial with coefficients integer / power of two, h a rational function. Values of sqrt, erf, max, ... are
// variables of their own ("atoms"). We walk both graphs once and carry, for each value, bounds that hold for every
// element of it:
//
//   Poly   of N and of D: degree, number of exponential monomials, sum of absolute coefficients, and the power of two
//          that makes the coefficients integers - the last three as log2
//   Ratio  of the exponents h that occur in either
//   axes   along which dimensions, loops and grid axes the denominator may vary
//
// and, for each value, how many calls of random functions its operator makes for an element. How many of them an output's
// element depends on is cone.c's question.
//
// e.g.  x @ w, contraction 4096:        degree 2, 1 monomial, coefficients 2^12
//       silu(z) = z / (1 + e^-z):       N = z, D = 1 + e^-z: 2 monomials
//       sum of n fractions:             common denominator D^n, or D when it does not vary along the summed axis
//
// Everything is monotone and saturates to infinity, so an overcount is safe and "too big" is an answer: nothing shown.
// A loop whose contribution does not read its carries is a sum of `range` like terms; any other loop is iterated.
#include "bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOOP_STEPS = 4096 }; // iterations of one abstract loop before it saturates

// ------------------------------------------------------------------------------------------------- atoms, exponentials

static void note_argument(BoundWalk *walk, Abstract a) {
  walk->argument = walk->has_argument ? mirage__abstract_join(walk->argument, a) : a;
  walk->has_argument = true;
}

static void note_divisor(BoundWalk *walk, Abstract a) {
  walk->divisor = walk->has_divisor ? mirage__abstract_join(walk->divisor, a) : a;
  walk->has_divisor = true;
  walk->visit.of[CALL_DIVISION]++;
}

static CallKind kind_of(MirageOp op) {
  switch (op) {
  case MIRAGE_OP_SQRT:
    return CALL_SQRT;
  case MIRAGE_OP_ERF:
    return CALL_ERF;
  case MIRAGE_OP_TANH:
    return CALL_TANH;
  case MIRAGE_OP_SIN:
    return CALL_SIN;
  case MIRAGE_OP_COS:
    return CALL_COS;
  default:
    return CALL_EXP;
  }
}

// The value of a random function at a.
static Abstract atom(BoundWalk *walk, Abstract a, CallKind kind) {
  Abstract result = mirage__abstract_polynomial(1, 0, 0);
  result.axes = a.axes;
  result.reads = a.reads;
  mirage__abstract_of_support(&result, &a, 1);
  note_argument(walk, a);
  walk->visit.of[kind]++;
  return result;
}

// F(a), or F(x) / F(m) where a may be a difference x - m; the subtraction has noted x and m, and counted F(m).
static Abstract free_exponential(BoundWalk *walk, Abstract a) {
  Abstract result = atom(walk, a, CALL_EXP);
  return a.difference ? mirage__abstract_div(result, result) : result;
}

static Abstract exponential(BoundWalk *walk, Abstract a) {
  if (walk->free_exp)
    return free_exponential(walk, a);
  if (a.exp) {
    Abstract result = atom(walk, a, CALL_EXP);
    walk->bound->nested = true;
    if (a.mixed) // some elements take an exponential after all: no bound for both at once
      result.num.degree = INFINITY;
    return result;
  }
  return mirage__abstract_exp(a);
}

// The maximum of n values like a: one of them, or an atom for the set.
static Abstract maximum(BoundWalk *walk, Abstract a, double n) {
  walk->has_maximum = true;
  Abstract result = mirage__abstract_join(a, atom(walk, a, CALL_MAXIMUM));
  walk->visit.of[CALL_MEMBER] += n;
  result.maximum = walk->free_exp;
  result.difference = false;
  mirage__abstract_of_support(&result, &a, n);
  return result;
}

// A comparison: known, or a predicate that is drawn for each two values. Where these depend on others, as many are drawn
// as those have patterns.
static Abstract comparison(BoundWalk *walk, Abstract a, Abstract b) {
  if (a.known && b.known)
    return mirage__abstract_known(1);
  Abstract result = mirage__abstract_bit();
  note_argument(walk, a);
  note_argument(walk, b);
  walk->visit.of[CALL_COMPARE]++;
  result.reads = a.reads | b.reads;
  if (a.support + b.support > 0)
    result.bits = result.support = INFINITY;
  return result;
}

static Abstract logic(Abstract a, Abstract b) {
  Abstract result = mirage__abstract_known(1);
  result.known = a.known && b.known;
  result.reads = a.reads | b.reads;
  result.bits = result.support = a.support + b.support;
  return result;
}

// x, or bottom.
static Abstract masked(Abstract predicate, Abstract x) {
  x.bits = x.support = x.support + predicate.support;
  x.lacking = x.lacking || predicate.support > 0;
  x.reads |= predicate.reads;
  x.axes = ALL_AXES;
  x.unit = NAN;
  return x;
}

static Abstract subtraction(BoundWalk *walk, Abstract a, Abstract b) {
  Abstract result = mirage__abstract_add(a, b);
  result.bits = b.lacking ? result.support : result.bits; // x - bottom has no value
  result.lacking = a.lacking;
  if (b.maximum) {
    result.difference = true;
    walk->visit.of[CALL_EXP]++;
    note_argument(walk, a);
    note_argument(walk, b);
  }
  return result;
}

// ----------------------------------------------------------------------------------------------------------- operators

// The sum of n values like a, over `axes`, perhaps weighted. Where the denominator varies along the sum, a weighted one
// may not depend on weights of the same axis; where it depends on those of another axis, that one has more points as
// long as this axis is whole, so this one is transferred first. (README.md, "The theorem of transfer")
static Abstract sum(BoundWalk *walk, Abstract a, double n, uint32_t axes) {
  Abstract result = mirage__abstract_sum(a, n, axes);
  for (uint32_t c = 0; c < ABSTRACT_MAX_WEIGHTS && a.weight && a.den_axes & axes; c++) {
    bool depends = a.den.width[c] > 0 || (a.exp && (a.exponent.num.width[c] > 0 || a.exponent.den.width[c] > 0));
    if (depends && c + 1 == a.weight)
      result.num.width[c] = INFINITY;
    else if (depends)
      walk->before[a.weight - 1] |= 1u << c;
  }
  result.weight = 0;
  return result;
}

static bool elementwise(BoundWalk *walk, MirageOp op, Abstract a, Abstract b, Abstract *out) {
  switch (op) {
  case MIRAGE_OP_ADD:
    *out = mirage__abstract_add(a, b);
    return true;
  case MIRAGE_OP_SUB:
    *out = subtraction(walk, a, b);
    return true;
  case MIRAGE_OP_MUL:
    *out = mirage__abstract_mul(a, b);
    out->weight = b.weight;
    return true;
  case MIRAGE_OP_DIV:
    note_divisor(walk, b);
    *out = mirage__abstract_div(a, b);
    return true;
  case MIRAGE_OP_MAX:
    *out = maximum(walk, mirage__abstract_join(a, b), 2);
    return true;
  case MIRAGE_OP_EXP:
    *out = exponential(walk, a);
    return true;
  case MIRAGE_OP_LESS:
  case MIRAGE_OP_LESS_EQUAL:
  case MIRAGE_OP_EQUAL:
    *out = comparison(walk, a, b);
    return true;
  case MIRAGE_OP_AND:
  case MIRAGE_OP_OR:
    *out = logic(a, b);
    return true;
  case MIRAGE_OP_NOT:
    *out = a;
    return true;
  case MIRAGE_OP_MASK:
    *out = masked(a, b);
    return true;
  case MIRAGE_OP_LOG:
    note_divisor(walk, a);
    *out = atom(walk, a, CALL_LOG);
    return true;
  case MIRAGE_OP_SQRT:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_SIN:
  case MIRAGE_OP_COS:
    *out = atom(walk, a, kind_of(op));
    return true;
  default:
    break;
  }
  const MirageExpansion *expansion = mirage_op_expansion(op);
  if (!expansion)
    return false;
  Abstract values[2 + sizeof expansion->steps / sizeof *expansion->steps] = {a, b};
  for (uint32_t i = 0; i < expansion->num_steps; i++) {
    const MirageExpansionStep *step = &expansion->steps[i];
    if (step->op == MIRAGE_OP_CONSTANT)
      values[2 + i] = mirage__abstract_constant(step->value);
    else if (!elementwise(walk, step->op, values[step->a], values[step->b], &values[2 + i]))
      return false;
  }
  *out = values[1 + expansion->num_steps];
  return true;
}

static bool reduce(BoundWalk *walk, const MirageNodeView *node, Abstract a, Abstract *out) {
  const MirageType *type = mirage_ugraph_type(walk->graph, node->operands[0]);
  uint32_t dim = (uint32_t)node->attrs->reduce.dim, axis = dim_axis(type, dim);
  double n = (double)(type->shape[dim] / node->attrs->reduce.extent);
  if (type->dtype == MIRAGE_I1) { // whether any holds
    *out = a;
    out->bits = out->support = a.support > 0 ? n * a.support : 0;
    return true;
  }
  *out = node->op == MIRAGE_OP_REDUCE_MAX ? maximum(walk, a, n) : sum(walk, a, n, axis);
  if (node->attrs->reduce.extent == 1)
    out->den_axes &= ~axis;
  if (node->op == MIRAGE_OP_REDUCE_MEAN)
    *out = mirage__abstract_div(*out, mirage__abstract_constant(n));
  return true;
}

// Swaps the last two dimensions of a set of axes.
static uint32_t swap_last(uint32_t axes) { return (axes & ~3u) | (axes & 1) << 1 | (axes >> 1 & 1); }

static bool matmul(BoundWalk *walk, const MirageNodeView *node, const Abstract *operands, Abstract *out) {
  const MirageType *type = mirage_ugraph_type(walk->graph, node->operands[0]);
  bool flip_a = node->attrs && node->attrs->matmul.transpose_a, flip_b = node->attrs && node->attrs->matmul.transpose_b;
  Abstract a = operands[0], b = operands[1];
  if (flip_a)
    a.den_axes = swap_last(a.den_axes);
  if (flip_b)
    b.den_axes = swap_last(b.den_axes);
  uint32_t contracted = (a.den_axes & 1) | (b.den_axes & 2); // a[.., m, k], b[.., k, n]
  a.den_axes &= ~1u;
  b.den_axes &= ~2u;
  Abstract product = mirage__abstract_mul(a, b);
  uint32_t den_axes = product.den_axes;
  product.den_axes = contracted;
  product.weight = operands[0].weight;
  *out = sum(walk, product, (double)type->shape[type->rank - (flip_a ? 2 : 1)], 3);
  out->den_axes = den_axes;
  if (node->num_operands == 3)
    *out = mirage__abstract_add(*out, operands[2]);
  return true;
}

static bool collective(BoundWalk *walk, const MirageNodeView *node, Abstract a, Abstract *out) {
  MirageRegionView region = mirage_ugraph_region(walk->graph, node->parent);
  MirageScope scope = mirage_ugraph_scope(walk->graph, region.nodes[0]);
  bool grid = node->op == MIRAGE_OP_GRID_SUM || node->op == MIRAGE_OP_GRID_MAX;
  double blocks = 1;
  uint32_t axes = 0;
  for (uint32_t axis = 0; axis < 3; axis++) {
    blocks *= node->attrs->axes.axis[axis] ? (double)(grid ? scope.grid[axis] : scope.cluster[axis]) : 1.0;
    axes |= node->attrs->axes.axis[axis] ? 1u << (AXIS_GRID + axis) : 0;
  }
  bool sum = node->op == MIRAGE_OP_GRID_SUM || node->op == MIRAGE_OP_CLUSTER_SUM;
  *out = sum ? mirage__abstract_sum(a, blocks, axes) : maximum(walk, a, blocks);
  return true;
}

// Data movement. A denominator that varies along some dimension may do so along any after a reshape.
static bool shape_op(BoundWalk *walk, const MirageNodeView *node, Abstract a, Abstract *out) {
  const MirageType *type = mirage_ugraph_type(walk->graph, node->first_result);
  *out = a;
  for (uint32_t i = 1; i < node->num_operands; i++) // concat
    *out = mirage__abstract_join(*out, walk->values[node->operands[i].index]);
  if (node->op == MIRAGE_OP_RESHAPE && a.den_axes & DIM_AXES)
    out->den_axes |= DIM_AXES;
  if (node->op == MIRAGE_OP_TRANSPOSE) {
    out->den_axes &= ~DIM_AXES;
    for (uint32_t d = 0; d < type->rank; d++) // both have the same rank
      if (a.den_axes & dim_axis(type, (uint32_t)node->attrs->perm.perm[d]))
        out->den_axes |= dim_axis(type, d);
  }
  return true;
}

// F(m) of a difference x - m: once for each m, of which there may be fewer than differences.
static void count_shift(BoundWalk *walk, MirageValue m) {
  walk->visit.of[CALL_EXP]--;
  walk->sites[m.index].of[CALL_EXP] = fmax(walk->sites[m.index].of[CALL_EXP], 1);
}

static MirageNodeView node_of(const BoundWalk *walk, MirageValue value) {
  MirageNode def = mirage_ugraph_def(walk->graph, value);
  return def.index ? mirage_ugraph_node(walk->graph, def) : (MirageNodeView){0};
}

// Of a product (n / d) (d c): n and c, of which it is the product whatever d is where the quotient has a value at all. The
// quotient's divisor was noted there; that it varies along an axis matters to no sum of such products.
static bool is_cancelled(const BoundWalk *walk, MirageValue quotient, MirageValue product, MirageValue *out_factors) {
  MirageNodeView division = node_of(walk, quotient), scaled = node_of(walk, product);
  while (division.op == MIRAGE_OP_CAST && mirage_ugraph_type(walk->graph, division.operands[0])->dtype == MIRAGE_F32)
    division = node_of(walk, division.operands[0]);
  if (division.op != MIRAGE_OP_DIV || scaled.op != MIRAGE_OP_MUL)
    return false;
  for (uint32_t i = 0; i < 2; i++)
    if (scaled.operands[i].index == division.operands[1].index) {
      out_factors[0] = division.operands[0];
      out_factors[1] = scaled.operands[1 - i];
      return true;
    }
  return false;
}

static bool plain(BoundWalk *walk, const MirageNodeView *node, Abstract *out) {
  enum { FEW = 3 };
  Abstract operands[FEW] = {{.unit = NAN}};
  MirageValue factors[2];
  bool cancelled = node->op == MIRAGE_OP_MUL && (is_cancelled(walk, node->operands[0], node->operands[1], factors) ||
                                                 is_cancelled(walk, node->operands[1], node->operands[0], factors));
  for (uint32_t i = 0; i < node->num_operands && i < FEW; i++)
    operands[i] = walk->values[(cancelled ? factors : node->operands)[i].index];
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
    if (!elementwise(walk, node->op, operands[0], operands[1], out))
      return false;
    if (node->op == MIRAGE_OP_SUB && operands[1].maximum)
      count_shift(walk, node->operands[1]);
    return true;
  case MIRAGE_KIND_MATMUL:
    return matmul(walk, node, operands, out);
  case MIRAGE_KIND_REDUCE:
    return reduce(walk, node, operands[0], out);
  case MIRAGE_KIND_COLLECTIVE:
    return collective(walk, node, operands[0], out);
  case MIRAGE_KIND_SHAPE:
    return shape_op(walk, node, operands[0], out);
  case MIRAGE_KIND_CAST:
    *out = operands[0];
    out->known = out->known && mirage_ugraph_type(walk->graph, node->first_result)->dtype ==
                                   mirage_ugraph_type(walk->graph, node->operands[0])->dtype; // a number is none
    return true;
  case MIRAGE_KIND_IOTA:
    *out = mirage__abstract_known(0x1p24); // as ugraph.h promises
    return true;
  case MIRAGE_KIND_CONSTANT:
    *out = mirage__abstract_constant(node->op == MIRAGE_OP_BOTTOM ? -INFINITY : node->attrs->constant.value);
    out->known = mirage_dtype_family(mirage_ugraph_type(walk->graph, node->first_result)->dtype) != MIRAGE_FAMILY_FLOAT;
    return true;
  default:
    return false;
  }
}

// ----------------------------------------------------------------------------------------------------------- structure

static bool walk_region(BoundWalk *walk, MirageRegion region);

static Abstract combine_carry(BoundWalk *walk, MirageCombine combine_by, Abstract acc, Abstract c, Abstract factor) {
  switch (combine_by) {
  case MIRAGE_COMBINE_SUM:
    return mirage__abstract_add(acc, c);
  case MIRAGE_COMBINE_MAX:
    return maximum(walk, mirage__abstract_join(acc, c), 2);
  case MIRAGE_COMBINE_RESCALE:
    return mirage__abstract_add(mirage__abstract_mul(acc, factor), c);
  case MIRAGE_COMBINE_CONCAT:
    return mirage__abstract_join(acc, c);
  default:
    return c;
  }
}

static void end_visit(BoundWalk *walk, uint32_t value) {
  for (int c = 0; c < NUM_CALLS; c++)
    walk->sites[value].of[c] = fmax(walk->sites[value].of[c], walk->visit.of[c]);
  walk->visit = (Calls){{0}};
}

// All carries sum contributions that read no carry: the closed form.
static bool is_plain_sum(const BoundWalk *walk, const MirageLoopAttrs *attrs, const MirageNodeView *yield) {
  for (uint32_t i = 0; i < attrs->num_carries; i++)
    if (attrs->carries[i].combine != MIRAGE_COMBINE_SUM ||
        (walk->values[yield->operands[i].index].reads >> walk->depth & 1))
      return false;
  return true;
}

static bool walk_loop(BoundWalk *walk, const MirageNodeView *node) {
  const MirageLoopAttrs *attrs = &node->attrs->loop;
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]);
  Abstract *carries = &walk->values[body.first_argument.index];
  Abstract *next = calloc(attrs->num_carries + 1, sizeof *next);
  if (!next)
    return false;
  uint32_t mine = 1u << walk->depth;
  bool sums = false;
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    carries[i] = walk->values[node->operands[i].index];
    carries[i].reads |= mine;
  }
  for (int64_t iteration = 0; iteration < attrs->range && !sums; iteration++) {
    walk->depth++;
    bool ok = walk_region(walk, node->region);
    walk->depth--;
    if (!ok) {
      free(next);
      return false;
    }
    sums = is_plain_sum(walk, attrs, &yield);
    uint32_t factor = attrs->num_carries;
    for (uint32_t i = 0; i < attrs->num_carries; i++) {
      Abstract c = walk->values[yield.operands[i].index], f = {.unit = NAN};
      if (attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE)
        f = walk->values[yield.operands[factor++].index];
      if (sums)
        c = mirage__abstract_sum(c, (double)attrs->range, 1u << (AXIS_LOOP + walk->depth));
      next[i] = combine_carry(walk, attrs->carries[i].combine, carries[i], c, f);
      end_visit(walk, body.first_argument.index + i);
      next[i].reads |= mine;
      if (iteration >= MAX_LOOP_STEPS)
        next[i].num.degree = INFINITY;
    }
    memcpy(carries, next, attrs->num_carries * sizeof *carries); // together: a carry may yield another
    if (iteration >= MAX_LOOP_STEPS)
      break;
  }
  free(next);
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    walk->values[node->first_result.index + i] = carries[i];
    walk->values[node->first_result.index + i].reads &= ~mine;
    walk->values[node->first_result.index + i].den_axes &= ~(1u << (AXIS_LOOP + walk->depth));
  }
  return true;
}

static bool walk_inner(BoundWalk *walk, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  bool custom = node->op == MIRAGE_OP_CUSTOM;
  for (uint32_t i = 0; i < node->num_operands; i++)
    walk->values[body.first_argument.index + i] = walk->values[node->operands[i].index];
  if (!walk_region(walk, node->region))
    return false;
  for (uint32_t i = 0; i < node->num_results; i++) {
    uint32_t from = custom ? body.first_argument.index + node->num_operands + i
                           : mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]).operands[i].index;
    walk->values[node->first_result.index + i] = walk->values[from];
  }
  return true;
}

// Loops and grid axes that split dimension d of a tensor.
static uint32_t splits_of(const MirageAccessAttrs *access, uint32_t d) {
  uint32_t axes = 0;
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
    axes |= access->loop[l] == (int8_t)d ? 1u << (AXIS_LOOP + l) : 0;
  for (uint32_t a = 0; a < 3; a++)
    axes |= access->grid[a] == (int8_t)d ? 1u << (AXIS_GRID + a) : 0;
  return axes;
}

// A tile of a tensor: what varies along a split dimension varies with the loops and grid axes that split it.
static Abstract load(const BoundWalk *walk, const MirageNodeView *node) {
  const MirageType *type = mirage_ugraph_type(walk->graph, node->operands[0]);
  const MirageAccessAttrs *access = &node->attrs->access;
  Abstract tile = walk->values[node->operands[0].index];
  uint32_t varies = tile.den_axes;
  tile.den_axes &= ~DIM_AXES;
  for (uint32_t d = 0; d < type->rank; d++) {
    uint32_t splits = splits_of(access, d);
    tile.axes |= splits;
    tile.den_axes |= varies & dim_axis(type, mirage_access_dim(access, d)) ? splits | dim_axis(type, d) : 0;
  }
  tile.mixed = tile.exp; // a masked element has no exponential
  // A fill of 0 or bottom stays below every bound.
  return access->fill == MIRAGE_FILL_ONE ? mirage__abstract_join(tile, mirage__abstract_constant(1.0)) : tile;
}

static void store(BoundWalk *walk, const MirageNodeView *node) {
  const MirageType *type = mirage_ugraph_type(walk->graph, node->operands[1]);
  uint32_t output = node->operands[1].index, axes = 0;
  Abstract tile = walk->values[node->operands[0].index];
  const MirageAccessAttrs *access = &node->attrs->access;
  for (uint32_t d = 0; d < type->rank; d++)
    if (tile.den_axes & (splits_of(access, d) | dim_axis(type, d)))
      axes |= dim_axis(type, mirage_access_dim(access, d));
  tile.den_axes = axes;
  tile.axes = ALL_AXES;
  walk->values[output] = walk->stored[output] ? mirage__abstract_join(walk->values[output], tile) : tile;
  walk->stored[output] = true;
}

static bool walk_node(BoundWalk *walk, const MirageNodeView *node) {
  switch (node->op) {
  case MIRAGE_OP_CUSTOM:
  case MIRAGE_OP_THREAD:
    return walk_inner(walk, node);
  case MIRAGE_OP_LOOP:
    return walk_loop(walk, node);
  case MIRAGE_OP_LOAD:
    walk->values[node->first_result.index] = load(walk, node);
    return true;
  case MIRAGE_OP_STORE:
    store(walk, node);
    return true;
  case MIRAGE_OP_YIELD:
  case MIRAGE_OP_RETURN:
    return true;
  default:
    break;
  }
  Abstract *out = &walk->values[node->first_result.index];
  if (!plain(walk, node, out))
    return false;
  end_visit(walk, node->first_result.index);
  // What varies at all may vary along every dimension of the result that has several elements, and along no other.
  const MirageType *type = mirage_ugraph_type(walk->graph, node->first_result);
  uint32_t dims = 0;
  for (uint32_t d = 0; d < type->rank; d++)
    dims |= type->shape[d] > 1 ? dim_axis(type, d) : 0;
  if (out->axes)
    out->axes = (out->axes & ~DIM_AXES) | dims;
  return true;
}

static bool walk_region(BoundWalk *walk, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, view.nodes[i]);
    if (walk_node(walk, &node))
      continue;
    if (walk->bound->unsupported == MIRAGE_OP_NONE) {
      walk->bound->unsupported = node.op;
      walk->bound->loc = node.loc;
    }
    return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------- a pair

static Abstract weight_input(const VerifyWeights *weights, uint32_t pattern) {
  const VerifyAxis *axis = &weights->axes[weights->patterns[pattern].axis];
  return mirage__abstract_weight(weights->patterns[pattern].axis, (double)(axis->sizes[0] + axis->sizes[1]));
}

static MirageStatus walk_init(BoundWalk *walk, const MirageUGraph *graph, const VerifyWeights *weights,
                              VerifyBound *bound) {
  size_t n = mirage_ugraph_num_values(graph) + 1;
  *walk = (BoundWalk){.graph = graph, .bound = bound};
  walk->values = calloc(n, sizeof *walk->values);
  walk->sites = calloc(n, sizeof *walk->sites);
  walk->stored = calloc(n, sizeof *walk->stored);
  if (!walk->values || !walk->sites || !walk->stored)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    bool predicate = mirage_ugraph_type(graph, input)->dtype == MIRAGE_I1;
    walk->values[input.index] = weights && i >= weights->first_input ? weight_input(weights, i - weights->first_input)
                                : predicate                          ? mirage__abstract_bit()
                                                                     : mirage__abstract_input();
  }
  return MIRAGE_OK;
}

MirageStatus mirage__verify_bound(const MirageUGraph *source, const MirageUGraph *target, const VerifyWeights *weights,
                                  bool free_exp, VerifyBound *out_bound) {
  return mirage__verify_bound_in(&MIRAGE_VERIFY_FULL_SIZE, source, target, weights, free_exp, out_bound);
}

MirageStatus mirage__verify_bound_in(const VerifyFields *fields, const MirageUGraph *source, const MirageUGraph *target,
                                     const VerifyWeights *weights, bool free_exp, VerifyBound *out_bound) {
  VerifyBound bound = {.log2_trial = INFINITY, .free_exp = free_exp};
  BoundWalk walks[2] = {{0}};
  MirageStatus status = walk_init(&walks[0], source, weights, &bound);
  if (status == MIRAGE_OK)
    status = walk_init(&walks[1], target, weights, &bound);
  walks[0].free_exp = walks[1].free_exp = free_exp;
  if (status == MIRAGE_OK) {
    if (walk_region(&walks[0], mirage_ugraph_body(source)) && walk_region(&walks[1], mirage_ugraph_body(target)))
      status = mirage__verify_chance(fields, weights, walks, &bound);
    *out_bound = bound;
  }
  for (int i = 0; i < 2; i++) {
    free(walks[i].values);
    free(walks[i].sites);
    free(walks[i].stored);
  }
  return status;
}
