// small_programs.h - programs of a few operators at extents that brute force can afford.
#ifndef MIRAGE_TEST_SMALL_PROGRAMS_H
#define MIRAGE_TEST_SMALL_PROGRAMS_H

#include "mirage/ugraph.h"

typedef struct SmallProgram {
  const char *name;
  MirageUGraph *(*build)(const char *name);
  uint32_t operators;      // that a short run affords; 0 = none are enough
  uint32_t most_operators; // that a long run affords
} SmallProgram;

extern const SmallProgram SMALL_PROGRAMS[];
extern const uint32_t NUM_SMALL_PROGRAMS;

/// A random program of `operators` operators that uses all of its inputs and values. NULL when the draw does not fit
/// together: draw another number.
MirageUGraph *random_small_program(uint64_t seed, uint64_t number, uint32_t operators);

#endif
