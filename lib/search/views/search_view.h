// search_view.h - what a load or a store sees of a tensor, as steps that cost nothing.
#ifndef MIRAGE_LIB_SEARCH_VIEW_H
#define MIRAGE_LIB_SEARCH_VIEW_H

#include "mirage/ugraph.h"

/// A tensor reshaped, its dimensions in another order, and a window of each: dimension d is the reshaped tensor's
/// dimension place[d], of which [begin[d], end[d]) is seen; end 0 = all of it.
typedef struct View {
  uint32_t rank;
  uint8_t place[MIRAGE_MAX_RANK];
  int64_t extent[MIRAGE_MAX_RANK]; // before the window
  int64_t begin[MIRAGE_MAX_RANK], end[MIRAGE_MAX_RANK];
} View;

/// All of a tensor, as it is.
View mirage__view_whole(const MirageType *tensor);
/// The type of what is seen, and of the reshaped tensor.
MirageType mirage__view_type(const View *view, MirageDType dtype);
MirageType mirage__view_tensor(const View *view, MirageDType dtype);
/// Whether nothing but a reshape is left to do.
bool mirage__view_is_dense(const View *view);
/// Whether rows are rows: loads and stores can see it.
bool mirage__view_has_rows(const View *view);
/// Whether loads can see it, or could with its last two dimensions swapped (`out_swapped`).
bool mirage__view_is_loadable(const View *view, bool *out_swapped);

/// What is seen after one step more. A reshape is refused that joins what does not lie side by side, or cuts a window
/// in two; then the view is left as it is.
void mirage__view_slice(View *view, uint32_t dim, int64_t begin, int64_t end);
void mirage__view_transpose(View *view, const int32_t *perm);
bool mirage__view_reshape(View *view, uint32_t rank, const int64_t *shape);
/// Swaps the last two dimensions, of at least two.
void mirage__view_swap(View *view);

/// Whether an operator only says how its operand is seen: slice, transpose, reshape, and what repeats it.
bool mirage__view_is_step(MirageOp op);
/// The view of an operator's result, given that of its operand; false where it is none.
bool mirage__view_after(View *view, const MirageNodeView *node, const MirageType *result);
/// The view of an operator's operand, given that of its result: nothing else makes the result.
bool mirage__view_before(View *view, const MirageNodeView *node, const MirageType *operand);

#endif
