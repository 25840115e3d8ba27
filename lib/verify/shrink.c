// shrink.c - smaller copies of a pair of graphs in which every split survives.
//
// Only the innermost digit of an axis shrinks (axes.c): an extent e = parts x digit becomes parts x m. Grids, loop
// ranges and the number of whole tiles stay.
//
// Weighted: each sum over a digit that has become m points weighs them: point j stands for w_j of the digit's indices,
//           where the w_j are inputs of both copies that add up to the digit. README.md proves what equality of such
//           copies says of the originals. Constants stay what they are: a mean divides by the number of elements that
//           the original sums, and so many there are by weight.
// Plain:    for tests of generated code and the numeric guard: no weights. Constants keep their value at first. On
//           request they `follow`: those that equal the number of elements which the source sums somewhere, or its
//           inverse, become the shrunken number in both graphs.
//
// Example:  x[2, 4096] @ w[4096, 6144], grid 128 over columns, loop 32 over the contraction (tiles 2x128, 128x48), 2
// and 3
//           points: x[2, 96] @ w[96, 256], tiles 2x3, 3x2, and w_0 + w_1 + w_2 = 128.
#include "shrink.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Copy {
  Axes *axes;
  int g;
  bool follow, followed; // plain: whether constants follow, and whether some did
  const VerifyWeights *weights;
  MirageUGraph *to;
  MirageValue *map;
  MirageValue *sums; // of each pattern, its value in the region at hand
  bool mismatch;     // an inferred shape is not the planned one, or memory is out
} Copy;

static const MirageUGraph *from_of(const Copy *copy) { return copy->axes->graphs[copy->g]; }

static int64_t new_extent(const Copy *copy, MirageValue v, uint32_t d, int64_t old) {
  return mirage__axis_extent(mirage__axes_of(copy->axes, copy->g, v, d), old);
}

static MirageType new_type(const Copy *copy, MirageValue v) {
  MirageType type = *mirage_ugraph_type(from_of(copy), v);
  for (uint32_t d = 0; d < type.rank; d++)
    type.shape[d] = new_extent(copy, v, d, type.shape[d]);
  type.layout = (MirageLayout){0};
  if (type.space == MIRAGE_SPACE_SHARED || type.space == MIRAGE_SPACE_REGISTER)
    type.space = MIRAGE_SPACE_TILE;
  return type;
}

// -------------------------------------------------------------------------------------- constants that stem from
// extents

// The dimension of its first operand that a node sums, or -1. What a reduction leaves of it holds whole digits.
static int32_t summed_dim(const MirageUGraph *graph, const MirageNodeView *node) {
  const MirageOpInfo *info = mirage_op_info(node->op);
  if (info->kind == MIRAGE_KIND_REDUCE)
    return node->op == MIRAGE_OP_REDUCE_MAX ? -1 : node->attrs->reduce.dim;
  if (info->kind != MIRAGE_KIND_MATMUL)
    return -1;
  bool flip = node->attrs && node->attrs->matmul.transpose_a;
  return (int32_t)mirage_ugraph_type(graph, node->operands[0])->rank - 1 - flip;
}

// How many elements a node of the source sums, before and after shrinking; 0 when it sums none.
static int64_t summed_by(const Copy *copy, const MirageNodeView *node, int64_t *out_new) {
  int32_t d = summed_dim(copy->axes->graphs[0], node);
  *out_new = 0;
  if (d < 0)
    return 0;
  const Copy source = {.axes = copy->axes, .g = 0};
  int64_t old = mirage_ugraph_type(copy->axes->graphs[0], node->operands[0])->shape[d];
  int64_t left = mirage_op_info(node->op)->kind == MIRAGE_KIND_REDUCE ? node->attrs->reduce.extent : 1;
  *out_new = new_extent(&source, node->operands[0], (uint32_t)d, old) /
             (left > 1 ? new_extent(&source, node->first_result, (uint32_t)d, left) : 1);
  return old / left;
}

// The value that a constant of either graph takes.
static double constant_value(Copy *copy, double value) {
  const MirageUGraph *source = copy->axes->graphs[0];
  double count = value > 0 && value < 1 ? 1 / value : value;
  int64_t found = 0;
  if (!copy->follow || count < 2 || count != floor(count))
    return value;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(source); n++) {
    MirageNodeView node = mirage_ugraph_node(source, (MirageNode){n});
    int64_t new, old = summed_by(copy, &node, &new);
    if ((double)old != count)
      continue;
    if (found && found != new) // two axes of this extent: it cannot be told which is meant
      return value;
    found = new;
  }
  if (!found || (double)found == count)
    return value;
  copy->followed = true;
  return value < 1 ? 1.0 / (double)found : (double)found;
}

// ---------------------------------------------------------------------------------------------------------------
// weights

// The pattern of weights that a node's first operand is multiplied by; false when it sums no digit that has shrunk.
static bool pattern_of(const Copy *copy, const MirageNodeView *node, VerifyPattern *out_pattern) {
  int32_t d = summed_dim(from_of(copy), node);
  if (d < 0 || (mirage_op_info(node->op)->kind == MIRAGE_KIND_REDUCE && node->attrs->reduce.extent > 1))
    return false; // the digit stays
  MirageValue a = node->operands[0];
  const MirageType *type = mirage_ugraph_type(from_of(copy), a);
  const Axis *axis = mirage__axes_of(copy->axes, copy->g, a, (uint32_t)d);
  if (type->shape[d] == 1 || !axis->weight)
    return false;
  *out_pattern = (VerifyPattern){.axis = axis->weight - 1,
                                 .extent = new_extent(copy, a, (uint32_t)d, type->shape[d]),
                                 .inner = mirage__axes_inner(copy->axes, copy->g, a, (uint32_t)d),
                                 .rank = type->rank - (uint32_t)d,
                                 .dtype = type->dtype};
  return true;
}

static bool same_pattern(const VerifyPattern *a, const VerifyPattern *b) {
  return a->axis == b->axis && a->extent == b->extent && a->inner == b->inner && a->rank == b->rank &&
         a->dtype == b->dtype;
}

static uint32_t find_pattern(const VerifyWeights *weights, const VerifyPattern *pattern) {
  uint32_t i = 0;
  while (i < weights->num_patterns && !same_pattern(&weights->patterns[i], pattern))
    i++;
  return i;
}

// The patterns that sums inside a region need.
static void mark_patterns(const Copy *copy, MirageRegion region, bool *needed) {
  MirageRegionView view = mirage_ugraph_region(from_of(copy), region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(from_of(copy), view.nodes[i]);
    VerifyPattern pattern;
    if (pattern_of(copy, &node, &pattern))
      needed[find_pattern(copy->weights, &pattern)] = true;
    if (node.region.index)
      mark_patterns(copy, node.region, needed);
  }
}

static MirageStatus collect_patterns(Axes *axes, VerifyWeights *weights) {
  for (int g = 0; g < 2; g++) {
    const Copy copy = {.axes = axes, .g = g};
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(axes->graphs[g]); n++) {
      MirageNodeView node = mirage_ugraph_node(axes->graphs[g], (MirageNode){n});
      VerifyPattern pattern;
      if (!pattern_of(&copy, &node, &pattern) || find_pattern(weights, &pattern) < weights->num_patterns)
        continue;
      VerifyPattern *patterns = realloc(weights->patterns, (weights->num_patterns + 1) * sizeof *patterns);
      if (!patterns)
        return MIRAGE_NO_MEMORY;
      weights->patterns = patterns;
      weights->patterns[weights->num_patterns++] = pattern;
    }
  }
  return MIRAGE_OK;
}

// [extent, 1, .., 1] of as many dimensions as follow the summed one, so that it broadcasts along them.
static MirageType pattern_type(const VerifyPattern *pattern,
                               MirageType (*make)(MirageDType, uint32_t, const int64_t *)) {
  int64_t shape[MIRAGE_MAX_RANK] = {pattern->extent, 1, 1, 1, 1, 1};
  return make(pattern->dtype, pattern->rank, shape);
}

// The first operand of a sum, weighted.
static MirageValue weighted(Copy *copy, const MirageNodeView *node, MirageValue a) {
  VerifyPattern pattern;
  if (!copy->weights || !pattern_of(copy, node, &pattern))
    return a;
  MirageValue w = copy->sums[find_pattern(copy->weights, &pattern)];
  MirageValue product = mirage_ugraph_apply(copy->to, MIRAGE_OP_MUL, 2, (MirageValue[]){a, w}, NULL);
  bool widened = product.index && mirage_ugraph_type(copy->to, product)->dtype != pattern.dtype; // tiles compute in f32
  return widened ? mirage_ugraph_cast(copy->to, product, pattern.dtype) : product;
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
  const MirageType *type = mirage_ugraph_type(from_of(copy), node->operands[0]);
  double summed = (double)(type->shape[node->attrs->reduce.dim] / node->attrs->reduce.extent);
  MirageValue sum = mirage_ugraph_apply(copy->to, MIRAGE_OP_REDUCE_SUM, 1, &a, attrs);
  if (!sum.index)
    return sum;
  MirageType one = *mirage_ugraph_type(copy->to, sum);
  for (uint32_t d = 0; d < one.rank; d++)
    one.shape[d] = 1;
  MirageValue count = mirage_ugraph_constant(copy->to, one, constant_value(copy, summed));
  return mirage_ugraph_apply(copy->to, MIRAGE_OP_DIV, 2, (MirageValue[]){sum, count}, NULL);
}

static void copy_window(Copy *copy, MirageValue tensor, MirageAccessAttrs *access) {
  for (uint32_t d = 0; d < mirage_ugraph_type(from_of(copy), tensor)->rank; d++) {
    uint32_t dim = mirage_access_dim(access, d);
    if (!access->end[d])
      continue;
    access->begin[d] = new_extent(copy, tensor, dim, access->begin[d]);
    access->end[d] = new_extent(copy, tensor, dim, access->end[d]);
  }
}

static void scale_attrs(Copy *copy, const MirageNodeView *node, MirageAttrsKind kind, MirageAttrs *attrs) {
  switch (kind) {
  case MIRAGE_ATTRS_SHAPE:
    attrs->shape.type = new_type(copy, node->first_result);
    break;
  case MIRAGE_ATTRS_CONSTANT:
    attrs->constant.type = new_type(copy, node->first_result);
    attrs->constant.value = constant_value(copy, attrs->constant.value);
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
  for (uint32_t i = 0; i < copy->weights->num_patterns; i++) {
    if (!needed[i])
      continue;
    MirageValue value = mirage_ugraph_argument(copy->to, opened, argument++);
    copy->sums[i] = node->op == MIRAGE_OP_CUSTOM ? mirage_ugraph_load(copy->to, value, &whole) : value;
  }
}

// Pairs the region's arguments; those of a kernel's results come after its operands and weights.
static void pair_arguments(Copy *copy, const MirageNodeView *node, MirageNode opened, uint32_t num_weights) {
  MirageRegionView body = mirage_ugraph_region(from_of(copy), node->region);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    pair(copy, (MirageValue){body.first_argument.index + i},
         mirage_ugraph_argument(copy->to, opened, i < node->num_operands ? i : i + num_weights));
}

static void copy_structure(Copy *copy, const MirageNodeView *node, const MirageValue *operands) {
  uint32_t num_patterns = copy->weights ? copy->weights->num_patterns : 0, num_operands = node->num_operands;
  MirageValue *all = malloc((num_operands + num_patterns + 1) * sizeof *all);
  MirageValue *outside = malloc((num_patterns + 1) * sizeof *outside);
  bool *needed = calloc(num_patterns + 1, sizeof *needed);
  copy->mismatch |= !all || !outside || !needed;
  if (!copy->mismatch) {
    memcpy(all, operands, num_operands * sizeof *all);
    if (num_patterns)
      memcpy(outside, copy->sums, num_patterns * sizeof *outside);
    if (num_patterns && node->op != MIRAGE_OP_LOOP) // a loop sees what is around it
      mark_patterns(copy, node->region, needed);
    for (uint32_t i = 0; i < num_patterns; i++)
      if (needed[i])
        all[num_operands++] = copy->sums[i];
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
      memcpy(copy->sums, outside, num_patterns * sizeof *outside);
  }
  free(all);
  free(outside);
  free(needed);
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
  MirageRegionView view = mirage_ugraph_region(from_of(copy), region);
  for (uint32_t i = 0; i < view.num_nodes && !copy->mismatch && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(from_of(copy), view.nodes[i]);
    copy_node(copy, &node);
  }
  if (view.owner.index && mirage_ugraph_node(from_of(copy), view.owner).op == MIRAGE_OP_CUSTOM)
    mirage_ugraph_close(copy->to, 0, NULL);
}

static void copy_inputs(Copy *copy) {
  const MirageUGraph *from = from_of(copy);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(from); i++) {
    MirageValue input = mirage_ugraph_get_input(from, i);
    copy->map[input.index] = mirage_ugraph_input(copy->to, new_type(copy, input));
  }
  for (uint32_t i = 0; copy->weights && i < copy->weights->num_patterns; i++)
    copy->sums[i] = mirage_ugraph_input(copy->to, pattern_type(&copy->weights->patterns[i], mirage_type_tensor));
}

// The copy of graph g, and where its values went (num_values + 1 of them, the caller's) unless that is NULL. NULL when
// there is none. follow: NULL, or in: whether constants follow; out: whether some did.
static MirageUGraph *copy_graph(Axes *axes, int g, bool *follow, const VerifyWeights *weights, MirageValue *out_map) {
  const MirageUGraph *from = axes->graphs[g];
  size_t num_values = mirage_ugraph_num_values(from) + 1;
  Copy copy = {.axes = axes, .g = g, .follow = follow && *follow, .weights = weights};
  copy.to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(from)->name, NULL);
  copy.map = calloc(num_values, sizeof *copy.map);
  copy.sums = calloc((weights ? weights->num_patterns : 0) + 1, sizeof *copy.sums);
  bool ok = copy.to && copy.map && copy.sums;
  if (ok) {
    copy_inputs(&copy);
    copy_region(&copy, mirage_ugraph_body(from));
    ok = mirage_ugraph_finish(copy.to) == MIRAGE_OK && !copy.mismatch;
  }
  if (follow)
    *follow = copy.followed;
  if (ok && out_map)
    memcpy(out_map, copy.map, num_values * sizeof *out_map);
  free(copy.map);
  free(copy.sums);
  if (!ok) {
    mirage_ugraph_destroy(copy.to);
    copy.to = NULL;
  }
  return copy.to;
}

// --------------------------------------------------------------------------------------------------------------
// weighted

// Numbers the axes that shrink; a ragged axis has two sorts, each with a total of its own.
static MirageStatus number_axes(Axes *axes, VerifyWeights *weights) {
  for (uint32_t i = 0; i < axes->num_dims; i++)
    axes->axes[i].weight = 0;
  for (uint32_t i = mirage__axes_next(axes, 0); i < axes->num_dims; i = mirage__axes_next(axes, i + 1)) {
    Axis *axis = &axes->axes[i];
    if (!mirage__axis_shrinks(axis))
      continue;
    VerifyAxis *grown = realloc(weights->axes, (weights->num_axes + 1) * sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    weights->axes = grown;
    weights->axes[weights->num_axes++] = (VerifyAxis){.sizes = {axis->tail, axis->digit - axis->tail},
                                                      .points = {axis->new_tail, axis->new_digit - axis->new_tail},
                                                      .root = i};
    axis->weight = weights->num_axes;
  }
  return MIRAGE_OK;
}

static void count_labels(const Axes *axes, VerifyWeights *weights) {
  for (int g = 0; g < 2; g++)
    for (uint32_t v = 1; v <= mirage_ugraph_num_values(axes->graphs[g]); v++) {
      const MirageType *type = mirage_ugraph_type(axes->graphs[g], (MirageValue){v});
      for (uint32_t d = 0; d < type->rank; d++) {
        const Axis *axis = mirage__axes_of(axes, g, (MirageValue){v}, d);
        uint32_t labels = 0;
        for (uint32_t e = 0; axis->weight && type->shape[d] > 1 && e < type->rank; e++)
          labels += mirage__axes_of(axes, g, (MirageValue){v}, e) == axis && type->shape[e] > 1;
        if (labels > 0 && weights->axes[axis->weight - 1].labels < labels)
          weights->axes[axis->weight - 1].labels = labels;
      }
    }
}

void mirage__verify_weights_deinit(VerifyWeights *weights) {
  free(weights->patterns);
  free(weights->axes);
  *weights = (VerifyWeights){0};
}

MirageStatus mirage__verify_weighted(Axes *axes, VerifyWeights *weights, MirageUGraph *out_graphs[2],
                                     MirageValue *const maps[2]) {
  *weights = (VerifyWeights){.first_input = mirage_ugraph_num_inputs(axes->graphs[0])};
  out_graphs[0] = out_graphs[1] = NULL;
  MirageStatus status = number_axes(axes, weights);
  if (status == MIRAGE_OK)
    status = collect_patterns(axes, weights);
  count_labels(axes, weights);
  if (status == MIRAGE_OK && weights->num_axes) {
    for (int g = 0; g < 2; g++)
      out_graphs[g] = copy_graph(axes, g, NULL, weights, maps ? maps[g] : NULL);
    if (!out_graphs[0] || !out_graphs[1]) {
      mirage_ugraph_destroy(out_graphs[0]);
      mirage_ugraph_destroy(out_graphs[1]);
      out_graphs[0] = out_graphs[1] = NULL;
    }
  }
  if (!out_graphs[0])
    mirage__verify_weights_deinit(weights);
  return status;
}

// -----------------------------------------------------------------------------------------------------------------
// plain

static int by_parts(const void *a, const void *b) {
  const Axis *x = *(Axis *const *)a, *y = *(Axis *const *)b;
  int64_t px = x->largest / x->digit, py = y->largest / y->digit;
  return px != py ? (px < py) - (px > py) : (x > y) - (x < y);
}

// The smallest extents for the axes with the most parts, unequal for the first four. Whether any axis got smaller.
static MirageStatus choose_plain(Axes *axes, ShrinkSizes sizes, bool *out_smaller) {
  static const int64_t extents[][4] = {[SHRINK_SMALLEST] = {2, 3, 5, 7}, [SHRINK_TILES] = {16, 32, 24, 16}};
  Axis **order = malloc((axes->num_dims + 1) * sizeof(Axis *));
  uint32_t count = 0;
  if (!order)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = mirage__axes_next(axes, 0); i < axes->num_dims; i = mirage__axes_next(axes, i + 1))
    order[count++] = &axes->axes[i];
  qsort(order, count, sizeof *order, by_parts);
  *out_smaller = false;
  for (uint32_t i = 0; i < count; i++) {
    mirage__axes_choose(axes, order[i], 1, extents[sizes][i % 4]);
    *out_smaller |= mirage__axis_shrinks(order[i]);
  }
  free(order);
  return MIRAGE_OK;
}

MirageStatus mirage__verify_shrink(const MirageUGraph *source, const MirageUGraph *target, ShrinkSizes sizes,
                                   bool *follow, MirageUGraph **out_source, MirageUGraph **out_target, char *reason) {
  Axes axes;
  bool smaller = false;
  *out_source = *out_target = NULL;
  MIRAGE_TRY(mirage__axes_init(&axes, source, target));
  MirageStatus status = choose_plain(&axes, sizes, &smaller);
  if (status == MIRAGE_OK && smaller) {
    bool both[2] = {*follow, *follow};
    *out_source = copy_graph(&axes, 0, &both[0], NULL, NULL);
    *out_target = *out_source ? copy_graph(&axes, 1, &both[1], NULL, NULL) : NULL;
    *follow = both[0] || both[1];
    if (!*out_target) {
      mirage_ugraph_destroy(*out_source);
      *out_source = NULL;
      snprintf(reason, 160, "the axes have no common smaller instance");
    }
  } else if (status == MIRAGE_OK) {
    snprintf(reason, 160, "no axis can be shrunk");
  }
  mirage__axes_deinit(&axes);
  return status;
}
