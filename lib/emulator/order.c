// order.c - device memory through which blocks exchange data: whose writes may a thread count on seeing?
//
// Only the workspace is such memory, and only kernels that have one run all blocks at once. A flag - a word changed by
// releasing atomics - is a meeting point: a releasing thread leaves there what it knows and has done, an acquiring one
// takes it along (clock.c). Every plain access is traced by two bytes (trace.c), and reads only what was written in this launch.
//
// A word that is its own signal is read while others write it, and is no race for that; it tells of itself alone, so nobody
// knows more for having seen it. A plain access to one, or the other way round, must come before or after it like any other.
//
// Lenient in one place: lanes that shuffle pass on what one of them has acquired of other blocks. PTX promises no such
// thing, but a store behind a branch on the shuffled value does not move ahead of it.
#include "machine.h"

#include <stdlib.h>

typedef struct Flag {
  uint64_t address;
  Channel channel;
} Flag;

struct Order {
  Ground ground;
  const uint8_t *base; // of the workspace
  uint64_t granules;
  Flag *flags; // there are no more than granules
  uint32_t num_flags;
};

Order *mirage__order_create(const Buffer *workspace, Granule *granules) {
  Order *order = calloc(1, sizeof *order);
  if (!order)
    return NULL;
  *order = (Order){.ground = {granules, WORKSPACE_GRANULE, "the workspace", "in no order"},
                   .base = workspace->data,
                   .granules = workspace->bytes / WORKSPACE_GRANULE};
  order->flags = calloc(order->granules + 1, sizeof *order->flags);
  if (order->flags)
    return order;
  free(order);
  return NULL;
}

void mirage__order_destroy(Order *order) { // the flags' clocks go with all others
  free(order->flags);
  free(order);
}

static Channel *find_flag(Order *order, uint64_t address) {
  for (uint32_t i = 0; i < order->num_flags; i++)
    if (order->flags[i].address == address)
      return &order->flags[i].channel;
  order->flags[order->num_flags].address = address;
  return &order->flags[order->num_flags++].channel;
}

void mirage__order_release(Machine *m, uint64_t address) {
  if (m->order)
    mirage__clock_release(m, m->self, find_flag(m->order, address));
}

void mirage__order_acquire(Machine *m, uint64_t address) {
  if (m->order)
    mirage__clock_acquire(m, m->self, find_flag(m->order, address));
}

typedef struct Range {
  uint32_t first, count; // granules
} Range;

static Range range_of(const Order *order, const void *data, uint32_t bytes) {
  uint64_t first = (uint64_t)((const uint8_t *)data - order->base) / WORKSPACE_GRANULE,
           count = (bytes + WORKSPACE_GRANULE - 1) / WORKSPACE_GRANULE;
  if (first + count > order->granules) // a last byte alone
    count = order->granules - first;
  return (Range){(uint32_t)first, (uint32_t)count};
}

static void note_write(Machine *m, const Access *access, Range range, bool word) {
  mirage__trace_write(m, access, &m->order->ground, range.first, range.count);
  for (uint32_t i = range.first; i < range.first + range.count; i++)
    m->order->ground.granules[i].word = word;
}

void mirage__order_access(Machine *m, uint32_t op, const void *data, uint32_t bytes, bool write) {
  Range range = range_of(m->order, data, bytes);
  Access access = mirage__trace_by_thread(m->self, op);
  if (write) {
    note_write(m, &access, range, false);
    return;
  }
  for (uint32_t i = range.first; i < range.first + range.count; i++)
    if (m->order->ground.granules[i].write_count == 0)
      mirage__machine_fail(m, op, "reads byte %u of the workspace, which nobody wrote", i * WORKSPACE_GRANULE);
  mirage__trace_read(m, &access, &m->order->ground, range.first, range.count);
}

void mirage__order_epoch(Machine *m, uint32_t op, const void *data) {
  Range range = range_of(m->order, data, 4);
  Access access = mirage__trace_by_thread(m->self, op);
  mirage__trace_read(m, &access, &m->order->ground, range.first, range.count);
}

static bool is_zero(const Order *order, uint32_t granule) {
  const uint8_t *bytes = order->base + (size_t)granule * WORKSPACE_GRANULE;
  for (uint32_t i = 0; i < WORKSPACE_GRANULE; i++)
    if (bytes[i])
      return false;
  return true;
}

void mirage__order_words(Machine *m, uint32_t op, const void *data, uint32_t bytes, bool write) {
  Range range = range_of(m->order, data, bytes);
  Access access = mirage__trace_by_thread(m->self, op);
  if (write) {
    note_write(m, &access, range, true);
    return;
  }
  for (uint32_t i = range.first; i < range.first + range.count; i++) {
    const Granule *g = &m->order->ground.granules[i];
    if (g->write_count == 0 && !is_zero(m->order, i))
      mirage__machine_fail(m, op, "reads byte %u of the workspace, a signal that an earlier launch left",
                           i * WORKSPACE_GRANULE);
    if (g->write_count && !g->word)
      mirage__trace_read(m, &access, &m->order->ground, i, 1);
  }
}
