// eval_block.c - runs a custom kernel: groups of blocks, loads, loops, collectives, stores.
//
// Blocks that a cluster_ or grid_ collective joins form a group and run in lock step: every node is done for all blocks
// of the group before the next node, with values stored as [block of the group, tile]. A thread runs groups one after
// the other in the same storage, so memory stays at one group's tiles for each thread.
//
// A group is a box of blocks: along an axis that a grid_ collective names it spans the whole grid, along one that only
// a cluster_ collective names a cluster, along any other axis one block. (Two collectives that name different axes join
// the blocks of the product, which is that box.)
//
// Threads: groups are independent, but for what they store (eval_access.c). A kernel that fails on several threads runs
// again on one, in order: so the error is the same at any number of them. Where few groups have many blocks, threads
// share each node's blocks instead.
// Source: [Mirage 2]
#include "eval_block.h"

#include <stdlib.h>
#include <string.h>

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

// --------------------------------------------------------------------------------------------------- blocks of a group

enum { FEW_GROUPS = 4, SHARE_ELEMENTS = 8192 }; // SHARE_ELEMENTS: of a node's results, that are worth threads

// One block's part of a node.
typedef MirageStatus (*BlockPart)(const Custom *custom, const MirageNodeView *node, int64_t block);
typedef struct Blocks {
  const Custom *custom;
  const MirageNodeView *node;
  BlockPart part;
} Blocks;

static MirageStatus run_block(void *user, Eval *worker, uint32_t number, size_t task) {
  const Blocks *blocks = user;
  Custom custom = *blocks->custom;
  MirageValue result = blocks->node->first_result;
  custom.eval = worker;
  MIRAGE_TRY(blocks->part(&custom, blocks->node, (int64_t)task));
  if (!blocks->node->num_results)
    return MIRAGE_OK;
  return mirage__eval_keep(worker, mirage__eval_tile_elements(&custom, result.index),
                           mirage__eval_tile(&custom, result, (int64_t)task), true);
}

static MirageStatus each_block(Custom *custom, const MirageNodeView *node, BlockPart part) {
  Blocks blocks = {custom, node, part};
  size_t elements = node->num_results ? mirage__eval_tile_elements(custom, node->first_result.index) : 0;
  if (custom->share_blocks && elements * (size_t)custom->num_blocks >= SHARE_ELEMENTS)
    return mirage__eval_tasks(custom->eval, UINT32_MAX, (size_t)custom->num_blocks, run_block, &blocks);
  for (int64_t i = 0; i < custom->num_blocks; i++)
    MIRAGE_TRY(part(custom, node, i));
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
  size_t n = mirage__eval_tile_elements(custom, node->first_result.index);
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
          memcpy((char *)gathered + (size_t)j * n * eval->size, mirage__eval_tile(custom, node->operands[0], member),
                 n * eval->size);
        else
          memcpy(mirage__eval_tile(custom, node->first_result, member), gathered, n * eval->size);
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
  size_t n = mirage__eval_tile_elements(custom, acc.index);
  for (int64_t i = 0; i < custom->num_blocks; i++) {
    char *next = (char *)custom->spare[acc.index] + (size_t)i * n * eval->size;
    void *old = mirage__eval_tile(custom, acc, i), *take = mirage__eval_tile(custom, c, i);
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
                                     mirage__eval_tile(custom, factor, i), type, next));
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
           (size_t)custom->num_blocks * mirage__eval_tile_elements(custom, node->operands[i].index) * eval->size);
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
           (size_t)custom->num_blocks * mirage__eval_tile_elements(custom, node->first_result.index + i) * eval->size);
  custom->num_loops--;
  return MIRAGE_OK;
}

static MirageStatus run_thread(Custom *custom, const MirageNodeView *node) {
  Eval *eval = custom->eval;
  MirageRegionView body = mirage_ugraph_region(eval->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(eval->graph, body.nodes[body.num_nodes - 1]);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    memcpy(eval->data[body.first_argument.index + i], eval->data[node->operands[i].index],
           (size_t)custom->num_blocks * mirage__eval_tile_elements(custom, node->operands[i].index) * eval->size);
  MIRAGE_TRY(run_region(custom, node->region));
  for (uint32_t i = 0; i < node->num_results; i++)
    memcpy(eval->data[node->first_result.index + i], eval->data[yield.operands[i].index],
           (size_t)custom->num_blocks * mirage__eval_tile_elements(custom, node->first_result.index + i) * eval->size);
  return MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- regions

static MirageStatus run_plain(const Custom *custom, const MirageNodeView *node, int64_t block) {
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
  for (uint32_t i = 0; i < node->num_operands; i++) {
    types[i] = mirage_ugraph_type(eval->graph, node->operands[i]);
    operands[i] = mirage__eval_tile(custom, node->operands[i], block);
  }
  MirageStatus status =
      mirage__eval_operator(eval, node, types, operands, mirage_ugraph_type(eval->graph, node->first_result),
                            mirage__eval_tile(custom, node->first_result, block));
  free(heap);
  return status;
}

// An index of the tensor: grid and loops move the tile.
static MirageStatus run_iota(const Custom *custom, const MirageNodeView *node, int64_t block) {
  int64_t at[3], start = node->attrs->iota.start;
  mirage__eval_block_coordinates(custom, block, at);
  for (uint32_t a = 0; a < 3; a++)
    start += node->attrs->iota.grid[a] * at[a];
  for (uint32_t l = 0; l < custom->num_loops; l++)
    start += node->attrs->iota.loop[l] * custom->loop[l];
  return mirage__eval_iota(custom->eval, mirage_ugraph_type(custom->eval->graph, node->first_result),
                           node->attrs->iota.dim, start, mirage__eval_tile(custom, node->first_result, block));
}

static MirageStatus run_node(Custom *custom, const MirageNodeView *node) {
  switch (node->op) {
  case MIRAGE_OP_LOAD:
    return each_block(custom, node, mirage__eval_load);
  case MIRAGE_OP_STORE:
    return each_block(custom, node, mirage__eval_store); // in order: it has no results to share
  case MIRAGE_OP_IOTA:
    return each_block(custom, node, run_iota);
  case MIRAGE_OP_LOOP:
    return run_loop(custom, node);
  case MIRAGE_OP_THREAD:
    return run_thread(custom, node);
  case MIRAGE_OP_YIELD:
    return MIRAGE_OK; // read by the owner
  default:
    return mirage_op_info(node->op)->kind == MIRAGE_KIND_COLLECTIVE ? run_collective(custom, node)
                                                                    : each_block(custom, node, run_plain);
  }
}

static MirageStatus run_region(Custom *custom, MirageRegion region) {
  MirageRegionView view = mirage_ugraph_region(custom->eval->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(custom->eval->graph, view.nodes[i]);
    if (mirage_cancelled(custom->eval->cancel))
      return MIRAGE_CANCELLED;
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
    size_t n = (size_t)custom->num_blocks * mirage__eval_tile_elements(custom, v);
    MIRAGE_TRY(mirage__eval_alloc(eval, n, &eval->data[v]));
    if (is_loop)
      MIRAGE_TRY(mirage__eval_alloc(eval, n, &custom->spare[v]));
  }
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(eval->graph, view.nodes[i]);
    for (uint32_t r = 0; r < node.num_results; r++) {
      uint32_t v = node.first_result.index + r;
      MIRAGE_TRY(
          mirage__eval_alloc(eval, (size_t)custom->num_blocks * mirage__eval_tile_elements(custom, v), &eval->data[v]));
    }
    if (node.region.index)
      MIRAGE_TRY(alloc_region(custom, node.region));
  }
  return MIRAGE_OK;
}

static void free_one(Custom *custom, uint32_t v) {
  size_t n = (size_t)custom->num_blocks * mirage__eval_tile_elements(custom, v);
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

// A store converts to the tensor's element type, whatever the tile's.
static MirageStatus convert_stored(Custom *custom) {
  Eval *eval = custom->eval;
  for (uint32_t i = 0; i < custom->num_outputs; i++) {
    uint32_t v = custom->first_output + i;
    const MirageType *tensor = mirage_ugraph_type(eval->graph, (MirageValue){v});
    MIRAGE_TRY(
        eval->domain->cast(eval->domain, tensor, mirage__eval_tile_elements(custom, v), eval->data[v], eval->data[v]));
  }
  return MIRAGE_OK;
}

// A kernel's groups on some threads: one Custom each, made by the first group that a thread runs.
typedef struct Groups {
  const Custom *model; // what all have in common
  const MirageNodeView *node;
  Eval *evals;
  Custom *customs; // [threads]
} Groups;

// The tiles of one thread.
static MirageStatus begin_groups(Groups *groups, Eval *worker, uint32_t number) {
  const Custom *model = groups->model;
  size_t num_values = mirage_ugraph_num_values(worker->graph) + 1;
  Eval *eval = &groups->evals[number];
  Custom *custom = &groups->customs[number];
  *eval = *worker;
  *custom = *model;
  custom->eval = eval;
  eval->in_group = worker->is_worker;
  eval->data = malloc(num_values * sizeof *eval->data);
  custom->spare = calloc(num_values, sizeof *custom->spare);
  if (!eval->data || !custom->spare)
    return MIRAGE_NO_MEMORY;
  memcpy(eval->data, worker->data, num_values * sizeof *eval->data);
  return alloc_region(custom, groups->node->region);
}

static void end_groups(Groups *groups, uint32_t number) {
  Custom *custom = &groups->customs[number];
  if (!custom->eval)
    return;
  if (custom->eval->data && custom->spare)
    free_region(custom, groups->node->region);
  free(custom->eval->data);
  free(custom->spare);
}

// Scratch buffers belong to the worker; while a group runs they are in its copy.
static MirageStatus run_group(void *user, Eval *worker, uint32_t number, size_t task) {
  Groups *groups = user;
  Custom *custom = &groups->customs[number];
  if (!custom->eval)
    MIRAGE_TRY(begin_groups(groups, worker, number));
  int64_t index = (int64_t)task;
  for (uint32_t a = 0; a < 3; a++) {
    int64_t count = custom->attrs->grid[a] / custom->group[a];
    custom->origin[a] = index % count * custom->group[a];
    index /= count;
  }
  custom->num_loops = 0;
  MirageStatus status = run_region(custom, groups->node->region);
  memcpy(worker->scratch, custom->eval->scratch, sizeof worker->scratch);
  if (worker->is_worker && worker->domain->fork)
    worker->domain->end(worker->domain);
  return status;
}

// All groups on at most `most_threads`.
static MirageStatus run_groups(Custom *custom, const MirageNodeView *node, uint32_t most_threads) {
  uint32_t threads = mirage__eval_pool_threads(custom->eval->pool);
  threads = threads < most_threads ? threads : most_threads;
  Groups groups = {.model = custom, .node = node};
  groups.evals = calloc(threads, sizeof *groups.evals);
  groups.customs = calloc(threads, sizeof *groups.customs);
  MirageStatus status = groups.evals && groups.customs ? MIRAGE_OK : MIRAGE_NO_MEMORY;
  if (status == MIRAGE_OK)
    status = mirage__eval_stores_create(custom, threads > 1 && !custom->share_blocks, &custom->stores);
  const int64_t *grid = custom->attrs->grid;
  size_t count = (size_t)(grid[0] * grid[1] * grid[2] / custom->num_blocks);
  if (status == MIRAGE_OK && !custom->share_blocks)
    status = mirage__eval_tasks(custom->eval, most_threads, count, run_group, &groups);
  for (size_t i = 0; status == MIRAGE_OK && custom->share_blocks && i < count; i++)
    status = run_group(&groups, custom->eval, 0, i);
  if (status == MIRAGE_OK)
    status = mirage__eval_stores_check(custom, node);
  for (uint32_t i = 0; groups.customs && groups.evals && i < threads; i++)
    end_groups(&groups, i);
  free(groups.evals);
  free(groups.customs);
  mirage__eval_stores_destroy(custom->stores);
  custom->stores = NULL;
  return status;
}

MirageStatus mirage__eval_custom(Eval *eval, MirageNode id) {
  MirageNodeView node = mirage_ugraph_node(eval->graph, id);
  MirageRegionView body = mirage_ugraph_region(eval->graph, node.region);
  Custom custom = {.eval = eval, .node = id, .attrs = &node.attrs->custom, .num_blocks = 1};
  custom.first_output = body.first_argument.index + node.num_operands;
  custom.num_outputs = node.num_results;
  bool by_grid[3] = {0}, by_cluster[3] = {0};
  find_joined(eval->graph, node.region, by_grid, by_cluster);
  int64_t num_groups = 1;
  for (uint32_t a = 0; a < 3; a++) {
    custom.group[a] = by_grid[a] ? custom.attrs->grid[a] : by_cluster[a] ? custom.attrs->cluster[a] : 1;
    custom.num_blocks *= custom.group[a];
    num_groups *= custom.attrs->grid[a] / custom.group[a];
  }
  custom.share_blocks = custom.num_blocks > 1 && num_groups < FEW_GROUPS;
  for (uint32_t i = 0; i < node.num_operands; i++)
    eval->data[body.first_argument.index + i] = eval->data[node.operands[i].index];
  for (uint32_t i = 0; i < node.num_results; i++)
    eval->data[custom.first_output + i] = eval->data[node.first_result.index + i];
  bool alone = custom.share_blocks || mirage__eval_pool_threads(eval->pool) == 1;
  MirageStatus status = run_groups(&custom, &node, alone ? 1 : UINT32_MAX);
  if (!alone && status != MIRAGE_OK && status != MIRAGE_CANCELLED)
    status = run_groups(&custom, &node, 1);
  if (status == MIRAGE_OK)
    status = convert_stored(&custom);
  for (uint32_t i = 0; i < body.num_arguments; i++)
    eval->data[body.first_argument.index + i] = NULL; // the tensors belong to the kernel level
  return status;
}
