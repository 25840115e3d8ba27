// search_unwrap.c - a µGraph for a program as one for its core (search_peel.c), where they differ by reshapes alone.
//
// What search_wrap.c does, undone: an input that is reshaped is the core's input, a result that is reshaped into an output is
// the core's output. Views with an order or a window are inside kernels, and are not undone.
#include "search/views/search_core.h"

#include <stdlib.h>

typedef struct Unwrap {
  const SearchViews *views;
  const MirageUGraph *from;
  MirageUGraph *to;
  MirageValue *map; // by value of `from`
  bool failed;
} Unwrap;

static uint32_t number_of_input(const MirageUGraph *graph, MirageValue value) {
  uint32_t i = 0;
  while (i < mirage_ugraph_num_inputs(graph) && mirage_ugraph_get_input(graph, i).index != value.index)
    i++;
  return i;
}

// What is input `number` of the program, with this shape, is an input of the core.
static void name_inputs(Unwrap *unwrap, uint32_t number, const MirageType *shape, MirageValue value) {
  for (uint32_t i = 0; i < unwrap->views->num_parts; i++) {
    const Part *part = &unwrap->views->parts[i];
    MirageValue core = mirage_ugraph_get_input(unwrap->to, i);
    if (number_of_input(unwrap->views->program, part->input) == number &&
        mirage_type_same_shape(mirage_ugraph_type(unwrap->to, core), shape))
      unwrap->map[value.index] = core;
  }
}

static bool is_output(const MirageUGraph *graph, MirageValue value) {
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++)
    if (mirage_ugraph_get_output(graph, i).index == value.index)
      return true;
  return false;
}

static void copy_node(Unwrap *unwrap, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(unwrap->from, id);
  if (node.op == MIRAGE_OP_RESHAPE) {
    uint32_t number = number_of_input(unwrap->from, node.operands[0]);
    if (number < mirage_ugraph_num_inputs(unwrap->from))
      name_inputs(unwrap, number, mirage_ugraph_type(unwrap->from, node.first_result), node.first_result);
    else if (is_output(unwrap->from, node.first_result))
      unwrap->map[node.first_result.index] = unwrap->map[node.operands[0].index];
    else // between kernels
      unwrap->failed = true;
    return;
  }
  if (mirage_op_info(node.op)->kind == MIRAGE_KIND_TERMINATOR)
    return;
  for (uint32_t i = 0; i < node.num_operands; i++)
    unwrap->failed |= !unwrap->map[node.operands[i].index].index;
  if (!unwrap->failed)
    mirage_ugraph_copy_nodes(unwrap->to, unwrap->from, 1, &id, unwrap->map);
}

static bool is_plain(const SearchViews *views) {
  bool plain = views->num_results == mirage_ugraph_num_outputs(views->program);
  for (uint32_t i = 0; i < views->num_parts; i++)
    plain &= mirage__view_is_dense(&views->parts[i].view) && !views->parts[i].swapped;
  for (uint32_t i = 0; i < views->num_results; i++)
    plain &=
        mirage__view_is_dense(&views->results[i].view) && views->results[i].dim < 0 && views->results[i].output == i;
  return plain;
}

static MirageStatus unwrap_all(Unwrap *unwrap) {
  const MirageUGraph *core = unwrap->views->core, *from = unwrap->from;
  MirageValue outputs[MAX_PARTS];
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(core); i++)
    mirage_ugraph_input(unwrap->to, *mirage_ugraph_type(core, mirage_ugraph_get_input(core, i)));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(from); i++) {
    MirageValue input = mirage_ugraph_get_input(from, i);
    name_inputs(unwrap, i, mirage_ugraph_type(from, input), input);
  }
  MirageRegionView body = mirage_ugraph_region(from, mirage_ugraph_body(from));
  for (uint32_t i = 0; i < body.num_nodes && !unwrap->failed; i++)
    copy_node(unwrap, body.nodes[i]);
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(core) && !unwrap->failed; i++) {
    outputs[i] = unwrap->map[mirage_ugraph_get_output(from, i).index];
    unwrap->failed |=
        !outputs[i].index || !mirage_type_same_shape(mirage_ugraph_type(unwrap->to, outputs[i]),
                                                     mirage_ugraph_type(core, mirage_ugraph_get_output(core, i)));
  }
  if (unwrap->failed)
    return mirage_ugraph_status(unwrap->to);
  mirage_ugraph_return(unwrap->to, mirage_ugraph_num_outputs(core), outputs);
  return mirage_ugraph_finish(unwrap->to);
}

MirageStatus mirage__search_unwrap(const SearchViews *views, const MirageUGraph *graph, MirageUGraph **out_graph) {
  const MirageDiag quiet = {0}; // what does not fit is no graph of the core's
  *out_graph = NULL;
  if (!is_plain(views))
    return MIRAGE_OK;
  Unwrap unwrap = {.views = views,
                   .from = graph,
                   .to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(graph)->name, &quiet),
                   .map = calloc((size_t)mirage_ugraph_num_values(graph) + 1, sizeof(MirageValue))};
  MirageStatus status = unwrap.to && unwrap.map ? unwrap_all(&unwrap) : MIRAGE_NO_MEMORY;
  free(unwrap.map);
  if (status == MIRAGE_OK && !unwrap.failed)
    *out_graph = unwrap.to;
  else
    mirage_ugraph_destroy(unwrap.to);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}
