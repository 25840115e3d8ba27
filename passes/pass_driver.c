// pass_driver.c - runs one row of the pass table on one module, and registers the table.
//
// Check:  values out of range, unknown targets and words are refused before any pass of the pipeline runs.
// Run:    the body is called with a sink that emits MLIR diagnostics at the location of the node in question; a failure
//         that brought no sentence of its own gets the status's meaning. MIRAGE_TRACE=prune,verify (or "all") prints
//         the module to standard error after each of the named stages.
#include "mirage-c/Dialects.h"
#include "mirage-c/Passes.h"
#include "passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Whether the comma-separated `list` (or NULL) has `word`.
static bool list_has(const char *list, const char *word) {
  while (list && *list) {
    size_t length = strcspn(list, ",");
    if (length == strlen(word) && memcmp(list, word, length) == 0)
      return true;
    list += length + (list[length] == ',');
  }
  return false;
}

// --------------------------------------------------------------------------------------------------------------
// options

static MirageStatus check_number(const MiragePassInfo *pass, const MiragePassOption *option, double value,
                                 const MirageDiag *diag) {
  if (value >= option->min && value <= option->max)
    return MIRAGE_OK;
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: option %s must lie between %.15g and %.15g, got %.15g",
                          pass->argument, option->name, option->min, option->max, value);
}

static MirageStatus check_target(const MiragePassInfo *pass, const char *name, const MirageDiag *diag) {
  if (mirage_target_find(name))
    return MIRAGE_OK;
  char known[512];
  mirage_target_list(name, known, sizeof known);
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: target '%s' is not known; known are %s", pass->argument,
                          name, known);
}

static MirageStatus check_tuples(const MiragePassInfo *pass, const MiragePassOption *option,
                                 const MiragePassTextList *list, const MirageDiag *diag) {
  char where[128];
  snprintf(where, sizeof where, "%s: option %s", pass->argument, option->name);
  for (size_t i = 0; i < list->size; i++) {
    MiragePassTuple tuple;
    if (!mirage__parse_tuple(list->data[i], &tuple))
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: '%s' is no %s", where, list->data[i],
                              option->most == 1 ? "integer" : "list of up to three integers, as 4x2x1 or 0:-1:1");
    MIRAGE_TRY(mirage__check_tuple(option, where, &tuple, diag));
  }
  return MIRAGE_OK;
}

static MirageStatus check_option(const MiragePassInfo *pass, const MiragePassOption *option, const char *field,
                                 const MirageDiag *diag) {
  switch (option->kind) {
  case MIRAGE_OPTION_BOOL:
  case MIRAGE_OPTION_STRING:
    return MIRAGE_OK;
  case MIRAGE_OPTION_INT:
    return check_number(pass, option, (double)*(const int64_t *)field, diag);
  case MIRAGE_OPTION_DOUBLE:
    return check_number(pass, option, *(const double *)field, diag);
  case MIRAGE_OPTION_TUPLES:
    return check_tuples(pass, option, (const MiragePassTextList *)field, diag);
  case MIRAGE_OPTION_CHOICE: {
    const char *word = *(const char *const *)field;
    if (list_has(option->choices, word))
      return MIRAGE_OK;
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: option %s must be one of %s, got '%s'",
                            pass->argument, option->name, option->choices, word);
  }
  case MIRAGE_OPTION_TARGET:
    return check_target(pass, *(const char *const *)field, diag);
  }
  return MIRAGE_BAD_ARGUMENT;
}

MlirLogicalResult mirage__pass_check(const MiragePassInfo *pass, MlirContext context, const void *options) {
  MirageBridgeDiag sink;
  mirage_bridge_diag_init(&sink, mlirLocationUnknownGet(context));
  for (size_t i = 0; i < pass->num_options; i++)
    if (check_option(pass, &pass->options[i], (const char *)options + pass->options[i].offset, &sink.diag) != MIRAGE_OK)
      return mlirLogicalResultFailure();
  if (pass->check && pass->check(options, &sink.diag) != MIRAGE_OK)
    return mlirLogicalResultFailure();
  return mlirLogicalResultSuccess();
}

MirageTarget mirage__pass_target(const char *name, bool tensor_maps) {
  const MirageTarget *target = mirage_target_find(name); // checked before any pass runs
  return tensor_maps ? *target : mirage_target_without_maps(target);
}

// ------------------------------------------------------------------------------------------------------------------
// run

/// The sink of one run: counts errors, so that none goes unexplained.
typedef struct RunSink {
  MlirLocation fallback;
  uint32_t num_errors;
} RunSink;

static MlirDiagnosticSeverity to_mlir(MirageSeverity severity) {
  switch (severity) {
  case MIRAGE_SEVERITY_ERROR:
    return MlirDiagnosticError;
  case MIRAGE_SEVERITY_WARNING:
    return MlirDiagnosticWarning;
  case MIRAGE_SEVERITY_REMARK:
  case MIRAGE_SEVERITY_NOTE: // MLIR attaches notes to other diagnostics only
    break;
  }
  return MlirDiagnosticRemark;
}

static void sink_emit(void *user, MirageSeverity severity, const void *loc, const char *message) {
  RunSink *sink = user;
  MlirLocation where = sink->fallback;
  if (loc)
    where.ptr = loc;
  if (severity == MIRAGE_SEVERITY_ERROR)
    sink->num_errors++;
  mirageEmitDiagnostic(where, to_mlir(severity), message);
}

static void print_chunk(MlirStringRef text, void *user) { fwrite(text.data, 1, text.length, user); }

static void trace(const MiragePassInfo *pass, MlirOperation module) {
  const char *stages = getenv("MIRAGE_TRACE");
  if (!list_has(stages, pass->stage) && !list_has(stages, "all"))
    return;
  fprintf(stderr, "// ----- after %s\n", pass->argument);
  mlirOperationPrint(module, print_chunk, stderr);
  fputc('\n', stderr);
}

MlirLogicalResult mirage__pass_run(const MiragePassInfo *pass, MlirOperation module, const void *options) {
  RunSink sink = {mlirOperationGetLocation(module), 0};
  const MirageDiag diag = {sink_emit, &sink};
  mirage__pass_begins();
  MirageStatus status = pass->run(module, options, &diag);
  mirage__pass_ends(pass->argument);
  if (status != MIRAGE_OK) {
    if (sink.num_errors == 0)
      mirage_diag_emit(&diag, MIRAGE_SEVERITY_ERROR, NULL, "%s: %s", pass->argument, mirage_status_string(status));
    return mlirLogicalResultFailure();
  }
  trace(pass, module);
  return mlirLogicalResultSuccess();
}

void mirageRegisterAllPasses(void) {
  for (size_t i = 0; i < MIRAGE_NUM_PASSES; i++)
    mirage__shim_register_pass(&MIRAGE_PASSES[i]);
  for (size_t i = 0; i < MIRAGE_NUM_PIPELINES; i++)
    mirage__shim_register_pipeline(&MIRAGE_PIPELINES[i]);
}

void mirageForEachPass(MiragePassVisitor visit, void *user) {
  for (size_t i = 0; i < MIRAGE_NUM_PASSES; i++)
    visit(MIRAGE_PASSES[i].argument, MIRAGE_PASSES[i].summary, user);
  for (size_t i = 0; i < MIRAGE_NUM_PIPELINES; i++)
    visit(MIRAGE_PIPELINES[i].argument, MIRAGE_PIPELINES[i].summary, user);
}
