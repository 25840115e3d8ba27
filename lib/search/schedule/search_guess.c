// search_guess.c - what a plan would decide, guessed of a structure under a schedule: tens of thousands are compared
// before a few are built and planned (search_candidates.c).
//
// Guessed are: loops that stream their weights (lib/layout/direct.c), products by warpgroups (warpgroup.c), chains of
// products that stay in registers (resident.c), and whether tiles and accumulators have room at all.
#include "search/schedule/search_guess.h"
#include "layout/block.h"
#include <math.h>

static const double register_rows = 64;       // of a tile that four warps keep in registers from product to product
static const double chain_registers = 66;     // of a thread, beside products: vectors of the rows, operands, addresses
static const double tile_registers = 128;     // of a thread, for accumulators, where the threads are open
static const double other_registers = 40;     // of a thread, beside accumulators, where they are not
static const double usual_threads = 256;      // of a block
static const double group_threads = 128;      // of a warpgroup
static const double most_accumulators = 128;  // of its threads, that leave room for a second block
static const double late_accumulators = 104;  // the same where the epilogue reads tiles
static const double group_accumulators = 192; // the most that two warpgroups keep of sums of loads

enum { MOST_BOX_ROWS = 256 }; // of a tensor copy: copies.c

void mirage__guess_tile(SearchGuess *guess, const MirageType *tile, double copies) {
  guess->shared_bytes += ceil((double)mirage_type_bytes(tile) / 16) * 16 * copies;
}

// ------------------------------------------------------------------------------------------------- what stands there

// Whether a tile's rows may lie as the matrix instruction of a warpgroup reads them.
static bool may_swizzle(const MirageType *tile) {
  MirageType wanted = *tile;
  return mirage__swizzled_layout(&wanted);
}

static void note_product(SearchGuess *guess, const MirageType *result, const MirageType *a, const MirageType *b,
                         double times) {
  const int64_t *out = &result->shape[result->rank - 2];
  guess->product_elements += (double)mirage_type_elements(result) * times;
  guess->product_columns += (double)out[1];
  int64_t rows = out[guess->swap], columns = out[!guess->swap]; // of the instruction
  guess->uneven |= rows % MIRAGE_SLAB_ROWS || columns % 8 || !may_swizzle(a) || !may_swizzle(b);
  guess->uneven |= guess->swap && columns > MOST_BOX_ROWS;
}

static void note_largest(SearchGuess *guess, const MirageType *tile) {
  if (tile->rank == 0 || mirage_type_elements(tile) < guess->elements)
    return;
  guess->elements = mirage_type_elements(tile);
  guess->row = tile->shape[tile->rank - 1];
}

void mirage__guess_load(SearchGuess *guess, const MirageType *tensor, const MirageType *tile, bool again) {
  int64_t row = tile->rank ? tile->shape[tile->rank - 1] : 1, bytes = mirage__row_bytes(tensor);
  guess->widest_bytes = bytes > guess->widest_bytes ? bytes : guess->widest_bytes;
  bool same = !mirage__row_differs(tensor);
  guess->row_values += row > 1 && !same;
  guess->row_same += row > 1 && same;
  if (row > 1 && !same) {
    bool alike = bytes > 0 && (guess->row_bytes == 0 || guess->row_bytes == bytes);
    guess->row_tensors += !again;
    guess->row_bytes = alike ? bytes : -1;
    guess->row_torn |= mirage__row_is_torn(tensor, tile);
  }
  note_largest(guess, tile);
}

// Rows stay in their threads where all is done element by element, and reduced along rows.
static void note_row(SearchGuess *guess, MirageOp op, const MirageType *result, const MirageType *a) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  bool along = kind == MIRAGE_KIND_REDUCE && result->shape[result->rank - 1] == 1;
  guess->reductions += kind == MIRAGE_KIND_REDUCE;
  guess->operators++;
  guess->moved |= kind == MIRAGE_KIND_MATMUL || (kind == MIRAGE_KIND_SHAPE && op != MIRAGE_OP_BROADCAST) ||
                  (kind == MIRAGE_KIND_REDUCE && !along);
  note_largest(guess, kind == MIRAGE_KIND_REDUCE ? a : result);
}

// What products leave in cells, a reduction along rows and a product's first operand read as it stands.
void mirage__guess_operator(SearchGuess *guess, CostKernel *kernel, MirageOp op, const MirageAttrs *attrs,
                            const MirageType *result, const MirageType *a, const MirageType *b,
                            const bool of_product[2], bool inside_loop, double times) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  bool product = kind == MIRAGE_KIND_MATMUL, reduction = kind == MIRAGE_KIND_REDUCE;
  double elements = (double)mirage_type_elements(a) * times;
  if (reduction && !of_product[0]) {
    kernel->reduced_elements += elements;
    kernel->reduced_outside += inside_loop ? 0 : elements;
  }
  if (product)
    note_product(guess, result, a, b, times);
  if (!inside_loop) {
    note_row(guess, op, result, a);
    return;
  }
  guess->products += product;
  guess->others += reduction;
  if (product)
    guess->crossed |= of_product[1] || (of_product[0] && attrs && attrs->matmul.transpose_a);
  if (op == MIRAGE_OP_TRANSPOSE && mirage__cost_is_long(a)) {
    guess->crossed |= of_product[0];
    kernel->stored_elements += elements;
  }
}

// The extents of a matrix, or of each of several in groups.
static const int64_t *extents_of(const MirageType *type, bool grouped, int64_t *out_groups) {
  const int64_t *extents = mirage__grouped_extents(type, out_groups);
  return grouped || *out_groups == 1 ? extents : NULL;
}

void mirage__guess_carry(SearchGuess *guess, MirageOp op, bool grouped, const MirageAttrs *attrs, const MirageType *a,
                         const MirageType *b, MirageDType dtype, bool b_is_loaded, bool same_in_all_blocks) {
  int64_t groups;
  guess->carries++;
  guess->inner += grouped;
  guess->product_carries += op == MIRAGE_OP_MATMUL;
  if (op != MIRAGE_OP_NONE && mirage_op_info(op)->kind == MIRAGE_KIND_REDUCE)
    guess->carried += extents_of(a, grouped, &groups) != NULL;
  if (op != MIRAGE_OP_MATMUL || !b_is_loaded || b->dtype == MIRAGE_F32)
    return;
  bool by_row = attrs && attrs->matmul.transpose_b;
  const int64_t *a_shape = extents_of(a, grouped, &groups), *b_shape = extents_of(b, grouped, &groups);
  if (!a_shape || !b_shape || ((groups > 1 || by_row) && b_shape[by_row] % 32))
    return;
  int64_t rows = a_shape[attrs && attrs->matmul.transpose_a ? 1 : 0], depth = groups * b_shape[by_row],
          columns = b_shape[!by_row];
  uint32_t bits = mirage_dtype_bits(b->dtype);
  guess->mixed |= guess->columns && (guess->rows != rows || guess->depth != depth || guess->by_row != by_row);
  guess->narrowest = guess->columns && guess->narrowest < bits ? guess->narrowest : bits;
  guess->rows = rows;
  guess->depth = depth;
  guess->group_depth = b_shape[by_row];
  guess->by_row = by_row;
  guess->columns += columns;
  double piece = (double)columns * bits / 8;
  if (!same_in_all_blocks && (guess->piece_bytes == 0 || piece < guess->piece_bytes))
    guess->piece_bytes = piece;
  guess->column_bits += (double)columns * bits;
  guess->conversion += (double)columns * mirage__cost_conversion(b->dtype, dtype, by_row);
  guess->side_columns += same_in_all_blocks && !by_row ? columns : 0;
  guess->carried++;
}

// --------------------------------------------------------------------------------------------- what a plan would make

// Neighbours that a lane takes at once of weights that have a row for each output; 0: they are not streamed.
static int32_t lane_of(const SearchGuess *guess, const CostKernel *kernel, const MirageTarget *target) {
  int64_t whole = guess->depth * (int64_t)kernel->iterations;
  int32_t lane = mirage__direct_lane(guess->group_depth, whole, guess->narrowest, DIRECT_WARPS);
  bool fits = lane && guess->columns % 2 == 0 &&
              mirage__direct_row_registers(guess->rows, guess->columns, guess->narrowest, lane) &&
              2 * mirage__direct_row_bytes(guess->rows, whole, lane) <= target->shared_bytes_per_block;
  return fits ? lane : 0;
}

static bool is_direct(const SearchGuess *guess, const CostKernel *kernel, const MirageTarget *target) {
  if (guess->swap || (kernel->threads > 0 && kernel->threads != 32 * DIRECT_WARPS) || !guess->columns || guess->mixed ||
      guess->carried != guess->carries || guess->products + guess->others != guess->carries + guess->inner)
    return false;
  if (guess->by_row)
    return lane_of(guess, kernel, target) > 0;
  int32_t registers = mirage__direct_registers(guess->rows, guess->columns);
  double weights = 2.0 * (double)(guess->depth * guess->columns);
  return registers && mirage__direct_fits(guess->depth, registers, DIRECT_WARPS, target) &&
         kernel->iteration_bytes - weights <= weights;
}

static CostStream stream_of(const SearchGuess *guess, const CostKernel *kernel, const MirageTarget *target) {
  bool side = guess->side_columns < guess->columns && kernel->blocks + 1 <= target->num_sms && kernel->cluster <= 1 &&
              kernel->collective_us == 0;
  double columns = (double)guess->columns;
  return (CostStream){guess->rows,
                      guess->depth,
                      guess->columns,
                      side ? guess->side_columns : 0,
                      guess->piece_bytes,
                      guess->column_bits / columns,
                      guess->conversion / columns,
                      guess->by_row ? lane_of(guess, kernel, target) : 0,
                      guess->ragged};
}

// Whether the results of products do not stay in registers: in the cells of one another finds its first operand, as it
// stands, where there is room. Warps of 16 rows hold a row's columns, four cells for eight of them.
static bool spills(const SearchGuess *guess, const CostKernel *kernel, const MirageTarget *target) {
  double registers = fmin(255, target->registers_per_sm / (2 * kernel->least_rows)) - chain_registers;
  return guess->crossed || kernel->least_rows < register_rows || guess->product_columns / 2 > registers;
}

// Blocks on a multiprocessor where four warps multiply and one copies: mirage__plan_beside in lib/layout.
static double beside(const SearchGuess *guess, const CostKernel *kernel, const MirageTarget *target) {
  double accumulators = guess->accumulator_bytes / (4 * group_threads), half = target->shared_bytes_per_sm / 2.0;
  if (kernel->blocks <= target->num_sms || 3 * kernel->iteration_bytes > half ||
      accumulators > (kernel->loads_outside ? late_accumulators : most_accumulators))
    return 1;
  double shared = fmin(half, 4 * kernel->iteration_bytes);
  return floor(fmin(target->shared_bytes_per_sm / shared,
                    target->registers_per_sm / ((group_threads + 32) * (accumulators + other_registers))));
}

// Whether warpgroups of a block take tiles in turn: mirage__plan_in_groups in lib/layout.
static bool in_groups(const SearchGuess *guess, const CostKernel *kernel, const MirageTarget *target) {
  double accumulators = guess->accumulator_bytes / (4 * group_threads);
  return kernel->turned_bytes == 0 && kernel->blocks > target->num_sms && kernel->collective_us == 0 &&
         accumulators >= MIRAGE_GROUP_LEAST && accumulators <= MIRAGE_GROUP_MOST;
}

// lib/layout/items.c and elements.c.
static RowLoads row_loads(const SearchGuess *guess, int64_t rows, const CostKernel *kernel,
                          const MirageTarget *target) {
  return (RowLoads){.values = (int64_t)guess->row_values,
                    .same = (int64_t)guess->row_same,
                    .tensors = guess->row_tensors,
                    .bytes = guess->row_bytes > 0 ? guess->row_bytes : 0,
                    .room = mirage__row_room(target, rows, (int64_t)guess->reductions),
                    .torn = guess->row_torn,
                    .meets = kernel->cluster > 1,
                    .beside = kernel->blocks / target->num_sms};
}

static bool is_in_threads(const SearchGuess *guess, const MirageTarget *target, CostKernel *kernel) {
  if (guess->moved || guess->row == 0 || kernel->iterations > 0 || kernel->resident)
    return false;
  int64_t rows = guess->elements / guess->row;
  int32_t warps = (int32_t)(kernel->threads / 32);
  ElementTiles tiles = {.blocks = kernel->blocks,
                        .rows = rows,
                        .columns = guess->row,
                        .bytes = guess->widest_bytes,
                        .operators = (int32_t)guess->operators,
                        .num_sms = target->num_sms};
  ThreadRows items;
  if (!guess->reductions)
    items = mirage__elements_in_threads(&tiles, warps, &warps);
  else if (!mirage__rows_in_threads(rows, guess->row, row_loads(guess, rows, kernel, target), warps, &items, &warps))
    return false;
  kernel->threads = 32.0 * warps;
  kernel->reduced_elements = kernel->reduced_outside = 0;
  mirage__cost_threads(kernel, &items);
  return true;
}

// Whether a chain's products run ahead, fed by a producer, in a loop that is long enough: in blocks that all begin at once, or of two
// warpgroups that have a multiprocessor to themselves (is_alone in lib/layout/copies.c).
static bool runs_ahead(const SearchGuess *guess, const CostKernel *kernel, const MirageTarget *target) {
  bool at_once = kernel->blocks <= target->num_sms;
  double least = guess->shared_bytes + kernel->iteration_bytes; // three stages
  bool alone = least > target->shared_bytes_per_sm / 2.0 && kernel->least_rows >= 2 * register_rows;
  return kernel->chain && kernel->warpgroups && target->has_tensor_copy && kernel->threads == 0 &&
         kernel->iterations >= mirage__least_ahead(at_once) && (at_once || alone);
}

// What accumulators may take: two warpgroups share tiles, three those of three slabs.
static double register_bytes(const CostKernel *kernel, double threads, double registers) {
  if (!kernel->produced)
    return threads * registers * 4;
  bool three = kernel->least_rows == 3 * MIRAGE_SLAB_ROWS;
  double groups =
      three ? 32.0 * MIRAGE_THREE_GROUPS * MIRAGE_THREE_GROUPS_MOST : 2 * group_threads * group_accumulators;
  return fmax(threads * registers, groups) * 4;
}

bool mirage__guess_plan(const SearchGuess *guess, const MirageTarget *target, CostKernel *kernel) {
  double threads = kernel->threads > 0 ? kernel->threads : usual_threads, registers = tile_registers;
  if (kernel->threads > 0)
    registers = fmin(255, target->registers_per_sm / threads) - other_registers;
  double streamed = 0;
  if (is_in_threads(guess, target, kernel))
    return true;
  if (is_direct(guess, kernel, target)) {
    kernel->stream = stream_of(guess, kernel, target);
    streamed = 2 * 2.0 * (double)(guess->depth * guess->columns); // f16, two copies
  }
  kernel->shared_bytes = guess->shared_bytes;
  kernel->chain = guess->products > guess->product_carries;
  bool spilled = kernel->chain && spills(guess, kernel, target);
  kernel->spilled_elements = spilled ? guess->product_elements : 0;
  kernel->waits = fmax(0, (double)(guess->products + guess->others) - (double)guess->carries);
  kernel->weights = guess->columns > 0;
  bool tiles = guess->swap ? !kernel->chain : kernel->least_rows >= register_rows;
  kernel->warpgroups = target->has_wgmma && tiles && !guess->uneven && kernel->stored_elements == 0 && !spilled;
  kernel->turned_bytes = kernel->warpgroups && guess->swap ? guess->accumulator_bytes : 0;
  kernel->produced = kernel->warpgroups && target->has_tensor_copy && !kernel->chain && kernel->iteration_bytes > 0;
  kernel->ahead = runs_ahead(guess, kernel, target);
  kernel->grouped = kernel->produced && in_groups(guess, kernel, target);
  kernel->beside = kernel->grouped ? 1 : kernel->produced ? beside(guess, kernel, target) : 0;
  bool streams = kernel->stream.lane_k && kernel->cluster <= 1 && kernel->collective_us == 0;
  kernel->persistent = (kernel->beside == 1 || streams) && kernel->blocks > target->num_sms;
  if (guess->swap && !kernel->produced) // it is for nothing else
    return false;
  return guess->accumulator_bytes <= register_bytes(kernel, threads, registers) &&
         guess->shared_bytes - streamed <= target->shared_bytes_per_block;
}
