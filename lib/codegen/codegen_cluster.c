// codegen_cluster.c - meetings of the blocks of a cluster, through distributed shared memory.
//
// What a block publishes is its buffers as they are. A cluster barrier before the first peer reads them makes them
// complete; one after the last reader keeps them until then (mirage__end_step).
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
  mirage__cluster_meet(e);
  mirage__forget_hazards(e);
  mirage__forget_elements(e);
}

static void read_piece(Emit *e, LLVMValueRef own, LLVMValueRef rank, MirageDType dtype, uint32_t width,
                       LLVMValueRef *out) {
  LLVMTypeRef type = mirage__gpu_dtype(&e->gpu, dtype);
  LLVMValueRef peer = GPU(&e->gpu, MAP_RANK, own, rank);
  LLVMValueRef loaded = mirage__gpu_load_shared(&e->gpu, width > 1 ? LLVMVectorType(type, width) : type, peer);
  for (uint32_t i = 0; i < width; i++) {
    LLVMValueRef one = width > 1 ? LLVMBuildExtractElement(e->gpu.builder, loaded, gpu_i32(&e->gpu, i), "") : loaded;
    out[i] = mirage__gpu_to_f32(&e->gpu, one, dtype);
  }
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
    for (uint32_t d = 0; d < type->rank; d++)
      here[d] = index[d];
    if (at)
      here[type->rank - 1] = mirage__add(e, index[type->rank - 1], gpu_i32(&e->gpu, at));
    LLVMValueRef own = mirage__tile_address(e, type, mirage__current_copy(e, leaf), here);
    read_piece(e, own, rank, type->dtype, piece, out + at);
  }
}
