// timing.c - how long a program takes, as replays of a CUDA graph.
//
// One replay holds enough calls (at least 32) that the two events around it cost nothing per call. Cold replays walk
// over the input sets in order, so that a set is met again only after all the others; with sets larger together than
// the L2 cache (the caller sees to that) every call reads device memory. Warm replays repeat the first set. Reported is
// the median over replays, and (p90 - p10) / median as the spread: timings are only comparable within one run on one
// machine.
//
// A race (mirage_programs_race) compares programs: one replay of each in turn, so that clocks, heat and whoever else
// uses the GPU are the same for all. It is for choosing among many, and takes a fraction of the time. It may begin with laps that are
// not timed: clocks fall within a tenth of a second where products draw all power, for some kernels by more than for others.
//
// Before anything is measured the program runs once eagerly, each kernel waited for, so that one that fails or hangs is
// an error here and not a strange number later.
#include "runtime_impl.h"

#include <stdlib.h>

enum { MIN_CALLS = 32, WARM_UP_REPLAYS = 3, MIN_REPLAYS = 21, MAX_REPLAYS = 201 };
// Of one measurement: in longer ones clocks follow the power that large products draw.
static const double target_us = 50e3;

typedef struct Timer {
  MirageProgram *program;
  MirageDevice *device;
  const MirageDiag *diag;
  const uint64_t *input_sets, *outputs;
  uint32_t num_inputs, num_calls;
  CuEvent start, stop;
} Timer;

static MirageStatus check(const Timer *timer, CuResult result, const char *what) {
  return mirage__cuda_check(timer->diag, result, "timing: %s failed", what);
}

// Captures num_calls calls over the first `num_sets` sets.
static MirageStatus capture(const Timer *timer, uint32_t num_sets, CuGraphExec *out_exec) {
  const MirageCuda *cuda = &timer->device->cuda;
  CuStream stream = timer->device->stream;
  CuGraph graph = NULL;
  MIRAGE_TRY(check(timer, cuda->capture_begin(stream, CU_CAPTURE_THREAD_LOCAL), "beginning a capture"));
  MirageStatus status = MIRAGE_OK;
  for (uint32_t i = 0; i < timer->num_calls && status == MIRAGE_OK; i++) {
    const uint64_t *inputs = timer->input_sets + (size_t)(i % num_sets) * timer->num_inputs;
    status = mirage_program_launch(timer->program, inputs, timer->outputs, stream, timer->diag);
  }
  CuResult ended = cuda->capture_end(stream, &graph); // also after a failure: the stream must leave capture mode
  if (status == MIRAGE_OK)
    status = check(timer, ended, "ending a capture");
  if (status == MIRAGE_OK)
    status = check(timer, cuda->graph_instantiate(out_exec, graph, 0), "instantiating a CUDA graph");
  if (graph)
    cuda->graph_destroy(graph);
  return status;
}

static MirageStatus replay(const Timer *timer, CuGraphExec exec, double *out_us) {
  const MirageCuda *cuda = &timer->device->cuda;
  CuStream stream = timer->device->stream;
  float milliseconds = 0;
  MIRAGE_TRY(check(timer, cuda->event_record(timer->start, stream), "recording an event"));
  MIRAGE_TRY(check(timer, cuda->graph_launch(exec, stream), "launching a CUDA graph"));
  MIRAGE_TRY(check(timer, cuda->event_record(timer->stop, stream), "recording an event"));
  MIRAGE_TRY(mirage__device_wait_event(timer->device, timer->stop, "a replay of the program", "", timer->diag));
  MIRAGE_TRY(check(timer, cuda->event_elapsed(&milliseconds, timer->start, timer->stop), "reading a time"));
  *out_us = 1e3 * milliseconds;
  return MIRAGE_OK;
}

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static MirageStatus measure_replays(const Timer *timer, CuGraphExec exec, double *out_median, double *out_spread,
                                    uint32_t *out_replays) {
  double us[MAX_REPLAYS] = {0};
  for (int i = 0; i < WARM_UP_REPLAYS; i++)
    MIRAGE_TRY(replay(timer, exec, &us[0]));
  double wanted = us[0] > 0 ? target_us / us[0] : MAX_REPLAYS;
  uint32_t replays = wanted < MIN_REPLAYS ? MIN_REPLAYS : wanted > MAX_REPLAYS ? MAX_REPLAYS : (uint32_t)wanted;
  for (uint32_t i = 0; i < replays; i++)
    MIRAGE_TRY(replay(timer, exec, &us[i]));
  qsort(us, replays, sizeof *us, by_value);
  double median = us[replays / 2];
  *out_median = median / timer->num_calls;
  *out_spread = median > 0 ? (us[replays * 9 / 10] - us[replays / 10]) / median : 0;
  *out_replays = replays;
  return MIRAGE_OK;
}

static MirageStatus measure(const Timer *timer, uint32_t num_sets, double *out_median, double *out_spread,
                            uint32_t *out_replays) {
  CuGraphExec exec = NULL;
  MIRAGE_TRY(capture(timer, num_sets, &exec));
  MirageStatus status = measure_replays(timer, exec, out_median, out_spread, out_replays);
  if (!atomic_load(&timer->device->hanging)) // it would wait
    timer->device->cuda.graph_exec_destroy(exec);
  return status;
}

// Not on a device that hangs, where it would block.
static void destroy_event(const Timer *timer, CuEvent event) {
  if (!atomic_load(&timer->device->hanging))
    timer->device->cuda.event_destroy(event);
}

static MirageStatus measure_both(Timer *timer, uint32_t num_sets, MirageTiming *out_timing) {
  const MirageCuda *cuda = &timer->device->cuda;
  MirageTiming timing = {.calls_per_replay = timer->num_calls};
  uint32_t warm_replays = 0;
  MIRAGE_TRY(check(timer, cuda->event_create(&timer->start, 0), "creating an event"));
  MirageStatus status = check(timer, cuda->event_create(&timer->stop, 0), "creating an event");
  if (status == MIRAGE_OK) {
    status = measure(timer, num_sets, &timing.cold_us, &timing.cold_spread, &timing.replays);
    if (status == MIRAGE_OK)
      status = measure(timer, 1, &timing.warm_us, &timing.warm_spread, &warm_replays);
    destroy_event(timer, timer->stop);
  }
  destroy_event(timer, timer->start);
  if (status == MIRAGE_OK)
    *out_timing = timing;
  return status;
}

MirageStatus mirage_program_time(MirageProgram *program, uint32_t num_sets, const uint64_t *input_sets,
                                 const uint64_t *outputs, const MirageDiag *diag, MirageTiming *out_timing) {
  if (num_sets == 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "timing: no input set given, at least 1 is needed");
  Timer timer = {
      .program = program,
      .device = program->device,
      .diag = diag,
      .input_sets = input_sets,
      .outputs = outputs,
      .num_inputs = program->num_inputs,
      .num_calls = (MIN_CALLS + num_sets - 1) / num_sets * num_sets, // whole rounds: every set equally often
  };
  MIRAGE_TRY(mirage_program_run(program, input_sets, outputs, diag));
  MIRAGE_TRY(mirage__device_enter(timer.device, diag));
  MirageStatus status = measure_both(&timer, num_sets, out_timing);
  mirage__device_leave(timer.device);
  return status;
}

// --------------------------------------------------------------------------------------------------------------- races

enum { MAX_RACERS = 8, RACE_WARM_UPS = 2, MAX_WARM_UPS = 500, MIN_LAPS = 7, MAX_LAPS = 61 };
static const double much_slower = 5;
static const double least_replay_us = 400; // so that the events around a replay cost nothing of note

typedef struct Race {
  uint32_t num;
  Timer timers[MAX_RACERS];
  CuGraphExec execs[MAX_RACERS];
  double one_round_us[MAX_RACERS];      // a replay of one round over the sets
  bool out[MAX_RACERS];                 // much slower than the first: not timed any further
  double laps_us[MAX_RACERS][MAX_LAPS]; // of replays
} Race;

static MirageStatus race_lap(Race *race, uint32_t lap) {
  for (uint32_t i = 0; i < race->num; i++)
    if (!race->out[i])
      MIRAGE_TRY(replay(&race->timers[i], race->execs[i], &race->laps_us[i][lap]));
  return MIRAGE_OK;
}

// One round over the sets, or as many as make a replay long enough: the second replay tells, the first is a warm-up.
static MirageStatus race_enter(Race *race, uint32_t index, uint32_t num_sets) {
  Timer *timer = &race->timers[index];
  double *us = &race->laps_us[index][0];
  timer->num_calls = num_sets;
  MIRAGE_TRY(capture(timer, num_sets, &race->execs[index]));
  MIRAGE_TRY(replay(timer, race->execs[index], us));
  MIRAGE_TRY(replay(timer, race->execs[index], us));
  race->one_round_us[index] = *us;
  race->out[index] = *us > much_slower * race->one_round_us[0];
  double rounds = *us > 0 ? least_replay_us / *us : 1;
  if (rounds <= 1 || race->out[index])
    return MIRAGE_OK;
  timer->device->cuda.graph_exec_destroy(race->execs[index]);
  race->execs[index] = NULL;
  timer->num_calls = num_sets * (uint32_t)(rounds < MIN_CALLS ? rounds + 1 : MIN_CALLS);
  return capture(timer, num_sets, &race->execs[index]);
}

static MirageTiming race_result(Race *race, uint32_t index, uint32_t laps) {
  double *us = race->laps_us[index];
  MirageTiming timing = {.calls_per_replay = race->timers[index].num_calls, .replays = race->out[index] ? 1 : laps};
  if (race->out[index]) {
    timing.cold_us = race->one_round_us[index] / timing.calls_per_replay;
    return timing;
  }
  qsort(us, laps, sizeof *us, by_value);
  double median = us[laps / 2];
  timing.cold_us = median / timing.calls_per_replay;
  timing.cold_spread = median > 0 ? (us[laps * 9 / 10] - us[laps / 10]) / median : 0;
  return timing;
}

// Laps that nobody counts, and how long the last one took.
static MirageStatus race_settle(Race *race, double settle_us, double *out_lap_us) {
  double passed = 0;
  for (int i = 0; i < RACE_WARM_UPS || (i < MAX_WARM_UPS && passed < settle_us); i++) {
    MIRAGE_TRY(race_lap(race, 0));
    *out_lap_us = 0;
    for (uint32_t k = 0; k < race->num; k++)
      *out_lap_us += race->out[k] ? 0 : race->laps_us[k][0];
    passed += *out_lap_us;
  }
  return MIRAGE_OK;
}

static MirageStatus race_run(Race *race, uint32_t num_sets, double settle_us, double budget_us,
                             MirageTiming *out_timings) {
  double lap_us = 0;
  for (uint32_t i = 0; i < race->num; i++)
    MIRAGE_TRY(race_enter(race, i, num_sets));
  MIRAGE_TRY(race_settle(race, settle_us, &lap_us));
  double wanted = lap_us > 0 ? budget_us / lap_us : MAX_LAPS;
  uint32_t laps = wanted < MIN_LAPS ? MIN_LAPS : wanted > MAX_LAPS ? MAX_LAPS : (uint32_t)wanted;
  for (uint32_t lap = 0; lap < laps; lap++)
    MIRAGE_TRY(race_lap(race, lap));
  for (uint32_t i = 0; i < race->num; i++)
    out_timings[i] = race_result(race, i, laps);
  return MIRAGE_OK;
}

static MirageStatus race_with_events(Race *race, uint32_t num_sets, double settle_us, double budget_us,
                                     MirageTiming *out_timings) {
  const Timer *first = &race->timers[0];
  const MirageCuda *cuda = &first->device->cuda;
  CuEvent start = NULL, stop = NULL;
  MIRAGE_TRY(check(first, cuda->event_create(&start, 0), "creating an event"));
  MirageStatus status = check(first, cuda->event_create(&stop, 0), "creating an event");
  for (uint32_t i = 0; i < race->num; i++) {
    race->timers[i].start = start;
    race->timers[i].stop = stop;
  }
  if (status == MIRAGE_OK)
    status = race_run(race, num_sets, settle_us, budget_us, out_timings);
  for (uint32_t i = 0; i < race->num; i++)
    if (race->execs[i] && !atomic_load(&first->device->hanging))
      cuda->graph_exec_destroy(race->execs[i]);
  if (stop)
    destroy_event(first, stop);
  destroy_event(first, start);
  return status;
}

MirageStatus mirage_programs_race(uint32_t num_programs, MirageProgram *const *programs, uint32_t num_sets,
                                  const uint64_t *input_sets, const uint64_t *outputs, double settle_us,
                                  double budget_us, const MirageDiag *diag, MirageTiming *out_timings) {
  if (num_sets == 0 || num_programs == 0 || num_programs > MAX_RACERS)
    return mirage_diag_fail(
        diag, NULL, MIRAGE_BAD_ARGUMENT,
        "timing: %u input sets and %u programs given; at least 1 set and 1 to %d programs are needed", num_sets,
        num_programs, MAX_RACERS);
  Race race = {.num = num_programs};
  for (uint32_t i = 0; i < num_programs; i++) {
    race.timers[i] = (Timer){.program = programs[i],
                             .device = programs[i]->device,
                             .diag = diag,
                             .input_sets = input_sets,
                             .outputs = outputs,
                             .num_inputs = programs[i]->num_inputs};
    MIRAGE_TRY(mirage_program_run(programs[i], input_sets, outputs, diag));
  }
  MIRAGE_TRY(mirage__device_enter(race.timers[0].device, diag));
  MirageStatus status = race_with_events(&race, num_sets, settle_us, budget_us, out_timings);
  mirage__device_leave(race.timers[0].device);
  return status;
}
