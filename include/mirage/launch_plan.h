// launch_plan.h - which kernels a lowered graph launches, with which pointers, and where what lies between them lives.
//
// What program.c makes driver calls of, and convert-mirage-to-gpu operations of the gpu dialect. It asks no device.
//
// Example: t = k0(x); y = k1(t, w); return y   ->   k0(input 0, workspace+0); k1(workspace+0, input 1, output 0)
#ifndef MIRAGE_LAUNCH_PLAN_H
#define MIRAGE_LAUNCH_PLAN_H

#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MIRAGE_WORKSPACE_ALIGNMENT = 256 };

/// Where the address of one pointer parameter comes from at each launch.
typedef enum { MIRAGE_FROM_INPUT, MIRAGE_FROM_OUTPUT, MIRAGE_FROM_WORKSPACE } MirageSourceKind;
typedef struct MirageSource {
  MirageSourceKind kind;
  uint32_t index; // of the input or output
  int64_t offset; // workspace: in bytes
} MirageSource;

typedef struct MiragePlannedKernel {
  const char *name; // entry in the PTX
  const void *loc;  // the node's
  int64_t grid[3], cluster[3];
  int32_t threads, shared_bytes;
  bool blocks_meet;      // they wait for each other, so that all must be on the device at once
  bool dependent_launch; // may start before what is before it on the stream ends
  bool in_pairs;         // of no clusters: faster in clusters of two blocks along x, and right without
  uint32_t first_source, num_pointers;
  uint32_t first_map, num_maps;
} MiragePlannedKernel;

/// An output that no kernel writes: the graph returns an input, or one value twice.
typedef struct MirageOutputCopy {
  MirageSource from;
  uint32_t output;
  size_t bytes;
} MirageOutputCopy;

typedef struct MirageLaunchPlan {
  MirageArena arena; // what the pointers below point to
  uint32_t num_inputs, num_outputs, num_kernels, num_copies, num_sources, num_maps;
  MiragePlannedKernel *kernels;
  MirageSource *sources; // of the pointers of all kernels, one after the other
  MirageTensorMap *maps; // of all kernels; `pointer` counts the kernel's own pointers
  MirageOutputCopy *copies;
  size_t workspace_bytes; // of intermediates, then of the kernels' own workspaces:
  size_t zeroed_bytes;    // the last of it, zero before the first launch and written by nobody else between launches
} MirageLaunchPlan;

/// Plans the launches of a lowered graph. Pair with deinit, also after a failure.
/// Errors: BAD_GRAPH naming the operator that is no kernel, or the kernel without a launch; NO_MEMORY.
MirageStatus mirage_launch_plan_init(MirageLaunchPlan *plan, const MirageUGraph *graph, const MirageDiag *diag);
void mirage_launch_plan_deinit(MirageLaunchPlan *plan);

#ifdef __cplusplus
}
#endif
#endif
