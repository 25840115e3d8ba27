// convert_linalg.c - convert-linalg-to-mirage: what we can say of linalg on tensors, as programs that functions call.
//
// requires: nothing; provides: a mirage_kernel.graph for each part that was cut out of a func.func, and a
// mirage_kernel.call where it stood; breaks: nothing. What cannot be said stays, in order; `explain` says why.
// lib/bridge/partition.c has the parts, lib/bridge/lift*.c the operations.
#include "passes.h"

MirageStatus mirage_pass_convert_linalg(MlirOperation module, const void *options, const MirageDiag *diag) {
  const MirageConvertOptions *pass = options;
  const MiragePartitionOptions partition = {.explain = pass->explain};
  return mirage_bridge_partition(module, &partition, diag);
}
