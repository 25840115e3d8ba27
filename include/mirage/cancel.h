// cancel.h - how long work learns that it shall end: a flag that somebody may set, and a time.
//
// Every stage that can take longer than a tenth of a second takes a MirageCancel and asks it at least ten times a second.
// What a stage then leaves behind is its own business: the best so far, or MIRAGE_CANCELLED and nothing.
#ifndef MIRAGE_CANCEL_H
#define MIRAGE_CANCEL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageCancel {
  const int *interrupt; // read atomically: ends when not 0; NULL = nobody asks
  double deadline;      // ends at this time of mirage_clock, seconds; 0 = never
} MirageCancel;

/// Monotonic time in seconds.
double mirage_clock(void);
/// Whether the work shall end. NULL asks nobody. About 30 ns where there is a deadline, 1 ns where there is none.
///
/// Threads: safe.
bool mirage_cancelled(const MirageCancel *cancel);

#ifdef __cplusplus
}
#endif
#endif
