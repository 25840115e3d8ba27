// Dialects.h - C API of the three dialects: registration, and what MLIR's own C API lacks.
#ifndef MIRAGE_C_DIALECTS_H
#define MIRAGE_C_DIALECTS_H

#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

// mlirGetDialectHandle__mirage_kernel__() and so on.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(MirageKernel, mirage_kernel);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(MirageBlock, mirage_block);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(MirageThread, mirage_thread);

/// Adds all three to a registry.
MLIR_CAPI_EXPORTED void mirageRegisterDialects(MlirDialectRegistry registry);

/// Emits an error, warning or remark; MLIR's C API can emit errors only. A note becomes a remark, since MLIR attaches
/// notes to other diagnostics and emits none by itself.
MLIR_CAPI_EXPORTED void mirageEmitDiagnostic(MlirLocation location, MlirDiagnosticSeverity severity,
                                             const char *message);

/// All attributes of an operation, inherent ones included, as one dictionary.
MLIR_CAPI_EXPORTED MlirAttribute mirageOperationGetAttributeDictionary(MlirOperation operation);

#ifdef __cplusplus
}
#endif
#endif
