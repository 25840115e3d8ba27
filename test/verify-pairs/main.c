// main.c - mirage-verify-pairs: random pairs of programs, judged here and by mirage_verify.
//
//   mirage-verify-pairs --seed 1 --count 20000 --threads 2       counts; exit code 1 after a false accept
//   mirage-verify-pairs --seed 1 --pair 17 --print               one pair as text, with what both say
//   mirage-verify-pairs --seed 1 --count 2000 --cross-check      the judge's evaluator against mirage_eval
//
// Pair N depends on the seed and N alone, so that results do not depend on the number of threads.
#include "check.h"

#include <jansson.h>
#include <popt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct Settings {
  CheckOptions check;
  long seed, first, count, pair, show;
  int threads, print, cross, json, quiet, tolerate;
} Settings;

typedef struct Work {
  const Settings *settings;
  Record *records;
  atomic_long next;
  atomic_int disagreements;
} Work;

// ----------------------------------------------------------------------------------------------------------- one pair

static void show(const Settings *settings, uint64_t number, const Pair *pair, const Record *record) {
  printf("// pair %lu of seed %ld, %s: %s\n", (unsigned long)number, settings->seed, pair->family, pair->story);
  static const char *const judged[NUM_JUDGEMENTS] = {"same", "different", "undecided", "no source"};
  printf("// judged %s (%s%s, %.3g at output %d, element %ld)\n", judged[record->judged.kind], record->judged.why,
         record->judged.exact ? ", exact" : "", record->judged.distance, record->judged.output,
         (long)record->judged.index);
  for (int mode = 0; mode < NUM_MODES; mode++)
    printf("// %s: %s%s%s %s\n", MODE_NAMES[mode], CLASS_NAMES[record->class[mode]],
           record->shrunken[mode] ? " (shrunken)" : "", record->cause[mode][0] ? "," : "", record->cause[mode]);
  print_pair(pair, number, stdout);
}

static int one_pair(const Settings *settings) {
  Pair *pair = malloc(sizeof *pair);
  Record record;
  if (!pair)
    return 2;
  check_pair(&settings->check, (uint64_t)settings->pair, pair, &record);
  show(settings, (uint64_t)settings->pair, pair, &record);
  free(pair);
  return record.class[MODE_DEFAULT] == FALSE_ACCEPT || record.class[MODE_SMALL] == FALSE_ACCEPT;
}

// ---------------------------------------------------------------------------------------------------------- many pairs

static void *worker(void *data) {
  Work *work = data;
  Pair *pair = malloc(sizeof *pair);
  for (long i; pair && (i = atomic_fetch_add(&work->next, 1)) < work->settings->count;) {
    uint64_t number = (uint64_t)(work->settings->first + i);
    if (work->settings->cross)
      atomic_fetch_add(&work->disagreements, cross_check(&work->settings->check, number, pair, stdout));
    else
      check_pair(&work->settings->check, number, pair, &work->records[i]);
  }
  free(pair);
  return NULL;
}

static void run_workers(Work *work) {
  enum { MOST = 64 };
  pthread_t threads[MOST];
  int count = work->settings->threads < 1 ? 1 : work->settings->threads > MOST ? MOST : work->settings->threads;
  int started = 0;
  while (started < count - 1 && pthread_create(&threads[started], NULL, worker, work) == 0)
    started++;
  worker(work);
  for (int i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}

// ------------------------------------------------------------------------------------------------------------- report

typedef struct Line {
  char text[400];
  long count, first; // pair number
} Line;

typedef struct Lines {
  Line *lines;
  int num, room;
} Lines;

static void add_line(Lines *lines, const char *text, long number) {
  for (int i = 0; i < lines->num; i++)
    if (!strcmp(lines->lines[i].text, text)) {
      lines->lines[i].count++;
      return;
    }
  if (lines->num == lines->room) {
    lines->room = lines->room ? 2 * lines->room : 64;
    lines->lines = realloc(lines->lines, (size_t)lines->room * sizeof *lines->lines);
    if (!lines->lines)
      abort(); // a test program
  }
  Line *line = &lines->lines[lines->num++];
  snprintf(line->text, sizeof line->text, "%s", text);
  line->count = 1;
  line->first = number;
}

static int by_count(const void *a, const void *b) {
  const Line *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->text, y->text);
}

static void print_lines(const char *title, Lines *lines) {
  if (lines->num)
    qsort(lines->lines, (size_t)lines->num, sizeof *lines->lines, by_count);
  printf("%s\n", title);
  for (int i = 0; i < lines->num; i++)
    printf("  %7ld  %s  (first: pair %ld)\n", lines->lines[i].count, lines->lines[i].text, lines->lines[i].first);
  free(lines->lines);
}

static const char *const FAMILIES[] = {"kernel level", "wrapped", "scheduled", "softmax"};
enum { NUM_FAMILIES = 4 };

static void count_all(const Work *work, long counts[NUM_FAMILIES + 1][NUM_MODES][NUM_CLASSES]) {
  for (long i = 0; i < work->settings->count; i++)
    for (int f = 0; f <= NUM_FAMILIES; f++)
      for (int mode = 0; mode < NUM_MODES; mode++)
        if (f == NUM_FAMILIES || !strcmp(work->records[i].family, FAMILIES[f]))
          counts[f][mode][work->records[i].class[mode]]++;
}

static void print_table(long counts[NUM_FAMILIES + 1][NUM_MODES][NUM_CLASSES]) {
  printf("%-14s %-8s", "family", "mode");
  for (int c = 0; c < NUM_CLASSES; c++)
    printf("%16s", CLASS_NAMES[c]);
  for (int f = 0; f <= NUM_FAMILIES; f++)
    for (int mode = 0; mode < NUM_MODES; mode++) {
      printf("\n%-14s %-8s", f == NUM_FAMILIES ? "all" : FAMILIES[f], MODE_NAMES[mode]);
      for (int c = 0; c < NUM_CLASSES; c++)
        printf("%16ld", counts[f][mode][c]);
    }
  printf("\n");
}

static void print_json(const Settings *settings, long counts[NUM_FAMILIES + 1][NUM_MODES][NUM_CLASSES]) {
  json_t *root = json_pack("{s:I,s:I,s:I}", "seed", (json_int_t)settings->seed, "first", (json_int_t)settings->first,
                           "count", (json_int_t)settings->count);
  for (int f = 0; root && f <= NUM_FAMILIES; f++) {
    json_t *family = json_object();
    for (int mode = 0; mode < NUM_MODES; mode++) {
      json_t *object = json_object();
      for (int c = 0; c < NUM_CLASSES; c++)
        json_object_set_new(object, CLASS_NAMES[c], json_integer(counts[f][mode][c]));
      json_object_set_new(family, MODE_NAMES[mode], object);
    }
    json_object_set_new(root, f == NUM_FAMILIES ? "all" : FAMILIES[f], family);
  }
  json_dumpf(root, stdout, JSON_PRESERVE_ORDER);
  printf("\n");
  json_decref(root);
}

static void print_costs(const Work *work) {
  double judge = 0, verify[NUM_MODES] = {0}, slowest = 0;
  long refused = 0, undefined = 0, slow = 0, different = 0, shrunken[NUM_MODES] = {0};
  for (long i = 0; i < work->settings->count; i++) {
    const Record *record = &work->records[i];
    judge += record->judge_ms;
    slow += record->judge_ms > 20;
    different += record->judged.kind == JUDGED_DIFFERENT;
    slowest = record->judge_ms > slowest ? record->judge_ms : slowest;
    for (int mode = 0; mode < NUM_MODES; mode++) {
      verify[mode] += record->verify_ms[mode];
      shrunken[mode] += record->shrunken[mode];
    }
    refused += record->refused;
    undefined += record->undefined;
  }
  double n = (double)(work->settings->count ? work->settings->count : 1);
  printf("verdicts on smaller instances: %.1f %% by default, %.1f %% small\n", 100 * (double)shrunken[MODE_DEFAULT] / n,
         100 * (double)shrunken[MODE_SMALL] / n);
  printf("judged different: %.1f %%; thrown away before: %ld refused by the builder, %ld with an undefined source\n",
         100 * (double)different / n, refused, undefined);
  printf("processor time a pair: judge %.2f ms (%.2f %% over 20 ms, the slowest %.0f ms), verifier %.2f ms + %.2f ms\n",
         judge / n, 100 * (double)slow / n, slowest, verify[MODE_DEFAULT] / n, verify[MODE_SMALL] / n);
}

// What was done to the pair, without "rule:" steps, which are meant to be right.
static void slips_of(const char *story, char *out, size_t size) {
  out[0] = 0;
  for (const char *at = story; (at = strstr(at, "slip:")) || (at = strstr(story, "blunder:"));) {
    const char *end = at + 1;
    while (*end && strncmp(end, " rule:", 6) && strncmp(end, " slip:", 6) && strncmp(end, " blunder:", 9) &&
           strncmp(end, " exchanged", 10))
      end++;
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%.*s", used ? " " : "", (int)(end - at), at);
    if (!strncmp(at, "blunder:", 8))
      return;
    at = end;
  }
}

static void report_wrong(const Work *work, Pair *pair) {
  Lines accepts = {0}, rejects[NUM_MODES] = {{0}};
  long shown = 0;
  char text[400], slips[200];
  for (long i = 0; i < work->settings->count; i++) {
    const Record *record = &work->records[i];
    long number = work->settings->first + i;
    bool accepted = false;
    for (int mode = 0; mode < NUM_MODES; mode++) {
      if (record->class[mode] == FALSE_ACCEPT) {
        slips_of(record->story, slips, sizeof slips);
        snprintf(text, sizeof text, "%s, %s, %s%s: %s", record->family, MODE_NAMES[mode], record->judged.why,
                 record->shrunken[mode] ? ", shrunken" : ", full size", slips[0] ? slips : record->story);
        add_line(&accepts, text, number);
        accepted = true;
      }
      if (record->class[mode] == FALSE_REJECT)
        add_line(&rejects[mode], record->cause[mode], number);
      if (record->class[mode] == FAILED)
        printf("FAILED: pair %ld, %s\n", number, MODE_NAMES[mode]);
    }
    if (!accepted)
      continue;
    printf("FALSE ACCEPT: mirage-verify-pairs --seed %ld --pair %ld --print   (%s: %s)\n", work->settings->seed, number,
           record->family, record->story);
    if (shown++ < work->settings->show) {
      Record again;
      check_pair(&work->settings->check, (uint64_t)number, pair, &again);
      show(work->settings, (uint64_t)number, pair, &again);
    }
  }
  print_lines("false accepts by kind:", &accepts);
  print_lines("false rejects by cause, default:", &rejects[MODE_DEFAULT]);
  print_lines("false rejects by cause, small:", &rejects[MODE_SMALL]);
}

static int many_pairs(const Settings *settings) {
  Work work = {.settings = settings, .records = calloc((size_t)settings->count + 1, sizeof(Record))};
  Pair *pair = malloc(sizeof *pair);
  long counts[NUM_FAMILIES + 1][NUM_MODES][NUM_CLASSES] = {{{0}}};
  if (!work.records || !pair)
    return 2;
  run_workers(&work);
  int result;
  if (settings->cross) {
    printf("%ld pairs, %d graphs with other values than mirage_eval gives\n", settings->count, work.disagreements);
    result = work.disagreements != 0;
  } else {
    count_all(&work, counts);
    if (!settings->quiet)
      report_wrong(&work, pair);
    if (settings->json)
      print_json(settings, counts);
    else
      print_table(counts);
    print_costs(&work);
    long wrong = counts[NUM_FAMILIES][MODE_DEFAULT][FALSE_ACCEPT] + counts[NUM_FAMILIES][MODE_SMALL][FALSE_ACCEPT];
    long failed = counts[NUM_FAMILIES][MODE_DEFAULT][FAILED] + counts[NUM_FAMILIES][MODE_SMALL][FAILED];
    result = wrong > settings->tolerate || failed > 0;
  }
  free(pair);
  free(work.records);
  return result;
}

int main(int argc, const char **argv) {
  Settings settings = {.seed = 1, .count = 1000, .pair = -1, .show = 5, .threads = 1};
  const struct poptOption table[] = {
      {"seed", 's', POPT_ARG_LONG, &settings.seed, 0, "seed of all pairs (1)", "S"},
      {"count", 'n', POPT_ARG_LONG, &settings.count, 0, "number of pairs (1000)", "N"},
      {"first", 0, POPT_ARG_LONG, &settings.first, 0, "number of the first pair (0)", "N"},
      {"pair", 'p', POPT_ARG_LONG, &settings.pair, 0, "this pair only, printed", "N"},
      {"print", 0, POPT_ARG_NONE, &settings.print, 0, "with --pair: print it (which it does anyway)", NULL},
      {"threads", 't', POPT_ARG_INT, &settings.threads, 0, "pairs at a time (1)", "N"},
      {"max-work", 0, POPT_ARG_DOUBLE, &settings.check.max_work, 0,
       "work allowed at full size (2e6, as in mirage-verify)", "W"},
      {"show", 0, POPT_ARG_LONG, &settings.show, 0, "false accepts printed in full (5)", "N"},
      {"cross-check", 0, POPT_ARG_NONE, &settings.cross, 0, "compare the judge's evaluator with mirage_eval", NULL},
      {"judge-only", 0, POPT_ARG_NONE, &settings.check.judge_only, 0, "do not verify", NULL},
      {"believe", 0, POPT_ARG_NONE, &settings.check.believe, 0, "take every pair for accepted: must fail", NULL},
      {"json", 0, POPT_ARG_NONE, &settings.json, 0, "counts as JSON", NULL},
      {"quiet", 'q', POPT_ARG_NONE, &settings.quiet, 0, "counts only", NULL},
      {"tolerate", 0, POPT_ARG_INT, &settings.tolerate, 0, "false accepts that do not fail the run (0)", "N"},
      POPT_AUTOHELP POPT_TABLEEND};
  poptContext popt = poptGetContext("mirage-verify-pairs", argc, argv, table, 0);
  int option = poptGetNextOpt(popt);
  if (option != -1 || poptPeekArg(popt) || settings.count < 0) {
    fprintf(stderr, "mirage-verify-pairs: %s: %s\n", option < -1 ? poptBadOption(popt, 0) : "arguments",
            option < -1 ? poptStrerror(option) : "options only");
    poptFreeContext(popt);
    return 2;
  }
  poptFreeContext(popt);
  settings.check.seed = (uint64_t)settings.seed;
  return settings.pair >= 0 ? one_pair(&settings) : many_pairs(&settings);
}
