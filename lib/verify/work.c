// work.c - what one evaluation costs, in scalar operations: decides between the full size and a shrunken instance.
#include "verify_internal.h"

static double region_work(const MirageUGraph *graph, MirageRegion region, double executions) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  double work = 0;
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    double elements = 0;
    if (node.num_results)
      elements = (double)mirage_type_elements(mirage_ugraph_type(graph, node.first_result));
    if (mirage_op_info(node.op)->kind == MIRAGE_KIND_MATMUL) {
      const MirageType *a = mirage_ugraph_type(graph, node.operands[0]);
      elements *= (double)a->shape[a->rank - (node.attrs && node.attrs->matmul.transpose_a ? 2 : 1)];
    } else if (mirage_op_info(node.op)->kind == MIRAGE_KIND_REDUCE) {
      elements = (double)mirage_type_elements(mirage_ugraph_type(graph, node.operands[0]));
    }
    work += elements * executions;
    if (!node.region.index)
      continue;
    double inner = executions;
    if (node.op == MIRAGE_OP_CUSTOM)
      inner *= (double)(node.attrs->custom.grid[0] * node.attrs->custom.grid[1] * node.attrs->custom.grid[2]);
    else if (node.op == MIRAGE_OP_LOOP)
      inner *= (double)node.attrs->loop.range;
    work += region_work(graph, node.region, inner);
  }
  return work;
}

double mirage__verify_work(const MirageUGraph *graph) { return region_work(graph, mirage_ugraph_body(graph), 1); }
