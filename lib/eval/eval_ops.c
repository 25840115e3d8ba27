// eval_ops.c - single operators on dense arrays: shapes here, arithmetic in the domain.
//
// Broadcasting, transposition and slicing are one primitive, a strided copy of a box; the domain only ever sees dense
// arrays. Copies go through the evaluation's scratch buffers: slots 0 and 1 hold expanded or transposed operands, slot
// 2 an intermediate result.
#include "eval_internal.h"

#include <string.h>

// -------------------------------------------------------------------------------------------------------- strided copy

void mirage__eval_strides(uint32_t rank, const int64_t *shape, int64_t *out_strides) {
  int64_t stride = 1;
  for (uint32_t d = rank; d-- > 0; stride *= shape[d])
    out_strides[d] = stride;
}

// Size is 8 or 16 in practice; the constant lets the compiler turn memcpy into moves.
static void copy_row(size_t size, int64_t n, const char *src, int64_t src_stride, char *dst, int64_t dst_stride) {
  if (src_stride == 1 && dst_stride == 1) {
    memcpy(dst, src, (size_t)n * size);
    return;
  }
  int64_t from = src_stride * (int64_t)size, to = dst_stride * (int64_t)size;
  if (size == 8)
    for (int64_t i = 0; i < n; i++)
      memcpy(dst + i * to, src + i * from, 8);
  else if (size == 16)
    for (int64_t i = 0; i < n; i++)
      memcpy(dst + i * to, src + i * from, 16);
  else
    for (int64_t i = 0; i < n; i++)
      memcpy(dst + i * to, src + i * from, size);
}

// Both dimensions of a transposition in squares that fit the first-level cache.
static void copy_plane(size_t size, const int64_t *shape, const char *src, const int64_t *src_strides, char *dst,
                       const int64_t *dst_strides) {
  enum { SQUARE = 32 };
  bool crosses = src_strides[1] > 1 && src_strides[0] < src_strides[1];
  int64_t step_rows = crosses ? SQUARE : shape[0], step_columns = crosses ? SQUARE : shape[1];
  for (int64_t r = 0; r < shape[0]; r += step_rows)
    for (int64_t c = 0; c < shape[1]; c += step_columns) {
      int64_t rows = shape[0] - r < step_rows ? shape[0] - r : step_rows;
      int64_t columns = shape[1] - c < step_columns ? shape[1] - c : step_columns;
      for (int64_t i = r; i < r + rows; i++)
        copy_row(size, columns, src + (i * src_strides[0] + c * src_strides[1]) * (int64_t)size, src_strides[1],
                 dst + (i * dst_strides[0] + c * dst_strides[1]) * (int64_t)size, dst_strides[1]);
    }
}

void mirage__eval_copy(size_t element_bytes, uint32_t rank, const int64_t *shape, const void *src,
                       const int64_t *src_strides, void *dst, const int64_t *dst_strides) {
  if (rank == 0) {
    memcpy(dst, src, element_bytes);
    return;
  }
  if (rank == 1) {
    copy_row(element_bytes, shape[0], src, src_strides[0], dst, dst_strides[0]);
    return;
  }
  if (rank == 2) {
    copy_plane(element_bytes, shape, src, src_strides, dst, dst_strides);
    return;
  }
  for (int64_t i = 0; i < shape[0]; i++)
    mirage__eval_copy(element_bytes, rank - 1, shape + 1,
                      (const char *)src + i * src_strides[0] * (int64_t)element_bytes, src_strides + 1,
                      (char *)dst + i * dst_strides[0] * (int64_t)element_bytes, dst_strides + 1);
}

void mirage__eval_broadcast_strides(const MirageType *type, uint32_t rank, int64_t *out_strides) {
  int64_t own[MIRAGE_MAX_RANK];
  mirage__eval_strides(type->rank, type->shape, own);
  for (uint32_t d = 0; d < rank; d++) {
    int64_t source = (int64_t)d - (int64_t)(rank - type->rank);
    out_strides[d] = source < 0 || type->shape[source] == 1 ? 0 : own[source];
  }
}

static void stretch(Eval *eval, const MirageType *type, const void *a, const MirageType *result, void *out) {
  int64_t from[MIRAGE_MAX_RANK], to[MIRAGE_MAX_RANK];
  mirage__eval_broadcast_strides(type, result->rank, from);
  mirage__eval_strides(result->rank, result->shape, to);
  mirage__eval_copy(eval->size, result->rank, result->shape, a, from, out, to);
}

// ---------------------------------------------------------------------------------------------------------- arithmetic

MirageStatus mirage__eval_binary(Eval *eval, MirageOp op, const MirageType *a_type, const void *a,
                                 const MirageType *b_type, const void *b, const MirageType *result, void *out) {
  const EvalElements call = {op, result, a_type, b_type, a, b, 0, out};
  return mirage__eval_elements(eval, &call);
}

// A sum or maximum over one dimension, as the operator table defines it (attribute `extent`).
static MirageStatus reduce_over(Eval *eval, MirageOp op, const MirageType *type, const void *a, int32_t dim,
                                int64_t extent, const MirageType *result, void *out) {
  size_t outer = 1, inner = (size_t)extent;
  for (int32_t d = 0; d < dim; d++)
    outer *= (size_t)type->shape[d];
  for (uint32_t d = (uint32_t)dim + 1; d < type->rank; d++)
    inner *= (size_t)type->shape[d];
  return mirage__eval_rows(eval, op, result, outer, (size_t)(type->shape[dim] / extent), inner, a, out);
}

// Mean = sum in f32, then one division by the number of summands.
static MirageStatus eval_mean(Eval *eval, const MirageNodeView *node, const MirageType *type, const void *a,
                              const MirageType *result, void *out) {
  int32_t dim = node->attrs->reduce.dim;
  MirageType wide = *result, scalar = mirage_type_tensor(MIRAGE_F32, 0, NULL);
  void *count;
  wide.dtype = MIRAGE_F32;
  MIRAGE_TRY(reduce_over(eval, MIRAGE_OP_REDUCE_SUM, type, a, dim, node->attrs->reduce.extent, &wide, out));
  MIRAGE_TRY(mirage__eval_scratch(eval, 2, 1, &count));
  double summands = (double)(type->shape[dim] / node->attrs->reduce.extent);
  MIRAGE_TRY(eval->domain->constant(eval->domain, &scalar, 1, summands, count));
  return mirage__eval_binary(eval, MIRAGE_OP_DIV, &wide, out, &scalar, count, result, out);
}

// Transposes the last two dimensions of one matrix [rows, columns] into scratch `slot`.
static MirageStatus transposed(Eval *eval, uint32_t slot, int64_t rows, int64_t columns, const void **matrix) {
  void *copy;
  MIRAGE_TRY(mirage__eval_scratch(eval, slot, (size_t)(rows * columns), &copy));
  mirage__eval_copy(eval->size, 2, (int64_t[]){columns, rows}, *matrix, (int64_t[]){1, columns}, copy,
                    (int64_t[]){rows, 1});
  *matrix = copy;
  return MIRAGE_OK;
}

// Offset of batch `index` (row-major over the result's leading dimensions) in an operand that broadcasts against it.
static int64_t batch_offset(const MirageType *type, const MirageType *result, int64_t index) {
  int64_t strides[MIRAGE_MAX_RANK], offset = 0;
  mirage__eval_broadcast_strides(type, result->rank, strides);
  for (uint32_t d = result->rank - 2; d-- > 0; index /= result->shape[d])
    offset += index % result->shape[d] * strides[d];
  return offset;
}

static MirageStatus eval_matmul(Eval *eval, const MirageNodeView *node, const MirageType *const *types,
                                const void *const *operands, const MirageType *result, void *out) {
  const MirageType *a_type = types[0], *b_type = types[1];
  bool flip_a = node->attrs && node->attrs->matmul.transpose_a, flip_b = node->attrs && node->attrs->matmul.transpose_b;
  int64_t m = result->shape[result->rank - 2], n = result->shape[result->rank - 1];
  int64_t k = a_type->shape[a_type->rank - (flip_a ? 2 : 1)];
  int64_t batches = mirage_type_elements(result) / (m * n);
  bool turned = flip_b && eval->domain->matmul_box;
  for (int64_t i = 0; i < batches; i++) {
    const void *a = (const char *)operands[0] + batch_offset(a_type, result, i) * (int64_t)eval->size;
    const void *b = (const char *)operands[1] + batch_offset(b_type, result, i) * (int64_t)eval->size;
    int64_t at = i * m * n * (int64_t)eval->size;
    const void *c = node->num_operands == 3 ? (const char *)operands[2] + at : NULL; // mma's c has the result's shape
    if (flip_a)
      MIRAGE_TRY(transposed(eval, 0, k, m, &a));
    if (flip_b && !turned)
      MIRAGE_TRY(transposed(eval, 1, n, k, &b));
    MIRAGE_TRY(mirage__eval_product(eval, result, (size_t)m, (size_t)n, (size_t)k, a, b, turned, c, (char *)out + at));
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------- data movement

static void eval_transpose(Eval *eval, const MirageNodeView *node, const MirageType *type, const void *a,
                           const MirageType *result, void *out) {
  int64_t own[MIRAGE_MAX_RANK], from[MIRAGE_MAX_RANK], to[MIRAGE_MAX_RANK];
  mirage__eval_strides(type->rank, type->shape, own);
  mirage__eval_strides(result->rank, result->shape, to);
  for (uint32_t d = 0; d < result->rank; d++)
    from[d] = own[node->attrs->perm.perm[d]];
  mirage__eval_copy(eval->size, result->rank, result->shape, a, from, out, to);
}

// Copies the box `box` of `a` (from `begin` along `dim`) to the box of `out` that starts at `at` along `dim`.
static void copy_box(Eval *eval, int32_t dim, const MirageType *box, const MirageType *a_type, const void *a,
                     int64_t begin, const MirageType *out_type, void *out, int64_t at) {
  int64_t from[MIRAGE_MAX_RANK], to[MIRAGE_MAX_RANK];
  mirage__eval_strides(a_type->rank, a_type->shape, from);
  mirage__eval_strides(out_type->rank, out_type->shape, to);
  mirage__eval_copy(eval->size, box->rank, box->shape, (const char *)a + begin * from[dim] * (int64_t)eval->size, from,
                    (char *)out + at * to[dim] * (int64_t)eval->size, to);
}

static void eval_shape_op(Eval *eval, const MirageNodeView *node, const MirageType *const *types,
                          const void *const *operands, const MirageType *result, void *out) {
  const MirageAttrs *attrs = node->attrs;
  int64_t at = 0;
  switch (node->op) {
  case MIRAGE_OP_BROADCAST:
    stretch(eval, types[0], operands[0], result, out);
    break;
  case MIRAGE_OP_REPEAT:
    for (int64_t i = 0; i < attrs->repeat.times; i++, at += types[0]->shape[attrs->repeat.dim])
      copy_box(eval, attrs->repeat.dim, types[0], types[0], operands[0], 0, result, out, at);
    break;
  case MIRAGE_OP_TRANSPOSE:
    eval_transpose(eval, node, types[0], operands[0], result, out);
    break;
  case MIRAGE_OP_SLICE:
    copy_box(eval, attrs->slice.dim, result, types[0], operands[0], attrs->slice.begin, result, out, 0);
    break;
  case MIRAGE_OP_CONCAT:
    for (uint32_t i = 0; i < node->num_operands; at += types[i]->shape[attrs->dim.dim], i++)
      copy_box(eval, attrs->dim.dim, types[i], types[i], operands[i], 0, result, out, at);
    break;
  default: // reshape: row-major order is kept
    memcpy(out, operands[0], (size_t)mirage_type_elements(result) * eval->size);
    break;
  }
}

MirageStatus mirage__eval_iota(Eval *eval, const MirageType *result, int32_t dim, int64_t start, void *out) {
  int64_t n = result->shape[dim], from[MIRAGE_MAX_RANK] = {0}, to[MIRAGE_MAX_RANK];
  void *row;
  MIRAGE_TRY(mirage__eval_scratch(eval, 0, (size_t)n, &row));
  for (int64_t i = 0; i < n; i++)
    MIRAGE_TRY(
        eval->domain->constant(eval->domain, result, 1, (double)(start + i), (char *)row + (size_t)i * eval->size));
  from[dim] = 1;
  mirage__eval_strides(result->rank, result->shape, to);
  mirage__eval_copy(eval->size, result->rank, result->shape, row, from, out, to);
  return MIRAGE_OK;
}

MirageStatus mirage__eval_operator(Eval *eval, const MirageNodeView *node, const MirageType *const *types,
                                   const void *const *operands, const MirageType *result, void *out) {
  EvalElements call = {.op = node->op, .result = result, .out = out};
  switch (mirage_op_info(node->op)->kind) {
  case MIRAGE_KIND_UNARY:
  case MIRAGE_KIND_CAST:
    call.a_type = result; // of the same shape
    call.a = operands[0];
    if (mirage_op_info(node->op)->kind == MIRAGE_KIND_CAST)
      call.op = MIRAGE_OP_CAST;
    return mirage__eval_elements(eval, &call);
  case MIRAGE_KIND_BINARY:
    return mirage__eval_binary(eval, node->op, types[0], operands[0], types[1], operands[1], result, out);
  case MIRAGE_KIND_MATMUL:
    return eval_matmul(eval, node, types, operands, result, out);
  case MIRAGE_KIND_REDUCE:
    if (node->op == MIRAGE_OP_REDUCE_MEAN)
      return eval_mean(eval, node, types[0], operands[0], result, out);
    return reduce_over(eval, node->op, types[0], operands[0], node->attrs->reduce.dim, node->attrs->reduce.extent,
                       result, out);
  case MIRAGE_KIND_SHAPE:
    eval_shape_op(eval, node, types, operands, result, out);
    return MIRAGE_OK;
  case MIRAGE_KIND_IOTA: // of the kernel level; eval_block.c knows where a block is
    return mirage__eval_iota(eval, result, node->attrs->iota.dim, node->attrs->iota.start, out);
  case MIRAGE_KIND_CONSTANT:
    if (node->op != MIRAGE_OP_BOTTOM)
      call.op = MIRAGE_OP_CONSTANT;
    call.value = node->op == MIRAGE_OP_BOTTOM ? 0 : node->attrs->constant.value;
    return mirage__eval_elements(eval, &call);
  default:
    return MIRAGE_UNSUPPORTED;
  }
}
