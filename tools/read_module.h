// read_module.h - reads a module from a file, for the commands that look into one.
#ifndef MIRAGE_TOOLS_READ_MODULE_H
#define MIRAGE_TOOLS_READ_MODULE_H

#include "mirage/diag.h"
#include "mlir-c/IR.h"

#include <stdbool.h>

/// Who reads: the name stands before messages without a place; remarks are printed where they are wanted.
typedef struct ModuleReader {
  const char *tool;
  bool remarks;
} ModuleReader;

/// A context with our dialects, those of the code beside a graph, and those of functions that may call it. Operations of
/// any other are read where they stand in the generic form. MLIR's messages go to standard error, as
/// "file:line:column: error: message" with the notes below.
///
/// Owns:    the caller destroys it; `reader` must live as long.
MlirContext read_module_context(const ModuleReader *reader);

/// Parses a file, or standard input for "-".
///
/// Errors:  IO with the system's reason where the file cannot be read; BAD_GRAPH where MLIR refuses it, which has said why.
MirageStatus read_module_file(MlirContext context, const char *path, const MirageDiag *diag, MlirModule *out_module);

/// `text` as MLIR takes strings, and whether an operation has this name.
MlirStringRef read_module_string(const char *text);
bool read_module_is(MlirOperation op, const char *name);

#endif
