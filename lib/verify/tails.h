// tails.h - indices that are compared with where something ends. tails.c
#ifndef MIRAGE_VERIFY_TAILS_H
#define MIRAGE_VERIFY_TAILS_H

#include "mirage/ugraph.h"

/// index < end: whether an element lies before a fixed position of its axis.
typedef struct VerifyTail {
  MirageValue index; // an iota, counting along `dim`
  uint32_t dim;
  int64_t end;
} VerifyTail;

/// Whether the node is such a comparison.
bool mirage__verify_tail(const MirageUGraph *graph, const MirageNodeView *node, VerifyTail *out_tail);
/// Whether the indices of an iota count from 0 and are read by such comparisons alone.
bool mirage__verify_counts_tails(const MirageUGraph *graph, const MirageNodeView *iota);

#endif
