// emit.h - a program as a µGraph.
#ifndef PAIRS_EMIT_H
#define PAIRS_EMIT_H

#include "mirage/ugraph.h"
#include "program.h"

/// Builds the µGraph with the public builder; tensors have element type `dtype`. NULL when the builder refuses it: its
/// sentence is in `reason`.
MirageUGraph *emit_graph(const Program *p, const char *name, MirageDType dtype, char reason[160]);

#endif
