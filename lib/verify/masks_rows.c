// masks_rows.c - whether every row of a predicate of indices holds somewhere: evaluated element by element, until it does.
#include "masks.h"

enum { MOST_ELEMENTS = 1 << 28 };

// The value of an element at `index`, of the rank of the predicate; operands stretch. False: it depends on an input.
static bool element(const MirageUGraph *graph, MirageValue v, uint32_t rank, const int64_t *index, int64_t *out) {
  MirageNode def = mirage_ugraph_def(graph, v);
  if (!def.index)
    return false;
  MirageNodeView node = mirage_ugraph_node(graph, def);
  uint32_t missing = rank - mirage_ugraph_type(graph, v)->rank;
  int64_t a = 0, b = 0;
  if (node.op == MIRAGE_OP_IOTA) {
    uint32_t d = (uint32_t)node.attrs->iota.dim;
    *out = node.attrs->iota.start + (mirage_ugraph_type(graph, v)->shape[d] > 1 ? index[d + missing] : 0);
    return true;
  }
  if (node.op == MIRAGE_OP_CONSTANT) {
    *out = (int64_t)node.attrs->constant.value;
    return true;
  }
  if (!node.num_operands || node.num_operands > 2 || !element(graph, node.operands[0], rank, index, &a) ||
      (node.num_operands == 2 && !element(graph, node.operands[1], rank, index, &b)))
    return false;
  switch (node.op) {
  case MIRAGE_OP_BROADCAST:
    *out = a;
    return true;
  case MIRAGE_OP_NOT:
    *out = !a;
    return true;
  case MIRAGE_OP_LESS:
    *out = a < b;
    return true;
  case MIRAGE_OP_LESS_EQUAL:
    *out = a <= b;
    return true;
  case MIRAGE_OP_EQUAL:
    *out = a == b;
    return true;
  case MIRAGE_OP_AND:
    *out = a && b;
    return true;
  case MIRAGE_OP_OR:
    *out = a || b;
    return true;
  default:
    return false;
  }
}

// Looks along the last dimension, from where the row before held first: masks of attention hold in runs.
static bool row_holds(const MirageUGraph *graph, MirageValue v, const MirageType *type, int64_t *index,
                      int64_t *first) {
  uint32_t last = type->rank - 1;
  for (int64_t i = 0; i < type->shape[last]; i++) {
    int64_t holds = 0;
    index[last] = (*first + i) % type->shape[last];
    if (!element(graph, v, type->rank, index, &holds))
      return false;
    if (holds) {
      *first = index[last];
      return true;
    }
  }
  return false;
}

bool mirage__verify_rows_hold(const MirageUGraph *graph, MirageValue predicate) {
  const MirageType *type = mirage_ugraph_type(graph, predicate);
  int64_t index[MIRAGE_MAX_RANK] = {0}, first = 0;
  if (!type->rank || mirage_type_elements(type) > MOST_ELEMENTS)
    return false;
  int64_t rows = mirage_type_elements(type) / type->shape[type->rank - 1];
  for (int64_t r = 0; r < rows; r++) {
    int64_t rest = r;
    for (uint32_t d = type->rank - 1; d-- > 0; rest /= type->shape[d])
      index[d] = rest % type->shape[d];
    if (!row_holds(graph, predicate, type, index, &first))
      return false;
  }
  return true;
}
