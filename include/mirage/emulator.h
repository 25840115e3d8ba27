// emulator.h - runs the kernels of a graph on the CPU as a GPU would, and says where they break a rule.
//
// The generated code is the same as for a GPU (codegen.h), compiled for this machine with every GPU instruction a call.
// One fibre is one GPU thread; results do not depend on anything but the graph and its inputs.
#ifndef MIRAGE_EMULATOR_H
#define MIRAGE_EMULATOR_H

#include "mirage/target.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct MirageFault;

typedef struct MirageEmulationOptions {
  double max_work;           // refuse (LIMIT) graphs of more work than this (mirage_emulation_work); 0 = no limit
  struct MirageFault *fault; // tests only: a defect to put into the code (lib/codegen/host.h), or NULL
} MirageEmulationOptions;

/// A graph compiled for emulation.
typedef struct MirageEmulation MirageEmulation;

/// When an asynchronous copy takes place. Right code gives the same result either way.
typedef enum {
  MIRAGE_COPIES_LATE,  // at the wait for it
  MIRAGE_COPIES_EARLY, // at once
} MirageCopyTime;

/// About how many elements all blocks together load, compute and multiply. A CPU does some 2e7 a second. Operators that
/// stand for several (softmax, attention) count as one here; mirage_emulation_create sees what becomes of them.
double mirage_emulation_work(const MirageUGraph *graph);

/// Canonicalizes a copy of the graph, plans what is open, compiles.
///
/// Errors:  as mirage_codegen; LIMIT by options->max_work.
/// Threads: safe on graphs that nobody is building.
MirageStatus mirage_emulation_create(const MirageUGraph *graph, const MirageTarget *target,
                                     const MirageEmulationOptions *options, const MirageDiag *diag,
                                     MirageEmulation **out_emulation);
void mirage_emulation_destroy(MirageEmulation *emulation);

/// Runs all kernels in order.
///
/// Tensors: dense, row-major, in their element types' bits, in the graph's order; outputs are overwritten.
/// Errors:  FAULT when a kernel breaks a rule; the sentence begins with the operator that does, with its location.
///          Rules: no access outside a tensor or the shared memory, or misaligned; no shared memory read before it was
///          written, or before its copy was waited for, or written and read by different threads with no barrier in
///          between, or no proxy fence where bulk copies and wgmma need one; mbarriers get the arrivals and bytes that
///          they expect; products are waited for; lanes and threads meet; somebody can go on; each result element is
///          written, and by one block; the workspace's counters are left zero. lib/emulator/README.md has all.
/// Threads: one run at a time per emulation.
MirageStatus mirage_emulation_run(MirageEmulation *emulation, MirageCopyTime copies, const void *const *inputs,
                                  void *const *outputs, const MirageDiag *diag);

/// Create, run with late copies, destroy.
MirageStatus mirage_emulate(const MirageUGraph *graph, const MirageTarget *target, const void *const *inputs,
                            void *const *outputs, const MirageEmulationOptions *options, const MirageDiag *diag);

#ifdef __cplusplus
}
#endif
#endif
