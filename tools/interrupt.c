// interrupt.c - Ctrl-C in a tool that runs our passes.
//
// LLVM has a handler of its own, which removes half-written outputs and ends the process. Ours stands in front of it
// and makes way at the first signal, so that the second one ends the process whatever we do. It does only what a
// signal handler may: an atomic store, write, sigaction, raise.
#define _POSIX_C_SOURCE 200809L // sigaction
#include "interrupt.h"
#include "mirage-c/Passes.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static struct sigaction next; // the handler behind ours
static bool on_terminal;      // where a progress line may stand

static void on_interrupt(int signal) {
  static const char text[] = "\r\033[Kinterrupted: going on with the best so far; once more ends at once\n";
  size_t skip = on_terminal ? 0 : sizeof "\r\033[K" - 1;
  int before = errno;
  sigaction(SIGINT, &next, NULL);
  if (!mirageInterrupt())
    raise(signal); // comes through when this returns
  else if (write(STDERR_FILENO, text + skip, sizeof text - 1 - skip) < 0)
    errno = before; // nobody can be told
  errno = before;
}

void tool_handle_interrupts(void) {
  struct sigaction action = {.sa_flags = SA_RESTART};
  if (sigaction(SIGINT, NULL, &next) != 0 || (!(next.sa_flags & SA_SIGINFO) && next.sa_handler == SIG_IGN))
    return;
  on_terminal = isatty(STDERR_FILENO);
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
}
