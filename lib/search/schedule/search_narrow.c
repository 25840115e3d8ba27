// search_narrow.c - sums that blocks exchange in the program's 16-bit type.
//
// Attention that is split over keys ends with  o = sum of o_j c_j,  l = sum of l_j c_j,  y = o / l,  and o_j is most of what the
// blocks j exchange. Every o_j is a sum of values with weights that sum to l_j, so o_j / l_j is as large as the values are, and
// as safe in 16 bits as the result itself:
//
//     o = sum of cast(o_j / l_j) (l_j c_j)
//
// A block's own maximum is among its scores, so l_j is at least 1 - where no score can be minus infinity and no block's part
// of the keys is empty or beyond the end. So scores are products, perhaps scaled, and the parts divide the axis.
#include "search/schedule/search_narrow.h"

#include "search/schedule/search_tails.h"

static const SearchNode *node_of(const SearchStructure *structure, uint32_t node) { return &structure->nodes[node]; }

// Whether a score is finite wherever products of the inputs are.
static bool is_finite(const SearchStructure *structure, uint32_t node) {
  const SearchNode *score = node_of(structure, node);
  switch ((MirageOp)score->op) {
  case MIRAGE_OP_MATMUL:
    return true;
  case MIRAGE_OP_TRANSPOSE:
    return is_finite(structure, score->a);
  case MIRAGE_OP_MUL:
    if (node_of(structure, score->a)->op == MIRAGE_OP_CONSTANT)
      return is_finite(structure, score->b);
    return node_of(structure, score->b)->op == MIRAGE_OP_CONSTANT && is_finite(structure, score->a);
  case MIRAGE_OP_DIV:
    return node_of(structure, score->b)->op == MIRAGE_OP_CONSTANT && is_finite(structure, score->a);
  default:
    return false;
  }
}

static bool is_rescaled(const SearchNode *node) { return node->op == MIRAGE_OP_LOOP && node->flags == SEARCH_RESCALE; }

// A sum of exponentials of finite scores, less their own maximum.
static bool is_at_least_one(const SearchStructure *structure, const SearchNode *sum) {
  const SearchNode *reduced = node_of(structure, sum->a), *gauge = node_of(structure, sum->gauge - 1);
  if (!is_rescaled(sum) || reduced->op != MIRAGE_OP_REDUCE_SUM)
    return false;
  const SearchNode *weight = node_of(structure, reduced->a), *maximum = node_of(structure, gauge->a);
  if (weight->op != MIRAGE_OP_EXP || maximum->op != MIRAGE_OP_REDUCE_MAX || reduced->dim != maximum->dim)
    return false;
  const SearchNode *gap = node_of(structure, weight->a);
  return gap->op == MIRAGE_OP_SUB && mirage__search_same_value(structure, gap->a, maximum->a) &&
         is_finite(structure, maximum->a);
}

// Values weighed with what `divisor` sums up.
static bool is_weighted(const SearchStructure *structure, const SearchNode *sum, const SearchNode *divisor) {
  const SearchNode *product = node_of(structure, sum->a), *weights = node_of(structure, divisor->a);
  return product->op == MIRAGE_OP_MATMUL && (mirage__search_same_value(structure, product->a, weights->a) ||
                                             mirage__search_same_value(structure, product->b, weights->a));
}

bool mirage__search_narrows(const SearchProgram *program, const SearchStructure *structure,
                            const SearchSchedule *schedule, uint32_t node, uint32_t *out_divisor) {
  const SearchNode *sum = node_of(structure, node);
  if (!is_rescaled(sum) || program->dtype == MIRAGE_F32 || program->bytes ||
      mirage__search_is_ragged(program, structure, schedule))
    return false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *quotient = node_of(structure, i);
    if (quotient->op != MIRAGE_OP_DIV || quotient->a != node)
      continue;
    const SearchNode *divisor = node_of(structure, quotient->b);
    if (divisor->stage != sum->stage || divisor->gauge != sum->gauge || !is_at_least_one(structure, divisor) ||
        !is_weighted(structure, sum, divisor))
      continue;
    *out_divisor = quotient->b;
    return true;
  }
  return false;
}
