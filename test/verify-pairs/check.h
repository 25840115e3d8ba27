// check.h - one pair: made, judged, given to mirage_verify, compared.
#ifndef PAIRS_CHECK_H
#define PAIRS_CHECK_H

#include "generate.h"
#include "judge.h"
#include "mirage/verify.h"

/// How the verifier is asked: with the work that mirage-verify allows, and with so little that it may not evaluate at
/// full size unless that costs nothing.
typedef enum Mode { MODE_DEFAULT, MODE_SMALL, NUM_MODES } Mode;

typedef enum Class {
  ACCEPTED_RIGHT,
  REFUSED_WRONG,
  FALSE_ACCEPT,
  FALSE_REJECT,
  UNDECIDED, // by the judge
  FAILED,    // mirage_verify reported an error
  NUM_CLASSES
} Class;

typedef struct Record {
  Finding judged;
  Class class[NUM_MODES];
  char cause[NUM_MODES][112]; // of a false reject
  bool shrunken[NUM_MODES];
  char family[16], story[200];
  int refused, undefined; // pairs thrown away before this one: by the builder, for a source without values
  float judge_ms, verify_ms[NUM_MODES];
} Record;

typedef struct CheckOptions {
  uint64_t seed;
  double max_work; // of MODE_DEFAULT; 0: 2e6, as mirage-verify has it
  int judge_only;
  int believe; // take every pair for accepted: shows that a false accept would be noticed
} CheckOptions;

extern const char *const MODE_NAMES[NUM_MODES], *const CLASS_NAMES[NUM_CLASSES];

/// Makes pair `number` and leaves it in `pair`; fills `record`, the same for the same seed and number.
void check_pair(const CheckOptions *options, uint64_t number, Pair *pair, Record *record);

/// Compares the judge's values with those of mirage_eval in doubles, for both graphs of pair `number`. Returns the
/// number of disagreements, each written to `to`.
int cross_check(const CheckOptions *options, uint64_t number, Pair *pair, FILE *to);

/// Element type of the pair's tensors: f16 where every constant is exact in it, for some pairs of kernel-level
/// operators.
MirageDType dtype_of_pair(const Pair *pair, uint64_t number);

/// Prints both programs.
void print_pair(const Pair *pair, uint64_t number, FILE *to);

#endif
