// pass_replay.c - mirage-enumerate{replay=yes}: says of given candidates whether the search meets them.
//
// requires: programs, candidates; provides: remarks; with replay=add, the search's µGraph that stands for a candidate
//           as a candidate more, after it; breaks: nothing.
// A candidate that the search does not meet is compared with what the search keeps, and with its own operators as the
// search would put them: what is predicted to take no more time, device memory and kernels, and less of one, dominates.
#include "mirage/cost.h"
#include "mirage/search.h"
#include "passes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Replayer {
  MirageModuleGraphs *graphs;
  MirageModuleGraph *program;
  const MirageSearchOptions *options;
  MirageReplay *replay;
  MirageSearchResult found; // by the search
  bool add;
} Replayer;

static bool same_graph(const MirageUGraph *a, const MirageUGraph *b, const MirageDiag *diag) {
  MirageGraphHash x, y;
  return mirage_ugraph_hash(a, diag, &x) == MIRAGE_OK && mirage_ugraph_hash(b, diag, &y) == MIRAGE_OK &&
         x.low == y.low && x.high == y.high;
}

// The number of the candidate of the search that is this graph, or num_candidates.
static uint32_t find_kept(const Replayer *replayer, const MirageUGraph *graph) {
  uint32_t i = 0;
  while (i < replayer->found.num_candidates &&
         !same_graph(replayer->found.candidates[i], graph, replayer->graphs->diag))
    i++;
  return i;
}

static bool dominates(const MirageCost *a, const MirageCost *b) {
  return a->time_us <= b->time_us && a->bytes <= b->bytes && a->kernels <= b->kernels &&
         (a->time_us < b->time_us || a->bytes < b->bytes || a->kernels < b->kernels);
}

static const MirageCost *cost_of(const MirageUGraph *graph) { return &mirage_ugraph_get_meta(graph)->cost; }

// The number of the first of the search's candidates that dominates, or num_candidates.
static uint32_t find_dominating(const Replayer *replayer, const MirageCost *cost) {
  uint32_t i = 0;
  while (i < replayer->found.num_candidates && !dominates(cost_of(replayer->found.candidates[i]), cost))
    i++;
  return i;
}

// ----------------------------------------------------------------------------------------------- words

static void describe_kept(const Replayer *replayer, const MirageModuleGraph *entry, const MirageReplayResult *result,
                          char *text, size_t size) {
  const MirageSearchResult *found = &replayer->found;
  uint32_t exact = find_kept(replayer, entry->graph);
  uint32_t kept = exact < found->num_candidates || !result->graph ? exact : find_kept(replayer, result->graph);
  if (exact < found->num_candidates)
    snprintf(text, size, "kept as candidate %u", kept);
  else if (kept < found->num_candidates)
    snprintf(text, size, "candidate %u stands for it, %.2f us", kept, cost_of(found->candidates[kept])->time_us);
  else if (found->num_candidates)
    snprintf(text, size, "not kept: candidate 0 takes %.2f us, the last kept %.2f us",
             cost_of(found->candidates[0])->time_us, cost_of(found->candidates[found->num_candidates - 1])->time_us);
  else
    snprintf(text, size, "not kept");
}

static void report_met(const Replayer *replayer, const MirageModuleGraph *entry, const MirageCost *cost,
                       const MirageReplayResult *result) {
  char kept[160], pieces[40] = "";
  describe_kept(replayer, entry, result, kept, sizeof kept);
  if (result->pieces > 1)
    snprintf(pieces, sizeof pieces, " in %u pieces", result->pieces);
  mirage_diag_emit(replayer->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry),
                   "@%s: in the space%s: %u operators counted, %u in all, %u merged; %.2f us predicted, %s",
                   entry->name, pieces, result->counted_ops, result->operators, result->merged, cost->time_us, kept);
}

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

// `better`: what dominates the candidate, or NULL; `name` says which graph that is.
static void report_cut(const Replayer *replayer, const MirageModuleGraph *entry, const MirageCost *cost,
                       const MirageReplayResult *result, const MirageUGraph *better, const char *name) {
  char at[64] = "the end", time[40] = "what does not fit", beaten[240] = "nothing that the search has dominates it";
  if (result->op)
    snprintf(at, sizeof at, "%s", mirage_op_info(result->op)->mnemonic);
  if (isfinite(cost->time_us))
    snprintf(time, sizeof time, "%.2f us", cost->time_us);
  if (better)
    snprintf(beaten, sizeof beaten,
             "dominated by %s: %.2f us instead of %s, %.0f KB instead of %.0f KB, %u kernel%s instead of %u", name,
             cost_of(better)->time_us, time, cost_of(better)->bytes / 1000, cost->bytes / 1000,
             cost_of(better)->kernels, plural(cost_of(better)->kernels), cost->kernels);
  mirage_diag_emit(replayer->graphs->diag, MIRAGE_SEVERITY_REMARK, result->loc ? result->loc : mirage__graph_loc(entry),
                   "@%s: cut at %s by %s: %s; %s", entry->name, at, mirage_replay_cut_name(result->cut), result->why,
                   beaten);
}

// --------------------------------------------------------------------------------------------- replays

// Adds a graph of the search's under the candidate's name.
static MirageStatus add_graph(const Replayer *replayer, const MirageModuleGraph *entry, const MirageUGraph *graph) {
  char name[256];
  MlirOperation added;
  MirageUGraph *copy = NULL;
  MIRAGE_TRY(mirage_ugraph_clone(graph, replayer->graphs->diag, &copy));
  snprintf(name, sizeof name, "%s_searched", entry->name);
  mirage_ugraph_meta(copy)->source = mirage_ugraph_intern_string(copy, replayer->program->name);
  MirageStatus status = mirage__graphs_name(replayer->graphs, copy, name, false);
  if (status == MIRAGE_OK)
    status = mirage__graphs_append(replayer->graphs, copy, entry->op, &added);
  mirage_ugraph_destroy(copy);
  return status;
}

static MirageStatus report(const Replayer *replayer, const MirageModuleGraph *entry, const MirageReplayResult *result) {
  const MirageSearchResult *found = &replayer->found;
  const MirageUGraph *shown = result->graph;
  char name[40] = "its operators as the search has them";
  MirageCost cost;
  MIRAGE_TRY(mirage_cost(entry->graph, replayer->options->target, replayer->graphs->diag, &cost));
  if (result->in_space) {
    report_met(replayer, entry, &cost, result);
  } else {
    uint32_t better = find_dominating(replayer, &cost);
    if (better < found->num_candidates) {
      shown = found->candidates[better];
      snprintf(name, sizeof name, "candidate %u", better);
    } else if (shown && !dominates(cost_of(shown), &cost)) {
      shown = NULL;
    }
    report_cut(replayer, entry, &cost, result, shown, name);
  }
  return replayer->add && shown ? add_graph(replayer, entry, shown) : MIRAGE_OK;
}

static MirageStatus replay_candidate(const Replayer *replayer, MirageModuleGraph *entry) {
  MirageReplayResult result;
  MIRAGE_TRY(mirage__graphs_import(replayer->graphs, entry));
  MIRAGE_TRY(mirage_replay_run(replayer->replay, entry->graph, replayer->graphs->diag, &result));
  MirageStatus status = report(replayer, entry, &result);
  mirage_ugraph_destroy(result.graph);
  return status;
}

// Searches the program, and gets ready to replay; a program that the search cannot treat is a warning.
static MirageStatus prepare(Replayer *replayer, bool *out_ready) {
  const MirageUGraph *program = replayer->program->graph;
  MirageHeld held;
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(replayer->program);
  MirageStatus status = mirage_replay_create(program, replayer->options, &held.diag, &replayer->replay);
  if (status == MIRAGE_OK)
    status = mirage_search(program, replayer->options, &held.diag, &replayer->found);
  mirage__hold_release(&held, replayer->graphs->diag, mirage__is_beyond(status));
  *out_ready = status == MIRAGE_OK;
  return mirage__is_beyond(status) ? MIRAGE_OK : status;
}

static MirageStatus replay_program(Replayer *replayer) {
  MirageModuleGraphs *graphs = replayer->graphs;
  bool ready = false;
  for (uint32_t i = 0; i < graphs->num_graphs; i++) {
    if (!mirage__graphs_is_candidate(&graphs->graphs[i], replayer->program))
      continue;
    if (!ready)
      MIRAGE_TRY(prepare(replayer, &ready));
    if (!ready)
      return MIRAGE_OK;
    MIRAGE_TRY(replay_candidate(replayer, &graphs->graphs[i]));
  }
  return MIRAGE_OK;
}

MirageStatus mirage__replay_candidates(MirageModuleGraphs *graphs, MirageModuleGraph *program,
                                       const MirageSearchOptions *options, bool add) {
  MIRAGE_TRY(mirage__graphs_import(graphs, program));
  Replayer replayer = {.graphs = graphs, .program = program, .options = options, .add = add};
  MirageStatus status = replay_program(&replayer);
  mirage_search_result_deinit(&replayer.found);
  mirage_replay_destroy(replayer.replay);
  return status;
}
