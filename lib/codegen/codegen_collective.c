// codegen_collective.c - sums and maxima over blocks: meetings, and the elements that they give.
//
// A meeting (lib/layout/meeting.c) takes place at the step of its last collective. Every block publishes the leaves, in
// its shared memory (codegen_cluster.c) or in device memory (codegen_grid.c), and waits for the others. From then on a
// result is computed element by element: the operand is evaluated once for each member, with that member's leaves in
// place of the block's own, and the parts are combined in the order of the members, so results are bit-identical from
// run to run. Values of the meeting that somebody needs as a whole are stored in every block; the others are evaluated
// by their readers, which are stores whose items the members divide (codegen_store.c).
#include "emit.h"

enum { UNROLL = 16 }; // members up to which the code for each is written out; beyond that it is so many at a time

static bool is_maximum(MirageOp op) { return op == MIRAGE_OP_GRID_MAX || op == MIRAGE_OP_CLUSTER_MAX; }

// ----------------------------------------------------------------------------------------------------------- members

void mirage__prepare_meetings(Emit *e) {
  const MirageCustomAttrs *custom = mirage__block_custom(&e->block);
  e->meetings = mirage__emit_array(e, (size_t)e->block.num_meetings, sizeof *e->meetings);
  if (!e->meetings)
    return;
  for (int32_t i = 0; i < e->block.num_meetings && e->status == MIRAGE_OK; i++) {
    Meeting *m = &e->meetings[i];
    *m = (Meeting){.plan = &e->block.meetings[i], .members = 1, .groups = 1};
    for (int a = 0; a < 3; a++)
      *(m->plan->axes[a] ? &m->members : &m->groups) *= custom->grid[a];
    if (m->plan->cluster)
      mirage__prepare_cluster_meeting(e, m);
    else
      mirage__prepare_grid_meeting(e, m);
  }
}

void mirage__enter_meetings(Emit *e) {
  const MirageCustomAttrs *custom = mirage__block_custom(&e->block);
  for (int32_t i = 0; i < e->block.num_meetings; i++) {
    Meeting *m = &e->meetings[i];
    int64_t members = 1, groups = 1, rank = 1;
    m->member = m->group = m->rank0 = gpu_i32(&e->gpu, 0);
    for (int a = 0; a < 3; rank *= e->block.cluster[a++]) {
      LLVMValueRef *number = m->plan->axes[a] ? &m->member : &m->group;
      int64_t *stride = m->plan->axes[a] ? &members : &groups;
      *number = mirage__add(e, *number, mirage__mul(e, e->block_id[a], *stride));
      *stride *= custom->grid[a];
      if (!m->plan->axes[a]) {
        LLVMValueRef in_cluster = mirage__mod(e, e->block_id[a], e->block.cluster[a]);
        m->rank0 = mirage__add(e, m->rank0, mirage__mul(e, in_cluster, rank));
      }
    }
  }
}

// ----------------------------------------------------------------------------------------------------------- meeting

void mirage__emit_collective(Emit *e, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  Meeting *m = &e->meetings[e->block.values[view.first_result.index].meeting];
  if (e->block.steps[m->plan->step].node.index != node.index)
    return; // the last collective of the meeting is the one that waits
  if (m->plan->cluster)
    mirage__cluster_barrier(e);
  else
    mirage__grid_meet(e, m);
  for (uint32_t i = 0; i < m->plan->num_values; i++) {
    MirageValue value = m->plan->values[i];
    if (!emit_is_shared(e, value))
      continue;
    e->gpu.op = e->block.values[value.index].def.index;
    mirage__materialize(e, value, value);
  }
  e->gpu.op = node.index;
}

static int32_t last_end_of_words(const Emit *e) {
  int32_t last = -1;
  for (int32_t i = 0; i < e->block.num_meetings; i++)
    if (e->meetings[i].words && e->meetings[i].plan->end > last)
      last = e->meetings[i].plan->end;
  return last;
}

void mirage__end_step(Emit *e, int32_t step) {
  for (int32_t i = 0; i < e->block.num_meetings; i++)
    if (e->meetings[i].plan->cluster && e->meetings[i].plan->end == step)
      mirage__cluster_barrier(e); // nobody overwrites what it published, or leaves, while others still read it
  if (e->epochs && step == last_end_of_words(e))
    mirage__leave_words(e);
}

// ---------------------------------------------------------------------------------------------------------- elements

static void add_member(Emit *e, const MirageNodeView *collective, LLVMValueRef member, const LLVMValueRef *index,
                       uint32_t width, LLVMValueRef *total) {
  LLVMValueRef part[MAX_WIDTH];
  e->member = member;
  mirage__element(e, collective->operands[0], index, width, part);
  MirageOp op = is_maximum(collective->op) ? MIRAGE_OP_MAX : MIRAGE_OP_ADD;
  for (uint32_t i = 0; i < width; i++)
    total[i] = total[i] ? mirage__binary(e, op, total[i], part[i]) : part[i];
}

// The rest of many members, UNROLL at a time in a loop. What is computed in there is forgotten after it.
static void add_rest(Emit *e, const MirageNodeView *collective, int64_t first, int64_t members,
                     const LLVMValueRef *index, uint32_t width, LLVMValueRef *total) {
  LLVMValueRef variables[MAX_WIDTH];
  for (uint32_t i = 0; i < width; i++) {
    variables[i] = mirage__variable(e, LLVMTypeOf(total[i]));
    mirage__set(e, variables[i], total[i]);
  }
  uint32_t known = e->num_memo;
  Repeat repeat = mirage__begin_repeat(e, (members - first) / UNROLL);
  for (uint32_t i = 0; i < width; i++)
    total[i] = mirage__get(e, variables[i]);
  LLVMValueRef start = mirage__add(e, mirage__mul(e, repeat.index, UNROLL), gpu_i32(&e->gpu, first));
  for (int j = 0; j < UNROLL; j++)
    add_member(e, collective, mirage__add(e, start, gpu_i32(&e->gpu, j)), index, width, total);
  for (uint32_t i = 0; i < width; i++)
    mirage__set(e, variables[i], total[i]);
  mirage__end_repeat(e, &repeat);
  e->num_memo = known;
  for (uint32_t i = 0; i < width; i++)
    total[i] = mirage__get(e, variables[i]);
}

void mirage__gather(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  MirageNodeView collective = mirage__block_def(&e->block, value);
  const Meeting *around = e->reading, *m = &e->meetings[e->block.values[value.index].meeting];
  LLVMValueRef member = e->member;
  e->reading = m;
  for (uint32_t i = 0; i < width; i++)
    out[i] = NULL;
  // The first members come before the loop, so that earlier results that all of them need are known inside it.
  // Words are few, and all of them are under way at once.
  int64_t first = m->members <= UNROLL || m->words ? m->members : (m->members - 1) % UNROLL + 1;
  for (int64_t i = 0; i < first; i++)
    add_member(e, &collective, gpu_i32(&e->gpu, i), index, width, out);
  if (first < m->members)
    add_rest(e, &collective, first, m->members, index, width, out);
  e->reading = around;
  e->member = member;
}

bool mirage__read_leaf(Emit *e, MirageValue value, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  int32_t leaf = e->member ? mirage__meeting_leaf(e->reading->plan, value) : -1;
  if (leaf < 0)
    return false;
  uint32_t around = e->gpu.op;
  e->gpu.op = e->block.steps[e->reading->plan->step].node.index;
  if (e->reading->plan->cluster)
    mirage__read_cluster_leaf(e, e->reading, value, index, width, out);
  else
    mirage__read_grid_leaf(e, e->reading, (uint32_t)leaf, index, width, out);
  e->gpu.op = around;
  return true;
}
