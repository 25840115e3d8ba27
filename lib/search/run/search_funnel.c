// search_funnel.c - what parts of a search have counted, added up.
#include "search/run/search_funnel.h"

void mirage__search_add_to_funnel(MirageFunnel *total, const MirageFunnel *part) {
  total->states += part->states;
  total->cut_expr += part->cut_expr;
  total->cut_axis += part->cut_axis;
  total->cut_order += part->cut_order;
  total->cut_merge += part->cut_merge;
  total->cut_memory += part->cut_memory;
  total->structures += part->structures;
  total->scheduled += part->scheduled;
  for (uint32_t i = 0; i < MIRAGE_NUM_AXIOMS; i++)
    total->axioms[i] += part->axioms[i];
  total->exhausted = total->exhausted && part->exhausted;
  total->stop = part->stop > total->stop ? part->stop : total->stop;
}
