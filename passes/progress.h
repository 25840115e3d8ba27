// progress.h - how far a pass has come, told on standard error while it runs. Private to passes/.
//
//   live   one line on a terminal, redrawn ten times a second, gone at the end
//   plain  a line now and then, for logs
//   json   a JSON object a line, now and then and where a phase begins, for machines
//   none   silence
//   auto   live on a terminal; else plain, and only from programs that take longer than some seconds
//
// One thread at a time may call these for one MirageProgress.
#ifndef MIRAGE_PASSES_PROGRESS_H
#define MIRAGE_PASSES_PROGRESS_H

#include "mirage-c/Passes.h"
#include "mirage/search.h"
#include "mirage/verify.h"
#include <stdio.h>

#define MIRAGE_PROGRESS_CHOICES "auto,live,plain,json,none"

typedef enum MirageProgressMode { PROGRESS_NONE, PROGRESS_LIVE, PROGRESS_PLAIN, PROGRESS_JSON } MirageProgressMode;

/// Whom a thread's passes tell (mirageSetEventCallback). The search's own threads speak for the thread that runs the pass.
typedef struct MirageListener {
  MirageEventCallback callback; // NULL = nobody
  void *user;
} MirageListener;
MirageListener mirage__listener(void);

typedef struct MirageProgress {
  const char *name; // symbol of the program
  MirageProgressMode mode;
  double start, next;  // seconds of a monotonic clock: of the pass, of the next line
  double pace;         // seconds between lines
  double last_seconds; // of the last measured rate
  uint64_t last_states;
  double rate; // states a second
  bool drawn;  // the live line is on the terminal
  int phase;   // last told, for JSON
  MirageListener listener;
} MirageProgress;

/// `mode` is one of MIRAGE_PROGRESS_CHOICES. Borrows `name`.
void mirage__progress_begin(MirageProgress *progress, const char *mode, const char *name);
/// Takes the live line away. Nothing else may be printed before.
void mirage__progress_end(MirageProgress *progress);
/// A MirageSearchControl's callback; `user` is the MirageProgress.
void mirage__progress_search(void *user, const MirageSearchProgress *search);
/// `done` of `total` candidates; `at`: where the proof of one of them is, or NULL.
void mirage__progress_verify(MirageProgress *progress, uint32_t done, uint32_t total, const MirageVerifyProgress *at);

/// An event, as a JSON object: between begin and end its text is written to the file. It goes to a listener, or as a line
/// to standard error where there is none.
typedef struct MirageEvent {
  MirageListener listener;
  FILE *file;
  char *text;
  size_t size;
} MirageEvent;
FILE *mirage__event_begin(MirageEvent *event, MirageListener to);
void mirage__event_end(MirageEvent *event);

/// Writes `text` between quotes, escaped.
void mirage__json_string(FILE *file, const char *text);
/// Writes a number; null where it is not finite.
void mirage__json_number(FILE *file, double value);
/// Writes the counts of a funnel as members of an object, without braces.
void mirage__json_funnel(FILE *file, const MirageFunnel *funnel);

#endif
