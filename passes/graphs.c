// graphs.c - the graphs of a module: listing, importing, rewriting in place, adding siblings, erasing.
//
// Call order:  init  (find | import | rewrite | append | erase)*  deinit.
// A program is a mirage_kernel.graph without `source`; its candidates are the graphs whose `source` names it. Passes
// keep the user's order: what is rewritten stays where it stood, what is added comes right after what it belongs to.
#include "mirage/canonical.h"
#include "mirage/cost.h"
#include "mirage/layout.h"
#include "passes.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>
#include <string.h>

static const char GRAPH_OP[] = "mirage_kernel.graph";

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static bool is_graph(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return name.length == sizeof GRAPH_OP - 1 && memcmp(name.data, GRAPH_OP, name.length) == 0;
}

static const char *copy_string(MirageArena *arena, MlirStringRef text) {
  char *copy = mirage_arena_alloc(arena, text.length + 1); // zeroed, so terminated
  if (copy)
    memcpy(copy, text.data, text.length);
  return copy;
}

static MirageStatus entry_init(MirageModuleGraphs *graphs, MlirOperation op, MirageModuleGraph *entry) {
  *entry = (MirageModuleGraph){.op = op};
  MlirAttribute name = mlirOperationGetAttributeByName(op, str("sym_name"));
  entry->name = copy_string(&graphs->arena, mlirStringAttrGetValue(name));
  if (!entry->name)
    return MIRAGE_NO_MEMORY;
  MlirAttribute source = mlirOperationGetAttributeByName(op, str("source"));
  if (mlirAttributeIsNull(source))
    return MIRAGE_OK;
  entry->source = copy_string(&graphs->arena, mlirFlatSymbolRefAttrGetValue(source));
  return entry->source ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

MirageStatus mirage__graphs_init(MirageModuleGraphs *graphs, MlirOperation module, const MirageDiag *diag) {
  *graphs = (MirageModuleGraphs){.module = module, .diag = diag};
  graphs->body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  mirage_arena_init(&graphs->arena, NULL);
  uint32_t count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(graphs->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    count += is_graph(op);
  graphs->graphs = mirage_arena_alloc_array(&graphs->arena, count, sizeof *graphs->graphs);
  if (!graphs->graphs)
    return MIRAGE_NO_MEMORY;
  for (MlirOperation op = mlirBlockGetFirstOperation(graphs->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (is_graph(op))
      MIRAGE_TRY(entry_init(graphs, op, &graphs->graphs[graphs->num_graphs++]));
  return MIRAGE_OK;
}

void mirage__graphs_deinit(MirageModuleGraphs *graphs) {
  for (uint32_t i = 0; i < graphs->num_graphs; i++)
    mirage_ugraph_destroy(graphs->graphs[i].graph);
  mirage_arena_deinit(&graphs->arena);
  *graphs = (MirageModuleGraphs){0};
}

MirageModuleGraph *mirage__graphs_find(const MirageModuleGraphs *graphs, const char *name) {
  for (uint32_t i = 0; i < graphs->num_graphs; i++)
    if (!graphs->graphs[i].erased && strcmp(graphs->graphs[i].name, name) == 0)
      return &graphs->graphs[i];
  return NULL;
}

bool mirage__graphs_is_candidate(const MirageModuleGraph *entry, const MirageModuleGraph *program) {
  return !entry->erased && entry->source && strcmp(entry->source, program->name) == 0;
}

MirageStatus mirage__graphs_import(MirageModuleGraphs *graphs, MirageModuleGraph *entry) {
  if (entry->graph)
    return MIRAGE_OK;
  return mirage_bridge_import(entry->op, graphs->diag, &entry->graph);
}

/// What the graph in memory does not hold survives a rewrite: attributes of other tools, visibility, and the attributes
/// of arguments and results.
static void copy_attributes(MlirOperation from, MlirOperation to) {
  static const char *const kept[] = {"sym_visibility", "arg_attrs", "res_attrs"};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    MlirAttribute attribute = mlirOperationGetAttributeByName(from, str(kept[i]));
    if (!mlirAttributeIsNull(attribute))
      mlirOperationSetAttributeByName(to, str(kept[i]), attribute);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(from); i++) {
    MlirNamedAttribute attribute = mlirOperationGetDiscardableAttribute(from, i);
    mlirOperationSetDiscardableAttributeByName(to, mlirIdentifierStr(attribute.name), attribute.attribute);
  }
}

/// Exports `graph` to the place right after `after`.
static MirageStatus export_after(MirageModuleGraphs *graphs, const MirageUGraph *graph, MlirOperation after,
                                 MlirOperation *out_op) {
  MlirContext context = mlirOperationGetContext(graphs->module);
  MIRAGE_TRY(mirage_bridge_export(graph, context, graphs->body, mlirOperationGetLocation(after), graphs->diag, out_op));
  MlirOperation next = mlirOperationGetNextInBlock(after);
  if (!mlirOperationEqual(next, *out_op))
    mlirOperationMoveAfter(*out_op, after);
  return mirage__symbols_add(graphs, *out_op);
}

MirageStatus mirage__graphs_rewrite(MirageModuleGraphs *graphs, MirageModuleGraph *entry) {
  MlirOperation op = {NULL};
  MIRAGE_TRY(export_after(graphs, entry->graph, entry->op, &op));
  copy_attributes(entry->op, op);
  mirage__symbols_remove(graphs, entry->op);
  mlirOperationDestroy(entry->op);
  entry->op = op;
  return MIRAGE_OK;
}

/// A symbol for a new graph, such that mirage-lower can name its binary after it. NULL without memory.
static const char *unique_symbol(MirageModuleGraphs *graphs, const char *base, bool numbered) {
  size_t size = strlen(base) + 16;
  char *name = mirage_arena_alloc(&graphs->arena, size);
  char *binary = mirage_arena_alloc(&graphs->arena, size + sizeof "_bin");
  if (!name || !binary)
    return NULL;
  strcpy(name, base);
  for (uint32_t i = 0;; i++) {
    if (numbered || i > 0)
      snprintf(name, size, "%s_%u", base, numbered ? i : i - 1);
    snprintf(binary, size + sizeof "_bin", "%s_bin", name);
    MirageSymbolUse own, its_binary;
    if (mirage__symbols_taken(graphs, name, &own) != MIRAGE_OK ||
        mirage__symbols_taken(graphs, binary, &its_binary) != MIRAGE_OK)
      return NULL;
    if (!own.binary && !own.other && !its_binary.other)
      return name;
  }
}

MirageStatus mirage__graphs_name(MirageModuleGraphs *graphs, MirageUGraph *graph, const char *base, bool numbered) {
  const char *name = unique_symbol(graphs, base, numbered);
  if (name)
    name = mirage_ugraph_intern_string(graph, name);
  if (!name)
    return MIRAGE_NO_MEMORY;
  mirage_ugraph_meta(graph)->name = name;
  return MIRAGE_OK;
}

MirageStatus mirage__graphs_append(MirageModuleGraphs *graphs, const MirageUGraph *graph, MlirOperation after,
                                   MlirOperation *out_op) {
  return export_after(graphs, graph, after, out_op);
}

void mirage__graphs_erase(MirageModuleGraphs *graphs, MirageModuleGraph *entry) {
  mirage__symbols_remove(graphs, entry->op);
  mlirOperationDestroy(entry->op);
  entry->op = (MlirOperation){NULL};
  entry->erased = true;
}

MirageStatus mirage__plan_until_late(MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag) {
  MirageCancel cancel;
  MirageStatus status;
  do {
    cancel = mirage__until_late();
    status = mirage_layout_plan_until(graph, target, &cancel, diag); // what is planned stays so
  } while (status == MIRAGE_CANCELLED && cancel.interrupt); // the interrupt came meanwhile
  return status;
}

MirageStatus mirage__lowered_cost(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                                  MirageCost *out_cost) {
  MirageUGraph *lowered = NULL;
  MIRAGE_TRY(mirage_canonicalize(graph, target, diag, &lowered));
  MirageStatus status = mirage__plan_until_late(lowered, target, diag);
  if (status == MIRAGE_OK)
    status = mirage_cost(lowered, target, diag, out_cost);
  mirage_ugraph_destroy(lowered);
  return status;
}

static MirageStatus finish_own(MirageModuleGraphs *graphs, MirageUGraph *own, const char *program,
                               const MirageTarget *target) {
  const size_t size = strlen(program) + sizeof "_own";
  char *base = mirage_arena_alloc(&graphs->arena, size);
  if (!base)
    return MIRAGE_NO_MEMORY;
  snprintf(base, size, "%s_own", program);
  *mirage_ugraph_meta(own) = (MirageGraphMeta){.source = mirage_ugraph_intern_string(own, program)};
  MIRAGE_TRY(mirage__graphs_name(graphs, own, base, false));
  MIRAGE_TRY(mirage__plan_until_late(own, target, graphs->diag));
  return mirage_cost(own, target, graphs->diag, &mirage_ugraph_meta(own)->cost);
}

MirageStatus mirage__own_lowering(MirageModuleGraphs *graphs, const MirageUGraph *program, const MirageTarget *target,
                                  MirageUGraph **out_graph) {
  *out_graph = NULL;
  MirageUGraph *own = NULL;
  MIRAGE_TRY(mirage_canonicalize(program, target, graphs->diag, &own));
  MirageStatus status = finish_own(graphs, own, mirage_ugraph_get_meta(program)->name, target);
  if (status == MIRAGE_OK)
    *out_graph = own;
  else
    mirage_ugraph_destroy(own);
  return status;
}

struct MirageHeldMessage {
  MirageHeldMessage *next;
  MirageSeverity severity;
  const void *loc;
  const char *text;
};

static void hold(void *user, MirageSeverity severity, const void *loc, const char *message) {
  MirageHeld *held = user;
  MirageHeldMessage *copy = mirage_arena_alloc(&held->arena, sizeof *copy);
  const char *text = mirage_arena_strdup(&held->arena, message);
  if (!copy || !text)
    return;
  *copy = (MirageHeldMessage){NULL, severity, loc, text};
  if (held->last)
    held->last->next = copy;
  else
    held->first = copy;
  held->last = copy;
}

void mirage__hold_init(MirageHeld *held) {
  *held = (MirageHeld){.diag = {hold, held}};
  mirage_arena_init(&held->arena, NULL);
}

const char *mirage__held_error(const MirageHeld *held) {
  const MirageHeldMessage *message = held->first;
  while (message && message->severity != MIRAGE_SEVERITY_ERROR)
    message = message->next;
  return message ? message->text : NULL;
}

void mirage__hold_release(MirageHeld *held, const MirageDiag *next, bool demote) {
  for (const MirageHeldMessage *message = held->first; message; message = message->next) {
    bool soften = demote && message->severity == MIRAGE_SEVERITY_ERROR;
    mirage_diag_emit(next, soften ? MIRAGE_SEVERITY_WARNING : message->severity,
                     message->loc ? message->loc : held->loc, "%s", message->text);
  }
  mirage_arena_deinit(&held->arena);
}
