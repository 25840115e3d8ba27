// tune_worker.c - measures candidates beside the program's own lowering, in a process made for that.
//
// Order:  all that needs no GPU time first (inputs, loading the code), so that many such processes do it at once; then
//         this process waits for its turn, by a lock on a file, and has the GPU to itself: both graphs run on the same
//         inputs into outputs full of NaN, the candidate twice, and then they race (mirage_programs_race). What came
//         out is compared after the turn is given up. Starting a process on the GPU takes longer than all that, so
//         the next candidate follows in the same one.
// Ends:   behind the last candidate, or the first that is not right: its kernels may have spoilt more than its outputs.
//         Whatever happens, by _Exit: a driver whose kernel hangs would wait for it in its exit handler. A reply that
//         is missing is told apart by how the process ended, by who started it.
// Right:  the candidate's outputs differ from the own lowering's by rounding alone: 5e-3 relative, 2e-2 in bf16. Both
//         round, in other orders; what is looked for here is wrong code, the algebra is the proof's business. Where they
//         differ by more, or the own lowering is finite nowhere, float64 says who is right (tune_judge.c).
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // flock, prctl
#endif
#include "run.h"
#include "tune.h"

#include "mirage-c/Dialects.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { OWN, CANDIDATE, NUM_SIDES, AGAIN = NUM_SIDES, NUM_RUNS };
enum { MAX_SETS = 4096, ALIGNMENT = 256 };
enum { PERIOD = 2 * 524287 }; // elements of inputs that differ: twice a prime, so that rows do, and i4 fill bytes
static const double BUDGET_US = 120e3;  // of a race
static const double SETTLE_US = 200e3;  // first, where clocks fall by the power that products draw
static const double HUNGRY_SHARE = 0.4; // of the matrix rate, from which on they do
static const double JUDGE_WORK = 1e8;   // multiplications: less than a second

// What is measured: the own lowering, or a candidate.
typedef struct Side {
  MirageUGraph *graph;
  char *ptx;
  MirageModule *loaded;
  MirageProgram *program;
} Side;

typedef struct Worker {
  double timeout_s;
  RunModule module; // its program and the operation, for the inputs
  Side sides[NUM_SIDES];
  RunInputs inputs;
  MirageDevice *device;
  uint32_t num_inputs, num_outputs, num_sets;
  uint64_t *input_pointers; // [set * num_inputs + i]
  uint64_t *buffers;        // of inputs, then of outputs
  RunRepeated *packed;      // each input
  char **outputs[NUM_RUNS]; // bytes, by run and output
  // Of one candidate:
  MirageTiming timings[NUM_SIDES];
  bool own_ran;
  size_t spilled_bytes;
  double error; // the largest of the outputs
  TuneVerdict verdict;
  char reason[512];
} Worker;

static Worker worker; // one a process

// ----------------------------------------------------------------------------------------------------------------
// reply

// A sign of life: whoever watches kills what is silent for long.
static void say(const char *what) {
  printf("%s\n", what);
  fflush(stdout);
}

static void keep_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  if (severity == MIRAGE_SEVERITY_ERROR)
    snprintf(worker.reason, sizeof worker.reason, "%s", message);
}
static const MirageDiag diag = {keep_reason, NULL};

static MirageStatus no_memory(void) {
  return mirage_diag_fail(&diag, NULL, MIRAGE_NO_MEMORY, "measure: out of memory");
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static void reply(bool ok) {
  const MirageTiming *own = &worker.timings[OWN], *candidate = &worker.timings[CANDIDATE];
  json_t *root = json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:s}", "ok", ok, "own_ran", worker.own_ran, "us",
                           number(candidate->cold_us), "spread", number(candidate->cold_spread), "own_us",
                           number(own->cold_us), "own_spread", number(own->cold_spread), "error", number(worker.error),
                           "spilled_bytes", (json_int_t)worker.spilled_bytes, "reason", worker.reason);
  if (root && worker.verdict.judged) {
    json_object_set_new(root, "own_wrong", json_boolean(ok));
    json_object_set_new(root, "own_error", number(worker.verdict.own_error));
    json_object_set_new(root, "sampled", json_boolean(worker.verdict.sampled));
  }
  if (!root)
    _Exit(1);
  json_dumpf(root, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
  putchar('\n');
  fflush(NULL);
  json_decref(root);
}

// --------------------------------------------------------------------------------------------------------------
// reading

static MlirStringRef str(const char *text) { return mlirStringRefCreateFromCString(text); }

static MlirContext create_context(void) {
  MlirDialectHandle handles[] = {mlirGetDialectHandle__mirage_kernel__(), mlirGetDialectHandle__mirage_block__(),
                                 mlirGetDialectHandle__mirage_thread__()};
  MlirContext context = mlirContextCreateWithThreading(false);
  mlirContextSetAllowUnregisteredDialects(context, true);
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
    mlirDialectHandleRegisterDialect(handles[i], context);
    mlirDialectHandleLoadDialect(handles[i], context);
  }
  return context;
}

// A module of two graphs: the program, and what computes it.
static MirageStatus read_module(const char *path, MlirModule *out_module, MlirOperation *out_program,
                                MirageUGraph **out_graph) {
  *out_module = mlirModuleCreateParseFromFile(worker.module.context, str(path));
  if (mlirModuleIsNull(*out_module))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_GRAPH, "%s: no module", path);
  *out_program = mlirBlockGetFirstOperation(mlirModuleGetBody(*out_module));
  MlirOperation op = mlirOperationIsNull(*out_program) ? *out_program : mlirOperationGetNextInBlock(*out_program);
  if (mlirOperationIsNull(op))
    return mirage_diag_fail(&diag, NULL, MIRAGE_BAD_GRAPH, "%s: a program and another graph are wanted", path);
  return mirage_bridge_import(op, &diag, out_graph);
}

static MirageStatus read_text(const char *module_path, char **out_text) {
  char path[4096];
  snprintf(path, sizeof path, "%s.ptx", module_path);
  FILE *file = fopen(path, "rb");
  size_t bytes = 0, room = 1 << 16, got = 1;
  char *text = malloc(room);
  while (file && text && (got = fread(text + bytes, 1, room - bytes - 1, file)) > 0) {
    bytes += got;
    char *grown = room - bytes < 2 ? realloc(text, room *= 2) : text;
    if (!grown)
      free(text);
    text = grown;
  }
  if (file)
    fclose(file);
  if (!file)
    return mirage_diag_fail(&diag, NULL, MIRAGE_IO, "%s: %s", path, strerror(errno));
  if (!text)
    return no_memory();
  text[bytes] = '\0';
  *out_text = text;
  return MIRAGE_OK;
}

static MirageStatus load(Side *side) {
  MIRAGE_TRY(mirage_module_load(worker.device, side->ptx, &diag, &side->loaded));
  MIRAGE_TRY(mirage_program_create(side->loaded, side->graph, &diag, &side->program));
  say("loaded");
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------------- turns

// One process at a time has the GPU. Where no lock can be had, nobody waits.
static int take_turn(void) {
  char path[4096];
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/mirage-gpu.lock", folder && *folder ? folder : "/tmp");
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0)
    file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW); // another user's
  for (int waits = 0; file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0; waits++) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      break;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (waits % 250 == 0)
      say("waiting");
  }
  return file;
}

// ------------------------------------------------------------------------------------------------------------- tensors

static const MirageType *input_type(uint32_t i) {
  return mirage_ugraph_type(worker.module.program, mirage_ugraph_get_input(worker.module.program, i));
}
static const MirageType *output_type(uint32_t i) {
  return mirage_ugraph_type(worker.module.program, mirage_ugraph_get_output(worker.module.program, i));
}
static size_t output_bytes(uint32_t i) { return (size_t)mirage_type_bytes(output_type(i)); }
static size_t stride_of(uint32_t i) {
  return ((size_t)mirage_type_bytes(input_type(i)) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// So many sets of inputs that a set has left the L2 cache when its turn comes again.
static uint32_t count_sets(void) {
  const MirageDeviceInfo *info = mirage_device_info(worker.device);
  double bytes = 0;
  for (uint32_t i = 0; i < worker.num_inputs; i++)
    bytes += (double)stride_of(i);
  double wanted = ceil(2.0 * info->l2_bytes / bytes) + 1, most = floor((double)info->total_bytes / 4 / bytes);
  wanted = wanted < most ? wanted : most;
  return wanted < 1 ? 1 : wanted > MAX_SETS ? MAX_SETS : (uint32_t)wanted;
}

// All sets of an input in one buffer: the numbers that differ go there, the GPU repeats them, and then the set.
static MirageStatus upload(uint32_t index) {
  MirageType held = *input_type(index);
  size_t bytes = (size_t)mirage_type_bytes(&held), stride = stride_of(index), all = stride * worker.num_sets;
  held.rank = 1;
  held.shape[0] = (int64_t)worker.packed[index].held;
  size_t held_bytes = (size_t)mirage_type_bytes(&held);
  MIRAGE_TRY(mirage_device_alloc(worker.device, all, &diag, &worker.buffers[index]));
  uint64_t buffer = worker.buffers[index];
  for (uint32_t set = 0; set < worker.num_sets; set++)
    worker.input_pointers[set * worker.num_inputs + index] = buffer + set * stride;
  MIRAGE_TRY(mirage_device_upload(worker.device, buffer, worker.packed[index].bytes, held_bytes, &diag));
  MIRAGE_TRY(mirage_device_repeat(worker.device, buffer, held_bytes, bytes, &diag));
  return mirage_device_repeat(worker.device, buffer, stride, all, &diag);
}

static MirageStatus create_tensors(void) {
  for (uint32_t i = 0; i < worker.num_inputs; i++)
    MIRAGE_TRY(upload(i));
  for (uint32_t i = 0; i < worker.num_outputs; i++)
    MIRAGE_TRY(mirage_device_alloc(worker.device, output_bytes(i), &diag, &worker.buffers[worker.num_inputs + i]));
  return MIRAGE_OK;
}

// Inputs as bytes, and memory for all that comes back.
static MirageStatus prepare_memory(void) {
  worker.num_inputs = worker.inputs.count;
  worker.num_outputs = mirage_ugraph_num_outputs(worker.module.program);
  worker.num_sets = count_sets();
  worker.input_pointers = calloc((size_t)worker.num_sets * worker.num_inputs + 1, sizeof *worker.input_pointers);
  worker.buffers = calloc((size_t)worker.num_inputs + worker.num_outputs + 1, sizeof *worker.buffers);
  worker.packed = calloc((size_t)worker.num_inputs + 1, sizeof *worker.packed);
  if (!worker.input_pointers || !worker.buffers || !worker.packed)
    return no_memory();
  for (uint32_t i = 0; i < worker.num_inputs; i++) {
    if (run_inputs_pack(&worker.inputs, i, input_type(i), &worker.packed[i]) != MIRAGE_OK)
      return no_memory();
  }
  run_inputs_deinit(&worker.inputs);
  for (int run = 0; run < NUM_RUNS; run++) {
    worker.outputs[run] = calloc((size_t)worker.num_outputs + 1, sizeof **worker.outputs);
    for (uint32_t i = 0; worker.outputs[run] && i < worker.num_outputs; i++)
      if (!(worker.outputs[run][i] = malloc(output_bytes(i))))
        return no_memory();
    if (!worker.outputs[run])
      return no_memory();
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- running

static MirageStatus run_once(int run) {
  MirageProgram *program = worker.sides[run == OWN ? OWN : CANDIDATE].program;
  uint64_t *outputs = worker.buffers + worker.num_inputs;
  for (uint32_t i = 0; i < worker.num_outputs; i++)
    MIRAGE_TRY(mirage_device_fill(worker.device, outputs[i], 0xFF, output_bytes(i), &diag));
  MIRAGE_TRY(mirage_program_run(program, worker.input_pointers, outputs, &diag));
  for (uint32_t i = 0; i < worker.num_outputs; i++)
    MIRAGE_TRY(mirage_device_download(worker.device, worker.outputs[run][i], outputs[i], output_bytes(i), &diag));
  return MIRAGE_OK;
}

// By the candidate's prediction: what is short of the matrix unit's work leaves the clocks alone.
static bool is_hungry(void) {
  const MirageCost *cost = &mirage_ugraph_get_meta(worker.sides[CANDIDATE].graph)->cost;
  const MirageTarget *target = cost->present ? mirage_target_find(cost->target) : NULL;
  return target && cost->flops > HUNGRY_SHARE * target->matmul_flops_per_us * cost->time_us;
}

static MirageStatus race(void) {
  MirageProgram *programs[NUM_SIDES] = {worker.sides[OWN].program, worker.sides[CANDIDATE].program};
  return mirage_programs_race(NUM_SIDES, programs, worker.num_sets, worker.input_pointers,
                              worker.buffers + worker.num_inputs, is_hungry() ? SETTLE_US : 0, BUDGET_US, &diag,
                              worker.timings);
}

static MirageStatus run_all(void) {
  MIRAGE_TRY(create_tensors());
  MIRAGE_TRY(run_once(OWN));
  worker.own_ran = true;
  say("running");
  MIRAGE_TRY(run_once(CANDIDATE));
  MIRAGE_TRY(run_once(AGAIN));
  MIRAGE_TRY(race());
  for (uint32_t i = 0; i < worker.num_inputs + worker.num_outputs; i++)
    mirage_device_free(worker.device, worker.buffers[i]);
  return MIRAGE_OK;
}

// -----------------------------------------------------------------------------------------------------------
// comparison

static double tolerance_of(const MirageType *type) { return type->dtype == MIRAGE_BF16 ? 2e-2 : 5e-3; }

// Over the elements at which the own lowering is finite; where there are none, nothing was shown.
static bool is_output_right(uint32_t index) {
  const MirageType *type = output_type(index);
  size_t compared;
  double relative = tune_error(type, worker.outputs[CANDIDATE][index], worker.outputs[OWN][index], &compared);
  worker.error = fmax(worker.error, relative);
  if (!compared)
    snprintf(worker.reason, sizeof worker.reason,
             "nothing to compare with: output %u of the program's own lowering is not finite anywhere", index);
  else if (relative > tolerance_of(type))
    snprintf(worker.reason, sizeof worker.reason,
             "wrong: output %u differs from the own lowering's by %.2g, at most %.2g is rounding", index, relative,
             tolerance_of(type));
  return compared && relative <= tolerance_of(type);
}

static void compare_all(bool *out_right, bool *out_same) {
  *out_right = true;
  for (uint32_t i = 0; i < worker.num_outputs && *out_right; i++) {
    if (memcmp(worker.outputs[CANDIDATE][i], worker.outputs[AGAIN][i], output_bytes(i)) != 0) {
      *out_right = *out_same = false;
      worker.error = INFINITY;
      snprintf(worker.reason, sizeof worker.reason, "wrong: two runs differ in output %u", i);
    } else {
      *out_right = is_output_right(i);
      say("compared");
    }
  }
}

static double widest_tolerance(void) {
  double tolerance = 0;
  for (uint32_t i = 0; i < worker.num_outputs; i++)
    tolerance = fmax(tolerance, tolerance_of(output_type(i)));
  return tolerance;
}

// The two differ: by float64 the candidate may be right all the same, and the own lowering wrong.
static void judge(bool *out_right) {
  char found[sizeof worker.reason];
  snprintf(found, sizeof found, "%s", worker.reason);
  say("judging");
  MirageStatus status = tune_judge(worker.module.program, JUDGE_WORK, worker.packed, worker.outputs[OWN],
                                   worker.outputs[CANDIDATE], &diag, &worker.verdict);
  const TuneVerdict *verdict = &worker.verdict;
  const char *sample = verdict->sampled ? ", of a sample" : "";
  *out_right = status == MIRAGE_OK && verdict->error <= widest_tolerance();
  if (status != MIRAGE_OK)
    snprintf(worker.reason, sizeof worker.reason, "%.200s; who is right cannot be said: %.200s", found,
             mirage_status_string(status));
  else if (*out_right)
    worker.error = verdict->error;
  else
    snprintf(worker.reason, sizeof worker.reason,
             "%.200s; its error against float64%s is %.2g, the own lowering's %.2g", found, sample, verdict->error,
             verdict->own_error);
}

// ----------------------------------------------------------------------------------------------------------------
// order

// What all candidates have in common: the program, its own lowering, the device and the inputs.
static MirageStatus prepare(const char *path) {
  const RunOptions options = {.seed = 1, .period = PERIOD};
  RunModule *module = &worker.module;
  Side *own = &worker.sides[OWN];
  module->context = create_context();
  MIRAGE_TRY(read_module(path, &module->module, &module->program_op, &own->graph));
  MIRAGE_TRY(mirage_bridge_import(module->program_op, &diag, &module->program));
  MIRAGE_TRY(read_text(path, &own->ptx));
  MIRAGE_TRY(run_inputs_create(module, &options, &diag, &worker.inputs));
  say("inputs");
  MIRAGE_TRY(mirage_device_create(0, &diag, &worker.device));
  mirage_device_set_timeout(worker.device, worker.timeout_s);
  MIRAGE_TRY(load(own));
  return prepare_memory();
}

static MirageStatus read_candidate(const char *path) {
  MlirModule module;
  MlirOperation program;
  MIRAGE_TRY(read_module(path, &module, &program, &worker.sides[CANDIDATE].graph));
  mlirModuleDestroy(module);
  MIRAGE_TRY(read_text(path, &worker.sides[CANDIDATE].ptx));
  MIRAGE_TRY(load(&worker.sides[CANDIDATE]));
  worker.spilled_bytes = mirage_program_spilled_bytes(worker.sides[CANDIDATE].program);
  return MIRAGE_OK;
}

static void forget_candidate(void) {
  Side *side = &worker.sides[CANDIDATE];
  mirage_program_destroy(side->program);
  mirage_module_unload(side->loaded);
  mirage_ugraph_destroy(side->graph);
  free(side->ptx);
  *side = (Side){0};
  memset(worker.timings, 0, sizeof worker.timings);
  worker.own_ran = false;
  worker.spilled_bytes = 0;
  worker.error = 0;
  worker.verdict = (TuneVerdict){0};
  worker.reason[0] = '\0';
}

static MirageStatus measure(const char *path, bool *out_right) {
  MIRAGE_TRY(read_candidate(path));
  int turn = take_turn();
  MIRAGE_TRY(run_all());
  if (turn >= 0)
    close(turn);
  bool same = true; // both runs of the candidate
  compare_all(out_right, &same);
  if (!*out_right && same)
    judge(out_right);
  return MIRAGE_OK;
}

void tune_measure(const char *own_path, uint32_t count, const char *const *paths, double timeout_s) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); // nobody would take the answer
  worker.timeout_s = timeout_s;
  MirageStatus status = prepare(own_path);
  bool right = true;
  for (uint32_t i = 0; i < count && right; i++) {
    right = false;
    status = status == MIRAGE_OK ? measure(paths[i], &right) : status;
    right = status == MIRAGE_OK && right;
    if (status != MIRAGE_OK && !worker.reason[0])
      snprintf(worker.reason, sizeof worker.reason, "%s", mirage_status_string(status));
    reply(right);
    if (right)
      forget_candidate();
  }
  _Exit(0);
}
