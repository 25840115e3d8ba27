// pretend.c - PyTorch's tensors in host memory as if they lay on a GPU, for call.py: its table of C functions with another
// device in what it says. Built by call.py; knows nothing of Python but that objects are pointers.
#include "../src/dlpack_abi.h"

#include <stddef.h>

static DLExchange real, pretended;

static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *context, DLSetError set_error) {
  prototype->device = (DLDevice){DL_CPU, 0};
  return real.allocate(prototype, out, context, set_error);
}

static int tensor_from_object(void *object, DLTensor *out) {
  int result = real.tensor_from_object(object, out);
  out->device = (DLDevice){DL_CUDA, 0};
  return result;
}

static int current_stream(int32_t device_type, int32_t device_id, void **out_stream) {
  *out_stream = NULL;
  return 0;
}

/// The table that says so, made from PyTorch's own.
const DLExchange *pretend(const DLExchange *torch);
const DLExchange *pretend(const DLExchange *torch) {
  real = pretended = *torch;
  pretended.allocate = allocate;
  pretended.tensor_from_object = tensor_from_object;
  pretended.current_stream = current_stream;
  return &pretended;
}
