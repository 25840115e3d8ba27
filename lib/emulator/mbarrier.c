// mbarrier.c - objects in shared memory that count arrivals and bytes of copies, phase by phase.
//
// A phase completes when as many threads have arrived as the object was initialised for and no byte is missing: an
// expecting arrival adds bytes, a copy that lands takes its own away. Then the next phase begins with all arrivals
// missing again. Who finds a phase completed may count on what those who arrived in it, and before, had done.
//
// The bytes of the object itself hold nothing here: whoever touches them by plain accesses or copies is caught.
#include "machine.h"

const char MIRAGE_AT_MBARRIER[] = "an mbarrier";

enum { MBARRIER_BYTES = 8, MOST_ARRIVALS = (1 << 20) - 1, MOST_BYTES = (1 << 20) - 1 };

static Mbarrier *find_at(Block *block, uint32_t offset) {
  for (uint32_t i = 0; i < block->num_mbarriers; i++)
    if (block->mbarriers[i].offset == offset && block->mbarriers[i].live)
      return &block->mbarriers[i];
  return NULL;
}

static void claim(Machine *m, uint32_t op, Block *block, uint32_t offset, bool live) {
  Ground ground = mirage__memory_ground(block);
  Access access = mirage__trace_by_thread(m->self, op);
  for (uint32_t i = 0; i < MBARRIER_BYTES; i++)
    block->granules[offset + i].mbarrier = false;
  mirage__trace_write(m, &access, &ground, offset, MBARRIER_BYTES);
  for (uint32_t i = 0; i < MBARRIER_BYTES; i++)
    block->granules[offset + i].mbarrier = live;
}

void mirage__mbarrier_init(Machine *m, uint32_t op, uint64_t address, uint32_t count) {
  Place place = mirage__memory_place(m, op, address, MBARRIER_BYTES, MBARRIER_BYTES, "initialises an mbarrier of");
  Block *block = m->self->block;
  if (place.block != block)
    mirage__machine_fail(m, op, "initialises an mbarrier of another block");
  if (count == 0 || count > MOST_ARRIVALS)
    mirage__machine_fail(m, op, "initialises an mbarrier for %u arrivals, 1 to %u are possible", count,
                         (unsigned)MOST_ARRIVALS);
  if (find_at(block, place.offset))
    mirage__machine_fail(m, op, "initialises the mbarrier at byte %u of shared memory, which is in use", place.offset);
  if (block->num_mbarriers == MOST_MBARRIERS)
    mirage__machine_fail(m, op, "initialises more than %u mbarriers", (unsigned)MOST_MBARRIERS);
  claim(m, op, block, place.offset, true);
  uint32_t index = block->num_mbarriers++;
  block->mbarriers[index] = (Mbarrier){.offset = place.offset,
                                       .op = op,
                                       .expected = count,
                                       .missing = count,
                                       .actor = mirage__clock_mbarrier(m, block, index),
                                       .initialiser = thread_actor(m->self),
                                       .initialised = m->self->count,
                                       .live = true};
}

// The object at an address; its initialisation comes before this use.
Mbarrier *mirage__mbarrier_find(Machine *m, uint32_t op, uint64_t address, bool for_copies, Block **out_block) {
  Place place = mirage__memory_place(m, op, address, MBARRIER_BYTES, MBARRIER_BYTES, "uses an mbarrier of");
  Mbarrier *mbarrier = find_at(place.block, place.offset);
  if (!mbarrier)
    mirage__machine_fail(m, op, "uses byte %u of shared memory as an mbarrier, which nobody initialised", place.offset);
  if (!mirage__clock_knows(m, m->self, mbarrier->initialiser, mbarrier->initialised))
    mirage__machine_fail(m, op,
                         "uses the mbarrier at byte %u of shared memory, which thread %u initialises (%s) with "
                         "no barrier in between",
                         place.offset, mbarrier->initialiser & 0xffff, mirage__machine_op_name(m, mbarrier->op));
  if ((for_copies || place.block != m->self->block) && !mbarrier->fenced)
    mirage__machine_fail(m, op,
                         "uses the mbarrier at byte %u of shared memory for a copy or from another block, with "
                         "no fence after its initialisation",
                         place.offset);
  *out_block = place.block;
  return mbarrier;
}

void mirage__mbarrier_end(Machine *m, uint32_t op, uint64_t address) {
  Block *block;
  Mbarrier *mbarrier = mirage__mbarrier_find(m, op, address, false, &block);
  if (mbarrier->waiting || mbarrier->bytes)
    mirage__machine_fail(m, op, "ends the mbarrier at byte %u of shared memory, which is in use", mbarrier->offset);
  mbarrier->live = false;
  claim(m, op, block, mbarrier->offset, false);
}

void mirage__mbarrier_fence(Machine *m) {
  Block *block = m->self->block;
  for (uint32_t i = 0; i < block->num_mbarriers; i++)
    block->mbarriers[i].fenced |=
        mirage__clock_knows(m, m->self, block->mbarriers[i].initialiser, block->mbarriers[i].initialised);
}

// ------------------------------------------------------------------------------------------------------------- phases

static void complete_phase(Machine *m, Mbarrier *mbarrier) {
  mbarrier->phase++;
  mbarrier->missing = mbarrier->expected;
  mirage__clock_release_count(m, mbarrier->actor, mbarrier->phase, &mbarrier->channel);
  mirage__clock_merge(m, &mbarrier->done, &mbarrier->channel);
  mirage__clock_clear(m, &mbarrier->channel);
  Fibre *fibre = mbarrier->waiting;
  mbarrier->waiting = NULL;
  for (Fibre *next; fibre; fibre = next) {
    next = fibre->next;
    mirage__machine_make_ready(m, fibre);
  }
}

static void advance(Machine *m, Mbarrier *mbarrier) {
  if (mbarrier->missing == 0 && mbarrier->bytes == 0)
    complete_phase(m, mbarrier);
}

static void count_bytes(Machine *m, Mbarrier *mbarrier, uint32_t op, int64_t bytes) {
  mbarrier->bytes += bytes;
  if (mbarrier->bytes > MOST_BYTES || mbarrier->bytes < -MOST_BYTES)
    mirage__machine_fail(m, op, "the mbarrier at byte %u of shared memory awaits %lld bytes, at most %u are possible",
                         mbarrier->offset, (long long)mbarrier->bytes, (unsigned)MOST_BYTES);
}

static void count_arrival(Machine *m, Mbarrier *mbarrier, uint32_t op) {
  if (mbarrier->missing == 0)
    mirage__machine_fail(m, op,
                         "arrives at the mbarrier at byte %u of shared memory, where all %u of phase %u have "
                         "arrived and %lld bytes are awaited",
                         mbarrier->offset, mbarrier->expected, mbarrier->phase, (long long)mbarrier->bytes);
  mbarrier->missing--;
  advance(m, mbarrier);
}

void mirage__mbarrier_arrive(Machine *m, uint32_t op, uint64_t address, uint32_t bytes) {
  Block *block;
  Mbarrier *mbarrier = mirage__mbarrier_find(m, op, address, false, &block);
  count_bytes(m, mbarrier, op, bytes);
  mirage__clock_release(m, m->self, &mbarrier->channel);
  count_arrival(m, mbarrier, op);
}

void mirage__mbarrier_bytes(Machine *m, Mbarrier *mbarrier, uint32_t op, uint32_t bytes) {
  count_bytes(m, mbarrier, op, -(int64_t)bytes);
  advance(m, mbarrier);
}

void mirage__mbarrier_copied(Machine *m, Mbarrier *mbarrier, uint32_t op) { count_arrival(m, mbarrier, op); }

// A thread that asks twice in a row waits: the first answer may be "not yet", as on a GPU.
bool mirage__mbarrier_try_wait(Machine *m, uint32_t op, uint64_t address, uint32_t parity) {
  Block *block;
  Fibre *self = m->self;
  Mbarrier *mbarrier = mirage__mbarrier_find(m, op, address, false, &block);
  if (block != self->block)
    mirage__machine_fail(m, op, "waits for an mbarrier of another block");
  if (parity > 1)
    mirage__machine_fail(m, op, "waits for the phase of parity %u of an mbarrier", parity);
  bool again = self->waits_for == mbarrier;
  self->waits_for = mbarrier;
  if ((mbarrier->phase & 1) == parity && !again)
    return false;
  while ((mbarrier->phase & 1) == parity) {
    self->next = mbarrier->waiting;
    mbarrier->waiting = self;
    mirage__machine_suspend(m, MIRAGE_AT_MBARRIER, op);
  }
  self->waits_for = NULL;
  mirage__clock_acquire(m, self, &mbarrier->done);
  return true;
}
