// verify_internal.h - what the files of lib/verify share. verify.c tells the story, README.md proves the theorems.
#ifndef MIRAGE_VERIFY_INTERNAL_H
#define MIRAGE_VERIFY_INTERNAL_H

#include "mirage/verify.h"

enum {
  VERIFY_ATTEMPTS = 8,           // draws of one trial before division by zero is given up on
  VERIFY_MOST_TRIALS = 1024,     // where predicates are drawn: then a trial is worth a bit, or less
  VERIFY_MAX_TRIALS = 64,        // more would cost more than shrinking
  VERIFY_LOG2_BOUND = -60,       // unless the options say otherwise
  VERIFY_MOST_WORK = 1000000000, // of a trial, some seconds: a weighted instance may cost so much
  VERIFY_MAX_AXES = 16,          // that shrink in one instance: ABSTRACT_MAX_WEIGHTS
};

typedef struct VerifyWeights VerifyWeights; // shrink.h

/// Two graphs without sugar to be evaluated at the same points; of weighted copies, with their weights, else NULL.
typedef struct VerifyInstance {
  const MirageUGraph *source, *target;
  const VerifyWeights *weights;
} VerifyInstance;

/// What the bound of one trial is made of. All probabilities as log2.
typedef struct VerifyBound {
  bool free_exp;                  // by the theorem of free exponentials
  bool nested;                    // some exponential is taken of a value that holds one
  bool has_exp;                   // some exponential reaches an output or a random function's argument
  double degree;                  // of the numerator of source - target
  double log2_terms;              // its number k of exponential monomials
  double calls;                   // of random functions that an output element depends on
  double bits;                    // predicates that have to come out in one way for a difference to show
  double log2_draw;               // a wrong pair passes one draw with at most this
  double log2_trial;              // a wrong pair passes one trial with at most this; >= -1 means nothing is shown
  double points[VERIFY_MAX_AXES]; // that the theorem of transfer asks for, of each weighted axis
  MirageOp unsupported;           // an operator without a rule, or MIRAGE_OP_NONE
  const void *loc;                // of that operator
} VerifyBound;

/// Bounds one trial on a pair of graphs without sugar at the kernel level, by abstract interpretation of both: by the
/// theorem of exponentials, or by that of free ones. weights: of weighted copies; else NULL. bound.c
MirageStatus mirage__verify_bound(const MirageUGraph *source, const MirageUGraph *target, const VerifyWeights *weights,
                                  bool free_exp, VerifyBound *out_bound);
/// The same for fields of another size: statistics in fields so small that false accepts can be counted.
typedef struct VerifyFields {
  double log2_p_min, log2_q_min; // least p, least q
  double log2_num_q, log2_num_p; // how many q there are, and for each q at least how many p; as log2
} VerifyFields;
MirageStatus mirage__verify_bound_in(const VerifyFields *fields, const MirageUGraph *source, const MirageUGraph *target,
                                     const VerifyWeights *weights, bool free_exp, VerifyBound *out_bound);

/// Runs trials: EQUIVALENT when all agree, DIFFERENT with the witness, UNSUPPORTED with the reason; CANCELLED. trials.c
MirageStatus mirage__verify_trials(const VerifyInstance *instance, const MirageVerifyOptions *options, bool free_exp,
                                   uint32_t count, MirageVerdict *verdict);
/// Only its weights, inputs first_input and on.
MirageStatus mirage__verify_draw_weights(const MirageField *field, const VerifyWeights *weights,
                                         MirageResidue **inputs);
/// Dense arrays of residues for all inputs or outputs; NULL without memory.
MirageResidue **mirage__verify_alloc_inputs(const MirageUGraph *graph);
MirageResidue **mirage__verify_alloc_outputs(const MirageUGraph *graph);
void mirage__verify_free_arrays(MirageResidue **arrays, uint32_t count);

/// Decides a pair without sugar as a whole, by either theorem, at full size or on a weighted instance. decide.c
MirageStatus mirage__verify_whole(const MirageUGraph *source, const MirageUGraph *target,
                                  const MirageVerifyOptions *options, MirageVerdict *verdict);
/// The same for every mask, where the pair's masks can be inputs of numbers (the theorem of masks); else as it stands.
MirageStatus mirage__verify_for_masks(const MirageUGraph *source, const MirageUGraph *target,
                                      const MirageVerifyOptions *options, MirageVerdict *verdict);
/// The bound that so many trials on one instance show, as the proof says: log2, infinite where they show nothing.
MirageStatus mirage__verify_claim_whole(const MirageUGraph *source, const MirageUGraph *target,
                                        const MirageProof *proof, double *out_log2);
/// Trials that bring the bound to the one asked for; 0 when no reasonable number does.
uint32_t mirage__verify_trials_needed(const VerifyBound *bound, const MirageVerifyOptions *options);
/// log2 of what all trials may miss together, as the options ask for.
double mirage__verify_asked(const MirageVerifyOptions *options);
/// What may be spent on a trial at full size.
double mirage__verify_allowed(const MirageVerifyOptions *options);
/// The same piece by piece: EQUIVALENT or unchanged. Costs about as much as proving the whole. pieces.c
MirageStatus mirage__verify_pieces(const MirageUGraph *source, const MirageUGraph *target,
                                   const MirageVerifyOptions *options, MirageVerdict *verdict);
/// Multiplications (and other scalar operations) of one evaluation. work.c
double mirage__verify_work(const MirageUGraph *graph);

/// What digits shrink to in plain copies, at least.
typedef enum {
  SHRINK_SMALLEST, // 2, 3, 5, 7
  SHRINK_TILES,    // 16 and more, for tests of generated code: what the matrix instruction takes
} ShrinkSizes;

/// Plain copies of both graphs with the digits of their axes shrunk: for the numeric guard and tests of generated code;
/// equality of these proves nothing about the originals. MIRAGE_OK with both NULL when nothing can be shrunk; `reason`
/// (160 bytes) then says why. `follow`: in, whether constants that stem from extents shrink with them; out, whether
/// there were any. shrink.c
MirageStatus mirage__verify_shrink(const MirageUGraph *source, const MirageUGraph *target, ShrinkSizes sizes,
                                   bool *follow, MirageUGraph **out_source, MirageUGraph **out_target, char *reason);

#endif
