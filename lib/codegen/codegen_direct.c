// codegen_direct.c - loops whose weights go straight from device memory to the matrix instruction
// (lib/layout/direct.c): what weights [k, n] (codegen_columns.c) and [n, k] (codegen_rows.c) have in common.
//
// Stored weights travel as they lie in memory, and become 16-bit numbers where a fragment is put together
// (codegen_dequant.c).
//
// After:  every warp leaves its partial tiles in its own copy of the results' buffers; one barrier; the copies are
//         summed in order.
#include "stream.h"

enum { EIGHT = 8 };

LLVMValueRef *mirage__stream_variables(Emit *e, int32_t count, LLVMTypeRef type) {
  LLVMValueRef *out = mirage__emit_array(e, (size_t)count, sizeof *out);
  for (int32_t i = 0; out && i < count; i++)
    out[i] = mirage__variable(e, type);
  return out;
}

bool mirage__stream_is_scaled(const Stream *s, uint32_t group) {
  bool scaled = false;
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    scaled |= s->plan.products[p].group == group && s->plan.products[p].scale.index;
  return scaled;
}

LLVMValueRef *mirage__stream_zeros(Emit *e, int32_t count) {
  LLVMValueRef *out = mirage__stream_variables(e, count, e->gpu.f32);
  for (int32_t i = 0; e->status == MIRAGE_OK && i < count; i++)
    mirage__set(e, out[i], gpu_f32(&e->gpu, 0));
  return out;
}

void mirage__stream_index(Emit *e, const MirageType *type, LLVMValueRef group, LLVMValueRef row, LLVMValueRef column,
                          LLVMValueRef *index) {
  for (uint32_t d = 0; d + 2 < type->rank; d++)
    index[d] = gpu_i32(&e->gpu, 0);
  if (group)
    index[type->rank - 3] = group;
  index[type->rank - 2] = row;
  index[type->rank - 1] = column;
}

// --------------------------------------------------------------------------------------------------------------- fetch

// Where one product's weight begins for this lane, and what of it is valid.
typedef struct Source {
  Access access;
  LLVMValueRef address; // of row k, column `first` of the lane
  LLVMValueRef column;  // in the product
  LLVMValueRef inside;  // whether the lane's columns belong to this product; NULL = always
} Source;

static Source source_of(Emit *e, const DirectProduct *product, LLVMValueRef column, const Place *at, bool rows) {
  MirageNode load = e->block.values[product->weight.index].def;
  MirageNodeView view = mirage_ugraph_node(e->block.graph, load);
  Source source = {.access = mirage__access(e, load, view.operands[0], emit_type(e, product->weight), NULL)};
  LLVMBuilderRef b = e->gpu.builder;
  source.column = LLVMBuildSub(b, column, gpu_i32(&e->gpu, product->first_column), "");
  if (product->first_column)
    source.inside = LLVMBuildICmp(b, LLVMIntSGE, column, gpu_i32(&e->gpu, product->first_column), "");
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__stream_index(e, source.access.tile, at->group, rows ? source.column : at->k, rows ? at->k : source.column,
                       index);
  source.address = mirage__access_address(e, &source.access, index);
  return source;
}

// `at` columns on in row `r` of the lane: its address, and whether it is valid (NULL = yes).
static LLVMValueRef address_in(Emit *e, const Source *source, int r, int32_t at) {
  const MirageType *tensor = source->access.tensor;
  int64_t bytes = r * source->access.pitch[tensor->rank - 2] + at * mirage_dtype_bytes(tensor->dtype);
  bytes = mirage_dtype_bits(tensor->dtype) < 8 ? bytes / 2 : bytes;
  return mirage__at(e, source->address, gpu_i64(&e->gpu, bytes));
}

static LLVMValueRef valid_in(Emit *e, const Source *source, const Place *place, int r, int32_t at, bool rows) {
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__stream_index(e, source->access.tile, place->group,
                       mirage__add(e, rows ? source->column : place->k, gpu_i32(&e->gpu, r)),
                       mirage__add(e, rows ? place->k : source->column, gpu_i32(&e->gpu, at)), index);
  LLVMValueRef valid = mirage__access_valid(e, &source->access, index);
  return valid ? valid : LLVMConstInt(e->gpu.i1, 1, 0);
}

// Splits what was loaded into registers of two columns; single columns come in turn, `odd` the second.
static void keep_words(Emit *e, LLVMValueRef loaded, uint32_t width, bool odd, LLVMValueRef *words) {
  LLVMBuilderRef b = e->gpu.builder;
  if (width == 1) {
    LLVMTypeRef pair = LLVMVectorType(LLVMTypeOf(loaded), 2);
    LLVMValueRef before = odd ? LLVMBuildBitCast(b, mirage__get(e, words[0]), pair, "") : LLVMGetUndef(pair);
    LLVMValueRef both = LLVMBuildInsertElement(b, before, loaded, gpu_i32(&e->gpu, odd), "");
    mirage__set(e, words[0], LLVMBuildBitCast(b, both, e->gpu.i32, ""));
    return;
  }
  LLVMValueRef vector = LLVMBuildBitCast(b, loaded, LLVMVectorType(e->gpu.i32, width / 2), "");
  for (uint32_t i = 0; i < width / 2; i++)
    mirage__set(e, words[i], LLVMBuildExtractElement(b, vector, gpu_i32(&e->gpu, i), ""));
}

// A piece of less than a register, `at` columns behind the register's first.
static void keep_part(Emit *e, LLVMValueRef loaded, uint32_t bits, uint32_t shift, LLVMValueRef word) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef part = LLVMBuildBitCast(b, loaded, LLVMIntTypeInContext(e->gpu.context, bits), "");
  part = LLVMBuildShl(b, LLVMBuildZExt(b, part, e->gpu.i32, ""), gpu_i32(&e->gpu, shift), "");
  mirage__set(e, word, shift ? LLVMBuildOr(b, mirage__get(e, word), part, "") : part);
}

// The same for columns of a stored type.
static void keep_raw(Emit *e, LLVMValueRef loaded, uint32_t bits, uint32_t at_bits, LLVMValueRef *words) {
  if (bits < 32) {
    keep_part(e, loaded, bits, at_bits % 32, words[at_bits / 32]);
    return;
  }
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef vector = LLVMBuildBitCast(b, loaded, LLVMVectorType(e->gpu.i32, bits / 32), "");
  for (uint32_t i = 0; i < bits / 32; i++)
    mirage__set(e, words[at_bits / 32 + i], LLVMBuildExtractElement(b, vector, gpu_i32(&e->gpu, i), ""));
}

static LLVMValueRef fill_of(Emit *e, const Access *access, uint32_t width) {
  uint32_t bits = mirage_dtype_bits(access->tensor->dtype);
  if (mirage_dtype_is_stored(access->tensor->dtype)) // filled with zeros: lib/layout/direct.c
    return width * bits == 8 ? LLVMConstNull(e->gpu.i8) : LLVMConstNull(LLVMVectorType(e->gpu.i8, width * bits / 8));
  LLVMValueRef one =
      mirage__gpu_from_f32(&e->gpu, mirage__fill_value(e, access->tensor->dtype, access->fill), access->tensor->dtype);
  LLVMValueRef fill[MAX_WIDTH];
  for (uint32_t i = 0; i < width; i++)
    fill[i] = one;
  return width == 1 ? one : LLVMConstVector(fill, width);
}

LLVMValueRef mirage__stream_column(Emit *e, const Stream *s, const DirectGroup *g, int32_t piece) {
  LLVMValueRef column =
      mirage__add(e, mirage__mul(e, s->g, g->lane_columns), gpu_i32(&e->gpu, (int64_t)piece * 8 * g->lane_columns));
  int64_t begin = (int64_t)piece * 8 * g->lane_columns;
  if (begin + 8 * g->lane_columns > g->columns)
    column = mirage__select(e, mirage__less_than(e, column, g->columns), column, gpu_i32(&e->gpu, begin));
  return column;
}

// Later products take over from the column they begin at.
static void fetch_piece(Emit *e, Stream *s, uint32_t group, int32_t piece, const Place *place) {
  const DirectGroup *g = &s->plan.groups[group];
  bool by_row = s->plan.rows;
  LLVMValueRef column = mirage__stream_column(e, s, g, piece);
  int32_t rows = by_row ? 2 : EIGHT, lane = by_row ? s->plan.lane_k : g->lane_columns;
  Source sources[MAX_DIRECT_CARRIES];
  uint32_t count = 0;
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    if (s->plan.products[p].group == group) {
      e->gpu.op = e->block.values[s->plan.products[p].weight.index].def.index;
      sources[count++] = source_of(e, &s->plan.products[p], column, place, by_row);
    }
  Access access = sources[0].access; // what all agree on: the narrowest piece, streaming only when all stream
  for (uint32_t i = 1; i < count; i++) {
    const Access *other = &sources[i].access;
    access.width = access.width < other->width ? access.width : other->width;
    access.stream &= other->stream;
    access.masked |= other->masked;
  }
  uint32_t width = access.width < (uint32_t)lane ? access.width : (uint32_t)lane;
  for (int r = 0; r < rows; r++)
    for (int32_t at = 0; at < lane; at += (int32_t)width) {
      LLVMValueRef address = NULL, valid = NULL, fill = fill_of(e, &sources[0].access, width);
      for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef inside = i ? sources[i].inside : NULL;
        address = mirage__select(e, inside, address_in(e, &sources[i], r, at), address);
        if (access.masked)
          valid = mirage__select(e, inside, valid_in(e, &sources[i], place, r, at, by_row), valid);
        if (access.masked)
          fill = mirage__select(e, inside, fill_of(e, &sources[i].access, width), fill);
      }
      LLVMValueRef loaded = mirage__access_piece(e, &access, address, valid, width);
      LLVMValueRef *words = s->bank->words[group] + (piece * rows + r) * mirage__raw_words(g->stored, lane);
      uint32_t bits = mirage_dtype_bits(g->stored);
      loaded = mirage__select(e, valid, loaded, fill);
      if (g->stored == g->dtype && !by_row)
        keep_words(e, loaded, width, at % 2 != 0, words + at / 2);
      else
        keep_raw(e, loaded, width * bits, (uint32_t)at * bits, words);
    }
}

void mirage__stream_fetch(Emit *e, Stream *s, const Place *place) {
  for (uint32_t g = 0; g < s->plan.num_groups; g++)
    for (int32_t piece = 0; piece < s->plan.groups[g].pieces; piece++)
      fetch_piece(e, s, g, piece, place);
}

void mirage__stream_activations(Emit *e, const DirectGroup *g, LLVMValueRef group, LLVMValueRef row, LLVMValueRef k,
                                LLVMValueRef *values) {
  const MirageType *type = emit_type(e, g->activation);
  LLVMValueRef index[MIRAGE_MAX_RANK];
  for (int r = 0; g->transposed && r < EIGHT; r++) {
    mirage__stream_index(e, type, group, mirage__add(e, k, gpu_i32(&e->gpu, r)), row, index);
    values[r] = mirage__element1(e, g->activation, index);
  }
  if (!g->transposed) {
    mirage__stream_index(e, type, group, row, k, index);
    mirage__element(e, g->activation, index, EIGHT, values);
  }
}

LLVMValueRef mirage__stream_reduce(Emit *e, const DirectReduction *r, LLVMValueRef group, LLVMValueRef row,
                                   LLVMValueRef k, LLVMValueRef sum) {
  MirageOp op = mirage_ugraph_node(e->block.graph, r->node).op;
  LLVMValueRef values[EIGHT], index[MIRAGE_MAX_RANK];
  mirage__stream_index(e, emit_type(e, r->operand), group, row, k, index);
  mirage__element(e, r->operand, index, EIGHT, values);
  for (int i = 0; i < EIGHT; i++)
    sum = mirage__reduce_pair(e, op, sum, values[i]);
  return sum;
}

LLVMValueRef mirage__stream_row(Emit *e, const Stream *s, int32_t j) {
  LLVMValueRef row = mirage__add(e, s->g, gpu_i32(&e->gpu, j * 8));
  if (j * 8 + 8 <= s->plan.m)
    return row;
  return mirage__select(e, mirage__less_than(e, row, s->plan.m), row, gpu_i32(&e->gpu, 0));
}

void mirage__stream_scales(Emit *e, Stream *s, const DirectProduct *product, const Place *at, LLVMValueRef *out) {
  const DirectGroup *g = &s->plan.groups[product->group];
  if (!product->scale.index)
    return;
  const MirageType *type = emit_type(e, mirage_ugraph_node(e->block.graph, product->product).first_result);
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  for (int32_t piece = 0; piece < g->pieces; piece++)
    for (int32_t i = 0; i < 2 * s->plan.col_units; i++) {
      int32_t j = i / 2, odd = i % 2;
      if (s->plan.m <= 8 * j + odd)
        continue;
      LLVMValueRef row = mirage__add(e, mirage__mul(e, s->t, 2), gpu_i32(&e->gpu, 8 * j + odd));
      if (s->plan.m < 8 * j + 8)
        row = mirage__select(e, mirage__less_than(e, row, s->plan.m), row, gpu_i32(&e->gpu, 0));
      mirage__stream_index(e, type, at->group, row, mirage__stream_column(e, s, g, piece), index);
      mirage__element_broadcast(e, product->scale, type, index, (uint32_t)g->lane_columns, values);
      for (int32_t c = 0; out && c < g->lane_columns; c++)
        out[4 * ((piece * stream_units(g) + c / 2) * s->plan.col_units + j) + c % 2 * 2 + odd] = values[c];
    }
}

// ------------------------------------------------------------------------------------------------------------- results

static MirageValue result_of(Emit *e, const Stream *s, uint32_t carry) {
  return mirage_ugraph_result(e->block.graph, e->block.loops[s->loop].node, carry);
}

// This warp's partial product: a lane holds lane_columns neighbours of rows 8 j + 2 t and 8 j + 2 t + 1.
static void leave_product(Emit *e, Stream *s, const DirectProduct *product) {
  const DirectGroup *group = &s->plan.groups[product->group];
  const LLVMValueRef *cells = s->groups[product->group].cells;
  const MirageType *type = emit_type(e, result_of(e, s, product->carry));
  int32_t per_row = stream_units(group), width = group->lane_columns;
  for (int32_t piece = 0; piece < group->pieces; piece++) {
    int64_t begin = (int64_t)piece * 8 * width, first = product->first_column, last = first + product->columns;
    LLVMValueRef column = mirage__add(e, mirage__mul(e, s->g, width), gpu_i32(&e->gpu, begin)), mine = NULL;
    if (begin >= last || begin + (int64_t)8 * width <= first)
      continue;
    if (begin < first)
      mine = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, column, gpu_i32(&e->gpu, first), "");
    if (begin + (int64_t)8 * width > last)
      mine = mirage__and(e, mine, mirage__less_than(e, column, last));
    column = mirage__add(e, column, gpu_i32(&e->gpu, -first));
    for (int32_t i = 0; i < 2 * s->plan.col_units; i++) {
      int32_t j = i / 2, odd = i % 2;
      LLVMValueRef row = mirage__add(e, mirage__mul(e, s->t, 2), gpu_i32(&e->gpu, 8 * j + odd));
      LLVMValueRef values[MAX_WIDTH], index[MIRAGE_MAX_RANK];
      bool ragged = s->plan.m < 8 * j + 8;
      if (s->plan.m <= 8 * j + odd)
        continue;
      for (int32_t c = 0; c < width; c++)
        values[c] = mirage__get(e, cells[4 * ((piece * per_row + c / 2) * s->plan.col_units + j) + c % 2 * 2 + odd]);
      LLVMValueRef valid = ragged ? mirage__and(e, mine, mirage__less_than(e, row, s->plan.m)) : mine;
      LLVMBasicBlockRef join = mirage__begin_if(e, valid);
      mirage__stream_index(e, type, NULL, row, column, index);
      mirage__tile_store(e, type, e->warp, index, (uint32_t)width, values);
      mirage__end_if(e, join);
    }
  }
}

// This warp's partial sums: the four lanes t of a row exchange theirs, the first writes.
static void leave_reduction(Emit *e, Stream *s, uint32_t reduction) {
  const DirectReduction *r = &s->plan.reductions[reduction];
  const MirageType *type = emit_type(e, result_of(e, s, r->carry));
  MirageNodeView view = mirage_ugraph_node(e->block.graph, r->node);
  int32_t units = s->plan.prepared ? 1 : s->plan.col_units; // prepared: lane i has that of row i
  for (int32_t j = 0; j < units; j++) {
    LLVMValueRef sum = mirage__get(e, s->sums[reduction][j]), index[MIRAGE_MAX_RANK];
    sum = s->plan.prepared ? sum : mirage__reduce_lanes(e, view.op, sum, 4);
    if (view.op == MIRAGE_OP_REDUCE_MEAN)
      sum = LLVMBuildFMul(e->gpu.builder, sum, gpu_f32(&e->gpu, 1.0 / (double)s->plan.k), "");
    LLVMValueRef row = s->plan.prepared ? e->lane : mirage__add(e, s->g, gpu_i32(&e->gpu, j * 8));
    LLVMValueRef valid = s->plan.prepared ? NULL : mirage__equals(e, s->t, 0);
    if (s->plan.prepared || j * 8 + 8 > s->plan.m)
      valid = mirage__and(e, valid, mirage__less_than(e, row, s->plan.m));
    LLVMBasicBlockRef join = mirage__begin_if(e, valid);
    mirage__stream_index(e, type, NULL, row, gpu_i32(&e->gpu, 0), index);
    mirage__tile_store(e, type, e->warp, index, 1, &sum);
    mirage__end_if(e, join);
  }
}

typedef struct Combine {
  const Stream *stream;
  const MirageType *type;
  MirageValue init; // {0}: counted elsewhere
  MirageOp op;      // of two partial results
  uint32_t carry;
  bool received; // the parts are those that the side blocks left
} Combine;

static LLVMValueRef part_of(Emit *e, const Combine *c, LLVMValueRef item, const LLVMValueRef *index, int32_t i) {
  LLVMValueRef part;
  if (c->received)
    return mirage__gpu_load_global(&e->gpu, e->gpu.f32, mirage__side_slot(e, c->carry, gpu_i32(&e->gpu, i), item),
                                   MIRAGE_GLOBAL_PLAIN);
  mirage__tile_load(e, c->type, gpu_i32(&e->gpu, i), index, 1, &part);
  return part;
}

static void combine_item(Emit *e, LLVMValueRef item, void *user) {
  const Combine *c = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK], sum = NULL;
  mirage__delinearize(e, item, c->type->rank, c->type->shape, index);
  if (c->init.index) {
    mirage__broadcast_index(e, emit_type(e, c->init), c->type, index, at);
    sum = mirage__element1(e, c->init, at);
  }
  int32_t parts = c->received ? e->side_blocks : c->type->layout.stages;
  for (int32_t i = 0; i < parts; i++) {
    LLVMValueRef part = part_of(e, c, item, index, i);
    sum = sum ? mirage__binary(e, c->op, sum, part) : part;
  }
  if (c->stream->part == DIRECT_SIDE)
    mirage__gpu_store_global(&e->gpu, sum, mirage__side_slot(e, c->carry, e->side_id, item));
  else
    mirage__tile_store(e, c->type, NULL, index, 1, &sum);
}

static void combine(Emit *e, const Stream *s, uint32_t carry, MirageNode node, bool received) {
  Combine job = {.stream = s, .type = emit_type(e, result_of(e, s, carry)), .carry = carry, .received = received};
  job.op = s->view.attrs->loop.carries[carry].combine == MIRAGE_COMBINE_MAX ? MIRAGE_OP_MAX : MIRAGE_OP_ADD;
  e->gpu.op = node.index;
  if (s->part != DIRECT_SIDE) {
    job.init = mirage__block_resolve(&e->block, s->view.operands[carry]);
    mirage__will_read(e, job.init);
  }
  mirage__will_write(e, result_of(e, s, carry));
  mirage__for_items(e, mirage_type_elements(job.type), combine_item, &job);
}

static void leave_partials(Emit *e, Stream *s) {
  mirage__begin_operation(e);
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    mirage__will_write(e, result_of(e, s, s->plan.products[p].carry));
  for (uint32_t r = 0; r < s->plan.num_reductions; r++)
    mirage__will_write(e, result_of(e, s, s->plan.reductions[r].carry));
  for (uint32_t p = 0; p < s->plan.num_products; p++) {
    e->gpu.op = s->plan.products[p].node.index;
    leave_product(e, s, &s->plan.products[p]);
  }
  for (uint32_t r = 0; r < s->plan.num_reductions; r++) {
    e->gpu.op = s->plan.reductions[r].node.index;
    leave_reduction(e, s, r);
  }
}

static void leave_results(Emit *e, Stream *s) {
  if (e->tile)
    mirage__barrier(e); // until all are done with those of the tile before
  leave_partials(e, s);
  if (s->part == DIRECT_MAIN)
    mirage__side_wait(e);
  mirage__barrier(e);
  mirage__begin_operation(e);
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    combine(e, s, s->plan.products[p].carry, s->plan.products[p].node, false);
  for (uint32_t r = 0; r < s->plan.num_reductions; r++)
    combine(e, s, s->plan.reductions[r].carry, s->plan.reductions[r].node, false);
  DirectLoop side;
  if (s->part == DIRECT_MAIN && mirage__direct_loop(&e->block, s->loop, DIRECT_SIDE, &side))
    for (uint32_t p = 0; p < side.num_products; p++)
      combine(e, s, side.products[p].carry, side.products[p].node, true);
}

// An element of a tile that is read behind the loop.
static void prefetch_element(Emit *e, LLVMValueRef item, void *user) {
  const Access *access = user;
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__delinearize(e, item, access->tile->rank, access->tile->shape, index);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__access_valid(e, access, index));
  GPU(&e->gpu, PREFETCH, mirage__access_address(e, access, index));
  mirage__end_if(e, join);
}

void mirage__stream_prefetch(Emit *e, const Stream *s) {
  for (uint32_t i = 0; e->block.loops[s->loop].parent < 0 && i < e->block.num_loads; i++) {
    const BlockLoad *load = &e->block.loads[i];
    const MirageType *tile = emit_type(e, load->tile);
    int64_t elements = mirage_type_elements(tile);
    if (load->loop >= 0 || load->by != BY_READER || elements > e->threads)
      continue;
    MirageNodeView view = mirage_ugraph_node(e->block.graph, load->node);
    Access access = mirage__access(e, load->node, view.operands[0], tile, NULL);
    mirage__for_items(e, elements, prefetch_element, &access);
  }
}

void mirage__stream_reads(Emit *e, const Stream *s, bool activations, bool scales) {
  mirage__begin_operation(e);
  for (uint32_t g = 0; activations && g < s->plan.num_groups; g++)
    mirage__will_read(e, s->plan.groups[g].activation);
  for (uint32_t p = 0; scales && p < s->plan.num_products; p++)
    if (s->plan.products[p].scale.index)
      mirage__will_read(e, s->plan.products[p].scale);
  for (uint32_t r = 0; activations && r < s->plan.num_reductions; r++)
    mirage__will_read(e, s->plan.reductions[r].operand);
}

static void emit_stream(Emit *e, int32_t loop, DirectPart part, LLVMValueRef first, int64_t range) {
  MirageNode node = e->block.loops[loop].node;
  Stream s = {.part = part,
              .loop = loop,
              .range = range,
              .first = first,
              .view = mirage_ugraph_node(e->block.graph, node),
              .g = mirage__div(e, e->lane, 4),
              .t = mirage__mod(e, e->lane, 4)};
  mirage__direct_loop(&e->block, loop, part, &s.plan);
  e->loops[loop] = (LoopState){0};
  mirage__stream_reads(e, &s, true, !s.plan.prepared);
  if (!(s.plan.prepared ? mirage__row_registers(e, &s) : mirage__column_registers(e, &s)))
    return;
  if (s.plan.prepared)
    mirage__stream_rows(e, &s);
  else
    mirage__stream_columns(e, &s);
  leave_results(e, &s);
}

void mirage__emit_direct_loop(Emit *e, MirageNode node) {
  int32_t loop = mirage__block_find_loop(&e->block, node);
  const BlockLoop *l = &e->block.loops[loop];
  emit_stream(e, loop, l->side ? DIRECT_MAIN : DIRECT_WHOLE, gpu_i32(&e->gpu, 0), l->range);
}

void mirage__emit_side_loop(Emit *e, int32_t loop, LLVMValueRef first, int64_t range) {
  emit_stream(e, loop, DIRECT_SIDE, first, range);
}
