// database.c - the tuning database, one SQLite file: how it is opened, and its table of measurements.
//
// Many compilers may write at a time: SQLite locks the file, readers go on beside a writer (write-ahead log, where the
// file system has shared memory), and who finds it locked waits up to ten seconds. A change is a transaction, so that a
// full disk or a kill leaves the file as it was before.
//
// A file that is no database, or a damaged one, is reported and never touched: the caller works without.
#define _XOPEN_SOURCE 700 // strdup, mkdir
#include "tuning_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEMA = 2, WAIT_MS = 10000 }; // 1: without `code`

// The columns in the order of MirageTuningRecord.
#define OLD_COLUMNS                                                                                                    \
  "graph, target, options, version, gpu, driver, choice, hash, text, time_us, spread, own_us, own_spread, measured, "  \
  "date"
#define COLUMNS OLD_COLUMNS ", code"

static const char CREATE[] =
    "CREATE TABLE IF NOT EXISTS tuning (graph TEXT NOT NULL, target TEXT NOT NULL, options TEXT NOT NULL, "
    "version TEXT NOT NULL, gpu TEXT NOT NULL, driver INTEGER NOT NULL, choice TEXT NOT NULL, hash TEXT NOT NULL, "
    "text TEXT NOT NULL, time_us REAL NOT NULL, spread REAL NOT NULL, own_us REAL NOT NULL, own_spread REAL NOT NULL, "
    "measured TEXT NOT NULL, date TEXT NOT NULL, code TEXT NOT NULL DEFAULT '', PRIMARY KEY (graph, target, options, "
    "version, gpu, driver))";

// ---------------------------------------------------------------------------------------------------------------- path

static char *join(const char *folder, const char *rest) {
  size_t bytes = strlen(folder) + strlen(rest) + 1;
  char *path = malloc(bytes);
  if (path)
    snprintf(path, bytes, "%s%s", folder, rest);
  return path;
}

char *mirage_tuning_path(void) {
  const char *given = getenv("MIRAGE_TUNING_DB"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (given && *given)
    return strdup(given);
  if (cache && *cache == '/') // the XDG rules: a relative path is as good as none
    return join(cache, "/mirage-mlir/tuning.db");
  return home && *home == '/' ? join(home, "/.cache/mirage-mlir/tuning.db") : NULL;
}

// Makes the folders above the file. What fails shows when the file is opened.
static void make_folders(const char *path) {
  char *copy = strdup(path);
  for (char *slash = copy ? strchr(copy + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(copy, 0777);
    *slash = '/';
  }
  free(copy);
}

// ------------------------------------------------------------------------------------------------------------- opening

static MirageStatus fail(const MirageTuning *tuning, int code, const char *what, const MirageDiag *diag) {
  const char *remedy = "";
  int kind = code & 0xff;
  if (kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT)
    remedy = "; it is left as it is: move it away, or name another file in MIRAGE_TUNING_DB";
  else if (kind == SQLITE_FULL || kind == SQLITE_IOERR)
    remedy = "; is the disk full? Nothing that was stored before is lost";
  else if (kind == SQLITE_BUSY)
    remedy = "; another process has kept it locked for ten seconds";
  else if (kind == SQLITE_READONLY || kind == SQLITE_CANTOPEN || kind == SQLITE_PERM)
    remedy = "; name a file in a folder that can be written to in MIRAGE_TUNING_DB";
  return mirage_diag_fail(diag, NULL, MIRAGE_IO, "tuning database: %s: %s: %s%s", tuning->path, what,
                          tuning->db ? sqlite3_errmsg(tuning->db) : sqlite3_errstr(code), remedy);
}

MirageStatus mirage__tuning_fail(const MirageTuning *tuning, int code, const char *what, const MirageDiag *diag) {
  return fail(tuning, code, what, diag);
}

static MirageStatus execute(MirageTuning *tuning, const char *sql, const char *what, const MirageDiag *diag) {
  int code = sqlite3_exec(tuning->db, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? MIRAGE_OK : fail(tuning, code, what, diag);
}

static MirageStatus read_schema(MirageTuning *tuning, const MirageDiag *diag, int *out_schema) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(tuning->db, "PRAGMA user_version", -1, &statement, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_step(statement);
  if (code == SQLITE_ROW)
    *out_schema = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return code == SQLITE_ROW ? MIRAGE_OK : fail(tuning, code, "cannot be read", diag);
}

static MirageStatus prepare_schema(MirageTuning *tuning, bool writes, const MirageDiag *diag) {
  int schema = 0;
  MIRAGE_TRY(read_schema(tuning, diag, &schema));
  if (schema > SCHEMA)
    return mirage_diag_fail(diag, NULL, MIRAGE_IO,
                            "tuning database: %s: made by a newer version (schema %d, this one knows %d); name another "
                            "file in MIRAGE_TUNING_DB",
                            tuning->path, schema, SCHEMA);
  if (schema == SCHEMA || !writes)
    return MIRAGE_OK;
  // Where the log cannot be had, the journal is as safe and lets one in at a time.
  sqlite3_exec(tuning->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
  MIRAGE_TRY(mirage__tuning_begin(tuning, diag));
  MirageStatus status = execute(tuning, CREATE, "cannot make its table", diag);
  if (status == MIRAGE_OK)
    status = read_schema(tuning, diag, &schema); // another process may have done it meanwhile
  if (status == MIRAGE_OK && schema == 1)
    status = execute(tuning, "ALTER TABLE tuning ADD COLUMN code TEXT NOT NULL DEFAULT ''", "cannot be changed", diag);
  if (status == MIRAGE_OK)
    status = execute(tuning, "PRAGMA user_version = 2", "cannot set its schema", diag);
  if (status == MIRAGE_OK)
    return mirage__tuning_commit(tuning, diag);
  mirage__tuning_rollback(tuning);
  return status;
}

static MirageStatus open_file(MirageTuning *tuning, bool writes, const MirageDiag *diag) {
  if (writes)
    make_folders(tuning->path);
  // A reader opens for writing too, where it may: only so can it read a log that a killed writer has left.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | (writes ? SQLITE_OPEN_CREATE : 0);
  int code = sqlite3_open_v2(tuning->path, &tuning->db, flags, NULL);
  if (code != SQLITE_OK && !writes) {
    sqlite3_close(tuning->db);
    code = sqlite3_open_v2(tuning->path, &tuning->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, NULL);
  }
  if (code != SQLITE_OK)
    return fail(tuning, code, "cannot be opened", diag);
  sqlite3_busy_timeout(tuning->db, WAIT_MS);
  return prepare_schema(tuning, writes, diag);
}

MirageStatus mirage_tuning_open(const char *path, bool writes, const MirageDiag *diag, MirageTuning **out_tuning) {
  *out_tuning = NULL;
  if (!writes && access(path, F_OK) != 0 && errno == ENOENT)
    return MIRAGE_OK;
  MirageTuning *tuning = calloc(1, sizeof *tuning);
  if (!tuning || !(tuning->path = strdup(path))) {
    free(tuning);
    return MIRAGE_NO_MEMORY;
  }
  MirageStatus status = open_file(tuning, writes, diag);
  if (status == MIRAGE_OK)
    *out_tuning = tuning;
  else
    mirage_tuning_close(tuning);
  return status;
}

void mirage_tuning_close(MirageTuning *tuning) {
  if (!tuning)
    return;
  sqlite3_close(tuning->db);
  free(tuning->path);
  free(tuning);
}

MirageStatus mirage__tuning_begin(MirageTuning *tuning, const MirageDiag *diag) {
  return execute(tuning, "BEGIN IMMEDIATE", "cannot be changed", diag);
}

MirageStatus mirage__tuning_commit(MirageTuning *tuning, const MirageDiag *diag) {
  MirageStatus status = execute(tuning, "COMMIT", "cannot be written", diag);
  if (status != MIRAGE_OK)
    mirage__tuning_rollback(tuning);
  return status;
}

void mirage__tuning_rollback(MirageTuning *tuning) { sqlite3_exec(tuning->db, "ROLLBACK", NULL, NULL, NULL); }

// ------------------------------------------------------------------------------------------------------------- records

enum { NUM_TEXTS = 11 };

static void list_texts(MirageTuningRecord *record, const char **texts[NUM_TEXTS]) {
  const char **all[NUM_TEXTS] = {&record->graph,    &record->target, &record->options, &record->version,
                                 &record->gpu,      &record->choice, &record->hash,    &record->text,
                                 &record->measured, &record->date,   &record->code};
  memcpy(texts, all, sizeof all);
}

// The record as its own allocation with all its texts; NULL without memory.
static MirageTuningRecord *copy_record(const MirageTuningRecord *record) {
  MirageTuningRecord from = *record;
  const char **texts[NUM_TEXTS];
  list_texts(&from, texts);
  size_t bytes = 0;
  for (int i = 0; i < NUM_TEXTS; i++)
    bytes += strlen(*texts[i]) + 1;
  MirageTuningRecord *copy = malloc(sizeof *copy + bytes);
  if (!copy)
    return NULL;
  char *at = (char *)(copy + 1);
  for (int i = 0; i < NUM_TEXTS; i++) {
    size_t size = strlen(*texts[i]) + 1;
    *texts[i] = memcpy(at, *texts[i], size);
    at += size;
  }
  *copy = from;
  return copy;
}

void mirage_tuning_free(MirageTuningRecord *record) { free(record); }

static const char *column_text(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text ? text : "";
}

// Texts live until the statement goes on.
static MirageTuningRecord row_of(sqlite3_stmt *row) {
  return (MirageTuningRecord){
      .graph = column_text(row, 0),
      .target = column_text(row, 1),
      .options = column_text(row, 2),
      .version = column_text(row, 3),
      .gpu = column_text(row, 4),
      .driver = sqlite3_column_int(row, 5),
      .choice = column_text(row, 6),
      .hash = column_text(row, 7),
      .text = column_text(row, 8),
      .time_us = sqlite3_column_double(row, 9),
      .spread = sqlite3_column_double(row, 10),
      .own_us = sqlite3_column_double(row, 11),
      .own_spread = sqlite3_column_double(row, 12),
      .measured = column_text(row, 13),
      .date = column_text(row, 14),
      .code = column_text(row, 15),
  };
}

static void bind_text(sqlite3_stmt *statement, int index, const char *text) {
  sqlite3_bind_text(statement, index, text ? text : "", -1, SQLITE_TRANSIENT);
}

static void bind_record(sqlite3_stmt *statement, const MirageTuningRecord *record) {
  bind_text(statement, 1, record->graph);
  bind_text(statement, 2, record->target);
  bind_text(statement, 3, record->options);
  bind_text(statement, 4, record->version);
  bind_text(statement, 5, record->gpu);
  sqlite3_bind_int(statement, 6, record->driver);
  bind_text(statement, 7, record->choice);
  bind_text(statement, 8, record->hash);
  bind_text(statement, 9, record->text);
  sqlite3_bind_double(statement, 10, record->time_us);
  sqlite3_bind_double(statement, 11, record->spread);
  sqlite3_bind_double(statement, 12, record->own_us);
  sqlite3_bind_double(statement, 13, record->own_spread);
  bind_text(statement, 14, record->measured);
  bind_text(statement, 15, record->date);
  bind_text(statement, 16, record->code);
}

static MirageStatus prepare(MirageTuning *tuning, const char *sql, const MirageDiag *diag, sqlite3_stmt **out) {
  int code = sqlite3_prepare_v2(tuning->db, sql, -1, out, NULL);
  return code == SQLITE_OK ? MIRAGE_OK : fail(tuning, code, "cannot be read", diag);
}

// The statement for a file of this schema, or of the one before, which knew no `code`. *out is NULL for one that was
// opened for reading before anything was ever stored: it has no table.
static MirageStatus prepare_query(MirageTuning *tuning, const char *sql, const char *old_sql, const MirageDiag *diag,
                                  sqlite3_stmt **out) {
  int schema = 0;
  *out = NULL;
  if (read_schema(tuning, NULL, &schema) != MIRAGE_OK || schema == 0)
    return MIRAGE_OK;
  return prepare(tuning, schema == 1 ? old_sql : sql, diag, out);
}

MirageStatus mirage_tuning_find(MirageTuning *tuning, const MirageTuningRecord *key, const MirageDiag *diag,
                                MirageTuningRecord **out_record) {
#define FIND                                                                                                           \
  " FROM tuning WHERE graph = ?1 AND target = ?2 AND options = ?3 AND version = ?4 AND (?5 IS NULL OR gpu = ?5) AND "  \
  "(?6 = 0 OR driver = ?6) ORDER BY date DESC, gpu, driver DESC LIMIT 1"
  sqlite3_stmt *statement;
  *out_record = NULL;
  MIRAGE_TRY(prepare_query(tuning, "SELECT " COLUMNS FIND, "SELECT " OLD_COLUMNS FIND, diag, &statement));
  if (!statement)
    return MIRAGE_OK;
  bind_text(statement, 1, key->graph);
  bind_text(statement, 2, key->target);
  bind_text(statement, 3, key->options);
  bind_text(statement, 4, key->version);
  if (key->gpu)
    bind_text(statement, 5, key->gpu);
  sqlite3_bind_int(statement, 6, key->driver);
  MirageStatus status = MIRAGE_OK;
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    MirageTuningRecord row = row_of(statement);
    *out_record = copy_record(&row);
    status = *out_record ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  } else if (code != SQLITE_DONE) {
    status = fail(tuning, code, "cannot be read", diag);
  }
  sqlite3_finalize(statement);
  return status;
}

MirageStatus mirage__tuning_put(MirageTuning *tuning, const MirageTuningRecord *record, bool newer_only,
                                const MirageDiag *diag) {
  static const char replace[] = "INSERT OR REPLACE INTO tuning (" COLUMNS
                                ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
  static const char newer[] =
      "INSERT OR REPLACE INTO tuning (" COLUMNS
      ") SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16 WHERE NOT EXISTS (SELECT 1 FROM "
      "tuning WHERE graph = ?1 AND target = ?2 AND options = ?3 AND version = ?4 AND gpu = ?5 AND driver = ?6 AND "
      "date >= ?15)";
  sqlite3_stmt *statement;
  MIRAGE_TRY(prepare(tuning, newer_only ? newer : replace, diag, &statement));
  bind_record(statement, record);
  int code = sqlite3_step(statement);
  MirageStatus status = code == SQLITE_DONE ? MIRAGE_OK : fail(tuning, code, "cannot be written", diag);
  sqlite3_finalize(statement);
  return status;
}

MirageStatus mirage_tuning_store(MirageTuning *tuning, const MirageTuningRecord *record, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__tuning_begin(tuning, diag));
  MirageStatus status = mirage__tuning_put(tuning, record, false, diag);
  if (status == MIRAGE_OK)
    return mirage__tuning_commit(tuning, diag);
  mirage__tuning_rollback(tuning);
  return status;
}

MirageStatus mirage_tuning_each(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                MirageTuningVisit visit, void *user) {
#define EACH                                                                                                           \
  " FROM tuning WHERE substr(graph, 1, length(?1)) = ?1 ORDER BY date, graph, target, options, version, gpu, driver"
  sqlite3_stmt *statement;
  MIRAGE_TRY(prepare_query(tuning, "SELECT " COLUMNS EACH, "SELECT " OLD_COLUMNS EACH, diag, &statement));
  if (!statement)
    return MIRAGE_OK;
  bind_text(statement, 1, prefix);
  MirageStatus status = MIRAGE_OK;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW && status == MIRAGE_OK) {
    MirageTuningRecord row = row_of(statement);
    status = visit(user, &row);
  }
  if (status == MIRAGE_OK && code != SQLITE_DONE)
    status = fail(tuning, code, "cannot be read", diag);
  sqlite3_finalize(statement);
  return status;
}

MirageStatus mirage_tuning_clear(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                 uint32_t *out_removed) {
  sqlite3_stmt *statement;
  MIRAGE_TRY(mirage__tuning_begin(tuning, diag));
  MirageStatus status = prepare(tuning, "DELETE FROM tuning WHERE substr(graph, 1, length(?1)) = ?1", diag, &statement);
  if (status == MIRAGE_OK) {
    bind_text(statement, 1, prefix);
    int code = sqlite3_step(statement);
    status = code == SQLITE_DONE ? MIRAGE_OK : fail(tuning, code, "cannot be written", diag);
    sqlite3_finalize(statement);
  }
  if (status == MIRAGE_OK)
    *out_removed = (uint32_t)sqlite3_changes(tuning->db);
  if (status == MIRAGE_OK) // what was compiled by what was measured goes with it
    status = mirage__results_clear(tuning, prefix, diag, out_removed);
  if (status == MIRAGE_OK)
    return mirage__tuning_commit(tuning, diag);
  mirage__tuning_rollback(tuning);
  return status;
}
