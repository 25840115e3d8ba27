// index_sets.c - interned sets of indices (index_sets.h).
#include "index_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mirage__verify_sets_deinit(IndexSets *sets) {
  free(sets->keys);
  free(sets->sizes);
  free(sets->slots);
  *sets = (IndexSets){0};
}

static uint32_t slot_of(const IndexSets *sets, const SetKey *key) {
  uint64_t hash = 0;
  for (int i = 0; i < SET_WORDS; i++)
    hash = (hash ^ (uint64_t)key->word[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(hash >> 32) & (2 * sets->capacity - 1);
}

static uint32_t *find_slot(const IndexSets *sets, const SetKey *key) {
  uint32_t at = slot_of(sets, key);
  while (sets->slots[at] && memcmp(mirage__verify_sets_key(sets, sets->slots[at]), key, sizeof *key) != 0)
    at = (at + 1) & (2 * sets->capacity - 1);
  return &sets->slots[at];
}

// Room for one more; twice as many slots as sets.
static int grow(IndexSets *sets) {
  if (sets->count < sets->capacity)
    return 1;
  IndexSets larger = {.count = sets->count, .capacity = sets->capacity ? 2 * sets->capacity : 64};
  larger.keys = malloc(larger.capacity * sizeof *larger.keys);
  larger.sizes = malloc(larger.capacity * sizeof *larger.sizes);
  larger.slots = calloc(2 * (size_t)larger.capacity, sizeof *larger.slots);
  if (!larger.keys || !larger.sizes || !larger.slots) {
    mirage__verify_sets_deinit(&larger);
    return 0;
  }
  for (uint32_t i = 0; i < sets->count; i++) {
    larger.keys[i] = sets->keys[i];
    larger.sizes[i] = sets->sizes[i];
    *find_slot(&larger, &larger.keys[i]) = i + INDEX_ALL + 1;
  }
  mirage__verify_sets_deinit(sets);
  *sets = larger;
  return 1;
}

IndexSet mirage__verify_sets_find(IndexSets *sets, const SetKey *key, double size) {
  if (!grow(sets))
    return INDEX_ALL;
  uint32_t *slot = find_slot(sets, key);
  if (!*slot) {
    sets->keys[sets->count] = *key;
    sets->sizes[sets->count] = size;
    *slot = ++sets->count + INDEX_ALL;
  }
  return *slot;
}

const SetKey *mirage__verify_sets_key(const IndexSets *sets, IndexSet set) { return &sets->keys[set - INDEX_ALL - 1]; }

double mirage__verify_sets_size(const IndexSets *sets, IndexSet set, double extent) {
  if (set == INDEX_NONE)
    return 0;
  return set == INDEX_ALL ? extent : fmin(extent, sets->sizes[set - INDEX_ALL - 1]);
}

// Two dimensions that hold one set each hold it jointly: index x of the one goes with index x of the other (cone.c).
// So {a, b} and {b, a} are different unions, and a union does not swallow its own parts.
IndexSet mirage__verify_sets_unite(IndexSets *sets, IndexSet a, IndexSet b) {
  if (a == b || b == INDEX_NONE)
    return a;
  if (a == INDEX_NONE)
    return b;
  if (a == INDEX_ALL || b == INDEX_ALL)
    return INDEX_ALL;
  const SetKey key = {.word = {SET_UNION, a, b}};
  return mirage__verify_sets_find(
      sets, &key, mirage__verify_sets_size(sets, a, INFINITY) + mirage__verify_sets_size(sets, b, INFINITY));
}

IndexSet mirage__verify_sets_shift(IndexSets *sets, IndexSet set, int64_t offset) {
  if (set <= INDEX_ALL || offset == 0)
    return set;
  const SetKey *from = mirage__verify_sets_key(sets, set);
  if (from->word[0] == SET_SHIFT)
    return mirage__verify_sets_shift(sets, (IndexSet)from->word[1], offset + from->word[2]);
  const SetKey key = {.word = {SET_SHIFT, set, offset}};
  return mirage__verify_sets_find(sets, &key, mirage__verify_sets_size(sets, set, INFINITY));
}
