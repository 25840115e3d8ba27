// test_field_small.c - fields of other sizes, where mistakes of reduction show at once; and the maximum as a function
// of a set, in whatever order and grouping the set is put together.
#include "block_graphs.h"
#include "field/field_internal.h"
#include "mirage/random.h"
#include "verify/verify_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const MirageType F32_TYPE = {.dtype = MIRAGE_F32, .rank = 1, .shape = {1}};

// ----------------------------------------------------------------------------------------------------------------
// sizes

static void sizes_are_what_was_asked_for(void **state) {
  for (uint32_t bits = 5; bits <= 31; bits++)
    for (uint32_t trial = 0; trial < 4; trial++) {
      MirageField *f = mirage__field_create_sized(3, trial, bits, 2 * bits);
      assert_non_null(f);
      assert_int_equal(f->q >> (bits - 1), 1);
      assert_int_equal(f->p >> (2 * bits - 1), 1);
      assert_true(mirage__field_is_prime(f->q) && mirage__field_is_prime(f->p));
      assert_int_equal(f->p % f->q, 1);
      assert_int_not_equal(f->omega, 1);
      assert_int_equal(mirage__field_power(f->omega, f->q, f->p), 1);
      for (uint32_t i = 0; i < 50; i++) {
        uint32_t exponent = (uint32_t)(i * 7919 % f->q);
        assert_int_equal(field_exp(f, exponent), mirage__field_power(f->omega, exponent, f->p));
      }
      assert_int_equal(field_exp(f, (uint32_t)f->q - 1),
                       mirage__field_power(f->omega, f->q - 1, f->p)); // the last entry of the tables
      mirage_field_destroy(f);
    }
}

static void full_size_is_the_ordinary_field(void **state) {
  MirageField *a = mirage_field_create(9, 2), *b = mirage__field_create_sized(9, 2, FIELD_Q_BITS, FIELD_P_BITS);
  assert_true(a->p == b->p && a->q == b->q && a->omega == b->omega);
  mirage_field_destroy(a);
  mirage_field_destroy(b);
}

// q is 5 or 7; of 8 .. 15 only 11 is a prime = 1 mod 5, and none is = 1 mod 7.
static void a_size_without_primes_gives_no_field(void **state) {
  int found = 0, none = 0;
  for (uint32_t trial = 0; trial < 40; trial++) {
    MirageField *f = mirage__field_create_sized(1, trial, 3, 4);
    found += f != NULL;
    none += f == NULL;
    if (f)
      assert_true(f->q == 5 && f->p == 11);
    mirage_field_destroy(f);
  }
  assert_true(found > 0 && none > 0);
}

// -------------------------------------------------------------------------------------------------------------
// products

// Every shape around the panel's own, with and without an exponential behind single factors.
static void products_agree_with_the_schoolbook(void **state) {
  enum { M = 18, K = 29, N = 21 };
  static MirageResidue a[M * K], b[K * N], y[M * N];
  const uint32_t sizes[][2] = {{5, 10}, {12, 24}, {20, 45}, {31, 62}};
  for (size_t s = 0; s < 4; s++) {
    MirageField *f = mirage__field_create_sized(4, 0, sizes[s][0], sizes[s][1]);
    const MirageDomain *domain = mirage_field_domain(f);
    for (size_t shape = 0; shape < 24; shape++) {
      size_t m = 1 + shape * 5 % M, k = 1 + shape * 11 % K, n = 1 + shape * 7 % N;
      mirage_field_draw(f, 0, m * k, a);
      mirage_field_draw(f, 1, k * n, b);
      a[m * k - 1].p = b[0].p = f->p - 1;
      a[m * k - 1].q = b[0].q = (uint32_t)f->q - 1;
      if (shape % 3 == 1)
        a[shape % (m * k)].after_exp = 1;
      if (shape % 4 == 1)
        b[shape % (k * n)].after_exp = 1;
      assert_int_equal(domain->matmul(domain, &F32_TYPE, m, n, k, a, b, NULL, y), MIRAGE_OK);
      for (size_t i = 0; i < m * n; i++) {
        uint64_t p = 0, q = 0;
        uint8_t after_exp = 0;
        for (size_t l = 0; l < k; l++) {
          const MirageResidue *u = &a[i / n * k + l], *v = &b[l * n + i % n];
          p = (uint64_t)(((FieldU128)u->p * v->p + p) % f->p);
          q = ((uint64_t)u->q * v->q + q) % f->q;
          after_exp |= u->after_exp | v->after_exp;
        }
        assert_int_equal(y[i].p, p);
        assert_int_equal(y[i].after_exp, after_exp);
        assert_int_equal(y[i].q, after_exp ? 0 : q);
      }
    }
    mirage_field_destroy(f);
  }
}

// ---------------------------------------------------------------------------------------------------------------
// maxima

static MirageResidue max_of(MirageField *f, size_t n, const MirageResidue *values) {
  const MirageDomain *domain = mirage_field_domain(f);
  MirageResidue y = {0};
  assert_int_equal(domain->reduce(domain, MIRAGE_OP_REDUCE_MAX, &F32_TYPE, 1, n, 1, values, &y), MIRAGE_OK);
  return y;
}
static MirageResidue max2(MirageField *f, MirageResidue a, MirageResidue b) {
  const MirageDomain *domain = mirage_field_domain(f);
  MirageResidue y = {0};
  assert_int_equal(domain->binary(domain, MIRAGE_OP_MAX, &F32_TYPE, 1, &a, &b, &y), MIRAGE_OK);
  return y;
}
static bool same(MirageResidue a, MirageResidue b) { return memcmp(&a, &b, sizeof a) == 0; }

static void a_set_has_one_maximum_however_it_is_grouped(void **state) {
  enum { N = 40 };
  MirageResidue x[N], shuffled[2 * N];
  MirageRandom random;
  mirage_random_init(&random, 6, 0);
  for (uint32_t round = 0; round < 20; round++) {
    MirageField *f = mirage_field_create(8, round);
    mirage_field_draw(f, 0, N, x);
    MirageResidue whole = max_of(f, N, x), running = {.bottom = 1}, tree = {.bottom = 1};
    for (size_t i = 0; i < 2 * N; i++) // with repetitions, and each at least once
      shuffled[i] = x[i < N ? i : mirage_random_below(&random, N)];
    for (size_t i = 2 * N; i > 1; i--) {
      size_t j = (size_t)mirage_random_below(&random, i);
      MirageResidue kept = shuffled[i - 1];
      shuffled[i - 1] = shuffled[j];
      shuffled[j] = kept;
    }
    assert_true(same(max_of(f, 2 * N, shuffled), whole));
    for (size_t i = 0; i < 2 * N; i++)
      running = max2(f, running, shuffled[i]);
    assert_true(same(running, whole));
    for (size_t i = 0; i + 8 <= 2 * N; i += 4) // overlapping tiles
      tree = max2(f, max_of(f, 8, shuffled + i), tree);
    assert_true(same(tree, whole));
    assert_true(same(max2(f, whole, max_of(f, 7, x)), whole)); // a subset adds nothing
    assert_true(same(max2(f, whole, whole), whole));
    assert_false(same(max_of(f, N - 1, x), whole));
    assert_false(same(max2(f, max_of(f, N - 1, x), max_of(f, N - 2, x)), whole));
    mirage_field_destroy(f);
  }
}

static void different_sets_have_different_maxima(void **state) {
  MirageResidue x[5], two[3];
  MirageField *f = mirage_field_create(8, 77);
  mirage_field_draw(f, 0, 5, x);
  two[0] = max2(f, x[0], x[1]);
  two[1] = max2(f, x[0], x[2]);
  two[2] = max2(f, x[1], x[2]);
  assert_false(same(two[0], two[1]) || same(two[1], two[2]) || same(two[0], two[2]));
  assert_true(same(max2(f, two[0], two[1]), max2(f, two[1], two[2]))); // all three of them
  assert_false(same(max2(f, two[0], x[3]), max2(f, two[0], x[4])));
  assert_true(same(max2(f, x[0], x[0]), x[0]));
  mirage_field_destroy(f);
}

// ----------------------------------------------------------------------------------------------------------------
// bound

static MirageUGraph *product(bool squared) {
  MirageUGraph *g = mirage_ugraph_create(NULL, "product", NULL);
  MirageValue x = mirage_ugraph_input(g, tensor_type(MIRAGE_F32, 1, 4)), y = op2(g, MIRAGE_OP_MUL, x, x);
  return finish_with(g, squared ? op1(g, MIRAGE_OP_EXP, y) : y);
}

static void the_bound_follows_the_fields(void **state) {
  const VerifyFields small = {.log2_p_min = 9, .log2_q_min = 4, .log2_num_q = 2, .log2_num_p = 3};
  const VerifyFields larger = {.log2_p_min = 23, .log2_q_min = 11, .log2_num_q = 8, .log2_num_p = 9};
  for (int with_exp = 0; with_exp < 2; with_exp++) {
    MirageUGraph *a = product(with_exp), *b = product(with_exp);
    VerifyBound in_small, in_larger, full;
    assert_int_equal(mirage__verify_bound_in(&small, a, b, NULL, false, &in_small), MIRAGE_OK);
    assert_int_equal(mirage__verify_bound_in(&larger, a, b, NULL, false, &in_larger), MIRAGE_OK);
    assert_int_equal(mirage__verify_bound(a, b, NULL, false, &full), MIRAGE_OK);
    assert_true(in_small.log2_trial > in_larger.log2_trial && in_larger.log2_trial > full.log2_trial);
    if (!with_exp) // degree 2 over 2^9
      assert_true(in_small.log2_draw >= 1 - 9);
    assert_true(full.log2_trial == full.log2_draw); // nothing divides: no draw is undefined
    mirage_ugraph_destroy(a);
    mirage_ugraph_destroy(b);
  }
}

// Where a divisor vanishes by accident, the point is drawn again. In large fields that hardly happens; in small ones a
// trial may take all its eight draws.
static void attempts_cost_what_divisors_do(void **state) {
  const VerifyFields small = {.log2_p_min = 9, .log2_q_min = 4, .log2_num_q = 2, .log2_num_p = 3};
  MirageUGraph *graphs[2];
  for (int i = 0; i < 2; i++) {
    graphs[i] = mirage_ugraph_create(NULL, "quotient", NULL);
    MirageValue x = mirage_ugraph_input(graphs[i], tensor_type(MIRAGE_F32, 1, 64));
    graphs[i] = finish_with(graphs[i], op2(graphs[i], MIRAGE_OP_DIV, x, op2(graphs[i], MIRAGE_OP_MUL, x, x)));
  }
  VerifyBound in_small, full; // 128 divisors of degree 2, mod q too: 2^8 / 2^4 may vanish, and 2^8 / 2^30
  assert_int_equal(mirage__verify_bound_in(&small, graphs[0], graphs[1], NULL, false, &in_small), MIRAGE_OK);
  assert_int_equal(mirage__verify_bound(graphs[0], graphs[1], NULL, false, &full), MIRAGE_OK);
  assert_true(in_small.log2_trial == in_small.log2_draw + 3);
  assert_true(full.log2_trial > full.log2_draw && full.log2_trial < full.log2_draw + 1e-5);
  mirage_ugraph_destroy(graphs[0]);
  mirage_ugraph_destroy(graphs[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_are_what_was_asked_for),
      cmocka_unit_test(full_size_is_the_ordinary_field),
      cmocka_unit_test(a_size_without_primes_gives_no_field),
      cmocka_unit_test(products_agree_with_the_schoolbook),
      cmocka_unit_test(a_set_has_one_maximum_however_it_is_grouped),
      cmocka_unit_test(different_sets_have_different_maxima),
      cmocka_unit_test(the_bound_follows_the_fields),
      cmocka_unit_test(attempts_cost_what_divisors_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
