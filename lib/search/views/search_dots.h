// search_dots.h - products of one row with the rows of weights, as sums of element-wise products.
#ifndef MIRAGE_LIB_SEARCH_DOTS_H
#define MIRAGE_LIB_SEARCH_DOTS_H

#include "mirage/ugraph.h"

/// A program of elementary operators with its products written so, the caller's; NULL where some product is another, or feeds a
/// further product or reduction, or where there is none.
MirageStatus mirage__search_dots(const MirageUGraph *program, const MirageDiag *diag, MirageUGraph **out_graph);

#endif
