// ask.c - a schedule as the beginning of a plan, and a block as the schedule that its kernel holds.
//
// What a person fixed, what the text of a planned kernel says and what one plan asks of the next are all schedules, and all
// are read here. Nobody else of this folder knows the keys: the steps of planning read and write the block, its team, loads
// and loops.
//
// Example: roles = [producer 4, consumer 8], load 0 tensor, stages = 4   is a team of two actors, a load BY_TENSOR and a
//          loop of four stages.
#include "plan.h"

static const Divide DIVIDES[] = {[MIRAGE_SPLIT_AUTO] = DIVIDE_ANY,
                                 [MIRAGE_SPLIT_ROWS] = DIVIDE_ROWS,
                                 [MIRAGE_SPLIT_COLUMNS] = DIVIDE_COLUMNS,
                                 [MIRAGE_SPLIT_REDUCTION] = DIVIDE_DEPTH};
static const LoadBy LANDINGS[] = {[MIRAGE_LANDING_AUTO] = BY_OPEN,
                                  [MIRAGE_LANDING_REGISTER] = BY_READER,
                                  [MIRAGE_LANDING_ASYNC] = BY_THREADS,
                                  [MIRAGE_LANDING_BULK] = BY_BULK,
                                  [MIRAGE_LANDING_TENSOR] = BY_TENSOR};

// ------------------------------------------------------------------------------------------------------------- reading

enum { GROUP_WARPS = 4 };

static Team team_of(const MirageSchedule *schedule) {
  Team team = {.divide = DIVIDES[schedule->split], .swap = schedule->swap};
  for (uint32_t i = 0; i < schedule->num_roles; i++) {
    const MirageRole *role = &schedule->roles[i];
    team.actors[team.num_actors++] =
        (Actor){.kind = role->kind == MIRAGE_ROLE_PRODUCER ? ACTOR_PRODUCER : ACTOR_CONSUMER,
                .warps = role->warps,
                .registers = role->registers};
  }
  if (!schedule->num_roles)
    team.actors[team.num_actors++] = (Actor){.kind = ACTOR_THREADS, .warps = schedule->warps};
  if (schedule->overlap == MIRAGE_OVERLAP_TILES)
    team.groups = mirage__team_workers(&team) / GROUP_WARPS;
  mirage__team_add_side(&team, schedule->side_blocks);
  return team;
}

static MirageStatus number_loads(Plan *plan) {
  Block *block = &plan->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    if (view.op != MIRAGE_OP_LOAD)
      continue;
    if (block->num_loads == MIRAGE_MAX_LOADS)
      return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_LIMIT, "layout: a block graph has more than %d loads",
                              MIRAGE_MAX_LOADS);
    block->values[view.first_result.index].load = (int32_t)block->num_loads;
    block->loads[block->num_loads++] =
        (BlockLoad){.node = block->steps[s].node, .tile = view.first_result, .loop = block->steps[s].loop};
  }
  return MIRAGE_OK;
}

// All loads of one loop turn in step: one number of stages for them all, and no more than it has iterations to fill.
static MirageStatus ask_stages(Plan *plan, const BlockLoad *load, int32_t stages) {
  if (stages == 0 || load->loop < 0 || load->by == BY_READER)
    return MIRAGE_OK;
  BlockLoop *loop = &plan->block.loops[load->loop];
  if (loop->stages_asked && loop->stages != stages)
    return mirage_diag_fail(plan->diag, mirage_ugraph_node(plan->graph, load->node).loc, MIRAGE_BAD_ARGUMENT,
                            "load: loads of one loop take the same number of stages: %d vs %d", stages, loop->stages);
  loop->stages_asked = true;
  loop->stages = stages;
  return MIRAGE_OK;
}

MirageStatus mirage__plan_ask(Plan *plan) {
  const MirageSchedule open = {0}, *asked = plan->asked ? plan->asked : &open;
  Block *block = &plan->block;
  MIRAGE_TRY(number_loads(plan));
  block->team = team_of(asked);
  block->tile_order = asked->tile_order;
  block->overlap = asked->overlap == MIRAGE_OVERLAP_TILES ? MIRAGE_OVERLAP_AUTO : asked->overlap;
  block->persistent = asked->persistent;
  block->first_maxima = asked->maxima == MIRAGE_MAXIMA_FIRST;
  block->start = asked->start;
  for (uint32_t i = 0; i < block->num_loads && i < asked->num_loads; i++) {
    BlockLoad *load = &block->loads[i];
    load->by = LANDINGS[asked->loads[i].landing];
    load->once = asked->loads[i].cache == MIRAGE_CACHE_NO_ALLOCATE;
    load->multicast = asked->loads[i].multicast;
    MIRAGE_TRY(ask_stages(plan, load, asked->loads[i].stages));
  }
  for (int32_t l = 0; l < block->num_loops; l++)
    if (block->loops[l].stages > block->loops[l].range)
      block->loops[l].stages = (int32_t)block->loops[l].range;
  int32_t warps = mirage__team_warps(&block->team);
  if (warps * 32 > plan->target->max_threads_per_block)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT, "layout: %d warps are %d threads, %s allows %d",
                            warps, warps * 32, plan->target->name, plan->target->max_threads_per_block);
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- writing

static void write_team(const Team *team, MirageSchedule *schedule) {
  schedule->warps = mirage__team_warps(team);
  schedule->swap = team->swap;
  while (DIVIDES[schedule->split] != team->divide)
    schedule->split++;
  for (int32_t i = 0; i < team->num_actors; i++) {
    const Actor *actor = &team->actors[i];
    schedule->side_blocks += actor->blocks;
    if (actor->kind == ACTOR_PRODUCER || actor->kind == ACTOR_CONSUMER)
      schedule->roles[schedule->num_roles++] = (MirageRole){
          actor->kind == ACTOR_PRODUCER ? MIRAGE_ROLE_PRODUCER : MIRAGE_ROLE_CONSUMER, actor->warps, actor->registers};
  }
}

MirageSchedule mirage__block_schedule(const Block *block) {
  MirageSchedule schedule = {.tile_order = block->tile_order,
                             .overlap = mirage__team_groups(&block->team) > 1 ? MIRAGE_OVERLAP_TILES : block->overlap,
                             .persistent = block->persistent,
                             .maxima = block->first_maxima ? MIRAGE_MAXIMA_FIRST : MIRAGE_MAXIMA_EVERY,
                             .start = block->start,
                             .num_loads = block->num_loads};
  write_team(&block->team, &schedule);
  for (uint32_t i = 0; i < block->num_loads; i++) {
    const BlockLoad *load = &block->loads[i];
    MirageLoadSchedule *to = &schedule.loads[i];
    while (LANDINGS[to->landing] != load->by)
      to->landing++;
    to->stages = load->by == BY_READER || load->loop < 0 ? load->by != BY_OPEN : block->loops[load->loop].stages;
    to->cache = load->once ? MIRAGE_CACHE_NO_ALLOCATE : MIRAGE_CACHE_DEFAULT;
    to->multicast = load->multicast;
  }
  return schedule;
}

bool mirage__ask_shared_tiles(MirageSchedule *schedule) {
  bool in_turn = schedule->overlap == MIRAGE_OVERLAP_TILES;
  if (in_turn)
    schedule->overlap = MIRAGE_OVERLAP_AUTO;
  return in_turn;
}
