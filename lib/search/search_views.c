// search_views.c - slices of inputs and concatenated outputs as views: they cost nothing.
//
// peel:  slices are pushed through the program to its inputs, and concatenations that are outputs are taken off. What
// is
//        left, the core, has parts of inputs as inputs of their own, and parts of outputs as outputs.
// wrap:  a µGraph for the core becomes one for the program. Its kernels take the whole tensors; loads of a part see the
//        part's window, and where one kernel stores all parts of an output, so do its stores. What is not inside a
//        kernel, or is stored by several, is sliced and concatenated by operators of their own.
//
// A slice is pushed only through values that nothing but slices or the one operator reads: no work is done twice.
//
// Example:   h = x @ w; silu(h[:, :n]) * h[:, n:]  has the core  silu(x @ w1) * (x @ w2), w1 and w2 columns of w.
//            RoPE reads two halves and concatenates two: its core is element-wise, with two results.
#include "search_internal.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 32 };

typedef struct Window { // of each dimension [begin, end); end 0 = all of it
  int64_t begin[MIRAGE_MAX_RANK], end[MIRAGE_MAX_RANK];
} Window;

typedef struct Part { // a core input: what of which input of the program
  MirageValue input;
  Window window;
  MirageValue core;
} Part;

struct SearchViews {
  const MirageUGraph *program;
  MirageUGraph *core;
  uint32_t *uses;
  MirageValue *whole;    // program value -> core value, once built
  bool building;         // the first walk only lists the parts, since inputs come before operators
  Part parts[MAX_PARTS]; // the core's inputs, in order
  uint32_t num_parts;
  bool failed; // too many parts
};

// ------------------------------------------------------------------------------------------------------------- windows

static bool is_whole(const Window *window) {
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    if (window->end[d])
      return false;
  return true;
}

static MirageType window_type(const MirageType *type, const Window *window) {
  MirageType part = *type;
  for (uint32_t d = 0; d < type->rank; d++)
    part.shape[d] = window->end[d] ? window->end[d] - window->begin[d] : type->shape[d];
  return part;
}

// The window of an operand of extent 1 or n, aligned from the right, of which the result is seen through `of`.
static Window aligned(const MirageType *operand, const MirageType *result, const Window *of, uint32_t skip_last) {
  Window window = {0};
  for (uint32_t i = skip_last + 1; i <= operand->rank && i <= result->rank; i++)
    if (operand->shape[operand->rank - i] != 1) {
      window.begin[operand->rank - i] = of->begin[result->rank - i];
      window.end[operand->rank - i] = of->end[result->rank - i];
    }
  return window;
}

static Window inside(const Window *outer, const Window *inner) {
  Window window = *inner;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++) {
    if (!inner->end[d]) {
      window.begin[d] = outer->begin[d];
      window.end[d] = outer->end[d];
    } else {
      window.begin[d] += outer->begin[d];
      window.end[d] += outer->begin[d];
    }
  }
  return window;
}

// What operand `index` of an operator is seen through when its result is seen through `of`; false when the operator
// does not admit that.
static bool operand_window(const SearchViews *views, const MirageNodeView *node, uint32_t index, const Window *of,
                           Window *out) {
  const MirageType *operand = mirage_ugraph_type(views->program, node->operands[index]);
  const MirageType *result = mirage_ugraph_type(views->program, node->first_result);
  bool flip;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
  case MIRAGE_KIND_CAST:
    *out = aligned(operand, result, of, 0);
    return true;
  case MIRAGE_KIND_MATMUL:
    flip = node->attrs && (index ? node->attrs->matmul.transpose_b : node->attrs->matmul.transpose_a);
    *out = aligned(operand, result, of, 2);
    uint32_t own = operand->rank - (index ? 1 : 2) + (flip ? index ? -1 : 1 : 0), theirs = result->rank - 2 + index;
    out->begin[own] = of->begin[theirs];
    out->end[own] = of->end[theirs];
    return node->num_operands == 2 && operand->rank >= 2;
  case MIRAGE_KIND_REDUCE:
    *out = *of;
    return !of->end[node->attrs->reduce.dim];
  default:
    return false;
  }
}

static Window slice_window(const MirageNodeView *node) {
  Window window = {0};
  window.begin[node->attrs->slice.dim] = node->attrs->slice.begin;
  window.end[node->attrs->slice.dim] = node->attrs->slice.end;
  return window;
}

static MirageNodeView def_of(const SearchViews *views, MirageValue value) {
  MirageNode def = mirage_ugraph_def(views->program, value);
  return def.index ? mirage_ugraph_node(views->program, def) : (MirageNodeView){0};
}

// Whether all that reads a value are slices.
static bool is_only_sliced(const SearchViews *views, MirageValue value) {
  MirageRegionView body = mirage_ugraph_region(views->program, mirage_ugraph_body(views->program));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(views->program, body.nodes[i]);
    for (uint32_t k = 0; k < node.num_operands; k++)
      if (node.operands[k].index == value.index && node.op != MIRAGE_OP_SLICE)
        return false;
  }
  return true;
}

// Whether `value` can be seen through a window without computing all of it, or anything twice.
static bool admits(const SearchViews *views, MirageValue value, const Window *window) {
  MirageNodeView node = def_of(views, value);
  if (is_whole(window) || node.op == MIRAGE_OP_NONE)
    return true;
  if (views->uses[value.index] != 1 && !is_only_sliced(views, value))
    return false;
  if (node.op == MIRAGE_OP_SLICE) {
    Window of = slice_window(&node), all = inside(&of, window);
    return admits(views, node.operands[0], &all);
  }
  for (uint32_t i = 0; i < node.num_operands; i++) {
    Window operand;
    if (!operand_window(views, &node, i, window, &operand) || !admits(views, node.operands[i], &operand))
      return false;
  }
  return mirage_op_info(node.op)->kind != MIRAGE_KIND_CONSTANT;
}

// ---------------------------------------------------------------------------------------------------------------- peel

static MirageValue add_part(SearchViews *views, MirageValue input, const Window *window) {
  for (uint32_t i = 0; i < views->num_parts; i++)
    if (views->parts[i].input.index == input.index && !memcmp(&views->parts[i].window, window, sizeof *window))
      return views->parts[i].core;
  if (views->num_parts == MAX_PARTS)
    views->failed = true;
  else
    views->parts[views->num_parts++] = (Part){.input = input, .window = *window};
  return (MirageValue){0};
}

static MirageValue core_value(SearchViews *views, MirageValue value, const Window *window);

static MirageValue core_node(SearchViews *views, const MirageNodeView *node, const Window *window) {
  MirageValue few[8], *operands = node->num_operands <= 8 ? few : malloc(node->num_operands * sizeof *operands);
  if (!operands) {
    views->failed = true;
    return (MirageValue){0};
  }
  for (uint32_t i = 0; i < node->num_operands; i++) {
    Window operand = {0};
    if (!is_whole(window))
      operand_window(views, node, i, window, &operand);
    operands[i] = core_value(views, node->operands[i], &operand);
  }
  MirageValue result = {0};
  if (views->building) {
    mirage_ugraph_set_loc(views->core, node->loc);
    result = mirage_ugraph_apply(views->core, node->op, node->num_operands, operands, node->attrs);
  }
  if (operands != few)
    free(operands);
  return result;
}

// What a value, seen through a window that it admits, is in the core.
static MirageValue core_value(SearchViews *views, MirageValue value, const Window *window) {
  MirageNodeView node = def_of(views, value);
  bool whole = is_whole(window);
  if (node.op == MIRAGE_OP_NONE)
    return add_part(views, value, window);
  if (whole && views->whole[value.index].index)
    return views->whole[value.index];
  MirageValue result = {0};
  Window of = node.op == MIRAGE_OP_SLICE ? slice_window(&node) : (Window){0}, all = inside(&of, window);
  if (node.op == MIRAGE_OP_SLICE && (!whole || admits(views, node.operands[0], &all)))
    result = core_value(views, node.operands[0], &all);
  else
    result = core_node(views, &node, window);
  if (whole)
    views->whole[value.index] = result;
  return result;
}

// The values that stand for output `index`: the parts of a concatenation that nothing else reads, or itself.
static const MirageValue *output_parts(const SearchViews *views, uint32_t index, MirageValue *output,
                                       uint32_t *out_count) {
  *output = mirage_ugraph_get_output(views->program, index);
  MirageNodeView node = def_of(views, *output);
  bool peeled = node.op == MIRAGE_OP_CONCAT && views->uses[output->index] == 1;
  for (uint32_t i = 0; peeled && i < node.num_operands; i++)
    peeled = def_of(views, node.operands[i]).op != MIRAGE_OP_NONE; // an input is no result
  *out_count = peeled ? node.num_operands : 1;
  return peeled ? node.operands : output;
}

static uint32_t visit_outputs(SearchViews *views, MirageValue *results) {
  const Window all = {0};
  uint32_t count = 0;
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(views->program); o++) {
    MirageValue output;
    uint32_t parts;
    const MirageValue *list = output_parts(views, o, &output, &parts);
    for (uint32_t i = 0; i < parts; i++) {
      if (count == MAX_PARTS) {
        views->failed = true;
        return count;
      }
      results[count++] = core_value(views, list[i], &all);
    }
  }
  return count;
}

// Whether anything is left to be gained: a program without views is its own core.
static bool has_views(const SearchViews *views, uint32_t num_results) {
  bool found = num_results != mirage_ugraph_num_outputs(views->program);
  for (uint32_t i = 0; i < views->num_parts; i++)
    found = found || !is_whole(&views->parts[i].window);
  return found && !views->failed;
}

static bool init(SearchViews *views, const MirageUGraph *program) {
  size_t values = mirage_ugraph_num_values(program) + 1;
  views->program = program;
  views->uses = calloc(values, sizeof *views->uses);
  views->whole = calloc(values, sizeof *views->whole);
  if (!views->uses || !views->whole)
    return false;
  MirageRegionView body = mirage_ugraph_region(program, mirage_ugraph_body(program));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(program, body.nodes[i]);
    views->failed |= node.region.index != 0;
    for (uint32_t k = 0; k < node.num_operands; k++)
      views->uses[node.operands[k].index]++;
  }
  return true;
}

// Builds it, but for results that are inputs: then there is nothing to search, and it is not finished.
static MirageStatus build_core(SearchViews *views, const MirageDiag *diag) {
  MirageValue results[MAX_PARTS];
  views->core = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(views->program)->name, diag);
  if (!views->core)
    return MIRAGE_NO_MEMORY;
  views->building = true;
  memset(views->whole, 0, (mirage_ugraph_num_values(views->program) + 1) * sizeof *views->whole);
  for (uint32_t i = 0; i < views->num_parts; i++) {
    Part *part = &views->parts[i];
    MirageType type = window_type(mirage_ugraph_type(views->program, part->input), &part->window);
    part->core = mirage_ugraph_input(views->core, type);
  }
  uint32_t count = visit_outputs(views, results);
  for (uint32_t i = 0; i < count; i++)
    views->failed |= !mirage_ugraph_def(views->core, results[i]).index;
  if (views->failed)
    return mirage_ugraph_status(views->core);
  mirage_ugraph_return(views->core, count, results);
  return mirage_ugraph_finish(views->core);
}

MirageStatus mirage__search_peel(const MirageUGraph *program, const MirageDiag *diag, SearchViews **out_views,
                                 const MirageUGraph **out_core) {
  MirageValue results[MAX_PARTS];
  SearchViews *views = calloc(1, sizeof *views);
  *out_views = NULL;
  *out_core = program;
  if (!views || !init(views, program)) {
    mirage__search_views_destroy(views);
    return MIRAGE_NO_MEMORY;
  }
  if (views->failed || !has_views(views, visit_outputs(views, results))) {
    mirage__search_views_destroy(views);
    return MIRAGE_OK;
  }
  MirageStatus status = build_core(views, diag);
  if (status != MIRAGE_OK || views->failed) {
    mirage__search_views_destroy(views);
    return status;
  }
  *out_views = views;
  *out_core = views->core;
  return MIRAGE_OK;
}

void mirage__search_views_destroy(SearchViews *views) {
  if (!views)
    return;
  mirage_ugraph_destroy(views->core);
  free(views->uses);
  free(views->whole);
  free(views);
}

// ---------------------------------------------------------------------------------------------------------------- wrap

typedef struct Seen { // a value of the core's µGraph: part of a tensor of the program's
  MirageValue tensor;
  Window window;
} Seen;

typedef struct Wrap {
  const SearchViews *views;
  const MirageUGraph *from;
  MirageUGraph *to;
  Seen *seen;       // by value of `from`: kernel-level tensors, and arguments of custom kernels
  MirageValue *map; // by value of `from`: tiles, and tensors that are materialised
} Wrap;

// The tensor itself: as it lies, or sliced out, a dimension at a time.
static MirageValue materialise(Wrap *wrap, MirageValue value) {
  const Seen *seen = &wrap->seen[value.index];
  if (wrap->map[value.index].index)
    return wrap->map[value.index];
  MirageValue result = seen->tensor;
  for (int32_t d = 0; d < MIRAGE_MAX_RANK; d++) {
    MirageAttrs attrs = {.slice = {d, seen->window.begin[d], seen->window.end[d]}};
    if (seen->window.end[d])
      result = mirage_ugraph_apply(wrap->to, MIRAGE_OP_SLICE, 1, &result, &attrs);
  }
  return wrap->map[value.index] = result;
}

static MirageAccessAttrs windowed(const MirageAccessAttrs *access, const Window *window) {
  MirageAccessAttrs result = *access;
  Window own, all;
  memcpy(own.begin, access->begin, sizeof own.begin);
  memcpy(own.end, access->end, sizeof own.end);
  all = inside(window, &own);
  memcpy(result.begin, all.begin, sizeof all.begin);
  memcpy(result.end, all.end, sizeof all.end);
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
    MirageAccessAttrs access = windowed(&node.attrs->access, &seen->window);
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

// The output of the program that value v of the core's µGraph is a part of, and its window there; UINT32_MAX when the
// parts are no results of one custom kernel, or are outputs as they are.
static uint32_t joined_output(const Wrap *wrap, MirageValue value, Window *out_window) {
  const SearchViews *views = wrap->views;
  MirageNode kernel = mirage_ugraph_def(wrap->from, value);
  uint32_t first = 0, parts;
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(views->program); o++, first += parts) {
    MirageValue output;
    output_parts(views, o, &output, &parts);
    if (parts == 1)
      continue;
    MirageNodeView concat = def_of(views, output);
    int32_t dim = concat.attrs->dim.dim;
    int64_t at = 0;
    bool here = false, joined = true;
    for (uint32_t i = 0; i < parts; i++) {
      MirageValue part = mirage_ugraph_get_output(wrap->from, first + i);
      int64_t extent = mirage_ugraph_type(wrap->from, part)->shape[dim];
      joined = joined && mirage_ugraph_def(wrap->from, part).index == kernel.index;
      for (uint32_t j = 0; j < i; j++) // one value twice needs two places
        joined = joined && mirage_ugraph_get_output(wrap->from, first + j).index != part.index;
      if (part.index == value.index) {
        here = true;
        *out_window = (Window){0};
        out_window->begin[dim] = at;
        out_window->end[dim] = at + extent;
      }
      at += extent;
    }
    if (here)
      return joined && kernel.index && mirage_ugraph_node(wrap->from, kernel).op == MIRAGE_OP_CUSTOM ? o : UINT32_MAX;
  }
  return UINT32_MAX;
}

// Results that are parts of one output become that output.
static uint32_t plan_results(const Wrap *wrap, const MirageNodeView *node, MirageType *types, uint32_t *place,
                             Window *windows) {
  uint32_t count = 0, of_output[MAX_PARTS];
  for (uint32_t i = 0; i < node->num_results; i++) {
    MirageValue result = {node->first_result.index + i};
    windows[i] = (Window){0};
    uint32_t output = joined_output(wrap, result, &windows[i]);
    if (output == UINT32_MAX)
      windows[i] = (Window){0};
    place[i] = count;
    for (uint32_t j = 0; j < i; j++)
      if (output != UINT32_MAX && of_output[j] == output)
        place[i] = place[j];
    of_output[i] = output;
    if (place[i] != count)
      continue;
    types[count++] = output == UINT32_MAX ? *mirage_ugraph_type(wrap->from, result)
                                          : *mirage_ugraph_type(wrap->views->program,
                                                                mirage_ugraph_get_output(wrap->views->program, output));
  }
  return count;
}

static void wrap_custom(Wrap *wrap, MirageNode id, const MirageNodeView *node) {
  MirageRegionView body = mirage_ugraph_region(wrap->from, node->region);
  MirageValue operands[64];
  MirageType types[MAX_PARTS];
  Window windows[MAX_PARTS];
  uint32_t place[MAX_PARTS];
  for (uint32_t i = 0; i < node->num_operands; i++)
    operands[i] = wrap->seen[node->operands[i].index].tensor;
  uint32_t count = plan_results(wrap, node, types, place, windows);
  MirageNode custom =
      mirage_ugraph_open_custom(wrap->to, node->num_operands, operands, count, types, &node->attrs->custom);
  for (uint32_t i = 0; i < body.num_arguments; i++) {
    bool result = i >= node->num_operands;
    uint32_t r = result ? i - node->num_operands : 0, at = result ? node->num_operands + place[r] : i;
    wrap->seen[body.first_argument.index + i] = (Seen){
        mirage_ugraph_argument(wrap->to, custom, at), result ? windows[r] : wrap->seen[node->operands[i].index].window};
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
    wrap->seen[result.index] = (Seen){.tensor = wrap->map[result.index]};
  }
}

// An output of the program: a tensor that holds all its parts already, or their concatenation.
static MirageValue wrap_output(Wrap *wrap, uint32_t output, uint32_t first, uint32_t parts) {
  MirageValue list[MAX_PARTS], value;
  if (parts == 1)
    return materialise(wrap, mirage_ugraph_get_output(wrap->from, first));
  Window window;
  if (joined_output(wrap, mirage_ugraph_get_output(wrap->from, first), &window) == output)
    return wrap->seen[mirage_ugraph_get_output(wrap->from, first).index].tensor;
  for (uint32_t i = 0; i < parts; i++)
    list[i] = materialise(wrap, mirage_ugraph_get_output(wrap->from, first + i));
  value = mirage_ugraph_get_output(wrap->views->program, output);
  return mirage_ugraph_apply(wrap->to, MIRAGE_OP_CONCAT, parts, list, def_of(wrap->views, value).attrs);
}

static void wrap_graph(Wrap *wrap) {
  const SearchViews *views = wrap->views;
  MirageValue inputs[MAX_PARTS], outputs[MAX_PARTS];
  uint32_t num_inputs = mirage_ugraph_num_inputs(views->program),
           num_outputs = mirage_ugraph_num_outputs(views->program);
  MirageRegionView body = mirage_ugraph_region(wrap->from, mirage_ugraph_body(wrap->from));
  for (uint32_t i = 0; i < num_inputs; i++) {
    MirageValue old = mirage_ugraph_get_input(views->program, i);
    MirageValue input = mirage_ugraph_input(wrap->to, *mirage_ugraph_type(views->program, old));
    for (uint32_t p = 0; p < views->num_parts; p++)
      if (views->parts[p].input.index == old.index)
        inputs[p] = input;
  }
  for (uint32_t p = 0; p < views->num_parts; p++)
    wrap->seen[mirage_ugraph_get_input(wrap->from, p).index] = (Seen){inputs[p], views->parts[p].window};
  for (uint32_t i = 0; i + 1 < body.num_nodes && mirage_ugraph_status(wrap->to) == MIRAGE_OK; i++)
    wrap_node(wrap, body.nodes[i]);
  for (uint32_t o = 0, first = 0, parts; o < num_outputs; o++, first += parts) {
    MirageValue output;
    output_parts(views, o, &output, &parts);
    outputs[o] = wrap_output(wrap, o, first, parts);
  }
  mirage_ugraph_return(wrap->to, num_outputs, outputs);
}

MirageStatus mirage__search_wrap(const SearchViews *views, const MirageUGraph *found, const MirageDiag *diag,
                                 MirageUGraph **out_graph) {
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(found);
  size_t values = mirage_ugraph_num_values(found) + 1;
  Wrap wrap = {.views = views, .from = found, .to = mirage_ugraph_create(NULL, meta->name, diag)};
  wrap.seen = calloc(values, sizeof *wrap.seen);
  wrap.map = calloc(values, sizeof *wrap.map);
  MirageStatus status = wrap.to && wrap.seen && wrap.map ? MIRAGE_OK : MIRAGE_NO_MEMORY;
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
  if (status != MIRAGE_OK)
    mirage_ugraph_destroy(wrap.to);
  else
    *out_graph = wrap.to;
  return status;
}
