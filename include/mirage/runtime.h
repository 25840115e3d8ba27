// runtime.h - the CUDA driver API by dlopen: devices, modules, launches, timing. No toolkit at build or run time.
//
// Every driver error becomes a MirageStatus and a sentence with the CUresult's name and what to do about it.
//
// In a program that uses CUDA already:
//
//   mirage_device_create_current(diag, &device);           // the context that the caller works in
//   mirage_module_load(device, ptx, diag, &module);        // the same PTX is loaded once a device
//   mirage_program_create(module, graph, diag, &program);  // the graph is not needed after this
//   mirage_program_prepare(program, stream, diag);         // workspace of this stream; a launch does it too
//   mirage_program_launch(program, inputs, outputs, stream, diag);   // asynchronous; may be captured in a CUDA graph
//
// Threads: everything here may be called by several threads at once, but for what destroys the object named, which must be
// the last call on it. A module outlives its programs, and a device its modules.
#ifndef MIRAGE_RUNTIME_H
#define MIRAGE_RUNTIME_H

#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageDevice MirageDevice; // a context on a GPU
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

// ------------------------------------------------------------------------------------------------------------- devices

/// Opens device `ordinal` with its primary context, the one that the CUDA runtime and frameworks use.
/// Errors: NO_DEVICE when there is no driver or no such device (the sentence says which).
MirageStatus mirage_device_create(int32_t ordinal, const MirageDiag *diag, MirageDevice **out_device);
/// The same in the context that is current for the calling thread, which must outlive the device.
/// Errors: BAD_ARGUMENT when none is.
MirageStatus mirage_device_create_current(const MirageDiag *diag, MirageDevice **out_device);
void mirage_device_destroy(MirageDevice *device);
/// What device `ordinal` is, without making a context on it. Errors: as mirage_device_create.
MirageStatus mirage_device_probe(int32_t ordinal, const MirageDiag *diag, MirageDeviceInfo *out_info);
const MirageDeviceInfo *mirage_device_info(const MirageDevice *device);
/// Whether the device's context is the one that is current for the calling thread.
bool mirage_device_is_current(const MirageDevice *device);

/// How long copies, mirage_program_run and mirage_program_time wait for the device before they give up with DRIVER and
/// the name of what hangs; 0, the default, is for ever. After that the device refuses every call: a kernel that hangs
/// cannot be stopped but by the end of the process, which should call _Exit (the driver's exit handler waits for it).
void mirage_device_set_timeout(MirageDevice *device, double seconds);

MirageStatus mirage_device_alloc(MirageDevice *device, size_t bytes, const MirageDiag *diag, uint64_t *out_pointer);
void mirage_device_free(MirageDevice *device, uint64_t pointer);
MirageStatus mirage_device_upload(MirageDevice *device, uint64_t to, const void *from, size_t bytes,
                                  const MirageDiag *diag);
MirageStatus mirage_device_download(MirageDevice *device, void *to, uint64_t from, size_t bytes,
                                    const MirageDiag *diag);
MirageStatus mirage_device_fill(MirageDevice *device, uint64_t to, uint8_t byte, size_t bytes, const MirageDiag *diag);
/// Fills `total` bytes at `to` with repetitions of the first `held` of them, the last cut short.
/// Errors:  BAD_ARGUMENT where `held` is zero and `total` is not.
MirageStatus mirage_device_repeat(MirageDevice *device, uint64_t to, size_t held, size_t total, const MirageDiag *diag);
/// Waits, however long, for everything that was enqueued in the context.
MirageStatus mirage_device_synchronize(MirageDevice *device, const MirageDiag *diag);

// ------------------------------------------------------------------------------------------------------------- modules

/// Loads PTX by the driver's JIT (its log goes into the sentence on failure), or a cubin. PTX that the device has loaded
/// already is shared.
MirageStatus mirage_module_load(MirageDevice *device, const void *image, const MirageDiag *diag,
                                MirageModule **out_module);
/// As often as it was loaded.
void mirage_module_unload(MirageModule *module);

typedef struct MirageLaunchConfig {
  const char *kernel;
  int64_t grid[3], cluster[3];
  int32_t threads, shared_bytes;
  bool dependent_launch; // may start before the launch in front of it ends; ignored by drivers before CUDA 12.3
  bool in_pairs;         // of no clusters: launched in clusters of two blocks along x where that can be
  bool blocks_meet;  // they wait for each other, so that all must be on the device at once: refused where they cannot
  uint32_t num_maps; // parameters after the pointers, encoded for the addresses that these have
  const MirageTensorMap *maps;
} MirageLaunchConfig;

// Streams are CUstreams. NULL is the device's own, which does not wait for the legacy default stream, nor that for it. The
// CUDA runtime's stream 0 is this one:
#define MIRAGE_STREAM_LEGACY ((void *)1)

/// Enqueues one kernel. `pointers` are device addresses in the kernel's parameter order. Asynchronous: errors of the
/// kernel itself show at synchronize.
MirageStatus mirage_module_launch(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                  const uint64_t *pointers, void *stream, const MirageDiag *diag);

// ------------------------------------------------------------------------------------------------------------ programs

/// All kernels of a lowered graph (every custom node has a launch), with intermediates and workspace planned.
typedef struct MirageProgram MirageProgram;
/// Owns: borrows the module, copies what it needs of the graph.
MirageStatus mirage_program_create(MirageModule *module, const MirageUGraph *graph, const MirageDiag *diag,
                                   MirageProgram **out_program);
/// Work that was launched must have finished.
void mirage_program_destroy(MirageProgram *program);

/// Bytes of device memory, aligned to 256, that one launch at a time needs for intermediates and the kernels' workspace;
/// 0 when it needs none.
size_t mirage_program_workspace_bytes(const MirageProgram *program);
/// Bytes that a thread has in local memory, in the kernel with most: registers that the driver's compiler spilled.
size_t mirage_program_spilled_bytes(const MirageProgram *program);
/// Allocates and clears this program's own workspace for launches on `stream`, which stays until it is forgotten or the
/// program destroyed. Launches do it when it was not done before, also while the stream is captured.
/// Errors: NO_MEMORY; BAD_ARGUMENT for the per-thread default stream, which is another stream in every thread.
MirageStatus mirage_program_prepare(MirageProgram *program, void *stream, const MirageDiag *diag);
/// Before a stream is destroyed that launches went to, and after they have finished.
void mirage_program_forget(MirageProgram *program, void *stream);

/// Enqueues all kernels of one call on `stream`, in a workspace of that stream's own.
///
/// Meeting:  kernels whose blocks wait for each other rely on a kernel's blocks all being started before those of the next
///           one on the device, as GPUs do for streams of equal priority; so do not launch them on streams of unequal
///           ones at a time.
/// Pointers: inputs and outputs are device addresses, aligned to 16, in the graph's order. Only they may differ from one
///           launch to the next in a way that costs time (a new tensor map where the kernel has some).
/// Capture:  may be called while the stream is being captured in a CUDA graph; what it allocates for a stream that is new to
///           it is no part of the graph. Replays use the program's code and its workspace for that stream: the program must
///           outlive the graph, and replays must not overlap other launches on the stream.
/// Errors:   BAD_ARGUMENT naming the tensor; DRIVER naming the kernel. Errors of kernels themselves show at a later wait.
MirageStatus mirage_program_launch(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                   void *stream, const MirageDiag *diag);
/// The same in a workspace of the caller's: all zero before its first launch, and used by one launch at a time.
MirageStatus mirage_program_launch_in(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                      uint64_t workspace, void *stream, const MirageDiag *diag);
/// Whether launches on the stream (NULL: the device's own) become part of a CUDA graph at present, which the program then must
/// outlive. False where the driver does not say.
bool mirage_program_is_captured(const MirageProgram *program, void *stream);
/// One call on the device's own stream, kernel by kernel, each waited for: a kernel that fails or hangs is named.
MirageStatus mirage_program_run(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                const MirageDiag *diag);

// -------------------------------------------------------------------------------------------------------------- timing

typedef struct MirageTiming {
  double cold_us, warm_us;         // medians per call
  double cold_spread, warm_spread; // (p90 - p10) / median
  uint32_t replays, calls_per_replay;
} MirageTiming;
/// Times the program as CUDA-graph replays: cold rotates over `num_sets` input sets, warm replays the first.
/// input_sets[s * num_inputs + i]; outputs are shared.
MirageStatus mirage_program_time(MirageProgram *program, uint32_t num_sets, const uint64_t *input_sets,
                                 const uint64_t *outputs, const MirageDiag *diag, MirageTiming *out_timing);

/// Times programs that compute the same, side by side: their replays take turns, so that what slows the GPU slows all.
/// Cold alone, over `num_sets` input sets; about `budget_us` for all, behind at least `settle_us` of replays that are not timed.
/// out_timings[i] is of programs[i]; one that takes over five times as long as the first has been replayed once, and has no
/// spread.
///
/// Errors: those of mirage_program_time.
MirageStatus mirage_programs_race(uint32_t num_programs, MirageProgram *const *programs, uint32_t num_sets,
                                  const uint64_t *input_sets, const uint64_t *outputs, double settle_us,
                                  double budget_us, const MirageDiag *diag, MirageTiming *out_timings);

typedef struct MirageLaunchOverhead {
  double bare_us, launch_us; // CPU time of one call, medians: as driver calls alone, and by mirage_program_launch
  uint32_t kernels, calls;   // of the program; measured of each kind
} MirageLaunchOverhead;
/// What mirage_program_launch costs the CPU over one cuLaunchKernelEx a kernel with everything prepared, in the same run.
MirageStatus mirage_program_launch_overhead(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                            const MirageDiag *diag, MirageLaunchOverhead *out_overhead);

#ifdef __cplusplus
}
#endif
#endif
