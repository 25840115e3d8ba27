// codegen_collective.c - sums and maxima over blocks: through distributed shared memory, or through device memory.
//
// Cluster: every block reads the tile of every peer of its cluster directly, in rank order, between two cluster
// barriers. Grid:    every block writes its tile to the workspace, adds one to its group's counter, waits until all of
// the group have
//          done so, and reads all tiles in order. The last to finish reading zeroes what the group used, so the
//          workspace is zero again afterwards. All blocks must be resident at once: the grid may have at most one block
//          per multiprocessor.
// Order:   both sum in the order of the blocks' numbers, so results are bit-identical from run to run.
#include "emit.h"

typedef struct Group {
  int64_t members, groups;    // blocks per group, number of groups
  LLVMValueRef member, group; // of this block
  LLVMValueRef rank0;         // cluster: rank of the group's first member
  int64_t rank_of[16];        // cluster: rank of member i relative to rank0
} Group;

typedef struct Job {
  MirageValue from;
  const MirageType *in, *out;
  bool maximum;
  Group group;
  LLVMValueRef data; // grid: this group's tiles
} Job;

static bool is_grid(MirageOp op) { return op == MIRAGE_OP_GRID_SUM || op == MIRAGE_OP_GRID_MAX; }
static bool is_maximum(MirageOp op) { return op == MIRAGE_OP_GRID_MAX || op == MIRAGE_OP_CLUSTER_MAX; }

static Group describe(Emit *e, const MirageNodeView *view) {
  const MirageCustomAttrs *custom = &mirage_ugraph_node(e->block.graph, e->block.custom).attrs->custom;
  Group g = {.members = 1, .groups = 1};
  g.member = g.group = g.rank0 = gpu_i32(&e->gpu, 0);
  int64_t stride = 1;
  for (int a = 0; a < 3; ++a) {
    LLVMValueRef in_cluster = mirage__mod(e, e->block_id[a], custom->cluster[a]);
    if (view->attrs->axes.axis[a]) {
      g.member = mirage__add(e, g.member, mirage__mul(e, e->block_id[a], g.members));
      for (int64_t i = g.members * custom->cluster[a]; i-- > 0;)
        if (i < 16)
          g.rank_of[i] = g.rank_of[i % g.members] + i / g.members * stride;
      g.members *= custom->grid[a];
    } else {
      g.group = mirage__add(e, g.group, mirage__mul(e, e->block_id[a], g.groups));
      g.rank0 = mirage__add(e, g.rank0, mirage__mul(e, in_cluster, stride));
      g.groups *= custom->grid[a];
    }
    stride *= custom->cluster[a];
  }
  return g;
}

static LLVMValueRef combine(Emit *e, const Job *job, LLVMValueRef a, LLVMValueRef b) {
  return a ? mirage__binary(e, job->maximum ? MIRAGE_OP_MAX : MIRAGE_OP_ADD, a, b) : b;
}

// ----------------------------------------------------------------------------------------------------------- clusters

static void cluster_barrier(Emit *e) {
  if (e->copies_pending)
    GPU(&e->gpu, CP_ASYNC_WAIT, gpu_i32(&e->gpu, 0));
  e->copies_pending = false;
  GPU0(&e->gpu, CLUSTER_ARRIVE);
  GPU0(&e->gpu, CLUSTER_WAIT);
  mirage__forget_hazards(e);
  mirage__forget_elements(e);
}

static void cluster_item(Emit *e, LLVMValueRef item, void *user) {
  const Job *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], sum = NULL;
  mirage__delinearize(e, item, job->in->rank, job->in->shape, index);
  LLVMValueRef own = mirage__tile_address(e, job->in, NULL, index);
  for (int64_t i = 0; i < job->group.members; ++i) {
    LLVMValueRef rank = mirage__add(e, job->group.rank0, gpu_i32(&e->gpu, job->group.rank_of[i]));
    LLVMValueRef peer = GPU(&e->gpu, MAP_RANK, own, rank);
    LLVMValueRef value = mirage__gpu_load_shared(&e->gpu, mirage__gpu_dtype(&e->gpu, job->in->dtype), peer);
    sum = combine(e, job, sum, mirage__gpu_to_f32(&e->gpu, value));
  }
  mirage__tile_store(e, job->out, NULL, index, 1, &sum);
}

static void emit_cluster(Emit *e, const MirageNodeView *view, Job *job) {
  const char *name = mirage_op_info(view->op)->mnemonic;
  const MirageCustomAttrs *custom = &mirage_ugraph_node(e->block.graph, e->block.custom).attrs->custom;
  if (!e->target->has_cluster) {
    mirage__emit_fail(e, view->loc, MIRAGE_UNSUPPORTED, "%s: %s has no clusters", name, e->target->name);
    return;
  }
  for (int a = 0; a < 3; ++a)
    if (view->attrs->axes.axis[a] && custom->cluster[a] != custom->grid[a]) {
      mirage__emit_fail(e, view->loc, MIRAGE_UNSUPPORTED, "%s: grid axis %d has %lld blocks, its cluster %lld", name, a,
                        (long long)custom->grid[a], (long long)custom->cluster[a]);
      return;
    }
  if (custom->cluster[0] * custom->cluster[1] * custom->cluster[2] > 8) {
    mirage__emit_fail(e, view->loc, MIRAGE_LIMIT, "%s: a cluster of %lld blocks, 8 are portable", name,
                      (long long)(custom->cluster[0] * custom->cluster[1] * custom->cluster[2]));
    return;
  }
  mirage__begin_operation(e);
  mirage__will_write(e, view->first_result);
  cluster_barrier(e);
  mirage__for_items(e, mirage_type_elements(job->in), cluster_item, job);
  cluster_barrier(e); // nobody overwrites its tile, or leaves, while others still read it
}

// --------------------------------------------------------------------------------------------------------------- grid

// Workspace of one collective: per group two counters (arrived, finished), then the tiles of all blocks as f32.
static int64_t counters_bytes(const Group *g) { return (g->groups * 8 + 15) / 16 * 16; }
static int64_t bytes_of(const Group *g, int64_t elements) {
  return counters_bytes(g) + (g->groups * g->members * elements * 4 + 15) / 16 * 16;
}

static LLVMValueRef at_bytes(Emit *e, LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildGEP2(e->gpu.builder, e->gpu.i8, base, &offset, 1, "");
}

static LLVMValueRef tile_slot(Emit *e, const Job *job, LLVMValueRef member, LLVMValueRef item) {
  int64_t elements = mirage_type_elements(job->in);
  LLVMValueRef slot = mirage__add(e, mirage__mul(e, member, elements), item);
  return at_bytes(e, job->data, mirage__mul(e, slot, 4));
}

static void publish_item(Emit *e, LLVMValueRef item, void *user) {
  const Job *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], value;
  mirage__delinearize(e, item, job->in->rank, job->in->shape, index);
  mirage__tile_load(e, job->in, NULL, index, 1, &value);
  mirage__gpu_store_global(&e->gpu, value, tile_slot(e, job, job->group.member, item));
}

static void gather_item(Emit *e, LLVMValueRef item, void *user) {
  const Job *job = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], total = mirage__variable(e, e->gpu.f32);
  mirage__delinearize(e, item, job->in->rank, job->in->shape, index);
  mirage__set(e, total, gpu_f32(&e->gpu, job->maximum ? -__builtin_inf() : 0.0));
  Repeat repeat = mirage__begin_repeat(e, job->group.members);
  LLVMValueRef bits = GPU(&e->gpu, LD_GLOBAL_RELAXED, tile_slot(e, job, repeat.index, item));
  LLVMValueRef value = LLVMBuildBitCast(e->gpu.builder, bits, e->gpu.f32, "");
  mirage__set(e, total, combine(e, job, mirage__get(e, total), value));
  mirage__end_repeat(e, &repeat);
  LLVMValueRef sum = mirage__get(e, total);
  mirage__tile_store(e, job->out, NULL, index, 1, &sum);
}

// Thread 0 announces the block and waits for the others; the barriers around it spread both to all threads.
static void meet(Emit *e, LLVMValueRef counter, int64_t members) {
  mirage__barrier(e);
  LLVMBasicBlockRef join =
      mirage__begin_if(e, LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->thread, gpu_i32(&e->gpu, 0), ""));
  GPU0(&e->gpu, FENCE_GPU);
  GPU(&e->gpu, ATOMIC_ADD_RELEASE, counter, gpu_i32(&e->gpu, 1));
  LLVMBasicBlockRef spin = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "spin");
  LLVMBasicBlockRef met = LLVMAppendBasicBlockInContext(e->gpu.context, e->gpu.function, "met");
  LLVMBuildBr(e->gpu.builder, spin);
  LLVMPositionBuilderAtEnd(e->gpu.builder, spin);
  LLVMValueRef seen = GPU(&e->gpu, LD_ACQUIRE, counter);
  LLVMBuildCondBr(e->gpu.builder, mirage__less_than(e, seen, members), spin, met);
  LLVMPositionBuilderAtEnd(e->gpu.builder, met);
  GPU0(&e->gpu, FENCE_GPU);
  mirage__end_if(e, join);
  mirage__barrier(e);
}

// The first warp of the last block to finish zeroes the group's tiles and counters.
static void clean_up(Emit *e, const Job *job, LLVMValueRef arrived, LLVMValueRef finished) {
  LLVMBuilderRef b = e->gpu.builder;
  mirage__barrier(e);
  LLVMBasicBlockRef join = mirage__begin_if(e, LLVMBuildICmp(b, LLVMIntEQ, e->warp, gpu_i32(&e->gpu, 0), ""));
  LLVMValueRef order = mirage__variable(e, e->gpu.f32),
               first = LLVMBuildICmp(b, LLVMIntEQ, e->lane, gpu_i32(&e->gpu, 0), "");
  mirage__set(e, order, gpu_f32(&e->gpu, 0));
  LLVMBasicBlockRef counted = mirage__begin_if(e, first);
  LLVMValueRef before = GPU(&e->gpu, ATOMIC_ADD_RELEASE, finished, gpu_i32(&e->gpu, 1));
  mirage__set(e, order, LLVMBuildSIToFP(b, before, e->gpu.f32, ""));
  mirage__end_if(e, counted);
  LLVMValueRef all = mirage__get(e, order); // lane 0's number, the others hold 0
  for (int32_t apart = 16; apart >= 1; apart /= 2)
    all = LLVMBuildFAdd(
        b, all, GPU(&e->gpu, SHUFFLE_XOR, gpu_i32(&e->gpu, -1), all, gpu_i32(&e->gpu, apart), gpu_i32(&e->gpu, 31)),
        "");
  LLVMValueRef last = LLVMBuildFCmp(b, LLVMRealOEQ, all, gpu_f32(&e->gpu, (double)(job->group.members - 1)), "");
  LLVMBasicBlockRef done = mirage__begin_if(e, last);
  int64_t words = mirage_type_elements(job->in) * job->group.members;
  Repeat repeat = mirage__begin_repeat(e, (words + 31) / 32);
  LLVMValueRef word = mirage__add(e, mirage__mul(e, repeat.index, 32), e->lane);
  LLVMBasicBlockRef inside = mirage__begin_if(e, words % 32 ? mirage__less_than(e, word, words) : NULL);
  mirage__gpu_store_global(&e->gpu, gpu_f32(&e->gpu, 0), at_bytes(e, job->data, mirage__mul(e, word, 4)));
  mirage__end_if(e, inside);
  mirage__end_repeat(e, &repeat);
  LLVMBasicBlockRef reset = mirage__begin_if(e, first);
  mirage__gpu_store_global(&e->gpu, gpu_i32(&e->gpu, 0), arrived);
  mirage__gpu_store_global(&e->gpu, gpu_i32(&e->gpu, 0), finished);
  mirage__end_if(e, reset);
  mirage__end_if(e, done);
  mirage__end_if(e, join);
}

static void emit_grid(Emit *e, const MirageNodeView *view, Job *job) {
  const char *name = mirage_op_info(view->op)->mnemonic;
  const int64_t *grid = mirage_ugraph_node(e->block.graph, e->block.custom).attrs->custom.grid;
  if (e->block.values[view->first_result.index].loop >= 0) {
    mirage__emit_fail(e, view->loc, MIRAGE_UNSUPPORTED, "%s: cannot be lowered inside a loop", name);
    return;
  }
  if (grid[0] * grid[1] * grid[2] > e->target->num_sms) {
    mirage__emit_fail(e, view->loc, MIRAGE_LIMIT,
                      "%s: %lld blocks wait for each other, %s holds %d at once for certain", name,
                      (long long)(grid[0] * grid[1] * grid[2]), e->target->name, e->target->num_sms);
    return;
  }
  int64_t elements = mirage_type_elements(job->in);
  LLVMValueRef base = at_bytes(e, e->workspace, gpu_i32(&e->gpu, e->workspace_used));
  LLVMValueRef arrived = at_bytes(e, base, mirage__mul(e, job->group.group, 8));
  LLVMValueRef finished = at_bytes(e, arrived, gpu_i32(&e->gpu, 4));
  LLVMValueRef offset = mirage__mul(e, job->group.group, job->group.members * elements * 4);
  job->data = at_bytes(e, base, mirage__add(e, offset, gpu_i32(&e->gpu, counters_bytes(&job->group))));
  e->workspace_used += bytes_of(&job->group, elements);
  mirage__begin_operation(e);
  mirage__will_read(e, job->from);
  mirage__for_items(e, elements, publish_item, job);
  meet(e, arrived, job->group.members);
  mirage__begin_operation(e);
  mirage__will_write(e, view->first_result);
  mirage__for_items(e, elements, gather_item, job);
  clean_up(e, job, arrived, finished);
}

void mirage__emit_collective(Emit *e, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  Job job = {.from = mirage__block_resolve(&e->block, view.operands[0]),
             .out = emit_type(e, view.first_result),
             .maximum = is_maximum(view.op),
             .group = describe(e, &view)};
  job.in = emit_type(e, job.from);
  if (is_grid(view.op))
    emit_grid(e, &view, &job);
  else
    emit_cluster(e, &view, &job);
}

int64_t mirage__workspace_bytes(const Emit *e) {
  const MirageCustomAttrs *custom = &mirage_ugraph_node(e->block.graph, e->block.custom).attrs->custom;
  int64_t bytes = 0;
  for (int32_t s = 0; s < e->block.num_steps; ++s) {
    MirageNodeView view = mirage_ugraph_node(e->block.graph, e->block.steps[s].node);
    if (!e->block.steps[s].node.index || !is_grid(view.op))
      continue;
    Group g = {.members = 1, .groups = 1};
    for (int a = 0; a < 3; ++a)
      *(view.attrs->axes.axis[a] ? &g.members : &g.groups) *= custom->grid[a];
    bytes += bytes_of(&g, mirage_type_elements(emit_type(e, view.operands[0])));
  }
  return bytes;
}
