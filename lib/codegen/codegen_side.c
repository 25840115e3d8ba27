// codegen_side.c - blocks that compute for all others what does not depend on the grid.
//
// The first blocks of the launch are side blocks: they share the iterations of a direct loop (lib/layout/direct.c), for
// those of its products that are the same in every block, and leave their partial sums in the workspace. The blocks of
// the grid run the loop without them and wait only when they need the sums, after it.
//
// Workspace: a counter among those of the meetings (codegen_grid.c), then one slot for each side block. The counter
//            goes up once for each side block that has written its slot and once for each block that has seen all of
//            them; the last of these steps takes it back to zero (an increment that wraps).
// Residence: side blocks wait for nobody, and all blocks are resident at once (the planner sees to both), so nobody
//            waits in vain.
#include "emit.h"

enum { SLOT_ALIGNMENT = 16 };

static int64_t blocks_of_grid(const Emit *e) { return mirage__block_custom(&e->block)->grid[0]; }

// The sums that side blocks hand over: results of their loop.
static const Channel *side_channel(const Emit *e) {
  const Channel *channel = e->block.channels;
  while (channel->place != PLACE_DEVICE || channel->from == channel->to)
    channel++;
  return channel;
}

// Bytes of the results of carries [0, count) in a slot.
static int64_t slot_bytes(const Emit *e, uint32_t count) {
  const Channel *sums = side_channel(e);
  int64_t bytes = 0;
  for (uint32_t i = 0; i < sums->num_values; i++)
    bytes += e->block.values[sums->values[i].index].index < count
                 ? mirage_type_elements(emit_type(e, sums->values[i])) * 4
                 : 0;
  return (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

void mirage__prepare_side(Emit *e) {
  if (!e->side_blocks)
    return;
  e->side_counter = e->num_counters++ * 4;
  if (e->workspace_bytes == 0)
    e->workspace_bytes = MIRAGE_WORKSPACE_COUNTERS;
  e->side_slots = e->workspace_bytes;
  e->workspace_bytes += slot_bytes(e, UINT32_MAX) * e->side_blocks;
}

LLVMValueRef mirage__side_slot(Emit *e, uint32_t carry, LLVMValueRef block, LLVMValueRef item) {
  LLVMValueRef offset = mirage__mul(e, block, slot_bytes(e, UINT32_MAX));
  offset = mirage__add(e, offset, mirage__mul(e, item, 4));
  return mirage__at(e, e->workspace, mirage__add(e, offset, gpu_i32(&e->gpu, e->side_slots + slot_bytes(e, carry))));
}

// A side block has written all its slots.
static void publish(Emit *e) {
  mirage__barrier(e);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->thread, 0));
  GPU(&e->gpu, RED_RELEASE, mirage__at(e, e->workspace, gpu_i32(&e->gpu, e->side_counter)), gpu_i32(&e->gpu, 1));
  mirage__end_if(e, join);
}

// The barrier that follows spreads what the first thread has seen to all.
void mirage__side_wait(Emit *e) {
  LLVMValueRef counter = mirage__at(e, e->workspace, gpu_i32(&e->gpu, e->side_counter));
  int64_t steps = e->side_blocks + blocks_of_grid(e);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->thread, 0));
  LLVMBasicBlockRef spin = mirage__begin_spin(e);
  LLVMValueRef count = GPU(&e->gpu, LD_ACQUIRE, counter);
  mirage__end_spin(e, spin, mirage__less_than(e, count, e->side_blocks));
  GPU(&e->gpu, RED_INC, counter, gpu_i32(&e->gpu, steps - 1));
  mirage__end_if(e, join);
}

void mirage__emit_side_blocks(Emit *e) {
  LLVMBasicBlockRef side = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "side");
  LLVMBasicBlockRef grid = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "grid");
  LLVMBuildCondBr(e->gpu.builder, mirage__less_than(e, e->side_id, e->side_blocks), side, grid);
  LLVMPositionBuilderAtEnd(e->gpu.builder, side);
  int32_t loop = mirage__block_find_loop(&e->block, e->block.values[side_channel(e)->values[0].index].def);
  int64_t share = e->block.loops[loop].range / e->side_blocks;
  mirage__emit_side_loop(e, loop, mirage__mul(e, e->side_id, share), share);
  publish(e);
  LLVMBuildRetVoid(e->gpu.builder);
  LLVMPositionBuilderAtEnd(e->gpu.builder, grid);
  mirage__forget_hazards(e);
  mirage__forget_elements(e);
}
