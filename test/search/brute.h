// brute.h - every block graph up to a number of operators, as [Mirage 4] enumerates them (Algorithm 1), nothing cut.
//
// This shares no code with lib/search. A graph has a grid of one or two blocks, a loop of one or two iterations, loads
// with every map of both onto dimensions, and operators in canonical order; shapes must fit and every value must be
// used, and that is all. There are no abstract expressions, no axes, no merging of equal values. What is complete is
// evaluated in float64, all blocks and iterations at once, and kept when it gives the program's output.
#ifndef MIRAGE_TEST_BRUTE_H
#define MIRAGE_TEST_BRUTE_H

#include "mirage/ugraph.h"

enum { BRUTE_NODES = 24, BRUTE_RANK = 2, BRUTE_INPUTS = 6, BRUTE_NO_DIM = -1 };

/// Relative to the loop. What a load of a whole tensor gives is BEFORE; without a loop everything is.
typedef enum { BRUTE_BEFORE, BRUTE_INSIDE, BRUTE_AFTER } BruteStage;

/// MIRAGE_OP_LOOP accumulates over the iterations. Dimensions are right-aligned: 1 is the last one.
typedef struct BruteNode {
  uint8_t op, stage, rank;
  uint8_t maximum;      // MIRAGE_OP_LOOP: by maximum
  uint8_t a, b;         // operands; load: a = input
  int8_t dim;           // of a reduction
  int8_t grid, loop;    // load: the dimensions that they walk
  int32_t shape[2];     // of the tile
  uint32_t users;       // operators that take it
  double constant;      // MIRAGE_OP_CONSTANT
  const double *values; // [blocks][iterations, or 1][rows][columns]
  uint64_t key; // of the dataflow above: equal for commuted operands, regrouped sums and products, and every grid
} BruteNode;

typedef struct BruteGraph {
  uint32_t blocks, iterations, num_nodes;
  uint32_t num_operators; // that are neither loads nor constants
  int8_t store_grid;      // the dimension of the output that the grid walks
  BruteNode nodes[BRUTE_NODES];
} BruteGraph;

typedef struct BruteProgram {
  const MirageUGraph *graph; // expanded
  double *inputs[BRUTE_INPUTS], *output;
} BruteProgram;

typedef struct BruteLimits {
  uint32_t operators;   // loads and constants not counted
  uint32_t extra_loads; // inputs that may be loaded once more, with other maps
  bool grids;           // two blocks as well as one
} BruteLimits;

/// Calls `found` for every block graph that gives the program's output. Returns the number of graphs and prefixes
/// visited.
uint64_t brute_enumerate(const BruteProgram *program, const BruteLimits *limits,
                         void (*found)(void *user, const BruteGraph *graph), void *user);

/// The µGraph of a block graph at the program's shapes, for the verifier. NULL when the builder refuses it.
MirageUGraph *brute_build(const BruteProgram *program, const BruteGraph *graph, const MirageDiag *diag);

/// Keys of the dataflow; lib/search's structures are keyed by the same functions (compare.c).
uint64_t brute_key_load(uint32_t input, int32_t loop_dim);
uint64_t brute_key_constant(double value);
uint64_t brute_key_operator(uint32_t op, uint32_t variant, uint64_t a, uint64_t b);

#endif
