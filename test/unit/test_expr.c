// test_expr.c - abstract expressions: the normal form, its axioms, and the prefix test in both directions.
#include "mirage/expr.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static MirageExprTable *t;

static int set_up(void **state) {
  t = mirage_expr_table_create(NULL);
  return t == NULL;
}

static int tear_down(void **state) {
  mirage_expr_table_destroy(t);
  return 0;
}

static MirageExpr in(uint32_t i) { return mirage_expr_input(t, i); }
static MirageExpr num(double v) { return mirage_expr_constant(t, v); }
static MirageExpr add(MirageExpr a, MirageExpr b) { return mirage_expr_add(t, a, b); }
static MirageExpr sub(MirageExpr a, MirageExpr b) { return mirage_expr_sub(t, a, b); }
static MirageExpr mul(MirageExpr a, MirageExpr b) { return mirage_expr_mul(t, a, b); }
static MirageExpr dvd(MirageExpr a, MirageExpr b) { return mirage_expr_div(t, a, b); }
static MirageExpr un(MirageOp op, MirageExpr a) { return mirage_expr_apply(t, op, a, (MirageExpr){0}); }
static MirageExpr tile(MirageExpr a, uint32_t axis) {
  return mirage_expr_sum(t, a, mirage_axis_part(axis, MIRAGE_PART_TILE));
}
static MirageExpr loop(MirageExpr a, uint32_t axis) {
  return mirage_expr_sum(t, a, mirage_axis_part(axis, MIRAGE_PART_LOOP));
}
static MirageExpr whole(MirageExpr a, uint32_t axis) { return loop(tile(a, axis), axis); }

static void expect_same(MirageExpr a, MirageExpr b, int line) {
  char x[256], y[256];
  if (a.index != b.index || !a.index)
    fail_msg("line %d: '%s' is not '%s'", line, mirage_expr_format(t, a, x, sizeof x),
             mirage_expr_format(t, b, y, sizeof y));
}
static void expect_other(MirageExpr a, MirageExpr b, int line) {
  char x[256];
  if (a.index == b.index || !a.index || !b.index)
    fail_msg("line %d: both are '%s'", line, mirage_expr_format(t, a, x, sizeof x));
}
static void expect_reach(MirageExpr e, MirageExpr goal, bool expected, int line) {
  char x[256], y[256];
  for (int again = 0; again < 2; again++) // the second answer is the remembered one
    if (mirage_expr_reaches(t, e, goal) != expected)
      fail_msg("line %d: '%s' %s '%s'", line, mirage_expr_format(t, e, x, sizeof x),
               expected ? "should reach" : "should not reach", mirage_expr_format(t, goal, y, sizeof y));
}
#define SAME(a, b) expect_same(a, b, __LINE__)
#define OTHER(a, b) expect_other(a, b, __LINE__)
#define REACH(e, goal) expect_reach(e, goal, true, __LINE__)
#define NO_REACH(e, goal) expect_reach(e, goal, false, __LINE__)

// ----------------------------------------------------------------------------------------- normal form

static void test_ring_axioms(void **state) {
  MirageExpr a = in(0), b = in(1), c = in(2);
  SAME(add(a, add(b, c)), add(add(c, a), b));
  SAME(mul(a, mul(b, c)), mul(mul(c, b), a));
  SAME(mul(add(a, b), c), add(mul(b, c), mul(c, a)));
  SAME(mul(add(a, b), add(a, b)), add(add(mul(a, a), mul(a, b)), add(mul(b, a), mul(b, b))));
  SAME(add(a, num(0)), a);
  SAME(mul(a, num(1)), a);
  SAME(mul(a, num(0)), num(0));
  SAME(un(MIRAGE_OP_NEG, un(MIRAGE_OP_NEG, a)), a);
  SAME(sub(a, b), add(a, mul(num(-1), b)));
  SAME(mul(num(-3), num(-2)), mul(num(2), num(3)));
  OTHER(sub(a, b), sub(b, a));
  OTHER(add(a, a), a);
  OTHER(mul(a, a), a);
  OTHER(num(2), num(4));
  OTHER(sub(a, a), num(0));           // no cancellation
  OTHER(mul(num(2), num(3)), num(6)); // constants are not folded
}

static void test_division(void **state) {
  MirageExpr a = in(0), b = in(1), c = in(2), d = in(3);
  SAME(dvd(dvd(a, b), c), dvd(a, mul(b, c)));
  SAME(mul(dvd(a, b), dvd(c, d)), dvd(mul(c, a), mul(d, b)));
  SAME(dvd(add(a, b), c), add(dvd(a, c), dvd(b, c)));
  SAME(dvd(a, dvd(b, c)), dvd(mul(a, c), b));
  SAME(dvd(a, add(dvd(b, d), dvd(c, d))), dvd(mul(a, d), add(b, c)));
  SAME(dvd(dvd(a, add(b, c)), add(b, d)), dvd(a, mul(add(d, b), add(c, b))));
  SAME(dvd(a, un(MIRAGE_OP_NEG, b)), un(MIRAGE_OP_NEG, dvd(a, b)));
  SAME(dvd(a, num(1)), a);
  OTHER(dvd(mul(a, b), b), a); // no cancellation
  OTHER(dvd(a, b), dvd(b, a));
  OTHER(dvd(a, add(b, c)), add(dvd(a, b), dvd(a, c)));
  OTHER(dvd(a, add(dvd(b, c), dvd(c, d))),
        dvd(mul(a, mul(c, d)), add(mul(b, d), mul(c, c)))); // mixed denominators are kept
}

static void test_sums(void **state) {
  MirageExpr a = in(0), b = in(1);
  SAME(loop(tile(a, 1), 1), tile(loop(a, 1), 1));
  SAME(tile(add(a, b), 1), add(tile(a, 1), tile(b, 1)));
  SAME(tile(mul(a, b), 1), mul(tile(a, 1), b));
  SAME(dvd(tile(a, 1), b), tile(dvd(a, b), 1));
  OTHER(tile(a, 1), tile(a, 2));
  OTHER(tile(a, 1), loop(a, 1));
  OTHER(tile(tile(a, 1), 1), tile(a, 1));
  OTHER(tile(mul(a, a), 1), mul(tile(a, 1), tile(a, 1)));
  OTHER(un(MIRAGE_OP_EXP, tile(a, 1)), tile(un(MIRAGE_OP_EXP, a), 1));
}

static void test_derived_operators(void **state) {
  MirageExpr a = in(0), one = num(1);
  MirageExpr sigmoid = dvd(one, add(one, un(MIRAGE_OP_EXP, un(MIRAGE_OP_NEG, a))));
  SAME(un(MIRAGE_OP_SIGMOID, a), sigmoid);
  SAME(un(MIRAGE_OP_SILU, a), mul(a, sigmoid));
  SAME(un(MIRAGE_OP_RSQRT, a), dvd(one, un(MIRAGE_OP_SQRT, a)));
  SAME(un(MIRAGE_OP_SQUARE, a), mul(a, a));
  SAME(un(MIRAGE_OP_CAST, a), a);
  OTHER(un(MIRAGE_OP_GELU, a), un(MIRAGE_OP_GELU_TANH, a));
  OTHER(un(MIRAGE_OP_RELU, a), a);
  SAME(mirage_expr_apply(t, MIRAGE_OP_MAX, a, in(1)), mirage_expr_apply(t, MIRAGE_OP_MAX, in(1), a));
  OTHER(mirage_expr_apply(t, MIRAGE_OP_MAX, a, in(1)), mirage_expr_apply(t, MIRAGE_OP_MIN, a, in(1)));
}

static void test_operators_without_rule(void **state) {
  assert_int_equal(un(MIRAGE_OP_STORE, in(0)).index, 0);
  assert_int_equal(mirage_expr_apply(t, MIRAGE_OP_ADD, in(0), (MirageExpr){0}).index, 0);
  assert_int_equal(add((MirageExpr){0}, in(0)).index, 0);
  assert_int_equal(tile((MirageExpr){0}, 0).index, 0);
  assert_false(mirage_expr_reaches(t, (MirageExpr){0}, in(0)));
  assert_false(mirage_expr_reaches(t, in(0), (MirageExpr){0}));
}

static void test_maximum_is_a_gauge(void **state) {
  MirageExpr s = tile(mul(in(0), in(1)), 3), m = mirage_expr_max(t, s);
  SAME(un(MIRAGE_OP_EXP, sub(s, m)), un(MIRAGE_OP_EXP, s));
  SAME(un(MIRAGE_OP_EXP, sub(m, mirage_expr_max(t, in(0)))), num(1));
  SAME(mirage_expr_max(t, m), m);
  OTHER(un(MIRAGE_OP_EXP, sub(s, in(2))), un(MIRAGE_OP_EXP, s));
  OTHER(un(MIRAGE_OP_EXP, mul(s, m)), un(MIRAGE_OP_EXP, s));
  OTHER(mirage_expr_max(t, un(MIRAGE_OP_NEG, m)), m);
}

// ----------------------------------------------------------------------------------------- prefix test

enum { X, W, G }; // inputs of rms_norm(x, g) @ w
enum { K = 1, R = 2, D = 3 };

static MirageExpr rmsnorm_linear(void) {
  MirageExpr mean = dvd(whole(mul(in(X), in(X)), K), num(4096));
  return whole(mul(mul(dvd(in(X), un(MIRAGE_OP_SQRT, mean)), in(G)), in(W)), K);
}

static void test_rmsnorm_subexpressions(void **state) {
  MirageExpr goal = rmsnorm_linear(), squares = mul(in(X), in(X));
  REACH(in(X), goal);
  REACH(squares, goal);
  REACH(tile(squares, K), goal);
  REACH(loop(squares, K), goal);
  REACH(whole(squares, K), goal);
  MirageExpr mean = dvd(whole(squares, K), num(4096)), root = un(MIRAGE_OP_SQRT, mean);
  REACH(mean, goal);
  REACH(root, goal);
  REACH(dvd(num(1), root), goal);
  REACH(un(MIRAGE_OP_RSQRT, mean), goal);
  REACH(dvd(in(X), root), goal);
  REACH(mul(in(X), in(G)), goal);
  REACH(mul(in(W), in(G)), goal);
  REACH(tile(mul(in(X), in(W)), K), goal);
  REACH(whole(mul(mul(in(X), in(G)), in(W)), K), goal);
  REACH(goal, goal);
}

static void test_rmsnorm_strangers(void **state) {
  MirageExpr goal = rmsnorm_linear(), x = in(X), w = in(W), g = in(G);
  NO_REACH(mul(x, mul(x, x)), goal);
  NO_REACH(un(MIRAGE_OP_EXP, x), goal);
  NO_REACH(mul(w, w), goal);
  NO_REACH(mul(g, g), goal);
  NO_REACH(dvd(mul(x, w), x), goal);
  NO_REACH(add(x, w), goal);
  NO_REACH(add(x, x), goal);
  NO_REACH(dvd(x, w), goal);
  NO_REACH(un(MIRAGE_OP_SQRT, x), goal);
  NO_REACH(un(MIRAGE_OP_SQRT, whole(mul(x, x), K)), goal);                // without the mean
  NO_REACH(un(MIRAGE_OP_SQRT, dvd(tile(mul(x, x), K), num(4096))), goal); // of a partial sum
  NO_REACH(tile(tile(mul(x, x), K), K), goal);
  NO_REACH(tile(x, D), goal);
  NO_REACH(mul(whole(mul(x, x), K), w), goal);
  NO_REACH(mul(x, num(3)), goal);
  NO_REACH(mul(goal, x), goal);
  NO_REACH(in(7), goal);
}

static void test_gated_mlp(void **state) {
  enum { W3 = 2 };
  MirageExpr u = whole(mul(in(X), in(W)), K), v = whole(mul(in(X), in(W3)), K);
  MirageExpr goal = mul(un(MIRAGE_OP_SILU, u), v), power = un(MIRAGE_OP_EXP, un(MIRAGE_OP_NEG, u));
  REACH(u, goal);
  REACH(v, goal);
  REACH(un(MIRAGE_OP_NEG, u), goal);
  REACH(power, goal);
  REACH(add(num(1), power), goal);
  REACH(dvd(num(1), add(num(1), power)), goal);
  REACH(un(MIRAGE_OP_SILU, u), goal);
  REACH(mul(u, v), goal);
  REACH(dvd(v, add(num(1), power)), goal);
  REACH(mul(tile(mul(in(X), in(W)), K), v), goal);
  NO_REACH(un(MIRAGE_OP_EXP, u), goal); // the sign inside is part of the argument
  NO_REACH(un(MIRAGE_OP_EXP, un(MIRAGE_OP_NEG, v)), goal);
  NO_REACH(un(MIRAGE_OP_SILU, v), goal);
  NO_REACH(mul(u, u), goal);
  NO_REACH(add(u, v), goal);
  NO_REACH(add(in(W), in(W3)), goal);
  NO_REACH(un(MIRAGE_OP_EXP, un(MIRAGE_OP_NEG, tile(mul(in(X), in(W)), K))), goal);
  NO_REACH(mul(power, power), goal);
  NO_REACH(mul(in(W), mul(in(W3), in(W3))), goal);
}

static void test_lora(void **state) {
  enum { A = 2, B = 3 };
  MirageExpr xw = whole(mul(in(X), in(W)), K), xa = whole(mul(in(X), in(A)), K);
  MirageExpr goal = add(xw, whole(mul(xa, in(B)), R));
  REACH(xw, goal);
  REACH(xa, goal);
  REACH(whole(mul(in(A), in(B)), R), goal);
  REACH(add(in(W), whole(mul(in(A), in(B)), R)), goal);
  REACH(mul(in(X), add(in(W), whole(mul(in(A), in(B)), R))), goal);
  REACH(goal, goal);
  NO_REACH(add(in(W), tile(mul(in(A), in(B)), R)), goal); // no common multiplier
  NO_REACH(add(in(W), mul(in(A), in(B))), goal);
  NO_REACH(add(xw, xw), goal);
  NO_REACH(mul(in(W), in(A)), goal);
  NO_REACH(mul(in(W), in(B)), goal);
  NO_REACH(add(in(X), in(W)), goal);
  NO_REACH(sub(xw, whole(mul(xa, in(B)), R)), goal); // relative sign
  NO_REACH(mul(xa, xa), goal);
}

static void test_attention(void **state) {
  enum { Q, KEY, V };
  MirageExpr logits = mul(whole(mul(in(Q), in(KEY)), D), num(0.125)), safe = sub(logits, mirage_expr_max(t, logits));
  MirageExpr power = un(MIRAGE_OP_EXP, safe), total = whole(power, K);
  MirageExpr goal = whole(mul(dvd(power, total), in(V)), K);
  REACH(logits, goal);
  REACH(mirage_expr_max(t, logits), goal);
  REACH(safe, goal);
  REACH(sub(mirage_expr_max(t, logits), mirage_expr_max(t, logits)), goal); // m_old - m_new
  REACH(power, goal);
  REACH(tile(power, K), goal);
  REACH(total, goal);
  REACH(tile(mul(power, in(V)), K), goal);
  REACH(dvd(whole(mul(power, in(V)), K), total), goal);
  REACH(dvd(mul(in(Q), num(0.125)), num(1)), goal); // the scale applied to q first
  NO_REACH(un(MIRAGE_OP_EXP, in(Q)), goal);
  NO_REACH(add(logits, mirage_expr_max(t, logits)), goal);
  NO_REACH(sub(safe, mirage_expr_max(t, logits)), goal);
  NO_REACH(un(MIRAGE_OP_NEG, mirage_expr_max(t, logits)), goal);
  NO_REACH(mirage_expr_max(t, in(Q)), goal);
  NO_REACH(mirage_expr_max(t, in(V)), goal);
  NO_REACH(un(MIRAGE_OP_EXP, mul(tile(mul(in(Q), in(KEY)), D), num(0.125))), goal); // exp of a partial sum
  NO_REACH(mul(power, power), goal);
  NO_REACH(dvd(in(V), in(Q)), goal);
  NO_REACH(sub(logits, in(V)), goal);
  NO_REACH(mul(in(Q), in(V)), goal);
}

static void test_expanded_denominator(void **state) {
  MirageExpr a = in(0), b = in(1), c = in(2);
  MirageExpr p = add(num(1), a), q = add(num(1), b), goal = dvd(c, mul(p, q));
  REACH(dvd(c, p), goal); // long division: (1 + a + b + a b) / (1 + a) = 1 + b
  REACH(dvd(num(1), q), goal);
  REACH(mul(p, q), goal);
  REACH(p, goal);
  NO_REACH(dvd(c, add(a, b)), goal);
  NO_REACH(dvd(c, mul(p, p)), goal);
  NO_REACH(dvd(c, add(num(1), c)), goal);
  NO_REACH(dvd(mul(p, c), q), goal);
  NO_REACH(dvd(p, c), goal); // c / ((1 + a)(1 + b)) is met without dividing by a quotient
}

static void test_signs(void **state) {
  MirageExpr a = in(0), b = in(1), c = in(2), product = mul(a, b), difference = mul(sub(a, b), c);
  MirageExpr minus_a = un(MIRAGE_OP_NEG, a);
  REACH(a, un(MIRAGE_OP_NEG, product));
  REACH(minus_a, un(MIRAGE_OP_NEG, product));
  REACH(minus_a, un(MIRAGE_OP_EXP, minus_a));
  REACH(sub(a, b), difference);
  REACH(sub(b, a), difference); // times -c
  REACH(b, difference);
  NO_REACH(minus_a, product); // would have to be undone
  NO_REACH(minus_a, un(MIRAGE_OP_EXP, a));
  NO_REACH(un(MIRAGE_OP_NEG, add(a, b)), mul(add(a, b), c));
  NO_REACH(add(a, b), difference);
  NO_REACH(sub(a, b), mul(add(a, b), c));
}

static void test_kept_products(void **state) {
  mirage_expr_keep_products(t);
  MirageExpr a = in(0), b = in(1), c = in(2), sum = add(a, b);
  SAME(mul(c, sum), add(mul(c, a), mul(c, b))); // one factor is a monomial
  OTHER(mul(sum, sum), add(add(mul(a, a), mul(a, b)), add(mul(a, b), mul(b, b))));
  SAME(mul(sum, add(b, c)), mul(add(c, b), sum));
  MirageExpr goal = dvd(c, un(MIRAGE_OP_SQRT, whole(mul(sum, sum), 1)));
  REACH(sum, goal);
  REACH(a, goal);
  REACH(mul(sum, sum), goal);
  REACH(tile(mul(sum, sum), 1), goal);
  NO_REACH(mul(a, a), goal);
  NO_REACH(mul(sum, a), goal);
  MirageExpr p = add(num(1), a), q = add(num(1), b);
  REACH(dvd(c, p), dvd(dvd(c, p), q)); // denominators are divided, so they are expanded
}

// ------------------------------------------------------------------------------------ statistics, size

static void test_axioms_are_counted(void **state) {
  uint64_t before[MIRAGE_NUM_AXIOMS];
  memcpy(before, mirage_expr_stats(t)->axioms, sizeof before);
  (void)rmsnorm_linear();
  dvd(in(0), dvd(in(1), in(2)));
  mul(add(in(0), in(1)), un(MIRAGE_OP_NEG, num(-1)));
  mul(add(in(0), in(1)), in(2));
  const MirageExprStats *stats = mirage_expr_stats(t);
  assert_true(stats->axioms[MIRAGE_AXIOM_SUM_MUL] > before[MIRAGE_AXIOM_SUM_MUL]);
  assert_true(stats->axioms[MIRAGE_AXIOM_DIV_INVERSE] > before[MIRAGE_AXIOM_DIV_INVERSE]);
  assert_true(stats->axioms[MIRAGE_AXIOM_DISTRIBUTE] > before[MIRAGE_AXIOM_DISTRIBUTE]);
  assert_true(stats->axioms[MIRAGE_AXIOM_NEG_NEG] > before[MIRAGE_AXIOM_NEG_NEG]);
  assert_int_equal(stats->axioms[MIRAGE_AXIOM_EXP_GAUGE], before[MIRAGE_AXIOM_EXP_GAUGE]);
  for (int i = 0; i < MIRAGE_NUM_AXIOMS; i++)
    for (int j = 0; j < i; j++)
      assert_string_not_equal(mirage_axiom_name((MirageAxiom)i), mirage_axiom_name((MirageAxiom)j));
}

static void test_answers_are_remembered(void **state) {
  MirageExpr goal = rmsnorm_linear();
  for (int i = 0; i < 3; i++)
    mirage_expr_reaches(t, in(X), goal);
  assert_int_equal(mirage_expr_stats(t)->reach_asked, 3);
  assert_int_equal(mirage_expr_stats(t)->reach_cached, 2);
}

static void test_too_large_is_given_up(void **state) {
  MirageExpr sum = in(0), power;
  for (uint32_t i = 1; i < 40; i++)
    sum = add(sum, in(i));
  power = mul(sum, sum); // 1600 monomials
  assert_int_equal(power.index, 0);
  assert_int_equal(mirage_expr_status(t), MIRAGE_OK);
  assert_true(mirage_expr_stats(t)->too_large > 0);
  assert_true(sum.index != 0);
}

static void test_inputs_and_text(void **state) {
  char text[200];
  MirageExpr e = dvd(tile(mul(in(0), in(2)), 1), un(MIRAGE_OP_SQRT, in(5)));
  assert_int_equal(mirage_expr_inputs(t, e), 1 << 0 | 1 << 2 | 1 << 5);
  assert_int_equal(mirage_expr_inputs(t, num(2)), 0);
  assert_string_equal(mirage_expr_format(t, e, text, sizeof text), "sum{1.tile} in0 in2 / (sqrt(in5))");
  assert_string_equal(mirage_expr_format(t, sub(in(0), num(0.5)), text, sizeof text), "in0 - 0.5");
  assert_string_equal(mirage_expr_format(t, num(0), text, sizeof text), "0");
  assert_string_equal(mirage_expr_format(t, e, text, 5), "sum{"); // cut
}

static size_t allowed;
static void *limited_alloc(void *user, size_t size) { return allowed-- > 0 ? test_malloc(size) : (allowed = 0, NULL); }
static void limited_free(void *user, void *pointer) { test_free(pointer); }

static void test_out_of_memory_is_reported(void **state) {
  MirageAllocator allocator = {.alloc = limited_alloc, .free = limited_free};
  for (size_t budget = 0; budget < 3; budget++) {
    allowed = budget;
    MirageExprTable *small = mirage_expr_table_create(&allocator);
    if (!small)
      continue;
    MirageExpr e = mirage_expr_input(small, 0);
    for (uint32_t i = 1; i < 100000 && e.index; i++)
      e = mirage_expr_mul(small, mirage_expr_input(small, i % 7), mirage_expr_apply(small, MIRAGE_OP_EXP, e, e));
    assert_int_equal(e.index, 0);
    assert_int_equal(mirage_expr_status(small), MIRAGE_NO_MEMORY);
    mirage_expr_table_destroy(small);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_ring_axioms),
      TEST(test_division),
      TEST(test_sums),
      TEST(test_derived_operators),
      TEST(test_operators_without_rule),
      TEST(test_maximum_is_a_gauge),
      TEST(test_rmsnorm_subexpressions),
      TEST(test_rmsnorm_strangers),
      TEST(test_gated_mlp),
      TEST(test_lora),
      TEST(test_attention),
      TEST(test_expanded_denominator),
      TEST(test_signs),
      TEST(test_kept_products),
      TEST(test_axioms_are_counted),
      TEST(test_answers_are_remembered),
      TEST(test_too_large_is_given_up),
      TEST(test_inputs_and_text),
      TEST(test_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
