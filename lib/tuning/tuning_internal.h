// tuning_internal.h - what the parts of the database share.
#ifndef MIRAGE_TUNING_INTERNAL_H
#define MIRAGE_TUNING_INTERNAL_H

#include "mirage/tuning.h"

#include <sqlite3.h>

struct MirageTuning {
  sqlite3 *db;
  char *path;
};

/// The error `code` of SQLite's as a sentence with a remedy.
MirageStatus mirage__tuning_fail(const MirageTuning *tuning, int code, const char *what, const MirageDiag *diag);
/// All changes until commit are one: there afterwards, or not.
MirageStatus mirage__tuning_begin(MirageTuning *tuning, const MirageDiag *diag);
MirageStatus mirage__tuning_commit(MirageTuning *tuning, const MirageDiag *diag);
void mirage__tuning_rollback(MirageTuning *tuning);
/// Adds or replaces it; with `newer_only`, leaves what is there already and not older.
MirageStatus mirage__tuning_put(MirageTuning *tuning, const MirageTuningRecord *record, bool newer_only,
                                const MirageDiag *diag);
/// Within a transaction: removes the results of these programs, and adds to `*out_removed` how many they were.
MirageStatus mirage__results_clear(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                   uint32_t *out_removed);

#endif
