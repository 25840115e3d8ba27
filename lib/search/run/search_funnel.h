// search_funnel.h - what parts of a search have counted, added up.
#ifndef MIRAGE_LIB_SEARCH_FUNNEL_H
#define MIRAGE_LIB_SEARCH_FUNNEL_H

#include "mirage/search.h"

void mirage__search_add_to_funnel(MirageFunnel *total, const MirageFunnel *part);

#endif
