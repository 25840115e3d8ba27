// test_tuning.c - the tuning database and the programs run beside this one, where files and flags cannot reach them.
#define _XOPEN_SOURCE 700 // mkdtemp, fork
#include "mirage/tuning.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

static char last_message[1024];
static void remember(void *user, MirageSeverity severity, const void *loc, const char *message) {
  snprintf(last_message, sizeof last_message, "%s", message);
}
static const MirageDiag diag = {remember, NULL};

static char folder[256], path[300];
static int set_up(void **state) {
  snprintf(folder, sizeof folder, "/tmp/mirage-test-tuning-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/t.db", folder);
  return 0;
}
static int tear_down(void **state) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (int i = 0; i < 4; i++) {
    char file[320];
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    unlink(file);
  }
  return rmdir(folder);
}

static const MirageTuningRecord record = {.graph = "0123456789abcdef0123456789abcdef",
                                          .target = "h200",
                                          .options = "",
                                          .version = "1",
                                          .gpu = "A",
                                          .driver = 13000,
                                          .choice = "",
                                          .hash = "",
                                          .text = "",
                                          .time_us = 2,
                                          .own_us = 2,
                                          .measured = "[]",
                                          .date = "2026-01-01T00:00:00Z"};

static MirageTuning *open_for_writing(void) {
  MirageTuning *tuning;
  if (mirage_tuning_open(path, true, &diag, &tuning) != MIRAGE_OK)
    fail_msg("%s", last_message);
  return tuning;
}

static double time_found(MirageTuning *tuning, const MirageTuningRecord *key) {
  MirageTuningRecord *found;
  assert_int_equal(mirage_tuning_find(tuning, key, &diag, &found), MIRAGE_OK);
  double time_us = found ? found->time_us : -1;
  mirage_tuning_free(found);
  return time_us;
}

// ------------------------------------------------------------------------------------------------------------ database

static void test_key(void **state) {
  MirageTuning *tuning = open_for_writing();
  MirageTuningRecord other = record, key = record;
  assert_int_equal(mirage_tuning_store(tuning, &record, &diag), MIRAGE_OK);
  other.driver = 12000;
  other.time_us = 3;
  other.date = "2026-02-01T00:00:00Z";
  assert_int_equal(mirage_tuning_store(tuning, &other, &diag), MIRAGE_OK);
  assert_float_equal(time_found(tuning, &key), 2, 0);
  key.driver = 12000;
  assert_float_equal(time_found(tuning, &key), 3, 0);
  key.driver = 0; // any: the newest
  key.gpu = NULL;
  assert_float_equal(time_found(tuning, &key), 3, 0);
  const struct {
    const char **field, *value;
  } misses[] = {{&key.graph, "0"}, {&key.target, "a100"}, {&key.options, "x"}, {&key.version, "2"}, {&key.gpu, "B"}};
  for (size_t i = 0; i < sizeof misses / sizeof *misses; i++) {
    const char *kept = *misses[i].field;
    *misses[i].field = misses[i].value;
    assert_float_equal(time_found(tuning, &key), -1, 0);
    *misses[i].field = kept;
  }
  other.time_us = 4; // replaces the one of its key
  assert_int_equal(mirage_tuning_store(tuning, &other, &diag), MIRAGE_OK);
  assert_float_equal(time_found(tuning, &key), 4, 0);
  uint32_t removed = 0;
  assert_int_equal(mirage_tuning_clear(tuning, "", &diag, &removed), MIRAGE_OK);
  assert_int_equal(removed, 2);
  assert_float_equal(time_found(tuning, &key), -1, 0);
  mirage_tuning_close(tuning);
}

static void test_reading_makes_nothing(void **state) {
  MirageTuning *tuning = (MirageTuning *)&diag;
  assert_int_equal(mirage_tuning_open(path, false, &diag, &tuning), MIRAGE_OK);
  assert_null(tuning);
  assert_int_not_equal(access(path, F_OK), 0);
}

// A folder that cannot be written to: the sentence says what helps. Root may write anywhere, so a file stands in the
// way.
static void test_no_place(void **state) {
  char below[340];
  MirageTuning *tuning = open_for_writing();
  mirage_tuning_close(tuning);
  snprintf(below, sizeof below, "%s/x.db", path);
  assert_int_equal(mirage_tuning_open(below, true, &diag, &tuning), MIRAGE_IO);
  assert_null(tuning);
  assert_non_null(strstr(last_message, "MIRAGE_TUNING_DB"));
}

static void test_damaged(void **state) {
  MirageTuning *tuning = open_for_writing();
  assert_int_equal(mirage_tuning_store(tuning, &record, &diag), MIRAGE_OK);
  mirage_tuning_close(tuning); // the last to close puts the log into the file
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  fwrite("not a database at all", 1, 21, file);
  fclose(file);
  assert_int_equal(mirage_tuning_open(path, false, &diag, &tuning), MIRAGE_IO);
  assert_non_null(strstr(last_message, "it is left as it is"));
}

static void test_many_writers(void **state) {
  enum { WRITERS = 8, RECORDS = 25 };
  for (int writer = 0; writer < WRITERS; writer++)
    if (fork() == 0) {
      MirageTuning *tuning;
      bool ok = mirage_tuning_open(path, true, NULL, &tuning) == MIRAGE_OK;
      for (int i = 0; ok && i < RECORDS; i++) {
        char graph[33];
        MirageTuningRecord one = record;
        snprintf(graph, sizeof graph, "%016x%016x", writer, i);
        one.graph = graph;
        ok = mirage_tuning_store(tuning, &one, NULL) == MIRAGE_OK;
      }
      _Exit(!ok);
    }
  for (int i = 0, status; i < WRITERS; i++) {
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  MirageTuning *tuning = open_for_writing();
  uint32_t removed = 0;
  assert_int_equal(mirage_tuning_clear(tuning, "", &diag, &removed), MIRAGE_OK);
  assert_int_equal(removed, WRITERS * RECORDS);
  mirage_tuning_close(tuning);
}

// ------------------------------------------------------------------------------------------------------------- results

static const MirageResultKey result_key = {.graph = "0123456789abcdef0123456789abcdef",
                                           .target = "h200",
                                           .options = "seed=1",
                                           .version = "1 code",
                                           .gpu = "",
                                           .driver = 0};
static const char now[] = "2026-03-01T00:00:00Z";

/// Whether `text` is what is found; NULL = nothing.
static void assert_result(MirageTuning *tuning, const MirageResultKey *key, const char *text) {
  char *found = (char *)&diag;
  assert_int_equal(mirage_result_find(tuning, key, &diag, &found), MIRAGE_OK);
  if (text && found)
    assert_string_equal(found, text);
  else
    assert_ptr_equal(found, text);
  free(found);
}

static void test_result_key(void **state) {
  MirageTuning *tuning = open_for_writing();
  MirageResultKey key = result_key;
  assert_result(tuning, &key, NULL); // there is no table yet
  assert_int_equal(mirage_result_store(tuning, &key, "module {}", now, &diag), MIRAGE_OK);
  assert_result(tuning, &key, "module {}");
  const char **fields[] = {&key.graph, &key.target, &key.options, &key.version, &key.gpu};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const char *kept = *fields[i];
    *fields[i] = "other";
    assert_result(tuning, &key, NULL);
    *fields[i] = kept;
  }
  key.driver = 13000;
  assert_result(tuning, &key, NULL);
  key.driver = 0;
  assert_int_equal(mirage_result_store(tuning, &key, "module { }", now, &diag), MIRAGE_OK); // replaces it
  assert_result(tuning, &key, "module { }");
  mirage_tuning_close(tuning);
}

// What was measured or forgotten since may choose another graph, whatever its date: an import brings old ones.
static void test_result_and_measurements(void **state) {
  MirageTuning *tuning = open_for_writing();
  MirageTuningRecord other = record;
  uint32_t removed = 0;
  assert_int_equal(mirage_result_store(tuning, &result_key, "before", now, &diag), MIRAGE_OK);
  other.target = "a100"; // tells nothing of an H200
  assert_int_equal(mirage_tuning_store(tuning, &other, &diag), MIRAGE_OK);
  assert_result(tuning, &result_key, "before");
  assert_int_equal(mirage_tuning_store(tuning, &record, &diag), MIRAGE_OK);
  assert_result(tuning, &result_key, NULL);
  assert_int_equal(mirage_result_store(tuning, &result_key, "after", now, &diag), MIRAGE_OK);
  assert_result(tuning, &result_key, "after");
  assert_int_equal(mirage_tuning_clear(tuning, "0123", &diag, &removed), MIRAGE_OK);
  assert_int_equal(removed, 3); // two records and a result
  assert_result(tuning, &result_key, NULL);
  mirage_tuning_close(tuning);
}

static MirageStatus count_bytes(void *user, const MirageResult *result) {
  *(uint64_t *)user += result->bytes;
  return MIRAGE_OK;
}

static void change_file(const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void test_result_damaged(void **state) {
  MirageTuning *tuning = open_for_writing();
  assert_int_equal(mirage_result_store(tuning, &result_key, "module {}", now, &diag), MIRAGE_OK);
  change_file("UPDATE results SET text = 'module { }'");
  last_message[0] = '\0';
  assert_result(tuning, &result_key, NULL);
  assert_non_null(strstr(last_message, "is damaged; it is left out"));
  mirage_tuning_close(tuning);
}

// Rows say what they take: three that claim 200 MiB each are one too many, and the oldest goes.
static void test_result_room(void **state) {
  static const char *const dates[] = {"2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-03T00:00:00Z"};
  static const char *const graphs[] = {"a", "b", "c"};
  MirageTuning *tuning = open_for_writing();
  MirageResultKey key = result_key;
  uint64_t bytes = 0;
  for (int i = 0; i < 3; i++) {
    key.graph = graphs[i];
    assert_int_equal(mirage_result_store(tuning, &key, "x", dates[i], &diag), MIRAGE_OK);
  }
  change_file("UPDATE results SET bytes = 209715200");
  assert_int_equal(mirage_result_store(tuning, &result_key, "y", "2026-03-04T00:00:00Z", &diag), MIRAGE_OK);
  assert_int_equal(mirage_result_each(tuning, "", &diag, count_bytes, &bytes), MIRAGE_OK);
  assert_int_equal(bytes, 2 * 209715200 + 1);
  key.graph = "b";
  assert_result(tuning, &key, NULL);
  key.graph = "a";
  assert_result(tuning, &key, "x");
  char *large = malloc((33u << 20) + 1);
  assert_non_null(large);
  memset(large, 'x', 33u << 20);
  large[33u << 20] = '\0';
  key.graph = "large";
  assert_int_equal(mirage_result_store(tuning, &key, large, now, &diag), MIRAGE_OK);
  assert_result(tuning, &key, NULL);
  free(large);
  mirage_tuning_close(tuning);
}

// ----------------------------------------------------------------------------------------------------------- processes

static MirageJob shell(const char *const argv[static 4]) { return (MirageJob){.argv = argv}; }
#define SHELL(text) shell((const char *const[]){"/bin/sh", "-c", text, NULL})

static void test_ends(void **state) {
  MirageJob jobs[] = {SHELL("echo out; echo err >&2; exit 3"),
                      SHELL("kill -SEGV $$"),
                      SHELL("sleep 60"),
                      {.argv = (const char *const[]){"/nowhere/at/all", NULL}},
                      SHELL("yes | head -c 3000000")};
  assert_int_equal(mirage_jobs_run(5, jobs, 3, 5, NULL, &diag), MIRAGE_OK);
  assert_int_equal(jobs[0].end, MIRAGE_JOB_EXITED);
  assert_int_equal(jobs[0].code, 3);
  assert_string_equal(jobs[0].output, "out\n");
  assert_string_equal(jobs[0].errors, "err\n");
  assert_int_equal(jobs[1].end, MIRAGE_JOB_SIGNALLED);
  assert_int_equal(jobs[1].code, SIGSEGV);
  assert_int_equal(jobs[2].end, MIRAGE_JOB_SILENT);
  assert_int_equal(jobs[3].end, MIRAGE_JOB_NOT_STARTED);
  assert_int_equal(jobs[4].end, MIRAGE_JOB_EXITED);
  assert_int_equal(strlen(jobs[4].output), 1 << 20);
  mirage_jobs_deinit(5, jobs);
}

// One that goes on writing is alive, however long it takes.
static void test_signs_of_life(void **state) {
  MirageJob jobs[] = {SHELL("for i in $(seq 20); do echo $i; sleep 0.2; done")};
  assert_int_equal(mirage_jobs_run(1, jobs, 1, 3, NULL, &diag), MIRAGE_OK);
  assert_int_equal(jobs[0].end, MIRAGE_JOB_EXITED);
  mirage_jobs_deinit(1, jobs);
}

static void test_cancelled(void **state) {
  const MirageCancel cancel = {.deadline = mirage_clock() + 0.2};
  MirageJob jobs[] = {SHELL("sleep 60"), SHELL("sleep 60")};
  assert_int_equal(mirage_jobs_run(2, jobs, 1, 0, &cancel, &diag), MIRAGE_OK);
  assert_int_equal(jobs[0].end, MIRAGE_JOB_CANCELLED);
  assert_int_equal(jobs[1].end, MIRAGE_JOB_CANCELLED);
  mirage_jobs_deinit(2, jobs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_key, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_reading_makes_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_no_place, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_many_writers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_result_key, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_result_and_measurements, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_result_damaged, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_result_room, set_up, tear_down),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_signs_of_life),
      cmocka_unit_test(test_cancelled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
