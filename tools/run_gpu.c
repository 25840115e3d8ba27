// run_gpu.c - runs a µGraph's PTX on the GPU, as often as is asked for, and times it.
//
// Outputs are filled with NaN before each run, so that an element nobody writes shows as an error, and so does a run
// that differs from the first (a workspace that was not left zero, a race). Every run is watched: a kernel that fails
// or hangs is named, and nothing waits longer than --timeout.
#include "run.h"

#include "mirage/eval.h"

#include <stdlib.h>
#include <string.h>

static const MirageType *input_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_input(module->program, index));
}

static const MirageType *output_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, index));
}

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "run: out of memory");
}

// ------------------------------------------------------------------------------------------------------------- tensors

// Device copies of one run's tensors: `num_sets` copies of the inputs, and one of the outputs.
typedef struct Tensors {
  MirageDevice *device;
  uint32_t num_inputs, num_outputs, num_sets;
  uint64_t *inputs; // [set * num_inputs + i]
  uint64_t *outputs;
} Tensors;

static void tensors_free(Tensors *tensors) {
  for (uint32_t i = 0; tensors->inputs && i < tensors->num_inputs * tensors->num_sets; i++)
    mirage_device_free(tensors->device, tensors->inputs[i]);
  for (uint32_t i = 0; tensors->outputs && i < tensors->num_outputs; i++)
    mirage_device_free(tensors->device, tensors->outputs[i]);
  free(tensors->inputs);
  free(tensors->outputs);
}

static int64_t input_bytes(const RunModule *module) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(module->program); i++)
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
  mirage_tensor_pack(type, inputs->values[index], packed);
  MirageStatus status = MIRAGE_OK;
  for (uint32_t set = 0; set < tensors->num_sets && status == MIRAGE_OK; set++) {
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
  for (uint32_t i = 0; i < tensors->num_inputs; i++)
    MIRAGE_TRY(upload_input(module, inputs, tensors, i, diag));
  for (uint32_t i = 0; i < tensors->num_outputs; i++)
    MIRAGE_TRY(
        mirage_device_alloc(device, (size_t)mirage_type_bytes(output_type(module, i)), diag, &tensors->outputs[i]));
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- running

// One run into outputs full of NaN. `packed[i]` receives output i's bytes.
static MirageStatus run_once(const RunModule *module, MirageProgram *program, const Tensors *tensors,
                             void *const *packed, const MirageDiag *diag) {
  for (uint32_t i = 0; i < tensors->num_outputs; i++)
    MIRAGE_TRY(mirage_device_fill(tensors->device, tensors->outputs[i], 0xFF,
                                  (size_t)mirage_type_bytes(output_type(module, i)), diag));
  MIRAGE_TRY(mirage_program_run(program, tensors->inputs, tensors->outputs, diag));
  for (uint32_t i = 0; i < tensors->num_outputs; i++)
    MIRAGE_TRY(mirage_device_download(tensors->device, packed[i], tensors->outputs[i],
                                      (size_t)mirage_type_bytes(output_type(module, i)), diag));
  return MIRAGE_OK;
}

// Remembers the first element at which run number `run` differs from the first.
static void check_repeat(const RunModule *module, uint32_t num_outputs, uint32_t run, void *const *first,
                         void *const *other, RunResult *result) {
  for (uint32_t i = 0; i < num_outputs && result->repeatable; i++) {
    const MirageType *type = output_type(module, i);
    size_t bytes = (size_t)mirage_type_bytes(type), element = bytes / (size_t)mirage_type_elements(type), at = 0;
    if (memcmp(first[i], other[i], bytes) == 0)
      continue;
    while (((const char *)first[i])[at] == ((const char *)other[i])[at])
      at++;
    result->repeatable = false;
    result->different_run = run;
    result->different_output = i;
    result->different_element = at / element;
  }
}

static MirageStatus run_repeatedly(const RunModule *module, const RunOptions *options, MirageProgram *program,
                                   const Tensors *tensors, void *const *first, void *const *other,
                                   const MirageDiag *diag, RunResult *result) {
  MIRAGE_TRY(run_once(module, program, tensors, first, diag));
  result->repeatable = true;
  result->runs = 1;
  while (result->runs < options->repeats && result->repeatable) {
    MIRAGE_TRY(run_once(module, program, tensors, other, diag));
    check_repeat(module, tensors->num_outputs, ++result->runs, first, other, result);
  }
  for (uint32_t i = 0; i < tensors->num_outputs; i++)
    mirage_tensor_unpack(output_type(module, i), first[i], result->outputs[i]);
  return MIRAGE_OK;
}

static MirageStatus run_and_compare(const RunModule *module, const RunOptions *options, MirageProgram *program,
                                    const Tensors *tensors, const MirageDiag *diag, RunResult *result) {
  void **packed = calloc((size_t)2 * tensors->num_outputs + 1, sizeof *packed); // first run, another run
  MirageStatus status = packed ? MIRAGE_OK : no_memory(diag);
  for (uint32_t i = 0; i < 2 * tensors->num_outputs && status == MIRAGE_OK; i++) {
    packed[i] = malloc((size_t)mirage_type_bytes(output_type(module, i % tensors->num_outputs)));
    status = packed[i] ? MIRAGE_OK : no_memory(diag);
  }
  if (status == MIRAGE_OK)
    status = run_repeatedly(module, options, program, tensors, packed, packed + tensors->num_outputs, diag, result);
  for (uint32_t i = 0; packed && i < 2 * tensors->num_outputs; i++)
    free(packed[i]);
  free(packed);
  return status;
}

// -------------------------------------------------------------------------------------------------------------- timing

// What a launch costs the CPU does not depend on how long the kernels run, but measuring it does.
static const double OVERHEAD_UP_TO_US = 200;

static MirageStatus time_program(const RunOptions *options, MirageProgram *program, const Tensors *tensors,
                                 const MirageDiag *diag, RunResult *result) {
  MIRAGE_TRY(mirage_program_time(program, tensors->num_sets, tensors->inputs, tensors->outputs, diag, &result->timing));
  result->timed = true;
  result->timed_cold = options->benchmark;
  if (!options->benchmark || result->timing.warm_us > OVERHEAD_UP_TO_US)
    return MIRAGE_OK;
  return mirage_program_launch_overhead(program, tensors->inputs, tensors->outputs, diag, &result->overhead);
}

static MirageStatus run_program(RunModule *module, const RunOptions *options, const RunInputs *inputs,
                                MirageDevice *device, MirageProgram *program, const MirageDiag *diag,
                                RunResult *result) {
  Tensors tensors;
  uint32_t num_sets = options->benchmark ? count_sets(module, mirage_device_info(device)) : 1;
  MirageStatus status = tensors_create(module, inputs, device, num_sets, diag, &tensors);
  if (status == MIRAGE_OK)
    status = run_and_compare(module, options, program, &tensors, diag, result);
  if (status == MIRAGE_OK)
    status = time_program(options, program, &tensors, diag, result);
  tensors_free(&tensors);
  return status;
}

MirageStatus run_on_gpu(RunModule *module, const MirageUGraph *graph, const char *ptx, const RunOptions *options,
                        const RunInputs *inputs, MirageDevice *device, const MirageDiag *diag, RunResult *result) {
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

MirageStatus run_own_on_gpu(RunModule *module, const RunOptions *options, const RunInputs *inputs, MirageDevice *device,
                            const MirageDiag *diag, RunResult *result) {
  MirageUGraph *graph = NULL;
  MirageCode code = {0};
  if (!module->target)
    return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED, "--baseline: no target is known for chip %s", module->chip);
  MirageStatus status = run_compile(module->program, module->target, &module->bridge_diag.diag, &graph, &code);
  if (status == MIRAGE_OK)
    status = run_on_gpu(module, graph, code.ptx, options, inputs, device, diag, result);
  mirage_code_deinit(&code);
  mirage_ugraph_destroy(graph);
  return status;
}
