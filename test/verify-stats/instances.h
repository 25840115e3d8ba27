// instances.h - pairs of the benchmark set at many small extents, as the statistics draw them.
#ifndef MIRAGE_TEST_INSTANCES_H
#define MIRAGE_TEST_INSTANCES_H

#include "mirage/random.h"
#include "mirage/ugraph.h"

typedef struct Instance {
  MirageUGraph *program, *candidate;
} Instance;

typedef struct InstanceSet {
  char name[48];
  uint32_t count;
  Instance *data;
} InstanceSet;

/// One set for each hand-written µGraph, `each` instances of different extents; then, for programs that the search
/// treats, one set "search:<program>" of the candidates that it finds at some of these extents, those with masks among them. Only pairs that both
/// builders accept are kept. Returns the number of sets, 0 when memory is out; free with instances_free.
uint32_t instances_create(uint64_t seed, uint32_t each, bool search, InstanceSet **out_sets);
void instances_free(InstanceSet *sets, uint32_t count);

#endif
