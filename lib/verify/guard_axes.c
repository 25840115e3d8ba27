// guard_axes.c - the axes of a pair of graphs, and which of them the numeric guard may make shorter.
//
// Rounding errors and overflow come from how many elements a sum has, not from how many sums there are. So
//   parallel axes  (rows, columns, heads: nobody sums over them) are sampled. What is left is computed as at full
//                  size, from inputs drawn as at full size.
//   reduced axes   keep their extents where that can be afforded. Else every element stands for several equal ones:
//                  the innermost factor of the axis is divided, and each sum over it is multiplied by as much
//                  (guard_copy.c). A maximum does not notice. Of a ragged split whole parts and tail get shorter.
// Both are instances of the pair as it is: constants and counts keep their values.
//
// Axes:     dimensions of all values of both graphs that must keep in step (guard_ties.c). The greatest common divisor
//           of its extents is the innermost factor of all splits of an axis; it may get smaller.
// Blocks:   a parallel axis that only grids split, with no collective between their blocks, loses them: all its
//           extents become the number of samples, in one block, or in as many blocks as samples where tiles are single
//           elements. Other parallel axes keep all parts, and get shorter tiles; one with a ragged split keeps a tail.
// Doubt:    whoever uses the instance compares both graphs on it in float64: where they differ it is none.
//
// Example:  x[2, 4096] @ w[4096, 6144], grid 128 over columns, loop 32 over the contraction:
//           x[2, 4096] @ w[4096, 2], one block, loop 32.
#include "guard_internal.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------- what sums over what

static uint32_t rank_of(const GuardAxes *axes, int g, MirageValue v) {
  return mirage_ugraph_type(axes->graphs[g], v)->rank;
}

// The dimension of its first operand that a reduction or a product sums over.
static uint32_t summed_dim(const GuardAxes *axes, int g, const MirageNodeView *node) {
  if (mirage_op_info(node->op)->kind == MIRAGE_KIND_REDUCE)
    return (uint32_t)node->attrs->reduce.dim;
  return rank_of(axes, g, node->operands[0]) - 1 - (node->attrs && node->attrs->matmul.transpose_a);
}

// The loops around the nodes being looked at, outermost first.
typedef struct Nest {
  bool accumulates[MIRAGE_MAX_LOOPS];
  uint32_t num_loops;
} Nest;

// Whether the iterations of a loop end up in one value, rather than each in a place of its own.
static bool accumulates(const MirageLoopAttrs *loop) {
  for (uint32_t i = 0; i < loop->num_carries; i++)
    if (loop->carries[i].combine != MIRAGE_COMBINE_CONCAT)
      return true;
  return false;
}

static void mark_access(GuardAxes *axes, int g, const MirageNodeView *node, const Nest *nest) {
  MirageValue tensor = node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1];
  for (uint32_t l = 0; l < nest->num_loops; l++) {
    int8_t d = node->attrs->access.loop[l];
    if (d >= 0 && nest->accumulates[l])
      mirage__guard_axis(axes, g, tensor, mirage_access_dim(&node->attrs->access, (uint32_t)d))->reduced = true;
  }
}

static void mark_node(GuardAxes *axes, int g, const MirageNodeView *node, const Nest *nest) {
  MirageOpKind kind = mirage_op_info(node->op)->kind;
  if (kind == MIRAGE_KIND_ACCESS)
    mark_access(axes, g, node, nest);
  if (kind == MIRAGE_KIND_IOTA) // its indices are what they are
    mirage__guard_axis(axes, g, node->first_result, (uint32_t)node->attrs->iota.dim)->frozen = true;
  if (kind != MIRAGE_KIND_REDUCE && kind != MIRAGE_KIND_MATMUL)
    return;
  GuardAxis *axis = mirage__guard_axis(axes, g, node->operands[0], summed_dim(axes, g, node));
  axis->reduced = true;
  axis->frozen |= node->num_operands == 3; // a product that is added at once: no place for a factor
}

static void mark_region(GuardAxes *axes, int g, MirageRegion region, const Nest *outer) {
  MirageRegionView view = mirage_ugraph_region(axes->graphs[g], region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(axes->graphs[g], view.nodes[i]);
    Nest nest = *outer;
    mark_node(axes, g, &node, outer);
    if (node.op == MIRAGE_OP_LOOP && nest.num_loops < MIRAGE_MAX_LOOPS)
      nest.accumulates[nest.num_loops++] = accumulates(&node.attrs->loop);
    if (node.region.index)
      mark_region(axes, g, node.region, &nest);
  }
}

static void note_shared(GuardAxes *axes, int g, MirageValue v) {
  for (uint32_t d = 0; d < rank_of(axes, g, v); d++)
    mirage__guard_axis(axes, g, v, d)->shared = true;
}

// An axis that no input and no output has, as of a constant that is summed, is one graph's own: nothing keeps it in
// step with the other graph, so it stays as it is.
static void freeze_private(GuardAxes *axes) {
  for (int g = 0; g < 2; g++) {
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(axes->graphs[g]); i++)
      note_shared(axes, g, mirage_ugraph_get_input(axes->graphs[g], i));
    for (uint32_t i = 0; i < mirage_ugraph_num_outputs(axes->graphs[g]); i++)
      note_shared(axes, g, mirage_ugraph_get_output(axes->graphs[g], i));
  }
  for (uint32_t i = 0; i < axes->num_dims; i++)
    if (axes->parent[i] == i && !axes->axes[i].shared)
      axes->axes[i].frozen = true;
}

// ------------------------------------------------------------------------------------------------------------- extents

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// How one access splits its dimension d.
typedef struct Split {
  GuardAxis *axis;
  int64_t extent, tile, parts; // parts: of grid and loops
  int32_t grid_axes, loops;
  bool by_grid[3], window;
} Split;

static Split split_of(GuardAxes *axes, int g, MirageNode id, uint32_t d) {
  MirageNodeView node = mirage_ugraph_node(axes->graphs[g], id);
  MirageScope scope = mirage_ugraph_scope(axes->graphs[g], id);
  const MirageAccessAttrs *access = &node.attrs->access;
  MirageValue tensor = node.op == MIRAGE_OP_LOAD ? node.operands[0] : node.operands[1];
  MirageValue tile = node.op == MIRAGE_OP_LOAD ? node.first_result : node.operands[0];
  Split split = {.axis = mirage__guard_axis(axes, g, tensor, mirage_access_dim(access, d)),
                 .extent = mirage_access_extent(access, mirage_ugraph_type(axes->graphs[g], tensor), d),
                 .tile = mirage_ugraph_type(axes->graphs[g], tile)->shape[d],
                 .parts = 1,
                 .window = access->end[d] != 0};
  for (int32_t a = 0; a < 3; a++)
    if (access->grid[a] == (int8_t)d && scope.grid[a] > 1) {
      split.parts *= scope.grid[a];
      split.grid_axes++;
      split.by_grid[a] = true;
    }
  for (uint32_t l = 0; l < scope.num_loops; l++)
    if (access->loop[l] == (int8_t)d) {
      split.parts *= scope.ranges[l];
      split.loops++;
    }
  return split;
}

static uint32_t access_rank(const GuardAxes *axes, int g, const MirageNodeView *node) {
  return rank_of(axes, g, node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1]);
}

// Calls `visit` for each dimension of each access of graph `g`.
static void each_split(GuardAxes *axes, int g, void (*visit)(GuardAxes *, int g, MirageNode custom, const Split *)) {
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(axes->graphs[g]); n++) {
    MirageNodeView node = mirage_ugraph_node(axes->graphs[g], (MirageNode){n});
    if (mirage_op_info(node.op)->kind != MIRAGE_KIND_ACCESS)
      continue;
    MirageNode custom = mirage_ugraph_region(axes->graphs[g], node.parent).owner;
    while (mirage_ugraph_node(axes->graphs[g], custom).op != MIRAGE_OP_CUSTOM)
      custom = mirage_ugraph_region(axes->graphs[g], mirage_ugraph_node(axes->graphs[g], custom).parent).owner;
    for (uint32_t d = 0; d < access_rank(axes, g, &node); d++) {
      Split split = split_of(axes, g, (MirageNode){n}, d);
      visit(axes, g, custom, &split);
    }
  }
}

// Whether an iota of the region, or inside, counts along a grid axis.
static bool follows(const MirageUGraph *graph, MirageRegion region, uint32_t axis) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    if (node.op == MIRAGE_OP_IOTA && node.attrs->iota.grid[axis])
      return true;
    if (node.region.index && follows(graph, node.region, axis))
      return true;
  }
  return false;
}

static void note_split(GuardAxes *axes, int g, MirageNode custom, const Split *split) {
  GuardAxis *axis = split->axis;
  for (uint32_t a = 0; a < 3; a++)
    axis->frozen |=
        split->by_grid[a] && follows(axes->graphs[g], mirage_ugraph_node(axes->graphs[g], custom).region, a);
  if (split->parts * split->tile == split->extent)
    return;
  axis->frozen |= split->window; // no rule for a ragged part
  axis->several |=
      axis->tensor && (axis->tensor != split->extent || axis->tile != split->tile || axis->parts != split->parts);
  axis->tensor = split->extent;
  axis->tile = split->tile;
  axis->parts = split->parts;
}

// Bounds of slices and windows divide like extents.
static void note_bounds(GuardAxes *axes, int g, const MirageNodeView *node) {
  if (node->op == MIRAGE_OP_SLICE) {
    GuardAxis *axis = mirage__guard_axis(axes, g, node->operands[0], (uint32_t)node->attrs->slice.dim);
    axis->divisor = gcd(axis->divisor, gcd(node->attrs->slice.begin, node->attrs->slice.end));
  }
  if (mirage_op_info(node->op)->kind != MIRAGE_KIND_ACCESS)
    return;
  const MirageAccessAttrs *access = &node->attrs->access;
  MirageValue tensor = node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1];
  for (uint32_t d = 0; d < access_rank(axes, g, node); d++) {
    GuardAxis *axis = mirage__guard_axis(axes, g, tensor, mirage_access_dim(access, d));
    if (access->end[d])
      axis->divisor = gcd(axis->divisor, gcd(access->begin[d], access->end[d]));
  }
}

static void note_extent(GuardAxes *axes, int g, MirageValue v, uint32_t d) {
  GuardAxis *axis = mirage__guard_axis(axes, g, v, d);
  const MirageType *type = mirage_ugraph_type(axes->graphs[g], v);
  int64_t extent = type->shape[d];
  axis->divisor = gcd(axis->divisor, extent);
  axis->largest = extent > axis->largest ? extent : axis->largest;
  if (type->space == MIRAGE_SPACE_DEVICE)
    axis->outer = !axis->outer || axis->outer == extent ? extent : -1;
}

static void note_third_extent(GuardAxes *axes, int g, MirageValue v, uint32_t d) {
  GuardAxis *axis = mirage__guard_axis(axes, g, v, d);
  int64_t extent = mirage_ugraph_type(axes->graphs[g], v)->shape[d];
  axis->several |= axis->tensor && extent != axis->tensor && extent != axis->tile;
}

static void each_dim(GuardAxes *axes, void (*visit)(GuardAxes *, int g, MirageValue, uint32_t d)) {
  for (int g = 0; g < 2; g++)
    for (uint32_t v = 1; v <= mirage_ugraph_num_values(axes->graphs[g]); v++)
      for (uint32_t d = 0; d < rank_of(axes, g, (MirageValue){v}); d++)
        visit(axes, g, (MirageValue){v}, d);
}

static void measure(GuardAxes *axes) {
  each_dim(axes, note_extent);
  for (int g = 0; g < 2; g++) {
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(axes->graphs[g]); n++) {
      MirageNodeView node = mirage_ugraph_node(axes->graphs[g], (MirageNode){n});
      note_bounds(axes, g, &node);
    }
    each_split(axes, g, note_split);
  }
  each_dim(axes, note_third_extent);
}

// ------------------------------------------------------------------------------------- which axes lose their blocks

static void keep_joined(GuardAxes *axes, int g, MirageRegion region, GuardBlocks *blocks) {
  MirageRegionView view = mirage_ugraph_region(axes->graphs[g], region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(axes->graphs[g], view.nodes[i]);
    for (uint32_t a = 0; mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE && a < 3; a++)
      if (node.attrs->axes.axis[a])
        blocks[a] = GUARD_ALL_BLOCKS;
    if (node.region.index)
      keep_joined(axes, g, node.region, blocks);
  }
}

// An axis and the grid axis that splits it agree on one number of blocks, or neither changes.
static void agree(GuardAxes *axes, int g, MirageNode custom, const Split *split) {
  GuardAxis *axis = split->axis;
  GuardBlocks *blocks = axes->blocks[g] + 3 * (size_t)custom.index;
  GuardBlocks wanted = split->tile == 1 ? GUARD_BLOCK_EACH : GUARD_ONE_BLOCK;
  if (split->window || split->loops || split->grid_axes > 1)
    axis->short_of = 0;
  for (uint32_t a = 0; a < 3; a++) {
    if (!split->by_grid[a])
      continue;
    if (!axis->short_of || (blocks[a] != GUARD_ANY_BLOCKS && blocks[a] != wanted))
      blocks[a] = GUARD_ALL_BLOCKS;
    else
      blocks[a] = wanted;
    if (blocks[a] == GUARD_ALL_BLOCKS)
      axis->short_of = 0;
  }
}

static uint64_t count_agreed(const GuardAxes *axes) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < axes->num_dims; i++)
    count += axes->parent[i] == i && axes->axes[i].short_of;
  for (int g = 0; g < 2; g++)
    for (size_t i = 0; i < 3 * ((size_t)mirage_ugraph_num_nodes(axes->graphs[g]) + 1); i++)
      count += axes->blocks[g][i] != GUARD_ALL_BLOCKS;
  return count;
}

static void choose_blocks(GuardAxes *axes) {
  for (uint32_t i = 0; i < axes->num_dims; i++) {
    GuardAxis *axis = &axes->axes[i];
    if (axes->parent[i] == i && !axis->frozen && !axis->reduced && axis->outer > 1)
      axis->short_of = axis->outer;
  }
  for (int g = 0; g < 2; g++)
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(axes->graphs[g]); n++) {
      MirageNodeView node = mirage_ugraph_node(axes->graphs[g], (MirageNode){n});
      if (node.op == MIRAGE_OP_CUSTOM)
        keep_joined(axes, g, node.region, axes->blocks[g] + 3 * (size_t)n);
    }
  uint64_t before = UINT64_MAX, now = count_agreed(axes);
  while (now != before) { // each round takes an axis or a grid axis away, or is the last
    before = now;
    for (int g = 0; g < 2; g++)
      each_split(axes, g, agree);
    now = count_agreed(axes);
  }
}

// ------------------------------------------------------------------------------------------------------- the instance

int64_t mirage__guard_extent(const GuardAxes *axes, const GuardAxis *axis, int64_t old) {
  if (!axes->smaller || old == 1)
    return old;
  if (axis->short_of)
    return axes->samples < axis->short_of ? axes->samples : axis->short_of;
  if (axis->new_tensor)
    return old == axis->tensor ? axis->new_tensor : axis->new_tile;
  return old / axis->divisor * axis->size;
}

MirageType mirage__guard_type(GuardAxes *axes, int g, MirageValue v) {
  MirageType type = *mirage_ugraph_type(axes->graphs[g], v);
  for (uint32_t d = 0; d < type.rank; d++)
    type.shape[d] = mirage__guard_extent(axes, mirage__guard_axis(axes, g, v, d), type.shape[d]);
  type.layout = (MirageLayout){0};
  if (type.space == MIRAGE_SPACE_SHARED || type.space == MIRAGE_SPACE_REGISTER)
    type.space = MIRAGE_SPACE_TILE;
  return type;
}

void mirage__guard_grid(const GuardAxes *axes, int g, MirageNode custom, MirageCustomAttrs *attrs) {
  for (uint32_t a = 0; axes->smaller && a < 3; a++) {
    GuardBlocks blocks = axes->blocks[g][3 * (size_t)custom.index + a];
    if (blocks != GUARD_ONE_BLOCK && blocks != GUARD_BLOCK_EACH)
      continue;
    bool one = blocks == GUARD_ONE_BLOCK || attrs->grid[a] == 1;
    attrs->grid[a] = one ? 1 : axes->samples < attrs->grid[a] ? axes->samples : attrs->grid[a];
    attrs->cluster[a] = 1; // no collective needs it
  }
}

int64_t mirage__guard_repeats(GuardAxes *axes, int g, const MirageNodeView *node) {
  if (node->op != MIRAGE_OP_REDUCE_SUM && mirage_op_info(node->op)->kind != MIRAGE_KIND_MATMUL)
    return 1;
  uint32_t d = summed_dim(axes, g, node);
  MirageValue a = node->operands[0];
  const GuardAxis *axis = mirage__guard_axis(axes, g, a, d);
  if (axis->repeats)
    return mirage_ugraph_type(axes->graphs[g], a)->shape[d] > 1 ? axis->repeats : 1;
  int64_t old = mirage_ugraph_type(axes->graphs[g], a)->shape[d], new = mirage__guard_type(axes, g, a).shape[d];
  if (node->op == MIRAGE_OP_REDUCE_SUM) { // several sums in one: of what is left, each is there
    int64_t left = node->attrs->reduce.extent;
    old /= left;
    new /= mirage__guard_extent(axes, mirage__guard_axis(axes, g, node->first_result, d), left);
  }
  return old / new;
}

// ------------------------------------------------------------------------------------------------------------
// ownership

static void init_axes(GuardAxes *axes) {
  mirage__guard_tie(axes);
  for (int g = 0; g < 2; g++)
    mark_region(axes, g, mirage_ugraph_body(axes->graphs[g]), &(Nest){.num_loops = 0});
  freeze_private(axes);
  measure(axes);
  choose_blocks(axes);
  for (uint32_t i = 0; i < axes->num_dims; i++)
    axes->axes[i].size = axes->axes[i].divisor;
}

MirageStatus mirage__guard_axes_init(GuardAxes *axes, const MirageUGraph *program, const MirageUGraph *candidate) {
  *axes = (GuardAxes){.graphs = {program, candidate}};
  axes->base[1] = (mirage_ugraph_num_values(program) + 1) * MIRAGE_MAX_RANK;
  axes->num_dims = axes->base[1] + (mirage_ugraph_num_values(candidate) + 1) * MIRAGE_MAX_RANK;
  axes->parent = malloc(axes->num_dims * sizeof *axes->parent);
  axes->axes = calloc(axes->num_dims, sizeof *axes->axes);
  for (int g = 0; g < 2; g++)
    axes->blocks[g] = calloc(3 * ((size_t)mirage_ugraph_num_nodes(axes->graphs[g]) + 1), sizeof *axes->blocks[g]);
  if (!axes->parent || !axes->axes || !axes->blocks[0] || !axes->blocks[1]) {
    mirage__guard_axes_deinit(axes);
    return MIRAGE_NO_MEMORY;
  }
  init_axes(axes);
  return MIRAGE_OK;
}

void mirage__guard_axes_deinit(GuardAxes *axes) {
  free(axes->parent);
  free(axes->axes);
  free(axes->blocks[0]);
  free(axes->blocks[1]);
  *axes = (GuardAxes){0};
}
