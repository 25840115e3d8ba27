// runtime_impl.h - what the files of lib/runtime share and nobody else sees.
#ifndef MIRAGE_RUNTIME_IMPL_H
#define MIRAGE_RUNTIME_IMPL_H

#include "cuda_api.h"
#include "mirage/runtime.h"

struct MirageDevice {
  MirageCuda cuda;
  CuDevice handle;
  CuContext context; // the primary context, retained: other users of the process share it
  CuStream stream;   // the device's own; does not synchronise with the legacy default stream
  MirageDeviceInfo info;
};

/// Makes the device's context current for the calling thread, leaving the caller's below it; `leave` restores that.
MirageStatus mirage__device_enter(MirageDevice *device, const MirageDiag *diag);
void mirage__device_leave(MirageDevice *device);

/// One kernel launch with everything checked and resolved: what remains is a single driver call.
enum { MIRAGE_MAX_KERNEL_POINTERS = 512 }; // 4096 bytes of parameters, what every device takes
typedef struct MirageLaunchReady {
  CuFunction function;
  unsigned grid[3], threads, shared_bytes;
  CuLaunchAttribute attributes[2];
  unsigned num_attributes;
} MirageLaunchReady;

/// Resolves the kernel, compares the configuration with what the device and the compiled kernel allow, and raises the
/// kernel's limit of dynamic shared memory. The device must be entered.
/// Errors: BAD_ARGUMENT naming the kernel and both values; DRIVER.
MirageStatus mirage__launch_prepare(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                    const MirageDiag *diag, MirageLaunchReady *out_ready);
/// Enqueues; `parameters` are the addresses of the pointers. The device must be entered. Plain result: no formatting
/// here.
CuResult mirage__launch_enqueue(const MirageDevice *device, const MirageLaunchReady *ready, void **parameters,
                                CuStream stream);

MirageDevice *mirage__module_device(const MirageModule *module);
MirageDevice *mirage__program_device(const MirageProgram *program);
uint32_t mirage__program_num_inputs(const MirageProgram *program);

/// A buffer that lives from kernel `first` to kernel `last`, both included.
typedef struct MirageLiveBuffer {
  int64_t bytes;
  uint32_t first, last;
  int64_t offset; // out: multiple of `alignment`
} MirageLiveBuffer;
/// Gives every buffer an offset so that buffers that live at the same time do not overlap. Largest first, each at the
/// lowest offset that is free: within a few per cent of the optimum for the handful of buffers a program has, and the
/// same answer every time. Returns the bytes needed, or -1 when memory for the plan itself is out.
int64_t mirage__plan_buffers(uint32_t num_buffers, MirageLiveBuffer *buffers, int64_t alignment);

#endif
