// cost_kernel.h - what a kernel moves and computes, summed, and the time that takes.
#ifndef MIRAGE_LIB_SEARCH_COST_KERNEL_H
#define MIRAGE_LIB_SEARCH_COST_KERNEL_H

#include "mirage/cost.h"

/// What lib/layout/direct.c asks of a loop that streams its weights straight to the matrix instruction.
typedef struct CostStream {
  uint32_t products, others;    // products and reductions inside loops
  uint32_t carries, carried;    // carries, and those that such a loop may have
  uint32_t product_carries;     // sums of products; the results of other products are used in the loop
  int64_t rows, depth, columns; // activation rows, tile of the contraction, columns of all weights together
  int64_t side_columns;         // of products that are the same in all blocks
  bool uneven;                  // products differ in rows or depth
} CostStream;

/// What one kernel does, summed over all blocks unless said otherwise.
typedef struct CostKernel {
  bool ideal; // loads and arithmetic overlap perfectly
  double blocks;
  double threads;           // of a block; 0 = open
  double stages;            // of the loads in loops; 0 = open
  double dram_bytes;        // every tensor touched, once
  double l2_bytes;          // every tile moved, in whole 32-byte sectors
  double matmul_flops;      // in whole 16x8x16 instructions
  double fma_flops;         // element-wise and reductions
  double special;           // exponentials, roots, divisions
  double flops;             // as the program counts them
  double product_elements;  // results of products
  double product_columns;   // of their tiles, summed
  bool crossed;             // a product takes another's result as its second operand, or transposed
  bool planned;             // lib/layout said which values pass through shared memory
  bool produced;            // and gave the loads a producer
  bool side_blocks;         // and products that are the same in all blocks to side blocks
  double stored_elements;   // such values of loops, but for loads and vectors
  double reduced_elements;  // operands of reductions that come of no product, in loops and outside, and tiles summed
                            // over a loop that come of none
  double reduced_outside;   // of these, outside
  double narrow_elements;   // loaded one by one, since their rows are not aligned
  double least_rows;        // of a product's tile
  bool uneven;              // some product's tile is not of whole instructions of a warpgroup
  double iterations;        // of the loops of one block
  double iteration_bytes;   // loaded by one block in one iteration
  double shared_bytes;      // per block, two stages of each load inside a loop
  double accumulator_bytes; // per block, in registers
  double outside;           // products, reductions and collectives of a block outside loops
  double outside_products;  // of these, products
  double exchange_us;       // writing and reading the parts where blocks meet
  CostStream stream;
  bool multicast;       // copies of a cluster's blocks are shared
  double collective_us; // waiting for other blocks
  double cluster;       // blocks that meet through distributed shared memory; 0 = none
  bool resident;        // all blocks must run at once, one a multiprocessor
} CostKernel;

/// Adds `times` executions of an operator without a region. `a`, `b` NULL when absent.
void mirage__cost_operator(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *result,
                           const MirageType *a, const MirageType *b, double times);
/// Notes a product or reduction, and one that a loop's plain sum or maximum carries.
void mirage__cost_step(CostKernel *kernel, MirageOp op, bool inside_loop);
void mirage__cost_carry(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *a,
                        const MirageType *b, bool b_is_loaded, bool same_in_all_blocks);
/// Whether the tile is more than a vector.
bool mirage__cost_is_long(const MirageType *tile);
/// What an operator takes through shared memory, given the type of its first operand and whether operands come of
/// products: such are left in cells, which a reduction along rows and a product's first operand read as they stand.
void mirage__cost_passage(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *a,
                          bool a_of_product, bool b_of_product, bool inside_loop, double times);
/// A tile of a tensor (NULL: not known) that is read or written.
void mirage__cost_access(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
/// The same of a load: rows that are not aligned are read element by element.
void mirage__cost_load(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times);
/// A sum or maximum of one tile over `members` blocks.
void mirage__cost_collective(CostKernel *kernel, const MirageType *tile, double members, bool cluster);
/// Shared memory that a value needs: what a load or an intermediate tile of a block takes.
void mirage__cost_tile(CostKernel *kernel, const MirageType *tile, double copies);
/// Equal for kernels that the model cannot tell apart.
uint64_t mirage__cost_amounts(const CostKernel *kernel);
/// Microseconds without the launch; infinity when the kernel does not fit the target.
double mirage__cost_kernel_us(const CostKernel *kernel, const MirageTarget *target);

#endif
