// prefix_terms.c - follows the derivations of a search space, and the program, operator by operator.
#include "prefix_terms.h"
#include "expr/expr_table.h"
#include <stdlib.h>
#include <string.h>

static const MirageTerm none = {0};

static MirageTerm apply(MirageTerms *terms, MirageOp op, MirageTerm a, MirageTerm b) {
  return mirage_term_apply(terms, op, a, b);
}

// The sum over a dimension is the sum over each of its parts.
static MirageTerm sum_over(MirageTerms *terms, MirageTerm a, uint8_t dim) {
  uint32_t axis = mirage__search_axis_of(dim);
  a = mirage_term_sum(terms, a, mirage_axis_part(axis, MIRAGE_PART_TILE));
  return dim & SEARCH_WHOLE ? mirage_term_sum(terms, a, mirage_axis_part(axis, MIRAGE_PART_LOOP)) : a;
}

// ----------------------------------------------------------------------------------------- derivations

static MirageTerm derive(const SearchSpace *space, MirageTerms *terms, const SearchDerivation *how,
                         const MirageTerm *known) {
  MirageTerm a = known[how->a], b = known[how->b];
  const SearchTensor *x = &space->tensors[how->a];
  switch (how->op) {
  case MIRAGE_OP_LOAD:
    return mirage_term_input(terms, how->a);
  case MIRAGE_OP_CONSTANT:
    return mirage_term_constant(terms, space->program->constants[how->a]);
  case MIRAGE_OP_REDUCE_SUM:
    return sum_over(terms, a, x->dims[how->dim]);
  case MIRAGE_OP_LOOP:
    return how->flags ? apply(terms, MIRAGE_OP_REDUCE_MAX, a, none)
                      : mirage_term_sum(terms, a, mirage_axis_part(space->loop_axis, MIRAGE_PART_LOOP));
  case MIRAGE_OP_MATMUL:
    return sum_over(terms, apply(terms, MIRAGE_OP_MUL, a, b),
                    x->dims[SEARCH_RANK - (how->flags & SEARCH_TRANSPOSE_A ? 2 : 1)]);
  default:
    return apply(terms, (MirageOp)how->op, a, b);
  }
}

static const SearchDerivation *first_derivation(const SearchSpace *space, uint32_t tensor) {
  uint32_t d = space->tensors[tensor].derivations;
  while (space->derivations[d].next)
    d = space->derivations[d].next; // new ones come in front
  return &space->derivations[d];
}

// ------------------------------------------------------------------------------------------ the program

static MirageTerm program_node(const SearchSpace *space, MirageTerms *terms, const MirageNodeView *node,
                               const MirageTerm *values) {
  const MirageUGraph *graph = space->program->graph;
  MirageTerm a = node->num_operands ? values[node->operands[0].index] : none;
  MirageTerm b = node->num_operands > 1 ? values[node->operands[1].index] : none;
  uint32_t rank = node->num_operands ? mirage_ugraph_type(graph, node->operands[0])->rank : 0, dim = 0;
  uint8_t code;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_BINARY:
    return space->program->dropped[node->operands[1].index] ? a : apply(terms, node->op, a, b);
  case MIRAGE_KIND_CONSTANT:
    return mirage_term_constant(terms, node->attrs->constant.value);
  case MIRAGE_KIND_REDUCE:
    dim = (uint32_t)node->attrs->reduce.dim;
    break;
  case MIRAGE_KIND_MATMUL:
    dim = rank - (node->attrs && node->attrs->matmul.transpose_a ? 2 : 1);
    a = apply(terms, MIRAGE_OP_MUL, a, b);
    break;
  default:
    return apply(terms, node->op, a, b);
  }
  if (node->op == MIRAGE_OP_REDUCE_MAX)
    return apply(terms, node->op, a, none);
  code = space->program->dims[node->operands[0].index][dim];
  if (code && code == space->loop_axis)
    code |= SEARCH_WHOLE;
  return code ? sum_over(terms, a, code) : a;
}

static MirageTerm program_term(const SearchSpace *space, MirageTerms *terms) {
  const MirageUGraph *graph = space->program->graph;
  MirageTerm *values = calloc((size_t)mirage_ugraph_num_values(graph) + 1, sizeof *values);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
    values[mirage_ugraph_get_input(graph, i).index] = mirage_term_input(terms, i);
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.num_results)
      values[node.first_result.index] = program_node(space, terms, &node, values);
  }
  MirageTerm goal = values[mirage_ugraph_get_output(graph, 0).index];
  free(values);
  return goal;
}

bool prefix_terms(const SearchSpace *space, MirageTerms *terms, MirageTerm *out_terms, MirageTerm *out_goal) {
  bool complete = true;
  *out_goal = program_term(space, terms);
  out_terms[0] = none;
  for (uint32_t i = 1; i <= space->num_tensors; i++) {
    out_terms[i] = derive(space, terms, first_derivation(space, i), out_terms);
    complete &= out_terms[i].index != 0;
  }
  return complete && out_goal->index;
}

// ----------------------------------------------------------------------------------------- normal forms

static MirageTerm term_of_atom(MirageTerms *terms, const MirageExprTable *table, const uint32_t *words) {
  if (words[0] == ATOM_INPUT)
    return mirage_term_input(terms, words[1]);
  if (words[0] == ATOM_APPLY) {
    MirageTerm a = term_of_expr(terms, table, (MirageExpr){words[2]});
    MirageTerm b = words[3] ? term_of_expr(terms, table, (MirageExpr){words[3]}) : none;
    return apply(terms, (MirageOp)words[1], a, b);
  }
  uint64_t bits = words[1] | (uint64_t)words[2] << 32;
  double value;
  memcpy(&value, &bits, sizeof value);
  return mirage_term_constant(terms, value);
}

static MirageTerm term_of_monomial(MirageTerms *terms, const MirageExprTable *table, uint32_t id) {
  Monomial monomial = mirage__expr_monomial(table, id);
  MirageTerm product = none;
  for (uint32_t i = 0; i < monomial.num_atoms; i++) {
    MirageTerm atom = term_of_atom(terms, table, table->atoms.records[monomial.atoms[i]].words);
    product = product.index ? apply(terms, MIRAGE_OP_MUL, product, atom) : atom;
  }
  if (!product.index)
    product = mirage_term_constant(terms, 1);
  for (uint32_t i = 0; i < monomial.num_parts; i++)
    product = mirage_term_sum(terms, product, monomial.parts[i]);
  if (monomial.denominator)
    product = apply(terms, MIRAGE_OP_DIV, product, term_of_expr(terms, table, (MirageExpr){monomial.denominator}));
  return monomial.negative ? apply(terms, MIRAGE_OP_NEG, product, none) : product;
}

MirageTerm term_of_expr(MirageTerms *terms, const MirageExprTable *table, MirageExpr expr) {
  const ExprRecord *record = &table->exprs.records[expr.index];
  MirageTerm sum = none;
  for (uint32_t i = 0; i < record->count; i++) {
    MirageTerm monomial = term_of_monomial(terms, table, record->words[i]);
    sum = sum.index ? apply(terms, MIRAGE_OP_ADD, sum, monomial) : monomial;
  }
  return sum.index ? sum : mirage_term_constant(terms, 0);
}
