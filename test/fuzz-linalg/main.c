// main.c - fuzz-linalg: random modules through convert-linalg-to-mirage, run before and after.
//
//   fuzz-linalg --seed 1 --count 20000                 counts; exit code 1 after a failure, which is written out and shrunk
//   fuzz-linalg --seed 1 --module 17 --print           one module as text, and its verdict
//   fuzz-linalg --seed 1 --count 400 --spoil all       wrong programs in place of right ones: that is noticed, or exit code 1
//   fuzz-linalg --seed 1 --count 200 --stock           the interpreter against MLIR's own lowering, run
//   fuzz-linalg FILE                                   a module from a file
//
// Module N depends on the seed and N alone.
#include "generate.h"
#include "judge.h"
#include "stock.h"

#include <popt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Settings {
  long seed, first, count, module, most_failures;
  int print, stock, quiet;
  const char *spoil, *folder, *file;
  double least_share;
} Settings;

enum { MODULES_OF_A_CONTEXT = 200, THOROUGH = 8 };

static JudgeOptions options_of(const Settings *settings, long number, Spoil spoil) {
  return (JudgeOptions){.seed = (uint64_t)settings->seed * 1000003u + (uint64_t)number * 7919u,
                        .thorough = number % THOROUGH == 0,
                        .spoil = spoil};
}

/// Types and attributes live as long as their context.
static void refresh(MlirContext *context, long n) {
  if (context->ptr && n % MODULES_OF_A_CONTEXT)
    return;
  if (context->ptr)
    mlirContextDestroy(*context);
  *context = judge_context();
}

// --------------------------------------------------------------------------------------------------------------- failures

static void write_failure(const Settings *settings, long number, const Judgement *judgement, const char *text,
                          const char *kind) {
  char path[512];
  snprintf(path, sizeof path, "%s/module-%ld-%ld%s.mlir", settings->folder, settings->seed, number, kind);
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "fuzz-linalg: %s cannot be written\n", path);
    return;
  }
  fprintf(file, "// module %ld of seed %ld: %s: %s\n%s", number, settings->seed, VERDICT_NAMES[judgement->verdict],
          judgement->reason, text);
  fclose(file);
}

static long count_lines(const char *text) {
  long lines = 0;
  for (; *text; text++)
    lines += *text == '\n';
  return lines;
}

static void report_failure(const Settings *settings, MlirContext context, long number, Spoil spoil,
                           const Judgement *judgement, const char *text) {
  Text small = {0};
  JudgeOptions options = options_of(settings, number, spoil);
  printf("%s: fuzz-linalg --seed %ld --module %ld: %s\n", VERDICT_NAMES[judgement->verdict], settings->seed, number,
         judgement->reason);
  fflush(stdout);
  if (!settings->folder)
    return;
  write_failure(settings, number, judgement, text, "");
  if (judgement->verdict == BAD_INPUT)
    return;
  shrink_module(context, text, &options, judgement->verdict, &small);
  printf("shrunk from %ld to %ld lines\n", count_lines(text), count_lines(small.data));
  Judgement shrunk = judge_module(context, small.data, &options, NULL);
  write_failure(settings, number, &shrunk, small.data, "-small");
  text_free(&small);
}

// ------------------------------------------------------------------------------------------------------------- many modules

static int many(const Settings *settings) {
  const GenerateOptions generate = {0};
  static Counts counts;
  MlirContext context = {NULL};
  Text text = {0};
  long verdicts[NUM_VERDICTS] = {0}, compared = 0, skipped = 0, failures = 0, done = 0;
  for (long n = 0; n < settings->count && failures < settings->most_failures; n++, done++) {
    long number = settings->first + n;
    JudgeOptions options = options_of(settings, number, SPOIL_NONE);
    refresh(&context, n);
    text_clear(&text);
    generate_module((uint64_t)settings->seed, (uint64_t)number, &generate, &text);
    Judgement judgement = judge_module(context, text.data, &options, &counts);
    verdicts[judgement.verdict]++;
    compared += judgement.compared;
    skipped += judgement.skipped;
    if (is_failure(judgement.verdict)) {
      failures++;
      report_failure(settings, context, number, SPOIL_NONE, &judgement, text.data);
    } else if (judgement.verdict != SAME && !settings->quiet) {
      printf("%s: module %ld: %s\n", VERDICT_NAMES[judgement.verdict], number, judgement.reason);
    }
  }
  if (!settings->quiet)
    count_print(&counts, stdout);
  printf("%ld modules of seed %ld:", done, settings->seed);
  for (int v = 0; v < NUM_VERDICTS; v++)
    if (verdicts[v] || v == SAME)
      printf(" %s %ld", VERDICT_NAMES[v], verdicts[v]);
  printf("\n%ld elements compared, %ld without a value; %.1f %% of linalg inside\n", compared, skipped,
         count_share(&counts));
  if (context.ptr)
    mlirContextDestroy(context);
  text_free(&text);
  if (count_share(&counts) < settings->least_share)
    printf("less than %.1f %% of linalg inside\n", settings->least_share);
  return failures || count_share(&counts) < settings->least_share;
}

/// SPOIL_NONE where there is none of that name, or none was named.
static Spoil spoil_named(const char *name) {
  for (int spoil = 1; name && spoil < NUM_SPOILS; spoil++)
    if (!strcmp(name, SPOIL_NAMES[spoil]))
      return (Spoil)spoil;
  return SPOIL_NONE;
}

static int one(const Settings *settings, const char *text) {
  MlirContext context = judge_context();
  Spoil spoil = spoil_named(settings->spoil);
  JudgeOptions options = options_of(settings, settings->module < 0 ? 0 : settings->module, spoil);
  Judgement judgement = judge_module(context, text, &options, NULL);
  if (settings->print)
    fputs(text, stdout);
  printf("// %s: %s (%ld elements compared)\n", VERDICT_NAMES[judgement.verdict], judgement.reason, judgement.compared);
  if (settings->folder && is_failure(judgement.verdict))
    report_failure(settings, context, settings->module, spoil, &judgement, text);
  mlirContextDestroy(context);
  return is_failure(judgement.verdict);
}

static int one_module(const Settings *settings) {
  Text text = {0};
  const GenerateOptions generate = {.stock = settings->stock};
  generate_module((uint64_t)settings->seed, (uint64_t)settings->module, &generate, &text);
  int result = one(settings, text.data);
  text_free(&text);
  return result;
}

static int one_file(const Settings *settings) {
  Text text = {0};
  char part[4096];
  FILE *file = fopen(settings->file, "r");
  if (!file) {
    fprintf(stderr, "fuzz-linalg: %s cannot be read\n", settings->file);
    return 2;
  }
  text_append(&text, "", 0);
  for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
    text_append(&text, part, got);
  fclose(file);
  int result = one(settings, text.data);
  text_free(&text);
  return result;
}

// ---------------------------------------------------------------------------------------------------------------- spoiling

/// Each kind of wrong program is to be noticed in a third of the modules where there was something to break, at least: often the place is one that
/// makes no difference, as constants are.
static bool spoil_kind(const Settings *settings, Spoil spoil) {
  const GenerateOptions generate = {0};
  MlirContext context = {NULL};
  Text text = {0};
  long spoiled = 0, noticed = 0;
  for (long n = 0; n < settings->count; n++) {
    long number = settings->first + n;
    JudgeOptions options = options_of(settings, number, spoil);
    refresh(&context, n);
    text_clear(&text);
    generate_module((uint64_t)settings->seed, (uint64_t)number, &generate, &text);
    Judgement judgement = judge_module(context, text.data, &options, NULL);
    spoiled += judgement.spoiled;
    noticed += judgement.spoiled && is_failure(judgement.verdict);
    if (judgement.spoiled && !is_failure(judgement.verdict) && settings->print)
      printf("%s: module %ld is not noticed\n", SPOIL_NAMES[spoil], number);
  }
  mlirContextDestroy(context);
  text_free(&text);
  bool enough = spoiled >= 3 && noticed * 3 >= spoiled;
  printf("%-10s %6ld made wrong, %6ld noticed%s\n", SPOIL_NAMES[spoil], spoiled, noticed, enough ? "" : ": TOO FEW");
  return enough;
}

static int spoil_kinds(const Settings *settings) {
  bool ok = true, all = !strcmp(settings->spoil, "all");
  Spoil only = spoil_named(settings->spoil);
  if (!all && only == SPOIL_NONE) {
    fprintf(stderr, "fuzz-linalg: --spoil: %s is none\n", settings->spoil);
    return 2;
  }
  for (int spoil = 1; spoil < NUM_SPOILS; spoil++)
    if (all || spoil == (int)only)
      ok &= spoil_kind(settings, (Spoil)spoil);
  return !ok;
}

// -------------------------------------------------------------------------------------------------------------------- main

static int dispatch(const Settings *settings) {
  if (settings->file)
    return one_file(settings);
  if (settings->module >= 0)
    return one_module(settings);
  if (settings->spoil)
    return spoil_kinds(settings);
  if (settings->stock)
    return stock_modules((uint64_t)settings->seed, settings->first, settings->count);
  return many(settings);
}

int main(int argc, const char **argv) {
  Settings settings = {.seed = 1, .count = 1000, .module = -1, .most_failures = 20};
  const struct poptOption table[] = {
      {"seed", 's', POPT_ARG_LONG, &settings.seed, 0, "of the modules", "N"},
      {"first", 'f', POPT_ARG_LONG, &settings.first, 0, "the first module's number", "N"},
      {"count", 'n', POPT_ARG_LONG, &settings.count, 0, "how many modules", "N"},
      {"module", 'm', POPT_ARG_LONG, &settings.module, 0, "this one alone", "N"},
      {"print", 'p', POPT_ARG_NONE, &settings.print, 0, "the module; with --spoil, what is not noticed", NULL},
      {"folder", 'o', POPT_ARG_STRING, &settings.folder, 0, "where failing modules are written, as made and shrunk",
       "PATH"},
      {"most-failures", 0, POPT_ARG_LONG, &settings.most_failures, 0, "end after that many", "N"},
      {"least-share", 0, POPT_ARG_DOUBLE, &settings.least_share, 0, "fail if less of linalg goes inside", "PERCENT"},
      {"spoil", 0, POPT_ARG_STRING, &settings.spoil, 0,
       "break programs: sub, start, transpose, matmul, max, slice, constant, call, effect, round, all", "KIND"},
      {"stock", 0, POPT_ARG_NONE, &settings.stock, 0, "the interpreter against MLIR's own lowering", NULL},
      {"quiet", 'q', POPT_ARG_NONE, &settings.quiet, 0, "no table of operations", NULL},
      POPT_AUTOHELP POPT_TABLEEND};
  poptContext popt = poptGetContext("fuzz-linalg", argc, argv, table, 0);
  int option = poptGetNextOpt(popt), status = 2;
  settings.file = poptGetArg(popt);
  if (option != -1 || poptPeekArg(popt) || settings.count < 0)
    fprintf(stderr, "fuzz-linalg: %s: %s\n", option < -1 ? poptBadOption(popt, 0) : "arguments",
            option < -1 ? poptStrerror(option) : "options, and one file at most");
  else
    status = dispatch(&settings);
  poptFreeContext(popt);
  free((void *)(uintptr_t)settings.spoil); // popt's copies
  free((void *)(uintptr_t)settings.folder);
  return status;
}
