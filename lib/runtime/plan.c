// plan.c - offsets of intermediate tensors in one allocation, by live ranges.
//
// Example: a lives in kernels 0..1, b in 1..2, c in 2..3, equally large:  a and c share offset 0, b follows them.
#include "runtime_impl.h"

#include <stdlib.h>

static int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

static bool live_together(const MirageLiveBuffer *a, const MirageLiveBuffer *b) {
  return a->first <= b->last && b->first <= a->last;
}

// Largest first; among equals the earlier one, so that the plan does not depend on the sort.
static int by_size(const void *left, const void *right) {
  const MirageLiveBuffer *a = *(MirageLiveBuffer *const *)left, *b = *(MirageLiveBuffer *const *)right;
  if (a->bytes != b->bytes)
    return a->bytes > b->bytes ? -1 : 1;
  return a < b ? -1 : a > b;
}

// The lowest offset at which `buffer` overlaps none of the placed ones. Each round steps past one that is in the way,
// so there are at most num_placed rounds.
static int64_t lowest_free(uint32_t num_placed, MirageLiveBuffer *const *placed, const MirageLiveBuffer *buffer,
                           int64_t alignment) {
  int64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < num_placed; i++) {
      const MirageLiveBuffer *other = placed[i];
      if (live_together(other, buffer) && offset < other->offset + other->bytes &&
          other->offset < offset + buffer->bytes) {
        offset = round_up(other->offset + other->bytes, alignment);
        moved = true;
      }
    }
  }
  return offset;
}

int64_t mirage__plan_buffers(uint32_t num_buffers, MirageLiveBuffer *buffers, int64_t alignment) {
  MirageLiveBuffer **order = malloc((num_buffers ? num_buffers : 1) * sizeof *order);
  if (!order)
    return -1;
  for (uint32_t i = 0; i < num_buffers; i++)
    order[i] = &buffers[i];
  qsort(order, num_buffers, sizeof *order, by_size);
  int64_t total = 0;
  for (uint32_t i = 0; i < num_buffers; i++) {
    order[i]->offset = lowest_free(i, order, order[i], alignment);
    int64_t end = round_up(order[i]->offset + order[i]->bytes, alignment);
    total = end > total ? end : total;
  }
  free(order);
  return total;
}
