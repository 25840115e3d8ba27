// cost_graph.c - what the kernels of a graph move and compute, summed up for the formula of cost.c.
//
// A planned kernel says its threads, its producer, and which values pass through shared memory; of an open one that is
// guessed from its operators, as search_cost.c guesses it of a structure that has no graph yet.
#include "layout/block.h"
#include "mirage/cost.h"
#include "search/cost/cost_kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWN_TILE = 128 };

// -------------------------------------------------------------------------------------- custom kernels

typedef struct CostWalk {
  const MirageUGraph *graph;
  const MirageCustomAttrs *custom; // the kernel
  CostKernel kernel;
  uint32_t depth;               // of loops around
  uint32_t loads;               // seen
  const bool *varies, *product; // by value: find_varying, find_products
} CostWalk;

static const MirageType *operand_type(const CostWalk *walk, const MirageNodeView *node, uint32_t index) {
  return index < node->num_operands ? mirage_ugraph_type(walk->graph, node->operands[index]) : NULL;
}

static void walk_region(CostWalk *walk, MirageRegion region, double times);

// Whether blocks of the grid see different values, for all values of the graph: operands come before what is made of
// them. Told once, since a value that is used twice would be asked twice, and so would each of its operands.
static void find_varying(const MirageUGraph *graph, bool *out_varies) {
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(graph); v++) {
    MirageNode def = mirage_ugraph_def(graph, (MirageValue){v});
    MirageNodeView node = def.index ? mirage_ugraph_node(graph, def) : (MirageNodeView){0};
    const int8_t *axes = node.op == MIRAGE_OP_LOAD ? node.attrs->access.grid : NULL;
    out_varies[v] = !def.index || (axes && (axes[0] >= 0 || axes[1] >= 0 || axes[2] >= 0));
    for (uint32_t i = 0; i < node.num_operands && !axes; i++)
      out_varies[v] |= out_varies[node.operands[i].index];
  }
}

// Whether the value is computed in this region.
static bool is_of(const MirageUGraph *graph, MirageValue value, MirageRegion region) {
  MirageNode def = mirage_ugraph_def(graph, value);
  return def.index && mirage_ugraph_node(graph, def).parent.index == region.index;
}

// Whether a product of a value's own region is behind it, or is it, for all values of the graph.
static void find_products(const MirageUGraph *graph, bool *out_product) {
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(graph); v++) {
    MirageNode def = mirage_ugraph_def(graph, (MirageValue){v});
    MirageNodeView node = def.index ? mirage_ugraph_node(graph, def) : (MirageNodeView){0};
    out_product[v] = node.op == MIRAGE_OP_MATMUL;
    for (uint32_t i = 0; i < node.num_operands; i++)
      out_product[v] |= out_product[node.operands[i].index] && is_of(graph, node.operands[i], node.parent);
  }
}

// Whether a product of the same region is behind the value.
static bool comes_of_product(const CostWalk *walk, MirageValue value, MirageRegion region) {
  return walk->product[value.index] && is_of(walk->graph, value, region);
}

// What passes through shared memory in a loop, but for loads and vectors: as planned, or else what is computed for a
// product from no other product's result.
static void note_stored(CostWalk *walk, const MirageNodeView *node, const MirageType *result, double times) {
  bool planned = result->space == MIRAGE_SPACE_SHARED || result->space == MIRAGE_SPACE_REGISTER;
  bool stored = planned ? result->space == MIRAGE_SPACE_SHARED
                        : node->op == MIRAGE_OP_CAST && !comes_of_product(walk, node->operands[0], node->parent);
  walk->kernel.planned |= planned;
  if (result->space == MIRAGE_SPACE_FRAGMENT)
    return; // its place is that of the tile it is yielded as
  if (walk->depth && stored && mirage__cost_is_long(result))
    walk->kernel.stored_elements += (double)mirage_type_elements(result) * times;
}

static void note_passage(CostWalk *walk, const MirageNodeView *node, double times) {
  bool of_product[2] = {0};
  for (uint32_t i = 0; i < 2 && i < node->num_operands; i++)
    of_product[i] = comes_of_product(walk, node->operands[i], node->parent);
  mirage__cost_passage(&walk->kernel, node->op, node->attrs, operand_type(walk, node, 0), of_product[0], of_product[1],
                       walk->depth > 0, times);
}

static void note_carry(CostWalk *walk, const MirageNodeView *node, uint32_t index) {
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]), source = {0};
  MirageNode def = mirage_ugraph_def(walk->graph, yield.operands[index]);
  bool plain = node->attrs->loop.carries[index].combine <= MIRAGE_COMBINE_MAX, loaded = false;
  if (def.index && plain)
    source = mirage_ugraph_node(walk->graph, def);
  if (source.op == MIRAGE_OP_MATMUL) {
    MirageNode weight = mirage_ugraph_def(walk->graph, source.operands[1]);
    loaded = weight.index && mirage_ugraph_node(walk->graph, weight).op == MIRAGE_OP_LOAD &&
             mirage_ugraph_node(walk->graph, weight).parent.index == node->region.index;
  }
  bool same = loaded && !walk->varies[source.operands[0].index] && !walk->varies[source.operands[1].index];
  mirage__cost_carry(&walk->kernel, source.op, source.attrs, operand_type(walk, &source, 0),
                     operand_type(walk, &source, 1), loaded, same);
}

static void walk_loop(CostWalk *walk, const MirageNodeView *node, double times) {
  double range = (double)node->attrs->loop.range;
  if (walk->depth == 0)
    walk->kernel.iterations += range;
  for (uint32_t i = 0; i < node->attrs->loop.num_carries; i++) {
    note_carry(walk, node, i);
    const MirageType *carry = operand_type(walk, node, i);
    double elements = (double)mirage_type_elements(carry);
    walk->kernel.accumulator_bytes += 4 * elements;
    MirageNode yield = {0};
    MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
    if (body.num_nodes)
      yield = body.nodes[body.num_nodes - 1];
    // A sum of products is accumulated by the matrix instruction itself.
    MirageNode source = {0};
    if (yield.index && mirage_ugraph_node(walk->graph, yield).num_operands > i)
      source = mirage_ugraph_def(walk->graph, mirage_ugraph_node(walk->graph, yield).operands[i]);
    MirageOp op = source.index ? mirage_ugraph_node(walk->graph, source).op : MIRAGE_OP_NONE;
    if (op != MIRAGE_OP_MATMUL)
      walk->kernel.fma_flops += 2 * elements * range * times;
    if (op != MIRAGE_OP_MATMUL && mirage__cost_is_long(carry))
      walk->kernel.reduced_elements += elements * range * times;
  }
  walk->depth++;
  walk_region(walk, node->region, times * range);
  walk->depth--;
}

// What the schedule says of the next load; NULL = nothing.
static const MirageLoadSchedule *next_load(CostWalk *walk) {
  const MirageSchedule *schedule = walk->custom->schedule;
  uint32_t index = walk->loads++;
  return schedule && index < schedule->num_loads ? &schedule->loads[index] : NULL;
}

static void walk_access(CostWalk *walk, const MirageNodeView *node, double times) {
  const MirageType *tile =
      node->op == MIRAGE_OP_LOAD ? mirage_ugraph_type(walk->graph, node->first_result) : operand_type(walk, node, 0);
  const MirageLoadSchedule *load = node->op == MIRAGE_OP_LOAD ? next_load(walk) : NULL;
  const int64_t *cluster = walk->custom->cluster;
  if (load && load->multicast) { // one copy for all
    times /= (double)(cluster[0] * cluster[1] * cluster[2]);
    walk->kernel.multicast = true;
  }
  if (node->op == MIRAGE_OP_LOAD)
    mirage__cost_load(&walk->kernel, operand_type(walk, node, 0), tile, times);
  else
    mirage__cost_access(&walk->kernel, operand_type(walk, node, 1), tile, times);
  if (load && walk->depth && load->landing != MIRAGE_LANDING_REGISTER && load->stages)
    walk->kernel.stages = fmax(walk->kernel.stages, load->stages);
  if (node->op != MIRAGE_OP_LOAD)
    return;
  mirage__cost_tile(&walk->kernel, tile, walk->depth ? 2 : 1);
  if (walk->depth)
    walk->kernel.iteration_bytes += (double)mirage_type_bytes(tile);
}

static void walk_collective(CostWalk *walk, const MirageNodeView *node) {
  double members = 1;
  for (int axis = 0; axis < 3; axis++)
    members *= node->attrs->axes.axis[axis] ? (double)walk->custom->grid[axis] : 1;
  bool cluster = node->op == MIRAGE_OP_CLUSTER_SUM || node->op == MIRAGE_OP_CLUSTER_MAX;
  mirage__cost_collective(&walk->kernel, operand_type(walk, node, 0), members, cluster);
}

static void walk_region(CostWalk *walk, MirageRegion region, double times) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, view.nodes[i]);
    if (node.op == MIRAGE_OP_LOOP) {
      walk_loop(walk, &node, times);
    } else if (node.op == MIRAGE_OP_THREAD) {
      walk_region(walk, node.region, times);
      for (uint32_t r = 0; r < node.num_results; r++)
        note_stored(walk, &node, mirage_ugraph_type(walk->graph, (MirageValue){node.first_result.index + r}), times);
    } else if (mirage_op_info(node.op)->kind == MIRAGE_KIND_ACCESS) {
      walk_access(walk, &node, times);
    } else if (mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE) {
      walk_collective(walk, &node);
    } else if (mirage_op_info(node.op)->kind != MIRAGE_KIND_TERMINATOR && node.num_results == 1) {
      const MirageType *result = mirage_ugraph_type(walk->graph, node.first_result);
      note_stored(walk, &node, result, times);
      mirage__cost_step(&walk->kernel, node.op, walk->depth > 0);
      if (node.num_operands)
        note_passage(walk, &node, times);
      mirage__cost_operator(&walk->kernel, node.op, node.attrs, result, operand_type(walk, &node, 0),
                            operand_type(walk, &node, 1), times);
      if (node.op == MIRAGE_OP_CAST) // what feeds a matrix instruction passes through shared memory
        mirage__cost_tile(&walk->kernel, result, 1);
    }
  }
}

static double tensor_bytes(const MirageUGraph *graph, const MirageNodeView *node) {
  double bytes = 0;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    bool repeated = false;
    for (uint32_t j = 0; j < i; j++)
      repeated |= node->operands[j].index == node->operands[i].index;
    if (!repeated)
      bytes += (double)mirage_type_bytes(mirage_ugraph_type(graph, node->operands[i]));
  }
  for (uint32_t i = 0; i < node->num_results; i++)
    bytes += (double)mirage_type_bytes(mirage_ugraph_type(graph, (MirageValue){node->first_result.index + i}));
  return bytes;
}

static CostKernel custom_kernel(const MirageUGraph *graph, const MirageNodeView *node, const bool *varies,
                                const bool *product) {
  CostWalk walk = {.graph = graph, .custom = &node->attrs->custom, .varies = varies, .product = product};
  const int64_t *grid = node->attrs->custom.grid;
  walk.kernel.blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
  if (node->attrs->custom.schedule)
    walk.kernel.threads = 32.0 * node->attrs->custom.schedule->warps;
  walk.kernel.produced = node->attrs->custom.schedule && node->attrs->custom.schedule->num_roles > 0;
  walk.kernel.side_blocks = node->attrs->custom.schedule && node->attrs->custom.schedule->side_blocks > 0;
  walk.kernel.dram_bytes = tensor_bytes(graph, node);
  walk_region(&walk, node->region, walk.kernel.blocks);
  return walk.kernel;
}

// A kernel-level operator on its own: every multiprocessor busy, each byte moved once from device memory; out of L2,
// what the tiles of a product need that lib/codegen lowers by itself.
static CostKernel lone_kernel(const MirageUGraph *graph, const MirageNodeView *node, const MirageTarget *target) {
  CostKernel kernel = {.ideal = true, .blocks = target->num_sms, .dram_bytes = tensor_bytes(graph, node)};
  kernel.l2_bytes = kernel.dram_bytes;
  const MirageType *a = node->num_operands > 0 ? mirage_ugraph_type(graph, node->operands[0]) : NULL;
  const MirageType *b = node->num_operands > 1 ? mirage_ugraph_type(graph, node->operands[1]) : NULL;
  const MirageType *result = mirage_ugraph_type(graph, node->first_result);
  mirage__cost_operator(&kernel, node->op, node->attrs, result, a, b, 1);
  if (node->op == MIRAGE_OP_MATMUL) {
    double m = (double)result->shape[result->rank - 2], n = (double)result->shape[result->rank - 1];
    double down = ceil(m / OWN_TILE), across = ceil(n / OWN_TILE);
    kernel.l2_bytes += (across - 1) * (double)mirage_type_bytes(a) + (down - 1) * (double)mirage_type_bytes(b);
  }
  return kernel;
}

static MirageStatus add_up(const MirageUGraph *graph, const MirageTarget *target, const bool *varies,
                           const bool *product, const MirageDiag *diag, MirageCost *out_cost) {
  MirageCost cost = {.present = true};
  snprintf(cost.target, sizeof cost.target, "%s", target->name);
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    MirageOpKind kind = mirage_op_info(node.op)->kind;
    if (kind == MIRAGE_KIND_SUGAR)
      return mirage_diag_fail(diag, node.loc, MIRAGE_UNSUPPORTED, "%s: expand the graph before asking for its cost",
                              mirage_op_info(node.op)->mnemonic);
    if (kind == MIRAGE_KIND_TERMINATOR || kind == MIRAGE_KIND_CONSTANT || node.op == MIRAGE_OP_RESHAPE)
      continue;
    CostKernel kernel =
        node.op == MIRAGE_OP_CUSTOM ? custom_kernel(graph, &node, varies, product) : lone_kernel(graph, &node, target);
    cost.kernels++;
    cost.bytes += kernel.dram_bytes;
    cost.flops += kernel.flops;
    cost.time_us += target->launch_us + mirage__cost_kernel_us(&kernel, target);
  }
  *out_cost = cost;
  return MIRAGE_OK;
}

MirageStatus mirage_cost(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                         MirageCost *out_cost) {
  size_t values = (size_t)mirage_ugraph_num_values(graph) + 1;
  bool *varies = calloc(2 * values, sizeof *varies), *product = varies + values;
  if (!varies)
    return MIRAGE_NO_MEMORY;
  find_varying(graph, varies);
  find_products(graph, product);
  MirageStatus status = add_up(graph, target, varies, product, diag, out_cost);
  free(varies);
  return status;
}
