// domain_f64.c - the meaning of a program in the real numbers, as closely as doubles go. Element types are ignored.
//
// Bottom, the value below every number, is minus infinity: never selected by a maximum, exp(bottom) = 0. The one rule
// that departs from IEEE is bottom - x = bottom for every x, bottom included (IEEE has -inf - -inf = NaN): the factor
// exp(m_old - m_new) of an online softmax is then 0 while nothing has been seen, which is what rescaling needs. The
// finite-field domain has the same rule, and generated code has to keep it.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "domain_internal.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
static double gelu(double x) { return 0.5 * x * (1.0 + erf(x * 0.70710678118654752440)); }
static double gelu_tanh(double x) {
  return 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static const double LEAST_EXPONENT = -746; // below which an exponential is 0: the library takes long to say so

#define MAP(expression)                                                                                                \
  for (size_t i = 0; i < n; i++) {                                                                                     \
    double x = a[i];                                                                                                   \
    out[i] = (expression);                                                                                             \
  }                                                                                                                    \
  return MIRAGE_OK

MirageStatus mirage__eval_real_unary(MirageOp op, size_t n, const double *a, double *out) {
  switch (op) {
  case MIRAGE_OP_EXP:
    MAP(x < LEAST_EXPONENT ? 0.0 : exp(x));
  case MIRAGE_OP_LOG:
    MAP(log(x));
  case MIRAGE_OP_SQRT:
    MAP(sqrt(x));
  case MIRAGE_OP_RSQRT:
    MAP(1.0 / sqrt(x));
  case MIRAGE_OP_SQUARE:
    MAP(x * x);
  case MIRAGE_OP_NEG:
    MAP(-x);
  case MIRAGE_OP_SIGMOID:
    MAP(sigmoid(x));
  case MIRAGE_OP_SILU:
    MAP(x * sigmoid(x));
  case MIRAGE_OP_GELU:
    MAP(gelu(x));
  case MIRAGE_OP_GELU_TANH:
    MAP(gelu_tanh(x));
  case MIRAGE_OP_ERF:
    MAP(erf(x));
  case MIRAGE_OP_TANH:
    MAP(tanh(x));
  case MIRAGE_OP_SIN:
    MAP(sin(x));
  case MIRAGE_OP_COS:
    MAP(cos(x));
  case MIRAGE_OP_RELU:
    MAP(x < 0.0 ? 0.0 : x); // keeps NaN
  case MIRAGE_OP_NOT:
    MAP(x == 0.0);
  default:
    return MIRAGE_UNSUPPORTED;
  }
}
#undef MAP

#define ZIP(expression)                                                                                                \
  for (size_t i = 0; i < n; i++) {                                                                                     \
    double x = a[i], y = b[i];                                                                                         \
    out[i] = (expression);                                                                                             \
  }                                                                                                                    \
  return MIRAGE_OK

MirageStatus mirage__eval_real_binary(MirageOp op, size_t n, const double *a, const double *b, double *out) {
  switch (op) {
  case MIRAGE_OP_ADD:
    ZIP(x + y);
  case MIRAGE_OP_SUB:
    ZIP(x == -INFINITY ? x : x - y);
  case MIRAGE_OP_MUL:
    ZIP(x * y);
  case MIRAGE_OP_DIV:
    ZIP(x / y);
  case MIRAGE_OP_MAX:
    ZIP(x > y || x != x ? x : y); // keeps NaN
  case MIRAGE_OP_MIN:
    ZIP(x < y || x != x ? x : y);
  case MIRAGE_OP_LESS:
    ZIP(x < y);
  case MIRAGE_OP_LESS_EQUAL:
    ZIP(x <= y);
  case MIRAGE_OP_GREATER:
    ZIP(x > y);
  case MIRAGE_OP_GREATER_EQUAL:
    ZIP(x >= y);
  case MIRAGE_OP_EQUAL:
    ZIP(x == y);
  case MIRAGE_OP_NOT_EQUAL:
    ZIP(x != y);
  case MIRAGE_OP_AND:
    ZIP(x != 0.0 && y != 0.0);
  case MIRAGE_OP_OR:
    ZIP(x != 0.0 || y != 0.0);
  case MIRAGE_OP_MASK:
    ZIP(x != 0.0 ? y : -INFINITY);
  default:
    return MIRAGE_UNSUPPORTED;
  }
}
#undef ZIP

MirageStatus mirage__eval_real_reduce_max(size_t outer, size_t n, size_t inner, const double *a, double *out) {
  if (inner == 1) {
    MIRAGE_FOLD_ROWS(double, outer, n, a, out, sum > next || sum != sum ? sum : next); // as MAX above
    return MIRAGE_OK;
  }
  for (size_t o = 0; o < outer; o++) {
    memmove(out + o * inner, a + o * n * inner, inner * sizeof *out);
    for (size_t j = 1; j < n; j++)
      mirage__eval_real_binary(MIRAGE_OP_MAX, inner, out + o * inner, a + (o * n + j) * inner, out + o * inner);
  }
  return MIRAGE_OK;
}

void mirage__eval_real_fill(size_t n, double value, double *out) {
  for (size_t i = 0; i < n; i++)
    out[i] = value;
}

// ---------------------------------------------------------------------------------------------------------- the domain

static MirageStatus f64_unary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n, const void *a,
                              void *out) {
  return mirage__eval_real_unary(op, n, a, out);
}

static MirageStatus f64_binary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n, const void *a,
                               const void *b, void *out) {
  return mirage__eval_real_binary(op, n, a, b, out);
}

enum { ROWS = 4, COLUMNS = 256 }; // of the accumulator that stays in the first-level cache
enum { MOST_THREADS = 32 };

// acc[rows][columns] = a[rows, k] @ b[k, columns]; two k at a time halve the traffic of the accumulator.
static void matmul_panel(size_t rows, size_t columns, size_t n, size_t k, const double *a, const double *b,
                         double acc[ROWS][COLUMNS]) {
  for (size_t r = 0; r < rows; r++)
    memset(acc[r], 0, columns * sizeof(double));
  size_t p = 0;
  for (; p + 2 <= k; p += 2)
    for (size_t r = 0; r < rows; r++) {
      const double *restrict b0 = b + p * n, *restrict b1 = b0 + n;
      double a0 = a[r * k + p], a1 = a[r * k + p + 1], *restrict row = acc[r];
      for (size_t j = 0; j < columns; j++)
        row[j] += a0 * b0[j] + a1 * b1[j];
    }
  for (; p < k; p++)
    for (size_t r = 0; r < rows; r++)
      for (size_t j = 0; j < columns; j++)
        acc[r][j] += a[r * k + p] * b[p * n + j];
}

// A product whose tiles of ROWS x COLUMNS threads take one after the other. Each is computed by one thread, always in
// the same order, so that the result does not depend on their number.
typedef struct Product {
  size_t m, n, k, tiles;
  const double *left, *right, *plus; // plus: or NULL
  double *y;
  atomic_size_t next;
} Product;

static void multiply_tile(const Product *p, size_t tile) {
  double acc[ROWS][COLUMNS];
  size_t down = (p->m + ROWS - 1) / ROWS, i = tile % down * ROWS, j = tile / down * COLUMNS;
  size_t rows = p->m - i < ROWS ? p->m - i : ROWS, columns = p->n - j < COLUMNS ? p->n - j : COLUMNS;
  matmul_panel(rows, columns, p->n, p->k, p->left + i * p->k, p->right + j, acc);
  for (size_t r = 0; r < rows; r++)
    for (size_t s = 0; s < columns; s++) {
      size_t at = (i + r) * p->n + j + s;
      p->y[at] = acc[r][s] + (p->plus ? p->plus[at] : 0.0);
    }
}

static void *multiply_tiles(void *user) {
  Product *product = user;
  for (size_t tile; (tile = atomic_fetch_add_explicit(&product->next, 1, memory_order_relaxed)) < product->tiles;)
    multiply_tile(product, tile);
  return NULL;
}

// Threads are worth their start from a few milliseconds of work on.
static size_t count_threads(const Product *product) {
  if ((double)product->m * (double)product->n * (double)product->k < 1e8)
    return 1;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  size_t count = cores > 1 ? (size_t)cores : 1;
  count = count < MOST_THREADS ? count : MOST_THREADS;
  return count < product->tiles ? count : product->tiles;
}

static MirageStatus f64_matmul(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                               const void *a, const void *b, const void *c, void *out) {
  Product product = {.m = m, .n = n, .k = k, .left = a, .right = b, .plus = c, .y = out};
  product.tiles = (m + ROWS - 1) / ROWS * ((n + COLUMNS - 1) / COLUMNS);
  pthread_t threads[MOST_THREADS];
  size_t count = count_threads(&product), started = 0;
  while (started + 1 < count && pthread_create(&threads[started], NULL, multiply_tiles, &product) == 0)
    started++;
  multiply_tiles(&product);
  for (size_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
  return MIRAGE_OK;
}

static MirageStatus f64_reduce(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer, size_t n,
                               size_t inner, const void *a, void *out) {
  if (op == MIRAGE_OP_REDUCE_MAX)
    return mirage__eval_real_reduce_max(outer, n, inner, a, out);
  if (op != MIRAGE_OP_REDUCE_SUM)
    return MIRAGE_UNSUPPORTED;
  const double *in = a;
  double *sums = out;
  if (inner == 1) {
    MIRAGE_FOLD_ROWS(double, outer, n, in, sums, sum + next);
    return MIRAGE_OK;
  }
  for (size_t o = 0; o < outer; o++) {
    memmove(sums + o * inner, in + o * n * inner, inner * sizeof *sums);
    for (size_t j = 1; j < n; j++)
      for (size_t i = 0; i < inner; i++)
        sums[o * inner + i] += in[(o * n + j) * inner + i];
  }
  return MIRAGE_OK;
}

static MirageStatus f64_constant(const MirageDomain *self, const MirageType *result, size_t n, double value,
                                 void *out) {
  mirage__eval_real_fill(n, value, out);
  return MIRAGE_OK;
}

static MirageStatus f64_bottom(const MirageDomain *self, size_t n, void *out) {
  mirage__eval_real_fill(n, -INFINITY, out);
  return MIRAGE_OK;
}

static MirageStatus f64_cast(const MirageDomain *self, const MirageType *result, size_t n, const void *a, void *out) {
  memmove(out, a, n * sizeof(double));
  return MIRAGE_OK;
}

const MirageDomain *mirage_domain_f64(void) {
  static const MirageDomain domain = {.name = "f64",
                                      .element_bytes = sizeof(double),
                                      .unary = f64_unary,
                                      .binary = f64_binary,
                                      .matmul = f64_matmul,
                                      .reduce = f64_reduce,
                                      .constant = f64_constant,
                                      .bottom = f64_bottom,
                                      .cast = f64_cast};
  return &domain;
}
