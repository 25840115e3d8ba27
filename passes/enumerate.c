// enumerate.c - mirage-enumerate: searches candidates for every program. [Mirage 4]
//
// requires: programs; provides: candidates with source and cost, best predicted first, after the program (or after the
//           candidates it already has); breaks: nothing.
// A program that the search cannot treat is left without candidates, with a warning that names the operator.
// The search expands sugar and cuts prefixes by itself; this pass hands it the options and says what came out: a remark
// at the program with the funnel, and with `stats` the same numbers one a line on standard error, for machines.
#include "mirage/search.h"
#include "passes.h"

#include <inttypes.h>
#include <stdio.h>

static void report_funnel(const MirageModuleGraph *program, const MirageFunnel *funnel, const MirageDiag *diag) {
  mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                   "@%s: %" PRIu64 " states, cut %" PRIu64 " by expression, %" PRIu64 " by axis, %" PRIu64
                   " by order, %" PRIu64 " by merging, %" PRIu64 " by memory; %" PRIu64 " structures, %" PRIu64
                   " schedules, %" PRIu64 " candidates kept; the space was %s",
                   program->name, funnel->states, funnel->cut_expr, funnel->cut_axis, funnel->cut_order,
                   funnel->cut_merge, funnel->cut_memory, funnel->structures, funnel->scheduled, funnel->candidates,
                   funnel->exhausted ? "exhausted" : "not exhausted");
}

static void print_stats(const char *name, const MirageFunnel *funnel) {
  const struct {
    const char *label;
    uint64_t value;
  } rows[] = {
      {"states", funnel->states},         {"cut-expr", funnel->cut_expr},   {"cut-axis", funnel->cut_axis},
      {"cut-order", funnel->cut_order},   {"cut-merge", funnel->cut_merge}, {"cut-memory", funnel->cut_memory},
      {"structures", funnel->structures}, {"schedules", funnel->scheduled}, {"candidates", funnel->candidates},
      {"exhausted", funnel->exhausted},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    fprintf(stderr, "enumerate @%s %s %" PRIu64 "\n", name, rows[i].label, rows[i].value);
  fprintf(stderr, "enumerate @%s seconds %.3f\n", name, funnel->seconds);
}

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

static MirageStatus enumerate_program(MirageModuleGraphs *graphs, MirageModuleGraph *program,
                                      const MirageSearchOptions *search, bool stats) {
  MIRAGE_TRY(mirage__graphs_import(graphs, program));
  MirageSearchResult result = {0};
  MirageHeld held;
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(program);
  MirageStatus status = mirage_search(program->graph, search, &held.diag, &result);
  mirage__hold_release(&held, graphs->diag, mirage__is_beyond(status));
  if (mirage__is_beyond(status)) {
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: not searched; its own lowering is all there is", program->name);
    return MIRAGE_OK;
  }
  MIRAGE_TRY(status);
  report_funnel(program, &result.funnel, graphs->diag);
  if (stats)
    print_stats(program->name, &result.funnel);
  if (result.num_candidates == 0)
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program), "@%s: no candidate found; %s",
                     program->name,
                     result.funnel.structures ? "none of the block graphs fits the target in a schedule that griddims, "
                                                "blockdims, imaps, omaps, fmaps and franges allow"
                     : result.funnel.exhausted ? "a larger max-block-ops searches more"
                                               : "the search stopped at max-states, or for want of memory");
  status = add_candidates(graphs, program, &result);
  mirage_search_result_deinit(&result);
  return status;
}

MirageStatus mirage_pass_enumerate(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageEnumerateOptions *options = opaque;
  MirageModuleGraphs graphs;
  MirageSearchOptions search;
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = mirage__search_options(options, &graphs.arena, diag, &search);
  uint32_t num_programs = 0;
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; ++i)
    if (!graphs.graphs[i].source) {
      status = enumerate_program(&graphs, &graphs.graphs[i], &search, options->stats);
      num_programs++;
    }
  if (status == MIRAGE_OK && num_programs == 0)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_WARNING, mlirOperationGetLocation(module).ptr,
                     "mirage-enumerate: no program in this module: a mirage_kernel.graph without a source is wanted "
                     "(modules inside are not searched)");
  mirage__graphs_deinit(&graphs);
  return status;
}
