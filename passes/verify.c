// verify.c - mirage-verify: proves every candidate equivalent to its program. [Mirage 5]
//
// requires: candidates whose `source` names a graph of the module (or the option `against`); provides: `proof` on those
//           shown equivalent, and `mirage_kernel.verdict` on the others; breaks: nothing, removes nothing.
// A proof that was there before is never trusted: it is written anew or taken away. What differs or cannot be decided
// is a remark at the candidate, the counts are a remark at the program. The graphs may be hand-written:
//   mirage-mlir-opt --mirage-verify='against=src explain' pair.mlir
// Threads:  pairs are independent, so `num-threads` workers take them in turn; what they have to say is held back and
//           written in textual order, so that the output does not depend on their number.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "mirage/verify.h"
#include "passes.h"

#include "mlir-c/BuiltinAttributes.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char VERDICT[] = "mirage_kernel.verdict"; // "different" or "unsupported"

enum { MAX_THREADS = 256 };

/// One candidate and what came out.
typedef struct Pair {
  MirageModuleGraph *source, *target;
  MirageStatus status;
  MirageVerdict verdict;
  MirageHeld held; // messages
} Pair;

typedef struct Verifier {
  MirageModuleGraphs *graphs;
  MirageVerifyOptions options;
  bool explain;
  Pair *pairs;
  uint32_t num_pairs;
  uint32_t next; // pair that no worker has taken yet
  pthread_mutex_t mutex;
} Verifier;

// -----------------------------------------------------------------------------------------------------------------
// pairs

/// Lists and imports the pairs. The importer is not for several threads: MLIR's builder calls are not.
static MirageStatus gather(Verifier *verifier, const char *against) {
  MirageModuleGraphs *graphs = verifier->graphs;
  verifier->pairs = mirage_arena_alloc_array(&graphs->arena, graphs->num_graphs, sizeof *verifier->pairs);
  if (!verifier->pairs)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < graphs->num_graphs; ++i) {
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
    verifier->pairs[verifier->num_pairs++] = (Pair){.source = source, .target = entry};
  }
  return MIRAGE_OK;
}

static void *work(void *user) {
  Verifier *verifier = user;
  for (;;) {
    pthread_mutex_lock(&verifier->mutex);
    uint32_t index = verifier->next++;
    pthread_mutex_unlock(&verifier->mutex);
    if (index >= verifier->num_pairs)
      return NULL;
    Pair *pair = &verifier->pairs[index];
    mirage__hold_init(&pair->held);
    pair->status =
        mirage_verify(pair->source->graph, pair->target->graph, &verifier->options, &pair->held.diag, &pair->verdict);
  }
}

/// Runs `work` on this thread and, where they can be had, on num_threads - 1 others.
static void run_workers(Verifier *verifier, int64_t num_threads) {
  pthread_t threads[MAX_THREADS];
  uint32_t started = 0;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int64_t wanted = num_threads > 0 ? num_threads : cores > 0 ? cores : 1;
  while (started + 1 < wanted && started + 1 < verifier->num_pairs && started < MAX_THREADS &&
         pthread_create(&threads[started], NULL, work, verifier) == 0)
    ++started;
  work(verifier);
  for (uint32_t i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
}

// --------------------------------------------------------------------------------------------------------------
// outcomes

static MirageStatus record(const Pair *pair, const MirageDiag *diag) {
  MirageModuleGraph *entry = pair->target;
  MirageGraphMeta *meta = mirage_ugraph_meta(entry->graph);
  bool proven = pair->verdict.kind == MIRAGE_VERDICT_EQUIVALENT;
  meta->proof = proven ? pair->verdict.proof : (MirageProof){0};
  if (!proven)
    meta->selected = false;
  MIRAGE_TRY(mirage_bridge_export_meta(meta, entry->op, diag));
  MlirStringRef key = mlirStringRefCreateFromCString(VERDICT);
  if (proven) {
    mlirOperationRemoveDiscardableAttributeByName(entry->op, key);
    return MIRAGE_OK;
  }
  const char *word = pair->verdict.kind == MIRAGE_VERDICT_DIFFERENT ? "different" : "unsupported";
  MlirContext context = mlirOperationGetContext(entry->op);
  mlirOperationSetDiscardableAttributeByName(entry->op, key,
                                             mlirStringAttrGet(context, mlirStringRefCreateFromCString(word)));
  return MIRAGE_OK;
}

static void report(const Pair *pair, bool explain, const MirageDiag *diag) {
  const MirageVerdict *verdict = &pair->verdict;
  const char *name = pair->target->name, *source = pair->source->name;
  const void *loc = mirage__graph_loc(pair->target);
  switch (verdict->kind) {
  case MIRAGE_VERDICT_EQUIVALENT:
    if (explain)
      mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                       "@%s: equivalent to @%s; a wrong graph passes with probability below 2^%.1f (%u trial%s, %u-bit "
                       "p%s)",
                       name, source, verdict->proof.log2_bound, verdict->proof.trials,
                       verdict->proof.trials == 1 ? "" : "s", verdict->proof.p_bits,
                       verdict->proof.shrunken ? ", on a shrunken instance" : "");
    return;
  case MIRAGE_VERDICT_DIFFERENT:
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: different at output %u, element %" PRIu64 ": @%s gives %" PRIu64 ", this graph %" PRIu64
                     " (residues; seed %" PRIu64 ", trial %u)",
                     name, verdict->output, verdict->index, source, verdict->source_value, verdict->target_value,
                     verdict->seed, verdict->trial);
    return;
  case MIRAGE_VERDICT_UNSUPPORTED:
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, verdict->loc ? verdict->loc : loc, "@%s: unsupported: %s", name,
                     verdict->reason);
    return;
  }
}

/// The counts of one program, as a remark at it.
static void summarize(const Verifier *verifier, const MirageModuleGraph *source) {
  uint32_t counts[3] = {0}, total = 0; // by MirageVerdictKind
  double worst = -INFINITY;
  for (uint32_t i = 0; i < verifier->num_pairs; ++i) {
    const Pair *pair = &verifier->pairs[i];
    if (pair->source != source)
      continue;
    ++total;
    ++counts[pair->verdict.kind];
    if (pair->verdict.kind == MIRAGE_VERDICT_EQUIVALENT && pair->verdict.proof.log2_bound > worst)
      worst = pair->verdict.proof.log2_bound;
  }
  if (total == 0)
    return;
  char bound[80] = "";
  if (counts[MIRAGE_VERDICT_EQUIVALENT])
    snprintf(bound, sizeof bound, " (a wrong one passes with probability below 2^%.1f)", worst);
  mirage_diag_emit(verifier->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(source),
                   "@%s: %u candidate%s, %u equivalent%s, %u different, %u unsupported", source->name, total,
                   total == 1 ? "" : "s", counts[MIRAGE_VERDICT_EQUIVALENT], bound, counts[MIRAGE_VERDICT_DIFFERENT],
                   counts[MIRAGE_VERDICT_UNSUPPORTED]);
}

/// Releases all messages; the first failure of a pair, in textual order, is the pass's.
static MirageStatus finish(Verifier *verifier) {
  const MirageDiag *diag = verifier->graphs->diag;
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < verifier->num_pairs; ++i) {
    Pair *pair = &verifier->pairs[i];
    mirage__hold_release(&pair->held, diag, false);
    if (status == MIRAGE_OK)
      status = pair->status;
    if (status != MIRAGE_OK)
      continue;
    report(pair, verifier->explain, diag);
    status = record(pair, diag);
  }
  for (uint32_t i = 0; status == MIRAGE_OK && i < verifier->graphs->num_graphs; ++i)
    summarize(verifier, &verifier->graphs->graphs[i]);
  return status;
}

MirageStatus mirage_pass_verify(MlirOperation module, const void *opaque, const MirageDiag *diag) {
  const MirageVerifyPassOptions *pass = opaque;
  MirageModuleGraphs graphs;
  Verifier verifier = {.graphs = &graphs, .explain = pass->explain, .mutex = PTHREAD_MUTEX_INITIALIZER};
  verifier.options = (MirageVerifyOptions){
      .seed = (uint64_t)pass->seed,
      .trials = (uint32_t)pass->trials,
      .log2_bound = pass->log2_bound,
      .max_work = (uint64_t)pass->max_work,
  };
  MirageStatus status = mirage__graphs_init(&graphs, module, diag);
  if (status == MIRAGE_OK)
    status = gather(&verifier, pass->against);
  if (status == MIRAGE_OK) {
    run_workers(&verifier, pass->num_threads);
    status = finish(&verifier);
  }
  mirage__graphs_deinit(&graphs);
  return status;
}
