// run_tune.c - measures every candidate of a program on the GPU, each in a process of its own.
//
//   mirage-run --tune candidates.mlir --write measured.mlir
//   mirage-mlir-opt --mirage-select --mirage-lower measured.mlir -o compiled.mlir
//
// A candidate that crashes or hangs costs a line of the table and nothing else. Its process is this program again, with
// --graph and the options given, and tells what it found as JSON; each also measures the program's own lowering, so
// that drift of the machine shows. What was measured goes to the candidates' costs, which mirage-select takes as they
// stand; one whose outputs are wrong, or differ from run to run, loses its proof, so that it is refused.
#define _POSIX_C_SOURCE 200809L
#include "run.h"

#include "mirage/random.h"
#include "mlir-c/BuiltinAttributes.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Measured {
  MlirOperation op;
  const char *name; // in `meta`
  MirageUGraph *graph;
  bool ok; // ran, right and repeatable
  double cold_us, cold_spread, warm_us, own_cold_us, error;
  char reason[256]; // where not
} Measured;

// ----------------------------------------------------------------------------------------------------------- processes

// The arguments of the process for one graph: those given, but for --tune and --write. The inputs that it is timed on
// are drawn from the seed's purpose "tuning". --graph is the last one, and to be freed.
static char **make_arguments(const RunOptions *options, const char *graph) {
  static char seed[40];
  char **arguments = calloc((size_t)options->argc + 5, sizeof *arguments);
  size_t bytes = strlen(graph) + sizeof "--graph=";
  char *choice = malloc(bytes);
  int count = 0;
  if (!arguments || !choice) {
    free(arguments);
    free(choice);
    return NULL;
  }
  snprintf(choice, bytes, "--graph=%s", graph);
  for (int i = 0; i < options->argc; i++) {
    const char *text = options->argv[i];
    if (strcmp(text, "--write") == 0)
      i++;
    else if (strcmp(text, "--tune") != 0 && strncmp(text, "--write=", 8) != 0)
      arguments[count++] = (char *)text;
  }
  snprintf(seed, sizeof seed, "--seed=%" PRIu64, mirage_random_purpose(options->seed, "tuning"));
  arguments[count++] = seed; // the last one counts
  arguments[count++] = "--benchmark";
  arguments[count++] = "--json";
  arguments[count] = choice;
  return arguments;
}

static void free_arguments(char **arguments) {
  int last = 0;
  while (arguments[last + 1])
    last++;
  free(arguments[last]);
  free(arguments);
}

// Runs it with its outputs in two files. Its status as waitpid has it, or -1 with errno.
static int run_process(char **arguments, FILE *out, FILE *err) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0)
    return -1;
  if (child == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    execv("/proc/self/exe", arguments);
    _exit(127);
  }
  int status = -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status;
}

// ------------------------------------------------------------------------------------------------------------- answers

// The first error that the process reported, or how it ended.
static void read_reason(FILE *err, int status, Measured *measured) {
  char line[512];
  rewind(err);
  while (fgets(line, sizeof line, err)) {
    const char *error = strstr(line, "error: ");
    if (!error)
      continue;
    line[strcspn(line, "\n")] = '\0';
    snprintf(measured->reason, sizeof measured->reason, "%s", error + 7);
    return;
  }
  if (WIFSIGNALED(status))
    snprintf(measured->reason, sizeof measured->reason, "ended by signal %d", WTERMSIG(status));
  else
    snprintf(measured->reason, sizeof measured->reason, "ended with status %d", WEXITSTATUS(status));
}

static double get_number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static void read_answer(const json_t *answer, Measured *measured) {
  const json_t *result = json_object_get(answer, "result"), *time = json_object_get(result, "time"), *output;
  const json_t *outputs = json_object_get(result, "outputs");
  size_t i;
  json_array_foreach(outputs, i, output) {
    double error = get_number(output, "relative_error");
    measured->error = isnan(error) ? INFINITY : fmax(measured->error, error);
  }
  measured->cold_us = get_number(time, "cold_us");
  double spread = get_number(time, "cold_spread");
  measured->cold_spread = isfinite(spread) ? spread : 0;
  measured->warm_us = get_number(time, "warm_us");
  measured->own_cold_us = get_number(json_object_get(json_object_get(answer, "own_lowering"), "time"), "cold_us");
  measured->ok = json_is_true(json_object_get(answer, "passed")) && measured->cold_us > 0;
  if (!measured->ok)
    snprintf(measured->reason, sizeof measured->reason, "%s",
             json_is_true(json_object_get(result, "repeatable")) ? "wrong" : "differs from run to run");
}

static MirageStatus measure(const RunOptions *options, const MirageDiag *diag, Measured *measured) {
  FILE *out = tmpfile(), *err = tmpfile();
  char **arguments = make_arguments(options, measured->name);
  MirageStatus result = MIRAGE_OK;
  int status = out && err && arguments ? run_process(arguments, out, err) : -1;
  if (status == -1) {
    result = mirage_diag_fail(diag, NULL, MIRAGE_IO, "--tune: cannot start a process: %s", strerror(errno));
  } else {
    rewind(out);
    json_t *answer = json_loadf(out, 0, NULL);
    if (answer)
      read_answer(answer, measured);
    else
      read_reason(err, status, measured);
    json_decref(answer);
  }
  if (arguments)
    free_arguments(arguments);
  if (out)
    fclose(out);
  if (err)
    fclose(err);
  return result;
}

// -------------------------------------------------------------------------------------------------------------- module

static MirageStatus record(const RunOptions *options, const MirageDiag *diag, const Measured *measured) {
  MirageGraphMeta *meta = mirage_ugraph_meta(measured->graph);
  meta->selected = false;
  if (measured->ok) {
    const MirageTarget *target = mirage_target_find(options->compile);
    if (!meta->cost.present || strcmp(meta->cost.target, target->name) != 0)
      MIRAGE_TRY(mirage_cost(measured->graph, target, diag, &meta->cost));
    meta->cost.measured_us = measured->cold_us;
    meta->cost.measured_spread = measured->cold_spread;
  } else {
    meta->proof = (MirageProof){0};
    meta->guard = (MirageGuard){0};
  }
  return mirage_bridge_export_meta(meta, measured->op, diag);
}

static void print_row(const Measured *measured) {
  const MirageCost *cost = &mirage_ugraph_get_meta(measured->graph)->cost;
  printf("%-32s ", measured->name);
  if (!measured->ok) {
    printf("%s\n", measured->reason);
    return;
  }
  printf("%9.2f %9.2f %13.2f ", measured->cold_us, measured->warm_us, measured->own_cold_us);
  if (cost->present)
    printf("%10.2f  %.2g\n", cost->time_us, measured->error);
  else
    printf("%10s  %.2g\n", "", measured->error);
}

static MirageStatus write_module(const RunModule *module, const RunOptions *options, const MirageDiag *diag) {
  if (!options->write)
    return MIRAGE_OK;
  FILE *file = fopen(options->write, "wb");
  if (!file)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: %s", options->write, strerror(errno));
  run_module_print(module, file);
  bool ok = !ferror(file);
  ok = fclose(file) == 0 && ok;
  return ok ? MIRAGE_OK
            : mirage_diag_fail(diag, NULL, MIRAGE_IO, "%s: cannot write: %s", options->write, strerror(errno));
}

// Every candidate in turn, then the fastest right one.
static MirageStatus measure_all(RunModule *module, const RunOptions *options, const MirageDiag *diag,
                                bool *out_passed) {
  Measured best = {0};
  printf("%-32s %9s %9s %13s %10s  %s\n", "candidate", "cold us", "warm us", "own lowering", "predicted", "error");
  for (MlirOperation op = run_next_candidate(module, (MlirOperation){NULL}); !mlirOperationIsNull(op);
       op = run_next_candidate(module, op)) {
    Measured measured = {.op = op};
    MIRAGE_TRY(mirage_bridge_import(op, &module->bridge_diag.diag, &measured.graph));
    measured.name = mirage_ugraph_get_meta(measured.graph)->name;
    MirageStatus status = measure(options, diag, &measured);
    if (status == MIRAGE_OK) {
      print_row(&measured);
      status = record(options, &module->bridge_diag.diag, &measured);
    }
    if (measured.ok && (!best.ok || measured.cold_us < best.cold_us)) {
      mirage_ugraph_destroy(best.graph);
      best = measured;
    } else {
      mirage_ugraph_destroy(measured.graph);
    }
    MIRAGE_TRY(status);
  }
  *out_passed = best.ok;
  if (best.ok)
    printf("fastest       @%s with %.2f us; the program's own lowering %.2f us\n", best.name, best.cold_us,
           best.own_cold_us);
  else
    printf("no candidate ran right: the program's own lowering stands\n");
  mirage_ugraph_destroy(best.graph);
  return MIRAGE_OK;
}

MirageStatus run_tune(RunModule *module, const RunOptions *options, const MirageDiag *diag, bool *out_passed) {
  if (mlirOperationIsNull(run_next_candidate(module, (MlirOperation){NULL})))
    return mirage_diag_fail(
        diag, NULL, MIRAGE_BAD_GRAPH,
        "%s: no candidates of @%s: mirage-mlir-opt --mirage-enumerate --mirage-prune --mirage-verify "
        "--mirage-layout makes some",
        options->module_path, mirage_ugraph_get_meta(module->program)->name);
  MIRAGE_TRY(measure_all(module, options, diag, out_passed));
  return write_module(module, options, diag);
}
