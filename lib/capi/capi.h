// capi.h - what the files of lib/capi share.
#ifndef MIRAGE_CAPI_H
#define MIRAGE_CAPI_H

#include "mirage-c/Register.h"

struct MirageCompilation {
  MirageArena arena; // of what the programs point to
  uint32_t num_programs;
  MirageCompiledProgram *programs;
  char *text; // of the module
  size_t text_length, text_room;
};

/// Reads the programs of a compiled module. Errors are emitted in the module's context.
/// Owns:  `compilation` is zero before; the caller destroys it, also after a failure.
MirageStatus mirage__compilation_read(MirageCompilation *compilation, MlirModule module);

#endif
