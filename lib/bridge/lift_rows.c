// lift_rows.c - rows of a softmax that a mask leaves nothing of.
//
// torch-mlir guards a softmax: select(a row is -inf throughout, 0, e / sum). Where scores are masked by positions alone, and every row
// sees some key, the guard guards nothing. Elsewhere the sum becomes sum + not(any visible), so that the weights of such a row
// are 0: the form that attention expands to (lib/ugraph/expand.c).
// Example: mask(key <= query) leaves each of 8 queries a key; mask(key < query) leaves the first none.
#include "lift.h"

static MirageNodeView node_of(const Lift *lift, MirageValue value) {
  MirageNode node = mirage_ugraph_def(lift->graph, value);
  return node.index ? mirage_ugraph_node(lift->graph, node) : (MirageNodeView){.op = MIRAGE_OP_NONE};
}

enum { UNKNOWN = -1 };

/// Whether a predicate holds at an index; UNKNOWN: an input decides.
static int holds_at(const Lift *lift, MirageValue value, const int64_t *at);

/// An index, right-aligned with `at`.
static bool index_at(const Lift *lift, MirageValue value, const int64_t *at, int64_t *out) {
  MirageNodeView node = node_of(lift, value);
  if (node.op == MIRAGE_OP_CONSTANT)
    return *out = (int64_t)node.attrs->constant.value, true;
  if (node.op != MIRAGE_OP_IOTA)
    return false;
  *out =
      node.attrs->iota.start + (node.attrs->iota.type.shape[node.attrs->iota.dim] > 1 ? at[node.attrs->iota.dim] : 0);
  return true;
}

static int joined_at(const Lift *lift, const MirageNodeView *node, const int64_t *at) {
  int a = holds_at(lift, node->operands[0], at), b = holds_at(lift, node->operands[1], at);
  int decides = node->op == MIRAGE_OP_OR;
  if (a == decides || b == decides)
    return decides;
  return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : !decides;
}

static int holds_at(const Lift *lift, MirageValue value, const int64_t *at) {
  MirageNodeView node = node_of(lift, value);
  int64_t a, b;
  if (node.op == MIRAGE_OP_AND || node.op == MIRAGE_OP_OR)
    return joined_at(lift, &node, at);
  if (node.op == MIRAGE_OP_NOT) {
    int inner = holds_at(lift, node.operands[0], at);
    return inner == UNKNOWN ? UNKNOWN : !inner;
  }
  if (mirage_op_typing(node.op) != MIRAGE_TYPING_COMPARES || !index_at(lift, node.operands[0], at, &a) ||
      !index_at(lift, node.operands[1], at, &b))
    return UNKNOWN;
  return mirage__lift_compare_with_zero(node.op, a - b);
}

/// Whether each row along `dim` sees something, whatever the inputs hold; false where that takes too long to find.
static bool every_row_sees(const Lift *lift, MirageValue predicate, uint32_t dim) {
  enum { MOST = 1 << 20 };
  const MirageType *type = mirage_ugraph_type(lift->graph, predicate);
  int64_t rows = mirage_type_elements(type) / type->shape[dim], looked = 0;
  for (int64_t row = 0; row < rows; row++) {
    int64_t at[MIRAGE_MAX_RANK] = {0}, rest = row;
    bool sees = false;
    for (uint32_t d = type->rank; d-- > 0;)
      if (d != dim) {
        at[d] = rest % type->shape[d];
        rest /= type->shape[d];
      }
    for (at[dim] = 0; at[dim] < type->shape[dim] && !sees; at[dim]++) {
      sees = holds_at(lift, predicate, at) == 1;
      if (++looked > MOST)
        return false;
    }
    if (!sees)
      return false;
  }
  return true;
}

/// What a value was before casts and changes of shape.
static MirageValue before_views(const Lift *lift, MirageValue value) {
  for (;;) {
    MirageNodeView node = node_of(lift, value);
    bool view = node.op == MIRAGE_OP_RESHAPE || node.op == MIRAGE_OP_BROADCAST || node.op == MIRAGE_OP_CAST;
    if (!view)
      return value;
    value = node.operands[0];
  }
}

bool mirage__lift_empty_rows(Lift *lift, MirageValue masked, MirageValue softmax, LiftElement *out) {
  MirageNodeView mask = node_of(lift, masked), quotient = node_of(lift, softmax);
  if (mask.op != MIRAGE_OP_MASK || quotient.op != MIRAGE_OP_DIV)
    return false;
  MirageValue sum = before_views(lift, quotient.operands[1]), predicate = mask.operands[0];
  MirageNodeView total = node_of(lift, sum);
  const MirageType scores = *mirage_ugraph_type(lift->graph, masked),
                   seen = *mirage_ugraph_type(lift->graph, predicate);
  if (total.op != MIRAGE_OP_REDUCE_SUM || seen.rank != scores.rank ||
      mirage_ugraph_type(lift->graph, sum)->rank != scores.rank ||
      mirage_ugraph_type(lift->graph, softmax)->rank != scores.rank)
    return false;
  int32_t dim = total.attrs->reduce.dim;
  if (every_row_sees(lift, predicate, (uint32_t)dim))
    return false;
  const MirageAttrs row = {.reduce = {.dim = dim, .extent = 1}};
  MirageValue any =
      seen.shape[dim] == 1 ? predicate : mirage_ugraph_apply(lift->graph, MIRAGE_OP_REDUCE_MAX, 1, &predicate, &row);
  MirageDType dtype = mirage_ugraph_type(lift->graph, sum)->dtype;
  MirageValue none = mirage__lift_cast(lift, mirage__lift_unary(lift, MIRAGE_OP_NOT, any), dtype);
  sum = mirage__lift_binary(lift, MIRAGE_OP_ADD, sum, none);
  *out = (LiftElement){.tensor = mirage__lift_binary(lift, MIRAGE_OP_DIV, quotient.operands[0], sum)};
  return true;
}
