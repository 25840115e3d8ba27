// overhead.c - what a launch through this library costs the CPU beyond the driver's own calls.
//
// Both kinds are measured in turn, in batches small enough that the driver's queue never fills (a full queue makes a
// launch wait for the device) and with the device idle before each. The medians over batches are reported: the first
// batches warm caches, and an interrupt hits few.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "runtime_impl.h"

#include <stdlib.h>
#include <time.h>

enum { BATCHES = 101, CALLS = 32 };

typedef struct Meter {
  MirageProgram *program;
  MirageLane *lane;
  const uint64_t *inputs, *outputs;
  const MirageDiag *diag;
} Meter;

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static MirageStatus call_driver(const Meter *meter) {
  for (uint32_t k = 0; k < meter->program->num_kernels; k++) {
    CuResult result = mirage__lane_enqueue(meter->program, meter->lane, k);
    if (result != CU_SUCCESS)
      return mirage__cuda_check(meter->diag, result, "launch: %s failed to start", meter->program->kernels[k].name);
  }
  return MIRAGE_OK;
}

static MirageStatus call_program(const Meter *meter) {
  return mirage_program_launch(meter->program, meter->inputs, meter->outputs, NULL, meter->diag);
}

static MirageStatus measure(const Meter *meter, MirageStatus (*call)(const Meter *), double *out_us) {
  double start = now_us();
  for (int i = 0; i < CALLS; i++)
    MIRAGE_TRY(call(meter));
  *out_us = (now_us() - start) / CALLS;
  return mirage__device_wait(meter->program->device, meter->program->device->stream, "a batch of launches", "",
                             meter->diag);
}

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static MirageStatus measure_batches(const Meter *meter, MirageLaunchOverhead *overhead) {
  double bare[BATCHES], launch[BATCHES];
  for (int i = 0; i < BATCHES; i++) {
    MIRAGE_TRY(measure(meter, call_driver, &bare[i]));
    MIRAGE_TRY(measure(meter, call_program, &launch[i]));
  }
  qsort(bare, BATCHES, sizeof *bare, by_value);
  qsort(launch, BATCHES, sizeof *launch, by_value);
  *overhead =
      (MirageLaunchOverhead){bare[BATCHES / 2], launch[BATCHES / 2], meter->program->num_kernels, BATCHES * CALLS};
  return MIRAGE_OK;
}

MirageStatus mirage_program_launch_overhead(MirageProgram *program, const uint64_t *inputs, const uint64_t *outputs,
                                            const MirageDiag *diag, MirageLaunchOverhead *out_overhead) {
  Meter meter = {program, NULL, inputs, outputs, diag};
  MIRAGE_TRY(mirage_program_run(program, inputs, outputs, diag)); // the lane has the addresses from here on
  MIRAGE_TRY(mirage__lane_get(program, program->device->stream, false, diag, &meter.lane));
  MIRAGE_TRY(mirage__device_enter(program->device, diag));
  MirageLaunchOverhead overhead = {0};
  MirageStatus status = measure_batches(&meter, &overhead);
  mirage__device_leave(program->device);
  if (status == MIRAGE_OK)
    *out_overhead = overhead;
  return status;
}
