// guard.h - the numeric guard: what a candidate loses to rounding, beside what its program loses.
//
// A proof speaks of real numbers; a candidate that is equal there may still overflow, cancel or round away what the
// program keeps. So both also run in their own element types, and are compared with float64.
#ifndef MIRAGE_GUARD_H
#define MIRAGE_GUARD_H

#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageGuardOptions {
  uint64_t seed;
  double factor;     // a candidate may be worse by this; 0 = 2
  uint64_t max_work; // operations that one evaluation of both may cost; larger pairs are shrunk; 0 = 2e5
  bool followed;     // MirageVerdict's: on which kind of shrunken instance the pair was shown equivalent
} MirageGuardOptions;

/// How inputs are drawn. All are rounded to their element type, so that they are the same numbers for everybody.
typedef enum MirageGuardScale {
  MIRAGE_GUARD_UNIT,     // normal(0, 1), halved until no intermediate value exceeds 2^14
  MIRAGE_GUARD_SMALL,    // 2^-6 of that, or less far down where the outputs would be below 2^-6
  MIRAGE_GUARD_LOGITS,   // scaled until the arguments of exponentials reach about 60; only where there are any
  MIRAGE_GUARD_CONSTANT, // rows of a constant in [1, 2), give or take a few units in its last place: norms
  MIRAGE_GUARD_NUM_SCALES
} MirageGuardScale;

/// "unit", "small", "logits", "near-constant rows".
const char *mirage_guard_scale_name(MirageGuardScale scale);

/// Errors at one scale: of one draw, or the median of three where the first leaves doubt; of the output that is worst
/// for the candidate. Frobenius norm over that of the reference, and largest absolute error, over the elements where
/// reference and program are finite.
typedef struct MirageGuardErrors {
  bool measured; // some such element exists
  double program_relative, candidate_relative;
  double program_max, candidate_max;
  uint32_t output;
  bool not_finite; // the candidate has inf or NaN at one of these elements
} MirageGuardErrors;

typedef struct MirageGuardReport {
  bool passed;
  MirageGuard guard;      // for the candidate's graph meta: the errors at `worst`; present if any scale was measured
  MirageGuardScale worst; // scale at which the candidate does worst
  MirageGuardErrors errors[MIRAGE_GUARD_NUM_SCALES];
  char reason[200]; // why it did not pass; or why nothing was measured
} MirageGuardReport;

/// Measures. A candidate passes unless it is worse than the program at some scale: by more than `factor` plus half a
/// unit roundoff of the output's type in relative error, or by an inf or NaN where the program has none.
///
/// Shapes:  inputs and outputs pair up (as mirage_verify has checked).
/// Passed:  also when nothing could be measured (guard.present is false): the pair is too large even when shrunken.
/// Errors:  NO_MEMORY; UNSUPPORTED and the like from evaluation are a reason not to pass.
/// Threads: safe on graphs that nobody is building.
MirageStatus mirage_guard(const MirageUGraph *program, const MirageUGraph *candidate, const MirageGuardOptions *options,
                          const MirageDiag *diag, MirageGuardReport *out_report);

#ifdef __cplusplus
}
#endif
#endif
