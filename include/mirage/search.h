// search.h - enumerates µGraphs for a program, pruning prefixes by abstract expressions. [Mirage 4]
#ifndef MIRAGE_SEARCH_H
#define MIRAGE_SEARCH_H

#include "mirage/expr.h"
#include "mirage/target.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageInt64List {
  const int64_t *data;
  size_t size;
} MirageInt64List;

/// Why a search ended before it had covered its space; the greater one is told where there are several.
typedef enum MirageStop {
  MIRAGE_STOP_NONE,
  MIRAGE_STOP_MAX_STATES,
  MIRAGE_STOP_MEMORY,
  MIRAGE_STOP_TIME_BUDGET,
  MIRAGE_STOP_INTERRUPT,
} MirageStop;
/// "max-states", "memory", "time-budget", "interrupt"; "" for NONE.
const char *mirage_stop_name(MirageStop stop);

typedef struct MirageSearchControl MirageSearchControl;

/// The limit on states where the options give none: 200000 up to 11 block operators, 400000 at 12, 800000 from 13 on;
/// five times as many where `optimal` is set.
uint64_t mirage_search_states(uint32_t max_block_ops, bool optimal);

/// One number for each of the grid axes x, y and z.
typedef struct MirageTriple {
  int64_t xyz[3];
} MirageTriple;
typedef struct MirageTripleList {
  const MirageTriple *data;
  size_t size;
} MirageTripleList;

/// Option names are the original's. Empty lists mean "from the shapes and the target". Lists restrict every kernel that
/// the search builds, not the program's own operators that a piece keeps. Maps speak of the inputs and outputs of what
/// is searched, the program or a piece of it; how parts of a split reduction lie between two kernels is the search's.
typedef struct MirageSearchOptions {
  uint32_t
      max_block_ops; // 0 = 11, and two more for programs without products; loads count, stores do not, an element-wise chain is one
  uint32_t max_loops;        // of a block graph, one after the other; 0 = 3
  uint32_t max_candidates;   // kept, best predicted first; 0 = 16
  uint64_t max_states;       // stop after this many prefixes; 0 = mirage_search_states
  MirageInt64List griddims;  // allowed numbers of blocks along one grid axis
  MirageTripleList grids;    // allowed grids as a whole, beside those
  MirageInt64List blockdims; // allowed threads of a block, multiples of 32
  MirageTripleList imaps;    // allowed tensor dimensions that x, y and z split in an input; -1 = none
  MirageTripleList omaps;    // the same of an output
  MirageInt64List fmaps;     // allowed tensor dimension that a loop splits in an input; -1 = none
  MirageInt64List franges;   // allowed loop ranges
  uint64_t seed;             // of the fingerprints
  uint32_t num_threads;      // 0 = all cores; the result does not depend on it
  bool no_prune_expr;        // switches: measure what each idea gains
  bool no_prune_axis;
  bool no_merge;
  bool no_keep_products; // expressions expand products of sums
  bool no_bound_needs;   // block graphs: only the longest path bounds what is missing
  bool no_prune_memory;  // keep tensors whose smallest tile fits no block
  bool no_share_pieces;  // search equal pieces of the program again
  bool no_second_kernel; // blocks that share a reduction combine their parts themselves, not in a kernel of its own
  bool optimal; // nothing is left out by judgement: every block graph within max_block_ops is met and scheduled
  const MirageTarget *target;
  const MirageSearchControl *control; // who watches, and who may stop it; NULL = nobody
} MirageSearchOptions;

/// Why prefixes were cut. Printed as the funnel.
typedef struct MirageFunnel {
  uint64_t states;                    // tensors evaluated, and partial block graphs visited
  uint64_t cut_expr;                  // the goal's abstract expression cannot be reached any more
  uint64_t cut_axis;                  // operands walk different axes or hold different parts of one
  uint64_t cut_order;                 // another form of the same operator is canonical: commuted operands, x * 1
  uint64_t cut_merge;                 // an equal tensor exists already, or it is 0 or 1 everywhere
  uint64_t cut_memory;                // does not fit shared memory or registers
  uint64_t structures;                // complete block graphs whose fingerprint is the goal's
  uint64_t scheduled;                 // structures times grids and loop ranges
  uint64_t candidates;                // kept
  uint64_t axioms[MIRAGE_NUM_AXIOMS]; // how often each axiom changed an abstract expression; not what earlier
                                      // runs of an unfinished plan counted, when a checkpoint is gone on from
  double seconds;
  bool exhausted;       // the space up to max_block_ops was covered, for the whole program and for every piece
  bool whole_exhausted; // for the whole program
  MirageStop stop;      // what ended it before that; NONE as well where the search cannot treat the program as a whole
} MirageFunnel;

typedef enum MirageSearchPhase {
  MIRAGE_PHASE_PLANS,     // block graphs for the whole program; a plan for each axis that a loop may walk
  MIRAGE_PHASE_SCHEDULES, // grids and loop ranges for the best of them
  MIRAGE_PHASE_PIECES,    // the program in pieces; told once the whole is finished, though threads begin them earlier
} MirageSearchPhase;

typedef struct MirageSearchProgress {
  MirageSearchPhase phase;
  uint32_t done, total; // plans, block graphs that have schedules, or pieces: finished, and all
  MirageFunnel funnel;  // until now; `seconds` since the search began; `scheduled` and later fields not yet counted
  double best_us;       // predicted time of the best µGraph of one kernel, in the first phase at a middling schedule,
                        // in the second as estimated before it is built; infinite: none
  double seconds_left;  // of the budget; infinite without one
} MirageSearchProgress;

/// How a search is watched and stopped. A search that is not stopped gives the same answer with and without. One that
/// is builds candidates from what it has found until then, and funnel.stop says who stopped it.
///
/// progress   called by the searching threads, never by two at a time, at most once in `interval` seconds and where
///            a phase begins.
/// checkpoint file that is written now and then and at the end; where it exists, the search goes on from there, and
/// gives
///            what a search that was never stopped gives, at any number of threads. It belongs to one program, target
///            and set of options: mirage_search fails with BAD_ARGUMENT on any other, and leaves it as it is. (IO where
///            it cannot be read or written at all.)
/// interrupt  read atomically; not 0: stop now. A signal handler or another thread may set it.
/// Owns:      the caller keeps all of it until mirage_search returns.
struct MirageSearchControl {
  void (*progress)(void *user, const MirageSearchProgress *progress); // or NULL
  void *user;
  double interval;      // seconds; 0 = 0.1
  const int *interrupt; // or NULL
  double time_budget;   // seconds; 0 = none. Where there are pieces to search, the whole program gets two thirds of it,
                        // and all of it once they are finished
  const char *checkpoint;     // path, or NULL
  double checkpoint_interval; // seconds between two writes; 0 = 10
  bool must_resume;           // the checkpoint must exist
};

typedef struct MirageSearchResult {
  uint32_t num_candidates;
  MirageUGraph **candidates; // best predicted first; each has meta.source and meta.cost
  MirageFunnel funnel;
  char reason[256]; // why there is no µGraph of one kernel; empty where there is one
  bool saved;       // what was done is in the checkpoint
} MirageSearchResult;

/// BAD_ARGUMENT, with a sentence, where a number lies outside what the search and the target can do.
MirageStatus mirage_search_check_options(const MirageSearchOptions *options, const MirageDiag *diag);

/// Searches µGraphs for the program: of one kernel, of two that share a split reduction, and of pieces. "Nothing found"
/// is num_candidates == 0, not an error.
/// Owns:   *out_result is the caller's; free with mirage_search_result_deinit. Borrows program and options.
/// Errors: UNSUPPORTED (operator named) when the program has an operator that the search cannot treat, and no piece of
/// it
///         gains anything; NO_MEMORY.
MirageStatus mirage_search(const MirageUGraph *program, const MirageSearchOptions *options, const MirageDiag *diag,
                           MirageSearchResult *out_result);
void mirage_search_result_deinit(MirageSearchResult *result);

/// Which test of the search cuts a given µGraph.
typedef enum {
  MIRAGE_REPLAY_NONE,
  MIRAGE_REPLAY_OPERATOR,   // the search has no such operator here
  MIRAGE_REPLAY_AXIS,       // operands walk different axes, or hold different parts of one
  MIRAGE_REPLAY_EXPRESSION, // its abstract expression cannot become part of the program's
  MIRAGE_REPLAY_MEMORY,     // no tile fits
  MIRAGE_REPLAY_ORDER,      // it gives an operand again, or 0
  MIRAGE_REPLAY_MERGE,      // it is 0 or 1 everywhere
  MIRAGE_REPLAY_VALUE,      // its values, or those of a result, are not the program's
  MIRAGE_REPLAY_LIMIT,      // too many operators
  MIRAGE_REPLAY_SCHEDULE,   // its grid, loop range or way to combine is not tried
  MIRAGE_REPLAY_KERNELS,    // what the search does in one kernel takes several
  MIRAGE_REPLAY_LOST,       // every test passes, and yet the search did not meet it
} MirageReplayCut;
const char *mirage_replay_cut_name(MirageReplayCut cut); // "axis"

typedef struct MirageReplayResult {
  bool in_space;        // up to canonical form, the search enumerates it
  MirageReplayCut cut;  // NONE when it is in the space
  MirageOp op;          // the candidate's operator that is cut; NONE = the graph as a whole
  const void *loc;      // its cookie
  char why[256];        // in words
  uint32_t pieces;      // into which it cuts the program; 1 = the whole. When one is cut, its number
  uint32_t counted_ops; // as max_block_ops counts them, of the largest piece; 0 = not known
  uint32_t operators;   // element-wise ones and all others, one by one
  uint32_t merged;      // values for which an equal one of the candidate stands
  MirageUGraph *graph;  // of the search's, of the whole, that computes the same with the same operators: the canonical
                        // form, or, where kernels or schedule differ, its best schedule; NULL = none
} MirageReplayResult;

/// Says of given µGraphs whether the search meets them, and if not, which of its tests cuts which operator.
/// Canonical forms stand for equal ones: commuted operands, squares for products, sums that are added up in another
/// order, axes in another order of the grid, accumulators that stay tiles until a second kernel sums them.
typedef struct MirageReplay MirageReplay;

/// Owns:   *out_replay is the caller's; free with mirage_replay_destroy. Borrows program and options until then.
/// Errors: as mirage_search.
MirageStatus mirage_replay_create(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const MirageDiag *diag, MirageReplay **out_replay);
/// Shapes: the candidate's inputs and outputs are the program's, in their order; BAD_SHAPE otherwise.
/// Owns:   out_result->graph is the caller's.
/// Threads: one call at a time.
MirageStatus mirage_replay_run(MirageReplay *replay, const MirageUGraph *candidate, const MirageDiag *diag,
                               MirageReplayResult *out_result);
void mirage_replay_destroy(MirageReplay *replay);

#ifdef __cplusplus
}
#endif
#endif
