// primitive_kernels.h - every GPU instruction of the generator by itself, on a GPU and on the emulator.
#ifndef MIRAGE_TEST_PRIMITIVE_KERNELS_H
#define MIRAGE_TEST_PRIMITIVE_KERNELS_H

#include "mirage/runtime.h"
#include "mirage/target.h"

/// Runs each row of primitives.def that computes something, alone or with those it needs, on the emulator and (device
/// not NULL) on the GPU, and compares; one line each on standard output. Returns how many differ. ptx_folder: where to
/// keep the PTX, primitives.<chip>.ptx; NULL = nowhere.
unsigned primitives_compare(MirageDevice *device, const MirageTarget *target, const char *filter,
                            const char *ptx_folder, const MirageDiag *diag);

/// Puts defects into the same kernels, one at a time, and runs them on the emulator; one line for each kind. Returns
/// how many kinds were not caught as they should be.
unsigned primitives_defects(const MirageTarget *target);

#endif
