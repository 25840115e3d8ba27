// cancel.c - whether somebody wants running work to end.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "mirage/cancel.h"
#include <stddef.h>
#include <time.h>

double mirage_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t asked_for, polls;   // atomic; asked_for 0: polls are not counted
static int measuring;               // atomic
static int64_t last_asked, longest; // atomic: nanoseconds of the process's CPU time
static int64_t counted;             // atomic: the same, when asked_for was reached; 0 = not yet

static int64_t cpu_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void mirage_interrupt_after(uint64_t number) {
  __atomic_store_n(&polls, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&asked_for, number, __ATOMIC_RELAXED);
}

uint64_t mirage_interrupt_polls(void) { return __atomic_load_n(&polls, __ATOMIC_RELAXED); }

void mirage_interrupt_measure(void) {
  __atomic_store_n(&last_asked, cpu_time(), __ATOMIC_RELAXED);
  __atomic_store_n(&longest, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&measuring, 1, __ATOMIC_RELAXED);
}

double mirage_interrupt_longest(void) { return 1e-9 * (double)__atomic_load_n(&longest, __ATOMIC_RELAXED); }

double mirage_interrupt_counted(void) { return 1e-9 * (double)__atomic_load_n(&counted, __ATOMIC_RELAXED); }

static void note_question(void) {
  int64_t now = cpu_time(), gap = now - __atomic_exchange_n(&last_asked, now, __ATOMIC_RELAXED);
  int64_t most = __atomic_load_n(&longest, __ATOMIC_RELAXED);
  while (gap > most && !__atomic_compare_exchange_n(&longest, &most, gap, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ; // another thread has noted a longer one meanwhile, perhaps
}

bool mirage_interrupted(const int *interrupt) {
  if (interrupt && __atomic_load_n(&measuring, __ATOMIC_RELAXED))
    note_question();
  uint64_t limit = __atomic_load_n(&asked_for, __ATOMIC_RELAXED);
  if (limit && interrupt) {
    uint64_t number = __atomic_add_fetch(&polls, 1, __ATOMIC_RELAXED);
    if (number == limit)
      __atomic_store_n(&counted, cpu_time(), __ATOMIC_RELAXED);
    if (number >= limit)
      return true;
  }
  return interrupt && __atomic_load_n(interrupt, __ATOMIC_RELAXED);
}

bool mirage_cancelled(const MirageCancel *cancel) {
  if (!cancel)
    return false;
  if (mirage_interrupted(cancel->interrupt))
    return true;
  return cancel->deadline > 0 && mirage_clock() >= cancel->deadline;
}
