// cache.c - compiled modules kept in the tuning database, for mirage_mlir/_cache.py.
//
//   cache_find(graph, target, options, gpu, driver) -> (text or None, what was wrong or None)
//   cache_store(graph, target, options, gpu, driver, text) -> what was wrong, or None
//   measured(graph, target) -> whether the database knows measurements of this program
//
// A database that cannot be used is no error: the search goes on without it, and the caller logs the sentence.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr
#endif
#include "python.h"

#include "mirage/tuning.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ------------------------------------------------------------------------------------------------------------ identity

static char identity[80];

/// The hash of this extension's file, in which all of the compiler is: another build has another one.
static void find_identity(void) {
  Dl_info info;
  FILE *file = dladdr((const void *)identity, &info) && info.dli_fname ? fopen(info.dli_fname, "rb") : NULL;
  XXH3_state_t *state = file ? XXH3_createState() : NULL;
  enum { ROOM = 1 << 20 };
  char *buffer = state ? malloc(ROOM) : NULL;
  if (buffer) {
    XXH3_64bits_reset(state);
    for (size_t got; (got = fread(buffer, 1, ROOM, file)) > 0;)
      XXH3_64bits_update(state, buffer, got);
    if (!ferror(file))
      snprintf(identity, sizeof identity, "%016llx", (unsigned long long)XXH3_64bits_digest(state));
  }
  free(buffer);
  XXH3_freeState(state);
  if (file)
    fclose(file);
}

/// Empty where it cannot be told; then nothing is kept.
static const char *get_identity(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_identity);
  return identity;
}

// ---------------------------------------------------------------------------------------------------------------- calls

static void append_any(void *user, MirageSeverity severity, const void *loc, const char *message) {
  const MirageDiag diag = messages_sink(user);
  diag.emit(diag.user, MIRAGE_SEVERITY_ERROR, loc, message);
}

static MirageTuning *open_database(bool writes, const MirageDiag *diag) {
  MirageTuning *tuning = NULL;
  char *path = mirage_tuning_path();
  if (path)
    mirage_tuning_open(path, writes, diag, &tuning);
  else if (writes)
    mirage_diag_emit(diag, MIRAGE_SEVERITY_ERROR, NULL,
                     "tuning database: no place for it: MIRAGE_TUNING_DB, XDG_CACHE_HOME or HOME names one");
  free(path);
  return tuning;
}

static PyObject *text_or_none(const char *text) { return text ? PyUnicode_FromString(text) : Py_NewRef(Py_None); }

PyObject *mirage_py_cache_find(PyObject *module, PyObject *args) {
  MirageResultKey key = {0};
  Messages messages = {0};
  const MirageDiag diag = {append_any, &messages};
  char *text = NULL;
  int driver;
  if (!PyArg_ParseTuple(args, "ssssi", &key.graph, &key.target, &key.options, &key.gpu, &driver))
    return NULL;
  key.driver = driver;
  Py_BEGIN_ALLOW_THREADS;
  key.version = get_identity();
  MirageTuning *tuning = *key.version ? open_database(false, &diag) : NULL;
  if (tuning)
    mirage_result_find(tuning, &key, &diag, &text);
  mirage_tuning_close(tuning);
  Py_END_ALLOW_THREADS;
  PyObject *result = Py_BuildValue("(NN)", text_or_none(text), text_or_none(messages.text));
  free(text);
  messages_free(&messages);
  return result;
}

PyObject *mirage_py_cache_store(PyObject *module, PyObject *args) {
  MirageResultKey key = {0};
  Messages messages = {0};
  const MirageDiag diag = {append_any, &messages};
  const char *text;
  char date[32];
  int driver;
  if (!PyArg_ParseTuple(args, "ssssis", &key.graph, &key.target, &key.options, &key.gpu, &driver, &text))
    return NULL;
  key.driver = driver;
  Py_BEGIN_ALLOW_THREADS;
  time_t now = time(NULL);
  struct tm utc;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
  key.version = get_identity();
  MirageTuning *tuning = *key.version ? open_database(true, &diag) : NULL;
  if (tuning)
    mirage_result_store(tuning, &key, text, date, &diag);
  mirage_tuning_close(tuning);
  Py_END_ALLOW_THREADS;
  PyObject *result = text_or_none(messages.text);
  messages_free(&messages);
  return result;
}

typedef struct Target {
  const char *name;
  bool found;
} Target;

static MirageStatus compare_target(void *user, const MirageTuningRecord *record) {
  Target *target = user;
  target->found |= strcmp(record->target, target->name) == 0;
  return MIRAGE_OK;
}

PyObject *mirage_py_measured(PyObject *module, PyObject *args) {
  const char *graph;
  Target target = {0};
  Messages messages = {0};
  const MirageDiag diag = {append_any, &messages};
  if (!PyArg_ParseTuple(args, "ss", &graph, &target.name))
    return NULL;
  MirageTuning *tuning = open_database(false, &diag); // what is wrong with it, cache_find or the passes say
  if (tuning)
    mirage_tuning_each(tuning, graph, &diag, compare_target, &target);
  mirage_tuning_close(tuning);
  messages_free(&messages);
  return PyBool_FromLong(target.found);
}
