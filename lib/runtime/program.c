// program.c - all kernels of a lowered graph as one thing to launch.
//
// Creation plans the launches (launch_plan.c) and prepares each on the device: all is checked and resolved, so that
// launching (lane.c, launch.c) only looks addresses up.
#include "runtime_impl.h"

#include <stdlib.h>

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "program: out of memory");
}

// Tensor maps come behind the pointers of their kernel.
static void collect_maps(MirageProgram *program, const MiragePlannedKernel *planned) {
  for (uint32_t i = 0; i < planned->num_maps; i++) {
    MirageProgramMap *map = &program->maps[planned->first_map + i];
    map->map = program->plan.maps[planned->first_map + i];
    map->source = planned->first_source + map->map.pointer;
    map->parameter = planned->first_source + planned->first_map + planned->num_pointers + i;
  }
}

static MirageStatus prepare_kernel(MirageProgram *program, const MiragePlannedKernel *planned,
                                   MirageProgramKernel *kernel, const MirageDiag *diag) {
  *kernel = (MirageProgramKernel){.name = planned->name,
                                  .first_source = planned->first_source,
                                  .num_pointers = planned->num_pointers,
                                  .first_map = planned->first_map,
                                  .num_maps = planned->num_maps};
  MirageLaunchConfig config = {.kernel = planned->name,
                               .threads = planned->threads,
                               .shared_bytes = planned->shared_bytes,
                               .blocks_meet = planned->blocks_meet,
                               .num_maps = planned->num_maps,
                               .maps = program->plan.maps + planned->first_map,
                               .dependent_launch = planned->dependent_launch,
                               .in_pairs = planned->in_pairs};
  for (int i = 0; i < 3; i++) {
    config.grid[i] = planned->grid[i];
    config.cluster[i] = planned->cluster[i];
  }
  collect_maps(program, planned);
  return mirage__launch_prepare(program->module, &config, planned->num_pointers, diag, &kernel->ready);
}

static MirageStatus prepare_kernels(MirageProgram *program, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(program->device, diag));
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < program->num_kernels && status == MIRAGE_OK; i++)
    status = prepare_kernel(program, &program->plan.kernels[i], &program->kernels[i], diag);
  mirage__device_leave(program->device);
  return status;
}

static MirageStatus build(MirageProgram *program, const MirageUGraph *graph, const MirageDiag *diag) {
  MirageLaunchPlan *plan = &program->plan;
  MIRAGE_TRY(mirage_launch_plan_init(plan, graph, diag));
  program->num_inputs = plan->num_inputs;
  program->num_outputs = plan->num_outputs;
  program->num_kernels = plan->num_kernels;
  program->num_sources = plan->num_sources;
  program->num_maps = plan->num_maps;
  program->num_copies = plan->num_copies;
  program->sources = plan->sources;
  program->copies = plan->copies;
  program->workspace_bytes = plan->workspace_bytes;
  program->zeroed_bytes = plan->zeroed_bytes;
  program->kernels = mirage_arena_alloc_array(&plan->arena, plan->num_kernels + 1, sizeof *program->kernels);
  program->maps = mirage_arena_alloc_array(&plan->arena, plan->num_maps + 1, sizeof *program->maps);
  if (!program->kernels || !program->maps)
    return no_memory(diag);
  return prepare_kernels(program, diag);
}

MirageStatus mirage_program_create(MirageModule *module, const MirageUGraph *graph, const MirageDiag *diag,
                                   MirageProgram **out_program) {
  *out_program = NULL;
  MirageProgram *program = calloc(1, sizeof *program);
  if (!program)
    return no_memory(diag);
  if (pthread_mutex_init(&program->lock, NULL) != 0) {
    free(program);
    return no_memory(diag);
  }
  program->module = module;
  program->device = mirage__module_device(module);
  MirageStatus status = build(program, graph, diag);
  if (status != MIRAGE_OK) {
    mirage_program_destroy(program);
    return status;
  }
  *out_program = program;
  return MIRAGE_OK;
}

void mirage_program_destroy(MirageProgram *program) {
  if (!program)
    return;
  mirage__lanes_destroy(program);
  pthread_mutex_destroy(&program->lock);
  mirage_launch_plan_deinit(&program->plan);
  free(program);
}

size_t mirage_program_workspace_bytes(const MirageProgram *program) { return program->workspace_bytes; }

size_t mirage_program_spilled_bytes(const MirageProgram *program) {
  size_t most = 0;
  for (uint32_t i = 0; i < program->num_kernels; i++)
    most = program->kernels[i].ready.local_bytes > most ? program->kernels[i].ready.local_bytes : most;
  return most;
}
