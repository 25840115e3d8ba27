// select.c - mirage-select: chooses for every program the proven candidate that is fastest.
//
// requires: candidates; provides: `selected` on at most one candidate of each program, and (keep=best) nothing else
//           left of the others; breaks: nothing.
// A candidate without a proof is refused, and so is one whose proof does not hold what it says: `pair` must be the hash
// of these two graphs, and the bound is computed again (no trial is run) and must reach `log2-bound`.
// mirage-verify proves by transfer from a small instance, which is quick. The one chosen here is proven once more at full
// size, when all trials and the drawing of their numbers cost at most `full-size-work` (where only one does, it is
// evaluated there once), and compiled for the target; should that find a difference or no value, or the candidate be
// beyond the code generator, the next best one is taken. An interrupt ends that; the proof that the candidate has stands. A proof in pieces is proven again; where an
// interrupt ends that, nothing is selected.
//
// Fastest by measuring (option `measure`): what the tuning database holds for the program, or the candidates that
// differ most, timed on the GPU beside the program's own lowering (measure.c); select_measured.c. Else by the cost
// model. Whichever it is, where nothing beats the program's own lowering none is selected, and mirage-lower compiles
// the program itself. A cost that was predicted for this target is taken anew, for the code that would be compiled; one
// without a target, or with a measured time, counts as it stands, so that a time can be put there by hand.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "select.h"

#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "mirage/cost.h"
#include "mirage/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void remark(const Selector *selector, const MirageModuleGraph *entry, const char *text) {
  mirage_diag_emit(selector->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(entry), "@%s: %s", entry->name,
                   text);
}

// ------------------------------------------------------------------------------------------------------------- proofs

/// Takes the proof away: the candidate is out of the running.
void mirage__refuse(const Selector *selector, MirageModuleGraph *entry, const char *text) {
  MirageGraphMeta *meta = mirage_ugraph_meta(entry->graph);
  remark(selector, entry, text);
  meta->proof = (MirageProof){0};
  meta->guard = (MirageGuard){0};
}

static MirageStatus check_proof(const Selector *selector, MirageModuleGraph *entry) {
  const MirageProof proof = mirage_ugraph_get_meta(entry->graph)->proof;
  const MirageDiag *diag = selector->graphs->diag;
  const MirageUGraph *program = selector->program->graph;
  uint64_t pair;
  if (!proof.present) {
    remark(selector, entry, "refused: it has no proof");
    return MIRAGE_OK;
  }
  MIRAGE_TRY(mirage_ugraph_pair_hash(program, entry->graph, diag, &pair));
  if (proof.pair != pair) {
    mirage__refuse(selector, entry,
                   proof.pair ? "refused: its proof was made for other graphs; one of the two has been changed since"
                              : "refused: its proof does not say which graphs it was made for");
    return MIRAGE_OK;
  }
  double holds;
  MirageCancel cancel;
  MirageStatus status;
  do {
    cancel = mirage__until_late();
    status = mirage_verify_claim_until(program, entry->graph, &proof, &cancel, diag, &holds);
  } while (status == MIRAGE_CANCELLED && cancel.interrupt); // the interrupt came meanwhile
  MIRAGE_TRY(status);
  char text[160];
  if (holds > proof.log2_bound + 1e-6 * fabs(proof.log2_bound)) {
    snprintf(text, sizeof text, "refused: its proof claims 2^%.1f, its %u trial%s show 2^%.1f", proof.log2_bound,
             proof.trials, proof.trials == 1 ? "" : "s", holds);
    mirage__refuse(selector, entry, text);
  } else if (proof.log2_bound > selector->options->log2_bound) {
    snprintf(text, sizeof text, "refused: a wrong graph passes its proof with probability 2^%.1f, 2^%.1f is asked for",
             proof.log2_bound, selector->options->log2_bound);
    mirage__refuse(selector, entry, text);
  }
  return MIRAGE_OK;
}

// Multiplications that drawing the numbers of a trial takes the time of: 60 ns a number, nearly all of it for touching memory.
static double draw_work(const MirageUGraph *program) {
  enum { A_NUMBER = 24 };
  double elements = 0;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(program); i++)
    elements += (double)mirage_type_elements(mirage_ugraph_type(program, mirage_ugraph_get_input(program, i)));
  return A_NUMBER * elements;
}

/// Proves the choice at full size where that is affordable and not done yet. Takes its proof away if that fails.
static MirageStatus confirm(const Selector *selector, MirageModuleGraph *entry) {
  MirageProof *proof = &mirage_ugraph_meta(entry->graph)->proof;
  const MirageSelectOptions *pass = selector->options;
  double work = pass->full_size_work - draw_work(selector->program->graph);
  if (!proof->shrunken || work < 1 || mirage__is_interrupted())
    return MIRAGE_OK;
  const MirageCancel cancel = {.interrupt = mirage__interrupt_flag()};
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const MirageVerifyOptions options = {.seed = (uint64_t)pass->seed,
                                       .log2_bound = pass->log2_bound,
                                       .max_work = (uint64_t)work,
                                       .full_size = true,
                                       .num_threads = cores > 0 ? (uint32_t)cores : 1,
                                       .cancel = &cancel};
  MirageVerdict verdict;
  MirageStatus status =
      mirage_verify(selector->program->graph, entry->graph, &options, selector->graphs->diag, &verdict);
  if (status != MIRAGE_OK)
    return status == MIRAGE_CANCELLED ? MIRAGE_OK : status; // the proof that it has stands
  char text[240];
  if (verdict.kind == MIRAGE_VERDICT_EQUIVALENT) {
    verdict.proof.pair = proof->pair;
    *proof = verdict.proof;
  } else if (verdict.kind == MIRAGE_VERDICT_DIFFERENT) {
    snprintf(text, sizeof text,
             "refused: at full size it %s at output %u, element %" PRIu64 " (seed %" PRIu64 ", trial %u)",
             verdict.undefined ? "divides by zero, where the program does not," : "differs", verdict.output,
             verdict.index, verdict.seed, verdict.trial);
    mirage__refuse(selector, entry, text);
  } else if (!verdict.agreed) {
    snprintf(text, sizeof text, "refused: at full size it cannot be judged: %s", verdict.reason);
    mirage__refuse(selector, entry, text);
  }
  return MIRAGE_OK;
}

/// Compiles a copy of the choice, as mirage-lower would. Takes its proof away if the candidate is beyond the code
/// generator.
static MirageStatus try_out(const Selector *selector, MirageModuleGraph *entry) {
  MirageCodegenOptions options = {.opt_level = 1}; // what can fail does not depend on it
  MirageUGraph *copy = NULL;
  MirageCode code = {0};
  MirageCancel cancel = {0};
  MirageHeld held;
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(entry);
  MirageStatus status = mirage_canonicalize(entry->graph, selector->target, &held.diag, &copy);
  options.cancel = &cancel;
  do {
    cancel = mirage__until_late();
    if (status == MIRAGE_OK || status == MIRAGE_CANCELLED)
      status = mirage_codegen(copy, selector->target, &options, &held.diag, &code);
  } while (status == MIRAGE_CANCELLED && cancel.interrupt); // the interrupt came meanwhile
  bool beyond = status != MIRAGE_OK && status != MIRAGE_NO_MEMORY && status != MIRAGE_CANCELLED; // there are others
  mirage__hold_release(&held, selector->graphs->diag, beyond);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(copy);
  if (!beyond)
    return status;
  mirage__refuse(selector, entry, "refused: it cannot be compiled");
  return MIRAGE_OK;
}

MirageStatus mirage__confirm(const Selector *selector, MirageModuleGraph *entry, bool *out_stands) {
  const MirageProof *proof = &mirage_ugraph_get_meta(entry->graph)->proof;
  if (proof->present)
    MIRAGE_TRY(confirm(selector, entry));
  if (proof->present)
    MIRAGE_TRY(try_out(selector, entry));
  *out_stands = proof->present;
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------------------------------
// costs

// Measured where it was, else predicted.
static double time_of(const MirageModuleGraph *entry) {
  const MirageCost *cost = &mirage_ugraph_get_meta(entry->graph)->cost;
  return cost->measured_us > 0 ? cost->measured_us : cost->time_us;
}

/// Whether the cost speaks of what would be compiled here: measured for the target, or put there by hand.
static bool cost_stands(const Selector *selector, const MirageCost *cost) {
  bool ours = strcmp(cost->target, selector->target->name) == 0;
  return cost->present && (!cost->target[0] || (ours && cost->measured_us > 0));
}

/// Asks for the cost. A candidate without a layout on the target is out of the running.
static MirageStatus judge(const Selector *selector, MirageModuleGraph *entry) {
  MirageGraphMeta *meta = mirage_ugraph_meta(entry->graph);
  MirageHeld held;
  if (!meta->proof.present || cost_stands(selector, &meta->cost))
    return MIRAGE_OK;
  mirage__hold_init(&held);
  held.loc = mirage__graph_loc(entry);
  MirageCost cost = {0};
  MirageStatus status = mirage__lowered_cost(entry->graph, selector->target, &held.diag, &cost);
  bool beyond = mirage__is_beyond(status);
  mirage__hold_release(&held, selector->graphs->diag, beyond);
  if (status == MIRAGE_OK)
    meta->cost = cost;
  else if (beyond)
    mirage__refuse(selector, entry, "refused: it has no layout on the target");
  return beyond ? MIRAGE_OK : status;
}

MirageStatus mirage__prepare_candidate(const Selector *selector, MirageModuleGraph *entry) {
  MIRAGE_TRY(mirage__graphs_import(selector->graphs, entry));
  MIRAGE_TRY(check_proof(selector, entry));
  return judge(selector, entry);
}

/// Predicted time of the program's own lowering; infinite when it has none.
static MirageStatus own_time(const Selector *selector, double *out_time_us) {
  MirageCost cost = {0};
  MirageHeld held;
  mirage__hold_init(&held);
  MirageStatus status = mirage__lowered_cost(selector->program->graph, selector->target, &held.diag, &cost);
  mirage__hold_release(&held, selector->graphs->diag, mirage__is_beyond(status));
  *out_time_us = status == MIRAGE_OK ? cost.time_us : INFINITY;
  return mirage__is_beyond(status) ? MIRAGE_OK : status;
}

// ----------------------------------------------------------------------------------------------------------- choosing

static MirageStatus prepare(Selector *selector) {
  MirageModuleGraphs *graphs = selector->graphs;
  MIRAGE_TRY(mirage__graphs_import(graphs, selector->program));
  const uint32_t more = 1 + MIRAGE_VARIED * MIRAGE_MOST_VARIANTS; // from the tuning database; of the fastest
  selector->candidates =
      mirage_arena_alloc_array(&graphs->arena, graphs->num_graphs + more, sizeof *selector->candidates);
  selector->num_candidates = 0;
  if (!selector->candidates)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < graphs->num_graphs; i++) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    if (!mirage__graphs_is_candidate(entry, selector->program))
      continue;
    MIRAGE_TRY(mirage__prepare_candidate(selector, entry));
    selector->candidates[selector->num_candidates++] = entry;
  }
  return own_time(selector, &selector->own_us);
}

bool mirage__is_proven(const MirageModuleGraph *entry) { return mirage_ugraph_get_meta(entry->graph)->proof.present; }

/// The proven candidate of least cost, the first of equals; NULL when there is none.
static MirageModuleGraph *find_best(const Selector *selector, uint32_t *out_proven) {
  MirageModuleGraph *best = NULL;
  *out_proven = 0;
  for (uint32_t i = 0; i < selector->num_candidates; i++) {
    MirageModuleGraph *entry = selector->candidates[i];
    if (!mirage__is_proven(entry))
      continue;
    ++*out_proven;
    if (!best || time_of(entry) < time_of(best))
      best = entry;
  }
  return best;
}

void mirage__proof_text(const MirageModuleGraph *entry, char *text, size_t size) {
  const MirageProof *proof = &mirage_ugraph_get_meta(entry->graph)->proof;
  snprintf(text, size, "proof %s%s%s, a wrong graph passes with probability below 2^%.1f",
           proof->shrunken ? "by transfer from a smaller instance" : "at full size", proof->pieces ? ", in pieces" : "",
           proof->free_exp ? ", with free exponentials" : "", proof->log2_bound);
}

static const char *how(const MirageModuleGraph *entry) {
  return mirage_ugraph_get_meta(entry->graph)->cost.measured_us > 0 ? "measured" : "predicted";
}

static void report(const Selector *selector, const MirageModuleGraph *best, uint32_t proven) {
  const MirageDiag *diag = selector->graphs->diag;
  const MirageModuleGraph *program = selector->program;
  const void *loc = mirage__graph_loc(program);
  const char *target = selector->target->name;
  char proof[200];
  if (!best) {
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: no proven candidate; its own lowering stands (%.2f us predicted on %s)", program->name,
                     selector->own_us, target);
  } else if (time_of(best) < selector->own_us) {
    mirage__proof_text(best, proof, sizeof proof);
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: selected @%s of %u proven: %.2f us %s on %s, its own lowering %.2f us; %s", program->name,
                     best->name, proven, time_of(best), how(best), target, selector->own_us, proof);
  } else {
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: its own lowering is better: %.2f us predicted on %s, the best of %u proven is @%s with %.2f "
                     "us",
                     program->name, selector->own_us, target, proven, best->name, time_of(best));
  }
}

static MirageStatus choose_by_model(const Selector *selector, MirageModuleGraph **out_chosen) {
  uint32_t proven;
  bool stands = false;
  *out_chosen = NULL;
  for (MirageModuleGraph *best; !stands;) {
    best = find_best(selector, &proven);
    stands = !best || time_of(best) >= selector->own_us;
    if (stands) {
      report(selector, best, proven);
      return MIRAGE_OK;
    }
    MIRAGE_TRY(mirage__confirm(selector, best, &stands));
    if (stands) {
      report(selector, best, proven);
      *out_chosen = best;
    }
  }
  return MIRAGE_OK;
}

static MirageStatus mark(const Selector *selector, const MirageModuleGraph *chosen) {
  MirageModuleGraphs *graphs = selector->graphs;
  bool keep_all = strcmp(selector->options->keep, "all") == 0;
  for (uint32_t i = 0; i < selector->num_candidates; i++) {
    MirageModuleGraph *entry = selector->candidates[i];
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

static MirageStatus select_program(Selector *selector) {
  MirageModuleGraph *chosen = NULL;
  bool decided = false;
  MIRAGE_TRY(prepare(selector));
  MIRAGE_TRY(mirage__choose_by_measuring(selector, &decided, &chosen));
  if (!decided)
    MIRAGE_TRY(choose_by_model(selector, &chosen));
  return mark(selector, chosen);
}

MirageStatus mirage_pass_select(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageSelectOptions *options = opaque;
  MirageModuleGraphs graphs;
  const MirageTarget target = mirage__pass_target(options->target, options->tensor_maps);
  Selector selector = {.graphs = &graphs, .options = options, .target = &target};
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = mirage__measuring_init(&selector);
  for (uint32_t i = 0; status == MIRAGE_OK && i < graphs.num_graphs; i++) {
    selector.program = &graphs.graphs[i];
    if (!selector.program->source && !mirage__is_late()) // else it keeps all it has, and none is chosen
      status = select_program(&selector);
    if (status == MIRAGE_CANCELLED) {
      remark(&selector, selector.program, "not selected: interrupted; it keeps its candidates");
      status = MIRAGE_OK;
    }
    mirage_ugraph_destroy(selector.inserted);
    selector.inserted = NULL;
    for (uint32_t v = 0; v < MIRAGE_VARIED; v++)
      mirage__variants_deinit(&selector.others[v]);
  }
  mirage__graphs_deinit(&graphs);
  return status;
}
