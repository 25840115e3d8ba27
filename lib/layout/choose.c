// choose.c - which tiles become buffers in shared memory, and where loads land.
//
// Consumers are visited before producers. Each consumer says how often it will ask for an element of its operands; a
// value is then either computed where it is asked for (inline), which costs that many evaluations, or stored once and
// read back, which costs its elements plus a barrier.
//
// Forced:  products, reductions and collectives are buffers (unless a loop carries them in registers); so is a load
//          that feeds the matrix instruction, and a value that a loop yields while it still reads that loop's carries,
//          because carries change all at once.
//
// Example: sqrt(mean) of shape [2, 1] divides an accumulator of shape [2, 48] on 512 threads: under one evaluation per
//          thread, so it stays inline; exp(s) of [64, 64] read by a product and a row sum is stored once.
#include "plan.h"

#include <string.h>

static const double BARRIER_COST = 40, LOAD_COST = 6, DIRECT_COST = 24;

double mirage__plan_op_cost(MirageOp op) {
  switch (op) {
  case MIRAGE_OP_EXP:
  case MIRAGE_OP_SQRT:
  case MIRAGE_OP_RSQRT:
  case MIRAGE_OP_DIV:
    return 8;
  case MIRAGE_OP_LOG:
  case MIRAGE_OP_SIGMOID:
  case MIRAGE_OP_SILU:
  case MIRAGE_OP_GELU:
  case MIRAGE_OP_GELU_TANH:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_SIN:
  case MIRAGE_OP_COS:
    return 20;
  case MIRAGE_OP_RESHAPE:
    return 4; // index arithmetic
  default:
    return 1;
  }
}

// ------------------------------------------------------------------------------------------------------------- warps

typedef struct Sizes {
  double products; // 16 x 8 x 16 products, or as many plain multiply-adds, of the largest matmul
  double elements; // of the largest tile
  double slabs;    // of 16 rows, of the tallest matmul
  bool matmul;
} Sizes;

static Sizes measure(const Plan *plan) {
  Sizes sizes = {0};
  const Block *block = &plan->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    if (mirage__is_product(view.op)) {
      const Team one = {.actors = {{.kind = ACTOR_THREADS, .warps = 4}}, .num_actors = 1, .divide = DIVIDE_ANY};
      const MirageType *a = mirage_ugraph_type(block->graph, view.operands[0]);
      MatmulSplit split = mirage__matmul_split(a, mirage_ugraph_type(block->graph, view.operands[1]), view.attrs, &one);
      double units = (double)split.batch * split.row_units * split.col_units * split.depth_units;
      units = split.tensor_core ? units : units / 128;
      double slabs = (double)split.batch * (double)((split.m + 15) / 16);
      sizes.slabs = slabs > sizes.slabs ? slabs : sizes.slabs;
      sizes.products = units > sizes.products ? units : sizes.products;
      sizes.matmul = true;
    }
    for (uint32_t r = 0; r < view.num_results; r++) {
      double elements = (double)mirage_type_elements(
          mirage_ugraph_type(block->graph, mirage_ugraph_result(block->graph, block->steps[s].node, r)));
      sizes.elements = elements > sizes.elements ? elements : sizes.elements;
    }
  }
  return sizes;
}

// How many products warpgroups would compute, if there were so many warps.
static int32_t count_warpgroups(Plan *plan, int32_t warps) {
  int32_t count = 0;
  MatmulSplit split;
  mirage__team_set_warps(&plan->block.team, warps);
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&plan->block, &s, &view);) {
    count += mirage__is_product(view.op) && mirage__warpgroups_may(plan, &view, &split);
  }
  return count;
}

// Sixteen warps cannot share a tile of 128 x 64 as warpgroups, eight can; a tile of 192 x 192 takes twelve.
static int32_t fit_warpgroups(Plan *plan, int32_t warps) {
  int32_t best = warps, most = count_warpgroups(plan, warps);
  for (int32_t fewer = warps / 2; fewer >= 4; fewer /= 2) {
    int32_t count = count_warpgroups(plan, fewer);
    best = count > most ? fewer : best;
    most = count > most ? count : most;
  }
  return count_warpgroups(plan, MIRAGE_THREE_GROUPS) > most ? MIRAGE_THREE_GROUPS : best;
}

void mirage__plan_warps(Plan *plan) {
  Team *team = &plan->block.team;
  if (mirage__team_warps(team) > 0)
    return;
  Sizes sizes = measure(plan);
  bool alone = mirage__block_grid(&plan->block) <= plan->target->num_sms; // a block has a multiprocessor to itself
  double want = sizes.elements / (alone ? 256 : 512);
  if (sizes.matmul && sizes.products / 16 > want)
    want = sizes.products / 16;
  int32_t warps = 4, most = alone ? 16 : 8;
  while (warps < most && warps < want)
    warps *= 2;
  while (team->divide == DIVIDE_ROWS && warps > 1 && warps > sizes.slabs)
    warps /= 2; // the others would have no rows
  mirage__team_set_warps(team, fit_warpgroups(plan, warps));
  plan->warps_open = true;
}

// ------------------------------------------------------------------------------------------------------------ places

typedef struct Choice {
  Plan *plan;
  double *evaluations; // by value id: elements asked for during one run of the block
  double *chain;       // by value id: cost of one evaluation when everything that can be is inline
  bool *forced;        // must be a buffer
} Choice;

static double trips_of(const Block *block, int32_t loop) { return loop < 0 ? 1 : (double)block->loops[loop].trips; }

static double elements_of(const Choice *choice, MirageValue value) {
  return (double)mirage_type_elements(mirage_ugraph_type(choice->plan->graph, value));
}

static void ask(Choice *choice, MirageValue value, double times) {
  choice->evaluations[mirage__block_resolve(&choice->plan->block, value).index] += times;
}

static void force(Choice *choice, MirageValue value) {
  choice->forced[mirage__block_resolve(&choice->plan->block, value).index] = true;
}

typedef struct ReadsCarry {
  const Block *block;
  MirageNode loop;
  bool found;
} ReadsCarry;

static void find_carry(void *user, MirageValue leaf) {
  ReadsCarry *reads = user;
  const BlockValue *v = &reads->block->values[leaf.index];
  reads->found |= !v->def.index && v->owner.index == reads->loop.index && !v->resident; // those change last
}

// The loop's yield: what it asks of contributions and factors.
static void ask_yield(Choice *choice, MirageNode loop, int32_t index) {
  const Block *block = &choice->plan->block;
  MirageNodeView view = mirage_ugraph_node(block->graph, loop), yield = mirage__block_yield(block, loop);
  double trips = trips_of(block, index);
  for (uint32_t i = 0; i < view.num_operands; i++) {
    MirageValue contribution = mirage__block_resolve(block, yield.operands[i]);
    MirageValue result = mirage_ugraph_result(block->graph, loop, i);
    if (!block->values[contribution.index].carried) // those are asked for nowhere
      ask(choice, contribution, elements_of(choice, contribution) * trips);
    force(choice, result);
    if (view.attrs->loop.carries[i].combine == MIRAGE_COMBINE_RESCALE)
      ask(choice, yield.operands[mirage__block_factor_index(&view.attrs->loop, i)],
          elements_of(choice, result) * trips);
  }
  for (uint32_t i = 0; i < yield.num_operands; i++) {
    MirageValue value = mirage__block_resolve(block, yield.operands[i]);
    ReadsCarry reads = {block, loop, false};
    mirage__block_leaves(block, value, find_carry, &reads);
    if (reads.found)
      force(choice, value);
  }
}

static bool lands_in_registers(const Choice *choice, MirageValue value) {
  const BlockLoad *load = mirage__block_load(&choice->plan->block, value);
  return load && load->by == BY_READER && !choice->plan->block.values[value.index].shared;
}

static void ask_matmul(Choice *choice, const MirageNodeView *view, double trips) {
  const Block *block = &choice->plan->block;
  MatmulSplit split = mirage__block_matmul_split(block, view);
  for (uint32_t i = 0; i < 2; i++) {
    if (i == 0 && mirage__block_operand_in_cells(block, view)) {
      ask(choice, view->operands[i], elements_of(choice, view->operands[i]) * trips);
      continue;
    }
    if (!split.tensor_core) {
      int32_t reuse = i == 0 ? split.cols_each : split.rows_each;
      ask(choice, view->operands[i], (double)split.batch * (double)(split.m * split.n * split.k) / reuse * trips);
      continue;
    }
    MatmulOperand operand = mirage__matmul_operand(block, view, i);
    bool computed =
        mirage__block_can_inline(mirage__block_op(block, operand.base)) || lands_in_registers(choice, operand.base);
    bool rows = (i == 0) != split.swap;
    double units = rows ? (double)(split.batch * split.row_units) * 16 * split.by_col
                        : (double)split.batch * split.col_units * 8 * split.by_row;
    if (!computed)
      force(choice, operand.base);
    // What is computed in place, each worker computes for itself, padding included.
    double elements = computed ? units * (double)split.k : elements_of(choice, operand.base);
    ask(choice, operand.base, elements * trips);
  }
  if (view->num_operands == 3)
    ask(choice, view->operands[2], (double)split.batch * (double)(split.m * split.n) * trips);
}

static bool in_direct_loop(const Block *block, int32_t loop) { return loop >= 0 && block->loops[loop].direct; }

// Members publish the leaves of a meeting, out of shared memory where it is the cluster's that they read from.
static void ask_meeting(Choice *choice, const BlockMeeting *meeting, double trips) {
  for (uint32_t i = 0; i < meeting->num_leaves; i++) {
    ask(choice, meeting->leaves[i], elements_of(choice, meeting->leaves[i]) * trips);
    if (meeting->cluster)
      force(choice, meeting->leaves[i]);
  }
}

// What one step asks of its operands.
static void ask_step(Choice *choice, BlockStep step) {
  const Block *block = &choice->plan->block;
  MirageNodeView view = mirage_ugraph_node(block->graph, step.node);
  double trips = trips_of(block, step.loop);
  switch (view.op) {
  case MIRAGE_OP_STORE:
    ask(choice, view.operands[0], elements_of(choice, view.operands[0]) * trips);
    return;
  case MIRAGE_OP_MATMUL:
  case MIRAGE_OP_MMA:
    if (in_direct_loop(block, step.loop)) {
      for (uint32_t i = 0; i < 2; i++)
        ask(choice, view.operands[i], elements_of(choice, view.operands[i]) * trips);
      return;
    }
    ask_matmul(choice, &view, trips);
    return;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
  case MIRAGE_OP_REDUCE_MEAN:
    ask(choice, view.operands[0], elements_of(choice, view.operands[0]) * trips);
    return;
  case MIRAGE_OP_LOOP:
    for (uint32_t i = 0; i < view.num_operands; i++)
      ask(choice, view.operands[i], elements_of(choice, view.operands[i]) * trips);
    return;
  case MIRAGE_OP_YIELD:
    if (step.loop >= 0 &&
        mirage_ugraph_region(block->graph, view.parent).owner.index == block->loops[step.loop].node.index)
      ask_yield(choice, block->loops[step.loop].node, step.loop);
    return;
  case MIRAGE_OP_CLUSTER_SUM:
  case MIRAGE_OP_CLUSTER_MAX:
  case MIRAGE_OP_GRID_SUM:
  case MIRAGE_OP_GRID_MAX: {
    const BlockMeeting *meeting = mirage__block_meeting_of(block, view.first_result);
    if (block->steps[meeting->step].node.index == step.node.index)
      ask_meeting(choice, meeting, trips);
    return;
  }
  default:
    return;
  }
}

static void chain_costs(Choice *choice) {
  const Block *block = &choice->plan->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    double cost = LOAD_COST;
    if (view.op == MIRAGE_OP_LOAD) {
      cost = DIRECT_COST;
    } else if (mirage__block_can_inline(view.op)) {
      cost = mirage__plan_op_cost(view.op);
      for (uint32_t i = 0; i < view.num_operands; i++) {
        double operand = choice->chain[mirage__block_resolve(block, view.operands[i]).index];
        cost += operand > 0 ? operand : LOAD_COST;
      }
    }
    for (uint32_t r = 0; r < view.num_results; r++)
      choice->chain[mirage_ugraph_result(block->graph, block->steps[s].node, r).index] = cost;
  }
}

static bool storing_is_cheaper(const Choice *choice, MirageValue value, int32_t loop) {
  double elements = elements_of(choice, value) * trips_of(&choice->plan->block, loop);
  double asked = choice->evaluations[value.index], chain = choice->chain[value.index];
  double threads = mirage__team_workers(&choice->plan->block.team) * 32;
  if (asked <= elements || mirage__block_in_cells(&choice->plan->block, value))
    return false;
  double stored =
      (elements * (chain + 2) + asked * LOAD_COST) / threads + BARRIER_COST * trips_of(&choice->plan->block, loop);
  return asked * chain / threads > stored;
}

// A predicate as numbers: a constant where it holds.
static bool is_masked_constant(const Block *block, MirageValue value) {
  MirageNodeView view = mirage__block_def(block, value);
  return view.op == MIRAGE_OP_MASK &&
         mirage__block_op(block, mirage__block_resolve(block, view.operands[1])) == MIRAGE_OP_CONSTANT;
}

// Predicates and indices are few bytes, or a few operations.
static bool is_number(const Choice *choice, MirageValue value) {
  MirageFamily family = mirage_dtype_family(mirage_ugraph_type(choice->plan->graph, value)->dtype);
  return family != MIRAGE_FAMILY_PREDICATE && family != MIRAGE_FAMILY_INDEX &&
         !is_masked_constant(&choice->plan->block, value);
}

static bool choose_load(Choice *choice, MirageValue value) {
  Block *block = &choice->plan->block;
  BlockLoad *load = &block->loads[block->values[value.index].load];
  bool forced = choice->forced[value.index] || block->values[value.index].shared;
  if (load->by >= BY_BULK)
    return true;
  bool shared = forced || load->by == BY_THREADS ||
                (load->by == BY_OPEN && (load->loop >= 0 || storing_is_cheaper(choice, value, load->loop)));
  if (!is_number(choice, value))
    shared = forced;
  load->by = shared ? BY_THREADS : BY_READER;
  return shared;
}

static bool is_leaf(const Block *block, MirageValue value) {
  for (int32_t m = 0; m < block->num_meetings; m++)
    if (mirage__meeting_leaf(&block->meetings[m], value) >= 0)
      return true;
  return false;
}

static void choose_step(Choice *choice, BlockStep step) {
  Block *block = &choice->plan->block;
  MirageNodeView view = mirage_ugraph_node(block->graph, step.node);
  if (view.op == MIRAGE_OP_THREAD || view.op == MIRAGE_OP_LOOP || view.num_results == 0)
    return;
  MirageValue value = view.first_result;
  if (block->values[value.index].alias.index != value.index)
    return;
  bool shared = choice->forced[value.index] || block->values[value.index].shared;
  bool registers = block->values[value.index].resident || block->values[value.index].carried;
  bool within = block->values[value.index].meeting >= 0, gathered = block->values[value.index].gathered;
  if (in_direct_loop(block, step.loop))
    shared = false;
  else if (block->items.on) // beside reductions, what blocks of a cluster publish
    shared =
        mirage_op_info(view.op)->kind == MIRAGE_KIND_REDUCE || (choice->forced[value.index] && is_leaf(block, value));
  else if (view.op == MIRAGE_OP_LOAD)
    shared = choose_load(choice, value);
  else if (!mirage__block_can_inline(view.op))
    shared |= !registers && !gathered;
  else if (!shared && !registers && !within && !gathered && is_number(choice, value))
    shared = view.num_operands > 0 && storing_is_cheaper(choice, value, step.loop);
  block->values[value.index].shared = shared;
  double asked =
      shared || registers ? elements_of(choice, value) * trips_of(block, step.loop) : choice->evaluations[value.index];
  if (mirage__block_can_inline(view.op) && !within) // those of a meeting are computed from what members publish
    for (uint32_t i = 0; i < view.num_operands; i++)
      ask(choice, view.operands[i], asked);
}

// Products and reductions that only feed a loop's accumulator stay in registers when the registers suffice.
static void choose_carries(Choice *choice) {
  Block *block = &choice->plan->block;
  int32_t limit = mirage__accumulator_limit(&block->team);
  int32_t used = choice->plan->resident_registers;
  for (int32_t l = 0; l < block->num_loops; l++) {
    MirageNode loop = block->loops[l].node;
    MirageNodeView view = mirage_ugraph_node(block->graph, loop), yield = mirage__block_yield(block, loop);
    for (uint32_t i = 0; i < view.num_operands; i++) {
      MirageValue contribution = mirage__block_resolve(block, yield.operands[i]);
      CarryKind kind = mirage__block_carry_candidate(block, loop, i);
      const BlockValue *c = &block->values[contribution.index];
      if (kind == CARRY_SHARED || c->shared || c->carried)
        continue;
      if (block->loops[l].direct) { // counted by direct.c
        block->values[contribution.index].carried = true;
        continue;
      }
      MirageNodeView def = mirage__block_def(block, contribution);
      int32_t registers, most = limit;
      if (kind == CARRY_MATMUL) {
        MatmulSplit split = mirage__block_matmul_split(block, &def);
        registers = split.accumulators;
        most = split.warpgroup ? mirage__warpgroup_limit(&block->team, split.summed) : limit;
      } else {
        registers = mirage__block_reduce_split(block, &def).outputs_each;
      }
      if (registers > most - used || (kind == CARRY_REDUCE && registers > 8))
        continue;
      used += registers;
      block->values[contribution.index].carried = true;
    }
  }
}

static bool any_staged(const Plan *plan) {
  for (uint32_t i = 0; i < plan->block.num_loads; i++)
    if (plan->block.loads[i].loop >= 0 && plan->block.loads[i].by == BY_THREADS)
      return true;
  return false;
}

MirageStatus mirage__plan_places(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  uint32_t values = mirage_ugraph_num_values(plan->graph) + 1;
  Choice choice = {.plan = plan};
  choice.evaluations = mirage_arena_alloc_array(block->arena, values, sizeof(double));
  choice.chain = mirage_arena_alloc_array(block->arena, values, sizeof(double));
  choice.forced = mirage_arena_alloc_array(block->arena, values, sizeof(bool));
  if (!choice.evaluations || !choice.chain || !choice.forced)
    return mirage__plan_no_memory(plan);
  choose_carries(&choice);
  chain_costs(&choice);
  for (int32_t s = block->num_steps - 1; s >= 0; s--) {
    if (!block->steps[s].node.index)
      continue;
    choose_step(&choice, block->steps[s]); // all its readers have spoken
    ask_step(&choice, block->steps[s]);
  }
  for (int32_t l = 0; l < block->num_loops; l++) { // carries and results of loops
    MirageNode loop = block->loops[l].node;
    uint32_t carries = mirage_ugraph_node(plan->graph, loop).num_operands;
    for (uint32_t i = 0; i < carries; i++) {
      BlockValue *result = &block->values[mirage_ugraph_result(plan->graph, loop, i).index];
      bool in_memory = mirage__block_carry_kind(block, loop, i) == CARRY_SHARED;
      block->values[mirage_ugraph_argument(plan->graph, loop, i).index].shared = in_memory;
      result->shared |= !result->resident;
    }
  }
  if (!any_staged(plan))
    *out_why = block->num_loops ? "no load is left to it" : "there is no loop";
  return MIRAGE_OK;
}
