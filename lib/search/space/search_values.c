// search_values.c - arithmetic on the shrunken instance, in any number domain.
//
// Every array has the loop coordinate in front (extent 1 when its tensor is computed outside the loop) and then six
// right-aligned dimensions padded with 1, so that broadcasting is one rule: an extent of 1 stretches. The domain works
// on dense arrays of equal shape; `gather` makes them, for stretched, transposed and sliced operands alike.
#include "search/space/search_values.h"
#include <string.h>

enum { DIMS = 1 + SEARCH_RANK };

static const MirageType element_type = {.dtype = MIRAGE_F32,
                                        .space = MIRAGE_SPACE_TILE}; // domains ask only for rounding

size_t mirage__search_array_size(const SearchArray *array) {
  size_t size = 1;
  for (uint32_t i = 0; i < DIMS; i++)
    size *= (size_t)array->shape[i];
  return size;
}

static MirageStatus allocate(MirageArena *arena, SearchArray *array) {
  array->data = mirage_arena_alloc_array(arena, mirage__search_array_size(array), sizeof *array->data);
  return array->data ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

// strides[d] of a dense array; 0 where it is stretched.
static void dense_strides(const SearchArray *array, int32_t *strides) {
  int32_t stride = 1;
  for (uint32_t d = DIMS; d-- > 0;) {
    strides[d] = array->shape[d] == 1 ? 0 : stride;
    stride *= array->shape[d];
  }
}

static void gather(const MirageResidue *source, const int32_t *strides, const int32_t *shape, MirageResidue *out) {
  int32_t index[DIMS] = {0};
  for (;;) {
    size_t at = 0;
    for (uint32_t d = 0; d < DIMS; d++)
      at += (size_t)index[d] * (size_t)strides[d];
    *out++ = source[at];
    uint32_t d = DIMS;
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

// `a` stretched to `shape`: itself when it has that shape, else a copy in scratch.
static MirageStatus stretched(SearchEval *eval, const SearchArray *a, const int32_t *shape, const MirageResidue **out) {
  if (memcmp(a->shape, shape, sizeof a->shape) == 0) {
    *out = a->data;
    return MIRAGE_OK;
  }
  SearchArray copy;
  memcpy(copy.shape, shape, sizeof copy.shape);
  MIRAGE_TRY(allocate(&eval->scratch, &copy));
  int32_t strides[DIMS];
  dense_strides(a, strides);
  gather(a->data, strides, shape, copy.data);
  *out = copy.data;
  return MIRAGE_OK;
}

MirageStatus mirage__search_unary(SearchEval *eval, MirageOp op, const SearchArray *a, SearchArray *out) {
  memcpy(out->shape, a->shape, sizeof out->shape);
  MIRAGE_TRY(allocate(eval->arena, out));
  return eval->domain->unary(eval->domain, op, &element_type, mirage__search_array_size(a), a->data, out->data);
}

static void joint_shape(const SearchArray *a, const SearchArray *b, uint32_t num_dims, int32_t *out_shape) {
  for (uint32_t d = 0; d < num_dims; d++)
    out_shape[d] = a->shape[d] > b->shape[d] ? a->shape[d] : b->shape[d];
}

MirageStatus mirage__search_binary(SearchEval *eval, MirageOp op, const SearchArray *a, const SearchArray *b,
                                   SearchArray *out) {
  joint_shape(a, b, DIMS, out->shape);
  MIRAGE_TRY(allocate(eval->arena, out));
  MirageArenaMark mark = mirage_arena_mark(&eval->scratch);
  const MirageResidue *x, *y;
  MirageStatus status = stretched(eval, a, out->shape, &x);
  if (status == MIRAGE_OK)
    status = stretched(eval, b, out->shape, &y);
  if (status == MIRAGE_OK)
    status = eval->domain->binary(eval->domain, op, &element_type, mirage__search_array_size(out), x, y, out->data);
  mirage_arena_rewind(&eval->scratch, mark);
  return status;
}

static void swap_last(SearchArray *array) {
  int32_t rows = array->shape[DIMS - 2];
  array->shape[DIMS - 2] = array->shape[DIMS - 1];
  array->shape[DIMS - 1] = rows;
}

MirageStatus mirage__search_transpose(SearchEval *eval, const SearchArray *a, SearchArray *out) {
  *out = *a;
  swap_last(out);
  MIRAGE_TRY(allocate(eval->arena, out));
  int32_t strides[DIMS];
  dense_strides(a, strides);
  int32_t rows = strides[DIMS - 2];
  strides[DIMS - 2] = strides[DIMS - 1];
  strides[DIMS - 1] = rows;
  gather(a->data, strides, out->shape, out->data);
  return MIRAGE_OK;
}

static MirageStatus transposed(SearchEval *eval, const SearchArray *a, bool transpose, SearchArray *out) {
  *out = *a;
  if (!transpose)
    return MIRAGE_OK;
  MirageArena *kept = eval->arena;
  eval->arena = &eval->scratch;
  MirageStatus status = mirage__search_transpose(eval, a, out);
  eval->arena = kept;
  return status;
}

// x[batch, m, k] @ y[batch, k, n], batch dimensions stretched.
static MirageStatus multiply(SearchEval *eval, const SearchArray *x, const SearchArray *y, SearchArray *out) {
  SearchArray a = *x, b = *y;
  int32_t m = x->shape[DIMS - 2], k = x->shape[DIMS - 1], n = y->shape[DIMS - 1];
  joint_shape(x, y, DIMS - 2, out->shape);
  memcpy(a.shape, out->shape, (DIMS - 2) * sizeof *a.shape);
  memcpy(b.shape, out->shape, (DIMS - 2) * sizeof *b.shape);
  out->shape[DIMS - 2] = m;
  out->shape[DIMS - 1] = n;
  const MirageResidue *left, *right;
  MIRAGE_TRY(stretched(eval, x, a.shape, &left));
  MIRAGE_TRY(stretched(eval, y, b.shape, &right));
  MIRAGE_TRY(allocate(eval->arena, out));
  size_t batches = mirage__search_array_size(out) / ((size_t)m * (size_t)n);
  for (size_t i = 0; i < batches; i++)
    MIRAGE_TRY(eval->domain->matmul(eval->domain, &element_type, (size_t)m, (size_t)n, (size_t)k,
                                    left + i * (size_t)(m * k), right + i * (size_t)(k * n), NULL,
                                    out->data + i * (size_t)(m * n)));
  return MIRAGE_OK;
}

MirageStatus mirage__search_matmul(SearchEval *eval, const SearchArray *a, const SearchArray *b, bool transpose_a,
                                   bool transpose_b, SearchArray *out) {
  MirageArenaMark mark = mirage_arena_mark(&eval->scratch);
  SearchArray x, y;
  MirageStatus status = transposed(eval, a, transpose_a, &x);
  if (status == MIRAGE_OK)
    status = transposed(eval, b, transpose_b, &y);
  if (status == MIRAGE_OK)
    status = multiply(eval, &x, &y, out);
  mirage_arena_rewind(&eval->scratch, mark);
  return status;
}

MirageStatus mirage__search_reduce(SearchEval *eval, MirageOp op, const SearchArray *a, uint32_t dim,
                                   SearchArray *out) {
  memcpy(out->shape, a->shape, sizeof out->shape);
  out->shape[dim] = 1;
  MIRAGE_TRY(allocate(eval->arena, out));
  size_t outer = 1, inner = 1;
  for (uint32_t d = 0; d < dim; d++)
    outer *= (size_t)a->shape[d];
  for (uint32_t d = dim + 1; d < DIMS; d++)
    inner *= (size_t)a->shape[d];
  return eval->domain->reduce(eval->domain, op, &element_type, outer, (size_t)a->shape[dim], inner, a->data, out->data);
}

MirageStatus mirage__search_broadcast(SearchEval *eval, const SearchArray *a, SearchArray *in_out_shape) {
  MIRAGE_TRY(allocate(eval->arena, in_out_shape));
  int32_t strides[DIMS];
  dense_strides(a, strides);
  gather(a->data, strides, in_out_shape->shape, in_out_shape->data);
  return MIRAGE_OK;
}

MirageStatus mirage__search_constant(SearchEval *eval, double value, SearchArray *out) {
  for (uint32_t d = 0; d < DIMS; d++)
    out->shape[d] = 1;
  MIRAGE_TRY(allocate(eval->arena, out));
  return eval->domain->constant(eval->domain, &element_type, 1, value, out->data);
}

MirageStatus mirage__search_split(SearchEval *eval, const SearchArray *a, uint32_t dim, SearchArray *out) {
  memcpy(out->shape, a->shape, sizeof out->shape);
  int32_t strides[DIMS];
  dense_strides(a, strides);
  if (dim) {
    out->shape[0] = SEARCH_LOOPS;
    out->shape[dim] = a->shape[dim] / SEARCH_LOOPS;
    strides[0] = strides[dim] * out->shape[dim];
  }
  MIRAGE_TRY(allocate(eval->arena, out));
  gather(a->data, strides, out->shape, out->data);
  return MIRAGE_OK;
}
