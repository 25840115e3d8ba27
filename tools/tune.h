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
/// mirage-tune --measure=OWN.mlir CANDIDATE.mlir...: what mirage-select starts, several at once, each for some of the graphs that it
/// measures. OWN.mlir holds the program and its own lowering, CANDIDATE.mlir the program and a candidate, in this order; the code of the
/// latter is in OWN.mlir.ptx and CANDIDATE.mlir.ptx. Prints lines while it lives, and for each candidate a line that is a JSON object, in
/// their order: of all, or as far as the first that is not right. Never returns: ends the process.
_Noreturn void tune_measure(const char *own_path, uint32_t count, const char *const *paths, double timeout_s);

#endif
