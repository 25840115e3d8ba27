// codegen_tensor.c - bulk and tensor copies: what one thread issues for a load's tile, and the maps of the tensors.
//
// A tensor copy names its tensor by a map, a parameter of the kernel, and takes a box of it: one panel of the tile
// (MirageLayout.panel). What lies outside the tensor lands as zeros and counts like the rest, so that the mbarrier
// always expects the whole tile. A bulk copy takes one row of the tile, or all of them where they follow each other in
// both memories.
//
// Multicast: blocks of a cluster that load the same tile differ in axes that the load does not name. Each of them copies a
//          share of the tile's rows for all, or the first copies all where the rows cannot be shared; each block's own
//          mbarrier expects the bytes of the whole tile.
#include "emit.h"

// --------------------------------------------------------------------------------------------------------------- maps

static MirageTensorMap describe(const Emit *e, const BlockLoad *load) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, load->node);
  MirageValue tensor = mirage__block_resolve(&e->block, view.operands[0]);
  const MirageType *type = emit_type(e, tensor), *tile = emit_type(e, view.first_result);
  MirageTensorMap map = {.pointer = mirage__pointer_of(e, tensor),
                         .dtype = type->dtype,
                         .rank = type->rank,
                         .swizzle = tile->layout.swizzle};
  int64_t pitches[MIRAGE_MAX_RANK];
  mirage__access_pitches(type, &view.attrs->access, pitches);
  for (uint32_t d = 0; d < type->rank; d++) { // innermost first
    uint32_t dim = type->rank - 1 - d;
    map.extents[d] = type->shape[mirage_access_dim(&view.attrs->access, dim)];
    map.strides[d] = pitches[dim];
    map.box[d] = (int32_t)(d == 0   ? mirage__panel_width(tile)
                           : d == 1 ? mirage__block_copied_rows(&e->block, load)
                                    : tile->shape[dim]);
  }
  return map;
}

void mirage__tensor_maps(const Emit *e, MirageTensorMap *maps) {
  for (uint32_t i = 0; i < e->block.num_loads; i++)
    if (mirage__block_takes_map(&e->block, &e->block.loads[i]))
      *maps++ = describe(e, &e->block.loads[i]);
}

// ---------------------------------------------------------------------------------------------------------- multicast

// Blocks that share a load's tile: a mask of ranks in the cluster, and which of them this one is (NULL = the only one).
typedef struct Sharers {
  LLVMValueRef mask, index;
} Sharers;

static Sharers sharers_of(Emit *e, MirageNode load) {
  const MirageAccessAttrs *access = &mirage_ugraph_node(e->block.graph, load).attrs->access;
  int64_t pattern = 1, stride = 1, sharers = 1; // ranks of the sharers, counted from the first
  LLVMValueRef rank = gpu_i32(&e->gpu, 0), index = gpu_i32(&e->gpu, 0);
  for (int a = 0; a < 3; a++) {
    LLVMValueRef at = mirage__mod(e, e->block_id[a], e->block.cluster[a]);
    if (access->grid[a] >= 0) {
      rank = mirage__add(e, rank, mirage__mul(e, at, stride));
    } else {
      int64_t one = pattern;
      for (int64_t i = 1; i < e->block.cluster[a]; i++)
        pattern |= one << i * stride;
      index = mirage__add(e, index, mirage__mul(e, at, sharers));
      sharers *= e->block.cluster[a];
    }
    stride *= e->block.cluster[a];
  }
  return (Sharers){LLVMBuildShl(e->gpu.builder, gpu_i32(&e->gpu, pattern), rank, ""), sharers > 1 ? index : NULL};
}

// -------------------------------------------------------------------------------------------------------------- copies

static void copy_box(Emit *e, LLVMValueRef to, LLVMValueRef map, LLVMValueRef mbarrier, const LLVMValueRef *coordinates,
                     uint32_t rank, LLVMValueRef mask) {
  static const MiragePrimitive ONE[] = {MIRAGE_PRIM_TENSOR_COPY_1D, MIRAGE_PRIM_TENSOR_COPY_2D,
                                        MIRAGE_PRIM_TENSOR_COPY_3D, MIRAGE_PRIM_TENSOR_COPY_4D,
                                        MIRAGE_PRIM_TENSOR_COPY_5D};
  static const MiragePrimitive MANY[] = {MIRAGE_PRIM_TENSOR_COPY_1D_MULTICAST, MIRAGE_PRIM_TENSOR_COPY_2D_MULTICAST,
                                         MIRAGE_PRIM_TENSOR_COPY_3D_MULTICAST, MIRAGE_PRIM_TENSOR_COPY_4D_MULTICAST,
                                         MIRAGE_PRIM_TENSOR_COPY_5D_MULTICAST};
  LLVMValueRef operands[4 + MIRAGE_MAP_RANK] = {to, map, mbarrier};
  for (uint32_t d = 0; d < rank; d++)
    operands[3 + d] = coordinates[d];
  operands[3 + rank] = mask;
  mirage__gpu_emit(&e->gpu, (mask ? MANY : ONE)[rank - 1], operands);
}

// The share of the tile's rows that this block copies begins at the row that is returned; *out_mine: whether it copies
// anything (NULL = yes).
static LLVMValueRef first_row(Emit *e, const BlockLoad *load, const Sharers *sharers, LLVMValueRef *out_mine) {
  const MirageType *tile = emit_type(e, load->tile);
  int64_t rows = mirage__block_copied_rows(&e->block, load);
  LLVMValueRef none = gpu_i32(&e->gpu, 0);
  *out_mine = NULL;
  if (!sharers->index)
    return none;
  if (tile->rank > 1 && rows < tile->shape[tile->rank - 2])
    return mirage__mul(e, sharers->index, rows);
  *out_mine = mirage__equals(e, sharers->index, 0);
  return none;
}

static LLVMValueRef map_number(Emit *e, unsigned number) {
  MirageNodeView custom = mirage_ugraph_node(e->block.graph, e->block.custom);
  unsigned pointers = custom.num_operands + custom.num_results + (e->workspace_bytes > 0);
  return mirage__gpu_tensor_map(&e->gpu, pointers + number);
}

void mirage__prefetch_maps(Emit *e) {
  unsigned maps = mirage__block_count_maps(&e->block, e->block.loads + e->block.num_loads);
  for (unsigned i = 0; i < maps; i++)
    GPU(&e->gpu, PREFETCH_MAP, map_number(e, i));
}

static void tensor_copies(Emit *e, const BlockLoad *load, const Access *access, LLVMValueRef copy,
                          LLVMValueRef mbarrier) {
  const MirageType *tile = access->tile;
  uint32_t rank = tile->rank;
  LLVMValueRef map = map_number(e, mirage__block_count_maps(&e->block, load)), coordinates[MIRAGE_MAP_RANK], mine;
  Sharers sharers = {NULL, NULL};
  if (load->multicast)
    sharers = sharers_of(e, load->node);
  LLVMValueRef row = first_row(e, load, &sharers, &mine);
  LLVMBasicBlockRef join = mirage__begin_if(e, mine);
  for (uint32_t d = 0; d < rank; d++)
    coordinates[d] = access->start[rank - 1 - d];
  if (rank > 1)
    coordinates[1] = mirage__add(e, coordinates[1], row);
  int64_t width = mirage__panel_width(tile);
  for (int64_t at = 0; at < tile->shape[rank - 1]; at += width) {
    LLVMValueRef corner[MIRAGE_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++)
      corner[d] = d + 2 == rank ? row : gpu_i32(&e->gpu, d + 1 == rank ? at : 0);
    coordinates[0] = mirage__add(e, access->start[rank - 1], gpu_i32(&e->gpu, at));
    copy_box(e, mirage__tile_address(e, tile, copy, corner), map, mbarrier, coordinates, rank, sharers.mask);
  }
  mirage__end_if(e, join);
}

// Trailing dimensions of a tile that lie in one piece in both memories.
static uint32_t contiguous_dims(const MirageType *tile, const Access *access) {
  uint32_t dims = 1;
  int64_t elements = tile->shape[tile->rank - 1], bytes = mirage_dtype_bytes(access->tensor->dtype);
  while (dims < tile->rank) {
    uint32_t d = tile->rank - 1 - dims; // joins when all below is whole
    if (access->pitch[d] != elements * bytes || tile->layout.strides[d] != elements)
      break;
    elements *= tile->shape[d];
    dims++;
  }
  return dims;
}

static void bulk_copies(Emit *e, const Access *access, LLVMValueRef copy, LLVMValueRef mbarrier) {
  const MirageType *tile = access->tile;
  uint32_t outer = tile->rank - contiguous_dims(tile, access);
  int64_t pieces = 1;
  for (uint32_t d = 0; d < outer; d++)
    pieces *= tile->shape[d];
  int64_t bytes = mirage_type_bytes(tile) / pieces;
  Repeat repeat = mirage__begin_repeat(e, pieces);
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__delinearize(e, repeat.index, outer, tile->shape, index);
  for (uint32_t d = outer; d < tile->rank; d++)
    index[d] = gpu_i32(&e->gpu, 0);
  GPU(&e->gpu, BULK_COPY, mirage__tile_address(e, tile, copy, index), mirage__access_address(e, access, index),
      gpu_i32(&e->gpu, bytes), mbarrier);
  mirage__end_repeat(e, &repeat);
}

void mirage__issue_copy(Emit *e, const BlockLoad *load, LLVMValueRef iteration, LLVMValueRef copy,
                        LLVMValueRef mbarrier) {
  MirageValue tensor = mirage_ugraph_node(e->block.graph, load->node).operands[0];
  uint32_t around = e->gpu.op;
  e->gpu.op = load->node.index;
  Access access = mirage__access(e, load->node, tensor, emit_type(e, load->tile), iteration);
  if (mirage__block_takes_map(&e->block, load))
    tensor_copies(e, load, &access, copy, mbarrier);
  else
    bulk_copies(e, &access, copy, mbarrier);
  e->gpu.op = around;
}
