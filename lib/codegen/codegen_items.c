// codegen_items.c - row-wise block graphs whose tiles stay in the threads that load them (lib/layout/items.c).
//
// Thread t keeps columns width * (t + threads * p) .. of every row, for each piece p. All operators of the block are
// evaluated there, so the element function's memory of what it computed at an index (mirage__element) is the register
// file: it is kept for the whole block. First everything is loaded, so that all of it is in flight at once.
#include "emit.h"

enum { MAX_PIECES = 32, MAX_WARPS = 32 };

typedef struct Rows {
  Emit *e;
  const ThreadRows *items;
  LLVMValueRef column[MAX_PIECES]; // of each piece; 0 where that lies beyond the row
  LLVMValueRef valid[MAX_PIECES];  // NULL = always
} Rows;

static Rows begin_rows(Emit *e) {
  Rows rows = {.e = e, .items = &e->block.items};
  const ThreadRows *items = rows.items;
  int64_t columns = items->shape.shape[items->shape.rank - 1];
  for (int32_t p = 0; p < items->pieces; p++) {
    LLVMValueRef item = mirage__add(e, e->thread, gpu_i32(&e->gpu, (int64_t)p * e->threads));
    LLVMValueRef column = mirage__mul(e, item, items->width);
    if ((int64_t)(p + 1) * e->threads * items->width > columns) {
      rows.valid[p] = mirage__less_than(e, column, columns);
      column = mirage__select(e, rows.valid[p], column, gpu_i32(&e->gpu, 0));
    }
    rows.column[p] = column;
  }
  return rows;
}

// Index of (row, column) in a tile of the common shape; column NULL = 0.
static void index_of(const Rows *rows, int32_t row, LLVMValueRef column, LLVMValueRef *index) {
  const MirageType *shape = &rows->items->shape;
  int64_t rest = row;
  for (uint32_t d = shape->rank - 1; d-- > 0; rest /= shape->shape[d])
    index[d] = gpu_i32(&rows->e->gpu, rest % shape->shape[d]);
  index[shape->rank - 1] = column ? column : gpu_i32(&rows->e->gpu, 0);
}

static bool is_narrow(const MirageType *type) { return type->rank == 0 || type->shape[type->rank - 1] == 1; }

// Whether the tile broadcasts to the common shape.
static bool has_rows(const Rows *rows, const MirageType *type) {
  const MirageType *shape = &rows->items->shape;
  for (uint32_t i = 1; i <= type->rank; i++) {
    int64_t extent = type->shape[type->rank - i];
    if (extent != 1 && (i > shape->rank || extent != shape->shape[shape->rank - i]))
      return false;
  }
  return true;
}

// A load of another shape is read where an operator that moves its elements asks for them.
static void prefetch(Rows *rows, MirageValue load) {
  Emit *e = rows->e;
  const MirageType *type = emit_type(e, load);
  if (!has_rows(rows, type))
    return;
  for (int32_t r = 0; r < rows->items->rows; r++)
    for (int32_t p = 0; p < (is_narrow(type) ? 1 : rows->items->pieces); p++) {
      LLVMValueRef index[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK], values[MAX_WIDTH];
      index_of(rows, r, is_narrow(type) ? NULL : rows->column[p], index);
      mirage__broadcast_index(e, type, &rows->items->shape, index, at);
      mirage__element(e, load, at, is_narrow(type) ? 1 : rows->items->width, values);
    }
}

// ---------------------------------------------------------------------------------------------------------- reductions

// In a tree, whose chain of waiting is short.
static LLVMValueRef reduce_all(Emit *e, MirageOp op, int32_t count, LLVMValueRef *values) {
  for (; count > 1; count = (count + 1) / 2)
    for (int32_t i = 0; i < count / 2; i++)
      values[i] = mirage__reduce_pair(e, op, values[i], values[count - 1 - i]);
  return values[0];
}

static LLVMValueRef over_pieces(Rows *rows, const MirageNodeView *view, int32_t row) {
  Emit *e = rows->e;
  LLVMValueRef total = mirage__reduce_neutral(e, view->op);
  for (int32_t p = 0; p < rows->items->pieces; p++) {
    LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH], sum;
    index_of(rows, row, rows->column[p], index);
    mirage__element(e, view->operands[0], index, rows->items->width, values);
    sum = reduce_all(e, view->op, (int32_t)rows->items->width, values);
    sum = mirage__select(e, rows->valid[p], sum, mirage__reduce_neutral(e, view->op));
    total = p ? mirage__reduce_pair(e, view->op, total, sum) : sum;
  }
  return total;
}

// Word `word` of the reduction's scratch: its result's buffer, whose copies are one word a warp and row at least.
static LLVMValueRef scratch(Emit *e, const MirageType *type, LLVMValueRef word) {
  return mirage__at(e, e->shared, mirage__add(e, mirage__mul(e, word, 4), gpu_i32(&e->gpu, type->layout.offset)));
}

static LLVMValueRef over_warps(Emit *e, MirageOp op, const MirageType *type, int32_t row) {
  int32_t warps = e->threads / 32, wide = warps % 4 ? 1 : 4;
  LLVMTypeRef words = wide == 1 ? e->gpu.f32 : LLVMVectorType(e->gpu.f32, (unsigned)wide);
  LLVMValueRef parts[MAX_WARPS];
  for (int32_t w = 0; w < warps; w += wide) {
    LLVMValueRef loaded =
        mirage__gpu_load_shared(&e->gpu, words, scratch(e, type, gpu_i32(&e->gpu, (int64_t)row * warps + w)));
    for (int32_t i = 0; i < wide; i++)
      parts[w + i] = wide == 1 ? loaded : LLVMBuildExtractElement(e->gpu.builder, loaded, gpu_i32(&e->gpu, i), "");
  }
  return reduce_all(e, op, warps, parts);
}

static void reduce(Rows *rows, const MirageNodeView *view) {
  Emit *e = rows->e;
  const MirageType *type = emit_type(e, view->first_result);
  LLVMValueRef totals[MAX_PIECES];
  for (int32_t r = 0; r < rows->items->rows; r++)
    totals[r] = mirage__reduce_lanes(e, view->op, over_pieces(rows, view, r), 32);
  if (e->threads / 32 > 1) {
    mirage__begin_operation(e);
    mirage__will_write(e, view->first_result);
    LLVMValueRef first = mirage__equals(e, e->lane, 0);
    LLVMBasicBlockRef join = mirage__begin_if(e, first);
    for (int32_t r = 0; r < rows->items->rows; r++) {
      LLVMValueRef word = mirage__add(e, e->warp, gpu_i32(&e->gpu, (int64_t)r * (e->threads / 32)));
      mirage__gpu_store_shared(&e->gpu, totals[r], scratch(e, type, word));
    }
    mirage__end_if(e, join);
    mirage__barrier(e);
    mirage__begin_operation(e);
    mirage__will_read_buffer(e, view->first_result);
    for (int32_t r = 0; r < rows->items->rows; r++)
      totals[r] = over_warps(e, view->op, type, r);
  }
  int64_t columns = rows->items->shape.shape[rows->items->shape.rank - 1];
  for (int32_t r = 0; r < rows->items->rows; r++) {
    LLVMValueRef index[MIRAGE_MAX_RANK];
    if (view->op == MIRAGE_OP_REDUCE_MEAN)
      totals[r] = LLVMBuildFMul(e->gpu.builder, totals[r], gpu_f32(&e->gpu, 1.0 / (double)columns), "");
    index_of(rows, r, NULL, index);
    mirage__remember_element(e, view->first_result, index, 1, &totals[r]);
  }
}

// --------------------------------------------------------------------------------------------------------------- store

static void store_row(Rows *rows, const MirageNodeView *view, const Access *access, int32_t row, int32_t piece) {
  Emit *e = rows->e;
  bool narrow = is_narrow(access->tile);
  uint32_t width = narrow ? 1 : rows->items->width, step = access->width < width ? access->width : width;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH], *last = &index[access->tile->rank - 1];
  index_of(rows, row, narrow ? NULL : rows->column[piece], index);
  mirage__element(e, view->operands[0], index, width, values);
  LLVMValueRef first = mirage__equals(e, e->thread, 0), begin = *last;
  for (uint32_t at = 0; at < width; at += step) {
    *last = mirage__add(e, begin, gpu_i32(&e->gpu, at));
    LLVMValueRef valid = mirage__and(e, narrow ? first : rows->valid[piece], mirage__access_valid(e, access, index));
    LLVMBasicBlockRef join = mirage__begin_if(e, valid);
    mirage__gpu_store_global(&e->gpu, mirage__pack(e, values + at, step, access->tensor->dtype),
                             mirage__access_address(e, access, index));
    mirage__end_if(e, join);
  }
}

static void store(Rows *rows, MirageNode node, const MirageNodeView *view) {
  const MirageType *tile = emit_type(rows->e, view->operands[0]);
  Access access = mirage__access(rows->e, node, view->operands[1], tile, NULL);
  for (int32_t r = 0; r < rows->items->rows; r++)
    for (int32_t p = 0; p < (is_narrow(tile) ? 1 : rows->items->pieces); p++)
      store_row(rows, view, &access, r, p);
}

void mirage__emit_items(Emit *e) {
  Rows rows = begin_rows(e);
  e->keep_elements = true;
  for (int pass = 0; pass < 2; pass++)
    for (int32_t s = 0; s < e->block.num_steps && e->status == MIRAGE_OK; s++) {
      MirageNode node = e->block.steps[s].node;
      MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
      e->gpu.op = node.index;
      if (pass == 0 && view.op == MIRAGE_OP_LOAD)
        prefetch(&rows, view.first_result);
      else if (pass == 1 && view.op == MIRAGE_OP_STORE)
        store(&rows, node, &view);
      else if (pass == 1 && mirage_op_info(view.op)->kind == MIRAGE_KIND_REDUCE)
        reduce(&rows, &view);
    }
  e->keep_elements = false;
  mirage__forget_elements(e);
}
