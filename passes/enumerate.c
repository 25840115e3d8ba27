// enumerate.c - mirage-enumerate: searches candidates for every program. [Mirage 4]
//
// requires: programs; provides: candidates with source and cost, best predicted first, after the program (or after the
//           candidates it already has); breaks: nothing.
// A program that the search cannot treat is left without candidates, with a warning that names the operator.
// The search expands sugar and cuts prefixes by itself; this pass hands it the options, shows how far it has come, and
// says what came out (funnel.c). An interrupt or the time budget ends it early, with what it has found.
// A program that stands in the module twice is searched once; the second takes the candidates of the first.
// With `optimal`, a program whose space was exhausted says so: mirage_kernel.search = {exhausted, max_block_ops}.
// With `replay` nothing is added; the candidates that are there are replayed through the search instead
// (pass_replay.c).
#include "funnel.h"
#include "passes.h"
#include "progress.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The last of the program and its candidates: where the next candidate goes.
static MlirOperation last_of_family(const MirageModuleGraphs *graphs, const MirageModuleGraph *program) {
  MlirOperation last = program->op;
  for (uint32_t i = 0; i < graphs->num_graphs; i++)
    if (mirage__graphs_is_candidate(&graphs->graphs[i], program))
      last = graphs->graphs[i].op;
  return last;
}

static MirageStatus add_candidates(MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                                   const MirageSearchResult *result) {
  MlirOperation last = last_of_family(graphs, program);
  for (uint32_t i = 0; i < result->num_candidates; i++) {
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

/// A program of the module and what its search gave.
typedef struct Searched {
  MirageModuleGraph *program;
  MirageGraphHash hash;
  uint32_t number;        // among the programs
  struct Searched *first; // the first program with that hash, perhaps this one
  bool again;             // there is another one behind it: its result is kept
  bool found;             // there is a result
  MirageSearchResult result;
  double own_us;
} Searched;

static MirageStatus tell(const MirageModuleGraphs *graphs, const Searched *searched, const Searched *from,
                         const MirageEnumerateOptions *pass, const MirageSearchOptions *search) {
  const MirageModuleGraph *program = searched->program;
  const MirageSearchReport report = {.name = program->name,
                                     .same_as = from == searched ? NULL : from->program->name,
                                     .program = program->graph,
                                     .options = search,
                                     .result = &from->result,
                                     .checkpoint = from->result.saved,
                                     .own_us = from->own_us};
  mirage__report_search(&report, mirage__graph_loc(program), graphs->diag);
  if (pass->stats)
    mirage__print_stats(&report);
  if (pass->json || strcmp(pass->progress, "json") == 0)
    mirage__print_json(&report);
  state_exhausted(program->op, search, &from->result.funnel);
  return MIRAGE_OK;
}

/// Searches the program. Without `found` afterwards, it is beyond the search, which was said.
static MirageStatus search_program(MirageModuleGraphs *graphs, Searched *searched, const MirageEnumerateOptions *pass,
                                   MirageSearchOptions *search) {
  const MirageModuleGraph *program = searched->program;
  const char *checkpoint;
  MirageHeld held;
  MIRAGE_TRY(checkpoint_path(graphs, pass, searched->number, &checkpoint));
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(program);
  MirageStatus status = watch_search(program, pass, checkpoint, search, &held.diag, &searched->result);
  mirage__hold_release(&held, graphs->diag, mirage__is_beyond(status));
  if (mirage__is_beyond(status)) {
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: not searched; its own lowering is all there is", program->name);
    return MIRAGE_OK;
  }
  MIRAGE_TRY(status);
  searched->found = true;
  return own_time(program, search->target, &searched->own_us);
}

static MirageStatus enumerate_program(MirageModuleGraphs *graphs, Searched *searched,
                                      const MirageEnumerateOptions *pass, MirageSearchOptions *search,
                                      bool *in_out_complete) {
  MirageModuleGraph *program = searched->program;
  if (mirage__is_late()) {
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: not searched: interrupted before its turn", program->name);
    *in_out_complete = false;
    return MIRAGE_OK;
  }
  MIRAGE_TRY(mirage__graphs_import(graphs, program)); // where an interrupt came before
  Searched *from = searched->first->found ? searched->first : searched;
  if (from == searched)
    MIRAGE_TRY(search_program(graphs, searched, pass, search));
  if (!from->found)
    return MIRAGE_OK;
  *in_out_complete &= from->result.funnel.stop == MIRAGE_STOP_NONE;
  MIRAGE_TRY(tell(graphs, searched, from, pass, search));
  MIRAGE_TRY(add_candidates(graphs, program, &from->result));
  if (!searched->again && from == searched) {
    mirage_search_result_deinit(&searched->result);
    searched->found = false;
  }
  return MIRAGE_OK;
}

static int compare_hashes(const void *a, const void *b) {
  const Searched *left = *(Searched *const *)a, *right = *(Searched *const *)b;
  if (left->hash.high != right->hash.high)
    return left->hash.high < right->hash.high ? -1 : 1;
  if (left->hash.low != right->hash.low)
    return left->hash.low < right->hash.low ? -1 : 1;
  return left->number < right->number ? -1 : left->number > right->number;
}

/// Finds the programs that are the same, whatever their names.
static MirageStatus match_programs(MirageModuleGraphs *graphs, uint32_t num, Searched *programs) {
  Searched **order = mirage_arena_alloc_array(&graphs->arena, (size_t)num + 1, sizeof *order);
  if (!order)
    return MIRAGE_NO_MEMORY;
  uint32_t count = 0;
  for (uint32_t i = 0; i < num; i++) {
    programs[i].first = &programs[i];
    if (mirage__is_late())
      continue;
    MIRAGE_TRY(mirage__graphs_import(graphs, programs[i].program));
    MIRAGE_TRY(mirage_ugraph_hash(programs[i].program->graph, graphs->diag, &programs[i].hash));
    order[count++] = &programs[i];
  }
  qsort(order, count, sizeof *order, compare_hashes);
  for (uint32_t i = 1; i < count; i++)
    if (order[i]->hash.high == order[i - 1]->hash.high && order[i]->hash.low == order[i - 1]->hash.low) {
      order[i]->first = order[i - 1]->first;
      order[i]->first->again = true;
    }
  return MIRAGE_OK;
}

static MirageStatus enumerate_all(MirageModuleGraphs *graphs, uint32_t num, Searched *programs,
                                  const MirageEnumerateOptions *pass, MirageSearchOptions *search, bool *out_complete) {
  bool replays = strcmp(pass->replay, "no") != 0;
  *out_complete = true;
  if (!replays)
    MIRAGE_TRY(match_programs(graphs, num, programs));
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; status == MIRAGE_OK && i < num; i++)
    status = replays ? mirage__replay_candidates(graphs, programs[i].program, search, strcmp(pass->replay, "add") == 0)
                     : enumerate_program(graphs, &programs[i], pass, search, out_complete);
  for (uint32_t i = 0; i < num; i++)
    if (programs[i].found)
      mirage_search_result_deinit(&programs[i].result);
  return status;
}

/// Nothing is left to go on with.
static MirageStatus remove_checkpoints(MirageModuleGraphs *graphs, const MirageEnumerateOptions *pass, uint32_t num) {
  for (uint32_t number = 0; number < num; number++) {
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
  Searched *programs = mirage_arena_alloc_array(&graphs.arena, (size_t)graphs.num_graphs + 1, sizeof *programs);
  uint32_t num_programs = 0;
  bool complete = false;
  if (status == MIRAGE_OK && !programs)
    status = MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; i++)
    if (!graphs.graphs[i].source) {
      programs[num_programs] = (Searched){.program = &graphs.graphs[i], .number = num_programs};
      num_programs++;
    }
  if (status == MIRAGE_OK)
    status = enumerate_all(&graphs, num_programs, programs, options, &search, &complete);
  if (status == MIRAGE_OK && complete)
    status = remove_checkpoints(&graphs, options, num_programs);
  if (status == MIRAGE_OK && num_programs == 0)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_WARNING, mlirOperationGetLocation(module).ptr,
                     "mirage-enumerate: no program in this module: a mirage_kernel.graph without a source is wanted "
                     "(modules inside are not searched)");
  mirage__graphs_deinit(&graphs);
  return status;
}
