// starts.c - the order in which kernels of a program start and end (starts.h).
#include "starts.h"

// The place in that order of what writes an operand, counted from 1, as `settled` is.
static uint32_t writer_of(const MirageUGraph *graph, const MirageNode *kernels, uint32_t count, MirageValue operand) {
  MirageNode def = mirage_ugraph_def(graph, mirage_ugraph_storage(graph, operand));
  for (uint32_t k = 0; def.index && k < count; k++)
    if (kernels[k].index == def.index)
      return k + 2;
  return 1;
}

void mirage__kernel_starts(const MirageUGraph *graph, const MirageNode *kernels, uint32_t count, bool lets_next,
                           KernelStart *starts) {
  for (uint32_t k = 0; k < count; k++) {
    MirageNodeView node = mirage_ugraph_node(graph, kernels[k]);
    starts[k].needs = 0;
    for (uint32_t i = 0; i < node.num_operands; i++) {
      uint32_t writer = writer_of(graph, kernels, k, node.operands[i]);
      starts[k].needs = writer > starts[k].needs ? writer : starts[k].needs;
    }
  }
  for (uint32_t k = 0; k < count; k++) {
    const KernelStart *before = k ? &starts[k - 1] : NULL;
    starts[k].settled = k + 1;
    if (starts[k].early)
      starts[k].settled = !before ? 0 : before->after_wait ? k : before->settled;
    bool last = k + 1 == count;
    starts[k].lets_next = last ? lets_next : starts[k + 1].early;
    bool helps = !last && starts[k + 1].needs > starts[k].settled && starts[k + 1].needs <= k + 1;
    starts[k].after_wait = starts[k].lets_next && starts[k].early && (helps || !before);
  }
}

bool mirage__is_pending(const MirageUGraph *graph, const MirageNode *kernels, const KernelStart *starts, uint32_t index,
                        uint32_t operand) {
  MirageValue value = mirage_ugraph_node(graph, kernels[index]).operands[operand];
  return writer_of(graph, kernels, index, value) > starts[index].settled;
}
