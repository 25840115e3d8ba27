// starts.c - the order in which kernels of a program start and end (starts.h).
#include "starts.h"

// Which kernel computes an operand, counted from 1; 0: none of the first `count`.
static uint32_t maker_of(const MirageUGraph *graph, const MirageNode *kernels, uint32_t count, MirageValue operand) {
  MirageNode def = mirage_ugraph_def(graph, mirage_ugraph_storage(graph, operand));
  for (uint32_t k = 0; def.index && k < count; k++)
    if (kernels[k].index == def.index)
      return k + 1;
  return 0;
}

void mirage__kernel_starts(const MirageUGraph *graph, const MirageNode *kernels, uint32_t count, KernelStart *starts) {
  for (uint32_t k = 0; k < count; k++) {
    MirageNodeView node = mirage_ugraph_node(graph, kernels[k]);
    starts[k].needs = 0;
    for (uint32_t i = 0; i < node.num_operands; i++) {
      uint32_t maker = maker_of(graph, kernels, k, node.operands[i]);
      starts[k].needs = maker > starts[k].needs ? maker : starts[k].needs;
    }
  }
  for (uint32_t k = 0; k < count; k++) {
    const KernelStart *before = k ? &starts[k - 1] : NULL;
    starts[k].settled = k;
    if (starts[k].early && before && !before->after_wait)
      starts[k].settled = before->settled;
    else if (starts[k].early && before)
      starts[k].settled = k - 1;
    starts[k].lets_next = k + 1 < count && starts[k + 1].early;
    starts[k].after_wait =
        starts[k].lets_next && starts[k].early && starts[k + 1].needs > starts[k].settled && starts[k + 1].needs <= k;
  }
}

bool mirage__is_pending(const MirageUGraph *graph, const MirageNode *kernels, const KernelStart *starts, uint32_t index,
                        uint32_t operand) {
  MirageValue value = mirage_ugraph_node(graph, kernels[index]).operands[operand];
  return maker_of(graph, kernels, index, value) > starts[index].settled;
}
