// jobs.c - runs programs beside this one, several at once, and watches them.
//
// What they are for is work that may end in any way: a kernel that hangs, a driver that crashes, memory that runs out.
// So nothing is shared with them but two pipes, and whatever they do, the one who asked gets an end and what they had
// said.
//
// A program shows that it lives by writing. One that writes nothing for the time allowed is killed with all that it
// started; what may take longer (waiting for its turn on the GPU) says so now and then.
#define _GNU_SOURCE // pipe2
#include "mirage/tuning.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MOST_BYTES = 1 << 20, TICK_MS = 50 };

typedef struct Stream {
  int fd; // -1 = closed
  char *text;
  size_t bytes;
} Stream;

typedef struct Runner {
  MirageJob *job;
  pid_t pid;
  Stream out, err;
  double heard; // when it wrote last
} Runner;

// ------------------------------------------------------------------------------------------------------------- streams

static void stream_close(Stream *stream) {
  if (stream->fd >= 0)
    close(stream->fd);
  stream->fd = -1;
}

// Takes what there is. False once it has ended.
static bool stream_read(Stream *stream) {
  char buffer[4096];
  ssize_t got = read(stream->fd, buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return true;
  if (got <= 0)
    return false;
  size_t room = MOST_BYTES - stream->bytes, kept = (size_t)got < room ? (size_t)got : room;
  char *grown = realloc(stream->text, stream->bytes + kept + 1);
  if (!grown)
    return true; // what it said is lost, how it ends is not
  memcpy(grown + stream->bytes, buffer, kept);
  stream->text = grown;
  stream->bytes += kept;
  stream->text[stream->bytes] = '\0';
  return true;
}

// ------------------------------------------------------------------------------------------------------------ starting

static int spawn(const char *const *argv, int out, int err, pid_t *out_pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawn_file_actions_init(&actions);
  if (error)
    return error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  // A group of its own: an interrupt from the terminal is ours to hear, and killing it kills what it started.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  error = posix_spawn(out_pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static MirageStatus runner_start(Runner *runner, MirageJob *job, const MirageDiag *diag) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "jobs: cannot make a pipe: %s", strerror(errno));
  if (pipe2(err, O_CLOEXEC) != 0) {
    close(out[0]);
    close(out[1]);
    return mirage_diag_fail(diag, NULL, MIRAGE_IO, "jobs: cannot make a pipe: %s", strerror(errno));
  }
  *runner = (Runner){.job = job, .out = {.fd = out[0]}, .err = {.fd = err[0]}, .heard = mirage_clock()};
  int error = spawn(job->argv, out[1], err[1], &runner->pid);
  close(out[1]);
  close(err[1]);
  if (error) {
    stream_close(&runner->out);
    stream_close(&runner->err);
    job->end = MIRAGE_JOB_NOT_STARTED;
    job->code = error;
    runner->job = NULL;
  }
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- ending

static void runner_finish(Runner *runner, bool killed, MirageJobEnd why) {
  MirageJob *job = runner->job;
  int status = 0;
  if (killed)
    kill(-runner->pid, SIGKILL);
  while (waitpid(runner->pid, &status, 0) < 0 && errno == EINTR)
    ;
  kill(-runner->pid, SIGKILL); // what it left behind; no such group is no error
  stream_close(&runner->out);
  stream_close(&runner->err);
  job->end = killed ? why : WIFSIGNALED(status) ? MIRAGE_JOB_SIGNALLED : MIRAGE_JOB_EXITED;
  job->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  job->output = runner->out.text;
  job->errors = runner->err.text;
  runner->job = NULL;
}

// Waits a tick for something to read. Both streams closed: it has ended, or will at once.
static void listen_all(uint32_t count, Runner *runners, double silence_s) {
  struct pollfd polls[2 * 64];
  Stream *streams[2 * 64];
  Runner *owners[2 * 64];
  nfds_t num = 0;
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; runners[i].job && k < 2; k++) {
      Stream *stream = k ? &runners[i].err : &runners[i].out;
      if (stream->fd < 0)
        continue;
      polls[num] = (struct pollfd){.fd = stream->fd, .events = POLLIN};
      streams[num] = stream;
      owners[num++] = &runners[i];
    }
  int ready = poll(polls, num, TICK_MS);
  for (nfds_t i = 0; ready > 0 && i < num; i++)
    if (polls[i].revents) {
      owners[i]->heard = mirage_clock();
      if (!stream_read(streams[i]))
        stream_close(streams[i]);
    }
  for (uint32_t i = 0; i < count; i++) {
    if (!runners[i].job)
      continue;
    if (runners[i].out.fd < 0 && runners[i].err.fd < 0)
      runner_finish(&runners[i], false, MIRAGE_JOB_EXITED);
    else if (silence_s > 0 && mirage_clock() - runners[i].heard > silence_s)
      runner_finish(&runners[i], true, MIRAGE_JOB_SILENT);
  }
}

static uint32_t count_running(uint32_t count, const Runner *runners) {
  uint32_t running = 0;
  for (uint32_t i = 0; i < count; i++)
    running += runners[i].job != NULL;
  return running;
}

MirageStatus mirage_jobs_run(uint32_t num_jobs, MirageJob *jobs, uint32_t at_once, double silence_s,
                             const MirageCancel *cancel, const MirageDiag *diag) {
  Runner runners[64] = {0};
  MirageStatus status = MIRAGE_OK;
  uint32_t next = 0, slots = at_once < 1 ? 1 : at_once > 64 ? 64 : at_once;
  for (uint32_t i = 0; i < num_jobs; i++) {
    jobs[i].end = MIRAGE_JOB_CANCELLED;
    jobs[i].output = jobs[i].errors = NULL;
  }
  while (status == MIRAGE_OK && !mirage_cancelled(cancel)) {
    for (uint32_t i = 0; i < slots && next < num_jobs && status == MIRAGE_OK; i++)
      if (!runners[i].job)
        status = runner_start(&runners[i], &jobs[next++], diag);
    if (next == num_jobs && count_running(slots, runners) == 0)
      break;
    listen_all(slots, runners, silence_s);
  }
  for (uint32_t i = 0; i < slots; i++)
    if (runners[i].job)
      runner_finish(&runners[i], true, MIRAGE_JOB_CANCELLED);
  for (uint32_t i = 0; i < num_jobs; i++) {
    jobs[i].output = jobs[i].output ? jobs[i].output : calloc(1, 1);
    jobs[i].errors = jobs[i].errors ? jobs[i].errors : calloc(1, 1);
    if (!jobs[i].output || !jobs[i].errors)
      status = MIRAGE_NO_MEMORY;
  }
  return status;
}

void mirage_jobs_deinit(uint32_t num_jobs, MirageJob *jobs) {
  for (uint32_t i = 0; i < num_jobs; i++) {
    free(jobs[i].output);
    free(jobs[i].errors);
    jobs[i].output = jobs[i].errors = NULL;
  }
}
