// run.c - a pipeline of passes over a module's text.
//
// The passes run in a thread of their own, without the GIL. The calling thread waits for it, tells a callback how far it has
// come, and lets Python's signal handlers run: an exception of theirs (Ctrl-C) asks the passes to end with the best that
// they have, as mirage-mlir-opt does; whoever called decides what to make of it. A second one does no more.
//
//   run(text, pipeline, progress=None) -> (ok, text, [(severity, line, column, message)], interrupted)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // pthread_cond_clockwait
#endif
#include "python.h"

#include "mirage-c/Passes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Pass.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES = 64 << 20, LOOK_MS = 50 };

typedef struct Note {
  struct Note *next;
  int severity; // MlirDiagnosticSeverity
  int64_t line, column;
  char text[];
} Note;

typedef struct Run {
  const char *text, *pipeline;
  Py_ssize_t length;
  // Under `lock`.
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool done;
  char *event; // the newest that nobody was told of, JSON; or NULL
  char *found; // the newest "search" event, which is never replaced by one of progress
  // The thread's until `done`.
  bool ok, no_memory;
  Text printed;
  Note *first, *last;
} Run;

// One interrupt is for all passes of the process; the last run that ends takes it back.
static pthread_mutex_t runs_lock = PTHREAD_MUTEX_INITIALIZER;
static int num_runs;

static void runs_begin(void) {
  pthread_mutex_lock(&runs_lock);
  num_runs++;
  pthread_mutex_unlock(&runs_lock);
}

static void runs_end(void) {
  pthread_mutex_lock(&runs_lock);
  if (--num_runs == 0)
    mirageClearInterrupt();
  pthread_mutex_unlock(&runs_lock);
}

PyObject *mirage_py_interrupt(PyObject *module, PyObject *args) {
  pthread_mutex_lock(&runs_lock);
  bool heeded = num_runs > 0;
  if (heeded) // else it would end the next run before it began
    mirageInterrupt();
  pthread_mutex_unlock(&runs_lock);
  return PyBool_FromLong(heeded);
}

// ---------------------------------------------------------------------------------------------------- the passes' thread

static MlirLogicalResult keep_note(MlirDiagnostic diagnostic, void *user) {
  Run *run = user;
  Text text = {0};
  mlirDiagnosticPrint(diagnostic, text_append, &text);
  Note *note = text.no_memory ? NULL : malloc(sizeof *note + text.length + 1);
  if (note) {
    MlirLocation loc = mlirDiagnosticGetLocation(diagnostic);
    bool placed = mlirLocationIsAFileLineColRange(loc);
    *note = (Note){.severity = (int)mlirDiagnosticGetSeverity(diagnostic),
                   .line = placed ? mlirLocationFileLineColRangeGetStartLine(loc) : 0,
                   .column = placed ? mlirLocationFileLineColRangeGetStartColumn(loc) : 0};
    memcpy(note->text, text.data ? text.data : "", text.length + 1);
    *(run->last ? &run->last->next : &run->first) = note;
    run->last = note;
  }
  run->no_memory |= !note;
  free(text.data);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    keep_note(mlirDiagnosticGetNote(diagnostic, i), user);
  return mlirLogicalResultSuccess();
}

static void keep_event(MlirStringRef json, void *user) {
  static const char search[] = "{\"event\":\"search\"";
  Run *run = user;
  char *copy = malloc(json.length + 1);
  if (!copy)
    return;
  memcpy(copy, json.data, json.length);
  copy[json.length] = '\0';
  bool is_found = json.length > sizeof search && !memcmp(copy, search, sizeof search - 1);
  pthread_mutex_lock(&run->lock);
  char **place = is_found ? &run->found : &run->event, *old = *place;
  *place = copy;
  pthread_cond_signal(&run->changed);
  pthread_mutex_unlock(&run->lock);
  free(old);
}

static void keep_error(MlirStringRef part, void *user) { text_append(part, user); }

static bool run_passes(Run *run, MlirContext context, MlirModule module) {
  MlirPassManager manager = mlirPassManagerCreate(context);
  Text problem = {0};
  bool ok = mlirLogicalResultIsSuccess(mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(manager),
                                                             string_ref(run->pipeline), keep_error, &problem));
  if (!ok)
    mlirEmitError(mlirLocationUnknownGet(context), problem.data ? problem.data : "the pipeline cannot be read");
  free(problem.data);
  ok = ok && mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(manager);
  return ok;
}

static void *run_thread(void *user) {
  Run *run = user;
  MlirContext context = context_create();
  mlirContextAttachDiagnosticHandler(context, keep_note, run, NULL);
  mirageSetEventCallback(keep_event, run);
  MlirModule module = module_parse(context, run->text, run->length);
  if (!mlirModuleIsNull(module)) {
    run->ok = run_passes(run, context, module);
    if (run->ok)
      mlirOperationPrint(mlirModuleGetOperation(module), text_append, &run->printed);
    mlirModuleDestroy(module);
  }
  mirageSetEventCallback(NULL, NULL);
  mlirContextDestroy(context);
  pthread_mutex_lock(&run->lock);
  run->done = true;
  pthread_cond_signal(&run->changed);
  pthread_mutex_unlock(&run->lock);
  return NULL;
}

// ---------------------------------------------------------------------------------------------------- the caller's thread

static int start_thread(Run *run, pthread_t *out_thread) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, STACK_BYTES);
  int error = pthread_create(out_thread, &attr, run_thread, run);
  pthread_attr_destroy(&attr);
  return error;
}

/// Waits a little without the GIL. Takes what there is to tell; true when the passes have ended.
static bool wait_a_little(Run *run, char **out_event, char **out_found) {
  struct timespec until;
  bool done;
  Py_BEGIN_ALLOW_THREADS;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += LOOK_MS * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&run->lock);
  if (!run->done && !run->event && !run->found)
    pthread_cond_clockwait(&run->changed, &run->lock, CLOCK_MONOTONIC, &until);
  done = run->done;
  *out_event = run->event;
  *out_found = run->found;
  run->event = run->found = NULL;
  pthread_mutex_unlock(&run->lock);
  Py_END_ALLOW_THREADS;
  return done;
}

static bool tell(PyObject *progress, char *event) {
  PyObject *result = NULL;
  if (event && progress != Py_None)
    result = PyObject_CallFunction(progress, "s", event);
  bool ok = !event || progress == Py_None || result;
  Py_XDECREF(result);
  free(event);
  return ok;
}

/// True where `fine`. Else takes the exception that is set, before anything else is called: it ends the passes, and is kept in
/// `out_error` unless it is Ctrl-C's or a second one.
static bool heed(bool fine, PyObject *out_error[3]) {
  if (fine)
    return true;
  mirageInterrupt();
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) || out_error[0])
    PyErr_Clear();
  else
    PyErr_Fetch(&out_error[0], &out_error[1], &out_error[2]);
  return false;
}

/// True where nothing interrupted it.
static bool wait_for(Run *run, PyObject *progress, PyObject *out_error[3]) {
  bool done = false, calm = true;
  while (!done) {
    char *event, *found;
    done = wait_a_little(run, &event, &found);
    calm = heed(tell(progress, event), out_error) && calm;
    calm = heed(tell(progress, found), out_error) && calm;
    calm = heed(PyErr_CheckSignals() == 0, out_error) && calm;
  }
  return calm;
}

static PyObject *notes_list(const Run *run) {
  static const char *const names[] = {"error", "warning", "note", "remark"}; // by MlirDiagnosticSeverity
  PyObject *list = PyList_New(0);
  for (const Note *note = run->first; list && note; note = note->next) {
    PyObject *item =
        Py_BuildValue("(sLLs)", names[note->severity], (long long)note->line, (long long)note->column, note->text);
    if (!item || PyList_Append(list, item) != 0)
      Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static void run_free(Run *run) {
  for (Note *note = run->first, *next; note; note = next) {
    next = note->next;
    free(note);
  }
  free(run->printed.data);
  free(run->event);
  free(run->found);
  pthread_cond_destroy(&run->changed);
  pthread_mutex_destroy(&run->lock);
}

static PyObject *run_result(const Run *run, bool calm) {
  if (run->no_memory || run->printed.no_memory)
    return PyErr_NoMemory();
  PyObject *notes = notes_list(run);
  if (!notes)
    return NULL;
  return Py_BuildValue("(Os#NO)", run->ok ? Py_True : Py_False, run->printed.data ? run->printed.data : "",
                       (Py_ssize_t)run->printed.length, notes, calm ? Py_False : Py_True);
}

PyObject *mirage_py_run(PyObject *module, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"text", "pipeline", "progress", NULL};
  Run run = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  PyObject *progress = Py_None, *error[3] = {NULL}, *result = NULL;
  pthread_t thread;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#s|O", names, &run.text, &run.length, &run.pipeline, &progress))
    return NULL;
  runs_begin();
  int failure = start_thread(&run, &thread);
  if (failure == 0) {
    bool calm = wait_for(&run, progress, error) && !mirageWasInterrupted(); // by this thread's Ctrl-C, or by another's
    pthread_join(thread, NULL);
    calm = calm && !mirageWasInterrupted(); // by another thread's Ctrl-C
    result = error[0] ? NULL : run_result(&run, calm);
    if (error[0])
      PyErr_Restore(error[0], error[1], error[2]);
  } else {
    PyErr_Format(PyExc_OSError, "no thread could be started: %s", strerror(failure));
  }
  runs_end();
  run_free(&run);
  return result;
}
