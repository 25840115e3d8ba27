// search_plans.h - the search for one-kernel µGraphs of a program without views.
#ifndef MIRAGE_LIB_SEARCH_PLANS_H
#define MIRAGE_LIB_SEARCH_PLANS_H

#include "search/run/search_control.h"

MirageStatus mirage__search_whole(const MirageUGraph *program, const MirageSearchOptions *options,
                                  const SearchPart *part, const MirageDiag *diag, MirageSearchResult *out_result);

#endif
