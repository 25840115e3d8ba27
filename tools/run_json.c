// run_json.c - what a run found out, for machines: one JSON object, or two lines of CSV.
#include "run.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const MirageType *output_type(const RunModule *module, uint32_t index) {
  return mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, index));
}

// ---------------------------------------------------------------------------------------------------------------- JSON

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
  return json_pack("{s:f, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:b}", "log2_bound", proof->log2_bound, "trials",
                   (json_int_t)proof->trials, "p_bits", (json_int_t)proof->p_bits, "q", (json_int_t)proof->q, "seed",
                   (json_int_t)proof->seed, "shrunken", (int)proof->shrunken, "axes", (json_int_t)proof->axes, "points",
                   (json_int_t)proof->points, "pieces", (json_int_t)proof->pieces, "free_exp", (int)proof->free_exp);
}

static json_t *json_inputs(const RunModule *module, const RunInputs *inputs) {
  json_t *list = json_array();
  char text[64];
  for (uint32_t i = 0; i < inputs->count; i++) {
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

static json_t *json_overhead(const MirageLaunchOverhead *overhead) {
  if (!overhead->calls)
    return json_null();
  return json_pack("{s:f, s:f, s:I}", "launch_us", overhead->launch_us, "bare_us", overhead->bare_us, "kernels",
                   (json_int_t)overhead->kernels);
}

static json_t *json_limits(const RunLimits *limits) {
  if (!limits->source)
    return json_null();
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:s}", "us", limits->us, "stream_us", limits->stream_us, "flops_us",
                   limits->flops_us, "bytes", limits->bytes, "flops", limits->flops, "source", limits->source);
}

static json_t *json_repeat(const RunResult *result) {
  json_t *object = json_pack("{s:I, s:b}", "runs", (json_int_t)result->runs, "identical", (int)result->repeatable);
  if (!result->repeatable)
    json_object_set_new(object, "first_difference",
                        json_pack("{s:I, s:I, s:I}", "run", (json_int_t)result->different_run, "output",
                                  (json_int_t)result->different_output, "element",
                                  (json_int_t)result->different_element));
  return object;
}

static json_t *json_result(const RunModule *module, const RunOptions *options, const RunExecution *execution,
                           const RunResult *result) {
  if (!result->done)
    return json_null();
  json_t *object = json_object(), *outputs = json_array();
  char text[64];
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(module->program); i++) {
    const MirageType *type = output_type(module, i);
    json_array_append_new(
        outputs,
        json_pack("{s:s, s:o, s:o, s:f, s:o, s:s, s:I, s:I, s:b}", "type", mirage_type_format(type, text, sizeof text),
                  "relative_error", number(result->relative[i]), "max_abs_error", number(result->max_abs[i]),
                  "tolerance", run_tolerance(options, execution, type, i), "program_rounding",
                  execution->rounding ? number(execution->rounding[i]) : json_null(), "reference",
                  options->references.num ? "given" : "float64", "reference_not_finite",
                  (json_int_t)execution->non_finite[i], "elements_compared", (json_int_t)execution->compared[i],
                  "compared", (int)run_compared(options, execution, i)));
  }
  json_object_set_new(object, "passed", json_boolean(run_passed(module, options, execution, result)));
  json_object_set_new(object, "repeatable", json_boolean(result->repeatable));
  json_object_set_new(object, "outputs", outputs);
  if (result->place == RUN_ON_GPU)
    json_object_set_new(object, "repeat", json_repeat(result));
  if (result->timed)
    json_object_set_new(object, "time", json_time(result));
  if (result->timed_cold)
    json_object_set_new(object, "launch", json_overhead(&result->overhead));
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
  MirageCost own = run_own_cost(module);
  const MirageGraphMeta *meta = mirage_ugraph_get_meta(module->chosen);
  json_t *root = json_object();
  json_object_set_new(root, "module", json_string(options->module_path));
  json_object_set_new(root, "program", json_string(run_graph_name(module->program)));
  json_object_set_new(root, "graph", json_string(meta->name));
  json_object_set_new(root, "kernels", json_integer(run_count_kernels(module->chosen)));
  json_object_set_new(root, "proof", json_proof(&meta->proof));
  json_object_set_new(root, "exhausted_block_ops", json_integer(module->exhausted_ops));
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
  json_object_set_new(root, "reference_parts", json_integer(execution->parts));
  json_object_set_new(root, "result", json_result(module, options, execution, &execution->chosen));
  json_object_set_new(root, "own_lowering", json_result(module, options, execution, &execution->baseline));
  json_object_set_new(root, "limit", json_limits(&execution->limits));
  json_object_set_new(root, "passed", json_boolean(run_passed(module, options, execution, &execution->chosen)));
  int written = json_dumpf(root, stdout, JSON_INDENT(2));
  json_decref(root);
  if (written != 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "cannot write the report to standard output");
  putchar('\n');
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------------------------------- CSV

// An empty field where there is no figure.
static void print_figure(bool known, const char *format, double value) {
  printf(",");
  if (known && isfinite(value))
    printf(format, value);
}

static double largest_error(const RunResult *result, uint32_t num_outputs) {
  double largest = 0;
  for (uint32_t i = 0; i < num_outputs; i++)
    largest = result->relative[i] > largest ? result->relative[i] : largest;
  return largest;
}

void run_report_csv(const RunModule *module, const RunOptions *options, const RunExecution *execution) {
  const RunResult *chosen = &execution->chosen, *own = &execution->baseline;
  const MirageCost *cost = &mirage_ugraph_get_meta(module->chosen)->cost;
  const RunLimits *limits = &execution->limits;
  printf("program,graph,kernels,backend,device,passed,error,cold_us,cold_spread,warm_us,warm_spread,own_cold_us,"
         "own_warm_us,predicted_us,limit_us,bytes,flops,launch_cpu_us,bare_launch_cpu_us\n");
  printf("%s,%s,%u,%s,%s,%d", run_graph_name(module->program), run_graph_name(module->chosen),
         run_count_kernels(module->chosen), place_name(chosen->place),
         execution->has_device ? execution->device.name : "", run_passed(module, options, execution, chosen));
  print_figure(true, "%.3g", largest_error(chosen, execution->num_outputs));
  print_figure(chosen->timed_cold, "%.3f", chosen->timing.cold_us);
  print_figure(chosen->timed_cold, "%.4f", chosen->timing.cold_spread);
  print_figure(chosen->timed, "%.3f", chosen->timing.warm_us);
  print_figure(chosen->timed, "%.4f", chosen->timing.warm_spread);
  print_figure(own->timed_cold, "%.3f", own->timing.cold_us);
  print_figure(own->timed, "%.3f", own->timing.warm_us);
  print_figure(cost->present, "%.3f", cost->time_us);
  print_figure(limits->source, "%.3f", limits->us);
  print_figure(limits->source, "%.0f", limits->bytes);
  print_figure(limits->source, "%.0f", limits->flops);
  print_figure(chosen->overhead.calls > 0, "%.3f", chosen->overhead.launch_us);
  print_figure(chosen->overhead.calls > 0, "%.3f", chosen->overhead.bare_us);
  printf("\n");
}
