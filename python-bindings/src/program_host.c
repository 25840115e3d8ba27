// program_host.c - calls on tensors in host memory: evaluated in the graph's own element types, or emulated.
#include "program.h"

#include "mirage/emulator.h"
#include "mirage/eval.h"

#include <stdlib.h>
#include <unistd.h>

static double *unpack(const MirageType *type, const void *bytes) {
  size_t count = (size_t)mirage_type_elements(type);
  double *values = malloc((count + 1) * sizeof *values);
  if (values)
    mirage_tensor_unpack(type, bytes, values);
  return values;
}

static MirageStatus evaluate_into(const Program *self, const Call *call, double **inputs, double **outputs,
                                  const MirageDiag *diag) {
  for (uint32_t i = 0; i < self->num_inputs; i++)
    if (!(inputs[i] = unpack(input_type(self, i), call->inputs[i].data)))
      return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < self->num_outputs; i++)
    if (!(outputs[i] = malloc(((size_t)mirage_type_elements(output_type(self, i)) + 1) * sizeof **outputs)))
      return MIRAGE_NO_MEMORY;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const MirageEvalOptions options = {.num_threads = cores > 0 ? (uint32_t)cores : 1};
  MIRAGE_TRY(mirage_eval(self->graph, mirage_domain_real(), (const void *const *)inputs, (void *const *)outputs,
                         &options, diag));
  for (uint32_t i = 0; i < self->num_outputs; i++)
    mirage_tensor_pack(output_type(self, i), outputs[i], call->outputs[i].data);
  return MIRAGE_OK;
}

MirageStatus program_evaluate_call(const Program *self, const Call *call, const MirageDiag *diag) {
  double *inputs[MAX_TENSORS] = {NULL}, *outputs[MAX_TENSORS] = {NULL};
  MirageStatus status = evaluate_into(self, call, inputs, outputs, diag);
  for (uint32_t i = 0; i < self->num_inputs; i++)
    free(inputs[i]);
  for (uint32_t i = 0; i < self->num_outputs; i++)
    free(outputs[i]);
  return status;
}

MirageStatus program_emulate_call(const Program *self, const Call *call, const MirageDiag *diag) {
  const void *inputs[MAX_TENSORS];
  void *outputs[MAX_TENSORS];
  const MirageTarget *target = self->chip[0] ? mirage_target_find(self->chip) : NULL;
  const MirageEmulationOptions options = {0};
  if (!target)
    return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED,
                            "emulator: the graph is not compiled for a GPU that is known");
  for (uint32_t i = 0; i < self->num_inputs; i++)
    inputs[i] = call->inputs[i].data;
  for (uint32_t i = 0; i < self->num_outputs; i++)
    outputs[i] = call->outputs[i].data;
  return mirage_emulate(self->graph, target, inputs, outputs, &options, diag);
}

// ---------------------------------------------------------------------------------------------------- calls without Python

MirageStatus program_evaluate(PyObject *program, void *const inputs[], void *const outputs[], const MirageDiag *diag) {
  Program *self = (Program *)program;
  Call *call = calloc(1, sizeof *call);
  if (!call)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < self->num_inputs; i++)
    call->inputs[i].data = inputs[i];
  for (uint32_t i = 0; i < self->num_outputs; i++)
    call->outputs[i].data = outputs[i];
  MirageStatus status = program_evaluate_call(self, call, diag);
  free(call);
  return status;
}
