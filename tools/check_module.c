// check_module.c - reads a module and finds what mirage-check looks at.
//
// Graphs may stand anywhere, in nested modules too; a graph's `source` is a symbol of the module it stands in, as the
// passes have it. MLIR's verifiers have accepted the module before anything here runs.
#include "check.h"
#include "read_module.h"

#include "mirage/bridge.h"
#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------- finding

static const char *copy_string(MirageArena *arena, MlirStringRef text) {
  char *copy = mirage_arena_alloc(arena, text.length + 1); // zeroed, so terminated
  if (copy)
    memcpy(copy, text.data, text.length);
  return copy;
}

static bool has_attribute(MlirOperation op, const char *name) {
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, read_module_string(name)));
}

static bool is_entry(MlirOperation op) {
  return read_module_is(op, "mirage_kernel.graph") && (has_attribute(op, "source") || has_attribute(op, "proof"));
}

static MlirWalkResult count(MlirOperation op, void *user) {
  CheckModule *module = user;
  module->num_graphs += read_module_is(op, "mirage_kernel.graph");
  module->num_entries += is_entry(op);
  module->num_codes += read_module_is(op, "gpu.binary");
  return MlirWalkResultAdvance;
}

static MlirStringRef symbol_of(MlirOperation op) {
  return mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, read_module_string("sym_name")));
}

static bool entry_init(CheckModule *module, MlirOperation op, CheckEntry *entry) {
  MlirAttribute source = mlirOperationGetAttributeByName(op, read_module_string("source"));
  *entry = (CheckEntry){.op = op, .has_proof = has_attribute(op, "proof"), .selected = has_attribute(op, "selected")};
  entry->name = copy_string(&module->arena, symbol_of(op));
  if (!mlirAttributeIsNull(source))
    entry->source = copy_string(&module->arena, mlirFlatSymbolRefAttrGetValue(source));
  module->num_proofs += entry->has_proof;
  return entry->name && (mlirAttributeIsNull(source) || entry->source);
}

static MlirWalkResult gather(MlirOperation op, void *user) {
  CheckModule *module = user;
  bool ok = true;
  if (is_entry(op))
    ok = entry_init(module, op, &module->entries[module->num_entries++]);
  if (read_module_is(op, "gpu.binary"))
    ok = (module->codes[module->num_codes++] = copy_string(&module->arena, symbol_of(op)));
  return ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

static MirageStatus find_entries(CheckModule *module, const MirageDiag *diag) {
  MlirOperation root = mlirModuleGetOperation(module->module);
  mlirOperationWalk(root, count, module, MlirWalkPreOrder);
  uint32_t entries = module->num_entries, codes = module->num_codes;
  module->entries = mirage_arena_alloc_array(&module->arena, entries, sizeof *module->entries);
  module->codes = mirage_arena_alloc_array(&module->arena, codes, sizeof *module->codes);
  module->num_entries = module->num_codes = 0;
  if (module->entries && module->codes)
    mlirOperationWalk(root, gather, module, MlirWalkPreOrder);
  if (module->num_entries == entries && module->num_codes == codes)
    return MIRAGE_OK;
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "%s: out of memory", module->path);
}

MirageStatus check_module_load(const char *path, const MirageDiag *diag, CheckModule *out_module) {
  *out_module = (CheckModule){.path = path};
  mirage_arena_init(&out_module->arena, NULL);
  static const ModuleReader reader = {.tool = "mirage-check", .remarks = true};
  out_module->context = read_module_context(&reader);
  MirageStatus status = read_module_file(out_module->context, path, diag, &out_module->module);
  if (status == MIRAGE_BAD_GRAPH)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_GRAPH, "%s: no module that MLIR accepts; nothing in it was checked",
                            path);
  return status == MIRAGE_OK ? find_entries(out_module, diag) : status;
}

void check_module_deinit(CheckModule *module) {
  if (!mlirModuleIsNull(module->module))
    mlirModuleDestroy(module->module);
  if (module->context.ptr)
    mlirContextDestroy(module->context);
  mirage_arena_deinit(&module->arena);
}

// ------------------------------------------------------------------------------------------------------------ checking

/// The graph that stands beside `op` and has the symbol `name`, or null.
static MlirOperation find_beside(MlirOperation op, const char *name) {
  MlirOperation found = mlirBlockGetFirstOperation(mlirOperationGetBlock(op));
  while (!mlirOperationIsNull(found) && !(read_module_is(found, "mirage_kernel.graph") &&
                                          mlirStringRefEqual(symbol_of(found), read_module_string(name))))
    found = mlirOperationGetNextInBlock(found);
  return found;
}

// What the bridge cannot take is refused with its sentence, and *out_graph is NULL.
static MirageStatus import_graph(CheckEntry *entry, MlirOperation op, MirageUGraph **out_graph) {
  const MirageDiag diag = {check_keep_reason, &entry->answer};
  MirageStatus status = mirage_bridge_import(op, &diag, out_graph);
  if (status == MIRAGE_OK || status == MIRAGE_NO_MEMORY)
    return status;
  entry->answer.outcome = CHECK_REFUSED;
  return MIRAGE_OK;
}

static MirageStatus check_pair(CheckEntry *entry, MlirOperation source, const CheckSettings *settings) {
  MirageUGraph *program = NULL, *candidate = NULL;
  MirageStatus status = import_graph(entry, source, &program);
  if (status == MIRAGE_OK && program)
    status = import_graph(entry, entry->op, &candidate);
  if (status == MIRAGE_OK && candidate)
    status = check_proof(program, candidate, settings, &entry->answer);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  return status;
}

// The dialect has checked that the source is a program, another graph, and of the same signature.
MirageStatus check_module_entry(CheckEntry *entry, const CheckOptions *options) {
  CheckAnswer *answer = &entry->answer;
  if (!entry->has_proof && !options->all) {
    answer->outcome = CHECK_NO_PROOF;
    return MIRAGE_OK;
  }
  MlirOperation source = entry->source ? find_beside(entry->op, entry->source) : (MlirOperation){NULL};
  if (!mlirOperationIsNull(source))
    return check_pair(entry, source, &options->settings);
  answer->outcome = CHECK_REFUSED;
  if (entry->source)
    snprintf(answer->reason, sizeof answer->reason, "its source @%s does not stand beside it", entry->source);
  else
    snprintf(answer->reason, sizeof answer->reason, "it has a proof and no source: nothing says what it shall compute");
  return MIRAGE_OK;
}
