// cost_memo.h - costs of kernels that were asked for before: pieces of a program have most of theirs in common.
#ifndef MIRAGE_LIB_SEARCH_COST_MEMO_H
#define MIRAGE_LIB_SEARCH_COST_MEMO_H

#include "mirage/cost.h"

/// Of kernels by what they are, for one target; bounded, and the same for every thread: what it says depends on the kernel
/// alone, so that it changes no answer.
typedef struct CostMemo CostMemo;

/// NULL when memory is out.
CostMemo *mirage__cost_memo_create(void);
void mirage__cost_memo_destroy(CostMemo *memo);
/// What one kernel costs, of a graph; false where it is not known.
bool mirage__cost_memo_find(CostMemo *memo, const MirageGraphHash *kernel, MirageCost *out_cost);
void mirage__cost_memo_add(CostMemo *memo, const MirageGraphHash *kernel, const MirageCost *cost);

/// mirage_cost with a memo for `target`, or NULL.
MirageStatus mirage__cost_graph(const MirageUGraph *graph, const MirageTarget *target, CostMemo *memo,
                                const MirageDiag *diag, MirageCost *out_cost);

#endif
