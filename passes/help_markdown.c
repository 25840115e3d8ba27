// help_markdown.c - the reference page of passes, from the pass table: what mirage-mlir-opt --mirage-help=markdown prints.
//
// The table has arguments, summaries, options with type, default and range; reference.c has what each pass is about, and an
// example, which test/reference runs.
#include "mirage-c/Passes.h"
#include "passes.h"

#include <string.h>

// A cell of a table: a bar would end it.
static void print_cell(FILE *stream, const char *text) {
  for (; *text; text++)
    fprintf(stream, *text == '|' ? "\\|" : "%c", *text);
}

static const char *kind_name(MirageOptionKind kind) {
  switch (kind) {
  case MIRAGE_OPTION_BOOL:
    return "boolean";
  case MIRAGE_OPTION_INT:
    return "integer";
  case MIRAGE_OPTION_DOUBLE:
    return "number";
  case MIRAGE_OPTION_STRING:
    return "text";
  case MIRAGE_OPTION_CHOICE:
    return "word";
  case MIRAGE_OPTION_TARGET:
    return "GPU";
  case MIRAGE_OPTION_TUPLES:
    return "list";
  }
  return "";
}

// `one|two` of "one,two".
static void print_choices(FILE *stream, const char *choices) {
  while (*choices) {
    int length = (int)strcspn(choices, ",");
    fprintf(stream, "`%.*s`", length, choices);
    choices += length + (choices[length] == ',');
    if (*choices)
      fputs(", ", stream);
  }
}

static void print_range(FILE *stream, const MiragePassOption *option) {
  switch (option->kind) {
  case MIRAGE_OPTION_BOOL:
    fputs("`true`, `false`", stream);
    break;
  case MIRAGE_OPTION_INT:
  case MIRAGE_OPTION_DOUBLE:
    fprintf(stream, "%.15g to %.15g", option->min, option->max);
    break;
  case MIRAGE_OPTION_TUPLES:
    if (option->least == option->most)
      fprintf(stream, "entries of %u", option->least);
    else
      fprintf(stream, "entries of %u to %u", option->least, option->most);
    fprintf(stream, " integers, %.15g to %.15g", option->min, option->max);
    break;
  case MIRAGE_OPTION_CHOICE:
    print_choices(stream, option->choices);
    break;
  case MIRAGE_OPTION_TARGET:
    fputs("a GPU of the list below", stream);
    break;
  case MIRAGE_OPTION_STRING:
    fputs("any", stream);
    break;
  }
}

static void print_option(FILE *stream, const MiragePassOption *option) {
  fprintf(stream, "| `%s` | %s | ", option->name, kind_name(option->kind));
  if (option->fallback[0])
    fprintf(stream, "`%s`", option->fallback);
  else
    fputs("none", stream);
  fputs(" | ", stream);
  print_range(stream, option);
  fputs(" | ", stream);
  print_cell(stream, option->help);
  fputs(" |\n", stream);
}

static void print_options(FILE *stream, const MiragePassInfo *pass) {
  if (pass->num_options == 0) {
    fputs("No options.\n\n", stream);
    return;
  }
  fputs("| option | type | default | values | meaning |\n|---|---|---|---|---|\n", stream);
  for (size_t i = 0; i < pass->num_options; i++)
    print_option(stream, &pass->options[i]);
  fputc('\n', stream);
}

static void print_head(FILE *stream, const char *argument, const char *summary) {
  const MiragePassReference *reference = mirage__pass_reference(argument);
  fprintf(stream, "### `--%s`\n\n_%s_\n\n", argument, summary);
  if (reference)
    fprintf(stream, "%s\n\nExample:\n\n```mlir\n%s```\n\n", reference->description, reference->example);
}

void mirageHelpPrintMarkdown(FILE *stream) {
  char targets[512];
  mirage_target_list(NULL, targets, sizeof targets);
  fputs(
      "<!-- Written by mirage-mlir-opt --mirage-help=markdown; do not edit -->\n\n# Passes\n\n"
      "All passes run on `builtin.module`. Options stand behind the pass: `--mirage-verify='seed=2 explain'`, or in a "
      "pipeline\n`builtin.module(mirage-verify{seed=2 explain})`.\n\n",
      stream);
  fprintf(stream, "GPUs (`target`): %s.\n\n## Pipelines\n\n", targets);
  for (size_t i = 0; i < MIRAGE_NUM_PIPELINES; i++) {
    print_head(stream, MIRAGE_PIPELINES[i].argument, MIRAGE_PIPELINES[i].summary);
    fputs("Options: those of its passes by name; one that is given goes to every pass that has it.", stream);
    for (size_t j = 0; j < MIRAGE_PIPELINES[i].num_passes; j++)
      fprintf(stream, "%s`%s`", j ? ", " : " It runs ", MIRAGE_PIPELINES[i].passes[j]);
    fputs(".\n\n", stream);
  }
  fputs("## Passes\n\n", stream);
  for (size_t i = 0; i < MIRAGE_NUM_PASSES; i++) {
    print_head(stream, MIRAGE_PASSES[i].argument, MIRAGE_PASSES[i].summary);
    print_options(stream, &MIRAGE_PASSES[i]);
  }
}
