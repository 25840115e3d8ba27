// search_bench.c - one search, timed: mirage_search on a program, again and again in one process.
//
//   search_bench FILE.mlir [ops=11] [threads=1] [runs=5] [states=0] [off=expr,axis,...]
//
// Prints one line of CSV; `search_bench` alone prints the header. `off` names the ideas to do without. Times are wall
// clock of mirage_search alone: parsing and the start of the process are not in them.
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "mirage-c/Dialects.h"
#include "mirage/bridge.h"
#include "mirage/search.h"
#include "mlir-c/IR.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_RUNS = 1001 };

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

// ----------------------------------------------------------------------------------------------- arguments

typedef struct Request {
  const char *path, *off;
  uint32_t runs;
  MirageSearchOptions options;
} Request;

static bool turn_off(MirageSearchOptions *options, const char *name, size_t length) {
  const struct {
    const char *name;
    bool *off;
  } ideas[] = {
      {"expr", &options->no_prune_expr},    {"axis", &options->no_prune_axis},
      {"merge", &options->no_merge},        {"products", &options->no_keep_products},
      {"needs", &options->no_bound_needs},  {"memory", &options->no_prune_memory},
      {"share", &options->no_share_pieces},
  };
  for (size_t i = 0; i < sizeof ideas / sizeof *ideas; i++)
    if (strlen(ideas[i].name) == length && !memcmp(ideas[i].name, name, length))
      return *ideas[i].off = true;
  return false;
}

static bool turn_all_off(MirageSearchOptions *options, const char *list) {
  bool known = true;
  while (*list && known) {
    size_t length = strcspn(list, ",");
    known = turn_off(options, list, length);
    list += length + (list[length] == ',');
  }
  return known;
}

static bool read_argument(Request *request, const char *argument) {
  const char *equals = strchr(argument, '=');
  if (!equals)
    return false;
  size_t length = (size_t)(equals - argument);
  uint64_t number = strtoull(equals + 1, NULL, 10);
  if (!strncmp(argument, "ops", length))
    request->options.max_block_ops = (uint32_t)number;
  else if (!strncmp(argument, "threads", length))
    request->options.num_threads = (uint32_t)number;
  else if (!strncmp(argument, "states", length))
    request->options.max_states = number;
  else if (!strncmp(argument, "runs", length) && number >= 1 && number <= MAX_RUNS)
    request->runs = (uint32_t)number;
  else if (!strncmp(argument, "off", length))
    return turn_all_off(&request->options, request->off = equals + 1);
  else
    return false;
  return true;
}

// ------------------------------------------------------------------------------------------------- program

// The first graph of a file; its locations live in the MLIR context.
static MirageUGraph *read_program(MlirContext context, const char *path) {
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
  mlirModuleDestroy(module);
  return program;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_row(const Request *request, const char *name, const MirageFunnel *funnel, double best_us,
                      double *seconds, double *processor, long before_kb) {
  qsort(seconds, request->runs, sizeof *seconds, compare);
  qsort(processor, request->runs, sizeof *processor, compare);
  printf("%s,%u,%u,%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
         ",%" PRIu64 ",%d,%.2f,%.6f,%.6f,%.6f,%.6f,%ld,%ld\n",
         name, request->options.max_block_ops, request->options.num_threads, request->off, request->runs,
         funnel->states, funnel->cut_expr, funnel->cut_axis, funnel->cut_order, funnel->cut_merge, funnel->cut_memory,
         funnel->structures, funnel->scheduled, funnel->candidates, funnel->exhausted, best_us,
         seconds[request->runs / 2], seconds[0], seconds[request->runs - 1], processor[request->runs / 2], before_kb,
         peak_kb());
}

static void print_diagnostic(void *user, MirageSeverity severity, const void *loc, const char *message) {
  fprintf(stderr, "%s: %s\n", (const char *)user, message);
}

static int measure(Request *request, const MirageUGraph *program) {
  double seconds[MAX_RUNS], processor[MAX_RUNS], best_us = 0;
  MirageFunnel funnel = {0};
  MirageDiag diag = {print_diagnostic, (void *)request->path};
  long before_kb = peak_kb();
  for (uint32_t i = 0; i < request->runs; i++) {
    MirageSearchResult result;
    double start = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    if (mirage_search(program, &request->options, &diag, &result) != MIRAGE_OK)
      return 1;
    seconds[i] = seconds_of(CLOCK_MONOTONIC) - start;
    processor[i] = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used;
    funnel = result.funnel;
    if (result.num_candidates)
      best_us = mirage_ugraph_get_meta(result.candidates[0])->cost.time_us;
    mirage_search_result_deinit(&result);
  }
  print_row(request, mirage_ugraph_get_meta(program)->name, &funnel, best_us, seconds, processor, before_kb);
  return 0;
}

static int read_and_measure(Request *request) {
  MlirContext context = mlirContextCreateWithThreading(false);
  MirageUGraph *program = read_program(context, request->path);
  int status = program ? measure(request, program) : 1;
  if (program)
    mirage_ugraph_destroy(program);
  mlirContextDestroy(context);
  return status;
}

int main(int argc, char **argv) {
  if (argc == 1) {
    puts("program,max_block_ops,threads,off,runs,states,cut_expr,cut_axis,cut_order,cut_merge,cut_memory,structures,"
         "scheduled,candidates,exhausted,best_predicted_us,seconds_median,seconds_min,seconds_max,processor_seconds_"
         "median,rss_before_kb,"
         "rss_peak_kb");
    return 0;
  }
  Request request = {
      .path = argv[1],
      .off = "",
      .runs = 5,
      .options = {.max_block_ops = 11, .seed = 1, .num_threads = 1, .target = mirage_target_find("h200")}};
  for (int i = 2; i < argc; i++)
    if (!read_argument(&request, argv[i])) {
      fprintf(stderr,
              "search_bench: %s: wanted ops=, threads=, runs=1..%d, states= or "
              "off=expr,axis,merge,products,needs,memory,share\n",
              argv[i], MAX_RUNS);
      return 2;
    }
  return read_and_measure(&request);
}
