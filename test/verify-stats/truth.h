// truth.h - whether two graphs compute the same function, by float64 on instances that have nothing to do with the
// verifier's random points.
#ifndef MIRAGE_TEST_TRUTH_H
#define MIRAGE_TEST_TRUTH_H

#include "mirage/eval.h"

typedef enum {
  TRUTH_SAME,      // relative difference below 1e-9 at every draw
  TRUTH_DIFFERENT, // above 1e-6 at some draw
  TRUTH_UNCLEAR,   // between the two
  TRUTH_UNDEFINED, // no output element is finite in both at any draw
  TRUTH_NO_VALUE,  // evaluation refuses the second graph: a race, an output that is not fully stored
} Truth;

/// What was seen, for the report.
typedef struct TruthReport {
  Truth truth;
  double relative;   // largest relative difference
  bool less_defined; // some element is finite in `a` and not in `b`
} TruthReport;

/// Graphs must have equal signatures. False when memory is out.
bool truth_decide(const MirageUGraph *a, const MirageUGraph *b, uint64_t seed, TruthReport *out_report);

/// Elements are long doubles. extended.c
const MirageDomain *truth_extended_domain(void);
void truth_put_extended(void *out, size_t i, long double value);

#endif
