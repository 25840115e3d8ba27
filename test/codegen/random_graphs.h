// random_graphs.h - random programs and random block graphs, for the generator's fuzzer.
#ifndef MIRAGE_TEST_RANDOM_GRAPHS_H
#define MIRAGE_TEST_RANDOM_GRAPHS_H

#include "choices.h"

#include "mirage/ugraph.h"

/// A program of kernel-level operators. NULL when the draw does not fit together (a builder's error): draw again.
MirageUGraph *random_program(Choices *choices);

/// One or two custom kernels with random block graphs, grids, loops, carries and schedules, between kernel-level
/// operators. NULL as above. *out_by_hand: the schedule says more than warps, so a refusal is no fault.
MirageUGraph *random_kernels(Choices *choices, bool *out_by_hand);

#endif
