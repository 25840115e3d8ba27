// canonical_ops.c - the canonical block graphs of element-wise and shape operators and of reductions.
//
// Point-wise and shape operators: up to three dimensions of the result are cut over the grid until a tile has about
//              2048 elements (fewer when the chip would stay empty); tiles go from device memory to device memory
//              without a buffer.
// Reductions:  the reduced dimension stays whole, the others are cut.
#include "canonical_op.h"

#include <string.h>

static void cut_dim(Cut *cut, uint32_t dim, int64_t parts, int *axes) {
  cut->parts[dim] = parts;
  if (parts > 1)
    cut->axis[dim] = (*axes)++;
}

Cut mirage__cut(const MirageType *type, int whole, int64_t target) {
  Cut cut = {.attrs = {.grid = {1, 1, 1}, .cluster = {1, 1, 1}}};
  int64_t left = mirage_type_elements(type);
  int axes = 0;
  for (uint32_t d = 0; d < MIRAGE_MAX_RANK; d++)
    cut.parts[d] = 1, cut.axis[d] = -1;
  for (uint32_t d = 0; d < type->rank && axes < 3 && left > target; d++) {
    int64_t n = type->shape[d], need = cut_ceil_div(left, target);
    if ((int)d == whole || n == 1)
      continue;
    int64_t extent = need >= n ? 1 : cut_chunk(n, need);
    if (d + 1 == type->rank && extent < n) { // rows are cut in 16-byte pieces
      extent = cut_ceil_div(extent, 8) * 8;
      extent = extent < 32 && n >= 32 ? 32 : extent;
    }
    int64_t parts = cut_ceil_div(n, extent);
    parts = axes > 0 && parts > 65535 ? 65535 : parts;
    cut_dim(&cut, d, parts, &axes);
    left = cut_ceil_div(left, parts);
  }
  for (uint32_t d = 0; d < type->rank; d++)
    if (cut.axis[d] >= 0)
      cut.attrs.grid[cut.axis[d]] = cut.parts[d];
  return cut;
}

int64_t mirage__tile_target(const CanonicalOp *op, int64_t elements, int64_t most) {
  int64_t target = most; // at least one block per multiprocessor where there is enough to do
  while (target > 256 && elements / target < op->target->num_sms)
    target /= 2;
  return target;
}

MirageType mirage__cut_tile(const MirageType *tensor, const Cut *cut, MirageDType dtype) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < tensor->rank; d++)
    shape[d] = cut_chunk(tensor->shape[d], cut->parts[d]);
  return mirage_type_tile(dtype, tensor->rank, shape);
}

static MirageAccessAttrs cut_access(const Cut *cut, uint32_t rank) {
  MirageAccessAttrs access = no_access();
  for (uint32_t d = 0; d < rank; d++)
    if (cut->axis[d] >= 0)
      access.grid[cut->axis[d]] = (int8_t)d;
  return access;
}

MirageAccessAttrs mirage__broadcast_access(const Cut *cut, const MirageType *from, const MirageType *to) {
  MirageAccessAttrs access = no_access();
  for (uint32_t i = 1; i <= from->rank && i <= to->rank; i++)
    if (cut->axis[to->rank - i] >= 0 && from->shape[from->rank - i] != 1)
      access.grid[cut->axis[to->rank - i]] = (int8_t)(from->rank - i);
  return access;
}

MirageNode mirage__open_canonical(const CanonicalOp *op, const MirageCustomAttrs *attrs) {
  return mirage_ugraph_open_custom(op->graph, op->num_operands, op->operands, 1, &op->result, attrs);
}

MirageValue mirage__close_canonical(const CanonicalOp *op, MirageNode custom, MirageValue tile,
                                    const MirageAccessAttrs *access) {
  mirage_ugraph_store(op->graph, tile, mirage_ugraph_argument(op->graph, custom, op->num_operands), access);
  mirage_ugraph_close(op->graph, 0, NULL);
  return mirage_ugraph_result(op->graph, custom, 0);
}

// -------------------------------------------------------------------------------------------------- point-wise, shapes

static MirageAccessAttrs operand_access(const CanonicalOp *op, const Cut *cut, uint32_t operand) {
  const MirageType *from = &op->operand_types[operand];
  if (op->op != MIRAGE_OP_TRANSPOSE)
    return mirage__broadcast_access(cut, from, &op->result);
  MirageAccessAttrs access = no_access();
  for (uint32_t d = 0; d < op->result.rank; d++)
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
  for (uint32_t i = 1; i <= from->rank; i++)
    shape[from->rank - i] =
        from->shape[from->rank - i] == 1 ? 1 : cut_chunk(to->shape[to->rank - i], cut->parts[to->rank - i]);
  return mirage_ugraph_constant(op->graph, mirage_type_tile(from->dtype, from->rank, shape),
                                op->constants[operand]->constant.value);
}

// A block graph has no select.
static MirageValue select_tile(const CanonicalOp *op, const MirageValue *tiles) {
  MirageValue otherwise = mirage_ugraph_apply(op->graph, MIRAGE_OP_NOT, 1, tiles, NULL);
  MirageValue parts[] = {mirage_ugraph_apply(op->graph, MIRAGE_OP_MASK, 2, tiles, NULL),
                         mirage_ugraph_apply(op->graph, MIRAGE_OP_MASK, 2, (MirageValue[]){otherwise, tiles[2]}, NULL)};
  return mirage_ugraph_apply(op->graph, MIRAGE_OP_MAX, 2, parts, NULL);
}

// Along which grid axes a tile of indices moves, and how far.
static void follow_cut(const CanonicalOp *op, const Cut *cut, const MirageType *tile, MirageAttrs *attrs) {
  int32_t dim = op->attrs->iota.dim;
  attrs->iota.type = *tile;
  if (cut->axis[dim] >= 0)
    attrs->iota.grid[cut->axis[dim]] = tile->shape[dim];
}

static MirageValue apply_to_tiles(const CanonicalOp *op, uint32_t count, const MirageValue *tiles,
                                  const MirageAttrs *attrs) {
  if (op->op == MIRAGE_OP_SELECT)
    return select_tile(op, tiles);
  if (mirage_op_is_function(op->op))
    return mirage_ugraph_apply_function(op->graph, op->op, attrs, tiles[0]);
  return mirage_ugraph_apply(op->graph, op->op, count, tiles, attrs);
}

MirageValue mirage__canonical_pointwise(const CanonicalOp *op) {
  enum { MOST = 64 };
  Cut cut = mirage__cut(&op->result, whole_dim(op), mirage__tile_target(op, mirage_type_elements(&op->result), 2048));
  MirageValue tensors[MOST], tiles[MOST];
  uint32_t count = op->num_operands < MOST ? op->num_operands : MOST, num_tensors = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!op->constants[i])
      tensors[num_tensors++] = op->operands[i];
  MirageNode custom = mirage_ugraph_open_custom(op->graph, num_tensors, tensors, 1, &op->result, &cut.attrs);
  for (uint32_t i = 0, tensor = 0; i < count; i++) {
    MirageAccessAttrs access = operand_access(op, &cut, i);
    tiles[i] = op->constants[i]
                   ? constant_tile(op, &cut, i)
                   : mirage_ugraph_load(op->graph, mirage_ugraph_argument(op->graph, custom, tensor++), &access);
  }
  MirageAttrs attrs = {0};
  if (op->attrs)
    attrs = *op->attrs;
  MirageType tile = mirage__cut_tile(&op->result, &cut, op->result.dtype);
  if (op->op == MIRAGE_OP_BROADCAST || op->op == MIRAGE_OP_CAST || op->op == MIRAGE_OP_BOTTOM)
    attrs.shape.type = tile;
  else if (op->op == MIRAGE_OP_CONSTANT)
    attrs.constant.type = tile;
  else if (op->op == MIRAGE_OP_IOTA)
    follow_cut(op, &cut, &tile, &attrs);
  MirageValue result = apply_to_tiles(op, count, tiles, op->attrs ? &attrs : NULL);
  MirageAccessAttrs out = cut_access(&cut, op->result.rank);
  mirage_ugraph_store(op->graph, result, mirage_ugraph_argument(op->graph, custom, num_tensors), &out);
  mirage_ugraph_close(op->graph, 0, NULL);
  return mirage_ugraph_result(op->graph, custom, 0);
}

// Whether any of a row holds: in a block a maximum is one of numbers.
static MirageValue any_of(const CanonicalOp *op, MirageValue tile) {
  MirageValue numbers = mirage_ugraph_cast(op->graph, tile, MIRAGE_F32);
  MirageValue most = mirage_ugraph_apply(op->graph, op->op, 1, &numbers, op->attrs);
  MirageValue zero = mirage_ugraph_constant(op->graph, mirage_type_tile(MIRAGE_F32, 0, NULL), 0);
  return mirage_ugraph_apply(op->graph, MIRAGE_OP_LESS, 2, (MirageValue[]){zero, most}, NULL);
}

MirageValue mirage__canonical_reduce(const CanonicalOp *op) {
  const MirageType *from = &op->operand_types[0];
  int dim = op->attrs->reduce.dim;
  int64_t length = from->shape[dim], most = length > 512 ? length * 4 : 2048;
  Cut cut = mirage__cut(from, dim, mirage__tile_target(op, mirage_type_elements(from), most));
  MirageNode custom = mirage__open_canonical(op, &cut.attrs);
  MirageAccessAttrs access = cut_access(&cut, from->rank);
  MirageValue tile = mirage_ugraph_load(op->graph, mirage_ugraph_argument(op->graph, custom, 0), &access);
  MirageValue result =
      from->dtype == MIRAGE_I1 ? any_of(op, tile) : mirage_ugraph_apply(op->graph, op->op, 1, &tile, op->attrs);
  return mirage__close_canonical(op, custom, result, &access);
}
