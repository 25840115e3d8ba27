// run_module.c - reads a compiled module: the program, the µGraph selected for it, and that graph's PTX.
//
// What mirage-superoptimize leaves behind, and what is looked for here:
//   mirage_kernel.graph @p ...                                       the program: no `source`
//   mirage_kernel.graph @p_0 ... {source = @p, selected, ...}        its µGraph, with a launch on every custom kernel
//   gpu.binary @p_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "PTX">]
#include "run.h"

#include "mirage-c/Dialects.h"
#include "mlir-c/BuiltinAttributes.h"
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
#include <stdlib.h>
#include <string.h>

enum { GPU_OBJECT_ASSEMBLY = 2 }; // gpu::CompilationTarget::Assembly: PTX text

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// --------------------------------------------------------------------------------------------------------- diagnostics

static void print_string(MlirStringRef part, void *stream) { fwrite(part.data, 1, part.length, stream); }

static void print_location(MlirLocation location) {
  if (mlirLocationIsAFileLineColRange(location)) {
    MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
    fprintf(stderr, "%.*s:%d:%d: ", (int)file.length, file.data, mlirLocationFileLineColRangeGetStartLine(location),
            mlirLocationFileLineColRangeGetStartColumn(location));
  } else if (mlirLocationEqual(location, mlirLocationUnknownGet(mlirLocationGetContext(location)))) {
    fputs("mirage-run: ", stderr);
  } else {
    mlirLocationPrint(location, print_string, stderr);
    fputs(": ", stderr);
  }
}

// Prints "file:line:column: error: message" and the notes below it. `user` points to whether remarks are wanted.
static MlirLogicalResult print_diagnostic(MlirDiagnostic diagnostic, void *user) {
  static const char *const names[] = {"error", "warning", "note", "remark"}; // by MlirDiagnosticSeverity
  MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  if (severity == MlirDiagnosticRemark && !*(const bool *)user)
    return mlirLogicalResultSuccess();
  print_location(mlirDiagnosticGetLocation(diagnostic));
  fprintf(stderr, "%s: ", names[severity]);
  mlirDiagnosticPrint(diagnostic, print_string, stderr);
  fputc('\n', stderr);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
    print_diagnostic(mlirDiagnosticGetNote(diagnostic, i), user);
  return mlirLogicalResultSuccess();
}

// ------------------------------------------------------------------------------------------------------------- parsing

// Ours, those of the code beside a graph, and those of the functions that may call it, which are passed over.
// Operations of any other dialect are read where they stand in the generic form.
static MlirContext create_context(void) {
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
  for (size_t i = 0; i < sizeof handles / sizeof *handles; ++i) {
    mlirDialectHandleRegisterDialect(handles[i], context);
    mlirDialectHandleLoadDialect(handles[i], context);
  }
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

static MirageStatus parse(RunModule *module, const RunOptions *options, const MirageDiag *diag) {
  const char *path = options->module_path;
  MIRAGE_TRY(check_readable(path, diag));
  module->module = mlirModuleCreateParseFromFile(module->context, str(path)); // prints its own errors
  return mlirModuleIsNull(module->module) ? MIRAGE_BAD_GRAPH : MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- finding

static bool is_named(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str(name));
}

static MlirStringRef symbol_of(MlirOperation op) {
  return mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, str("sym_name")));
}

static MlirOperation first_op(const RunModule *module) {
  return mlirBlockGetFirstOperation(mlirModuleGetBody(module->module));
}

static bool has_source(MlirOperation graph) {
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(graph, str("source")));
}

static bool is_program(MlirOperation op) { return is_named(op, "mirage_kernel.graph") && !has_source(op); }

static bool is_candidate_of(MlirOperation op, MlirStringRef program) {
  if (!is_named(op, "mirage_kernel.graph") || !has_source(op))
    return false;
  MlirAttribute source = mlirOperationGetAttributeByName(op, str("source"));
  return mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(source), program);
}

static bool is_selected_for(MlirOperation op, MlirStringRef program) {
  return is_candidate_of(op, program) && !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, str("selected")));
}

MlirOperation run_next_candidate(const RunModule *module, MlirOperation after) {
  MlirOperation op = mlirOperationIsNull(after) ? first_op(module) : mlirOperationGetNextInBlock(after);
  while (!mlirOperationIsNull(op) && !is_candidate_of(op, symbol_of(module->program_op)))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

static MirageStatus find_graph(RunModule *module, const RunOptions *options, const MirageDiag *diag) {
  for (MlirOperation op = run_next_candidate(module, (MlirOperation){NULL}); !mlirOperationIsNull(op);
       op = run_next_candidate(module, op))
    if (mlirStringRefEqual(symbol_of(op), str(options->graph))) {
      module->chosen_op = op;
      return MIRAGE_OK;
    }
  MlirStringRef name = symbol_of(module->program_op);
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: no graph @%s whose source is @%.*s",
                          options->module_path, options->graph, (int)name.length, name.data);
}

static MirageStatus no_program(const RunModule *module, const RunOptions *options, uint32_t found,
                               const MirageDiag *diag) {
  char names[512] = "";
  size_t used = 0;
  for (MlirOperation op = first_op(module); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (is_program(op) && used < sizeof names) {
      MlirStringRef symbol = symbol_of(op);
      used += (size_t)snprintf(names + used, sizeof names - used, "%s@%.*s", used ? ", " : "", (int)symbol.length,
                               symbol.data);
    }
  const char *path = options->module_path;
  if (used == 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH,
                            "%s: no program: a mirage_kernel.graph without a source is wanted", path);
  if (options->program)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: no program @%s: the module holds %s", path,
                            options->program, names);
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: %u programs (%s): choose one with --program", path,
                          found, names);
}

static MirageStatus find_program(const RunModule *module, const RunOptions *options, const MirageDiag *diag,
                                 MlirOperation *out_op) {
  uint32_t found = 0;
  for (MlirOperation op = first_op(module); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!is_program(op) || (options->program && !mlirStringRefEqual(symbol_of(op), str(options->program))))
      continue;
    *out_op = op;
    ++found;
  }
  return found == 1 ? MIRAGE_OK : no_program(module, options, found, diag);
}

static MirageStatus find_selected(RunModule *module, const RunOptions *options, MlirOperation program,
                                  const MirageDiag *diag) {
  MlirStringRef name = symbol_of(program);
  for (MlirOperation op = first_op(module); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (is_selected_for(op, name)) {
      module->chosen_op = op;
      return MIRAGE_OK;
    }
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH,
                          "%s: no µGraph is selected for @%.*s: compile the module first: "
                          "mirage-mlir-opt --mirage-superoptimize %s -o compiled.mlir",
                          options->module_path, (int)name.length, name.data, options->module_path);
}

// Reads `chip = "..."` from the printed target: the C API has no accessor for #nvvm.target.
static void append_text(MlirStringRef part, void *user) {
  char *text = user; // 512 bytes
  size_t used = strlen(text);
  size_t length = part.length < 511 - used ? part.length : 511 - used;
  memcpy(text + used, part.data, length);
  text[used + length] = '\0';
}

static void read_chip(RunModule *module, MlirAttribute target) {
  char text[512] = "";
  mlirAttributePrint(target, append_text, text);
  const char *chip = strstr(text, "chip = \"");
  if (!chip || sscanf(chip, "chip = \"%31[^\"]", module->chip) != 1)
    strcpy(module->chip, "unknown"); // a default, which the attribute leaves out when printed
  module->target = mirage_target_find(module->chip);
}

static MlirAttribute find_ptx(MlirOperation binary) {
  MlirAttribute objects = mlirOperationGetAttributeByName(binary, str("objects"));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(objects); ++i) {
    MlirAttribute object = mlirArrayAttrGetElement(objects, i);
    if (mlirAttributeIsAGPUObjectAttr(object) && mlirGPUObjectAttrGetFormat(object) == GPU_OBJECT_ASSEMBLY)
      return object;
  }
  return (MlirAttribute){NULL};
}

// A graph's code is called like it, with "_bin" behind.
static bool is_binary_of(MlirStringRef graph, MlirStringRef symbol) {
  return symbol.length == graph.length + 4 && !memcmp(symbol.data, graph.data, graph.length) &&
         !memcmp(symbol.data + graph.length, "_bin", 4);
}

static MirageStatus find_binary(RunModule *module, const RunOptions *options, const MirageDiag *diag) {
  MlirStringRef graph = symbol_of(module->chosen_op);
  for (MlirOperation op = first_op(module); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!is_named(op, "gpu.binary") || !is_binary_of(graph, symbol_of(op)))
      continue;
    MlirAttribute object = find_ptx(op);
    if (mlirAttributeIsNull(object))
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH, "%s: gpu.binary @%.*s_bin holds no PTX (assembly) object",
                              options->module_path, (int)graph.length, graph.data);
    MlirStringRef text = mlirGPUObjectAttrGetObject(object);
    char *ptx = calloc(1, text.length + 1);
    if (!ptx)
      return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "%s: out of memory", options->module_path);
    module->ptx = memcpy(ptx, text.data, text.length);
    read_chip(module, mlirGPUObjectAttrGetTarget(object));
    return MIRAGE_OK;
  }
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH,
                          "%s: @%.*s has no gpu.binary @%.*s_bin: lower the module first: mirage-mlir-opt "
                          "--mirage-lower %s -o compiled.mlir",
                          options->module_path, (int)graph.length, graph.data, (int)graph.length, graph.data,
                          options->module_path);
}

// ------------------------------------------------------------------------------------------------------------- loading

// The graph to run: the selected one, or the one that --graph names; its PTX is the module's, or made here.
static MirageStatus load_chosen(RunModule *module, const RunOptions *options, const MirageDiag *diag) {
  MIRAGE_TRY(options->graph ? find_graph(module, options, diag)
                            : find_selected(module, options, module->program_op, diag));
  if (!options->compile)
    MIRAGE_TRY(find_binary(module, options, diag));
  MIRAGE_TRY(mirage_bridge_import(module->chosen_op, &module->bridge_diag.diag, &module->chosen));
  return options->compile ? run_compile_chosen(module, options->compile, diag) : MIRAGE_OK;
}

// mirage_kernel.search = {exhausted, max_block_ops = N}, as mirage-enumerate=optimal leaves it at the program.
static uint32_t exhausted_ops(MlirOperation program) {
  MlirAttribute search = mlirOperationGetAttributeByName(program, str("mirage_kernel.search"));
  if (mlirAttributeIsNull(search) || !mlirAttributeIsADictionary(search))
    return 0;
  MlirAttribute exhausted = mlirDictionaryAttrGetElementByName(search, str("exhausted"));
  MlirAttribute most = mlirDictionaryAttrGetElementByName(search, str("max_block_ops"));
  if (mlirAttributeIsNull(exhausted) || mlirAttributeIsNull(most) || !mlirAttributeIsAInteger(most))
    return 0;
  int64_t value = mlirIntegerAttrGetValueInt(most);
  return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

MirageStatus run_module_load(const RunOptions *options, const MirageDiag *diag, RunModule *module) {
  *module = (RunModule){0};
  MlirOperation program = {NULL};
  module->context = create_context();
  mlirContextAttachDiagnosticHandler(module->context, print_diagnostic, (void *)&options->verbose, NULL);
  MIRAGE_TRY(parse(module, options, diag));
  MIRAGE_TRY(find_program(module, options, diag, &program));
  module->program_op = program;
  module->exhausted_ops = exhausted_ops(program);
  mirage_bridge_diag_init(&module->bridge_diag, mlirOperationGetLocation(program));
  MIRAGE_TRY(mirage_bridge_import(program, &module->bridge_diag.diag, &module->program));
  return options->tune ? MIRAGE_OK : load_chosen(module, options, diag);
}

void run_module_deinit(RunModule *module) {
  mirage_ugraph_destroy(module->chosen);
  mirage_ugraph_destroy(module->program);
  free((void *)module->ptx);
  if (!mlirModuleIsNull(module->module))
    mlirModuleDestroy(module->module);
  if (module->context.ptr)
    mlirContextDestroy(module->context);
}

void run_module_print(const RunModule *module, FILE *file) {
  mlirOperationPrint(mlirModuleGetOperation(module->module), print_string, file);
}

void run_module_print_chosen(const RunModule *module) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOperationPrintWithFlags(module->chosen_op, flags, print_string, stdout);
  mlirOpPrintingFlagsDestroy(flags);
  fputc('\n', stdout);
}
