// help_schedule.c - the reference page of schedules, from include/mirage/schedule.def: what mirage-mlir-opt --mirage-help=schedule
// prints.
#include "mirage-c/Passes.h"
#include "mirage/schedule.h"

static void print_values(FILE *stream, const MirageKey *key) {
  switch (key->form) {
  case MIRAGE_FORM_INT:
    if (key->most == INT32_MAX)
      fprintf(stream, "%d and more", key->least);
    else
      fprintf(stream, "%d to %d", key->least, key->most);
    break;
  case MIRAGE_FORM_FLAG:
    fputs("`true`, `false`", stream);
    break;
  case MIRAGE_FORM_WORD:
    for (int32_t i = 0; i <= key->most; i++)
      fprintf(stream, "%s`%s`: %s", i ? "; " : "", key->words[i].name, key->words[i].meaning);
    break;
  case MIRAGE_FORM_LIST:
    fprintf(stream, "up to %d of [%s](#%s)", key->most, key->items->name, key->items->name);
    break;
  }
}

static void print_default(FILE *stream, const MirageKey *key) {
  switch (key->form) {
  case MIRAGE_FORM_INT:
    fprintf(stream, key->least > 0 ? "must be given" : "0");
    break;
  case MIRAGE_FORM_FLAG:
    fputs("`false`", stream);
    break;
  case MIRAGE_FORM_WORD:
    fprintf(stream, "`%s`", key->words[0].name);
    break;
  case MIRAGE_FORM_LIST:
    fputs("none", stream);
    break;
  }
}

static void print_record(FILE *stream, const MirageRecord *record) {
  fprintf(stream, "## %s\n\n| key | values | default | meaning |\n|---|---|---|---|\n", record->name);
  for (uint32_t i = 0; i < record->num_keys; i++) {
    const MirageKey *key = &record->keys[i];
    fprintf(stream, "| `%s` | ", key->name);
    print_values(stream, key);
    fputs(" | ", stream);
    print_default(stream, key);
    fprintf(stream, " | %s |\n", key->meaning);
  }
  for (uint32_t i = 0; i < record->num_keys; i++)
    if (record->keys[i].form == MIRAGE_FORM_LIST) {
      fputc('\n', stream);
      print_record(stream, record->keys[i].items); // which has no lists
    }
}

void mirageHelpPrintSchedule(FILE *stream) {
  fputs("<!-- Written by mirage-mlir-opt --mirage-help=schedule; do not edit -->\n\n# Keys of a schedule\n\n"
        "A schedule says who does what in a `custom` kernel; dropping it never changes a result. Every key may be left "
        "out, "
        "which leaves it at its\ndefault. A role is a word and its numbers, `consumer(4, 232)`; a load is a word, and "
        "its other "
        "keys in parentheses:\n\n"
        "    <warps = 5, split = rows, roles = [producer(1), consumer(4)], loads = [tensor(stages = 4), register]>\n\n",
        stream);
  print_record(stream, mirage_schedule_record());
}
