// mirage-check.c - checks the proofs that a module carries, with draws of its own.
//
//   mirage-mlir-opt --mirage-superoptimize program.mlir -o compiled.mlir
//   mirage-check compiled.mlir
//
// Whoever gets a module need not believe what stands in it, nor the search, the layout planner and the code generator
// that made it: none of these is in this program. It reads each graph with a stored proof beside its source, holds the
// proof to what its trials show, and proves the pair again at random points that nobody could know before.
//
// Exit status, the first that applies: 3 interrupted; 2 the command line is wrong, a module could not be read, or
// memory ran out; 1 a graph was refused; 4 a module holds no proof; 0 every proof of every module is ok.
#define _POSIX_C_SOURCE 200809L // sigaction
#define _DEFAULT_SOURCE         // getentropy
#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <popt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_REFUSED = 1, EXIT_BAD_INPUT = 2, EXIT_INTERRUPTED = 3, EXIT_NO_PROOF = 4 };

static void print_message(void *user, MirageSeverity severity, const void *loc, const char *message) {
  static const char *const names[] = {"note", "remark", "warning", "error"}; // by MirageSeverity
  fprintf(stderr, "mirage-check: %s: %s\n", names[severity], message);
}

static const MirageDiag diag = {print_message, NULL};

// ----------------------------------------------------------------------------------------------------------- interrupt

static int interrupted; // read and written atomically
static const MirageCancel cancel = {.interrupt = &interrupted};

// SA_RESETHAND: a second signal ends the process.
static void on_interrupt(int signal) {
  static const char text[] = "interrupted: ends with what it has; once more ends at once\n";
  int before = errno;
  __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
    errno = before; // nobody can be told
  errno = before;
}

static void handle_interrupts(void) {
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART | SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

// ------------------------------------------------------------------------------------------------------------- options

enum { OPTION_SEED = 1, OPTION_BOUND, OPTION_WORK, OPTION_FULL_SIZE, OPTION_NO_GUARD, OPTION_ALL, OPTION_JSON };

static const struct poptOption TABLE[] = {
    {"seed", 's', POPT_ARG_STRING, NULL, OPTION_SEED,
     "of the random points (default: from the operating system; it is printed)", "N"},
    {"log2-bound", '\0', POPT_ARG_STRING, NULL, OPTION_BOUND,
     "prove again until a wrong graph passes with probability below 2 to this (default: what each proof claims)", "X"},
    {"full-size", '\0', POPT_ARG_NONE, NULL, OPTION_FULL_SIZE,
     "prove at full size, too, what was proven on a smaller instance", NULL},
    {"max-work", '\0', POPT_ARG_STRING, NULL, OPTION_WORK,
     "multiplications of 2.5 ns that a proof at full size may take (default 1e10)", "N"},
    {"no-guard", '\0', POPT_ARG_NONE, NULL, OPTION_NO_GUARD, "do not measure rounding errors again", NULL},
    {"all", 'a', POPT_ARG_NONE, NULL, OPTION_ALL, "prove the candidates that have no stored proof, too", NULL},
    {"json", 'j', POPT_ARG_NONE, NULL, OPTION_JSON, "report as a line of JSON for each module", NULL},
    POPT_AUTOHELP POPT_TABLEEND,
};

static const char USAGE[] =
    "[OPTION...] MODULE.mlir...\n"
    "Checks the proofs that modules carry (text or bytecode; - is standard input), at random points of its own.\n"
    "Exit status: 0 all are ok; 1 a graph is refused; 2 bad usage, or a module cannot be read; 3 interrupted;\n"
    "4 a module holds no proof\n";

/// A seed that nobody knows before; below 2^63, so that every reader of JSON can hold it.
static MirageStatus draw_seed(uint64_t *out_seed) {
  uint64_t seed;
  if (getentropy(&seed, sizeof seed) != 0)
    return mirage_diag_fail(&diag, NULL, MIRAGE_IO, "no randomness from the operating system: %s; --seed gives some",
                            strerror(errno));
  *out_seed = seed >> 1;
  return MIRAGE_OK;
}

static MirageStatus set_seed(CheckSettings *settings, const char *text) {
  char *end = NULL;
  errno = 0;
  settings->seed = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno || settings->seed > INT64_MAX)
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "--seed: a number from 0 to 2^63 - 1 is wanted, got '%s'",
                            text);
  return MIRAGE_OK;
}

static MirageStatus set_bound(CheckSettings *settings, const char *text) {
  char *end = NULL;
  settings->log2_bound = strtod(text, &end);
  if (end == text || *end || !(settings->log2_bound >= -4096 && settings->log2_bound <= -1))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "--log2-bound: a number from -4096 to -1 is wanted, got '%s'", text);
  return MIRAGE_OK;
}

static MirageStatus set_work(CheckSettings *settings, const char *text) {
  char *end = NULL;
  settings->max_work = strtod(text, &end);
  if (end == text || *end || !(settings->max_work >= 1 && settings->max_work <= 1e15))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "--max-work: a number from 1 to 1e15 is wanted, got '%s'",
                            text);
  return MIRAGE_OK;
}

// `text` is NULL where the option takes none.
static MirageStatus take_option(CheckOptions *options, int option, const char *text) {
  switch (option) {
  case OPTION_SEED:
    return set_seed(&options->settings, text);
  case OPTION_BOUND:
    return set_bound(&options->settings, text);
  case OPTION_WORK:
    return set_work(&options->settings, text);
  case OPTION_FULL_SIZE:
    options->settings.full_size = true;
    return MIRAGE_OK;
  case OPTION_NO_GUARD:
    options->settings.guard = false;
    return MIRAGE_OK;
  case OPTION_ALL:
    options->all = true;
    return MIRAGE_OK;
  default:
    options->json = true;
    return MIRAGE_OK;
  }
}

static MirageStatus take_options(CheckOptions *options, poptContext popt) {
  bool seeded = false;
  for (int option = poptGetNextOpt(popt); option != -1; option = poptGetNextOpt(popt)) {
    if (option < -1)
      return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT, "%s: %s (--help lists the options)",
                              poptBadOption(popt, POPT_BADOPTION_NOALIAS), poptStrerror(option));
    char *text = poptGetOptArg(popt);
    MirageStatus status = take_option(options, option, text);
    free(text);
    MIRAGE_TRY(status);
    seeded |= option == OPTION_SEED;
  }
  if (!poptPeekArg(popt))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "a module is wanted: mirage-check compiled.mlir (--help lists the options)");
  return seeded ? MIRAGE_OK : draw_seed(&options->settings.seed);
}

// ------------------------------------------------------------------------------------------------------------- modules

/// What became of all modules so far.
typedef struct Result {
  bool refused, unreadable, without_proof;
} Result;

static MirageStatus check_entries(CheckModule *module, const CheckOptions *options) {
  for (uint32_t i = 0; i < module->num_entries && !mirage_cancelled(&cancel); i++) {
    MirageStatus status = check_module_entry(&module->entries[i], options);
    if (status != MIRAGE_OK)
      return mirage_diag_fail(&diag, NULL, status, "%s: @%s: out of memory", module->path, module->entries[i].name);
  }
  return MIRAGE_OK;
}

static MirageStatus report(const CheckModule *module, const CheckOptions *options) {
  if (options->json)
    MIRAGE_TRY(check_report_json(module, options, stdout));
  else
    check_report_text(module, options, stdout);
  if (fflush(stdout) != 0 || ferror(stdout))
    return mirage_diag_fail(&diag, NULL, MIRAGE_IO, "the report could not be written: %s", strerror(errno));
  return MIRAGE_OK;
}

static void check_one(const char *path, const CheckOptions *options, Result *result) {
  CheckModule module;
  if (mirage_cancelled(&cancel)) {
    check_report_unread(path, "not looked at after the interrupt", options, stdout);
    return;
  }
  MirageStatus status = check_module_load(path, &diag, &module);
  if (status != MIRAGE_OK && options->json)
    check_report_unread(path, mirage_status_string(status), options, stdout);
  if (status == MIRAGE_OK)
    status = check_entries(&module, options);
  if (status == MIRAGE_OK)
    status = report(&module, options);
  CheckCounts counts = check_count(&module);
  result->unreadable |= status != MIRAGE_OK;
  result->refused |= counts.refused > 0;
  result->without_proof |= status == MIRAGE_OK && (options->all ? !module.num_entries : !module.num_proofs);
  check_module_deinit(&module);
}

static int exit_status(const Result *result) {
  if (mirage_cancelled(&cancel))
    return EXIT_INTERRUPTED;
  if (result->unreadable)
    return EXIT_BAD_INPUT;
  if (result->refused)
    return EXIT_REFUSED;
  return result->without_proof ? EXIT_NO_PROOF : EXIT_SUCCESS;
}

static int run(poptContext popt) {
  CheckOptions options = {.settings = {.max_work = 1e10, .cancel = &cancel, .guard = true}};
  Result result = {0};
  if (take_options(&options, popt) != MIRAGE_OK)
    return EXIT_BAD_INPUT;
  handle_interrupts();
  for (const char *path = poptGetArg(popt); path; path = poptGetArg(popt))
    check_one(path, &options, &result);
  return exit_status(&result);
}

int main(int argc, const char **argv) {
  poptContext popt = poptGetContext("mirage-check", argc, argv, TABLE, 0);
  poptSetOtherOptionHelp(popt, USAGE);
  int status = run(popt);
  poptFreeContext(popt);
  return status;
}
