// cuda_errors.c - the driver's error numbers: name, the status they become, and what a user can do about them.
//
// One row per CUresult that this library can meet (texture, peer and graphics errors are left out: nothing here can
// cause them; they print as a number). A remedy is one clause that starts with a verb, or says what the number means
// for us.
#include "cuda_api.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct ErrorRow {
  CuResult number;
  const char *name;
  MirageStatus status;
  const char *remedy;
} ErrorRow;

#define CONTEXT_LOST "the device context is lost: nothing else can run in this process"

static const ErrorRow errors[] = {
    {0, "CUDA_SUCCESS", MIRAGE_OK, NULL},
    {1, "CUDA_ERROR_INVALID_VALUE", MIRAGE_DRIVER,
     "the driver refused an argument: a size, grid or pointer is out of its range"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", MIRAGE_NO_MEMORY, "free device memory (see nvidia-smi) or use smaller tensors"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", MIRAGE_DRIVER, NULL},
    {4, "CUDA_ERROR_DEINITIALIZED", MIRAGE_DRIVER,
     "the driver is shutting down: release devices before the process exits"},
    {34, "CUDA_ERROR_STUB_LIBRARY", MIRAGE_NO_DEVICE,
     "the libcuda found is the toolkit's stub: install the driver, or take the stubs folder out of LD_LIBRARY_PATH"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", MIRAGE_DRIVER, "update the NVIDIA driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", MIRAGE_NO_DEVICE,
     "another process holds the device exclusively, or it has failed: see nvidia-smi"},
    {100, "CUDA_ERROR_NO_DEVICE", MIRAGE_NO_DEVICE,
     "no CUDA GPU is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {101, "CUDA_ERROR_INVALID_DEVICE", MIRAGE_NO_DEVICE,
     "no device has this number: check nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {200, "CUDA_ERROR_INVALID_IMAGE", MIRAGE_DRIVER, "the image is neither PTX nor a cubin for this device"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", MIRAGE_DRIVER,
     "the device was destroyed, or its context was reset by someone else"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", MIRAGE_DRIVER,
     "the image was compiled for another architecture: compile with this device as the target"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", MIRAGE_DRIVER,
     "the device's memory has failed: see nvidia-smi -q -d ECC; " CONTEXT_LOST},
    {218, "CUDA_ERROR_INVALID_PTX", MIRAGE_DRIVER, "the driver's compiler refused the PTX"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", MIRAGE_DRIVER, "an NVLink connection has failed: see nvidia-smi nvlink"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", MIRAGE_DRIVER,
     "libnvidia-ptxjitcompiler is missing: install the whole driver package"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", MIRAGE_DRIVER,
     "the PTX is newer than the driver: update the driver, or compile for an older PTX version"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", MIRAGE_DRIVER, "CUDA_DISABLE_PTX_JIT is set: unset it"},
    {300, "CUDA_ERROR_INVALID_SOURCE", MIRAGE_DRIVER, "the image is damaged"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", MIRAGE_DRIVER, NULL},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", MIRAGE_DRIVER,
     "the driver's libraries do not fit together: reinstall the driver"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", MIRAGE_DRIVER,
     "the driver's libraries do not fit together: reinstall the driver"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", MIRAGE_DRIVER,
     "an operating-system call failed: check the permissions of /dev/nvidia*"},
    {400, "CUDA_ERROR_INVALID_HANDLE", MIRAGE_DRIVER,
     "a stream or module belongs to another context, or is already destroyed"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", MIRAGE_DRIVER, NULL},
    {500, "CUDA_ERROR_NOT_FOUND", MIRAGE_DRIVER, "the image has no symbol of this name"},
    {600, "CUDA_ERROR_NOT_READY", MIRAGE_DRIVER, NULL},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", MIRAGE_DRIVER,
     "a kernel read or wrote outside its tensors (compute-sanitizer names the instruction); " CONTEXT_LOST},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", MIRAGE_DRIVER,
     "the block needs more registers or threads than a multiprocessor has: use fewer warps"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", MIRAGE_DRIVER, "a kernel ran into the display watchdog; " CONTEXT_LOST},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", MIRAGE_DRIVER,
     "the device was destroyed, or its context was reset by someone else"},
    {710, "CUDA_ERROR_ASSERT", MIRAGE_DRIVER, "a kernel reported a failed assertion; " CONTEXT_LOST},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", MIRAGE_DRIVER, CONTEXT_LOST},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", MIRAGE_DRIVER,
     "a kernel met an instruction that this device refuses; " CONTEXT_LOST},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", MIRAGE_DRIVER,
     "a vector access or copy was not aligned to its size: tensors must start on 256 bytes; " CONTEXT_LOST},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", MIRAGE_DRIVER,
     "a pointer of one memory space was used in another; " CONTEXT_LOST},
    {718, "CUDA_ERROR_INVALID_PC", MIRAGE_DRIVER, CONTEXT_LOST},
    {719, "CUDA_ERROR_LAUNCH_FAILED", MIRAGE_DRIVER,
     "a kernel failed (for example by a shared-memory access out of range); " CONTEXT_LOST},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", MIRAGE_DRIVER,
     "the grid's blocks do not fit on the device at the same time"},
    {800, "CUDA_ERROR_NOT_PERMITTED", MIRAGE_DRIVER,
     "the call is not allowed now, for example while a stream is being captured"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", MIRAGE_DRIVER, "the device or driver lacks this feature"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", MIRAGE_NO_DEVICE,
     "the system is still starting: on NVSwitch machines the fabric manager must run"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", MIRAGE_NO_DEVICE,
     "libcuda and the kernel driver differ in version: reboot, or reinstall the driver"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", MIRAGE_NO_DEVICE,
     "the forward-compatibility libcuda does not support this GPU: use the system's driver"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", MIRAGE_NO_DEVICE, "the MPS control daemon does not answer: restart it"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", MIRAGE_DRIVER, "the call cannot be captured in a graph"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", MIRAGE_DRIVER, "an earlier error ended the capture"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", MIRAGE_DRIVER, NULL},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", MIRAGE_DRIVER,
     "the captured stream depends on one outside the capture"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", MIRAGE_DRIVER,
     "the legacy default stream cannot be used during a capture"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", MIRAGE_DRIVER, "a capture must end on the thread that began it"},
    {909, "CUDA_ERROR_TIMEOUT", MIRAGE_DRIVER, NULL},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", MIRAGE_DRIVER, NULL},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", MIRAGE_DRIVER,
     "the device cannot schedule a cluster of this size with this much shared memory"},
    {999, "CUDA_ERROR_UNKNOWN", MIRAGE_DRIVER, "see dmesg for the driver's own message (Xid)"},
};

static const ErrorRow *find(CuResult result) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (errors[i].number == result)
      return &errors[i];
  return NULL;
}

const char *mirage__cuda_result_name(CuResult result) {
  const ErrorRow *row = find(result);
  return row ? row->name : "unknown CUDA error";
}

const char *mirage__cuda_result_remedy(CuResult result) {
  const ErrorRow *row = find(result);
  return row ? row->remedy : NULL;
}

MirageStatus mirage__cuda_result_status(CuResult result) {
  const ErrorRow *row = find(result);
  return row ? row->status : MIRAGE_DRIVER;
}

MirageStatus mirage__cuda_check(const MirageDiag *diag, CuResult result, const char *format, ...) {
  if (result == CU_SUCCESS)
    return MIRAGE_OK;
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  const char *remedy = mirage__cuda_result_remedy(result);
  return mirage_diag_fail(diag, NULL, mirage__cuda_result_status(result), "%s: %s (%d)%s%s", what,
                          mirage__cuda_result_name(result), result, remedy ? ": " : "", remedy ? remedy : "");
}
