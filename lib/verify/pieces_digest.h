// pieces_digest.h - what the tensors of a pair hold at one random point. pieces_digest.c
#ifndef MIRAGE_VERIFY_PIECES_DIGEST_H
#define MIRAGE_VERIFY_PIECES_DIGEST_H

#include "verify_internal.h"

/// digests[g][free_exp][v]: of tensor v at the kernel level of graph g (source, target), under the theorem of
/// exponentials and that of free ones; 0 where some element has no value. Zeroed by the caller, num_values + 1 each.
/// Equal digests of two tensors: they are presumably the same function of the inputs.
///
/// Errors:  LIMIT where no instance is small enough; NO_MEMORY; CANCELLED; what evaluation says.
MirageStatus mirage__verify_digests(const MirageUGraph *const graphs[2], const MirageVerifyOptions *options,
                                    uint64_t *const digests[2][2]);

#endif
