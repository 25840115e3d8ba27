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

// ------------------------------------------------------------------------------------------------ images of compiled code
//
// What the emulated GPU needs of a lowered graph, as bytes that stand behind its PTX: the kernels as LLVM bitcode for
// this kind of machine, and what is checked of each. Who runs an image knows neither the graph nor MLIR.

/// The text of a location, for messages. NULL: messages have none.
typedef void (*MirageDescribeLocation)(const void *loc, char *buffer, size_t size);

/// Compiles a lowered graph for the emulator.
///
/// Owns:   *out_image is the caller's to free.
/// Errors: as mirage_codegen; BAD_GRAPH when its launches are not those that this build makes of it.
MirageStatus mirage_emulation_image(const MirageUGraph *graph, const MirageTarget *target,
                                    MirageDescribeLocation describe, const MirageDiag *diag, void **out_image,
                                    size_t *out_bytes);

typedef struct MirageEmulatedModule MirageEmulatedModule;
/// Errors: BAD_ARGUMENT when it is no image, or one for another kind of machine; CODEGEN.
MirageStatus mirage_emulated_module_create(const void *image, size_t bytes, const MirageDiag *diag,
                                           MirageEmulatedModule **out_module);
void mirage_emulated_module_destroy(MirageEmulatedModule *module);

/// What the emulator knows of memory beside the kernel: how many bytes there are from an address on. False: not known.
typedef bool (*MirageMemoryRoom)(void *user, const void *address, uint64_t *out_bytes);

typedef struct MirageEmulatedLaunch {
  const char *kernel;
  int64_t grid[3], cluster[3];
  int64_t threads, shared_bytes;
  void *const *parameters; // as a GPU's: addresses of the pointers, then of the tensor maps' 128 bytes
  uint64_t num_parameters; // UINT64_MAX: not known
  MirageCopyTime copies;
  MirageMemoryRoom room; // or NULL
  void *user;
} MirageEmulatedLaunch;

/// Runs one kernel on host memory, to its end.
///
/// Errors: FAULT as mirage_emulation_run, or where the launch does not fit the kernel; the sentence names the kernel, and the
///         operator, where one breaks a rule, with its location.
MirageStatus mirage_emulated_module_launch(MirageEmulatedModule *module, const MirageEmulatedLaunch *launch,
                                           const MirageDiag *diag);
/// Whether it has a kernel of that name.
bool mirage_emulated_module_has(const MirageEmulatedModule *module, const char *kernel);

/// In place of a tensor map's 128 bytes for a GPU: the map itself, and the address it was made for.
void mirage_emulated_map_encode(const MirageTensorMap *map, const void *address, void *out_bytes);

#ifdef __cplusplus
}
#endif
#endif
