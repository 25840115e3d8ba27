// help.c - what mirage-mlir-opt --help says: our pipelines, passes and options, from the pass table.
//
// MLIR's own list has some hundred lines of other things before them; --help-list and --help-hidden still print it.
#include "mirage-c/Passes.h"
#include "passes.h"

#include "mirage/target.h"

#include <string.h>

enum { NAME_WIDTH = 26, WIDTH = 118 };

// Words of a text in lines that begin at NAME_WIDTH, the first of which is begun already.
static void print_wrapped(FILE *stream, const char *text) {
  int column = NAME_WIDTH;
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (column > NAME_WIDTH && column + 1 + length > WIDTH) {
      fprintf(stream, "\n%*s", NAME_WIDTH, "");
      column = NAME_WIDTH;
    } else if (column > NAME_WIDTH) {
      fputc(' ', stream);
      column++;
    }
    fprintf(stream, "%.*s", length, text);
    column += length;
    text += length;
    text += strspn(text, " ");
  }
  fputc('\n', stream);
}

static void print_option(FILE *stream, const MiragePassOption *option) {
  char name[64], text[1024];
  snprintf(name, sizeof name, option->fallback[0] ? "%s=%s" : "%s=", option->name, option->fallback);
  fprintf(stream, "    %-*s", NAME_WIDTH - 4, name);
  if (strlen(name) >= NAME_WIDTH - 4)
    fprintf(stream, "\n%*s", NAME_WIDTH, "");
  snprintf(text, sizeof text, "%s%s%s%s", option->help, option->choices ? " (" : "",
           option->choices ? option->choices : "", option->choices ? ")" : "");
  print_wrapped(stream, text);
}

static void print_pass(FILE *stream, const MiragePassInfo *pass) {
  fprintf(stream, "\n  --%s\n      %s.\n", pass->argument, pass->summary);
  for (size_t i = 0; i < pass->num_options; i++)
    print_option(stream, &pass->options[i]);
}

static void print_targets(FILE *stream) {
  char known[512];
  mirage_target_list(NULL, known, sizeof known);
  fprintf(stream, "\nGPUs (target=): %s; h200 where none is named.\n", known);
}

void mirageHelpPrint(FILE *stream) {
  fputs("Finds, proves and compiles GPU kernels for small tensor programs.\n\n"
        "  mirage-mlir-opt --mirage-superoptimize program.mlir -o compiled.mlir\n"
        "  mirage-mlir-opt --mirage-superoptimize='target=a100 time-budget=60' program.mlir -o compiled.mlir\n"
        "  mirage-run compiled.mlir\n\n"
        "Pipelines (options: those of their passes):\n",
        stream);
  for (size_t i = 0; i < MIRAGE_NUM_PIPELINES; i++)
    fprintf(stream, "\n  --%s\n      %s.\n", MIRAGE_PIPELINES[i].argument, MIRAGE_PIPELINES[i].summary);
  fputs("\nPasses and their options, with defaults; options go behind the pass: --mirage-verify='seed=2 explain'\n",
        stream);
  for (size_t i = 0; i < MIRAGE_NUM_PASSES; i++)
    print_pass(stream, &MIRAGE_PASSES[i]);
  print_targets(stream);
  fputs("\n  -o FILE                 where the result goes (default: standard output); the file is replaced when it is "
        "whole\n"
        "\nEvery flag of mlir-opt works too: --help-list prints all of them, --help-hidden those that it hides.\n"
        "--mirage-help=markdown prints this page as a reference, with types, ranges and examples;\n"
        "--mirage-help=schedule the keys of a kernel's schedule.\n"
        "MIRAGE_TRACE=enumerate,verify in the environment prints the module after these passes.\n"
        "\nExit status: 0 finished; 1 failed, and nothing is written; 130 interrupted by Ctrl-C or SIGTERM: what is "
        "written is\nvalid, and the best that was found until then. A second signal ends the process by that signal.\n",
        stream);
}
