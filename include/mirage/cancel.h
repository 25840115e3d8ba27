// cancel.h - how long work learns that it shall end: a flag that somebody may set, and a time.
//
// Every stage that can take longer than a tenth of a second takes a MirageCancel and asks it at least ten times a second.
// What a stage then leaves behind is its own business: the best so far, or MIRAGE_CANCELLED and nothing.
#ifndef MIRAGE_CANCEL_H
#define MIRAGE_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

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
/// The question by itself: whether the flag is set. NULL asks nobody.
///
/// Threads: safe.
bool mirage_interrupted(const int *interrupt);
/// For tests: the `polls`-th question from now on, of all threads, and every one after it is answered with yes, whatever
/// the flags say; 0 = no such thing. So a test can end work at each place where it can be ended.
void mirage_interrupt_after(uint64_t polls);
/// How many questions were asked since mirage_interrupt_after; 0 where none was set.
uint64_t mirage_interrupt_polls(void);
/// For measuring: notes from now on how long the work goes on between two questions.
void mirage_interrupt_measure(void);
/// The longest since mirage_interrupt_measure: seconds of CPU time, of all threads together; so with one thread, the time
/// in which an interrupt may stay unnoticed. 0 where nothing was measured.
double mirage_interrupt_longest(void);
/// CPU time of the process, in seconds, at the question that mirage_interrupt_after named; 0 = it was not asked yet.
double mirage_interrupt_counted(void);

#ifdef __cplusplus
}
#endif
#endif
