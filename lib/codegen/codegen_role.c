// codegen_role.c - actors with different tasks: producers copy tiles, the others are the workers and run the block
// graph.
//
//     prologue, mbarriers, barrier of the whole block
//     a producer's warp?   yes: fewer registers; the first thread of the first producer issues all copies
//                          no:  more registers; the block graph, its barriers among the workers alone
//
// Workers are numbered on without gaps, so that everything that divides work over threads knows only them. Where they form
// groups with tiles of their own, each group is numbered from 0.
#include "emit.h"

static int32_t first_thread(const Emit *e, const Actor *actor) {
  return mirage__team_first_warp(&e->block.team, actor) * 32;
}

static int32_t last_thread(const Emit *e, const Actor *actor) { return first_thread(e, actor) + actor->warps * 32; }

static LLVMValueRef is_in(Emit *e, const Actor *actor) {
  LLVMValueRef inside = NULL;
  if (first_thread(e, actor) > 0)
    inside = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, e->thread, gpu_i32(&e->gpu, first_thread(e, actor)), "");
  if (last_thread(e, actor) < e->block_threads)
    inside = mirage__and(e, inside, mirage__less_than(e, e->thread, last_thread(e, actor)));
  return inside;
}

// The actor of this kind behind actor *at, -1 at first; NULL when there is none.
static const Actor *next_of(const Emit *e, ActorKind kind, int32_t *at) {
  const Team *team = &e->block.team;
  for (++*at; *at < team->num_actors; ++*at)
    if (team->actors[*at].kind == kind)
      return &team->actors[*at];
  return NULL;
}

static LLVMValueRef is_any_producer(Emit *e) {
  LLVMValueRef any = NULL;
  const Actor *actor;
  for (int32_t i = -1; (actor = next_of(e, ACTOR_PRODUCER, &i));) {
    LLVMValueRef inside = is_in(e, actor);
    any = any ? LLVMBuildOr(e->gpu.builder, any, inside, "") : inside;
  }
  return any;
}

// Registers of the actors of one kind, each for its own warps.
static void set_registers(Emit *e, ActorKind kind) {
  enum { MOST = 240 }; // that a warp can ask for
  int32_t launch = mirage__launch_registers(e->block_threads / 32), count = 0;
  const Actor *actor;
  for (int32_t i = -1; next_of(e, kind, &i);)
    count++;
  for (int32_t i = -1; (actor = next_of(e, kind, &i));) {
    if (!actor->registers || actor->registers == launch)
      continue;
    LLVMBasicBlockRef join = mirage__begin_if(e, count == 1 ? NULL : is_in(e, actor));
    LLVMValueRef registers = gpu_i32(&e->gpu, actor->registers < MOST ? actor->registers : MOST);
    if (actor->registers < launch)
      GPU(&e->gpu, SET_REGISTERS_FEWER, registers);
    else
      GPU(&e->gpu, SET_REGISTERS_MORE, registers);
    mirage__end_if(e, join);
  }
}

// The steps of a node at the top of the block graph: up to the next node's.
static int32_t last_step(const Emit *e, const MirageRegionView *body, uint32_t node) {
  return node + 1 < body->num_nodes ? e->block.step_of_node[body->nodes[node + 1].index] - 1 : e->block.num_steps - 1;
}

// The blocks of a cluster meet with all their threads, so producers come to the workers' meetings.
static void join_meetings(Emit *e, MirageNode node, int32_t last) {
  int32_t step = e->block.step_of_node[node.index];
  for (int32_t i = 0; i < e->block.num_meetings; i++) {
    const BlockMeeting *meeting = e->meetings[i].plan;
    if (!meeting->cluster || (meeting->step != step && (meeting->end < step || meeting->end > last)))
      continue;
    GPU(&e->gpu, SYNC_WARP, gpu_i32(&e->gpu, -1));
    if (meeting->step == step)
      mirage__cluster_meet(e);
    if (meeting->end >= step && meeting->end <= last)
      mirage__cluster_meet(e);
  }
}

static void emit_producers(Emit *e, MirageRegion body) {
  set_registers(e, ACTOR_PRODUCER);
  int32_t first = first_thread(e, mirage__team_first(&e->block.team, ACTOR_PRODUCER));
  LLVMValueRef one = mirage__equals(e, e->thread, first);
  MirageRegionView view = mirage_ugraph_region(e->block.graph, body);
  Tiles tiles = mirage__begin_tiles(e);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    LLVMBasicBlockRef join = mirage__begin_if(e, one);
    mirage__produce(e, view.nodes[i]);
    mirage__end_if(e, join);
    mirage__produce_again(e, view.nodes[i], one);
    join_meetings(e, view.nodes[i], last_step(e, &view, i));
  }
  mirage__end_tiles(e, &tiles);
}

// From here on `thread` counts workers.
static void become_workers(Emit *e) {
  LLVMValueRef worker = e->thread;
  const Actor *actor;
  for (int32_t i = -1; (actor = next_of(e, ACTOR_PRODUCER, &i));) {
    LLVMValueRef behind =
        LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, e->thread, gpu_i32(&e->gpu, last_thread(e, actor)), "");
    LLVMValueRef skipped = mirage__select(e, behind, gpu_i32(&e->gpu, actor->warps * 32), gpu_i32(&e->gpu, 0));
    worker = LLVMBuildNSWSub(e->gpu.builder, worker, skipped, "");
  }
  e->threads = mirage__team_workers(&e->block.team) * 32;
  if (mirage__team_groups(&e->block.team) > 1) {
    e->group = mirage__uniform(e, mirage__div(e, worker, e->threads));
    worker = mirage__mod(e, worker, e->threads);
  }
  e->thread = worker;
  e->warp = mirage__uniform(e, mirage__div(e, worker, 32));
  e->barrier = CONSUMERS_BARRIER;
}

LLVMValueRef mirage__group_plus(Emit *e, int64_t number) {
  LLVMValueRef value = gpu_i32(&e->gpu, number);
  return e->group ? mirage__add(e, e->group, value) : value;
}

void mirage__emit_roles(Emit *e, MirageRegion body) {
  LLVMBasicBlockRef produce = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "producer");
  LLVMBasicBlockRef work = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "worker");
  LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "all");
  LLVMBuildCondBr(e->gpu.builder, is_any_producer(e), produce, work);
  LLVMPositionBuilderAtEnd(e->gpu.builder, produce);
  emit_producers(e, body);
  LLVMBuildBr(e->gpu.builder, join);
  LLVMPositionBuilderAtEnd(e->gpu.builder, work);
  mirage__forget_elements(e);
  set_registers(e, ACTOR_CONSUMER);
  become_workers(e);
  mirage__enter_words(e);
  for (int32_t i = 0; i < e->block.num_meetings; i++)
    mirage__clear_slots(e, &e->meetings[i]);
  Tiles tiles = mirage__begin_tiles(e);
  mirage__prefetch_ends(e);
  mirage__emit_region(e, body);
  mirage__end_tiles(e, &tiles);
  LLVMBuildBr(e->gpu.builder, join);
  LLVMPositionBuilderAtEnd(e->gpu.builder, join);
}
