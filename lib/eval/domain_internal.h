// domain_internal.h - what the two domains of doubles share. domain_f64.c says what each operator means.
#ifndef MIRAGE_DOMAIN_INTERNAL_H
#define MIRAGE_DOMAIN_INTERNAL_H

#include "mirage/eval.h"

// Exact-as-doubles-go versions of the domain functions, without rounding to an element type.
MirageStatus mirage__eval_real_unary(MirageOp op, size_t n, const double *a, double *out);
MirageStatus mirage__eval_real_binary(MirageOp op, size_t n, const double *a, const double *b, double *out);
MirageStatus mirage__eval_real_reduce_max(size_t outer, size_t n, size_t inner, const double *a, double *out);
void mirage__eval_real_fill(size_t n, double value, double *out);
/// Rounds an array in place.
void mirage__eval_round_array(MirageDType dtype, size_t n, double *values);

#endif
