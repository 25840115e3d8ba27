// pass_verify.c - mirage-verify: proves every candidate equivalent to its program. [Mirage 5]
//
// requires: candidates whose `source` names a graph of the module (or the option `against`); provides: `proof` and
//           `guard` on those shown equivalent and accurate, `mirage_kernel.verdict` on the others; breaks: nothing,
//           removes nothing.
// What is equivalent in exact arithmetic must also pass the numeric guard (option `guard`): it may not lose more than
// twice the accuracy that the program loses in its own types.
// A proof that was there before is never trusted: it is written anew or taken away. What differs, is inaccurate or
// cannot be decided is a remark at the candidate, the counts are a remark at the program. A difference comes with the
// command that shows it again. The graphs may be hand-written:
//   mirage-mlir-opt --mirage-verify='against=src explain' pair.mlir
// Threads:  pairs are independent, so `num-threads` workers take them in turn; what they have to say is held back and
//           written in textual order, so that the output does not depend on their number.
// An interrupt ends the proofs at hand; for programs that have no proven candidate then they are begun again, and with
// the next ones get a last moment.
// Bound:    of all pairs together, so that each is proven to log2-bound less the logarithm of their number.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "mirage/guard.h"
#include "mirage/verify.h"
#include "passes.h"
#include "progress.h"

#include "mlir-c/BuiltinAttributes.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char VERDICT[] = "mirage_kernel.verdict"; // "different", "inaccurate" or "unsupported"

enum { MAX_THREADS = 256 };
static const double LAST_MOMENT = 0.5; // seconds for all proofs after an interrupt

typedef enum Outcome { PROVEN, DIFFERENT, UNSUPPORTED, INACCURATE, SKIPPED, NUM_OUTCOMES } Outcome;

/// One candidate and what came out.
typedef struct Pair {
  MirageModuleGraph *source, *target;
  MirageStatus status;
  Outcome outcome;
  MirageVerdict verdict;
  MirageGuardReport guard; // where the verdict is equivalence and the guard is on
  MirageHeld held;         // messages
} Pair;

typedef struct Verifier {
  MirageModuleGraphs *graphs;
  const MirageVerifyPassOptions *pass;
  MirageVerifyOptions options;
  Pair *pairs;
  uint32_t num_pairs;
  uint32_t next; // pair that no worker has taken yet
  uint32_t done;
  double deadline; // of proofs after an interrupt; 0 = there was none
  MirageProgress progress;
  pthread_mutex_t mutex; // of these four, and of outcomes
} Verifier;

// -----------------------------------------------------------------------------------------------------------------
// pairs

/// Lists and imports the pairs. The importer is not for several threads: MLIR's builder calls are not.
static MirageStatus gather(Verifier *verifier, const char *against) {
  MirageModuleGraphs *graphs = verifier->graphs;
  verifier->pairs = mirage_arena_alloc_array(&graphs->arena, graphs->num_graphs, sizeof *verifier->pairs);
  if (!verifier->pairs)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < graphs->num_graphs; i++) {
    MirageModuleGraph *entry = &graphs->graphs[i];
    const char *name = *against ? against : entry->source;
    if (!name)
      continue; // a program
    MirageModuleGraph *source = mirage__graphs_find(graphs, name);
    if (!source)
      return mirage_diag_fail(graphs->diag, mirage__graph_loc(entry), MIRAGE_BAD_GRAPH,
                              "mirage-verify: @%s shall be compared with @%s, which is no graph of this module",
                              entry->name, name);
    if (source == entry)
      continue;
    MIRAGE_TRY(mirage__graphs_import(graphs, source));
    MIRAGE_TRY(mirage__graphs_import(graphs, entry));
    verifier->pairs[verifier->num_pairs++] = (Pair){.source = source, .target = entry, .outcome = SKIPPED};
  }
  return MIRAGE_OK;
}

static void show_progress(void *user, const MirageVerifyProgress *at) {
  Verifier *verifier = user;
  pthread_mutex_lock(&verifier->mutex);
  mirage__progress_verify(&verifier->progress, verifier->done, verifier->num_pairs, at);
  pthread_mutex_unlock(&verifier->mutex);
}

static MirageStatus judge_until(Verifier *verifier, Pair *pair, const MirageCancel *cancel, Outcome *out_outcome) {
  static const Outcome outcomes[] = {[MIRAGE_VERDICT_EQUIVALENT] = PROVEN,
                                     [MIRAGE_VERDICT_DIFFERENT] = DIFFERENT,
                                     [MIRAGE_VERDICT_UNSUPPORTED] = UNSUPPORTED};
  const MirageUGraph *source = pair->source->graph, *target = pair->target->graph;
  MirageVerifyOptions options = verifier->options;
  options.cancel = cancel;
  options.progress = show_progress;
  options.user = verifier;
  MIRAGE_TRY(mirage_verify(source, target, &options, &pair->held.diag, &pair->verdict));
  *out_outcome = outcomes[pair->verdict.kind];
  if (*out_outcome != PROVEN || !verifier->pass->guard)
    return MIRAGE_OK;
  const MirageGuardOptions guard = {.seed = verifier->options.seed, .cancel = cancel};
  MIRAGE_TRY(mirage_guard(source, target, &guard, &pair->held.diag, &pair->guard));
  if (!pair->guard.passed)
    *out_outcome = INACCURATE;
  return MIRAGE_OK;
}

/// After an interrupt one proven candidate of a program is enough. Under the mutex.
static bool may_skip(const Verifier *verifier, const Pair *pair) {
  if (!mirage__is_interrupted())
    return false;
  for (const Pair *other = verifier->pairs; other < verifier->pairs + verifier->num_pairs; other++)
    if (other->source == pair->source && other->outcome == PROVEN)
      return true;
  return false;
}

/// For a proof: ends at an interrupt, or, where one has come before, when the last moment of all is over.
static MirageCancel until_last_moment(Verifier *verifier) {
  if (!mirage__is_interrupted())
    return (MirageCancel){.interrupt = mirage__interrupt_flag()};
  pthread_mutex_lock(&verifier->mutex);
  verifier->deadline = verifier->deadline > 0 ? verifier->deadline : mirage__moment_ends(LAST_MOMENT);
  const MirageCancel cancel = {.deadline = verifier->deadline};
  pthread_mutex_unlock(&verifier->mutex);
  return cancel;
}

static bool is_needed(Verifier *verifier, const Pair *pair) {
  pthread_mutex_lock(&verifier->mutex);
  bool needed = !may_skip(verifier, pair);
  pthread_mutex_unlock(&verifier->mutex);
  return needed;
}

/// To the end; after an interrupt, until the last moment is over.
static MirageStatus judge(Verifier *verifier, Pair *pair, Outcome *out_outcome) {
  MirageCancel cancel;
  MirageStatus status;
  do {
    cancel = until_last_moment(verifier);
    status = judge_until(verifier, pair, &cancel, out_outcome);
  } while (status == MIRAGE_CANCELLED && cancel.interrupt && is_needed(verifier, pair)); // the interrupt came meanwhile
  if (status != MIRAGE_CANCELLED)
    return status;
  *out_outcome = SKIPPED;
  return MIRAGE_OK;
}

/// The next pair that is not skipped, or NULL.
static Pair *take(Verifier *verifier) {
  Pair *taken = NULL;
  pthread_mutex_lock(&verifier->mutex);
  while (!taken && verifier->next < verifier->num_pairs) {
    Pair *pair = &verifier->pairs[verifier->next++];
    mirage__hold_init(&pair->held);
    if (!may_skip(verifier, pair))
      taken = pair;
  }
  pthread_mutex_unlock(&verifier->mutex);
  return taken;
}

static void *work(void *user) {
  Verifier *verifier = user;
  for (Pair *pair = take(verifier); pair; pair = take(verifier)) {
    Outcome outcome = SKIPPED;
    MirageStatus status = judge(verifier, pair, &outcome);
    pthread_mutex_lock(&verifier->mutex);
    pair->status = status;
    pair->outcome = outcome;
    mirage__progress_verify(&verifier->progress, ++verifier->done, verifier->num_pairs, NULL);
    pthread_mutex_unlock(&verifier->mutex);
  }
  return NULL;
}

/// Runs `work` on this thread and, where they can be had, on num_threads - 1 others.
static void run_workers(Verifier *verifier, int64_t num_threads) {
  pthread_t threads[MAX_THREADS];
  uint32_t started = 0;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int64_t wanted = num_threads > 0 ? num_threads : cores > 0 ? cores : 1;
  while (started + 1 < wanted && started + 1 < verifier->num_pairs && started < MAX_THREADS &&
         pthread_create(&threads[started], NULL, work, verifier) == 0)
    started++;
  work(verifier);
  for (uint32_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}

// --------------------------------------------------------------------------------------------------------------
// outcomes

static MirageStatus record(const Pair *pair, const MirageDiag *diag) {
  MirageModuleGraph *entry = pair->target;
  MirageGraphMeta *meta = mirage_ugraph_meta(entry->graph);
  bool proven = pair->outcome == PROVEN;
  meta->proof = proven ? pair->verdict.proof : (MirageProof){0};
  meta->guard = proven ? pair->guard.guard : (MirageGuard){0};
  if (proven)
    MIRAGE_TRY(mirage_ugraph_pair_hash(pair->source->graph, entry->graph, diag, &meta->proof.pair));
  else
    meta->selected = false;
  MIRAGE_TRY(mirage_bridge_export_meta(meta, entry->op, diag));
  MlirStringRef key = mlirStringRefCreateFromCString(VERDICT);
  if (proven || pair->outcome == SKIPPED) {
    mlirOperationRemoveDiscardableAttributeByName(entry->op, key);
    return MIRAGE_OK;
  }
  static const char *const words[] = {
      [DIFFERENT] = "different", [UNSUPPORTED] = "unsupported", [INACCURATE] = "inaccurate"};
  MlirContext context = mlirOperationGetContext(entry->op);
  mlirOperationSetDiscardableAttributeByName(
      entry->op, key, mlirStringAttrGet(context, mlirStringRefCreateFromCString(words[pair->outcome])));
  return MIRAGE_OK;
}

/// Text of the location's file, or a stand-in.
static const char *file_of(const MirageModuleGraph *entry, char *buffer, size_t size) {
  MlirLocation loc = mlirOperationGetLocation(entry->op);
  if (!mlirLocationIsAFileLineColRange(loc))
    return "FILE";
  MlirStringRef name = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(loc));
  snprintf(buffer, size, "%.*s", (int)name.length, name.data);
  return buffer;
}

static void report_different(const Verifier *verifier, const Pair *pair) {
  const MirageDiag *diag = verifier->graphs->diag;
  const MirageVerdict *verdict = &pair->verdict;
  const MirageVerifyPassOptions *pass = verifier->pass;
  const void *loc = mirage__graph_loc(pair->target);
  const char *where = verdict->proof.shrunken ? " of a smaller instance" : "";
  char file[400], against[200] = "";
  if (verdict->undefined)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: different: divides by zero at every point for output %u, element %" PRIu64
                     "%s, where @%s has a value (seed %" PRIu64 ", trial %u)",
                     pair->target->name, verdict->output, verdict->index, where, pair->source->name, verdict->seed,
                     verdict->trial);
  else
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: different at output %u, element %" PRIu64 "%s: @%s gives %" PRIu64 ", this graph %" PRIu64
                     " (residues; seed %" PRIu64 ", trial %u)",
                     pair->target->name, verdict->output, verdict->index, where, pair->source->name,
                     verdict->source_value, verdict->target_value, verdict->seed, verdict->trial);
  if (*pass->against)
    snprintf(against, sizeof against, " against=%s", pass->against);
  mirage_diag_emit(diag, MIRAGE_SEVERITY_NOTE, loc,
                   "see it again: mirage-mlir-opt %s --mirage-verify='seed=%" PRIu64
                   " first-trial=%u trials=1 max-work=%.17g%s' -o /dev/null",
                   file_of(pair->target, file, sizeof file), verdict->seed, verdict->trial, pass->max_work, against);
}

static void report_proven(const Verifier *verifier, const Pair *pair) {
  const MirageProof *proof = &pair->verdict.proof;
  const MirageGuard *guard = &pair->guard.guard;
  double enlarged = pair->guard.errors[pair->guard.worst].program_enlarged;
  char accuracy[500] = "", pieces[60] = "", transfer[120] = "", roundings[60] = "";
  if (proof->shrunken)
    snprintf(transfer, sizeof transfer, ", by transfer from a smaller instance: %u ax%s, %u point%s", proof->axes,
             proof->axes == 1 ? "is" : "es", proof->points, proof->points == 1 ? "" : "s");
  if (proof->pieces)
    snprintf(pieces, sizeof pieces, ", in %u pieces", proof->pieces);
  if (enlarged > guard->program_relative)
    snprintf(roundings, sizeof roundings, " and %.2e with roundings twice as large", enlarged);
  if (guard->present)
    snprintf(accuracy, sizeof accuracy, "; relative error %.2e (at most %.2e), the program's own %.2e (%.2e)%s, %s%s%s",
             guard->candidate_relative, guard->candidate_max, guard->program_relative, guard->program_max, roundings,
             mirage_guard_instance_name(pair->guard.instance), *pair->guard.reason ? "; " : "", pair->guard.reason);
  else if (*pair->guard.reason)
    snprintf(accuracy, sizeof accuracy, "; %s", pair->guard.reason);
  mirage_diag_emit(verifier->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(pair->target),
                   "@%s: equivalent to @%s; a wrong graph passes with probability below 2^%.1f (%u trial%s, %u-bit "
                   "p%s%s; theorem %s, degree %" PRIu64 ", 2^%u monomials, %" PRIu64 " calls)%s",
                   pair->target->name, pair->source->name, proof->log2_bound, proof->trials,
                   proof->trials == 1 ? "" : "s", proof->p_bits, transfer, pieces,
                   proof->free_exp ? "of free exponentials"
                   : proof->q      ? "with exponentials"
                                   : "without exponentials",
                   proof->degree, proof->log2_terms, proof->calls, accuracy);
}

static void report(const Verifier *verifier, const Pair *pair) {
  const MirageDiag *diag = verifier->graphs->diag;
  const void *loc = mirage__graph_loc(pair->target);
  switch (pair->outcome) {
  case PROVEN:
    if (verifier->pass->explain)
      report_proven(verifier, pair);
    return;
  case DIFFERENT:
    report_different(verifier, pair);
    return;
  case UNSUPPORTED:
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, pair->verdict.loc ? pair->verdict.loc : loc, "@%s: unsupported: %s",
                     pair->target->name, pair->verdict.reason);
    return;
  case SKIPPED:
    return;
  default: // INACCURATE
    mirage_diag_emit(
        diag, MIRAGE_SEVERITY_REMARK, loc,
        "@%s: inaccurate: equivalent to @%s in exact arithmetic, but %s; mirage-verify=guard=false lets it "
        "pass",
        pair->target->name, pair->source->name, pair->guard.reason);
    return;
  }
}

/// The counts of one program, as a remark at it.
static void summarize(const Verifier *verifier, const MirageModuleGraph *source) {
  uint32_t counts[NUM_OUTCOMES] = {0}, total = 0;
  double worst = -INFINITY;
  for (uint32_t i = 0; i < verifier->num_pairs; i++) {
    const Pair *pair = &verifier->pairs[i];
    if (pair->source != source)
      continue;
    total++;
    counts[pair->outcome]++;
    if (pair->outcome == PROVEN) // any of them: the sum
      worst =
          worst > -INFINITY ? log2(exp2(worst) + exp2(pair->verdict.proof.log2_bound)) : pair->verdict.proof.log2_bound;
  }
  if (total == 0)
    return;
  char bound[80] = "", inaccurate[40] = "", skipped[80] = "";
  if (counts[PROVEN])
    snprintf(bound, sizeof bound, " (any wrong one passes with probability below 2^%.1f)", worst);
  if (counts[INACCURATE])
    snprintf(inaccurate, sizeof inaccurate, ", %u inaccurate", counts[INACCURATE]);
  if (counts[SKIPPED])
    snprintf(skipped, sizeof skipped, ", %u not looked at after the interrupt", counts[SKIPPED]);
  mirage_diag_emit(verifier->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(source),
                   "@%s: %u candidate%s, %u equivalent%s, %u different, %u unsupported%s%s", source->name, total,
                   total == 1 ? "" : "s", counts[PROVEN], bound, counts[DIFFERENT], counts[UNSUPPORTED], inaccurate,
                   skipped);
}

/// Releases all messages; the first failure of a pair, in textual order, is the pass's.
static MirageStatus finish(Verifier *verifier) {
  const MirageDiag *diag = verifier->graphs->diag;
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < verifier->num_pairs; i++) {
    Pair *pair = &verifier->pairs[i];
    mirage__hold_release(&pair->held, diag, false);
    if (status == MIRAGE_OK)
      status = pair->status;
    if (status != MIRAGE_OK)
      continue;
    report(verifier, pair);
    status = record(pair, diag);
  }
  for (uint32_t i = 0; status == MIRAGE_OK && i < verifier->graphs->num_graphs; i++)
    summarize(verifier, &verifier->graphs->graphs[i]);
  return status;
}

MirageStatus mirage_pass_verify(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageVerifyPassOptions *pass = opaque;
  MirageModuleGraphs graphs;
  Verifier verifier = {.graphs = &graphs, .pass = pass, .mutex = PTHREAD_MUTEX_INITIALIZER};
  verifier.options = (MirageVerifyOptions){
      .seed = (uint64_t)pass->seed,
      .trials = (uint32_t)pass->trials,
      .first_trial = (uint32_t)pass->first_trial,
      .log2_bound = pass->log2_bound,
      .max_work = (uint64_t)pass->max_work,
  };
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = gather(&verifier, pass->against);
  if (verifier.num_pairs > 1)
    verifier.options.log2_bound -= log2(verifier.num_pairs);
  if (status == MIRAGE_OK) {
    mirage__progress_begin(&verifier.progress, pass->progress,
                           verifier.num_pairs ? verifier.pairs[0].source->name : "");
    verifier.options.memory = mirage_eval_memory_create(0);
    run_workers(&verifier, pass->num_threads);
    mirage_eval_memory_destroy(verifier.options.memory);
    mirage__progress_end(&verifier.progress);
    status = finish(&verifier);
  }
  mirage__graphs_deinit(&graphs);
  return status;
}
