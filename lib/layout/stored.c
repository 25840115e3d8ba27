// stored.c - the plan of a kernel as its graph holds it: written once, read by everybody else, never made twice.
//
// A kernel without a MiragePlan holds an ask: what its schedule and its tiles' places say, a person wants. Planning
// writes the complete schedule and every tile's place over it, and notes in the plan what the ask had been, so that the
// same kernel can be planned for another target later. What neither schedule nor places show is a digit:
//
//   places   for each value of the block graph:  1 in a buffer, 2 in the cells of the partition, 4 carried to the end of
//            its loop, 8 computed by warpgroups; sums of these, 0 = computed or loaded where it is read
//   loops    for each loop:  1 streams its weights, 2 has side blocks do what all blocks have in common, 4 warps give
//            its tiles back by mbarriers, 8 leaves out tiles that a mask rules out; sums of these
//
// Example: %p = matmul in a loop that sums it is "c" by warpgroups (2 + 4 + 8), its operands' loads are "1".
#include "plan.h"

#include <string.h>

enum {
  IN_BUFFER = 1,
  IN_CELLS = 2,
  IS_CARRIED = 4,
  BY_WARPGROUPS = 8,
  IS_DIRECT = 1,
  HAS_SIDE = 2,
  GIVES_BACK = 4,
  SKIPS = 8
};

static const char DIGITS[] = "0123456789abcdef";

static const MirageCustomAttrs *custom_of(const MirageUGraph *graph, MirageNode custom) {
  return &mirage_ugraph_node(graph, custom).attrs->custom;
}

// ------------------------------------------------------------------------------------------------------------- asking

static MirageAsk asked_of(const MirageType *type) {
  if (type->space != MIRAGE_SPACE_SHARED)
    return MIRAGE_ASK_NOTHING;
  if (!type->layout.planned)
    return MIRAGE_ASK_PLACE;
  return type->layout.offset < 0 ? MIRAGE_ASK_LAYOUT : MIRAGE_ASK_OFFSET;
}

// What is left of a planned tile's place when only what was asked for stays.
static MirageType as_asked(MirageType type) {
  const MirageAsk asked = type.layout.asked;
  if (type.space != MIRAGE_SPACE_FRAGMENT)
    type.space = asked ? MIRAGE_SPACE_SHARED : MIRAGE_SPACE_TILE;
  if (asked < MIRAGE_ASK_LAYOUT)
    type.layout = (MirageLayout){0};
  else if (asked < MIRAGE_ASK_OFFSET)
    type.layout.offset = -1;
  type.layout.asked = MIRAGE_ASK_NOTHING;
  return type;
}

void mirage__plan_forget(MirageUGraph *graph, MirageNode custom, const MirageDiag *diag) {
  const MiragePlan *plan = custom_of(graph, custom)->plan;
  if (!plan)
    return;
  bool holds = mirage_ugraph_plan_holds(graph, custom);
  if (holds) {
    mirage_ugraph_set_schedule(graph, custom, plan->asked);
    if (plan->paired)
      mirage_ugraph_set_cluster(graph, custom, (int64_t[]){1, 1, 1});
  } else {
    mirage_diag_emit(
        diag, MIRAGE_SEVERITY_REMARK, mirage_ugraph_node(graph, custom).loc,
        "layout: the kernel was changed since it was planned: what its schedule and tiles say now is taken "
        "as asked for");
  }
  uint32_t count;
  MirageValue first = mirage_ugraph_kernel_values(graph, custom, &count);
  for (uint32_t i = 0; i < count; i++) {
    MirageValue value = {first.index + i};
    MirageType type = *mirage_ugraph_type(graph, value);
    if (type.space == MIRAGE_SPACE_DEVICE)
      continue;
    if (holds || type.space == MIRAGE_SPACE_FRAGMENT)
      type = as_asked(type);
    type.layout.asked = MIRAGE_ASK_NOTHING;
    mirage_ugraph_set_placement(graph, value, type.space, &type.layout);
  }
  mirage_ugraph_set_plan(graph, custom, NULL);
}

// ------------------------------------------------------------------------------------------------------------ writing

static uint32_t digit_of(const BlockValue *v) {
  return (v->shared ? IN_BUFFER : 0) | (v->resident ? IN_CELLS : 0) | (v->carried ? IS_CARRIED : 0) |
         (v->warpgroup ? BY_WARPGROUPS : 0);
}

// A fragment's buffer is recorded on the tile that the thread region yields it as, if any.
static void place(MirageUGraph *graph, const Block *block, MirageValue value) {
  MirageType type = *mirage_ugraph_type(graph, value);
  MirageValue resolved = mirage__block_resolve(block, value);
  bool shared = block->values[resolved.index].shared, fragment = type.space == MIRAGE_SPACE_FRAGMENT;
  MirageLayout layout = {.offset = -1};
  if (type.space == MIRAGE_SPACE_DEVICE)
    return;
  if (shared)
    layout = block->types[resolved.index].layout;
  layout.asked = asked_of(&type);
  mirage_ugraph_set_placement(graph, value,
                              fragment ? type.space
                              : shared ? MIRAGE_SPACE_SHARED
                                       : MIRAGE_SPACE_REGISTER,
                              &layout);
}

MirageStatus mirage__plan_store(const Plan *plan, MirageUGraph *graph, MirageNode custom) {
  const Block *block = &plan->block;
  const Partition *p = &block->partition;
  uint32_t count;
  MirageValue first = mirage_ugraph_kernel_values(graph, custom, &count);
  char *places = mirage_arena_alloc_array(block->arena, (size_t)count + 1, 1);
  char *loops = mirage_arena_alloc_array(block->arena, (size_t)block->num_loops + 1, 1);
  if (!places || !loops)
    return mirage__plan_no_memory(plan);
  for (uint32_t i = 0; i < count; i++) {
    place(graph, block, (MirageValue){first.index + i});
    places[i] = DIGITS[digit_of(&block->values[first.index + i])];
  }
  for (int32_t l = 0; l < block->num_loops; l++)
    loops[l] = DIGITS[(block->loops[l].direct ? IS_DIRECT : 0) | (block->loops[l].side ? HAS_SIDE : 0) |
                      (block->loops[l].released ? GIVES_BACK : 0) | (block->loops[l].skips ? SKIPS : 0)];
  MiragePlan stored = {.asked = custom_of(graph, custom)->schedule,
                       .in_threads = block->items.on,
                       .paired = plan->pairs > 0,
                       .loops = loops,
                       .places = places};
  strncpy(stored.target, plan->target->name, sizeof stored.target - 1);
  if (p->by_row)
    memcpy(stored.partition, (int64_t[]){p->by_row, p->by_col, p->batch, p->rows}, sizeof stored.partition);
  if (plan->pairs)
    mirage_ugraph_set_cluster(graph, custom, block->cluster);
  const MirageSchedule complete = mirage__block_schedule(block);
  mirage_ugraph_set_schedule(graph, custom, &complete);
  mirage_ugraph_set_plan(graph, custom, &stored);
  return mirage_ugraph_status(graph);
}

MirageStatus mirage__plan_transfer(MirageUGraph *graph, MirageNode custom, const MirageUGraph *from,
                                   MirageNode planned) {
  uint32_t count;
  MirageValue to = mirage_ugraph_kernel_values(graph, custom, &count);
  MirageValue first = mirage_ugraph_kernel_values(from, planned, &count);
  for (uint32_t i = 0; i < count; i++) {
    const MirageType *type = mirage_ugraph_type(from, (MirageValue){first.index + i});
    if (type->space != MIRAGE_SPACE_DEVICE)
      mirage_ugraph_set_placement(graph, (MirageValue){to.index + i}, type->space, &type->layout);
  }
  mirage_ugraph_set_cluster(graph, custom, custom_of(from, planned)->cluster);
  mirage_ugraph_set_schedule(graph, custom, custom_of(from, planned)->schedule);
  mirage_ugraph_set_plan(graph, custom, custom_of(from, planned)->plan);
  return mirage_ugraph_status(graph);
}

// ------------------------------------------------------------------------------------------------------------ reading

static uint32_t digit(const char *text, uint32_t index) {
  const char *found = strchr(DIGITS, text[index]);
  return found ? (uint32_t)(found - DIGITS) : 0;
}

// Text has no room for the buffer of a fragment that nobody yields: such a kernel is planned again.
static bool is_recorded(const MirageUGraph *graph, MirageNode custom, const MiragePlan *plan) {
  uint32_t count;
  MirageValue first = mirage_ugraph_kernel_values(graph, custom, &count);
  bool recorded = plan->places && plan->loops && strlen(plan->places) == count;
  for (uint32_t i = 0; recorded && i < count; i++)
    if (digit(plan->places, i) & IN_BUFFER)
      recorded = mirage_ugraph_type(graph, (MirageValue){first.index + i})->layout.planned;
  return recorded;
}

bool mirage__plan_is_current(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target) {
  const MiragePlan *plan = custom_of(graph, custom)->plan;
  return plan && !strcmp(plan->target, target->name) && mirage_ugraph_plan_holds(graph, custom) &&
         is_recorded(graph, custom, plan);
}

static MirageStatus read_places(Block *block, const MiragePlan *stored) {
  uint32_t count;
  MirageValue first = mirage_ugraph_kernel_values(block->graph, block->custom, &count);
  for (uint32_t i = 0; i < count; i++) {
    BlockValue *v = &block->values[first.index + i];
    uint32_t is = digit(stored->places, i);
    v->shared = is & IN_BUFFER;
    v->resident = is & IN_CELLS;
    v->carried = is & IS_CARRIED;
    v->warpgroup = is & BY_WARPGROUPS;
    if (v->shared)
      block->types[first.index + i].space = MIRAGE_SPACE_SHARED; // fragments, too
  }
  for (int32_t l = 0; l < block->num_loops && stored->loops[l]; l++) {
    block->loops[l].direct = digit(stored->loops, (uint32_t)l) & IS_DIRECT;
    block->loops[l].side = digit(stored->loops, (uint32_t)l) & HAS_SIDE;
    block->loops[l].released = digit(stored->loops, (uint32_t)l) & GIVES_BACK;
    block->loops[l].skips = digit(stored->loops, (uint32_t)l) & SKIPS;
    if (block->loops[l].skips)
      MIRAGE_TRY(mirage__block_bounds(block, l));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__plan_read(const MirageUGraph *graph, MirageNode custom, const MirageTarget *target,
                               MirageArena *arena, const MirageDiag *diag, Plan *plan) {
  const MirageCustomAttrs *attrs = custom_of(graph, custom);
  const MiragePlan *stored = attrs->plan;
  *plan = (Plan){.graph = graph,
                 .target = target,
                 .diag = diag,
                 .loc = mirage_ugraph_node(graph, custom).loc,
                 .asked = attrs->schedule};
  if (!mirage__plan_is_current(graph, custom, target))
    return mirage_diag_fail(diag, plan->loc, MIRAGE_BAD_ARGUMENT, "custom: is not planned for %s", target->name);
  MIRAGE_TRY(mirage__plan_begin(plan, custom, arena));
  if (stored->in_threads)
    MIRAGE_TRY(mirage__plan_items(plan, &(const char *){NULL}));
  if (stored->in_threads && !plan->block.items.on)
    MIRAGE_TRY(mirage__plan_elements(plan, &(const char *){NULL}));
  MIRAGE_TRY(read_places(&plan->block, stored));
  if (stored->partition[0])
    plan->block.partition =
        mirage__partition(stored->partition[0], stored->partition[1], stored->partition[2], stored->partition[3]);
  mirage__block_overlap(&plan->block);
  mirage__plan_lives(plan);
  return mirage__plan_end(plan);
}
