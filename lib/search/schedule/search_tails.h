// search_tails.h - what a schedule does to the tiles of a block graph, and which schedules may be.
#ifndef MIRAGE_LIB_SEARCH_TAILS_H
#define MIRAGE_LIB_SEARCH_TAILS_H

#include "search/schedule/search_schedule.h"

/// Tiles are by division, but where products have rows, columns or contractions that are no multiple of 64 or 8 elements
/// and nearly one: what the instructions want is worth a last tile that is cut short. 0: by division.
int64_t mirage__search_rounded_tile(const SearchProgram *program, const SearchStructure *structure,
                                    const SearchSchedule *schedule, uint8_t dim);
/// The extent of a dimension in a tile of the given schedule.
int64_t mirage__search_tile_extent(const SearchProgram *program, const SearchStructure *structure,
                                   const SearchSchedule *schedule, uint8_t dim);
// search_tails.c
/// Whether a dimension of the node is a part of the axis.
bool mirage__search_walks(const SearchNode *node, uint32_t axis);
/// Whether the function of one operand is zero where that is.
bool mirage__search_keeps_zero(MirageOp op);
/// Whether a tail tile of a parallel axis divides by zero in the elements that its store drops: a norm of masked rows,
/// say. `parts`: the second kernel of a split reduction, whose loads are accumulators.
bool mirage__search_tails_divide(const SearchStructure *structure, uint32_t axis, bool parts);
/// Whether the loop's axis may end in a tail tile of zeros; out_masked[num_nodes]: nodes that are bottom there.
bool mirage__search_masks(const SearchStructure *structure, bool *out_masked);
/// The node's dimension of the loop's axis, of SEARCH_RANK; SEARCH_RANK = none.
uint32_t mirage__search_loop_dim(const SearchStructure *structure, const SearchNode *node);
/// Whether there is a tail.
bool mirage__search_is_ragged(const SearchProgram *program, const SearchStructure *structure,
                              const SearchSchedule *schedule);
// search_maps.c
/// Orders the grid of a kernel so that the options allow it; false when no order does. `second`: the kernel that
/// combines parts, whose schedule this is.
bool mirage__search_place(const SearchProgram *program, const SearchStructure *structure,
                          const MirageSearchOptions *options, bool second, SearchSchedule *schedule);
/// Marks what a kernel computes that ends before (SEARCH_INSIDE) or starts at (SEARCH_AFTER) the accumulators, which
/// are marked in both.
void mirage__search_wanted(const SearchStructure *structure, SearchStage stage, bool *out_wanted);

/// Whether the quotient `node` is computed by reciprocals, and of what. search_build.c
bool mirage__search_reciprocals(const SearchStructure *structure, const SearchNode *node, SearchReciprocals *out);

#endif
