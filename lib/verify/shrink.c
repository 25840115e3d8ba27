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
//           and 3 points: x[2, 96] @ w[96, 256], tiles 2x3, 3x2, and w_0 + w_1 + w_2 = 128.
#include "shrink.h"

#include "copy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// What the rules of a copy read.
typedef struct Shrink {
  const Axes *axes;
  int g;
  bool follow, followed; // plain: whether constants follow, and whether some did
  const VerifyWeights *weights;
} Shrink;

static int64_t new_extent(const void *user, MirageValue v, uint32_t d, int64_t old) {
  const Shrink *shrink = user;
  return mirage__verify_axis_extent(mirage__axes_of(shrink->axes, shrink->g, v, d), old);
}

static int64_t new_position(const void *user, MirageValue v, uint32_t d, int64_t old) {
  const Shrink *shrink = user;
  return mirage__verify_axis_position(mirage__axes_of(shrink->axes, shrink->g, v, d), old);
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
static int64_t summed_by(const Shrink *shrink, const MirageNodeView *node, int64_t *out_new) {
  int32_t d = summed_dim(shrink->axes->graphs[0], node);
  *out_new = 0;
  if (d < 0)
    return 0;
  const Shrink source = {.axes = shrink->axes, .g = 0};
  int64_t old = mirage_ugraph_type(shrink->axes->graphs[0], node->operands[0])->shape[d];
  int64_t left = mirage_op_info(node->op)->kind == MIRAGE_KIND_REDUCE ? node->attrs->reduce.extent : 1;
  *out_new = new_extent(&source, node->operands[0], (uint32_t)d, old) /
             (left > 1 ? new_extent(&source, node->first_result, (uint32_t)d, left) : 1);
  return old / left;
}

// The value that a constant of either graph takes.
static double new_constant(void *user, double value) {
  Shrink *shrink = user;
  const MirageUGraph *source = shrink->axes->graphs[0];
  double count = value > 0 && value < 1 ? 1 / value : value;
  int64_t found = 0;
  if (!shrink->follow || count < 2 || count != floor(count))
    return value;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(source); n++) {
    MirageNodeView node = mirage_ugraph_node(source, (MirageNode){n});
    int64_t new, old = summed_by(shrink, &node, &new);
    if ((double)old != count)
      continue;
    if (found && found != new) // two axes of this extent: it cannot be told which is meant
      return value;
    found = new;
  }
  if (!found || (double)found == count)
    return value;
  shrink->followed = true;
  return value < 1 ? 1.0 / (double)found : (double)found;
}

// ---------------------------------------------------------------------------------------------------------------
// weights

// The pattern of weights that a node's first operand is multiplied by; false when it sums no digit that has shrunk.
static bool pattern_of(const Shrink *shrink, const MirageNodeView *node, VerifyPattern *out_pattern) {
  int32_t d = summed_dim(shrink->axes->graphs[shrink->g], node);
  if (d < 0 || (mirage_op_info(node->op)->kind == MIRAGE_KIND_REDUCE && node->attrs->reduce.extent > 1))
    return false; // the digit stays
  MirageValue a = node->operands[0];
  const MirageType *type = mirage_ugraph_type(shrink->axes->graphs[shrink->g], a);
  const Axis *axis = mirage__axes_of(shrink->axes, shrink->g, a, (uint32_t)d);
  if (type->shape[d] == 1 || !axis->weight)
    return false;
  *out_pattern = (VerifyPattern){.axis = axis->weight - 1,
                                 .extent = new_extent(shrink, a, (uint32_t)d, type->shape[d]),
                                 .inner = mirage__axes_inner(shrink->axes, shrink->g, a, (uint32_t)d),
                                 .rank = type->rank - (uint32_t)d,
                                 .dtype = mirage_dtype_is_stored(type->dtype) ? MIRAGE_F32 : type->dtype};
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

static MirageStatus collect_patterns(Axes *axes, VerifyWeights *weights) {
  for (int g = 0; g < 2; g++) {
    const Shrink shrink = {.axes = axes, .g = g};
    for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(axes->graphs[g]); n++) {
      MirageNodeView node = mirage_ugraph_node(axes->graphs[g], (MirageNode){n});
      VerifyPattern pattern;
      if (!pattern_of(&shrink, &node, &pattern) || find_pattern(weights, &pattern) < weights->num_patterns)
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
static MirageType pattern_type(const void *user, uint32_t pattern) {
  const VerifyPattern *row = &((const Shrink *)user)->weights->patterns[pattern];
  const int64_t shape[MIRAGE_MAX_RANK] = {row->extent, 1, 1, 1, 1, 1};
  return mirage_type_tensor(row->dtype, row->rank, shape);
}

static bool weigh(const void *user, const MirageNodeView *node, uint32_t *out_pattern) {
  const Shrink *shrink = user;
  VerifyPattern pattern;
  if (!pattern_of(shrink, node, &pattern))
    return false;
  *out_pattern = find_pattern(shrink->weights, &pattern);
  return true;
}

// The copy of graph g, and where its values went (num_values + 1 of them, the caller's) unless that is NULL. NULL when
// there is none. follow: NULL, or in: whether constants follow; out: whether some did.
static MirageUGraph *copy_graph(const Axes *axes, int g, bool *follow, const VerifyWeights *weights,
                                MirageValue *out_map) {
  Shrink shrink = {.axes = axes, .g = g, .follow = follow && *follow, .weights = weights};
  CopyRules rules = {
      .user = &shrink, .extent = new_extent, .position = new_position, .constant = new_constant, .out_map = out_map};
  if (weights) {
    rules.pattern = weigh;
    rules.num_patterns = weights->num_patterns;
    rules.pattern_type = pattern_type;
  }
  MirageUGraph *copy = mirage__verify_copy(axes->graphs[g], &rules);
  if (follow)
    *follow = shrink.followed;
  return copy;
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
