// tune.h - the parts of mirage-tune.
#ifndef MIRAGE_TOOLS_TUNE_H
#define MIRAGE_TOOLS_TUNE_H

/// mirage-tune --measure=MODULE.mlir: what mirage-select starts, a process for each graph that it measures. The module
/// holds the program, its own lowering and a candidate, in this order; MODULE.mlir.0.ptx and .1.ptx are the code of the
/// latter two. Prints lines while it lives, and a JSON object last. Never returns: ends the process.
_Noreturn void tune_measure(const char *module_path, double timeout_s);

#endif
