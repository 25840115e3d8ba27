// search_grouped.c - products whose contraction comes in groups: a batch of products, and their sum.
//
// Weights with a scale for each group of rows are computed as [G, R, N] and seen as [G R, N] by the product. No axis of a
// block graph is both; but the same is a product for each group, of the group's part of either operand, and a sum over
// the groups. The left operand is written with groups in front as well: down to its inputs, where that is a view.
//
//   x [M, G R] @ reshape(w [G, R, N])              =   sum over g of x_g [G, M, R] @ w [G, R, N]
//   x [M, G R] @ transpose(reshape(w [N, G, R]))   =   sum over g of x_g [G, M, R] @ transpose(w_g [G, N, R])
//
// The second is how frameworks keep weights; there the groups are brought in front down to what nothing is known of, too.
//
// Example:  w is i4, cast, reshaped, less zero points [G, 1, N], times scales [G, 1, N]: int4 in groups along the
//           contraction. What is found loads a group's scales beside its weights, or scales each group's sum.
#include "search/views/search_grouped.h"

#include <stdlib.h>
#include <string.h>

// One product being rewritten.
typedef struct Grouped {
  const MirageUGraph *from;
  MirageUGraph *to;
  const MirageValue *map; // by value of `from`
  MirageValue *split;     // by value of `from`: with groups in front, once asked for
  MirageValue *turned;    // the same of a weight [N, G, R]
  int64_t groups, rows;
  bool transposed; // the weight is [N, G, R]
} Grouped;

static MirageNodeView def_of(const MirageUGraph *graph, MirageValue value) {
  MirageNode node = mirage_ugraph_def(graph, value);
  return node.index ? mirage_ugraph_node(graph, node) : (MirageNodeView){0};
}

static bool is_elementwise(MirageOp op) {
  if (op == MIRAGE_OP_NONE)
    return false;
  MirageOpKind kind = mirage_op_info(op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST;
}

// The weight in groups, [G, R, N] or transposed [N, G, R], where the product is of matrices and its weight is computed so;
// else {0}.
static MirageValue grouped_weight(const MirageUGraph *graph, const MirageNodeView *node) {
  const MirageValue none = {0};
  if (node->op != MIRAGE_OP_MATMUL || node->attrs->matmul.transpose_a)
    return none;
  bool transposed = node->attrs->matmul.transpose_b;
  MirageNodeView reshape = def_of(graph, node->operands[1]);
  if (reshape.op != MIRAGE_OP_RESHAPE || !is_elementwise(def_of(graph, reshape.operands[0]).op))
    return none;
  const MirageType *a = mirage_ugraph_type(graph, node->operands[0]), *b = mirage_ugraph_type(graph, node->operands[1]);
  const MirageType *weight = mirage_ugraph_type(graph, reshape.operands[0]);
  uint32_t columns = transposed ? 0 : 2, groups = transposed ? 1 : 0;
  bool fits = a->rank == 2 && b->rank == 2 && weight->rank == 3 &&
              weight->shape[columns] == b->shape[transposed ? 0 : 1] && weight->shape[groups] > 1 &&
              weight->shape[groups + 1] > 1;
  return fits ? reshape.operands[0] : none;
}

// -------------------------------------------------------------------------------------------------- the left operand

static MirageValue apply(Grouped *grouped, MirageOp op, MirageValue a, const MirageAttrs *attrs) {
  return mirage_ugraph_apply(grouped->to, op, 1, &a, attrs);
}

// A cast of a stored type, of which no operator but a reshape takes a tensor: what moves it comes behind.
static bool casts_stored(const Grouped *grouped, const MirageNodeView *def) {
  return def->op == MIRAGE_OP_CAST &&
         mirage_dtype_is_stored(mirage_ugraph_type(grouped->from, def->operands[0])->dtype);
}

// [m, G R] (or [m, 1], [G R]) as [G, m, R] (or [1, m, 1], [G, 1, R]).
static void split_shape(const Grouped *grouped, const MirageType *type, int64_t *out) {
  bool contracted = type->shape[type->rank - 1] == grouped->groups * grouped->rows;
  out[0] = contracted ? grouped->groups : 1;
  out[1] = type->rank == 2 ? type->shape[0] : 1;
  out[2] = contracted ? grouped->rows : type->shape[type->rank - 1];
}

// A value that nothing is known of: a view of it.
static MirageValue split_leaf(Grouped *grouped, MirageValue value) {
  const MirageType *type = mirage_ugraph_type(grouped->from, value);
  MirageNodeView def = def_of(grouped->from, value);
  int64_t shape[3];
  split_shape(grouped, type, shape);
  if (def.op == MIRAGE_OP_CONSTANT)
    return mirage_ugraph_constant(grouped->to, mirage_type_tensor(type->dtype, 3, shape), def.attrs->constant.value);
  MirageAttrs apart = {
      .shape = {.type = mirage_type_tensor(type->dtype, 3, (int64_t[]){shape[1], shape[0], shape[2]})}};
  MirageAttrs turn = {.perm = {{1, 0, 2}}};
  return apply(grouped, MIRAGE_OP_TRANSPOSE, apply(grouped, MIRAGE_OP_RESHAPE, grouped->map[value.index], &apart),
               &turn);
}

static MirageValue split(Grouped *grouped, MirageValue value);

// Over the contracted dimension: over rows, then groups.
static MirageValue split_reduction(Grouped *grouped, const MirageNodeView *def) {
  MirageAttrs rows = *def->attrs, groups = *def->attrs;
  rows.reduce.dim = 2;
  groups.reduce.dim = 0;
  return apply(grouped, def->op, apply(grouped, def->op, split(grouped, def->operands[0]), &rows), &groups);
}

static MirageValue split_node(Grouped *grouped, MirageValue value) {
  MirageNodeView def = def_of(grouped->from, value);
  const MirageType *type = mirage_ugraph_type(grouped->from, value);
  if (type->rank == 0)
    return grouped->map[value.index];
  if (def.op == MIRAGE_OP_NONE)
    return split_leaf(grouped, value);
  bool reduces = mirage_op_info(def.op)->kind == MIRAGE_KIND_REDUCE && def.attrs->reduce.dim == 1 &&
                 def.attrs->reduce.extent == 1 && type->rank == 2;
  if (reduces)
    return split_reduction(grouped, &def);
  if (!is_elementwise(def.op) || casts_stored(grouped, &def))
    return split_leaf(grouped, value);
  MirageValue operands[2] = {split(grouped, def.operands[0]), {0}};
  if (def.num_operands == 2)
    operands[1] = split(grouped, def.operands[1]);
  if (def.op == MIRAGE_OP_CAST)
    return mirage_ugraph_cast(grouped->to, operands[0], type->dtype);
  return mirage_ugraph_apply(grouped->to, def.op, def.num_operands, operands, def.attrs);
}

static MirageValue split(Grouped *grouped, MirageValue value) {
  MirageValue *known = &grouped->split[value.index];
  if (!known->index)
    *known = split_node(grouped, value);
  return *known;
}

// -------------------------------------------------------------------------------------------------- a turned weight

// [N, G, R], and what stretches to it, with groups in front.
static MirageValue turned(Grouped *grouped, MirageValue value);

static MirageValue turn_leaf(Grouped *grouped, MirageValue value) {
  const MirageType *type = mirage_ugraph_type(grouped->from, value);
  MirageNodeView def = def_of(grouped->from, value);
  int64_t shape[3] = {1, 1, 1}; // [N, G, R]
  for (uint32_t d = 0; d < type->rank; d++)
    shape[3 - type->rank + d] = type->shape[d];
  if (def.op == MIRAGE_OP_CONSTANT)
    return mirage_ugraph_constant(grouped->to,
                                  mirage_type_tensor(type->dtype, 3, (int64_t[]){shape[1], shape[0], shape[2]}),
                                  def.attrs->constant.value);
  MirageValue whole = grouped->map[value.index];
  if (type->rank < 3)
    whole = apply(grouped, MIRAGE_OP_RESHAPE, whole,
                  &(MirageAttrs){.shape = {.type = mirage_type_tensor(type->dtype, 3, shape)}});
  return apply(grouped, MIRAGE_OP_TRANSPOSE, whole, &(MirageAttrs){.perm = {{1, 0, 2}}});
}

// Whether it makes [N, G, R] of [N, G R]: the same split as the left operand's.
static bool splits_rows(const Grouped *grouped, const MirageNodeView *reshape) {
  const MirageType *from = mirage_ugraph_type(grouped->from, reshape->operands[0]);
  const MirageType *to = mirage_ugraph_type(grouped->from, reshape->first_result);
  return from->rank == 2 && to->rank == 3 && to->shape[0] == from->shape[0] && to->shape[1] == grouped->groups &&
         to->shape[2] == grouped->rows;
}

static MirageValue turn_node(Grouped *grouped, MirageValue value) {
  MirageNodeView def = def_of(grouped->from, value);
  if (mirage_ugraph_type(grouped->from, value)->rank == 0)
    return grouped->map[value.index];
  if (def.op == MIRAGE_OP_RESHAPE && splits_rows(grouped, &def))
    return split(grouped, def.operands[0]);
  if (!is_elementwise(def.op) || casts_stored(grouped, &def))
    return turn_leaf(grouped, value);
  MirageValue operands[2] = {turned(grouped, def.operands[0]), {0}};
  if (def.num_operands == 2)
    operands[1] = turned(grouped, def.operands[1]);
  if (def.op == MIRAGE_OP_CAST)
    return mirage_ugraph_cast(grouped->to, operands[0], mirage_ugraph_type(grouped->from, value)->dtype);
  return mirage_ugraph_apply(grouped->to, def.op, def.num_operands, operands, def.attrs);
}

static MirageValue turned(Grouped *grouped, MirageValue value) {
  MirageValue *known = &grouped->turned[value.index];
  if (!known->index)
    *known = turn_node(grouped, value);
  return *known;
}

// ------------------------------------------------------------------------------------------------------ the program

static MirageValue sum_of_groups(Grouped *grouped, const MirageNodeView *node, MirageValue weight) {
  MirageUGraph *to = grouped->to;
  const MirageType *type = mirage_ugraph_type(grouped->from, node->first_result);
  const MirageAttrs wide = {.matmul = {.wide = true, .transpose_b = grouped->transposed}},
                    over = {.reduce = {.dim = 0, .extent = 1}};
  MirageValue operands[] = {split(grouped, node->operands[0]),
                            grouped->transposed ? turned(grouped, weight) : grouped->map[weight.index]};
  MirageValue sum =
      apply(grouped, MIRAGE_OP_REDUCE_SUM, mirage_ugraph_apply(to, MIRAGE_OP_MATMUL, 2, operands, &wide), &over);
  if (type->dtype != MIRAGE_F32)
    sum = mirage_ugraph_cast(to, sum, type->dtype);
  return apply(grouped, MIRAGE_OP_RESHAPE, sum, &(MirageAttrs){.shape = {.type = *type}});
}

static void rewrite(const MirageUGraph *program, MirageUGraph *to, MirageValue *map, MirageValue *scratch) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  size_t values = (size_t)mirage_ugraph_num_values(program) + 1;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++) {
    MirageValue input = mirage_ugraph_get_input(program, i);
    map[input.index] = mirage_ugraph_input(to, *mirage_ugraph_type(program, input));
  }
  for (uint32_t i = 0; i < body.num_nodes && mirage_ugraph_status(to) == MIRAGE_OK; i++) {
    MirageNodeView node = mirage_ugraph_node(program, body.nodes[i]);
    MirageValue weight = grouped_weight(program, &node);
    if (!weight.index) {
      mirage_ugraph_copy_nodes(to, program, 1, &body.nodes[i], map);
      continue;
    }
    const MirageType *type = mirage_ugraph_type(program, weight);
    memset(scratch, 0, 2 * values * sizeof *scratch);
    bool transposed = node.attrs->matmul.transpose_b;
    Grouped grouped = {
        program, to, map, scratch, scratch + values, type->shape[transposed], type->shape[1 + transposed], transposed};
    mirage_ugraph_set_loc(to, node.loc);
    map[node.first_result.index] = sum_of_groups(&grouped, &node, weight);
  }
}

static bool has_grouped(const MirageUGraph *program) {
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  bool found = false;
  for (uint32_t i = 0; i < body.num_nodes && !found; i++) {
    MirageNodeView node = mirage_ugraph_node(program, body.nodes[i]);
    found = grouped_weight(program, &node).index != 0;
  }
  return found;
}

MirageStatus mirage__search_group(const MirageUGraph *program, const MirageDiag *diag, MirageUGraph **out_graph) {
  *out_graph = NULL;
  if (!has_grouped(program))
    return MIRAGE_OK;
  size_t values = (size_t)mirage_ugraph_num_values(program) + 1;
  MirageUGraph *to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(program)->name, diag);
  MirageValue *map = calloc(3 * values, sizeof *map);
  MirageStatus status = to && map ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    rewrite(program, to, map, map + values);
    status = mirage_ugraph_finish(to);
  }
  free(map);
  if (status == MIRAGE_OK)
    *out_graph = to;
  else
    mirage_ugraph_destroy(to);
  return status;
}
