// check_proof.c - what mirage-check asks of one proof.
//
// Fresh:    trials and guard draw from the purpose "check" of the seed, so that no draw is one that the proof was made
//           with, whatever the seeds are.
// Instance: a proof at full size is made again at full size. One on a smaller instance is made again as mirage-verify
//           would, which may as well be at full size.
// Figures:  at full size, degree, monomials and calls are computed from the pair alone, not drawn. So where both proofs
//           are of one kind they must be equal, and a proof that was edited to look cheaper is noticed.
#include "check.h"

#include "mirage/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double SHRINK_ABOVE = 2e6;       // multiplications a trial: mirage-verify's own max-work
static const double GUARD_FACTOR = 8;         // two draws of one error differ by less
static const double GUARD_MARGIN = 1.25;      // what passed with 2 may be a little above it with other inputs
static const double DEFAULT_LOG2_BOUND = -60; // of what has no proof
static const double BOUND_DIGITS = 1e-6;      // relative: a bound that was printed and read again

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static MirageStatus refuse(CheckAnswer *answer, const char *format, ...) {
  va_list list;
  answer->outcome = CHECK_REFUSED;
  va_start(list, format);
  vsnprintf(answer->reason, sizeof answer->reason, format, list);
  va_end(list);
  return MIRAGE_OK;
}

void check_keep_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  CheckAnswer *answer = user;
  if (severity == MIRAGE_SEVERITY_ERROR && !answer->reason[0])
    snprintf(answer->reason, sizeof answer->reason, "%s", message);
}

// A library call failed on this pair: its sentence is the reason.
static MirageStatus failed(CheckAnswer *answer, MirageStatus status) {
  if (status == MIRAGE_NO_MEMORY)
    return status;
  if (status == MIRAGE_CANCELLED) {
    *answer = (CheckAnswer){.outcome = CHECK_NOT_LOOKED_AT};
    return MIRAGE_OK;
  }
  answer->outcome = CHECK_REFUSED;
  if (!answer->reason[0])
    snprintf(answer->reason, sizeof answer->reason, "%s", mirage_status_string(status));
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------ what is stored

static MirageStatus check_pair(const MirageUGraph *program, const MirageUGraph *candidate, CheckAnswer *answer) {
  const MirageDiag diag = {check_keep_reason, answer};
  uint64_t pair;
  MirageStatus status = mirage_ugraph_pair_hash(program, candidate, &diag, &pair);
  if (status != MIRAGE_OK)
    return failed(answer, status);
  if (!answer->stored.pair)
    return refuse(answer, "its proof does not say which graphs it was made for");
  if (answer->stored.pair != pair)
    return refuse(answer, "its proof was made for other graphs; one of the two has been changed since");
  return MIRAGE_OK;
}

static MirageStatus check_claim(const MirageUGraph *program, const MirageUGraph *candidate, CheckAnswer *answer) {
  const MirageDiag diag = {check_keep_reason, answer};
  const MirageProof *stored = &answer->stored;
  double shown;
  if (!(stored->log2_bound < 0))
    return refuse(answer, "its proof claims nothing: a wrong graph passes with probability 2^%.1f", stored->log2_bound);
  MirageStatus status = mirage_verify_claim(program, candidate, stored, &diag, &shown);
  if (status != MIRAGE_OK)
    return failed(answer, status);
  if (shown > stored->log2_bound + BOUND_DIGITS * fabs(stored->log2_bound))
    return refuse(answer, "its proof claims 2^%.1f, its %u trial%s 2^%.1f", stored->log2_bound, stored->trials,
                  stored->trials == 1 ? " shows" : "s show", shown);
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------------- once more

static MirageVerifyOptions verify_options(const CheckSettings *settings, const MirageProof *stored) {
  bool full_size = settings->full_size || (stored->present && !stored->shrunken);
  double log2_bound = settings->log2_bound < 0 ? settings->log2_bound
                      : stored->present        ? stored->log2_bound * (1 - BOUND_DIGITS)
                                               : DEFAULT_LOG2_BOUND;
  return (MirageVerifyOptions){.seed = mirage_random_purpose(settings->seed, "check"),
                               .log2_bound = log2_bound,
                               .max_work = (uint64_t)(full_size ? settings->max_work : SHRINK_ABOVE),
                               .full_size = full_size,
                               .cancel = settings->cancel};
}

// Whether the two proofs are at full size, by one theorem, and as a whole.
static bool same_kind(const MirageProof *stored, const MirageProof *fresh) {
  return !stored->shrunken && !fresh->shrunken && stored->free_exp == fresh->free_exp && !stored->pieces &&
         !fresh->pieces && !stored->q == !fresh->q;
}

static MirageStatus compare(CheckAnswer *answer) {
  const MirageProof *stored = &answer->stored, *fresh = &answer->fresh;
  const struct {
    const char *name;
    uint64_t stored, fresh;
  } figures[] = {{"p_bits", stored->p_bits, fresh->p_bits},
                 {"degree", stored->degree, fresh->degree},
                 {"calls", stored->calls, fresh->calls},
                 {"log2_terms", stored->log2_terms, fresh->log2_terms}};
  if (!stored->present || !same_kind(stored, fresh))
    return MIRAGE_OK;
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    if (figures[i].stored != figures[i].fresh)
      return refuse(answer, "its proof says %s = %" PRIu64 ", on this pair it is %" PRIu64, figures[i].name,
                    figures[i].stored, figures[i].fresh);
  return MIRAGE_OK;
}

static MirageStatus prove(const MirageUGraph *program, const MirageUGraph *candidate, const CheckSettings *settings,
                          CheckAnswer *answer) {
  const MirageDiag diag = {check_keep_reason, answer};
  const MirageVerifyOptions options = verify_options(settings, &answer->stored);
  MirageVerdict verdict;
  MirageStatus status = mirage_verify(program, candidate, &options, &diag, &verdict);
  if (status != MIRAGE_OK)
    return failed(answer, status);
  if (verdict.kind == MIRAGE_VERDICT_DIFFERENT)
    return refuse(answer, "it differs%s at output %u, element %" PRIu64 ": residues %" PRIu64 " and %" PRIu64,
                  verdict.proof.shrunken ? " on a smaller instance" : "", verdict.output, verdict.index,
                  verdict.source_value, verdict.target_value);
  if (verdict.kind != MIRAGE_VERDICT_EQUIVALENT)
    return refuse(answer, "it could not be proven again%s: %s", options.full_size ? " at full size" : "",
                  verdict.reason);
  answer->fresh = verdict.proof;
  if (verdict.proof.log2_bound > options.log2_bound * (1 - BOUND_DIGITS))
    return refuse(answer, "it could be proven again to 2^%.1f only, 2^%.1f is asked for", verdict.proof.log2_bound,
                  options.log2_bound);
  return compare(answer);
}

// --------------------------------------------------------------------------------------------------------------- guard

// The smallest error of the candidate at any scale; infinite when none was measured.
static double least_error(const MirageGuardReport *report) {
  double least = INFINITY;
  for (int scale = 0; scale < MIRAGE_GUARD_NUM_SCALES; scale++)
    if (report->errors[scale].measured)
      least = fmin(least, report->errors[scale].candidate_relative);
  return least;
}

static MirageStatus check_guard(const MirageUGraph *program, const MirageUGraph *candidate,
                                const CheckSettings *settings, CheckAnswer *answer) {
  const MirageDiag diag = {check_keep_reason, answer};
  MirageGuardReport report;
  const MirageGuardOptions options = {
      .seed = mirage_random_purpose(settings->seed, "check"), .factor = GUARD_MARGIN * 2, .cancel = settings->cancel};
  MirageStatus status = mirage_guard(program, candidate, &options, &diag, &report);
  if (status != MIRAGE_OK)
    return failed(answer, status);
  answer->fresh_guard = report.guard;
  if (!report.passed)
    return refuse(answer, "its accuracy does not hold: %s", report.reason);
  if (!report.guard.present)
    return refuse(answer, "its accuracy could not be measured again: %s", report.reason);
  // Which scale is the worst depends on the draw, so the figures must be possible at one of them.
  double stored = answer->stored_guard.candidate_relative, least = least_error(&report);
  if (stored * GUARD_FACTOR < least)
    return refuse(answer, "its guard claims a relative error of %.2e, measured again it is at least %.2e", stored,
                  least);
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------------- everything

MirageStatus check_proof(const MirageUGraph *program, const MirageUGraph *candidate, const CheckSettings *settings,
                         CheckAnswer *out_answer) {
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(candidate);
  *out_answer = (CheckAnswer){.outcome = CHECK_OK, .stored = meta->proof, .stored_guard = meta->guard};
  if (meta->proof.present) {
    MIRAGE_TRY(check_pair(program, candidate, out_answer));
    if (out_answer->outcome == CHECK_OK)
      MIRAGE_TRY(check_claim(program, candidate, out_answer));
  }
  if (out_answer->outcome == CHECK_OK)
    MIRAGE_TRY(prove(program, candidate, settings, out_answer));
  if (out_answer->outcome == CHECK_OK && meta->guard.present && settings->guard)
    MIRAGE_TRY(check_guard(program, candidate, settings, out_answer));
  return MIRAGE_OK;
}
