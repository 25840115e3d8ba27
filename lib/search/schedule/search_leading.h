// search_leading.h - products that lead to a loop's own.
//
//     y = x w + t b     t b stands before the loop that sums x w
//
// Such a product becomes a loop of its own: what feeds the one feeds the other, and its sums are where those of the other
// begin (lib/layout/initial.c). Only slabs of a warpgroup gain from that.
#ifndef MIRAGE_LIB_SEARCH_LEADING_H
#define MIRAGE_LIB_SEARCH_LEADING_H

#include "search/schedule/search_schedule.h"

/// Whether the node is such a product, of two loads that nobody else reads.
bool mirage__search_is_leading(const SearchProgram *program, const SearchStructure *structure,
                               const SearchSchedule *schedule, uint32_t node);
/// Whether it is one of these loads.
bool mirage__search_feeds_leading(const SearchProgram *program, const SearchStructure *structure,
                                  const SearchSchedule *schedule, uint32_t node);

#endif
