// items.c - row-wise block graphs whose tiles stay in the threads that load them.
//
// A block graph without loops and products, which reduces the rows of one shape [.., n] and computes element by element
// between the reductions - a norm, a softmax, a residual update - needs no tile in shared memory: when every thread keeps
// the same columns of every row for the whole block, each value lives in the registers of the thread that uses it next.
// A reduction then costs its shuffles, one word of shared memory a warp, and one barrier.
//
// Chosen where the rows fit: few of them, and few enough pieces of 8 columns a thread.
#include "plan.h"

enum { MOST_ROWS = 8, MOST_PIECES = 4, REGISTERS = 96 };

static bool same_shape(const MirageType *a, const MirageType *b) { return mirage_type_same_shape(a, b); }

// One element a row, or one for all.
static bool is_narrow(const MirageType *type) { return type->rank == 0 || type->shape[type->rank - 1] == 1; }

static bool step_fits(const Plan *plan, MirageNode node, const MirageType **shape) {
  const Block *block = &plan->block;
  MirageNodeView view = mirage_ugraph_node(block->graph, node);
  if (view.op == MIRAGE_OP_THREAD || view.op == MIRAGE_OP_YIELD)
    return true;
  if (view.op == MIRAGE_OP_STORE)
    return true; // its tile is checked when the shape is known
  if (view.num_results != 1 || block->values[view.first_result.index].shared)
    return false;
  if (view.op == MIRAGE_OP_LOAD)
    return mirage__load_schedule((Plan *)plan, node)->landing <= MIRAGE_LANDING_REGISTER;
  if (mirage_op_info(view.op)->kind != MIRAGE_KIND_REDUCE)
    return mirage__block_can_inline(view.op);
  const MirageType *in = mirage_ugraph_type(block->graph, view.operands[0]);
  const MirageType *out = mirage_ugraph_type(block->graph, view.first_result);
  bool rows = view.attrs->reduce.dim == (int32_t)in->rank - 1 && is_narrow(out);
  if (!rows || (*shape && !same_shape(*shape, in)))
    return false;
  *shape = in;
  return true;
}
