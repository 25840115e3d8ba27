// select.c - mirage-select: chooses for every program the proven candidate of least predicted cost.
//
// requires: candidates; provides: `selected` on at most one candidate of each program, and (keep=best) nothing else
// left of
//           the others; breaks: nothing.
// A candidate without a proof is refused. When the program's own lowering is predicted to be at least as fast as the
// best candidate, none is selected, and mirage-lower compiles the program itself. A candidate's cost attribute counts
// as it stands, so that a measured time can be put there by hand; without one the cost model is asked.
#include "mirage/cost.h"
#include "passes.h"

#include <math.h>
#include <string.h>

static MirageStatus candidate_cost(MirageModuleGraphs *graphs, MirageModuleGraph *entry, const MirageTarget *target) {
  MirageGraphMeta *meta = mirage_ugraph_meta(entry->graph);
  if (meta->cost.present)
    return MIRAGE_OK;
  return mirage_cost(entry->graph, target, graphs->diag, &meta->cost);
}

/// The proven candidate of least cost, the first of equals; NULL when there is none.
static MirageStatus find_best(MirageModuleGraphs *graphs, const MirageModuleGraph *program, const MirageTarget *target,
                              MirageModuleGraph **out_best, uint32_t *out_proven) {
  *out_best = NULL;
  *out_proven = 0;
  for (uint32_t i = 0; i < graphs->num_graphs; ++i) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    if (!mirage__graphs_is_candidate(entry, program))
      continue;
    MIRAGE_TRY(mirage__graphs_import(graphs, entry));
    const MirageGraphMeta *meta = mirage_ugraph_get_meta(entry->graph);
    if (!meta->proof.present) {
      mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry), "@%s: refused: it has no proof",
                       entry->name);
      continue;
    }
    MIRAGE_TRY(candidate_cost(graphs, entry, target));
    ++*out_proven;
    if (!*out_best || meta->cost.time_us < mirage_ugraph_get_meta((*out_best)->graph)->cost.time_us)
      *out_best = entry;
  }
  return MIRAGE_OK;
}

/// Predicted time of the program's own lowering; infinite when it has none.
static MirageStatus own_time(const MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                             const MirageTarget *target, double *out_time_us) {
  MirageCost cost = {0};
  MirageHeld held;
  mirage__hold_init(&held);
  MirageStatus status = mirage__program_cost(program->graph, target, &held.diag, &cost);
  mirage__hold_release(&held, graphs->diag, mirage__is_beyond(status));
  *out_time_us = status == MIRAGE_OK ? cost.time_us : INFINITY;
  return mirage__is_beyond(status) ? MIRAGE_OK : status;
}

static MirageStatus mark(MirageModuleGraphs *graphs, const MirageModuleGraph *program, const MirageModuleGraph *chosen,
                         bool keep_all) {
  for (uint32_t i = 0; i < graphs->num_graphs; ++i) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    if (!mirage__graphs_is_candidate(entry, program))
      continue;
    if (entry != chosen && !keep_all) {
      mirage__graphs_erase(graphs, entry);
      continue;
    }
    MirageGraphMeta *meta = mirage_ugraph_meta(entry->graph);
    meta->selected = entry == chosen;
    MIRAGE_TRY(mirage_bridge_export_meta(meta, entry->op, graphs->diag));
  }
  return MIRAGE_OK;
}

static MirageStatus select_program(MirageModuleGraphs *graphs, MirageModuleGraph *program, const MirageTarget *target,
                                   bool keep_all) {
  MIRAGE_TRY(mirage__graphs_import(graphs, program));
  MirageModuleGraph *best = NULL;
  uint32_t proven = 0;
  double own_us = INFINITY;
  MIRAGE_TRY(find_best(graphs, program, target, &best, &proven));
  MIRAGE_TRY(own_time(graphs, program, target, &own_us));
  const void *loc = mirage__graph_loc(program);
  double best_us = best ? mirage_ugraph_get_meta(best->graph)->cost.time_us : INFINITY;
  if (!best) {
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: no proven candidate; its own lowering stands (%.2f us predicted on %s)", program->name,
                     own_us, target->name);
  } else if (best_us < own_us) {
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: selected @%s of %u proven: %.2f us predicted on %s, its own lowering %.2f us", program->name,
                     best->name, proven, best_us, target->name, own_us);
  } else {
    mirage_diag_emit(
        graphs->diag, MIRAGE_SEVERITY_REMARK, loc,
        "@%s: its own lowering is better: %.2f us predicted on %s, the best of %u proven is @%s with %.2f us",
        program->name, own_us, target->name, proven, best->name, best_us);
    best = NULL;
  }
  return mark(graphs, program, best, keep_all);
}

MirageStatus mirage_pass_select(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageSelectOptions *options = opaque;
  const MirageTarget *target = mirage_target_find(options->target);
  bool keep_all = strcmp(options->keep, "all") == 0;
  MirageModuleGraphs graphs;
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; ++i)
    if (!graphs.graphs[i].source)
      status = select_program(&graphs, &graphs.graphs[i], target, keep_all);
  mirage__graphs_deinit(&graphs);
  return status;
}
