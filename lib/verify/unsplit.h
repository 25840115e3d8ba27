// unsplit.h - kernels with fewer blocks that compute the same. unsplit.c
#ifndef MIRAGE_VERIFY_UNSPLIT_H
#define MIRAGE_VERIFY_UNSPLIT_H

#include "mirage/ugraph.h"

/// A copy of a graph without sugar in which every grid axis that only spreads independent work has one block. NULL when
/// there is none to take away, or no memory. out_map: NULL, or room for num_values + 1: where each value went.
MirageUGraph *mirage__verify_unsplit(const MirageUGraph *graph, MirageValue *out_map);

#endif
