// differ.c - which candidates are worth measuring: those that differ most.
//
// The cost model is right about large differences and a coin toss about small ones, and it errs in the same direction
// for graphs that are alike. So what is measured is spread out: the one predicted best, then always the one whose
// nearest neighbour among those taken is farthest away (the farthest-point heuristic of Gonzalez, 1985). A candidate
// that is predicted to be slow has to be the more different: its distance counts by (best / predicted) to the fourth
// (test/bench/picked.py: what is lost by looking at some of the candidates only).
//
// Example:  four tilings of one fused kernel and one graph of two kernels: the second taken is the latter.
#include "measure.h"

#include <math.h>

enum { NUM_FEATURES = 7, SLOWNESS = 4 };
static const double most_slower = 2;   // predicted: of 50 programs that were measured, the fastest was within 1.2
static const double most_later_us = 3; // or by so much: of small kernels launches are most

// Shape of a candidate; a step of 1 is a factor of two, or a kernel more.
typedef struct Features {
  double values[NUM_FEATURES];
} Features;

static void add_block(const MirageUGraph *graph, MirageRegion region, double *ops, double *ranges,
                      double *collectives) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    *ops += 1;
    *collectives += mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE;
    if (node.op == MIRAGE_OP_LOOP)
      *ranges += log2((double)node.attrs->loop.range);
    if (node.region.index)
      add_block(graph, node.region, ops, ranges, collectives);
  }
}

static Features features_of(const MirageUGraph *graph) {
  double kernels = 0, blocks = 0, ops = 0, ranges = 0, warps = 0, collectives = 0;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op != MIRAGE_OP_CUSTOM) {
      kernels += node.op != MIRAGE_OP_RETURN && node.op != MIRAGE_OP_RESHAPE && node.op != MIRAGE_OP_CONSTANT;
      continue;
    }
    const MirageCustomAttrs *custom = &node.attrs->custom;
    kernels += 1;
    blocks += log2((double)custom->grid[0] * (double)custom->grid[1] * (double)custom->grid[2]);
    warps += custom->schedule && custom->schedule->warps > 0 ? log2((double)custom->schedule->warps) : 0;
    add_block(graph, node.region, &ops, &ranges, &collectives);
  }
  const MirageCost *cost = &mirage_ugraph_get_meta(graph)->cost;
  double bytes = cost->bytes > 0 ? log2(cost->bytes) : 0;
  return (Features){{2 * kernels, blocks, ranges, warps, ops / 4, collectives, 4 * bytes}};
}

static double distance(const Features *a, const Features *b) {
  double sum = 0;
  for (int i = 0; i < NUM_FEATURES; i++)
    sum += fabs(a->values[i] - b->values[i]);
  return sum;
}

static double time_of(const MirageModuleGraph *entry) { return mirage_ugraph_get_meta(entry->graph)->cost.time_us; }

static uint32_t find_best(uint32_t num, MirageModuleGraph *const *entries) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < num; i++)
    if (time_of(entries[i]) < time_of(entries[best]))
      best = i;
  return best;
}

uint32_t mirage__pick_different(uint32_t num, MirageModuleGraph *const *entries, uint32_t most, uint32_t *out_picked) {
  enum { MOST_ENTRIES = 4096 };
  static _Thread_local double nearest[MOST_ENTRIES]; // to those taken; negative = taken, or out of the running
  uint32_t count = 0;
  num = num < MOST_ENTRIES ? num : MOST_ENTRIES;
  if (!num || !most)
    return 0;
  uint32_t next = find_best(num, entries);
  const double best_us = time_of(entries[next]);
  for (uint32_t i = 0; i < num; i++)
    nearest[i] = time_of(entries[i]) <= fmax(most_slower * best_us, best_us + most_later_us) ? INFINITY : -1;
  for (;;) {
    out_picked[count++] = next;
    nearest[next] = -1;
    Features taken = features_of(entries[next]->graph);
    double farthest = -1;
    uint32_t candidate = num;
    for (uint32_t i = 0; i < num; i++) {
      if (nearest[i] < 0)
        continue;
      Features features = features_of(entries[i]->graph);
      nearest[i] = fmin(nearest[i], distance(&taken, &features));
      double weighted = nearest[i] * pow(best_us / fmax(time_of(entries[i]), 1e-9), SLOWNESS);
      if (weighted > farthest) {
        farthest = weighted;
        candidate = i;
      }
    }
    if (candidate == num || count == most)
      return count;
    next = candidate;
  }
}
