// test_expr_sketch.c - degrees refuse only what reaches no goal, and nearly all of that.
#include "mirage/expr.h"
#include "mirage/random.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { POOL = 120 };

static MirageExprTable *t;

static MirageExpr in(uint32_t i) { return mirage_expr_input(t, i); }
static MirageExpr num(double v) { return mirage_expr_constant(t, v); }
static MirageExpr un(MirageOp op, MirageExpr a) { return mirage_expr_apply(t, op, a, (MirageExpr){0}); }
static MirageExpr whole(MirageExpr a, uint32_t axis) {
  MirageExpr tile = mirage_expr_sum(t, a, mirage_axis_part(axis, MIRAGE_PART_TILE));
  return mirage_expr_sum(t, tile, mirage_axis_part(axis, MIRAGE_PART_LOOP));
}
static MirageExpr product(MirageExpr a, MirageExpr b, uint32_t axis) { return whole(mirage_expr_mul(t, a, b), axis); }

// ----------------------------------------------------------------------------------------------- goals

static MirageExpr rms(MirageExpr x) {
  MirageExpr mean = mirage_expr_div(t, product(x, x, 1), num(4096));
  return mirage_expr_div(t, x, un(MIRAGE_OP_SQRT, mirage_expr_add(t, mean, num(1e-5))));
}

static MirageExpr rmsnorm_linear(void) { return product(mirage_expr_mul(t, rms(in(0)), in(1)), in(2), 1); }

static MirageExpr layer_norm_gelu(void) {
  MirageExpr centred = mirage_expr_sub(t, in(0), mirage_expr_div(t, whole(in(0), 1), num(1024)));
  MirageExpr affine = mirage_expr_add(t, mirage_expr_mul(t, rms(centred), in(1)), in(2));
  return un(MIRAGE_OP_GELU, product(affine, in(3), 1));
}

static MirageExpr gated_mlp(void) {
  return mirage_expr_mul(t, un(MIRAGE_OP_SILU, product(in(0), in(1), 1)), product(in(0), in(2), 1));
}

static MirageExpr lora(void) {
  return mirage_expr_add(t, product(in(0), in(1), 1), product(product(in(0), in(2), 1), in(3), 2));
}

// With the maximum that the goal's expression loses and its prefixes have.
static MirageExpr attention(void) {
  MirageExpr scores = product(in(0), in(1), 1);
  MirageExpr e = un(MIRAGE_OP_EXP, mirage_expr_sub(t, scores, mirage_expr_max(t, scores)));
  return product(mirage_expr_div(t, e, whole(e, 2)), in(2), 2);
}

static MirageExpr relu_squared(void) {
  MirageExpr relu = mirage_expr_apply(t, MIRAGE_OP_MAX, product(in(0), in(1), 1), num(0));
  return mirage_expr_mul(t, relu, mirage_expr_apply(t, MIRAGE_OP_MAX, in(0), in(1)));
}

// ------------------------------------------------------------------------------------------- the check

static const MirageOp binary_ops[] = {MIRAGE_OP_ADD, MIRAGE_OP_SUB, MIRAGE_OP_MUL, MIRAGE_OP_DIV, MIRAGE_OP_MAX};

static bool is_new(MirageExpr e, const MirageExpr *pool, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (pool[i].index == e.index)
      return false;
  return e.index != 0;
}

// Expressions on the way to the goal, and some beside it: what operators make of leaves, reaching ones preferred.
static uint32_t fill_pool(MirageExpr goal, MirageExpr *pool) {
  static const MirageOp unary_ops[] = {MIRAGE_OP_EXP, MIRAGE_OP_SQRT, MIRAGE_OP_ERF, MIRAGE_OP_REDUCE_MAX};
  MirageRandom random;
  mirage_random_init(&random, 11, goal.index);
  uint32_t count = 0;
  for (uint32_t i = 0; i < 4; i++)
    pool[count++] = in(i);
  const double constants[] = {0, 1, -1, 4096, 1e-5, 1024, 0.5};
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    pool[count++] = num(constants[i]);
  pool[count++] = goal;
  for (uint32_t tries = 0; count < POOL && tries < 100000; tries++) {
    MirageExpr a = pool[mirage_random_below(&random, count)], b = pool[mirage_random_below(&random, count)], made;
    uint64_t kind = mirage_random_below(&random, 8);
    if (kind < 3)
      made = whole(mirage_expr_mul(t, a, b), 1 + kind % 2);
    else if (kind < 4)
      made = un(unary_ops[mirage_random_below(&random, 4)], a);
    else
      made = mirage_expr_apply(t, binary_ops[mirage_random_below(&random, 5)], a, b);
    if (is_new(made, pool, count) && (mirage_expr_reaches(t, made, goal) || mirage_random_below(&random, 500) == 0))
      pool[count++] = made;
  }
  return count;
}

static void check_pool(MirageExpr goal, const char *name) {
  MirageExpr pool[POOL];
  MirageExprSketch sketches[POOL];
  uint32_t count = fill_pool(goal, pool), refused = 0, unreached = 0;
  assert_int_equal(mirage_expr_sketch_goals(t, 1, &goal), MIRAGE_OK);
  for (uint32_t i = 0; i < count; i++)
    mirage_expr_sketch(t, pool[i], &sketches[i]);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < count; j++)
      for (size_t op = 0; op < sizeof binary_ops / sizeof *binary_ops; op++) {
        bool may = mirage_expr_may_reach(t, binary_ops[op], &sketches[i], &sketches[j]);
        bool does = mirage_expr_reaches(t, mirage_expr_apply(t, binary_ops[op], pool[i], pool[j]), goal);
        char a[256], b[256];
        if (does && !may)
          fail_msg("%s: %s of '%s' and '%s' is refused", name, mirage_op_info(binary_ops[op])->mnemonic,
                   mirage_expr_format(t, pool[i], a, sizeof a), mirage_expr_format(t, pool[j], b, sizeof b));
        refused += !may;
        unreached += !does;
      }
  if (refused < unreached / 2)
    fail_msg("%s: %u of %u refused", name, refused, unreached);
}

static void check_goals(bool keep_products) {
  static const struct {
    const char *name;
    MirageExpr (*make)(void);
  } goals[] = {{"rmsnorm_linear", rmsnorm_linear}, {"layer_norm_gelu", layer_norm_gelu},
               {"gated_mlp", gated_mlp},           {"lora", lora},
               {"attention", attention},           {"relu_squared", relu_squared}};
  for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
    t = mirage_expr_table_create(NULL);
    if (keep_products)
      mirage_expr_keep_products(t);
    check_pool(goals[i].make(), goals[i].name);
    mirage_expr_table_destroy(t);
  }
}

static void test_only_what_reaches_nothing_is_refused(void **state) { check_goals(false); }
static void test_with_kept_products(void **state) { check_goals(true); }

// Without goals there is no answer, and a sketch of nothing has none.
static void test_no_goals(void **state) {
  t = mirage_expr_table_create(NULL);
  MirageExprSketch a, none;
  mirage_expr_sketch(t, (MirageExpr){0}, &none);
  assert_true(none.unknown);
  assert_int_equal(mirage_expr_sketch_goals(t, 1, &(MirageExpr){in(0).index}), MIRAGE_OK);
  mirage_expr_sketch(t, in(1), &a);
  assert_false(a.unknown);
  assert_true(mirage_expr_may_reach(t, MIRAGE_OP_MUL, &a, &none));
  assert_false(mirage_expr_may_reach(t, MIRAGE_OP_MUL, &a, &a));
  mirage_expr_table_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_what_reaches_nothing_is_refused),
      cmocka_unit_test(test_with_kept_products),
      cmocka_unit_test(test_no_goals),
  };
  return cmocka_run_group_tests_name("expr_sketch", tests, NULL, NULL);
}
