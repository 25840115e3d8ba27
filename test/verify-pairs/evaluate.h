// evaluate.h - the judge's own evaluators of a program (program.h), at full size.
//
//   evaluate_double   doubles; `laws` may take away what is special about functions
//   evaluate_long     long doubles: where doubles see a difference, these say whether it is rounding
//   evaluate_quad     113 bits, where there are such numbers: where long doubles have lost all digits, too
//   evaluate_field    integers mod 2^61 - 1, for programs of + - * / only: exact, up to chance
#ifndef PAIRS_EVALUATE_H
#define PAIRS_EVALUATE_H

#include "program.h"

/// What a function keeps. Without a law, sqrt, log, erf and tanh (LAW_FUNCTIONS), exp (LAW_EXP) are other smooth
/// functions, and a maximum (LAW_MAX) is that of another order of the numbers.
enum {
  NO_LAW_FUNCTIONS = 1,
  NO_LAW_MAX = 2,
  NO_LAW_EXP = 4,
  NO_LAW_BITS = 3
}; // above the bits: the number of the order

typedef enum Outcome { EVALUATED, OUT_OF_MEMORY, RACE, NOT_STORED } Outcome;

/// A race leaves values: of each element those of the last block that stored it.
static inline bool has_values(Outcome outcome) { return outcome == EVALUATED || outcome == RACE; }

/// An element of a field that has no value: something divided by zero.
#define FIELD_UNDEFINED UINT64_MAX
#define FIELD_PRIME ((UINT64_C(1) << 61) - 1)

/// inputs[i] and outputs[o] are dense, row-major; inputs in the order of the INPUT instructions; outputs are the
/// caller's. race: unless NULL, the largest difference of what two blocks store in one place, 0 without one.
Outcome evaluate_double(const Program *p, int no_laws, const double *const *inputs, double *const *outputs,
                        double *race);
Outcome evaluate_long(const Program *p, int no_laws, const long double *const *inputs, long double *const *outputs,
                      double *race);
Outcome evaluate_quad(const Program *p, int no_laws, const long double *const *inputs, long double *const *outputs,
                      double *race);
Outcome evaluate_field(const Program *p, int no_laws, const uint64_t *const *inputs, uint64_t *const *outputs,
                       double *race);
/// Whether evaluate_quad is more than evaluate_long.
bool can_evaluate_quad(void);

/// The dyadic rational `value` in the field.
uint64_t field_constant(double value);

#endif
