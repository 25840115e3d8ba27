// passes.h - the pass table: what a pass is here, its options, and what the pass bodies share. Private to passes/.
//
// A pass is a row of MIRAGE_PASSES (pass_table.c): argument, summary, anchor, options, dependent dialects, C body.
// pass_shim.cpp turns a row into an mlir::Pass; pass_driver.c checks its options and runs it: errors are counted,
// MIRAGE_TRACE is served. All passes anchor on builtin.module, because they add and remove sibling graphs.
#ifndef MIRAGE_PASSES_H
#define MIRAGE_PASSES_H

#include "mirage/bridge.h"
#include "mirage/cancel.h"
#include "mirage/search.h"
#include "mirage/target.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------------ the
// table

typedef enum {
  MIRAGE_OPTION_BOOL,   // bool
  MIRAGE_OPTION_INT,    // int64_t
  MIRAGE_OPTION_DOUBLE, // double
  MIRAGE_OPTION_STRING, // const char *
  MIRAGE_OPTION_CHOICE, // const char *, one of `choices`
  MIRAGE_OPTION_TARGET, // const char *, a name that mirage_target_find knows
  MIRAGE_OPTION_TUPLES, // MiragePassTextList; entries are `least` to `most` integers with x or : between them
} MirageOptionKind;

typedef struct MiragePassTextList {
  const char *const *data;
  size_t size;
} MiragePassTextList;

/// An entry of a TUPLES option.
typedef struct MiragePassTuple {
  uint32_t count;
  int64_t numbers[3];
} MiragePassTuple;

typedef struct MiragePassOption {
  const char *name;
  MirageOptionKind kind;
  size_t offset;        // of the field in the pass's option struct
  const char *fallback; // default, as text
  const char *help;
  double min, max;      // INT, DOUBLE and the numbers of TUPLES
  const char *choices;  // CHOICE: separated by commas
  uint32_t least, most; // TUPLES
} MiragePassOption;

typedef MirageStatus (*MiragePassBody)(MlirOperation module, const void *options, const MirageDiag *diag);

typedef struct MiragePassInfo {
  const char *argument; // "mirage-verify"
  const char *stage;    // its name in MIRAGE_TRACE: "verify"
  const char *summary;
  const char *anchor; // operation that the pass runs on
  const MiragePassOption *options;
  size_t num_options, options_bytes;
  MlirDialectHandle (*const *dialects)(void); // that the pass creates operations of
  size_t num_dialects;
  MiragePassBody run;
  size_t given; // offset of a uint64_t whose bit i says that option i was given; 0 = the pass does not ask
  MirageStatus (*check)(const void *options, const MirageDiag *diag); // beyond ranges; NULL = nothing to check
} MiragePassInfo;

/// A pipeline runs its passes in order. Its options are those of its passes by name; an option that is given goes to
/// every pass that has it.
typedef struct MiragePipelineInfo {
  const char *argument, *summary;
  const char *const *passes; // arguments
  size_t num_passes;
} MiragePipelineInfo;

extern const MiragePassInfo MIRAGE_PASSES[];
extern const size_t MIRAGE_NUM_PASSES;
extern const MiragePipelineInfo MIRAGE_PIPELINES[];
extern const size_t MIRAGE_NUM_PIPELINES;

/// What the reference page says of a pass or pipeline beyond its row: what it is about, and an example with the command that
/// runs it and FileCheck's lines for what comes of it. reference.c
typedef struct MiragePassReference {
  const char *argument, *description, *example;
} MiragePassReference;
/// NULL where there is none; test/reference fails then.
const MiragePassReference *mirage__pass_reference(const char *argument);

/// The row with this argument, or NULL.
const MiragePassInfo *mirage__pass_find(const char *argument, size_t length);
/// Checks the options' values, and says what is wrong with them. The shim asks before any pass of a pipeline runs.
MlirLogicalResult mirage__pass_check(const MiragePassInfo *pass, MlirContext context, const void *options);
/// Runs the body on `module` and reports: a failure without a sentence gets one.
MlirLogicalResult mirage__pass_run(const MiragePassInfo *pass, MlirOperation module, const void *options);

// The C++ side (pass_shim.cpp): from a row to what MLIR's registry knows.
void mirage__shim_register_pass(const MiragePassInfo *pass);
void mirage__shim_register_pipeline(const MiragePipelineInfo *pipeline);
/// For a body that runs: runs passes, which it takes, on an operation of that name inside the body's own. The row has the
/// dialects that they need.
MlirLogicalResult mirage__shim_run_nested(MlirOperation op, const char *anchor, size_t num_passes,
                                          const MlirPass *passes);

// ---------------------------------------------------------------------------------------------------------- the
// options

typedef struct MirageConvertOptions {
  bool explain;
} MirageConvertOptions;

typedef struct MirageEnumerateOptions {
  const char *target;
  uint64_t given;
  const char *search_space; // path, or ""
  int64_t max_block_ops, max_loops, max_candidates, max_states, seed, num_threads;
  double time_budget;
  const char *progress, *checkpoint, *resume;
  MiragePassTextList griddims, blockdims, imaps, omaps, fmaps, franges;
  bool tensor_maps, prune, prune_expr, prune_axis, keep_products, merge, bound_needs, prune_memory, share_pieces,
      optimal, stats, json;
  const char *replay; // "no", "yes" or "add"
} MirageEnumerateOptions;

typedef struct MiragePruneOptions {
  const char *target;
  int64_t beaten_by;
  const char *engine; // of expressions
  bool tensor_maps, expr, duplicates, dominated, explain, stats;
} MiragePruneOptions;

typedef struct MirageVerifyPassOptions {
  int64_t seed, trials, first_trial, num_threads;
  double log2_bound, max_work;
  const char *against, *progress;
  bool guard, explain;
} MirageVerifyPassOptions;

typedef struct MirageLayoutOptions {
  const char *target;
  int64_t variants;
  bool tensor_maps, own, threads, explain;
} MirageLayoutOptions;

typedef struct MirageSelectOptions {
  const char *target;
  const char *keep; // "best" or "all"
  int64_t seed;
  const char *measure; // "auto", "yes" or "no"
  int64_t measure_candidates, measure_schedules;
  double log2_bound, full_size_work, measure_timeout;
  bool tensor_maps;
} MirageSelectOptions;

typedef struct MirageLowerOptions {
  const char *target;
  int64_t opt_level, num_threads;
  bool dump_llvm, tensor_maps;
} MirageLowerOptions;

typedef struct MirageConvertGpuOptions {
  const char *memory; // "device" or "host": where what the caller has lies
  bool async, emulation, keep;
} MirageConvertGpuOptions;

/// The GPU that a pass compiles for, or judges by: the row of that name, without tensor copies unless `tensor_maps`.
MirageTarget mirage__pass_target(const char *name, bool tensor_maps);

/// What the search is asked for: the options, and the search-space file's where they were not given. Lists live in
/// `arena`. pass_search_space.c
MirageStatus mirage__search_options(const MirageEnumerateOptions *options, MirageArena *arena, const MirageDiag *diag,
                                    MirageSearchOptions *out);
MirageStatus mirage__check_search_options(const void *options, const MirageDiag *diag);
/// False where the text is no integers with x or : between them, or more than three.
bool mirage__parse_tuple(const char *text, MiragePassTuple *out);
/// `where` begins the sentence: it names the option, or the place in a file.
MirageStatus mirage__check_tuple(const MiragePassOption *row, const char *where, const MiragePassTuple *tuple,
                                 const MirageDiag *diag);

MirageStatus mirage_pass_convert_linalg(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_convert_tosa(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_expand(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_enumerate(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_prune(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_verify(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_layout(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_select(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_lower(MlirOperation module, const void *options, const MirageDiag *diag);
MirageStatus mirage_pass_convert_gpu(MlirOperation module, const void *options, const MirageDiag *diag);

// ---------------------------------------------------------------------------------------- graphs of a module
// (graphs.c)

/// One mirage_kernel.graph of the module, imported on demand.
typedef struct MirageModuleGraph {
  MlirOperation op;
  const char *name;    // symbol, in the table's arena
  const char *source;  // symbol of the program it is a candidate for, or NULL for a program
  MirageUGraph *graph; // NULL until mirage__graphs_import
  bool erased;
} MirageModuleGraph;

typedef struct MirageSymbols MirageSymbols;

typedef struct MirageModuleGraphs {
  MlirOperation module;
  MlirBlock body;
  const MirageDiag *diag;
  MirageArena arena;
  uint32_t num_graphs;
  MirageModuleGraph *graphs; // in textual order
  MirageSymbols *symbols;    // of the module, once asked for: symbols.c
} MirageModuleGraphs;

/// Lists the graphs that stand directly in `module`. Pair with deinit, also after a failure.
MirageStatus mirage__graphs_init(MirageModuleGraphs *graphs, MlirOperation module, const MirageDiag *diag);
void mirage__graphs_deinit(MirageModuleGraphs *graphs);
/// The graph with this symbol, or NULL.
MirageModuleGraph *mirage__graphs_find(const MirageModuleGraphs *graphs, const char *name);
/// Fills entry->graph (kept until deinit).
MirageStatus mirage__graphs_import(MirageModuleGraphs *graphs, MirageModuleGraph *entry);
/// Writes entry->graph over entry->op: same place, same location, discardable attributes kept.
MirageStatus mirage__graphs_rewrite(MirageModuleGraphs *graphs, MirageModuleGraph *entry);
/// Names `graph` with a symbol that is free in the module: base, or, when that is taken or `numbered`, base_0, base_1,
/// ...
MirageStatus mirage__graphs_name(MirageModuleGraphs *graphs, MirageUGraph *graph, const char *base, bool numbered);
/// Adds `graph` as a new operation right after `after`.
MirageStatus mirage__graphs_append(MirageModuleGraphs *graphs, const MirageUGraph *graph, MlirOperation after,
                                   MlirOperation *out_op);
/// Which operations of the module have a symbol. Whoever adds or removes one beside graphs.c says so; `remove` before
/// it is destroyed. symbols.c
typedef struct MirageSymbolUse {
  bool binary, other; // a gpu.binary, which mirage-lower replaces; anything else
} MirageSymbolUse;
MirageStatus mirage__symbols_taken(MirageModuleGraphs *graphs, const char *name, MirageSymbolUse *out_use);
MirageStatus mirage__symbols_add(MirageModuleGraphs *graphs, MlirOperation op);
void mirage__symbols_remove(MirageModuleGraphs *graphs, MlirOperation op);
/// Removes the operation from the module.
void mirage__graphs_erase(MirageModuleGraphs *graphs, MirageModuleGraph *entry);
/// True for a live candidate of `program`.
bool mirage__graphs_is_candidate(const MirageModuleGraph *entry, const MirageModuleGraph *program);

/// Cookie for diagnostics about the whole graph.
static inline const void *mirage__graph_loc(const MirageModuleGraph *entry) {
  return mlirOperationGetLocation(entry->op).ptr;
}

/// mirage_layout_plan, which an interrupt ends when it is late: CANCELLED. So do those that plan a graph below.
MirageStatus mirage__plan_until_late(MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag);
/// Predicted cost of a program's own lowering, or of a candidate: as it will be compiled, operators outside kernels
/// canonicalised, all kernels planned.
MirageStatus mirage__lowered_cost(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                                  MirageCost *out_cost);
/// The program's own lowering: canonicalised, planned, with source and cost set, named "<program>_own" or what is free.
MirageStatus mirage__own_lowering(MirageModuleGraphs *graphs, const MirageUGraph *program, const MirageTarget *target,
                                  MirageUGraph **out_graph);

/// A sink that keeps messages until the stage's status is known: one that may fail on a candidate without failing the
/// pass tells so by a warning. Pair init with release.
typedef struct MirageHeldMessage MirageHeldMessage;
typedef struct MirageHeld {
  MirageDiag diag; // hand &held.diag to the core
  MirageArena arena;
  MirageHeldMessage *first, *last;
  const void *loc; // of messages that have none; may be NULL
} MirageHeld;
void mirage__hold_init(MirageHeld *held);
/// Passes the messages on, errors as warnings if `demote`, and frees them.
void mirage__hold_release(MirageHeld *held, const MirageDiag *next, bool demote);
/// The text of the first error held, or NULL.
const char *mirage__held_error(const MirageHeld *held);
/// What such a stage may fail with: the candidate is beyond it, and nothing else is wrong.
static inline bool mirage__is_beyond(MirageStatus status) {
  return status == MIRAGE_UNSUPPORTED || status == MIRAGE_LIMIT;
}

/// Whether somebody has asked the running passes to end early (pass_interrupt.c), and the flag that says so, for the
/// search.
bool mirage__is_interrupted(void);
/// Whether that is so long ago that nothing more shall be begun, however good the result would be.
bool mirage__is_late(void);
const int *mirage__interrupt_flag(void);
/// For work that a result needs: ends at an interrupt, or, where one has come before, when it is late. So work that
/// ends with `interrupt` set may be tried once more.
MirageCancel mirage__until_late(void);
/// Deadline of a MirageCancel for work that begins after an interrupt and may take so many seconds.
double mirage__moment_ends(double seconds);
/// Around each pass's body.
void mirage__pass_begins(void);
void mirage__pass_ends(const char *pass);

/// Replays the program's candidates through the search, and says of each whether it is met (pass_replay.c).
struct MirageSearchOptions;
MirageStatus mirage__replay_candidates(MirageModuleGraphs *graphs, MirageModuleGraph *program,
                                       const struct MirageSearchOptions *options, bool add);

/// Whether the abstract expressions of two graphs over the same inputs are both known and differ in some output
/// (pass_abstract.c). False means nothing: the verifier decides.
MirageStatus mirage__expression_differs(const MirageUGraph *program, const MirageUGraph *candidate, bool ask_z3,
                                        const MirageDiag *diag, bool *out_differs);

#ifdef __cplusplus
}
#endif
#endif
