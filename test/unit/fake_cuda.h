// fake_cuda.h - what a test can set in, and read from, the fake driver (fake_cuda.c).
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "../../lib/runtime/cuda_api.h"
#include <stdbool.h>

enum { FAKE_MAX_LAUNCHES = 256, FAKE_MAX_POINTERS = 8, FAKE_MAX_MAPS = 2 };

/// What the fake driver writes into a CuTensorMap: what it was asked for.
typedef struct FakeMap {
  uint64_t address, extents[5], strides[4]; // strides of all dimensions but the innermost
  int dtype, swizzle, l2_promotion;
  uint32_t rank, box[5];
} FakeMap;

typedef struct FakeLaunch {
  const char *kernel;
  unsigned grid[3], threads, shared_bytes, cluster[3];
  bool dependent;
  CuStream stream;
  unsigned num_pointers;
  uint64_t pointers[FAKE_MAX_POINTERS];
  unsigned num_maps;
  FakeMap maps[FAKE_MAX_MAPS];
} FakeLaunch;

typedef struct FakeCuda {
  // Set by the test.
  int num_devices;
  size_t total_bytes;      // of device memory
  const char *fail_symbol; // its call number `fail_at` (from 0) returns `fail_result`; NULL = none fails
  unsigned fail_at;
  CuResult fail_result;
  CuResult kernel_result;                // what kernels come to: reported by the next synchronisation
  const char *failing, *hanging;         // the kernel that kernel_result is of (NULL = all); one that never ends
  unsigned hang_after;                   // that many launches of anything
  const char *compiler_log;              // what the compiler writes when cuModuleLoadDataEx is made to fail
  int driver_version;                    // 13000 = 13.0
  int compute_major, max_threads;        // of the device; of every kernel
  int blocks_per_sm;                     // that fit
  float kernel_us;                       // what a launch adds to the clock that events read
  void (*run)(const FakeLaunch *launch); // what kernels do; device addresses are host addresses

  // Seen so far.
  unsigned calls_of_fail_symbol;
  unsigned num_launches; // executed, directly or by a graph; the first FAKE_MAX_LAUNCHES are kept
  FakeLaunch launches[FAKE_MAX_LAUNCHES];
  unsigned num_live_allocations, num_live_objects; // objects: streams, events, modules, graphs, retained contexts
  size_t used_bytes, registered_bytes;             // of device memory; of host memory, last
  uint64_t pool_keeps;                             // bytes that the default memory pool does not give back
  int context_depth;                               // pushes less pops, of all threads
  unsigned num_calls, num_loads, num_blocking;     // calls; modules loaded; calls that would never return
  unsigned num_encodings;                          // of tensor maps
  int dynamic_shared_limit, non_portable_cluster;  // last value set on a function
} FakeCuda;

/// A context other than the primary one, as another library in the process might have made.
CuContext fake_cuda_context(void);
/// Back to one healthy device of 1 GiB; forgets everything seen.
void fake_cuda_reset(void);
FakeCuda *fake_cuda_state(void);

#endif
