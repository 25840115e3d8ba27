// canonical_matmul.c - the canonical block graph of a product.
//
// Grid x over n, y over m, z over the largest batch dimension; further batch dimensions and the contraction are loops.
// Tile extents come from a small search over the predicted busy time of the fullest multiprocessor.
#include "canonical/pad.h"
#include "canonical_op.h"
#include "layout/block.h"

enum {
  DIRECT_DEPTH = 512,
  GROUPS_TILE = 64, // extents that warpgroups multiply are multiples of it
};

typedef struct Tiling {
  int64_t m, n, k;                // extents of the product
  int64_t m_tile, n_tile, k_tile; // of a block, of an iteration; the last may go beyond the extent
  int64_t m_parts, n_parts;       // blocks
  int64_t k_range;                // iterations
  bool copied;                    // tensor copies can read both operands, padded ones where `padding` is not 0
  double padding;                 // cycles of all multiprocessors, for copies of operands with longer rows
  bool padded;                    // so it is chosen
} Tiling;

static void find_copies(const CanonicalOp *op, Tiling *t) {
  enum { LAUNCH = 3000, BYTES_PER_CYCLE = 20 }; // of a multiprocessor, in and out
  t->copied = op->target->has_wgmma && op->target->has_tensor_copy;
  for (uint32_t i = 0; i < 2; i++) {
    const MirageType *type = &op->operand_types[i];
    int64_t bytes = mirage_dtype_bytes(type->dtype);
    bool pads = mirage__may_pad(type), aligned = bytes * type->shape[type->rank - 1] % 16 == 0;
    bool transposed = op->attrs && (i == 0 ? op->attrs->matmul.transpose_a : op->attrs->matmul.transpose_b);
    bool k_inner = (i == 0) != transposed; // as bytes must lie
    t->copied &= (bytes == 2 || (bytes == 1 && k_inner)) && (aligned || pads);
    if (pads)
      t->padding += LAUNCH + 4 * (double)mirage_type_elements(type) / BYTES_PER_CYCLE / op->target->num_sms;
  }
}

// Whole instructions are worth two thirds more elements, as in the search.
static bool is_nearly_whole(int64_t extent, int64_t tile) {
  return 3 * (cut_ceil_div(extent, tile) * tile - extent) <= 2 * extent;
}

// Tiles that tensor copies feed and warpgroups multiply, as the planner will have it (lib/layout/warpgroup.c).
static bool for_warpgroups(const Tiling *t, int64_t bm, int64_t bn) {
  return t->copied && bm % GROUPS_TILE == 0 && bn % GROUPS_TILE == 0 && is_nearly_whole(t->m, bm) &&
         is_nearly_whole(t->n, bn) && is_nearly_whole(t->k, GROUPS_TILE);
}

// Busy time of the fullest multiprocessor, in cycles: products on the matrix units (or plain), operands from the L2.
// Warpgroups multiply four times as fast and wait for the L2 (H200, 4096 x 4096 x 4096: 274 us in tiles of 128 x 128,
// 217 in tiles of 128 x 256).
static double tiling_cost(const CanonicalOp *op, const Tiling *t, int64_t bm, int64_t bn, double batch) {
  bool plain = op->operand_types[0].dtype == MIRAGE_F32;
  double blocks = (double)cut_ceil_div(t->m, bm) * (double)cut_ceil_div(t->n, bn) * batch;
  double waves = blocks / op->target->num_sms;
  waves = (double)(int64_t)waves + (waves > (double)(int64_t)waves);
  double rows = (double)(bm < 16 ? (bm < 8 ? 8 : bm) : cut_ceil_div(bm, 16) * 16);
  bool groups = for_warpgroups(t, bm, bn);
  double element = (double)mirage_dtype_bytes(op->operand_types[0].dtype);
  double work = rows * (double)bn / (plain ? 64 : groups ? 2048 : 512) * (plain ? 1 : element / 2);
  double bytes = (double)(bm + bn) * element / (groups ? 33 : 40);
  double each = work > bytes ? work + bytes / 4 : bytes + work / 4;
  return waves * (each * (double)t->k + 600 + 8 * (double)cut_ceil_div(t->k, 128)) + (groups ? t->padding : 0);
}

// Whether the loop takes the direct form (lib/layout/direct.c), sixteen warps with a step of 32 rows each.
static bool streams_weights(const CanonicalOp *op, int64_t bm, int64_t bn, int64_t k) {
  bool transposed = op->attrs && op->attrs->matmul.transpose_b;
  int32_t registers = mirage__direct_registers(bm, bn);
  MirageDType dtype = op->operand_types[0].dtype;
  return mirage_dtype_bits(dtype) == 16 && !transposed && k % DIRECT_DEPTH == 0 && k > DIRECT_DEPTH && registers &&
         mirage__direct_fits(DIRECT_DEPTH, registers, DIRECT_WARPS, op->target);
}

static int64_t depth_of(const CanonicalOp *op, const Tiling *t) {
  if (streams_weights(op, t->m_tile, t->n_tile, t->k))
    return DIRECT_DEPTH;
  int64_t halves = 16 / (int64_t)mirage_dtype_bits(op->operand_types[0].dtype); // 0 of f32
  return halves ? (t->m_tile + t->n_tile > 160 ? 64 : 128) * halves : 32;
}

// Of warpgroups tiles are whole; others divide the product evenly.
static void set_tiles(const CanonicalOp *op, Tiling *t, int64_t bm, int64_t bn) {
  t->m_parts = cut_ceil_div(t->m, bm);
  t->n_parts = cut_ceil_div(t->n, bn);
  bool groups = for_warpgroups(t, bm, bn);
  t->m_tile = groups ? bm : cut_chunk(t->m, t->m_parts);
  t->n_tile = groups ? bn : cut_chunk(t->n, t->n_parts);
  t->padded = groups && t->padding > 0;
  int64_t depth = depth_of(op, t);
  t->k_range = cut_ceil_div(t->k, depth);
  t->k_tile = groups ? depth : cut_chunk(t->k, t->k_range);
}

static Tiling choose_tiling(const CanonicalOp *op, int64_t m, int64_t n, int64_t k, int64_t batch) {
  static const int64_t ROWS[] = {8, 16, 32, 64, 128}, COLUMNS[] = {16, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256};
  Tiling t = {.m = m, .n = n, .k = k};
  find_copies(op, &t);
  bool plain = op->operand_types[0].dtype == MIRAGE_F32;
  double best = -1;
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
    for (size_t j = 0; j < sizeof COLUMNS / sizeof *COLUMNS; j++) {
      int64_t bm = ROWS[i] < m ? ROWS[i] : m, bn = COLUMNS[j] < n ? COLUMNS[j] : n;
      bool groups = for_warpgroups(&t, bm, bn);
      if (bm * bn > (plain ? 4096 : groups ? 32768 : 16384) || (bn > 128 && !groups))
        continue;
      double cost = tiling_cost(op, &t, bm, bn, (double)batch);
      if (best >= 0 && cost >= best)
        continue;
      best = cost;
      set_tiles(op, &t, bm, bn);
    }
  return t;
}

typedef struct Batch {
  int grid_dim;                   // dimension (of the result) on grid axis z, -1 = none
  int loop_dims[MIRAGE_MAX_RANK]; // the others of extent > 1, one loop each
  int num_loops;
} Batch;

static Batch choose_batch(const MirageType *result) {
  Batch batch = {.grid_dim = -1};
  for (int d = 0; d + 2 < (int)result->rank; d++)
    if (result->shape[d] > 1 && result->shape[d] <= 65535 &&
        (batch.grid_dim < 0 || result->shape[d] > result->shape[batch.grid_dim]))
      batch.grid_dim = d;
  for (int d = 0; d + 2 < (int)result->rank; d++)
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
  for (int l = 0; l < batch->num_loops; l++) {
    int dim = batch->loop_dims[l] - shift;
    if (dim >= 0 && tensor->shape[dim] > 1)
      access->loop[l] = (int8_t)dim;
  }
}

// What an access says of its tiles: nothing where division gives them.
static int64_t said(int64_t extent, int64_t parts, int64_t tile) { return tile == cut_chunk(extent, parts) ? 0 : tile; }

static MirageAccessAttrs matmul_access(const CanonicalOp *op, const Batch *batch, const Tiling *t, uint32_t operand) {
  const MirageType *type = &op->operand_types[operand];
  bool transposed = op->attrs && (operand == 0 ? op->attrs->matmul.transpose_a : op->attrs->matmul.transpose_b);
  int8_t last = (int8_t)(type->rank - 1), before = (int8_t)(type->rank - 2);
  bool k_last = (operand == 0) != transposed;
  MirageAccessAttrs access = no_access();
  int8_t outer = k_last ? before : last, inner = k_last ? last : before;
  access.grid[operand == 0 ? 1 : 0] = outer;
  access.tiles[outer] =
      operand == 0 ? said(type->shape[outer], t->m_parts, t->m_tile) : said(type->shape[outer], t->n_parts, t->n_tile);
  if (t->k_range > 1) {
    access.loop[batch->num_loops] = inner;
    access.tiles[inner] = said(type->shape[inner], t->k_range, t->k_tile);
  }
  map_batch(batch, &op->result, type, &access);
  return access;
}

static MirageValue matmul_tile(const CanonicalOp *op, MirageNode custom, const Batch *batch, const Tiling *t) {
  MirageValue tiles[2];
  for (uint32_t i = 0; i < 2; i++) {
    MirageAccessAttrs access = matmul_access(op, batch, t, i);
    tiles[i] = mirage_ugraph_load(op->graph, mirage_ugraph_argument(op->graph, custom, i), &access);
  }
  return mirage_ugraph_apply(op->graph, MIRAGE_OP_MATMUL, 2, tiles, op->attrs);
}

static MirageValue matmul_total(const CanonicalOp *op, MirageNode custom, const Batch *batch, const Tiling *t) {
  if (t->k_range == 1)
    return matmul_tile(op, custom, batch, t);
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d + 2 < op->result.rank; d++)
    shape[d] = 1; // every batch dimension is on the grid, or a loop's
  shape[op->result.rank - 2] = t->m_tile;
  shape[op->result.rank - 1] = t->n_tile;
  MirageDType sums = op->result.dtype == MIRAGE_I32 ? MIRAGE_I32 : MIRAGE_F32;
  MirageValue zero = mirage_ugraph_constant(op->graph, mirage_type_tile(sums, op->result.rank, shape), 0);
  MirageCarry sum = {.combine = MIRAGE_COMBINE_SUM};
  MirageLoopAttrs attrs = {.range = t->k_range, .num_carries = 1, .carries = &sum};
  MirageNode loop = mirage_ugraph_open_loop(op->graph, 1, &zero, &attrs);
  MirageValue product = matmul_tile(op, custom, batch, t);
  mirage_ugraph_close(op->graph, 1, &product);
  return mirage_ugraph_result(op->graph, loop, 0);
}

static MirageValue build_product(const CanonicalOp *op, const Batch *batch, const Tiling *t) {
  const MirageType *result = &op->result;
  int64_t blocks = batch->grid_dim >= 0 ? result->shape[batch->grid_dim] : 1;
  MirageCustomAttrs attrs = {.grid = {t->n_parts, t->m_parts, blocks}, .cluster = {1, 1, 1}};
  MirageNode custom = mirage__open_canonical(op, &attrs);
  for (int l = 0; l < batch->num_loops; l++) {
    MirageLoopAttrs outer = {.range = result->shape[batch->loop_dims[l]]};
    mirage_ugraph_open_loop(op->graph, 0, NULL, &outer);
  }
  MirageValue tile = matmul_total(op, custom, batch, t);
  MirageAccessAttrs out = no_access();
  out.grid[0] = (int8_t)(result->rank - 1);
  out.grid[1] = (int8_t)(result->rank - 2);
  out.tiles[result->rank - 1] = said(t->n, t->n_parts, t->n_tile);
  out.tiles[result->rank - 2] = said(t->m, t->m_parts, t->m_tile);
  map_batch(batch, result, result, &out);
  mirage_ugraph_store(op->graph, tile, mirage_ugraph_argument(op->graph, custom, 2), &out);
  for (int l = 0; l < batch->num_loops; l++)
    mirage_ugraph_close(op->graph, 0, NULL);
  mirage_ugraph_close(op->graph, 0, NULL);
  return mirage_ugraph_result(op->graph, custom, 0);
}

// The product of copies with longer rows, of those operands that need it.
static MirageValue build_padded(const CanonicalOp *op, const Batch *batch, const Tiling *t) {
  MirageValue operands[2] = {op->operands[0], op->operands[1]};
  MirageType types[2] = {op->operand_types[0], op->operand_types[1]};
  CanonicalOp padded = *op;
  padded.operands = operands;
  padded.operand_types = types;
  for (uint32_t i = 0; i < 2; i++)
    if (mirage__may_pad(&types[i])) {
      operands[i] = mirage__pad_rows(op->graph, operands[i]);
      types[i] = mirage__padded_type(&types[i]);
    }
  return build_product(&padded, batch, t);
}

MirageValue mirage__canonical_matmul(const CanonicalOp *op) {
  const MirageType *a = &op->operand_types[0], *result = &op->result;
  bool transposed = op->attrs && op->attrs->matmul.transpose_a;
  int64_t k = a->shape[a->rank - (transposed ? 2 : 1)];
  Batch batch = choose_batch(result);
  int64_t blocks = batch.grid_dim >= 0 ? result->shape[batch.grid_dim] : 1;
  Tiling t = choose_tiling(op, result->shape[result->rank - 2], result->shape[result->rank - 1], k, blocks);
  return t.padded ? build_padded(op, &batch, &t) : build_product(op, &batch, &t);
}
