// mutate.c - mutation test of the verifier: from every µGraph of the benchmark set, thousands of random single changes,
// each judged by the verifier and by float64 evaluation. A wrong graph that is accepted fails the run.
//
//   mutate [--count N] [--seed S] [--only SET] [--no-search] [--csv FOLDER --machine TEXT]
//
// Each mutant that the builder takes is verified twice: at its full size, and with a work limit so low that the pair is
// shrunken. --count is the number of mutants of each set that the builder takes; refused ones are counted beside them.
//
//   truth \ verdict     equivalent      different    unsupported
//   same                accepted        FALSE REJECT FALSE REJECT   (listed with what was changed; README.md has
//   reasons) different           FALSE ACCEPT    refused      refused undefined, no value FALSE ACCEPT    refused
//   refused        (unless the change is proven where both are defined)
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "instances.h"
#include "mirage/verify.h"
#include "mutation.h"
#include "truth.h"
#include "verify/verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_KINDS_OF_REJECT = 4096, INSTANCES_EACH = 24 };

typedef struct Tally {
  uint64_t drawn, invalid, judged, same, different, no_value, accepted, false_accepts, false_rejects, shrunken;
  uint64_t shrunken_false_accepts, unclear, free_accepted, free_false_accepts;
} Tally;

typedef struct Reject {
  char what[96], verdict[96];
  uint64_t count;
} Reject;

typedef struct Run {
  uint64_t seed, count;
  const char *only, *folder, *machine;
  bool search;
  Tally by_kind[NUM_MUTATIONS], total;
  Reject rejects[MAX_KINDS_OF_REJECT];
  uint32_t num_rejects;
} Run;

// ---------------------------------------------------------------------------------------------------------- one mutant

static void tally_add(Tally *to, const Tally *from) {
  uint64_t *a = (uint64_t *)to;
  const uint64_t *b = (const uint64_t *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
    a[i] += b[i];
}

static void note_reject(Run *run, const MirageUGraph *graph, const Mutation *mutation, const MirageVerdict *verdict) {
  Reject reject = {.count = 1};
  char text[96];
  snprintf(reject.what, sizeof reject.what, "%s", mutation_describe(graph, mutation, text, sizeof text));
  snprintf(reject.verdict, sizeof reject.verdict, "%.90s",
           verdict->kind == MIRAGE_VERDICT_DIFFERENT ? "different" : verdict->reason);
  for (uint32_t i = 0; i < run->num_rejects; i++)
    if (!strcmp(run->rejects[i].what, reject.what) && !strcmp(run->rejects[i].verdict, reject.verdict)) {
      run->rejects[i].count++;
      return;
    }
  if (run->num_rejects < MAX_KINDS_OF_REJECT)
    run->rejects[run->num_rejects++] = reject;
}

static void report_false_accept(const char *set, const Instance *instance, const Mutation *mutation,
                                const TruthReport *truth, const MirageVerdict *verdict, uint64_t seed) {
  char text[96], shape[64] = "";
  if (mirage_ugraph_num_inputs(instance->program))
    mirage_type_format(mirage_ugraph_type(instance->program, mirage_ugraph_get_input(instance->program, 0)), shape,
                       sizeof shape);
  fprintf(stderr, "FALSE ACCEPT %s (input 0 is %s)%s: %s %s; truth %d, relative difference %g, seed %llu\n", set, shape,
          verdict->proof.shrunken ? ", shrunken" : "", mutation_name(mutation->kind),
          mutation_describe(instance->candidate, mutation, text, sizeof text), truth->truth, truth->relative,
          (unsigned long long)seed);
}

// Where the verdict is right for a graph that float64 cannot judge: the change is proven by formal identity, and the
// graph is merely defined nowhere that the draws went. Nothing of the kind is excused when some element was compared.
static bool is_wrong_accept(const TruthReport *truth, const MirageVerdict *verdict) {
  return verdict->kind == MIRAGE_VERDICT_EQUIVALENT && truth->truth != TRUTH_SAME;
}

static bool judge(Run *run, const char *set, const Instance *instance, const Mutation *mutation, MirageUGraph *mutant,
                  uint64_t seed, Tally *tally) {
  MirageVerifyOptions options = {.seed = seed};
  MirageVerdict verdict = {0}, small = {0}, free_exp = {0};
  TruthReport truth;
  if (mirage_verify(instance->program, mutant, &options, NULL, &verdict) != MIRAGE_OK) {
    tally->invalid++; // the signature has changed
    return true;
  }
  if (!truth_decide(instance->program, mutant, seed ^ UINT64_C(0x5bd1e9955bd1e995), &truth))
    return false;
  double work = mirage__verify_work(instance->program) + mirage__verify_work(mutant);
  options.max_work = (uint64_t)(work / 3) + 1;
  bool shrunken = mirage_verify(instance->program, mutant, &options, NULL, &small) == MIRAGE_OK && small.proof.shrunken;
  options = (MirageVerifyOptions){.seed = seed, .free_exp = true};
  if (mirage_verify(instance->program, mutant, &options, NULL, &free_exp) != MIRAGE_OK)
    return false;
  tally->judged++;
  tally->same += truth.truth == TRUTH_SAME;
  tally->different += truth.truth == TRUTH_DIFFERENT;
  tally->no_value += truth.truth == TRUTH_NO_VALUE || truth.truth == TRUTH_UNDEFINED;
  tally->unclear += truth.truth == TRUTH_UNCLEAR;
  tally->accepted += verdict.kind == MIRAGE_VERDICT_EQUIVALENT;
  tally->shrunken += shrunken;
  if (is_wrong_accept(&truth, &verdict)) {
    tally->false_accepts++;
    report_false_accept(set, instance, mutation, &truth, &verdict, seed);
  }
  if (shrunken && is_wrong_accept(&truth, &small)) {
    tally->shrunken_false_accepts++;
    report_false_accept(set, instance, mutation, &truth, &small, seed);
  }
  tally->free_accepted += free_exp.kind == MIRAGE_VERDICT_EQUIVALENT;
  if (is_wrong_accept(&truth, &free_exp)) {
    tally->free_false_accepts++;
    report_false_accept(set, instance, mutation, &truth, &free_exp, seed);
  }
  if (truth.truth == TRUTH_SAME && verdict.kind != MIRAGE_VERDICT_EQUIVALENT) {
    tally->false_rejects++;
    note_reject(run, instance->candidate, mutation, &verdict);
  }
  return true;
}

// Half of the draws take each kind alike, half each mutation alike: neither rare kinds nor rare places are missed.
static const Mutation *draw_mutation(const MutationList *list, MirageRandom *random) {
  if (mirage_random_below(random, 2))
    return &list->data[mirage_random_below(random, list->count)];
  for (;;) {
    uint64_t kind = mirage_random_below(random, NUM_MUTATIONS);
    uint32_t of_kind = list->first[kind + 1] - list->first[kind];
    if (of_kind)
      return &list->data[list->first[kind] + mirage_random_below(random, of_kind)];
  }
}

// ------------------------------------------------------------------------------------------------------------- one set

static bool list_instances(InstanceSet *set, uint64_t seed, MutationList *lists) {
  for (uint32_t i = 0; i < set->count; i++) {
    MirageVerdict verdict = {0};
    const MirageVerifyOptions options = {.seed = seed};
    MirageStatus status = mirage_verify(set->data[i].program, set->data[i].candidate, &options, NULL, &verdict);
    if (status != MIRAGE_OK || verdict.kind != MIRAGE_VERDICT_EQUIVALENT) {
      fprintf(stderr, "%s: instance %u is not accepted before any change: %s\n", set->name, i, verdict.reason);
      return false;
    }
    if (!mutation_list(set->data[i].candidate, &lists[i]))
      return false;
  }
  return set->count > 0;
}

static bool run_set(Run *run, InstanceSet *set, uint64_t stream, Tally *out_tally) {
  MutationList lists[INSTANCES_EACH] = {{0}};
  MirageRandom random;
  mirage_random_init(&random, run->seed, stream);
  Tally tally = {0};
  bool ok = list_instances(set, run->seed, lists);
  while (ok && tally.judged < run->count && tally.drawn < 1000 * (run->count + 10)) {
    uint32_t i = (uint32_t)mirage_random_below(&random, set->count);
    const Mutation *mutation = draw_mutation(&lists[i], &random);
    uint64_t seed = mirage_random_next(&random);
    MirageUGraph *mutant = mutation_apply(set->data[i].candidate, mutation, NULL);
    Tally one = {.drawn = 1, .invalid = !mutant};
    if (mutant)
      ok = judge(run, set->name, &set->data[i], mutation, mutant, seed, &one);
    mirage_ugraph_destroy(mutant);
    tally_add(&tally, &one);
    tally_add(&run->by_kind[mutation->kind], &one);
  }
  for (uint32_t i = 0; i < set->count; i++)
    free(lists[i].data);
  *out_tally = tally;
  return ok;
}

// -------------------------------------------------------------------------------------------------------------- report

static const char COLUMNS[] =
    "drawn,invalid,judged,same,different,no value,unclear,accepted,false accepts,judged "
    "shrunken,false accepts shrunken,accepted by free exponentials,false accepts by them,false "
    "rejects";

static void print_tally(FILE *file, const char *format_name, const char *name, const Tally *t, const char *format) {
  const uint64_t numbers[] = {t->drawn,
                              t->invalid,
                              t->judged,
                              t->same,
                              t->different,
                              t->no_value,
                              t->unclear,
                              t->accepted,
                              t->false_accepts,
                              t->shrunken,
                              t->shrunken_false_accepts,
                              t->free_accepted,
                              t->free_false_accepts,
                              t->false_rejects};
  fprintf(file, format_name, name);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    fprintf(file, format, (unsigned long long)numbers[i]);
  fprintf(file, "\n");
}

static void print_row(const char *name, const Tally *tally) { print_tally(stdout, "%-24s", name, tally, " %9llu"); }

static FILE *open_csv(const Run *run, const char *name) {
  char path[512], date[16];
  time_t now = time(NULL);
  struct tm *day = gmtime(&now);
  snprintf(path, sizeof path, "%s/%s", run->folder, name);
  FILE *file = fopen(path, "w");
  if (!file || !day) {
    perror(path);
    return file;
  }
  strftime(date, sizeof date, "%Y-%m-%d", day);
  fprintf(file, "# %s; %s; command: mutate --count %llu --seed %llu%s\n", date, run->machine,
          (unsigned long long)run->count, (unsigned long long)run->seed, run->search ? "" : " --no-search");
  return file;
}

static int by_count(const void *a, const void *b) {
  const Reject *x = a, *y = b;
  return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->what, y->what);
}

static void print_rejects(const Run *run) {
  printf("\nfalse rejects (the change, the verdict, how often):\n");
  for (uint32_t i = 0; i < run->num_rejects && i < 60; i++)
    printf("  %-52s %-50s %8llu\n", run->rejects[i].what, run->rejects[i].verdict,
           (unsigned long long)run->rejects[i].count);
  if (run->num_rejects > 60)
    printf("  ... and %u kinds more\n", run->num_rejects - 60);
}

static bool write_csv(const Run *run, const InstanceSet *sets, const Tally *tallies, uint32_t count) {
  FILE *file = open_csv(run, "mutations.csv");
  if (!file)
    return false;
  fprintf(file, "set or kind,%s\n", COLUMNS);
  for (uint32_t i = 0; i < count; i++)
    if (tallies[i].drawn)
      print_tally(file, "%s", sets[i].name, &tallies[i], ",%llu");
  for (uint32_t i = 0; i < NUM_MUTATIONS; i++)
    print_tally(file, "kind %s", mutation_name((MutationKind)i), &run->by_kind[i], ",%llu");
  print_tally(file, "%s", "total", &run->total, ",%llu");
  fclose(file);
  file = open_csv(run, "false-rejects.csv");
  if (!file)
    return false;
  fprintf(file, "change,verdict,count\n");
  for (uint32_t i = 0; i < run->num_rejects; i++)
    fprintf(file, "\"%s\",\"%s\",%llu\n", run->rejects[i].what, run->rejects[i].verdict,
            (unsigned long long)run->rejects[i].count);
  fclose(file);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- main

static int usage(void) {
  fprintf(stderr, "usage: mutate [--count N] [--seed S] [--only SET] [--no-search] [--csv FOLDER --machine TEXT]\n");
  return 2;
}

static bool parse(Run *run, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(argv[i], "--no-search")) {
      run->search = false;
      continue;
    }
    if (!next)
      return false;
    if (!strcmp(argv[i], "--count"))
      run->count = strtoull(next, NULL, 10);
    else if (!strcmp(argv[i], "--seed"))
      run->seed = strtoull(next, NULL, 10);
    else if (!strcmp(argv[i], "--only"))
      run->only = next;
    else if (!strcmp(argv[i], "--csv"))
      run->folder = next;
    else if (!strcmp(argv[i], "--machine"))
      run->machine = next;
    else
      return false;
    i++;
  }
  return run->count > 0;
}

int main(int argc, char **argv) {
  static Run run = {.seed = 1, .count = 10000, .search = true, .machine = "unnamed machine"};
  if (!parse(&run, argc, argv))
    return usage();
  InstanceSet *sets = NULL;
  uint32_t count = instances_create(run.seed, INSTANCES_EACH, run.search, &sets);
  Tally *tallies = calloc(count + 1, sizeof *tallies);
  bool ok = count > 0 && tallies;
  printf("%-24s %s\n", "", COLUMNS);
  for (uint32_t i = 0; ok && i < count; i++) {
    if (run.only && strcmp(run.only, sets[i].name))
      continue;
    ok = run_set(&run, &sets[i], i, &tallies[i]);
    print_row(sets[i].name, &tallies[i]);
    fflush(stdout);
    tally_add(&run.total, &tallies[i]);
  }
  printf("\n");
  for (uint32_t i = 0; i < NUM_MUTATIONS; i++)
    print_row(mutation_name((MutationKind)i), &run.by_kind[i]);
  print_row("total", &run.total);
  qsort(run.rejects, run.num_rejects, sizeof *run.rejects, by_count);
  print_rejects(&run);
  if (ok && run.folder)
    ok = write_csv(&run, sets, tallies, count);
  instances_free(sets, count);
  free(tallies);
  ok = ok && run.total.judged > 0 && !run.total.false_accepts && !run.total.shrunken_false_accepts &&
       !run.total.free_false_accepts;
  printf("%s\n", ok ? "no false accepts" : "FAILED");
  return !ok;
}
