// staging.c - stores of resident tiles to rows that no lane can write in wide pieces.
//
// A lane holds two neighbours of a row, and eight rows meet in an instruction. Where a tensor's rows are no multiple of
// 8 bytes apart, each of its elements is written on its own, 8 sectors of L2 in an instruction for 64 bytes. Such a
// store passes through a little shared memory of each warp (codegen_staged.c), so that the lanes stand side by side in
// a row, for it and for what is loaded where it is computed: two or three sectors.
//
// Example: 4096 x 4097 in f16.
#include "plan.h"

enum { ALIGNED_ROWS = 8 };

// The one resident value of which `value` is computed, element by element; false where it takes more.
static bool find_cells(const Block *block, MirageValue value, MirageValue *found) {
  value = mirage__block_resolve(block, value);
  const BlockValue *v = &block->values[value.index];
  if (v->resident) {
    bool same = !found->index || found->index == value.index;
    *found = value;
    return same && block->types[value.index].shape[block->types[value.index].rank - 1] > 1;
  }
  if (v->shared || !v->def.index || v->meeting >= 0)
    return v->shared;
  MirageNodeView def = mirage_ugraph_node(block->graph, v->def);
  MirageValue sum = mirage__block_added(block, &def); // with what is added to it
  if (sum.index)
    return find_cells(block, sum, found);
  for (uint32_t i = 0; mirage__block_can_inline(def.op) && i < def.num_operands; i++)
    if (!find_cells(block, def.operands[i], found))
      return false;
  return mirage__block_can_inline(def.op) || def.op == MIRAGE_OP_LOAD;
}

MirageValue mirage__block_staged(const Block *block, const MirageNodeView *store) {
  MirageValue from = mirage__block_resolve(block, store->operands[0]), found = {0};
  const MirageType *tensor = &block->types[mirage__block_resolve(block, store->operands[1]).index];
  if (tensor->rank < 2 || !mirage__block_in_cells(block, from) ||
      block->types[from.index].shape[block->types[from.index].rank - 1] == 1 ||
      tensor->shape[tensor->rank - 1] * mirage_dtype_bits(tensor->dtype) / 8 % ALIGNED_ROWS == 0)
    return (MirageValue){0};
  return find_cells(block, from, &found) ? found : (MirageValue){0};
}

int64_t mirage__block_staging_bytes(const Block *block) {
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    if (view.op == MIRAGE_OP_STORE && mirage__block_staged(block, &view).index)
      return (int64_t)mirage__team_workers(&block->team) * mirage__team_groups(&block->team) * STAGED_ROWS *
             STAGED_PITCH * 4;
  return 0;
}
