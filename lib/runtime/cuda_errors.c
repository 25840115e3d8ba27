// cuda_errors.c - the driver's error numbers: name, the status they become, and what a user can do about them.
//
// One row per CUresult. A remedy is one clause that starts with a verb, or says what the number means for us; errors of
// textures, peers and graphics, which nothing here can cause, come from someone else in the process and say no more.
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
    {3, "CUDA_ERROR_NOT_INITIALIZED", MIRAGE_DRIVER, "a call came before the driver was started"},
    {4, "CUDA_ERROR_DEINITIALIZED", MIRAGE_DRIVER,
     "the driver is shutting down: release devices before the process exits"},
    {5, "CUDA_ERROR_PROFILER_DISABLED", MIRAGE_DRIVER, NULL},
    {6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", MIRAGE_DRIVER, NULL},
    {7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", MIRAGE_DRIVER, NULL},
    {8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", MIRAGE_DRIVER, NULL},
    {34, "CUDA_ERROR_STUB_LIBRARY", MIRAGE_NO_DEVICE,
     "the libcuda found is the toolkit's stub: install the driver, or take the stubs folder out of LD_LIBRARY_PATH"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", MIRAGE_DRIVER, "update the NVIDIA driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", MIRAGE_NO_DEVICE,
     "another process holds the device exclusively, or it has failed: see nvidia-smi"},
    {100, "CUDA_ERROR_NO_DEVICE", MIRAGE_NO_DEVICE,
     "no CUDA GPU is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {101, "CUDA_ERROR_INVALID_DEVICE", MIRAGE_NO_DEVICE,
     "no device has this number: check nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {102, "CUDA_ERROR_DEVICE_NOT_LICENSED", MIRAGE_NO_DEVICE, "the virtual GPU has no license: see nvidia-smi -q"},
    {200, "CUDA_ERROR_INVALID_IMAGE", MIRAGE_DRIVER, "the image is neither PTX nor a cubin for this device"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", MIRAGE_DRIVER,
     "the device was destroyed, or its context was reset by someone else"},
    {202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", MIRAGE_DRIVER, NULL},
    {205, "CUDA_ERROR_MAP_FAILED", MIRAGE_DRIVER, NULL},
    {206, "CUDA_ERROR_UNMAP_FAILED", MIRAGE_DRIVER, NULL},
    {207, "CUDA_ERROR_ARRAY_IS_MAPPED", MIRAGE_DRIVER, NULL},
    {208, "CUDA_ERROR_ALREADY_MAPPED", MIRAGE_DRIVER, NULL},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", MIRAGE_DRIVER,
     "the image was compiled for another architecture: compile with this device as the target"},
    {210, "CUDA_ERROR_ALREADY_ACQUIRED", MIRAGE_DRIVER, NULL},
    {211, "CUDA_ERROR_NOT_MAPPED", MIRAGE_DRIVER, NULL},
    {212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", MIRAGE_DRIVER, NULL},
    {213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", MIRAGE_DRIVER, NULL},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", MIRAGE_DRIVER,
     "the device's memory has failed: see nvidia-smi -q -d ECC; " CONTEXT_LOST},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT", MIRAGE_DRIVER, NULL},
    {216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", MIRAGE_DRIVER, NULL},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", MIRAGE_DRIVER, NULL},
    {218, "CUDA_ERROR_INVALID_PTX", MIRAGE_DRIVER, "the driver's compiler refused the PTX"},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", MIRAGE_DRIVER, NULL},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", MIRAGE_DRIVER, "an NVLink connection has failed: see nvidia-smi nvlink"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", MIRAGE_DRIVER,
     "libnvidia-ptxjitcompiler is missing: install the whole driver package"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", MIRAGE_DRIVER,
     "the PTX is newer than the driver: update the driver, or compile for an older PTX version"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", MIRAGE_DRIVER, "CUDA_DISABLE_PTX_JIT is set: unset it"},
    {224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", MIRAGE_DRIVER, NULL},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", MIRAGE_DRIVER, NULL},
    {226, "CUDA_ERROR_CONTAINED", MIRAGE_DRIVER,
     "the device's memory has failed and the driver contained it: restart the process"},
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
    {402, "CUDA_ERROR_LOSSY_QUERY", MIRAGE_DRIVER, NULL},
    {500, "CUDA_ERROR_NOT_FOUND", MIRAGE_DRIVER, "the image has no symbol of this name"},
    {600, "CUDA_ERROR_NOT_READY", MIRAGE_DRIVER, NULL},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", MIRAGE_DRIVER,
     "a kernel read or wrote outside its tensors (compute-sanitizer names the instruction); " CONTEXT_LOST},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", MIRAGE_DRIVER,
     "the block needs more registers or threads than a multiprocessor has: use fewer warps"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", MIRAGE_DRIVER, "a kernel ran into the display watchdog; " CONTEXT_LOST},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", MIRAGE_DRIVER, NULL},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", MIRAGE_DRIVER, NULL},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", MIRAGE_DRIVER, NULL},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", MIRAGE_DRIVER, NULL},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", MIRAGE_DRIVER,
     "the device was destroyed, or its context was reset by someone else"},
    {710, "CUDA_ERROR_ASSERT", MIRAGE_DRIVER, "a kernel reported a failed assertion; " CONTEXT_LOST},
    {711, "CUDA_ERROR_TOO_MANY_PEERS", MIRAGE_DRIVER, NULL},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", MIRAGE_DRIVER, NULL},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", MIRAGE_DRIVER, NULL},
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
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", MIRAGE_DRIVER,
     "a kernel ended without freeing its tensor memory; " CONTEXT_LOST},
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
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", MIRAGE_NO_DEVICE, "the MPS server does not answer: restart it"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", MIRAGE_NO_DEVICE, "the MPS server is still starting: try again"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", MIRAGE_NO_DEVICE,
     "end other processes that use the device through MPS"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", MIRAGE_NO_DEVICE,
     "end other processes that use the device through MPS"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", MIRAGE_DRIVER,
     "another MPS client failed and took this one along; " CONTEXT_LOST},
    {811, "CUDA_ERROR_CDP_NOT_SUPPORTED", MIRAGE_DRIVER, NULL},
    {812, "CUDA_ERROR_CDP_VERSION_MISMATCH", MIRAGE_DRIVER, NULL},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", MIRAGE_DRIVER, "the call cannot be captured in a graph"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", MIRAGE_DRIVER, "an earlier error ended the capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", MIRAGE_DRIVER,
     "two captures may not be joined: use one stream, or one capture"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", MIRAGE_DRIVER, "a capture ended on a stream on which none had begun"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", MIRAGE_DRIVER,
     "a stream forked from the captured one was not joined to it before the end"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", MIRAGE_DRIVER,
     "the captured stream depends on one outside the capture"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", MIRAGE_DRIVER,
     "the legacy default stream cannot be used during a capture"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", MIRAGE_DRIVER,
     "the event was recorded in a capture: it can only be waited for there"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", MIRAGE_DRIVER, "a capture must end on the thread that began it"},
    {909, "CUDA_ERROR_TIMEOUT", MIRAGE_DRIVER, "a graph launch with device-side waits ran out of time"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", MIRAGE_DRIVER,
     "the graph was changed in a way that needs a new instance"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE", MIRAGE_DRIVER, "a device outside this process failed"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", MIRAGE_DRIVER,
     "the device cannot schedule a cluster of this size with this much shared memory"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED", MIRAGE_DRIVER, NULL},
    {914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", MIRAGE_DRIVER, NULL},
    {915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", MIRAGE_DRIVER, NULL},
    {916, "CUDA_ERROR_KEY_ROTATION", MIRAGE_DRIVER, NULL},
    {999, "CUDA_ERROR_UNKNOWN", MIRAGE_DRIVER, "see dmesg for the driver's own message (Xid)"},
};

static const ErrorRow *find(CuResult result) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
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
