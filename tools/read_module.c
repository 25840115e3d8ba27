// read_module.c - reads a module from a file (read_module.h).
#include "read_module.h"

#include "mirage-c/Dialects.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/GPU.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/NVVM.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Tensor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

MlirStringRef read_module_string(const char *text) { return mlirStringRefCreateFromCString(text); }

bool read_module_is(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), read_module_string(name));
}

// --------------------------------------------------------------------------------------------------------- diagnostics

static void print_string(MlirStringRef part, void *stream) { fwrite(part.data, 1, part.length, stream); }

static void print_location(MlirLocation location, const char *tool) {
  if (mlirLocationIsAFileLineColRange(location)) {
    MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
    fprintf(stderr, "%.*s:%d:%d: ", (int)file.length, file.data, mlirLocationFileLineColRangeGetStartLine(location),
            mlirLocationFileLineColRangeGetStartColumn(location));
  } else if (mlirLocationEqual(location, mlirLocationUnknownGet(mlirLocationGetContext(location)))) {
    fprintf(stderr, "%s: ", tool);
  } else {
    mlirLocationPrint(location, print_string, stderr);
    fputs(": ", stderr);
  }
}

// Prints "file:line:column: error: message" and the notes below it. `user` is the reader.
static MlirLogicalResult print_diagnostic(MlirDiagnostic diagnostic, void *user) {
  static const char *const names[] = {"error", "warning", "note", "remark"}; // by MlirDiagnosticSeverity
  MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  const ModuleReader *reader = user;
  if (severity == MlirDiagnosticRemark && !reader->remarks)
    return mlirLogicalResultSuccess();
  print_location(mlirDiagnosticGetLocation(diagnostic), reader->tool);
  fprintf(stderr, "%s: ", names[severity]);
  mlirDiagnosticPrint(diagnostic, print_string, stderr);
  fputc('\n', stderr);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    print_diagnostic(mlirDiagnosticGetNote(diagnostic, i), user);
  return mlirLogicalResultSuccess();
}

// ------------------------------------------------------------------------------------------------------------- parsing

MlirContext read_module_context(const ModuleReader *reader) {
  MlirDialectHandle handles[] = {
      mlirGetDialectHandle__mirage_kernel__(),
      mlirGetDialectHandle__mirage_block__(),
      mlirGetDialectHandle__mirage_thread__(),
      mlirGetDialectHandle__gpu__(),
      mlirGetDialectHandle__nvvm__(),
      mlirGetDialectHandle__llvm__(),
      mlirGetDialectHandle__func__(),
      mlirGetDialectHandle__arith__(),
      mlirGetDialectHandle__cf__(),
      mlirGetDialectHandle__scf__(),
      mlirGetDialectHandle__memref__(),
      mlirGetDialectHandle__tensor__(),
      mlirGetDialectHandle__linalg__(),
  };
  MlirContext context = mlirContextCreateWithThreading(false);
  mlirContextSetAllowUnregisteredDialects(context, true);
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
    mlirDialectHandleRegisterDialect(handles[i], context);
    mlirDialectHandleLoadDialect(handles[i], context);
  }
  mlirContextAttachDiagnosticHandler(context, print_diagnostic, (void *)reader, NULL);
  return context;
}

// Tried here first, so that a missing file or a folder gives the system's reason.
static MirageStatus check_readable(const char *path, const MirageDiag *diag) {
  if (strcmp(path, "-") == 0)
    return MIRAGE_OK; // standard input
  FILE *file = fopen(path, "rb");
  bool readable = file && (fgetc(file) != EOF || !ferror(file));
  int reason = errno;
  if (file)
    fclose(file);
  return readable ? MIRAGE_OK : mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: %s", path, strerror(reason));
}

MirageStatus read_module_file(MlirContext context, const char *path, const MirageDiag *diag, MlirModule *out_module) {
  *out_module = (MlirModule){NULL};
  MIRAGE_TRY(check_readable(path, diag));
  *out_module = mlirModuleCreateParseFromFile(context, read_module_string(path)); // prints its own errors
  return mlirModuleIsNull(*out_module) ? MIRAGE_BAD_GRAPH : MIRAGE_OK;
}
