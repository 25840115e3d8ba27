// variants.c - a few other schedules for a planned µGraph, for a GPU to time beside the planner's own.
//
// The planner decides by rules of thumb; what they rest on changes with shapes and chips. A variant changes one thing
// for every kernel that has it - stages, warps, who copies, tile order, clusters that share copies, side blocks, launch
// - and leaves what follows from it to the planner again. A variant that would change nothing is none.
//
// Example: a large product in tiles of 128 x 256, four stages, a producer: warps-8 does without the producer,
//          multicast-x pairs blocks that load the same rows, so that L2 is read once for both.
#include "mirage/layout.h"

#include <string.h>

enum { PAIR = 2 };

/// A kernel as the planner left it.
typedef struct Kernel {
  const MirageUGraph *graph;
  const MirageTarget *target;
  const MirageCustomAttrs *attrs;
  const MirageSchedule *planned;
  bool first;      // of the graph
  bool collective; // its blocks meet
  uint32_t num_loads;
  bool looped[MIRAGE_MAX_LOADS]; // by load, in textual order
  const MirageAccessAttrs *accesses[MIRAGE_MAX_LOADS];
} Kernel;

/// What changes; starts as an open schedule and the cluster that the kernel was asked to have.
typedef struct Change {
  MirageSchedule schedule;
  int64_t cluster[3];
} Change;

typedef bool (*Changer)(const Kernel *kernel, int32_t value, Change *change);

typedef struct Variant {
  const char *name;
  Changer apply; // false: the kernel has nothing to change
  int32_t value;
} Variant;

// ------------------------------------------------------------------------------------------------------------ changes

static bool has_loop(const Kernel *kernel) {
  bool found = false;
  for (uint32_t i = 0; i < kernel->num_loads; i++)
    found |= kernel->looped[i];
  return found;
}

// A producer stays: the planner gives one only to what is open.
static bool change_stages(const Kernel *kernel, int32_t stages, Change *change) {
  bool changes = false;
  if (kernel->planned->num_roles)
    change->schedule = *kernel->planned;
  change->schedule.num_loads = kernel->num_loads;
  for (uint32_t i = 0; i < kernel->num_loads; i++) {
    const MirageLoadSchedule *load = &kernel->planned->loads[i];
    if (!kernel->looped[i] || load->landing == MIRAGE_LANDING_REGISTER)
      continue;
    change->schedule.loads[i].stages = stages;
    changes |= load->stages != stages;
  }
  return changes;
}

static bool change_warps(const Kernel *kernel, int32_t warps, Change *change) {
  change->schedule.warps = warps;
  return has_loop(kernel);
}

static bool change_split(const Kernel *kernel, int32_t split, Change *change) {
  change->schedule.split = (MirageWarpSplit)split;
  return has_loop(kernel) && (int32_t)kernel->planned->split != split;
}

// By cp.async what the copy engine would do.
static bool change_landing(const Kernel *kernel, int32_t landing, Change *change) {
  bool changes = false;
  change->schedule.num_loads = kernel->num_loads;
  for (uint32_t i = 0; i < kernel->num_loads; i++)
    if (kernel->planned->loads[i].landing == MIRAGE_LANDING_TENSOR) {
      change->schedule.loads[i].landing = (MirageLanding)landing;
      changes = true;
    }
  return changes;
}

// Blocks that follow each other in time share what they load.
static bool change_order(const Kernel *kernel, int32_t order, Change *change) {
  const int64_t *grid = kernel->attrs->grid;
  change->schedule = *kernel->planned;
  change->schedule.tile_order = (MirageTileOrder)order;
  return grid[0] > 1 && grid[1] > 1 && grid[0] * grid[1] * grid[2] > kernel->target->num_sms &&
         (kernel->planned->tile_order == MIRAGE_ORDER_GROUPED) != (order == MIRAGE_ORDER_GROUPED);
}

static int64_t blocks_of(const int64_t cluster[3]) { return cluster[0] * cluster[1] * cluster[2]; }

// Two blocks that are neighbours along an axis load once what does not depend on it.
static bool change_multicast(const Kernel *kernel, int32_t axis, Change *change) {
  bool shared = false, alone = blocks_of(change->cluster) == 1;
  change->schedule = *kernel->planned;
  for (uint32_t i = 0; i < kernel->num_loads; i++) {
    MirageLoadSchedule *load = &change->schedule.loads[i];
    load->stages = 0;
    load->multicast =
        kernel->looped[i] && load->landing == MIRAGE_LANDING_TENSOR && kernel->accesses[i]->grid[axis] < 0;
    shared |= load->multicast;
  }
  change->cluster[axis] = PAIR;
  return shared && !kernel->collective && kernel->target->has_cluster && kernel->planned->num_roles &&
         kernel->attrs->grid[axis] % PAIR == 0 && alone && kernel->attrs->cluster[axis] == 1;
}

static bool change_side(const Kernel *kernel, int32_t blocks, Change *change) {
  change->schedule.side_blocks = blocks;
  return kernel->planned->side_blocks && kernel->planned->side_blocks != blocks;
}

// Starts while the kernel before ends.
static bool change_launch(const Kernel *kernel, int32_t dependent, Change *change) {
  change->schedule = *kernel->planned;
  change->schedule.dependent_launch = dependent != 0;
  return !kernel->first && kernel->target->compute_major >= 9 && !kernel->planned->dependent_launch;
}

static const Variant VARIANTS[] = {
    {"stages-2", change_stages, 2},
    {"stages-3", change_stages, 3},
    {"stages-4", change_stages, 4},
    {"stages-6", change_stages, 6},
    {"stages-8", change_stages, 8},
    {"warps-4", change_warps, 4},
    {"warps-8", change_warps, 8},
    {"warps-16", change_warps, 16},
    {"split-rows", change_split, MIRAGE_SPLIT_ROWS},
    {"split-columns", change_split, MIRAGE_SPLIT_COLUMNS},
    {"split-reduction", change_split, MIRAGE_SPLIT_REDUCTION},
    {"async-copies", change_landing, MIRAGE_LANDING_ASYNC},
    {"order-grouped", change_order, MIRAGE_ORDER_GROUPED},
    {"order-row", change_order, MIRAGE_ORDER_ROW},
    {"multicast-x", change_multicast, 0},
    {"multicast-y", change_multicast, 1},
    {"side-1", change_side, 1},
    {"side-2", change_side, 2},
    {"dependent-launch", change_launch, 1},
};

// ------------------------------------------------------------------------------------------------------------- graphs

static void list_nodes(Kernel *kernel, MirageRegion region, bool looped) {
  MirageRegionView view = mirage_ugraph_region(kernel->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(kernel->graph, view.nodes[i]);
    if (node.op == MIRAGE_OP_LOAD && kernel->num_loads < MIRAGE_MAX_LOADS) {
      kernel->looped[kernel->num_loads] = looped;
      kernel->accesses[kernel->num_loads++] = &node.attrs->access;
    }
    kernel->collective |= mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE;
    if (node.region.index)
      list_nodes(kernel, node.region, looped || node.op == MIRAGE_OP_LOOP);
  }
}

static bool is_multicast(const MirageSchedule *schedule) {
  bool found = false;
  for (uint32_t i = 0; i < schedule->num_loads; i++)
    found |= schedule->loads[i].multicast;
  return found;
}

static MirageStatus change_kernel(MirageUGraph *graph, MirageNode node, const MirageUGraph *planned,
                                  MirageNode planned_node, const MirageTarget *target, const Variant *variant,
                                  bool first, bool *out_changes) {
  MirageNodeView view = mirage_ugraph_node(planned, planned_node);
  Kernel kernel = {.graph = planned, .target = target, .attrs = &view.attrs->custom, .first = first};
  kernel.planned = kernel.attrs->schedule;
  Change change = {0};
  for (int a = 0; a < 3; a++)
    change.cluster[a] = kernel.attrs->plan && kernel.attrs->plan->paired ? 1 : kernel.attrs->cluster[a];
  list_nodes(&kernel, view.region, false);
  if (!kernel.planned || kernel.planned->num_loads != kernel.num_loads ||
      !variant->apply(&kernel, variant->value, &change))
    return MIRAGE_OK;
  *out_changes = true;
  if (blocks_of(change.cluster) == 1 && is_multicast(&change.schedule)) // as the planner had it
    memcpy(change.cluster, kernel.attrs->cluster, sizeof change.cluster);
  mirage_ugraph_set_cluster(graph, node, change.cluster);
  mirage_ugraph_set_schedule(graph, node, &change.schedule);
  return mirage_ugraph_status(graph);
}

const char *mirage_layout_variant_name(uint32_t index) {
  return index < sizeof VARIANTS / sizeof *VARIANTS ? VARIANTS[index].name : NULL;
}

MirageStatus mirage_layout_variant(const MirageUGraph *open, const MirageUGraph *planned, const MirageTarget *target,
                                   uint32_t index, const MirageDiag *diag, MirageUGraph **out_graph) {
  *out_graph = NULL;
  MirageUGraph *graph = NULL;
  MIRAGE_TRY(mirage_ugraph_clone(open, diag, &graph));
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  MirageRegionView same = mirage_ugraph_region(planned, mirage_ugraph_body(planned)); // node by node
  MirageStatus status = MIRAGE_OK;
  bool changes = false, first = true;
  for (uint32_t i = 0; i < body.num_nodes && status == MIRAGE_OK; i++) {
    if (mirage_ugraph_node(graph, body.nodes[i]).op != MIRAGE_OP_CUSTOM)
      continue;
    status = change_kernel(graph, body.nodes[i], planned, same.nodes[i], target, &VARIANTS[index], first, &changes);
    first = false;
  }
  if (status == MIRAGE_OK && changes)
    status = mirage_layout_plan(graph, target, diag);
  if (status == MIRAGE_OK && changes)
    *out_graph = graph;
  else
    mirage_ugraph_destroy(graph);
  return status;
}
