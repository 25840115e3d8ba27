// cone.h - how many calls of random functions one element of an output depends on. cone.c
#ifndef MIRAGE_VERIFY_CONE_H
#define MIRAGE_VERIFY_CONE_H

#include "mirage/ugraph.h"

/// What is counted apart: arguments of different functions may have one residue.
typedef enum {
  CALL_EXP,
  CALL_SQRT,
  CALL_LOG,
  CALL_ERF,
  CALL_TANH,
  CALL_SIN,
  CALL_COS,
  CALL_COMPARE,  // of values: of known indices it is no call
  CALL_MEMBER,   // of a set under max
  CALL_MAXIMUM,  // a set under max
  CALL_DIVISION, // or a logarithm: what must not be zero
  NUM_CALLS,
} CallKind;

/// Calls by kind, of each element of a value or of something else.
typedef struct Calls {
  double of[NUM_CALLS];
} Calls;

/// The calls that one element of an output depends on, at most.
///
/// sites:  [num_values + 1], the calls that each element of a value adds to those of its operands; a carry's argument
///         stands for what combines contributions.
/// Errors: NO_MEMORY.
MirageStatus mirage__verify_cone(const MirageUGraph *graph, const Calls *sites, uint32_t output, Calls *out_calls);
/// The calls of the whole graph. Errors: NO_MEMORY.
MirageStatus mirage__verify_all_calls(const MirageUGraph *graph, const Calls *sites, Calls *out_calls);

#endif
