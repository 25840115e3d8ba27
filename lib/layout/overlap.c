// overlap.c - loops whose products are under way while the loop does something else.
//
// Attention multiplies twice an iteration: scores S = Q K, then O += P V, with P computed from S. Where each product is
// waited for at once, the matrix unit idles while P is computed. A loop that multiplies ahead does both together, of two
// iterations, and computes the next P while the second runs:
//
//     S(0), P(0)
//     for i = 1 ..:   issue S(i) and O += P(i-1) V(i-1);  wait for S(i);  P(i);  wait for O
//     O += P(n-1) V(n-1)
//
// Early:  S, a product in the body of operands as they were loaded: nothing that the loop computes is needed for it.
// Late:   O, a product that the loop carries, whose first operand is evaluated in cells.
// Turns:  warpgroups that all multiply at once all compute at once, too. So each issues its products when the one before
//         it has: one multiplies while others compute.
// Source: Shah et al., FlashAttention-3, arXiv 2407.08608.
#include "plan.h"

enum {
  GROUP_WARPS = 4,
  MOST_TURNS = 8,
  LEAST_STAGES = 2,     // the tiles of two iterations are held at a time
  SPARE_REGISTERS = 16, // beside what is resident and what the late products multiply
};

static MirageValue operand_of(const Block *block, const MirageNodeView *product, uint32_t which) {
  return mirage__matmul_operand(block, product, which).base;
}

static bool is_load_of(const Block *block, MirageValue value, int32_t loop) {
  return mirage__block_op(block, value) == MIRAGE_OP_LOAD && block->values[value.index].loop == loop;
}

// ------------------------------------------------------------------------------------------------------ what it takes

bool mirage__block_is_early(const Block *block, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(block->graph, node);
  if (!mirage__is_product(view.op) || view.num_operands != 2)
    return false;
  const BlockValue *v = &block->values[view.first_result.index];
  return v->warpgroup && v->resident && !v->shared && !v->carried && v->loop >= 0 &&
         !mirage__block_operand_in_cells(block, &view) &&
         mirage__block_op(block, operand_of(block, &view, 0)) == MIRAGE_OP_LOAD &&
         is_load_of(block, operand_of(block, &view, 1), v->loop);
}

bool mirage__block_feeds_early(const Block *block, int32_t loop, MirageValue tile) {
  MirageNodeView view;
  for (int32_t s = block->loops[loop].begin; mirage__block_next(block, &s, &view) && s < block->loops[loop].end;)
    if (mirage__block_is_early(block, block->steps[s].node) && operand_of(block, &view, 0).index == tile.index)
      return true;
  return false;
}

static bool is_late(const Block *block, const MirageNodeView *view, int32_t loop) {
  const BlockValue *v = &block->values[view->first_result.index];
  return v->carried && v->warpgroup && mirage__block_operand_in_cells(block, view) &&
         is_load_of(block, operand_of(block, view, 1), loop);
}

// Why a step of the loop keeps it from multiplying ahead, or NULL.
static const char *step_reason(const Block *block, MirageNode node, const MirageNodeView *view, int32_t loop) {
  const BlockValue *v = view->num_results ? &block->values[view->first_result.index] : NULL;
  if (view->op == MIRAGE_OP_LOOP || view->op == MIRAGE_OP_STORE || (v && v->meeting >= 0))
    return "the loop does more than compute what it carries";
  if (v && v->shared && view->op != MIRAGE_OP_LOAD)
    return "the loop keeps in shared memory what it computes";
  if (mirage__is_product(view->op) && !mirage__block_is_early(block, node) && !is_late(block, view, loop))
    return "the loop has a product that is neither early nor late";
  return NULL;
}

static const char *carries_reason(const Block *block, int32_t loop) {
  MirageNode node = block->loops[loop].node;
  MirageNodeView view = mirage_ugraph_node(block->graph, node);
  for (uint32_t i = 0; i < view.num_operands; i++)
    if (mirage__block_carry_kind(block, node, i) == CARRY_SHARED)
      return "the loop carries something in shared memory";
  return NULL;
}

const char *mirage__overlap_reason(const Block *block, int32_t loop) {
  const BlockLoop *l = &block->loops[loop];
  int32_t early = 0, late = 0;
  MirageNodeView view;
  if (l->direct || l->range < LEAST_STAGES)
    return "the loop has one iteration, or no tiles";
  for (int32_t s = l->begin; mirage__block_next(block, &s, &view) && s < l->end;) {
    const char *reason = step_reason(block, block->steps[s].node, &view, loop);
    if (reason)
      return reason;
    early += mirage__block_is_early(block, block->steps[s].node);
    late += mirage__is_product(view.op) && is_late(block, &view, loop);
  }
  return early && late ? carries_reason(block, loop) : "the loop has no two products of which one waits for the other";
}

// The copy engine brings everything that the loop loads into shared memory: nobody else has to wait for it.
static bool is_fed(const Block *block, int32_t loop) {
  MirageNodeView view;
  for (int32_t s = block->loops[loop].begin; mirage__block_next(block, &s, &view) && s < block->loops[loop].end;)
    if (view.op == MIRAGE_OP_LOAD && block->values[view.first_result.index].shared &&
        !mirage__block_is_copied(block, view.first_result))
      return false;
  return true;
}

static bool is_ahead(MirageOverlap overlap) { return overlap >= MIRAGE_OVERLAP_AHEAD; }

bool mirage__overlap_is_open(const Block *block) { return block->overlap == MIRAGE_OVERLAP_AUTO; }

static int32_t groups_of(const Block *block) { return mirage__team_workers(&block->team) / GROUP_WARPS; }

void mirage__block_overlap(Block *block) {
  for (int32_t l = 0; l < block->num_loops; l++) {
    BlockLoop *loop = &block->loops[l];
    loop->ahead = is_ahead(block->overlap) && is_fed(block, l) &&
                  (mirage__has_producer(&block->team) || loop->released) && !mirage__overlap_reason(block, l);
    loop->turns = loop->ahead && block->overlap == MIRAGE_OVERLAP_TURNS ? groups_of(block) : 0;
  }
}

int32_t mirage__least_stages(const Block *block) {
  for (int32_t l = 0; l < block->num_loops; l++)
    if (block->loops[l].ahead)
      return LEAST_STAGES;
  return 1;
}

// ----------------------------------------------------------------------------------------------------------- decisions

// Registers of a thread that hold what late products multiply, while the next iteration's are computed.
static int32_t late_registers(const Block *block, int32_t loop) {
  int32_t registers = 0;
  MirageNodeView view;
  for (int32_t s = block->loops[loop].begin; mirage__block_next(block, &s, &view) && s < block->loops[loop].end;)
    if (mirage__is_product(view.op) && is_late(block, &view, loop))
      registers += mirage__partition_cells(&block->partition, mirage_ugraph_type(block->graph, view.operands[0])) / 2;
  return registers;
}

static const char *reason_of(const Plan *plan, int32_t loop) {
  const char *reason = mirage__overlap_reason(&plan->block, loop);
  if (reason)
    return reason;
  if (!is_fed(&plan->block, loop))
    return "the loop loads what no copy engine brings";
  if (plan->block.loops[loop].stages_asked && plan->block.loops[loop].stages < LEAST_STAGES)
    return "the loop's tiles have one buffer";
  int32_t need = plan->resident_registers + late_registers(&plan->block, loop) + SPARE_REGISTERS;
  int32_t registers = mirage__team_registers(&plan->block.team);
  if (plan->block.overlap == MIRAGE_OVERLAP_AUTO && !mirage__has_producer(&plan->block.team))
    return "blocks beside this one compute while it multiplies";
  if (plan->block.overlap == MIRAGE_OVERLAP_AUTO && need > registers)
    return mirage__plan_say(plan, "a thread would need %d registers, of %d", need, registers);
  return NULL;
}

// Warps that wait for each other's tiles alone run apart: while some multiply, others compute. By itself the planner takes
// a barrier of the block, since blocks beside this one compute meanwhile (attention over 4096 keys, H200: 301 us, 314 with tiles
// given back).
MirageStatus mirage__plan_release(Plan *plan, const char **out_why) {
  bool produced = mirage__has_producer(&plan->block.team);
  *out_why = "a barrier of the block is as quick, unless overlap is asked for";
  if (!is_ahead(plan->block.overlap) && !produced)
    return MIRAGE_OK;
  *out_why = produced ? "a producer waits for them" : "there is no loop";
  for (int32_t l = 0; l < plan->block.num_loops && !produced; l++) {
    const char *reason = mirage__overlap_reason(&plan->block, l);
    plan->block.loops[l].released = !reason && is_fed(&plan->block, l);
    *out_why = plan->block.loops[l].released ? NULL : reason ? reason : "the loop loads what no copy engine brings";
  }
  return MIRAGE_OK;
}

static const char *no_overlap(const Plan *plan) {
  const char *reason = "there is no loop";
  if (plan->block.overlap == MIRAGE_OVERLAP_NONE)
    return "none is asked for";
  if (mirage__team_groups(&plan->block.team) > 1)
    return "warpgroups take whole tiles in turn";
  for (int32_t l = 0; reason && l < plan->block.num_loops; l++)
    reason = reason_of(plan, l);
  return reason;
}

MirageStatus mirage__plan_ahead(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  MirageOverlap asked = block->overlap;
  *out_why = no_overlap(plan);
  if (*out_why && is_ahead(asked) && !plan->again) {
    mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc, "layout: products do not run ahead: %s", *out_why);
    block->overlap = MIRAGE_OVERLAP_AUTO;
  }
  if (*out_why)
    return MIRAGE_OK;
  block->overlap = MIRAGE_OVERLAP_AHEAD;
  mirage__block_overlap(block);
  if (asked != MIRAGE_OVERLAP_AHEAD)
    block->overlap = MIRAGE_OVERLAP_TURNS; // where the next form takes it
  return MIRAGE_OK;
}

MirageStatus mirage__plan_turns(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  int32_t groups = groups_of(block);
  bool ahead = mirage__least_stages(block) >= LEAST_STAGES;
  if (!ahead)
    *out_why = "no products run ahead";
  else if (block->overlap != MIRAGE_OVERLAP_TURNS)
    *out_why = "they are to run ahead without";
  else if (groups < 2 || groups > MOST_TURNS)
    *out_why = mirage__plan_say(plan, "%d warpgroups compute, 2 to %d can take turns", groups, MOST_TURNS);
  if (!*out_why)
    mirage__block_overlap(block);
  else if (block->overlap == MIRAGE_OVERLAP_TURNS)
    block->overlap = ahead ? MIRAGE_OVERLAP_AHEAD : MIRAGE_OVERLAP_AUTO;
  return MIRAGE_OK;
}

bool mirage__plan_waits(Plan *plan) {
  if (mirage__least_stages(&plan->block) < LEAST_STAGES)
    return false;
  mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc,
                   "layout: products do not run ahead: the tiles of two iterations do not fit into the %d bytes of "
                   "shared memory of %s",
                   plan->target->shared_bytes_per_block, plan->target->name);
  plan->block.overlap = MIRAGE_OVERLAP_AUTO;
  mirage__block_overlap(&plan->block);
  return true;
}
