// order.c - device memory through which blocks exchange data: whose writes may a thread count on seeing?
//
// Only the workspace is such memory, and only kernels that have one run all blocks at once. A block's epochs end at its
// barriers (machine.h). A flag - a word changed by releasing atomics - carries, per block, the number of epochs whose
// accesses are complete for whoever acquires it: a releasing thread puts in its own block's epochs so far and all that
// its block knows of others. An acquiring thread may count on that at once, the rest of its block from the next barrier
// on. Every plain access is then checked against the last write, and a write also against every block's last read.
//
// Lenient in one place: lanes that shuffle pass on what one of them has acquired. PTX promises no such thing, but a
// store behind a branch on the shuffled value does not move ahead of it.
#include "machine.h"

#include <stdlib.h>
#include <string.h>

typedef struct Stamp {
  uint32_t epoch; // 0 = never
  uint16_t thread;
} Stamp;

typedef struct Flag {
  uint64_t address;
  uint32_t *complete; // by block
} Flag;

struct Order {
  uint32_t num_blocks, num_flags;
  uint32_t *known;     // [block][other]: epochs of `other` that all threads of `block` may count on
  uint32_t *acquired;  // the same for threads that acquired since the last barrier
  const uint8_t *base; // of the workspace
  uint64_t granules;
  uint32_t *writer; // by granule: 1 + number of the block
  Stamp *write;     // by granule
  Stamp *read;      // [granule][block]
  Flag *flags;
};

Order *mirage__order_create(uint32_t num_blocks, const Buffer *workspace) {
  Order *order = calloc(1, sizeof *order);
  if (!order)
    return NULL;
  uint64_t granules = workspace->bytes / GRANULE;
  *order = (Order){.num_blocks = num_blocks, .base = workspace->data, .granules = granules};
  order->known = calloc((size_t)num_blocks * num_blocks, sizeof *order->known);
  order->acquired = calloc((size_t)num_blocks * num_blocks, sizeof *order->acquired);
  order->writer = calloc(granules + 1, sizeof *order->writer);
  order->write = calloc(granules + 1, sizeof *order->write);
  order->read = calloc(granules * num_blocks + 1, sizeof *order->read);
  order->flags = calloc(granules + 1, sizeof *order->flags);
  if (order->known && order->acquired && order->writer && order->write && order->read && order->flags)
    return order;
  mirage__order_destroy(order);
  return NULL;
}

void mirage__order_destroy(Order *order) {
  if (!order)
    return;
  for (uint32_t i = 0; order->flags && i < order->num_flags; ++i)
    free(order->flags[i].complete);
  free(order->known);
  free(order->acquired);
  free(order->writer);
  free(order->write);
  free(order->read);
  free(order->flags);
  free(order);
}

// --------------------------------------------------------------------------------------------------------------- flags

static void raise_all(uint32_t count, uint32_t *to, const uint32_t *from) {
  for (uint32_t i = 0; i < count; ++i)
    if (from[i] > to[i])
      to[i] = from[i];
}

static uint32_t *row(const Order *order, uint32_t *matrix, const Block *block) {
  return matrix + (size_t)block->number * order->num_blocks;
}

static Flag *find_flag(Machine *m, uint32_t op, uint64_t address) {
  Order *order = m->order;
  for (uint32_t i = 0; i < order->num_flags; ++i)
    if (order->flags[i].address == address)
      return &order->flags[i];
  Flag *flag = &order->flags[order->num_flags]; // there are no more flags than granules
  flag->address = address;
  flag->complete = calloc(order->num_blocks, sizeof *flag->complete);
  if (!flag->complete)
    mirage__machine_fail(m, op, "out of memory");
  ++order->num_flags;
  return flag;
}

static bool has_acquired(const Fibre *fibre) { return fibre->acquired_epoch == fibre->block->epoch; }

void mirage__order_release(Machine *m, uint32_t op, uint64_t address) {
  Order *order = m->order;
  if (!order)
    return;
  Block *block = m->self->block;
  Flag *flag = find_flag(m, op, address);
  raise_all(order->num_blocks, flag->complete, row(order, order->known, block));
  if (has_acquired(m->self))
    raise_all(order->num_blocks, flag->complete, row(order, order->acquired, block));
  if (flag->complete[block->number] < block->epoch)
    flag->complete[block->number] = block->epoch; // the epochs before this one
}

void mirage__order_acquire(Machine *m, uint32_t op, uint64_t address) {
  Order *order = m->order;
  if (!order)
    return;
  Block *block = m->self->block;
  raise_all(order->num_blocks, row(order, order->acquired, block), find_flag(m, op, address)->complete);
  m->self->acquired_epoch = block->epoch;
}

void mirage__order_barrier(Machine *m, const Block *block) {
  Order *order = m->order;
  if (order)
    raise_all(order->num_blocks, row(order, order->known, block), row(order, order->acquired, block));
}

// -------------------------------------------------------------------------------------------------------- plain access

// Whether `other`'s access at `stamp` comes before what the running thread does now.
static bool is_ordered(Machine *m, uint32_t other, Stamp stamp) {
  const Fibre *self = m->self;
  const Order *order = m->order;
  if (other == self->block->number)
    return stamp.epoch < self->block->epoch || stamp.thread == self->thread;
  if (row(order, order->known, self->block)[other] > stamp.epoch)
    return true;
  return has_acquired(self) && row(order, order->acquired, self->block)[other] > stamp.epoch;
}

static void check_granule(Machine *m, uint32_t op, uint64_t granule, bool write) {
  Order *order = m->order;
  const char *what = write ? "writes" : "reads";
  uint32_t writer = order->writer[granule];
  if (writer && !is_ordered(m, writer - 1, order->write[granule]))
    mirage__machine_fail(m, op, "%s byte %llu of the workspace, which block number %u, thread %u writes, in no order",
                         what, (unsigned long long)granule * GRANULE, writer - 1, order->write[granule].thread);
  const Stamp *read = order->read + granule * order->num_blocks;
  for (uint32_t b = 0; write && b < order->num_blocks; ++b)
    if (read[b].epoch && !is_ordered(m, b, read[b]))
      mirage__machine_fail(m, op, "writes byte %llu of the workspace, which block number %u reads, in no order",
                           (unsigned long long)granule * GRANULE, b);
}

void mirage__order_access(Machine *m, uint32_t op, const void *data, uint32_t bytes, bool write) {
  Order *order = m->order;
  uint64_t first = (uint64_t)((const uint8_t *)data - order->base) / GRANULE;
  const Block *block = m->self->block;
  Stamp now = {block->epoch, (uint16_t)m->self->thread};
  for (uint64_t granule = first; granule < first + (bytes + 1) / GRANULE && granule < order->granules; ++granule) {
    check_granule(m, op, granule, write);
    Stamp *read = &order->read[granule * order->num_blocks + block->number];
    if (write) {
      order->writer[granule] = block->number + 1;
      order->write[granule] = now;
    } else {
      bool shared = read->epoch == now.epoch && read->thread != now.thread;
      *read = (Stamp){now.epoch, (uint16_t)(shared ? MANY : now.thread)};
    }
  }
}
