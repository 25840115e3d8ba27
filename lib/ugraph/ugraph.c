// ugraph.c - a graph's life, and reading it. Building is in build.c.
//
// Every reader accepts any id: one that names nothing gives an empty view, so a caller that met a failure while
// building may go on asking.
#include "ugraph_internal.h"

static const MirageType NO_TYPE = {0};

void mirage_ugraph_destroy(MirageUGraph *graph) {
  if (!graph)
    return;
  MirageArena arena = graph->arena; // the graph lies in its own arena
  mirage_arena_deinit(&arena);
}

MirageStatus mirage_ugraph_status(const MirageUGraph *graph) { return graph->status; }

MirageGraphMeta *mirage_ugraph_meta(MirageUGraph *graph) { return &graph->meta; }

const MirageGraphMeta *mirage_ugraph_get_meta(const MirageUGraph *graph) { return &graph->meta; }

static bool node_exists(const MirageUGraph *graph, MirageNode node) {
  return node.index != 0 && node.index <= graph->num_nodes;
}

static bool value_exists(const MirageUGraph *graph, MirageValue value) {
  return value.index != 0 && value.index <= graph->num_values;
}

static bool region_exists(const MirageUGraph *graph, MirageRegion region) {
  return region.index != 0 && region.index <= graph->num_regions;
}

MirageRegion mirage_ugraph_body(const MirageUGraph *graph) { return (MirageRegion){KERNEL_REGION}; }

MirageRegionView mirage_ugraph_region(const MirageUGraph *graph, MirageRegion region) {
  if (!region_exists(graph, region))
    return (MirageRegionView){0};
  const Region *r = &graph->regions[region.index];
  return (MirageRegionView){
      .level = r->level,
      .owner = {r->owner},
      .num_arguments = r->num_arguments,
      .first_argument = {r->first_argument},
      .num_nodes = r->num_nodes,
      .nodes = r->nodes,
  };
}

MirageNodeView mirage_ugraph_node(const MirageUGraph *graph, MirageNode node) {
  if (!node_exists(graph, node))
    return (MirageNodeView){0};
  const Node *n = &graph->nodes[node.index];
  return (MirageNodeView){
      .op = n->op,
      .level = graph->regions[n->parent].level,
      .num_operands = n->num_operands,
      .num_results = n->num_results,
      .operands = n->operands,
      .first_result = {n->first_result},
      .region = {n->region},
      .parent = {n->parent},
      .attrs = n->attrs,
      .loc = n->loc,
  };
}

const MirageType *mirage_ugraph_type(const MirageUGraph *graph, MirageValue value) {
  return value_exists(graph, value) ? &graph->values[value.index].type : &NO_TYPE;
}

MirageNode mirage_ugraph_def(const MirageUGraph *graph, MirageValue value) {
  return (MirageNode){value_exists(graph, value) ? graph->values[value.index].node : 0};
}

MirageValue mirage_ugraph_result(const MirageUGraph *graph, MirageNode node, uint32_t index) {
  if (!node_exists(graph, node) || index >= graph->nodes[node.index].num_results)
    return (MirageValue){0};
  return (MirageValue){graph->nodes[node.index].first_result + index};
}

MirageValue mirage_ugraph_storage(const MirageUGraph *graph, MirageValue value) {
  MirageNode def = mirage_ugraph_def(graph, value);
  while (def.index && mirage_ugraph_node(graph, def).op == MIRAGE_OP_RESHAPE) {
    value = mirage_ugraph_node(graph, def).operands[0];
    def = mirage_ugraph_def(graph, value);
  }
  return value;
}

MirageValue mirage_ugraph_argument(const MirageUGraph *graph, MirageNode node, uint32_t index) {
  if (!node_exists(graph, node) || graph->nodes[node.index].region == 0)
    return (MirageValue){0};
  const Region *region = &graph->regions[graph->nodes[node.index].region];
  return (MirageValue){index < region->num_arguments ? region->first_argument + index : 0};
}

uint32_t mirage_ugraph_num_nodes(const MirageUGraph *graph) { return graph->num_nodes; }

uint32_t mirage_ugraph_num_values(const MirageUGraph *graph) { return graph->num_values; }

uint32_t mirage_ugraph_num_inputs(const MirageUGraph *graph) { return graph->regions[KERNEL_REGION].num_arguments; }

MirageValue mirage_ugraph_get_input(const MirageUGraph *graph, uint32_t index) {
  const Region *body = &graph->regions[KERNEL_REGION];
  return (MirageValue){index < body->num_arguments ? body->first_argument + index : 0};
}

// The return node, or NULL before return.
static const Node *find_return(const MirageUGraph *graph) {
  const Region *body = &graph->regions[KERNEL_REGION];
  return body->closed ? &graph->nodes[body->nodes[body->num_nodes - 1].index] : NULL;
}

uint32_t mirage_ugraph_num_outputs(const MirageUGraph *graph) {
  const Node *end = find_return(graph);
  return end ? end->num_operands : 0;
}

MirageValue mirage_ugraph_get_output(const MirageUGraph *graph, uint32_t index) {
  const Node *end = find_return(graph);
  return end && index < end->num_operands ? end->operands[index] : (MirageValue){0};
}

MirageScope mirage__scope_of_region(const MirageUGraph *graph, uint32_t region) {
  MirageScope scope = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}};
  int64_t inward[MIRAGE_MAX_LOOPS]; // ranges, innermost first
  for (uint32_t owner = graph->regions[region].owner; owner != 0;
       owner = graph->regions[graph->nodes[owner].parent].owner) {
    const Node *around = &graph->nodes[owner];
    if (around->op == MIRAGE_OP_LOOP)
      inward[scope.num_loops++] = around->attrs->loop.range;
    for (int axis = 0; around->op == MIRAGE_OP_CUSTOM && axis < 3; axis++) {
      scope.grid[axis] = around->attrs->custom.grid[axis];
      scope.cluster[axis] = around->attrs->custom.cluster[axis];
    }
  }
  for (uint32_t i = 0; i < scope.num_loops; i++)
    scope.ranges[i] = inward[scope.num_loops - 1 - i];
  return scope;
}

MirageScope mirage_ugraph_scope(const MirageUGraph *graph, MirageNode node) {
  return mirage__scope_of_region(graph, node_exists(graph, node) ? graph->nodes[node.index].parent : KERNEL_REGION);
}

void mirage_custom_launch_grid(const MirageCustomAttrs *attrs, int64_t out_grid[3]) {
  const MirageSchedule *schedule = attrs->schedule;
  int64_t persistent = schedule ? schedule->persistent : 0;
  for (int a = 0; a < 3; a++)
    out_grid[a] = persistent ? attrs->cluster[a] : attrs->grid[a];
  if (persistent)
    out_grid[0] *= persistent / (attrs->cluster[0] * attrs->cluster[1] * attrs->cluster[2]);
  out_grid[0] += schedule ? schedule->side_blocks : 0;
}

MirageValue mirage_ugraph_kernel_values(const MirageUGraph *graph, MirageNode custom, uint32_t *out_count) {
  MirageNodeView view = mirage_ugraph_node(graph, custom); // its results come after all that is inside
  MirageValue first = mirage_ugraph_region(graph, view.region).first_argument;
  *out_count = view.first_result.index - first.index;
  return first;
}
