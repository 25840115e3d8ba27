// eval_memory.c - arrays that evaluations have done with, for those that come after.
//
// The C library gives large arrays back to the system when they are freed and takes them anew, and the system clears each
// page when it is first touched: a third of the time of a proof's trials, which evaluate two graphs a dozen times. So an
// array is kept, and the next one of its size, or of up to a quarter less, is that array.
#include "eval_internal.h"

#include "support/poison.h"
#include <pthread.h>
#include <stdlib.h>

enum { MOST_KEPT = 512, LEAST_BYTES = 64 << 10 }; // smaller arrays stay with the C library as they are

typedef struct Kept {
  void *data;
  size_t bytes;
} Kept;

struct MirageEvalMemory {
  pthread_mutex_t mutex;
  size_t most_bytes, bytes;
  uint32_t count;
  Kept kept[MOST_KEPT];
};

MirageEvalMemory *mirage_eval_memory_create(size_t most_bytes) {
  MirageEvalMemory *memory = calloc(1, sizeof *memory);
  if (!memory)
    return NULL;
  memory->most_bytes = most_bytes ? most_bytes : (size_t)2 << 30;
  pthread_mutex_init(&memory->mutex, NULL);
  return memory;
}

void mirage_eval_memory_destroy(MirageEvalMemory *memory) {
  if (!memory)
    return;
  for (uint32_t i = 0; i < memory->count; i++) {
    UNPOISON(memory->kept[i].data, memory->kept[i].bytes);
    free(memory->kept[i].data);
  }
  pthread_mutex_destroy(&memory->mutex);
  free(memory);
}

size_t mirage_eval_memory_bytes(const MirageEvalMemory *memory) { return memory->bytes; }

// The smallest that has room and is not much larger; out of the list then. NULL: there is none.
static void *take(MirageEvalMemory *memory, size_t bytes) {
  uint32_t best = memory->count;
  for (uint32_t i = 0; i < memory->count; i++)
    if (memory->kept[i].bytes >= bytes && memory->kept[i].bytes - bytes <= bytes / 4 &&
        (best == memory->count || memory->kept[i].bytes < memory->kept[best].bytes))
      best = i;
  if (best == memory->count)
    return NULL;
  Kept found = memory->kept[best];
  memory->kept[best] = memory->kept[--memory->count];
  memory->bytes -= found.bytes;
  UNPOISON(found.data, found.bytes);
  return found.data;
}

void *mirage_eval_memory_take(MirageEvalMemory *memory, size_t bytes) {
  void *data = NULL;
  if (memory && bytes >= LEAST_BYTES) {
    pthread_mutex_lock(&memory->mutex);
    data = take(memory, bytes);
    pthread_mutex_unlock(&memory->mutex);
  }
  return data ? data : malloc(bytes + 1); // no array is of no bytes
}

void mirage_eval_memory_give(MirageEvalMemory *memory, void *data, size_t bytes) {
  bool keep = false;
  if (memory && data && bytes >= LEAST_BYTES) {
    pthread_mutex_lock(&memory->mutex);
    keep = memory->count < MOST_KEPT && bytes <= memory->most_bytes && memory->bytes <= memory->most_bytes - bytes;
    if (keep) {
      POISON(data, bytes);
      memory->kept[memory->count++] = (Kept){data, bytes};
      memory->bytes += bytes;
    }
    pthread_mutex_unlock(&memory->mutex);
  }
  if (!keep)
    free(data);
}
