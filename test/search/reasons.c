// reasons.c - why the search lacks a block graph that brute force has.
//
//   unproven   the verifier does not prove it: right at the sample only
//   axioms     its abstract expression is not the program's under A_eq (cancellation, exp(a)exp(b), ..), which the
//              search leaves out by design [Mirage 4.3]
//   merged     it computes one value twice, or 0, 1 or an operand again; the class without is there
//   chain      it has two element-wise operators more than the least, and the search with `optimal` finds it
//   detour     as many more, and `optimal` leaves it out too: a sign that is undone, a factor that cancels
//   loop       its loop walks an axis of the output, or two axes
//   rewritten  x / -1 is there as x * -1, and a / (n / d) as one of (a d) / n, (a / n) d, a (d / n)
//   divisor    it divides by what holds a quotient (lib/expr/README.md), and the search has no longer graph without
//   products   the search finds it when expressions expand products of sums
#include "classes.h"

#include "mirage/verify.h"
#include "passes/passes.h"
#include <math.h>

const char *const REASONS[] = {"both", "unproven",  "axioms",  "merged",   "chain", "detour",
                               "loop", "rewritten", "divisor", "products", "LOSS"};

// Whether two nodes of one kind hold the same values, or one holds 0 or 1 everywhere.
bool repeats_values(const BruteGraph *graph) {
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    uint32_t size = graph->blocks * (node->stage == BRUTE_INSIDE ? graph->iterations : 1) *
                    (uint32_t)(node->shape[0] * node->shape[1]);
    bool zero = node->op != MIRAGE_OP_CONSTANT, one = zero;
    for (uint32_t v = 0; v < size; v++) {
      zero &= fabs(node->values[v]) < 1e-12;
      one &= fabs(node->values[v] - 1) < 1e-12;
    }
    if (zero || one)
      return true;
    for (uint32_t j = 0; j < i; j++) {
      const BruteNode *other = &graph->nodes[j];
      bool same = other->stage == node->stage && other->shape[0] == node->shape[0] &&
                  other->shape[1] == node->shape[1] && node->op != MIRAGE_OP_CONSTANT;
      for (uint32_t v = 0; same && v < size; v++)
        same = fabs(node->values[v] - other->values[v]) <= 1e-11 * fabs(node->values[v]);
      if (same)
        return true;
    }
  }
  return false;
}

static bool is_proven(const Comparison *c, const BruteGraph *graph, bool *out_differs) {
  MirageUGraph *built = brute_build(c->brute, graph, NULL);
  MirageVerdict verdict = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  *out_differs = false;
  bool proven = built &&
                mirage_verify(c->program, built, &(MirageVerifyOptions){.seed = 3}, NULL, &verdict) == MIRAGE_OK &&
                verdict.kind == MIRAGE_VERDICT_EQUIVALENT &&
                mirage__expression_differs(c->program, built, false, NULL, out_differs) == MIRAGE_OK;
  mirage_ugraph_destroy(built);
  return proven;
}

// Whether no plan's loop walks what this graph's loop walks.
static bool has_other_loop(const Comparison *c, const BruteGraph *graph) {
  uint32_t walked = 0;
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    if (node->op != MIRAGE_OP_LOAD || node->loop == BRUTE_NO_DIM)
      continue;
    MirageValue input = mirage_ugraph_get_input(c->axes.graph, node->a);
    uint32_t axis = c->axes.dims[input.index][node->loop - (BRUTE_RANK - node->rank)];
    if (!search_axis_is_loop(&c->axes.axes[axis]) || (walked && walked != axis))
      return true;
    walked = axis;
  }
  return false;
}

// -------------------------------------------------------------------------------------------- rewrites

enum { REWRITES = 3 };

static uint64_t key_above(const BruteGraph *graph, uint32_t index, uint32_t rewrite);

static bool is_minus_one(const BruteNode *node) { return node->op == MIRAGE_OP_CONSTANT && node->constant == -1; }

// a / (n / d), in one of the other ways to write it.
static uint64_t key_turned_over(uint64_t a, uint64_t n, uint64_t d, uint32_t rewrite) {
  switch (rewrite) {
  case 0:
    return brute_key_operator(MIRAGE_OP_DIV, 0, brute_key_operator(MIRAGE_OP_MUL, 0, a, d), n);
  case 1:
    return brute_key_operator(MIRAGE_OP_MUL, 0, brute_key_operator(MIRAGE_OP_DIV, 0, a, n), d);
  default:
    return brute_key_operator(MIRAGE_OP_MUL, 0, a, brute_key_operator(MIRAGE_OP_DIV, 0, d, n));
  }
}

// The key that a node would have if what the search writes in another form were written so.
static uint64_t key_above(const BruteGraph *graph, uint32_t index, uint32_t rewrite) {
  const BruteNode *node = &graph->nodes[index], *b = &graph->nodes[node->b];
  if (node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT)
    return node->key;
  uint64_t left = key_above(graph, node->a, rewrite);
  if (node->op == MIRAGE_OP_DIV && is_minus_one(b))
    return brute_key_operator(MIRAGE_OP_MUL, 0, left, b->key);
  if (node->op == MIRAGE_OP_DIV && b->op == MIRAGE_OP_DIV)
    return key_turned_over(left, key_above(graph, b->a, rewrite), key_above(graph, b->b, rewrite), rewrite);
  bool binary = node->op == MIRAGE_OP_MATMUL || mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_BINARY;
  uint32_t variant = node->op == MIRAGE_OP_LOOP ? node->maximum : (uint32_t)(node->dim + 1);
  return brute_key_operator(node->op, variant, left, binary ? key_above(graph, node->b, rewrite) : 0);
}

static bool is_rewritten(const Comparison *c, const BruteGraph *graph) {
  for (uint32_t rewrite = 0; rewrite < REWRITES; rewrite++)
    if (find_class(&c->search, key_above(graph, graph->num_nodes - 1, rewrite)))
      return true;
  return false;
}

// Whether the graph divides by something with a quotient in it that no non-linear operator hides.
static bool divides_by_quotient(const BruteGraph *graph) {
  bool quotient[BRUTE_NODES] = {false};
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    MirageOpKind kind = mirage_op_info((MirageOp)node->op)->kind;
    if (node->op == MIRAGE_OP_DIV && quotient[node->b])
      return true;
    if (node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT || kind == MIRAGE_KIND_UNARY)
      continue;
    bool binary = node->op == MIRAGE_OP_MATMUL || kind == MIRAGE_KIND_BINARY;
    quotient[i] = node->op == MIRAGE_OP_DIV || quotient[node->a] || (binary && quotient[node->b]);
  }
  return false;
}

static uint32_t fewest_operators(const Classes *classes, uint32_t loop) {
  uint32_t fewest = UINT32_MAX;
  for (uint32_t i = 0; i < classes->num; i++)
    if (classes->items[i].loop == loop && classes->items[i].operators < fewest)
      fewest = classes->items[i].operators;
  return fewest;
}

// --------------------------------------------------------------------------------------------- reasons

static uint32_t fewest_elementwise(const Classes *classes, uint32_t loop) {
  uint32_t fewest = UINT32_MAX - 1;
  for (uint32_t i = 0; i < classes->num; i++)
    if (classes->items[i].loop == loop && classes->items[i].elementwise < fewest)
      fewest = classes->items[i].elementwise;
  return fewest;
}

// Whether the search finds the class when it expands products of sums.
static bool is_expanded(Comparison *c, uint64_t key) {
  MirageSearchOptions options = c->options;
  options.no_keep_products = true;
  if (!c->expanded.num)
    list_search(c->program, &options, &c->expanded);
  return find_class(&c->expanded, key) != NULL;
}

// Whether the search finds the class when it deepens to the last link.
static bool is_deep(Comparison *c, uint64_t key) {
  MirageSearchOptions options = c->options;
  options.optimal = true;
  if (!c->optimal.num)
    list_search(c->program, &options, &c->optimal);
  return find_class(&c->optimal, key) != NULL;
}

Reason reason_of(Comparison *c, const Class *class) {
  bool differs, proven = is_proven(c, &class->graph, &differs);
  if (!proven)
    return UNPROVEN;
  if (find_class(&c->search, class->key))
    return BOTH;
  if (differs)
    return AXIOMS;
  if (class->merged)
    return MERGED;
  if (class->elementwise > fewest_elementwise(&c->search, class->loop) + 1)
    return is_deep(c, class->key) ? CHAIN : DETOUR;
  if (has_other_loop(c, &class->graph))
    return LOOP;
  if (is_rewritten(c, &class->graph))
    return REWRITTEN;
  if (divides_by_quotient(&class->graph) && fewest_operators(&c->search, class->loop) <= class->operators)
    return DIVISOR;
  return is_expanded(c, class->key) ? PRODUCTS : LOSS;
}
