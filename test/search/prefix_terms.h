// prefix_terms.h - what the search derives, as terms in the order of its operators; and normal forms as terms.
#ifndef MIRAGE_TEST_PREFIX_TERMS_H
#define MIRAGE_TEST_PREFIX_TERMS_H

#include "mirage/oracle.h"
#include "search/block/search_structure.h"
#include "search/space/search_space.h"

/// The term of each tensor of a space, by its first derivation, which is the one that gave it its expression; and of
/// the program's output. out_terms[1 .. space->num_tensors]. False when something has no term.
bool prefix_terms(const SearchSpace *space, MirageTerms *terms, MirageTerm *out_terms, MirageTerm *out_goal);

/// A normal form written out again: products of atoms over denominators, added up.
MirageTerm term_of_expr(MirageTerms *terms, const MirageExprTable *table, MirageExpr expr);

#endif
