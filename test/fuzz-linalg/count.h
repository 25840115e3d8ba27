// count.h - how many operations of each kind there were, and how many went into programs.
#ifndef FUZZ_LINALG_COUNT_H
#define FUZZ_LINALG_COUNT_H

#include "mlir-c/IR.h"

#include <stdio.h>

enum { MOST_KINDS = 160 };

typedef struct Counts {
  int num_kinds;
  struct CountRow {
    char name[48];
    long before, after;
  } rows[MOST_KINDS];
  long functions, graphs;
} Counts;

/// Operations that stand in blocks of the module's functions.
void count_operations(MlirModule module, bool after, Counts *counts);
void count_print(const Counts *counts, FILE *file);
/// The share of structured operations that went inside, in percent.
double count_share(const Counts *counts);

#endif
