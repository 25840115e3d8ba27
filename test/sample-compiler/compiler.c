// compiler.c - a compiler of one's own on MLIR's C API, with Mirage in the same context.
//
//   sample-compiler program.mlir [pipeline]
//
// Reads a file, runs passes on it - ours and MLIR's as one pipeline -, takes PTX and launch numbers out of the module, runs
// each program, and prints all of that.
#include "mirage-c/Register.h"
#include "mlir-c/Pass.h"
#include "mlir-c/Transforms.h"
#include "run.h"

#include <stdio.h>
#include <string.h>

static const char PIPELINE[] =
    "builtin.module(convert-linalg-to-mirage,mirage-superoptimize{measure=no progress=none})";

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static void print_part(MlirStringRef part, void *stream) { fwrite(part.data, 1, part.length, stream); }

static MlirLogicalResult print_diagnostic(MlirDiagnostic diagnostic, void *user) {
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticRemark)
    return mlirLogicalResultSuccess();
  mlirLocationPrint(mlirDiagnosticGetLocation(diagnostic), print_part, stderr);
  fprintf(stderr, ": error: ");
  mlirDiagnosticPrint(diagnostic, print_part, stderr);
  fputc('\n', stderr);
  return mlirLogicalResultSuccess();
}

static bool run_passes(MlirContext context, MlirModule module, const char *pipeline) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  bool ok = mlirLogicalResultIsSuccess(
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager), str(pipeline), print_part, stderr));
  ok = ok && mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(manager);
  return ok;
}

static bool run_all(MlirModule module) {
  MirageCompilation *compilation;
  bool ok = mirageReadModule(module, &compilation) == MIRAGE_OK;
  for (uint32_t i = 0; ok && i < mirageCompilationGetNumPrograms(compilation); i++) {
    const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, i);
    print_program(program);
    ok = run_program(program);
  }
  mirageCompilationDestroy(compilation);
  return ok;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3)
    return fprintf(stderr, "usage: sample-compiler program.mlir [pipeline]\n"), 2;
  MlirContext context = mlirContextCreate();
  mirageRegisterEverything(context);
  mlirRegisterTransformsPasses(); // canonicalize and so on, for pipelines of the user's
  mlirContextAttachDiagnosticHandler(context, print_diagnostic, NULL, NULL);
  MlirModule module = mlirModuleCreateParseFromFile(context, str(argv[1]));
  bool ok = !mlirModuleIsNull(module) && run_passes(context, module, argc > 2 ? argv[2] : PIPELINE) && run_all(module);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return ok ? 0 : 1;
}
