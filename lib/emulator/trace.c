// trace.c - what is known of each granule of memory: who wrote it last, who has read it since.
//
// An access is checked against those before it: a read against the last write, a write against the last write and all
// reads since. Each must come before it by the clocks (clock.c), or it is a race.
//
// Readers:  a granule names a set: a list of (actor, count), newest first, that granules share. Adding the same reader
//           to the same set gives the same list, by a cache; a reader to whom all others are known replaces them. A set
//           that a clock was found to know is marked with the clock's serial, so that a tile is checked at the price of
//           one granule. Lists that no granule names any more are swept when room is short.
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
  Actor actor;
  uint32_t count, op;
  uint32_t rest;     // the set without it; 0 = empty
  uint64_t known_to; // serial of a clock that knows the whole set
} Reader;

typedef struct Added {
  uint32_t set, actor, count, result;
} Added;

enum { CACHE = 4096, FIRST_READERS = 1 << 14 };

struct Trace {
  Reader *readers; // [0] stands for the empty set
  uint32_t num_readers, max_readers;
  Added cache[CACHE];
};

Trace *mirage__trace_create(void) {
  Trace *trace = calloc(1, sizeof *trace);
  if (!trace)
    return NULL;
  trace->max_readers = FIRST_READERS;
  trace->num_readers = 1;
  trace->readers = calloc(FIRST_READERS, sizeof *trace->readers);
  if (trace->readers)
    return trace;
  free(trace);
  return NULL;
}

void mirage__trace_destroy(Trace *trace) {
  if (!trace)
    return;
  free(trace->readers);
  free(trace);
}

void mirage__trace_reset(Trace *trace) {
  trace->num_readers = 1;
  memset(trace->cache, 0, sizeof trace->cache);
}

// ------------------------------------------------------------------------------------------------------- sets of
// readers

// Moves the lists that granules name to the front.
static uint32_t keep(const Reader *old, Reader *kept, uint32_t *moved, uint32_t *num_kept, uint32_t set) {
  if (set == 0 || moved[set])
    return moved[set];
  uint32_t chain[64], length = 0, rest = set;
  for (; rest && !moved[rest] && length < 64; rest = old[rest].rest)
    chain[length++] = rest;
  uint32_t below = keep(old, kept, moved, num_kept, rest);
  while (length) {
    uint32_t from = chain[--length];
    kept[*num_kept] = old[from];
    kept[*num_kept].rest = below;
    below = moved[from] = (*num_kept)++;
  }
  return below;
}

static void sweep(Machine *m) {
  Trace *trace = m->trace;
  Reader *kept = calloc(trace->max_readers, sizeof *kept);
  uint32_t *moved = calloc(trace->max_readers, sizeof *moved), num_kept = 1;
  if (!kept || !moved) {
    free(kept);
    free(moved);
    mirage__machine_fail(m, 0, "out of memory");
  }
  for (uint32_t i = 0; i < m->num_granules; i++)
    m->granules[i].readers = keep(trace->readers, kept, moved, &num_kept, m->granules[i].readers);
  free(moved);
  free(trace->readers);
  trace->readers = kept;
  trace->num_readers = num_kept;
  memset(trace->cache, 0, sizeof trace->cache);
  if (num_kept < trace->max_readers / 2)
    return;
  Reader *grown = realloc(kept, 2 * (size_t)trace->max_readers * sizeof *grown);
  if (!grown)
    mirage__machine_fail(m, 0, "out of memory");
  trace->readers = grown;
  trace->max_readers *= 2;
}

// The first reader that the access does not come after, or NULL.
static const Reader *first_unknown(Machine *m, const Access *access, uint32_t set) {
  Reader *readers = m->trace->readers;
  uint64_t serial = mirage__clock_serial(access->fibre->base);
  bool by_itself = false;
  for (uint32_t at = set; at && readers[at].known_to != serial; at = readers[at].rest) {
    const Reader *reader = &readers[at];
    if (mirage__clock_knows_alike(m, access->fibre, reader->actor, reader->count))
      continue;
    if (access->alike || reader->actor != access->actor)
      return reader;
    by_itself = true;
  }
  if (set && !by_itself)
    readers[set].known_to = serial;
  return NULL;
}

static Added *find_added(Trace *trace, uint32_t set, Actor actor, uint32_t count) {
  uint32_t hash = (set * 2654435761u ^ actor * 2246822519u ^ count * 3266489917u) >> 20;
  return &trace->cache[hash % CACHE];
}

// Returns `set` with the reader.
static uint32_t add_reader(Machine *m, const Access *access, uint32_t set) {
  Trace *trace = m->trace;
  const Reader *newest = &trace->readers[set];
  if (set && newest->actor == access->actor && newest->count == access->count)
    return set;
  Added *added = find_added(trace, set, access->actor, access->count);
  if (added->result && added->set == set && added->actor == access->actor && added->count == access->count)
    return added->result;
  uint32_t result = trace->num_readers++, rest = first_unknown(m, access, set) ? set : 0;
  trace->readers[result] = (Reader){access->actor, access->count, access->op, rest, 0};
  *added = (Added){set, access->actor, access->count, result};
  return result;
}

// ------------------------------------------------------------------------------------------------------------
// sentences

typedef struct Spot {
  const Ground *ground;
  uint32_t index;
} Spot;

static uint32_t byte_of(Spot spot) { return spot.index * spot.ground->granule_bytes; }
static Granule *granule_of(Spot spot) { return &spot.ground->granules[spot.index]; }

static _Noreturn void fail_pending(Machine *m, const Access *access, Spot spot, const char *what) {
  mirage__machine_fail(m, access->op, "%s byte %u of %s, where a copy of %s is under way and not waited for", what,
                       byte_of(spot), spot.ground->name, mirage__machine_op_name(m, granule_of(spot)->write_op));
}

static _Noreturn void fail_race(Machine *m, const Access *access, Spot spot, const char *what, Actor actor,
                                const char *other, uint32_t other_op, bool fence) {
  char who[48], where[32] = "";
  mirage__clock_name(m, actor, who, sizeof who);
  if (actor >> 16 != access->fibre->block->slot)
    snprintf(where, sizeof where, "block number %u, ", mirage__machine_block(m, actor >> 16)->number);
  mirage__machine_fail(m, access->op, "%s byte %u of %s, which %s%s %s (%s) %s", what, byte_of(spot), spot.ground->name,
                       where, who, other, mirage__machine_op_name(m, other_op),
                       fence ? "with no proxy fence in between" : spot.ground->unordered);
}

// -------------------------------------------------------------------------------------------------------------- access

// The last write comes before this access, and where the proxies differ there is a fence.
static void check_last_write(Machine *m, const Access *access, Spot spot, const char *what) {
  const Granule *g = granule_of(spot);
  if (g->mbarrier)
    mirage__machine_fail(m, access->op, "%s byte %u of %s, which belongs to an mbarrier of %s", what, byte_of(spot),
                         spot.ground->name, mirage__machine_op_name(m, g->write_op));
  if (g->pending)
    fail_pending(m, access, spot, what);
  if (g->write_count == 0)
    return;
  bool own = !access->alike && g->writer == thread_actor(access->fibre);
  if (!own && !mirage__clock_knows_alike(m, access->fibre, g->writer, g->write_count))
    fail_race(m, access, spot, what, g->writer, "writes", g->write_op, false);
  if (access->async && !g->async &&
      !mirage__clock_knows_fenced(m, access->fibre, g->writer, g->write_count, access->alike))
    fail_race(m, access, spot, what, g->writer, "writes", g->write_op, true);
}

static void check_readers(Machine *m, const Access *access, Spot spot, const char *what) {
  const Reader *reader = first_unknown(m, access, granule_of(spot)->readers);
  if (reader)
    fail_race(m, access, spot, what, reader->actor, "reads", reader->op, false);
}

Access mirage__trace_by_thread(const Fibre *fibre, uint32_t op) {
  return (Access){.op = op, .fibre = fibre, .actor = thread_actor(fibre), .count = fibre->count};
}

static void stamp(const Access *access, Granule *g, bool pending) {
  g->writer = access->actor;
  g->write_count = access->count;
  g->write_op = access->op;
  g->readers = 0;
  g->async = access->async;
  g->pending = pending;
}

// Neighbours mostly have one history: what was found of one holds for the next.
static bool alike(const Granule *a, const Granule *b) {
  return a->writer == b->writer && a->write_count == b->write_count && a->readers == b->readers &&
         a->pending == b->pending && a->async == b->async && a->mbarrier == b->mbarrier;
}

void mirage__trace_read(Machine *m, const Access *access, const Ground *ground, uint32_t first, uint32_t count) {
  if (m->trace->num_readers + count > m->trace->max_readers)
    sweep(m);
  Granule before = {0};
  uint32_t readers = 0;
  for (uint32_t i = first; i < first + count; i++) {
    Granule *g = &ground->granules[i];
    if (i == first || !alike(g, &before)) {
      before = *g;
      check_last_write(m, access, (Spot){ground, i}, "reads");
      readers = add_reader(m, access, g->readers);
    }
    g->readers = readers;
  }
}

static void write(Machine *m, const Access *access, const Ground *ground, uint32_t first, uint32_t count,
                  const char *what, bool pending) {
  Granule before = {0};
  for (uint32_t i = first; i < first + count; i++) {
    Granule *g = &ground->granules[i];
    if (i == first || !alike(g, &before)) {
      before = *g;
      check_last_write(m, access, (Spot){ground, i}, what);
      check_readers(m, access, (Spot){ground, i}, what);
    }
    stamp(access, g, pending);
  }
}

void mirage__trace_write(Machine *m, const Access *access, const Ground *ground, uint32_t first, uint32_t count) {
  write(m, access, ground, first, count, "writes", false);
}

void mirage__trace_copy(Machine *m, const Access *access, const Ground *ground, uint32_t first, uint32_t count) {
  write(m, access, ground, first, count, "copies to", true);
}

void mirage__trace_land(const Access *access, const Ground *ground, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++)
    stamp(access, &ground->granules[i], false);
}
