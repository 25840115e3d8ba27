// generate.h - random modules of linalg on tensors, as text.
#ifndef FUZZ_LINALG_GENERATE_H
#define FUZZ_LINALG_GENERATE_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>

/// Extents that a type leaves open, `?`, are all of this size when a function is called from outside.
enum { OPEN_EXTENT = 3 };

typedef struct GenerateOptions {
  bool stock; // only what MLIR's own lowering runs: f32 and f64, functions that are there
} GenerateOptions;

/// Appends module `number` of `seed`. The same arguments give the same text.
void generate_module(uint64_t seed, uint64_t number, const GenerateOptions *options, Text *out);

#endif
