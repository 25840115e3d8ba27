// gelu.h - the exact GELU of JAX, written with the error function again. Private to lib/bridge.
#ifndef MIRAGE_BRIDGE_GELU_H
#define MIRAGE_BRIDGE_GELU_H

#include "lift.h"

/// In each GELU of the block, writes 1 - erf(y) for an erfc(y) that is printed as a piecewise polynomial, and removes what only
/// that has used.
///
/// Errors: NO_MEMORY.
MirageStatus mirage__rewrite_gelu(MlirBlock block, MirageArena *arena);

#endif
