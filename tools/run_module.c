// run_module.c - reads a compiled module: the program, the µGraph selected for it, and that graph's PTX.
//
// What mirage-superoptimize leaves behind, and what is looked for here:
//   mirage_kernel.graph @p ...                                       the program: no `source`
//   mirage_kernel.graph @p_0 ... {source = @p, selected, ...}        its µGraph, with a launch on every custom kernel
//   gpu.binary @p_0_bin [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "PTX">]
#include "run.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/GPU.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_OBJECT_ASSEMBLY = 2 }; // gpu::CompilationTarget::Assembly: PTX text

// ------------------------------------------------------------------------------------------------------------- finding

static MlirStringRef symbol_of(MlirOperation op) {
  return mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, read_module_string("sym_name")));
}

static MlirOperation first_op(const RunModule *module) {
  return mlirBlockGetFirstOperation(mlirModuleGetBody(module->module));
}

static bool has_source(MlirOperation graph) {
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(graph, read_module_string("source")));
}

static bool is_program(MlirOperation op) { return read_module_is(op, "mirage_kernel.graph") && !has_source(op); }

static bool is_candidate_of(MlirOperation op, MlirStringRef program) {
  if (!read_module_is(op, "mirage_kernel.graph") || !has_source(op))
    return false;
  MlirAttribute source = mlirOperationGetAttributeByName(op, read_module_string("source"));
  return mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(source), program);
}

static bool is_selected_for(MlirOperation op, MlirStringRef program) {
  return is_candidate_of(op, program) &&
         !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, read_module_string("selected")));
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
    if (mlirStringRefEqual(symbol_of(op), read_module_string(options->graph))) {
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
    if (!is_program(op) ||
        (options->program && !mlirStringRefEqual(symbol_of(op), read_module_string(options->program))))
      continue;
    *out_op = op;
    found++;
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
  MlirAttribute objects = mlirOperationGetAttributeByName(binary, read_module_string("objects"));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(objects); i++) {
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
    if (!read_module_is(op, "gpu.binary") || !is_binary_of(graph, symbol_of(op)))
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
  MlirAttribute search = mlirOperationGetAttributeByName(program, read_module_string("mirage_kernel.search"));
  if (mlirAttributeIsNull(search) || !mlirAttributeIsADictionary(search))
    return 0;
  MlirAttribute exhausted = mlirDictionaryAttrGetElementByName(search, read_module_string("exhausted"));
  MlirAttribute most = mlirDictionaryAttrGetElementByName(search, read_module_string("max_block_ops"));
  if (mlirAttributeIsNull(exhausted) || mlirAttributeIsNull(most) || !mlirAttributeIsAInteger(most))
    return 0;
  int64_t value = mlirIntegerAttrGetValueInt(most);
  return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

MirageStatus run_module_load(const RunOptions *options, const MirageDiag *diag, RunModule *module) {
  *module = (RunModule){0};
  MlirOperation program = {NULL};
  module->reader = (ModuleReader){.tool = "mirage-run", .remarks = options->verbose};
  module->context = read_module_context(&module->reader);
  MIRAGE_TRY(read_module_file(module->context, options->module_path, diag, &module->module));
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

static void print_string(MlirStringRef part, void *stream) { fwrite(part.data, 1, part.length, stream); }

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
