// search_extract.c - reads block graphs off the derivations: every choice of one derivation for each tensor needed.
//
// Depth-first from the goals towards the inputs. `pending` holds the tensors that are needed and not yet derived; the
// next to be derived is always the one latest in a topological order of all derivations, so that each graph is met
// exactly once, a tensor needed twice is derived once, and nothing derived so far can serve below the next one. That
// makes the bounds hold: what is pending still needs the loads of its inputs, and all operators of its longest path.
//
// Counting: loads count, stores and constants do not, and operators that are element-wise and feed one another are one
// chain. Composites count one: a sum of squares, a norm (its statistic and the chain that divides by it), exponentials
// with their sum, a reduction with its accumulation. Since links of a chain are free, their number is bounded by
// deepening: graphs with the fewest element-wise operators, and with one more, are kept; those with more only rearrange
// the same arithmetic.
#include "search_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PENDING = 2 * SEARCH_MAX_NODES, SPARE_ELEMENTWISE = 1 };

/// The part of the state that a step changes besides `pending`.
typedef struct Used {
  uint32_t counted;     // derived, not element-wise, loads included
  uint32_t elementwise; // derived
  uint32_t reductions;  // derived
  uint64_t loaded;      // inputs, as a bit set
} Used;

typedef struct Extractor {
  SearchSpace *space;
  SearchKept *kept;
  uint32_t *chosen; // derivation by tensor; 0 = none
  uint32_t *rank;   // by tensor: place in the topological order, from 1
  uint32_t num_ranked;
  uint8_t *state;                   // by tensor, while ordering: 0 new, 1 open, 2 done
  uint32_t *place;                  // by tensor: its node in the structure
  uint32_t goals[SEARCH_MAX_GOALS]; // tensors
  uint32_t pending[MAX_PENDING], num_pending;
  Used used;
  uint32_t elementwise_limit;
  SearchStructure structure; // being ordered
} Extractor;

static bool is_leaf(const SearchDerivation *how) { return how->op == MIRAGE_OP_LOAD || how->op == MIRAGE_OP_CONSTANT; }

// --------------------------------------------------------------------------------- complete structures

// Appends `tensor` after its operands; false when the choice is cyclic.
static bool order(Extractor *extractor, uint32_t tensor) {
  if (extractor->state[tensor])
    return extractor->state[tensor] == 2;
  extractor->state[tensor] = 1;
  const SearchDerivation *how = &extractor->space->derivations[extractor->chosen[tensor]];
  const SearchTensor *value = &extractor->space->tensors[tensor];
  SearchNode node = {.op = how->op, .flags = how->flags, .dim = how->dim, .stage = value->stage, .rank = value->rank};
  memcpy(node.dims, value->dims, sizeof node.dims);
  node.a = how->a;
  if (how->op == MIRAGE_OP_EXP)
    node.flags = mirage__search_stable_axis(extractor->space, extractor->space->tensors[how->a].expr);
  if (!is_leaf(how)) {
    if (!order(extractor, how->a) || (mirage__search_is_binary(how->op) && !order(extractor, how->b)))
      return false;
    node.a = extractor->place[how->a];
    node.b = mirage__search_is_binary(how->op) ? extractor->place[how->b] : 0;
  }
  extractor->state[tensor] = 2;
  extractor->place[tensor] = extractor->structure.num_nodes;
  extractor->structure.nodes[extractor->structure.num_nodes++] = node;
  return true;
}

static uint32_t chain_root(uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i];
  return i;
}

static void join_chains(const SearchStructure *structure, uint32_t *parent, uint32_t i, uint32_t operand) {
  if (mirage__search_is_elementwise(structure->nodes[operand].op) &&
      structure->nodes[operand].stage == structure->nodes[i].stage)
    parent[chain_root(parent, i)] = chain_root(parent, operand);
}

// Whether node `root` is a chain of its own.
static bool is_alone(uint32_t *parent, const SearchStructure *structure, uint32_t root) {
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    if (i != root && mirage__search_is_elementwise(structure->nodes[i].op) && chain_root(parent, i) == root)
      return false;
  return true;
}

static bool is_reduction(uint8_t op) { return op == MIRAGE_OP_REDUCE_SUM || op == MIRAGE_OP_REDUCE_MAX; }

// A square that only reductions take: a sum of squares is one operator.
static bool is_part_of_reduction(const SearchStructure *structure, uint32_t node) {
  if (structure->nodes[node].op != MIRAGE_OP_MUL || structure->nodes[node].a != structure->nodes[node].b)
    return false;
  for (uint32_t i = node + 1; i < structure->num_nodes; i++) {
    const SearchNode *user = &structure->nodes[i];
    bool uses = user->a == node || (mirage__search_is_binary(user->op) && user->b == node);
    if (uses && user->op != MIRAGE_OP_LOAD && user->op != MIRAGE_OP_CONSTANT && !is_reduction(user->op))
      return false;
  }
  return true;
}

static bool counts_alone(const SearchStructure *structure, const SearchNode *node) {
  if (node->op == MIRAGE_OP_LOOP)
    return !is_reduction(structure->nodes[node->a].op);
  if (node->op == MIRAGE_OP_REDUCE_SUM)
    return structure->nodes[node->a].op != MIRAGE_OP_EXP;
  return node->op != MIRAGE_OP_CONSTANT;
}

// Whether a chain starts at a reduction of the same stage: a norm is one operator, its statistic and the division.
static bool ends_reduction(uint32_t *parent, const SearchStructure *structure, uint32_t root) {
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (!mirage__search_is_elementwise(node->op) || chain_root(parent, i) != root)
      continue;
    const SearchNode *a = &structure->nodes[node->a], *b = &structure->nodes[node->b];
    bool ends = is_reduction(a->op) && a->stage == node->stage && counts_alone(structure, a);
    if (mirage__search_is_binary(node->op))
      ends |= is_reduction(b->op) && b->stage == node->stage && counts_alone(structure, b);
    if (ends)
      return true;
  }
  return false;
}

static uint32_t count_operators(const SearchStructure *structure) {
  uint32_t parent[SEARCH_MAX_NODES], count = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    parent[i] = i;
    if (!mirage__search_is_elementwise(node->op)) {
      count += counts_alone(structure, node);
      continue;
    }
    join_chains(structure, parent, i, node->a);
    if (mirage_op_info((MirageOp)node->op)->kind == MIRAGE_KIND_BINARY)
      join_chains(structure, parent, i, node->b);
  }
  for (uint32_t i = 0; i < structure->num_nodes; i++)
    count += mirage__search_is_elementwise(structure->nodes[i].op) && parent[i] == i &&
             !ends_reduction(parent, structure, i) &&
             !(is_part_of_reduction(structure, i) && is_alone(parent, structure, i));
  return count;
}

// Inserts into the list of the best; equal scores keep the earlier one.
static void keep(SearchKept *kept, const SearchStructure *structure) {
  if (kept->num == kept->capacity && kept->items[kept->num - 1].score_us <= structure->score_us)
    return;
  uint32_t at = kept->num < kept->capacity ? kept->num++ : kept->num - 1;
  while (at > 0 && kept->items[at - 1].score_us > structure->score_us) {
    kept->items[at] = kept->items[at - 1];
    at--;
  }
  kept->items[at] = *structure;
}

static void complete(Extractor *extractor) {
  SearchSpace *space = extractor->space;
  SearchStructure *structure = &extractor->structure;
  if (extractor->used.elementwise < extractor->elementwise_limit)
    return; // met in an earlier round
  memset(extractor->state, 0, space->num_tensors + 1);
  structure->num_nodes = 0;
  structure->loop_axis = space->loop_axis;
  structure->num_outputs = space->num_goals;
  for (uint32_t i = 0; i < space->num_goals; i++) {
    if (!order(extractor, extractor->goals[i]))
      return;
    structure->outputs[i] = extractor->place[extractor->goals[i]];
  }
  structure->num_ops = count_operators(structure);
  if (structure->num_ops > space->options->max_block_ops || !mirage__search_stabilise(structure))
    return;
  space->funnel.structures++;
  SearchSchedule schedule;
  mirage__search_reference_schedule(space->program, structure, space->options, &schedule);
  structure->score_us = mirage__search_schedule_cost(space->program, structure, &schedule, space->options->target);
  keep(extractor->kept, structure);
}

// -------------------------------------------------------------------------------------------- topology

// Ranks a tensor after all tensors that its derivations use. A cycle of derivations (a = -b, b = -a) has no such order;
// its last edge is ignored.
static void rank_tensor(Extractor *extractor, uint32_t tensor) {
  SearchSpace *space = extractor->space;
  extractor->state[tensor] = 1;
  for (uint32_t d = space->tensors[tensor].derivations; d; d = space->derivations[d].next) {
    const SearchDerivation *how = &space->derivations[d];
    if (is_leaf(how))
      continue;
    if (!extractor->state[how->a])
      rank_tensor(extractor, how->a);
    if (mirage__search_is_binary(how->op) && !extractor->state[how->b])
      rank_tensor(extractor, how->b);
  }
  extractor->rank[tensor] = ++extractor->num_ranked;
}

// ----------------------------------------------------------------------------------------- enumeration

// Makes a tensor pending unless it is derived or pending already; false when there is no room for it.
static bool need(Extractor *extractor, uint32_t tensor) {
  if (extractor->chosen[tensor])
    return true;
  for (uint32_t i = 0; i < extractor->num_pending; i++)
    if (extractor->pending[i] == tensor)
      return true;
  if (extractor->num_pending == MAX_PENDING)
    return false;
  extractor->pending[extractor->num_pending++] = tensor;
  return true;
}

static uint32_t take_latest(Extractor *extractor) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < extractor->num_pending; i++)
    if (extractor->rank[extractor->pending[i]] > extractor->rank[extractor->pending[best]])
      best = i;
  uint32_t tensor = extractor->pending[best];
  extractor->pending[best] = extractor->pending[--extractor->num_pending];
  return tensor;
}

// Whether `tensor` is needed for `above`, among what is derived so far.
static bool depends(const Extractor *extractor, uint32_t above, uint32_t tensor) {
  if (above == tensor)
    return true;
  const SearchDerivation *how = &extractor->space->derivations[extractor->chosen[above]];
  if (!extractor->chosen[above] || is_leaf(how))
    return false;
  return depends(extractor, how->a, tensor) ||
         (mirage__search_is_binary(how->op) && depends(extractor, how->b, tensor));
}

// Whether what is used and what is pending can stay within the limits.
static bool within_bounds(const Extractor *extractor) {
  const SearchSpace *space = extractor->space;
  uint32_t counted = 0, elementwise = 0, num_elementwise = 0;
  uint64_t inputs = 0;
  for (uint32_t i = 0; i < extractor->num_pending; i++) {
    const SearchTensor *tensor = &space->tensors[extractor->pending[i]];
    counted = tensor->counted_depth > counted ? tensor->counted_depth : counted;
    elementwise = tensor->elementwise_depth > elementwise ? tensor->elementwise_depth : elementwise;
    num_elementwise += tensor->only_elementwise;
    inputs |= tensor->inputs;
  }
  elementwise = num_elementwise > elementwise ? num_elementwise : elementwise;
  elementwise += extractor->used.elementwise;
  counted += extractor->used.counted + (uint32_t)__builtin_popcountll(inputs & ~extractor->used.loaded);
  if (elementwise && !extractor->used.reductions)
    counted++; // the chain, or a reduction that it counts with
  return elementwise <= extractor->elementwise_limit && counted <= space->options->max_block_ops;
}

static void use(Extractor *extractor, const SearchDerivation *how) {
  extractor->used.reductions += is_reduction(how->op);
  if (mirage__search_is_elementwise(how->op))
    extractor->used.elementwise++;
  else
    extractor->used.counted += mirage__search_counts(extractor->space, how);
  if (how->op == MIRAGE_OP_LOAD)
    extractor->used.loaded |= (uint64_t)1 << how->a;
}

static void extend(Extractor *extractor) {
  SearchSpace *space = extractor->space;
  if (space->stopped)
    return;
  if (!extractor->num_pending) {
    complete(extractor);
    return;
  }
  if (++space->funnel.states > space->max_states) {
    space->stopped = true;
    return;
  }
  uint32_t pending[MAX_PENDING], left[MAX_PENDING], num_pending = extractor->num_pending;
  Used used = extractor->used;
  memcpy(pending, extractor->pending, num_pending * sizeof *pending);
  uint32_t tensor = take_latest(extractor), num_left = extractor->num_pending;
  memcpy(left, extractor->pending, num_left * sizeof *left);
  for (uint32_t d = space->tensors[tensor].derivations; d; d = space->derivations[d].next) {
    const SearchDerivation *how = &space->derivations[d];
    extractor->chosen[tensor] = d;
    use(extractor, how);
    bool binary = mirage__search_is_binary(how->op), fits = true;
    if (!is_leaf(how)) // s = (s c) / c, s c = s * c goes in a circle
      fits = !depends(extractor, how->a, tensor) && !(binary && depends(extractor, how->b, tensor)) &&
             need(extractor, how->a) && (!binary || need(extractor, how->b));
    if (fits && within_bounds(extractor))
      extend(extractor);
    memcpy(extractor->pending, left, num_left * sizeof *left);
    extractor->num_pending = num_left;
    extractor->used = used;
  }
  extractor->chosen[tensor] = 0;
  memcpy(extractor->pending, pending, num_pending * sizeof *pending);
  extractor->num_pending = num_pending;
}

// Deepens the bound on element-wise operators until graphs are found, and a little further: a safe softmax has one
// operator more than an unsafe one, and only the numeric guard can tell which is needed.
static void deepen(Extractor *extractor) {
  SearchSpace *space = extractor->space;
  uint32_t limit = mirage__search_elementwise_limit(space->program);
  uint32_t last = limit, first = 0;
  for (uint32_t i = 0; i < space->num_goals; i++) {
    uint32_t depth = space->tensors[extractor->goals[i]].elementwise_depth;
    first = depth > first ? depth : first;
  }
  uint64_t before = space->funnel.structures;
  for (uint32_t round = first; round <= last && !space->stopped; round++) {
    extractor->elementwise_limit = round;
    extractor->used = (Used){0};
    extractor->num_pending = 0;
    for (uint32_t i = 0; i < space->num_goals; i++)
      need(extractor, extractor->goals[i]);
    extend(extractor);
    if (space->funnel.structures > before && round + SPARE_ELEMENTWISE < last)
      last = round + SPARE_ELEMENTWISE;
  }
}

// One tensor for each goal, in every way. With a loop some result comes out of it; without, see the other plans.
static void choose_goals(Extractor *extractor, uint32_t goal, bool looped) {
  SearchSpace *space = extractor->space;
  if (goal == space->num_goals) {
    if (looped || !space->loop_axis)
      deepen(extractor);
    return;
  }
  for (uint32_t i = 1; i <= space->num_tensors && !space->stopped; i++) {
    if (!mirage__search_is_goal(space, &space->goals[goal], &space->tensors[i]))
      continue;
    extractor->goals[goal] = i;
    choose_goals(extractor, goal + 1, looped || space->tensors[i].stage != SEARCH_BEFORE);
  }
}

// What every derivation of a tensor has in common, for the bounds.
static void summarize(SearchSpace *space) {
  for (uint32_t i = 1; i <= space->num_tensors; i++) {
    SearchTensor *tensor = &space->tensors[i];
    tensor->inputs = mirage_expr_inputs(space->exprs, tensor->expr);
    tensor->only_elementwise = true;
    for (uint32_t d = tensor->derivations; d; d = space->derivations[d].next)
      tensor->only_elementwise &= mirage__search_is_elementwise(space->derivations[d].op);
  }
}

MirageStatus mirage__search_extract(SearchSpace *space, SearchKept *kept) {
  size_t count = (size_t)space->num_tensors + 1;
  Extractor *extractor = calloc(1, sizeof *extractor);
  uint32_t *words = calloc(3 * count, sizeof *words);
  uint8_t *state = calloc(count, 1);
  MirageStatus status = extractor && words && state ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    extractor->space = space;
    extractor->kept = kept;
    extractor->chosen = words;
    extractor->place = words + count;
    extractor->rank = words + 2 * count;
    extractor->state = state;
    summarize(space);
    for (uint32_t i = 1; i <= space->num_tensors; i++)
      if (!state[i])
        rank_tensor(extractor, i);
    choose_goals(extractor, 0, false);
  }
  free(state);
  free(words);
  free(extractor);
  return status;
}
