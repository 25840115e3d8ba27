// full_size.c - what a proof at full size takes: the program of a file against its best µGraph, all trials that the
// bound asks for.
//
//   full_size FILE.mlir [threads=1] [trials=0] [budget_mb=1024] [most=1e11]
//
// Prints one line of CSV; `full_size` alone prints the header. The candidate is the first that mirage_search finds (the
// program itself where it finds none: "itself"). Times are of drawing the inputs and evaluating both graphs. Both
// theorems are asked, the one with fewer trials is taken, and another number of trials overrides that. A row is
// "too large" where inputs and outputs alone exceed the memory, or a trial more than `most` operations.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "mirage-c/Dialects.h"
#include "mirage/bridge.h"
#include "mirage/search.h"
#include "mirage/verify.h"
#include "mlir-c/IR.h"
#include "verify/verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

typedef struct Request {
  const char *path;
  uint32_t threads, trials;
  double budget_mb, most;
} Request;

typedef struct Pair {
  MirageUGraph *graphs[2]; // program, candidate; sugar expanded
  bool itself;             // the search found nothing
  VerifyBound bound;       // of the theorem that needs fewer trials
  uint32_t trials;         // 0: neither gives a useful bound
  double work;
} Pair;

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static long peak_kb(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void print_diagnostic(void *user, MirageSeverity severity, const void *loc, const char *message) {
  fprintf(stderr, "%s: %s\n", (const char *)user, message);
}

// ---------------------------------------------------------------------------------------------------------------- pair

// The first graph of a file; the MLIR context is kept for the life of the process.
static MirageUGraph *read_program(const char *path) {
  MlirContext context = mlirContextCreateWithThreading(false);
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mirageRegisterDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirDialectRegistryDestroy(registry);
  MlirModule module = mlirModuleCreateParseFromFile(context, mlirStringRefCreateFromCString(path));
  MirageUGraph *program = NULL;
  if (mlirModuleIsNull(module))
    return NULL; // the parser has said why
  MlirOperation graph = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  if (mlirOperationIsNull(graph) || mirage_bridge_import(graph, NULL, &program) != MIRAGE_OK)
    fprintf(stderr, "%s: its first operation is not a program\n", path);
  return program;
}

static uint32_t trials_of(const VerifyBound *bound) {
  double trials = bound->log2_trial < -1 ? fmax(1, ceil(VERIFY_LOG2_BOUND / bound->log2_trial)) : INFINITY;
  return trials <= VERIFY_MAX_TRIALS ? (uint32_t)trials : 0;
}

static bool find_bound(Pair *pair) {
  for (int free_exp = 0; free_exp <= 1; free_exp++) {
    VerifyBound bound;
    if (mirage__verify_bound(pair->graphs[0], pair->graphs[1], NULL, free_exp, &bound) != MIRAGE_OK)
      return false;
    uint32_t trials = trials_of(&bound);
    if (trials && (!pair->trials || trials < pair->trials)) {
      pair->trials = trials;
      pair->bound = bound;
    }
  }
  return true;
}

static bool make_pair(const Request *request, const MirageUGraph *program, Pair *out) {
  const MirageDiag diag = {print_diagnostic, (void *)request->path};
  MirageSearchOptions options = {.seed = 1, .num_threads = 2, .target = mirage_target_find("h200")};
  MirageSearchResult found = {0};
  out->itself = mirage_search(program, &options, NULL, &found) != MIRAGE_OK || !found.num_candidates;
  const MirageUGraph *candidate = out->itself ? program : found.candidates[0];
  bool ok = mirage_ugraph_expand(program, &diag, &out->graphs[0]) == MIRAGE_OK &&
            mirage_ugraph_expand(candidate, &diag, &out->graphs[1]) == MIRAGE_OK && find_bound(out);
  mirage_search_result_deinit(&found);
  if (ok)
    out->work = mirage__verify_work(out->graphs[0]) + mirage__verify_work(out->graphs[1]);
  return ok;
}

static double bytes_of(const MirageUGraph *graph) {
  double elements = 0;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(graph); i++)
    elements += (double)mirage_type_elements(mirage_ugraph_type(graph, mirage_ugraph_get_input(graph, i)));
  for (uint32_t i = 0; i < mirage_ugraph_num_outputs(graph); i++)
    elements += 2 * (double)mirage_type_elements(mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, i)));
  return elements * sizeof(MirageResidue);
}

// -------------------------------------------------------------------------------------------------------------- trials

typedef struct Storage {
  MirageResidue **inputs, **outputs[2];
} Storage;

static MirageStatus evaluate(const Request *request, const Pair *pair, const Storage *storage, uint32_t draw) {
  const MirageFieldModes modes = {.partial = true, .free_exp = pair->bound.free_exp};
  MirageField *field = mirage_field_create_with(1, draw, modes);
  if (!field)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i < mirage_ugraph_num_inputs(pair->graphs[0]); i++) {
    const MirageType *type = mirage_ugraph_type(pair->graphs[0], mirage_ugraph_get_input(pair->graphs[0], i));
    mirage_field_draw_input(field, i, type, NULL, storage->inputs[i]);
  }
  const MirageDiag diag = {print_diagnostic, (void *)request->path};
  const MirageEvalOptions options = {.num_threads = request->threads};
  MirageStatus status = MIRAGE_OK;
  for (int g = 0; g < 2 && status == MIRAGE_OK; g++)
    status = mirage_eval(pair->graphs[g], mirage_field_domain(field), (const void *const *)storage->inputs,
                         (void *const *)storage->outputs[g], &options, &diag);
  mirage_field_destroy(field);
  return status;
}

static bool outputs_agree(const Pair *pair, const Storage *storage) {
  for (uint32_t o = 0; o < mirage_ugraph_num_outputs(pair->graphs[0]); o++) {
    const MirageType *type = mirage_ugraph_type(pair->graphs[0], mirage_ugraph_get_output(pair->graphs[0], o));
    const MirageResidue *a = storage->outputs[0][o], *b = storage->outputs[1][o];
    for (size_t i = 0, n = (size_t)mirage_type_elements(type); i < n; i++)
      if (a[i].p != b[i].p || a[i].bottom != b[i].bottom || (a[i].undefined | b[i].undefined))
        return false;
  }
  return true;
}

static const char *run_trials(const Request *request, const Pair *pair, uint32_t trials) {
  Storage storage = {mirage__verify_alloc_inputs(pair->graphs[0]),
                     {mirage__verify_alloc_outputs(pair->graphs[0]), mirage__verify_alloc_outputs(pair->graphs[1])}};
  const char *verdict = storage.inputs && storage.outputs[0] && storage.outputs[1] ? "equal" : "no memory";
  for (uint32_t trial = 0; trial < trials && !strcmp(verdict, "equal"); trial++) {
    MirageStatus status = evaluate(request, pair, &storage, trial * VERIFY_ATTEMPTS);
    if (status != MIRAGE_OK)
      verdict = mirage_status_string(status);
    else if (!outputs_agree(pair, &storage))
      verdict = "different";
  }
  mirage__verify_free_arrays(storage.inputs, mirage_ugraph_num_inputs(pair->graphs[0]));
  for (int g = 0; g < 2; g++)
    mirage__verify_free_arrays(storage.outputs[g], mirage_ugraph_num_outputs(pair->graphs[g]));
  return verdict;
}

static int measure(const Request *request) {
  MirageUGraph *program = read_program(request->path);
  Pair pair = {0};
  if (!program || !make_pair(request, program, &pair))
    return 1;
  long before_kb = peak_kb();
  uint32_t trials = request->trials ? request->trials : pair.trials ? pair.trials : 1;
  double start = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  bool fits = bytes_of(pair.graphs[0]) <= request->budget_mb * 0x1p20 && pair.work <= request->most;
  const char *verdict = fits ? run_trials(request, &pair, trials) : "too large";
  printf("%s,%s,%.4g,%s,%.1f,%u,%u,%u,%s,%.3f,%.3f,%ld,%ld\n", mirage_ugraph_get_meta(program)->name,
         pair.itself ? "itself" : "found", pair.work, pair.bound.free_exp ? "free" : "exponentials",
         pair.trials ? pair.bound.log2_trial : 0.0, pair.trials, trials, request->threads, verdict,
         seconds_of(CLOCK_MONOTONIC) - start, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used, before_kb / 1024,
         peak_kb() / 1024);
  mirage_ugraph_destroy(pair.graphs[0]);
  mirage_ugraph_destroy(pair.graphs[1]);
  mirage_ugraph_destroy(program);
  return !strcmp(verdict, "different");
}

int main(int argc, char **argv) {
  if (argc == 1) {
    puts("program,candidate,operations of a trial,theorem,log2 bound of a trial,trials needed,trials "
         "run,threads,verdict,"
         "seconds,processor seconds,MB before,MB peak");
    return 0;
  }
  Request request = {.path = argv[1], .threads = 1, .budget_mb = 1024, .most = 1e11};
  for (int i = 2; i < argc; i++) {
    if (!strncmp(argv[i], "threads=", 8))
      request.threads = (uint32_t)atoi(argv[i] + 8);
    else if (!strncmp(argv[i], "trials=", 7))
      request.trials = (uint32_t)atoi(argv[i] + 7);
    else if (!strncmp(argv[i], "budget_mb=", 10))
      request.budget_mb = atof(argv[i] + 10);
    else if (!strncmp(argv[i], "most=", 5))
      request.most = atof(argv[i] + 5);
    else {
      fprintf(stderr, "full_size: %s: wanted threads=, trials=, budget_mb= or most=\n", argv[i]);
      return 2;
    }
  }
  return measure(&request);
}
