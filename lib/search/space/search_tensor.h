// search_tensor.h - what the files of this folder share: how a tensor enters a space.
#ifndef MIRAGE_LIB_SEARCH_TENSOR_H
#define MIRAGE_LIB_SEARCH_TENSOR_H

#include "search/space/search_space.h"

/// A binary operator, and whether the operands change places.
typedef struct SearchForm {
  uint8_t op;
  bool swap;
} SearchForm;
enum { SEARCH_NUM_FORMS = 7 };
extern const SearchForm mirage__search_forms[SEARCH_NUM_FORMS];

/// A tensor about to be added.
typedef struct SearchAttempt {
  SearchDerivation how;
  uint8_t stage, rank;
  uint8_t dims[SEARCH_RANK];
  MirageExpr expr; // {0}: of a binary operator or matmul, when expressions cut nothing; found when it fits the limits
} SearchAttempt;

// search_instance.c
void mirage__search_shrink(SearchSpace *space);
int32_t mirage__search_shrunken_extent(const SearchSpace *space, uint8_t dim);
void mirage__search_program_shape(const SearchSpace *space, MirageValue value, SearchArray *out);
/// The sum over a dimension, which is the sum over each of its parts.
MirageExpr mirage__search_sum_over(SearchSpace *space, MirageExpr e, uint8_t dim);
/// Sets the goals. REDRAW and UNSUPPORTED as the field says.
MirageStatus mirage__search_evaluate_program(SearchSpace *space, const MirageField *field);

// search_tensor.c
/// Doubles an array that lives in the space's arena; NULL when memory is out.
void *mirage__search_grow(SearchSpace *space, void *array, uint32_t *capacity, size_t size);
/// Whether the expression can become part of a goal (always, when that test is off).
bool mirage__search_keeps_reach(SearchSpace *space, MirageExpr expr);
/// Evaluates and adds a tensor whose expression reaches (or is not asked), unless it fits neither the target nor the
/// limits.
MirageStatus mirage__search_try_tensor(SearchSpace *space, const SearchAttempt *attempt);
/// The same, after the test of the expression.
MirageStatus mirage__search_try_unless_cut(SearchSpace *space, const SearchAttempt *attempt);
/// Adds a tensor that was there before, with its values evaluated again by its first derivation; `tensor` has the rest.
MirageStatus mirage__search_restore_tensor(SearchSpace *space, const SearchTensor *tensor, const SearchDerivation *how);
/// Adds a load or a constant whose values are known.
MirageStatus mirage__search_add_leaf(SearchSpace *space, SearchTensor *tensor, const SearchDerivation *how);

// search_groups.c
/// Adds a tensor to the group of its expression; a new group finds its partners, unless expressions cut nothing.
MirageStatus mirage__search_add_to_group(SearchSpace *space, uint32_t tensor);
/// By which a tensor is grouped.
MirageExpr mirage__search_group_expr(const SearchSpace *space, uint32_t tensor);
/// A group without tensors, which has found its partners.
MirageStatus mirage__search_add_group(SearchSpace *space, MirageExpr expr);
/// The forms that the program's operators allow, as a bit set.
uint8_t mirage__search_allowed_forms(const SearchSpace *space);

#endif
