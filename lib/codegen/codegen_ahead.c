// codegen_ahead.c - loops whose products run on while they compute (lib/layout/overlap.c).
//
// The body is generated twice, for the first iteration and for the others. Of each other iteration i:
//
//     tiles i have landed
//     take the turn             named barrier of this group: the one before it has issued its products
//     issue early products of i, late products of i - 1
//     pass the turn             named barrier of the next group
//     wait for the early ones;  everything else of i, while the late ones run
//     wait for the late ones, give tiles i - 1 back;  what late products of i start from: rescaled sums, and operands
//
// The late products of the last iteration come behind the loop. Operands stay in variables from one iteration to the next.
#include "emit.h"

enum { GROUP_THREADS = 128, FRAGMENT = 4 };

typedef struct Late {
  Carry *carry;
  MatmulSplit split;
  int32_t fragments;
  Fragment *operand;         // variables
  const BlockNarrow *narrow; // of the turn that they were prepared in
} Late;

struct Ahead {
  int32_t loop;
  uint32_t count; // of late products
  Late *late;
};

// ---------------------------------------------------------------------------------------------------------- products

static bool is_early(const Emit *e, const Ahead *ahead, int32_t step) {
  BlockStep s = e->block.steps[step];
  return s.node.index && s.loop == ahead->loop && mirage__block_is_early(&e->block, s.node);
}

bool mirage__runs_ahead(const Emit *e, MirageNode node) {
  int32_t loop = e->block.steps[e->block.step_of_node[node.index]].loop;
  return loop >= 0 && e->block.loops[loop].ahead && mirage__block_is_early(&e->block, node);
}

static Carry early_of(Emit *e, int32_t step) {
  MirageNode node = e->block.steps[step].node;
  Carry carry = {.node = node, .result = mirage_ugraph_node(e->block.graph, node).first_result, .fresh = true};
  carry.acc = mirage__registers(e, carry.result);
  return carry;
}

static void issue_early(Emit *e, const Ahead *ahead) {
  const BlockLoop *l = &e->block.loops[ahead->loop];
  for (int32_t s = l->begin; s <= l->end; s++) {
    if (!is_early(e, ahead, s))
      continue;
    Carry carry = early_of(e, s);
    MatmulSplit split = mirage__split_of(e, carry.node);
    MirageNodeView view = mirage_ugraph_node(e->block.graph, carry.node);
    e->gpu.op = carry.node.index;
    mirage__begin_operation(e);
    for (uint32_t i = 0; i < 2; i++)
      mirage__will_read(e, mirage__matmul_operand(&e->block, &view, i).base);
    mirage__warpgroup_issue(e, &carry, &split, NULL);
  }
}

static void wait_early(Emit *e, const Ahead *ahead, int32_t groups) {
  const BlockLoop *l = &e->block.loops[ahead->loop];
  for (int32_t s = l->begin; s <= l->end; s++) {
    if (!is_early(e, ahead, s))
      continue;
    Carry carry = early_of(e, s);
    mirage__warpgroup_wait(e, &carry, groups);
  }
}

static void issue_late(Emit *e, Ahead *ahead) {
  for (uint32_t i = 0; i < ahead->count && e->status == MIRAGE_OK; i++) {
    Late *late = &ahead->late[i];
    Fragment *operand = mirage__emit_array(e, (size_t)late->fragments, sizeof *operand);
    if (!operand)
      return;
    for (int32_t f = 0; f < late->fragments * FRAGMENT; f++)
      operand[f / FRAGMENT][f % FRAGMENT] = mirage__get(e, late->operand[f / FRAGMENT][f % FRAGMENT]);
    e->gpu.op = late->carry->node.index;
    const BlockNarrow *around = e->narrow;
    e->narrow = late->narrow;
    mirage__warpgroup_issue(e, late->carry, &late->split, operand);
    e->narrow = around;
  }
}

static void wait_late(Emit *e, Ahead *ahead) {
  for (uint32_t i = 0; i < ahead->count; i++)
    mirage__warpgroup_wait(e, ahead->late[i].carry, 0);
}

// What the late products of this iteration start from.
static void prepare_late(Emit *e, Ahead *ahead) {
  for (uint32_t i = 0; i < ahead->count && e->status == MIRAGE_OK; i++) {
    Late *late = &ahead->late[i];
    e->gpu.op = late->carry->node.index;
    mirage__begin_operation(e);
    if (late->carry->factor.index)
      mirage__cells_rescale(e, late->carry);
    mirage__forget_elements(e);
    late->narrow = e->narrow;
    Fragment *operand = mirage__warpgroup_fragments(e, late->carry, &late->split);
    for (int32_t f = 0; operand && f < late->fragments * FRAGMENT; f++)
      mirage__set(e, late->operand[f / FRAGMENT][f % FRAGMENT], operand[f / FRAGMENT][f % FRAGMENT]);
    mirage__forget_elements(e);
  }
}

// -------------------------------------------------------------------------------------------------------------- turns

static LLVMValueRef group_of(Emit *e) { return mirage__div(e, e->warp, GROUP_THREADS / 32); }

static LLVMValueRef is_last_group(Emit *e, int32_t turns) { return mirage__equals(e, group_of(e), turns - 1); }

static LLVMValueRef turn_of(Emit *e, LLVMValueRef group) {
  return mirage__add(e, group, gpu_i32(&e->gpu, TURNS_BARRIER));
}

static void take_turn(Emit *e, const Ahead *ahead) {
  if (e->block.loops[ahead->loop].turns)
    GPU(&e->gpu, BARRIER_NAMED, turn_of(e, group_of(e)), gpu_i32(&e->gpu, 2 * GROUP_THREADS));
}

static void arrive(Emit *e, LLVMValueRef condition, LLVMValueRef group) {
  LLVMBasicBlockRef join = mirage__begin_if(e, condition);
  GPU(&e->gpu, BARRIER_NAMED_ARRIVE, turn_of(e, group), gpu_i32(&e->gpu, 2 * GROUP_THREADS));
  mirage__end_if(e, join);
}

// The first group takes its first turn from the last one, which has none to pass on at the end.
static void first_turn(Emit *e, const Ahead *ahead) {
  int32_t turns = e->block.loops[ahead->loop].turns;
  if (turns)
    arrive(e, is_last_group(e, turns), gpu_i32(&e->gpu, 0));
}

static void pass_turn(Emit *e, const Ahead *ahead, LLVMValueRef iteration) {
  const BlockLoop *l = &e->block.loops[ahead->loop];
  if (!l->turns)
    return;
  LLVMValueRef more = mirage__is_turn(e, ahead->loop, mirage__add(e, iteration, gpu_i32(&e->gpu, 1)));
  LLVMValueRef other = LLVMBuildNot(e->gpu.builder, is_last_group(e, l->turns), "");
  arrive(e, LLVMBuildOr(e->gpu.builder, more, other, ""),
         mirage__mod(e, mirage__add(e, group_of(e), gpu_i32(&e->gpu, 1)), l->turns));
}

// --------------------------------------------------------------------------------------------------------------- loops

Ahead *mirage__ahead(Emit *e, MirageNode node, Carry *carries, const CarryKind *kinds) {
  Ahead *ahead = mirage__emit_array(e, 1, sizeof *ahead);
  uint32_t count = mirage_ugraph_node(e->block.graph, node).num_operands;
  Late *products = mirage__emit_array(e, count, sizeof *products);
  if (!ahead || !products)
    return NULL;
  *ahead = (Ahead){.loop = mirage__block_find_loop(&e->block, node), .late = products};
  for (uint32_t i = 0; i < count; i++) {
    if (kinds[i] != CARRY_MATMUL)
      continue;
    Late *late = &ahead->late[ahead->count++];
    *late = (Late){.carry = &carries[i], .split = mirage__split_of(e, carries[i].node)};
    late->fragments = late->split.rows_each * late->split.depth_units;
    late->operand = mirage__emit_array(e, (size_t)late->fragments, sizeof *late->operand);
    if (!late->operand)
      return NULL;
    for (int32_t f = 0; f < late->fragments * FRAGMENT; f++)
      late->operand[f / FRAGMENT][f % FRAGMENT] = mirage__variable(e, e->gpu.i32);
  }
  return ahead;
}

void mirage__ahead_begin(Emit *e, Ahead *ahead) {
  if (e->num_hazards || e->copies_pending)
    mirage__barrier(e); // once: nothing that the loop does asks for another
  e->loops[ahead->loop].iteration = gpu_i32(&e->gpu, 0);
  mirage__turn_pipeline(e, ahead->loop);
  issue_early(e, ahead);
  wait_early(e, ahead, 0);
  first_turn(e, ahead);
}

void mirage__ahead_turn(Emit *e, Ahead *ahead, LLVMValueRef before) {
  LoopState *state = &e->loops[ahead->loop];
  state->iteration = mirage__add(e, before, gpu_i32(&e->gpu, 1));
  mirage__turn_pipeline(e, ahead->loop);
  LLVMValueRef iteration = state->iteration, copy = state->copy;
  take_turn(e, ahead);
  issue_early(e, ahead);
  mirage__turn_back(e, ahead->loop, before);
  issue_late(e, ahead);
  pass_turn(e, ahead, iteration);
  state->iteration = iteration;
  state->copy = copy;
  mirage__forget_elements(e);
  wait_early(e, ahead, (int32_t)ahead->count);
}

void mirage__ahead_prepare(Emit *e, Ahead *ahead, LLVMValueRef before) {
  if (before) {
    wait_late(e, ahead);
    mirage__give_back(e, ahead->loop, before);
  }
  prepare_late(e, ahead);
}

void mirage__ahead_end(Emit *e, Ahead *ahead) {
  LLVMValueRef last = mirage__add(e, mirage__turns(e, ahead->loop), gpu_i32(&e->gpu, -1));
  mirage__turn_back(e, ahead->loop, last);
  issue_late(e, ahead);
  wait_late(e, ahead);
  mirage__give_back(e, ahead->loop, last);
}
