// search_peel.c - slices, transpositions, reshapes, repeats and concatenations as views: they cost nothing.
//
// inputs:   what only slices, transposes and reshapes an input is a view of it (search_view.c), and so is a slice that
//           is pushed through other operators to their operands. Repeated heads are broadcast. Of a stored type the cast
//           comes behind its views.
// outputs:  transpositions, reshapes and concatenations that nothing but an output reads are taken off.
// groups:   products whose contraction comes in groups are batches of products (search_grouped.c).
// between:  axes are split and merged as reshapes of what was computed ask for (search_factors.c).
// names:    an input that is read along several axes becomes an input for each of them: x x^T has two.
// What is left, the core, has views of inputs as inputs of their own, and views of outputs as outputs; search_wrap.c
// turns µGraphs for it into ones for the program.
//
// A slice is pushed only through values that nothing but slices or the one operator reads: no work is done twice.
//
// Example:   h = x @ w; silu(h[:, :n]) * h[:, n:]  has the core  silu(x @ w1) * (x @ w2), w1 and w2 columns of w.
//            RoPE reads two halves and concatenates two: its core is element-wise, with two results.
//            Heads split off q, k, v of [S, H D] and merged after attention: the core's are [H, S, D], all four.
#include "search/program/search_program.h"
#include "search/views/search_core.h"
#include "search/views/search_grouped.h"
#include <stdlib.h>
#include <string.h>

// -------------------------------------------------------------------------------------------------------------- inputs

static void find_input_views(SearchViews *views) {
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(views->program); i++) {
    MirageValue input = mirage_ugraph_get_input(views->program, i);
    views->input_of[input.index] = input;
    views->view_of[input.index] = mirage__view_whole(mirage_ugraph_type(views->program, input));
  }
  MirageRegionView body = mirage_ugraph_region(views->program, mirage_ugraph_body(views->program));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(views->program, body.nodes[i]);
    uint32_t result = node.first_result.index;
    bool swapped;
    if (node.num_operands != 1 || node.num_results != 1 || !views->input_of[node.operands[0].index].index)
      continue;
    View view = views->view_of[node.operands[0].index];
    MirageValue input = views->input_of[node.operands[0].index];
    bool stored = mirage_dtype_is_stored(mirage_ugraph_type(views->program, input)->dtype);
    bool casts = stored && node.op == MIRAGE_OP_CAST;
    if ((!casts && !mirage__view_after(&view, &node, mirage_ugraph_type(views->program, node.first_result))) ||
        !mirage__view_is_loadable(&view, &swapped) || (stored && swapped))
      continue;
    views->input_of[result] = views->input_of[node.operands[0].index];
    views->view_of[result] = view;
    views->peeled[result] = true;
  }
}

static bool is_same(const Part *a, const Part *b) {
  return a->input.index == b->input.index && a->swapped == b->swapped && !memcmp(&a->view, &b->view, sizeof a->view);
}

// The core's value for a view of an input.
static MirageValue take_part(SearchViews *views, MirageValue input, const View *seen) {
  uint32_t read = views->num_reads++;
  Part part = {.input = input, .view = *seen, .name = read};
  if (!views->apart)
    part.name = read < MAX_PARTS ? views->names[read] : 0;
  if (!mirage__view_is_loadable(&part.view, &part.swapped))
    views->failed = true;
  if (part.swapped)
    mirage__view_swap(&part.view);
  for (uint32_t i = 0; i < views->num_parts; i++) {
    Part *other = &views->parts[i];
    if (!is_same(other, &part) || other->name != part.name)
      continue;
    if (part.swapped && views->building && !other->value.index) {
      MirageAttrs attrs = {.perm = {{0}}};
      for (uint32_t d = 0; d < part.view.rank; d++)
        attrs.perm.perm[d] = (int32_t)(d + 2 < part.view.rank ? d : 2 * part.view.rank - 3 - d);
      other->value = mirage_ugraph_apply(views->core, MIRAGE_OP_TRANSPOSE, 1, &other->core, &attrs);
    }
    return part.swapped ? other->value : other->core;
  }
  if (views->num_parts == MAX_PARTS)
    views->failed = true;
  else
    views->parts[views->num_parts++] = part;
  return (MirageValue){0};
}

// The core's value for what a value sees of its input: that cast, where the value is of another type.
static MirageValue take_cast(SearchViews *views, MirageValue value, const View *view) {
  MirageValue input = views->input_of[value.index], part = take_part(views, input, view);
  MirageDType dtype = mirage_ugraph_type(views->program, value)->dtype;
  bool casts = part.index && dtype != mirage_ugraph_type(views->program, input)->dtype;
  return casts && views->building ? mirage_ugraph_cast(views->core, part, dtype) : part;
}

static MirageValue core_input(SearchViews *views, MirageValue value, const Window *window) {
  View view = views->view_of[value.index];
  MirageType type;
  uint32_t first[MIRAGE_MAX_RANK + 1];
  for (uint32_t d = 0; d < view.rank; d++)
    if (window->end[d])
      mirage__view_slice(&view, d, window->begin[d], window->end[d]);
  if (mirage__window_is_whole(window) && (!mirage__factors_shape(views->program, views->factors, value, &type, first) ||
                                          !mirage__view_reshape(&view, type.rank, type.shape)))
    views->failed = true;
  return take_cast(views, value, &view);
}

// ------------------------------------------------------------------------------------------------------------
// operators

// The operator's attributes where each factor is a dimension; false when it cannot be written so.
typedef struct Written {
  MirageOp op; // NONE: its operand, as it is
  MirageAttrs attrs;
  uint32_t times; // a reduction, once for each factor of its dimension, the last first
} Written;

static bool write_matmul(SearchViews *views, const MirageNodeView *node) {
  MirageValue a = node->operands[0], b = node->operands[1];
  uint32_t rank_a = mirage_ugraph_type(views->program, a)->rank, rank_b = mirage_ugraph_type(views->program, b)->rank;
  bool flip = node->attrs && node->attrs->matmul.transpose_a;
  if (rank_a < 2 || rank_b < 2)
    return false;
  bool rows =
      mirage__views_factors(views, a, rank_a - 2 + flip)->num_cuts > 0; // the outer ones become a batch that b has not
  return !(rows && (flip || rank_b > 2)) && !mirage__views_factors(views, a, rank_a - 1 - flip)->num_cuts &&
         !mirage__views_factors(views, b, rank_b - 1)->num_cuts &&
         !mirage__views_factors(views, b, rank_b - 2)->num_cuts;
}

static bool write(SearchViews *views, const MirageNodeView *node, Written *out) {
  MirageType type, from = {0};
  uint32_t first[MIRAGE_MAX_RANK + 1], from_first[MIRAGE_MAX_RANK + 1] = {0};
  bool fits = mirage__factors_shape(views->program, views->factors, node->first_result, &type, first);
  if (node->num_operands)
    fits = fits && mirage__factors_shape(views->program, views->factors, node->operands[0], &from, from_first);
  *out = (Written){.op = node->op, .times = 1};
  if (node->attrs)
    out->attrs = *node->attrs;
  uint32_t dim, rank = mirage_ugraph_type(views->program, node->first_result)->rank;
  switch (node->op) {
  case MIRAGE_OP_MATMUL:
    return fits && write_matmul(views, node);
  case MIRAGE_OP_CONSTANT:
    out->attrs.constant.type = type;
    return fits;
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t d = 0, at = 0; fits && d < rank; d++)
      for (uint32_t i = from_first[node->attrs->perm.perm[d]]; i < from_first[node->attrs->perm.perm[d] + 1]; i++)
        out->attrs.perm.perm[at++] = (int32_t)i;
    return fits;
  case MIRAGE_OP_RESHAPE:
    out->op = fits && mirage_type_same_shape(&from, &type) ? MIRAGE_OP_NONE : MIRAGE_OP_RESHAPE;
    out->attrs.shape.type = type;
    return fits;
  case MIRAGE_OP_REPEAT:
    dim = (uint32_t)node->attrs->repeat.dim;
    if (mirage_ugraph_type(views->program, node->operands[0])->shape[dim] == 1) {
      out->op = MIRAGE_OP_BROADCAST;
      out->attrs.shape.type = type;
      return fits;
    }
    out->attrs.repeat.dim = (int32_t)first[dim];
    break;
  case MIRAGE_OP_BROADCAST:
    out->attrs.shape.type = type;
    return fits;
  case MIRAGE_OP_SLICE:
    dim = (uint32_t)node->attrs->slice.dim;
    out->attrs.slice.dim = (int32_t)first[dim];
    break;
  case MIRAGE_OP_CONCAT:
    dim = (uint32_t)node->attrs->dim.dim;
    out->attrs.dim.dim = (int32_t)first[dim];
    break;
  default:
    if (mirage_op_info(node->op)->kind != MIRAGE_KIND_REDUCE)
      return fits;
    dim = (uint32_t)node->attrs->reduce.dim;
    out->times = mirage__views_factors(views, node->first_result, dim)->num_cuts + 1;
    out->attrs.reduce.dim = (int32_t)(first[dim + 1] - 1);
    return fits && (out->times == 1 || node->attrs->reduce.extent == 1);
  }
  for (uint32_t i = 0; i < node->num_operands; i++) // along which it is not the same axis
    fits = fits && !mirage__views_factors(views, node->operands[i], dim)->num_cuts;
  return fits && !mirage__views_factors(views, node->first_result, dim)->num_cuts;
}

static MirageValue build_node(SearchViews *views, const MirageNodeView *node, const Window *window,
                              const MirageValue *operands) {
  Written written = {.op = node->op, .times = 1};
  if (!mirage__window_is_whole(window))
    written.attrs = node->attrs ? *node->attrs : (MirageAttrs){0};
  else if (!write(views, node, &written))
    views->failed = true;
  if (views->failed)
    return (MirageValue){0};
  if (written.op == MIRAGE_OP_NONE)
    return operands[0];
  mirage_ugraph_set_loc(views->core, node->loc);
  MirageValue result = mirage_ugraph_apply(views->core, written.op, node->num_operands, operands, &written.attrs);
  for (uint32_t i = 1; i < written.times; i++) {
    written.attrs.reduce.dim--;
    result = mirage_ugraph_apply(views->core, written.op, 1, &result, &written.attrs);
  }
  return result;
}

// Copies of an input side by side: a dimension of extent 1 in front of the one that is repeated, broadcast.
static MirageValue core_copies(SearchViews *views, const MirageNodeView *node) {
  MirageValue operand = node->operands[0];
  View view = views->view_of[operand.index];
  MirageType all;
  uint32_t first[MIRAGE_MAX_RANK + 1];
  bool fits = mirage__factors_shape(views->program, views->factors, node->first_result, &all, first);
  MirageType apart = all;
  if (fits)
    apart.shape[first[node->attrs->repeat.dim]] = 1;
  if (!fits || !mirage__view_reshape(&view, apart.rank, apart.shape)) {
    views->failed = true;
    return (MirageValue){0};
  }
  MirageValue part = take_cast(views, operand, &view);
  MirageAttrs attrs = {.shape = {.type = all}};
  return views->building ? mirage_ugraph_apply(views->core, MIRAGE_OP_BROADCAST, 1, &part, &attrs) : part;
}

static bool is_copies(const SearchViews *views, const MirageNodeView *node) {
  return node->op == MIRAGE_OP_REPEAT && views->input_of[node->operands[0].index].index &&
         mirage_ugraph_type(views->program, node->operands[0])->shape[node->attrs->repeat.dim] > 1;
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
    if (!mirage__window_is_whole(window))
      mirage__window_of_operand(views, node, i, window, &operand);
    operands[i] = core_value(views, node->operands[i], &operand);
  }
  MirageValue result = views->building ? build_node(views, node, window, operands) : (MirageValue){0};
  if (operands != few)
    free(operands);
  return result;
}

// What a value, seen through a window that it admits, is in the core.
static MirageValue core_value(SearchViews *views, MirageValue value, const Window *window) {
  MirageNodeView node = mirage__views_def(views, value);
  bool whole = mirage__window_is_whole(window);
  if (views->input_of[value.index].index)
    return core_input(views, value, window);
  if (whole && views->whole[value.index].index)
    return views->whole[value.index];
  MirageValue result = {0};
  Window of = node.op == MIRAGE_OP_SLICE ? mirage__window_of_slice(&node) : (Window){0},
         all = mirage__window_inside(&of, window);
  uint32_t part;
  Window shown;
  if (node.op == MIRAGE_OP_SLICE && (!whole || mirage__window_admitted(views, node.operands[0], &all)))
    result = core_value(views, node.operands[0], &all);
  else if (node.op == MIRAGE_OP_CONCAT && mirage__window_of_part(views, &node, window, &part, &shown))
    result = core_value(views, node.operands[part], &shown);
  else if (is_copies(views, &node) && whole)
    result = core_copies(views, &node);
  else
    result = core_node(views, &node, window);
  if (whole)
    views->whole[value.index] = views->building ? result : value; // listed
  return result;
}

// ------------------------------------------------------------------------------------------------------------- outputs

static bool is_result(const SearchViews *views, MirageValue value) {
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(views->program); o++)
    if (mirage_ugraph_get_output(views->program, o).index == value.index)
      return true;
  for (uint32_t i = 0; i < views->num_results; i++)
    if (views->results[i].root.index == value.index)
      return true;
  return false;
}

// Whether what it is made of may stand for it: computed, and no result in its own right.
static bool may_stand(const SearchViews *views, MirageValue value) {
  return !views->input_of[value.index].index && !is_result(views, value) &&
         mirage_op_info(mirage__views_def(views, value).op)->kind != MIRAGE_KIND_CONSTANT;
}

static void add_result(SearchViews *views, const Result *result) {
  if (views->num_results == MAX_PARTS)
    views->failed = true;
  else
    views->results[views->num_results++] = *result;
}

// What concat_behind has found out about a value: nothing yet, or the node of the concatenation behind it.
enum { NOT_ASKED, NO_CONCAT = UINT32_MAX };

static uint32_t ask_behind(SearchViews *views, MirageValue value);

// The first of its operands, of its own shape, that has one.
static uint32_t concat_of_operands(SearchViews *views, const MirageNodeView *node, MirageValue value) {
  uint32_t found = NO_CONCAT;
  for (uint32_t i = 0; i < node->num_operands && found == NO_CONCAT; i++)
    if (mirage_type_same_shape(mirage_ugraph_type(views->program, node->operands[i]),
                               mirage_ugraph_type(views->program, value)))
      found = ask_behind(views, node->operands[i]);
  return found;
}

// Every value is asked about once: two operators that use a value twice would ask four times, and so on.
static uint32_t ask_behind(SearchViews *views, MirageValue value) {
  uint32_t *known = &views->concat[value.index];
  if (*known != NOT_ASKED)
    return *known;
  MirageNodeView node = mirage__views_def(views, value);
  MirageOpKind kind = node.op == MIRAGE_OP_NONE ? MIRAGE_KIND_CONSTANT : mirage_op_info(node.op)->kind;
  bool follows = kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || kind == MIRAGE_KIND_CAST;
  if (node.op == MIRAGE_OP_CONCAT)
    *known = mirage_ugraph_def(views->program, value).index;
  else
    *known = follows ? concat_of_operands(views, &node, value) : NO_CONCAT;
  return *known;
}

// The concatenation, if any, from which a value follows element by element. Operands have smaller numbers: those below
// are asked first, so that no question goes deep.
static MirageNodeView concat_behind(SearchViews *views, MirageValue value) {
  for (uint32_t v = 1; v <= value.index; v++)
    ask_behind(views, (MirageValue){v});
  uint32_t node = ask_behind(views, value);
  return node == NO_CONCAT ? (MirageNodeView){0} : mirage_ugraph_node(views->program, (MirageNode){node});
}

// What follows from a concatenation is computed part by part: each part of the value becomes a result.
static bool add_parts(SearchViews *views, MirageValue root, uint32_t output, const View *view) {
  MirageNodeView concat = concat_behind(views, root);
  Result result = {.root = root, .output = output};
  uint32_t first = views->num_results;
  for (uint32_t i = 0; i < concat.num_operands; i++) {
    Window window = {0};
    result.dim = concat.attrs->dim.dim;
    result.begin = result.end;
    result.end += mirage_ugraph_type(views->program, concat.operands[i])->shape[result.dim];
    result.view = *view;
    window.begin[result.dim] = result.begin;
    window.end[result.dim] = result.end;
    mirage__view_slice(&result.view, (uint32_t)result.dim, result.begin, result.end);
    if (!mirage__window_admitted(views, root, &window)) {
      views->num_results = first;
      return false;
    }
    add_result(views, &result);
  }
  return concat.num_operands > 0;
}

static void peel_output(SearchViews *views, MirageValue value, uint32_t output, View view);

static bool peel_concat(SearchViews *views, const MirageNodeView *node, uint32_t output, const View *view) {
  uint32_t dim = (uint32_t)node->attrs->dim.dim;
  int64_t at = 0;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    if (!may_stand(views, node->operands[i]))
      return false;
    for (uint32_t j = 0; j < i; j++)
      if (node->operands[j].index == node->operands[i].index)
        return false;
  }
  for (uint32_t i = 0; i < node->num_operands; i++) {
    int64_t extent = mirage_ugraph_type(views->program, node->operands[i])->shape[dim];
    View part = *view;
    mirage__view_slice(&part, dim, at, at + extent);
    peel_output(views, node->operands[i], output, part);
    at += extent;
  }
  return true;
}

// Adds what stands for an output, or a part of it, that a store can see.
static void peel_output(SearchViews *views, MirageValue value, uint32_t output, View view) {
  MirageValue good = value;
  View good_view = view;
  for (;;) {
    MirageNodeView node = mirage__views_def(views, value);
    if (views->input_of[value.index].index || views->uses[value.index] != 1)
      break;
    if (node.op == MIRAGE_OP_CONCAT && mirage__view_has_rows(&view) && peel_concat(views, &node, output, &view)) {
      views->peeled[value.index] = true;
      return;
    }
    if (node.num_operands != 1 || !may_stand(views, node.operands[0]) ||
        !mirage__view_before(&view, &node, mirage_ugraph_type(views->program, node.operands[0])))
      break;
    value = node.operands[0];
    if (!mirage__view_has_rows(&view))
      continue;
    good = value;
    good_view = view;
  }
  if (!add_parts(views, good, output, &good_view))
    add_result(views, &(Result){.root = good, .dim = -1, .output = output, .view = good_view});
}

// Marks what lies between outputs and the values that stand for them.
static void mark_peeled(SearchViews *views, MirageValue value) {
  if (views->peeled[value.index])
    return;
  for (uint32_t i = 0; i < views->num_results; i++)
    if (views->results[i].root.index == value.index)
      return;
  MirageNodeView node = mirage__views_def(views, value);
  views->peeled[value.index] = true;
  for (uint32_t i = 0; i < node.num_operands; i++)
    mark_peeled(views, node.operands[i]);
}

static void find_results(SearchViews *views) {
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(views->program); o++) {
    MirageValue output = mirage_ugraph_get_output(views->program, o);
    peel_output(views, output, o, mirage__view_whole(mirage_ugraph_type(views->program, output)));
  }
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(views->program) && !views->failed; o++)
    mark_peeled(views, mirage_ugraph_get_output(views->program, o));
}

// ---------------------------------------------------------------------------------------------------------------- peel

static bool init(SearchViews *views) {
  const MirageUGraph *program = views->program;
  size_t values = mirage_ugraph_num_values(program) + 1;
  views->uses = calloc(values, sizeof *views->uses);
  views->input_of = calloc(values, sizeof *views->input_of);
  views->view_of = calloc(values, sizeof *views->view_of);
  views->peeled = calloc(values, sizeof *views->peeled);
  views->concat = calloc(values, sizeof *views->concat);
  views->factors = calloc(values * MIRAGE_MAX_RANK, sizeof *views->factors);
  views->whole = calloc(values, sizeof *views->whole);
  if (!views->uses || !views->input_of || !views->view_of || !views->peeled || !views->concat || !views->factors ||
      !views->whole)
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

// Splits axes where reshapes in between ask for it; where they cannot be followed, they stay what they are.
static void find_factors(SearchViews *views) {
  const MirageUGraph *program = views->program;
  if (!mirage__factors_find(program, views->peeled, views->factors))
    memset(views->factors, 0,
           (mirage_ugraph_num_values(program) + 1) * (size_t)MIRAGE_MAX_RANK * sizeof *views->factors);
  for (uint32_t i = 0; i < views->num_results && !views->failed; i++) {
    MirageType type;
    uint32_t first[MIRAGE_MAX_RANK + 1];
    Result *result = &views->results[i];
    bool fits = mirage__factors_shape(program, views->factors, result->root, &type, first);
    if (result->dim < 0)
      fits = fits && mirage__view_reshape(&result->view, type.rank, type.shape);
    else // parts are not split
      fits = fits && mirage_type_same_shape(&type, mirage_ugraph_type(program, result->root));
    views->failed = !fits || !mirage__view_has_rows(&result->view);
  }
}

static void visit_results(SearchViews *views, MirageValue *out_results) {
  memset(views->whole, 0, (mirage_ugraph_num_values(views->program) + 1) * sizeof *views->whole);
  views->num_reads = 0;
  for (uint32_t i = 0; i < views->num_results && !views->failed; i++) {
    const Result *result = &views->results[i];
    Window window = {0};
    if (result->dim >= 0) {
      window.begin[result->dim] = result->begin;
      window.end[result->dim] = result->end;
    }
    out_results[i] = core_value(views, result->root, &window);
  }
}

static bool is_changed(const MirageType *tensor, const View *view) {
  MirageType reshaped = mirage__view_tensor(view, tensor->dtype);
  return !mirage__view_is_dense(view) || !mirage_type_same_shape(&reshaped, tensor);
}

// Whether anything is gained: a program without views is its own core.
static bool has_views(const SearchViews *views) {
  const MirageUGraph *program = views->program;
  bool found = false;
  for (uint32_t i = 0; i < views->num_parts; i++) {
    const Part *part = &views->parts[i];
    found |= part->swapped || is_changed(mirage_ugraph_type(program, part->input), &part->view);
  }
  for (uint32_t i = 0; i < views->num_results; i++) {
    MirageValue output = mirage_ugraph_get_output(program, views->results[i].output);
    found |= is_changed(mirage_ugraph_type(program, output), &views->results[i].view);
  }
  return found;
}

// Lists the parts, then builds the core; but for results that are inputs: then there is nothing to search, and it is
// not finished.
static MirageStatus build_core(SearchViews *views) {
  MirageValue results[MAX_PARTS];
  mirage_ugraph_destroy(views->core);
  views->core = NULL;
  views->num_parts = 0;
  views->building = false;
  visit_results(views, results);
  if (views->failed)
    return MIRAGE_OK;
  views->core = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(views->program)->name, NULL);
  if (!views->core)
    return MIRAGE_NO_MEMORY;
  views->building = true;
  for (uint32_t i = 0; i < views->num_parts; i++) {
    Part *part = &views->parts[i];
    MirageDType dtype = mirage_ugraph_type(views->program, part->input)->dtype;
    part->core = mirage_ugraph_input(views->core, mirage__view_type(&part->view, dtype));
  }
  visit_results(views, results);
  for (uint32_t i = 0; i < views->num_results && !views->failed; i++)
    views->failed |= !mirage_ugraph_def(views->core, results[i]).index;
  if (views->failed)
    return MIRAGE_OK;
  mirage_ugraph_return(views->core, views->num_results, results);
  return mirage_ugraph_finish(views->core);
}

// -------------------------------------------------------------------------------------------------------------- names

static bool has_repeated(const SearchProgram *program) {
  bool found = false;
  for (uint32_t i = 1; i < program->num_axes; i++)
    found |= program->axes[i].repeated;
  return found;
}

// Gives reads along the same axes one name. Returns whether some input has several.
static bool name_reads(SearchViews *views, const SearchProgram *program) {
  bool several = false;
  for (uint32_t i = 0; i < views->num_parts; i++) { // a part for each read
    const Part *part = &views->parts[i];
    uint32_t first = i;
    for (uint32_t j = i; j-- > 0;) {
      if (!is_same(&views->parts[j], part))
        continue;
      bool equal = !memcmp(program->dims[mirage_ugraph_get_input(program->graph, j).index],
                           program->dims[mirage_ugraph_get_input(program->graph, i).index], sizeof *program->dims);
      first = equal ? j : first;
      several |= !equal;
    }
    views->names[i] = first == i ? i : views->names[first];
  }
  return several;
}

// An input that is read along several axes ties them: x x^T has its rows twice, which no block may split. Where that
// happens, every read gets a name of its own for a moment, and those that walk the same axes nevertheless share one.
static MirageStatus untie(SearchViews *views, bool *out_named) {
  SearchProgram program;
  *out_named = false;
  MirageStatus status = mirage__search_program_init(&program, views->core, NULL);
  if (status != MIRAGE_OK)
    return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
  bool tied = has_repeated(&program);
  mirage__search_program_deinit(&program);
  if (!tied)
    return MIRAGE_OK;
  views->apart = true;
  MIRAGE_TRY(build_core(views));
  views->apart = false;
  if (!views->failed && mirage__search_program_init(&program, views->core, NULL) == MIRAGE_OK) {
    *out_named = name_reads(views, &program);
    mirage__search_program_deinit(&program);
  }
  if (!*out_named)
    memset(views->names, 0, sizeof views->names);
  views->failed = false; // too many reads
  return build_core(views);
}

static MirageStatus peel(SearchViews *views) {
  bool named = false;
  if (!init(views))
    return MIRAGE_NO_MEMORY;
  find_input_views(views);
  if (!views->failed)
    find_results(views);
  if (!views->failed)
    find_factors(views);
  if (!views->failed)
    MIRAGE_TRY(build_core(views));
  if (!views->failed)
    MIRAGE_TRY(untie(views, &named));
  views->failed |= !named && !has_views(views);
  return MIRAGE_OK;
}

// The program's elementary operators, products in groups as batches of them.
static MirageStatus elementary(const MirageUGraph *program, const MirageDiag *diag, MirageUGraph **out_graph) {
  MirageUGraph *grouped;
  MIRAGE_TRY(mirage_ugraph_expand(program, diag, out_graph));
  MIRAGE_TRY(mirage__search_group(*out_graph, diag, &grouped));
  if (!grouped)
    return MIRAGE_OK;
  mirage_ugraph_destroy(*out_graph);
  *out_graph = grouped;
  return MIRAGE_OK;
}

MirageStatus mirage__search_peel(const MirageUGraph *program, const MirageDiag *diag, SearchViews **out_views,
                                 const MirageUGraph **out_core) {
  SearchViews *views = calloc(1, sizeof *views);
  *out_views = NULL;
  *out_core = program;
  MirageStatus status = views ? elementary(program, diag, &views->program) : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = peel(views);
  if (status == MIRAGE_OK && views->core && !views->failed) {
    *out_views = views;
    *out_core = views->core;
    return MIRAGE_OK;
  }
  mirage__search_views_destroy(views);
  return status;
}

void mirage__search_views_destroy(SearchViews *views) {
  if (!views)
    return;
  mirage_ugraph_destroy(views->core);
  mirage_ugraph_destroy(views->program);
  free(views->uses);
  free(views->input_of);
  free(views->view_of);
  free(views->peeled);
  free(views->concat);
  free(views->factors);
  free(views->whole);
  free(views);
}
