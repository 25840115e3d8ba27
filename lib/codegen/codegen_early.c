// codegen_early.c - what a kernel does while the one before it still runs.
//
// Where a program's kernel starts early (schedule: `start`), its blocks are there as soon as all blocks of the one before have begun and leave
// room, and wait for the end of that one before they read what it wrote, or write anything. Meanwhile they ask L2 for
// the first bytes that they are going to read of the program's inputs - weights, mostly. Nothing depends on when these arrive, or
// on whether they do.
//
//     launch_dependents   where the next kernel starts early (starts.h: or behind the wait)
//     prefetch            lines of this block's first tiles, if it is one of those that find room at once
//     wait                for the kernel before, and so for those before it: they ended when it did
//
// Blocks that begin when others have ended ask for nothing: there is no wait left, and each line would be asked for twice
// (measured: a product by 14336 blocks of a row each took 12 % longer).
//
// A program's first kernel starts when everything before the program has ended. So inputs of the program are complete for all of
// its kernels, and are read as if nobody ever wrote them; so is what kernels computed that have ended for certain. A kernel
// that reads nothing else works beside the one before, and waits when it stores: that one may still read what lay there.
#include "emit.h"

#include <string.h>

enum { EARLY_BYTES = 32 << 10 }; // of a multiprocessor: more of them would still be on their way when the wait is over

bool mirage__is_awaited(const Emit *e, uint32_t index) {
  MirageNodeView custom = mirage_ugraph_node(e->block.graph, e->block.custom);
  return e->start.kernel.early && (index >= custom.num_operands || e->start.pending[index]);
}

// The first iterations of all loops but the innermost ones, of the block's first tile.
static void begin_there(Emit *e, LLVMValueRef zero) {
  for (int32_t l = 0; l < e->block.num_loops; l++)
    e->loops[l].iteration = zero;
  if (zero && e->block.persistent)
    mirage__place_first_tile(e);
}

static LLVMValueRef begins_among(Emit *e, int64_t first) {
  int64_t grid[3];
  mirage_custom_launch_grid(mirage__block_custom(&e->block), grid);
  return LLVMBuildICmp(e->gpu.builder, LLVMIntSLT, mirage__block_number(e, e->launched, grid), gpu_i32(&e->gpu, first),
                       "");
}

static void prefetch(Emit *e) {
  const BlockLoad *loads[MIRAGE_MAX_LOADS];
  uint32_t count = 0;
  int64_t once = 0, blocks = mirage__resident_blocks(&e->block, e->target), slots = blocks * e->target->num_sms;
  for (uint32_t i = 0; i < e->block.num_loads; i++) {
    const BlockLoad *load = &e->block.loads[i];
    MirageValue tensor = mirage_ugraph_node(e->block.graph, load->node).operands[0];
    if (mirage__is_awaited(e, mirage__pointer_of(e, tensor)))
      continue;
    loads[count++] = load;
    once += mirage__tile_lines(e, load);
  }
  if (count == 0)
    return;
  LLVMValueRef block_id[3];
  LLVMBasicBlockRef join = NULL;
  if (!e->block.persistent && mirage__block_grid(&e->block) > (double)slots)
    join = mirage__begin_if(e, begins_among(e, slots));
  memcpy(block_id, e->block_id, sizeof block_id);
  begin_there(e, gpu_i32(&e->gpu, 0));
  for (uint32_t i = 0; i < count; i++)
    mirage__prefetch_tiles(e, loads[i], EARLY_BYTES / MIRAGE_LINE_BYTES / blocks / once);
  begin_there(e, NULL);
  memcpy(e->block_id, block_id, sizeof block_id);
  if (join)
    mirage__end_if(e, join);
}

// Whether all that it reads is there: then it does its work beside the kernel before, and waits before it stores. Kernels share a
// workspace, though, and rows and elements are stored as they come.
static bool waits_to_store(const Emit *e) {
  return e->start.kernel.needs <= e->start.kernel.settled && e->workspace_bytes == 0 && !e->block.items.on;
}

static void wait(Emit *e) {
  GPU0(&e->gpu, GRID_WAIT);
  if (e->start.kernel.after_wait)
    GPU0(&e->gpu, GRID_LAUNCH_DEPENDENTS);
}

void mirage__start_early(Emit *e) {
  if (e->start.kernel.lets_next && !e->start.kernel.after_wait)
    GPU0(&e->gpu, GRID_LAUNCH_DEPENDENTS);
  if (!e->start.kernel.early || waits_to_store(e))
    return;
  if (!e->side_blocks) // which have no place in the grid
    prefetch(e);
  wait(e);
}

void mirage__wait_to_store(Emit *e) {
  if (e->start.kernel.early && waits_to_store(e))
    wait(e);
}
