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
//
// A set is known by the sum of its members' hashes, 128 bits, which does not depend on their order. So the union of two
// sets, all that a running maximum ever needs, is one merge of sorted arrays: a hash is computed for members that are
// new, and taken off again for those that both have. All sets are kept, and a running maximum of n steps makes n of
// them: past `most_leaves` members in all evaluation ends with LIMIT, which is no verdict.
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

// ------------------------------------------------------------------------------------------------------------- digests

enum { MEMBER = 0x6d }; // tag of the members' hashes

static void digest_add(const MirageField *field, uint64_t member, uint64_t digest[2]) {
  uint64_t hash[2];
  mirage__field_hash(field, MEMBER, member, hash);
  digest[0] += hash[0];
  digest[1] += hash[1];
}

static void digest_remove(const MirageField *field, uint64_t member, uint64_t digest[2]) {
  uint64_t hash[2];
  mirage__field_hash(field, MEMBER, member, hash);
  digest[0] -= hash[0];
  digest[1] -= hash[1];
}

// ---------------------------------------------------------------------------------------------------------- collecting

void mirage__max_begin(MirageField *field) {
  field->maxima.num_parts = 0;
  field->maxima.num_work = 0;
}

static MirageStatus append(MaxTable *table, const MaxPart *part) {
  size_t count = part->set.count ? part->set.count : 1;
  MIRAGE_TRY(reserve(&table->work, &table->work_capacity, table->num_work + count));
  memcpy(table->work + table->num_work, part->set.count ? table->leaves + part->set.begin : &part->residue,
         count * sizeof *table->work);
  table->num_work += count;
  return MIRAGE_OK;
}

MirageStatus mirage__max_add(MirageField *field, const MirageResidue *value) {
  MaxTable *table = &field->maxima;
  if (value->bottom)
    return MIRAGE_OK;
  const MaxEntry *entry = value->p ? find(table, value->p) : NULL;
  MaxPart part = {.residue = value->p};
  if (entry && entry->residue)
    part.set = entry->set;
  if (table->num_parts < 2) {
    table->parts[table->num_parts++] = part;
    return MIRAGE_OK;
  }
  if (table->num_work == 0)
    for (int i = 0; i < 2; i++)
      MIRAGE_TRY(append(table, &table->parts[i]));
  return append(table, &part);
}

// ------------------------------------------------------------------------------------------------------------
// finishing

// The union of two parts, behind the last leaf; the caller keeps it there or forgets it.
static MirageStatus merge(const MirageField *field, MaxTable *table, MaxSet *out_set) {
  MaxPart *parts = table->parts;
  MIRAGE_TRY(reserve(&table->leaves, &table->leaves_capacity,
                     table->num_leaves + parts[0].set.count + parts[1].set.count + 2));
  const uint64_t *at[2], *end[2];
  for (int i = 0; i < 2; i++) {
    at[i] = parts[i].set.count ? table->leaves + parts[i].set.begin : &parts[i].residue;
    end[i] = at[i] + (parts[i].set.count ? parts[i].set.count : 1);
    if (!parts[i].set.count)
      digest_add(field, parts[i].residue, parts[i].set.digest);
  }
  MaxSet set = {.begin = table->num_leaves};
  for (int i = 0; i < 2; i++)
    set.digest[i] = parts[0].set.digest[i] + parts[1].set.digest[i];
  uint64_t *to = table->leaves + set.begin;
  while (at[0] < end[0] && at[1] < end[1]) {
    uint64_t a = *at[0], b = *at[1];
    if (a == b)
      digest_remove(field, a, set.digest);
    *to++ = a < b ? a : b;
    at[0] += a <= b;
    at[1] += b <= a;
  }
  for (int i = 0; i < 2; i++) {
    memcpy(to, at[i], (size_t)(end[i] - at[i]) * sizeof *to);
    to += end[i] - at[i];
  }
  set.count = (size_t)(to - (table->leaves + set.begin));
  *out_set = set;
  return MIRAGE_OK;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// The same for many members.
static MirageStatus sort(const MirageField *field, MaxTable *table, MaxSet *out_set) {
  MIRAGE_TRY(reserve(&table->leaves, &table->leaves_capacity, table->num_leaves + table->num_work));
  qsort(table->work, table->num_work, sizeof *table->work, compare);
  MaxSet set = {.begin = table->num_leaves};
  for (size_t i = 0; i < table->num_work; i++) {
    if (i && table->work[i] == table->work[i - 1])
      continue;
    table->leaves[set.begin + set.count++] = table->work[i];
    digest_add(field, table->work[i], set.digest);
  }
  *out_set = set;
  return MIRAGE_OK;
}

static MirageStatus remember(MaxTable *table, uint64_t residue, const MaxSet *set) {
  if (4 * (table->used + 1) > 3 * table->capacity)
    MIRAGE_TRY(grow(table));
  MaxEntry *entry = find(table, residue);
  if (entry->residue)
    return MIRAGE_OK;
  if (table->num_leaves + set->count > table->most_leaves)
    return MIRAGE_LIMIT;
  *entry = (MaxEntry){residue, *set};
  table->num_leaves += set->count;
  table->used++;
  return MIRAGE_OK;
}

// `single` is any of the values added: the result when the set has one element, or is one that is known already.
MirageStatus mirage__max_finish(MirageField *field, const MirageResidue *single, MirageResidue *out) {
  MaxTable *table = &field->maxima;
  if (table->num_parts == 0) {
    *out = (MirageResidue){.bottom = 1};
    return MIRAGE_OK;
  }
  if (table->num_parts == 1) {
    *out = *single;
    return MIRAGE_OK;
  }
  MaxSet set;
  MIRAGE_TRY(table->num_work ? sort(field, table, &set) : merge(field, table, &set));
  if (set.count == 1) {
    *out = *single;
    return MIRAGE_OK;
  }
  *out =
      mirage__field_random_function(field, MIRAGE_OP_MAX, set.digest[0] ^ (set.digest[1] << 32 | set.digest[1] >> 32));
  return out->p ? remember(table, out->p, &set) : MIRAGE_OK;
}

void mirage__max_deinit(MaxTable *table) {
  free(table->slots);
  free(table->leaves);
  free(table->work);
}
