// types.c - element types and the types of values: construction, sizes, comparison, text.
#include "mirage/ugraph.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct DType {
  const char *name;
  uint32_t bits;
  MirageFamily family;
} DType;

static const DType DTYPES[] = {
#define MIRAGE_DTYPE(name, text, bits, family) {text, bits, MIRAGE_FAMILY_##family},
#include "mirage/dtypes.def"
};

bool mirage_dtype_exists(int dtype) { return dtype >= 0 && dtype < MIRAGE_NUM_DTYPES; }

uint32_t mirage_dtype_bits(MirageDType dtype) { return mirage_dtype_exists((int)dtype) ? DTYPES[dtype].bits : 8; }

uint32_t mirage_dtype_bytes(MirageDType dtype) { return (mirage_dtype_bits(dtype) + 7) / 8; }

const char *mirage_dtype_name(MirageDType dtype) { return mirage_dtype_exists((int)dtype) ? DTYPES[dtype].name : "?"; }

MirageFamily mirage_dtype_family(MirageDType dtype) {
  return mirage_dtype_exists((int)dtype) ? DTYPES[dtype].family : MIRAGE_FAMILY_FLOAT;
}

bool mirage_dtype_is_stored(MirageDType dtype) { return mirage_dtype_family(dtype) == MIRAGE_FAMILY_STORED; }

bool mirage_dtype_is_f8(MirageDType dtype) { return dtype == MIRAGE_F8E4M3FN || dtype == MIRAGE_F8E5M2; }

static MirageType make(MirageDType dtype, MirageSpace space, uint32_t rank, const int64_t *shape) {
  MirageType type = {.dtype = dtype, .space = space, .rank = rank};
  for (uint32_t i = 0; i < rank && i < MIRAGE_MAX_RANK;
       i++) // a rank that is too large is refused where the type is used
    type.shape[i] = shape[i];
  return type;
}

MirageType mirage_type_tensor(MirageDType dtype, uint32_t rank, const int64_t *shape) {
  return make(dtype, MIRAGE_SPACE_DEVICE, rank, shape);
}

MirageType mirage_type_tile(MirageDType dtype, uint32_t rank, const int64_t *shape) {
  return make(dtype, MIRAGE_SPACE_TILE, rank, shape);
}

// Both saturate, so that a size computed from a type that no rule has checked yet is large, not undefined.
int64_t mirage_type_elements(const MirageType *type) {
  int64_t elements = 1;
  for (uint32_t i = 0; i < type->rank && i < MIRAGE_MAX_RANK; i++)
    if (__builtin_mul_overflow(elements, type->shape[i], &elements))
      return INT64_MAX;
  return elements;
}

int64_t mirage_type_bytes(const MirageType *type) {
  int64_t elements = mirage_type_elements(type), bytes;
  if (__builtin_mul_overflow(elements, (int64_t)mirage_dtype_bytes(type->dtype), &bytes))
    return INT64_MAX;
  bool packed = type->space == MIRAGE_SPACE_DEVICE && mirage_dtype_bits(type->dtype) == 4;
  return packed ? elements / 2 + elements % 2 : bytes;
}

bool mirage_type_same_shape(const MirageType *a, const MirageType *b) {
  if (a->rank != b->rank)
    return false;
  for (uint32_t i = 0; i < a->rank && i < MIRAGE_MAX_RANK; i++)
    if (a->shape[i] != b->shape[i])
      return false;
  return true;
}

bool mirage_type_same_meaning(const MirageType *a, const MirageType *b) {
  return a->dtype == b->dtype && mirage_type_same_shape(a, b);
}

const char *mirage_type_format(const MirageType *type, char *buffer, size_t size) {
  size_t used = 0;
  if (size)
    buffer[0] = 0;
  for (uint32_t i = 0; i < type->rank && i < MIRAGE_MAX_RANK && used < size; i++) {
    int written = snprintf(buffer + used, size - used, "%" PRId64 "x", type->shape[i]);
    used += written > 0 ? (size_t)written : 0;
  }
  if (used < size)
    snprintf(buffer + used, size - used, "%s", mirage_dtype_name(type->dtype));
  return buffer;
}
