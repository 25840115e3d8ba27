// guard_ties.c - which dimensions of a pair of graphs are one axis (union-find); guard_axes.c says what for.
//
// Every operator ties those of its dimensions that must keep in step: the contraction of both operands of a product, a
// tile and the tensor it is loaded from, an input of one graph and that of the other. Extents of 1 tie nothing: they
// broadcast.
#include "guard_internal.h"

// ---------------------------------------------------------------------------------------------------------- union-find

static uint32_t find(GuardAxes *axes, uint32_t dim) {
  while (axes->parent[dim] != dim)
    dim = axes->parent[dim] = axes->parent[axes->parent[dim]];
  return dim;
}

static uint32_t dim_of(const GuardAxes *axes, int g, MirageValue v, uint32_t d) {
  return axes->base[g] + v.index * MIRAGE_MAX_RANK + d;
}

GuardAxis *mirage__guard_axis(GuardAxes *axes, int g, MirageValue v, uint32_t d) {
  return &axes->axes[find(axes, dim_of(axes, g, v, d))];
}

static int64_t extent_of(const GuardAxes *axes, uint32_t dim) {
  int g = dim >= axes->base[1];
  uint32_t local = dim - axes->base[g];
  return mirage_ugraph_type(axes->graphs[g], (MirageValue){local / MIRAGE_MAX_RANK})->shape[local % MIRAGE_MAX_RANK];
}

static void freeze(GuardAxes *axes, uint32_t dim) { axes->axes[find(axes, dim)].frozen = true; }

static void unite(GuardAxes *axes, uint32_t a, uint32_t b) {
  a = find(axes, a);
  b = find(axes, b);
  if (a == b)
    return;
  uint32_t low = a < b ? a : b, high = a < b ? b : a;
  axes->axes[low].frozen |= axes->axes[high].frozen;
  axes->axes[low].fixed |= axes->axes[high].fixed;
  axes->parent[high] = low;
}

// The same axis; an extent of 1 that broadcasts is none.
static void same(GuardAxes *axes, uint32_t a, uint32_t b) {
  if (extent_of(axes, a) != 1 && extent_of(axes, b) != 1)
    unite(axes, a, b);
}

// One is a multiple of the other; where the smaller is 1 the larger is a number of parts, and stays.
static void multiple(GuardAxes *axes, uint32_t a, uint32_t b) {
  int64_t x = extent_of(axes, a), y = extent_of(axes, b);
  if (x != 1 && y != 1)
    unite(axes, a, b);
  else if (x != y)
    freeze(axes, x == 1 ? b : a);
}

static uint32_t rank_of(const GuardAxes *axes, int g, MirageValue v) {
  return mirage_ugraph_type(axes->graphs[g], v)->rank;
}

// Equal shapes, or right-aligned broadcasting.
static void same_value(GuardAxes *axes, int g, MirageValue a, int h, MirageValue b) {
  uint32_t ra = rank_of(axes, g, a), rb = rank_of(axes, h, b);
  for (uint32_t i = 1; i <= ra && i <= rb; i++)
    same(axes, dim_of(axes, g, a, ra - i), dim_of(axes, h, b, rb - i));
}

// --------------------------------------------------------------------------------------------- what each operator ties

static void tie_matmul(GuardAxes *axes, int g, const MirageNodeView *node) {
  MirageValue a = node->operands[0], b = node->operands[1], y = node->first_result;
  uint32_t ra = rank_of(axes, g, a), rb = rank_of(axes, g, b), ry = rank_of(axes, g, y);
  uint32_t flip_a = node->attrs && node->attrs->matmul.transpose_a,
           flip_b = node->attrs && node->attrs->matmul.transpose_b;
  same(axes, dim_of(axes, g, a, ra - 2 + flip_a), dim_of(axes, g, y, ry - 2));
  same(axes, dim_of(axes, g, b, rb - 1 - flip_b), dim_of(axes, g, y, ry - 1));
  same(axes, dim_of(axes, g, a, ra - 1 - flip_a), dim_of(axes, g, b, rb - 2 + flip_b));
  for (uint32_t i = 3; i <= ry; i++) {
    if (i <= ra)
      same(axes, dim_of(axes, g, a, ra - i), dim_of(axes, g, y, ry - i));
    if (i <= rb)
      same(axes, dim_of(axes, g, b, rb - i), dim_of(axes, g, y, ry - i));
  }
  if (node->num_operands == 3)
    same_value(axes, g, node->operands[2], g, y);
}

// Splits both shapes into the finest groups of equal product. The first dimensions of a group scale together, the
// others keep their extents.
static void tie_reshape(GuardAxes *axes, int g, MirageValue a, MirageValue y) {
  const MirageType *from = mirage_ugraph_type(axes->graphs[g], a), *to = mirage_ugraph_type(axes->graphs[g], y);
  uint32_t i = 0, j = 0;
  while (i < from->rank && j < to->rank) {
    if (from->shape[i] == 1 || to->shape[j] == 1) {
      from->shape[i] == 1 ? i++ : j++;
      continue;
    }
    multiple(axes, dim_of(axes, g, a, i), dim_of(axes, g, y, j));
    int64_t left = from->shape[i++], right = to->shape[j++];
    while (left != right) {
      if (left < right) {
        freeze(axes, dim_of(axes, g, a, i));
        left *= from->shape[i++];
      } else {
        freeze(axes, dim_of(axes, g, y, j));
        right *= to->shape[j++];
      }
    }
  }
}

static void tie_shape(GuardAxes *axes, int g, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  int32_t dim = -1; // along which only multiples agree
  switch (node->op) {
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t d = 0; d < rank_of(axes, g, y); d++)
      same(axes, dim_of(axes, g, a, (uint32_t)node->attrs->perm.perm[d]), dim_of(axes, g, y, d));
    return;
  case MIRAGE_OP_RESHAPE:
    tie_reshape(axes, g, a, y);
    return;
  case MIRAGE_OP_BROADCAST:
    same_value(axes, g, a, g, y);
    return;
  case MIRAGE_OP_REPEAT:
    dim = node->attrs->repeat.dim;
    break;
  case MIRAGE_OP_SLICE:
    dim = node->attrs->slice.dim;
    break;
  default: // concat
    dim = node->attrs->dim.dim;
    break;
  }
  for (uint32_t i = 0; i < node->num_operands; i++)
    for (uint32_t d = 0; d < rank_of(axes, g, y); d++) {
      uint32_t from = dim_of(axes, g, node->operands[i], d), to = dim_of(axes, g, y, d);
      if ((int32_t)d == dim)
        multiple(axes, from, to);
      else
        same(axes, from, to);
    }
}

static void tie_reduce(GuardAxes *axes, int g, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  for (uint32_t d = 0; d < rank_of(axes, g, y); d++)
    same(axes, dim_of(axes, g, a, d), dim_of(axes, g, y, d)); // an extent of 1 left over ties nothing
}

// The tensor's dimension that an access sees as its d-th.
static uint32_t seen_dim(const GuardAxes *axes, int g, MirageValue tensor, const MirageAccessAttrs *access,
                         uint32_t d) {
  return dim_of(axes, g, tensor, mirage_access_dim(access, d));
}

static void tie_access(GuardAxes *axes, int g, const MirageNodeView *node) {
  MirageValue tensor = node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1];
  MirageValue tile = node->op == MIRAGE_OP_LOAD ? node->first_result : node->operands[0];
  for (uint32_t d = 0; d < rank_of(axes, g, tensor); d++) {
    uint32_t whole = seen_dim(axes, g, tensor, &node->attrs->access, d), part = dim_of(axes, g, tile, d);
    if (extent_of(axes, part) == 1)
      axes->axes[find(axes, whole)].fixed = true; // as many parts as elements
    else
      multiple(axes, whole, part);
  }
}

static void tie_region(GuardAxes *axes, int g, MirageRegion region);

static void tie_structure(GuardAxes *axes, int g, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(axes->graphs[g], node->region);
  MirageNodeView last = mirage_ugraph_node(axes->graphs[g], body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < node->num_operands; i++)
    same_value(axes, g, node->operands[i], g, (MirageValue){body.first_argument.index + i});
  tie_region(axes, g, node->region);
  for (uint32_t i = 0; i < node->num_results; i++) {
    MirageValue y = {node->first_result.index + i};
    if (node->op == MIRAGE_OP_CUSTOM) {
      same_value(axes, g, (MirageValue){body.first_argument.index + node->num_operands + i}, g, y);
      continue;
    }
    MirageValue from = last.operands[i];
    bool concat = node->op == MIRAGE_OP_LOOP && node->attrs->loop.carries[i].combine == MIRAGE_COMBINE_CONCAT;
    if (node->op == MIRAGE_OP_LOOP)
      same_value(axes, g, (MirageValue){body.first_argument.index + i}, g, y);
    for (uint32_t d = 0; d < rank_of(axes, g, y); d++) {
      if (concat && (int32_t)d == node->attrs->loop.carries[i].dim)
        multiple(axes, dim_of(axes, g, from, d), dim_of(axes, g, y, d));
      else
        same(axes, dim_of(axes, g, from, d), dim_of(axes, g, y, d));
    }
  }
  if (node->op == MIRAGE_OP_LOOP) // factors broadcast against their carry
    for (uint32_t i = 0, factor = node->attrs->loop.num_carries; i < node->attrs->loop.num_carries; i++)
      if (node->attrs->loop.carries[i].combine == MIRAGE_COMBINE_RESCALE)
        same_value(axes, g, last.operands[factor++], g, (MirageValue){node->first_result.index + i});
}

static void tie_node(GuardAxes *axes, int g, const MirageNodeView *node) {
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_REGION:
    tie_structure(axes, g, node);
    break;
  case MIRAGE_KIND_MATMUL:
    tie_matmul(axes, g, node);
    break;
  case MIRAGE_KIND_REDUCE:
    tie_reduce(axes, g, node);
    break;
  case MIRAGE_KIND_SHAPE:
    tie_shape(axes, g, node);
    break;
  case MIRAGE_KIND_ACCESS:
    tie_access(axes, g, node);
    break;
  default:
    for (uint32_t i = 0; node->num_results && i < node->num_operands; i++)
      same_value(axes, g, node->operands[i], g, node->first_result);
    break;
  }
}

static void tie_region(GuardAxes *axes, int g, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(axes->graphs[g], region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(axes->graphs[g], view.nodes[i]);
    tie_node(axes, g, &node);
  }
}

void mirage__guard_tie(GuardAxes *axes) {
  for (uint32_t i = 0; i < axes->num_dims; i++)
    axes->parent[i] = i;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(axes->graphs[0]); i++)
    same_value(axes, 0, mirage_ugraph_get_input(axes->graphs[0], i), 1, mirage_ugraph_get_input(axes->graphs[1], i));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(axes->graphs[0]); i++)
    same_value(axes, 0, mirage_ugraph_get_output(axes->graphs[0], i), 1, mirage_ugraph_get_output(axes->graphs[1], i));
  for (int g = 0; g < 2; g++)
    tie_region(axes, g, mirage_ugraph_body(axes->graphs[g]));
}
