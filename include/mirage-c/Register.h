// Register.h - Mirage in an MLIR context of yours, and what its passes left in a module of yours.
//
// Example:
//   static void say(MlirStringRef part, void *user) { fwrite(part.data, 1, part.length, stderr); }
//
//   // PTX, launches and calls of what is in the file: Compile.h.
//   MirageStatus compile_file(const char *path, MirageCompilation **out_compilation) {
//     MlirContext context = mlirContextCreate();
//     mirageRegisterEverything(context);
//     MlirModule module = mlirModuleCreateParseFromFile(context, mlirStringRefCreateFromCString(path));
//     MlirPassManager manager = mlirPassManagerCreate(context);
//     MlirStringRef passes = mlirStringRefCreateFromCString("convert-linalg-to-mirage,mirage-superoptimize{target=a100}");
//     bool ok = !mlirModuleIsNull(module) &&
//               mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
//                   mlirPassManagerGetAsOpPassManager(manager), passes, say, NULL)) &&
//               mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
//     MirageStatus status = ok ? mirageReadModule(module, out_compilation) : MIRAGE_BAD_GRAPH;
//     mlirPassManagerDestroy(manager);
//     if (!mlirModuleIsNull(module))
//       mlirModuleDestroy(module);
//     mlirContextDestroy(context);
//     return status;
//   }
#ifndef MIRAGE_C_REGISTER_H
#define MIRAGE_C_REGISTER_H

#include "mirage-c/Compile.h"
#include "mirage-c/Dialects.h"
#include "mirage-c/Passes.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes a context ready for our programs: the three dialects; those of MLIR that programs, functions and compiled modules are
/// written in (func, arith, math, tensor, linalg, scf, cf, memref, gpu, nvvm, llvm); and, once a process, the passes and
/// pipelines, so that textual pipelines know them.
void mirageRegisterEverything(MlirContext context);

/// Reads the compiled programs of a module after mirage-superoptimize (or mirage-lower) ran on it. Copies what it needs; the
/// module and its context may go.
///
/// Errors:  BAD_GRAPH: no program, or one that was not lowered; the diagnostic is emitted at its place in the context.
MirageStatus mirageReadModule(MlirModule module, MirageCompilation **out_compilation);

#ifdef __cplusplus
}
#endif
#endif
