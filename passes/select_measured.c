// select_measured.c - the choice by what was measured: now, or before (the tuning database).
//
// A second look: the fastest candidates are timed in other schedules too (vary.h), since the planner's are rules of thumb.
// Order:    the database; else the GPU, whose answer goes there; else nobody knows, and the cost model decides.
// Margin:   a candidate must be faster than the program's own lowering by 1 %, beside which it was timed: less is
//           noise, and the own lowering needs no proof.
// Spills:   registers that the driver's compiler keeps in memory are a kernel's luck with that compiler, and a few bytes cost less
//           than two times can be told apart by: what spills must be faster by 3 % than what does not.
// A record holds for the code that was measured: where this build compiles the choice or the own lowering to something
// else, it is passed over, with a remark.
// A graph from the database that is not among the candidates is proven here, as mirage-verify would, and held to the
// numeric guard, before anything looks at it.
#include "mirage/guard.h"
#include "mirage/layout.h"
#include "mirage/verify.h"
#include "select.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double margin = 0.99;
static const double nearly = 1.03;     // of the fastest's time: other schedules may change places with it
static const double spilling = 1.03;   // what a time counts for of kernels that spill
static const double verify_work = 2e6; // mirage-verify's max-work

// ----------------------------------------------------------------------------------------------------------------
// modes

static const char *mode_of(const Selector *selector) {
  const char *mode = selector->options->measure, *environment = getenv("MIRAGE_MEASURE");
  bool says = environment && (strcmp(environment, "no") == 0 || strcmp(environment, "yes") == 0);
  return strcmp(mode, "auto") == 0 && says ? environment : mode;
}

MirageStatus mirage__measuring_init(Selector *selector) {
  const char *mode = mode_of(selector);
  char reason[400] = "";
  MirageTuned *tuned = &selector->tuned;
  *tuned = (MirageTuned){.diag = selector->graphs->diag, .target = selector->target};
  selector->consults = strcmp(mode, "no") != 0;
  if (!selector->consults)
    return MIRAGE_OK;
  selector->measures = mirage__measure_possible(selector->target, &tuned->gpu, reason, sizeof reason);
  tuned->has_gpu = selector->measures;
  snprintf(selector->no_gpu, sizeof selector->no_gpu, "%s", reason);
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------- the database

static MirageModuleGraph *find_by_hash(const Selector *selector, const char *hash) {
  for (uint32_t i = 0; i < selector->num_candidates; i++) {
    char text[33];
    if (mirage__hash_text(selector->candidates[i]->graph, NULL, text) == MIRAGE_OK && strcmp(text, hash) == 0 &&
        mirage__is_proven(selector->candidates[i]))
      return selector->candidates[i];
  }
  return NULL;
}

/// Proves a graph that comes from elsewhere, as mirage-verify does. Without a proof it is refused.
static MirageStatus prove(const Selector *selector, MirageModuleGraph *entry) {
  const MirageDiag *diag = selector->graphs->diag;
  const MirageUGraph *program = selector->program->graph;
  const MirageVerifyOptions options = {.seed = (uint64_t)selector->options->seed,
                                       .log2_bound = selector->options->log2_bound,
                                       .max_work = (uint64_t)verify_work};
  MirageVerdict verdict;
  MirageGuardReport guard = {0};
  MIRAGE_TRY(mirage_verify(program, entry->graph, &options, diag, &verdict));
  if (verdict.kind != MIRAGE_VERDICT_EQUIVALENT) {
    mirage__refuse(selector, entry,
                   verdict.kind == MIRAGE_VERDICT_DIFFERENT
                       ? "refused: the tuning database holds it for this program, and it computes something else"
                       : "refused: the tuning database holds it for this program, and it cannot be proven");
    return MIRAGE_OK;
  }
  const MirageGuardOptions guard_options = {.seed = options.seed};
  MIRAGE_TRY(mirage_guard(program, entry->graph, &guard_options, diag, &guard));
  if (!guard.passed) {
    mirage__refuse(selector, entry, "refused: the tuning database holds it for this program, and it is inaccurate");
    return MIRAGE_OK;
  }
  MirageGraphMeta *meta = mirage_ugraph_meta(entry->graph);
  meta->proof = verdict.proof;
  meta->guard = guard.guard;
  return mirage_ugraph_pair_hash(program, entry->graph, diag, &meta->proof.pair);
}

/// The stored graph as a candidate of its own, proven; NULL where it did not come to that.
static MirageStatus insert(Selector *selector, const MirageTuningRecord *record, MirageModuleGraph **out_entry) {
  MirageModuleGraph *entry;
  *out_entry = NULL;
  MIRAGE_TRY(mirage__tuned_insert(&selector->tuned, selector->graphs, selector->program, record, &entry));
  if (!entry)
    return MIRAGE_OK;
  selector->inserted = entry->graph;
  selector->candidates[selector->num_candidates++] = entry; // which has room for it
  MIRAGE_TRY(prove(selector, entry));
  if (mirage__is_proven(entry))
    MIRAGE_TRY(mirage__prepare_candidate(selector, entry));
  if (mirage__is_proven(entry))
    *out_entry = entry;
  return MIRAGE_OK;
}

static void report_stored(const Selector *selector, const MirageTuningRecord *record, const MirageModuleGraph *entry) {
  const MirageModuleGraph *program = selector->program;
  char proof[200] = "";
  if (entry)
    mirage__proof_text(entry, proof, sizeof proof);
  if (entry)
    mirage_diag_emit(selector->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: selected @%s: %.2f us measured on %s (spread %.1f %%, %s), %.2f us predicted on %s, its own "
                     "lowering %.2f us measured; %s",
                     program->name, entry->name, record->time_us, record->gpu, 100 * record->spread, record->date,
                     mirage_ugraph_get_meta(entry->graph)->cost.time_us, selector->target->name, record->own_us, proof);
  else
    mirage_diag_emit(selector->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(program),
                     "@%s: its own lowering is better: %.2f us measured on %s (spread %.1f %%, %s), %.2f us predicted "
                     "on %s",
                     program->name, record->own_us, record->gpu, 100 * record->own_spread, record->date,
                     selector->own_us, selector->target->name);
}

static void note_time(MirageModuleGraph *entry, double us, double spread) {
  MirageCost *cost = &mirage_ugraph_meta(entry->graph)->cost;
  cost->measured_us = us;
  cost->measured_spread = spread;
}

static void remark(const Selector *selector, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  mirage_diag_emit(selector->graphs->diag, MIRAGE_SEVERITY_REMARK, mirage__graph_loc(selector->program), "@%s: %s",
                   selector->program->name, text);
}

/// Whether the record speaks of the code that would be compiled here. One of an earlier version does not say of which it
/// speaks: it is better than nothing, and worse than measuring.
static MirageStatus check_code(const Selector *selector, const MirageTuningRecord *record, MirageModuleGraph *entry,
                               bool *out_stands) {
  char code[33];
  const char *next = selector->measures ? "measured again" : "the cost model decides";
  *out_stands = false;
  if (!*record->code && selector->measures) {
    remark(selector, "the tuning database does not say of which code its times are: %s", next);
    return MIRAGE_OK;
  }
  if (!*record->code) {
    remark(selector, "measured on %s by an earlier version, whose code may have been another", record->gpu);
    *out_stands = true;
    return MIRAGE_OK;
  }
  MirageStatus status = mirage__measured_code(selector->graphs, selector->program, entry, selector->target, code);
  if (status == MIRAGE_NO_MEMORY || status == MIRAGE_CANCELLED)
    return status;
  *out_stands = status == MIRAGE_OK && strcmp(code, record->code) == 0;
  if (!*out_stands)
    remark(selector,
           "what the tuning database holds was measured of other code (%s, %s), compiled before the code "
           "generator or the planner changed: %s",
           record->gpu, record->date, next);
  return MIRAGE_OK;
}

static MirageStatus take_stored(Selector *selector, const MirageTuningRecord *record, bool *out_decided,
                                MirageModuleGraph **out_chosen) {
  MirageModuleGraph *entry = NULL;
  bool stands = false;
  if (*record->hash) {
    entry = find_by_hash(selector, record->hash);
    if (!entry)
      MIRAGE_TRY(insert(selector, record, &entry));
    if (!entry)
      return MIRAGE_OK;
    MIRAGE_TRY(mirage__confirm(selector, entry, &stands));
    if (!stands)
      return MIRAGE_OK;
  }
  MIRAGE_TRY(check_code(selector, record, entry, &stands));
  if (!stands)
    return MIRAGE_OK;
  if (entry)
    note_time(entry, record->time_us, record->spread);
  report_stored(selector, record, entry);
  *out_decided = true;
  *out_chosen = entry;
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------
// measuring

static double ratio_of(const MirageMeasurement *one) { return one->us / one->own_us; }

static bool is_faster(const MirageMeasurement *one, const MirageMeasurement *other) {
  return ratio_of(one) * (one->spilled_bytes ? spilling : 1) < ratio_of(other) * (other->spilled_bytes ? spilling : 1);
}

/// The proven candidates to measure, in the arena, with room for other schedules behind them.
static MirageStatus pick(const Selector *selector, uint32_t *out_num, MirageMeasurement **out) {
  MirageArena *arena = &selector->graphs->arena;
  uint32_t most = (uint32_t)selector->options->measure_candidates, num = 0;
  MirageModuleGraph **proven = mirage_arena_alloc_array(arena, selector->num_candidates + 1, sizeof *proven);
  uint32_t *picked = mirage_arena_alloc_array(arena, most, sizeof *picked);
  *out = mirage_arena_alloc_array(arena, most + MIRAGE_VARIED * MIRAGE_MOST_VARIANTS, sizeof **out);
  if (!proven || !picked || !*out)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < selector->num_candidates; i++)
    if (mirage__is_proven(selector->candidates[i]))
      proven[num++] = selector->candidates[i];
  *out_num = mirage__pick_different(num, proven, most, picked);
  for (uint32_t i = 0; i < *out_num; i++)
    (*out)[i] = (MirageMeasurement){.entry = proven[picked[i]]};
  return MIRAGE_OK;
}

/// The fastest proven one, if it takes less than `most` of the own lowering's time; else NULL.
static MirageMeasurement *fastest_of(uint32_t num, MirageMeasurement *measurements, double most) {
  MirageMeasurement *fastest = NULL;
  for (uint32_t i = 0; i < num; i++) {
    MirageMeasurement *one = &measurements[i];
    if (one->ok && mirage__is_proven(one->entry) && ratio_of(one) < most && (!fastest || is_faster(one, fastest)))
      fastest = one;
  }
  return fastest;
}

/// The fastest that stands, of those that beat the own lowering.
static MirageStatus find_fastest(const Selector *selector, uint32_t num, MirageMeasurement *measurements,
                                 MirageMeasurement **out_fastest) {
  for (bool stands = false; !stands;) {
    MirageMeasurement *fastest = fastest_of(num, measurements, margin);
    *out_fastest = fastest;
    if (!fastest)
      return MIRAGE_OK;
    MIRAGE_TRY(mirage__confirm(selector, fastest->entry, &stands));
  }
  return MIRAGE_OK;
}

static double finite_or_infinite(double value) { return isfinite(value) ? value : INFINITY; } // JSON has no inf

static void report_each(const Selector *selector, uint32_t num, const MirageMeasurement *measurements) {
  const MirageDiag *diag = selector->graphs->diag;
  for (uint32_t i = 0; i < num; i++) {
    const MirageMeasurement *one = &measurements[i];
    const void *loc = mirage__graph_loc(one->entry);
    char beside[160] = "", spills[80] = "";
    if (one->own_wrong)
      snprintf(beside, sizeof beside,
               " against float64%s, the own lowering's %.1e: it is wrong, and is not compared with",
               one->sampled ? ", of a sample" : "", finite_or_infinite(one->own_error));
    if (one->spilled_bytes)
      snprintf(spills, sizeof spills, "; a thread spills %lld bytes", (long long)one->spilled_bytes);
    if (one->ok)
      mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                       "@%s: %.2f us measured (spread %.1f %%), %.2f us predicted; beside it the own lowering of @%s "
                       "%.2f us; error %.1e%s%s",
                       one->entry->name, one->us, 100 * one->spread,
                       mirage_ugraph_get_meta(one->entry->graph)->cost.time_us, selector->program->name, one->own_us,
                       one->error, beside, spills);
    else
      mirage_diag_emit(diag, MIRAGE_SEVERITY_WARNING, loc, "@%s: not measured: %s", one->entry->name, one->reason);
  }
}

static void report_choice(const Selector *selector, uint32_t num, const MirageMeasurement *measurements,
                          const MirageMeasurement *fastest) {
  const MirageModuleGraph *program = selector->program;
  const MirageDiag *diag = selector->graphs->diag;
  const void *loc = mirage__graph_loc(program);
  const char *gpu = selector->tuned.gpu.name;
  char proof[200];
  if (fastest) {
    mirage__proof_text(fastest->entry, proof, sizeof proof);
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: selected @%s of %u measured: %.2f us measured on %s (spread %.1f %%), %.2f us predicted on "
                     "%s, its own lowering %.2f us measured, %.2f us predicted; %s",
                     program->name, fastest->entry->name, num, fastest->us, gpu, 100 * fastest->spread,
                     mirage_ugraph_get_meta(fastest->entry->graph)->cost.time_us, selector->target->name,
                     fastest->own_us, selector->own_us, proof);
    return;
  }
  const MirageMeasurement *best = NULL;
  for (uint32_t i = 0; i < num; i++)
    if (measurements[i].ok && (!best || ratio_of(&measurements[i]) < ratio_of(best)))
      best = &measurements[i];
  if (best)
    mirage_diag_emit(
        diag, MIRAGE_SEVERITY_REMARK, loc,
        "@%s: its own lowering is better: %.2f us measured on %s (spread %.1f %%), %.2f us predicted on %s, "
        "the best of %u measured is @%s with %.2f us",
        program->name, best->own_us, gpu, 100 * best->own_spread, selector->own_us, selector->target->name, num,
        best->entry->name, best->us);
  else
    mirage_diag_emit(diag, MIRAGE_SEVERITY_REMARK, loc,
                     "@%s: its own lowering stands: none of %u candidates ran right on %s", program->name, num, gpu);
}

/// Whether anything was learnt of the program itself: that its own lowering runs.
static bool is_telling(uint32_t num, const MirageMeasurement *measurements) {
  for (uint32_t i = 0; i < num; i++)
    if (measurements[i].own_ran)
      return true;
  return false;
}

static bool has_time(uint32_t num, const MirageMeasurement *measurements) {
  for (uint32_t i = 0; i < num; i++)
    if (measurements[i].ok)
      return true;
  return false;
}

/// What measuring itself fails with: the pass goes on by the model, unless measuring was insisted on.
static MirageStatus give_up(const Selector *selector, MirageStatus status, const char *why) {
  const void *loc = mirage__graph_loc(selector->program);
  const MirageDiag *diag = selector->graphs->diag;
  if (status == MIRAGE_NO_MEMORY)
    return status;
  if (strcmp(mode_of(selector), "yes") == 0 && status != MIRAGE_CANCELLED && !mirage__is_beyond(status))
    return mirage_diag_fail(diag, loc, status, "mirage-select: measure=yes: %s", why);
  mirage_diag_emit(diag, MIRAGE_SEVERITY_WARNING, loc, "@%s: not measured: %s; the cost model decides",
                   selector->program->name, why);
  return MIRAGE_OK;
}

/// `first`: nothing was measured before, so a failure is the pass's, or the model decides.
static MirageStatus measure(Selector *selector, bool first, uint32_t num, MirageMeasurement *measurements,
                            bool *out_done) {
  const MirageMeasureOptions options = {selector->target, selector->options->measure_timeout};
  MirageModuleGraphs *graphs = selector->graphs;
  const MirageDiag *outer = graphs->diag;
  MirageHeld held;
  mirage__hold_init(&held);
  graphs->diag = &held.diag;
  MirageStatus status = mirage__measure(graphs, selector->program, &options, num, measurements);
  graphs->diag = outer;
  *out_done = status == MIRAGE_OK;
  if (status != MIRAGE_OK && first) {
    const char *why = mirage__held_error(&held);
    status = give_up(selector, status, why ? why : mirage_status_string(status));
  } else if (status != MIRAGE_NO_MEMORY) {
    status = MIRAGE_OK;
  }
  mirage__hold_release(&held, NULL, true);
  return status;
}

static bool is_among(const MirageModuleGraph *entry, uint32_t num, MirageModuleGraph *const *entries) {
  for (uint32_t i = 0; i < num; i++)
    if (entries[i] == entry)
      return true;
  return false;
}

/// The fastest candidates that have other schedules, of those that are nearly as fast as the fastest of all.
static uint32_t find_nearly_fastest(uint32_t num, MirageMeasurement *measurements,
                                    MirageModuleGraph *out[MIRAGE_VARIED]) {
  const MirageMeasurement *fastest = fastest_of(num, measurements, INFINITY);
  double most = fastest ? nearly * ratio_of(fastest) : 0;
  uint32_t count = 0;
  for (const MirageMeasurement *next = fastest; next && count < MIRAGE_VARIED; count += next != NULL) {
    next = NULL;
    for (uint32_t i = 0; i < num; i++) {
      const MirageMeasurement *one = &measurements[i];
      if (one->ok && ratio_of(one) <= most && (!next || ratio_of(one) < ratio_of(next)) &&
          mirage_layout_is_open(one->entry->graph) && !is_among(one->entry, count, out))
        next = one;
    }
    if (next)
      out[count] = next->entry;
  }
  return count;
}

/// Measures other schedules of the fastest. Where that fails, what was measured before is enough.
static MirageStatus look_again(Selector *selector, uint32_t *in_out_num, MirageMeasurement *measurements) {
  MirageModuleGraph *varied[MIRAGE_VARIED];
  MirageMeasurement *more = &measurements[*in_out_num];
  uint32_t most = (uint32_t)selector->options->measure_schedules, num = 0;
  uint32_t count = most ? find_nearly_fastest(*in_out_num, measurements, varied) : 0;
  for (uint32_t v = 0; v < count; v++) {
    MirageVariants *others = &selector->others[v];
    MIRAGE_TRY(mirage__vary(selector->graphs, varied[v], selector->target, most, others));
    for (uint32_t i = 0; i < others->num; i++) {
      more[num++] = (MirageMeasurement){.entry = &others->entries[i]};
      selector->candidates[selector->num_candidates++] = &others->entries[i];
    }
  }
  bool done = false;
  if (num)
    MIRAGE_TRY(measure(selector, false, num, more, &done));
  *in_out_num += done ? num : 0;
  return MIRAGE_OK;
}

static MirageStatus choose_now(Selector *selector, bool *out_decided, MirageModuleGraph **out_chosen) {
  MirageMeasurement *measurements, *fastest = NULL;
  uint32_t num;
  bool done;
  MIRAGE_TRY(pick(selector, &num, &measurements));
  if (num == 0)
    return MIRAGE_OK; // the own lowering stands
  MIRAGE_TRY(measure(selector, true, num, measurements, &done));
  if (!done)
    return MIRAGE_OK;
  MIRAGE_TRY(look_again(selector, &num, measurements));
  report_each(selector, num, measurements);
  MIRAGE_TRY(find_fastest(selector, num, measurements, &fastest));
  if (!fastest && !is_telling(num, measurements)) // the own lowering has not been seen to run either
    return give_up(selector, MIRAGE_DRIVER, measurements[0].reason);
  report_choice(selector, num, measurements, fastest);
  for (uint32_t i = 0; i < num; i++)
    if (measurements[i].ok)
      note_time(measurements[i].entry, measurements[i].us, measurements[i].spread);
  if (has_time(num, measurements))
    MIRAGE_TRY(mirage__tuned_store(&selector->tuned, selector->graphs, selector->program, selector->own_us, num,
                                   measurements, fastest));
  *out_decided = true;
  *out_chosen = fastest ? fastest->entry : NULL;
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------------
// choosing

MirageStatus mirage__choose_by_measuring(Selector *selector, bool *out_decided, MirageModuleGraph **out_chosen) {
  MirageTuningRecord *record = NULL;
  if (!selector->consults)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__tuned_find(&selector->tuned, selector->program, &record));
  MirageStatus status = record ? take_stored(selector, record, out_decided, out_chosen) : MIRAGE_OK;
  mirage_tuning_free(record);
  if (status != MIRAGE_OK || *out_decided)
    return status;
  if (selector->measures)
    return choose_now(selector, out_decided, out_chosen);
  if (strcmp(mode_of(selector), "yes") == 0)
    return mirage_diag_fail(selector->graphs->diag, mirage__graph_loc(selector->program), MIRAGE_NO_DEVICE,
                            "mirage-select: measure=yes: no usable GPU, and the tuning database does not know @%s: %s",
                            selector->program->name, selector->no_gpu);
  return MIRAGE_OK;
}
