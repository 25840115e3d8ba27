// work.c - what one evaluation costs: decides between full size and transfer from a smaller instance.
//
// The unit is a multiplication and addition of a product of matrices, 2.5 ns; what else an operator takes for an
// element is measured, on a million of them: a maximum looks its arguments up in a table and enters its result, some
// 500 ns.
#include "verify_internal.h"

static double weight_of(MirageOp op) {
  switch (op) {
  case MIRAGE_OP_MATMUL:
  case MIRAGE_OP_MMA:
    return 1;
  case MIRAGE_OP_MAX:
  case MIRAGE_OP_MIN:
  case MIRAGE_OP_RELU:
    return 200;
  case MIRAGE_OP_SIGMOID:
  case MIRAGE_OP_SILU:
  case MIRAGE_OP_GELU:
  case MIRAGE_OP_GELU_TANH:
    return 40;
  case MIRAGE_OP_REDUCE_MAX:
    return 32;
  case MIRAGE_OP_EXP:
  case MIRAGE_OP_DIV:
  case MIRAGE_OP_RSQRT:
    return 24;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MEAN:
    return 4;
  case MIRAGE_OP_LOAD:
  case MIRAGE_OP_STORE:
  case MIRAGE_OP_CAST:
    return 2;
  default:
    return 8;
  }
}

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
    work += elements * executions * weight_of(node.op);
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
