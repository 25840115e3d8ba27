// device.c - one GPU: its primary context, a stream, and device memory.
//
// Call order:  create  (alloc | upload | download | fill | free | module ... | synchronize)*  destroy.
// Context:     the primary context, which the CUDA runtime and frameworks use too; every call pushes it for its own
//              duration, so that the caller's current context is the same before and after.
// Copies:      go through the device's own stream and are complete on return, so they are ordered with launches on that
//              stream; work on a stream of the caller's is ordered by mirage_device_synchronize.
#include "runtime_impl.h"

#include <stdlib.h>

MirageStatus mirage__device_enter(MirageDevice *device, const MirageDiag *diag) {
  return mirage__cuda_check(diag, device->cuda.context_push(device->context), "device: cannot make %s current",
                            device->info.name);
}

void mirage__device_leave(MirageDevice *device) {
  CuContext popped;
  device->cuda.context_pop(&popped);
}

static MirageStatus find_device(MirageDevice *device, int32_t ordinal, const MirageDiag *diag) {
  const MirageCuda *cuda = &device->cuda;
  MIRAGE_TRY(mirage__cuda_check(diag, cuda->init(0), "device: the CUDA driver does not start"));
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
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted && result == CU_SUCCESS; ++i)
    result = cuda->device_attribute(wanted[i].value, wanted[i].attribute, device->handle);
  return mirage__cuda_check(diag, result, "device: cannot read the properties of the device");
}

static MirageStatus create_stream(MirageDevice *device, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  CuResult result = device->cuda.stream_create(&device->stream, CU_STREAM_NON_BLOCKING_FLAG);
  mirage__device_leave(device);
  return mirage__cuda_check(diag, result, "device: cannot create a stream on %s", device->info.name);
}

MirageStatus mirage_device_create(int32_t ordinal, const MirageDiag *diag, MirageDevice **out_device) {
  *out_device = NULL;
  MirageDevice *device = calloc(1, sizeof *device);
  if (!device)
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_MEMORY, "device: out of memory");
  MirageStatus status = mirage__cuda_open(diag, &device->cuda);
  if (status == MIRAGE_OK)
    status = find_device(device, ordinal, diag);
  if (status == MIRAGE_OK)
    status = read_info(device, diag);
  if (status != MIRAGE_OK)
    goto fail_device;
  status = mirage__cuda_check(diag, device->cuda.context_retain(&device->context, device->handle),
                              "device: cannot create a context on %s", device->info.name);
  if (status != MIRAGE_OK)
    goto fail_device;
  status = create_stream(device, diag);
  if (status != MIRAGE_OK)
    goto fail_stream;
  *out_device = device;
  return MIRAGE_OK;
fail_stream:
  device->cuda.context_release(device->handle);
fail_device:
  free(device);
  return status;
}

// Errors are dropped: after a lost context every one of these calls fails, and there is nothing left to save.
void mirage_device_destroy(MirageDevice *device) {
  if (!device)
    return;
  if (mirage__device_enter(device, NULL) == MIRAGE_OK) {
    device->cuda.stream_destroy(device->stream);
    mirage__device_leave(device);
  }
  device->cuda.context_release(device->handle);
  free(device);
}

const MirageDeviceInfo *mirage_device_info(const MirageDevice *device) { return &device->info; }

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
  if (result == CU_SUCCESS)
    result = device->cuda.stream_synchronize(device->stream);
  mirage__device_leave(device);
  return mirage__cuda_check(diag, result, "device: %s of %zu bytes failed", what, bytes);
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

MirageStatus mirage_device_synchronize(MirageDevice *device, const MirageDiag *diag) {
  MIRAGE_TRY(mirage__device_enter(device, diag));
  CuResult result = device->cuda.context_synchronize();
  mirage__device_leave(device);
  return mirage__cuda_check(diag, result, "device: a kernel launched earlier on %s failed", device->info.name);
}
