// eval_block.c - runs a custom kernel: groups of blocks, loads, loops, collectives, stores.
//
// Blocks that a cluster_ or grid_ collective joins form a group and run in lock step: every node is done for all blocks
// of the group before the next node, with values stored as [block of the group, tile]. Groups run one after the other
// in the same storage, so memory stays at one group's tiles.
//
// A group is a box of blocks: along an axis that a grid_ collective names it spans the whole grid, along one that only
// a cluster_ collective names a cluster, along any other axis one block. (Two collectives that name different axes join
// the blocks of the product, which is that box.)
//
// Stores are checked, since the verifier relies on it: an element that nobody stores, or that two blocks store with
// different values (a race), makes the graph wrong: BAD_GRAPH.
// Source: [Mirage 2]
#include "eval_internal.h"

#include <stdlib.h>
#include <string.h>

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
  uint32_t **writers; // per output, per element: 1 + number of the block that stored it last, 0 = nobody
  void **spare;       // per value: a loop carry's next value, else NULL
} Custom;

static size_t elements_of(const Custom *custom, uint32_t v) {
  return (size_t)mirage_type_elements(mirage_ugraph_type(custom->eval->graph, (MirageValue){v}));
}
static void *tile_of(const Custom *custom, MirageValue v, int64_t block) {
  return (char *)custom->eval->data[v.index] + (size_t)block * elements_of(custom, v.index) * custom->eval->size;
}

// ---------------------------------------------------------------------------------------------------- groups of blocks

// Along each axis: which collectives of this region and those inside name it.
static void find_joined(const MirageUGraph *graph, MirageRegion region, bool *by_grid, bool *by_cluster) {
  MirageRegionView view = mirage_ugraph_region(graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, view.nodes[i]);
    bool grid = node.op == MIRAGE_OP_GRID_SUM || node.op == MIRAGE_OP_GRID_MAX;
    if (mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE)
      for (uint32_t a = 0; a < 3; a++)
        (grid ? by_grid : by_cluster)[a] |= node.attrs->axes.axis[a];
    if (node.region.index)
      find_joined(graph, node.region, by_grid, by_cluster);
  }
}

// Grid coordinates of block `index` of the running group, x fastest.
static void block_coordinates(const Custom *custom, int64_t index, int64_t *out) {
  for (uint32_t a = 0; a < 3; a++) {
    out[a] = custom->origin[a] + index % custom->group[a];
    index /= custom->group[a];
  }
}

// ------------------------------------------------------------------------------------------------------- loads, stores

// Where a block's tile lies in the tensor: its first element, and how many elements of each dimension are valid.
static void locate(const Custom *custom, const MirageType *tensor, const MirageAccessAttrs *access,
                   const int64_t *block, int64_t *out_start, int64_t *out_valid) {
  for (uint32_t d = 0; d < tensor->rank; d++) {
    int64_t chunk = mirage_access_extent(access, tensor, d), start = 0, end = chunk;
    for (uint32_t i = 0; i < 3 + custom->num_loops; i++) {
      bool grid = i < 3;
      if ((grid ? access->grid[i] : access->loop[i - 3]) != (int8_t)d)
        continue;
      int64_t parts = grid ? custom->attrs->grid[i] : custom->ranges[i - 3];
      chunk = (chunk + parts - 1) / parts;
      start += (grid ? block[i] : custom->loop[i - 3]) * chunk;
      end = start + chunk < end ? start + chunk : end;
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

static MirageStatus run_load(Custom *custom, const MirageNodeView *node) {
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
  for (int64_t i = 0; i < custom->num_blocks; i++) {
    bool whole = true, empty = false;
    block_coordinates(custom, i, block);
    locate(custom, tensor, &node->attrs->access, block, start, valid);
    for (uint32_t d = 0; d < tile->rank; d++) {
      whole = whole && valid[d] == tile->shape[d];
      empty = empty || valid[d] == 0;
    }
    void *out = tile_of(custom, node->first_result, i);
    if (!whole)
      MIRAGE_TRY(fill_tile(eval, tile, node->attrs->access.fill, out));
    if (!empty)
      mirage__eval_copy(eval->size, tile->rank, valid,
                        (const char *)eval->data[node->operands[0].index] +
                            dot(tensor->rank, start, from) * (int64_t)eval->size,
                        from, out, to);
  }
  return MIRAGE_OK;
}

// Stores one row of valid elements and keeps the books of who wrote what.
static MirageStatus store_row(Custom *custom, const MirageNodeView *node, uint32_t output, int64_t n, const char *tile,
                              char *tensor, int64_t first, uint32_t writer) {
  size_t size = custom->eval->size;
  uint32_t *writers = custom->writers[output] + first;
  char *out = tensor + (size_t)first * size;
  for (int64_t i = 0; i < n; i++) {
    if (writers[i] && writers[i] != writer && memcmp(out + (size_t)i * size, tile + (size_t)i * size, size) != 0)
      return mirage_diag_fail(custom->eval->diag, node->loc, MIRAGE_BAD_GRAPH,
                              "store: blocks %u and %u store different values to element %lld of output %u",
                              writers[i] - 1, writer - 1, (long long)(first + i), output);
    writers[i] = writer;
  }
  memcpy(out, tile, (size_t)n * size);
  return MIRAGE_OK;
}

static MirageStatus store_box(Custom *custom, const MirageNodeView *node, uint32_t output, uint32_t rank,
                              const int64_t *valid, const char *tile, const int64_t *from, char *tensor, int64_t at,
                              const int64_t *to, uint32_t writer) {
  if (rank <= 1)
    return store_row(custom, node, output, rank ? valid[0] : 1, tile, tensor, at, writer);
  for (int64_t i = 0; i < valid[0]; i++)
    MIRAGE_TRY(store_box(custom, node, output, rank - 1, valid + 1, tile + i * from[0] * (int64_t)custom->eval->size,
                         from + 1, tensor, at + i * to[0], to + 1, writer));
  return MIRAGE_OK;
}

static MirageStatus run_store(Custom *custom, const MirageNodeView *node) {
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
  for (int64_t i = 0; i < custom->num_blocks; i++) {
    block_coordinates(custom, i, block);
    locate(custom, tensor, &node->attrs->access, block, start, valid);
    const int64_t *grid = custom->attrs->grid;
    uint32_t writer = (uint32_t)(block[0] + grid[0] * (block[1] + grid[1] * block[2])) + 1;
    MIRAGE_TRY(store_box(custom, node, output, tensor->rank, valid, tile_of(custom, node->operands[0], i), from,
                         eval->data[node->operands[1].index], dot(tensor->rank, start, to), to, writer));
  }
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------- collectives

// All blocks of the group that differ from `i` only along the named axes (inside one cluster for cluster_) get the sum
// or maximum of their tiles, taken in block order.
static MirageStatus run_collective(Custom *custom, const MirageNodeView *node) {
  Eval *eval = custom->eval;
  bool whole_grid = node->op == MIRAGE_OP_GRID_SUM || node->op == MIRAGE_OP_GRID_MAX;
  bool sum = node->op == MIRAGE_OP_GRID_SUM || node->op == MIRAGE_OP_CLUSTER_SUM;
  const MirageType *result = mirage_ugraph_type(eval->graph, node->first_result);
  size_t n = elements_of(custom, node->first_result.index);
  int64_t span[3], count = 1;
  for (uint32_t a = 0; a < 3; a++) {
    span[a] = !node->attrs->axes.axis[a] ? 1 : whole_grid ? custom->attrs->grid[a] : custom->attrs->cluster[a];
    count *= span[a];
  }
  void *gathered;
  MIRAGE_TRY(mirage__eval_scratch(eval, 0, (size_t)count * n, &gathered));
  for (int64_t i = 0; i < custom->num_blocks; i++) {
    int64_t at[3] = {i % custom->group[0], i / custom->group[0] % custom->group[1],
                     i / custom->group[0] / custom->group[1]};
    if (at[0] % span[0] || at[1] % span[1] || at[2] % span[2])
      continue; // not the first of its members
    for (int pass = 0; pass < 2; pass++) {
      for (int64_t j = 0; j < count; j++) {
        int64_t x = at[0] + j % span[0], y = at[1] + j / span[0] % span[1], z = at[2] + j / span[0] / span[1];
        int64_t member = x + custom->group[0] * (y + custom->group[1] * z);
        if (pass == 0)
          memcpy((char *)gathered + (size_t)j * n * eval->size, tile_of(custom, node->operands[0], member),
                 n * eval->size);
        else
          memcpy(tile_of(custom, node->first_result, member), gathered, n * eval->size);
      }
      if (pass == 0)
        MIRAGE_TRY(eval->domain->reduce(eval->domain, sum ? MIRAGE_OP_REDUCE_SUM : MIRAGE_OP_REDUCE_MAX, result, 1,
                                        (size_t)count, n, gathered, gathered));
    }
  }
  return MIRAGE_OK;
}

// --------------------------------------------------------------------------------------------------------------- loops

static MirageStatus run_region(Custom *custom, MirageRegion region);

static MirageStatus combine_carry(Custom *custom, const MirageCarry *carry, int64_t iteration, MirageValue acc,
                                  MirageValue c, MirageValue factor) {
  Eval *eval = custom->eval;
  const MirageType *type = mirage_ugraph_type(eval->graph, acc), *c_type = mirage_ugraph_type(eval->graph, c);
  size_t n = elements_of(custom, acc.index);
  for (int64_t i = 0; i < custom->num_blocks; i++) {
    char *next = (char *)custom->spare[acc.index] + (size_t)i * n * eval->size;
    void *old = tile_of(custom, acc, i), *take = tile_of(custom, c, i);
    int64_t from[MIRAGE_MAX_RANK], to[MIRAGE_MAX_RANK];
    switch (carry->combine) {
    case MIRAGE_COMBINE_SUM:
      MIRAGE_TRY(eval->domain->binary(eval->domain, MIRAGE_OP_ADD, type, n, old, take, next));
      break;
    case MIRAGE_COMBINE_MAX:
      MIRAGE_TRY(eval->domain->binary(eval->domain, MIRAGE_OP_MAX, type, n, old, take, next));
      break;
    case MIRAGE_COMBINE_RESCALE:
      MIRAGE_TRY(mirage__eval_binary(eval, MIRAGE_OP_MUL, type, old, mirage_ugraph_type(eval->graph, factor),
                                     tile_of(custom, factor, i), type, next));
      MIRAGE_TRY(eval->domain->binary(eval->domain, MIRAGE_OP_ADD, type, n, next, take, next));
      break;
    case MIRAGE_COMBINE_CONCAT:
      memcpy(next, old, n * eval->size);
      mirage__eval_strides(c_type->rank, c_type->shape, from);
      mirage__eval_strides(type->rank, type->shape, to);
      mirage__eval_copy(eval->size, c_type->rank, c_type->shape, take, from,
                        next + iteration * c_type->shape[carry->dim] * to[carry->dim] * (int64_t)eval->size, to);
      break;
    default: // ASSIGN
      memcpy(next, take, n * eval->size);
      break;
    }
  }
  return MIRAGE_OK;
}

// New values are computed from the old ones into spare storage and swapped in together, so that a carry may read
// another.
static MirageStatus run_loop(Custom *custom, const MirageNodeView *node) {
  Eval *eval = custom->eval;
  const MirageLoopAttrs *attrs = &node->attrs->loop;
  MirageRegionView body = mirage_ugraph_region(eval->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(eval->graph, body.nodes[body.num_nodes - 1]);
  uint32_t level = custom->num_loops++;
  custom->ranges[level] = attrs->range;
  for (uint32_t i = 0; i < attrs->num_carries; i++)
    memcpy(eval->data[body.first_argument.index + i], eval->data[node->operands[i].index],
           (size_t)custom->num_blocks * elements_of(custom, node->operands[i].index) * eval->size);
  for (int64_t iteration = 0; iteration < attrs->range; iteration++) {
    custom->loop[level] = iteration;
    MIRAGE_TRY(run_region(custom, node->region));
    uint32_t factor = attrs->num_carries; // factors follow the contributions, one for each RESCALE carry
    for (uint32_t i = 0; i < attrs->num_carries; i++) {
      bool rescale = attrs->carries[i].combine == MIRAGE_COMBINE_RESCALE;
      MIRAGE_TRY(combine_carry(custom, &attrs->carries[i], iteration, (MirageValue){body.first_argument.index + i},
                               yield.operands[i], yield.operands[rescale ? factor : i]));
      factor += rescale;
    }
    for (uint32_t i = 0; i < attrs->num_carries; i++) {
      uint32_t v = body.first_argument.index + i;
      void *next = custom->spare[v];
      custom->spare[v] = eval->data[v];
      eval->data[v] = next;
    }
  }
  for (uint32_t i = 0; i < attrs->num_carries; i++)
    memcpy(eval->data[node->first_result.index + i], eval->data[body.first_argument.index + i],
           (size_t)custom->num_blocks * elements_of(custom, node->first_result.index + i) * eval->size);
  custom->num_loops--;
  return MIRAGE_OK;
}

static MirageStatus run_thread(Custom *custom, const MirageNodeView *node) {
  Eval *eval = custom->eval;
  MirageRegionView body = mirage_ugraph_region(eval->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(eval->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    memcpy(eval->data[body.first_argument.index + i], eval->data[node->operands[i].index],
           (size_t)custom->num_blocks * elements_of(custom, node->operands[i].index) * eval->size);
  MIRAGE_TRY(run_region(custom, node->region));
  for (uint32_t i = 0; i < node->num_results; i++)
    memcpy(eval->data[node->first_result.index + i], eval->data[yield.operands[i].index],
           (size_t)custom->num_blocks * elements_of(custom, node->first_result.index + i) * eval->size);
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- regions

static MirageStatus run_plain(Custom *custom, const MirageNodeView *node) {
  enum { FEW = 8 };
  Eval *eval = custom->eval;
  const MirageType *few_types[FEW], **types = few_types;
  const void *few_operands[FEW], **operands = few_operands;
  void *heap = NULL;
  if (node->num_operands > FEW) {
    heap = malloc(node->num_operands * (sizeof *types + sizeof *operands));
    if (!heap)
      return MIRAGE_NO_MEMORY;
    types = heap;
    operands = (const void **)(types + node->num_operands);
  }
  const MirageType *result = mirage_ugraph_type(eval->graph, node->first_result);
  MirageStatus status = MIRAGE_OK;
  for (int64_t b = 0; b < custom->num_blocks && status == MIRAGE_OK; b++) {
    for (uint32_t i = 0; i < node->num_operands; i++) {
      types[i] = mirage_ugraph_type(eval->graph, node->operands[i]);
      operands[i] = tile_of(custom, node->operands[i], b);
    }
    status = mirage__eval_operator(eval, node, types, operands, result, tile_of(custom, node->first_result, b));
  }
  free(heap);
  return status;
}

static MirageStatus run_node(Custom *custom, const MirageNodeView *node) {
  switch (node->op) {
  case MIRAGE_OP_LOAD:
    return run_load(custom, node);
  case MIRAGE_OP_STORE:
    return run_store(custom, node);
  case MIRAGE_OP_LOOP:
    return run_loop(custom, node);
  case MIRAGE_OP_THREAD:
    return run_thread(custom, node);
  case MIRAGE_OP_YIELD:
    return MIRAGE_OK; // read by the owner
  default:
    return mirage_op_info(node->op)->kind == MIRAGE_KIND_COLLECTIVE ? run_collective(custom, node)
                                                                    : run_plain(custom, node);
  }
}

static MirageStatus run_region(Custom *custom, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(custom->eval->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(custom->eval->graph, view.nodes[i]);
    MirageStatus status = run_node(custom, &node);
    bool structure = node.op == MIRAGE_OP_LOOP || node.op == MIRAGE_OP_THREAD; // what is inside has reported already
    if (status != MIRAGE_OK)
      return structure ? status : mirage__eval_report(custom->eval, node.op, node.loc, status);
  }
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- storage

// Gives every value of the region and those inside its [blocks, tile] array, and a loop's carries a second one.
static MirageStatus alloc_region(Custom *custom, MirageRegion region) {
  Eval *eval = custom->eval;
  MirageRegionView view = mirage_ugraph_region(eval->graph, region);
  bool is_custom = view.owner.index == custom->node.index;
  bool is_loop = !is_custom && mirage_ugraph_node(eval->graph, view.owner).op == MIRAGE_OP_LOOP;
  for (uint32_t i = 0; !is_custom && i < view.num_arguments; i++) {
    uint32_t v = view.first_argument.index + i;
    size_t n = (size_t)custom->num_blocks * elements_of(custom, v);
    MIRAGE_TRY(mirage__eval_alloc(eval, n, &eval->data[v]));
    if (is_loop)
      MIRAGE_TRY(mirage__eval_alloc(eval, n, &custom->spare[v]));
  }
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(eval->graph, view.nodes[i]);
    for (uint32_t r = 0; r < node.num_results; r++) {
      uint32_t v = node.first_result.index + r;
      MIRAGE_TRY(mirage__eval_alloc(eval, (size_t)custom->num_blocks * elements_of(custom, v), &eval->data[v]));
    }
    if (node.region.index)
      MIRAGE_TRY(alloc_region(custom, node.region));
  }
  return MIRAGE_OK;
}

static void free_one(Custom *custom, uint32_t v) {
  size_t n = (size_t)custom->num_blocks * elements_of(custom, v);
  mirage__eval_free(custom->eval, custom->eval->data[v], n);
  mirage__eval_free(custom->eval, custom->spare[v], n);
  custom->eval->data[v] = custom->spare[v] = NULL;
}

static void free_region(Custom *custom, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(custom->eval->graph, region);
  for (uint32_t i = 0; i < view.num_arguments; i++) {
    if (view.owner.index != custom->node.index)
      free_one(custom, view.first_argument.index + i);
    else
      custom->eval->data[view.first_argument.index + i] = NULL; // the tensors belong to the kernel level
  }
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(custom->eval->graph, view.nodes[i]);
    for (uint32_t r = 0; r < node.num_results; r++)
      free_one(custom, node.first_result.index + r);
    if (node.region.index)
      free_region(custom, node.region);
  }
}

static MirageStatus check_stored(Custom *custom, const MirageNodeView *node) {
  for (uint32_t i = 0; i < custom->num_outputs; i++) {
    size_t n = elements_of(custom, custom->first_output + i);
    for (size_t j = 0; j < n; j++)
      if (!custom->writers[i][j])
        return mirage_diag_fail(custom->eval->diag, node->loc, MIRAGE_BAD_GRAPH,
                                "custom: output %u is not fully stored: element %zu", i, j);
  }
  return MIRAGE_OK;
}

// A store converts to the tensor's element type, whatever the tile's.
static MirageStatus convert_stored(Custom *custom) {
  Eval *eval = custom->eval;
  for (uint32_t i = 0; i < custom->num_outputs; i++) {
    uint32_t v = custom->first_output + i;
    const MirageType *tensor = mirage_ugraph_type(eval->graph, (MirageValue){v});
    MIRAGE_TRY(eval->domain->cast(eval->domain, tensor, elements_of(custom, v), eval->data[v], eval->data[v]));
  }
  return MIRAGE_OK;
}

static MirageStatus run_groups(Custom *custom, const MirageNodeView *node) {
  const int64_t *grid = custom->attrs->grid, *group = custom->group;
  MIRAGE_TRY(alloc_region(custom, node->region));
  for (int64_t z = 0; z < grid[2]; z += group[2])
    for (int64_t y = 0; y < grid[1]; y += group[1])
      for (int64_t x = 0; x < grid[0]; x += group[0]) {
        memcpy(custom->origin, (int64_t[]){x, y, z}, sizeof custom->origin);
        MIRAGE_TRY(run_region(custom, node->region));
      }
  MIRAGE_TRY(check_stored(custom, node));
  return convert_stored(custom);
}

MirageStatus mirage__eval_custom(Eval *eval, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(eval->graph, id);
  MirageRegionView body = mirage_ugraph_region(eval->graph, node.region);
  Custom custom = {.eval = eval, .node = id, .attrs = &node.attrs->custom, .num_blocks = 1};
  custom.first_output = body.first_argument.index + node.num_operands;
  custom.num_outputs = node.num_results;
  bool by_grid[3] = {0}, by_cluster[3] = {0};
  find_joined(eval->graph, node.region, by_grid, by_cluster);
  for (uint32_t a = 0; a < 3; a++) {
    custom.group[a] = by_grid[a] ? custom.attrs->grid[a] : by_cluster[a] ? custom.attrs->cluster[a] : 1;
    custom.num_blocks *= custom.group[a];
  }
  for (uint32_t i = 0; i < node.num_operands; i++)
    eval->data[body.first_argument.index + i] = eval->data[node.operands[i].index];
  for (uint32_t i = 0; i < node.num_results; i++)
    eval->data[custom.first_output + i] = eval->data[node.first_result.index + i];
  custom.writers = calloc(node.num_results + 1, sizeof *custom.writers);
  custom.spare = calloc(mirage_ugraph_num_values(eval->graph) + 1, sizeof *custom.spare);
  MirageStatus status = custom.writers && custom.spare ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  for (uint32_t i = 0; status == MIRAGE_OK && i < node.num_results; i++) {
    custom.writers[i] = calloc(elements_of(&custom, custom.first_output + i), sizeof **custom.writers);
    status = custom.writers[i] ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  }
  if (status == MIRAGE_OK)
    status = run_groups(&custom, &node);
  if (custom.spare)
    free_region(&custom, node.region);
  for (uint32_t i = 0; custom.writers && i < node.num_results; i++)
    free(custom.writers[i]);
  free(custom.writers);
  free(custom.spare);
  return status;
}
