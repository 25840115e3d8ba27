// domain_internal.h - what the two domains of doubles share. domain_f64.c says what each operator means.
#ifndef MIRAGE_DOMAIN_INTERNAL_H
#define MIRAGE_DOMAIN_INTERNAL_H

#include "mirage/eval.h"

// Exact-as-doubles-go versions of the domain functions, without rounding to an element type.
MirageStatus mirage__eval_real_unary(MirageOp op, size_t n, const double *a, double *out);
MirageStatus mirage__eval_real_binary(MirageOp op, size_t n, const double *a, const double *b, double *out);
MirageStatus mirage__eval_real_reduce_max(size_t outer, size_t n, size_t inner, const double *a, double *out);
void mirage__eval_real_fill(size_t n, double value, double *out);
/// out[rows] = a[rows, n] folded along the rows in an accumulator of this type: `step` makes a new `sum` of `sum` and `next`. Several
/// rows at once, each in its order: none waits for another's step.
#define MIRAGE_FOLD_ROWS(Type, rows, n, a, out, step)                                                                  \
  do {                                                                                                                 \
    enum { ABREAST = 8 };                                                                                              \
    for (size_t o_ = 0; o_ < (rows); o_ += ABREAST) {                                                                  \
      Type sums_[ABREAST];                                                                                             \
      const double *at_[ABREAST]; /* of the last row again, where there are fewer */                                   \
      for (size_t r_ = 0; r_ < ABREAST; r_++) {                                                                        \
        at_[r_] = (a) + (o_ + r_ < (rows) ? o_ + r_ : (rows) - 1) * (n);                                               \
        sums_[r_] = (Type)at_[r_][0];                                                                                  \
      }                                                                                                                \
      for (size_t j_ = 1; j_ < (n); j_++)                                                                              \
        for (size_t r_ = 0; r_ < ABREAST; r_++) {                                                                      \
          Type sum = sums_[r_], next = (Type)at_[r_][j_];                                                              \
          sums_[r_] = (step);                                                                                          \
        }                                                                                                              \
      for (size_t r_ = 0; r_ < ABREAST && o_ + r_ < (rows); r_++)                                                      \
        (out)[o_ + r_] = (double)sums_[r_];                                                                            \
    }                                                                                                                  \
  } while (0)

#endif
