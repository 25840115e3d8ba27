// npy.h - NumPy's .npy files: tensors in and out of mirage-run.
#ifndef MIRAGE_TOOLS_NPY_H
#define MIRAGE_TOOLS_NPY_H

#include "mirage/ugraph.h"

/// Reads a tensor of f16, f32 or f64 in row-major order, as doubles (exact).
///
/// Shapes:  the file's shape must equal `type`'s; its element type need not.
/// Owns:    *out_values is the caller's, to free; NULL after a failure.
/// Errors:  IO (missing, truncated, not .npy), BAD_TYPE (any other element type or order), BAD_SHAPE. The sentence
/// begins
///          with the path and names what was found and what is wanted.
MirageStatus npy_read(const char *path, const MirageType *type, const MirageDiag *diag, double **out_values);

/// Writes `values` in row-major order: f16 and f32 tensors as such, bf16 (which the format lacks) as f32, and with
/// `exact` as f64. Errors:  IO, with the system's reason.
MirageStatus npy_write(const char *path, const MirageType *type, const double *values, bool exact,
                       const MirageDiag *diag);

#endif
