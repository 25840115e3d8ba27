// mirage-tune.c - the tuning database: what it holds, to and from other machines, and away with it.
//
//   mirage-tune list                 a line for each program that was measured, and for each compiled result that is kept
//   mirage-tune show [HASH]          all that was measured, and the graph that was chosen
//   mirage-tune export FILE.json     for another machine ("-": standard output)
//   mirage-tune import FILE.json     from another machine; what is there already stays where it is newer
//   mirage-tune clear [HASH]         forget all, or what begins so
//
// Exit status: 0 done; 1 nothing begins with that hash; 2 the command line or a file is wrong.
#include "tune.h"

#include "mirage/tuning.h"

#include <errno.h>
#include <jansson.h>
#include <popt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NONE = 1, EXIT_BAD_INPUT = 2 };

static void print_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  static const char *const names[] = {"note", "remark", "warning", "error"}; // by MirageSeverity
  fprintf(stderr, "mirage-tune: %s: %s\n", names[severity], message);
}
static const MirageDiag diag = {print_message, NULL};

typedef struct Options {
  char *database, *measure;
  double timeout_s;
  const char *command, *argument;
  int count; // of arguments, the command among them
} Options;

// --------------------------------------------------------------------------------------------------------------
// showing

static const char *choice_of(const MirageTuningRecord *record) {
  return *record->choice ? record->choice : "(own lowering)";
}

static MirageStatus print_row(void *user, const MirageTuningRecord *record) {
  if (!*(uint32_t *)user)
    printf("%-32s  %-8s %-28s %-24s %9s %8s %9s  %s\n", "program", "target", "GPU", "fastest", "us", "spread", "own us",
           "when");
  ++*(uint32_t *)user;
  printf("%-32s  %-8s %-28s %-24s %9.2f %6.1f %% %9.2f  %s\n", record->graph, record->target, record->gpu,
         choice_of(record), record->time_us, 100 * record->spread, record->own_us, record->date);
  return MIRAGE_OK;
}

static MirageStatus print_result(void *user, const MirageResult *result) {
  if (!*(uint32_t *)user)
    printf("%-32s  %-8s %-28s %9s  %s\n", "compiled", "target", "chosen on", "bytes", "when");
  ++*(uint32_t *)user;
  printf("%-32s  %-8s %-28s %9llu  %s\n", result->key.graph, result->key.target,
         *result->key.gpu ? result->key.gpu : "(by the model)", (unsigned long long)result->bytes, result->date);
  return MIRAGE_OK;
}

static MirageStatus print_rows(MirageTuning *tuning, uint32_t *out_count) {
  uint32_t num_results = 0;
  MIRAGE_TRY(mirage_tuning_each(tuning, "", &diag, print_row, out_count));
  return mirage_result_each(tuning, "", &diag, print_result, &num_results);
}

static double number_of(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void print_spills(const json_t *one) {
  if (json_object_get(one, "spilled_bytes"))
    printf("  %.0f bytes spilled", number_of(one, "spilled_bytes"));
}

static void print_measured(const json_t *measured) {
  size_t i;
  const json_t *one;
  printf("  %-32s %10s %10s %8s %10s  %s\n", "measured", "predicted", "us", "spread", "own us", "error");
  json_array_foreach(measured, i, one) {
    printf("  %-32s %10.2f ", *text_of(one, "name") ? text_of(one, "name") : "(own lowering)",
           number_of(one, "predicted_us"));
    if (!*text_of(one, "name"))
      printf("%10.2f %6.1f %%", number_of(one, "us"), 100 * number_of(one, "spread"));
    else if (json_is_true(json_object_get(one, "ok")))
      printf("%10.2f %6.1f %% %10.2f  %.1e", number_of(one, "us"), 100 * number_of(one, "spread"),
             number_of(one, "own_us"), number_of(one, "error"));
    else
      printf("%s", text_of(one, "reason"));
    print_spills(one);
    putchar('\n');
  }
}

static MirageStatus print_record(void *user, const MirageTuningRecord *record) {
  ++*(uint32_t *)user;
  printf("program       %s\ntarget        %s\noptions       %s\nversion       %s\nGPU           %s, driver %d.%d\n"
         "date          %s\nfastest       %s: %.2f us (spread %.1f %%); the program's own lowering %.2f us (spread "
         "%.1f %%)\n",
         record->graph, record->target, record->options, record->version, record->gpu, record->driver / 1000,
         record->driver % 1000 / 10, record->date, choice_of(record), record->time_us, 100 * record->spread,
         record->own_us, 100 * record->own_spread);
  json_t *measured = json_loads(record->measured, 0, NULL);
  print_measured(measured);
  json_decref(measured);
  if (*record->text)
    printf("%s\n", record->text);
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------
// commands

typedef enum { LIST, SHOW, EXPORT, IMPORT, CLEAR, NUM_COMMANDS } Command;
static const struct {
  const char *name;
  int least, most; // arguments
  bool writes;
} COMMANDS[NUM_COMMANDS] = {
    [LIST] = {"list", 0, 0, false},    [SHOW] = {"show", 0, 1, false},  [EXPORT] = {"export", 1, 1, false},
    [IMPORT] = {"import", 1, 1, true}, [CLEAR] = {"clear", 0, 1, true},
};

static MirageStatus find_command(const Options *options, Command *out) {
  for (int i = 0; options->command && i < NUM_COMMANDS; i++) {
    if (strcmp(COMMANDS[i].name, options->command) != 0)
      continue;
    *out = (Command)i;
    int given = options->count - 1;
    if (given >= COMMANDS[i].least && given <= COMMANDS[i].most)
      return MIRAGE_OK;
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "%s takes %s, got %d arguments", COMMANDS[i].name,
                            COMMANDS[i].least  ? "a file"
                            : COMMANDS[i].most ? "the beginning of a hash, or nothing"
                                               : "nothing",
                            given);
  }
  return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                          "%s%s%s: list, show, export, import or clear is wanted (--help lists the options)",
                          options->command ? "'" : "", options->command ? options->command : "no command",
                          options->command ? "'" : "");
}

// An export of a database that is not there yet is one without records.
static MirageStatus open_database(const Options *options, Command command, MirageTuning **out) {
  char *path = options->database ? strdup(options->database) : mirage_tuning_path();
  if (!path)
    return mirage_diag_fail(&diag, NULL, MIRAGE_IO,
                            "no place for the tuning database: MIRAGE_TUNING_DB, XDG_CACHE_HOME or HOME names one");
  MirageStatus status = mirage_tuning_open(path, COMMANDS[command].writes, &diag, out);
  if (status == MIRAGE_OK && !*out)
    fprintf(stderr, "mirage-tune: %s: nothing is there yet\n", path);
  free(path);
  return status;
}

static MirageStatus run_command(const Options *options, Command command, MirageTuning *tuning, uint32_t *out_count) {
  const char *argument = options->argument ? options->argument : "";
  MirageStatus status = MIRAGE_OK;
  if (!tuning)
    return MIRAGE_OK;
  switch (command) {
  case LIST:
    return print_rows(tuning, out_count);
  case SHOW:
    return mirage_tuning_each(tuning, argument, &diag, print_record, out_count);
  case EXPORT:
    status = mirage_tuning_export(tuning, argument, &diag, out_count);
    break;
  case IMPORT:
    status = mirage_tuning_import(tuning, argument, &diag, out_count);
    break;
  default:
    status = mirage_tuning_clear(tuning, argument, &diag, out_count);
  }
  if (status == MIRAGE_OK)
    fprintf(stderr, "mirage-tune: %s: %u record%s\n", options->command, *out_count, *out_count == 1 ? "" : "s");
  return status;
}

static int run(const Options *options) {
  Command command;
  MirageTuning *tuning = NULL;
  uint32_t count = 0;
  MirageStatus status = find_command(options, &command);
  if (status == MIRAGE_OK)
    status = open_database(options, command, &tuning);
  if (status == MIRAGE_OK)
    status = run_command(options, command, tuning, &count);
  mirage_tuning_close(tuning);
  if (status == MIRAGE_OK && (fflush(stdout) != 0 || ferror(stdout)))
    status = mirage_diag_fail(&diag, NULL, MIRAGE_IO, "standard output: cannot write: %s", strerror(errno));
  if (status != MIRAGE_OK)
    return EXIT_BAD_INPUT;
  return options->argument && (command == SHOW || command == CLEAR) && !count ? EXIT_NONE : EXIT_SUCCESS;
}

int main(int argc, const char **argv) {
  Options options = {.timeout_s = 10};
  const struct poptOption table[] = {
      {"database", 'd', POPT_ARG_STRING, &options.database, 0,
       "the file (default: $MIRAGE_TUNING_DB, else mirage-mlir/tuning.db in $XDG_CACHE_HOME or ~/.cache)", "FILE"},
      {"measure", '\0', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &options.measure, 0, "what mirage-select starts",
       "FILE.mlir"},
      {"timeout", '\0', POPT_ARG_DOUBLE | POPT_ARGFLAG_DOC_HIDDEN, &options.timeout_s, 0, "of a kernel", "SECONDS"},
      POPT_AUTOHELP POPT_TABLEEND,
  };
  poptContext popt = poptGetContext("mirage-tune", argc, argv, table, 0);
  poptSetOtherOptionHelp(popt, "[OPTION...] list | show [HASH] | export FILE | import FILE | clear [HASH]");
  int option = poptGetNextOpt(popt), code = EXIT_BAD_INPUT;
  if (option < -1) {
    fprintf(stderr, "mirage-tune: error: %s: %s (--help lists the options)\n",
            poptBadOption(popt, POPT_BADOPTION_NOALIAS), poptStrerror(option));
  } else if (options.measure) {
    uint32_t count = 0;
    const char *const *paths = poptGetArgs(popt); // NULL: none
    while (paths && paths[count])
      count++;
    tune_measure(options.measure, count, paths, options.timeout_s);
  } else {
    options.command = poptGetArg(popt);
    options.argument = poptGetArg(popt);
    options.count = !!options.command + !!options.argument;
    while (poptGetArg(popt))
      options.count++;
    code = run(&options);
  }
  free(options.database);
  poptFreeContext(popt);
  return code;
}
