// run.h - the parts of mirage-run, in the order in which they work:
//
//   mirage-run.c   options, and the order of everything
//   run_module.c   reads the module; finds the program, the selected µGraph and its PTX
//   run_tensors.c  inputs (random or .npy), conversion to and from device bytes
//   run_execute.c  the float64 reference, the run on the GPU or the CPU, the program's own lowering
//   run_emulate.c  the run on the emulator
//   run_report.c   the summary for people, and for machines
#ifndef MIRAGE_TOOLS_RUN_H
#define MIRAGE_TOOLS_RUN_H

#include "mirage/bridge.h"
#include "mirage/cost.h"
#include "mirage/runtime.h"
#include "mirage/target.h"
#include "mlir-c/IR.h"

// ------------------------------------------------------------------------------------------------------------- options

typedef enum { RUN_ON_AUTO, RUN_ON_GPU, RUN_ON_CPU, RUN_ON_EMULATOR } RunPlace;

typedef struct RunInputFile {
  uint32_t input;
  const char *path;
} RunInputFile;

typedef struct RunScale {
  uint32_t input;
  double factor;
} RunScale;

typedef struct RunOptions {
  const char *module_path, *program; // program: symbol, or NULL for the only one
  RunPlace place;
  int device;
  uint64_t seed;
  double tolerance; // 0 = by element type
  bool benchmark, baseline, json, print_graph, verbose;
  const char *save_output, *emit_ptx;
  uint32_t num_files, num_scales, num_texts;
  RunInputFile *files;
  RunScale *scales;
  char **texts; // argument texts, which the members above point into
} RunOptions;

// -------------------------------------------------------------------------------------------------------------- module

typedef struct RunModule {
  MlirContext context;
  MlirModule module;
  MirageUGraph *program; // the graph without a source
  MirageUGraph *chosen;  // the selected graph: a candidate, or the program's own lowering
  MlirOperation chosen_op;
  const char *ptx;              // of `chosen`
  char chip[32];                // that the PTX is for
  const MirageTarget *target;   // its row, or NULL for a chip without one
  MirageBridgeDiag bridge_diag; // its location is the program's
} RunModule;

/// Parses and verifies the file and finds the parts. Errors are printed with their location.
/// Errors:  IO, BAD_ARGUMENT (no such program, or several), BAD_GRAPH (nothing selected, no binary: the sentence names
/// the
///          pipeline to run), or what verification found.
MirageStatus run_module_load(const RunOptions *options, const MirageDiag *diag, RunModule *module);
void run_module_deinit(RunModule *module);
/// The chosen graph as MLIR, on standard output.
void run_module_print_chosen(const RunModule *module);

// ------------------------------------------------------------------------------------------------------------- tensors

/// Values of all inputs of the program, each rounded to its element type and kept as double.
typedef struct RunInputs {
  uint32_t count;
  double **values;
  double *scales;     // of the random ones
  const char **paths; // of those read from files, else NULL
} RunInputs;

MirageStatus run_inputs_create(const MirageUGraph *program, const RunOptions *options, const MirageDiag *diag,
                               RunInputs *inputs);
void run_inputs_deinit(RunInputs *inputs);

/// Bytes as the device holds them, and back. `bytes` is mirage_type_bytes(type) long.
void run_tensor_pack(const MirageType *type, const double *values, void *bytes);
void run_tensor_unpack(const MirageType *type, const void *bytes, double *values);

// ----------------------------------------------------------------------------------------------------------- execution

/// One way of computing the program's outputs.
typedef struct RunResult {
  bool done;
  RunPlace place;         // where it ran
  bool repeatable;        // GPU, emulator: a second run gave the same bits
  bool timed, timed_cold; // GPU; cold with --benchmark only
  MirageTiming timing;
  double wall_ms;             // CPU: of the one evaluation; emulator: of compiling and both runs
  double **outputs;           // by output
  double *relative, *max_abs; // errors against the reference, by output
} RunResult;

typedef struct RunExecution {
  uint32_t num_outputs;
  double **reference; // float64
  RunResult chosen, baseline;
  bool has_device;
  MirageDeviceInfo device;
  char reason[512]; // why there is no device, when the emulator or the CPU stands in
} RunExecution;

MirageStatus run_execute(RunModule *module, const RunOptions *options, const RunInputs *inputs, const MirageDiag *diag,
                         RunExecution *execution);
void run_execution_deinit(RunExecution *execution);

/// The generated kernels of `graph` (the chosen one, or the program) on the emulator.
/// max_work: as in MirageEmulationOptions.
/// Errors:   LIMIT beyond it; FAULT when a kernel breaks a rule.
MirageStatus run_emulated(const RunModule *module, const MirageUGraph *graph, const RunInputs *inputs, double max_work,
                          const MirageDiag *diag, RunResult *result);

// -------------------------------------------------------------------------------------------------------------- report

/// The largest error that output `type` may have: what the user said, or 1e-3, and 8e-3 for bf16, whose own rounding is
/// 8 times coarser than f16's.
double run_tolerance(const RunOptions *options, const MirageType *type);
/// Whether every output of `result` is within its tolerance, and the same on a second run.
bool run_passed(const RunModule *module, const RunOptions *options, const RunResult *result);

void run_report_text(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                     const RunExecution *execution);
MirageStatus run_report_json(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                             const RunExecution *execution, const MirageDiag *diag);

#endif
