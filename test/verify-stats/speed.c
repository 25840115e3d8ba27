// speed.c - how long the verifier takes on the benchmark set at decode size: by transfer with the default bound, and one
// trial at full size.
//
//   speed [--runs N] [--csv FILE --machine TEXT]
//
// Shrunken: mirage_verify with a work limit below the pair's work; the median of N runs with N seeds. Full size: one
// trial, whatever its bound; the median of at most three. Goals: 50 ms and 2 s. A verdict other than the right one
// fails.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "benchmarks.h"
#include "mirage/verify.h"
#include "verify/verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_RUNS = 101, FULL_RUNS = 3, GOAL_SHRUNKEN_MS = 50, GOAL_FULL_MS = 2000 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct Timing {
  double median_ms;
  MirageVerdict verdict; // of the last run
} Timing;

static bool time_verify(const MirageUGraph *program, const MirageUGraph *candidate, MirageVerifyOptions options,
                        int runs, Timing *out) {
  double times[MAX_RUNS];
  for (int i = 0; i < runs; i++) {
    options.seed = (uint64_t)i + 1;
    double begin = now_ms();
    if (mirage_verify(program, candidate, &options, NULL, &out->verdict) != MIRAGE_OK)
      return false;
    times[i] = now_ms() - begin;
  }
  qsort(times, (size_t)runs, sizeof *times, compare);
  out->median_ms = times[runs / 2];
  return true;
}

// At full size the bound of one trial may be too weak to call it a proof; a difference would still be one.
static bool measure(const Benchmark *benchmark, int runs, FILE *csv) {
  MirageUGraph *program = benchmark->program(benchmark->decode, NULL);
  MirageUGraph *candidate = benchmark->candidate(benchmark->decode, NULL);
  Timing small = {0}, full = {0};
  bool ok = program && candidate;
  double work = ok ? mirage__verify_work(program) + mirage__verify_work(candidate) : 0;
  MirageVerifyOptions shrunken = {.max_work = (uint64_t)fmin(1e6, work / 2)};
  MirageVerifyOptions whole = {.trials = 1, .max_work = UINT64_C(1) << 62, .full_size = true};
  ok = ok && time_verify(program, candidate, shrunken, runs, &small) &&
       time_verify(program, candidate, whole, runs < FULL_RUNS ? runs : FULL_RUNS, &full);
  ok = ok && small.verdict.kind == MIRAGE_VERDICT_EQUIVALENT && small.verdict.proof.shrunken &&
       full.verdict.kind != MIRAGE_VERDICT_DIFFERENT;
  if (ok) {
    const MirageProof *proof = &small.verdict.proof;
    printf("%-20s %10.2f ms %s %3u trials  2^%-7.1f %10.0f ms %s %.2g operations\n", benchmark->name, small.median_ms,
           small.median_ms <= GOAL_SHRUNKEN_MS ? "   " : "(!)", proof->trials, proof->log2_bound, full.median_ms,
           full.median_ms <= GOAL_FULL_MS ? "   " : "(!)", work);
    if (csv)
      fprintf(csv, "%s,%.3f,%u,%.1f,%.1f,%.4g\n", benchmark->name, small.median_ms, proof->trials, proof->log2_bound,
              full.median_ms, work);
  } else {
    fprintf(stderr, "%s: wrong verdict: shrunken %d %s; full %d %s\n", benchmark->name, small.verdict.kind,
            small.verdict.reason, full.verdict.kind, full.verdict.reason);
  }
  fflush(stdout);
  mirage_ugraph_destroy(program);
  mirage_ugraph_destroy(candidate);
  return ok;
}

int main(int argc, char **argv) {
  int runs = 9;
  const char *path = NULL, *machine = "unnamed machine";
  bool known = argc % 2 == 1;
  for (int i = 1; known && i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--runs"))
      runs = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--csv"))
      path = argv[i + 1];
    else if (!strcmp(argv[i], "--machine"))
      machine = argv[i + 1];
    else
      known = false;
  }
  if (!known || runs < 1 || runs > MAX_RUNS) {
    fprintf(stderr, "usage: speed [--runs 1..%d] [--csv FILE --machine TEXT]\n", MAX_RUNS);
    return 2;
  }
  FILE *csv = path ? fopen(path, "w") : NULL;
  if (path && !csv) {
    perror(path);
    return 1;
  }
  if (csv) {
    char date[16] = "";
    time_t now = time(NULL);
    struct tm *day = gmtime(&now);
    if (day)
      strftime(date, sizeof date, "%Y-%m-%d", day);
    fprintf(csv, "# %s; %s; command: speed --runs %d; medians of processor time, one thread\n", date, machine, runs);
    fprintf(csv, "benchmark,shrunken ms,trials,log2 bound,full size one trial ms,operations of both graphs\n");
  }
  printf("%-20s %13s %15s %19s\n", "", "shrunken", "bound", "full, one trial");
  bool ok = true;
  for (uint32_t i = 0; i < NUM_BENCHMARKS; i++)
    ok = measure(&BENCHMARKS[i], runs, csv) && ok;
  if (csv)
    fclose(csv);
  return !ok;
}
