// check.c - what every plan promises, looked at again without the code that made it. [as QBE's ssacheck]
//
// A rule reads the finished parts of a plan and names what breaks it. Rules hold from the stage on at which their part is
// decided, so that in debug builds the step that breaks one is known; a whole plan is checked whenever one is made or
// read back from text.
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Check {
  const Plan *plan;
  const Block *block;
  char text[200]; // what is wrong; "" = nothing so far
  const void *loc;
} Check;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void fail(Check *check, MirageNode node, const char *format, ...) {
  va_list args;
  if (check->text[0])
    return;
  va_start(args, format);
  vsnprintf(check->text, sizeof check->text, format, args);
  va_end(args);
  check->loc = mirage_ugraph_node(check->block->graph, node.index ? node : check->block->custom).loc;
}

// ---------------------------------------------------------------------------------------------------------- who does it

static void check_warps(Check *check) {
  const Team *team = &check->block->team;
  const MirageTarget *target = check->plan->target;
  int32_t warps = mirage__team_warps(team), launch = warps ? mirage__launch_registers(warps) : 0;
  int64_t registers = 0;
  for (int32_t i = 0; i < team->num_actors; i++) {
    const Actor *actor = &team->actors[i];
    if (actor->kind != ACTOR_SIDE)
      registers += (int64_t)actor->warps * 32 * (actor->registers ? actor->registers : launch);
  }
  if (warps * 32 > target->max_threads_per_block)
    fail(check, (MirageNode){0}, "%d warps are more than %s allows", warps, target->name);
  if (registers > (int64_t)launch * warps * 32)
    fail(check, (MirageNode){0}, "roles take %lld registers, the block begins with %lld", (long long)registers,
         (long long)launch * warps * 32);
}

static void check_workers(Check *check) {
  const Team *team = &check->block->team;
  if (mirage__team_groups(team) > 1 && (!check->block->persistent || mirage__team_workers(team) != 4))
    fail(check, (MirageNode){0}, "groups of %d warps have tiles of their own, of %d blocks", mirage__team_workers(team),
         check->block->persistent);
  if (mirage__team_workers(team) < 1)
    fail(check, (MirageNode){0}, "of %d warps none works", mirage__team_warps(team));
}

// ------------------------------------------------------------------------------------------------------------ partition

static void check_partition(Check *check) {
  const Partition *p = &check->block->partition;
  int32_t workers = mirage__team_workers(&check->block->team);
  if (!p->by_row)
    return;
  if (p->by_col < 1 || p->batch < 1 || p->rows < 1 || p->by_row * p->by_col != workers)
    fail(check, (MirageNode){0}, "%d x %d warps divide the tiles in registers, %d work", p->by_row, p->by_col, workers);
  else if ((int64_t)p->rows_each * p->by_row < p->batch * p->row_units)
    fail(check, (MirageNode){0}, "%d warps with %d units of rows each leave some of %lld without a warp", p->by_row,
         p->rows_each, (long long)(p->batch * p->row_units));
}

static void check_resident(Check *check) {
  const Block *block = check->block;
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(block->graph); id++) {
    const BlockValue *v = &block->values[id];
    char text[96];
    if (!v->inside || v->alias.index != id)
      continue;
    if (v->resident && !mirage__partition_fits(&block->partition, &block->types[id]))
      fail(check, v->def, "tile %s is kept in registers that are divided for other rows",
           mirage_type_format(&block->types[id], text, sizeof text));
    if (v->warpgroup && (!check->plan->target->has_wgmma || !v->def.index ||
                         !mirage__is_product(mirage_ugraph_node(block->graph, v->def).op)))
      fail(check, v->def, "warpgroups compute what they cannot");
  }
}

// --------------------------------------------------------------------------------------------------------------- places

static bool is_carry(const Block *block, MirageValue value) {
  const BlockValue *v = &block->values[value.index];
  if (v->loop < 0)
    return false;
  MirageNode loop = block->loops[v->loop].node;
  MirageNodeView yield = mirage__block_yield(block, loop);
  uint32_t carries = mirage_ugraph_node(block->graph, loop).num_operands;
  for (uint32_t i = 0; i < carries; i++)
    if (mirage__block_resolve(block, yield.operands[i]).index == value.index &&
        mirage__block_carry_candidate(block, loop, i) != CARRY_SHARED)
      return true;
  return false;
}

// Products and reductions are somewhere; all else may also be computed, or read, where it is asked for.
static void check_place(Check *check, MirageValue value, const MirageNodeView *def) {
  const Block *block = check->block;
  const BlockValue *v = &block->values[value.index];
  const char *name = mirage_op_info(def->op)->mnemonic;
  bool computed = mirage__is_product(def->op) || mirage__is_reduction(def->op);
  if (v->carried && (!computed || v->shared || !is_carry(block, value)))
    fail(check, v->def, "%s is carried, which no sum of its loop does", name);
  bool streamed = v->loop >= 0 && block->loops[v->loop].direct; // of a sum that is carried
  if (computed && !v->shared && !v->resident && !v->carried && !streamed)
    fail(check, v->def, "%s has no place", name);
  if (v->resident && (def->op == MIRAGE_OP_LOAD || mirage_op_info(def->op)->kind == MIRAGE_KIND_COLLECTIVE))
    fail(check, v->def, "%s is kept in registers, which nothing fills", name);
}

static void check_places(Check *check) {
  const Block *block = check->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    for (uint32_t r = 0; r < view.num_results; r++) {
      MirageValue value = {view.first_result.index + r};
      const BlockValue *v = &block->values[value.index];
      if (view.op == MIRAGE_OP_LOOP && !v->shared && !v->resident)
        fail(check, v->def, "result %u of the loop has no place", r);
      if (view.op != MIRAGE_OP_LOOP && v->alias.index == value.index)
        check_place(check, value, &view);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- channels

static void check_landings(Check *check) {
  const Block *block = check->block;
  for (uint32_t i = 0; i < block->num_loads; i++)
    if (block->loads[i].by >= BY_BULK && !check->plan->target->has_tensor_copy)
      fail(check, block->loads[i].node, "load %u lands by a copy engine, which %s does not have", i,
           check->plan->target->name);
}

// How a load comes is where its tile is.
static void check_loads(Check *check) {
  const Block *block = check->block;
  for (uint32_t i = 0; i < block->num_loads; i++)
    if (block->loads[i].by == BY_OPEN ||
        (block->loads[i].by == BY_READER) == block->values[block->loads[i].tile.index].shared)
      fail(check, block->loads[i].node, "load %u does not land where its tile is", i);
}

// Loads of one loop turn in step, and their tiles have the buffers for it.
static void check_stages(Check *check) {
  const Block *block = check->block;
  for (uint32_t i = 0; i < block->num_loads; i++) {
    const BlockLoad *load = &block->loads[i];
    if (!block->values[load->tile.index].shared || load->loop < 0)
      continue;
    const BlockLoop *loop = &block->loops[load->loop];
    int32_t buffers = block->types[load->tile.index].layout.stages;
    if (buffers != loop->stages)
      fail(check, load->node, "load %u has %d buffers, its loop %d stages", i, buffers, loop->stages);
    else if (loop->stages > loop->range)
      fail(check, load->node, "load %u has more stages than its loop has iterations", i);
  }
}

static MirageNode def_of(const Check *check, const Channel *channel) {
  return channel->num_values ? check->block->values[channel->values[0].index].def : (MirageNode){0};
}

// Whether `set` has somebody in it, and nobody who is not there.
static bool is_somebody(const Block *block, ActorSet set) { return set && set >> block->team.num_actors == 0; }

static void check_actors(Check *check) {
  const Team *team = &check->block->team;
  for (int32_t i = 0; i < team->num_actors; i++) {
    const Actor *actor = &team->actors[i];
    if (actor->warps < 1 || (actor->kind == ACTOR_SIDE) != (actor->blocks > 0))
      fail(check, (MirageNode){0}, "actor %d has %d warps and %d blocks, which is not of its kind", i, actor->warps,
           actor->blocks);
  }
}

// Who leaves out tiles has a mask that says which, and nobody who counts on them.
static void check_bounds(Check *check) {
  for (int32_t l = 0; l < check->block->num_loops; l++) {
    const char *reason = check->block->loops[l].skips ? mirage__bounds_reason(check->block, l) : NULL;
    if (reason)
      fail(check, check->block->loops[l].node, "tiles are left out, but %s", reason);
  }
}

static bool carries(const Channel *channel, MirageValue value) {
  for (uint32_t i = 0; channel && i < channel->num_values; i++)
    if (channel->values[i].index == value.index)
      return true;
  return false;
}

// Each load has a way to those who compute with it; who issues it, and the signals, are those of how it lands.
static void check_channel_of_load(Check *check, uint32_t index) {
  const Block *block = check->block;
  MirageNode load = block->loads[index].node;
  MirageValue tile = block->loads[index].tile;
  const Channel *channel = mirage__block_channel_of(block, tile);
  const Actor *producer = mirage__team_first(&block->team, ACTOR_PRODUCER);
  bool copied = mirage__block_is_copied(block, tile), produced = copied && producer;
  if (!carries(channel, tile)) {
    fail(check, load, "load %u comes through no channel", index);
    return;
  }
  if (channel->place != (block->values[tile.index].shared ? PLACE_SHARED : PLACE_STREAM))
    fail(check, load, "load %u waits where its tile is not", index);
  if ((channel->full.kind == SIGNAL_MBARRIER) != copied)
    fail(check, load, "load %u is copied without an mbarrier, or has one without a copy", index);
  bool released = channel->loop >= 0 && (produced || (copied && block->loops[channel->loop].released));
  if ((channel->free.kind == SIGNAL_MBARRIER) != released)
    fail(check, load, "load %u is given back by who does not wait, or to who does not", index);
  ActorSet workers = mirage__team_computes(&block->team);
  if (channel->from != (produced ? 1u << (producer - block->team.actors) : workers) || channel->to != workers)
    fail(check, load, "load %u is copied by or for who does not", index);
  bool staged = channel->loop >= 0 && channel->place == PLACE_SHARED;
  if (channel->loop != block->loads[index].loop || channel->stages != (staged ? block->loops[channel->loop].stages : 1))
    fail(check, load, "load %u does not turn with its channel", index);
}

static void check_channels(Check *check) {
  const Block *block = check->block;
  for (uint32_t i = 0; i < block->num_loads; i++)
    check_channel_of_load(check, i);
  for (int32_t c = 0; c < block->num_channels; c++)
    if (!is_somebody(block, block->channels[c].from) || !is_somebody(block, block->channels[c].to))
      fail(check, def_of(check, &block->channels[c]), "channel %d leads from or to nobody", c);
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(block->graph); id++)
    if (mirage__block_is_buffer(block, (MirageValue){id}) &&
        !carries(mirage__block_channel_of(block, (MirageValue){id}), (MirageValue){id}))
      fail(check, block->values[id].def, "a buffer is in no channel");
}

static void take_mbarriers(Check *check, const Channel *channel, const Signal *signal, int32_t *next) {
  if (signal->kind != SIGNAL_MBARRIER)
    return;
  if (signal->first != *next) // numbered in this order, so that none is in two hands
    fail(check, def_of(check, channel), "mbarrier %d stands where %d is due", signal->first, *next);
  *next += channel->stages;
}

// What the copies of a stage count up to.
static void check_expected(Check *check, const Channel *channel) {
  const Block *block = check->block;
  int64_t bytes = 0, arrivals = mirage__team_workers(&check->block->team);
  for (uint32_t i = 0; i < channel->num_values; i++)
    bytes += mirage__panels_bytes(&block->types[channel->values[i].index]);
  if (channel->multicast)
    arrivals *= mirage__block_cluster(block);
  if (channel->full.bytes != bytes || channel->full.arrivals != 1)
    fail(check, def_of(check, channel), "an mbarrier waits for %lld bytes, %lld are copied",
         (long long)channel->full.bytes, (long long)bytes);
  if (channel->free.kind == SIGNAL_MBARRIER && channel->free.arrivals != arrivals)
    fail(check, def_of(check, channel), "an mbarrier waits for %d warps to give a stage back, %lld do",
         channel->free.arrivals, (long long)arrivals);
}

static void check_mbarriers(Check *check) {
  const Block *block = check->block;
  int32_t next = 0;
  for (int32_t c = 0; c < block->num_channels; c++) {
    const Channel *channel = &block->channels[c];
    take_mbarriers(check, channel, &channel->full, &next);
    take_mbarriers(check, channel, &channel->free, &next);
    if (channel->full.kind == SIGNAL_MBARRIER)
      check_expected(check, channel);
  }
  if (next != block->num_mbarriers)
    fail(check, (MirageNode){0}, "%d mbarriers are counted, %d used", block->num_mbarriers, next);
}

// A loop that multiplies ahead holds the tiles of two iterations, given back by mbarriers; turns are whole warpgroups'.
static void check_overlap(Check *check) {
  int32_t groups = mirage__team_workers(&check->block->team) / 4;
  bool any = false;
  for (int32_t l = 0; l < check->block->num_loops; l++) {
    const BlockLoop *loop = &check->block->loops[l];
    const Channel *channel = mirage__block_loop_channel(check->block, l, SIGNAL_MBARRIER);
    any |= loop->ahead;
    if (loop->turns && (!loop->ahead || loop->turns < 2 || loop->turns != groups))
      fail(check, loop->node, "%d warpgroups take turns, %d compute", loop->turns, groups);
    if (!loop->ahead)
      continue;
    const char *reason = mirage__overlap_reason(check->block, l);
    if (reason)
      fail(check, loop->node, "products run ahead: %s", reason);
    else if (!channel || channel->free.kind != SIGNAL_MBARRIER || channel->stages < 2)
      fail(check, loop->node, "products run ahead of tiles that one iteration gives back to the next");
  }
  if (any != (check->block->overlap >= MIRAGE_OVERLAP_AHEAD))
    fail(check, (MirageNode){0}, "the schedule says that products run ahead, and none do, or the other way round");
}

static void check_maxima(Check *check) {
  BlockMaxima maxima;
  bool any = false;
  for (int32_t l = 0; l < check->block->num_loops; l++)
    any |= mirage__keeps_maxima(check->block, l, &maxima);
  if (any != (check->block->first_maxima))
    fail(check, (MirageNode){0}, "the schedule says that loops keep the maxima of their first tiles, and none can");
}

// --------------------------------------------------------------------------------------------------------------- memory

static void check_pair(Check *check, MirageValue a, MirageValue b) {
  const Block *block = check->block;
  const BlockValue *v = &block->values[a.index], *w = &block->values[b.index];
  bool together = v->begin <= w->end && w->begin <= v->end;
  if (together && mirage__buffers_meet(&block->types[a.index], &block->types[b.index]))
    fail(check, v->def, "two tiles share shared memory while both hold a value, at bytes %d and %d",
         block->types[a.index].layout.offset, block->types[b.index].layout.offset);
}

static void check_memory(Check *check) {
  const Block *block = check->block;
  int64_t room = check->plan->target->shared_bytes_per_block;
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(block->graph); id++) {
    MirageValue value = {id};
    if (!mirage__block_is_buffer(block, value))
      continue;
    const MirageType *type = &block->types[id];
    const BlockLoad *load = mirage__block_load(block, value);
    LoadBy by = load ? load->by : BY_OPEN;
    bool by_hardware = by == BY_TENSOR || mirage__is_operand(block, value, true);
    int64_t alignment = by_hardware ? mirage__tile_alignment(type, by) : 16;
    if (!type->layout.planned || type->layout.stages < 1 || type->layout.offset < 0 || type->layout.offset % alignment)
      fail(check, block->values[id].def, "a buffer at byte %d is not at a multiple of %lld", type->layout.offset,
           (long long)alignment);
    for (uint32_t other = 1; other < id; other++)
      if (mirage__block_is_buffer(block, (MirageValue){other}))
        check_pair(check, value, (MirageValue){other});
  }
  if (mirage__block_shared_bytes(block) > room)
    fail(check, (MirageNode){0}, "%lld bytes of shared memory are planned, a block has %lld",
         (long long)mirage__block_shared_bytes(block), (long long)room);
}

// ---------------------------------------------------------------------------------------------------------------- reads

// Whoever reads a buffer does so while it holds the value: what is copied into it has been waited for by then.
static void check_read(void *user, MirageValue leaf, int32_t first, int32_t last) {
  Check *check = user;
  MirageValue buffer = mirage__block_buffer_of(check->block, leaf);
  const BlockValue *v = &check->block->values[buffer.index];
  bool in_memory = check->block->values[leaf.index].shared; // a carry may be in registers while its loop runs
  if (in_memory && mirage__block_is_buffer(check->block, buffer) && (first < v->begin || last > v->end))
    fail(check, v->def, "a tile is read at step %d, its buffer holds it from %d to %d", first < v->begin ? first : last,
         v->begin, v->end);
}

static void check_reads(Check *check) { mirage__block_reads(check->block, check_read, check); }

// ---------------------------------------------------------------------------------------------------------------- rules

static const struct Rule {
  PlanStage from;
  void (*check)(Check *check);
} RULES[] = {
    {PLAN_LANDED, check_warps},      {PLAN_LANDED, check_landings},    {PLAN_DIVIDED, check_workers},
    {PLAN_DIVIDED, check_partition}, {PLAN_DIVIDED, check_resident},   {PLAN_PLACED, check_places},
    {PLAN_PLACED, check_loads},      {PLAN_COMPLETE, check_stages},    {PLAN_COMPLETE, check_actors},
    {PLAN_COMPLETE, check_channels}, {PLAN_COMPLETE, check_mbarriers}, {PLAN_COMPLETE, check_overlap},
    {PLAN_COMPLETE, check_memory},   {PLAN_COMPLETE, check_reads},     {PLAN_COMPLETE, check_bounds},
    {PLAN_COMPLETE, check_maxima},
};

MirageStatus mirage__plan_check(const Plan *plan, PlanStage stage) {
  Check check = {.plan = plan, .block = &plan->block};
  for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
    if (RULES[i].from <= stage)
      RULES[i].check(&check);
  if (!check.text[0])
    return MIRAGE_OK;
  return mirage_diag_fail(plan->diag, check.loc, MIRAGE_BAD_GRAPH, "plan: %s", check.text);
}
