// interrupt.c - Ctrl-C, and SIGTERM of whoever runs jobs, in a tool that runs our passes.
//
// LLVM has a handler of its own, which removes half-written outputs and ends the process. Ours stands in front of it
// and makes way at the first signal, so that a second one, of either kind, ends the process whatever we do. It does
// only what a signal handler may: an atomic store, write, sigaction, raise.
#define _POSIX_C_SOURCE 200809L // sigaction
#include "interrupt.h"
#include "mirage-c/Passes.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

enum { NUM_SIGNALS = 2 };
static const int signals[NUM_SIGNALS] = {SIGINT, SIGTERM};
static struct sigaction next[NUM_SIGNALS]; // the handlers behind ours
static bool taken[NUM_SIGNALS];            // else it is ignored, as whoever started us wants it
static bool on_terminal;                   // where a progress line may stand

static void on_interrupt(int signal) {
  static const char text[] = "\r\033[Kinterrupted: going on with the best so far; once more ends at once\n";
  size_t skip = on_terminal ? 0 : sizeof "\r\033[K" - 1;
  int before = errno;
  for (int i = 0; i < NUM_SIGNALS; i++)
    if (taken[i])
      sigaction(signals[i], &next[i], NULL);
  if (!mirageInterrupt())
    raise(signal); // comes through when this returns
  else if (write(STDERR_FILENO, text + skip, sizeof text - 1 - skip) < 0)
    errno = before; // nobody can be told
  errno = before;
}

void tool_handle_interrupts(void) {
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < NUM_SIGNALS; i++)
    sigaddset(&action.sa_mask, signals[i]);
  on_terminal = isatty(STDERR_FILENO);
  for (int i = 0; i < NUM_SIGNALS; i++) {
    taken[i] = sigaction(signals[i], NULL, &next[i]) == 0 &&
               ((next[i].sa_flags & SA_SIGINFO) || next[i].sa_handler != SIG_IGN);
    if (taken[i])
      sigaction(signals[i], &action, NULL);
  }
}
