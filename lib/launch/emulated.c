// emulated.c - the emulated GPU as a backend: device memory is host memory, streams are no more than names.
//
// Each call is done when it returns, so what a stream orders is in order anyhow. Allocations are remembered, so that a kernel
// whose tensor is larger than the memory it was given is caught before it writes; memory that is not ours is taken as it is.
#include "backend.h"
#include "mirage/emulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Module Module;
typedef struct Function {
  Module *module;
  char *name;
  struct Function *next;
} Function;
struct Module {
  MirageEmulatedModule *code;
  Function *functions;
};

typedef struct Block {
  char *begin;
  uint64_t bytes;
  struct Block *next;
} Block;

enum { ALIGNMENT = 256 };
static Block *blocks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the blocks, and of functions; held while a kernel runs
static char some_stream, some_event;

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory");
}

// -------------------------------------------------------------------------------------------------------------- modules

static MirageStatus module_load(const void *image, bool text, const MirageDiag *diag, void **out_module) {
  size_t bytes = 0;
  const void *code = text ? mirage__annotation_image(image, &bytes) : NULL;
  if (!code)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_DEVICE,
                            "the module holds nothing that the emulated GPU can run: convert it with "
                            "convert-mirage-to-gpu=emulation, or run it on a GPU");
  Module *module = calloc(1, sizeof *module);
  if (!module)
    return no_memory(diag);
  MirageStatus status = mirage_emulated_module_create(code, bytes, diag, &module->code);
  if (status == MIRAGE_OK)
    *out_module = module;
  else
    free(module);
  return status;
}

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
  mirage_emulated_module_destroy(module->code);
  free(module);
  return MIRAGE_OK;
}

static Function *add_function(Module *module, const char *name) {
  Function *function = calloc(1, sizeof *function);
  char *copy = calloc(1, strlen(name) + 1);
  if (!function || !copy) {
    free(function);
    free(copy);
    return NULL;
  }
  memcpy(copy, name, strlen(name));
  *function = (Function){module, copy, module->functions};
  return module->functions = function;
}

static MirageStatus get_function(void *handle, const char *name, const MirageDiag *diag, void **out_function) {
  Module *module = handle;
  if (!mirage_emulated_module_has(module->code, name))
    return mirage_diag_fail(diag, NULL, MIRAGE_FAULT, "launch: no kernel %s in the module", name);
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

// The lock is held.
static bool find_room(void *user, const void *address, uint64_t *out_bytes) {
  const char *at = address;
  (void)user;
  for (const Block *block = blocks; block; block = block->next)
    if (at >= block->begin && at < block->begin + block->bytes) {
      *out_bytes = (uint64_t)(block->begin + block->bytes - at);
      return true;
    }
  return false;
}

static MirageStatus launch(void *handle, const MirageRawLaunch *raw, void *stream, const MirageDiag *diag) {
  const Function *function = handle;
  const char *copies = getenv("MIRAGE_EMULATOR_COPIES");
  MirageEmulatedLaunch launch = {.kernel = function->name,
                                 .threads = raw->block[0] * raw->block[1] * raw->block[2],
                                 .shared_bytes = raw->shared_bytes,
                                 .parameters = raw->parameters,
                                 .num_parameters = raw->num_parameters,
                                 .copies =
                                     copies && strcmp(copies, "early") == 0 ? MIRAGE_COPIES_EARLY : MIRAGE_COPIES_LATE,
                                 .room = find_room};
  (void)stream;
  memcpy(launch.grid, raw->grid, sizeof launch.grid);
  memcpy(launch.cluster, raw->cluster, sizeof launch.cluster);
  pthread_mutex_lock(&lock);
  MirageStatus status = mirage_emulated_module_launch(function->module->code, &launch, diag);
  pthread_mutex_unlock(&lock);
  return status;
}

// --------------------------------------------------------------------------------------------------- streams and events

static MirageStatus stream_create(const MirageDiag *diag, void **out_stream) {
  (void)diag;
  *out_stream = &some_stream;
  return MIRAGE_OK;
}

static MirageStatus event_create(const MirageDiag *diag, void **out_event) {
  (void)diag;
  *out_event = &some_event;
  return MIRAGE_OK;
}

static MirageStatus nothing(void *handle, const MirageDiag *diag) {
  (void)handle, (void)diag;
  return MIRAGE_OK;
}

static MirageStatus nothing_of_two(void *a, void *b, const MirageDiag *diag) {
  (void)a, (void)b, (void)diag;
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------------- memory

// New memory holds NaN, so that who reads it before it is written sees that.
static MirageStatus alloc(uint64_t bytes, void *stream, bool shared, const MirageDiag *diag, void **out_pointer) {
  size_t size = bytes < SIZE_MAX - ALIGNMENT ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : SIZE_MAX;
  Block *block = calloc(1, sizeof *block);
  char *begin = size < SIZE_MAX ? aligned_alloc(ALIGNMENT, size + ALIGNMENT) : NULL;
  (void)stream, (void)shared;
  if (!block || !begin) {
    free(block);
    free(begin);
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory for %llu bytes",
                            (unsigned long long)bytes);
  }
  memset(begin, 0xff, size);
  pthread_mutex_lock(&lock);
  *block = (Block){begin, bytes, blocks};
  blocks = block;
  pthread_mutex_unlock(&lock);
  *out_pointer = begin;
  return MIRAGE_OK;
}

static MirageStatus free_block(void *pointer, void *stream, const MirageDiag *diag) {
  (void)stream;
  if (!pointer)
    return MIRAGE_OK;
  pthread_mutex_lock(&lock);
  Block **at = &blocks;
  while (*at && (*at)->begin != pointer)
    at = &(*at)->next;
  Block *block = *at;
  if (block)
    *at = block->next;
  pthread_mutex_unlock(&lock);
  if (!block)
    return mirage_diag_fail(diag, NULL, MIRAGE_FAULT, "free: %p was not allocated, or is free already", pointer);
  free(block->begin);
  free(block);
  return MIRAGE_OK;
}

static MirageStatus check_room(const char *what, const void *address, uint64_t bytes, const MirageDiag *diag) {
  uint64_t room;
  pthread_mutex_lock(&lock);
  bool known = find_room(NULL, address, &room);
  pthread_mutex_unlock(&lock);
  if (!known || bytes <= room)
    return MIRAGE_OK;
  return mirage_diag_fail(diag, NULL, MIRAGE_FAULT, "%s of %llu bytes, and the memory at %p ends after %llu", what,
                          (unsigned long long)bytes, address, (unsigned long long)room);
}

static MirageStatus copy(void *to, const void *from, uint64_t bytes, void *stream, const MirageDiag *diag) {
  (void)stream;
  MIRAGE_TRY(check_room("copy", to, bytes, diag));
  MIRAGE_TRY(check_room("copy", from, bytes, diag));
  memmove(to, from, bytes);
  return MIRAGE_OK;
}

static MirageStatus fill(void *to, uint32_t value, unsigned width, uint64_t count, void *stream,
                         const MirageDiag *diag) {
  (void)stream;
  MIRAGE_TRY(check_room("fill", to, width * count, diag));
  uint16_t half = (uint16_t)value;
  for (uint64_t i = 0; i < count; i++)
    memcpy((char *)to + i * width, width == 2 ? (const void *)&half : (const void *)&value, width);
  return MIRAGE_OK;
}

static MirageStatus host_register(void *pointer, uint64_t bytes, const MirageDiag *diag) {
  (void)pointer, (void)bytes, (void)diag;
  return MIRAGE_OK;
}

static MirageStatus encode_map(const MirageTensorMap *map, void *tensor, void *out_bytes, const MirageDiag *diag) {
  (void)diag;
  mirage_emulated_map_encode(map, tensor, out_bytes);
  return MIRAGE_OK;
}

static const MirageBackend EMULATED = {
    .module_load = module_load,
    .module_unload = module_unload,
    .function = get_function,
    .launch = launch,
    .stream_create = stream_create,
    .stream_destroy = nothing,
    .stream_synchronize = nothing,
    .stream_wait = nothing_of_two,
    .event_create = event_create,
    .event_destroy = nothing,
    .event_record = nothing_of_two,
    .event_synchronize = nothing,
    .alloc = alloc,
    .free = free_block,
    .copy = copy,
    .fill = fill,
    .host_register = host_register,
    .host_unregister = nothing,
    .encode_map = encode_map,
};

__attribute__((visibility("default"))) const MirageBackend *mirageEmulatorBackend(void) { return &EMULATED; }
