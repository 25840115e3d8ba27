// fake_runtime.h - lib/runtime on the fake driver: set-up and tear-down of a test, and what several files build on it.
#ifndef MIRAGE_TEST_FAKE_RUNTIME_H
#define MIRAGE_TEST_FAKE_RUNTIME_H

#include "../../lib/runtime/runtime_impl.h"
#include "fake_cuda.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Keeps every message of a test in one string.
typedef struct Messages {
  MirageDiag diag;
  char text[2048];
} Messages;

static inline void keep(void *user, MirageSeverity severity, const void *loc, const char *message) {
  Messages *messages = user;
  size_t used = strlen(messages->text);
  snprintf(messages->text + used, sizeof messages->text - used, "%s\n", message);
}

static inline Messages *fresh(Messages *messages) {
  messages->text[0] = '\0';
  messages->diag = (MirageDiag){keep, messages};
  return messages;
}

static inline void assert_says(const Messages *messages, const char *part) {
  if (!strstr(messages->text, part))
    fail_msg("expected a message with\n  %s\ngot\n  %s", part, messages->text);
}

static char fake_library[4096]; // its path
static void *fake_handle;
static FakeCuda *fake;

static inline int load_fake(void **unused) {
  void (*reset)(void);
  FakeCuda *(*get_state)(void);
  void *library = fake_handle = dlopen(fake_library, RTLD_NOW);
  if (!library) {
    print_error("cannot load the fake driver: %s\n", dlerror());
    return -1;
  }
  *(void **)&reset = dlsym(library, "fake_cuda_reset");
  *(void **)&get_state = dlsym(library, "fake_cuda_state");
  reset();
  fake = get_state();
  return setenv("MIRAGE_CUDA_LIBRARY", fake_library, 1);
}

// After every test on the fake driver nothing may be left behind, whatever failed on the way.
static inline int check_clean(void **unused) {
  if (fake->num_live_objects != 0 || fake->num_live_allocations != 0 || fake->context_depth != 0) {
    print_error("left behind: %u objects, %u allocations, context depth %d\n", fake->num_live_objects,
                fake->num_live_allocations, fake->context_depth);
    return -1;
  }
  return 0;
}

static inline void fail_call(const char *symbol, unsigned call, CuResult result) {
  fake->fail_symbol = symbol;
  fake->fail_at = call;
  fake->fail_result = result;
  fake->calls_of_fail_symbol = 0;
}

static inline MirageDevice *open_device(void) {
  MirageDevice *device = NULL;
  assert_int_equal(mirage_device_create(0, NULL, &device), MIRAGE_OK);
  return device;
}

static inline MirageModule *load_module(MirageDevice *device, const char *image) {
  MirageModule *module = NULL;
  assert_int_equal(mirage_module_load(device, image, NULL, &module), MIRAGE_OK);
  return module;
}

// The fake driver lies beside the test in the build folder: bin/test_runtime, lib/libmirage_fake_cuda.so.
static inline void find_fake_library(void) {
  char path[2048] = "";
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
    return;
  for (int levels = 0; levels < 2; levels++) {
    char *slash = strrchr(path, '/');
    if (slash)
      *slash = '\0';
  }
  snprintf(fake_library, sizeof fake_library, "%s/lib/libmirage_fake_cuda.so", path);
}

#define ON_FAKE(test) cmocka_unit_test_setup_teardown(test, load_fake, check_clean)

#endif
