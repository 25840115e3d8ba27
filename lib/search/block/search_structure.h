// search_structure.h - a block graph whose grid and loop range are still open, and the best of many.
#ifndef MIRAGE_LIB_SEARCH_STRUCTURE_H
#define MIRAGE_LIB_SEARCH_STRUCTURE_H

#include "search/program/search_program.h"
#include "search/run/search_checkpoint.h"

enum {
  SEARCH_MAX_NODES = 192, // operators, loads and constants of one block graph
  SEARCH_MAX_LOOPS = 3,   // of a block graph, one after the other
};

/// When a tensor of a block graph is computed: before the loop, inside, after it. With several loops, which all walk
/// the same axis, what comes after one comes before the next: odd stages are inside a loop, and a stage may use what
/// even stages before it hold.
typedef enum { SEARCH_BEFORE, SEARCH_INSIDE, SEARCH_AFTER } SearchStage;
static inline bool mirage__search_is_inside(uint32_t stage) { return stage & SEARCH_INSIDE; }

enum { SEARCH_WHOLE = 0x80 }; // flag on a dimension that walks the loop's axis: all of it, not one iteration's tile
enum { SEARCH_TRANSPOSE_A = 1, SEARCH_TRANSPOSE_B = 2 };

static inline uint32_t mirage__search_axis_of(uint8_t dim) { return dim & (SEARCH_WHOLE - 1u); }
static inline bool mirage__search_is_elementwise(uint8_t op) {
  MirageOpKind kind = mirage_op_info((MirageOp)op)->kind;
  return kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY;
}

/// How an accumulator takes what an iteration contributes. RESCALE multiplies it by the node `b` first.
enum { SEARCH_SUM, SEARCH_MAXIMUM, SEARCH_RESCALE };

/// One node of a block graph whose grid and loop range are still open. MIRAGE_OP_LOOP stands for "accumulate"; as an
/// operand inside the loop it is what earlier iterations left.
typedef struct SearchNode {
  uint8_t op;    // MirageOp
  uint8_t flags; // matmul: transposes; accumulate: SEARCH_SUM ...; exp: the axis over which a maximum is subtracted;
                 // max, sub, and exp of a finished structure: SEARCH_LOOPED
  uint8_t dim;   // reduction: right-aligned dimension, 0 .. SEARCH_RANK - 1
  uint8_t stage; // SearchStage
  uint8_t rank;
  uint8_t dims[SEARCH_RANK]; // right-aligned axis codes
  uint32_t a, b;             // operand nodes, by index; load: a = input; constant: a = index into program->constants
  uint32_t gauge;            // exp(gauge node) times this is the value meant; 0 = this is. The number is the index + 1
} SearchNode;

static inline bool mirage__search_is_binary(uint8_t op) {
  return op == MIRAGE_OP_MATMUL || mirage_op_info((MirageOp)op)->kind == MIRAGE_KIND_BINARY;
}

/// On what keeps a running maximum: m' = max(m, r) and exp(m - m'). Without a loop, m' is r and there is no factor.
enum { SEARCH_LOOPED = 0x40 };
static inline bool mirage__search_is_looped(const SearchNode *node) {
  return mirage__search_is_elementwise(node->op) && node->flags == SEARCH_LOOPED;
}

/// A quotient in the loop whose divisor is smaller than it, or a product of two values that are: the divisor's
/// reciprocals are taken once, and every element costs one or two multiplications.
enum { SEARCH_NO_FACTOR = UINT32_MAX };
typedef struct SearchReciprocals {
  uint32_t factors[2]; // nodes to take reciprocals of; SEARCH_NO_FACTOR = none
} SearchReciprocals;

typedef struct SearchStructure {
  uint32_t num_nodes;                              // in execution order
  uint32_t num_outputs, outputs[SEARCH_MAX_GOALS]; // nodes that are stored
  uint32_t loop_axis;                              // 0 = no loop
  uint32_t num_loops;                              // one after the other; 0 without a loop
  uint32_t num_ops;                                // as counted for max_block_ops
  uint32_t order;                                  // of plan and discovery, breaks ties
  double score_us;                                 // at the reference schedule
  uint64_t rounded;                                // axes whose tiles may be rounded up, a bit each
  // Whether any number of blocks may share the loop's axis: where they do not divide it, its tiles are rounded up, too.
  bool uneven;
  uint32_t row_axis; // of all products' rows, where loops load what they multiply; 0 = none
  uint64_t amounts;  // what it moves and computes there, hashed: alike ones cost the same
  SearchNode nodes[SEARCH_MAX_NODES];
} SearchStructure;

/// The best structures of one plan, best first; ties broken by order of insertion, which is deterministic.
typedef struct SearchKept {
  SearchStructure **items; // owned
  uint32_t num, capacity;
  uint32_t room; // in the list
} SearchKept;

// search_structure.c
/// Its operators, as max_block_ops counts them.
uint32_t mirage__structure_count(const SearchStructure *structure);
/// Inserts a copy into the best; equal scores keep the earlier one.
MirageStatus mirage__structure_keep(SearchKept *kept, const SearchStructure *structure);
void mirage__structure_release(SearchKept *kept);
/// Writes the best, or reads them. BAD_ARGUMENT where what is read makes no sense.
MirageStatus mirage__structure_pass_kept(SearchBytes *bytes, SearchKept *kept);

// search_stabilise.c
/// Subtracts maxima where the program did, running ones inside the loop, and rescales what depends on them. False when
/// some operator does not carry the factor through, or the result would hold one.
bool mirage__search_stabilise(const SearchProgram *program, SearchStructure *structure);
/// Whether two nodes have equal values, tile by tile, though they may be computed in different loops.
bool mirage__search_same_value(const SearchStructure *structure, uint32_t a, uint32_t b);

#endif
