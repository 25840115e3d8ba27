// codegen_maxima.c - loops that keep the maximum of their first tile (lib/layout/maxima.c), and run again where that was too small.
//
//     for the first tile:   as ever, but some room is added to its maximum
//     for the others:       nothing is asked for a maximum, nothing is rescaled
//     has any thread of the block a sum that reached the limit, or is no number?
//     yes:                  the carries as they began, the loop with all its maxima, and the rest of the block
//     no:                   the rest of the block
//
// The second run is of one section. Stages and phases of mbarriers go on in it from where the first run left
// them; a producer comes to the same question, and copies all tiles once more.
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

void mirage__keep_sections(Emit *e, bool ahead, Section *sections, uint32_t *count) {
  LLVMValueRef zero = gpu_i32(&e->gpu, 0), one = gpu_i32(&e->gpu, 1);
  for (uint32_t i = 0; i < *count; i++)
    sections[i].maxima = MAXIMA_KEPT;
  if (ahead) // whose first iteration stands apart as it is
    return;
  for (uint32_t i = *count; i > 0; i--) {
    Section *s = &sections[i];
    *s = sections[i - 1];
    s->begin = mirage__select(e, mirage__less(e, s->begin, one), one, s->begin);
    s->guarded = true;
  }
  sections[0] = (Section){.begin = zero, .end = one, .guarded = true, .maxima = MAXIMA_RAISED};
  ++*count;
}

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
  // Or they, and what is computed from them, would be kept in registers all through the first run.
  e->thread = GPU(&e->gpu, UNKNOWN, e->thread);
  e->lane = mirage__mod(e, e->thread, 32);
  e->warp = mirage__uniform(e, mirage__div(e, e->thread, 32));
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
  e->loops[loop].before = mirage__turns(e, loop);
  mirage__produce(e, node);
  e->loops[loop].before = NULL;
  mirage__end_if(e, join);
}
