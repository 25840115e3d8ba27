// tuning.h - what measuring found, kept for the next compilation; and programs run beside this one, watched.
//
// The database is one SQLite file. A record answers: for this program, on this GPU by this driver, with this version and
// these options, which graph was the fastest, and what did all that were measured take? A result is the compiled module of a
// program, so that nobody searches twice. lib/tuning/README.md.
#ifndef MIRAGE_TUNING_H
#define MIRAGE_TUNING_H

#include "mirage/cancel.h"
#include "mirage/diag.h"

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------------ database

typedef struct MirageTuning MirageTuning; // an open database

typedef struct MirageTuningRecord {
  // The key.
  const char *graph;   // 32 hexadecimal digits: hash of the program's structure, whatever its names
  const char *target;  // name of the row
  const char *options; // that matter: "opt-level=3"
  const char *version; // of this compiler
  const char *gpu;     // as the driver names it; in a search: NULL = any, the newest record
  int32_t driver;      // 13000 = 13.0; in a search: 0 = any, the newest record
  // The value.
  const char *choice; // name of the fastest when it was measured; "" = the program's own lowering
  const char *hash;   // of the choice, 32 digits; "" for the own lowering
  const char *text;   // the choice as a mirage_kernel.graph; "" for the own lowering
  const char *code;   // of what was measured: mirage_code_hash of the own lowering and of the choice (0 for none), 32
                      // digits; "" where nobody knows. Whose code is another now has measured nothing of it.
  double time_us, spread; // of the choice: median with a cold L2 cache, (p90 - p10) / median
  double own_us, own_spread;
  const char *measured; // JSON array: an object for each graph that was measured
  const char *date;     // "2026-11-22T17:05:09Z"
} MirageTuningRecord;

/// Where the database is: $MIRAGE_TUNING_DB, else $XDG_CACHE_HOME/mirage-mlir/tuning.db, else below ~/.cache. NULL where
/// none of them says. The caller frees it.
char *mirage_tuning_path(void);

/// Opens the file at `path`. For reading alone (`writes` false), a file that is not there is no error: *out_tuning is NULL.
/// For writing, the file and its folder are made where they are missing.
///
/// Errors:  IO: it cannot be opened, is no database, is damaged, or was made by a newer version. It is left as it is.
/// Threads: one connection belongs to one thread; any number of processes may have the file open.
MirageStatus mirage_tuning_open(const char *path, bool writes, const MirageDiag *diag, MirageTuning **out_tuning);
void mirage_tuning_close(MirageTuning *tuning);

/// The record of this key; where `key` leaves the GPU or the driver open, the newest. *out_record is NULL where there is
/// none. Pair with mirage_tuning_free.
MirageStatus mirage_tuning_find(MirageTuning *tuning, const MirageTuningRecord *key, const MirageDiag *diag,
                                MirageTuningRecord **out_record);
void mirage_tuning_free(MirageTuningRecord *record);
/// Adds the record, or replaces the one of its key. All of it is there afterwards, or nothing.
/// Errors: IO: the disk is full, the file read-only or damaged, or locked for longer than ten seconds.
MirageStatus mirage_tuning_store(MirageTuning *tuning, const MirageTuningRecord *record, const MirageDiag *diag);

/// Calls `visit` for each record whose graph's hash begins with `prefix`, oldest first, until it does not return OK.
typedef MirageStatus (*MirageTuningVisit)(void *user, const MirageTuningRecord *record);
MirageStatus mirage_tuning_each(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                MirageTuningVisit visit, void *user);
/// Removes these records, and the results of these programs.
MirageStatus mirage_tuning_clear(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                 uint32_t *out_removed);

/// Writes all records as JSON.
MirageStatus mirage_tuning_export(MirageTuning *tuning, const char *path, const MirageDiag *diag,
                                  uint32_t *out_records);
/// Reads such a file: every field is checked, and all records are taken or none. A record that is there already stays
/// where it is newer.
MirageStatus mirage_tuning_import(MirageTuning *tuning, const char *path, const MirageDiag *diag,
                                  uint32_t *out_records);

// ------------------------------------------------------------------------------------------------------------- results

/// What a compiled module answers: all that it depends on but the seed's and the like, which `options` says.
typedef struct MirageResultKey {
  const char *graph;   // 32 hexadecimal digits: hash of the program's structure, whatever its names
  const char *target;  // name of the row
  const char *options; // of the search, as text
  const char *version; // of this compiler, down to its code
  const char *gpu;     // on which it was measured; "" = by the model alone
  int32_t driver;      // of that GPU; 0 without
} MirageResultKey;

/// A result as it is listed; texts live until the visit ends.
typedef struct MirageResult {
  MirageResultKey key;
  uint64_t bytes;
  const char *date;
} MirageResult;

/// The text that was stored for this key; NULL where there is none, where it is damaged (a warning), or where the program was
/// measured for the target since, here or by an import. The caller frees it. What the text says is for the caller to check.
MirageStatus mirage_result_find(MirageTuning *tuning, const MirageResultKey *key, const MirageDiag *diag,
                                char **out_text);
/// Adds the text, or replaces the one of its key. The oldest go where all would be more than 512 MiB; one of more than
/// 32 MiB is not taken, which is no error.
/// Errors: as mirage_tuning_store.
MirageStatus mirage_result_store(MirageTuning *tuning, const MirageResultKey *key, const char *text, const char *date,
                                 const MirageDiag *diag);
/// Calls `visit` for each result whose program's hash begins with `prefix`, oldest first, until it does not return OK.
typedef MirageStatus (*MirageResultVisit)(void *user, const MirageResult *result);
MirageStatus mirage_result_each(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                MirageResultVisit visit, void *user);

// ----------------------------------------------------------------------------------------------------------- processes

typedef enum {
  MIRAGE_JOB_EXITED,      // `code` is its exit status
  MIRAGE_JOB_SIGNALLED,   // `code` is the signal
  MIRAGE_JOB_SILENT,      // it said nothing for too long, and was killed
  MIRAGE_JOB_CANCELLED,   // it was killed, or never started, because the work shall end
  MIRAGE_JOB_NOT_STARTED, // `code` is errno
} MirageJobEnd;

typedef struct MirageJob {
  const char *const *argv; // the program's path first; NULL at the end
  MirageJobEnd end;        // out, as all that follows
  int code;
  char *output, *errors; // what it wrote, the first megabyte of each; never NULL
} MirageJob;

/// Runs programs, at most `at_once` at a time, each in a process group of its own. One that writes nothing for `silence_s`
/// seconds is killed; so are all when `cancel` says so. Pair with mirage_jobs_deinit, also after a failure.
///
/// Errors:  NO_MEMORY, IO (no pipes). How a program ended is no error.
/// Threads: safe.
MirageStatus mirage_jobs_run(uint32_t num_jobs, MirageJob *jobs, uint32_t at_once, double silence_s,
                             const MirageCancel *cancel, const MirageDiag *diag);
void mirage_jobs_deinit(uint32_t num_jobs, MirageJob *jobs);

#ifdef __cplusplus
}
#endif
#endif
