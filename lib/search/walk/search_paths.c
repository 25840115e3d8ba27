// search_paths.c - the tensors below the goals, in an order in which they can be chosen, and what each needs.
//
// `needs` is what every way to compute a tensor has in common: the intersection over its derivations of what their
// operands need. So the union over tensors that are still to be computed bounds the loads and operators of a block
// graph from below, and far better than the longest path does where paths are many.
#include "search/walk/search_paths.h"
#include <stdlib.h>
#include <string.h>

enum { OPEN = UINT32_MAX }; // a tensor whose operands are being ordered

static bool is_leaf(const SearchDerivation *how) { return how->op == MIRAGE_OP_LOAD || how->op == MIRAGE_OP_CONSTANT; }

// ---------------------------------------------------------------------------------------------- topology

typedef struct Order {
  const SearchSpace *space;
  uint32_t *place; // by tensor of the space; 0 = not met, OPEN = being ordered
  uint32_t *tensors;
  uint32_t num, num_steps;
} Order;

// Places a tensor after all that its derivations use.
static void order_tensor(Order *order, uint32_t tensor) {
  const SearchSpace *space = order->space;
  order->place[tensor] = OPEN;
  for (uint32_t d = space->tensors[tensor].derivations; d; d = space->derivations[d].next) {
    const SearchDerivation *how = &space->derivations[d];
    order->num_steps++;
    if (is_leaf(how))
      continue;
    if (!order->place[how->a])
      order_tensor(order, how->a);
    if (mirage__search_is_binary(how->op) && !order->place[how->b])
      order_tensor(order, how->b);
  }
  order->place[tensor] = ++order->num;
  order->tensors[order->num] = tensor;
}

static PathStep make_step(const Order *order, uint32_t derivation) {
  const SearchDerivation *how = &order->space->derivations[derivation];
  PathStep step = {.derivation = derivation,
                   .op = how->op,
                   .elementwise = mirage__search_is_elementwise(how->op),
                   .reduction = how->op == MIRAGE_OP_REDUCE_SUM || how->op == MIRAGE_OP_REDUCE_MAX};
  if (is_leaf(how))
    return step; // a load is counted by its input
  step.a = order->place[how->a];
  step.b = mirage__search_is_binary(how->op) ? order->place[how->b] : 0;
  step.counts = mirage__search_counts(order->space, how);
  return step;
}

static void fill_tensor(Paths *paths, const Order *order, uint32_t place) {
  const SearchTensor *source = &paths->space->tensors[order->tensors[place]];
  PathTensor *tensor = &paths->tensors[place];
  *tensor = (PathTensor){.tensor = order->tensors[place],
                         .first_step = paths->num_steps,
                         .counted_depth = source->counted_depth,
                         .elementwise_depth = source->elementwise_depth,
                         .stage = source->stage};
  mirage_expr_size(paths->space->exprs, source->expr, &tensor->monomials, &tensor->atoms);
  for (uint32_t d = source->derivations; d; d = paths->space->derivations[d].next) {
    PathStep step = make_step(order, d);
    tensor->may_chain |= step.elementwise || step.reduction;
    paths->steps[paths->num_steps++] = step;
    tensor->num_steps++;
  }
}

// Edges that close a cycle are the ones that a walk meets when what they lead to is derived already.
static void mark_later_joins(Paths *paths) {
  for (uint32_t i = 1; i <= paths->num; i++)
    for (uint32_t k = 0; k < paths->tensors[i].num_steps; k++) {
      const PathStep *step = &paths->steps[paths->tensors[i].first_step + k];
      PathTensor *a = &paths->tensors[step->a], *b = &paths->tensors[step->b];
      a->taken_later |= step->a > i;
      b->taken_later |= step->b > i;
      a->joins_later |= step->elementwise && step->a > i && a->stage == paths->tensors[i].stage;
      b->joins_later |= step->elementwise && step->b > i && b->stage == paths->tensors[i].stage;
    }
}

// -------------------------------------------------------------------------------------------------- needs

static bool is_load(const Paths *paths, const PathTensor *tensor) {
  return tensor->num_steps == 1 && paths->steps[tensor->first_step].op == MIRAGE_OP_LOAD;
}

static bool always_counts(const Paths *paths, const PathTensor *tensor) {
  for (uint32_t i = 0; i < tensor->num_steps; i++)
    if (!paths->steps[tensor->first_step + i].counts)
      return false;
  return true;
}

static bool always_elementwise(const Paths *paths, const PathTensor *tensor) {
  for (uint32_t i = 0; i < tensor->num_steps; i++)
    if (!paths->steps[tensor->first_step + i].elementwise)
      return false;
  return true;
}

// Gives a bit to each tensor that `holds` of, from `bit` up to `end`; the first bit after them, rounded up to a word.
// What gets none is left out, which weakens bounds, no more.
static uint32_t number_events(Paths *paths, uint32_t bit, uint32_t end,
                              bool (*holds)(const Paths *, const PathTensor *)) {
  for (uint32_t i = 1; i <= paths->num && bit < end; i++)
    if (holds(paths, &paths->tensors[i]))
      paths->tensors[i].event = bit++;
  return (bit + 63) / 64 * 64;
}

static uint32_t number_loads(Paths *paths) {
  uint32_t end = number_events(paths, 64, 64 + PATHS_MAX_LOADS, is_load);
  for (uint32_t i = 1; i <= paths->num; i++) {
    const PathTensor *tensor = &paths->tensors[i];
    if (tensor->event)
      paths->load_inputs[tensor->event - 64] =
          (uint8_t)paths->space->derivations[paths->steps[tensor->first_step].derivation].a;
  }
  return end;
}

static void need(const Paths *paths, uint32_t place, uint64_t *in_out_words) {
  for (uint32_t w = 0; place && w < paths->num_words; w++)
    in_out_words[w] |= paths->needs[(size_t)place * paths->num_words + w];
}

// Intersects over the derivations; whether anything was lost.
static bool refine(Paths *paths, uint32_t place) {
  const PathTensor *tensor = &paths->tensors[place];
  uint64_t common[PATHS_MAX_WORDS];
  memset(common, 0xff, sizeof common);
  for (uint32_t i = 0; i < tensor->num_steps; i++) {
    const PathStep *step = &paths->steps[tensor->first_step + i];
    uint64_t words[PATHS_MAX_WORDS] = {0};
    need(paths, step->a, words);
    need(paths, step->b, words);
    if (step->op == MIRAGE_OP_LOAD)
      words[0] |= (uint64_t)1 << paths->space->derivations[step->derivation].a;
    for (uint32_t w = 0; w < paths->num_words; w++)
      common[w] &= words[w];
  }
  if (tensor->event)
    common[tensor->event / 64] |= (uint64_t)1 << tensor->event % 64;
  uint64_t *known = &paths->needs[(size_t)place * paths->num_words];
  bool lost = memcmp(known, common, paths->num_words * sizeof *known) != 0;
  memcpy(known, common, paths->num_words * sizeof *known);
  return lost;
}

// From "everything" down to what is common to all, until nothing changes: cycles take more than one pass.
static MirageStatus find_needs(Paths *paths) {
  uint32_t first_counted = number_loads(paths);
  uint32_t first_elementwise = number_events(paths, first_counted, 64 * PATHS_MAX_WORDS / 2, always_counts);
  paths->first_counted = first_counted / 64;
  paths->first_elementwise = first_elementwise / 64;
  paths->num_words = number_events(paths, first_elementwise, 64 * PATHS_MAX_WORDS, always_elementwise) / 64;
  size_t size = ((size_t)paths->num + 1) * paths->num_words * sizeof *paths->needs;
  paths->needs = malloc(size);
  if (!paths->needs)
    return MIRAGE_NO_MEMORY;
  memset(paths->needs, 0xff, size);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 1; i <= paths->num; i++)
      again |= refine(paths, i);
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------- kinds
//
// Where q k / |q| / |k| may be taken in any order, no tensor on the way is needed, but some product of q and k is, some
// root of q alone, and so on. A graph that holds a kind holds an operator of it, and every operator is of one kind.

typedef struct Kind {
  uint64_t inputs;
  uint8_t op, stage, dim;
} Kind;

// The number of a kind among those met, from 1 on; 0 when there is no room.
static uint8_t number_kind(Kind *kinds, uint32_t *num, Kind kind) {
  for (uint32_t i = 1; i < *num; i++)
    if (kinds[i].inputs == kind.inputs && kinds[i].op == kind.op && kinds[i].stage == kind.stage &&
        kinds[i].dim == kind.dim)
      return (uint8_t)i;
  if (*num == PATHS_MAX_KINDS)
    return 0;
  kinds[*num] = kind;
  return (uint8_t)(*num)++;
}

static void number_kinds(Paths *paths) {
  const SearchSpace *space = paths->space;
  Kind counted[PATHS_MAX_KINDS], elementwise[PATHS_MAX_KINDS];
  uint32_t num_counted = 1, num_elementwise = 1;
  for (uint32_t i = 1; i <= paths->num; i++) {
    const PathTensor *tensor = &paths->tensors[i];
    uint64_t inputs = mirage_expr_inputs(space->exprs, space->tensors[tensor->tensor].expr);
    for (uint32_t k = 0; k < tensor->num_steps; k++) {
      PathStep *step = &paths->steps[tensor->first_step + k];
      Kind kind = {.inputs = inputs, .op = step->op, .stage = tensor->stage};
      if (step->reduction) {
        const SearchDerivation *how = &space->derivations[step->derivation];
        kind.dim = space->tensors[how->a].dims[how->dim];
      }
      if (step->elementwise)
        step->kind = number_kind(elementwise, &num_elementwise, kind);
      else if (step->counts)
        step->kind = number_kind(counted, &num_counted, kind);
    }
  }
}

static PathKinds kinds_of_step(const Paths *paths, const PathStep *step) {
  PathKinds a = paths->kinds[step->a], b = paths->kinds[step->b];
  uint64_t own = step->kind ? (uint64_t)1 << step->kind : 0;
  return (PathKinds){.counted = a.counted | b.counted | (step->elementwise ? 0 : own),
                     .elementwise = a.elementwise | b.elementwise | (step->elementwise ? own : 0)};
}

// What the derivations of a tensor have in common.
static PathKinds common_kinds(const Paths *paths, const PathTensor *tensor) {
  PathKinds common = {UINT64_MAX, UINT64_MAX};
  for (uint32_t k = 0; k < tensor->num_steps; k++) {
    PathKinds kinds = kinds_of_step(paths, &paths->steps[tensor->first_step + k]);
    common.counted &= kinds.counted;
    common.elementwise &= kinds.elementwise;
  }
  return common;
}

// As find_needs.
static MirageStatus find_kinds(Paths *paths) {
  number_kinds(paths);
  paths->kinds = malloc(((size_t)paths->num + 1) * sizeof *paths->kinds);
  if (!paths->kinds)
    return MIRAGE_NO_MEMORY;
  memset(paths->kinds, 0xff, ((size_t)paths->num + 1) * sizeof *paths->kinds);
  paths->kinds[0] = (PathKinds){0};
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 1; i <= paths->num; i++) {
      PathKinds common = common_kinds(paths, &paths->tensors[i]);
      again |= common.counted != paths->kinds[i].counted || common.elementwise != paths->kinds[i].elementwise;
      paths->kinds[i] = common;
    }
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------- public

MirageStatus mirage__paths_init(Paths *paths, const SearchSpace *space, const uint32_t *goals) {
  *paths = (Paths){.space = space};
  uint32_t *words = calloc(2 * ((size_t)space->num_tensors + 2), sizeof *words);
  Order order = {.space = space, .place = words, .tensors = words ? words + space->num_tensors + 2 : NULL};
  if (words) {
    for (uint32_t i = 0; i < space->num_goals; i++) {
      if (!order.place[goals[i]])
        order_tensor(&order, goals[i]);
      paths->goals[i] = order.place[goals[i]];
    }
    paths->num = order.num;
    paths->tensors = calloc((size_t)order.num + 1, sizeof *paths->tensors);
    paths->steps = calloc((size_t)order.num_steps, sizeof *paths->steps);
  }
  MirageStatus status = paths->tensors && paths->steps ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (uint32_t i = 1; status == MIRAGE_OK && i <= order.num; i++)
    fill_tensor(paths, &order, i);
  free(words);
  MIRAGE_TRY(status);
  mark_later_joins(paths);
  MIRAGE_TRY(find_needs(paths));
  return find_kinds(paths);
}

void mirage__paths_deinit(Paths *paths) {
  free(paths->tensors);
  free(paths->steps);
  free(paths->needs);
  free(paths->kinds);
  *paths = (Paths){0};
}
