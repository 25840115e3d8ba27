// runtime_impl.h - what the files of lib/runtime share and nobody else sees.
#ifndef MIRAGE_RUNTIME_IMPL_H
#define MIRAGE_RUNTIME_IMPL_H

#include "cuda_api.h"
#include "mirage/launch_plan.h"
#include "mirage/runtime.h"
#include <pthread.h>
#include <stdatomic.h>

// ------------------------------------------------------------------------------------------------------------- devices

struct MirageDevice {
  MirageCuda cuda;
  CuDevice handle;
  CuContext context;    // others in the process use it too
  bool retained;        // the primary context; otherwise the caller's, borrowed
  CuStream stream;      // the device's own; does not synchronise with the legacy default stream
  double timeout_s;     // 0 = none
  atomic_bool hanging;  // a wait ran into the time-out: every call from now on would block
  pthread_mutex_t lock; // of the list of modules
  MirageModule *modules;
  MirageDeviceInfo info;
};

/// Makes the device's context current for the calling thread, leaving the caller's below it; `leave` restores that.
/// Errors: DRIVER, also for a device that hangs.
MirageStatus mirage__device_enter(MirageDevice *device, const MirageDiag *diag);
void mirage__device_leave(MirageDevice *device);
/// Waits until what is on the stream so far is done, but no longer than the device's time-out. The device must be
/// entered. `what` and `name` say what for: "kernel ", "k0".
MirageStatus mirage__device_wait(MirageDevice *device, CuStream stream, const char *what, const char *name,
                                 const MirageDiag *diag);
/// The same for an event that was recorded, and with no event of its own.
MirageStatus mirage__device_wait_event(MirageDevice *device, CuEvent event, const char *what, const char *name,
                                       const MirageDiag *diag);

// ------------------------------------------------------------------------------------------------------------ launches

/// One kernel launch with everything checked and resolved: what remains is a single driver call.
enum { MIRAGE_MAX_KERNEL_POINTERS = 512 }; // 4096 bytes of parameters, what every device takes
typedef struct MirageLaunchReady {
  CuFunction function;
  unsigned grid[3], threads, shared_bytes;
  unsigned local_bytes; // of a thread, in memory: what the driver's compiler found no register for
  CuLaunchAttribute attributes[2];
  unsigned num_attributes;
} MirageLaunchReady;

enum { MIRAGE_MAX_KERNEL_MAPS = MIRAGE_MAX_LOADS };
#define MIRAGE_UNKNOWN_PARAMETERS UINT32_MAX // in place of the number of pointers: nobody says, so it is not compared

/// Resolves the kernel, compares the configuration with what the device and the compiled kernel allow, and raises the
/// kernel's limit of dynamic shared memory. The device must be entered.
/// Errors: BAD_ARGUMENT naming the kernel and both values; DRIVER.
MirageStatus mirage__launch_prepare(MirageModule *module, const MirageLaunchConfig *config, uint32_t num_pointers,
                                    const MirageDiag *diag, MirageLaunchReady *out_ready);
/// What cuLaunchKernelEx is given; points into `ready`.
CuLaunchConfig mirage__launch_config(const MirageLaunchReady *ready, CuStream stream);

MirageDevice *mirage__module_device(const MirageModule *module);

// -------------------------------------------------------------------------------------------------------- tensor maps

/// Whether the hardware can take the maps of a kernel with that many pointers, and the device any at all.
/// Errors: BAD_ARGUMENT naming the kernel, the map, and both values; UNSUPPORTED, LIMIT.
MirageStatus mirage__tensor_maps_check(const MirageDevice *device, const char *kernel, uint32_t num_pointers,
                                       uint32_t num_maps, const MirageTensorMap *maps, const MirageDiag *diag);
/// The driver's form of a map whose tensor lies at `address`. Plain result: no formatting here.
CuResult mirage__tensor_map_encode(const MirageDevice *device, const MirageTensorMap *map, uint64_t address,
                                   CuTensorMap *out_map);

// ------------------------------------------------------------------------------------------------------------ programs

typedef struct MirageProgramKernel {
  MirageLaunchReady ready;
  const char *name;
  uint32_t first_source, num_pointers;
  uint32_t first_map, num_maps;
} MirageProgramKernel;

typedef struct MirageProgramMap {
  MirageTensorMap map;
  uint32_t source;    // of its address
  uint32_t parameter; // of a lane
} MirageProgramMap;

struct MirageLane;

/// Everything but `lanes` stays as creation made it.
struct MirageProgram {
  MirageModule *module;
  MirageDevice *device;
  MirageLaunchPlan plan; // owns what `sources` and `copies` point to, and the two arrays between
  uint32_t num_inputs, num_outputs, num_kernels, num_copies, num_sources, num_maps;
  MirageProgramKernel *kernels;
  MirageSource *sources;  // of the pointers of all kernels, one after the other
  MirageProgramMap *maps; // of all kernels
  MirageOutputCopy *copies;
  size_t workspace_bytes, zeroed_bytes; // the last `zeroed_bytes` of it begin as zero
  pthread_mutex_t lock;                 // taken to add to the list
  struct MirageLane *_Atomic lanes;
};

/// The last encodings of one map, by address: tensors come back, so that most launches encode nothing.
enum { MIRAGE_MAP_CACHE = 8 };
typedef struct MirageMapCache {
  CuTensorMap maps[MIRAGE_MAP_CACHE];
  uint64_t addresses[MIRAGE_MAP_CACHE]; // 0: empty
} MirageMapCache;

/// Launch parameters of one stream, filled in as far as possible (lane.c).
typedef struct MirageLane {
  struct MirageLane *next;  // fixed once the lane is in the list
  _Atomic(CuStream) stream; // NULL: free for another stream
  bool borrows;             // the workspace comes with each launch
  uint64_t workspace;       // device address
  pthread_mutex_t lock;     // held while a launch fills in addresses and enqueues
  CuLaunchConfig *configs;  // by kernel
  uint64_t *addresses;      // by source
  MirageMapCache *caches;   // by map
  void **parameters;        // of each kernel: addresses of its pointers, then of its maps
} MirageLane;

/// The lane of a stream (not NULL); created when there is none yet.
MirageStatus mirage__lane_get(MirageProgram *program, CuStream stream, bool borrows, const MirageDiag *diag,
                              MirageLane **out_lane);
/// Fills in where intermediates and the kernels' workspaces lie. The lane must be locked, or nobody else's yet.
void mirage__lane_set_workspace(const MirageProgram *program, MirageLane *lane, uint64_t workspace);
/// Frees all of them. The device need not be entered.
void mirage__lanes_destroy(MirageProgram *program);
/// Enqueues kernel `index` as it is filled in. The device must be current. Plain result: no formatting here.
CuResult mirage__lane_enqueue(const MirageProgram *program, MirageLane *lane, uint32_t index);

// ------------------------------------------------------------------------------------------------------------- buffers

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
