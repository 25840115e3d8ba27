// run_execute.c - computes the program's outputs: in float64 for reference, and as the chosen µGraph does it.
//
// GPU:  the PTX of the module, loaded by the driver (run_gpu.c).
// CPU:  the chosen µGraph evaluated in its real types, block by block: the kernel's roundings and order of loops.
// Where there is no GPU the emulator stands in (run_emulate.c), and for work that would take it long, the CPU.
// The program's own lowering (--baseline) goes the same ways; on a GPU it is compiled here, for the same chip.
//
// The program evaluated operator by operator in its own types says how much error its roundings alone make, which the
// default tolerance allows for. That takes as long as the reference, so where it is long only when it matters.
//
// Where the reference itself is NaN or infinite there is nothing to compare with: that fails, unless the user says that
// such elements are to be left out (--skip-non-finite); they are counted, and so are those that were compared.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "npy.h"
#include "run.h"

#include "mirage/emulator.h"
#include "mirage/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const MirageType *output_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, index));
}

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "run: out of memory");
}

// ------------------------------------------------------------------------------------------------------------- results

static void outputs_free(uint32_t count, double **outputs) {
  for (uint32_t i = 0; outputs && i < count; i++)
    free(outputs[i]);
  free(outputs);
}

static MirageStatus outputs_create(const RunModule *module, const MirageDiag *diag, double ***out_outputs) {
  uint32_t count = mirage_ugraph_num_outputs(module->program);
  double **outputs = calloc(count + 1, sizeof *outputs);
  if (!outputs)
    return no_memory(diag);
  for (uint32_t i = 0; i < count; i++) {
    outputs[i] = calloc((size_t)mirage_type_elements(output_type(module, i)), sizeof **outputs);
    if (!outputs[i]) {
      outputs_free(count, outputs);
      return no_memory(diag);
    }
  }
  *out_outputs = outputs;
  return MIRAGE_OK;
}

static MirageStatus result_create(const RunModule *module, const MirageDiag *diag, RunResult *result) {
  uint32_t count = mirage_ugraph_num_outputs(module->program);
  result->relative = calloc(count + 1, sizeof *result->relative);
  result->max_abs = calloc(count + 1, sizeof *result->max_abs);
  if (!result->relative || !result->max_abs)
    return no_memory(diag);
  return outputs_create(module, diag, &result->outputs);
}

static void result_free(uint32_t num_outputs, RunResult *result) {
  outputs_free(num_outputs, result->outputs);
  free(result->relative);
  free(result->max_abs);
}

// Elements of the reference that are not finite.
static size_t count_non_finite(const double *values, size_t count) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++)
    found += !isfinite(values[i]);
  return found;
}

// Errors of one output over the elements at which the reference is finite.
static MirageStatus compare_finite(const double *values, const double *reference, size_t count, const MirageDiag *diag,
                                   double *out_relative, double *out_max_abs) {
  double *kept = malloc((2 * count + 1) * sizeof *kept);
  size_t n = 0;
  if (!kept)
    return no_memory(diag);
  for (size_t i = 0; i < count; i++)
    if (isfinite(reference[i])) {
      kept[n] = values[i];
      kept[count + n++] = reference[i];
    }
  mirage_compare(kept, kept + count, n, out_relative, out_max_abs);
  free(kept);
  return MIRAGE_OK;
}

static MirageStatus compare(const RunModule *module, RunExecution *execution, const MirageDiag *diag,
                            RunResult *result) {
  for (uint32_t i = 0; i < execution->num_outputs; i++) {
    size_t count = (size_t)mirage_type_elements(output_type(module, i));
    execution->non_finite[i] = count_non_finite(execution->reference[i], count);
    execution->compared[i] = count - execution->non_finite[i];
    MIRAGE_TRY(compare_finite(result->outputs[i], execution->reference[i], count, diag, &result->relative[i],
                              &result->max_abs[i]));
  }
  result->done = true;
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------------------------------- CPU

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static MirageStatus run_on_cpu(RunModule *module, const MirageUGraph *graph, const RunInputs *inputs,
                               RunResult *result) {
  double start = now_ms();
  result->place = RUN_ON_CPU;
  MirageStatus status = mirage_eval(graph, mirage_domain_real(), (const void *const *)inputs->values,
                                    (void *const *)result->outputs, NULL, &module->bridge_diag.diag);
  result->wall_ms = now_ms() - start;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); i++) {
    const MirageType *type = output_type(module, i);
    mirage_round_array(type->dtype, (size_t)mirage_type_elements(type),
                       result->outputs[i]); // as stored in device memory
  }
  result->repeatable = true;
  return status;
}

// ----------------------------------------------------------------------------------------------------------- execution

// Keeps the last sentence instead of printing it.
static void keep_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  RunExecution *execution = user;
  snprintf(execution->reason, sizeof execution->reason, "%s", message);
}

// Opens the device that the options ask for; `*out_device` stays NULL where the CPU is to stand in.
static MirageStatus open_device(const RunOptions *options, const MirageDiag *diag, RunExecution *execution,
                                MirageDevice **out_device) {
  *out_device = NULL;
  if (options->place == RUN_ON_CPU || options->place == RUN_ON_EMULATOR) {
    snprintf(execution->reason, sizeof execution->reason, "--target=%s",
             options->place == RUN_ON_CPU ? "cpu" : "emulator");
    return MIRAGE_OK;
  }
  MirageDiag keep = {keep_reason, execution};
  MirageStatus status = mirage_device_create(options->device, &keep, out_device);
  if (status == MIRAGE_OK) {
    execution->has_device = true;
    execution->device = *mirage_device_info(*out_device);
    mirage_device_set_timeout(*out_device, options->timeout);
    return MIRAGE_OK;
  }
  if (status == MIRAGE_NO_DEVICE && options->place == RUN_ON_AUTO)
    return MIRAGE_OK;
  return mirage_diag_fail(diag, NULL, status, "%s", execution->reason);
}

// Adds the sentence to those kept.
static void add_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  RunExecution *execution = user;
  size_t n = strlen(execution->reason);
  snprintf(execution->reason + n, sizeof execution->reason - n, "; %s", message);
}

enum { QUICK_WORK = 100000000 }; // elements: some ten seconds for the emulator's two runs

// Without a GPU: the emulator, or the CPU where that is asked for or the emulator would take long.
static MirageStatus run_without_gpu(RunModule *module, const MirageUGraph *graph, const RunOptions *options,
                                    const RunInputs *inputs, RunExecution *execution, const MirageDiag *diag,
                                    RunResult *result) {
  if (options->place == RUN_ON_EMULATOR)
    return run_emulated(module, graph, inputs, 0, diag, result);
  if (options->place == RUN_ON_AUTO) {
    MirageDiag keep = {add_reason, execution};
    MirageStatus status = run_emulated(module, graph, inputs, QUICK_WORK, &keep, result);
    if (status != MIRAGE_LIMIT && status != MIRAGE_UNSUPPORTED)
      return status;
  }
  return run_on_cpu(module, graph, inputs, result);
}

static MirageStatus run_chosen(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                               MirageDevice *device, RunExecution *execution, const MirageDiag *diag) {
  RunResult *result = &execution->chosen;
  MIRAGE_TRY(result_create(module, diag, result));
  if (device)
    return run_on_gpu(module, module->chosen, module->ptx, options, inputs, device, diag, result);
  return run_without_gpu(module, module->chosen, options, inputs, execution, diag, result);
}

static MirageStatus run_baseline(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                                 MirageDevice *device, RunExecution *execution, const MirageDiag *diag) {
  RunResult *result = &execution->baseline;
  MIRAGE_TRY(result_create(module, diag, result));
  if (device)
    return run_own_on_gpu(module, options, inputs, device, diag, result);
  return run_without_gpu(module, module->program, options, inputs, execution, diag, result);
}

// The files of --reference, one an output.
static MirageStatus read_reference(const RunModule *module, const char **paths, const MirageDiag *diag,
                                   RunExecution *execution) {
  for (uint32_t i = 0; i < execution->num_outputs; i++) {
    if (!paths[i])
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                              "--reference: output %u has no file: all %u outputs need one, or none", i,
                              execution->num_outputs);
    MIRAGE_TRY(npy_read(paths[i], output_type(module, i), diag, &execution->reference[i]));
  }
  return MIRAGE_OK;
}

static MirageStatus run_reference(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                                  const MirageDiag *diag, RunExecution *execution) {
  execution->non_finite = calloc((size_t)execution->num_outputs + 1, sizeof *execution->non_finite);
  execution->compared = calloc((size_t)execution->num_outputs + 1, sizeof *execution->compared);
  const char **paths = calloc((size_t)execution->num_outputs + 1, sizeof *paths);
  MirageStatus status = execution->non_finite && execution->compared && paths ? MIRAGE_OK : no_memory(diag);
  if (status == MIRAGE_OK && options->references.num) {
    execution->reference = calloc((size_t)execution->num_outputs + 1, sizeof *execution->reference);
    status = execution->reference ? MIRAGE_OK : no_memory(diag);
    if (status == MIRAGE_OK)
      status = run_files_by_index(&options->references, execution->num_outputs, "--reference", "output", diag, paths);
    if (status == MIRAGE_OK)
      status = read_reference(module, paths, diag, execution);
  } else if (status == MIRAGE_OK) {
    status = outputs_create(module, diag, &execution->reference);
    if (status == MIRAGE_OK)
      status = run_eval(module->program, mirage_domain_f64(), options->memory, inputs->values, execution->reference,
                        &module->bridge_diag.diag, &execution->parts);
    if (status == MIRAGE_LIMIT)
      mirage_diag_emit(diag, MIRAGE_SEVERITY_NOTE, NULL,
                       "allow more by --memory=MIB, or compute the reference elsewhere, and give it by "
                       "--reference=INDEX=FILE.npy");
  }
  free(paths);
  return status;
}

// With --benchmark alone, a program that has no lowering of its own is a note, and no failure.
static MirageStatus run_baseline_if_wanted(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                                           MirageDevice *device, const MirageDiag *diag, RunExecution *execution) {
  if (!options->baseline && !options->benchmark)
    return MIRAGE_OK;
  MirageStatus status = run_baseline(module, options, inputs, device, execution, diag);
  if (status == MIRAGE_OK)
    return compare(module, execution, diag, &execution->baseline);
  bool lowered = status != MIRAGE_UNSUPPORTED && status != MIRAGE_LIMIT && status != MIRAGE_CODEGEN;
  if (options->baseline || lowered)
    return status;
  mirage_diag_emit(diag, MIRAGE_SEVERITY_NOTE, NULL, "the program's own lowering cannot be compared with");
  return MIRAGE_OK;
}

static bool within_default(const RunModule *module, const RunExecution *execution, const RunResult *result) {
  const RunOptions none = {0};
  for (uint32_t i = 0; result->done && i < execution->num_outputs; i++)
    if (!(result->relative[i] <= run_tolerance(&none, execution, output_type(module, i), i)))
      return false;
  return true;
}

// Against float64 alone: a given reference may be of anything. What cannot be evaluated in the memory allowed leaves
// the default tolerance as it is.
static MirageStatus measure_rounding(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                                     const MirageDiag *diag, RunExecution *execution) {
  bool quick = mirage_emulation_work(module->program) <= QUICK_WORK;
  if (options->tolerance > 0 || options->references.num ||
      (!quick && within_default(module, execution, &execution->chosen) &&
       within_default(module, execution, &execution->baseline)))
    return MIRAGE_OK;
  RunResult own = {0};
  uint32_t parts = 0;
  MirageStatus status = result_create(module, diag, &own);
  if (status == MIRAGE_OK)
    status =
        run_eval(module->program, mirage_domain_real(), options->memory, inputs->values, own.outputs, NULL, &parts);
  bool evaluated = status == MIRAGE_OK;
  if (status == MIRAGE_LIMIT || status == MIRAGE_UNSUPPORTED)
    status = MIRAGE_OK;
  if (evaluated)
    status = compare(module, execution, diag, &own);
  if (own.done) {
    execution->rounding = own.relative;
    own.relative = NULL;
  }
  result_free(execution->num_outputs, &own);
  return status;
}

MirageStatus run_execute(RunModule *module, const RunOptions *options, const RunInputs *inputs, const MirageDiag *diag,
                         RunExecution *execution) {
  *execution = (RunExecution){.num_outputs = mirage_ugraph_num_outputs(module->program)};
  MirageDevice *device = NULL;
  MIRAGE_TRY(open_device(options, diag, execution, &device));
  MirageStatus status = run_limits(module, options, execution, diag, &execution->limits);
  if (status == MIRAGE_OK)
    status = run_reference(module, options, inputs, diag, execution);
  if (status == MIRAGE_OK)
    status = run_chosen(module, options, inputs, device, execution, diag);
  if (status == MIRAGE_OK)
    status = compare(module, execution, diag, &execution->chosen);
  if (status == MIRAGE_OK)
    status = run_baseline_if_wanted(module, options, inputs, device, diag, execution);
  if (status == MIRAGE_OK)
    status = measure_rounding(module, options, inputs, diag, execution);
  mirage_device_destroy(device);
  return status;
}

void run_execution_deinit(RunExecution *execution) {
  outputs_free(execution->num_outputs, execution->reference);
  free(execution->non_finite);
  free(execution->compared);
  free(execution->rounding);
  result_free(execution->num_outputs, &execution->chosen);
  result_free(execution->num_outputs, &execution->baseline);
}
