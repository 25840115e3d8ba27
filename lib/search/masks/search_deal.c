// search_deal.c - keys that blocks share under a mask: each block is dealt a tile an iteration, rather than a part in one piece.
//
// The search gives each block of P a part of the keys in one piece, which it walks tile by tile. A mask of positions holds for the first
// n keys, for a window of them, for those up to a query: some parts have all of these and others none, and the loop, which leaves out
// tiles where the mask holds nowhere (lib/layout/bounds.c), ends early in blocks that then wait for the others. Dealt out (`cyclic`), of any n
// keys in a row each block has n / P. The search adds up what it splits so, in any order, and the proof asks again.
//
// Example:   8192 keys, tiles of 128, 4 blocks of 16 iterations, n = 1024:    in one piece 8, 0, 0, 0 iterations, dealt out 2 each
#include "search_remask.h"

const MaskInput *mirage__remask_computed_by(const Kernel *k, const MirageNodeView *node) {
  uint32_t operand = node->op == MIRAGE_OP_LOAD ? node->operands[0].index - k->first_argument.index : UINT32_MAX;
  return operand < k->node.num_operands ? k->computed[operand] : NULL;
}

// Whether a mask's value counts along its dimension `from_end`: the last one is 1.
static bool counts_along(const Remask *r, MirageValue v, uint32_t from_end) {
  MirageNode def = mirage_ugraph_def(program_of(r), v);
  if (!def.index)
    return false;
  MirageNodeView node = mirage_ugraph_node(program_of(r), def);
  const MirageType *type = mirage_ugraph_type(program_of(r), v);
  if (node.op == MIRAGE_OP_IOTA)
    return (uint32_t)node.attrs->iota.dim + from_end == type->rank && type->shape[node.attrs->iota.dim] > 1;
  bool counts = false;
  for (uint32_t i = 0; i < node.num_operands; i++)
    counts |= counts_along(r, node.operands[i], from_end);
  return counts;
}

// How iterations walk dimension d of a cyclic access: each is a round of `part` elements, tiles for all blocks.
typedef struct Rounds {
  int64_t extent, tile, part, count; // count 0: the grid or loops alone split it
} Rounds;

static Rounds rounds_of(const Remask *r, MirageNode id, const MirageAccessAttrs *access, uint32_t d) {
  MirageNodeView node = mirage_ugraph_node(r->from, id);
  bool load = node.op == MIRAGE_OP_LOAD;
  MirageScope scope = mirage_ugraph_scope(r->from, id);
  const MirageType *tensor = mirage_ugraph_type(r->from, node.operands[load ? 0 : 1]);
  Rounds rounds = {.extent = mirage_access_extent(access, tensor, d)};
  uint8_t splits[MIRAGE_MAX_SPLITS];
  uint32_t count = mirage_access_splits(access, d, splits);
  if (count < 2 || splits[0] < 3 || splits[count - 1] >= 3)
    return rounds;
  rounds.part = rounds.tile = mirage_ugraph_type(r->from, load ? node.first_result : node.operands[0])->shape[d];
  for (uint32_t i = 1; i < count; i++)
    rounds.part *= splits[i] < 3 ? scope.grid[splits[i]] : scope.ranges[splits[i] - 3];
  rounds.count = scope.ranges[splits[0] - 3];
  return rounds;
}

// Whether rounds of whole tiles are cut by the tensor's end alone, and the last is not empty.
static bool are_whole(const Rounds *rounds) {
  return rounds->part * rounds->count >= rounds->extent && rounds->part * (rounds->count - 1) < rounds->extent;
}

// What a kernel says of dimensions that both the grid and a loop split.
typedef struct Splits {
  bool masked; // a mask's that is computed of indices along it
  bool tails;  // indices of a tail follow both, block by block
  bool empty;  // an iteration would have no tile
} Splits;

static void note_access(const Remask *r, const Kernel *k, MirageNode id, Splits *out) {
  MirageNodeView node = mirage_ugraph_node(r->from, id);
  const MaskInput *input = mirage__remask_computed_by(k, &node);
  MirageAccessAttrs access = node.attrs->access;
  access.cyclic = true;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++) {
    Rounds rounds = rounds_of(r, id, &access, d);
    out->empty |= rounds.count && access.tiles[d] && !are_whole(&rounds);
    out->masked |= rounds.count && input && counts_along(r, input->of, input->type.rank - d);
  }
}

static void note_region(const Remask *r, const Kernel *k, MirageRegion region, Splits *out) {
  MirageRegionView view = mirage_ugraph_region(r->from, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(r->from, view.nodes[i]);
    if (node.op == MIRAGE_OP_LOOP)
      note_region(r, k, node.region, out);
    if (mirage_op_info(node.op)->kind == MIRAGE_KIND_ACCESS)
      note_access(r, k, view.nodes[i], out);
    for (uint32_t a = 0; a < 3 && node.op == MIRAGE_OP_IOTA; a++)
      for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
        out->tails |= node.attrs->iota.grid[a] && node.attrs->iota.loop[l];
  }
}

bool mirage__remask_is_dealt(const Remask *r, const Kernel *k) {
  Splits splits = {0};
  note_region(r, k, k->node.region, &splits);
  return splits.masked && !splits.tails && !splits.empty;
}

// Tiles that do not come out even are whole ones where they can be: by division each round would have an end of its own.
MirageAccessAttrs mirage__remask_access(const Remask *r, const Kernel *k, MirageNode id) {
  MirageAccessAttrs access = mirage_ugraph_node(r->from, id).attrs->access;
  access.cyclic = k->cyclic && mirage_access_may_cycle(&access);
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK && access.cyclic; d++) {
    Rounds rounds = rounds_of(r, id, &access, d);
    if (rounds.count && rounds.part * rounds.count != rounds.extent && are_whole(&rounds))
      access.tiles[d] = rounds.tile;
  }
  return access;
}
