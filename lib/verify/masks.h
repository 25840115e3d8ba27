// masks.h - a pair of graphs whose masks are inputs. masks.c
#ifndef MIRAGE_VERIFY_MASKS_H
#define MIRAGE_VERIFY_MASKS_H

#include "mirage/ugraph.h"

/// What becomes of mask(c, x), c made of indices and of predicates of inputs alone.
typedef enum {
  VERIFY_MASK_ADDED, // x + b, with an input b of numbers: for a proof
  VERIFY_MASK_GIVEN, // mask(b, x), with an i1 input b: for the numeric guard
} VerifyMaskForm;

/// A value of the source, expanded, that the pair has as an input instead.
typedef struct VerifyMask {
  MirageValue of;
  MirageType type; // of the input
  bool number;     // read as a number, not masked with; GIVEN: no input, but made of those
  bool full;       // every row along the last dimension sees some key, whatever the inputs
} VerifyMask;

enum { VERIFY_MAX_MASKS = 8 };

typedef struct VerifyMasks {
  const MirageUGraph *source; // in whose values `of` speaks
  MirageUGraph *graphs[2];    // NULL: the pair has no such form
  uint32_t first_input, count;
  VerifyMask masks[VERIFY_MAX_MASKS]; // ADDED: of inputs first_input + i
} VerifyMasks;

/// The pair with each such predicate of the source as an input, and so wherever the target computes the same of a tile.
/// OK with both graphs NULL where there are none, or the target has others. Graphs hold no sugar. NO_MEMORY.
MirageStatus mirage__verify_masks_init(VerifyMasks *masks, const MirageUGraph *source, const MirageUGraph *target,
                                       VerifyMaskForm form);
void mirage__verify_masks_deinit(VerifyMasks *masks);

/// Whether equality for all numbers that are added is equality for the masks themselves, by the theorem of masks
/// (README.md): both graphs take what is masked to its limit. masks_limit.c
bool mirage__verify_masks_hold(const VerifyMasks *masks);

/// Whether each row of a predicate, along its last dimension, holds somewhere. Only for one of indices; else false.
/// masks_rows.c
bool mirage__verify_rows_hold(const MirageUGraph *graph, MirageValue predicate);

#endif
