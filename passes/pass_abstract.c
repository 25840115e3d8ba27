// pass_abstract.c - compares two graphs by abstract expression. [Mirage 4.2]
//
// Every value gets an abstract expression (mirage/expr.h), and every dimension the program axis it walks with the parts
// of that axis that it holds: what each grid axis and each enclosing loop cut off, and the tile that is left. A sum
// over a dimension is a sum over the parts it holds, so that a contraction in one matmul and the same one spread over
// tile, loop and grid come out equal, whatever the extents. Algorithm:  1. the program, to unify the axes that its
// operators bring together;  2. the candidate, to learn into which
//             parts each axis falls;  3. both again, now with these parts; then outputs are compared: their
//             normal forms by id, or, asked to, by Z3, which must show that they are equal.
// Example:    x: [i, K], w: [K, j].  program  sum{K.loop, K.tile} x w;  candidate: matmul in a loop over K: the same.
//             A candidate that forgets to accumulate has  sum{K.tile} x w  and differs.
// Unknown:    reshape, slice, concat, repeat, partial reductions, loops that walk two axes, a carry read inside its
//             loop: such values have no expression, and no difference is claimed.
#include "mirage/oracle.h"
#include "passes.h"

#include <stdlib.h>
#include <string.h>

enum { SLOT_GRID = 0, SLOT_LOOP = 3, SLOT_TILE = 7, NUM_SLOTS = 8, NO_AXIS = -1, TWO_AXES = -2 };

static const MirageTerm NO_TERM = {0};

typedef struct Dim {
  int32_t axis;  // program axis, or NO_AXIS
  uint8_t parts; // bit set of slots
} Dim;

typedef struct Info {
  MirageTerm expr; // {0}: unknown
  Dim dims[MIRAGE_MAX_RANK];
} Info;

typedef struct Abstractor {
  MirageTerms *terms;
  int32_t *parent;   // of axes: union-find
  uint8_t *universe; // parts that an axis falls into, by representative
  int32_t num_axes, max_axes;
  bool unify; // first run over the program
  const MirageUGraph *graph;
  Info *values;                        // by value id
  int32_t grid_axis[3];                // axis that each grid axis walks in the custom node at hand
  int32_t loop_axis[MIRAGE_MAX_LOOPS]; // the same of each enclosing loop
  uint32_t depth;                      // enclosing loops
} Abstractor;

// -----------------------------------------------------------------------------------------------------------------
// axes

static int32_t find_axis(Abstractor *a, int32_t axis) {
  while (axis >= 0 && a->parent[axis] != axis)
    axis = a->parent[axis] = a->parent[a->parent[axis]];
  return axis;
}

static int32_t new_axis(Abstractor *a) {
  if (a->num_axes == a->max_axes)
    return NO_AXIS;
  a->parent[a->num_axes] = a->num_axes;
  return a->num_axes++;
}

static uint8_t universe_of(Abstractor *a, int32_t axis) {
  return axis < 0 ? 0 : a->universe[find_axis(a, axis)] | 1u << SLOT_TILE;
}

static Dim whole(Abstractor *a, int32_t axis) { return (Dim){find_axis(a, axis), universe_of(a, axis)}; }

/// The dimension of a value that combines two others.
static Dim meet(Abstractor *a, Dim x, Dim y) {
  if (x.axis < 0 || y.axis < 0)
    return x.axis < 0 ? y : x;
  int32_t i = find_axis(a, x.axis), j = find_axis(a, y.axis);
  if (a->unify && i != j)
    a->parent[i > j ? i : j] = i < j ? i : j;
  return (Dim){find_axis(a, i), x.parts};
}

static MirageTerm sum_part(Abstractor *a, MirageTerm expr, int32_t axis, uint32_t slot) {
  return mirage_term_sum(a->terms, expr, mirage_axis_part((uint32_t)axis * NUM_SLOTS + slot, MIRAGE_PART_TILE));
}

/// Sums over all that `dim` holds. A dimension of extent > 1 whose axis is not known makes the sum unknown.
static MirageTerm sum_dim(Abstractor *a, MirageTerm expr, Dim dim, int64_t extent) {
  if (extent == 1 && dim.axis < 0)
    return expr;
  if (dim.axis < 0)
    return NO_TERM;
  for (uint32_t slot = 0; slot < NUM_SLOTS; slot++)
    if (dim.parts & 1u << slot)
      expr = sum_part(a, expr, dim.axis, slot);
  return expr;
}

// ------------------------------------------------------------------------------------------------------------
// operators

static const MirageType *type_of(const Abstractor *a, MirageValue value) { return mirage_ugraph_type(a->graph, value); }

static Info *info_of(const Abstractor *a, MirageValue value) { return &a->values[value.index]; }

static void clear_dims(Info *info) {
  for (uint32_t i = 0; i < MIRAGE_MAX_RANK; i++)
    info->dims[i] = (Dim){NO_AXIS, 0};
}

/// Right-aligned dimensions of all operands.
static void elementwise_dims(Abstractor *a, const MirageNodeView *view, Info *out) {
  uint32_t rank = type_of(a, view->first_result)->rank;
  for (uint32_t i = 0; i < view->num_operands; i++) {
    uint32_t operand_rank = type_of(a, view->operands[i])->rank;
    for (uint32_t j = 0; j < operand_rank; j++) {
      Dim *dim = &out->dims[rank - operand_rank + j];
      *dim = meet(a, *dim, info_of(a, view->operands[i])->dims[j]);
    }
  }
}

static MirageTerm apply1(Abstractor *a, MirageOp op, MirageTerm x) {
  return mirage_term_apply(a->terms, op, x, NO_TERM);
}
static MirageTerm apply2(Abstractor *a, MirageOp op, MirageTerm x, MirageTerm y) {
  return mirage_term_apply(a->terms, op, x, y);
}

static void elementwise(Abstractor *a, const MirageNodeView *view, Info *out) {
  MirageTerm x = info_of(a, view->operands[0])->expr;
  MirageTerm y = view->num_operands > 1 ? info_of(a, view->operands[1])->expr : NO_TERM;
  elementwise_dims(a, view, out);
  out->expr = apply2(a, view->op, x, y);
}

/// Stretched dimensions are axes of their own.
static void broadcast(Abstractor *a, const MirageNodeView *view, Info *out) {
  elementwise(a, view, out);
  const MirageType *type = type_of(a, view->first_result);
  for (uint32_t i = 0; i < type->rank; i++)
    if (out->dims[i].axis < 0 && type->shape[i] > 1 && a->unify)
      out->dims[i] = whole(a, new_axis(a));
}

static void matmul(Abstractor *a, const MirageNodeView *view, Info *out) {
  const Info *x = info_of(a, view->operands[0]), *y = info_of(a, view->operands[1]);
  const MirageType *x_type = type_of(a, view->operands[0]), *y_type = type_of(a, view->operands[1]);
  bool transpose_x = view->attrs && view->attrs->matmul.transpose_a;
  bool transpose_y = view->attrs && view->attrs->matmul.transpose_b;
  uint32_t x_rank = x_type->rank, y_rank = y_type->rank, rank = type_of(a, view->first_result)->rank;
  uint32_t x_k = x_rank - (transpose_x ? 2 : 1), y_k = y_rank - (transpose_y ? 1 : 2);
  for (uint32_t i = 0; i + 2 < x_rank; i++)
    out->dims[rank - x_rank + i] = x->dims[i];
  for (uint32_t i = 0; i + 2 < y_rank; i++)
    out->dims[rank - y_rank + i] = meet(a, out->dims[rank - y_rank + i], y->dims[i]);
  out->dims[rank - 2] = x->dims[x_rank - (transpose_x ? 1 : 2)];
  out->dims[rank - 1] = y->dims[y_rank - (transpose_y ? 2 : 1)];
  Dim k = meet(a, x->dims[x_k], y->dims[y_k]);
  out->expr = sum_dim(a, apply2(a, MIRAGE_OP_MUL, x->expr, y->expr), k, x_type->shape[x_k]);
  if (view->op == MIRAGE_OP_MMA)
    out->expr = apply2(a, MIRAGE_OP_ADD, out->expr, info_of(a, view->operands[2])->expr);
}

static void reduce(Abstractor *a, const MirageNodeView *view, Info *out) {
  const Info *x = info_of(a, view->operands[0]);
  const MirageType *type = type_of(a, view->operands[0]);
  uint32_t dim = (uint32_t)view->attrs->reduce.dim;
  *out = *x;
  out->dims[dim] = (Dim){NO_AXIS, 0};
  if (view->attrs->reduce.extent != 1) {
    out->expr = NO_TERM;
  } else if (view->op == MIRAGE_OP_REDUCE_MAX) {
    out->expr = apply1(a, MIRAGE_OP_REDUCE_MAX, x->expr);
  } else {
    out->expr = sum_dim(a, x->expr, x->dims[dim], type->shape[dim]);
    if (view->op == MIRAGE_OP_REDUCE_MEAN)
      out->expr = apply2(a, MIRAGE_OP_DIV, out->expr, mirage_term_constant(a->terms, (double)type->shape[dim]));
  }
}

static void note_axis(int32_t *walked, int32_t axis) {
  if (axis >= 0)
    *walked = *walked == NO_AXIS || *walked == axis ? axis : TWO_AXES;
}

/// A part of a tensor has no expression, as a slice has none.
static bool has_window(const MirageAccessAttrs *access) {
  for (uint32_t i = 0; i < MIRAGE_MAX_RANK; i++)
    if (access->end[i])
      return true;
  return false;
}

/// The tile holds what grid and loops have not cut off; what they cut off becomes part of the axis's universe.
static void load(Abstractor *a, const MirageNodeView *view, Info *out) {
  const MirageAccessAttrs *access = &view->attrs->access;
  const Info *tensor = info_of(a, view->operands[0]);
  *out = *tensor;
  for (uint32_t i = 0; i < mirage_ugraph_type(a->graph, view->operands[0])->rank; i++)
    out->dims[i] = tensor->dims[mirage_access_dim(access, i)];
  for (uint32_t slot = 0; slot < SLOT_TILE; slot++) {
    int8_t dim = slot < SLOT_LOOP ? access->grid[slot] : access->loop[slot - SLOT_LOOP];
    if (dim < 0 || out->dims[dim].axis < 0)
      continue;
    int32_t axis = out->dims[dim].axis;
    a->universe[axis] |= (uint8_t)(1u << slot);
    out->dims[dim].parts &= (uint8_t)~(1u << slot);
    note_axis(slot < SLOT_LOOP ? &a->grid_axis[slot] : &a->loop_axis[slot - SLOT_LOOP], axis);
  }
  if (has_window(access))
    out->expr = NO_TERM;
}

/// The output tensor becomes what is stored to it; a second store to it is more than this file follows.
static void store(Abstractor *a, const MirageNodeView *view) {
  const Info *tile = info_of(a, view->operands[0]);
  Info *tensor = info_of(a, view->operands[1]);
  bool again = tensor->dims[0].axis != NO_AXIS || tensor->expr.index != 0;
  *tensor = *tile;
  for (uint32_t i = 0; i < MIRAGE_MAX_RANK; i++)
    tensor->dims[mirage_access_dim(&view->attrs->access, i)] = whole(a, tile->dims[i].axis);
  if (again || has_window(&view->attrs->access))
    tensor->expr = NO_TERM;
}

static void collective(Abstractor *a, const MirageNodeView *view, Info *out) {
  *out = *info_of(a, view->operands[0]);
  for (uint32_t i = 0; i < 3; i++) {
    if (!view->attrs->axes.axis[i] || !out->expr.index)
      continue;
    if (view->op == MIRAGE_OP_CLUSTER_MAX || view->op == MIRAGE_OP_GRID_MAX)
      out->expr = apply1(a, MIRAGE_OP_REDUCE_MAX, out->expr);
    else if (a->grid_axis[i] >= 0)
      out->expr = sum_part(a, out->expr, a->grid_axis[i], SLOT_GRID + i);
    else
      out->expr = NO_TERM;
  }
}

// --------------------------------------------------------------------------------------------------------------
// regions

static void run_region(Abstractor *a, MirageRegion region);

static void custom(Abstractor *a, MirageNode node, const MirageNodeView *view) {
  for (uint32_t i = 0; i < 3; i++)
    a->grid_axis[i] = NO_AXIS;
  for (uint32_t i = 0; i < view->num_operands; i++)
    *info_of(a, mirage_ugraph_argument(a->graph, node, i)) = *info_of(a, view->operands[i]);
  for (uint32_t i = 0; i < view->num_results; i++) {
    Info *output = info_of(a, mirage_ugraph_argument(a->graph, node, view->num_operands + i));
    output->expr = NO_TERM;
    clear_dims(output);
  }
  run_region(a, view->region);
  for (uint32_t i = 0; i < view->num_results; i++)
    a->values[view->first_result.index + i] =
        *info_of(a, mirage_ugraph_argument(a->graph, node, view->num_operands + i));
}

static bool is_bottom(const Abstractor *a, MirageValue value) {
  MirageNode def = mirage_ugraph_def(a->graph, value);
  return def.index && mirage_ugraph_node(a->graph, def).op == MIRAGE_OP_BOTTOM;
}

/// A carry after the loop, from its initial value and what an iteration yields.
static MirageTerm carry_expr(Abstractor *a, MirageCombine combine, MirageValue init, const Info *contribution) {
  int32_t axis = a->loop_axis[a->depth];
  if (!contribution->expr.index)
    return NO_TERM;
  switch (combine) {
  case MIRAGE_COMBINE_SUM:
  case MIRAGE_COMBINE_RESCALE: // factors abstract to 1
    if (axis < 0)
      return NO_TERM;
    return apply2(a, MIRAGE_OP_ADD, info_of(a, init)->expr,
                  sum_part(a, contribution->expr, axis, SLOT_LOOP + a->depth));
  case MIRAGE_COMBINE_MAX:
    return is_bottom(a, init) ? apply1(a, MIRAGE_OP_REDUCE_MAX, contribution->expr) : NO_TERM;
  case MIRAGE_COMBINE_CONCAT:
  case MIRAGE_COMBINE_ASSIGN:
    break;
  }
  return contribution->expr;
}

static void loop(Abstractor *a, MirageNode node, const MirageNodeView *view) {
  const MirageLoopAttrs *attrs = &view->attrs->loop;
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    Info *carry = info_of(a, mirage_ugraph_argument(a->graph, node, i));
    *carry = *info_of(a, view->operands[i]);
    carry->expr = NO_TERM;
  }
  a->loop_axis[a->depth++] = NO_AXIS;
  run_region(a, view->region);
  a->depth--;
  MirageRegionView body = mirage_ugraph_region(a->graph, view->region);
  MirageNodeView yield = mirage_ugraph_node(a->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < attrs->num_carries; i++) {
    const Info *contribution = info_of(a, yield.operands[i]);
    Info *out = &a->values[view->first_result.index + i];
    *out = *contribution;
    out->expr = carry_expr(a, attrs->carries[i].combine, view->operands[i], contribution);
    if (attrs->carries[i].combine == MIRAGE_COMBINE_CONCAT)
      out->dims[attrs->carries[i].dim].parts |= (uint8_t)(1u << (SLOT_LOOP + a->depth));
  }
}

static void thread(Abstractor *a, MirageNode node, const MirageNodeView *view) {
  for (uint32_t i = 0; i < view->num_operands; i++)
    *info_of(a, mirage_ugraph_argument(a->graph, node, i)) = *info_of(a, view->operands[i]);
  run_region(a, view->region);
  MirageRegionView body = mirage_ugraph_region(a->graph, view->region);
  MirageNodeView yield = mirage_ugraph_node(a->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < view->num_results; i++)
    a->values[view->first_result.index + i] = *info_of(a, yield.operands[i]);
}

static void run_node(Abstractor *a, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(a->graph, node);
  Info *out = &a->values[view.first_result.index];
  if (view.op == MIRAGE_OP_CUSTOM) {
    custom(a, node, &view);
    return;
  }
  if (view.op == MIRAGE_OP_LOOP) {
    loop(a, node, &view);
    return;
  }
  if (view.op == MIRAGE_OP_THREAD) {
    thread(a, node, &view);
    return;
  }
  if (view.op == MIRAGE_OP_STORE) {
    store(a, &view);
    return;
  }
  if (view.num_results != 1)
    return;
  out->expr = NO_TERM;
  clear_dims(out);
  switch (mirage_op_info(view.op)->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
  case MIRAGE_KIND_CAST:
    elementwise(a, &view, out);
    return;
  case MIRAGE_KIND_MATMUL:
    matmul(a, &view, out);
    return;
  case MIRAGE_KIND_REDUCE:
    reduce(a, &view, out);
    return;
  case MIRAGE_KIND_ACCESS:
    load(a, &view, out);
    return;
  case MIRAGE_KIND_COLLECTIVE:
    collective(a, &view, out);
    return;
  case MIRAGE_KIND_IOTA: // no expression: the search knows of no masks
    return;
  case MIRAGE_KIND_CONSTANT:
    if (view.op == MIRAGE_OP_CONSTANT)
      out->expr = mirage_term_constant(a->terms, view.attrs->constant.value);
    return;
  case MIRAGE_KIND_SHAPE:
    if (view.op == MIRAGE_OP_BROADCAST)
      broadcast(a, &view, out);
    if (view.op == MIRAGE_OP_TRANSPOSE) {
      const Info *x = info_of(a, view.operands[0]);
      out->expr = x->expr;
      for (uint32_t i = 0; i < type_of(a, view.first_result)->rank; i++)
        out->dims[i] = x->dims[view.attrs->perm.perm[i]];
    }
    return;
  case MIRAGE_KIND_SUGAR:
  case MIRAGE_KIND_REGION:
  case MIRAGE_KIND_TERMINATOR:
    return;
  }
}

static void run_region(Abstractor *a, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(a->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++)
    run_node(a, view.nodes[i]);
}

// ---------------------------------------------------------------------------------------------------------------
// graphs

/// Inputs pair up by position, so that input i's dimension j is axis i * MAX_RANK + j in both graphs.
static void run_graph(Abstractor *a, const MirageUGraph *graph, Info *values) {
  a->graph = graph;
  a->values = values;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    const MirageType *type = mirage_ugraph_type(graph, input);
    Info *info = info_of(a, input);
    info->expr = mirage_term_input(a->terms, i);
    clear_dims(info);
    for (uint32_t j = 0; j < type->rank; j++)
      if (type->shape[j] > 1)
        info->dims[j] = whole(a, (int32_t)(i * MIRAGE_MAX_RANK + j));
  }
  run_region(a, mirage_ugraph_body(graph));
}

/// A pair of outputs without an expression is never claimed to differ.
static MirageStatus outputs_differ(Abstractor *a, const MirageUGraph *x, const Info *x_values, const MirageUGraph *y,
                                   const Info *y_values, MirageOracle *oracle, bool *out_differ) {
  uint32_t count = mirage_ugraph_num_outputs(x);
  MirageExprTable *table = mirage_expr_table_create(NULL);
  MirageExpr *exprs = calloc((size_t)mirage_terms_count(a->terms) + 1, sizeof *exprs);
  if (table && exprs && !oracle)
    mirage_terms_normalize(a->terms, table, exprs);
  bool ready = table && exprs && mirage_expr_status(table) == MIRAGE_OK;
  for (uint32_t i = 0; ready && i < count && i < mirage_ugraph_num_outputs(y); i++) {
    MirageTerm first = x_values[mirage_ugraph_get_output(x, i).index].expr;
    MirageTerm second = y_values[mirage_ugraph_get_output(y, i).index].expr;
    MirageExpr left = exprs[first.index], right = exprs[second.index];
    if (oracle && first.index && second.index)
      *out_differ |= mirage_oracle_equal(oracle, first, second) != MIRAGE_ORACLE_SHOWN;
    else if (left.index && right.index)
      *out_differ |= left.index != right.index;
  }
  mirage_expr_table_destroy(table);
  free(exprs);
  return ready ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

/// Allocates what the runs need; false when memory is out.
static bool abstractor_init(Abstractor *a, const MirageUGraph *program) {
  int32_t input_axes = (int32_t)mirage_ugraph_num_inputs(program) * MIRAGE_MAX_RANK;
  *a = (Abstractor){.num_axes = input_axes};
  a->max_axes = input_axes + (int32_t)mirage_ugraph_num_nodes(program) * MIRAGE_MAX_RANK;
  a->terms = mirage_terms_create(NULL);
  a->parent = calloc((size_t)a->max_axes + 1, sizeof *a->parent);
  a->universe = calloc((size_t)a->max_axes + 1, sizeof *a->universe);
  for (int32_t i = 0; a->parent && i < input_axes; i++)
    a->parent[i] = i;
  return a->terms && a->parent && a->universe;
}

static void abstractor_deinit(Abstractor *a) {
  mirage_terms_destroy(a->terms);
  free(a->parent);
  free(a->universe);
}

MirageStatus mirage__expression_differs(const MirageUGraph *program, const MirageUGraph *candidate, bool ask_z3,
                                        const MirageDiag *diag, bool *out_differs) {
  *out_differs = false;
  MirageUGraph *expanded = NULL;
  MIRAGE_TRY(mirage_ugraph_expand(program, diag, &expanded));
  Abstractor a;
  MirageOracle *oracle = NULL;
  Info *x = calloc((size_t)mirage_ugraph_num_values(expanded) + 1, sizeof *x);
  Info *y = calloc((size_t)mirage_ugraph_num_values(candidate) + 1, sizeof *y);
  MirageStatus status = abstractor_init(&a, expanded) && x && y ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && ask_z3)
    status = mirage_oracle_create(a.terms, 0, MIRAGE_ORACLE_ALL, diag, &oracle);
  if (status == MIRAGE_OK) {
    a.unify = true;
    run_graph(&a, expanded, x);
    a.unify = false;
    run_graph(&a, candidate, y);
    run_graph(&a, expanded, x);
    run_graph(&a, candidate, y);
    status = mirage_terms_status(a.terms);
  }
  bool differ = false;
  if (status == MIRAGE_OK)
    status = outputs_differ(&a, expanded, x, candidate, y, oracle, &differ);
  if (status == MIRAGE_OK)
    *out_differs = differ;
  if (status == MIRAGE_NO_MEMORY)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_ERROR, NULL, "mirage-prune: out of memory");
  mirage_oracle_destroy(oracle);
  abstractor_deinit(&a);
  free(x);
  free(y);
  mirage_ugraph_destroy(expanded);
  return status;
}
