// codegen_pipeline.c - the loads of a loop, running ahead of it, and the mbarriers by which their copies are waited
// for.
//
// A loop with S buffers per load runs S - 1 iterations ahead of itself:
//
//     issue 0 .. S-2                                      each followed by a commit
//     for i:  wait until at most S - 2 groups are out     so group i has landed
//             barrier                                     and everybody is done with buffer (i - 1) mod S
//             issue i + S - 1 into it, commit
//             body on buffer i mod S
//
// With one buffer the copy is issued and waited for inside the iteration.
//
// Bulk and tensor copies are issued by one thread, which tells the mbarrier full[stage] how many bytes to expect;
// everybody
//          waits for that instead of a group. The n-th use of a stage completes its phase n, and stages go on from
//          where they were when the loop is run again by a loop around it.
// Roles:   the producer issues and the workers multiply, each in a loop of their own (codegen_role.c). A worker's warp
//          gives a stage back by arriving at free[stage]; the producer waits for that before it fills the stage again.
//          Matrix instructions of the last iteration may still run, so then stages are given back one iteration later.
// Outside: a copy outside loops has an mbarrier to itself, waited for when something wants to read the tile.
#include "emit.h"

// ---------------------------------------------------------------------------------------------------------- mbarriers

static LLVMValueRef mbarrier_at(Emit *e, int32_t first, LLVMValueRef index) {
  LLVMValueRef offset = mirage__mul(e, index, 8);
  offset = mirage__add(e, offset, gpu_i32(&e->gpu, mirage__block_mbarrier_offset(&e->block) + (int64_t)first * 8));
  return LLVMBuildGEP2(e->gpu.builder, e->gpu.i8, e->shared, &offset, 1, "");
}

static void wait_phase(Emit *e, LLVMValueRef mbarrier, LLVMValueRef parity) {
  LLVMBasicBlockRef spin = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "wait");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "landed");
  LLVMBuildBr(e->gpu.builder, spin);
  LLVMPositionBuilderAtEnd(e->gpu.builder, spin);
  LLVMBuildCondBr(e->gpu.builder, GPU(&e->gpu, MBARRIER_TRY_WAIT, mbarrier, parity), done, spin);
  LLVMPositionBuilderAtEnd(e->gpu.builder, done);
}

static int64_t cluster_blocks(const Emit *e) {
  const int64_t *cluster = mirage_ugraph_node(e->block.graph, e->block.custom).attrs->custom.cluster;
  return cluster[0] * cluster[1] * cluster[2];
}

static bool copied_load(const Emit *e, int32_t step, int32_t loop) {
  BlockStep s = e->block.steps[step];
  if (!s.node.index || s.loop != loop)
    return false;
  MirageNodeView view = mirage_ugraph_node(e->block.graph, s.node);
  return view.op == MIRAGE_OP_LOAD && mirage__block_is_copied(&e->block, view.first_result);
}

static bool loop_multicasts(const Emit *e, int32_t loop) {
  for (int32_t s = e->block.loops[loop].begin; s <= e->block.loops[loop].end; s++)
    if (copied_load(e, s, loop) && mirage__is_multicast(e, e->block.steps[s].node))
      return true;
  return false;
}

bool mirage__block_multicasts(const Emit *e) {
  for (int32_t l = 0; l < e->block.num_loops; l++)
    if (loop_multicasts(e, l))
      return true;
  return false;
}

static void init_mbarriers(Emit *e, int32_t first, int32_t count, int64_t arrivals) {
  for (int32_t i = 0; first >= 0 && i < count; i++)
    GPU(&e->gpu, MBARRIER_INIT, mbarrier_at(e, first, gpu_i32(&e->gpu, i)), gpu_i32(&e->gpu, arrivals));
}

void mirage__cluster_meet(Emit *e) {
  GPU0(&e->gpu, CLUSTER_ARRIVE);
  GPU0(&e->gpu, CLUSTER_WAIT);
}

void mirage__init_pipelines(Emit *e) {
  if (!e->block.num_mbarriers)
    return;
  LLVMBasicBlockRef join =
      mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->thread, gpu_i32(&e->gpu, 0), ""));
  for (int32_t l = 0; l < e->block.num_loops; l++) {
    const BlockLoop *loop = &e->block.loops[l];
    int32_t stages = mirage__loop_stages(e, l);
    init_mbarriers(e, loop->full, stages, 1);
    init_mbarriers(e, loop->free, stages,
                   mirage__worker_warps(&e->schedule) * (loop_multicasts(e, l) ? cluster_blocks(e) : 1));
  }
  for (uint32_t id = 1; id <= mirage_ugraph_num_values(e->block.graph); id++)
    init_mbarriers(e, e->block.values[id].inside ? e->block.values[id].landed : -1, 1, 1);
  GPU0(&e->gpu, FENCE_MBARRIER_INIT);
  mirage__end_if(e, join);
  if (mirage__block_multicasts(e))
    mirage__cluster_meet(e);
  else
    GPU(&e->gpu, BARRIER, gpu_i32(&e->gpu, 0));
}

static bool share_memory(const MirageType *a, const MirageType *b) {
  int64_t a_end = a->layout.offset + mirage__buffer_bytes(a) * a->layout.stages;
  int64_t b_end = b->layout.offset + mirage__buffer_bytes(b) * b->layout.stages;
  return a->layout.offset < b_end && b->layout.offset < a_end;
}

// A matrix instruction's operand that is not copied, or a copied tile in memory that something else uses too.
bool mirage__needs_fences(const Emit *e) {
  const Block *block = &e->block;
  uint32_t count = mirage_ugraph_num_values(block->graph);
  for (uint32_t id = 1; id <= count; id++) {
    const BlockValue *v = &block->values[id];
    if (v->inside && v->warpgroup) {
      MirageNodeView product = mirage_ugraph_node(block->graph, v->def);
      for (uint32_t i = 0; i < 2; i++)
        if (!mirage__block_is_copied(block, mirage__matmul_operand(block, product.operands[i]).base) &&
            !(i == 0 && mirage__block_operand_in_cells(block, &product)))
          return true;
    }
    if (!v->inside || !mirage__block_is_copied(block, (MirageValue){id}))
      continue;
    for (uint32_t other = 1; other <= count; other++)
      if (block->values[other].inside && block->values[other].shared && block->values[other].alias.index == other &&
          !mirage__block_is_copied(block, (MirageValue){other}) &&
          share_memory(&block->types[id], &block->types[other]))
        return true;
  }
  return false;
}

// ------------------------------------------------------------------------------------------------------ outside loops

// One thread's copies of the tiles of steps [begin, end] directly inside `loop`, all for one mbarrier.
static void issue_copies(Emit *e, int32_t loop, int32_t begin, int32_t end, LLVMValueRef iteration, LLVMValueRef stage,
                         LLVMValueRef mbarrier) {
  int64_t bytes = 0;
  for (int32_t s = begin; s <= end; s++)
    if (copied_load(e, s, loop))
      bytes += mirage_type_bytes(emit_type(e, mirage_ugraph_node(e->block.graph, e->block.steps[s].node).first_result));
  GPU(&e->gpu, MBARRIER_EXPECT, mbarrier, gpu_i32(&e->gpu, bytes));
  for (int32_t s = begin; s <= end; s++)
    if (copied_load(e, s, loop))
      mirage__issue_copy(e, e->block.steps[s].node, iteration, stage, mbarrier);
}

static void issue_alone(Emit *e, MirageNode load) {
  int32_t step = e->block.step_of_node[load.index];
  MirageValue tile = mirage_ugraph_node(e->block.graph, load).first_result;
  LLVMValueRef mbarrier = mbarrier_at(e, e->block.values[tile.index].landed, gpu_i32(&e->gpu, 0));
  issue_copies(e, -1, step, step, NULL, NULL, mbarrier);
}

void mirage__load_outside(Emit *e, MirageNode load) {
  MirageValue tile = mirage_ugraph_node(e->block.graph, load).first_result;
  if (!mirage__block_is_copied(&e->block, tile)) {
    mirage__begin_operation(e);
    mirage__will_write(e, tile);
    mirage__issue_load(e, load, NULL, NULL);
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
    e->copies_pending = true;
    return;
  }
  if (!e->schedule.num_roles) {
    mirage__begin_operation(e);
    mirage__will_write(e, tile);
    LLVMBasicBlockRef join =
        mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->thread, gpu_i32(&e->gpu, 0), ""));
    issue_alone(e, load);
    mirage__end_if(e, join);
  }
  e->landing[e->num_landing++] = tile;
}

void mirage__await_landing(Emit *e) {
  for (uint32_t i = 0; i < e->num_landing; i++)
    wait_phase(e, mbarrier_at(e, e->block.values[e->landing[i].index].landed, gpu_i32(&e->gpu, 0)),
               gpu_i32(&e->gpu, 0));
  e->num_landing = 0;
}

// -------------------------------------------------------------------------------------------------------------- loops

static bool pipelined_load(const Emit *e, int32_t step, int32_t loop) {
  BlockStep s = e->block.steps[step];
  if (!s.node.index || s.loop != loop)
    return false;
  MirageNodeView view = mirage_ugraph_node(e->block.graph, s.node);
  return view.op == MIRAGE_OP_LOAD && emit_is_shared(e, view.first_result);
}

int32_t mirage__loop_stages(const Emit *e, int32_t loop) {
  for (int32_t s = e->block.loops[loop].begin; s <= e->block.loops[loop].end; s++)
    if (pipelined_load(e, s, loop))
      return emit_type(e, mirage_ugraph_node(e->block.graph, e->block.steps[s].node).first_result)->layout.stages;
  return 0;
}

static bool has_async_loads(const Emit *e, int32_t loop) {
  for (int32_t s = e->block.loops[loop].begin; s <= e->block.loops[loop].end; s++)
    if (pipelined_load(e, s, loop) && !copied_load(e, s, loop))
      return true;
  return false;
}

// Iterations of `loop` before iteration i of its present run.
static LLVMValueRef total_count(Emit *e, int32_t loop, LLVMValueRef i) {
  LLVMValueRef runs = gpu_i32(&e->gpu, 0);
  int32_t chain[MIRAGE_MAX_LOOPS], depth = 0;
  for (int32_t l = e->block.loops[loop].parent; l >= 0; l = e->block.loops[l].parent)
    chain[depth++] = l;
  while (depth-- > 0)
    runs = mirage__add(e, mirage__mul(e, runs, e->block.loops[chain[depth]].range), e->loops[chain[depth]].iteration);
  return mirage__add(e, mirage__mul(e, runs, e->block.loops[loop].range), i);
}

static LLVMValueRef stage_of(Emit *e, int32_t loop, LLVMValueRef i) {
  LLVMValueRef count = e->block.loops[loop].full >= 0 ? total_count(e, loop, i) : i;
  return mirage__mod(e, count, e->loops[loop].stages);
}

static LLVMValueRef parity_of(Emit *e, int32_t loop, LLVMValueRef i) {
  return mirage__mod(e, mirage__div(e, total_count(e, loop, i), e->loops[loop].stages), 2);
}

// Everything that iteration i loads, by the workers themselves.
static void issue_loads(Emit *e, int32_t loop, LLVMValueRef i) {
  const BlockLoop *l = &e->block.loops[loop];
  LLVMValueRef stage = stage_of(e, loop, i);
  for (int32_t s = l->begin; s <= l->end; s++)
    if (pipelined_load(e, s, loop) && !copied_load(e, s, loop))
      mirage__issue_load(e, e->block.steps[s].node, i, stage);
  if (l->full < 0 || e->schedule.num_roles)
    return;
  LLVMBasicBlockRef join =
      mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->thread, gpu_i32(&e->gpu, 0), ""));
  issue_copies(e, loop, l->begin, l->end, i, stage, mbarrier_at(e, l->full, stage));
  mirage__end_if(e, join);
}

static void wait_landed(Emit *e, int32_t loop, LLVMValueRef i) {
  if (e->block.loops[loop].full >= 0)
    wait_phase(e, mbarrier_at(e, e->block.loops[loop].full, stage_of(e, loop, i)), parity_of(e, loop, i));
}

void mirage__begin_pipeline(Emit *e, int32_t loop) {
  LoopState *state = &e->loops[loop];
  state->stages = mirage__loop_stages(e, loop);
  state->blocking = has_async_loads(e, loop) || (state->stages && !e->schedule.num_roles);
  mirage__begin_operation(e);
  if (!state->blocking)
    return;
  for (int32_t s = e->block.loops[loop].begin; s <= e->block.loops[loop].end; s++)
    if (pipelined_load(e, s, loop) && !(e->schedule.num_roles && copied_load(e, s, loop)))
      mirage__will_write(e, mirage_ugraph_node(e->block.graph, e->block.steps[s].node).first_result);
  for (int32_t i = 0; i + 1 < state->stages; i++) {
    if (i < e->block.loops[loop].range)
      issue_loads(e, loop, gpu_i32(&e->gpu, i));
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
  }
}

void mirage__turn_pipeline(Emit *e, int32_t loop) {
  LoopState *state = &e->loops[loop];
  LLVMValueRef i = state->iteration;
  state->copy = stage_of(e, loop, i);
  if (!state->blocking) {
    wait_landed(e, loop, i);
  } else if (state->stages == 1) {
    mirage__barrier(e);
    issue_loads(e, loop, i);
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
    GPU(&e->gpu, CP_ASYNC_WAIT, gpu_i32(&e->gpu, 0));
    wait_landed(e, loop, i);
    mirage__barrier(e);
  } else {
    GPU(&e->gpu, CP_ASYNC_WAIT, gpu_i32(&e->gpu, state->stages - 2));
    e->copies_pending = false; // copies from before the loop are older than those waited for
    wait_landed(e, loop, i);
    mirage__barrier(e);
    LLVMValueRef ahead = mirage__add(e, i, gpu_i32(&e->gpu, state->stages - 1));
    LLVMBasicBlockRef join = mirage__begin_if(e, mirage__less_than(e, ahead, e->block.loops[loop].range));
    issue_loads(e, loop, ahead);
    mirage__end_if(e, join);
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
  }
  mirage__forget_elements(e);
}

// This warp no longer reads the tiles of iteration i.
static void give_back(Emit *e, int32_t loop, LLVMValueRef i) {
  GPU(&e->gpu, SYNC_WARP, gpu_i32(&e->gpu, -1));
  LLVMBasicBlockRef join =
      mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->lane, gpu_i32(&e->gpu, 0), ""));
  LLVMValueRef mbarrier = mbarrier_at(e, e->block.loops[loop].free, stage_of(e, loop, i));
  if (loop_multicasts(e, loop))
    for (int64_t rank = 0; rank < cluster_blocks(e); rank++)
      GPU(&e->gpu, MBARRIER_ARRIVE_CLUSTER, GPU(&e->gpu, MAP_RANK, mbarrier, gpu_i32(&e->gpu, rank)));
  else
    GPU(&e->gpu, MBARRIER_ARRIVE, mbarrier);
  mirage__end_if(e, join);
}

void mirage__end_turn(Emit *e, int32_t loop) {
  const LoopState *state = &e->loops[loop];
  if (e->block.loops[loop].free < 0)
    return;
  if (!state->lag) {
    give_back(e, loop, state->iteration);
    return;
  }
  GPU(&e->gpu, WGMMA_WAIT, gpu_i64(&e->gpu, state->lag));
  LLVMBasicBlockRef join =
      mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntSGT, state->iteration, gpu_i32(&e->gpu, 0), ""));
  give_back(e, loop, mirage__add(e, state->iteration, gpu_i32(&e->gpu, -1)));
  mirage__end_if(e, join);
}

void mirage__end_pipeline(Emit *e, int32_t loop) {
  if (e->block.loops[loop].free < 0)
    return;
  if (e->loops[loop].lag)
    give_back(e, loop, gpu_i32(&e->gpu, e->block.loops[loop].range - 1));
  mirage__begin_operation(e); // what takes the tiles' place later comes after everybody's last look
  for (int32_t s = e->block.loops[loop].begin; s <= e->block.loops[loop].end; s++)
    if (copied_load(e, s, loop))
      mirage__note_read(e, mirage_ugraph_node(e->block.graph, e->block.steps[s].node).first_result);
}

// ----------------------------------------------------------------------------------------------------------- producer

static bool loop_copies(const Emit *e, int32_t loop) {
  for (int32_t l = 0; l < e->block.num_loops; l++)
    if (e->block.loops[l].full >= 0 && mirage__block_loop_contains(&e->block, loop, l))
      return true;
  return false;
}

static void produce_loop(Emit *e, MirageNode node, MirageRegion body) {
  int32_t loop = mirage__block_find_loop(&e->block, node);
  const BlockLoop *l = &e->block.loops[loop];
  if (!loop_copies(e, loop))
    return;
  LoopState *state = &e->loops[loop];
  state->stages = mirage__loop_stages(e, loop);
  Repeat repeat = mirage__begin_repeat(e, l->range);
  state->iteration = repeat.index;
  if (l->full >= 0) {
    LLVMValueRef stage = stage_of(e, loop, repeat.index), parity = parity_of(e, loop, repeat.index);
    // A new mbarrier lets a wait for the phase before its first one pass.
    wait_phase(e, mbarrier_at(e, l->free, stage), LLVMBuildXor(e->gpu.builder, parity, gpu_i32(&e->gpu, 1), ""));
    issue_copies(e, loop, l->begin, l->end, repeat.index, stage, mbarrier_at(e, l->full, stage));
  }
  MirageRegionView view = mirage_ugraph_region(e->block.graph, body);
  for (uint32_t i = 0; i < view.num_nodes; i++)
    mirage__produce(e, view.nodes[i]);
  mirage__end_repeat(e, &repeat);
}

void mirage__produce(Emit *e, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  e->gpu.op = node.index;
  if (view.op == MIRAGE_OP_LOOP)
    produce_loop(e, node, view.region);
  else if (copied_load(e, e->block.step_of_node[node.index], -1))
    issue_alone(e, node);
}
