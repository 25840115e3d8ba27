// layout.c - plans every custom kernel of a graph: schedule, places, memory. [Mirage 6]
//
// Call order for one custom node:  begin  ->  each form that fits (forms.c)  ->  memory (memory.c)  ->  actors and
//                                  channels (actors.c)  ->  checked (check.c)  ->  written to the graph (stored.c).
//                                  Each kernel of a graph of several is planned in a graph of its own.
// Asks:    a tile placed by hand keeps its strides, swizzle and offset; a load keeps landing and stages; each is checked.
// Planned: a kernel that holds a plan for the target is left as it is.
#include "mirage/layout.h"

#include "plan.h"

// Carries share their loop's result's buffer.
static void share_buffers(Plan *plan) {
  Block *block = &plan->block;
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(plan->graph); id++) {
    const BlockValue *v = &block->values[id];
    if (!v->inside || !v->shared || v->alias.index != id)
      continue;
    block->types[id].layout = block->types[mirage__block_buffer_of(block, (MirageValue){id}).index].layout;
    block->types[id].space = MIRAGE_SPACE_SHARED;
  }
}

MirageStatus mirage__plan_no_memory(const Plan *plan) {
  return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_NO_MEMORY, "layout: out of memory");
}

MirageStatus mirage__plan_begin(Plan *plan, MirageNode custom, MirageArena *arena) {
  MIRAGE_TRY(mirage__block_init(&plan->block, plan->graph, custom, arena, plan->target->has_cluster, plan->diag));
  if (plan->pairs)
    plan->block.cluster[plan->pairs - 1] = PAIR;
  plan->types = plan->block.types;
  return mirage__plan_ask(plan);
}

MirageStatus mirage__plan_end(Plan *plan) {
  if (mirage__block_channels(&plan->block) != MIRAGE_OK)
    return mirage__plan_no_memory(plan);
  return plan->unsolved ? MIRAGE_OK : mirage__plan_check(plan, PLAN_COMPLETE);
}

static MirageStatus plan_all(Plan *plan, MirageNode custom, MirageArena *arena) {
  MIRAGE_TRY(mirage__plan_begin(plan, custom, arena));
  MIRAGE_TRY(mirage__plan_forms(plan));
  MIRAGE_TRY(mirage__plan_memory(plan));
  share_buffers(plan);
  return mirage__plan_end(plan);
}

static void keep_sentence(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Plan *plan = user;
  if (severity == MIRAGE_SEVERITY_ERROR)
    *plan->again->why = mirage__plan_say(plan, "with it, %s", message);
}

static MirageStatus plan_asked(const Plan *start, const MirageSchedule *asked, MirageNode custom, MirageArena *arena,
                               Plan *plan, Plan *second) {
  const MirageDiag keep = {keep_sentence, plan};
  *second = *start;
  second->asked = asked;
  second->pairs = plan->again->pairs;
  second->own_producer = true;
  second->diag = &keep;
  return plan_all(second, custom, arena);
}

// Once more, in a form that nobody asked for: the first plan stands where this one fails. Where warpgroups cannot have tiles of
// their own, they share them.
static void plan_again(const Plan *start, MirageNode custom, MirageArena *arena, Plan *plan) {
  Plan second;
  MirageStatus status = plan_asked(start, &plan->again->asked, custom, arena, plan, &second);
  MirageSchedule shared = plan->again->asked;
  if (status != MIRAGE_OK && mirage__ask_shared_tiles(&shared))
    status = plan_asked(start, &shared, custom, arena, plan, &second);
  if (status != MIRAGE_OK)
    return;
  mirage__forms_asked(&second, plan);
  *plan = second;
  plan->diag = start->diag;
}

static MirageStatus make_plan(const Plan *start, MirageNode custom, MirageArena *arena, Plan *plan) {
  *plan = *start;
  MIRAGE_TRY(plan_all(plan, custom, arena));
  if (plan->again)
    plan_again(start, custom, arena, plan);
  return MIRAGE_OK;
}

static Plan start_of(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target, const MirageDiag *diag) {
  MirageNodeView view = mirage_ugraph_node(graph, custom);
  return (Plan){.graph = graph, .target = target, .diag = diag, .loc = view.loc, .asked = view.attrs->custom.schedule};
}

MirageStatus mirage__plan_make(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target,
                               MirageArena *arena, const MirageDiag *diag, Plan *out_plan) {
  const Plan start = start_of(graph, custom, target, diag);
  return make_plan(&start, custom, arena, out_plan);
}

MirageStatus mirage__plan_block(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target,
                                MirageArena *arena, const MirageDiag *diag, Block *out_block) {
  Plan plan;
  if (mirage_ugraph_node(graph, custom).attrs->custom.plan)
    MIRAGE_TRY(mirage__plan_read(graph, custom, target, arena, diag, &plan));
  else
    MIRAGE_TRY(mirage__plan_make(graph, custom, target, arena, diag, &plan));
  *out_block = plan.block;
  return MIRAGE_OK;
}

MirageStatus mirage__plan_closed(MirageUGraph *graph, MirageNode custom, const MirageTarget *target, MirageArena *arena,
                                 Block *out_block) {
  Plan plan;
  if (mirage__plan_is_current(graph, custom, target)) {
    MIRAGE_TRY(mirage__plan_read(graph, custom, target, arena, NULL, &plan));
  } else {
    mirage__plan_forget(graph, custom, NULL);
    Plan start = start_of(graph, custom, target, NULL);
    start.unsolved = true;
    MIRAGE_TRY(make_plan(&start, custom, arena, &plan));
  }
  *out_block = plan.block;
  return MIRAGE_OK;
}

static MirageStatus plan_custom(MirageUGraph *graph, MirageNode custom, const MirageTarget *target, MirageArena *arena,
                                const MirageDiag *diag) {
  Plan plan;
  MIRAGE_TRY(mirage__plan_make(graph, custom, target, arena, diag, &plan));
  return mirage__plan_store(&plan, graph, custom);
}

// One kernel of several, in a graph of its own: planning takes memory and time for each value of the graph.
static MirageStatus plan_apart(MirageUGraph *graph, MirageNode custom, MirageValue *map, const MirageTarget *target,
                               MirageArena *arena, const MirageDiag *diag) {
  MirageUGraph *alone;
  MirageNode copy;
  MIRAGE_TRY(mirage_ugraph_extract_custom(graph, custom, map, diag, &alone, &copy));
  MirageStatus status = plan_custom(alone, copy, target, arena, diag);
  if (status == MIRAGE_OK)
    status = mirage__plan_transfer(graph, custom, alone, copy);
  mirage_ugraph_destroy(alone);
  return status;
}

static uint32_t count_kernels(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++)
    count += mirage_ugraph_node(graph, body.nodes[i]).op == MIRAGE_OP_CUSTOM;
  return count;
}

// `map`: NULL where the graph has one kernel.
static MirageStatus plan_kernels(MirageUGraph *graph, MirageValue *map, const MirageTarget *target,
                                 const MirageCancel *cancel, const MirageDiag *diag) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < body.num_nodes && status == MIRAGE_OK; i++) {
    if (mirage_ugraph_node(graph, body.nodes[i]).op != MIRAGE_OP_CUSTOM)
      continue;
    if (mirage_cancelled(cancel))
      return MIRAGE_CANCELLED;
    if (mirage__plan_is_current(graph, body.nodes[i], target))
      continue;
    mirage__plan_forget(graph, body.nodes[i], diag);
    MirageArena arena;
    mirage_arena_init(&arena, NULL);
    status = map ? plan_apart(graph, body.nodes[i], map, target, &arena, diag)
                 : plan_custom(graph, body.nodes[i], target, &arena, diag);
    mirage_arena_deinit(&arena);
  }
  return status;
}

MirageStatus mirage_layout_plan_until(MirageUGraph *graph, const MirageTarget *target, const MirageCancel *cancel,
                                      const MirageDiag *diag) {
  if (!graph || !target)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "layout: %s is missing",
                            graph ? "the target" : "the graph");
  MIRAGE_TRY(mirage_ugraph_status(graph));
  MirageArena arena;
  MirageValue *map = NULL;
  MirageStatus status = MIRAGE_OK;
  mirage_arena_init(&arena, NULL);
  if (count_kernels(graph) > 1) {
    map = mirage_arena_alloc_array(&arena, (size_t)mirage_ugraph_num_values(graph) + 1, sizeof *map);
    if (!map)
      status = mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "layout: out of memory");
  }
  if (status == MIRAGE_OK)
    status = plan_kernels(graph, map, target, cancel, diag);
  mirage_arena_deinit(&arena);
  return status;
}

MirageStatus mirage_layout_plan(MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag) {
  return mirage_layout_plan_until(graph, target, NULL, diag);
}

int32_t mirage_layout_shared_bytes(const MirageUGraph *graph, MirageNode custom) {
  const MiragePlan *stored = mirage_ugraph_node(graph, custom).attrs->custom.plan;
  MirageArena arena;
  Plan plan;
  int32_t bytes = -1;
  mirage_arena_init(&arena, NULL);
  if (stored && mirage__plan_read(graph, custom, mirage_target_find(stored->target), &arena, NULL, &plan) == MIRAGE_OK)
    bytes = (int32_t)mirage__block_shared_bytes(&plan.block);
  mirage_arena_deinit(&arena);
  return bytes;
}
