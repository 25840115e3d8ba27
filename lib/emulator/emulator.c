// emulator.c - all kernels of a graph on the emulated GPU, one after the other.
//
// Call order:  create (copy, canonicalize, plan, generate, compile)  ->  run*  ->  destroy.
// Memory:      each kernel-level value has its own buffer; results start as NaN, and must have been written entirely
//              when their kernel ends. Each kernel has a workspace of its own, zero before the first run and as the last
//              one left it from then on, as the runtime has it.
#include "mirage/emulator.h"

#include "codegen/starts.h"
#include "machine.h"
#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "mirage/layout.h"
#include <stdlib.h>
#include <string.h>

typedef struct Kernel {
  MirageNode node;
  void (*entry)(const uint64_t *pointers);
  uint8_t *workspace; // or NULL
} Kernel;

struct MirageEmulation {
  MirageUGraph *graph; // canonical, planned, with launches
  const MirageTarget *target;
  Jit *jit;
  Operator *operators; // by node id
  uint32_t num_kernels;
  Kernel *kernels;
};

// ---------------------------------------------------------------------------------------------------------------- work

static double elements_of(const MirageUGraph *graph, uint32_t value) {
  return (double)mirage_type_elements(mirage_ugraph_type(graph, (MirageValue){value}));
}

// What an operator touches: its result, and the operand of one that has none (store) or a smaller one (reductions).
// Products of f16 and bf16 run on the matrix instruction, 2048 multiply-adds at a time.
static double work_of_node(const MirageUGraph *graph, const MirageNodeView *node) {
  enum { MATRIX_GAIN = 16 };
  double elements = 0;
  for (uint32_t i = 0; i < node->num_results; i++)
    elements += elements_of(graph, node->first_result.index + i);
  if (node->op == MIRAGE_OP_STORE || mirage_op_info(node->op)->kind == MIRAGE_KIND_REDUCE)
    elements += elements_of(graph, node->operands[0].index);
  if (mirage_op_info(node->op)->kind != MIRAGE_KIND_MATMUL)
    return elements;
  const MirageType *a = mirage_ugraph_type(graph, node->operands[0]);
  bool transposed = node->attrs && node->attrs->matmul.transpose_a;
  return elements * (1 + (double)a->shape[a->rank - (transposed ? 2 : 1)] / (a->dtype == MIRAGE_F32 ? 1 : MATRIX_GAIN));
}

static double work_of_region(const MirageUGraph *graph, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  double work = 0;
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    if (!node.region.index) {
      work += work_of_node(graph, &node);
      continue;
    }
    double times = 1;
    if (node.op == MIRAGE_OP_LOOP)
      times = (double)node.attrs->loop.range;
    else if (node.op == MIRAGE_OP_CUSTOM)
      for (int a = 0; a < 3; a++)
        times *= (double)node.attrs->custom.grid[a];
    work += times * work_of_region(graph, node.region);
  }
  return work;
}

double mirage_emulation_work(const MirageUGraph *graph) { return work_of_region(graph, mirage_ugraph_body(graph)); }

// ----------------------------------------------------------------------------------------------------------- creation

static MirageStatus no_memory(const MirageDiag *diag) {
  return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "emulator: out of memory");
}

static MirageStatus find_kernels(MirageEmulation *emulation, const MirageDiag *diag) {
  const MirageUGraph *graph = emulation->graph;
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  emulation->kernels = calloc(body.num_nodes + 1, sizeof *emulation->kernels);
  if (!emulation->kernels)
    return no_memory(diag);
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    if (node.op != MIRAGE_OP_CUSTOM)
      continue;
    Kernel *kernel = &emulation->kernels[emulation->num_kernels++];
    kernel->node = body.nodes[i];
    MIRAGE_TRY(mirage__jit_find(emulation->jit, node.attrs->custom.launch->kernel, diag, &kernel->entry));
    size_t bytes = (size_t)node.attrs->custom.launch->workspace_bytes;
    if (bytes > 0 && !(kernel->workspace = calloc(bytes, 1)))
      return no_memory(diag);
  }
  return MIRAGE_OK;
}

static MirageStatus list_operators(MirageEmulation *emulation, const MirageDiag *diag) {
  uint32_t count = mirage_ugraph_num_nodes(emulation->graph);
  emulation->operators = calloc(count + 1, sizeof *emulation->operators);
  if (!emulation->operators)
    return no_memory(diag);
  for (uint32_t i = 1; i <= count; i++) {
    MirageNodeView node = mirage_ugraph_node(emulation->graph, (MirageNode){i});
    emulation->operators[i] = (Operator){mirage_op_info(node.op)->mnemonic, node.loc};
  }
  return MIRAGE_OK;
}

static MirageStatus build(MirageEmulation *emulation, const MirageUGraph *graph, const MirageEmulationOptions *options,
                          const MirageDiag *diag) {
  MIRAGE_TRY(mirage_canonicalize(graph, emulation->target, diag, &emulation->graph));
  double work = mirage_emulation_work(emulation->graph);
  if (options && options->max_work > 0 && work > options->max_work)
    return mirage_diag_fail(diag, NULL, MIRAGE_LIMIT, "emulator: %.2g elements to work on, at most %.2g are allowed",
                            work, options->max_work);
  MIRAGE_TRY(mirage_layout_plan(emulation->graph, emulation->target, diag));
  MIRAGE_TRY(
      mirage__jit_create(emulation->graph, emulation->target, options ? options->fault : NULL, diag, &emulation->jit));
  MIRAGE_TRY(list_operators(emulation, diag));
  return find_kernels(emulation, diag);
}

MirageStatus mirage_emulation_create(const MirageUGraph *graph, const MirageTarget *target,
                                     const MirageEmulationOptions *options, const MirageDiag *diag,
                                     MirageEmulation **out_emulation) {
  *out_emulation = NULL;
  if (!graph || !target)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "emulator: graph and target are both needed");
  MirageEmulation *emulation = calloc(1, sizeof *emulation);
  if (!emulation)
    return no_memory(diag);
  emulation->target = target;
  MirageStatus status = build(emulation, graph, options, diag);
  if (status != MIRAGE_OK) {
    mirage_emulation_destroy(emulation);
    return status;
  }
  *out_emulation = emulation;
  return MIRAGE_OK;
}

void mirage_emulation_destroy(MirageEmulation *emulation) {
  if (!emulation)
    return;
  mirage__jit_destroy(emulation->jit);
  mirage_ugraph_destroy(emulation->graph);
  free(emulation->operators);
  for (uint32_t k = 0; k < emulation->num_kernels; k++)
    free(emulation->kernels[k].workspace);
  free(emulation->kernels);
  free(emulation);
}

// A kernel that broke a rule may have left anything.
static void clear_workspaces(MirageEmulation *emulation) {
  for (uint32_t k = 0; k < emulation->num_kernels; k++) {
    MirageNodeView node = mirage_ugraph_node(emulation->graph, emulation->kernels[k].node);
    if (emulation->kernels[k].workspace)
      memset(emulation->kernels[k].workspace, 0, (size_t)node.attrs->custom.launch->workspace_bytes);
  }
}

// ------------------------------------------------------------------------------------------------------------- running

typedef struct Run {
  const MirageEmulation *emulation;
  const MirageDiag *diag;
  MirageCopyTime copies;
  uint8_t **values; // by value id: inputs are the caller's, the others ours
  bool *produced;   // by value id: by a kernel, not an input
  MirageNode *kernels;
  KernelStart *starts; // of each
} Run;

static uint64_t value_bytes(const Run *run, uint32_t value) {
  return (uint64_t)mirage_type_bytes(mirage_ugraph_type(run->emulation->graph, (MirageValue){value}));
}

static MirageStatus add_result(Run *run, uint32_t value, Buffer *buffer) {
  uint64_t bytes = value_bytes(run, value);
  run->values[value] = malloc(bytes + 1);
  buffer->writer = calloc(bytes + 1, sizeof *buffer->writer);
  if (!run->values[value] || !buffer->writer)
    return no_memory(run->diag);
  memset(run->values[value], 0xff, bytes);
  run->produced[value] = true;
  buffer->data = run->values[value];
  buffer->bytes = bytes;
  return MIRAGE_OK;
}

// Operands, results, workspace: the kernel ABI of codegen.h.
static MirageStatus fill_buffers(Run *run, const MirageNodeView *node, Launch *launch, uint32_t index) {
  bool early = run->starts[index].early;
  Buffer *buffer = launch->buffers;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    uint32_t value = mirage_ugraph_storage(run->emulation->graph, node->operands[i]).index;
    *buffer++ =
        (Buffer){.data = run->values[value],
                 .bytes = value_bytes(run, value),
                 .kind = "operand",
                 .number = i,
                 .awaited = early && mirage__is_pending(run->emulation->graph, run->kernels, run->starts, index, i)};
  }
  for (uint32_t i = 0; i < node->num_results; i++) {
    *buffer = (Buffer){.kind = "result", .number = i, .writable = true, .awaited = early};
    MIRAGE_TRY(add_result(run, node->first_result.index + i, buffer++));
  }
  if (launch->num_buffers > node->num_operands + node->num_results)
    *buffer = (Buffer){.data = run->emulation->kernels[index].workspace,
                       .bytes = (uint64_t)node->attrs->custom.launch->workspace_bytes,
                       .kind = "workspace",
                       .writable = true,
                       .awaited = early};
  return MIRAGE_OK;
}

static MirageStatus run_kernel(Run *run, uint32_t index) {
  const MirageEmulation *emulation = run->emulation;
  MirageNodeView node = mirage_ugraph_node(emulation->graph, emulation->kernels[index].node);
  const MirageCustomAttrs *attrs = &node.attrs->custom;
  bool has_workspace = attrs->launch->workspace_bytes > 0;
  Launch launch = {.num_operators = mirage_ugraph_num_nodes(emulation->graph),
                   .operators = emulation->operators,
                   .name = attrs->launch->kernel,
                   .entry = emulation->kernels[index].entry,
                   .num_buffers = node.num_operands + node.num_results + has_workspace,
                   .num_maps = attrs->launch->num_maps,
                   .maps = attrs->launch->maps,
                   .threads = (uint32_t)attrs->launch->threads,
                   .shared_bytes = (uint32_t)attrs->launch->shared_bytes,
                   .together = has_workspace,
                   .copies = run->copies,
                   .diag = run->diag};
  mirage_custom_launch_grid(attrs, launch.grid);
  memcpy(launch.cluster, attrs->cluster, sizeof launch.cluster);
  launch.buffers = calloc(launch.num_buffers + 1, sizeof *launch.buffers);
  MirageStatus status = launch.buffers ? fill_buffers(run, &node, &launch, index) : no_memory(run->diag);
  if (status == MIRAGE_OK)
    status = mirage__machine_run(&launch);
  if (status == MIRAGE_OK)
    status = mirage__check_written(&launch, node.loc);
  for (uint32_t i = 0; launch.buffers && i < launch.num_buffers; i++)
    free(launch.buffers[i].writer);
  free(launch.buffers);
  return status;
}

static MirageStatus run_kernels(Run *run, const void *const *inputs, void *const *outputs) {
  const MirageUGraph *graph = run->emulation->graph;
  uint32_t kernels = run->emulation->num_kernels;
  run->kernels = calloc((size_t)kernels + 1, sizeof *run->kernels);
  run->starts = calloc((size_t)kernels + 1, sizeof *run->starts);
  if (!run->kernels || !run->starts)
    return no_memory(run->diag);
  for (uint32_t k = 0; k < kernels; k++) {
    MirageNodeView node = mirage_ugraph_node(graph, run->emulation->kernels[k].node);
    run->kernels[k] = run->emulation->kernels[k].node;
    run->starts[k].early = node.attrs->custom.launch->starts_early;
  }
  mirage__kernel_starts(graph, run->kernels, kernels, true, run->starts);
  uint32_t values = mirage_ugraph_num_values(graph) + 1;
  run->values = calloc(values, sizeof *run->values);
  run->produced = calloc(values, sizeof *run->produced);
  if (!run->values || !run->produced)
    return no_memory(run->diag);
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
    run->values[mirage_ugraph_get_input(graph, i).index] = (uint8_t *)inputs[i]; // read only: operands are not writable
  for (uint32_t k = 0; k < run->emulation->num_kernels; k++)
    MIRAGE_TRY(run_kernel(run, k));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++) {
    uint32_t value = mirage_ugraph_storage(graph, mirage_ugraph_get_output(graph, i)).index;
    memcpy(outputs[i], run->values[value], value_bytes(run, value));
  }
  return MIRAGE_OK;
}

MirageStatus mirage_emulation_run(MirageEmulation *emulation, MirageCopyTime copies, const void *const *inputs,
                                  void *const *outputs, const MirageDiag *diag) {
  Run run = {.emulation = emulation, .diag = diag, .copies = copies};
  MirageStatus status = run_kernels(&run, inputs, outputs);
  for (uint32_t i = 0; run.values && run.produced && i <= mirage_ugraph_num_values(emulation->graph); i++)
    if (run.produced[i] || !run.values[i])
      free(run.values[i]);
  free(run.values);
  free(run.produced);
  free(run.kernels);
  free(run.starts);
  if (status != MIRAGE_OK)
    clear_workspaces(emulation);
  return status;
}

MirageStatus mirage_emulate(const MirageUGraph *graph, const MirageTarget *target, const void *const *inputs,
                            void *const *outputs, const MirageEmulationOptions *options, const MirageDiag *diag) {
  MirageEmulation *emulation = NULL;
  MIRAGE_TRY(mirage_emulation_create(graph, target, options, diag, &emulation));
  MirageStatus status = mirage_emulation_run(emulation, MIRAGE_COPIES_LATE, inputs, outputs, diag);
  mirage_emulation_destroy(emulation);
  return status;
}
