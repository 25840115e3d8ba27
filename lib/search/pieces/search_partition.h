// search_partition.h - what search_pieces.c and search_partition.c share.
#ifndef MIRAGE_LIB_SEARCH_PARTITION_H
#define MIRAGE_LIB_SEARCH_PARTITION_H

#include "search/run/search_control.h"

enum {
  CUT_OPERATORS = 128, // of a program that is cut
  CUT_VALUES = 64,     // inputs or outputs of a piece
  CUT_PIECES = 64,     // of a µGraph
  CUT_LENGTH = 8,      // operators of a piece
  CUT_OTHERS = 4,      // further µGraphs of a piece
  CUT_WORDS = CUT_OPERATORS / 64,
};

/// Some of the program's operators, by number.
typedef struct Operators {
  uint64_t words[CUT_WORDS];
} Operators;

static inline bool operators_has(const Operators *set, uint32_t number) {
  return set->words[number / 64] >> number % 64 & 1;
}
static inline void operators_add(Operators *set, uint32_t number) {
  set->words[number / 64] |= (uint64_t)1 << number % 64;
}
static inline Operators operators_union(const Operators *a, const Operators *b) {
  Operators all = *a;
  for (uint32_t w = 0; w < CUT_WORDS; w++)
    all.words[w] |= b->words[w];
  return all;
}
/// Those of `a` that `b` has not.
static inline Operators operators_without(const Operators *a, const Operators *b) {
  Operators left = *a;
  for (uint32_t w = 0; w < CUT_WORDS; w++)
    left.words[w] &= ~b->words[w];
  return left;
}
static inline uint32_t operators_count(const Operators *set) {
  uint32_t count = 0;
  for (uint32_t w = 0; w < CUT_WORDS; w++)
    count += (uint32_t)__builtin_popcountll(set->words[w]);
  return count;
}
static inline bool operators_equal(const Operators *a, const Operators *b) {
  for (uint32_t w = 0; w < CUT_WORDS; w++)
    if (a->words[w] != b->words[w])
      return false;
  return true;
}

/// Operators that become a µGraph of their own.
typedef struct Piece {
  Operators operators, needs;                          // needs: who makes its inputs
  uint32_t count;                                      // of operators
  MirageUGraph *program;                               // the operators by themselves; owned
  MirageUGraph *graph;                                 // how they are computed; owned
  MirageValue inputs[CUT_VALUES], outputs[CUT_VALUES]; // of the program that is cut
  uint32_t num_inputs, num_outputs;
  MirageUGraph *others[CUT_OTHERS]; // what the search found beside it, best first; owned
  uint32_t num_others;
  double time_us;           // infinite: no such piece
  bool searched;            // the graph is what a search found, not the operators themselves
  MirageUGraph *slower;     // what a search found where the operators themselves are predicted to be faster; owned
  const struct Piece *same; // an earlier piece that is the same program
  MirageSearchResult found;
  MirageStatus status;
  MirageStop skipped; // why it was not searched
} Piece;

/// A program that is cut into pieces.
typedef struct Cutter {
  const MirageUGraph *program;
  const MirageSearchOptions *options; // of a piece
  SearchPart part;                    // of the program
  uint64_t max_states;                // for all pieces together
  MirageNode nodes[CUT_OPERATORS];    // operators; constants and views belong to whoever uses them
  uint32_t num_nodes;
  bool has_views;
  uint32_t *producer; // by value: number of the operator that computes it, or what it is a view of, and 1
  MirageValue *root;  // by value: what it is a view of, or itself
  MirageValue *home;  // by value that is computed: the view of it that pieces hand on
  Piece *pieces;
  uint32_t num_pieces;
  MirageFunnel funnel;
} Cutter;

// search_homes.c
/// By value: what it is a view of (an input, a constant or what an operator computes; itself if it is one), and of what
/// is computed, the view as which pieces hand it on.
MirageStatus mirage__homes_find(const MirageUGraph *program, MirageValue *root, MirageValue *home);

// search_pieces.c
/// Lists the pieces of a program whose operators are listed, by themselves.
MirageStatus mirage__pieces_list(Cutter *cutter);
bool mirage__pieces_has(const Cutter *cutter, const Operators *set);
/// Whether two programs are the same but for their names.
bool mirage__pieces_same(const MirageUGraph *a, const MirageUGraph *b);
/// Copies what makes a view, or a constant, out of what `map` has already.
MirageStatus mirage__pieces_copy_view(const Cutter *cutter, MirageValue value, MirageUGraph *graph, MirageValue *map);
/// Finds how each is best computed.
MirageStatus mirage__pieces_solve(Cutter *cutter);
/// Takes what was found wherever something was, though a piece's operators are predicted to be faster by themselves.
MirageStatus mirage__pieces_take_slower(Cutter *cutter);
void mirage__pieces_deinit(Cutter *cutter);

#endif
