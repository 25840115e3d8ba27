// field.h - random points of finite fields, at which a µGraph is evaluated. lib/field/README.md
#ifndef MIRAGE_FIELD_H
#define MIRAGE_FIELD_H

#include "mirage/cancel.h"
#include "mirage/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One random evaluation point: fresh primes and root of unity for (seed, trial), and a domain on their residues.
/// Element: MirageResidue. The domain implements every operator by its field rule; sqrt, erf, ... are seeded random
/// functions, a maximum is a seeded random function of the set of its arguments.
/// Threads: one evaluation at a time per field (it remembers its maxima).
typedef struct MirageResidue {
  uint64_t p;        // value mod p, < p
  uint32_t q;        // value mod q, < q; meaningful unless `after_exp`
  uint8_t after_exp; // 1: no residue mod q exists (an exponential lies on the path)
  uint8_t bottom;    // 1: below every number
  uint8_t undefined; // MirageUndefined: no value at all, in partial fields
  uint8_t role;      // a known index, or what free exponentials ask for: lib/field/domain_field.c; 0 otherwise
} MirageResidue;     // no padding: equal values have equal bytes
typedef enum {
  MIRAGE_DEFINED,
  MIRAGE_UNDEFINED_QUOTIENT, // by zero: another draw may define it
  MIRAGE_UNDEFINED_RULE,     // an operator on bottom that has no rule for it
} MirageUndefined;
typedef struct MirageField MirageField;
MirageField *mirage_field_create(uint64_t seed, uint32_t trial);
/// A field in which evaluation goes on where the plain one stops.
///
/// partial:  what divides by zero, or has no rule, gives undefined elements; so does every operator on them.
/// free_exp: exp is a random function too, of which only exp(x - m) = exp(x) / exp(m) for a maximum m is known. There
///           are no residues mod q then.
typedef struct MirageFieldModes {
  bool partial, free_exp;
} MirageFieldModes;
MirageField *mirage_field_create_with(uint64_t seed, uint32_t trial, MirageFieldModes modes);
void mirage_field_destroy(MirageField *field);
const MirageDomain *mirage_field_domain(const MirageField *field);
/// The prime of exponents, q.
uint64_t mirage_field_exponent_prime(const MirageField *field);
/// Fills an input tensor with uniform residues; `input` is its position, so that both graphs of a pair see the same.
void mirage_field_draw(const MirageField *field, uint32_t input, size_t n, MirageResidue *out);
/// The same, ended by `cancel`, since a matrix of 8192 x 8192 takes a second. Errors: CANCELLED; `out` is filled in part.
MirageStatus mirage_field_draw_until(const MirageField *field, uint32_t input, size_t n, const MirageCancel *cancel,
                                     MirageResidue *out);

/// An input of any element type: uniform residues, or predicates, each 0 or 1 with equal probability. Errors: CANCELLED.
MirageStatus mirage_field_draw_input(const MirageField *field, uint32_t input, const MirageType *type,
                                     const MirageCancel *cancel, MirageResidue *out);

#ifdef __cplusplus
}
#endif
#endif
