// fibre.h - stacks to switch between: one for each emulated thread.
#ifndef MIRAGE_EMULATOR_FIBRE_H
#define MIRAGE_EMULATOR_FIBRE_H

#include <stddef.h>

typedef struct MirageStack {
  void *pointer;      // of the suspended code
  const void *bottom; // AddressSanitizer wants to know the stack's extent and keep a word of its own
  size_t bytes;
  void *shadow;
} MirageStack;

/// Makes `stack` start `entry` in [memory, memory + bytes) at the first switch to it. `entry` begins with a call of
/// mirage__stack_entered and never returns.
void mirage__stack_prepare(MirageStack *stack, void *memory, size_t bytes, void (*entry)(void));
void mirage__stack_entered(void);
/// Suspends the running code in `from` and continues `to`.
void mirage__stack_switch(MirageStack *from, MirageStack *to);
/// Leaves `from` for good.
void mirage__stack_end(MirageStack *from, MirageStack *to);

#endif
