// guard_copy.c - builds the instance of a pair that guard_axes.c describes.
//
// Copies node by node with the new extents. Constants and counts keep their values. A sum over an axis whose elements
// each stand for several is multiplied by how many, in the sum's own type: it overflows where the sum would have, and a
// power of two, as it nearly always is, rounds nothing. A mean needs no factor.
#include "guard_internal.h"

#include <stdlib.h>

typedef struct Copy {
  GuardAxes *axes;
  int g;
  MirageUGraph *to;
  MirageValue *map;
  bool mismatch; // an inferred shape is not the planned one, or no memory
} Copy;

static void copy_region(Copy *copy, MirageRegion region);

// Pairs a value with its copy, whose shape must be the planned one.
static void pair(Copy *copy, MirageValue old, MirageValue new) {
  MirageType planned = mirage__guard_type(copy->axes, copy->g, old);
  copy->map[old.index] = new;
  if (new.index && !mirage_type_same_shape(&planned, mirage_ugraph_type(copy->to, new)))
    copy->mismatch = true;
}

static int64_t new_extent(Copy *copy, MirageValue v, uint32_t d, int64_t old) {
  return mirage__guard_extent(copy->axes, mirage__guard_axis(copy->axes, copy->g, v, d), old);
}

static MirageValue times(Copy *copy, MirageValue sum, int64_t repeats) {
  if (repeats == 1 || !sum.index)
    return sum;
  MirageType one = *mirage_ugraph_type(copy->to, sum);
  for (uint32_t d = 0; d < one.rank; d++)
    one.shape[d] = 1;
  MirageValue factor = mirage_ugraph_constant(copy->to, one, (double)repeats);
  return mirage_ugraph_apply(copy->to, MIRAGE_OP_MUL, 2, (MirageValue[]){sum, factor}, NULL);
}

static void copy_window(Copy *copy, MirageValue tensor, MirageAccessAttrs *access) {
  uint32_t rank = mirage_ugraph_type(copy->axes->graphs[copy->g], tensor)->rank;
  for (uint32_t d = 0; d < rank; d++) {
    uint32_t dim = mirage_access_dim(access, d);
    if (!access->end[d])
      continue;
    copy->mismatch |= mirage__guard_axis(copy->axes, copy->g, tensor, dim)->new_tensor != 0; // as for a slice
    access->begin[d] = new_extent(copy, tensor, dim, access->begin[d]);
    access->end[d] = new_extent(copy, tensor, dim, access->end[d]);
  }
}

// Where the copy's blocks divide evenly what they have left, nothing need be said of tiles.
static void copy_tile(Copy *copy, MirageValue tile, MirageAccessAttrs *access) {
  uint32_t rank = mirage_ugraph_type(copy->axes->graphs[copy->g], tile)->rank;
  for (uint32_t d = 0; d < rank; d++) {
    if (!access->tiles[d])
      continue;
    bool sampled = mirage__guard_axis(copy->axes, copy->g, tile, d)->short_of != 0;
    access->tiles[d] = sampled ? 0 : new_extent(copy, tile, d, access->tiles[d]);
  }
}

static void copy_plain(Copy *copy, const MirageNodeView *node, const MirageValue *operands) {
  MirageAttrs attrs = node->attrs ? *node->attrs : (MirageAttrs){0};
  MirageAttrsKind kind = mirage_op_info(node->op)->attrs;
  if (kind == MIRAGE_ATTRS_SHAPE) {
    attrs.shape.type = mirage__guard_type(copy->axes, copy->g, node->first_result);
  } else if (kind == MIRAGE_ATTRS_IOTA) {
    attrs.iota.type = mirage__guard_type(copy->axes, copy->g, node->first_result);
  } else if (kind == MIRAGE_ATTRS_CONSTANT) {
    attrs.constant.type = mirage__guard_type(copy->axes, copy->g, node->first_result);
  } else if (kind == MIRAGE_ATTRS_REDUCE) {
    attrs.reduce.extent = new_extent(copy, node->first_result, (uint32_t)attrs.reduce.dim, attrs.reduce.extent);
  } else if (kind == MIRAGE_ATTRS_SLICE) {
    MirageValue a = node->operands[0];
    uint32_t dim = (uint32_t)attrs.slice.dim;
    copy->mismatch |= mirage__guard_axis(copy->axes, copy->g, a, dim)->new_tensor != 0; // no rule for a ragged axis
    attrs.slice.begin = new_extent(copy, a, dim, attrs.slice.begin);
    attrs.slice.end = new_extent(copy, a, dim, attrs.slice.end);
  } else if (kind == MIRAGE_ATTRS_ACCESS) {
    copy_window(copy, node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1], &attrs.access);
    copy_tile(copy, node->op == MIRAGE_OP_LOAD ? node->first_result : node->operands[0], &attrs.access);
  }
  MirageValue result =
      mirage_ugraph_apply(copy->to, node->op, node->num_operands, operands, kind == MIRAGE_ATTRS_NONE ? NULL : &attrs);
  if (node->num_results)
    pair(copy, node->first_result, times(copy, result, mirage__guard_repeats(copy->axes, copy->g, node)));
}

static MirageNode open_custom(Copy *copy, MirageNode id, const MirageNodeView *node, const MirageValue *operands) {
  MirageCustomAttrs attrs = node->attrs->custom;
  MirageType *results = malloc((node->num_results + 1) * sizeof *results);
  if (!results) {
    copy->mismatch = true;
    return (MirageNode){0};
  }
  for (uint32_t i = 0; i < node->num_results; i++)
    results[i] = mirage__guard_type(copy->axes, copy->g, (MirageValue){node->first_result.index + i});
  mirage__guard_grid(copy->axes, copy->g, id, &attrs);
  attrs.schedule = NULL; // neither changes a result
  attrs.launch = NULL;
  MirageNode opened =
      mirage_ugraph_open_custom(copy->to, node->num_operands, operands, node->num_results, results, &attrs);
  free(results);
  return opened;
}

static void copy_structure(Copy *copy, MirageNode id, const MirageNodeView *node, const MirageValue *operands) {
  MirageRegionView body = mirage_ugraph_region(copy->axes->graphs[copy->g], node->region);
  MirageNode opened;
  if (node->op == MIRAGE_OP_LOOP)
    opened = mirage_ugraph_open_loop(copy->to, node->num_operands, operands, &node->attrs->loop);
  else if (node->op == MIRAGE_OP_THREAD)
    opened = mirage_ugraph_open_thread(copy->to, node->num_operands, operands);
  else
    opened = open_custom(copy, id, node, operands);
  if (!opened.index)
    return;
  for (uint32_t i = 0; i < body.num_arguments; i++)
    pair(copy, (MirageValue){body.first_argument.index + i}, mirage_ugraph_argument(copy->to, opened, i));
  copy_region(copy, node->region);
  for (uint32_t i = 0; i < node->num_results && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++)
    pair(copy, (MirageValue){node->first_result.index + i}, mirage_ugraph_result(copy->to, opened, i));
}

static void copy_node(Copy *copy, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(copy->axes->graphs[copy->g], id);
  MirageValue *operands = malloc((node.num_operands + 1) * sizeof *operands);
  if (!operands) {
    copy->mismatch = true;
    return;
  }
  for (uint32_t i = 0; i < node.num_operands; i++)
    operands[i] = copy->map[node.operands[i].index];
  mirage_ugraph_set_loc(copy->to, node.loc);
  if (node.region.index)
    copy_structure(copy, id, &node, operands);
  else if (node.op == MIRAGE_OP_YIELD)
    mirage_ugraph_close(copy->to, node.num_operands, operands);
  else if (node.op == MIRAGE_OP_RETURN)
    mirage_ugraph_return(copy->to, node.num_operands, operands);
  else
    copy_plain(copy, &node, operands);
  free(operands);
}

static void copy_region(Copy *copy, MirageRegion region) {
  const MirageUGraph *from = copy->axes->graphs[copy->g];
  MirageRegionView view = mirage_ugraph_region(from, region);
  for (uint32_t i = 0; i < view.num_nodes && mirage_ugraph_status(copy->to) == MIRAGE_OK && !copy->mismatch; i++)
    copy_node(copy, view.nodes[i]);
  if (view.owner.index && mirage_ugraph_node(from, view.owner).op == MIRAGE_OP_CUSTOM)
    mirage_ugraph_close(copy->to, 0, NULL); // loop and thread are closed by their yield
}

static MirageUGraph *copy_graph(GuardAxes *axes, int g) {
  const MirageUGraph *from = axes->graphs[g];
  Copy copy = {.axes = axes, .g = g, .to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(from)->name, NULL)};
  copy.map = calloc(mirage_ugraph_num_values(from) + 1, sizeof *copy.map);
  bool ok = copy.to && copy.map;
  if (ok) {
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(from); i++) {
      MirageValue input = mirage_ugraph_get_input(from, i);
      copy.map[input.index] = mirage_ugraph_input(copy.to, mirage__guard_type(axes, g, input));
    }
    copy_region(&copy, mirage_ugraph_body(from));
    ok = mirage_ugraph_finish(copy.to) == MIRAGE_OK && !copy.mismatch;
  }
  free(copy.map);
  if (ok)
    return copy.to;
  mirage_ugraph_destroy(copy.to);
  return NULL;
}

bool mirage__guard_build(GuardAxes *axes, MirageUGraph *out_graphs[2]) {
  for (int g = 0; g < 2; g++)
    out_graphs[g] = copy_graph(axes, g);
  if (out_graphs[0] && out_graphs[1])
    return true;
  for (int g = 0; g < 2; g++) {
    mirage_ugraph_destroy(out_graphs[g]);
    out_graphs[g] = NULL;
  }
  return false;
}
