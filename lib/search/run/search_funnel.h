// search_funnel.h - what parts of a search have counted, added up and stored.
#ifndef MIRAGE_LIB_SEARCH_FUNNEL_H
#define MIRAGE_LIB_SEARCH_FUNNEL_H

#include "search/run/search_checkpoint.h"

void mirage__search_add_to_funnel(MirageFunnel *total, const MirageFunnel *part);
/// Writes the counts, or reads them.
void mirage__search_pass_funnel(SearchBytes *bytes, MirageFunnel *funnel);

#endif
