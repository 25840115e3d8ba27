// split.c - how the threads of a block divide a product or a reduction among themselves.
//
// Planning (registers, partial tiles) and code generation ask the same functions, so they cannot disagree. All choices
// depend on shapes and the team alone.
#include "block.h"

#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

void mirage__matmul_shape(const MirageType *a, const MirageType *b, const MirageAttrs *attrs, MatmulSplit *split) {
  bool ta = attrs && attrs->matmul.transpose_a, tb = attrs && attrs->matmul.transpose_b;
  split->m = a->shape[a->rank - (ta ? 1 : 2)];
  split->k = a->shape[a->rank - (ta ? 2 : 1)];
  split->n = b->shape[b->rank - (tb ? 2 : 1)];
  split->batch = 1;
  uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
  for (uint32_t i = 3; i <= rank; i++) {
    int64_t in_a = i <= a->rank ? a->shape[a->rank - i] : 1, in_b = i <= b->rank ? b->shape[b->rank - i] : 1;
    split->batch *= in_a > in_b ? in_a : in_b;
  }
}

int32_t mirage__k_unit(const MirageType *a) {
  return a->dtype == MIRAGE_F32 ? 1 : 256 / (int32_t)mirage_dtype_bits(a->dtype);
}

// Cycles that the busiest worker spends, roughly: `mul` per unit product, `load` per unit of an operand.
static double split_cost(const MatmulSplit *s, int32_t by_row, int32_t by_col, int32_t by_depth, int64_t workers) {
  double mul = s->tensor_core ? 16 : 1, load = s->tensor_core ? 12 : 2, combine = s->tensor_core ? 24 : 4;
  double rows = (double)ceil_div(s->batch * s->row_units, by_row), cols = (double)ceil_div(s->col_units, by_col);
  double steps = (double)s->depth_units / by_depth;
  double partials = by_depth > 1 ? combine * (1 + rows * cols * (1 + (double)by_depth / (double)workers)) : 0;
  return steps * (rows * cols * mul + (2 * rows + cols) * load) + partials;
}

bool mirage__may_divide(Divide divide, int32_t by_row, int32_t by_col, int32_t by_depth) {
  return (by_row == 1 || divide & DIVIDE_ROWS) && (by_col == 1 || divide & DIVIDE_COLUMNS) &&
         (by_depth == 1 || divide & DIVIDE_DEPTH);
}

MatmulSplit mirage__matmul_split(const MirageType *a, const MirageType *b, const MirageAttrs *attrs, const Team *team) {
  MatmulSplit s = {.tensor_core = a->dtype != MIRAGE_F32, .k_unit = mirage__k_unit(a)};
  mirage__matmul_shape(a, b, attrs, &s);
  if (s.tensor_core) {
    int64_t straight = ceil_div(s.m, 16) * ceil_div(s.n, 8), swapped = ceil_div(s.n, 16) * ceil_div(s.m, 8);
    s.swap = team->swap || swapped < straight;
  }
  int64_t rows = s.swap ? s.n : s.m, cols = s.swap ? s.m : s.n;
  s.row_units = (int32_t)(s.tensor_core ? ceil_div(rows, 16) : rows);
  s.col_units = (int32_t)(s.tensor_core ? ceil_div(cols, 8) : cols);
  s.depth_units = (int32_t)ceil_div(s.k, s.k_unit);
  int32_t warps = mirage__team_workers(team), workers = s.tensor_core ? warps : warps * 32;
  int32_t per_unit = s.tensor_core ? 4 : 1, limit = mirage__accumulator_limit(team);
  double best = -1;
  for (int32_t d = 1; d <= workers; d *= 2) {
    if (workers % d || s.depth_units % d || (!s.tensor_core && d > 32))
      continue;
    for (int32_t c = 1; c <= workers / d; c++) {
      int32_t r = workers / d / c;
      if (workers / d % c || (!mirage__may_divide(team->divide, r, c, d) && workers > 1))
        continue;
      double cost = split_cost(&s, r, c, d, workers);
      int64_t each = ceil_div(s.batch * s.row_units, r) * ceil_div(s.col_units, c);
      if (each * per_unit > limit)
        cost *= 1 + (double)(each * per_unit - limit); // only when nothing else is possible
      if (best >= 0 && cost >= best)
        continue;
      best = cost;
      s.by_row = r, s.by_col = c, s.by_depth = d;
      s.rows_each = (int32_t)ceil_div(s.batch * s.row_units, r);
      s.cols_each = (int32_t)ceil_div(s.col_units, c);
      s.accumulators = (int32_t)min64(each * per_unit, INT32_MAX);
    }
  }
  if (best < 0) { // a forced split that the shape does not admit
    Team any = *team;
    any.divide = DIVIDE_ANY;
    return mirage__matmul_split(a, b, attrs, &any);
  }
  return s;
}

// The accumulators of a resident product are the cells of its result.
static MatmulSplit resident_split(const Block *block, const MirageNodeView *product) {
  const Partition *p = &block->partition;
  const MirageType *a = mirage_ugraph_type(block->graph, product->operands[0]);
  const MirageType *b = mirage_ugraph_type(block->graph, product->operands[1]);
  MatmulSplit s = {.tensor_core = true, .resident = true, .by_row = p->by_row, .by_col = p->by_col, .by_depth = 1};
  mirage__matmul_shape(a, b, product->attrs, &s);
  s.k_unit = mirage__k_unit(a);
  s.row_units = p->row_units;
  s.col_units = (int32_t)ceil_div(s.n, 8);
  s.depth_units = (int32_t)ceil_div(s.k, s.k_unit);
  s.rows_each = p->rows_each;
  s.cols_each = (int32_t)ceil_div(s.col_units, p->by_col);
  s.accumulators = 4 * s.rows_each * s.cols_each;
  s.warpgroup = block->values[product->first_result.index].warpgroup;
  return s;
}

MatmulSplit mirage__block_matmul_split(const Block *block, const MirageNodeView *product) {
  if (block->values[product->first_result.index].resident)
    return resident_split(block, product);
  MatmulSplit among_groups;
  if (block->values[product->first_result.index].warpgroup && mirage__warpgroup_split(block, product, &among_groups))
    return among_groups;
  return mirage__matmul_split(mirage_ugraph_type(block->graph, product->operands[0]),
                              mirage_ugraph_type(block->graph, product->operands[1]), product->attrs, &block->team);
}

bool mirage__k_is_last(const MirageNodeView *product, uint32_t which) {
  const MirageAttrs *attrs = product->attrs;
  bool transposed = attrs && (which == 0 ? attrs->matmul.transpose_a : attrs->matmul.transpose_b);
  return (which == 0) != transposed; // a is [m, k], b is [k, n]
}

// The contiguous dimension must stay among the last two.
static bool reads_transposed(const Block *block, MirageValue operand, const MirageNodeView *def, int32_t rank) {
  const int32_t *perm = def->attrs->perm.perm;
  return !block->values[operand.index].shared && rank >= 2 &&
         (perm[rank - 1] == rank - 1 || perm[rank - 2] == rank - 1);
}

MatmulOperand mirage__matmul_operand(const Block *block, const MirageNodeView *product, uint32_t which) {
  MirageValue operand = mirage__block_resolve(block, product->operands[which]);
  MatmulOperand view = {.base = operand};
  int32_t rank = (int32_t)mirage_ugraph_type(block->graph, operand)->rank;
  bool k_last = mirage__k_is_last(product, which);
  for (int32_t i = 0; i < MIRAGE_MAX_RANK; i++)
    view.perm[i] = i;
  if (mirage__block_op(block, operand) == MIRAGE_OP_TRANSPOSE) {
    MirageNodeView def = mirage__block_def(block, operand);
    if (reads_transposed(block, operand, &def, rank)) {
      view.base = mirage__block_resolve(block, def.operands[0]);
      memcpy(view.perm, def.attrs->perm.perm, sizeof view.perm);
    }
  }
  view.k_dim = view.perm[rank - (k_last ? 1 : 2)];
  view.unit_dim = view.perm[rank - (k_last ? 2 : 1)];
  view.k_inner = view.k_dim == rank - 1;
  return view;
}

bool mirage__is_operand(const Block *block, MirageValue value, bool of_warpgroups) {
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    for (uint32_t i = 0; mirage__is_product(view.op) && i < 2; i++)
      if (mirage__matmul_operand(block, &view, i).base.index == value.index &&
          (!of_warpgroups || block->values[view.first_result.index].warpgroup))
        return true;
  return false;
}

ReduceSplit mirage__reduce_split(const MirageType *in, const MirageType *out, int32_t dim, int32_t warps) {
  int64_t threads = (int64_t)warps * 32;
  ReduceSplit s = {.outputs = mirage_type_elements(out), .warps_each = 1, .group = 1, .vector = 1};
  s.length = mirage_type_elements(in) / s.outputs;
  bool contiguous = dim == (int32_t)in->rank - 1 && out->shape[dim] == 1;
  for (int32_t v = 8; contiguous && v > 1; v /= 2)
    if (s.length % v == 0 && s.length / v >= 32) {
      s.vector = v;
      break;
    }
  int64_t pieces = s.length / s.vector;
  while (s.group < 32 && s.group * 2 <= pieces && (contiguous || s.outputs * s.group * 2 <= threads))
    s.group *= 2;
  if (s.group == 32)
    for (int32_t w = 2; w <= warps; w *= 2)
      if (warps % w == 0 && s.outputs * 32 * w <= threads && pieces >= 64 * (int64_t)w)
        s.warps_each = w;
  s.group *= s.warps_each;
  s.outputs_each = (int32_t)ceil_div(s.outputs, threads / s.group);
  return s;
}

ReduceSplit mirage__block_reduce_split(const Block *block, const MirageNodeView *reduction) {
  return mirage__reduce_split(mirage_ugraph_type(block->graph, reduction->operands[0]),
                              mirage_ugraph_type(block->graph, reduction->first_result), reduction->attrs->reduce.dim,
                              mirage__team_workers(&block->team));
}
