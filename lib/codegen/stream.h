// stream.h - loops that stream weights: what both kinds share (codegen_direct.c), weights [k, n] (codegen_columns.c) and
// weights [n, k] (codegen_rows.c).
#ifndef MIRAGE_CODEGEN_STREAM_H
#define MIRAGE_CODEGEN_STREAM_H

#include "emit.h"

// Variables of one group: what a step adds to.
typedef struct Registers {
  LLVMValueRef *cells;  // [piece][unit][column unit][4]
  LLVMValueRef *part;   // of one unit, in one step, where that is scaled before it is added; NULL: it is not
  LLVMValueRef *raw[2]; // weights of rows, [unit][column unit][4]: what products 0 and 1 of a chunk add to
  LLVMValueRef *totals; // and the sums of the activations, [column unit][2]; NULL: not needed
} Registers;

// A step that is under way.
typedef struct Bank {
  LLVMValueRef
      *words[MAX_DIRECT_CARRIES]; // by group, [piece][row][word]: the lane's rows of the weights as they lie in memory
  Tape tape;                      // what its activations are computed from
} Bank;

typedef struct Stream {
  DirectLoop plan;
  DirectPart part;
  int32_t loop;
  int64_t range;      // iterations of this block
  LLVMValueRef first; // the number of the first of them
  MirageNodeView view;
  Registers groups[MAX_DIRECT_CARRIES];
  LLVMValueRef *sums[MAX_DIRECT_CARRIES]; // by reduction: [column unit]; weights of rows: of activation row `lane`
  Bank banks[MAX_DIRECT_AHEAD], *bank;    // the one that code is being generated for
  LLVMValueRef g, t;
} Stream;

// A step of an iteration for this warp: this lane's part of the contraction, and of each column unit the activation row.
typedef struct Place {
  LLVMValueRef group, k, row[MAX_DIRECT_UNITS]; // k in the group; group is NULL where there is one
} Place;

// Pairs of columns of a lane.
static inline int32_t stream_units(const DirectGroup *group) { return group->lane_columns / 2; }

static inline int32_t stream_words(const DirectGroup *group) {
  return mirage__raw_words(group->stored, group->lane_columns);
}

/// Index of an element of a matrix of group `group` (NULL = there is one), the last of the leading dimensions; others are 1.
void mirage__stream_index(Emit *e, const MirageType *type, LLVMValueRef group, LLVMValueRef row, LLVMValueRef column,
                          LLVMValueRef *index);
/// The lane's first column of a piece; lanes beyond the end repeat its first, which others of the warp load as well.
LLVMValueRef mirage__stream_column(Emit *e, const Stream *s, const DirectGroup *g, int32_t piece);
/// Loads a step of the weights into the bank: of each piece of a group's columns the lane's rows, eight of [k, n], two of [n, k].
void mirage__stream_fetch(Emit *e, Stream *s, const Place *place);
/// Eight activations of a row from `k` on, neighbours along the contraction.
void mirage__stream_activations(Emit *e, const DirectGroup *g, LLVMValueRef group, LLVMValueRef row, LLVMValueRef k,
                                LLVMValueRef *values);
/// Eight of what reduction `r` is of, added to a sum (or maximum).
LLVMValueRef mirage__stream_reduce(Emit *e, const DirectReduction *r, LLVMValueRef group, LLVMValueRef row,
                                   LLVMValueRef k, LLVMValueRef sum);
/// What the step's share of each of this lane's cells is multiplied with, in the order of cells; cells that are none of the
/// product are left out, and so is a product without scales. `out` may be NULL.
void mirage__stream_scales(Emit *e, Stream *s, const DirectProduct *product, const Place *at, LLVMValueRef *out);
/// Activation row 8 j + g of this lane; beyond the last it repeats row 0.
LLVMValueRef mirage__stream_row(Emit *e, const Stream *s, int32_t j);
LLVMValueRef *mirage__stream_variables(Emit *e, int32_t count, LLVMTypeRef type);
LLVMValueRef *mirage__stream_zeros(Emit *e, int32_t count); // f32
/// Whether a group's products are scaled step by step.
bool mirage__stream_is_scaled(const Stream *s, uint32_t group);

/// Announces what the loop reads of shared memory.
void mirage__stream_reads(Emit *e, const Stream *s, bool activations, bool scales);

/// Few scales and the like, which results are computed with behind the loop, on their way into L2.
void mirage__stream_prefetch(Emit *e, const Stream *s);

/// Runs the loop: cells and sums then hold what this warp has to add. Of blocks that take tiles in turn, the last steps of rows leave
/// the next tile's first ones under way.
bool mirage__column_registers(Emit *e, Stream *s);
void mirage__stream_columns(Emit *e, Stream *s);
bool mirage__row_registers(Emit *e, Stream *s);
void mirage__stream_rows(Emit *e, Stream *s);

#endif
