// emulator_memory.c - device and shared memory with every access checked, and copies by cp.async.
//
// Device:  addresses are of our own making (machine.h), so whatever is not inside a buffer of the kernel is caught.
// Shared:  every access goes through the trace of its granules (trace.c).
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
  for (uint64_t i = offset; i < offset + bytes; i++) {
    if (buffer->writer[i] && buffer->writer[i] != me)
      mirage__machine_fail(m, op, "writes byte %llu of %s %u, which block number %u wrote too", (unsigned long long)i,
                           buffer->kind, buffer->number, buffer->writer[i] - 1);
    buffer->writer[i] = me;
  }
}

static const Buffer *locate(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment,
                            const char *what, uint64_t *out_offset) {
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
  *out_offset = (uint64_t)offset;
  return buffer;
}

static const Buffer *find_buffer(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment,
                                 bool write, uint64_t *out_offset) {
  const char *what = write ? "writes" : "reads";
  const Buffer *buffer = locate(m, op, address, bytes, alignment, what, out_offset);
  if (buffer->awaited && !m->self->grid_waited)
    mirage__machine_fail(m, op, "%s %s %u before waiting for the kernel that uses it last", what, buffer->kind,
                         buffer->number);
  if (write && !buffer->writable)
    mirage__machine_fail(m, op, "writes to %s %u", buffer->kind, buffer->number);
  return buffer;
}

void mirage__memory_prefetch(Machine *m, uint32_t op, uint64_t address) {
  uint64_t offset;
  locate(m, op, address, 1, 1, "prefetches", &offset);
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

void *mirage__memory_words(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, bool write) {
  uint64_t offset;
  const Buffer *buffer = find_buffer(m, op, address, bytes, bytes, write, &offset);
  if (write && buffer->writer)
    note_writer(m, op, buffer, offset, bytes);
  if (m->order && buffer == m->workspace)
    mirage__order_words(m, op, buffer->data + offset, bytes, write);
  m->progress += write;
  return buffer->data + offset;
}

// ------------------------------------------------------------------------------------------------------ shared memory

// Own shared memory, or that of a block of the cluster: (rank + 1) << 32 above the base (calls.c, MAP_RANK).
Place mirage__memory_place(Machine *m, uint32_t op, uint64_t address, uint32_t bytes, uint32_t alignment,
                           const char *what) {
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
  if ((uint64_t)offset % alignment)
    mirage__machine_fail(m, op, "%s %u bytes at byte %lld of shared memory: misaligned", what, bytes,
                         (long long)offset);
  place.offset = (uint32_t)offset;
  return place;
}

Ground mirage__memory_ground(const Block *block) {
  return (Ground){block->granules, 1, "shared memory", "with no barrier in between"};
}

static void check_written(Machine *m, uint32_t op, const Place *place, uint32_t bytes) {
  const Granule *g = place->block->granules + place->offset;
  for (uint32_t i = 0; i < bytes; i++)
    if (g[i].write_count == 0)
      mirage__machine_fail(m, op, "reads byte %u of shared memory, which nobody wrote", place->offset + i);
}

const void *mirage__memory_shared_read(Machine *m, uint32_t op, uint64_t address, uint32_t bytes) {
  Place place = mirage__memory_place(m, op, address, bytes, bytes, "reads");
  Ground ground = mirage__memory_ground(place.block);
  Access access = mirage__trace_by_thread(m->self, op);
  mirage__trace_read(m, &access, &ground, place.offset, bytes);
  check_written(m, op, &place, bytes);
  m->self->reads_peer |= place.block != m->self->block;
  return place.block->shared + place.offset;
}

void *mirage__memory_shared_write_of(Machine *m, uint32_t op, const Fibre *lane, uint64_t address, uint32_t bytes) {
  Place place = mirage__memory_place(m, op, address, bytes, bytes, "writes");
  Ground ground = mirage__memory_ground(place.block);
  Access access = mirage__trace_by_thread(lane, op);
  mirage__trace_write(m, &access, &ground, place.offset, bytes);
  return place.block->shared + place.offset;
}

void *mirage__memory_shared_write(Machine *m, uint32_t op, uint64_t address, uint32_t bytes) {
  return mirage__memory_shared_write_of(m, op, m->self, address, bytes);
}

// The running thread is the warp's last; the address is that of `lane`. Every lane gets a part, so it must come after
// the row's writes for each.
const void *mirage__memory_shared_row(Machine *m, uint32_t op, Fibre *warp, const Fibre *lane, uint64_t address) {
  Place place = mirage__memory_place(m, op, address, 16, 16, "reads");
  Ground ground = mirage__memory_ground(place.block);
  const Granule *g = &place.block->granules[place.offset];
  if (!g->pending && g->write_count == 0)
    mirage__machine_fail(m, op, "reads byte %u of shared memory for lane %u, which nobody wrote", place.offset,
                         lane->thread % (uint32_t)LANES);
  Access access = {.op = op, .actor = mirage__clock_warp(m, warp), .alike = true};
  access.count = warp->block->warp_counts[warp->thread / LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    if (i > 0 && warp[i].base == warp[i - 1].base)
      continue;
    access.fibre = &warp[i];
    mirage__trace_read(m, &access, &ground, place.offset, 16);
  }
  return place.block->shared + place.offset;
}

// -------------------------------------------------------------------------------------------------------------- copies

void mirage__copy_perform(Machine *m, const Copy *copy) {
  uint8_t *to = m->self->block->shared + (copy->to - MIRAGE_HOST_SHARED_BASE);
  if (copy->valid)
    memcpy(to, mirage__memory_global(m, copy->op, copy->from, copy->valid, copy->bytes, false), copy->valid);
  memset(to + copy->valid, 0, copy->bytes - copy->valid);
}

void mirage__copy_issue(Machine *m, uint32_t op, uint64_t to, uint64_t from, uint32_t bytes, uint32_t valid) {
  Fibre *self = m->self;
  if (valid > bytes)
    mirage__machine_fail(m, op, "copies %u bytes of %u", valid, bytes);
  Place place = mirage__memory_place(m, op, to, bytes, bytes, "copies to");
  if (place.block != self->block)
    mirage__machine_fail(m, op, "copies to another block's shared memory");
  mirage__memory_global(m, op, from, valid, bytes, false);
  Ground ground = mirage__memory_ground(self->block);
  Access access = mirage__trace_by_thread(self, op);
  mirage__trace_copy(m, &access, &ground, place.offset, bytes);
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
    mirage__copy_perform(m, &copy);
}

void mirage__copy_commit(Machine *m) { m->self->groups++; }

void mirage__copy_wait(Machine *m, uint32_t op, uint32_t allowed) {
  Fibre *self = m->self;
  Ground ground = mirage__memory_ground(self->block);
  uint32_t done = 0;
  for (; done < self->num_copies && self->copies[done].group + allowed < self->groups; done++) {
    const Copy *copy = &self->copies[done];
    if (m->launch->copies == MIRAGE_COPIES_LATE)
      mirage__copy_perform(m, copy);
    Access access = mirage__trace_by_thread(self, copy->op); // visible to others after the next barrier
    mirage__trace_land(&access, &ground, (uint32_t)(copy->to - MIRAGE_HOST_SHARED_BASE), copy->bytes);
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
