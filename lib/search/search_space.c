// search_space.c - derives every tensor that can lie on a path from the program's inputs to its output.
//
// Not prefixes but tensors are enumerated: a tensor is met once, however many block graphs hold it, and remembers every
// way to derive it. The block graphs themselves are read off these derivations afterwards (search_extract.c). Both the
// tensors and their derivations are exhausted, so nothing is lost against an enumeration of prefixes; what is gained is
// that independent halves of a graph (the two products of a gated MLP) add up instead of multiplying.
//
// A tensor is  stage (before, inside or after the loop)  x  axes of its dimensions  x  values on a shrunken instance.
// The axes of the output that nothing reduces ("parallel") are not part of this: blocks may split them in any way
// afterwards, since every element along them is computed on its own. So one search serves all grids, and only the
// loop's axis must be chosen first. The shrunken instance has 2 or 3 elements along each axis, 2 x 2 along the loop's.
//
// Order of the tests for a new tensor, cheapest first:  axes unify -> abstract expression reaches the goal -> fits the
// target -> fingerprint not met before.
//
// Source: [Mirage 4]; what differs from it: lib/search/README.md
#include "search_internal.h"
#include <string.h>

enum { DIMS = 1 + SEARCH_RANK, ROWS = SEARCH_RANK - 2, COLUMNS = SEARCH_RANK - 1, MIN_SPLIT = 8, MAX_ELEMENTWISE = 20, MAX_BYTES = 1 << 30 };

/// A tensor about to be added.
typedef struct Attempt {
  SearchDerivation how;
  uint8_t stage, rank;
  uint8_t dims[SEARCH_RANK];
  MirageExpr expr;
} Attempt;

// --------------------------------------------------------------------------------------------------------- shrunken axes

static uint32_t axis_of(uint8_t dim) { return dim & (SEARCH_WHOLE - 1u); }

static int32_t shrunken_extent(const SearchSpace *space, uint8_t dim) {
  int32_t extent = space->extents[axis_of(dim)];
  return dim & SEARCH_WHOLE ? extent * SEARCH_LOOPS : extent;
}

static void shrink(SearchSpace *space) {
  space->extents[0] = 1;
  for (uint32_t i = 1; i < space->program->num_axes; i++)
    space->extents[i] = i == space->loop_axis ? 2 : 2 + (int32_t)(i & 1);
}

// Whole axes: the loop's axis counts in full.
static uint8_t whole_dim(const SearchSpace *space, uint8_t axis) {
  return axis && axis == space->loop_axis ? axis | SEARCH_WHOLE : axis;
}

static void program_shape(const SearchSpace *space, MirageValue value, SearchArray *out) {
  uint32_t rank = mirage_ugraph_type(space->program->graph, value)->rank;
  for (uint32_t d = 0; d < DIMS; d++)
    out->shape[d] = 1;
  for (uint32_t d = 0; d < rank; d++)
    out->shape[DIMS - rank + d] = shrunken_extent(space, whole_dim(space, space->program->dims[value.index][d]));
}

// ------------------------------------------------------------------------------------------- the program on the instance

// Sum over an axis: over each of its parts.
static MirageExpr sum_over(SearchSpace *space, MirageExpr e, uint8_t dim) {
  uint32_t axis = axis_of(dim);
  e = mirage_expr_sum(space->exprs, e, mirage_axis_part(axis, MIRAGE_PART_TILE));
  return dim & SEARCH_WHOLE ? mirage_expr_sum(space->exprs, e, mirage_axis_part(axis, MIRAGE_PART_LOOP)) : e;
}

static uint8_t program_dim(const SearchSpace *space, MirageValue value, uint32_t dim) {
  return whole_dim(space, space->program->dims[value.index][dim]);
}

static bool swaps_last(const MirageUGraph *graph, const MirageNodeView *node) {
  uint32_t rank = mirage_ugraph_type(graph, node->first_result)->rank;
  return rank >= 2 && node->attrs->perm.perm[rank - 1] != (int32_t)rank - 1;
}

typedef struct ProgramValue {
  MirageExpr expr;
  SearchArray array;
} ProgramValue;

static MirageStatus evaluate_node(SearchSpace *space, const MirageNodeView *node, ProgramValue *values) {
  const MirageUGraph *graph = space->program->graph;
  MirageExprTable *exprs = space->exprs;
  SearchEval *eval = &space->eval;
  ProgramValue *out = &values[node->first_result.index];
  const ProgramValue *a = node->num_operands > 0 ? &values[node->operands[0].index] : NULL;
  const ProgramValue *b = node->num_operands > 1 ? &values[node->operands[1].index] : NULL;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
    out->expr = mirage_expr_apply(exprs, node->op, a->expr, a->expr);
    return mirage__search_unary(eval, node->op, &a->array, &out->array);
  case MIRAGE_KIND_BINARY:
    out->expr = mirage_expr_apply(exprs, node->op, a->expr, b->expr);
    return mirage__search_binary(eval, node->op, &a->array, &b->array, &out->array);
  case MIRAGE_KIND_CAST:
    *out = *a;
    return MIRAGE_OK;
  case MIRAGE_KIND_CONSTANT:
    out->expr = mirage_expr_constant(exprs, node->attrs->constant.value);
    return mirage__search_constant(eval, node->attrs->constant.value, &out->array);
  case MIRAGE_KIND_REDUCE: {
    uint32_t dim = (uint32_t)node->attrs->reduce.dim, rank = mirage_ugraph_type(graph, node->operands[0])->rank;
    uint8_t code = program_dim(space, node->operands[0], dim);
    out->expr = node->op == MIRAGE_OP_REDUCE_MAX ? mirage_expr_max(exprs, a->expr)
                : code                           ? sum_over(space, a->expr, code)
                                                 : a->expr;
    return mirage__search_reduce(eval, node->op, &a->array, DIMS - rank + dim, &out->array);
  }
  case MIRAGE_KIND_MATMUL: {
    bool ta = node->attrs && node->attrs->matmul.transpose_a, tb = node->attrs && node->attrs->matmul.transpose_b;
    uint32_t rank = mirage_ugraph_type(graph, node->operands[0])->rank;
    uint8_t code = program_dim(space, node->operands[0], rank - (ta ? 2 : 1));
    out->expr = mirage_expr_mul(exprs, a->expr, b->expr);
    if (code)
      out->expr = sum_over(space, out->expr, code);
    return mirage__search_matmul(eval, &a->array, &b->array, ta, tb, &out->array);
  }
  case MIRAGE_KIND_SHAPE: // transpose or broadcast: search_program.c lets no other through
    out->expr = a->expr;
    if (node->op == MIRAGE_OP_TRANSPOSE && swaps_last(graph, node))
      return mirage__search_transpose(eval, &a->array, &out->array);
    program_shape(space, node->first_result, &out->array);
    return mirage__search_broadcast(eval, &a->array, &out->array);
  default:
    return MIRAGE_OK; // return
  }
}

static MirageStatus evaluate_program(SearchSpace *space, const MirageField *field) {
  const MirageUGraph *graph = space->program->graph;
  ProgramValue *values =
      mirage_arena_alloc_array(&space->arena, (size_t)mirage_ugraph_num_values(graph) + 1, sizeof *values);
  if (!values)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    ProgramValue *value = &values[input.index];
    value->expr = mirage_expr_input(space->exprs, i);
    program_shape(space, input, &value->array);
    size_t size = mirage__search_array_size(&value->array);
    value->array.data = mirage_arena_alloc_array(&space->arena, size, sizeof *value->array.data);
    if (!value->array.data)
      return MIRAGE_NO_MEMORY;
    mirage_field_draw(field, i, size, value->array.data);
  }
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    MIRAGE_TRY(evaluate_node(space, &node, values));
  }
  MirageValue output = mirage_ugraph_get_output(graph, 0);
  space->goal_expr = values[output.index].expr;
  space->goal_values = values[output.index].array;
  space->goal_rank = (uint8_t)mirage_ugraph_type(graph, output)->rank;
  for (uint32_t d = 0; d < space->goal_rank; d++)
    space->goal_dims[SEARCH_RANK - space->goal_rank + d] = program_dim(space, output, d);
  space->goal_inputs = mirage_expr_inputs(space->exprs, space->goal_expr);
  return mirage_expr_status(space->exprs);
}

// --------------------------------------------------------------------------------------------------------- fingerprints

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

bool mirage__search_is_goal(const SearchSpace *space, const SearchTensor *tensor) {
  if (tensor->stage != (space->loop_axis ? SEARCH_AFTER : SEARCH_BEFORE) || tensor->rank != space->goal_rank ||
      tensor->constant || memcmp(tensor->dims, space->goal_dims, sizeof tensor->dims) != 0)
    return false;
  size_t size = mirage__search_array_size(&space->goal_values);
  for (size_t i = 0; i < size; i++) {
    const MirageResidue *a = &tensor->values.data[i], *b = &space->goal_values.data[i];
    if (a->bottom != b->bottom || (!a->bottom && a->p != b->p))
      return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------- adding tensors

static void *grow(SearchSpace *space, void *array, uint32_t *capacity, size_t size) {
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
    SearchTensor *grown = grow(space, space->tensors, &space->capacity_tensors, sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    space->tensors = grown;
  }
  if (space->num_tensors >= space->num_buckets)
    MIRAGE_TRY(rehash(space));
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
    SearchDerivation *grown = grow(space, space->derivations, &space->capacity_derivations, sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    space->derivations = grown;
  }
  uint32_t index = ++space->num_derivations;
  space->derivations[index] = *how;
  space->derivations[index].next = space->tensors[tensor].derivations;
  space->tensors[tensor].derivations = index;
  return MIRAGE_OK;
}

static bool is_elementwise(uint8_t op) {
  MirageOpKind kind = mirage_op_info((MirageOp)op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY;
}

// Bytes of the smallest tile that this tensor can be: axes that may be split count one small piece.
static double smallest_bytes(const SearchSpace *space, const Attempt *attempt) {
  double bytes = attempt->how.op == MIRAGE_OP_LOAD ? 2 : 4;
  for (uint32_t d = 0; d < SEARCH_RANK; d++) {
    const SearchAxis *axis = &space->program->axes[axis_of(attempt->dims[d])];
    bool split = search_axis_is_parallel(axis) ||
                 (axis_of(attempt->dims[d]) == space->loop_axis && !(attempt->dims[d] & SEARCH_WHOLE));
    bytes *= split && axis->extent > MIN_SPLIT ? MIN_SPLIT : (double)axis->extent;
  }
  return bytes;
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

// Operators that are not element-wise and that any path from this tensor to the goal still takes: the accumulation, and
// a reduction when it has a dimension that the output has not.
static uint32_t operators_to_goal(const SearchSpace *space, const Attempt *attempt) {
  bool reduces = false;
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    reduces |= attempt->dims[d] && !space->program->axes[axis_of(attempt->dims[d])].output;
  return (attempt->stage == SEARCH_INSIDE) + reduces;
}

// Depths of the result; false when no graph within the limits can hold it.
static bool within_limits(SearchSpace *space, const Attempt *attempt, SearchTensor *tensor) {
  const SearchTensor *a = &space->tensors[attempt->how.a], *b = &space->tensors[attempt->how.b];
  bool elementwise = is_elementwise(attempt->how.op);
  tensor->depth = larger(a->depth, b->depth) + 1;
  tensor->counted_depth = larger(a->counted_depth, b->counted_depth) + !elementwise;
  tensor->elementwise_depth = larger(a->elementwise_depth, b->elementwise_depth) + elementwise;
  tensor->inputs = a->inputs | b->inputs;
  uint32_t num_loads = (uint32_t)__builtin_popcountll(tensor->inputs | space->goal_inputs);
  return num_loads + tensor->counted_depth + operators_to_goal(space, attempt) <= space->options->max_block_ops &&
         tensor->elementwise_depth <= mirage__search_elementwise_limit(space->program);
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
  if (tensor->counted_depth < known->counted_depth || tensor->elementwise_depth < known->elementwise_depth)
    known->processed = false; // its consumers may fit the limits now
  known->depth = smaller(tensor->depth, known->depth);
  known->counted_depth = smaller(tensor->counted_depth, known->counted_depth);
  known->elementwise_depth = smaller(tensor->elementwise_depth, known->elementwise_depth);
  return add_derivation(space, index, how);
}

// The expression was already found to reach the goal, or that test is off.
static MirageStatus try_tensor(SearchSpace *space, const Attempt *attempt) {
  if (smallest_bytes(space, attempt) > space->options->target->shared_bytes_per_block) {
    space->funnel.cut_memory++;
    return MIRAGE_OK;
  }
  SearchTensor tensor = {.stage = attempt->stage, .rank = attempt->rank, .expr = attempt->expr};
  memcpy(tensor.dims, attempt->dims, sizeof tensor.dims);
  if (!within_limits(space, attempt, &tensor))
    return MIRAGE_OK;
  if (++space->funnel.states > space->max_states ||
      space->values.total_bytes + space->arena.total_bytes > space->max_bytes) {
    space->stopped = true;
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

// Whether the result's expression can become part of the goal.
static bool keeps_reach(SearchSpace *space, MirageExpr expr) {
  if (!expr.index)
    return false;
  return space->options->no_prune_expr || mirage_expr_reaches(space->exprs, expr, space->goal_expr);
}

static MirageStatus try_unless_cut(SearchSpace *space, const Attempt *attempt) {
  if (keeps_reach(space, attempt->expr))
    return try_tensor(space, attempt);
  space->funnel.cut_expr++;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- operators

static Attempt attempt_like(const SearchTensor *a, uint32_t index, MirageOp op) {
  Attempt attempt = {.how = {.op = (uint8_t)op, .a = index}, .stage = a->stage, .rank = a->rank, .expr = a->expr};
  memcpy(attempt.dims, a->dims, sizeof attempt.dims);
  return attempt;
}

static MirageStatus try_unary(SearchSpace *space, uint32_t index) {
  for (uint32_t op = 1; op < MIRAGE_NUM_OPS; op++) {
    if (!space->program->uses[op] || mirage_op_info((MirageOp)op)->kind != MIRAGE_KIND_UNARY)
      continue;
    Attempt attempt = attempt_like(&space->tensors[index], index, (MirageOp)op);
    attempt.expr = mirage_expr_apply(space->exprs, (MirageOp)op, attempt.expr, attempt.expr);
    MIRAGE_TRY(try_unless_cut(space, &attempt));
  }
  return MIRAGE_OK;
}

static MirageStatus try_reduce(SearchSpace *space, uint32_t index, MirageOp op) {
  for (uint32_t d = 0; d < SEARCH_RANK; d++) {
    Attempt attempt = attempt_like(&space->tensors[index], index, op);
    uint8_t dim = attempt.dims[d];
    if (!dim)
      continue;
    if (search_axis_is_parallel(&space->program->axes[axis_of(dim)])) {
      space->funnel.cut_axis++; // would need the tiles of other blocks
      continue;
    }
    attempt.how.dim = (uint8_t)d;
    attempt.dims[d] = 0;
    attempt.expr = op == MIRAGE_OP_REDUCE_MAX ? mirage_expr_max(space->exprs, attempt.expr)
                                              : sum_over(space, attempt.expr, dim);
    MIRAGE_TRY(try_unless_cut(space, &attempt));
  }
  return MIRAGE_OK;
}

static MirageStatus try_accumulate(SearchSpace *space, uint32_t index, bool maximum) {
  Attempt attempt = attempt_like(&space->tensors[index], index, MIRAGE_OP_LOOP);
  attempt.how.flags = maximum;
  attempt.stage = SEARCH_AFTER;
  attempt.expr = maximum ? mirage_expr_max(space->exprs, attempt.expr)
                         : mirage_expr_sum(space->exprs, attempt.expr, mirage_axis_part(space->loop_axis, MIRAGE_PART_LOOP));
  return try_unless_cut(space, &attempt);
}

static MirageStatus try_transpose(SearchSpace *space, uint32_t index) {
  Attempt attempt = attempt_like(&space->tensors[index], index, MIRAGE_OP_TRANSPOSE);
  if (attempt.rank < 2)
    return MIRAGE_OK;
  uint8_t row = attempt.dims[ROWS];
  attempt.dims[ROWS] = attempt.dims[COLUMNS];
  attempt.dims[COLUMNS] = row;
  return try_unless_cut(space, &attempt);
}

// The stage of an operator on two tensors; false when one lives inside the loop and the other after it.
static bool joint_stage(const SearchTensor *a, const SearchTensor *b, uint8_t *out_stage) {
  if ((a->stage == SEARCH_INSIDE && b->stage == SEARCH_AFTER) || (a->stage == SEARCH_AFTER && b->stage == SEARCH_INSIDE))
    return false;
  *out_stage = a->stage > b->stage ? a->stage : b->stage;
  return true;
}

// Dimensions unify when they hold the same part of the same axis, or one of them has extent 1.
static bool unify_dim(const SearchSpace *space, uint8_t a, uint8_t b, uint8_t *out) {
  *out = a ? a : b;
  if (!a || !b || a == b)
    return true;
  const SearchAxis *axes = space->program->axes;
  return space->options->no_prune_axis && axes[axis_of(a)].extent == axes[axis_of(b)].extent &&
         shrunken_extent(space, a) == shrunken_extent(space, b);
}

static bool is_constant(const SearchSpace *space, uint32_t tensor, double value) {
  uint32_t how = space->tensors[tensor].derivations;
  return space->tensors[tensor].constant && space->program->constants[space->derivations[how].a] == value;
}

// x * 1, x / 1, x + 0, x - 0 give x again; x / -1 is x * -1; x * 0 and 0 / x are 0.
static bool is_idle(const SearchSpace *space, MirageOp op, uint32_t a, uint32_t b) {
  switch (op) {
  case MIRAGE_OP_MUL:
    return is_constant(space, a, 1) || is_constant(space, b, 1) || is_constant(space, a, 0) || is_constant(space, b, 0);
  case MIRAGE_OP_DIV:
    return is_constant(space, b, 1) || is_constant(space, b, -1) || is_constant(space, a, 0) || is_constant(space, b, 0);
  case MIRAGE_OP_ADD:
    return is_constant(space, a, 0) || is_constant(space, b, 0);
  case MIRAGE_OP_SUB:
    return is_constant(space, b, 0);
  default:
    return false;
  }
}

static MirageStatus try_binary(SearchSpace *space, MirageOp op, uint32_t a, uint32_t b, MirageExpr expr) {
  const SearchTensor *x = &space->tensors[a], *y = &space->tensors[b];
  if (is_idle(space, op, a, b)) {
    space->funnel.cut_order++;
    return MIRAGE_OK;
  }
  Attempt attempt = {.how = {.op = (uint8_t)op, .a = a, .b = b}, .rank = x->rank > y->rank ? x->rank : y->rank, .expr = expr};
  bool fits = joint_stage(x, y, &attempt.stage);
  for (uint32_t d = 0; fits && d < SEARCH_RANK; d++)
    fits = unify_dim(space, x->dims[d], y->dims[d], &attempt.dims[d]);
  if (!fits) {
    space->funnel.cut_axis++;
    return MIRAGE_OK;
  }
  return try_tensor(space, &attempt);
}

static MirageStatus try_matmul(SearchSpace *space, uint32_t a, uint32_t b, uint8_t flags, MirageExpr product) {
  const SearchTensor *x = &space->tensors[a], *y = &space->tensors[b];
  if (x->rank < 2 || y->rank < 2)
    return MIRAGE_OK;
  bool ta = flags & SEARCH_TRANSPOSE_A, tb = flags & SEARCH_TRANSPOSE_B;
  Attempt attempt = {.how = {.op = MIRAGE_OP_MATMUL, .flags = flags, .a = a, .b = b},
                     .rank = x->rank > y->rank ? x->rank : y->rank};
  uint8_t left = x->dims[ta ? ROWS : COLUMNS], right = y->dims[tb ? COLUMNS : ROWS], inner;
  bool fits = left && right && joint_stage(x, y, &attempt.stage) && unify_dim(space, left, right, &inner) &&
              !search_axis_is_parallel(&space->program->axes[axis_of(inner)]);
  for (uint32_t d = 0; fits && d < ROWS; d++)
    fits = unify_dim(space, x->dims[d], y->dims[d], &attempt.dims[d]);
  if (!fits) {
    space->funnel.cut_axis++;
    return MIRAGE_OK;
  }
  attempt.dims[ROWS] = x->dims[ta ? COLUMNS : ROWS];
  attempt.dims[COLUMNS] = y->dims[tb ? ROWS : COLUMNS];
  attempt.expr = sum_over(space, product, inner);
  return try_unless_cut(space, &attempt);
}

static MirageStatus try_products(SearchSpace *space, uint32_t a, uint32_t b, MirageExpr product) {
  MIRAGE_TRY(try_binary(space, MIRAGE_OP_MUL, a, b, product));
  if (a != b)
    space->funnel.cut_order++; // mul(b, a)
  if (space->tensors[a].constant || space->tensors[b].constant)
    return MIRAGE_OK;
  uint8_t forms = space->program->transposes ? 4 : 1; // bit sets of SEARCH_TRANSPOSE_*
  for (uint8_t flags = 0; flags < forms; flags++) {
    MIRAGE_TRY(try_matmul(space, a, b, flags, product));
    if (a != b)
      MIRAGE_TRY(try_matmul(space, b, a, flags, product));
  }
  return MIRAGE_OK;
}

// All binary operators on (index, each processed tensor of one group). The expression decides for the whole group.
static MirageStatus try_group(SearchSpace *space, uint32_t index, uint32_t group) {
  static const MirageOp ops[] = {MIRAGE_OP_MUL, MIRAGE_OP_ADD, MIRAGE_OP_MAX, MIRAGE_OP_DIV, MIRAGE_OP_SUB};
  for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    MirageOp op = ops[i];
    bool ordered = op == MIRAGE_OP_DIV || op == MIRAGE_OP_SUB;
    if ((op == MIRAGE_OP_MAX || op == MIRAGE_OP_SUB) && !space->program->uses[op])
      continue;
    for (uint32_t swap = 0; swap <= ordered; swap++) {
      MirageExpr mine = space->tensors[index].expr, theirs = space->group_exprs[group];
      MirageExpr expr = mirage_expr_apply(space->exprs, op, swap ? theirs : mine, swap ? mine : theirs);
      bool reached = keeps_reach(space, expr);
      if (!reached) {
        space->funnel.cut_expr += space->group_sizes[group];
        continue;
      }
      for (uint32_t other = space->groups[group]; other && !space->stopped; other = space->tensors[other].next_grouped) {
        if (space->tensors[index].constant && space->tensors[other].constant)
          continue;
        if (op == MIRAGE_OP_MUL)
          MIRAGE_TRY(try_products(space, index > other ? other : index, index > other ? index : other, expr));
        else if (ordered)
          MIRAGE_TRY(try_binary(space, op, swap ? other : index, swap ? index : other, expr));
        else
          MIRAGE_TRY(try_binary(space, op, index > other ? other : index, index > other ? index : other, expr));
        space->funnel.cut_order += op != MIRAGE_OP_MUL && !ordered && index != other;
      }
    }
  }
  return MIRAGE_OK;
}

static MirageStatus add_to_group(SearchSpace *space, uint32_t index) {
  SearchTensor *tensor = &space->tensors[index];
  tensor->grouped = true;
  uint32_t group = 0;
  while (group < space->num_groups && space->group_exprs[group].index != tensor->expr.index)
    group++;
  if (group == space->num_groups) {
    if (group == space->capacity_groups) {
      uint32_t capacity = space->capacity_groups, again = capacity;
      space->groups = grow(space, space->groups, &capacity, sizeof *space->groups);
      space->group_sizes = grow(space, space->group_sizes, &again, sizeof *space->group_sizes);
      space->group_exprs = grow(space, space->group_exprs, &space->capacity_groups, sizeof *space->group_exprs);
      if (!space->groups || !space->group_sizes || !space->group_exprs)
        return MIRAGE_NO_MEMORY;
    }
    space->groups[group] = space->group_sizes[group] = 0;
    space->group_exprs[group] = tensor->expr;
    space->num_groups++;
  }
  tensor->next_grouped = space->groups[group];
  space->groups[group] = index;
  space->group_sizes[group]++;
  return MIRAGE_OK;
}

static MirageStatus process(SearchSpace *space, uint32_t index) {
  space->tensors[index].processed = true;
  if (!space->tensors[index].grouped)
    MIRAGE_TRY(add_to_group(space, index));
  if (!space->tensors[index].constant) {
    MIRAGE_TRY(try_unary(space, index));
    MIRAGE_TRY(try_reduce(space, index, MIRAGE_OP_REDUCE_SUM));
    if (space->program->uses[MIRAGE_OP_REDUCE_MAX])
      MIRAGE_TRY(try_reduce(space, index, MIRAGE_OP_REDUCE_MAX));
    if (space->program->transposes)
      MIRAGE_TRY(try_transpose(space, index));
    if (space->tensors[index].stage == SEARCH_INSIDE)
      for (uint32_t maximum = 0; maximum <= space->program->uses[MIRAGE_OP_REDUCE_MAX]; maximum++)
        MIRAGE_TRY(try_accumulate(space, index, maximum));
  }
  for (uint32_t group = 0; group < space->num_groups && !space->stopped; group++)
    MIRAGE_TRY(try_group(space, index, group));
  return mirage_expr_status(space->exprs);
}

// ---------------------------------------------------------------------------------------------------------------- leaves

static MirageStatus add_leaf(SearchSpace *space, SearchTensor *tensor, const SearchDerivation *how) {
  Attempt attempt = {.how = *how};
  memcpy(attempt.dims, tensor->dims, sizeof attempt.dims);
  if (smallest_bytes(space, &attempt) > space->options->target->shared_bytes_per_block) {
    space->funnel.cut_memory++;
    return MIRAGE_OK;
  }
  space->funnel.states++;
  return merge_or_add(space, tensor, how);
}

// An input is loaded whole before the loop, or in tiles inside it when one of its dimensions walks the loop's axis.
static MirageStatus add_loads(SearchSpace *space, const MirageField *field) {
  const MirageUGraph *graph = space->program->graph;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    SearchTensor tensor = {.rank = (uint8_t)mirage_ugraph_type(graph, input)->rank, .inputs = (uint64_t)1 << i};
    tensor.expr = mirage_expr_input(space->exprs, i);
    if (!keeps_reach(space, tensor.expr))
      continue; // an input that the program does not use
    SearchArray drawn;
    program_shape(space, input, &drawn);
    size_t size = mirage__search_array_size(&drawn);
    drawn.data = mirage_arena_alloc_array(&space->arena, size, sizeof *drawn.data);
    if (!drawn.data)
      return MIRAGE_NO_MEMORY;
    mirage_field_draw(field, i, size, drawn.data);
    uint32_t split = 0;
    for (uint32_t d = 0; d < tensor.rank; d++) {
      uint32_t at = SEARCH_RANK - tensor.rank + d;
      tensor.dims[at] = program_dim(space, input, d);
      if (tensor.dims[at] & SEARCH_WHOLE)
        split = at + 1;
    }
    tensor.values = drawn;
    SearchDerivation how = {.op = MIRAGE_OP_LOAD, .a = i};
    MIRAGE_TRY(add_leaf(space, &tensor, &how));
    if (!split)
      continue;
    tensor.stage = SEARCH_INSIDE;
    tensor.dims[split - 1] &= (uint8_t)~SEARCH_WHOLE;
    MIRAGE_TRY(mirage__search_split(&space->eval, &drawn, split, &tensor.values));
    MIRAGE_TRY(add_leaf(space, &tensor, &how));
  }
  return MIRAGE_OK;
}

static MirageStatus add_constants(SearchSpace *space) {
  for (uint32_t i = 0; i < space->program->num_constants; i++) {
    SearchTensor tensor = {.constant = true};
    tensor.expr = mirage_expr_constant(space->exprs, space->program->constants[i]);
    MIRAGE_TRY(mirage__search_constant(&space->eval, space->program->constants[i], &tensor.values));
    MIRAGE_TRY(add_leaf(space, &tensor, &(SearchDerivation){.op = MIRAGE_OP_CONSTANT, .a = i}));
  }
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------------------- public

MirageStatus mirage__search_space_init(SearchSpace *space, const SearchProgram *program,
                                       const MirageSearchOptions *options, uint32_t loop_axis, uint32_t share,
                                       const MirageDomain *domain, const MirageField *field) {
  *space = (SearchSpace){.program = program, .options = options, .loop_axis = loop_axis};
  space->max_states = options->max_states / share;
  space->max_bytes = MAX_BYTES / share;
  mirage_arena_init(&space->arena, NULL);
  mirage_arena_init(&space->eval.scratch, NULL);
  mirage_arena_init(&space->values, NULL);
  space->eval.arena = &space->values;
  space->eval.domain = domain;
  space->exprs = mirage_expr_table_create(NULL);
  space->tensors = grow(space, NULL, &space->capacity_tensors, sizeof *space->tensors);
  space->derivations = grow(space, NULL, &space->capacity_derivations, sizeof *space->derivations);
  if (!space->exprs || !space->tensors || !space->derivations)
    return MIRAGE_NO_MEMORY;
  shrink(space);
  MIRAGE_TRY(evaluate_program(space, field));
  if (!space->goal_expr.index)
    return MIRAGE_LIMIT;
  MIRAGE_TRY(add_loads(space, field));
  return add_constants(space);
}

void mirage__search_space_deinit(SearchSpace *space) {
  mirage_expr_table_destroy(space->exprs);
  mirage_arena_deinit(&space->eval.scratch);
  mirage_arena_deinit(&space->values);
  mirage_arena_deinit(&space->arena);
}

// Shallow tensors first, so that a tensor's depth is known before anything is built on it.
MirageStatus mirage__search_saturate(SearchSpace *space) {
  uint32_t limit = space->options->max_block_ops + mirage__search_elementwise_limit(space->program);
  for (uint32_t depth = 0; depth <= limit && !space->stopped; depth++)
    for (bool again = true; again && !space->stopped;) {
      again = false;
      for (uint32_t i = 1; i <= space->num_tensors && !space->stopped; i++) {
        if (space->tensors[i].processed || space->tensors[i].depth > depth)
          continue;
        again = true;
        MIRAGE_TRY(process(space, i));
      }
    }
  return MIRAGE_OK;
}
