// unsplit.c - takes away grid axes along which blocks only share independent work.
//
// A block's tile of such an axis is a part of n elements; nothing in the kernel looks from one element to another: no
// reduction, contraction, reshape, slice or collective along it. So the kernel computes for each of the n elements the
// same function of the slices of its inputs there, whichever block does it, and one block with a tile of n elements
// computes the same. What a ragged last part masks is dropped by its stores, and so are parts that are wholly empty. Then
// the axis has no split, and kernels that split it differently have a common digit (axes.c).
//
// Checked:   no iota follows the grid axis; every access that the grid axis splits sees n elements along the dimension, split by this axis alone; every
//            store either is split by it along what varies, or varies with no element of it at all.
// Marks:     the dimensions of tiles that grow from a part to n: of loads, what is computed from these, and what has to
//            have their shape (a loop's initial values). A constant that several carries begin with becomes one for each,
//            since not all of them may grow: of tiles of one element, a sum and what is divided by it look alike.
//
// Example:   x[2, 4096] @ w[4096, 6144], grid 128 over columns: one block with a tile of 6144 columns.
#include "unsplit.h"

#include "copy.h"

#include <stdlib.h>

typedef struct Unsplit {
  const MirageUGraph *graph;
  int64_t *extents; // [(num_values + 1) * MIRAGE_MAX_RANK]: what a dimension grows to, 0 = it stays
  uint8_t *removed; // [num_nodes + 1] of custom kernels: bit a = grid axis a is taken away
  // of one axis of one kernel
  MirageNode kernel;
  uint32_t axis;
  int64_t extent; // n; 0 = not seen yet
  bool changed, refused;
  bool settled; // all marks are made: what does not fit them is refused
} Unsplit;

static int64_t *mark_of(const Unsplit *u, MirageValue v, uint32_t d) {
  return &u->extents[v.index * MIRAGE_MAX_RANK + d];
}

static const MirageType *type_of(const Unsplit *u, MirageValue v) { return mirage_ugraph_type(u->graph, v); }

// Whether dimension d is one that grows along the axis at hand. Marks of axes done before carry their own extents, so
// the one at hand is marked by -1 until it is accepted.
static bool marked(const Unsplit *u, MirageValue v, uint32_t d) { return *mark_of(u, v, d) == -1; }

static void mark(Unsplit *u, MirageValue v, uint32_t d) {
  if (marked(u, v, d))
    return;
  u->refused |= *mark_of(u, v, d) != 0; // two axes along one dimension
  *mark_of(u, v, d) = -1;
  u->changed = true;
}

static bool is_uniform(const Unsplit *u, MirageValue v) {
  MirageNode def = mirage_ugraph_def(u->graph, v);
  return def.index && mirage_op_info(mirage_ugraph_node(u->graph, def).op)->kind == MIRAGE_KIND_CONSTANT;
}

// Values that have to have one shape: what one has, all have.
static void join(Unsplit *u, MirageValue a, MirageValue b) {
  for (uint32_t d = 0; d < type_of(u, a)->rank; d++) {
    if (marked(u, a, d))
      mark(u, b, d);
    if (marked(u, b, d))
      mark(u, a, d);
  }
}

// A result that an operand broadcasts to, right-aligned.
static void spread(Unsplit *u, MirageValue a, MirageValue y) {
  const MirageType *from = type_of(u, a), *to = type_of(u, y);
  for (uint32_t i = 1; i <= from->rank && i <= to->rank; i++) {
    uint32_t d = from->rank - i, e = to->rank - i;
    if (marked(u, a, d))
      mark(u, y, e);
    else if (marked(u, y, e) && from->shape[d] != 1 && is_uniform(u, a))
      mark(u, a, d);
    else if (marked(u, y, e) && from->shape[d] != 1)
      u->refused |= u->settled; // elements of its own, which the axis does not split
  }
}

// ------------------------------------------------------------------------------------------------------------ operators

static void visit_matmul(Unsplit *u, const MirageNodeView *node) {
  MirageValue a = node->operands[0], b = node->operands[1], y = node->first_result;
  uint32_t ra = type_of(u, a)->rank, rb = type_of(u, b)->rank, ry = type_of(u, y)->rank;
  uint32_t flip_a = node->attrs && node->attrs->matmul.transpose_a,
           flip_b = node->attrs && node->attrs->matmul.transpose_b;
  u->refused |= marked(u, a, ra - 1 - flip_a) || marked(u, b, rb - 2 + flip_b); // contracted
  if (marked(u, a, ra - 2 + flip_a))
    mark(u, y, ry - 2);
  if (marked(u, b, rb - 1 - flip_b))
    mark(u, y, ry - 1);
  for (uint32_t i = 3; i <= ry; i++) // batches broadcast
    for (int side = 0; side < 2; side++) {
      MirageValue v = side ? b : a;
      uint32_t rank = side ? rb : ra;
      if (i > rank)
        continue;
      if (marked(u, v, rank - i))
        mark(u, y, ry - i);
      u->refused |=
          u->settled && marked(u, y, ry - i) && !marked(u, v, rank - i) && type_of(u, v)->shape[rank - i] != 1;
    }
  if (node->num_operands == 3)
    spread(u, node->operands[2], y);
}

// Dimensions that a reshape leaves alone: equal, in order, with only extents of 1 between them. One that grows from 1 is
// the next of 1 in the result; a store that expects another refuses it.
static void visit_reshape(Unsplit *u, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  const MirageType *from = type_of(u, a), *to = type_of(u, y);
  bool kept[MIRAGE_MAX_RANK] = {false};
  uint32_t i = 0, j = 0;
  while (i < from->rank && j < to->rank) {
    if (from->shape[i] == 1 && !marked(u, a, i)) {
      i++;
    } else if (to->shape[j] == 1 && from->shape[i] != 1) {
      j++;
    } else if (from->shape[i] != to->shape[j]) {
      break;
    } else {
      kept[i] = true;
      if (marked(u, a, i))
        mark(u, y, j);
      i++;
      j++;
    }
  }
  for (uint32_t d = 0; d < from->rank; d++)
    u->refused |= marked(u, a, d) && !kept[d];
}

static void visit_shape(Unsplit *u, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  int32_t dim = node->op == MIRAGE_OP_SLICE    ? node->attrs->slice.dim
                : node->op == MIRAGE_OP_REPEAT ? node->attrs->repeat.dim
                                               : -1;
  switch (node->op) {
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t d = 0; d < type_of(u, y)->rank; d++)
      if (marked(u, a, (uint32_t)node->attrs->perm.perm[d]))
        mark(u, y, d);
    return;
  case MIRAGE_OP_RESHAPE:
    visit_reshape(u, node);
    return;
  case MIRAGE_OP_BROADCAST:
    spread(u, a, y);
    return;
  case MIRAGE_OP_CONCAT:
    for (uint32_t i = 0; i < node->num_operands; i++)
      for (uint32_t d = 0; d < type_of(u, y)->rank; d++)
        u->refused |= marked(u, node->operands[i], d);
    return;
  default:
    for (uint32_t d = 0; d < type_of(u, y)->rank; d++) {
      u->refused |= (int32_t)d == dim && marked(u, a, d);
      if (marked(u, a, d))
        mark(u, y, d);
    }
    return;
  }
}

static void visit_reduce(Unsplit *u, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  u->refused |= marked(u, a, (uint32_t)node->attrs->reduce.dim) || marked(u, y, (uint32_t)node->attrs->reduce.dim);
  for (uint32_t d = 0; d < type_of(u, y)->rank; d++)
    if (marked(u, a, d))
      mark(u, y, d);
}

// The dimension of an access that the axis splits, or -1. Refused unless by this axis alone, n elements of it.
static int32_t split_dim(Unsplit *u, MirageNode id, const MirageNodeView *node) {
  const MirageAccessAttrs *access = &node->attrs->access;
  MirageValue tensor = node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1];
  MirageScope scope = mirage_ugraph_scope(u->graph, id);
  int32_t dim = access->grid[u->axis];
  if (dim < 0)
    return -1;
  for (uint32_t a = 0; a < 3; a++)
    u->refused |= a != u->axis && access->grid[a] == dim && scope.grid[a] > 1;
  for (uint32_t l = 0; l < scope.num_loops; l++)
    u->refused |= access->loop[l] == dim && scope.ranges[l] > 1;
  int64_t n = mirage_access_extent(access, type_of(u, tensor), (uint32_t)dim);
  u->refused |= u->extent && u->extent != n;
  u->extent = n;
  return dim;
}

static void visit_access(Unsplit *u, MirageNode id, const MirageNodeView *node) {
  int32_t dim = split_dim(u, id, node);
  if (node->op == MIRAGE_OP_LOAD) {
    if (dim >= 0)
      mark(u, node->first_result, (uint32_t)dim);
    for (uint32_t d = 0; d < type_of(u, node->first_result)->rank; d++)
      u->refused |= marked(u, node->first_result, d) && (int32_t)d != dim; // its shape is the tensor's
    return;
  }
  for (uint32_t d = 0; d < type_of(u, node->operands[0])->rank; d++)
    if (marked(u, node->operands[0], d))
      u->refused |= (int32_t)d != dim;
}

// A store that the axis splits has to vary with it: seen when all is marked.
static void check_store(Unsplit *u, const MirageNodeView *node) {
  int32_t dim = node->attrs->access.grid[u->axis];
  u->refused |= dim >= 0 && !marked(u, node->operands[0], (uint32_t)dim);
}

static void visit_region(Unsplit *u, MirageRegion region);

// A factor broadcasts to its carry without stretching it.
static void visit_factor(Unsplit *u, MirageValue factor, MirageValue carry) {
  const MirageType *from = type_of(u, factor), *to = type_of(u, carry);
  for (uint32_t i = 1; i <= from->rank && u->settled; i++) {
    bool grows = marked(u, factor, from->rank - i), carry_grows = marked(u, carry, to->rank - i);
    u->refused |= grows ? !carry_grows : carry_grows && from->shape[from->rank - i] != 1;
  }
}

static void visit_loop(Unsplit *u, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(u->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(u->graph, body.nodes[body.num_nodes - 1]);
  uint32_t factor = node->attrs->loop.num_carries;
  for (uint32_t i = 0; i < node->num_results; i++) {
    MirageValue carry = {body.first_argument.index + i}, result = {node->first_result.index + i};
    const MirageCarry *rule = &node->attrs->loop.carries[i];
    if (!is_uniform(u, node->operands[i])) // else each carry begins with a constant of its own (copy.c)
      join(u, node->operands[i], carry);
    join(u, carry, result);
    join(u, yield.operands[i], carry);
    if (rule->combine == MIRAGE_COMBINE_CONCAT)
      u->refused |= marked(u, carry, (uint32_t)rule->dim);
    if (rule->combine == MIRAGE_COMBINE_RESCALE)
      visit_factor(u, yield.operands[factor++], carry);
  }
}

static void visit_thread(Unsplit *u, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(u->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(u->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < node->num_operands; i++)
    join(u, node->operands[i], (MirageValue){body.first_argument.index + i});
  for (uint32_t i = 0; i < node->num_results; i++)
    join(u, yield.operands[i], (MirageValue){node->first_result.index + i});
}

static void visit_node(Unsplit *u, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(u->graph, id);
  switch (mirage_op_info(node.op)->kind) {
  case MIRAGE_KIND_REGION:
    visit_region(u, node.region);
    node.op == MIRAGE_OP_LOOP ? visit_loop(u, &node) : visit_thread(u, &node);
    break;
  case MIRAGE_KIND_MATMUL:
    visit_matmul(u, &node);
    break;
  case MIRAGE_KIND_REDUCE:
    visit_reduce(u, &node);
    break;
  case MIRAGE_KIND_SHAPE:
    visit_shape(u, &node);
    break;
  case MIRAGE_KIND_ACCESS:
    visit_access(u, id, &node);
    if (u->settled && node.op == MIRAGE_OP_STORE)
      check_store(u, &node);
    break;
  case MIRAGE_KIND_IOTA: // which block it is matters
    u->refused |= node.attrs->iota.grid[u->axis] != 0;
    break;
  case MIRAGE_KIND_COLLECTIVE:
    u->refused |= node.attrs->axes.axis[u->axis];
    join(u, node.operands[0], node.first_result);
    break;
  default:
    for (uint32_t i = 0; node.num_results && i < node.num_operands; i++)
      spread(u, node.operands[i], node.first_result);
    break;
  }
}

static void visit_region(Unsplit *u, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(u->graph, region);
  for (uint32_t i = 0; i < view.num_nodes && !u->refused; i++)
    visit_node(u, view.nodes[i]);
}

static void try_axis(Unsplit *u, MirageNode kernel, uint32_t axis) {
  MirageNodeView node = mirage_ugraph_node(u->graph, kernel);
  u->kernel = kernel;
  u->axis = axis;
  u->extent = 0;
  u->changed = true;
  u->refused = u->settled = false;
  do {
    u->settled = !u->changed && u->extent > 0; // the last round finds nothing new
    u->changed = false;
    visit_region(u, node.region);
  } while (!u->refused && (u->changed || !u->settled) && u->extent > 0);
  bool accepted = !u->refused && u->settled;
  size_t count = ((size_t)mirage_ugraph_num_values(u->graph) + 1) * MIRAGE_MAX_RANK;
  for (size_t i = 0; i < count; i++)
    if (u->extents[i] == -1)
      u->extents[i] = accepted ? u->extent : 0;
  if (accepted)
    u->removed[kernel.index] |= (uint8_t)(1u << axis);
}

static int64_t extent_of(const void *user, MirageValue v, uint32_t d, int64_t old) {
  const Unsplit *u = user;
  return *mark_of(u, v, d) > 0 ? *mark_of(u, v, d) : old;
}

static uint8_t removed_of(const void *user, MirageNode kernel) {
  return ((const Unsplit *)user)->removed[kernel.index];
}

MirageUGraph *mirage__verify_unsplit(const MirageUGraph *graph, MirageValue *out_map) {
  Unsplit u = {.graph = graph};
  MirageUGraph *copy = NULL;
  bool any = false;
  u.extents = calloc(((size_t)mirage_ugraph_num_values(graph) + 1) * MIRAGE_MAX_RANK, sizeof *u.extents);
  u.removed = calloc((size_t)mirage_ugraph_num_nodes(graph) + 1, sizeof *u.removed);
  for (uint32_t n = 1; u.extents && u.removed && n <= mirage_ugraph_num_nodes(graph); n++) {
    MirageNodeView node = mirage_ugraph_node(graph, (MirageNode){n});
    for (uint32_t axis = 0; node.op == MIRAGE_OP_CUSTOM && axis < 3; axis++)
      if (node.attrs->custom.grid[axis] > 1)
        try_axis(&u, (MirageNode){n}, axis);
    any |= u.removed[n] != 0;
  }
  if (any)
    copy = mirage__verify_copy(
        graph, &(CopyRules){.user = &u, .extent = extent_of, .removed = removed_of, .out_map = out_map});
  free(u.extents);
  free(u.removed);
  return copy;
}
