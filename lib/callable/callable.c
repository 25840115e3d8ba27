// callable.c - one compiled graph on every device of the process: the code is loaded where it is called.
//
// Devices: a list that only grows. A call looks through it without a lock; what is new is loaded under one, so that
//          several threads that call for the first time load once.
#include "mirage/callable.h"
#include "mirage/emulator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct Loaded {
  struct Loaded *next; // fixed once it is in the list
  int32_t ordinal;     // MIRAGE_CURRENT_DEVICE: of the context that was current
  MirageDevice *device;
  MirageModule *module;
  MirageProgram *program;
} Loaded;

struct MirageCallable {
  MirageUGraph *graph;
  MirageArena arena; // of the texts
  MirageLaunchPlan plan;
  const char *ptx, *chip;
  pthread_mutex_t lock; // of loading
  Loaded *_Atomic loaded;
  pthread_mutex_t emulating; // held while the emulator runs
  MirageEmulation *emulation;
};

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "call: out of memory");
}

// ------------------------------------------------------------------------------------------------------------ creating

static const char *copy_text(MirageCallable *callable, const char *text, size_t length) {
  char *copy = mirage_arena_alloc(&callable->arena, length + 1); // zeroed
  return copy ? memcpy(copy, text, length) : NULL;
}

static MirageStatus fill(MirageCallable *callable, const char *ptx, size_t ptx_bytes, const char *chip,
                         const MirageDiag *diag) {
  callable->ptx = copy_text(callable, ptx, ptx_bytes);
  callable->chip = copy_text(callable, chip, strlen(chip));
  if (!callable->ptx || !callable->chip)
    return no_memory(diag);
  return mirage_launch_plan_init(&callable->plan, callable->graph, diag);
}

MirageStatus mirage_callable_create(MirageUGraph *graph, const char *ptx, size_t ptx_bytes, const char *chip,
                                    const MirageDiag *diag, MirageCallable **out_callable) {
  *out_callable = NULL;
  MirageCallable *callable = calloc(1, sizeof *callable);
  if (!callable) {
    mirage_ugraph_destroy(graph);
    return no_memory(diag);
  }
  callable->graph = graph;
  pthread_mutex_init(&callable->lock, NULL); // neither can fail on Linux
  pthread_mutex_init(&callable->emulating, NULL);
  MirageStatus status = fill(callable, ptx, ptx_bytes, chip, diag);
  if (status != MIRAGE_OK) {
    mirage_callable_destroy(callable);
    return status;
  }
  *out_callable = callable;
  return MIRAGE_OK;
}

static void unload(Loaded *loaded) {
  if (loaded->program) { // work that was launched may still run
    mirage_device_synchronize(loaded->device, NULL);
    mirage_program_destroy(loaded->program);
  }
  if (loaded->module)
    mirage_module_unload(loaded->module);
  mirage_device_destroy(loaded->device);
  free(loaded);
}

void mirage_callable_destroy(MirageCallable *callable) {
  if (!callable)
    return;
  for (Loaded *loaded = atomic_load(&callable->loaded), *next; loaded; loaded = next) {
    next = loaded->next;
    unload(loaded);
  }
  mirage_emulation_destroy(callable->emulation);
  pthread_mutex_destroy(&callable->emulating);
  pthread_mutex_destroy(&callable->lock);
  mirage_launch_plan_deinit(&callable->plan);
  mirage_arena_deinit(&callable->arena);
  mirage_ugraph_destroy(callable->graph);
  free(callable);
}

const MirageUGraph *mirage_callable_graph(const MirageCallable *callable) { return callable->graph; }
const MirageLaunchPlan *mirage_callable_plan(const MirageCallable *callable) { return &callable->plan; }
const char *mirage_callable_ptx(const MirageCallable *callable) { return callable->ptx; }
const char *mirage_callable_chip(const MirageCallable *callable) { return callable->chip; }

// ----------------------------------------------------------------------------------------------------------------- GPU

static Loaded *find(MirageCallable *callable, int32_t ordinal) {
  Loaded *loaded = atomic_load_explicit(&callable->loaded, memory_order_acquire);
  for (; loaded; loaded = loaded->next)
    if (ordinal == MIRAGE_CURRENT_DEVICE ? mirage_device_is_current(loaded->device) : loaded->ordinal == ordinal)
      break;
  return loaded;
}

static MirageStatus fill_loaded(const MirageCallable *callable, const MirageDiag *diag, Loaded *loaded) {
  MIRAGE_TRY(loaded->ordinal == MIRAGE_CURRENT_DEVICE ? mirage_device_create_current(diag, &loaded->device)
                                                      : mirage_device_create(loaded->ordinal, diag, &loaded->device));
  MIRAGE_TRY(mirage_module_load(loaded->device, callable->ptx, diag, &loaded->module));
  return mirage_program_create(loaded->module, callable->graph, diag, &loaded->program);
}

static MirageStatus load(MirageCallable *callable, int32_t ordinal, const MirageDiag *diag, Loaded **out_loaded) {
  Loaded *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return no_memory(diag);
  loaded->ordinal = ordinal;
  MirageStatus status = fill_loaded(callable, diag, loaded);
  if (status != MIRAGE_OK) {
    unload(loaded);
    return status;
  }
  loaded->next = atomic_load(&callable->loaded);
  atomic_store_explicit(&callable->loaded, loaded, memory_order_release);
  *out_loaded = loaded;
  return MIRAGE_OK;
}

MirageStatus mirage_callable_load(MirageCallable *callable, int32_t ordinal, const MirageDiag *diag,
                                  MirageProgram **out_program) {
  MirageStatus status = MIRAGE_OK;
  Loaded *loaded = find(callable, ordinal);
  if (!loaded) {
    pthread_mutex_lock(&callable->lock);
    loaded = find(callable, ordinal); // by another thread, meanwhile
    if (!loaded)
      status = load(callable, ordinal, diag, &loaded);
    pthread_mutex_unlock(&callable->lock);
  }
  *out_program = loaded ? loaded->program : NULL;
  return status;
}

MirageStatus mirage_callable_launch(MirageCallable *callable, int32_t ordinal, const uint64_t *inputs,
                                    const uint64_t *outputs, void *stream, const MirageDiag *diag) {
  MirageProgram *program;
  MIRAGE_TRY(mirage_callable_load(callable, ordinal, diag, &program));
  return mirage_program_launch(program, inputs, outputs, stream, diag);
}

// ------------------------------------------------------------------------------------------------------------ emulator

static MirageStatus emulate(MirageCallable *callable, const void *const *inputs, void *const *outputs,
                            const MirageDiag *diag) {
  const MirageTarget *target = mirage_target_find(callable->chip);
  if (!target)
    return mirage_diag_fail(diag, NULL, MIRAGE_UNSUPPORTED, "emulator: no target is known for chip '%s'",
                            callable->chip);
  if (!callable->emulation)
    MIRAGE_TRY(
        mirage_emulation_create(callable->graph, target, &(MirageEmulationOptions){0}, diag, &callable->emulation));
  return mirage_emulation_run(callable->emulation, MIRAGE_COPIES_LATE, inputs, outputs, diag);
}

MirageStatus mirage_callable_emulate(MirageCallable *callable, const void *const *inputs, void *const *outputs,
                                     const MirageDiag *diag) {
  pthread_mutex_lock(&callable->emulating);
  MirageStatus status = emulate(callable, inputs, outputs, diag);
  pthread_mutex_unlock(&callable->emulating);
  return status;
}
