// backend.h - what the exported functions stand on: a GPU's driver, or the emulated GPU. Private to lib/launch.
#ifndef MIRAGE_LAUNCH_BACKEND_H
#define MIRAGE_LAUNCH_BACKEND_H

#include "mirage/diag.h"
#include "mirage/ugraph.h"

/// A launch as compiled code asks for it.
typedef struct MirageRawLaunch {
  int64_t grid[3], block[3], cluster[3];
  int64_t shared_bytes;
  void **parameters, **extra;
  uint64_t num_parameters; // UINT64_MAX: not known
} MirageRawLaunch;

/// Handles are the backend's own. A diagnostic's location is a text, or NULL.
typedef struct MirageBackend {
  /// `text`: PTX, with what convert-mirage-to-gpu puts behind it; else a cubin or fatbin.
  MirageStatus (*module_load)(const void *image, bool text, const MirageDiag *diag, void **out_module);
  MirageStatus (*module_unload)(void *module, const MirageDiag *diag);
  MirageStatus (*function)(void *module, const char *name, const MirageDiag *diag, void **out_function);
  MirageStatus (*launch)(void *function, const MirageRawLaunch *launch, void *stream, const MirageDiag *diag);
  MirageStatus (*stream_create)(const MirageDiag *diag, void **out_stream);
  MirageStatus (*stream_destroy)(void *stream, const MirageDiag *diag);
  MirageStatus (*stream_synchronize)(void *stream, const MirageDiag *diag);
  MirageStatus (*stream_wait)(void *stream, void *event, const MirageDiag *diag);
  MirageStatus (*event_create)(const MirageDiag *diag, void **out_event);
  MirageStatus (*event_destroy)(void *event, const MirageDiag *diag);
  MirageStatus (*event_record)(void *event, void *stream, const MirageDiag *diag);
  MirageStatus (*event_synchronize)(void *event, const MirageDiag *diag);
  /// `shared`: the host can access it, too.
  MirageStatus (*alloc)(uint64_t bytes, void *stream, bool shared, const MirageDiag *diag, void **out_pointer);
  MirageStatus (*free)(void *pointer, void *stream, const MirageDiag *diag);
  MirageStatus (*copy)(void *to, const void *from, uint64_t bytes, void *stream, const MirageDiag *diag);
  /// `count` values of `width` bytes, 2 or 4.
  MirageStatus (*fill)(void *to, uint32_t value, unsigned width, uint64_t count, void *stream, const MirageDiag *diag);
  MirageStatus (*host_register)(void *pointer, uint64_t bytes, const MirageDiag *diag);
  MirageStatus (*host_unregister)(void *pointer, const MirageDiag *diag);
  MirageStatus (*encode_map)(const MirageTensorMap *map, void *tensor, void *out_bytes, const MirageDiag *diag);
} MirageBackend;

/// The GPU `ordinal`. Errors: NO_DEVICE, with the reason. driver.c
MirageStatus mirage__driver_open(int32_t ordinal, const MirageDiag *diag, const MirageBackend **out_backend);

/// What libmirage_emulator exports, under MIRAGE_EMULATOR_ENTRY. emulated.c
#define MIRAGE_EMULATOR_ENTRY "mirageEmulatorBackend"
const MirageBackend *mirageEmulatorBackend(void);

/// The backend in force, chosen at the first call: the process ends where there is none. choose_device.c
const MirageBackend *mirage__backend(void);
/// GPU for the first call to open. MIRAGE_DEVICE in the environment wins.
void mirage__backend_set_device(int32_t ordinal);

/// What ends the process: a sentence on standard error, and exit status 1. Nothing is run on after an error. choose_device.c
void mirage__must(MirageStatus status);
extern const MirageDiag mirage__report; // errors go to standard error

// Behind PTX (passes/gpu_binary.c writes it; annotation.c).
/// Whether the kernel's blocks wait for each other.
bool mirage__annotation_meets(const char *ptx, const char *kernel);
/// The image for the emulated GPU behind the PTX, or NULL.
const void *mirage__annotation_image(const char *ptx, size_t *out_bytes);

#endif
