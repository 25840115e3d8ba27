// capture.h - helpers of the core's unit tests: a sink that keeps the last sentence, and an allocator that runs dry.
#ifndef MIRAGE_TEST_CAPTURE_H
#define MIRAGE_TEST_CAPTURE_H

#include "mirage/arena.h"
#include "mirage/diag.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Capture {
  unsigned count; // messages so far
  const void *loc;
  char text[1200]; // the last one
} Capture;

static inline void capture_emit(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Capture *capture = user;
  capture->count++;
  capture->loc = loc;
  snprintf(capture->text, sizeof capture->text, "%s", message);
}

// Memory that runs dry: `left` counts calls under scarce_alloc and bytes under tight_alloc. An arena that is refused a
// full block asks for just what it needs, so growing a tight budget in small steps makes every single allocation fail
// once.
typedef struct Scarce {
  size_t left;
  unsigned live; // blocks not freed yet
} Scarce;

static inline void *scarce_alloc(void *user, size_t size) {
  Scarce *scarce = user;
  if (scarce->left == 0)
    return NULL;
  scarce->left--;
  scarce->live++;
  return malloc(size);
}

static inline void *tight_alloc(void *user, size_t size) {
  Scarce *scarce = user;
  if (scarce->left < size)
    return NULL;
  scarce->left -= size;
  scarce->live++;
  return malloc(size);
}

static inline void scarce_free(void *user, void *pointer) {
  Scarce *scarce = user;
  scarce->live -= pointer != NULL;
  free(pointer);
}

#endif
