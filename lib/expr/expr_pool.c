// expr_pool.c - interning of word arrays, and the cache of results.
//
// Records and words live in the table's arena and never move out of it; the growing index arrays are re-allocated there
// too, so that destroying the arena frees everything. Doubling makes the waste at most the final size.
#include "expr_table.h"
#include <string.h>

static uint32_t hash_words(const uint32_t *words, uint32_t count) {
  uint64_t h = 0x9e3779b97f4a7c15ull ^ count;
  for (uint32_t i = 0; i < count; i++) {
    h = (h ^ words[i]) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return (uint32_t)h;
}

// Returns `array` with room for one more entry, doubling when it is full; NULL (and out_of_memory) on failure.
void *mirage__expr_grow(MirageExprTable *table, void *array, uint32_t used, uint32_t *capacity, size_t size) {
  if (used < *capacity)
    return array;
  uint32_t wanted = *capacity ? *capacity * 2 : 64;
  void *grown = mirage_arena_alloc_array(&table->arena, wanted, size);
  if (!grown) {
    table->out_of_memory = true;
    return NULL;
  }
  if (array)
    memcpy(grown, array, *capacity * size);
  *capacity = wanted;
  return grown;
}

static bool rehash(MirageExprTable *table, ExprPool *pool) {
  uint32_t wanted = pool->num_slots ? pool->num_slots * 2 : 256;
  uint32_t *slots = mirage_arena_alloc_array(&table->arena, wanted, sizeof *slots);
  if (!slots) {
    table->out_of_memory = true;
    return false;
  }
  for (uint32_t id = 1; id <= pool->num; id++) {
    uint32_t at = pool->records[id].hash & (wanted - 1);
    while (slots[at])
      at = (at + 1) & (wanted - 1);
    slots[at] = id;
  }
  pool->slots = slots;
  pool->num_slots = wanted;
  return true;
}

// The slot of a record, or the free one where it belongs.
static uint32_t find_slot(const ExprPool *pool, const uint32_t *words, uint32_t count, uint32_t hash) {
  uint32_t at = hash & (pool->num_slots - 1);
  for (; pool->slots[at]; at = (at + 1) & (pool->num_slots - 1)) {
    const ExprRecord *record = &pool->records[pool->slots[at]];
    if (record->hash == hash && record->count == count && memcmp(record->words, words, count * sizeof *words) == 0)
      break;
  }
  return at;
}

uint32_t mirage__expr_find(const ExprPool *pool, const uint32_t *words, uint32_t count) {
  return pool->num_slots ? pool->slots[find_slot(pool, words, count, hash_words(words, count))] : 0;
}

uint32_t mirage__expr_intern(MirageExprTable *table, ExprPool *pool, const uint32_t *words, uint32_t count) {
  if (2 * (pool->num + 1) > pool->num_slots && !rehash(table, pool))
    return 0;
  uint32_t hash = hash_words(words, count);
  uint32_t at = find_slot(pool, words, count, hash);
  if (pool->slots[at])
    return pool->slots[at];
  ExprRecord *records = mirage__expr_grow(table, pool->records, pool->num + 1, &pool->capacity, sizeof *records);
  const uint32_t *kept = mirage_arena_copy(&table->arena, words, count * sizeof *words);
  if (!records || !kept) {
    table->out_of_memory = true;
    return 0;
  }
  pool->records = records;
  records[++pool->num] = (ExprRecord){.words = kept, .count = count, .hash = hash};
  return pool->slots[at] = pool->num;
}

static uint32_t cache_slot(const ExprCache *cache, uint64_t key, uint32_t tag) {
  uint64_t h = (key ^ ((uint64_t)tag << 57)) * 0x9e3779b97f4a7c15ull;
  uint32_t at = (uint32_t)(h >> 32) & (cache->capacity - 1);
  while (cache->entries[at].key && (cache->entries[at].key != key || cache->entries[at].tag != tag))
    at = (at + 1) & (cache->capacity - 1);
  return at;
}

bool mirage__expr_cache_find(const ExprCache *cache, uint32_t tag, uint32_t a, uint32_t b, uint32_t *out_value) {
  if (!cache->capacity)
    return false;
  uint64_t key = (uint64_t)a << 32 | b;
  const ExprCacheEntry *entry = &cache->entries[cache_slot(cache, key, tag)];
  if (!entry->key)
    return false;
  *out_value = entry->value;
  return true;
}

void mirage__expr_cache_put(MirageExprTable *table, ExprCache *cache, uint32_t tag, uint32_t a, uint32_t b,
                            uint32_t value) {
  if (2 * (cache->num + 1) > cache->capacity) {
    ExprCache grown = {.capacity = cache->capacity ? cache->capacity * 2 : 256, .num = cache->num};
    grown.entries = mirage_arena_alloc_array(&table->arena, grown.capacity, sizeof *grown.entries);
    if (!grown.entries) {
      table->out_of_memory = true;
      return;
    }
    for (uint32_t i = 0; i < cache->capacity; i++)
      if (cache->entries[i].key)
        grown.entries[cache_slot(&grown, cache->entries[i].key, cache->entries[i].tag)] = cache->entries[i];
    *cache = grown;
  }
  uint64_t key = (uint64_t)a << 32 | b; // a >= 1, so never 0
  ExprCacheEntry *entry = &cache->entries[cache_slot(cache, key, tag)];
  cache->num += entry->key == 0;
  *entry = (ExprCacheEntry){.key = key, .tag = tag, .value = value};
}
