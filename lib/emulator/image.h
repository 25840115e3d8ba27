// image.h - a compiled graph as bytes: what writes and what reads an image agree on here.
//
//   {"mirage_emulation": 1, "triple": .., "kernels": [..], "operators": [..]}  NUL  LLVM bitcode
//
//   kernel    {"name", "threads", "shared", "meet", "operands": [bytes ..], "results": [bytes ..], "workspace": bytes,
//              "operator": id, "maps": [{"pointer", "dtype", "rank", "swizzle", "extents", "strides", "box"} ..]}
//   operators by id, from 0: [mnemonic, location], or null
//
// The bitcode is the host module of codegen/host.h.
#ifndef MIRAGE_EMULATOR_IMAGE_H
#define MIRAGE_EMULATOR_IMAGE_H

#include "machine.h"

enum { IMAGE_VERSION = 1 };

/// One kernel of an image.
typedef struct ImageKernel {
  char *name;
  int64_t threads, shared_bytes, workspace_bytes;
  bool meet;
  uint32_t op; // the custom operator's id
  uint32_t num_operands, num_results, num_maps;
  uint64_t *bytes; // of operands, then of results
  MirageTensorMap *maps;
  void (*entry)(const uint64_t *pointers);
} ImageKernel;

struct MirageEmulatedModule {
  Jit *jit;
  uint32_t num_kernels, num_operators; // operators by id, from 1
  ImageKernel *kernels;
  Operator *operators;
  char **locations; // by id, or NULL
};

#endif
