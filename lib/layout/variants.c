// variants.c - a few other schedules for a planned µGraph, for a GPU to time beside the planner's own.
//
// The planner decides by rules of thumb; what they rest on changes with shapes and chips. A variant changes one thing
// for every kernel that has it - maxima of the first tile alone, stages, warps, who copies, tile order, clusters that share copies, side blocks, launch
// - and leaves what follows from it to the planner again. A variant that would change nothing is none.
//
// Example: a large product in tiles of 128 x 256, four stages, a producer: warps-8 does without the producer,
//          multicast-x pairs blocks that load the same rows, so that L2 is read once for both.
#include "mirage/layout.h"

#include "plan.h"

/// A kernel as the planner left it, and two that ask to be planned: one for nothing yet, one for all that was planned. Both
/// have the cluster that the kernel was asked to have.
typedef struct Kernel {
  const MirageTarget *target;
  const Block *planned;
  bool first; // of the graph
  Block open, kept;
} Kernel;

/// The one of the two that the variant has changed; NULL: the kernel has nothing to change.
typedef Block *(*Changer)(Kernel *kernel, int32_t value);

typedef struct Variant {
  const char *name;
  Changer apply;
  int32_t value;
} Variant;

// ------------------------------------------------------------------------------------------------------------ changes

// A producer stays: the planner gives one only to what is open.
static Block *change_stages(Kernel *kernel, int32_t stages) {
  const Block *planned = kernel->planned;
  Block *ask = mirage__has_producer(&planned->team) ? &kernel->kept : &kernel->open;
  bool changes = false;
  for (uint32_t i = 0; i < planned->num_loads; i++) {
    const BlockLoad *load = &planned->loads[i];
    if (load->loop < 0 || load->by == BY_READER)
      continue;
    ask->loops[load->loop].stages = stages;
    changes |= planned->loops[load->loop].stages != stages;
  }
  ask->num_loads = planned->num_loads;
  return changes ? ask : NULL;
}

static bool has_loop(const Block *block) {
  bool found = false;
  for (uint32_t i = 0; i < block->num_loads; i++)
    found |= block->loads[i].loop >= 0;
  return found;
}

// Of a loop, or of rows and elements in threads.
static Block *change_warps(Kernel *kernel, int32_t warps) {
  mirage__team_set_warps(&kernel->open.team, warps);
  return has_loop(kernel->planned) || kernel->planned->items.on ? &kernel->open : NULL;
}

static Block *change_split(Kernel *kernel, int32_t divide) {
  kernel->open.team.divide = (Divide)divide;
  return has_loop(kernel->planned) && (int32_t)kernel->planned->team.divide != divide ? &kernel->open : NULL;
}

// By cp.async what the copy engine would do.
static Block *change_landing(Kernel *kernel, int32_t by) {
  const Block *planned = kernel->planned;
  bool changes = false;
  for (uint32_t i = 0; i < planned->num_loads; i++)
    if (planned->loads[i].by == BY_TENSOR) {
      kernel->open.loads[i].by = (LoadBy)by;
      changes = true;
    }
  kernel->open.num_loads = planned->num_loads;
  return changes ? &kernel->open : NULL;
}

// Blocks that follow each other in time share what they load.
static Block *change_order(Kernel *kernel, int32_t order) {
  const int64_t *grid = mirage__block_custom(kernel->planned)->grid;
  bool many = grid[0] > 1 && grid[1] > 1 && mirage__block_grid(kernel->planned) > kernel->target->num_sms;
  kernel->kept.tile_order = (MirageTileOrder)order;
  return many && (kernel->planned->tile_order == MIRAGE_ORDER_GROUPED) != (order == MIRAGE_ORDER_GROUPED)
             ? &kernel->kept
             : NULL;
}

// Two blocks that are neighbours along an axis load once what does not depend on it.
static Block *change_multicast(Kernel *kernel, int32_t axis) {
  const Block *planned = kernel->planned;
  const MirageCustomAttrs *custom = mirage__block_custom(planned);
  Block *ask = &kernel->kept;
  bool shared = false, alone = mirage__block_cluster(ask) == 1;
  for (uint32_t i = 0; i < ask->num_loads; i++) {
    ask->loads[i].multicast = mirage__copies_alike(planned, &planned->loads[i], (uint32_t)axis);
    shared |= ask->loads[i].multicast;
  }
  for (int32_t l = 0; l < ask->num_loops; l++)
    ask->loops[l].stages = 0;
  ask->cluster[axis] = PAIR;
  return shared && !planned->num_meetings && kernel->target->has_cluster && mirage__has_producer(&planned->team) &&
                 custom->grid[axis] % PAIR == 0 && alone && planned->cluster[axis] == 1
             ? ask
             : NULL;
}

static Block *change_side(Kernel *kernel, int32_t blocks) {
  const Actor *side = mirage__team_first(&kernel->planned->team, ACTOR_SIDE);
  mirage__team_add_side(&kernel->open.team, blocks);
  return side && side->blocks != blocks ? &kernel->open : NULL;
}

// Starts when the kernel before ends, or while it runs.
static Block *change_start(Kernel *kernel, int32_t early) {
  kernel->kept.start = early ? MIRAGE_START_EARLY : MIRAGE_START_AFTER;
  const Block *planned = kernel->planned;
  bool can = kernel->target->compute_major >= 9;
  return can && mirage__starts_early(planned->graph, planned->custom, kernel->first, kernel->target) != early
             ? &kernel->kept
             : NULL;
}

// How often sums then overflow depends on the data; so only those who time it can tell.
static Block *change_maxima(Kernel *kernel, int32_t first) {
  const Block *planned = kernel->planned;
  BlockMaxima kept;
  bool may = false;
  for (int32_t l = 0; l < planned->num_loops; l++)
    may |= !mirage__maxima_reason(planned, l, &kept);
  kernel->kept.first_maxima = first;
  return may && planned->first_maxima != first ? &kernel->kept : NULL;
}

static const Variant VARIANTS[] = {
    {"first-maxima", change_maxima, true},
    {"warps-4", change_warps, 4},
    {"warps-8", change_warps, 8},
    {"warps-16", change_warps, 16},
    {"warps-2", change_warps, 2},
    {"warps-1", change_warps, 1},
    {"stages-2", change_stages, 2},
    {"stages-3", change_stages, 3},
    {"stages-4", change_stages, 4},
    {"stages-6", change_stages, 6},
    {"stages-8", change_stages, 8},
    {"split-rows", change_split, DIVIDE_ROWS},
    {"split-columns", change_split, DIVIDE_COLUMNS},
    {"split-reduction", change_split, DIVIDE_DEPTH},
    {"async-copies", change_landing, BY_THREADS},
    {"order-grouped", change_order, MIRAGE_ORDER_GROUPED},
    {"order-row", change_order, MIRAGE_ORDER_ROW},
    {"multicast-x", change_multicast, 0},
    {"multicast-y", change_multicast, 1},
    {"side-1", change_side, 1},
    {"side-2", change_side, 2},
    {"start-early", change_start, true},
    {"start-after", change_start, false},
};

// ------------------------------------------------------------------------------------------------------------- graphs

// `asked` is how the kernel was before it was planned.
static MirageStatus asks_of(const Block *planned, const MirageCustomAttrs *asked, Kernel *kernel) {
  size_t bytes = (size_t)planned->num_loops * sizeof *planned->loops + 1;
  kernel->planned = planned;
  kernel->kept = *planned;
  kernel->kept.loops = mirage_arena_copy(planned->arena, planned->loops, bytes);
  kernel->open.loops = mirage_arena_alloc(planned->arena, bytes);
  if (!kernel->kept.loops || !kernel->open.loops)
    return MIRAGE_NO_MEMORY;
  kernel->open.team = (Team){.num_actors = 1, .divide = DIVIDE_ANY, .swap = asked->schedule && asked->schedule->swap};
  for (uint32_t i = 0; i < planned->num_loads; i++)
    kernel->open.loads[i].loop = planned->loads[i].loop;
  for (int a = 0; a < 3; a++)
    kernel->open.cluster[a] = kernel->kept.cluster[a] = asked->cluster[a];
  return MIRAGE_OK;
}

static MirageStatus change_kernel(MirageUGraph *graph, MirageNode node, const Block *planned,
                                  const MirageTarget *target, const Variant *variant, bool first, bool *out_changes) {
  Kernel kernel = {.target = target, .first = first};
  MIRAGE_TRY(asks_of(planned, &mirage_ugraph_node(graph, node).attrs->custom, &kernel));
  Block *ask = variant->apply(&kernel, variant->value);
  if (!ask)
    return MIRAGE_OK;
  *out_changes = true;
  bool multicast = false;
  for (uint32_t i = 0; i < ask->num_loads; i++)
    multicast |= ask->loads[i].multicast;
  bool pairs = multicast && mirage__block_cluster(ask) == 1; // as the planner had it
  const MirageSchedule schedule = mirage__block_schedule(ask);
  mirage_ugraph_set_cluster(graph, node, pairs ? planned->cluster : ask->cluster);
  mirage_ugraph_set_schedule(graph, node, &schedule);
  return mirage_ugraph_status(graph);
}

static bool is_kernel(const MirageUGraph *graph, MirageNode node) {
  return mirage_ugraph_node(graph, node).op == MIRAGE_OP_CUSTOM;
}

// Kernel by kernel: of a graph that forgets its plans, and as it is planned.
static MirageStatus change_kernels(MirageUGraph *graph, const MirageUGraph *planned, const MirageTarget *target,
                                   const Variant *variant, const MirageDiag *diag, bool *out_changes) {
  MirageRegionView body = mirage_ugraph_region(planned, mirage_ugraph_body(planned)); // the nodes of both
  MirageStatus status = MIRAGE_OK;
  bool first = true;
  for (uint32_t i = 0; i < body.num_nodes && status == MIRAGE_OK; i++) {
    if (!is_kernel(planned, body.nodes[i]))
      continue;
    MirageArena arena;
    Plan plan;
    mirage_arena_init(&arena, NULL);
    mirage__plan_forget(graph, body.nodes[i], diag);
    if (mirage__plan_is_current(planned, body.nodes[i], target))
      status = mirage__plan_read(planned, body.nodes[i], target, &arena, diag, &plan);
    else // its text does not hold all of the plan: as it would be made
      status = mirage__plan_make(graph, body.nodes[i], target, &arena, diag, &plan);
    if (status == MIRAGE_OK)
      status = change_kernel(graph, body.nodes[i], &plan.block, target, variant, first, out_changes);
    mirage_arena_deinit(&arena);
    first = false;
  }
  return status;
}

const char *mirage_layout_variant_name(uint32_t index) {
  return index < sizeof VARIANTS / sizeof *VARIANTS ? VARIANTS[index].name : NULL;
}

static bool asks_nothing(const MirageSchedule *schedule) {
  if (!schedule)
    return true;
  MirageSchedule rest = *schedule;
  int32_t numbers[MIRAGE_SCHEDULE_NUMBERS];
  rest.swap = false;
  uint32_t count = mirage_schedule_numbers(&rest, numbers), nonzero = 0;
  for (uint32_t i = 0; i < count; i++)
    nonzero += numbers[i] != 0;
  return nonzero == 0;
}

bool mirage_layout_is_open(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  bool open = true;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    if (!is_kernel(graph, body.nodes[i]))
      continue;
    const MirageCustomAttrs *custom = &mirage_ugraph_node(graph, body.nodes[i]).attrs->custom;
    open &= asks_nothing(custom->plan ? custom->plan->asked : custom->schedule);
  }
  return open;
}

MirageStatus mirage_layout_variant(const MirageUGraph *planned, const MirageTarget *target, uint32_t index,
                                   const MirageDiag *diag, MirageUGraph **out_graph) {
  *out_graph = NULL;
  MirageUGraph *graph = NULL;
  MIRAGE_TRY(mirage_ugraph_clone(planned, diag, &graph));
  bool changes = false;
  MirageStatus status = change_kernels(graph, planned, target, &VARIANTS[index], diag, &changes);
  if (status == MIRAGE_OK && changes)
    status = mirage_layout_plan(graph, target, diag);
  if (status == MIRAGE_OK && changes)
    *out_graph = graph;
  else
    mirage_ugraph_destroy(graph);
  return status;
}
