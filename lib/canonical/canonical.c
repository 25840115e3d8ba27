// canonical.c - rewrites kernel-level operators outside `custom` as custom nodes, one each.
//
// One kernel an operator, as a framework has it: softmax, norms and derived functions compute in f32 and round once
// (canonical_rows.c); attention is three kernels. Custom nodes are copied as they are. The program's own lowering - the
// baseline that candidates are measured against - therefore comes from the same generator as the candidates.
//
// A constant becomes part of the element-wise operators that use it; only where a tensor is needed does it get a kernel
// of its own. What is computed from constants alone is a constant: evaluated here, in its own type.
#include "mirage/canonical.h"
#include "canonical_op.h"
#include "mirage/eval.h"
#include <string.h>

typedef struct Rewrite {
  const MirageUGraph *from;
  MirageUGraph *to;
  const MirageTarget *target;
  const MirageDiag *diag;
  MirageArena arena;
  MirageValue *map;        // by value id of `from`; {0} for a constant that no kernel has written yet
  MirageAttrs **constants; // by value id of `from`: the constant that it is, or NULL
} Rewrite;

static MirageStatus rewrite_operator(Rewrite *rewrite, const MirageNodeView *view);

static MirageStatus out_of_memory(const Rewrite *rewrite, const MirageNodeView *view) {
  return mirage_diag_fail(rewrite->diag, view->loc, MIRAGE_NO_MEMORY, "canonicalize: out of memory");
}

// The value of an operator whose operands are these numbers everywhere, rounded to its type.
static double fold(const MirageNodeView *view, const MirageType *result, const double *operands) {
  const MirageDomain *real = mirage_domain_real();
  double value = operands[0];
  MirageOpKind kind = mirage_op_info(view->op)->kind;
  if (kind == MIRAGE_KIND_UNARY)
    real->unary(real, view->op, result, 1, operands, &value);
  else if (kind == MIRAGE_KIND_BINARY)
    real->binary(real, view->op, result, 1, operands, operands + 1, &value);
  else if (kind == MIRAGE_KIND_CAST)
    real->cast(real, result, 1, operands, &value);
  return value;
}

// Notes that a value is a constant, when it is.
static MirageStatus note_constant(Rewrite *rewrite, const MirageNodeView *view) {
  MirageOpKind kind = mirage_op_info(view->op)->kind;
  bool moves = kind == MIRAGE_KIND_SHAPE && view->num_operands == 1;
  bool folds = kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST || moves;
  double operands[2] = {0};
  if (view->op != MIRAGE_OP_CONSTANT && !folds)
    return MIRAGE_OK;
  for (uint32_t i = 0; i < view->num_operands; i++) {
    const MirageAttrs *constant = rewrite->constants[view->operands[i].index];
    if (!constant)
      return MIRAGE_OK;
    operands[i] = constant->constant.value;
  }
  MirageAttrs *attrs = mirage_arena_alloc_array(&rewrite->arena, 1, sizeof *attrs);
  if (!attrs)
    return out_of_memory(rewrite, view);
  if (view->op == MIRAGE_OP_CONSTANT) {
    *attrs = *view->attrs;
  } else {
    const MirageType *type = mirage_ugraph_type(rewrite->from, view->first_result);
    *attrs = (MirageAttrs){.constant = {*type, fold(view, type, operands)}};
  }
  rewrite->constants[view->first_result.index] = attrs;
  return MIRAGE_OK;
}

// Gives constants among the operands a kernel of their own.
static MirageStatus write_constants(Rewrite *rewrite, const MirageNodeView *view) {
  for (uint32_t i = 0; i < view->num_operands; i++) {
    MirageValue operand = view->operands[i];
    if (!rewrite->constants[operand.index] || rewrite->map[operand.index].index)
      continue;
    MirageNodeView constant = mirage_ugraph_node(rewrite->from, mirage_ugraph_def(rewrite->from, operand));
    constant.op = MIRAGE_OP_CONSTANT;
    constant.num_operands = 0;
    constant.attrs = rewrite->constants[operand.index];
    MIRAGE_TRY(rewrite_operator(rewrite, &constant));
  }
  return MIRAGE_OK;
}

static const MirageValue *mapped(Rewrite *rewrite, uint32_t count, const MirageValue *values) {
  MirageValue *out = mirage_arena_alloc_array(&rewrite->arena, (size_t)count + 1, sizeof *out);
  for (uint32_t i = 0; out && i < count; i++)
    out[i] = rewrite->map[values[i].index];
  return out;
}

static void map_results(Rewrite *rewrite, const MirageNodeView *view, MirageNode node) {
  for (uint32_t i = 0; i < view->num_results; i++)
    rewrite->map[view->first_result.index + i] = mirage_ugraph_result(rewrite->to, node, i);
}

static void copy_placement(Rewrite *rewrite, MirageValue old) {
  const MirageType *type = mirage_ugraph_type(rewrite->from, old);
  MirageValue copy = rewrite->map[old.index];
  if (copy.index && type->space != MIRAGE_SPACE_DEVICE)
    mirage_ugraph_set_placement(rewrite->to, copy, type->space, &type->layout);
}

static void copy_node(Rewrite *rewrite, MirageNode node);

static void copy_body(Rewrite *rewrite, const MirageNodeView *view, MirageNode copy) {
  MirageRegionView body = mirage_ugraph_region(rewrite->from, view->region);
  for (uint32_t i = 0; i < body.num_arguments; i++) {
    rewrite->map[body.first_argument.index + i] = mirage_ugraph_argument(rewrite->to, copy, i);
    copy_placement(rewrite, (MirageValue){body.first_argument.index + i});
  }
  for (uint32_t i = 0; i < body.num_nodes; i++)
    copy_node(rewrite, body.nodes[i]);
  if (view->op == MIRAGE_OP_CUSTOM)
    mirage_ugraph_close(rewrite->to, 0, NULL);
  map_results(rewrite, view, copy);
}

static void copy_custom(Rewrite *rewrite, const MirageNodeView *view, const MirageValue *operands) {
  MirageType *results = mirage_arena_alloc_array(&rewrite->arena, (size_t)view->num_results + 1, sizeof *results);
  for (uint32_t i = 0; results && i < view->num_results; i++)
    results[i] = *mirage_ugraph_type(rewrite->from, (MirageValue){view->first_result.index + i});
  if (results)
    copy_body(rewrite, view,
              mirage_ugraph_open_custom(rewrite->to, view->num_operands, operands, view->num_results, results,
                                        &view->attrs->custom));
}

// A node of a block or thread graph, as it is.
static void copy_node(Rewrite *rewrite, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(rewrite->from, node);
  const MirageValue *operands = mapped(rewrite, view.num_operands, view.operands);
  if (!operands)
    return; // the copy stays open and finish reports it
  mirage_ugraph_set_loc(rewrite->to, view.loc);
  switch (view.op) {
  case MIRAGE_OP_CUSTOM:
    copy_custom(rewrite, &view, operands);
    return;
  case MIRAGE_OP_LOOP:
    copy_body(rewrite, &view, mirage_ugraph_open_loop(rewrite->to, view.num_operands, operands, &view.attrs->loop));
    break;
  case MIRAGE_OP_THREAD:
    copy_body(rewrite, &view, mirage_ugraph_open_thread(rewrite->to, view.num_operands, operands));
    break;
  case MIRAGE_OP_YIELD:
    mirage_ugraph_close(rewrite->to, view.num_operands, operands);
    return;
  case MIRAGE_OP_STORE:
    mirage_ugraph_store(rewrite->to, operands[0], operands[1], &view.attrs->access);
    return;
  default:
    rewrite->map[view.first_result.index] =
        mirage_ugraph_apply(rewrite->to, view.op, view.num_operands, operands, view.attrs);
  }
  for (uint32_t i = 0; i < view.num_results; i++)
    copy_placement(rewrite, (MirageValue){view.first_result.index + i});
}

// softmax(q @ k^T * scale) @ v
static MirageStatus rewrite_attention(Rewrite *rewrite, const CanonicalOp *op, MirageValue *out_result) {
  const MirageAttrs transposed = {.matmul = {.transpose_b = true}};
  CanonicalOp scores = *op, weights = *op, product = *op;
  scores.op = MIRAGE_OP_MATMUL;
  scores.num_operands = 2;
  scores.attrs = &transposed;
  MIRAGE_TRY(mirage_op_infer(MIRAGE_OP_MATMUL, MIRAGE_LEVEL_KERNEL, 2, op->operand_types, &transposed, NULL,
                             rewrite->diag, NULL, &scores.result));
  MirageValue score = mirage__canonical_matmul(&scores);
  const MirageAttrs last = {.dim = {(int32_t)scores.result.rank - 1}};
  weights.op = MIRAGE_OP_SOFTMAX;
  weights.num_operands = 1;
  weights.attrs = &last;
  weights.operands = &score;
  weights.operand_types = &scores.result;
  weights.result = scores.result;
  weights.scale = op->attrs->sdpa.scale;
  const MirageValue operands[] = {mirage__canonical_rows(&weights), op->operands[2]};
  const MirageType types[] = {scores.result, op->operand_types[2]};
  product.op = MIRAGE_OP_MATMUL;
  product.num_operands = 2;
  product.attrs = NULL;
  product.operands = operands;
  product.operand_types = types;
  *out_result = mirage__canonical_matmul(&product);
  return MIRAGE_OK;
}

static MirageStatus rewrite_by_kind(Rewrite *rewrite, const CanonicalOp *op, const void *loc, MirageValue *out_result) {
  switch (mirage_op_info(op->op)->kind) {
  case MIRAGE_KIND_MATMUL:
    *out_result = mirage__canonical_matmul(op);
    return MIRAGE_OK;
  case MIRAGE_KIND_REDUCE:
    *out_result = mirage__canonical_reduce(op);
    return MIRAGE_OK;
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
  case MIRAGE_KIND_CAST:
  case MIRAGE_KIND_CONSTANT:
  case MIRAGE_KIND_IOTA:
  case MIRAGE_KIND_SHAPE:
    *out_result = op->op == MIRAGE_OP_RESHAPE // the same memory
                      ? mirage_ugraph_apply(op->graph, op->op, 1, op->operands, op->attrs)
                      : mirage__canonical_pointwise(op);
    return MIRAGE_OK;
  case MIRAGE_KIND_SUGAR:
    if (op->op == MIRAGE_OP_SDPA)
      return rewrite_attention(rewrite, op, out_result);
    if (op->op == MIRAGE_OP_SELECT || mirage_op_is_function(op->op)) {
      *out_result = mirage__canonical_pointwise(op);
      return MIRAGE_OK;
    }
    *out_result = mirage__canonical_rows(op);
    return MIRAGE_OK;
  default:
    return mirage_diag_fail(rewrite->diag, loc, MIRAGE_UNSUPPORTED, "%s: has no canonical block graph",
                            mirage_op_info(op->op)->mnemonic);
  }
}

static MirageStatus rewrite_operator(Rewrite *rewrite, const MirageNodeView *view) {
  MirageOpKind kind = mirage_op_info(view->op)->kind;
  bool folds = kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || view->op == MIRAGE_OP_SELECT ||
               mirage_op_is_function(view->op);
  if (!folds)
    MIRAGE_TRY(write_constants(rewrite, view));
  const MirageValue *operands = mapped(rewrite, view->num_operands, view->operands);
  MirageType *types = mirage_arena_alloc_array(&rewrite->arena, (size_t)view->num_operands + 1, sizeof *types);
  const MirageAttrs **constants =
      mirage_arena_alloc_array(&rewrite->arena, (size_t)view->num_operands + 1, sizeof *constants);
  if (!operands || !types || !constants)
    return out_of_memory(rewrite, view);
  for (uint32_t i = 0; i < view->num_operands; i++) {
    types[i] = *mirage_ugraph_type(rewrite->from, view->operands[i]);
    constants[i] = folds ? rewrite->constants[view->operands[i].index] : NULL;
  }
  mirage_ugraph_set_loc(rewrite->to, view->loc);
  const CanonicalOp op = {.graph = rewrite->to,
                          .target = rewrite->target,
                          .op = view->op,
                          .attrs = view->attrs,
                          .num_operands = view->num_operands,
                          .operands = operands,
                          .operand_types = types,
                          .constants = constants,
                          .result = *mirage_ugraph_type(rewrite->from, view->first_result),
                          .scale = 1};
  MirageValue result = {0};
  MIRAGE_TRY(rewrite_by_kind(rewrite, &op, view->loc, &result));
  rewrite->map[view->first_result.index] = result;
  return mirage_ugraph_status(rewrite->to);
}

static MirageStatus rewrite_body(Rewrite *rewrite) {
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(rewrite->from); i++) {
    MirageValue input = mirage_ugraph_get_input(rewrite->from, i);
    rewrite->map[input.index] = mirage_ugraph_input(rewrite->to, *mirage_ugraph_type(rewrite->from, input));
  }
  MirageRegionView body = mirage_ugraph_region(rewrite->from, mirage_ugraph_body(rewrite->from));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView view = mirage_ugraph_node(rewrite->from, body.nodes[i]);
    MIRAGE_TRY(note_constant(rewrite, &view));
    if (rewrite->constants[view.first_result.index])
      continue;
    if (view.op == MIRAGE_OP_CUSTOM || view.op == MIRAGE_OP_RETURN)
      MIRAGE_TRY(write_constants(rewrite, &view));
    if (view.op == MIRAGE_OP_CUSTOM) {
      copy_node(rewrite, body.nodes[i]);
    } else if (view.op == MIRAGE_OP_RETURN) {
      const MirageValue *results = mapped(rewrite, view.num_operands, view.operands);
      if (!results)
        return out_of_memory(rewrite, &view);
      mirage_ugraph_return(rewrite->to, view.num_operands, results);
    } else {
      MIRAGE_TRY(rewrite_operator(rewrite, &view));
    }
  }
  return mirage_ugraph_finish(rewrite->to);
}

static void copy_meta(const MirageUGraph *from, MirageUGraph *to) {
  const MirageGraphMeta *old = mirage_ugraph_get_meta(from);
  MirageGraphMeta *meta = mirage_ugraph_meta(to);
  const char *name = meta->name;
  *meta = *old;
  meta->name = name;
  meta->source = old->source ? mirage_ugraph_intern_string(to, old->source) : NULL;
}

static MirageStatus canonicalize(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                                 MirageUGraph **out_graph) {
  Rewrite rewrite = {.from = graph, .target = target, .diag = diag};
  mirage_arena_init(&rewrite.arena, NULL);
  rewrite.to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(graph)->name, diag);
  rewrite.map =
      mirage_arena_alloc_array(&rewrite.arena, (size_t)mirage_ugraph_num_values(graph) + 1, sizeof *rewrite.map);
  rewrite.constants =
      mirage_arena_alloc_array(&rewrite.arena, (size_t)mirage_ugraph_num_values(graph) + 1, sizeof *rewrite.constants);
  MirageStatus status = MIRAGE_OK;
  if (!rewrite.to || !rewrite.map || !rewrite.constants)
    status = mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "canonicalize: out of memory");
  else
    status = rewrite_body(&rewrite);
  if (status == MIRAGE_OK) {
    copy_meta(graph, rewrite.to);
    *out_graph = rewrite.to;
  } else {
    mirage_ugraph_destroy(rewrite.to);
  }
  mirage_arena_deinit(&rewrite.arena);
  return status;
}

static bool has_masked_attention(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_SDPA && mirage_attention_is_masked(node.num_operands, node.attrs))
      return true;
  }
  return false;
}

MirageStatus mirage_canonicalize(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                                 MirageUGraph **out_graph) {
  if (!out_graph || !graph || !target)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "canonicalize: graph, target and result are all needed");
  *out_graph = NULL;
  if (!has_masked_attention(graph))
    return canonicalize(graph, target, diag, out_graph);
  MirageUGraph *expanded;
  MIRAGE_TRY(mirage_ugraph_expand_masks(graph, diag, &expanded));
  MirageStatus status = canonicalize(expanded, target, diag, out_graph);
  mirage_ugraph_destroy(expanded);
  return status;
}
