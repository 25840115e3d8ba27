// resident.c - which tiles live in registers for their whole life, and how the warps divide them.
//
// The accumulators of a matrix product need not leave their registers when whoever reads them can work on the same
// cells: element-wise operators, reductions along a row (the four lanes of a quad share it), the store, a loop's carry,
// and another product that takes them as its first operand - the accumulators of two neighbouring column units are, as
// they stand, the four registers of a 16 x 16 operand. All resident tiles of a block share one partition of the warps.
//
// Algorithm: assume a partition, take every value that could be resident, and ask each reader whether it reads cell by
//            cell. One that does not needs a buffer: a second copy of a resident value, or the place of a computed one.
//            What then has lost its use stops being resident. Repeat until nothing changes, then keep in registers what
//            is computed once and read often, and count the registers that live at once. The partition that keeps most
//            elements out of shared memory wins.
// Partition: rows only, so that a row belongs to one quad and softmax needs no shared memory. `split = rows` asks for
//            it and is an error where it is not possible.
// Source:    Dao et al., FlashAttention, arXiv 2205.14135; the layout of mma.m16n8k16 in the PTX manual.
#include "plan.h"

#include <string.h>

enum {
  OTHER_REGISTERS = 56, // for operands, addresses and what the assembler needs
  GROUP_REGISTERS = 40, // the same where warpgroups multiply from shared memory, fed by others
  LEAST_WARPS = 4,      // of a block whose rows decide how many it has
};

// -------------------------------------------------------------------------------------------- questions about one tile

bool mirage__partition_fits(const Partition *partition, const MirageType *type) {
  if (!partition->by_row || type->rank < 2 || type->shape[type->rank - 2] != partition->rows)
    return false;
  int64_t batch = 1;
  for (uint32_t i = 0; i + 2 < type->rank; i++)
    batch *= type->shape[i];
  return batch == partition->batch;
}

int32_t mirage__partition_columns(const Partition *partition, const MirageType *type) {
  int64_t columns = type->shape[type->rank - 1], units = (columns + 7) / 8;
  return columns == 1 ? 0 : (int32_t)((units + partition->by_col - 1) / partition->by_col);
}

int32_t mirage__partition_cells(const Partition *partition, const MirageType *type) {
  int32_t columns = mirage__partition_columns(partition, type);
  return partition->rows_each * (columns ? 4 * columns : 2);
}

static const MirageType *type_of(const Block *block, MirageValue value) {
  return mirage_ugraph_type(block->graph, value);
}

static BlockValue *value_of(const Block *block, MirageValue value) {
  return &block->values[mirage__block_resolve(block, value).index];
}

// An inline operator whose element at a cell depends on its operands at that cell only. What comes out of a meeting is
// computed from what the members publish.
static bool keeps_cells(const Block *block, const MirageNodeView *view) {
  if (!mirage__block_can_inline(view->op))
    return false;
  const BlockValue *v = &block->values[view->first_result.index];
  if (v->meeting >= 0 || v->gathered)
    return false;
  const MirageType *result = type_of(block, view->first_result);
  if (!mirage__partition_fits(&block->partition, result))
    return false;
  if (view->op == MIRAGE_OP_RESHAPE) {
    const MirageType *from = type_of(block, view->operands[0]);
    return mirage__partition_fits(&block->partition, from) &&
           from->shape[from->rank - 1] == result->shape[result->rank - 1];
  }
  return mirage_op_info(view->op)->kind != MIRAGE_KIND_SHAPE || view->op == MIRAGE_OP_BROADCAST;
}

bool mirage__block_in_cells(const Block *block, MirageValue value) {
  value = mirage__block_resolve(block, value);
  const BlockValue *v = &block->values[value.index];
  if (v->resident || v->shared || !v->def.index || !block->partition.by_row)
    return v->resident;
  MirageNodeView view = mirage_ugraph_node(block->graph, v->def);
  if (!keeps_cells(block, &view))
    return false;
  for (uint32_t i = 0; i < view.num_operands; i++)
    if (mirage__block_in_cells(block, view.operands[i]))
      return true;
  return false;
}

bool mirage__block_operand_in_cells(const Block *block, const MirageNodeView *product) {
  return block->values[product->first_result.index].resident && block->partition.by_col == 1 &&
         !(product->attrs && product->attrs->matmul.transpose_a) &&
         mirage__partition_fits(&block->partition, type_of(block, product->operands[0])) &&
         mirage__block_in_cells(block, product->operands[0]);
}

// ---------------------------------------------------------------------------------------------------- who reads how

typedef struct Study {
  Block *block;
  bool changed;
} Study;

static void set_resident(Study *study, MirageValue value, bool resident) {
  BlockValue *v = &study->block->values[value.index];
  study->changed |= v->resident != resident;
  v->resident = resident;
}

// A reader goes through the value in an order of its own. Carries have no buffer beside their registers: they move.
static void need_buffer(Study *study, MirageValue value) {
  Block *block = study->block;
  value = mirage__block_resolve(block, value);
  BlockValue *v = &block->values[value.index];
  if (!v->def.index) {
    set_resident(study, mirage_ugraph_result(block->graph, v->owner, v->index), false);
    set_resident(study, value, false);
    return;
  }
  study->changed |= !v->shared;
  v->shared = true;
}

static bool result_is_resident(const Block *block, MirageNode loop, uint32_t index) {
  return block->values[mirage_ugraph_result(block->graph, loop, index).index].resident;
}

// The loop's yield: contributions, then factors. A carry in a buffer can take a contribution cell by cell.
static bool yield_takes_cells(const Block *block, MirageNode loop, const MirageNodeView *yield, uint32_t operand) {
  const MirageLoopAttrs *attrs = &mirage_ugraph_node(block->graph, loop).attrs->loop;
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    bool rescaled = attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE;
    if (operand != i && !(rescaled && operand == mirage__block_factor_index(attrs, i)))
      continue;
    if (!result_is_resident(block, loop, i) &&
        (mirage__block_carry_candidate(block, loop, i) != CARRY_SHARED ||
         !mirage__partition_fits(&block->partition, type_of(block, yield->operands[i]))))
      return false;
  }
  return true;
}

static MirageNode loop_around(const Block *block, const MirageNodeView *yield) {
  return mirage_ugraph_region(block->graph, yield->parent).owner;
}

// Leaves of a meeting of the grid are published cell by cell.
static bool is_published(const Block *block, const BlockMeeting *meeting, MirageValue value) {
  value = mirage__block_resolve(block, value);
  if (mirage__meeting_leaf(meeting, value) >= 0)
    return !meeting->cluster;
  if (mirage__block_op(block, value) != MIRAGE_OP_BROADCAST)
    return false;
  return is_published(block, meeting, mirage__block_def(block, value).operands[0]);
}

static bool takes_cells(const Block *block, MirageNode node, const MirageNodeView *view, uint32_t operand) {
  const BlockMeeting *meeting = view->num_results == 1 ? mirage__block_meeting_of(block, view->first_result) : NULL;
  if (meeting)
    return is_published(block, meeting, view->operands[operand]);
  if (mirage__block_can_inline(view->op))
    return keeps_cells(block, view);
  if (mirage__is_product(view->op))
    return operand == 0   ? mirage__block_operand_in_cells(block, view)
           : operand == 2 ? block->values[view->first_result.index].resident
                          : false;
  if (mirage__is_reduction(view->op))
    return block->values[view->first_result.index].resident;
  switch (view->op) {
  case MIRAGE_OP_STORE:
    return true;
  case MIRAGE_OP_LOOP:
    return result_is_resident(block, node, operand) ||
           mirage__block_carry_candidate(block, node, operand) == CARRY_SHARED;
  case MIRAGE_OP_YIELD:
    return yield_takes_cells(block, loop_around(block, view), view, operand);
  default:
    return false;
  }
}

typedef void (*Reader)(Study *study, MirageNode node, const MirageNodeView *view, uint32_t operand);

static void for_readers(Study *study, Reader reader) {
  const Block *block = study->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    for (uint32_t i = 0; i < view.num_operands; i++)
      reader(study, block->steps[s].node, &view, i);
  }
}

static void ask_reader(Study *study, MirageNode node, const MirageNodeView *view, uint32_t operand) {
  if (mirage__block_in_cells(study->block, view->operands[operand]) && !takes_cells(study->block, node, view, operand))
    need_buffer(study, view->operands[operand]);
}

// -------------------------------------------------------------------------------------------------------- candidates

static bool in_direct_loop(const Block *block, MirageValue value) {
  int32_t loop = block->values[value.index].loop;
  return loop >= 0 && block->loops[loop].direct;
}

static bool product_may(const Block *block, const MirageNodeView *view) {
  const MirageType *a = type_of(block, view->operands[0]), *result = type_of(block, view->first_result);
  return a->dtype != MIRAGE_F32 && result->shape[result->rank - 1] > 1 &&
         mirage__partition_fits(&block->partition, result) && !in_direct_loop(block, view->first_result);
}

static bool reduction_may(const Block *block, const MirageNodeView *view) {
  const MirageType *in = type_of(block, view->operands[0]), *out = type_of(block, view->first_result);
  return block->partition.by_col == 1 && !in_direct_loop(block, view->first_result) &&
         view->attrs->reduce.dim == (int32_t)in->rank - 1 && in->shape[in->rank - 1] > 1 &&
         out->shape[out->rank - 1] == 1 && mirage__partition_fits(&block->partition, out);
}

// The loop's carry that the value is a candidate for, if any: it is resident only together with the result.
static bool carried_elsewhere(const Block *block, MirageValue value) {
  int32_t loop = block->values[value.index].loop;
  if (loop < 0)
    return false;
  MirageNode node = block->loops[loop].node;
  MirageNodeView yield = mirage__block_yield(block, node);
  uint32_t carries = mirage_ugraph_node(block->graph, node).num_operands;
  for (uint32_t i = 0; i < carries; i++)
    if (mirage__block_resolve(block, yield.operands[i]).index == value.index &&
        mirage__block_carry_candidate(block, node, i) != CARRY_SHARED)
      return !result_is_resident(block, node, i);
  return false;
}

static bool loop_may(const Block *block, MirageNode loop, uint32_t index) {
  const MirageLoopAttrs *attrs = &mirage_ugraph_node(block->graph, loop).attrs->loop;
  return attrs->carries[index].combine != MIRAGE_COMBINE_CONCAT &&
         !block->loops[mirage__block_find_loop(block, loop)].direct &&
         mirage__partition_fits(&block->partition, type_of(block, mirage_ugraph_result(block->graph, loop, index)));
}

static void set_carry(Study *study, MirageNode loop, uint32_t index, bool resident) {
  set_resident(study, mirage_ugraph_result(study->block->graph, loop, index), resident);
  set_resident(study, mirage_ugraph_argument(study->block->graph, loop, index), resident);
}

static void assume_all(Study *study) {
  Block *block = study->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    if ((mirage__is_product(view.op) && product_may(block, &view)) ||
        (mirage__is_reduction(view.op) && reduction_may(block, &view)))
      set_resident(study, view.first_result, true);
    for (uint32_t i = 0; view.op == MIRAGE_OP_LOOP && i < view.num_results; i++) {
      block->values[view.first_result.index + i].shared = false; // set again where a reader needs it
      set_carry(study, block->steps[s].node, i, loop_may(block, block->steps[s].node, i));
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- pruning

static bool read_in_cells(const Block *block, MirageValue value) {
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    for (uint32_t i = 0; i < view.num_operands; i++)
      if (mirage__block_resolve(block, view.operands[i]).index == value.index &&
          takes_cells(block, block->steps[s].node, &view, i))
        return true;
  }
  return false;
}

// A product is worth its place when it takes its operand from registers, or somebody reads `result` there.
static bool product_is_wanted(const Block *block, const MirageNodeView *product, MirageValue result) {
  return mirage__block_operand_in_cells(block, product) || read_in_cells(block, result);
}

static bool carry_is_wanted(const Block *block, MirageNode loop, uint32_t index) {
  MirageValue contribution = mirage__block_resolve(block, mirage__block_yield(block, loop).operands[index]);
  if (!mirage__block_in_cells(block, contribution))
    return false;
  if (mirage__block_carry_candidate(block, loop, index) != CARRY_MATMUL)
    return true;
  MirageNodeView product = mirage__block_def(block, contribution);
  return product_is_wanted(block, &product, mirage_ugraph_result(block->graph, loop, index));
}

static bool value_is_wanted(const Block *block, const MirageNodeView *view) {
  if (carried_elsewhere(block, view->first_result))
    return false;
  return mirage__is_product(view->op) ? product_is_wanted(block, view, view->first_result)
                                      : mirage__block_in_cells(block, view->operands[0]);
}

static void drop_useless(Study *study) {
  Block *block = study->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    MirageNode node = block->steps[s].node;
    for (uint32_t i = 0; view.op == MIRAGE_OP_LOOP && i < view.num_results; i++)
      if (result_is_resident(block, node, i) && !carry_is_wanted(block, node, i))
        set_carry(study, node, i, false);
    bool computed = mirage__is_product(view.op) || mirage__is_reduction(view.op);
    if (computed && block->values[view.first_result.index].resident && !value_is_wanted(block, &view))
      set_resident(study, view.first_result, false);
  }
}

// -------------------------------------------------------------------------------- computed once, and kept in registers

enum { CHEAP = 8 }; // cost of an exponential or a division (choose.c)

// Cost of computing the value at one cell from resident values.
static double chain_cost(const Block *block, MirageValue value) {
  value = mirage__block_resolve(block, value);
  if (block->values[value.index].resident || !mirage__block_in_cells(block, value))
    return 0;
  MirageNodeView view = mirage__block_def(block, value);
  double cost = mirage__plan_op_cost(view.op);
  for (uint32_t i = 0; i < view.num_operands; i++)
    cost += chain_cost(block, view.operands[i]);
  return cost;
}

static void keep_computed(Study *study) {
  Block *block = study->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    if (!mirage__block_can_inline(view.op) || !mirage__block_in_cells(block, view.first_result))
      continue;
    const MirageType *type = type_of(block, view.first_result);
    bool often = block->values[view.first_result.index].num_uses > 1, vector = type->shape[type->rank - 1] == 1;
    bool dear = chain_cost(block, view.first_result) >= CHEAP;
    if (vector ? often || dear : often && dear)
      block->values[view.first_result.index].resident = true;
  }
}

// ---------------------------------------------------------------------------------------------------------- registers

// Live from `begin` to `end`, counted in half steps: an operator reads at 2 s and an element-wise one writes at 2 s +
// 1, so that it may write over what it reads. Products and reductions write while they still read.
typedef struct Range {
  int32_t begin, end;
} Range;

typedef struct Lifetimes {
  const Block *block;
  Range *ranges; // by value id
} Lifetimes;

static void extend(void *user, MirageValue leaf, int32_t first, int32_t last) {
  const Lifetimes *lives = user;
  const BlockValue *v = &lives->block->values[leaf.index];
  Range *range = &lives->ranges[mirage__block_buffer_of(lives->block, leaf).index];
  (void)first;
  if (v->resident && !v->carried && 2 * last > range->end) // the carry's cells are its loop's
    range->end = 2 * last;
}

static void find_lifetimes(Lifetimes *lives) {
  const Block *block = lives->block;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    for (uint32_t i = 0; i < view.num_results; i++) {
      uint32_t id = view.first_result.index + i;
      int32_t begin = 2 * s + mirage__block_can_inline(view.op);
      int32_t own = mirage__block_find_loop(block, block->steps[s].node);
      if (block->values[id].resident && !block->values[id].carried)
        lives->ranges[id] = (Range){begin, own < 0 ? begin : 2 * block->loops[own].end + 2};
    }
  mirage__block_reads(block, extend, lives);
}

// Sums with which those of a later loop begin go over into them.
static void end_continued(Lifetimes *lives) {
  const Block *block = lives->block;
  for (int32_t l = 0; l < block->num_loops; l++) {
    MirageNode node = block->loops[l].node;
    for (uint32_t i = 0; i < mirage_ugraph_node(block->graph, node).num_operands; i++) {
      MirageValue initial = mirage__block_initial(block, node, i);
      if (initial.index && block->values[initial.index].resident)
        lives->ranges[initial.index].end = 2 * block->step_of_node[node.index] - 1;
    }
  }
}

int32_t mirage__resident_registers(const Block *block) {
  uint32_t values = mirage_ugraph_num_values(block->graph);
  Lifetimes lives = {.block = block};
  lives.ranges = mirage_arena_alloc_array(block->arena, values + 1, sizeof *lives.ranges);
  if (!lives.ranges)
    return -1;
  for (uint32_t id = 0; id <= values; id++)
    lives.ranges[id] = (Range){0, -1};
  find_lifetimes(&lives);
  end_continued(&lives);
  int32_t most = 0;
  for (int32_t at = 0; at <= 2 * block->num_steps; at++) {
    int32_t now = 0;
    for (uint32_t id = 1; id <= values; id++)
      if (lives.ranges[id].begin <= at && at <= lives.ranges[id].end)
        now += mirage__partition_cells(&block->partition, type_of(block, (MirageValue){id}));
    most = now > most ? now : most;
  }
  return most;
}

static int32_t registers_available(Team team, int32_t warps) {
  mirage__team_set_warps(&team, warps);
  return mirage__team_registers(&team) - (mirage__has_producer(&team) ? GROUP_REGISTERS : OTHER_REGISTERS);
}

// --------------------------------------------------------------------------------------------------------- partitions

typedef struct Result {
  Partition partition;
  double gain; // elements that stay out of shared memory, over a run of the block
  int32_t registers;
} Result;

// A tile that lives in registers and in a buffer is still written there, which counts against it unless the schedule
// asks for registers.
static double gain_of(const Block *block, bool asked) {
  double gain = 0;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);) {
    for (uint32_t i = 0; i < view.num_results; i++) {
      MirageValue value = {view.first_result.index + i};
      const BlockValue *v = &block->values[value.index];
      if (!v->resident || v->carried || (mirage__block_can_inline(view.op) && !v->shared))
        continue;
      double elements =
          (double)mirage_type_elements(type_of(block, value)) * (v->loop < 0 ? 1 : (double)block->loops[v->loop].trips);
      gain += !v->shared ? elements : asked ? 0 : -elements;
    }
  }
  return gain;
}

static void forget(Block *block, const bool *shared) {
  block->partition = (Partition){0};
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(block->graph); id++) {
    block->values[id].resident = block->values[id].carried = false;
    block->values[id].shared = shared[id];
  }
}

// Products and reductions whose sums or maxima over a loop are resident take their step with the yield.
static void mark_carried(Block *block) {
  for (int32_t l = 0; l < block->num_loops; l++) {
    MirageNodeView yield = mirage__block_yield(block, block->loops[l].node);
    uint32_t carries = mirage_ugraph_node(block->graph, block->loops[l].node).num_operands;
    for (uint32_t i = 0; i < carries; i++)
      if (result_is_resident(block, block->loops[l].node, i) &&
          mirage__block_carry_candidate(block, block->loops[l].node, i) != CARRY_SHARED)
        value_of(block, yield.operands[i])->carried = true;
  }
}

// Leaves the decision for this partition in the block.
static Result study_partition(Plan *plan, Partition partition) {
  Study study = {.block = &plan->block};
  plan->block.partition = partition;
  assume_all(&study);
  do {
    study.changed = false;
    for_readers(&study, ask_reader);
    drop_useless(&study);
  } while (study.changed);
  keep_computed(&study);
  mark_carried(&plan->block);
  bool asked = plan->block.team.divide == DIVIDE_ROWS;
  return (Result){partition, gain_of(&plan->block, asked), mirage__resident_registers(study.block)};
}

Partition mirage__partition(int64_t by_row, int64_t by_col, int64_t batch, int64_t rows) {
  int64_t units = (rows + 15) / 16;
  return (Partition){.by_row = (int32_t)by_row,
                     .by_col = (int32_t)by_col,
                     .batch = batch,
                     .rows = rows,
                     .row_units = (int32_t)units,
                     .rows_each = (int32_t)((batch * units + by_row - 1) / by_row)};
}

static Partition partition_of(const Block *block, const MirageNodeView *product, int32_t by_row, int32_t by_col) {
  const MirageType *result = type_of(block, product->first_result);
  int64_t batch = 1;
  for (uint32_t i = 0; i + 2 < result->rank; i++)
    batch *= result->shape[i];
  return mirage__partition(by_row, by_col, batch, result->shape[result->rank - 2]);
}

typedef struct Search {
  Plan *plan;
  const bool *shared; // by value id: buffers by hand
  bool asked;         // by the schedule: then any way is good
  Result best, tight; // tight: the best of those that need too many registers
} Search;

static void consider(Search *search, Partition partition) {
  Result result = study_partition(search->plan, partition);
  forget(&search->plan->block, search->shared);
  int32_t available = registers_available(search->plan->block.team, partition.by_row * partition.by_col);
  Result *place = result.registers > available ? &search->tight : &search->best;
  if (result.registers >= 0 && result.gain > place->gain)
    *place = result;
}

static void consider_product(Search *search, const MirageNodeView *product) {
  const Block *block = &search->plan->block;
  const Team *team = &block->team;
  const MirageType *a = type_of(block, product->operands[0]), *b = type_of(block, product->operands[1]);
  MatmulSplit own = mirage__matmul_split(a, b, product->attrs, team), groups;
  bool among_groups = team->divide == DIVIDE_ANY && mirage__warpgroups_may(search->plan, product, &groups);
  if (among_groups && groups.swap) // its result is turned in shared memory
    return;
  if (among_groups) // wins ties
    consider(search, partition_of(block, product, groups.by_row, groups.by_col));
  if (!search->asked && own.tensor_core && !own.swap && own.by_depth == 1)
    consider(search, partition_of(block, product, own.by_row, own.by_col));
  if (!search->asked && team->divide != DIVIDE_ANY)
    return;
  int32_t warps = mirage__team_workers(team);
  Partition rows = partition_of(block, product, warps, 1);
  int64_t units = rows.batch * rows.row_units;
  if (search->asked || units >= warps) {
    consider(search, rows);
    return;
  }
  while (warps > units)
    warps /= 2;
  if (search->plan->warps_open && warps >= LEAST_WARPS)
    consider(search, partition_of(block, product, warps, 1));
}

static const char *nothing_stays(const Search *search) {
  const Plan *plan = search->plan;
  int32_t warps = mirage__team_workers(&plan->block.team);
  if (search->tight.gain > 0)
    return mirage__plan_say(plan, "its tiles take %d registers of a thread, %d warps leave %d", search->tight.registers,
                            warps, registers_available(plan->block.team, warps));
  return "no product of f16 or bf16 tiles can keep its result in registers";
}

static MirageStatus search_partitions(Search *search) {
  const Block *block = &search->plan->block;
  uint32_t values = mirage_ugraph_num_values(block->graph);
  bool *shared = mirage_arena_alloc_array(block->arena, values + 1, sizeof *shared);
  MirageNodeView view;
  if (!shared)
    return mirage__plan_no_memory(search->plan);
  for (uint32_t id = 1; id <= values; id++)
    shared[id] = block->values[id].shared;
  search->shared = shared;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    if (mirage__is_product(view.op))
      consider_product(search, &view);
  return MIRAGE_OK;
}

MirageStatus mirage__plan_resident(Plan *plan, const char **out_why) {
  Search search = {.plan = plan, .asked = plan->block.team.divide == DIVIDE_ROWS};
  if (plan->block.team.swap && !search.asked) { // cells are those of products as they stand
    *out_why = "products are asked for with their operands swapped";
    return MIRAGE_OK;
  }
  MIRAGE_TRY(search_partitions(&search));
  if (search.best.gain > 0) {
    const Partition *best = &search.best.partition;
    mirage__team_set_warps(&plan->block.team, best->by_row * best->by_col);
    plan->resident_registers = study_partition(plan, *best).registers;
    return MIRAGE_OK;
  }
  *out_why = nothing_stays(&search);
  return search.asked ? mirage_diag_fail(plan->diag, plan->loc, MIRAGE_UNSUPPORTED,
                                         "layout: split = rows is not possible: %s", *out_why)
                      : MIRAGE_OK;
}
