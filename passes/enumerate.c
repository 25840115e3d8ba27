// enumerate.c - mirage-enumerate: searches candidates for every program. [Mirage 4]
//
// requires: programs; provides: candidates with source and cost, best predicted first, after the program (or after the
//           candidates it already has); breaks: nothing.
// A program that the search cannot treat is left without candidates, with a warning that names the operator.
// The search expands sugar and cuts prefixes by itself; this pass hands it the options, shows how far it has come, and
// says what came out (funnel.c). An interrupt or the time budget ends it early, with what it has found.
// With `optimal`, a program whose space was exhausted says so: mirage_kernel.search = {exhausted, max_block_ops}.
// With `replay` nothing is added; the candidates that are there are replayed through the search instead (replay.c).
#include "funnel.h"
#include "passes.h"
#include "progress.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// The last of the program and its candidates: where the next candidate goes.
static MlirOperation last_of_family(const MirageModuleGraphs *graphs, const MirageModuleGraph *program) {
  MlirOperation last = program->op;
  for (uint32_t i = 0; i < graphs->num_graphs; ++i)
    if (mirage__graphs_is_candidate(&graphs->graphs[i], program))
      last = graphs->graphs[i].op;
  return last;
}

static MirageStatus add_candidates(MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                                   const MirageSearchResult *result) {
  MlirOperation last = last_of_family(graphs, program);
  for (uint32_t i = 0; i < result->num_candidates; ++i) {
    MirageUGraph *candidate = result->candidates[i];
    mirage_ugraph_meta(candidate)->source = mirage_ugraph_intern_string(candidate, program->name);
    MIRAGE_TRY(mirage__graphs_name(graphs, candidate, program->name, true));
    MIRAGE_TRY(mirage__graphs_append(graphs, candidate, last, &last));
  }
  return MIRAGE_OK;
}

/// Says at the program that no block graph was left out, where that is so; takes the sentence away where it is not.
static void state_exhausted(MlirOperation op, const MirageSearchOptions *options, const MirageFunnel *funnel) {
  MlirContext context = mlirOperationGetContext(op);
  MlirStringRef key = mlirStringRefCreateFromCString("mirage_kernel.search");
  mlirOperationRemoveDiscardableAttributeByName(op, key);
  if (!options->optimal || !funnel->exhausted)
    return;
  MlirNamedAttribute entries[] = {
      {mlirIdentifierGet(context, mlirStringRefCreateFromCString("exhausted")), mlirUnitAttrGet(context)},
      {mlirIdentifierGet(context, mlirStringRefCreateFromCString("max_block_ops")),
       mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), options->max_block_ops)},
  };
  mlirOperationSetDiscardableAttributeByName(op, key, mlirDictionaryAttrGet(context, 2, entries));
}

/// Predicted time of the program's own lowering; infinite when it has none, or there is no time to ask.
static MirageStatus own_time(const MirageModuleGraph *program, const MirageTarget *target, double *out_us) {
  MirageCost cost = {0};
  *out_us = INFINITY;
  if (mirage__is_late())
    return MIRAGE_OK;
  MirageStatus status = mirage__lowered_cost(program->graph, target, NULL, &cost);
  *out_us = status == MIRAGE_OK ? cost.time_us : INFINITY;
  return status == MIRAGE_NO_MEMORY ? status : MIRAGE_OK;
}

/// The file for program `number` (from 0) of the module: FILE, FILE.1, FILE.2 ...; "" without the option.
static MirageStatus checkpoint_path(MirageModuleGraphs *graphs, const MirageEnumerateOptions *pass, uint32_t number,
                                    const char **out_path) {
  const char *base = pass->resume[0] ? pass->resume : pass->checkpoint;
  size_t size = strlen(base) + 16;
  char *path = mirage_arena_alloc(&graphs->arena, size);
  if (!path)
    return MIRAGE_NO_MEMORY;
  snprintf(path, size, number && base[0] ? "%s.%u" : "%s", base, number);
  *out_path = path;
  return MIRAGE_OK;
}

/// The search with a progress line, and nothing else on standard error while it runs.
static MirageStatus watch_search(const MirageModuleGraph *program, const MirageEnumerateOptions *pass,
                                 const char *checkpoint, MirageSearchOptions *search, const MirageDiag *diag,
                                 MirageSearchResult *out_result) {
  MirageProgress progress;
  mirage__progress_begin(&progress, pass->progress, program->name);
  const MirageSearchControl control = {.progress = mirage__progress_search,
                                       .user = &progress,
                                       .interrupt = mirage__interrupt_flag(),
                                       .time_budget = pass->time_budget,
                                       .checkpoint = checkpoint,
                                       .must_resume = pass->resume[0] != '\0'};
  search->control = &control;
  MirageStatus status = mirage_search(program->graph, search, diag, out_result);
  search->control = NULL;
  mirage__progress_end(&progress);
  return status;
}

static MirageStatus tell(const MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                         const MirageEnumerateOptions *pass, const MirageSearchOptions *search,
                         const MirageSearchResult *result) {
  MirageSearchReport report = {.name = program->name,
                               .program = program->graph,
                               .options = search,
                               .result = result,
                               .checkpoint = result->saved};
  MIRAGE_TRY(own_time(program, search->target, &report.own_us));
  mirage__report_search(&report, mirage__graph_loc(program), graphs->diag);
  if (pass->stats)
    mirage__print_stats(&report);
  if (pass->json || strcmp(pass->progress, "json") == 0)
    mirage__print_json(&report);
  state_exhausted(program->op, search, &result->funnel);
  return MIRAGE_OK;
}

static MirageStatus enumerate_program(MirageModuleGraphs *graphs, MirageModuleGraph *program,
                                      const MirageEnumerateOptions *pass, uint32_t number, MirageSearchOptions *search,
                                      bool *in_out_complete) {
  MirageSearchResult result = {0};
  MirageHeld held;
  const char *checkpoint;
  if (mirage__is_late()) {
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: not searched: interrupted before its turn", program->name);
    *in_out_complete = false;
    return MIRAGE_OK;
  }
  MIRAGE_TRY(mirage__graphs_import(graphs, program));
  MIRAGE_TRY(checkpoint_path(graphs, pass, number, &checkpoint));
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(program);
  MirageStatus status = watch_search(program, pass, checkpoint, search, &held.diag, &result);
  mirage__hold_release(&held, graphs->diag, mirage__is_beyond(status));
  if (mirage__is_beyond(status)) {
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: not searched; its own lowering is all there is", program->name);
    return MIRAGE_OK;
  }
  MIRAGE_TRY(status);
  *in_out_complete &= result.funnel.stop == MIRAGE_STOP_NONE;
  status = tell(graphs, program, pass, search, &result);
  if (status == MIRAGE_OK)
    status = add_candidates(graphs, program, &result);
  mirage_search_result_deinit(&result);
  return status;
}

/// Nothing is left to go on with.
static MirageStatus remove_checkpoints(MirageModuleGraphs *graphs, const MirageEnumerateOptions *pass, uint32_t num) {
  for (uint32_t number = 0; number < num; ++number) {
    const char *path;
    MIRAGE_TRY(checkpoint_path(graphs, pass, number, &path));
    if (path[0])
      remove(path);
  }
  return MIRAGE_OK;
}

MirageStatus mirage_pass_enumerate(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageEnumerateOptions *options = opaque;
  MirageModuleGraphs graphs;
  MirageSearchOptions search;
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = mirage__search_options(options, &graphs.arena, diag, &search);
  uint32_t num_programs = 0;
  bool complete = true;
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; ++i)
    if (!graphs.graphs[i].source) {
      status =
          strcmp(options->replay, "no") == 0
              ? enumerate_program(&graphs, &graphs.graphs[i], options, num_programs, &search, &complete)
              : mirage__replay_candidates(&graphs, &graphs.graphs[i], &search, strcmp(options->replay, "add") == 0);
      num_programs++;
    }
  if (status == MIRAGE_OK && complete)
    status = remove_checkpoints(&graphs, options, num_programs);
  if (status == MIRAGE_OK && num_programs == 0)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_WARNING, mlirOperationGetLocation(module).ptr,
                     "mirage-enumerate: no program in this module: a mirage_kernel.graph without a source is wanted "
                     "(modules inside are not searched)");
  mirage__graphs_deinit(&graphs);
  return status;
}
