// schedule.c - the keys of a schedule as a table, and the rules that they keep.
//
// Every list of keys is made here of schedule.def, once. Printing, parsing, hashing and description walk it; what they do
// to a key follows from its form, so that a new one needs nothing of them.
#include "ugraph_internal.h"

#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------------- table

#define WORD(name, spelling, meaning) {spelling, meaning},
static const MirageWord MirageWarpSplit_WORDS[] = {
#define MIRAGE_SPLIT_WORD WORD
#include "mirage/schedule.def"
};
static const MirageWord MirageTileOrder_WORDS[] = {
#define MIRAGE_ORDER_WORD WORD
#include "mirage/schedule.def"
};
static const MirageWord MirageOverlap_WORDS[] = {
#define MIRAGE_OVERLAP_WORD WORD
#include "mirage/schedule.def"
};
static const MirageWord MirageMaxima_WORDS[] = {
#define MIRAGE_MAXIMA_WORD WORD
#include "mirage/schedule.def"
};
static const MirageWord MirageStart_WORDS[] = {
#define MIRAGE_START_WORD WORD
#include "mirage/schedule.def"
};
static const MirageWord MirageRoleKind_WORDS[] = {
#define MIRAGE_ROLE_WORD WORD
#include "mirage/schedule.def"
};
static const MirageWord MirageLanding_WORDS[] = {
#define MIRAGE_LANDING_WORD WORD
#include "mirage/schedule.def"
};
static const MirageWord MirageCache_WORDS[] = {
#define MIRAGE_CACHE_WORD WORD
#include "mirage/schedule.def"
};

// What a row's type says of its key: form, bounds, words.
#define WORDS_OF(list) MIRAGE_FORM_WORD, .most = sizeof(list) / sizeof *(list) - 1, .words = (list)
#define FORM_int32_t(least_, most_) MIRAGE_FORM_INT, .least = (least_), .most = (most_)
#define FORM_bool(...) MIRAGE_FORM_FLAG, .most = 1
#define FORM_MirageWarpSplit(...) WORDS_OF(MirageWarpSplit_WORDS)
#define FORM_MirageTileOrder(...) WORDS_OF(MirageTileOrder_WORDS)
#define FORM_MirageOverlap(...) WORDS_OF(MirageOverlap_WORDS)
#define FORM_MirageMaxima(...) WORDS_OF(MirageMaxima_WORDS)
#define FORM_MirageStart(...) WORDS_OF(MirageStart_WORDS)
#define FORM_MirageRoleKind(...) WORDS_OF(MirageRoleKind_WORDS)
#define FORM_MirageLanding(...) WORDS_OF(MirageLanding_WORDS)
#define FORM_MirageCache(...) WORDS_OF(MirageCache_WORDS)
#define KEY(record, name_, meaning_, ...)                                                                              \
  {.name = #name_, .meaning = (meaning_), .offset = offsetof(record, name_), .form = __VA_ARGS__},
#define RECORD(name, by_place, type, keys) {name, by_place, sizeof(type), sizeof(keys) / sizeof *(keys), keys}

static const MirageKey ROLE_KEYS[] = {
#define MIRAGE_ROLE_KEY(type, name, least, most, meaning) KEY(MirageRole, name, meaning, FORM_##type(least, most))
#include "mirage/schedule.def"
};
static const MirageKey LOAD_KEYS[] = {
#define MIRAGE_LOAD_KEY(type, name, least, most, meaning)                                                              \
  KEY(MirageLoadSchedule, name, meaning, FORM_##type(least, most))
#include "mirage/schedule.def"
};
static const MirageRecord role_record = RECORD("role", true, MirageRole, ROLE_KEYS),
                          load_record = RECORD("load", false, MirageLoadSchedule, LOAD_KEYS);

static const MirageKey SCHEDULE_KEYS[] = {
#define MIRAGE_SCHEDULE_KEY(type, name, least, most, meaning)                                                          \
  KEY(MirageSchedule, name, meaning, FORM_##type(least, most))
#define MIRAGE_SCHEDULE_LIST(type, item, name_, limit, meaning_)                                                       \
  {.name = #name_,                                                                                                     \
   .meaning = (meaning_),                                                                                              \
   .form = MIRAGE_FORM_LIST,                                                                                           \
   .offset = offsetof(MirageSchedule, name_),                                                                          \
   .most = (limit),                                                                                                    \
   .items = &item##_record,                                                                                            \
   .count = offsetof(MirageSchedule, num_##name_)},
#include "mirage/schedule.def"
};
static const MirageRecord schedule_record = RECORD("schedule", false, MirageSchedule, SCHEDULE_KEYS);

const MirageRecord *mirage_schedule_record(void) { return &schedule_record; }

static const struct {
  const char *name, *remedy;
} GONE[] = {
#define MIRAGE_SCHEDULE_GONE(name, remedy) {#name, remedy},
#include "mirage/schedule.def"
};

const char *mirage_schedule_gone(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof GONE / sizeof *GONE; i++)
    if (strlen(GONE[i].name) == length && memcmp(GONE[i].name, name, length) == 0)
      return GONE[i].remedy;
  return NULL;
}

// -------------------------------------------------------------------------------------------------------------- values

_Static_assert(sizeof(MirageWarpSplit) == sizeof(int32_t), "words are read as numbers");

int32_t mirage_key_get(const MirageKey *key, const void *record) {
  const char *at = (const char *)record + key->offset;
  int32_t value;
  if (key->form == MIRAGE_FORM_FLAG)
    return *(const bool *)at;
  memcpy(&value, at, sizeof value);
  return value;
}

void mirage_key_set(const MirageKey *key, void *record, int32_t value) {
  char *at = (char *)record + key->offset;
  if (key->form == MIRAGE_FORM_FLAG)
    *(bool *)at = value != 0;
  else
    memcpy(at, &value, sizeof value);
}

const char *mirage_key_word(const MirageKey *key, const void *record) {
  int32_t value = mirage_key_get(key, record);
  return value >= 0 && value <= key->most ? key->words[value].name : "?";
}

const void *mirage_key_items(const MirageKey *key, const void *record, uint32_t *out_count) {
  memcpy(out_count, (const char *)record + key->count, sizeof *out_count);
  return (const char *)record + key->offset;
}

static int32_t *append(const MirageRecord *record, const void *values, int32_t *numbers) {
  for (uint32_t k = 0; k < record->num_keys; k++) {
    const MirageKey *key = &record->keys[k];
    if (key->form != MIRAGE_FORM_LIST) {
      *numbers++ = mirage_key_get(key, values);
      continue;
    }
    uint32_t count;
    const char *items = mirage_key_items(key, values, &count);
    *numbers++ = (int32_t)count;
    for (uint32_t i = 0; i < count && i < (uint32_t)key->most; i++) // of what nobody has checked yet, too
      numbers = append(key->items, items + i * key->items->size, numbers);
  }
  return numbers;
}

uint32_t mirage_schedule_numbers(const MirageSchedule *schedule, int32_t out_numbers[MIRAGE_SCHEDULE_NUMBERS]) {
  return (uint32_t)(append(&schedule_record, schedule, out_numbers) - out_numbers);
}

// --------------------------------------------------------------------------------------------------------------- rules

enum { MIN_ROLE_REGISTERS = 24, GROUP_WARPS = 4 };

typedef struct Where { // of a record
  const MirageRecord *record;
  int32_t index; // of an item; -1: the schedule
} Where;

static MirageStatus check_value(const InferCall *call, Where where, const MirageKey *key, int32_t value) {
  char item[24] = "";
  if (value >= key->least && value <= key->most)
    return MIRAGE_OK;
  if (where.index >= 0)
    snprintf(item, sizeof item, " %d", where.index);
  if (key->most == INT32_MAX)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s%s has %s = %d, at least %d is needed", where.record->name, item,
                      key->name, value, key->least);
  return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "%s%s has %s = %d, %d to %d are possible", where.record->name, item,
                    key->name, value, key->least, key->most);
}

static MirageStatus check_record(const InferCall *call, Where where, const void *values) {
  for (uint32_t k = 0; k < where.record->num_keys; k++) {
    const MirageKey *key = &where.record->keys[k];
    if (key->form != MIRAGE_FORM_LIST) {
      MIRAGE_TRY(check_value(call, where, key, mirage_key_get(key, values)));
      continue;
    }
    uint32_t count;
    const char *items = mirage_key_items(key, values, &count);
    if (count > (uint32_t)key->most)
      return INFER_FAIL(call, MIRAGE_LIMIT, "%s has %u %s, at most %d are supported", where.record->name, count,
                        key->name, key->most);
    for (uint32_t i = 0; i < count; i++)
      MIRAGE_TRY(check_record(call, (Where){key->items, (int32_t)i}, items + i * key->items->size));
  }
  return MIRAGE_OK;
}

static MirageStatus check_roles(const InferCall *call, const MirageSchedule *schedule) {
  int32_t warps = 0, consumers = 0, most = SCHEDULE_KEYS[0].most;
  for (uint32_t i = 0; i < schedule->num_roles; i++) {
    const MirageRole *role = &schedule->roles[i];
    if (role->registers != 0 && (role->registers < MIN_ROLE_REGISTERS || role->registers % 8 != 0))
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "role %u has %d registers, a multiple of 8 from %d on is needed", i,
                        role->registers, MIN_ROLE_REGISTERS);
    warps += role->warps;
    consumers += role->kind == MIRAGE_ROLE_CONSUMER ? role->warps : 0;
  }
  if (warps > most)
    return INFER_FAIL(call, MIRAGE_LIMIT, "roles have %d warps, a block has at most %d", warps, most);
  if (schedule->overlap == MIRAGE_OVERLAP_TILES && (consumers < 2 * GROUP_WARPS || consumers % GROUP_WARPS))
    return INFER_FAIL(
        call, MIRAGE_BAD_ARGUMENT,
        "schedule has overlap = tiles, and %d warps that consume: whole warpgroups of %d take turns, two or more",
        consumers, GROUP_WARPS);
  if (schedule->num_roles && schedule->warps && warps != schedule->warps)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "warps of the roles and of the block differ: %d vs %d", warps,
                      schedule->warps);
  return MIRAGE_OK;
}

// Whole clusters, each of which finds a tile.
static MirageStatus check_persistent(const InferCall *call, const MirageCustomAttrs *attrs) {
  int64_t blocks = attrs->schedule->persistent, cluster = attrs->cluster[0] * attrs->cluster[1] * attrs->cluster[2];
  double grid = (double)attrs->grid[0] * (double)attrs->grid[1] * (double)attrs->grid[2];
  if (!blocks && attrs->schedule->overlap == MIRAGE_OVERLAP_TILES)
    return INFER_FAIL(
        call, MIRAGE_BAD_ARGUMENT, "%s",
        "schedule has overlap = tiles, and a block for each tile: persistent says how many blocks take tiles in turn");
  if (!blocks)
    return MIRAGE_OK;
  if (blocks % cluster)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT,
                      "schedule has persistent = %lld, a multiple of the cluster's %lld "
                      "blocks is needed",
                      (long long)blocks, (long long)cluster);
  if ((double)blocks > grid)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "schedule has persistent = %lld, the grid has %.0f blocks",
                      (long long)blocks, grid);
  if (attrs->schedule->side_blocks)
    return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT,
                      "schedule has persistent = %lld beside %d side blocks, one of them is possible",
                      (long long)blocks, attrs->schedule->side_blocks);
  return MIRAGE_OK;
}

uint32_t mirage_schedule_count_loads(const MirageSchedule *schedule) { return schedule ? schedule->num_loads : 0; }

MirageStatus mirage__check_schedule(const InferCall *call, const MirageCustomAttrs *attrs) {
  const MirageSchedule *schedule = attrs->schedule;
  bool clusters = attrs->cluster[0] * attrs->cluster[1] * attrs->cluster[2] > 1;
  MIRAGE_TRY(check_record(call, (Where){&schedule_record, -1}, schedule));
  for (uint32_t i = 0; i < schedule->num_loads; i++)
    if (schedule->loads[i].multicast && !clusters)
      return INFER_FAIL(call, MIRAGE_BAD_ARGUMENT, "load %u is multicast, but there is no cluster", i);
  MIRAGE_TRY(check_persistent(call, attrs));
  return check_roles(call, schedule);
}
