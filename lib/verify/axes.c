// axes.c - the axes of a pair of graphs, and which part of each every split leaves whole.
//
// Axes:     dimensions of all values of both graphs that must keep in step - operands of one operator, a tile and the
//           tensor it is loaded from, the inputs of both graphs - are one class (union-find).
// Digits:   the extents that occur in a class are products of the splits: tensor = grid x loop x tile. Their greatest
//           common divisor is the innermost digit of the common refinement of all splits in both graphs. Nothing looks
//           into it: an operator treats all indices that differ in it alone alike. It alone may shrink (shrink.c).
// Reshapes: [8, 64] as [512] makes the digit of the 8 one of the 512 with stride 64. Dimensions have an `inner`
//           stride, and where the strides of an axis contradict each other, it stays as it is.
// Ragged:   when ceil(n / parts) does not divide n, the last tile is masked. Such an axis, of one tensor extent n and
//           one tile extent t, has n = whole t + tail: the digit is the tile, and indices below the tail are one sort,
//           those above another. Parts that are wholly empty stay empty, since the number of whole tiles stays.
// Frozen:   an axis along which an iota counts (but for tails.c), one split down to tiles of 1, axes that neither an input nor an output has, the inner dimensions that a
//           reshape merges, and what is ragged in more than one way keep their extents.
//
// Example:  x[2, 4096] @ w[4096, 6144], grid 128 over columns, loop 32 over the contraction (tiles 2x128, 128x48):
//           digits 2, 128 and 48.
#include "axes.h"

#include "tails.h"

#include <math.h>
#include <stdlib.h>

// ---------------------------------------------------------------------------------------------------------- union-find

static uint32_t find(uint32_t *parent, uint32_t dim) {
  while (parent[dim] != dim)
    dim = parent[dim] = parent[parent[dim]];
  return dim;
}

static uint32_t dim_of(const Axes *axes, int g, MirageValue v, uint32_t d) {
  return axes->base[g] + v.index * MIRAGE_MAX_RANK + d;
}

static int64_t extent_of(const Axes *axes, uint32_t dim) {
  int g = dim >= axes->base[1];
  uint32_t local = dim - axes->base[g];
  return mirage_ugraph_type(axes->graphs[g], (MirageValue){local / MIRAGE_MAX_RANK})->shape[local % MIRAGE_MAX_RANK];
}

static Axis *axis_of(const Axes *axes, uint32_t dim) { return &axes->axes[find(axes->parent, dim)]; }

static void freeze(Axes *axes, uint32_t dim) { axis_of(axes, dim)->frozen = true; }

static void merge(uint32_t *parent, uint32_t a, uint32_t b) {
  a = find(parent, a);
  b = find(parent, b);
  if (a != b)
    parent[a < b ? b : a] = a < b ? a : b;
}

// One axis; the digit's stride is the same in both.
static void unite(Axes *axes, uint32_t a, uint32_t b) {
  bool frozen = axis_of(axes, a)->frozen || axis_of(axes, b)->frozen;
  merge(axes->parent, a, b);
  merge(axes->level, a, b);
  axis_of(axes, a)->frozen = frozen;
}

// One axis; a step of the digit in `a` is `ratio` times as far in `b`.
static void unite_apart(Axes *axes, uint32_t a, uint32_t b, double ratio) {
  bool frozen = axis_of(axes, a)->frozen || axis_of(axes, b)->frozen;
  merge(axes->parent, a, b);
  axis_of(axes, a)->frozen = frozen;
  struct AxesEdge *edges = realloc(axes->edges, (axes->num_edges + 1) * sizeof *edges);
  if (!edges) {
    axes->failed = true;
    return;
  }
  axes->edges = edges;
  axes->edges[axes->num_edges++] = (struct AxesEdge){a, b, ratio};
}

// The same axis; an extent of 1 that broadcasts is none.
static void same(Axes *axes, uint32_t a, uint32_t b) {
  if (extent_of(axes, a) != 1 && extent_of(axes, b) != 1)
    unite(axes, a, b);
}

// One is a multiple of the other; where the smaller is 1 the larger is a number of parts, and stays.
static void multiple(Axes *axes, uint32_t a, uint32_t b) {
  int64_t x = extent_of(axes, a), y = extent_of(axes, b);
  if (x != 1 && y != 1)
    unite(axes, a, b);
  else if (x != y)
    freeze(axes, x == 1 ? b : a);
}

static uint32_t rank_of(const Axes *axes, int g, MirageValue v) { return mirage_ugraph_type(axes->graphs[g], v)->rank; }

// Equal shapes, or right-aligned broadcasting.
static void same_value(Axes *axes, int g, MirageValue a, int h, MirageValue b) {
  uint32_t ra = rank_of(axes, g, a), rb = rank_of(axes, h, b);
  for (uint32_t i = 1; i <= ra && i <= rb; i++)
    same(axes, dim_of(axes, g, a, ra - i), dim_of(axes, h, b, rb - i));
}

// --------------------------------------------------------------------------------------------- what each operator ties

static void tie_matmul(Axes *axes, int g, const MirageNodeView *node) {
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

// Splits both shapes into the finest groups of equal product. The first dimensions of a group are one axis, the others
// keep their extents, and lie below its digit.
static void tie_reshape(Axes *axes, int g, MirageValue a, MirageValue y) {
  const MirageType *from = mirage_ugraph_type(axes->graphs[g], a), *to = mirage_ugraph_type(axes->graphs[g], y);
  uint32_t i = 0, j = 0;
  while (i < from->rank && j < to->rank) {
    if (from->shape[i] == 1 || to->shape[j] == 1) {
      from->shape[i] == 1 ? i++ : j++;
      continue;
    }
    uint32_t first = dim_of(axes, g, a, i), second = dim_of(axes, g, y, j);
    int64_t left = from->shape[i++], right = to->shape[j++];
    double below_first = 1, below_second = 1;
    while (left != right) {
      if (left < right) {
        freeze(axes, dim_of(axes, g, a, i));
        below_first *= (double)from->shape[i];
        left *= from->shape[i++];
      } else {
        freeze(axes, dim_of(axes, g, y, j));
        below_second *= (double)to->shape[j];
        right *= to->shape[j++];
      }
    }
    unite_apart(axes, first, second, below_first / below_second);
  }
}

static void tie_shape(Axes *axes, int g, const MirageNodeView *node) {
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

static void tie_reduce(Axes *axes, int g, const MirageNodeView *node) {
  MirageValue a = node->operands[0], y = node->first_result;
  for (uint32_t d = 0; d < rank_of(axes, g, y); d++)
    same(axes, dim_of(axes, g, a, d), dim_of(axes, g, y, d)); // an extent of 1 left over ties nothing
}

// The tensor's dimension that an access sees as its d-th.
static uint32_t axis_seen(const Axes *axes, int g, MirageValue tensor, const MirageAccessAttrs *access, uint32_t d) {
  return dim_of(axes, g, tensor, mirage_access_dim(access, d));
}

static MirageValue accessed_tensor(const MirageNodeView *node) {
  return node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1];
}
static MirageValue accessed_tile(const MirageNodeView *node) {
  return node->op == MIRAGE_OP_LOAD ? node->first_result : node->operands[0];
}

static void tie_access(Axes *axes, int g, const MirageNodeView *node) {
  MirageValue tensor = accessed_tensor(node), tile = accessed_tile(node);
  for (uint32_t d = 0; d < rank_of(axes, g, tensor); d++)
    multiple(axes, axis_seen(axes, g, tensor, &node->attrs->access, d), dim_of(axes, g, tile, d));
}

static void tie_region(Axes *axes, int g, MirageRegion region);

static void tie_loop_result(Axes *axes, int g, const MirageNodeView *node, uint32_t i, MirageValue from) {
  const MirageCarry *carry = &node->attrs->loop.carries[i];
  MirageValue y = {node->first_result.index + i};
  for (uint32_t d = 0; d < rank_of(axes, g, y); d++) {
    if (carry->combine == MIRAGE_COMBINE_CONCAT && (int32_t)d == carry->dim)
      multiple(axes, dim_of(axes, g, from, d), dim_of(axes, g, y, d));
    else
      same(axes, dim_of(axes, g, from, d), dim_of(axes, g, y, d));
  }
}

static void tie_structure(Axes *axes, int g, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(axes->graphs[g], node->region);
  MirageNodeView last = mirage_ugraph_node(axes->graphs[g], body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < node->num_operands; i++)
    same_value(axes, g, node->operands[i], g, (MirageValue){body.first_argument.index + i});
  tie_region(axes, g, node->region);
  for (uint32_t i = 0; i < node->num_results; i++) {
    MirageValue y = {node->first_result.index + i};
    if (node->op == MIRAGE_OP_CUSTOM) {
      same_value(axes, g, (MirageValue){body.first_argument.index + node->num_operands + i}, g, y);
    } else if (node->op == MIRAGE_OP_LOOP) {
      same_value(axes, g, (MirageValue){body.first_argument.index + i}, g, y);
      tie_loop_result(axes, g, node, i, last.operands[i]);
    } else {
      same_value(axes, g, last.operands[i], g, y);
    }
  }
  if (node->op == MIRAGE_OP_LOOP) // factors broadcast against their carry
    for (uint32_t i = 0, factor = node->attrs->loop.num_carries; i < node->attrs->loop.num_carries; i++)
      if (node->attrs->loop.carries[i].combine == MIRAGE_COMBINE_RESCALE)
        same_value(axes, g, last.operands[factor++], g, (MirageValue){node->first_result.index + i});
}

static void tie_node(Axes *axes, int g, const MirageNodeView *node) {
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
  case MIRAGE_KIND_IOTA: // no two of its indices are alike, but for what tails.c says
    if (!mirage__verify_counts_tails(axes->graphs[g], node))
      freeze(axes, dim_of(axes, g, node->first_result, (uint32_t)node->attrs->iota.dim));
    break;
  default:
    for (uint32_t i = 0; node->num_results && i < node->num_operands; i++)
      same_value(axes, g, node->operands[i], g, node->first_result);
    break;
  }
}

static void tie_region(Axes *axes, int g, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(axes->graphs[g], region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(axes->graphs[g], view.nodes[i]);
    tie_node(axes, g, &node);
  }
}

static void tie_pair(Axes *axes) {
  const MirageUGraph *a = axes->graphs[0], *b = axes->graphs[1];
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(a); i++)
    same_value(axes, 0, mirage_ugraph_get_input(a, i), 1, mirage_ugraph_get_input(b, i));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(a); i++)
    same_value(axes, 0, mirage_ugraph_get_output(a, i), 1, mirage_ugraph_get_output(b, i));
  for (int g = 0; g < 2; g++)
    tie_region(axes, g, mirage_ugraph_body(axes->graphs[g]));
}

// ------------------------------------------------------------------------------------------------------------- strides

// From one level of an axis to the next, until all are known; those that contradict each other freeze the axis. Then
// the smallest stride of each axis is made 1.
static void find_strides(Axes *axes) {
  for (uint32_t i = 0; i < axes->num_dims; i++)
    axes->inner[i] = axes->parent[i] == i ? 1 : 0; // a root of the axis is one of its levels
  for (bool more = true; more;) {
    more = false;
    for (uint32_t e = 0; e < axes->num_edges; e++) {
      const struct AxesEdge *edge = &axes->edges[e];
      double *from = &axes->inner[find(axes->level, edge->from)], *to = &axes->inner[find(axes->level, edge->to)];
      if (*from == 0 && *to == 0)
        continue;
      more |= *from == 0 || *to == 0;
      if (*to == 0)
        *to = *from * edge->ratio;
      else if (*from == 0)
        *from = *to / edge->ratio;
      else if (*to != *from * edge->ratio)
        freeze(axes, edge->from);
    }
  }
}

static void normalize_strides(Axes *axes, double *least) {
  for (uint32_t i = 0; i < axes->num_dims; i++)
    least[i] = INFINITY;
  for (uint32_t i = 0; i < axes->num_dims; i++)
    if (axes->level[i] == i) {
      uint32_t root = find(axes->parent, i);
      least[root] = fmin(least[root], axes->inner[i]);
    }
  for (uint32_t i = 0; i < axes->num_dims; i++)
    if (axes->level[i] == i) {
      axes->inner[i] /= least[find(axes->parent, i)];
      if (axes->inner[i] != floor(axes->inner[i]) || axes->inner[i] > 1e15)
        freeze(axes, i);
    }
}

static int64_t inner_of(const Axes *axes, uint32_t dim) { return (int64_t)axes->inner[find(axes->level, dim)]; }

// --------------------------------------------------------------------------------------------------------- digits,
// tails

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// A position that splits a dimension: the digit divides it, or the axis stays.
static void cut(Axes *axes, uint32_t dim, int64_t at) {
  Axis *axis = axis_of(axes, dim);
  int64_t inner = inner_of(axes, dim);
  axis->frozen |= at % inner != 0;
  axis->digit = gcd(axis->digit, at / inner);
}

// The parts into which an access splits dimension d, outermost first; returns how many levels.
static uint32_t parts_of(const MirageUGraph *graph, MirageNode id, const MirageAccessAttrs *access, uint32_t d,
                         int64_t out_parts[MIRAGE_MAX_SPLITS]) {
  MirageScope scope = mirage_ugraph_scope(graph, id);
  uint8_t splits[MIRAGE_MAX_SPLITS];
  uint32_t levels = mirage_access_splits(access, d, splits);
  for (uint32_t i = 0; i < levels; i++)
    out_parts[i] = splits[i] < 3 ? scope.grid[splits[i]] : scope.ranges[splits[i] - 3];
  return levels;
}

typedef struct Split { // of one dimension by one access
  uint32_t dim;        // of the tensor
  int64_t extent, tile;
  bool window, exact;
  const MirageAccessAttrs *access;
  uint32_t levels, seen; // seen: dimension of the access
  int64_t parts[3 + MIRAGE_MAX_LOOPS];
} Split;

static Split split_of(const Axes *axes, int g, MirageNode id, uint32_t d) {
  MirageNodeView node = mirage_ugraph_node(axes->graphs[g], id);
  const MirageAccessAttrs *access = &node.attrs->access;
  MirageValue tensor = accessed_tensor(&node);
  Split split = {
      .dim = axis_seen(axes, g, tensor, access, d), .window = access->end[d] != 0, .access = access, .seen = d};
  split.extent = mirage_access_extent(access, mirage_ugraph_type(axes->graphs[g], tensor), d);
  split.tile = extent_of(axes, dim_of(axes, g, accessed_tile(&node), d));
  split.levels = parts_of(axes->graphs[g], id, access, d, split.parts);
  int64_t product = split.tile;
  for (uint32_t i = 0; i < split.levels; i++)
    product *= split.parts[i];
  split.exact = product == split.extent;
  return split;
}

static void chunks_of(const Split *split, int64_t *out_chunks) {
  mirage_access_chunks(split->access, split->seen, split->extent, split->levels, split->parts, out_chunks);
}

static bool is_access(const MirageNodeView *node) { return mirage_op_info(node->op)->kind == MIRAGE_KIND_ACCESS; }

// How far apart the indices of neighbouring blocks and iterations are.
static uint32_t steps_of(const MirageAttrs *attrs, int64_t out_steps[3 + MIRAGE_MAX_LOOPS]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 3 + MIRAGE_MAX_LOOPS; i++) {
    int64_t step = i < 3 ? attrs->iota.grid[i] : attrs->iota.loop[i - 3];
    if (step)
      out_steps[count++] = step;
  }
  return count;
}

// A tail that is told by its indices: where these begin and end, digits do.
static void measure_tail(Axes *axes, int g, const MirageNodeView *node) {
  VerifyTail tail;
  if (!mirage__verify_tail(axes->graphs[g], node, &tail))
    return;
  uint32_t dim = dim_of(axes, g, tail.index, tail.dim);
  MirageNode iota = mirage_ugraph_def(axes->graphs[g], tail.index);
  int64_t steps[3 + MIRAGE_MAX_LOOPS];
  uint32_t count = steps_of(mirage_ugraph_node(axes->graphs[g], iota).attrs, steps);
  axis_of(axes, dim)->frozen |= inner_of(axes, dim) != 1;
  cut(axes, dim, tail.end);
  for (uint32_t i = 0; i < count; i++)
    cut(axes, dim, steps[i]);
}

// Cuts by slices and windows, and splits that do not come out even.
static void measure_node(Axes *axes, int g, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(axes->graphs[g], id);
  measure_tail(axes, g, &node);
  if (node.op == MIRAGE_OP_SLICE) {
    uint32_t dim = dim_of(axes, g, node.operands[0], (uint32_t)node.attrs->slice.dim);
    cut(axes, dim, node.attrs->slice.begin);
    cut(axes, dim, node.attrs->slice.end);
  }
  for (uint32_t d = 0; is_access(&node) && d < rank_of(axes, g, accessed_tensor(&node)); d++) {
    Split split = split_of(axes, g, id, d);
    Axis *axis = axis_of(axes, split.dim);
    if (split.window) {
      cut(axes, split.dim, node.attrs->access.begin[d]);
      cut(axes, split.dim, node.attrs->access.end[d]);
    }
    if (split.exact)
      continue;
    axis->frozen |= split.window || inner_of(axes, split.dim) != 1; // no rule for a ragged part
    axis->frozen |= axis->tensor && (axis->tensor != split.extent || axis->whole != split.tile);
    axis->tensor = split.extent;
    axis->whole = split.tile; // for now; see settle_ragged
  }
}

// Of a ragged axis indices are told from the end of the tensor alone, and begin at tiles.
static void check_tail(Axes *axes, int g, const MirageNodeView *node) {
  VerifyTail tail;
  if (!mirage__verify_tail(axes->graphs[g], node, &tail))
    return;
  Axis *axis = axis_of(axes, dim_of(axes, g, tail.index, tail.dim));
  MirageNode iota = mirage_ugraph_def(axes->graphs[g], tail.index);
  int64_t steps[3 + MIRAGE_MAX_LOOPS];
  uint32_t count = steps_of(mirage_ugraph_node(axes->graphs[g], iota).attrs, steps);
  axis->frozen |= axis->tensor && tail.end != axis->tensor;
  for (uint32_t i = 0; i < count && axis->tensor; i++)
    axis->frozen |= steps[i] % axis->whole != 0;
}

// A ragged axis has the extents of its one split and no other, and nothing that looks into it.
static void check_ragged(Axes *axes, int g, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(axes->graphs[g], id);
  check_tail(axes, g, &node);
  if (node.op == MIRAGE_OP_SLICE)
    axis_of(axes, dim_of(axes, g, node.operands[0], (uint32_t)node.attrs->slice.dim))->frozen |=
        axis_of(axes, dim_of(axes, g, node.operands[0], (uint32_t)node.attrs->slice.dim))->tensor != 0;
  for (uint32_t d = 0; is_access(&node) && d < rank_of(axes, g, accessed_tensor(&node)); d++) {
    Split split = split_of(axes, g, id, d);
    Axis *axis = axis_of(axes, split.dim);
    axis->frozen |= axis->tensor && split.window;
    int64_t chunks[4 + MIRAGE_MAX_LOOPS]; // every boundary is one of tiles
    chunks_of(&split, chunks);
    for (uint32_t i = 0; i < split.levels && axis->tensor; i++)
      axis->frozen |= chunks[i + 1] % axis->whole != 0;
  }
}

static void settle_ragged(Axes *axes) {
  for (uint32_t dim = 0; dim < axes->num_dims; dim++) {
    uint32_t local = dim - axes->base[dim >= axes->base[1]];
    int g = dim >= axes->base[1];
    MirageValue v = {local / MIRAGE_MAX_RANK};
    if (!v.index || local % MIRAGE_MAX_RANK >= rank_of(axes, g, v))
      continue;
    Axis *axis = axis_of(axes, dim);
    int64_t extent = extent_of(axes, dim);
    axis->frozen |= axis->tensor && extent != axis->tensor && extent != axis->whole;
  }
  for (int g = 0; g < 2; g++)
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(axes->graphs[g]); n++)
      check_ragged(axes, g, (MirageNode){n});
  for (uint32_t i = 0; i < axes->num_dims; i++) {
    Axis *axis = &axes->axes[i];
    if (axes->parent[i] != i || !axis->tensor)
      continue;
    axis->digit = axis->whole;
    axis->whole = axis->tensor / axis->digit;
    axis->tail = axis->tensor % axis->digit;
  }
}

static void note_shared(Axes *axes, int g, MirageValue v) {
  for (uint32_t d = 0; d < rank_of(axes, g, v); d++)
    axis_of(axes, dim_of(axes, g, v, d))->shared = true;
}

static void measure(Axes *axes) {
  for (int g = 0; g < 2; g++) {
    const MirageUGraph *graph = axes->graphs[g];
    for (uint32_t v = 1; v <= mirage_ugraph_num_values(graph); v++)
      for (uint32_t d = 0; d < rank_of(axes, g, (MirageValue){v}); d++) {
        uint32_t dim = dim_of(axes, g, (MirageValue){v}, d);
        Axis *axis = axis_of(axes, dim);
        int64_t extent = extent_of(axes, dim);
        axis->largest = extent > axis->largest ? extent : axis->largest;
        cut(axes, dim, extent);
      }
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++)
      measure_node(axes, g, (MirageNode){n});
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
      note_shared(axes, g, mirage_ugraph_get_input(graph, i));
    for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++)
      note_shared(axes, g, mirage_ugraph_get_output(graph, i));
  }
  settle_ragged(axes);
  for (uint32_t i = 0; i < axes->num_dims; i++) {
    Axis *axis = &axes->axes[i];
    axis->frozen |= !axis->shared || axis->digit < 2;
    axis->new_digit = axis->digit;
    axis->new_tail = axis->tail;
  }
}

// --------------------------------------------------------------------------------------------------------- new extents

int64_t mirage__verify_axis_extent(const Axis *axis, int64_t old) {
  if (!mirage__axis_shrinks(axis))
    return old;
  if (axis->tensor)
    return old == axis->tensor ? axis->whole * axis->new_digit + axis->new_tail : axis->new_digit;
  return old / axis->digit * axis->new_digit;
}

int64_t mirage__verify_axis_position(const Axis *axis, int64_t old) {
  if (!mirage__axis_shrinks(axis))
    return old;
  int64_t tail = axis->tensor && old == axis->tensor ? axis->new_tail : 0;
  return old / axis->digit * axis->new_digit + tail;
}

// Whether each chunk of each split of a ragged axis becomes as many tiles as it was.
static bool keeps_splits(const Axes *axes, const Axis *axis) {
  for (int g = 0; g < 2; g++)
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(axes->graphs[g]); n++) {
      MirageNodeView node = mirage_ugraph_node(axes->graphs[g], (MirageNode){n});
      for (uint32_t d = 0; is_access(&node) && d < rank_of(axes, g, accessed_tensor(&node)); d++) {
        Split split = split_of(axes, g, (MirageNode){n}, d);
        if (axis_of(axes, split.dim) != axis || split.levels == 0)
          continue;
        int64_t old[4 + MIRAGE_MAX_LOOPS], new[4 + MIRAGE_MAX_LOOPS];
        MirageAccessAttrs access = *split.access; // as the copy's will be
        chunks_of(&split, old);
        access.tiles[d] = mirage__verify_axis_extent(axis, access.tiles[d]);
        mirage_access_chunks(&access, d, mirage__verify_axis_extent(axis, split.extent), split.levels, split.parts,
                             new);
        for (uint32_t i = 0; i < split.levels; i++)
          if (old[i + 1] / axis->digit * axis->new_digit != new[i + 1])
            return false;
      }
    }
  return true;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void choose_ragged(Axes *axes, Axis *axis, int64_t points, int64_t extent) {
  int64_t most_above = axis->digit - axis->tail;
  for (int64_t above = least(points, most_above); above <= most_above; above++)
    for (int64_t below = least(points, axis->tail); below <= axis->tail && below <= above + points; below++) {
      axis->new_digit = below + above;
      axis->new_tail = below;
      if (axis->new_digit >= extent && (!mirage__axis_shrinks(axis) || keeps_splits(axes, axis)))
        return;
    }
  axis->new_digit = axis->digit;
  axis->new_tail = axis->tail;
}

void mirage__axes_choose(Axes *axes, Axis *axis, int64_t points, int64_t extent) {
  axis->new_digit = axis->digit;
  axis->new_tail = axis->tail;
  if (axis->frozen)
    return;
  if (axis->tensor)
    choose_ragged(axes, axis, points, extent);
  else
    axis->new_digit = least(points > extent ? points : extent, axis->digit);
}

// ------------------------------------------------------------------------------------------------------------
// interface

Axis *mirage__axes_of(const Axes *axes, int g, MirageValue v, uint32_t d) {
  return axis_of(axes, dim_of(axes, g, v, d));
}

int64_t mirage__axes_inner(const Axes *axes, int g, MirageValue v, uint32_t d) {
  return inner_of(axes, dim_of(axes, g, v, d));
}

uint32_t mirage__axes_next(const Axes *axes, uint32_t at) {
  while (at < axes->num_dims && (axes->parent[at] != at || axes->axes[at].frozen))
    at++;
  return at;
}

MirageStatus mirage__axes_init(Axes *axes, const MirageUGraph *source, const MirageUGraph *target) {
  *axes = (Axes){.graphs = {source, target}};
  axes->base[1] = (mirage_ugraph_num_values(source) + 1) * MIRAGE_MAX_RANK;
  axes->num_dims = axes->base[1] + (mirage_ugraph_num_values(target) + 1) * MIRAGE_MAX_RANK;
  axes->parent = malloc(axes->num_dims * sizeof *axes->parent);
  axes->level = malloc(axes->num_dims * sizeof *axes->level);
  axes->inner = malloc(axes->num_dims * sizeof *axes->inner);
  axes->axes = calloc(axes->num_dims, sizeof *axes->axes);
  double *scratch = malloc(axes->num_dims * sizeof *scratch);
  bool ok = axes->parent && axes->level && axes->inner && axes->axes && scratch;
  if (ok) {
    for (uint32_t i = 0; i < axes->num_dims; i++)
      axes->parent[i] = axes->level[i] = i;
    tie_pair(axes);
    find_strides(axes);
    normalize_strides(axes, scratch);
    measure(axes);
  }
  free(scratch);
  if (ok && !axes->failed)
    return MIRAGE_OK;
  mirage__axes_deinit(axes);
  return MIRAGE_NO_MEMORY;
}

void mirage__axes_deinit(Axes *axes) {
  free(axes->parent);
  free(axes->level);
  free(axes->inner);
  free(axes->axes);
  free(axes->edges);
  *axes = (Axes){0};
}
