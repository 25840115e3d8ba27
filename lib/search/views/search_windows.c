// search_windows.c - through which window of its operands an operator's result can be seen through one of its own.
//
// Example:  columns 8 to 16 of silu(x @ w) are silu(x @ w[:, 8:16]); of concat(a, b), both of 8 columns, they are b.
#include "search/views/search_core.h"

bool mirage__window_is_whole(const Window *window) {
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    if (window->end[d])
      return false;
  return true;
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

Window mirage__window_inside(const Window *outer, const Window *inner) {
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

bool mirage__window_of_operand(const SearchViews *views, const MirageNodeView *node, uint32_t index, const Window *of,
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

Window mirage__window_of_slice(const MirageNodeView *node) {
  Window window = {0};
  window.begin[node->attrs->slice.dim] = node->attrs->slice.begin;
  window.end[node->attrs->slice.dim] = node->attrs->slice.end;
  return window;
}

bool mirage__window_of_part(const SearchViews *views, const MirageNodeView *node, const Window *of, uint32_t *out_part,
                            Window *out) {
  int32_t dim = node->attrs->dim.dim;
  int64_t at = 0;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    int64_t extent = mirage_ugraph_type(views->program, node->operands[i])->shape[dim];
    *out_part = i;
    *out = *of;
    out->begin[dim] -= at;
    out->end[dim] -= at;
    if (of->end[dim] && out->begin[dim] >= 0 && out->end[dim] <= extent) {
      if (out->begin[dim] == 0 && out->end[dim] == extent)
        out->end[dim] = 0;
      return true;
    }
    at += extent;
  }
  return false;
}

MirageNodeView mirage__views_def(const SearchViews *views, MirageValue value) {
  MirageNode def = mirage_ugraph_def(views->program, value);
  return def.index ? mirage_ugraph_node(views->program, def) : (MirageNodeView){0};
}

const Factors *mirage__views_factors(const SearchViews *views, MirageValue value, uint32_t dim) {
  return &views->factors[value.index * MIRAGE_MAX_RANK + dim];
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

bool mirage__window_admitted(const SearchViews *views, MirageValue value, const Window *window) {
  MirageNodeView node = mirage__views_def(views, value);
  if (mirage__window_is_whole(window))
    return true;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    if (mirage__views_factors(views, value, d)->num_cuts)
      return false;
  if (views->input_of[value.index].index)
    return true;
  if (views->uses[value.index] != 1 && !is_only_sliced(views, value))
    return false;
  if (node.op == MIRAGE_OP_SLICE) {
    Window of = mirage__window_of_slice(&node), all = mirage__window_inside(&of, window);
    return mirage__window_admitted(views, node.operands[0], &all);
  }
  if (node.op == MIRAGE_OP_CONCAT) {
    uint32_t part;
    Window shown;
    return mirage__window_of_part(views, &node, window, &part, &shown) &&
           mirage__window_admitted(views, node.operands[part], &shown);
  }
  for (uint32_t i = 0; i < node.num_operands; i++) {
    Window operand;
    if (!mirage__window_of_operand(views, &node, i, window, &operand) ||
        !mirage__window_admitted(views, node.operands[i], &operand))
      return false;
  }
  return mirage_op_info(node.op)->kind != MIRAGE_KIND_CONSTANT;
}
