// emit.c - hands a program to the µGraph builder, instruction by instruction.
#include "emit.h"

#include <string.h>

typedef struct Emit {
  const Program *p;
  MirageUGraph *graph;
  MirageDType dtype;
  MirageValue map[MAX_INSTRS];
  MirageNode kernel;
  int tensors[MAX_INSTRS], num_tensors; // kernel-level values that the open kernel loads
  int outputs[MAX_ARGS], num_outputs;
} Emit;

static void keep_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  (void)loc;
  char *reason = user;
  if (severity == MIRAGE_SEVERITY_ERROR && !reason[0])
    snprintf(reason, 160, "%s", message);
}

static MirageOp op_of(const Instr *at) {
  if (at->op == OP_GATHER_SUM)
    return at->in_cluster ? MIRAGE_OP_CLUSTER_SUM : MIRAGE_OP_GRID_SUM;
  if (at->op == OP_GATHER_MAX)
    return at->in_cluster ? MIRAGE_OP_CLUSTER_MAX : MIRAGE_OP_GRID_MAX;
  const char *name = op_name(at->op);
  MirageOp op = mirage_op_find(MIRAGE_LEVEL_KERNEL, name, strlen(name));
  return op != MIRAGE_OP_NONE ? op : mirage_op_find(MIRAGE_LEVEL_BLOCK, name, strlen(name));
}

static MirageAccessAttrs access_of(const Access *from) {
  MirageAccessAttrs to = {.fill = from->fill == FILL_ZERO  ? MIRAGE_FILL_ZERO
                                  : from->fill == FILL_ONE ? MIRAGE_FILL_ONE
                                                           : MIRAGE_FILL_BOTTOM};
  for (int axis = 0; axis < 3; axis++)
    to.grid[axis] = (int8_t)from->grid[axis];
  for (int l = 0; l < MAX_DEPTH; l++)
    to.loop[l] = (int8_t)from->loop[l];
  for (int d = 0; d < MAX_DIMS; d++) {
    to.order[d] = (int8_t)(from->reordered ? from->order[d] : 0);
    to.begin[d] = from->end[d] ? from->begin[d] : 0;
    to.end[d] = from->end[d];
  }
  to.cyclic = from->cyclic && may_cycle(from);
  return to;
}

static MirageType type_of(const Emit *emit, const Instr *at) {
  uint32_t rank = (uint32_t)at->shape.rank;
  return emit->kernel.index ? mirage_type_tile(MIRAGE_F32, rank, at->shape.n)
                            : mirage_type_tensor(emit->dtype, rank, at->shape.n);
}

static int index_in(const int *list, int count, int value) {
  for (int i = 0; i < count; i++)
    if (list[i] == value)
      return i;
  return -1;
}

static void open_kernel(Emit *emit, int at) {
  const Instr *kernel = &emit->p->instr[at];
  MirageValue operands[MAX_INSTRS];
  MirageType results[MAX_ARGS];
  MirageCustomAttrs attrs = {.schedule = NULL};
  emit->num_tensors = emit->num_outputs = 0;
  for (int i = at, end = bracket_end(emit->p, at); i < end; i++) {
    const Instr *in = &emit->p->instr[i];
    if (in->op == OP_LOAD && index_in(emit->tensors, emit->num_tensors, in->args[0]) < 0) {
      operands[emit->num_tensors] = emit->map[in->args[0]];
      emit->tensors[emit->num_tensors++] = in->args[0];
    }
    if (in->op == OP_OUTPUT && emit->num_outputs < MAX_ARGS) {
      results[emit->num_outputs] = mirage_type_tensor(emit->dtype, (uint32_t)in->shape.rank, in->shape.n);
      emit->outputs[emit->num_outputs++] = i;
    }
  }
  for (int axis = 0; axis < 3; axis++) {
    attrs.grid[axis] = kernel->grid[axis];
    attrs.cluster[axis] = kernel->cluster[axis];
  }
  emit->kernel = mirage_ugraph_open_custom(emit->graph, (uint32_t)emit->num_tensors, operands,
                                           (uint32_t)emit->num_outputs, results, &attrs);
}

static MirageValue tensor_argument(const Emit *emit, int instr) {
  int input = index_in(emit->tensors, emit->num_tensors, instr);
  int output = index_in(emit->outputs, emit->num_outputs, instr);
  return mirage_ugraph_argument(emit->graph, emit->kernel, (uint32_t)(input >= 0 ? input : emit->num_tensors + output));
}

static void open_loop(Emit *emit, int at) {
  static const MirageCombine combines[] = {MIRAGE_COMBINE_SUM, MIRAGE_COMBINE_MAX, MIRAGE_COMBINE_RESCALE,
                                           MIRAGE_COMBINE_CONCAT, MIRAGE_COMBINE_ASSIGN};
  const Instr *loop = &emit->p->instr[at];
  MirageCarry carries[MAX_ARGS];
  MirageValue inits[MAX_ARGS];
  for (int c = 0; c < loop->num_args; c++) {
    carries[c] = (MirageCarry){combines[loop->combine[c]], loop->combine_dim[c]};
    inits[c] = emit->map[loop->args[c]];
  }
  const MirageLoopAttrs attrs = {loop->extent, (uint32_t)loop->num_args, carries};
  MirageNode node = mirage_ugraph_open_loop(emit->graph, (uint32_t)loop->num_args, inits, &attrs);
  int end = bracket_end(emit->p, at);
  for (int c = 0; c < loop->num_args && mirage_ugraph_status(emit->graph) == MIRAGE_OK; c++) {
    emit->map[at + 1 + c] = mirage_ugraph_argument(emit->graph, node, (uint32_t)c);
    emit->map[end + 1 + c] = (MirageValue){node.index}; // until the loop is closed
  }
}

static MirageAttrs attrs_of(const Emit *emit, const Instr *at) {
  MirageAttrs attrs = {0};
  switch (at->op) {
  case OP_SUM:
  case OP_TOP:
  case OP_MEAN:
    attrs.reduce.dim = at->dim;
    attrs.reduce.extent = at->extent;
    break;
  case OP_MATMUL:
    attrs.matmul.transpose_a = at->ta;
    attrs.matmul.transpose_b = at->tb;
    break;
  case OP_BROADCAST:
  case OP_RESHAPE:
  case OP_BOTTOM:
    attrs.shape.type = type_of(emit, at);
    break;
  case OP_REPEAT:
    attrs.repeat.dim = at->dim;
    attrs.repeat.times = at->extent;
    break;
  case OP_TRANSPOSE:
    for (int d = 0; d < at->shape.rank; d++)
      attrs.perm.perm[d] = at->perm[d];
    break;
  case OP_SLICE:
    attrs.slice.dim = at->dim;
    attrs.slice.begin = at->begin;
    attrs.slice.end = at->end;
    break;
  case OP_CONCAT:
  case OP_SOFTMAX:
    attrs.dim.dim = at->dim;
    break;
  case OP_RMS_NORM:
    attrs.eps.eps = at->value;
    break;
  case OP_GATHER_SUM:
  case OP_GATHER_MAX:
    for (int axis = 0; axis < 3; axis++)
      attrs.axes.axis[axis] = at->axes[axis];
    break;
  default:
    break;
  }
  return attrs;
}

static MirageValue emit_plain(Emit *emit, const Instr *at) {
  MirageValue operands[MAX_ARGS];
  MirageAttrs attrs = attrs_of(emit, at);
  for (int k = 0; k < at->num_args; k++)
    operands[k] = emit->map[at->args[k]];
  if ((at->op == OP_BROADCAST || at->op == OP_RESHAPE) && mirage_ugraph_status(emit->graph) == MIRAGE_OK)
    attrs.shape.type.dtype = mirage_ugraph_type(emit->graph, operands[0])->dtype;
  MirageOp op = op_of(at);
  bool plain = mirage_op_info(op)->attrs == MIRAGE_ATTRS_NONE;
  return mirage_ugraph_apply(emit->graph, op, (uint32_t)at->num_args, operands, plain ? NULL : &attrs);
}

static void emit_one(Emit *emit, int i) {
  const Instr *at = &emit->p->instr[i];
  MirageAccessAttrs access = access_of(&at->at);
  MirageValue values[MAX_ARGS];
  switch (at->op) {
  case OP_INPUT:
    emit->map[i] = mirage_ugraph_input(emit->graph, type_of(emit, at));
    break;
  case OP_CONST:
    emit->map[i] = mirage_ugraph_constant(emit->graph, type_of(emit, at), at->value);
    break;
  case OP_KERNEL:
    open_kernel(emit, i);
    break;
  case OP_OUTPUT:
  case OP_CARRY:
    break;
  case OP_LOAD:
    emit->map[i] = mirage_ugraph_load(emit->graph, tensor_argument(emit, at->args[0]), &access);
    break;
  case OP_STORE:
    mirage_ugraph_store(emit->graph, emit->map[at->args[0]], tensor_argument(emit, at->args[1]), &access);
    break;
  case OP_LOOP:
    open_loop(emit, i);
    break;
  case OP_END_LOOP:
    for (int k = 0; k < at->num_args; k++)
      values[k] = emit->map[at->args[k]];
    mirage_ugraph_close(emit->graph, (uint32_t)at->num_args, values);
    break;
  case OP_LOOP_RESULT:
    emit->map[i] = mirage_ugraph_result(emit->graph, (MirageNode){emit->map[i].index}, (uint32_t)at->dim);
    break;
  case OP_END_KERNEL:
    mirage_ugraph_close(emit->graph, 0, NULL);
    for (int o = 0; o < emit->num_outputs && mirage_ugraph_status(emit->graph) == MIRAGE_OK; o++)
      emit->map[emit->outputs[o]] = mirage_ugraph_result(emit->graph, emit->kernel, (uint32_t)o);
    emit->kernel = (MirageNode){0};
    break;
  case OP_KERNEL_RESULT:
    emit->map[i] = emit->map[at->args[0]];
    break;
  default:
    emit->map[i] = emit_plain(emit, at);
    break;
  }
}

MirageUGraph *emit_graph(const Program *p, const char *name, MirageDType dtype, char reason[160]) {
  const MirageDiag diag = {keep_reason, reason};
  Emit emit = {.p = p, .dtype = dtype, .graph = mirage_ugraph_create(NULL, name, &diag)};
  MirageValue outputs[MAX_OUTPUTS];
  reason[0] = 0;
  if (!emit.graph)
    return NULL;
  for (int i = 0; i < p->num && mirage_ugraph_status(emit.graph) == MIRAGE_OK; i++)
    emit_one(&emit, i);
  for (int o = 0; o < p->num_outputs; o++)
    outputs[o] = emit.map[p->outputs[o]];
  mirage_ugraph_return(emit.graph, (uint32_t)p->num_outputs, outputs);
  if (mirage_ugraph_finish(emit.graph) != MIRAGE_OK) {
    if (!reason[0])
      snprintf(reason, 160, "the builder refused the graph");
    mirage_ugraph_destroy(emit.graph);
    return NULL;
  }
  return emit.graph;
}
