// expr_reach.c - the prefix test: can an expression still become part of the goal?
//
// e reaches a goal T when some multiplier m turns e's monomials into a sub-multiset of T's; or of a denominator of T,
// or of the argument of a non-linear atom of T, at any depth. Matching e's first monomial with one of T's fixes m, and
// the rest is checked; so a question costs |e| |T| small multiset differences, and the answer is remembered.
//
//   e = sum{K.tile} x w,  T = sum{K.loop,K.tile} x w / sqrt(..)   m = sum{K.loop} 1 / sqrt(..)          reached
//   e = x x,              same T                                   inside the argument of sqrt           reached
//   e = w w,              same T                                   no monomial holds two w               not reached
//
// Two rules keep detours out without losing a function: a/(n/d) is met as a (d/n), in as many operators, so n/d itself
// need not reach; and a multiplier of -1 must have a negative monomial of the goal to explain it, so (-x)(-w) is cut
// where x w is meant. One widening: maxima of an exponent's operand are a gauge (expr.c) and are dropped from e first.
//
// Source: [Mirage 4.3], A_sub
#include "expr_table.h"
#include <string.h>

// ---------------------------------------------------------------------------------- multiset quotients

// out = a - b for sorted lists; false when b is no sub-multiset of a.
static bool list_quotient(const uint32_t *a, uint32_t num_a, const uint32_t *b, uint32_t num_b, uint32_t *out,
                          uint32_t *out_count) {
  if (num_b > num_a)
    return false;
  uint32_t count = 0, j = 0;
  for (uint32_t i = 0; i < num_a; i++) {
    if (j < num_b && a[i] == b[j])
      j++;
    else
      out[count++] = a[i];
  }
  *out_count = count;
  return j == num_b;
}

static bool denominator_quotient(MirageExprTable *table, uint32_t whole, uint32_t part, uint32_t *out_quotient);

// The monomial m with part * m = whole, interned; 0 when there is none.
static uint32_t monomial_quotient(MirageExprTable *table, uint32_t whole, uint32_t part) {
  Monomial a = mirage__expr_monomial(table, whole), b = mirage__expr_monomial(table, part);
  if (b.num_parts > a.num_parts || b.num_atoms > a.num_atoms)
    return 0;
  uint32_t parts[EXPR_MAX_WORDS], atoms[EXPR_MAX_WORDS];
  Monomial quotient = {.negative = a.negative != b.negative, .parts = parts, .atoms = atoms};
  if (!list_quotient(a.parts, a.num_parts, b.parts, b.num_parts, parts, &quotient.num_parts) ||
      !list_quotient(a.atoms, a.num_atoms, b.atoms, b.num_atoms, atoms, &quotient.num_atoms) ||
      !denominator_quotient(table, a.denominator, b.denominator, &quotient.denominator))
    return 0;
  return mirage__expr_make_monomial(table, &quotient);
}

// Compares by degree in the smallest-numbered differing atom or part (lexicographic): an order that products preserve,
// as long division needs. Denominators inside denominators do not take part; see denominator_quotient.
static int compare_lists(const uint32_t *a, uint32_t num_a, const uint32_t *b, uint32_t num_b) {
  uint32_t i = 0;
  while (i < num_a && i < num_b && a[i] == b[i])
    i++;
  if (i == num_a || i == num_b)
    return (num_a > num_b) - (num_a < num_b);
  return a[i] < b[i] ? 1 : -1;
}

static int compare_monomials(const MirageExprTable *table, uint32_t a, uint32_t b) {
  Monomial x = mirage__expr_monomial(table, a), y = mirage__expr_monomial(table, b);
  int order = compare_lists(x.atoms, x.num_atoms, y.atoms, y.num_atoms);
  return order ? order : compare_lists(x.parts, x.num_parts, y.parts, y.num_parts);
}

static uint32_t leading(const MirageExprTable *table, const uint32_t *monomials, uint32_t count) {
  uint32_t best = monomials[0];
  for (uint32_t i = 1; i < count; i++)
    if (compare_monomials(table, monomials[i], best) > 0)
      best = monomials[i];
  return best;
}

static bool remove_one(uint32_t *list, uint32_t *count, uint32_t entry) {
  for (uint32_t i = 0; i < *count; i++)
    if (list[i] == entry) {
      list[i] = list[--*count];
      return true;
    }
  return false;
}

// Long division of expanded denominators: the q with part * q = whole. An id of 0 stands for 1. Multisets of monomials
// have no cancellation, so each step must find all its products among what is left.
static bool denominator_quotient(MirageExprTable *table, uint32_t whole, uint32_t part, uint32_t *out_quotient) {
  *out_quotient = part ? 0 : whole;
  if (!part || whole == part)
    return true;
  if (!whole)
    return false;
  ExprRecord divisor = table->exprs.records[part], dividend = table->exprs.records[whole];
  uint32_t left[EXPR_MAX_WORDS], quotient[EXPR_MAX_WORDS], num_left = dividend.count, num_quotient = 0;
  if (!divisor.count || dividend.count % divisor.count)
    return false;
  memcpy(left, dividend.words, dividend.count * sizeof *left);
  uint32_t lead = leading(table, divisor.words, divisor.count);
  while (num_left) {
    uint32_t factor = monomial_quotient(table, leading(table, left, num_left), lead);
    if (!factor)
      return false;
    for (uint32_t i = 0; i < divisor.count; i++)
      if (!remove_one(left, &num_left, mirage__expr_monomial_product(table, divisor.words[i], factor)))
        return false;
    quotient[num_quotient++] = factor;
  }
  *out_quotient = mirage__expr_make(table, quotient, num_quotient);
  return *out_quotient != 0;
}

// -------------------------------------------------------------------------------------------- the test

// Whether `multiplier` turns all monomials of `e` into different monomials of `goal`; and if it is negative, whether
// one of those is.
static bool maps_into(MirageExprTable *table, const ExprRecord *e, uint32_t multiplier, const ExprRecord *goal) {
  uint32_t left[EXPR_MAX_WORDS], num_left = goal->count;
  bool explained = !mirage__expr_monomial(table, multiplier).negative;
  memcpy(left, goal->words, goal->count * sizeof *left);
  for (uint32_t i = 0; i < e->count; i++) {
    uint32_t product = mirage__expr_monomial_product(table, e->words[i], multiplier);
    if (!product || !remove_one(left, &num_left, product))
      return false;
    explained |= mirage__expr_monomial(table, product).negative;
  }
  return explained;
}

// Whether m * e, for some monomial m, is a sub-multiset of `goal`.
static bool divides(MirageExprTable *table, uint32_t e, uint32_t goal) {
  ExprRecord a = table->exprs.records[e], b = table->exprs.records[goal]; // copies: the pool may move
  for (uint32_t i = 0; a.count <= b.count && i < b.count; i++) {
    uint32_t multiplier = monomial_quotient(table, b.words[i], a.words[0]);
    if (multiplier && maps_into(table, &a, multiplier, &b))
      return true;
  }
  return false;
}

static bool contains(const uint32_t *list, uint32_t count, uint32_t entry) {
  for (uint32_t i = 0; i < count; i++)
    if (list[i] == entry)
      return true;
  return false;
}

// Collects the goal, its denominators and its atoms' arguments, breadth first, each once.
static uint32_t collect_parts(const MirageExprTable *table, uint32_t goal, uint32_t *parts) {
  uint32_t count = 0;
  parts[count++] = goal;
  for (uint32_t at = 0; at < count; at++) {
    const ExprRecord *record = &table->exprs.records[parts[at]];
    for (uint32_t i = 0; i < record->count; i++) {
      Monomial monomial = mirage__expr_monomial(table, record->words[i]);
      uint32_t found[2 + 2] = {monomial.denominator}, num_found = 1;
      for (uint32_t j = 0; j <= monomial.num_atoms; j++) {
        for (uint32_t k = 0; k < num_found; k++)
          if (found[k] && count < EXPR_MAX_WORDS && !contains(parts, count, found[k]))
            parts[count++] = found[k];
        num_found = 0;
        if (j == monomial.num_atoms)
          break;
        const uint32_t *atom = table->atoms.records[monomial.atoms[j]].words;
        if (atom[0] == ATOM_APPLY) {
          found[num_found++] = atom[2];
          found[num_found++] = atom[3];
        }
      }
    }
  }
  return count;
}

const ExprGoal *mirage__expr_goal(MirageExprTable *table, uint32_t goal) {
  for (uint32_t i = 0; i < table->num_goals; i++)
    if (table->goals[i].goal == goal)
      return &table->goals[i];
  uint32_t parts[EXPR_MAX_WORDS];
  uint32_t count = collect_parts(table, goal, parts);
  ExprGoal *goals =
      mirage__expr_grow(table, table->goals, table->num_goals, &table->capacity_goals, sizeof *table->goals);
  const uint32_t *kept = mirage_arena_copy(&table->arena, parts, count * sizeof *parts);
  if (!goals || !kept) {
    table->out_of_memory = true;
    return NULL;
  }
  table->goals = goals;
  goals[table->num_goals] = (ExprGoal){.goal = goal, .num = count, .parts = kept};
  return &goals[table->num_goals++];
}

uint32_t mirage_expr_goal_size(MirageExprTable *table, MirageExpr goal) {
  const ExprGoal *found = goal.index ? mirage__expr_goal(table, goal.index) : NULL;
  uint32_t size = 0;
  for (uint32_t i = 0; found && i < found->num; i++)
    size += table->exprs.records[found->parts[i]].count;
  return size;
}

// Whether `monomial` is +/- max(a) with exp(a) an atom of some part of the goal.
static bool is_gauge(const MirageExprTable *table, const ExprGoal *goal, uint32_t monomial) {
  Monomial m = mirage__expr_monomial(table, monomial);
  if (m.denominator || m.num_parts || m.num_atoms != 1)
    return false;
  const uint32_t *atom = table->atoms.records[m.atoms[0]].words;
  if (atom[0] != ATOM_APPLY || atom[1] != MIRAGE_OP_REDUCE_MAX)
    return false;
  for (uint32_t i = 0; i < goal->num; i++) {
    const ExprRecord *record = &table->exprs.records[goal->parts[i]];
    for (uint32_t j = 0; j < record->count; j++) {
      Monomial inside = mirage__expr_monomial(table, record->words[j]);
      for (uint32_t k = 0; k < inside.num_atoms; k++) {
        const uint32_t *power = table->atoms.records[inside.atoms[k]].words;
        if (power[0] == ATOM_APPLY && power[1] == MIRAGE_OP_EXP && power[2] == atom[2])
          return true;
      }
    }
  }
  return false;
}

// `e` without its maxima when they stand as stabilisers do: a - m, m - m', or m alone. Anything else is left as it is,
// and will not match, since the goal has no maxima left inside its exponents.
static uint32_t without_gauge(MirageExprTable *table, const ExprGoal *goal, uint32_t e) {
  ExprRecord record = table->exprs.records[e];
  uint32_t monomials[EXPR_MAX_WORDS], count = 0, added = 0, subtracted = 0;
  for (uint32_t i = 0; i < record.count; i++) {
    if (!is_gauge(table, goal, record.words[i]))
      monomials[count++] = record.words[i];
    else if (mirage__expr_monomial(table, record.words[i]).negative)
      subtracted++;
    else
      added++;
  }
  bool stabilises = count ? added == 0 && subtracted == 1 : added == 1 && subtracted <= 1;
  return stabilises ? mirage__expr_make(table, monomials, count) : e;
}

static bool reaches(MirageExprTable *table, uint32_t e, uint32_t goal_id) {
  const ExprGoal *found = mirage__expr_goal(table, goal_id);
  if (!found)
    return false;
  ExprGoal goal = *found;
  e = without_gauge(table, &goal, e);
  if (!e || e == table->zero)
    return e != 0;
  for (uint32_t i = 0; i < goal.num; i++)
    if (divides(table, e, goal.parts[i]))
      return true;
  return false;
}

bool mirage_expr_reaches(MirageExprTable *table, MirageExpr e, MirageExpr goal) {
  if (!e.index || !goal.index)
    return false;
  table->stats.reach_asked++;
  uint32_t answer;
  if (mirage__expr_cache_find(&table->reached, 0, e.index, goal.index, &answer)) {
    table->stats.reach_cached++;
    return answer != 0;
  }
  answer = reaches(table, e.index, goal.index);
  mirage__expr_cache_put(table, &table->reached, 0, e.index, goal.index, answer);
  return answer != 0;
}

uint64_t mirage_expr_inputs(const MirageExprTable *table, MirageExpr e) {
  uint32_t parts[EXPR_MAX_WORDS];
  uint32_t count = e.index ? collect_parts(table, e.index, parts) : 0;
  uint64_t inputs = 0;
  for (uint32_t i = 0; i < count; i++) {
    const ExprRecord *record = &table->exprs.records[parts[i]];
    for (uint32_t j = 0; j < record->count; j++) {
      Monomial monomial = mirage__expr_monomial(table, record->words[j]);
      for (uint32_t k = 0; k < monomial.num_atoms; k++) {
        const uint32_t *atom = table->atoms.records[monomial.atoms[k]].words;
        if (atom[0] == ATOM_INPUT && atom[1] < 64)
          inputs |= (uint64_t)1 << atom[1];
      }
    }
  }
  return inputs;
}
