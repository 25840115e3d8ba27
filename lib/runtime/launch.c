// launch.c - one call of a program: the caller's addresses go into a lane (lane.c), and the kernels onto its stream.
//
// Errors:  checked before anything is enqueued, but for what the driver alone knows.
// Cost:    with the context current already, no call of the driver's but the launches themselves, and one that asks for
//          the current context. mirage_program_launch_overhead measures it.
#include "runtime_impl.h"

enum { POINTER_ALIGNMENT = 16 };

static MirageStatus misaligned(const char *what, uint32_t index, uint64_t address, const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                          "program: %s %u at address 0x%llx: tensors start on %d bytes", what, index,
                          (unsigned long long)address, POINTER_ALIGNMENT);
}

static bool is_usable(uint64_t address) { return address != 0 && address % POINTER_ALIGNMENT == 0; }

static MirageStatus check_alignment(const MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                    const MirageDiag *diag) {
  for (uint32_t i = 0; i < program->num_inputs; i++)
    if (!is_usable(inputs[i]))
      return misaligned("input", i, inputs[i], diag);
  for (uint32_t i = 0; i < program->num_outputs; i++)
    if (!is_usable(outputs[i]))
      return misaligned("output", i, outputs[i], diag);
  return MIRAGE_OK;
}

// Points the parameter to the encoding for the address that its tensor has now.
static CuResult fill_map(const MirageProgram *program, MirageLane *lane, uint32_t index) {
  const MirageProgramMap *map = &program->maps[index];
  MirageMapCache *cache = &lane->caches[index];
  uint64_t address = lane->addresses[map->source];
  uint32_t entry = (uint32_t)((address >> 4) * 0x9e3779b97f4a7c15 >> 61); // a multiplicative hash, 3 bits
  lane->parameters[map->parameter] = &cache->maps[entry];
  if (cache->addresses[entry] == address)
    return CU_SUCCESS;
  CuResult result = mirage__tensor_map_encode(program->device, &map->map, address, &cache->maps[entry]);
  cache->addresses[entry] = result == CU_SUCCESS ? address : 0;
  return result;
}

static MirageStatus fill(const MirageProgram *program, MirageLane *lane, const uint64_t *inputs,
                         const uint64_t *outputs, const MirageDiag *diag) {
  for (uint32_t i = 0; i < program->num_sources; i++) {
    const MirageSource *source = &program->sources[i];
    if (source->kind == MIRAGE_FROM_INPUT)
      lane->addresses[i] = inputs[source->index];
    else if (source->kind == MIRAGE_FROM_OUTPUT)
      lane->addresses[i] = outputs[source->index];
  }
  for (uint32_t i = 0; i < program->num_maps; i++) {
    CuResult result = fill_map(program, lane, i);
    if (result != CU_SUCCESS)
      return mirage__cuda_check(diag, result, "launch: cannot make a tensor map for address 0x%llx",
                                (unsigned long long)lane->addresses[program->maps[i].source]);
  }
  return MIRAGE_OK;
}

CuResult mirage__lane_enqueue(const MirageProgram *program, MirageLane *lane, uint32_t index) {
  const MirageProgramKernel *kernel = &program->kernels[index];
  return program->device->cuda.launch(&lane->configs[index], kernel->ready.function,
                                      lane->parameters + kernel->first_source + kernel->first_map, NULL);
}

static MirageStatus copy_outputs(const MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                 CuStream stream, const MirageDiag *diag) {
  for (uint32_t i = 0; i < program->num_copies; i++) {
    const MirageOutputCopy *copy = &program->copies[i];
    uint64_t from = copy->from.kind == MIRAGE_FROM_INPUT ? inputs[copy->from.index] : outputs[copy->from.index];
    MIRAGE_TRY(
        mirage__cuda_check(diag, program->device->cuda.copy_on_device(outputs[copy->output], from, copy->bytes, stream),
                           "program: cannot copy to output %u", copy->output));
  }
  return MIRAGE_OK;
}

// All kernels of one call. With `watched`, each is waited for. The device is current and the lane locked.
static MirageStatus enqueue(MirageProgram *program, MirageLane *lane, const uint64_t *inputs, const uint64_t *outputs,
                            CuStream stream, bool watched, const MirageDiag *diag) {
  MIRAGE_TRY(check_alignment(program, inputs, outputs, diag));
  MIRAGE_TRY(fill(program, lane, inputs, outputs, diag));
  for (uint32_t k = 0; k < program->num_kernels; k++) {
    CuResult result = mirage__lane_enqueue(program, lane, k);
    if (result != CU_SUCCESS)
      return mirage__cuda_check(diag, result, "launch: %s failed to start", program->kernels[k].name);
    if (watched)
      MIRAGE_TRY(mirage__device_wait(program->device, stream, "kernel ", program->kernels[k].name, diag));
  }
  return copy_outputs(program, inputs, outputs, stream, diag);
}

static MirageStatus launch(MirageProgram *program, MirageLane *lane, const uint64_t *inputs, const uint64_t *outputs,
                           const uint64_t *workspace, CuStream stream, bool watched, const MirageDiag *diag) {
  MirageDevice *device = program->device;
  bool entered = atomic_load_explicit(&device->hanging, memory_order_relaxed) || !mirage_device_is_current(device);
  if (entered)
    MIRAGE_TRY(mirage__device_enter(device, diag));
  pthread_mutex_lock(&lane->lock);
  if (workspace && *workspace != lane->workspace)
    mirage__lane_set_workspace(program, lane, *workspace);
  MirageStatus status = enqueue(program, lane, inputs, outputs, stream, watched, diag);
  pthread_mutex_unlock(&lane->lock);
  if (entered)
    mirage__device_leave(device);
  return status;
}

static CuStream own_unless(const MirageProgram *program, void *stream) {
  return stream ? (CuStream)stream : program->device->stream;
}

MirageStatus mirage_program_prepare(MirageProgram *program, void *stream, const MirageDiag *diag) {
  MirageLane *lane;
  return mirage__lane_get(program, own_unless(program, stream), false, diag, &lane);
}

MirageStatus mirage_program_launch(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                   void *stream, const MirageDiag *diag) {
  MirageLane *lane;
  CuStream to = own_unless(program, stream);
  MIRAGE_TRY(mirage__lane_get(program, to, false, diag, &lane));
  return launch(program, lane, inputs, outputs, NULL, to, false, diag);
}

bool mirage_program_is_captured(const MirageProgram *program, void *stream) {
  const MirageCuda *cuda = &program->device->cuda;
  int status = 0; // none
  return cuda->stream_is_capturing && cuda->stream_is_capturing(own_unless(program, stream), &status) == CU_SUCCESS &&
         status != 0;
}

MirageStatus mirage_program_launch_in(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                      uint64_t workspace, void *stream, const MirageDiag *diag) {
  MirageLane *lane;
  CuStream to = own_unless(program, stream);
  if (program->workspace_bytes > 0 && (workspace == 0 || workspace % MIRAGE_WORKSPACE_ALIGNMENT != 0))
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "program: workspace at address 0x%llx: %zu bytes that start on %d are needed",
                            (unsigned long long)workspace, program->workspace_bytes, MIRAGE_WORKSPACE_ALIGNMENT);
  MIRAGE_TRY(mirage__lane_get(program, to, true, diag, &lane));
  return launch(program, lane, inputs, outputs, &workspace, to, false, diag);
}

MirageStatus mirage_program_run(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                const MirageDiag *diag) {
  MirageLane *lane;
  CuStream own = program->device->stream;
  MIRAGE_TRY(mirage__lane_get(program, own, false, diag, &lane));
  MIRAGE_TRY(launch(program, lane, inputs, outputs, NULL, own, true, diag));
  MIRAGE_TRY(mirage__device_enter(program->device, diag));
  MirageStatus status = mirage__device_wait(program->device, own, "copies of outputs", "", diag);
  mirage__device_leave(program->device);
  return status;
}
