// Kernel.h - C API of the mirage_kernel dialect: its attributes, from and to the core's structures (mirage/ugraph.h).
//
// In each group: IsA tells, Get builds, GetValue reads. GetValue asks for an attribute of its own kind.
// Operations are built with mlirOperationCreate, their names being "mirage_kernel." and the mnemonic of mirage/ops.def.
#ifndef MIRAGE_C_KERNEL_H
#define MIRAGE_C_KERNEL_H

#include "mirage/ugraph.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

// #mirage_kernel.schedule<...>. num_roles and num_loads lie within MIRAGE_MAX_ROLES and MIRAGE_MAX_LOADS.
MLIR_CAPI_EXPORTED bool mirageKernelAttributeIsASchedule(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageKernelScheduleAttrGet(MlirContext context, const MirageSchedule *schedule);
MLIR_CAPI_EXPORTED void mirageKernelScheduleAttrGetValue(MlirAttribute attribute, MirageSchedule *out_schedule);

// #mirage_kernel.plan<...>. The texts that GetValue gives are NUL-terminated and live as long as the context; `asked` is
// where out_plan->asked points, if it points anywhere.
MLIR_CAPI_EXPORTED bool mirageKernelAttributeIsAPlan(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageKernelPlanAttrGet(MlirContext context, const MiragePlan *plan);
MLIR_CAPI_EXPORTED void mirageKernelPlanAttrGetValue(MlirAttribute attribute, MirageSchedule *asked,
                                                     MiragePlan *out_plan);

// #mirage_kernel.launch<...>. The attribute owns the kernel's name; `out_launch->kernel` is NUL-terminated and lives as
// long as the context.
MLIR_CAPI_EXPORTED bool mirageKernelAttributeIsALaunch(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageKernelLaunchAttrGet(MlirContext context, const MirageLaunch *launch);
/// `maps` has room for MIRAGE_MAX_LOADS tensor maps; out_launch->maps points there.
MLIR_CAPI_EXPORTED void mirageKernelLaunchAttrGetValue(MlirAttribute attribute, MirageTensorMap *maps,
                                                       MirageLaunch *out_launch);

// #mirage_kernel.proof<...>. Get is for proofs with `present` set; GetValue sets it.
MLIR_CAPI_EXPORTED bool mirageKernelAttributeIsAProof(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageKernelProofAttrGet(MlirContext context, const MirageProof *proof);
MLIR_CAPI_EXPORTED void mirageKernelProofAttrGetValue(MlirAttribute attribute, MirageProof *out_proof);

// #mirage_kernel.guard<...>. As proof.
MLIR_CAPI_EXPORTED bool mirageKernelAttributeIsAGuard(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageKernelGuardAttrGet(MlirContext context, const MirageGuard *guard);
MLIR_CAPI_EXPORTED void mirageKernelGuardAttrGetValue(MlirAttribute attribute, MirageGuard *out_guard);

// #mirage_kernel.cost<...>. As proof.
MLIR_CAPI_EXPORTED bool mirageKernelAttributeIsACost(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute mirageKernelCostAttrGet(MlirContext context, const MirageCost *cost);
MLIR_CAPI_EXPORTED void mirageKernelCostAttrGetValue(MlirAttribute attribute, MirageCost *out_cost);

#ifdef __cplusplus
}
#endif
#endif
