// search_pool.h - threads that share the tasks of one search.
//
// Tasks write to slots of their own, by their number, and whoever started them reads the slots in order: so no answer
// depends on how many threads there are, or on which of them ran what.
#ifndef MIRAGE_LIB_SEARCH_POOL_H
#define MIRAGE_LIB_SEARCH_POOL_H

#include "mirage/status.h"
#include <stdint.h>

typedef struct SearchPool SearchPool;

/// A pool of `threads` threads, the caller being one of them; fewer when the system gives no more.
/// Owns:   the result is the caller's; mirage__search_pool_destroy. NULL when memory is out.
SearchPool *mirage__search_pool_create(uint32_t threads);
void mirage__search_pool_destroy(SearchPool *pool);

typedef MirageStatus (*SearchTask)(void *user, uint32_t task);

/// Runs tasks 0 .. count - 1, begun in this order, on this thread and on those that have nothing else to do; returns
/// when all have ended. A task may run tasks of its own. `pool` NULL: one after the other.
/// Errors: all tasks run, whatever others return; the status is that of the first one that failed, by number.
MirageStatus mirage__search_run_tasks(SearchPool *pool, uint32_t count, SearchTask run, void *user);

/// Runs run(user, 0) and run(user, 1) side by side. What the first starts in turn has the threads before what the
/// second starts. Without a second thread: one after the other. Errors: as mirage__search_run_tasks.
MirageStatus mirage__search_run_beside(SearchPool *pool, SearchTask run, void *user);

#endif
