// logical.c - which values masks are made of: predicates, and integers that are indices.
//
// An i32 is an index where it is an input, an iota or a constant, and where it is moved from one. It is none where it is a
// sum of products of i8: what a product, a loop or a collective gives, since loops and collectives add nothing else.
#include "ugraph_internal.h"

// The tile that a kernel stores to its result `index`.
static MirageValue stored_to(const MirageUGraph *graph, const MirageNodeView *custom, uint32_t index) {
  MirageRegionView body = mirage_ugraph_region(graph, custom->region);
  uint32_t argument = body.first_argument.index + custom->num_operands + index;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++) {
    MirageNodeView view = mirage_ugraph_node(graph, (MirageNode){n});
    if (view.op == MIRAGE_OP_STORE && view.operands[1].index == argument)
      return view.operands[0];
  }
  return (MirageValue){0};
}

// What a value without a definition stands for: a kernel's operand; itself where it is an input; {0}: a loop's sum.
static MirageValue argument_of(const MirageUGraph *graph, MirageValue value) {
  if (mirage_ugraph_type(graph, value)->space != MIRAGE_SPACE_DEVICE)
    return (MirageValue){0};
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++) {
    MirageNodeView view = mirage_ugraph_node(graph, (MirageNode){n});
    if (view.op != MIRAGE_OP_CUSTOM)
      continue;
    uint32_t first = mirage_ugraph_region(graph, view.region).first_argument.index;
    if (value.index >= first && value.index < first + view.num_operands)
      return view.operands[value.index - first];
  }
  return value;
}

static bool is_index(const MirageUGraph *graph, MirageValue value) {
  for (MirageNode def = mirage_ugraph_def(graph, value);; def = mirage_ugraph_def(graph, value)) {
    MirageNodeView view = def.index ? mirage_ugraph_node(graph, def) : (MirageNodeView){.op = MIRAGE_OP_NONE};
    MirageOpKind kind = def.index ? mirage_op_info(view.op)->kind : MIRAGE_KIND_IOTA;
    if (def.index && (kind == MIRAGE_KIND_IOTA || kind == MIRAGE_KIND_CONSTANT))
      return true;
    if (kind == MIRAGE_KIND_MATMUL || kind == MIRAGE_KIND_COLLECTIVE || view.op == MIRAGE_OP_LOOP)
      return false;
    MirageValue from = !def.index                    ? argument_of(graph, value)
                       : view.op == MIRAGE_OP_CUSTOM ? stored_to(graph, &view, value.index - view.first_result.index)
                       : view.num_operands           ? view.operands[0]
                                                     : (MirageValue){0};
    if (!from.index || from.index == value.index)
      return from.index != 0;
    value = from;
  }
}

bool mirage_ugraph_is_logical(const MirageUGraph *graph, MirageValue value) {
  MirageFamily family = mirage_dtype_family(mirage_ugraph_type(graph, value)->dtype);
  return family == MIRAGE_FAMILY_PREDICATE || (family == MIRAGE_FAMILY_INDEX && is_index(graph, value));
}
