// fit.c - levels of shared memory and pipeline stages, and the tiles' places in the best that has room.
//
// Stages: enough to keep 64 KiB in flight on a multiprocessor, 128 where a producer feeds its only block (between 3, or 4 with a producer, and
//         8), as long as that leaves room for two blocks where there are enough blocks; else, and where warpgroups take tiles in turn, as many as fit at all. Every (room, stages) is a level, in that
//         order; a short loop that leads to another (initial.c) has one stage in each. At the end they come once more for tiles that give up what keeps them clear
//         of bank conflicts.
// Layout: which variant each tile takes, and its offset, is solve.c's choice.
#include "plan.h"

enum {
  PRODUCED_STAGES = 4,
  SHORT_LEAD = 2, // iterations
  MOST_LEVELS = 3 * MIRAGE_MOST_STAGES,
  BYTES_IN_FLIGHT = 64 * 1024,
  RLIMIT = 200000
};

typedef struct Levels {
  uint32_t count;
  int32_t stages[MOST_LEVELS];
  int64_t rooms[MOST_LEVELS];
  bool any_variant[MOST_LEVELS];
} Levels;

static int64_t bytes_of(const Plan *plan, const Item *item, uint32_t variant) {
  MirageType type = plan->types[item->value.index];
  type.layout = item->variants[variant];
  return mirage__buffer_bytes(&type);
}

int64_t mirage__shared_of_two(const MirageTarget *target) { return target->shared_bytes_per_sm / 2 - 1024; }

static void set_stages(Plan *plan, int32_t stages) {
  for (int32_t l = 0; l < plan->block.num_loops; l++) {
    BlockLoop *loop = &plan->block.loops[l];
    int32_t most = loop->range <= SHORT_LEAD && mirage__block_leads(&plan->block, l) ? 1 : stages;
    if (!loop->stages_asked)
      loop->stages = (int32_t)(most < loop->range ? most : loop->range);
  }
}

// Stages that keep enough bytes in flight in the loop that loads least at a time.
static int32_t wanted_stages(Plan *plan, const Items *items, int64_t in_flight) {
  int32_t want = mirage__has_producer(&plan->block.team) ? PRODUCED_STAGES : SHARING_STAGES;
  for (int32_t l = 0; l < plan->block.num_loops; l++) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < items->count; i++)
      bytes += items->items[i].loop == l ? bytes_of(plan, &items->items[i], 0) : 0;
    while (bytes > 0 && want < MIRAGE_MOST_STAGES && (want - 1) * bytes < in_flight)
      want++;
  }
  return want;
}

static void add_levels(Levels *levels, int64_t room, int32_t most, int32_t least, bool any_variant) {
  for (int32_t stages = most; stages >= least; stages--) {
    levels->stages[levels->count] = stages;
    levels->rooms[levels->count] = room;
    levels->any_variant[levels->count++] = any_variant;
  }
}

static Levels levels_of(Plan *plan, Items *items) {
  int64_t half = mirage__shared_of_two(plan->target), whole = plan->target->shared_bytes_per_block;
  bool in_turn = mirage__team_groups(&plan->block.team) > 1;
  bool alone = in_turn || mirage__block_grid(&plan->block) <= plan->target->num_sms;
  set_stages(plan, 1);
  for (uint32_t i = 0; i < items->count; i++)
    items->items[i].copies = mirage__copies_of(plan, items->items[i].value, &items->items[i].loop);
  int64_t fed = mirage__has_producer(&plan->block.team) ? MIRAGE_FED_BYTES : BYTES_IN_FLIGHT;
  int32_t want = in_turn ? MIRAGE_MOST_STAGES : wanted_stages(plan, items, alone ? fed : BYTES_IN_FLIGHT / 2);
  Levels levels = {0};
  int32_t least = mirage__least_stages(&plan->block);
  if (!alone && least == 1) // a block that multiplies ahead takes the registers of two
    add_levels(&levels, half, want, SHARING_STAGES, false);
  add_levels(&levels, whole, want, least, false);
  add_levels(&levels, whole, want, least, true);
  return levels;
}

// Also takes from each level the room of its mbarriers, and of what stores pass through.
static MirageStatus pose(Plan *plan, const Items *items, Levels *levels, SolveTile *tiles) {
  int32_t *copies =
      mirage_arena_alloc_array(plan->block.arena, (size_t)items->count * levels->count + 1, sizeof *copies);
  if (!copies)
    return MIRAGE_NO_MEMORY;
  for (uint32_t level = 0; level < levels->count; level++) {
    set_stages(plan, levels->stages[level]);
    int32_t mbarriers = mirage__block_count_mbarriers(&plan->block);
    levels->rooms[level] -= (mbarriers * 8 + 15) / 16 * 16 + mirage__block_staging_bytes(&plan->block) +
                            mirage__block_prepared_bytes(&plan->block) + mirage__block_waiting_bytes(&plan->block);
    for (uint32_t i = 0; i < items->count; i++) {
      int32_t loop;
      copies[i * levels->count + level] = mirage__copies_of(plan, items->items[i].value, &loop);
    }
  }
  for (uint32_t i = 0; i < items->count; i++) {
    const Item *item = &items->items[i];
    tiles[i] = (SolveTile){.begin = item->begin,
                           .end = item->end,
                           .alignment = item->alignment,
                           .offset = item->offset,
                           .num_variants = item->num_variants,
                           .num_good = item->num_good,
                           .copies = copies + (size_t)i * levels->count};
    for (uint32_t v = 0; v < item->num_variants; v++)
      tiles[i].variants[v] = (SolveVariant){bytes_of(plan, item, v), item->costs[v]};
  }
  return MIRAGE_OK;
}

// Where a tile that a person placed ends, with the copies of the level that wants fewest; -1 = the planner's to place.
static int64_t end_of(const SolveTile *tile, uint32_t last) {
  return tile->offset < 0 ? -1 : tile->offset + tile->variants[0].bytes * tile->copies[last];
}

static MirageStatus refuse_pair(const Plan *plan, const Items *items, const SolveTile *tiles, uint32_t i, uint32_t j) {
  char a[96], b[96];
  return mirage_diag_fail(
      plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
      "layout: two tiles placed by hand overlap in shared memory while both are live: %s at byte "
      "%lld, %s at byte %lld",
      mirage_type_format(&plan->types[items->items[i].value.index], a, sizeof a), (long long)tiles[i].offset,
      mirage_type_format(&plan->types[items->items[j].value.index], b, sizeof b), (long long)tiles[j].offset);
}

// Nothing fits: tiles that a person placed meet or leave the shared memory, or there is too much.
static MirageStatus refuse(const Plan *plan, const Items *items, const SolveTile *tiles, uint32_t last, int64_t bytes) {
  int64_t room = plan->target->shared_bytes_per_block;
  for (uint32_t i = 0; i < items->count; i++) {
    int64_t end = end_of(&tiles[i], last);
    char text[96];
    if (end > room)
      return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_BAD_ARGUMENT,
                              "layout: tile %s placed by hand at byte %lld ends at byte %lld, %s has %lld for a block",
                              mirage_type_format(&plan->types[items->items[i].value.index], text, sizeof text),
                              (long long)tiles[i].offset, (long long)end, plan->target->name, (long long)room);
    for (uint32_t j = 0; j < i && end >= 0; j++)
      if (tiles[i].begin <= tiles[j].end && tiles[j].begin <= tiles[i].end && tiles[j].offset < end &&
          tiles[i].offset < end_of(&tiles[j], last))
        return refuse_pair(plan, items, tiles, j, i);
  }
  return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_LIMIT,
                          "layout: the tiles need %lld bytes of shared memory, %s has %lld for a block",
                          (long long)bytes, plan->target->name, (long long)room);
}

// Stages given by hand are for a GPU with more shared memory: fewer will do. Not where a tile was placed for them.
static bool forget_stages(Plan *plan, const Items *items) {
  bool any = false;
  for (uint32_t i = 0; i < items->count; i++)
    if (items->items[i].loop >= 0 && items->items[i].offset >= 0)
      return false;
  for (int32_t l = 0; l < plan->block.num_loops; l++) {
    BlockLoop *loop = &plan->block.loops[l];
    if (loop->stages_asked)
      mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc,
                       "layout: %d stages of a loop's loads do not fit into the %d bytes of shared memory of %s: fewer "
                       "are used",
                       loop->stages, plan->target->shared_bytes_per_block, plan->target->name);
    any |= loop->stages_asked;
    loop->stages_asked = false;
  }
  return any;
}

MirageStatus mirage__fit(Plan *plan, Items *items) {
  Levels levels = levels_of(plan, items);
  SolveTile *tiles = mirage_arena_alloc_array(plan->block.arena, (size_t)items->count + 1, sizeof *tiles);
  SolveProblem problem = {.num_tiles = items->count,
                          .num_levels = levels.count,
                          .tiles = tiles,
                          .rooms = levels.rooms,
                          .any_variant = levels.any_variant,
                          .rlimit = plan->unsolved ? 0 : RLIMIT};
  SolveAnswer answer;
  MirageStatus status = tiles ? pose(plan, items, &levels, tiles) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = mirage__layout_solve(&problem, plan->block.arena, &answer);
  if (status != MIRAGE_OK)
    return mirage_diag_fail(plan->diag, plan->loc, status, "layout: out of memory");
  if (answer.how == SOLVE_NOTHING && (mirage__plan_waits(plan) || forget_stages(plan, items)))
    return mirage__fit(plan, items);
  if (answer.how == SOLVE_NOTHING && !(answer.open && plan->unsolved)) // only the solver could tell: the least level
    return refuse(plan, items, tiles, levels.count - 1, answer.bytes);
  set_stages(plan, levels.stages[answer.level]);
  for (uint32_t i = 0; i < items->count; i++) {
    Item *item = &items->items[i];
    item->variant = answer.variant[i];
    item->offset = answer.offset[i];
    item->copies = tiles[i].copies[answer.level];
  }
  return MIRAGE_OK;
}
