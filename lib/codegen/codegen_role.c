// codegen_role.c - warps with different tasks: producers copy tiles, the others are the workers and run the block
// graph.
//
//     prologue, mbarriers, barrier of the whole block
//     a producer's warp?   yes: fewer registers; the first thread of the first producer issues all copies
//                          no:  more registers; the block graph, its barriers among the workers alone
//
// Workers are numbered on without gaps, so that everything that divides work over threads knows only them.
#include "emit.h"

enum { WORKERS_BARRIER = 1 };

typedef struct Span {
  int32_t begin, end; // threads of a role
} Span;

static Span span_of(const MirageSchedule *schedule, uint32_t role) {
  int32_t begin = 0;
  for (uint32_t i = 0; i < role; i++)
    begin += schedule->roles[i].warps * 32;
  return (Span){begin, begin + schedule->roles[role].warps * 32};
}

static LLVMValueRef is_in(Emit *e, Span span) {
  LLVMValueRef inside = NULL;
  if (span.begin > 0)
    inside = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, e->thread, gpu_i32(&e->gpu, span.begin), "");
  if (span.end < e->block_threads)
    inside = mirage__and(e, inside, mirage__less_than(e, e->thread, span.end));
  return inside;
}

static bool is_producer(const MirageSchedule *schedule, uint32_t role) {
  return schedule->roles[role].kind == MIRAGE_ROLE_PRODUCER;
}

static LLVMValueRef is_any_producer(Emit *e) {
  LLVMValueRef any = NULL;
  for (uint32_t i = 0; i < e->schedule.num_roles; i++)
    if (is_producer(&e->schedule, i)) {
      LLVMValueRef inside = is_in(e, span_of(&e->schedule, i));
      any = any ? LLVMBuildOr(e->gpu.builder, any, inside, "") : inside;
    }
  return any;
}

// Registers of the roles of one kind, each for its own warps.
static void set_registers(Emit *e, bool producers) {
  int32_t launch = mirage__launch_registers(e->block_threads);
  for (uint32_t i = 0; i < e->schedule.num_roles; i++) {
    int32_t registers = e->schedule.roles[i].registers;
    if (is_producer(&e->schedule, i) != producers || registers == 0 || registers == launch)
      continue;
    registers = registers > 240 ? 240 : registers; // the most that the instruction takes
    bool alone = true;
    for (uint32_t j = 0; j < e->schedule.num_roles; j++)
      alone &= j == i || is_producer(&e->schedule, j) != producers;
    LLVMBasicBlockRef join = mirage__begin_if(e, alone ? NULL : is_in(e, span_of(&e->schedule, i)));
    if (registers < launch)
      GPU(&e->gpu, SET_REGISTERS_FEWER, gpu_i32(&e->gpu, registers));
    else
      GPU(&e->gpu, SET_REGISTERS_MORE, gpu_i32(&e->gpu, registers));
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
  uint32_t first = 0;
  while (!is_producer(&e->schedule, first))
    first++;
  set_registers(e, true);
  LLVMValueRef one =
      LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->thread, gpu_i32(&e->gpu, span_of(&e->schedule, first).begin), "");
  MirageRegionView view = mirage_ugraph_region(e->block.graph, body);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    LLVMBasicBlockRef join = mirage__begin_if(e, one);
    mirage__produce(e, view.nodes[i]);
    mirage__end_if(e, join);
    join_meetings(e, view.nodes[i], last_step(e, &view, i));
  }
}

// From here on `thread` counts workers.
static void become_workers(Emit *e) {
  LLVMValueRef worker = e->thread;
  for (uint32_t i = 0; i < e->schedule.num_roles; i++) {
    Span span = span_of(&e->schedule, i);
    if (!is_producer(&e->schedule, i))
      continue;
    LLVMValueRef behind = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, e->thread, gpu_i32(&e->gpu, span.end), "");
    LLVMValueRef skipped = mirage__select(e, behind, gpu_i32(&e->gpu, span.end - span.begin), gpu_i32(&e->gpu, 0));
    worker = LLVMBuildNSWSub(e->gpu.builder, worker, skipped, "");
  }
  e->thread = worker;
  e->threads = mirage__worker_warps(&e->schedule) * 32;
  e->warp = mirage__uniform(e, mirage__div(e, worker, 32));
  e->barrier = WORKERS_BARRIER;
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
  set_registers(e, false);
  become_workers(e);
  mirage__emit_region(e, body);
  LLVMBuildBr(e->gpu.builder, join);
  LLVMPositionBuilderAtEnd(e->gpu.builder, join);
}
