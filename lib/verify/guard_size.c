// guard_size.c - how small the instance of a pair must be for a quick guard, and what an evaluation of it costs.
//
// As large as the work allows, in this order: as it is; with parallel axes sampled; with the longest reduced axes
// divided by 2 and by 2 again, each element standing for two, four, ... equal ones. What work is left over goes to more
// samples.
#include "guard_internal.h"

enum {
  SHORTEST = 2,        // axis: extents of 1 would broadcast
  MOST_SAMPLES = 64,   // of an axis
  ENOUGH_SAMPLES = 64, // of an output, for an error in the Frobenius norm
};

// ---------------------------------------------------------------------------------------------------------------- work

// Nanoseconds of an element, rounding included.
static double weight_of(MirageOp op) {
  switch (op) {
  case MIRAGE_OP_MATMUL:
  case MIRAGE_OP_MMA:
    return 1;
  case MIRAGE_OP_EXP:
  case MIRAGE_OP_LOG:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_SIN:
  case MIRAGE_OP_COS:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_SIGMOID:
  case MIRAGE_OP_SILU:
  case MIRAGE_OP_GELU:
  case MIRAGE_OP_GELU_TANH:
    return 20;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MEAN:
  case MIRAGE_OP_REDUCE_MAX:
    return 2;
  default:
    return 5;
  }
}

static double elements(GuardAxes *axes, int g, MirageValue v) {
  MirageType type = mirage__guard_type(axes, g, v);
  return (double)mirage_type_elements(&type);
}

static double node_work(GuardAxes *axes, int g, const MirageNodeView *node) {
  enum { CALL = 100 }; // whatever the size
  if (!node->num_results)
    return CALL + 5 * elements(axes, g, node->operands[0]); // a store
  double work = elements(axes, g, node->first_result);
  if (mirage_op_info(node->op)->kind == MIRAGE_KIND_MATMUL) {
    MirageType a = mirage__guard_type(axes, g, node->operands[0]);
    work *= (double)a.shape[a.rank - (node->attrs && node->attrs->matmul.transpose_a ? 2 : 1)];
  } else if (mirage_op_info(node->op)->kind == MIRAGE_KIND_REDUCE) {
    work = elements(axes, g, node->operands[0]);
  }
  return CALL + work * weight_of(node->op);
}

static double region_work(GuardAxes *axes, int g, MirageRegion region, double executions) {
  MirageRegionView view = mirage_ugraph_region(axes->graphs[g], region);
  double work = 0;
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(axes->graphs[g], view.nodes[i]);
    if (mirage_op_info(node.op)->kind == MIRAGE_KIND_TERMINATOR)
      continue;
    work += executions * node_work(axes, g, &node);
    if (!node.region.index)
      continue;
    double inner = executions;
    if (node.op == MIRAGE_OP_CUSTOM) {
      MirageCustomAttrs attrs = node.attrs->custom;
      mirage__guard_grid(axes, g, view.nodes[i], &attrs);
      inner *= (double)(attrs.grid[0] * attrs.grid[1] * attrs.grid[2]);
    } else if (node.op == MIRAGE_OP_LOOP) {
      inner *= (double)node.attrs->loop.range;
    }
    work += region_work(axes, g, node.region, inner);
  }
  return work;
}

double mirage__guard_work(GuardAxes *axes, int g) {
  return region_work(axes, g, mirage_ugraph_body(axes->graphs[g]), 1);
}

static double pair_work(GuardAxes *axes) { return mirage__guard_work(axes, 0) + mirage__guard_work(axes, 1); }

// --------------------------------------------------------------------------------------------------------------- sizes

static bool may_shrink(const GuardAxis *axis) { return !axis->frozen && !axis->fixed && axis->divisor > SHORTEST; }

// The smallest tile t' and tail r' for which ceil((whole t' + r') / parts) is t' again.
static void sample_ragged(GuardAxis *axis) {
  int64_t whole = axis->tensor / axis->tile;
  for (int64_t t = SHORTEST; t < axis->tile; t++)
    for (int64_t r = 1; r < t; r++)
      if ((whole * t + r + axis->parts - 1) / axis->parts == t) {
        axis->new_tensor = whole * t + r;
        axis->new_tile = t;
        return;
      }
}

static void sample(GuardAxes *axes) {
  for (uint32_t i = 0; i < axes->num_dims; i++) {
    GuardAxis *axis = &axes->axes[i];
    if (axes->parent[i] != i || axis->reduced || axis->frozen || axis->fixed || axis->short_of)
      continue;
    if (axis->tensor && !axis->several)
      sample_ragged(axis);
    else if (!axis->tensor && may_shrink(axis))
      axis->size = SHORTEST;
  }
}

static int64_t length(const GuardAxis *axis) {
  return axis->new_tensor ? axis->new_tensor : axis->largest / axis->divisor * axis->size;
}

static int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0)
      return p;
  return n;
}

// Tile and tail of a ragged split half as long as they are. Parts that become empty are no instance.
static bool halve_ragged(const GuardAxis *axis, GuardAxis *out_halved) {
  if (!axis->tensor || axis->several || axis->frozen || axis->fixed)
    return false;
  int64_t repeats = axis->repeats ? 2 * axis->repeats : 2;
  int64_t tile = axis->tile / repeats, whole = axis->tensor / axis->tile, tail = axis->tensor % axis->tile / repeats;
  if (tile < SHORTEST)
    return false;
  tail = tail < 1 ? 1 : tail < tile ? tail : tile - 1;
  int64_t tensor = whole * tile + tail;
  if ((tensor + axis->parts - 1) / axis->parts != tile)
    return false;
  *out_halved = *axis;
  out_halved->repeats = repeats;
  out_halved->new_tile = tile;
  out_halved->new_tensor = tensor;
  return true;
}

// The axis with its innermost factor divided by the smallest that it has: by 2 where that goes, since a sum times a
// power of two is not rounded.
static bool divided(const GuardAxis *axis, GuardAxis *out_divided) {
  *out_divided = *axis;
  if (!may_shrink(axis) || axis->new_tensor || axis->size / smallest_factor(axis->size) < SHORTEST)
    return axis->size == axis->divisor && halve_ragged(axis, out_divided);
  out_divided->size /= smallest_factor(axis->size);
  return true;
}

// Divides the longest reduced axis that can be divided. False: none can.
static bool divide(GuardAxes *axes) {
  GuardAxis *longest = NULL, shorter = {0};
  for (uint32_t i = 0; i < axes->num_dims; i++) {
    GuardAxis *axis = &axes->axes[i], divided_axis;
    if (axes->parent[i] == i && axis->reduced && divided(axis, &divided_axis) &&
        (!longest || length(axis) > length(longest))) {
      longest = axis;
      shorter = divided_axis;
    }
  }
  if (longest)
    *longest = shorter;
  return longest != NULL;
}

static bool enough_samples(GuardAxes *axes) {
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(axes->graphs[0]); i++)
    if (elements(axes, 0, mirage_ugraph_get_output(axes->graphs[0], i)) < ENOUGH_SAMPLES)
      return false;
  return true;
}

// Lengthens what is sampled while that is affordable.
static void spend(GuardAxes *axes, double max_work) {
  while (!enough_samples(axes) && axes->samples < MOST_SAMPLES) {
    axes->samples *= 2;
    if (pair_work(axes) <= max_work)
      continue;
    axes->samples /= 2;
    return;
  }
}

MirageGuardInstance mirage__guard_choose(GuardAxes *axes, double max_work) {
  axes->smaller = false;
  if (pair_work(axes) <= max_work)
    return MIRAGE_GUARD_FULL;
  MirageGuardInstance instance = MIRAGE_GUARD_SAMPLED;
  axes->smaller = true;
  axes->samples = SHORTEST;
  sample(axes);
  while (pair_work(axes) > max_work && divide(axes))
    instance = MIRAGE_GUARD_REPEATED;
  spend(axes, max_work);
  return instance;
}
