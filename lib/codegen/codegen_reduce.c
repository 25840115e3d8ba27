// codegen_reduce.c - reductions along one dimension, inside a step or carried over a loop.
//
// A group of threads shares each result (split.c): every thread combines its elements, then the lanes of a warp
// exchange by shuffles, and groups wider than a warp leave one partial per warp in the buffer's copies. A reduction
// that only feeds a loop's accumulator keeps the thread's own partial in a register through the whole loop and
// exchanges once, at the end.
#include "emit.h"

#include <math.h>
#include <string.h>

typedef struct Reduction {
  MirageOp op;
  MirageNodeView view;
  ReduceSplit split;
  const MirageType *in, *out;
  int32_t dim;
  int64_t extent;             // what is left of the dimension
  LLVMValueRef group, member; // this thread's group, and its place in it
  int32_t groups;
} Reduction;

static Reduction describe(Emit *e, const Carry *carry) {
  Reduction r = {.view = mirage_ugraph_node(e->block.graph, carry->node)};
  r.op = r.view.op;
  r.in = emit_type(e, r.view.operands[0]);
  r.out = emit_type(e, r.view.first_result);
  r.dim = r.view.attrs->reduce.dim;
  r.extent = r.out->shape[r.dim];
  r.split = mirage__block_reduce_split(&e->block, &r.view);
  r.group = mirage__div(e, e->thread, r.split.group);
  r.member = mirage__mod(e, e->thread, r.split.group);
  r.groups = e->threads / r.split.group;
  return r;
}

LLVMValueRef mirage__reduce_neutral(Emit *e, MirageOp op) {
  return gpu_f32(&e->gpu, op == MIRAGE_OP_REDUCE_MAX ? -INFINITY : 0.0);
}

LLVMValueRef mirage__reduce_pair(Emit *e, MirageOp op, LLVMValueRef a, LLVMValueRef b) {
  return mirage__binary(e, op == MIRAGE_OP_REDUCE_MAX ? MIRAGE_OP_MAX : MIRAGE_OP_ADD, a, b);
}

LLVMValueRef mirage__reduce_lanes(Emit *e, MirageOp op, LLVMValueRef value, int32_t lanes) {
  for (int32_t apart = lanes / 2; apart >= 1; apart /= 2) {
    LLVMValueRef other =
        GPU(&e->gpu, SHUFFLE_XOR, gpu_i32(&e->gpu, -1), value, gpu_i32(&e->gpu, apart), gpu_i32(&e->gpu, 31));
    value = mirage__reduce_pair(e, op, value, other);
  }
  return value;
}

// The result that this group's accumulator `j` belongs to, clamped; *valid as in Cell.
static void result_index(Emit *e, const Reduction *r, int32_t j, LLVMValueRef *index, LLVMValueRef *valid) {
  LLVMValueRef linear = mirage__add(e, r->group, gpu_i32(&e->gpu, (int64_t)j * r->groups));
  *valid = NULL;
  if ((int64_t)r->split.outputs_each * r->groups > r->split.outputs) {
    *valid = mirage__less_than(e, linear, r->split.outputs);
    linear = mirage__select(e, *valid, linear, gpu_i32(&e->gpu, 0));
  }
  mirage__delinearize(e, linear, r->out->rank, r->out->shape, index);
}

static bool is_resident(const Emit *e, const Carry *carry) { return e->block.values[carry->result.index].resident; }

void mirage__reduce_begin(Emit *e, Carry *carry) {
  if (is_resident(e, carry)) {
    mirage__cells_init(e, carry);
    return;
  }
  Reduction r = describe(e, carry);
  carry->acc = mirage__accumulators(e, r.out->dtype, r.split.outputs_each);
  if (carry->init.index) {
    mirage__begin_operation(e);
    mirage__will_read(e, carry->init);
  }
  for (int32_t j = 0; j < carry->acc.count; j++) {
    LLVMValueRef start = mirage__reduce_neutral(e, r.op);
    if (carry->init.index) { // counted once: by the first member of the group
      LLVMValueRef index[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK], valid;
      result_index(e, &r, j, index, &valid);
      mirage__broadcast_index(e, emit_type(e, carry->init), r.out, index, at);
      LLVMValueRef first = mirage__equals(e, r.member, 0);
      start = mirage__select(e, r.split.group > 1 ? first : NULL, mirage__element1(e, carry->init, at), start);
    }
    mirage__set(e, carry->acc.cells[j], start);
  }
  mirage__forget_elements(e);
}

// Combines piece `piece` (of split.vector elements) of the reduced dimension into a variable.
static void take_piece(Emit *e, const Reduction *r, const LLVMValueRef *out_index, LLVMValueRef piece, bool ragged,
                       LLVMValueRef variable) {
  int64_t pieces = r->split.length / r->split.vector;
  LLVMValueRef inside = NULL, index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  if (ragged) {
    inside = mirage__less_than(e, piece, pieces);
    piece = mirage__select(e, inside, piece, gpu_i32(&e->gpu, 0));
  }
  memcpy(index, out_index, r->out->rank * sizeof *index);
  index[r->dim] = mirage__add(e, mirage__mul(e, piece, r->extent * r->split.vector), out_index[r->dim]);
  mirage__element(e, r->view.operands[0], index, (uint32_t)r->split.vector, values);
  LLVMValueRef sum = values[0];
  for (int32_t i = 1; i < r->split.vector; i++)
    sum = mirage__reduce_pair(e, r->op, sum, values[i]);
  if (r->op == MIRAGE_OP_REDUCE_MEAN)
    sum = LLVMBuildFMul(e->gpu.builder, sum, gpu_f32(&e->gpu, 1.0 / (double)r->split.length), "");
  sum = mirage__select(e, inside, sum, mirage__reduce_neutral(e, r->op));
  mirage__set(e, variable, mirage__reduce_pair(e, r->op, mirage__get(e, variable), sum));
}

void mirage__reduce_step(Emit *e, Carry *carry) {
  if (is_resident(e, carry)) {
    mirage__cells_reduce(e, carry);
    return;
  }
  Reduction r = describe(e, carry);
  mirage__begin_operation(e);
  mirage__will_read(e, r.view.operands[0]);
  if (carry->factor.index)
    mirage__will_read(e, carry->factor);
  int64_t pieces = r.split.length / r.split.vector, rounds = (pieces + r.split.group - 1) / r.split.group;
  bool ragged = pieces % r.split.group != 0;
  for (int32_t j = 0; j < carry->acc.count; j++) {
    LLVMValueRef index[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK], valid;
    mirage__forget_elements(e);
    result_index(e, &r, j, index, &valid);
    if (carry->factor.index) {
      mirage__broadcast_index(e, emit_type(e, carry->factor), r.out, index, at);
      LLVMValueRef factor = mirage__element1(e, carry->factor, at);
      mirage__set(e, carry->acc.cells[j],
                  LLVMBuildFMul(e->gpu.builder, mirage__get(e, carry->acc.cells[j]), factor, ""));
    }
    if (rounds <= 8) {
      for (int64_t i = 0; i < rounds; i++) {
        mirage__forget_elements(e);
        take_piece(e, &r, index, mirage__add(e, r.member, gpu_i32(&e->gpu, i * r.split.group)),
                   ragged && i + 1 == rounds, carry->acc.cells[j]);
      }
    } else {
      Repeat repeat = mirage__begin_repeat(e, rounds);
      mirage__forget_elements(e);
      take_piece(e, &r, index, mirage__add(e, r.member, mirage__mul(e, repeat.index, r.split.group)), ragged,
                 carry->acc.cells[j]);
      mirage__forget_elements(e);
      mirage__end_repeat(e, &repeat);
    }
  }
  mirage__forget_elements(e);
}

void mirage__reduce_end(Emit *e, Carry *carry) {
  if (is_resident(e, carry)) {
    mirage__cells_reduce_end(e, carry);
    return;
  }
  Reduction r = describe(e, carry);
  const MirageType *type = emit_type(e, carry->result);
  mirage__begin_operation(e);
  mirage__will_write(e, carry->result);
  int32_t lanes = r.split.group < 32 ? r.split.group : 32;
  LLVMValueRef copy = r.split.warps_each > 1 ? mirage__div(e, r.member, 32) : NULL;
  for (int32_t j = 0; j < carry->acc.count; j++) {
    LLVMValueRef sum = mirage__get(e, carry->acc.cells[j]);
    sum = mirage__reduce_lanes(e, r.op, sum, lanes);
    LLVMValueRef index[MIRAGE_MAX_RANK], valid;
    result_index(e, &r, j, index, &valid);
    if (lanes > 1) {
      LLVMValueRef first = mirage__equals(e, mirage__mod(e, r.member, lanes), 0);
      valid = mirage__and(e, valid, first);
    }
    LLVMBasicBlockRef join = mirage__begin_if(e, valid);
    mirage__tile_store(e, type, copy, index, 1, &sum);
    mirage__end_if(e, join);
  }
  if (r.split.warps_each > 1)
    mirage__combine_copies(e, carry->result, r.op == MIRAGE_OP_REDUCE_MAX);
}

typedef struct CombineJob {
  const MirageType *type;
  bool maximum;
} CombineJob;

static void combine_item(Emit *e, LLVMValueRef item, void *user) {
  const CombineJob *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], sum = NULL;
  mirage__delinearize(e, item, job->type->rank, job->type->shape, index);
  for (int32_t c = 0; c < job->type->layout.stages; c++) {
    LLVMValueRef part;
    mirage__tile_load(e, job->type, gpu_i32(&e->gpu, c), index, 1, &part);
    sum = sum ? mirage__binary(e, job->maximum ? MIRAGE_OP_MAX : MIRAGE_OP_ADD, sum, part) : part;
  }
  mirage__tile_store(e, job->type, NULL, index, 1, &sum);
}

void mirage__combine_copies(Emit *e, MirageValue buffer, bool maximum) {
  CombineJob job = {emit_type(e, buffer), maximum};
  mirage__barrier(e);
  mirage__begin_operation(e);
  mirage__will_write(e, buffer);
  mirage__for_items(e, mirage_type_elements(job.type), combine_item, &job);
}
