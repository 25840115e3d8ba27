// mirage-run.c - runs a compiled module and says how right and how fast it is.
//
//   mirage-mlir-opt --mirage-superoptimize program.mlir -o compiled.mlir
//   mirage-run compiled.mlir
//
// The selected µGraph's PTX runs on the GPU by the CUDA driver API; without a GPU its kernels run on the emulator, or,
// where that would take long, the µGraph is evaluated on the CPU, which is said. Each is compared with the program
// evaluated in float64 on the same inputs.
//
// Exit status: EXIT_TEXT, which --help shows.
#define _POSIX_C_SOURCE 200809L
#include "file.h"
#include "npy.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { EXIT_TOLERANCE = 1, EXIT_BAD_INPUT = 2, EXIT_DEVICE = 3, EXIT_NO_GPU = 4 };

static const char EXIT_TEXT[] = "\nExit status:\n"
                                "  0  every output was compared, in some element, and is within its tolerance\n"
                                "  1  one is not, or could not be compared (the reference is inf or NaN), or two runs "
                                "differ, or an emulated kernel\n"
                                "     broke a rule\n"
                                "  2  the command line, a file or the module is wrong\n"
                                "  3  the GPU or its driver failed, or memory is out\n"
                                "  4  a GPU was asked for (--target=gpu, --tune), and there is none\n";

static void print_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  static const char *const names[] = {"note", "remark", "warning", "error"}; // by MirageSeverity
  fprintf(stderr, "mirage-run: %s: %s\n", names[severity], message);
}

static const MirageDiag diag = {print_message, NULL};

// ------------------------------------------------------------------------------------------------------------- options

enum {
  OPTION_INPUT = 1,
  OPTION_REFERENCE,
  OPTION_SCALE,
  OPTION_SEED,
  OPTION_TARGET,
  OPTION_TOLERANCE,
  OPTION_MEMORY,
  OPTION_HELP,
  OPTION_TIMEOUT,
  OPTION_REPEAT
};

// "INDEX=rest": the index, and where the rest begins. NULL when it is not of that form.
static const char *parse_index(const char *text, uint32_t *out_index) {
  char *end = NULL;
  errno = 0;
  unsigned long index = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || errno || index > 1000000 || *end != '=' || end[1] == '\0')
    return NULL;
  *out_index = (uint32_t)index;
  return end + 1;
}

static MirageStatus add_file(RunFiles *files, const char *option, const char *text) {
  uint32_t index = 0;
  const char *path = parse_index(text, &index);
  if (!path)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: INDEX=FILE.npy is wanted, got '%s'", option, text);
  struct RunFile *grown = realloc(files->items, (files->num + 1) * sizeof *grown);
  if (!grown)
    return MIRAGE_NO_MEMORY;
  files->items = grown;
  files->items[files->num++] = (struct RunFile){index, path};
  return MIRAGE_OK;
}

// "0=0.5,2=1"
static MirageStatus add_scales(RunOptions *options, const char *text) {
  for (const char *at = text; *at;) {
    uint32_t index = 0;
    const char *factor = parse_index(at, &index);
    char *end = NULL;
    double value = factor ? strtod(factor, &end) : 0;
    if (!factor || end == factor || (*end != ',' && *end != '\0') || !(value > 0 && value < 1e30))
      return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                              "--scale: INDEX=FACTOR,... with factors above 0 is wanted, got '%s'", text);
    RunScale *grown = realloc(options->scales, (options->num_scales + 1) * sizeof *grown);
    if (!grown)
      return MIRAGE_NO_MEMORY;
    options->scales = grown;
    options->scales[options->num_scales++] = (RunScale){index, value};
    at = *end ? end + 1 : end;
  }
  return MIRAGE_OK;
}

static MirageStatus set_target(RunOptions *options, const char *text) {
  static const char *const names[] = {"auto", "gpu", "cpu", "emulator"}; // by RunPlace
  for (int i = 0; i < 4; i++)
    if (strcmp(text, names[i]) == 0) {
      options->place = (RunPlace)i;
      return MIRAGE_OK;
    }
  return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "--target: gpu, emulator, cpu or auto is wanted, got '%s'",
                          text);
}

static MirageStatus set_seed(RunOptions *options, const char *text) {
  char *end = NULL;
  errno = 0;
  options->seed = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "--seed: a number from 0 to 2^64 - 1 is wanted, got '%s'",
                            text);
  return MIRAGE_OK;
}

static MirageStatus set_tolerance(RunOptions *options, const char *text) {
  char *end = NULL;
  options->tolerance = strtod(text, &end);
  if (end == text || *end || !(options->tolerance > 0 && isfinite(options->tolerance)))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--tolerance: a finite number above 0 is wanted, got '%s'", text);
  return MIRAGE_OK;
}

static MirageStatus set_memory(RunOptions *options, const char *text) {
  char *end = NULL;
  double mib = strtod(text, &end);
  if (end == text || *end || !(mib > 0 && mib < 1e9))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "--memory: MiB above 0 are wanted, got '%s'", text);
  options->memory = mib * 1048576;
  return MIRAGE_OK;
}

static MirageStatus set_timeout(RunOptions *options, const char *text) {
  char *end = NULL;
  options->timeout = strtod(text, &end);
  if (end == text || *end || !(options->timeout >= 0 && options->timeout < 1e9))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--timeout: seconds are wanted, or 0 to wait for ever, got '%s'", text);
  return MIRAGE_OK;
}

static MirageStatus set_repeats(RunOptions *options, const char *text) {
  char *end = NULL;
  unsigned long count = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || count < 1 || count > 1000000)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--repeat-check: a number from 1 to 1000000 is wanted, got '%s'", text);
  options->repeats = (uint32_t)count;
  return MIRAGE_OK;
}

// Keeps a text that popt allocated until the options go.
static MirageStatus keep_text(RunOptions *options, char *text) {
  char **grown = realloc(options->texts, (options->num_texts + 1) * sizeof *grown);
  if (!grown) {
    free(text);
    return MIRAGE_NO_MEMORY;
  }
  options->texts = grown;
  options->texts[options->num_texts++] = text;
  return MIRAGE_OK;
}

static MirageStatus take_option(RunOptions *options, int option, char *text) {
  MIRAGE_TRY(keep_text(options, text));
  switch (option) {
  case OPTION_INPUT:
    return add_file(&options->inputs, "--input", text);
  case OPTION_REFERENCE:
    return add_file(&options->references, "--reference", text);
  case OPTION_SCALE:
    return add_scales(options, text);
  case OPTION_SEED:
    return set_seed(options, text);
  case OPTION_TARGET:
    return set_target(options, text);
  case OPTION_TIMEOUT:
    return set_timeout(options, text);
  case OPTION_REPEAT:
    return set_repeats(options, text);
  case OPTION_MEMORY:
    return set_memory(options, text);
  default:
    return set_tolerance(options, text);
  }
}

static void options_deinit(RunOptions *options) {
  for (uint32_t i = 0; i < options->num_texts; i++)
    free(options->texts[i]);
  free(options->texts);
  free(options->inputs.items);
  free(options->references.items);
  free(options->scales);
  free((char *)options->module_path);
  free((char *)options->program);
  free((char *)options->save_output);
  free((char *)options->emit_ptx);
  free((char *)options->limits);
  free((char *)options->graph);
  free((char *)options->compile);
  free((char *)options->write);
}

static void print_help(poptContext popt) {
  poptPrintHelp(popt, stdout, 0);
  fputs(EXIT_TEXT, stdout);
  exit(EXIT_SUCCESS);
}

static MirageStatus take_arguments(RunOptions *options, poptContext popt) {
  for (int option = poptGetNextOpt(popt); option != -1; option = poptGetNextOpt(popt)) {
    if (option < -1)
      return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: %s (--help lists the options)",
                              poptBadOption(popt, POPT_BADOPTION_NOALIAS), poptStrerror(option));
    if (option == OPTION_HELP)
      print_help(popt);
    MIRAGE_TRY(take_option(options, option, poptGetOptArg(popt)));
  }
  const char *path = poptGetArg(popt);
  if (!path)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "a module is wanted: mirage-run compiled.mlir (--help lists the options)");
  const char *more = poptGetArg(popt);
  if (more)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "one module at a time, got %s and %s", path, more);
  options->module_path = strdup(path);
  return options->module_path ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

static MirageStatus check_options(const RunOptions *options) {
  if (options->json + options->csv + options->print_graph > 1)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--json, --csv and --print-graph all write to standard output: choose one");
  bool off_gpu = options->place == RUN_ON_CPU || options->place == RUN_ON_EMULATOR;
  const char *place = options->place == RUN_ON_CPU ? "cpu" : "emulator";
  if (options->benchmark && off_gpu)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--benchmark times the GPU: it does not go with --target=%s", place);
  if (options->tune && (off_gpu || options->graph || options->json || options->csv || options->print_graph))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--tune runs every candidate on the GPU and prints a table: it does not go with %s",
                            off_gpu          ? "another --target"
                            : options->graph ? "--graph"
                                             : "--json, --csv or --print-graph");
  if (options->write && !options->tune)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "--write takes what --tune measured: it needs that");
  if (options->repeats && off_gpu)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--repeat-check runs on the GPU: it does not go with --target=%s", place);
  return MIRAGE_OK;
}

static MirageStatus parse_options(int argc, const char **argv, RunOptions *options) {
  *options = (RunOptions){.seed = 1, .timeout = 10, .argc = argc, .argv = argv};
  int tune = 0, benchmark = 0, baseline = 0, json = 0, csv = 0, print_graph = 0, verbose = 0, skip = 0;
  const struct poptOption table[] = {
      {"program", 'p', POPT_ARG_STRING, &options->program, 0, "the program to run, where the module holds several",
       "NAME"},
      {"input", 'i', POPT_ARG_STRING, NULL, OPTION_INPUT, "input INDEX (from 0) from a .npy file of f16, f32 or f64",
       "INDEX=FILE.npy"},
      {"reference", '\0', POPT_ARG_STRING, NULL, OPTION_REFERENCE,
       "compare output INDEX with a .npy file, in place of the program evaluated in float64 (all outputs or none)",
       "INDEX=FILE.npy"},
      {"seed", 's', POPT_ARG_STRING, NULL, OPTION_SEED, "of the random inputs (default 1)", "N"},
      {"scale", '\0', POPT_ARG_STRING, NULL, OPTION_SCALE,
       "standard deviation of random inputs (default: the program's input_scales; else what keeps products of size 1 "
       "all through the program: 1/sqrt(K) for weights, 1 for what no product takes)",
       "INDEX=FACTOR,..."},
      {"target", 't', POPT_ARG_STRING, NULL, OPTION_TARGET,
       "where to run: gpu; emulator: its kernels, checked, on the CPU; cpu: the graph evaluated; auto (default): the "
       "first of these that there is and that is quick",
       "PLACE"},
      {"device", '\0', POPT_ARG_INT, &options->device, 0, "number of the GPU (default 0)", "N"},
      {"benchmark", 'b', POPT_ARG_NONE, &benchmark, 0,
       "on the GPU, time it with a cold L2 cache too, over many copies of the inputs, beside the program's own "
       "lowering and what the bytes and flops allow",
       NULL},
      {"graph", 'g', POPT_ARG_STRING, &options->graph, 0,
       "run this graph in place of the selected one; it is compiled here", "NAME"},
      {"compile", '\0', POPT_ARG_STRING, &options->compile, 0,
       "compile the graph here for a GPU (h200, a100, ...) in place of taking the module's PTX", "GPU"},
      {"tune", '\0', POPT_ARG_NONE, &tune, 0,
       "measure every candidate on the GPU, each in a process of its own, and say which is fastest", NULL},
      {"write", '\0', POPT_ARG_STRING, &options->write, 0,
       "with --tune: write the module with measured costs, for mirage-select", "FILE.mlir"},
      {"limits", '\0', POPT_ARG_STRING, &options->limits, 0,
       "times of reading so many bytes, lines of bytes,us (default: of an H200)", "FILE.csv"},
      {"repeat-check", '\0', POPT_ARG_STRING, NULL, OPTION_REPEAT,
       "run it N times on the GPU; every output must be the same bit for bit (default 2)", "N"},
      {"timeout", '\0', POPT_ARG_STRING, NULL, OPTION_TIMEOUT,
       "give up on a kernel that runs longer (default 10; 0: never)", "SECONDS"},
      {"baseline", '\0', POPT_ARG_NONE, &baseline, 0, "also run the program's own lowering, one kernel an operator",
       NULL},
      {"tolerance", '\0', POPT_ARG_STRING, NULL, OPTION_TOLERANCE,
       "largest relative error (default 1e-3, bf16 outputs 8e-3, or 1.5 times what the program's own roundings make)",
       "X"},
      {"skip-non-finite", '\0', POPT_ARG_NONE, &skip, 0,
       "leave elements out at which the reference is inf or NaN; without it they fail", NULL},
      {"memory", '\0', POPT_ARG_STRING, NULL, OPTION_MEMORY,
       "that evaluating the program for reference may take; more is done in parts (default: half of what is free, at "
       "most 8192)",
       "MIB"},
      {"save-output", 'o', POPT_ARG_STRING, &options->save_output, 0, "write output<i>.npy and reference<i>.npy there",
       "DIR"},
      {"emit-ptx", '\0', POPT_ARG_STRING, &options->emit_ptx, 0, "write the PTX", "FILE"},
      {"print-graph", '\0', POPT_ARG_NONE, &print_graph, 0, "print the chosen graph as MLIR first", NULL},
      {"json", 'j', POPT_ARG_NONE, &json, 0, "report as one JSON object", NULL},
      {"csv", '\0', POPT_ARG_NONE, &csv, 0, "report as a line of names and one of figures", NULL},
      {"verbose", 'v', POPT_ARG_NONE, &verbose, 0, "show remarks", NULL},
      {"help", '?', POPT_ARG_NONE, NULL, OPTION_HELP, "show this, and what the exit status means", NULL},
      POPT_TABLEEND,
  };
  poptContext popt = poptGetContext("mirage-run", argc, argv, table, 0);
  poptSetOtherOptionHelp(popt, "[OPTION...] compiled.mlir");
  MirageStatus status = take_arguments(options, popt);
  options->tune = tune;
  options->benchmark = benchmark;
  options->baseline = baseline;
  options->json = json;
  options->csv = csv;
  options->print_graph = print_graph;
  options->verbose = verbose;
  options->skip_non_finite = skip;
  poptFreeContext(popt);
  if (status == MIRAGE_OK)
    status = check_options(options);
  if (options->repeats == 0)
    options->repeats = 2;
  if (status == MIRAGE_OK && (options->graph || options->tune) && !options->compile) {
    options->compile = strdup("h200");
    status = options->compile ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  }
  return status;
}

// --------------------------------------------------------------------------------------------------------------- files

static MirageStatus write_ptx(const RunModule *module, const RunOptions *options) {
  if (!options->emit_ptx)
    return MIRAGE_OK;
  ToolFile file;
  MIRAGE_TRY(tool_file_begin(options->emit_ptx, &diag, &file));
  fputs(module->ptx, file.stream);
  return tool_file_end(&file, true, &diag);
}

static MirageStatus save_outputs(const RunModule *module, const RunOptions *options, const RunExecution *execution) {
  if (!options->save_output)
    return MIRAGE_OK;
  if (mkdir(options->save_output, 0777) != 0 && errno != EEXIST)
    return mirage_diag_fail(&diag, NULL, MIRAGE_IO, "%s: %s", options->save_output, strerror(errno));
  for (uint32_t i = 0; i < execution->num_outputs; i++) {
    const MirageType *type = mirage_ugraph_type(module->program, mirage_ugraph_get_output(module->program, i));
    char path[4096];
    snprintf(path, sizeof path, "%s/output%u.npy", options->save_output, i);
    MIRAGE_TRY(npy_write(path, type, execution->chosen.outputs[i], false, &diag));
    snprintf(path, sizeof path, "%s/reference%u.npy", options->save_output, i);
    MIRAGE_TRY(npy_write(path, type, execution->reference[i], true, &diag));
  }
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------------------- main

static MirageStatus report(const RunModule *module, const RunOptions *options, const RunInputs *inputs,
                           const RunExecution *execution, bool *out_passed) {
  MIRAGE_TRY(save_outputs(module, options, execution));
  if (options->json)
    MIRAGE_TRY(run_report_json(module, options, inputs, execution, &diag));
  else if (options->csv)
    run_report_csv(module, options, execution);
  else
    run_report_text(module, options, inputs, execution);
  if (fflush(stdout) != 0 || ferror(stdout))
    return mirage_diag_fail(&diag, NULL, MIRAGE_IO, "the report could not be written: %s", strerror(errno));
  *out_passed = run_passed(module, options, execution, &execution->chosen);
  return MIRAGE_OK;
}

// A device with a kernel that hangs makes the driver's exit handler wait for it, so that is left out.
static int leave(int code) {
  fflush(NULL);
  if (code == EXIT_DEVICE)
    _Exit(code);
  return code;
}

static MirageStatus run_one(RunModule *module, const RunOptions *options, bool *out_passed) {
  RunInputs inputs = {0};
  RunExecution execution = {0};
  if (options->print_graph)
    run_module_print_chosen(module);
  MirageStatus status = write_ptx(module, options);
  if (status == MIRAGE_OK)
    status = run_inputs_create(module, options, &diag, &inputs);
  if (status == MIRAGE_OK)
    status = run_execute(module, options, &inputs, &diag, &execution);
  if (status == MIRAGE_OK)
    status = report(module, options, &inputs, &execution, out_passed);
  run_execution_deinit(&execution);
  run_inputs_deinit(&inputs);
  return status;
}

// Each candidate has the GPU in a process of its own; where there is none, it is better said once.
static MirageStatus check_gpu(const RunOptions *options) {
  MirageDevice *device = NULL;
  MirageStatus status = mirage_device_create(options->device, &diag, &device);
  mirage_device_destroy(device);
  if (status == MIRAGE_NO_DEVICE)
    mirage_diag_emit(&diag, MIRAGE_SEVERITY_NOTE, NULL,
                     "--tune measures candidates on a GPU: run it on a machine that has one");
  return status;
}

static MirageStatus run(const RunOptions *options, bool *out_passed) {
  RunModule module;
  MirageStatus status = run_module_load(options, &diag, &module);
  if (status == MIRAGE_OK && options->tune)
    status = check_gpu(options);
  if (status == MIRAGE_OK)
    status = options->tune ? run_tune(&module, options, &diag, out_passed) : run_one(&module, options, out_passed);
  run_module_deinit(&module);
  return status;
}

static int exit_status(MirageStatus status, bool passed) {
  if (status == MIRAGE_OK)
    return passed ? EXIT_SUCCESS : EXIT_TOLERANCE;
  if (status == MIRAGE_FAULT)
    return EXIT_TOLERANCE;
  if (status == MIRAGE_NO_DEVICE)
    return EXIT_NO_GPU;
  bool device = status == MIRAGE_DRIVER || status == MIRAGE_NO_MEMORY;
  return device ? EXIT_DEVICE : EXIT_BAD_INPUT;
}

int main(int argc, const char **argv) {
  RunOptions options;
  bool passed = false;
  tool_file_no_signal();
  MirageStatus status = parse_options(argc, argv, &options);
  if (status == MIRAGE_OK)
    status = run(&options, &passed);
  options_deinit(&options);
  return leave(exit_status(status, passed));
}
