// guard.h - the numeric guard: what a candidate loses to rounding, beside what its program loses.
//
// A proof speaks of real numbers; a candidate that is equal there may still overflow, cancel or round away what the
// program keeps. So both also run in their own element types, and are compared with float64.
#ifndef MIRAGE_GUARD_H
#define MIRAGE_GUARD_H

#include "mirage/cancel.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageGuardOptions {
  uint64_t seed;
  double factor;     // a candidate may be worse by this: as if the program's roundings were so much larger; 0 = 2
  uint64_t max_work; // operations that one evaluation of both may cost; larger pairs are sampled; 0 = 2e6
  const MirageCancel *cancel; // asked between evaluations, of some 10 ms by default; NULL = nobody
} MirageGuardOptions;

/// How inputs are drawn. All are rounded to their element type, so that they are the same numbers for everybody.
///
/// The last four go as far as the program stands: where its own values, in its own types, are finite and have about the
/// accuracy that they have at the unit scale.
typedef enum MirageGuardScale {
  MIRAGE_GUARD_UNIT,      // normal(0, 1), halved until no intermediate value of the program exceeds 2^14
  MIRAGE_GUARD_SMALL,     // 2^-6 of that, or less far down where the outputs would be below 2^-6
  MIRAGE_GUARD_LOGITS,    // scaled until the program's exponents reach about 60; only where there are any
  MIRAGE_GUARD_CONSTANT,  // rows of a constant in [1, 2), give or take a few units in its last place: norms
  MIRAGE_GUARD_SAME_SIGN, // as unit, but none negative: sums grow like their lengths
  MIRAGE_GUARD_EXPONENTS, // scaled until exponents of the candidate reach about 150: beyond the end of f32, of either
                          // sign
  MIRAGE_GUARD_LARGE,     // all inputs as large as the program stands, less one bit; of both signs, and of one
  MIRAGE_GUARD_ONE_LARGE, // one input after the other, the others as unit
  MIRAGE_GUARD_ONE_SMALL, // one input after the other at 2^-8 of unit
  MIRAGE_GUARD_NUM_SCALES
} MirageGuardScale;

/// "unit", "small", "logits", "near-constant rows", ...
const char *mirage_guard_scale_name(MirageGuardScale scale);

/// What the pair was measured on. Sums have the size that they have in the pair itself on each of them.
typedef enum MirageGuardInstance {
  MIRAGE_GUARD_FULL,     // the pair itself
  MIRAGE_GUARD_SAMPLED,  // fewer rows, columns, heads - nothing that is summed: a sample of the outputs
  MIRAGE_GUARD_REPEATED, // and inputs that repeat along axes that are summed
} MirageGuardInstance;

/// "in full", "on a sample of the outputs", "on a sample of the outputs, for inputs that repeat".
const char *mirage_guard_instance_name(MirageGuardInstance instance);

/// Errors at one scale: of one draw, or the middle one of several where the first leaves doubt; of the output (and the
/// input that is large or small) worst for the candidate. Frobenius norm over that of the reference, and largest
/// absolute error.
typedef struct MirageGuardErrors {
  bool measured; // the program stands there
  double program_relative, candidate_relative;
  double program_enlarged; // the program's with roundings `factor` times as large, the worst; 0 = not asked for
  double program_max, candidate_max;
  uint32_t output;
  uint32_t input;   // ONE_LARGE, ONE_SMALL: which
  int32_t exponent; // LARGE, ONE_LARGE, ONE_SMALL: inputs, or that one, at 2^exponent times the unit scale
  bool same_sign;   // LARGE, ONE_LARGE: inputs, or that one, are not negative
  bool not_finite;  // the candidate has inf or NaN
} MirageGuardErrors;

typedef struct MirageGuardReport {
  bool passed;
  MirageGuard guard;      // for the candidate's graph meta: the errors at `worst`; present if any scale was measured
  MirageGuardScale worst; // scale at which the candidate does worst
  MirageGuardInstance instance;
  MirageGuardErrors errors[MIRAGE_GUARD_NUM_SCALES];
  char reason[200]; // why it did not pass; or, if it passed, what could not be measured since the program has no value
} MirageGuardReport;

/// Measures. A candidate passes unless it is worse than the program at some scale: by an inf or NaN where the program
/// has none, or, in most of up to 11 draws, by more than half a unit roundoff of the output's type beside `factor` times
/// the program's relative error, or its error with roundings `factor` times as large.
///
/// Shapes:  inputs and outputs pair up (as mirage_verify has checked).
/// Passed:  an output that the program itself gives as inf or NaN at every scale is not measured, and `reason` says so:
///          the program's own lowering has the same gap. A pair that is too large even when sampled does not pass.
/// Errors:  NO_MEMORY; CANCELLED, with nothing decided; UNSUPPORTED and the like from evaluation are a reason not to
///          pass.
/// Draws:   mirage_random_purpose(seed, "guard").
/// Threads: safe on graphs that nobody is building.
MirageStatus mirage_guard(const MirageUGraph *program, const MirageUGraph *candidate, const MirageGuardOptions *options,
                          const MirageDiag *diag, MirageGuardReport *out_report);

#ifdef __cplusplus
}
#endif
#endif
