// clock.c - who may count on what: vector clocks of threads.
//
// Every actor (machine.h) counts; an access is stamped with its actor's count. A thread knows of every other actor up
// to which count its accesses come before what the thread does now. Threads learn at meeting points: who comes leaves
// what it knows and has done in the point's Channel (release) and counts on; who goes on takes it along (acquire).
//
// Proxies:  bulk copies and wgmma reach shared memory by the async proxy. What others wrote comes before their accesses
//           only if a proxy fence stands somewhere on the way, so a second count says what is known with one.
// Cost:     a clock is an array of chunks, one a block, shared between clocks and copied when one changes. After a
//           barrier all threads of a block hold the same clock, and two clocks mostly differ in one chunk.
//           [the epochs of FastTrack (Flanagan, Freund 2009) are the stamps; sharing takes the place of its adaptive
//           form]
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Chunk {
  uint32_t refs;
  struct Chunk *next; // free ones
  uint32_t counts[];  // known of each actor of the block, then known with a fence
} Chunk;

struct Clock {
  uint32_t refs;
  uint64_t serial;
  Clock *next;
  Chunk *chunks[]; // NULL: nothing known of that block
};

struct Clocks {
  uint32_t blocks, actors; // actors of a block
  uint32_t warps, groups;  // numbers of the first of each kind in a block
  uint64_t serial;
  Clock *origin, *free_clocks;
  Chunk *free_chunks;
  void **owned; // what was allocated
  size_t num_owned, max_owned;
};

// ------------------------------------------------------------------------------------------------------------- objects

static void *own(Clocks *clocks, size_t bytes) {
  if (clocks->num_owned == clocks->max_owned) {
    size_t grown = clocks->max_owned ? 2 * clocks->max_owned : 64;
    void **owned = realloc(clocks->owned, grown * sizeof *owned);
    if (!owned)
      return NULL;
    clocks->owned = owned;
    clocks->max_owned = grown;
  }
  void *memory = malloc(bytes);
  if (memory)
    clocks->owned[clocks->num_owned++] = memory;
  return memory;
}

static Chunk *new_chunk(Machine *m) {
  Clocks *clocks = m->clocks;
  Chunk *chunk = clocks->free_chunks;
  if (chunk)
    clocks->free_chunks = chunk->next;
  else
    chunk = own(clocks, sizeof *chunk + 2 * clocks->actors * sizeof *chunk->counts);
  if (!chunk)
    mirage__machine_fail(m, 0, "out of memory");
  chunk->refs = 1;
  return chunk;
}

static void drop_chunk(Clocks *clocks, Chunk *chunk) {
  if (!chunk || --chunk->refs)
    return;
  chunk->next = clocks->free_chunks;
  clocks->free_chunks = chunk;
}

static Clock *allocate_clock(Clocks *clocks) {
  Clock *clock = clocks->free_clocks;
  if (clock)
    clocks->free_clocks = clock->next;
  else
    clock = own(clocks, sizeof *clock + clocks->blocks * sizeof(Chunk *));
  if (clock) {
    clock->refs = 1;
    clock->serial = ++clocks->serial;
    memset(clock->chunks, 0, clocks->blocks * sizeof(Chunk *));
  }
  return clock;
}

static void drop(Clocks *clocks, Clock *clock) {
  if (!clock || --clock->refs)
    return;
  for (uint32_t b = 0; b < clocks->blocks; b++)
    drop_chunk(clocks, clock->chunks[b]);
  clock->next = clocks->free_clocks;
  clocks->free_clocks = clock;
}

static Clock *copy_of(Machine *m, const Clock *clock) {
  Clock *copy = allocate_clock(m->clocks);
  if (!copy)
    mirage__machine_fail(m, 0, "out of memory");
  for (uint32_t b = 0; clock && b < m->clocks->blocks; b++) {
    copy->chunks[b] = clock->chunks[b];
    if (copy->chunks[b])
      copy->chunks[b]->refs++;
  }
  return copy;
}

// Makes *slot a clock that nobody else holds. It gets a new serial, since it is about to change.
static Clock *make_own(Machine *m, Clock **slot) {
  if (*slot && (*slot)->refs == 1) {
    (*slot)->serial = ++m->clocks->serial;
    return *slot;
  }
  Clock *copy = copy_of(m, *slot);
  drop(m->clocks, *slot);
  return *slot = copy;
}

static Chunk *make_own_chunk(Machine *m, Clock *clock, uint32_t block) {
  Chunk *chunk = clock->chunks[block];
  if (chunk && chunk->refs == 1)
    return chunk;
  Chunk *copy = new_chunk(m);
  size_t bytes = 2 * m->clocks->actors * sizeof *copy->counts;
  if (chunk)
    memcpy(copy->counts, chunk->counts, bytes);
  else
    memset(copy->counts, 0, bytes);
  drop_chunk(m->clocks, chunk);
  return clock->chunks[block] = copy;
}

Clocks *mirage__clocks_create(uint32_t num_blocks, uint32_t threads) {
  Clocks *clocks = calloc(1, sizeof *clocks);
  if (!clocks)
    return NULL;
  uint32_t warps = (threads + LANES - 1) / LANES, groups = (threads + GROUP - 1) / GROUP;
  clocks->blocks = num_blocks;
  clocks->warps = threads;
  clocks->groups = threads + warps;
  clocks->actors = threads + warps + groups + MOST_MBARRIERS;
  clocks->origin = allocate_clock(clocks);
  if (clocks->origin)
    return clocks;
  mirage__clocks_destroy(clocks);
  return NULL;
}

void mirage__clocks_destroy(Clocks *clocks) {
  if (!clocks)
    return;
  for (size_t i = 0; i < clocks->num_owned; i++)
    free(clocks->owned[i]);
  free(clocks->owned);
  free(clocks);
}

Clock *mirage__clock_origin(Clocks *clocks) {
  clocks->origin->refs++;
  return clocks->origin;
}

void mirage__clock_drop(Clocks *clocks, Clock *clock) { drop(clocks, clock); }
uint64_t mirage__clock_serial(const Clock *clock) { return clock->serial; }

// -------------------------------------------------------------------------------------------------------------- actors

Actor mirage__clock_warp(const Machine *m, const Fibre *fibre) {
  return fibre->block->slot << 16 | (m->clocks->warps + fibre->thread / LANES);
}
Actor mirage__clock_group(const Machine *m, const Fibre *fibre) {
  return fibre->block->slot << 16 | (m->clocks->groups + fibre->thread / GROUP);
}
Actor mirage__clock_mbarrier(const Machine *m, const Block *block, uint32_t index) {
  return block->slot << 16 | (m->clocks->actors - MOST_MBARRIERS + index);
}

const char *mirage__clock_name(const Machine *m, Actor actor, char *buffer, size_t size) {
  uint32_t local = actor & 0xffff;
  if (local < m->clocks->warps)
    snprintf(buffer, size, "thread %u", local);
  else if (local < m->clocks->groups)
    snprintf(buffer, size, "warp %u", local - m->clocks->warps);
  else if (local < m->clocks->actors - MOST_MBARRIERS)
    snprintf(buffer, size, "a product of warpgroup %u", local - m->clocks->groups);
  else
    snprintf(buffer, size, "a copy");
  return buffer;
}

// ------------------------------------------------------------------------------------------------------------- merging

static void raise_counts(uint32_t *to, const uint32_t *from, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    to[i] = from[i] > to[i] ? from[i] : to[i];
}

static void merge_chunk(Machine *m, Clock *to, uint32_t block, Chunk *from) {
  Chunk *mine = to->chunks[block];
  if (!from || from == mine)
    return;
  uint32_t count = 2 * m->clocks->actors, more = 0, less = 0;
  for (uint32_t i = 0; mine && i < count; i++) {
    more |= mine->counts[i] > from->counts[i];
    less |= mine->counts[i] < from->counts[i];
  }
  if (mine && !less)
    return;
  if (more) {
    raise_counts(make_own_chunk(m, to, block)->counts, from->counts, count);
    return;
  }
  from->refs++;
  drop_chunk(m->clocks, mine);
  to->chunks[block] = from;
}

static void merge(Machine *m, Clock *to, const Clock *from) {
  for (uint32_t b = 0; b < m->clocks->blocks; b++)
    merge_chunk(m, to, b, from->chunks[b]);
}

// What `fence` knows is now known with a fence.
static void merge_fence(Machine *m, Clock *to, const Clock *fence) {
  uint32_t actors = m->clocks->actors;
  for (uint32_t b = 0; b < m->clocks->blocks; b++)
    if (fence->chunks[b])
      raise_counts(make_own_chunk(m, to, b)->counts + actors, fence->chunks[b]->counts, actors);
}

// --------------------------------------------------------------------------------------------------- release, acquire

void mirage__clock_release(Machine *m, Fibre *fibre, Channel *channel) {
  Clock *clock = make_own(m, &channel->clock);
  if (channel->last_base != fibre->base->serial)
    merge(m, clock, fibre->base);
  channel->last_base = fibre->base->serial;
  if (fibre->fence_base && channel->last_fence != fibre->fence_base->serial) {
    merge_fence(m, clock, fibre->fence_base);
    channel->last_fence = fibre->fence_base->serial;
  }
  Block *block = fibre->block;
  uint32_t *counts = make_own_chunk(m, clock, block->slot)->counts, warp = fibre->thread / LANES;
  counts[fibre->thread] = fibre->count++;
  counts[m->clocks->warps + warp] = block->warp_counts[warp]++;
  counts[m->clocks->actors + fibre->thread] = fibre->fence_count;
  if (fibre->products) {
    uint32_t *group = &counts[m->clocks->groups + fibre->thread / GROUP], done = mirage__group_done(fibre);
    *group = done > *group ? done : *group;
  }
}

void mirage__clock_release_count(Machine *m, Actor actor, uint32_t count, Channel *channel) {
  make_own_chunk(m, make_own(m, &channel->clock), actor >> 16)->counts[actor & 0xffff] = count;
}

static void set_base(Machine *m, Fibre *fibre, Clock *clock) {
  clock->refs++;
  drop(m->clocks, fibre->base);
  fibre->base = clock;
}

void mirage__clock_acquire(Machine *m, Fibre *fibre, Channel *channel) {
  if (!channel->clock || channel->clock == fibre->base)
    return;
  if (!channel->joined || channel->joined_from != fibre->base->serial || channel->joined_of != channel->clock->serial) {
    Clock *joined = copy_of(m, fibre->base);
    merge(m, joined, channel->clock);
    drop(m->clocks, channel->joined);
    channel->joined = joined;
    channel->joined_from = fibre->base->serial;
    channel->joined_of = channel->clock->serial;
  }
  set_base(m, fibre, channel->joined);
}

void mirage__clock_merge(Machine *m, Channel *to, const Channel *from) {
  if (from->clock)
    merge(m, make_own(m, &to->clock), from->clock);
}

void mirage__clock_take(Machine *m, Fibre *fibre, Channel *channel) { set_base(m, fibre, channel->clock); }

void mirage__clock_clear(Machine *m, Channel *channel) {
  drop(m->clocks, channel->clock);
  drop(m->clocks, channel->joined);
  *channel = (Channel){0};
}

void mirage__clock_fence(Machine *m, Fibre *fibre) {
  fibre->base->refs++;
  drop(m->clocks, fibre->fence_base);
  fibre->fence_base = fibre->base;
  fibre->fence_count = fibre->count++;
}

void mirage__clock_fence_cluster(Machine *m, Fibre *fibre) {
  fibre->base->refs++;
  drop(m->clocks, fibre->cluster_base);
  fibre->cluster_base = fibre->base;
  fibre->cluster_count = fibre->count++;
}

void mirage__clock_release_fenced(Machine *m, Fibre *fibre, Channel *channel) {
  if (!fibre->cluster_base)
    return;
  Clock *clock = make_own(m, &channel->clock);
  if (channel->last_base != fibre->cluster_base->serial)
    merge(m, clock, fibre->cluster_base);
  channel->last_base = fibre->cluster_base->serial;
  uint32_t *counts = make_own_chunk(m, clock, fibre->block->slot)->counts;
  counts[fibre->thread] = fibre->cluster_count;
  uint32_t warp = fibre->thread / LANES;
  counts[m->clocks->warps + warp] = fibre->block->warp_counts[warp]++;
}

static bool know_the_same(const Fibre *lanes, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (lanes[i].base != lanes->base)
      return false;
  return true;
}

void mirage__clock_share_outside(Machine *m, Fibre *lanes, uint32_t count) {
  if (know_the_same(lanes, count))
    return;
  Clock *all = copy_of(m, NULL), *before = NULL, *after = NULL;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t b = 0; b < m->clocks->blocks && (i == 0 || lanes[i].base != lanes[i - 1].base); b++)
      if (b != lanes->block->slot)
        merge_chunk(m, all, b, lanes[i].base->chunks[b]);
  for (uint32_t i = 0; i < count; i++) { // lanes that knew the same go on doing so
    if (lanes[i].base != before) {
      drop(m->clocks, before);
      drop(m->clocks, after);
      before = lanes[i].base;
      before->refs++;
      after = copy_of(m, before);
      merge(m, after, all);
    }
    set_base(m, &lanes[i], after);
  }
  drop(m->clocks, before);
  drop(m->clocks, after);
  drop(m->clocks, all);
}

// ----------------------------------------------------------------------------------------------------------- questions

static uint32_t known(const Clock *clock, Actor actor, uint32_t from) {
  const Chunk *chunk = clock->chunks[actor >> 16];
  return chunk ? chunk->counts[from + (actor & 0xffff)] : 0;
}

bool mirage__clock_knows_alike(const Machine *m, const Fibre *fibre, Actor actor, uint32_t count) {
  if (actor >> 16 == fibre->block->slot) {
    uint32_t local = actor & 0xffff;
    if (local == m->clocks->warps + fibre->thread / LANES) // a warp does things in order
      return true;
    if (local == m->clocks->groups + fibre->thread / GROUP && mirage__group_done(fibre) >= count)
      return true;
  }
  return known(fibre->base, actor, 0) >= count;
}

bool mirage__clock_knows(const Machine *m, const Fibre *fibre, Actor actor, uint32_t count) {
  return actor == thread_actor(fibre) || mirage__clock_knows_alike(m, fibre, actor, count);
}

bool mirage__clock_knows_fenced(const Machine *m, const Fibre *fibre, Actor actor, uint32_t count, bool alike) {
  if (!alike && actor == thread_actor(fibre) && fibre->fence_count >= count)
    return true;
  if (fibre->fence_base && known(fibre->fence_base, actor, 0) >= count)
    return true;
  return known(fibre->base, actor, m->clocks->actors) >= count;
}
