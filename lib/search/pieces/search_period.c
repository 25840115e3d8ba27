// search_period.c - where the text of a program repeats itself: the layers of a model.
//
// Sections that end at multiples of the period are equal, and equal ones are searched once. So of each operator there
// is a signature, what it does to which types, and the period is the least distance at which the longest part of the
// text agrees with itself. Sections are compared as graphs afterwards (search_sections.c): a period that is none costs
// time, never an answer.
//
// Example:   34 operators of two blocks of 17: period 17 from 0 to 34.
//            five operators, then 12 layers of 14, then a norm: period 14 from 5 to 173.
#include "search/pieces/search_period.h"

enum { MOST_PERIOD = 512 }; // operators: a longer one holds several sections, whatever it is

typedef struct Text {
  const uint64_t *signatures;
  uint32_t count;
} Text;

// The longest part in which each operator is that of `period` operators later, the later ones included.
static SearchPeriod agree_at(const Text *text, uint32_t period) {
  SearchPeriod best = {.period = period}, now = {.period = period};
  for (uint32_t i = 0; i + period <= text->count; i++) {
    now.end = i + period;
    if (now.end - now.first > best.end - best.first && now.end - now.first >= 2 * period)
      best = now;
    if (now.end == text->count || text->signatures[i] != text->signatures[i + period])
      now.first = i + 1;
  }
  return best;
}

SearchPeriod mirage__search_find_period(const uint64_t *signatures, uint32_t count) {
  const Text text = {signatures, count};
  SearchPeriod best = {0};
  for (uint32_t period = 1; period <= MOST_PERIOD && 2 * period <= count; period++) {
    SearchPeriod found = agree_at(&text, period);
    if (found.end - found.first > best.end - best.first)
      best = found;
  }
  return 2 * (best.end - best.first) > count ? best : (SearchPeriod){0}; // else it is some part that repeats
}
