// search_options.h - the options of a search, complete.
#ifndef MIRAGE_LIB_SEARCH_OPTIONS_H
#define MIRAGE_LIB_SEARCH_OPTIONS_H

#include "search/program/search_program.h"

/// Defaults filled in; BAD_ARGUMENT where a number lies outside what the search can do.
MirageStatus mirage__search_fill_options(const MirageSearchOptions *given, const MirageDiag *diag,
                                         MirageSearchOptions *out);
/// Where nobody said how many operators a block may have, two more. Weights that have a row for each output and are scaled in
/// groups need them, whose scales are transposed in the block; and programs without products can have them, whose
/// spaces are small: gradients of norms, with a collective for each of their sums.
void mirage__search_allow_more(const SearchProgram *program, MirageSearchOptions *options);

#endif
