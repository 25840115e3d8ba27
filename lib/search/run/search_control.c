// search_control.c - progress, interrupts and budgets of a running search.
//
// The caller's callback runs under the monitor's lock, so it is never called twice at a time. A worker that finds the
// lock taken goes on counting: what it has will be shown next time.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "search/run/search_control.h"
#include "mirage/cancel.h"
#include <math.h>
#include <time.h>

static const double default_interval = 0.1, publish_interval = 0.02; // seconds

double mirage__search_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

const char *mirage_stop_name(MirageStop stop) {
  static const char *const names[] = {[MIRAGE_STOP_NONE] = "",
                                      [MIRAGE_STOP_MAX_STATES] = "max-states",
                                      [MIRAGE_STOP_MEMORY] = "memory",
                                      [MIRAGE_STOP_TIME_BUDGET] = "time-budget",
                                      [MIRAGE_STOP_INTERRUPT] = "interrupt"};
  return (unsigned)stop < sizeof names / sizeof *names ? names[stop] : "";
}

MirageStatus mirage__search_monitor_init(SearchMonitor *monitor, const MirageSearchControl *control) {
  static const MirageSearchControl nobody = {0};
  *monitor = (SearchMonitor){.control = control ? control : &nobody, .start = mirage__search_clock()};
  monitor->end = monitor->control->time_budget > 0 ? monitor->start + monitor->control->time_budget : INFINITY;
  monitor->shown.best_us = INFINITY;
  return pthread_mutex_init(&monitor->lock, NULL) == 0 ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

void mirage__search_monitor_deinit(SearchMonitor *monitor) { pthread_mutex_destroy(&monitor->lock); }

void mirage__search_monitor_restart(SearchMonitor *monitor, double end) {
  pthread_mutex_lock(&monitor->lock);
  monitor->end = end;
  monitor->pieces_ended = 0;
  monitor->pieces_done = monitor->num_pieces = 0;
  monitor->whole_done = false;
  monitor->shown.best_us = INFINITY;
  pthread_mutex_unlock(&monitor->lock);
}

MirageStop mirage__search_wanted_stop(const SearchMonitor *monitor, double deadline) {
  const int *interrupt = monitor->control->interrupt;
  if (mirage_interrupted(interrupt) || __atomic_load_n(&monitor->failed, __ATOMIC_RELAXED))
    return MIRAGE_STOP_INTERRUPT;
  if (__atomic_load_n(&monitor->pieces_ended, __ATOMIC_RELAXED))
    deadline = monitor->end;
  return isfinite(deadline) && mirage__search_clock() >= deadline ? MIRAGE_STOP_TIME_BUDGET : MIRAGE_STOP_NONE;
}

bool mirage__search_is_interrupted(const SearchMonitor *monitor) {
  return mirage_interrupted(monitor->control->interrupt);
}

void mirage__search_give_up(SearchMonitor *monitor) { __atomic_store_n(&monitor->failed, 1, __ATOMIC_RELAXED); }
void mirage__search_leave_rest(SearchMonitor *monitor) {
  __atomic_store_n(&monitor->pieces_ended, 1, __ATOMIC_RELAXED);
}

// Under the lock.
static void report(SearchMonitor *monitor, bool always) {
  const MirageSearchControl *control = monitor->control;
  double time = mirage__search_clock();
  if (!control->progress || (!always && time < monitor->next_report))
    return;
  monitor->next_report = time + (control->interval > 0 ? control->interval : default_interval);
  monitor->shown.funnel.seconds = time - monitor->start;
  monitor->shown.seconds_left = monitor->end > time ? monitor->end - time : 0;
  control->progress(control->user, &monitor->shown);
}

// Under the lock.
static void show_pieces(SearchMonitor *monitor, bool always) {
  if (!monitor->whole_done || !monitor->num_pieces)
    return;
  monitor->shown.phase = MIRAGE_PHASE_PIECES;
  monitor->shown.done = monitor->pieces_done;
  monitor->shown.total = monitor->num_pieces;
  report(monitor, always);
}

void mirage__search_phase(SearchMonitor *monitor, MirageSearchPhase phase, uint32_t total) {
  pthread_mutex_lock(&monitor->lock);
  if (phase == MIRAGE_PHASE_PIECES) {
    monitor->num_pieces = total;
    show_pieces(monitor, true);
  } else {
    monitor->shown.phase = phase;
    monitor->shown.done = 0;
    monitor->shown.total = total;
    report(monitor, true);
  }
  pthread_mutex_unlock(&monitor->lock);
}

void mirage__search_whole_done(SearchMonitor *monitor) {
  pthread_mutex_lock(&monitor->lock);
  monitor->whole_done = true;
  show_pieces(monitor, true);
  pthread_mutex_unlock(&monitor->lock);
}

void mirage__search_step(SearchMonitor *monitor, uint32_t count) {
  pthread_mutex_lock(&monitor->lock);
  monitor->shown.done += count;
  report(monitor, false);
  pthread_mutex_unlock(&monitor->lock);
}

void mirage__search_step_piece(SearchMonitor *monitor) {
  pthread_mutex_lock(&monitor->lock);
  monitor->pieces_done++;
  show_pieces(monitor, false);
  pthread_mutex_unlock(&monitor->lock);
}

void mirage__search_show_best(SearchMonitor *monitor, double time_us) {
  pthread_mutex_lock(&monitor->lock);
  monitor->shown.best_us = time_us;
  pthread_mutex_unlock(&monitor->lock);
}

// to += from - minus
static void add_counts(MirageFunnel *to, const MirageFunnel *from, const MirageFunnel *minus) {
  to->states += from->states - minus->states;
  to->cut_expr += from->cut_expr - minus->cut_expr;
  to->cut_axis += from->cut_axis - minus->cut_axis;
  to->cut_order += from->cut_order - minus->cut_order;
  to->cut_merge += from->cut_merge - minus->cut_merge;
  to->cut_memory += from->cut_memory - minus->cut_memory;
  to->structures += from->structures - minus->structures;
}

SearchWatch mirage__search_watch(const SearchPart *part) {
  return (SearchWatch){
      .monitor = part->monitor, .deadline = part->deadline, .piece = part->piece > 0, .best_us = INFINITY};
}

// Under the lock.
static void show(SearchWatch *watch, const MirageFunnel *funnel) {
  MirageSearchProgress *shown = &watch->monitor->shown;
  add_counts(&shown->funnel, funnel, &watch->published);
  watch->published = *funnel;
  if (watch->best_us < shown->best_us && !watch->piece && shown->phase == MIRAGE_PHASE_PLANS)
    shown->best_us = watch->best_us;
  report(watch->monitor, false);
}

void mirage__search_publish(SearchWatch *watch, const MirageFunnel *funnel) {
  pthread_mutex_lock(&watch->monitor->lock);
  show(watch, funnel);
  pthread_mutex_unlock(&watch->monitor->lock);
}

void mirage__search_adopt(SearchWatch *watch, const SearchWatch *worker) {
  add_counts(&watch->published, &worker->published, &(MirageFunnel){0});
  if (worker->best_us < watch->best_us)
    watch->best_us = worker->best_us;
}

MirageStop mirage__search_look(SearchWatch *watch, const MirageFunnel *funnel) {
  SearchMonitor *monitor = watch->monitor;
  double time = mirage__search_clock();
  watch->ticks = 0;
  watch->looked = time;
  if (monitor->control->progress && time >= watch->next_publish && pthread_mutex_trylock(&monitor->lock) == 0) {
    double interval = monitor->control->interval;
    watch->next_publish = time + (interval > 0 && interval < publish_interval ? interval : publish_interval);
    show(watch, funnel);
    pthread_mutex_unlock(&monitor->lock);
  }
  return watch->deaf ? MIRAGE_STOP_NONE : mirage__search_wanted_stop(monitor, watch->deadline);
}
