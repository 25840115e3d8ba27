// masks_match.h - one graph of a pair, and which of its values are masks of the source. masks_match.c
#ifndef MIRAGE_VERIFY_MASKS_MATCH_H
#define MIRAGE_VERIFY_MASKS_MATCH_H

#include "masks.h"

/// One graph of the pair.
typedef struct MaskSide {
  const MirageUGraph *graph;
  bool *pure;        // [num_values + 1]: made of predicates, indices and constants alone
  bool *needed;      // [num_values + 1]: of pure ones at the kernel level: the copy reads it all the same
  MirageValue *root; // [num_values + 1]: the kernel-level value that an argument of a custom kernel is
} MaskSide;

/// Whether a value is of i1 or an index.
static inline bool mirage__mask_is_logical(const MirageUGraph *graph, MirageValue v) {
  return mirage_ugraph_is_logical(graph, v);
}

/// Whether the value `v`, computed at `at` in a block of `side`, is a tile of the mask; the access of a load that would bring
/// it, with what `form` has beyond the end where the graph says where that is.
bool mirage__mask_is_tile(const VerifyMask *mask, VerifyMaskForm form, const MaskSide *source, const MaskSide *side,
                          MirageNode at, MirageValue v, MirageAccessAttrs *out_access);
/// Whether the value `v` of the kernel level of `side` is the mask.
bool mirage__mask_is_tensor(const VerifyMask *mask, const MaskSide *source, const MaskSide *side, MirageValue v);

#endif
