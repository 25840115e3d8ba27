// rows_ahead.c - long rows whose next turns wait in shared memory while those in hand are computed.
//
// A block that takes rows in turn (items.c) has nothing on its way while it reduces, meets its cluster and stores, unless
// other blocks of the multiprocessor have. Long rows leave no registers for any. So their asynchronous copies are issued some
// turns ahead: each thread copies the windows of 16 bytes that it will read itself, so no barrier stands between them.
//
// Rows that begin anywhere - 50,257 f16 are 100,514 bytes - are copied in whole windows too, from the one that holds a row's
// first element to the one that holds its last. What is as wide as the row and lies like it, is stored in the same windows.
//
// Where each block has one row, or meets others in each turn, and more follow, blocks beside each other do better than turns: two of eight
// warps, or four of four (H200, softmax of 512 x 50,257: 33.8 us in four turns, 30.8 a row a block).
//
// Example: 16 rows of 50,257 f16, one at a time: 6283 windows of 13 pieces a thread, 100,528 bytes a row, two of which find room.
#include "plan.h"

enum {
  LEAST_AHEAD = 24 * 1024,      // bytes of a row, of all its tensors: registers hold shorter ones,
  LEAST_BESIDE_SAME = 4 * 1024, // but of these none beside two that are the same for all rows
  TURN = 32 * 1024,             // bytes of a turn that are worth its barriers
  IN_FLIGHT = 64 * 1024,        // bytes of a multiprocessor's copies: more gain nothing
  STAGES = 3,                   // at least, where a turn takes several rows
  MOST_TOGETHER = 4,            // rows of a turn
  MOST_PIECES = 16,             // windows of a row and thread,
  MOST_OF_FEW = 32,             // and where few warps have it
  FEW_PIECES = 4,               // for which eight warps suffice
  WARPS_OF_ALL = 16,            // of a multiprocessor that blocks share
  KEPT = 48,                    // elements of a thread that stay in registers from one reduction to the next
  RESULTS_KEPT = 64,            // of what special functions gave, where the rows themselves do not
  OTHERS = 40,                  // registers for other things
  REGISTERS = 128,              // of a thread
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

bool mirage__row_differs(const MirageType *tensor) {
  return tensor->rank > 0 && mirage_type_elements(tensor) != tensor->shape[tensor->rank - 1];
}

int64_t mirage__row_bytes(const MirageType *tensor) {
  MirageDType dtype = tensor->dtype;
  return dtype == MIRAGE_F16 || dtype == MIRAGE_BF16 || dtype == MIRAGE_F32 ? mirage_dtype_bytes(dtype) : 0;
}

bool mirage__row_is_torn(const MirageType *tensor, const MirageType *tile) {
  int64_t bits = mirage_dtype_bits(tensor->dtype), row = tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
  int64_t part = tile->rank ? tile->shape[tile->rank - 1] : 1;
  return row * bits % (8 * ROW_WINDOW) || (part != row && part * bits % (8 * ROW_WINDOW));
}

int64_t mirage__row_room(const MirageTarget *target, int64_t rows, int64_t reductions) {
  enum { WORDS = 33 }; // that a reduction leaves of a row: one of each warp, one for the cluster
  return target->shared_bytes_per_block - SYSTEM_BYTES -
         ceil_div(rows * reductions * WORDS * 4, ROW_WINDOW) * ROW_WINDOW;
}

// `blocks` of a multiprocessor beside each other, with the warps of one: while one waits, others compute.
static bool beside_others(int64_t rows, int64_t columns, RowLoads loads, int32_t blocks, int32_t warps,
                          ThreadRows *out_items, int32_t *out_warps) {
  int32_t each = WARPS_OF_ALL / blocks;
  loads.meets = false;
  loads.beside = 0;
  loads.room = loads.room / blocks - SYSTEM_BYTES;
  return (warps == 0 || warps == each) && mirage__rows_ahead(rows, columns, loads, each, out_items, out_warps);
}

// Blocks that come to each multiprocessor, where they follow each other.
static double several(RowLoads loads) { return loads.same > 1 ? 2 : 4; }

static bool have_row_each(int64_t rows, RowLoads loads) { return rows == 1 && !loads.meets; }

bool mirage__rows_follow(int64_t rows, RowLoads loads) {
  return have_row_each(rows, loads) && loads.beside >= several(loads);
}

bool mirage__rows_beside_others(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items,
                                int32_t *out_warps) {
  if (mirage__rows_follow(rows, loads) && beside_others(rows, columns, loads, 4, warps, out_items, out_warps))
    return true;
  bool two = loads.meets || (have_row_each(rows, loads) && loads.beside > 1);
  return two && beside_others(rows, columns, loads, 2, warps, out_items, out_warps);
}

static int64_t least_bytes(RowLoads loads) { return loads.same > 1 ? LEAST_BESIDE_SAME : LEAST_AHEAD; }

bool mirage__rows_ahead(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items,
                        int32_t *out_warps) {
  if (loads.room <= 0 || loads.bytes == 0 || loads.tensors == 0)
    return false;
  if (mirage__rows_beside_others(rows, columns, loads, warps, out_items, out_warps))
    return true;
  int64_t width = ROW_WINDOW / loads.bytes, windows = ceil_div(columns + (loads.torn ? width - 1 : 0), width);
  int64_t row = windows * ROW_WINDOW * loads.tensors, together = 1;
  if (row > loads.room || (row < least_bytes(loads) && !loads.torn))
    return false;
  while (together < least(rows, MOST_TOGETHER) && together * row < TURN && (together + 1) * row * STAGES <= loads.room)
    together++;
  int64_t turns = ceil_div(rows, together);
  together = ceil_div(rows, turns);
  int64_t stages = least(least(turns, loads.room / (together * row)), 1 + ceil_div(IN_FLIGHT, together * row));
  *out_warps = warps ? warps : windows <= 32 * 8 * FEW_PIECES ? 8 : 16;
  int64_t pieces = ceil_div(windows, 32 * *out_warps);
  if ((stages < 2 && turns > 1) || pieces > (*out_warps >= WARPS_OF_ALL ? MOST_PIECES : MOST_OF_FEW))
    return false;
  *out_items = (ThreadRows){.on = true,
                            .rows = (int32_t)rows,
                            .pieces = (int32_t)pieces,
                            .across = 32 * *out_warps,
                            .teams = 1,
                            .together = (int32_t)together,
                            .late = true,
                            .registers = (int32_t)least(KEPT, together * pieces * width * loads.tensors) + OTHERS,
                            .ahead = (int32_t)stages,
                            .windows = (int32_t)windows,
                            .tensors = (int32_t)loads.tensors,
                            .same = (int32_t)loads.same,
                            .torn = loads.torn,
                            .width = (uint32_t)width};
  return true;
}

int32_t mirage__rows_ahead_blocks(const ThreadRows *items, int64_t shared_bytes, const MirageTarget *target) {
  int64_t by_registers = target->registers_per_sm / ((int64_t)REGISTERS * items->across);
  int64_t by_shared = target->shared_bytes_per_sm / (shared_bytes + SYSTEM_BYTES);
  int64_t blocks = least(by_registers, by_shared);
  return (int32_t)(blocks > 1 ? blocks : 1);
}

bool mirage__rows_stay(const ThreadRows *items) {
  return (int64_t)items->together * items->pieces * items->width * items->tensors <= KEPT;
}

int32_t mirage__results_stay(const ThreadRows *items) {
  int64_t pieces = RESULTS_KEPT / ((int64_t)items->together * items->width);
  return (int32_t)least(pieces, items->pieces);
}

// Where the value is among so many; their number: nowhere.
static int32_t count_of(const MirageValue *values, int32_t count, MirageValue value) {
  int32_t at = 0;
  while (at < count && values[at].index != value.index)
    at++;
  return at;
}

static MirageValue waiting_of(const Block *block, MirageNode load) {
  MirageNodeView view = mirage_ugraph_node(block->graph, load);
  if (view.op != MIRAGE_OP_LOAD)
    return (MirageValue){0};
  const MirageType *tile = &block->types[view.first_result.index];
  MirageValue tensor = mirage__block_resolve(block, view.operands[0]);
  bool wide = tile->rank > 0 && tile->shape[tile->rank - 1] > 1;
  return wide && mirage__row_differs(&block->types[tensor.index]) ? tensor : (MirageValue){0};
}

int32_t mirage__waiting_tensor(const Block *block, MirageNode load) {
  MirageValue tensor = waiting_of(block, load), seen[MIRAGE_MAX_LOADS];
  int32_t count = 0;
  for (uint32_t i = 0; tensor.index && i < block->num_loads; i++) {
    MirageValue other = waiting_of(block, block->loads[i].node);
    if (other.index == tensor.index)
      return count_of(seen, count, other);
    if (other.index && count_of(seen, count, other) == count)
      seen[count++] = other;
  }
  return -1;
}

int64_t mirage__block_waiting_offset(const Block *block) {
  return mirage__block_staging_offset(block) + mirage__block_staging_bytes(block) + mirage__block_prepared_bytes(block);
}

int64_t mirage__block_waiting_bytes(const Block *block) {
  const ThreadRows *items = &block->items;
  return (int64_t)items->ahead * items->together * items->tensors * items->windows * ROW_WINDOW;
}
