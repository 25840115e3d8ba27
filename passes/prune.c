// prune.c - mirage-prune: removes candidates that cannot win. [Mirage 4.3]
//
// requires: candidates; provides: fewer of them; breaks: nothing. Reasons, in this order:
//   expression  its abstract expression is not the program's: it computes something else (pass_abstract.c). `engine` says
//               who decides: normal forms, or Z3, which is independent, slow, and removes what it cannot show. Where no
//               candidate has the program's - the search cancels factors, which expressions do not - all of them stay,
//               and the verifier decides
//   duplicate   it is built like an earlier candidate (mirage_ugraph_hash)
//   dominated   `beaten-by` others are as good in predicted time, bytes and kernels, and better in one, of time by 3 %;
//               two of them combine the parts of split reductions in the same way. Which way is the fastest, and which of
//               two that are predicted alike, a GPU knows better than the cost model
// The counts are a remark at the program and, with `explain`, each removal one at the candidate. The search applies the
// first two itself; this pass is for candidates from elsewhere, and for those of mirage-enumerate{prune=false}.
#include "mirage/cost.h"
#include "passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct Pruner {
  MirageModuleGraphs *graphs;
  const MiragePruneOptions *options;
  const MirageTarget *target;
  MirageModuleGraph **alive; // candidates of the program at hand, in textual order
  MirageGraphHash *hashes;   // of each
  bool *differs;             // of each: its expression from the program's
  uint32_t num_alive;
} Pruner;

typedef struct PruneCounts {
  uint32_t expression, duplicate, dominated;
} PruneCounts;

static void remove_candidate(const Pruner *pruner, MirageModuleGraph *entry, const char *reason, const char *other) {
  if (pruner->options->explain)
    mirage_diag_emit(pruner->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry), "@%s: pruned: %s%s",
                     entry->name, reason, other);
  mirage__graphs_erase(pruner->graphs, entry);
}

/// Drops the erased ones from `alive`, keeping order.
static void compact(Pruner *pruner) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < pruner->num_alive; i++)
    if (!pruner->alive[i]->erased)
      pruner->alive[kept++] = pruner->alive[i];
  pruner->num_alive = kept;
}

static MirageStatus prune_expressions(Pruner *pruner, const MirageModuleGraph *program, PruneCounts *counts) {
  bool ask_z3 = strcmp(pruner->options->engine, "z3") == 0;
  uint32_t num_different = 0;
  for (uint32_t i = 0; i < pruner->num_alive; i++) {
    if (mirage__is_late())
      return MIRAGE_OK;
    MIRAGE_TRY(mirage__expression_differs(program->graph, pruner->alive[i]->graph, ask_z3, pruner->graphs->diag,
                                          &pruner->differs[i]));
    num_different += pruner->differs[i];
  }
  if (num_different == pruner->num_alive) {
    mirage_diag_emit(pruner->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: no candidate has its abstract expression; the verifier decides", program->name);
    return MIRAGE_OK;
  }
  for (uint32_t i = 0; i < pruner->num_alive; i++)
    if (pruner->differs[i])
      remove_candidate(pruner, pruner->alive[i], "its abstract expression is not that of @", program->name);
  counts->expression = num_different;
  compact(pruner);
  return MIRAGE_OK;
}

static MirageStatus prune_duplicates(Pruner *pruner, PruneCounts *counts) {
  for (uint32_t i = 0; i < pruner->num_alive; i++) {
    MIRAGE_TRY(mirage_ugraph_hash(pruner->alive[i]->graph, pruner->graphs->diag, &pruner->hashes[i]));
    for (uint32_t j = 0; j < i; j++) {
      bool same = pruner->hashes[i].low == pruner->hashes[j].low && pruner->hashes[i].high == pruner->hashes[j].high;
      if (!same || pruner->alive[j]->erased)
        continue;
      remove_candidate(pruner, pruner->alive[i], "built like @", pruner->alive[j]->name);
      counts->duplicate++;
      break;
    }
  }
  compact(pruner);
  return MIRAGE_OK;
}

static const double certain = 0.97; // of a predicted time is less: who is closer may as well be slower

static bool beats(const MirageCost *a, const MirageCost *b) {
  bool as_good = a->time_us <= b->time_us && a->bytes <= b->bytes && a->kernels <= b->kernels;
  return as_good && (a->time_us < certain * b->time_us || a->bytes < b->bytes || a->kernels < b->kernels);
}

enum { BY_CLUSTER = 1, BY_GRID = 2, SAME_WAY = 2 };

// Who combines parts, as a bit set.
static uint32_t ways_to_combine(const MirageUGraph *graph) {
  uint32_t ways = 0;
  for (uint32_t i = 1; i <= mirage_ugraph_num_nodes(graph); i++) {
    MirageOp op = mirage_ugraph_node(graph, (MirageNode){i}).op;
    ways |= op == MIRAGE_OP_CLUSTER_SUM || op == MIRAGE_OP_CLUSTER_MAX ? BY_CLUSTER : 0;
    ways |= op == MIRAGE_OP_GRID_SUM || op == MIRAGE_OP_GRID_MAX ? BY_GRID : 0;
  }
  return ways;
}

static bool same_way(const MirageUGraph *a, const MirageUGraph *b) {
  return mirage_ugraph_get_meta(a)->cost.kernels == mirage_ugraph_get_meta(b)->cost.kernels &&
         ways_to_combine(a) == ways_to_combine(b);
}

static MirageStatus prune_dominated(Pruner *pruner, PruneCounts *counts) {
  for (uint32_t i = 0; i < pruner->num_alive; i++) {
    MirageGraphMeta *meta = mirage_ugraph_meta(pruner->alive[i]->graph);
    if (!meta->cost.present)
      MIRAGE_TRY(mirage_cost(pruner->alive[i]->graph, pruner->target, pruner->graphs->diag, &meta->cost));
  }
  for (uint32_t i = 0; i < pruner->num_alive; i++) {
    int64_t better = 0, alike = 0;
    const MirageUGraph *graph = pruner->alive[i]->graph;
    for (uint32_t j = 0; j < pruner->num_alive; j++) {
      const MirageUGraph *other = pruner->alive[j]->graph;
      bool beaten = beats(&mirage_ugraph_get_meta(other)->cost, &mirage_ugraph_get_meta(graph)->cost);
      better += beaten;
      alike += beaten && same_way(graph, other);
    }
    if (better < pruner->options->beaten_by || (alike < SAME_WAY && alike < better))
      continue;
    char count[40];
    snprintf(count, sizeof count, "%" PRId64 " other%s", better, better == 1 ? "" : "s");
    remove_candidate(pruner, pruner->alive[i], "dominated by ", count);
    counts->dominated++;
  }
  compact(pruner);
  return MIRAGE_OK;
}

static MirageStatus gather(Pruner *pruner, MirageModuleGraph *program) {
  MirageModuleGraphs *graphs = pruner->graphs;
  MIRAGE_TRY(mirage__graphs_import(graphs, program));
  pruner->num_alive = 0;
  for (uint32_t i = 0; i < graphs->num_graphs; i++) {
    if (!mirage__graphs_is_candidate(&graphs->graphs[i], program))
      continue;
    MIRAGE_TRY(mirage__graphs_import(graphs, &graphs->graphs[i]));
    pruner->alive[pruner->num_alive++] = &graphs->graphs[i];
  }
  return MIRAGE_OK;
}

static MirageStatus prune_program(Pruner *pruner, MirageModuleGraph *program) {
  PruneCounts counts = {0};
  if (mirage__is_late())
    return MIRAGE_OK; // whoever proves and chooses does without
  MIRAGE_TRY(gather(pruner, program));
  uint32_t before = pruner->num_alive;
  if (before == 0)
    return MIRAGE_OK;
  if (pruner->options->expr)
    MIRAGE_TRY(prune_expressions(pruner, program, &counts));
  if (pruner->options->duplicates && !mirage__is_late())
    MIRAGE_TRY(prune_duplicates(pruner, &counts));
  if (pruner->options->dominated && !mirage__is_late())
    MIRAGE_TRY(prune_dominated(pruner, &counts));
  mirage_diag_emit(pruner->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                   "@%s: %u candidate%s, pruned %u by expression, %u as duplicates, %u as dominated; %u left",
                   program->name, before, before == 1 ? "" : "s", counts.expression, counts.duplicate, counts.dominated,
                   pruner->num_alive);
  if (pruner->options->stats)
    fprintf(stderr,
            "prune @%s candidates %u\nprune @%s expression %u\nprune @%s duplicate %u\nprune @%s dominated %u\n"
            "prune @%s left %u\n",
            program->name, before, program->name, counts.expression, program->name, counts.duplicate, program->name,
            counts.dominated, program->name, pruner->num_alive);
  return MIRAGE_OK;
}

MirageStatus mirage_pass_prune(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MiragePruneOptions *options = opaque;
  MirageModuleGraphs graphs;
  const MirageTarget target = mirage__pass_target(options->target, options->tensor_maps);
  Pruner pruner = {.graphs = &graphs, .options = options, .target = &target};
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK) {
    pruner.alive = mirage_arena_alloc_array(&graphs.arena, graphs.num_graphs, sizeof *pruner.alive);
    pruner.hashes = mirage_arena_alloc_array(&graphs.arena, graphs.num_graphs, sizeof *pruner.hashes);
    pruner.differs = mirage_arena_alloc_array(&graphs.arena, graphs.num_graphs, sizeof *pruner.differs);
    if (!pruner.alive || !pruner.hashes || !pruner.differs)
      status = MIRAGE_NO_MEMORY;
  }
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; i++)
    if (!graphs.graphs[i].source)
      status = prune_program(&pruner, &graphs.graphs[i]);
  mirage__graphs_deinit(&graphs);
  return status;
}
