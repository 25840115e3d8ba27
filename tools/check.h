// check.h - the parts of mirage-check, in the order in which they work:
//
//   mirage-check.c   options, the order of everything, exit status
//   check_module.c   reads a module and finds its graphs
//   check_proof.c    what is asked of one proof: no MLIR in there
//   check_report.c   says what came out, as text and as JSON
//
// None of them uses the search, the layout planner or the code generator: test/check/links.py holds the tool to that.
#ifndef MIRAGE_TOOLS_CHECK_H
#define MIRAGE_TOOLS_CHECK_H

#include "mirage/guard.h"
#include "mirage/verify.h"
#include "mlir-c/IR.h"

#include <stdio.h>

// ------------------------------------------------------------------------------------------------------------- options

/// How one proof is checked.
typedef struct CheckSettings {
  uint64_t seed;              // of everything random
  double log2_bound;          // prove again down to this; 0 = what the stored proof claims, -60 where there is none
  double max_work;            // multiplications that a proof at full size may cost
  bool full_size;             // prove at full size what is stored for a smaller instance, too
  const MirageCancel *cancel; // proofs ask it; NULL = nobody
  bool guard;                 // measure the numeric guard's figures again, where there are any
} CheckSettings;

typedef struct CheckOptions {
  CheckSettings settings;
  bool all; // prove the candidates that have no stored proof as well
  bool json;
} CheckOptions;

// --------------------------------------------------------------------------------------------------------------- proof

typedef enum CheckOutcome {
  CHECK_NOT_LOOKED_AT, // after an interrupt
  CHECK_NO_PROOF,      // a candidate without one, and CheckOptions.all was not given
  CHECK_OK,
  CHECK_REFUSED,
} CheckOutcome;

typedef struct CheckAnswer {
  CheckOutcome outcome;
  char reason[320]; // CHECK_REFUSED
  MirageProof stored, fresh;
  MirageGuard stored_guard, fresh_guard; // fresh_guard.present: it was measured again
} CheckAnswer;

/// Checks the proof that `candidate` carries, or, where there is none, proves it.
///
///   1. its `pair` is the hash of these two graphs
///   2. so many trials do show what it claims on this pair (mirage_verify_claim)
///   3. the pair is proven again, with draws of settings->seed, and with the same figures
///   4. where the numeric guard's figures are there, it lets the candidate pass again, and they are not too good
///
/// Errors:  NO_MEMORY. Whatever else is wrong with a pair refuses it.
/// Threads: safe on graphs that nobody is building.
MirageStatus check_proof(const MirageUGraph *program, const MirageUGraph *candidate, const CheckSettings *settings,
                         CheckAnswer *out_answer);

/// A sink that keeps the first error in `reason` of the CheckAnswer that is its user.
void check_keep_reason(void *user, MirageSeverity severity, const void *loc, const char *message);

// -------------------------------------------------------------------------------------------------------------- module

/// One mirage_kernel.graph that names a source, or carries a proof.
typedef struct CheckEntry {
  MlirOperation op;
  const char *name, *source; // symbols; source may be NULL
  bool has_proof, selected;
  CheckAnswer answer;
} CheckEntry;

typedef struct CheckModule {
  const char *path;
  MlirContext context;
  MlirModule module;
  MirageArena arena;
  uint32_t num_graphs; // all of them
  uint32_t num_entries, num_proofs;
  CheckEntry *entries; // in textual order
  uint32_t num_codes;
  const char **codes; // symbols of gpu.binary, which nobody checks here
} CheckModule;

/// Reads text or bytecode. "-" is standard input. MLIR's own errors go to standard error, with their location.
/// Errors:  IO, BAD_GRAPH (it is no module, or one that breaks a rule), NO_MEMORY. Pair with deinit, also then.
MirageStatus check_module_load(const char *path, const MirageDiag *diag, CheckModule *out_module);
void check_module_deinit(CheckModule *module);
/// Fills entry->answer.
/// Errors:  NO_MEMORY.
MirageStatus check_module_entry(CheckEntry *entry, const CheckOptions *options);

// -------------------------------------------------------------------------------------------------------------- report

typedef struct CheckCounts {
  uint32_t ok, refused, without_proof, not_looked_at;
} CheckCounts;

CheckCounts check_count(const CheckModule *module);
void check_report_text(const CheckModule *module, const CheckOptions *options, FILE *file);
/// A module of which nothing else can be said.
void check_report_unread(const char *path, const char *why, const CheckOptions *options, FILE *file);
/// One object on one line.
MirageStatus check_report_json(const CheckModule *module, const CheckOptions *options, FILE *file);

#endif
