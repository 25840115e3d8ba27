// pass_layout.c - mirage-layout: plans every candidate's schedule and tiles. [Mirage 6]
//
// requires: nothing; provides: complete schedules, and a place and layout on every tile; breaks: nothing.
// What is set by hand is checked and kept. The predicted cost is taken anew, since it depends on the schedule. A
// candidate that does not fit the target is removed, with a warning that says why. With `own`, each program's own
// lowering joins its candidates, so that it can be read, edited and timed like them. With `variants=N`, so do other
// schedules of the N candidates of least predicted cost of each program, those within a tenth of it, @p_0_stages_3
// beside @p_0: no schedule changes a result, so each has the proof of what it varies. What was set by hand is not
// varied. With `threads`, chains of element-wise operators are written as the thread graphs that code generation makes
// of them in any case. With `explain`, remarks say of each kernel who does what, and why it is done so.
#include "mirage/cost.h"
#include "mirage/layout.h"
#include "vary.h"

#include <stdio.h>

/// Whether no kernel of the graph has a schedule yet, by a hand, the search or the planner.
static bool is_unscheduled(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  bool unscheduled = true;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    unscheduled &= node.op != MIRAGE_OP_CUSTOM || !node.attrs->custom.schedule;
  }
  return unscheduled;
}

static MirageStatus fuse_threads(const MirageModuleGraphs *graphs, MirageModuleGraph *entry) {
  MirageUGraph *fused;
  if (!is_unscheduled(entry->graph))
    return MIRAGE_OK;
  MIRAGE_TRY(mirage_ugraph_fuse_threads(entry->graph, graphs->diag, &fused));
  mirage_ugraph_destroy(entry->graph);
  entry->graph = fused;
  return MIRAGE_OK;
}

static MirageStatus say_not_planned(const MirageModuleGraphs *graphs, const MirageModuleGraph *entry, const char *why) {
  mirage_diag_emit(graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry), "@%s: not planned: interrupted%s",
                   entry->name, why);
  return MIRAGE_OK;
}

static MirageStatus plan_candidate(MirageModuleGraphs *graphs, MirageModuleGraph *entry, const MirageTarget *target,
                                   bool explain) {
  // The planner's sentence is an error only if the plan is wrong; that it does not fit is an answer.
  MirageHeld held;
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(entry);
  MirageStatus status = mirage__plan_until_late(entry->graph, target, &held.diag);
  if (status == MIRAGE_OK)
    status = mirage__lowered_cost(entry->graph, target, &held.diag, &mirage_ugraph_meta(entry->graph)->cost);
  mirage__hold_release(&held, graphs->diag, mirage__is_beyond(status));
  if (status == MIRAGE_OK && explain)
    MIRAGE_TRY(mirage_layout_explain(entry->graph, target, graphs->diag));
  if (status == MIRAGE_OK)
    return mirage__graphs_rewrite(graphs, entry);
  if (status == MIRAGE_CANCELLED)
    return say_not_planned(graphs, entry, "");
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
  MirageStatus status = mirage__own_lowering(graphs, program->graph, target, &own);
  if (status == MIRAGE_CANCELLED)
    return say_not_planned(graphs, program, ", as to its own lowering");
  MIRAGE_TRY(status);
  MlirOperation op = {NULL};
  status = mirage__graphs_append(graphs, own, program->op, &op);
  mirage_ugraph_destroy(own);
  return status;
}

/// After an interrupt only what is proven can still be chosen, and after some time nothing is planned: whoever compiles
/// a candidate plans what it lacks.
static MirageStatus is_wanted(MirageModuleGraphs *graphs, MirageModuleGraph *entry, bool *out_wanted) {
  bool late = mirage__is_late();
  *out_wanted = !late;
  if (!mirage__is_interrupted())
    return MIRAGE_OK;
  if (!late) {
    MIRAGE_TRY(mirage__graphs_import(graphs, entry));
    *out_wanted = mirage_ugraph_get_meta(entry->graph)->proof.present;
  }
  return *out_wanted ? MIRAGE_OK : say_not_planned(graphs, entry, late ? "" : ", and it has no proof");
}

// ----------------------------------------------------------------------------------------------------------- variants

typedef struct Varier {
  MirageModuleGraphs *graphs;
  const MirageTarget *target;
  bool *open; // by graph of the module: a candidate that no hand has scheduled, not varied yet
} Varier;

static double planned_us(const Varier *varier, uint32_t index) {
  return mirage_ugraph_get_meta(varier->graphs->graphs[index].graph)->cost.time_us;
}

// The best candidates of one program, best first; each is varied once.
static MirageStatus vary_best(Varier *varier, const MirageModuleGraph *program, int64_t candidates) {
  uint32_t count = 0, varied = 0;
  for (; varied < candidates; varied++) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < varier->graphs->num_graphs; i++)
      if (varier->open[i] && mirage__graphs_is_candidate(&varier->graphs->graphs[i], program) &&
          (best == UINT32_MAX || planned_us(varier, i) < planned_us(varier, best)))
        best = i;
    if (best == UINT32_MAX)
      break;
    MirageVariants variants;
    MirageStatus status =
        mirage__vary(varier->graphs, &varier->graphs->graphs[best], varier->target, MIRAGE_MOST_VARIANTS, &variants);
    count += variants.num;
    mirage__variants_deinit(&variants);
    MIRAGE_TRY(status);
    varier->open[best] = false;
  }
  if (varied)
    mirage_diag_emit(varier->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: %u other schedules of %u candidate%s", program->name, count, varied, varied == 1 ? "" : "s");
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- module

static MirageStatus layout_module(Varier *varier, const MirageLayoutOptions *options) {
  MirageModuleGraphs *graphs = varier->graphs;
  for (uint32_t i = 0; i < graphs->num_graphs; i++) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    bool wanted = false;
    if (entry->source)
      MIRAGE_TRY(is_wanted(graphs, entry, &wanted));
    if (wanted)
      MIRAGE_TRY(mirage__graphs_import(graphs, entry));
    if (wanted && options->threads)
      MIRAGE_TRY(fuse_threads(graphs, entry));
    varier->open[i] = wanted && mirage_layout_is_open(entry->graph);
    if (wanted)
      MIRAGE_TRY(plan_candidate(graphs, entry, varier->target, options->explain));
    else if (!entry->source && options->own && !mirage__is_late())
      MIRAGE_TRY(add_own(graphs, entry, varier->target));
  }
  for (uint32_t i = 0; i < graphs->num_graphs && options->variants && !mirage__is_interrupted(); i++)
    if (!graphs->graphs[i].source)
      MIRAGE_TRY(vary_best(varier, &graphs->graphs[i], options->variants));
  return MIRAGE_OK;
}

MirageStatus mirage_pass_layout(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageLayoutOptions *options = opaque;
  MirageModuleGraphs graphs;
  const MirageTarget target = mirage__pass_target(options->target, options->tensor_maps);
  Varier varier = {.graphs = &graphs, .target = &target};
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK) {
    varier.open = mirage_arena_alloc_array(&graphs.arena, graphs.num_graphs, sizeof *varier.open);
    status = varier.open ? layout_module(&varier, options) : MIRAGE_NO_MEMORY;
  }
  mirage__graphs_deinit(&graphs);
  return status;
}
