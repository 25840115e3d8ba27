// callable.h - a compiled graph that can be called: on any GPU of the process, or on the emulator.
//
//   mirage_callable_create(graph, ptx, bytes, "sm_90a", diag, &callable);                   // takes the graph
//   mirage_callable_launch(callable, MIRAGE_CURRENT_DEVICE, inputs, outputs, stream, diag);  // device pointers
//   mirage_callable_emulate(callable, host_inputs, host_outputs, diag);                      // host pointers, no GPU
//
// Code is loaded into a device's context at the first call there, and stays until the callable is destroyed.
#ifndef MIRAGE_CALLABLE_H
#define MIRAGE_CALLABLE_H

#include "mirage/launch_plan.h"
#include "mirage/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageCallable MirageCallable;

/// In place of a device's number: the context that is current for the calling thread. It must outlive the callable.
enum { MIRAGE_CURRENT_DEVICE = -1 };

/// Owns:    takes the graph, also after a failure; copies the PTX (which need not end with NUL) and the chip ("sm_90a").
/// Errors:  NO_MEMORY; BAD_GRAPH as mirage_launch_plan_init.
MirageStatus mirage_callable_create(MirageUGraph *graph, const char *ptx, size_t ptx_bytes, const char *chip,
                                    const MirageDiag *diag, MirageCallable **out_callable);
/// Waits for what was launched.
void mirage_callable_destroy(MirageCallable *callable);

const MirageUGraph *mirage_callable_graph(const MirageCallable *callable);
const MirageLaunchPlan *mirage_callable_plan(const MirageCallable *callable);
const char *mirage_callable_ptx(const MirageCallable *callable); // NUL-terminated
const char *mirage_callable_chip(const MirageCallable *callable);

/// Loads the code where it is not loaded yet, so that a later launch takes no longer than its driver calls.
/// Errors:  NO_DEVICE, DRIVER, BAD_ARGUMENT (no current context), as runtime.h says.
/// Threads: this and all below may be called by several threads at once.
MirageStatus mirage_callable_load(MirageCallable *callable, int32_t ordinal, const MirageDiag *diag,
                                  MirageProgram **out_program);
/// mirage_program_launch on device `ordinal`: asynchronous, and may be captured in a CUDA graph once it was loaded.
MirageStatus mirage_callable_launch(MirageCallable *callable, int32_t ordinal, const uint64_t *inputs,
                                    const uint64_t *outputs, void *stream, const MirageDiag *diag);

/// Runs the same kernels on the CPU (emulator.h), one call at a time. Tensors are dense, row-major, in host memory.
/// Errors:  UNSUPPORTED where no row of target.h has the chip; FAULT where a kernel breaks a rule.
MirageStatus mirage_callable_emulate(MirageCallable *callable, const void *const *inputs, void *const *outputs,
                                     const MirageDiag *diag);

#ifdef __cplusplus
}
#endif
#endif
