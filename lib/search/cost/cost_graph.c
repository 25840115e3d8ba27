// cost_graph.c - the cost of a graph: of the kernels that would be compiled of it, each with its plan.
//
// Call order:  operators outside `custom` become the kernels that code is made of (lib/canonical)  ->  each kernel's plan
//              is read, or made in closed form  ->  summed (cost_plan.c)  ->  its time (cost.c)
// A kernel that starts while the one before it runs takes less (codegen_early.c). A kernel that has no plan on the target
// takes forever.
#include "mirage/canonical.h"
#include "search/cost/cost_memo.h"
#include "search/cost/cost_plan.h"
#include <math.h>
#include <stdio.h>

// Of what a launch costs, that a kernel saves which starts while the one before it runs (0.42 us in the median of 97 candidates of
// 18 drawn programs: test/bench/history).
static const double early_share = 0.4;

typedef struct Costing {
  MirageUGraph *graph; // of custom kernels and reshapes, ours
  const MirageTarget *target;
  CostMemo *memo; // or NULL
  const MirageDiag *diag;
  MirageValue *map; // of mirage_ugraph_extract_custom; NULL where the graph has one kernel
} Costing;

static MirageCost cost_of(const CostKernel *kernel, const MirageTarget *target) {
  return (MirageCost){.present = true,
                      .kernels = 1,
                      .bytes = kernel->dram_bytes,
                      .flops = kernel->flops,
                      .time_us = target->launch_us + mirage__cost_kernel_us(kernel, target)};
}

static MirageStatus plan_kernel(MirageUGraph *graph, MirageNode custom, const MirageTarget *target,
                                MirageCost *out_cost) {
  MirageArena arena;
  Block block;
  mirage_arena_init(&arena, NULL);
  MirageStatus status = mirage__plan_closed(graph, custom, target, &arena, &block);
  *out_cost = (MirageCost){.present = true, .kernels = 1, .time_us = INFINITY};
  if (status == MIRAGE_OK) {
    CostKernel kernel = mirage__cost_plan(&block, target);
    *out_cost = cost_of(&kernel, target);
  }
  mirage_arena_deinit(&arena);
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

// One kernel of several, in a graph of its own: planning takes memory and time for each value of the graph.
static MirageStatus plan_apart(const Costing *costing, MirageNode custom, MirageCost *out_cost) {
  MirageUGraph *alone;
  MirageNode copy;
  if (!costing->map)
    return plan_kernel(costing->graph, custom, costing->target, out_cost);
  MIRAGE_TRY(mirage_ugraph_extract_custom(costing->graph, custom, costing->map, costing->diag, &alone, &copy));
  MirageStatus status = plan_kernel(alone, copy, costing->target, out_cost);
  mirage_ugraph_destroy(alone);
  return status;
}

// What is a kernel's own, and which of its operands are one tensor, which is read once.
static MirageGraphHash key_of(const MirageUGraph *graph, MirageNode custom) {
  MirageGraphHash key = mirage_ugraph_kernel_hash(graph, custom);
  MirageNodeView node = mirage_ugraph_node(graph, custom);
  for (uint32_t i = 0; i < node.num_operands; i++) {
    uint32_t first = 0;
    while (node.operands[first].index != node.operands[i].index)
      first++;
    key.high = (key.high ^ first) * 0x100000001b3; // FNV-1a
  }
  return key;
}

static MirageStatus add_kernel(const Costing *costing, MirageNode custom, MirageCost *total) {
  MirageGraphHash key = {0};
  MirageCost cost;
  if (costing->memo)
    key = key_of(costing->graph, custom);
  if (!costing->memo || !mirage__cost_memo_find(costing->memo, &key, &cost)) {
    MIRAGE_TRY(plan_apart(costing, custom, &cost));
    if (costing->memo)
      mirage__cost_memo_add(costing->memo, &key, &cost);
  }
  if (total->kernels > 0 && mirage__starts_early(costing->graph, custom, false, costing->target))
    cost.time_us -= early_share * costing->target->launch_us;
  total->kernels += cost.kernels;
  total->bytes += cost.bytes;
  total->flops += cost.flops;
  total->time_us += cost.time_us;
  return MIRAGE_OK;
}

static MirageStatus add_kernels(Costing *costing, MirageCost *total) {
  MirageRegionView body = mirage_ugraph_region(costing->graph, mirage_ugraph_body(costing->graph));
  MirageArena arena;
  MirageStatus status = MIRAGE_OK;
  mirage_arena_init(&arena, NULL);
  if (body.num_nodes > 2) { // more than a kernel and the return
    costing->map =
        mirage_arena_alloc_array(&arena, (size_t)mirage_ugraph_num_values(costing->graph) + 1, sizeof *costing->map);
    status = costing->map ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  }
  for (uint32_t i = 0; i < body.num_nodes && status == MIRAGE_OK; i++)
    if (mirage_ugraph_node(costing->graph, body.nodes[i]).op == MIRAGE_OP_CUSTOM)
      status = add_kernel(costing, body.nodes[i], total);
  mirage_arena_deinit(&arena);
  return status;
}

MirageStatus mirage__cost_graph(const MirageUGraph *graph, const MirageTarget *target, CostMemo *memo,
                                const MirageDiag *diag, MirageCost *out_cost) {
  Costing costing = {.target = target, .memo = memo, .diag = diag};
  MirageCost total = {.present = true};
  snprintf(total.target, sizeof total.target, "%s", target->name);
  MIRAGE_TRY(mirage_canonicalize(graph, target, diag, &costing.graph));
  MirageStatus status = add_kernels(&costing, &total);
  mirage_ugraph_destroy(costing.graph);
  if (status == MIRAGE_OK)
    *out_cost = total;
  return status;
}

MirageStatus mirage_cost(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                         MirageCost *out_cost) {
  return mirage__cost_graph(graph, target, NULL, diag, out_cost);
}
