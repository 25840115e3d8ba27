// test_field.c - prime fields against plain 128-bit arithmetic, and each operator's field rule.
#include "block_graphs.h"
#include "field/field_internal.h"
#include "mirage/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const MirageType F32_TYPE = {.dtype = MIRAGE_F32, .rank = 1, .shape = {1}};

static uint64_t plain_mul(uint64_t a, uint64_t b, uint64_t m) { return (uint64_t)((FieldU128)a * b % m); }

static void primes_are_told_from_others(void **state) {
  const uint64_t primes[] = {2, 3, 37, 41, 65537, 2147483647, 4294967291u, UINT64_C(18446744073709551557)};
  const uint64_t others[] = {0,
                             1,
                             4,
                             39,
                             561,
                             3215031751u,
                             UINT64_C(3825123056546413051),
                             UINT64_C(4611686014132420609),
                             UINT64_C(18446744073709551615)};
  for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
    assert_true(mirage__field_is_prime(primes[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(mirage__field_is_prime(others[i])); // Carmichael numbers, strong pseudoprimes, (2^31 - 1)^2
}

static void each_trial_draws_its_own_field(void **state) {
  uint64_t previous = 0;
  for (uint32_t trial = 0; trial < 20; trial++) {
    MirageField *f = mirage_field_create(5, trial);
    assert_non_null(f);
    assert_true(f->q >> 30 == 1 && mirage__field_is_prime(f->q));
    assert_true(f->p >> 61 == 1 && mirage__field_is_prime(f->p));
    assert_int_equal(f->p % f->q, 1);
    assert_true(f->omega != 1);
    assert_int_equal(mirage__field_power(f->omega, f->q, f->p), 1);
    assert_true(f->p != previous);
    previous = f->p;
    mirage_field_destroy(f);
  }
  MirageField *a = mirage_field_create(5, 3), *b = mirage_field_create(5, 3), *c = mirage_field_create(6, 3);
  assert_true(a->p == b->p && a->omega == b->omega && a->p != c->p);
  mirage_field_destroy(a);
  mirage_field_destroy(b);
  mirage_field_destroy(c);
}

static void arithmetic_agrees_with_plain_integers(void **state) {
  MirageField *f = mirage_field_create(11, 0);
  MirageRandom random;
  mirage_random_init(&random, 1, 2);
  for (int i = 0; i < 20000; i++) {
    uint64_t a = mirage_random_below(&random, f->p), b = mirage_random_below(&random, f->p);
    if (i < 4) { // the edges
      a = i & 1 ? f->p - 1 : 0;
      b = i & 2 ? f->p - 1 : 1;
    }
    assert_int_equal(field_mul(f, a, b), plain_mul(a, b, f->p));
    assert_int_equal(field_add(f, a, b), (uint64_t)(((FieldU128)a + b) % f->p));
    assert_int_equal(field_sub(f, a, b), (uint64_t)(((FieldU128)a + f->p - b) % f->p));
    if (a && i % 16 == 0)
      assert_int_equal(plain_mul(a, mirage__field_inverse(a, f->p), f->p), 1);
    uint32_t exponent = (uint32_t)mirage_random_below(&random, f->q);
    if (i % 16 == 0)
      assert_int_equal(field_exp(f, exponent), mirage__field_power(f->omega, exponent, f->p));
  }
  assert_int_equal(field_exp(f, 0), 1);
  assert_int_equal(plain_mul(field_exp(f, (uint32_t)f->q - 1), f->omega, f->p), 1);
  mirage_field_destroy(f);
}

static void constants_are_exact_dyadic_rationals(void **state) {
  MirageField *f = mirage_field_create(12, 0);
  assert_int_equal(mirage__field_constant(f, 0.0).p, 0);
  assert_int_equal(mirage__field_constant(f, 3.0).p, 3);
  assert_int_equal(mirage__field_constant(f, 3.0).q, 3);
  assert_int_equal(mirage__field_constant(f, -1.0).p, f->p - 1);
  assert_int_equal(mirage__field_constant(f, -1.0).q, f->q - 1);
  MirageResidue eighth = mirage__field_constant(f, 0.125), tenth = mirage__field_constant(f, 0.1);
  assert_int_equal(plain_mul(eighth.p, 8, f->p), 1);
  assert_int_equal((uint64_t)eighth.q * 8 % f->q, 1);
  assert_int_not_equal(plain_mul(tenth.p, 10, f->p), 1); // the double nearest 0.1 is not 1/10
  assert_int_equal(plain_mul(mirage__field_constant(f, 0x1p-1074).p, mirage__field_constant(f, 0x1p1000).p, f->p),
                   mirage__field_constant(f, 0x1p-74).p);
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue out;
  assert_int_equal(d->constant(d, &F32_TYPE, 1, INFINITY, &out), MIRAGE_UNSUPPORTED);
  assert_int_equal(d->constant(d, &F32_TYPE, 1, NAN, &out), MIRAGE_UNSUPPORTED);
  assert_int_equal(d->constant(d, &F32_TYPE, 1, -INFINITY, &out), MIRAGE_OK);
  assert_int_equal(out.bottom, 1);
  mirage_field_destroy(f);
}

static void draws_repeat_and_differ(void **state) {
  enum { N = 1000 };
  MirageField *f = mirage_field_create(13, 0);
  MirageResidue a[N], b[N], c[N];
  mirage_field_draw(f, 0, N, a);
  mirage_field_draw(f, 0, N, b);
  mirage_field_draw(f, 1, N, c);
  assert_memory_equal(a, b, sizeof a);
  double mean_p = 0, mean_q = 0;
  for (int i = 0; i < N; i++) {
    assert_true(a[i].p < f->p && a[i].q < f->q && a[i].p != c[i].p && !a[i].after_exp && !a[i].bottom);
    mean_p += (double)a[i].p / (double)f->p / N;
    mean_q += (double)a[i].q / (double)f->q / N;
  }
  assert_true(fabs(mean_p - 0.5) < 0.05 && fabs(mean_q - 0.5) < 0.05); // five standard deviations
  mirage_field_destroy(f);
}

static void elementwise_operators_follow_their_rules(void **state) {
  enum { N = 100 };
  MirageField *f = mirage_field_create(14, 0);
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue a[N], b[N], x[N], y[N];
  mirage_field_draw(f, 0, N, a);
  mirage_field_draw(f, 1, N, b);
  assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, N, a, b, x), MIRAGE_OK);
  assert_int_equal(d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, N, x, b, x), MIRAGE_OK);
  assert_memory_equal(x, a, sizeof a); // (a / b) * b
  assert_int_equal(d->binary(d, MIRAGE_OP_SUB, &F32_TYPE, N, a, b, x), MIRAGE_OK);
  assert_int_equal(d->binary(d, MIRAGE_OP_ADD, &F32_TYPE, N, x, b, x), MIRAGE_OK);
  assert_memory_equal(x, a, sizeof a);
  d->binary(d, MIRAGE_OP_ADD, &F32_TYPE, N, a, b, x); // exp(a + b) == exp(a) * exp(b)
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, N, x, x);
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, N, a, y);
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, N, b, b);
  d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, N, y, b, y);
  assert_memory_equal(x, y, sizeof x);
  assert_int_equal(x[0].after_exp, 1);
  d->unary(d, MIRAGE_OP_SQUARE, &F32_TYPE, N, a, x);
  d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, N, a, a, y);
  assert_memory_equal(x, y, sizeof x);
  d->unary(d, MIRAGE_OP_SILU, &F32_TYPE, N, a, x);
  d->unary(d, MIRAGE_OP_SIGMOID, &F32_TYPE, N, a, y);
  d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, N, a, y, y);
  assert_memory_equal(x, y, sizeof x);
  d->unary(d, MIRAGE_OP_SQRT, &F32_TYPE, N, a, x);
  d->unary(d, MIRAGE_OP_LOG, &F32_TYPE, N, a, y);
  for (int i = 0; i < N; i++)
    assert_true(x[i].p != y[i].p && x[i].p < f->p && x[i].q < f->q && !x[i].after_exp);
  mirage_field_destroy(f);
}

static void division_by_zero_asks_for_another_draw(void **state) {
  MirageField *f = mirage_field_create(15, 0);
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue one = {.p = 1, .q = 1}, zero_p = {.p = 0, .q = 1}, zero_q = {.p = 1, .q = 0}, out;
  MirageResidue behind = {.p = 5, .after_exp = 1};
  assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, 1, &one, &zero_p, &out), MIRAGE_REDRAW);
  assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, 1, &one, &zero_q, &out), MIRAGE_REDRAW);
  assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, 1, &behind, &zero_q, &out), MIRAGE_OK); // no component mod q
  assert_int_equal(out.p, 5);
  assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, 1, &one, &behind, &out), MIRAGE_OK);
  assert_int_equal(out.after_exp, 1);
  mirage_field_destroy(f);
}

static void bottom_is_below_every_number(void **state) {
  MirageField *f = mirage_field_create(16, 0);
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue x, bottom, out;
  mirage_field_draw(f, 0, 1, &x);
  assert_int_equal(d->bottom(d, 1, &bottom), MIRAGE_OK);
  d->binary(d, MIRAGE_OP_MAX, &F32_TYPE, 1, &bottom, &x, &out);
  assert_memory_equal(&out, &x, sizeof x);
  d->binary(d, MIRAGE_OP_MAX, &F32_TYPE, 1, &bottom, &bottom, &out);
  assert_int_equal(out.bottom, 1);
  d->binary(d, MIRAGE_OP_ADD, &F32_TYPE, 1, &x, &bottom, &out);
  assert_int_equal(out.bottom, 1);
  d->binary(d, MIRAGE_OP_SUB, &F32_TYPE, 1, &bottom, &bottom, &out);
  assert_int_equal(out.bottom, 1);
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, 1, &out, &out);
  assert_true(out.p == 0 && out.after_exp && !out.bottom);
  assert_int_equal(d->binary(d, MIRAGE_OP_SUB, &F32_TYPE, 1, &x, &bottom, &out), MIRAGE_UNSUPPORTED);
  assert_int_equal(d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, 1, &x, &bottom, &out), MIRAGE_UNSUPPORTED);
  assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, 1, &bottom, &x, &out), MIRAGE_UNSUPPORTED);
  assert_int_equal(d->unary(d, MIRAGE_OP_SQRT, &F32_TYPE, 1, &bottom, &out), MIRAGE_UNSUPPORTED);
  assert_int_equal(d->matmul(d, &F32_TYPE, 1, 1, 1, &bottom, &x, NULL, &out), MIRAGE_UNSUPPORTED);
  mirage_field_destroy(f);
}

// A running maximum keeps all members; there is an end to that, with a status and not with the memory.
static void maxima_have_a_limit(void **state) {
  enum { STEPS = 100 };
  MirageField *field = mirage_field_create(5, 0);
  const MirageDomain *d = mirage_field_domain(field);
  MirageResidue x[STEPS], running;
  mirage_field_draw(field, 0, STEPS, x);
  running = x[0];
  field->maxima.most_members = 5;
  uint32_t steps = 1;
  MirageStatus status = MIRAGE_OK;
  for (; steps < STEPS && status == MIRAGE_OK; steps++)
    status = d->binary(d, MIRAGE_OP_MAX, &F32_TYPE, 1, &running, &x[steps], &running);
  assert_int_equal(status, MIRAGE_LIMIT);
  assert_int_equal(steps, 6);
  mirage_field_destroy(field);
}

// In a partial field evaluation goes on, and everything behind a missing value is missing, a maximum and 0 times it
// too.
static void undefined_values_spread(void **state) {
  MirageField *f = mirage_field_create_with(15, 0, (MirageFieldModes){.partial = true});
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue x[2], zero = {0}, bottom, quotient, out[2];
  mirage_field_draw(f, 0, 2, x);
  d->bottom(d, 1, &bottom);
  assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, 1, &x[0], &zero, &quotient), MIRAGE_OK);
  assert_int_equal(quotient.undefined, MIRAGE_UNDEFINED_QUOTIENT);
  static const MirageOp binary[] = {MIRAGE_OP_ADD, MIRAGE_OP_SUB, MIRAGE_OP_MUL, MIRAGE_OP_DIV, MIRAGE_OP_MAX};
  for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
    assert_int_equal(d->binary(d, binary[i], &F32_TYPE, 1, &zero, &quotient, out), MIRAGE_OK);
    assert_int_equal(out->undefined, MIRAGE_UNDEFINED_QUOTIENT);
    assert_int_equal(d->binary(d, binary[i], &F32_TYPE, 1, &quotient, &bottom, out), MIRAGE_OK);
    assert_int_equal(out->undefined, MIRAGE_UNDEFINED_QUOTIENT);
  }
  static const MirageOp unary[] = {MIRAGE_OP_EXP, MIRAGE_OP_SQRT, MIRAGE_OP_SILU};
  for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
    assert_int_equal(d->unary(d, unary[i], &F32_TYPE, 1, &quotient, out), MIRAGE_OK);
    assert_int_equal(out->undefined, MIRAGE_UNDEFINED_QUOTIENT);
  }
  assert_int_equal(d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, 1, &x[0], &bottom, out), MIRAGE_OK);
  assert_int_equal(out->undefined, MIRAGE_UNDEFINED_RULE);
  MirageResidue a[4] = {x[0], x[1], quotient, x[0]}, b[2] = {x[1], x[0]}; // a: 2 x 2, b: 2 x 1
  assert_int_equal(d->matmul(d, &F32_TYPE, 2, 1, 2, a, b, NULL, out), MIRAGE_OK);
  assert_true(!out[0].undefined && out[1].undefined == MIRAGE_UNDEFINED_QUOTIENT); // its own row only
  assert_int_equal(d->reduce(d, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, 1, 4, 1, a, out), MIRAGE_OK);
  assert_int_equal(out->undefined, MIRAGE_UNDEFINED_QUOTIENT);
  assert_int_equal(d->reduce(d, MIRAGE_OP_REDUCE_SUM, &F32_TYPE, 1, 4, 1, a, out), MIRAGE_OK);
  assert_int_equal(out->undefined, MIRAGE_UNDEFINED_QUOTIENT);
  mirage_field_destroy(f);
}

// exp(x - m) = exp(x) / exp(m) for maxima, after which everything is a function of residues mod p.
static void free_exponentials_know_maxima(void **state) {
  enum { N = 100 };
  MirageField *f = mirage_field_create_with(16, 0, (MirageFieldModes){.free_exp = true});
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue x[N], e[N], shifted[N], m[N], em[N], bottom, out;
  mirage_field_draw(f, 0, N, x);
  assert_true(x[0].after_exp && x[0].q == 0);
  d->reduce(d, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, 1, N, 1, x, m);
  for (int i = 1; i < N; i++)
    m[i] = m[i % 2]; // two maxima; the second is of one value
  d->reduce(d, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, 1, 1, 1, x, &m[1]);
  for (int i = 3; i < N; i += 2)
    m[i] = m[1];
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, N, x, e);
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, N, m, em);
  assert_memory_equal(&em[1], &e[0], sizeof *e); // max {x} = x
  d->binary(d, MIRAGE_OP_SUB, &F32_TYPE, N, x, m, shifted);
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, N, shifted, shifted);
  d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, N, shifted, em, shifted);
  assert_memory_equal(shifted, e, sizeof e);
  d->binary(d, MIRAGE_OP_SUB, &F32_TYPE, 1, &x[1], &x[2], shifted); // no maximum: nothing is known
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, 1, shifted, shifted);
  d->binary(d, MIRAGE_OP_MUL, &F32_TYPE, 1, shifted, &e[2], shifted);
  assert_true(shifted->p != e[1].p);
  d->bottom(d, 1, &bottom);
  d->binary(d, MIRAGE_OP_SUB, &F32_TYPE, 1, &bottom, m, &out);
  d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, 1, &out, &out);
  assert_true(out.p == 0 && !out.bottom);
  mirage_field_destroy(f);
}

static void maximum_is_a_function_of_the_set(void **state) {
  enum { N = 6 };
  MirageField *f = mirage_field_create(17, 0);
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue x[N], whole, left, right, again;
  mirage_field_draw(f, 0, N, x);
  d->reduce(d, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, 1, N, 1, x, &whole);
  d->reduce(d, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, 1, 4, 1, x, &left);      // 0..3
  d->reduce(d, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, 1, 4, 1, x + 2, &right); // 2..5, overlapping
  assert_true(left.p != whole.p && right.p != whole.p && left.p != right.p);
  d->binary(d, MIRAGE_OP_MAX, &F32_TYPE, 1, &left, &right, &again);
  assert_memory_equal(&again, &whole, sizeof whole);
  d->binary(d, MIRAGE_OP_MAX, &F32_TYPE, 1, &whole, &x[3], &again); // idempotent
  assert_memory_equal(&again, &whole, sizeof whole);
  d->binary(d, MIRAGE_OP_MAX, &F32_TYPE, 1, &x[1], &x[1], &again);
  assert_memory_equal(&again, &x[1], sizeof *x);
  for (int i = 0; i < N; i++)
    assert_true(whole.p != x[i].p); // a value of its own, not one of them
  mirage_field_destroy(f);
}

// out[i][j] by the schoolbook, mod p and mod q.
static void check_matmul(const MirageField *f, size_t m, size_t n, size_t k, const MirageResidue *a,
                         const MirageResidue *b, const MirageResidue *c, const MirageResidue *out) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      uint64_t p = c ? c[i * n + j].p : 0, q = c ? c[i * n + j].q : 0;
      for (size_t l = 0; l < k; l++) {
        p = (p + plain_mul(a[i * k + l].p, b[l * n + j].p, f->p)) % f->p;
        q = (q + (uint64_t)a[i * k + l].q * b[l * n + j].q) % f->q;
      }
      assert_int_equal(out[i * n + j].p, p);
      assert_int_equal(out[i * n + j].q, q);
    }
}

static void matmul_agrees_with_the_schoolbook(void **state) {
  enum { M = 7, N = 21, K = 37 };
  MirageField *f = mirage_field_create(18, 0);
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue a[M * K], b[K * N], c[M * N], out[M * N];
  mirage_field_draw(f, 0, M * K, a);
  mirage_field_draw(f, 1, K * N, b);
  mirage_field_draw(f, 2, M * N, c);
  for (size_t k = 1; k <= K; k += 6) {
    assert_int_equal(d->matmul(d, &F32_TYPE, M, N, k, a, b, NULL, out), MIRAGE_OK);
    check_matmul(f, M, N, k, a, b, NULL, out);
  }
  for (size_t i = 0; i < M * K; i++)
    a[i] = (MirageResidue){.p = f->p - 1, .q = (uint32_t)f->q - 1}; // the largest products
  for (size_t i = 0; i < K * N; i++)
    b[i] = a[0];
  assert_int_equal(d->matmul(d, &F32_TYPE, M, N, K, a, b, c, out), MIRAGE_OK);
  check_matmul(f, M, N, K, a, b, c, out);
  b[3 * N + 5].after_exp = 1;
  b[3 * N + 5].q = 0;
  assert_int_equal(d->matmul(d, &F32_TYPE, M, N, K, a, b, NULL, out), MIRAGE_OK);
  assert_true(out[5].after_exp && out[5].q == 0 && !out[4].after_exp);
  mirage_field_destroy(f);
}

// Values at random, at their largest, zero; behind exponentials, bottom and undefined now and then.
static void draw_extremes(const MirageField *f, uint64_t seed, size_t n, MirageResidue *out) {
  MirageRandom random;
  mirage_random_init(&random, seed, 0);
  for (size_t i = 0; i < n; i++) {
    uint64_t kind = mirage_random_below(&random, 16 + n / 4);
    out[i] =
        (MirageResidue){.p = mirage_random_below(&random, f->p), .q = (uint32_t)mirage_random_below(&random, f->q)};
    if (kind < 6)
      out[i] = (MirageResidue){.p = f->p - 1, .q = (uint32_t)f->q - 1};
    else if (kind < 9)
      out[i] = (MirageResidue){0};
    else if (kind == 9)
      out[i] = (MirageResidue){.p = out[i].p, .after_exp = 1};
    else if (kind == 10 && n > 400)
      out[i] = (MirageResidue){.undefined = seed % 2 ? MIRAGE_UNDEFINED_QUOTIENT : MIRAGE_UNDEFINED_RULE};
    else if (kind == 11 && n > 400)
      out[i] = (MirageResidue){.bottom = 1};
  }
}

static void turn(size_t rows, size_t columns, const MirageResidue *a, MirageResidue *out) {
  for (size_t i = 0; i < rows * columns; i++)
    out[i % columns * rows + i / columns] = a[i];
}

// Every variant of the inner loops that this processor has gives the bits of the plainest, as a whole and in boxes, the
// right factor turned or not, at sizes that no panel divides, in full-size and in tiny fields.
static void products_have_the_same_bits_in_all_variants(void **state) {
  MirageRandom random;
  mirage_random_init(&random, 33, 0);
  print_message("%u variants, the fastest is %s\n", mirage__field_product_variants(),
                mirage__field_product_variant_name(mirage__field_product_variants() - 1));
  for (uint32_t round = 0; round < 60; round++) {
    MirageField *f = round % 3 ? mirage_field_create_with(round, 0, (MirageFieldModes){.partial = true})
                               : mirage__field_create_sized(round, 0, 5 + round % 20, 10 + round % 50);
    if (!f)
      continue;
    f->modes.partial = true;
    size_t m = 1 + mirage_random_below(&random, 70), n = 1 + mirage_random_below(&random, 150);
    size_t k = round % 7 ? 1 + mirage_random_below(&random, 40) : 1 + mirage_random_below(&random, 400);
    MirageResidue *a = malloc(m * k * sizeof *a), *b = malloc(k * n * sizeof *b), *c = malloc(m * n * sizeof *c);
    MirageResidue *out[2] = {malloc(m * n * sizeof *a), malloc(m * n * sizeof *a)}, *turned = malloc(k * n * sizeof *b);
    draw_extremes(f, 3 * round, m * k, a);
    draw_extremes(f, 3 * round + 1, k * n, b);
    turn(k, n, b, turned);
    draw_extremes(f, 3 * round + 2, m * n, c);
    const MirageDomain *d = mirage_field_domain(f);
    for (uint32_t variant = 0; variant < mirage__field_product_variants(); variant++) {
      MirageResidue *to = out[variant > 0];
      f->product_variant = variant;
      memset(to, 0xee, m * n * sizeof *to);
      assert_int_equal(d->matmul(d, &F32_TYPE, m, n, k, a, b, round % 2 ? c : NULL, to), MIRAGE_OK);
      assert_memory_equal(out[0], to, m * n * sizeof *to);
      memset(to, 0xee, m * n * sizeof *to);
      size_t row = mirage_random_below(&random, m), column = mirage_random_below(&random, n);
      for (int part = 0; part < 4; part++) { // four boxes that meet somewhere
        MirageBox box = {part & 1 ? row : 0, part & 1 ? m - row : row, part & 2 ? column : 0,
                         part & 2 ? n - column : column};
        bool turns = (round + part) % 3 == 0;
        assert_int_equal(
            d->matmul_box(d, &F32_TYPE, m, n, k, a, turns ? turned : b, turns, round % 2 ? c : NULL, to, &box),
            MIRAGE_OK);
      }
      f->product_variant = 0;
      assert_int_equal(d->matmul(d, &F32_TYPE, m, n, k, a, b, round % 2 ? c : NULL, out[0]), MIRAGE_OK);
      assert_memory_equal(out[0], to, m * n * sizeof *to);
    }
    free(a);
    free(b);
    free(turned);
    free(c);
    free(out[0]);
    free(out[1]);
    mirage_field_destroy(f);
  }
}

// The longest sums of the largest residues, whose exact values are known: k (p - 1)^2 = k mod p.
static void long_sums_do_not_overflow(void **state) {
  enum { K = 1 << 20, COLUMNS = 9 };
  MirageField *f = mirage_field_create(35, 0);
  const MirageDomain *d = mirage_field_domain(f);
  MirageResidue *a = malloc(K * sizeof *a), *b = malloc((size_t)K * COLUMNS * sizeof *b), out[COLUMNS];
  for (size_t i = 0; i < (size_t)K * COLUMNS; i++)
    b[i] = (MirageResidue){.p = f->p - 1, .q = (uint32_t)f->q - 1};
  memcpy(a, b, K * sizeof *a);
  for (uint32_t variant = 0; variant < mirage__field_product_variants(); variant++) {
    f->product_variant = variant;
    assert_int_equal(d->matmul(d, &F32_TYPE, 1, COLUMNS, K, a, b, NULL, out), MIRAGE_OK);
    for (size_t c = 0; c < COLUMNS; c++) {
      assert_int_equal(out[c].p, K);
      assert_int_equal(out[c].q, K);
    }
  }
  free(a);
  free(b);
  mirage_field_destroy(f);
}

// Elements that share a divisor, or a maximum, in runs: the same values as one by one.
static void runs_agree_with_single_elements(void **state) {
  enum { N = 500 };
  for (int free_exp = 0; free_exp < 2; free_exp++) {
    MirageField *f = mirage_field_create_with(36, 0, (MirageFieldModes){.partial = true, .free_exp = free_exp});
    const MirageDomain *d = mirage_field_domain(f);
    MirageResidue a[N], b[N], m[N], whole[N], one;
    mirage_field_draw(f, 0, N, a);
    mirage_field_draw(f, 1, N, b);
    assert_int_equal(d->reduce(d, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, N / 2, 2, 1, a, m), MIRAGE_OK);
    for (size_t i = N; i-- > 0;) { // runs of 1, 2, 3, ...
      size_t run = 0;
      for (size_t end = 1; i >= end; end += ++run + 1)
        ;
      b[i] = b[run];
      m[i] = m[run];
    }
    b[7] = (MirageResidue){0};
    b[8] = (MirageResidue){.undefined = MIRAGE_UNDEFINED_RULE};
    assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, N, a, b, whole), MIRAGE_OK);
    for (size_t i = 0; i < N; i++) {
      assert_int_equal(d->binary(d, MIRAGE_OP_DIV, &F32_TYPE, 1, &a[i], &b[i], &one), MIRAGE_OK);
      assert_memory_equal(&one, &whole[i], sizeof one);
    }
    MirageResidue difference[N];
    assert_int_equal(d->binary(d, MIRAGE_OP_SUB, &F32_TYPE, N, a, m, difference), MIRAGE_OK);
    difference[11] = a[11];
    difference[12] = (MirageResidue){.bottom = 1};
    assert_int_equal(d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, N, difference, whole), MIRAGE_OK);
    for (size_t i = 0; i < N; i++) {
      assert_int_equal(d->unary(d, MIRAGE_OP_EXP, &F32_TYPE, 1, &difference[i], &one), MIRAGE_OK);
      assert_memory_equal(&one, &whole[i], sizeof one);
    }
    mirage_field_destroy(f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(primes_are_told_from_others),
      cmocka_unit_test(each_trial_draws_its_own_field),
      cmocka_unit_test(arithmetic_agrees_with_plain_integers),
      cmocka_unit_test(constants_are_exact_dyadic_rationals),
      cmocka_unit_test(draws_repeat_and_differ),
      cmocka_unit_test(elementwise_operators_follow_their_rules),
      cmocka_unit_test(division_by_zero_asks_for_another_draw),
      cmocka_unit_test(bottom_is_below_every_number),
      cmocka_unit_test(undefined_values_spread),
      cmocka_unit_test(free_exponentials_know_maxima),
      cmocka_unit_test(maximum_is_a_function_of_the_set),
      cmocka_unit_test(maxima_have_a_limit),
      cmocka_unit_test(matmul_agrees_with_the_schoolbook),
      cmocka_unit_test(products_have_the_same_bits_in_all_variants),
      cmocka_unit_test(long_sums_do_not_overflow),
      cmocka_unit_test(runs_agree_with_single_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
