// dlpack_abi.h - the part of DLPack's C ABI, version 1, that the extension speaks.
//
// Source: DLPack specification 1.3 (dmlc.github.io/dlpack). The layouts are the standard's; whatever a producer of a newer
// minor version adds lies behind them.
#ifndef MIRAGE_PYTHON_DLPACK_ABI_H
#define MIRAGE_PYTHON_DLPACK_ABI_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };                      // device types
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };    // type codes
enum { DL_FLOAT8_FIRST = 7, DL_FLOAT8_E4M3FN = 10, DL_FLOAT8_E5M2 = 12, DL_FLOAT8_LAST = 14 }; // kinds of 8 bits
enum { DL_READ_ONLY = 1 }; // flags of a managed tensor
enum { DL_MAJOR = 1 };

typedef struct DLVersion {
  uint32_t major, minor;
} DLVersion;

typedef struct DLDevice {
  int32_t type, id;
} DLDevice;

typedef struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; // in elements; NULL = row-major
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor { // capsule "dltensor"
  DLTensor tensor;
  void *manager;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned { // capsule "dltensor_versioned"
  DLVersion version;
  void *manager;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor tensor;
} DLManagedTensorVersioned;

// A type's table of functions: type(t).__dlpack_c_exchange_api__, a capsule "dlpack_exchange_api". Every function returns
// 0, or sets a Python error; the caller holds the GIL.
typedef struct DLExchangeHeader {
  DLVersion version;
  struct DLExchangeHeader *older;
} DLExchangeHeader;

typedef void (*DLSetError)(void *context, const char *kind, const char *message);
typedef struct DLExchange {
  DLExchangeHeader header;
  int (*allocate)(DLTensor *prototype, DLManagedTensorVersioned **out, void *context, DLSetError set_error);
  int (*managed_from_object)(void *object, DLManagedTensorVersioned **out);
  int (*managed_to_object)(DLManagedTensorVersioned *tensor, void **out_object);
  int (*tensor_from_object)(void *object, DLTensor *out); // may be NULL; borrows from the object
  int (*current_stream)(int32_t device_type, int32_t device_id, void **out_stream);
} DLExchange;

#endif
