// cuda_api.h - our own declarations of the few CUDA driver types and functions that we call, resolved by dlopen.
//
// Facts, not code: the numbers and struct layouts are the driver's ABI (CUDA 12.0 and later; stable within it). Handles
// are opaque; a CuResult is the driver's number, kept as an int so that numbers unknown to us survive.
//
// The library is libcuda.so.1, looked up as any library is, or the file that MIRAGE_CUDA_LIBRARY names (tests put a
// fake driver there; a user may point it at a driver outside the loader's path).
#ifndef MIRAGE_RUNTIME_CUDA_API_H
#define MIRAGE_RUNTIME_CUDA_API_H

#include "mirage/diag.h"
#include <stddef.h>
#include <stdint.h>

typedef int CuResult;
typedef int CuDevice;
typedef uint64_t CuDevicePointer;
typedef struct CuContextOpaque *CuContext;
typedef struct CuModuleOpaque *CuModule;
typedef struct CuFunctionOpaque *CuFunction;
typedef struct CuStreamOpaque *CuStream;
typedef struct CuEventOpaque *CuEvent;
typedef struct CuGraphOpaque *CuGraph;
typedef struct CuGraphExecOpaque *CuGraphExec;

enum {
  CU_SUCCESS = 0,
  CU_NOT_READY = 600,

  CU_DEVICE_NUM_SMS = 16,
  CU_DEVICE_L2_BYTES = 38,
  CU_DEVICE_COMPUTE_MAJOR = 75,
  CU_DEVICE_COMPUTE_MINOR = 76,
  CU_DEVICE_SHARED_BYTES_OPTIN = 97,

  CU_FUNCTION_MAX_THREADS = 0,
  CU_FUNCTION_STATIC_SHARED_BYTES = 1,
  CU_FUNCTION_LOCAL_BYTES = 3,
  CU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8,
  CU_FUNCTION_NON_PORTABLE_CLUSTER = 14,

  CU_JIT_INFO_LOG = 3,
  CU_JIT_INFO_LOG_BYTES = 4,
  CU_JIT_ERROR_LOG = 5,
  CU_JIT_ERROR_LOG_BYTES = 6,

  CU_STREAM_NON_BLOCKING_FLAG = 1,
  CU_CAPTURE_THREAD_LOCAL = 1,
  CU_CAPTURE_RELAXED = 2, // what the thread does beside the capture is its own affair
  CU_EVENT_NO_TIMING = 2,
  CU_MEMORY_ATTACH_GLOBAL = 1,
  CU_POOL_RELEASE_THRESHOLD = 4,

  CU_LAUNCH_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6,
};

typedef struct CuLaunchAttribute {
  int id;
  char pad[4];
  union {
    char pad[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic_serialization;
  } value;
} CuLaunchAttribute;

typedef struct CuLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  CuStream stream;
  CuLaunchAttribute *attributes;
  unsigned num_attributes;
} CuLaunchConfig;

// A tensor map, which only the driver reads and writes.
typedef struct CuTensorMap {
  _Alignas(64) unsigned char bytes[128];
} CuTensorMap;

enum {
  CU_TENSOR_UINT8 = 0,
  CU_TENSOR_FLOAT16 = 6,
  CU_TENSOR_FLOAT32 = 7,
  CU_TENSOR_BFLOAT16 = 9,
  CU_TENSOR_NO_INTERLEAVE = 0,
  CU_TENSOR_L2_128_BYTES = 2, // what a miss brings into the L2 cache
  CU_TENSOR_L2_256_BYTES = 3,
  CU_TENSOR_FILL_ZERO = 0,
};

// F(member, exported symbol, parameters). Symbols carry the version suffix of the ABI that the parameters describe.
#define MIRAGE_CUDA_FUNCTIONS(F)                                                                                       \
  F(init, cuInit, (unsigned flags))                                                                                    \
  F(driver_version, cuDriverGetVersion, (int *version))                                                                \
  F(device_count, cuDeviceGetCount, (int *count))                                                                      \
  F(device_get, cuDeviceGet, (CuDevice * device, int ordinal))                                                         \
  F(device_name, cuDeviceGetName, (char *name, int size, CuDevice device))                                             \
  F(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, CuDevice device))                              \
  F(device_total_bytes, cuDeviceTotalMem_v2, (size_t *bytes, CuDevice device))                                         \
  F(context_retain, cuDevicePrimaryCtxRetain, (CuContext * context, CuDevice device))                                  \
  F(context_release, cuDevicePrimaryCtxRelease_v2, (CuDevice device))                                                  \
  F(context_push, cuCtxPushCurrent_v2, (CuContext context))                                                            \
  F(context_pop, cuCtxPopCurrent_v2, (CuContext * context))                                                            \
  F(context_current, cuCtxGetCurrent, (CuContext * context))                                                           \
  F(context_device, cuCtxGetDevice, (CuDevice * device))                                                               \
  F(context_synchronize, cuCtxSynchronize, (void))                                                                     \
  F(stream_create, cuStreamCreate, (CuStream * stream, unsigned flags))                                                \
  F(stream_destroy, cuStreamDestroy_v2, (CuStream stream))                                                             \
  F(stream_synchronize, cuStreamSynchronize, (CuStream stream))                                                        \
  F(capture_mode, cuThreadExchangeStreamCaptureMode, (int *mode))                                                      \
  F(memory_info, cuMemGetInfo_v2, (size_t *free_bytes, size_t *total_bytes))                                           \
  F(memory_alloc, cuMemAlloc_v2, (CuDevicePointer * pointer, size_t bytes))                                            \
  F(memory_free, cuMemFree_v2, (CuDevicePointer pointer))                                                              \
  F(copy_to_device, cuMemcpyHtoDAsync_v2, (CuDevicePointer to, const void *from, size_t bytes, CuStream stream))       \
  F(copy_to_host, cuMemcpyDtoHAsync_v2, (void *to, CuDevicePointer from, size_t bytes, CuStream stream))               \
  F(copy_on_device, cuMemcpyDtoDAsync_v2, (CuDevicePointer to, CuDevicePointer from, size_t bytes, CuStream stream))   \
  F(memory_set, cuMemsetD8Async, (CuDevicePointer to, unsigned char byte, size_t bytes, CuStream stream))              \
  F(module_load, cuModuleLoadDataEx,                                                                                   \
    (CuModule * module, const void *image, unsigned num_options, int *options, void **values))                         \
  F(module_unload, cuModuleUnload, (CuModule module))                                                                  \
  F(module_function, cuModuleGetFunction, (CuFunction * function, CuModule module, const char *name))                  \
  F(function_get, cuFuncGetAttribute, (int *value, int attribute, CuFunction function))                                \
  F(function_set, cuFuncSetAttribute, (CuFunction function, int attribute, int value))                                 \
  F(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                            \
    (int *blocks, CuFunction function, int threads, size_t shared_bytes))                                              \
  F(cluster_occupancy, cuOccupancyMaxActiveClusters,                                                                   \
    (int *clusters, CuFunction function, const CuLaunchConfig *config))                                                \
  F(launch, cuLaunchKernelEx, (const CuLaunchConfig *config, CuFunction function, void **parameters, void **extra))    \
  F(capture_begin, cuStreamBeginCapture_v2, (CuStream stream, int mode))                                               \
  F(capture_end, cuStreamEndCapture, (CuStream stream, CuGraph * graph))                                               \
  F(graph_instantiate, cuGraphInstantiateWithFlags, (CuGraphExec * exec, CuGraph graph, unsigned long long flags))     \
  F(graph_launch, cuGraphLaunch, (CuGraphExec exec, CuStream stream))                                                  \
  F(graph_exec_destroy, cuGraphExecDestroy, (CuGraphExec exec))                                                        \
  F(graph_destroy, cuGraphDestroy, (CuGraph graph))                                                                    \
  F(event_create, cuEventCreate, (CuEvent * event, unsigned flags))                                                    \
  F(event_destroy, cuEventDestroy_v2, (CuEvent event))                                                                 \
  F(event_record, cuEventRecord, (CuEvent event, CuStream stream))                                                     \
  F(event_query, cuEventQuery, (CuEvent event))                                                                        \
  F(event_elapsed, cuEventElapsedTime, (float *milliseconds, CuEvent start, CuEvent stop))

// NULL where the driver does not have it: cuFuncGetParamInfo came with CUDA 12.4, and tensor maps do without a reason
// to refuse a device that has none.
#define MIRAGE_CUDA_OPTIONAL_FUNCTIONS(F)                                                                              \
  F(stream_is_capturing, cuStreamIsCapturing, (CuStream stream, int *status))                                          \
  F(function_parameter, cuFuncGetParamInfo, (CuFunction function, size_t index, size_t *offset, size_t *bytes))        \
  F(tensor_map_encode, cuTensorMapEncodeTiled,                                                                         \
    (CuTensorMap * map, int dtype, uint32_t rank, void *address, const uint64_t *extents, const uint64_t *strides,     \
     const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int l2_promotion, int fill))             \
  MIRAGE_CUDA_LAUNCH_FUNCTIONS(F)

// What lib/launch offers to code that others compile, and nothing else here calls.
#define MIRAGE_CUDA_LAUNCH_FUNCTIONS(F)                                                                                \
  F(stream_wait_event, cuStreamWaitEvent, (CuStream stream, CuEvent event, unsigned flags))                            \
  F(event_synchronize, cuEventSynchronize, (CuEvent event))                                                            \
  F(memory_alloc_managed, cuMemAllocManaged, (CuDevicePointer * pointer, size_t bytes, unsigned flags))                \
  F(memory_alloc_async, cuMemAllocAsync, (CuDevicePointer * pointer, size_t bytes, CuStream stream))                   \
  F(memory_free_async, cuMemFreeAsync, (CuDevicePointer pointer, CuStream stream))                                     \
  F(default_pool, cuDeviceGetDefaultMemPool, (void **pool, CuDevice device))                                           \
  F(pool_set, cuMemPoolSetAttribute, (void *pool, int attribute, void *value))                                         \
  F(copy_any, cuMemcpyAsync, (CuDevicePointer to, CuDevicePointer from, size_t bytes, CuStream stream))                \
  F(memory_set16, cuMemsetD16Async, (CuDevicePointer to, unsigned short value, size_t count, CuStream stream))         \
  F(memory_set32, cuMemsetD32Async, (CuDevicePointer to, unsigned value, size_t count, CuStream stream))               \
  F(host_register, cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags))                                \
  F(host_unregister, cuMemHostUnregister, (void *pointer))

typedef struct MirageCuda {
  void *library;
#define MIRAGE_CUDA_MEMBER(member, symbol, parameters) CuResult(*member) parameters;
  MIRAGE_CUDA_FUNCTIONS(MIRAGE_CUDA_MEMBER)
  MIRAGE_CUDA_OPTIONAL_FUNCTIONS(MIRAGE_CUDA_MEMBER)
#undef MIRAGE_CUDA_MEMBER
} MirageCuda;

/// Opens the driver library and resolves every function. The library is never closed: a driver that has started threads
/// cannot be unloaded safely.
/// Errors: NO_DEVICE, saying whether the library is missing or too old, and what to install.
MirageStatus mirage__cuda_open(const MirageDiag *diag, MirageCuda *out_cuda);

/// "CUDA_ERROR_ILLEGAL_ADDRESS", or "unknown CUDA error" for a number outside the table. Never NULL.
const char *mirage__cuda_result_name(CuResult result);
/// What to do about it, or NULL when the name says all we know.
const char *mirage__cuda_result_remedy(CuResult result);
/// The MirageStatus that a result becomes: OK, NO_DEVICE, NO_MEMORY, or DRIVER.
MirageStatus mirage__cuda_result_status(CuResult result);

/// OK when `result` is; else emits "<what>: <name> (<number>): <remedy>" and returns its status. `what` names the
/// operation and the thing it was for: "upload of 4096 bytes".
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
MirageStatus mirage__cuda_check(const MirageDiag *diag, CuResult result, const char *format, ...);

#endif
