// search.h - enumerates µGraphs for a program, pruning prefixes by abstract expressions. [Mirage 4]
#ifndef MIRAGE_SEARCH_H
#define MIRAGE_SEARCH_H

#include "mirage/target.h"
#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageInt64List {
  const int64_t *data;
  size_t size;
} MirageInt64List;

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
  uint32_t max_block_ops;    // 0 = 11; loads count, stores do not, an element-wise chain is one
  uint32_t max_candidates;   // kept, best predicted first; 0 = 16
  uint64_t max_states;       // stop after this many prefixes; 0 = 200000
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
  const MirageTarget *target;
} MirageSearchOptions;

/// Why prefixes were cut. Printed as the funnel.
typedef struct MirageFunnel {
  uint64_t states;     // tensors evaluated, and partial block graphs visited
  uint64_t cut_expr;   // the goal's abstract expression cannot be reached any more
  uint64_t cut_axis;   // operands walk different axes or hold different parts of one
  uint64_t cut_order;  // another form of the same operator is canonical: commuted operands, x * 1
  uint64_t cut_merge;  // an equal tensor exists already, or it is 0 or 1 everywhere
  uint64_t cut_memory; // does not fit shared memory or registers
  uint64_t structures; // complete block graphs whose fingerprint is the goal's
  uint64_t scheduled;  // structures times grids and loop ranges
  uint64_t candidates; // kept
  double seconds;
  bool exhausted; // the space up to max_block_ops was covered
} MirageFunnel;

typedef struct MirageSearchResult {
  uint32_t num_candidates;
  MirageUGraph **candidates; // best predicted first; each has meta.source and meta.cost
  MirageFunnel funnel;
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

#ifdef __cplusplus
}
#endif
#endif
