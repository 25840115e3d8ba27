// search_narrow.h - sums that blocks exchange in the program's 16-bit type.
#ifndef MIRAGE_LIB_SEARCH_NARROW_H
#define MIRAGE_LIB_SEARCH_NARROW_H

#include "search/schedule/search_schedule.h"

/// Whether the accumulator `node`, where blocks combine it, travels as a quotient of 16 bits, and by which accumulator it
/// is divided.
bool mirage__search_narrows(const SearchProgram *program, const SearchStructure *structure,
                            const SearchSchedule *schedule, uint32_t node, uint32_t *out_divisor);

#endif
