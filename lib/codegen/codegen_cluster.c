// codegen_cluster.c - meetings of the blocks of a cluster, through distributed shared memory.
//
// What a block publishes is its buffers as they are. A cluster barrier before the first peer reads them makes them
// complete; one after the last reader keeps them until then (mirage__end_step). Both tell of shared memory alone, and
// nobody waits for what was stored elsewhere.
#include "emit.h"

void mirage__prepare_cluster_meeting(Emit *e, Meeting *m) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, e->block.steps[m->plan->first].node);
  const char *name = mirage_op_info(view.op)->mnemonic;
  const int64_t *cluster = mirage__block_custom(&e->block)->cluster;
  long long blocks = (long long)mirage__block_cluster(&e->block);
  if (blocks > e->target->max_cluster_blocks) {
    mirage__emit_fail(e, view.loc, MIRAGE_LIMIT, "%s: a cluster of %lld blocks, %s has at most %d", name, blocks,
                      e->target->name, e->target->max_cluster_blocks);
    return;
  }
  for (int64_t i = 0; i < m->members && i < MAX_CLUSTER; i++) {
    int64_t rest = i, stride = 1;
    for (int a = 0; a < 3; stride *= cluster[a++]) {
      if (!m->plan->axes[a])
        continue;
      m->rank_of[i] += rest % cluster[a] * stride;
      rest /= cluster[a];
    }
  }
}

void mirage__cluster_barrier(Emit *e) {
  if (e->copies_pending)
    GPU(&e->gpu, CP_ASYNC_WAIT, gpu_i32(&e->gpu, 0));
  e->copies_pending = false;
  mirage__await_landing(e);
  GPU0(&e->gpu, FENCE_CLUSTER_SHARED);
  mirage__cluster_meet(e);
  mirage__forget_hazards(e);
  mirage__forget_elements(e);
}

void mirage__read_cluster_leaf(Emit *e, const Meeting *m, MirageValue leaf, const LLVMValueRef *index, uint32_t width,
                               LLVMValueRef *out) {
  const MirageType *type = emit_type(e, leaf);
  int64_t number = (int64_t)LLVMConstIntGetZExtValue(e->member); // clusters are small enough to be written out
  LLVMValueRef rank = mirage__add(e, m->rank0, gpu_i32(&e->gpu, m->rank_of[number]));
  uint32_t piece = mirage__tile_width(type);
  piece = piece > width ? width : piece;
  for (uint32_t at = 0; at < width; at += piece) {
    LLVMValueRef here[MIRAGE_MAX_RANK];
    mirage__along_row(e, type->rank, index, at, here);
    LLVMValueRef own = mirage__tile_address(e, type, mirage__current_copy(e, leaf), here);
    LLVMValueRef peer = GPU(&e->gpu, MAP_RANK, own, rank);
    LLVMValueRef loaded = mirage__gpu_load_shared(&e->gpu, mirage__packed(e, piece, type->dtype), peer);
    mirage__unpack(e, loaded, piece, type->dtype, out + at);
  }
}

void mirage__await_values(Emit *e, uint32_t width, const LLVMValueRef *values) {
  LLVMValueRef all = NULL;
  for (uint32_t i = 0; i < width; i++) {
    LLVMValueRef bits = LLVMBuildBitCast(e->gpu.builder, values[i], e->gpu.i32, "");
    all = all ? LLVMBuildXor(e->gpu.builder, all, bits, "") : bits;
  }
  if (all)
    GPU(&e->gpu, AWAIT_VALUE, all);
}

void mirage__await_peers(Emit *e, MirageValue value, uint32_t width, const LLVMValueRef *values) {
  const BlockValue *v = &e->block.values[mirage__block_resolve(&e->block, value).index];
  bool cluster = false;
  for (int32_t i = 0; i < e->block.num_meetings; i++)
    cluster |= e->block.meetings[i].cluster;
  if (cluster && (v->gathered || v->meeting >= 0))
    mirage__await_values(e, width, values);
}
