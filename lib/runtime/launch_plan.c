// launch_plan.c - the kernels of a lowered graph in order, and where their pointers come from.
//
// One walk over the kernel region: each custom node becomes a launch whose pointers are named by where they come from:
// an input, an output, the workspace.
//
// Memory:   a value that the graph returns is written straight to the output; the other results live in one workspace,
//           planned by live ranges (plan.c). The kernels' own workspaces lie behind them, one after the other: what a launch
//           leaves there the next launch of that kernel finds. A reshape is no kernel: its result lies where its operand
//           does.
// Overlap:  a kernel that starts early (MirageLaunch) may do so before what is before it on the stream ends: another kernel of
//           the program or, of the first, whatever that is. It waits for that by itself.
#include "mirage/launch_plan.h"

#include "runtime_impl.h"

typedef enum { NOWHERE, INPUT, OUTPUT, BUFFER } PlaceKind;

// Where a value lives.
typedef struct Place {
  PlaceKind kind;
  uint32_t index; // of the input, output, or live buffer
} Place;

// What planning needs and launching does not.
typedef struct Builder {
  MirageLaunchPlan *plan;
  const MirageUGraph *graph;
  const MirageDiag *diag;
  Place *places; // by value id
  MirageLiveBuffer *buffers;
  uint32_t num_buffers;
  int64_t zeroed_bytes;
} Builder;

static const uint32_t ZEROED = UINT32_MAX; // in place of a buffer's number: `offset` bytes behind the buffers

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "program: out of memory");
}

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

static void place_output(Builder *builder, uint32_t index) {
  MirageLaunchPlan *plan = builder->plan;
  MirageValue value = mirage_ugraph_get_output(builder->graph, index);
  Place *place = place_of(builder, value);
  if (place->kind == NOWHERE) {
    *place = (Place){OUTPUT, index};
    return;
  }
  MirageOutputCopy *copy = &plan->copies[plan->num_copies++];
  copy->from =
      (MirageSource){.kind = place->kind == INPUT ? MIRAGE_FROM_INPUT : MIRAGE_FROM_OUTPUT, .index = place->index};
  copy->output = index;
  copy->bytes = (size_t)mirage_type_bytes(mirage_ugraph_type(builder->graph, value));
}

// Gives inputs and outputs their places.
static void place_arguments(Builder *builder) {
  MirageLaunchPlan *plan = builder->plan;
  plan->num_inputs = mirage_ugraph_num_inputs(builder->graph);
  plan->num_outputs = mirage_ugraph_num_outputs(builder->graph);
  for (uint32_t i = 0; i < plan->num_inputs; i++)
    builder->places[mirage_ugraph_get_input(builder->graph, i).index] = (Place){INPUT, i};
  for (uint32_t i = 0; i < plan->num_outputs; i++)
    place_output(builder, i);
}

// One more pointer of the kernel that is being collected.
static void add_source(Builder *builder, const Place *place) {
  MirageSource *source = &builder->plan->sources[builder->plan->num_sources++];
  source->kind = place->kind == INPUT    ? MIRAGE_FROM_INPUT
                 : place->kind == OUTPUT ? MIRAGE_FROM_OUTPUT
                                         : MIRAGE_FROM_WORKSPACE;
  source->index = place->index;
}

static void add_results(Builder *builder, uint32_t index, const MirageNodeView *node) {
  for (uint32_t i = 0; i < node->num_results; i++) {
    uint32_t value = node->first_result.index + i;
    Place *place = &builder->places[value];
    if (place->kind == NOWHERE) {
      int64_t bytes = mirage_type_bytes(mirage_ugraph_type(builder->graph, (MirageValue){value}));
      *place = (Place){BUFFER, builder->num_buffers};
      builder->buffers[builder->num_buffers++] = (MirageLiveBuffer){.bytes = bytes, .first = index, .last = index};
    }
    add_source(builder, place);
  }
}

// Operands, then results, then the workspace: the kernel ABI of codegen.h.
static void add_pointers(Builder *builder, uint32_t index, const MirageNodeView *node) {
  MiragePlannedKernel *kernel = &builder->plan->kernels[index];
  int64_t zeroed_bytes = node->attrs->custom.launch->workspace_bytes;
  kernel->first_source = builder->plan->num_sources;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    Place *place = place_of(builder, node->operands[i]);
    if (place->kind == BUFFER)
      builder->buffers[place->index].last = index;
    add_source(builder, place);
  }
  add_results(builder, index, node);
  if (zeroed_bytes > 0) {
    add_source(builder, &(Place){BUFFER, ZEROED});
    builder->plan->sources[builder->plan->num_sources - 1].offset = builder->zeroed_bytes;
    builder->zeroed_bytes +=
        (zeroed_bytes + MIRAGE_WORKSPACE_ALIGNMENT - 1) / MIRAGE_WORKSPACE_ALIGNMENT * MIRAGE_WORKSPACE_ALIGNMENT;
  }
  kernel->num_pointers = builder->plan->num_sources - kernel->first_source;
}

static MirageStatus describe_kernel(Builder *builder, uint32_t index, const MirageNodeView *node) {
  MirageLaunchPlan *plan = builder->plan;
  MiragePlannedKernel *kernel = &plan->kernels[index];
  const MirageCustomAttrs *attrs = &node->attrs->custom;
  kernel->name = mirage_arena_strdup(&plan->arena, attrs->launch->kernel);
  kernel->loc = node->loc;
  mirage_custom_launch_grid(attrs, kernel->grid);
  for (int i = 0; i < 3; i++)
    kernel->cluster[i] = attrs->cluster[i];
  kernel->threads = attrs->launch->threads;
  kernel->shared_bytes = attrs->launch->shared_bytes;
  kernel->blocks_meet = attrs->launch->workspace_bytes > 0; // what a workspace is for
  kernel->dependent_launch = attrs->launch->starts_early;
  kernel->in_pairs = attrs->launch->in_pairs;
  kernel->first_map = plan->num_maps;
  kernel->num_maps = attrs->launch->num_maps;
  for (uint32_t i = 0; i < kernel->num_maps; i++)
    plan->maps[plan->num_maps++] = attrs->launch->maps[i];
  return kernel->name ? MIRAGE_OK : no_memory(builder->diag);
}

static MirageStatus collect_kernels(Builder *builder) {
  MirageRegionView body = mirage_ugraph_region(builder->graph, mirage_ugraph_body(builder->graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(builder->graph, body.nodes[i]);
    if (!is_kernel(node.op))
      continue;
    MIRAGE_TRY(check_node(builder, &node));
    uint32_t index = builder->plan->num_kernels++;
    add_pointers(builder, index, &node);
    MIRAGE_TRY(describe_kernel(builder, index, &node));
  }
  return MIRAGE_OK;
}

// Turns buffer numbers into offsets, the zeroed region behind them.
static MirageStatus place_buffers(Builder *builder) {
  MirageLaunchPlan *plan = builder->plan;
  int64_t bytes = mirage__plan_buffers(builder->num_buffers, builder->buffers, MIRAGE_WORKSPACE_ALIGNMENT);
  if (bytes < 0)
    return no_memory(builder->diag);
  for (uint32_t i = 0; i < plan->num_sources; i++) {
    MirageSource *source = &plan->sources[i];
    if (source->kind == MIRAGE_FROM_WORKSPACE)
      source->offset = source->index == ZEROED ? bytes + source->offset : builder->buffers[source->index].offset;
  }
  plan->zeroed_bytes = (size_t)builder->zeroed_bytes;
  plan->workspace_bytes = (size_t)bytes + plan->zeroed_bytes;
  return MIRAGE_OK;
}

// Upper bounds of the pointers and tensor maps of all kernels together.
static void count_parameters(const MirageUGraph *graph, uint32_t *out_pointers, uint32_t *out_maps) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  *out_pointers = *out_maps = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    *out_pointers += node.num_operands + node.num_results + 1;
    if (node.op == MIRAGE_OP_CUSTOM && node.attrs->custom.launch)
      *out_maps += node.attrs->custom.launch->num_maps;
  }
}

static MirageStatus build(Builder *builder, MirageArena *temporary) {
  MirageLaunchPlan *plan = builder->plan;
  uint32_t num_values = mirage_ugraph_num_values(builder->graph), num_pointers, num_maps;
  count_parameters(builder->graph, &num_pointers, &num_maps);
  builder->places = mirage_arena_alloc_array(temporary, num_values + 1, sizeof *builder->places);
  builder->buffers = mirage_arena_alloc_array(temporary, num_values + 1, sizeof *builder->buffers);
  plan->kernels =
      mirage_arena_alloc_array(&plan->arena, mirage_ugraph_num_nodes(builder->graph) + 1, sizeof *plan->kernels);
  plan->sources = mirage_arena_alloc_array(&plan->arena, num_pointers + 1, sizeof *plan->sources);
  plan->maps = mirage_arena_alloc_array(&plan->arena, num_maps + 1, sizeof *plan->maps);
  plan->copies =
      mirage_arena_alloc_array(&plan->arena, mirage_ugraph_num_outputs(builder->graph) + 1, sizeof *plan->copies);
  if (!builder->places || !builder->buffers || !plan->kernels || !plan->sources || !plan->maps || !plan->copies)
    return no_memory(builder->diag);
  place_arguments(builder);
  MIRAGE_TRY(collect_kernels(builder));
  return place_buffers(builder);
}

MirageStatus mirage_launch_plan_init(MirageLaunchPlan *plan, const MirageUGraph *graph, const MirageDiag *diag) {
  MirageArena temporary;
  *plan = (MirageLaunchPlan){0};
  mirage_arena_init(&plan->arena, NULL);
  mirage_arena_init(&temporary, NULL);
  Builder builder = {.plan = plan, .graph = graph, .diag = diag};
  MirageStatus status = build(&builder, &temporary);
  mirage_arena_deinit(&temporary);
  return status;
}

void mirage_launch_plan_deinit(MirageLaunchPlan *plan) {
  mirage_arena_deinit(&plan->arena);
  *plan = (MirageLaunchPlan){0};
}
