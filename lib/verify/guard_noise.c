// guard_noise.c - the program as if each of its roundings were larger: what a candidate may lose where errors do not
// just add up.
//
// A candidate rounds elsewhere than the program does, so it is another throw of the same dice. Mostly that does not
// matter: the error of an output is a sum of many roundings, much the same for every throw. But where two scores of a
// saturated softmax nearly tie, either wins, and one throw of many has an error of 1 in that row: that the program's own
// throw has none is luck, which nobody owes a candidate. So the program is run with other throws.
//
// Domain:    what an operator rounds, by e, it rounds by `factor` times e here, to a random side. Exact results stay
//            exact, and what overflows does; no result changes its sign.
// Linear:    where errors just add up this is `factor` times the program's error, as the guard allows anyway.
// Source:    random rounding: Parker, Monte Carlo arithmetic (1997); Vignes, CESTAC.
#include "guard_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static GuardNoise *noise_of(const MirageDomain *self) { return (GuardNoise *)self; } // made here, and not const

// Room for the exact result, apart from operands and result, which may be one array.
static double *exact_of(const MirageDomain *self, size_t n) {
  GuardNoise *noise = noise_of(self);
  if (n > noise->capacity) {
    free(noise->exact);
    noise->exact = malloc(n * sizeof *noise->exact);
    noise->capacity = noise->exact ? n : 0;
  }
  return noise->exact;
}

// exact + factor (rounded - exact), or as far to the other side.
static void enlarge(const MirageDomain *self, size_t n, const double *exact, double *out) {
  GuardNoise *noise = noise_of(self);
  for (size_t i = 0; i < n; i++) {
    double error = out[i] - exact[i];
    if (error == 0 || !isfinite(error))
      continue;
    if (!noise->num_bits--) {
      noise->bits = mirage_random_next(&noise->random);
      noise->num_bits = 63;
    }
    double enlarged = exact[i] + (noise->bits & 1 ? noise->factor : -noise->factor) * error;
    noise->bits >>= 1;
    if (enlarged < 0 == exact[i] < 0)
      out[i] = enlarged;
  }
}

static MirageStatus noise_unary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                const void *a, void *out) {
  const MirageDomain *f64 = mirage_domain_f64(), *real = mirage_domain_real();
  double *exact = exact_of(self, n);
  if (!exact)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(f64->unary(f64, op, result, n, a, exact));
  MIRAGE_TRY(real->unary(real, op, result, n, a, out));
  enlarge(self, n, exact, out);
  return MIRAGE_OK;
}

static MirageStatus noise_binary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                 const void *a, const void *b, void *out) {
  const MirageDomain *f64 = mirage_domain_f64(), *real = mirage_domain_real();
  double *exact = exact_of(self, n);
  if (!exact)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(f64->binary(f64, op, result, n, a, b, exact));
  MIRAGE_TRY(real->binary(real, op, result, n, a, b, out));
  enlarge(self, n, exact, out);
  return MIRAGE_OK;
}

static MirageStatus noise_matmul(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                                 const void *a, const void *b, const void *c, void *out) {
  const MirageDomain *f64 = mirage_domain_f64(), *real = mirage_domain_real();
  double *exact = exact_of(self, m * n);
  if (!exact)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(f64->matmul(f64, result, m, n, k, a, b, c, exact));
  MIRAGE_TRY(real->matmul(real, result, m, n, k, a, b, c, out));
  enlarge(self, m * n, exact, out);
  return MIRAGE_OK;
}

static MirageStatus noise_reduce(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer,
                                 size_t n, size_t inner, const void *a, void *out) {
  const MirageDomain *f64 = mirage_domain_f64(), *real = mirage_domain_real();
  double *exact = exact_of(self, outer * inner);
  if (!exact)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(f64->reduce(f64, op, result, outer, n, inner, a, exact));
  MIRAGE_TRY(real->reduce(real, op, result, outer, n, inner, a, out));
  enlarge(self, outer * inner, exact, out);
  return MIRAGE_OK;
}

static MirageStatus noise_cast(const MirageDomain *self, const MirageType *result, size_t n, const void *a, void *out) {
  const MirageDomain *real = mirage_domain_real();
  double *exact = exact_of(self, n);
  if (!exact)
    return MIRAGE_NO_MEMORY;
  memcpy(exact, a, n * sizeof *exact);
  MIRAGE_TRY(real->cast(real, result, n, a, out));
  enlarge(self, n, exact, out);
  return MIRAGE_OK;
}

void mirage__guard_noise_init(GuardNoise *noise, uint64_t seed, uint64_t stream, double factor) {
  *noise = (GuardNoise){.domain = *mirage_domain_real(), .factor = factor};
  noise->domain.name = "noise";
  noise->domain.unary = noise_unary;
  noise->domain.binary = noise_binary;
  noise->domain.matmul = noise_matmul;
  noise->domain.reduce = noise_reduce;
  noise->domain.cast = noise_cast;
  mirage_random_init(&noise->random, seed, stream);
}

void mirage__guard_noise_deinit(GuardNoise *noise) { free(noise->exact); }
