// plugin_host.h - what the plugin asks of the tool that loads it, and tells it. The answers are C++ (plugin_host.cpp).
#ifndef MIRAGE_TOOLS_PLUGIN_HOST_H
#define MIRAGE_TOOLS_PLUGIN_HOST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Whether the tool has Mirage's dialects already (`registry` is an mlir::DialectRegistry), or its passes: a plugin that
/// registers them once more would end the process.
bool plugin_host_has_dialects(void *registry);
bool plugin_host_has_passes(void);
/// Makes a flag of every pass and pipeline of ours, as mlir-opt has them for its own.
void plugin_host_add_flags(void);

#ifdef __cplusplus
}
#endif
#endif
