// search_candidates.h - from block graphs to candidates: the best get schedules, are built and ranked.
#ifndef MIRAGE_LIB_SEARCH_CANDIDATES_H
#define MIRAGE_LIB_SEARCH_CANDIDATES_H

#include "search/run/search_control.h"
#include "search/schedule/search_schedule.h"

/// What block graphs were found for.
typedef struct SearchPlans {
  const SearchProgram *program;
  const MirageSearchOptions *options;
  const SearchPart *part;
  SearchSlot slot; // of the ranking
} SearchPlans;
/// How many structures get schedules of their own: all at once, or, where all of them do, in a round.
uint32_t mirage__search_scheduled_at_once(const MirageSearchOptions *options);
/// Schedules, builds and ranks candidates of the best of `num` structures, which it sorts; of all with `optimal`.
MirageStatus mirage__search_candidates(const SearchPlans *plans, uint32_t num, const SearchStructure **structures,
                                       MirageSearchResult *result);

/// The schedules that are chosen so far, for the block graphs of all plans.
typedef struct SearchRanking {
  const SearchStructure **structures; // in the order in which they are taken
  uint32_t num, done;                 // of them
  SearchCandidate *candidates;
  uint32_t count, room, order; // room: between two rounds; order: of the next one
  uint64_t scheduled;
} SearchRanking;

// search_ranking.c
MirageStatus mirage__search_save_ranking(const SearchSlot *slot, const SearchRanking *ranking);
/// Brings a ranking that was not begun to where the record was taken, if there is one.
MirageStatus mirage__search_restore_ranking(const SearchSlot *slot, SearchRanking *ranking);

#endif
