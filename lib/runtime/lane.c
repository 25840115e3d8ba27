// lane.c - what one stream needs to launch a program: launch parameters filled in beforehand, and a workspace.
//
// A launch only writes the addresses of the caller's tensors into a lane and calls cuLaunchKernelEx. Lanes are found
// without a lock in a list that only grows; one that is forgotten keeps its memory and is given to the next new stream.
//
// Threads: several may launch on one stream. The lane's lock keeps their kernels apart: the second call's first kernel
//          comes behind the first call's last, as the workspace that they share wants it.
// Example: k0(input 0, workspace+0); k1(workspace+0, input 1, output 0)  has 5 addresses, of which a launch writes the
//          first and the last two; the others were written when the lane was made.
#include "runtime_impl.h"

#include <stdlib.h>
#include <string.h>

static const CuStream PER_THREAD_STREAM = (CuStream)2; // CU_STREAM_PER_THREAD

static MirageLane *find(const MirageProgram *program, CuStream stream, bool borrows) {
  for (MirageLane *lane = atomic_load_explicit(&program->lanes, memory_order_acquire); lane; lane = lane->next)
    if (lane->borrows == borrows && atomic_load_explicit(&lane->stream, memory_order_acquire) == stream)
      return lane;
  return NULL;
}

// ------------------------------------------------------------------------------------------------------------- making

static void free_arrays(MirageLane *lane) {
  free(lane->configs);
  free(lane->addresses);
  free(lane->caches);
  free(lane->parameters);
  free(lane);
}

static void lane_free(MirageProgram *program, MirageLane *lane) {
  if (!lane->borrows)
    mirage_device_free(program->device, lane->workspace);
  pthread_mutex_destroy(&lane->lock);
  free_arrays(lane);
}

static MirageLane *lane_alloc(const MirageProgram *program) {
  MirageLane *lane = calloc(1, sizeof *lane);
  if (!lane)
    return NULL;
  size_t num_parameters = (size_t)program->num_sources + program->num_maps;
  lane->configs = calloc((size_t)program->num_kernels + 1, sizeof *lane->configs);
  lane->addresses = calloc((size_t)program->num_sources + 1, sizeof *lane->addresses);
  lane->caches = aligned_alloc(_Alignof(MirageMapCache), ((size_t)program->num_maps + 1) * sizeof *lane->caches);
  lane->parameters = calloc(num_parameters + 1, sizeof *lane->parameters);
  if (lane->configs && lane->addresses && lane->caches && lane->parameters &&
      pthread_mutex_init(&lane->lock, NULL) == 0) {
    memset(lane->caches, 0, ((size_t)program->num_maps + 1) * sizeof *lane->caches);
    return lane;
  }
  free_arrays(lane);
  return NULL;
}

static MirageStatus allocate(MirageProgram *program, const MirageDiag *diag, uint64_t *out_workspace) {
  uint64_t workspace = 0;
  MIRAGE_TRY(mirage_device_alloc(program->device, program->workspace_bytes, diag, &workspace));
  size_t zeroed = program->zeroed_bytes;
  MirageStatus status = MIRAGE_OK;
  if (zeroed > 0)
    status = mirage_device_fill(program->device, workspace + program->workspace_bytes - zeroed, 0, zeroed, diag);
  if (status == MIRAGE_OK)
    *out_workspace = workspace;
  else
    mirage_device_free(program->device, workspace);
  return status;
}

// Memory is allocated and cleared at once, on the device's own stream, also while the caller captures another one: both
// are no part of the capture, which the driver believes when this thread says so.
static MirageStatus allocate_workspace(MirageProgram *program, CuStream stream, const MirageDiag *diag,
                                       uint64_t *out_workspace) {
  if (stream == PER_THREAD_STREAM)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "program: the per-thread default stream is another stream in every thread, so it has no "
                            "workspace of its own: launch on a stream of yours, or with a workspace of yours");
  MirageDevice *device = program->device;
  int mode = CU_CAPTURE_RELAXED;
  MIRAGE_TRY(mirage__device_enter(device, diag));
  MirageStatus status =
      mirage__cuda_check(diag, device->cuda.capture_mode(&mode), "program: cannot set the thread's capture mode");
  if (status == MIRAGE_OK) {
    status = allocate(program, diag, out_workspace);
    device->cuda.capture_mode(&mode); // as it was
  }
  mirage__device_leave(device);
  return status;
}

void mirage__lane_set_workspace(const MirageProgram *program, MirageLane *lane, uint64_t workspace) {
  lane->workspace = workspace;
  for (uint32_t i = 0; i < program->num_sources; i++)
    if (program->sources[i].kind == MIRAGE_FROM_WORKSPACE)
      lane->addresses[i] = workspace + (uint64_t)program->sources[i].offset;
}

// The store of the stream comes last: who finds the lane by it finds the rest of it made.
static void set_stream(const MirageProgram *program, MirageLane *lane, CuStream stream) {
  for (uint32_t k = 0; k < program->num_kernels; k++)
    lane->configs[k] = mirage__launch_config(&program->kernels[k].ready, stream);
  atomic_store_explicit(&lane->stream, stream, memory_order_release);
}

// A new lane at the head of the list, or one that was forgotten. program->lock is held.
static MirageStatus add(MirageProgram *program, CuStream stream, bool borrows, const MirageDiag *diag,
                        MirageLane **out_lane) {
  MirageLane *lane = find(program, NULL, borrows);
  if (lane) {
    set_stream(program, lane, stream);
    *out_lane = lane;
    return MIRAGE_OK;
  }
  uint64_t workspace = 0;
  if (!borrows && program->workspace_bytes > 0)
    MIRAGE_TRY(allocate_workspace(program, stream, diag, &workspace));
  lane = lane_alloc(program);
  if (!lane) {
    mirage_device_free(program->device, workspace);
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "program: out of memory");
  }
  lane->borrows = borrows;
  for (uint32_t k = 0; k < program->num_kernels; k++) {
    const MirageProgramKernel *kernel = &program->kernels[k];
    for (uint32_t i = 0; i < kernel->num_pointers; i++)
      lane->parameters[kernel->first_source + kernel->first_map + i] = &lane->addresses[kernel->first_source + i];
  }
  mirage__lane_set_workspace(program, lane, workspace);
  set_stream(program, lane, stream);
  lane->next = atomic_load_explicit(&program->lanes, memory_order_relaxed);
  atomic_store_explicit(&program->lanes, lane, memory_order_release);
  *out_lane = lane;
  return MIRAGE_OK;
}

MirageStatus mirage__lane_get(MirageProgram *program, CuStream stream, bool borrows, const MirageDiag *diag,
                              MirageLane **out_lane) {
  *out_lane = find(program, stream, borrows);
  if (*out_lane)
    return MIRAGE_OK;
  pthread_mutex_lock(&program->lock);
  *out_lane = find(program, stream, borrows); // another thread may have been first
  MirageStatus status = *out_lane ? MIRAGE_OK : add(program, stream, borrows, diag, out_lane);
  pthread_mutex_unlock(&program->lock);
  return status;
}

void mirage_program_forget(MirageProgram *program, void *stream) {
  CuStream wanted = stream ? (CuStream)stream : program->device->stream;
  for (int borrows = 0; borrows < 2; borrows++) {
    MirageLane *lane = find(program, wanted, borrows);
    if (lane)
      atomic_store_explicit(&lane->stream, NULL, memory_order_release);
  }
}

void mirage__lanes_destroy(MirageProgram *program) {
  for (MirageLane *lane = atomic_load(&program->lanes), *next; lane; lane = next) {
    next = lane->next;
    lane_free(program, lane);
  }
}
