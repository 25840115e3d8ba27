// lower.c - mirage-lower: compiles what was selected to PTX. [Mirage 6]
//
// requires: nothing; provides: for every program one graph with `selected` and launch attributes on its custom kernels,
// and beside it gpu.binary @<graph>_bin [#gpu.object<#nvvm.target<chip = ..>, assembly = "PTX">]; breaks: nothing, but
// a proof that does not belong to the pair is removed, with a warning. A program without a selected candidate gets its
// own lowering as the selected graph @<program>_own. Layouts that are missing are planned here; a kernel operator
// outside `custom` becomes its canonical one-operator kernel.
#include "mirage/codegen.h"
#include "mirage/layout.h"
#include "passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/GPU.h"

#include <stdio.h>
#include <string.h>

enum { GPU_FORMAT_ASSEMBLY = 2 }; // gpu::CompilationTarget

typedef struct Lowering {
  MirageModuleGraphs *graphs;
  const MirageTarget *target;
  MirageCodegenOptions codegen;
} Lowering;

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirNamedAttribute named(MlirContext context, const char *name, MlirAttribute attribute) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, str(name)), attribute);
}

/// gpu.binary @symbol with the PTX as its one object.
static MlirOperation binary_create(const Lowering *lowering, MlirLocation loc, const char *symbol,
                                   const MirageCode *code) {
  MlirContext context = mlirLocationGetContext(loc);
  char text[160];
  snprintf(text, sizeof text, "#nvvm.target<chip = \"%s\", features = \"%s\">", lowering->target->chip,
           lowering->target->ptx);
  MlirAttribute target = mlirAttributeParseGet(context, str(text));
  if (mlirAttributeIsNull(target))
    return (MlirOperation){NULL};
  MlirAttribute object = mlirGPUObjectAttrGet(context, target, GPU_FORMAT_ASSEMBLY,
                                              mlirStringRefCreate(code->ptx, strlen(code->ptx)), (MlirAttribute){NULL});
  MlirNamedAttribute attributes[] = {
      named(context, "sym_name", mlirStringAttrGet(context, str(symbol))),
      named(context, "offloadingHandler", mlirAttributeParseGet(context, str("#gpu.select_object"))),
      named(context, "objects", mlirArrayAttrGet(context, 1, &object)),
  };
  MlirOperationState state = mlirOperationStateGet(str("gpu.binary"), loc);
  mlirOperationStateAddAttributes(&state, sizeof attributes / sizeof *attributes, attributes);
  return mlirOperationCreate(&state);
}

/// Removes a gpu.binary of that symbol, left by an earlier run.
static void remove_stale(const MirageModuleGraphs *graphs, const char *symbol) {
  MlirOperation next = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(graphs->body); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("gpu.binary")))
      continue;
    MlirAttribute name = mlirOperationGetAttributeByName(op, str("sym_name"));
    if (mlirStringRefEqual(mlirStringAttrGetValue(name), str(symbol)))
      mlirOperationDestroy(op);
  }
}

static MirageStatus insert_binary(const Lowering *lowering, const MirageCode *code, const char *graph,
                                  MlirOperation after) {
  const size_t size = strlen(graph) + sizeof "_bin";
  char *symbol = mirage_arena_alloc(&lowering->graphs->arena, size);
  if (!symbol)
    return MIRAGE_NO_MEMORY;
  snprintf(symbol, size, "%s_bin", graph);
  MlirLocation loc = mlirOperationGetLocation(after);
  MlirOperation binary = binary_create(lowering, loc, symbol, code);
  if (mlirOperationIsNull(binary))
    return mirage_diag_fail(lowering->graphs->diag, loc.ptr, MIRAGE_CODEGEN,
                            "mirage-lower: MLIR refused a gpu.binary for %s", lowering->target->chip);
  remove_stale(lowering->graphs, symbol);
  mlirBlockInsertOwnedOperationAfter(lowering->graphs->body, after, binary);
  return MIRAGE_OK;
}

/// Whether the kernel region holds anything that code generation does not take as it is.
static bool has_plain_operators(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; ++i) {
    MirageOp op = mirage_ugraph_node(graph, body.nodes[i]).op;
    if (op != MIRAGE_OP_CUSTOM && op != MIRAGE_OP_RETURN)
      return true;
  }
  return false;
}

/// Replaces *graph by its canonical form, with the same meta.
static MirageStatus canonicalize(const Lowering *lowering, MirageUGraph **graph) {
  MirageUGraph *canonical = NULL;
  MIRAGE_TRY(mirage_codegen_canonicalize(*graph, lowering->target, lowering->graphs->diag, &canonical));
  const MirageGraphMeta *old = mirage_ugraph_get_meta(*graph);
  MirageGraphMeta *meta = mirage_ugraph_meta(canonical);
  *meta = *old;
  meta->name = mirage_ugraph_intern_string(canonical, old->name);
  meta->source = old->source ? mirage_ugraph_intern_string(canonical, old->source) : NULL;
  mirage_ugraph_destroy(*graph);
  *graph = canonical;
  return MIRAGE_OK;
}

/// Plans what is open and compiles; *out_code is the caller's.
static MirageStatus compile(const Lowering *lowering, MirageUGraph **graph, MlirLocation loc, MirageCode *out_code) {
  const MirageDiag *diag = lowering->graphs->diag;
  if (has_plain_operators(*graph))
    MIRAGE_TRY(canonicalize(lowering, graph));
  MIRAGE_TRY(mirage_layout_plan(*graph, lowering->target, diag));
  MIRAGE_TRY(mirage_codegen(*graph, lowering->target, &lowering->codegen, diag, out_code));
  const char *name = mirage_ugraph_get_meta(*graph)->name;
  if (out_code->llvm_ir)
    fprintf(stderr, "; ----- LLVM IR of @%s\n%s\n", name, out_code->llvm_ir);
  mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc.ptr, "@%s: lowered to %zu bytes of PTX for %s", name,
                   strlen(out_code->ptx), lowering->target->chip);
  return MIRAGE_OK;
}

/// Takes away a proof that was made for other graphs, so that nothing downstream trusts it, and warns where there is
/// none.
static MirageStatus check_proof(const Lowering *lowering, MirageModuleGraph *program, MirageModuleGraph *entry) {
  MirageModuleGraphs *graphs = lowering->graphs;
  const void *loc = mirage__graph_loc(entry);
  MirageProof *proof = &mirage_ugraph_meta(entry->graph)->proof;
  if (proof->present) {
    uint64_t pair;
    MIRAGE_TRY(mirage__graphs_import(graphs, program));
    MIRAGE_TRY(mirage__pair_hash(program->graph, entry->graph, graphs->diag, &pair));
    if (proof->pair == pair)
      return MIRAGE_OK;
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_WARNING, loc,
                     "@%s: its proof was made for other graphs, and is taken away", entry->name);
    *proof = (MirageProof){0};
  }
  mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_WARNING, loc,
                   "@%s: lowered without a proof that it computes what @%s computes", entry->name, entry->source);
  return MIRAGE_OK;
}

static MirageStatus lower_selected(const Lowering *lowering, MirageModuleGraph *program, MirageModuleGraph *entry) {
  MIRAGE_TRY(mirage__graphs_import(lowering->graphs, entry));
  MIRAGE_TRY(check_proof(lowering, program, entry));
  MirageCode code = {0};
  MIRAGE_TRY(compile(lowering, &entry->graph, mlirOperationGetLocation(entry->op), &code));
  MirageStatus status = mirage__graphs_rewrite(lowering->graphs, entry);
  if (status == MIRAGE_OK)
    status = insert_binary(lowering, &code, entry->name, entry->op);
  mirage_code_deinit(&code);
  return status;
}

static MirageStatus lower_own(const Lowering *lowering, MirageModuleGraph *program) {
  MirageModuleGraphs *graphs = lowering->graphs;
  MIRAGE_TRY(mirage__graphs_import(graphs, program));
  MirageUGraph *own = NULL;
  MirageCode code = {0};
  MlirOperation op = {NULL};
  MIRAGE_TRY(mirage__own_lowering(graphs, program->graph, lowering->target, &own));
  mirage_ugraph_meta(own)->selected = true;
  MirageStatus status = compile(lowering, &own, mlirOperationGetLocation(program->op), &code);
  if (status == MIRAGE_OK)
    status = mirage__graphs_append(graphs, own, program->op, &op);
  if (status == MIRAGE_OK)
    status = insert_binary(lowering, &code, mirage_ugraph_get_meta(own)->name, op);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(own);
  return status;
}

static bool is_selected(const MirageModuleGraph *entry) {
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(entry->op, str("selected")));
}

static MirageStatus lower_program(const Lowering *lowering, MirageModuleGraph *program) {
  MirageModuleGraphs *graphs = lowering->graphs;
  MirageModuleGraph *selected = NULL;
  for (uint32_t i = 0; i < graphs->num_graphs; ++i) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    if (!mirage__graphs_is_candidate(entry, program) || !is_selected(entry))
      continue;
    if (selected)
      return mirage_diag_fail(graphs->diag, mirage__graph_loc(entry), MIRAGE_BAD_GRAPH,
                              "mirage-lower: both @%s and @%s are selected for @%s", selected->name, entry->name,
                              program->name);
    selected = entry;
  }
  return selected ? lower_selected(lowering, program, selected) : lower_own(lowering, program);
}

MirageStatus mirage_pass_lower(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageLowerOptions *options = opaque;
  MirageModuleGraphs graphs;
  const Lowering lowering = {
      &graphs, mirage_target_find(options->target), {(int32_t)options->opt_level, options->dump_llvm}};
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; ++i)
    if (!graphs.graphs[i].source)
      status = lower_program(&lowering, &graphs.graphs[i]);
  mirage__graphs_deinit(&graphs);
  return status;
}
