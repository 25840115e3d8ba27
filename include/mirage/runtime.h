// runtime.h - the CUDA driver API by dlopen: devices, modules, launches, timing. No toolkit at build or run time.
//
// Every driver error becomes a MirageStatus and a sentence with the CUresult's name and what to do about it.
#ifndef MIRAGE_RUNTIME_H
#define MIRAGE_RUNTIME_H

#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageDevice MirageDevice; // a retained primary context
typedef struct MirageModule MirageModule; // a loaded PTX module

typedef struct MirageDeviceInfo {
  char name[128];
  int32_t compute_major, compute_minor;
  int32_t num_sms;
  int32_t driver_version; // 13000 = 13.0
  int32_t shared_bytes_per_block;
  int32_t l2_bytes;
  uint64_t total_bytes;
} MirageDeviceInfo;

/// Opens device `ordinal`. NO_DEVICE when there is no driver or no such device (the sentence says which).
MirageStatus mirage_device_create(int32_t ordinal, const MirageDiag *diag, MirageDevice **out_device);
void mirage_device_destroy(MirageDevice *device);
const MirageDeviceInfo *mirage_device_info(const MirageDevice *device);

MirageStatus mirage_device_alloc(MirageDevice *device, size_t bytes, const MirageDiag *diag, uint64_t *out_pointer);
void mirage_device_free(MirageDevice *device, uint64_t pointer);
MirageStatus mirage_device_upload(MirageDevice *device, uint64_t to, const void *from, size_t bytes, const MirageDiag *diag);
MirageStatus mirage_device_download(MirageDevice *device, void *to, uint64_t from, size_t bytes, const MirageDiag *diag);
MirageStatus mirage_device_fill(MirageDevice *device, uint64_t to, uint8_t byte, size_t bytes, const MirageDiag *diag);
MirageStatus mirage_device_synchronize(MirageDevice *device, const MirageDiag *diag);

/// Loads PTX by the driver's JIT (its log goes into the sentence on failure), or a cubin.
MirageStatus mirage_module_load(MirageDevice *device, const void *image, const MirageDiag *diag, MirageModule **out_module);
void mirage_module_unload(MirageModule *module);

typedef struct MirageLaunchConfig {
  const char *kernel;
  int64_t grid[3], cluster[3];
  int32_t threads, shared_bytes;
  bool dependent_launch;
} MirageLaunchConfig;

/// Enqueues one kernel on `stream` (a CUstream, NULL = the device's own stream). `pointers` are device addresses in the
/// kernel's parameter order. Asynchronous: errors of the kernel itself show at synchronize.
MirageStatus mirage_module_launch(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                  const uint64_t *pointers, void *stream, const MirageDiag *diag);

/// All kernels of a lowered graph (every custom node has a launch), with intermediates and workspace planned.
typedef struct MirageProgram MirageProgram;
MirageStatus mirage_program_create(MirageModule *module, const MirageUGraph *graph, const MirageDiag *diag,
                                   MirageProgram **out_program);
void mirage_program_destroy(MirageProgram *program);
/// inputs / outputs: device addresses, in the graph's order.
MirageStatus mirage_program_launch(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs, void *stream,
                                   const MirageDiag *diag);

typedef struct MirageTiming {
  double cold_us, warm_us;           // medians per call
  double cold_spread, warm_spread;   // (p90 - p10) / median
  uint32_t replays, calls_per_replay;
} MirageTiming;
/// Times the program as CUDA-graph replays: cold rotates over `num_sets` input sets, warm replays the first.
/// input_sets[s * num_inputs + i]; outputs are shared.
MirageStatus mirage_program_time(MirageProgram *program, uint32_t num_sets, const uint64_t *input_sets,
                                 const uint64_t *outputs, const MirageDiag *diag, MirageTiming *out_timing);

#ifdef __cplusplus
}
#endif
#endif
