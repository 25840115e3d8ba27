// canonical_ops.c - the canonical block graph of each kernel-level operator.
//
// Point-wise and shape operators: up to three dimensions of the result are cut over the grid until a tile has about
// 2048
//   elements (fewer when the chip would stay empty); tiles go from device memory to device memory without a buffer.
// Reductions: the reduced dimension stays whole, the others are cut.
// Matmul: grid x over n, y over m, z over the largest batch dimension; further batch dimensions and the contraction are
//   loops. Tile extents come from a small search over the predicted busy time of the fullest multiprocessor.
#include "canonical.h"

#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How a result is cut: parts[d] blocks along dimension d, of which at most three differ from 1.
typedef struct Cut {
  int64_t parts[MIRAGE_MAX_RANK];
  int axis[MIRAGE_MAX_RANK]; // grid axis of dimension d, -1 = whole
  MirageCustomAttrs attrs;
} Cut;

static int64_t chunk(int64_t extent, int64_t parts) { return ceil_div(extent, parts); }

static void cut_dim(Cut *cut, uint32_t dim, int64_t parts, int *axes) {
  cut->parts[dim] = parts;
  if (parts > 1)
    cut->axis[dim] = (*axes)++;
}

// Cuts dimensions outermost first until a tile has at most `target` elements; `whole` (or -1) stays uncut.
static Cut cut_result(const MirageType *type, int whole, int64_t target) {
  Cut cut = {.attrs = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}}};
  int64_t left = mirage_type_elements(type);
  int axes = 0;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; ++d)
    cut.parts[d] = 1, cut.axis[d] = -1;
  for (uint32_t d = 0; d < type->rank && axes < 3 && left > target; ++d) {
    int64_t n = type->shape[d], need = ceil_div(left, target);
    if ((int)d == whole || n == 1)
      continue;
    int64_t extent = need >= n ? 1 : chunk(n, need);
    if (d + 1 == type->rank && extent < n) { // rows are cut in 16-byte pieces
      extent = ceil_div(extent, 8) * 8;
      extent = extent < 32 && n >= 32 ? 32 : extent;
    }
    int64_t parts = ceil_div(n, extent);
    parts = axes > 0 && parts > 65535 ? 65535 : parts;
    cut_dim(&cut, d, parts, &axes);
    left = ceil_div(left, parts);
  }
  for (uint32_t d = 0; d < type->rank; ++d)
    if (cut.axis[d] >= 0)
      cut.attrs.grid[cut.axis[d]] = cut.parts[d];
  return cut;
}

static int64_t tile_target(const CanonicalOp *op, int64_t elements, int64_t most) {
  int64_t target = most; // at least one block per multiprocessor where there is enough to do
  while (target > 256 && elements / target < op->target->num_sms)
    target /= 2;
  return target;
}

static MirageType tile_of(const MirageType *tensor, const Cut *cut, MirageDType dtype) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < tensor->rank; ++d)
    shape[d] = chunk(tensor->shape[d], cut->parts[d]);
  return mirage_type_tile(dtype, tensor->rank, shape);
}

static MirageAccessAttrs no_access(void) { return (MirageAccessAttrs){.grid = {-1, -1, -1}, .loop = {-1, -1, -1, -1}}; }

static MirageAccessAttrs result_access(const Cut *cut, uint32_t rank) {
  MirageAccessAttrs access = no_access();
  for (uint32_t d = 0; d < rank; ++d)
    if (cut->axis[d] >= 0)
      access.grid[cut->axis[d]] = (int8_t)d;
  return access;
}

// Access to an operand that broadcasts to the result.
static MirageAccessAttrs broadcast_access(const Cut *cut, const MirageType *from, const MirageType *to) {
  MirageAccessAttrs access = no_access();
  for (uint32_t i = 1; i <= from->rank && i <= to->rank; ++i)
    if (cut->axis[to->rank - i] >= 0 && from->shape[from->rank - i] != 1)
      access.grid[cut->axis[to->rank - i]] = (int8_t)(from->rank - i);
  return access;
}

static MirageNode open_custom(const CanonicalOp *op, const MirageCustomAttrs *attrs) {
  return mirage_ugraph_open_custom(op->graph, op->num_operands, op->operands, 1, &op->result, attrs);
}

static MirageValue close_custom(const CanonicalOp *op, MirageNode custom, MirageValue tile,
                                const MirageAccessAttrs *access) {
  mirage_ugraph_store(op->graph, tile, mirage_ugraph_argument(op->graph, custom, op->num_operands), access);
  mirage_ugraph_close(op->graph, 0, NULL);
  return mirage_ugraph_result(op->graph, custom, 0);
}

// -------------------------------------------------------------------------------------------------- point-wise, shapes

static MirageAccessAttrs operand_access(const CanonicalOp *op, const Cut *cut, uint32_t operand) {
  const MirageType *from = &op->operand_types[operand];
  if (op->op != MIRAGE_OP_TRANSPOSE)
    return broadcast_access(cut, from, &op->result);
  MirageAccessAttrs access = no_access();
  for (uint32_t d = 0; d < op->result.rank; ++d)
    if (cut->axis[d] >= 0)
      access.grid[cut->axis[d]] = (int8_t)op->attrs->perm.perm[d];
  return access;
}

// The dimension along which a shape operator rearranges: it stays whole.
static int whole_dim(const CanonicalOp *op) {
  switch (op->op) {
  case MIRAGE_OP_REPEAT:
    return op->attrs->repeat.dim;
  case MIRAGE_OP_SLICE:
    return op->attrs->slice.dim;
  case MIRAGE_OP_CONCAT:
    return op->attrs->dim.dim;
  default:
    return -1;
  }
}

// A constant operand, as the part of it that meets the tile.
static MirageValue constant_tile(const CanonicalOp *op, const Cut *cut, uint32_t operand) {
  const MirageType *from = &op->operand_types[operand], *to = &op->result;
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t i = 1; i <= from->rank; ++i)
    shape[from->rank - i] =
        from->shape[from->rank - i] == 1 ? 1 : chunk(to->shape[to->rank - i], cut->parts[to->rank - i]);
  return mirage_ugraph_constant(op->graph, mirage_type_tile(from->dtype, from->rank, shape),
                                op->constants[operand]->constant.value);
}

MirageValue mirage__canonical_pointwise(const CanonicalOp *op) {
  enum { MOST = 64 };
  Cut cut = cut_result(&op->result, whole_dim(op), tile_target(op, mirage_type_elements(&op->result), 2048));
  MirageValue tensors[MOST], tiles[MOST];
  uint32_t count = op->num_operands < MOST ? op->num_operands : MOST, num_tensors = 0;
  for (uint32_t i = 0; i < count; ++i)
    if (!op->constants[i])
      tensors[num_tensors++] = op->operands[i];
  MirageNode custom = mirage_ugraph_open_custom(op->graph, num_tensors, tensors, 1, &op->result, &cut.attrs);
  for (uint32_t i = 0, tensor = 0; i < count; ++i) {
    MirageAccessAttrs access = operand_access(op, &cut, i);
    tiles[i] = op->constants[i]
                   ? constant_tile(op, &cut, i)
                   : mirage_ugraph_load(op->graph, mirage_ugraph_argument(op->graph, custom, tensor++), &access);
  }
  MirageAttrs attrs = {0};
  if (op->attrs)
    attrs = *op->attrs;
  MirageType tile = tile_of(&op->result, &cut, op->result.dtype);
  if (op->op == MIRAGE_OP_BROADCAST || op->op == MIRAGE_OP_CAST || op->op == MIRAGE_OP_BOTTOM)
    attrs.shape.type = tile;
  else if (op->op == MIRAGE_OP_CONSTANT)
    attrs.constant.type = tile;
  MirageValue result = mirage_ugraph_apply(op->graph, op->op, count, tiles, op->attrs ? &attrs : NULL);
  MirageAccessAttrs out = result_access(&cut, op->result.rank);
  mirage_ugraph_store(op->graph, result, mirage_ugraph_argument(op->graph, custom, num_tensors), &out);
  mirage_ugraph_close(op->graph, 0, NULL);
  return mirage_ugraph_result(op->graph, custom, 0);
}

// Dimensions of operand and result fall into groups of equal size; the outermost dimensions of a group may be cut
// alike.
static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }

MirageValue mirage__canonical_reshape(const CanonicalOp *op) {
  const MirageType *from = &op->operand_types[0], *to = &op->result;
  Cut in = {.attrs = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}}}, out = in;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; ++d)
    in.parts[d] = out.parts[d] = 1, in.axis[d] = out.axis[d] = -1;
  int64_t left = mirage_type_elements(to);
  uint32_t i = 0, o = 0;
  for (int axis = 0; i < from->rank && o < to->rank && axis < 3;) {
    int64_t parts = gcd(from->shape[i], to->shape[o]);
    if (parts > 1 && left > 1024) {
      parts = axis > 0 && parts > 65535 ? 1 : parts;
      in.parts[i] = out.parts[o] = in.attrs.grid[axis] = parts;
      in.axis[i] = out.axis[o] = parts > 1 ? axis++ : -1;
      left /= parts;
    }
    int64_t a = from->shape[i++], b = to->shape[o++]; // to the end of the group
    while (a != b && (a < b ? i < from->rank : o < to->rank))
      *(a < b ? &a : &b) *= a < b ? from->shape[i++] : to->shape[o++];
  }
  MirageNode custom = open_custom(op, &in.attrs);
  MirageAccessAttrs access = result_access(&in, from->rank);
  MirageValue tile = mirage_ugraph_load(op->graph, mirage_ugraph_argument(op->graph, custom, 0), &access);
  MirageAttrs attrs = {.shape = {tile_of(to, &out, to->dtype)}};
  MirageValue result = mirage_ugraph_apply(op->graph, MIRAGE_OP_RESHAPE, 1, &tile, &attrs);
  access = result_access(&out, to->rank);
  return close_custom(op, custom, result, &access);
}

MirageValue mirage__canonical_reduce(const CanonicalOp *op) {
  const MirageType *from = &op->operand_types[0];
  int dim = op->attrs->reduce.dim;
  int64_t length = from->shape[dim], most = length > 512 ? length * 4 : 2048;
  Cut cut = cut_result(from, dim, tile_target(op, mirage_type_elements(from), most));
  MirageNode custom = open_custom(op, &cut.attrs);
  MirageAccessAttrs access = result_access(&cut, from->rank);
  MirageValue tile = mirage_ugraph_load(op->graph, mirage_ugraph_argument(op->graph, custom, 0), &access);
  MirageValue result = mirage_ugraph_apply(op->graph, op->op, 1, &tile, op->attrs);
  return close_custom(op, custom, result, &access);
}

// -------------------------------------------------------------------------------------------------------------- matmul

typedef struct Tiling {
  int64_t m, n, k;          // extents of the product
  int64_t m_parts, n_parts; // blocks
  int64_t k_range;          // iterations
} Tiling;

// Busy time of the fullest multiprocessor, in cycles: products on the matrix units (or plain), operands from the L2.
static double tiling_cost(const CanonicalOp *op, const Tiling *t, int64_t bm, int64_t bn, double batch) {
  bool plain = op->result.dtype == MIRAGE_F32;
  double blocks = (double)ceil_div(t->m, bm) * (double)ceil_div(t->n, bn) * batch;
  double waves = blocks / op->target->num_sms;
  waves = (double)(int64_t)waves + (waves > (double)(int64_t)waves);
  double rows = (double)(bm < 16 ? (bm < 8 ? 8 : bm) : ceil_div(bm, 16) * 16);
  double work = rows * (double)bn / (plain ? 64 : 512), bytes = (double)(bm + bn) * (plain ? 4 : 2) / 40;
  double each = work > bytes ? work + bytes / 4 : bytes + work / 4;
  return waves * (each * (double)t->k + 600 + 8 * (double)ceil_div(t->k, 128));
}

static Tiling choose_tiling(const CanonicalOp *op, int64_t m, int64_t n, int64_t k, int64_t batch) {
  static const int64_t ROWS[] = {8, 16, 32, 64, 128}, COLUMNS[] = {16, 24, 32, 40, 48, 64, 80, 96, 128};
  Tiling t = {.m = m, .n = n, .k = k, .m_parts = 1, .n_parts = 1};
  bool plain = op->result.dtype == MIRAGE_F32;
  double best = -1;
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; ++i)
    for (size_t j = 0; j < sizeof COLUMNS / sizeof *COLUMNS; ++j) {
      int64_t bm = ROWS[i] < m ? ROWS[i] : m, bn = COLUMNS[j] < n ? COLUMNS[j] : n;
      if (bm * bn > (plain ? 4096 : 16384))
        continue;
      double cost = tiling_cost(op, &t, bm, bn, (double)batch);
      if (best >= 0 && cost >= best)
        continue;
      best = cost;
      t.m_parts = ceil_div(m, bm);
      t.n_parts = ceil_div(n, bn);
    }
  int64_t bm = chunk(m, t.m_parts), bn = chunk(n, t.n_parts), bk = plain ? 32 : (bm + bn) > 160 ? 64 : 128;
  if (!plain && bm <= 16 && k % 512 == 0 && k > 512)
    bk = 512; // sixteen warps with a step of 32 each: the direct form (lib/layout/split.c)
  t.k_range = ceil_div(k, bk);
  return t;
}

typedef struct Batch {
  int grid_dim;                   // dimension (of the result) on grid axis z, -1 = none
  int loop_dims[MIRAGE_MAX_RANK]; // the others of extent > 1, one loop each
  int num_loops;
} Batch;

static Batch choose_batch(const MirageType *result) {
  Batch batch = {.grid_dim = -1};
  for (int d = 0; d + 2 < (int)result->rank; ++d)
    if (result->shape[d] > 1 && result->shape[d] <= 65535 &&
        (batch.grid_dim < 0 || result->shape[d] > result->shape[batch.grid_dim]))
      batch.grid_dim = d;
  for (int d = 0; d + 2 < (int)result->rank; ++d)
    if (d != batch.grid_dim && result->shape[d] > 1)
      batch.loop_dims[batch.num_loops++] = d;
  return batch;
}

// Maps grid z and the batch loops onto the leading dimensions of a tensor (right-aligned with the result).
static void map_batch(const Batch *batch, const MirageType *result, const MirageType *tensor,
                      MirageAccessAttrs *access) {
  int shift = (int)result->rank - (int)tensor->rank;
  int grid = batch->grid_dim - shift;
  if (batch->grid_dim >= 0 && grid >= 0 && tensor->shape[grid] > 1)
    access->grid[2] = (int8_t)grid;
  for (int l = 0; l < batch->num_loops; ++l) {
    int dim = batch->loop_dims[l] - shift;
    if (dim >= 0 && tensor->shape[dim] > 1)
      access->loop[l] = (int8_t)dim;
  }
}

static MirageAccessAttrs matmul_access(const CanonicalOp *op, const Batch *batch, const Tiling *t, uint32_t operand) {
  const MirageType *type = &op->operand_types[operand];
  bool transposed = op->attrs && (operand == 0 ? op->attrs->matmul.transpose_a : op->attrs->matmul.transpose_b);
  int8_t last = (int8_t)(type->rank - 1), before = (int8_t)(type->rank - 2);
  bool k_last = (operand == 0) != transposed;
  MirageAccessAttrs access = no_access();
  access.grid[operand == 0 ? 1 : 0] = k_last ? before : last;
  if (t->k_range > 1)
    access.loop[batch->num_loops] = k_last ? last : before;
  map_batch(batch, &op->result, type, &access);
  return access;
}

static MirageValue matmul_tile(const CanonicalOp *op, MirageNode custom, const Batch *batch, const Tiling *t) {
  MirageValue tiles[2];
  for (uint32_t i = 0; i < 2; ++i) {
    MirageAccessAttrs access = matmul_access(op, batch, t, i);
    tiles[i] = mirage_ugraph_load(op->graph, mirage_ugraph_argument(op->graph, custom, i), &access);
  }
  return mirage_ugraph_apply(op->graph, MIRAGE_OP_MATMUL, 2, tiles, op->attrs);
}

static MirageValue matmul_total(const CanonicalOp *op, MirageNode custom, const Batch *batch, const Tiling *t) {
  if (t->k_range == 1)
    return matmul_tile(op, custom, batch, t);
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d + 2 < op->result.rank; ++d)
    shape[d] = 1; // every batch dimension is on the grid, or a loop's
  shape[op->result.rank - 2] = chunk(t->m, t->m_parts);
  shape[op->result.rank - 1] = chunk(t->n, t->n_parts);
  MirageValue zero = mirage_ugraph_constant(op->graph, mirage_type_tile(MIRAGE_F32, op->result.rank, shape), 0);
  MirageCarry sum = {.combine = MIRAGE_COMBINE_SUM};
  MirageLoopAttrs attrs = {.range = t->k_range, .num_carries = 1, .carries = &sum};
  MirageNode loop = mirage_ugraph_open_loop(op->graph, 1, &zero, &attrs);
  MirageValue product = matmul_tile(op, custom, batch, t);
  mirage_ugraph_close(op->graph, 1, &product);
  return mirage_ugraph_result(op->graph, loop, 0);
}

MirageValue mirage__canonical_matmul(const CanonicalOp *op) {
  const MirageType *a = &op->operand_types[0], *result = &op->result;
  bool transposed = op->attrs && op->attrs->matmul.transpose_a;
  int64_t k = a->shape[a->rank - (transposed ? 2 : 1)];
  Batch batch = choose_batch(result);
  int64_t blocks = batch.grid_dim >= 0 ? result->shape[batch.grid_dim] : 1;
  Tiling t = choose_tiling(op, result->shape[result->rank - 2], result->shape[result->rank - 1], k, blocks);
  MirageCustomAttrs attrs = {.grid = {t.n_parts, t.m_parts, blocks}, .cluster = {1, 1, 1}};
  MirageNode custom = open_custom(op, &attrs);
  for (int l = 0; l < batch.num_loops; ++l) {
    MirageLoopAttrs outer = {.range = result->shape[batch.loop_dims[l]]};
    mirage_ugraph_open_loop(op->graph, 0, NULL, &outer);
  }
  MirageValue tile = matmul_total(op, custom, &batch, &t);
  MirageAccessAttrs out = no_access();
  out.grid[0] = (int8_t)(result->rank - 1);
  out.grid[1] = (int8_t)(result->rank - 2);
  map_batch(&batch, result, result, &out);
  mirage_ugraph_store(op->graph, tile, mirage_ugraph_argument(op->graph, custom, 2), &out);
  for (int l = 0; l < batch.num_loops; ++l)
    mirage_ugraph_close(op->graph, 0, NULL);
  mirage_ugraph_close(op->graph, 0, NULL);
  return mirage_ugraph_result(op->graph, custom, 0);
}
