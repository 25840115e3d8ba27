// search_dots.c - products of one row with the rows of weights, as sums of element-wise products.
//
//   y [1, N] = x [1, K] @ transpose(w [N, K])    =    reshape(sum over k of x * w, [N, 1])
//
// What follows is written upright too, [N, 1] for [1, N], down to the results. As a program of its own it is one of rows: a block
// takes a row of w as it lies, each thread a piece of it, and nothing passes through the matrix instruction, of which one row
// would use an eighth. Small blocks, many on a multiprocessor, read weights faster than large ones that multiply (H100: 3.05 TB/s and
// 2.75). The search tries both.
//
// Example: silu(x w') * (x v') with x normalised is one kernel that reads two rows a block and x, which all blocks share.
#include "search/views/search_dots.h"

#include <stdlib.h>

typedef struct Dots {
  const MirageUGraph *from;
  MirageUGraph *to;
  MirageValue *map; // by value of `from`
  bool *upright;    // by value of `from`: its column, not its row, is in `map`
  bool any, failed;
} Dots;

static const MirageType *type_of(const Dots *dots, MirageValue value) { return mirage_ugraph_type(dots->from, value); }

static bool is_row(const MirageType *type) { return type->rank == 2 && type->shape[0] == 1; }

static MirageType column_of(const MirageType *row) {
  return mirage_type_tensor(row->dtype, 2, (int64_t[]){row->shape[row->rank - 1], 1});
}

static bool is_dot(const Dots *dots, const MirageNodeView *node) {
  const MirageType *b = type_of(dots, node->operands[1]);
  return is_row(type_of(dots, node->operands[0])) && b->rank == 2 && b->shape[0] > 1 && b->shape[1] > 1 &&
         !node->attrs->matmul.transpose_a && node->attrs->matmul.transpose_b &&
         !dots->upright[node->operands[0].index] && !dots->upright[node->operands[1].index];
}

static MirageValue apply(Dots *dots, MirageOp op, MirageValue a, const MirageAttrs *attrs) {
  return mirage_ugraph_apply(dots->to, op, 1, &a, attrs);
}

// Sums in f32, and rounds once, as the product does.
static MirageValue dot(Dots *dots, const MirageNodeView *node) {
  MirageValue factors[2];
  for (int i = 0; i < 2; i++)
    factors[i] = mirage_ugraph_cast(dots->to, dots->map[node->operands[i].index], MIRAGE_F32);
  MirageValue products = mirage_ugraph_apply(dots->to, MIRAGE_OP_MUL, 2, factors, NULL);
  MirageAttrs along = {.reduce = {.dim = 1, .extent = 1}};
  return mirage_ugraph_cast(dots->to, apply(dots, MIRAGE_OP_REDUCE_SUM, products, &along),
                            type_of(dots, node->first_result)->dtype);
}

// An operand of what is written upright: of a row its column, where that is a view of an input or a number.
static MirageValue column(Dots *dots, MirageValue value) {
  const MirageType *type = type_of(dots, value);
  MirageNode def = mirage_ugraph_def(dots->from, value);
  if (dots->upright[value.index] || mirage_type_elements(type) == 1)
    return dots->map[value.index];
  const MirageType column = column_of(type);
  if (mirage_type_elements(type) != column.shape[0] ||
      (def.index && mirage_ugraph_node(dots->from, def).op != MIRAGE_OP_CONSTANT))
    dots->failed = true;
  else if (def.index)
    return mirage_ugraph_constant(dots->to, column, mirage_ugraph_node(dots->from, def).attrs->constant.value);
  else
    return apply(dots, MIRAGE_OP_RESHAPE, dots->map[value.index], &(MirageAttrs){.shape = {.type = column}});
  return (MirageValue){0};
}

// An element-wise operator on columns.
static MirageValue elementwise(Dots *dots, const MirageNodeView *node) {
  MirageValue operands[2] = {{0}};
  for (uint32_t i = 0; i < node->num_operands && i < 2; i++)
    operands[i] = column(dots, node->operands[i]);
  if (dots->failed)
    return (MirageValue){0};
  if (node->op == MIRAGE_OP_CAST)
    return mirage_ugraph_cast(dots->to, operands[0], type_of(dots, node->first_result)->dtype);
  return mirage_ugraph_apply(dots->to, node->op, node->num_operands, operands, node->attrs);
}

static void rewrite(Dots *dots, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(dots->from, id);
  MirageOpKind kind = mirage_op_info(node.op)->kind;
  bool upright = false;
  for (uint32_t i = 0; i < node.num_operands; i++)
    upright |= dots->upright[node.operands[i].index];
  mirage_ugraph_set_loc(dots->to, node.loc);
  if (kind == MIRAGE_KIND_TERMINATOR)
    return;
  if (kind == MIRAGE_KIND_MATMUL) {
    dots->failed |= !is_dot(dots, &node);
    dots->any = upright = true;
    if (!dots->failed)
      dots->map[node.first_result.index] = dot(dots, &node);
  } else if (!upright) {
    mirage_ugraph_copy_nodes(dots->to, dots->from, 1, &id, dots->map);
  } else if (kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST) {
    dots->failed |= !is_row(type_of(dots, node.first_result));
    if (!dots->failed)
      dots->map[node.first_result.index] = elementwise(dots, &node);
  } else {
    dots->failed = true;
  }
  if (node.num_results)
    dots->upright[node.first_result.index] = upright;
}

static MirageStatus finish(Dots *dots) {
  uint32_t count = mirage_ugraph_num_outputs(dots->from);
  MirageValue *results = calloc((size_t)count + 1, sizeof *results);
  if (!results)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < count; i++) {
    MirageValue output = mirage_ugraph_get_output(dots->from, i);
    results[i] = dots->map[output.index];
    if (dots->upright[output.index])
      results[i] =
          apply(dots, MIRAGE_OP_RESHAPE, results[i], &(MirageAttrs){.shape = {.type = *type_of(dots, output)}});
  }
  mirage_ugraph_return(dots->to, count, results);
  free(results);
  return mirage_ugraph_finish(dots->to);
}

static MirageStatus rewrite_all(Dots *dots) {
  MirageRegionView body = mirage_ugraph_region(dots->from, mirage_ugraph_body(dots->from));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(dots->from); i++) {
    MirageValue input = mirage_ugraph_get_input(dots->from, i);
    dots->map[input.index] = mirage_ugraph_input(dots->to, *type_of(dots, input));
  }
  for (uint32_t i = 0; i < body.num_nodes && !dots->failed && mirage_ugraph_status(dots->to) == MIRAGE_OK; i++)
    rewrite(dots, body.nodes[i]);
  dots->failed |= !dots->any;
  return dots->failed ? mirage_ugraph_status(dots->to) : finish(dots);
}

MirageStatus mirage__search_dots(const MirageUGraph *program, const MirageDiag *diag, MirageUGraph **out_graph) {
  MirageUGraph *expanded;
  *out_graph = NULL;
  MIRAGE_TRY(mirage_ugraph_expand(program, diag, &expanded));
  size_t values = (size_t)mirage_ugraph_num_values(expanded) + 1;
  Dots dots = {.from = expanded,
               .to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(program)->name, diag),
               .map = calloc(values, sizeof(MirageValue)),
               .upright = calloc(values, sizeof(bool))};
  MirageStatus status = dots.to && dots.map && dots.upright ? rewrite_all(&dots) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK && !dots.failed)
    *out_graph = dots.to;
  else
    mirage_ugraph_destroy(dots.to);
  free(dots.map);
  free(dots.upright);
  mirage_ugraph_destroy(expanded);
  return status;
}
