// cuda_api.c - finds the CUDA driver library and resolves what cuda_api.h declares.
#include "cuda_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// The loader's own search comes first; the others are where container runtimes and WSL mount the driver without telling
// it.
static const char *const places[] = {
    "libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
};

static MirageStatus open_library(const MirageDiag *diag, void **out_library) {
  const char *named = getenv("MIRAGE_CUDA_LIBRARY");
  if (named && *named) {
    *out_library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (*out_library)
      return MIRAGE_OK;
    return mirage_diag_fail(diag, NULL, MIRAGE_NO_DEVICE, "device: cannot load MIRAGE_CUDA_LIBRARY=%s: %s", named,
                            dlerror());
  }
  char reason[256] = "";
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    *out_library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    if (*out_library)
      return MIRAGE_OK;
    if (i == 0)
      strncpy(reason, dlerror(), sizeof reason - 1);
  }
  return mirage_diag_fail(
      diag, NULL, MIRAGE_NO_DEVICE,
      "device: no CUDA driver: %s; install the NVIDIA driver, or name its libcuda.so.1 in MIRAGE_CUDA_LIBRARY", reason);
}

// A data pointer from dlsym becomes a function pointer through memory: ISO C has no conversion between the two.
static void resolve(void *library, const char *symbol, void *out_function) {
  void *address = dlsym(library, symbol);
  memcpy(out_function, &address, sizeof address);
}

MirageStatus mirage__cuda_open(const MirageDiag *diag, MirageCuda *out_cuda) {
  MirageCuda cuda = {0};
  MIRAGE_TRY(open_library(diag, &cuda.library));
#define RESOLVE(member, symbol, parameters) resolve(cuda.library, #symbol, &cuda.member);
  MIRAGE_CUDA_FUNCTIONS(RESOLVE)
  MIRAGE_CUDA_OPTIONAL_FUNCTIONS(RESOLVE)
#undef RESOLVE
#define REQUIRE(member, symbol, parameters)                                                                            \
  if (!cuda.member)                                                                                                    \
    return mirage_diag_fail(                                                                                           \
        diag, NULL, MIRAGE_NO_DEVICE,                                                                                  \
        "device: the CUDA driver has no %s: it is older than CUDA 12.0; update the NVIDIA driver to 525 or newer",     \
        #symbol);
  MIRAGE_CUDA_FUNCTIONS(REQUIRE)
#undef REQUIRE
  *out_cuda = cuda;
  return MIRAGE_OK;
}
