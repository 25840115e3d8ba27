// run_report.c - what a run found out, for people.
#include "run.h"

#include "mirage/canonical.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const MirageType *output_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, index));
}

const char *run_graph_name(const MirageUGraph *graph) { return mirage_ugraph_get_meta(graph)->name; }

double run_tolerance(const RunOptions *options, const RunExecution *execution, const MirageType *type,
                     uint32_t output) {
  if (options->tolerance > 0)
    return options->tolerance;
  double least = type->dtype == MIRAGE_BF16 ? 8e-3 : 1e-3;
  double rounding = execution->rounding ? execution->rounding[output] : 0;
  return isfinite(rounding) ? fmax(least, 1.5 * rounding)
                            : least; // a program that overflows in its own types allows nothing
}

bool run_compared(const RunOptions *options, const RunExecution *execution, uint32_t output) {
  return execution->compared[output] > 0 && (execution->non_finite[output] == 0 || options->skip_non_finite);
}

bool run_passed(const RunModule *module, const RunOptions *options, const RunExecution *execution,
                const RunResult *result) {
  if (!result->done || !result->repeatable)
    return false;
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); i++)
    if (!run_compared(options, execution, i) ||
        !(result->relative[i] <= run_tolerance(options, execution, output_type(module, i), i))) // not <=: a NaN fails
      return false;
  return execution->num_outputs > 0;
}

MirageCost run_own_cost(const RunModule *module) {
  MirageCost cost = {0};
  MirageUGraph *own = NULL;
  if (!module->target || mirage_canonicalize(module->program, module->target, NULL, &own) != MIRAGE_OK)
    return cost;
  if (mirage_cost(own, module->target, NULL, &cost) != MIRAGE_OK)
    cost = (MirageCost){0};
  mirage_ugraph_destroy(own);
  return cost;
}

uint32_t run_count_kernels(const MirageUGraph *graph) {
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  uint32_t count = 0;
  for (uint32_t i = 0; i < body.num_nodes; i++)
    count += mirage_ugraph_node(graph, body.nodes[i]).op == MIRAGE_OP_CUSTOM;
  return count;
}

// -------------------------------------------------------------------------------------------------------------- people

static void print_kernels(const RunModule *module) {
  MirageRegionView body = mirage_ugraph_region(module->chosen, mirage_ugraph_body(module->chosen));
  for (uint32_t i = 0, number = 0; i + 1 < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(module->chosen, body.nodes[i]);
    if (node.op != MIRAGE_OP_CUSTOM || !node.attrs->custom.launch)
      continue;
    const MirageCustomAttrs *custom = &node.attrs->custom;
    printf("  kernel %-4u %s: grid %lldx%lldx%lld, %d threads, %d bytes of shared memory", number++,
           custom->launch->kernel, (long long)custom->grid[0], (long long)custom->grid[1], (long long)custom->grid[2],
           custom->launch->threads, custom->launch->shared_bytes);
    if (custom->cluster[0] * custom->cluster[1] * custom->cluster[2] > 1)
      printf(", cluster %lldx%lldx%lld", (long long)custom->cluster[0], (long long)custom->cluster[1],
             (long long)custom->cluster[2]);
    if (custom->launch->workspace_bytes > 0)
      printf(", %lld bytes of workspace", (long long)custom->launch->workspace_bytes);
    if (custom->launch->starts_early)
      printf(", starts early");
    if (custom->launch->in_pairs)
      printf(", in pairs");
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
  if (proof->shrunken)
    printf(", by transfer from a smaller instance: %u ax%s, %u point%s\n", proof->axes, proof->axes == 1 ? "is" : "es",
           proof->points, proof->points == 1 ? "" : "s");
  else
    printf(", at full size\n");
  if (proof->pieces)
    printf("              in %u piece%s, one after the other; the figures are the worst one's\n", proof->pieces,
           proof->pieces == 1 ? "" : "s");
  if (proof->free_exp)
    printf("              with free exponentials: of exp only exp(x - m) = exp(x) / exp(m) is used, m a maximum\n");
}

// Nothing where the module does not say: a search that leaves things out by judgement has no such attribute.
static void print_search(const RunModule *module) {
  if (module->exhausted_ops)
    printf("search        exhausted: every block graph of up to %u operators was met\n", module->exhausted_ops);
}

static void print_one_cost(const char *title, const MirageCost *cost) {
  if (cost->present)
    printf("%s%.2f us, %.3g MB, %.3g GFLOP, %u kernel%s", title, cost->time_us, cost->bytes / 1e6, cost->flops / 1e9,
           cost->kernels, cost->kernels == 1 ? "" : "s");
  else
    printf("%sunknown", title);
}

static void print_cost(const RunModule *module) {
  MirageCost chosen = mirage_ugraph_get_meta(module->chosen)->cost, own = run_own_cost(module);
  printf("predicted     ");
  print_one_cost("", &chosen);
  print_one_cost("\nown lowering  ", &own);
  if (chosen.present && own.present && chosen.time_us > 0)
    printf(" (%.2f times as long)", own.time_us / chosen.time_us);
  printf("\n");
}

static void print_inputs(const RunModule *module, const RunOptions *options, const RunInputs *inputs) {
  char text[64];
  for (uint32_t i = 0; i < inputs->count; i++) {
    const MirageType *type = mirage_ugraph_type(module->program, mirage_ugraph_get_input(module->program, i));
    printf("input %-4u    tensor<%s>: ", i, mirage_type_format(type, text, sizeof text));
    if (inputs->paths[i])
      printf("%s\n", inputs->paths[i]);
    else if (mirage_dtype_family(type->dtype) == MIRAGE_FAMILY_INDEX)
      printf("all %g that the program counts\n", run_counted(module->program));
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
                         const RunExecution *execution, const RunResult *result) {
  char text[64];
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); i++) {
    const MirageType *type = output_type(module, i);
    double tolerance = run_tolerance(options, execution, type, i);
    const char *verdict = !run_compared(options, execution, i) ? "NOT COMPARED"
                          : result->relative[i] <= tolerance   ? "ok"
                                                               : "EXCEEDED";
    printf(
        "output %-4u   tensor<%s>%s: error %.3g (Frobenius-relative, %s reference), largest %.3g, %zu of %lld elements "
        "compared; tolerance %.3g: %s\n",
        i, mirage_type_format(type, text, sizeof text), title, result->relative[i],
        options->references.num ? "given" : "float64", result->max_abs[i], execution->compared[i],
        (long long)mirage_type_elements(type), tolerance, verdict);
  }
  if (!result->repeatable && result->place == RUN_ON_GPU)
    printf("repeat       %s run %u differs from the first, first at element %zu of output %u: FAILED\n", title,
           result->different_run, result->different_element, result->different_output);
  else if (!result->repeatable)
    printf("output        %sdiffers from one run to the next: FAILED\n", title);
  else if (result->runs > 2)
    printf("repeat       %s %u runs gave the same bits\n", title, result->runs);
  if (result->timed)
    print_time(title, result);
  else if (result->place == RUN_ON_CPU)
    printf("time          %.0f ms to evaluate on the CPU%s (no measure of the kernel)\n", result->wall_ms, title);
  else if (result->place == RUN_ON_EMULATOR)
    printf("time          %.0f ms to compile and emulate twice%s (no measure of the kernel)\n", result->wall_ms, title);
}

// One line of the table: what it is, its times, and how often the limit they are.
static void print_row(const char *title, const RunResult *result, const RunLimits *limits) {
  const MirageTiming *timing = &result->timing;
  printf("  %-16s %9.2f %8.1f %% %9.2f %8.1f %%", title, timing->cold_us, 100 * timing->cold_spread, timing->warm_us,
         100 * timing->warm_spread);
  if (limits->us > 0)
    printf(" %11.2f", timing->cold_us / limits->us);
  printf("\n");
}

static void print_benchmark(const RunModule *module, const RunExecution *execution) {
  const RunLimits *limits = &execution->limits;
  const MirageLaunchOverhead *overhead = &execution->chosen.overhead;
  printf("benchmark          cold us     spread   warm us     spread  cold / limit\n");
  print_row(run_graph_name(module->chosen), &execution->chosen, limits);
  if (execution->baseline.timed)
    print_row("own lowering", &execution->baseline, limits);
  if (limits->source)
    printf("  %-16s %9.2f (reading %.4g MB; %s)\n", "limit: bytes", limits->stream_us, limits->bytes / 1e6,
           limits->source);
  if (limits->flops_us > 0)
    printf("  %-16s %9.2f (%.4g GFLOP of products at %.4g TFLOP/s, the %s row)\n", "limit: flops", limits->flops_us,
           limits->flops / 1e9, module->target->matmul_flops_per_us / 1e6, module->target->name);
  if (overhead->calls)
    printf("launch        %.3f us of CPU a call, %.3f us of them in the driver's %u bare launch%s: %.3f us ours\n",
           overhead->launch_us, overhead->bare_us, overhead->kernels, overhead->kernels == 1 ? "" : "es",
           overhead->launch_us - overhead->bare_us);
}

// How the reference was made, and where the inputs are to blame.
static void print_reference(const RunModule *module, const RunOptions *options, const RunExecution *execution) {
  if (execution->parts > 1)
    printf("reference     float64, evaluated in %u parts, so that it fits into memory; the values are the same\n",
           execution->parts);
  for (uint32_t i = 0; i < execution->num_outputs; i++)
    if (execution->non_finite[i])
      printf("reference     output %u is NaN or infinite in %s at %zu of %lld elements: %s\n", i,
             options->references.num ? "the file given" : "float64 itself", execution->non_finite[i],
             (long long)mirage_type_elements(output_type(module, i)),
             options->skip_non_finite
                 ? "left out of the comparison (--skip-non-finite)"
                 : "other inputs are wanted (--scale, --input), or --skip-non-finite, which leaves these out");
}

void run_report_text(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                     const RunExecution *execution) {
  uint32_t kernels = run_count_kernels(module->chosen);
  printf("program       @%s of %s\n", run_graph_name(module->program), options->module_path);
  printf("µGraph        @%s: %u kernel%s\n", run_graph_name(module->chosen), kernels, kernels == 1 ? "" : "s");
  print_kernels(module);
  print_proof(&mirage_ugraph_get_meta(module->chosen)->proof);
  print_search(module);
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
  print_reference(module, options, execution);
  print_result("", module, options, execution, &execution->chosen);
  if (execution->baseline.done)
    print_result(" by the program's own lowering", module, options, execution, &execution->baseline);
  for (uint32_t i = 0; execution->rounding && i < execution->num_outputs; i++)
    printf("rounding      output %u: error %.3g by the program, operator by operator in its own types\n", i,
           execution->rounding[i]);
  if (execution->chosen.timed_cold)
    print_benchmark(module, execution);
}
