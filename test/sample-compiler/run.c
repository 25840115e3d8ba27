// run.c - a compiled program printed, and run: on GPU 0, or on the emulator where there is none.
//
// Element e of input i holds ((7 e + 3 i) mod 11 - 5) / 16, which every element type can hold.
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 64, SHOWN = 6 };

void say(const MirageMessage *m, void *user) {
  static const char *const kinds[] = {"note", "remark", "warning", "error"};
  if (m->severity == MIRAGE_SEVERITY_REMARK || m->severity == MIRAGE_SEVERITY_NOTE)
    return;
  if (m->line)
    fprintf(stderr, "%s:%d:%d: ", m->file, m->line, m->column);
  fprintf(stderr, "%s: %s\n", kinds[m->severity], m->text);
}

// ------------------------------------------------------------------------------------------------------------ printing

static void print_kernel(const MirageLaunchPlan *plan, const MiragePlannedKernel *kernel) {
  static const char *const from[] = {"input ", "output ", "workspace+"};
  printf("kernel %s grid %lldx%lldx%lld block %d cluster %lldx%lldx%lld shared %d maps %u\n", kernel->name,
         (long long)kernel->grid[0], (long long)kernel->grid[1], (long long)kernel->grid[2], kernel->threads,
         (long long)kernel->cluster[0], (long long)kernel->cluster[1], (long long)kernel->cluster[2],
         kernel->shared_bytes, kernel->num_maps);
  for (uint32_t i = 0; i < kernel->num_pointers; i++) {
    const MirageSource *source = &plan->sources[kernel->first_source + i];
    long long which = source->kind == MIRAGE_FROM_WORKSPACE ? (long long)source->offset : (long long)source->index;
    printf("  pointer %u: %s%lld\n", i, from[source->kind], which);
  }
}

void print_program(const MirageCompiledProgram *program) {
  printf("program @%s: µGraph @%s, %zu bytes of PTX for %s, workspace %zu bytes of which %zu begin as zero\n",
         program->name, program->graph, program->ptx_bytes, program->chip, program->plan->workspace_bytes,
         program->plan->zeroed_bytes);
  for (uint32_t k = 0; k < program->plan->num_kernels; k++)
    print_kernel(program->plan, &program->plan->kernels[k]);
}

// ------------------------------------------------------------------------------------------------------------- tensors

typedef struct Tensors {
  uint32_t num_inputs, num_outputs;
  void *inputs[MAX_TENSORS], *outputs[MAX_TENSORS];
} Tensors;

static size_t count(const MirageType *type) { return (size_t)mirage_type_elements(type); }

static uint16_t bf16_of(float value) { // exact for what is written here
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static float value_at(const MirageType *type, const void *data, size_t e) {
  if (type->dtype == MIRAGE_F32)
    return ((const float *)data)[e];
  if (type->dtype == MIRAGE_F16)
    return (float)((const _Float16 *)data)[e];
  uint32_t bits = (uint32_t)((const uint16_t *)data)[e] << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void fill(const MirageType *type, uint32_t input, void *data) {
  for (size_t e = 0; e < count(type); e++) {
    float value = ((float)((7 * e + 3 * input) % 11) - 5) / 16;
    if (type->dtype == MIRAGE_F32)
      ((float *)data)[e] = value;
    else if (type->dtype == MIRAGE_F16)
      ((_Float16 *)data)[e] = (_Float16)value;
    else
      ((uint16_t *)data)[e] = bf16_of(value);
  }
}

static void tensors_free(Tensors *tensors) {
  for (uint32_t i = 0; i < tensors->num_inputs; i++)
    free(tensors->inputs[i]);
  for (uint32_t i = 0; i < tensors->num_outputs; i++)
    free(tensors->outputs[i]);
}

static bool tensors_create(const MirageCompiledProgram *program, Tensors *tensors) {
  *tensors = (Tensors){0};
  if (program->num_inputs > MAX_TENSORS || program->num_outputs > MAX_TENSORS)
    return false;
  for (uint32_t i = 0; i < program->num_inputs; i++) {
    if (!(tensors->inputs[tensors->num_inputs++] = malloc((size_t)mirage_type_bytes(&program->inputs[i]))))
      return false;
    fill(&program->inputs[i], i, tensors->inputs[i]);
  }
  for (uint32_t i = 0; i < program->num_outputs; i++)
    if (!(tensors->outputs[tensors->num_outputs++] = calloc(1, (size_t)mirage_type_bytes(&program->outputs[i]))))
      return false;
  return true;
}

// ------------------------------------------------------------------------------------------------------------- running

// With CUDA of your own: mirageProgramLaunch(program, inputs, outputs, stream, say, NULL), and no device of ours.
static MirageStatus run_on_gpu(const MirageCompiledProgram *program, MirageDevice *device, const Tensors *tensors) {
  uint64_t inputs[MAX_TENSORS] = {0}, outputs[MAX_TENSORS] = {0};
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < program->num_inputs && status == MIRAGE_OK; i++) {
    size_t bytes = (size_t)mirage_type_bytes(&program->inputs[i]);
    status = mirage_device_alloc(device, bytes, NULL, &inputs[i]);
    if (status == MIRAGE_OK)
      status = mirage_device_upload(device, inputs[i], tensors->inputs[i], bytes, NULL);
  }
  for (uint32_t i = 0; i < program->num_outputs && status == MIRAGE_OK; i++)
    status = mirage_device_alloc(device, (size_t)mirage_type_bytes(&program->outputs[i]), NULL, &outputs[i]);
  if (status == MIRAGE_OK)
    status = mirage_callable_launch(program->callable, 0, inputs, outputs, NULL, NULL);
  if (status == MIRAGE_OK)
    status = mirage_device_synchronize(device, NULL);
  for (uint32_t i = 0; i < program->num_outputs && status == MIRAGE_OK; i++)
    status = mirage_device_download(device, tensors->outputs[i], outputs[i],
                                    (size_t)mirage_type_bytes(&program->outputs[i]), NULL);
  for (uint32_t i = 0; i < MAX_TENSORS; i++) { // 0 is ignored
    mirage_device_free(device, inputs[i]);
    mirage_device_free(device, outputs[i]);
  }
  return status;
}

static MirageStatus run_somewhere(const MirageCompiledProgram *program, Tensors *tensors) {
  MirageDevice *device = NULL;
  if (mirage_device_create(0, NULL, &device) == MIRAGE_OK) {
    MirageStatus status = run_on_gpu(program, device, tensors);
    printf("ran on %s\n", mirage_device_info(device)->name);
    mirage_device_destroy(device);
    return status;
  }
  printf("ran on the emulator\n");
  return mirageProgramEmulate(program, (const void *const *)tensors->inputs, tensors->outputs, say, NULL);
}

bool run_program(const MirageCompiledProgram *program) {
  Tensors tensors;
  bool made = tensors_create(program, &tensors);
  MirageStatus status = made ? run_somewhere(program, &tensors) : MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < program->num_outputs && status == MIRAGE_OK; i++) {
    printf("output %u:", i);
    for (size_t e = 0; e < count(&program->outputs[i]) && e < SHOWN; e++)
      printf(" %.6g", value_at(&program->outputs[i], tensors.outputs[i], e));
    printf("\n");
  }
  if (status != MIRAGE_OK)
    fprintf(stderr, "error: @%s: %s\n", program->name, mirage_status_string(status));
  tensors_free(&tensors);
  return status == MIRAGE_OK;
}
