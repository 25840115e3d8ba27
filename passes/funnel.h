// funnel.h - what a search did, for people and for machines. Private to passes/.
#ifndef MIRAGE_PASSES_FUNNEL_H
#define MIRAGE_PASSES_FUNNEL_H

#include "mirage/search.h"

typedef struct MirageSearchReport {
  const char *name;    // symbol of the program
  const char *same_as; // symbol of the program before it that is the same and was searched in its place, or NULL
  const MirageUGraph *program;
  const MirageSearchOptions *options;
  const MirageSearchResult *result;
  bool checkpoint; // there is one to go on from
  double own_us;   // predicted time of the program's own lowering; infinite when it has none
} MirageSearchReport;

/// The remark at the program.
void mirage__report_search(const MirageSearchReport *report, const void *loc, const MirageDiag *diag);
/// A number a line, on standard error.
void mirage__print_stats(const MirageSearchReport *report);
/// One JSON object on a line of standard error.
void mirage__print_json(const MirageSearchReport *report);

#endif
