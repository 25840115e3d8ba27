// module.c - a loaded PTX module: just-in-time compilation, its kernels, and launching one.
//
// A device loads the same PTX once: modules are counted, and found again by a hash of their text, then the text itself.
// Cubins, whose length the driver alone knows, are loaded each time.
//
// The driver answers a launch it cannot do with INVALID_VALUE and nothing else, so what can be compared beforehand is:
// threads, shared memory, grid, cluster and number of parameters, each with both values in the sentence.
#include "runtime_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Kernel {
  char *name;
  CuFunction function;
  int max_threads, static_shared_bytes, local_bytes;
  int dynamic_shared_limit; // raised so far; the driver's default is 48 KiB less the static part
  uint32_t num_parameters;  // UINT32_MAX where the driver cannot say
} Kernel;

struct MirageModule {
  MirageDevice *device;
  CuModule handle;
  MirageModule *next; // of the device's list, whose lock covers it and the next three
  uint32_t users;
  uint64_t hash;
  char *text;           // NULL: a cubin, not in the list
  pthread_mutex_t lock; // of the kernels
  Kernel *kernels;      // those looked up so far
  uint32_t num_kernels;
};

enum { LOG_BYTES = 8192, DEFAULT_SHARED_BYTES = 48 * 1024, PARAMETER_BYTES = 4096 }; // what every device takes

MirageDevice *mirage__module_device(const MirageModule *module) { return module->device; }

// ------------------------------------------------------------------------------------------------------------- loading

// The compiler's log without the line breaks at its end; "" when it said nothing.
static void trim(char *log) {
  size_t length = strlen(log);
  while (length > 0 && (log[length - 1] == '\n' || log[length - 1] == ' '))
    log[--length] = '\0';
}

static MirageStatus load_image(MirageModule *module, const void *image, char *log, const MirageDiag *diag) {
  int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
  CuResult result = module->device->cuda.module_load(&module->handle, image, 2, options, values);
  if (result == CU_SUCCESS)
    return MIRAGE_OK;
  trim(log);
  const MirageDeviceInfo *info = &module->device->info;
  MirageStatus status = mirage__cuda_check(diag, result, "module: %s (compute %d.%d, driver %d.%d) refuses the kernels",
                                           info->name, info->compute_major, info->compute_minor,
                                           info->driver_version / 1000, info->driver_version % 1000 / 10);
  if (*log)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_NOTE, NULL, "module: the driver's compiler says: %s", log);
  return status;
}

static char *copy_string(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = malloc(bytes);
  return copy ? memcpy(copy, text, bytes) : NULL;
}

static MirageModule *module_alloc(MirageDevice *device, const char *text) {
  MirageModule *module = calloc(1, sizeof *module);
  if (!module || pthread_mutex_init(&module->lock, NULL) != 0) {
    free(module);
    return NULL;
  }
  module->device = device;
  module->users = 1;
  module->text = text ? copy_string(text) : NULL;
  if (!text || module->text)
    return module;
  pthread_mutex_destroy(&module->lock);
  free(module);
  return NULL;
}

static void module_free(MirageModule *module) {
  if (!module)
    return;
  for (uint32_t i = 0; i < module->num_kernels; i++)
    free(module->kernels[i].name);
  free(module->kernels);
  free(module->text);
  pthread_mutex_destroy(&module->lock);
  free(module);
}

// A module of its own. `text` is the image where that is PTX.
static MirageStatus load(MirageDevice *device, const void *image, const char *text, const MirageDiag *diag,
                         MirageModule **out_module) {
  MirageModule *module = module_alloc(device, text);
  char *log = calloc(1, LOG_BYTES);
  MirageStatus status = module && log ? mirage__device_enter(device, diag)
                                      : mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "module: out of memory");
  if (status == MIRAGE_OK) {
    status = load_image(module, image, log, diag);
    mirage__device_leave(device);
  }
  free(log);
  if (status == MIRAGE_OK)
    *out_module = module;
  else
    module_free(module);
  return status;
}

// FNV-1a.
static uint64_t hash_text(const char *text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
  return hash;
}

static bool is_text(const void *image) {
  static const unsigned char ELF[] = {0x7f, 'E', 'L', 'F'}, FATBIN[] = {0x50, 0xed, 0x55, 0xba};
  const unsigned char *bytes = image; // compared one by one: text may be shorter
  bool elf = true, fatbin = true;
  for (int i = 0; i < 4 && (elf || fatbin); i++)
    elf = elf && bytes[i] == ELF[i], fatbin = fatbin && bytes[i] == FATBIN[i];
  return !elf && !fatbin;
}

// The device's list is locked.
static MirageModule *find_loaded(const MirageDevice *device, uint64_t hash, const char *text) {
  for (MirageModule *module = device->modules; module; module = module->next)
    if (module->hash == hash && strcmp(module->text, text) == 0)
      return module;
  return NULL;
}

MirageStatus mirage_module_load(MirageDevice *device, const void *image, const MirageDiag *diag,
                                MirageModule **out_module) {
  *out_module = NULL;
  if (!is_text(image))
    return load(device, image, NULL, diag, out_module);
  uint64_t hash = hash_text(image);
  pthread_mutex_lock(&device->lock); // held while loading: who wants the same waits instead of compiling it again
  MirageModule *module = find_loaded(device, hash, image);
  MirageStatus status = MIRAGE_OK;
  if (module) {
    module->users++;
  } else {
    status = load(device, image, image, diag, &module);
    if (status == MIRAGE_OK) {
      module->hash = hash;
      module->next = device->modules;
      device->modules = module;
    }
  }
  pthread_mutex_unlock(&device->lock);
  if (status == MIRAGE_OK)
    *out_module = module;
  return status;
}

// Whether that was the last user; the module is out of the list then.
static bool release(MirageModule *module) {
  if (!module->text)
    return true;
  pthread_mutex_lock(&module->device->lock);
  bool last = --module->users == 0;
  MirageModule **at = &module->device->modules;
  while (last && *at && *at != module)
    at = &(*at)->next;
  if (last && *at)
    *at = module->next;
  pthread_mutex_unlock(&module->device->lock);
  return last;
}

void mirage_module_unload(MirageModule *module) {
  if (!module || !release(module))
    return;
  if (mirage__device_enter(module->device, NULL) == MIRAGE_OK) {
    module->device->cuda.module_unload(module->handle);
    mirage__device_leave(module->device);
  }
  module_free(module);
}

// ------------------------------------------------------------------------------------------------------------- kernels

static uint32_t count_parameters(const MirageCuda *cuda, CuFunction function) {
  if (!cuda->function_parameter)
    return UINT32_MAX;
  uint32_t count = 0;
  size_t offset, bytes;
  while (count <= MIRAGE_MAX_KERNEL_POINTERS &&
         cuda->function_parameter(function, count, &offset, &bytes) == CU_SUCCESS)
    count++;
  return count;
}

static MirageStatus describe_kernel(MirageModule *module, Kernel *kernel, const MirageDiag *diag) {
  const MirageCuda *cuda = &module->device->cuda;
  MIRAGE_TRY(mirage__cuda_check(diag, cuda->module_function(&kernel->function, module->handle, kernel->name),
                                "launch: no kernel %s in the module", kernel->name));
  CuResult result = cuda->function_get(&kernel->max_threads, CU_FUNCTION_MAX_THREADS, kernel->function);
  if (result == CU_SUCCESS)
    result = cuda->function_get(&kernel->static_shared_bytes, CU_FUNCTION_STATIC_SHARED_BYTES, kernel->function);
  if (result == CU_SUCCESS)
    result = cuda->function_get(&kernel->local_bytes, CU_FUNCTION_LOCAL_BYTES, kernel->function);
  MIRAGE_TRY(mirage__cuda_check(diag, result, "launch: cannot read the limits of kernel %s", kernel->name));
  kernel->dynamic_shared_limit = DEFAULT_SHARED_BYTES - kernel->static_shared_bytes;
  kernel->num_parameters = count_parameters(cuda, kernel->function);
  return MIRAGE_OK;
}

// The pointer is valid until the next lookup; the module is locked.
static MirageStatus find_kernel(MirageModule *module, const char *name, const MirageDiag *diag, Kernel **out_kernel) {
  for (uint32_t i = 0; i < module->num_kernels; i++)
    if (strcmp(module->kernels[i].name, name) == 0) {
      *out_kernel = &module->kernels[i];
      return MIRAGE_OK;
    }
  Kernel *grown = realloc(module->kernels, (module->num_kernels + 1) * sizeof *grown);
  if (!grown)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "launch: out of memory");
  module->kernels = grown;
  Kernel kernel = {.name = copy_string(name)};
  if (!kernel.name)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "launch: out of memory");
  MirageStatus status = describe_kernel(module, &kernel, diag);
  if (status != MIRAGE_OK) {
    free(kernel.name);
    return status;
  }
  grown[module->num_kernels] = kernel;
  *out_kernel = &grown[module->num_kernels++];
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------------------------- launching

static MirageStatus check_grid(const MirageLaunchConfig *config, const MirageDiag *diag) {
  static const int64_t max_grid[3] = {INT32_MAX, 65535, 65535};
  for (int i = 0; i < 3; i++) {
    if (config->grid[i] < 1 || config->grid[i] > max_grid[i])
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "launch: %s: grid %c is %lld, not in 1 .. %lld",
                              config->kernel, 'x' + i, (long long)config->grid[i], (long long)max_grid[i]);
    if (config->cluster[i] < 1 || config->grid[i] % config->cluster[i] != 0)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                              "launch: %s: cluster %c is %lld, which does not divide grid %lld", config->kernel,
                              'x' + i, (long long)config->cluster[i], (long long)config->grid[i]);
  }
  return MIRAGE_OK;
}

static MirageStatus check_limits(const MirageDevice *device, const Kernel *kernel, const MirageLaunchConfig *config,
                                 uint32_t num_pointers, const MirageDiag *diag) {
  if (config->threads < 1 || config->threads > kernel->max_threads)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "launch: %s: %d threads per block, and the compiled kernel takes 1 .. %d (as it was "
                            "declared, or as its registers allow)",
                            config->kernel, config->threads, kernel->max_threads);
  int32_t room = device->info.shared_bytes_per_block - kernel->static_shared_bytes;
  if (config->shared_bytes < 0 || config->shared_bytes > room)
    return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT,
                            "launch: %s: %d bytes of dynamic shared memory, and %s has room for %d", config->kernel,
                            config->shared_bytes, device->info.name, room);
  MIRAGE_TRY(mirage__tensor_maps_check(device, config->kernel, num_pointers, config->num_maps, config->maps, diag));
  if (num_pointers == MIRAGE_UNKNOWN_PARAMETERS)
    return MIRAGE_OK;
  uint64_t bytes = 8 * (uint64_t)num_pointers + MIRAGE_TENSOR_MAP_BYTES * (uint64_t)config->num_maps;
  if (bytes > PARAMETER_BYTES)
    return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT,
                            "launch: %s: %u pointers and %u tensor maps are %llu bytes of parameters, at most %d are "
                            "possible",
                            config->kernel, num_pointers, config->num_maps, (unsigned long long)bytes, PARAMETER_BYTES);
  if (kernel->num_parameters != UINT32_MAX && kernel->num_parameters != num_pointers + config->num_maps)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "launch: %s: the kernel takes %u parameters, got %u pointers and %u tensor maps",
                            config->kernel, kernel->num_parameters, num_pointers, config->num_maps);
  return MIRAGE_OK;
}

// Above 48 KiB the driver wants to be asked once per kernel; above 8 blocks in a cluster too.
static MirageStatus raise_limits(MirageDevice *device, Kernel *kernel, const MirageLaunchConfig *config,
                                 int64_t cluster_blocks, const MirageDiag *diag) {
  const MirageCuda *cuda = &device->cuda;
  if (config->shared_bytes > kernel->dynamic_shared_limit) {
    MIRAGE_TRY(mirage__cuda_check(
        diag, cuda->function_set(kernel->function, CU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES, config->shared_bytes),
        "launch: %s: cannot have %d bytes of dynamic shared memory", config->kernel, config->shared_bytes));
    kernel->dynamic_shared_limit = config->shared_bytes;
  }
  if (cluster_blocks > 8)
    return mirage__cuda_check(diag, cuda->function_set(kernel->function, CU_FUNCTION_NON_PORTABLE_CLUSTER, 1),
                              "launch: %s: cannot have a cluster of %lld blocks", config->kernel,
                              (long long)cluster_blocks);
  return MIRAGE_OK;
}

static int64_t blocks_of(const int64_t *cluster) { return cluster[0] * cluster[1] * cluster[2]; }

// How many blocks are on the device at once.
static MirageStatus count_room(const MirageDevice *device, const MirageLaunchReady *ready, const char *kernel,
                               int64_t cluster_blocks, const MirageDiag *diag, int64_t *out_room) {
  int count = 0;
  CuLaunchConfig launch = mirage__launch_config(ready, device->stream);
  if (cluster_blocks > 1)
    MIRAGE_TRY(mirage__cuda_check(diag, device->cuda.cluster_occupancy(&count, ready->function, &launch),
                                  "launch: %s: cannot ask how many clusters fit on the device", kernel));
  else
    MIRAGE_TRY(mirage__cuda_check(
        diag, device->cuda.occupancy(&count, ready->function, (int)ready->threads, ready->shared_bytes),
        "launch: %s: cannot ask how many blocks fit on the device", kernel));
  *out_room = count * (cluster_blocks > 1 ? cluster_blocks : device->info.num_sms);
  return MIRAGE_OK;
}

// Blocks that wait for each other hang where they are not all on the device at once: a smaller one than the kernel was
// compiled for, or one that shares its multiprocessors.
static MirageStatus check_residence(const MirageDevice *device, const MirageLaunchReady *ready, const char *kernel,
                                    int64_t cluster_blocks, const MirageDiag *diag) {
  int64_t blocks = (int64_t)ready->grid[0] * ready->grid[1] * ready->grid[2], room;
  MIRAGE_TRY(count_room(device, ready, kernel, cluster_blocks, diag, &room));
  if (blocks <= room)
    return MIRAGE_OK;
  return mirage_diag_fail(
      diag, NULL, MIRAGE_LIMIT,
      "launch: %s: its %lld blocks wait for each other, and %s holds %lld at a time: compile for this "
      "device",
      kernel, (long long)blocks, device->info.name, (long long)room);
}

// Whether a launch may be captured in a graph that starts before the one in front of it ends: drivers of CUDA 12.3 know such edges.
static bool may_start_early(const MirageDeviceInfo *device) {
  return device->driver_version >= 12030 && device->compute_major >= 9;
}

static MirageLaunchReady describe_launch(const Kernel *kernel, const MirageLaunchConfig *config,
                                         const MirageDeviceInfo *device, const int64_t *cluster) {
  MirageLaunchReady ready = {.function = kernel->function,
                             .threads = (unsigned)config->threads,
                             .shared_bytes = (unsigned)config->shared_bytes,
                             .local_bytes = (unsigned)kernel->local_bytes};
  for (int i = 0; i < 3; i++)
    ready.grid[i] = (unsigned)config->grid[i];
  if (blocks_of(cluster) > 1) {
    CuLaunchAttribute *attribute = &ready.attributes[ready.num_attributes++];
    attribute->id = CU_LAUNCH_CLUSTER_DIMENSION;
    attribute->value.cluster.x = (unsigned)cluster[0];
    attribute->value.cluster.y = (unsigned)cluster[1];
    attribute->value.cluster.z = (unsigned)cluster[2];
  }
  if (config->dependent_launch && may_start_early(device)) {
    CuLaunchAttribute *attribute = &ready.attributes[ready.num_attributes++];
    attribute->id = CU_LAUNCH_PROGRAMMATIC_SERIALIZATION;
    attribute->value.programmatic_serialization = 1;
  }
  return ready;
}

// Pairs are a matter of speed: blocks that wait for each other stand alone where not all pairs find room.
static MirageStatus describe_in_pairs(const MirageDevice *device, const Kernel *kernel,
                                      const MirageLaunchConfig *config, const MirageDiag *diag,
                                      MirageLaunchReady *ready) {
  int64_t room = 0, blocks = config->grid[0] * config->grid[1] * config->grid[2];
  MirageLaunchReady paired = describe_launch(kernel, config, &device->info, (const int64_t[]){2, 1, 1});
  if (config->blocks_meet)
    MIRAGE_TRY(count_room(device, &paired, config->kernel, 2, diag, &room));
  if (!config->blocks_meet || blocks <= room)
    *ready = paired;
  return MIRAGE_OK;
}

MirageStatus mirage__launch_prepare(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                    const MirageDiag *diag, MirageLaunchReady *out_ready) {
  static const int64_t alone[3] = {1, 1, 1};
  Kernel *kernel = NULL;
  bool clusters = module->device->info.compute_major >= 9; // else the kernel, which was compiled for it, does without
  const int64_t *cluster = clusters ? config->cluster : alone;
  MIRAGE_TRY(check_grid(config, diag));
  pthread_mutex_lock(&module->lock);
  MirageStatus status = find_kernel(module, config->kernel, diag, &kernel);
  if (status == MIRAGE_OK)
    status = check_limits(module->device, kernel, config, num_pointers, diag);
  if (status == MIRAGE_OK)
    status = raise_limits(module->device, kernel, config, blocks_of(cluster), diag);
  if (status == MIRAGE_OK)
    *out_ready = describe_launch(kernel, config, &module->device->info, cluster);
  if (status == MIRAGE_OK && config->in_pairs && clusters && blocks_of(cluster) == 1 && config->grid[0] % 2 == 0)
    status = describe_in_pairs(module->device, kernel, config, diag, out_ready);
  pthread_mutex_unlock(&module->lock);
  if (status == MIRAGE_OK && config->blocks_meet)
    status = check_residence(module->device, out_ready, config->kernel, blocks_of(cluster), diag);
  return status;
}

CuLaunchConfig mirage__launch_config(const MirageLaunchReady *ready, CuStream stream) {
  return (CuLaunchConfig){
      .grid = {ready->grid[0], ready->grid[1], ready->grid[2]},
      .block = {ready->threads, 1, 1},
      .shared_bytes = ready->shared_bytes,
      .stream = stream,
      .attributes = (CuLaunchAttribute *)ready->attributes, // the driver reads them only
      .num_attributes = ready->num_attributes,
  };
}

// Enqueues what is prepared, once.
static CuResult launch_once(const MirageDevice *device, const MirageLaunchReady *ready,
                            const MirageLaunchConfig *config, uint32_t num_pointers, const uint64_t *pointers,
                            CuStream stream) {
  void *parameters[MIRAGE_MAX_KERNEL_POINTERS + MIRAGE_MAX_KERNEL_MAPS];
  CuTensorMap maps[MIRAGE_MAX_KERNEL_MAPS];
  for (uint32_t i = 0; i < num_pointers; i++)
    parameters[i] = (void *)&pointers[i];
  for (uint32_t i = 0; i < config->num_maps; i++) {
    parameters[num_pointers + i] = &maps[i];
    CuResult result = mirage__tensor_map_encode(device, &config->maps[i], pointers[config->maps[i].pointer], &maps[i]);
    if (result != CU_SUCCESS)
      return result;
  }
  CuLaunchConfig launch = mirage__launch_config(ready, stream);
  return device->cuda.launch(&launch, ready->function, parameters, NULL);
}

MirageStatus mirage_module_launch(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                  const uint64_t *pointers, void *stream, const MirageDiag *diag) {
  MirageDevice *device = module->device;
  MirageLaunchReady ready;
  MIRAGE_TRY(mirage__device_enter(device, diag));
  MirageStatus status = mirage__launch_prepare(module, config, num_pointers, diag, &ready);
  if (status == MIRAGE_OK) {
    CuResult result =
        launch_once(device, &ready, config, num_pointers, pointers, stream ? (CuStream)stream : device->stream);
    status = mirage__cuda_check(diag, result, "launch: %s failed to start", config->kernel);
  }
  mirage__device_leave(device);
  return status;
}
