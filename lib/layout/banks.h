// banks.h - what an access to a tile costs in shared memory: real addresses, real banks.
#ifndef MIRAGE_LAYOUT_BANKS_H
#define MIRAGE_LAYOUT_BANKS_H

#include "plan.h"

enum { BANK_LANES = 32 };
typedef int64_t BankIndex[MIRAGE_MAX_RANK]; // of a lane's first element

/// Cycles beyond the least that a warp's access takes: lane i touches `width` neighbouring elements (16 bytes at most)
/// from index[i] on, in the layout of `type`.
int64_t mirage__bank_conflicts(const MirageType *type, uint32_t width, uint32_t lanes, const BankIndex *index);
/// The same when each of eight lanes names a row of 16 bytes: one matrix of ldmatrix, plain or .trans.
int64_t mirage__bank_conflicts_of_rows(const MirageType *type, const BankIndex *index);

/// What all that the block graph does with a buffer costs when it is laid out as `type` says (traffic.c).
typedef struct Traffic {
  double conflicts; // cycles lost, summed over the warps of a block
  double swizzles;  // addresses that take a swizzle's arithmetic
} Traffic;
Traffic mirage__traffic(const Plan *plan, MirageValue buffer, const MirageType *type);

#endif
