// mgpu.c - the functions that code calls which stock gpu-to-llvm made (MLIR 22), and the one that ours adds.
//
// Names and parameters are MLIR's interface, a fact and not our choice. They return nothing that says whether they worked, so
// what fails ends the process (choose_device.c). A stream is asynchronous on a GPU; the emulated one runs each call to its end.
#include "backend.h"

#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define CALL(function, ...) mirage__must(mirage__backend()->function(__VA_ARGS__, &mirage__report))

// --------------------------------------------------------------------------------------------------------- declarations

EXPORT void *mgpuModuleLoad(const void *data, size_t bytes);
EXPORT void *mgpuModuleLoadJIT(const void *data, int opt_level);
EXPORT void mgpuModuleUnload(void *module);
EXPORT void *mgpuModuleGetFunction(void *module, const char *name);
EXPORT void mgpuLaunchKernel(void *function, intptr_t grid_x, intptr_t grid_y, intptr_t grid_z, intptr_t block_x,
                             intptr_t block_y, intptr_t block_z, int32_t shared_bytes, void *stream, void **parameters,
                             void **extra, size_t num_parameters);
EXPORT void mgpuLaunchClusterKernel(void *function, intptr_t cluster_x, intptr_t cluster_y, intptr_t cluster_z,
                                    intptr_t grid_x, intptr_t grid_y, intptr_t grid_z, intptr_t block_x,
                                    intptr_t block_y, intptr_t block_z, int32_t shared_bytes, void *stream,
                                    void **parameters, void **extra);
EXPORT void *mgpuStreamCreate(void);
EXPORT void mgpuStreamDestroy(void *stream);
EXPORT void mgpuStreamSynchronize(void *stream);
EXPORT void mgpuStreamWaitEvent(void *stream, void *event);
EXPORT void *mgpuEventCreate(void);
EXPORT void mgpuEventDestroy(void *event);
EXPORT void mgpuEventSynchronize(void *event);
EXPORT void mgpuEventRecord(void *event, void *stream);
EXPORT void *mgpuMemAlloc(uint64_t bytes, void *stream, bool host_shared);
EXPORT void mgpuMemFree(void *pointer, void *stream);
EXPORT void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream);
EXPORT void mgpuMemset16(void *to, unsigned short value, size_t count, void *stream);
EXPORT void mgpuMemset32(void *to, unsigned value, size_t count, void *stream);
EXPORT void mgpuMemHostRegister(void *pointer, uint64_t bytes);
EXPORT void mgpuMemHostUnregister(void *pointer);
EXPORT void mgpuSetDefaultDevice(int32_t device);

/// A memref's descriptor: sizes, then strides behind it.
typedef struct MemRef {
  char *base, *data;
  int64_t offset, sizes_and_strides[];
} MemRef;
EXPORT void mgpuMemHostRegisterMemRef(int64_t rank, MemRef *memref, int64_t element_bytes);
EXPORT void mgpuMemHostUnregisterMemRef(int64_t rank, MemRef *memref, int64_t element_bytes);

// What finalize-memref-to-llvm{use-generic-functions} calls: memory that host and device can access.
EXPORT void *_mlir_memref_to_llvm_alloc(size_t bytes);
EXPORT void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment, size_t bytes);
EXPORT void _mlir_memref_to_llvm_free(void *pointer);

/// Fills in the 128 bytes of a tensor map, for the tensor at that address. Numbers of dimensions from `rank` on count nothing.
EXPORT void mirageEncodeTensorMap(void *out, void *tensor, int64_t dtype, int64_t rank, int64_t swizzle,
                                  int64_t extent_0, int64_t extent_1, int64_t extent_2, int64_t extent_3,
                                  int64_t extent_4, int64_t stride_0, int64_t stride_1, int64_t stride_2,
                                  int64_t stride_3, int64_t stride_4, int64_t box_0, int64_t box_1, int64_t box_2,
                                  int64_t box_3, int64_t box_4);

// -------------------------------------------------------------------------------------------------------------- modules

static void *load(const void *data, bool text) {
  void *module = NULL;
  mirage__must(mirage__backend()->module_load(data, text, &mirage__report, &module));
  return module;
}

void *mgpuModuleLoad(const void *data, size_t bytes) {
  (void)bytes; // the image says
  return load(data, false);
}

void *mgpuModuleLoadJIT(const void *data, int opt_level) {
  (void)opt_level; // what select_object is asked for, 0 where it is not: our PTX wants the driver's best, always
  return load(data, true);
}

void mgpuModuleUnload(void *module) { CALL(module_unload, module); }

void *mgpuModuleGetFunction(void *module, const char *name) {
  void *function = NULL;
  mirage__must(mirage__backend()->function(module, name, &mirage__report, &function));
  return function;
}

void mgpuLaunchKernel(void *function, intptr_t grid_x, intptr_t grid_y, intptr_t grid_z, intptr_t block_x,
                      intptr_t block_y, intptr_t block_z, int32_t shared_bytes, void *stream, void **parameters,
                      void **extra, size_t num_parameters) {
  MirageRawLaunch launch = {.grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .cluster = {1, 1, 1},
                            .shared_bytes = shared_bytes,
                            .parameters = parameters,
                            .extra = extra,
                            .num_parameters = num_parameters};
  CALL(launch, function, &launch, stream);
}

void mgpuLaunchClusterKernel(void *function, intptr_t cluster_x, intptr_t cluster_y, intptr_t cluster_z,
                             intptr_t grid_x, intptr_t grid_y, intptr_t grid_z, intptr_t block_x, intptr_t block_y,
                             intptr_t block_z, int32_t shared_bytes, void *stream, void **parameters, void **extra) {
  MirageRawLaunch launch = {.grid = {grid_x, grid_y, grid_z},
                            .block = {block_x, block_y, block_z},
                            .cluster = {cluster_x, cluster_y, cluster_z},
                            .shared_bytes = shared_bytes,
                            .parameters = parameters,
                            .extra = extra,
                            .num_parameters = UINT64_MAX};
  CALL(launch, function, &launch, stream);
}

// --------------------------------------------------------------------------------------------------- streams and events

void *mgpuStreamCreate(void) {
  void *stream = NULL;
  mirage__must(mirage__backend()->stream_create(&mirage__report, &stream));
  return stream;
}

void mgpuStreamDestroy(void *stream) { CALL(stream_destroy, stream); }
void mgpuStreamSynchronize(void *stream) { CALL(stream_synchronize, stream); }
void mgpuStreamWaitEvent(void *stream, void *event) { CALL(stream_wait, stream, event); }

void *mgpuEventCreate(void) {
  void *event = NULL;
  mirage__must(mirage__backend()->event_create(&mirage__report, &event));
  return event;
}

void mgpuEventDestroy(void *event) { CALL(event_destroy, event); }
void mgpuEventSynchronize(void *event) { CALL(event_synchronize, event); }
void mgpuEventRecord(void *event, void *stream) { CALL(event_record, event, stream); }

// --------------------------------------------------------------------------------------------------------------- memory

static void *allocate(uint64_t bytes, void *stream, bool shared) {
  void *pointer = NULL;
  mirage__must(mirage__backend()->alloc(bytes, stream, shared, &mirage__report, &pointer));
  return pointer;
}

void *mgpuMemAlloc(uint64_t bytes, void *stream, bool host_shared) { return allocate(bytes, stream, host_shared); }
void mgpuMemFree(void *pointer, void *stream) { CALL(free, pointer, stream); }
void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream) { CALL(copy, to, from, bytes, stream); }
void mgpuMemset16(void *to, unsigned short value, size_t count, void *stream) {
  CALL(fill, to, value, 2, count, stream);
}
void mgpuMemset32(void *to, unsigned value, size_t count, void *stream) { CALL(fill, to, value, 4, count, stream); }
void mgpuMemHostRegister(void *pointer, uint64_t bytes) { CALL(host_register, pointer, bytes); }
void mgpuMemHostUnregister(void *pointer) { CALL(host_unregister, pointer); }
void mgpuSetDefaultDevice(int32_t device) { mirage__backend_set_device(device); }

// From the first element to the last.
void mgpuMemHostRegisterMemRef(int64_t rank, MemRef *memref, int64_t element_bytes) {
  int64_t last = 0;
  for (int64_t i = 0; i < rank; i++)
    last += (memref->sizes_and_strides[i] - 1) * memref->sizes_and_strides[rank + i];
  mgpuMemHostRegister(memref->data + memref->offset * element_bytes, (uint64_t)((last + 1) * element_bytes));
}

void mgpuMemHostUnregisterMemRef(int64_t rank, MemRef *memref, int64_t element_bytes) {
  (void)rank;
  mgpuMemHostUnregister(memref->data + memref->offset * element_bytes);
}

// Rows of 256 bytes or more are what both backends give: no type of MLIR's wants more.
void *_mlir_memref_to_llvm_alloc(size_t bytes) { return allocate(bytes, NULL, true); }
void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment, size_t bytes) {
  if (alignment > 256)
    mirage__must(mirage_diag_fail(&mirage__report, NULL, MIRAGE_LIMIT,
                                  "memory aligned to %zu bytes is asked for, at most 256 is possible", alignment));
  return allocate(bytes, NULL, true);
}
void _mlir_memref_to_llvm_free(void *pointer) { CALL(free, pointer, NULL); }

// ---------------------------------------------------------------------------------------------------------- tensor maps

void mirageEncodeTensorMap(void *out, void *tensor, int64_t dtype, int64_t rank, int64_t swizzle, int64_t extent_0,
                           int64_t extent_1, int64_t extent_2, int64_t extent_3, int64_t extent_4, int64_t stride_0,
                           int64_t stride_1, int64_t stride_2, int64_t stride_3, int64_t stride_4, int64_t box_0,
                           int64_t box_1, int64_t box_2, int64_t box_3, int64_t box_4) {
  MirageTensorMap map = {.dtype = (MirageDType)dtype,
                         .rank = (uint32_t)rank,
                         .extents = {extent_0, extent_1, extent_2, extent_3, extent_4},
                         .strides = {stride_0, stride_1, stride_2, stride_3, stride_4},
                         .box = {(int32_t)box_0, (int32_t)box_1, (int32_t)box_2, (int32_t)box_3, (int32_t)box_4},
                         .swizzle = (int32_t)swizzle};
  bool exists = mirage_dtype_exists(dtype);
  MirageFamily family = exists ? mirage_dtype_family((MirageDType)dtype) : MIRAGE_FAMILY_INDEX;
  bool bytes = family == MIRAGE_FAMILY_PREDICATE ||
               (exists && mirage_dtype_is_stored((MirageDType)dtype) && mirage_dtype_bits((MirageDType)dtype) == 8);
  if (!exists || rank < 1 || rank > MIRAGE_MAP_RANK || (!bytes && family != MIRAGE_FAMILY_FLOAT))
    mirage__must(mirage_diag_fail(&mirage__report, NULL, MIRAGE_BAD_ARGUMENT,
                                  "tensor map: element type %lld and rank %lld are none", (long long)dtype,
                                  (long long)rank));
  CALL(encode_map, &map, tensor, out);
}
