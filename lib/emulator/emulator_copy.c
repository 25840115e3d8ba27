// emulator_copy.c - bulk and tensor copies: what one thread asks for, and an mbarrier announces.
//
// Everything about a copy is checked when it is issued: addresses, alignment, and that all who used its destination are
// done. From then on the destination is taboo. The copy arrives at once, or when no thread can go on without it; its
// bytes then count as written by the mbarrier, in its running phase: who waits for that phase may read them.
//
// Tensor:  the box lies in shared memory dense, innermost dimension first, 16-byte pieces exchanged by address bits
//          (`swizzled`). Elements outside the tensor are zeros. It begins at a multiple of 16 bytes in the innermost
//          dimension: an H200 traps otherwise.
#include "machine.h"

#include "codegen/host.h"
#include <stdlib.h>
#include <string.h>

typedef struct Target {
  Block *block;
  Mbarrier *mbarrier;
} Target;

typedef enum { FLIGHT_BULK, FLIGHT_TENSOR, FLIGHT_ARRIVAL } FlightKind;

enum { MOST_TARGETS = 16, BULK_STEP = 16, BOX_ALIGNMENT = 128, MOST_BOX = 256 };

struct Flight {
  FlightKind kind;
  Flight *next;
  Fibre *issuer;
  uint32_t op;
  uint32_t to, bytes;  // in shared memory of every target
  const uint8_t *from; // bulk: the bytes; tensor: element 0 of the tensor
  const MirageTensorMap *map;
  int32_t coordinates[MIRAGE_MAP_RANK];
  Copy *copies; // arrival: cp.async of the issuer
  uint32_t num_copies;
  uint32_t num_targets;
  Target targets[MOST_TARGETS];
};

// ------------------------------------------------------------------------------------------------------------- flights

static void drop_flight(Flight *flight) {
  free(flight->copies);
  free(flight);
}

static void drop_list(Flight *first) {
  for (Flight *flight = first, *next; flight; flight = next) {
    next = flight->next;
    drop_flight(flight);
  }
}

void mirage__copy_drop_all(Machine *m) {
  drop_list(m->first_flight);
  drop_list(m->arriving);
  m->first_flight = m->last_flight = m->arriving = NULL;
}

static Flight *new_flight(Machine *m, uint32_t op, FlightKind kind) {
  Flight *flight = calloc(1, sizeof *flight);
  if (!flight)
    mirage__machine_fail(m, op, "out of memory");
  flight->kind = kind;
  flight->issuer = m->self;
  flight->op = op;
  // In the list from the start, so that a failure frees it.
  if (m->last_flight)
    m->last_flight->next = flight;
  else
    m->first_flight = flight;
  m->last_flight = flight;
  return flight;
}

static Access by_mbarrier(const Flight *flight, const Target *target, bool async) {
  return (Access){.op = flight->op,
                  .fibre = flight->issuer,
                  .actor = target->mbarrier->actor,
                  .count = target->mbarrier->phase + 1,
                  .async = async};
}

static void make_pending(Machine *m, const Flight *flight, const Target *target) {
  Ground ground = mirage__memory_ground(target->block);
  Access access = by_mbarrier(flight, target, true);
  mirage__trace_copy(m, &access, &ground, flight->to, flight->bytes);
}

static void land_bytes(const Flight *flight, const Target *target, uint32_t to, uint32_t bytes, bool async) {
  Ground ground = mirage__memory_ground(target->block);
  Access access = by_mbarrier(flight, target, async);
  mirage__trace_land(&access, &ground, to, bytes);
}

// --------------------------------------------------------------------------------------------------------------- boxes

// Bytes of dimension 0 of the box from `first` on that lie in the tensor: [*begin, *end) of the row.
static void clip_row(const MirageTensorMap *map, int64_t first, uint32_t *begin, uint32_t *end) {
  int64_t size = map->strides[0], low = first < 0 ? -first : 0, high = map->extents[0] - first;
  high = high > map->box[0] ? map->box[0] : high;
  *begin = (uint32_t)(low * size);
  *end = high > low ? (uint32_t)(high * size) : *begin;
}

// Byte of the tensor where the row of the box with these outer indices begins; false outside.
static bool find_row(const Flight *flight, const int32_t *index, int64_t *out_byte) {
  const MirageTensorMap *map = flight->map;
  *out_byte = (int64_t)flight->coordinates[0] * map->strides[0];
  for (uint32_t d = 1; d < map->rank; d++) {
    int64_t at = (int64_t)flight->coordinates[d] + index[d];
    if (at < 0 || at >= map->extents[d])
      return false;
    *out_byte += at * map->strides[d];
  }
  return true;
}

static uint32_t num_rows(const MirageTensorMap *map) {
  uint32_t rows = 1;
  for (uint32_t d = 1; d < map->rank; d++)
    rows *= (uint32_t)map->box[d];
  return rows;
}

// Writes one row of the box at byte `to` of shared memory, piece by piece.
static void write_row(uint8_t *shared, uint32_t to, const uint8_t *row, uint32_t bytes, uint32_t swizzle) {
  for (uint32_t i = 0; i < bytes; i += 16)
    memcpy(shared + swizzled(to + i, swizzle), row + i, bytes - i < 16 ? bytes - i : 16);
}

static void copy_box(const Flight *flight, Block *block) {
  const MirageTensorMap *map = flight->map;
  uint32_t row_bytes = (uint32_t)(map->box[0] * map->strides[0]), begin, end;
  int32_t index[MIRAGE_MAP_RANK] = {0};
  uint8_t row[MOST_BOX * 4];
  clip_row(map, flight->coordinates[0], &begin, &end);
  for (uint32_t r = 0; r < num_rows(map); r++) {
    int64_t byte;
    memset(row, 0, row_bytes);
    if (find_row(flight, index, &byte) && end > begin)
      memcpy(row + begin, flight->from + byte + begin, end - begin);
    write_row(block->shared, flight->to + r * row_bytes, row, row_bytes, (uint32_t)map->swizzle);
    for (uint32_t d = 1; d < map->rank && ++index[d] == map->box[d]; d++)
      index[d] = 0;
  }
}

// ------------------------------------------------------------------------------------------------------------- landing

static void land_copies(Machine *m, const Flight *flight) {
  for (uint32_t i = 0; i < flight->num_copies; i++) {
    const Copy *copy = &flight->copies[i];
    if (m->launch->copies == MIRAGE_COPIES_LATE)
      mirage__copy_perform(m, copy);
    land_bytes(flight, flight->targets, (uint32_t)(copy->to - MIRAGE_HOST_SHARED_BASE), copy->bytes, false);
  }
  mirage__mbarrier_copied(m, flight->targets[0].mbarrier, flight->op);
}

static void land(Machine *m, const Flight *flight) {
  m->self = flight->issuer;
  if (flight->kind == FLIGHT_ARRIVAL) {
    land_copies(m, flight);
    return;
  }
  for (uint32_t t = 0; t < flight->num_targets; t++) {
    const Target *target = &flight->targets[t];
    if (flight->kind == FLIGHT_BULK)
      memcpy(target->block->shared + flight->to, flight->from, flight->bytes);
    else
      copy_box(flight, target->block);
    land_bytes(flight, target, flight->to, flight->bytes, true);
    mirage__mbarrier_bytes(m, target->mbarrier, flight->op, flight->bytes);
  }
}

bool mirage__copy_land(Machine *m) {
  Flight *flight = m->first_flight;
  if (!flight)
    return false;
  m->first_flight = flight->next;
  if (!m->first_flight)
    m->last_flight = NULL;
  flight->next = m->arriving; // where a failure finds it
  m->arriving = flight;
  land(m, flight);
  m->arriving = flight->next;
  drop_flight(flight);
  return true;
}

// Early copies arrive at once.
static void take_off(Machine *m) {
  Fibre *self = m->self;
  if (m->launch->copies == MIRAGE_COPIES_EARLY)
    mirage__copy_land(m);
  m->self = self;
}

void mirage__copy_check_end(Machine *m) {
  for (const Flight *flight = m->first_flight; flight; flight = flight->next)
    for (uint32_t t = 0; t < flight->num_targets; t++)
      if (flight->targets[t].block == m->self->block)
        mirage__machine_fail(m, flight->op, "ends with a copy under way to byte %u of shared memory", flight->to);
}

// ------------------------------------------------------------------------------------------------------------- issuing

static void add_target(Machine *m, Flight *flight, uint64_t mbarrier) {
  Target *target = &flight->targets[flight->num_targets++];
  target->mbarrier = mirage__mbarrier_find(m, flight->op, mbarrier, flight->kind != FLIGHT_ARRIVAL, &target->block);
}

void mirage__bulk_copy(Machine *m, uint32_t op, uint64_t to, uint64_t from, uint32_t bytes, uint64_t mbarrier) {
  if (bytes == 0 || bytes % BULK_STEP)
    mirage__machine_fail(m, op, "copies %u bytes in bulk: not a multiple of %u", bytes, (unsigned)BULK_STEP);
  Flight *flight = new_flight(m, op, FLIGHT_BULK);
  Place place = mirage__memory_place(m, op, to, bytes, BULK_STEP, "copies to");
  flight->to = place.offset;
  flight->bytes = bytes;
  flight->from = mirage__memory_global(m, op, from, bytes, BULK_STEP, false);
  add_target(m, flight, mbarrier);
  if (flight->targets[0].block != place.block)
    mirage__machine_fail(m, op, "copies to one block and signals another's mbarrier");
  make_pending(m, flight, flight->targets);
  take_off(m);
}

static const MirageTensorMap *find_map(Machine *m, uint32_t op, uint64_t address, uint32_t rank) {
  for (uint32_t i = 0; i < m->launch->num_maps; i++) {
    const MirageTensorMap *map = &m->launch->maps[i];
    if ((uintptr_t)map != address)
      continue;
    if (map->rank != rank)
      mirage__machine_fail(m, op, "copies by %u coordinates from a tensor map of rank %u", rank, map->rank);
    return map;
  }
  mirage__machine_fail(m, op, "copies by address 0x%llx, which is no tensor map", (unsigned long long)address);
}

// The box's first and last bytes in the tensor lie in its buffer, and may be read.
static void check_source(Machine *m, Flight *flight) {
  const MirageTensorMap *map = flight->map;
  uint64_t first = 0, last = (uint64_t)map->strides[0] - 1, base = buffer_address(map->pointer);
  for (uint32_t d = 0; d < map->rank; d++) {
    int64_t low = flight->coordinates[d], high = low + map->box[d];
    low = low < 0 ? 0 : low;
    high = high > map->extents[d] ? map->extents[d] : high;
    if (high <= low)
      return; // all zeros
    first += (uint64_t)(low * map->strides[d]);
    last += (uint64_t)((high - 1) * map->strides[d]);
  }
  flight->from = mirage__memory_global(m, flight->op, base, 1, 1, false);
  mirage__memory_global(m, flight->op, base + first, 1, 1, false);
  mirage__memory_global(m, flight->op, base + last, 1, 1, false);
}

static void check_corner(Machine *m, const Flight *flight) {
  int64_t byte = flight->coordinates[0] * flight->map->strides[0];
  if (byte % BULK_STEP)
    mirage__machine_fail(m, flight->op,
                         "copies a box that begins at byte %lld of the innermost dimension: not a "
                         "multiple of %u",
                         (long long)byte, (unsigned)BULK_STEP);
}

static void add_blocks(Machine *m, Flight *flight, uint64_t mbarrier, uint32_t blocks) {
  uint32_t size = m->self->block->cluster->size, offset = (uint32_t)mbarrier;
  if (blocks >> size || size > MOST_TARGETS)
    mirage__machine_fail(m, flight->op, "copies to blocks 0x%x of a cluster of %u", blocks, size);
  for (uint32_t rank = 0; rank < size; rank++)
    if (blocks >> rank & 1)
      add_target(m, flight, ((uint64_t)(rank + 1) << 32) + offset);
}

void mirage__tensor_copy(Machine *m, uint32_t op, uint64_t to, uint64_t map, uint64_t mbarrier, uint32_t rank,
                         const int32_t *coordinates, uint32_t blocks) {
  Flight *flight = new_flight(m, op, FLIGHT_TENSOR);
  flight->map = find_map(m, op, map, rank);
  memcpy(flight->coordinates, coordinates, rank * sizeof *coordinates);
  flight->bytes = num_rows(flight->map) * (uint32_t)(flight->map->box[0] * flight->map->strides[0]);
  uint32_t alignment = flight->map->swizzle ? (uint32_t)BOX_ALIGNMENT << flight->map->swizzle : BOX_ALIGNMENT;
  flight->to = mirage__memory_place(m, op, to, flight->bytes, alignment, "copies to").offset;
  check_corner(m, flight);
  check_source(m, flight);
  if (blocks)
    add_blocks(m, flight, mbarrier, blocks);
  else
    add_target(m, flight, mbarrier);
  for (uint32_t t = 0; t < flight->num_targets; t++)
    make_pending(m, flight, &flight->targets[t]);
  take_off(m);
}

// From here on the copies belong to the mbarrier.
void mirage__copy_arrive(Machine *m, uint32_t op, uint64_t mbarrier) {
  Fibre *self = m->self;
  Flight *flight = new_flight(m, op, FLIGHT_ARRIVAL);
  flight->copies = malloc((self->num_copies + 1) * sizeof *flight->copies);
  if (!flight->copies)
    mirage__machine_fail(m, op, "out of memory");
  flight->num_copies = self->num_copies;
  memcpy(flight->copies, self->copies, self->num_copies * sizeof *self->copies);
  self->num_copies = 0;
  add_target(m, flight, mbarrier);
  if (flight->targets[0].block != self->block)
    mirage__machine_fail(m, op, "signals another block's mbarrier when its copies are done");
  take_off(m);
}

// ---------------------------------------------------------------------------------------------------------------- maps

static MirageStatus bad_map(const Launch *launch, uint32_t index, const char *what, int64_t value) {
  return mirage_diag_fail(launch->diag, NULL, MIRAGE_BAD_ARGUMENT, "emulator: tensor map %u of %s: %s %lld", index,
                          launch->name, what, (long long)value);
}

static MirageStatus check_map(const Launch *launch, uint32_t index) {
  const MirageTensorMap *map = &launch->maps[index];
  int64_t size = mirage_dtype_bytes(map->dtype), row;
  if (map->rank < 1 || map->rank > MIRAGE_MAP_RANK)
    return bad_map(launch, index, "rank is", map->rank);
  if (map->pointer >= launch->num_buffers)
    return bad_map(launch, index, "there is no pointer", map->pointer);
  if (map->swizzle < 0 || map->swizzle > 3)
    return bad_map(launch, index, "unknown swizzle", map->swizzle);
  if (map->strides[0] != size)
    return bad_map(launch, index, "elements lie apart by", map->strides[0]);
  for (uint32_t d = 0; d < map->rank; d++) {
    if (map->extents[d] < 1 || map->extents[d] > INT64_C(1) << 32)
      return bad_map(launch, index, "an extent is", map->extents[d]);
    if (map->box[d] < 1 || map->box[d] > MOST_BOX)
      return bad_map(launch, index, "an extent of the box is", map->box[d]);
    if (d > 0 && (map->strides[d] % BULK_STEP || map->strides[d] < 0))
      return bad_map(launch, index, "a stride is no multiple of 16:", map->strides[d]);
  }
  row = map->box[0] * size;
  if (row % BULK_STEP || (map->swizzle && row > BULK_STEP << map->swizzle))
    return bad_map(launch, index, "bytes of a row of the box do not fit the swizzle or 16:", row);
  return MIRAGE_OK;
}

MirageStatus mirage__copy_check_maps(const Launch *launch) {
  for (uint32_t i = 0; i < launch->num_maps; i++)
    MIRAGE_TRY(check_map(launch, i));
  return MIRAGE_OK;
}
