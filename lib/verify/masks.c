// masks.c - a pair of graphs whose masks are inputs.
//
// A predicate that is made of indices, constants and i1 inputs alone is a tensor that no number decides. The source has
// it as a whole; a block of the target computes tiles of it. Where a tile is, operator by operator, what the source
// computes, with indices that count from where a load would have read, it is that load of the tensor. So the tensor can
// be an input of both graphs. What a proof then shows it shows for every mask, of which the one at hand is one.
//
// Beyond the end of a tensor that its tiles do not divide, the target must say so itself: `and index < extent` is the
// load's fill with bottom.
//
// Example:   %k = iota {dim = 1, loop = [32]} : tile<1x32xi32>      %q = iota {dim = 0, grid = [16]} : tile<16x1xi32>
//            %c = less_equal %k, %q      mask %c, %s                of key <= query, [64, 64]:
//            %t = load %b {grid = [0], loop = [1]} : tensor<64x64xf16> -> tile<16x32xf16>      add %s, %t
#include "masks_match.h"

#include <stdlib.h>

typedef struct Masker {
  VerifyMasks *out;
  VerifyMaskForm form;
  MaskSide sides[2];
} Masker;

static const MaskSide *source_of(const Masker *m) { return &m->sides[0]; }

// ------------------------------------------------------------------------------------------------- what is pure

static bool is_constant(const MirageUGraph *graph, MirageValue v) {
  MirageNode def = mirage_ugraph_def(graph, v);
  return def.index && mirage_ugraph_node(graph, def).op == MIRAGE_OP_CONSTANT;
}

static bool node_is_pure(const MaskSide *side, const MirageNodeView *node) {
  bool pure =
      node->num_results == 1 && !node->region.index && node->op != MIRAGE_OP_MASK && node->op != MIRAGE_OP_BOTTOM;
  for (uint32_t i = 0; pure && i < node->num_operands; i++)
    pure = side->pure[node->operands[i].index];
  return pure;
}

static void find_pure(MaskSide *side, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(side->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(side->graph, view.nodes[i]);
    if (node.num_results == 1)
      side->pure[node.first_result.index] = node_is_pure(side, &node);
    if (node.op == MIRAGE_OP_CUSTOM)
      for (uint32_t k = 0; k < node.num_operands; k++) {
        uint32_t argument = mirage_ugraph_region(side->graph, node.region).first_argument.index + k;
        side->pure[argument] =
            side->pure[node.operands[k].index] && mirage__mask_is_logical(side->graph, node.operands[k]);
        side->root[argument] = node.operands[k];
      }
    if (node.op == MIRAGE_OP_CUSTOM || node.op == MIRAGE_OP_LOOP)
      find_pure(side, node.region);
    if (node.op == MIRAGE_OP_CUSTOM && node.num_results == 1) { // a kernel of predicates alone
      bool pure = node.num_operands > 0 || mirage__mask_is_logical(side->graph, node.first_result);
      for (uint32_t k = 0; k < node.num_operands; k++)
        pure = pure && side->pure[node.operands[k].index] && mirage__mask_is_logical(side->graph, node.operands[k]);
      side->pure[node.first_result.index] = pure;
    }
  }
}

static bool is_masked(const MaskSide *side, const MirageNodeView *node) {
  return node->op == MIRAGE_OP_MASK && side->pure[node->operands[0].index];
}

// A number that predicates make, which something else reads: an input as well.
static bool is_number(const MaskSide *side, MirageValue v) {
  return side->pure[v.index] && !mirage__mask_is_logical(side->graph, v) && !is_constant(side->graph, v);
}

static MirageStatus side_init(MaskSide *side, const MirageUGraph *graph) {
  size_t values = (size_t)mirage_ugraph_num_values(graph) + 1;
  *side = (MaskSide){graph, calloc(values, sizeof *side->pure), calloc(values, sizeof *side->needed),
                     calloc(values, sizeof *side->root)};
  if (!side->pure || !side->needed || !side->root)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageValue input = mirage_ugraph_get_input(graph, i);
    side->pure[input.index] = mirage__mask_is_logical(graph, input);
  }
  find_pure(side, mirage_ugraph_body(graph));
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------- the masks of the source

static bool add_mask(Masker *m, MirageValue of, MirageDType dtype, bool number) {
  VerifyMasks *out = m->out;
  MirageType type = *mirage_ugraph_type(source_of(m)->graph, of);
  type.dtype = dtype;
  for (uint32_t i = 0; i < out->count; i++)
    if (out->masks[i].of.index == of.index && out->masks[i].type.dtype == dtype)
      return true;
  if (out->count == VERIFY_MAX_MASKS || type.rank == 0)
    return false;
  out->masks[out->count++] = (VerifyMask){.of = of, .type = type, .number = number};
  return true;
}

// Whether all that the source does with predicates is to mask with them, or to read them as numbers.
static bool find_masks(Masker *m) {
  const MaskSide *side = source_of(m);
  MirageRegionView body = mirage_ugraph_region(side->graph, mirage_ugraph_body(side->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(side->graph, body.nodes[i]);
    if (node.num_results && side->pure[node.first_result.index])
      continue;
    for (uint32_t k = 0; k < node.num_operands; k++) {
      MirageValue v = node.operands[k];
      bool masked = k == 0 && is_masked(side, &node), added = m->form == VERIFY_MASK_ADDED;
      if (!side->pure[v.index] || is_constant(side->graph, v))
        continue;
      if (masked ? !add_mask(m, v, added ? mirage_ugraph_type(side->graph, node.operands[1])->dtype : MIRAGE_I1, false)
                 : !is_number(side, v) || !add_mask(m, v, mirage_ugraph_type(side->graph, v)->dtype, true))
        return false;
    }
  }
  bool some = false;
  for (uint32_t i = 0; i < m->out->count; i++) {
    VerifyMask *mask = &m->out->masks[i];
    mask->full = !mask->number && mirage__verify_rows_hold(side->graph, mask->of);
    some |= !mask->number || m->form == VERIFY_MASK_ADDED;
  }
  return some;
}

// --------------------------------------------------------------------------------------------------------- copying

typedef struct Copy {
  const Masker *m;
  const MaskSide *side;
  MirageUGraph *to;
  MirageValue *map;                       // [num_values + 1]
  MirageValue inputs[VERIFY_MAX_MASKS];   // of the new graph; GIVEN: numbers as its own operators make them
  MirageValue argument[VERIFY_MAX_MASKS]; // of the kernel at hand
  bool failed;                            // a mask is none of the source's
} Copy;

// The mask that a predicate or number of the kernel level is; count where there is none.
static uint32_t index_of_tensor(const Copy *copy, MirageValue v) {
  uint32_t i = 0;
  while (i < copy->m->out->count && !mirage__mask_is_tensor(&copy->m->out->masks[i], source_of(copy->m), copy->side, v))
    i++;
  return i;
}

// A predicate of the kernel level that is an input of the copy, whoever reads it.
static bool is_given(const Copy *copy, MirageValue v) {
  return copy->m->form == VERIFY_MASK_GIVEN && copy->side->pure[v.index] && !is_constant(copy->side->graph, v) &&
         mirage__mask_is_logical(copy->side->graph, v) && index_of_tensor(copy, v) < copy->m->out->count;
}

static void find_needed(Copy *copy) {
  const MaskSide *side = copy->side;
  MirageRegionView body = mirage_ugraph_region(side->graph, mirage_ugraph_body(side->graph));
  for (uint32_t i = body.num_nodes; i-- > 0;) {
    MirageNodeView node = mirage_ugraph_node(side->graph, body.nodes[i]);
    bool pure = node.num_results == 1 && side->pure[node.first_result.index];
    bool read = !pure || (side->needed[node.first_result.index] && !is_given(copy, node.first_result));
    for (uint32_t k = 0; read && k < node.num_operands; k++) {
      MirageValue v = node.operands[k];
      bool number = copy->m->form == VERIFY_MASK_ADDED && is_number(side, v);
      side->needed[v.index] |= pure || !(number || (k == 0 && is_masked(side, &node)));
    }
  }
}

static uint32_t index_of_tile(const Copy *copy, MirageNode at, MirageValue v, MirageAccessAttrs *access) {
  uint32_t i = 0;
  while (i < copy->m->out->count &&
         !mirage__mask_is_tile(&copy->m->out->masks[i], copy->m->form, source_of(copy->m), copy->side, at, v, access))
    i++;
  return i;
}

// The tile of an input that an access brings; of another shape than what it stands for, it is none.
static MirageValue load_mask(Copy *copy, uint32_t index, const MirageAccessAttrs *access, MirageValue of) {
  MirageValue tile = mirage_ugraph_load(copy->to, copy->argument[index], access);
  copy->failed |= !tile.index || !mirage_type_same_shape(mirage_ugraph_type(copy->to, tile),
                                                         mirage_ugraph_type(copy->side->graph, of));
  return tile;
}

static void copy_mask(Copy *copy, MirageNode id, const MirageNodeView *node) {
  MirageAccessAttrs access;
  MirageValue x = copy->map[node->operands[1].index], mask;
  bool in_block = node->level == MIRAGE_LEVEL_BLOCK;
  uint32_t index =
      in_block ? index_of_tile(copy, id, node->operands[0], &access) : index_of_tensor(copy, node->operands[0]);
  if (index == copy->m->out->count) {
    copy->failed = true;
    return;
  }
  mask = in_block ? load_mask(copy, index, &access, node->operands[0]) : copy->inputs[index];
  MirageValue sum[] = {x, mask}, picked[] = {mask, x};
  bool added = copy->m->form == VERIFY_MASK_ADDED;
  copy->map[node->first_result.index] =
      mirage_ugraph_apply(copy->to, added ? MIRAGE_OP_ADD : MIRAGE_OP_MASK, 2, added ? sum : picked, NULL);
}

static void copy_region(Copy *copy, MirageRegion region);

static void copy_loop(Copy *copy, MirageNode id, const MirageNodeView *node) {
  MirageValue *inits = calloc((size_t)node->num_operands + 1, sizeof *inits);
  copy->failed |= !inits;
  for (uint32_t i = 0; inits && i < node->num_operands; i++)
    inits[i] = copy->map[node->operands[i].index];
  MirageNode loop = mirage_ugraph_open_loop(copy->to, inits ? node->num_operands : 0, inits, &node->attrs->loop);
  free(inits);
  for (uint32_t i = 0; i < node->num_operands; i++)
    copy->map[mirage_ugraph_argument(copy->side->graph, id, i).index] = mirage_ugraph_argument(copy->to, loop, i);
  copy_region(copy, node->region);
  for (uint32_t i = 0; i < node->num_results; i++)
    copy->map[node->first_result.index + i] = mirage_ugraph_result(copy->to, loop, i);
}

// A kernel with the masks as further operands. Its schedule says nothing of them, and is left behind.
static void copy_kernel(Copy *copy, MirageNode id, const MirageNodeView *node) {
  uint32_t count = copy->m->out->count, operands = node->num_operands;
  MirageValue *values = calloc((size_t)operands + count + 1, sizeof *values);
  MirageType *types = calloc((size_t)node->num_results + 1, sizeof *types);
  MirageCustomAttrs attrs = node->attrs->custom;
  attrs.schedule = NULL;
  attrs.plan = NULL;
  attrs.launch = NULL;
  copy->failed |= !values || !types;
  for (uint32_t i = 0; !copy->failed && i < operands; i++)
    values[i] = copy->map[node->operands[i].index];
  for (uint32_t i = 0; !copy->failed && i < count; i++)
    values[operands + i] = copy->inputs[i];
  for (uint32_t i = 0; !copy->failed && i < node->num_results; i++)
    types[i] = *mirage_ugraph_type(copy->side->graph, (MirageValue){node->first_result.index + i});
  if (!copy->failed) {
    MirageNode custom = mirage_ugraph_open_custom(copy->to, operands + count, values, node->num_results, types, &attrs);
    for (uint32_t i = 0; i < operands + node->num_results; i++)
      copy->map[mirage_ugraph_argument(copy->side->graph, id, i).index] =
          mirage_ugraph_argument(copy->to, custom, i < operands ? i : i + count);
    for (uint32_t i = 0; i < count; i++)
      copy->argument[i] = mirage_ugraph_argument(copy->to, custom, operands + i);
    copy_region(copy, node->region);
    mirage_ugraph_close(copy->to, 0, NULL);
    for (uint32_t i = 0; i < node->num_results; i++)
      copy->map[node->first_result.index + i] = mirage_ugraph_result(copy->to, custom, i);
  }
  free(values);
  free(types);
}

// Predicates and indices are left behind where nothing reads them any more. Numbers made of them become inputs.
static bool copy_pure(Copy *copy, MirageNode id, const MirageNodeView *node) {
  bool at_kernel = node->level == MIRAGE_LEVEL_KERNEL;
  if (at_kernel && node->num_results == 1 && is_given(copy, node->first_result)) {
    copy->map[node->first_result.index] = copy->inputs[index_of_tensor(copy, node->first_result)];
    return true;
  }
  if (!node->num_results || !copy->side->pure[node->first_result.index] ||
      (at_kernel && copy->side->needed[node->first_result.index]))
    return false;
  if (is_constant(copy->side->graph, node->first_result)) // an integer may be what a sum begins with
    return mirage_ugraph_type(copy->side->graph, node->first_result)->dtype == MIRAGE_I1;
  if (at_kernel && copy->m->form == VERIFY_MASK_ADDED && is_number(copy->side, node->first_result)) {
    uint32_t index = index_of_tensor(copy, node->first_result);
    if (index < copy->m->out->count)
      copy->map[node->first_result.index] = copy->inputs[index];
  }
  if (node->level == MIRAGE_LEVEL_BLOCK && is_number(copy->side, node->first_result)) {
    MirageAccessAttrs access;
    uint32_t index = index_of_tile(copy, id, node->first_result, &access);
    if (index < copy->m->out->count)
      copy->map[node->first_result.index] = load_mask(copy, index, &access, node->first_result);
  }
  return true;
}

static void copy_node(Copy *copy, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(copy->side->graph, id);
  if (copy_pure(copy, id, &node))
    return;
  mirage_ugraph_set_loc(copy->to, node.loc);
  if (is_masked(copy->side, &node))
    copy_mask(copy, id, &node);
  else if (node.op == MIRAGE_OP_CUSTOM)
    copy_kernel(copy, id, &node);
  else if (node.op == MIRAGE_OP_LOOP)
    copy_loop(copy, id, &node);
  else
    mirage_ugraph_copy_nodes(copy->to, copy->side->graph, 1, &id, copy->map);
}

static void copy_region(Copy *copy, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(copy->side->graph, region);
  for (uint32_t i = 0; i < view.num_nodes && !copy->failed && mirage_ugraph_status(copy->to) == MIRAGE_OK; i++)
    copy_node(copy, view.nodes[i]);
}

// A value that the source makes of predicates, made of the inputs that stand for them.
static void make_number(Copy *copy, MirageValue v, MirageValue *map) {
  const MirageUGraph *source = source_of(copy->m)->graph;
  if (map[v.index].index)
    return;
  MirageNode def = mirage_ugraph_def(source, v);
  MirageNodeView node = mirage_ugraph_node(source, def);
  for (uint32_t i = 0; i < node.num_operands; i++)
    make_number(copy, node.operands[i], map);
  mirage_ugraph_copy_nodes(copy->to, source, 1, &def, map);
}

// So that tiles of a number are tiles of what the masks given say, whatever the pair makes them of.
static void make_numbers(Copy *copy) {
  const MirageUGraph *source = source_of(copy->m)->graph;
  const VerifyMasks *masks = copy->m->out;
  MirageValue *map = calloc((size_t)mirage_ugraph_num_values(source) + 1, sizeof *map);
  copy->failed |= !map;
  for (uint32_t i = 0; map && i < mirage_ugraph_num_inputs(source); i++)
    map[mirage_ugraph_get_input(source, i).index] = copy->map[mirage_ugraph_get_input(copy->side->graph, i).index];
  for (uint32_t i = 0; map && i < masks->count; i++)
    if (!masks->masks[i].number)
      map[masks->masks[i].of.index] = copy->inputs[i];
  for (uint32_t i = 0; map && i < masks->count; i++)
    if (masks->masks[i].number) {
      make_number(copy, masks->masks[i].of, map);
      copy->inputs[i] = map[masks->masks[i].of.index];
    }
  free(map);
}

static void copy_graph(Copy *copy) {
  const MirageUGraph *from = copy->side->graph;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(from); i++) {
    MirageValue input = mirage_ugraph_get_input(from, i);
    copy->map[input.index] = mirage_ugraph_input(copy->to, *mirage_ugraph_type(from, input));
  }
  bool added = copy->m->form == VERIFY_MASK_ADDED;
  for (uint32_t i = 0; i < copy->m->out->count; i++)
    if (added || !copy->m->out->masks[i].number)
      copy->inputs[i] = mirage_ugraph_input(copy->to, copy->m->out->masks[i].type);
  if (!added)
    make_numbers(copy);
  find_needed(copy);
  copy_region(copy, mirage_ugraph_body(from));
}

// NULL where it has no such form: what is said about that is nobody's business.
static MirageStatus make_graph(const Masker *m, int g, MirageUGraph **out_graph) {
  const MirageUGraph *from = m->sides[g].graph;
  Copy copy = {.m = m, .side = &m->sides[g]};
  copy.to = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(from)->name, NULL);
  copy.map = calloc((size_t)mirage_ugraph_num_values(from) + 1, sizeof *copy.map);
  MirageStatus status = copy.to && copy.map ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    copy_graph(&copy);
    if (copy.failed || mirage_ugraph_finish(copy.to) != MIRAGE_OK) {
      status = mirage_ugraph_status(copy.to) == MIRAGE_NO_MEMORY ? MIRAGE_NO_MEMORY : MIRAGE_OK;
      mirage_ugraph_destroy(copy.to);
      copy.to = NULL;
    }
  }
  free(copy.map);
  *out_graph = copy.to;
  return status;
}

MirageStatus mirage__verify_masks_init(VerifyMasks *masks, const MirageUGraph *source, const MirageUGraph *target,
                                       VerifyMaskForm form) {
  Masker m = {.out = masks, .form = form};
  *masks = (VerifyMasks){.source = source, .first_input = mirage_ugraph_num_inputs(source)};
  MirageStatus status = side_init(&m.sides[0], source);
  if (status == MIRAGE_OK)
    status = side_init(&m.sides[1], target);
  if (status == MIRAGE_OK && find_masks(&m)) {
    status = make_graph(&m, 0, &masks->graphs[0]);
    if (status == MIRAGE_OK && masks->graphs[0])
      status = make_graph(&m, 1, &masks->graphs[1]);
  }
  for (int g = 0; g < 2; g++) {
    free(m.sides[g].pure);
    free(m.sides[g].needed);
    free(m.sides[g].root);
  }
  if (!masks->graphs[1])
    mirage__verify_masks_deinit(masks);
  return status;
}

void mirage__verify_masks_deinit(VerifyMasks *masks) {
  for (int g = 0; g < 2; g++) {
    mirage_ugraph_destroy(masks->graphs[g]);
    masks->graphs[g] = NULL;
  }
}
