// search_builder.h - what the files that build µGraphs share: search_build.c, search_build_tail.c and search_combine.c.
#ifndef MIRAGE_LIB_SEARCH_BUILDER_H
#define MIRAGE_LIB_SEARCH_BUILDER_H

#include "search/schedule/search_schedule.h"

typedef struct Builder {
  const SearchProgram *program;
  const SearchStructure *structure;
  const SearchSchedule *schedule;
  MirageUGraph *graph;
  MirageValue inputs[64];
  // Of the kernel at hand:
  const bool *wanted; // by node; NULL = all
  MirageNode custom;
  uint32_t grid_axes[3];                // program axis that each grid dimension splits, with those tied to it; 0 = none
  int split_axis;                       // grid dimension that splits the loop's axis; -1 = none
  uint32_t argument[64];                // custom operand of each input
  uint32_t first_operand, first_output; // region arguments
  MirageValue values[SEARCH_MAX_NODES]; // by node
  MirageValue casts[SEARCH_MAX_NODES];  // the same in program->dtype
  bool masked[SEARCH_MAX_NODES];        // bottom past the end of the loop's axis
  bool inverted[SEARCH_MAX_NODES];      // the kernel multiplies by the node's reciprocal
  bool padded[64];                      // by input: a copy with longer rows is read instead
  bool unread[SEARCH_MAX_NODES];        // and nothing else reads this product of two such nodes
  MirageValue inverses[SEARCH_MAX_NODES];
} Builder;

/// Opens a custom kernel that takes the inputs its loads need and then `operands`. False after a failure.
bool mirage__build_open(Builder *builder, uint32_t num_operands, const MirageValue *operands, uint32_t num_results,
                        const MirageType *results, const MirageCustomAttrs *attrs);
/// The `index`-th of the operands given to mirage__build_open, and the `index`-th output, inside the kernel.
MirageValue mirage__build_operand(const Builder *builder, uint32_t index);
MirageValue mirage__build_output(const Builder *builder, uint32_t index);
/// Grid dimensions for the parallel axes that the schedule splits, and for the loop's axis where that is split.
void mirage__build_grid(Builder *builder, MirageCustomAttrs *attrs);
void mirage__build_before(Builder *builder);
/// What stands before the loop of this stage and inside it; its accumulators hold the block's own results afterwards.
void mirage__build_walk(Builder *builder, uint32_t stage);
/// What stands after the last accumulators, and the stores outside loops.
void mirage__build_rest(Builder *builder);
/// How a tile of this node lies in a tensor of the node's shape.
MirageAccessAttrs mirage__build_access(const Builder *builder, const SearchNode *node);
/// Whether the block takes its part of the loop's axis in iterations, not at once.
bool mirage__build_has_loop(const Builder *builder);
/// The tile's shape without loop and grid: the whole tensor that a node is part of.
MirageType mirage__build_tensor(const Builder *builder, const SearchNode *node, MirageDType dtype);

/// The type of a loaded tile of bytes, perhaps transposed, that a program of such products keeps; MIRAGE_F32: it is none.
/// And whether a product takes two of them.
MirageDType mirage__search_stored_dtype(const SearchProgram *program, const SearchStructure *structure, uint32_t node);
bool mirage__search_multiplies_bytes(const SearchProgram *program, const SearchStructure *structure, uint32_t node);

// search_build_tail.c
/// The node's value with bottom past the end of the loop's axis.
MirageValue mirage__build_masked(Builder *builder, uint32_t node);

// search_combine.c
/// Combines accumulators of this stage that hold one block's part, among the blocks.
void mirage__build_collectives(Builder *builder, uint32_t stage);
/// Two kernels: parts, and what combines them.
void mirage__build_two_kernels(Builder *builder, uint32_t num_outputs, const MirageType *outputs);

#endif
