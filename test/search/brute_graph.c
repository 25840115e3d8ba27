// brute_graph.c - a block graph of the brute force as a µGraph, for the verifier.
#include "brute.h"

#include <string.h>

typedef struct Build {
  const BruteProgram *program;
  const BruteGraph *graph;
  MirageUGraph *out;
  MirageNode custom;
  MirageValue values[BRUTE_NODES];
} Build;

static MirageAccessAttrs access_of(uint32_t rank, int32_t grid, int32_t loop) {
  int32_t front = BRUTE_RANK - (int32_t)rank;
  MirageAccessAttrs access = {.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}};
  access.grid[0] = (int8_t)(grid < 0 ? -1 : grid - front);
  access.loop[0] = (int8_t)(loop < 0 ? -1 : loop - front);
  return access;
}

static MirageType tile_of(const BruteNode *node) {
  int64_t shape[BRUTE_RANK] = {1, 1};
  for (uint32_t d = 0; d < node->rank; d++)
    shape[d] = node->shape[BRUTE_RANK - node->rank + d];
  return mirage_type_tile(MIRAGE_F32, node->rank, shape);
}

// An operand next to `other`; a constant has the rank of its neighbour.
static MirageValue operand(Build *build, uint32_t node, uint32_t other) {
  const BruteNode *source = &build->graph->nodes[node];
  if (source->op != MIRAGE_OP_CONSTANT)
    return build->values[node];
  int64_t ones[BRUTE_RANK] = {1, 1};
  uint32_t rank = build->graph->nodes[other].rank;
  return mirage_ugraph_constant(build->out, mirage_type_tile(MIRAGE_F32, rank ? rank : 1, ones), source->constant);
}

static MirageValue factor(Build *build, uint32_t node) {
  MirageValue value = build->values[node];
  const MirageType *type = value.index ? mirage_ugraph_type(build->out, value) : NULL;
  return type && type->dtype != MIRAGE_F16 ? mirage_ugraph_cast(build->out, value, MIRAGE_F16) : value;
}

static MirageValue build_node(Build *build, const BruteNode *node) {
  MirageAttrs attrs = {0};
  MirageValue operands[2];
  switch ((MirageOp)node->op) {
  case MIRAGE_OP_LOAD: {
    MirageAccessAttrs access = access_of(node->rank, node->grid, node->loop);
    return mirage_ugraph_load(build->out, mirage_ugraph_argument(build->out, build->custom, node->a), &access);
  }
  case MIRAGE_OP_MATMUL:
    operands[0] = factor(build, node->a);
    operands[1] = factor(build, node->b);
    return mirage_ugraph_apply(build->out, MIRAGE_OP_MATMUL, 2, operands, &attrs);
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
    attrs.reduce.dim = node->dim - (BRUTE_RANK - node->rank);
    attrs.reduce.extent = 1;
    return mirage_ugraph_apply(build->out, (MirageOp)node->op, 1, &build->values[node->a], &attrs);
  default:
    operands[0] = operand(build, node->a, node->b);
    if (mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_UNARY)
      return mirage_ugraph_apply(build->out, (MirageOp)node->op, 1, operands, NULL);
    operands[1] = operand(build, node->b, node->a);
    return mirage_ugraph_apply(build->out, (MirageOp)node->op, 2, operands, NULL);
  }
}

static void build_stage(Build *build, BruteStage stage) {
  for (uint32_t i = 0; i < build->graph->num_nodes; i++) {
    const BruteNode *node = &build->graph->nodes[i];
    if (node->stage == stage && node->op != MIRAGE_OP_CONSTANT && node->op != MIRAGE_OP_LOOP)
      build->values[i] = build_node(build, node);
  }
}

static MirageValue as_f32(Build *build, MirageValue value) {
  bool narrow = value.index && mirage_ugraph_type(build->out, value)->dtype != MIRAGE_F32;
  return narrow ? mirage_ugraph_cast(build->out, value, MIRAGE_F32) : value;
}

static void build_loop(Build *build) {
  const BruteGraph *graph = build->graph;
  MirageCarry carries[BRUTE_NODES];
  MirageValue values[BRUTE_NODES];
  uint32_t sources[BRUTE_NODES], count = 0;
  for (uint32_t i = 0; i < graph->num_nodes; i++) {
    const BruteNode *node = &graph->nodes[i];
    if (node->op != MIRAGE_OP_LOOP)
      continue;
    MirageAttrs attrs = {.shape = {.type = tile_of(node)}};
    values[count] = node->maximum ? mirage_ugraph_apply(build->out, MIRAGE_OP_BOTTOM, 0, NULL, &attrs)
                                  : mirage_ugraph_constant(build->out, attrs.shape.type, 0.0);
    carries[count] = (MirageCarry){.combine = node->maximum ? MIRAGE_COMBINE_MAX : MIRAGE_COMBINE_SUM};
    sources[count++] = i;
  }
  MirageLoopAttrs attrs = {.range = graph->iterations, .num_carries = count, .carries = carries};
  MirageNode loop = mirage_ugraph_open_loop(build->out, count, values, &attrs);
  build_stage(build, BRUTE_INSIDE);
  for (uint32_t i = 0; i < count; i++)
    values[i] = as_f32(build, build->values[graph->nodes[sources[i]].a]);
  mirage_ugraph_close(build->out, count, values);
  for (uint32_t i = 0; i < count; i++)
    build->values[sources[i]] = mirage_ugraph_result(build->out, loop, i);
}

MirageUGraph *brute_build(const BruteProgram *program, const BruteGraph *graph, const MirageDiag *diag) {
  Build build = {.program = program, .graph = graph, .out = mirage_ugraph_create(NULL, "brute", diag)};
  MirageValue inputs[BRUTE_INPUTS], result;
  uint32_t num_inputs = mirage_ugraph_num_inputs(program->graph);
  for (uint32_t i = 0; i < num_inputs; i++)
    inputs[i] =
        mirage_ugraph_input(build.out, *mirage_ugraph_type(program->graph, mirage_ugraph_get_input(program->graph, i)));
  MirageType type = *mirage_ugraph_type(program->graph, mirage_ugraph_get_output(program->graph, 0));
  MirageCustomAttrs attrs = {.grid = {graph->blocks, 1, 1}, .cluster = {1, 1, 1}};
  build.custom = mirage_ugraph_open_custom(build.out, num_inputs, inputs, 1, &type, &attrs);
  build_stage(&build, BRUTE_BEFORE);
  if (graph->iterations > 1)
    build_loop(&build);
  build_stage(&build, BRUTE_AFTER);
  MirageAccessAttrs access = access_of(type.rank, graph->store_grid, BRUTE_NO_DIM);
  mirage_ugraph_store(build.out, build.values[graph->num_nodes - 1],
                      mirage_ugraph_argument(build.out, build.custom, num_inputs), &access);
  mirage_ugraph_close(build.out, 0, NULL);
  result = mirage_ugraph_result(build.out, build.custom, 0);
  mirage_ugraph_return(build.out, 1, &result);
  if (mirage_ugraph_finish(build.out) == MIRAGE_OK)
    return build.out;
  mirage_ugraph_destroy(build.out);
  return NULL;
}
