// cost_kernel.h - what a kernel moves and computes, and how, summed; and the time that takes.
#ifndef MIRAGE_LIB_SEARCH_COST_KERNEL_H
#define MIRAGE_LIB_SEARCH_COST_KERNEL_H

#include "layout/block.h"
#include "mirage/cost.h"

/// Weights that go straight from device memory to the matrix instruction (lib/layout/direct.c).
typedef struct CostStream {
  int64_t rows, depth, columns; // activation rows, tile of the contraction, columns of all weights together; 0 = none
  int64_t side_columns;         // of these, what side blocks compute for all others
  double piece_bytes;           // of a row of the narrowest weight's tile, but for those of side blocks
  double bits, conversion; // of a weight in device memory, and instructions to make an f16 or bf16 of it; on average
  int64_t lane_k;          // of weights that have a row for each output: what a lane takes of it at once; 0 = a column
  bool ragged;             // some tile has columns past the end of the weight
} CostStream;

/// What one kernel does, summed over all blocks unless said otherwise, and how: as planned (cost_plan.c), or as guessed
/// of a structure that no plan was made for (search_cost.c).
typedef struct CostKernel {
  double blocks;
  double threads;          // of a block; 0 = open
  double stages;           // of the loads in loops; 0 = as many as have room
  double dram_bytes;       // every tensor touched, once
  double written_bytes;    // of these, what is stored
  double l2_bytes;         // every tile moved, in whole 32-byte sectors
  double torn_bytes;       // of these, beside the runs of elements: of the sectors in which they begin and end
  double box_us;           // that copies of rows of tiles take: 128 bytes, or fewer where columns are no multiple
  double box_excess;       // bytes that they count for beside the tiles: further columns, short rows, parts of lines
  double outside_bytes;    // of these, loaded outside loops, and stored
  double turned_bytes;     // of a block's sums, which pass through shared memory to be turned
  double runs;             // of elements that lie one after the other, of all tiles moved
  double matmul_flops;     // in whole 16x8x16 instructions
  double again_bytes;      // of tensors, for each block that loads them and is no neighbour in x of the first
  double operand_bytes;    // that warpgroups read from shared memory to multiply
  double broken_products;  // whose tiles are more than a line of 128 bytes deep and no whole number of them
  double fma_flops;        // element-wise and reductions
  double converted;        // elements that are cast from a stored type, of all loads
  double special;          // exponentials, roots, divisions
  double flops;            // as the program counts them
  double narrow_elements;  // loaded one by one, since their rows are not aligned
  double narrow_stored;    // and stored
  double least_rows;       // of a product's tile; 0 = there is none
  double spilled_elements; // of a chain: results of products that do not stay in registers
  double stored_elements; // of a chain: other values of the loop that pass through shared memory, but loads and vectors
  double reduced_elements;  // read from shared memory, to reduce them or to sum them over a loop
  double reduced_outside;   // of these, outside loops
  double iterations;        // of the loops of one block
  double shortest, longest; // blocks, in iterations of the mean one; 0 = all are alike
  bool longest_first;       // they begin in that order
  double iteration_bytes;   // loaded by one block in one iteration
  double waits;             // products and reductions whose results are used in the iteration that makes them
  double shared_bytes;      // per block
  double outside;           // products, reductions and collectives of a block outside loops
  double outside_products;  // of these, products
  double exchange_us;       // writing and reading the parts where blocks meet
  double collective_us;     // waiting for other blocks
  double cluster;           // blocks that meet through distributed shared memory; 0 = none
  double turns;             // of rows that a block takes one after the other, in registers; 0 = its tiles are not there
  double row_warps;         // of a block, that have a part of a row, row by row
  double pieces;            // of element-wise rows, that a thread has in hand at once; 0 = rows are reduced
  double turn_bytes; // of such rows, that come by way of shared memory ahead of their turn; 0 = straight to registers
  double same_bytes; // that a turn reads out of L2, since they are the same for all
  double row_bytes,
      cut_elements; // of an element of them; those of what is the same for all rows, each cut out of two windows
  double registers; // of a thread; 0 = not known
  CostStream stream;
  bool chain;         // products feed each other in a loop
  bool fed;           // a producer's copies bring what its loop loads
  bool weights;       // some product of a loop takes its second operand as it was loaded
  bool warpgroups;    // products are computed by warpgroups,
  bool produced;      // and warps of their own issue the copies for them,
  bool ahead;         // or do so for a chain whose products run on while the next ones' operands are computed
  double beside;      // with so many blocks on a multiprocessor,
  bool loads_outside; // some tile is loaded outside loops
  bool persistent;    // which take tiles in turn,
  bool grouped;       // and so do their warpgroups: one stores while the other multiplies,
  bool paired;        // in clusters that share copies
  bool resident;      // all blocks must run at once, one a multiprocessor
} CostKernel;

/// Adds `times` executions of an operator without a region. `a`, `b` NULL when absent.
void mirage__cost_operator(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *result,
                           const MirageType *a, const MirageType *b, double times);
/// Instructions for each weight of a stored type that is streamed, beside those that one of `dtype` takes; `rows`: a row for
/// each output.
double mirage__cost_conversion(MirageDType stored, MirageDType dtype, bool rows);
/// Notes a product, a reduction or a collective outside loops.
void mirage__cost_outside(CostKernel *kernel, MirageOp op);
/// Whether the tile is more than a vector.
bool mirage__cost_is_long(const MirageType *tile);
/// A tile of a tensor (NULL: not known) that is read or written.
void mirage__cost_access(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
/// The same of a load: rows that are not aligned are read element by element.
void mirage__cost_load(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
void mirage__cost_store(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
/// What arrives in a multiprocessor's shared memory of a tile of a tensor, if tensor copies bring it.
void mirage__cost_boxes(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
/// So many blocks that are no neighbours load all of the tensor at once.
void mirage__cost_again(CostKernel *kernel, const MirageType *tensor, double readers);
/// Of boxes that take `box_us`, each block of a pair asks for one half.
void mirage__cost_share_boxes(CostKernel *kernel, double box_us);
/// A sum or maximum of one tile over `members` blocks.
void mirage__cost_collective(CostKernel *kernel, const MirageType *tile, double members, bool cluster);
/// Every block of a meeting of the grid needs all of a result, so each of them reads all parts.
void mirage__cost_whole_result(CostKernel *kernel, const MirageType *tile, double members);
/// Rows in threads: turns, registers; and of rows that wait in shared memory bytes of a turn, and of all of them: whole
/// windows are accessed, however they begin.
void mirage__cost_threads(CostKernel *kernel, const ThreadRows *items);
/// Microseconds without the launch; infinity when blocks that meet cannot all run at once.
double mirage__cost_kernel_us(const CostKernel *kernel, const MirageTarget *target);

#endif
