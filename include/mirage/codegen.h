// codegen.h - laid-out µGraph -> LLVM IR -> PTX, through device primitives. [Mirage 6]
#ifndef MIRAGE_CODEGEN_H
#define MIRAGE_CODEGEN_H

#include "mirage/cancel.h"
#include "mirage/target.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageCodegenOptions {
  int32_t opt_level;          // LLVM pipeline, 0..3; default 3 when the struct is zero is NOT implied: set it
  bool keep_llvm_ir;          // also return the optimised modules' text
  const MirageCancel *cancel; // asked before each kernel is planned and before each is compiled; NULL: nobody
} MirageCodegenOptions;

typedef struct MirageCode {
  char *ptx; // NUL-terminated, all kernels of the graph in one module
  size_t ptx_bytes;
  char *llvm_ir; // or NULL: a module for each kernel, one after the other
} MirageCode;

/// Compiles every custom kernel of a planned graph (layout.h) whose kernel region holds custom nodes and reshapes, and records
/// each kernel's MirageLaunch on its node (mirage_ugraph_set_launch).
///
/// Kernel ABI: parameters are bare device pointers: the custom's operands, then its results, then the workspace pointer
///             when launch.workspace_bytes > 0. Behind them each of launch.maps as the 128 bytes of an encoded tensor
///             map, by value, 64-byte aligned. Grid by mirage_custom_launch_grid, cluster as in
///             MirageCustomAttrs, block = launch.threads x 1 x 1.
/// Names:      kernel i of graph @g is "g_k<i>".
/// Errors:     UNSUPPORTED (operator and location); LIMIT; CODEGEN with LLVM's message; CANCELLED.
/// Threads:    one call at a time per graph; calls on different graphs may run in parallel.
MirageStatus mirage_codegen(MirageUGraph *graph, const MirageTarget *target, const MirageCodegenOptions *options,
                            const MirageDiag *diag, MirageCode *out_code);
void mirage_code_deinit(MirageCode *code);
/// A number for what a GPU is given: PTX and launches of the graph that was compiled to `code`, whatever its name. Never 0.
uint64_t mirage_code_hash(const MirageUGraph *graph, const MirageCode *code);

/// One graph of mirage_codegen_all.
typedef struct MirageCodegenJob {
  MirageUGraph *graph;    // in: as mirage_codegen takes it
  const MirageDiag *diag; // in: of this job alone, since another thread may write to it
  MirageStatus status;    // out
  MirageCode code;        // out: the caller's to deinit, also after a failure
} MirageCodegenJob;

/// Compiles many graphs at once, in num_threads threads; 0 is one for each processor. A job's result and messages do not
/// depend on the others, nor on the number of threads.
void mirage_codegen_all(uint32_t num_jobs, MirageCodegenJob *jobs, const MirageTarget *target,
                        const MirageCodegenOptions *options, uint32_t num_threads);

#ifdef __cplusplus
}
#endif
#endif
