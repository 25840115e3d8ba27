// import.h - reads µGraphs that the original system saved as JSON. The format as we read it: lib/import/README.md.
//
// Such a file holds graphs and no program: they claim to compute something, and which, the caller has to know. What is
// read here is therefore unproven; mirage_verify decides.
#ifndef MIRAGE_IMPORT_H
#define MIRAGE_IMPORT_H

#include "mirage/ugraph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageImportOptions {
  const MirageUGraph *program; // what the graphs claim to compute, or NULL when that is not known yet
  const char *name;            // graph i is called <name>_<i>; NULL = the program's name, or "graph" without a program
  bool recompute_shapes; // take the shapes of intermediate tensors from the operators; false: what the file states
                         // has to agree with them
} MirageImportOptions;

typedef struct MirageImport {
  size_t num_graphs;
  MirageUGraph **graphs; // finished; meta.source is the program's name
} MirageImport;

/// Reads every graph of a JSON text (a list of graphs, or one graph).
///
/// Shapes:  inputs pair up with the program's by position. Outputs pair up by type: the program's output i is the first
///          output of that type, in the file's order, which is not taken yet.
/// Owns:    borrows `text` (`size` bytes, no terminator needed) and `options` (may be NULL); `out_import` is the
/// caller's. Errors:  BAD_GRAPH (text that is no JSON, missing or wrong fields, tensors that nobody defines, operators
/// unknown);
///          BAD_SHAPE, BAD_TYPE, BAD_ARGUMENT; UNSUPPORTED (an operator of the format that we cannot say); LIMIT;
///          NO_MEMORY. The sentence begins with where: "graph 3, operator 5 (kn_customized_op), block operator 2
///          (tb_exp_op): ...", counted from 0 as in the file. One bad graph refuses the file.
/// Threads: safe; no global state.
/// Source:  [Mirage 2] for what the graphs mean
MirageStatus mirage_import_json(const char *text, size_t size, const MirageImportOptions *options,
                                const MirageDiag *diag, MirageImport *out_import);
void mirage_import_deinit(MirageImport *import);

#ifdef __cplusplus
}
#endif
#endif
