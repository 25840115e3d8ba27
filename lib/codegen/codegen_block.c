// codegen_block.c - walks a block graph in order: steps, loops with their carries, thread regions.
//
// Loads of a loop run ahead of it (codegen_pipeline.c). A loop without such loads, or with warps that do the loading,
// starts its body behind a barrier when the body turns out to use shared memory by itself at all. Carries: products and
// reductions that stay in registers take their step at the end of the iteration (all operands are known then); the
// others are combined in their buffer, after them. See carries_by_hand for why order is safe.
#include "emit.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------------------ carries

static Carry immediate(Emit *e, MirageNode node, const MirageNodeView *view) {
  Carry carry = {.node = node, .result = view->first_result};
  if (view->num_operands == 3)
    carry.init = mirage__block_resolve(&e->block, view->operands[2]);
  return carry;
}

static void emit_now(Emit *e, MirageNode node, const MirageNodeView *view) {
  if (e->block.values[view->first_result.index].carried || mirage__runs_ahead(e, node))
    return; // its loop takes care
  if (mirage__is_unread(e, view->first_result))
    return;
  Carry carry = immediate(e, node, view);
  if (mirage__is_reduction(view->op)) {
    mirage__reduce_begin(e, &carry);
    mirage__reduce_step(e, &carry);
    mirage__reduce_end(e, &carry);
  } else {
    carry.fresh = mirage__split_of(e, node).warpgroup && !carry.init.index;
    mirage__matmul_begin(e, &carry);
    mirage__matmul_step(e, &carry);
    mirage__matmul_end(e, &carry);
  }
}

typedef struct Combine {
  MirageCarry how;
  MirageValue contribution, factor, buffer;
  LLVMValueRef iteration;
  bool takes_old;     // the contribution is another carry, as it was before this iteration
  LLVMValueRef *news; // of a resident carry: its cells' new values
} Combine;

// What a carry becomes.
static LLVMValueRef combined(Emit *e, MirageCombine how, LLVMValueRef old, LLVMValueRef factor, LLVMValueRef value) {
  switch (how) {
  case MIRAGE_COMBINE_SUM:
    return mirage__binary(e, MIRAGE_OP_ADD, old, value);
  case MIRAGE_COMBINE_MAX:
    return mirage__binary(e, MIRAGE_OP_MAX, old, value);
  case MIRAGE_COMBINE_RESCALE:
    return GPU(&e->gpu, FMA, old, factor, value);
  default:
    return value;
  }
}

// One element of the contribution, or two neighbours; stored where `condition` (NULL = always) holds.
static void combine_at(Emit *e, const Combine *c, LLVMValueRef condition, const LLVMValueRef *index, uint32_t width) {
  const MirageType *from = emit_type(e, c->contribution), *to = emit_type(e, c->buffer);
  MirageCombine how = c->how.combine;
  LLVMValueRef at[MIRAGE_MAX_RANK], values[2], old[2] = {NULL, NULL}, factors[2] = {NULL, NULL};
  if (c->takes_old)
    mirage__tile_load(e, from, gpu_i32(&e->gpu, 1), index, width, values);
  else
    mirage__element(e, c->contribution, index, width, values);
  memcpy(at, index, from->rank * sizeof *at);
  if (how == MIRAGE_COMBINE_CONCAT)
    at[c->how.dim] = mirage__add(e, index[c->how.dim], mirage__mul(e, c->iteration, from->shape[c->how.dim]));
  else if (how != MIRAGE_COMBINE_ASSIGN)
    mirage__tile_load(e, to, NULL, at, width, old);
  if (how == MIRAGE_COMBINE_RESCALE)
    mirage__element_broadcast(e, c->factor, to, at, width, factors);
  for (uint32_t i = 0; i < width; i++)
    values[i] = combined(e, how, old[i], factors[i], values[i]);
  LLVMBasicBlockRef join = mirage__begin_if(e, condition);
  mirage__tile_store(e, to, NULL, at, width, values);
  mirage__end_if(e, join);
}

static void combine_item(Emit *e, LLVMValueRef item, void *user) {
  const Combine *c = user;
  const MirageType *from = emit_type(e, c->contribution);
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__delinearize(e, item, from->rank, from->shape, index);
  combine_at(e, c, NULL, index, 1);
}

static void combine_piece(Emit *e, const TileCell *cell, void *user) {
  combine_at(e, user, cell->mine, cell->index, cell->width);
}

static void keep_item(Emit *e, LLVMValueRef item, void *user) {
  const MirageType *type = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], value;
  mirage__delinearize(e, item, type->rank, type->shape, index);
  mirage__tile_load(e, type, NULL, index, 1, &value);
  mirage__tile_store(e, type, gpu_i32(&e->gpu, 1), index, 1, &value);
}

// A carry may be combined element by element only if nothing it reads is itself a carry that changed already. The
// planner stores computed contributions first; the old value of a carry that another takes as it stands goes into the
// second copy of its buffer.
static void keep_old(Emit *e, MirageNode node, uint32_t index) {
  if (!mirage__block_carry_is_taken(&e->block, node, index))
    return;
  MirageValue buffer = mirage_ugraph_result(e->block.graph, node, index);
  MirageType type = *emit_type(e, buffer);
  mirage__begin_operation(e);
  mirage__will_write(e, buffer);
  mirage__for_items(e, mirage_type_elements(&type), keep_item, &type);
}

static Combine describe(Emit *e, MirageNode node, uint32_t index, LLVMValueRef iteration) {
  MirageNodeView loop = mirage_ugraph_node(e->block.graph, node), yield = mirage__block_yield(&e->block, node);
  const MirageLoopAttrs *attrs = &loop.attrs->loop;
  Combine c = {.how = attrs->carries[index],
               .iteration = iteration,
               .buffer = mirage_ugraph_result(e->block.graph, node, index)};
  c.contribution = mirage__block_resolve(&e->block, yield.operands[index]);
  const BlockValue *v = &e->block.values[c.contribution.index];
  c.takes_old = !v->def.index && v->owner.index == node.index && v->index != index && v->shared;
  if (c.how.combine == MIRAGE_COMBINE_RESCALE)
    c.factor = mirage__block_resolve(&e->block, yield.operands[mirage__block_factor_index(attrs, index)]);
  return c;
}

static void will_combine(Emit *e, const Combine *c) {
  mirage__begin_operation(e);
  mirage__will_read(e, c->contribution);
  if (c->factor.index)
    mirage__will_read(e, c->factor);
}

static void combine_in_memory(Emit *e, MirageNode node, uint32_t index, LLVMValueRef iteration) {
  Combine c = describe(e, node, index, iteration);
  will_combine(e, &c);
  mirage__will_write(e, c.buffer);
  if (mirage__in_cells(e, c.contribution) || (c.factor.index && mirage__in_cells(e, c.factor)))
    mirage__for_cells(e, emit_type(e, c.contribution), combine_piece, &c);
  else
    mirage__for_items(e, mirage_type_elements(emit_type(e, c.contribution)), combine_item, &c);
}

static void renew_piece(Emit *e, const TileCell *cell, void *user) {
  const Combine *c = user;
  LLVMValueRef values[2], factors[2] = {NULL, NULL};
  const LLVMValueRef *old = mirage__registers(e, c->buffer).cells + cell->first;
  mirage__element(e, c->contribution, cell->index, cell->width, values);
  if (c->factor.index)
    mirage__element_broadcast(e, c->factor, emit_type(e, c->buffer), cell->index, cell->width, factors);
  for (uint32_t i = 0; i < cell->width; i++)
    c->news[cell->first + (int32_t)i] = combined(e, c->how.combine, mirage__get(e, old[i]), factors[i], values[i]);
}

// The new values of a resident carry, not yet in force: others may still read the old ones.
static LLVMValueRef *renew(Emit *e, MirageNode node, uint32_t index) {
  Combine c = describe(e, node, index, NULL);
  if (e->maxima && e->maxima->carry == index && e->maxima_turn != MAXIMA_SOUGHT)
    c = (Combine){.how = {.combine = MIRAGE_COMBINE_ASSIGN}, .contribution = e->maxima->now, .buffer = c.buffer};
  Accumulators cells = mirage__registers(e, c.buffer);
  c.news = mirage__emit_array(e, (size_t)cells.count, sizeof *c.news);
  if (!c.news)
    return NULL;
  will_combine(e, &c);
  mirage__for_cells(e, emit_type(e, c.buffer), renew_piece, &c);
  return c.news;
}

static Carry loop_carry(Emit *e, MirageNode node, uint32_t index) {
  MirageNodeView loop = mirage_ugraph_node(e->block.graph, node), yield = mirage__block_yield(&e->block, node);
  MirageValue contribution = mirage__block_resolve(&e->block, yield.operands[index]);
  Carry carry = {.node = e->block.values[contribution.index].def,
                 .result = mirage_ugraph_result(e->block.graph, node, index),
                 .init = mirage__block_resolve(&e->block, loop.operands[index])};
  MirageValue initial = mirage__block_initial(&e->block, node, index);
  if (initial.index)
    carry.init = initial;
  if (loop.attrs->loop.carries[index].combine == MIRAGE_COMBINE_RESCALE)
    carry.factor =
        mirage__block_resolve(&e->block, yield.operands[mirage__block_factor_index(&loop.attrs->loop, index)]);
  return carry;
}

static void begin_carries(Emit *e, MirageNode node, uint32_t count, Carry *carries, CarryKind *kinds) {
  MirageNodeView loop = mirage_ugraph_node(e->block.graph, node);
  for (uint32_t i = 0; i < count; i++) {
    kinds[i] = mirage__block_carry_kind(&e->block, node, i);
    if (kinds[i] == CARRY_RESIDENT) {
      carries[i] = (Carry){.result = mirage_ugraph_result(e->block.graph, node, i),
                           .init = mirage__block_resolve(&e->block, loop.operands[i])};
      mirage__cells_init(e, &carries[i]);
      continue;
    }
    if (kinds[i] == CARRY_SHARED) {
      mirage__materialize(e, mirage__block_resolve(&e->block, loop.operands[i]),
                          mirage_ugraph_result(e->block.graph, node, i));
      continue;
    }
    carries[i] = loop_carry(e, node, i);
    e->gpu.op = carries[i].node.index;
    if (kinds[i] == CARRY_MATMUL)
      mirage__matmul_begin(e, &carries[i]);
    else
      mirage__reduce_begin(e, &carries[i]);
  }
}

static void step_products(Emit *e, uint32_t count, Carry *carries, const CarryKind *kinds, bool ahead) {
  for (uint32_t i = 0; i < count; i++) {
    e->gpu.op = carries[i].node.index;
    if (kinds[i] == CARRY_MATMUL && !ahead)
      mirage__matmul_step(e, &carries[i]);
    else if (kinds[i] == CARRY_REDUCE)
      mirage__reduce_step(e, &carries[i]);
  }
}

static void renew_carries(Emit *e, MirageNode node, uint32_t count, Carry *carries, const CarryKind *kinds,
                          LLVMValueRef iteration) {
  e->gpu.op = node.index;
  for (uint32_t i = 0; i < count; i++)
    if (kinds[i] == CARRY_RESIDENT)
      carries[i].news = renew(e, node, i);
  for (uint32_t i = 0; i < count; i++)
    if (kinds[i] == CARRY_SHARED)
      keep_old(e, node, i);
  for (uint32_t i = 0; i < count; i++)
    if (kinds[i] == CARRY_SHARED)
      combine_in_memory(e, node, i, iteration);
  for (uint32_t i = 0; i < count && e->status == MIRAGE_OK; i++)
    for (int32_t c = 0; kinds[i] == CARRY_RESIDENT && c < carries[i].acc.count; c++)
      mirage__set(e, carries[i].acc.cells[c], carries[i].news[c]);
}

static void end_carries(Emit *e, uint32_t count, Carry *carries, const CarryKind *kinds) {
  for (uint32_t i = 0; i < count; i++) {
    if (carries[i].node.index)
      e->gpu.op = carries[i].node.index;
    if (kinds[i] == CARRY_MATMUL)
      mirage__matmul_end(e, &carries[i]);
    else if (kinds[i] == CARRY_REDUCE)
      mirage__reduce_end(e, &carries[i]);
    else if (kinds[i] == CARRY_RESIDENT)
      mirage__cells_mirror(e, carries[i].result);
  }
}

// -------------------------------------------------------------------------------------------------------------- loops

// With the fence that stands before it.
static void erase_barrier(Emit *e, LLVMValueRef barrier) {
  if (e->block.fences)
    LLVMInstructionEraseFromParent(LLVMGetPreviousInstruction(barrier));
  LLVMInstructionEraseFromParent(barrier);
}

// Whether nothing in the body needs the barrier before it: it wrote no shared memory, and read nothing that was written
// there before the loop.
static bool needs_no_barrier(const Emit *e, const Hazard *before, uint32_t count, uint32_t changes) {
  if (e->changes != changes || count + e->num_hazards > MAX_HAZARDS)
    return false;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < e->num_hazards; j++)
      if (before[i].write && before[i].begin < e->hazards[j].end && e->hazards[j].begin < before[i].end)
        return false;
  return true;
}

// The body once, behind a barrier where it uses shared memory by itself at all. Of carries that are none: nothing.
static void emit_section(Emit *e, MirageNode node, Carry *carries, const CarryKind *kinds, const Section *section) {
  int32_t loop = mirage__block_find_loop(&e->block, node);
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  LoopState *state = &e->loops[loop];
  Running running = mirage__begin_section(e, section, 0);
  LLVMValueRef iteration = state->iteration = running.turn;
  LLVMValueRef barrier = NULL;
  Hazard before[MAX_HAZARDS]; // what the barrier orders, should it turn out not to be needed here
  uint32_t num_before = e->num_hazards;
  memcpy(before, e->hazards, num_before * sizeof *before);
  if (!state->blocking) {
    mirage__barrier(e);
    barrier = LLVMGetLastInstruction(LLVMGetInsertBlock(e->gpu.builder));
  }
  uint32_t changes = e->changes;
  if (state->stages && section->peek)
    mirage__peek_pipeline(e, loop);
  else if (state->stages)
    mirage__turn_pipeline(e, loop);
  mirage__emit_region(e, view.region);
  step_products(e, view.num_operands, carries, kinds, false);
  renew_carries(e, node, view.num_operands, carries, kinds, iteration);
  if (!section->peek)
    mirage__end_turn(e, loop);
  if (barrier && needs_no_barrier(e, before, num_before, changes)) {
    erase_barrier(e, barrier);
    memcpy(e->hazards + e->num_hazards, before, num_before * sizeof *before);
    e->operation = e->num_hazards += num_before;
  }
  mirage__end_section(e, &running);
}

static void emit_iterations(Emit *e, MirageNode node, Carry *carries, const CarryKind *kinds) {
  Section sections[MOST_SECTIONS];
  uint32_t count = mirage__sections(e, mirage__block_find_loop(&e->block, node), sections);
  for (uint32_t i = 0; i < count; i++)
    emit_section(e, node, carries, kinds, &sections[i]);
}

// What an iteration computes while products run, see codegen_ahead.c. `before`: the one before it, NULL for the first.
static void compute_ahead(Emit *e, MirageNode node, Ahead *ahead, Carry *carries, const CarryKind *kinds,
                          LLVMValueRef before) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  mirage__emit_region(e, view.region);
  step_products(e, view.num_operands, carries, kinds, true);
  mirage__ahead_prepare(e, ahead, before);
  renew_carries(e, node, view.num_operands, carries, kinds,
                e->loops[mirage__block_find_loop(&e->block, node)].iteration);
}

// The body once for the first iteration, and once for each section of the others.
static void emit_ahead(Emit *e, MirageNode node, Carry *carries, const CarryKind *kinds) {
  Section sections[MOST_SECTIONS];
  Ahead *ahead = mirage__ahead(e, node, carries, kinds);
  if (!ahead)
    return;
  uint32_t count = mirage__sections(e, mirage__block_find_loop(&e->block, node), sections);
  mirage__ahead_begin(e, ahead);
  e->maxima_turn = e->maxima ? MAXIMA_RAISED : MAXIMA_TAKEN;
  compute_ahead(e, node, ahead, carries, kinds, NULL);
  e->maxima_turn = MAXIMA_TAKEN;
  for (uint32_t i = 0; i < count; i++) {
    Running running = mirage__begin_section(e, &sections[i], 1);
    mirage__ahead_turn(e, ahead, running.turn);
    compute_ahead(e, node, ahead, carries, kinds, running.turn);
    mirage__end_section(e, &running);
  }
  mirage__ahead_end(e, ahead);
}

// Turns for nothing but the maximum that the loop carries.
static void seek_maximum(Emit *e, MirageNode node, Carry *carries, const Section *section) {
  CarryKind *alone = mirage__emit_array(e, mirage_ugraph_node(e->block.graph, node).num_operands, sizeof *alone);
  if (!alone)
    return;
  alone[e->maxima->carry] = CARRY_RESIDENT;
  emit_section(e, node, carries, alone, section);
}

// The first maximum, before the loop.
static void take_first_maximum(Emit *e, MirageNode node, Carry *carries) {
  const Accumulators *maximum = &carries[e->maxima->carry].acc;
  LLVMValueRef margin = gpu_f32(&e->gpu, e->maxima->margin);
  const Section first = {.end = gpu_i32(&e->gpu, 1),
                         .begin = gpu_i32(&e->gpu, 0),
                         .guarded = true,
                         .narrow = e->maxima->sample.columns ? &e->maxima->sample : NULL,
                         .maxima = MAXIMA_SOUGHT,
                         .peek = true};
  seek_maximum(e, node, carries, &first);
  for (int32_t i = 0; e->maxima->margin > 0 && i < maximum->count; i++)
    mirage__set(e, maximum->cells[i], LLVMBuildFAdd(e->gpu.builder, mirage__get(e, maximum->cells[i]), margin, ""));
}

// All maxima, by a run of the loop, behind which it runs with the largest of them.
static void take_all_maxima(Emit *e, MirageNode node, Carry *carries) {
  int32_t loop = mirage__block_find_loop(&e->block, node);
  mirage__begin_pipeline(e, loop);
  const Section all = {.begin = gpu_i32(&e->gpu, 0), .end = mirage__turns(e, loop), .maxima = MAXIMA_SOUGHT};
  seek_maximum(e, node, carries, &all);
  mirage__end_pipeline(e, loop);
  mirage__barrier(e);
  e->loops[loop].before = mirage__add(e, e->loops[loop].before, mirage__turns(e, loop));
  mirage__place_again(e);
}

static void emit_loop(Emit *e, MirageNode node) {
  int32_t loop = mirage__block_find_loop(&e->block, node);
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  if (e->block.loops[loop].direct) {
    mirage__emit_direct_loop(e, node);
    return;
  }
  Carry *carries = mirage__emit_array(e, view.num_operands, sizeof *carries);
  CarryKind *kinds = mirage__emit_array(e, view.num_operands, sizeof *kinds);
  if (!carries || !kinds)
    return;
  bool seeks = e->maxima && mirage__seeks_maximum(e, loop), again = e->loops[loop].before != NULL;
  begin_carries(e, node, view.num_operands, carries, kinds);
  if (seeks && again)
    take_all_maxima(e, node, carries);
  mirage__await_stages(e, loop);
  mirage__begin_pipeline(e, loop);
  mirage__await_landing(e);
  if (seeks && !again)
    take_first_maximum(e, node, carries);
  if (e->block.loops[loop].ahead)
    emit_ahead(e, node, carries, kinds);
  else
    emit_iterations(e, node, carries, kinds);
  mirage__pass_stages(e, loop);
  mirage__forget_elements(e);
  for (uint32_t i = 0; i < view.num_operands; i++)
    if (kinds[i] == CARRY_MATMUL)
      mirage__warpgroup_finish(e, &carries[i]);
  mirage__end_pipeline(e, loop);
  end_carries(e, view.num_operands, carries, kinds);
}

// -------------------------------------------------------------------------------------------------------------- steps

static void emit_load(Emit *e, MirageNode node, const MirageNodeView *view) {
  if (emit_is_shared(e, view->first_result) && e->block.values[view->first_result.index].loop < 0)
    mirage__load_outside(e, node);
  // Others are read directly, or part of their loop's pipeline.
}

static void emit_node(Emit *e, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  e->gpu.op = node.index;
  if (mirage__is_unsought(e, &view))
    return;
  switch (view.op) {
  case MIRAGE_OP_LOAD:
    emit_load(e, node, &view);
    return;
  case MIRAGE_OP_STORE:
    mirage__emit_store(e, node);
    return;
  case MIRAGE_OP_LOOP:
    emit_loop(e, node);
    return;
  case MIRAGE_OP_THREAD:
    mirage__emit_region(e, view.region);
    return;
  case MIRAGE_OP_YIELD:
    return;
  case MIRAGE_OP_MATMUL:
  case MIRAGE_OP_MMA:
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
  case MIRAGE_OP_REDUCE_MEAN:
    emit_now(e, node, &view);
    return;
  case MIRAGE_OP_CLUSTER_SUM:
  case MIRAGE_OP_CLUSTER_MAX:
  case MIRAGE_OP_GRID_SUM:
  case MIRAGE_OP_GRID_MAX:
    mirage__emit_collective(e, node);
    return;
  default:
    if (!mirage__block_can_inline(view.op))
      mirage__emit_fail(e, view.loc, MIRAGE_UNSUPPORTED, "%s: cannot be lowered inside a block graph",
                        mirage_op_info(view.op)->mnemonic);
    else if (e->block.values[view.first_result.index].resident)
      mirage__cells_compute(e, view.first_result);
    else if (emit_is_shared(e, view.first_result) && !mirage__block_meeting_of(&e->block, view.first_result))
      mirage__materialize(e, view.first_result, view.first_result);
  }
}

static void emit_nodes(Emit *e, const MirageRegionView *view, uint32_t first);

// A loop that keeps its first maximum, and what comes behind it. Each way has code of its own to the end of the block: ptxas
// serializes matrix instructions where the accumulators of two loops become one.
static void emit_with_first_maximum(Emit *e, const MirageRegionView *view, uint32_t node, const BlockMaxima *maxima) {
  MirageNode loop = view->nodes[node];
  e->maxima = maxima;
  emit_node(e, loop);
  e->maxima = NULL;
  Again again = mirage__begin_again(e, loop, maxima);
  e->maxima = mirage__seeks_maximum(e, again.loop) ? maxima : NULL;
  emit_node(e, loop);
  e->maxima = NULL;
  mirage__end_step(e, e->block.step_of_node[loop.index]);
  emit_nodes(e, view, node + 1);
  mirage__otherwise(e, &again);
  mirage__end_step(e, e->block.step_of_node[loop.index]);
  emit_nodes(e, view, node + 1);
  mirage__end_again(e, &again);
}

static void emit_nodes(Emit *e, const MirageRegionView *view, uint32_t first) {
  for (uint32_t i = first; i < view->num_nodes && e->status == MIRAGE_OK; i++) {
    BlockMaxima maxima;
    int32_t loop = mirage__block_find_loop(&e->block, view->nodes[i]);
    if (loop >= 0 && !e->loops[loop].before && mirage__keeps_maxima(&e->block, loop, &maxima)) {
      emit_with_first_maximum(e, view, i, &maxima);
      return;
    }
    emit_node(e, view->nodes[i]);
    mirage__end_step(e, e->block.step_of_node[view->nodes[i].index]);
  }
}

void mirage__emit_region(Emit *e, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(e->block.graph, region);
  emit_nodes(e, &view, 0);
}

// All of a block's threads go through its tiles.
static void emit_tiles(Emit *e, MirageRegion body) {
  mirage__enter_words(e);
  Tiles tiles = mirage__begin_tiles(e);
  mirage__emit_region(e, body);
  mirage__end_tiles(e, &tiles);
}

void mirage__emit_block(Emit *e) {
  MirageRegion body = mirage_ugraph_node(e->block.graph, e->block.custom).region;
  mirage__init_channels(e);
  if (e->side_blocks)
    mirage__emit_side_blocks(e);
  if (e->block.items.apart)
    mirage__emit_elements(e);
  else if (e->block.items.on)
    mirage__emit_items(e);
  else if (mirage__has_producer(&e->block.team))
    mirage__emit_roles(e, body);
  else
    emit_tiles(e, body);
  if (mirage__block_multicasts(e))
    mirage__cluster_leave(e); // nobody leaves while others still signal its mbarriers
}
