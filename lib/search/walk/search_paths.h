// search_paths.h - the tensors below the goals, and where the reading of block graphs off them stands.
#ifndef MIRAGE_LIB_SEARCH_PATHS_H
#define MIRAGE_LIB_SEARCH_PATHS_H

#include "search/block/search_structure.h"
#include "search/space/search_space.h"

enum { PATHS_MAX_WORDS = 26, PATHS_MAX_LOADS = 256, PATHS_MAX_KINDS = 64 };

// ------------------------------------------------------------------------------------- the goals' tensors

/// A derivation, its operands by place.
typedef struct PathStep {
  uint32_t derivation; // of the space
  uint32_t a, b;       // 0 = none
  uint8_t op;
  bool elementwise, reduction;
  bool counts;  // for max_block_ops, unless it turns out to be one with its operand
  uint8_t kind; // its bit among kinds of operators; 0 = none
} PathStep;

/// A tensor that some derivation of a goal uses, directly or not.
typedef struct PathTensor {
  uint32_t tensor; // of the space
  uint32_t first_step, num_steps;
  uint32_t counted_depth, elementwise_depth; // as in SearchTensor
  uint32_t monomials, atoms;                 // mirage_expr_size
  uint32_t event;                            // its bit in `needs`; 0 = none
  uint8_t stage;
  bool may_chain; // some derivation is element-wise or a reduction: a chain of its stage may go on here, or begin at it
  bool taken_later; // by something with a smaller place, in a cycle of derivations
  bool joins_later; // something of its stage with a smaller place, in a cycle of derivations, may take it into a chain
} PathTensor;

/// Kinds of operators, as bits from 1 on.
typedef struct PathKinds {
  uint64_t counted, elementwise;
} PathKinds;

/// The tensors below one choice of goals in topological order: operands have smaller places. A cycle of derivations
/// (a = -b, b = -a) has no such order; the edge that closes it goes to a larger place.
typedef struct Paths {
  const SearchSpace *space;
  PathTensor *tensors; // [1 .. num]
  PathStep *steps;
  uint32_t num, num_steps;
  uint32_t goals[SEARCH_MAX_GOALS]; // places
  // What every block graph that computes a tensor holds at least, itself included, as bits: word 0 has inputs, then
  // come loads, from word first_counted tensors all of whose derivations count, and from word first_elementwise those
  // that are always element-wise.
  uint64_t *needs; // [num + 1][num_words]
  uint32_t num_words, first_counted, first_elementwise;
  uint8_t load_inputs[PATHS_MAX_LOADS]; // by bit from word 1 on
  // The same of kinds: steps with one operator, one stage, and results of the same inputs. Where no tensor is needed in
  // whatever way, some product of x and w is.
  PathKinds *kinds; // [num + 1]
} Paths;

/// `goals`: a tensor of the space for each of its goals.
/// Owns:    free with mirage__paths_deinit, also after a failure.
MirageStatus mirage__paths_init(Paths *paths, const SearchSpace *space, const uint32_t *goals);
void mirage__paths_deinit(Paths *paths);

// -------------------------------------------------------------------------------------- whole structures

/// Writes the block graph of one step for each tensor needed (`chosen`, by place; 0 = none, else the number of the step
/// and 1), in execution order. `nodes`: by place, for scratch; zeroed before and after. False when the choice is
/// cyclic.
bool mirage__paths_assemble(const Paths *paths, const uint32_t *chosen, uint32_t *nodes,
                            SearchStructure *out_structure);

// --------------------------------------------------------------------------------------------- branches

/// A subtree that is still to be walked: the steps taken to reach its root, and the root's first step to try.
typedef struct Branch {
  uint32_t depth;
  uint32_t steps[SEARCH_MAX_NODES];
} Branch;

typedef struct Branches {
  Branch *items;
  uint32_t num, capacity;
} Branches;

/// An empty branch at the end; NULL when memory is out.
Branch *mirage__branches_add(Branches *branches);

/// Where the reading of block graphs stands, between two rounds of walks.
typedef struct Standing {
  uint32_t choice;      // of goals, counted from 1
  uint32_t round, last; // element-wise operators: now, and at most
  uint64_t before;      // structures when this choice was begun
  uint64_t share;       // of states, for each walk
  bool cut_elementwise;
  Branches branches;
} Standing;

/// Writes or reads where it stands, with the space's funnel and what is kept. search_standing.c
MirageStatus mirage__standing_pass(SearchBytes *bytes, Standing *at, SearchSpace *space, SearchKept *kept);

#endif
