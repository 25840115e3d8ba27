// verify.c - decides whether two graphs compute the same outputs, with a computed error bound.
//
// Call order:  both graphs are expanded (sugar to operators); bound.c says what one trial is worth; if that, or the
//              work, does not allow the full size, shrink.c makes a smaller pair and bound.c speaks again; then trials
//              run until the product of their bounds is small enough, or one of them finds a difference.
// A trial:     fresh primes, root of unity and inputs from (seed, number); both graphs in mirage_eval; outputs compared
//              mod p. A division by zero draws again, at most VERIFY_ATTEMPTS times, which the bound accounts for.
// Verdicts:    a graph that cannot be proven is not an error: UNSUPPORTED with the operator or the reason. A difference
//              is reported even where no bound is known: one witness suffices.
// Source:      [Mirage 5]; README.md has the theorem.
#include "verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  DEFAULT_MAX_WORK = 200000000,
  MOST_WORK = 1000000000, // of a trial, some seconds: a pair that cannot be shrunk below max_work may go up to this
  TRIALS_BY_PIECES = 4,   // what a proof by pieces costs, in evaluations of the whole
};

typedef struct Verify {
  const MirageUGraph *source, *target; // of this size
  const MirageVerifyOptions *options;
  MirageVerdict *verdict;
  bool free_exp; // the theorem that the trials are for
  MirageResidue **inputs, **outputs[2];
} Verify;

// --------------------------------------------------------------------------------------------------- pairing, verdicts

static MirageStatus check_pair(const char *what, uint32_t index, const MirageType *a, const MirageType *b,
                               const MirageDiag *diag) {
  char left[96], right[96];
  if (mirage_type_same_meaning(a, b))
    return MIRAGE_OK;
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_SHAPE, "verify: %s %u differs: %s vs %s", what, index,
                          mirage_type_format(a, left, sizeof left), mirage_type_format(b, right, sizeof right));
}

static MirageStatus check_signature(const MirageUGraph *a, const MirageUGraph *b, const MirageDiag *diag) {
  uint32_t inputs = mirage_ugraph_num_inputs(a), outputs = mirage_ugraph_num_outputs(a);
  if (inputs != mirage_ugraph_num_inputs(b))
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_SHAPE, "verify: numbers of inputs differ: %u vs %u", inputs,
                            mirage_ugraph_num_inputs(b));
  if (outputs != mirage_ugraph_num_outputs(b))
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_SHAPE, "verify: numbers of outputs differ: %u vs %u", outputs,
                            mirage_ugraph_num_outputs(b));
  for (uint32_t i = 0; i < inputs; i++)
    MIRAGE_TRY(check_pair("input", i, mirage_ugraph_type(a, mirage_ugraph_get_input(a, i)),
                          mirage_ugraph_type(b, mirage_ugraph_get_input(b, i)), diag));
  for (uint32_t i = 0; i < outputs; i++)
    MIRAGE_TRY(check_pair("output", i, mirage_ugraph_type(a, mirage_ugraph_get_output(a, i)),
                          mirage_ugraph_type(b, mirage_ugraph_get_output(b, i)), diag));
  return MIRAGE_OK;
}

// Evaluation's sentences become the verdict's reason.
static void take_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  MirageVerdict *verdict = user;
  if (severity != MIRAGE_SEVERITY_ERROR || verdict->reason[0])
    return;
  snprintf(verdict->reason, sizeof verdict->reason, "%s", message);
  verdict->loc = loc;
}

// ------------------------------------------------------------------------------------------------------------- storage

void mirage__verify_free_arrays(MirageResidue **arrays, uint32_t count) {
  for (uint32_t i = 0; arrays && i < count; i++)
    free(arrays[i]);
  free(arrays);
}

static MirageResidue **alloc_arrays(const MirageUGraph *graph, uint32_t count,
                                    MirageValue (*get)(const MirageUGraph *, uint32_t)) {
  MirageResidue **arrays = calloc(count + 1, sizeof(MirageResidue *));
  for (uint32_t i = 0; arrays && i < count; i++) {
    arrays[i] = malloc((size_t)mirage_type_elements(mirage_ugraph_type(graph, get(graph, i))) * sizeof **arrays);
    if (!arrays[i]) {
      mirage__verify_free_arrays(arrays, i);
      return NULL;
    }
  }
  return arrays;
}

MirageResidue **mirage__verify_alloc_inputs(const MirageUGraph *graph) {
  return alloc_arrays(graph, mirage_ugraph_num_inputs(graph), mirage_ugraph_get_input);
}

MirageResidue **mirage__verify_alloc_outputs(const MirageUGraph *graph) {
  return alloc_arrays(graph, mirage_ugraph_num_outputs(graph), mirage_ugraph_get_output);
}

static void storage_deinit(Verify *verify) {
  mirage__verify_free_arrays(verify->inputs, mirage_ugraph_num_inputs(verify->source));
  mirage__verify_free_arrays(verify->outputs[0], mirage_ugraph_num_outputs(verify->source));
  mirage__verify_free_arrays(verify->outputs[1], mirage_ugraph_num_outputs(verify->source));
}

static MirageStatus storage_init(Verify *verify) {
  verify->inputs = mirage__verify_alloc_inputs(verify->source);
  verify->outputs[0] = mirage__verify_alloc_outputs(verify->source);
  verify->outputs[1] = mirage__verify_alloc_outputs(verify->source);
  return verify->inputs && verify->outputs[0] && verify->outputs[1] ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

// -------------------------------------------------------------------------------------------------------------- trials

static size_t output_elements(const Verify *verify, uint32_t output) {
  return (size_t)mirage_type_elements(
      mirage_ugraph_type(verify->source, mirage_ugraph_get_output(verify->source, output)));
}

// Whether all elements of all outputs have a value in both graphs.
static bool all_defined(const Verify *verify) {
  uint8_t undefined = 0;
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(verify->source); o++)
    for (size_t i = 0, n = output_elements(verify, o); i < n; i++)
      undefined |= verify->outputs[0][o][i].undefined | verify->outputs[1][o][i].undefined;
  return !undefined;
}

// Both graphs at one random point. REDRAW when either divides by zero; in partial fields, outputs may be undefined.
static MirageStatus evaluate_in(Verify *verify, uint32_t draw, bool partial) {
  const MirageFieldModes modes = {.partial = partial, .free_exp = verify->free_exp};
  MirageField *field = mirage_field_create_with(verify->options->seed, draw, modes);
  if (!field)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(verify->source); i++) {
    const MirageType *type = mirage_ugraph_type(verify->source, mirage_ugraph_get_input(verify->source, i));
    mirage_field_draw(field, i, (size_t)mirage_type_elements(type), verify->inputs[i]);
  }
  const MirageDiag reason = {take_reason, verify->verdict};
  const MirageUGraph *graphs[2] = {verify->source, verify->target};
  MirageStatus status = MIRAGE_OK;
  for (int g = 0; g < 2 && status == MIRAGE_OK; g++)
    status = mirage_eval(graphs[g], mirage_field_domain(field), (const void *const *)verify->inputs,
                         (void *const *)verify->outputs[g], NULL, &reason);
  mirage_field_destroy(field);
  return status;
}

// One draw. What has no value does not count where it reaches no output, as in masked lanes; if it does reach one, the
// draw is undefined, and evaluation without such values says why.
static MirageStatus evaluate(Verify *verify, uint32_t draw) {
  MirageStatus status = evaluate_in(verify, draw, true);
  return status != MIRAGE_OK || all_defined(verify) ? status : evaluate_in(verify, draw, false);
}

static bool find_difference(Verify *verify, uint32_t draw) {
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(verify->source); o++) {
    const MirageResidue *a = verify->outputs[0][o], *b = verify->outputs[1][o];
    for (size_t i = 0, n = output_elements(verify, o); i < n; i++) {
      if (a[i].p == b[i].p && a[i].bottom == b[i].bottom)
        continue;
      MirageVerdict *verdict = verify->verdict;
      verdict->kind = MIRAGE_VERDICT_DIFFERENT;
      verdict->seed = verify->options->seed;
      verdict->trial = draw / VERIFY_ATTEMPTS;
      verdict->draw = draw;
      verdict->output = o;
      verdict->index = i;
      verdict->source_value = a[i].p;
      verdict->target_value = b[i].p;
      return true;
    }
  }
  return false;
}

// Runs `trials` trials; leaves the verdict EQUIVALENT when all of them agree.
static MirageStatus run_trials(Verify *verify, uint32_t trials) {
  for (uint32_t trial = 0; trial < trials; trial++) {
    MirageStatus status = MIRAGE_REDRAW;
    uint32_t first = (verify->options->first_trial + trial) * VERIFY_ATTEMPTS, draw = first;
    for (uint32_t attempt = 0; attempt < VERIFY_ATTEMPTS && status == MIRAGE_REDRAW; attempt++)
      status = evaluate(verify, draw = first + attempt);
    if (status == MIRAGE_NO_MEMORY)
      return status;
    if (status != MIRAGE_OK) {
      if (!verify->verdict->reason[0])
        snprintf(verify->verdict->reason, sizeof verify->verdict->reason, "%s",
                 status == MIRAGE_REDRAW  ? "evaluation divides by zero at every random point"
                 : status == MIRAGE_LIMIT ? "its running maxima have too many members to be told apart in 512 MB"
                                          : mirage_status_string(status));
      verify->verdict->kind = MIRAGE_VERDICT_UNSUPPORTED;
      return MIRAGE_OK;
    }
    if (find_difference(verify, draw))
      return MIRAGE_OK;
  }
  verify->verdict->kind = MIRAGE_VERDICT_EQUIVALENT;
  return MIRAGE_OK;
}

// Trials that bring the bound to the one asked for; 0 when no reasonable number does.
static uint32_t trials_needed(const VerifyBound *bound, const MirageVerifyOptions *options) {
  if (!(bound->log2_trial < -1))
    return 0;
  double asked = options->log2_bound < 0 ? options->log2_bound : VERIFY_LOG2_BOUND;
  double trials = options->trials ? options->trials : fmax(1, ceil(asked / bound->log2_trial));
  return trials <= VERIFY_MAX_TRIALS || options->trials ? (uint32_t)trials : 0;
}

static uint64_t saturated(double count) { return count < 0x1p63 ? (uint64_t)count : UINT64_MAX; }

static MirageStatus decide(Verify *verify, const VerifyBound *bound, bool shrunken) {
  MirageVerdict *verdict = verify->verdict;
  uint32_t trials = trials_needed(bound, verify->options);
  verify->free_exp = bound->free_exp;
  MirageStatus status = storage_init(verify);
  if (status == MIRAGE_OK)
    status = run_trials(verify, trials ? trials : 1); // without a bound, a difference still counts
  storage_deinit(verify);
  MIRAGE_TRY(status);
  verdict->proof.shrunken = shrunken;
  if (verdict->kind != MIRAGE_VERDICT_EQUIVALENT)
    return MIRAGE_OK;
  if (!trials) {
    verdict->kind = MIRAGE_VERDICT_UNSUPPORTED;
    if (bound->unsupported != MIRAGE_OP_NONE)
      snprintf(verdict->reason, sizeof verdict->reason, "%s: no rule for the error bound",
               mirage_op_info(bound->unsupported)->mnemonic);
    else
      snprintf(verdict->reason, sizeof verdict->reason,
               "no useful error bound: 2^%.0f exponential monomials, degree %.0f, 2^%.1f a trial", bound->log2_terms,
               bound->degree, bound->log2_trial);
    verdict->loc = bound->loc;
    return MIRAGE_OK;
  }
  MirageField *first = mirage_field_create(verify->options->seed, 0);
  if (!first)
    return MIRAGE_NO_MEMORY;
  uint64_t q = mirage_field_exponent_prime(first);
  mirage_field_destroy(first);
  verdict->proof = (MirageProof){.present = true,
                                 .trials = trials,
                                 .q = bound->has_exp ? q : 0,
                                 .p_bits = 62,
                                 .seed = verify->options->seed,
                                 .log2_bound = bound->log2_trial * trials,
                                 .shrunken = shrunken,
                                 .free_exp = bound->free_exp,
                                 .degree = saturated(bound->degree),
                                 .calls = saturated(bound->calls),
                                 .log2_terms = (uint32_t)ceil(fmax(bound->log2_terms, 0))};
  return MIRAGE_OK;
}

// By the theorem of exponentials if it gives a useful bound. If not, and that of free exponentials does, by that one; a
// difference means nothing then (the pair may need exp(x) exp(y) = exp(x + y)), and *out_decided is false.
static MirageStatus decide_by_either(Verify *verify, bool shrunken, bool *out_decided) {
  VerifyBound bound;
  *out_decided = !verify->options->free_exp;
  MIRAGE_TRY(mirage__verify_bound(verify->source, verify->target, false, &bound));
  if (*out_decided && trials_needed(&bound, verify->options))
    return decide(verify, &bound, shrunken);
  *out_decided = false;
  MIRAGE_TRY(mirage__verify_bound(verify->source, verify->target, true, &bound));
  if (!trials_needed(&bound, verify->options))
    return MIRAGE_OK;
  MIRAGE_TRY(decide(verify, &bound, shrunken));
  *out_decided = verify->verdict->kind == MIRAGE_VERDICT_EQUIVALENT;
  if (!*out_decided)
    *verify->verdict = (MirageVerdict){.kind = MIRAGE_VERDICT_UNSUPPORTED};
  return MIRAGE_OK;
}

MirageStatus mirage__verify_whole(const MirageUGraph *source, const MirageUGraph *target,
                                  const MirageVerifyOptions *options, MirageVerdict *verdict) {
  Verify verify = {.source = source, .target = target, .options = options, .verdict = verdict};
  bool decided;
  return decide_by_either(&verify, false, &decided);
}

// By one theorem or the other, as a whole or piece by piece.
static MirageStatus decide_by_any(Verify *verify, bool shrunken, bool *out_decided) {
  MIRAGE_TRY(decide_by_either(verify, shrunken, out_decided));
  if (*out_decided || verify->options->free_exp)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__verify_pieces(verify->source, verify->target, verify->options, verify->verdict));
  *out_decided = verify->verdict->kind == MIRAGE_VERDICT_EQUIVALENT;
  verify->verdict->proof.shrunken = shrunken;
  return MIRAGE_OK;
}

// Where neither theorem shows equivalence: one trial may still show a difference.
static MirageStatus look_for_difference(Verify *verify, bool shrunken) {
  VerifyBound bound;
  if (verify->options->free_exp) {
    snprintf(verify->verdict->reason, sizeof verify->verdict->reason, "not equivalent with free exponentials");
    return MIRAGE_OK;
  }
  MIRAGE_TRY(mirage__verify_bound(verify->source, verify->target, false, &bound));
  return decide(verify, &bound, shrunken);
}

// ---------------------------------------------------------------------------------------------------- full or shrunken

// On the shrunken pair, in which constants that stem from extents `follow` or not.
static MirageStatus decide_shrunken(Verify *verify, ShrinkSizes sizes, bool follow, double allowed) {
  MirageVerdict *verdict = verify->verdict;
  MirageUGraph *source = NULL, *target = NULL;
  char reason[160] = "";
  bool followed = follow, decided = false;
  MIRAGE_TRY(mirage__verify_shrink(verify->source, verify->target, sizes, &followed, &source, &target, reason));
  if (source) {
    verify->source = source;
    verify->target = target;
    snprintf(reason, sizeof reason, "the shrunken instance is still too large");
  }
  double work = mirage__verify_work(verify->source) + mirage__verify_work(verify->target);
  MirageStatus status = MIRAGE_OK;
  if (follow && !followed) // the same instance as before
    snprintf(verdict->reason, sizeof verdict->reason, "no constant stems from an extent");
  else if (work > fmax(allowed, MOST_WORK))
    snprintf(verdict->reason, sizeof verdict->reason, "%.3g operations a trial, %.3g allowed, and %s", work,
             fmax(allowed, MOST_WORK), reason);
  else
    status = decide_by_any(verify, source != NULL, &decided);
  if (status == MIRAGE_OK && !verdict->reason[0] && !decided)
    status = look_for_difference(verify, source != NULL);
  verdict->followed = followed;
  mirage_ugraph_destroy(source);
  mirage_ugraph_destroy(target);
  return status;
}

// On one shrunken pair; and when that is equivalent, one trial more on a second one with other extents. It is there for
// graphs that are right at the first extents by chance: a constant 4 where 8 summands have become 4.
static MirageStatus decide_at_two_sizes(Verify *verify, bool follow, double allowed) {
  MirageVerifyOptions once = *verify->options;
  MirageVerdict other = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  Verify again = {.source = verify->source, .target = verify->target, .options = &once, .verdict = &other};
  once.trials = 1;
  MIRAGE_TRY(decide_shrunken(verify, SHRINK_SMALLEST, follow, allowed));
  if (verify->verdict->kind != MIRAGE_VERDICT_EQUIVALENT || !verify->verdict->proof.shrunken)
    return MIRAGE_OK;
  MIRAGE_TRY(decide_shrunken(&again, SHRINK_OTHER, follow, allowed));
  bool evaluated = other.kind == MIRAGE_VERDICT_EQUIVALENT || other.proof.shrunken; // the bound may be too weak for one
  if (other.kind == MIRAGE_VERDICT_DIFFERENT || (follow && !evaluated))
    *verify->verdict = other;
  return MIRAGE_OK;
}

// What all trials of a proof of this pair cost.
static MirageStatus work_of_proof(const Verify *verify, double *out_work) {
  uint32_t trials = 0;
  for (int free_exp = verify->options->free_exp; free_exp <= 1 && !trials; free_exp++) {
    VerifyBound bound;
    MIRAGE_TRY(mirage__verify_bound(verify->source, verify->target, free_exp, &bound));
    trials = trials_needed(&bound, verify->options);
  }
  double work = mirage__verify_work(verify->source) + mirage__verify_work(verify->target);
  *out_work = work * (trials ? trials : TRIALS_BY_PIECES);
  return MIRAGE_OK;
}

// Never on a shrunken instance. Where a proof costs too much and one trial does not, that one is run for a difference.
static MirageStatus verify_at_full_size(Verify *verify, double allowed) {
  double trial = mirage__verify_work(verify->source) + mirage__verify_work(verify->target), work;
  bool decided = false;
  MIRAGE_TRY(work_of_proof(verify, &work));
  if (work <= allowed) {
    MIRAGE_TRY(decide_by_any(verify, false, &decided));
    return decided ? MIRAGE_OK : look_for_difference(verify, false);
  }
  MirageVerifyOptions once = *verify->options;
  once.trials = 1;
  verify->options = &once;
  if (trial <= allowed)
    MIRAGE_TRY(look_for_difference(verify, false));
  if (verify->verdict->kind != MIRAGE_VERDICT_DIFFERENT) {
    verify->verdict->kind = MIRAGE_VERDICT_UNSUPPORTED;
    snprintf(verify->verdict->reason, sizeof verify->verdict->reason, "%.3g operations at full size, %.3g allowed",
             work, allowed);
  }
  return MIRAGE_OK;
}

static MirageStatus verify_expanded(const MirageUGraph *source, const MirageUGraph *target,
                                    const MirageVerifyOptions *options, MirageVerdict *verdict) {
  Verify verify = {.source = source, .target = target, .options = options, .verdict = verdict};
  bool decided = false;
  double allowed = options->max_work ? (double)options->max_work : DEFAULT_MAX_WORK;
  if (options->full_size)
    return verify_at_full_size(&verify, allowed);
  if (mirage__verify_work(source) + mirage__verify_work(target) <= allowed)
    MIRAGE_TRY(decide_by_any(&verify, false, &decided));
  if (decided)
    return MIRAGE_OK;
  MIRAGE_TRY(decide_at_two_sizes(&verify, false, allowed));
  if (verdict->kind != MIRAGE_VERDICT_DIFFERENT)
    return MIRAGE_OK;
  // Different for an unrelated number in the place of an extent: perhaps it has to be the extent.
  const MirageVerdict unrelated = *verdict;
  *verdict = (MirageVerdict){.kind = MIRAGE_VERDICT_UNSUPPORTED};
  verify.source = source;
  verify.target = target;
  MirageStatus status = decide_at_two_sizes(&verify, true, allowed);
  if (verdict->kind != MIRAGE_VERDICT_EQUIVALENT || !verdict->followed)
    *verdict = unrelated;
  return status;
}

// Both graphs, sugar expanded. On failure neither.
static MirageStatus expand_pair(const MirageUGraph *source, const MirageUGraph *target, const MirageDiag *diag,
                                MirageUGraph **out_source, MirageUGraph **out_target) {
  *out_source = *out_target = NULL;
  MIRAGE_TRY(check_signature(source, target, diag));
  MIRAGE_TRY(mirage_ugraph_expand(source, diag, out_source));
  MirageStatus status = mirage_ugraph_expand(target, diag, out_target);
  if (status != MIRAGE_OK) {
    mirage_ugraph_destroy(*out_source);
    *out_source = NULL;
  }
  return status;
}

MirageStatus mirage_verify(const MirageUGraph *source, const MirageUGraph *target, const MirageVerifyOptions *options,
                           const MirageDiag *diag, MirageVerdict *out_verdict) {
  const MirageVerifyOptions defaults = {0};
  MirageVerdict verdict = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  MirageUGraph *plain_source, *plain_target;
  MIRAGE_TRY(expand_pair(source, target, diag, &plain_source, &plain_target));
  MirageStatus status = verify_expanded(plain_source, plain_target, options ? options : &defaults, &verdict);
  mirage_ugraph_destroy(plain_source);
  mirage_ugraph_destroy(plain_target);
  if (status == MIRAGE_NO_MEMORY)
    return mirage_diag_fail(diag, NULL, status, "verify: out of memory");
  if (status == MIRAGE_OK)
    *out_verdict = verdict;
  return status;
}

// What all pieces show together, by proving them again; infinite when they do not.
static MirageStatus claim_of_pieces(const MirageUGraph *source, const MirageUGraph *target, const MirageProof *proof,
                                    double *out_log2) {
  const MirageVerifyOptions options = {.seed = proof->seed, .log2_bound = proof->log2_bound};
  MirageVerdict verdict = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  MIRAGE_TRY(mirage__verify_pieces(source, target, &options, &verdict));
  *out_log2 = verdict.kind == MIRAGE_VERDICT_EQUIVALENT ? verdict.proof.log2_bound : INFINITY;
  return MIRAGE_OK;
}

// log2 of what the trials miss on this pair, or on its shrunken form; infinite when there is none.
static MirageStatus claim_of(MirageUGraph *const plain[2], const MirageProof *proof, const bool *follow,
                             double *out_log2) {
  MirageUGraph *small[2] = {NULL, NULL};
  char reason[160];
  VerifyBound bound;
  bool following = follow && *follow;
  MirageStatus status = MIRAGE_OK;
  *out_log2 = INFINITY;
  if (follow)
    status = mirage__verify_shrink(plain[0], plain[1], SHRINK_SMALLEST, &following, &small[0], &small[1], reason);
  if (status == MIRAGE_OK && (small[0] || !follow)) {
    const MirageUGraph *source = small[0] ? small[0] : plain[0], *target = small[1] ? small[1] : plain[1];
    if (proof->pieces) {
      status = claim_of_pieces(source, target, proof, out_log2);
    } else {
      status = mirage__verify_bound(source, target, proof->free_exp, &bound);
      *out_log2 = bound.log2_trial < -1 ? bound.log2_trial * proof->trials : INFINITY;
    }
  }
  mirage_ugraph_destroy(small[0]);
  mirage_ugraph_destroy(small[1]);
  return status;
}

MirageStatus mirage_verify_claim(const MirageUGraph *source, const MirageUGraph *target, const MirageProof *proof,
                                 const MirageDiag *diag, double *out_log2_bound) {
  MirageUGraph *plain[2];
  double claim = INFINITY, other = INFINITY;
  MIRAGE_TRY(expand_pair(source, target, diag, &plain[0], &plain[1]));
  MirageStatus status;
  if (proof->shrunken) { // the proof does not say which of the two forms it is about
    status = claim_of(plain, proof, &(bool){false}, &claim);
    if (status == MIRAGE_OK)
      status = claim_of(plain, proof, &(bool){true}, &other);
  } else {
    status = claim_of(plain, proof, NULL, &claim);
  }
  mirage_ugraph_destroy(plain[0]);
  mirage_ugraph_destroy(plain[1]);
  claim = fmin(claim, other);
  if (status == MIRAGE_OK)
    *out_log2_bound = claim < 0 ? claim : 0;
  return status;
}
