// run_scales.c - how large random inputs are, so that values neither overflow nor vanish on their way through a program.
//
// Mean and variance of every value are followed through the program, as if its elements were independent and normal.
// Where a product takes an input, its scale is chosen so that the product is of size 1 again, whatever its other operand
// has become by then: weights get 1 / sqrt(K) for an operand of size 1, and sixteen layers later still. The size of the
// other operand counts as the nearest power of 2, because it is an estimate.
//
//   the right operand is an input ("the weights"), also seen through views and casts:  it is scaled
//   else the left one is:                                                              it is
//
// Not so when the left operand comes out of an exponential: softmax weights sum to 1 whatever K is. An input keeps the
// scale that its first product gave it; one that no product takes has 1. Those of a stored type have a scale that uses the
// type's numbers: 40 for i8, 3 for i4, 1 for f8.
#include "run.h"

#include "mirage/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Moments {
  double mean, variance;
} Moments;

typedef struct Sizes {
  const MirageUGraph *program; // expanded: no sugar
  Moments *moments;            // by value
  bool *exponential;           // by value: an exponential flows into it
  double *scales;              // by input
  bool *chosen;                // by input
} Sizes;

static double second(Moments x) { return x.variance + x.mean * x.mean; }

static const MirageType *type_of(const Sizes *sizes, MirageValue value) {
  return mirage_ugraph_type(sizes->program, value);
}

// ------------------------------------------------------------------------------------------------------------- moments

// Gauss-Hermite points of a standard normal; none is 0, where a quotient has no value.
enum { POINTS = 8 };
static const double points[POINTS] = {-4.144547186125894, -2.802485861287542, -1.636519042435108, -0.5390798113513751,
                                      0.5390798113513751, 1.636519042435108,  2.802485861287542,  4.144547186125894};
static const double weights[POINTS] = {1.126145383753682e-04, 9.635220120788272e-03, 1.172399076617591e-01,
                                       3.730122576790774e-01, 3.730122576790774e-01, 1.172399076617591e-01,
                                       9.635220120788272e-03, 1.126145383753682e-04};

// Of what an element-wise operator makes, from its values at the points; those without one are left out.
static Moments from_points(const double *values, const double *shares, size_t count) {
  double total = 0, mean = 0, square = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i])) {
      total += shares[i];
      mean += shares[i] * values[i];
      square += shares[i] * values[i] * values[i];
    }
  if (!(total > 0) || !isfinite(square))
    return (Moments){0, 1};
  mean /= total;
  return (Moments){mean, fmax(square / total - mean * mean, 0)};
}

static Moments unary(MirageOp op, const MirageType *result, Moments x) {
  const MirageDomain *reals = mirage_domain_f64();
  double values[POINTS];
  for (int i = 0; i < POINTS; i++)
    values[i] = x.mean + sqrt(x.variance) * points[i];
  if (reals->unary(reals, op, result, POINTS, values, values) != MIRAGE_OK)
    return x;
  return from_points(values, weights, POINTS);
}

static Moments binary(MirageOp op, const MirageType *result, Moments x, Moments y, bool same) {
  const MirageDomain *reals = mirage_domain_f64();
  double a[POINTS * POINTS], b[POINTS * POINTS], shares[POINTS * POINTS];
  for (int i = 0; i < POINTS * POINTS; i++) {
    int j = i / POINTS, k = same ? j : i % POINTS;
    a[i] = x.mean + sqrt(x.variance) * points[j];
    b[i] = y.mean + sqrt(y.variance) * points[k];
    shares[i] = weights[j] * weights[i % POINTS];
  }
  if (reals->binary(reals, op, result, POINTS * POINTS, a, b, a) != MIRAGE_OK)
    return x;
  return from_points(a, shares, POINTS * POINTS);
}

static Moments reduced(const Sizes *sizes, const MirageNodeView *node, Moments x) {
  double count = (double)mirage_type_elements(type_of(sizes, node->operands[0])) /
                 (double)mirage_type_elements(type_of(sizes, node->first_result));
  if (node->op == MIRAGE_OP_REDUCE_SUM)
    return (Moments){count * x.mean, count * x.variance};
  if (node->op == MIRAGE_OP_REDUCE_MEAN)
    return (Moments){x.mean, x.variance / count};
  double above = sqrt(2 * log(count + 1)); // of the largest of so many, in standard deviations
  return (Moments){x.mean + above * sqrt(x.variance), x.variance / (above * above + 1)};
}

static int64_t contracted(const Sizes *sizes, const MirageNodeView *matmul) {
  const MirageType *b = type_of(sizes, matmul->operands[1]);
  return b->shape[matmul->attrs->matmul.transpose_b ? b->rank - 1 : b->rank - 2];
}

static Moments product(const Sizes *sizes, const MirageNodeView *node) {
  Moments a = sizes->moments[node->operands[0].index], b = sizes->moments[node->operands[1].index];
  double k = (double)contracted(sizes, node), mean = a.mean * b.mean;
  return (Moments){k * mean, k * fmax(second(a) * second(b) - mean * mean, 0)};
}

static Moments of_node(const Sizes *sizes, const MirageNodeView *node) {
  Moments x = node->num_operands ? sizes->moments[node->operands[0].index] : (Moments){0, 1};
  const MirageType *result = type_of(sizes, node->first_result);
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
    return unary(node->op, result, x);
  case MIRAGE_KIND_BINARY:
    return binary(node->op, result, x, sizes->moments[node->operands[1].index],
                  node->operands[0].index == node->operands[1].index);
  case MIRAGE_KIND_REDUCE:
    return reduced(sizes, node, x);
  case MIRAGE_KIND_MATMUL:
    return product(sizes, node);
  case MIRAGE_KIND_CONSTANT:
    return (Moments){isfinite(node->attrs->constant.value) ? node->attrs->constant.value : 0, 0};
  default: // moves elements, or is a kernel, which nobody writes into a program
    return x;
  }
}

// -------------------------------------------------------------------------------------------------------------- choice

// The input behind an operand, through operators that only move elements; -1 when it is computed.
static int64_t moved_input(const MirageUGraph *program, MirageValue value) {
  for (MirageNode def = mirage_ugraph_def(program, value); def.index; def = mirage_ugraph_def(program, value)) {
    MirageNodeView node = mirage_ugraph_node(program, def);
    MirageOpKind kind = mirage_op_info(node.op)->kind;
    if ((kind != MIRAGE_KIND_SHAPE && kind != MIRAGE_KIND_CAST) || node.num_operands != 1)
      return -1;
    value = node.operands[0];
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++)
    if (mirage_ugraph_get_input(program, i).index == value.index)
      return i;
  return -1;
}

// The input's new size, there and in the views of it that were met already.
static void set_scale(Sizes *sizes, uint32_t input, double scale, uint32_t num_nodes, const MirageNode *nodes) {
  sizes->scales[input] = scale;
  sizes->chosen[input] = true;
  sizes->moments[mirage_ugraph_get_input(sizes->program, input).index].variance = scale * scale;
  for (uint32_t i = 0; i < num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(sizes->program, nodes[i]);
    if (node.num_results == 1 && moved_input(sizes->program, node.first_result) == input)
      sizes->moments[node.first_result.index].variance = scale * scale;
  }
}

// Power of 2 next to the size of a value: what is estimated is no better known.
static double about(double size) { return size > 1e-150 && size < 1e150 ? exp2(round(log2(size))) : 1; }

static void choose(Sizes *sizes, const MirageNodeView *matmul, uint32_t num_nodes, const MirageNode *nodes) {
  if (sizes->exponential[matmul->operands[0].index])
    return;
  int64_t left = moved_input(sizes->program, matmul->operands[0]);
  int64_t right = moved_input(sizes->program, matmul->operands[1]);
  int64_t input = right >= 0 && !sizes->chosen[right] ? right : right < 0 ? left : -1;
  if (input < 0 || sizes->chosen[input])
    return;
  MirageValue other = matmul->operands[input == right ? 0 : 1];
  double size = left == right ? 1 : sqrt(second(sizes->moments[other.index]));
  set_scale(sizes, (uint32_t)input, 1 / (about(size) * sqrt((double)contracted(sizes, matmul))), num_nodes, nodes);
}

// Whether an exponential is the size of what comes out. Not below a division (a sigmoid's), and not behind a product or
// a logarithm.
static bool is_exponential(const Sizes *sizes, const MirageNodeView *node) {
  if (node->op == MIRAGE_OP_EXP)
    return true;
  if (node->op == MIRAGE_OP_MATMUL || node->op == MIRAGE_OP_LOG)
    return false;
  for (uint32_t j = 0; j < (node->op == MIRAGE_OP_DIV ? 1 : node->num_operands); j++)
    if (sizes->exponential[node->operands[j].index])
      return true;
  return false;
}

static void walk(Sizes *sizes) {
  MirageRegionView body = mirage_ugraph_region(sizes->program, mirage_ugraph_body(sizes->program));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(sizes->program, body.nodes[i]);
    if (node.op == MIRAGE_OP_MATMUL)
      choose(sizes, &node, i, body.nodes);
    for (uint32_t j = 0; j < node.num_results; j++) {
      sizes->exponential[node.first_result.index + j] = is_exponential(sizes, &node);
      sizes->moments[node.first_result.index + j] = of_node(sizes, &node);
    }
  }
}

static void choose_stored(Sizes *sizes) {
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(sizes->program); i++) {
    MirageDType dtype = type_of(sizes, mirage_ugraph_get_input(sizes->program, i))->dtype;
    if (mirage_dtype_is_stored(dtype))
      set_scale(sizes, i, dtype == MIRAGE_I8 ? 40 : dtype == MIRAGE_I4 ? 3 : 1, 0, NULL);
  }
}

MirageStatus run_default_scales(const MirageUGraph *program, const MirageDiag *diag, double *scales) {
  MirageUGraph *expanded = NULL;
  MIRAGE_TRY(mirage_ugraph_expand(program, diag, &expanded));
  uint32_t num_values = mirage_ugraph_num_values(expanded), num_inputs = mirage_ugraph_num_inputs(expanded);
  Sizes sizes = {.program = expanded, .scales = scales};
  sizes.moments = malloc((num_values + 1) * sizeof *sizes.moments);
  sizes.exponential = calloc(num_values + 1, sizeof *sizes.exponential);
  sizes.chosen = calloc(num_inputs + 1, sizeof *sizes.chosen);
  bool ok = sizes.moments && sizes.exponential && sizes.chosen;
  for (uint32_t v = 0; ok && v <= num_values; v++)
    sizes.moments[v] = (Moments){0, 1};
  for (uint32_t i = 0; i < num_inputs; i++)
    scales[i] = 1;
  if (ok)
    choose_stored(&sizes);
  if (ok)
    walk(&sizes);
  free(sizes.moments);
  free(sizes.exponential);
  free(sizes.chosen);
  mirage_ugraph_destroy(expanded);
  return ok ? MIRAGE_OK : mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "inputs: out of memory");
}
