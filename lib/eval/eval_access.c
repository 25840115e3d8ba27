// eval_access.c - what blocks load and store.
//
// A load copies a box of a tensor and fills what lies beyond its end. Stores are checked, since the verifier relies on
// it: an element that nobody stores, or that two blocks store with different values (a race), makes the graph wrong:
// BAD_GRAPH.
// Source: [Mirage 2]
#include "eval_block.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void mirage__eval_block_coordinates(const Custom *custom, int64_t index, int64_t out[3]) {
  for (uint32_t a = 0; a < 3; a++) {
    out[a] = custom->origin[a] + index % custom->group[a];
    index /= custom->group[a];
  }
}

// --------------------------------------------------------------------------------------------------------------- loads

// Where a block's tile lies in the tensor: its first element, and how many elements of each dimension are valid.
static void locate(const Custom *custom, const MirageType *tensor, const MirageAccessAttrs *access,
                   const int64_t *block, int64_t *out_start, int64_t *out_valid) {
  for (uint32_t d = 0; d < tensor->rank; d++) {
    int64_t parts[MIRAGE_MAX_SPLITS], index[MIRAGE_MAX_SPLITS], chunks[MIRAGE_MAX_SPLITS + 1];
    int64_t start = 0, end = mirage_access_extent(access, tensor, d);
    uint8_t splits[MIRAGE_MAX_SPLITS];
    uint32_t count = mirage_access_splits(access, d, splits);
    for (uint32_t i = 0; i < count; i++) {
      bool grid = splits[i] < 3;
      parts[i] = grid ? custom->attrs->grid[splits[i]] : custom->ranges[splits[i] - 3];
      index[i] = grid ? block[splits[i]] : custom->loop[splits[i] - 3];
    }
    mirage_access_chunks(access, d, end, count, parts, chunks);
    for (uint32_t i = 0; i < count; i++) {
      start += index[i] * chunks[i + 1];
      end = start + chunks[i + 1] < end ? start + chunks[i + 1] : end;
    }
    out_start[d] = access->begin[d] + start;
    out_valid[d] = end > start ? end - start : 0;
  }
}

// Strides of what an access sees of a tensor.
static void access_strides(const MirageType *tensor, const MirageAccessAttrs *access, int64_t *out) {
  int64_t strides[MIRAGE_MAX_RANK];
  mirage__eval_strides(tensor->rank, tensor->shape, strides);
  for (uint32_t d = 0; d < tensor->rank; d++)
    out[d] = strides[mirage_access_dim(access, d)];
}

static int64_t dot(uint32_t rank, const int64_t *a, const int64_t *b) {
  int64_t sum = 0;
  for (uint32_t d = 0; d < rank; d++)
    sum += a[d] * b[d];
  return sum;
}

static MirageStatus fill_tile(Eval *eval, const MirageType *tile, MirageFill fill, void *out) {
  size_t n = (size_t)mirage_type_elements(tile);
  if (fill == MIRAGE_FILL_BOTTOM)
    return eval->domain->bottom(eval->domain, n, out);
  return eval->domain->constant(eval->domain, tile, n, fill == MIRAGE_FILL_ONE ? 1.0 : 0.0, out);
}

MirageStatus mirage__eval_load(const Custom *custom, const MirageNodeView *node, int64_t index) {
  Eval *eval = custom->eval;
  const MirageType *tensor = mirage_ugraph_type(eval->graph, node->operands[0]);
  const MirageType *tile = mirage_ugraph_type(eval->graph, node->first_result);
  uint32_t output = node->operands[0].index - custom->first_output;
  if (output < custom->num_outputs)
    return mirage_diag_fail(eval->diag, node->loc, MIRAGE_BAD_GRAPH,
                            "load: output %u of the custom kernel cannot be read", output);
  int64_t from[MIRAGE_MAX_RANK], to[MIRAGE_MAX_RANK], start[MIRAGE_MAX_RANK], valid[MIRAGE_MAX_RANK], block[3];
  access_strides(tensor, &node->attrs->access, from);
  mirage__eval_strides(tile->rank, tile->shape, to);
  bool whole = true, empty = false;
  mirage__eval_block_coordinates(custom, index, block);
  locate(custom, tensor, &node->attrs->access, block, start, valid);
  for (uint32_t d = 0; d < tile->rank; d++) {
    whole = whole && valid[d] == tile->shape[d];
    empty = empty || valid[d] == 0;
  }
  void *out = mirage__eval_tile(custom, node->first_result, index);
  if (!whole)
    MIRAGE_TRY(fill_tile(eval, tile, node->attrs->access.fill, out));
  if (!empty)
    mirage__eval_copy(eval->size, tile->rank, valid,
                      (const char *)eval->data[node->operands[0].index] +
                          dot(tensor->rank, start, from) * (int64_t)eval->size,
                      from, out, to);
  return MIRAGE_OK;
}

// -------------------------------------------------------------------------------------------------------------- stores

enum { NUM_LOCKS = 64, LOCKED = 4096 }; // LOCKED: neighbouring elements under one lock

struct EvalStores {
  bool concurrent;
  uint32_t num_outputs;
  uint32_t **writers; // per output, per element: 1 + number of the block that stored it last, 0 = nobody
  pthread_mutex_t locks[NUM_LOCKS];
};

MirageStatus mirage__eval_stores_create(const Custom *custom, bool concurrent, EvalStores **out_stores) {
  EvalStores *stores = calloc(1, sizeof *stores);
  *out_stores = NULL;
  if (!stores)
    return MIRAGE_NO_MEMORY;
  stores->concurrent = concurrent;
  stores->num_outputs = custom->num_outputs;
  for (int i = 0; i < NUM_LOCKS; i++)
    pthread_mutex_init(&stores->locks[i], NULL);
  stores->writers = calloc(custom->num_outputs + 1, sizeof *stores->writers);
  bool ok = stores->writers != NULL;
  for (uint32_t i = 0; ok && i < custom->num_outputs; i++) {
    stores->writers[i] = calloc(mirage__eval_tile_elements(custom, custom->first_output + i), sizeof **stores->writers);
    ok = stores->writers[i] != NULL;
  }
  if (!ok) {
    mirage__eval_stores_destroy(stores);
    return MIRAGE_NO_MEMORY;
  }
  *out_stores = stores;
  return MIRAGE_OK;
}

void mirage__eval_stores_destroy(EvalStores *stores) {
  if (!stores)
    return;
  for (uint32_t i = 0; stores->writers && i < stores->num_outputs; i++)
    free(stores->writers[i]);
  for (int i = 0; i < NUM_LOCKS; i++)
    pthread_mutex_destroy(&stores->locks[i]);
  free(stores->writers);
  free(stores);
}

MirageStatus mirage__eval_stores_check(const Custom *custom, const MirageNodeView *node) {
  for (uint32_t i = 0; i < custom->num_outputs; i++) {
    size_t n = mirage__eval_tile_elements(custom, custom->first_output + i);
    for (size_t j = 0; j < n; j++)
      if (!custom->stores->writers[i][j])
        return mirage_diag_fail(custom->eval->diag, node->loc, MIRAGE_BAD_GRAPH,
                                "custom: output %u is not fully stored: element %zu", i, j);
  }
  return MIRAGE_OK;
}

// Where a row goes: `n` elements from number `first` on of output `output`.
typedef struct Row {
  uint32_t output, writer;
  int64_t first, n;
} Row;

// One block after the other: what another block has stored must be the same.
static MirageStatus store_in_order(const Custom *custom, const MirageNodeView *node, Row row, const char *tile,
                                   char *out) {
  size_t size = custom->eval->size;
  uint32_t *writers = custom->stores->writers[row.output] + row.first;
  for (int64_t i = 0; i < row.n; i++) {
    if (writers[i] && writers[i] != row.writer && memcmp(out + (size_t)i * size, tile + (size_t)i * size, size) != 0)
      return mirage_diag_fail(custom->eval->diag, node->loc, MIRAGE_BAD_GRAPH,
                              "store: blocks %u and %u store different values to element %lld of output %u",
                              writers[i] - 1, row.writer - 1, (long long)(row.first + i), row.output);
    writers[i] = row.writer;
  }
  memcpy(out, tile, (size_t)row.n * size);
  return MIRAGE_OK;
}

// Blocks in any order: whatever has been stored must be the same, by whichever block. If so no order matters; if not,
// the kernel runs again in order, which says whether that was a race.
static MirageStatus store_in_any_order(const Custom *custom, Row row, const char *tile, char *out) {
  size_t size = custom->eval->size;
  for (int64_t i = 0; i < row.n;) {
    int64_t block = (row.first + i) / LOCKED, end = (block + 1) * LOCKED - row.first;
    uint32_t *writers = custom->stores->writers[row.output] + row.first;
    pthread_mutex_t *lock = &custom->stores->locks[(uint64_t)block % NUM_LOCKS];
    bool same = true;
    pthread_mutex_lock(lock);
    for (end = end < row.n ? end : row.n; i < end; i++) {
      if (writers[i])
        same = same && !memcmp(out + (size_t)i * size, tile + (size_t)i * size, size);
      else
        memcpy(out + (size_t)i * size, tile + (size_t)i * size, size);
      writers[i] = row.writer;
    }
    pthread_mutex_unlock(lock);
    if (!same)
      return MIRAGE_BAD_GRAPH;
  }
  return MIRAGE_OK;
}

// Stores one row of valid elements and keeps the books of who wrote what.
static MirageStatus store_row(const Custom *custom, const MirageNodeView *node, Row row, const char *tile,
                              char *tensor) {
  Eval *eval = custom->eval;
  char *out = tensor + (size_t)row.first * eval->size;
  if (eval->is_worker && eval->domain->fork)
    MIRAGE_TRY(eval->domain->keep(eval->domain, (size_t)row.n, tile, eval->maxima_ahead));
  return custom->stores->concurrent ? store_in_any_order(custom, row, tile, out)
                                    : store_in_order(custom, node, row, tile, out);
}

static MirageStatus store_box(const Custom *custom, const MirageNodeView *node, Row row, uint32_t rank,
                              const int64_t *valid, const char *tile, const int64_t *from, char *tensor,
                              const int64_t *to) {
  row.n = rank ? valid[0] : 1;
  if (rank <= 1)
    return store_row(custom, node, row, tile, tensor);
  for (int64_t i = 0; i < valid[0]; i++, row.first += to[0])
    MIRAGE_TRY(store_box(custom, node, row, rank - 1, valid + 1, tile + i * from[0] * (int64_t)custom->eval->size,
                         from + 1, tensor, to + 1));
  return MIRAGE_OK;
}

MirageStatus mirage__eval_store(const Custom *custom, const MirageNodeView *node, int64_t index) {
  Eval *eval = custom->eval;
  const MirageType *tile = mirage_ugraph_type(eval->graph, node->operands[0]);
  const MirageType *tensor = mirage_ugraph_type(eval->graph, node->operands[1]);
  uint32_t output = node->operands[1].index - custom->first_output;
  if (output >= custom->num_outputs)
    return mirage_diag_fail(eval->diag, node->loc, MIRAGE_BAD_GRAPH,
                            "store: the target is not an output of the custom kernel");
  int64_t from[MIRAGE_MAX_RANK], to[MIRAGE_MAX_RANK], start[MIRAGE_MAX_RANK], valid[MIRAGE_MAX_RANK], block[3];
  mirage__eval_strides(tile->rank, tile->shape, from);
  access_strides(tensor, &node->attrs->access, to);
  mirage__eval_block_coordinates(custom, index, block);
  locate(custom, tensor, &node->attrs->access, block, start, valid);
  const int64_t *grid = custom->attrs->grid;
  Row row = {.output = output, .first = dot(tensor->rank, start, to)};
  row.writer = (uint32_t)(block[0] + grid[0] * (block[1] + grid[1] * block[2])) + 1;
  return store_box(custom, node, row, tensor->rank, valid, mirage__eval_tile(custom, node->operands[0], index), from,
                   eval->data[node->operands[1].index], to);
}
