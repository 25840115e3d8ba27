// search_masks.c - takes the masks off a program, so that what is left is one of numbers.
//
// A mask is, to the search, something that is added: mask(c, x) = x + b with b = 0 where c holds and bottom elsewhere, since
// bottom + x = bottom. Where c is made of indices and of i1 inputs alone, b is an input like any other, of the shape of c: the
// search splits it, walks it, loads its tiles beside the scores. So is each number that is made of these alone, as a
// cast of a predicate. search_remask.c then computes the tiles of such inputs where they are loaded.
//
// Call order: unmask, search the core, remask each candidate.
//
// Example:   softmax(mask(k <= q, s)) v, k and q iotas of 64 keys and queries: the core is softmax(s + b) v with b [64, 64].
#include "search_masks.h"

#include <stdio.h>
#include <stdlib.h>

// A predicate or an index, which the search knows nothing of.
static bool is_logical(const MirageUGraph *graph, MirageValue v) { return mirage_ugraph_is_logical(graph, v); }

static bool is_constant(const MirageUGraph *graph, MirageValue v) {
  MirageNode def = mirage_ugraph_def(graph, v);
  return def.index && mirage_ugraph_node(graph, def).op == MIRAGE_OP_CONSTANT;
}

static bool has_predicates(const MirageUGraph *graph) {
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(graph); v++)
    if (is_logical(graph, (MirageValue){v}))
      return true;
  return false;
}

static bool may_mask(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op == MIRAGE_OP_CUSTOM)
      return false; // it has been searched
    if (node.op == MIRAGE_OP_SDPA && mirage_attention_is_masked(node.num_operands, node.attrs))
      return true;
  }
  return has_predicates(graph);
}

static void find_pure(SearchMasks *masks) {
  const MirageUGraph *graph = masks->program;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    masks->pure[input.index] = is_logical(graph, input);
  }
  for (uint32_t i = 0; i + 1 < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    bool pure = node.num_results == 1;
    for (uint32_t k = 0; k < node.num_operands; k++)
      pure = pure && masks->pure[node.operands[k].index];
    masks->pure[node.first_result.index] = pure;
  }
}

// The core's input for `of`, which is added where it is not there yet.
static uint32_t input_for(SearchMasks *masks, MirageValue of, bool added, MirageDType dtype) {
  for (uint32_t i = 0; i < masks->num_inputs; i++)
    if (masks->inputs[i].of.index == of.index && masks->inputs[i].added == added &&
        masks->inputs[i].type.dtype == dtype)
      return i;
  MirageType type = *mirage_ugraph_type(masks->program, of);
  type.dtype = dtype;
  masks->inputs[masks->num_inputs] = (MaskInput){of, added, type};
  return masks->num_inputs++;
}

static bool is_mask_of(const SearchMasks *masks, const MirageNodeView *node) {
  return node->op == MIRAGE_OP_MASK && masks->pure[node->operands[0].index];
}

// Whether an operand is an input of the core that the program does not have as such.
static bool is_made(const SearchMasks *masks, MirageValue v) {
  return masks->pure[v.index] && !is_constant(masks->program, v);
}

static MirageOp op_of(const MirageUGraph *graph, MirageValue v, MirageValue *out_operand) {
  MirageNode def = mirage_ugraph_def(graph, v);
  if (!def.index)
    return MIRAGE_OP_NONE;
  MirageNodeView node = mirage_ugraph_node(graph, def);
  *out_operand = node.num_operands ? node.operands[0] : (MirageValue){0};
  return node.op;
}

// The sum of a row that may see no key, plus 1 where it sees none (lib/ugraph/expand.c): the core leaves that away, and
// whoever divides by the sum adds it again.
static bool is_floored(const SearchMasks *masks, const MirageNodeView *node) {
  MirageValue v;
  if (node->op != MIRAGE_OP_ADD || !masks->pure[node->operands[1].index] || masks->pure[node->operands[0].index])
    return false;
  return op_of(masks->program, node->operands[1], &v) == MIRAGE_OP_CAST &&
         op_of(masks->program, v, &v) == MIRAGE_OP_NOT && op_of(masks->program, v, &v) == MIRAGE_OP_REDUCE_MAX &&
         (!masks->floor.index || masks->floor.index == node->operands[1].index);
}

static MirageStatus refuse(const SearchMasks *masks, const MirageNodeView *node, const MirageDiag *diag) {
  return mirage_diag_fail(
      diag, node->loc, MIRAGE_UNSUPPORTED,
      "search: %s: only masks of indices and of i1 inputs are searched, no predicate of what is computed",
      mirage_op_info(node->op)->mnemonic);
}

// Inputs of numbers first, in their order; then what masks and predicates give.
static MirageStatus find_inputs(SearchMasks *masks, const MirageDiag *diag) {
  const MirageUGraph *graph = masks->program;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    if (!masks->pure[input.index])
      input_for(masks, input, false, mirage_ugraph_type(graph, input)->dtype);
  }
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.num_results && masks->pure[node.first_result.index])
      continue;
    if (node.num_results && is_logical(graph, node.first_result))
      return refuse(masks, &node, diag);
    if (is_floored(masks, &node)) {
      masks->floor = node.operands[1];
      continue;
    }
    for (uint32_t k = 0; k < node.num_operands; k++) {
      MirageValue v = node.operands[k];
      if (!is_made(masks, v))
        continue;
      bool added = k == 0 && is_mask_of(masks, &node);
      if ((!added && is_logical(graph, v)) || !mirage_ugraph_type(graph, v)->rank)
        return refuse(masks, &node, diag);
      input_for(masks, v, added, mirage_ugraph_type(graph, added ? node.operands[1] : v)->dtype);
    }
  }
  return MIRAGE_OK;
}

// Copies what is not made of predicates alone, with sums for masks.
static void build_core(SearchMasks *masks, MirageValue *inputs, MirageValue *map) {
  const MirageUGraph *graph = masks->program;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < masks->num_inputs; i++) {
    inputs[i] = mirage_ugraph_input(masks->core, masks->inputs[i].type);
    if (!masks->inputs[i].added)
      map[masks->inputs[i].of.index] = inputs[i];
  }
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.num_results && masks->pure[node.first_result.index] && !is_constant(graph, node.first_result))
      continue;
    if (is_floored(masks, &node)) {
      map[node.first_result.index] = map[node.operands[0].index];
      continue;
    }
    if (!is_mask_of(masks, &node)) {
      mirage_ugraph_copy_nodes(masks->core, graph, 1, &body.nodes[i], map);
      continue;
    }
    MirageDType dtype = mirage_ugraph_type(graph, node.operands[1])->dtype;
    MirageValue sum[] = {map[node.operands[1].index], inputs[input_for(masks, node.operands[0], true, dtype)]};
    mirage_ugraph_set_loc(masks->core, node.loc);
    map[node.first_result.index] = mirage_ugraph_apply(masks->core, MIRAGE_OP_ADD, 2, sum, NULL);
  }
}

static MirageStatus make_core(SearchMasks *masks, const MirageDiag *diag) {
  size_t values = (size_t)mirage_ugraph_num_values(masks->program) + 1;
  masks->pure = calloc(values, sizeof *masks->pure);
  masks->inputs = calloc(2 * values, sizeof *masks->inputs);
  masks->core = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(masks->program)->name, diag);
  MirageValue *map = calloc(values, sizeof *map), *inputs = calloc(2 * values, sizeof *inputs);
  MirageStatus status = masks->pure && masks->inputs && masks->core && map && inputs ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    find_pure(masks);
    status = find_inputs(masks, diag);
  }
  if (status == MIRAGE_OK) {
    build_core(masks, inputs, map);
    status = mirage_ugraph_finish(masks->core);
  }
  free(map);
  free(inputs);
  return status;
}

MirageStatus mirage__search_unmask(const MirageUGraph *program, const MirageDiag *diag, SearchMasks **out_masks,
                                   const MirageUGraph **out_core) {
  *out_masks = NULL;
  *out_core = program;
  if (!may_mask(program))
    return MIRAGE_OK;
  SearchMasks *masks = calloc(1, sizeof *masks);
  if (!masks)
    return MIRAGE_NO_MEMORY;
  MirageStatus status = mirage_ugraph_expand(program, diag, &masks->program);
  if (status == MIRAGE_OK)
    status = make_core(masks, diag);
  if (status != MIRAGE_OK) {
    mirage__search_masks_destroy(masks);
    return status;
  }
  *out_masks = masks;
  *out_core = masks->core;
  return MIRAGE_OK;
}

void mirage__search_masks_destroy(SearchMasks *masks) {
  if (!masks)
    return;
  mirage_ugraph_destroy(masks->program);
  mirage_ugraph_destroy(masks->core);
  free(masks->pure);
  free(masks->inputs);
  free(masks);
}
