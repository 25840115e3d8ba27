// search_period.h - where the text of a program repeats itself. search_period.c
#ifndef MIRAGE_SEARCH_PERIOD_H
#define MIRAGE_SEARCH_PERIOD_H

#include <stdint.h>

/// Operators first .. end - 1 are what they are `period` operators earlier, as far as there are any. period = 0: the
/// text does not repeat itself.
typedef struct SearchPeriod {
  uint32_t period, first, end;
} SearchPeriod;

/// The least period of the longest part, where that is more than half of the text.
SearchPeriod mirage__search_find_period(const uint64_t *signatures, uint32_t count);

#endif
