// import_block.c - one kn_customized_op: the operators of its thread block graph -> a custom kernel with a loop.
//
// The file lists a block graph's operators in one row and marks tensors that live after the loop; we have the loop as a
// region. So an operator is read first (plan) and built later (build), in three parts:
//   body      everything up to the accumulators: loads, operators, each accumulator's contribution
//   loop end  the accumulators' sums; a mean or root mean square is finished here
//   epilogue  operators on accumulated tensors, stores
// A loop of one iteration is no loop: the parts follow each other.
//
// Example:     f = 32:  x, w -> matmul -> accum -> div by (x -> accum rms) -> output
//   loop 32 (a = 0 sum, s = 0 sum) { x, w = load; yield matmul(x, w), reduce_sum(square(x)) }
//   store div(a, sqrt(div(s, 4096)))
// Types:       tiles of arithmetic are f32; a matmul's operands are cast to the file's element type first.
#include "import_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 32, MAX_RANGE = 1 << 20 };
static const int64_t MAX_BLOCKS = INT64_C(1) << 24, MAX_EXTENT = INT64_C(1) << 31;

/// One planned operator.
typedef struct BlockOp {
  const ImportRule *rule;
  size_t index;     // in the file
  const char *type; // its op_type
  ImportTensor *inputs[IMPORT_MAX_INPUTS];
  ImportTensor *output;     // NULL for tb_output_op
  MirageAccessAttrs access; // input, output
  uint32_t tensor;          // input: number of the kernel's operand; output: of its result
  MirageDType dtype;        // that the file states for the result
} BlockOp;

typedef struct Block {
  ImportReader *reader;
  ImportTensor *tensors;                  // of this block graph
  int64_t grid[3], range, reduction_dimx; // reduction_dimx 0: not stated
  uint32_t num_operands, num_results;
  ImportTensor *operands[MAX_OPERANDS];
  const json_t *results[MAX_OPERANDS]; // output_tensors
  MirageType result_types[MAX_OPERANDS];
  bool stored[MAX_OPERANDS];
  size_t num_ops;
  BlockOp *ops;
  uint32_t num_accums;
  MirageNode custom;
} Block;

static MirageStatus fail(const Block *block, MirageStatus status, const char *sentence) {
  return mirage__import_fail(block->reader, status, "%s", sentence);
}

// ------------------------------------------------------------------------------------------------------ plan: accesses

// A map of grid axes to dimensions, as an access. Axes of one block split nothing, whatever they name.
static MirageStatus read_map(Block *block, const json_t *op, const char *key, uint32_t rank, MirageAccessAttrs *out) {
  int64_t map[3];
  MIRAGE_TRY(mirage__import_xyz(block->reader, op, key, -1, (int64_t)rank - 1, map));
  *out = (MirageAccessAttrs){.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  for (int a = 0; a < 3; a++) {
    if (block->grid[a] == 1)
      continue;
    out->grid[a] = (int8_t)map[a];
    for (int b = 0; b < a; b++)
      if (map[a] >= 0 && out->grid[b] == map[a])
        return mirage__import_fail(block->reader, MIRAGE_BAD_ARGUMENT,
                                   "%s gives dimension %" PRId64 " to two grid axes: the format does not say in which "
                                   "order they split it",
                                   key, map[a]);
  }
  return MIRAGE_OK;
}

static MirageStatus split(Block *block, MirageType *type, int64_t dim, int64_t parts, const char *what) {
  if (dim < 0)
    return MIRAGE_OK;
  if (type->shape[dim] % parts)
    return mirage__import_fail(block->reader, MIRAGE_BAD_SHAPE,
                               "dimension %" PRId64 " of extent %" PRId64 " does not divide into %" PRId64
                               " parts of the %s",
                               dim, type->shape[dim], parts, what);
  type->shape[dim] /= parts;
  return MIRAGE_OK;
}

static MirageStatus plan_input(Block *block, const json_t *json, BlockOp *op) {
  const json_t *dtensor, *stated;
  ImportTensor *tensor;
  int64_t loop;
  MIRAGE_TRY(mirage__import_object(block->reader, json, "dtensor", &dtensor));
  MIRAGE_TRY(mirage__import_find(block->reader, block->reader->tensors, dtensor, &tensor));
  while (op->tensor < block->num_operands && block->operands[op->tensor] != tensor)
    op->tensor++;
  if (op->tensor == block->num_operands)
    return mirage__import_fail(block->reader, MIRAGE_BAD_GRAPH,
                               "reads tensor %" PRId64 ", which is none of the kernel's input_tensors",
                               (int64_t)tensor->guid);
  MIRAGE_TRY(read_map(block, json, "input_map", tensor->type.rank, &op->access));
  MIRAGE_TRY(mirage__import_int(block->reader, json, "forloop_dim", -1, (int64_t)tensor->type.rank - 1, &loop));
  MirageType tile = mirage_type_tile(MIRAGE_F32, tensor->type.rank, tensor->type.shape);
  for (int a = 0; a < 3; a++)
    MIRAGE_TRY(split(block, &tile, op->access.grid[a], block->grid[a], "grid"));
  MIRAGE_TRY(split(block, &tile, loop, block->range, "loop"));
  op->access.loop[0] = block->range > 1 ? (int8_t)loop : -1;
  MIRAGE_TRY(mirage__import_only_output(block->reader, json, &stated));
  return mirage__import_define(block->reader, &block->tensors, stated, &tile, &op->output);
}

static MirageStatus plan_output(Block *block, const json_t *json, BlockOp *op) {
  const json_t *dtensor;
  json_int_t guid, other;
  MIRAGE_TRY(mirage__import_inputs(block->reader, json, op->rule, block->tensors, op->inputs));
  if (!op->inputs[0]->after && block->range > 1)
    return fail(block, MIRAGE_BAD_GRAPH, "stores a tensor of the loop's body: it has to be accumulated first");
  MIRAGE_TRY(mirage__import_object(block->reader, json, "dtensor", &dtensor));
  MIRAGE_TRY(mirage__import_guid(block->reader, dtensor, &guid));
  for (; op->tensor < block->num_results; op->tensor++) {
    MIRAGE_TRY(mirage__import_guid(block->reader, block->results[op->tensor], &other));
    if (guid == other)
      break;
  }
  if (op->tensor == block->num_results || block->stored[op->tensor])
    return mirage__import_fail(block->reader, MIRAGE_BAD_GRAPH, "stores to tensor %" PRId64 ", %s", (int64_t)guid,
                               op->tensor == block->num_results ? "which is none of the kernel's output_tensors"
                                                                : "which an operator before it stores already");
  MirageType tensor = op->inputs[0]->type;
  MIRAGE_TRY(mirage__import_dtype(block->reader, dtensor, &op->dtype));
  MIRAGE_TRY(read_map(block, json, "output_map", tensor.rank, &op->access));
  for (int a = 0; a < 3; a++) {
    int8_t dim = op->access.grid[a];
    if (dim >= 0 && tensor.shape[dim] > MAX_EXTENT / block->grid[a])
      return fail(block, MIRAGE_LIMIT, "a dimension of the output has more than 2^31 elements");
    tensor.shape[dim >= 0 ? dim : 0] *= dim >= 0 ? block->grid[a] : 1;
  }
  block->result_types[op->tensor] = mirage_type_tensor(op->dtype, tensor.rank, tensor.shape);
  block->stored[op->tensor] = true;
  return mirage__import_check(block->reader, dtensor, &block->result_types[op->tensor]);
}

// ----------------------------------------------------------------------------------------------------- plan: operators

static MirageStatus infer(Block *block, MirageOp op, uint32_t n, const MirageType *types, const MirageAttrs *attrs,
                          MirageType *out) {
  return mirage_op_infer(op, MIRAGE_LEVEL_BLOCK, n, types, attrs, NULL, &block->reader->diag, NULL, out);
}

static MirageStatus infer_reduce(Block *block, const MirageType *type, int32_t dim, int64_t extent, MirageType *out) {
  const MirageAttrs attrs = {.reduce = {.dim = dim, .extent = extent}};
  if (extent == 0)
    return fail(block, MIRAGE_BAD_GRAPH,
                "the block graph has no reduction_dimx, which says what is left of a dimension");
  return infer(block, MIRAGE_OP_REDUCE_SUM, 1, type, &attrs, out);
}

static MirageStatus infer_concat(Block *block, const MirageType *types, int32_t dim, MirageType *out) {
  const MirageAttrs attrs = {.dim = {.dim = dim}};
  return infer(block, MIRAGE_OP_CONCAT, 2, types, &attrs, out);
}

// The result's shape, from those of the inputs.
static MirageStatus infer_rule(Block *block, const ImportRule *rule, const MirageType *types, MirageType *out) {
  int32_t last = (int32_t)types[0].rank - 1;
  switch (rule->kind) {
  case RULE_APPLY:
    return infer(block, rule->op, rule->num_inputs, types, NULL, out);
  case RULE_REDUCE:
    return infer_reduce(block, &types[0], rule->dim, 1, out);
  case RULE_REDUCE_TO:
    return infer_reduce(block, &types[0], rule->dim, block->reduction_dimx, out);
  case RULE_CONCAT:
    return infer_concat(block, types, rule->dim, out);
  case RULE_CONCAT_MATMUL: {
    MirageType sides[2];
    if (types[2].rank < 2)
      return fail(block, MIRAGE_BAD_SHAPE, "matrices of two dimensions or more are wanted");
    MIRAGE_TRY(infer_concat(block, types, last, &sides[0]));
    MIRAGE_TRY(infer_concat(block, types + 2, (int32_t)types[2].rank - 2, &sides[1]));
    return infer(block, MIRAGE_OP_MATMUL, 2, sides, NULL, out);
  }
  case RULE_ACCUM_SUM:
  case RULE_ACCUM_MEAN:
  case RULE_ACCUM_RMS:
    return infer_reduce(block, &types[0], last, 1, out);
  case RULE_ACCUM_SUM_TO:
    return infer_reduce(block, &types[0], last, block->reduction_dimx, out);
  default: // RULE_RMS_NORM, RULE_ACCUM
    *out = types[0];
    return MIRAGE_OK;
  }
}

// Whether the result lives after the loop.
static MirageStatus plan_phase(Block *block, const BlockOp *op, bool *out_after) {
  bool accum = mirage__import_is_accum(op->rule);
  *out_after = accum || op->inputs[0]->after;
  if (accum && op->inputs[0]->after)
    return fail(block, MIRAGE_BAD_GRAPH, "accumulates a tensor that lives after the loop already");
  for (uint32_t i = 1; i < op->rule->num_inputs; i++)
    if (op->inputs[i]->after != op->inputs[0]->after && block->range > 1)
      return fail(block, MIRAGE_BAD_GRAPH, "mixes a tensor of the loop's body with one that lives after the loop");
    else
      *out_after |= op->inputs[i]->after;
  return MIRAGE_OK;
}

static MirageStatus plan_operator(Block *block, const json_t *json, BlockOp *op) {
  MirageType types[IMPORT_MAX_INPUTS], result;
  const json_t *stated;
  bool after, said;
  MIRAGE_TRY(mirage__import_inputs(block->reader, json, op->rule, block->tensors, op->inputs));
  MIRAGE_TRY(plan_phase(block, op, &after));
  for (uint32_t i = 0; i < op->rule->num_inputs; i++)
    types[i] = op->inputs[i]->type;
  MIRAGE_TRY(infer_rule(block, op->rule, types, &result));
  MIRAGE_TRY(mirage__import_only_output(block->reader, json, &stated));
  MIRAGE_TRY(mirage__import_define(block->reader, &block->tensors, stated, &result, &op->output));
  MIRAGE_TRY(mirage__import_dtype(block->reader, stated, &op->dtype));
  op->output->after = after;
  block->num_accums += mirage__import_is_accum(op->rule);
  if (block->reader->options->recompute_shapes)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__import_bool(block->reader, stated, "after_accum", &said));
  if (said != after)
    return mirage__import_fail(block->reader, MIRAGE_BAD_GRAPH,
                               "after_accum is stated as %s, but the result lives %s the "
                               "loop",
                               said ? "true" : "false", after ? "after" : "in");
  return MIRAGE_OK;
}

static MirageStatus plan_ops(Block *block, const json_t *list) {
  ImportReader *reader = block->reader;
  block->num_ops = json_array_size(list);
  block->ops = mirage_arena_alloc_array(&reader->arena, block->num_ops, sizeof *block->ops);
  if (!block->ops)
    return MIRAGE_NO_MEMORY;
  for (size_t i = 0; i < block->num_ops; i++) {
    const json_t *json;
    BlockOp *op = &block->ops[i];
    MIRAGE_TRY(mirage__import_op(reader, list, 1, i, &json, &op->rule));
    op->index = i;
    op->type = reader->op_type[1];
    if (op->rule->kind == RULE_INPUT)
      MIRAGE_TRY(plan_input(block, json, op));
    else if (op->rule->kind == RULE_OUTPUT)
      MIRAGE_TRY(plan_output(block, json, op));
    else
      MIRAGE_TRY(plan_operator(block, json, op));
  }
  reader->op_type[1] = NULL;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------- plan: kernel

static MirageStatus plan_signature(Block *block, const json_t *op) {
  ImportReader *reader = block->reader;
  const json_t *inputs, *outputs;
  MIRAGE_TRY(mirage__import_array(reader, op, "input_tensors", &inputs));
  MIRAGE_TRY(mirage__import_array(reader, op, "output_tensors", &outputs));
  if (json_array_size(inputs) > MAX_OPERANDS || json_array_size(outputs) > MAX_OPERANDS)
    return mirage__import_fail(reader, MIRAGE_LIMIT, "%zu inputs and %zu outputs, at most %d each are supported",
                               json_array_size(inputs), json_array_size(outputs), MAX_OPERANDS);
  block->num_operands = (uint32_t)json_array_size(inputs);
  block->num_results = (uint32_t)json_array_size(outputs);
  for (uint32_t i = 0; i < block->num_operands; i++)
    MIRAGE_TRY(mirage__import_find(reader, reader->tensors, json_array_get(inputs, i), &block->operands[i]));
  for (uint32_t i = 0; i < block->num_results; i++)
    block->results[i] = json_array_get(outputs, i);
  return MIRAGE_OK;
}

static MirageStatus plan_graph(Block *block, const json_t *bgraph) {
  ImportReader *reader = block->reader;
  const json_t *ops;
  MIRAGE_TRY(mirage__import_xyz(reader, bgraph, "grid_dim", 1, INT32_MAX, block->grid));
  MIRAGE_TRY(mirage__import_int(reader, bgraph, "forloop_range", 1, MAX_RANGE, &block->range));
  if (json_object_get(bgraph, "reduction_dimx"))
    MIRAGE_TRY(mirage__import_int(reader, bgraph, "reduction_dimx", 1, INT32_MAX, &block->reduction_dimx));
  int64_t blocks = 1;
  for (int a = 0; a < 3; a++) {
    if (block->grid[a] > MAX_BLOCKS / blocks)
      return fail(block, MIRAGE_LIMIT, "the grid has more than 2^24 blocks");
    blocks *= block->grid[a];
  }
  MIRAGE_TRY(mirage__import_array(reader, bgraph, "operators", &ops));
  MIRAGE_TRY(plan_ops(block, ops));
  for (uint32_t i = 0; i < block->num_results; i++)
    if (!block->stored[i])
      return mirage__import_fail(reader, MIRAGE_BAD_GRAPH, "no tb_output_op stores to output tensor %u", i);
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------- build: operators

static MirageValue apply(Block *block, MirageOp op, MirageValue a, MirageValue b) {
  return mirage_ugraph_apply(block->reader->graph, op, b.index ? 2 : 1, (MirageValue[]){a, b}, NULL);
}

static MirageValue reduce(Block *block, MirageOp op, MirageValue a, int32_t dim, int64_t extent) {
  const MirageAttrs attrs = {.reduce = {.dim = dim, .extent = extent}};
  return mirage_ugraph_apply(block->reader->graph, op, 1, &a, &attrs);
}

static MirageValue concat(Block *block, MirageValue a, MirageValue b, int32_t dim) {
  const MirageAttrs attrs = {.dim = {.dim = dim}};
  return mirage_ugraph_apply(block->reader->graph, MIRAGE_OP_CONCAT, 2, (MirageValue[]){a, b}, &attrs);
}

// Casts to the element type of the file; nothing to do for most values.
static MirageValue narrow(Block *block, MirageValue value, MirageDType dtype) {
  const MirageType *type = mirage_ugraph_type(block->reader->graph, value);
  return type->dtype == dtype ? value : mirage_ugraph_cast(block->reader->graph, value, dtype);
}

static MirageValue square(Block *block, MirageValue x) { return apply(block, MIRAGE_OP_SQUARE, x, (MirageValue){0}); }

static int32_t last_dim(const ImportTensor *tensor) { return (int32_t)tensor->type.rank - 1; }

// Everything but accumulators.
static MirageValue build_value(Block *block, const BlockOp *op) {
  MirageUGraph *graph = block->reader->graph;
  MirageValue in[IMPORT_MAX_INPUTS] = {{0}};
  for (uint32_t i = 0; i < op->rule->num_inputs; i++)
    in[i] = op->inputs[i]->value;
  switch (op->rule->kind) {
  case RULE_INPUT:
    return mirage_ugraph_load(graph, mirage_ugraph_argument(graph, block->custom, op->tensor), &op->access);
  case RULE_OUTPUT:
    mirage_ugraph_store(graph, in[0], mirage_ugraph_argument(graph, block->custom, block->num_operands + op->tensor),
                        &op->access);
    return (MirageValue){0};
  case RULE_APPLY:
    if (op->rule->op == MIRAGE_OP_MATMUL)
      return apply(block, MIRAGE_OP_MATMUL, narrow(block, in[0], op->dtype), narrow(block, in[1], op->dtype));
    return apply(block, op->rule->op, in[0], in[1]);
  case RULE_REDUCE:
    return reduce(block, MIRAGE_OP_REDUCE_SUM, in[0], op->rule->dim, 1);
  case RULE_REDUCE_TO:
    return reduce(block, MIRAGE_OP_REDUCE_SUM, in[0], op->rule->dim, block->reduction_dimx);
  case RULE_RMS_NORM: {
    MirageValue mean = reduce(block, MIRAGE_OP_REDUCE_MEAN, square(block, in[0]), last_dim(op->inputs[0]), 1);
    return apply(block, MIRAGE_OP_DIV, in[0], apply(block, MIRAGE_OP_SQRT, mean, (MirageValue){0}));
  }
  default: // RULE_CONCAT, RULE_CONCAT_MATMUL
    for (uint32_t i = 0; i < op->rule->num_inputs; i++)
      in[i] = narrow(block, in[i], op->dtype);
    if (op->rule->kind == RULE_CONCAT)
      return concat(block, in[0], in[1], op->rule->dim);
    return apply(block, MIRAGE_OP_MATMUL, concat(block, in[0], in[1], last_dim(op->inputs[0])),
                 concat(block, in[2], in[3], last_dim(op->inputs[2]) - 1));
  }
}

// What one iteration adds to an accumulator.
static MirageValue build_contribution(Block *block, const BlockOp *op) {
  MirageValue x = op->inputs[0]->value;
  int32_t last = last_dim(op->inputs[0]);
  switch (op->rule->kind) {
  case RULE_ACCUM:
    return x;
  case RULE_ACCUM_SUM_TO:
    return reduce(block, MIRAGE_OP_REDUCE_SUM, x, last, block->reduction_dimx);
  case RULE_ACCUM_RMS:
    return reduce(block, MIRAGE_OP_REDUCE_SUM, square(block, x), last, 1);
  default: // RULE_ACCUM_SUM, RULE_ACCUM_MEAN
    return reduce(block, MIRAGE_OP_REDUCE_SUM, x, last, 1);
  }
}

// The accumulator's value, from the sum of all contributions.
static MirageValue build_finish(Block *block, const BlockOp *op, MirageValue sum) {
  const ImportTensor *x = op->inputs[0];
  if (op->rule->kind != RULE_ACCUM_MEAN && op->rule->kind != RULE_ACCUM_RMS)
    return sum;
  const int64_t ones[MIRAGE_MAX_RANK] = {1, 1, 1, 1, 1, 1};
  MirageType scalar = mirage_type_tile(MIRAGE_F32, x->type.rank, ones);
  double count = (double)x->type.shape[last_dim(x)] * (double)block->range;
  MirageValue mean = apply(block, MIRAGE_OP_DIV, sum, mirage_ugraph_constant(block->reader->graph, scalar, count));
  return op->rule->kind == RULE_ACCUM_MEAN ? mean : apply(block, MIRAGE_OP_SQRT, mean, (MirageValue){0});
}

// -------------------------------------------------------------------------------------------------------- build: loop

static void move_place(Block *block, const BlockOp *op) {
  block->reader->op_index[1] = op->index;
  block->reader->op_type[1] = op->type;
}

static bool lives_in_body(const BlockOp *op) { return op->output && !op->output->after; }

static void build_ops(Block *block, bool in_body) {
  for (size_t i = 0; i < block->num_ops; i++) {
    BlockOp *op = &block->ops[i];
    if (mirage__import_is_accum(op->rule) || lives_in_body(op) != in_body)
      continue;
    move_place(block, op);
    MirageValue value = build_value(block, op);
    if (op->output)
      op->output->value = value;
  }
}

// Accumulators start at zero and take their contributions at the end of the body.
static MirageStatus build_loop(Block *block) {
  MirageUGraph *graph = block->reader->graph;
  MirageArena *arena = &block->reader->arena;
  MirageValue *values = mirage_arena_alloc_array(arena, block->num_accums, sizeof *values);
  MirageCarry *carries = mirage_arena_alloc_array(arena, block->num_accums, sizeof *carries);
  if (!values || !carries)
    return MIRAGE_NO_MEMORY;
  uint32_t n = 0;
  for (size_t i = 0; i < block->num_ops; i++)
    if (mirage__import_is_accum(block->ops[i].rule)) {
      const MirageType *type = &block->ops[i].output->type;
      values[n] = mirage_ugraph_constant(graph, mirage_type_tile(MIRAGE_F32, type->rank, type->shape), 0);
      carries[n++].combine = MIRAGE_COMBINE_SUM;
    }
  const MirageLoopAttrs attrs = {.range = block->range, .num_carries = n, .carries = carries};
  MirageNode loop = mirage_ugraph_open_loop(graph, n, values, &attrs);
  build_ops(block, true);
  n = 0;
  for (size_t i = 0; i < block->num_ops; i++)
    if (mirage__import_is_accum(block->ops[i].rule)) {
      move_place(block, &block->ops[i]);
      values[n++] = build_contribution(block, &block->ops[i]);
    }
  mirage_ugraph_close(graph, n, values);
  MIRAGE_TRY(mirage_ugraph_status(graph));
  n = 0;
  for (size_t i = 0; i < block->num_ops; i++)
    if (mirage__import_is_accum(block->ops[i].rule)) {
      move_place(block, &block->ops[i]);
      block->ops[i].output->value = build_finish(block, &block->ops[i], mirage_ugraph_result(graph, loop, n++));
    }
  build_ops(block, false);
  return MIRAGE_OK;
}

static void build_straight(Block *block) {
  for (size_t i = 0; i < block->num_ops; i++) {
    BlockOp *op = &block->ops[i];
    move_place(block, op);
    MirageValue value = mirage__import_is_accum(op->rule) ? build_finish(block, op, build_contribution(block, op))
                                                          : build_value(block, op);
    if (op->output)
      op->output->value = value;
  }
}

static MirageStatus build(Block *block) {
  ImportReader *reader = block->reader;
  MirageUGraph *graph = reader->graph;
  MirageCustomAttrs attrs = {.cluster = {1, 1, 1}};
  MirageValue operands[MAX_OPERANDS];
  memcpy(attrs.grid, block->grid, sizeof attrs.grid);
  for (uint32_t i = 0; i < block->num_operands; i++)
    operands[i] = block->operands[i]->value;
  block->custom =
      mirage_ugraph_open_custom(graph, block->num_operands, operands, block->num_results, block->result_types, &attrs);
  if (block->range > 1)
    MIRAGE_TRY(build_loop(block));
  else
    build_straight(block);
  reader->op_type[1] = NULL;
  mirage_ugraph_close(graph, 0, NULL);
  return mirage_ugraph_status(graph);
}

MirageStatus mirage__import_custom(ImportReader *reader, const json_t *op) {
  Block block = {.reader = reader};
  const json_t *bgraph;
  MIRAGE_TRY(plan_signature(&block, op));
  MIRAGE_TRY(mirage__import_object(reader, op, "bgraph", &bgraph));
  MIRAGE_TRY(plan_graph(&block, bgraph));
  MIRAGE_TRY(build(&block));
  for (uint32_t i = 0; i < block.num_results; i++) {
    ImportTensor *tensor;
    MIRAGE_TRY(mirage__import_define(reader, &reader->tensors, block.results[i], &block.result_types[i], &tensor));
    tensor->value = mirage_ugraph_result(reader->graph, block.custom, i);
  }
  return MIRAGE_OK;
}
