// layout.c - mirage-layout: plans every candidate's schedule and tiles. [Mirage 6]
//
// requires: nothing; provides: complete schedules, and a place and layout on every tile; breaks: nothing.
// What is set by hand is checked and kept. The predicted cost is taken anew, since it depends on the schedule. A
// candidate that does not fit the target is removed, with a warning that says why. With `own`, each program's own
// lowering joins its candidates, so that it can be read, edited and timed like them.
#include "mirage/layout.h"
#include "mirage/cost.h"
#include "passes.h"

static MirageStatus plan_candidate(MirageModuleGraphs *graphs, MirageModuleGraph *entry, const MirageTarget *target) {
  MIRAGE_TRY(mirage__graphs_import(graphs, entry));
  // The planner's sentence is an error only if the plan is wrong; that it does not fit is an answer.
  MirageHeld held;
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(entry);
  MirageStatus status = mirage_layout_plan(entry->graph, target, &held.diag);
  if (status == MIRAGE_OK)
    status = mirage_cost(entry->graph, target, &held.diag, &mirage_ugraph_meta(entry->graph)->cost);
  mirage__hold_release(&held, graphs->diag, mirage__is_beyond(status));
  if (status == MIRAGE_OK)
    return mirage__graphs_rewrite(graphs, entry);
  if (!mirage__is_beyond(status))
    return status;
  mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry), "@%s: removed: no layout on %s",
                   entry->name, target->name);
  mirage__graphs_erase(graphs, entry);
  return MIRAGE_OK;
}

static MirageStatus add_own(MirageModuleGraphs *graphs, MirageModuleGraph *program, const MirageTarget *target) {
  MIRAGE_TRY(mirage__graphs_import(graphs, program));
  MirageUGraph *own = NULL;
  MIRAGE_TRY(mirage__own_lowering(graphs, program->graph, target, &own));
  MlirOperation op = {NULL};
  MirageStatus status = mirage__graphs_append(graphs, own, program->op, &op);
  mirage_ugraph_destroy(own);
  return status;
}

/// After an interrupt only what is proven can still be chosen.
static MirageStatus is_wanted(MirageModuleGraphs *graphs, MirageModuleGraph *entry, bool *out_wanted) {
  *out_wanted = true;
  if (!mirage__is_interrupted())
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__graphs_import(graphs, entry));
  *out_wanted = mirage_ugraph_get_meta(entry->graph)->proof.present;
  if (!*out_wanted)
    mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry),
                     "@%s: not planned: interrupted, and it has no proof", entry->name);
  return MIRAGE_OK;
}

static MirageStatus layout_module(MirageModuleGraphs *graphs, const MirageTarget *target, bool own) {
  for (uint32_t i = 0; i < graphs->num_graphs; ++i) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    bool wanted = false;
    if (entry->source)
      MIRAGE_TRY(is_wanted(graphs, entry, &wanted));
    if (wanted)
      MIRAGE_TRY(plan_candidate(graphs, entry, target));
    else if (!entry->source && own)
      MIRAGE_TRY(add_own(graphs, entry, target));
  }
  return MIRAGE_OK;
}

MirageStatus mirage_pass_layout(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageLayoutOptions *options = opaque;
  const MirageTarget *target = mirage_target_find(options->target);
  MirageModuleGraphs graphs;
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = layout_module(&graphs, target, options->own);
  mirage__graphs_deinit(&graphs);
  return status;
}
