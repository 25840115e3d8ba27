// choose_device.c - which backend is in force, and what becomes of errors.
//
//   MIRAGE_EMULATOR=1    the emulated GPU           MIRAGE_EMULATOR=0    a GPU or nothing
//   MIRAGE_DEVICE=1      that GPU or nothing; the same where MIRAGE_CUDA_LIBRARY is set
//   not set              a GPU where there is one, else the emulated GPU, and a note that says so
//
// The emulated GPU needs LLVM and lives in a library of its own beside this one, which is opened when it is wanted: a machine
// with a GPU needs neither.
#define _GNU_SOURCE // dladdr
#include "backend.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------------- errors

static void print(void *user, MirageSeverity severity, const void *loc, const char *message) {
  static const char *const names[] = {[MIRAGE_SEVERITY_ERROR] = "error",
                                      [MIRAGE_SEVERITY_WARNING] = "warning",
                                      [MIRAGE_SEVERITY_REMARK] = "remark",
                                      [MIRAGE_SEVERITY_NOTE] = "note"};
  (void)user;
  fprintf(stderr, "%s: %s: %s\n", loc ? (const char *)loc : "mirage", names[severity], message);
}

const MirageDiag mirage__report = {print, NULL};

// The functions of the interface return nothing, and whoever calls them looks at nothing. Destructors would call them again.
void mirage__must(MirageStatus status) {
  if (status == MIRAGE_OK)
    return;
  fflush(NULL);
  _Exit(EXIT_FAILURE);
}

// --------------------------------------------------------------------------------------------------------------- choice

static atomic_int wanted_device;
static const MirageBackend *backend;
static char reason[512]; // why there is no GPU

static void keep_reason(void *user, MirageSeverity severity, const void *loc, const char *message) {
  (void)user, (void)severity, (void)loc;
  snprintf(reason, sizeof reason, "%s", message);
}

/// The emulator's library: what MIRAGE_EMULATOR_LIBRARY names, or the one beside this library.
static void emulator_path(char *path, size_t size) {
  static const char NAME[] = "libmirage_emulator.so";
  const char *named = getenv("MIRAGE_EMULATOR_LIBRARY");
  Dl_info self;
  if (named && *named) {
    snprintf(path, size, "%s", named);
  } else if (dladdr(&mirage__report, &self) && strrchr(self.dli_fname, '/')) {
    int length = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
    snprintf(path, size, "%.*s/%s", length, self.dli_fname, NAME);
  } else {
    snprintf(path, size, "%s", NAME);
  }
}

static MirageStatus open_emulator(void) {
  char path[4096];
  const MirageBackend *(*entry)(void);
  emulator_path(path, sizeof path);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, MIRAGE_EMULATOR_ENTRY) : NULL;
  if (!symbol)
    return mirage_diag_fail(&mirage__report, NULL, MIRAGE_NO_DEVICE,
                            "%s%sthe emulated GPU cannot be loaded: %s; name its library in MIRAGE_EMULATOR_LIBRARY",
                            reason, *reason ? "; and " : "", dlerror());
  memcpy(&entry, &symbol, sizeof entry); // ISO C has no conversion
  backend = entry();
  return MIRAGE_OK;
}

static MirageStatus open_gpu(bool must) {
  const char *named = getenv("MIRAGE_DEVICE");
  char *end = NULL;
  long ordinal = named && *named ? strtol(named, &end, 10) : atomic_load(&wanted_device);
  const MirageDiag keep = {keep_reason, NULL};
  if (end && *end)
    return mirage_diag_fail(&mirage__report, NULL, MIRAGE_BAD_ARGUMENT,
                            "MIRAGE_DEVICE=%s: the number of a GPU is wanted", named);
  return mirage__driver_open((int32_t)ordinal, must ? &mirage__report : &keep, &backend);
}

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

static MirageStatus choose(void) {
  bool asked = is_set("MIRAGE_EMULATOR"), refused = asked && strcmp(getenv("MIRAGE_EMULATOR"), "0") == 0;
  if (asked && !refused)
    return open_emulator();
  bool must = refused || is_set("MIRAGE_DEVICE") || is_set("MIRAGE_CUDA_LIBRARY"); // somebody means a GPU
  MirageStatus status = open_gpu(must);
  if (status != MIRAGE_NO_DEVICE || must) {
    if (status != MIRAGE_OK && !must && *reason)
      mirage_diag_emit(&mirage__report, MIRAGE_SEVERITY_ERROR, NULL, "%s", reason);
    return status;
  }
  MIRAGE_TRY(open_emulator());
  mirage_diag_emit(&mirage__report, MIRAGE_SEVERITY_NOTE, NULL, "kernels run on the emulated GPU (%s)", reason);
  return MIRAGE_OK;
}

static void choose_once(void) { mirage__must(choose()); }

const MirageBackend *mirage__backend(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, choose_once);
  return backend;
}

void mirage__backend_set_device(int32_t ordinal) { atomic_store(&wanted_device, ordinal); }
