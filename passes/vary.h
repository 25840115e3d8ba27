// vary.h - other schedules of a planned candidate, as candidates beside it. Private to passes/.
#ifndef MIRAGE_PASSES_VARY_H
#define MIRAGE_PASSES_VARY_H

#include "passes.h"

enum { MIRAGE_MOST_VARIANTS = 32 };

/// Candidates that were added to the module, behind the one that they vary. Their graphs are the caller's.
typedef struct MirageVariants {
  uint32_t num;
  MirageModuleGraph entries[MIRAGE_MOST_VARIANTS];
} MirageVariants;

/// Adds at most `most` other schedules of a candidate that is planned for the target: @p_0_warps_4 beside @p_0, each with the
/// proof of what it varies, since no schedule changes a result. None is planned as another is, and none is predicted to
/// take a tenth longer than the candidate. Of one that a hand has scheduled there are none. Pair with mirage__variants_deinit,
/// also after a failure.
///
/// Errors:  NO_MEMORY. What an interrupt leaves undone is not there.
MirageStatus mirage__vary(MirageModuleGraphs *graphs, const MirageModuleGraph *entry, const MirageTarget *target,
                          uint32_t most, MirageVariants *out_variants);
void mirage__variants_deinit(MirageVariants *variants);

#endif
