// search_schedule.h - grids and loop ranges of a block graph, what they cost, and the µGraph they give.
#ifndef MIRAGE_LIB_SEARCH_SCHEDULE_H
#define MIRAGE_LIB_SEARCH_SCHEDULE_H

#include "search/block/search_structure.h"
#include "search/run/search_pool.h"

/// Who adds up a reduction that is split over blocks.
typedef enum {
  SEARCH_BY_NOBODY,
  SEARCH_BY_GRID,
  SEARCH_BY_CLUSTER,
  SEARCH_BY_KERNEL,
  SEARCH_NUM_COMBINES
} SearchCombine;

/// Grid and loop range of a structure: how many parts each axis is split into.
typedef struct SearchSchedule {
  int64_t parts[SEARCH_MAX_AXES];         // of the loop's axis: iterations of one block
  int64_t split;                          // blocks among which the loop's axis is divided; 1 = none
  SearchCombine combine;                  // BY_NOBODY when split is 1
  uint8_t order[3];                       // which of grid x, y, z (0, 1, 2) walks the first, second, third axis split
  uint32_t threads;                       // of a block; 0 = the planner's choice
  int64_t combine_parts[SEARCH_MAX_AXES]; // of the second kernel
  uint8_t combine_order[3];
  bool second;  // it is that of the second kernel: elements of parts, which need no whole instructions
  bool swapped; // a warpgroup's instruction takes the rows of products as its columns: they are rounded up to eights
} SearchSchedule;

typedef struct SearchCandidate {
  const SearchStructure *structure;
  SearchSchedule schedule;
  double time_us;
  uint32_t order; // of creation, breaks ties
  bool chosen;    // to be built, whatever its rank
  bool padded;    // operands of products that tensor copies cannot read are copied first, with longer rows
} SearchCandidate;

/// Predicted time, or infinity when it does not fit the target; without the second kernel, where there is one.
/// `out_amounts`, unless NULL: a hash of what the time was computed from.
double mirage__search_schedule_cost(const SearchProgram *program, const SearchStructure *structure,
                                    const SearchSchedule *schedule, const MirageTarget *target, uint64_t *out_amounts);
/// Predicted time of the second kernel of a split reduction; `schedule->parts` are its own.
double mirage__search_combine_cost(const SearchProgram *program, const SearchStructure *structure,
                                   const SearchSchedule *schedule, const MirageTarget *target);
/// A middling schedule by which structures are ranked before their own is chosen.
/// A parallel axis has tiles of `columns`.
void mirage__search_reference_schedule(const SearchProgram *program, const SearchStructure *structure, int64_t columns,
                                       SearchSchedule *out_schedule);
/// Sets the structure's score_us and amounts.
void mirage__search_score(const SearchProgram *program, const MirageSearchOptions *options, SearchStructure *structure);
/// The best `max` schedules of a structure for each way to combine, best first; out_best[max * SEARCH_NUM_COMBINES].
/// Counts every one tried into *in_out_scheduled.
MirageStatus mirage__search_schedules(const SearchProgram *program, const SearchStructure *structure,
                                      const MirageSearchOptions *options, SearchPool *pool, uint32_t max,
                                      SearchCandidate *out_best, uint32_t *out_num, uint64_t *in_out_scheduled);

/// Whether `padded` makes a difference.
bool mirage__search_may_pad(const SearchProgram *program, const SearchStructure *structure);
/// Builds the µGraph of a structure at the program's real shapes.
MirageStatus mirage__search_build(const SearchProgram *program, const SearchCandidate *candidate, uint32_t index,
                                  const MirageDiag *diag, MirageUGraph **out_graph);

/// Whether the schedule is among those that are tried for the structure; if not, `out_why` says why, in words.
bool mirage__search_schedule_is_tried(const SearchProgram *program, const SearchStructure *structure,
                                      const MirageSearchOptions *options, const SearchSchedule *schedule, char *out_why,
                                      size_t size);

#endif
