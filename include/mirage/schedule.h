// schedule.h - who does what in a custom kernel, and a description of its keys for whoever prints, reads or compares them.
//
// Dropping a schedule never changes a result. The keys stand in schedule.def, and nowhere else as a list: code that acts on
// a key names its field, code that treats all alike walks the records below.
//
// Example: every key of a schedule that is not its default
//
//   const MirageRecord *record = mirage_schedule_record();
//   for (uint32_t i = 0; i < record->num_keys; i++)
//     if (record->keys[i].form != MIRAGE_FORM_LIST && mirage_key_get(&record->keys[i], schedule) != 0)
//       printf("%s\n", record->keys[i].name);
#ifndef MIRAGE_SCHEDULE_H
#define MIRAGE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MIRAGE_MAX_ROLES = 8, MIRAGE_MAX_LOADS = 24 };

typedef enum {
#define MIRAGE_SPLIT_WORD(name, spelling, meaning) MIRAGE_SPLIT_##name,
#include "mirage/schedule.def"
} MirageWarpSplit;
typedef enum {
#define MIRAGE_ORDER_WORD(name, spelling, meaning) MIRAGE_ORDER_##name,
#include "mirage/schedule.def"
} MirageTileOrder;
typedef enum {
#define MIRAGE_OVERLAP_WORD(name, spelling, meaning) MIRAGE_OVERLAP_##name,
#include "mirage/schedule.def"
} MirageOverlap;
typedef enum {
#define MIRAGE_MAXIMA_WORD(name, spelling, meaning) MIRAGE_MAXIMA_##name,
#include "mirage/schedule.def"
} MirageMaxima;
typedef enum {
#define MIRAGE_START_WORD(name, spelling, meaning) MIRAGE_START_##name,
#include "mirage/schedule.def"
} MirageStart;
typedef enum {
#define MIRAGE_ROLE_WORD(name, spelling, meaning) MIRAGE_ROLE_##name,
#include "mirage/schedule.def"
} MirageRoleKind;
typedef enum {
#define MIRAGE_LANDING_WORD(name, spelling, meaning) MIRAGE_LANDING_##name,
#include "mirage/schedule.def"
} MirageLanding;
typedef enum {
#define MIRAGE_CACHE_WORD(name, spelling, meaning) MIRAGE_CACHE_##name,
#include "mirage/schedule.def"
} MirageCache;

typedef struct MirageRole {
#define MIRAGE_ROLE_KEY(type, name, least, most, meaning) type name;
#include "mirage/schedule.def"
} MirageRole;

typedef struct MirageLoadSchedule {
#define MIRAGE_LOAD_KEY(type, name, least, most, meaning) type name;
#include "mirage/schedule.def"
} MirageLoadSchedule;

/// `warps` .. `start`, then `num_roles`, `roles`, `num_loads`, `loads`.
typedef struct MirageSchedule {
#define MIRAGE_SCHEDULE_KEY(type, name, least, most, meaning) type name;
#define MIRAGE_SCHEDULE_LIST(type, item, name, limit, meaning)                                                         \
  uint32_t num_##name;                                                                                                 \
  type name[limit];
#include "mirage/schedule.def"
} MirageSchedule;

// ---------------------------------------------------------------------------------------------------------------- keys

typedef enum { MIRAGE_FORM_INT, MIRAGE_FORM_FLAG, MIRAGE_FORM_WORD, MIRAGE_FORM_LIST } MirageKeyForm;

typedef struct MirageWord {
  const char *name, *meaning;
} MirageWord;

typedef struct MirageRecord MirageRecord;

/// A key of a record: where its value is, and what may stand there.
typedef struct MirageKey {
  const char *name, *meaning;
  MirageKeyForm form;
  size_t offset;
  int32_t least, most;       // of a number; other forms: 0 and the last value
  const MirageWord *words;   // FORM_WORD: by value
  const MirageRecord *items; // FORM_LIST: what each item is; `most` of them, their number a uint32_t at `count`
  size_t count;
} MirageKey;

/// A schedule, a role or a load. The first key of the latter two is a word that stands in front of the others.
struct MirageRecord {
  const char *name; // "schedule", "role", "load"
  bool by_place;    // the keys behind the word are written without names
  size_t size;
  uint32_t num_keys;
  const MirageKey *keys;
};

const MirageRecord *mirage_schedule_record(void);
/// The value of a key that is no list, in a MirageSchedule, MirageRole or MirageLoadSchedule.
int32_t mirage_key_get(const MirageKey *key, const void *record);
void mirage_key_set(const MirageKey *key, void *record, int32_t value);
/// The spelling of a word; "?" of a value that there is not.
const char *mirage_key_word(const MirageKey *key, const void *record);
/// Items of a list, and how many there are.
const void *mirage_key_items(const MirageKey *key, const void *record, uint32_t *out_count);
/// What to do about a key or word that is no more, or NULL where there never was one. `name` need not end in a NUL.
const char *mirage_schedule_gone(const char *name, size_t length);

/// How many loads it speaks of: those of its kernel, or 0 of any kernel. Of NULL, too.
uint32_t mirage_schedule_count_loads(const MirageSchedule *schedule);

/// All values in order, each list after its length: equal numbers, equal schedules. Returns how many there are.
enum { MIRAGE_SCHEDULE_NUMBERS = sizeof(MirageSchedule) }; // each has a byte at least
uint32_t mirage_schedule_numbers(const MirageSchedule *schedule, int32_t out_numbers[MIRAGE_SCHEDULE_NUMBERS]);

#ifdef __cplusplus
}
#endif
#endif
