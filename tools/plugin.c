// plugin.c - mirage-mlir.so: the dialects and passes of Mirage for a stock mlir-opt.
//
//   mlir-opt-22 --load-dialect-plugin=lib/mirage-mlir.so --load-pass-plugin=lib/mirage-mlir.so
//       --mirage-superoptimize=target=h200 examples/rmsnorm_linear.mlir
//
// or --pass-pipeline='builtin.module(mirage-superoptimize{target=h200})', which may name other passes too (plugin_host.cpp).
// The entry points are plain C; the structs repeat mlir/Tools/Plugins/{Dialect,Pass}Plugin.h (API version 1), which are
// C++. That API carries no LLVM version, and a plugin in a process of another version crashes in ways that explain
// nothing. So each entry point first asks the process which LLVM it runs; if it is not ours, it says so and reports API
// version 0, which the loader refuses.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // RTLD_DEFAULT
#endif
#include "mirage-c/Dialects.h"
#include "mirage-c/Passes.h"
#include "plugin_host.h"
#include "llvm/Config/llvm-config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

enum { API_VERSION = 1, API_REFUSED = 0 };

struct DialectPluginLibraryInfo {
  uint32_t api_version;
  const char *name, *version;
  void (*register_dialects)(void *registry); // mlir::DialectRegistry *
};

struct PassPluginLibraryInfo {
  uint32_t api_version;
  const char *name, *version;
  void (*register_passes)(void);
};

EXPORT struct DialectPluginLibraryInfo mlirGetDialectPluginInfo(void);
EXPORT struct PassPluginLibraryInfo mlirGetPassPluginInfo(void);

/// Whether the process runs the LLVM that this plugin was built for (same major and minor version); says so if not.
/// LLVMGetVersion is looked up in the process rather than linked: a link would bind to our own libLLVM, whatever the
/// host.
static bool version_fits(void) {
  static int answer = -1; // both entry points are called, one after the other, from one thread
  if (answer >= 0)
    return answer != 0;
  void (*get_version)(unsigned *, unsigned *, unsigned *) = NULL;
  *(void **)&get_version = dlsym(RTLD_DEFAULT, "LLVMGetVersion");
  unsigned major = 0, minor = 0, patch = 0;
  if (get_version)
    get_version(&major, &minor, &patch);
  answer = major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR;
  if (answer)
    return true;
  char found[64] = "a program without the LLVM C API";
  if (get_version)
    snprintf(found, sizeof found, "a program that runs LLVM %u.%u.%u", major, minor, patch);
  fprintf(stderr,
          "mirage-mlir.so: built for LLVM/MLIR %s, but loaded by %s; use the mlir-opt of LLVM %d.%d (on Debian: "
          "mlir-opt-%d), or rebuild Mirage-MLIR for that version\n",
          LLVM_VERSION_STRING, found, LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, LLVM_VERSION_MAJOR);
  return false;
}

// A tool that has what it is given (mirage-mlir-opt, or the plugin named twice) keeps its own.
static void register_dialects(void *registry) {
  if (!plugin_host_has_dialects(registry))
    mirageRegisterDialects((MlirDialectRegistry){registry});
}

static void register_passes(void) {
  if (plugin_host_has_passes())
    return;
  mirageRegisterAllPasses();
  plugin_host_add_flags();
}

struct DialectPluginLibraryInfo mlirGetDialectPluginInfo(void) {
  uint32_t api_version = version_fits() ? API_VERSION : API_REFUSED;
  return (struct DialectPluginLibraryInfo){api_version, "mirage", LLVM_VERSION_STRING, register_dialects};
}

struct PassPluginLibraryInfo mlirGetPassPluginInfo(void) {
  uint32_t api_version = version_fits() ? API_VERSION : API_REFUSED;
  return (struct PassPluginLibraryInfo){api_version, "mirage", LLVM_VERSION_STRING, register_passes};
}
