// driver.c - a GPU as a backend, by lib/runtime and its driver calls.
//
// Streams:   gpu-to-llvm makes one for each chain of launches and destroys it behind it. Both cost more than a launch, so
//            a stream that is destroyed waits here for the next one who wants one. Work on it stays in order.
// Memory:    with a stream, from the driver's pool for it, which keeps what is freed. Without, as always; what host and
//            device share is kept here, since the driver takes longer than a kernel to make it.
// Launches:  checked and resolved at the first; the same shape again costs the driver's call.
#include "backend.h"

#include "runtime/runtime_impl.h"
#include <stdlib.h>
#include <string.h>

typedef struct Function {
  char *name;
  MirageModule *module;
  bool meets;
  bool ready; // for `shape`
  MirageRawLaunch shape;
  MirageLaunchReady launch;
  struct Function *next;
} Function;

typedef struct Module {
  MirageModule *loaded;
  char *text; // PTX, or NULL
  Function *functions;
} Module;

// Memory that host and device share, once allocated: what is freed waits for somebody who wants as much.
typedef struct Shared {
  CuDevicePointer pointer;
  uint64_t bytes;
  bool used;
  struct Shared *next;
} Shared;

typedef struct Idle {
  CuStream stream;
  struct Idle *next;
} Idle;

static MirageDevice *device;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of functions, and of the two lists
static Idle *idle_streams;
static Shared *shared_blocks;

// Enters the device for one driver call, and says what failed.
#define DRIVER_CALL(diag, call, ...)                                                                                   \
  do {                                                                                                                 \
    MIRAGE_TRY(mirage__device_enter(device, diag));                                                                    \
    CuResult result_ = (call);                                                                                         \
    mirage__device_leave(device);                                                                                      \
    MIRAGE_TRY(mirage__cuda_check(diag, result_, __VA_ARGS__));                                                        \
  } while (0)

#define NEED(member, symbol)                                                                                           \
  do {                                                                                                                 \
    if (!device->cuda.member)                                                                                          \
      return mirage_diag_fail(diag, NULL, MIRAGE_DRIVER, "the CUDA driver has no " symbol ": update it");              \
  } while (0)

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "launch: out of memory");
}

static char *copy_string(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

// -------------------------------------------------------------------------------------------------------------- modules

static MirageStatus module_unload(void *handle, const MirageDiag *diag) {
  Module *module = handle;
  (void)diag;
  if (!module)
    return MIRAGE_OK;
  for (Function *function = module->functions, *next; function; function = next) {
    next = function->next;
    free(function->name);
    free(function);
  }
  mirage_module_unload(module->loaded);
  free(module->text);
  free(module);
  return MIRAGE_OK;
}

static MirageStatus module_load(const void *image, bool text, const MirageDiag *diag, void **out_module) {
  Module *module = calloc(1, sizeof *module);
  char *copy = text ? copy_string(image) : NULL;
  if (!module || (text && !copy)) {
    free(module);
    free(copy);
    return no_memory(diag);
  }
  module->text = copy;
  MirageStatus status = mirage_module_load(device, image, diag, &module->loaded);
  if (status == MIRAGE_OK)
    *out_module = module;
  else
    module_unload(module, diag);
  return status;
}

static Function *add_function(Module *module, const char *name) {
  Function *function = calloc(1, sizeof *function);
  char *copy = copy_string(name);
  if (!function || !copy) {
    free(function);
    free(copy);
    return NULL;
  }
  *function = (Function){.name = copy,
                         .module = module->loaded,
                         .meets = module->text && mirage__annotation_meets(module->text, name),
                         .next = module->functions};
  return module->functions = function;
}

static MirageStatus get_function(void *handle, const char *name, const MirageDiag *diag, void **out_function) {
  Module *module = handle;
  pthread_mutex_lock(&lock);
  Function *function = module->functions;
  while (function && strcmp(function->name, name) != 0)
    function = function->next;
  if (!function)
    function = add_function(module, name);
  pthread_mutex_unlock(&lock);
  *out_function = function;
  return function ? MIRAGE_OK : no_memory(diag);
}

// ------------------------------------------------------------------------------------------------------------- launches

static bool is_same_shape(const MirageRawLaunch *a, const MirageRawLaunch *b) {
  return memcmp(a->grid, b->grid, sizeof a->grid) == 0 && memcmp(a->block, b->block, sizeof a->block) == 0 &&
         memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 && a->shared_bytes == b->shared_bytes &&
         a->num_parameters == b->num_parameters;
}

// The lock is held, and the device entered.
static MirageStatus prepare(Function *function, const MirageRawLaunch *raw, const MirageDiag *diag) {
  MirageLaunchConfig config = {.kernel = function->name,
                               .threads = (int32_t)(raw->block[0] * raw->block[1] * raw->block[2]),
                               .shared_bytes = (int32_t)raw->shared_bytes,
                               .blocks_meet = function->meets};
  uint32_t parameters =
      raw->num_parameters < MIRAGE_UNKNOWN_PARAMETERS ? (uint32_t)raw->num_parameters : MIRAGE_UNKNOWN_PARAMETERS;
  if (function->ready && is_same_shape(&function->shape, raw))
    return MIRAGE_OK;
  memcpy(config.grid, raw->grid, sizeof config.grid);
  memcpy(config.cluster, raw->cluster, sizeof config.cluster);
  MIRAGE_TRY(mirage__launch_prepare(function->module, &config, parameters, diag, &function->launch));
  function->ready = true;
  function->shape = *raw;
  return MIRAGE_OK;
}

static MirageStatus enqueue(Function *function, const MirageRawLaunch *raw, void *stream, const MirageDiag *diag) {
  pthread_mutex_lock(&lock);
  MirageStatus status = prepare(function, raw, diag);
  MirageLaunchReady ready = function->launch; // a copy: another thread may launch another shape
  pthread_mutex_unlock(&lock);
  if (status != MIRAGE_OK)
    return status;
  CuLaunchConfig config = mirage__launch_config(&ready, stream);
  for (int i = 0; i < 3; i++)
    config.block[i] = (unsigned)raw->block[i];
  return mirage__cuda_check(diag, device->cuda.launch(&config, ready.function, raw->parameters, raw->extra),
                            "launch: %s failed to start", function->name);
}

static MirageStatus launch(void *handle, const MirageRawLaunch *raw, void *stream, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  MirageStatus status = enqueue(handle, raw, stream, diag);
  mirage__device_leave(device);
  return status;
}

// --------------------------------------------------------------------------------------------------- streams and events

static MirageStatus stream_create(const MirageDiag *diag, void **out_stream) {
  pthread_mutex_lock(&lock);
  Idle *idle = idle_streams;
  if (idle)
    idle_streams = idle->next;
  pthread_mutex_unlock(&lock);
  CuStream stream = idle ? idle->stream : NULL;
  free(idle);
  if (!stream)
    DRIVER_CALL(diag, device->cuda.stream_create(&stream, CU_STREAM_NON_BLOCKING_FLAG), "cannot create a stream");
  *out_stream = stream;
  return MIRAGE_OK;
}

static MirageStatus stream_destroy(void *stream, const MirageDiag *diag) {
  Idle *idle = malloc(sizeof *idle);
  if (!idle || !stream) {
    free(idle);
    return stream ? no_memory(diag) : MIRAGE_OK;
  }
  pthread_mutex_lock(&lock);
  *idle = (Idle){stream, idle_streams};
  idle_streams = idle;
  pthread_mutex_unlock(&lock);
  return MIRAGE_OK;
}

static MirageStatus stream_synchronize(void *stream, const MirageDiag *diag) {
  DRIVER_CALL(diag, device->cuda.stream_synchronize(stream), "waiting for a stream: a kernel on it failed");
  return MIRAGE_OK;
}

static MirageStatus stream_wait(void *stream, void *event, const MirageDiag *diag) {
  NEED(stream_wait_event, "cuStreamWaitEvent");
  DRIVER_CALL(diag, device->cuda.stream_wait_event(stream, event, 0), "a stream cannot wait for an event");
  return MIRAGE_OK;
}

static MirageStatus event_create(const MirageDiag *diag, void **out_event) {
  CuEvent event = NULL;
  DRIVER_CALL(diag, device->cuda.event_create(&event, CU_EVENT_NO_TIMING), "cannot create an event");
  *out_event = event;
  return MIRAGE_OK;
}

static MirageStatus event_destroy(void *event, const MirageDiag *diag) {
  DRIVER_CALL(diag, device->cuda.event_destroy(event), "cannot destroy an event");
  return MIRAGE_OK;
}

static MirageStatus event_record(void *event, void *stream, const MirageDiag *diag) {
  DRIVER_CALL(diag, device->cuda.event_record(event, stream), "cannot record an event");
  return MIRAGE_OK;
}

static MirageStatus event_synchronize(void *event, const MirageDiag *diag) {
  NEED(event_synchronize, "cuEventSynchronize");
  DRIVER_CALL(diag, device->cuda.event_synchronize(event), "waiting for an event: a kernel before it failed");
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------------- memory

static CuResult alloc_any(uint64_t bytes, void *stream, CuDevicePointer *out_pointer) {
  const MirageCuda *cuda = &device->cuda;
  if (stream && cuda->memory_alloc_async && cuda->memory_free_async)
    return cuda->memory_alloc_async(out_pointer, bytes, stream);
  return cuda->memory_alloc(out_pointer, bytes);
}

// MIRAGE_MEMORY=device: nothing but kernels looks at it, and it need not follow who does.
static CuResult alloc_managed(uint64_t bytes, CuDevicePointer *out_pointer) {
  const char *place = getenv("MIRAGE_MEMORY");
  if (place && strcmp(place, "device") == 0)
    return device->cuda.memory_alloc(out_pointer, bytes);
  return device->cuda.memory_alloc_managed(out_pointer, bytes, CU_MEMORY_ATTACH_GLOBAL);
}

// The lock is held. One that is free and as large, or NULL.
static Shared *take_idle(uint64_t bytes) {
  Shared *block = shared_blocks;
  while (block && (block->used || block->bytes != bytes))
    block = block->next;
  if (block)
    block->used = true;
  return block;
}

// The lock is held, the device entered. Gives back to the driver what nobody uses.
static void release_idle(void) {
  for (Shared **at = &shared_blocks; *at;) {
    Shared *block = *at;
    if (block->used) {
      at = &block->next;
      continue;
    }
    *at = block->next;
    device->cuda.memory_free(block->pointer);
    free(block);
  }
}

// The lock is held, the device entered.
static CuResult alloc_shared(uint64_t bytes, CuDevicePointer *out_pointer) {
  Shared *block = take_idle(bytes);
  if (block) {
    *out_pointer = block->pointer;
    return CU_SUCCESS;
  }
  CuResult result = alloc_managed(bytes, out_pointer);
  if (mirage__cuda_result_status(result) == MIRAGE_NO_MEMORY) {
    release_idle();
    result = alloc_managed(bytes, out_pointer);
  }
  if (result != CU_SUCCESS)
    return result;
  block = malloc(sizeof *block);
  if (block) { // else it is freed as any other
    *block = (Shared){*out_pointer, bytes, true, shared_blocks};
    shared_blocks = block;
  }
  return CU_SUCCESS;
}

static CuResult alloc_locked(uint64_t bytes, CuDevicePointer *out_pointer) {
  pthread_mutex_lock(&lock);
  CuResult result = alloc_shared(bytes, out_pointer);
  pthread_mutex_unlock(&lock);
  return result;
}

static MirageStatus alloc(uint64_t bytes, void *stream, bool shared, const MirageDiag *diag, void **out_pointer) {
  CuDevicePointer pointer = 0;
  uint64_t wanted = bytes ? bytes : 1;
  if (shared)
    NEED(memory_alloc_managed, "cuMemAllocManaged");
  DRIVER_CALL(diag, shared ? alloc_locked(wanted, &pointer) : alloc_any(wanted, stream, &pointer),
              "cannot allocate %llu bytes of device memory", (unsigned long long)bytes);
  *out_pointer = (void *)(uintptr_t)pointer;
  return MIRAGE_OK;
}

// Keeps shared memory for the next one, where nothing that was enqueued can still use it; else takes it out of the list.
static bool keep_shared(CuDevicePointer pointer, bool idle) {
  bool kept = false;
  pthread_mutex_lock(&lock);
  for (Shared **at = &shared_blocks; *at; at = &(*at)->next) {
    Shared *block = *at;
    if (block->pointer != pointer)
      continue;
    kept = idle;
    block->used = false;
    if (!idle) {
      *at = block->next;
      free(block);
    }
    break;
  }
  pthread_mutex_unlock(&lock);
  return kept;
}

// What did not come from the pool is refused by it.
static CuResult free_any(CuDevicePointer pointer, void *stream) {
  const MirageCuda *cuda = &device->cuda;
  if (stream && cuda->memory_free_async && cuda->memory_free_async(pointer, stream) == CU_SUCCESS)
    return CU_SUCCESS;
  return cuda->memory_free(pointer);
}

static MirageStatus free_memory(void *pointer, void *stream, const MirageDiag *diag) {
  CuDevicePointer address = (CuDevicePointer)(uintptr_t)pointer;
  if (pointer && !keep_shared(address, !stream))
    DRIVER_CALL(diag, free_any(address, stream), "cannot free device memory at %p", pointer);
  return MIRAGE_OK;
}

static MirageStatus copy(void *to, const void *from, uint64_t bytes, void *stream, const MirageDiag *diag) {
  NEED(copy_any, "cuMemcpyAsync");
  DRIVER_CALL(diag,
              device->cuda.copy_any((CuDevicePointer)(uintptr_t)to, (CuDevicePointer)(uintptr_t)from, bytes, stream),
              "cannot copy %llu bytes from %p to %p", (unsigned long long)bytes, from, to);
  return MIRAGE_OK;
}

static MirageStatus fill(void *to, uint32_t value, unsigned width, uint64_t count, void *stream,
                         const MirageDiag *diag) {
  NEED(memory_set16, "cuMemsetD16Async");
  NEED(memory_set32, "cuMemsetD32Async");
  CuDevicePointer pointer = (CuDevicePointer)(uintptr_t)to;
  DRIVER_CALL(diag,
              width == 2 ? device->cuda.memory_set16(pointer, (unsigned short)value, count, stream)
                         : device->cuda.memory_set32(pointer, value, count, stream),
              "cannot fill %llu bytes of device memory at %p", (unsigned long long)(width * count), to);
  return MIRAGE_OK;
}

static MirageStatus host_register(void *pointer, uint64_t bytes, const MirageDiag *diag) {
  NEED(host_register, "cuMemHostRegister");
  DRIVER_CALL(diag, device->cuda.host_register(pointer, bytes, 0), "cannot register %llu bytes at %p",
              (unsigned long long)bytes, pointer);
  return MIRAGE_OK;
}

static MirageStatus host_unregister(void *pointer, const MirageDiag *diag) {
  NEED(host_unregister, "cuMemHostUnregister");
  DRIVER_CALL(diag, device->cuda.host_unregister(pointer), "cannot unregister memory at %p", pointer);
  return MIRAGE_OK;
}

static MirageStatus encode_map(const MirageTensorMap *map, void *tensor, void *out_bytes, const MirageDiag *diag) {
  CuTensorMap encoded;
  MIRAGE_TRY(mirage__tensor_maps_check(device, "mirageEncodeTensorMap", 1, 1, map, diag));
  DRIVER_CALL(diag, mirage__tensor_map_encode(device, map, (uintptr_t)tensor, &encoded),
              "launch: cannot make a tensor map for address %p", tensor);
  memcpy(out_bytes, &encoded, sizeof encoded);
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- opening

static const MirageBackend DRIVER = {
    .module_load = module_load,
    .module_unload = module_unload,
    .function = get_function,
    .launch = launch,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .alloc = alloc,
    .free = free_memory,
    .copy = copy,
    .fill = fill,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .encode_map = encode_map,
};

// By default the pool gives back at each wait what is free, and the next call would have to map it again.
static void keep_pool(void) {
  const MirageCuda *cuda = &device->cuda;
  void *pool;
  uint64_t all = UINT64_MAX;
  if (cuda->default_pool && cuda->pool_set && cuda->default_pool(&pool, device->handle) == CU_SUCCESS)
    cuda->pool_set(pool, CU_POOL_RELEASE_THRESHOLD, &all); // where it fails, it is slower
}

MirageStatus mirage__driver_open(int32_t ordinal, const MirageDiag *diag, const MirageBackend **out_backend) {
  MIRAGE_TRY(mirage_device_create(ordinal, diag, &device));
  keep_pool();
  *out_backend = &DRIVER;
  return MIRAGE_OK;
}
