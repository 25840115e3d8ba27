// search_space.c - derives every tensor that can lie on a path from the program's inputs to its results.
//
// Not prefixes but tensors are enumerated: a tensor is met once, however many block graphs hold it, and remembers every
// way to derive it. The block graphs themselves are read off these derivations afterwards (search_extract.c). Both the
// tensors and their derivations are exhausted, so nothing is lost against an enumeration of prefixes; what is gained is
// that independent halves of a graph (the two products of a gated MLP) add up instead of multiplying.
//
// A tensor is  stage (before, inside or after a loop)  x  axes of its dimensions  x  values on a shrunken instance.
// The axes of the output that nothing reduces ("parallel") are not part of this: blocks may split them in any way
// afterwards, since every element along them is computed on its own. So one search serves all grids, and only the
// loop's axis must be chosen first. The shrunken instance has 2 or 3 elements along each axis, 2 x 2 along the loop's.
//
// Order of the tests for a new tensor, cheapest first:  axes unify -> abstract expression reaches the goal -> fits the
// target -> fingerprint not met before.
//
// Source: [Mirage 4]; what differs from it: README.md
#define _DEFAULT_SOURCE // _SC_PHYS_PAGES
#include "search/block/search_structure.h"
#include "search/space/search_tensor.h"
#include <string.h>
#include <unistd.h>

enum { ROWS = SEARCH_RANK - 2, COLUMNS = SEARCH_RANK - 1, MAX_BYTES = 1 << 30 };
enum { PAIR_SHARE = 200 }; // monomials that questions about a formula look through, for each state of max_states

static const double snapshot_interval = 1; // seconds

// ------------------------------------------------------------------------------------------- operators

static SearchAttempt attempt_like(const SearchTensor *a, uint32_t index, MirageOp op) {
  SearchAttempt attempt = {.how = {.op = (uint8_t)op, .a = index}, .stage = a->stage, .rank = a->rank, .expr = a->expr};
  memcpy(attempt.dims, a->dims, sizeof attempt.dims);
  return attempt;
}

static MirageStatus try_unary(SearchSpace *space, uint32_t index, MirageOp op) {
  SearchAttempt attempt = attempt_like(&space->tensors[index], index, op);
  attempt.expr = mirage_expr_apply(space->exprs, op, attempt.expr, attempt.expr);
  return mirage__search_try_unless_cut(space, &attempt);
}

static MirageStatus try_every_unary(SearchSpace *space, uint32_t index) {
  for (uint32_t op = 1; op < MIRAGE_NUM_OPS; op++)
    if (space->program->uses[op] && mirage_op_info((MirageOp)op)->kind == MIRAGE_KIND_UNARY)
      MIRAGE_TRY(try_unary(space, index, (MirageOp)op));
  return MIRAGE_OK;
}

static MirageStatus try_reduce(SearchSpace *space, uint32_t index, MirageOp op, uint32_t d) {
  SearchAttempt attempt = attempt_like(&space->tensors[index], index, op);
  uint8_t dim = attempt.dims[d];
  if (!dim)
    return MIRAGE_OK;
  if (search_axis_is_parallel(&space->program->axes[mirage__search_axis_of(dim)])) {
    space->funnel.cut_axis++; // would need the tiles of other blocks
    return MIRAGE_OK;
  }
  attempt.how.dim = (uint8_t)d;
  attempt.dims[d] = 0;
  attempt.expr = op == MIRAGE_OP_REDUCE_MAX ? mirage_expr_max(space->exprs, attempt.expr)
                                            : mirage__search_sum_over(space, attempt.expr, dim);
  return mirage__search_try_unless_cut(space, &attempt);
}

static MirageStatus try_every_reduce(SearchSpace *space, uint32_t index, MirageOp op) {
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    MIRAGE_TRY(try_reduce(space, index, op, d));
  return MIRAGE_OK;
}

// What a later loop would sum without need of an earlier one, the earlier one sums.
static bool may_accumulate(const SearchTensor *tensor) {
  return mirage__search_is_inside(tensor->stage) && (tensor->stage == SEARCH_INSIDE || tensor->follows);
}

static MirageStatus try_accumulate(SearchSpace *space, uint32_t index, bool maximum) {
  SearchAttempt attempt = attempt_like(&space->tensors[index], index, MIRAGE_OP_LOOP);
  attempt.how.flags = maximum;
  attempt.stage++;
  attempt.expr =
      maximum ? mirage_expr_max(space->exprs, attempt.expr)
              : mirage_expr_sum(space->exprs, attempt.expr, mirage_axis_part(space->loop_axis, MIRAGE_PART_LOOP));
  return mirage__search_try_unless_cut(space, &attempt);
}

// Products take what they need transposed. Where the program transposes nothing else, only sums of rows stand up beside what
// has them as columns: the norms of keys, which scale scores.
static bool may_transpose(const SearchSpace *space, const SearchTensor *tensor) {
  if (!space->program->transposes || space->program->swaps_tiles || space->options->no_prune_axis)
    return space->program->transposes;
  return tensor->summed && (!tensor->dims[ROWS] || !tensor->dims[COLUMNS]);
}

static MirageStatus try_transpose(SearchSpace *space, uint32_t index) {
  SearchAttempt attempt = attempt_like(&space->tensors[index], index, MIRAGE_OP_TRANSPOSE);
  if (attempt.rank < 2)
    return MIRAGE_OK;
  uint8_t row = attempt.dims[ROWS];
  attempt.dims[ROWS] = attempt.dims[COLUMNS];
  attempt.dims[COLUMNS] = row;
  return mirage__search_try_unless_cut(space, &attempt);
}

// The stage of an operator on two tensors; false when one lives inside a loop and the other after it.
static bool joint_stage(const SearchTensor *a, const SearchTensor *b, uint8_t *out_stage) {
  *out_stage = a->stage > b->stage ? a->stage : b->stage;
  uint8_t first = a->stage < b->stage ? a->stage : b->stage;
  return first == *out_stage || !mirage__search_is_inside(first);
}

// Dimensions unify when they hold the same part of the same axis, or one of them has extent 1.
static bool unify_dim(const SearchSpace *space, uint8_t a, uint8_t b, uint8_t *out) {
  *out = a ? a : b;
  if (!a || !b || a == b)
    return true;
  const SearchAxis *axes = space->program->axes;
  return space->options->no_prune_axis &&
         axes[mirage__search_axis_of(a)].extent == axes[mirage__search_axis_of(b)].extent &&
         mirage__search_shrunken_extent(space, a) == mirage__search_shrunken_extent(space, b);
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
    return is_constant(space, b, 1) || is_constant(space, b, -1) || is_constant(space, a, 0) ||
           is_constant(space, b, 0);
  case MIRAGE_OP_ADD:
    return is_constant(space, a, 0) || is_constant(space, b, 0);
  case MIRAGE_OP_SUB:
    return is_constant(space, b, 0);
  default:
    return false;
  }
}

// `expr`: the result's, which reaches a goal; {0} where it is not asked.
static MirageStatus try_binary(SearchSpace *space, MirageOp op, uint32_t a, uint32_t b, MirageExpr expr) {
  const SearchTensor *x = &space->tensors[a], *y = &space->tensors[b];
  if (is_idle(space, op, a, b)) {
    space->funnel.cut_order++;
    return MIRAGE_OK;
  }
  SearchAttempt attempt = {
      .how = {.op = (uint8_t)op, .a = a, .b = b}, .rank = x->rank > y->rank ? x->rank : y->rank, .expr = expr};
  bool fits = joint_stage(x, y, &attempt.stage);
  for (uint32_t d = 0; fits && d < SEARCH_RANK; d++)
    fits = unify_dim(space, x->dims[d], y->dims[d], &attempt.dims[d]);
  if (!fits) {
    space->funnel.cut_axis++;
    return MIRAGE_OK;
  }
  return mirage__search_try_tensor(space, &attempt);
}

// `product`: of the operands' expressions; {0} where it is not asked.
static MirageStatus try_matmul(SearchSpace *space, uint32_t a, uint32_t b, uint8_t flags, MirageExpr product) {
  const SearchTensor *x = &space->tensors[a], *y = &space->tensors[b];
  if (x->rank < 2 || y->rank < 2)
    return MIRAGE_OK;
  bool ta = flags & SEARCH_TRANSPOSE_A, tb = flags & SEARCH_TRANSPOSE_B;
  SearchAttempt attempt = {.how = {.op = MIRAGE_OP_MATMUL, .flags = flags, .a = a, .b = b},
                           .rank = x->rank > y->rank ? x->rank : y->rank};
  uint8_t left = x->dims[ta ? ROWS : COLUMNS], right = y->dims[tb ? COLUMNS : ROWS], inner;
  bool fits = left && right && joint_stage(x, y, &attempt.stage) && unify_dim(space, left, right, &inner) &&
              !search_axis_is_parallel(&space->program->axes[mirage__search_axis_of(inner)]);
  for (uint32_t d = 0; fits && d < ROWS; d++)
    fits = unify_dim(space, x->dims[d], y->dims[d], &attempt.dims[d]);
  if (!fits) {
    space->funnel.cut_axis++;
    return MIRAGE_OK;
  }
  attempt.dims[ROWS] = x->dims[ta ? COLUMNS : ROWS];
  attempt.dims[COLUMNS] = y->dims[tb ? ROWS : COLUMNS];
  if (!product.index)
    return mirage__search_try_tensor(space, &attempt);
  attempt.expr = mirage__search_sum_over(space, product, inner);
  return mirage__search_try_unless_cut(space, &attempt);
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

// Whether one more operator that is not element-wise fits above this tensor.
static bool may_use_counted(const SearchSpace *space, uint32_t index) {
  const SearchTensor *tensor = &space->tensors[index];
  uint32_t num_loads = (uint32_t)__builtin_popcountll(tensor->inputs | space->goal_inputs);
  return num_loads + tensor->counted_depth < space->options->max_block_ops;
}

static MirageStatus try_form(SearchSpace *space, uint32_t index, uint32_t other, SearchForm form, MirageExpr expr) {
  uint32_t larger = index > other ? index : other, smaller = index > other ? other : index;
  switch (form.op) {
  case MIRAGE_OP_MUL:
    return try_products(space, smaller, larger, expr);
  case MIRAGE_OP_DIV:
  case MIRAGE_OP_SUB:
    return try_binary(space, (MirageOp)form.op, form.swap ? other : index, form.swap ? index : other, expr);
  default:
    MIRAGE_TRY(try_binary(space, (MirageOp)form.op, smaller, larger, expr));
    space->funnel.cut_order += larger != smaller;
    return MIRAGE_OK;
  }
}

// Some forms on (index, each processed tensor of one group).
static MirageStatus try_group(SearchSpace *space, uint32_t index, uint32_t group, uint8_t forms) {
  for (uint32_t i = 0; i < SEARCH_NUM_FORMS; i++) {
    SearchForm form = mirage__search_forms[i];
    if (!(forms >> i & 1))
      continue;
    MirageExpr mine = space->tensors[index].expr, theirs = space->groups[group].expr;
    MirageExpr expr =
        mirage_expr_apply(space->exprs, (MirageOp)form.op, form.swap ? theirs : mine, form.swap ? mine : theirs);
    for (uint32_t other = space->groups[group].first; other && !space->stopped;
         other = space->tensors[other].next_grouped)
      if (!space->tensors[index].constant || !space->tensors[other].constant)
        MIRAGE_TRY(try_form(space, index, other, form, expr));
  }
  return MIRAGE_OK;
}

// Element-wise or matmul, in the order of operands that saturation takes.
static MirageStatus try_pair(SearchSpace *space, const SearchDerivation *how) {
  MirageOp op = (MirageOp)how->op;
  MirageExpr a = space->tensors[how->a].expr, b = space->tensors[how->b].expr;
  MirageExpr expr = mirage_expr_apply(space->exprs, op == MIRAGE_OP_MATMUL ? MIRAGE_OP_MUL : op, a, b);
  if (!mirage__search_keeps_reach(space, expr)) {
    space->funnel.cut_expr++;
    return MIRAGE_OK;
  }
  if (op == MIRAGE_OP_MATMUL)
    return try_matmul(space, how->a, how->b, how->flags, expr);
  return try_binary(space, op, how->a, how->b, expr);
}

bool mirage__search_tries(const SearchSpace *space, const SearchDerivation *how) {
  const SearchProgram *program = space->program;
  bool constants =
      space->tensors[how->a].constant && (!mirage__search_is_binary(how->op) || space->tensors[how->b].constant);
  switch ((MirageOp)how->op) {
  case MIRAGE_OP_MUL:
  case MIRAGE_OP_ADD:
  case MIRAGE_OP_DIV:
    return !constants;
  case MIRAGE_OP_LOOP:
    return !constants && may_accumulate(&space->tensors[how->a]) &&
           (!how->flags || program->uses[MIRAGE_OP_REDUCE_MAX]);
  case MIRAGE_OP_REDUCE_SUM:
    return !constants;
  case MIRAGE_OP_MATMUL:
    return !constants && (!how->flags || program->transposes);
  case MIRAGE_OP_TRANSPOSE:
    return !constants && may_transpose(space, &space->tensors[how->a]);
  case MIRAGE_OP_MIN:
    return false; // expanded
  default:
    return !constants && program->uses[how->op] &&
           (mirage__search_is_elementwise(how->op) || how->op == MIRAGE_OP_REDUCE_MAX);
  }
}

MirageStatus mirage__search_try(SearchSpace *space, const SearchDerivation *how) {
  switch (mirage_op_info((MirageOp)how->op)->kind) {
  case MIRAGE_KIND_UNARY:
    return try_unary(space, how->a, (MirageOp)how->op);
  case MIRAGE_KIND_REDUCE:
    return try_reduce(space, how->a, (MirageOp)how->op, how->dim);
  case MIRAGE_KIND_SHAPE:
    return try_transpose(space, how->a);
  case MIRAGE_KIND_REGION:
    return try_accumulate(space, how->a, how->flags);
  default:
    return try_pair(space, how);
  }
}

// The binary operators that one more operator on a tensor may be. At the limit on element-wise ones only a matmul can
// follow, and nothing when there is no room for that either.
static uint8_t allowed_forms(const SearchSpace *space, uint32_t index) {
  const SearchTensor *tensor = &space->tensors[index];
  if (tensor->elementwise_depth < mirage__search_elementwise_limit(space->program))
    return mirage__search_allowed_forms(space);
  return tensor->rank >= 2 && may_use_counted(space, index); // the first form is MUL
}

// All operators on one operand.
static MirageStatus try_alone(SearchSpace *space, uint32_t index) {
  space->tensors[index].processed = true;
  if (!space->tensors[index].grouped)
    MIRAGE_TRY(mirage__search_add_to_group(space, index));
  if (!space->tensors[index].constant) {
    MIRAGE_TRY(try_every_unary(space, index));
    MIRAGE_TRY(try_every_reduce(space, index, MIRAGE_OP_REDUCE_SUM));
    if (space->program->uses[MIRAGE_OP_REDUCE_MAX])
      MIRAGE_TRY(try_every_reduce(space, index, MIRAGE_OP_REDUCE_MAX));
    if (may_transpose(space, &space->tensors[index]))
      MIRAGE_TRY(try_transpose(space, index));
    if (may_accumulate(&space->tensors[index]))
      for (uint32_t maximum = 0; maximum <= space->program->uses[MIRAGE_OP_REDUCE_MAX]; maximum++)
        MIRAGE_TRY(try_accumulate(space, index, maximum));
  }
  return MIRAGE_OK;
}

// Between two groups everything is in place, so that another run can go on from here.
static MirageStatus save_now_and_then(SearchSpace *space) {
  if (!space->slot.checkpoint || (!space->stopped && space->watch.looked < space->next_snapshot))
    return MIRAGE_OK;
  space->next_snapshot = space->watch.looked + snapshot_interval;
  return mirage__search_save_space(space);
}

// Where operators on two operands begin. What expressions cut is counted here: all tensors processed so far but those
// of partners.
static MirageStatus begin(SearchSpace *space, uint32_t index) {
  MIRAGE_TRY(try_alone(space, index));
  uint8_t allowed = allowed_forms(space, index);
  space->at.inside = true;
  space->at.partner = allowed ? space->groups[space->tensors[index].group].first_partner : 0;
  if (allowed)
    space->funnel.cut_expr += (uint64_t)__builtin_popcount(allowed) * space->num_grouped;
  for (uint32_t i = space->at.partner; i; i = space->partners[i].next)
    space->funnel.cut_expr -=
        (uint64_t)__builtin_popcount(space->partners[i].forms & allowed) * space->groups[space->partners[i].group].size;
  return MIRAGE_OK;
}

// From where an earlier call stopped.
static MirageStatus process(SearchSpace *space, uint32_t index) {
  if (!space->at.inside)
    MIRAGE_TRY(begin(space, index));
  while (space->at.partner && !space->stopped) {
    space->stop = mirage__search_ask(&space->watch, &space->funnel);
    if (space->stop == MIRAGE_STOP_NONE && space->max_pair_work && space->pair_work > space->max_pair_work)
      space->stop = MIRAGE_STOP_MAX_STATES;
    space->stopped = space->stop != MIRAGE_STOP_NONE;
    MIRAGE_TRY(save_now_and_then(space));
    if (space->stopped)
      break;
    SearchPartner partner = space->partners[space->at.partner];
    MIRAGE_TRY(try_group(space, index, partner.group, partner.forms & allowed_forms(space, index)));
    space->at.partner = partner.next;
  }
  return mirage_expr_status(space->exprs);
}

MirageExpr mirage__search_expr_of(SearchSpace *space, const SearchDerivation *how) {
  const SearchTensor *a = &space->tensors[how->a], *b = &space->tensors[how->b];
  switch (how->op) {
  case MIRAGE_OP_MATMUL: {
    uint8_t inner = a->dims[how->flags & SEARCH_TRANSPOSE_A ? ROWS : COLUMNS];
    return mirage__search_sum_over(space, mirage_expr_apply(space->exprs, MIRAGE_OP_MUL, a->expr, b->expr), inner);
  }
  case MIRAGE_OP_REDUCE_SUM:
    return mirage__search_sum_over(space, a->expr, a->dims[how->dim]);
  case MIRAGE_OP_REDUCE_MAX:
    return mirage_expr_max(space->exprs, a->expr);
  case MIRAGE_OP_LOOP:
    if (how->flags)
      return mirage_expr_max(space->exprs, a->expr);
    return mirage_expr_sum(space->exprs, a->expr, mirage_axis_part(space->loop_axis, MIRAGE_PART_LOOP));
  case MIRAGE_OP_TRANSPOSE:
    return a->expr;
  default:
    return mirage_expr_apply(space->exprs, (MirageOp)how->op, a->expr,
                             mirage__search_is_binary(how->op) ? b->expr : a->expr);
  }
}

// ---------------------------------------------------------------------------------------------- leaves

// An input is loaded whole before the loop, or in tiles inside it when one of its dimensions walks the loop's axis.
// Where loops follow each other, for rows that no block holds, it is not loaded whole.
static MirageStatus add_loads(SearchSpace *space, const MirageField *field) {
  const MirageUGraph *graph = space->program->graph;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    SearchTensor tensor = {.rank = (uint8_t)mirage_ugraph_type(graph, input)->rank, .inputs = (uint64_t)1 << i};
    tensor.expr = mirage_expr_input(space->exprs, i);
    if (!mirage__search_keeps_reach(space, tensor.expr))
      continue; // an input that the program does not use
    SearchArray drawn;
    mirage__search_program_shape(space, input, &drawn);
    size_t size = mirage__search_array_size(&drawn);
    drawn.data = mirage_arena_alloc_array(&space->arena, size, sizeof *drawn.data);
    if (!drawn.data)
      return MIRAGE_NO_MEMORY;
    mirage_field_draw(field, i, size, drawn.data);
    uint32_t split = 0;
    for (uint32_t d = 0; d < tensor.rank; d++) {
      uint32_t at = SEARCH_RANK - tensor.rank + d;
      tensor.dims[at] = mirage__search_program_dim(space, input, d);
      if (tensor.dims[at] & SEARCH_WHOLE)
        split = at + 1;
    }
    tensor.values = drawn;
    uint64_t cut = space->funnel.cut_memory;
    SearchDerivation how = {.op = MIRAGE_OP_LOAD, .a = i};
    uint32_t leaves = 0;
    if (!split || space->num_loops < 2) {
      MIRAGE_TRY(mirage__search_add_leaf(space, &tensor, &how));
      leaves++;
    }
    if (split) {
      tensor.dims[split - 1] &= (uint8_t)~SEARCH_WHOLE;
      MIRAGE_TRY(mirage__search_split(&space->eval, &drawn, split, &tensor.values));
    }
    for (uint32_t loop = 0; split && loop < space->num_loops; loop++, leaves++) {
      tensor.stage = (uint8_t)(SEARCH_INSIDE + 2 * loop);
      MIRAGE_TRY(mirage__search_add_leaf(space, &tensor, &how));
    }
    if (space->funnel.cut_memory == cut + leaves)
      space->too_large_input = i + 1;
  }
  return MIRAGE_OK;
}

static MirageStatus add_constants(SearchSpace *space) {
  for (uint32_t i = 0; i < space->program->num_constants; i++) {
    SearchTensor tensor = {.constant = true};
    tensor.expr = mirage_expr_constant(space->exprs, space->program->constants[i]);
    MIRAGE_TRY(mirage__search_constant(&space->eval, space->program->constants[i], &tensor.values));
    MIRAGE_TRY(mirage__search_add_leaf(space, &tensor, &(SearchDerivation){.op = MIRAGE_OP_CONSTANT, .a = i}));
  }
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------- public

static size_t half_of_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? (size_t)pages / 2 * (size_t)bytes : MAX_BYTES;
}

// Whether it holds neither a product nor a reduction: one kernel by rule computes it (search_pointwise.c). What else
// there is are other forms of the same formula, whose expressions grow large.
static bool is_formula(const SearchProgram *program) {
  bool meets = program->uses[MIRAGE_OP_MATMUL];
  for (uint32_t i = 1; i < program->num_axes; i++)
    meets |= program->axes[i].reduced;
  return !meets;
}

MirageStatus mirage__search_space_init(SearchSpace *space, const SearchProgram *program,
                                       const MirageSearchOptions *options, uint32_t loop_axis, uint32_t num_loops,
                                       uint32_t share, const MirageDomain *domain, const MirageField *field) {
  *space = (SearchSpace){
      .program = program, .options = options, .loop_axis = loop_axis, .num_loops = num_loops, .at = {.index = 1}};
  space->max_states = options->max_states / share;
  space->max_pair_work = is_formula(program) && !options->optimal ? PAIR_SHARE * options->max_states : 0;
  space->max_bytes = (options->optimal ? half_of_memory() : MAX_BYTES) / share;
  mirage_arena_init(&space->arena, NULL);
  mirage_arena_init(&space->eval.scratch, NULL);
  mirage_arena_init(&space->values, NULL);
  space->eval.arena = &space->values;
  space->eval.domain = domain;
  space->exprs = mirage_expr_table_create(NULL);
  space->tensors = mirage__search_grow(space, NULL, &space->capacity_tensors, sizeof *space->tensors);
  space->derivations = mirage__search_grow(space, NULL, &space->capacity_derivations, sizeof *space->derivations);
  if (!space->exprs || !space->tensors || !space->derivations)
    return MIRAGE_NO_MEMORY;
  if (!options->no_keep_products)
    mirage_expr_keep_products(space->exprs);
  mirage__search_shrink(space);
  MIRAGE_TRY(mirage__search_evaluate_program(space, field));
  MirageExpr goals[SEARCH_MAX_GOALS];
  for (uint32_t i = 0; i < space->num_goals; i++) {
    goals[i] = space->goals[i].expr;
    if (!goals[i].index)
      return MIRAGE_LIMIT;
    space->goal_size += mirage_expr_goal_size(space->exprs, goals[i]);
  }
  MIRAGE_TRY(mirage_expr_sketch_goals(space->exprs, space->num_goals, goals));
  MIRAGE_TRY(add_loads(space, field));
  return add_constants(space);
}

void mirage__search_lift_limits(SearchSpace *space, bool any_depth) {
  space->stopped = false;
  space->max_states = UINT64_MAX;
  space->max_bytes = SIZE_MAX;
  space->any_depth = any_depth;
}

void mirage__search_space_deinit(SearchSpace *space) {
  mirage_expr_table_destroy(space->exprs);
  mirage_arena_deinit(&space->eval.scratch);
  mirage_arena_deinit(&space->values);
  mirage_arena_deinit(&space->arena);
}

// Shallow tensors first, so that a tensor's depth is known before anything is built on it.
MirageStatus mirage__search_saturate(SearchSpace *space) {
  SearchPosition *at = &space->at;
  uint32_t limit = space->options->max_block_ops + mirage__search_elementwise_limit(space->program);
  while (at->depth <= limit && !space->stopped) {
    if (at->index > space->num_tensors) { // the same depth again, while there was something to do
      *at = (SearchPosition){.depth = at->depth + !at->again, .index = 1};
      continue;
    }
    const SearchTensor *tensor = &space->tensors[at->index];
    if (at->inside || (!tensor->processed && tensor->depth <= at->depth)) {
      at->again = true;
      MIRAGE_TRY(process(space, at->index));
      if (space->stopped)
        return MIRAGE_OK;
    }
    *at = (SearchPosition){.depth = at->depth, .index = at->index + 1, .again = at->again};
  }
  return MIRAGE_OK;
}
