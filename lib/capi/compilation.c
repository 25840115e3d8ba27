// compilation.c - the compiled programs of a module: what mirage-superoptimize leaves behind, taken out of MLIR.
//
//   mirage_kernel.graph @p ...                              a program: no `source`
//   mirage_kernel.graph @p_0 ... {source = @p, selected}    its µGraph, with a launch on every kernel
//   gpu.binary @p_0_bin                                     and its PTX
#define _POSIX_C_SOURCE 200809L // strnlen
#include "capi.h"

#include "mirage/bridge.h"
#include "mlir-c/BuiltinAttributes.h"
#include <stdlib.h>
#include <string.h>

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

// ------------------------------------------------------------------------------------------------------------- finding

static MlirAttribute attribute_of(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, str(name));
}

static bool is_graph(MlirOperation op) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("mirage_kernel.graph"));
}

static bool is_program(MlirOperation op) { return is_graph(op) && mlirAttributeIsNull(attribute_of(op, "source")); }

static MlirStringRef symbol_of(MlirOperation op) { return mlirStringAttrGetValue(attribute_of(op, "sym_name")); }

static bool is_selected_for(MlirOperation op, MlirStringRef program) {
  return is_graph(op) && !mlirAttributeIsNull(attribute_of(op, "selected")) &&
         !mlirAttributeIsNull(attribute_of(op, "source")) &&
         mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(attribute_of(op, "source")), program);
}

static MlirOperation find_selected(MlirOperation program) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirOperationGetBlock(program));
  while (!mlirOperationIsNull(op) && !is_selected_for(op, symbol_of(program)))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

static uint32_t count_programs(MlirOperation first) {
  uint32_t count = 0;
  for (MlirOperation op = first; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    count += is_program(op);
  return count;
}

// ------------------------------------------------------------------------------------------------------------- copying

static MirageType *copy_types(MirageArena *arena, const MirageUGraph *graph, bool inputs, uint32_t count) {
  MirageType *types = mirage_arena_alloc_array(arena, count, sizeof *types);
  for (uint32_t i = 0; types && i < count; i++)
    types[i] =
        *mirage_ugraph_type(graph, inputs ? mirage_ugraph_get_input(graph, i) : mirage_ugraph_get_output(graph, i));
  return types;
}

static MirageStatus describe(MirageArena *arena, MirageCompiledProgram *program) {
  const MirageUGraph *graph = mirage_callable_graph(program->callable);
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(graph);
  program->name = meta->source;
  program->graph = meta->name;
  program->chip = mirage_callable_chip(program->callable);
  program->ptx = mirage_callable_ptx(program->callable);
  program->ptx_bytes = strlen(program->ptx);
  program->plan = mirage_callable_plan(program->callable);
  program->num_inputs = mirage_ugraph_num_inputs(graph);
  program->num_outputs = mirage_ugraph_num_outputs(graph);
  program->inputs = copy_types(arena, graph, true, program->num_inputs);
  program->outputs = copy_types(arena, graph, false, program->num_outputs);
  program->predicted_us = meta->cost.present ? meta->cost.time_us : 0;
  program->measured_us = meta->cost.present ? meta->cost.measured_us : 0;
  program->log2_bound = meta->proof.present ? meta->proof.log2_bound : 0;
  return program->inputs && program->outputs ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

static MirageStatus read_program(MirageCompilation *compilation, MlirOperation op, MirageCompiledProgram *program) {
  MirageBridgeDiag sink;
  MirageBridgeCode code;
  MirageUGraph *graph = NULL;
  MlirOperation selected = find_selected(op);
  MlirStringRef name = symbol_of(op);
  mirage_bridge_diag_init(&sink, mlirOperationGetLocation(op));
  if (mlirOperationIsNull(selected))
    return mirage_diag_fail(&sink.diag, NULL, MIRAGE_BAD_GRAPH,
                            "@%.*s: no µGraph is selected for this program: run mirage-superoptimize on the module",
                            (int)name.length, name.data);
  if (!mirage_bridge_find_code(selected, &code))
    return mirage_diag_fail(&sink.diag, NULL, MIRAGE_BAD_GRAPH,
                            "@%.*s: the selected µGraph has no gpu.binary with PTX: run mirage-lower on the module",
                            (int)name.length, name.data);
  MIRAGE_TRY(mirage_bridge_import(selected, &sink.diag, &graph));
  MIRAGE_TRY(mirage_callable_create(graph, code.ptx.data, strnlen(code.ptx.data, code.ptx.length), code.chip,
                                    &sink.diag, &program->callable));
  return describe(&compilation->arena, program);
}

static MirageStatus read_programs(MirageCompilation *compilation, MlirModule module) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  uint32_t count = count_programs(op);
  MirageBridgeDiag sink;
  mirage_bridge_diag_init(&sink, mlirOperationGetLocation(mlirModuleGetOperation(module)));
  if (count == 0)
    return mirage_diag_fail(&sink.diag, NULL, MIRAGE_BAD_GRAPH,
                            "no program: the module holds neither a mirage_kernel.graph nor a func.func of which "
                            "convert-linalg-to-mirage can take a part; convert-linalg-to-mirage=explain says why");
  compilation->programs = mirage_arena_alloc_array(&compilation->arena, count, sizeof *compilation->programs);
  if (!compilation->programs)
    return MIRAGE_NO_MEMORY;
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (is_program(op))
      MIRAGE_TRY(read_program(compilation, op, &compilation->programs[compilation->num_programs++]));
  return MIRAGE_OK;
}

static void append(MlirStringRef part, void *user) {
  MirageCompilation *compilation = user;
  size_t needed = compilation->text_length + part.length + 1;
  if (needed > compilation->text_room) {
    char *text = realloc(compilation->text, 2 * needed);
    if (!text) // noticed at the end: the text is not as long as what was appended
      return;
    compilation->text = text;
    compilation->text_room = 2 * needed;
  }
  memcpy(compilation->text + compilation->text_length, part.data, part.length);
  compilation->text_length += part.length;
  compilation->text[compilation->text_length] = '\0';
}

static void count(MlirStringRef part, void *user) { *(size_t *)user += part.length; }

static MirageStatus print_module(MirageCompilation *compilation, MlirModule module) {
  size_t length = 0;
  mlirOperationPrint(mlirModuleGetOperation(module), append, compilation);
  mlirOperationPrint(mlirModuleGetOperation(module), count, &length);
  return compilation->text_length == length ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

MirageStatus mirage__compilation_read(MirageCompilation *compilation, MlirModule module) {
  MIRAGE_TRY(read_programs(compilation, module));
  return print_module(compilation, module);
}

// -------------------------------------------------------------------------------------------------------------- public

MirageStatus mirageReadModule(MlirModule module, MirageCompilation **out_compilation) {
  *out_compilation = NULL;
  MirageCompilation *compilation = calloc(1, sizeof *compilation);
  MirageStatus status = compilation ? mirage__compilation_read(compilation, module) : MIRAGE_NO_MEMORY;
  if (status != MIRAGE_OK) {
    mirageCompilationDestroy(compilation);
    return status;
  }
  *out_compilation = compilation;
  return MIRAGE_OK;
}

void mirageCompilationDestroy(MirageCompilation *compilation) {
  if (!compilation)
    return;
  for (uint32_t i = 0; i < compilation->num_programs; i++)
    mirage_callable_destroy(compilation->programs[i].callable);
  mirage_arena_deinit(&compilation->arena);
  free(compilation->text);
  free(compilation);
}

uint32_t mirageCompilationGetNumPrograms(const MirageCompilation *compilation) { return compilation->num_programs; }

const MirageCompiledProgram *mirageCompilationGetProgram(const MirageCompilation *compilation, uint32_t index) {
  return index < compilation->num_programs ? &compilation->programs[index] : NULL;
}

const MirageCompiledProgram *mirageCompilationFindProgram(const MirageCompilation *compilation, const char *name) {
  for (uint32_t i = 0; i < compilation->num_programs; i++)
    if (strcmp(compilation->programs[i].name, name) == 0)
      return &compilation->programs[i];
  return NULL;
}

const char *mirageCompilationGetModuleText(const MirageCompilation *compilation, size_t *out_length) {
  if (out_length)
    *out_length = compilation->text_length;
  return compilation->text;
}
