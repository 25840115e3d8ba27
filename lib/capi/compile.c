// compile.c - mirageCompile: text in, passes in a context of its own, programs out.
#include "capi.h"

#include "mlir-c/Diagnostics.h"
#include "mlir-c/Pass.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One compilation in progress. `text` is scratch for messages.
typedef struct Compile {
  const MirageCompileOptions *options;
  MlirContext context;
  uint32_t num_errors;
  bool placeless;      // an error was about no place in the text: an option
  MirageStatus status; // the kind of the first failure
} Compile;

// A text that grows; a message that does not fit in memory is cut.
typedef struct Text {
  char *data;
  size_t length;
} Text;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static void append(MlirStringRef part, void *user) {
  Text *text = user;
  char *data = realloc(text->data, text->length + part.length + 1);
  if (!data)
    return;
  memcpy(data + text->length, part.data, part.length);
  text->data = data;
  text->length += part.length;
  data[text->length] = '\0';
}

// ------------------------------------------------------------------------------------------------------------ messages

static void tell(Compile *compile, MirageMessage message) {
  compile->num_errors += message.severity == MIRAGE_SEVERITY_ERROR;
  compile->placeless |= message.severity == MIRAGE_SEVERITY_ERROR && !message.line;
  if (compile->options->on_message)
    compile->options->on_message(&message, compile->options->user);
}

static void fail(Compile *compile, MirageStatus status, const char *text) {
  tell(compile, (MirageMessage){.severity = MIRAGE_SEVERITY_ERROR, .file = "", .text = text});
  compile->status = status;
}

static MirageSeverity severity_of(MlirDiagnosticSeverity severity) {
  return severity == MlirDiagnosticError     ? MIRAGE_SEVERITY_ERROR
         : severity == MlirDiagnosticWarning ? MIRAGE_SEVERITY_WARNING
         : severity == MlirDiagnosticRemark  ? MIRAGE_SEVERITY_REMARK
                                             : MIRAGE_SEVERITY_NOTE;
}

/// The first place of a file in `loc`, which may be fused or named.
static bool find_place(MlirLocation loc, MlirLocation *out_place) {
  if (mlirLocationIsAFileLineColRange(loc)) {
    *out_place = loc;
    return true;
  }
  if (mlirLocationIsAName(loc))
    return find_place(mlirLocationNameGetChildLoc(loc), out_place);
  if (mlirLocationIsACallSite(loc))
    return find_place(mlirLocationCallSiteGetCallee(loc), out_place);
  unsigned count = mlirLocationIsAFused(loc) ? mlirLocationFusedGetNumLocations(loc) : 0;
  MlirLocation *parts = count ? malloc(count * sizeof *parts) : NULL;
  bool found = false;
  if (parts)
    mlirLocationFusedGetLocations(loc, parts);
  for (unsigned i = 0; parts && i < count && !found; i++)
    found = find_place(parts[i], out_place);
  free(parts);
  return found;
}

/// What MLIR calls "-" is the caller's text; other names stand in locations that the text holds.
static const char *file_name(const Compile *compile, const char *name) {
  const char *given = compile->options->file;
  return !name ? "" : given && strcmp(name, "-") == 0 ? given : name;
}

static MlirLogicalResult on_diagnostic(MlirDiagnostic diagnostic, void *user) {
  Text text = {0}, file = {0};
  MlirLocation place;
  mlirDiagnosticPrint(diagnostic, append, &text);
  MirageMessage message = {.severity = severity_of(mlirDiagnosticGetSeverity(diagnostic)), .file = ""};
  if (find_place(mlirDiagnosticGetLocation(diagnostic), &place)) {
    append(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place)), &file);
    message.file = file_name(user, file.data);
    message.line = mlirLocationFileLineColRangeGetStartLine(place);
    message.column = mlirLocationFileLineColRangeGetStartColumn(place);
  }
  message.text = text.data ? text.data : "";
  tell(user, message);
  free(text.data);
  free(file.data);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    on_diagnostic(mlirDiagnosticGetNote(diagnostic, i), user);
  return mlirLogicalResultSuccess();
}

// -------------------------------------------------------------------------------------------------------------- passes

/// Whether the options, words apart by blanks, set `name`.
static bool sets(const char *options, const char *name) {
  size_t length = strlen(name);
  for (const char *at = options; (at = strstr(at, name)); at += length)
    if ((at == options || strchr(" \t\n", at[-1])) && strchr("= \t\n", at[length]))
      return true;
  return false;
}

/// Braces would end the options in the pipeline's text, and begin other passes.
static bool check_options(Compile *compile) {
  const char *options = compile->options->options ? compile->options->options : "", *target = compile->options->target;
  if (strpbrk(options, "{}()") || (target && strpbrk(target, "{}()'\"")))
    fail(compile, MIRAGE_BAD_ARGUMENT, "options: brackets and quotation marks have no meaning in options and targets");
  else if (target && sets(options, "target"))
    fail(compile, MIRAGE_BAD_ARGUMENT, "options: the target is given twice: as `target`, and in `options`");
  return compile->status == MIRAGE_OK;
}

/// "builtin.module(convert-linalg-to-mirage,mirage-superoptimize{...})". The caller frees it.
static char *pipeline_text(const MirageCompileOptions *options) {
  const char *given = options->options ? options->options : "", *target = options->target;
  const char *quiet = sets(given, "progress") ? "" : " progress=none";
  size_t size = strlen(given) + (target ? strlen(target) : 0) + 160;
  char *text = malloc(size);
  if (text)
    snprintf(text, size, "builtin.module(convert-linalg-to-mirage,mirage-superoptimize{%s%s%s%s%s})",
             target ? "target='" : "", target ? target : "", target ? "' " : "", given, quiet);
  return text;
}

static void run_pipeline(Compile *compile, MlirModule module, const char *pipeline) {
  MlirPassManager manager = mlirPassManagerCreate(compile->context);
  Text problem = {0};
  if (mlirLogicalResultIsFailure(
          mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager), str(pipeline), append, &problem)))
    fail(compile, MIRAGE_BAD_ARGUMENT, problem.data ? problem.data : "options: they cannot be read");
  else if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))))
    compile->status = compile->placeless ? MIRAGE_BAD_ARGUMENT : MIRAGE_UNSUPPORTED;
  free(problem.data);
  mlirPassManagerDestroy(manager);
}

static void run_passes(Compile *compile, MlirModule module) {
  if (!check_options(compile))
    return;
  char *pipeline = pipeline_text(compile->options);
  if (pipeline)
    run_pipeline(compile, module, pipeline);
  else
    compile->status = MIRAGE_NO_MEMORY;
  free(pipeline);
}

// ---------------------------------------------------------------------------------------------------------------- both

/// The text becomes a module where it is none. Its file has no name for MLIR: on_diagnostic gives it one.
static MlirModule parse(Compile *compile, const char *text, size_t length) {
  char *copy = malloc(length + 1); // MLIR reads one byte beyond, which is NUL
  if (!copy) {
    compile->status = MIRAGE_NO_MEMORY;
    return (MlirModule){NULL};
  }
  memcpy(copy, text, length);
  copy[length] = '\0';
  MlirModule module = mlirModuleCreateParse(compile->context, mlirStringRefCreate(copy, length));
  free(copy);
  if (mlirModuleIsNull(module))
    compile->status = MIRAGE_BAD_GRAPH;
  return module;
}

static void compile_text(Compile *compile, const char *text, size_t length, MirageCompilation *compilation) {
  compile->context = mlirContextCreateWithThreading(false); // the passes have threads of their own
  mirageRegisterEverything(compile->context);
  mlirContextAttachDiagnosticHandler(compile->context, on_diagnostic, compile, NULL);
  MlirModule module = parse(compile, text, length);
  if (compile->status == MIRAGE_OK)
    run_passes(compile, module);
  if (compile->status == MIRAGE_OK)
    compile->status = mirage__compilation_read(compilation, module);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(compile->context);
}

MirageStatus mirageCompile(const char *text, size_t length, const MirageCompileOptions *options,
                           MirageCompilation **out_compilation) {
  Compile compile = {.options = options ? options : &(MirageCompileOptions){0}};
  *out_compilation = NULL;
  MirageCompilation *compilation = calloc(1, sizeof *compilation);
  if (compilation)
    compile_text(&compile, text, length, compilation);
  else
    compile.status = MIRAGE_NO_MEMORY;
  if (compile.status != MIRAGE_OK) {
    mirageCompilationDestroy(compilation);
    if (compile.num_errors == 0)
      fail(&compile, compile.status, mirage_status_string(compile.status));
    return compile.status;
  }
  *out_compilation = compilation;
  return MIRAGE_OK;
}
