// shift_table.c - tags for the maxima that something was subtracted from.
//
// exp(x - m) = exp(x) / exp(m) is the one law that free exponentials know, for maxima m. When the exponential comes,
// all that is left of the difference is its residue; so a difference carries a tag of its maximum, and x = difference +
// m is found again. The tag is a keyed hash of the maximum's residue: equal maxima have equal tags, whoever meets them
// first, so that equal values have equal bytes at any number of threads. It lies in the 32 bits that a residue mod q
// would take and in 7 bits of the role. Two maxima of one tag make the point useless: REDRAW, once in 2^40 / n^2 draws
// for n maxima that are known at a time.
#include "field_internal.h"

#include <stdlib.h>
#include <string.h>

enum { SHIFT = 0x73, TAG_BITS = 39 }; // SHIFT: of the hash

static ShiftEntry *find(const ShiftTable *table, uint64_t tag) {
  size_t mask = table->capacity - 1, at = (size_t)tag & mask;
  while (table->slots[at].used && table->slots[at].tag != tag)
    at = (at + 1) & mask;
  return &table->slots[at];
}

static MirageStatus grow(ShiftTable *table) {
  ShiftTable larger = {.capacity = table->capacity ? table->capacity * 2 : 64, .count = table->count};
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  if (!larger.slots)
    return MIRAGE_NO_MEMORY;
  for (size_t i = 0; i < table->capacity; i++)
    if (table->slots[i].used)
      *find(&larger, table->slots[i].tag) = table->slots[i];
  free(table->slots);
  *table = larger;
  return MIRAGE_OK;
}

static const ShiftEntry *find_known(const MirageField *field, uint64_t tag) {
  for (; field; field = field->parent) {
    const ShiftEntry *entry = field->shifts.capacity ? find(&field->shifts, tag) : NULL;
    if (entry && entry->used)
      return entry;
  }
  return NULL;
}

static MirageStatus enter(ShiftTable *table, uint64_t tag, uint64_t residue) {
  if (2 * table->count >= table->capacity)
    MIRAGE_TRY(grow(table));
  ShiftEntry *entry = find(table, tag);
  if (entry->used)
    return entry->residue == residue ? MIRAGE_OK : MIRAGE_REDRAW;
  *entry = (ShiftEntry){.tag = tag, .residue = residue, .used = true};
  table->count++;
  return MIRAGE_OK;
}

static uint64_t tag_of(const MirageResidue *difference) {
  return (uint64_t)(difference->role & ~ROLE_DIFFERENCE) << 32 | difference->q;
}

MirageStatus mirage__field_shift_mark(MirageField *field, uint64_t residue, MirageResidue *difference) {
  uint64_t hash[2];
  mirage__field_hash(field, SHIFT, residue, hash);
  uint64_t tag = hash[0] & ((UINT64_C(1) << TAG_BITS) - 1);
  difference->q = (uint32_t)tag;
  difference->role = (uint8_t)(ROLE_DIFFERENCE | tag >> 32);
  const ShiftEntry *known = find_known(field, tag);
  if (known)
    return known->residue == residue ? MIRAGE_OK : MIRAGE_REDRAW;
  return enter(&field->shifts, tag, residue);
}

uint64_t mirage__field_shift_maximum(const MirageField *field, const MirageResidue *difference) {
  return find_known(field, tag_of(difference))->residue;
}

MirageStatus mirage__field_shift_keep(MirageField *child, const MirageResidue *difference) {
  const ShiftEntry *entry = child->shifts.count ? find(&child->shifts, tag_of(difference)) : NULL;
  return entry && entry->used ? enter(&child->kept_shifts, entry->tag, entry->residue) : MIRAGE_OK;
}

MirageStatus mirage__field_shift_take_all(ShiftTable *to, const ShiftTable *from) {
  for (size_t i = 0; i < from->capacity; i++)
    if (from->slots[i].used)
      MIRAGE_TRY(enter(to, from->slots[i].tag, from->slots[i].residue));
  return MIRAGE_OK;
}

void mirage__field_shift_clear(ShiftTable *table) {
  if (table->count)
    memset(table->slots, 0, table->capacity * sizeof *table->slots);
  table->count = 0;
}

void mirage__field_shift_deinit(ShiftTable *table) { free(table->slots); }
