// items.h - rows in threads, as codegen_items.c and codegen_rows_ahead.c share them.
#ifndef MIRAGE_LIB_CODEGEN_ITEMS_H
#define MIRAGE_LIB_CODEGEN_ITEMS_H

#include "emit.h"

enum { MAX_PIECES = 128, MAX_TOGETHER = 8, NARROW = -1, PIECES_AHEAD = 2 };

/// A row in hand: its index but for the column, and whether it is one of the block's; NULL = always.
typedef struct Row {
  LLVMValueRef index[MIRAGE_MAX_RANK];
  LLVMValueRef valid;
} Row;

/// The first columns of a tile: how many, and how many at least in whichever block.
typedef struct Columns {
  LLVMValueRef count;
  int64_t least;
} Columns;

/// Two windows side by side of what is the same in all rows, which hold a piece of a row that begins anywhere: `low` bytes behind the
/// beginning of the first; whether the tensor has both, NULL = always. No windows: nothing was read.
typedef struct SameWindows {
  int32_t row, piece;
  LLVMValueRef windows[2], low, fits;
} SameWindows;

typedef struct Rows {
  Emit *e;
  const ThreadRows *items;
  LLVMValueRef team, place;        // which row of those side by side; which thread of it
  LLVMValueRef column[MAX_PIECES]; // of each piece; 0 where that lies beyond the row
  LLVMValueRef inside[MAX_PIECES]; // NULL = always
  Row rows[MAX_TOGETHER];
  LLVMValueRef begin[MAX_TOGETHER][MAX_PIECES]; // the column of each row and piece, where rows wait in shared memory
  LLVMValueRef present[MAX_TOGETHER];           // whether the tensors have such a row; NULL = always
  Columns has;                                  // of such a row, those that the tensors have
  SameWindows same[MIRAGE_MAX_LOADS][PIECES_AHEAD + 1]; // by load of the block, and piece
  LLVMValueRef slot;                                    // of the turn in hand, where rows wait in shared memory
  bool left; // this block has read what the others published, and does not know yet whether they have
} Rows;

/// The rows of turn `turn`; NULL: the only one.
void mirage__begin_rows(Rows *rows, LLVMValueRef turn);
/// Index of (row in hand, first column of the piece) in a tile of the common shape; `piece` NARROW: of its one column.
void mirage__row_index(const Rows *rows, int32_t row, int32_t piece, LLVMValueRef *index);
/// What is left to do in turn, once its rows are in hand.
void mirage__finish_rows(Rows *rows);

// codegen_rows_ahead.c ------------------------------------------------------------------------ rows that wait in shared memory
/// All turns of the block.
void mirage__emit_rows_ahead(Rows *rows, int64_t turns);
/// Before a piece of a row of `value` is computed: reads what does not stay in registers. What that left is forgotten after it; where
/// rows do not wait, nothing happens.
uint32_t mirage__begin_piece(Rows *rows, MirageValue value, int32_t row, int32_t piece);
void mirage__end_piece(Rows *rows, uint32_t known, int32_t piece);
/// Whether an element of a piece is one of its row in the tile; NULL = always.
LLVMValueRef mirage__torn_valid(const Rows *rows, int32_t row, int32_t piece, uint32_t element);
/// Stores a piece of a row that begins anywhere: as a window where the tensor has all of it, else element by element.
void mirage__store_torn(Rows *rows, const MirageNodeView *view, const Access *access, int32_t row, int32_t piece);

#endif
