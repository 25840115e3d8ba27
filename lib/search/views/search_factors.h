// search_factors.h - the parts into which reshapes split the dimensions of a program's values.
#ifndef MIRAGE_LIB_SEARCH_FACTORS_H
#define MIRAGE_LIB_SEARCH_FACTORS_H

#include "mirage/ugraph.h"

/// Where a dimension is split: sizes of what lies inside, the largest first.
typedef struct Factors {
  uint32_t num_cuts;
  int64_t cuts[MIRAGE_MAX_RANK];
} Factors;

/// Splits the dimensions of all values (`factors[value * MIRAGE_MAX_RANK + dimension]`, zeroed by the caller) so that
/// every operator steps through the same factors on both sides. Operators whose result is `seen` - a view, which is no
/// work - ask for nothing. False: some dimension cannot be split as needed.
bool mirage__factors_find(const MirageUGraph *program, const bool *seen, Factors *factors);
/// The shape of a value with a dimension for each factor, and where each dimension begins there (rank + 1 entries).
/// False when it has more dimensions than a tensor may have.
bool mirage__factors_shape(const MirageUGraph *program, const Factors *factors, MirageValue value, MirageType *out_type,
                           uint32_t *out_first);

#endif
