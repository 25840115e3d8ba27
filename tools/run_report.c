// run_report.c - what a run found out: a page for people, one JSON object for machines.
#include "mirage/codegen.h"
#include "run.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const MirageType *output_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, index));
}

static const char *graph_name(const MirageUGraph *graph) { return mirage_ugraph_get_meta(graph)->name; }

double run_tolerance(const RunOptions *options, const MirageType *type) {
  if (options->tolerance > 0)
    return options->tolerance;
  return type->dtype == MIRAGE_BF16 ? 8e-3 : 1e-3;
}

bool run_passed(const RunModule *module, const RunOptions *options, const RunResult *result) {
  if (!result->done || !result->repeatable)
    return false;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); ++i)
    if (!(result->relative[i] <= run_tolerance(options, output_type(module, i)))) // not <=: a NaN fails
      return false;
  return true;
}

// The program's predicted cost by its own lowering, one kernel an operator, as mirage-select has it. Nothing where
// there is no target, or no such lowering.
static MirageCost own_cost(const RunModule *module) {
  MirageCost cost = {0};
  MirageUGraph *own = NULL;
  if (!module->target || mirage_codegen_canonicalize(module->program, module->target, NULL, &own) != MIRAGE_OK)
    return cost;
  if (mirage_cost(own, module->target, NULL, &cost) != MIRAGE_OK)
    cost = (MirageCost){0};
  mirage_ugraph_destroy(own);
  return cost;
}

static uint32_t count_kernels(const MirageUGraph *graph) {
  return mirage_ugraph_region(graph, mirage_ugraph_body(graph)).num_nodes - 1; // all but the return
}

// -------------------------------------------------------------------------------------------------------------- people

static void print_kernels(const RunModule *module) {
  MirageRegionView body = mirage_ugraph_region(module->chosen, mirage_ugraph_body(module->chosen));
  for (uint32_t i = 0; i + 1 < body.num_nodes; ++i) {
    MirageNodeView node = mirage_ugraph_node(module->chosen, body.nodes[i]);
    if (node.op != MIRAGE_OP_CUSTOM || !node.attrs->custom.launch)
      continue;
    const MirageCustomAttrs *custom = &node.attrs->custom;
    printf("  kernel %-4u %s: grid %lldx%lldx%lld, %d threads, %d bytes of shared memory", i, custom->launch->kernel,
           (long long)custom->grid[0], (long long)custom->grid[1], (long long)custom->grid[2], custom->launch->threads,
           custom->launch->shared_bytes);
    if (custom->cluster[0] * custom->cluster[1] * custom->cluster[2] > 1)
      printf(", cluster %lldx%lldx%lld", (long long)custom->cluster[0], (long long)custom->cluster[1],
             (long long)custom->cluster[2]);
    if (custom->launch->workspace_bytes > 0)
      printf(", %lld bytes of workspace", (long long)custom->launch->workspace_bytes);
    printf("\n");
  }
}

static void print_proof(const MirageProof *proof) {
  if (!proof->present) {
    printf("proof         none: this is the program's own lowering, or the module was edited\n");
    return;
  }
  printf("proof         equivalent to the program; a wrong µGraph would pass with probability <= 2^%.1f\n",
         proof->log2_bound);
  printf("              %u trial%s, seed %llu, in Z_p with a fresh random prime p of %u bits a trial", proof->trials,
         proof->trials == 1 ? "" : "s", (unsigned long long)proof->seed, proof->p_bits);
  if (proof->q)
    printf(" and Z_q, q = %llu, for exponents", (unsigned long long)proof->q);
  printf("%s\n", proof->shrunken ? ", on a shrunken instance" : ", at full size");
}

static void print_one_cost(const char *title, const MirageCost *cost) {
  if (cost->present)
    printf("%s%.2f us, %.3g MB, %.3g GFLOP, %u kernel%s", title, cost->time_us, cost->bytes / 1e6, cost->flops / 1e9,
           cost->kernels, cost->kernels == 1 ? "" : "s");
  else
    printf("%sunknown", title);
}

static void print_cost(const RunModule *module) {
  MirageCost chosen = mirage_ugraph_get_meta(module->chosen)->cost, own = own_cost(module);
  printf("predicted     ");
  print_one_cost("", &chosen);
  print_one_cost("\nown lowering  ", &own);
  if (chosen.present && own.present && chosen.time_us > 0)
    printf(" (%.2f times as long)", own.time_us / chosen.time_us);
  printf("\n");
}

static void print_inputs(const RunModule *module, const RunOptions *options, const RunInputs *inputs) {
  char text[64];
  for (uint32_t i = 0; i < inputs->count; ++i) {
    const MirageType *type = mirage_ugraph_type(module->program, mirage_ugraph_get_input(module->program, i));
    printf("input %-4u    tensor<%s>: ", i, mirage_type_format(type, text, sizeof text));
    if (inputs->paths[i])
      printf("%s\n", inputs->paths[i]);
    else
      printf("normal(0, 1) x %.4g, seed %llu\n", inputs->scales[i], (unsigned long long)options->seed);
  }
}

static void print_time(const char *title, const RunResult *result) {
  const MirageTiming *timing = &result->timing;
  printf("time          ");
  if (result->timed_cold)
    printf("%.2f us cold (spread %.1f %%), ", timing->cold_us, 100 * timing->cold_spread);
  printf("%.2f us warm (spread %.1f %%)%s, median of %u CUDA-graph replays of %u calls\n", timing->warm_us,
         100 * timing->warm_spread, title, timing->replays, timing->calls_per_replay);
}

static void print_result(const char *title, const RunModule *module, const RunOptions *options,
                         const RunResult *result) {
  char text[64];
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); ++i) {
    const MirageType *type = output_type(module, i);
    double tolerance = run_tolerance(options, type);
    printf("output %-4u   tensor<%s>%s: error %.3g (Frobenius-relative, float64 reference), largest %.3g; tolerance "
           "%.3g: %s\n",
           i, mirage_type_format(type, text, sizeof text), title, result->relative[i], result->max_abs[i], tolerance,
           result->relative[i] <= tolerance ? "ok" : "EXCEEDED");
  }
  if (!result->repeatable)
    printf("output        %sdiffers from one run to the next: FAILED\n", title);
  if (result->timed)
    print_time(title, result);
  else if (result->place == RUN_ON_CPU)
    printf("time          %.0f ms to evaluate on the CPU%s (no measure of the kernel)\n", result->wall_ms, title);
  else if (result->place == RUN_ON_EMULATOR)
    printf("time          %.0f ms to compile and emulate twice%s (no measure of the kernel)\n", result->wall_ms, title);
}

void run_report_text(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                     const RunExecution *execution) {
  uint32_t kernels = count_kernels(module->chosen);
  printf("program       @%s of %s\n", graph_name(module->program), options->module_path);
  printf("µGraph        @%s: %u kernel%s\n", graph_name(module->chosen), kernels, kernels == 1 ? "" : "s");
  print_kernels(module);
  print_proof(&mirage_ugraph_get_meta(module->chosen)->proof);
  print_cost(module);
  printf("ptx           %zu bytes for %s%s%s\n", strlen(module->ptx), module->chip, options->emit_ptx ? " in " : "",
         options->emit_ptx ? options->emit_ptx : "");
  print_inputs(module, options, inputs);
  if (execution->has_device)
    printf("ran on        %s (compute %d.%d, driver %d.%d)\n", execution->device.name, execution->device.compute_major,
           execution->device.compute_minor, execution->device.driver_version / 1000,
           execution->device.driver_version % 1000 / 10);
  else if (execution->chosen.place == RUN_ON_EMULATOR)
    printf("ran on        emulator; no GPU: its generated kernels, thread by thread on the CPU (%s)\n",
           execution->reason);
  else
    printf("ran on        CPU; no GPU: evaluated the chosen µGraph on the CPU (%s)\n", execution->reason);
  print_result("", module, options, &execution->chosen);
  if (execution->baseline.done)
    print_result(" by the program's own lowering", module, options, &execution->baseline);
}

// ------------------------------------------------------------------------------------------------------------ machines

// JSON has no infinity; a null error is one that is not a number.
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *json_cost(const MirageCost *cost) {
  if (!cost->present)
    return json_null();
  return json_pack("{s:f, s:f, s:f, s:I}", "time_us", cost->time_us, "bytes", cost->bytes, "flops", cost->flops,
                   "kernels", (json_int_t)cost->kernels);
}

static json_t *json_proof(const MirageProof *proof) {
  if (!proof->present)
    return json_null();
  return json_pack("{s:f, s:I, s:I, s:I, s:I, s:b}", "log2_bound", proof->log2_bound, "trials",
                   (json_int_t)proof->trials, "p_bits", (json_int_t)proof->p_bits, "q", (json_int_t)proof->q, "seed",
                   (json_int_t)proof->seed, "shrunken", (int)proof->shrunken);
}

static json_t *json_inputs(const RunModule *module, const RunInputs *inputs) {
  json_t *list = json_array();
  char text[64];
  for (uint32_t i = 0; i < inputs->count; ++i) {
    const MirageType *type = mirage_ugraph_type(module->program, mirage_ugraph_get_input(module->program, i));
    mirage_type_format(type, text, sizeof text);
    json_array_append_new(list, inputs->paths[i] ? json_pack("{s:s, s:s}", "type", text, "file", inputs->paths[i])
                                                 : json_pack("{s:s, s:f}", "type", text, "scale", inputs->scales[i]));
  }
  return list;
}

static json_t *json_time(const RunResult *result) {
  const MirageTiming *timing = &result->timing;
  return json_pack("{s:o, s:f, s:o, s:f, s:I, s:I}", "cold_us",
                   result->timed_cold ? json_real(timing->cold_us) : json_null(), "warm_us", timing->warm_us,
                   "cold_spread", result->timed_cold ? json_real(timing->cold_spread) : json_null(), "warm_spread",
                   timing->warm_spread, "replays", (json_int_t)timing->replays, "calls_per_replay",
                   (json_int_t)timing->calls_per_replay);
}

static json_t *json_result(const RunModule *module, const RunOptions *options, const RunResult *result) {
  if (!result->done)
    return json_null();
  json_t *object = json_object(), *outputs = json_array();
  char text[64];
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); ++i) {
    const MirageType *type = output_type(module, i);
    json_array_append_new(outputs,
                          json_pack("{s:s, s:o, s:o, s:f}", "type", mirage_type_format(type, text, sizeof text),
                                    "relative_error", number(result->relative[i]), "max_abs_error",
                                    number(result->max_abs[i]), "tolerance", run_tolerance(options, type)));
  }
  json_object_set_new(object, "passed", json_boolean(run_passed(module, options, result)));
  json_object_set_new(object, "repeatable", json_boolean(result->repeatable));
  json_object_set_new(object, "outputs", outputs);
  if (result->timed)
    json_object_set_new(object, "time", json_time(result));
  if (result->place == RUN_ON_CPU)
    json_object_set_new(object, "cpu_ms", json_real(result->wall_ms));
  if (result->place == RUN_ON_EMULATOR)
    json_object_set_new(object, "emulator_ms", json_real(result->wall_ms));
  return object;
}

static json_t *json_device(const RunExecution *execution) {
  const MirageDeviceInfo *info = &execution->device;
  if (!execution->has_device)
    return json_null();
  return json_pack("{s:s, s:i, s:i, s:i, s:i}", "name", info->name, "compute_major", info->compute_major,
                   "compute_minor", info->compute_minor, "num_sms", info->num_sms, "driver_version",
                   info->driver_version);
}

static const char *place_name(RunPlace place) {
  return place == RUN_ON_GPU ? "gpu" : place == RUN_ON_EMULATOR ? "emulator" : "cpu";
}

MirageStatus run_report_json(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                             const RunExecution *execution, const MirageDiag *diag) {
  MirageCost own = own_cost(module);
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(module->chosen);
  json_t *root = json_object();
  json_object_set_new(root, "module", json_string(options->module_path));
  json_object_set_new(root, "program", json_string(graph_name(module->program)));
  json_object_set_new(root, "graph", json_string(meta->name));
  json_object_set_new(root, "kernels", json_integer(count_kernels(module->chosen)));
  json_object_set_new(root, "proof", json_proof(&meta->proof));
  json_object_set_new(root, "predicted", json_cost(&meta->cost));
  json_object_set_new(root, "predicted_own_lowering", json_cost(&own));
  json_object_set_new(root, "chip", json_string(module->chip));
  json_object_set_new(root, "ptx_bytes", json_integer((json_int_t)strlen(module->ptx)));
  json_object_set_new(root, "seed", json_integer((json_int_t)options->seed));
  json_object_set_new(root, "inputs", json_inputs(module, inputs));
  json_object_set_new(root, "backend", json_string(place_name(execution->chosen.place)));
  json_object_set_new(root, "device", json_device(execution));
  if (!execution->has_device)
    json_object_set_new(root, "no_gpu", json_string(execution->reason));
  json_object_set_new(root, "result", json_result(module, options, &execution->chosen));
  json_object_set_new(root, "own_lowering", json_result(module, options, &execution->baseline));
  json_object_set_new(root, "passed", json_boolean(run_passed(module, options, &execution->chosen)));
  int written = json_dumpf(root, stdout, JSON_INDENT(2));
  json_decref(root);
  if (written != 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "cannot write the report to standard output");
  putchar('\n');
  return MIRAGE_OK;
}
