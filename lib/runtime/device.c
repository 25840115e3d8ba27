// device.c - one GPU: a context on it, a stream, and device memory.
//
// Call order:  create  (alloc | upload | download | fill | free | module ... | synchronize)*  destroy.
// Context:     the primary context, which the CUDA runtime and frameworks use too, or the one that is current for the
//              caller; every call pushes it for its own duration, so that the caller's current context is the same
//              before and after.
// Copies:      go through the device's own stream and are complete on return, so they are ordered with launches on that
//              stream; work on a stream of the caller's is ordered by mirage_device_synchronize.
// Hanging:     waits poll, where there is a time-out. A device that ran into it refuses to be entered, where the driver
//              would block; so everything that frees does nothing any more.
#define _POSIX_C_SOURCE 200809L // clock_gettime, nanosleep
#include "runtime_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

MirageStatus mirage__device_enter(MirageDevice *device, const MirageDiag *diag) {
  if (atomic_load_explicit(&device->hanging, memory_order_relaxed))
    return mirage_diag_fail(diag, NULL, MIRAGE_DRIVER,
                            "device: %s still runs a kernel that did not finish in time: end the process",
                            device->info.name);
  return mirage__cuda_check(diag, device->cuda.context_push(device->context), "device: cannot make %s current",
                            device->info.name);
}

void mirage__device_leave(MirageDevice *device) {
  CuContext popped;
  device->cuda.context_pop(&popped);
}

bool mirage_device_is_current(const MirageDevice *device) {
  CuContext current = NULL;
  return device->cuda.context_current(&current) == CU_SUCCESS && current == device->context;
}

// ------------------------------------------------------------------------------------------------------------- waiting

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Short waits are polled without a pause, so that a wait costs no more than the kernel takes.
static void pause_after(double waited_s) {
  if (waited_s > 1e-3)
    nanosleep(&(struct timespec){.tv_nsec = waited_s > 0.1 ? 10000000 : 100000}, NULL);
}

MirageStatus mirage__device_wait_event(MirageDevice *device, CuEvent event, const char *what, const char *name,
                                       const MirageDiag *diag) {
  const double start = now_s();
  CuResult result;
  while ((result = device->cuda.event_query(event)) == CU_NOT_READY) {
    double waited = now_s() - start;
    if (device->timeout_s > 0 && waited > device->timeout_s) {
      atomic_store(&device->hanging, true);
      return mirage_diag_fail(diag, NULL, MIRAGE_DRIVER,
                              "device: %s%s did not finish within %g s on %s: it waits for what never comes, or is far "
                              "slower than the time-out allows for",
                              what, name, device->timeout_s, device->info.name);
    }
    pause_after(waited);
  }
  return mirage__cuda_check(diag, result, "device: %s%s failed", what, name);
}

MirageStatus mirage__device_wait(MirageDevice *device, CuStream stream, const char *what, const char *name,
                                 const MirageDiag *diag) {
  const MirageCuda *cuda = &device->cuda;
  if (device->timeout_s <= 0)
    return mirage__cuda_check(diag, cuda->stream_synchronize(stream), "device: %s%s failed", what, name);
  CuEvent event = NULL;
  CuResult result = cuda->event_create(&event, CU_EVENT_NO_TIMING);
  if (result == CU_SUCCESS)
    result = cuda->event_record(event, stream);
  MirageStatus status = mirage__cuda_check(diag, result, "device: %s%s failed", what, name);
  if (status == MIRAGE_OK)
    status = mirage__device_wait_event(device, event, what, name, diag);
  if (event && !atomic_load(&device->hanging))
    cuda->event_destroy(event);
  return status;
}

void mirage_device_set_timeout(MirageDevice *device, double seconds) { device->timeout_s = seconds > 0 ? seconds : 0; }

// ------------------------------------------------------------------------------------------------------------ creating

static MirageStatus start_driver(MirageDevice *device, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__cuda_open(diag, &device->cuda));
  return mirage__cuda_check(diag, device->cuda.init(0), "device: the CUDA driver does not start");
}

static MirageStatus find_device(MirageDevice *device, int32_t ordinal, const MirageDiag *diag) {
  const MirageCuda *cuda = &device->cuda;
  int count = 0;
  MIRAGE_TRY(mirage__cuda_check(diag, cuda->device_count(&count), "device: cannot count the devices"));
  if (count == 0)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_DEVICE, "device: the CUDA driver is there but shows no GPU: %s",
                            mirage__cuda_result_remedy(100));
  if (ordinal < 0 || ordinal >= count)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_DEVICE, "device: no device %d: the driver shows %d (numbered from 0)",
                            ordinal, count);
  return mirage__cuda_check(diag, cuda->device_get(&device->handle, ordinal), "device: cannot open device %d", ordinal);
}

static MirageStatus read_info(MirageDevice *device, const MirageDiag *diag) {
  const MirageCuda *cuda = &device->cuda;
  MirageDeviceInfo *info = &device->info;
  size_t total_bytes = 0;
  CuResult result = cuda->device_name(info->name, sizeof info->name, device->handle);
  if (result == CU_SUCCESS)
    result = cuda->driver_version(&info->driver_version);
  if (result == CU_SUCCESS)
    result = cuda->device_total_bytes(&total_bytes, device->handle);
  info->total_bytes = total_bytes;
  const struct {
    int attribute;
    int32_t *value;
  } wanted[] = {
      {CU_DEVICE_COMPUTE_MAJOR, &info->compute_major},
      {CU_DEVICE_COMPUTE_MINOR, &info->compute_minor},
      {CU_DEVICE_NUM_SMS, &info->num_sms},
      {CU_DEVICE_SHARED_BYTES_OPTIN, &info->shared_bytes_per_block},
      {CU_DEVICE_L2_BYTES, &info->l2_bytes},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted && result == CU_SUCCESS; i++)
    result = cuda->device_attribute(wanted[i].value, wanted[i].attribute, device->handle);
  return mirage__cuda_check(diag, result, "device: cannot read the properties of the device");
}

static MirageStatus create_stream(MirageDevice *device, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  CuResult result = device->cuda.stream_create(&device->stream, CU_STREAM_NON_BLOCKING_FLAG);
  mirage__device_leave(device);
  return mirage__cuda_check(diag, result, "device: cannot create a stream on %s", device->info.name);
}

static MirageStatus retain_primary(MirageDevice *device, int32_t ordinal, const MirageDiag *diag) {
  MIRAGE_TRY(find_device(device, ordinal, diag));
  MIRAGE_TRY(read_info(device, diag));
  CuResult result = device->cuda.context_retain(&device->context, device->handle);
  device->retained = result == CU_SUCCESS;
  return mirage__cuda_check(diag, result, "device: cannot create a context on %s", device->info.name);
}

static MirageStatus take_current(MirageDevice *device, const MirageDiag *diag) {
  const MirageCuda *cuda = &device->cuda;
  CuResult result = cuda->context_current(&device->context);
  if (result == CU_SUCCESS && !device->context)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT,
                            "device: no context is current for this thread: make one current, or open a device by its "
                            "number");
  if (result == CU_SUCCESS)
    result = cuda->context_device(&device->handle);
  MIRAGE_TRY(mirage__cuda_check(diag, result, "device: cannot ask for the current context"));
  return read_info(device, diag);
}

static MirageStatus create(int32_t ordinal, bool current, const MirageDiag *diag, MirageDevice **out_device) {
  *out_device = NULL;
  MirageDevice *device = calloc(1, sizeof *device);
  if (!device || pthread_mutex_init(&device->lock, NULL) != 0) {
    free(device);
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "device: out of memory");
  }
  MirageStatus status = start_driver(device, diag);
  if (status == MIRAGE_OK)
    status = current ? take_current(device, diag) : retain_primary(device, ordinal, diag);
  if (status == MIRAGE_OK)
    status = create_stream(device, diag);
  if (status != MIRAGE_OK) {
    mirage_device_destroy(device);
    return status;
  }
  *out_device = device;
  return MIRAGE_OK;
}

MirageStatus mirage_device_create(int32_t ordinal, const MirageDiag *diag, MirageDevice **out_device) {
  return create(ordinal, false, diag, out_device);
}

MirageStatus mirage_device_create_current(const MirageDiag *diag, MirageDevice **out_device) {
  return create(0, true, diag, out_device);
}

MirageStatus mirage_device_probe(int32_t ordinal, const MirageDiag *diag, MirageDeviceInfo *out_info) {
  MirageDevice device = {0};
  MIRAGE_TRY(start_driver(&device, diag));
  MIRAGE_TRY(find_device(&device, ordinal, diag));
  MIRAGE_TRY(read_info(&device, diag));
  *out_info = device.info;
  return MIRAGE_OK;
}

// Also for one that is half made. Errors are dropped: after a lost context every one of these calls fails, and there is
// nothing left to save.
void mirage_device_destroy(MirageDevice *device) {
  if (!device)
    return;
  if (device->stream && mirage__device_enter(device, NULL) == MIRAGE_OK) {
    device->cuda.stream_destroy(device->stream);
    mirage__device_leave(device);
  }
  if (device->retained && !atomic_load(&device->hanging))
    device->cuda.context_release(device->handle);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

const MirageDeviceInfo *mirage_device_info(const MirageDevice *device) { return &device->info; }

// -------------------------------------------------------------------------------------------------------------- memory

static MirageStatus fail_alloc(MirageDevice *device, CuResult result, size_t bytes, const MirageDiag *diag) {
  const double gib = 1024.0 * 1024.0 * 1024.0;
  size_t free_bytes = 0, total_bytes = 0;
  if (result == 2 && device->cuda.memory_info(&free_bytes, &total_bytes) == CU_SUCCESS)
    return mirage__cuda_check(diag, result, "device: cannot allocate %.3g GiB: %.3g of %.3g GiB are free",
                              (double)bytes / gib, (double)free_bytes / gib, (double)total_bytes / gib);
  return mirage__cuda_check(diag, result, "device: cannot allocate %zu bytes", bytes);
}

MirageStatus mirage_device_alloc(MirageDevice *device, size_t bytes, const MirageDiag *diag, uint64_t *out_pointer) {
  CuDevicePointer pointer = 0;
  MIRAGE_TRY(mirage__device_enter(device, diag));
  CuResult result = device->cuda.memory_alloc(&pointer, bytes ? bytes : 1);
  MirageStatus status = result == CU_SUCCESS ? MIRAGE_OK : fail_alloc(device, result, bytes, diag);
  mirage__device_leave(device);
  if (status == MIRAGE_OK)
    *out_pointer = pointer;
  return status;
}

void mirage_device_free(MirageDevice *device, uint64_t pointer) {
  if (!pointer || mirage__device_enter(device, NULL) != MIRAGE_OK)
    return;
  device->cuda.memory_free(pointer);
  mirage__device_leave(device);
}

// Waits for the device's stream after a call that enqueued on it, and reports the first failure of the two.
static MirageStatus finish(MirageDevice *device, CuResult result, const char *what, size_t bytes,
                           const MirageDiag *diag) {
  char name[64];
  snprintf(name, sizeof name, " of %zu bytes", bytes);
  MirageStatus status = mirage__cuda_check(diag, result, "device: %s%s failed", what, name);
  if (status == MIRAGE_OK)
    status = mirage__device_wait(device, device->stream, what, name, diag);
  mirage__device_leave(device);
  return status;
}

MirageStatus mirage_device_upload(MirageDevice *device, uint64_t to, const void *from, size_t bytes,
                                  const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  return finish(device, device->cuda.copy_to_device(to, from, bytes, device->stream), "upload", bytes, diag);
}

MirageStatus mirage_device_download(MirageDevice *device, void *to, uint64_t from, size_t bytes,
                                    const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  return finish(device, device->cuda.copy_to_host(to, from, bytes, device->stream), "download", bytes, diag);
}

MirageStatus mirage_device_fill(MirageDevice *device, uint64_t to, uint8_t byte, size_t bytes, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  return finish(device, device->cuda.memory_set(to, byte, bytes, device->stream), "fill", bytes, diag);
}

// What is filled doubles with each copy.
MirageStatus mirage_device_repeat(MirageDevice *device, uint64_t to, size_t held, size_t total,
                                  const MirageDiag *diag) {
  if (!held && total)
    return mirage_diag_fail(diag, NULL, MIRAGE_BAD_ARGUMENT, "device: no bytes to fill %zu with", total);
  MIRAGE_TRY(mirage__device_enter(device, diag));
  CuResult result = CU_SUCCESS;
  for (size_t filled = held, more; filled < total && result == CU_SUCCESS; filled += more) {
    more = filled < total - filled ? filled : total - filled;
    result = device->cuda.copy_on_device(to + filled, to, more, device->stream);
  }
  return finish(device, result, "repetition", total, diag);
}

MirageStatus mirage_device_synchronize(MirageDevice *device, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  CuResult result = device->cuda.context_synchronize();
  mirage__device_leave(device);
  return mirage__cuda_check(diag, result, "device: a kernel launched earlier on %s failed", device->info.name);
}
