// starts.h - which kernels of a program are known to have ended when one of them starts early.
//
// Each lets the next one start, which may be before it has waited for the ones in front of it, or behind that. So a kernel finds some of
// the others ended, and what they computed complete, though not yet the one before it. It lets the next one start behind its own wait where that
// makes the difference: where the next one needs something of those, but nothing of this one.
//
// Example:  norm; one product of it; another. The second product starts when the first has waited for the norm. It needs
//           nothing else, and runs beside the first. Two products of inputs: the second starts at once, with the same right.
#ifndef MIRAGE_CODEGEN_STARTS_H
#define MIRAGE_CODEGEN_STARTS_H

#include "mirage/ugraph.h"

typedef struct KernelStart {
  bool early;       // starts before the kernel in front of it has ended
  uint32_t settled; // then: so many kernels have ended, counted from the first
  uint32_t needs;   // it reads results of some of the first so many, and of no others
  bool lets_next;   // the next kernel starts early:
  bool after_wait;  // when this one has waited, or else when it begins
} KernelStart;

/// Fills in all but `early`, of `count` kernels in order. `graph`: that the kernels are of.
void mirage__kernel_starts(const MirageUGraph *graph, const MirageNode *kernels, uint32_t count, KernelStart *starts);
/// Whether an operand of kernel `index` may still be written when it starts.
bool mirage__is_pending(const MirageUGraph *graph, const MirageNode *kernels, const KernelStart *starts, uint32_t index,
                        uint32_t operand);

#endif
