// search_view.c - slices, transpositions and reshapes of a tensor, composed.
//
// A reshape is taken apart into groups of dimensions, before and after, of equal size. Each group is joined to one
// dimension - if its dimensions lie side by side in memory, and no window but the first one's cuts them - and that one
// is split again. Dimensions of extent 1 come and go: they lie in front of all others, but the last, which lies behind.
//
// Example:  heads of a projection. [S, 3 H D], columns H D to 2 H D of it, as [S, H, D]: the tensor as [S, 3 H, D], of
//           the second dimension H to 2 H; transposed to [H, S, D]: places 1, 0, 2.
#include "search/views/search_view.h"
#include <string.h>

View mirage__view_whole(const MirageType *tensor) {
  View view = {.rank = tensor->rank};
  for (uint32_t d = 0; d < tensor->rank; d++) {
    view.place[d] = (uint8_t)d;
    view.extent[d] = tensor->shape[d];
  }
  return view;
}

// Extent of dimension `dim` as it is seen.
static int64_t extent_of(const View *view, uint32_t dim) {
  return view->end[dim] ? view->end[dim] - view->begin[dim] : view->extent[dim];
}

MirageType mirage__view_type(const View *view, MirageDType dtype) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < view->rank; d++)
    shape[d] = extent_of(view, d);
  return mirage_type_tensor(dtype, view->rank, shape);
}

MirageType mirage__view_tensor(const View *view, MirageDType dtype) {
  int64_t shape[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < view->rank; d++)
    shape[view->place[d]] = view->extent[d];
  return mirage_type_tensor(dtype, view->rank, shape);
}

bool mirage__view_is_dense(const View *view) {
  for (uint32_t d = 0; d < view->rank; d++)
    if (view->place[d] != d || view->end[d])
      return false;
  return true;
}

bool mirage__view_has_rows(const View *view) { return !view->rank || view->place[view->rank - 1] == view->rank - 1; }

void mirage__view_slice(View *view, uint32_t dim, int64_t begin, int64_t end) {
  int64_t from = view->begin[dim]; // 0 where all is seen
  view->begin[dim] = from + begin;
  view->end[dim] = from + end;
  if (view->begin[dim] == 0 && view->end[dim] == view->extent[dim])
    view->end[dim] = 0;
}

void mirage__view_transpose(View *view, const int32_t *perm) {
  View old = *view;
  for (uint32_t d = 0; d < view->rank; d++) {
    view->place[d] = old.place[perm[d]];
    view->extent[d] = old.extent[perm[d]];
    view->begin[d] = old.begin[perm[d]];
    view->end[d] = old.end[perm[d]];
  }
}

// ------------------------------------------------------------------------------------------------------------- reshape

typedef struct Dim { // of a view under construction; `key` orders the memory
  int64_t extent, begin, end;
  int32_t key;
} Dim;

enum { STEP = MIRAGE_MAX_RANK + 1, FRONT = -STEP, BEHIND = STEP * STEP }; // keys leave room for what a split makes

// Dimensions that are more than 1 long, places renumbered without the others. False: one is a window of 1 element,
// which cannot vanish.
static bool long_dims(const View *view, Dim *out, uint32_t *out_count) {
  *out_count = 0;
  for (uint32_t d = 0; d < view->rank; d++) {
    int32_t place = 0;
    for (uint32_t e = 0; e < view->rank; e++)
      place += view->extent[e] != 1 && view->place[e] < view->place[d];
    if (view->extent[d] == 1)
      continue;
    if (extent_of(view, d) == 1)
      return false;
    out[(*out_count)++] = (Dim){view->extent[d], view->begin[d], view->end[d], place * STEP};
  }
  return true;
}

static int64_t seen(const Dim *dim) { return dim->end ? dim->end - dim->begin : dim->extent; }

// Makes one dimension of two neighbours.
static bool join(Dim *dim, const Dim *next) {
  if (next->end || next->key <= dim->key || (next->key - dim->key) % STEP)
    return false;
  dim->extent *= next->extent;
  dim->begin *= next->extent;
  dim->end *= next->extent;
  return true;
}

// Makes `count` dimensions of one, the first of which gets its window.
static bool split(const Dim *dim, uint32_t count, const int64_t *shape, Dim *out) {
  int64_t inner = 1;
  for (uint32_t i = 1; i < count; i++) {
    out[i] = (Dim){.extent = shape[i], .key = dim->key + (int32_t)i};
    inner *= shape[i];
  }
  out[0] = (Dim){dim->extent / inner, dim->begin / inner, dim->end / inner, dim->key};
  return dim->extent % inner == 0 && dim->begin % inner == 0 && dim->end % inner == 0;
}

// Groups of `from` become groups of `shape`, which has no extent of 1.
static bool regroup(uint32_t num_from, const Dim *from, uint32_t rank, const int64_t *shape, Dim *out) {
  uint32_t i = 0, j = 0;
  while (i < num_from && j < rank) {
    Dim group = from[i++];
    int32_t last = group.key;
    uint32_t first = j;
    int64_t left = seen(&group), right = shape[j++];
    while (left != right) {
      if (left < right && i < num_from) {
        if (from[i].key != last + STEP || !join(&group, &from[i]))
          return false;
        last = from[i++].key;
        left = seen(&group);
      } else if (right < left && j < rank) {
        right *= shape[j++];
      } else {
        return false;
      }
    }
    if (!split(&group, j - first, shape + first, out + first))
      return false;
  }
  return i == num_from && j == rank;
}

bool mirage__view_reshape(View *view, uint32_t rank, const int64_t *shape) {
  Dim from[MIRAGE_MAX_RANK], to[MIRAGE_MAX_RANK];
  int64_t longer[MIRAGE_MAX_RANK];
  uint32_t num_from, count = 0;
  for (uint32_t d = 0; d < rank; d++)
    if (shape[d] != 1)
      longer[count++] = shape[d];
  if (!long_dims(view, from, &num_from) || !regroup(num_from, from, count, longer, to))
    return false;
  Dim all[MIRAGE_MAX_RANK];
  for (uint32_t d = 0, next = 0; d < rank; d++)
    all[d] = shape[d] == 1 ? (Dim){.extent = 1, .key = d + 1 == rank ? BEHIND : FRONT + (int32_t)d} : to[next++];
  *view = (View){.rank = rank};
  for (uint32_t d = 0; d < rank; d++) {
    view->extent[d] = all[d].extent;
    view->begin[d] = all[d].begin;
    view->end[d] = all[d].end;
    for (uint32_t e = 0; e < rank; e++)
      view->place[d] += all[e].key < all[d].key;
  }
  return true;
}

// --------------------------------------------------------------------------------------------------------------- steps

void mirage__view_swap(View *view) {
  int32_t perm[MIRAGE_MAX_RANK];
  for (uint32_t d = 0; d < view->rank; d++)
    perm[d] = (int32_t)(d + 2 < view->rank ? d : 2 * view->rank - 3 - d);
  mirage__view_transpose(view, perm);
}

bool mirage__view_is_loadable(const View *view, bool *out_swapped) {
  View swapped = *view;
  *out_swapped = !mirage__view_has_rows(view);
  if (*out_swapped)
    mirage__view_swap(&swapped);
  return mirage__view_has_rows(&swapped);
}

bool mirage__view_is_step(MirageOp op) {
  return op == MIRAGE_OP_SLICE || op == MIRAGE_OP_TRANSPOSE || op == MIRAGE_OP_RESHAPE || op == MIRAGE_OP_REPEAT ||
         op == MIRAGE_OP_BROADCAST;
}

bool mirage__view_after(View *view, const MirageNodeView *node, const MirageType *result) {
  switch (node->op) {
  case MIRAGE_OP_SLICE:
    mirage__view_slice(view, (uint32_t)node->attrs->slice.dim, node->attrs->slice.begin, node->attrs->slice.end);
    return true;
  case MIRAGE_OP_TRANSPOSE:
    mirage__view_transpose(view, node->attrs->perm.perm);
    return true;
  case MIRAGE_OP_RESHAPE:
    return mirage__view_reshape(view, result->rank, result->shape);
  default:
    return false;
  }
}

bool mirage__view_before(View *view, const MirageNodeView *node, const MirageType *operand) {
  int32_t back[MIRAGE_MAX_RANK] = {0};
  if (node->op == MIRAGE_OP_RESHAPE)
    return mirage__view_reshape(view, operand->rank, operand->shape);
  if (node->op != MIRAGE_OP_TRANSPOSE)
    return false;
  for (uint32_t d = 0; d < operand->rank; d++)
    back[node->attrs->perm.perm[d]] = (int32_t)d;
  mirage__view_transpose(view, back);
  return true;
}
