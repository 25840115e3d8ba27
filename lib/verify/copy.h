// copy.h - copies of graphs that say the same with other extents. copy.c
#ifndef MIRAGE_VERIFY_COPY_H
#define MIRAGE_VERIFY_COPY_H

#include "mirage/ugraph.h"

/// What a copy changes. Functions that may be NULL change nothing then.
typedef struct CopyRules {
  void *user;
  int64_t (*extent)(const void *user, MirageValue v, uint32_t d, int64_t old);   // of dimension d of a value
  int64_t (*position)(const void *user, MirageValue v, uint32_t d, int64_t old); // NULL; along it, from its beginning
  uint8_t (*removed)(const void *user, MirageNode kernel);                       // NULL; bits of grid axes taken away
  double (*constant)(void *user, double value);                                  // NULL
  // The sums' first operands that are multiplied by one of num_patterns inputs behind the graph's own. NULL: none
  bool (*pattern)(const void *user, const MirageNodeView *node, uint32_t *out_pattern);
  MirageType (*pattern_type)(const void *user, uint32_t pattern);
  uint32_t num_patterns;
  MirageValue *out_map; // NULL, or room for num_values + 1: where each value went
} CopyRules;

/// NULL when no such graph can be built (its shapes would not be those that the rules say), or memory is out.
MirageUGraph *mirage__verify_copy(const MirageUGraph *graph, const CopyRules *rules);

#endif
