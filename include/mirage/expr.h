// expr.h - abstract expressions: what a tensor computes when indices are forgotten. [Mirage 4.2]
//
// The search asks of every tensor it builds: can this still become part of the goal? Abstract expressions answer by
// algebra. An expression is held in normal form, a multiset of monomials
//
//        +/-  sum over {axis parts}  of  (product of atoms) / (one expression)
//
// where an atom is an input, a constant, or a non-linear operator on an expression. Normal forms are hash-consed: two
// expressions are equal under the axioms exactly when their ids are equal.
//
// Example: rms_norm(x) @ w, with the contraction K split into loop and tile parts, is one monomial
//   sum{K.loop,K.tile} x w / sqrt(sum{K.loop,K.tile} x x / 4096)
// The prefix  sum{K.tile} x w  reaches it, x x x and exp(x) do not.
//
// Cancellation (x w / x = w) is left out on purpose: with it every expression would reach every other.
#ifndef MIRAGE_EXPR_H
#define MIRAGE_EXPR_H

#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An interned expression; 0 = none (out of memory, or too large to hold).
typedef struct MirageExpr {
  uint32_t index;
} MirageExpr;

typedef struct MirageExprTable MirageExprTable;

/// Which part of a program axis a sum runs over. Summing a whole axis is summing each of its parts.
typedef enum { MIRAGE_PART_GRID, MIRAGE_PART_LOOP, MIRAGE_PART_TILE } MiragePartKind;
typedef uint32_t MirageAxisPart;
MirageAxisPart mirage_axis_part(uint32_t axis, MiragePartKind kind);

// The axioms that the normal form applies, each counted when it changes something. lib/expr/README.md states them.
#define MIRAGE_AXIOM_TABLE(MIRAGE_AXIOM)                                                                               \
  MIRAGE_AXIOM(ADD_ZERO, "add-zero")                                                                                   \
  MIRAGE_AXIOM(MUL_ZERO, "mul-zero")                                                                                   \
  MIRAGE_AXIOM(MUL_ONE, "mul-one")                                                                                     \
  MIRAGE_AXIOM(DISTRIBUTE, "mul-add")                                                                                  \
  MIRAGE_AXIOM(NEG_NEG, "neg-neg")                                                                                     \
  MIRAGE_AXIOM(SUM_ADD, "sum-add")                                                                                     \
  MIRAGE_AXIOM(SUM_SUM, "sum-sum")                                                                                     \
  MIRAGE_AXIOM(SUM_MUL, "sum-mul")                                                                                     \
  MIRAGE_AXIOM(DIV_ADD, "div-add")                                                                                     \
  MIRAGE_AXIOM(DIV_DIV, "div-div")                                                                                     \
  MIRAGE_AXIOM(DIV_INVERSE, "div-inverse")                                                                             \
  MIRAGE_AXIOM(MAX_MAX, "max-max")                                                                                     \
  MIRAGE_AXIOM(EXP_GAUGE, "exp-gauge")

typedef enum {
#define MIRAGE_AXIOM_ENUM(name, text) MIRAGE_AXIOM_##name,
  MIRAGE_AXIOM_TABLE(MIRAGE_AXIOM_ENUM)
#undef MIRAGE_AXIOM_ENUM
      MIRAGE_NUM_AXIOMS
} MirageAxiom;

typedef struct MirageExprStats {
  uint64_t axioms[MIRAGE_NUM_AXIOMS];
  uint64_t atoms, monomials, exprs; // interned
  uint64_t reach_asked, reach_cached;
  uint64_t too_large; // results given up for their size
} MirageExprStats;

const char *mirage_axiom_name(MirageAxiom axiom);

/// Threads: one table, one thread. NULL when memory is out.
MirageExprTable *mirage_expr_table_create(const MirageAllocator *allocator);
void mirage_expr_table_destroy(MirageExprTable *table);
/// From here on a product of two sums is an atom, not the sum of all products: (a + b)(c + d) is reached by a + b and
/// by c + d, not by a c. What is divided by stays expanded. A square of a long sum has few parts then, where the
/// expanded one has as many as it has sub-multisets.
void mirage_expr_keep_products(MirageExprTable *table);
/// NO_MEMORY once any operation on the table failed for memory; results are then {0}.
MirageStatus mirage_expr_status(const MirageExprTable *table);
const MirageExprStats *mirage_expr_stats(const MirageExprTable *table);

/// Any operand {0} gives {0}.
MirageExpr mirage_expr_input(MirageExprTable *table, uint32_t input);
/// 0, 1 and -1 are the ring's own; every other constant is an atom of its absolute value with a sign (2 * 3 is not 6).
MirageExpr mirage_expr_constant(MirageExprTable *table, double value);
MirageExpr mirage_expr_add(MirageExprTable *table, MirageExpr a, MirageExpr b);
MirageExpr mirage_expr_sub(MirageExprTable *table, MirageExpr a, MirageExpr b); // a + (-1) b; x - x stays two monomials
MirageExpr mirage_expr_mul(MirageExprTable *table, MirageExpr a, MirageExpr b);
MirageExpr mirage_expr_div(MirageExprTable *table, MirageExpr a, MirageExpr b);
MirageExpr mirage_expr_sum(MirageExprTable *table, MirageExpr a, MirageAxisPart part);
/// The maximum of `a` over any axes. Idempotent: max over a tile, then over the loop, is one maximum.
MirageExpr mirage_expr_max(MirageExprTable *table, MirageExpr a);
/// Element-wise operators, casts and changes of shape, by their operator; derived ones by their expansion
/// (silu = a / (1 + exp(-a))). `b` is ignored by unary operators. {0} for an operator that has no such rule.
MirageExpr mirage_expr_apply(MirageExprTable *table, MirageOp op, MirageExpr a, MirageExpr b);

/// Whether `e` may still become part of `goal`: some multiplier turns e's monomials into a sub-multiset of those of the
/// goal, of a denominator in it, or of an atom's argument in it, at any depth. {0} reaches nothing; zero reaches all.
/// Cost:   remembered for each pair; below a microsecond when asked before.
/// Source: [Mirage 4.3], decided there by an SMT solver
bool mirage_expr_reaches(MirageExprTable *table, MirageExpr e, MirageExpr goal);

/// Degrees of an expression in what the goals are made of, for a quick answer about a sum, product or quotient.
typedef struct MirageExprSketch {
  uint64_t degrees[4];  // of its first monomial: 16 numbers of 8 bits above the line, 16 below
  uint64_t inverses[4]; // of one divided by it
  uint32_t index, num_monomials, num_inverse;
  bool unknown; // no answer: it holds a maximum that may go, is zero, or has no bounded degrees
} MirageExprSketch;

/// Names the goals of later sketches, all of them; at most once for a table.
MirageStatus mirage_expr_sketch_goals(MirageExprTable *table, uint32_t num_goals, const MirageExpr *goals);
/// After the goals were named.
void mirage_expr_sketch(const MirageExprTable *table, MirageExpr e, MirageExprSketch *out_sketch);
/// False when a op b reaches none of these goals; true when it may. Builds nothing: some ten nanoseconds, where
/// mirage_expr_apply and mirage_expr_reaches take microseconds and keep what they made.
bool mirage_expr_may_reach(const MirageExprTable *table, MirageOp op, const MirageExprSketch *a,
                           const MirageExprSketch *b);

/// The inputs 0..63 that occur in `e`, at any depth, as a bit set.
uint64_t mirage_expr_inputs(const MirageExprTable *table, MirageExpr e);

/// Monomials of `e`, which add up in sums; and atoms of one of them, which add up in products.
void mirage_expr_size(const MirageExprTable *table, MirageExpr e, uint32_t *out_monomials, uint32_t *out_atoms);

/// Monomials of `goal`, its denominators and its atoms' arguments, at any depth: what a question whether something
/// reaches it looks through. 0 without memory.
uint32_t mirage_expr_goal_size(MirageExprTable *table, MirageExpr goal);

/// Writes `sum{0.loop,0.tile} in0 in1 / (sqrt(in0))` into `buffer`, cut to its size, and returns it.
const char *mirage_expr_format(const MirageExprTable *table, MirageExpr e, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
