// search_stabilise.c - puts maxima back into a block graph that was found without them (search_gauge.c).
//
// The graph computes exp(x). Where the program subtracted a maximum, the block subtracts one of what it holds: of the
// whole row, or, where the loop walks the row, the running maximum. A value is then the one meant divided by
// exp(gauge), with the gauge a node that has extent 1 along the axis of the maximum. The factor is carried along by
// what is linear in the value, cancels in quotients of equal gauges, and is brought up to date by accumulators:
//
//   r = max(x) of the tile,  m' = max(m, r) with m the accumulator's value so far,  p = exp(x - m'),  f = exp(m - m'),
//   sum' = sum * f + contribution of p                         (Milakov and Gimelshein, online softmax, 2018)
//
// A later loop that exponentiates the same values subtracts the maximum that the earlier one ended with.
//
// A graph in which some operator would need the factor itself - a root, a product of two such values, a result - is
// refused; the search has other graphs.
#include "search/block/search_structure.h"
#include <string.h>

typedef struct Stabiliser {
  SearchStructure out;
  uint32_t place[SEARCH_MAX_NODES];  // node of `out` by node of the structure
  uint32_t factor[SEARCH_MAX_NODES]; // by running maximum: the node exp(m - m')
  uint32_t final[SEARCH_MAX_NODES];  // by running maximum: its accumulator
  bool logarithms;                   // the program takes logarithms of stabilised values
  bool full;
} Stabiliser;

static uint32_t append(Stabiliser *stabiliser, SearchNode node) {
  SearchStructure *out = &stabiliser->out;
  if (out->num_nodes == SEARCH_MAX_NODES) {
    stabiliser->full = true;
    return 0;
  }
  out->nodes[out->num_nodes] = node;
  return out->num_nodes++;
}

static const SearchNode *node_of(const Stabiliser *stabiliser, uint32_t index) { return &stabiliser->out.nodes[index]; }

static SearchNode make(const SearchNode *like, MirageOp op, uint32_t a, uint32_t b) {
  SearchNode node = *like;
  node.op = (uint8_t)op;
  node.flags = node.dim = 0;
  node.a = a;
  node.b = b;
  node.gauge = 0;
  return node;
}

static SearchNode make_looped(const SearchNode *like, MirageOp op, uint32_t a, uint32_t b) {
  SearchNode node = make(like, op, a, b);
  node.flags = SEARCH_LOOPED;
  return node;
}

// m' and what belongs to it, from the maximum of one tile.
static uint32_t add_running(Stabiliser *stabiliser, uint32_t top) {
  SearchNode like = *node_of(stabiliser, top), after = make(&like, MIRAGE_OP_LOOP, top, 0);
  after.flags = SEARCH_MAXIMUM;
  after.stage = like.stage + 1;
  uint32_t final = append(stabiliser, after);
  uint32_t running = append(stabiliser, make_looped(&like, MIRAGE_OP_MAX, final, top));
  uint32_t gap = append(stabiliser, make_looped(&like, MIRAGE_OP_SUB, final, running));
  stabiliser->factor[running] = append(stabiliser, make_looped(&like, MIRAGE_OP_EXP, gap, 0));
  stabiliser->final[running] = final;
  return running;
}

// By pairs of nodes, as bits: those found to be equal, so that no pair is looked into twice.
typedef struct SamePairs {
  uint64_t bits[SEARCH_MAX_NODES * SEARCH_MAX_NODES / 64];
} SamePairs;

static bool same_value(const SearchStructure *structure, uint32_t a, uint32_t b, SamePairs *known);

static bool same_operands(const SearchStructure *structure, uint32_t a, uint32_t b, SamePairs *known) {
  const SearchNode *x = &structure->nodes[a], *y = &structure->nodes[b];
  uint64_t *word = &known->bits[(a * SEARCH_MAX_NODES + b) / 64], bit = (uint64_t)1 << (a * SEARCH_MAX_NODES + b) % 64;
  if (*word & bit)
    return true;
  if (!same_value(structure, x->a, y->a, known) ||
      (mirage__search_is_binary(x->op) && !same_value(structure, x->b, y->b, known)))
    return false; // and so is all that asked
  *word |= bit;
  return true;
}

static bool same_value(const SearchStructure *structure, uint32_t a, uint32_t b, SamePairs *known) {
  if (a == b)
    return true;
  const SearchNode *x = &structure->nodes[a], *y = &structure->nodes[b];
  if (x->op != y->op || x->flags != y->flags || x->dim != y->dim || x->rank != y->rank || x->op == MIRAGE_OP_LOOP ||
      memcmp(x->dims, y->dims, sizeof x->dims) != 0)
    return false;
  if (x->op == MIRAGE_OP_LOAD || x->op == MIRAGE_OP_CONSTANT)
    return x->a == y->a;
  return same_operands(structure, a, b, known);
}

bool mirage__search_same_value(const SearchStructure *structure, uint32_t a, uint32_t b) {
  if (a == b || structure->nodes[a].op != structure->nodes[b].op)
    return a == b;
  SamePairs known = {{0}};
  return same_value(structure, a, b, &known);
}

// The maximum of the whole row, where an earlier loop took it for an exponential of its own.
static bool find_finished(const Stabiliser *stabiliser, uint32_t argument, const SearchNode *top, uint32_t *out_gauge) {
  for (uint32_t i = 0; i < stabiliser->out.num_nodes; i++) {
    const SearchNode *final = node_of(stabiliser, i), *maximum = node_of(stabiliser, final->a);
    if (final->op != MIRAGE_OP_LOOP || final->flags != SEARCH_MAXIMUM || final->stage > top->stage ||
        maximum->op != MIRAGE_OP_REDUCE_MAX || maximum->dim != top->dim ||
        !mirage__search_same_value(&stabiliser->out, maximum->a, argument))
      continue;
    *out_gauge = i;
    return true;
  }
  return false;
}

// exp(x) becomes exp(x - m), with gauge m.
static bool add_exponential(Stabiliser *stabiliser, const SearchNode *node, uint32_t argument) {
  SearchNode x = *node_of(stabiliser, argument), top = make(&x, MIRAGE_OP_REDUCE_MAX, argument, 0);
  uint32_t found = 0;
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    if (mirage__search_axis_of(x.dims[d]) == node->flags) {
      top.dim = (uint8_t)d;
      found++;
    }
  if (found != 1)
    return false;
  top.dims[top.dim] = 0;
  bool walks = mirage__search_is_inside(x.stage) && x.dims[top.dim] == stabiliser->out.loop_axis;
  uint32_t gauge = 0;
  if (!walks || !find_finished(stabiliser, argument, &top, &gauge)) {
    gauge = append(stabiliser, top);
    if (walks)
      gauge = add_running(stabiliser, gauge);
  }
  uint32_t difference = append(stabiliser, make(&x, MIRAGE_OP_SUB, argument, gauge));
  SearchNode result = make(node, MIRAGE_OP_EXP, difference, 0);
  result.gauge = gauge + 1;
  append(stabiliser, result);
  return true;
}

// Accumulators of gauged values; their gauge is the final maximum.
static bool add_accumulator(Stabiliser *stabiliser, SearchNode node) {
  uint32_t gauge = node_of(stabiliser, node.a)->gauge;
  if (gauge) {
    uint32_t running = gauge - 1;
    bool moves = mirage__search_is_inside(node_of(stabiliser, running)->stage);
    if (node.flags != SEARCH_SUM || (moves && !stabiliser->factor[running]))
      return false; // a maximum of each iteration alone
    node.gauge = gauge;
    if (moves) {
      node.flags = SEARCH_RESCALE;
      node.b = stabiliser->factor[running];
      node.gauge = stabiliser->final[running] + 1;
    }
  }
  append(stabiliser, node);
  return true;
}

static bool is_constant_along(const Stabiliser *stabiliser, uint32_t gauge, uint32_t dim) {
  return node_of(stabiliser, gauge - 1)->dims[dim] == 0;
}

// The gauge of a product: contracted along a dimension on which the gauge does not depend, and not moved.
static bool product_gauge(const Stabiliser *stabiliser, SearchNode *node, uint32_t a, uint32_t b) {
  enum { ROWS = SEARCH_RANK - 2, COLUMNS = SEARCH_RANK - 1 };
  if (a && b)
    return false;
  node->gauge = a + b;
  if (a)
    return is_constant_along(stabiliser, a, COLUMNS) &&
           (!(node->flags & SEARCH_TRANSPOSE_A) || is_constant_along(stabiliser, a, ROWS));
  return !b || (is_constant_along(stabiliser, b, ROWS) &&
                (!(node->flags & SEARCH_TRANSPOSE_B) || is_constant_along(stabiliser, b, COLUMNS)));
}

// Sets the gauge of an operator from those of its operands; false when there is none.
static bool find_gauge(const Stabiliser *stabiliser, SearchNode *node) {
  uint32_t a = node_of(stabiliser, node->a)->gauge;
  uint32_t b = mirage__search_is_binary(node->op) ? node_of(stabiliser, node->b)->gauge : 0;
  switch ((MirageOp)node->op) {
  case MIRAGE_OP_MATMUL:
    return product_gauge(stabiliser, node, a, b);
  case MIRAGE_OP_MUL:
    node->gauge = a + b;
    return !a || !b;
  case MIRAGE_OP_DIV:
    node->gauge = a == b ? 0 : a;
    return a == b || !b;
  case MIRAGE_OP_ADD:
  case MIRAGE_OP_SUB:
  case MIRAGE_OP_MAX:
  case MIRAGE_OP_MIN:
    node->gauge = a;
    return a == b;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
    node->gauge = a;
    return !a || is_constant_along(stabiliser, a, node->dim);
  default:
    return !a && !b;
  }
}

// The logarithm of a value that is known up to exp(m) is off by m. Where the program takes none of such a value, that
// is refused: log(s) = m + log(s / exp(m)) is a law of logarithms, which no proof knows.
static bool add_logarithm(Stabiliser *stabiliser, SearchNode node) {
  uint32_t gauge = node_of(stabiliser, node.a)->gauge;
  if (gauge && !stabiliser->logarithms)
    return false;
  node.gauge = 0;
  uint32_t result = append(stabiliser, node);
  for (uint32_t d = 0; gauge && d < SEARCH_RANK; d++)
    if (!is_constant_along(stabiliser, gauge, d) && node_of(stabiliser, gauge - 1)->dims[d] != node.dims[d])
      return false;
  if (gauge)
    append(stabiliser, make(&node, MIRAGE_OP_ADD, result, gauge - 1));
  return true;
}

static bool add_node(Stabiliser *stabiliser, SearchNode node) {
  if (node.op == MIRAGE_OP_LOAD || node.op == MIRAGE_OP_CONSTANT) {
    append(stabiliser, node);
    return true;
  }
  node.a = stabiliser->place[node.a];
  node.b = mirage__search_is_binary(node.op) ? stabiliser->place[node.b] : 0;
  if (node.op == MIRAGE_OP_LOOP)
    return add_accumulator(stabiliser, node);
  if (node.op == MIRAGE_OP_LOG)
    return add_logarithm(stabiliser, node);
  if (!find_gauge(stabiliser, &node))
    return false;
  if (node.op == MIRAGE_OP_EXP && node.flags)
    return add_exponential(stabiliser, &node, node.a);
  append(stabiliser, node);
  return true;
}

bool mirage__search_stabilise(const SearchProgram *program, SearchStructure *structure) {
  bool wanted = false;
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    wanted |= structure->nodes[i].op == MIRAGE_OP_EXP && structure->nodes[i].flags;
  if (!wanted)
    return true;
  Stabiliser stabiliser = {.out = *structure, .logarithms = program->stabilised_logs};
  stabiliser.out.num_nodes = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    if (!add_node(&stabiliser, structure->nodes[i]) || stabiliser.full)
      return false;
    stabiliser.place[i] = stabiliser.out.num_nodes - 1;
  }
  for (uint32_t i = 0; i < structure->num_outputs; i++) {
    stabiliser.out.outputs[i] = stabiliser.place[structure->outputs[i]];
    if (node_of(&stabiliser, stabiliser.out.outputs[i])->gauge)
      return false;
  }
  *structure = stabiliser.out;
  return true;
}
