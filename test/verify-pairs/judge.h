// judge.h - whether two programs compute the same: by evaluating both, at full size, with evaluators of its own.
#ifndef PAIRS_JUDGE_H
#define PAIRS_JUDGE_H

#include "draw.h"
#include "evaluate.h"

typedef enum Judgement { JUDGED_SAME, JUDGED_DIFFERENT, JUDGED_UNDECIDED, JUDGED_NO_SOURCE, NUM_JUDGEMENTS } Judgement;

typedef struct Finding {
  Judgement kind;
  const char *why; // static text: "values", "undefined", "race", "not stored", "precision"
  bool exact;      // from the field
  int output;      // where
  int64_t index;
  double distance; // the largest relative difference seen
} Finding;

/// Judges a pair whose inputs and outputs pair up.
///
/// Rational programs: two random points of the field with 2^61 - 1 elements.
/// Others:  four draws of real inputs in doubles, more where they are small or a maximum chooses, some of these far
/// out.
///          A difference above 1e-9 is looked at again in long doubles, and is one when it does not shrink; where a
///          value has no digits left in these, in quads.
/// no_laws: see evaluate.h; not 0 only for others than rational ones.
Finding judge_pair(const Program *source, const Program *target, uint64_t seed, int no_laws);

/// Inputs of a draw as the judge makes them, in order; the caller frees each. NULL when memory is out.
double **draw_inputs(const Program *p, uint64_t seed, int draw, int *out_count);
void free_inputs(double **inputs, int count);

#endif
