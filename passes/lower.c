// lower.c - mirage-lower: compiles what was selected to PTX. [Mirage 6]
//
// requires: nothing; provides: for every program one graph with `selected` and launch attributes on its custom kernels,
// and beside it gpu.binary @<graph>_bin [#gpu.object<#nvvm.target<chip = ..>, assembly = "PTX">]; breaks: nothing, but
// a proof that does not belong to the pair is removed, with a warning. Where operators outside `custom` become kernels,
// the graph is another one: it is proven again. A program without a selected candidate gets its
// own lowering as the selected graph @<program>_own, and so does one whose candidate turns out to be beyond the target
// or the code generator, with a warning. Layouts that are missing are planned here; a kernel operator outside `custom`
// becomes its canonical one-operator kernel. Programs are compiled in parallel.
#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "mirage/cost.h"
#include "mirage/verify.h"
#include "passes.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/GPU.h"

#include <stdio.h>
#include <string.h>

enum {
  GPU_FORMAT_ASSEMBLY = 2,     // gpu::CompilationTarget
  SHRINK_ABOVE = 2000000,      // multiplications: mirage-verify's own max-work,
  FULL_SIZE_WORK = 2000000000, // and twice what mirage-select spends on a proof at full size
};

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
static void remove_stale(MirageModuleGraphs *graphs, const char *symbol) {
  MlirOperation next = {NULL};
  MirageSymbolUse use;
  if (mirage__symbols_taken(graphs, symbol, &use) == MIRAGE_OK && !use.binary)
    return; // as it is but where a module is lowered again
  for (MlirOperation op = mlirBlockGetFirstOperation(graphs->body); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), str("gpu.binary")))
      continue;
    MlirAttribute name = mlirOperationGetAttributeByName(op, str("sym_name"));
    if (!mlirStringRefEqual(mlirStringAttrGetValue(name), str(symbol)))
      continue;
    mirage__symbols_remove(graphs, op);
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
  return mirage__symbols_add(lowering->graphs, binary);
}

/// Whether the kernel region holds anything that code generation does not take as it is.
static bool has_plain_operators(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageOp op = mirage_ugraph_node(graph, body.nodes[i]).op;
    if (op != MIRAGE_OP_CUSTOM && op != MIRAGE_OP_RETURN && op != MIRAGE_OP_RESHAPE)
      return true;
  }
  return false;
}

/// Replaces *graph by its canonical form, with the same meta.
static MirageStatus canonicalize(const Lowering *lowering, MirageUGraph **graph) {
  MirageUGraph *canonical = NULL;
  MIRAGE_TRY(mirage_canonicalize(*graph, lowering->target, lowering->graphs->diag, &canonical));
  const MirageGraphMeta *old = mirage_ugraph_get_meta(*graph);
  MirageGraphMeta *meta = mirage_ugraph_meta(canonical);
  *meta = *old;
  meta->name = mirage_ugraph_intern_string(canonical, old->name);
  meta->source = old->source ? mirage_ugraph_intern_string(canonical, old->source) : NULL;
  mirage_ugraph_destroy(*graph);
  *graph = canonical;
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
    MIRAGE_TRY(mirage_ugraph_pair_hash(program->graph, entry->graph, graphs->diag, &pair));
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

/// The proof of a graph whose operators outside `custom` have become kernels since: made again for what it is now, as
/// strong and on the same kind of instance, or taken away.
static MirageStatus renew_proof(const Lowering *lowering, const MirageModuleGraph *program, MirageModuleGraph *entry) {
  const MirageDiag *diag = lowering->graphs->diag;
  MirageProof *proof = &mirage_ugraph_meta(entry->graph)->proof;
  MirageCancel cancel;
  const MirageVerifyOptions options = {.seed = proof->seed,
                                       .log2_bound = proof->log2_bound * (1 - 1e-9), // as many trials
                                       .max_work = proof->shrunken ? SHRINK_ABOVE : FULL_SIZE_WORK,
                                       .full_size = !proof->shrunken,
                                       .cancel = &cancel};
  MirageVerdict verdict;
  MirageStatus status;
  if (!proof->present)
    return MIRAGE_OK;
  do {
    cancel = mirage__until_late();
    status = mirage_verify(program->graph, entry->graph, &options, diag, &verdict);
  } while (status == MIRAGE_CANCELLED && cancel.interrupt); // the interrupt came meanwhile
  MIRAGE_TRY(status);
  *proof = (MirageProof){0};
  if (verdict.kind == MIRAGE_VERDICT_EQUIVALENT) {
    *proof = verdict.proof;
    return mirage_ugraph_pair_hash(program->graph, entry->graph, diag, &proof->pair);
  }
  mirage_ugraph_meta(entry->graph)->guard = (MirageGuard){0};
  mirage_diag_emit(diag, MIRAGE_SEVERITY_WARNING, mirage__graph_loc(entry),
                   "@%s: its proof is taken away: with kernels for all operators it could not be proven again: %s",
                   entry->name, verdict.kind == MIRAGE_VERDICT_DIFFERENT ? "it differs" : verdict.reason);
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------
// programs

/// What stands for one program: the candidate selected for it, or its own lowering.
typedef struct Unit {
  MirageModuleGraph *program, *selected; // NULL: its own lowering
  MirageModuleGraph own;                 // in the module already, so that its name is taken; without op: not
  MirageHeld held;                       // what compiling says, in the order of the programs
} Unit;

static MirageModuleGraph *entry_of(Unit *unit) { return unit->selected ? unit->selected : &unit->own; }

static bool is_selected(const MirageModuleGraph *entry) {
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(entry->op, str("selected")));
}

static MirageStatus find_selected(const Lowering *lowering, Unit *unit) {
  MirageModuleGraphs *graphs = lowering->graphs;
  for (uint32_t i = 0; i < graphs->num_graphs; i++) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    if (!mirage__graphs_is_candidate(entry, unit->program) || !is_selected(entry))
      continue;
    if (unit->selected)
      return mirage_diag_fail(graphs->diag, mirage__graph_loc(entry), MIRAGE_BAD_GRAPH,
                              "mirage-lower: both @%s and @%s are selected for @%s", unit->selected->name, entry->name,
                              unit->program->name);
    unit->selected = entry;
  }
  return MIRAGE_OK;
}

/// Makes the program's own lowering, selected, and puts it behind the program.
static MirageStatus add_own(const Lowering *lowering, Unit *unit) {
  MirageModuleGraphs *graphs = lowering->graphs;
  MIRAGE_TRY(mirage__graphs_import(graphs, unit->program));
  MIRAGE_TRY(mirage__own_lowering(graphs, unit->program->graph, lowering->target, &unit->own.graph));
  MirageGraphMeta *meta = mirage_ugraph_meta(unit->own.graph);
  meta->selected = true;
  unit->own.name = meta->name;
  unit->selected = NULL;
  return mirage__graphs_append(graphs, unit->own.graph, unit->program->op, &unit->own.op);
}

/// As much as an interrupt leaves time for: else the job is CANCELLED.
static MirageStatus prepare_graph(const Lowering *lowering, Unit *unit) {
  MIRAGE_TRY(find_selected(lowering, unit));
  if (unit->selected) {
    MIRAGE_TRY(mirage__graphs_import(lowering->graphs, unit->selected));
    MIRAGE_TRY(check_proof(lowering, unit->program, unit->selected));
  } else {
    MIRAGE_TRY(add_own(lowering, unit));
  }
  MirageModuleGraph *entry = entry_of(unit);
  if (has_plain_operators(entry->graph)) {
    MIRAGE_TRY(canonicalize(lowering, &entry->graph));
    MIRAGE_TRY(renew_proof(lowering, unit->program, entry));
  }
  return MIRAGE_OK;
}

static MirageStatus prepare(const Lowering *lowering, Unit *unit, MirageCodegenJob *job) {
  MirageStatus status = prepare_graph(lowering, unit);
  if (status == MIRAGE_CANCELLED) {
    *job = (MirageCodegenJob){.status = status};
    return MIRAGE_OK;
  }
  MIRAGE_TRY(status);
  MirageModuleGraph *entry = entry_of(unit);
  unit->held.loc = mirage__graph_loc(entry);
  *job = (MirageCodegenJob){.graph = entry->graph, .diag = &unit->held.diag, .status = MIRAGE_CANCELLED};
  return MIRAGE_OK;
}

/// The cost of the code beside it: it may have been taken before the graph was planned, or for another target.
static MirageStatus take_cost(const Lowering *lowering, MirageModuleGraph *entry) {
  MirageCost *cost = &mirage_ugraph_meta(entry->graph)->cost, fresh = {0};
  MIRAGE_TRY(mirage_cost(entry->graph, lowering->target, lowering->graphs->diag, &fresh));
  if (strcmp(cost->target, fresh.target) == 0) { // measured there
    fresh.measured_us = cost->measured_us;
    fresh.measured_spread = cost->measured_spread;
  }
  *cost = fresh;
  return MIRAGE_OK;
}

static MirageStatus write_code(const Lowering *lowering, MirageModuleGraph *entry, const MirageCode *code) {
  MirageModuleGraphs *graphs = lowering->graphs;
  MIRAGE_TRY(take_cost(lowering, entry));
  if (code->llvm_ir)
    fprintf(stderr, "; ----- LLVM IR of @%s\n%s\n", entry->name, code->llvm_ir);
  mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry),
                   "@%s: lowered to %zu bytes of PTX for %s", entry->name, strlen(code->ptx), lowering->target->chip);
  MIRAGE_TRY(mirage__graphs_rewrite(graphs, entry));
  return insert_binary(lowering, code, entry->name, entry->op);
}

enum { AT_ONCE = 16 }; // programs that are compiled together: the same at any number of threads

/// Compiles the jobs that are there, at most AT_ONCE, until it is late: what is not done by then stays CANCELLED.
static void compile_until_late(const Lowering *lowering, uint32_t num_jobs, MirageCodegenJob *jobs,
                               uint32_t num_threads) {
  MirageCodegenJob left[AT_ONCE];
  uint32_t owners[AT_ONCE], num_left;
  MirageCodegenOptions options = lowering->codegen;
  MirageCancel cancel;
  options.cancel = &cancel;
  do {
    num_left = 0;
    for (uint32_t i = 0; i < num_jobs; i++)
      if (jobs[i].graph && jobs[i].status == MIRAGE_CANCELLED) {
        left[num_left] = jobs[i];
        owners[num_left++] = i;
      }
    cancel = mirage__until_late();
    mirage_codegen_all(num_left, left, lowering->target, &options, num_threads);
    for (uint32_t i = 0; i < num_left; i++)
      jobs[owners[i]] = left[i];
  } while (num_left && cancel.interrupt); // the interrupt came meanwhile, or nothing is left
}

/// The selected candidate is beyond the target or the code generator: the program's own lowering takes its place.
static MirageStatus fall_back(const Lowering *lowering, Unit *unit) {
  MirageModuleGraphs *graphs = lowering->graphs;
  MirageModuleGraph *refused = unit->selected;
  mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_WARNING, mirage__graph_loc(refused),
                   "@%s: cannot be compiled for %s; @%s gets its own lowering instead", refused->name,
                   lowering->target->name, unit->program->name);
  mirage_ugraph_meta(refused->graph)->selected = false;
  MIRAGE_TRY(mirage_bridge_export_meta(mirage_ugraph_get_meta(refused->graph), refused->op, graphs->diag));
  MIRAGE_TRY(add_own(lowering, unit));
  MirageCodegenJob job = {.graph = unit->own.graph, .diag = graphs->diag, .status = MIRAGE_CANCELLED};
  compile_until_late(lowering, 1, &job, 1);
  MirageStatus status = job.status == MIRAGE_OK ? write_code(lowering, &unit->own, &job.code) : job.status;
  mirage_code_deinit(&job.code);
  return status;
}

/// An interrupt left no time for it: the program stays as it was.
static void leave(const Lowering *lowering, Unit *unit) {
  mirage_diag_emit(lowering->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(unit->program),
                   "@%s: not lowered: interrupted", unit->program->name);
  if (unit->own.op.ptr)
    mirage__graphs_erase(lowering->graphs, &unit->own);
}

static MirageStatus finish(const Lowering *lowering, Unit *unit, const MirageCodegenJob *job) {
  bool falls_back = unit->selected && (mirage__is_beyond(job->status) || job->status == MIRAGE_CODEGEN);
  mirage__hold_release(&unit->held, lowering->graphs->diag, falls_back);
  mirage__hold_init(&unit->held);
  MirageStatus status = falls_back                 ? fall_back(lowering, unit)
                        : job->status == MIRAGE_OK ? write_code(lowering, entry_of(unit), &job->code)
                                                   : job->status;
  if (status != MIRAGE_CANCELLED)
    return status;
  leave(lowering, unit);
  return MIRAGE_OK;
}

/// Imports and names in the order of the module, compiles in parallel, and writes in that order again.
static MirageStatus lower_some(const Lowering *lowering, uint32_t num_units, Unit *units, MirageCodegenJob *jobs,
                               uint32_t num_threads) {
  for (uint32_t i = 0; i < num_units; i++)
    MIRAGE_TRY(prepare(lowering, &units[i], &jobs[i]));
  compile_until_late(lowering, num_units, jobs, num_threads);
  for (uint32_t i = 0; i < num_units; i++)
    MIRAGE_TRY(finish(lowering, &units[i], &jobs[i]));
  return MIRAGE_OK;
}

/// Some at a time, so that an interrupt is heard; what is left then stays as it is.
static MirageStatus lower_all(const Lowering *lowering, uint32_t num_units, Unit *units, MirageCodegenJob *jobs,
                              uint32_t num_threads) {
  for (uint32_t i = 0; i < num_units;) {
    uint32_t left = num_units - i, count = mirage__is_interrupted() ? 1 : left < AT_ONCE ? left : AT_ONCE;
    if (mirage__is_late()) {
      mirage_diag_emit(lowering->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(units[i].program),
                       "@%s: not lowered: interrupted; nor are %u programs behind it", units[i].program->name,
                       left - 1);
      return MIRAGE_OK;
    }
    MIRAGE_TRY(lower_some(lowering, count, &units[i], &jobs[i], num_threads));
    i += count;
  }
  return MIRAGE_OK;
}

static MirageStatus lower_module(const Lowering *lowering, uint32_t num_threads) {
  MirageModuleGraphs *graphs = lowering->graphs;
  Unit *units = mirage_arena_alloc_array(&graphs->arena, graphs->num_graphs + 1, sizeof *units);
  MirageCodegenJob *jobs = mirage_arena_alloc_array(&graphs->arena, graphs->num_graphs + 1, sizeof *jobs);
  uint32_t num_units = 0;
  if (!units || !jobs)
    return mirage_diag_fail(graphs->diag, NULL, MIRAGE_NO_MEMORY, "mirage-lower: out of memory");
  for (uint32_t i = 0; i < graphs->num_graphs; i++)
    if (!graphs->graphs[i].source) {
      units[num_units].program = &graphs->graphs[i];
      mirage__hold_init(&units[num_units++].held);
    }
  MirageStatus status = lower_all(lowering, num_units, units, jobs, num_threads);
  for (uint32_t i = 0; i < num_units; i++) {
    mirage__hold_release(&units[i].held, graphs->diag, false);
    mirage_code_deinit(&jobs[i].code);
    mirage_ugraph_destroy(units[i].own.graph);
  }
  return status;
}

MirageStatus mirage_pass_lower(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageLowerOptions *options = opaque;
  MirageModuleGraphs graphs;
  const MirageTarget target = mirage__pass_target(options->target, options->tensor_maps);
  const Lowering lowering = {
      &graphs, &target, {.opt_level = (int32_t)options->opt_level, .keep_llvm_ir = options->dump_llvm}};
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = lower_module(&lowering, (uint32_t)options->num_threads);
  mirage__graphs_deinit(&graphs);
  return status;
}
