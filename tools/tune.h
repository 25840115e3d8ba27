// tune.h - the parts of mirage-tune.
#ifndef MIRAGE_TOOLS_TUNE_H
#define MIRAGE_TOOLS_TUNE_H

#include "run.h"

/// Frobenius norm of a tensor less its reference over the reference's, over the elements at which that is finite; both are bytes.
/// Infinity where there are none, or the tensor is not finite there.
double tune_error(const MirageType *type, const void *bytes, const void *reference, size_t *out_compared);

/// What a float64 evaluation of the program says of two runs.
typedef struct TuneVerdict {
  bool judged, sampled;    // sampled: part of the outputs only, since the program is large
  double error, own_error; // of the candidate, of the own lowering: relative, the largest of the outputs
} TuneVerdict;
/// `max_work`: multiplications of the evaluation; where the program takes more, a sample is compared.
/// `own`, `candidate`: the bytes of each output of both runs.
/// Errors: LIMIT where not even a sample can be evaluated.
MirageStatus tune_judge(const MirageUGraph *program, double max_work, const RunRepeated *inputs, char *const *own,
                        char *const *candidate, const MirageDiag *diag, TuneVerdict *out_verdict);
/// mirage-tune --measure=MODULE.mlir: what mirage-select starts, a process for each graph that it measures. The module
/// holds the program, its own lowering and a candidate, in this order; MODULE.mlir.0.ptx and .1.ptx are the code of the
/// latter two. Prints lines while it lives, and a JSON object last. Never returns: ends the process.
_Noreturn void tune_measure(const char *module_path, double timeout_s);

#endif
