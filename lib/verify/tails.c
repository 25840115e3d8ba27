// tails.c - indices that are compared with where something ends, as a mask of the last tile does.
//
// No two indices along an axis are alike, so what counts along one keeps its extent. But where an index is only compared with
// a position at which a split or the axis ends, all that is left of it is on which side an element lies; and there a split
// has whole digits, or a tail, on each side (axes.c).
//
// Example:  iota {dim = 1, loop = [64]} : tile<1x64xi32>, less than 1000: of 16 tiles the last has 40 elements below the end
#include "tails.h"

bool mirage__verify_tail(const MirageUGraph *graph, const MirageNodeView *node, VerifyTail *out_tail) {
  if (node->op != MIRAGE_OP_LESS)
    return false;
  MirageNode index = mirage_ugraph_def(graph, node->operands[0]), end = mirage_ugraph_def(graph, node->operands[1]);
  if (!index.index || !end.index || mirage_ugraph_node(graph, index).op != MIRAGE_OP_IOTA ||
      mirage_ugraph_node(graph, end).op != MIRAGE_OP_CONSTANT)
    return false;
  *out_tail = (VerifyTail){.index = node->operands[0],
                           .dim = (uint32_t)mirage_ugraph_node(graph, index).attrs->iota.dim,
                           .end = (int64_t)mirage_ugraph_node(graph, end).attrs->constant.value};
  return out_tail->end >= 0 && mirage_type_elements(mirage_ugraph_type(graph, node->operands[1])) == 1;
}

bool mirage__verify_counts_tails(const MirageUGraph *graph, const MirageNodeView *iota) {
  VerifyTail tail;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++) {
    MirageNodeView node = mirage_ugraph_node(graph, (MirageNode){n});
    for (uint32_t i = 0; i < node.num_operands; i++)
      if (node.operands[i].index == iota->first_result.index && (i != 0 || !mirage__verify_tail(graph, &node, &tail)))
        return false;
  }
  return iota->attrs->iota.start == 0;
}
