// primitive_kernels.h - every GPU instruction of the generator by itself, on a GPU and on the emulator.
#ifndef MIRAGE_TEST_PRIMITIVE_KERNELS_H
#define MIRAGE_TEST_PRIMITIVE_KERNELS_H

#include "mirage/runtime.h"
#include "mirage/target.h"

/// Runs each row of primitives.def that computes something, by one warp, on the emulator and (device not NULL) on the
/// GPU, and compares; one line each on standard output. Returns how many differ.
unsigned primitives_compare(MirageDevice *device, const MirageTarget *target, const char *filter,
                            const MirageDiag *diag);

#endif
