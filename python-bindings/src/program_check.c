// program_check.c - whether a tensor is what a program takes, and the sentences where it is not.
//
// A sentence names the argument, what was expected and what came, as the caller sees them:
//   argument 1 ('w'): expected float16 [8, 16], got float16 [9, 16]
#include "program.h"

#include <stdio.h>

static void format_dims(uint32_t rank, const int64_t *dims, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "[");
  for (uint32_t i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)dims[i]);
  if (used < size)
    snprintf(text + used, size - used, "]");
}

/// As NumPy and PyTorch call it.
static const char *tensor_dtype(const Tensor *tensor, char text[24]) {
  static const char *const kinds[] = {
      [DL_INT] = "int", [DL_UINT] = "uint", [DL_FLOAT] = "float", [DL_BFLOAT] = "bfloat", [DL_COMPLEX] = "complex"};
  const char *kind = tensor->code < sizeof kinds / sizeof *kinds ? kinds[tensor->code] : NULL;
  if (kind)
    snprintf(text, 24, "%s%u", kind, tensor->bits);
  else if (tensor->code >= DL_FLOAT8_FIRST && tensor->code <= DL_FLOAT8_LAST)
    snprintf(text, 24, "float8");
  else
    snprintf(text, 24, "%s", tensor->code == DL_BOOL ? "bool" : "another dtype");
  return text;
}

// Two int4 travel as an int8, since no framework has them.
static bool same_dtype(const Tensor *tensor, MirageDType dtype) {
  return tensor->code == dtype_dlpack_code(dtype) && tensor->bits == 8 * mirage_dtype_bytes(dtype);
}

int64_t program_held_extent(const MirageType *type, uint32_t d) {
  bool halves = mirage_dtype_bits(type->dtype) == 4 && d + 1 == type->rank;
  return halves ? type->shape[d] / 2 : type->shape[d];
}

void program_name_tensor(const Program *self, uint32_t i, char what[MAX_WHAT]) {
  if (i >= self->num_inputs)
    snprintf(what, MAX_WHAT, "output %u", i - self->num_inputs);
  else if (self->names[i][0])
    snprintf(what, MAX_WHAT, "argument %u ('%s')", i, self->names[i]);
  else
    snprintf(what, MAX_WHAT, "argument %u", i);
}

static bool is_dense(const Tensor *tensor) {
  int64_t dense = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != dense)
      return false;
    dense *= tensor->shape[d];
  }
  return true;
}

static bool is_of_type(const MirageType *type, const Tensor *tensor) {
  bool same = same_dtype(tensor, type->dtype) && tensor->rank == (int32_t)type->rank;
  for (uint32_t d = 0; same && d < type->rank; d++)
    same = tensor->shape[d] == program_held_extent(type, d);
  return same;
}

/// Dimensions as the caller sees them, of what lies in memory as `perm` says; NULL: as it is.
static void format_passed(const int8_t *perm, uint32_t rank, const int64_t *dims, char *text, size_t size) {
  int64_t passed[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < rank; d++)
    passed[perm ? (uint32_t)perm[d] : d] = dims[d];
  format_dims(rank, passed, text, size);
}

static bool refuse(const char *what, const int8_t *perm, const MirageType *type, const Tensor *got) {
  char wanted[96], found[96], dtype[24];
  bool same_rank = got->rank == (int32_t)type->rank;
  format_passed(perm, type->rank, type->shape, wanted, sizeof wanted);
  format_passed(same_rank ? perm : NULL, (uint32_t)got->rank, got->shape, found, sizeof found);
  PyErr_Format(same_dtype(got, type->dtype) ? PyExc_ValueError : PyExc_TypeError, "%s: expected %s %s, got %s %s", what,
               dtype_name(type->dtype), wanted, tensor_dtype(got, dtype), found);
  return false;
}

static bool refuse_strides(const char *what, const int8_t *perm, const MirageType *type, const Tensor *tensor) {
  char strides[96], wanted[96];
  int64_t dense[MIRAGE_MAX_RANK];
  for (uint32_t d = type->rank; d-- > 0;)
    dense[d] = d + 1 < type->rank ? dense[d + 1] * type->shape[d + 1] : 1;
  format_passed(perm, type->rank, tensor->strides, strides, sizeof strides);
  format_passed(perm, type->rank, dense, wanted, sizeof wanted);
  PyErr_Format(
      PyExc_ValueError,
      "%s: expected strides %s, got %s: pass a copy that has them, x.contiguous(), or declare those of the tensor: "
      "new_input(..., strides=%s)",
      what, wanted, strides, strides);
  return false;
}

/// The tensor as it lies in memory, where the program was declared to take a transposed view of that.
void program_permute(const int8_t perm[MIRAGE_MAX_RANK], uint32_t rank, Tensor *tensor) {
  Tensor as_passed = *tensor;
  for (uint32_t d = 0; tensor->rank == (int32_t)rank && d < rank; d++) {
    tensor->shape[d] = as_passed.shape[perm[d]];
    tensor->strides[d] = as_passed.strides[perm[d]];
  }
}

static void format_device(const Tensor *tensor, char text[32]) {
  if (on_gpu(tensor))
    snprintf(text, 32, "cuda:%d", (int)tensor->device_id);
  else
    snprintf(text, 32, tensor->device_type == DL_CPU || tensor->device_type == DL_CUDA_HOST ? "cpu" : "device type %d",
             (int)tensor->device_type);
}

bool program_same_device(const Tensor *first, const Tensor *tensor) {
  return on_gpu(first) == on_gpu(tensor) && (!on_gpu(first) || first->device_id == tensor->device_id);
}

static bool refuse_device(const char *what, const Tensor *first, const Tensor *tensor) {
  char wanted[32], got[32];
  format_device(first, wanted);
  format_device(tensor, got);
  PyErr_Format(PyExc_ValueError, "%s: expected a tensor on %s, as the first, got one on %s", what, wanted, got);
  return false;
}

/// `i` < num_inputs is an input, the others are outputs. Names cost more than checks, so they are made for a failure alone.
bool program_check_tensor(const Program *self, uint32_t i, const MirageType *type, const Tensor *first,
                          const Tensor *tensor) {
  char what[MAX_WHAT];
  if (is_of_type(type, tensor) && is_dense(tensor) && program_same_device(first, tensor))
    return true;
  program_name_tensor(self, i, what);
  const int8_t *perm = i < self->num_inputs && self->transposes ? self->perms[i] : NULL;
  return !is_of_type(type, tensor) ? refuse(what, perm, type, tensor)
         : !is_dense(tensor)       ? refuse_strides(what, perm, type, tensor)
                                   : refuse_device(what, first, tensor);
}
