// search_ranking.c - the record of the schedules that are chosen so far.
#include "search/schedule/search_candidates.h"

static bool schedule_makes_sense(const SearchSchedule *schedule) {
  bool fits = schedule->split > 0 && schedule->combine < SEARCH_NUM_COMBINES;
  for (uint32_t i = 0; i < 3; i++)
    fits = fits && schedule->order[i] < 3 && schedule->combine_order[i] < 3;
  return fits;
}

// A structure is known by its number.
static MirageStatus pass_candidate(SearchBytes *bytes, SearchRanking *ranking, SearchCandidate *candidate) {
  uint32_t number = bytes->reading ? 0 : candidate->structure->order;
  SEARCH_PASS(bytes, number);
  SEARCH_PASS(bytes, candidate->schedule);
  SEARCH_PASS(bytes, candidate->time_us);
  SEARCH_PASS(bytes, candidate->order);
  for (uint32_t i = 0; bytes->reading && i < ranking->num && !candidate->structure; i++)
    if (ranking->structures[i]->order == number)
      candidate->structure = ranking->structures[i];
  return mirage__bytes_check(bytes, candidate->structure && schedule_makes_sense(&candidate->schedule));
}

static MirageStatus pass_ranking(SearchBytes *bytes, SearchRanking *ranking) {
  SEARCH_PASS(bytes, ranking->done);
  SEARCH_PASS(bytes, ranking->order);
  SEARCH_PASS(bytes, ranking->scheduled);
  SEARCH_PASS(bytes, ranking->count);
  MIRAGE_TRY(mirage__bytes_check(bytes, ranking->done < ranking->num && ranking->count <= ranking->room));
  for (uint32_t i = 0; i < ranking->count; i++)
    MIRAGE_TRY(pass_candidate(bytes, ranking, &ranking->candidates[i]));
  return MIRAGE_OK;
}

MirageStatus mirage__search_save_ranking(const SearchSlot *slot, const SearchRanking *ranking) {
  SearchBytes bytes = {0};
  SearchRanking copy = *ranking;
  MirageStatus status = pass_ranking(&bytes, &copy);
  bytes.failed |= status != MIRAGE_OK;
  return mirage__checkpoint_put(slot, SEARCH_RECORD_RANKING, &bytes);
}

MirageStatus mirage__search_restore_ranking(const SearchSlot *slot, SearchRanking *ranking) {
  SearchBytes bytes;
  return mirage__checkpoint_find(slot, SEARCH_RECORD_RANKING, &bytes) ? pass_ranking(&bytes, ranking) : MIRAGE_OK;
}
