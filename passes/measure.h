// measure.h - candidates measured on the GPU, in other processes, and what was measured before. Private to passes/.
#ifndef MIRAGE_PASSES_MEASURE_H
#define MIRAGE_PASSES_MEASURE_H

#include "mirage/runtime.h"
#include "mirage/tuning.h"
#include "passes.h"

enum { MIRAGE_MOST_MEASURED = 256 }; // of one program

/// One graph that was measured beside the program's own lowering. Times are medians with a cold L2 cache; a spread is
/// (p90 - p10) / median.
typedef struct MirageMeasurement {
  MirageModuleGraph *entry;
  bool ok;      // ran, computes what the own lowering computes, and the same each time
  bool own_ran; // in its process
  double us, spread, own_us, own_spread;
  double error;          // relative, against the own lowering; where that is wrong, against float64
  bool own_wrong;        // it differs from the candidate, which float64 says is right: the own lowering overflows, say
  double own_error;      // then: against float64
  bool sampled;          // then: part of the outputs was looked at
  int64_t spilled_bytes; // of a thread, in the kernel with most (mirage_program_spilled_bytes)
  uint64_t code, own_code; // mirage_code_hash of what ran
  char reason[400];        // where not ok
} MirageMeasurement;

typedef struct MirageMeasureOptions {
  const MirageTarget *target;
  double timeout_s; // of a kernel; a process that is silent for 30 s and five times as long is killed
} MirageMeasureOptions;

/// Whether device 0 can run what is compiled for the target. If not, `reason` says why.
bool mirage__measure_possible(const MirageTarget *target, MirageDeviceInfo *out_info, char *reason, size_t size);

/// Compiles the program's own lowering and the candidates (in parallel), and measures each candidate beside it. A
/// candidate that cannot be compiled, crashes, hangs or is wrong has a reason; nothing it does is a failure.
///
/// Errors:  UNSUPPORTED, LIMIT: the own lowering cannot be compiled; IO: no processes or files can be had; CANCELLED.
MirageStatus mirage__measure(MirageModuleGraphs *graphs, MirageModuleGraph *program,
                             const MirageMeasureOptions *options, uint32_t num, MirageMeasurement *measurements);

/// What the own lowering and `entry` (NULL: that alone) would be compiled to for measuring, as a record's `code`.
///
/// Errors:  UNSUPPORTED, LIMIT, CODEGEN: one of them cannot be compiled; CANCELLED.
MirageStatus mirage__measured_code(MirageModuleGraphs *graphs, MirageModuleGraph *program, MirageModuleGraph *entry,
                                   const MirageTarget *target, char out_text[33]);
void mirage__code_text(uint64_t own_code, uint64_t code, char out_text[33]);

// -------------------------------------------------------------------------------------------------- which (differ.c)

/// The candidates to measure, of `num` proven ones with their costs: the one predicted best, then again and again the
/// one that differs most from those taken, none predicted to take more than four times the best. Writes indices of
/// `entries` to `out_picked`, which has room for `most`; the number is returned.
uint32_t mirage__pick_different(uint32_t num, MirageModuleGraph *const *entries, uint32_t most, uint32_t *out_picked);

// --------------------------------------------------------------------------------------------- the database (tuned.c)

/// The database as one run of a pass uses it. What goes wrong with it is a warning, once, and then it is empty.
typedef struct MirageTuned {
  const MirageDiag *diag;
  const MirageTarget *target;
  bool has_gpu;
  MirageDeviceInfo gpu;
  bool broken; // said so
} MirageTuned;

/// What is stored for the program; NULL where nothing is. Free with mirage_tuning_free.
MirageStatus mirage__tuned_find(MirageTuned *tuned, const MirageModuleGraph *program, MirageTuningRecord **out_record);
/// Stores what was measured; `chosen` is one of the measurements, or NULL for the own lowering.
MirageStatus mirage__tuned_store(MirageTuned *tuned, MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                                 double own_predicted_us, uint32_t num, const MirageMeasurement *measurements,
                                 const MirageMeasurement *chosen);
/// The stored graph as one of the module's, without a proof, behind the program. NULL, with a remark, where the text is
/// no such graph.
MirageStatus mirage__tuned_insert(MirageTuned *tuned, MirageModuleGraphs *graphs, const MirageModuleGraph *program,
                                  const MirageTuningRecord *record, MirageModuleGraph **out_entry);
/// 32 hexadecimal digits of the graph's hash.
MirageStatus mirage__hash_text(const MirageUGraph *graph, const MirageDiag *diag, char out_text[33]);

#endif
