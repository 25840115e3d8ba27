// eval.c - reference evaluation of a µGraph: the meaning of every operator, in any number domain.
//
// Call order:  mirage_eval walks the kernel region; a custom kernel goes to eval_block.c; a plain operator goes to
//              eval_ops.c, which turns shapes into dense arrays and asks the domain for the arithmetic.
// Memory:      a kernel-level tensor lives from its definition to its last reader; a custom kernel's tiles live while
//              it runs and are reused by the next group of blocks.
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
  *out_data = malloc(count * eval->size + 1);
  if (!*out_data)
    return mirage_diag_fail(eval->diag, NULL, MIRAGE_NO_MEMORY, "evaluation: out of memory");
  eval->bytes += count * eval->size;
  return MIRAGE_OK;
}

void mirage__eval_free(Eval *eval, void *data, size_t count) {
  if (!data)
    return;
  free(data);
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
    operands[i] = mirage_ugraph_input(alone, mirage_type_tensor(MIRAGE_F32, type->rank, type->shape));
    inputs[i] = eval->data[node->operands[i].index];
  }
  MirageValue y = mirage_ugraph_apply(alone, node->op, node->num_operands, operands, node->attrs);
  mirage_ugraph_return(alone, 1, &y);
  MirageStatus status = mirage_ugraph_finish(alone);
  if (status == MIRAGE_OK)
    status = mirage_ugraph_expand(alone, eval->diag, &expanded);
  if (status == MIRAGE_OK) {
    MirageEvalOptions rest = {.max_bytes = eval->max_bytes - eval->bytes};
    status = mirage_eval(expanded, eval->domain, inputs, &out, &rest, eval->diag);
  }
  if (status == MIRAGE_OK)
    status = eval->domain->cast(eval->domain, result, (size_t)mirage_type_elements(result), out, out);
  mirage_ugraph_destroy(expanded);
  mirage_ugraph_destroy(alone);
  return status;
}

static MirageStatus eval_node(Eval *eval, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(eval->graph, id);
  for (uint32_t i = 0; i < node.num_results; i++) {
    uint32_t v = node.first_result.index + i;
    const MirageType *type = mirage_ugraph_type(eval->graph, (MirageValue){v});
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

static MirageStatus eval_body(Eval *eval, void *const *outputs) {
  MirageRegionView body = mirage_ugraph_region(eval->graph, mirage_ugraph_body(eval->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(eval->graph, body.nodes[i]);
    for (uint32_t j = 0; j < node.num_operands; j++)
      eval->uses_left[node.operands[j].index]++;
  }
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(eval->graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_RETURN)
      break;
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
  MirageStatus status = eval.data && eval.uses_left && eval.owned ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    // Inputs are only ever read; the cast drops const because data[] also holds what we write.
    for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
      eval.data[mirage_ugraph_get_input(graph, i).index] = (void *)inputs[i];
    status = eval_body(&eval, outputs);
    for (uint32_t v = 1; v <= num_values; v++)
      if (eval.owned[v])
        free_value(&eval, v);
  }
  for (uint32_t i = 0; i < EVAL_NUM_SCRATCH; i++)
    free(eval.scratch[i].data);
  free(eval.data);
  free(eval.uses_left);
  free(eval.owned);
  return status;
}
