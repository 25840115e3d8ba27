// search_standing.c - the record of where the reading of block graphs stands: the branches left, the best graphs.
#include "search/run/search_funnel.h"
#include "search/walk/search_paths.h"
#include <stdlib.h>

Branch *mirage__branches_add(Branches *branches) {
  if (branches->num == branches->capacity) {
    uint32_t capacity = branches->capacity ? 2 * branches->capacity : 32;
    Branch *items = realloc(branches->items, capacity * sizeof *items);
    if (!items)
      return NULL;
    branches->items = items;
    branches->capacity = capacity;
  }
  return &branches->items[branches->num++];
}

MirageStatus mirage__standing_pass(SearchBytes *bytes, Standing *at, SearchSpace *space, SearchKept *kept) {
  uint32_t num = at->branches.num;
  SEARCH_PASS(bytes, at->choice);
  SEARCH_PASS(bytes, at->round);
  SEARCH_PASS(bytes, at->last);
  SEARCH_PASS(bytes, at->before);
  SEARCH_PASS(bytes, at->share);
  SEARCH_PASS(bytes, at->cut_elementwise);
  SEARCH_PASS(bytes, space->lost);
  SEARCH_PASS(bytes, space->funnel);
  SEARCH_PASS(bytes, num);
  for (uint32_t i = 0; i < num; i++) {
    Branch *branch = bytes->reading ? mirage__branches_add(&at->branches) : &at->branches.items[i];
    if (!branch)
      return MIRAGE_NO_MEMORY;
    SEARCH_PASS(bytes, branch->depth);
    MIRAGE_TRY(mirage__bytes_check(bytes, branch->depth > 0 && branch->depth <= SEARCH_MAX_NODES));
    mirage__bytes_pass(bytes, branch->steps, branch->depth * sizeof *branch->steps);
  }
  return mirage__structure_pass_kept(bytes, kept);
}
