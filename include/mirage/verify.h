// verify.h - decides, with a computed error bound, whether two graphs compute the same outputs. [Mirage 5]
// The theorem and its assumptions: lib/verify/README.md.
#ifndef MIRAGE_VERIFY_H
#define MIRAGE_VERIFY_H

#include "mirage/cancel.h"
#include "mirage/eval.h"
#include "mirage/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a proof is: in trial `trial` of `trials`, of piece `piece` of at most `pieces`; both count from 1, and pieces = 0
/// while the pair is proven as a whole.
typedef struct MirageVerifyProgress {
  uint32_t piece, pieces, trial, trials;
} MirageVerifyProgress;

typedef struct MirageVerifyOptions {
  uint64_t seed;
  uint32_t trials;      // 0 = as many as the bound asks for
  uint32_t first_trial; // number of the first; each number has a random point of its own
  double log2_bound;    // stop when the proven bound is at most 2^this; 0 = -60
  uint64_t max_work;    // multiplications (2.5 ns; lib/verify/work.c) that full-size evaluation may cost in one trial;
                        // larger pairs are proven by transfer from a smaller instance; 0 = 2e8
  bool full_size; // at full size only: a pair whose trials together cost more than max_work is UNSUPPORTED, unless
                  // one trial, where that is within max_work, shows a difference
  bool free_exp;  // by the theorem of free exponentials only, for tests; else by whichever gives a bound
  uint32_t num_threads;       // of evaluations; 0 = 1; the verdict does not depend on it
  MirageEvalMemory *memory;   // of evaluations, of other pairs' too; NULL = this pair's own
  const MirageCancel *cancel; // asked in evaluations, many times a second; NULL = nobody
  void (*progress)(void *user, const MirageVerifyProgress *at); // called before each trial; NULL = nobody looks
  void *user;
} MirageVerifyOptions;

typedef enum { MIRAGE_VERDICT_EQUIVALENT, MIRAGE_VERDICT_DIFFERENT, MIRAGE_VERDICT_UNSUPPORTED } MirageVerdictKind;

typedef struct MirageVerdict {
  MirageVerdictKind kind;
  MirageProof proof; // EQUIVALENT
  // DIFFERENT: the witness, on a smaller instance when proof.shrunken
  bool undefined; // the candidate divides by zero there, at any point, where the program has a value
  uint64_t seed;
  uint32_t trial; // options {seed, first_trial = trial, trials = 1} find it again
  uint32_t draw;  // mirage_field_create(mirage_random_purpose(seed, "verify"), draw) gives the point back
  uint32_t output;
  uint64_t index;                      // row-major index into that output
  uint64_t source_value, target_value; // residues mod p
  // UNSUPPORTED
  bool agreed; // what was evaluated agrees, or nothing was: only a useful bound is missing, or the work is not allowed
  char reason[160];
  const void *loc;
} MirageVerdict;

/// Shapes:  inputs pair up by position with equal types; so do outputs.
/// Owns:    borrows everything.
/// Errors:  BAD_SHAPE if inputs or outputs do not pair up; NO_MEMORY; CANCELLED. "Different" and "unsupported" are verdicts.
/// Threads: safe on graphs that nobody is building.
MirageStatus mirage_verify(const MirageUGraph *source, const MirageUGraph *target, const MirageVerifyOptions *options,
                           const MirageDiag *diag, MirageVerdict *out_verdict);

/// The bound that the trials of `proof` give on this pair, at full size or by transfer as the proof says, without running
/// any (unless it is one of pieces, which are proven again): log2, at most 0; 0 when they show nothing or the theorem of
/// transfer does not hold. So that a proof read from text can be held to what it claims.
///
/// Errors:  as mirage_verify.
MirageStatus mirage_verify_claim(const MirageUGraph *source, const MirageUGraph *target, const MirageProof *proof,
                                 const MirageDiag *diag, double *out_log2_bound);
/// The same, ended by `cancel`: a claim in pieces is proven again. Errors: CANCELLED.
MirageStatus mirage_verify_claim_until(const MirageUGraph *source, const MirageUGraph *target, const MirageProof *proof,
                                       const MirageCancel *cancel, const MirageDiag *diag, double *out_log2_bound);

#ifdef __cplusplus
}
#endif
#endif
