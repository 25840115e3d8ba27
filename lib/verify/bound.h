// bound.h - what bound.c finds out of a graph, for chance.c.
#ifndef MIRAGE_VERIFY_BOUND_H
#define MIRAGE_VERIFY_BOUND_H

#include "abstract.h"
#include "cone.h"
#include "shrink.h"

/// One walk over a graph: bounds of its values, and of what the theorem asks for beside them.
typedef struct BoundWalk {
  const MirageUGraph *graph;
  Abstract *values;  // [num_values + 1]
  Calls *sites;      // [num_values + 1]: calls for each element
  Calls visit;       // of the node being visited
  bool *stored;      // custom outputs: some store has been seen
  uint32_t depth;    // enclosing loops
  Abstract argument; // join of all arguments of random functions
  bool has_argument;
  Abstract divisor; // join of all that is divided by, or taken the logarithm of
  bool has_divisor;
  bool free_exp; // exponentials are random functions, but for exp(x - m) = exp(x) / exp(m) with a maximum m
  bool has_maximum;
  uint32_t before[ABSTRACT_MAX_WEIGHTS]; // bit c: the transfer along this axis has to come before that along axis c
  VerifyBound *bound;
} BoundWalk;

/// Fields of full size. chance.c
extern const VerifyFields MIRAGE_VERIFY_FULL_SIZE;
/// Fills in what follows from both graphs' walks: the bound of a trial and what it is made of, the points of each axis.
MirageStatus mirage__verify_chance(const VerifyFields *fields, const VerifyWeights *weights, const BoundWalk walks[2],
                                   VerifyBound *bound);

#endif
