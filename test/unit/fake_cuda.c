// fake_cuda.c - a CUDA driver without a GPU: a shared library with the driver's symbols, so that lib/runtime can be
// tested.
//
// Device memory is host memory. A module's image is text, one kernel a line: "name parameters". Launching a kernel
// records it and calls the test's `run`; inside a capture it is recorded in the graph instead and runs at each graph
// launch. Time is a counter that launches advance, so that measured times are exact. Any call can be made to fail, and
// calls that need a current context refuse to work without one, as the driver does.
#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(member, symbol, parameters) CuResult symbol parameters;
MIRAGE_CUDA_FUNCTIONS(DECLARE)
MIRAGE_CUDA_OPTIONAL_FUNCTIONS(DECLARE)

enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  NOT_FOUND = 500,
  MAX_KERNELS = 8,
  MAX_CAPTURED = 8192
};

struct CuFunctionOpaque {
  char name[32];
  unsigned num_parameters;
};
struct CuModuleOpaque {
  struct CuFunctionOpaque kernels[MAX_KERNELS];
  unsigned num_kernels;
};
struct CuGraphOpaque {
  FakeLaunch launches[MAX_CAPTURED];
  unsigned num_launches;
};
struct CuGraphExecOpaque {
  struct CuGraphOpaque graph;
};
struct CuEventOpaque {
  double us;
};
struct CuStreamOpaque {
  int unused;
};
struct CuContextOpaque {
  int unused;
};

#define HEALTHY {.num_devices = 1, .total_bytes = (size_t)1 << 30, .max_threads = 1024, .kernel_us = 10}
static FakeCuda state = HEALTHY; // as loaded, so that a tool can use it too (test/run/fake-gpu.mlir)
static struct CuContextOpaque primary;
static CuGraph capturing;
static double clock_us;

FakeCuda *fake_cuda_state(void) { return &state; }

void fake_cuda_reset(void) {
  state = (FakeCuda)HEALTHY;
  capturing = NULL;
  clock_us = 0;
}

static CuResult injected(const char *symbol) {
  if (state.fail_symbol && strcmp(state.fail_symbol, symbol) == 0 && state.calls_of_fail_symbol++ == state.fail_at)
    return state.fail_result;
  return CU_SUCCESS;
}

#define ENTER()                                                                                                        \
  do {                                                                                                                 \
    CuResult failure = injected(__func__);                                                                             \
    if (failure != CU_SUCCESS)                                                                                         \
      return failure;                                                                                                  \
  } while (0)
#define ENTER_CONTEXT()                                                                                                \
  do {                                                                                                                 \
    ENTER();                                                                                                           \
    if (state.context_depth < 1)                                                                                       \
      return INVALID_CONTEXT;                                                                                          \
  } while (0)

// A kernel's failure shows at the next synchronisation and stays: the context is lost.
static CuResult synchronize(void) { return state.num_launches > 0 ? state.kernel_result : CU_SUCCESS; }

static void *new_object(size_t bytes) {
  ++state.num_live_objects;
  return calloc(1, bytes);
}

static CuResult delete_object(void *object) {
  --state.num_live_objects;
  free(object);
  return CU_SUCCESS;
}

// ------------------------------------------------------------------------------------------------ devices and contexts

CuResult cuInit(unsigned flags) {
  ENTER();
  return CU_SUCCESS;
}

CuResult cuDriverGetVersion(int *version) {
  ENTER();
  *version = 13000;
  return CU_SUCCESS;
}

CuResult cuDeviceGetCount(int *count) {
  ENTER();
  *count = state.num_devices;
  return CU_SUCCESS;
}

CuResult cuDeviceGet(CuDevice *device, int ordinal) {
  ENTER();
  *device = ordinal;
  return ordinal < state.num_devices ? CU_SUCCESS : INVALID_DEVICE;
}

CuResult cuDeviceGetName(char *name, int size, CuDevice device) {
  ENTER();
  snprintf(name, (size_t)size, "Fake GPU %d", device);
  return CU_SUCCESS;
}

CuResult cuDeviceGetAttribute(int *value, int attribute, CuDevice device) {
  ENTER();
  switch (attribute) {
  case CU_DEVICE_NUM_SMS:
    *value = 132;
    return CU_SUCCESS;
  case CU_DEVICE_L2_BYTES:
    *value = 1 << 20;
    return CU_SUCCESS;
  case CU_DEVICE_COMPUTE_MAJOR:
    *value = 9;
    return CU_SUCCESS;
  case CU_DEVICE_COMPUTE_MINOR:
    *value = 0;
    return CU_SUCCESS;
  case CU_DEVICE_SHARED_BYTES_OPTIN:
    *value = 232448;
    return CU_SUCCESS;
  default:
    return INVALID_VALUE;
  }
}

CuResult cuDeviceTotalMem_v2(size_t *bytes, CuDevice device) {
  ENTER();
  *bytes = state.total_bytes;
  return CU_SUCCESS;
}

CuResult cuDevicePrimaryCtxRetain(CuContext *context, CuDevice device) {
  ENTER();
  *context = &primary;
  ++state.num_live_objects;
  return CU_SUCCESS;
}

CuResult cuDevicePrimaryCtxRelease_v2(CuDevice device) {
  --state.num_live_objects;
  return CU_SUCCESS;
}

CuResult cuCtxPushCurrent_v2(CuContext context) {
  ENTER();
  ++state.context_depth;
  return CU_SUCCESS;
}

CuResult cuCtxPopCurrent_v2(CuContext *context) {
  ENTER_CONTEXT();
  --state.context_depth;
  *context = &primary;
  return CU_SUCCESS;
}

CuResult cuCtxSynchronize(void) {
  ENTER_CONTEXT();
  return synchronize();
}

// ------------------------------------------------------------------------------------------------- streams and events

CuResult cuStreamCreate(CuStream *stream, unsigned flags) {
  ENTER_CONTEXT();
  *stream = new_object(sizeof **stream);
  return CU_SUCCESS;
}

CuResult cuStreamDestroy_v2(CuStream stream) { return delete_object(stream); }

CuResult cuStreamSynchronize(CuStream stream) {
  ENTER_CONTEXT();
  return synchronize();
}

CuResult cuEventCreate(CuEvent *event, unsigned flags) {
  ENTER_CONTEXT();
  *event = new_object(sizeof **event);
  return CU_SUCCESS;
}

CuResult cuEventDestroy_v2(CuEvent event) { return delete_object(event); }

CuResult cuEventRecord(CuEvent event, CuStream stream) {
  ENTER_CONTEXT();
  event->us = clock_us;
  return CU_SUCCESS;
}

CuResult cuEventSynchronize(CuEvent event) {
  ENTER_CONTEXT();
  return synchronize();
}

CuResult cuEventElapsedTime(float *milliseconds, CuEvent start, CuEvent stop) {
  ENTER();
  *milliseconds = (float)((stop->us - start->us) / 1e3);
  return CU_SUCCESS;
}

// ------------------------------------------------------------------------------------------------------------- memory

CuResult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
  ENTER_CONTEXT();
  *free_bytes = state.total_bytes - state.used_bytes;
  *total_bytes = state.total_bytes;
  return CU_SUCCESS;
}

// The size is kept in front of the block, which keeps the driver's 256-byte alignment.
CuResult cuMemAlloc_v2(CuDevicePointer *pointer, size_t bytes) {
  ENTER_CONTEXT();
  if (bytes == 0)
    return INVALID_VALUE;
  if (bytes > state.total_bytes - state.used_bytes)
    return OUT_OF_MEMORY;
  char *block = aligned_alloc(256, 256 + (bytes + 255) / 256 * 256);
  memcpy(block, &bytes, sizeof bytes);
  memset(block + 256, 0xCD, bytes); // the driver does not clear memory either
  state.used_bytes += bytes;
  ++state.num_live_allocations;
  *pointer = (CuDevicePointer)(uintptr_t)(block + 256);
  return CU_SUCCESS;
}

CuResult cuMemFree_v2(CuDevicePointer pointer) {
  ENTER_CONTEXT();
  char *block = (char *)(uintptr_t)pointer - 256;
  size_t bytes;
  memcpy(&bytes, block, sizeof bytes);
  state.used_bytes -= bytes;
  --state.num_live_allocations;
  free(block);
  return CU_SUCCESS;
}

CuResult cuMemcpyHtoDAsync_v2(CuDevicePointer to, const void *from, size_t bytes, CuStream stream) {
  ENTER_CONTEXT();
  memcpy((void *)(uintptr_t)to, from, bytes);
  return CU_SUCCESS;
}

CuResult cuMemcpyDtoHAsync_v2(void *to, CuDevicePointer from, size_t bytes, CuStream stream) {
  ENTER_CONTEXT();
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return CU_SUCCESS;
}

CuResult cuMemcpyDtoDAsync_v2(CuDevicePointer to, CuDevicePointer from, size_t bytes, CuStream stream) {
  ENTER_CONTEXT();
  if (!capturing)
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return CU_SUCCESS;
}

CuResult cuMemsetD8Async(CuDevicePointer to, unsigned char byte, size_t bytes, CuStream stream) {
  ENTER_CONTEXT();
  memset((void *)(uintptr_t)to, byte, bytes);
  return CU_SUCCESS;
}

// --------------------------------------------------------------------------------------------------- modules, kernels

CuResult cuModuleLoadDataEx(CuModule *module, const void *image, unsigned num_options, int *options, void **values) {
  CuResult failure = injected(__func__);
  if (failure != CU_SUCCESS) {
    for (unsigned i = 0; i < num_options; ++i)
      if (options[i] == CU_JIT_ERROR_LOG && state.compiler_log)
        strcpy(values[i], state.compiler_log);
    return failure;
  }
  if (state.context_depth < 1)
    return INVALID_CONTEXT;
  struct CuModuleOpaque *made = new_object(sizeof *made);
  const char *text = image;
  int used = 0;
  while (made->num_kernels < MAX_KERNELS) {
    struct CuFunctionOpaque *kernel = &made->kernels[made->num_kernels];
    if (sscanf(text, "%31s %u %n", kernel->name, &kernel->num_parameters, &used) != 2)
      break;
    text += used;
    ++made->num_kernels;
  }
  *module = made;
  return CU_SUCCESS;
}

CuResult cuModuleUnload(CuModule module) { return delete_object(module); }

CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name) {
  ENTER_CONTEXT();
  for (unsigned i = 0; i < module->num_kernels; ++i)
    if (strcmp(module->kernels[i].name, name) == 0) {
      *function = &module->kernels[i];
      return CU_SUCCESS;
    }
  return NOT_FOUND;
}

CuResult cuFuncGetAttribute(int *value, int attribute, CuFunction function) {
  ENTER_CONTEXT();
  *value = attribute == CU_FUNCTION_MAX_THREADS ? state.max_threads : 0;
  return CU_SUCCESS;
}

CuResult cuFuncSetAttribute(CuFunction function, int attribute, int value) {
  ENTER_CONTEXT();
  if (attribute == CU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES)
    state.dynamic_shared_limit = value;
  else if (attribute == CU_FUNCTION_NON_PORTABLE_CLUSTER)
    state.non_portable_cluster = value;
  return CU_SUCCESS;
}

CuResult cuFuncGetParamInfo(CuFunction function, size_t index, size_t *offset, size_t *bytes) {
  ENTER_CONTEXT();
  *offset = 8 * index;
  *bytes = 8;
  return index < function->num_parameters ? CU_SUCCESS : INVALID_VALUE;
}

static void execute(const FakeLaunch *launch) {
  if (state.num_launches < FAKE_MAX_LAUNCHES)
    state.launches[state.num_launches] = *launch;
  ++state.num_launches;
  clock_us += state.kernel_us;
  if (state.run)
    state.run(launch);
}

CuResult cuLaunchKernelEx(const CuLaunchConfig *config, CuFunction function, void **parameters, void **extra) {
  ENTER_CONTEXT();
  FakeLaunch launch = {.kernel = function->name,
                       .threads = config->block[0],
                       .shared_bytes = config->shared_bytes,
                       .cluster = {1, 1, 1},
                       .stream = config->stream,
                       .num_pointers = function->num_parameters};
  memcpy(launch.grid, config->grid, sizeof launch.grid);
  for (unsigned i = 0; i < config->num_attributes; ++i) {
    const CuLaunchAttribute *attribute = &config->attributes[i];
    if (attribute->id == CU_LAUNCH_CLUSTER_DIMENSION)
      memcpy(launch.cluster, &attribute->value.cluster, sizeof launch.cluster);
    else if (attribute->id == CU_LAUNCH_PROGRAMMATIC_SERIALIZATION)
      launch.dependent = attribute->value.programmatic_serialization != 0;
    else
      return INVALID_VALUE;
  }
  for (unsigned i = 0; i < launch.num_pointers && i < FAKE_MAX_POINTERS; ++i)
    memcpy(&launch.pointers[i], parameters[i], sizeof launch.pointers[i]);
  if (!capturing)
    execute(&launch);
  else if (capturing->num_launches == MAX_CAPTURED)
    return OUT_OF_MEMORY;
  else
    capturing->launches[capturing->num_launches++] = launch;
  return CU_SUCCESS;
}

// ------------------------------------------------------------------------------------------------------------- graphs

CuResult cuStreamBeginCapture_v2(CuStream stream, int mode) {
  ENTER_CONTEXT();
  capturing = new_object(sizeof *capturing);
  return CU_SUCCESS;
}

CuResult cuStreamEndCapture(CuStream stream, CuGraph *graph) {
  *graph = capturing;
  capturing = NULL;
  ENTER_CONTEXT();
  return CU_SUCCESS;
}

CuResult cuGraphInstantiateWithFlags(CuGraphExec *exec, CuGraph graph, unsigned long long flags) {
  ENTER_CONTEXT();
  *exec = new_object(sizeof **exec);
  (*exec)->graph = *graph;
  return CU_SUCCESS;
}

CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  ENTER_CONTEXT();
  for (unsigned i = 0; i < exec->graph.num_launches; ++i)
    execute(&exec->graph.launches[i]);
  return CU_SUCCESS;
}

CuResult cuGraphExecDestroy(CuGraphExec exec) { return delete_object(exec); }
CuResult cuGraphDestroy(CuGraph graph) { return delete_object(graph); }
