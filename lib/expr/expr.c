// expr.c - the operations on abstract expressions, each of which returns a normal form.
//
// The normal form follows from the representation: multisets make + and * commutative and associative, products are
// expanded over sums, sums over axis parts are collected in front of each monomial, and everything that was divided by
// stands in one expanded denominator. A divisor n/d with one common denominator d is turned over (a/(n/d) = a d/n);
// a divisor whose monomials have different denominators is kept as it is.
//
// Stabilisers are a gauge: exp(x - m), with m a maximum, is exp(x), and exp(m - m') is 1. So the safe and the online
// softmax lie on the same paths as the unsafe one; the verifier decides whether the maxima were the right ones.
//
// Source: [Mirage 4.2], A_eq
#include "expr_table.h"
#include <stdlib.h>
#include <string.h>

#define MIRAGE_AXIOM_TEXT(name, text) text,
static const char *const axiom_names[] = {MIRAGE_AXIOM_TABLE(MIRAGE_AXIOM_TEXT)};
#undef MIRAGE_AXIOM_TEXT

enum { TAG_ADD = 1, TAG_MUL, TAG_DIV, TAG_SUM, TAG_APPLY }; // operations cache; TAG_APPLY + op for the rest

const char *mirage_axiom_name(MirageAxiom axiom) { return axiom < MIRAGE_NUM_AXIOMS ? axiom_names[axiom] : "unknown"; }

MirageAxisPart mirage_axis_part(uint32_t axis, MiragePartKind kind) { return axis << 2 | (uint32_t)kind; }

// --------------------------------------------------------------------------------------------- records

static int compare_words(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

// Lists here have a handful of entries; insertion sort beats qsort by far.
static void sort_words(uint32_t *words, uint32_t count) {
  if (count > 24) {
    qsort(words, count, sizeof *words, compare_words);
    return;
  }
  for (uint32_t i = 1; i < count; i++)
    for (uint32_t j = i; j > 0 && words[j - 1] > words[j]; j--) {
      uint32_t swap = words[j];
      words[j] = words[j - 1];
      words[j - 1] = swap;
    }
}

Monomial mirage__expr_monomial(const MirageExprTable *table, uint32_t id) {
  const ExprRecord *record = &table->monomials.records[id];
  const uint32_t *words = record->words;
  uint32_t num_parts = words[MONO_NUM_PARTS];
  return (Monomial){.denominator = words[MONO_DENOMINATOR],
                    .negative = words[MONO_NEGATIVE] != 0,
                    .num_parts = num_parts,
                    .num_atoms = record->count - MONO_HEADER - num_parts,
                    .parts = words + MONO_HEADER,
                    .atoms = words + MONO_HEADER + num_parts};
}

static uint32_t give_up(MirageExprTable *table) {
  table->stats.too_large++;
  return 0;
}

uint32_t mirage__expr_make_monomial(MirageExprTable *table, const Monomial *monomial) {
  uint32_t words[EXPR_MAX_WORDS];
  uint32_t count = MONO_HEADER + monomial->num_parts + monomial->num_atoms;
  if (count > EXPR_MAX_WORDS)
    return give_up(table);
  words[MONO_DENOMINATOR] = monomial->denominator;
  words[MONO_NEGATIVE] = monomial->negative;
  words[MONO_NUM_PARTS] = monomial->num_parts;
  uint32_t *parts = words + MONO_HEADER, *atoms = parts + monomial->num_parts;
  if (monomial->num_parts)
    memcpy(parts, monomial->parts, monomial->num_parts * sizeof *parts);
  if (monomial->num_atoms)
    memcpy(atoms, monomial->atoms, monomial->num_atoms * sizeof *atoms);
  sort_words(parts, monomial->num_parts);
  sort_words(atoms, monomial->num_atoms);
  return mirage__expr_intern(table, &table->monomials, words, count);
}

uint32_t mirage__expr_make(MirageExprTable *table, uint32_t *monomials, uint32_t count) {
  sort_words(monomials, count);
  return mirage__expr_intern(table, &table->exprs, monomials, count);
}

static uint32_t make_single(MirageExprTable *table, const Monomial *monomial) {
  uint32_t id = mirage__expr_make_monomial(table, monomial);
  return id ? mirage__expr_make(table, &id, 1) : 0;
}

static uint32_t make_atom(MirageExprTable *table, const uint32_t *words, uint32_t count, bool negative) {
  uint32_t atom = mirage__expr_intern(table, &table->atoms, words, count);
  return atom ? make_single(table, &(Monomial){.negative = negative, .num_atoms = 1, .atoms = &atom}) : 0;
}

static void count_axiom(MirageExprTable *table, MirageAxiom axiom) { table->stats.axioms[axiom]++; }

// ------------------------------------------------------------------------------------------ life cycle

MirageExprTable *mirage_expr_table_create(const MirageAllocator *allocator) {
  MirageArena arena;
  mirage_arena_init(&arena, allocator);
  MirageExprTable *table = mirage_arena_alloc(&arena, sizeof *table);
  if (!table) {
    mirage_arena_deinit(&arena);
    return NULL;
  }
  table->arena = arena;
  table->zero = mirage__expr_make(table, &(uint32_t){0}, 0);
  table->one = make_single(table, &(Monomial){0});
  if (table->zero && table->one)
    return table;
  mirage_expr_table_destroy(table);
  return NULL;
}

void mirage_expr_table_destroy(MirageExprTable *table) {
  if (!table)
    return;
  MirageArena arena = table->arena; // the table itself lives in it
  mirage_arena_deinit(&arena);
}

MirageStatus mirage_expr_status(const MirageExprTable *table) {
  return table->out_of_memory ? MIRAGE_NO_MEMORY : MIRAGE_OK;
}

const MirageExprStats *mirage_expr_stats(const MirageExprTable *table) {
  MirageExprStats *stats = &((MirageExprTable *)table)->stats;
  stats->atoms = table->atoms.num;
  stats->monomials = table->monomials.num;
  stats->exprs = table->exprs.num;
  return stats;
}

void mirage_expr_keep_products(MirageExprTable *table) { table->keeps_products = true; }

// ----------------------------------------------------------------------------------------------- atoms

MirageExpr mirage_expr_input(MirageExprTable *table, uint32_t input) {
  return (MirageExpr){make_atom(table, (uint32_t[]){ATOM_INPUT, input}, 2, false)};
}

MirageExpr mirage_expr_constant(MirageExprTable *table, double value) {
  bool negative = value < 0;
  double magnitude = negative ? -value : value;
  if (magnitude == 0)
    return (MirageExpr){table->zero};
  if (magnitude == 1)
    return (MirageExpr){make_single(table, &(Monomial){.negative = negative})};
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  uint32_t words[] = {ATOM_CONSTANT, (uint32_t)bits, (uint32_t)(bits >> 32)};
  return (MirageExpr){make_atom(table, words, 3, negative)};
}

// ------------------------------------------------------------------------------------- ring operations

// match:  add(a, add(b, c)) in any order
// result: the union of their monomials; x - x keeps both (no cancellation)
static uint32_t add(MirageExprTable *table, uint32_t a, uint32_t b) {
  const ExprRecord *x = &table->exprs.records[a], *y = &table->exprs.records[b];
  if (!x->count || !y->count) {
    count_axiom(table, MIRAGE_AXIOM_ADD_ZERO);
    return x->count ? a : b;
  }
  if (x->count + y->count > EXPR_MAX_WORDS)
    return give_up(table);
  uint32_t monomials[EXPR_MAX_WORDS];
  memcpy(monomials, x->words, x->count * sizeof *monomials);
  memcpy(monomials + x->count, y->words, y->count * sizeof *monomials);
  return mirage__expr_make(table, monomials, x->count + y->count);
}

static uint32_t mul(MirageExprTable *table, uint32_t a, uint32_t b);
static uint32_t expanded_product(MirageExprTable *table, uint32_t a, uint32_t b);

// match:  mul(sum(i, a)/d, sum(j, b)/e)
// result: sum(i j, a b) / (d e)
uint32_t mirage__expr_monomial_product(MirageExprTable *table, uint32_t a, uint32_t b) {
  Monomial x = mirage__expr_monomial(table, a), y = mirage__expr_monomial(table, b);
  uint32_t parts[EXPR_MAX_WORDS], atoms[EXPR_MAX_WORDS];
  if (x.num_parts + y.num_parts > EXPR_MAX_WORDS || x.num_atoms + y.num_atoms > EXPR_MAX_WORDS)
    return give_up(table);
  memcpy(parts, x.parts, x.num_parts * sizeof *parts);
  memcpy(parts + x.num_parts, y.parts, y.num_parts * sizeof *parts);
  memcpy(atoms, x.atoms, x.num_atoms * sizeof *atoms);
  memcpy(atoms + x.num_atoms, y.atoms, y.num_atoms * sizeof *atoms);
  Monomial product = {.denominator = x.denominator ? x.denominator : y.denominator,
                      .negative = x.negative != y.negative,
                      .num_parts = x.num_parts + y.num_parts,
                      .num_atoms = x.num_atoms + y.num_atoms,
                      .parts = parts,
                      .atoms = atoms};
  if (x.negative && y.negative)
    count_axiom(table, MIRAGE_AXIOM_NEG_NEG);
  if (x.num_parts + y.num_parts)
    count_axiom(table, MIRAGE_AXIOM_SUM_MUL);
  if (x.denominator && y.denominator) {
    count_axiom(table, MIRAGE_AXIOM_DIV_DIV);
    product.denominator = expanded_product(table, x.denominator, y.denominator);
    if (!product.denominator)
      return 0;
  }
  return mirage__expr_make_monomial(table, &product);
}

// match:  mul(add(a, b), c)
// result: add(mul(a, c), mul(b, c))
static uint32_t expanded_product(MirageExprTable *table, uint32_t a, uint32_t b) {
  uint32_t low = a < b ? a : b, high = a < b ? b : a, result;
  if (mirage__expr_cache_find(&table->operations, TAG_MUL, low, high, &result))
    return result;
  ExprRecord x = table->exprs.records[a], y = table->exprs.records[b]; // copies: the pool may move
  if ((uint64_t)x.count * y.count > EXPR_MAX_WORDS)
    return give_up(table);
  if (x.count > 1 || y.count > 1)
    count_axiom(table, MIRAGE_AXIOM_DISTRIBUTE);
  uint32_t monomials[EXPR_MAX_WORDS], count = 0;
  for (uint32_t i = 0; i < x.count; i++)
    for (uint32_t j = 0; j < y.count; j++) {
      uint32_t product = mirage__expr_monomial_product(table, x.words[i], y.words[j]);
      if (!product)
        return 0;
      monomials[count++] = product;
    }
  result = mirage__expr_make(table, monomials, count);
  mirage__expr_cache_put(table, &table->operations, TAG_MUL, low, high, result);
  return result;
}

static uint32_t mul(MirageExprTable *table, uint32_t a, uint32_t b) {
  if (a == table->zero || b == table->zero) {
    count_axiom(table, MIRAGE_AXIOM_MUL_ZERO);
    return table->zero;
  }
  if (a == table->one || b == table->one) {
    count_axiom(table, MIRAGE_AXIOM_MUL_ONE);
    return a == table->one ? b : a;
  }
  bool sums = table->exprs.records[a].count > 1 && table->exprs.records[b].count > 1;
  if (sums && table->keeps_products)
    return make_atom(table, (uint32_t[]){ATOM_APPLY, MIRAGE_OP_MUL, a < b ? a : b, a < b ? b : a}, 4, false);
  return expanded_product(table, a, b);
}

static uint32_t negate(MirageExprTable *table, uint32_t a) {
  uint32_t minus_one = make_single(table, &(Monomial){.negative = true});
  return minus_one ? mul(table, a, minus_one) : 0;
}

bool mirage__expr_common_denominator(const MirageExprTable *table, uint32_t a, uint32_t *out_denominator) {
  const ExprRecord *record = &table->exprs.records[a];
  uint32_t first = record->count ? mirage__expr_monomial(table, record->words[0]).denominator : 0;
  for (uint32_t i = 1; i < record->count; i++)
    if (mirage__expr_monomial(table, record->words[i]).denominator != first)
      return false;
  *out_denominator = first;
  return true;
}

static uint32_t without_denominators(MirageExprTable *table, uint32_t a) {
  ExprRecord record = table->exprs.records[a];
  uint32_t monomials[EXPR_MAX_WORDS];
  for (uint32_t i = 0; i < record.count; i++) {
    Monomial monomial = mirage__expr_monomial(table, record.words[i]);
    monomial.denominator = 0;
    if (!(monomials[i] = mirage__expr_make_monomial(table, &monomial)))
      return 0;
  }
  return mirage__expr_make(table, monomials, record.count);
}

// match:  div(1, div(n, d))
// result: div(d, n), with the sign of a single-monomial n in front
static uint32_t reciprocal(MirageExprTable *table, uint32_t a) {
  uint32_t denominator = 0, numerator = a;
  if (mirage__expr_common_denominator(table, a, &denominator) && denominator) {
    count_axiom(table, MIRAGE_AXIOM_DIV_INVERSE);
    numerator = without_denominators(table, a);
  }
  if (!numerator)
    return 0;
  bool negative = false;
  const ExprRecord *record = &table->exprs.records[numerator];
  if (record->count == 1 && mirage__expr_monomial(table, record->words[0]).negative) {
    negative = true;
    numerator = negate(table, numerator);
  }
  Monomial inverse = {.denominator = numerator == table->one ? 0 : numerator, .negative = negative};
  uint32_t result = numerator ? make_single(table, &inverse) : 0;
  return result && denominator ? mul(table, result, denominator) : result;
}

static uint32_t divide(MirageExprTable *table, uint32_t a, uint32_t b) {
  uint32_t result;
  if (mirage__expr_cache_find(&table->operations, TAG_DIV, a, b, &result))
    return result;
  if (table->exprs.records[a].count > 1)
    count_axiom(table, MIRAGE_AXIOM_DIV_ADD);
  uint32_t inverse = reciprocal(table, b);
  result = inverse ? mul(table, a, inverse) : 0;
  mirage__expr_cache_put(table, &table->operations, TAG_DIV, a, b, result);
  return result;
}

// match:  sum(i, add(sum(j, a), b))
// result: add(sum(i j, a), sum(i, b))
static uint32_t sum(MirageExprTable *table, uint32_t a, MirageAxisPart part) {
  uint32_t result;
  if (mirage__expr_cache_find(&table->operations, TAG_SUM, a, part, &result))
    return result;
  uint32_t over = make_single(table, &(Monomial){.num_parts = 1, .parts = &part});
  ExprRecord record = table->exprs.records[a];
  if (record.count > 1)
    count_axiom(table, MIRAGE_AXIOM_SUM_ADD);
  for (uint32_t i = 0; i < record.count; i++)
    if (mirage__expr_monomial(table, record.words[i]).num_parts)
      count_axiom(table, MIRAGE_AXIOM_SUM_SUM);
  result = over ? mul(table, a, over) : 0;
  mirage__expr_cache_put(table, &table->operations, TAG_SUM, a, part, result);
  return result;
}

// -------------------------------------------------------------------------------- non-linear operators

bool mirage__expr_is_maximum(const MirageExprTable *table, uint32_t monomial) {
  Monomial m = mirage__expr_monomial(table, monomial);
  if (m.denominator || m.num_parts || m.num_atoms != 1)
    return false;
  const uint32_t *atom = table->atoms.records[m.atoms[0]].words;
  return atom[0] == ATOM_APPLY && atom[1] == MIRAGE_OP_REDUCE_MAX;
}

// match:  exp(add(a, m)) with m = +/- max(b)
// result: exp(a); 1 when nothing is left
static uint32_t exponential(MirageExprTable *table, uint32_t a) {
  ExprRecord record = table->exprs.records[a];
  uint32_t monomials[EXPR_MAX_WORDS], count = 0;
  for (uint32_t i = 0; i < record.count; i++)
    if (!mirage__expr_is_maximum(table, record.words[i]))
      monomials[count++] = record.words[i];
  if (count < record.count) {
    count_axiom(table, MIRAGE_AXIOM_EXP_GAUGE);
    if (!count)
      return table->one;
    a = mirage__expr_make(table, monomials, count);
  }
  return a ? make_atom(table, (uint32_t[]){ATOM_APPLY, MIRAGE_OP_EXP, a, 0}, 4, false) : 0;
}

// match:  max(max(a))
// result: max(a)
static uint32_t maximum(MirageExprTable *table, uint32_t a) {
  const ExprRecord *record = &table->exprs.records[a];
  if (record->count == 1 && mirage__expr_is_maximum(table, record->words[0]) &&
      !mirage__expr_monomial(table, record->words[0]).negative) {
    count_axiom(table, MIRAGE_AXIOM_MAX_MAX);
    return a;
  }
  return make_atom(table, (uint32_t[]){ATOM_APPLY, MIRAGE_OP_REDUCE_MAX, a, 0}, 4, false);
}

static uint32_t commutative_atom(MirageExprTable *table, MirageOp op, uint32_t a, uint32_t b) {
  if (a == b) {
    count_axiom(table, MIRAGE_AXIOM_MAX_MAX);
    return a; // max(a, a) = a
  }
  uint32_t low = a < b ? a : b, high = a < b ? b : a;
  return make_atom(table, (uint32_t[]){ATOM_APPLY, (uint32_t)op, low, high}, 4, false);
}

static uint32_t apply(MirageExprTable *table, MirageOp op, uint32_t a, uint32_t b);

// A derived operator, step by step (lib/ugraph/expand.c).
static uint32_t expand(MirageExprTable *table, const MirageExpansion *expansion, uint32_t a, uint32_t b) {
  uint32_t values[2 + sizeof expansion->steps / sizeof *expansion->steps] = {a, b}, last = 0;
  for (uint32_t i = 0; i < expansion->num_steps; i++) {
    const MirageExpansionStep *step = &expansion->steps[i];
    if (step->op == MIRAGE_OP_CONSTANT)
      last = mirage_expr_constant(table, step->value).index;
    else
      last = apply(table, step->op, values[step->a], values[step->b]);
    if (!last)
      return 0;
    values[2 + i] = last;
  }
  return last;
}

static uint32_t apply(MirageExprTable *table, MirageOp op, uint32_t a, uint32_t b) {
  const MirageExpansion *expansion = mirage_op_expansion(op);
  if (expansion)
    return mirage_op_info(op)->min_operands == 1 || b ? expand(table, expansion, a, b) : 0;
  uint32_t inner;
  switch (op) {
  case MIRAGE_OP_ADD:
    return b ? add(table, a, b) : 0;
  case MIRAGE_OP_SUB:
    inner = b ? negate(table, b) : 0;
    return inner ? add(table, a, inner) : 0;
  case MIRAGE_OP_MUL:
    return b ? mul(table, a, b) : 0;
  case MIRAGE_OP_DIV:
    return b ? divide(table, a, b) : 0;
  case MIRAGE_OP_MAX:
    return b ? commutative_atom(table, op, a, b) : 0;
  case MIRAGE_OP_EXP:
    return exponential(table, a);
  case MIRAGE_OP_LOG:
  case MIRAGE_OP_SQRT:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_SIN:
  case MIRAGE_OP_COS:
    return make_atom(table, (uint32_t[]){ATOM_APPLY, (uint32_t)op, a, 0}, 4, false);
  case MIRAGE_OP_REDUCE_MAX:
    return maximum(table, a);
  case MIRAGE_OP_CAST:
  case MIRAGE_OP_BROADCAST:
  case MIRAGE_OP_REPEAT:
  case MIRAGE_OP_TRANSPOSE:
  case MIRAGE_OP_RESHAPE:
  case MIRAGE_OP_SLICE:
    return a;
  default:
    return 0;
  }
}

// ---------------------------------------------------------------------------------------------- public

MirageExpr mirage_expr_apply(MirageExprTable *table, MirageOp op, MirageExpr a, MirageExpr b) {
  if (!a.index)
    return (MirageExpr){0};
  uint32_t result;
  if (mirage__expr_cache_find(&table->operations, TAG_APPLY + (uint32_t)op, a.index, b.index, &result))
    return (MirageExpr){result};
  result = apply(table, op, a.index, b.index);
  mirage__expr_cache_put(table, &table->operations, TAG_APPLY + (uint32_t)op, a.index, b.index, result);
  return (MirageExpr){result};
}

MirageExpr mirage_expr_add(MirageExprTable *table, MirageExpr a, MirageExpr b) {
  return mirage_expr_apply(table, MIRAGE_OP_ADD, a, b);
}

MirageExpr mirage_expr_sub(MirageExprTable *table, MirageExpr a, MirageExpr b) {
  return mirage_expr_apply(table, MIRAGE_OP_SUB, a, b);
}

MirageExpr mirage_expr_mul(MirageExprTable *table, MirageExpr a, MirageExpr b) {
  return mirage_expr_apply(table, MIRAGE_OP_MUL, a, b);
}

MirageExpr mirage_expr_div(MirageExprTable *table, MirageExpr a, MirageExpr b) {
  return mirage_expr_apply(table, MIRAGE_OP_DIV, a, b);
}

MirageExpr mirage_expr_max(MirageExprTable *table, MirageExpr a) {
  return mirage_expr_apply(table, MIRAGE_OP_REDUCE_MAX, a, (MirageExpr){0});
}

void mirage_expr_size(const MirageExprTable *table, MirageExpr e, uint32_t *out_monomials, uint32_t *out_atoms) {
  const ExprRecord *record = &table->exprs.records[e.index];
  *out_monomials = record->count;
  *out_atoms = record->count ? mirage__expr_monomial(table, record->words[0]).num_atoms : 0;
}

MirageExpr mirage_expr_sum(MirageExprTable *table, MirageExpr a, MirageAxisPart part) {
  return (MirageExpr){a.index ? sum(table, a.index, part) : 0};
}
