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

static uint64_t asked_for, polls; // atomic; asked_for 0: polls are not counted

void mirage_interrupt_after(uint64_t number) {
  __atomic_store_n(&polls, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&asked_for, number, __ATOMIC_RELAXED);
}

uint64_t mirage_interrupt_polls(void) { return __atomic_load_n(&polls, __ATOMIC_RELAXED); }

bool mirage_interrupted(const int *interrupt) {
  uint64_t limit = __atomic_load_n(&asked_for, __ATOMIC_RELAXED);
  if (limit && interrupt && __atomic_add_fetch(&polls, 1, __ATOMIC_RELAXED) >= limit)
    return true;
  return interrupt && __atomic_load_n(interrupt, __ATOMIC_RELAXED);
}

bool mirage_cancelled(const MirageCancel *cancel) {
  if (!cancel)
    return false;
  if (mirage_interrupted(cancel->interrupt))
    return true;
  return cancel->deadline > 0 && mirage_clock() >= cancel->deadline;
}
