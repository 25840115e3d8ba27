// items.c - row-wise block graphs whose tiles stay in the threads that load them.
//
// A block graph without loops and products that reduces rows of one shape [.., n], and computes element by element
// around the reductions - a norm, a softmax, a residual update - needs no tile in shared memory: every thread keeps the
// same columns of every row for the whole block, so each value lives in the registers of the thread that uses it next.
// A reduction then costs its shuffles, one word of shared memory a warp and row, and one barrier.
//
// Chosen where that fits the registers: few rows, and few pieces of up to 8 columns a thread. A reduction's result is
// known where its rows are, so nothing that is computed from one may be moved elsewhere: reshaped, transposed, cut.
#include "plan.h"

enum { MOST_ROWS = 8, REGISTERS = 96, MOST_REMEMBERED = 192 };

// One element a row, or one for all.
static bool is_narrow(const MirageType *type) { return type->rank == 0 || type->shape[type->rank - 1] == 1; }

static bool reduces_rows(const Plan *plan, const MirageNodeView *view, const MirageType **shape) {
  const MirageType *in = mirage_ugraph_type(plan->graph, view->operands[0]);
  const MirageType *out = mirage_ugraph_type(plan->graph, view->first_result);
  if (view->attrs->reduce.dim != (int32_t)in->rank - 1 || !is_narrow(out) ||
      (*shape && !mirage_type_same_shape(*shape, in)))
    return false;
  *shape = in;
  return true;
}

static bool is_movement(MirageOp op) {
  return mirage_op_info(op)->kind == MIRAGE_KIND_SHAPE && op != MIRAGE_OP_BROADCAST;
}

// Whether a step reads what reductions before it computed; `reduced` says so of each value, and learns of its results.
static bool reads_reduction(const Plan *plan, const MirageNodeView *view, bool *reduced) {
  bool reads = false;
  for (uint32_t o = 0; o < view->num_operands; o++)
    reads |= reduced[mirage__block_resolve(&plan->block, view->operands[o]).index];
  for (uint32_t r = 0; r < view->num_results; r++)
    reduced[view->first_result.index + r] = reads || mirage_op_info(view->op)->kind == MIRAGE_KIND_REDUCE;
  return reads;
}

static bool step_fits(Plan *plan, MirageNode node, const MirageType **shape, bool *reduced) {
  MirageNodeView view = mirage_ugraph_node(plan->graph, node);
  if (reads_reduction(plan, &view, reduced) && is_movement(view.op))
    return false;
  switch (view.op) {
  case MIRAGE_OP_THREAD:
  case MIRAGE_OP_YIELD:
  case MIRAGE_OP_STORE: // its tile is checked when the shape is known
    return true;
  case MIRAGE_OP_LOAD:
    return !plan->block.values[view.first_result.index].shared &&
           mirage__block_load(&plan->block, view.first_result)->by <= BY_READER;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
  case MIRAGE_OP_REDUCE_MEAN:
    return reduces_rows(plan, &view, shape);
  default:
    return mirage__block_can_inline(view.op) && !plan->block.values[view.first_result.index].shared;
  }
}

static bool store_fits(const Plan *plan, const MirageNodeView *view, const MirageType *shape) {
  const MirageType *tile = mirage_ugraph_type(plan->graph, view->operands[0]);
  for (int a = 0; a < 3; a++) // blocks that hold the same tile would share the work of storing it
    if (view->attrs->access.grid[a] < 0 && mirage__block_custom(&plan->block)->grid[a] > 1)
      return false;
  return mirage_type_same_shape(tile, shape) || (is_narrow(tile) && tile->rank == shape->rank);
}

// Two pieces a thread: on the H200 rows of 4096 take 1.93 us with 8 warps, 2.00 with 16, 3.31 with 4, 2.43 with 32
// (64 rows: 2.18, 2.27, 3.45, 2.61).
static int32_t choose_warps(int64_t columns) {
  int32_t warps = 4;
  while (warps < 16 && columns > (int64_t)warps * 32 * 16)
    warps *= 2;
  return warps;
}

// The shape of the rows that the block reduces; NULL when its steps do not fit.
static const MirageType *common_shape(Plan *plan, const char **out_why) {
  const Block *block = &plan->block;
  bool *reduced = mirage_arena_alloc_array(block->arena, mirage_ugraph_num_values(plan->graph) + 1, sizeof *reduced);
  const MirageType *shape = NULL;
  MirageNodeView view;
  *out_why = !reduced ? "memory is short" : block->num_loops ? "it has a loop" : NULL;
  for (int32_t s = -1; !*out_why && mirage__block_next(block, &s, &view);)
    if (!step_fits(plan, block->steps[s].node, &shape, reduced))
      *out_why = mirage__plan_say(plan, "%s does not keep to columns, or is asked for elsewhere",
                                  mirage_op_info(view.op)->mnemonic);
  if (!shape && !*out_why)
    *out_why = "no rows are reduced";
  return *out_why ? NULL : shape;
}

MirageStatus mirage__plan_items(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  const MirageType *shape = common_shape(plan, out_why);
  if (!shape)
    return MIRAGE_OK;
  int64_t columns = shape->shape[shape->rank - 1], rows = mirage_type_elements(shape) / columns, wide = 1;
  int32_t given = mirage__team_warps(&block->team), warps = given ? given : choose_warps(columns);
  int64_t threads = (int64_t)warps * 32;
  uint32_t width = 8; // as wide as leaves no thread idle
  while (columns % width || (width > 1 && columns / width < threads))
    width /= 2;
  int64_t pieces = (columns / width + threads - 1) / threads;
  for (int32_t s = 0; s < block->num_steps; s++) {
    MirageNodeView view = mirage_ugraph_node(plan->graph, block->steps[s].node);
    if (view.op == MIRAGE_OP_STORE && !store_fits(plan, &view, shape))
      *out_why = "a store is not of such rows, or blocks share it";
    wide += view.op == MIRAGE_OP_LOAD && !is_narrow(mirage_ugraph_type(plan->graph, view.first_result));
  }
  if (rows > MOST_ROWS || rows * pieces * width * wide > REGISTERS ||
      rows * pieces * block->num_steps > MOST_REMEMBERED)
    *out_why = mirage__plan_say(plan, "%lld rows of %lld columns are too many for the registers of %d warps",
                                (long long)rows, (long long)columns, warps);
  if (*out_why)
    return MIRAGE_OK;
  mirage__team_set_warps(&block->team, warps);
  block->items =
      (ThreadRows){.on = true, .rows = (int32_t)rows, .pieces = (int32_t)pieces, .width = width, .shape = *shape};
  for (uint32_t i = 0; i < block->num_loads; i++)
    block->loads[i].by = BY_READER;
  return MIRAGE_OK;
}
