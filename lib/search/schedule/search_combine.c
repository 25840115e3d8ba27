// search_combine.c - reductions that are split over blocks.
//
// Each block walks its part of the loop's axis, so its accumulators are parts of what they should be. Sums are added
// and maxima taken over the blocks; sums that are known up to a factor exp(m) (search_stabilise.c) are brought to the
// common maximum first:  all = max over blocks of m,  sum = sum over blocks of part * exp(m - all). Wide ones travel in
// 16 bits where that is safe (search_narrow.c).
//
// By the blocks themselves (cluster_* or grid_*): every block of a group gets the same result and stores the same
// tile. By a second kernel: the first stores its parts, with one dimension more in front; the second loads all parts of
// a tile and reduces over that dimension.
#include "search/schedule/search_builder.h"
#include "search/schedule/search_narrow.h"
#include "search/schedule/search_tails.h"
#include <string.h>

static MirageValue apply(Builder *builder, MirageOp op, MirageValue a, MirageValue b) {
  return mirage_ugraph_apply(builder->graph, op, b.index ? 2 : 1, (MirageValue[]){a, b}, NULL);
}

// exp(part - all) for a maximum.
static MirageValue factor(Builder *builder, MirageValue part, MirageValue all) {
  return apply(builder, MIRAGE_OP_EXP, apply(builder, MIRAGE_OP_SUB, part, all), (MirageValue){0});
}

static bool is_accumulator(const Builder *builder, uint32_t node) {
  return builder->structure->nodes[node].op == MIRAGE_OP_LOOP;
}

// Whether some accumulator is known up to the exponential of this one.
static bool is_gauge(const Builder *builder, uint32_t node) {
  for (uint32_t i = 0; i < builder->structure->num_nodes; i++)
    if (is_accumulator(builder, i) && builder->structure->nodes[i].gauge == node + 1)
      return true;
  return false;
}

// ------------------------------------------------------------------------------------------ collectives

/// What the blocks' parts become before they are combined.
typedef struct Parts {
  MirageValue own[SEARCH_MAX_NODES];     // by node: as the block has them
  MirageValue factors[SEARCH_MAX_NODES]; // of a maximum: exp(own - all)
  MirageValue scaled[SEARCH_MAX_NODES];  // own times its gauge's factor
} Parts;

static MirageValue scaled(Builder *builder, Parts *parts, uint32_t node) {
  const SearchNode *sum = &builder->structure->nodes[node];
  if (sum->flags != SEARCH_RESCALE)
    return parts->own[node];
  if (!parts->scaled[node].index)
    parts->scaled[node] = apply(builder, MIRAGE_OP_MUL, parts->own[node], parts->factors[sum->gauge - 1]);
  return parts->scaled[node];
}

static MirageValue contributed(Builder *builder, Parts *parts, uint32_t node) {
  uint32_t divisor;
  if (!mirage__search_narrows(builder->program, builder->structure, builder->schedule, node, &divisor))
    return scaled(builder, parts, node);
  MirageValue quotient = apply(builder, MIRAGE_OP_DIV, parts->own[node], parts->own[divisor]);
  quotient = mirage_ugraph_cast(builder->graph, quotient, builder->program->dtype);
  return apply(builder, MIRAGE_OP_MUL, quotient, scaled(builder, parts, divisor));
}

void mirage__build_collectives(Builder *builder, uint32_t stage) {
  bool cluster = builder->schedule->combine == SEARCH_BY_CLUSTER;
  MirageOp maximum = cluster ? MIRAGE_OP_CLUSTER_MAX : MIRAGE_OP_GRID_MAX;
  MirageOp sum = cluster ? MIRAGE_OP_CLUSTER_SUM : MIRAGE_OP_GRID_SUM;
  MirageAttrs attrs = {0};
  attrs.axes.axis[builder->split_axis] = true;
  Parts parts = {0};
  memcpy(parts.own, builder->values, sizeof parts.own);
  for (uint32_t i = 0; i < builder->structure->num_nodes; i++) { // a gauge comes before what it is the gauge of
    const SearchNode *node = &builder->structure->nodes[i];
    if (node->op != MIRAGE_OP_LOOP || node->stage != stage)
      continue;
    MirageValue part = contributed(builder, &parts, i);
    bool takes_maximum = node->flags == SEARCH_MAXIMUM;
    builder->values[i] = mirage_ugraph_apply(builder->graph, takes_maximum ? maximum : sum, 1, &part, &attrs);
    if (takes_maximum && is_gauge(builder, i))
      parts.factors[i] = factor(builder, part, builder->values[i]);
  }
}

// ------------------------------------------------------------------------------------------ two kernels

// A tensor or tile with one dimension more in front.
static MirageType with_parts(const MirageType *type, int64_t parts) {
  MirageType more = *type;
  more.rank++;
  memmove(more.shape + 1, type->shape, type->rank * sizeof *type->shape);
  more.shape[0] = parts;
  return more;
}

static MirageType without_parts(const MirageType *type) {
  MirageType less = *type;
  memmove(less.shape, less.shape + 1, --less.rank * sizeof *less.shape);
  return less;
}

static MirageAccessAttrs with_parts_access(MirageAccessAttrs access) {
  for (uint32_t g = 0; g < 3; g++)
    access.grid[g] = (int8_t)(access.grid[g] < 0 ? -1 : access.grid[g] + 1);
  memmove(access.tiles + 1, access.tiles, sizeof access.tiles - sizeof *access.tiles);
  access.tiles[0] = 0;
  return access;
}

static MirageValue reshape(Builder *builder, MirageValue tile, MirageType type) {
  return mirage_ugraph_apply(builder->graph, MIRAGE_OP_RESHAPE, 1, &tile, &(MirageAttrs){.shape = {.type = type}});
}

static void store_parts(Builder *builder) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < builder->structure->num_nodes; i++) {
    if (!is_accumulator(builder, i))
      continue;
    MirageAccessAttrs access = with_parts_access(mirage__build_access(builder, &builder->structure->nodes[i]));
    access.grid[builder->split_axis] = 0;
    MirageValue part = builder->values[i];
    if (mirage_ugraph_type(builder->graph, part)->dtype != MIRAGE_F32) // the second kernel adds numbers
      part = mirage_ugraph_cast(builder->graph, part, MIRAGE_F32);
    MirageType type = *mirage_ugraph_type(builder->graph, part);
    mirage_ugraph_store(builder->graph, reshape(builder, part, with_parts(&type, 1)),
                        mirage__build_output(builder, count++), &access);
  }
}

// The first kernel; its results are the parts of each accumulator.
static uint32_t build_parts(Builder *builder, MirageValue *out_parts) {
  MirageType types[SEARCH_MAX_NODES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < builder->structure->num_nodes; i++)
    if (is_accumulator(builder, i)) {
      MirageType whole = mirage__build_tensor(builder, &builder->structure->nodes[i], MIRAGE_F32);
      types[count++] = with_parts(&whole, builder->schedule->split);
    }
  bool wanted[SEARCH_MAX_NODES];
  mirage__search_wanted(builder->structure, SEARCH_INSIDE, wanted);
  builder->wanted = wanted;
  MirageCustomAttrs attrs = {0};
  mirage__build_grid(builder, &attrs);
  if (mirage__build_open(builder, 0, NULL, count, types, &attrs)) {
    mirage__build_walk(builder, SEARCH_INSIDE);
    store_parts(builder);
    mirage_ugraph_close(builder->graph, 0, NULL);
    for (uint32_t i = 0; i < count; i++)
      out_parts[i] = mirage_ugraph_result(builder->graph, builder->custom, i);
  }
  builder->wanted = NULL;
  return builder->custom.index ? count : 0;
}

static MirageValue reduce_parts(Builder *builder, MirageOp op, MirageValue parts) {
  return mirage_ugraph_apply(builder->graph, op, 1, &parts, &(MirageAttrs){.reduce = {.dim = 0, .extent = 1}});
}

// Loads all parts of each accumulator and combines them.
static void combine_parts(Builder *builder) {
  MirageValue factors[SEARCH_MAX_NODES] = {{0}};
  uint32_t count = 0;
  for (uint32_t i = 0; i < builder->structure->num_nodes; i++) {
    const SearchNode *node = &builder->structure->nodes[i];
    if (!is_accumulator(builder, i))
      continue;
    MirageAccessAttrs access = with_parts_access(mirage__build_access(builder, node));
    MirageValue parts = mirage_ugraph_load(builder->graph, mirage__build_operand(builder, count++), &access);
    if (node->flags == SEARCH_RESCALE)
      parts = apply(builder, MIRAGE_OP_MUL, parts, factors[node->gauge - 1]);
    bool takes_maximum = node->flags == SEARCH_MAXIMUM, gauge = takes_maximum && is_gauge(builder, i);
    MirageValue all = reduce_parts(builder, takes_maximum ? MIRAGE_OP_REDUCE_MAX : MIRAGE_OP_REDUCE_SUM, parts);
    if (gauge) { // nothing else uses it
      factors[i] = factor(builder, parts, all);
      continue;
    }
    if (!all.index)
      return; // tiles that fit nothing: the graph says why
    builder->values[i] = reshape(builder, all, without_parts(mirage_ugraph_type(builder->graph, all)));
  }
}

void mirage__build_two_kernels(Builder *builder, uint32_t num_outputs, const MirageType *outputs) {
  MirageValue parts[SEARCH_MAX_NODES];
  uint32_t count = build_parts(builder, parts);
  if (!count)
    return;
  SearchSchedule second = {.split = 1, .threads = builder->schedule->threads, .second = true};
  memcpy(second.parts, builder->schedule->combine_parts, sizeof second.parts);
  memcpy(second.order, builder->schedule->combine_order, sizeof second.order);
  bool wanted[SEARCH_MAX_NODES];
  mirage__search_wanted(builder->structure, SEARCH_AFTER, wanted);
  builder->schedule = &second;
  builder->wanted = wanted;
  MirageCustomAttrs attrs = {0};
  mirage__build_grid(builder, &attrs);
  if (mirage__build_open(builder, count, parts, num_outputs, outputs, &attrs)) {
    mirage__build_before(builder);
    combine_parts(builder);
    mirage__build_rest(builder);
    mirage_ugraph_close(builder->graph, 0, NULL);
  }
  builder->wanted = NULL;
}
