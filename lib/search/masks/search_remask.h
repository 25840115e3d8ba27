// search_remask.h - what the parts of putting masks back share: search_remask.c, search_deal.c, search_floor.c.
#ifndef MIRAGE_LIB_SEARCH_REMASK_H
#define MIRAGE_LIB_SEARCH_REMASK_H

#include "search_masks.h"

typedef struct Remask {
  const SearchMasks *masks;
  const MirageUGraph *from;
  MirageUGraph *to;
  MirageValue *map;      // [num_values + 1] of the candidate
  MirageValue *built;    // [num_values + 1] of the program: what the new graph has of it at the kernel level
  MirageValue *argument; // [num_values + 1] of the program: an i1 input, as an argument of the kernel at hand
  bool *masked;          // [num_values + 1] of the candidate: a mask is in it
  MirageValue floor;     // the program's floor at the kernel level; {0} = not built
  bool floored;          // something is divided by a sum and that
} Remask;

static inline const MirageUGraph *program_of(const Remask *r) { return r->masks->program; }

// One load that is computed instead.
typedef struct Tile {
  const MirageType *tensor, *tile; // what would be loaded of what
  const MirageAccessAttrs *access;
  MirageScope scope;
} Tile;

/// A kernel's operands: which of them are computed where they are loaded.
typedef struct Kernel {
  MirageNodeView node;
  MirageValue first_argument;
  const MaskInput *computed[64]; // of each operand, or NULL
  MirageValue floor;             // an argument: what is added to a divisor with masks in it; {0} = nothing
  MirageNode mask;               // a load of a mask, whose rows are those of the floor
  bool computes_floor;           // tile by tile, of what the mask is computed of
  bool cyclic;                   // what the grid and a loop split is dealt out to the blocks tile by tile
} Kernel;

/// A value of the program, at the kernel level, by the program's own operators.
MirageValue mirage__remask_build(Remask *r, MirageValue v);
/// Whether tiles of a value of the program can be computed: by operators on single elements, of indices and inputs.
bool mirage__remask_has_tiles(const Remask *r, MirageValue v);
/// The tile of such a value that lies where `t` does, in the block at hand.
MirageValue mirage__remask_tile(Remask *r, const Tile *t, MirageValue v);
/// The extents of the tile of a value that stretches to the mask: 1 where it has 1.
void mirage__remask_extents(const Tile *t, const MirageType *type, int64_t *out);
/// Inputs of the program that computed tiles read, as operands of a kernel; `of`: which they are.
void mirage__remask_operands(Remask *r, MirageValue v, MirageValue *operands, MirageValue *of, uint32_t *count);

/// The predicate of whose rows the program's floor, cast(not(reduce_max(predicate))), says that they hold nowhere; {0}: the
/// floor is something else, or tiles of the predicate cannot be computed.
MirageValue mirage__floor_predicate(const Remask *r);
/// Whether the first element of each row of a predicate holds if any does.
bool mirage__floor_has_first(const Remask *r, MirageValue v);
/// That element of each row.
MirageValue mirage__floor_first(Remask *r, const Tile *t, MirageValue v);
/// The floor as a tensor.
MirageValue mirage__floor_build(Remask *r);

/// What a load is computed as, or NULL.
const MaskInput *mirage__remask_computed_by(const Kernel *k, const MirageNodeView *node);
/// Whether blocks are dealt tiles of what they share and walk, for a mask of positions along it.
bool mirage__remask_is_dealt(const Remask *r, const Kernel *k);
/// How a load or store of the candidate's kernel is to be done in the new one.
MirageAccessAttrs mirage__remask_access(const Remask *r, const Kernel *k, MirageNode id);

#endif
