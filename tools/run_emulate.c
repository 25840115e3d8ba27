// run_emulate.c - runs a µGraph's generated kernels on the emulator: once with asynchronous copies as late as allowed,
// once as early. Both must give the same bits.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "run.h"

#include "mirage/emulator.h"
#include "mirage/eval.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "run: out of memory");
}

// Tensors as the device holds them: the inputs, then the outputs of the late and of the early run.
typedef struct Bytes {
  uint32_t num_inputs, num_outputs;
  void **all;
} Bytes;

static void bytes_free(Bytes *bytes) {
  for (uint32_t i = 0; bytes->all && i < bytes->num_inputs + 2 * bytes->num_outputs; i++)
    free(bytes->all[i]);
  free(bytes->all);
}

static MirageStatus bytes_create(const MirageUGraph *program, const RunInputs *inputs, const MirageDiag *diag,
                                 Bytes *bytes) {
  *bytes = (Bytes){.num_inputs = inputs->count, .num_outputs = mirage_ugraph_num_outputs(program)};
  uint32_t count = bytes->num_inputs + 2 * bytes->num_outputs;
  bytes->all = calloc(count + 1, sizeof *bytes->all);
  if (!bytes->all)
    return no_memory(diag);
  for (uint32_t i = 0; i < count; i++) {
    MirageValue value = i < bytes->num_inputs
                            ? mirage_ugraph_get_input(program, i)
                            : mirage_ugraph_get_output(program, (i - bytes->num_inputs) % bytes->num_outputs);
    const MirageType *type = mirage_ugraph_type(program, value);
    bytes->all[i] = malloc((size_t)mirage_type_bytes(type));
    if (!bytes->all[i])
      return no_memory(diag);
    if (i < bytes->num_inputs)
      mirage_tensor_pack(type, inputs->values[i], bytes->all[i]);
  }
  return MIRAGE_OK;
}

static MirageStatus run_twice(const RunModule *module, MirageEmulation *emulation, const RunInputs *inputs,
                              RunResult *result) {
  const MirageDiag *diag = &module->bridge_diag.diag;
  Bytes bytes;
  MirageStatus status = bytes_create(module->program, inputs, diag, &bytes);
  void **late = bytes.all + bytes.num_inputs, **early = late + bytes.num_outputs;
  if (status == MIRAGE_OK)
    status = mirage_emulation_run(emulation, MIRAGE_COPIES_LATE, (const void *const *)bytes.all, late, diag);
  if (status == MIRAGE_OK)
    status = mirage_emulation_run(emulation, MIRAGE_COPIES_EARLY, (const void *const *)bytes.all, early, diag);
  result->repeatable = true;
  for (uint32_t i = 0; status == MIRAGE_OK && i < bytes.num_outputs; i++) {
    const MirageType *type = mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, i));
    mirage_tensor_unpack(type, late[i], result->outputs[i]);
    result->repeatable = result->repeatable && memcmp(late[i], early[i], (size_t)mirage_type_bytes(type)) == 0;
  }
  bytes_free(&bytes);
  return status;
}

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

MirageStatus run_emulated(const RunModule *module, const MirageUGraph *graph, const RunInputs *inputs, double max_work,
                          const MirageDiag *diag, RunResult *result) {
  double start = now_ms();
  if (!module->target)
    return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED, "emulator: no target is known for chip %s", module->chip);
  MirageEmulationOptions options = {.max_work = max_work};
  MirageEmulation *emulation = NULL;
  MIRAGE_TRY(mirage_emulation_create(graph, module->target, &options, diag, &emulation));
  result->place = RUN_ON_EMULATOR;
  MirageStatus status = run_twice(module, emulation, inputs, result);
  result->wall_ms = now_ms() - start;
  mirage_emulation_destroy(emulation);
  return status;
}
