// pass_interrupt.c - asks the passes that run to end with what they have found until then.
//
// A tool's signal handler calls mirageInterrupt; nothing here installs one. The search looks at the flag while it runs,
// the passes after it between two candidates: what is needed for one good result of each program is still done, for
// GRACE. What is not done by then is left as it is: a module of a thousand programs is printed with the programs that
// were finished, and the others as they came.
//
// For tests, MIRAGE_INTERRUPT_AFTER=N[,M] interrupts at the N-th question whether there was an interrupt (N = 0: at
// none), and ends the grace after any interrupt M questions of the passes later, whatever the clock says (M = 0: at
// once). MIRAGE_INTERRUPT_STATS=1 says of each pass how much CPU time it took, how much passed at most between two
// questions, and how much from the interrupt to the end of its last.
#include "mirage-c/Passes.h"
#include "mirage/cancel.h"
#include "passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double grace = 0.7; // seconds after an interrupt in which a result is still made

static int interrupted, running, prepared; // atomic
static int64_t interrupted_at;             // atomic: nanoseconds of the clock; 0 = not yet
static int64_t questions_left = -1;        // atomic: until the grace is over, in tests; -1: time says

static int64_t cpu_at; // atomic: CPU time of the process at mirageInterrupt
static int64_t begun;  // atomic: the same where the last pass began

static int64_t clock_now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t now(void) { return clock_now(CLOCK_MONOTONIC); }

static void note_time(void) {
  int64_t never = 0;
  if (__atomic_compare_exchange_n(&interrupted_at, &never, now(), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    __atomic_store_n(&cpu_at, clock_now(CLOCK_PROCESS_CPUTIME_ID), __ATOMIC_RELAXED);
}

bool mirageInterrupt(void) {
  note_time();
  __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
  return __atomic_load_n(&running, __ATOMIC_RELAXED) > 0;
}

void mirageClearInterrupt(void) {
  __atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&interrupted_at, 0, __ATOMIC_RELAXED);
  mirage_interrupt_after(0);
}

bool mirageWasInterrupted(void) { return __atomic_load_n(&interrupted, __ATOMIC_RELAXED) != 0; }

const int *mirage__interrupt_flag(void) { return &interrupted; }

bool mirage__is_interrupted(void) {
  bool is = mirage_interrupted(&interrupted);
  if (is && !__atomic_exchange_n(&interrupted, 1, __ATOMIC_RELAXED))
    note_time(); // a test's count
  return is;
}

bool mirage__is_late(void) {
  if (!mirage__is_interrupted())
    return false;
  int64_t left = __atomic_load_n(&questions_left, __ATOMIC_RELAXED);
  if (left >= 0)
    return __atomic_sub_fetch(&questions_left, left > 0, __ATOMIC_RELAXED) <= 0;
  return 1e-9 * (double)(now() - __atomic_load_n(&interrupted_at, __ATOMIC_RELAXED)) > grace;
}

MirageCancel mirage__until_late(void) {
  if (!mirage__is_interrupted())
    return (MirageCancel){.interrupt = &interrupted};
  int64_t left = __atomic_load_n(&questions_left, __ATOMIC_RELAXED);
  if (left >= 0)
    return (MirageCancel){.deadline = left ? 0 : 1e-9}; // in tests: never, or long ago
  return (MirageCancel){.deadline = 1e-9 * (double)__atomic_load_n(&interrupted_at, __ATOMIC_RELAXED) + grace};
}

double mirage__moment_ends(double seconds) {
  int64_t left = __atomic_load_n(&questions_left, __ATOMIC_RELAXED);
  if (left >= 0)
    return left ? 0 : 1e-9; // in tests: never, or long ago
  return mirage_clock() + seconds;
}

static void read_environment(void) {
  const char *text = getenv("MIRAGE_INTERRUPT_AFTER");
  if (!text || __atomic_exchange_n(&prepared, 1, __ATOMIC_RELAXED))
    return;
  char *end;
  mirage_interrupt_after(strtoull(text, &end, 10));
  if (*end == ',')
    __atomic_store_n(&questions_left, strtoll(end + 1, NULL, 10), __ATOMIC_RELAXED);
}

static bool is_measured(void) { return getenv("MIRAGE_INTERRUPT_STATS") != NULL; }

void mirage__pass_begins(void) {
  read_environment();
  if (is_measured()) {
    __atomic_store_n(&begun, clock_now(CLOCK_PROCESS_CPUTIME_ID), __ATOMIC_RELAXED);
    mirage_interrupt_measure();
  }
  __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
}

void mirage__pass_ends(const char *pass) {
  bool is = mirage__is_interrupted(); // so that whoever asks afterwards knows
  __atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
  if (!is_measured())
    return;
  int64_t whole = clock_now(CLOCK_PROCESS_CPUTIME_ID) - __atomic_load_n(&begun, __ATOMIC_RELAXED);
  fprintf(stderr, "interrupts: %s: %.3f s of CPU, %.3f s at most between two questions", pass, 1e-9 * (double)whole,
          mirage_interrupt_longest());
  double counted = mirage_interrupt_counted(), at = 1e-9 * (double)__atomic_load_n(&cpu_at, __ATOMIC_RELAXED);
  if (is)
    fprintf(stderr, "; %.3f s since the interrupt",
            1e-9 * (double)clock_now(CLOCK_PROCESS_CPUTIME_ID) - (counted > 0 ? counted : at));
  fputc('\n', stderr);
}
