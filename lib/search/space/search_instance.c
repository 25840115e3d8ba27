// search_instance.c - the shrunken instance: extents, and the program's own expressions and values on it.
//
// 2 or 3 elements along an axis, unequal for neighbouring axes so that a transposition cannot go unnoticed, and 2 x 2
// along the loop's. Constants keep the values they have in the program, those that come from an extent too: source and
// candidate hold the same, which is enough to recognise the goal (the verifier looks at real extents).
#include "mirage/random.h"
#include "search/block/search_structure.h"
#include "search/space/search_tensor.h"

#include <string.h>

enum { DIMS = 1 + SEARCH_RANK };

MirageField *mirage__search_field(const MirageSearchOptions *options) {
  return mirage_field_create(mirage_random_purpose(options->seed, "search"), 0);
}

// --------------------------------------------------------------------------------------- shrunken axes

int32_t mirage__search_shrunken_extent(const SearchSpace *space, uint8_t dim) {
  int32_t extent = space->extents[mirage__search_axis_of(dim)];
  return dim & SEARCH_WHOLE ? extent * SEARCH_LOOPS : extent;
}

void mirage__search_shrink(SearchSpace *space) {
  space->extents[0] = 1;
  for (uint32_t i = 1; i < space->program->num_axes; i++)
    space->extents[i] = i == space->loop_axis ? 2 : 2 + (int32_t)(i & 1);
}

// Whole axes: the loop's axis counts in full.
static uint8_t whole_dim(const SearchSpace *space, uint8_t axis) {
  return axis && axis == space->loop_axis ? axis | SEARCH_WHOLE : axis;
}

void mirage__search_program_shape(const SearchSpace *space, MirageValue value, SearchArray *out) {
  uint32_t rank = mirage_ugraph_type(space->program->graph, value)->rank;
  for (uint32_t d = 0; d < DIMS; d++)
    out->shape[d] = 1;
  for (uint32_t d = 0; d < rank; d++)
    out->shape[DIMS - rank + d] =
        mirage__search_shrunken_extent(space, whole_dim(space, space->program->dims[value.index][d]));
}

// ------------------------------------------------------------------------- the program on the instance

// Sum over an axis: over each of its parts.
MirageExpr mirage__search_sum_over(SearchSpace *space, MirageExpr e, uint8_t dim) {
  uint32_t axis = mirage__search_axis_of(dim);
  e = mirage_expr_sum(space->exprs, e, mirage_axis_part(axis, MIRAGE_PART_TILE));
  return dim & SEARCH_WHOLE ? mirage_expr_sum(space->exprs, e, mirage_axis_part(axis, MIRAGE_PART_LOOP)) : e;
}

uint8_t mirage__search_program_dim(const SearchSpace *space, MirageValue value, uint32_t dim) {
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

static void add_stable(SearchSpace *space, MirageExpr argument, uint8_t axis) {
  if (space->num_stable < SEARCH_MAX_STABLE && !mirage__search_stable_axis(space, argument))
    space->stable[space->num_stable++] = (SearchStable){argument, axis};
}

uint8_t mirage__search_stable_axis(const SearchSpace *space, MirageExpr argument) {
  for (uint32_t i = 0; i < space->num_stable; i++)
    if (space->stable[i].argument.index == argument.index)
      return space->stable[i].axis;
  return 0;
}

static MirageStatus evaluate_node(SearchSpace *space, const MirageNodeView *node, ProgramValue *values) {
  const MirageUGraph *graph = space->program->graph;
  MirageExprTable *exprs = space->exprs;
  SearchEval *eval = &space->eval;
  ProgramValue *out = &values[node->first_result.index];
  const ProgramValue *a = node->num_operands > 0 ? &values[node->operands[0].index] : NULL;
  const ProgramValue *b = node->num_operands > 1 ? &values[node->operands[1].index] : NULL;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
    if (node->op == MIRAGE_OP_EXP && space->program->shift[node->operands[0].index])
      add_stable(space, a->expr, space->program->shift[node->operands[0].index]);
    out->expr = mirage_expr_apply(exprs, node->op, a->expr, a->expr);
    return mirage__search_unary(eval, node->op, &a->array, &out->array);
  case MIRAGE_KIND_BINARY:
    if (space->program->dropped[node->operands[0].index] || space->program->dropped[node->operands[1].index]) {
      *out = space->program->dropped[node->operands[1].index] ? *a : *b; // a - 0, a + 0, 0 + b
      return MIRAGE_OK;
    }
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
    uint8_t code = mirage__search_program_dim(space, node->operands[0], dim);
    out->expr = node->op == MIRAGE_OP_REDUCE_MAX ? mirage_expr_max(exprs, a->expr)
                : code                           ? mirage__search_sum_over(space, a->expr, code)
                                                 : a->expr;
    return mirage__search_reduce(eval, node->op, &a->array, DIMS - rank + dim, &out->array);
  }
  case MIRAGE_KIND_MATMUL: {
    bool ta = node->attrs && node->attrs->matmul.transpose_a, tb = node->attrs && node->attrs->matmul.transpose_b;
    uint32_t rank = mirage_ugraph_type(graph, node->operands[0])->rank;
    uint8_t code = mirage__search_program_dim(space, node->operands[0], rank - (ta ? 2 : 1));
    out->expr = mirage_expr_mul(exprs, a->expr, b->expr);
    if (code)
      out->expr = mirage__search_sum_over(space, out->expr, code);
    return mirage__search_matmul(eval, &a->array, &b->array, ta, tb, &out->array);
  }
  case MIRAGE_KIND_SHAPE: // transpose or broadcast: search_program.c lets no other through
    out->expr = a->expr;
    if (node->op == MIRAGE_OP_TRANSPOSE && swaps_last(graph, node))
      return mirage__search_transpose(eval, &a->array, &out->array);
    mirage__search_program_shape(space, node->first_result, &out->array);
    return mirage__search_broadcast(eval, &a->array, &out->array);
  default:
    return MIRAGE_OK; // return
  }
}

// The goal as a loop's iterations store it.
static MirageStatus split_goal(SearchSpace *space, SearchGoal *goal) {
  uint32_t split = 0, count = 0;
  memcpy(goal->tile_dims, goal->dims, sizeof goal->dims);
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    if (goal->dims[d] & SEARCH_WHOLE) {
      goal->tile_dims[d] &= (uint8_t)~SEARCH_WHOLE;
      split = d + 1;
      count++;
    }
  goal->walked = count == 1;
  return goal->walked ? mirage__search_split(&space->eval, &goal->values, split, &goal->tiles) : MIRAGE_OK;
}

MirageStatus mirage__search_evaluate_program(SearchSpace *space, const MirageField *field) {
  const MirageUGraph *graph = space->program->graph;
  ProgramValue *values =
      mirage_arena_alloc_array(&space->arena, (size_t)mirage_ugraph_num_values(graph) + 1, sizeof *values);
  if (!values)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    ProgramValue *value = &values[input.index];
    value->expr = mirage_expr_input(space->exprs, i);
    mirage__search_program_shape(space, input, &value->array);
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
  space->num_goals = mirage_ugraph_num_outputs(graph);
  for (uint32_t i = 0; i < space->num_goals; i++) {
    MirageValue output = mirage_ugraph_get_output(graph, i);
    SearchGoal *goal = &space->goals[i];
    goal->expr = values[output.index].expr;
    goal->values = values[output.index].array;
    goal->rank = (uint8_t)mirage_ugraph_type(graph, output)->rank;
    for (uint32_t d = 0; d < goal->rank; d++)
      goal->dims[SEARCH_RANK - goal->rank + d] = mirage__search_program_dim(space, output, d);
    space->goal_inputs |= mirage_expr_inputs(space->exprs, goal->expr);
    MIRAGE_TRY(split_goal(space, goal));
  }
  return mirage_expr_status(space->exprs);
}
