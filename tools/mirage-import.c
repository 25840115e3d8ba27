// mirage-import.c - µGraphs that the original system saved, as candidates of a program.
//
//   mirage-import rmsnorm.json --program rmsnorm.mlir -o candidates.mlir
//   mirage-mlir-opt --mirage-verify=explain candidates.mlir
//
// The files hold no program, so it is given. The result is one module: that of the program, with every graph of the
// file behind it, unproven: mirage-verify decides which of them compute what the program does.
//
// Exit status: 0 all graphs are there; 1 something is wrong, which is said, and nothing is written.
#define _POSIX_C_SOURCE 200809L
#include "file.h"
#include "mirage/bridge.h"
#include "mirage/import.h"

#include "mirage-c/Dialects.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Diagnostics.h"

#include <errno.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ImportOptions {
  char *json_path, *program_path, *symbol, *output_path;
  int recompute_shapes;
} ImportOptions;

static const size_t MAX_FILE_BYTES = (size_t)1 << 30;

// ------------------------------------------------------------------------------------------------------------ messages

static void print_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  static const char *const names[] = {"note", "remark", "warning", "error"}; // by MirageSeverity
  const char *path = user;
  fprintf(stderr, "mirage-import: %s: %s%s%s\n", names[severity], path ? path : "", path ? ": " : "", message);
}

static const MirageDiag diag = {print_message, NULL};

static void print_string(MlirStringRef part, void *stream) { fwrite(part.data, 1, part.length, stream); }

static MlirLogicalResult print_diagnostic(MlirDiagnostic diagnostic, void *user) {
  static const char *const names[] = {"error", "warning", "note", "remark"}; // by MlirDiagnosticSeverity
  MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
  if (mlirLocationEqual(location, mlirLocationUnknownGet(mlirLocationGetContext(location))))
    fputs("mirage-import", stderr);
  else if (mlirLocationIsAFileLineColRange(location))
    fprintf(stderr, "%s:%d:%d", mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)).data,
            mlirLocationFileLineColRangeGetStartLine(location), mlirLocationFileLineColRangeGetStartColumn(location));
  else
    mlirLocationPrint(location, print_string, stderr);
  fprintf(stderr, ": %s: ", names[mlirDiagnosticGetSeverity(diagnostic)]);
  mlirDiagnosticPrint(diagnostic, print_string, stderr);
  fputc('\n', stderr);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    print_diagnostic(mlirDiagnosticGetNote(diagnostic, i), user);
  return mlirLogicalResultSuccess();
}

// -------------------------------------------------------------------------------------------------------------- files

// The whole file, as malloc gives it.
static MirageStatus read_file(const char *path, char **out_text, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t size = 0, capacity = 0, got = 1;
  while (file && got && size <= MAX_FILE_BYTES) {
    if (size == capacity) {
      char *grown = realloc(text, capacity = capacity ? 2 * capacity : 1 << 16);
      if (!grown) {
        free(text);
        fclose(file);
        return mirage_diag_fail(&diag, NULL, MIRAGE_NO_MEMORY, "%s: out of memory", path);
      }
      text = grown;
    }
    got = fread(text + size, 1, capacity - size, file);
    size += got;
  }
  bool failed = !file || ferror(file);
  int reason = errno;
  if (file)
    fclose(file);
  if (!failed && size <= MAX_FILE_BYTES) {
    *out_text = text;
    *out_size = size;
    return MIRAGE_OK;
  }
  free(text);
  return mirage_diag_fail(&diag, NULL, MIRAGE_IO, "%s: %s", path, failed ? strerror(reason) : "larger than 1 GiB");
}

static MirageStatus write_module(MlirModule module, const char *path) {
  ToolFile file;
  if (strcmp(path, "-") == 0) {
    mlirOperationPrint(mlirModuleGetOperation(module), print_string, stdout);
    return fflush(stdout) == 0 && !ferror(stdout)
               ? MIRAGE_OK
               : mirage_diag_fail(&diag, NULL, MIRAGE_IO, "cannot write to standard output: %s", strerror(errno));
  }
  MIRAGE_TRY(tool_file_begin(path, &diag, &file));
  mlirOperationPrint(mlirModuleGetOperation(module), print_string, file.stream);
  return tool_file_end(&file, true, &diag);
}

// ------------------------------------------------------------------------------------------------------------- module

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirContext create_context(void) {
  MlirDialectHandle handles[] = {mlirGetDialectHandle__mirage_kernel__(), mlirGetDialectHandle__mirage_block__(),
                                 mlirGetDialectHandle__mirage_thread__()};
  MlirContext context = mlirContextCreateWithThreading(false);
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
    mlirDialectHandleRegisterDialect(handles[i], context);
    mlirDialectHandleLoadDialect(handles[i], context);
  }
  mlirContextAttachDiagnosticHandler(context, print_diagnostic, NULL, NULL);
  return context;
}

static MlirModule parse_module(MlirContext context, const char *path) {
  char *text = NULL;
  size_t size = 0;
  if (read_file(path, &text, &size) != MIRAGE_OK) // tried here first: this gives the system's reason
    return (MlirModule){NULL};
  free(text);
  return mlirModuleCreateParseFromFile(context, str(path)); // prints its own errors
}

static bool is_program(MlirOperation op) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("mirage_kernel.graph")) &&
         mlirAttributeIsNull(mlirOperationGetAttributeByName(op, str("source")));
}

/// The graph without a source; of several, the one that --symbol names.
static MirageStatus find_program(MlirModule module, const ImportOptions *options, MlirOperation *out_op) {
  uint32_t found = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!is_program(op))
      continue;
    MlirStringRef symbol = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, str("sym_name")));
    if (options->symbol && !mlirStringRefEqual(symbol, str(options->symbol)))
      continue;
    *out_op = op;
    found++;
  }
  if (found == 1)
    return MIRAGE_OK;
  if (options->symbol)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: no program @%s", options->program_path,
                            options->symbol);
  return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                          "%s: %u programs (mirage_kernel.graph without a source), %s", options->program_path, found,
                          found ? "choose one with --symbol" : "one is wanted");
}

/// Appends all graphs of the file to the module.
static MirageStatus add_graphs(MlirModule module, const ImportOptions *options, const MirageUGraph *program) {
  const MirageDiag file_diag = {print_message, options->json_path};
  const MirageImportOptions import_options = {.program = program, .recompute_shapes = options->recompute_shapes};
  char *text = NULL;
  size_t size = 0;
  MirageImport import = {0};
  MIRAGE_TRY(read_file(options->json_path, &text, &size));
  MirageStatus status = mirage_import_json(text, size, &import_options, &file_diag, &import);
  free(text);
  MlirContext context = mlirModuleGetContext(module);
  for (size_t i = 0; i < import.num_graphs && status == MIRAGE_OK; i++) {
    MlirOperation op;
    MlirLocation location = mlirLocationFileLineColGet(context, str(options->json_path), (unsigned)i + 1, 1);
    status = mirage_bridge_export(import.graphs[i], context, mlirModuleGetBody(module), location, &file_diag, &op);
  }
  mirage_import_deinit(&import);
  if (status == MIRAGE_OK && !mlirOperationVerify(mlirModuleGetOperation(module)))
    return MIRAGE_BAD_GRAPH; // which printed why
  return status;
}

static MirageStatus run(MlirModule module, const ImportOptions *options) {
  MlirOperation program_op;
  MirageBridgeDiag bridge_diag;
  MirageUGraph *program;
  MIRAGE_TRY(find_program(module, options, &program_op));
  mirage_bridge_diag_init(&bridge_diag, mlirOperationGetLocation(program_op));
  MIRAGE_TRY(mirage_bridge_import(program_op, &bridge_diag.diag, &program));
  MirageStatus status = add_graphs(module, options, program);
  mirage_ugraph_destroy(program);
  MIRAGE_TRY(status);
  return write_module(module, options->output_path ? options->output_path : "-");
}

// ------------------------------------------------------------------------------------------------------------- options

static MirageStatus parse_options(int argc, const char **argv, ImportOptions *options) {
  struct poptOption table[] = {
      {"program", 'p', POPT_ARG_STRING, &options->program_path, 0, "the program that the graphs claim to compute",
       "FILE.mlir"},
      {"symbol", 's', POPT_ARG_STRING, &options->symbol, 0, "which program, when the file holds several", "NAME"},
      {"output", 'o', POPT_ARG_STRING, &options->output_path, 0, "where to write the module (default: standard output)",
       "FILE.mlir"},
      {"recompute-shapes", '\0', POPT_ARG_NONE, &options->recompute_shapes, 0,
       "take shapes of intermediate tensors from the operators, whatever the file states", NULL},
      POPT_AUTOHELP POPT_TABLEEND,
  };
  poptContext popt = poptGetContext("mirage-import", argc, argv, table, 0);
  poptSetOtherOptionHelp(popt, "FILE.json --program FILE.mlir [OPTION...]");
  MirageStatus status = MIRAGE_OK;
  int result = poptGetNextOpt(popt);
  const char *path = poptGetArg(popt);
  if (result < -1)
    status = mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: %s", poptBadOption(popt, 0), poptStrerror(result));
  else if (!path || poptPeekArg(popt))
    status = mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "one FILE.json is wanted");
  else if (!options->program_path)
    status =
        mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "--program FILE.mlir is wanted: the file holds no program");
  else if (!(options->json_path = strdup(path)))
    status = MIRAGE_NO_MEMORY;
  poptFreeContext(popt);
  return status;
}

static void free_options(ImportOptions *options) {
  free(options->json_path);
  free(options->program_path);
  free(options->symbol);
  free(options->output_path);
}

int main(int argc, char **argv) {
  ImportOptions options = {0};
  tool_file_no_signal();
  MirageStatus status = parse_options(argc, (const char **)argv, &options);
  if (status == MIRAGE_OK) {
    MlirContext context = create_context();
    MlirModule module = parse_module(context, options.program_path);
    status = mlirModuleIsNull(module) ? MIRAGE_BAD_GRAPH : run(module, &options);
    if (!mlirModuleIsNull(module))
      mlirModuleDestroy(module);
    mlirContextDestroy(context);
  }
  free_options(&options);
  return status == MIRAGE_OK ? 0 : 1;
}
