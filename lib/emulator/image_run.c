// image_run.c - one kernel of an image, launched as a GPU's would be: shape, and addresses of parameters.
//
// A launch that does not fit the kernel is a fault: another number of threads, a parameter too few, a tensor map that was made
// for another tensor, memory that ends too early, a result that lies over an operand.
#include "image.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------------------------------------- tensor maps

typedef struct EncodedMap {
  char magic[8];
  const void *address;
  uint64_t hash; // of the map but for its `pointer`, which the encoder does not know
} EncodedMap;

static const char MAGIC[8] = "MIRAGE1";

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3; }

static uint64_t hash_map(const MirageTensorMap *map) {
  uint64_t hash = mix(mix(mix(0xcbf29ce484222325, map->dtype), map->rank), (uint64_t)map->swizzle);
  for (uint32_t i = 0; i < map->rank; i++)
    hash = mix(mix(mix(hash, (uint64_t)map->extents[i]), (uint64_t)map->strides[i]), (uint64_t)map->box[i]);
  return hash;
}

void mirage_emulated_map_encode(const MirageTensorMap *map, const void *address, void *out_bytes) {
  EncodedMap encoded = {.address = address, .hash = hash_map(map)};
  memcpy(encoded.magic, MAGIC, sizeof MAGIC);
  memset(out_bytes, 0, MIRAGE_TENSOR_MAP_BYTES);
  memcpy(out_bytes, &encoded, sizeof encoded);
}

// ------------------------------------------------------------------------------------------------------------- checking

typedef struct Call {
  const MirageEmulatedLaunch *launch;
  const ImageKernel *kernel;
  const MirageDiag *diag;
  uint32_t num_pointers;
} Call;

static MirageStatus check_shape(const Call *call) {
  const ImageKernel *kernel = call->kernel;
  const MirageEmulatedLaunch *launch = call->launch;
  if (launch->threads != kernel->threads)
    return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT, "launch: %s: %lld threads per block, the kernel takes %lld",
                            kernel->name, (long long)launch->threads, (long long)kernel->threads);
  if (launch->shared_bytes < kernel->shared_bytes)
    return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT,
                            "launch: %s: %lld bytes of dynamic shared memory, the kernel needs %lld", kernel->name,
                            (long long)launch->shared_bytes, (long long)kernel->shared_bytes);
  for (int i = 0; i < 3; i++)
    if (launch->grid[i] < 1 || launch->cluster[i] < 1 || launch->grid[i] % launch->cluster[i] != 0)
      return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT, "launch: %s: grid %c is %lld in clusters of %lld",
                              kernel->name, 'x' + i, (long long)launch->grid[i], (long long)launch->cluster[i]);
  if (launch->num_parameters != UINT64_MAX && launch->num_parameters != call->num_pointers + kernel->num_maps)
    return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT, "launch: %s: the kernel takes %u parameters, got %llu",
                            kernel->name, call->num_pointers + kernel->num_maps,
                            (unsigned long long)launch->num_parameters);
  return MIRAGE_OK;
}

static MirageStatus check_memory(const Call *call, const Buffer *buffer) {
  enum { ALIGNMENT = 16 };
  uint64_t room;
  if ((uintptr_t)buffer->data % ALIGNMENT || !buffer->data)
    return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT,
                            "launch: %s: %s %u at address %p: tensors start on %d bytes", call->kernel->name,
                            buffer->kind, buffer->number, (void *)buffer->data, ALIGNMENT);
  if (call->launch->room && call->launch->room(call->launch->user, buffer->data, &room) && room < buffer->bytes)
    return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT,
                            "launch: %s: %s %u has %llu bytes, and the memory that it lies in ends after %llu",
                            call->kernel->name, buffer->kind, buffer->number, (unsigned long long)buffer->bytes,
                            (unsigned long long)room);
  return MIRAGE_OK;
}

static MirageStatus check_overlap(const Call *call, const Buffer *buffers, uint32_t written) {
  const Buffer *a = &buffers[written];
  for (uint32_t i = 0; i < call->num_pointers; i++) {
    const Buffer *b = &buffers[i];
    if (i != written && a->data < b->data + b->bytes && b->data < a->data + a->bytes)
      return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT, "launch: %s: %s %u lies over %s %u", call->kernel->name,
                              a->kind, a->number, b->kind, b->number);
  }
  return MIRAGE_OK;
}

static MirageStatus check_map(const Call *call, uint32_t index, const Buffer *buffers) {
  const MirageTensorMap *map = &call->kernel->maps[index];
  EncodedMap encoded;
  memcpy(&encoded, call->launch->parameters[call->num_pointers + index], sizeof encoded);
  if (memcmp(encoded.magic, MAGIC, sizeof MAGIC) == 0 && encoded.hash == hash_map(map) &&
      encoded.address == buffers[map->pointer].data)
    return MIRAGE_OK;
  return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT, "launch: %s: tensor map %u is not one of %s %u",
                          call->kernel->name, index, buffers[map->pointer].kind, buffers[map->pointer].number);
}

// -------------------------------------------------------------------------------------------------------------- running

static MirageStatus begin_result(const Call *call, Buffer *buffer) {
  buffer->writer = calloc(buffer->bytes + 1, sizeof *buffer->writer);
  if (!buffer->writer)
    return mirage_diag_fail(call->diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory");
  memset(buffer->data, 0xff, buffer->bytes); // NaN where nothing is written
  return MIRAGE_OK;
}

// Counters are zero before a launch; the rest is as the last one left it.
static MirageStatus begin_workspace(const Call *call, const Buffer *buffer) {
  for (uint64_t i = 0; i < buffer->bytes && i < MIRAGE_WORKSPACE_COUNTERS; i++)
    if (buffer->data[i])
      return mirage_diag_fail(call->diag, NULL, MIRAGE_FAULT, "launch: %s: byte %llu of the workspace is not zero",
                              call->kernel->name, (unsigned long long)i);
  return MIRAGE_OK;
}

static Buffer buffer_of(const Call *call, uint32_t index) {
  const ImageKernel *kernel = call->kernel;
  uint32_t tensors = kernel->num_operands + kernel->num_results;
  bool operand = index < kernel->num_operands;
  Buffer buffer = {.kind = operand           ? "operand"
                           : index < tensors ? "result"
                                             : "workspace",
                   .number = operand           ? index
                             : index < tensors ? index - kernel->num_operands
                                               : 0,
                   .bytes = index < tensors ? kernel->bytes[index] : (uint64_t)kernel->workspace_bytes,
                   .writable = !operand};
  memcpy(&buffer.data, call->launch->parameters[index], sizeof buffer.data);
  return buffer;
}

static MirageStatus begin(const Call *call, Buffer *buffers) {
  uint32_t tensors = call->kernel->num_operands + call->kernel->num_results;
  for (uint32_t i = 0; i < call->num_pointers; i++) {
    buffers[i] = buffer_of(call, i);
    MIRAGE_TRY(check_memory(call, &buffers[i]));
  }
  for (uint32_t i = call->kernel->num_operands; i < call->num_pointers; i++)
    MIRAGE_TRY(check_overlap(call, buffers, i));
  for (uint32_t i = 0; i < call->kernel->num_maps; i++)
    MIRAGE_TRY(check_map(call, i, buffers));
  for (uint32_t i = call->kernel->num_operands; i < call->num_pointers; i++)
    MIRAGE_TRY(i < tensors ? begin_result(call, &buffers[i]) : begin_workspace(call, &buffers[i]));
  return MIRAGE_OK;
}

static MirageStatus run(const MirageEmulatedModule *module, const Call *call, Buffer *buffers) {
  Launch launch = {.num_operators = module->num_operators,
                   .operators = module->operators,
                   .name = call->kernel->name,
                   .entry = call->kernel->entry,
                   .num_buffers = call->num_pointers,
                   .buffers = buffers,
                   .num_maps = call->kernel->num_maps,
                   .maps = call->kernel->maps,
                   .threads = (uint32_t)call->kernel->threads,
                   .shared_bytes = (uint32_t)call->launch->shared_bytes,
                   .together = call->kernel->meet,
                   .copies = call->launch->copies,
                   .diag = call->diag};
  memcpy(launch.grid, call->launch->grid, sizeof launch.grid);
  memcpy(launch.cluster, call->launch->cluster, sizeof launch.cluster);
  MIRAGE_TRY(mirage__machine_run(&launch));
  const ImageKernel *kernel = call->kernel;
  return mirage__check_written(&launch, kernel->op <= module->num_operators ? module->operators[kernel->op].loc : NULL);
}

static const ImageKernel *find(const MirageEmulatedModule *module, const char *name) {
  for (uint32_t i = 0; i < module->num_kernels; i++)
    if (strcmp(module->kernels[i].name, name) == 0)
      return &module->kernels[i];
  return NULL;
}

bool mirage_emulated_module_has(const MirageEmulatedModule *module, const char *kernel) {
  return find(module, kernel) != NULL;
}

MirageStatus mirage_emulated_module_launch(MirageEmulatedModule *module, const MirageEmulatedLaunch *launch,
                                           const MirageDiag *diag) {
  Call call = {.launch = launch, .kernel = find(module, launch->kernel), .diag = diag};
  if (!call.kernel)
    return mirage_diag_fail(diag, NULL, MIRAGE_FAULT, "launch: no kernel %s in the module", launch->kernel);
  call.num_pointers = call.kernel->num_operands + call.kernel->num_results + (call.kernel->workspace_bytes > 0);
  MIRAGE_TRY(check_shape(&call));
  Buffer *buffers = calloc((size_t)call.num_pointers + 1, sizeof *buffers);
  if (!buffers)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory");
  MirageStatus status = begin(&call, buffers);
  if (status == MIRAGE_OK)
    status = run(module, &call, buffers);
  for (uint32_t i = 0; i < call.num_pointers; i++)
    free(buffers[i].writer);
  free(buffers);
  return status;
}
