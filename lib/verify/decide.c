// decide.c - one pair as a whole: which theorem, on which instance, how many trials.
//
// Theorems:  of exponentials first, of free ones where that shows no equivalence.
// Instances: full size where a trial costs at most what is allowed; else, or where full size has no useful bound, a
//            weighted instance by the theorem of transfer.
// Verdict:   EQUIVALENT by either. DIFFERENT only when the pair differs under both: the first takes exp(x) for an
//            unknown function where x holds an exponential, the second does not know that exp(a + b) = exp(a) exp(b).
//            What differs under one alone may need both, and is UNSUPPORTED.
#include "shrink.h"

#include "mirage/random.h"

#include <math.h>
#include <stdio.h>

enum { DEFAULT_MAX_WORK = 200000000 };

double mirage__verify_asked(const MirageVerifyOptions *options) {
  return options->log2_bound < 0 ? options->log2_bound : VERIFY_LOG2_BOUND;
}

double mirage__verify_allowed(const MirageVerifyOptions *options) {
  return options->max_work ? (double)options->max_work : DEFAULT_MAX_WORK;
}

uint32_t mirage__verify_trials_needed(const VerifyBound *bound, const MirageVerifyOptions *options) {
  bool drawn = bound->bits > 0;
  if (!(bound->log2_trial < (drawn ? -0.05 : -1)))
    return 0;
  double trials = options->trials ? options->trials : fmax(1, ceil(mirage__verify_asked(options) / bound->log2_trial));
  return trials <= (drawn ? VERIFY_MOST_TRIALS : VERIFY_MAX_TRIALS) || options->trials ? (uint32_t)trials : 0;
}

static uint64_t saturated(double count) { return count < 0x1p63 ? (uint64_t)count : UINT64_MAX; }

static MirageStatus write_proof(const MirageVerifyOptions *options, const VerifyBound *bound, uint32_t trials,
                                MirageProof *out_proof) {
  MirageField *first =
      mirage_field_create(mirage_random_purpose(options->seed, "verify"), options->first_trial * VERIFY_ATTEMPTS);
  if (!first)
    return MIRAGE_NO_MEMORY;
  uint64_t q = mirage_field_exponent_prime(first);
  mirage_field_destroy(first);
  *out_proof = (MirageProof){.present = true,
                             .trials = trials,
                             .q = bound->has_exp ? q : 0,
                             .p_bits = 62,
                             .seed = options->seed,
                             .log2_bound = bound->log2_trial * trials,
                             .free_exp = bound->free_exp,
                             .degree = saturated(bound->degree),
                             .calls = saturated(bound->calls),
                             .log2_terms = (uint32_t)ceil(fmax(bound->log2_terms, 0))};
  return MIRAGE_OK;
}

static void say_no_bound(const VerifyBound *bound, MirageVerdict *verdict) {
  if (bound->unsupported != MIRAGE_OP_NONE)
    snprintf(verdict->reason, sizeof verdict->reason, "%s: no rule for the error bound",
             mirage_op_info(bound->unsupported)->mnemonic);
  else if (bound->bits > 0)
    snprintf(verdict->reason, sizeof verdict->reason,
             "no useful error bound: %.0f predicates of inputs have to agree, 2^%.1f a trial", bound->bits,
             bound->log2_trial);
  else
    snprintf(verdict->reason, sizeof verdict->reason,
             "no useful error bound: 2^%.0f exponential monomials, degree %.0f, 2^%.1f a trial", bound->log2_terms,
             bound->degree, bound->log2_trial);
  verdict->loc = bound->loc;
}

// One theorem for one pair: what there is to evaluate, and what came out.
typedef struct Attempt {
  const MirageVerifyOptions *options;
  VerifyInstance full;
  double work; // of a trial at full size
  bool free_exp;
  bool nested; // some exponential is taken of a value that holds one
  MirageVerdict verdict;
} Attempt;

// All trials where the bound is useful, else one: whatever it says, a difference counts.
static MirageStatus run(Attempt *attempt, const VerifyInstance *instance, const VerifyBound *bound, bool proves) {
  uint32_t trials = proves ? mirage__verify_trials_needed(bound, attempt->options) : 0;
  MirageVerdict *verdict = &attempt->verdict;
  *verdict = (MirageVerdict){.kind = MIRAGE_VERDICT_UNSUPPORTED};
  attempt->nested = bound->nested;
  MIRAGE_TRY(mirage__verify_trials(instance, attempt->options, attempt->free_exp, trials ? trials : 1, verdict));
  verdict->proof.shrunken = instance->weights != NULL;
  if (verdict->kind != MIRAGE_VERDICT_EQUIVALENT)
    return MIRAGE_OK;
  if (trials)
    return write_proof(attempt->options, bound, trials, &verdict->proof);
  verdict->kind = MIRAGE_VERDICT_UNSUPPORTED;
  verdict->agreed = true;
  say_no_bound(bound, verdict);
  return MIRAGE_OK;
}

static bool at_full_size(const Attempt *attempt) {
  return attempt->options->full_size || attempt->work <= mirage__verify_allowed(attempt->options);
}

// On a weighted instance; UNSUPPORTED with the reason where there is none, or none that proves anything.
static MirageStatus transfer(Attempt *attempt) {
  VerifyTransfer transfer;
  MirageVerdict *verdict = &attempt->verdict;
  MIRAGE_TRY(mirage__verify_transfer_init(&transfer, attempt->full.source, attempt->full.target, attempt->free_exp));
  MirageStatus status = MIRAGE_OK;
  *verdict = (MirageVerdict){.kind = MIRAGE_VERDICT_UNSUPPORTED};
  double work = transfer.graphs[0] ? transfer.work : attempt->work;
  if (work > fmax(mirage__verify_allowed(attempt->options), VERIFY_MOST_WORK)) {
    verdict->agreed = true;
    snprintf(verdict->reason, sizeof verdict->reason, "%.3g operations a trial, %.3g allowed, and %s", work,
             fmax(mirage__verify_allowed(attempt->options), VERIFY_MOST_WORK),
             transfer.graphs[0] ? "no smaller instance tells all that the pair can" : "no axis can be shrunk");
  } else if (transfer.graphs[0]) {
    status = run(attempt, &transfer.instance, &transfer.bound, transfer.holds);
    if (status == MIRAGE_OK && verdict->kind == MIRAGE_VERDICT_EQUIVALENT)
      mirage__verify_transfer_describe(&transfer, &verdict->proof);
    else if (status == MIRAGE_OK && !transfer.holds && transfer.bound.log2_trial < -1 && !transfer.bound.bits)
      snprintf(verdict->reason, sizeof verdict->reason, "no smaller instance tells all that the pair can");
  } else {
    VerifyBound bound;
    status = mirage__verify_bound(attempt->full.source, attempt->full.target, NULL, attempt->free_exp, &bound);
    if (status == MIRAGE_OK)
      status = run(attempt, &attempt->full, &bound, true);
  }
  mirage__verify_transfer_deinit(&transfer);
  return status;
}

static MirageStatus try_theorem(Attempt *attempt) {
  VerifyBound bound;
  if (!at_full_size(attempt))
    return transfer(attempt);
  MIRAGE_TRY(mirage__verify_bound(attempt->full.source, attempt->full.target, NULL, attempt->free_exp, &bound));
  MIRAGE_TRY(run(attempt, &attempt->full, &bound, true));
  if (attempt->verdict.kind != MIRAGE_VERDICT_UNSUPPORTED || mirage__verify_trials_needed(&bound, attempt->options) ||
      attempt->options->full_size)
    return MIRAGE_OK;
  const MirageVerdict at_full = attempt->verdict; // without a useful bound; fewer elements may have one
  MIRAGE_TRY(transfer(attempt));
  if (attempt->verdict.kind == MIRAGE_VERDICT_UNSUPPORTED)
    attempt->verdict = at_full;
  return MIRAGE_OK;
}

MirageStatus mirage__verify_whole(const MirageUGraph *source, const MirageUGraph *target,
                                  const MirageVerifyOptions *options, MirageVerdict *verdict) {
  Attempt exponentials = {.options = options, .full = {source, target, NULL}};
  exponentials.work = mirage__verify_work(source) + mirage__verify_work(target);
  Attempt functions = exponentials;
  functions.free_exp = true;
  if (!options->free_exp) {
    MIRAGE_TRY(try_theorem(&exponentials));
    *verdict = exponentials.verdict;
    if (verdict->kind == MIRAGE_VERDICT_EQUIVALENT ||
        (verdict->kind == MIRAGE_VERDICT_DIFFERENT && !exponentials.nested))
      return MIRAGE_OK;
  }
  MIRAGE_TRY(try_theorem(&functions));
  if (functions.verdict.kind == MIRAGE_VERDICT_DIFFERENT && options->free_exp) {
    *verdict = (MirageVerdict){.kind = MIRAGE_VERDICT_UNSUPPORTED};
    snprintf(verdict->reason, sizeof verdict->reason, "not equivalent with free exponentials");
  } else if (functions.verdict.kind == MIRAGE_VERDICT_EQUIVALENT || options->free_exp ||
             (verdict->kind == MIRAGE_VERDICT_DIFFERENT && functions.verdict.kind != MIRAGE_VERDICT_DIFFERENT)) {
    *verdict = functions.verdict;
  }
  return MIRAGE_OK;
}

MirageStatus mirage__verify_claim_whole(const MirageUGraph *source, const MirageUGraph *target,
                                        const MirageProof *proof, double *out_log2) {
  VerifyBound bound = {.log2_trial = INFINITY};
  *out_log2 = INFINITY;
  if (proof->shrunken) {
    VerifyTransfer transfer;
    MIRAGE_TRY(mirage__verify_transfer_init(&transfer, source, target, proof->free_exp));
    if (transfer.graphs[0] && transfer.holds)
      bound = transfer.bound;
    mirage__verify_transfer_deinit(&transfer);
  } else {
    MIRAGE_TRY(mirage__verify_bound(source, target, NULL, proof->free_exp, &bound));
  }
  if (bound.log2_trial < (bound.bits > 0 ? -0.05 : -1))
    *out_log2 = bound.log2_trial * proof->trials;
  return MIRAGE_OK;
}
