// run.h - the parts of mirage-run, in the order in which they work:
//
//   mirage-run.c   options, and the order of everything
//   run_module.c   reads the module (read_module.c); finds the program, the selected µGraph and its PTX
//   run_compile.c  compiles a graph of the module here
//   run_tune.c     every candidate on the GPU, each in a process of its own
//   run_tensors.c  inputs (random or .npy), conversion to and from device bytes
//   run_scales.c   how large random inputs are
//   run_parts.c    evaluates a program in parts, where the whole takes too much memory
//   run_limits.c   how fast any kernel could be
//   run_execute.c  the float64 reference, the run on the GPU or in place of it, comparison
//   run_gpu.c      the run on the GPU, and the program's own lowering there
//   run_emulate.c  the run on the emulator
//   run_report.c   the summary for people
//   run_json.c     and for machines, as JSON and as CSV
#ifndef MIRAGE_TOOLS_RUN_H
#define MIRAGE_TOOLS_RUN_H

#include "mirage/bridge.h"
#include "mirage/codegen.h"
#include "mirage/cost.h"
#include "mirage/eval.h"
#include "mirage/runtime.h"
#include "mirage/target.h"
#include "mlir-c/IR.h"
#include "read_module.h"

#include <stdio.h>

// ------------------------------------------------------------------------------------------------------------- options

typedef enum { RUN_ON_AUTO, RUN_ON_GPU, RUN_ON_CPU, RUN_ON_EMULATOR } RunPlace;

/// INDEX=FILE.npy, as many as were given.
typedef struct RunFiles {
  struct RunFile {
    uint32_t index; // of an input or output
    const char *path;
  } *items;
  uint32_t num;
} RunFiles;

typedef struct RunScale {
  uint32_t input;
  double factor;
} RunScale;

typedef struct RunOptions {
  const char *module_path, *program; // program: symbol, or NULL for the only one
  RunPlace place;
  int device;
  uint64_t seed;
  uint64_t period;  // random inputs repeat after so many elements; 0: never
  double tolerance; // 0 = by element type
  double memory;    // bytes that evaluating the program may take; 0 = half of what is free, at most 8 GiB
  double timeout;   // seconds to wait for the GPU; 0 = for ever
  uint32_t repeats; // runs on the GPU whose outputs are compared
  bool benchmark, baseline, json, csv, print_graph, verbose, skip_non_finite;
  const char *save_output, *emit_ptx, *limits;
  const char *graph, *compile; // symbol to run in place of the selected one; GPU to compile it for, or NULL for the PTX
  bool tune;
  const char *write; // --tune
  int argc;
  const char **argv; // borrowed
  RunFiles inputs, references;
  uint32_t num_scales, num_texts;
  RunScale *scales;
  char **texts; // argument texts, which the members above point into
} RunOptions;

// -------------------------------------------------------------------------------------------------------------- module

typedef struct RunModule {
  ModuleReader reader; // of the context
  MlirContext context;
  MlirModule module;
  MirageUGraph *program; // the graph without a source
  MirageUGraph *chosen;  // the selected graph: a candidate, or the program's own lowering
  MlirOperation program_op, chosen_op;
  const char *ptx;              // of `chosen`
  char chip[32];                // that the PTX is for
  const MirageTarget *target;   // its row, or NULL for a chip without one
  uint32_t exhausted_ops;       // the search met every block graph of up to so many operators; 0 = nobody says so
  MirageBridgeDiag bridge_diag; // its location is the program's
} RunModule;

/// Parses and verifies the file and finds the parts. Errors are printed with their location.
/// Errors:  IO, BAD_ARGUMENT (no such program, or several), BAD_GRAPH (nothing selected, no binary: the sentence names
/// the
///          pipeline to run), or what verification found.
MirageStatus run_module_load(const RunOptions *options, const MirageDiag *diag, RunModule *module);
void run_module_deinit(RunModule *module);
/// The candidate of the program that follows `after`, or the first; null at the end.
MlirOperation run_next_candidate(const RunModule *module, MlirOperation after);
/// The module as MLIR.
void run_module_print(const RunModule *module, FILE *file);
/// The chosen graph as MLIR, on standard output.
void run_module_print_chosen(const RunModule *module);

/// Plans and compiles a copy of `graph`, under its name.
/// Owns:  both results are the caller's, also after a failure.
MirageStatus run_compile(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                         MirageUGraph **out_graph, MirageCode *out_code);
/// The same with the chosen graph, in its place.
MirageStatus run_compile_chosen(RunModule *module, const char *target_name, const MirageDiag *diag);
/// Measures the candidates, prints a table, writes their costs. `*out_passed`: one of them ran right.
MirageStatus run_tune(RunModule *module, const RunOptions *options, const MirageDiag *diag, bool *out_passed);

// ------------------------------------------------------------------------------------------------------------- tensors

/// Values of all inputs of the program, each rounded to its element type and kept as double.
typedef struct RunInputs {
  uint32_t count;
  double **values;
  size_t *held;       // how many values there are of each; with RunOptions.period the rest repeats them
  double *scales;     // of the random ones
  const char **paths; // of those read from files, else NULL
} RunInputs;

/// Where the largest count of positions in the program ends: what a length is unless a file says otherwise, so that times are those
/// of all keys.
double run_counted(const MirageUGraph *program);
MirageStatus run_inputs_create(const RunModule *module, const RunOptions *options, const MirageDiag *diag,
                               RunInputs *inputs);
void run_inputs_deinit(RunInputs *inputs);
/// The first elements of a tensor as bytes, which the other elements repeat.
typedef struct RunRepeated {
  char *bytes;
  size_t held; // elements; whole bytes
} RunRepeated;

/// An input as bytes. `type`: its own. The caller frees the bytes.
/// Errors:  NO_MEMORY
MirageStatus run_inputs_pack(const RunInputs *inputs, uint32_t index, const MirageType *type, RunRepeated *out_packed);
/// A scale for each input, such that products are of size 1 all through the program.
MirageStatus run_default_scales(const MirageUGraph *program, const MirageDiag *diag, double *scales);
/// The file of each of `count` inputs or outputs into out_paths, which holds NULLs. `option` and `what` name them.
/// Errors:  BAD_ARGUMENT (no such number, or two files for one)
MirageStatus run_files_by_index(const RunFiles *files, uint32_t count, const char *option, const char *what,
                                const MirageDiag *diag, const char **out_paths);

// ----------------------------------------------------------------------------------------------------------- execution

/// How fast any kernel could be, with --benchmark on a GPU; zero where it is not known.
typedef struct RunLimits {
  double bytes, flops;        // of inputs and outputs, once each; of matrix products
  double stream_us, flops_us; // of reading so many bytes; of so many flops
  double us;                  // the larger
  const char *source;         // of stream_us, or NULL
} RunLimits;

/// One way of computing the program's outputs.
typedef struct RunResult {
  bool done;
  RunPlace place;                           // where it ran
  bool repeatable;                          // GPU, emulator: every other run gave the same bits
  uint32_t runs;                            // GPU
  uint32_t different_run, different_output; // GPU, not repeatable: where the first difference was seen; runs from 1
  size_t different_element;
  bool timed, timed_cold; // GPU; cold with --benchmark only
  MirageTiming timing;
  MirageLaunchOverhead overhead; // with --benchmark, where calls > 0
  double wall_ms;                // CPU: of the one evaluation; emulator: of compiling and both runs
  double **outputs;              // by output
  double *relative, *max_abs;    // errors against the reference, by output
} RunResult;

typedef struct RunExecution {
  uint32_t num_outputs;
  double **reference; // float64, or what --reference gives
  uint32_t parts;     // in which the float64 reference was evaluated; 0 for a given one
  size_t *non_finite; // elements of each output at which the reference is NaN or infinite: never compared
  size_t *compared;   // the others
  double *rounding;   // by output: relative error of the program evaluated operator by operator in its own element
                      // types, against float64; NULL where that was not needed
  RunLimits limits;
  RunResult chosen, baseline;
  bool has_device;
  MirageDeviceInfo device;
  char reason[512]; // why there is no device, when the emulator or the CPU stands in
} RunExecution;

/// Evaluates a program in so many parts that each takes no more than `max_bytes` (0 = half of what is free, at most
/// 8 GiB), along axes of its outputs that nothing contracts or reduces. The values do not depend on the parts.
/// Errors:  LIMIT where no such axis is left; what evaluation says.
MirageStatus run_eval(const MirageUGraph *program, const MirageDomain *domain, double max_bytes, double *const *inputs,
                      double *const *outputs, const MirageDiag *diag, uint32_t *out_parts);
/// A program like `program` with so many leading rows, heads or columns of its inputs and outputs as take `max_work` operations:
/// what it computes of the same leading parts of its inputs is what `program` computes there. The caller destroys it, also after an
/// error.
/// Errors:  LIMIT where there are not so few.
MirageStatus run_sample(const MirageUGraph *program, double max_work, const MirageDiag *diag,
                        MirageUGraph **out_sample);
MirageStatus run_execute(RunModule *module, const RunOptions *options, const RunInputs *inputs, const MirageDiag *diag,
                         RunExecution *execution);
void run_execution_deinit(RunExecution *execution);

/// `graph` as `ptx` on the device. Outputs, repeats, and times go to `result`.
MirageStatus run_on_gpu(RunModule *module, const MirageUGraph *graph, const char *ptx, const RunOptions *options,
                        const RunInputs *inputs, MirageDevice *device, const MirageDiag *diag, RunResult *result);
/// The same with the program's own lowering, which is compiled first.
MirageStatus run_own_on_gpu(RunModule *module, const RunOptions *options, const RunInputs *inputs, MirageDevice *device,
                            const MirageDiag *diag, RunResult *result);
MirageStatus run_limits(const RunModule *module, const RunOptions *options, const RunExecution *execution,
                        const MirageDiag *diag, RunLimits *limits);

/// The generated kernels of `graph` (the chosen one, or the program) on the emulator.
/// max_work: as in MirageEmulationOptions.
/// Errors:   LIMIT beyond it; FAULT when a kernel breaks a rule.
MirageStatus run_emulated(const RunModule *module, const MirageUGraph *graph, const RunInputs *inputs, double max_work,
                          const MirageDiag *diag, RunResult *result);

// -------------------------------------------------------------------------------------------------------------- report

/// The largest error that an output of this type may have: what the user said; else 1e-3, or 8e-3 for bf16, whose own
/// rounding is 8 times coarser than f16's - or 1.5 times what the program itself makes by its roundings, where that is
/// known, finite and more.
double run_tolerance(const RunOptions *options, const RunExecution *execution, const MirageType *type, uint32_t output);
/// Whether every output of `result` was compared, is within its tolerance, and the same on a second run.
bool run_passed(const RunModule *module, const RunOptions *options, const RunExecution *execution,
                const RunResult *result);

void run_report_text(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                     const RunExecution *execution);
MirageStatus run_report_json(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                             const RunExecution *execution, const MirageDiag *diag);
/// A line of names and one of figures.
void run_report_csv(const RunModule *module, const RunOptions *options, const RunExecution *execution);

/// What both reports say of the module.
const char *run_graph_name(const MirageUGraph *graph);
uint32_t run_count_kernels(const MirageUGraph *graph);
/// Whether an output was compared at all: some element of it, and none left out without leave.
bool run_compared(const RunOptions *options, const RunExecution *execution, uint32_t output);
/// The program's predicted cost by its own lowering, one kernel an operator, as mirage-select has it. Nothing where
/// there is no target, or no such lowering.
MirageCost run_own_cost(const RunModule *module);

#endif
