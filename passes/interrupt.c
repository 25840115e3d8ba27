// interrupt.c - asks the passes that run to end with what they have found until then.
//
// A tool's signal handler calls mirageInterrupt; nothing here installs one. The search looks at the flag while it runs,
// the passes after it between two candidates: what is needed for one good result is still done.
#include "mirage-c/Passes.h"
#include "passes.h"

static int interrupted, running; // atomic

bool mirageInterrupt(void) {
  __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
  return __atomic_load_n(&running, __ATOMIC_RELAXED) > 0;
}

void mirageClearInterrupt(void) { __atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED); }

const int *mirage__interrupt_flag(void) { return &interrupted; }
bool mirage__is_interrupted(void) { return __atomic_load_n(&interrupted, __ATOMIC_RELAXED) != 0; }
void mirage__pass_begins(void) { __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED); }
void mirage__pass_ends(void) { __atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED); }
