// search_bounds.c - what a block graph that is begun takes at least: the loads and operators that are still to come.
//
// What is pending needs its loads and operators; each bound is a set of which the whole graph holds every member, so
// that members not chosen yet are still to come: tensors that every derivation leads through, kinds of operators that
// every derivation holds one of (search_paths.c), and the longest path. Chains of element-wise operators that nothing
// pending can continue are counted as the finished graph will count them (search_structure.c).
#include "search/walk/search_walk.h"

static uint32_t chain_root(const uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i];
  return i;
}

// What an operand means for a chain of its stage.
typedef enum { LINK_NONE, LINK_JOINS, LINK_OPEN } Link;

static Link find_link(const Walk *walk, const PathTensor *user, uint32_t operand) {
  const PathTensor *tensor = &walk->paths->tensors[operand];
  if (!operand || tensor->stage != user->stage || !tensor->may_chain)
    return LINK_NONE;
  const PathStep *step = mirage__walk_step(walk, operand);
  if (!step)
    return LINK_OPEN;
  if (step->op == MIRAGE_OP_REDUCE_SUM) { // a norm is one operator with its statistic; a sum of exponentials is not
    const PathStep *summed = mirage__walk_step(walk, step->a);
    return summed && summed->op == MIRAGE_OP_EXP ? LINK_NONE : LINK_OPEN;
  }
  return step->elementwise ? LINK_JOINS : step->reduction ? LINK_OPEN : LINK_NONE;
}

// A square that only reductions take is one operator with them, unless it is in a chain with others.
static bool is_part_of_reduction(const Walk *walk, uint32_t place) {
  const PathStep *step = mirage__walk_step(walk, place);
  return step->op == MIRAGE_OP_MUL && step->a == step->b && !walk->others[place];
}

// Chains of element-wise operators that can neither grow any more nor become one operator with a reduction.
static uint32_t count_closed_chains(const Walk *walk, uint32_t num_chained) {
  uint32_t parent[SEARCH_MAX_NODES], size[SEARCH_MAX_NODES] = {0}, closed = 0;
  bool open[SEARCH_MAX_NODES] = {false};
  for (uint32_t i = 0; i < num_chained; i++)
    parent[i] = i;
  for (uint32_t i = 0; i < num_chained; i++) {
    uint32_t place = walk->chained[i];
    const PathStep *step = mirage__walk_step(walk, place);
    open[i] = walk->paths->tensors[place].joins_later;
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t operand = k ? step->b : step->a, j = 0;
      Link link = find_link(walk, &walk->paths->tensors[place], operand);
      open[i] |= link == LINK_OPEN;
      while (link == LINK_JOINS && walk->chained[j] != operand)
        j++;
      if (link == LINK_JOINS)
        parent[chain_root(parent, i)] = chain_root(parent, j);
    }
  }
  for (uint32_t i = 0; i < num_chained; i++) {
    uint32_t root = chain_root(parent, i);
    open[root] |= open[i];
    size[root]++;
  }
  for (uint32_t i = 0; i < num_chained; i++)
    closed += parent[i] == i && !open[i] && !(size[i] == 1 && is_part_of_reduction(walk, walk->chained[i]));
  return closed;
}

typedef struct Needs {
  uint32_t counted, elementwise;
} Needs;

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

// Loads among what is needed, of `words`, and not there: those that all ways have in common, and inputs that are loaded
// in one way or another.
static uint32_t count_loads(const Walk *walk, const uint64_t *words, uint64_t loaded) {
  const Paths *paths = walk->paths;
  uint32_t count = 0;
  for (uint32_t w = 1; w < paths->first_counted && !paths->space->options->no_bound_needs; w++)
    for (uint64_t left = words[w] & ~walk->done[w]; left; left &= left - 1, count++)
      loaded |= (uint64_t)1 << paths->load_inputs[64 * (w - 1) + (uint32_t)__builtin_ctzll(left)];
  return count + (uint32_t)__builtin_popcountll(words[0] & ~loaded);
}

// What the pending tensors of a level still take, at least.
static Needs find_needs(const Walk *walk, const Level *level) {
  const Paths *paths = walk->paths;
  uint64_t all[PATHS_MAX_WORDS] = {0};
  PathKinds kinds = {0};
  Needs depth = {0}, needs = {0};
  for (uint32_t i = 0; i < level->num_pending; i++) {
    const PathTensor *tensor = &paths->tensors[level->pending[i]];
    const uint64_t *words = &paths->needs[(size_t)level->pending[i] * paths->num_words];
    for (uint32_t w = 0; w < paths->num_words; w++)
      all[w] |= words[w];
    kinds.counted |= paths->kinds[level->pending[i]].counted;
    kinds.elementwise |= paths->kinds[level->pending[i]].elementwise;
    depth.counted = larger(depth.counted, tensor->counted_depth);
    depth.elementwise = larger(depth.elementwise, tensor->elementwise_depth);
  }
  for (uint32_t w = paths->first_counted; w < paths->num_words && !paths->space->options->no_bound_needs; w++)
    *(w < paths->first_elementwise ? &needs.counted : &needs.elementwise) +=
        (uint32_t)__builtin_popcountll(all[w] & ~walk->done[w]);
  if (!paths->space->options->no_bound_needs) {
    depth.counted = larger(depth.counted, (uint32_t)__builtin_popcountll(kinds.counted & ~walk->done_kinds.counted));
    depth.elementwise =
        larger(depth.elementwise, (uint32_t)__builtin_popcountll(kinds.elementwise & ~walk->done_kinds.elementwise));
  }
  needs.counted = larger(needs.counted, depth.counted) + count_loads(walk, all, level->used.loaded);
  needs.elementwise = larger(needs.elementwise, depth.elementwise);
  return needs;
}

bool mirage__walk_within_bounds(Walk *walk, const Level *level) {
  Needs needs = find_needs(walk, level);
  uint32_t counted = level->used.counted + needs.counted, chained = level->used.elementwise;
  if (counted > walk->bounds.counted)
    return false;
  if (counted + chained > walk->bounds.counted && !walk->paths->space->options->no_bound_needs &&
      counted + count_closed_chains(walk, chained) > walk->bounds.counted)
    return false;
  bool fits = chained + needs.elementwise <= walk->bounds.elementwise;
  walk->cut_elementwise |= !fits;
  return fits;
}
