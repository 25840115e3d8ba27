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

typedef struct EvalPool EvalPool;

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
  const MirageCancel *cancel;
  MirageEvalMemory *memory; // NULL: arrays are the C library's
  EvalPool *pool;           // NULL in a worker, which does what it has to do alone
  bool is_worker;           // a thread's copy, with a child of the domain
  bool in_group;            // a worker's copy for a group of blocks: the group's end is the end of the piece of work
  bool maxima_ahead;        // the results of the running kernel-level node may become arguments of a maximum
  bool *leads_to_maxima;    // [num_values + 1], kernel level: the same of each value
} Eval;

/// A piece of work, by the worker of thread `number`. eval_tasks.c
typedef MirageStatus (*EvalTask)(void *user, Eval *worker, uint32_t number, size_t task);
MirageStatus mirage__eval_pool_create(uint32_t num_threads, EvalPool **out_pool);
void mirage__eval_pool_destroy(EvalPool *pool);
uint32_t mirage__eval_pool_threads(const EvalPool *pool);
/// Runs tasks 0 .. count on at most `most_threads` threads. The status is that of the first that fails, by number.
MirageStatus mirage__eval_tasks(Eval *eval, uint32_t most_threads, size_t count, EvalTask run, void *user);
/// Elements that others will read: what a worker's domain knows of them stays known, all else is forgotten.
MirageStatus mirage__eval_keep(Eval *worker, size_t n, const void *elements, bool maxima);

/// An element-wise operator, CAST, CONSTANT or BOTTOM; operands that broadcast are stretched. eval_split.c
typedef struct EvalElements {
  MirageOp op;
  const MirageType *result, *a_type, *b_type;
  const void *a, *b; // NULL where there is none
  double value;      // of CONSTANT
  void *out;
} EvalElements;
MirageStatus mirage__eval_elements(Eval *eval, const EvalElements *call);
/// The indices start, start + 1, .. along dimension `dim` of `result`.
MirageStatus mirage__eval_iota(Eval *eval, const MirageType *result, int32_t dim, int64_t start, void *out);
/// REDUCE_SUM or REDUCE_MAX, a[outer, n, inner] -> out[outer, inner].
MirageStatus mirage__eval_rows(Eval *eval, MirageOp op, const MirageType *result, size_t outer, size_t n, size_t inner,
                               const void *a, void *out);
/// out[m, n] = a[m, k] @ b[k, n] (+ c); `turned`: b[n, k], in a domain that has matmul_box.
MirageStatus mirage__eval_product(Eval *eval, const MirageType *result, size_t m, size_t n, size_t k, const void *a,
                                  const void *b, bool turned, const void *c, void *out);
/// Source strides that stretch `type` to a rank by right-aligned broadcasting: extents of 1 get stride 0.
void mirage__eval_broadcast_strides(const MirageType *type, uint32_t rank, int64_t *out_strides);

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
/// Turns a domain's failure into a sentence; passes REDRAW through in silence.
MirageStatus mirage__eval_report(Eval *eval, MirageOp op, const void *loc, MirageStatus status);

/// Runs a custom kernel: eval->data holds its operands, and storage for its results.
MirageStatus mirage__eval_custom(Eval *eval, MirageNode custom);

#endif
