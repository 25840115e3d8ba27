// residence.c - how many blocks a multiprocessor holds, and roles that leave room for a second one.
//
// A block whose warps divide all registers among themselves has a multiprocessor to itself: nothing multiplies while it
// starts, waits for its first tiles and writes its results. Where there are more blocks than multiprocessors and a tile
// fits the accumulators of four warps, blocks stand beside each other instead, and one multiplies meanwhile.
//
// Tiles that fill the registers of a warpgroup, but not of two, are taken in turn by the warpgroups of one block instead
// (codegen_persistent.c).
//
// Example: tiles of 64 x 128, 64 deep: 64 accumulators a thread, four stages of 24 KiB, four warps that multiply and
//          one that copies: two such blocks fit, with 168 registers a thread.
//          Tiles of 128 x 192: 192 accumulators a thread; two warpgroups of a block each have every second one.
#include "plan.h"

#include <math.h>

enum {
  GROUP_WARPS = 4,
  PARTITIONS = 4,          // of a multiprocessor, each with a quarter of its registers and warps
  SPARE_REGISTERS = 40,    // of a thread, beside accumulators: addresses, what the epilogue computes,
  READ_REGISTERS = 24,     // and what it has on the way to it
  COMPUTED_REGISTERS = 16, // beside resident tiles, where little is computed at a time
};

// Elements that a loop accumulates in products.
static int64_t summed_elements(const Block *block, int32_t loop) {
  MirageNode node = block->loops[loop].node;
  int64_t elements = 0;
  for (uint32_t i = 0; i < mirage_ugraph_node(block->graph, node).num_operands; i++)
    if (mirage__block_carry_candidate(block, node, i) == CARRY_MATMUL)
      elements += mirage_type_elements(&block->types[mirage_ugraph_result(block->graph, node, i).index]);
  return elements;
}

// That a thread needs, with the accumulators of the loop that keeps most.
static int64_t registers_needed(const Block *block, int32_t workers) {
  int64_t most = 0, spare = SPARE_REGISTERS;
  for (int32_t l = 0; l < block->num_loops; l++) {
    int64_t elements = summed_elements(block, l);
    most = elements > most ? elements : most;
  }
  for (uint32_t i = 0; i < block->num_loads; i++)
    spare += block->loads[i].loop < 0 ? READ_REGISTERS : 0;
  return (most + 32 * workers - 1) / (32 * workers) + spare;
}

// That a thread may have where so many blocks of so many warps share a multiprocessor.
static int64_t registers_with(const MirageTarget *target, int64_t blocks, int64_t warps) {
  int64_t each = (blocks * warps + PARTITIONS - 1) / PARTITIONS;
  return target->registers_per_sm / PARTITIONS / (32 * each) / 8 * 8;
}

static bool shares_registers(const Team *team) {
  for (int32_t i = 0; i < team->num_actors; i++)
    if (team->actors[i].registers)
      return true;
  return false;
}

// Why tiles cannot follow each other in a block without a word among its warps, or NULL.
static const char *not_in_turn(const Plan *plan) {
  const Block *block = &plan->block;
  if (mirage__streams_alone(block))
    return mirage__stream_turns_reason(block);
  if (!mirage__has_producer(&block->team))
    return "no producer copies for the next tile";
  if (block->num_meetings > 0)
    return "its blocks meet";
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(block->graph); id++) {
    const BlockValue *v = &block->values[id];
    if (!v->inside || !v->shared || v->alias.index != id)
      continue;
    if (v->load < 0 || block->loads[v->load].by == BY_THREADS)
      return "threads write to shared memory";
    if (v->loop < 0)
      return "a tile is copied outside loops";
  }
  return NULL;
}

MirageStatus mirage__plan_persistent(Plan *plan, const char **out_why) {
  if (!plan->block.persistent && mirage__streams_alone(&plan->block) && !mirage__stream_turns_reason(&plan->block) &&
      mirage__block_grid(&plan->block) > plan->target->num_sms)
    plan->block.persistent = plan->target->num_sms;
  *out_why = plan->block.persistent ? not_in_turn(plan) : "a block for each tile";
  if (!*out_why)
    return MIRAGE_OK;
  if (mirage__team_groups(&plan->block.team) > 1)
    return mirage_diag_fail(plan->diag, plan->loc, MIRAGE_UNSUPPORTED,
                            "layout: warpgroups cannot take tiles in turn (overlap = tiles): %s", *out_why);
  if (plan->block.persistent && !plan->own_producer && plan->target->has_tensor_copy)
    mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc, "layout: a block for each tile: %s", *out_why);
  plan->block.persistent = 0;
  return MIRAGE_OK;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Blocks that a multiprocessor has, whatever registers they need.
static int64_t most_blocks(const Block *block, const MirageTarget *target) {
  int64_t threads = 32 * mirage__team_warps(&block->team);
  int64_t by_bytes = target->shared_bytes_per_sm / (mirage__block_shared_bytes(block) + SYSTEM_BYTES);
  int64_t by_grid = (int64_t)ceil(mirage__block_grid(block) / target->num_sms);
  return least(least(target->max_threads_per_sm / threads, by_bytes), by_grid);
}

bool mirage__block_alone(const Block *block, const MirageTarget *target) {
  return (block->persistent && block->persistent <= target->num_sms) || most_blocks(block, target) <= 1;
}

int32_t mirage__resident_blocks(const Block *block, const MirageTarget *target) {
  int64_t warps = mirage__team_warps(&block->team), blocks = 1;
  int64_t most = shares_registers(&block->team) ? 1 : least(most_blocks(block, target), MOST_RESIDENT);
  int64_t needed = registers_needed(block, mirage__team_workers(&block->team));
  while (blocks < most && registers_with(target, blocks + 1, warps) >= needed)
    blocks++;
  return (int32_t)blocks;
}

// Some of their iterations have code of their own, from which more is carried on.
static bool has_other_iterations(const Block *block) {
  bool found = block->first_maxima;
  for (int32_t l = 0; l < block->num_loops; l++)
    found |= block->loops[l].skips;
  return found;
}

int32_t mirage__masked_registers(const Block *block) {
  if (!has_other_iterations(block) || !block->partition.by_row || mirage__has_producer(&block->team))
    return 0;
  int32_t resident = mirage__resident_registers(block);
  return resident > 0 ? resident + COMPUTED_REGISTERS : 0;
}

int32_t mirage__masked_blocks(const Block *block, const MirageTarget *target) {
  enum { MOST = 2 };
  int64_t threads = 32 * mirage__team_warps(&block->team), registers = mirage__masked_registers(block);
  if (!registers)
    return 0;
  int64_t blocks = least(target->registers_per_sm / (threads * registers), target->max_threads_per_sm / threads);
  blocks = least(blocks, target->shared_bytes_per_sm / (mirage__block_shared_bytes(block) + SYSTEM_BYTES));
  return (int32_t)least(blocks, MOST);
}

// Bytes that the tensor copies of an iteration bring, in the loop with most.
static int64_t stage_bytes(const Plan *plan) {
  int64_t most = 0;
  for (int32_t l = 0; l < plan->block.num_loops; l++) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < plan->block.num_loads; i++)
      bytes += plan->block.loads[i].loop == l ? mirage_type_bytes(&plan->types[plan->block.loads[i].tile.index]) : 0;
    most = bytes > most ? bytes : most;
  }
  return most;
}

bool mirage__plan_in_groups(const Plan *plan) {
  int64_t most = 0;
  for (int32_t l = 0; l < plan->block.num_loops; l++) {
    int64_t elements = summed_elements(&plan->block, l);
    most = elements > most ? elements : most;
  }
  int64_t each = most / (32 * GROUP_WARPS);
  return mirage__overlap_is_open(&plan->block) && plan->block.num_meetings == 0 &&
         mirage__block_grid(&plan->block) > plan->target->num_sms && each >= MIRAGE_GROUP_LEAST &&
         each <= MIRAGE_GROUP_MOST;
}

bool mirage__plan_beside(const Plan *plan, Team *team) {
  enum { STAGES = 3 };
  int64_t room = plan->target->shared_bytes_per_sm / 2 - SYSTEM_BYTES;
  if (mirage__block_grid(&plan->block) <= plan->target->num_sms || STAGES * stage_bytes(plan) > room ||
      registers_needed(&plan->block, GROUP_WARPS) > registers_with(plan->target, 2, GROUP_WARPS + 1))
    return false;
  team->num_actors = 2; // groups begin at the first warp
  team->actors[0] = (Actor){.kind = ACTOR_CONSUMER, .warps = GROUP_WARPS};
  team->actors[1] = (Actor){.kind = ACTOR_PRODUCER, .warps = 1};
  return true;
}
