// starts.h - what is known to have ended when a kernel of a program starts early.
//
// Each lets the next one start, which may be before it has waited for the ones in front of it, or behind that. So a kernel finds some of
// the others ended, and what they computed complete, though not yet the one before it. It lets the next one start behind its own wait where that
// makes the difference: where the next one needs something of those, but nothing of this one.
//
// Counted as one more, in front of the program's kernels, is whatever runs before the program, which writes its inputs. The first
// kernel may start early, too; then it lets the second start behind its wait, so that inputs are complete for all but the first.
//
// Example:  norm; one product of it; another. The second product starts when the first has waited for the norm. It needs
//           nothing else, and runs beside the first. Two products of inputs: the second starts at once, with the same right.
#ifndef MIRAGE_CODEGEN_STARTS_H
#define MIRAGE_CODEGEN_STARTS_H

#include "mirage/ugraph.h"

typedef struct KernelStart {
  bool early; // starts before the kernel in front of it has ended
  uint32_t
      settled; // so many have ended for certain when it starts: 1, what runs before the program; 2, the first kernel, too
  uint32_t needs;  // it reads what some of the first so many wrote, and what no others did
  bool lets_next;  // the next kernel starts early:
  bool after_wait; // when this one has waited, or else when it begins
} KernelStart;

/// Fills in all but `early`, of `count` kernels in order. `graph`: that the kernels are of. `lets_next`: that the last lets what follows
/// the program start.
void mirage__kernel_starts(const MirageUGraph *graph, const MirageNode *kernels, uint32_t count, bool lets_next,
                           KernelStart *starts);
/// Whether an operand of kernel `index` may still be written when it starts.
bool mirage__is_pending(const MirageUGraph *graph, const MirageNode *kernels, const KernelStart *starts, uint32_t index,
                        uint32_t operand);

#endif
