// verify.c - decides whether two graphs compute the same outputs, with a computed error bound.
//
// Call order:  both graphs are expanded (sugar to operators); decide.c tries the pair as a whole, pieces.c piece by
//              piece where that shows nothing; bound.c says what a trial is worth, trials.c runs them, transfer.c makes
//              the smaller instance on which they may run.
// Verdicts:    a graph that cannot be proven is not an error: UNSUPPORTED with the operator or the reason. A difference
//              is reported even where no bound is known: one witness suffices.
// Source:      [Mirage 5]; README.md has the theorems.
#include "masks.h"
#include "shrink.h"

#include <math.h>
#include <stdio.h>

enum { TRIALS_BY_PIECES = 4 };         // what a proof by pieces costs, in evaluations of the whole
static const double MASKED_WORK = 2e7; // of a trial: above, a pair of masks is proven for every mask

// --------------------------------------------------------------------------------------------------------------
// pairing

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

// ---------------------------------------------------------------------------------------------------------------
// verdict

// What all trials of a proof of this pair cost.
static MirageStatus work_of_proof(const MirageUGraph *source, const MirageUGraph *target,
                                  const MirageVerifyOptions *options, double *out_work) {
  uint32_t trials = 0;
  for (int free_exp = options->free_exp; free_exp <= 1 && !trials; free_exp++) {
    VerifyBound bound;
    MIRAGE_TRY(mirage__verify_bound(source, target, NULL, free_exp, &bound));
    trials = mirage__verify_trials_needed(&bound, options);
  }
  double work = mirage__verify_work(source) + mirage__verify_work(target);
  *out_work = work * (trials ? trials : TRIALS_BY_PIECES);
  return MIRAGE_OK;
}

// As a whole, or piece by piece.
static MirageStatus verify_any(const MirageUGraph *source, const MirageUGraph *target,
                               const MirageVerifyOptions *options, MirageVerdict *verdict) {
  MIRAGE_TRY(mirage__verify_whole(source, target, options, verdict));
  if (verdict->kind != MIRAGE_VERDICT_UNSUPPORTED || !verdict->agreed || options->free_exp)
    return MIRAGE_OK;
  return mirage__verify_pieces(source, target, options, verdict);
}

// Where a proof at full size costs too much and one trial does not, that one is run for a difference.
static MirageStatus verify_at_full_size(const MirageUGraph *source, const MirageUGraph *target,
                                        const MirageVerifyOptions *options, MirageVerdict *verdict) {
  double allowed = mirage__verify_allowed(options), work;
  MIRAGE_TRY(work_of_proof(source, target, options, &work));
  if (work <= allowed)
    return verify_any(source, target, options, verdict);
  MirageVerifyOptions once = *options;
  once.trials = 1;
  if (mirage__verify_work(source) + mirage__verify_work(target) <= allowed) {
    MIRAGE_TRY(mirage__verify_whole(source, target, &once, verdict));
    if (verdict->kind != MIRAGE_VERDICT_EQUIVALENT && !verdict->agreed)
      return MIRAGE_OK;
  }
  *verdict = (MirageVerdict){.kind = MIRAGE_VERDICT_UNSUPPORTED, .agreed = true};
  snprintf(verdict->reason, sizeof verdict->reason, "%.3g operations at full size, %.3g allowed", work, allowed);
  return MIRAGE_OK;
}

static MirageStatus verify_expanded(const MirageUGraph *source, const MirageUGraph *target,
                                    const MirageVerifyOptions *options, MirageVerdict *verdict) {
  return options->full_size ? verify_at_full_size(source, target, options, verdict)
                            : verify_any(source, target, options, verdict);
}

// Inputs that masks are made of: predicates, lengths.
static bool has_predicates(const MirageUGraph *graph) {
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++) {
    MirageDType dtype = mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i))->dtype;
    if (dtype == MIRAGE_I1 || dtype == MIRAGE_I32)
      return true;
  }
  return false;
}

// The pair with its masks as inputs, for the theorem of masks; neither where that does not apply. It is taken where
// masks are inputs in any case, and where full size costs much: so it follows from the pair alone.
static MirageStatus take_masks(const MirageUGraph *source, const MirageUGraph *target, VerifyMasks *masks) {
  *masks = (VerifyMasks){0};
  if (!has_predicates(source) && mirage__verify_work(source) + mirage__verify_work(target) <= MASKED_WORK)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__verify_masks_init(masks, source, target, VERIFY_MASK_ADDED));
  if (masks->graphs[0] && !mirage__verify_masks_hold(masks))
    mirage__verify_masks_deinit(masks);
  return MIRAGE_OK;
}

MirageStatus mirage__verify_for_masks(const MirageUGraph *source, const MirageUGraph *target,
                                      const MirageVerifyOptions *options, MirageVerdict *verdict) {
  VerifyMasks masks;
  MIRAGE_TRY(take_masks(source, target, &masks));
  MirageUGraph *const *graphs = masks.graphs;
  MirageStatus status = graphs[0] ? mirage__verify_whole(graphs[0], graphs[1], options, verdict)
                                  : mirage__verify_whole(source, target, options, verdict);
  mirage__verify_masks_deinit(&masks);
  return status;
}

// A pair that differs for masks in general may not differ for its own: where that can be evaluated, it says so itself. What agrees
// in general is not asked: drawn predicates know of a length less than the theorem of masks does.
static MirageStatus find_difference(const MirageUGraph *source, const MirageUGraph *target,
                                    const MirageVerifyOptions *options, MirageVerdict *verdict) {
  MirageVerdict own = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  bool differs = verdict->kind == MIRAGE_VERDICT_DIFFERENT;
  if (mirage__verify_work(source) + mirage__verify_work(target) <= mirage__verify_allowed(options))
    MIRAGE_TRY(verify_expanded(source, target, options, &own));
  if (own.kind == MIRAGE_VERDICT_DIFFERENT) {
    *verdict = own;
  } else if (differs) {
    *verdict = (MirageVerdict){.kind = MIRAGE_VERDICT_UNSUPPORTED};
    snprintf(verdict->reason, sizeof verdict->reason, "not the same for every mask");
  }
  return MIRAGE_OK;
}

static MirageStatus verify_masked(const MirageUGraph *source, const MirageUGraph *target,
                                  const MirageVerifyOptions *options, MirageVerdict *verdict) {
  VerifyMasks masks;
  MIRAGE_TRY(take_masks(source, target, &masks));
  if (!masks.graphs[0])
    return verify_expanded(source, target, options, verdict);
  MirageStatus status = verify_expanded(masks.graphs[0], masks.graphs[1], options, verdict);
  if (status == MIRAGE_OK && verdict->kind != MIRAGE_VERDICT_EQUIVALENT && !verdict->agreed)
    status = find_difference(source, target, options, verdict);
  mirage__verify_masks_deinit(&masks);
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
  MirageStatus status = verify_masked(plain_source, plain_target, options ? options : &defaults, &verdict);
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
                                    const MirageCancel *cancel, double *out_log2) {
  const MirageVerifyOptions options = {.seed = proof->seed,
                                       .log2_bound = proof->log2_bound,
                                       .max_work = proof->shrunken ? 1 : 0,
                                       .full_size = !proof->shrunken,
                                       .cancel = cancel};
  MirageVerdict verdict = {.kind = MIRAGE_VERDICT_UNSUPPORTED};
  MIRAGE_TRY(mirage__verify_pieces(source, target, &options, &verdict));
  *out_log2 = verdict.kind == MIRAGE_VERDICT_EQUIVALENT ? verdict.proof.log2_bound : INFINITY;
  return MIRAGE_OK;
}

MirageStatus mirage_verify_claim_until(const MirageUGraph *source, const MirageUGraph *target, const MirageProof *proof,
                                       const MirageCancel *cancel, const MirageDiag *diag, double *out_log2_bound) {
  MirageUGraph *plain[2];
  VerifyMasks masks = {0};
  double claim = INFINITY;
  MIRAGE_TRY(expand_pair(source, target, diag, &plain[0], &plain[1]));
  MirageStatus status = take_masks(plain[0], plain[1], &masks);
  MirageUGraph *const *pair = masks.graphs[0] ? masks.graphs : plain;
  if (status == MIRAGE_OK)
    status = proof->pieces ? claim_of_pieces(pair[0], pair[1], proof, cancel, &claim)
                           : mirage__verify_claim_whole(pair[0], pair[1], proof, &claim);
  mirage__verify_masks_deinit(&masks);
  mirage_ugraph_destroy(plain[0]);
  mirage_ugraph_destroy(plain[1]);
  if (status == MIRAGE_OK)
    *out_log2_bound = claim < 0 ? claim : 0;
  return status;
}

MirageStatus mirage_verify_claim(const MirageUGraph *source, const MirageUGraph *target, const MirageProof *proof,
                                 const MirageDiag *diag, double *out_log2_bound) {
  return mirage_verify_claim_until(source, target, proof, NULL, diag, out_log2_bound);
}
