// search_extract.h - reads block graphs off the derivations.
#ifndef MIRAGE_LIB_SEARCH_EXTRACT_H
#define MIRAGE_LIB_SEARCH_EXTRACT_H

#include "search/block/search_structure.h"
#include "search/space/search_space.h"

/// Enumerates the block graphs that compute all goals from the derivations and keeps the best by reference schedule.
MirageStatus mirage__search_extract(SearchSpace *space, SearchPool *pool, SearchKept *kept);
/// Keeps the program's own operators as one block graph where all are element-wise. search_pointwise.c
MirageStatus mirage__search_pointwise(const SearchProgram *program, const MirageSearchOptions *options,
                                      SearchKept *kept);

#endif
