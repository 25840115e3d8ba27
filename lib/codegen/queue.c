// queue.c - many graphs compiled at once, each in an LLVM context of its own.
//
// Threads take the jobs in order from a counter; a job's result and messages depend on nothing but the job. The thread
// that asks works too, so that compiling goes on where no other can be had.
#define _POSIX_C_SOURCE 200809L // sysconf
#include "mirage/codegen.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct Queue {
  uint32_t num_jobs;
  MirageCodegenJob *jobs;
  const MirageTarget *target;
  const MirageCodegenOptions *options;
  _Atomic uint32_t next;
} Queue;

static void *work(void *user) {
  Queue *queue = user;
  for (uint32_t i; (i = atomic_fetch_add(&queue->next, 1)) < queue->num_jobs;) {
    MirageCodegenJob *job = &queue->jobs[i];
    job->status = mirage_codegen(job->graph, queue->target, queue->options, job->diag, &job->code);
  }
  return NULL;
}

static uint32_t count_threads(uint32_t wanted, uint32_t num_jobs) {
  enum { MAX_THREADS = 64 };
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint32_t count = wanted ? wanted : cores > 0 ? (uint32_t)cores : 1;
  count = count < num_jobs ? count : num_jobs;
  return count < MAX_THREADS ? count : MAX_THREADS;
}

void mirage_codegen_all(uint32_t num_jobs, MirageCodegenJob *jobs, const MirageTarget *target,
                        const MirageCodegenOptions *options, uint32_t num_threads) {
  Queue queue = {.num_jobs = num_jobs, .jobs = jobs, .target = target, .options = options};
  pthread_t threads[64];
  uint32_t count = count_threads(num_threads, num_jobs), started = 0;
  while (started + 1 < count && pthread_create(&threads[started], NULL, work, &queue) == 0)
    started++;
  work(&queue);
  for (uint32_t i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
}
