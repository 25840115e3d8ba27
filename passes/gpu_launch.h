// gpu_launch.h - one call of a compiled program as launches of its kernels. Private to passes/.
#ifndef MIRAGE_PASSES_GPU_LAUNCH_H
#define MIRAGE_PASSES_GPU_LAUNCH_H

#include "gpu_ir.h"
#include "mirage/launch_plan.h"

/// A mirage_kernel.call that is to become launches.
typedef struct MirageCallSite {
  MlirOperation call;
  const MirageLaunchPlan *plan;
  const char *binary; // symbol of the gpu.binary
  bool copies;        // what the caller has is host memory: copied to the device and back
} MirageCallSite;

/// Whether the operands are of a form that can be launched.
/// Errors: UNSUPPORTED naming the operand, its layout and the remedy.
MirageStatus mirage__launch_check(const MirageCallSite *site, const MirageDiag *diag);

/// Writes the launches in front of the call, and gives the call's users their results; the call itself stays. They are
/// on the stream of ir->token where there is one, else on one of their own; afterwards ir->token is theirs, and nobody
/// has waited for it.
void mirage__launch_write(const MirageCallSite *site, MirageIr *ir);

/// Name and type of the runtime's function that makes tensor maps (lib/launch).
#define MIRAGE_ENCODE_TENSOR_MAP "mirageEncodeTensorMap"
MlirOperation mirage__launch_declare_encode(MlirContext context, MlirBlock module_body, MlirLocation loc);

#endif
