// gpu_binary.h - the gpu.binary of a compiled graph. Private to passes/.
#ifndef MIRAGE_PASSES_GPU_BINARY_H
#define MIRAGE_PASSES_GPU_BINARY_H

#include "mirage/launch_plan.h"
#include "passes.h"

/// Finds gpu.binary @<graph>_bin, and checks that its PTX has every kernel of the plan.
/// Errors: BAD_GRAPH at `loc`, naming the graph, the kernel and the remedy.
MirageStatus mirage__binary_find(MirageModuleGraphs *graphs, const char *graph, const MirageLaunchPlan *plan,
                                 const void *loc, MlirOperation *out_binary);

/// Puts behind the PTX what the runtime library needs to know: which kernels' blocks wait for each other, and with
/// `emulation` the image for the emulated GPU (emulator.h).
MirageStatus mirage__binary_annotate(const MirageUGraph *graph, const MirageLaunchPlan *plan, MlirOperation binary,
                                     bool emulation, const MirageDiag *diag);

#endif
