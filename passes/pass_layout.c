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
#include "passes.h"

#include <stdio.h>

/// Whether no kernel of the graph was scheduled by hand, or planned.
static bool is_open(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  bool open = true;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    open &= node.op != MIRAGE_OP_CUSTOM || !node.attrs->custom.schedule;
  }
  return open;
}

static MirageStatus fuse_threads(const MirageModuleGraphs *graphs, MirageModuleGraph *entry) {
  MirageUGraph *fused;
  if (!is_open(entry->graph))
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

enum { MOST_VARIANTS = 32 };
static const double most_slower = 1.1; // predicted: timing a variant takes a GPU seconds

typedef struct Varier {
  MirageModuleGraphs *graphs;
  const MirageTarget *target;
  MirageUGraph **open; // by graph of the module: copies of candidates before they were planned; NULL = not to be varied
} Varier;

static MirageStatus remember(Varier *varier, uint32_t index) {
  const MirageModuleGraph *entry = &varier->graphs->graphs[index];
  return is_open(entry->graph) ? mirage_ugraph_clone(entry->graph, varier->graphs->diag, &varier->open[index])
                               : MIRAGE_OK;
}

static MirageStatus add_variant(Varier *varier, uint32_t index, uint32_t variant, MirageUGraph *graph,
                                MlirOperation *in_out_last) {
  const MirageModuleGraph *entry = &varier->graphs->graphs[index];
  char name[300];
  snprintf(name, sizeof name, "%s_%s", entry->name, mirage_layout_variant_name(variant));
  for (char *c = name; *c; c++)
    *c = *c == '-' ? '_' : *c;
  MIRAGE_TRY(mirage__graphs_name(varier->graphs, graph, name, false));
  return mirage__graphs_append(varier->graphs, graph, *in_out_last, in_out_last);
}

static double planned_us(const Varier *varier, uint32_t index) {
  return mirage_ugraph_get_meta(varier->graphs->graphs[index].graph)->cost.time_us;
}

// The schedules met so far of one candidate, its own first.
typedef struct Met {
  MirageGraphHash hashes[MOST_VARIANTS];
  uint32_t count;
} Met;

static MirageStatus is_new(Met *met, const MirageUGraph *graph, const MirageDiag *diag, bool *out_new) {
  MirageGraphHash hash;
  MIRAGE_TRY(mirage_ugraph_hash(graph, diag, &hash));
  *out_new = met->count < MOST_VARIANTS;
  for (uint32_t i = 0; i < met->count; i++)
    *out_new &= met->hashes[i].low != hash.low || met->hashes[i].high != hash.high;
  if (*out_new)
    met->hashes[met->count++] = hash;
  return MIRAGE_OK;
}

static MirageStatus vary(Varier *varier, uint32_t index, uint32_t *out_count) {
  const MirageModuleGraph *entry = &varier->graphs->graphs[index];
  const MirageDiag *diag = varier->graphs->diag;
  MlirOperation last = entry->op;
  Met met = {0};
  bool fresh;
  MIRAGE_TRY(is_new(&met, entry->graph, diag, &fresh));
  for (uint32_t variant = 0; mirage_layout_variant_name(variant) && !mirage__is_interrupted(); variant++) {
    MirageUGraph *graph;
    MirageStatus status =
        mirage_layout_variant(varier->open[index], entry->graph, varier->target, variant, NULL, &graph);
    if (status == MIRAGE_NO_MEMORY)
      return status;
    if (status != MIRAGE_OK || !graph)
      continue; // it does not fit, or is none
    MirageCost *cost = &mirage_ugraph_meta(graph)->cost;
    status = is_new(&met, graph, diag, &fresh);
    if (status == MIRAGE_OK && fresh)
      status = mirage__lowered_cost(graph, varier->target, diag, cost);
    fresh &= cost->time_us <= most_slower * planned_us(varier, index);
    if (status == MIRAGE_OK && fresh)
      status = add_variant(varier, index, variant, graph, &last);
    *out_count += status == MIRAGE_OK && fresh;
    mirage_ugraph_destroy(graph);
    if (status == MIRAGE_CANCELLED) // the variants that are there are enough
      return MIRAGE_OK;
    MIRAGE_TRY(status);
  }
  return MIRAGE_OK;
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
    MIRAGE_TRY(vary(varier, best, &count));
    mirage_ugraph_destroy(varier->open[best]);
    varier->open[best] = NULL;
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
    if (wanted && options->variants && !mirage__is_interrupted())
      MIRAGE_TRY(remember(varier, i));
    if (wanted)
      MIRAGE_TRY(plan_candidate(graphs, entry, varier->target, options->explain));
    else if (!entry->source && options->own && !mirage__is_late())
      MIRAGE_TRY(add_own(graphs, entry, varier->target));
  }
  for (uint32_t i = 0; i < graphs->num_graphs && options->variants; i++)
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
  for (uint32_t i = 0; varier.open && i < graphs.num_graphs; i++)
    mirage_ugraph_destroy(varier.open[i]);
  mirage__graphs_deinit(&graphs);
  return status;
}
