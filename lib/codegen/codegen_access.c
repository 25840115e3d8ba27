// codegen_access.c - tiles of tensors in device memory: where they start, what of them is valid, how wide one may read.
//
// A dimension that several axes split is cut into chunks of chunks (MirageAccessAttrs, which says in what order): the tile starts at the sum of
// index * chunk, and an element is valid when it lies inside every enclosing chunk. Only chunks that do not divide
// evenly ("ragged") can cut a tile short; each gives one bound on the tile-local index, and the limit is the least of
// them. Of a window of the tensor the same holds, shifted by where it begins.
// Example:     n = 100 over 3 blocks: chunk 34, block 2 starts at 68, and its tile of 34 has 100 - 68 = 32 valid
// elements.
#include "emit.h"
#include "host.h"

#include <math.h>

typedef struct Axis {
  LLVMValueRef index;
  int64_t parts;
} Axis;

// Where turn i of a loop that leaves tiles out is among all its iterations.
static LLVMValueRef place_of(Emit *e, int32_t loop, LLVMValueRef i) {
  return e->loops[loop].first ? mirage__add(e, e->loops[loop].first, i) : i;
}

static uint32_t axes_of(Emit *e, MirageNode node, const MirageAccessAttrs *attrs, uint32_t dim, LLVMValueRef iteration,
                        Axis *axes) {
  uint8_t splits[MIRAGE_MAX_SPLITS];
  uint32_t count = mirage_access_splits(attrs, dim, splits);
  const MirageCustomAttrs *custom = mirage__block_custom(&e->block);
  int32_t chain[MIRAGE_MAX_LOOPS], depth = 0;
  int32_t innermost = e->block.steps[e->block.step_of_node[node.index]].loop;
  for (int32_t l = innermost; l >= 0; l = e->block.loops[l].parent)
    chain[depth++] = l;
  for (uint32_t i = 0; i < count; i++) {
    if (splits[i] < 3) {
      axes[i] = (Axis){e->block_id[splits[i]], custom->grid[splits[i]]};
      continue;
    }
    int32_t loop = chain[depth - 1 - (splits[i] - 3)];
    axes[i] = (Axis){place_of(e, loop, loop == innermost && iteration ? iteration : e->loops[loop].iteration),
                     e->block.loops[loop].range};
  }
  return count;
}

LLVMValueRef mirage__iota_start(Emit *e, MirageNode node) {
  const MirageAttrs *attrs = mirage_ugraph_node(e->block.graph, node).attrs;
  LLVMValueRef start = gpu_i32(&e->gpu, attrs->iota.start);
  for (int a = 0; a < 3; a++)
    if (attrs->iota.grid[a])
      start = mirage__add(e, start, mirage__mul(e, e->block_id[a], attrs->iota.grid[a]));
  int32_t chain[MIRAGE_MAX_LOOPS], depth = 0;
  for (int32_t l = e->block.steps[e->block.step_of_node[node.index]].loop; l >= 0; l = e->block.loops[l].parent)
    chain[depth++] = l;
  for (int32_t i = 0; i < depth; i++)
    if (attrs->iota.loop[i])
      start = mirage__add(e, start,
                          mirage__mul(e, place_of(e, chain[depth - 1 - i], e->loops[chain[depth - 1 - i]].iteration),
                                      attrs->iota.loop[i]));
  return start;
}

// Widths must divide everything that shifts or cuts the innermost dimension.
static void narrow(Access *access, int64_t extent) {
  while (extent % access->width)
    access->width /= 2;
}

static void split_dim(Emit *e, Access *access, const MirageAccessAttrs *attrs, uint32_t dim, const Axis *axes,
                      uint32_t count) {
  bool innermost = dim + 1 == access->tensor->rank;
  int64_t chunk[MAX_AXES + 1], parts[MAX_AXES];
  for (uint32_t i = 0; i < count; i++)
    parts[i] = axes[i].parts;
  mirage_access_chunks(attrs, dim, mirage_access_extent(attrs, access->tensor, dim), count, parts, chunk);
  access->start[dim] = gpu_i32(&e->gpu, 0);
  LLVMValueRef limit = count == 0 && attrs->tiles[dim] ? gpu_i32(&e->gpu, chunk[0]) : NULL;
  if (innermost && limit)
    narrow(access, chunk[0]);
  if (count <= 1) // the last block's
    access->least[dim] = count ? chunk[0] - (parts[0] - 1) * chunk[1] : chunk[0];
  for (uint32_t i = count; i-- > 0;) { // start grows from the innermost axis outwards: position inside chunk[i]
    access->start[dim] = mirage__add(e, access->start[dim], mirage__mul(e, axes[i].index, chunk[i + 1]));
    if (innermost)
      narrow(access, chunk[i + 1]);
    if (chunk[i + 1] * axes[i].parts == chunk[i])
      continue;
    LLVMValueRef room = LLVMBuildSub(e->gpu.builder, gpu_i32(&e->gpu, chunk[i]), access->start[dim], "");
    limit = limit ? mirage__select(e, mirage__less(e, room, limit), room, limit) : room;
    if (innermost)
      narrow(access, chunk[i]);
  }
  if (attrs->begin[dim])
    access->start[dim] = mirage__add(e, access->start[dim], gpu_i32(&e->gpu, attrs->begin[dim]));
  if (innermost)
    narrow(access, attrs->begin[dim]);
  access->limit[dim] = limit;
  access->masked |= limit != NULL;
}

static bool is_packed(const MirageType *tensor) { return mirage_dtype_bits(tensor->dtype) < 8; }

void mirage__access_pitches(const MirageType *tensor, const MirageAccessAttrs *access, int64_t *out_pitch) {
  int64_t pitches[MIRAGE_MAX_RANK], pitch = mirage_dtype_bytes(tensor->dtype);
  for (uint32_t d = tensor->rank; d-- > 0; pitch *= tensor->shape[d])
    pitches[d] = pitch;
  for (uint32_t d = 0; d < tensor->rank; d++)
    out_pitch[d] = pitches[mirage_access_dim(access, d)];
}

uint32_t mirage__pointer_of(const Emit *e, MirageValue tensor) {
  MirageNodeView custom = mirage_ugraph_node(e->block.graph, e->block.custom);
  MirageRegionView body = mirage_ugraph_region(e->block.graph, custom.region);
  return mirage__block_resolve(&e->block, tensor).index - body.first_argument.index;
}

Access mirage__access(Emit *e, MirageNode node, MirageValue tensor, const MirageType *tile, LLVMValueRef iteration) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  const MirageAccessAttrs *attrs = &view.attrs->access;
  int32_t load = view.op == MIRAGE_OP_LOAD ? e->block.values[view.first_result.index].load : -1;
  tensor = mirage__block_resolve(&e->block, tensor);
  Access access = {.tensor = emit_type(e, tensor), .tile = tile, .base = e->tensors[tensor.index], .fill = attrs->fill};
  access.awaited = mirage__is_awaited(e, mirage__pointer_of(e, tensor));
  access.stream = load >= 0 && e->block.loads[load].once;
  uint32_t rank = access.tensor->rank;
  mirage__access_pitches(access.tensor, attrs, access.pitch);
  access.width = 128 / mirage_dtype_bits(access.tensor->dtype);
  if (!mirage_dtype_is_stored(access.tensor->dtype) && access.width > MAX_WIDTH)
    access.width = MAX_WIDTH; // predicates
  for (uint32_t d = 0; d < rank; d++) {
    Axis axes[MAX_AXES];
    split_dim(e, &access, attrs, d, axes, axes_of(e, node, attrs, d, iteration, axes));
  }
  if (rank == 0) {
    access.width = 1;
    return access;
  }
  narrow(&access, tile->shape[rank - 1]);
  if (mirage_type_elements(access.tensor) != access.tensor->shape[rank - 1])
    narrow(&access, access.tensor->shape[rank - 1]); // rows must start aligned
  return access;
}

LLVMValueRef mirage__access_address(Emit *e, const Access *access, const LLVMValueRef *index) {
  const MirageType *tensor = access->tensor;
  bool wide = mirage_type_elements(tensor) * mirage_dtype_bytes(tensor->dtype) > INT32_MAX;
  LLVMValueRef offset = wide ? gpu_i64(&e->gpu, 0) : gpu_i32(&e->gpu, 0);
  LLVMValueRef terms[MIRAGE_MAX_RANK];
  for (uint32_t d = tensor->rank; d-- > 0;) {
    LLVMValueRef position = mirage__add(e, access->start[d], index[d]);
    if (wide)
      position = LLVMBuildSExt(e->gpu.builder, position, e->gpu.i64, "");
    terms[d] = mirage__mul(e, position, access->pitch[d]);
  }
  for (uint32_t d = 0; d < tensor->rank; d++)
    offset = mirage__add(e, offset, terms[d]);
  if (is_packed(tensor))
    offset = LLVMBuildLShr(e->gpu.builder, offset, LLVMConstInt(LLVMTypeOf(offset), 1, 0), "");
  return mirage__at(e, access->base, offset);
}

LLVMValueRef mirage__access_valid(Emit *e, const Access *access, const LLVMValueRef *index) {
  LLVMValueRef valid = NULL;
  if (access->masked && mirage__gpu_fault(&e->gpu, MIRAGE_FAULT_DROP_MASK))
    return NULL;
  for (uint32_t d = 0; d < access->tensor->rank; d++)
    if (access->limit[d] && (index[d] != e->bounded || e->bound > access->least[d]))
      valid = mirage__and(e, valid, mirage__less(e, index[d], access->limit[d]));
  return valid;
}

LLVMValueRef mirage__fill_value(Emit *e, MirageDType dtype, MirageFill fill) {
  return gpu_number(&e->gpu, dtype, fill == MIRAGE_FILL_ZERO ? 0.0 : fill == MIRAGE_FILL_ONE ? 1.0 : -INFINITY);
}

// 16 or 8 bytes by the streaming form of the load, or 4 as well by the ordered one, as a vector of `type`.
static LLVMValueRef load_stream(Emit *e, LLVMTypeRef type, uint32_t words, LLVMValueRef address) {
  LLVMBuilderRef b = e->gpu.builder;
  if (words == 1)
    return LLVMBuildBitCast(b, GPU(&e->gpu, LD_GLOBAL_4_ORDERED, address), type, "");
  MiragePrimitive sixteen = e->in_order ? MIRAGE_PRIM_LD_GLOBAL_16_ORDERED : MIRAGE_PRIM_LD_GLOBAL_16_STREAM;
  MiragePrimitive eight = e->in_order ? MIRAGE_PRIM_LD_GLOBAL_8_ORDERED : MIRAGE_PRIM_LD_GLOBAL_8_STREAM;
  LLVMValueRef vector = mirage__gpu_load_words(&e->gpu, words == 4 ? sixteen : eight, words, address);
  return LLVMBuildBitCast(b, vector, type, "");
}

LLVMValueRef mirage__access_piece(Emit *e, const Access *access, LLVMValueRef address, LLVMValueRef valid,
                                  uint32_t width) {
  LLVMTypeRef scalar = mirage__gpu_dtype(&e->gpu, access->tensor->dtype);
  uint32_t count = is_packed(access->tensor) && width > 1 ? width / 2 : width;
  LLVMTypeRef type = count == 1 ? scalar : LLVMVectorType(scalar, count);
  uint32_t bytes = count * mirage_dtype_bytes(access->tensor->dtype);
  address = mirage__select(e, valid, address, access->base);
  bool wide = bytes == 16 || bytes == 8; // in a loop that streams, a block reads all but once
  if (((access->stream || e->in_order) && wide) || (e->in_order && bytes == 4))
    return load_stream(e, type, bytes / 4, address);
  MirageGlobalMode mode = access->awaited ? MIRAGE_GLOBAL_SETTLED : MIRAGE_GLOBAL_INVARIANT;
  return mirage__gpu_load_global(&e->gpu, type, address, e->in_order ? MIRAGE_GLOBAL_PLAIN : mode);
}

// The next of what the tape holds; NULL when it is not playing.
static LLVMValueRef play(Emit *e) {
  Tape *tape = e->tape;
  return tape && tape->playing && tape->next < tape->count ? mirage__get(e, tape->slots[tape->next++]) : NULL;
}

static void record(Emit *e, LLVMValueRef loaded) {
  Tape *tape = e->tape;
  if (!tape)
    return;
  if (tape->next == MAX_TAPE) {
    mirage__emit_fail(e, NULL, MIRAGE_LIMIT, "loop: a step reads more than %d pieces of device memory", MAX_TAPE);
    return;
  }
  if (tape->next == tape->count)
    tape->slots[tape->count++] = mirage__variable(e, LLVMTypeOf(loaded));
  mirage__set(e, tape->slots[tape->next++], loaded);
}

// Element `i` of a piece of half bytes, sign-extended; of a piece of one element, which half it is follows from the index.
static LLVMValueRef half_byte(Emit *e, const Access *access, const LLVMValueRef *index, LLVMValueRef loaded,
                              uint32_t width, uint32_t i) {
  LLVMBuilderRef b = e->gpu.builder;
  uint32_t last = access->tensor->rank - 1;
  LLVMValueRef four = LLVMConstInt(e->gpu.i8, 4, 0), none = LLVMConstInt(e->gpu.i8, 0, 0);
  LLVMValueRef byte = width > 2 ? LLVMBuildExtractElement(b, loaded, gpu_i32(&e->gpu, i / 2), "") : loaded;
  LLVMValueRef up = i % 2 ? none : four;
  if (width == 1) {
    LLVMValueRef odd = mirage__mod(e, mirage__add(e, access->start[last], index[last]), 2);
    up = mirage__select(e, LLVMBuildTrunc(b, odd, e->gpu.i1, ""), none, four);
  }
  return LLVMBuildAShr(b, LLVMBuildShl(b, byte, up, ""), four, "");
}

static void read_piece(Emit *e, const Access *access, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  LLVMValueRef valid = mirage__access_valid(e, access, index), loaded = play(e);
  if (!loaded)
    loaded = mirage__quad_read(e, access, index, width);
  if (!loaded) {
    loaded = mirage__access_piece(e, access, mirage__access_address(e, access, index), valid, width);
    record(e, loaded);
  }
  for (uint32_t i = 0; i < width; i++) {
    LLVMValueRef one = loaded;
    if (is_packed(access->tensor))
      one = half_byte(e, access, index, loaded, width, i);
    else if (width > 1)
      one = LLVMBuildExtractElement(e->gpu.builder, loaded, gpu_i32(&e->gpu, i), "");
    one = mirage__gpu_to_f32(&e->gpu, one, access->tensor->dtype);
    out[i] = mirage__select(e, valid, one, mirage__fill_value(e, access->tensor->dtype, access->fill));
  }
}

void mirage__access_read(Emit *e, const Access *access, const LLVMValueRef *index, uint32_t width, LLVMValueRef *out) {
  uint32_t piece = width < access->width ? width : access->width;
  for (uint32_t at = 0; at < width; at += piece) {
    LLVMValueRef here[MIRAGE_MAX_RANK];
    mirage__along_row(e, access->tensor->rank, index, at, here);
    read_piece(e, access, here, piece, out + at);
  }
}
