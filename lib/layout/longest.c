// longest.c - in which order blocks of unequal lengths begin.
//
// Where loops leave out masked tiles, blocks run different numbers of iterations. A GPU begins blocks in the order of their
// numbers, each where there is room. If a long one begins last, all others wait for it; so the longest begin first, and the
// short ones fill what is left: the first rule of list scheduling [Graham 1969].
//
// Example:   key <= query, grid [32, 16]: block x of the first axis runs x + 1 iterations. In the order of their numbers
//            the last blocks are 1, 2, .. 32 iterations of head 15; longest first they are those with 1 of all heads.
#include "plan.h"

#include <math.h>
#include <stdlib.h>

// Iterations that the loops of the block at this place run.
static int64_t length_at(const Block *block, const int64_t at[3]) {
  int64_t length = 0;
  for (int32_t l = 0; l < block->num_loops; l++) {
    int64_t first = 0, end = block->loops[l].range;
    if (block->loops[l].skips)
      mirage__block_turns(&block->loops[l], at, &first, &end);
    length += end - first;
  }
  return length;
}

int mirage__block_longest_axis(const Block *block, bool *out_reversed) {
  const int64_t *grid = mirage__block_custom(block)->grid;
  int64_t most = 0;
  int axis = -1;
  for (int a = 0; a < 3; a++) {
    int64_t at[3] = {0}, begin = length_at(block, at);
    at[a] = grid[a] - 1;
    int64_t more = length_at(block, at) - begin;
    if (llabs(more) <= most)
      continue;
    most = llabs(more);
    axis = a;
    *out_reversed = more > 0;
  }
  return axis;
}

BlockLengths mirage__block_lengths(const Block *block) {
  bool reversed;
  int axis = mirage__block_longest_axis(block, &reversed);
  int64_t count = axis < 0 ? 1 : mirage__block_custom(block)->grid[axis];
  BlockLengths lengths = {.least = INFINITY};
  for (int64_t i = 0; i < count; i++) {
    int64_t at[3] = {0};
    if (axis >= 0)
      at[axis] = i;
    double length = (double)length_at(block, at);
    lengths.least = fmin(lengths.least, length);
    lengths.most = fmax(lengths.most, length);
    lengths.mean += length / (double)count;
  }
  return lengths;
}

bool mirage__block_groups_tiles(const Block *block) { return block->tile_order == MIRAGE_ORDER_GROUPED; }

bool mirage__block_longest_first(const Block *block) { return block->tile_order == MIRAGE_ORDER_LONGEST; }

MirageStatus mirage__plan_order(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  bool reversed, asked = block->tile_order == MIRAGE_ORDER_LONGEST;
  if (mirage__block_longest_axis(block, &reversed) < 0)
    *out_why = "all blocks run as many iterations";
  else if (block->tile_order != MIRAGE_ORDER_AUTO && !asked)
    *out_why = "another order is asked for";
  else if (!asked && mirage__block_grid(block) <= plan->target->num_sms)
    *out_why = "all blocks begin at once";
  if (*out_why && asked)
    mirage_diag_emit(plan->diag, MIRAGE_SEVERITY_REMARK, plan->loc, "layout: no block is the longest: %s", *out_why);
  if (!*out_why || asked)
    block->tile_order = *out_why ? MIRAGE_ORDER_AUTO : MIRAGE_ORDER_LONGEST;
  return MIRAGE_OK;
}
