// extended.c - a number domain of long doubles: what float64 would say without underflow and with eleven more bits.
//
// Derived operators are computed by their expansion, so that this file shares nothing with lib/eval's float64 domain
// but the traversal. On a platform where long double is double it adds nothing, and takes nothing away.
#include "truth.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef long double Number;

void truth_put_extended(void *out, size_t i, long double value) {
  enum { BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(Number) }; // x86 keeps ten of sixteen
  char *to = (char *)out + i * sizeof value;
  memset(to, 0, sizeof value);
  memcpy(to, &value, BYTES);
}

static Number step_of(MirageOp op, Number x, Number y, double value) {
  switch (op) {
  case MIRAGE_OP_CONSTANT:
    return value;
  case MIRAGE_OP_EXP:
    return expl(x);
  case MIRAGE_OP_LOG:
    return logl(x);
  case MIRAGE_OP_SQRT:
    return sqrtl(x);
  case MIRAGE_OP_ERF:
    return erfl(x);
  case MIRAGE_OP_TANH:
    return tanhl(x);
  case MIRAGE_OP_ADD:
    return x + y;
  case MIRAGE_OP_SUB:
    return x == -INFINITY ? x : x - y; // bottom - x = bottom
  case MIRAGE_OP_MUL:
    return x * y;
  case MIRAGE_OP_DIV:
    return x / y;
  case MIRAGE_OP_MAX:
    return x > y || x != x ? x : y;
  case MIRAGE_OP_LESS:
    return x < y;
  case MIRAGE_OP_LESS_EQUAL:
    return x <= y;
  case MIRAGE_OP_EQUAL:
    return x == y;
  case MIRAGE_OP_AND:
    return x != 0 && y != 0;
  case MIRAGE_OP_OR:
    return x != 0 || y != 0;
  case MIRAGE_OP_NOT:
    return x == 0;
  case MIRAGE_OP_MASK:
    return x != 0 ? y : -INFINITY;
  default:
    return NAN;
  }
}

static Number apply(MirageOp op, Number x, Number y) {
  const MirageExpansion *expansion = mirage_op_expansion(op);
  if (!expansion)
    return step_of(op, x, y, 0);
  Number values[2 + sizeof expansion->steps / sizeof *expansion->steps] = {x, y};
  for (uint32_t i = 0; i < expansion->num_steps; i++) {
    const MirageExpansionStep *step = &expansion->steps[i];
    values[2 + i] = step_of(step->op, values[step->a], values[step->b], step->value);
  }
  return values[1 + expansion->num_steps];
}

static MirageStatus unary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n, const void *a,
                          void *out) {
  for (size_t i = 0; i < n; i++)
    truth_put_extended(out, i, apply(op, ((const Number *)a)[i], 0));
  return MIRAGE_OK;
}

static MirageStatus binary(const MirageDomain *self, MirageOp op, const MirageType *result, size_t n, const void *a,
                           const void *b, void *out) {
  for (size_t i = 0; i < n; i++)
    truth_put_extended(out, i, apply(op, ((const Number *)a)[i], ((const Number *)b)[i]));
  return MIRAGE_OK;
}

static MirageStatus matmul(const MirageDomain *self, const MirageType *result, size_t m, size_t n, size_t k,
                           const void *a, const void *b, const void *c, void *out) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      Number sum = c ? ((const Number *)c)[i * n + j] : 0;
      for (size_t l = 0; l < k; l++)
        sum += ((const Number *)a)[i * k + l] * ((const Number *)b)[l * n + j];
      truth_put_extended(out, i * n + j, sum);
    }
  return MIRAGE_OK;
}

static MirageStatus reduce(const MirageDomain *self, MirageOp op, const MirageType *result, size_t outer, size_t n,
                           size_t inner, const void *a, void *out) {
  MirageOp by = op == MIRAGE_OP_REDUCE_MAX ? MIRAGE_OP_MAX : MIRAGE_OP_ADD;
  for (size_t o = 0; o < outer; o++)
    for (size_t i = 0; i < inner; i++) {
      const Number *column = (const Number *)a + o * n * inner + i;
      Number value = column[0];
      for (size_t j = 1; j < n; j++)
        value = apply(by, value, column[j * inner]);
      truth_put_extended(out, o * inner + i, value);
    }
  return MIRAGE_OK;
}

static MirageStatus constant(const MirageDomain *self, const MirageType *result, size_t n, double value, void *out) {
  for (size_t i = 0; i < n; i++)
    truth_put_extended(out, i, value);
  return MIRAGE_OK;
}

static MirageStatus bottom(const MirageDomain *self, size_t n, void *out) {
  return constant(self, NULL, n, -INFINITY, out);
}

static MirageStatus cast(const MirageDomain *self, const MirageType *result, size_t n, const void *a, void *out) {
  memmove(out, a, n * sizeof(Number));
  return MIRAGE_OK;
}

const MirageDomain *truth_extended_domain(void) {
  static const MirageDomain domain = {.name = "extended",
                                      .element_bytes = sizeof(Number),
                                      .unary = unary,
                                      .binary = binary,
                                      .matmul = matmul,
                                      .reduce = reduce,
                                      .constant = constant,
                                      .bottom = bottom,
                                      .cast = cast};
  return &domain;
}
