// codegen_items.c - row-wise block graphs whose tiles stay in the threads that load them (lib/layout/items.c).
//
// `across` threads share a row; thread t of them keeps columns width * (t + across * p) .. of it, for each piece p. All
// operators of the block are evaluated there, so the element function's memory of what it computed at an index
// (mirage__element) is the register file: it is kept until the rows that are in hand are done. First all of them is
// loaded, so that all of it is in flight at once.
//
// Blocks of a cluster that share rows meet row by row: the first thread of a row writes what is published to its buffer,
// and after the cluster's barrier every thread combines what all members published.
#include "items.h"

enum { MAX_WARPS = 32 };

static int64_t columns_of(const ThreadRows *items) { return items->shape.shape[items->shape.rank - 1]; }

static void begin_columns(Rows *rows) {
  Emit *e = rows->e;
  const ThreadRows *items = rows->items;
  rows->team = gpu_i32(&e->gpu, 0);
  rows->place = e->thread;
  if (items->teams > 1) {
    rows->team = mirage__div(e, e->thread, items->across);
    rows->place = mirage__mod(e, e->thread, items->across);
  }
  for (int32_t p = 0; p < items->pieces; p++) {
    LLVMValueRef item = mirage__add(e, rows->place, gpu_i32(&e->gpu, (int64_t)p * items->across));
    LLVMValueRef column = mirage__mul(e, item, items->width);
    int64_t columns = items->ahead ? (int64_t)items->windows * items->width : columns_of(items);
    if ((int64_t)(p + 1) * items->across * items->width > columns) {
      rows->inside[p] = mirage__less_than(e, column, columns);
      column = mirage__select(e, rows->inside[p], column, gpu_i32(&e->gpu, 0));
    }
    rows->column[p] = column;
  }
}

void mirage__begin_rows(Rows *rows, LLVMValueRef turn) {
  Emit *e = rows->e;
  const ThreadRows *items = rows->items;
  int64_t each = (int64_t)items->together * items->teams;
  for (int32_t r = 0; r < items->together; r++) {
    Row *row = &rows->rows[r];
    LLVMValueRef number = mirage__add(e, rows->team, gpu_i32(&e->gpu, (int64_t)r * items->teams));
    number = turn ? mirage__add(e, number, mirage__mul(e, turn, each)) : number;
    row->valid = NULL;
    if (items->rows % each) {
      row->valid = mirage__less_than(e, number, items->rows);
      number = mirage__select(e, row->valid, number, gpu_i32(&e->gpu, 0));
    }
    mirage__delinearize(e, number, items->shape.rank - 1, items->shape.shape, row->index);
  }
}

void mirage__row_index(const Rows *rows, int32_t row, int32_t piece, LLVMValueRef *index) {
  Emit *e = rows->e;
  uint32_t last = rows->items->shape.rank - 1;
  for (uint32_t d = 0; d < last; d++)
    index[d] = rows->rows[row].index[d];
  index[last] = piece == NARROW     ? gpu_i32(&e->gpu, 0)
                : rows->items->torn ? rows->begin[row][piece]
                                    : rows->column[piece];
  e->bounded = piece == NARROW || rows->items->torn ? NULL : index[last];
  e->bound = (int64_t)(piece + 1) * rows->items->across * rows->items->width;
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

// One element, or one a column.
static bool is_same_in_rows(const MirageType *type) {
  return type->rank == 0 || mirage_type_elements(type) == type->shape[type->rank - 1];
}

// A load of another shape is read where an operator that moves its elements asks for them.
static void load(Rows *rows, MirageValue value, int32_t row) {
  Emit *e = rows->e;
  const MirageType *type = emit_type(e, value);
  for (int32_t p = 0; p < (is_narrow(type) ? 1 : rows->items->pieces); p++) {
    LLVMValueRef index[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK], values[MAX_WIDTH];
    mirage__row_index(rows, row, is_narrow(type) ? NARROW : p, index);
    mirage__broadcast_index(e, type, &rows->items->shape, index, at);
    mirage__element(e, value, at, is_narrow(type) ? 1 : rows->items->width, values);
  }
}

static void load_all(Rows *rows, bool same_in_rows) {
  Emit *e = rows->e;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&e->block, &s, &view);) {
    const MirageType *type = view.op == MIRAGE_OP_LOAD ? emit_type(e, view.first_result) : NULL;
    if (!type || !has_rows(rows, type) || is_same_in_rows(type) != same_in_rows)
      continue;
    for (int32_t r = 0; r < (same_in_rows ? 1 : rows->items->together); r++)
      load(rows, view.first_result, r);
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
    uint32_t known = mirage__begin_piece(rows, view->operands[0], row, p);
    mirage__row_index(rows, row, p, index);
    mirage__element(e, view->operands[0], index, rows->items->width, values);
    mirage__end_piece(rows, known, p);
    for (uint32_t i = 0; rows->items->torn && i < rows->items->width; i++)
      values[i] =
          mirage__select(e, mirage__torn_valid(rows, row, p, i), values[i], mirage__reduce_neutral(e, view->op));
    sum = reduce_all(e, view->op, (int32_t)rows->items->width, values);
    sum = mirage__select(e, rows->items->torn ? NULL : rows->inside[p], sum, mirage__reduce_neutral(e, view->op));
    total = p ? mirage__reduce_pair(e, view->op, total, sum) : sum;
  }
  return total;
}

// Word `word` of the reduction's scratch: its result's buffer, whose copies are one word a warp and row at least.
static LLVMValueRef scratch(Emit *e, const MirageType *type, LLVMValueRef word) {
  return mirage__at(e, e->shared, mirage__add(e, mirage__mul(e, word, 4), gpu_i32(&e->gpu, type->layout.offset)));
}

// Of the warps that share a row, which lie side by side.
static LLVMValueRef over_warps(Rows *rows, MirageOp op, const MirageType *type, int32_t row) {
  Emit *e = rows->e;
  int32_t all = e->threads / 32, warps = rows->items->across / 32, wide = warps % 4 ? 1 : 4;
  LLVMTypeRef words = wide == 1 ? e->gpu.f32 : LLVMVectorType(e->gpu.f32, (unsigned)wide);
  LLVMValueRef parts[MAX_WARPS], first = mirage__mul(e, rows->team, warps);
  for (int32_t w = 0; w < warps; w += wide) {
    LLVMValueRef word = mirage__add(e, first, gpu_i32(&e->gpu, (int64_t)row * all + w));
    LLVMValueRef loaded = mirage__gpu_load_shared(&e->gpu, words, scratch(e, type, word));
    for (int32_t i = 0; i < wide; i++)
      parts[w + i] = wide == 1 ? loaded : LLVMBuildExtractElement(e->gpu.builder, loaded, gpu_i32(&e->gpu, i), "");
  }
  return reduce_all(e, op, warps, parts);
}

// Nobody overwrites what it published, or ends, while others still read it.
static void await_readers(Rows *rows) {
  if (rows->left)
    GPU0(&rows->e->gpu, CLUSTER_WAIT);
  rows->left = false;
}

static void exchange(Rows *rows, const MirageNodeView *view, LLVMValueRef *totals) {
  Emit *e = rows->e;
  const MirageType *type = emit_type(e, view->first_result);
  await_readers(rows);
  mirage__begin_operation(e);
  mirage__will_write(e, view->first_result);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__equals(e, e->lane, 0));
  for (int32_t r = 0; r < rows->items->together; r++) {
    LLVMValueRef word = mirage__add(e, e->warp, gpu_i32(&e->gpu, (int64_t)r * (e->threads / 32)));
    mirage__gpu_store_shared(&e->gpu, totals[r], scratch(e, type, word));
  }
  mirage__end_if(e, join);
  mirage__barrier(e);
  mirage__begin_operation(e);
  mirage__will_read_buffer(e, view->first_result);
  for (int32_t r = 0; r < rows->items->together; r++)
    totals[r] = over_warps(rows, view->op, type, r);
}

static void reduce(Rows *rows, const MirageNodeView *view) {
  Emit *e = rows->e;
  LLVMValueRef totals[MAX_TOGETHER];
  int32_t lanes = rows->items->across < 32 ? rows->items->across : 32;
  for (int32_t r = 0; r < rows->items->together; r++)
    totals[r] = mirage__reduce_lanes(e, view->op, over_pieces(rows, view, r), lanes);
  if (rows->items->across > 32)
    exchange(rows, view, totals);
  for (int32_t r = 0; r < rows->items->together; r++) {
    LLVMValueRef index[MIRAGE_MAX_RANK];
    if (view->op == MIRAGE_OP_REDUCE_MEAN)
      totals[r] = LLVMBuildFMul(e->gpu.builder, totals[r], gpu_f32(&e->gpu, 1.0 / (double)columns_of(rows->items)), "");
    mirage__row_index(rows, r, NARROW, index);
    mirage__remember_element(e, view->first_result, index, 1, &totals[r]);
  }
}

// ------------------------------------------------------------------------------------------------------------ clusters

static void publish(Rows *rows, MirageValue leaf) {
  Emit *e = rows->e;
  const MirageType *type = emit_type(e, leaf);
  for (int32_t r = 0; r < rows->items->together; r++) {
    LLVMValueRef index[MIRAGE_MAX_RANK], value;
    mirage__row_index(rows, r, NARROW, index);
    mirage__element_unwritten(e, leaf, index, 1, &value);
    LLVMValueRef first = mirage__and(e, mirage__equals(e, rows->place, 0), rows->rows[r].valid);
    LLVMBasicBlockRef join = mirage__begin_if(e, first);
    mirage__tile_store(e, type, NULL, index, 1, &value);
    mirage__end_if(e, join);
  }
}

// At the last collective of a meeting; what it gives is known to all threads of a row from then on. Having read it they
// arrive at once.
static void meet(Rows *rows, MirageNode node, const MirageNodeView *view) {
  Emit *e = rows->e;
  const BlockMeeting *meeting = mirage__block_meeting_of(&e->block, view->first_result);
  if (e->block.steps[meeting->step].node.index != node.index)
    return;
  uint32_t count = 0;
  LLVMValueRef *all = mirage__emit_array(e, (size_t)meeting->num_values * (size_t)rows->items->together, sizeof *all);
  if (!all)
    return;
  await_readers(rows);
  mirage__barrier(e); // the buffers of reductions held the parts of warps
  for (uint32_t i = 0; i < meeting->num_leaves; i++)
    publish(rows, meeting->leaves[i]);
  mirage__cluster_barrier(e);
  for (uint32_t i = 0; i < meeting->num_values; i++)
    for (int32_t r = 0; r < rows->items->together; r++) {
      LLVMValueRef index[MIRAGE_MAX_RANK];
      mirage__row_index(rows, r, NARROW, index);
      if (mirage_op_info(mirage__block_op(&e->block, meeting->values[i]))->kind == MIRAGE_KIND_COLLECTIVE)
        mirage__element(e, meeting->values[i], index, 1, &all[count++]);
    }
  mirage__await_values(e, count, all);
  GPU0(&e->gpu, FENCE_CLUSTER_SHARED);
  GPU0(&e->gpu, CLUSTER_ARRIVE_RELAXED);
  rows->left = true;
}

// --------------------------------------------------------------------------------------------------------------- store

// What blocks hold alike is one element a row (lib/layout/items.c), which the first of them stores.
static LLVMValueRef stores_narrow(const Rows *rows, const MirageNodeView *view) {
  Emit *e = rows->e;
  LLVMValueRef first = mirage__equals(e, rows->place, 0);
  for (int a = 0; a < 3; a++)
    if (view->attrs->access.grid[a] < 0 && mirage__block_custom(&e->block)->grid[a] > 1)
      first = mirage__and(e, first, mirage__equals(e, e->block_id[a], 0));
  return first;
}

static void store_row(Rows *rows, const MirageNodeView *view, const Access *access, int32_t row, int32_t piece) {
  Emit *e = rows->e;
  bool narrow = is_narrow(access->tile);
  uint32_t width = narrow ? 1 : rows->items->width, step = access->width < width ? access->width : width;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH], *last = &index[access->tile->rank - 1];
  mirage__row_index(rows, row, narrow ? NARROW : piece, index);
  mirage__element(e, view->operands[0], index, width, values);
  LLVMValueRef mine = narrow ? stores_narrow(rows, view) : rows->inside[piece], begin = *last;
  mine = mirage__and(e, mine, rows->rows[row].valid);
  for (uint32_t at = 0; at < width; at += step) {
    *last = mirage__add(e, begin, gpu_i32(&e->gpu, at));
    LLVMBasicBlockRef join = mirage__begin_if(e, mirage__and(e, mine, mirage__access_valid(e, access, index)));
    mirage__gpu_store_global(&e->gpu, mirage__pack(e, values + at, step, access->tensor->dtype),
                             mirage__access_address(e, access, index));
    mirage__end_if(e, join);
  }
}

static void store(Rows *rows, MirageNode node, const MirageNodeView *view) {
  const MirageType *tile = emit_type(rows->e, view->operands[0]);
  Access access = mirage__access(rows->e, node, view->operands[1], tile, NULL);
  bool narrow = is_narrow(tile);
  for (int32_t r = 0; r < rows->items->together; r++)
    for (int32_t p = 0; p < (narrow ? 1 : rows->items->pieces); p++) {
      uint32_t known = narrow ? rows->e->num_memo : mirage__begin_piece(rows, view->operands[0], r, p);
      if (rows->items->torn && !narrow)
        mirage__store_torn(rows, view, &access, r, p);
      else
        store_row(rows, view, &access, r, p);
      mirage__end_piece(rows, known, p);
    }
}

// --------------------------------------------------------------------------------------------------------------- turns

void mirage__finish_rows(Rows *rows) {
  Emit *e = rows->e;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&e->block, &s, &view) && e->status == MIRAGE_OK;) {
    MirageNode node = e->block.steps[s].node;
    MirageOpKind kind = mirage_op_info(view.op)->kind;
    e->gpu.op = node.index;
    if (view.op == MIRAGE_OP_STORE)
      store(rows, node, &view);
    else if (kind == MIRAGE_KIND_REDUCE)
      reduce(rows, &view);
    else if (kind == MIRAGE_KIND_COLLECTIVE)
      meet(rows, node, &view);
  }
  await_readers(rows);
}

static void take_turns(Rows *rows, int64_t turns) {
  Emit *e = rows->e;
  uint32_t known = e->num_memo;
  Repeat repeat = mirage__begin_repeat(e, turns);
  mirage__begin_rows(rows, repeat.index);
  load_all(rows, false);
  mirage__finish_rows(rows);
  if (rows->items->across > 32)
    mirage__barrier(e); // before the next rows' parts
  mirage__end_repeat(e, &repeat);
  e->num_memo = known;
}

static void take_rows(Rows *rows, int64_t turns) {
  mirage__begin_rows(rows, NULL);
  if (turns == 1)
    load_all(rows, false);
  if (!rows->items->late)
    load_all(rows, true);
  if (turns == 1)
    mirage__finish_rows(rows);
  else
    take_turns(rows, turns);
}

void mirage__emit_items(Emit *e) {
  Rows rows = {.e = e, .items = &e->block.items};
  int64_t each = (int64_t)rows.items->together * rows.items->teams, turns = (rows.items->rows + each - 1) / each;
  begin_columns(&rows);
  e->keep_elements = true;
  if (rows.items->ahead)
    mirage__emit_rows_ahead(&rows, turns);
  else
    take_rows(&rows, turns);
  e->bounded = NULL;
  e->keep_elements = false;
  mirage__forget_elements(e);
}
