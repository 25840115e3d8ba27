// direct_turns.c - blocks that stream rows of weights and take several tiles in turn.
//
// Activations that are prepared in shared memory (direct_rows.c) are the same for all tiles. A block that goes on with the next tile
// prepares them once, and asks for the next tile's first steps before it sums what its warps have and stores: device memory is not
// idle meanwhile (H100, a norm and rows of 4096 bf16 for 14,336 outputs and eight rows of activations: 47.9 us, 43.2 in turn).
//
// Where activations come with the weights nothing is saved, and registers are lost that a second block on the multiprocessor could
// have (5 x 2560 x 9728, columns in tiles of 32: 18.6 us, 22.1 in turn).
#include "plan.h"

bool mirage__streams_alone(const Block *block) {
  return block->num_loops == 1 && block->loops[0].direct && !block->loops[0].side && block->num_meetings == 0 &&
         mirage__block_cluster(block) == 1;
}

typedef struct GridReader {
  const Block *block;
  bool found; // a load that differs from block to block
} GridReader;

static void find_grid(void *user, MirageValue leaf) {
  GridReader *reader = user;
  if (mirage__block_op(reader->block, leaf) == MIRAGE_OP_LOAD)
    reader->found |= mirage__direct_of_grid(reader->block, leaf);
}

// Whether what is prepared for all steps is the same in all tiles.
static bool prepares_once(const Block *block, const DirectLoop *direct) {
  GridReader reader = {block, false};
  for (uint32_t g = 0; g < direct->num_groups; g++)
    mirage__block_leaves(block, direct->groups[g].activation, find_grid, &reader);
  for (uint32_t r = 0; r < direct->num_reductions; r++)
    mirage__block_leaves(block, direct->reductions[r].operand, find_grid, &reader);
  return !reader.found;
}

const char *mirage__stream_turns_reason(const Block *block) {
  DirectLoop direct;
  for (int32_t s = 0; s < block->loops[0].begin; s++) {
    MirageNode node = block->steps[s].node;
    MirageNodeView view = mirage_ugraph_node(block->graph, node);
    if (node.index && view.num_results && block->values[mirage__block_resolve(block, view.first_result).index].shared)
      return "threads write to shared memory before the loop";
  }
  if (!mirage__direct_loop(block, 0, DIRECT_WHOLE, &direct) || !direct.prepared)
    return "its weights come with their activations, and blocks of small tiles stand beside each other";
  return prepares_once(block, &direct) ? NULL : "tiles have activations of their own";
}
