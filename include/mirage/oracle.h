// oracle.h - abstract expressions as they were built, and Z3's opinion of them.
//
// The normal forms of expr.h are quick because they leave steps out. Here a term keeps the operators in the order in
// which they were applied, and an independent judge - Z3 with the axioms of [Mirage 4.2, 4.3] as quantified formulas -
// says whether two terms are equal and whether one can become part of another. It is slow (milliseconds) and incomplete
// (it may fail to see what holds), but what it shows is shown: nothing that it shows may be cut by the normal form.
#ifndef MIRAGE_ORACLE_H
#define MIRAGE_ORACLE_H

#include "mirage/diag.h"
#include "mirage/expr.h"

#ifdef __cplusplus
extern "C" {
#endif

// ----------------------------------------------------------------------------------------------- terms

/// A term; 0 = none (an operator without a rule, or out of memory). Terms number from 1, operands before results.
typedef struct MirageTerm {
  uint32_t index;
} MirageTerm;

typedef struct MirageTerms MirageTerms;

/// NULL when memory is out. Threads: one at a time.
MirageTerms *mirage_terms_create(const MirageAllocator *allocator);
void mirage_terms_destroy(MirageTerms *terms);
MirageStatus mirage_terms_status(const MirageTerms *terms); // NO_MEMORY once any operation failed
uint32_t mirage_terms_count(const MirageTerms *terms);

/// The operations of expr.h. Any operand {0} gives {0}. Derived operators become their expansions; casts and changes of
/// shape give their operand.
MirageTerm mirage_term_input(MirageTerms *terms, uint32_t input);
MirageTerm mirage_term_constant(MirageTerms *terms, double value);
MirageTerm mirage_term_apply(MirageTerms *terms, MirageOp op, MirageTerm a, MirageTerm b);
MirageTerm mirage_term_sum(MirageTerms *terms, MirageTerm a, MirageAxisPart part);

/// The normal form of each term: out_exprs[1 .. count], out_exprs[0] = {0}.
void mirage_terms_normalize(const MirageTerms *terms, MirageExprTable *table, MirageExpr *out_exprs);

// ---------------------------------------------------------------------------------------------- oracle

typedef enum {
  MIRAGE_ORACLE_SHOWN,     // follows from the axioms
  MIRAGE_ORACLE_SATURATED, // not shown: no trigger adds anything
  MIRAGE_ORACLE_LIMIT      // not shown within the limit on steps
} MirageOracleAnswer;

/// Axioms beyond the paper's, which it needs to follow the normal form. Each can be left out, to learn whether an
/// answer hangs on it.
typedef enum {
  MIRAGE_ORACLE_NEG_NEG = 1,     // (-1)(-1) = 1
  MIRAGE_ORACLE_DIV_INVERSE = 2, // 1/(1/a) = a
  MIRAGE_ORACLE_EXP_GAUGE = 4,   // exp(a - max(b)) = exp(a)
  MIRAGE_ORACLE_ALL = 7
} MirageOracleAxioms;

typedef struct MirageOracle MirageOracle;

/// `rlimit`: Z3's count of steps for one question; 0 = a million (about a second). The answers depend on it, never on
/// time. `axioms`: MIRAGE_ORACLE_ALL or fewer.
/// Owns:   borrows `terms`, which may grow afterwards.
/// Errors: UNSUPPORTED in a build without Z3, naming the option; NO_MEMORY.
/// Source: [Mirage 4.2, 4.3]
MirageStatus mirage_oracle_create(const MirageTerms *terms, uint32_t rlimit, uint32_t axioms, const MirageDiag *diag,
                                  MirageOracle **out_oracle);
void mirage_oracle_destroy(MirageOracle *oracle);
/// Whether A_eq makes the two terms equal.
MirageOracleAnswer mirage_oracle_equal(MirageOracle *oracle, MirageTerm a, MirageTerm b);
/// Whether A_eq and A_sub make `e` a subexpression of `goal`.
MirageOracleAnswer mirage_oracle_reaches(MirageOracle *oracle, MirageTerm e, MirageTerm goal);

#ifdef __cplusplus
}
#endif
#endif
