// search_wrap.c - a µGraph for a program without its views (search_peel.c) as one for the program.
//
// Kernels take the whole tensors, reshaped as the view wants them, which is no kernel; loads of a view see its
// dimensions in its order and through its windows. Where one kernel stores all parts of an output, its result is that
// output, and so do its stores. What is not inside a kernel, or is stored by several, is transposed, sliced and
// concatenated by operators of their own.
#include "search/views/search_core.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_ALIASES = 2 * MAX_PARTS };

typedef struct Seen { // a value of the core's µGraph: a view of a tensor of the program's
  MirageValue tensor;
  View view;
} Seen;

typedef struct Alias { // a tensor reshaped
  MirageValue tensor, reshaped;
} Alias;

typedef struct Wrap {
  const SearchViews *views;
  const MirageUGraph *from;
  MirageUGraph *to;
  Seen *seen;                 // by value of `from`: kernel-level tensors, and arguments of custom kernels
  MirageValue *map;           // by value of `from`: tiles, and tensors that are materialised
  MirageValue *built;         // by value of the program: what is made of results, outside kernels
  bool placed[MAX_PARTS];     // by result: its kernel stores it to the output itself
  Alias aliases[MAX_ALIASES]; // lest one tensor be reshaped twice
  uint32_t num_aliases;
} Wrap;

// ------------------------------------------------------------------------------------------------------------- tensors

static MirageValue reshaped(Wrap *wrap, MirageValue tensor, const MirageType *type) {
  if (mirage_type_same_shape(mirage_ugraph_type(wrap->to, tensor), type))
    return tensor;
  for (uint32_t i = 0; i < wrap->num_aliases; i++)
    if (wrap->aliases[i].tensor.index == tensor.index &&
        mirage_type_same_shape(mirage_ugraph_type(wrap->to, wrap->aliases[i].reshaped), type))
      return wrap->aliases[i].reshaped;
  MirageAttrs attrs = {.shape = {.type = *type}};
  MirageValue result = mirage_ugraph_apply(wrap->to, MIRAGE_OP_RESHAPE, 1, &tensor, &attrs);
  if (wrap->num_aliases < MAX_ALIASES)
    wrap->aliases[wrap->num_aliases++] = (Alias){tensor, result};
  return result;
}

// The tensor that a kernel takes for what it sees of it.
static MirageValue operand_tensor(Wrap *wrap, const Seen *seen) {
  MirageType type = mirage__view_tensor(&seen->view, mirage_ugraph_type(wrap->to, seen->tensor)->dtype);
  return reshaped(wrap, seen->tensor, &type);
}

// What is seen, as a tensor of its own: as it lies, or transposed, and sliced a dimension at a time.
static MirageValue materialise(Wrap *wrap, MirageValue value) {
  const Seen *seen = &wrap->seen[value.index];
  const View *view = &seen->view;
  if (wrap->map[value.index].index)
    return wrap->map[value.index];
  MirageValue result = operand_tensor(wrap, seen);
  MirageAttrs perm = {.perm = {{0}}};
  bool moved = false;
  for (uint32_t d = 0; d < view->rank; d++) {
    perm.perm.perm[d] = view->place[d];
    moved |= view->place[d] != d;
  }
  if (moved)
    result = mirage_ugraph_apply(wrap->to, MIRAGE_OP_TRANSPOSE, 1, &result, &perm);
  for (uint32_t d = 0; d < view->rank; d++) {
    MirageAttrs attrs = {.slice = {(int32_t)d, view->begin[d], view->end[d]}};
    if (view->end[d])
      result = mirage_ugraph_apply(wrap->to, MIRAGE_OP_SLICE, 1, &result, &attrs);
  }
  return wrap->map[value.index] = result;
}

// ------------------------------------------------------------------------------------------------------------- kernels

// An access to what is seen, as one to the tensor. The core's own sees all of it, in its order.
static MirageAccessAttrs seen_access(const MirageAccessAttrs *access, const View *view) {
  MirageAccessAttrs result = *access;
  bool moved = false;
  for (uint32_t d = 0; d < view->rank; d++)
    moved |= view->place[d] != d;
  for (uint32_t d = 0; d < view->rank; d++) {
    result.order[d] = moved ? (int8_t)view->place[d] : 0;
    result.begin[d] = view->begin[d]; // tiles stay: they are of what is seen
    result.end[d] = view->end[d];
  }
  return result;
}

static void wrap_region(Wrap *wrap, MirageRegion region);

static void wrap_loop(Wrap *wrap, MirageNode id, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(wrap->from, node->region);
  MirageValue inits[64];
  for (uint32_t i = 0; i < node->num_operands && i < 64; i++)
    inits[i] = wrap->map[node->operands[i].index];
  MirageNode loop = mirage_ugraph_open_loop(wrap->to, node->num_operands, inits, &node->attrs->loop);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    wrap->map[body.first_argument.index + i] = mirage_ugraph_argument(wrap->to, loop, i);
  wrap_region(wrap, node->region);
  for (uint32_t i = 0; i < node->num_results; i++)
    wrap->map[mirage_ugraph_result(wrap->from, id, i).index] = mirage_ugraph_result(wrap->to, loop, i);
}

static void wrap_block_node(Wrap *wrap, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(wrap->from, id);
  mirage_ugraph_set_loc(wrap->to, node.loc);
  if (node.op == MIRAGE_OP_LOAD || node.op == MIRAGE_OP_STORE) {
    const Seen *seen = &wrap->seen[node.operands[node.op == MIRAGE_OP_STORE].index];
    MirageAccessAttrs access = seen_access(&node.attrs->access, &seen->view);
    if (node.op == MIRAGE_OP_STORE)
      mirage_ugraph_store(wrap->to, wrap->map[node.operands[0].index], seen->tensor, &access);
    else
      wrap->map[node.first_result.index] = mirage_ugraph_load(wrap->to, seen->tensor, &access);
  } else if (node.op == MIRAGE_OP_LOOP) {
    wrap_loop(wrap, id, &node);
  } else {
    mirage_ugraph_copy_nodes(wrap->to, wrap->from, 1, &id, wrap->map);
  }
}

static void wrap_region(Wrap *wrap, MirageRegion region) {
  MirageRegionView body = mirage_ugraph_region(wrap->from, region);
  for (uint32_t i = 0; i < body.num_nodes && mirage_ugraph_status(wrap->to) == MIRAGE_OK; i++)
    wrap_block_node(wrap, body.nodes[i]);
}

// ------------------------------------------------------------------------------------------------------------- results

static const MirageType *output_type(const Wrap *wrap, uint32_t output) {
  return mirage_ugraph_type(wrap->views->program, mirage_ugraph_get_output(wrap->views->program, output));
}

static MirageType stored_type(const Wrap *wrap, uint32_t result) {
  const Result *part = &wrap->views->results[result];
  return mirage__view_tensor(&part->view, output_type(wrap, part->output)->dtype);
}

// Whether the parts of an output are different results of one custom kernel, which sees it in one shape.
static bool is_joined(const Wrap *wrap, uint32_t first, uint32_t end) {
  MirageNode kernel = mirage_ugraph_def(wrap->from, mirage_ugraph_get_output(wrap->from, first));
  MirageType type = stored_type(wrap, first);
  if (!kernel.index || mirage_ugraph_node(wrap->from, kernel).op != MIRAGE_OP_CUSTOM)
    return false;
  for (uint32_t i = first; i < end; i++) {
    MirageValue value = mirage_ugraph_get_output(wrap->from, i);
    MirageType other = stored_type(wrap, i);
    if (mirage_ugraph_def(wrap->from, value).index != kernel.index || !mirage_type_same_shape(&type, &other))
      return false;
    for (uint32_t j = 0; j < i; j++) // one value twice needs two places
      if (mirage_ugraph_get_output(wrap->from, j).index == value.index)
        return false;
  }
  return true;
}

static uint32_t end_of_output(const SearchViews *views, uint32_t first) {
  uint32_t end = first;
  while (end < views->num_results && views->results[end].output == views->results[first].output)
    end++;
  return end;
}

static void place_results(Wrap *wrap) {
  const SearchViews *views = wrap->views;
  for (uint32_t first = 0, end; first < views->num_results; first = end) {
    end = end_of_output(views, first);
    bool joined = is_joined(wrap, first, end);
    for (uint32_t i = first; i < end; i++)
      wrap->placed[i] = joined;
  }
}

// The result of the program that a value of the core's µGraph is stored as; num_results: it is one of its own.
static uint32_t result_of(const Wrap *wrap, MirageValue value) {
  uint32_t i = 0;
  while (i < wrap->views->num_results &&
         !(wrap->placed[i] && mirage_ugraph_get_output(wrap->from, i).index == value.index))
    i++;
  return i;
}

// Results that are parts of one output become that output: `place` says which result of the new kernel each is.
static uint32_t plan_results(const Wrap *wrap, const MirageNodeView *node, MirageType *types, uint32_t *place,
                             View *windows) {
  const SearchViews *views = wrap->views;
  uint32_t count = 0, of_output[MAX_PARTS];
  for (uint32_t i = 0; i < node->num_results; i++) {
    MirageValue value = {node->first_result.index + i};
    uint32_t result = result_of(wrap, value);
    bool own = result == views->num_results;
    of_output[i] = own ? UINT32_MAX : views->results[result].output;
    windows[i] = own ? mirage__view_whole(mirage_ugraph_type(wrap->from, value)) : views->results[result].view;
    place[i] = count;
    for (uint32_t j = 0; j < i; j++)
      if (!own && of_output[j] == of_output[i])
        place[i] = place[j];
    if (place[i] == count)
      types[count++] = own ? *mirage_ugraph_type(wrap->from, value) : stored_type(wrap, result);
  }
  return count;
}

static void wrap_custom(Wrap *wrap, MirageNode id, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(wrap->from, node->region);
  MirageValue operands[64];
  MirageType types[MAX_PARTS];
  View windows[MAX_PARTS];
  uint32_t place[MAX_PARTS];
  for (uint32_t i = 0; i < node->num_operands; i++)
    operands[i] = operand_tensor(wrap, &wrap->seen[node->operands[i].index]);
  uint32_t count = plan_results(wrap, node, types, place, windows);
  MirageNode custom =
      mirage_ugraph_open_custom(wrap->to, node->num_operands, operands, count, types, &node->attrs->custom);
  for (uint32_t i = 0; i < body.num_arguments; i++) {
    bool result = i >= node->num_operands;
    uint32_t r = result ? i - node->num_operands : 0, at = result ? node->num_operands + place[r] : i;
    wrap->seen[body.first_argument.index + i] = (Seen){mirage_ugraph_argument(wrap->to, custom, at),
                                                       result ? windows[r] : wrap->seen[node->operands[i].index].view};
  }
  wrap_region(wrap, node->region);
  mirage_ugraph_close(wrap->to, 0, NULL);
  for (uint32_t r = 0; r < node->num_results; r++) {
    MirageValue result = mirage_ugraph_result(wrap->from, id, r);
    wrap->seen[result.index] = (Seen){mirage_ugraph_result(wrap->to, custom, place[r]), windows[r]};
  }
}

static void wrap_node(Wrap *wrap, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(wrap->from, id);
  mirage_ugraph_set_loc(wrap->to, node.loc);
  if (node.op == MIRAGE_OP_CUSTOM && node.num_operands <= 64 && node.num_results <= MAX_PARTS) {
    wrap_custom(wrap, id, &node);
    return;
  }
  for (uint32_t i = 0; i < node.num_operands; i++)
    materialise(wrap, node.operands[i]);
  mirage_ugraph_copy_nodes(wrap->to, wrap->from, 1, &id, wrap->map);
  for (uint32_t r = 0; r < node.num_results; r++) {
    MirageValue result = mirage_ugraph_result(wrap->from, id, r);
    wrap->seen[result.index] =
        (Seen){wrap->map[result.index], mirage__view_whole(mirage_ugraph_type(wrap->from, result))};
  }
}

// ------------------------------------------------------------------------------------------------------------- outputs

// A value of the program behind the core's results, by the program's own operators.
static MirageValue rebuild(Wrap *wrap, MirageValue value) {
  const SearchViews *views = wrap->views;
  if (wrap->built[value.index].index)
    return wrap->built[value.index];
  MirageValue parts[MAX_PARTS];
  uint32_t num_parts = 0;
  MirageAttrs attrs = {.dim = {-1}};
  for (uint32_t i = 0; i < views->num_results; i++)
    if (views->results[i].root.index == value.index) {
      parts[num_parts++] = materialise(wrap, mirage_ugraph_get_output(wrap->from, i));
      attrs.dim.dim = views->results[i].dim;
    }
  if (num_parts && attrs.dim.dim >= 0)
    return wrap->built[value.index] = mirage_ugraph_apply(wrap->to, MIRAGE_OP_CONCAT, num_parts, parts, &attrs);
  if (num_parts)
    return wrap->built[value.index] = reshaped(wrap, parts[0], mirage_ugraph_type(views->program, value));
  MirageNode def = mirage_ugraph_def(views->program, value);
  MirageNodeView node = mirage_ugraph_node(views->program, def);
  for (uint32_t i = 0; i < node.num_operands; i++)
    rebuild(wrap, node.operands[i]);
  mirage_ugraph_copy_nodes(wrap->to, views->program, 1, &def, wrap->built);
  return wrap->built[value.index];
}

// An output of the program: a tensor that holds all its parts already, or what is made of them.
static MirageValue wrap_output(Wrap *wrap, uint32_t output) {
  uint32_t first = 0;
  while (wrap->views->results[first].output != output)
    first++;
  if (!wrap->placed[first])
    return rebuild(wrap, mirage_ugraph_get_output(wrap->views->program, output));
  MirageValue tensor = wrap->seen[mirage_ugraph_get_output(wrap->from, first).index].tensor;
  return reshaped(wrap, tensor, output_type(wrap, output));
}

static void wrap_graph(Wrap *wrap) {
  const SearchViews *views = wrap->views;
  MirageValue inputs[MAX_PARTS], outputs[MAX_PARTS];
  MirageRegionView body = mirage_ugraph_region(wrap->from, mirage_ugraph_body(wrap->from));
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(views->program); i++) {
    MirageValue old = mirage_ugraph_get_input(views->program, i);
    MirageValue input = mirage_ugraph_input(wrap->to, *mirage_ugraph_type(views->program, old));
    for (uint32_t p = 0; p < views->num_parts; p++)
      if (views->parts[p].input.index == old.index)
        inputs[p] = input;
  }
  for (uint32_t p = 0; p < views->num_parts; p++)
    wrap->seen[mirage_ugraph_get_input(wrap->from, p).index] = (Seen){inputs[p], views->parts[p].view};
  place_results(wrap);
  for (uint32_t i = 0; i + 1 < body.num_nodes && mirage_ugraph_status(wrap->to) == MIRAGE_OK; i++)
    wrap_node(wrap, body.nodes[i]);
  uint32_t num_outputs = mirage_ugraph_num_outputs(views->program);
  for (uint32_t o = 0; o < num_outputs; o++)
    outputs[o] = wrap_output(wrap, o);
  mirage_ugraph_return(wrap->to, num_outputs, outputs);
}

MirageStatus mirage__search_wrap(const SearchViews *views, const MirageUGraph *found, const MirageDiag *diag,
                                 MirageUGraph **out_graph) {
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(found);
  size_t values = mirage_ugraph_num_values(found) + 1;
  Wrap wrap = {.views = views, .from = found, .to = mirage_ugraph_create(NULL, meta->name, diag)};
  wrap.seen = calloc(values, sizeof *wrap.seen);
  wrap.map = calloc(values, sizeof *wrap.map);
  wrap.built = calloc(mirage_ugraph_num_values(views->program) + 1, sizeof *wrap.built);
  MirageStatus status = wrap.to && wrap.seen && wrap.map && wrap.built ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK) {
    MirageGraphMeta copy = *meta;
    copy.name = mirage_ugraph_get_meta(wrap.to)->name;
    copy.source = mirage_ugraph_intern_string(wrap.to, meta->source);
    *mirage_ugraph_meta(wrap.to) = copy;
    wrap_graph(&wrap);
    status = mirage_ugraph_finish(wrap.to);
  }
  free(wrap.seen);
  free(wrap.map);
  free(wrap.built);
  if (status != MIRAGE_OK)
    mirage_ugraph_destroy(wrap.to);
  else
    *out_graph = wrap.to;
  return status;
}
