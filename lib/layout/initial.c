// initial.c - sums of products that begin with what would be added to them.
//
//     y = x w + r       the accumulators of x w begin with r instead of 0
//     y = x w + t b     those of x w go on where the loop of t b, which stands before it, has left them
//
// At the end of a tile r would be waited for, piece by piece, since the accumulators leave no registers to read ahead into.
// At its beginning they are free, and where warpgroups take tiles in turn another one multiplies meanwhile. And two products
// need no more registers than one.
#include "block.h"

// The addition that is all that becomes of a value outside loops, and which of its operands the value is; false: there is none.
static bool find_addition(const Block *block, MirageValue value, MirageNodeView *out_add, uint32_t *out_operand) {
  MirageNodeView view;
  for (int32_t s = -1; block->values[value.index].num_uses == 1 && mirage__block_next(block, &s, &view);)
    for (uint32_t i = 0; block->steps[s].loop < 0 && view.op == MIRAGE_OP_ADD && i < 2; i++)
      if (mirage__block_resolve(block, view.operands[i]).index == value.index) {
        *out_add = view;
        *out_operand = i;
        return true;
      }
  return false;
}

static bool begins_with_zero(const Block *block, MirageValue init) {
  init = mirage__block_resolve(block, init);
  return mirage__block_op(block, init) == MIRAGE_OP_CONSTANT &&
         mirage__block_def(block, init).attrs->constant.value == 0;
}

// A tile that is read straight from device memory.
static bool is_read(const Block *block, MirageValue value) {
  const BlockLoad *load = mirage__block_load(block, value);
  return load && load->loop < 0 && load->by == BY_READER;
}

// Sums of products of a loop before `loop`, in the same registers, of which nobody else wants to know.
static bool is_summed_before(const Block *block, MirageValue value, MirageNode loop) {
  const BlockValue *v = &block->values[value.index];
  return mirage__block_op(block, value) == MIRAGE_OP_LOOP && v->loop < 0 && v->resident && !v->shared &&
         v->num_uses == 1 && block->step_of_node[v->def.index] < block->step_of_node[loop.index] &&
         mirage__block_carry_candidate(block, v->def, v->index) == CARRY_MATMUL;
}

MirageValue mirage__block_initial(const Block *block, MirageNode loop, uint32_t index) {
  MirageNodeView view = mirage_ugraph_node(block->graph, loop), add;
  MirageValue result = mirage_ugraph_result(block->graph, loop, index), none = {0};
  const BlockValue *sum = &block->values[result.index];
  uint32_t operand;
  if (block->loops[mirage__block_find_loop(block, loop)].parent >= 0 || !sum->resident || sum->shared ||
      view.attrs->loop.carries[index].combine != MIRAGE_COMBINE_SUM ||
      mirage__block_carry_candidate(block, loop, index) != CARRY_MATMUL ||
      !begins_with_zero(block, view.operands[index]) || !find_addition(block, result, &add, &operand))
    return none;
  MirageValue other = mirage__block_resolve(block, add.operands[1 - operand]);
  const MirageType *whole = &block->types[add.first_result.index], *type = &block->types[result.index];
  bool same = whole->rank == type->rank && whole->dtype == MIRAGE_F32 && type->dtype == MIRAGE_F32;
  for (uint32_t d = 0; same && d < type->rank; d++)
    same = whole->shape[d] == type->shape[d];
  return same && (is_read(block, other) || is_summed_before(block, other, loop)) ? other : none;
}

MirageValue mirage__block_added(const Block *block, const MirageNodeView *add) {
  for (uint32_t i = 0; add->op == MIRAGE_OP_ADD && i < 2; i++) {
    MirageValue sum = mirage__block_resolve(block, add->operands[i]);
    const BlockValue *v = &block->values[sum.index];
    if (mirage__block_op(block, sum) == MIRAGE_OP_LOOP && v->loop < 0 && v->def.index &&
        mirage__block_initial(block, v->def, v->index).index)
      return sum;
  }
  return (MirageValue){0};
}

bool mirage__block_leads(const Block *block, int32_t loop) {
  for (int32_t l = loop + 1; l < block->num_loops; l++) {
    MirageNode node = block->loops[l].node;
    for (uint32_t i = 0; i < mirage_ugraph_node(block->graph, node).num_operands; i++) {
      MirageValue initial = mirage__block_initial(block, node, i);
      if (initial.index && block->values[initial.index].def.index == block->loops[loop].node.index)
        return true;
    }
  }
  return false;
}
