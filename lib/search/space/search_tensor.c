// search_tensor.c - the tensors of a space: fingerprints, merging, limits.
//
// A tensor is built once. Its values on the shrunken instance decide whether it is new; a tensor that is met again only
// gains a derivation, and maybe a smaller depth.
#include "search/space/search_tensor.h"
#include "search/block/search_structure.h"
#include <string.h>

enum { MAX_ELEMENTWISE = 20 };

// ---------------------------------------------------------------------------------------- fingerprints

static uint64_t hash_values(const SearchTensor *tensor) {
  uint64_t h = (uint64_t)tensor->stage << 32 | tensor->rank;
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    h = h * 257 + tensor->dims[d];
  size_t size = mirage__search_array_size(&tensor->values);
  for (size_t i = 0; i < size; i++) {
    h = (h ^ tensor->values.data[i].p) * 0xff51afd7ed558ccdull;
    h ^= h >> 29;
  }
  return h;
}

static bool same_residue(const MirageResidue *a, const MirageResidue *b) {
  if (a->bottom || b->bottom)
    return a->bottom == b->bottom;
  return a->p == b->p && a->after_exp == b->after_exp && (a->after_exp || a->q == b->q);
}

static bool same_tensor(const SearchTensor *a, const SearchTensor *b) {
  if (a->hash != b->hash || a->stage != b->stage || a->rank != b->rank || memcmp(a->dims, b->dims, sizeof a->dims) != 0)
    return false;
  size_t size = mirage__search_array_size(&a->values);
  if (size != mirage__search_array_size(&b->values))
    return false;
  for (size_t i = 0; i < size; i++)
    if (!same_residue(&a->values.data[i], &b->values.data[i]))
      return false;
  return true;
}

// 0 or 1 everywhere, whatever the inputs: m - m, exp(m - m). No graph needs it.
static bool is_trivial(const SearchArray *array) {
  size_t size = mirage__search_array_size(array);
  uint64_t first = array->data[0].p;
  if (first > 1)
    return false;
  for (size_t i = 0; i < size; i++)
    if (array->data[i].p != first || array->data[i].bottom)
      return false;
  return true;
}

bool mirage__search_is_goal(const SearchGoal *goal, const SearchTensor *tensor) {
  bool inside = mirage__search_is_inside(tensor->stage);
  if (tensor->rank != goal->rank || tensor->constant || (inside && !goal->walked) ||
      memcmp(tensor->dims, inside ? goal->tile_dims : goal->dims, sizeof tensor->dims) != 0)
    return false;
  if (inside && tensor->stage > SEARCH_INSIDE && !tensor->follows)
    return false; // stored by an earlier loop
  const SearchArray *values = inside ? &goal->tiles : &goal->values;
  size_t size = mirage__search_array_size(values);
  for (size_t i = 0; i < size; i++) {
    const MirageResidue *a = &tensor->values.data[i], *b = &values->data[i];
    if (a->bottom != b->bottom || (!a->bottom && a->p != b->p))
      return false;
  }
  return true;
}

// -------------------------------------------------------------------------------------- adding tensors

void *mirage__search_grow(SearchSpace *space, void *array, uint32_t *capacity, size_t size) {
  uint32_t wanted = *capacity ? *capacity * 2 : 256;
  void *grown = mirage_arena_alloc_array(&space->arena, wanted, size);
  if (grown && array)
    memcpy(grown, array, *capacity * size);
  if (grown)
    *capacity = wanted;
  return grown;
}

static MirageStatus rehash(SearchSpace *space) {
  uint32_t wanted = space->num_buckets ? space->num_buckets * 4 : 1024;
  uint32_t *buckets = mirage_arena_alloc_array(&space->arena, wanted, sizeof *buckets);
  if (!buckets)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 1; i <= space->num_tensors; i++) {
    SearchTensor *tensor = &space->tensors[i];
    tensor->next_hashed = buckets[tensor->hash & (wanted - 1)];
    buckets[tensor->hash & (wanted - 1)] = i;
  }
  space->buckets = buckets;
  space->num_buckets = wanted;
  return MIRAGE_OK;
}

static MirageStatus new_tensor(SearchSpace *space, const SearchTensor *tensor, uint32_t *out_index) {
  if (space->num_tensors + 1 >= space->capacity_tensors) {
    SearchTensor *grown = mirage__search_grow(space, space->tensors, &space->capacity_tensors, sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    space->tensors = grown;
  }
  if (space->num_tensors >= space->num_buckets)
    MIRAGE_TRY(rehash(space));
  space->bytes += 2 * (sizeof *tensor + mirage__search_array_size(&tensor->values) * sizeof *tensor->values.data);
  uint32_t index = ++space->num_tensors, bucket = (uint32_t)tensor->hash & (space->num_buckets - 1);
  space->tensors[index] = *tensor;
  space->tensors[index].next_hashed = space->buckets[bucket];
  space->buckets[bucket] = index;
  *out_index = index;
  return MIRAGE_OK;
}

static MirageStatus add_derivation(SearchSpace *space, uint32_t tensor, const SearchDerivation *how) {
  for (uint32_t d = space->tensors[tensor].derivations; d; d = space->derivations[d].next) {
    const SearchDerivation *known = &space->derivations[d];
    if (known->op == how->op && known->flags == how->flags && known->dim == how->dim && known->a == how->a &&
        known->b == how->b)
      return MIRAGE_OK;
  }
  if (space->num_derivations + 1 >= space->capacity_derivations) {
    SearchDerivation *grown =
        mirage__search_grow(space, space->derivations, &space->capacity_derivations, sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    space->derivations = grown;
  }
  space->bytes += 2 * sizeof *how;
  uint32_t index = ++space->num_derivations;
  space->derivations[index] = *how;
  space->derivations[index].next = space->tensors[tensor].derivations;
  space->tensors[tensor].derivations = index;
  return MIRAGE_OK;
}

// Bytes of the smallest tile that this tensor can be: axes that may be split count one element.
static double smallest_bytes(const SearchSpace *space, const SearchAttempt *attempt) {
  double bytes = attempt->how.op == MIRAGE_OP_LOAD ? 2 : 4;
  for (uint32_t d = 0; d < SEARCH_RANK; d++) {
    const SearchAxis *axis = &space->program->axes[mirage__search_axis_of(attempt->dims[d])];
    bool split = search_axis_is_parallel(axis) ||
                 (mirage__search_axis_of(attempt->dims[d]) == space->loop_axis && !(attempt->dims[d] & SEARCH_WHOLE));
    bytes *= split ? 1 : (double)axis->extent;
  }
  return bytes;
}

static bool is_too_large(const SearchSpace *space, const SearchAttempt *attempt) {
  return !space->options->no_prune_memory &&
         smallest_bytes(space, attempt) > space->options->target->shared_bytes_per_block;
}

// A chain of element-wise operators counts as one, so their number needs a bound of its own: what the program has, and
// one more, because a value may be needed both inside the loop and outside.
uint32_t mirage__search_elementwise_limit(const SearchProgram *program) {
  uint32_t limit = program->num_elementwise + 1;
  return limit < MAX_ELEMENTWISE ? limit : MAX_ELEMENTWISE;
}

static MirageStatus evaluate(SearchSpace *space, const SearchDerivation *how, SearchArray *out) {
  SearchEval *eval = &space->eval;
  const SearchArray *a = &space->tensors[how->a].values, *b = &space->tensors[how->b].values;
  switch (how->op) {
  case MIRAGE_OP_MATMUL:
    return mirage__search_matmul(eval, a, b, how->flags & SEARCH_TRANSPOSE_A, how->flags & SEARCH_TRANSPOSE_B, out);
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
    return mirage__search_reduce(eval, (MirageOp)how->op, a, 1u + how->dim, out);
  case MIRAGE_OP_LOOP:
    return mirage__search_reduce(eval, how->flags ? MIRAGE_OP_REDUCE_MAX : MIRAGE_OP_REDUCE_SUM, a, 0, out);
  case MIRAGE_OP_TRANSPOSE:
    return mirage__search_transpose(eval, a, out);
  default:
    if (mirage_op_info((MirageOp)how->op)->kind == MIRAGE_KIND_UNARY)
      return mirage__search_unary(eval, (MirageOp)how->op, a, out);
    return mirage__search_binary(eval, (MirageOp)how->op, a, b, out);
  }
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Operators that are not element-wise and that any path from this tensor to the goal still takes: an accumulation, or a
// reduction when it has a dimension that the output has not; accumulating a reduction costs no further one, nor does
// summing exponentials.
static uint32_t operators_to_goal(const SearchSpace *space, const SearchAttempt *attempt) {
  bool reduces = false;
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    reduces |= attempt->dims[d] && !space->program->axes[mirage__search_axis_of(attempt->dims[d])].output;
  bool leaves = mirage__search_is_inside(attempt->stage) && !space->program->axes[space->loop_axis].output;
  return attempt->how.op != MIRAGE_OP_EXP && (leaves || reduces);
}

bool mirage__search_counts(const SearchSpace *space, const SearchDerivation *how) {
  if (how->op == MIRAGE_OP_LOOP)
    return !space->tensors[how->a].reduction;
  if (how->op == MIRAGE_OP_REDUCE_SUM)
    return !space->tensors[how->a].exponential;
  return how->op != MIRAGE_OP_CONSTANT && !mirage__search_is_elementwise(how->op);
}

// Whether an operator inside a loop uses, itself or through its operands, what came out of the loop before.
static bool follows(const SearchSpace *space, const SearchAttempt *attempt) {
  const SearchTensor *a = &space->tensors[attempt->how.a], *b = &space->tensors[attempt->how.b];
  bool of_a = a->stage == attempt->stage ? a->follows : a->stage + 1 == attempt->stage;
  if (!mirage__search_is_binary(attempt->how.op))
    return of_a;
  return of_a || (b->stage == attempt->stage ? b->follows : b->stage + 1 == attempt->stage);
}

static bool is_summed(const SearchSpace *space, const SearchDerivation *how) {
  MirageOpKind kind = mirage_op_info((MirageOp)how->op)->kind;
  return kind == MIRAGE_KIND_MATMUL || kind == MIRAGE_KIND_REDUCE || how->op == MIRAGE_OP_LOOP ||
         space->tensors[how->a].summed || (mirage__search_is_binary(how->op) && space->tensors[how->b].summed);
}

// What is summed, has no axis left to sum over, and lies across the results could only be transposed. Where the program
// transposes nothing but operands of products, what is summed lies as results do or is summed again: y' = w x' is y = x w'.
static bool lies_across(const SearchSpace *space, const SearchAttempt *attempt) {
  const SearchProgram *program = space->program;
  if (!program->upright || space->options->no_prune_axis || !is_summed(space, &attempt->how))
    return false;
  bool across = false;
  for (uint32_t d = 0; d < SEARCH_RANK; d++) {
    uint32_t axis = mirage__search_axis_of(attempt->dims[d]);
    if (axis && !search_axis_is_parallel(&program->axes[axis]))
      return false;
    across |= axis && !(program->places[axis] >> (SEARCH_RANK - 1 - d) & 1);
  }
  return across;
}

// Depths of the result; false when no graph within the limits can hold it.
static bool within_limits(SearchSpace *space, const SearchAttempt *attempt, SearchTensor *tensor) {
  const SearchTensor *a = &space->tensors[attempt->how.a], *b = &space->tensors[attempt->how.b];
  bool elementwise = mirage__search_is_elementwise(attempt->how.op);
  tensor->depth = larger(a->depth, b->depth) + 1;
  tensor->counted_depth = larger(a->counted_depth, b->counted_depth) + mirage__search_counts(space, &attempt->how);
  tensor->elementwise_depth = larger(a->elementwise_depth, b->elementwise_depth) + elementwise;
  tensor->inputs = a->inputs | b->inputs;
  tensor->exponential = attempt->how.op == MIRAGE_OP_EXP;
  tensor->reduction = mirage_op_info((MirageOp)attempt->how.op)->kind == MIRAGE_KIND_REDUCE;
  uint32_t num_loads = (uint32_t)__builtin_popcountll(tensor->inputs | space->goal_inputs);
  return space->any_depth ||
         (num_loads + tensor->counted_depth + operators_to_goal(space, attempt) <= space->options->max_block_ops &&
          tensor->elementwise_depth <= mirage__search_elementwise_limit(space->program));
}

// Joins `tensor` with an equal one, or adds it. `values` are already in place.
static MirageStatus merge_or_add(SearchSpace *space, SearchTensor *tensor, const SearchDerivation *how) {
  uint32_t index = 0;
  tensor->hash = hash_values(tensor);
  if (!space->options->no_merge && space->num_buckets) {
    index = space->buckets[tensor->hash & (space->num_buckets - 1)];
    while (index && !same_tensor(&space->tensors[index], tensor))
      index = space->tensors[index].next_hashed;
  }
  if (!index) {
    MIRAGE_TRY(new_tensor(space, tensor, &index));
    return add_derivation(space, index, how);
  }
  space->funnel.cut_merge++;
  SearchTensor *known = &space->tensors[index];
  if (tensor->counted_depth < known->counted_depth || tensor->elementwise_depth < known->elementwise_depth ||
      (tensor->reduction && !known->reduction) || (tensor->exponential && !known->exponential))
    known->processed = false; // its consumers may fit the limits now
  known->reduction |= tensor->reduction;
  known->follows &= tensor->follows;
  known->summed &= tensor->summed;
  known->exponential |= tensor->exponential;
  known->depth = smaller(tensor->depth, known->depth);
  known->counted_depth = smaller(tensor->counted_depth, known->counted_depth);
  known->elementwise_depth = smaller(tensor->elementwise_depth, known->elementwise_depth);
  return add_derivation(space, index, how);
}

// The expression was already found to reach the goal, or that test is off.
MirageStatus mirage__search_try_tensor(SearchSpace *space, const SearchAttempt *attempt) {
  if (is_too_large(space, attempt)) {
    space->funnel.cut_memory++;
    return MIRAGE_OK;
  }
  if (lies_across(space, attempt)) {
    space->funnel.cut_axis++;
    return MIRAGE_OK;
  }
  SearchTensor tensor = {.stage = attempt->stage, .rank = attempt->rank, .expr = attempt->expr};
  memcpy(tensor.dims, attempt->dims, sizeof tensor.dims);
  if (!within_limits(space, attempt, &tensor))
    return MIRAGE_OK;
  if (!tensor.expr.index)
    tensor.expr = mirage__search_expr_of(space, &attempt->how);
  if (!tensor.expr.index) { // too large to hold
    space->funnel.cut_expr++;
    return MIRAGE_OK;
  }
  tensor.follows = follows(space, attempt);
  tensor.summed = is_summed(space, &attempt->how);
  space->watch.ticks++;
  bool full = space->bytes > space->max_bytes;
  if (++space->funnel.states > space->max_states || full) {
    space->stopped = true;
    space->stop = full ? MIRAGE_STOP_MEMORY : MIRAGE_STOP_MAX_STATES;
    return MIRAGE_OK;
  }
  MirageArenaMark mark = mirage_arena_mark(&space->values);
  uint32_t num_tensors = space->num_tensors;
  MirageStatus status = evaluate(space, &attempt->how, &tensor.values);
  if (status == MIRAGE_OK && is_trivial(&tensor.values))
    space->funnel.cut_merge++;
  else if (status == MIRAGE_OK)
    status = merge_or_add(space, &tensor, &attempt->how);
  if (space->num_tensors == num_tensors)
    mirage_arena_rewind(&space->values, mark);
  // No value exists: division by zero, or an operator that the field has no rule for at this place.
  return status == MIRAGE_REDRAW || status == MIRAGE_UNSUPPORTED ? MIRAGE_OK : status;
}

MirageStatus mirage__search_restore_tensor(SearchSpace *space, const SearchTensor *tensor,
                                           const SearchDerivation *how) {
  SearchTensor again = *tensor;
  uint32_t index;
  MIRAGE_TRY(evaluate(space, how, &again.values));
  again.hash = hash_values(&again);
  return new_tensor(space, &again, &index);
}

// Whether the result's expression can become part of a goal.
bool mirage__search_keeps_reach(SearchSpace *space, MirageExpr expr) {
  if (!expr.index)
    return false;
  if (space->options->no_prune_expr)
    return true;
  for (uint32_t i = 0; i < space->num_goals; i++)
    if (mirage_expr_reaches(space->exprs, expr, space->goals[i].expr))
      return true;
  return false;
}

MirageStatus mirage__search_try_unless_cut(SearchSpace *space, const SearchAttempt *attempt) {
  if (mirage__search_keeps_reach(space, attempt->expr))
    return mirage__search_try_tensor(space, attempt);
  space->funnel.cut_expr++;
  return MIRAGE_OK;
}

MirageStatus mirage__search_add_leaf(SearchSpace *space, SearchTensor *tensor, const SearchDerivation *how) {
  SearchAttempt attempt = {.how = *how};
  memcpy(attempt.dims, tensor->dims, sizeof attempt.dims);
  if (is_too_large(space, &attempt)) {
    space->funnel.cut_memory++;
    return MIRAGE_OK;
  }
  space->funnel.states++;
  return merge_or_add(space, tensor, how);
}
