// search_extract.h - reads block graphs off the derivations.
#ifndef MIRAGE_LIB_SEARCH_EXTRACT_H
#define MIRAGE_LIB_SEARCH_EXTRACT_H

#include "search/block/search_structure.h"
#include "search/space/search_space.h"

/// Gives a space whose derivation has ended, by itself or by a limit, the states that the reading may take. `share`: how
/// many spaces divide them, as in mirage__search_space_init.
void mirage__search_begin_extract(SearchSpace *space, uint32_t share);
/// Enumerates the block graphs that compute all goals from the derivations and keeps the best by reference schedule.
MirageStatus mirage__search_extract(SearchSpace *space, SearchPool *pool, SearchKept *kept);
/// One derivation for each of some tensors.
typedef struct SearchChoice {
  uint32_t num;
  const uint32_t *tensors, *derivations;
} SearchChoice;

/// The block graph that a choice makes: other derivations of these tensors are not seen, nor max_block_ops of the
/// space's options. num_nodes is 0 where there is none. The space stays as it was.
MirageStatus mirage__search_extract_choice(SearchSpace *space, const SearchChoice *choice, uint32_t max_block_ops,
                                           SearchStructure *out);
/// Keeps the program's own operators as one block graph where all are element-wise. search_pointwise.c
MirageStatus mirage__search_pointwise(const SearchProgram *program, const MirageSearchOptions *options,
                                      SearchKept *kept);

#endif
