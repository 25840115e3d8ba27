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
// A set is known by the sum of its members' hashes, 128 bits, which does not depend on their order.
//
// Chains: a set is the first `count` members of a chain, an array that only grows. A running maximum extends the chain
// of the one before it, so that n steps keep n members, not n^2 / 2. `index` finds members by hash, once a chain is
// extended. Past `most_members` in all evaluation ends with LIMIT, which is no verdict.
//
// Work beside other work (field.c): a child looks sets up in its own table and its ancestors', and changes only its
// own.
#include "field_internal.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 8 }; // members that are compared one by one

// `*array` with room for `needed` elements of `size` bytes.
static MirageStatus reserve(void *array, size_t *capacity, size_t needed, size_t size) {
  void *old, *larger;
  if (needed <= *capacity)
    return MIRAGE_OK;
  size_t grown = *capacity * 2 > needed ? *capacity * 2 : needed;
  memcpy(&old, array, sizeof old);
  larger = realloc(old, grown * size);
  if (!larger)
    return MIRAGE_NO_MEMORY;
  memcpy(array, &larger, sizeof larger);
  *capacity = grown;
  return MIRAGE_OK;
}

static size_t slot_of(uint64_t residue, size_t capacity) {
  return (size_t)(residue * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
}

// ------------------------------------------------------------------------------------------------------------ residues

static MaxEntry *find(const MaxTable *table, uint64_t residue) {
  if (!table->capacity)
    return NULL;
  size_t at = slot_of(residue, table->capacity);
  while (table->slots[at].residue && table->slots[at].residue != residue)
    at = (at + 1) & (table->capacity - 1);
  return &table->slots[at];
}

// The entry of a residue in this field's table or an ancestor's.
static const MaxEntry *find_known(const MirageField *field, uint64_t residue, const MaxTable **out_table) {
  for (; field; field = field->parent) {
    const MaxEntry *entry = find(&field->maxima, residue);
    *out_table = &field->maxima;
    if (entry && entry->residue)
      return entry;
  }
  return NULL;
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

static MirageStatus add_entry(MaxTable *table, uint64_t residue, MaxSet set) {
  if (4 * (table->used + 1) > 3 * table->capacity)
    MIRAGE_TRY(grow(table));
  *find(table, residue) = (MaxEntry){.residue = residue, .set = set};
  table->used++;
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- chains

static void index_member(MaxChain *chain, size_t position) {
  size_t at = slot_of(chain->members[position], chain->index_capacity);
  while (chain->index[at])
    at = (at + 1) & (chain->index_capacity - 1);
  chain->index[at] = (uint32_t)position + 1;
}

// Gives the chain an index with room for `count` members.
static MirageStatus index_chain(MaxChain *chain, size_t count) {
  if (chain->index_capacity >= 2 * count)
    return MIRAGE_OK;
  size_t capacity = 16;
  while (capacity < 4 * count)
    capacity *= 2;
  uint32_t *index = calloc(capacity, sizeof *index);
  if (!index)
    return MIRAGE_NO_MEMORY;
  free(chain->index);
  chain->index = index;
  chain->index_capacity = capacity;
  for (size_t i = 0; i < chain->count; i++)
    index_member(chain, i);
  return MIRAGE_OK;
}

// Whether the first `count` members hold `member`.
static bool chain_holds(const MaxChain *chain, size_t count, uint64_t member) {
  for (size_t at = slot_of(member, chain->index_capacity);; at = (at + 1) & (chain->index_capacity - 1)) {
    uint32_t position = chain->index[at];
    if (!position || chain->members[position - 1] == member)
      return position && position <= count;
  }
}

static MirageStatus append(MaxTable *table, MaxChain *chain, size_t count, const uint64_t *members) {
  if (table->num_members + count > table->most_members || chain->count + count >= UINT32_MAX)
    return MIRAGE_LIMIT;
  MIRAGE_TRY(reserve(&chain->members, &chain->capacity, chain->count + count, sizeof *members));
  if (chain->index)
    MIRAGE_TRY(index_chain(chain, chain->count + count));
  if (count)
    memcpy(chain->members + chain->count, members, count * sizeof *members);
  for (size_t i = 0; i < count; i++) {
    chain->count++;
    if (chain->index)
      index_member(chain, chain->count - 1);
  }
  table->num_members += count;
  return MIRAGE_OK;
}

static MirageStatus add_chain(MaxTable *table, uint32_t *out_chain) {
  MIRAGE_TRY(reserve(&table->chains, &table->chains_capacity, table->num_chains + 1, sizeof *table->chains));
  table->chains[table->num_chains] = (MaxChain){0};
  *out_chain = (uint32_t)table->num_chains++;
  return MIRAGE_OK;
}

// ---------------------------------------------------------------------------------------------------------- collecting

enum { MEMBER = 0x6d }; // tag of the members' hashes

void mirage__field_max_begin(MirageField *field) {
  field->building.num_parts = 0;
  field->building.num_members = field->building.num_singles = 0;
}

MirageStatus mirage__field_max_add(MirageField *field, const MirageResidue *value) {
  MaxBuilding *building = &field->building;
  if (value->bottom)
    return MIRAGE_OK;
  MaxPart part;
  const MaxEntry *entry = value->p ? find_known(field, value->p, &part.table) : NULL;
  if (!entry) {
    MIRAGE_TRY(reserve(&building->singles, &building->singles_capacity, building->num_singles + 1, sizeof value->p));
    building->singles[building->num_singles++] = value->p;
    building->num_members++;
    return MIRAGE_OK;
  }
  part.set = entry->set;
  MIRAGE_TRY(reserve(&building->parts, &building->parts_capacity, building->num_parts + 1, sizeof part));
  building->parts[building->num_parts++] = part;
  building->num_members += entry->set.count;
  return MIRAGE_OK;
}

// The part that the others are added to: the largest set of our own table, or NULL.
static const MaxPart *choose_base(const MirageField *field) {
  const MaxBuilding *building = &field->building;
  const MaxPart *base = NULL;
  for (size_t i = 0; i < building->num_parts; i++) {
    const MaxPart *part = &building->parts[i];
    if (part->table == &field->maxima && (!base || part->set.count > base->set.count))
      base = part;
  }
  return base;
}

// Adds a member to building->fresh unless it is there. The table of slots is as long as all members need.
static void add_fresh(MaxBuilding *building, uint64_t member) {
  if (building->num_members <= FEW) {
    for (size_t i = 0; i < building->num_fresh; i++)
      if (building->fresh[i] == member)
        return;
  } else {
    size_t at = slot_of(member, building->slots_used);
    for (; building->slots[at]; at = (at + 1) & (building->slots_used - 1))
      if (building->fresh[building->slots[at] - 1] == member)
        return;
    building->slots[at] = (uint32_t)building->num_fresh + 1;
  }
  building->fresh[building->num_fresh++] = member;
}

static MirageStatus begin_fresh(MaxBuilding *building) {
  building->num_fresh = 0;
  MIRAGE_TRY(reserve(&building->fresh, &building->fresh_capacity, building->num_members, sizeof *building->fresh));
  if (building->num_members <= FEW)
    return MIRAGE_OK;
  for (building->slots_used = 16; building->slots_used < 2 * building->num_members;)
    building->slots_used *= 2;
  MIRAGE_TRY(reserve(&building->slots, &building->slots_capacity, building->slots_used, sizeof *building->slots));
  memset(building->slots, 0, building->slots_used * sizeof *building->slots);
  return MIRAGE_OK;
}

// ----------------------------------------------------------------------------------------------------------- finishing

// Those of `members` that `base` lacks go to building->fresh.
static void unite_members(MirageField *field, const MaxPart *base, size_t n, const uint64_t *members) {
  const MaxChain *chain = base ? &field->maxima.chains[base->set.chain] : NULL;
  for (size_t j = 0; j < n; j++)
    if (!chain || !chain_holds(chain, base->set.count, members[j]))
      add_fresh(&field->building, members[j]);
}

// digest += the hashes of the fresh members from number `begin` on.
static void add_digest(const MirageField *field, size_t begin, uint64_t digest[2]) {
  for (size_t i = begin; i < field->building.num_fresh; i++) {
    uint64_t hash[2];
    mirage__field_hash(field, MEMBER, field->building.fresh[i], hash);
    digest[0] += hash[0];
    digest[1] += hash[1];
  }
}

// All members that `base` lacks go to building->fresh; digest: of all. A part that is new as a whole brings its own.
static MirageStatus unite(MirageField *field, const MaxPart *base, uint64_t digest[2]) {
  MaxBuilding *building = &field->building;
  MIRAGE_TRY(begin_fresh(building));
  if (base)
    MIRAGE_TRY(index_chain(&field->maxima.chains[base->set.chain], base->set.count));
  for (size_t i = 0; i < building->num_parts; i++) {
    const MaxPart *part = &building->parts[i];
    size_t begin = building->num_fresh;
    if (part == base)
      continue;
    unite_members(field, base, part->set.count, part->table->chains[part->set.chain].members);
    if (building->num_fresh - begin != part->set.count) {
      add_digest(field, begin, digest);
      continue;
    }
    digest[0] += part->set.digest[0];
    digest[1] += part->set.digest[1];
  }
  size_t begin = building->num_fresh;
  unite_members(field, base, building->num_singles, building->singles);
  add_digest(field, begin, digest);
  return MIRAGE_OK;
}

// Enters the union of `base` and the fresh members: on base's chain, where that ends with base, or on a new one.
static MirageStatus remember(MirageField *field, uint64_t residue, const MaxPart *base, const uint64_t digest[2]) {
  MaxTable *table = &field->maxima;
  const MaxBuilding *building = &field->building;
  size_t count = base ? base->set.count : 0;
  MaxSet set = {.count = count + building->num_fresh, .digest = {digest[0], digest[1]}};
  if (base && table->chains[base->set.chain].count == count) {
    set.chain = base->set.chain;
  } else {
    MIRAGE_TRY(add_chain(table, &set.chain));
    if (base)
      MIRAGE_TRY(append(table, &table->chains[set.chain], count, table->chains[base->set.chain].members));
  }
  MIRAGE_TRY(append(table, &table->chains[set.chain], building->num_fresh, building->fresh));
  return add_entry(table, residue, set);
}

// `single` is any of the values added: the result when the set has one element, or is one that is known already.
MirageStatus mirage__field_max_finish(MirageField *field, const MirageResidue *single, MirageResidue *out) {
  const MaxBuilding *building = &field->building;
  if (building->num_parts + building->num_singles == 0) {
    *out = (MirageResidue){.bottom = 1};
    return MIRAGE_OK;
  }
  if (building->num_parts + building->num_singles == 1) {
    *out = *single;
    return MIRAGE_OK;
  }
  const MaxPart *base = choose_base(field);
  uint64_t digest[2] = {base ? base->set.digest[0] : 0, base ? base->set.digest[1] : 0};
  MIRAGE_TRY(unite(field, base, digest));
  if ((base ? base->set.count : 0) + building->num_fresh == 1) {
    *out = *single;
    return MIRAGE_OK;
  }
  *out = mirage__field_random_function(field, MIRAGE_OP_MAX, digest[0] ^ (digest[1] << 32 | digest[1] >> 32));
  const MaxTable *table;
  return !out->p || find_known(field, out->p, &table) ? MIRAGE_OK : remember(field, out->p, base, digest);
}

// ------------------------------------------------------------------------------------------------ work beside other
// work

// Copies an entry of `from`.
static MirageStatus take_entry(MaxTable *to, const MaxTable *from, const MaxEntry *entry) {
  const MaxEntry *known = find(to, entry->residue);
  if (known && known->residue)
    return MIRAGE_OK;
  MaxSet set = entry->set;
  MIRAGE_TRY(add_chain(to, &set.chain));
  MIRAGE_TRY(append(to, &to->chains[set.chain], set.count, from->chains[entry->set.chain].members));
  return add_entry(to, entry->residue, set);
}

MirageStatus mirage__field_max_keep(MirageField *child, uint64_t residue) {
  if (!child->maxima.used)
    return MIRAGE_OK;
  const MaxEntry *entry = find(&child->maxima, residue);
  return entry && entry->residue ? take_entry(&child->kept_maxima, &child->maxima, entry) : MIRAGE_OK;
}

MirageStatus mirage__field_max_take_all(MaxTable *to, const MaxTable *from) {
  for (size_t i = 0; i < from->capacity; i++)
    if (from->slots[i].residue)
      MIRAGE_TRY(take_entry(to, from, &from->slots[i]));
  return MIRAGE_OK;
}

void mirage__field_max_clear(MaxTable *table) {
  for (size_t i = 0; i < table->num_chains; i++) {
    free(table->chains[i].members);
    free(table->chains[i].index);
  }
  if (table->used)
    memset(table->slots, 0, table->capacity * sizeof *table->slots);
  table->num_chains = table->used = table->num_members = 0;
}

void mirage__field_max_deinit(MaxTable *table) {
  mirage__field_max_clear(table);
  free(table->slots);
  free(table->chains);
}

void mirage__field_max_building_deinit(MaxBuilding *building) {
  free(building->parts);
  free(building->singles);
  free(building->fresh);
  free(building->slots);
}
