// codegen_pipeline.c - channels that loads come by (lib/layout/actors.h): copies that run ahead of their loop, and the
// signals by which they are waited for.
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
// Engine:  bulk and tensor copies are issued by one thread, which tells the mbarrier full[stage] how many bytes to expect;
//          everybody waits for that instead of a group. The n-th use of a stage completes its phase n, and stages go on
//          from where they were when the loop is run again by a loop around it.
// Roles:   the producer issues and the workers multiply, each in a loop of their own (codegen_role.c). A worker's warp
//          gives a stage back by arriving at free[stage]; the producer waits for that before it fills the stage again.
//          Matrix instructions of the last iteration may still run, so then stages are given back one iteration later.
// Outside: a copy outside loops has an mbarrier to itself, waited for when something wants to read the tile.
#include "emit.h"

// ---------------------------------------------------------------------------------------------------------- mbarriers

static LLVMValueRef mbarrier_at(Emit *e, const Signal *signal, LLVMValueRef stage) {
  LLVMValueRef offset = mirage__mul(e, stage, 8);
  int64_t first = mirage__block_mbarrier_offset(&e->block) + (int64_t)signal->first * 8;
  return mirage__at(e, e->shared, mirage__add(e, offset, gpu_i32(&e->gpu, first)));
}

static void wait_phase(Emit *e, LLVMValueRef mbarrier, LLVMValueRef parity) {
  LLVMBasicBlockRef spin = mirage__begin_spin(e);
  LLVMValueRef landed = GPU(&e->gpu, MBARRIER_TRY_WAIT, mbarrier, parity);
  mirage__end_spin(e, spin, LLVMBuildNot(e->gpu.builder, landed, ""));
}

bool mirage__block_multicasts(const Emit *e) {
  for (int32_t c = 0; c < e->block.num_channels; c++)
    if (e->block.channels[c].multicast)
      return true;
  return false;
}

static void init_mbarriers(Emit *e, const Channel *channel, const Signal *signal) {
  for (int32_t i = 0; signal->kind == SIGNAL_MBARRIER && i < channel->stages; i++)
    GPU(&e->gpu, MBARRIER_INIT, mbarrier_at(e, signal, gpu_i32(&e->gpu, i)), gpu_i32(&e->gpu, signal->arrivals));
}

void mirage__cluster_meet(Emit *e) {
  GPU0(&e->gpu, CLUSTER_ARRIVE_RELAXED);
  GPU0(&e->gpu, CLUSTER_WAIT);
}

void mirage__cluster_leave(Emit *e) {
  GPU0(&e->gpu, CLUSTER_ARRIVE);
  GPU0(&e->gpu, CLUSTER_WAIT);
}

void mirage__init_channels(Emit *e) {
  if (!e->block.num_mbarriers)
    return;
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->thread, 0));
  mirage__prefetch_maps(e);
  for (int32_t c = 0; c < e->block.num_channels; c++) {
    init_mbarriers(e, &e->block.channels[c], &e->block.channels[c].full);
    init_mbarriers(e, &e->block.channels[c], &e->block.channels[c].free);
  }
  GPU0(&e->gpu, FENCE_MBARRIER_INIT);
  mirage__end_if(e, join);
  if (mirage__block_multicasts(e))
    mirage__cluster_meet(e);
  else
    GPU(&e->gpu, BARRIER, gpu_i32(&e->gpu, 0));
}

// ------------------------------------------------------------------------------------------------------ outside loops

// One thread's copies of everything that a channel brings at a time.
static void issue_copies(Emit *e, const Channel *channel, LLVMValueRef iteration, LLVMValueRef stage,
                         LLVMValueRef mbarrier) {
  GPU(&e->gpu, MBARRIER_EXPECT, mbarrier, gpu_i32(&e->gpu, channel->full.bytes));
  for (uint32_t i = 0; i < channel->num_values; i++)
    mirage__issue_copy(e, mirage__block_load(&e->block, channel->values[i]), iteration, stage, mbarrier);
}

static void issue_alone(Emit *e, const Channel *channel) {
  issue_copies(e, channel, NULL, NULL, mbarrier_at(e, &channel->full, gpu_i32(&e->gpu, 0)));
}

void mirage__load_outside(Emit *e, MirageNode load) {
  MirageValue tile = mirage_ugraph_node(e->block.graph, load).first_result;
  const Channel *channel = mirage__block_channel_of(&e->block, tile);
  bool produced = channel->from != channel->to;
  if (!produced) {
    mirage__begin_operation(e);
    mirage__will_write(e, tile);
  }
  if (channel->full.kind != SIGNAL_MBARRIER) {
    mirage__issue_load(e, load, NULL, NULL);
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
    e->copies_pending = true;
    return;
  }
  if (!produced) {
    LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->thread, 0));
    issue_alone(e, channel);
    mirage__end_if(e, join);
    mirage__copied_by_engine(e);
  }
  e->landing[e->num_landing++] = channel;
}

void mirage__await_landing(Emit *e) {
  for (uint32_t i = 0; i < e->num_landing; i++)
    wait_phase(e, mbarrier_at(e, &e->landing[i]->full, gpu_i32(&e->gpu, 0)), gpu_i32(&e->gpu, 0));
  e->num_landing = 0;
}

// -------------------------------------------------------------------------------------------------------------- loops

// The channels of a loop's loads: from the copy engine, and by cp.async; NULL = none.
static const Channel *copied(const Emit *e, int32_t loop) {
  return mirage__block_loop_channel(&e->block, loop, SIGNAL_MBARRIER);
}

static const Channel *staged(const Emit *e, int32_t loop) {
  return mirage__block_loop_channel(&e->block, loop, SIGNAL_COPY_GROUP);
}

// Tiles that warps give back by mbarriers: to a producer, or to the first thread of their own.
static bool is_given_back(const Channel *channel) { return channel && channel->free.kind == SIGNAL_MBARRIER; }

static bool is_self_fed(const Channel *channel) { return is_given_back(channel) && channel->from == channel->to; }

// Iterations of `loop` before iteration i of its present run.
static LLVMValueRef total_count(Emit *e, int32_t loop, LLVMValueRef i) {
  LLVMValueRef runs = mirage__iteration(e, e->block.loops[loop].parent);
  LLVMValueRef total = mirage__add(e, mirage__mul(e, runs, e->block.loops[loop].range), i);
  return e->loops[loop].before ? mirage__add(e, e->loops[loop].before, total) : total;
}

static LLVMValueRef stage_of(Emit *e, int32_t loop, LLVMValueRef i) {
  return mirage__mod(e, copied(e, loop) ? total_count(e, loop, i) : i, e->loops[loop].stages);
}

static LLVMValueRef parity_of(Emit *e, int32_t loop, LLVMValueRef i) {
  return mirage__mod(e, mirage__div(e, total_count(e, loop, i), e->loops[loop].stages), 2);
}

// Everything that iteration i loads, by the workers themselves.
static void issue_loads(Emit *e, int32_t loop, LLVMValueRef i) {
  const Channel *own = staged(e, loop), *engine = copied(e, loop);
  LLVMValueRef stage = stage_of(e, loop, i);
  for (uint32_t v = 0; own && v < own->num_values; v++)
    mirage__issue_load(e, e->block.values[own->values[v].index].def, i, stage);
  if (!engine || is_given_back(engine))
    return;
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->thread, 0));
  issue_copies(e, engine, i, stage, mbarrier_at(e, &engine->full, stage));
  mirage__end_if(e, join);
}

static void wait_landed(Emit *e, int32_t loop, LLVMValueRef i) {
  const Channel *engine = copied(e, loop);
  if (engine)
    wait_phase(e, mbarrier_at(e, &engine->full, stage_of(e, loop, i)), parity_of(e, loop, i));
}

// How many iterations before it is needed a tile is copied by a thread that also multiplies. One less than there is room
// for, where it can be: then the thread need not wait for warps that are an iteration behind.
static int32_t distance_of(const Emit *e, const Channel *channel) {
  bool held = channel->stages > 2 || e->block.loops[channel->loop].ahead;
  return channel->stages - (held ? 2 : 1);
}

// All copies for iteration i, into a stage that must have been given back. A new mbarrier lets a wait for the phase before
// its first one pass.
static void refill(Emit *e, const Channel *channel, LLVMValueRef i) {
  LLVMValueRef stage = stage_of(e, channel->loop, i), parity = parity_of(e, channel->loop, i);
  wait_phase(e, mbarrier_at(e, &channel->free, stage), LLVMBuildXor(e->gpu.builder, parity, gpu_i32(&e->gpu, 1), ""));
  issue_copies(e, channel, i, stage, mbarrier_at(e, &channel->full, stage));
}

// Turn k, at the start of a loop: most loops have more than a pipeline has stages.
static LLVMBasicBlockRef begin_if_turn(Emit *e, int32_t loop, int32_t k) {
  bool certain = k == 0 || (!e->loops[loop].count && k < e->block.loops[loop].range);
  return mirage__begin_if(e, certain ? NULL : mirage__is_turn(e, loop, gpu_i32(&e->gpu, k)));
}

// The first thread's copies `distance` iterations ahead of i, NULL = at once those of all before.
static void feed(Emit *e, const Channel *channel, LLVMValueRef i) {
  int32_t distance = distance_of(e, channel);
  LLVMValueRef ahead = i ? mirage__add(e, i, gpu_i32(&e->gpu, distance)) : NULL, mine = mirage__equals(e, e->thread, 0);
  LLVMBasicBlockRef join =
      mirage__begin_if(e, i ? mirage__and(e, mine, mirage__is_turn(e, channel->loop, ahead)) : mine);
  for (int32_t k = 0; !i && k < distance; k++) {
    LLVMBasicBlockRef there = begin_if_turn(e, channel->loop, k);
    refill(e, channel, gpu_i32(&e->gpu, k));
    mirage__end_if(e, there);
  }
  if (i)
    refill(e, channel, ahead);
  mirage__end_if(e, join);
}

void mirage__begin_pipeline(Emit *e, int32_t loop) {
  LoopState *state = &e->loops[loop];
  const Channel *channels[] = {staged(e, loop), copied(e, loop)};
  *state = (LoopState){.before = state->before};
  mirage__find_turns(e, loop);
  mirage__begin_operation(e);
  for (int c = 0; c < 2; c++) {
    const Channel *channel = channels[c];
    if (!channel)
      continue;
    state->stages = channel->stages;
    state->lag = e->block.loops[loop].ahead ? 0 : channel->lag; // its code waits by itself
    state->blocking |= !is_given_back(channel);
    for (uint32_t v = 0; channel->from == channel->to && v < channel->num_values; v++)
      mirage__will_write(e, channel->values[v]);
    if (is_self_fed(channel))
      feed(e, channel, NULL);
  }
  for (int32_t i = 0; state->blocking && i + 1 < state->stages; i++) {
    LLVMBasicBlockRef join = begin_if_turn(e, loop, i);
    issue_loads(e, loop, gpu_i32(&e->gpu, i));
    mirage__end_if(e, join);
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
  }
}

void mirage__turn_pipeline(Emit *e, int32_t loop) {
  LoopState *state = &e->loops[loop];
  LLVMValueRef i = state->iteration;
  state->copy = stage_of(e, loop, i);
  if (!state->blocking) {
    if (is_self_fed(copied(e, loop)))
      feed(e, copied(e, loop), i);
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
    LLVMBasicBlockRef join = mirage__begin_if(e, mirage__is_turn(e, loop, ahead));
    issue_loads(e, loop, ahead);
    mirage__end_if(e, join);
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
  }
  mirage__forget_elements(e);
}

void mirage__peek_pipeline(Emit *e, int32_t loop) {
  LoopState *state = &e->loops[loop];
  state->copy = stage_of(e, loop, state->iteration);
  if (staged(e, loop))
    GPU(&e->gpu, CP_ASYNC_WAIT, gpu_i32(&e->gpu, state->stages - 2));
  wait_landed(e, loop, state->iteration);
  if (staged(e, loop))
    mirage__barrier(e);
  mirage__forget_elements(e);
}

void mirage__turn_back(Emit *e, int32_t loop, LLVMValueRef i) {
  e->loops[loop].iteration = i;
  e->loops[loop].copy = stage_of(e, loop, i);
  mirage__forget_elements(e);
}

void mirage__give_back(Emit *e, int32_t loop, LLVMValueRef i) {
  const Channel *channel = copied(e, loop);
  GPU(&e->gpu, SYNC_WARP, gpu_i32(&e->gpu, -1));
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->lane, 0));
  LLVMValueRef mbarrier = mbarrier_at(e, &channel->free, stage_of(e, loop, i));
  for (int64_t rank = 0; channel->multicast && rank < mirage__block_cluster(&e->block); rank++)
    GPU(&e->gpu, MBARRIER_ARRIVE_CLUSTER, GPU(&e->gpu, MAP_RANK, mbarrier, gpu_i32(&e->gpu, rank)));
  if (!channel->multicast)
    GPU(&e->gpu, MBARRIER_ARRIVE, mbarrier);
  mirage__end_if(e, join);
}

void mirage__end_turn(Emit *e, int32_t loop) {
  const LoopState *state = &e->loops[loop];
  if (!is_given_back(copied(e, loop)))
    return;
  if (!state->lag) {
    mirage__give_back(e, loop, state->iteration);
    return;
  }
  GPU(&e->gpu, WGMMA_WAIT, gpu_i64(&e->gpu, state->lag));
  LLVMBasicBlockRef join =
      mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntSGT, state->iteration, gpu_i32(&e->gpu, 0), ""));
  mirage__give_back(e, loop, mirage__add(e, state->iteration, gpu_i32(&e->gpu, -1)));
  mirage__end_if(e, join);
}

void mirage__end_pipeline(Emit *e, int32_t loop) {
  const Channel *channel = copied(e, loop);
  if (!is_given_back(channel))
    return;
  if (e->loops[loop].lag)
    mirage__give_back(e, loop, mirage__add(e, mirage__turns(e, loop), gpu_i32(&e->gpu, -1)));
  mirage__begin_operation(e); // what takes the tiles' place later comes after everybody's last look
  for (uint32_t v = 0; v < channel->num_values; v++)
    mirage__note_read(e, channel->values[v]);
}

// ----------------------------------------------------------------------------------------------------------- producer

static bool loop_copies(const Emit *e, int32_t loop) {
  for (int32_t l = 0; l < e->block.num_loops; l++)
    if (copied(e, l) && mirage__block_loop_contains(&e->block, loop, l))
      return true;
  return false;
}

static void produce_loop(Emit *e, MirageNode node, MirageRegion body) {
  int32_t loop = mirage__block_find_loop(&e->block, node);
  const Channel *channel = copied(e, loop);
  if (!loop_copies(e, loop))
    return;
  LoopState *state = &e->loops[loop];
  mirage__find_turns(e, loop);
  Repeat repeat = mirage__begin_repeat_until(e, mirage__turns(e, loop));
  state->iteration = repeat.index;
  if (channel) {
    state->stages = channel->stages;
    refill(e, channel, repeat.index);
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
  else if (view.op == MIRAGE_OP_LOAD && mirage__block_is_copied(&e->block, view.first_result) &&
           e->block.steps[e->block.step_of_node[node.index]].loop < 0)
    issue_alone(e, mirage__block_channel_of(&e->block, view.first_result));
}
