// oracle_z3.c - abstract expressions judged by Z3. [Mirage 4.2, 4.3]
//
// Terms are an uninterpreted sort. A_eq is a list of quantified equations with explicit triggers (below, one row each);
// a sum over an axis part is a product with that part's factor, which says sum-sum, sum-add, sum-mul and sum-div at
// once, and a quotient is a product with an inverse. A_sub for one goal is a predicate "reached": the goal is reached,
// and so are the operands of what is reached. A question asserts the opposite of what it asks; only "unsatisfiable" is
// an answer. Models are never built (mbqi = false), so Z3 either finds the contradiction, or runs out of triggers, or
// of steps (rlimit; never of time).
#include "term.h"

#ifdef MIRAGE_WITH_Z3
#include <stdio.h>
#include <string.h>
#include <z3.h>

enum { DEFAULT_RLIMIT = 1000000 };

struct MirageOracle {
  MirageArena arena;
  const MirageTerms *terms;
  Z3_context z3;
  Z3_solver solver;
  Z3_sort sort;
  Z3_func_decl add, mul, inverse, max, reached;
  Z3_func_decl apply[MIRAGE_NUM_OPS]; // unary operators
  Z3_ast zero, one, minus_one;
  Z3_ast x, y, z; // bound variables
  Z3_ast *terms_z3;
  uint32_t num_terms, capacity;
};

static void ignore_error(Z3_context context, Z3_error_code code) {} // an AST is then NULL, and nothing is shown

static Z3_symbol symbol(MirageOracle *o, const char *name) { return Z3_mk_string_symbol(o->z3, name); }

static Z3_func_decl declare(MirageOracle *o, const char *name, uint32_t arity, Z3_sort range) {
  return Z3_mk_func_decl(o->z3, symbol(o, name), arity, (Z3_sort[]){o->sort, o->sort}, range);
}

static Z3_ast unary(MirageOracle *o, Z3_func_decl f, Z3_ast a) { return Z3_mk_app(o->z3, f, 1, &a); }
static Z3_ast binary(MirageOracle *o, Z3_func_decl f, Z3_ast a, Z3_ast b) {
  return Z3_mk_app(o->z3, f, 2, (Z3_ast[]){a, b});
}
static Z3_ast add(MirageOracle *o, Z3_ast a, Z3_ast b) { return binary(o, o->add, a, b); }
static Z3_ast mul(MirageOracle *o, Z3_ast a, Z3_ast b) { return binary(o, o->mul, a, b); }
static Z3_ast equal(MirageOracle *o, Z3_ast a, Z3_ast b) { return Z3_mk_eq(o->z3, a, b); }
static Z3_ast reached(MirageOracle *o, Z3_ast a) { return unary(o, o->reached, a); }

// ---------------------------------------------------------------------------------------------- axioms

static void hold(MirageOracle *o, Z3_ast formula) { Z3_solver_assert(o->z3, o->solver, formula); }

// For all x, y, z (those that occur): formula; instantiated where a term looks like one of the triggers.
static void axiom(MirageOracle *o, uint32_t num_variables, Z3_ast formula, uint32_t num_triggers,
                  const Z3_ast *triggers) {
  Z3_pattern patterns[2];
  Z3_sort sorts[3] = {o->sort, o->sort, o->sort};
  Z3_symbol names[3] = {symbol(o, "x"), symbol(o, "y"), symbol(o, "z")};
  for (uint32_t i = 0; i < num_triggers; i++)
    patterns[i] = Z3_mk_pattern(o->z3, 1, &triggers[i]);
  hold(o, Z3_mk_quantifier(o->z3, true, 0, num_triggers, patterns, num_variables, sorts, names, formula));
}

// left = right wherever a term looks like `left`; and, if asked, where one looks like `right`.
static void equation(MirageOracle *o, uint32_t num_variables, Z3_ast left, Z3_ast right, bool both_ways) {
  axiom(o, num_variables, equal(o, left, right), both_ways ? 2 : 1, (Z3_ast[]){left, right});
}

static void add_ring_axioms(MirageOracle *o) {
  Z3_ast x = o->x, y = o->y, z = o->z;
  equation(o, 2, add(o, x, y), add(o, y, x), false);
  equation(o, 2, mul(o, x, y), mul(o, y, x), false);
  equation(o, 3, add(o, add(o, x, y), z), add(o, x, add(o, y, z)), false);
  equation(o, 3, mul(o, mul(o, x, y), z), mul(o, x, mul(o, y, z)), false);
  equation(o, 1, add(o, x, o->zero), x, false);
  equation(o, 1, mul(o, x, o->zero), o->zero, false);
  equation(o, 1, mul(o, x, o->one), x, false);
}

// mul-add: (x + y) z = x z + y z. Read backwards it finds factors; x z + z and z + z need the 1 that stands there
// unwritten.
static void add_distribution(MirageOracle *o) {
  Z3_ast x = o->x, y = o->y, z = o->z;
  Z3_ast product = mul(o, add(o, x, y), z), sum = add(o, mul(o, x, z), mul(o, y, z));
  equation(o, 3, product, sum, true);
  Z3_ast partial = add(o, mul(o, x, y), y), twice = add(o, x, x);
  equation(o, 2, partial, mul(o, add(o, x, o->one), y), false);
  equation(o, 1, twice, mul(o, add(o, o->one, o->one), x), false);
}

// div-div: (a/b)/c = a/(b c); div-mul and div-add follow from the ring, a quotient being a product.
static void add_division(MirageOracle *o, uint32_t axioms) {
  Z3_ast x = o->x, y = o->y;
  Z3_ast of_product = unary(o, o->inverse, mul(o, x, y));
  Z3_ast of_factors = mul(o, unary(o, o->inverse, x), unary(o, o->inverse, y));
  equation(o, 2, of_product, of_factors, true);
  hold(o, equal(o, unary(o, o->inverse, o->one), o->one));
  hold(o, equal(o, unary(o, o->inverse, o->minus_one), o->minus_one));
  if (axioms & MIRAGE_ORACLE_DIV_INVERSE)
    equation(o, 1, unary(o, o->inverse, unary(o, o->inverse, x)), x, false);
  if (axioms & MIRAGE_ORACLE_NEG_NEG)
    hold(o, equal(o, mul(o, o->minus_one, o->minus_one), o->one));
}

static void add_maxima(MirageOracle *o) {
  Z3_ast x = o->x, y = o->y;
  Z3_func_decl reduce = o->apply[MIRAGE_OP_REDUCE_MAX];
  equation(o, 2, binary(o, o->max, x, y), binary(o, o->max, y, x), false);
  equation(o, 1, binary(o, o->max, x, x), x, false);
  equation(o, 1, unary(o, reduce, unary(o, reduce, x)), unary(o, reduce, x), false);
}

// exp-gauge: exp(a +- max(b)) = exp(a), and 1 when nothing is left.
static void add_gauge(MirageOracle *o) {
  Z3_func_decl exp = o->apply[MIRAGE_OP_EXP];
  Z3_ast maximum = unary(o, o->apply[MIRAGE_OP_REDUCE_MAX], o->y), minus = mul(o, o->minus_one, maximum);
  Z3_ast signs[] = {maximum, minus};
  for (uint32_t i = 0; i < 2; i++) {
    equation(o, 2, unary(o, exp, add(o, o->x, signs[i])), unary(o, exp, o->x), false);
    Z3_ast alone = unary(o, exp, Z3_substitute_vars(o->z3, signs[i], 2, (Z3_ast[]){o->x, o->x}));
    equation(o, 1, alone, o->one, false);
  }
}

// A_sub: the operands of what is reached are reached.
static void add_subexpressions(MirageOracle *o) {
  Z3_ast x = o->x, y = o->y;
  Z3_func_decl binaries[] = {o->add, o->mul, o->max};
  for (uint32_t i = 0; i < 3; i++) {
    Z3_ast whole = binary(o, binaries[i], x, y), both = Z3_mk_and(o->z3, 2, (Z3_ast[]){reached(o, x), reached(o, y)});
    axiom(o, 2, Z3_mk_implies(o->z3, reached(o, whole), both), 1, &whole);
  }
  for (uint32_t op = 0; op <= MIRAGE_NUM_OPS; op++) {
    Z3_func_decl f = op < MIRAGE_NUM_OPS ? o->apply[op] : o->inverse;
    if (!f)
      continue;
    Z3_ast whole = unary(o, f, x);
    axiom(o, 1, Z3_mk_implies(o->z3, reached(o, whole), reached(o, x)), 1, &whole);
  }
}

// ----------------------------------------------------------------------------------------------- terms

static Z3_ast constant(MirageOracle *o, const char *kind, double value) {
  char name[64];
  snprintf(name, sizeof name, "%s%.17g", kind, value);
  return Z3_mk_const(o->z3, symbol(o, name), o->sort);
}

static Z3_ast number(MirageOracle *o, double value) {
  if (value == 0)
    return o->zero;
  if (value == 1 || value == -1)
    return value < 0 ? o->minus_one : o->one;
  Z3_ast magnitude = constant(o, "c", value < 0 ? -value : value);
  return value < 0 ? mul(o, o->minus_one, magnitude) : magnitude;
}

static Z3_ast translate(MirageOracle *o, const TermNode *node) {
  Z3_ast a = o->terms_z3[node->a], b = o->terms_z3[node->b];
  switch (node->kind) {
  case TERM_INPUT:
    return constant(o, "in", node->which);
  case TERM_CONSTANT:
    return number(o, node->value);
  case TERM_SUM:
    return mul(o, constant(o, "part", node->which), a);
  case TERM_APPLY:
    break;
  }
  switch ((MirageOp)node->which) {
  case MIRAGE_OP_ADD:
    return add(o, a, b);
  case MIRAGE_OP_SUB:
    return add(o, a, mul(o, o->minus_one, b));
  case MIRAGE_OP_MUL:
    return mul(o, a, b);
  case MIRAGE_OP_DIV:
    return mul(o, a, unary(o, o->inverse, b));
  case MIRAGE_OP_MAX:
    return binary(o, o->max, a, b);
  default:
    return unary(o, o->apply[node->which], a);
  }
}

// Z3's form of a term, translated with all before it; NULL when memory is out.
static Z3_ast term_of(MirageOracle *o, MirageTerm term) {
  if (term.index >= o->capacity) {
    uint32_t capacity = 2 * term.index + 64;
    Z3_ast *grown = mirage_arena_alloc_array(&o->arena, capacity, sizeof *grown);
    if (!grown)
      return NULL;
    if (o->terms_z3)
      memcpy(grown, o->terms_z3, ((size_t)o->num_terms + 1) * sizeof *grown);
    o->terms_z3 = grown;
    o->capacity = capacity;
  }
  while (o->num_terms < term.index) {
    o->num_terms++;
    o->terms_z3[o->num_terms] = translate(o, &o->terms->nodes[o->num_terms]);
  }
  return o->terms_z3[term.index];
}

// ------------------------------------------------------------------------------------------- life cycle

static void open_solver(MirageOracle *o, uint32_t rlimit) {
  o->solver = Z3_mk_simple_solver(o->z3);
  Z3_solver_inc_ref(o->z3, o->solver);
  Z3_params params = Z3_mk_params(o->z3);
  Z3_params_inc_ref(o->z3, params);
  Z3_params_set_bool(o->z3, params, symbol(o, "mbqi"), false);
  Z3_params_set_bool(o->z3, params, symbol(o, "auto_config"), false);
  Z3_params_set_uint(o->z3, params, symbol(o, "rlimit"), rlimit ? rlimit : DEFAULT_RLIMIT);
  Z3_solver_set_params(o->z3, o->solver, params);
  Z3_params_dec_ref(o->z3, params);
}

static void declare_operators(MirageOracle *o) {
  static const MirageOp unaries[] = {MIRAGE_OP_EXP,  MIRAGE_OP_LOG, MIRAGE_OP_SQRT, MIRAGE_OP_ERF,
                                     MIRAGE_OP_TANH, MIRAGE_OP_SIN, MIRAGE_OP_COS,  MIRAGE_OP_REDUCE_MAX};
  o->sort = Z3_mk_uninterpreted_sort(o->z3, symbol(o, "term"));
  o->add = declare(o, "add", 2, o->sort);
  o->mul = declare(o, "mul", 2, o->sort);
  o->max = declare(o, "max", 2, o->sort);
  o->inverse = declare(o, "inverse", 1, o->sort);
  o->reached = declare(o, "reached", 1, Z3_mk_bool_sort(o->z3));
  for (uint32_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
    o->apply[unaries[i]] = declare(o, mirage_op_info(unaries[i])->mnemonic, 1, o->sort);
  o->zero = Z3_mk_const(o->z3, symbol(o, "0"), o->sort);
  o->one = Z3_mk_const(o->z3, symbol(o, "1"), o->sort);
  o->minus_one = Z3_mk_const(o->z3, symbol(o, "-1"), o->sort);
  o->x = Z3_mk_bound(o->z3, 0, o->sort);
  o->y = Z3_mk_bound(o->z3, 1, o->sort);
  o->z = Z3_mk_bound(o->z3, 2, o->sort);
}

MirageStatus mirage_oracle_create(const MirageTerms *terms, uint32_t rlimit, uint32_t axioms, const MirageDiag *diag,
                                  MirageOracle **out_oracle) {
  MirageArena arena;
  *out_oracle = NULL;
  mirage_arena_init(&arena, NULL);
  MirageOracle *o = mirage_arena_alloc(&arena, sizeof *o);
  Z3_config config = o ? Z3_mk_config() : NULL;
  if (o && config)
    o->z3 = Z3_mk_context(config);
  if (config)
    Z3_del_config(config);
  if (!o || !o->z3) {
    mirage_arena_deinit(&arena);
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "oracle: out of memory");
  }
  o->arena = arena;
  o->terms = terms;
  Z3_set_error_handler(o->z3, ignore_error);
  open_solver(o, rlimit);
  declare_operators(o);
  add_ring_axioms(o);
  add_distribution(o);
  add_division(o, axioms);
  add_maxima(o);
  if (axioms & MIRAGE_ORACLE_EXP_GAUGE)
    add_gauge(o);
  add_subexpressions(o);
  *out_oracle = o;
  return MIRAGE_OK;
}

void mirage_oracle_destroy(MirageOracle *oracle) {
  if (!oracle)
    return;
  MirageArena arena = oracle->arena; // the oracle itself lives in it
  Z3_solver_dec_ref(oracle->z3, oracle->solver);
  Z3_del_context(oracle->z3);
  mirage_arena_deinit(&arena);
}

// ------------------------------------------------------------------------------------------- questions

// Asks whether what was asserted since the last push is contradictory, and pops it.
static MirageOracleAnswer ask(MirageOracle *o) {
  MirageOracleAnswer answer = MIRAGE_ORACLE_SHOWN;
  if (Z3_solver_check(o->z3, o->solver) != Z3_L_FALSE) {
    const char *reason = Z3_solver_get_reason_unknown(o->z3, o->solver);
    answer = strstr(reason, "limit") || strstr(reason, "cancel") ? MIRAGE_ORACLE_LIMIT : MIRAGE_ORACLE_SATURATED;
  }
  Z3_solver_pop(o->z3, o->solver, 1);
  return answer;
}

MirageOracleAnswer mirage_oracle_equal(MirageOracle *oracle, MirageTerm a, MirageTerm b) {
  Z3_ast x = term_of(oracle, a), y = term_of(oracle, b);
  if (!a.index || !b.index || !x || !y)
    return MIRAGE_ORACLE_LIMIT;
  Z3_solver_push(oracle->z3, oracle->solver);
  hold(oracle, Z3_mk_not(oracle->z3, equal(oracle, x, y)));
  return ask(oracle);
}

MirageOracleAnswer mirage_oracle_reaches(MirageOracle *oracle, MirageTerm e, MirageTerm goal) {
  Z3_ast x = term_of(oracle, e), y = term_of(oracle, goal);
  if (!e.index || !goal.index || !x || !y)
    return MIRAGE_ORACLE_LIMIT;
  Z3_solver_push(oracle->z3, oracle->solver);
  hold(oracle, reached(oracle, mul(oracle, y, oracle->one))); // 1 is a factor of everything
  hold(oracle, Z3_mk_not(oracle->z3, reached(oracle, x)));
  return ask(oracle);
}
#else
MirageStatus mirage_oracle_create(const MirageTerms *terms, uint32_t rlimit, uint32_t axioms, const MirageDiag *diag,
                                  MirageOracle **out_oracle) {
  *out_oracle = NULL;
  return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED,
                          "oracle: this build has no Z3; configure it with -DMIRAGE_WITH_Z3=ON, or use "
                          "engine=normal-form");
}
void mirage_oracle_destroy(MirageOracle *oracle) {}
MirageOracleAnswer mirage_oracle_equal(MirageOracle *oracle, MirageTerm a, MirageTerm b) { return MIRAGE_ORACLE_LIMIT; }
MirageOracleAnswer mirage_oracle_reaches(MirageOracle *oracle, MirageTerm e, MirageTerm goal) {
  return MIRAGE_ORACLE_LIMIT;
}
#endif
