// threads.c - shows the element-wise chains of block graphs as thread graphs. [Mirage 4]
//
// Neighbouring element-wise operators and casts of a block graph become one `thread` region: each element goes through
// all of them in registers, which is what code generation does with such a chain in any case (lib/layout/choose.c:
// computed where it is read). What comes from outside is an operand, what is read outside is yielded; constants stay
// outside. Nothing else moves, so the graph computes the same and is planned the same.
//
// Example: %sq = mul %x, %x; %h = mul %x, %g; %c = cast %h   becomes   %sq, %c = thread (%xf = %x, %gf = %g) { ... }
#include "ugraph_internal.h"

enum { MOST_OPERATORS = 64, MOST_OPERANDS = 64 };

/// A run of operators that become one region.
typedef struct Chain {
  MirageNode nodes[MOST_OPERATORS];
  uint32_t num_nodes;
  MirageValue operands[MOST_OPERANDS], outer[MOST_OPERANDS]; // in the source; their copies around the region
  uint32_t num_operands;
  MirageValue results[MOST_OPERATORS];
  uint32_t num_results;
} Chain;

static bool is_fused(const MirageNodeView *node) {
  MirageOpKind kind = mirage_op_info(node->op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST;
}

static bool contains(const Chain *chain, MirageNode node) {
  for (uint32_t i = 0; i < chain->num_nodes; i++)
    if (chain->nodes[i].index == node.index)
      return true;
  return false;
}

static bool is_read_outside(const MirageUGraph *graph, const Chain *chain, MirageValue value) {
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(graph); n++) {
    MirageNodeView node = mirage_ugraph_node(graph, (MirageNode){n});
    for (uint32_t i = 0; i < node.num_operands; i++)
      if (node.operands[i].index == value.index && !contains(chain, (MirageNode){n}))
        return true;
  }
  return false;
}

// Finds operands and results; false where there are too many.
static bool find_ends(const MirageUGraph *graph, Chain *chain) {
  for (uint32_t n = 0; n < chain->num_nodes; n++) {
    MirageNodeView node = mirage_ugraph_node(graph, chain->nodes[n]);
    for (uint32_t i = 0; i < node.num_operands; i++) {
      bool known = contains(chain, mirage_ugraph_def(graph, node.operands[i]));
      for (uint32_t k = 0; k < chain->num_operands && !known; k++)
        known = chain->operands[k].index == node.operands[i].index;
      if (!known && chain->num_operands == MOST_OPERANDS)
        return false;
      if (!known)
        chain->operands[chain->num_operands++] = node.operands[i];
    }
    if (is_read_outside(graph, chain, node.first_result))
      chain->results[chain->num_results++] = node.first_result;
  }
  return chain->num_results > 0;
}

static void copy_inside(Copier *copier, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(copier->from, id);
  MirageValue operands[2] = {{0}};
  for (uint32_t i = 0; i < node.num_operands && i < 2; i++)
    operands[i] = copier->map[node.operands[i].index];
  mirage_ugraph_set_loc(copier->to, node.loc);
  copier->map[node.first_result.index] =
      mirage_ugraph_apply(copier->to, node.op, node.num_operands, operands, node.attrs);
}

static void copy_fused(Copier *copier, Chain *chain) {
  for (uint32_t i = 0; i < chain->num_operands; i++)
    chain->outer[i] = copier->map[chain->operands[i].index];
  mirage_ugraph_set_loc(copier->to, mirage_ugraph_node(copier->from, chain->nodes[0]).loc);
  MirageNode thread = mirage_ugraph_open_thread(copier->to, chain->num_operands, chain->outer);
  for (uint32_t i = 0; i < chain->num_operands; i++)
    copier->map[chain->operands[i].index] = mirage_ugraph_argument(copier->to, thread, i);
  for (uint32_t n = 0; n < chain->num_nodes; n++)
    copy_inside(copier, chain->nodes[n]);
  MirageValue yielded[MOST_OPERATORS];
  for (uint32_t i = 0; i < chain->num_results; i++)
    yielded[i] = copier->map[chain->results[i].index];
  mirage_ugraph_close(copier->to, chain->num_results, yielded);
  for (uint32_t i = 0; i < chain->num_operands; i++)
    copier->map[chain->operands[i].index] = chain->outer[i];
  for (uint32_t i = 0; i < chain->num_results; i++)
    copier->map[chain->results[i].index] = mirage_ugraph_result(copier->to, thread, i);
}

static void copy_chain(Copier *copier, Chain *chain) {
  if (chain->num_nodes > 1 && find_ends(copier->from, chain))
    copy_fused(copier, chain);
  else
    for (uint32_t i = 0; i < chain->num_nodes; i++)
      mirage__copier_node(copier, chain->nodes[i]);
  *chain = (Chain){0};
}

static void copy_region(Copier *copier, MirageRegion id) {
  MirageRegionView region = mirage_ugraph_region(copier->from, id);
  Chain chain = {0};
  for (uint32_t i = 0; i < region.num_nodes && copier->to->status == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(copier->from, region.nodes[i]);
    if (region.level == MIRAGE_LEVEL_BLOCK && is_fused(&node)) {
      if (chain.num_nodes == MOST_OPERATORS)
        copy_chain(copier, &chain);
      chain.nodes[chain.num_nodes++] = region.nodes[i];
      continue;
    }
    if (mirage_op_info(node.op)->kind != MIRAGE_KIND_CONSTANT) // those go before the chain
      copy_chain(copier, &chain);
    mirage__copier_node(copier, region.nodes[i]);
  }
  if (mirage_ugraph_node(copier->from, region.owner).op == MIRAGE_OP_CUSTOM)
    mirage_ugraph_close(copier->to, 0, NULL);
}

MirageStatus mirage_ugraph_fuse_threads(const MirageUGraph *graph, const MirageDiag *diag, MirageUGraph **out_graph) {
  Copier copier;
  *out_graph = NULL;
  MIRAGE_TRY(mirage__copier_begin(&copier, graph, diag));
  copier.copy_region = copy_region;
  copy_region(&copier, mirage_ugraph_body(graph));
  return mirage__copier_finish(&copier, out_graph);
}
