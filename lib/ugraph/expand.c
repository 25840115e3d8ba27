// expand.c - rewrites a kernel graph into elementary operators: the form that search, expressions and proofs start
// from.
//
// Derived element-wise operators have one canonical form each, a table of steps (mirage_op_expansion) that expressions,
// fields and evaluators share. What reduces or multiplies is built here. Element types stay those of the program, so an
// expanded f16 graph rounds after every step; it is read as a definition, and what the search makes of it computes in
// f32 inside its blocks. Constants are rank 0 and broadcast.
//
//   reduce_mean(x)       reduce_sum(x) / (elements summed)
//   softmax(x)           e / reduce_sum(e),  e = exp(x - reduce_max(x))
//   rms_norm(x, g)       x / sqrt(mean(x*x) + eps) * g            without "+ eps" when eps = 0, without "* g" when
//   absent layer_norm(x, g, b)  c / sqrt(mean(c*c) + eps) * g + b,  c = x - mean(x)          likewise attention(q, k,
//   v)   softmax(q @ k^T * scale) @ v             without "* scale" when scale = 1
//
// Custom nodes are copied unchanged.
#include "ugraph_internal.h"

// ------------------------------------------------------------------ derived element-wise operators

enum { X = 0, Y = 1 }; // the derived operator's operands
#define R(i) (2 + (i)) // the result of step i
#define CONST(v) {.op = MIRAGE_OP_CONSTANT, .value = (v)}
#define UNARY(name, of) {.op = MIRAGE_OP_##name, .a = (of)}
#define BINARY(name, left, right) {.op = MIRAGE_OP_##name, .a = (left), .b = (right)}

static const MirageExpansion EXPANSIONS[MIRAGE_NUM_OPS] = {
    // 1 / sqrt(x)
    [MIRAGE_OP_RSQRT] = {3, {CONST(1.0), UNARY(SQRT, X), BINARY(DIV, R(0), R(1))}},
    // x * x
    [MIRAGE_OP_SQUARE] = {1, {BINARY(MUL, X, X)}},
    // x * -1, not 0 - x: exact for signed zeros, and one monomial of an abstract expression
    [MIRAGE_OP_NEG] = {2, {CONST(-1.0), BINARY(MUL, X, R(0))}},
    // 1 / (1 + exp(x * -1))
    [MIRAGE_OP_SIGMOID] = {6,
                           {CONST(-1.0), BINARY(MUL, X, R(0)), UNARY(EXP, R(1)), CONST(1.0), BINARY(ADD, R(3), R(2)),
                            BINARY(DIV, R(3), R(4))}},
    // x * sigmoid(x)
    [MIRAGE_OP_SILU] = {7,
                        {CONST(-1.0), BINARY(MUL, X, R(0)), UNARY(EXP, R(1)), CONST(1.0), BINARY(ADD, R(3), R(2)),
                         BINARY(DIV, R(3), R(4)), BINARY(MUL, X, R(5))}},
    // (x * 0.5) * (1 + erf(x / sqrt(2)))
    [MIRAGE_OP_GELU] = {8,
                        {CONST(1.41421356237309504880), BINARY(DIV, X, R(0)), UNARY(ERF, R(1)), CONST(1.0),
                         BINARY(ADD, R(3), R(2)), CONST(0.5), BINARY(MUL, X, R(5)), BINARY(MUL, R(6), R(4))}},
    // (x * 0.5) * (1 + tanh((x + x*x*x * 0.044715) * sqrt(2/pi)))
    [MIRAGE_OP_GELU_TANH] = {13,
                             {BINARY(MUL, X, X), BINARY(MUL, R(0), X), CONST(0.044715), BINARY(MUL, R(1), R(2)),
                              BINARY(ADD, X, R(3)), CONST(0.79788456080286535588), BINARY(MUL, R(4), R(5)),
                              UNARY(TANH, R(6)), CONST(1.0), BINARY(ADD, R(8), R(7)), CONST(0.5), BINARY(MUL, X, R(10)),
                              BINARY(MUL, R(11), R(9))}},
    // max(x, 0)
    [MIRAGE_OP_RELU] = {2, {CONST(0.0), BINARY(MAX, X, R(0))}},
    // max(x * -1, y * -1) * -1
    [MIRAGE_OP_MIN] = {5,
                       {CONST(-1.0), BINARY(MUL, X, R(0)), BINARY(MUL, Y, R(0)), BINARY(MAX, R(1), R(2)),
                        BINARY(MUL, R(3), R(0))}},
};

const MirageExpansion *mirage_op_expansion(MirageOp op) {
  return op > MIRAGE_OP_NONE && op < MIRAGE_NUM_OPS && EXPANSIONS[op].num_steps ? &EXPANSIONS[op] : NULL;
}

// ---------------------------------------------------------------------------- building with values

static const MirageType *type_of(MirageUGraph *g, MirageValue value) { return mirage_ugraph_type(g, value); }

static MirageValue unary(MirageUGraph *g, MirageOp op, MirageValue a) {
  return mirage_ugraph_apply(g, op, 1, &a, NULL);
}

static MirageValue binary(MirageUGraph *g, MirageOp op, MirageValue a, MirageValue b) {
  return mirage_ugraph_apply(g, op, 2, (MirageValue[]){a, b}, NULL);
}

// A rank-0 constant of the element type of `like`.
static MirageValue constant(MirageUGraph *g, MirageValue like, double value) {
  return mirage_ugraph_constant(g, mirage_type_tensor(type_of(g, like)->dtype, 0, NULL), value);
}

static MirageValue expand_steps(MirageUGraph *g, const MirageExpansion *expansion, const MirageValue *operands,
                                uint32_t num_operands) {
  MirageValue values[R(sizeof expansion->steps / sizeof *expansion->steps)] = {{0}};
  for (uint32_t i = 0; i < num_operands; i++)
    values[i] = operands[i];
  MirageValue last = {0};
  for (uint32_t i = 0; i < expansion->num_steps; i++) {
    const MirageExpansionStep *step = &expansion->steps[i];
    if (step->op == MIRAGE_OP_CONSTANT)
      last = constant(g, operands[0], step->value);
    else if (mirage_op_info(step->op)->max_operands == 1)
      last = unary(g, step->op, values[step->a]);
    else
      last = binary(g, step->op, values[step->a], values[step->b]);
    values[R(i)] = last;
  }
  return last;
}

// ---------------------------------------------------------------------------- reductions and sugar

static MirageValue reduce(MirageUGraph *g, MirageOp op, MirageValue x, int32_t dim) {
  return mirage_ugraph_apply(g, op, 1, &x, &(MirageAttrs){.reduce = {.dim = dim, .extent = 1}});
}

// A count beyond the largest f16 divides in f32.
static MirageValue expand_mean(MirageUGraph *g, MirageValue x, const MirageAttrs *over) {
  int32_t dim = over->reduce.dim;
  double summed = dim >= 0 ? (double)(type_of(g, x)->shape[dim] / over->reduce.extent) : 1; // none: x failed to build
  MirageValue sum = mirage_ugraph_apply(g, MIRAGE_OP_REDUCE_SUM, 1, &x, over);
  MirageDType dtype = type_of(g, sum)->dtype;
  if (summed < mirage__overflow_bound(dtype))
    return binary(g, MIRAGE_OP_DIV, sum, constant(g, sum, summed));
  MirageValue count = mirage_ugraph_constant(g, mirage_type_tensor(MIRAGE_F32, 0, NULL), summed);
  sum = mirage_ugraph_cast(g, sum, MIRAGE_F32);
  return mirage_ugraph_cast(g, binary(g, MIRAGE_OP_DIV, sum, count), dtype);
}

static MirageValue expand_softmax(MirageUGraph *g, MirageValue x, int32_t dim) {
  MirageValue top = reduce(g, MIRAGE_OP_REDUCE_MAX, x, dim);
  MirageValue e = unary(g, MIRAGE_OP_EXP, binary(g, MIRAGE_OP_SUB, x, top));
  return binary(g, MIRAGE_OP_DIV, e, reduce(g, MIRAGE_OP_REDUCE_SUM, e, dim));
}

static MirageValue mean_of_rows(MirageUGraph *g, MirageValue x) {
  const MirageAttrs rows = {.reduce = {.dim = (int32_t)type_of(g, x)->rank - 1, .extent = 1}};
  return expand_mean(g, x, &rows);
}

// c / sqrt(mean(c*c) + eps) over the last dimension, then gain and bias where given.
static MirageValue normalize(MirageUGraph *g, MirageValue c, double eps, uint32_t num_factors,
                             const MirageValue *factors) {
  MirageValue variance = mean_of_rows(g, binary(g, MIRAGE_OP_MUL, c, c));
  if (eps != 0.0)
    variance = binary(g, MIRAGE_OP_ADD, variance, constant(g, c, eps));
  MirageValue y = binary(g, MIRAGE_OP_DIV, c, unary(g, MIRAGE_OP_SQRT, variance));
  if (num_factors > 0)
    y = binary(g, MIRAGE_OP_MUL, y, factors[0]);
  if (num_factors > 1)
    y = binary(g, MIRAGE_OP_ADD, y, factors[1]);
  return y;
}

static MirageValue expand_layer_norm(MirageUGraph *g, double eps, uint32_t num_operands, const MirageValue *operands) {
  MirageValue x = operands[0];
  return normalize(g, binary(g, MIRAGE_OP_SUB, x, mean_of_rows(g, x)), eps, num_operands - 1, operands + 1);
}

static MirageValue expand_attention(MirageUGraph *g, double scale, const MirageValue *operands) {
  const MirageAttrs transposed = {.matmul = {.transpose_b = true}};
  MirageValue scores = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, operands, &transposed);
  if (scale != 1.0)
    scores = binary(g, MIRAGE_OP_MUL, scores, constant(g, scores, scale));
  MirageValue weights = expand_softmax(g, scores, (int32_t)type_of(g, scores)->rank - 1);
  return binary(g, MIRAGE_OP_MATMUL, weights, operands[2]);
}

// ---------------------------------------------------------------------------------------- the pass

bool mirage_op_expands(MirageOp op) {
  return mirage_op_expansion(op) || op == MIRAGE_OP_REDUCE_MEAN || mirage_op_info(op)->kind == MIRAGE_KIND_SUGAR;
}

static MirageValue expand_node(MirageUGraph *g, const MirageNodeView *node, const MirageValue *operands) {
  const MirageExpansion *expansion = mirage_op_expansion(node->op);
  if (expansion)
    return expand_steps(g, expansion, operands, node->num_operands);
  switch (node->op) {
  case MIRAGE_OP_REDUCE_MEAN:
    return expand_mean(g, operands[0], node->attrs);
  case MIRAGE_OP_SOFTMAX:
    return expand_softmax(g, operands[0], node->attrs->dim.dim);
  case MIRAGE_OP_RMS_NORM:
    return normalize(g, operands[0], node->attrs->eps.eps, node->num_operands - 1, operands + 1);
  case MIRAGE_OP_LAYER_NORM:
    return expand_layer_norm(g, node->attrs->eps.eps, node->num_operands, operands);
  default: // the only other sugar
    return expand_attention(g, node->attrs->sdpa.scale, operands);
  }
}

// In the program's types, or (`wide`) in f32 between a cast of each operand and one of the result.
static MirageStatus expand_graph(const MirageUGraph *graph, bool wide, const MirageDiag *diag,
                                 MirageUGraph **out_graph) {
  enum { MAX_OPERANDS = 3 }; // of an operator that expands
  Copier copier;
  *out_graph = NULL;
  MIRAGE_TRY(mirage__copier_begin(&copier, graph, diag));
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes && mirage_ugraph_status(copier.to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (!mirage_op_expands(node.op)) {
      mirage__copier_node(&copier, body.nodes[i]);
      continue;
    }
    MirageValue operands[MAX_OPERANDS] = {{0}};
    MirageDType dtype = mirage_ugraph_type(graph, node.first_result)->dtype;
    bool cast = wide && dtype != MIRAGE_F32;
    mirage_ugraph_set_loc(copier.to, node.loc);
    for (uint32_t k = 0; k < node.num_operands && k < MAX_OPERANDS; k++) {
      operands[k] = copier.map[node.operands[k].index];
      if (wide && type_of(copier.to, operands[k])->dtype != MIRAGE_F32)
        operands[k] = mirage_ugraph_cast(copier.to, operands[k], MIRAGE_F32);
    }
    MirageValue result = expand_node(copier.to, &node, operands);
    copier.map[node.first_result.index] = cast ? mirage_ugraph_cast(copier.to, result, dtype) : result;
  }
  return mirage__copier_finish(&copier, out_graph);
}

MirageStatus mirage_ugraph_expand(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph) {
  return expand_graph(graph, false, diag, out_graph);
}

MirageStatus mirage_ugraph_expand_wide(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph) {
  return expand_graph(graph, true, diag, out_graph);
}
