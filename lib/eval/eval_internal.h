// eval_internal.h - what the files of lib/eval share. eval.c tells the story.
#ifndef MIRAGE_EVAL_INTERNAL_H
#define MIRAGE_EVAL_INTERNAL_H

#include "mirage/eval.h"

enum { EVAL_NUM_SCRATCH = 4 };

/// A buffer that grows on demand and is reused from operator to operator.
typedef struct EvalScratch {
  void *data;
  size_t bytes;
} EvalScratch;

/// One evaluation. `data[v]` is the array of value v: one dense tensor at the kernel level; inside a custom kernel
/// [blocks in the group, tile], dense, so that block i's tile starts at i * elements.
typedef struct Eval {
  const MirageUGraph *graph;
  const MirageDomain *domain;
  const MirageDiag *diag;
  size_t size; // bytes of one element
  size_t max_bytes, bytes;
  void **data;         // [num_values + 1]
  uint32_t *uses_left; // [num_values + 1], kernel level: readers still to come
  bool *owned;         // [num_values + 1], kernel level: freed after the last reader
  EvalScratch scratch[EVAL_NUM_SCRATCH];
} Eval;

/// Storage for `count` elements, charged against max_bytes: LIMIT or NO_MEMORY.
MirageStatus mirage__eval_alloc(Eval *eval, size_t count, void **out_data);
void mirage__eval_free(Eval *eval, void *data, size_t count);
/// Scratch buffer `slot` with room for `count` elements; valid until the slot is asked for again.
MirageStatus mirage__eval_scratch(Eval *eval, uint32_t slot, size_t count, void **out_data);

/// Copies a box of elements: dst[i . dst_strides] = src[i . src_strides] for every index i inside `shape`. Strides are
/// in elements; a source stride of 0 repeats.
void mirage__eval_copy(size_t element_bytes, uint32_t rank, const int64_t *shape, const void *src,
                       const int64_t *src_strides, void *dst, const int64_t *dst_strides);
/// Row-major strides of a dense array.
void mirage__eval_strides(uint32_t rank, const int64_t *shape, int64_t *out_strides);

/// Runs one operator that is neither structure, access nor collective on dense operands. `result` is its result type.
MirageStatus mirage__eval_operator(Eval *eval, const MirageNodeView *node, const MirageType *const *types,
                                   const void *const *operands, const MirageType *result, void *out);
/// Element-wise binary with right-aligned broadcasting.
MirageStatus mirage__eval_binary(Eval *eval, MirageOp op, const MirageType *a_type, const void *a,
                                 const MirageType *b_type, const void *b, const MirageType *result, void *out);
/// A sum or maximum over one dimension, as the operator table defines it (attribute `extent`).
MirageStatus mirage__eval_reduce(Eval *eval, MirageOp op, const MirageType *type, const void *a, int32_t dim,
                                 int64_t extent, const MirageType *result, void *out);
/// Turns a domain's failure into a sentence; passes REDRAW through in silence.
MirageStatus mirage__eval_report(Eval *eval, MirageOp op, const void *loc, MirageStatus status);

/// Runs a custom kernel: eval->data holds its operands, and storage for its results.
MirageStatus mirage__eval_custom(Eval *eval, MirageNode custom);

#endif
