// max_table.c - the maximum as a random function of a set.
//
// All that a maximum obeys, as far as proofs here may use it: it depends on the set of its arguments only (order and
// repetition do not matter), max({x}) = x, and max(max(S), max(T)) = max(S u T). So we give each set of two or more
// values an independent random value M(S). The real maximum is one such M; an identity that holds for every M therefore
// holds for it, and one that does not is refused. exp(x - M(S)) / sum exp(x - M(S)) is free of M(S), and so are the
// running maxima of an online softmax: both verify.
//
// A maximum is recognised by its residue: when a value that M returned comes back as an argument, its set is taken
// instead of the value. Bottom, which lies below every number, is the maximum of the empty set.
#include "field_internal.h"

#include <stdlib.h>
#include <string.h>

static MirageStatus reserve(uint64_t **array, size_t *capacity, size_t needed) {
  if (needed <= *capacity)
    return MIRAGE_OK;
  size_t grown = *capacity * 2 > needed ? *capacity * 2 : needed + 16;
  uint64_t *larger = realloc(*array, grown * sizeof **array);
  if (!larger)
    return MIRAGE_NO_MEMORY;
  *array = larger;
  *capacity = grown;
  return MIRAGE_OK;
}

static MaxEntry *find(const MaxTable *table, uint64_t residue) {
  if (!table->capacity)
    return NULL;
  size_t mask = table->capacity - 1, at = (size_t)(residue * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
  while (table->slots[at].residue && table->slots[at].residue != residue)
    at = (at + 1) & mask;
  return &table->slots[at];
}

static MirageStatus grow(MaxTable *table) {
  MaxTable larger = *table;
  larger.capacity = table->capacity ? table->capacity * 2 : 64;
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  if (!larger.slots)
    return MIRAGE_NO_MEMORY;
  for (size_t i = 0; i < table->capacity; i++)
    if (table->slots[i].residue)
      *find(&larger, table->slots[i].residue) = table->slots[i];
  free(table->slots);
  *table = larger;
  return MIRAGE_OK;
}

void mirage__max_begin(MirageField *field) { field->maxima.num_work = 0; }

MirageStatus mirage__max_add(MirageField *field, const MirageResidue *value) {
  MaxTable *table = &field->maxima;
  if (value->bottom)
    return MIRAGE_OK;
  const MaxEntry *entry = value->p ? find(table, value->p) : NULL;
  bool is_set = entry && entry->residue;
  size_t count = is_set ? entry->count : 1;
  MIRAGE_TRY(reserve(&table->work, &table->work_capacity, table->num_work + count));
  memcpy(table->work + table->num_work, is_set ? table->leaves + entry->begin : &value->p, count * sizeof *table->work);
  table->num_work += count;
  return MIRAGE_OK;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static MirageStatus remember(MaxTable *table, uint64_t residue) {
  if (4 * (table->used + 1) > 3 * table->capacity)
    MIRAGE_TRY(grow(table));
  MaxEntry *entry = find(table, residue);
  if (entry->residue)
    return MIRAGE_OK;
  MIRAGE_TRY(reserve(&table->leaves, &table->leaves_capacity, table->num_leaves + table->num_work));
  memcpy(table->leaves + table->num_leaves, table->work, table->num_work * sizeof *table->leaves);
  *entry = (MaxEntry){residue, table->num_leaves, table->num_work};
  table->num_leaves += table->num_work;
  table->used++;
  return MIRAGE_OK;
}

// `single` is any of the values added: the result when the set has one element.
MirageStatus mirage__max_finish(MirageField *field, const MirageResidue *single, MirageResidue *out) {
  MaxTable *table = &field->maxima;
  if (table->num_work == 0) {
    *out = (MirageResidue){.bottom = 1};
    return MIRAGE_OK;
  }
  qsort(table->work, table->num_work, sizeof *table->work, compare);
  size_t count = 1;
  for (size_t i = 1; i < table->num_work; i++)
    if (table->work[i] != table->work[i - 1])
      table->work[count++] = table->work[i];
  table->num_work = count;
  if (count == 1) {
    *out = *single;
    return MIRAGE_OK;
  }
  uint64_t digest = count;
  for (size_t i = 0; i < count; i++)
    digest = mirage__field_random_function(field, digest, table->work[i]).p;
  *out = mirage__field_random_function(field, MIRAGE_OP_MAX, digest);
  return out->p ? remember(table, out->p) : MIRAGE_OK;
}

void mirage__max_deinit(MaxTable *table) {
  free(table->slots);
  free(table->leaves);
  free(table->work);
}
