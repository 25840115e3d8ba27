// program.c - all kernels of a lowered graph as one thing to launch.
//
// Creation walks the kernel region once: each custom node becomes a prepared launch whose pointers are named by where
// they come from (an input, an output, the workspace). Launching (lane.c, launch.c) only looks the addresses up.
//
// Memory:   a value that the graph returns is written straight to the output; the other results live in one workspace,
//           planned by live ranges (plan.c). The kernels' own workspaces share one zeroed region behind them: each
//           kernel leaves it zero, and kernels of one call run one after the other. A reshape is no kernel: its result
//           lies where its operand does.
// Overlap:  a kernel scheduled with dependent_launch may start before the one before it ends. The first never does:
//           what runs before it on the stream is not ours, and may still be writing our inputs.
// Example:  t = k0(x); y = k1(t, w); return y   ->   k0(input 0, workspace+0); k1(workspace+0, input 1, output 0)
#include "runtime_impl.h"

#include <stdlib.h>

typedef enum { NOWHERE, INPUT, OUTPUT, BUFFER } PlaceKind;

// Where a value lives.
typedef struct Place {
  PlaceKind kind;
  uint32_t index; // of the input, output, or live buffer
} Place;

// What creation needs and launching does not.
typedef struct Builder {
  MirageProgram *program;
  const MirageUGraph *graph;
  const MirageDiag *diag;
  Place *places; // by value id
  MirageLiveBuffer *buffers;
  uint32_t num_buffers;
  int64_t zeroed_bytes;
} Builder;

static const uint32_t ZEROED = UINT32_MAX; // in place of a buffer's number: the region behind the buffers

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "program: out of memory");
}

// ---------------------------------------------------------------------------------------------------------- structure

static MirageStatus check_node(const Builder *builder, const MirageNodeView *node) {
  const char *name = mirage_ugraph_get_meta(builder->graph)->name;
  if (node->op != MIRAGE_OP_CUSTOM)
    return mirage_diag_fail(builder->diag, node->loc, MIRAGE_BAD_GRAPH,
                            "program: @%s holds %s outside a custom kernel: select and lower the graph first", name,
                            mirage_op_info(node->op)->mnemonic);
  if (!node->attrs->custom.launch)
    return mirage_diag_fail(builder->diag, node->loc, MIRAGE_BAD_GRAPH,
                            "program: a custom kernel of @%s has no launch attribute: lower the graph first", name);
  return MIRAGE_OK;
}

static bool is_kernel(MirageOp op) { return op != MIRAGE_OP_RETURN && op != MIRAGE_OP_RESHAPE; }

static Place *place_of(const Builder *builder, MirageValue value) {
  return &builder->places[mirage_ugraph_storage(builder->graph, value).index];
}

// Counts the kernels and gives inputs and outputs their places.
static void place_arguments(Builder *builder) {
  MirageProgram *program = builder->program;
  const MirageUGraph *graph = builder->graph;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  program->num_inputs = mirage_ugraph_num_inputs(graph);
  program->num_outputs = mirage_ugraph_num_outputs(graph);
  program->num_kernels = 0;
  for (uint32_t i = 0; i < body.num_nodes; ++i)
    program->num_kernels += is_kernel(mirage_ugraph_node(graph, body.nodes[i]).op);
  for (uint32_t i = 0; i < program->num_inputs; ++i)
    builder->places[mirage_ugraph_get_input(graph, i).index] = (Place){INPUT, i};
  for (uint32_t i = 0; i < program->num_outputs; ++i) {
    MirageValue value = mirage_ugraph_get_output(graph, i);
    Place *place = place_of(builder, value);
    if (place->kind == NOWHERE) {
      *place = (Place){OUTPUT, i};
      continue;
    }
    MirageOutputCopy *copy = &program->copies[program->num_copies++];
    copy->from =
        (MirageSource){.kind = place->kind == INPUT ? MIRAGE_FROM_INPUT : MIRAGE_FROM_OUTPUT, .index = place->index};
    copy->output = i;
    copy->bytes = (size_t)mirage_type_bytes(mirage_ugraph_type(graph, value));
  }
}

// One more pointer of the kernel that is being collected.
static void add_source(Builder *builder, const Place *place) {
  MirageProgram *program = builder->program;
  MirageSource *source = &program->sources[program->num_sources++];
  source->kind = place->kind == INPUT    ? MIRAGE_FROM_INPUT
                 : place->kind == OUTPUT ? MIRAGE_FROM_OUTPUT
                                         : MIRAGE_FROM_WORKSPACE;
  source->index = place->index;
}

static void collect_maps(MirageProgram *program, MirageProgramKernel *kernel, const MirageLaunch *launch) {
  kernel->first_map = program->num_maps;
  kernel->num_maps = launch->num_maps;
  for (uint32_t i = 0; i < launch->num_maps; ++i) {
    MirageProgramMap *map = &program->maps[program->num_maps++];
    map->map = launch->maps[i];
    map->source = kernel->first_source + launch->maps[i].pointer;
    map->parameter = kernel->first_source + kernel->first_map + kernel->num_pointers + i;
  }
}

// Operands, then results, then the workspace, then tensor maps: the kernel ABI of codegen.h.
static void collect_kernel(Builder *builder, uint32_t index, const MirageNodeView *node) {
  MirageProgramKernel *kernel = &builder->program->kernels[index];
  int64_t zeroed_bytes = node->attrs->custom.launch->workspace_bytes;
  kernel->first_source = builder->program->num_sources;
  for (uint32_t i = 0; i < node->num_operands; ++i) {
    Place *place = place_of(builder, node->operands[i]);
    if (place->kind == BUFFER)
      builder->buffers[place->index].last = index;
    add_source(builder, place);
  }
  for (uint32_t i = 0; i < node->num_results; ++i) {
    uint32_t value = node->first_result.index + i;
    Place *place = &builder->places[value];
    if (place->kind == NOWHERE) {
      int64_t bytes = mirage_type_bytes(mirage_ugraph_type(builder->graph, (MirageValue){value}));
      *place = (Place){BUFFER, builder->num_buffers};
      builder->buffers[builder->num_buffers++] = (MirageLiveBuffer){.bytes = bytes, .first = index, .last = index};
    }
    add_source(builder, place);
  }
  if (zeroed_bytes > 0)
    add_source(builder, &(Place){BUFFER, ZEROED});
  if (zeroed_bytes > builder->zeroed_bytes)
    builder->zeroed_bytes = zeroed_bytes;
  kernel->num_pointers = builder->program->num_sources - kernel->first_source;
  collect_maps(builder->program, kernel, node->attrs->custom.launch);
}

static MirageStatus prepare_kernel(Builder *builder, uint32_t index, const MirageNodeView *node) {
  MirageProgram *program = builder->program;
  MirageProgramKernel *kernel = &program->kernels[index];
  const MirageCustomAttrs *attrs = &node->attrs->custom;
  MirageLaunchConfig config = {
      .kernel = attrs->launch->kernel,
      .threads = attrs->launch->threads,
      .shared_bytes = attrs->launch->shared_bytes,
      .blocks_meet = attrs->launch->workspace_bytes > 0, // what a workspace is for
      .num_maps = attrs->launch->num_maps,
      .maps = attrs->launch->maps,
      .dependent_launch = index > 0 && attrs->schedule && attrs->schedule->dependent_launch,
  };
  mirage_custom_launch_grid(attrs, config.grid);
  for (int i = 0; i < 3; ++i)
    config.cluster[i] = attrs->cluster[i];
  kernel->name = mirage_arena_strdup(&program->arena, config.kernel);
  if (!kernel->name)
    return no_memory(builder->diag);
  return mirage__launch_prepare(program->module, &config, kernel->num_pointers, builder->diag, &kernel->ready);
}

static MirageStatus collect_kernels(Builder *builder) {
  MirageRegionView body = mirage_ugraph_region(builder->graph, mirage_ugraph_body(builder->graph));
  MIRAGE_TRY(mirage__device_enter(builder->program->device, builder->diag));
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0, index = 0; i < body.num_nodes && status == MIRAGE_OK; ++i) {
    MirageNodeView node = mirage_ugraph_node(builder->graph, body.nodes[i]);
    if (!is_kernel(node.op))
      continue;
    status = check_node(builder, &node);
    if (status != MIRAGE_OK)
      break;
    collect_kernel(builder, index, &node);
    status = prepare_kernel(builder, index++, &node);
  }
  mirage__device_leave(builder->program->device);
  return status;
}

// -------------------------------------------------------------------------------------------------------------- memory

// Turns buffer numbers into offsets, the zeroed region behind them.
static MirageStatus place_buffers(Builder *builder) {
  MirageProgram *program = builder->program;
  int64_t bytes = mirage__plan_buffers(builder->num_buffers, builder->buffers, MIRAGE_WORKSPACE_ALIGNMENT);
  if (bytes < 0)
    return no_memory(builder->diag);
  for (uint32_t i = 0; i < program->num_sources; ++i) {
    MirageSource *source = &program->sources[i];
    if (source->kind == MIRAGE_FROM_WORKSPACE)
      source->offset = source->index == ZEROED ? bytes : builder->buffers[source->index].offset;
  }
  program->zeroed_bytes = (size_t)builder->zeroed_bytes;
  program->workspace_bytes = (size_t)bytes + program->zeroed_bytes;
  return MIRAGE_OK;
}

// Upper bounds of the pointers and tensor maps of all kernels together.
static void count_parameters(const MirageUGraph *graph, uint32_t *out_pointers, uint32_t *out_maps) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  *out_pointers = *out_maps = 0;
  for (uint32_t i = 0; i < body.num_nodes; ++i) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    *out_pointers += node.num_operands + node.num_results + 1;
    if (node.op == MIRAGE_OP_CUSTOM && node.attrs->custom.launch)
      *out_maps += node.attrs->custom.launch->num_maps;
  }
}

static MirageStatus build(Builder *builder, MirageArena *temporary) {
  MirageProgram *program = builder->program;
  uint32_t num_values = mirage_ugraph_num_values(builder->graph);
  uint32_t num_nodes = mirage_ugraph_num_nodes(builder->graph);
  uint32_t num_outputs = mirage_ugraph_num_outputs(builder->graph);
  builder->places = mirage_arena_alloc_array(temporary, num_values + 1, sizeof *builder->places);
  builder->buffers = mirage_arena_alloc_array(temporary, num_values + 1, sizeof *builder->buffers);
  program->kernels = mirage_arena_alloc_array(&program->arena, num_nodes + 1, sizeof *program->kernels);
  uint32_t num_pointers, num_maps;
  count_parameters(builder->graph, &num_pointers, &num_maps);
  program->sources = mirage_arena_alloc_array(&program->arena, num_pointers + 1, sizeof *program->sources);
  program->maps = mirage_arena_alloc_array(&program->arena, num_maps + 1, sizeof *program->maps);
  program->copies = mirage_arena_alloc_array(&program->arena, num_outputs + 1, sizeof *program->copies);
  if (!builder->places || !builder->buffers || !program->kernels || !program->sources || !program->maps ||
      !program->copies)
    return no_memory(builder->diag);
  place_arguments(builder);
  MIRAGE_TRY(collect_kernels(builder));
  return place_buffers(builder);
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
  mirage_arena_init(&program->arena, NULL);
  MirageArena temporary;
  mirage_arena_init(&temporary, NULL);
  Builder builder = {.program = program, .graph = graph, .diag = diag};
  MirageStatus status = build(&builder, &temporary);
  mirage_arena_deinit(&temporary);
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
  mirage_arena_deinit(&program->arena);
  free(program);
}

size_t mirage_program_workspace_bytes(const MirageProgram *program) { return program->workspace_bytes; }
