// search_pointwise.c - the block graph of an element-wise program, by rule.
//
// A chain of element-wise operators counts as one and has nothing to choose but its algebra, so a program of nothing
// else needs no search to become one kernel, however many operators and inputs it has: its operators are the block
// graph, as [Mirage 4] builds thread graphs by fusion. The limits on operators of the enumeration do not apply.
#include "search/schedule/search_schedule.h"
#include "search/walk/search_extract.h"
#include <stdlib.h>

typedef struct Pointwise {
  const SearchProgram *program;
  uint32_t *node; // by value, from 1; 0 = not yet
  SearchStructure *structure;
} Pointwise;

static uint32_t add(Pointwise *pointwise, const SearchNode *node) {
  SearchStructure *structure = pointwise->structure;
  if (structure->num_nodes == SEARCH_MAX_NODES)
    return 0;
  structure->nodes[structure->num_nodes++] = *node;
  return structure->num_nodes;
}

static uint32_t add_leaf(Pointwise *pointwise, MirageValue value, MirageOp op, uint32_t index) {
  uint32_t rank = op == MIRAGE_OP_CONSTANT ? 0 : mirage_ugraph_type(pointwise->program->graph, value)->rank;
  SearchNode node = {.op = (uint8_t)op, .a = index, .rank = (uint8_t)rank};
  for (uint32_t d = 0; d < rank; d++)
    node.dims[SEARCH_RANK - rank + d] = pointwise->program->dims[value.index][d];
  return add(pointwise, &node);
}

static uint32_t constant_index(const SearchProgram *program, double value) {
  uint32_t index = 0;
  while (program->constants[index] != value)
    index++;
  return index;
}

// Casts are the builder's, and a broadcast is what an element-wise operator does by itself.
static uint32_t add_operator(Pointwise *pointwise, const MirageNodeView *view) {
  const SearchStructure *structure = pointwise->structure;
  MirageOpKind kind = mirage_op_info(view->op)->kind;
  uint32_t a = view->num_operands ? pointwise->node[view->operands[0].index] : 0;
  if (kind == MIRAGE_KIND_CONSTANT)
    return add_leaf(pointwise, view->first_result, MIRAGE_OP_CONSTANT,
                    constant_index(pointwise->program, view->attrs->constant.value));
  if (kind == MIRAGE_KIND_CAST || view->op == MIRAGE_OP_BROADCAST)
    return a;
  if (!mirage__search_is_elementwise(view->op) || !a)
    return 0;
  uint32_t b = view->num_operands > 1 ? pointwise->node[view->operands[1].index] : a;
  if (!b)
    return 0;
  const SearchNode *x = &structure->nodes[a - 1], *y = &structure->nodes[b - 1];
  SearchNode node = {.op = view->op, .a = a - 1, .b = b - 1, .rank = x->rank > y->rank ? x->rank : y->rank};
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    node.dims[d] = x->dims[d] ? x->dims[d] : y->dims[d];
  return add(pointwise, &node);
}

// Whether the node has the shape of the value: not so where a broadcast is all that gives an output its shape.
static bool has_shape(const Pointwise *pointwise, uint32_t node, MirageValue value) {
  uint32_t rank = mirage_ugraph_type(pointwise->program->graph, value)->rank;
  const SearchNode *stored = &pointwise->structure->nodes[node];
  for (uint32_t d = 0; d < rank; d++)
    if (stored->dims[SEARCH_RANK - rank + d] != pointwise->program->dims[value.index][d])
      return false;
  return stored->rank == rank && stored->op != MIRAGE_OP_LOAD;
}

// A tile that nothing is computed from would be loaded whole all the same.
static bool is_read(const MirageUGraph *graph, const MirageRegionView *body, MirageValue input) {
  for (uint32_t i = 0; i + 1 < body->num_nodes; i++) {
    MirageNodeView view = mirage_ugraph_node(graph, body->nodes[i]);
    for (uint32_t o = 0; o < view.num_operands; o++)
      if (view.operands[o].index == input.index)
        return true;
  }
  return false;
}

static bool fill(Pointwise *pointwise) {
  const MirageUGraph *graph = pointwise->program->graph;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    if (is_read(graph, &body, input))
      pointwise->node[input.index] = add_leaf(pointwise, input, MIRAGE_OP_LOAD, i);
  }
  for (uint32_t i = 0; i + 1 < body.num_nodes; i++) { // the last one returns
    MirageNodeView view = mirage_ugraph_node(graph, body.nodes[i]);
    if (view.num_results != 1 || !(pointwise->node[view.first_result.index] = add_operator(pointwise, &view)))
      return false;
  }
  SearchStructure *structure = pointwise->structure;
  structure->num_outputs = mirage_ugraph_num_outputs(graph);
  for (uint32_t i = 0; i < structure->num_outputs; i++) {
    MirageValue output = mirage_ugraph_get_output(graph, i);
    if (!pointwise->node[output.index] || !has_shape(pointwise, pointwise->node[output.index] - 1, output))
      return false;
    structure->outputs[i] = pointwise->node[output.index] - 1;
  }
  return true;
}

MirageStatus mirage__search_pointwise(const SearchProgram *program, const MirageSearchOptions *options,
                                      SearchKept *kept) {
  SearchStructure structure = {0};
  Pointwise pointwise = {.program = program, .structure = &structure};
  pointwise.node = calloc((size_t)mirage_ugraph_num_values(program->graph) + 1, sizeof *pointwise.node);
  if (!pointwise.node)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = MIRAGE_OK;
  if (fill(&pointwise)) {
    structure.num_ops = mirage__structure_count(&structure);
    mirage__search_score(program, options, &structure);
    status = mirage__structure_keep(kept, &structure);
  }
  free(pointwise.node);
  return status;
}
