// select.h - what the two halves of mirage-select share: select.c, and select_measured.c. Private to passes/.
#ifndef MIRAGE_PASSES_SELECT_H
#define MIRAGE_PASSES_SELECT_H

#include "measure.h"
#include "vary.h"

enum { MIRAGE_VARIED = 2 }; // candidates of a program whose other schedules are measured

typedef struct Selector {
  MirageModuleGraphs *graphs;
  const MirageSelectOptions *options;
  const MirageTarget *target;
  MirageModuleGraph *program; // the one at hand
  MirageModuleGraph **candidates;
  uint32_t num_candidates;
  double own_us;                        // predicted, of the program's own lowering; infinite where it has none
  MirageUGraph *inserted;               // of the candidate that came from the tuning database, or NULL
  MirageVariants others[MIRAGE_VARIED]; // other schedules of the fastest candidates
  bool consults, measures;              // the tuning database; the GPU
  MirageTuned tuned;
  char no_gpu[400]; // why, where there is none to measure on
} Selector;

/// Takes the proof away, with a remark: the candidate is out of the running.
void mirage__refuse(const Selector *selector, MirageModuleGraph *entry, const char *text);
/// Imports it, holds its proof to what it says, and asks for its cost.
MirageStatus mirage__prepare_candidate(const Selector *selector, MirageModuleGraph *entry);
/// Proves it at full size where that is affordable, and compiles it. One that does not stand has lost its proof.
MirageStatus mirage__confirm(const Selector *selector, MirageModuleGraph *entry, bool *out_stands);
bool mirage__is_proven(const MirageModuleGraph *entry);
/// "proof at full size, a wrong graph passes with probability below 2^-61.0"
void mirage__proof_text(const MirageModuleGraph *entry, char *text, size_t size);

// -----------------------------------------------------------------------------------------------------
// select_measured.c

/// Finds out whether the GPU and the database are to be asked. Errors: NO_DEVICE where measuring was insisted on.
MirageStatus mirage__measuring_init(Selector *selector);
/// By the tuning database, or by measuring. `*out_decided` is false where neither had an answer; else `*out_chosen` is
/// the fastest, or NULL for the program's own lowering.
MirageStatus mirage__choose_by_measuring(Selector *selector, bool *out_decided, MirageModuleGraph **out_chosen);

#endif
