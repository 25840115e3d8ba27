// codegen_maxima.c - loops that keep the maximum of their first tile (lib/layout/maxima.c), and run again where that was too small.
//
//     the maximum of the first tile, or of some of its columns, and some room
//     for all tiles:        nothing is asked for a maximum, nothing is rescaled
//     has any thread of the block a sum that reached the limit, or is no number?
//     yes:                  for all tiles, the maximum and nothing else; then from the beginning, with that one
//     no:                   what there is
//     the rest of the block, either way
//
// To take maxima and rescale while sums and scores are in registers needs more of them than two blocks leave each other; to take
// them first costs the scores once more. A loop that multiplies ahead has its multiprocessor to itself, and its first iteration stands
// apart as it is: that takes the maximum, and the second run all of them as it goes.
//
// The second run is of one section. Stages and phases of mbarriers go on in it from where the first run left
// them; a producer comes to the same question, and copies all tiles again, for each time that they are read.
#include "emit.h"

bool mirage__kept(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  KeptValue kept = e->maxima && e->maxima_turn == MAXIMA_KEPT ? (KeptValue)e->maxima->kept[value.index] : KEPT_NOT;
  if (kept == KEPT_MAXIMUM) {
    mirage__element(e, e->maxima->old, index, width, out);
    return true;
  }
  for (uint32_t i = 0; i < width && (kept == KEPT_ZERO || kept == KEPT_ONE); i++)
    out[i] = gpu_f32(&e->gpu, kept == KEPT_ONE);
  return kept == KEPT_ZERO || kept == KEPT_ONE;
}

void mirage__add_margin(Emit *e, MirageValue value, uint32_t width, LLVMValueRef *out) {
  bool first = e->maxima && e->maxima_turn == MAXIMA_RAISED && e->maxima->kept[value.index] == KEPT_MAXIMUM;
  for (uint32_t i = 0; i < width && first && e->maxima->margin > 0; i++)
    out[i] = LLVMBuildFAdd(e->gpu.builder, out[i], gpu_f32(&e->gpu, e->maxima->margin), "");
}

bool mirage__is_unread(const Emit *e, MirageValue value) {
  return e->maxima && e->maxima_turn == MAXIMA_KEPT && e->maxima->kept[value.index] == KEPT_UNREAD;
}

bool mirage__is_unsought(const Emit *e, const MirageNodeView *node) {
  return e->maxima_turn == MAXIMA_SOUGHT && node->num_results == 1 && node->op != MIRAGE_OP_THREAD &&
         !e->maxima->sought[mirage__block_resolve(&e->block, node->first_result).index];
}

bool mirage__seeks_maximum(const Emit *e, int32_t loop) { return !e->block.loops[loop].ahead; }

// --------------------------------------------------------------------------------------------------------------- again

// Negated, so that what is no number does not pass.
static LLVMValueRef has_reached(Emit *e, MirageNode loop, const BlockMaxima *maxima) {
  LLVMValueRef any = NULL, limit = gpu_f32(&e->gpu, maxima->limit);
  uint32_t carries = mirage_ugraph_node(e->block.graph, loop).num_operands;
  for (uint32_t i = 0; i < carries; i++) {
    if (!maxima->tells[i])
      continue;
    Accumulators sums = mirage__registers(e, mirage_ugraph_result(e->block.graph, loop, i));
    for (int32_t c = 0; c < sums.count; c++) {
      LLVMValueRef reached = LLVMBuildFCmp(e->gpu.builder, LLVMRealUGE, mirage__get(e, sums.cells[c]), limit, "");
      any = any ? LLVMBuildOr(e->gpu.builder, any, reached, "") : reached;
    }
  }
  return any;
}

// All threads of the block come and ask, those of producers too.
static LLVMValueRef is_any(Emit *e, LLVMValueRef value) {
  return GPU(&e->gpu, BARRIER_ANY, gpu_i32(&e->gpu, ANY_BARRIER), gpu_i32(&e->gpu, e->block_threads), value);
}

void mirage__place_again(Emit *e) {
  e->thread = GPU(&e->gpu, UNKNOWN, e->thread);
  e->lane = mirage__mod(e, e->thread, 32);
  e->warp = mirage__uniform(e, mirage__div(e, e->thread, 32));
}

Again mirage__begin_again(Emit *e, MirageNode loop, const BlockMaxima *maxima) {
  Again again = {.loop = mirage__block_find_loop(&e->block, loop),
                 .done = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "done"),
                 .otherwise = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "enough"),
                 .before = mirage__emit_array(e, 1, sizeof *again.before)};
  LLVMBasicBlockRef twice = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "again");
  LLVMValueRef reached = has_reached(e, loop, maxima);
  if (e->block.fences)
    GPU0(&e->gpu, FENCE_ASYNC_SHARED);
  LLVMBuildCondBr(e->gpu.builder, is_any(e, reached), twice, again.otherwise);
  e->changes++;
  mirage__forget_hazards(e);
  mirage__forget_elements(e);
  if (again.before)
    *again.before = *e;
  LLVMPositionBuilderAtEnd(e->gpu.builder, twice);
  e->loops[again.loop].before = mirage__turns(e, again.loop);
  mirage__place_again(e);
  return again;
}

void mirage__otherwise(Emit *e, const Again *again) {
  MirageStatus status = e->status;
  LLVMBuildBr(e->gpu.builder, again->done);
  if (again->before)
    *e = *again->before;
  e->status = status;
  e->loops[again->loop].before = NULL;
  LLVMPositionBuilderAtEnd(e->gpu.builder, again->otherwise);
}

void mirage__end_again(Emit *e, const Again *again) {
  LLVMBuildBr(e->gpu.builder, again->done);
  LLVMPositionBuilderAtEnd(e->gpu.builder, again->done);
  mirage__forget_elements(e);
}

void mirage__produce_again(Emit *e, MirageNode node, LLVMValueRef one) {
  BlockMaxima maxima;
  int32_t loop = mirage__block_find_loop(&e->block, node);
  if (loop < 0 || !mirage__keeps_maxima(&e->block, loop, &maxima))
    return;
  GPU(&e->gpu, SYNC_WARP, gpu_i32(&e->gpu, -1));
  LLVMValueRef again = is_any(e, LLVMConstInt(LLVMInt1TypeInContext(e->gpu.context), 0, 0));
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__and(e, again, one));
  mirage__find_turns(e, loop); // once more: the first time was in a branch of its own
  LLVMValueRef turns = mirage__turns(e, loop);
  int64_t last = mirage__seeks_maximum(e, loop) ? 2 : 1; // for the maximum, and with it
  for (int64_t runs = 1; runs <= last; runs++) {
    e->loops[loop].before = mirage__mul(e, turns, runs);
    mirage__produce(e, node);
  }
  e->loops[loop].before = NULL;
  mirage__end_if(e, join);
}
