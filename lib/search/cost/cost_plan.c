// cost_plan.c - what a planned kernel moves and computes, and how: all of it read from its plan, nothing guessed.
//
// Example: a loop in a block of 128 x 256 that sums products: the plan says that warpgroups compute them, that four warps
//          of their own issue the loads, four stages ahead, and that the accumulators stay in registers.
#include "search/cost/cost_plan.h"
#include <math.h>
#include <stdlib.h>

enum { SHORT_ROWS = 64 }; // products in fewer do not pass a chain's values from cells to cells as fast (H200, gqa_b1)

typedef struct PlanWalk {
  const Block *block;
  const MirageCustomAttrs *custom;
  CostKernel kernel;
  uint32_t products;     // of loops
  uint32_t by_warps;     // of all products
  double steps, carries; // of loops: products, reductions and collectives; what is carried
} PlanWalk;

static MirageOpKind kind_of(MirageOp op) { return mirage_op_info(op)->kind; }
static bool is_product(MirageOp op) { return op == MIRAGE_OP_MATMUL || op == MIRAGE_OP_MMA; }

static const MirageType *operand_type(const PlanWalk *walk, const MirageNodeView *node, uint32_t index) {
  return index < node->num_operands ? mirage_ugraph_type(walk->block->graph, node->operands[index]) : NULL;
}

static const BlockValue *value_of(const PlanWalk *walk, MirageValue value) {
  return &walk->block->values[mirage__block_resolve(walk->block, value).index];
}

// ------------------------------------------------------------------------------------------------------------- loops

// What a loop does to a carry in every iteration. The matrix instruction accumulates products by itself.
static void add_carry(PlanWalk *walk, MirageNode loop, uint32_t index, double times) {
  MirageValue contribution = mirage__block_yield(walk->block, loop).operands[index];
  const MirageType *carry =
      mirage_ugraph_type(walk->block->graph, mirage_ugraph_argument(walk->block->graph, loop, index));
  if (is_product(mirage__block_op(walk->block, mirage__block_resolve(walk->block, contribution))))
    return;
  double elements = (double)mirage_type_elements(carry) * times;
  walk->kernel.fma_flops += 2 * elements;
  if (mirage__cost_is_long(carry))
    walk->kernel.reduced_elements += elements;
}

static void add_loop(PlanWalk *walk, MirageNode node, double blocks) {
  const BlockLoop *loop = &walk->block->loops[mirage__block_find_loop(walk->block, node)];
  bool innermost = true;
  for (int32_t l = 0; l < walk->block->num_loops; l++)
    innermost &= walk->block->loops[l].parent < 0 || &walk->block->loops[walk->block->loops[l].parent] != loop;
  double trips = (double)loop->trips * mirage__block_share(walk->block, (int32_t)(loop - walk->block->loops));
  walk->kernel.iterations += innermost ? trips : 0;
  uint32_t carries = mirage_ugraph_node(walk->block->graph, node).num_operands;
  walk->carries += carries;
  for (uint32_t i = 0; i < carries; i++)
    add_carry(walk, node, i, blocks * trips);
}

// Loops that stream their weights, if all do that load anything.
static CostStream find_stream(const Block *block) {
  CostStream stream = {0};
  for (int32_t l = 0; l < block->num_loops; l++) {
    DirectLoop direct;
    if (!block->loops[l].direct || !mirage__direct_loop(block, l, DIRECT_WHOLE, &direct))
      continue;
    stream = (CostStream){.rows = direct.m, .depth = direct.k, .lane_k = direct.rows ? direct.lane_k : 0};
    stream.ragged = mirage__direct_is_ragged(block, &direct);
    for (uint32_t p = 0; p < direct.num_products; p++) {
      const DirectGroup *group = &direct.groups[direct.products[p].group];
      double columns = (double)direct.products[p].columns, piece = columns * mirage_dtype_bits(group->stored) / 8;
      bool side = block->loops[l].side && direct.products[p].side;
      if (!side && (stream.piece_bytes == 0 || piece < stream.piece_bytes))
        stream.piece_bytes = piece;
      stream.columns += direct.products[p].columns;
      stream.bits += columns * mirage_dtype_bits(group->stored);
      stream.conversion += columns * mirage__cost_conversion(group->stored, group->dtype, direct.rows);
      stream.side_columns += side ? direct.products[p].columns : 0;
    }
    stream.bits /= (double)stream.columns;
    stream.conversion /= (double)stream.columns;
  }
  for (int32_t s = 0; s < block->num_steps; s++)
    if (block->steps[s].node.index && mirage_ugraph_node(block->graph, block->steps[s].node).op == MIRAGE_OP_LOAD &&
        block->steps[s].loop >= 0 && !block->loops[block->steps[s].loop].direct)
      return (CostStream){0};
  return stream;
}

// ------------------------------------------------------------------------------------------------------------- steps

// Blocks that load the same and differ in y or z of the grid: those that differ in x alone are neighbours.
static double far_readers(const PlanWalk *walk, const MirageNodeView *load, bool shared) {
  double readers = 1;
  for (uint32_t g = 1; g < 3; g++)
    if (load->attrs->access.grid[g] < 0)
      readers *= (double)walk->custom->grid[g] / (shared ? (double)walk->block->cluster[g] : 1);
  return readers;
}

static void add_load(PlanWalk *walk, const MirageNodeView *node, bool looped, double times) {
  const Channel *channel = mirage__block_channel_of(walk->block, node->first_result);
  const BlockLoad *load = mirage__block_load(walk->block, node->first_result);
  const MirageType *tile = mirage_ugraph_type(walk->block->graph, node->first_result);
  double boxes = walk->kernel.box_us;
  if (looped) {
    mirage__cost_boxes(&walk->kernel, operand_type(walk, node, 0), tile, times);
    mirage__cost_again(&walk->kernel, operand_type(walk, node, 0), far_readers(walk, node, load->multicast));
  }
  if (load->multicast) { // one copy for all
    mirage__cost_share_boxes(&walk->kernel, walk->kernel.box_us - boxes);
    times /= (double)mirage__block_cluster(walk->block);
  }
  double before = walk->kernel.l2_bytes;
  mirage__cost_load(&walk->kernel, operand_type(walk, node, 0), tile, times);
  if (!looped) {
    walk->kernel.outside_bytes += walk->kernel.l2_bytes - before;
    walk->kernel.loads_outside |= mirage__cost_is_long(tile);
    return;
  }
  if (mirage__block_leads(walk->block, load->loop)) // its copies are followed by those of the loop behind
    return;
  walk->kernel.iteration_bytes += (double)mirage_type_bytes(tile);
  if (channel->place == PLACE_SHARED)
    walk->kernel.stages = fmax(walk->kernel.stages, channel->stages);
}

static void add_store(PlanWalk *walk, const MirageNodeView *node, double times) {
  MirageType stored = *operand_type(walk, node, 0);
  double before = walk->kernel.l2_bytes;
  stored.dtype = operand_type(walk, node, 1)->dtype;
  mirage__cost_store(&walk->kernel, operand_type(walk, node, 1), &stored, times);
  walk->kernel.outside_bytes += walk->kernel.l2_bytes - before;
}

// What blocks publish of a collective's operand, if that is of the same shape: the operand itself, or what it is computed from.
static MirageType published_type(const PlanWalk *walk, const MirageNodeView *node) {
  MirageType type = *operand_type(walk, node, 0);
  const BlockMeeting *meeting = mirage__block_meeting_of(walk->block, node->first_result);
  for (uint32_t i = 0; meeting && i < meeting->num_leaves; i++) {
    const MirageType *leaf = mirage_ugraph_type(walk->block->graph, meeting->leaves[i]);
    if (mirage_type_elements(leaf) == mirage_type_elements(&type) &&
        mirage_dtype_bytes(leaf->dtype) < mirage_dtype_bytes(type.dtype))
      type.dtype = leaf->dtype;
  }
  return type;
}

static void add_collective(PlanWalk *walk, const MirageNodeView *node) {
  double members = 1;
  MirageType published = published_type(walk, node);
  for (int axis = 0; axis < 3; axis++)
    members *= node->attrs->axes.axis[axis] ? (double)walk->custom->grid[axis] : 1;
  bool cluster = node->op == MIRAGE_OP_CLUSTER_SUM || node->op == MIRAGE_OP_CLUSTER_MAX;
  mirage__cost_collective(&walk->kernel, &published, members, cluster);
  if (!cluster && !value_of(walk, node->first_result)->gathered)
    mirage__cost_whole_result(&walk->kernel, &published, members);
}

static void note_product(PlanWalk *walk, const MirageNodeView *node, bool looped, double times) {
  const BlockValue *result = value_of(walk, node->first_result);
  const BlockValue *b = value_of(walk, node->operands[1]);
  walk->by_warps += !result->warpgroup;
  if (!looped)
    return;
  walk->products++;
  if (result->warpgroup && result->carried && mirage__block_matmul_split(walk->block, node).swap)
    walk->kernel.turned_bytes += (double)mirage_type_bytes(mirage_ugraph_type(walk->block->graph, node->first_result));
  walk->kernel.weights |= result->carried && b->def.index && b->loop == result->loop &&
                          mirage_ugraph_node(walk->block->graph, b->def).op == MIRAGE_OP_LOAD;
  walk->kernel.chain |= !result->carried;
  if (walk->kernel.least_rows < SHORT_ROWS || (!result->carried && !result->resident))
    walk->kernel.spilled_elements +=
        (double)mirage_type_elements(mirage_ugraph_type(walk->block->graph, node->first_result)) * times;
}

// Results that are used within the iteration that makes them, and what of them and others goes by shared memory.
static void note_value(PlanWalk *walk, const MirageNodeView *node, bool looped, double times) {
  const BlockValue *result = value_of(walk, node->first_result);
  const MirageType *type = mirage_ugraph_type(walk->block->graph, node->first_result);
  MirageOpKind kind = kind_of(node->op);
  if (is_product(node->op))
    note_product(walk, node, looped, times);
  if (kind == MIRAGE_KIND_REDUCE && !walk->block->items.on && !mirage__block_in_cells(walk->block, node->operands[0])) {
    double elements = (double)mirage_type_elements(operand_type(walk, node, 0)) * times;
    walk->kernel.reduced_elements += elements;
    walk->kernel.reduced_outside += looped ? 0 : elements;
  }
  if (!looped) {
    mirage__cost_outside(&walk->kernel, node->op);
    return;
  }
  bool step = is_product(node->op) || kind == MIRAGE_KIND_REDUCE || kind == MIRAGE_KIND_COLLECTIVE;
  walk->steps += step;
  if (result->shared && mirage__cost_is_long(type))
    walk->kernel.stored_elements += (double)mirage_type_elements(type) * times;
}

// Where a mask hides nothing, nobody asks it.
static bool is_asked_of_masks(const MirageUGraph *graph, const MirageNodeView *node) {
  return node->op == MIRAGE_OP_MASK ||
         (node->num_results == 1 && mirage_op_info(node->op)->kind == MIRAGE_KIND_BINARY &&
          mirage_ugraph_type(graph, node->first_result)->dtype == MIRAGE_I1);
}

static void add_step(PlanWalk *walk, BlockStep step) {
  if (!step.node.index)
    return;
  MirageNodeView node = mirage_ugraph_node(walk->block->graph, step.node);
  bool looped = step.loop >= 0;
  double times = walk->kernel.blocks;
  if (looped)
    times *= (double)walk->block->loops[step.loop].trips * mirage__block_share(walk->block, step.loop);
  if (looped && is_asked_of_masks(walk->block->graph, &node))
    times *= 1 - mirage__block_certain_share(walk->block, step.loop);
  if (node.op == MIRAGE_OP_LOOP) {
    add_loop(walk, step.node, walk->kernel.blocks);
  } else if (node.op == MIRAGE_OP_LOAD) {
    add_load(walk, &node, looped, times);
  } else if (node.op == MIRAGE_OP_STORE) {
    add_store(walk, &node, times);
  } else if (kind_of(node.op) == MIRAGE_KIND_COLLECTIVE) {
    add_collective(walk, &node);
  } else if (node.op != MIRAGE_OP_THREAD && kind_of(node.op) != MIRAGE_KIND_TERMINATOR && node.num_results == 1) {
    mirage__cost_operator(&walk->kernel, node.op, node.attrs, mirage_ugraph_type(walk->block->graph, node.first_result),
                          operand_type(walk, &node, 0), operand_type(walk, &node, 1), times);
    if (node.num_operands)
      note_value(walk, &node, looped, times);
  }
}

// ------------------------------------------------------------------------------------------------------------ kernels

// The part of an operand that is read where its loads stand in loops that leave tiles out: each block reads other tiles along the
// axes of the grid that the load names, and any along the others.
static double read_share(const Block *block, MirageValue argument) {
  double share = 0;
  MirageNodeView view;
  for (int32_t step = -1; mirage__block_next(block, &step, &view);) {
    if (view.op != MIRAGE_OP_LOAD || mirage__block_resolve(block, view.operands[0]).index != argument.index)
      continue;
    int32_t loop = block->steps[step].loop;
    double part = loop >= 0 ? mirage__block_share(block, loop) : 1;
    for (int a = 0; a < 3; a++)
      part *= view.attrs->access.grid[a] < 0 ? (double)mirage__block_custom(block)->grid[a] : 1;
    share = fmax(share, part);
  }
  return share > 0 ? fmin(1, share) : 1;
}

static void add_tensors(CostKernel *kernel, const Block *block, const MirageNodeView *node) {
  const MirageUGraph *graph = block->graph;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    bool repeated = false;
    for (uint32_t j = 0; j < i; j++)
      repeated |= node->operands[j].index == node->operands[i].index;
    if (!repeated)
      kernel->dram_bytes += (double)mirage_type_bytes(mirage_ugraph_type(graph, node->operands[i])) *
                            read_share(block, mirage_ugraph_argument(graph, block->custom, i));
  }
  for (uint32_t i = 0; i < node->num_results; i++)
    kernel->written_bytes +=
        (double)mirage_type_bytes(mirage_ugraph_type(graph, (MirageValue){node->first_result.index + i}));
  kernel->dram_bytes += kernel->written_bytes;
}

enum { TILE_REGISTERS = 128 }; // of a thread, with 256 threads and two blocks on a multiprocessor

static void add_lengths(CostKernel *kernel, const Block *block) {
  BlockLengths lengths = mirage__block_lengths(block);
  if (lengths.least == lengths.most)
    return;
  kernel->shortest = lengths.least / lengths.mean;
  kernel->longest = lengths.most / lengths.mean;
  kernel->longest_first = mirage__block_longest_first(block);
}

static bool runs_ahead(const Block *block) {
  for (int32_t l = 0; l < block->num_loops; l++)
    if (block->loops[l].ahead)
      return true;
  return false;
}

CostKernel mirage__cost_plan(const Block *block, const MirageTarget *target) {
  MirageNodeView node = mirage_ugraph_node(block->graph, block->custom);
  PlanWalk walk = {.block = block, .custom = &node.attrs->custom};
  CostKernel *kernel = &walk.kernel;
  const int64_t *grid = node.attrs->custom.grid;
  kernel->blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
  kernel->threads = 32.0 * mirage__team_warps(&block->team);
  kernel->shared_bytes = (double)mirage__block_shared_bytes(block);
  add_tensors(kernel, block, &node);
  kernel->stream = find_stream(block);
  for (int32_t s = 0; s < block->num_steps; s++)
    add_step(&walk, block->steps[s]);
  if (block->items.on)
    mirage__cost_threads(kernel, &block->items);
  add_lengths(kernel, block);
  if (mirage__masked_registers(block) > TILE_REGISTERS)
    kernel->registers = mirage__masked_registers(block);
  kernel->waits = fmax(0, walk.steps - walk.carries);
  kernel->warpgroups = walk.by_warps == 0;
  kernel->produced = mirage__has_producer(&block->team) && kernel->warpgroups && walk.products && !kernel->chain &&
                     kernel->iteration_bytes > 0;
  kernel->ahead = mirage__has_producer(&block->team) && kernel->warpgroups && kernel->chain && runs_ahead(block);
  kernel->fed = mirage__has_producer(&block->team);
  kernel->persistent = block->persistent && block->persistent < kernel->blocks;
  if (kernel->produced) {
    kernel->beside = mirage__resident_blocks(block, target);
    kernel->grouped = mirage__team_groups(&block->team) > 1;
    for (uint32_t i = 0; i < block->num_loads; i++)
      kernel->paired |= block->loads[i].multicast;
  }
  return *kernel;
}
