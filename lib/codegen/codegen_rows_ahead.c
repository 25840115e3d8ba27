// codegen_rows_ahead.c - long rows whose next turns wait in shared memory (lib/layout/rows_ahead.c).
//
// A turn's rows lie there as they do in device memory, window of 16 bytes by window, one tensor after the other. Thread t copies
// windows t, t + across, .. of each row and reads the same ones: all that stands between is that its own copies are done.
//
//     turn 0   turn 1   turn 2 ...        copies of turn t + ahead - 1 are issued when turn t - 1 is done with their slot
//
// Of rows that begin anywhere, a window's first element is column `width * window - shift` of its row, which may lie before or behind
// the tile's: such elements are read, computed, and left out of what is reduced. Elements of the tile that the tensor does not have hold the
// load's fill, count where the tile is reduced, and are not stored. What is the same in all rows lies elsewhere in its windows for each
// row: a piece of it is cut out of two, which are read from device memory two pieces ahead of that.
#include "items.h"

static int64_t row_bytes(const ThreadRows *items) { return (int64_t)items->windows * ROW_WINDOW; }

static LLVMValueRef window_of(const Rows *rows, int32_t piece) {
  return mirage__add(rows->e, rows->place, gpu_i32(&rows->e->gpu, (int64_t)piece * rows->items->across));
}

// Where the window lies in the slot: behind `before` other rows.
static LLVMValueRef waiting_at(const Rows *rows, LLVMValueRef slot, int64_t before, int32_t piece) {
  Emit *e = rows->e;
  const ThreadRows *items = rows->items;
  LLVMValueRef at = mirage__mul(e, window_of(rows, piece), ROW_WINDOW);
  at = mirage__add(e, at, mirage__mul(e, slot, row_bytes(items) * items->tensors * items->together));
  at = mirage__add(e, at, gpu_i32(&e->gpu, mirage__block_waiting_offset(&e->block) + before * row_bytes(items)));
  return mirage__at(e, e->shared, at);
}

// Columns of the tile that the tensor has.
static Columns columns_of(Emit *e, const Access *access) {
  uint32_t last = access->tensor->rank - 1;
  int64_t columns = access->tile->shape[last];
  LLVMValueRef limit = access->limit[last], all = gpu_i32(&e->gpu, columns);
  return (Columns){
      .count = limit ? mirage__select(e, mirage__less(e, limit, all), limit, all) : all,
      .least = limit && access->least[last] < columns ? access->least[last] : columns,
  };
}

static Columns columns_of_tile(const Rows *rows) {
  const MirageType *shape = &rows->items->shape;
  int64_t columns = shape->shape[shape->rank - 1];
  return (Columns){gpu_i32(&rows->e->gpu, columns), columns};
}

/// Where a row begins: the first address that is the block's, how many elements before it the first window begins, and whether
/// the tensor has such a row; NULL = always.
typedef struct Begin {
  LLVMValueRef address, shift, valid;
} Begin;

static Begin begin_of(const Rows *rows, const Access *access, int32_t row) {
  Emit *e = rows->e;
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__row_index(rows, row, NARROW, index);
  Begin begin = {mirage__access_address(e, access, index), gpu_i32(&e->gpu, 0), mirage__access_valid(e, access, index)};
  if (rows->items->torn) {
    LLVMValueRef low = LLVMBuildPtrToInt(e->gpu.builder, begin.address, e->gpu.i64, "");
    low = LLVMBuildTrunc(e->gpu.builder, low, e->gpu.i32, "");
    low = LLVMBuildAnd(e->gpu.builder, low, gpu_i32(&e->gpu, ROW_WINDOW - 1), "");
    begin.shift = mirage__div(e, low, ROW_WINDOW / rows->items->width);
  }
  return begin;
}

static LLVMValueRef first_column(const Rows *rows, int32_t piece, LLVMValueRef shift) {
  Emit *e = rows->e;
  return LLVMBuildSub(e->gpu.builder, mirage__mul(e, window_of(rows, piece), rows->items->width), shift, "");
}

static bool all_begin_inside(const Rows *rows, int32_t piece) {
  const ThreadRows *items = rows->items;
  return items->width * ((int64_t)(piece + 1) * items->across - 1) < rows->has.least;
}

// Whether a window of a row, from that column on, holds elements of the tile that the tensor has; NULL = always. No other is copied, or read.
static LLVMValueRef begins_inside(const Rows *rows, int32_t piece, LLVMValueRef column, LLVMValueRef row_valid) {
  LLVMValueRef some = all_begin_inside(rows, piece) ? NULL : mirage__less(rows->e, column, rows->has.count);
  return mirage__and(rows->e, row_valid, some);
}

static void copy_window(const Rows *rows, const Access *access, const Begin *begin, LLVMValueRef to, int32_t piece) {
  Emit *e = rows->e;
  const ThreadRows *items = rows->items;
  int64_t bytes = ROW_WINDOW / items->width, all = mirage_type_bytes(access->tensor);
  LLVMValueRef column = first_column(rows, piece, begin->shift);
  LLVMBasicBlockRef join = mirage__begin_if(e, begins_inside(rows, piece, column, begin->valid));
  LLVMValueRef from = mirage__at(e, begin->address, LLVMBuildMul(e->gpu.builder, column, gpu_i32(&e->gpu, bytes), ""));
  if (all % ROW_WINDOW == 0) {
    GPU(&e->gpu, CP_ASYNC_16, to, from);
  } else { // the tensor may end within the window
    LLVMValueRef end = mirage__at(e, access->base, gpu_i64(&e->gpu, all));
    LLVMValueRef left = LLVMBuildSub(e->gpu.builder, LLVMBuildPtrToInt(e->gpu.builder, end, e->gpu.i64, ""),
                                     LLVMBuildPtrToInt(e->gpu.builder, from, e->gpu.i64, ""), "");
    LLVMValueRef whole = mirage__less(e, gpu_i64(&e->gpu, ROW_WINDOW - 1), left);
    left = LLVMBuildTrunc(e->gpu.builder, left, e->gpu.i32, "");
    GPU(&e->gpu, CP_ASYNC_16_FILL, to, from, mirage__select(e, whole, gpu_i32(&e->gpu, ROW_WINDOW), left));
  }
  mirage__end_if(e, join);
}

// Issues the copies of a turn's rows, whatever rows are in hand.
static void copy_rows(const Rows *rows, LLVMValueRef turn) {
  Emit *e = rows->e;
  Rows coming = *rows;
  MirageNodeView view;
  int32_t copied = 0;
  mirage__begin_rows(&coming, turn);
  LLVMValueRef slot = mirage__mod(e, turn, rows->items->ahead);
  for (int32_t s = -1; mirage__block_next(&e->block, &s, &view);) {
    MirageNode node = e->block.steps[s].node;
    if (mirage__waiting_tensor(&e->block, node) != copied)
      continue;
    uint32_t around = e->gpu.op;
    e->gpu.op = node.index;
    Access access = mirage__access(e, node, view.operands[0], emit_type(e, view.first_result), NULL);
    coming.has = columns_of(e, &access);
    for (int32_t r = 0; r < rows->items->together; r++) {
      Begin begin = begin_of(&coming, &access, r);
      for (int32_t p = 0; p < rows->items->pieces; p++)
        copy_window(&coming, &access, &begin, waiting_at(rows, slot, r * rows->items->tensors + copied, p), p);
    }
    e->gpu.op = around;
    copied++;
  }
}

// ------------------------------------------------------------------------------------------------------- rows in hand

// The columns of each row and piece, and which of them the tensors have.
static void place_columns(Rows *rows) {
  Emit *e = rows->e;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&e->block, &s, &view);) {
    MirageNode node = e->block.steps[s].node;
    if (mirage__waiting_tensor(&e->block, node) < 0)
      continue;
    Access access = mirage__access(e, node, view.operands[0], emit_type(e, view.first_result), NULL);
    rows->has = columns_of(e, &access);
    for (int32_t r = 0; r < rows->items->together; r++) {
      Begin begin = begin_of(rows, &access, r);
      rows->present[r] = begin.valid;
      for (int32_t p = 0; p < rows->items->pieces; p++)
        rows->begin[r][p] = first_column(rows, p, begin.shift);
    }
    return;
  }
}

// Whether an element of a piece lies before the end of these columns; NULL = always.
static LLVMValueRef ends_behind(const Rows *rows, Columns columns, int32_t row, int32_t piece, uint32_t element) {
  Emit *e = rows->e;
  const ThreadRows *items = rows->items;
  if ((int64_t)items->width * ((int64_t)(piece + 1) * items->across - 1) + element < columns.least)
    return NULL;
  return mirage__less(e, mirage__add(e, rows->begin[row][piece], gpu_i32(&e->gpu, element)), columns.count);
}

// Whether an element of a piece is one of these columns; NULL = always.
static LLVMValueRef is_among(const Rows *rows, Columns columns, int32_t row, int32_t piece, uint32_t element) {
  Emit *e = rows->e;
  LLVMValueRef column = mirage__add(e, rows->begin[row][piece], gpu_i32(&e->gpu, element)), valid = NULL;
  if (piece == 0 && element + 1 < rows->items->width)
    valid = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, column, gpu_i32(&e->gpu, 0), "");
  return mirage__and(e, valid, ends_behind(rows, columns, row, piece, element));
}

LLVMValueRef mirage__torn_valid(const Rows *rows, int32_t row, int32_t piece, uint32_t element) {
  return is_among(rows, columns_of_tile(rows), row, piece, element);
}

// The load's fill where the tensor ends before the tile.
static void fill_behind(const Rows *rows, Columns has, LLVMValueRef fill, int32_t row, int32_t piece,
                        LLVMValueRef *values) {
  bool all = has.least == columns_of_tile(rows).least;
  for (uint32_t i = 0; !all && i < rows->items->width; i++)
    values[i] = mirage__select(rows->e, ends_behind(rows, has, row, piece, i), values[i], fill);
}

// --------------------------------------------------------------------------------------- what is the same in all rows

enum { WORDS = ROW_WINDOW / 4 };

static LLVMValueRef word_at(Emit *e, const LLVMValueRef windows[2], uint32_t word) {
  return LLVMBuildExtractElement(e->gpu.builder, windows[word / WORDS], gpu_i32(&e->gpu, word % WORDS), "");
}

// The 16 bytes that begin `low` bytes, an even number, behind the beginning of two windows side by side.
static LLVMValueRef cut_windows(Emit *e, const LLVMValueRef windows[2], LLVMValueRef low) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef words[2 * WORDS], out = LLVMGetUndef(LLVMVectorType(e->gpu.i32, WORDS));
  for (uint32_t i = 0; i < 2 * WORDS; i++)
    words[i] = word_at(e, windows, i);
  for (uint32_t by = WORDS / 2; by > 0; by /= 2) {
    LLVMValueRef moved = LLVMBuildAnd(b, low, gpu_i32(&e->gpu, (int64_t)by * 4), "");
    moved = LLVMBuildICmp(b, LLVMIntNE, moved, gpu_i32(&e->gpu, 0), "");
    for (uint32_t i = 0; i + by < 2 * WORDS; i++)
      words[i] = mirage__select(e, moved, words[i + by], words[i]);
  }
  LLVMValueRef half =
      LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, low, gpu_i32(&e->gpu, 2), ""), gpu_i32(&e->gpu, 0), "");
  LLVMValueRef bytes = mirage__select(e, half, gpu_i32(&e->gpu, 0x5432), gpu_i32(&e->gpu, 0x3210));
  for (uint32_t i = 0; i < WORDS; i++) {
    LLVMValueRef word = GPU(&e->gpu, BYTE_PERMUTE, words[i], words[i + 1], bytes);
    out = LLVMBuildInsertElement(b, out, word, gpu_i32(&e->gpu, i), "");
  }
  return out;
}

static void one_by_one(Rows *rows, MirageValue value, LLVMValueRef *at, int32_t row, int32_t piece,
                       LLVMValueRef *values) {
  Emit *e = rows->e;
  uint32_t last = emit_type(e, value)->rank - 1;
  LLVMValueRef begin = at[last];
  for (uint32_t i = 0; i < rows->items->width; i++) {
    at[last] = mirage__select(e, mirage__torn_valid(rows, row, piece, i), mirage__add(e, begin, gpu_i32(&e->gpu, i)),
                              gpu_i32(&e->gpu, 0));
    mirage__element(e, value, at, 1, values + i);
  }
  at[last] = begin;
}

// Index in a tensor that is the same in all rows.
static void index_of(const Rows *rows, MirageValue value, int32_t row, int32_t piece, LLVMValueRef *at) {
  LLVMValueRef index[MIRAGE_MAX_RANK];
  mirage__row_index(rows, row, piece, index);
  mirage__broadcast_index(rows->e, emit_type(rows->e, value), &rows->items->shape, index, at);
}

// Whether the tensor has both windows of a piece, whichever thread's; but for the first, which may lie before it.
static bool has_windows(const Rows *rows, const Access *access, int32_t piece) {
  const ThreadRows *items = rows->items;
  return items->width * ((int64_t)(piece + 1) * items->across + 1) <= columns_of(rows->e, access).least;
}

// Reads the windows that hold a piece. In place of one that the tensor does not have, another.
static SameWindows read_windows(const Rows *rows, MirageValue value, const Access *access, int32_t row, int32_t piece) {
  Emit *e = rows->e;
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef at[MIRAGE_MAX_RANK], none = gpu_i32(&e->gpu, 0);
  uint32_t last = access->tile->rank - 1;
  int64_t bytes = mirage_type_bytes(access->tensor), behind = bytes / ROW_WINDOW * ROW_WINDOW - ROW_WINDOW;
  index_of(rows, value, row, piece, at);
  LLVMValueRef column = mirage__add(e, access->start[last], at[last]);
  LLVMValueRef offset = mirage__mul(e, column, mirage_dtype_bytes(access->tile->dtype));
  SameWindows read = {.row = row, .piece = piece};
  read.low = LLVMBuildAnd(b, offset, gpu_i32(&e->gpu, ROW_WINDOW - 1), "");
  LLVMValueRef first = LLVMBuildSub(b, offset, read.low, "");
  bool all = has_windows(rows, access, piece);
  read.fits = all ? NULL : mirage__less_than(e, first, bytes - 2 * ROW_WINDOW + 1);
  for (int32_t i = 0; i < 2; i++) {
    LLVMValueRef from = mirage__add(e, first, gpu_i32(&e->gpu, (int64_t)i * ROW_WINDOW));
    if (!all)
      from = mirage__select(e, mirage__less_than(e, from, behind), from, gpu_i32(&e->gpu, behind));
    if (piece == 0)
      from = mirage__select(e, mirage__less(e, from, none), none, from);
    read.windows[i] = mirage__gpu_load_words(&e->gpu, MIRAGE_PRIM_LD_GLOBAL_16_ORDERED_CACHED, WORDS,
                                             mirage__at(e, access->base, from));
  }
  return read;
}

static Access access_of(const Rows *rows, MirageValue value) {
  Emit *e = rows->e;
  MirageNode node = e->block.values[value.index].def;
  return mirage__access(e, node, mirage_ugraph_node(e->block.graph, node).operands[0], emit_type(e, value), NULL);
}

// Whether two windows hold a piece of a tensor, which is the same in all rows.
static bool is_cut(const Rows *rows, const Access *access) {
  return mirage__row_bytes(access->tile) * rows->items->width == ROW_WINDOW &&
         mirage_type_bytes(access->tensor) >= 2 * ROW_WINDOW;
}

static bool is_known(const Rows *rows, MirageValue value, int32_t row, int32_t piece) {
  LLVMValueRef at[MIRAGE_MAX_RANK];
  index_of(rows, value, row, piece, at);
  return mirage__is_remembered(rows->e, value, at, rows->items->width);
}

static SameWindows *slot_of(Rows *rows, MirageValue value, int32_t piece) {
  const Block *block = &rows->e->block;
  uint32_t load = 0;
  while (block->loads[load].node.index != block->values[value.index].def.index)
    load++;
  return &rows->same[load][piece % (PIECES_AHEAD + 1)];
}

// Reads the windows of a piece and of those to come, but for what was read before it. Says whether there were any.
static bool read_ahead(Rows *rows, MirageValue value, int32_t row, int32_t piece) {
  Access access = access_of(rows, value);
  bool read = false;
  for (int32_t p = piece; is_cut(rows, &access) && p < rows->items->pieces && p <= piece + PIECES_AHEAD; p++) {
    SameWindows *to = slot_of(rows, value, p);
    bool there = to->windows[0] && to->row == row && to->piece == p;
    if (there || is_known(rows, value, row, p))
      continue;
    *to = read_windows(rows, value, &access, row, p);
    read = true;
  }
  return read;
}

// Cut out of the two windows that hold them, where the tensor has both, else one by one.
static void cut_or_one_by_one(Rows *rows, MirageValue value, const Access *access, LLVMValueRef *at, int32_t row,
                              int32_t piece, LLVMValueRef *values) {
  Emit *e = rows->e;
  uint32_t width = rows->items->width;
  MirageDType dtype = access->tile->dtype;
  LLVMTypeRef packed = mirage__packed(e, width, dtype);
  const SameWindows *read = slot_of(rows, value, piece);
  LLVMValueRef cut = LLVMBuildBitCast(e->gpu.builder, cut_windows(e, read->windows, read->low), packed, "");
  if (read->fits) {
    LLVMValueRef found = mirage__variable(e, packed);
    mirage__set(e, found, cut);
    LLVMBasicBlockRef join = mirage__begin_if(e, LLVMBuildNot(e->gpu.builder, read->fits, ""));
    one_by_one(rows, value, at, row, piece, values);
    mirage__set(e, found, mirage__pack(e, values, width, dtype));
    mirage__end_if(e, join);
    cut = mirage__get(e, found);
  }
  mirage__unpack(e, cut, width, dtype, values);
  fill_behind(rows, columns_of(e, access), mirage__fill_value(e, dtype, access->fill), row, piece, values);
}

// At the columns of a row that begins anywhere.
static void gather(Rows *rows, MirageValue value, int32_t row, int32_t piece) {
  Emit *e = rows->e;
  LLVMValueRef at[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  if (is_known(rows, value, row, piece))
    return;
  Access access = access_of(rows, value);
  index_of(rows, value, row, piece, at);
  if (is_cut(rows, &access))
    cut_or_one_by_one(rows, value, &access, at, row, piece, values);
  else
    one_by_one(rows, value, at, row, piece, values);
  mirage__remember_element(e, value, at, rows->items->width, values);
}

// ------------------------------------------------------------------------------------------------- rows in hand, again

static void read_window(Rows *rows, const MirageNodeView *load, int64_t before, int32_t row, int32_t piece) {
  Emit *e = rows->e;
  const ThreadRows *items = rows->items;
  MirageDType dtype = emit_type(e, load->first_result)->dtype;
  LLVMTypeRef type = mirage__packed(e, items->width, dtype);
  LLVMValueRef index[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  mirage__row_index(rows, row, piece, index);
  mirage__broadcast_index(e, emit_type(e, load->first_result), &items->shape, index, at);
  if (mirage__is_remembered(e, load->first_result, at, items->width))
    return;
  LLVMValueRef inside = begins_inside(rows, piece, rows->begin[row][piece], rows->present[row]), packed = NULL,
               window = NULL;
  if (inside) {
    window = mirage__variable(e, type);
    mirage__set(e, window, LLVMConstNull(type));
  }
  LLVMBasicBlockRef join = mirage__begin_if(e, inside);
  packed = mirage__gpu_load_shared(&e->gpu, type, waiting_at(rows, rows->slot, before, piece));
  if (inside)
    mirage__set(e, window, packed);
  mirage__end_if(e, join);
  mirage__unpack(e, inside ? mirage__get(e, window) : packed, items->width, dtype, values);
  LLVMValueRef fill = mirage__fill_value(e, dtype, load->attrs->access.fill);
  LLVMValueRef read = items->torn ? rows->present[row] : inside;
  for (uint32_t i = 0; i < items->width; i++)
    values[i] = mirage__select(e, read, values[i], fill);
  if (items->torn)
    fill_behind(rows, rows->has, fill, row, piece, values);
  mirage__remember_element(e, load->first_result, at, items->width, values);
}

/// A piece of a row, whose loads are visited (BlockVisit).
typedef struct Piece {
  Rows *rows;
  int32_t row, number;
  bool read; // ahead, from device memory
} Piece;

static bool is_wide_load(const Emit *e, MirageValue leaf) {
  const MirageType *type = emit_type(e, leaf);
  return mirage__block_op(&e->block, leaf) == MIRAGE_OP_LOAD && type->rank > 0 && type->shape[type->rank - 1] > 1;
}

static void read_same(void *user, MirageValue leaf) {
  Piece *piece = user;
  const Emit *e = piece->rows->e;
  if (is_wide_load(e, leaf) && mirage__waiting_tensor(&e->block, e->block.values[leaf.index].def) < 0)
    piece->read |= read_ahead(piece->rows, leaf, piece->row, piece->number);
}

static void read_piece(void *user, MirageValue leaf) {
  const Piece *piece = user;
  Emit *e = piece->rows->e;
  const ThreadRows *items = piece->rows->items;
  if (!is_wide_load(e, leaf))
    return;
  int32_t tensor = mirage__waiting_tensor(&e->block, e->block.values[leaf.index].def);
  MirageNodeView view = mirage__block_def(&e->block, leaf);
  if (tensor >= 0)
    read_window(piece->rows, &view, (int64_t)piece->row * items->tensors + tensor, piece->row, piece->number);
  else if (items->torn)
    gather(piece->rows, leaf, piece->row, piece->number);
}

uint32_t mirage__begin_piece(Rows *rows, MirageValue value, int32_t row, int32_t number) {
  Emit *e = rows->e;
  Piece piece = {rows, row, number, false};
  uint32_t known = e->num_memo;
  if (!rows->items->ahead)
    return known;
  if (rows->items->torn)
    mirage__block_leaves(&e->block, value, read_same, &piece);
  if (piece.read)
    GPU0(&e->gpu, KEEP_ORDER);
  mirage__block_leaves(&e->block, value, read_piece, &piece);
  return known;
}

// What a special function gave for a piece: dear to compute again, as a square or a sign is not.
static bool is_dear(const Emit *e, const Memo *memo) {
  MirageOp op = mirage__block_op(&e->block, (MirageValue){memo->value});
  bool cheap = op == MIRAGE_OP_SQUARE || op == MIRAGE_OP_NEG || op == MIRAGE_OP_RELU || op == MIRAGE_OP_NOT;
  return mirage_op_info(op)->kind == MIRAGE_KIND_UNARY && !cheap && memo->width > 1;
}

// Forgets what was remembered since there were `known`, but for what is dear.
static void keep_results(Emit *e, uint32_t known) {
  uint32_t kept = known;
  for (uint32_t i = known; i < e->num_memo; i++)
    if (is_dear(e, &e->memo[i]))
      e->memo[kept++] = e->memo[i];
  e->num_memo = kept;
}

void mirage__end_piece(Rows *rows, uint32_t known, int32_t number) {
  const ThreadRows *items = rows->items;
  if (!items->ahead || mirage__rows_stay(items))
    return;
  if (number < mirage__results_stay(items))
    keep_results(rows->e, known);
  else
    rows->e->num_memo = known;
}

// ------------------------------------------------------------------------------------------------------------- stores

void mirage__store_torn(Rows *rows, const MirageNodeView *view, const Access *access, int32_t row, int32_t piece) {
  Emit *e = rows->e;
  uint32_t width = rows->items->width, last = access->tile->rank - 1;
  LLVMValueRef index[MIRAGE_MAX_RANK], values[MAX_WIDTH], valid[MAX_WIDTH], all = NULL;
  mirage__row_index(rows, row, piece, index);
  mirage__element(e, view->operands[0], index, width, values);
  for (uint32_t i = 0; i < width; i++) {
    valid[i] = is_among(rows, rows->has, row, piece, i);
    all = mirage__and(e, all, valid[i]);
  }
  LLVMValueRef mine = mirage__and(e, rows->rows[row].valid, rows->present[row]);
  LLVMBasicBlockRef join = mirage__begin_if(e, mirage__and(e, all, mine));
  mirage__gpu_store_global(&e->gpu, mirage__pack(e, values, width, access->tensor->dtype),
                           mirage__access_address(e, access, index));
  mirage__end_if(e, join);
  LLVMValueRef begin = index[last];
  join = all ? mirage__begin_if(e, mirage__and(e, LLVMBuildNot(e->gpu.builder, all, ""), mine)) : NULL;
  for (uint32_t i = 0; all && i < width; i++) {
    index[last] = mirage__add(e, begin, gpu_i32(&e->gpu, i));
    LLVMBasicBlockRef one = mirage__begin_if(e, valid[i]);
    mirage__gpu_store_global(&e->gpu, mirage__pack(e, values + i, 1, access->tensor->dtype),
                             mirage__access_address(e, access, index));
    mirage__end_if(e, one);
  }
  if (all)
    mirage__end_if(e, join);
}

// -------------------------------------------------------------------------------------------------------------- turns

void mirage__emit_rows_ahead(Rows *rows, int64_t turns) {
  Emit *e = rows->e;
  int32_t ahead = rows->items->ahead;
  uint32_t known = e->num_memo;
  for (int32_t t = 0; t + 1 < ahead; t++) {
    copy_rows(rows, gpu_i32(&e->gpu, t));
    GPU0(&e->gpu, CP_ASYNC_COMMIT);
  }
  Repeat repeat = mirage__begin_repeat(e, turns);
  LLVMValueRef coming = mirage__add(e, repeat.index, gpu_i32(&e->gpu, ahead - 1));
  LLVMBasicBlockRef join = mirage__begin_if(e, turns >= ahead ? mirage__less_than(e, coming, turns) : NULL);
  copy_rows(rows, coming);
  mirage__end_if(e, join);
  GPU0(&e->gpu, CP_ASYNC_COMMIT);
  GPU(&e->gpu, CP_ASYNC_WAIT, gpu_i32(&e->gpu, ahead - 1));
  rows->slot = mirage__mod(e, repeat.index, ahead);
  mirage__begin_rows(rows, repeat.index);
  place_columns(rows);
  mirage__finish_rows(rows);
  mirage__barrier(e); // before the next rows' parts
  mirage__end_repeat(e, &repeat);
  e->num_memo = known;
}
