//===- mirage-c/Passes.h - C API of the passes ----------------------------===//
//
// Registers the passes and pipelines of Mirage with MLIR's registry, and makes single passes for a pass manager built
// by hand. Options are given as text, as on the command line: "target=h200 max-block-ops=9".
//
//===----------------------------------------------------------------------===//
#ifndef MIRAGE_C_PASSES_H
#define MIRAGE_C_PASSES_H

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Registers every pass and pipeline (mirage-expand ... mirage-lower, mirage-superoptimize). Call it once a process.
void mirageRegisterAllPasses(void);

/// Calls `visit` for every pass, then for every pipeline.
typedef void (*MiragePassVisitor)(const char *argument, const char *summary, void *user);
void mirageForEachPass(MiragePassVisitor visit, void *user);

/// Prints our pipelines and passes with their options, and the GPUs that are known.
void mirageHelpPrint(FILE *stream);
/// The same as a page of Markdown, with types, ranges and examples.
void mirageHelpPrintMarkdown(FILE *stream);
/// The keys of a schedule, as a page of Markdown.
void mirageHelpPrintSchedule(FILE *stream);

/// A pass by its argument ("mirage-enumerate") with its options as text (may be empty), for
/// mlirPassManagerAddOwnedPass. A null pass when there is no such pass or an option is wrong; the reason goes to
/// standard error, as MLIR's own option parser does.
MlirPass mirageCreatePass(MlirStringRef argument, MlirStringRef options);

/// Asks the passes that run in this process to end early: the search with the best it has found, the passes after it as
/// soon as that is proven and planned. May be called from a signal handler; the library installs none. Returns whether
/// one of our passes is running, that is, whether anybody will heed it. It holds until mirageClearInterrupt.
bool mirageInterrupt(void);
void mirageClearInterrupt(void);
/// Whether passes were asked to end early, and not since mirageClearInterrupt: what they left is valid, and not all.
bool mirageWasInterrupted(void);

/// Events of the passes that the calling thread runs go to `callback`, as JSON objects, and no longer to standard error:
/// how far a search has come (progress=json), what it found (json=true). NULL ends it. It is called by the thread that
/// runs the passes or by one of theirs, one call at a time, and must not run passes.
typedef void (*MirageEventCallback)(MlirStringRef json, void *user);
void mirageSetEventCallback(MirageEventCallback callback, void *user);

/// How to start what measures candidates on the GPU in another process: a program and its first arguments, which
/// do what mirage-tune does. Copied; for programs that have no mirage-tune beside them. Call it before passes run.
/// Returns false where there is no memory or `count` is 0.
bool mirageSetMeasureCommand(intptr_t count, const char *const *arguments);

#ifdef __cplusplus
}
#endif
#endif
