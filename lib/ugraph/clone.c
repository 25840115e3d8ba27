// clone.c - copies a graph, or one kernel of it, by building it again, node by node; expand.c uses the same machinery
// and rewrites some nodes.
//
// Building again keeps the builder's checks in force, and gives the copy ids of its own; `map` leads from old to new.
#include "ugraph_internal.h"

static void copy_region(Copier *copier, MirageRegion region);

// The new ids of a node's operands, in scratch memory; an unknown one is {0}, which the builder refuses.
static const MirageValue *mapped_operands(Copier *copier, const MirageNodeView *node) {
  MirageValue *operands = mirage_arena_alloc_array(&copier->scratch, node->num_operands, sizeof *operands);
  for (uint32_t i = 0; operands && i < node->num_operands; i++)
    operands[i] = copier->map[node->operands[i].index];
  return operands;
}

// Pairs an old value with its copy, and gives tiles the place and layout that were planned for them.
static void pair(Copier *copier, MirageValue old, MirageValue new) {
  const MirageType *type = mirage_ugraph_type(copier->from, old);
  copier->map[old.index] = new;
  if (new.index && type->space != MIRAGE_SPACE_DEVICE)
    mirage_ugraph_set_placement(copier->to, new, type->space, &type->layout);
}

static void pair_arguments(Copier *copier, const MirageNodeView *node, MirageNode new) {
  MirageRegionView region = mirage_ugraph_region(copier->from, node->region);
  for (uint32_t i = 0; i < region.num_arguments; i++)
    pair(copier, (MirageValue){region.first_argument.index + i}, mirage_ugraph_argument(copier->to, new, i));
}

static MirageNode open_copy(Copier *copier, const MirageNodeView *node, const MirageValue *operands) {
  if (node->op == MIRAGE_OP_LOOP)
    return mirage_ugraph_open_loop(copier->to, node->num_operands, operands, &node->attrs->loop);
  if (node->op == MIRAGE_OP_THREAD)
    return mirage_ugraph_open_thread(copier->to, node->num_operands, operands);
  const Region *region = &copier->from->regions[node->region.index];
  return mirage_ugraph_open_custom(copier->to, node->num_operands, operands, region->num_results, region->result_types,
                                   &node->attrs->custom);
}

void mirage__copier_node(Copier *copier, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(copier->from, id);
  const MirageValue *operands = mapped_operands(copier, &node);
  if (!operands) {
    copier->to->status = copier->to->status ? copier->to->status : MIRAGE_NO_MEMORY;
    return;
  }
  mirage_ugraph_set_loc(copier->to, node.loc);
  switch (mirage_op_info(node.op)->kind) {
  case MIRAGE_KIND_REGION: {
    MirageNode copy = open_copy(copier, &node, operands);
    pair_arguments(copier, &node, copy);
    (copier->copy_region && node.op != MIRAGE_OP_THREAD ? copier->copy_region : copy_region)(copier, node.region);
    for (uint32_t i = 0; i < node.num_results; i++)
      pair(copier, mirage_ugraph_result(copier->from, id, i), mirage_ugraph_result(copier->to, copy, i));
    return;
  }
  case MIRAGE_KIND_TERMINATOR:
    if (node.op == MIRAGE_OP_RETURN)
      mirage_ugraph_return(copier->to, node.num_operands, operands);
    else
      mirage_ugraph_close(copier->to, node.num_operands, operands);
    return;
  default: {
    MirageValue result = mirage_ugraph_apply(copier->to, node.op, node.num_operands, operands, node.attrs);
    if (node.num_results)
      pair(copier, node.first_result, result);
    return;
  }
  }
}

static void copy_region(Copier *copier, MirageRegion id) {
  MirageRegionView region = mirage_ugraph_region(copier->from, id);
  for (uint32_t i = 0; i < region.num_nodes && copier->to->status == MIRAGE_OK; i++)
    mirage__copier_node(copier, region.nodes[i]);
  if (mirage_ugraph_node(copier->from, region.owner).op ==
      MIRAGE_OP_CUSTOM) // loop and thread are closed by their yield
    mirage_ugraph_close(copier->to, 0, NULL);
}

static void copy_meta(const MirageGraphMeta *from, MirageUGraph *to) {
  MirageGraphMeta meta = *from;
  meta.name = mirage_ugraph_intern_string(to, from->name);
  meta.source = mirage_ugraph_intern_string(to, from->source);
  *mirage_ugraph_meta(to) = meta;
}

MirageStatus mirage__copier_begin(Copier *copier, const MirageUGraph *from, const MirageDiag *diag) {
  *copier = (Copier){.from = from};
  if (from->status != MIRAGE_OK)
    return from->status; // its sentence went to its own sink
  if (!from->regions[KERNEL_REGION].closed)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH, "graph %s is copied before it is finished", from->meta.name);
  mirage_arena_init(&copier->scratch, from->arena.allocator);
  copier->map = mirage_arena_alloc_array(&copier->scratch, (size_t)from->num_values + 1, sizeof *copier->map);
  copier->to = copier->map ? mirage_ugraph_create(from->arena.allocator, from->meta.name, diag) : NULL;
  if (!copier->to) {
    mirage_arena_deinit(&copier->scratch);
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "graph %s: out of memory", from->meta.name);
  }
  copy_meta(&from->meta, copier->to);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(from); i++) {
    MirageValue input = mirage_ugraph_get_input(from, i);
    pair(copier, input, mirage_ugraph_input(copier->to, *mirage_ugraph_type(from, input)));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__copier_finish(Copier *copier, MirageUGraph **out_graph) {
  MirageStatus status = mirage_ugraph_finish(copier->to);
  mirage_arena_deinit(&copier->scratch);
  if (status == MIRAGE_OK)
    *out_graph = copier->to;
  else
    mirage_ugraph_destroy(copier->to);
  return status;
}

MirageStatus mirage_ugraph_copy_nodes(MirageUGraph *to, const MirageUGraph *from, uint32_t num_nodes,
                                      const MirageNode *nodes, MirageValue *map) {
  Copier copier = {.from = from, .to = to, .map = map};
  mirage_arena_init(&copier.scratch, from->arena.allocator);
  for (uint32_t i = 0; i < num_nodes && to->status == MIRAGE_OK; i++)
    mirage__copier_node(&copier, nodes[i]);
  mirage_arena_deinit(&copier.scratch);
  return to->status;
}

static void extract(MirageUGraph *to, const MirageUGraph *from, MirageNode custom, MirageValue *map) {
  MirageNodeView node = mirage_ugraph_node(from, custom);
  for (uint32_t i = 0; i < node.num_operands; i++)
    map[node.operands[i].index] = (MirageValue){0}; // what a kernel before has left
  for (uint32_t i = 0; i < node.num_operands; i++) {
    MirageValue *input = &map[node.operands[i].index];
    if (!input->index) // an operand may come twice
      *input = mirage_ugraph_input(to, *mirage_ugraph_type(from, node.operands[i]));
  }
  mirage_ugraph_copy_nodes(to, from, 1, &custom, map);
  mirage_ugraph_return(to, node.num_results, &map[node.first_result.index]); // results are numbered in a row
}

MirageStatus mirage_ugraph_extract_custom(const MirageUGraph *graph, MirageNode custom, MirageValue *map,
                                          const MirageDiag *diag, MirageUGraph **out_graph, MirageNode *out_custom) {
  *out_graph = NULL;
  if (graph->status != MIRAGE_OK)
    return graph->status;
  if (mirage_ugraph_node(graph, custom).op != MIRAGE_OP_CUSTOM)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "graph %s: node %u is no custom kernel", graph->meta.name,
                            custom.index);
  MirageUGraph *to = mirage_ugraph_create(graph->arena.allocator, graph->meta.name, diag);
  if (!to)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "graph %s: out of memory", graph->meta.name);
  extract(to, graph, custom, map);
  MirageStatus status = mirage_ugraph_finish(to);
  if (status == MIRAGE_OK) {
    *out_graph = to;
    *out_custom = mirage_ugraph_region(to, mirage_ugraph_body(to)).nodes[0];
  } else {
    mirage_ugraph_destroy(to);
  }
  return status;
}

MirageStatus mirage_ugraph_clone(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph) {
  Copier copier;
  *out_graph = NULL;
  MIRAGE_TRY(mirage__copier_begin(&copier, graph, diag));
  copy_region(&copier, mirage_ugraph_body(graph));
  return mirage__copier_finish(&copier, out_graph);
}
