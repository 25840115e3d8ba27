// fuzz_codegen.c - random programs and random kernels, compiled for sm_90a and sm_80, on the emulator against their
// evaluation.
//
//   fuzz_codegen [--seed n] [--cases n] [--first n] [--programs | --kernels] [--target name] [--max-work elements]
//                [--verbose]
//
// Case i of a seed is always the same graph. A case that fails is made smaller - choices become 0 or halve for as long
// as it still fails - and printed as MLIR, with the command that repeats it. A refusal counts as a failure unless it is
// a limit, or the schedule was drawn.
//
// Exit status: 0 all cases are right; 1 one is not; 2 bad options.
#define _POSIX_C_SOURCE 200809L
#include "check_graph.h"
#include "random_graphs.h"

#include "mirage-c/Dialects.h"
#include "mirage/bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { KIND_BOTH, KIND_PROGRAMS, KIND_KERNELS } Kind;

typedef struct Options {
  uint64_t seed;
  unsigned long cases, first;
  Kind kind;
  const char *target;
  double max_work;
  bool verbose;
} Options;

typedef struct Tally {
  unsigned long right, wrong, refused, large, unbuilt;
} Tally;

enum { MOST_ATTEMPTS = 400 };

static MirageUGraph *draw(Kind kind, Choices *choices, bool *out_by_hand) {
  *out_by_hand = false;
  return kind == KIND_PROGRAMS ? random_program(choices) : random_kernels(choices, out_by_hand);
}

// ------------------------------------------------------------------------------------------------------------- one
// case

// The worst verdict over the targets; *out_chip names the target.
static CheckReport check(const MirageUGraph *graph, bool by_hand, uint64_t seed, const Options *options,
                         const char **out_chip) {
  static const char *const TARGETS[] = {"h200", "a100"};
  CheckReport report = {.verdict = CHECK_OK};
  for (size_t t = 0; t < (options->target ? 1 : 2) && report.verdict == CHECK_OK; t++) {
    const MirageTarget *target = mirage_target_find(options->target ? options->target : TARGETS[t]);
    *out_chip = target->chip;
    check_graph(graph, target, seed, options->max_work, &report);
  }
  bool allowed = by_hand || report.status == MIRAGE_LIMIT;
  if (report.verdict == CHECK_REFUSED && !allowed)
    report.verdict = CHECK_WRONG;
  return report;
}

// Whether these choices still make a case that fails.
static bool still_fails(Kind kind, Choices *choices, uint64_t seed, const Options *options) {
  bool by_hand;
  const char *chip;
  choices_rewind(choices);
  MirageUGraph *graph = draw(kind, choices, &by_hand);
  bool fails = graph && check(graph, by_hand, seed, options, &chip).verdict == CHECK_WRONG;
  mirage_ugraph_destroy(graph);
  return fails;
}

static void minimise(Kind kind, Choices *choices, uint64_t seed, const Options *options) {
  unsigned attempts = 0;
  bool smaller = true;
  while (smaller && attempts < MOST_ATTEMPTS) {
    smaller = false;
    for (uint32_t keep = choices->count / 2; keep > 0 && attempts < MOST_ATTEMPTS; keep /= 2) { // a shorter sequence
      Choices trial = *choices;
      trial.count -= keep;
      attempts++;
      if (still_fails(kind, &trial, seed, options)) {
        *choices = trial;
        smaller = true;
      }
    }
    for (uint32_t i = 0; i < choices->count && attempts < MOST_ATTEMPTS; i++)
      for (uint32_t divisor = 0; choices->values[i] && divisor < 3; divisor += 2) {
        Choices trial = *choices;
        trial.values[i] = divisor ? trial.values[i] / divisor : 0;
        attempts++;
        if (still_fails(kind, &trial, seed, options)) {
          *choices = trial;
          smaller = true;
          break;
        }
      }
  }
}

// -------------------------------------------------------------------------------------------------------------
// printing

static void print_string(MlirStringRef part, void *stream) { fwrite(part.data, 1, part.length, stream); }

static void print_graph(const MirageUGraph *graph) {
  MlirDialectHandle handles[] = {mlirGetDialectHandle__mirage_kernel__(), mlirGetDialectHandle__mirage_block__(),
                                 mlirGetDialectHandle__mirage_thread__()};
  MlirContext context = mlirContextCreateWithThreading(false);
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
    mlirDialectHandleRegisterDialect(handles[i], context);
    mlirDialectHandleLoadDialect(handles[i], context);
  }
  MlirLocation loc = mlirLocationUnknownGet(context);
  MlirModule module = mlirModuleCreateEmpty(loc);
  MlirOperation op;
  if (mirage_bridge_export(graph, context, mlirModuleGetBody(module), loc, NULL, &op) == MIRAGE_OK)
    mlirOperationPrint(op, print_string, stdout);
  printf("\n");
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

static void show(unsigned long number, Kind kind, Choices *choices, uint64_t seed, const Options *options) {
  bool by_hand;
  const char *chip = "";
  minimise(kind, choices, seed, options);
  choices_rewind(choices);
  MirageUGraph *graph = draw(kind, choices, &by_hand);
  if (!graph)
    return;
  CheckReport report = check(graph, by_hand, seed, options, &chip);
  printf("// fuzz_codegen --seed %llu --first %lu --cases 1; %s: %s\n", (unsigned long long)options->seed, number, chip,
         report.reason);
  print_graph(graph);
  fflush(stdout);
  mirage_ugraph_destroy(graph);
}

// ----------------------------------------------------------------------------------------------------------------
// cases

static void run_case(unsigned long number, const Options *options, Tally *tally) {
  static Choices choices;
  static const char *const names[] = {"ok", "WRONG", "refused", "large"}; // by CheckVerdict
  Kind kind = options->kind != KIND_BOTH ? options->kind : number % 2 ? KIND_KERNELS : KIND_PROGRAMS;
  uint64_t seed = options->seed * 1000003 + number;
  bool by_hand;
  const char *chip = "";
  choices_begin(&choices, options->seed, number);
  MirageUGraph *graph = draw(kind, &choices, &by_hand);
  if (!graph) {
    tally->unbuilt++;
    return;
  }
  CheckReport report = check(graph, by_hand, seed, options, &chip);
  mirage_ugraph_destroy(graph);
  if (options->verbose || report.verdict == CHECK_WRONG)
    printf("%-7s %lu %s: error %.2e (allowed %.2e), %.1e elements; %s\n", names[report.verdict], number, chip,
           report.relative, report.allowed, report.work, report.reason);
  switch (report.verdict) {
  case CHECK_OK:
    tally->right++;
    break;
  case CHECK_WRONG:
    tally->wrong++;
    show(number, kind, &choices, seed, options);
    break;
  case CHECK_REFUSED:
    tally->refused++;
    break;
  case CHECK_TOO_LARGE:
    tally->large++;
    break;
  }
  fflush(stdout);
}

static int usage(const char *program) {
  fprintf(stderr,
          "usage: %s [--seed n] [--cases n] [--first n] [--programs | --kernels] [--target name] [--max-work elements] "
          "[--verbose]\n",
          program);
  return 2;
}

int main(int argc, char **argv) {
  Options options = {.seed = 1, .cases = 1000, .max_work = 5e6};
  for (int i = 1; i < argc; i++) {
    bool more = i + 1 < argc;
    if (!strcmp(argv[i], "--seed") && more)
      options.seed = strtoull(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--cases") && more)
      options.cases = strtoul(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--first") && more)
      options.first = strtoul(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--max-work") && more)
      options.max_work = atof(argv[++i]);
    else if (!strcmp(argv[i], "--target") && more)
      options.target = argv[++i];
    else if (!strcmp(argv[i], "--programs"))
      options.kind = KIND_PROGRAMS;
    else if (!strcmp(argv[i], "--kernels"))
      options.kind = KIND_KERNELS;
    else if (!strcmp(argv[i], "--verbose"))
      options.verbose = true;
    else
      return usage(argv[0]);
  }
  if (options.target && !mirage_target_find(options.target))
    return usage(argv[0]);
  Tally tally = {0};
  for (unsigned long i = 0; i < options.cases; i++)
    run_case(options.first + i, &options, &tally);
  printf("%lu right, %lu wrong, %lu refused, %lu too large, %lu not built\n", tally.right, tally.wrong, tally.refused,
         tally.large, tally.unbuilt);
  return tally.wrong || !tally.right;
}
