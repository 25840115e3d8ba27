// count.c - a table of operations, so that a generator that only makes what stays outside is seen.
#include "count.h"

#include <stdlib.h>
#include <string.h>

static struct CountRow *row_of(Counts *counts, MlirStringRef name) {
  int length = name.length < 47 ? (int)name.length : 47;
  for (int i = 0; i < counts->num_kinds; i++)
    if (!strncmp(counts->rows[i].name, name.data, (size_t)length) && !counts->rows[i].name[length])
      return &counts->rows[i];
  if (counts->num_kinds == MOST_KINDS)
    return NULL;
  struct CountRow *row = &counts->rows[counts->num_kinds++];
  snprintf(row->name, sizeof row->name, "%.*s", length, name.data);
  return row;
}

static void count_block(MlirBlock block, bool after, Counts *counts) {
  MlirOperation next, op = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    struct CountRow *row = row_of(counts, mlirIdentifierStr(mlirOperationGetName(op)));
    if (row && !mlirOperationIsNull(next)) // not the terminator
      *(after ? &row->after : &row->before) += 1;
  }
}

void count_operations(MlirModule module, bool after, Counts *counts) {
  MlirBlock body = mlirModuleGetBody(module);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    bool is_function = mlirStringRefEqual(name, mlirStringRefCreateFromCString("func.func"));
    counts->graphs += mlirStringRefEqual(name, mlirStringRefCreateFromCString("mirage_kernel.graph"));
    if (!is_function)
      continue;
    counts->functions += !after;
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      count_block(block, after, counts);
  }
}

static int by_count(const void *a, const void *b) {
  const struct CountRow *x = a, *y = b;
  return x->before != y->before ? (x->before < y->before) - (x->before > y->before) : strcmp(x->name, y->name);
}

void count_print(const Counts *counts, FILE *file) {
  Counts sorted = *counts;
  qsort(sorted.rows, (size_t)sorted.num_kinds, sizeof *sorted.rows, by_count);
  fprintf(file, "%-34s %10s %10s %7s\n", "operation", "made", "inside", "share");
  for (int i = 0; i < sorted.num_kinds; i++) {
    const struct CountRow *row = &sorted.rows[i];
    if (row->before)
      fprintf(file, "%-34s %10ld %10ld %6.1f%%\n", row->name, row->before, row->before - row->after,
              100.0 * (double)(row->before - row->after) / (double)row->before);
  }
  fprintf(file, "%ld functions, %ld programs\n", counts->functions, counts->graphs);
}

double count_share(const Counts *counts) {
  long made = 0, inside = 0;
  for (int i = 0; i < counts->num_kinds; i++) {
    const struct CountRow *row = &counts->rows[i];
    if (strncmp(row->name, "linalg.", 7) || !strcmp(row->name, "linalg.fill"))
      continue;
    made += row->before;
    inside += row->before - row->after;
  }
  return made ? 100.0 * (double)inside / (double)made : 0;
}
