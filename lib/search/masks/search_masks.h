// search_masks.h - a program without its masks, and µGraphs for that as µGraphs for the program.
#ifndef MIRAGE_LIB_SEARCH_MASKS_H
#define MIRAGE_LIB_SEARCH_MASKS_H

#include "mirage/ugraph.h"

typedef struct SearchMasks SearchMasks;
/// The program with an input for each mask, and for each number made of predicates and indices alone. NULL, and the program
/// itself, where it has none.
///
/// Errors: UNSUPPORTED where a predicate depends on what the program computes, with its operator; NO_MEMORY.
MirageStatus mirage__search_unmask(const MirageUGraph *program, const MirageDiag *diag, SearchMasks **out_masks,
                                   const MirageUGraph **out_core);
/// A µGraph for the core as one for the program: its kernels compute masks where they read them, where they can. NULL: a
/// row that sees nothing would be divided by nothing.
MirageStatus mirage__search_remask(const SearchMasks *masks, const MirageUGraph *found, const MirageDiag *diag,
                                   MirageUGraph **out_graph);
void mirage__search_masks_destroy(SearchMasks *masks);

/// What stands for an input of the core. search_masks.c fills it, search_remask.c reads it.
typedef struct MaskInput {
  MirageValue of;  // of the expanded program: an input, or what predicates and indices give
  bool added;      // a mask: `of` is a predicate, the input 0 where it holds and bottom elsewhere
  MirageType type; // of the core's input
} MaskInput;

struct SearchMasks {
  MirageUGraph *program; // expanded
  MirageUGraph *core;
  bool *pure;        // [num_values + 1] of the program: made of predicates, indices and constants alone
  MirageValue floor; // what the program adds to sums of rows that may see nothing, and the core does not; {0} = nothing
  uint32_t num_inputs;
  MaskInput *inputs; // of the core
};

#endif
