// test_oracle.c - the axioms of abstract expressions, one by one, before two judges: the normal form and Z3.
//
// Each row of `equations` is an axiom and an instance of it: both judges must see that the sides are equal, and the
// normal form must have counted the axiom. Rows of `inequalities` are tempting and wrong. Where Z3 was not built in,
// only the normal form answers.
#include "mirage/oracle.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static MirageTerms *terms;
static MirageOracle *oracle; // NULL without Z3

static int set_up(void **state) {
  terms = mirage_terms_create(NULL);
  return !terms || mirage_oracle_create(terms, 0, MIRAGE_ORACLE_ALL, NULL, &oracle) == MIRAGE_NO_MEMORY;
}

static int tear_down(void **state) {
  mirage_oracle_destroy(oracle);
  mirage_terms_destroy(terms);
  return 0;
}

// Terms are written in prefix: `+ab` adds inputs a and b; digits are constants; `_` negates, `s`, `t` sum over two
// parts of an axis, `m` is a maximum over an axis, `^` the larger of two, `e` exp, `r` sqrt.
static MirageTerm parse(const char **text) {
  char c = *(*text)++;
  if (c >= 'a' && c <= 'd')
    return mirage_term_input(terms, (uint32_t)(c - 'a'));
  if (c >= '0' && c <= '9')
    return mirage_term_constant(terms, c - '0');
  MirageTerm a = parse(text), none = {0};
  switch (c) {
  case 's':
    return mirage_term_sum(terms, a, mirage_axis_part(1, MIRAGE_PART_TILE));
  case 't':
    return mirage_term_sum(terms, a, mirage_axis_part(1, MIRAGE_PART_LOOP));
  case '_':
    return mirage_term_apply(terms, MIRAGE_OP_NEG, a, none);
  case 'm':
    return mirage_term_apply(terms, MIRAGE_OP_REDUCE_MAX, a, none);
  case 'e':
    return mirage_term_apply(terms, MIRAGE_OP_EXP, a, none);
  case 'r':
    return mirage_term_apply(terms, MIRAGE_OP_SQRT, a, none);
  case '+':
    return mirage_term_apply(terms, MIRAGE_OP_ADD, a, parse(text));
  case '-':
    return mirage_term_apply(terms, MIRAGE_OP_SUB, a, parse(text));
  case '*':
    return mirage_term_apply(terms, MIRAGE_OP_MUL, a, parse(text));
  case '/':
    return mirage_term_apply(terms, MIRAGE_OP_DIV, a, parse(text));
  case '^':
    return mirage_term_apply(terms, MIRAGE_OP_MAX, a, parse(text));
  default:
    fail_msg("no operator '%c'", c);
    return none;
  }
}

static MirageTerm term(const char *text) {
  MirageTerm result = parse(&text);
  assert_true(result.index != 0 && *text == '\0');
  return result;
}

enum { ANY = MIRAGE_NUM_AXIOMS }; // holds by the representation: nothing is counted

typedef struct Row {
  uint32_t axiom;
  const char *left, *right;
} Row;

static const Row equations[] = {
    {ANY, "+ab", "+ba"},
    {ANY, "*ab", "*ba"},
    {ANY, "++abc", "+a+bc"},
    {ANY, "**abc", "*a*bc"},
    {MIRAGE_AXIOM_ADD_ZERO, "+a0", "a"},
    {MIRAGE_AXIOM_MUL_ZERO, "*a0", "0"},
    {MIRAGE_AXIOM_MUL_ONE, "*a1", "a"},
    {MIRAGE_AXIOM_DISTRIBUTE, "*+abc", "+*ac*bc"},
    {MIRAGE_AXIOM_DISTRIBUTE, "*+a1b", "+*abb"},
    {MIRAGE_AXIOM_DISTRIBUTE, "*+ab+cd", "++*ac*ad+*bc*bd"},
    {MIRAGE_AXIOM_NEG_NEG, "*_a_b", "*ab"},
    {MIRAGE_AXIOM_NEG_NEG, "__a", "a"},
    {ANY, "-ab", "+a_b"},
    {MIRAGE_AXIOM_SUM_ADD, "s+ab", "+sasb"},
    {MIRAGE_AXIOM_SUM_SUM, "sta", "tsa"},
    {MIRAGE_AXIOM_SUM_MUL, "*sab", "s*ab"},
    {ANY, "/sab", "s/ab"},
    {MIRAGE_AXIOM_DIV_ADD, "/+abc", "+/ac/bc"},
    {MIRAGE_AXIOM_DIV_DIV, "//abc", "/a*bc"},
    {MIRAGE_AXIOM_DIV_DIV, "*/ab/cd", "/*ac*bd"},
    {MIRAGE_AXIOM_DIV_INVERSE, "/a/bc", "/*acb"},
    {ANY, "/a_b", "_/ab"},
    {MIRAGE_AXIOM_MAX_MAX, "mma", "ma"},
    {MIRAGE_AXIOM_MAX_MAX, "^aa", "a"},
    {ANY, "^ab", "^ba"},
    {MIRAGE_AXIOM_EXP_GAUGE, "e-amb", "ea"},
    {MIRAGE_AXIOM_EXP_GAUGE, "e-mamb", "1"},
};

static const Row inequalities[] = {
    {ANY, "-ab", "-ba"},       {ANY, "-aa", "0"},         {ANY, "/*abb", "a"},    {ANY, "/ab", "/ba"},
    {ANY, "/a+bc", "+/ab/ac"}, {ANY, "*23", "6"},         {ANY, "ssa", "sa"},     {ANY, "sa", "ta"},
    {ANY, "s*aa", "*sasa"},    {ANY, "esa", "sea"},       {ANY, "e+ab", "*eaeb"}, {ANY, "r*ab", "*rarb"},
    {ANY, "m_a", "_ma"},       {ANY, "^+ab+cb", "+^acb"}, {ANY, "e-ab", "ea"},    {ANY, "e*amb", "ea"},
};

// The judges' answers; the axioms that the normal form counted are added up in `counted`.
static bool normal_equal(MirageTerm left, MirageTerm right, uint64_t *counted) {
  MirageExprTable *table = mirage_expr_table_create(NULL);
  MirageExpr *exprs = calloc((size_t)mirage_terms_count(terms) + 1, sizeof *exprs);
  mirage_terms_normalize(terms, table, exprs);
  bool equal = exprs[left.index].index != 0 && exprs[left.index].index == exprs[right.index].index;
  for (uint32_t i = 0; i < MIRAGE_NUM_AXIOMS; i++)
    counted[i] = mirage_expr_stats(table)->axioms[i];
  free(exprs);
  mirage_expr_table_destroy(table);
  return equal;
}

static void test_axioms(void **state) {
  for (size_t i = 0; i < sizeof equations / sizeof *equations; i++) {
    const Row *row = &equations[i];
    set_up(state); // so that only this row's terms are counted
    MirageTerm left = term(row->left), right = term(row->right);
    uint64_t counted[MIRAGE_NUM_AXIOMS + 1] = {[ANY] = 1};
    if (!normal_equal(left, right, counted))
      fail_msg("the normal form does not see %s = %s", row->left, row->right);
    if (!counted[row->axiom])
      fail_msg("%s = %s: %s is not counted", row->left, row->right, mirage_axiom_name((MirageAxiom)row->axiom));
    if (oracle && mirage_oracle_equal(oracle, left, right) != MIRAGE_ORACLE_SHOWN)
      fail_msg("Z3 does not show %s = %s", row->left, row->right);
    tear_down(state);
  }
}

static void test_every_axiom_has_a_row(void **state) {
  for (uint32_t axiom = 0; axiom < MIRAGE_NUM_AXIOMS; axiom++) {
    uint32_t rows = 0;
    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++)
      rows += equations[i].axiom == axiom;
    if (!rows)
      fail_msg("%s has no test", mirage_axiom_name((MirageAxiom)axiom));
  }
}

static void test_what_is_no_axiom(void **state) {
  for (size_t i = 0; i < sizeof inequalities / sizeof *inequalities; i++) {
    const Row *row = &inequalities[i];
    set_up(state);
    MirageTerm left = term(row->left), right = term(row->right);
    uint64_t counted[MIRAGE_NUM_AXIOMS];
    if (normal_equal(left, right, counted))
      fail_msg("the normal form takes %s for %s", row->left, row->right);
    if (oracle && mirage_oracle_equal(oracle, left, right) == MIRAGE_ORACLE_SHOWN)
      fail_msg("Z3 takes %s for %s", row->left, row->right);
    tear_down(state);
  }
}

static void expect_reach(const char *e, const char *goal, bool expected) {
  if (!oracle)
    return;
  MirageOracleAnswer answer = mirage_oracle_reaches(oracle, term(e), term(goal));
  if ((answer == MIRAGE_ORACLE_SHOWN) != expected)
    fail_msg("Z3: %s %s %s", e, expected ? "should reach" : "should not reach", goal);
}

static void test_subexpressions(void **state) {
  set_up(state);
  expect_reach("a", "a", true);
  expect_reach("1", "a", true); // a = a * 1
  expect_reach("*ac", "**abc", true);
  expect_reach("+ac", "++abc", true);
  expect_reach("+ab", "+*ac*bc", true);
  expect_reach("/1c", "/+abc", true);
  expect_reach("s*ab", "st*ab", true);
  expect_reach("*ab", "e*ab", true);
  expect_reach("ma", "-ama", true);
  expect_reach("^ab", "*^bac", true);
  expect_reach("*aa", "*ab", false);
  expect_reach("+aa", "+ab", false);
  expect_reach("ea", "*ab", false);
  expect_reach("/*abb", "a", false); // cancellation is no axiom
  expect_reach("c", "+ab", false);
  tear_down(state);
}

static void test_axioms_can_be_left_out(void **state) {
  terms = mirage_terms_create(NULL);
  MirageTerm product = term("*ab"), minus = term("_a"), quotient = term("/1/ab"), turned = term("/ba");
  for (uint32_t all = 0; all < 2; all++) {
    if (mirage_oracle_create(terms, 0, all ? MIRAGE_ORACLE_ALL : 0, NULL, &oracle) == MIRAGE_UNSUPPORTED)
      break;
    assert_int_equal(mirage_oracle_reaches(oracle, minus, product) == MIRAGE_ORACLE_SHOWN, all); // a = (-1)(-a)
    assert_int_equal(mirage_oracle_equal(oracle, quotient, turned) == MIRAGE_ORACLE_SHOWN, all);
    assert_int_equal(mirage_oracle_equal(oracle, term("__a"), term("a")) == MIRAGE_ORACLE_SHOWN, all);
    assert_int_equal(mirage_oracle_equal(oracle, term("e-amb"), term("ea")) == MIRAGE_ORACLE_SHOWN, all);
    mirage_oracle_destroy(oracle);
  }
  mirage_terms_destroy(terms);
}

static void test_limit(void **state) {
  terms = mirage_terms_create(NULL);
  MirageTerm goal = term("*+a*bc+*rc*cd/a+bd"), stranger = term("ea");
  if (mirage_oracle_create(terms, 1000, MIRAGE_ORACLE_ALL, NULL, &oracle) == MIRAGE_OK)
    assert_int_equal(mirage_oracle_reaches(oracle, stranger, goal), MIRAGE_ORACLE_LIMIT);
  mirage_oracle_destroy(oracle);
  if (mirage_oracle_create(terms, 0, MIRAGE_ORACLE_ALL, NULL, &oracle) == MIRAGE_OK)
    assert_int_equal(mirage_oracle_reaches(oracle, stranger, term("*ab")), MIRAGE_ORACLE_SATURATED);
  mirage_oracle_destroy(oracle);
  mirage_terms_destroy(terms);
}

static char message[256];
static void remember(void *user, MirageSeverity severity, const void *loc, const char *text) {
  strncpy(message, text, sizeof message - 1);
}

// A build without Z3 says which option is missing; one with it answers.
static void test_z3_or_a_sentence(void **state) {
  const MirageDiag diag = {remember, NULL};
  terms = mirage_terms_create(NULL);
  MirageStatus status = mirage_oracle_create(terms, 0, MIRAGE_ORACLE_ALL, &diag, &oracle);
#ifdef MIRAGE_WITH_Z3
  assert_int_equal(status, MIRAGE_OK);
#else
  assert_int_equal(status, MIRAGE_UNSUPPORTED);
  assert_non_null(strstr(message, "MIRAGE_WITH_Z3"));
#endif
  tear_down(state);
}

static void test_terms(void **state) {
  terms = mirage_terms_create(NULL);
  MirageTerm a = term("a"), none = {0};
  assert_int_equal(term("*+ab+ab").index, term("*+ab+ab").index); // shared
  assert_int_not_equal(term("+ab").index, term("+ba").index);     // as built
  assert_int_equal(mirage_term_apply(terms, MIRAGE_OP_CAST, a, none).index, a.index);
  assert_int_equal(mirage_term_apply(terms, MIRAGE_OP_STORE, a, a).index, 0);
  assert_int_equal(mirage_term_apply(terms, MIRAGE_OP_ADD, a, none).index, 0);
  assert_int_equal(mirage_term_apply(terms, MIRAGE_OP_EXP, none, none).index, 0);
  assert_int_equal(mirage_term_sum(terms, none, mirage_axis_part(1, MIRAGE_PART_TILE)).index, 0);
  for (uint32_t i = 0; i < 1000; i++) // past several growths
    mirage_term_apply(terms, MIRAGE_OP_MUL, mirage_term_input(terms, i), a);
  assert_int_equal(mirage_term_input(terms, 0).index, a.index);
  assert_int_equal(mirage_terms_status(terms), MIRAGE_OK);
  mirage_terms_destroy(terms);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_terms),
      cmocka_unit_test(test_axioms),
      cmocka_unit_test(test_every_axiom_has_a_row),
      cmocka_unit_test(test_what_is_no_axiom),
      cmocka_unit_test(test_subexpressions),
      cmocka_unit_test(test_axioms_can_be_left_out),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_z3_or_a_sentence),
  };
  return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
