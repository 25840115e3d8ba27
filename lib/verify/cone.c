// cone.c - how many calls of random functions one element of an output depends on.
//
// The bound charges each pair of calls that matter to an output element (README.md, "Random functions"). In attention of
// many heads and rows that is one row of one head, not all of them. So we walk a graph backwards from one element and
// ask which elements of each value it needs, dimension by dimension:
//
//   index set   of a dimension, of a loop's iterations, of a grid axis' blocks: index_sets.h
//   demand      of a value: one set for each, whose product holds every element that is needed
//
// Two sets of one number in a demand go together: index x of the one with index x of the other. So the parts and the
// places in a part of 4096 labels, {part(x), place(x)}, are 4096 and not 4096^2.
//
// e.g.  y[m, d] = sum over n of p[m, n] v[n, d]: of p the demand is {m} x ALL, and of p's exponentials, N
//       stored by blocks that split m: the blocks {part(m)}, the rows {place(m)}
//
// What is not followed exactly becomes ALL or a new set of as many indices, so that demands are never too small.
// A loop is walked until the demands of its carries stay; what changes after the first time becomes ALL.
#include "cone.h"
#include "index_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Demand {
  bool any;
  IndexSet dim[MIRAGE_MAX_RANK], loop[MIRAGE_MAX_LOOPS], grid[3];
} Demand;

typedef struct ConeWalk {
  const MirageUGraph *graph;
  Demand *demands;  // [num_values + 1]
  uint8_t *depths;  // [num_values + 1], the loops around a value's definition
  MirageScope here; // grid and loops around the region being walked
  IndexSets sets;
} ConeWalk;

// ------------------------------------------------------------------------------------------------------------- demands

static void unite_demands(ConeWalk *walk, Demand *to, const Demand *from) {
  if (!to->any) {
    *to = *from;
    return;
  }
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    to->dim[d] = mirage__verify_sets_unite(&walk->sets, to->dim[d], from->dim[d]);
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++)
    to->loop[l] = mirage__verify_sets_unite(&walk->sets, to->loop[l], from->loop[l]);
  for (uint32_t a = 0; a < 3; a++)
    to->grid[a] = mirage__verify_sets_unite(&walk->sets, to->grid[a], from->grid[a]);
}

// `demand` of a value, less what it does not have: iterations of loops that it does not stand in; sets of one index.
static void ask(ConeWalk *walk, MirageValue value, Demand demand) {
  const MirageType *type = mirage_ugraph_type(walk->graph, value);
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    demand.dim[d] = d >= type->rank ? INDEX_NONE : type->shape[d] == 1 ? INDEX_ALL : demand.dim[d];
  for (uint32_t l = walk->depths[value.index]; l < MIRAGE_MAX_LOOPS; l++)
    demand.loop[l] = INDEX_NONE;
  unite_demands(walk, &walk->demands[value.index], &demand);
}

static void all_dims(const MirageType *type, Demand *demand) {
  for (uint32_t d = 0; d < type->rank; d++)
    demand->dim[d] = INDEX_ALL;
}

// How many elements: the product over all different sets.
static double count_elements(const ConeWalk *walk, MirageValue value, const Demand *demand) {
  const MirageType *type = mirage_ugraph_type(walk->graph, value);
  IndexSet sets[MIRAGE_MAX_RANK + MIRAGE_MAX_LOOPS + 3];
  double extents[MIRAGE_MAX_RANK + MIRAGE_MAX_LOOPS + 3], count = 1;
  uint32_t n = 0;
  for (uint32_t d = 0; d < type->rank; d++, n++) {
    sets[n] = demand->dim[d];
    extents[n] = (double)type->shape[d];
  }
  for (uint32_t l = 0; l < walk->depths[value.index]; l++, n++) {
    sets[n] = demand->loop[l];
    extents[n] = (double)walk->here.ranges[l];
  }
  for (uint32_t a = 0; a < 3; a++, n++) {
    sets[n] = demand->grid[a];
    extents[n] = (double)walk->here.grid[a];
  }
  for (uint32_t i = 0; i < n; i++) {
    double together = extents[i];
    bool first = true;
    for (uint32_t j = 0; j < n && sets[i] > INDEX_ALL; j++) {
      first = first && (j >= i || sets[j] != sets[i]);
      together *= j != i && sets[j] == sets[i] ? extents[j] : 1;
    }
    if (sets[i] != INDEX_NONE && first)
      count *= mirage__verify_sets_size(&walk->sets, sets[i], together);
  }
  return count;
}

// --------------------------------------------------------------------------------------------------------- shape rules

// Dimension d of an operand that stretches to the result, right-aligned.
static void stretched(const MirageType *result, const MirageType *operand, const Demand *of, Demand *demand) {
  for (uint32_t d = 0; d < operand->rank; d++)
    demand->dim[d] = d + result->rank < operand->rank ? INDEX_ALL : of->dim[d + result->rank - operand->rank];
}

static void contracted(const MirageType *result, const MirageType *operand, bool left, bool transposed,
                       const Demand *of, Demand *demand) {
  stretched(result, operand, of, demand);
  uint32_t row = operand->rank - 2, column = operand->rank - 1;
  uint32_t kept = left != transposed ? row : column;
  demand->dim[kept] = of->dim[result->rank - (left ? 2 : 1)];
  demand->dim[row + column - kept] = INDEX_ALL;
}

static IndexSet spread(ConeWalk *walk, IndexSet set, int64_t extent, int64_t times) {
  if (set <= INDEX_ALL)
    return set;
  const SetKey key = {.word = {SET_SPREAD, set, extent, times}};
  return mirage__verify_sets_find(&walk->sets, &key,
                                  mirage__verify_sets_size(&walk->sets, set, (double)extent) * (double)times);
}

static IndexSet modulo(ConeWalk *walk, IndexSet set, int64_t extent) {
  if (set <= INDEX_ALL)
    return set;
  const SetKey key = {.word = {SET_MODULO, set, extent}};
  return mirage__verify_sets_find(&walk->sets, &key, mirage__verify_sets_size(&walk->sets, set, (double)extent));
}

static IndexSet sliced(ConeWalk *walk, IndexSet set, int64_t begin, int64_t end, int64_t extent) {
  if (set != INDEX_ALL || end - begin == extent)
    return mirage__verify_sets_shift(&walk->sets, set, begin);
  const SetKey key = {.word = {SET_RANGE, begin, end}};
  return mirage__verify_sets_find(&walk->sets, &key, (double)(end - begin));
}

// The operand's dimensions [from, to) hold the result's [first, last): the digits of the elements' numbers.
static void regroup(ConeWalk *walk, const MirageType *result, const MirageType *operand, const Demand *of,
                    uint32_t first, uint32_t last, uint32_t from, uint32_t to, Demand *demand) {
  SetKey key = {.word = {SET_FLAT, last - first, to - from}};
  double size = 1;
  bool whole = true;
  for (uint32_t d = first, w = 3; d < last; d++, w += 2) {
    key.word[w] = of->dim[d];
    key.word[w + 1] = result->shape[d];
    whole = whole && of->dim[d] == INDEX_ALL;
    bool repeated = false;
    for (uint32_t e = first; e < d; e++)
      repeated = repeated || (of->dim[e] == of->dim[d] && of->dim[d] != INDEX_ALL);
    if (!repeated) // of a set that several dimensions hold together, all of it
      size *= mirage__verify_sets_size(&walk->sets, of->dim[d],
                                       of->dim[d] == INDEX_ALL ? (double)result->shape[d] : INFINITY);
  }
  for (uint32_t d = from; d < to; d++)
    key.word[3 + 2 * MIRAGE_MAX_RANK + d - from] = operand->shape[d];
  bool same = last - first == 1 && to - from == 1;
  IndexSet set = whole ? INDEX_ALL : same ? of->dim[first] : mirage__verify_sets_find(&walk->sets, &key, size);
  for (uint32_t d = from; d < to; d++)
    demand->dim[d] = set;
}

static void reshaped(ConeWalk *walk, const MirageType *result, const MirageType *operand, const Demand *of,
                     Demand *demand) {
  uint32_t first = 0, from = 0;
  while (first < result->rank || from < operand->rank) {
    uint32_t last = first, to = from;
    int64_t there = 1, here = 1;
    do { // the shortest groups of as many elements
      if (to < operand->rank && (here <= there || last == result->rank))
        here *= operand->shape[to++];
      else
        there *= result->shape[last++];
    } while (here != there);
    regroup(walk, result, operand, of, first, last, from, to, demand);
    first = last;
    from = to;
  }
}

static Demand shape_demand(ConeWalk *walk, const MirageNodeView *node, uint32_t i, const Demand *of, int64_t *offset) {
  const MirageType *result = mirage_ugraph_type(walk->graph, node->first_result);
  const MirageType *operand = mirage_ugraph_type(walk->graph, node->operands[i]);
  Demand demand = *of;
  uint32_t dim;
  switch (node->op) {
  case MIRAGE_OP_BROADCAST:
    stretched(result, operand, of, &demand);
    return demand;
  case MIRAGE_OP_REPEAT:
    dim = (uint32_t)node->attrs->repeat.dim;
    demand.dim[dim] = modulo(walk, of->dim[dim], operand->shape[dim]);
    return demand;
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t d = 0; d < result->rank; d++)
      demand.dim[node->attrs->perm.perm[d]] = of->dim[d];
    return demand;
  case MIRAGE_OP_RESHAPE:
    reshaped(walk, result, operand, of, &demand);
    return demand;
  case MIRAGE_OP_SLICE:
    dim = (uint32_t)node->attrs->slice.dim;
    demand.dim[dim] = sliced(walk, of->dim[dim], node->attrs->slice.begin, node->attrs->slice.end, operand->shape[dim]);
    return demand;
  case MIRAGE_OP_CONCAT:
    dim = (uint32_t)node->attrs->dim.dim;
    demand.dim[dim] = mirage__verify_sets_shift(&walk->sets, of->dim[dim], -*offset);
    *offset += operand->shape[dim];
    return demand;
  default:
    all_dims(operand, &demand);
    return demand;
  }
}

static Demand operand_demand(ConeWalk *walk, const MirageNodeView *node, uint32_t i, const Demand *of,
                             int64_t *offset) {
  const MirageType *result = mirage_ugraph_type(walk->graph, node->first_result);
  const MirageType *operand = mirage_ugraph_type(walk->graph, node->operands[i]);
  Demand demand = *of;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
  case MIRAGE_KIND_CAST:
    stretched(result, operand, of, &demand);
    return demand;
  case MIRAGE_KIND_MATMUL:
    if (i < 2)
      contracted(result, operand, i == 0,
                 node->attrs && (i == 0 ? node->attrs->matmul.transpose_a : node->attrs->matmul.transpose_b), of,
                 &demand);
    return demand;
  case MIRAGE_KIND_REDUCE: {
    uint32_t dim = (uint32_t)node->attrs->reduce.dim;
    int64_t extent = node->attrs->reduce.extent;
    demand.dim[dim] = extent == 1 ? INDEX_ALL : spread(walk, of->dim[dim], extent, operand->shape[dim] / extent);
    return demand;
  }
  case MIRAGE_KIND_COLLECTIVE: // clusters span the axes that they name
    for (uint32_t a = 0; a < 3; a++)
      demand.grid[a] = node->attrs->axes.axis[a] ? INDEX_ALL : demand.grid[a];
    return demand;
  default:
    return shape_demand(walk, node, i, of, offset);
  }
}

// -------------------------------------------------------------------------------------------------------------- blocks

// How an access splits its dimension d: parts by each grid axis and loop, the tile, which comes first, where the window begins.
enum { SPLIT_WORDS = 3 + MIRAGE_MAX_LOOPS + 3 };
static bool split_of(const ConeWalk *walk, const MirageAccessAttrs *access, const MirageType *tile, uint32_t d,
                     int64_t *words) {
  bool by_grid = false, by_loop = false;
  for (uint32_t a = 0; a < 3; a++) {
    words[a] = access->grid[a] == (int8_t)d ? walk->here.grid[a] : 0;
    by_grid = by_grid || words[a];
  }
  for (uint32_t l = 0; l < MIRAGE_MAX_LOOPS; l++) {
    words[3 + l] = access->loop[l] == (int8_t)d ? walk->here.ranges[l] : 0;
    by_loop = by_loop || words[3 + l];
  }
  words[3 + MIRAGE_MAX_LOOPS] = tile->shape[d];
  words[4 + MIRAGE_MAX_LOOPS] = access->cyclic && by_grid && by_loop;
  words[5 + MIRAGE_MAX_LOOPS] = access->end[d] ? access->begin[d] : 0;
  return by_grid || by_loop;
}

static IndexSet digits(ConeWalk *walk, IndexSet set, const int64_t *split) {
  if (set <= INDEX_ALL)
    return set;
  SetKey key = {.word = {SET_DIGITS, set}};
  memcpy(&key.word[2], split, SPLIT_WORDS * sizeof *split);
  return mirage__verify_sets_find(&walk->sets, &key, mirage__verify_sets_size(&walk->sets, set, INFINITY));
}

// The tile, and the blocks and iterations that store it, of elements of an output.
static void ask_store(ConeWalk *walk, const MirageNodeView *node) {
  const Demand *of = &walk->demands[node->operands[1].index];
  const MirageType *tile = mirage_ugraph_type(walk->graph, node->operands[0]);
  const MirageAccessAttrs *access = &node->attrs->access;
  Demand demand = {.any = true};
  if (!of->any)
    return;
  for (uint32_t a = 0; a < 3; a++) // whoever stores what they all have
    demand.grid[a] = INDEX_ALL;
  for (uint32_t l = 0; l < walk->here.num_loops; l++)
    demand.loop[l] = INDEX_ALL;
  for (uint32_t d = 0; d < tile->rank; d++) {
    int64_t words[SPLIT_WORDS];
    IndexSet set = of->dim[mirage_access_dim(access, d)];
    if (!split_of(walk, access, tile, d, words)) {
      demand.dim[d] = mirage__verify_sets_shift(&walk->sets, set, -words[SPLIT_WORDS - 1]);
      continue;
    }
    demand.dim[d] = digits(walk, set, words);
    for (uint32_t a = 0; a < 3; a++)
      demand.grid[a] = words[a] ? demand.dim[d] : demand.grid[a];
    for (uint32_t l = 0; l < walk->here.num_loops; l++)
      demand.loop[l] = words[3 + l] ? demand.dim[d] : demand.loop[l];
  }
  ask(walk, node->operands[0], demand);
}

// What a tensor's dimension is asked for by tiles, blocks and iterations: where these are the digits of a set, that set.
static IndexSet join(ConeWalk *walk, const Demand *of, uint32_t d, const int64_t *split) {
  SetKey key = {.word = {SET_JOIN, of->dim[d]}};
  memcpy(&key.word[2 + 3 + MIRAGE_MAX_LOOPS], split, SPLIT_WORDS * sizeof *split);
  IndexSet sets[1 + 3 + MIRAGE_MAX_LOOPS] = {of->dim[d]}, only = of->dim[d];
  double size = 1;
  for (uint32_t i = 0; i < 3 + MIRAGE_MAX_LOOPS; i++) {
    sets[1 + i] = !split[i] ? INDEX_NONE : i < 3 ? of->grid[i] : of->loop[i - 3];
    key.word[2 + i] = sets[1 + i];
    only = !split[i] || sets[1 + i] == only ? only : INDEX_NONE;
  }
  for (uint32_t i = 0; i < 1 + 3 + MIRAGE_MAX_LOOPS; i++) {
    bool repeated = false;
    for (uint32_t j = 0; j < i; j++)
      repeated = repeated || (sets[j] == sets[i] && sets[i] != INDEX_ALL);
    if (sets[i] != INDEX_NONE && !repeated) // a set that several of them hold together counts once
      size *= mirage__verify_sets_size(
          &walk->sets, sets[i], sets[i] != INDEX_ALL ? INFINITY : (double)split[i ? i - 1 : 3 + MIRAGE_MAX_LOOPS]);
  }
  if (only == INDEX_ALL && split[SPLIT_WORDS - 1] == 0)
    return INDEX_ALL;
  const SetKey *made = only > INDEX_ALL ? mirage__verify_sets_key(&walk->sets, only) : NULL;
  if (made && made->word[0] == SET_DIGITS && memcmp(&made->word[2], split, SPLIT_WORDS * sizeof *split) == 0)
    return (IndexSet)made->word[1];
  return mirage__verify_sets_find(&walk->sets, &key, size);
}

static void ask_load(ConeWalk *walk, const MirageNodeView *node, const Demand *of) {
  const MirageType *tile = mirage_ugraph_type(walk->graph, node->first_result);
  const MirageAccessAttrs *access = &node->attrs->access;
  Demand demand = {.any = true};
  for (uint32_t d = 0; d < tile->rank; d++) {
    int64_t words[SPLIT_WORDS];
    uint32_t to = mirage_access_dim(access, d);
    const MirageType *tensor = mirage_ugraph_type(walk->graph, node->operands[0]);
    int64_t begin = access->end[d] ? access->begin[d] : 0, end = access->end[d] ? access->end[d] : tensor->shape[to];
    demand.dim[to] = split_of(walk, access, tile, d, words) ? join(walk, of, d, words)
                                                            : sliced(walk, of->dim[d], begin, end, tensor->shape[to]);
  }
  ask(walk, node->operands[0], demand);
}

// ----------------------------------------------------------------------------------------------------------- structure

static void walk_region(ConeWalk *walk, MirageRegion region);

static void forget(ConeWalk *walk, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = 0; i < view.num_arguments; i++)
    walk->demands[view.first_argument.index + i].any = false;
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, view.nodes[i]);
    for (uint32_t r = 0; r < node.num_results; r++)
      walk->demands[node.first_result.index + r].any = false;
    if (node.region.index)
      forget(walk, node.region);
  }
}

// What each iteration yields, so that the carries have the elements of `carries`.
static void ask_yield(ConeWalk *walk, const MirageLoopAttrs *attrs, const MirageNodeView *yield,
                      const Demand *carries) {
  uint32_t factor = attrs->num_carries, depth = walk->here.num_loops - 1;
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    Demand demand = carries[i];
    bool rescale = attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE;
    MirageValue by = rescale ? yield->operands[factor++] : (MirageValue){0};
    if (!demand.any)
      continue;
    demand.loop[depth] = INDEX_ALL;
    if (attrs->carries[i].combine == MIRAGE_COMBINE_CONCAT) {
      uint32_t dim = (uint32_t)attrs->carries[i].dim;
      const MirageType *part = mirage_ugraph_type(walk->graph, yield->operands[i]);
      int64_t split[SPLIT_WORDS] = {0};
      split[3 + depth] = attrs->range;
      split[3 + MIRAGE_MAX_LOOPS] = part->shape[dim];
      demand.dim[dim] = digits(walk, demand.dim[dim], split);
      demand.loop[depth] = demand.dim[dim];
    }
    ask(walk, yield->operands[i], demand);
    if (!rescale)
      continue;
    const MirageType *type = mirage_ugraph_type(walk->graph, yield->operands[i]);
    Demand of_factor = demand;
    stretched(type, mirage_ugraph_type(walk->graph, by), &demand, &of_factor);
    ask(walk, by, of_factor);
  }
}

// The body reads a carry's argument: that is the carry again, in an earlier iteration. True when it asks for more.
static bool widen(ConeWalk *walk, MirageValue argument, Demand *carry) {
  Demand read = walk->demands[argument.index];
  bool wider = read.any && !carry->any;
  if (!read.any)
    return false;
  read.loop[walk->here.num_loops - 1] = INDEX_NONE;
  if (!carry->any) {
    *carry = read;
    return true;
  }
  Demand both = *carry;
  unite_demands(walk, &both, &read);
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    if (both.dim[d] != carry->dim[d]) {
      carry->dim[d] = INDEX_ALL;
      wider = true;
    }
  for (uint32_t l = 0; l + 1 < walk->here.num_loops; l++)
    if (both.loop[l] != carry->loop[l]) {
      carry->loop[l] = INDEX_ALL;
      wider = true;
    }
  for (uint32_t a = 0; a < 3; a++)
    if (both.grid[a] != carry->grid[a]) {
      carry->grid[a] = INDEX_ALL;
      wider = true;
    }
  return wider;
}

static void walk_loop(ConeWalk *walk, const MirageNodeView *node) {
  const MirageLoopAttrs *attrs = &node->attrs->loop;
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]);
  Demand *carries = &walk->demands[node->first_result.index];
  walk->here.ranges[walk->here.num_loops++] = attrs->range;
  for (bool again = true; again;) {
    again = false;
    forget(walk, node->region);
    ask_yield(walk, attrs, &yield, carries);
    walk_region(walk, node->region);
    for (uint32_t i = 0; i < attrs->num_carries; i++)
      again = widen(walk, (MirageValue){body.first_argument.index + i}, &carries[i]) || again;
  }
  walk->here.num_loops--;
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    if (!carries[i].any)
      continue;
    ask(walk, node->operands[i], carries[i]);
    Demand combined = carries[i]; // what stands for the combination: once an iteration
    combined.loop[walk->here.num_loops] = INDEX_ALL;
    walk->demands[body.first_argument.index + i] = combined;
  }
}

static void walk_custom(ConeWalk *walk, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  memcpy(walk->here.grid, node->attrs->custom.grid, sizeof walk->here.grid);
  for (uint32_t r = 0; r < node->num_results; r++)
    walk->demands[body.first_argument.index + node->num_operands + r] = walk->demands[node->first_result.index + r];
  walk_region(walk, node->region);
  for (uint32_t i = 0; i < node->num_operands; i++)
    if (walk->demands[body.first_argument.index + i].any)
      ask(walk, node->operands[i], walk->demands[body.first_argument.index + i]);
  for (uint32_t a = 0; a < 3; a++)
    walk->here.grid[a] = 1;
}

static void walk_thread(ConeWalk *walk, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t r = 0; r < node->num_results; r++)
    if (walk->demands[node->first_result.index + r].any)
      ask(walk, yield.operands[r], walk->demands[node->first_result.index + r]);
  walk_region(walk, node->region);
  for (uint32_t i = 0; i < node->num_operands; i++)
    if (walk->demands[body.first_argument.index + i].any)
      ask(walk, node->operands[i], walk->demands[body.first_argument.index + i]);
}

static void walk_node(ConeWalk *walk, const MirageNodeView *node) {
  int64_t offset = 0; // of a concatenation's operand
  switch (node->op) {
  case MIRAGE_OP_CUSTOM:
    walk_custom(walk, node);
    return;
  case MIRAGE_OP_LOOP:
    walk_loop(walk, node);
    return;
  case MIRAGE_OP_THREAD:
    walk_thread(walk, node);
    return;
  case MIRAGE_OP_STORE:
    ask_store(walk, node);
    return;
  default:
    break;
  }
  if (!node->num_results || !walk->demands[node->first_result.index].any)
    return;
  const Demand of = walk->demands[node->first_result.index];
  if (node->op == MIRAGE_OP_LOAD) {
    ask_load(walk, node, &of);
    return;
  }
  for (uint32_t i = 0; i < node->num_operands; i++)
    ask(walk, node->operands[i], operand_demand(walk, node, i, &of, &offset));
}

static void walk_region(ConeWalk *walk, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = view.num_nodes; i-- > 0;) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, view.nodes[i]);
    walk_node(walk, &node);
  }
}

// ------------------------------------------------------------------------------------------------------------ counting

static void set_depths(ConeWalk *walk, MirageRegion region, uint8_t depth) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = 0; i < view.num_arguments; i++)
    walk->depths[view.first_argument.index + i] = depth;
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, view.nodes[i]);
    for (uint32_t r = 0; r < node.num_results; r++)
      walk->depths[node.first_result.index + r] = depth;
    if (node.region.index)
      set_depths(walk, node.region, (uint8_t)(depth + (node.op == MIRAGE_OP_LOOP)));
  }
}

static void add_calls(const Calls *site, double elements, Calls *total) {
  for (int c = 0; c < NUM_CALLS; c++)
    total->of[c] += site->of[c] > 0 ? site->of[c] * elements : 0;
}

static void count_region(ConeWalk *walk, const Calls *sites, MirageRegion region, Calls *total) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = 0; i < view.num_arguments; i++) {
    MirageValue value = {view.first_argument.index + i};
    if (walk->demands[value.index].any)
      add_calls(&sites[value.index], count_elements(walk, value, &walk->demands[value.index]), total);
  }
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, view.nodes[i]);
    for (uint32_t r = 0; r < node.num_results; r++) {
      MirageValue value = {node.first_result.index + r};
      if (walk->demands[value.index].any)
        add_calls(&sites[value.index], count_elements(walk, value, &walk->demands[value.index]), total);
    }
    if (!node.region.index)
      continue;
    const MirageScope here = walk->here;
    if (node.op == MIRAGE_OP_CUSTOM)
      memcpy(walk->here.grid, node.attrs->custom.grid, sizeof walk->here.grid);
    if (node.op == MIRAGE_OP_LOOP)
      walk->here.ranges[walk->here.num_loops++] = node.attrs->loop.range;
    count_region(walk, sites, node.region, total);
    walk->here = here;
  }
}

static MirageStatus cone_init(ConeWalk *walk, const MirageUGraph *graph) {
  size_t n = mirage_ugraph_num_values(graph) + 1;
  *walk = (ConeWalk){.graph = graph, .here.grid = {1, 1, 1}};
  walk->demands = calloc(n, sizeof *walk->demands);
  walk->depths = calloc(n, sizeof *walk->depths);
  if (!walk->demands || !walk->depths)
    return MIRAGE_NO_MEMORY;
  set_depths(walk, mirage_ugraph_body(graph), 0);
  return MIRAGE_OK;
}

static void cone_deinit(ConeWalk *walk) {
  mirage__verify_sets_deinit(&walk->sets);
  free(walk->demands);
  free(walk->depths);
}

MirageStatus mirage__verify_cone(const MirageUGraph *graph, const Calls *sites, uint32_t output, Calls *out_calls) {
  ConeWalk walk;
  MirageStatus status = cone_init(&walk, graph);
  if (status == MIRAGE_OK) {
    MirageValue value = mirage_ugraph_get_output(graph, output);
    Demand element = {.any = true};
    for (uint32_t d = 0; d < mirage_ugraph_type(graph, value)->rank; d++) {
      const SetKey label = {.word = {SET_LABEL, d}};
      element.dim[d] = mirage__verify_sets_find(&walk.sets, &label, 1);
    }
    Calls calls = {{0}};
    ask(&walk, value, element);
    walk_region(&walk, mirage_ugraph_body(graph));
    count_region(&walk, sites, mirage_ugraph_body(graph), &calls);
    *out_calls = calls;
  }
  cone_deinit(&walk);
  return status;
}

MirageStatus mirage__verify_all_calls(const MirageUGraph *graph, const Calls *sites, Calls *out_calls) {
  ConeWalk walk;
  MirageStatus status = cone_init(&walk, graph);
  if (status == MIRAGE_OK) {
    const Demand all = {.any = true, .dim = {1, 1, 1, 1, 1, 1}, .loop = {1, 1, 1, 1}, .grid = {1, 1, 1}};
    for (uint32_t i = 1; i <= mirage_ugraph_num_values(graph); i++)
      walk.demands[i] = all;
    Calls calls = {{0}};
    count_region(&walk, sites, mirage_ugraph_body(graph), &calls);
    *out_calls = calls;
  }
  cone_deinit(&walk);
  return status;
}
