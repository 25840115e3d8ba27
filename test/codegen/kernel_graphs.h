// kernel_graphs.h - the graphs that mirage-kernel-test compiles, runs and compares.
#ifndef MIRAGE_TEST_KERNEL_GRAPHS_H
#define MIRAGE_TEST_KERNEL_GRAPHS_H

#include "mirage/ugraph.h"

typedef struct KernelCase {
  const char *name;
  void (*build)(MirageUGraph *graph, const struct KernelCase *c);
  MirageDType dtype;
  int64_t p[8];     // sizes, as `build` reads them
  double offset;    // added to the normal random inputs (functions that need positive arguments)
  double tolerance; // Frobenius-relative; 0 = by element type
  bool hopper;      // needs clusters, or more shared memory than sm_80 has
} KernelCase;

extern const KernelCase KERNEL_CASES[];
extern const unsigned NUM_KERNEL_CASES;

#endif
