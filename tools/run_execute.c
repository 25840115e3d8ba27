// run_execute.c - computes the program's outputs: in float64 for reference, and as the chosen µGraph does it.
//
// GPU:  the PTX of the module, loaded by the driver. Outputs are filled with NaN before each of two runs, so that an
//       element nobody writes shows as an error, and so does a second run that differs from the first (a workspace that
//       was not left zero, a race).
// CPU:  the chosen µGraph evaluated in its real types, block by block: the kernel's roundings and order of loops.
// Where there is no GPU the emulator stands in (run_emulate.c), and for work that would take it long, the CPU.
// The program's own lowering (--baseline) goes the same ways; on a GPU it is compiled here, for the same chip.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "run.h"

#include "mirage/codegen.h"
#include "mirage/eval.h"
#include "mirage/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const MirageType *input_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_input(module->program, index));
}

static const MirageType *output_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, index));
}

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "run: out of memory");
}

// ------------------------------------------------------------------------------------------------------------- results

static void outputs_free(uint32_t count, double **outputs) {
  for (uint32_t i = 0; outputs && i < count; ++i)
    free(outputs[i]);
  free(outputs);
}

static MirageStatus outputs_create(const RunModule *module, const MirageDiag *diag, double ***out_outputs) {
  uint32_t count = mirage_ugraph_num_outputs(module->program);
  double **outputs = calloc(count + 1, sizeof *outputs);
  if (!outputs)
    return no_memory(diag);
  for (uint32_t i = 0; i < count; ++i) {
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

static void compare(const RunModule *module, const RunExecution *execution, RunResult *result) {
  for (uint32_t i = 0; i < execution->num_outputs; ++i) {
    size_t count = (size_t)mirage_type_elements(output_type(module, i));
    mirage_compare(result->outputs[i], execution->reference[i], count, &result->relative[i], &result->max_abs[i]);
  }
  result->done = true;
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
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); ++i) {
    const MirageType *type = output_type(module, i);
    for (int64_t j = 0; j < mirage_type_elements(type); ++j)
      result->outputs[i][j] = mirage_round_to(type->dtype, result->outputs[i][j]); // as stored in device memory
  }
  result->repeatable = true;
  return status;
}

// ----------------------------------------------------------------------------------------------------------------- GPU

// Device copies of one run's tensors: `num_sets` copies of the inputs, and one of the outputs.
typedef struct Tensors {
  MirageDevice *device;
  uint32_t num_inputs, num_outputs, num_sets;
  uint64_t *inputs; // [set * num_inputs + i]
  uint64_t *outputs;
} Tensors;

static void tensors_free(Tensors *tensors) {
  for (uint32_t i = 0; tensors->inputs && i < tensors->num_inputs * tensors->num_sets; ++i)
    mirage_device_free(tensors->device, tensors->inputs[i]);
  for (uint32_t i = 0; tensors->outputs && i < tensors->num_outputs; ++i)
    mirage_device_free(tensors->device, tensors->outputs[i]);
  free(tensors->inputs);
  free(tensors->outputs);
}

static int64_t input_bytes(const RunModule *module) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(module->program); ++i)
    bytes += mirage_type_bytes(input_type(module, i));
  return bytes;
}

// Sets of inputs that together are several times the L2 cache, so that rotating over them reads device memory.
static uint32_t count_sets(const RunModule *module, const MirageDeviceInfo *info) {
  int64_t bytes = input_bytes(module), wanted = 4 * (int64_t)info->l2_bytes;
  int64_t sets = (wanted + bytes - 1) / bytes + 1;
  int64_t most = (int64_t)(info->total_bytes / 2) / bytes;
  sets = sets < most ? sets : most;
  return sets < 1 ? 1 : sets > 4096 ? 4096 : (uint32_t)sets;
}

static MirageStatus upload_input(const RunModule *module, const RunInputs *inputs, Tensors *tensors, uint32_t index,
                                 const MirageDiag *diag) {
  const MirageType *type = input_type(module, index);
  size_t bytes = (size_t)mirage_type_bytes(type);
  void *packed = malloc(bytes);
  if (!packed)
    return no_memory(diag);
  run_tensor_pack(type, inputs->values[index], packed);
  MirageStatus status = MIRAGE_OK;
  for (uint32_t set = 0; set < tensors->num_sets && status == MIRAGE_OK; ++set) {
    uint64_t *pointer = &tensors->inputs[set * tensors->num_inputs + index];
    status = mirage_device_alloc(tensors->device, bytes, diag, pointer);
    if (status == MIRAGE_OK)
      status = mirage_device_upload(tensors->device, *pointer, packed, bytes, diag);
  }
  free(packed);
  return status;
}

static MirageStatus tensors_create(const RunModule *module, const RunInputs *inputs, MirageDevice *device,
                                   uint32_t num_sets, const MirageDiag *diag, Tensors *tensors) {
  *tensors = (Tensors){device, inputs->count, mirage_ugraph_num_outputs(module->program), num_sets, NULL, NULL};
  tensors->inputs = calloc((size_t)tensors->num_inputs * num_sets + 1, sizeof *tensors->inputs);
  tensors->outputs = calloc(tensors->num_outputs + 1, sizeof *tensors->outputs);
  if (!tensors->inputs || !tensors->outputs)
    return no_memory(diag);
  for (uint32_t i = 0; i < tensors->num_inputs; ++i)
    MIRAGE_TRY(upload_input(module, inputs, tensors, i, diag));
  for (uint32_t i = 0; i < tensors->num_outputs; ++i)
    MIRAGE_TRY(
        mirage_device_alloc(device, (size_t)mirage_type_bytes(output_type(module, i)), diag, &tensors->outputs[i]));
  return MIRAGE_OK;
}

// One run into outputs full of NaN. `packed[i]` receives output i's bytes.
static MirageStatus launch_once(const RunModule *module, MirageProgram *program, const Tensors *tensors,
                                void *const *packed, const MirageDiag *diag) {
  for (uint32_t i = 0; i < tensors->num_outputs; ++i)
    MIRAGE_TRY(mirage_device_fill(tensors->device, tensors->outputs[i], 0xFF,
                                  (size_t)mirage_type_bytes(output_type(module, i)), diag));
  MIRAGE_TRY(mirage_program_launch(program, tensors->inputs, tensors->outputs, NULL, diag));
  MIRAGE_TRY(mirage_device_synchronize(tensors->device, diag));
  for (uint32_t i = 0; i < tensors->num_outputs; ++i)
    MIRAGE_TRY(mirage_device_download(tensors->device, packed[i], tensors->outputs[i],
                                      (size_t)mirage_type_bytes(output_type(module, i)), diag));
  return MIRAGE_OK;
}

static MirageStatus launch_twice(const RunModule *module, MirageProgram *program, const Tensors *tensors,
                                 void *const *first, void *const *second, const MirageDiag *diag, RunResult *result) {
  MIRAGE_TRY(launch_once(module, program, tensors, first, diag));
  MIRAGE_TRY(launch_once(module, program, tensors, second, diag));
  result->repeatable = true;
  for (uint32_t i = 0; i < tensors->num_outputs; ++i) {
    const MirageType *type = output_type(module, i);
    run_tensor_unpack(type, first[i], result->outputs[i]);
    result->repeatable = result->repeatable && memcmp(first[i], second[i], (size_t)mirage_type_bytes(type)) == 0;
  }
  return MIRAGE_OK;
}

static MirageStatus launch_and_compare(const RunModule *module, MirageProgram *program, const Tensors *tensors,
                                       const MirageDiag *diag, RunResult *result) {
  void **packed = calloc((size_t)2 * tensors->num_outputs + 1, sizeof *packed); // first run, second run
  MirageStatus status = packed ? MIRAGE_OK : no_memory(diag);
  for (uint32_t i = 0; i < 2 * tensors->num_outputs && status == MIRAGE_OK; ++i) {
    packed[i] = malloc((size_t)mirage_type_bytes(output_type(module, i % tensors->num_outputs)));
    status = packed[i] ? MIRAGE_OK : no_memory(diag);
  }
  if (status == MIRAGE_OK)
    status = launch_twice(module, program, tensors, packed, packed + tensors->num_outputs, diag, result);
  for (uint32_t i = 0; packed && i < 2 * tensors->num_outputs; ++i)
    free(packed[i]);
  free(packed);
  return status;
}

static MirageStatus run_program(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                                MirageDevice *device, MirageProgram *program, const MirageDiag *diag,
                                RunResult *result) {
  Tensors tensors;
  uint32_t num_sets = options->benchmark ? count_sets(module, mirage_device_info(device)) : 1;
  MirageStatus status = tensors_create(module, inputs, device, num_sets, diag, &tensors);
  if (status == MIRAGE_OK)
    status = launch_and_compare(module, program, &tensors, diag, result);
  if (status == MIRAGE_OK)
    status = mirage_program_time(program, num_sets, tensors.inputs, tensors.outputs, diag, &result->timing);
  result->timed = status == MIRAGE_OK;
  result->timed_cold = result->timed && options->benchmark;
  tensors_free(&tensors);
  return status;
}

static MirageStatus run_on_gpu(RunModule *module, const MirageUGraph *graph, const char *ptx, const RunOptions *options,
                               const RunInputs *inputs, MirageDevice *device, const MirageDiag *diag,
                               RunResult *result) {
  MirageModule *loaded = NULL;
  MirageProgram *program = NULL;
  result->place = RUN_ON_GPU;
  MIRAGE_TRY(mirage_module_load(device, ptx, diag, &loaded));
  MirageStatus status = mirage_program_create(loaded, graph, diag, &program);
  if (status == MIRAGE_OK)
    status = run_program(module, options, inputs, device, program, diag, result);
  mirage_program_destroy(program);
  mirage_module_unload(loaded);
  return status;
}

// ------------------------------------------------------------------------------------------ the program's own lowering

static MirageStatus compile_own(RunModule *module, const MirageDiag *diag, MirageUGraph **out_graph, MirageCode *code) {
  const MirageDiag *located = &module->bridge_diag.diag;
  if (!module->target)
    return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED, "--baseline: no target is known for chip %s", module->chip);
  MirageCodegenOptions options = {.opt_level = 3};
  MIRAGE_TRY(mirage_codegen_canonicalize(module->program, module->target, located, out_graph));
  MIRAGE_TRY(mirage_layout_plan(*out_graph, module->target, located));
  return mirage_codegen(*out_graph, module->target, &options, located, code);
}

static MirageStatus run_own_on_gpu(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                                   MirageDevice *device, const MirageDiag *diag, RunResult *result) {
  MirageUGraph *graph = NULL;
  MirageCode code = {0};
  MirageStatus status = compile_own(module, diag, &graph, &code);
  if (status == MIRAGE_OK)
    status = run_on_gpu(module, graph, code.ptx, options, inputs, device, diag, result);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
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

MirageStatus run_execute(RunModule *module, const RunOptions *options, const RunInputs *inputs, const MirageDiag *diag,
                         RunExecution *execution) {
  *execution = (RunExecution){.num_outputs = mirage_ugraph_num_outputs(module->program)};
  MirageDevice *device = NULL;
  MIRAGE_TRY(open_device(options, diag, execution, &device));
  MirageStatus status = outputs_create(module, diag, &execution->reference);
  if (status == MIRAGE_OK)
    status = mirage_eval(module->program, mirage_domain_f64(), (const void *const *)inputs->values,
                         (void *const *)execution->reference, NULL, &module->bridge_diag.diag);
  if (status == MIRAGE_OK)
    status = run_chosen(module, options, inputs, device, execution, diag);
  if (status == MIRAGE_OK)
    compare(module, execution, &execution->chosen);
  if (status == MIRAGE_OK && options->baseline) {
    status = run_baseline(module, options, inputs, device, execution, diag);
    if (status == MIRAGE_OK)
      compare(module, execution, &execution->baseline);
  }
  mirage_device_destroy(device);
  return status;
}

void run_execution_deinit(RunExecution *execution) {
  outputs_free(execution->num_outputs, execution->reference);
  result_free(execution->num_outputs, &execution->chosen);
  result_free(execution->num_outputs, &execution->baseline);
}
