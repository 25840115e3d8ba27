// search_tails.c - what stands past the end of an axis that no number of tiles divides.
//
// Loads fill it with zero. Where the loop walks the axis that may change a result: exp(0) = 1 would be summed. Below a
// maximum along the axis, as every safe softmax has one, the tail becomes bottom, so that the maximum passes over
// it and its exponential is zero. What is neither summed as zero nor maximised as bottom is computed on exact divisions
// only. Where blocks walk the axis, the store drops what is past the end; but what divides by zero there has no value,
// and no proof holds for it.
//
// Example: 4095 keys in 32 tiles of 128: s = q k is 0 in the last column and becomes bottom, r = max(s) is that of the others, exp(s - r)
// is 0 there
#include "search/schedule/search_tails.h"

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What a node's elements past the end of the loop's axis are when those of its loads are zero. `walks`: it has such a
// dimension at all.
typedef struct Tail {
  bool walks, zero, bottom;
} Tail;

bool mirage__search_walks(const SearchNode *node, uint32_t axis) {
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    if (node->dims[d] == axis) // a whole dimension has no tail
      return true;
  return false;
}

bool mirage__search_keeps_zero(MirageOp op) {
  switch (op) {
  case MIRAGE_OP_SQRT:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_SIN:
  case MIRAGE_OP_TRANSPOSE:
    return true;
  default:
    return false; // exp(0) = 1, log(0) = -inf
  }
}

static bool stays_zero(MirageOp op, Tail a, Tail b) {
  switch (op) {
  case MIRAGE_OP_MUL:
    return (a.walks && a.zero) || (b.walks && b.zero);
  case MIRAGE_OP_DIV:
    return a.walks && a.zero && !b.walks;
  case MIRAGE_OP_ADD:
  case MIRAGE_OP_SUB:
  case MIRAGE_OP_MAX:
  case MIRAGE_OP_MIN:
    return a.walks && a.zero && b.walks && b.zero;
  default:
    return mirage__search_keeps_zero(op) && a.zero;
  }
}

// Whether a maximum is taken of the node along the loop's axis.
static bool is_maximised(const SearchStructure *structure, uint32_t index) {
  const SearchNode *node = &structure->nodes[index];
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *reader = &structure->nodes[i];
    if (reader->op == MIRAGE_OP_REDUCE_MAX && reader->a == index && node->dims[reader->dim] == structure->loop_axis)
      return true;
  }
  return false;
}

static bool reads(const SearchNode *reader, uint32_t index) {
  bool leaf = reader->op == MIRAGE_OP_LOAD || reader->op == MIRAGE_OP_CONSTANT;
  bool second =
      mirage__search_is_binary(reader->op) || (reader->op == MIRAGE_OP_LOOP && reader->flags == SEARCH_RESCALE);
  return !leaf && (reader->a == index || (second && reader->b == index));
}

// Whether it is a load - of a mask, of a bias - that is added to what a maximum is taken of, and read by nothing else:
// bottom there is bottom in the sum, and the load fills it in for nothing.
static bool is_added_below_maximum(const SearchStructure *structure, uint32_t index) {
  bool added = false;
  if (structure->nodes[index].op != MIRAGE_OP_LOAD)
    return false;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *reader = &structure->nodes[i];
    if (!reads(reader, index))
      continue;
    if (reader->op != MIRAGE_OP_ADD || !is_maximised(structure, i))
      return false;
    added = true;
  }
  for (uint32_t i = 0; i < structure->num_outputs; i++)
    added = added && structure->outputs[i] != index;
  return added;
}

static Tail tail_of(const SearchNode *node, Tail a, Tail b) {
  MirageOpKind kind = mirage_op_info((MirageOp)node->op)->kind;
  Tail tail = {.walks = true, .zero = true};
  if (kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || node->op == MIRAGE_OP_TRANSPOSE)
    tail.zero = stays_zero((MirageOp)node->op, a, b) || (node->op == MIRAGE_OP_EXP && a.bottom);
  else if (kind == MIRAGE_KIND_REDUCE || node->op == MIRAGE_OP_LOOP)
    tail.zero = a.zero;
  else if (node->op == MIRAGE_OP_MATMUL)
    tail.zero = (!a.walks || a.zero) && (!b.walks || b.zero);
  bool low =
      (node->op == MIRAGE_OP_SUB && a.bottom && !b.walks) || (node->op == MIRAGE_OP_ADD && (a.bottom || b.bottom));
  return low ? (Tail){.walks = true, .bottom = true} : tail;
}

// Bottom may be added, subtracted from, exponentiated and maximised; zeros may be summed. Quotients by something that itself
// has a tail are refused: 0/0 would poison the sums.
static bool tail_is_neutral(const SearchNode *node, Tail a, Tail b, Tail result) {
  MirageOpKind kind = mirage_op_info((MirageOp)node->op)->kind;
  if (node->op == MIRAGE_OP_DIV && b.walks)
    return false;
  if (node->op == MIRAGE_OP_LOOP)
    return !a.walks || (a.zero && node->flags != SEARCH_MAXIMUM);
  if (node->op == MIRAGE_OP_REDUCE_MAX && a.walks && !result.walks)
    return a.bottom;
  if (kind == MIRAGE_KIND_REDUCE && a.walks && !result.walks)
    return a.zero;
  if (node->op == MIRAGE_OP_MATMUL && a.walks && b.walks && !a.zero && !b.zero)
    return false;
  return (!a.bottom && !b.bottom) || node->op == MIRAGE_OP_EXP || node->op == MIRAGE_OP_ADD ||
         (node->op == MIRAGE_OP_SUB && !b.walks);
}

bool mirage__search_masks(const SearchStructure *structure, bool *out_masked) {
  Tail tails[SEARCH_MAX_NODES];
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    bool leaf = node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT;
    Tail a = leaf ? (Tail){0} : tails[node->a],
         b = leaf || !mirage__search_is_binary(node->op) ? (Tail){0} : tails[node->b];
    Tail result = mirage__search_walks(node, structure->loop_axis)
                      ? leaf ? (Tail){true, true, false} : tail_of(node, a, b)
                      : (Tail){0};
    if (!tail_is_neutral(node, a, b, result))
      return false;
    out_masked[i] =
        result.walks && !result.bottom && (is_maximised(structure, i) || is_added_below_maximum(structure, i));
    if (out_masked[i])
      result = (Tail){.walks = true, .bottom = true};
    tails[i] = result;
  }
  return true;
}

uint32_t mirage__search_loop_dim(const SearchStructure *structure, const SearchNode *node) {
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    if (node->dims[d] == structure->loop_axis)
      return d;
  return SEARCH_RANK;
}

bool mirage__search_is_ragged(const SearchProgram *program, const SearchStructure *structure,
                              const SearchSchedule *schedule) {
  if (!structure->loop_axis)
    return false;
  int64_t extent = program->axes[structure->loop_axis].extent, parts = schedule->parts[structure->loop_axis];
  int64_t chunk = ceil_div(extent, schedule->split);
  return chunk * schedule->split != extent || ceil_div(chunk, parts) * parts != chunk ||
         mirage__search_rounded_tile(program, structure, schedule, structure->loop_axis);
}

bool mirage__search_tails_divide(const SearchStructure *structure, uint32_t axis, bool parts) {
  Tail tails[SEARCH_MAX_NODES];
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    bool loaded = node->op == MIRAGE_OP_LOAD || (parts && node->op == MIRAGE_OP_LOOP);
    bool leaf = loaded || node->op == MIRAGE_OP_CONSTANT;
    Tail a = leaf ? (Tail){0} : tails[node->a];
    Tail b = mirage__search_is_binary(node->op) ? tails[node->b] : (Tail){0};
    tails[i] = (Tail){.walks = mirage__search_walks(node, axis), .zero = true};
    if (node->op == MIRAGE_OP_DIV && b.walks && b.zero && (!parts || node->stage == SEARCH_AFTER))
      return true;
    MirageOpKind kind = mirage_op_info((MirageOp)node->op)->kind;
    if (kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY)
      tails[i].zero = stays_zero((MirageOp)node->op, a, b);
    else if (node->op == MIRAGE_OP_MATMUL)
      tails[i].zero = (a.walks && a.zero) || (b.walks && b.zero);
    else if (!leaf)
      tails[i].zero = a.zero;
  }
  return false;
}
