// fake_cuda.c - a CUDA driver without a GPU: a shared library with the driver's symbols, so that lib/runtime can be
// tested.
//
// Device memory is host memory. A module's image is text, one kernel a line: "name pointers", "name pointers+maps"; or
// PTX, of which only the entries and their parameters are looked at. Launching a kernel records it and calls the test's
// `run`; inside a capture it is recorded in the graph instead and runs at each graph launch. Time is a counter that
// launches advance, so that measured times are exact. Any call can be made to fail, and calls that need a current
// context refuse to work without one, as the driver does; so do calls that a capture forbids. One lock makes the calls
// safe for threads, as the driver's are.
#include "fake_cuda.h"

#include <pthread.h>
#include <signal.h>
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
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_IMPLICIT = 906,
  WOULD_BLOCK = 999, // a real driver would never return
  MAX_KERNELS = 32,
  MAX_CAPTURED = 8192
};

struct CuFunctionOpaque {
  char name[64];
  unsigned num_pointers, num_maps;
  CuContext context;
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

#define HEALTHY                                                                                                        \
  {.num_devices = 1,                                                                                                   \
   .total_bytes = (size_t)1 << 30,                                                                                     \
   .driver_version = 13000,                                                                                            \
   .compute_major = 9,                                                                                                 \
   .blocks_per_sm = 1,                                                                                                 \
   .max_threads = 1024,                                                                                                \
   .kernel_us = 10}
static FakeCuda state = HEALTHY; // as loaded, so that a tool can use it too (test/run/fake-gpu.mlir)
static struct CuContextOpaque primary, other;
static CuGraph capturing;
static CuStream captured_stream;
static _Thread_local int capture_mode; // the driver's own default is CU_STREAM_CAPTURE_MODE_GLOBAL, 0
static double clock_us;
static bool failed, hung;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { MAX_DEPTH = 16 };
static _Thread_local CuContext contexts[MAX_DEPTH]; // of this thread, the last is current
static _Thread_local int depth;

// For a tool, which cannot set the state: FAKE_CUDA_HANGING and FAKE_CUDA_FAILING name a kernel (a failing one comes to
// CUDA_ERROR_ILLEGAL_ADDRESS); launch number FAKE_CUDA_ZERO, counted from 1, writes a zero to its last tensor, and with
// FAKE_CUDA_ZEROS every launch fills it with them. Of the kernels that these name, FAKE_CUDA_WRONG fills it with other
// numbers, FAKE_CUDA_NAN with NaN, FAKE_CUDA_CRASHING brings the process down, FAKE_CUDA_QUICK takes half of the time, and of
// FAKE_CUDA_SPILLING each thread spills 16 bytes.
// FAKE_CUDA_SPOILING is right itself, and behind it in the process all others but the own lowering's fill with other numbers.
static unsigned zero_at;
static bool zeros;
static const char *wrong, *not_a_number, *crashing, *quick, *spilling, *spoiling;
static bool spoilt;

__attribute__((constructor)) static void read_environment(void) {
  const char *zero = getenv("FAKE_CUDA_ZERO");
  state.hanging = getenv("FAKE_CUDA_HANGING");
  state.failing = getenv("FAKE_CUDA_FAILING");
  state.kernel_result = state.failing ? 700 : CU_SUCCESS;
  zero_at = zero ? (unsigned)atoi(zero) : 0;
  zeros = getenv("FAKE_CUDA_ZEROS") != NULL;
  wrong = getenv("FAKE_CUDA_WRONG");
  not_a_number = getenv("FAKE_CUDA_NAN");
  crashing = getenv("FAKE_CUDA_CRASHING");
  quick = getenv("FAKE_CUDA_QUICK");
  spilling = getenv("FAKE_CUDA_SPILLING");
  spoiling = getenv("FAKE_CUDA_SPOILING");
}

FakeCuda *fake_cuda_state(void) { return &state; }
CuContext fake_cuda_context(void) { return &other; }

// Objects and blocks of memory are kept in lists, so that those which a test has to leave behind (on a device that
// hangs) can be freed.
typedef struct Object {
  struct Object *next, *previous;
  size_t bytes; // of a block
} Object;
static Object objects = {&objects, &objects, 0}, blocks = {&blocks, &blocks, 0};

static void link_object(Object *list, Object *object) {
  object->next = list->next;
  object->previous = list;
  object->next->previous = object;
  list->next = object;
}

static void unlink_object(Object *object) {
  object->next->previous = object->previous;
  object->previous->next = object->next;
  free(object);
}

static void *new_object(size_t bytes) {
  Object *object = calloc(1, sizeof *object + bytes);
  link_object(&objects, object);
  state.num_live_objects++;
  return object + 1;
}

static CuResult delete_object(void *contents) {
  unlink_object((Object *)contents - 1);
  state.num_live_objects--;
  return CU_SUCCESS;
}

void fake_cuda_reset(void) {
  while (objects.next != &objects)
    unlink_object(objects.next);
  while (blocks.next != &blocks)
    unlink_object(blocks.next);
  state = (FakeCuda)HEALTHY;
  capturing = NULL;
  captured_stream = NULL;
  clock_us = 0;
  failed = hung = false;
}

static CuResult injected(const char *symbol) {
  state.num_calls++;
  if (state.fail_symbol && strcmp(state.fail_symbol, symbol) == 0 && state.calls_of_fail_symbol++ == state.fail_at)
    return state.fail_result;
  return CU_SUCCESS;
}

static pthread_mutex_t *acquire(void) {
  pthread_mutex_lock(&lock);
  return &lock;
}
static void unlock(pthread_mutex_t **held) { pthread_mutex_unlock(*held); }

// The lock is held from here to the end of the function.
#define ENTER()                                                                                                        \
  __attribute__((cleanup(unlock))) pthread_mutex_t *held = acquire();                                                  \
  do {                                                                                                                 \
    CuResult failure = injected(__func__);                                                                             \
    if (failure != CU_SUCCESS)                                                                                         \
      return failure;                                                                                                  \
  } while (0)
#define ENTER_CONTEXT()                                                                                                \
  ENTER();                                                                                                             \
  do {                                                                                                                 \
    if (depth < 1)                                                                                                     \
      return INVALID_CONTEXT;                                                                                          \
  } while (0)

static bool is_captured(CuStream stream) { return capturing && stream == captured_stream; }

// Whether a capture is under way that what this thread does could spoil.
static bool forbids(void) {
  const int relaxed = 2;
  return capturing && capture_mode != relaxed;
}

static CuResult would_block(void) {
  state.num_blocking++;
  return WOULD_BLOCK;
}

// What a call comes to that waits: a kernel's failure shows at the next one and stays, because the context is lost.
static CuResult synchronize(void) {
  if (hung)
    return would_block();
  return forbids() ? CAPTURE_UNSUPPORTED : failed ? state.kernel_result : CU_SUCCESS;
}

// ------------------------------------------------------------------------------------------------ devices and contexts

CuResult cuInit(unsigned flags) {
  ENTER();
  return CU_SUCCESS;
}

CuResult cuDriverGetVersion(int *version) {
  ENTER();
  *version = state.driver_version;
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
    *value = state.compute_major;
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
  state.num_live_objects++;
  return CU_SUCCESS;
}

CuResult cuDevicePrimaryCtxRelease_v2(CuDevice device) {
  ENTER();
  state.num_live_objects--;
  return CU_SUCCESS;
}

CuResult cuCtxPushCurrent_v2(CuContext context) {
  ENTER();
  if (depth == MAX_DEPTH)
    return OUT_OF_MEMORY;
  contexts[depth++] = context;
  state.context_depth++;
  return CU_SUCCESS;
}

CuResult cuCtxPopCurrent_v2(CuContext *context) {
  ENTER_CONTEXT();
  *context = contexts[--depth];
  state.context_depth--;
  return CU_SUCCESS;
}

CuResult cuCtxGetCurrent(CuContext *context) {
  ENTER();
  *context = depth > 0 ? contexts[depth - 1] : NULL;
  return CU_SUCCESS;
}

CuResult cuCtxGetDevice(CuDevice *device) {
  ENTER_CONTEXT();
  *device = 0;
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

CuResult cuStreamDestroy_v2(CuStream stream) {
  ENTER_CONTEXT();
  return hung ? would_block() : delete_object(stream);
}

CuResult cuThreadExchangeStreamCaptureMode(int *mode) {
  ENTER_CONTEXT();
  int old = capture_mode;
  capture_mode = *mode;
  *mode = old;
  return CU_SUCCESS;
}

CuResult cuStreamSynchronize(CuStream stream) {
  ENTER_CONTEXT();
  return synchronize();
}

CuResult cuEventCreate(CuEvent *event, unsigned flags) {
  ENTER_CONTEXT();
  *event = new_object(sizeof **event);
  return CU_SUCCESS;
}

CuResult cuEventDestroy_v2(CuEvent event) {
  ENTER_CONTEXT();
  return delete_object(event);
}

CuResult cuEventRecord(CuEvent event, CuStream stream) {
  ENTER_CONTEXT();
  event->us = clock_us;
  return CU_SUCCESS;
}

CuResult cuEventQuery(CuEvent event) {
  ENTER_CONTEXT();
  return hung ? CU_NOT_READY : synchronize();
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

// The list's entry is in front of the block, at a distance that keeps the driver's 256-byte alignment.
CuResult cuMemAlloc_v2(CuDevicePointer *pointer, size_t bytes) {
  ENTER_CONTEXT();
  if (bytes == 0)
    return INVALID_VALUE;
  if (forbids())
    return CAPTURE_UNSUPPORTED;
  if (bytes > state.total_bytes - state.used_bytes)
    return OUT_OF_MEMORY;
  char *block = aligned_alloc(256, 256 + (bytes + 255) / 256 * 256);
  ((Object *)block)->bytes = bytes;
  link_object(&blocks, (Object *)block);
  memset(block + 256, 0xCD, bytes); // the driver does not clear memory either
  state.used_bytes += bytes;
  state.num_live_allocations++;
  *pointer = (CuDevicePointer)(uintptr_t)(block + 256);
  return CU_SUCCESS;
}

CuResult cuMemFree_v2(CuDevicePointer pointer) {
  ENTER_CONTEXT();
  if (hung)
    return would_block();
  Object *block = (Object *)(uintptr_t)(pointer - 256);
  state.used_bytes -= block->bytes;
  state.num_live_allocations--;
  unlink_object(block);
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
  if (!is_captured(stream))
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return CU_SUCCESS;
}

CuResult cuMemsetD8Async(CuDevicePointer to, unsigned char byte, size_t bytes, CuStream stream) {
  ENTER_CONTEXT();
  if (capturing && !stream)
    return CAPTURE_IMPLICIT;
  memset((void *)(uintptr_t)to, byte, bytes);
  return CU_SUCCESS;
}

// --------------------------------------------------------------------------------------- what lib/launch alone calls

CuResult cuMemcpyAsync(CuDevicePointer to, CuDevicePointer from, size_t bytes, CuStream stream) {
  ENTER_CONTEXT();
  memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return CU_SUCCESS;
}

CuResult cuMemsetD16Async(CuDevicePointer to, unsigned short value, size_t count, CuStream stream) {
  ENTER_CONTEXT();
  for (size_t i = 0; i < count; i++)
    ((unsigned short *)(uintptr_t)to)[i] = value;
  return CU_SUCCESS;
}

CuResult cuMemsetD32Async(CuDevicePointer to, unsigned value, size_t count, CuStream stream) {
  ENTER_CONTEXT();
  for (size_t i = 0; i < count; i++)
    ((unsigned *)(uintptr_t)to)[i] = value;
  return CU_SUCCESS;
}

CuResult cuMemAllocManaged(CuDevicePointer *pointer, size_t bytes, unsigned flags) {
  return flags == CU_MEMORY_ATTACH_GLOBAL ? cuMemAlloc_v2(pointer, bytes) : INVALID_VALUE;
}

CuResult cuMemAllocAsync(CuDevicePointer *pointer, size_t bytes, CuStream stream) {
  return stream ? cuMemAlloc_v2(pointer, bytes) : INVALID_VALUE;
}

CuResult cuMemFreeAsync(CuDevicePointer pointer, CuStream stream) {
  return stream ? cuMemFree_v2(pointer) : INVALID_VALUE;
}

CuResult cuDeviceGetDefaultMemPool(void **pool, CuDevice device) {
  ENTER();
  *pool = &state;
  return device < state.num_devices ? CU_SUCCESS : INVALID_DEVICE;
}

CuResult cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  ENTER();
  state.pool_keeps = *(uint64_t *)value;
  return pool == &state && attribute == CU_POOL_RELEASE_THRESHOLD ? CU_SUCCESS : INVALID_VALUE;
}

CuResult cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned flags) {
  ENTER_CONTEXT();
  return event && flags == 0 ? CU_SUCCESS : INVALID_HANDLE;
}

CuResult cuEventSynchronize(CuEvent event) {
  ENTER_CONTEXT();
  return event ? state.kernel_result : INVALID_HANDLE;
}

CuResult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
  ENTER_CONTEXT();
  state.registered_bytes = bytes;
  return pointer && flags == 0 ? CU_SUCCESS : INVALID_VALUE;
}

CuResult cuMemHostUnregister(void *pointer) {
  ENTER_CONTEXT();
  return pointer ? CU_SUCCESS : INVALID_VALUE;
}

// --------------------------------------------------------------------------------------------------- modules, kernels

// One kernel, or NULL at the end; what comes behind it.
static const char *read_line(const char *text, struct CuFunctionOpaque *kernel) {
  int used = 0;
  if (sscanf(text, "%63s %u %n", kernel->name, &kernel->num_pointers, &used) != 2)
    return NULL;
  sscanf(text, "%63s %u+%u %n", kernel->name, &kernel->num_pointers, &kernel->num_maps, &used);
  return text + used;
}

// The same of PTX: a parameter is ".param .u64 ..", or, a tensor map, ".param .align 64 .b8 ..".
static const char *read_entry(const char *text, struct CuFunctionOpaque *kernel) {
  text = strstr(text, ".entry ");
  if (!text || sscanf(text, ".entry %63[^( \n]", kernel->name) != 1)
    return NULL;
  const char *end = strchr(text, ')');
  for (text = strstr(text, ".param "); text && text < end; text = strstr(text + 1, ".param "))
    ++*(strncmp(text, ".param .align 64", 16) == 0 ? &kernel->num_maps : &kernel->num_pointers);
  return end;
}

CuResult cuModuleLoadDataEx(CuModule *module, const void *image, unsigned num_options, int *options, void **values) {
  __attribute__((cleanup(unlock))) pthread_mutex_t *held = acquire();
  CuResult failure = injected(__func__);
  if (failure != CU_SUCCESS) {
    for (unsigned i = 0; i < num_options; i++)
      if (options[i] == CU_JIT_ERROR_LOG && state.compiler_log)
        strcpy(values[i], state.compiler_log);
    return failure;
  }
  if (depth < 1)
    return INVALID_CONTEXT;
  state.num_loads++;
  struct CuModuleOpaque *made = new_object(sizeof *made);
  const char *text = image;
  while (made->num_kernels < MAX_KERNELS) {
    struct CuFunctionOpaque *kernel = &made->kernels[made->num_kernels];
    kernel->context = contexts[depth - 1];
    text = strstr(image, ".entry") ? read_entry(text, kernel) : read_line(text, kernel);
    if (!text)
      break;
    made->num_kernels++;
  }
  *module = made;
  return CU_SUCCESS;
}

CuResult cuModuleUnload(CuModule module) {
  ENTER_CONTEXT();
  return hung ? would_block() : delete_object(module);
}

CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name) {
  ENTER_CONTEXT();
  for (unsigned i = 0; i < module->num_kernels; i++)
    if (strcmp(module->kernels[i].name, name) == 0) {
      *function = &module->kernels[i];
      return CU_SUCCESS;
    }
  return NOT_FOUND;
}

CuResult cuFuncGetAttribute(int *value, int attribute, CuFunction function) {
  ENTER_CONTEXT();
  bool spills = spilling && strcmp(spilling, function->name) == 0;
  *value = attribute == CU_FUNCTION_MAX_THREADS             ? state.max_threads
           : attribute == CU_FUNCTION_LOCAL_BYTES && spills ? 16
                                                            : 0;
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

CuResult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CuFunction function, int threads,
                                                     size_t shared_bytes) {
  ENTER_CONTEXT();
  *count = state.blocks_per_sm;
  return CU_SUCCESS;
}

// 132 multiprocessors in groups of 18 and less, as a cluster has to lie in one of them: some stay unused.
CuResult cuOccupancyMaxActiveClusters(int *clusters, CuFunction function, const CuLaunchConfig *config) {
  ENTER_CONTEXT();
  for (unsigned i = 0; i < config->num_attributes; i++) {
    const CuLaunchAttribute *attribute = &config->attributes[i];
    if (attribute->id == CU_LAUNCH_CLUSTER_DIMENSION)
      *clusters = (int)(128 / (attribute->value.cluster.x * attribute->value.cluster.y * attribute->value.cluster.z)) *
                  state.blocks_per_sm;
  }
  return CU_SUCCESS;
}

CuResult cuFuncGetParamInfo(CuFunction function, size_t index, size_t *offset, size_t *bytes) {
  ENTER_CONTEXT();
  *offset = 8 * index;
  *bytes = 8;
  return index < function->num_pointers + function->num_maps ? CU_SUCCESS : INVALID_VALUE;
}

CuResult cuTensorMapEncodeTiled(CuTensorMap *map, int dtype, uint32_t rank, void *address, const uint64_t *extents,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int l2_promotion, int fill) {
  ENTER(); // needs no context
  if ((uintptr_t)map % 64 != 0 || (uintptr_t)address % 16 != 0 || rank < 1 || rank > 5)
    return INVALID_VALUE;
  FakeMap wanted = {
      .address = (uintptr_t)address, .dtype = dtype, .swizzle = swizzle, .l2_promotion = l2_promotion, .rank = rank};
  memcpy(wanted.extents, extents, rank * sizeof *extents);
  memcpy(wanted.strides, strides, (rank - 1) * sizeof *strides);
  memcpy(wanted.box, box, rank * sizeof *box);
  _Static_assert(sizeof wanted <= sizeof *map, "fits");
  memcpy(map, &wanted, sizeof wanted);
  state.num_encodings++;
  return CU_SUCCESS;
}

static bool is_named(const char *name, const FakeLaunch *launch) { return name && strcmp(name, launch->kernel) == 0; }

// Of the block that begins there; 0 where none does: a tensor in a program's workspace.
static size_t bytes_at(uint64_t pointer) {
  for (const Object *block = blocks.next; block != &blocks; block = block->next)
    if ((uint64_t)(uintptr_t)block + 256 == pointer)
      return block->bytes;
  return 0;
}

static void execute(const FakeLaunch *launch) {
  if (is_named(crashing, launch)) {
    signal(SIGSEGV, SIG_DFL); // a sanitizer would make an exit status of it
    raise(SIGSEGV);
  }
  if (state.num_launches < FAKE_MAX_LAUNCHES)
    state.launches[state.num_launches] = *launch;
  state.num_launches++;
  clock_us += is_named(quick, launch) ? state.kernel_us / 2 : state.kernel_us;
  failed = failed || (state.kernel_result != CU_SUCCESS && (!state.failing || !strcmp(state.failing, launch->kernel)));
  hung = hung || (state.hanging && state.num_launches > state.hang_after && strcmp(state.hanging, launch->kernel) == 0);
  if (state.run)
    state.run(launch);
  uint64_t last = launch->num_pointers > 0 ? launch->pointers[launch->num_pointers - 1] : 0;
  bool spoils = is_named(spoiling, launch), is_spoilt = spoilt && !spoils && !strstr(launch->kernel, "_own_");
  spoilt = spoilt || spoils;
  int filling = is_named(not_a_number, launch) ? 0xFF : is_named(wrong, launch) || is_spoilt ? 0x33 : 0;
  if (last && zeros)
    memset((void *)(uintptr_t)last, filling, bytes_at(last));
  else if (last && state.num_launches == zero_at)
    memset((void *)(uintptr_t)last, 0, 2);
}

CuResult cuLaunchKernelEx(const CuLaunchConfig *config, CuFunction function, void **parameters, void **extra) {
  ENTER_CONTEXT();
  if (function->context != contexts[depth - 1])
    return INVALID_HANDLE;
  FakeLaunch launch = {.kernel = function->name,
                       .threads = config->block[0],
                       .shared_bytes = config->shared_bytes,
                       .cluster = {1, 1, 1},
                       .stream = config->stream,
                       .num_pointers = function->num_pointers,
                       .num_maps = function->num_maps};
  memcpy(launch.grid, config->grid, sizeof launch.grid);
  for (unsigned i = 0; i < config->num_attributes; i++) {
    const CuLaunchAttribute *attribute = &config->attributes[i];
    if (attribute->id == CU_LAUNCH_CLUSTER_DIMENSION)
      memcpy(launch.cluster, &attribute->value.cluster, sizeof launch.cluster);
    else if (attribute->id == CU_LAUNCH_PROGRAMMATIC_SERIALIZATION)
      launch.dependent = attribute->value.programmatic_serialization != 0;
    else
      return INVALID_VALUE;
  }
  for (unsigned i = 0; i < launch.num_pointers && i < FAKE_MAX_POINTERS; i++)
    memcpy(&launch.pointers[i], parameters[i], sizeof launch.pointers[i]);
  for (unsigned i = 0; i < launch.num_maps && i < FAKE_MAX_MAPS; i++)
    memcpy(&launch.maps[i], parameters[launch.num_pointers + i], sizeof launch.maps[i]);
  if (!is_captured(config->stream))
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
  captured_stream = stream;
  return CU_SUCCESS;
}

CuResult cuStreamIsCapturing(CuStream stream, int *status) {
  *status = capturing && stream == captured_stream;
  return CU_SUCCESS;
}

CuResult cuStreamEndCapture(CuStream stream, CuGraph *graph) {
  *graph = capturing;
  capturing = NULL;
  captured_stream = NULL;
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
  for (unsigned i = 0; i < exec->graph.num_launches; i++)
    execute(&exec->graph.launches[i]);
  return CU_SUCCESS;
}

CuResult cuGraphExecDestroy(CuGraphExec exec) {
  ENTER_CONTEXT();
  return delete_object(exec);
}

CuResult cuGraphDestroy(CuGraph graph) {
  ENTER_CONTEXT();
  return delete_object(graph);
}
