// plugin_entries.h - asks the entry points of a loaded mirage-mlir.so, each by the type that it has.
//
// The structures are those of tools/plugin.c, tags and all: to call a function by another type is undefined.
#ifndef MIRAGE_TEST_PLUGIN_ENTRIES_H
#define MIRAGE_TEST_PLUGIN_ENTRIES_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct DialectPluginLibraryInfo {
  uint32_t api_version;
  const char *name, *version;
  void (*register_dialects)(void *registry);
};

struct PassPluginLibraryInfo {
  uint32_t api_version;
  const char *name, *version;
  void (*register_passes)(void);
};

static inline bool plugin_get_dialects(void *plugin, struct DialectPluginLibraryInfo *out_info) {
  struct DialectPluginLibraryInfo (*get)(void) = NULL;
  *(void **)&get = dlsym(plugin, "mlirGetDialectPluginInfo");
  if (get)
    *out_info = get();
  return get;
}

static inline bool plugin_get_passes(void *plugin, struct PassPluginLibraryInfo *out_info) {
  struct PassPluginLibraryInfo (*get)(void) = NULL;
  *(void **)&get = dlsym(plugin, "mlirGetPassPluginInfo");
  if (get)
    *out_info = get();
  return get;
}

#endif
