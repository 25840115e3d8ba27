// eval_tasks.c - the threads of one evaluation.
//
// Tasks are numbered pieces of one operator, or groups of blocks of one custom kernel. Threads take them in order, one
// after the other. A worker is a copy of the evaluation for one thread: its own scratch buffers, and its own child of
// a domain that remembers (lib/field/field_work.c). With one thread the same happens on the caller's own, so that what
// is remembered, and with it every limit, is the same at any number of threads.
//
// Errors:   the first failing task's in the order of numbers, whichever thread comes first: tasks start in order, so
//           all before it have started, and are finished.
// Cancel:   asked before each task; tasks are cut to take some milliseconds.
#include "eval_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_THREADS = 64 };

typedef struct Thread {
  EvalPool *pool;
  uint32_t number;
  pthread_t thread;
} Thread;

struct EvalPool {
  uint32_t num_threads; // with the caller's
  uint32_t started;     // beside the caller's
  Thread threads[MOST_THREADS];
  Eval workers[MOST_THREADS];
  pthread_mutex_t mutex;
  pthread_cond_t begin, done;
  uint64_t round; // changes when there is work
  uint32_t busy;  // threads that have not finished the round
  bool quit;
  // the work of this round
  EvalTask run;
  void *user;
  size_t count;
  uint32_t participants;
  atomic_size_t next, first_failed;
  MirageStatus status; // of first_failed
};

static void run_tasks(EvalPool *pool, uint32_t number) {
  Eval *worker = &pool->workers[number];
  for (;;) {
    size_t task = atomic_fetch_add(&pool->next, 1);
    if (task >= pool->count || task > atomic_load(&pool->first_failed))
      return;
    MirageStatus status =
        mirage_cancelled(worker->cancel) ? MIRAGE_CANCELLED : pool->run(pool->user, worker, number, task);
    if (status == MIRAGE_OK)
      continue;
    pthread_mutex_lock(&pool->mutex);
    if (task < atomic_load(&pool->first_failed)) {
      atomic_store(&pool->first_failed, task);
      pool->status = status;
    }
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void *thread_main(void *user) {
  Thread *self = user;
  EvalPool *pool = self->pool;
  uint64_t seen = 0;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (pool->round == seen && !pool->quit)
      pthread_cond_wait(&pool->begin, &pool->mutex);
    if (pool->quit)
      break;
    seen = pool->round;
    pthread_mutex_unlock(&pool->mutex);
    if (self->number < pool->participants)
      run_tasks(pool, self->number);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->busy == 0)
      pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

MirageStatus mirage__eval_pool_create(uint32_t num_threads, EvalPool **out_pool) {
  *out_pool = calloc(1, sizeof **out_pool);
  if (!*out_pool)
    return MIRAGE_NO_MEMORY;
  (*out_pool)->num_threads = num_threads < 1 ? 1 : num_threads < MOST_THREADS ? num_threads : MOST_THREADS;
  pthread_mutex_init(&(*out_pool)->mutex, NULL);
  pthread_cond_init(&(*out_pool)->begin, NULL);
  pthread_cond_init(&(*out_pool)->done, NULL);
  return MIRAGE_OK;
}

void mirage__eval_pool_destroy(EvalPool *pool) {
  if (!pool)
    return;
  pthread_mutex_lock(&pool->mutex);
  pool->quit = true;
  pthread_cond_broadcast(&pool->begin);
  pthread_mutex_unlock(&pool->mutex);
  for (uint32_t i = 0; i < pool->started; i++)
    pthread_join(pool->threads[1 + i].thread, NULL);
  for (uint32_t i = 0; i < pool->num_threads; i++)
    for (uint32_t j = 0; j < EVAL_NUM_SCRATCH; j++)
      mirage_eval_memory_give(pool->workers[i].memory, pool->workers[i].scratch[j].data,
                              pool->workers[i].scratch[j].bytes);
  pthread_cond_destroy(&pool->begin);
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

uint32_t mirage__eval_pool_threads(const EvalPool *pool) { return pool->num_threads; }

// A thread that cannot be had is done without.
static void start_threads(EvalPool *pool, uint32_t wanted) {
  while (pool->started + 1 < wanted) {
    Thread *thread = &pool->threads[1 + pool->started];
    *thread = (Thread){.pool = pool, .number = 1 + pool->started};
    if (pthread_create(&thread->thread, NULL, thread_main, thread) != 0)
      return;
    pool->started++;
  }
}

// Workers share what memory is left; their scratch buffers stay from round to round.
static MirageStatus prepare_workers(Eval *eval, uint32_t count) {
  size_t left = eval->max_bytes - eval->bytes;
  for (uint32_t i = 0; i < count; i++) {
    Eval *worker = &eval->pool->workers[i], before = *worker;
    *worker = *eval;
    worker->pool = NULL;
    worker->is_worker = true;
    worker->diag = NULL;
    worker->max_bytes = left / count;
    worker->bytes = 0;
    for (uint32_t j = 0; j < EVAL_NUM_SCRATCH; j++) {
      worker->scratch[j] = before.scratch[j];
      worker->bytes += before.scratch[j].bytes;
    }
    if (worker->max_bytes < worker->bytes)
      worker->max_bytes = worker->bytes;
    if (eval->domain->fork && eval->domain->fork(eval->domain, &worker->domain) != MIRAGE_OK) {
      while (i-- > 0)
        eval->domain->join(eval->domain, eval->pool->workers[i].domain, false);
      return MIRAGE_NO_MEMORY;
    }
  }
  return MIRAGE_OK;
}

static MirageStatus join_workers(Eval *eval, uint32_t count, MirageStatus status) {
  for (uint32_t i = 0; i < count && eval->domain->fork; i++) {
    MirageStatus joined = eval->domain->join(eval->domain, eval->pool->workers[i].domain, status == MIRAGE_OK);
    status = status == MIRAGE_OK ? joined : status;
  }
  return status;
}

MirageStatus mirage__eval_tasks(Eval *eval, uint32_t most_threads, size_t count, EvalTask run, void *user) {
  EvalPool *pool = eval->pool;
  uint32_t threads = pool->num_threads < most_threads ? pool->num_threads : most_threads;
  threads = count < threads ? (uint32_t)count : threads;
  start_threads(pool, threads);
  threads = pool->started + 1 < threads ? pool->started + 1 : threads;
  MIRAGE_TRY(prepare_workers(eval, threads));
  if (threads == 1)
    pool->workers[0].diag = eval->diag;
  pthread_mutex_lock(&pool->mutex);
  pool->run = run;
  pool->user = user;
  pool->count = count;
  pool->participants = threads;
  pool->status = MIRAGE_OK;
  atomic_store(&pool->next, 0);
  atomic_store(&pool->first_failed, SIZE_MAX);
  if (threads > 1) {
    pool->busy = pool->started;
    pool->round++;
    pthread_cond_broadcast(&pool->begin);
  }
  pthread_mutex_unlock(&pool->mutex);
  run_tasks(pool, 0);
  pthread_mutex_lock(&pool->mutex);
  while (pool->busy)
    pthread_cond_wait(&pool->done, &pool->mutex);
  MirageStatus status = pool->status;
  pthread_mutex_unlock(&pool->mutex);
  return join_workers(eval, threads, status);
}
