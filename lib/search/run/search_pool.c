// search_pool.c - batches of tasks, open to every thread of the pool.
//
// Open batches form a list, oldest first. A thread without work takes a task of the oldest batch, the coarsest. Who
// started a batch works on it, and when its last tasks run elsewhere, helps with younger batches, which are often what
// those tasks wait for; never with older ones, whose tasks may be long. So a thread waits only for younger batches than
// its own, and no circle of waiting can close.
//
// What a second task of two that run side by side starts comes after all that the first one starts: every thread takes
// work of the first where there is some. In the list such batches stand before those of the first, as if older, so a
// thread that waits within the first never takes up work of the second, which may be long.
//
// A lock and a counter, no queues to steal from: tasks take tens of microseconds and more, the lock a tenth of one.
#define _POSIX_C_SOURCE 200809L
#include "search/run/search_pool.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/// Lives on the stack of the thread that started it.
typedef struct Batch {
  SearchTask run;
  void *user;
  uint32_t count, begun, ended;
  uint32_t failed; // the first task that did
  MirageStatus status;
  bool beside; // its second task, and what that starts, comes after all else
  bool later;  // it was started there
  struct Batch *older, *younger;
} Batch;

static _Thread_local bool runs_later; // what this thread runs comes after all else

struct SearchPool {
  pthread_mutex_t lock;
  pthread_cond_t changed; // a batch was opened, the last task of one has ended, or the pool closes
  Batch *oldest, *youngest;
  bool closing;
  uint32_t num_threads; // besides the caller's
  pthread_t threads[];
};

static bool is_later(const Batch *batch, uint32_t task) { return batch->beside ? task > 0 : batch->later; }

// The oldest batch from `batch` on that has a task left, one that does not come later if there is one; NULL when there
// is none.
static Batch *find_open(Batch *batch) {
  Batch *found = NULL;
  for (; batch; batch = batch->younger) {
    if (batch->begun == batch->count)
      continue;
    if (!is_later(batch, batch->begun))
      return batch;
    found = found ? found : batch;
  }
  return found;
}

// Runs the next task of a batch. The lock is held on entry and on return, not in between.
static void run_next(SearchPool *pool, Batch *batch) {
  uint32_t task = batch->begun++;
  bool before = runs_later;
  pthread_mutex_unlock(&pool->lock);
  runs_later = is_later(batch, task);
  MirageStatus status = batch->run(batch->user, task);
  runs_later = before;
  pthread_mutex_lock(&pool->lock);
  if (status != MIRAGE_OK && (batch->status == MIRAGE_OK || task < batch->failed)) {
    batch->status = status;
    batch->failed = task;
  }
  if (++batch->ended == batch->count)
    pthread_cond_broadcast(&pool->changed);
}

static void *help(void *argument) {
  SearchPool *pool = argument;
  pthread_mutex_lock(&pool->lock);
  while (!pool->closing) {
    Batch *batch = find_open(pool->oldest);
    if (batch)
      run_next(pool, batch);
    else
      pthread_cond_wait(&pool->changed, &pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

SearchPool *mirage__search_pool_create(uint32_t threads) {
  SearchPool *pool = calloc(1, sizeof *pool + threads * sizeof *pool->threads);
  if (!pool)
    return NULL;
  if (pthread_mutex_init(&pool->lock, NULL) != 0) {
    free(pool);
    return NULL;
  }
  if (pthread_cond_init(&pool->changed, NULL) != 0) {
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return NULL;
  }
  while (pool->num_threads + 1 < threads && pthread_create(&pool->threads[pool->num_threads], NULL, help, pool) == 0)
    pool->num_threads++;
  return pool;
}

void mirage__search_pool_destroy(SearchPool *pool) {
  if (!pool)
    return;
  pthread_mutex_lock(&pool->lock);
  pool->closing = true;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->num_threads; i++)
    pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->changed);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

// Among those that come later or not, the youngest.
static void open_batch(SearchPool *pool, Batch *batch) {
  batch->later = runs_later;
  batch->older = pool->youngest;
  while (batch->later && batch->older && !batch->older->later && !batch->older->beside) {
    batch->younger = batch->older;
    batch->older = batch->older->older;
  }
  *(batch->older ? &batch->older->younger : &pool->oldest) = batch;
  *(batch->younger ? &batch->younger->older : &pool->youngest) = batch;
  pthread_cond_broadcast(&pool->changed);
}

static void close_batch(SearchPool *pool, Batch *batch) {
  *(batch->older ? &batch->older->younger : &pool->oldest) = batch->younger;
  *(batch->younger ? &batch->younger->older : &pool->youngest) = batch->older;
}

static MirageStatus run_in_order(const Batch *batch) {
  MirageStatus first = MIRAGE_OK;
  for (uint32_t i = 0; i < batch->count; i++) {
    MirageStatus status = batch->run(batch->user, i);
    first = first == MIRAGE_OK ? status : first;
  }
  return first;
}

static MirageStatus run_batch(SearchPool *pool, Batch *batch) {
  if (!pool || !pool->num_threads || batch->count < 2)
    return run_in_order(batch);
  pthread_mutex_lock(&pool->lock);
  open_batch(pool, batch);
  while (batch->ended < batch->count) {
    Batch *open = find_open(batch);
    if (open)
      run_next(pool, open);
    else
      pthread_cond_wait(&pool->changed, &pool->lock);
  }
  close_batch(pool, batch);
  pthread_mutex_unlock(&pool->lock);
  return batch->status;
}

MirageStatus mirage__search_run_tasks(SearchPool *pool, uint32_t count, SearchTask run, void *user) {
  return run_batch(pool, &(Batch){.run = run, .user = user, .count = count});
}

MirageStatus mirage__search_run_beside(SearchPool *pool, SearchTask run, void *user) {
  return run_batch(pool, &(Batch){.run = run, .user = user, .count = 2, .beside = true});
}
