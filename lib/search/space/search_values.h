// search_values.h - arithmetic on the shrunken instance.
#ifndef MIRAGE_LIB_SEARCH_VALUES_H
#define MIRAGE_LIB_SEARCH_VALUES_H

#include "mirage/field.h"
#include "search/program/search_program.h"

enum { SEARCH_LOOPS = 2 }; // iterations of the loop on the shrunken instance

/// Dense residues of the shrunken instance: the loop coordinate (1 when absent), then right-aligned dimensions.
typedef struct SearchArray {
  int32_t shape[1 + SEARCH_RANK];
  MirageResidue *data;
} SearchArray;

typedef struct SearchEval {
  const MirageDomain *domain;
  MirageArena *arena; // of results
  MirageArena scratch;
} SearchEval;

size_t mirage__search_array_size(const SearchArray *array);
/// Result arrays live in eval->arena. REDRAW: division by zero; then there is no result.
MirageStatus mirage__search_unary(SearchEval *eval, MirageOp op, const SearchArray *a, SearchArray *out);
MirageStatus mirage__search_binary(SearchEval *eval, MirageOp op, const SearchArray *a, const SearchArray *b,
                                   SearchArray *out);
MirageStatus mirage__search_matmul(SearchEval *eval, const SearchArray *a, const SearchArray *b, bool transpose_a,
                                   bool transpose_b, SearchArray *out);
/// Over dimension `dim` of the array (0 = the loop coordinate), which becomes 1.
MirageStatus mirage__search_reduce(SearchEval *eval, MirageOp op, const SearchArray *a, uint32_t dim, SearchArray *out);
MirageStatus mirage__search_transpose(SearchEval *eval, const SearchArray *a, SearchArray *out); // the last two
MirageStatus mirage__search_broadcast(SearchEval *eval, const SearchArray *a, SearchArray *in_out_shape);
MirageStatus mirage__search_constant(SearchEval *eval, double value, SearchArray *out);
/// Splits dimension `dim` (extent LOOPS * t) into the loop coordinate and t. dim 0: no split, a copy.
MirageStatus mirage__search_split(SearchEval *eval, const SearchArray *a, uint32_t dim, SearchArray *out);

#endif
