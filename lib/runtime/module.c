// module.c - a loaded PTX module: just-in-time compilation, its kernels, and launching one.
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
  int max_threads, static_shared_bytes;
  int dynamic_shared_limit; // raised so far; the driver's default is 48 KiB less the static part
  uint32_t num_parameters;  // UINT32_MAX where the driver cannot say
} Kernel;

struct MirageModule {
  MirageDevice *device;
  CuModule handle;
  Kernel *kernels; // those looked up so far
  uint32_t num_kernels;
};

enum { LOG_BYTES = 8192, DEFAULT_SHARED_BYTES = 48 * 1024 };

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

MirageStatus mirage_module_load(MirageDevice *device, const void *image, const MirageDiag *diag,
                                MirageModule **out_module) {
  *out_module = NULL;
  MirageModule *module = calloc(1, sizeof *module);
  char *log = calloc(1, LOG_BYTES);
  MirageStatus status = MIRAGE_NO_MEMORY;
  if (!module || !log) {
    mirage_diag_emit(diag, MIRAGE_SEVERITY_ERROR, NULL, "module: out of memory");
    goto done;
  }
  module->device = device;
  status = mirage__device_enter(device, diag);
  if (status != MIRAGE_OK)
    goto done;
  status = load_image(module, image, log, diag);
  mirage__device_leave(device);
  if (status == MIRAGE_OK) {
    *out_module = module;
    module = NULL;
  }
done:
  free(log);
  free(module);
  return status;
}

void mirage_module_unload(MirageModule *module) {
  if (!module)
    return;
  if (mirage__device_enter(module->device, NULL) == MIRAGE_OK) {
    module->device->cuda.module_unload(module->handle);
    mirage__device_leave(module->device);
  }
  for (uint32_t i = 0; i < module->num_kernels; ++i)
    free(module->kernels[i].name);
  free(module->kernels);
  free(module);
}

// ------------------------------------------------------------------------------------------------------------- kernels

static uint32_t count_parameters(const MirageCuda *cuda, CuFunction function) {
  if (!cuda->function_parameter)
    return UINT32_MAX;
  uint32_t count = 0;
  size_t offset, bytes;
  while (count <= MIRAGE_MAX_KERNEL_POINTERS &&
         cuda->function_parameter(function, count, &offset, &bytes) == CU_SUCCESS)
    ++count;
  return count;
}

static MirageStatus describe_kernel(MirageModule *module, Kernel *kernel, const MirageDiag *diag) {
  const MirageCuda *cuda = &module->device->cuda;
  MIRAGE_TRY(mirage__cuda_check(diag, cuda->module_function(&kernel->function, module->handle, kernel->name),
                                "launch: no kernel %s in the module", kernel->name));
  CuResult result = cuda->function_get(&kernel->max_threads, CU_FUNCTION_MAX_THREADS, kernel->function);
  if (result == CU_SUCCESS)
    result = cuda->function_get(&kernel->static_shared_bytes, CU_FUNCTION_STATIC_SHARED_BYTES, kernel->function);
  MIRAGE_TRY(mirage__cuda_check(diag, result, "launch: cannot read the limits of kernel %s", kernel->name));
  kernel->dynamic_shared_limit = DEFAULT_SHARED_BYTES - kernel->static_shared_bytes;
  kernel->num_parameters = count_parameters(cuda, kernel->function);
  return MIRAGE_OK;
}

static char *copy_string(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = malloc(bytes);
  return copy ? memcpy(copy, text, bytes) : NULL;
}

// The pointer is valid until the next lookup.
static MirageStatus find_kernel(MirageModule *module, const char *name, const MirageDiag *diag, Kernel **out_kernel) {
  for (uint32_t i = 0; i < module->num_kernels; ++i)
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
  for (int i = 0; i < 3; ++i) {
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
  if (num_pointers > MIRAGE_MAX_KERNEL_POINTERS)
    return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT, "launch: %s: %u parameters, at most %d are possible",
                            config->kernel, num_pointers, MIRAGE_MAX_KERNEL_POINTERS);
  if (kernel->num_parameters != UINT32_MAX && kernel->num_parameters != num_pointers)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "launch: %s: the kernel takes %u pointers, got %u",
                            config->kernel, kernel->num_parameters, num_pointers);
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

MirageStatus mirage__launch_prepare(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                    const MirageDiag *diag, MirageLaunchReady *out_ready) {
  Kernel *kernel = NULL;
  MIRAGE_TRY(check_grid(config, diag));
  MIRAGE_TRY(find_kernel(module, config->kernel, diag, &kernel));
  MIRAGE_TRY(check_limits(module->device, kernel, config, num_pointers, diag));
  int64_t cluster_blocks = config->cluster[0] * config->cluster[1] * config->cluster[2];
  MIRAGE_TRY(raise_limits(module->device, kernel, config, cluster_blocks, diag));

  MirageLaunchReady ready = {.function = kernel->function,
                             .threads = (unsigned)config->threads,
                             .shared_bytes = (unsigned)config->shared_bytes};
  for (int i = 0; i < 3; ++i)
    ready.grid[i] = (unsigned)config->grid[i];
  if (cluster_blocks > 1) {
    CuLaunchAttribute *attribute = &ready.attributes[ready.num_attributes++];
    attribute->id = CU_LAUNCH_CLUSTER_DIMENSION;
    attribute->value.cluster.x = (unsigned)config->cluster[0];
    attribute->value.cluster.y = (unsigned)config->cluster[1];
    attribute->value.cluster.z = (unsigned)config->cluster[2];
  }
  if (config->dependent_launch) {
    CuLaunchAttribute *attribute = &ready.attributes[ready.num_attributes++];
    attribute->id = CU_LAUNCH_PROGRAMMATIC_SERIALIZATION;
    attribute->value.programmatic_serialization = 1;
  }
  *out_ready = ready;
  return MIRAGE_OK;
}

CuResult mirage__launch_enqueue(const MirageDevice *device, const MirageLaunchReady *ready, void **parameters,
                                CuStream stream) {
  const CuLaunchConfig config = {
      .grid = {ready->grid[0], ready->grid[1], ready->grid[2]},
      .block = {ready->threads, 1, 1},
      .shared_bytes = ready->shared_bytes,
      .stream = stream,
      .attributes = (CuLaunchAttribute *)ready->attributes, // the driver reads them only
      .num_attributes = ready->num_attributes,
  };
  return device->cuda.launch(&config, ready->function, parameters, NULL);
}

MirageStatus mirage_module_launch(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                  const uint64_t *pointers, void *stream, const MirageDiag *diag) {
  MirageDevice *device = module->device;
  MirageLaunchReady ready;
  MIRAGE_TRY(mirage__device_enter(device, diag));
  MirageStatus status = mirage__launch_prepare(module, config, num_pointers, diag, &ready);
  if (status == MIRAGE_OK) {
    void *parameters[MIRAGE_MAX_KERNEL_POINTERS];
    for (uint32_t i = 0; i < num_pointers; ++i)
      parameters[i] = (void *)&pointers[i];
    CuResult result = mirage__launch_enqueue(device, &ready, parameters, stream ? (CuStream)stream : device->stream);
    status = mirage__cuda_check(diag, result, "launch: %s failed to start", config->kernel);
  }
  mirage__device_leave(device);
  return status;
}
