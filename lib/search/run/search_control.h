// search_control.h - what a running search tells whoever watches it, and how it learns that it shall end.
//
// Workers count on their own; now and then (mirage__search_look) one looks at the clock and at the caller's
// flag, and adds what it has counted since to the numbers that are shown. Nothing here changes what a search finds
// unless it is stopped.
#ifndef MIRAGE_LIB_SEARCH_CONTROL_H
#define MIRAGE_LIB_SEARCH_CONTROL_H

#include "mirage/search.h"
#include "search/run/search_checkpoint.h"
#include "search/run/search_pool.h"
#include <pthread.h>

typedef struct SearchMonitor {
  const MirageSearchControl *control; // the caller's, or one that says nothing
  double start, end;                  // seconds of mirage__search_clock; end: of the budget, or infinite
  int failed;                         // atomic: the search has failed, what it finds is of no use
  int pieces_ended;                   // atomic: the whole may have what is left of the budget
  pthread_mutex_t lock;               // of what follows
  MirageSearchProgress shown;         // of the whole program until that is finished
  uint32_t pieces_done, num_pieces;
  bool whole_done;
  double next_report;
} SearchMonitor;

enum { SEARCH_FAR_BEHIND = 4 }; // times the best predicted time: a candidate that takes as long is none

enum { SEARCH_TICKS = 16 }; // steps between two looks at the clock: large expressions make steps of a millisecond

struct CostMemo;
struct SearchPart;
struct SearchRun;
/// Searches a program, or a piece of one, as one. search.c has both: pieces and sections are searched by what they are
/// part of.
typedef MirageStatus (*SearchAsOne)(const MirageUGraph *program, const MirageSearchOptions *options,
                                    const struct SearchPart *part, const MirageDiag *diag,
                                    MirageSearchResult *out_result);
/// Searches it as one and in pieces.
typedef MirageStatus (*SearchAll)(const MirageUGraph *program, const struct SearchRun *run, const MirageDiag *diag,
                                  MirageSearchResult *out_result);

/// Which part of a search this is.
typedef struct SearchPart {
  SearchAsOne search;
  SearchPool *pool;
  struct SearchMonitor *monitor;
  struct SearchCheckpoint *checkpoint; // or NULL
  struct CostMemo *memo;               // costs of kernels, of all parts; or NULL
  double deadline;                     // of mirage__search_clock
  uint32_t piece;                      // 0 = the whole program
  uint32_t first_record;               // what its records in the checkpoint, by piece, count from
} SearchPart;

/// A search for one program, or for one section of it.
typedef struct SearchRun {
  const MirageSearchOptions *options; // with defaults filled in
  SearchPart part;                    // of the whole
  SearchAll search;
} SearchRun;

/// How one worker is stopped, and how much of what it counts is shown to whoever watches (search_control.h).
typedef struct SearchWatch {
  struct SearchMonitor *monitor;
  double deadline;
  bool piece; // of the program
  bool deaf;  // the caller was heard already
  uint32_t ticks;
  double looked; // at the clock, when
  double next_publish;
  MirageFunnel published; // how much of the worker's funnel is shown
  double best_us;         // of a structure at its reference schedule; infinite: none
} SearchWatch;

/// Monotonic, in seconds.
double mirage__search_clock(void);

MirageStatus mirage__search_monitor_init(SearchMonitor *monitor, const MirageSearchControl *control);
void mirage__search_monitor_deinit(SearchMonitor *monitor);
/// One more program - a section of the one that is searched - is searched until `end`; what was counted goes on.
void mirage__search_monitor_restart(SearchMonitor *monitor, double end);
/// What the caller wants, at this moment, of a part of the search that may last until `deadline`.
MirageStop mirage__search_wanted_stop(const SearchMonitor *monitor, double deadline);
/// Whether it was interrupted: what is not begun then is left, where a time budget that is over would let it end.
bool mirage__search_is_interrupted(const SearchMonitor *monitor);
/// Ends all parts of the search soon, as an interrupt does.
void mirage__search_give_up(SearchMonitor *monitor);
/// The pieces are finished.
void mirage__search_leave_rest(SearchMonitor *monitor);
/// Tells where the search is. Pieces are shown once the whole is finished, which may be later.
void mirage__search_phase(SearchMonitor *monitor, MirageSearchPhase phase, uint32_t total);
void mirage__search_whole_done(SearchMonitor *monitor);
/// So many more plans or block graphs of the whole are finished; 0: time goes by.
void mirage__search_step(SearchMonitor *monitor, uint32_t count);
/// One more piece is finished.
void mirage__search_step_piece(SearchMonitor *monitor);
/// The predicted time of the best candidate of the whole.
void mirage__search_show_best(SearchMonitor *monitor, double time_us);
/// A worker of this part of the search.
SearchWatch mirage__search_watch(const SearchPart *part);
/// Shows what the worker has counted since the last time, also when that is not long ago.
void mirage__search_publish(SearchWatch *watch, const MirageFunnel *funnel);
/// What `worker` has shown is from now on part of what `watch` has.
void mirage__search_adopt(SearchWatch *watch, const SearchWatch *worker);

/// What the caller wants; nothing where there is none (no monitor). Looks at the clock once in SEARCH_TICKS calls.
MirageStop mirage__search_look(SearchWatch *watch, const MirageFunnel *funnel);
static inline MirageStop mirage__search_ask(SearchWatch *watch, const MirageFunnel *funnel) {
  return !watch->monitor || ++watch->ticks < SEARCH_TICKS ? MIRAGE_STOP_NONE : mirage__search_look(watch, funnel);
}

#endif
