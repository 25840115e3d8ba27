// cost_amounts.c - what operators, loads, stores and meetings add to a kernel's sums (cost_kernel.h).
#include "search/cost/cost_time.h"
#include <math.h>

enum {
  SECTOR_BYTES = 32,
  INSTRUCTION_N = 8,
  INSTRUCTION_BYTES = 32, // of the contraction
  NARROW_BYTES = 4,
  SLAB = 64,
  SLAB_COLUMNS = 256,
  PARTS_AT_ONCE = 16 // codegen_collective.c
};

static const double line_us = 0.96e-3;        // a row of a box that the copy engine brings, of 128 bytes,
static const double short_row_us = 1.8e-3;    // or of fewer: of 64 and 32 bytes alike (H100),
static const double torn_row_us = 2.7e-3;     // or of one that begins in the midst of a line of L2,
static const double shared_box = 0.65;        // and what it takes of that where a pair shares the copy,
static const double short_row_loss = 0.3;     // which also take longer a byte
static const double most_again = 4;           // times that far blocks load a tensor, however many they are
static const double between_lines = 0.3;      // of a line, which a row of a box that begins in its midst takes more
static const double grid_meeting_us = 1.6;    // release, poll and read back: blocks that wait for each other
static const double more_parts_us = 0.5;      // and where parts of more members are read than are under way at once
static const double cluster_meeting_us = 0.9; // two barriers of a cluster, reads of its other blocks' memory
static const double pair_meeting_us = 0.7;    // the same in a cluster of two
static const double grid_exchange = 60e3;     // bytes a block writes and reads in a microsecond where the grid meets
static const double cluster_exchange = 35e3;  // and where a cluster does
static const double first_cache_bytes = 24e3; // of what rows share, that the first cache keeps beside shared memory

static double round_up(double value, double unit) { return ceil(value / unit) * unit; }

static void add_matmul(CostKernel *kernel, const MirageAttrs *attrs, const MirageType *result, const MirageType *a,
                       double times) {
  bool transposed = attrs && attrs->matmul.transpose_a;
  double n = (double)result->shape[result->rank - 1], m = (double)result->shape[result->rank - 2];
  double k = (double)a->shape[a->rank - (transposed ? 2 : 1)];
  double batch = (double)mirage_type_elements(result) / (m * n);
  // Either operand may be the instruction's A: the cheaper rounding counts.
  double plain = round_up(m, INSTRUCTION_M) * round_up(n, INSTRUCTION_N);
  double swapped = round_up(n, INSTRUCTION_M) * round_up(m, INSTRUCTION_N);
  kernel->least_rows = kernel->least_rows > 0 ? fmin(kernel->least_rows, batch * m) : batch * m;
  double bytes = fmin(2, (double)mirage_dtype_bits(a->dtype) / 8); // of an operand's element: the fewer, the faster
  kernel->matmul_flops += batch * bytes * fmin(plain, swapped) * round_up(k, INSTRUCTION_BYTES / bytes) * times;
  kernel->flops += 2 * batch * m * n * k * times;
  kernel->broken_products += k * bytes > LINE_BYTES / 2 && fmod(k * bytes, LINE_BYTES) != 0;
  // Slabs of 64 rows by up to 256 columns: each reads its rows, and its columns.
  kernel->operand_bytes += bytes * batch * ceil(m / SLAB) * k * (ceil(n / SLAB_COLUMNS) * SLAB + n) * times;
}

void mirage__cost_operator(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *result,
                           const MirageType *a, const MirageType *b, double times) {
  double elements = (double)mirage_type_elements(result) * times;
  double operand_elements = a ? (double)mirage_type_elements(a) * times : 0;
  switch (mirage_op_info(op)->kind) {
  case MIRAGE_KIND_MATMUL:
    add_matmul(kernel, attrs, result, a, times);
    break;
  case MIRAGE_KIND_UNARY:
    kernel->special += elements;
    kernel->fma_flops += 2 * elements;
    kernel->flops += elements;
    break;
  case MIRAGE_KIND_BINARY:
    kernel->special += op == MIRAGE_OP_DIV ? (double)mirage_type_elements(b) * times : 0; // reciprocals
    kernel->fma_flops += 2 * elements;
    kernel->flops += elements;
    break;
  case MIRAGE_KIND_REDUCE:
    kernel->fma_flops += 2 * operand_elements;
    kernel->flops += operand_elements;
    break;
  case MIRAGE_KIND_CAST:
    kernel->converted += a && mirage_dtype_is_stored(a->dtype) ? elements : 0;
    kernel->fma_flops += elements;
    break;
  case MIRAGE_KIND_SHAPE:
    kernel->fma_flops += elements;
    break;
  default:
    break;
  }
}

// Elements that lie one after the other: rows that are as wide as the tensor's follow each other.
static double run_of(const MirageType *tensor, const MirageType *tile) {
  double run = 1;
  for (uint32_t i = 1; i <= tile->rank; i++) {
    run *= (double)tile->shape[tile->rank - i];
    if (!tensor || i > tensor->rank || tile->shape[tile->rank - i] != tensor->shape[tensor->rank - i])
      break;
  }
  return run;
}

// What of a tile lies inside the tensor, where the tile is larger than all of it: nothing is copied beyond.
static double inside_of(const MirageType *tensor, const MirageType *tile) {
  double inside = 1;
  for (uint32_t d = 0; tensor && d < tile->rank && tile->rank == tensor->rank; d++)
    inside *= fmin(1, (double)tensor->shape[d] / (double)tile->shape[d]);
  return inside;
}

void mirage__cost_access(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times) {
  double run = run_of(tensor, tile), run_bytes = run * mirage_dtype_bits(tile->dtype) / 8;
  double runs = (double)mirage_type_elements(tile) / run;
  double bytes = round_up(run_bytes, SECTOR_BYTES);
  if (run_bytes > SECTOR_BYTES && bytes > run_bytes)
    bytes += SECTOR_BYTES; // they begin in the middle of sectors
  double accesses = runs * times * inside_of(tensor, tile);
  kernel->l2_bytes += bytes * accesses;
  kernel->torn_bytes += run_bytes > SECTOR_BYTES ? (bytes - run_bytes) * accesses : 0;
  kernel->runs += accesses;
}

// Elements of a tile, if no access can take two of them at once.
static double one_by_one(const MirageType *tensor, const MirageType *tile) {
  double run_bytes = run_of(tensor, tile) * mirage_dtype_bits(tile->dtype) / 8;
  double row = tensor->rank ? (double)tensor->shape[tensor->rank - 1] : 1;
  bool aligned = fmod(run_bytes, NARROW_BYTES) == 0 &&
                 (row == 1 || fmod(row * mirage_dtype_bits(tensor->dtype) / 8, NARROW_BYTES) == 0);
  return aligned || mirage_type_elements(tile) == 1 ? 0 : (double)mirage_type_elements(tile);
}

void mirage__cost_load(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times) {
  kernel->narrow_elements += one_by_one(tensor, tile) * times;
  mirage__cost_access(kernel, tensor, tile, times);
}

void mirage__cost_store(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times) {
  kernel->narrow_stored += one_by_one(tensor, tile) * times;
  mirage__cost_access(kernel, tensor, tile, times);
}

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

// Bytes of a line of L2 that a row of the tile may begin behind: rows follow each other at the tensor's pitch, tiles at their own.
static double behind_line(const MirageType *tensor, const MirageType *tile) {
  int64_t bits = mirage_dtype_bits(tile->dtype), step = LINE_BYTES;
  for (uint32_t i = 0; i < 2; i++) {
    const MirageType *type = i ? tensor : tile;
    if (type->rank && type->shape[type->rank - 1] > 1)
      step = common_divisor(step, type->shape[type->rank - 1] * bits / 8);
  }
  return (double)(LINE_BYTES - step);
}

// Of a box's rows, which begin at any multiple of what tensor and tile divide a line into, those that reach into the next line.
static double crossing_share(const MirageType *tensor, const MirageType *tile, double row) {
  double step = LINE_BYTES - behind_line(tensor, tile);
  return (ceil(fmin(row, LINE_BYTES) / step) - 1) * step / LINE_BYTES;
}

void mirage__cost_boxes(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times) {
  double width = tile->rank ? (double)tile->shape[tile->rank - 1] : 1;
  double columns = (double)mirage__box_columns(tile), row = columns * mirage_dtype_bits(tile->dtype) / 8;
  double rows = (double)mirage_type_elements(tile) / width * ceil(width / columns) * times;
  bool narrow = row < LINE_BYTES;
  double row_us = narrow ? short_row_us : line_us;
  kernel->box_us += rows * (row_us + crossing_share(tensor, tile, row) * (torn_row_us - row_us));
  kernel->box_excess += rows * row * (narrow ? 1 + short_row_loss : 1) - (double)mirage_type_bytes(tile) * times;
  kernel->box_excess += between_lines * behind_line(tensor, tile) * (double)mirage_type_elements(tile) / width * times;
}

void mirage__cost_again(CostKernel *kernel, const MirageType *tensor, double readers) {
  kernel->again_bytes += fmin(readers - 1, most_again) * (double)mirage_type_bytes(tensor);
}

void mirage__cost_share_boxes(CostKernel *kernel, double box_us) { kernel->box_us -= (1 - shared_box) * box_us; }

void mirage__cost_collective(CostKernel *kernel, const MirageType *tile, double members, bool cluster) {
  // One meeting serves all tiles. Each member writes its part and finishes a share of the result, for which it reads
  // that share of every part.
  double grid_us = grid_meeting_us + more_parts_us * fmax(0, ceil(members / PARTS_AT_ONCE) - 1);
  double meeting_us = !cluster ? grid_us : members > 2 ? cluster_meeting_us : pair_meeting_us;
  kernel->collective_us = fmax(kernel->collective_us, meeting_us);
  kernel->exchange_us += 2 * (double)mirage_type_bytes(tile) / (cluster ? cluster_exchange : grid_exchange);
  kernel->resident |= !cluster;
  kernel->cluster = cluster ? members : kernel->cluster;
  kernel->l2_bytes += 2 * (double)mirage_type_bytes(tile) * kernel->blocks;
  kernel->fma_flops += (double)mirage_type_elements(tile) * kernel->blocks;
}

void mirage__cost_whole_result(CostKernel *kernel, const MirageType *tile, double members) {
  double threads = kernel->threads > 0 ? kernel->threads : usual_threads;
  double turns = ceil((double)mirage_type_elements(tile) / threads);
  kernel->exchange_us += more_parts_us / PARTS_AT_ONCE * members * (turns - 1);
  kernel->l2_bytes += (members - 1) * (double)mirage_type_bytes(tile) * kernel->blocks;
}

void mirage__cost_outside(CostKernel *kernel, MirageOp op) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  bool product = kind == MIRAGE_KIND_MATMUL;
  kernel->outside += product || kind == MIRAGE_KIND_REDUCE || kind == MIRAGE_KIND_COLLECTIVE;
  kernel->outside_products += product;
}

void mirage__cost_threads(CostKernel *kernel, const ThreadRows *items) {
  kernel->turns = mirage__thread_turns(items);
  kernel->registers = items->registers;
  kernel->row_warps = items->rows * ceil(items->across / 32.0);
  kernel->pieces = items->apart ? items->together * items->abreast : 0;
  if (!items->ahead)
    return;
  kernel->turn_bytes = (double)items->together * items->tensors * items->windows * ROW_WINDOW;
  kernel->shared_bytes = kernel->turn_bytes * items->ahead;
  double same = (double)items->same * items->windows * ROW_WINDOW; // the first cache keeps little beside shared memory
  kernel->same_bytes = same > first_cache_bytes ? same * items->together : 0;
  kernel->row_bytes = (double)ROW_WINDOW / items->width;
  kernel->cut_elements = items->torn ? same / kernel->row_bytes * items->rows * kernel->blocks : 0;
  kernel->narrow_elements = kernel->narrow_stored = 0;
}

bool mirage__cost_is_long(const MirageType *tile) {
  uint32_t long_dims = 0;
  for (uint32_t d = 0; d < tile->rank; d++)
    long_dims += tile->shape[d] > 1;
  return long_dims > 1;
}
