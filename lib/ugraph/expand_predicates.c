// expand_predicates.c - a predicate that is reshaped, as a predicate of what is reshaped.
//
// Frontends give a mask dimensions of extent 1, for heads and batches, after they have compared. Whoever looks for a mask of indices
// wants to see the comparison. So a reshape that moves nothing but extents of 1 goes up to the inputs and indices that the predicate is
// made of; those inputs are reshaped instead, which moves no data.
//
// Example:   %c = less %i, %n : tensor<64xi32>, tensor<1xi32>       %i = iota {dim = 1} : tensor<1x64xi32>
//            reshape %c : tensor<64xi1> -> tensor<1x64xi1>          less %i, (reshape %n : tensor<1xi32> -> tensor<1x1xi32>)
#include "ugraph_internal.h"

enum { MOST_VISITS = 64 }; // of operators that one reshape goes through

// Where dimensions of a value lie in what it becomes, counted from its last.
typedef struct Moves {
  uint32_t rank;
  int32_t from_end[MIRAGE_MAX_RANK]; // of each dimension that it becomes; -1: a new one
} Moves;

// Whether `to` has the extents of `from` other than 1 in their order; which is which.
static bool find_moves(const MirageType *from, const MirageType *to, Moves *moves) {
  uint32_t d = 0, n = 0;
  *moves = (Moves){.rank = to->rank};
  while (d < from->rank || n < to->rank) {
    if (d < from->rank && n < to->rank && from->shape[d] == to->shape[n]) {
      moves->from_end[n++] = (int32_t)(from->rank - 1 - d++);
    } else if (n < to->rank && to->shape[n] == 1) {
      moves->from_end[n++] = -1;
    } else if (d < from->rank && from->shape[d] == 1) {
      d++;
    } else {
      return false;
    }
  }
  return true;
}

// The extents of a value that stretches to what is moved.
static MirageType moved_type(const Moves *moves, const MirageType *type) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t n = 0; n < moves->rank; n++) {
    int32_t at = moves->from_end[n];
    shape[n] = at >= 0 && (uint32_t)at < type->rank ? type->shape[type->rank - 1 - (uint32_t)at] : 1;
  }
  return mirage_type_tensor(type->dtype, moves->rank, shape);
}

// What first moves so, and then so.
static Moves both_moves(const Moves *first, const Moves *then) {
  Moves both = {.rank = then->rank};
  for (uint32_t n = 0; n < then->rank; n++) {
    int32_t at = then->from_end[n];
    both.from_end[n] = at >= 0 && (uint32_t)at < first->rank ? first->from_end[first->rank - 1 - (uint32_t)at] : -1;
  }
  return both;
}

static MirageNodeView def_of(const MirageUGraph *graph, MirageValue v) {
  MirageNode def = mirage_ugraph_def(graph, v);
  return def.index ? mirage_ugraph_node(graph, def) : (MirageNodeView){.op = MIRAGE_OP_NONE};
}

// Whether a node is a reshape that moves nothing but extents of 1; how.
static bool moves_ones(const MirageUGraph *graph, const MirageNodeView *node, Moves *moves) {
  return node->op == MIRAGE_OP_RESHAPE && node->level == MIRAGE_LEVEL_KERNEL &&
         find_moves(mirage_ugraph_type(graph, node->operands[0]), mirage_ugraph_type(graph, node->first_result), moves);
}

// Through what a reshape goes.
static bool is_elementwise(const MirageUGraph *graph, const MirageNodeView *node) {
  MirageOpKind kind = mirage_op_info(node->op)->kind;
  bool all = kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || node->op == MIRAGE_OP_BROADCAST;
  for (uint32_t i = 0; i < node->num_operands; i++)
    all = all && mirage_ugraph_is_logical(graph, node->operands[i]);
  return all;
}

// Whether it may go up from v, which stays what it is where it has no dimensions; counts what it meets on the way.
static bool may_go(const MirageUGraph *graph, MirageValue v, uint32_t *visits) {
  MirageNodeView node = def_of(graph, v);
  Moves moves;
  if (node.op == MIRAGE_OP_NONE || mirage_ugraph_type(graph, v)->rank == 0 || ++*visits > MOST_VISITS)
    return false;
  if (moves_ones(graph, &node, &moves))
    return may_go(graph, node.operands[0], visits);
  if (node.op != MIRAGE_OP_IOTA && !is_elementwise(graph, &node))
    return false;
  for (uint32_t i = 0; i < node.num_operands; i++)
    (void)may_go(graph, node.operands[i], visits);
  return true;
}

bool mirage__goes_up(const MirageUGraph *graph, const MirageNodeView *node) {
  Moves moves;
  uint32_t visits = 0;
  return moves_ones(graph, node, &moves) && mirage_ugraph_is_logical(graph, node->operands[0]) &&
         may_go(graph, node->operands[0], &visits) && visits <= MOST_VISITS;
}

static MirageValue moved_iota(Copier *copier, const MirageNodeView *node, const Moves *moves) {
  MirageAttrs attrs = *node->attrs;
  int32_t from_end = (int32_t)attrs.iota.type.rank - 1 - attrs.iota.dim;
  attrs.iota.type = moved_type(moves, &attrs.iota.type);
  for (uint32_t n = 0; n < moves->rank; n++)
    if (moves->from_end[n] == from_end) {
      attrs.iota.dim = (int32_t)n;
      return mirage_ugraph_apply(copier->to, MIRAGE_OP_IOTA, 0, NULL, &attrs);
    }
  return mirage_ugraph_constant(copier->to, attrs.iota.type, (double)attrs.iota.start); // of one element, which is gone
}

static MirageValue moved(Copier *copier, MirageValue v, const Moves *moves) {
  const MirageType *type = mirage_ugraph_type(copier->from, v);
  MirageNodeView node = def_of(copier->from, v);
  MirageValue operands[2] = {{0}};
  MirageAttrs attrs = {.shape = {.type = moved_type(moves, type)}};
  uint32_t visits = 0;
  if (type->rank == 0)
    return copier->map[v.index];
  Moves inner;
  if (node.op == MIRAGE_OP_IOTA)
    return moved_iota(copier, &node, moves);
  if (!may_go(copier->from, v, &visits))
    return mirage_ugraph_apply(copier->to, MIRAGE_OP_RESHAPE, 1, &copier->map[v.index], &attrs);
  if (moves_ones(copier->from, &node, &inner)) {
    Moves both = both_moves(&inner, moves);
    return moved(copier, node.operands[0], &both);
  }
  for (uint32_t i = 0; i < node.num_operands && i < 2; i++)
    operands[i] = moved(copier, node.operands[i], moves);
  if (node.op == MIRAGE_OP_BROADCAST)
    return mirage_ugraph_apply(copier->to, MIRAGE_OP_BROADCAST, 1, operands, &attrs);
  const MirageExpansion *expansion = mirage_op_expansion(node.op);
  return expansion ? mirage__expand_steps(copier->to, expansion, operands, node.num_operands)
                   : mirage_ugraph_apply(copier->to, node.op, node.num_operands, operands, NULL);
}

void mirage__move_up(Copier *copier, const MirageNodeView *node) {
  Moves moves;
  find_moves(mirage_ugraph_type(copier->from, node->operands[0]), mirage_ugraph_type(copier->from, node->first_result),
             &moves);
  mirage_ugraph_set_loc(copier->to, node->loc);
  copier->map[node->first_result.index] = moved(copier, node->operands[0], &moves);
}

// What a reshape that goes up still reads of the copy.
static void mark_leaves(const MirageUGraph *graph, MirageValue v, bool *needed) {
  MirageNodeView node = def_of(graph, v);
  uint32_t visits = 0;
  if (!may_go(graph, v, &visits)) {
    needed[v.index] = true;
    return;
  }
  for (uint32_t i = 0; i < node.num_operands; i++)
    mark_leaves(graph, node.operands[i], needed);
}

// Predicates and indices that nobody else reads are not copied.
void mirage__mark_needed(const MirageUGraph *graph, bool *needed) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = body.num_nodes; i-- > 0;) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (mirage__goes_up(graph, &node)) {
      if (needed[node.first_result.index])
        mark_leaves(graph, node.operands[0], needed);
      continue;
    }
    bool read =
        node.num_results != 1 || needed[node.first_result.index] || !mirage_ugraph_is_logical(graph, node.first_result);
    for (uint32_t k = 0; read && k < node.num_operands; k++)
      needed[node.operands[k].index] = true;
  }
}
