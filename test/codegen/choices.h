// choices.h - a sequence of small random numbers that a generator draws its decisions from, so that a failing case can
// be replayed and made smaller: 0 is always the plainest answer, and a sequence with more zeros is a simpler case.
#ifndef MIRAGE_TEST_CHOICES_H
#define MIRAGE_TEST_CHOICES_H

#include "mirage/random.h"

#include <stdbool.h>

enum { MOST_CHOICES = 4096 };

typedef struct Choices {
  MirageRandom random;
  uint32_t values[MOST_CHOICES];
  uint32_t count; // recorded
  uint32_t next;
  bool replay; // beyond `count` everything is 0; else drawn and recorded
} Choices;

static inline void choices_begin(Choices *choices, uint64_t seed, uint64_t stream) {
  mirage_random_init(&choices->random, seed, stream);
  choices->count = choices->next = 0;
  choices->replay = false;
}

static inline void choices_rewind(Choices *choices) {
  choices->next = 0;
  choices->replay = true;
}

/// One of 0 .. n - 1, n >= 1.
static inline uint32_t choose(Choices *choices, uint32_t n) {
  uint32_t value = 0;
  if (choices->next < choices->count) {
    value = choices->values[choices->next] % n;
  } else if (!choices->replay && choices->next < MOST_CHOICES) {
    value = (uint32_t)mirage_random_below(&choices->random, n);
    choices->values[choices->count++] = value;
  }
  choices->next++;
  return value;
}

/// True once in n times.
static inline bool once_in(Choices *choices, uint32_t n) { return choose(choices, n) == n - 1; }

#endif
