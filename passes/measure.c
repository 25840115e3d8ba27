// measure.c - compiles candidates and has them measured by other processes.
//
// Order:   the program's own lowering and all candidates are compiled here, in parallel (mirage_codegen_all), and go to
//          files; `mirage-tune --measure` runs them (tools/tune_worker.c). A few processes share the candidates. They prepare
//          side by side and take turns on the GPU.
// Safety:  this process never touches the GPU beyond asking what it is. A process that crashes, is silent for too long
//          or answers nonsense is a reason at its candidate.
// Alone:   a candidate is given up only after a process that began with it: one that came behind another, and has
//          no answer or a bad one, is measured again.
// The tool is MIRAGE_TUNE_TOOL, else what mirageSetMeasureCommand was told, else mirage-tune beside this program, beside
// this library, or in PATH.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr, mkdtemp
#endif
#include "measure.h"

#include "mirage-c/Passes.h"
#include "mirage/canonical.h"
#include "mirage/codegen.h"
#include "mirage/layout.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Measurer {
  MirageModuleGraphs *graphs;
  MirageModuleGraph *program;
  const MirageMeasureOptions *options;
  uint32_t num;
  MirageMeasurement *measurements;
  MirageUGraph **copies;  // [num + 1]: the own lowering, then the candidates; as compiled
  MirageCodegenJob *code; // [num + 1]
  MirageHeld *held;       // [num + 1]
  char folder[PATH_MAX];
  char tool[PATH_MAX];
} Measurer;

// ---------------------------------------------------------------------------------------------------------------
// device

typedef struct Reason {
  char *text;
  size_t size;
} Reason;

static void keep_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Reason *reason = user;
  snprintf(reason->text, reason->size, "%s", message);
}

bool mirage__measure_possible(const MirageTarget *target, MirageDeviceInfo *out_info, char *text, size_t size) {
  Reason reason = {text, size};
  const MirageDiag diag = {keep_reason, &reason};
  if (mirage_device_probe(0, &diag, out_info) != MIRAGE_OK)
    return false;
  // PTX of an architecture with an `a` behind it runs there alone; other PTX on all newer ones.
  bool exact = strchr(target->chip, 'a') != NULL;
  int32_t there = out_info->compute_major * 10 + out_info->compute_minor;
  int32_t wanted = target->compute_major * 10 + target->compute_minor;
  if (there == wanted || (!exact && there > wanted))
    return true;
  snprintf(text, size, "device: %s has compute capability %d.%d, code for %s needs %d.%d", out_info->name,
           out_info->compute_major, out_info->compute_minor, target->name, target->compute_major,
           target->compute_minor);
  return false;
}

// -----------------------------------------------------------------------------------------------------------------
// tool

static bool is_tool(const char *path) { return access(path, X_OK) == 0; }

// The folder of `file`, with `rest` behind it.
static bool try_beside(const char *file, const char *rest, char *out, size_t size) {
  const char *slash = strrchr(file, '/');
  return slash && snprintf(out, size, "%.*s%s", (int)(slash - file), file, rest) < (int)size && is_tool(out);
}

static bool try_path(char *out, size_t size) {
  for (const char *at = getenv("PATH"); at && *at;) {
    size_t length = strcspn(at, ":");
    if (length && snprintf(out, size, "%.*s/mirage-tune", (int)length, at) < (int)size && is_tool(out))
      return true;
    at += length + (at[length] == ':');
  }
  return false;
}

static char **command; // of mirageSetMeasureCommand, NULL at its end
static size_t command_length;

bool mirageSetMeasureCommand(intptr_t count, const char *const *arguments) {
  char **copy = count > 0 ? calloc((size_t)count, sizeof *copy) : NULL;
  bool all = copy != NULL;
  for (intptr_t i = 0; copy && i < count; i++) {
    copy[i] = strdup(arguments[i]);
    all = all && copy[i];
  }
  char **old = all ? command : copy;
  for (size_t i = 0, n = all ? command_length : (size_t)count; old && i < n; i++)
    free(old[i]);
  free(old);
  if (all) {
    command = copy;
    command_length = (size_t)count;
  }
  return all;
}

static MirageStatus find_tool(Measurer *measurer) {
  const size_t size = sizeof measurer->tool;
  const char *given = getenv("MIRAGE_TUNE_TOOL");
  char self[PATH_MAX] = "";
  Dl_info library = {0};
  if (given && *given) {
    snprintf(measurer->tool, size, "%s", given);
    if (is_tool(given))
      return MIRAGE_OK;
    return mirage_diag_fail(measurer->graphs->diag, NULL, MIRAGE_IO, "measure: MIRAGE_TUNE_TOOL=%s: %s", given,
                            strerror(errno));
  }
  if (command)
    return MIRAGE_OK;
  if (readlink("/proc/self/exe", self, sizeof self - 1) > 0 && try_beside(self, "/mirage-tune", measurer->tool, size))
    return MIRAGE_OK;
  if (dladdr(&MIRAGE_NUM_PASSES, &library) && library.dli_fname &&
      try_beside(library.dli_fname, "/../bin/mirage-tune", measurer->tool, size))
    return MIRAGE_OK;
  if (try_path(measurer->tool, size))
    return MIRAGE_OK;
  return mirage_diag_fail(measurer->graphs->diag, NULL, MIRAGE_IO,
                          "measure: mirage-tune is neither beside this program nor in PATH; MIRAGE_TUNE_TOOL names it");
}

// ------------------------------------------------------------------------------------------------------------
// compiling

/// A copy of the candidate as mirage-lower would compile it.
static MirageStatus copy_candidate(const Measurer *measurer, const MirageModuleGraph *entry, const MirageDiag *diag,
                                   MirageUGraph **out_copy) {
  const MirageTarget *target = measurer->options->target;
  MIRAGE_TRY(mirage_canonicalize(entry->graph, target, diag, out_copy));
  MirageGraphMeta *meta = mirage_ugraph_meta(*out_copy);
  meta->name = mirage_ugraph_intern_string(*out_copy, entry->name);
  meta->source = mirage_ugraph_intern_string(*out_copy, entry->source);
  meta->cost = mirage_ugraph_get_meta(entry->graph)->cost; // the worker asks how much power it may draw
  return mirage_layout_plan(*out_copy, target, diag);
}

static MirageStatus copy_own(const Measurer *measurer, const MirageDiag *diag, MirageUGraph **out_copy) {
  const MirageDiag *outer = measurer->graphs->diag;
  measurer->graphs->diag = diag;
  MirageStatus status =
      mirage__own_lowering(measurer->graphs, measurer->program->graph, measurer->options->target, out_copy);
  measurer->graphs->diag = outer;
  return status;
}

static void fail_candidate(MirageMeasurement *measurement, const char *what, const MirageHeld *held) {
  const char *why = mirage__held_error(held);
  snprintf(measurement->reason, sizeof measurement->reason, "%s%s%s", what, why ? ": " : "", why ? why : "");
}

static uint64_t code_hash(const Measurer *measurer, uint32_t index) {
  const MirageCodegenJob *job = &measurer->code[index];
  return job->code.ptx ? mirage_code_hash(measurer->copies[index], &job->code) : 0;
}

static void note_codes(Measurer *measurer) {
  for (uint32_t i = 1; i <= measurer->num; i++) {
    measurer->measurements[i - 1].own_code = code_hash(measurer, 0);
    measurer->measurements[i - 1].code = code_hash(measurer, i);
  }
}

static MirageStatus compile_all(Measurer *measurer) {
  const MirageCancel cancel = {.interrupt = mirage__interrupt_flag()};
  const MirageCodegenOptions options = {.opt_level = 3, .cancel = &cancel};
  uint32_t ready[MIRAGE_MOST_MEASURED + 1], num = 0;
  MirageCodegenJob *jobs = measurer->code;
  MIRAGE_TRY(copy_own(measurer, &measurer->held[0].diag, &measurer->copies[0]));
  ready[num++] = 0;
  for (uint32_t i = 1; i <= measurer->num; i++) {
    MirageStatus status =
        copy_candidate(measurer, measurer->measurements[i - 1].entry, &measurer->held[i].diag, &measurer->copies[i]);
    if (status == MIRAGE_NO_MEMORY)
      return status;
    if (status == MIRAGE_OK)
      ready[num++] = i;
    else
      fail_candidate(&measurer->measurements[i - 1], "cannot be planned", &measurer->held[i]);
  }
  MirageCodegenJob *dense = mirage_arena_alloc_array(&measurer->graphs->arena, num, sizeof *dense);
  if (!dense)
    return MIRAGE_NO_MEMORY;
  for (uint32_t k = 0; k < num; k++)
    dense[k] = (MirageCodegenJob){.graph = measurer->copies[ready[k]], .diag = &measurer->held[ready[k]].diag};
  mirage_codegen_all(num, dense, measurer->options->target, &options, 0);
  for (uint32_t k = 0; k < num; k++)
    jobs[ready[k]] = dense[k];
  for (uint32_t k = 1; k < num; k++)
    if (dense[k].status != MIRAGE_OK)
      fail_candidate(&measurer->measurements[ready[k] - 1], "cannot be compiled", &measurer->held[ready[k]]);
  note_codes(measurer);
  return dense[0].status;
}

// ----------------------------------------------------------------------------------------------------------------
// files

static MirageStatus make_folder(Measurer *measurer) {
  const char *folder = getenv("TMPDIR");
  snprintf(measurer->folder, sizeof measurer->folder, "%s/mirage-measure-XXXXXX", folder && *folder ? folder : "/tmp");
  if (mkdtemp(measurer->folder))
    return MIRAGE_OK;
  int reason = errno;
  MirageStatus status = mirage_diag_fail(measurer->graphs->diag, NULL, MIRAGE_IO,
                                         "measure: cannot make a folder %s: %s", measurer->folder, strerror(reason));
  measurer->folder[0] = '\0';
  return status;
}

typedef struct Path {
  char text[PATH_MAX + 32];
} Path;

// index: 0 the own lowering, then the candidates; part: "" the module, ".ptx"
static Path path_of(const Measurer *measurer, uint32_t index, const char *part) {
  Path path;
  snprintf(path.text, sizeof path.text, "%s/%u.mlir%s", measurer->folder, index, part);
  return path;
}

static MirageStatus finish_file(const Measurer *measurer, FILE *file, const char *path) {
  bool ok = file && !ferror(file);
  if (file)
    ok = fclose(file) == 0 && ok;
  return ok ? MIRAGE_OK
            : mirage_diag_fail(measurer->graphs->diag, NULL, MIRAGE_IO, "measure: %s: cannot write: %s", path,
                               strerror(errno));
}

static MirageStatus write_ptx(const Measurer *measurer, uint32_t index) {
  Path path = path_of(measurer, index, ".ptx");
  FILE *file = fopen(path.text, "wb");
  if (file)
    fputs(measurer->code[index].code.ptx, file);
  return finish_file(measurer, file, path.text);
}

static void print_chunk(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, file); }

/// The program, and its own lowering or a candidate.
static MirageStatus write_module(const Measurer *measurer, uint32_t index) {
  MlirLocation loc = mlirOperationGetLocation(measurer->program->op);
  MlirContext context = mlirOperationGetContext(measurer->program->op);
  MlirModule module = mlirModuleCreateEmpty(loc);
  MlirBlock body = mlirModuleGetBody(module);
  MlirOperation op;
  const MirageDiag *diag = measurer->graphs->diag;
  mlirBlockAppendOwnedOperation(body, mlirOperationClone(measurer->program->op));
  MirageStatus status = mirage_bridge_export(measurer->copies[index], context, body, loc, diag, &op);
  if (status == MIRAGE_OK) {
    Path path = path_of(measurer, index, "");
    FILE *file = fopen(path.text, "wb");
    if (file)
      mlirOperationPrint(mlirModuleGetOperation(module), print_chunk, file);
    status = finish_file(measurer, file, path.text);
  }
  mlirModuleDestroy(module);
  return status;
}

static MirageStatus write_files(const Measurer *measurer, uint32_t index) {
  MIRAGE_TRY(write_module(measurer, index));
  return write_ptx(measurer, index);
}

static void remove_files(const Measurer *measurer) {
  if (!measurer->folder[0])
    return;
  for (uint32_t i = 0; i <= measurer->num; i++) {
    remove(path_of(measurer, i, "").text);
    remove(path_of(measurer, i, ".ptx").text);
  }
  rmdir(measurer->folder);
}

// --------------------------------------------------------------------------------------------------------------
// answers

static double get_number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static double finite_or_zero(double value) { return isfinite(value) ? value : 0; }

/// The next line of the output that is an answer: a JSON object. False at the end, and where it is none that a worker gives.
static bool next_answer(const char **output, MirageMeasurement *measurement) {
  const char *line = *output;
  while (*line && *line != '{') {
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  size_t length = strcspn(line, "\n");
  json_t *answer = json_loadb(line, length, 0, NULL);
  *output = line + length;
  const char *reason = json_string_value(json_object_get(answer, "reason"));
  if (!json_is_object(answer) || !reason) {
    json_decref(answer);
    return false;
  }
  double us = get_number(answer, "us"), own_us = get_number(answer, "own_us");
  measurement->own_ran = json_is_true(json_object_get(answer, "own_ran"));
  measurement->ok = json_is_true(json_object_get(answer, "ok")) && us > 0 && own_us > 0;
  *measurement->reason = '\0';
  measurement->us = finite_or_zero(us);
  measurement->own_us = finite_or_zero(own_us);
  measurement->spread = finite_or_zero(get_number(answer, "spread"));
  measurement->own_spread = finite_or_zero(get_number(answer, "own_spread"));
  measurement->error = get_number(answer, "error");
  measurement->own_wrong = measurement->ok && json_is_true(json_object_get(answer, "own_wrong"));
  measurement->own_error = get_number(answer, "own_error");
  measurement->sampled = json_is_true(json_object_get(answer, "sampled"));
  measurement->spilled_bytes = json_integer_value(json_object_get(answer, "spilled_bytes"));
  if (!measurement->ok)
    snprintf(measurement->reason, sizeof measurement->reason, "%s", *reason ? reason : "no time came out");
  json_decref(answer);
  return true;
}

/// The last line that it wrote to standard error, which says more than a signal's number.
static const char *last_line(char *text) {
  size_t length = strlen(text);
  while (length && text[length - 1] == '\n')
    text[--length] = '\0';
  char *line = strrchr(text, '\n');
  return line ? line + 1 : text;
}

/// Why there is no answer.
static void take_end(MirageJob *job, MirageMeasurement *measurement) {
  char *reason = measurement->reason;
  const size_t size = sizeof measurement->reason;
  const char *said = last_line(job->errors);
  const char *colon = *said ? ": " : "";
  switch (job->end) {
  case MIRAGE_JOB_EXITED:
    snprintf(reason, size, "its process ended with status %d and no answer%s%.200s", job->code, colon, said);
    return;
  case MIRAGE_JOB_SIGNALLED:
    snprintf(reason, size, "its process ended by signal %d (%s)%s%.200s", job->code, strsignal(job->code), colon, said);
    return;
  case MIRAGE_JOB_SILENT:
    snprintf(reason, size, "its process was silent for too long, and was killed%s%.200s", colon, said);
    return;
  case MIRAGE_JOB_CANCELLED:
    snprintf(reason, size, "interrupted");
    return;
  case MIRAGE_JOB_NOT_STARTED:
    snprintf(reason, size, "its process cannot be started: %s", strerror(job->code));
    return;
  }
}

// --------------------------------------------------------------------------------------------------------------
// running

enum { MOST_PROCESSES = 4 }; // each holds a context on the GPU

/// Candidates that wait to be measured. Process p of `processes` gets number p, p + `processes`, ...
typedef struct Waiting {
  uint32_t num, *indices; // of candidates, from 1
} Waiting;

/// The arguments of a process, in the arena.
static const char *const *make_arguments(Measurer *measurer, const Waiting *waiting, uint32_t process,
                                         uint32_t processes) {
  MirageArena *arena = &measurer->graphs->arena;
  size_t num = measurer->tool[0] ? 1 : command_length;
  const char **argv = mirage_arena_alloc_array(arena, (uint32_t)num + waiting->num + 3, sizeof *argv); // zeroed
  char text[PATH_MAX + 64];
  if (!argv)
    return NULL;
  for (size_t i = 0; i < num; i++)
    argv[i] = measurer->tool[0] ? measurer->tool : command[i];
  snprintf(text, sizeof text, "--measure=%s", path_of(measurer, 0, "").text);
  bool all = (argv[num++] = mirage_arena_strdup(arena, text));
  snprintf(text, sizeof text, "--timeout=%g", measurer->options->timeout_s);
  all = all && (argv[num++] = mirage_arena_strdup(arena, text));
  for (uint32_t i = process; all && i < waiting->num; i += processes)
    all = (argv[num++] = mirage_arena_strdup(arena, path_of(measurer, waiting->indices[i], "").text));
  return all ? argv : NULL;
}

static const double SILENCE_S = 30; // a driver may take long to start, and to compile

static uint32_t count_at_once(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores < MOST_PROCESSES ? (uint32_t)cores : MOST_PROCESSES;
}

/// What a process said of its candidates. Those that are done have the index 0 afterwards.
static void take_answers(Measurer *measurer, MirageJob *job, Waiting *waiting, uint32_t process, uint32_t processes) {
  const char *output = job->output;
  for (uint32_t i = process; i < waiting->num; i += processes) {
    MirageMeasurement *measurement = &measurer->measurements[waiting->indices[i] - 1], answer = *measurement;
    bool first = i == process, answered = next_answer(&output, &answer);
    if (first && !answered)
      take_end(job, measurement);
    else if (first || (answered && answer.ok))
      *measurement = answer;
    else
      return; // and those behind it
    waiting->indices[i] = 0;
    if (!measurement->ok)
      return;
  }
}

static void drop_done(Waiting *waiting) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < waiting->num; i++)
    if (waiting->indices[i])
      waiting->indices[kept++] = waiting->indices[i];
  waiting->num = kept;
}

/// Starts the processes, and waits for them. Each is done with one candidate at least.
static MirageStatus run_processes(Measurer *measurer, Waiting *waiting) {
  MirageJob jobs[MOST_PROCESSES] = {0};
  uint32_t processes = count_at_once() < waiting->num ? count_at_once() : waiting->num;
  const MirageCancel cancel = {.interrupt = mirage__interrupt_flag()};
  double silence_s = SILENCE_S + 5 * measurer->options->timeout_s;
  for (uint32_t p = 0; p < processes; p++)
    if (!(jobs[p].argv = make_arguments(measurer, waiting, p, processes)))
      return MIRAGE_NO_MEMORY;
  MirageStatus status = mirage_jobs_run(processes, jobs, processes, silence_s, &cancel, measurer->graphs->diag);
  for (uint32_t p = 0; status == MIRAGE_OK && p < processes; p++)
    take_answers(measurer, &jobs[p], waiting, p, processes);
  mirage_jobs_deinit(processes, jobs);
  drop_done(waiting);
  return status == MIRAGE_OK && mirage__is_interrupted() ? MIRAGE_CANCELLED : status;
}

static MirageStatus run_all(Measurer *measurer) {
  Waiting waiting = {
      .indices = mirage_arena_alloc_array(&measurer->graphs->arena, measurer->num + 1, sizeof *waiting.indices)};
  if (!waiting.indices)
    return MIRAGE_NO_MEMORY;
  MIRAGE_TRY(write_files(measurer, 0));
  for (uint32_t i = 1; i <= measurer->num; i++) {
    if (measurer->measurements[i - 1].reason[0])
      continue;
    MIRAGE_TRY(write_files(measurer, i));
    waiting.indices[waiting.num++] = i;
  }
  while (waiting.num)
    MIRAGE_TRY(run_processes(measurer, &waiting));
  return MIRAGE_OK;
}

static MirageStatus measure(Measurer *measurer) {
  MIRAGE_TRY(find_tool(measurer));
  MIRAGE_TRY(compile_all(measurer));
  if (mirage__is_interrupted())
    return MIRAGE_CANCELLED;
  MIRAGE_TRY(make_folder(measurer));
  return run_all(measurer);
}

static MirageStatus measurer_init(Measurer *measurer) {
  MirageArena *arena = &measurer->graphs->arena;
  size_t count = (size_t)measurer->num + 1;
  measurer->copies = mirage_arena_alloc_array(arena, count, sizeof *measurer->copies);
  measurer->code = mirage_arena_alloc_array(arena, count, sizeof *measurer->code);
  measurer->held = mirage_arena_alloc_array(arena, count, sizeof *measurer->held);
  if (!measurer->copies || !measurer->code || !measurer->held)
    return MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; i <= measurer->num; i++) {
    mirage__hold_init(&measurer->held[i]);
    measurer->held[i].loc = mirage__graph_loc(i ? measurer->measurements[i - 1].entry : measurer->program);
  }
  return MIRAGE_OK;
}

static void measurer_deinit(Measurer *measurer, const MirageDiag *diag) {
  for (uint32_t i = 0; i <= measurer->num; i++) {
    mirage__hold_release(&measurer->held[i], i ? NULL : diag, true);
    mirage_code_deinit(&measurer->code[i].code);
    mirage_ugraph_destroy(measurer->copies[i]);
  }
}

MirageStatus mirage__measure(MirageModuleGraphs *graphs, MirageModuleGraph *program,
                             const MirageMeasureOptions *options, uint32_t num, MirageMeasurement *measurements) {
  Measurer measurer = {.graphs = graphs,
                       .program = program,
                       .options = options,
                       .num = num < MIRAGE_MOST_MEASURED ? num : MIRAGE_MOST_MEASURED,
                       .measurements = measurements};
  MIRAGE_TRY(measurer_init(&measurer));
  MirageStatus status = measure(&measurer);
  remove_files(&measurer);
  measurer_deinit(&measurer, graphs->diag);
  return status;
}

void mirage__code_text(uint64_t own_code, uint64_t code, char out_text[33]) {
  snprintf(out_text, 33, "%016" PRIx64 "%016" PRIx64, own_code, code);
}

MirageStatus mirage__measured_code(MirageModuleGraphs *graphs, MirageModuleGraph *program, MirageModuleGraph *entry,
                                   const MirageTarget *target, char out_text[33]) {
  const MirageMeasureOptions options = {.target = target};
  MirageMeasurement measurement = {.entry = entry};
  Measurer measurer = {
      .graphs = graphs, .program = program, .options = &options, .num = entry != NULL, .measurements = &measurement};
  MIRAGE_TRY(measurer_init(&measurer));
  MirageStatus status = compile_all(&measurer);
  mirage__code_text(code_hash(&measurer, 0), entry ? code_hash(&measurer, 1) : 0, out_text);
  measurer_deinit(&measurer, NULL);
  return status == MIRAGE_OK && entry && !measurement.code ? MIRAGE_CODEGEN : status;
}
