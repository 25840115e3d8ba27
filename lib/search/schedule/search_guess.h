// search_guess.h - how a structure would be carried out under a schedule, guessed without a plan.
#ifndef MIRAGE_LIB_SEARCH_GUESS_H
#define MIRAGE_LIB_SEARCH_GUESS_H

#include "search/cost/cost_kernel.h"

/// What lib/layout would look at, of all loops and operators of a kernel.
typedef struct SearchGuess {
  uint32_t products, others;    // products and reductions inside loops
  uint32_t inner;               // of these, what sums over groups of products or of sums are made of
  uint32_t carries, carried;    // carries, and those that a loop that streams its weights may have
  uint32_t product_carries;     // sums of products; the results of other products are used in the loop
  int64_t rows, depth, columns; // of products with weights of their own; columns of all together
  int64_t side_columns;         // of products that are the same in all blocks
  double column_bits;           // of a row of their weights, in device memory
  double piece_bytes;           // of a row of the narrowest weight's tile that differs from block to block
  double conversion;            // instructions to make numbers of such a row
  int64_t group_depth;          // of the depth, what has scales of its own
  uint32_t narrowest;           // bits of their weights
  bool by_row;                  // the weights have a row for each output
  bool ragged;                  // some tile of theirs has columns past the end
  bool mixed;                   // these differ in rows or depth, or in how weights lie
  bool crossed;                 // a product takes another's result as its second operand, or transposed
  bool swap;                    // the operands of products are swapped: set before anything is noted
  bool uneven;                  // some product's tile is not of whole instructions of a warpgroup
  double product_elements;      // results of products
  double product_columns;       // of their tiles, summed
  double shared_bytes;          // of a block, two stages of each load inside a loop
  double accumulator_bytes;     // of a block, in registers
  double reductions, operators; // outside loops
  double row_values, row_same;  // loads outside loops, as wide as the largest tile's rows: mirage__rows_in_threads
  int64_t elements, row;        // of the largest tile, of one of its rows
  int64_t row_tensors;          // that such loads are of
  int64_t widest_bytes;         // of an element that is loaded
  int64_t row_bytes;            // of an element of such loads that differ from row to row; -1: they are not alike
  bool row_torn;                // their rows begin anywhere
  bool moved;                   // something is multiplied, reduced or moved in another way than along rows
} SearchGuess;

/// Notes an operator: whether its operands come of products, which leave them in cells, and where it stands.
void mirage__guess_operator(SearchGuess *guess, CostKernel *kernel, MirageOp op, const MirageAttrs *attrs,
                            const MirageType *result, const MirageType *a, const MirageType *b,
                            const bool of_product[2], bool inside_loop, double times);
/// Notes a load outside loops; `again`: of a tensor that another loads as well.
void mirage__guess_load(SearchGuess *guess, const MirageType *tensor, const MirageType *tile, bool again);
/// Notes what a loop carries: the operator that contributes, NONE where it is more than a plain sum or maximum. Where that
/// is a sum over groups, `grouped`, `op` is what is summed, a product, perhaps scaled, or a sum over rows. A product is of
/// numbers of type `dtype`.
void mirage__guess_carry(SearchGuess *guess, MirageOp op, bool grouped, const MirageAttrs *attrs, const MirageType *a,
                         const MirageType *b, MirageDType dtype, bool b_is_loaded, bool same_in_all_blocks);
/// Shared memory that a value needs: what a load or an intermediate tile of a block takes.
void mirage__guess_tile(SearchGuess *guess, const MirageType *tile, double copies);
/// Fills in how the kernel would be carried out; false where it would not fit the target.
bool mirage__guess_plan(const SearchGuess *guess, const MirageTarget *target, CostKernel *kernel);

#endif
