// codegen_early.c - what a kernel does while the one before it still runs.
//
// A kernel that starts early (lib/layout/early.c) is there as soon as all blocks of the one before have begun and leave room, and waits for
// the end of that one before it reads what it wrote, or writes anything. Meanwhile its blocks ask L2 for the first bytes that they are
// going to read of the program's inputs - weights, mostly. Nothing depends on when these arrive, or on whether they do: L2 is
// where all multiprocessors see the same, so that a line may even be written after it was asked for.
//
//     launch_dependents   where the next kernel starts early (starts.h: or behind the wait)
//     prefetch            lines of this block's first tiles, if it is one of those that find room at once
//     wait                for the kernel before, and so for those before it: they ended when it did
//
// Blocks that begin when others have ended ask for nothing: there is no wait left, and each line would be asked for twice
// (measured: a product by 14336 blocks of a row each took 12 % longer).
//
// The one before a program's first kernel is whatever the stream has: another call of this program, or a kernel of somebody else that
// writes its inputs. So the first kernel reads nothing before its wait, and lets the next one start behind it. Inputs are complete
// for all kernels but the first, and are read as if nobody ever wrote them; so is what kernels computed that have ended for certain. What
// is complete behind the wait alone is read by way of addresses that are known from there on (BEHIND): loads of it may be moved,
// but not ahead of the wait, and do not use the path that memory must be constant for (.nc). A kernel that reads nothing else works beside
// the one before, and waits when it stores: that one may still read what lay there.
//
// Example, two calls of y = x w, a kernel each: blocks of the second find room as those of the first end, ask for w, and wait. 0.8 us pass
// between the end of the first and the end of the wait, in which L2 gets 4 MB.
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

static int64_t launched_blocks(const Emit *e) {
  int64_t grid[3];
  mirage_custom_launch_grid(mirage__block_custom(&e->block), grid);
  return grid[0] * grid[1] * grid[2];
}

// Whether the block has tiles of the grid, and finds room at once.
static LLVMValueRef asks(Emit *e, int64_t slots) {
  LLVMValueRef yes = NULL;
  int64_t grid[3];
  mirage_custom_launch_grid(mirage__block_custom(&e->block), grid);
  if (e->side_blocks)
    yes = LLVMBuildNot(e->gpu.builder, mirage__less_than(e, e->side_id, e->side_blocks), "");
  if (!e->block.persistent && launched_blocks(e) > slots)
    yes = mirage__and(e, yes, mirage__less_than(e, mirage__block_number(e, e->launched, grid), slots));
  return yes;
}

// Worth asking for: of the program's inputs - or of the first kernel's, which may not have been written yet, but are about to be read -
// and not what all blocks read, which one of them soon brings.
static bool is_prefetched(const Emit *e, const BlockLoad *load) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, load->node);
  const int64_t *grid = mirage__block_custom(&e->block)->grid;
  bool shared = mirage__block_grid(&e->block) > 1;
  for (int a = 0; a < 3; a++)
    shared &= view.attrs->access.grid[a] < 0 || grid[a] == 1;
  return !shared && (e->start.kernel.settled == 0 || !mirage__is_awaited(e, mirage__pointer_of(e, view.operands[0])));
}

static void prefetch(Emit *e) {
  const BlockLoad *loads[MIRAGE_MAX_LOADS];
  uint32_t count = 0;
  int64_t bytes = 0, sms = e->target->num_sms, blocks = launched_blocks(e);
  int64_t slots = mirage__resident_blocks(&e->block, e->target) * sms;
  int64_t share = ((blocks < slots ? blocks : slots) + sms - 1) / sms; // of a multiprocessor, that ask
  for (uint32_t i = 0; i < e->block.num_loads; i++) {
    const BlockLoad *load = &e->block.loads[i];
    if (!is_prefetched(e, load))
      continue;
    loads[count++] = load;
    bytes += mirage__tile_lines(e, load) * mirage__tile_line_bytes(e, load);
  }
  if (count == 0)
    return;
  LLVMValueRef block_id[3];
  LLVMBasicBlockRef join = mirage__begin_if(e, asks(e, slots));
  memcpy(block_id, e->block_id, sizeof block_id);
  begin_there(e, gpu_i32(&e->gpu, 0));
  for (uint32_t i = 0; i < count; i++)
    mirage__prefetch_tiles(e, loads[i], EARLY_BYTES * mirage__tile_lines(e, loads[i]) / share / bytes);
  begin_there(e, NULL);
  memcpy(e->block_id, block_id, sizeof block_id);
  mirage__end_if(e, join);
}

// Whether all that it reads is there: then it does its work beside the kernel before, and waits before it stores. Kernels share a
// workspace, though, and rows and elements are stored as they come.
static bool waits_to_store(const Emit *e) {
  return e->start.kernel.needs <= e->start.kernel.settled && e->workspace_bytes == 0 && !e->block.items.on;
}

static void wait(Emit *e) {
  MirageNodeView custom = mirage_ugraph_node(e->block.graph, e->block.custom);
  LLVMValueRef *tensors = e->tensors + mirage_ugraph_region(e->block.graph, custom.region).first_argument.index;
  GPU0(&e->gpu, GRID_WAIT);
  if (e->start.kernel.after_wait)
    GPU0(&e->gpu, GRID_LAUNCH_DEPENDENTS);
  for (uint32_t i = 0; i < custom.num_operands; i++)
    if (mirage__is_awaited(e, i))
      tensors[i] = GPU(&e->gpu, BEHIND, tensors[i]);
}

void mirage__start_early(Emit *e) {
  if (e->start.kernel.lets_next && !e->start.kernel.after_wait)
    GPU0(&e->gpu, GRID_LAUNCH_DEPENDENTS);
  if (!e->start.kernel.early || waits_to_store(e))
    return;
  prefetch(e);
  wait(e);
}

void mirage__wait_to_store(Emit *e) {
  if (e->start.kernel.early && waits_to_store(e))
    wait(e);
}
