// shift_table.c - numbers the maxima that something was subtracted from.
//
// exp(x - m) = exp(x) / exp(m) is the one law that free exponentials know, for maxima m. When the exponential comes,
// all that is left of the difference is its residue; so a difference carries the number of its maximum, in the 32 bits
// that a residue mod q would take, and x = difference + m is found again. Equal residues get equal numbers: a value
// computed twice has the same bytes.
#include "field_internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *find(const ShiftTable *table, uint64_t residue) {
  size_t mask = table->capacity - 1, at = (size_t)(residue * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
  while (table->slots[at] && table->residues[table->slots[at] - 1] != residue)
    at = (at + 1) & mask;
  return &table->slots[at];
}

static MirageStatus grow(ShiftTable *table) {
  size_t capacity = table->capacity ? table->capacity * 2 : 64;
  uint64_t *residues = realloc(table->residues, capacity / 2 * sizeof *residues);
  if (!residues)
    return MIRAGE_NO_MEMORY;
  table->residues = residues;
  uint32_t *slots = calloc(capacity, sizeof *slots);
  if (!slots)
    return MIRAGE_NO_MEMORY;
  free(table->slots);
  table->slots = slots;
  table->capacity = capacity;
  for (uint32_t i = 0; i < table->count; i++)
    *find(table, residues[i]) = i + 1;
  return MIRAGE_OK;
}

MirageStatus mirage__shift_number(MirageField *field, uint64_t residue, uint32_t *out_number) {
  ShiftTable *table = &field->shifts;
  if (2 * table->count >= table->capacity)
    MIRAGE_TRY(grow(table));
  uint32_t *slot = find(table, residue);
  if (!*slot) {
    table->residues[table->count++] = residue;
    *slot = (uint32_t)table->count;
  }
  *out_number = *slot - 1;
  return MIRAGE_OK;
}

void mirage__shift_deinit(ShiftTable *table) {
  free(table->residues);
  free(table->slots);
}
