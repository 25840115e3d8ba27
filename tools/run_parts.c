// run_parts.c - evaluates a program in parts, where the whole would take more memory than there is.
//
// An axis is a class of dimensions of values that walk together: a unary operator ties its operand's to its result's, a
// product ties rows to rows. An axis that nothing contracts, reduces, splits or joins is parallel: what a slice of the
// outputs along it holds depends on the same slice of the inputs alone. So the program is built again with half the
// extent, twice, and each half is evaluated, or halved again.
//
// Example:  scores = matmul q, k; p = softmax scores; y = matmul p, v      q: [32, 4096, 64], y: [32, 4096, 64]
//           parallel: the 32 heads, and the 4096 rows of q. 4 GiB of scores become 16 parts of two heads.
//
// The same serves to look at a program that is too large to be evaluated: of its longest axis only the first half is kept, again and
// again, until the rest is small enough (run_sample).
//
// Every element is computed by the same operations in the same order as in one go, so the values are the same.
#include "run.h"

#include "mirage/eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUGAR_COPIES = 4 }; // values of the result's size that expanding softmax and its like holds at once

// -------------------------------------------------------------------------------------------------------------- memory

// Half of what the machine has left, and no more than 8 GiB.
static double memory_allowed(void) {
  double most = 8.0 * (1 << 30), available = 0, kib;
  FILE *file = fopen("/proc/meminfo", "r");
  char line[256];
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lf kB", &kib) == 1)
      available = kib * 1024 / 2;
  if (file)
    fclose(file);
  return available > 0 && available < most ? available : most;
}

static double elements(const MirageUGraph *graph, uint32_t value) {
  return (double)mirage_type_elements(mirage_ugraph_type(graph, (MirageValue){value}));
}

static double own_elements(const MirageUGraph *graph, const MirageNodeView *node) {
  double sum = 0;
  for (uint32_t i = 0; i < node->num_results; i++)
    sum += elements(graph, node->first_result.index + i);
  return sum;
}

// The most that values take at a time: each lives from its operator to its last reader.
static MirageStatus peak_bytes(const MirageUGraph *graph, double *out_bytes) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t *last = calloc(mirage_ugraph_num_values(graph) + 1, sizeof *last);
  double held = 0, peak = 0;
  if (!last)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    for (uint32_t j = 0; j < node.num_operands; j++)
      last[node.operands[j].index] = i;
  }
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    double own = own_elements(graph, &node), inside = 0;
    if (mirage_op_info(node.op)->kind == MIRAGE_KIND_SUGAR)
      for (uint32_t j = 0; j < node.num_operands; j++)
        inside += SUGAR_COPIES * elements(graph, node.operands[j].index);
    held += own;
    peak = held + inside > peak ? held + inside : peak;
    for (uint32_t j = 0; j < node.num_operands; j++) {
      uint32_t v = node.operands[j].index;
      bool counted = false; // an operand that is there twice
      for (uint32_t k = 0; k < j; k++)
        counted = counted || node.operands[k].index == v;
      if (last[v] == i && !counted && mirage_ugraph_def(graph, (MirageValue){v}).index)
        held -= elements(graph, v);
    }
  }
  free(last);
  *out_bytes = peak * sizeof(double);
  return MIRAGE_OK;
}

// Multiplications and other operations on elements.
static double work_of(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  double work = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    const MirageType *first = node.num_operands ? mirage_ugraph_type(graph, node.operands[0]) : NULL;
    double each = 1;
    if (node.op == MIRAGE_OP_MATMUL)
      each = (double)first->shape[first->rank - (node.attrs->matmul.transpose_a ? 2 : 1)];
    else if (node.op == MIRAGE_OP_SDPA) // both products, for each column of the result
      each = 2 * (double)mirage_ugraph_type(graph, node.operands[1])->shape[first->rank - 2];
    work += each * own_elements(graph, &node) + (first ? elements(graph, node.operands[0].index) : 0);
  }
  return work;
}

// ---------------------------------------------------------------------------------------------------------------- axes

// Dimension d of value v is number v * MIRAGE_MAX_RANK + d.
typedef struct Axes {
  const MirageUGraph *graph;
  uint32_t count;
  uint32_t *parent;
  bool *tied; // by root: the axis cannot be sliced
} Axes;

static uint32_t find(Axes *axes, uint32_t at) {
  while (axes->parent[at] != at)
    at = axes->parent[at] = axes->parent[axes->parent[at]];
  return at;
}

static uint32_t axis_of(Axes *axes, MirageValue value, uint32_t dim) {
  return find(axes, value.index * MIRAGE_MAX_RANK + dim);
}

static void tie(Axes *axes, MirageValue value, uint32_t dim) { axes->tied[axis_of(axes, value, dim)] = true; }

static void tie_all(Axes *axes, MirageValue value) {
  for (uint32_t d = 0; d < mirage_ugraph_type(axes->graph, value)->rank; d++)
    tie(axes, value, d);
}

// The two dimensions are one axis. One of extent 1 that is stretched is no part of it.
static void unite(Axes *axes, MirageValue a, uint32_t da, MirageValue b, uint32_t db) {
  const MirageType *ta = mirage_ugraph_type(axes->graph, a), *tb = mirage_ugraph_type(axes->graph, b);
  if (ta->shape[da] != tb->shape[db])
    return;
  uint32_t x = axis_of(axes, a, da), y = axis_of(axes, b, db);
  axes->tied[x] = axes->tied[x] || axes->tied[y];
  axes->parent[y] = x;
}

// Right-aligned, but for the last `skip` dimensions of both.
static void unite_right(Axes *axes, MirageValue a, MirageValue b, uint32_t skip) {
  uint32_t ra = mirage_ugraph_type(axes->graph, a)->rank, rb = mirage_ugraph_type(axes->graph, b)->rank;
  for (uint32_t i = 1 + skip; i <= ra && i <= rb; i++)
    unite(axes, a, ra - i, b, rb - i);
}

static void unite_matmul(Axes *axes, const MirageNodeView *node) {
  MirageValue a = node->operands[0], b = node->operands[1], y = node->first_result;
  uint32_t ra = mirage_ugraph_type(axes->graph, a)->rank, rb = mirage_ugraph_type(axes->graph, b)->rank,
           ry = mirage_ugraph_type(axes->graph, y)->rank;
  bool ta = node->attrs->matmul.transpose_a, tb = node->attrs->matmul.transpose_b;
  unite_right(axes, a, y, 2);
  unite_right(axes, b, y, 2);
  unite(axes, a, ta ? ra - 1 : ra - 2, y, ry - 2);
  unite(axes, b, tb ? rb - 2 : rb - 1, y, ry - 1);
  tie(axes, a, ta ? ra - 2 : ra - 1);
  tie(axes, b, tb ? rb - 1 : rb - 2);
}

// What is the same dimension on both sides, counted from the left, and from the right.
static void unite_reshape(Axes *axes, MirageValue x, MirageValue y) {
  const MirageType *tx = mirage_ugraph_type(axes->graph, x), *ty = mirage_ugraph_type(axes->graph, y);
  uint32_t left = 0, right = 0, least = tx->rank < ty->rank ? tx->rank : ty->rank;
  while (left < least && tx->shape[left] == ty->shape[left])
    unite(axes, x, left, y, left), ++left;
  while (left + right < least && tx->shape[tx->rank - 1 - right] == ty->shape[ty->rank - 1 - right])
    unite(axes, x, tx->rank - 1 - right, y, ty->rank - 1 - right), ++right;
  for (uint32_t d = left; d + right < tx->rank; d++)
    tie(axes, x, d);
  for (uint32_t d = left; d + right < ty->rank; d++)
    tie(axes, y, d);
}

// All dimensions but `dim` are the operand's.
static void unite_but(Axes *axes, MirageValue x, MirageValue y, uint32_t dim) {
  for (uint32_t d = 0; d < mirage_ugraph_type(axes->graph, y)->rank; d++)
    if (d != dim)
      unite(axes, x, d, y, d);
  tie(axes, x, dim);
  tie(axes, y, dim);
}

static void unite_sugar(Axes *axes, const MirageNodeView *node) {
  MirageValue x = node->operands[0], y = node->first_result;
  if (mirage_op_is_function(node->op)) {
    unite_right(axes, x, y, 0);
    return;
  }
  uint32_t rank = mirage_ugraph_type(axes->graph, y)->rank;
  for (uint32_t i = 1; i < node->num_operands; i++)
    tie_all(axes, node->operands[i]); // gain, bias; keys and values
  unite_but(axes, x, y, node->op == MIRAGE_OP_SOFTMAX ? (uint32_t)node->attrs->dim.dim : rank - 1);
  for (uint32_t i = 1; node->op == MIRAGE_OP_SDPA && i < node->num_operands; i++)
    unite_right(axes, node->operands[i], y, 2); // tied: only rows of the queries are sliced
}

static void unite_node(Axes *axes, const MirageNodeView *node) {
  MirageValue y = node->first_result;
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_BINARY:
  case MIRAGE_KIND_CAST:
    for (uint32_t i = 0; i < node->num_operands; i++)
      unite_right(axes, node->operands[i], y, 0);
    return;
  case MIRAGE_KIND_MATMUL:
    unite_matmul(axes, node);
    return;
  case MIRAGE_KIND_REDUCE:
    unite_but(axes, node->operands[0], y, (uint32_t)node->attrs->reduce.dim);
    return;
  case MIRAGE_KIND_SUGAR:
    unite_sugar(axes, node);
    return;
  case MIRAGE_KIND_CONSTANT:
  case MIRAGE_KIND_TERMINATOR:
    return;
  case MIRAGE_KIND_IOTA:
    tie(axes, y, (uint32_t)node->attrs->iota.dim);
    return;
  default:
    break;
  }
  switch (node->op) {
  case MIRAGE_OP_BROADCAST:
    unite_right(axes, node->operands[0], y, 0);
    return;
  case MIRAGE_OP_REPEAT:
    unite_but(axes, node->operands[0], y, (uint32_t)node->attrs->repeat.dim);
    return;
  case MIRAGE_OP_SLICE:
    unite_but(axes, node->operands[0], y, (uint32_t)node->attrs->slice.dim);
    return;
  case MIRAGE_OP_CONCAT:
    for (uint32_t i = 0; i < node->num_operands; i++)
      unite_but(axes, node->operands[i], y, (uint32_t)node->attrs->dim.dim);
    return;
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t d = 0; d < mirage_ugraph_type(axes->graph, y)->rank; d++)
      unite(axes, node->operands[0], (uint32_t)node->attrs->perm.perm[d], y, d);
    return;
  case MIRAGE_OP_RESHAPE:
    unite_reshape(axes, node->operands[0], y);
    return;
  default: // a kernel: its maps are not looked at
    for (uint32_t i = 0; i < node->num_operands; i++)
      tie_all(axes, node->operands[i]);
    for (uint32_t i = 0; i < node->num_results; i++)
      tie_all(axes, (MirageValue){y.index + i});
  }
}

static MirageStatus axes_init(const MirageUGraph *graph, Axes *axes) {
  *axes = (Axes){graph, (mirage_ugraph_num_values(graph) + 1) * MIRAGE_MAX_RANK, NULL, NULL};
  axes->parent = malloc(axes->count * sizeof *axes->parent);
  axes->tied = calloc(axes->count, sizeof *axes->tied);
  if (!axes->parent || !axes->tied)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < axes->count; i++)
    axes->parent[i] = i;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    unite_node(axes, &node);
  }
  for (uint32_t v = 1; v <= mirage_ugraph_num_values(graph); v++) // x x^T: a slice of both would leave most of it out
    for (uint32_t d = 0; d < mirage_ugraph_type(graph, (MirageValue){v})->rank; d++)
      for (uint32_t e = 0; e < d; e++)
        if (axis_of(axes, (MirageValue){v}, d) == axis_of(axes, (MirageValue){v}, e))
          tie(axes, (MirageValue){v}, d);
  return MIRAGE_OK;
}

static void axes_deinit(Axes *axes) {
  free(axes->parent);
  free(axes->tied);
}

// The longest parallel axis of an output: of the first, of equal ones, so that slices lie together in memory.
// 0 when there is none longer than 1.
static uint32_t longest_axis(Axes *axes, int64_t *out_extent) {
  uint32_t best = 0;
  *out_extent = 1;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(axes->graph); i++) {
    MirageValue y = mirage_ugraph_get_output(axes->graph, i);
    const MirageType *type = mirage_ugraph_type(axes->graph, y);
    for (uint32_t d = 0; d < type->rank; d++)
      if (!axes->tied[axis_of(axes, y, d)] && type->shape[d] > *out_extent) {
        best = axis_of(axes, y, d);
        *out_extent = type->shape[d];
      }
  }
  return best;
}

// --------------------------------------------------------------------------------------------------------------- parts

// Where an axis is cut: even where it can be, since rows of four-bit numbers end at whole bytes.
static int64_t half_of(int64_t extent) { return extent < 4 ? extent / 2 : extent / 4 * 2; }

// A range of one axis of a program.
typedef struct Part {
  Axes *axes;
  uint32_t axis;
  int64_t begin, end;
} Part;

// The dimension of the value that the axis is; -1 when it has none.
static int find_dim(const Part *part, MirageValue value) {
  for (uint32_t d = 0; d < mirage_ugraph_type(part->axes->graph, value)->rank; d++)
    if (axis_of(part->axes, value, d) == part->axis)
      return (int)d;
  return -1;
}

static MirageType part_type(const Part *part, MirageValue value) {
  MirageType type = *mirage_ugraph_type(part->axes->graph, value);
  int dim = find_dim(part, value);
  if (dim >= 0)
    type.shape[dim] = part->end - part->begin;
  return type;
}

static void build_node(const Part *part, const MirageNodeView *node, MirageValue *map, MirageUGraph *graph) {
  MirageValue *operands = map + mirage_ugraph_num_values(part->axes->graph) + 1; // scratch behind the map
  MirageOpInfo const *info = mirage_op_info(node->op);
  MirageAttrs attrs = node->attrs ? *node->attrs : (MirageAttrs){0};
  for (uint32_t i = 0; i < node->num_operands; i++)
    operands[i] = map[node->operands[i].index];
  mirage_ugraph_set_loc(graph, node->loc);
  if (node->op == MIRAGE_OP_RETURN) {
    mirage_ugraph_return(graph, node->num_operands, operands);
    return;
  }
  if (info->attrs == MIRAGE_ATTRS_SHAPE)
    attrs.shape.type = part_type(part, node->first_result);
  if (info->attrs == MIRAGE_ATTRS_CONSTANT)
    attrs.constant.type = part_type(part, node->first_result);
  if (info->attrs == MIRAGE_ATTRS_IOTA)
    attrs.iota.type = part_type(part, node->first_result);
  map[node->first_result.index] =
      mirage_ugraph_apply(graph, node->op, node->num_operands, operands, node->attrs ? &attrs : NULL);
}

static uint32_t most_operands(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t most = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    uint32_t count = mirage_ugraph_node(graph, body.nodes[i]).num_operands;
    most = count > most ? count : most;
  }
  return most;
}

// The program with the axis only as long as the part.
static MirageStatus build_part(const Part *part, const MirageDiag *diag, MirageUGraph **out_graph) {
  const MirageUGraph *whole = part->axes->graph;
  MirageRegionView body = mirage_ugraph_region(whole, mirage_ugraph_body(whole));
  MirageUGraph *graph = mirage_ugraph_create(NULL, mirage_ugraph_get_meta(whole)->name, diag);
  MirageValue *map = calloc(mirage_ugraph_num_values(whole) + 1 + most_operands(whole), sizeof *map);
  *out_graph = graph;
  if (!graph || !map) {
    free(map);
    return MIRAGE_NO_MEMORY;
  }
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(whole); i++) {
    MirageValue input = mirage_ugraph_get_input(whole, i);
    map[input.index] = mirage_ugraph_input(graph, part_type(part, input));
  }
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(whole, body.nodes[i]);
    build_node(part, &node, map, graph);
  }
  free(map);
  return mirage_ugraph_finish(graph);
}

// Moves the part's elements of a value between the whole and an array of their own.
static void move_part(const Part *part, MirageValue value, double *whole, double *own, bool to_whole) {
  const MirageType *type = mirage_ugraph_type(part->axes->graph, value);
  int dim = find_dim(part, value);
  size_t outer = 1, inner = 1, extent = (size_t)type->shape[dim];
  size_t begin = (size_t)part->begin, length = (size_t)(part->end - part->begin);
  for (int d = 0; d < dim; d++)
    outer *= (size_t)type->shape[d];
  for (int d = dim + 1; d < (int)type->rank; d++)
    inner *= (size_t)type->shape[d];
  for (size_t i = 0; i < outer; i++) {
    double *at = whole + (i * extent + begin) * inner, *there = own + i * length * inner;
    memcpy(to_whole ? at : there, to_whole ? there : at, length * inner * sizeof *own);
  }
}

// Arrays for the inputs or outputs of a part: those that the axis does not cross are the whole's. Inputs hold what the whole holds.
static MirageStatus part_arrays(const Part *part, uint32_t count, bool outputs, double *const *whole, double **own) {
  for (uint32_t i = 0; i < count; i++) {
    MirageValue value =
        outputs ? mirage_ugraph_get_output(part->axes->graph, i) : mirage_ugraph_get_input(part->axes->graph, i);
    own[i] = whole[i];
    if (find_dim(part, value) < 0)
      continue;
    MirageType type = part_type(part, value);
    own[i] = malloc((size_t)mirage_type_elements(&type) * sizeof **own);
    if (!own[i])
      return MIRAGE_NO_MEMORY;
    if (!outputs)
      move_part(part, value, whole[i], own[i], false);
  }
  return MIRAGE_OK;
}

static void free_arrays(uint32_t count, double *const *whole, double **own) {
  for (uint32_t i = 0; own && i < count; i++)
    if (own[i] != whole[i])
      free(own[i]);
  free(own);
}

static MirageStatus eval_part(const Part *part, const MirageDomain *domain, double max_bytes, double *const *inputs,
                              double *const *outputs, const MirageDiag *diag, uint32_t *in_out_parts);

static MirageStatus eval_within(const MirageUGraph *graph, const MirageDomain *domain, double max_bytes,
                                double *const *inputs, double *const *outputs, const MirageDiag *diag,
                                uint32_t *in_out_parts) {
  double bytes = 0;
  int64_t extent = 1;
  Part part = {0};
  Axes axes = {0};
  MirageStatus status = peak_bytes(graph, &bytes);
  if (status == MIRAGE_OK && bytes > max_bytes) {
    status = axes_init(graph, &axes);
    part = (Part){&axes, status == MIRAGE_OK ? longest_axis(&axes, &extent) : 0, 0, half_of(extent)};
  }
  if (status == MIRAGE_OK && extent > 1) {
    status = eval_part(&part, domain, max_bytes, inputs, outputs, diag, in_out_parts);
    part.begin = part.end;
    part.end = extent;
    if (status == MIRAGE_OK)
      status = eval_part(&part, domain, max_bytes, inputs, outputs, diag, in_out_parts);
  } else if (status == MIRAGE_OK) {
    const MirageEvalOptions options = {.max_bytes = (size_t)(max_bytes * 1.25)};
    ++*in_out_parts;
    status = mirage_eval(graph, domain, (const void *const *)inputs, (void *const *)outputs, &options, diag);
  }
  axes_deinit(&axes);
  return status;
}

static MirageStatus eval_part(const Part *part, const MirageDomain *domain, double max_bytes, double *const *inputs,
                              double *const *outputs, const MirageDiag *diag, uint32_t *in_out_parts) {
  uint32_t num_inputs = mirage_ugraph_num_inputs(part->axes->graph);
  uint32_t num_outputs = mirage_ugraph_num_outputs(part->axes->graph);
  double **in = calloc(num_inputs + 1, sizeof *in), **out = calloc(num_outputs + 1, sizeof *out);
  MirageUGraph *graph = NULL;
  MirageStatus status = in && out ? build_part(part, diag, &graph) : MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; in && i < num_inputs; i++)
    in[i] = inputs[i]; // until it is an own one
  for (uint32_t i = 0; out && i < num_outputs; i++)
    out[i] = outputs[i];
  if (status == MIRAGE_OK)
    status = part_arrays(part, num_inputs, false, inputs, in);
  if (status == MIRAGE_OK)
    status = part_arrays(part, num_outputs, true, outputs, out);
  if (status == MIRAGE_OK)
    status = eval_within(graph, domain, max_bytes, in, out, diag, in_out_parts);
  for (uint32_t i = 0; status == MIRAGE_OK && i < num_outputs; i++)
    if (out[i] != outputs[i])
      move_part(part, mirage_ugraph_get_output(part->axes->graph, i), outputs[i], out[i], true);
  free_arrays(num_inputs, inputs, in);
  free_arrays(num_outputs, outputs, out);
  mirage_ugraph_destroy(graph);
  return status;
}

MirageStatus run_eval(const MirageUGraph *program, const MirageDomain *domain, double max_bytes, double *const *inputs,
                      double *const *outputs, const MirageDiag *diag, uint32_t *out_parts) {
  *out_parts = 0;
  MirageStatus status =
      eval_within(program, domain, max_bytes > 0 ? max_bytes : memory_allowed(), inputs, outputs, diag, out_parts);
  return status == MIRAGE_NO_MEMORY ? mirage_diag_fail(diag, NULL, status, "reference: out of memory") : status;
}

// -------------------------------------------------------------------------------------------------------------- sample

// The program with the first half of its longest axis.
static MirageStatus halve(const MirageUGraph *program, double max_work, const MirageDiag *diag,
                          MirageUGraph **out_half) {
  int64_t extent = 1;
  Axes axes = {0};
  *out_half = NULL;
  MirageStatus status = axes_init(program, &axes);
  uint32_t axis = status == MIRAGE_OK ? longest_axis(&axes, &extent) : 0;
  const Part part = {&axes, axis, 0, half_of(extent)};
  if (status == MIRAGE_OK && extent > 1)
    status = build_part(&part, diag, out_half);
  else if (status == MIRAGE_OK)
    status = mirage_diag_fail(diag, NULL, MIRAGE_LIMIT,
                              "reference: a sample of the outputs takes more than %.2g operations", max_work);
  axes_deinit(&axes);
  return status;
}

MirageStatus run_sample(const MirageUGraph *program, double max_work, const MirageDiag *diag,
                        MirageUGraph **out_sample) {
  MirageUGraph *half;
  MirageStatus status = mirage_ugraph_clone(program, diag, out_sample);
  while (status == MIRAGE_OK && work_of(*out_sample) > max_work) {
    status = halve(*out_sample, max_work, diag, &half);
    mirage_ugraph_destroy(*out_sample);
    *out_sample = half;
  }
  return status;
}
