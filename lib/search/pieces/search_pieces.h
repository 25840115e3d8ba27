// search_pieces.h - a program in pieces that are searched on their own, and in sections where it is long.
#ifndef MIRAGE_LIB_SEARCH_PIECES_H
#define MIRAGE_LIB_SEARCH_PIECES_H

#include "search/run/search_control.h"

/// Whether a program has so many operators that it is searched in sections; and that search. search_sections.c
bool mirage__search_is_large(const MirageUGraph *program);
MirageStatus mirage__search_sections(const MirageUGraph *program, const SearchRun *run, MirageSearchResult *out_result);
/// Whether there are pieces to search. search_partition.c
bool mirage__search_has_pieces(const MirageUGraph *program);
/// Whether these operators and constants of a program, in its order, make a piece that would be searched.
bool mirage__search_is_piece(const MirageUGraph *program, uint32_t num_nodes, const MirageNode *nodes);
/// Kernel-level operators that become kernels: all but constants. search_pieces.c
uint32_t mirage__search_count_kernels(const MirageUGraph *graph);
// search_partition.c
/// A program in pieces, each searched on its own.
typedef struct SearchPieces SearchPieces;
/// Searches the pieces; *out is NULL where there are none. `whole`: the search of the whole program, which may still
/// run.
MirageStatus mirage__search_pieces(const MirageUGraph *program, const MirageSearchOptions *options,
                                   const SearchPart *whole, SearchPieces **out);
/// Adds candidates that compute the program in pieces, where there are some, to those for the whole.
MirageStatus mirage__search_join(SearchPieces *pieces, uint32_t max_candidates, MirageSearchResult *in_out_result);
void mirage__search_pieces_destroy(SearchPieces *pieces);
// search_places.c
/// Predicted microseconds of a candidate; infinite where some kernel of it has no plan.
static inline double search_time_of(const MirageUGraph *graph) { return mirage_ugraph_get_meta(graph)->cost.time_us; }
/// Puts a µGraph, which it takes whatever it returns, where its predicted time belongs; when there are more than `wanted`, one gives up its place
/// and is destroyed. One that no time is predicted for is destroyed. MIRAGE_NO_MEMORY.
MirageStatus mirage__search_insert(MirageSearchResult *result, uint32_t wanted, MirageUGraph *graph);
/// What takes many times as long as the best goes: what was found of the whole may be worth nothing beside its pieces.
void mirage__search_drop_far_behind(MirageSearchResult *result);

#endif
