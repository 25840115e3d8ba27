// test_plugin.c - the plugin refuses a process that runs another LLVM, in words, and accepts its own.
//
// This program plays the host: it defines LLVMGetVersion itself, so that the plugin, which asks the process, is told
// what the test wants. The plugin answers once per process, so each case runs in a child.
#define _DEFAULT_SOURCE
#include "plugin_entries.h"
#include "llvm/Config/llvm-config.h"

#include <libgen.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static unsigned host_version[3];

__attribute__((visibility("default"))) void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch);
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = host_version[0];
  *minor = host_version[1];
  *patch = host_version[2];
}

typedef enum Entry { DIALECTS, PASSES } Entry;

static int version_of(const char *name, uint32_t version) { return strcmp(name, "mirage") == 0 ? (int)version : 6; }

// In the child: loads the plugin, says what it answers on standard output, and what it complains on standard error.
static int play_host(Entry entry) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
  if (length < 0)
    return 3;
  path[length] = 0;
  strcat(dirname(path), "/../lib/mirage-mlir.so");
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 4;
  }
  struct DialectPluginLibraryInfo dialects;
  struct PassPluginLibraryInfo passes;
  if (entry == DIALECTS && plugin_get_dialects(plugin, &dialects) && dialects.register_dialects)
    return version_of(dialects.name, dialects.api_version);
  if (entry == PASSES && plugin_get_passes(plugin, &passes) && passes.register_passes)
    return version_of(passes.name, passes.api_version);
  return 5;
}

// Runs the host with that LLVM; returns the API version that the plugin reports, and its complaint.
static int ask(unsigned major, unsigned minor, Entry entry, char *complaint, size_t size) {
  int pipe_ends[2];
  assert_int_equal(pipe(pipe_ends), 0);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], 2);
    close(pipe_ends[0]);
    host_version[0] = major;
    host_version[1] = minor;
    host_version[2] = 4;
    int answer = play_host(entry);
    fflush(stderr);
    _exit(answer);
  }
  close(pipe_ends[1]);
  size_t used = 0;
  for (ssize_t got; used + 1 < size && (got = read(pipe_ends[0], complaint + used, size - 1 - used)) > 0;)
    used += (size_t)got;
  complaint[used] = 0;
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void accepts_its_own_version(void **state) {
  char complaint[1024];
  assert_int_equal(ask(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, PASSES, complaint, sizeof complaint), 1);
  assert_string_equal(complaint, "");
  assert_int_equal(ask(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, DIALECTS, complaint, sizeof complaint), 1);
  assert_string_equal(complaint, "");
}

static void refuses(unsigned major, unsigned minor, Entry entry) {
  char complaint[1024], found[64];
  assert_int_equal(ask(major, minor, entry, complaint, sizeof complaint), 0);
  snprintf(found, sizeof found, "loaded by a program that runs LLVM %u.%u.4", major, minor);
  assert_non_null(strstr(complaint, "built for LLVM/MLIR " LLVM_VERSION_STRING));
  assert_non_null(strstr(complaint, found));
  assert_non_null(strstr(complaint, "use the mlir-opt of LLVM"));
}

static void refuses_another_major_version(void **state) {
  refuses(LLVM_VERSION_MAJOR - 3, LLVM_VERSION_MINOR, PASSES);
  refuses(LLVM_VERSION_MAJOR - 3, LLVM_VERSION_MINOR, DIALECTS);
}

static void refuses_another_minor_version(void **state) { refuses(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR + 1, PASSES); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepts_its_own_version),
      cmocka_unit_test(refuses_another_major_version),
      cmocka_unit_test(refuses_another_minor_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
