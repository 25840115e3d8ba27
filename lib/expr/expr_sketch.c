// expr_sketch.c - a quick no: degrees tell that a sum, product or quotient reaches no goal before it is built.
//
// When e reaches a part P of a goal, some multiplier m turns e's monomials into monomials of P. So for each monomial of
// e there is one of P whose degree is at least as large in every atom and axis part, above the line and, as the largest
// degree of any term, below it: degrees add up in products, and nothing cancels. Atoms that no goal holds have degree 0
// there. For a sum, the same m serves both operands, so their difference in degrees is that of two monomials of P.
//
// Degrees are held in sixteen lanes above the line and sixteen below; atoms that share a lane are added up, which is as
// true and says less. Lanes have seven bits, so that one subtraction compares eight of them.
#include "expr_table.h"
#include <string.h>

enum {
  WORDS = 4,
  ATOM_LANES = 12,
  PART_LANE = 12, // to 14
  PART_LANES = 3,
  FOREIGN_LANE = 15, // atoms that no goal holds
  BELOW = 16,        // lanes of the denominator
  LARGEST = 31,      // of a lane, so that sums of two, and of two such sums, fit seven bits
};

static const uint64_t high_bits = 0x8080808080808080u;

/// A monomial of a goal, a denominator in it or an argument in it.
typedef struct GoalMonomial {
  uint64_t degrees[WORDS];
  uint32_t part, part_size; // which of these it belongs to, and how many monomials that has
} GoalMonomial;

struct ExprSketches {
  uint32_t *atoms; // of all goals, in the order of their lanes
  uint32_t num_atoms, capacity_atoms;
  GoalMonomial *monomials;
  uint32_t num_monomials, capacity_monomials;
  uint64_t largest[WORDS]; // in any monomial
  bool unbounded;          // some degree fits no lane: no answers
};

// --------------------------------------------------------------------------------------------- degrees

/// Degrees that are being added up.
typedef struct Degrees {
  uint32_t lanes[8 * WORDS];
} Degrees;

static uint32_t atom_lane(const ExprSketches *sketches, uint32_t atom) {
  for (uint32_t i = 0; i < sketches->num_atoms; i++)
    if (sketches->atoms[i] == atom)
      return i % ATOM_LANES;
  return FOREIGN_LANE;
}

static void add_monomial(const ExprSketches *sketches, const Monomial *monomial, uint32_t *lanes) {
  for (uint32_t i = 0; i < monomial->num_atoms; i++)
    lanes[atom_lane(sketches, monomial->atoms[i])]++;
  for (uint32_t i = 0; i < monomial->num_parts; i++)
    lanes[PART_LANE + monomial->parts[i] % PART_LANES]++;
}

// The largest degrees of any term; denominators within are not looked at.
static void add_largest(const MirageExprTable *table, uint32_t expr, uint32_t *lanes) {
  uint32_t largest[BELOW] = {0};
  const ExprRecord *record = &table->exprs.records[expr];
  for (uint32_t i = 0; i < record->count; i++) {
    uint32_t own[BELOW] = {0};
    Monomial monomial = mirage__expr_monomial(table, record->words[i]);
    add_monomial(table->sketches, &monomial, own);
    for (uint32_t lane = 0; lane < BELOW; lane++)
      largest[lane] = own[lane] > largest[lane] ? own[lane] : largest[lane];
  }
  for (uint32_t lane = 0; lane < BELOW; lane++)
    lanes[lane] += largest[lane];
}

static void add_whole(const MirageExprTable *table, uint32_t id, Degrees *degrees) {
  Monomial monomial = mirage__expr_monomial(table, id);
  add_monomial(table->sketches, &monomial, degrees->lanes);
  if (monomial.denominator)
    add_largest(table, monomial.denominator, degrees->lanes + BELOW);
}

// False when a degree is too large for its lane.
static bool pack(const Degrees *degrees, uint64_t *out_words) {
  for (uint32_t w = 0; w < WORDS; w++) {
    out_words[w] = 0;
    for (uint32_t i = 0; i < 8; i++) {
      if (degrees->lanes[8 * w + i] > LARGEST)
        return false;
      out_words[w] |= (uint64_t)degrees->lanes[8 * w + i] << 8 * i;
    }
  }
  return true;
}

static bool all_at_most(const uint64_t *a, const uint64_t *b) {
  uint64_t kept = high_bits;
  for (uint32_t w = 0; w < WORDS; w++)
    kept &= (b[w] | high_bits) - a[w];
  return kept == high_bits;
}

// ----------------------------------------------------------------------------------------------- goals

static MirageStatus add_atoms(MirageExprTable *table, const Monomial *monomial) {
  ExprSketches *sketches = table->sketches;
  for (uint32_t i = 0; i < monomial->num_atoms; i++) {
    if (atom_lane(sketches, monomial->atoms[i]) != FOREIGN_LANE)
      continue;
    uint32_t *atoms =
        mirage__expr_grow(table, sketches->atoms, sketches->num_atoms, &sketches->capacity_atoms, sizeof *atoms);
    if (!atoms)
      return MIRAGE_NO_MEMORY;
    sketches->atoms = atoms;
    atoms[sketches->num_atoms++] = monomial->atoms[i];
  }
  return MIRAGE_OK;
}

static void raise(uint64_t *largest, const uint64_t *degrees) {
  for (uint32_t lane = 0; lane < 8 * WORDS; lane++) {
    uint64_t mask = (uint64_t)0xff << lane % 8 * 8;
    if ((degrees[lane / 8] & mask) > (largest[lane / 8] & mask))
      largest[lane / 8] = (largest[lane / 8] & ~mask) | (degrees[lane / 8] & mask);
  }
}

static MirageStatus add_part(MirageExprTable *table, uint32_t part, uint32_t number) {
  ExprSketches *sketches = table->sketches;
  ExprRecord record = table->exprs.records[part];
  for (uint32_t i = 0; i < record.count; i++) {
    GoalMonomial *monomials = mirage__expr_grow(table, sketches->monomials, sketches->num_monomials,
                                                &sketches->capacity_monomials, sizeof *monomials);
    if (!monomials)
      return MIRAGE_NO_MEMORY;
    sketches->monomials = monomials;
    GoalMonomial *monomial = &monomials[sketches->num_monomials++];
    Degrees degrees = {0};
    add_whole(table, record.words[i], &degrees);
    *monomial = (GoalMonomial){.part = number, .part_size = record.count};
    sketches->unbounded |= !pack(&degrees, monomial->degrees);
    raise(sketches->largest, monomial->degrees);
  }
  return MIRAGE_OK;
}

MirageStatus mirage_expr_sketch_goals(MirageExprTable *table, uint32_t num_goals, const MirageExpr *goals) {
  table->sketches = mirage_arena_alloc(&table->arena, sizeof *table->sketches);
  if (!table->sketches)
    return MIRAGE_NO_MEMORY;
  for (uint32_t g = 0; g < num_goals; g++) {
    const ExprGoal *goal = mirage__expr_goal(table, goals[g].index);
    for (uint32_t i = 0; goal && i < goal->num; i++) {
      ExprRecord record = table->exprs.records[goal->parts[i]];
      for (uint32_t j = 0; j < record.count; j++) {
        Monomial monomial = mirage__expr_monomial(table, record.words[j]);
        MIRAGE_TRY(add_atoms(table, &monomial));
      }
    }
  }
  for (uint32_t g = 0; g < num_goals; g++) {
    const ExprGoal *goal = mirage__expr_goal(table, goals[g].index);
    for (uint32_t i = 0; goal && i < goal->num; i++)
      MIRAGE_TRY(add_part(table, goal->parts[i], g << 16 | i));
  }
  return mirage_expr_status(table);
}

// -------------------------------------------------------------------------------------------- sketches

void mirage_expr_sketch(const MirageExprTable *table, MirageExpr e, MirageExprSketch *out_sketch) {
  *out_sketch = (MirageExprSketch){.index = e.index, .unknown = true};
  const ExprRecord *record = &table->exprs.records[e.index];
  if (!e.index || !table->sketches || !record->count)
    return;
  for (uint32_t i = 0; i < record->count; i++)
    if (mirage__expr_is_maximum(table, record->words[i]))
      return;
  Degrees above = {0}, inverse = {0};
  add_whole(table, record->words[0], &above);
  add_largest(table, e.index, inverse.lanes + BELOW);
  out_sketch->num_monomials = record->count;
  out_sketch->num_inverse = 1;
  uint32_t denominator = 0;
  if (mirage__expr_common_denominator(table, e.index, &denominator) && denominator) { // 1 / (n / d) = d / n
    const ExprRecord *over = &table->exprs.records[denominator];
    add_whole(table, over->words[0], &inverse);
    out_sketch->num_inverse = over->count;
  }
  out_sketch->unknown = !pack(&above, out_sketch->degrees) || !pack(&inverse, out_sketch->inverses);
}

static bool some_monomial_holds(const ExprSketches *sketches, const uint64_t *degrees) {
  if (!all_at_most(degrees, sketches->largest))
    return false;
  for (uint32_t i = 0; i < sketches->num_monomials; i++)
    if (all_at_most(degrees, sketches->monomials[i].degrees))
      return true;
  return false;
}

// Whether two monomials of one part differ as a and b do, and are no smaller.
static bool some_pair_holds(const ExprSketches *sketches, const MirageExprSketch *a, const MirageExprSketch *b) {
  for (uint32_t i = 0; i < sketches->num_monomials; i++) {
    const GoalMonomial *x = &sketches->monomials[i];
    if (x->part_size < a->num_monomials + b->num_monomials || !all_at_most(a->degrees, x->degrees))
      continue;
    uint32_t first = i;
    while (first > 0 && sketches->monomials[first - 1].part == x->part)
      first--;
    for (uint32_t j = first; j < first + x->part_size; j++) {
      const GoalMonomial *y = &sketches->monomials[j];
      bool same = true;
      for (uint32_t w = 0; w < WORDS; w++)
        same &= x->degrees[w] + b->degrees[w] == y->degrees[w] + a->degrees[w];
      if (same)
        return true;
    }
  }
  return false;
}

static void add_words(const uint64_t *a, const uint64_t *b, uint64_t *out) {
  for (uint32_t w = 0; w < WORDS; w++)
    out[w] = a[w] + b[w];
}

// Whether such an atom is known: one that is not lies in no goal.
static bool is_known_atom(const MirageExprTable *table, MirageOp op, uint32_t a, uint32_t b) {
  uint32_t words[] = {ATOM_APPLY, (uint32_t)op, a < b ? a : b, a < b ? b : a};
  return mirage__expr_find(&table->atoms, words, 4) != 0;
}

bool mirage_expr_may_reach(const MirageExprTable *table, MirageOp op, const MirageExprSketch *a,
                           const MirageExprSketch *b) {
  uint64_t degrees[WORDS];
  if (!table->sketches || table->sketches->unbounded || a->unknown || b->unknown)
    return true;
  bool sums = table->keeps_products && a->num_monomials > 1;
  switch (op) {
  case MIRAGE_OP_MUL:
    if (sums && b->num_monomials > 1)
      return is_known_atom(table, op, a->index, b->index);
    add_words(a->degrees, b->degrees, degrees);
    return some_monomial_holds(table->sketches, degrees);
  case MIRAGE_OP_DIV:
    if (sums && b->num_inverse > 1)
      return true;
    add_words(a->degrees, b->inverses, degrees);
    return some_monomial_holds(table->sketches, degrees);
  case MIRAGE_OP_ADD:
  case MIRAGE_OP_SUB:
    return some_pair_holds(table->sketches, a, b);
  case MIRAGE_OP_MAX:
    return a->index == b->index || is_known_atom(table, op, a->index, b->index);
  default:
    return true;
  }
}
