// program.c - all kernels of a lowered graph as one thing to launch.
//
// Creation walks the kernel region once: each custom node becomes a prepared launch whose pointers are named by where
// they come from (an input, an output, the program's own scratch memory). Launching only looks the addresses up.
//
// Memory:   a value that the graph returns is written straight to the output; the other results live in one scratch
//           allocation, planned by live ranges (plan.c). The kernels' workspaces share one zeroed region behind it:
//           each kernel leaves it zero, and kernels of one program run one after the other.
// Overlap:  a kernel scheduled with dependent_launch may start before the one before it ends. The first never does:
// what
//           runs before it on the stream is not ours, and may still be writing our inputs.
// Threads:  scratch belongs to the program, so calls of one program must not overlap in time (one stream at a time).
// Example:  t = k0(x); y = k1(t, w); return y   ->   k0(input 0, scratch+0); k1(scratch+0, input 1, output 0)
#include "runtime_impl.h"

#include <stdlib.h>

typedef enum { FROM_NOWHERE, FROM_INPUT, FROM_OUTPUT, FROM_SCRATCH } SourceKind;

typedef struct Source {
  SourceKind kind;
  uint32_t index; // of the input, output, or live buffer
  int64_t offset; // scratch: in bytes
} Source;

typedef struct ProgramKernel {
  MirageLaunchReady ready;
  const char *name; // in `names`
  uint32_t num_pointers;
  Source *sources; // in `all_sources`
} ProgramKernel;

// An output that no kernel writes: the graph returns an input, or one value twice.
typedef struct OutputCopy {
  Source from;
  uint32_t output;
  size_t bytes;
} OutputCopy;

struct MirageProgram {
  MirageModule *module;
  MirageDevice *device;
  MirageArena arena; // the arrays below
  uint32_t num_inputs, num_outputs, num_kernels, num_copies;
  ProgramKernel *kernels;
  OutputCopy *copies;
  uint64_t scratch; // device address; the workspace lies behind the intermediates
};

enum { SCRATCH_ALIGNMENT = 256, POINTER_ALIGNMENT = 16 };

// What creation needs and launching does not.
typedef struct Builder {
  MirageProgram *program;
  const MirageUGraph *graph;
  const MirageDiag *diag;
  Source *places; // by value id
  MirageLiveBuffer *buffers;
  uint32_t num_buffers;
  int64_t workspace_bytes;
} Builder;

MirageDevice *mirage__program_device(const MirageProgram *program) { return program->device; }
uint32_t mirage__program_num_inputs(const MirageProgram *program) { return program->num_inputs; }

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

// Counts the kernels and gives inputs and outputs their places.
static MirageStatus place_arguments(Builder *builder) {
  MirageProgram *program = builder->program;
  const MirageUGraph *graph = builder->graph;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  program->num_inputs = mirage_ugraph_num_inputs(graph);
  program->num_outputs = mirage_ugraph_num_outputs(graph);
  program->num_kernels = body.num_nodes ? body.num_nodes - 1 : 0; // all but the return
  for (uint32_t i = 0; i < program->num_inputs; ++i)
    builder->places[mirage_ugraph_get_input(graph, i).index] = (Source){FROM_INPUT, i, 0};
  for (uint32_t i = 0; i < program->num_outputs; ++i) {
    MirageValue value = mirage_ugraph_get_output(graph, i);
    Source *place = &builder->places[value.index];
    if (place->kind == FROM_NOWHERE)
      *place = (Source){FROM_OUTPUT, i, 0};
    else
      program->copies[program->num_copies++] =
          (OutputCopy){*place, i, (size_t)mirage_type_bytes(mirage_ugraph_type(graph, value))};
  }
  return MIRAGE_OK;
}

static void extend_life(Builder *builder, const Source *place, uint32_t kernel) {
  if (place->kind == FROM_SCRATCH)
    builder->buffers[place->index].last = kernel;
}

// Operands, then results, then the workspace: the kernel ABI of codegen.h.
static MirageStatus collect_kernel(Builder *builder, uint32_t index, const MirageNodeView *node) {
  ProgramKernel *kernel = &builder->program->kernels[index];
  bool has_workspace = node->attrs->custom.launch->workspace_bytes > 0;
  kernel->num_pointers = node->num_operands + node->num_results + (has_workspace ? 1 : 0);
  kernel->sources = mirage_arena_alloc_array(&builder->program->arena, kernel->num_pointers, sizeof *kernel->sources);
  if (!kernel->sources)
    return no_memory(builder->diag);
  Source *source = kernel->sources;
  for (uint32_t i = 0; i < node->num_operands; ++i) {
    Source *place = &builder->places[node->operands[i].index];
    extend_life(builder, place, index);
    *source++ = *place;
  }
  for (uint32_t i = 0; i < node->num_results; ++i) {
    uint32_t value = node->first_result.index + i;
    Source *place = &builder->places[value];
    if (place->kind == FROM_NOWHERE) {
      int64_t bytes = mirage_type_bytes(mirage_ugraph_type(builder->graph, (MirageValue){value}));
      *place = (Source){FROM_SCRATCH, builder->num_buffers, 0};
      builder->buffers[builder->num_buffers++] = (MirageLiveBuffer){.bytes = bytes, .first = index, .last = index};
    }
    *source++ = *place;
  }
  if (has_workspace) {
    *source = (Source){FROM_SCRATCH, UINT32_MAX, 0}; // resolved when the intermediates' size is known
    if (node->attrs->custom.launch->workspace_bytes > builder->workspace_bytes)
      builder->workspace_bytes = node->attrs->custom.launch->workspace_bytes;
  }
  return MIRAGE_OK;
}

static MirageStatus prepare_kernel(Builder *builder, uint32_t index, const MirageNodeView *node) {
  MirageProgram *program = builder->program;
  ProgramKernel *kernel = &program->kernels[index];
  const MirageCustomAttrs *attrs = &node->attrs->custom;
  MirageLaunchConfig config = {
      .kernel = attrs->launch->kernel,
      .threads = attrs->launch->threads,
      .shared_bytes = attrs->launch->shared_bytes,
      .dependent_launch = index > 0 && attrs->schedule && attrs->schedule->dependent_launch,
  };
  for (int i = 0; i < 3; ++i) {
    config.grid[i] = attrs->grid[i];
    config.cluster[i] = attrs->cluster[i];
  }
  kernel->name = mirage_arena_strdup(&program->arena, config.kernel);
  if (!kernel->name)
    return no_memory(builder->diag);
  return mirage__launch_prepare(program->module, &config, kernel->num_pointers, builder->diag, &kernel->ready);
}

static MirageStatus collect_kernels(Builder *builder) {
  MirageRegionView body = mirage_ugraph_region(builder->graph, mirage_ugraph_body(builder->graph));
  MIRAGE_TRY(mirage__device_enter(builder->program->device, builder->diag));
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < builder->program->num_kernels && status == MIRAGE_OK; ++i) {
    MirageNodeView node = mirage_ugraph_node(builder->graph, body.nodes[i]);
    status = check_node(builder, &node);
    if (status == MIRAGE_OK)
      status = collect_kernel(builder, i, &node);
    if (status == MIRAGE_OK)
      status = prepare_kernel(builder, i, &node);
  }
  mirage__device_leave(builder->program->device);
  return status;
}

// -------------------------------------------------------------------------------------------------------------- memory

// Turns buffer numbers into offsets and allocates scratch with the zeroed workspace behind it.
static MirageStatus place_scratch(Builder *builder) {
  MirageProgram *program = builder->program;
  int64_t scratch_bytes = mirage__plan_buffers(builder->num_buffers, builder->buffers, SCRATCH_ALIGNMENT);
  if (scratch_bytes < 0)
    return no_memory(builder->diag);
  for (uint32_t k = 0; k < program->num_kernels; ++k)
    for (uint32_t i = 0; i < program->kernels[k].num_pointers; ++i) {
      Source *source = &program->kernels[k].sources[i];
      if (source->kind == FROM_SCRATCH)
        source->offset = source->index == UINT32_MAX ? scratch_bytes : builder->buffers[source->index].offset;
    }
  int64_t bytes = scratch_bytes + builder->workspace_bytes;
  if (bytes == 0)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage_device_alloc(program->device, (size_t)bytes, builder->diag, &program->scratch));
  if (builder->workspace_bytes == 0)
    return MIRAGE_OK;
  return mirage_device_fill(program->device, program->scratch + (uint64_t)scratch_bytes, 0,
                            (size_t)builder->workspace_bytes, builder->diag);
}

static MirageStatus build(Builder *builder, MirageArena *temporary) {
  MirageProgram *program = builder->program;
  uint32_t num_values = mirage_ugraph_num_values(builder->graph);
  uint32_t num_nodes = mirage_ugraph_num_nodes(builder->graph);
  uint32_t num_outputs = mirage_ugraph_num_outputs(builder->graph);
  builder->places = mirage_arena_alloc_array(temporary, num_values + 1, sizeof *builder->places);
  builder->buffers = mirage_arena_alloc_array(temporary, num_values + 1, sizeof *builder->buffers);
  program->kernels = mirage_arena_alloc_array(&program->arena, num_nodes + 1, sizeof *program->kernels);
  program->copies = mirage_arena_alloc_array(&program->arena, num_outputs + 1, sizeof *program->copies);
  if (!builder->places || !builder->buffers || !program->kernels || !program->copies)
    return no_memory(builder->diag);
  MIRAGE_TRY(place_arguments(builder));
  MIRAGE_TRY(collect_kernels(builder));
  return place_scratch(builder);
}

MirageStatus mirage_program_create(MirageModule *module, const MirageUGraph *graph, const MirageDiag *diag,
                                   MirageProgram **out_program) {
  *out_program = NULL;
  MirageProgram *program = calloc(1, sizeof *program);
  if (!program)
    return no_memory(diag);
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
  mirage_device_free(program->device, program->scratch);
  mirage_arena_deinit(&program->arena);
  free(program);
}

// ----------------------------------------------------------------------------------------------------------- launching

static uint64_t address_of(const MirageProgram *program, const Source *source, const uint64_t *inputs,
                           const uint64_t *outputs) {
  switch (source->kind) {
  case FROM_INPUT:
    return inputs[source->index];
  case FROM_OUTPUT:
    return outputs[source->index];
  default:
    return program->scratch + (uint64_t)source->offset;
  }
}

static MirageStatus check_alignment(const char *what, uint32_t count, const uint64_t *pointers,
                                    const MirageDiag *diag) {
  for (uint32_t i = 0; i < count; ++i)
    if (pointers[i] == 0 || pointers[i] % POINTER_ALIGNMENT != 0)
      return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                              "program: %s %u at address 0x%llx: tensors start on %d bytes", what, i,
                              (unsigned long long)pointers[i], POINTER_ALIGNMENT);
  return MIRAGE_OK;
}

static MirageStatus enqueue(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs, CuStream stream,
                            const MirageDiag *diag) {
  uint64_t pointers[MIRAGE_MAX_KERNEL_POINTERS];
  void *parameters[MIRAGE_MAX_KERNEL_POINTERS];
  for (uint32_t k = 0; k < program->num_kernels; ++k) {
    const ProgramKernel *kernel = &program->kernels[k];
    for (uint32_t i = 0; i < kernel->num_pointers; ++i) {
      pointers[i] = address_of(program, &kernel->sources[i], inputs, outputs);
      parameters[i] = &pointers[i];
    }
    CuResult result = mirage__launch_enqueue(program->device, &kernel->ready, parameters, stream);
    if (result != CU_SUCCESS)
      return mirage__cuda_check(diag, result, "launch: %s failed to start", kernel->name);
  }
  for (uint32_t i = 0; i < program->num_copies; ++i) {
    const OutputCopy *copy = &program->copies[i];
    uint64_t from = address_of(program, &copy->from, inputs, outputs);
    MIRAGE_TRY(
        mirage__cuda_check(diag, program->device->cuda.copy_on_device(outputs[copy->output], from, copy->bytes, stream),
                           "program: cannot copy to output %u", copy->output));
  }
  return MIRAGE_OK;
}

MirageStatus mirage_program_launch(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                   void *stream, const MirageDiag *diag) {
  MirageDevice *device = program->device;
  MIRAGE_TRY(check_alignment("input", program->num_inputs, inputs, diag));
  MIRAGE_TRY(check_alignment("output", program->num_outputs, outputs, diag));
  MIRAGE_TRY(mirage__device_enter(device, diag));
  MirageStatus status = enqueue(program, inputs, outputs, stream ? (CuStream)stream : device->stream, diag);
  mirage__device_leave(device);
  return status;
}
