// results.c - compiled modules in the tuning database, so that a program is searched once.
//
// Key:      the hash of the program's structure, target, options, version, and the GPU by which it was chosen.
// Damage:   a text stands beside its checksum; one that does not fit is reported, and is as good as none.
// Measured: a result remembers which measurements of its program there were. Where others have come since, measured or
//           imported, they may choose another graph, and the result is passed over.
// Room:     the table is made when the first result comes; the oldest results go when there are too many.
#define _XOPEN_SOURCE 700 // strdup
#include "tuning_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

static const size_t MOST_BYTES = 32u << 20;
#define ALL_BYTES "536870912" // 512 MiB

static const char CREATE[] =
    "CREATE TABLE IF NOT EXISTS results (graph TEXT NOT NULL, target TEXT NOT NULL, options TEXT NOT NULL, "
    "version TEXT NOT NULL, gpu TEXT NOT NULL, driver INTEGER NOT NULL, text TEXT NOT NULL, bytes INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL, measured TEXT NOT NULL, date TEXT NOT NULL, PRIMARY KEY (graph, target, options, "
    "version, gpu, driver))";

// Which measurements of program ?1 on target ?2 there are.
#define MEASURED                                                                                                       \
  "(SELECT coalesce(group_concat(options || version || gpu || driver || date), '') FROM (SELECT * FROM tuning "        \
  "WHERE graph = ?1 AND target = ?2 ORDER BY options, version, gpu, driver))"

static MirageStatus prepare(const MirageTuning *tuning, const char *sql, const MirageDiag *diag, sqlite3_stmt **out) {
  int code = sqlite3_prepare_v2(tuning->db, sql, -1, out, NULL);
  return code == SQLITE_OK ? MIRAGE_OK : mirage__tuning_fail(tuning, code, "cannot be read", diag);
}

static MirageStatus execute(const MirageTuning *tuning, const char *sql, const char *what, const MirageDiag *diag) {
  int code = sqlite3_exec(tuning->db, sql, NULL, NULL, NULL);
  return code == SQLITE_OK ? MIRAGE_OK : mirage__tuning_fail(tuning, code, what, diag);
}

static bool has_results(MirageTuning *tuning) {
  sqlite3_stmt *statement = NULL;
  static const char sql[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'results'";
  int code = sqlite3_prepare_v2(tuning->db, sql, -1, &statement, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_step(statement);
  sqlite3_finalize(statement);
  return code == SQLITE_ROW;
}

// ?1 to ?6 of each statement.
static void bind_key(sqlite3_stmt *statement, const MirageResultKey *key) {
  const char *texts[] = {key->graph, key->target, key->options, key->version, key->gpu};
  for (int i = 0; i < 5; i++)
    sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_TRANSIENT);
  sqlite3_bind_int(statement, 6, key->driver);
}

static sqlite3_int64 checksum_of(const char *text, size_t length) {
  uint64_t hash = XXH3_64bits(text, length);
  sqlite3_int64 bits;
  memcpy(&bits, &hash, sizeof bits);
  return bits;
}

// ------------------------------------------------------------------------------------------------------------- finding

static MirageStatus take_text(const MirageTuning *tuning, sqlite3_stmt *row, const MirageResultKey *key,
                              const MirageDiag *diag, char **out_text) {
  const char *text = (const char *)sqlite3_column_text(row, 0);
  size_t length = (size_t)sqlite3_column_bytes(row, 0);
  if (!text || strlen(text) != length || checksum_of(text, length) != sqlite3_column_int64(row, 1)) {
    mirage_diag_emit(
        diag, MIRAGE_SEVERITY_WARNING, NULL,
        "tuning database: %s: the result for %s is damaged; it is left out (mirage-tune clear %s forgets it)",
        tuning->path, key->graph, key->graph);
    return MIRAGE_OK;
  }
  *out_text = strdup(text);
  return *out_text ? MIRAGE_OK : MIRAGE_NO_MEMORY;
}

MirageStatus mirage_result_find(MirageTuning *tuning, const MirageResultKey *key, const MirageDiag *diag,
                                char **out_text) {
  static const char sql[] = "SELECT text, checksum FROM results WHERE graph = ?1 AND target = ?2 AND options = ?3 AND "
                            "version = ?4 AND gpu = ?5 "
                            "AND driver = ?6 AND measured = " MEASURED;
  sqlite3_stmt *statement;
  *out_text = NULL;
  if (!has_results(tuning))
    return MIRAGE_OK;
  MIRAGE_TRY(prepare(tuning, sql, diag, &statement));
  bind_key(statement, key);
  int code = sqlite3_step(statement);
  MirageStatus status = MIRAGE_OK;
  if (code == SQLITE_ROW)
    status = take_text(tuning, statement, key, diag, out_text);
  else if (code != SQLITE_DONE)
    status = mirage__tuning_fail(tuning, code, "cannot be read", diag);
  sqlite3_finalize(statement);
  return status;
}

// ------------------------------------------------------------------------------------------------------------- storing

static MirageStatus put(MirageTuning *tuning, const MirageResultKey *key, const char *text, const char *date,
                        const MirageDiag *diag) {
  static const char sql[] =
      "INSERT OR REPLACE INTO results (graph, target, options, version, gpu, driver, text, bytes, checksum, date, "
      "measured) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, " MEASURED ")";
  sqlite3_stmt *statement;
  size_t length = strlen(text);
  MIRAGE_TRY(prepare(tuning, sql, diag, &statement));
  bind_key(statement, key);
  sqlite3_bind_text(statement, 7, text, (int)length, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 8, (sqlite3_int64)length);
  sqlite3_bind_int64(statement, 9, checksum_of(text, length));
  sqlite3_bind_text(statement, 10, date, -1, SQLITE_TRANSIENT);
  int code = sqlite3_step(statement);
  MirageStatus status = code == SQLITE_DONE ? MIRAGE_OK : mirage__tuning_fail(tuning, code, "cannot be written", diag);
  sqlite3_finalize(statement);
  return status;
}

// Keeps the newest that fit.
static const char TRIM[] = "DELETE FROM results WHERE rowid IN (SELECT rowid FROM (SELECT rowid, sum(bytes) OVER "
                           "(ORDER BY date DESC, rowid DESC) "
                           "AS behind FROM results) WHERE behind > " ALL_BYTES ")";

MirageStatus mirage_result_store(MirageTuning *tuning, const MirageResultKey *key, const char *text, const char *date,
                                 const MirageDiag *diag) {
  if (strlen(text) > MOST_BYTES)
    return MIRAGE_OK;
  MIRAGE_TRY(mirage__tuning_begin(tuning, diag));
  MirageStatus status = execute(tuning, CREATE, "cannot make its table of results", diag);
  if (status == MIRAGE_OK)
    status = put(tuning, key, text, date, diag);
  if (status == MIRAGE_OK)
    status = execute(tuning, TRIM, "cannot be written", diag);
  if (status == MIRAGE_OK)
    return mirage__tuning_commit(tuning, diag);
  mirage__tuning_rollback(tuning);
  return status;
}

// ---------------------------------------------------------------------------------------------------- listing, clearing

static const char *column_text(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text ? text : "";
}

MirageStatus mirage_result_each(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                MirageResultVisit visit, void *user) {
  static const char sql[] = "SELECT graph, target, options, version, gpu, driver, bytes, date FROM results "
                            "WHERE substr(graph, 1, length(?1)) = ?1 "
                            "ORDER BY date, graph, target, options, version, gpu, driver";
  sqlite3_stmt *row;
  if (!has_results(tuning))
    return MIRAGE_OK;
  MIRAGE_TRY(prepare(tuning, sql, diag, &row));
  sqlite3_bind_text(row, 1, prefix, -1, SQLITE_TRANSIENT);
  MirageStatus status = MIRAGE_OK;
  int code;
  while ((code = sqlite3_step(row)) == SQLITE_ROW && status == MIRAGE_OK) {
    const MirageResult result = {.key = {.graph = column_text(row, 0),
                                         .target = column_text(row, 1),
                                         .options = column_text(row, 2),
                                         .version = column_text(row, 3),
                                         .gpu = column_text(row, 4),
                                         .driver = sqlite3_column_int(row, 5)},
                                 .bytes = (uint64_t)sqlite3_column_int64(row, 6),
                                 .date = column_text(row, 7)};
    status = visit(user, &result);
  }
  if (status == MIRAGE_OK && code != SQLITE_DONE)
    status = mirage__tuning_fail(tuning, code, "cannot be read", diag);
  sqlite3_finalize(row);
  return status;
}

MirageStatus mirage__results_clear(MirageTuning *tuning, const char *prefix, const MirageDiag *diag,
                                   uint32_t *out_removed) {
  static const char sql[] = "DELETE FROM results WHERE substr(graph, 1, length(?1)) = ?1";
  sqlite3_stmt *statement;
  if (!has_results(tuning))
    return MIRAGE_OK;
  MIRAGE_TRY(prepare(tuning, sql, diag, &statement));
  sqlite3_bind_text(statement, 1, prefix, -1, SQLITE_TRANSIENT);
  int code = sqlite3_step(statement);
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE)
    return mirage__tuning_fail(tuning, code, "cannot be written", diag);
  *out_removed += (uint32_t)sqlite3_changes(tuning->db);
  return MIRAGE_OK;
}
