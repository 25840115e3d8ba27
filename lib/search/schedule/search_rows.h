// search_rows.h - the rows of a block graph's products, for schedules that swap their operands.
#ifndef MIRAGE_LIB_SEARCH_ROWS_H
#define MIRAGE_LIB_SEARCH_ROWS_H

#include "search/schedule/search_schedule.h"

/// Sets the structure's row_axis. A single row walks no axis: it is given the program's `one_row`, in all that comes of it,
/// so that a schedule may round it up as it does others.
void mirage__search_find_rows(const SearchProgram *program, SearchStructure *structure);
/// Whether products may be tried with their operands swapped: where rows, as they are, are no slabs of a warpgroup's
/// instruction, or only since many are added.
bool mirage__search_may_swap(const SearchProgram *program, const SearchStructure *structure, const MirageTarget *target,
                             const SearchSchedule *schedule);

#endif
