// Compile.h - from MLIR text to GPU kernels in one call, and calls of what came out. No type of MLIR or CUDA is needed.
//
// Example:
//   static void say(const MirageMessage *m, void *user) {
//     if (m->severity == MIRAGE_SEVERITY_ERROR)
//       fprintf(stderr, "%s:%d:%d: %s\n", m->file, m->line, m->column, m->text);
//   }
//
//   // Pointers are device addresses, in the program's order.
//   MirageStatus compile_and_launch(const char *text, const uint64_t *inputs, const uint64_t *outputs, void *stream) {
//     MirageCompileOptions options = {.target = "h200", .on_message = say};
//     MirageCompilation *compilation;
//     MIRAGE_TRY(mirageCompile(text, strlen(text), &options, &compilation));
//     const MirageCompiledProgram *program = mirageCompilationGetProgram(compilation, 0);
//     for (uint32_t k = 0; k < program->plan->num_kernels; k++) {
//       const MiragePlannedKernel *kernel = &program->plan->kernels[k];
//       printf("%s: %lld blocks of %d threads\n", kernel->name, (long long)kernel->grid[0], kernel->threads);
//     }
//     MirageStatus status = mirageProgramLaunch(program, inputs, outputs, stream, say, NULL);
//     mirageCompilationDestroy(compilation); // waits for the launch: keep it for as long as you launch
//     return status;
//   }
//
// Threads: any number may compile at once; a compilation is read and its programs called by any number.
#ifndef MIRAGE_C_COMPILE_H
#define MIRAGE_C_COMPILE_H

#include "mirage/callable.h"
#include "mirage/diag.h"
#include "mirage/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/// "0.1.0": of the library that runs, where the header may be another's.
const char *mirageGetVersion(void);

// ------------------------------------------------------------------------------------------------------------ messages

/// One sentence for a person. It and its texts live only during the call.
typedef struct MirageMessage {
  MirageSeverity severity;
  const char *file;     // "" where nothing of the text is meant
  int32_t line, column; // from 1; 0 where there is none
  const char *text;
} MirageMessage;
/// One call at a time from each call of the library, on the thread that made it or on one of MLIR's. NULL drops messages.
typedef void (*MirageMessageCallback)(const MirageMessage *message, void *user);

// ----------------------------------------------------------------------------------------------------------- compiling

/// All zero is the default.
typedef struct MirageCompileOptions {
  const char *target;  // GPU to compile for, by name or chip ("a100", "sm_90a"); NULL: h200
  const char *options; // of mirage-superoptimize, as on the command line: "measure=no max-block-ops=9"; NULL: none
  const char *file;    // what messages call the text; NULL: "-"
  MirageMessageCallback on_message;
  void *user;
} MirageCompileOptions;

/// What one compilation gave.
typedef struct MirageCompilation MirageCompilation;

/// One program, compiled. Everything here lives as long as the compilation.
typedef struct MirageCompiledProgram {
  const char *name;  // of the program: "rmsnorm_linear"; a part of func.func @f is called "f_0"
  const char *graph; // that was selected for it: "rmsnorm_linear_3"
  const char *chip;  // that the PTX is for: "sm_90a"
  const char *ptx;   // of all kernels; NUL-terminated
  size_t ptx_bytes;
  uint32_t num_inputs, num_outputs;
  const MirageType *inputs, *outputs; // element types and shapes, in the program's order; all dense, row-major
  const MirageLaunchPlan *plan;       // kernels in order, with their launches and pointers; workspace
  double predicted_us;                // by the cost model, or measured_us where that is not 0
  double measured_us;
  double
      log2_bound; // a wrong graph passes its proof with probability below 2^log2_bound; 0: the program's own lowering
  MirageCallable *callable;
} MirageCompiledProgram;

/// Compiles every program of a module: each mirage_kernel.graph, and what can be cut out of each func.func of linalg on
/// tensors. Whatever the passes say goes to on_message: errors, warnings, and what was found as remarks. Nothing is
/// printed, but for LLVM's word on an option's value of the wrong kind.
///
/// Text:    MLIR, `length` bytes; it need not end with NUL.
/// Errors:  BAD_GRAPH: the text does not parse or verify, or holds no program; BAD_ARGUMENT: an option or target that is not
///          known; UNSUPPORTED: a program cannot be compiled. There is at least one error message, with its place. NULL in
///          *out_compilation then.
/// Time:    that of the search: 0.01 s to some seconds; options bound it ("time-budget=2").
MirageStatus mirageCompile(const char *text, size_t length, const MirageCompileOptions *options,
                           MirageCompilation **out_compilation);
/// Waits for what was launched.
void mirageCompilationDestroy(MirageCompilation *compilation);

uint32_t mirageCompilationGetNumPrograms(const MirageCompilation *compilation);
/// NULL past the end.
const MirageCompiledProgram *mirageCompilationGetProgram(const MirageCompilation *compilation, uint32_t index);
/// The one called `name`, or NULL.
const MirageCompiledProgram *mirageCompilationFindProgram(const MirageCompilation *compilation, const char *name);
/// The compiled module as MLIR text, NUL-terminated: what mirage-run, mirage-check and mirageCompile read. Functions call the
/// programs that were cut out of them there.
const char *mirageCompilationGetModuleText(const MirageCompilation *compilation, size_t *out_length);

// ------------------------------------------------------------------------------------------------------------- calling

/// Enqueues a program on a stream of the CUDA context that is current for the calling thread, and returns at once. The code is
/// loaded at the first call in a context; after that, a call may be captured in a CUDA graph.
///
/// Pointers: device addresses, aligned to 16, of dense tensors, in the program's order.
/// Stream:   a CUstream or cudaStream_t. NULL is the legacy default stream, as everywhere in CUDA.
/// Errors:   NO_DEVICE: there is no driver or GPU; BAD_ARGUMENT: no context is current, or a pointer that is not aligned;
///           DRIVER. Errors of the kernels themselves show when the stream is waited for.
MirageStatus mirageProgramLaunch(const MirageCompiledProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                 void *stream, MirageMessageCallback on_message, void *user);

/// Runs the same kernels on the CPU, where every access and barrier is checked, and returns when they are done: for tests, and
/// machines without a GPU. Thousands of times slower than a GPU.
///
/// Pointers: host addresses of dense tensors.
/// Errors:   FAULT: a kernel broke a rule of the machine; the message names the operator.
MirageStatus mirageProgramEmulate(const MirageCompiledProgram *program, const void *const *inputs, void *const *outputs,
                                  MirageMessageCallback on_message, void *user);

#ifdef __cplusplus
}
#endif
#endif
