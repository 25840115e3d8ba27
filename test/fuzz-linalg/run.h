// run.h - functions of a module, and one run of one of them on random inputs.
#ifndef FUZZ_LINALG_RUN_H
#define FUZZ_LINALG_RUN_H

#include "interpret.h"

enum { MOST_TENSORS = 96, MOST_FUNCTIONS = 64, MOST_WORK = 4000000 };

typedef struct Run {
  bool ok, undefined, poison, swallowed;
  char reason[REASON];
  uint32_t count, num_results; // results, then what went out by calls
  Tensor *tensors[MOST_TENSORS];
} Run;

/// `seed` is of the noise. What comes out lives in the arena.
void run_function(MirageArena *arena, MlirOperation function, Tensor *const *inputs, Arithmetic arithmetic,
                  uint64_t seed, Run *run);
/// Random inputs for a function; false where a type is not known.
bool draw_inputs(MirageArena *arena, MlirOperation function, uint64_t seed, Tensor **inputs);
bool same_shape(const Tensor *a, const Tensor *b);

// Functions with bodies, those in modules inside as well.
typedef struct Functions {
  int count;
  MlirOperation ops[MOST_FUNCTIONS];
} Functions;
void list_functions(MlirModule module, Functions *out);

#endif
