// eval.c - reference evaluation of a µGraph: the meaning of every operator, in any number domain.
//
// Call order:  mirage_eval walks the kernel region; a custom kernel goes to eval_block.c; a plain operator goes to
//              eval_ops.c, which turns shapes into dense arrays and asks the domain for the arithmetic.
// Memory:      a kernel-level tensor lives from its definition to its last reader, and an element-wise operator that
//              is the last reader writes over it; a custom kernel's tiles live while it runs and are reused by the next
//              group of blocks.
// Left out:    nodes of the kernel level that no output needs.
// Threads:     operators are cut into pieces (eval_split.c) that threads share (eval_tasks.c), custom kernels into
//              groups of blocks.
// Sugar:       rms_norm and its like mean their expansion (lib/ugraph/expand.c) computed in f32, with one rounding at
//              the end, as a framework's fused operator does. In the other domains this makes no difference.
// Source:      [Mirage 2, 5]
#include "eval_internal.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_GIB = 8 };

MirageStatus mirage__eval_alloc(Eval *eval, size_t count, void **out_data) {
  *out_data = NULL;
  if (count > eval->max_bytes / eval->size || count * eval->size > eval->max_bytes - eval->bytes)
    return mirage_diag_fail(eval->diag, NULL, MIRAGE_LIMIT,
                            "evaluation: memory limit reached: %zu bytes in use, %zu allowed", eval->bytes,
                            eval->max_bytes);
  *out_data = mirage_eval_memory_take(eval->memory, count * eval->size);
  if (!*out_data)
    return mirage_diag_fail(eval->diag, NULL, MIRAGE_NO_MEMORY, "evaluation: out of memory");
  eval->bytes += count * eval->size;
  return MIRAGE_OK;
}

void mirage__eval_free(Eval *eval, void *data, size_t count) {
  if (!data)
    return;
  mirage_eval_memory_give(eval->memory, data, count * eval->size);
  eval->bytes -= count * eval->size;
}

MirageStatus mirage__eval_scratch(Eval *eval, uint32_t slot, size_t count, void **out_data) {
  EvalScratch *scratch = &eval->scratch[slot];
  size_t have = scratch->bytes / eval->size;
  if (have < count) {
    mirage__eval_free(eval, scratch->data, have);
    *scratch = (EvalScratch){0};
    MIRAGE_TRY(mirage__eval_alloc(eval, count, &scratch->data));
    scratch->bytes = count * eval->size;
  }
  *out_data = scratch->data;
  return MIRAGE_OK;
}

MirageStatus mirage__eval_report(Eval *eval, MirageOp op, const void *loc, MirageStatus status) {
  if (status != MIRAGE_UNSUPPORTED)
    return status;
  return mirage_diag_fail(eval->diag, loc, status, "%s: no rule in the domain %s", mirage_op_info(op)->mnemonic,
                          eval->domain->name);
}

// -------------------------------------------------------------------------------------------------------- kernel level

// Sugar on the same operands in f32: {sugar} alone in a graph, expanded, evaluated, then one conversion.
static MirageStatus eval_sugar(Eval *eval, const MirageNodeView *node, const MirageType *result, void *out) {
  MirageUGraph *alone = mirage_ugraph_create(NULL, "sugar", eval->diag), *expanded = NULL;
  const void *inputs[4];
  MirageValue operands[4];
  if (!alone)
    return MIRAGE_NO_MEMORY;
  mirage_ugraph_set_loc(alone, node->loc);
  for (uint32_t i = 0; i < node->num_operands && i < 4; i++) {
    const MirageType *type = mirage_ugraph_type(eval->graph, node->operands[i]);
    bool number = mirage_dtype_family(type->dtype) == MIRAGE_FAMILY_FLOAT;
    int64_t one = 1; // a constant of rank 0 is no input
    MirageType input = mirage_type_tensor(number ? MIRAGE_F32 : type->dtype, type->rank ? type->rank : 1,
                                          type->rank ? type->shape : &one);
    operands[i] = mirage_ugraph_input(alone, input);
    inputs[i] = eval->data[node->operands[i].index];
  }
  MirageValue y = mirage_ugraph_apply(alone, node->op, node->num_operands, operands, node->attrs);
  mirage_ugraph_return(alone, 1, &y);
  MirageStatus status = mirage_ugraph_finish(alone);
  if (status == MIRAGE_OK)
    status = mirage_ugraph_expand(alone, eval->diag, &expanded);
  if (status == MIRAGE_OK) {
    MirageEvalOptions rest = {.max_bytes = eval->max_bytes - eval->bytes,
                              .num_threads = mirage__eval_pool_threads(eval->pool),
                              .cancel = eval->cancel,
                              .memory = eval->memory,
                              .keep_maxima = eval->maxima_ahead};
    status = mirage_eval(expanded, eval->domain, inputs, &out, &rest, eval->diag);
  }
  if (status == MIRAGE_OK)
    status = eval->domain->cast(eval->domain, result, (size_t)mirage_type_elements(result), out, out);
  mirage_ugraph_destroy(expanded);
  mirage_ugraph_destroy(alone);
  return status;
}

// The operand whose storage an element-wise node may write its result to: nobody reads it any more. Or NULL.
static void *take_operand(Eval *eval, const MirageNodeView *node) {
  MirageOpKind kind = mirage_op_info(node->op)->kind;
  if (kind != MIRAGE_KIND_UNARY && kind != MIRAGE_KIND_BINARY && kind != MIRAGE_KIND_CAST)
    return NULL;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    uint32_t v = node->operands[i].index;
    if (!eval->owned[v] || eval->uses_left[v] != 1 ||
        !mirage_type_same_shape(mirage_ugraph_type(eval->graph, node->operands[i]),
                                mirage_ugraph_type(eval->graph, node->first_result)))
      continue;
    eval->owned[v] = false; // its pointer stays, for the operator to read
    return eval->data[v];
  }
  return NULL;
}

static MirageStatus eval_node(Eval *eval, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(eval->graph, id);
  eval->maxima_ahead = false;
  for (uint32_t i = 0; i < node.num_results; i++) {
    uint32_t v = node.first_result.index + i;
    const MirageType *type = mirage_ugraph_type(eval->graph, (MirageValue){v});
    eval->maxima_ahead |= eval->leads_to_maxima[v];
    eval->data[v] = take_operand(eval, &node);
    if (!eval->data[v])
      MIRAGE_TRY(mirage__eval_alloc(eval, (size_t)mirage_type_elements(type), &eval->data[v]));
    eval->owned[v] = true;
  }
  if (node.op == MIRAGE_OP_CUSTOM)
    return mirage__eval_custom(eval, id);
  const MirageType *result = mirage_ugraph_type(eval->graph, node.first_result);
  void *out = eval->data[node.first_result.index];
  if (mirage_op_info(node.op)->kind == MIRAGE_KIND_SUGAR)
    return eval_sugar(eval, &node, result, out);
  const MirageType **types = malloc((node.num_operands + 1) * sizeof *types);
  const void **operands = malloc((node.num_operands + 1) * sizeof *operands);
  MirageStatus status = types && operands ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; status == MIRAGE_OK && i < node.num_operands; i++) {
    types[i] = mirage_ugraph_type(eval->graph, node.operands[i]);
    operands[i] = eval->data[node.operands[i].index];
  }
  if (status == MIRAGE_OK)
    status = mirage__eval_operator(eval, &node, types, operands, result, out);
  free(types);
  free(operands);
  return status;
}

static void free_value(Eval *eval, uint32_t v) {
  const MirageType *type = mirage_ugraph_type(eval->graph, (MirageValue){v});
  mirage__eval_free(eval, eval->data[v], (size_t)mirage_type_elements(type));
  eval->data[v] = NULL;
  eval->owned[v] = false;
}

// Frees what `node` was the last to read, and results that nobody reads.
static void release(Eval *eval, const MirageNodeView *node) {
  for (uint32_t i = 0; i < node->num_operands; i++) {
    uint32_t v = node->operands[i].index;
    if (--eval->uses_left[v] == 0 && eval->owned[v])
      free_value(eval, v);
  }
  for (uint32_t i = 0; i < node->num_results; i++)
    if (eval->uses_left[node->first_result.index + i] == 0 && eval->owned[node->first_result.index + i])
      free_value(eval, node->first_result.index + i);
}

static bool expands_to_maximum(MirageOp op) {
  const MirageExpansion *expansion = mirage_op_expansion(op);
  for (uint32_t i = 0; expansion && i < expansion->num_steps; i++)
    if (expansion->steps[i].op == MIRAGE_OP_MAX)
      return true;
  return false;
}

// Whether a node takes maxima, inside or itself. Of sugar we do not ask.
static bool takes_maximum(const MirageUGraph *graph, const MirageNodeView *node) {
  if (node->op == MIRAGE_OP_MAX || node->op == MIRAGE_OP_REDUCE_MAX || node->op == MIRAGE_OP_CLUSTER_MAX ||
      node->op == MIRAGE_OP_GRID_MAX || expands_to_maximum(node->op) ||
      mirage_op_info(node->op)->kind == MIRAGE_KIND_SUGAR)
    return true;
  for (uint32_t i = 0; node->op == MIRAGE_OP_LOOP && i < node->attrs->loop.num_carries; i++)
    if (node->attrs->loop.carries[i].combine == MIRAGE_COMBINE_MAX)
      return true;
  if (!node->region.index)
    return false;
  MirageRegionView region = mirage_ugraph_region(graph, node->region);
  for (uint32_t i = 0; i < region.num_nodes; i++) {
    MirageNodeView inner = mirage_ugraph_node(graph, region.nodes[i]);
    if (takes_maximum(graph, &inner))
      return true;
  }
  return false;
}

// From the outputs back: counts the readers of each value among the nodes that some output needs, and finds what leads
// to a maximum. A node that nobody reads is not evaluated.
static void look_ahead(Eval *eval, bool keep_maxima) {
  MirageRegionView body = mirage_ugraph_region(eval->graph, mirage_ugraph_body(eval->graph));
  for (uint32_t i = body.num_nodes; i-- > 0;) {
    MirageNodeView node = mirage_ugraph_node(eval->graph, body.nodes[i]);
    bool returns = node.op == MIRAGE_OP_RETURN, needed = returns, maxima = returns && keep_maxima;
    for (uint32_t r = 0; r < node.num_results; r++) {
      needed |= eval->uses_left[node.first_result.index + r] > 0;
      maxima |= eval->leads_to_maxima[node.first_result.index + r];
    }
    if (!needed)
      continue;
    maxima = maxima || takes_maximum(eval->graph, &node);
    for (uint32_t j = 0; j < node.num_operands; j++) {
      eval->uses_left[node.operands[j].index]++;
      eval->leads_to_maxima[node.operands[j].index] |= maxima;
    }
  }
}

static bool is_needed(const Eval *eval, const MirageNodeView *node) {
  for (uint32_t r = 0; r < node->num_results; r++)
    if (eval->uses_left[node->first_result.index + r])
      return true;
  return false;
}

static MirageStatus eval_body(Eval *eval, void *const *outputs) {
  MirageRegionView body = mirage_ugraph_region(eval->graph, mirage_ugraph_body(eval->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(eval->graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_RETURN)
      break;
    if (!is_needed(eval, &node))
      continue;
    if (mirage_cancelled(eval->cancel))
      return MIRAGE_CANCELLED;
    MirageStatus status = eval_node(eval, body.nodes[i]);
    bool inside =
        node.op == MIRAGE_OP_CUSTOM || mirage_op_info(node.op)->kind == MIRAGE_KIND_SUGAR; // has reported already
    if (status != MIRAGE_OK)
      return inside ? status : mirage__eval_report(eval, node.op, node.loc, status);
    release(eval, &node);
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(eval->graph); i++) {
    MirageValue v = mirage_ugraph_get_output(eval->graph, i);
    memcpy(outputs[i], eval->data[v.index],
           (size_t)mirage_type_elements(mirage_ugraph_type(eval->graph, v)) * eval->size);
  }
  return MIRAGE_OK;
}

MirageStatus mirage_eval(const MirageUGraph *graph, const MirageDomain *domain, const void *const *inputs,
                         void *const *outputs, const MirageEvalOptions *options, const MirageDiag *diag) {
  size_t num_values = mirage_ugraph_num_values(graph);
  Eval eval = {.graph = graph, .domain = domain, .diag = diag, .size = domain->element_bytes};
  eval.max_bytes = options && options->max_bytes ? options->max_bytes : (size_t)DEFAULT_MAX_GIB << 30;
  eval.data = calloc(num_values + 1, sizeof *eval.data);
  eval.uses_left = calloc(num_values + 1, sizeof *eval.uses_left);
  eval.owned = calloc(num_values + 1, sizeof *eval.owned);
  eval.leads_to_maxima = calloc(num_values + 1, sizeof *eval.leads_to_maxima);
  eval.cancel = options ? options->cancel : NULL;
  eval.memory = options ? options->memory : NULL;
  MirageStatus status =
      eval.data && eval.uses_left && eval.owned && eval.leads_to_maxima ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = mirage__eval_pool_create(options ? options->num_threads : 1, &eval.pool);
  if (status == MIRAGE_OK) {
    // Inputs are only ever read; the cast drops const because data[] also holds what we write.
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
      eval.data[mirage_ugraph_get_input(graph, i).index] = (void *)inputs[i];
    look_ahead(&eval, options && options->keep_maxima);
    status = eval_body(&eval, outputs);
    for (uint32_t v = 1; v <= num_values; v++)
      if (eval.owned[v])
        free_value(&eval, v);
  }
  for (uint32_t i = 0; i < EVAL_NUM_SCRATCH; i++)
    mirage_eval_memory_give(eval.memory, eval.scratch[i].data, eval.scratch[i].bytes);
  free(eval.data);
  free(eval.uses_left);
  free(eval.owned);
  free(eval.leads_to_maxima);
  mirage__eval_pool_destroy(eval.pool);
  return status;
}
