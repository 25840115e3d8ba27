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
//   masked attention     scores become cap * tanh(scores / cap), then mask(visible, scores) or scores + mask; where a row may
//                        see no key, its sum becomes sum + not(any visible), so that its weights are 0
//   abs(x), pow(x) ..    functions.c
//   select(c, x, y)      max(mask(c, x), mask(not c, y)): one of the two is bottom
//   reshape(i < n)       reshape(i) < reshape(n), where nothing moves but extents of 1 (expand_predicates.c)
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
    // y < x, y <= x, not (x == y): the last two also where an operand is no number
    [MIRAGE_OP_GREATER] = {1, {BINARY(LESS, Y, X)}},
    [MIRAGE_OP_GREATER_EQUAL] = {1, {BINARY(LESS_EQUAL, Y, X)}},
    [MIRAGE_OP_NOT_EQUAL] = {2, {BINARY(EQUAL, X, Y), UNARY(NOT, R(0))}},
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

MirageValue mirage__expand_steps(MirageUGraph *g, const MirageExpansion *expansion, const MirageValue *operands,
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

static MirageValue expand_select(MirageUGraph *g, const MirageValue *operands) {
  MirageValue yes = binary(g, MIRAGE_OP_MASK, operands[0], operands[1]);
  MirageValue no = binary(g, MIRAGE_OP_MASK, unary(g, MIRAGE_OP_NOT, operands[0]), operands[2]);
  return binary(g, MIRAGE_OP_MAX, yes, no);
}

// ------------------------------------------------------------------------------------------ attention

// The positions start, start + 1, .. of `extent` queries or keys, along dimension `dim` of [queries, keys].
static MirageValue positions(MirageUGraph *g, int32_t dim, int64_t extent, int64_t start) {
  const int64_t shape[] = {dim == 0 ? extent : 1, dim == 1 ? extent : 1};
  const MirageAttrs attrs = {.iota = {.type = mirage_type_tensor(MIRAGE_I32, 2, shape), .dim = dim, .start = start}};
  return mirage_ugraph_apply(g, MIRAGE_OP_IOTA, 0, NULL, &attrs);
}

// Which keys a query sees by its position: those up to its own, and not more than `window` of these.
static MirageValue causal_mask(MirageUGraph *g, const MirageType *scores, const MirageAttrs *attrs) {
  int64_t queries = scores->shape[scores->rank - 2], keys = scores->shape[scores->rank - 1];
  MirageValue key = positions(g, 1, keys, 0), query = positions(g, 0, queries, attrs->sdpa.offset);
  MirageValue visible = binary(g, MIRAGE_OP_LESS_EQUAL, key, query);
  if (!attrs->sdpa.window)
    return visible;
  MirageValue before = positions(g, 0, queries, attrs->sdpa.offset - attrs->sdpa.window);
  return binary(g, MIRAGE_OP_AND, visible, binary(g, MIRAGE_OP_LESS, before, key));
}

// Whether each query sees some key, by position alone.
static bool sees_keys(const MirageType *scores, const MirageAttrs *attrs) {
  int64_t queries = scores->shape[scores->rank - 2], keys = scores->shape[scores->rank - 1];
  return attrs->sdpa.offset >= 0 &&
         (!attrs->sdpa.window || queries - 1 + attrs->sdpa.offset - attrs->sdpa.window < keys - 1);
}

bool mirage_attention_is_masked(uint32_t num_operands, const MirageAttrs *attrs) {
  return num_operands > 3 || attrs->sdpa.causal || attrs->sdpa.cap != 0;
}

// The scores with bottom where a query does not see a key, and the predicate that says so where a row may be bottom
// altogether, or {0}.
static MirageValue mask_scores(MirageUGraph *g, const MirageNodeView *node, const MirageValue *operands,
                               MirageValue scores, MirageValue *out_visible) {
  const MirageType type = *type_of(g, scores);
  MirageValue visible = {0};
  bool empty_rows = false;
  if (node->attrs->sdpa.causal) {
    visible = causal_mask(g, &type, node->attrs);
    empty_rows = !sees_keys(&type, node->attrs);
  }
  if (node->num_operands > 3 && type_of(g, operands[3])->dtype == MIRAGE_I1) {
    visible = visible.index ? binary(g, MIRAGE_OP_AND, operands[3], visible) : operands[3];
    empty_rows = true;
  } else if (node->num_operands > 3) {
    scores = binary(g, MIRAGE_OP_ADD, scores, operands[3]);
  }
  *out_visible = empty_rows ? visible : (MirageValue){0};
  return visible.index ? binary(g, MIRAGE_OP_MASK, visible, scores) : scores;
}

// A row that sees no key has no sum; 1 in its place makes its weights 0.
static MirageValue masked_softmax(MirageUGraph *g, MirageValue scores, MirageValue visible) {
  int32_t dim = (int32_t)type_of(g, scores)->rank - 1;
  MirageValue top = reduce(g, MIRAGE_OP_REDUCE_MAX, scores, dim);
  MirageValue e = unary(g, MIRAGE_OP_EXP, binary(g, MIRAGE_OP_SUB, scores, top));
  MirageValue sum = reduce(g, MIRAGE_OP_REDUCE_SUM, e, dim);
  MirageValue any = reduce(g, MIRAGE_OP_REDUCE_MAX, visible, (int32_t)type_of(g, visible)->rank - 1);
  MirageValue none = mirage_ugraph_cast(g, unary(g, MIRAGE_OP_NOT, any), type_of(g, scores)->dtype);
  return binary(g, MIRAGE_OP_DIV, e, binary(g, MIRAGE_OP_ADD, sum, none));
}

static MirageValue expand_attention(MirageUGraph *g, const MirageNodeView *node, const MirageValue *operands) {
  const MirageAttrs transposed = {.matmul = {.transpose_b = true}};
  double cap = node->attrs->sdpa.cap;
  MirageValue visible, scores = mirage_ugraph_apply(g, MIRAGE_OP_MATMUL, 2, operands, &transposed);
  if (node->attrs->sdpa.scale != 1.0)
    scores = binary(g, MIRAGE_OP_MUL, scores, constant(g, scores, node->attrs->sdpa.scale));
  if (cap != 0)
    scores =
        binary(g, MIRAGE_OP_MUL, unary(g, MIRAGE_OP_TANH, binary(g, MIRAGE_OP_DIV, scores, constant(g, scores, cap))),
               constant(g, scores, cap));
  scores = mask_scores(g, node, operands, scores, &visible);
  MirageValue weights = visible.index ? masked_softmax(g, scores, visible)
                                      : expand_softmax(g, scores, (int32_t)type_of(g, scores)->rank - 1);
  return binary(g, MIRAGE_OP_MATMUL, weights, operands[2]);
}

// ---------------------------------------------------------------------------------------- the pass

bool mirage_op_expands(MirageOp op) {
  return mirage_op_expansion(op) || op == MIRAGE_OP_REDUCE_MEAN || mirage_op_info(op)->kind == MIRAGE_KIND_SUGAR;
}

static MirageValue expand_node(MirageUGraph *g, const MirageNodeView *node, const MirageValue *operands) {
  const MirageExpansion *expansion = mirage_op_expansion(node->op);
  if (expansion)
    return mirage__expand_steps(g, expansion, operands, node->num_operands);
  switch (node->op) {
  case MIRAGE_OP_REDUCE_MEAN:
    return expand_mean(g, operands[0], node->attrs);
  case MIRAGE_OP_SOFTMAX:
    return expand_softmax(g, operands[0], node->attrs->dim.dim);
  case MIRAGE_OP_RMS_NORM:
    return normalize(g, operands[0], node->attrs->eps.eps, node->num_operands - 1, operands + 1);
  case MIRAGE_OP_LAYER_NORM:
    return expand_layer_norm(g, node->attrs->eps.eps, node->num_operands, operands);
  case MIRAGE_OP_SELECT:
    return expand_select(g, operands);
  case MIRAGE_OP_SDPA:
    return expand_attention(g, node, operands);
  default: // what sugar is left
    return mirage_ugraph_apply_function(g, node->op, node->attrs, operands[0]);
  }
}

static bool node_expands(const MirageNodeView *node) { return mirage_op_expands(node->op); }

// A predicate that is reshaped, or one that nobody else reads: true, and done.
static bool expand_predicate(Copier *copier, const bool *needed, const MirageNodeView *node) {
  if (node->num_results != 1 || !mirage_ugraph_is_logical(copier->from, node->first_result))
    return false;
  bool goes_up = needed[node->first_result.index] && mirage__goes_up(copier->from, node);
  if (goes_up)
    mirage__move_up(copier, node);
  return goes_up || !needed[node->first_result.index];
}

// In the program's types, or (`wide`) in f32 between a cast of each operand and one of the result.
static MirageStatus expand_graph(const MirageUGraph *graph, bool (*expands)(const MirageNodeView *), bool wide,
                                 const MirageDiag *diag, MirageUGraph **out_graph) {
  enum { MAX_OPERANDS = 4 }; // of an operator that expands
  Copier copier;
  *out_graph = NULL;
  MIRAGE_TRY(mirage__copier_begin(&copier, graph, diag));
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  bool predicates = expands == node_expands && !wide;
  bool *needed = mirage_arena_alloc_array(&copier.scratch, mirage_ugraph_num_values(graph) + 1, sizeof *needed);
  if (!needed)
    copier.to->status = copier.to->status ? copier.to->status : MIRAGE_NO_MEMORY;
  else if (predicates)
    mirage__mark_needed(graph, needed);
  for (uint32_t i = 0; i < body.num_nodes && mirage_ugraph_status(copier.to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (predicates && expand_predicate(&copier, needed, &node))
      continue;
    if (!expands(&node)) {
      mirage__copier_node(&copier, body.nodes[i]);
      continue;
    }
    MirageValue operands[MAX_OPERANDS] = {{0}};
    MirageDType dtype = mirage_ugraph_type(graph, node.first_result)->dtype;
    bool cast = wide && dtype != MIRAGE_F32 && mirage_dtype_family(dtype) == MIRAGE_FAMILY_FLOAT;
    mirage_ugraph_set_loc(copier.to, node.loc);
    for (uint32_t k = 0; k < node.num_operands && k < MAX_OPERANDS; k++) {
      operands[k] = copier.map[node.operands[k].index];
      MirageDType given = type_of(copier.to, operands[k])->dtype;
      if (wide && given != MIRAGE_F32 && mirage_dtype_family(given) == MIRAGE_FAMILY_FLOAT)
        operands[k] = mirage_ugraph_cast(copier.to, operands[k], MIRAGE_F32);
    }
    MirageValue result = expand_node(copier.to, &node, operands);
    copier.map[node.first_result.index] = cast ? mirage_ugraph_cast(copier.to, result, dtype) : result;
  }
  return mirage__copier_finish(&copier, out_graph);
}

bool mirage_ugraph_expands(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  bool expands = false;
  for (uint32_t i = 0; i < body.num_nodes && !expands; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    expands = node_expands(&node) || mirage__goes_up(graph, &node);
  }
  return expands;
}

MirageStatus mirage_ugraph_expand(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph) {
  return expand_graph(graph, node_expands, false, diag, out_graph);
}

MirageStatus mirage_ugraph_expand_wide(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph) {
  return expand_graph(graph, node_expands, true, diag, out_graph);
}

static bool is_masked_attention(const MirageNodeView *node) {
  return node->op == MIRAGE_OP_SDPA && mirage_attention_is_masked(node->num_operands, node->attrs);
}

MirageStatus mirage_ugraph_expand_masks(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph) {
  return expand_graph(graph, is_masked_attention, true, diag, out_graph);
}
