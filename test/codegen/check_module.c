// check_module.c - mirage-module-test: every graph of an MLIR module on the emulator, against its own evaluation.
//
//   mirage-module-test [--target h200|a100|...] [--shrink] [--max-work elements] [--warps n]... [--verbose]
//   MODULE.mlir...
//
// Programs (graphs without a source) run by their own lowering, candidates as they are written, each for an sm_90a and
// an sm_80 target. --shrink: a graph of more work than --max-work runs as a smaller copy in which every split survives
// and tiles keep 16 elements or more (lib/verify/shrink.c). --warps: once more with that many warps a block, where
// the schedule leaves them open.
//
// Exit status: 0 every graph is right for every target; 1 one is wrong, refused or too large; 2 bad options.
#define _POSIX_C_SOURCE 200809L
#include "check_graph.h"

#include "verify/verify_internal.h"

#include "mirage-c/Dialects.h"
#include "mirage/bridge.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_WARPS = 8 };

typedef struct Options {
  const char *target;
  double max_work;
  int32_t warps[MOST_WARPS];
  int num_warps;
  bool compile, shrink, verbose;
} Options;

typedef struct Tally {
  unsigned right, wrong;
} Tally;

// ------------------------------------------------------------------------------------------------------------- reading

static void print_string(MlirStringRef part, void *stream) { fwrite(part.data, 1, part.length, stream); }

static MlirLogicalResult print_diagnostic(MlirDiagnostic diagnostic, void *user) {
  mlirLocationPrint(mlirDiagnosticGetLocation(diagnostic), print_string, stderr);
  fputs(": ", stderr);
  mlirDiagnosticPrint(diagnostic, print_string, stderr);
  fputc('\n', stderr);
  return mlirLogicalResultSuccess();
}

static MlirContext create_context(void) {
  MlirContext context = mlirContextCreateWithThreading(false);
  MlirDialectHandle handles[] = {mlirGetDialectHandle__mirage_kernel__(), mlirGetDialectHandle__mirage_block__(),
                                 mlirGetDialectHandle__mirage_thread__()};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
    mlirDialectHandleRegisterDialect(handles[i], context);
    mlirDialectHandleLoadDialect(handles[i], context);
  }
  mlirContextAttachDiagnosticHandler(context, print_diagnostic, NULL, NULL);
  return context;
}

typedef struct Graphs {
  MirageUGraph **all;
  size_t count, capacity;
} Graphs;

static void graphs_free(Graphs *graphs) {
  for (size_t i = 0; i < graphs->count; i++)
    mirage_ugraph_destroy(graphs->all[i]);
  free(graphs->all);
}

static bool add_graph(Graphs *graphs, MlirOperation op) {
  MirageBridgeDiag diag;
  mirage_bridge_diag_init(&diag, mlirOperationGetLocation(op));
  if (graphs->count == graphs->capacity) {
    size_t capacity = graphs->capacity ? 2 * graphs->capacity : 16;
    MirageUGraph **all = realloc(graphs->all, capacity * sizeof *all);
    if (!all)
      return false;
    graphs->all = all;
    graphs->capacity = capacity;
  }
  if (mirage_bridge_import(op, &diag.diag, &graphs->all[graphs->count]) != MIRAGE_OK)
    return false;
  graphs->count++;
  return true;
}

static bool read_graphs(MlirModule module, Graphs *graphs) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    if (mlirStringRefEqual(name, mlirStringRefCreateFromCString("mirage_kernel.graph")) && !add_graph(graphs, op))
      return false;
  }
  return true;
}

// ----------------------------------------------------------------------------------------------------------- shrinking

static const MirageUGraph *source_of(const Graphs *graphs, const MirageUGraph *graph) {
  const char *source = mirage_ugraph_get_meta(graph)->source;
  for (size_t i = 0; source && i < graphs->count; i++)
    if (strcmp(mirage_ugraph_get_meta(graphs->all[i])->name, source) == 0)
      return graphs->all[i];
  return graph;
}

// A smaller copy of `graph` in step with its program, or NULL.
static MirageUGraph *shrink(const Graphs *graphs, const MirageUGraph *graph) {
  MirageUGraph *program = NULL, *expanded = NULL, *small_program = NULL, *small = NULL;
  char reason[160] = "";
  bool follow = true;
  if (mirage_ugraph_expand(source_of(graphs, graph), NULL, &program) == MIRAGE_OK &&
      mirage_ugraph_expand(graph, NULL, &expanded) == MIRAGE_OK)
    mirage__verify_shrink(program, expanded, SHRINK_TILES, &follow, &small_program, &small, reason);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(expanded);
  mirage_ugraph_destroy(small_program);
  return small;
}

// ------------------------------------------------------------------------------------------------------------ checking

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// A copy with `warps` warps in every custom kernel that leaves them open; NULL when none does.
static MirageUGraph *with_warps(const MirageUGraph *graph, int32_t warps) {
  MirageUGraph *copy = NULL;
  bool any = false;
  if (mirage_ugraph_clone(graph, NULL, &copy) != MIRAGE_OK)
    return NULL;
  for (uint32_t n = 1; n <= mirage_ugraph_num_nodes(copy); n++) {
    MirageNodeView view = mirage_ugraph_node(copy, (MirageNode){n});
    if (view.op != MIRAGE_OP_CUSTOM)
      continue;
    MirageSchedule schedule = view.attrs->custom.schedule ? *view.attrs->custom.schedule : (MirageSchedule){0};
    any |= schedule.warps == 0;
    schedule.warps = schedule.warps ? schedule.warps : warps;
    mirage_ugraph_set_schedule(copy, (MirageNode){n}, &schedule);
  }
  if (!any) {
    mirage_ugraph_destroy(copy);
    return NULL;
  }
  return copy;
}

static void check_on(const MirageUGraph *graph, const char *label, const MirageTarget *target, const Options *options,
                     Tally *tally) {
  static const char *const names[] = {"ok", "WRONG", "REFUSED", "LARGE"}; // by CheckVerdict
  CheckReport report;
  double start = now_ms();
  if (options->compile)
    check_compiles(graph, target, &report);
  else
    check_graph(graph, target, 1, options->max_work, &report);
  bool ok = report.verdict == CHECK_OK;
  if (ok)
    tally->right++;
  else
    tally->wrong++;
  if (!ok || options->verbose)
    printf("%-7s @%s%s %s: error %.2e (allowed %.2e), %.1e elements, %.0f ms%s%s\n", names[report.verdict],
           mirage_ugraph_get_meta(graph)->name, label, target->chip, report.relative, report.allowed, report.work,
           now_ms() - start, *report.reason ? "; " : "", report.reason);
  fflush(stdout);
}

static void check_for(const MirageUGraph *graph, const MirageTarget *target, const Options *options, Tally *tally) {
  char label[32];
  check_on(graph, "", target, options, tally);
  for (int i = 0; i < options->num_warps; i++) {
    MirageUGraph *copy = with_warps(graph, options->warps[i]);
    snprintf(label, sizeof label, ", %d warps,", options->warps[i]);
    if (copy)
      check_on(copy, label, target, options, tally);
    mirage_ugraph_destroy(copy);
  }
}

static void check_targets(const Graphs *graphs, const MirageUGraph *graph, const Options *options, Tally *tally) {
  static const char *const TARGETS[] = {"h200", "a100"};
  MirageUGraph *small = NULL;
  if (options->shrink)
    small = shrink(graphs, graph);
  for (size_t t = 0; t < (options->target ? 1 : sizeof TARGETS / sizeof *TARGETS); t++) {
    const MirageTarget *target = mirage_target_find(options->target ? options->target : TARGETS[t]);
    check_for(small ? small : graph, target, options, tally);
  }
  mirage_ugraph_destroy(small);
}

static bool check_file(MlirContext context, const char *path, const Options *options, Tally *tally) {
  MlirModule module = mlirModuleCreateParseFromFile(context, mlirStringRefCreateFromCString(path));
  if (mlirModuleIsNull(module)) {
    fprintf(stderr, "%s: cannot be read\n", path);
    return false;
  }
  Graphs graphs = {0};
  bool ok = read_graphs(module, &graphs);
  for (size_t i = 0; ok && i < graphs.count; i++)
    check_targets(&graphs, graphs.all[i], options, tally);
  graphs_free(&graphs);
  mlirModuleDestroy(module);
  return ok;
}

// ---------------------------------------------------------------------------------------------------------------- main

static int usage(const char *program) {
  fprintf(stderr,
          "usage: %s [--target name] [--compile | --shrink] [--max-work elements] [--warps n]... [--verbose] "
          "MODULE.mlir...\n",
          program);
  return 2;
}

int main(int argc, char **argv) {
  Options options = {0};
  int first = argc;
  for (int i = 1; i < argc && first == argc; i++) {
    if (!strcmp(argv[i], "--target") && i + 1 < argc)
      options.target = argv[++i];
    else if (!strcmp(argv[i], "--max-work") && i + 1 < argc)
      options.max_work = atof(argv[++i]);
    else if (!strcmp(argv[i], "--warps") && i + 1 < argc && options.num_warps < MOST_WARPS)
      options.warps[options.num_warps++] = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--compile"))
      options.compile = true;
    else if (!strcmp(argv[i], "--shrink"))
      options.shrink = true;
    else if (!strcmp(argv[i], "--verbose"))
      options.verbose = true;
    else if (argv[i][0] == '-')
      return usage(argv[0]);
    else
      first = i;
  }
  if (first == argc || (options.target && !mirage_target_find(options.target)))
    return usage(argv[0]);
  MlirContext context = create_context();
  Tally tally = {0};
  bool read = true;
  for (int i = first; i < argc; i++)
    read = check_file(context, argv[i], &options, &tally) && read;
  mlirContextDestroy(context);
  printf("%u of %u ok\n", tally.right, tally.right + tally.wrong);
  return !read || tally.wrong || !tally.right;
}
