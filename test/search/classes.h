// classes.h - block graphs by their dataflow, those of the search and those of the brute force, and why they differ.
#ifndef MIRAGE_TEST_CLASSES_H
#define MIRAGE_TEST_CLASSES_H

#include "brute.h"
#include "search/walk/search_extract.h"

typedef struct Class {
  uint64_t key;
  uint32_t operators, elementwise, loop; // loop: iterations > 1
  uint32_t loads, inputs, block_ops;     // the latter as the search counts, of its own classes
  uint64_t graphs;                       // of brute force
  bool merged;                           // some value occurs twice, or is 0 or 1
  BruteGraph graph;                      // the first; its values are gone
} Class;

typedef struct Classes {
  Class *items;
  uint32_t num, capacity;
  uint32_t *slots; // by key, open addressing; 2 * capacity, a power of two; item + 1
} Classes;

/// NULL when there is none.
Class *find_class(const Classes *classes, uint64_t key);
/// Of a new key; the caller fills in the rest. Ends the program when memory is out.
Class *add_class(Classes *classes, uint64_t key);
void release_classes(Classes *classes);
bool is_elementwise(uint8_t op);

/// All structures of the search under these switches, before any ranking; false when it could not end.
bool list_search(const MirageUGraph *graph, const MirageSearchOptions *options, Classes *classes);
/// With a cut off, the search must list all that it lists with it: how many classes are missing. A search that does not
/// end within `max_states` says nothing.
uint32_t missing_without(const MirageUGraph *graph, const MirageSearchOptions *options, uint64_t max_states,
                         const Classes *with);

/// Why only one side has a class. reasons.c
typedef enum {
  BOTH,
  UNPROVEN,
  AXIOMS,
  MERGED,
  CHAIN,
  DETOUR,
  LOOP,
  REWRITTEN,
  DIVISOR,
  PRODUCTS,
  LOSS,
  NUM_REASONS
} Reason;
extern const char *const REASONS[];

typedef struct Comparison {
  const MirageUGraph *program;
  const BruteProgram *brute;
  SearchProgram axes;
  Classes search, expanded, optimal; // without keep_products, with `optimal`
  MirageSearchOptions options;
} Comparison;

/// Where brute force stands with a class of its own.
Reason reason_of(Comparison *comparison, const Class *class);
/// Whether some value occurs twice in a graph that was just found, or is 0 or 1 everywhere.
bool repeats_values(const BruteGraph *graph);

#endif
