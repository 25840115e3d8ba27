// search_choices.h - into how many parts each axis of a block graph may be split.
#ifndef MIRAGE_LIB_SEARCH_CHOICES_H
#define MIRAGE_LIB_SEARCH_CHOICES_H

#include "search/schedule/search_schedule.h"

enum { SEARCH_MAX_PARTS = 64 };

/// Numbers of parts of one axis that are tried, each once.
typedef struct SearchChoices {
  uint32_t axis;
  bool exact;  // without a tail
  bool rounds; // tiles may be rounded up
  uint32_t num;
  int64_t parts[SEARCH_MAX_PARTS];
} SearchChoices;

/// Blocks along a parallel axis. `parts`: of the second kernel of a split reduction.
SearchChoices mirage__search_grid_choices(const SearchProgram *program, const SearchStructure *structure, uint32_t axis,
                                          bool parts, const MirageSearchOptions *options);
/// Blocks among which the loop's axis is divided, 1 first.
SearchChoices mirage__search_split_choices(const SearchProgram *program, const SearchStructure *structure,
                                           const MirageSearchOptions *options);
/// Iterations of one of `split` such blocks.
SearchChoices mirage__search_loop_choices(const SearchProgram *program, const SearchStructure *structure,
                                          const MirageSearchOptions *options, int64_t split);
/// Whether the options list the grids that are tried.
bool mirage__search_has_lists(const MirageSearchOptions *options);
/// Whether the loop multiplies what it has multiplied, as attention does.
bool mirage__search_is_chain(const SearchStructure *structure);
/// A schedule of one block.
void mirage__search_nothing_split(const SearchProgram *program, SearchSchedule *out_schedule);
/// Splits an axis into `count` parts, and what is tied to it.
void mirage__search_set_parts(const SearchProgram *program, int64_t *parts, uint32_t axis, int64_t count);

#endif
