// benchmarks.h - the benchmark set as pairs, a program and a µGraph for it, at any extents: what the statistics of the
// verifier are taken over.
#ifndef MIRAGE_TEST_BENCHMARKS_H
#define MIRAGE_TEST_BENCHMARKS_H

#include "mirage/ugraph.h"

/// Extents and splits of one instance. What each letter means for a pair is said in benchmarks.c; 0 = not used.
typedef struct Extents {
  int64_t m, k, n;     // rows, contraction, columns; attention: query rows, -, keys
  int64_t rank, heads; // LoRA's rank or the depth of a head; heads
  int64_t grid, split; // blocks of the grid along x, and along the axis that splits a reduction
  int64_t loop;        // iterations
} Extents;

typedef struct Benchmark {
  const char *name;
  MirageUGraph *(*program)(Extents e, const MirageDiag *diag);
  MirageUGraph *(*candidate)(Extents e, const MirageDiag *diag);
  bool ragged;    // right at extents that the splits do not divide (zero is neutral for a sum, not for an exponential)
  Extents decode; // the workload at full size, as a decoder runs it
} Benchmark;

extern const Benchmark BENCHMARKS[];
extern const uint32_t NUM_BENCHMARKS;

/// A program with masks, whose µGraphs the search finds. masked.c
typedef struct MaskedProgram {
  const char *name;
  MirageUGraph *(*program)(Extents e, const MirageDiag *diag);
} MaskedProgram;

extern const MaskedProgram MASKED_PROGRAMS[];
extern const uint32_t NUM_MASKED_PROGRAMS;

#endif
