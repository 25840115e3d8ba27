// domain_real.c - the program in its own element types: every operator rounds its result, as a kernel that stores it
// would.
//
// An operator computes in double and rounds once to its result's type; matrix products and sums accumulate in float, in
// index order, as the hardware does up to its own order. Elements are doubles that hold values of their type exactly.
#include "domain_internal.h"

#include <math.h>
#include <string.h>

static MirageStatus real_unary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n, const void *a,
                               void *out) {
  MIRAGE_TRY(mirage__eval_real_unary(op, n, a, out));
  mirage_round_array(result->dtype, n, out);
  return MIRAGE_OK;
}

static MirageStatus real_binary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n,
                                const void *a, const void *b, void *out) {
  MIRAGE_TRY(mirage__eval_real_binary(op, n, a, b, out));
  mirage_round_array(result->dtype, n, out);
  return MIRAGE_OK;
}

enum { ROWS = 4, COLUMNS = 256 };

// acc[rows][columns] = a[rows, k] @ b[k, columns] in float.
static void matmul_panel(size_t rows, size_t columns, size_t n, size_t k, const double *a, const double *b,
                         float acc[ROWS][COLUMNS]) {
  float b_row[COLUMNS];
  for (size_t r = 0; r < rows; r++)
    memset(acc[r], 0, columns * sizeof(float));
  for (size_t p = 0; p < k; p++) {
    for (size_t j = 0; j < columns; j++)
      b_row[j] = (float)b[p * n + j];
    for (size_t r = 0; r < rows; r++) {
      float scale = (float)a[r * k + p], *restrict row = acc[r];
      for (size_t j = 0; j < columns; j++)
        row[j] += scale * b_row[j];
    }
  }
}

// Sums of integers are exact: a double holds all that a contraction of bytes can come to.
static MirageStatus integer_matmul(size_t m, size_t n, size_t k, const double *a, const double *b, const double *c,
                                   double *out) {
  for (size_t i = 0; i < m; i++) {
    double *row = out + i * n;
    for (size_t j = 0; j < n; j++)
      row[j] = c ? c[i * n + j] : 0;
    for (size_t p = 0; p < k; p++)
      for (size_t j = 0; j < n; j++)
        row[j] += a[i * k + p] * b[p * n + j];
  }
  mirage_round_array(MIRAGE_I32, m * n, out);
  return MIRAGE_OK;
}

static MirageStatus real_matmul(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                                const void *a, const void *b, const void *c, void *out) {
  const double *left = a, *right = b, *plus = c;
  double *y = out;
  if (result->dtype == MIRAGE_I32)
    return integer_matmul(m, n, k, left, right, plus, out);
  float acc[ROWS][COLUMNS];
  for (size_t j = 0; j < n; j += COLUMNS)
    for (size_t i = 0; i < m; i += ROWS) {
      size_t rows = m - i < ROWS ? m - i : ROWS, columns = n - j < COLUMNS ? n - j : COLUMNS;
      matmul_panel(rows, columns, n, k, left + i * k, right + j, acc);
      for (size_t r = 0; r < rows; r++)
        for (size_t s = 0; s < columns; s++) {
          size_t at = (i + r) * n + j + s;
          y[at] = plus ? acc[r][s] + (float)plus[at] : acc[r][s];
        }
    }
  mirage_round_array(result->dtype, m * n, y);
  return MIRAGE_OK;
}

// sums[outer, inner] of a[outer, n, inner], in float.
static void sum_middle(size_t outer, size_t n, size_t inner, const double *a, double *sums) {
  for (size_t o = 0; o < outer; o++) {
    memmove(sums + o * inner, a + o * n * inner, inner * sizeof *sums);
    for (size_t j = 1; j < n; j++)
      for (size_t i = 0; i < inner; i++)
        sums[o * inner + i] = (float)sums[o * inner + i] + (float)a[(o * n + j) * inner + i];
  }
}

static MirageStatus real_reduce(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer, size_t n,
                                size_t inner, const void *a, void *out) {
  const double *in = a;
  double *sums = out;
  if (op == MIRAGE_OP_REDUCE_MAX)
    return mirage__eval_real_reduce_max(outer, n, inner, in, sums);
  if (op != MIRAGE_OP_REDUCE_SUM)
    return MIRAGE_UNSUPPORTED;
  if (inner == 1 && n > 1) // what nothing is added to stays a double
    MIRAGE_FOLD_ROWS(float, outer, n, in, sums, sum + next);
  else
    sum_middle(outer, n, inner, in, sums);
  mirage_round_array(result->dtype, outer * inner, sums);
  return MIRAGE_OK;
}

static MirageStatus real_constant(const MirageDomain *self, const MirageType *result, size_t n, double value,
                                  void *out) {
  mirage__eval_real_fill(n, mirage_round_to(result->dtype, value), out);
  return MIRAGE_OK;
}

static MirageStatus real_bottom(const MirageDomain *self, size_t n, void *out) {
  mirage__eval_real_fill(n, -INFINITY, out);
  return MIRAGE_OK;
}

static MirageStatus real_cast(const MirageDomain *self, const MirageType *result, size_t n, const void *a, void *out) {
  memmove(out, a, n * sizeof(double));
  mirage_round_array(result->dtype, n, out);
  return MIRAGE_OK;
}

const MirageDomain *mirage_domain_real(void) {
  static const MirageDomain domain = {.name = "real",
                                      .element_bytes = sizeof(double),
                                      .unary = real_unary,
                                      .binary = real_binary,
                                      .matmul = real_matmul,
                                      .reduce = real_reduce,
                                      .constant = real_constant,
                                      .bottom = real_bottom,
                                      .cast = real_cast};
  return &domain;
}
