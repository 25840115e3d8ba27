// memory.c - device and shared memory with every access checked, and asynchronous copies.
//
// Device:  addresses are of our own making (machine.h), so whatever is not inside a buffer of the kernel is caught.
// Shared:  per two bytes we keep who wrote them last, who read them last, and when. "When" is the number of barriers
//          that the block has passed: two accesses by different threads in one such epoch, one of them a write, are a
//          race. Accesses by different blocks of a cluster are ordered by cluster barriers only.
// Copies:  cp.async makes its destination pending until the thread that issued it waits for its group; then it counts
//          as that thread's write. Touching it before, whoever does, is a missing wait.
#include "machine.h"

#include "codegen/host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------ device memory

static void note_writer(Machine *m, uint32_t op, const Buffer *buffer, uint64_t offset, uint32_t bytes) {
  uint32_t me = m->self->block->number + 1;
  for (uint64_t i = offset / GRANULE; i < (offset + bytes + GRANULE - 1) / GRANULE; ++i) {
    if (buffer->writer[i] && buffer->writer[i] != me)
      mirage__machine_fail(m, op, "writes byte %llu of %s %u, which block number %u wrote too",
                           (unsigned long long)(i * GRANULE), buffer->kind, buffer->number, buffer->writer[i] - 1);
    buffer->writer[i] = me;
  }
}

static const Buffer *find_buffer(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment,
                                 bool write, uint64_t *out_offset) {
  const char *what = write ? "writes" : "reads";
  uint64_t index = (address >> BUFFER_SHIFT) - 1;
  int64_t offset = (int64_t)(address & ((UINT64_C(1) << BUFFER_SHIFT) - 1)) - (int64_t)BUFFER_BIAS;
  if (index >= m->launch->num_buffers)
    mirage__machine_fail(m, op, "%s %u bytes at address 0x%llx, which is no device memory", what, bytes,
                         (unsigned long long)address);
  const Buffer *buffer = &m->launch->buffers[index];
  if (offset < 0 || (uint64_t)offset + bytes > buffer->bytes)
    mirage__machine_fail(m, op, "%s %u bytes at byte %lld of %s %u, which has %llu bytes", what, bytes,
                         (long long)offset, buffer->kind, buffer->number, (unsigned long long)buffer->bytes);
  if ((uint64_t)offset % alignment)
    mirage__machine_fail(m, op, "%s %u bytes at byte %lld of %s %u: misaligned", what, bytes, (long long)offset,
                         buffer->kind, buffer->number);
  if (buffer->awaited && !m->self->grid_waited)
    mirage__machine_fail(m, op, "%s %s %u before waiting for the kernel that uses it last", what, buffer->kind,
                         buffer->number);
  if (write && !buffer->writable)
    mirage__machine_fail(m, op, "writes to %s %u", buffer->kind, buffer->number);
  *out_offset = (uint64_t)offset;
  return buffer;
}

void *mirage__memory_global(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment, bool write) {
  uint64_t offset;
  const Buffer *buffer = find_buffer(m, op, address, bytes, alignment, write, &offset);
  if (write && buffer->writer)
    note_writer(m, op, buffer, offset, bytes);
  if (m->order && buffer == m->workspace)
    mirage__order_access(m, op, buffer->data + offset, bytes, write);
  m->progress += write;
  return buffer->data + offset;
}

uint32_t *mirage__memory_flag(Machine *m, uint32_t op, uint64_t address, bool write) {
  uint64_t offset;
  const Buffer *buffer = find_buffer(m, op, address, 4, 4, write, &offset);
  m->progress += write;
  return (uint32_t *)(void *)(buffer->data + offset);
}

// ------------------------------------------------------------------------------------------------------ shared memory

typedef struct Place {
  Block *block;
  uint32_t offset;
} Place;

// Own shared memory, or that of a block of the cluster: (rank + 1) << 32 above the base (calls.c, MAP_RANK).
static Place find(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, const char *what) {
  Cluster *cluster = m->self->block->cluster;
  uint64_t rank = address >> 32;
  Place place = {m->self->block, 0};
  int64_t offset = (int64_t)(address & 0xffffffff) - (int64_t)MIRAGE_HOST_SHARED_BASE;
  if (rank > 0) {
    if (rank > cluster->size)
      mirage__machine_fail(m, op, "%s shared memory of block %llu of a cluster of %u", what,
                           (unsigned long long)(rank - 1), cluster->size);
    place.block = &cluster->blocks[rank - 1];
    if (place.block->ended == m->launch->threads)
      mirage__machine_fail(m, op, "%s shared memory of block %llu of the cluster, which has ended", what,
                           (unsigned long long)(rank - 1));
  }
  if (offset < 0 || (uint64_t)offset + bytes > m->launch->shared_bytes)
    mirage__machine_fail(m, op, "%s %u bytes at byte %lld of shared memory, which has %u bytes", what, bytes,
                         (long long)offset, m->launch->shared_bytes);
  if ((uint64_t)offset % bytes)
    mirage__machine_fail(m, op, "%s %u bytes at byte %lld of shared memory: misaligned", what, bytes,
                         (long long)offset);
  place.offset = (uint32_t)offset;
  return place;
}

static _Noreturn void fail_pending(Machine *m, uint32_t op, const Granule *g, const Place *place, const char *what) {
  mirage__machine_fail(m, op, "%s byte %u of shared memory, where a copy of %s is under way and not waited for", what,
                       (uint32_t)(g - place->block->granules) * GRANULE, mirage__machine_op_name(m, g->write_op));
}

static _Noreturn void fail_race(Machine *m, uint32_t op, const Granule *g, const Place *place, const char *what,
                                const char *other, uint32_t other_op, uint32_t thread) {
  char who[32] = "another thread";
  if (thread != MANY)
    snprintf(who, sizeof who, "thread %u", thread % m->launch->threads);
  mirage__machine_fail(m, op, "%s byte %u of shared memory, which %s %s (%s) with no barrier in between", what,
                       (uint32_t)(g - place->block->granules) * GRANULE, who, other,
                       mirage__machine_op_name(m, other_op));
}

// Whether the last write is unordered with an access by `thread` now.
static bool races_with_write(const Machine *m, const Granule *g, uint32_t thread) {
  const Block *block = m->self->block;
  if (g->write_epoch == 0 || g->writer == thread)
    return false;
  return g->writer / m->launch->threads == block->rank ? g->write_epoch == block->epoch
                                                       : g->write_cluster_epoch == block->cluster->epoch;
}

static bool races_with_read(const Machine *m, const Granule *g, uint32_t thread) {
  const Block *block = m->self->block;
  if (g->read_epoch == 0 || g->reader == thread)
    return false;
  return g->reader_block == block->rank ? g->read_epoch == block->epoch
                                        : g->read_cluster_epoch == block->cluster->epoch;
}

// `thread` is MANY where all lanes of a warp read.
static void note_read(Machine *m, uint32_t op, const Place *place, Granule *g, uint32_t thread) {
  const Block *block = m->self->block;
  if (g->pending)
    fail_pending(m, op, g, place, "reads");
  if (races_with_write(m, g, thread))
    fail_race(m, op, g, place, "reads", "writes", g->write_op, g->writer);
  bool together = races_with_read(m, g, thread); // with a reader that is no order either: both matter to a writer
  g->reader = (uint16_t)(together ? MANY : thread);
  g->reader_block = (uint8_t)block->rank;
  g->read_epoch = block->epoch;
  g->read_cluster_epoch = block->cluster->epoch;
  g->read_op = op;
}

static void check_write(Machine *m, uint32_t op, const Place *place, const Granule *g, uint32_t thread) {
  if (g->pending)
    fail_pending(m, op, g, place, "writes");
  if (races_with_write(m, g, thread))
    fail_race(m, op, g, place, "writes", "writes", g->write_op, g->writer);
  if (races_with_read(m, g, thread))
    fail_race(m, op, g, place, "writes", "reads", g->read_op, g->reader);
}

static void note_write(const Machine *m, uint32_t op, Granule *g, uint32_t thread) {
  g->writer = (uint16_t)thread;
  g->write_epoch = m->self->block->epoch;
  g->write_cluster_epoch = m->self->block->cluster->epoch;
  g->write_op = op;
}

static Granule *first_granule(const Place *place) { return place->block->granules + place->offset / GRANULE; }
static uint32_t granules_of(uint32_t bytes) { return (bytes + GRANULE - 1) / GRANULE; }

const void *mirage__memory_shared_read(Machine *m, uint32_t op, uint64_t address, uint32_t bytes) {
  Place place = find(m, op, address, bytes, "reads");
  uint32_t thread = cluster_thread(m, m->self);
  Granule *g = first_granule(&place);
  for (uint32_t i = 0; i < granules_of(bytes); ++i, ++g) {
    note_read(m, op, &place, g, thread);
    if (g->write_epoch == 0)
      mirage__machine_fail(m, op, "reads byte %u of shared memory, which nobody wrote",
                           place.offset + i * (uint32_t)GRANULE);
  }
  return place.block->shared + place.offset;
}

void *mirage__memory_shared_write(Machine *m, uint32_t op, uint64_t address, uint32_t bytes) {
  Place place = find(m, op, address, bytes, "writes");
  uint32_t thread = cluster_thread(m, m->self);
  Granule *g = first_granule(&place);
  for (uint32_t i = 0; i < granules_of(bytes); ++i, ++g) {
    check_write(m, op, &place, g, thread);
    note_write(m, op, g, thread);
  }
  return place.block->shared + place.offset;
}

// The running thread is the warp's last; the address is that of `lane`.
const void *mirage__memory_shared_row(Machine *m, uint32_t op, const Fibre *lane, uint64_t address) {
  Place place = find(m, op, address, 16, "reads");
  Granule *g = first_granule(&place);
  if (!g->pending && g->write_epoch == 0)
    mirage__machine_fail(m, op, "reads byte %u of shared memory for lane %u, which nobody wrote", place.offset,
                         lane->thread % (uint32_t)LANES);
  for (uint32_t i = 0; i < granules_of(16); ++i)
    note_read(m, op, &place, g + i, MANY);
  return place.block->shared + place.offset;
}

// -------------------------------------------------------------------------------------------------------------- copies

static void perform(Machine *m, const Copy *copy) {
  uint8_t *to = m->self->block->shared + (copy->to - MIRAGE_HOST_SHARED_BASE);
  if (copy->valid)
    memcpy(to, mirage__memory_global(m, copy->op, copy->from, copy->valid, copy->bytes, false), copy->valid);
  memset(to + copy->valid, 0, copy->bytes - copy->valid);
}

void mirage__copy_issue(Machine *m, uint32_t op, uint64_t to, uint64_t from, uint32_t bytes, uint32_t valid) {
  Fibre *self = m->self;
  if (valid > bytes)
    mirage__machine_fail(m, op, "copies %u bytes of %u", valid, bytes);
  Place place = find(m, op, to, bytes, "copies to");
  if (place.block != self->block)
    mirage__machine_fail(m, op, "copies to another block's shared memory");
  mirage__memory_global(m, op, from, valid, bytes, false);
  uint32_t thread = cluster_thread(m, self);
  Granule *g = first_granule(&place);
  for (uint32_t i = 0; i < granules_of(bytes); ++i, ++g) {
    check_write(m, op, &place, g, thread);
    note_write(m, op, g, thread);
    g->pending = true;
  }
  if (self->num_copies == self->max_copies) {
    uint32_t grown = self->max_copies ? 2 * self->max_copies : 16;
    Copy *copies = realloc(self->copies, grown * sizeof *copies);
    if (!copies)
      mirage__machine_fail(m, op, "out of memory for %u copies under way", grown);
    self->copies = copies;
    self->max_copies = grown;
  }
  Copy copy = {to, from, bytes, valid, self->groups, op};
  self->copies[self->num_copies++] = copy;
  if (m->launch->copies == MIRAGE_COPIES_EARLY)
    perform(m, &copy);
}

void mirage__copy_commit(Machine *m) { ++m->self->groups; }

void mirage__copy_wait(Machine *m, uint32_t op, uint32_t allowed) {
  Fibre *self = m->self;
  uint32_t done = 0;
  for (; done < self->num_copies && self->copies[done].group + allowed < self->groups; ++done) {
    const Copy *copy = &self->copies[done];
    if (m->launch->copies == MIRAGE_COPIES_LATE)
      perform(m, copy);
    Place place = {self->block, (uint32_t)(copy->to - MIRAGE_HOST_SHARED_BASE)};
    Granule *g = first_granule(&place);
    for (uint32_t i = 0; i < granules_of(copy->bytes); ++i, ++g) {
      g->pending = false;
      note_write(m, copy->op, g, cluster_thread(m, self)); // visible to others after the next barrier
    }
  }
  if (done == 0)
    return;
  self->num_copies -= done;
  memmove(self->copies, self->copies + done, self->num_copies * sizeof *self->copies);
}

void mirage__copy_end(Machine *m) {
  if (m->self->num_copies)
    mirage__machine_fail(m, m->self->copies[0].op, "ends with %u copies under way", m->self->num_copies);
}
