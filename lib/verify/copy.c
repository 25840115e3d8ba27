// copy.c - copies a graph without sugar with other extents, and perhaps with weighted sums.
//
// What a copy changes is said by rules (copy.h): new extents, grid axes that are taken away, constants, and inputs that
// the operands of sums are multiplied by. Inside a kernel or a thread graph such an input is an operand of its own. Where
// sums are weighted, bytes and sums of their products are f32, since weights are numbers that no byte is multiplied by: such
// a copy is evaluated in a field, where types say nothing. Schedules, launches and layouts are left out: they change no result.
#include "copy.h"

#include "tails.h"

#include <stdlib.h>
#include <string.h>

typedef struct Copy {
  const MirageUGraph *from;
  const CopyRules *rules;
  MirageUGraph *to;
  MirageValue *map;
  MirageValue *weights; // of each pattern, its value in the region at hand
  uint8_t removed;      // grid axes of the kernel at hand
  bool mismatch;        // an inferred shape is not the planned one, or memory is out
} Copy;

static int64_t new_extent(const Copy *copy, MirageValue v, uint32_t d, int64_t old) {
  return copy->rules->extent(copy->rules->user, v, d, old);
}

// Whether the value is of bytes, or a sum of their products, and becomes f32.
static bool becomes_number(const Copy *copy, MirageValue v) {
  MirageDType dtype = mirage_ugraph_type(copy->from, v)->dtype;
  return copy->rules->num_patterns &&
         (mirage_dtype_is_stored(dtype) || (dtype == MIRAGE_I32 && !mirage_ugraph_is_logical(copy->from, v)));
}

static MirageType new_type(const Copy *copy, MirageValue v) {
  MirageType type = *mirage_ugraph_type(copy->from, v);
  type.dtype = becomes_number(copy, v) ? MIRAGE_F32 : type.dtype;
  for (uint32_t d = 0; d < type.rank; d++)
    type.shape[d] = new_extent(copy, v, d, type.shape[d]);
  type.layout = (MirageLayout){0};
  if (type.space == MIRAGE_SPACE_SHARED || type.space == MIRAGE_SPACE_REGISTER)
    type.space = MIRAGE_SPACE_TILE;
  return type;
}

static double new_constant(const Copy *copy, double value) {
  return copy->rules->constant ? copy->rules->constant(copy->rules->user, value) : value;
}

// ---------------------------------------------------------------------------------------------------------------- weights

// The pattern of weights that a node's first operand is multiplied by; false when there is none.
static bool pattern_of(const Copy *copy, const MirageNodeView *node, uint32_t *out_pattern) {
  return copy->rules->pattern && copy->rules->pattern(copy->rules->user, node, out_pattern);
}

// The patterns that sums inside a region need.
static void mark_patterns(const Copy *copy, MirageRegion region, bool *needed) {
  MirageRegionView view = mirage_ugraph_region(copy->from, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(copy->from, view.nodes[i]);
    uint32_t pattern;
    if (pattern_of(copy, &node, &pattern))
      needed[pattern] = true;
    if (node.region.index)
      mark_patterns(copy, node.region, needed);
  }
}

// The first operand of a sum, weighted.
static MirageValue weighted(Copy *copy, const MirageNodeView *node, MirageValue a) {
  uint32_t pattern;
  if (!pattern_of(copy, node, &pattern))
    return a;
  MirageDType dtype = new_type(copy, node->operands[0]).dtype;
  MirageValue product =
      mirage_ugraph_apply(copy->to, MIRAGE_OP_MUL, 2, (MirageValue[]){a, copy->weights[pattern]}, NULL);
  bool widened = product.index && mirage_ugraph_type(copy->to, product)->dtype != dtype; // tiles compute in f32
  return widened ? mirage_ugraph_cast(copy->to, product, dtype) : product;
}

// ---------------------------------------------------------------------------------------------------------------
// copying

static void copy_region(Copy *copy, MirageRegion region);

// Pairs a value with its copy, whose shape must be the planned one.
static void pair(Copy *copy, MirageValue old, MirageValue new) {
  MirageType planned = new_type(copy, old);
  copy->map[old.index] = new;
  if (new.index && !mirage_type_same_shape(&planned, mirage_ugraph_type(copy->to, new)))
    copy->mismatch = true;
}

// A mean divides by the number of elements that the original sums.
static MirageValue copy_mean(Copy *copy, const MirageNodeView *node, MirageValue a, const MirageAttrs *attrs) {
  const MirageType *type = mirage_ugraph_type(copy->from, node->operands[0]);
  double summed = (double)(type->shape[node->attrs->reduce.dim] / node->attrs->reduce.extent);
  MirageValue sum = mirage_ugraph_apply(copy->to, MIRAGE_OP_REDUCE_SUM, 1, &a, attrs);
  if (!sum.index)
    return sum;
  MirageType one = *mirage_ugraph_type(copy->to, sum);
  for (uint32_t d = 0; d < one.rank; d++)
    one.shape[d] = 1;
  MirageValue count = mirage_ugraph_constant(copy->to, one, new_constant(copy, summed));
  return mirage_ugraph_apply(copy->to, MIRAGE_OP_DIV, 2, (MirageValue[]){sum, count}, NULL);
}

static void copy_window(Copy *copy, MirageValue tensor, MirageAccessAttrs *access) {
  for (uint32_t d = 0; d < mirage_ugraph_type(copy->from, tensor)->rank; d++) {
    uint32_t dim = mirage_access_dim(access, d);
    if (!access->end[d])
      continue;
    access->begin[d] = new_extent(copy, tensor, dim, access->begin[d]);
    access->end[d] = new_extent(copy, tensor, dim, access->end[d]);
  }
}

// Tiles of a grid axis that is taken away are the whole extent.
static void copy_tile(Copy *copy, MirageValue tile, MirageAccessAttrs *access) {
  for (uint32_t axis = 0; axis < 3; axis++)
    if (copy->removed >> axis & 1 && access->grid[axis] >= 0) {
      access->tiles[access->grid[axis]] = 0;
      access->grid[axis] = -1;
    }
  access->cyclic &= mirage_access_may_cycle(access);
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    if (access->tiles[d])
      access->tiles[d] = new_extent(copy, tile, d, access->tiles[d]);
}

static int64_t new_position(const Copy *copy, MirageValue v, uint32_t d, int64_t old) {
  return copy->rules->position ? copy->rules->position(copy->rules->user, v, d, old) : old;
}

static void copy_steps(const Copy *copy, MirageValue v, MirageAttrs *attrs) {
  for (uint32_t i = 0; i < 3; i++)
    attrs->iota.grid[i] = new_position(copy, v, (uint32_t)attrs->iota.dim, attrs->iota.grid[i]);
  for (uint32_t i = 0; i < MIRAGE_MAX_LOOPS; i++)
    attrs->iota.loop[i] = new_position(copy, v, (uint32_t)attrs->iota.dim, attrs->iota.loop[i]);
}

// The end that an index is compared with, which is no number but a place.
static MirageValue copy_end(const Copy *copy, const MirageNodeView *node, MirageValue end) {
  VerifyTail tail;
  if (!copy->rules->position || !mirage__verify_tail(copy->from, node, &tail))
    return end;
  int64_t moved = new_position(copy, tail.index, tail.dim, tail.end);
  return mirage_ugraph_constant(copy->to, *mirage_ugraph_type(copy->from, node->operands[1]), (double)moved);
}

static void scale_attrs(Copy *copy, const MirageNodeView *node, MirageAttrsKind kind, MirageAttrs *attrs) {
  switch (kind) {
  case MIRAGE_ATTRS_SHAPE:
    attrs->shape.type = new_type(copy, node->first_result);
    break;
  case MIRAGE_ATTRS_IOTA:
    attrs->iota.type = new_type(copy, node->first_result);
    copy_steps(copy, node->first_result, attrs);
    break;
  case MIRAGE_ATTRS_CONSTANT:
    attrs->constant.type = new_type(copy, node->first_result);
    attrs->constant.value = new_constant(copy, attrs->constant.value);
    break;
  case MIRAGE_ATTRS_REDUCE:
    attrs->reduce.extent = new_extent(copy, node->first_result, (uint32_t)attrs->reduce.dim, attrs->reduce.extent);
    break;
  case MIRAGE_ATTRS_SLICE:
    attrs->slice.begin = new_extent(copy, node->operands[0], (uint32_t)attrs->slice.dim, attrs->slice.begin);
    attrs->slice.end = new_extent(copy, node->operands[0], (uint32_t)attrs->slice.dim, attrs->slice.end);
    break;
  case MIRAGE_ATTRS_ACCESS:
    copy_window(copy, node->op == MIRAGE_OP_LOAD ? node->operands[0] : node->operands[1], &attrs->access);
    copy_tile(copy, node->op == MIRAGE_OP_LOAD ? node->first_result : node->operands[0], &attrs->access);
    break;
  default:
    break;
  }
}

static void copy_plain(Copy *copy, const MirageNodeView *node, MirageValue *operands) {
  MirageAttrs attrs = node->attrs ? *node->attrs : (MirageAttrs){0};
  MirageAttrsKind kind = mirage_op_info(node->op)->attrs;
  scale_attrs(copy, node, kind, &attrs);
  if (node->num_operands)
    operands[0] = weighted(copy, node, operands[0]);
  if (node->op == MIRAGE_OP_LESS)
    operands[1] = copy_end(copy, node, operands[1]);
  MirageValue result;
  if (node->op == MIRAGE_OP_REDUCE_MEAN)
    result = copy_mean(copy, node, operands[0], &attrs);
  else
    result = mirage_ugraph_apply(copy->to, node->op, node->num_operands, operands,
                                 kind == MIRAGE_ATTRS_NONE ? NULL : &attrs);
  if (node->num_results)
    pair(copy, node->first_result, result);
}

static MirageNode open_custom(Copy *copy, const MirageNodeView *node, uint32_t num_operands,
                              const MirageValue *operands) {
  MirageCustomAttrs attrs = node->attrs->custom;
  MirageType *results = malloc((node->num_results + 1) * sizeof *results);
  MirageNode opened = {0};
  if (!results) {
    copy->mismatch = true;
    return opened;
  }
  for (uint32_t i = 0; i < node->num_results; i++)
    results[i] = new_type(copy, (MirageValue){node->first_result.index + i});
  for (uint32_t axis = 0; axis < 3; axis++)
    if (copy->removed >> axis & 1)
      attrs.grid[axis] = attrs.cluster[axis] = 1;
  attrs.schedule = NULL; // neither changes a result
  attrs.launch = NULL;
  opened = mirage_ugraph_open_custom(copy->to, num_operands, operands, node->num_results, results, &attrs);
  free(results);
  return opened;
}

static MirageNode open_copy(Copy *copy, const MirageNodeView *node, uint32_t num_operands,
                            const MirageValue *operands) {
  switch (node->op) {
  case MIRAGE_OP_LOOP:
    return mirage_ugraph_open_loop(copy->to, num_operands, operands, &node->attrs->loop);
  case MIRAGE_OP_THREAD:
    return mirage_ugraph_open_thread(copy->to, num_operands, operands);
  default:
    return open_custom(copy, node, num_operands, operands);
  }
}

// Inside a kernel or a thread graph the weights are operands of its own: tiles that every block loads whole, or
// fragments. The value of each needed pattern there.
static void bring_weights(Copy *copy, const MirageNodeView *node, MirageNode opened, const bool *needed) {
  const MirageAccessAttrs whole = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  uint32_t argument = node->num_operands;
  for (uint32_t i = 0; i < copy->rules->num_patterns; i++) {
    if (!needed[i])
      continue;
    MirageValue value = mirage_ugraph_argument(copy->to, opened, argument++);
    copy->weights[i] = node->op == MIRAGE_OP_CUSTOM ? mirage_ugraph_load(copy->to, value, &whole) : value;
  }
}

// Pairs the region's arguments; those of a kernel's results come after its operands and weights.
static void pair_arguments(Copy *copy, const MirageNodeView *node, MirageNode opened, uint32_t num_weights) {
  MirageRegionView body = mirage_ugraph_region(copy->from, node->region);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    pair(copy, (MirageValue){body.first_argument.index + i},
         mirage_ugraph_argument(copy->to, opened, i < node->num_operands ? i : i + num_weights));
}

static void copy_structure(Copy *copy, const MirageNodeView *node, const MirageValue *operands) {
  uint32_t num_patterns = copy->rules->num_patterns, num_operands = node->num_operands;
  MirageValue *all = malloc((num_operands + num_patterns + 1) * sizeof *all);
  MirageValue *outside = malloc((num_patterns + 1) * sizeof *outside);
  bool *needed = calloc(num_patterns + 1, sizeof *needed);
  copy->mismatch |= !all || !outside || !needed;
  if (!copy->mismatch) {
    memcpy(all, operands, num_operands * sizeof *all);
    if (num_patterns)
      memcpy(outside, copy->weights, num_patterns * sizeof *outside);
    if (num_patterns && node->op != MIRAGE_OP_LOOP) // a loop sees what is around it
      mark_patterns(copy, node->region, needed);
    for (uint32_t i = 0; i < num_patterns; i++)
      if (needed[i])
        all[num_operands++] = copy->weights[i];
    MirageNode opened = open_copy(copy, node, num_operands, all);
    if (opened.index) {
      pair_arguments(copy, node, opened, num_operands - node->num_operands);
      if (num_operands > node->num_operands)
        bring_weights(copy, node, opened, needed);
      copy_region(copy, node->region);
      for (uint32_t i = 0; i < node->num_results && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++)
        pair(copy, (MirageValue){node->first_result.index + i}, mirage_ugraph_result(copy->to, opened, i));
    }
    if (num_patterns)
      memcpy(copy->weights, outside, num_patterns * sizeof *outside);
  }
  free(all);
  free(outside);
  free(needed);
}

// A constant that a carry begins with, of the carry's shape: others may begin with the same one.
static MirageValue copy_initial(Copy *copy, MirageValue carry, MirageValue initial) {
  MirageNode def = mirage_ugraph_def(copy->from, initial);
  MirageNodeView node = mirage_ugraph_node(copy->from, def);
  MirageAttrs attrs = *node.attrs;
  MirageAttrsKind kind = mirage_op_info(node.op)->attrs;
  MirageType type = new_type(copy, initial), shape = new_type(copy, carry);
  memcpy(type.shape, shape.shape, sizeof type.shape);
  scale_attrs(copy, &node, kind, &attrs);
  if (kind == MIRAGE_ATTRS_CONSTANT)
    attrs.constant.type = type;
  else
    attrs.shape.type = type;
  return mirage_ugraph_apply(copy->to, node.op, 0, NULL, &attrs);
}

static bool begins_with_constant(const Copy *copy, const MirageNodeView *node, uint32_t i) {
  MirageNode def = mirage_ugraph_def(copy->from, node->operands[i]);
  return def.index && mirage_op_info(mirage_ugraph_node(copy->from, def).op)->kind == MIRAGE_KIND_CONSTANT;
}

static void copy_node(Copy *copy, const MirageNodeView *node) {
  MirageValue *operands = malloc((node->num_operands + 1) * sizeof *operands);
  if (!operands) {
    copy->mismatch = true;
    return;
  }
  for (uint32_t i = 0; i < node->num_operands; i++)
    operands[i] = copy->map[node->operands[i].index];
  mirage_ugraph_set_loc(copy->to, node->loc);
  for (uint32_t i = 0; node->op == MIRAGE_OP_LOOP && i < node->num_operands; i++)
    if (begins_with_constant(copy, node, i))
      operands[i] = copy_initial(copy, (MirageValue){node->first_result.index + i}, node->operands[i]);
  for (uint32_t i = 0; node->op == MIRAGE_OP_LOOP && i < node->num_operands; i++) // what a sum of integers begins with
    if (becomes_number(copy, (MirageValue){node->first_result.index + i}))
      operands[i] = mirage_ugraph_cast(copy->to, operands[i], MIRAGE_F32);
  if (node->region.index)
    copy_structure(copy, node, operands);
  else if (node->op == MIRAGE_OP_YIELD)
    mirage_ugraph_close(copy->to, node->num_operands, operands);
  else if (node->op == MIRAGE_OP_RETURN)
    mirage_ugraph_return(copy->to, node->num_operands, operands);
  else
    copy_plain(copy, node, operands);
  free(operands);
}

static void copy_region(Copy *copy, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(copy->from, region);
  for (uint32_t i = 0; i < view.num_nodes && !copy->mismatch && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(copy->from, view.nodes[i]);
    if (node.op == MIRAGE_OP_CUSTOM)
      copy->removed = copy->rules->removed ? copy->rules->removed(copy->rules->user, view.nodes[i]) : 0;
    copy_node(copy, &node);
  }
  if (view.owner.index && mirage_ugraph_node(copy->from, view.owner).op == MIRAGE_OP_CUSTOM)
    mirage_ugraph_close(copy->to, 0, NULL);
}

static void copy_inputs(Copy *copy) {
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(copy->from); i++) {
    MirageValue input = mirage_ugraph_get_input(copy->from, i);
    copy->map[input.index] = mirage_ugraph_input(copy->to, new_type(copy, input));
  }
  for (uint32_t i = 0; i < copy->rules->num_patterns; i++)
    copy->weights[i] = mirage_ugraph_input(copy->to, copy->rules->pattern_type(copy->rules->user, i));
}

MirageUGraph *mirage__verify_copy(const MirageUGraph *graph, const CopyRules *rules) {
  size_t num_values = (size_t)mirage_ugraph_num_values(graph) + 1;
  Copy copy = {.from = graph, .rules = rules};
  copy.to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(graph)->name, NULL);
  copy.map = calloc(num_values, sizeof *copy.map);
  copy.weights = calloc((size_t)rules->num_patterns + 1, sizeof *copy.weights);
  bool ok = copy.to && copy.map && copy.weights;
  if (ok) {
    copy_inputs(&copy);
    copy_region(&copy, mirage_ugraph_body(graph));
    ok = mirage_ugraph_finish(copy.to) == MIRAGE_OK && !copy.mismatch;
  }
  if (ok && rules->out_map)
    memcpy(rules->out_map, copy.map, num_values * sizeof *copy.map);
  free(copy.map);
  free(copy.weights);
  if (!ok) {
    mirage_ugraph_destroy(copy.to);
    copy.to = NULL;
  }
  return copy.to;
}
