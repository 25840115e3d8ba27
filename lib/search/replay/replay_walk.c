// replay_walk.c - walks a candidate: kernels, loops, and what moves values without computing.
//
// Kernels are read through: what one stores and another loads is one value, so that a candidate of several kernels is
// read as the block graph that computes the same at once. Casts and broadcasts are read as nothing, sugar as its
// expansion.
#include "search/block/search_structure.h"
#include "search/replay/replay_internal.h"
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- movement

static bool walk_collective(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  ReplayKernel *kernel = &walk->kernels[walk->num_kernels - 1];
  ReplayValue value = walk->values[node->operands[0].index];
  bool cluster = node->op == MIRAGE_OP_CLUSTER_SUM || node->op == MIRAGE_OP_CLUSTER_MAX;
  uint8_t coordinates = 0;
  int64_t times = 1;
  for (uint32_t g = 0; g < 3; g++)
    if (node->attrs->axes.axis[g] && kernel->extent[g] > 1) {
      coordinates |= (uint8_t)(1u << g);
      times *= kernel->extent[g];
    }
  kernel->by_cluster |= cluster;
  kernel->by_grid |= !cluster;
  if (!mirage__replay_gather(walk, at, coordinates, times,
                             node->op == MIRAGE_OP_CLUSTER_MAX || node->op == MIRAGE_OP_GRID_MAX,
                             mirage_ugraph_type(walk->graph, node->first_result)->rank, &value))
    return false;
  walk->values[node->first_result.index] = value;
  return true;
}

// Dimensions of extent 1 in front come and go.
static bool walk_reshape(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  const MirageType *from = mirage_ugraph_type(walk->graph, node->operands[0]);
  const MirageType *to = mirage_ugraph_type(walk->graph, node->first_result);
  ReplayValue value = walk->values[node->operands[0].index], moved = value;
  memset(moved.parts, 0, sizeof moved.parts);
  for (uint32_t i = 1; i <= from->rank || i <= to->rank; i++) {
    int64_t before = i <= from->rank ? from->shape[from->rank - i] : 1;
    int64_t after = i <= to->rank ? to->shape[to->rank - i] : 1;
    if (before != after)
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "the search changes no shapes");
    if (i <= from->rank && i <= to->rank)
      moved.parts[to->rank - i] = value.parts[from->rank - i];
  }
  walk->values[node->first_result.index] = moved;
  return true;
}

static bool walk_transpose(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  uint32_t rank = mirage_ugraph_type(walk->graph, node->first_result)->rank;
  const int32_t *perm = node->attrs->perm.perm;
  bool swaps = false;
  for (uint32_t i = 0; i < rank; i++) {
    if (perm[i] == (int32_t)i)
      continue;
    if (i + 2 < rank || perm[i] != (int32_t)(2 * rank - 3 - i))
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR,
                                "the search transposes the last two dimensions alone");
    swaps = true;
  }
  ReplayValue value, *out = &walk->values[node->first_result.index];
  if (!mirage__replay_operand(walk, at, node->operands[0], false, &value))
    return false;
  *out = value;
  SearchDerivation how = {.op = MIRAGE_OP_TRANSPOSE, .a = value.tensor};
  return !swaps || value.kind != REPLAY_TENSOR || mirage__replay_step(walk, at, how, &out->tensor);
}

// ------------------------------------------------------------------------------------------- regions

static bool walk_region(ReplayWalk *walk, MirageRegion region);

// What the loop reads of a carried value: of a maximum that stabilises, the search knows that it is one. A running
// maximum may be carried as such, or be assigned.
static bool start_carry(ReplayWalk *walk, MirageNode at, MirageCombine combine, const ReplayValue *initial,
                        ReplayValue *out) {
  bool bottom = initial->kind == REPLAY_BOTTOM, maximum = combine == MIRAGE_COMBINE_MAX;
  bool running = bottom && (maximum || combine == MIRAGE_COMBINE_ASSIGN);
  out->kind = REPLAY_CARRY;
  if (running && walk->whole)
    out->kind = REPLAY_BOTTOM;
  else if (running && mirage__replay_is_gauge_program(walk))
    out->kind = REPLAY_GAUGE;
  if (combine == MIRAGE_COMBINE_CONCAT || (combine == MIRAGE_COMBINE_ASSIGN && out->kind == REPLAY_CARRY))
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR,
                              "the accumulators of the search add, or take the maximum");
  if (maximum ? !bottom : !running && (initial->kind != REPLAY_CONSTANT || initial->constant != 0))
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "an accumulator of the search starts from %s",
                              maximum ? "the value below every number" : "0");
  return true;
}

// What a carried value is after the loop.
static bool end_carry(ReplayWalk *walk, MirageNode at, uint32_t index, MirageCombine combine, const ReplayValue *factor,
                      ReplayValue *value) {
  ReplayKernel *kernel = &walk->kernels[walk->num_kernels - 1];
  uint32_t coordinate = REPLAY_LOOPS + kernel->num_loops;
  if (combine == MIRAGE_COMBINE_RESCALE && factor->kind != REPLAY_FACTOR)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR,
                              "an accumulator is scaled by more than what a maximum moved");
  if (combine == MIRAGE_COMBINE_ASSIGN && value->kind != REPLAY_GAUGE && !walk->whole)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "what is assigned is no running maximum");
  bool maximum = combine == MIRAGE_COMBINE_MAX || combine == MIRAGE_COMBINE_ASSIGN;
  MirageValue result = mirage_ugraph_result(walk->graph, at, index);
  return mirage__replay_gather(walk, at, (uint8_t)(1u << coordinate), kernel->extent[coordinate], maximum,
                               mirage_ugraph_type(walk->graph, result)->rank, value);
}

static bool is_before_loop(const ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  MirageRegionView around = mirage_ugraph_region(walk->graph, node->parent);
  bool behind = false, found = false;
  for (uint32_t i = 0; i < around.num_nodes; i++) {
    found |= behind && mirage_ugraph_node(walk->graph, around.nodes[i]).op == MIRAGE_OP_LOOP;
    behind |= around.nodes[i].index == at.index;
  }
  return found;
}

// The axis that a load walks with a loop; 0 = none.
static uint32_t axis_walked(const ReplayWalk *walk, const MirageNodeView *load, uint32_t loop) {
  const SearchProgram *program = walk->space->program;
  const ReplayValue *value = &walk->values[load->operands[0].index];
  int8_t dim = load->attrs->access.loop[loop];
  if (dim < 0)
    return 0;
  if (value->kind == REPLAY_INPUT)
    return mirage__search_axis_of(program->dims[mirage_ugraph_get_input(program->graph, value->tensor).index][dim]);
  uint32_t rank = mirage_ugraph_type(walk->graph, load->operands[0])->rank;
  return value->kind == REPLAY_TENSOR ? mirage__search_axis_of(mirage__replay_dim(walk, value, rank, (uint32_t)dim))
                                      : 0;
}

// Whether the loop sums a product before the one that walks the loop's axis (schedule/search_leading.h): the search has it at once.
static bool is_leading(const ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  const MirageLoopAttrs *loop = &node->attrs->loop;
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  uint32_t depth = walk->kernels[walk->num_kernels - 1].num_loops;
  bool walks = false;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView load = mirage_ugraph_node(walk->graph, body.nodes[i]);
    walks |= load.op == MIRAGE_OP_LOAD && axis_walked(walk, &load, depth) == walk->space->loop_axis;
  }
  return !walks && loop->num_carries == 1 && loop->carries[0].combine == MIRAGE_COMBINE_SUM &&
         is_before_loop(walk, at, node);
}

static bool walk_loop(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  ReplayKernel *kernel = &walk->kernels[walk->num_kernels - 1];
  const MirageLoopAttrs *loop = &node->attrs->loop;
  int64_t range = is_leading(walk, at, node) ? 1 : loop->range;
  for (uint32_t i = 0; i < loop->num_carries; i++)
    if (!start_carry(walk, at, loop->carries[i].combine, &walk->values[node->operands[i].index],
                     &walk->values[mirage_ugraph_argument(walk->graph, at, i).index]))
      return false;
  kernel->axis[REPLAY_LOOPS + kernel->num_loops] = 0;
  kernel->extent[REPLAY_LOOPS + kernel->num_loops++] = range;
  if (!walk_region(walk, node->region))
    return false;
  kernel->num_loops--;
  kernel->num_walked +=
      kernel->axis[REPLAY_LOOPS + kernel->num_loops] == walk->space->loop_axis && walk->space->loop_axis && range > 1;
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]);
  uint32_t factor = loop->num_carries;
  for (uint32_t i = 0; i < loop->num_carries; i++) {
    ReplayValue value = walk->values[yield.operands[i].index];
    bool scaled = loop->carries[i].combine == MIRAGE_COMBINE_RESCALE;
    if (!end_carry(walk, at, i, loop->carries[i].combine, scaled ? &walk->values[yield.operands[factor++].index] : NULL,
                   &value))
      return false;
    walk->values[mirage_ugraph_result(walk->graph, at, i).index] = value;
  }
  return true;
}

// Its operators are the tiles', on parts of them.
static bool walk_thread(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  for (uint32_t i = 0; i < node->num_operands; i++)
    walk->values[mirage_ugraph_argument(walk->graph, at, i).index] = walk->values[node->operands[i].index];
  if (!walk_region(walk, node->region))
    return false;
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < node->num_results; i++)
    walk->values[mirage_ugraph_result(walk->graph, at, i).index] = walk->values[yield.operands[i].index];
  return true;
}

static bool walk_custom(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  if (walk->num_kernels == REPLAY_MAX_KERNELS)
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_LIMIT, "more than %d kernels", REPLAY_MAX_KERNELS);
  ReplayKernel *kernel = &walk->kernels[walk->num_kernels++];
  *kernel = (ReplayKernel){.node = at, .split = 1, .range = 1, .swapped = search_kernel_swaps(&node->attrs->custom)};
  for (uint32_t c = 0; c < REPLAY_COORDINATES; c++)
    kernel->extent[c] = c < REPLAY_LOOPS ? node->attrs->custom.grid[c] : 1;
  for (uint32_t a = 0; a < SEARCH_MAX_AXES; a++)
    kernel->parts[a] = 1;
  for (uint32_t i = 0; i < node->num_operands; i++)
    walk->values[mirage_ugraph_argument(walk->graph, at, i).index] = walk->values[node->operands[i].index];
  if (!walk_region(walk, node->region))
    return false;
  for (uint32_t i = 0; i < node->num_results; i++)
    walk->values[mirage_ugraph_result(walk->graph, at, i).index] =
        walk->values[mirage_ugraph_argument(walk->graph, at, node->num_operands + i).index];
  kernel->num_walked = 0;
  return true;
}

// Sugar stands for its expansion, which is walked with values of its own.
static MirageStatus expand_sugar(const ReplayWalk *walk, const MirageNodeView *node, MirageUGraph **out_graph) {
  MirageValue operands[8], result;
  MirageUGraph *sugar = mirage_ugraph_create(NULL, "sugar", NULL);
  *out_graph = NULL;
  if (!sugar)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < node->num_operands; i++)
    operands[i] = mirage_ugraph_input(sugar, *mirage_ugraph_type(walk->graph, node->operands[i]));
  result = mirage_ugraph_apply(sugar, node->op, node->num_operands, operands, node->attrs);
  mirage_ugraph_return(sugar, 1, &result);
  MirageStatus status = mirage_ugraph_finish(sugar);
  if (status == MIRAGE_OK)
    status = mirage_ugraph_expand(sugar, NULL, out_graph);
  mirage_ugraph_destroy(sugar);
  return status;
}

static bool walk_sugar(ReplayWalk *walk, MirageNode at, const MirageNodeView *node) {
  const MirageUGraph *outer = walk->graph;
  ReplayValue *values = walk->values;
  MirageUGraph *graph = NULL;
  walk->status = expand_sugar(walk, node, &graph);
  walk->values = graph ? calloc((size_t)mirage_ugraph_num_values(graph) + 1, sizeof *walk->values) : NULL;
  bool walked = walk->values != NULL;
  walk->status = walk->status == MIRAGE_OK && !walked ? MIRAGE_NO_MEMORY : walk->status;
  if (walked) {
    for (uint32_t i = 0; i < node->num_operands; i++)
      walk->values[mirage_ugraph_get_input(graph, i).index] = values[node->operands[i].index];
    walk->graph = graph;
    walked = walk_region(walk, mirage_ugraph_body(graph));
    values[node->first_result.index] = walk->values[mirage_ugraph_get_output(graph, 0).index];
    walk->at = walk->cut == MIRAGE_REPLAY_NONE ? walk->at : at;
  }
  free(walk->values);
  mirage_ugraph_destroy(graph);
  walk->graph = outer;
  walk->values = values;
  return walked;
}

static bool walk_node(ReplayWalk *walk, MirageNode at) {
  MirageNodeView node = mirage_ugraph_node(walk->graph, at);
  ReplayValue *out = &walk->values[node.first_result.index];
  MirageOpKind kind = mirage_op_info(node.op)->kind;
  switch (kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
    return mirage__replay_elementwise(walk, at, &node);
  case MIRAGE_KIND_MATMUL:
    if (node.op == MIRAGE_OP_MMA)
      return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "the search has matmul instead");
    return mirage__replay_matmul(walk, at, &node);
  case MIRAGE_KIND_REDUCE:
    return mirage__replay_reduce(walk, at, &node);
  case MIRAGE_KIND_COLLECTIVE:
    return walk_collective(walk, at, &node);
  case MIRAGE_KIND_CONSTANT:
    *out = node.op == MIRAGE_OP_BOTTOM ? (ReplayValue){.kind = REPLAY_BOTTOM}
                                       : (ReplayValue){.kind = REPLAY_CONSTANT, .constant = node.attrs->constant.value};
    return true;
  case MIRAGE_KIND_IOTA:
    *out = (ReplayValue){.kind = REPLAY_INDEX};
    return true;
  case MIRAGE_KIND_CAST:
    *out = walk->values[node.operands[0].index];
    return true;
  case MIRAGE_KIND_ACCESS:
    return node.op == MIRAGE_OP_LOAD ? mirage__replay_load(walk, at, &node)
                                     : mirage__replay_store(walk, at, &node, node.operands[1]);
  case MIRAGE_KIND_REGION:
    if (node.op == MIRAGE_OP_CUSTOM)
      return walk_custom(walk, at, &node);
    if (node.op == MIRAGE_OP_LOOP)
      return walk_loop(walk, at, &node);
    return walk_thread(walk, at, &node);
  case MIRAGE_KIND_SHAPE:
    if (node.op == MIRAGE_OP_TRANSPOSE)
      return walk_transpose(walk, at, &node);
    if (node.op == MIRAGE_OP_RESHAPE)
      return walk_reshape(walk, at, &node);
    *out = walk->values[node.operands[0].index];
    return node.op == MIRAGE_OP_BROADCAST ||
           mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "the search has no such operator");
  case MIRAGE_KIND_TERMINATOR:
    for (uint32_t i = 0; i < node.num_operands && node.op == MIRAGE_OP_RETURN; i++)
      if (!mirage__replay_settle(walk, at, &walk->values[node.operands[i].index]))
        return false;
    return true;
  case MIRAGE_KIND_SUGAR:
    return walk_sugar(walk, at, &node);
  default:
    return mirage__replay_cut(walk, at, MIRAGE_REPLAY_OPERATOR, "the search has no such operator");
  }
}

static bool walk_region(ReplayWalk *walk, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++)
    if (!walk_node(walk, view.nodes[i]))
      return false;
  return true;
}

bool mirage__replay_walk(ReplayWalk *walk) {
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(walk->graph); i++)
    walk->values[mirage_ugraph_get_input(walk->graph, i).index] = (ReplayValue){.kind = REPLAY_INPUT, .tensor = i};
  return walk_region(walk, mirage_ugraph_body(walk->graph));
}
