// order.c - device memory through which blocks exchange data: whose writes may a thread count on seeing?
//
// Only the workspace is such memory, and only kernels that have one run all blocks at once. A flag - a word changed by
// releasing atomics - is a meeting point: a releasing thread leaves there what it knows and has done, an acquiring one
// takes it along (clock.c). Every plain access is traced by two bytes (trace.c).
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

void mirage__order_access(Machine *m, uint32_t op, const void *data, uint32_t bytes, bool write) {
  const Order *order = m->order;
  uint64_t first = (uint64_t)((const uint8_t *)data - order->base) / WORKSPACE_GRANULE,
           count = (bytes + WORKSPACE_GRANULE - 1) / WORKSPACE_GRANULE;
  Access access = mirage__trace_by_thread(m->self, op);
  if (first + count > order->granules) // a last byte alone
    count = order->granules - first;
  if (write)
    mirage__trace_write(m, &access, &order->ground, (uint32_t)first, (uint32_t)count);
  else
    mirage__trace_read(m, &access, &order->ground, (uint32_t)first, (uint32_t)count);
}
