// eval_block.h - one custom kernel under evaluation, as eval_block.c and eval_access.c share it.
#ifndef MIRAGE_EVAL_BLOCK_H
#define MIRAGE_EVAL_BLOCK_H

#include "eval_internal.h"

typedef struct EvalStores EvalStores;

/// A group of blocks at work. Several threads have one each, with tiles of their own, and share the stores.
typedef struct Custom {
  Eval *eval;
  MirageNode node;
  const MirageCustomAttrs *attrs;
  int64_t group[3];               // blocks of a group per axis
  int64_t origin[3];              // first block of the running group
  int64_t num_blocks;             // of a group
  int64_t loop[MIRAGE_MAX_LOOPS]; // running iteration of each enclosing loop
  int64_t ranges[MIRAGE_MAX_LOOPS];
  uint32_t num_loops;
  uint32_t first_output; // value id of the first output tensor argument
  uint32_t num_outputs;
  EvalStores *stores;
  void **spare;      // per value: a loop carry's next value, else NULL
  bool share_blocks; // few groups of many blocks: threads share the blocks of a group, not the groups
} Custom;

static inline size_t mirage__eval_tile_elements(const Custom *custom, uint32_t v) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(custom->eval->graph, (MirageValue){v}));
}
static inline void *mirage__eval_tile(const Custom *custom, MirageValue v, int64_t block) {
  return (char *)custom->eval->data[v.index] +
         (size_t)block * mirage__eval_tile_elements(custom, v.index) * custom->eval->size;
}

/// What has been stored to the outputs of a custom kernel. eval_access.c
MirageStatus mirage__eval_stores_create(const Custom *custom, bool concurrent, EvalStores **out_stores);
void mirage__eval_stores_destroy(EvalStores *stores);
/// BAD_GRAPH unless every element is stored.
MirageStatus mirage__eval_stores_check(const Custom *custom, const MirageNodeView *node);

/// Grid coordinates of block `index` of the running group, x fastest.
void mirage__eval_block_coordinates(const Custom *custom, int64_t index, int64_t out[3]);

/// The tile of one block of the running group.
MirageStatus mirage__eval_load(const Custom *custom, const MirageNodeView *node, int64_t block);
MirageStatus mirage__eval_store(const Custom *custom, const MirageNodeView *node, int64_t block);

#endif
