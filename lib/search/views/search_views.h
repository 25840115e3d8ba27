// search_views.h - a program without its views, and µGraphs for that as µGraphs for the program.
#ifndef MIRAGE_LIB_SEARCH_VIEWS_H
#define MIRAGE_LIB_SEARCH_VIEWS_H

#include "mirage/ugraph.h"

typedef struct SearchViews SearchViews;
/// The program without what can be a view of an input or an output; the program itself, and no views, where it has
/// none.
MirageStatus mirage__search_peel(const MirageUGraph *program, const MirageDiag *diag, SearchViews **out_views,
                                 const MirageUGraph **out_core);
/// A µGraph for the core as one for the program.
MirageStatus mirage__search_wrap(const SearchViews *views, const MirageUGraph *found, const MirageDiag *diag,
                                 MirageUGraph **out_graph);
/// A µGraph for the program as one for the core; NULL where more than reshapes lie between them.
MirageStatus mirage__search_unwrap(const SearchViews *views, const MirageUGraph *graph, MirageUGraph **out_graph);
void mirage__search_views_destroy(SearchViews *views);

#endif
