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

bool mirage_cancelled(const MirageCancel *cancel) {
  if (!cancel)
    return false;
  if (cancel->interrupt && __atomic_load_n(cancel->interrupt, __ATOMIC_RELAXED))
    return true;
  return cancel->deadline > 0 && mirage_clock() >= cancel->deadline;
}
