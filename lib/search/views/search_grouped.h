// search_grouped.h - products whose contraction comes in groups, as batches of products and their sum.
#ifndef MIRAGE_LIB_SEARCH_GROUPED_H
#define MIRAGE_LIB_SEARCH_GROUPED_H

#include "mirage/ugraph.h"

/// A program of elementary operators with such products rewritten, the caller's; NULL where it has none.
MirageStatus mirage__search_group(const MirageUGraph *program, const MirageDiag *diag, MirageUGraph **out_graph);

#endif
