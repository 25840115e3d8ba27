// cost.c - predicted time of a kernel: bytes, flops, special functions, waves, meetings.
//
// A kernel is summed up as a CostKernel (what it moves and computes, and how), of a plan by cost_plan.c and of a
// structure that has none by search_cost.c; one formula turns that into microseconds. The model and where its constants
// were measured: README.md. It ranks schedules; it does not promise times.
#include "layout/block.h"
#include "search/cost/cost_kernel.h"
#include <math.h>

enum {
  SECTOR_BYTES = 32,
  LINE_BYTES = 128,
  INSTRUCTION_M = 16,
  INSTRUCTION_N = 8,
  INSTRUCTION_BYTES = 32, // of the contraction
  MAX_STAGES = 4,
  NARROW_BYTES = 4,
  SLAB = 64,
  SLAB_COLUMNS = 256,
  PARTS_AT_ONCE = 16 // codegen_collective.c
};

// Fitted to measured candidates of many programs on an H200 (test/bench/README.md), starting from what each stands for.
static const double saturating_share = 0.45; // of the multiprocessors, busy, saturate device memory
static const double most_bytes = 64 * 1024;  // in flight on a multiprocessor: more gain nothing
static const double latency_us = 1.7;        // of a load under load: bytes in flight = rate * latency
static const double block_us =
    0.5; // prologue and epilogue that nothing hides, of each wave beyond the first (launch_us)
static const double iteration_us = 0.2;       // a barrier: for the loads of an iteration, for each result used in it
static const double outside_us = 0.25;        // a product or reduction outside loops: it waits for all warps
static const double outside_product_us = 0.6; // and a product in few rows: its loads and it do not overlap
static const double reduced_us = 0.02;    // an element that a thread reads from shared memory to reduce it, in a loop
static const double narrow_per_us = 8600; // elements that a multiprocessor loads one by one
static const double chain_turn_us =
    0.25;                               // an iteration of a chain in turns (H200, attention: tiles of 64 and 128 keys)
static const double chain_loss = 0.03;  // and its share of the units that are not the bottleneck
static const double turn_us = 0.09;     // an iteration of warpgroups that a producer feeds
static const double paired_us = 1.5;    // of a pair that shares copies: it begins and ends together,
static const double together_us = 0.75; // and so does a cluster whose blocks meet
static const double end_bytes_per_us = 300e3; // that such a block writes, and reads outside loops
static const double late_us = 1.1;            // it waits for what it reads outside loops
static const double beside_loss = 0.54;       // of begin and end, where blocks beside it multiply
static const double broken_loss = 0.035;      // by tiles 48 and 96 deep beside 64 and 128 (H100, 40 pairs: -6 to 14 %)
static const double produced_loss = 0.05;     // share of the units that are not the bottleneck
static const double arrival_us = 0.7;         // of a tile out of L2, from its copy's issue to its first bytes
static const double port_share = 2.5;         // of L2's rate, times multiprocessors, that one takes
static const double box_rate = 1.13;          // of L2's rate, for boxes that the copy engine brings
static const double line_us = 0.96e-3;        // a row of such a box, of 128 bytes,
static const double short_row_us = 1.8e-3;    // or of fewer: of 64 and 32 bytes alike (H100),
static const double torn_row_us = 2.7e-3;     // or of one that begins in the midst of a line of L2,
static const double shared_box = 0.65;        // and what it takes of that where a pair shares the copy,
static const double short_row_loss = 0.3;     // which also take longer a byte
static const double shared_flops = 33;        // of a multiprocessor, in the time of a byte of shared memory
static const double half_ahead = 0.56; // stages ahead where there are two: products run on and still read the other one
static const double through_l2 = 0.25; // of the time of copies out of L2, while it fills from device memory
static const double crowded_loss = 0.45;  // of the time by which shared memory takes longer than the matrix unit
static const double produced_rate = 1.13; // of device memory's rate, that copies by a producer reach,
static const double produced_bytes_per_us = 70e3; // as long as a multiprocessor gets no more (H100, H200)
static const double far_again = 0.45;             // of what far blocks load at once comes again,
static const double again_bytes_per_us = 3.2e6;   // at this rate, whatever device memory's is (H100, H200)
static const double most_again = 4;               // times, however many they are
static const double between_lines = 0.3;          // of a line, which a row of a box that begins in its midst takes more
static const double pair_exchange = 0.2;          // of the time of an exchange, between two blocks with producers
static const double alone_rate = 1.6;   // of L2's, where no pairs share copies: neighbours ask for the same lines
static const double full_clock = 1.25;  // of a multiprocessor's share of the matrix rate, while others leave it power
static const double warp_share = 0.45;  // of the matrix rate that warps reach where warpgroups have an instruction
static const double overlap_loss = 0.1; // share of the units that are not the bottleneck
static const double direct_latency_us = 0.5;    // of a step where every warp has one in flight, before its bytes arrive
static const double direct_bytes_per_us = 74e3; // of a step, on one multiprocessor
static const double direct_share = 0.73;        // of the multiprocessors saturate device memory
static const double direct_loss = 0.6;          // what each that is missing costs, of its own share
static const double torn_share = 0.6;           // of sectors that two blocks share, read twice
static const double short_loss = 0.05;          // of reading, for each further row that a line of L2 has room for
static const double again_share = 0.8; // of weights that other blocks have read (H100, 48 x 3072 x 8192 in two: 41 us)
static const double again_least = 1.5; // times what the kernel reads; below it the last tiles only reach beyond the end
static const double most_ahead = 2;    // steps of narrower weights under way, of a lane
static const double lane_bytes = 128;  // that make another step too many
static const double conversion_loss = 1.25; // of the time of instructions that make numbers of stored weights
static const double staged_conversion = 25; // instructions for an element, where tiles pass through shared memory
static const double staged_share = 0.8; // of device memory that such a loop uses where it passes through shared memory
static const double side_us = 0.3;      // to see that side blocks are done and read what they left
static const double direct_step_us = 0.6;      // for each further step of an iteration
static const double narrow_loss = 0.1;         // of loads of 8 bytes instead of 16, of the time of reading
static const double turn_of_rows_us = 0.5e-3;  // an iteration of such a loop, whose steps are divided among the warps
static const double few_bytes = 16e3;          // of a block, which are read and stored beside a stream,
static const double apart_bytes_per_us = 30e3; // and more of them, while nothing streams
static const double prepare_us = 0.3;      // to compute activations before the first step, while weights are under way
static const double grid_meeting_us = 1.6; // release, poll and read back: blocks that wait for each other
static const double more_parts_us = 0.5;   // and where parts of more members are read than are under way at once
static const double cluster_meeting_us = 1.2; // two barriers of a cluster, reads of its other blocks' memory
static const double pair_meeting_us = 1.0;    // the same in a cluster of two
static const double grid_exchange = 60e3;     // bytes a block writes and reads in a microsecond where the grid meets
static const double cluster_exchange = 35e3;  // and where a cluster does
static const double cluster_share = 0.9;      // of the multiprocessors, that clusters of four and more can occupy
static const double shared_rate = 4;          // shared memory moves this many times the bytes of L2
static const double chain_bytes = 48;  // of shared memory an element of a chain of products moves outside registers
static const double stored_bytes = 34; // the same for each value of such a chain that a plan puts there
static const double shared_bytes_per_us = 253e3; // of a multiprocessor: 128 bytes a cycle
static const double tall_rows = 64;              // of a tile that warpgroups can multiply
static const double tile_registers = 128;        // registers of a thread; with 256 threads, two blocks a multiprocessor
static const double usual_threads = 256;         // of a block
static const double least_registers = 32;        // below which more threads do not fit
static const double new_run_bytes = 12;          // as many more could be read where a run of elements begins
static const double elements_us = 0.25;          // in registers: from their loads to their stores
static const double rows_us = 0.6;               // the same of rows
static const double row_rate = 1.08;             // of device memory's rate, that blocks with rows of their own reach
static const double rows_begin_us = 0.3;         // of a block's rows, until the first loads are there,
static const double row_reduction_us = 0.11;     // for each reduction,
static const double row_element_us = 1e-5;       // and for each element of each operator
static const double row_warp_us = 6.4e-3;        // for each of them and each warp that has a part of a row
static const double row_overlap = 1.8;    // of blocks beside each other the root of the sum of such powers is seen,
static const double row_seen = 0.27;      // and a block alone hides all of its time but this
static const double met_rows_share = 0.8; // of device memory, that they can use
static const double met_rows_us = 1.3;    // and of rows that blocks share
static const double pass_us = 8e-6;       // an element of long rows, which wait in shared memory, each time it is read
static const double special_share = 0.2;  // of special functions, beside that
static const double seen_share = 0.5;     // of both, beside other turns' copies and stores
static const double seen_meeting = 0.75;  // and where blocks meet; others hide each other's
static const double cut_us =
    26e-6; // an element, out of two windows that hold it (H200, norms of 20 and 50 thousand columns),
static const double cut_beside = 0.55;         // of which this is seen where blocks are beside each other
static const double drained_us = 9;            // where blocks meet again: what they stored before must have reached L2
static const double long_rows_share = 0.97;    // of the multiprocessors, that clusters of such blocks can occupy
static const double long_rows_saturate = 0.95; // of the multiprocessors, at work, saturate device memory
static const double more_members =
    0.25; // longer for each doubling of a cluster beyond two (H100, layer norm of 64 x 128256: 17.7, 20.9, 25.0 us)
static const double late_share = 0.13;        // of a block, that the last ones of many end after the others
static const double turn_loss = 0.01;         // for each doubling of a block's turns (H100, H200: 1 to 64 turns)
static const double long_rows_loss = 0.05;    // of the units that are not the bottleneck
static const double first_cache_bytes = 24e3; // beside which there is no shared memory left
static const double next_rows_us = 0.3;       // of which nothing else hides, where another follows
static const double few_turns = 3;        // turns of a multiprocessor, of those of all its blocks, that nothing hides,
static const double piece_loss = 0.04;    // of a thread that loads several pieces before it computes (H100, chains)
static const double few_stored = 1. / 16; // of a kernel's bytes: it reads, and nothing else seen takes time
static const double reading_rate = 1.13;  // of device memory, then (H100: weights by one row, 3.05 TB/s)
static const double most_turns_loss = 0.45; // but no more of reading than this (H100, gradient of RMSNorm, 8192 rows)

static double round_up(double value, double unit) { return ceil(value / unit) * unit; }

// ------------------------------------------------------------------------------------------ amounts

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

// ------------------------------------------------------------------------------------ streamed weights

// Neighbours along the contraction are pairs as they lie, and what a number has too much is taken from the sums.
static double row_conversion(MirageDType stored, bool half) {
  if (stored == MIRAGE_I8)
    return half ? 0.75 : 1.5;
  if (stored == MIRAGE_I4)
    return half ? 0.6 : 0.9;
  return !mirage_dtype_is_stored(stored) ? 0 : half ? 0.5 : 2;
}

double mirage__cost_conversion(MirageDType stored, MirageDType dtype, bool rows) {
  bool half = dtype == MIRAGE_F16; // counted in what ptxas makes of lib/codegen/codegen_dequant.c, less a half
  if (rows)
    return fmax(0, row_conversion(stored, half) - 0.5);
  if (stored == MIRAGE_I8)
    return half ? 1.0 : 1.75;
  if (stored == MIRAGE_I4)
    return half ? 0.9 : 1.25;
  return !mirage_dtype_is_stored(stored) ? 0 : half ? 0.25 : 1.75;
}

// What is on its way of weights of so many bits: lib/layout/direct.c.
static double steps_ahead(const CostStream *s) {
  double ahead = 1;
  if (s->lane_k)
    return mirage__direct_row_ahead(mirage__direct_row_words(s->columns, (uint32_t)s->bits, (int32_t)s->lane_k), 8);
  while (s->bits < 16 && ahead < most_ahead && 2 * ahead * (double)s->columns * s->bits / 8 <= lane_bytes)
    ahead *= 2;
  return ahead;
}

// The time in which multiprocessors make numbers of stored weights, which reading does not hide.
static double conversion_us(const CostKernel *kernel, double busy, const MirageTarget *target) {
  const CostStream *s = &kernel->stream;
  double weights = (double)(s->columns * s->depth) * kernel->iterations * kernel->blocks;
  double instructions_per_us = target->fma_flops_per_us / 2 * busy / target->num_sms;
  return conversion_loss * s->conversion * weights / instructions_per_us;
}

// The share of reading by which it takes longer where rows of a tile are less than a line of L2.
static double short_rows(const CostStream *s) {
  return s->lane_k || s->piece_bytes <= 0 ? 0 : short_loss * fmax(0, floor(LINE_BYTES / s->piece_bytes) - 1);
}

// Bytes of weights that blocks read again: they pass by the caches on their way, so most come out of device memory each time.
static double read_again(const CostKernel *kernel) {
  const CostStream *s = &kernel->stream;
  double all = s->bits / 8 * (double)((s->columns - s->side_columns) * s->depth) * kernel->iterations * kernel->blocks;
  return all > again_least * kernel->dram_bytes ? again_share * (all - kernel->dram_bytes) : 0;
}

// Of `blocks` blocks, one a multiprocessor, the time to read what they read: as fast as device memory is with so many at
// work, and no faster than what each has in flight arrives.
static double read_us(const CostKernel *kernel, double blocks, const MirageTarget *target) {
  const CostStream *s = &kernel->stream;
  double columns = (double)(s->columns - s->side_columns), share = blocks / kernel->blocks;
  double bytes_of_one = s->bits / 8, rows = s->lane_k ? 0 : 2.0 * (double)s->rows;
  double step = (s->lane_k ? 4 * (double)s->lane_k : 32) * DIRECT_WARPS * steps_ahead(s);
  double side = bytes_of_one * (double)(s->side_columns * s->depth) * kernel->iterations * kernel->blocks;
  double read = kernel->l2_bytes - side, covered = (double)mirage__direct_columns((int64_t)columns);
  covered = s->lane_k ? ceil(columns / 16) * 16 : covered;
  double issued = direct_latency_us + step * (bytes_of_one * covered + rows) / direct_bytes_per_us;
  double pieces = s->lane_k ? 128 / ((double)s->lane_k * s->bits) : 1; // of 16 bytes that a lane loads of a row
  double arriving = blocks * step * (bytes_of_one * columns + rows) / issued;
  double supply = 1 - direct_loss * fmax(0, direct_share - blocks / target->num_sms);
  double bytes = kernel->dram_bytes + torn_share * kernel->torn_bytes + read_again(kernel);
  double memory = bytes / (target->dram_bytes_per_us * supply), arrival = read / arriving;
  double both = pow(pow(memory, 8) + pow(arrival, 8), 0.125); // where they are close, each waits for the other
  return share * both * (1 + narrow_loss * fmax(0, pieces - 1)) * (1 + short_rows(s));
}

// Blocks that find room at once: two on a multiprocessor where they need few registers. Pieces of which some lanes have no columns need
// more than direct.c counts.
static double stream_slots(const CostStream *s, const MirageTarget *target) {
  return target->num_sms * (!s->lane_k && mirage__direct_is_small(s->rows, s->columns, s->ragged) ? 2 : 1);
}

// One step of 32 rows in flight for each warp, more of narrower weights, no barrier. Rounds of blocks, of which the last
// may be a few that nobody helps.
static double direct_us(const CostKernel *kernel, const MirageTarget *target) {
  const CostStream *s = &kernel->stream;
  double slots = stream_slots(s, target), waves = ceil(kernel->blocks / slots);
  double busy = fmin(target->num_sms, kernel->blocks / waves);
  double full = floor(kernel->blocks / slots), rest = kernel->blocks - full * slots;
  double reading = full > 0 ? full * read_us(kernel, slots, target) : 0;
  if (rest > 0)
    reading += read_us(kernel, rest, target);
  double arithmetic = kernel->matmul_flops / target->matmul_flops_per_us +
                      kernel->fma_flops / target->fma_flops_per_us + kernel->special / target->exp_per_us;
  double steps = s->lane_k ? 1 : (double)s->depth / (32 * DIRECT_WARPS);
  double apart = fmax(0, kernel->outside_bytes / kernel->blocks - few_bytes) / apart_bytes_per_us;
  double more = kernel->persistent ? 0 : waves - 1; // rounds that begin and end
  return reading + apart * (1 + more) + (s->lane_k ? prepare_us + turn_of_rows_us * kernel->iterations : 0) +
         overlap_loss * arithmetic * target->num_sms / busy + block_us * more + conversion_us(kernel, busy, target) +
         outside_us * kernel->outside * (1 + more) + direct_step_us * (steps - 1) + (s->side_columns ? side_us : 0);
}

// ------------------------------------------------------------------------------------ tiles in shared memory

/// How the blocks share the multiprocessors.
typedef struct Occupancy {
  double resident, slots, waves; // blocks on a multiprocessor, on all of them; rounds of so many
  double busy;                   // multiprocessors
  double full, spread;           // share of slots, and of multiprocessors, that work, over all waves
} Occupancy;

// Blocks of unequal lengths: all wait for the last to end. Where there are more than find room at once, that is one of the
// shortest if the longest began first, else any; where all begin at once, multiprocessors with the longest have most to do.
static void add_waiting(const CostKernel *kernel, const MirageTarget *target, Occupancy *o) {
  double rounds = kernel->blocks / o->slots, beside = ceil(kernel->blocks / target->num_sms), most = 0;
  if (rounds > 1) {
    double late = kernel->longest_first ? kernel->shortest : kernel->longest / 2;
    o->waves = fmax(kernel->longest, rounds + late);
    o->full = o->spread = rounds / o->waves;
    return;
  }
  double fall = kernel->longest_first ? (kernel->longest - kernel->shortest) * target->num_sms / kernel->blocks : 0;
  for (double i = 0; i < beside; i++)
    most += fmax(kernel->shortest, kernel->longest - i * fall);
  o->waves = kernel->longest;
  o->full = rounds / o->waves;
  o->spread = kernel->blocks / target->num_sms / most;
}

// Blocks that find room at once, of which a multiprocessor has `resident`.
static double places_of(const CostKernel *kernel, double resident, const MirageTarget *target) {
  double places = target->num_sms * resident;
  return kernel->cluster < 4 ? places : fmax(1, floor(places * cluster_share / kernel->cluster)) * kernel->cluster;
}

static Occupancy occupy(const CostKernel *kernel, const MirageTarget *target) {
  double threads = kernel->threads > 0 ? kernel->threads : usual_threads;
  double registers = kernel->registers > 0 ? fmax(least_registers, kernel->registers) : tile_registers;
  double by_registers = floor(target->registers_per_sm / (threads * registers)), by_shared = by_registers;
  if (kernel->shared_bytes > 0)
    by_shared = floor(target->shared_bytes_per_sm / kernel->shared_bytes);
  Occupancy o = {.resident = fmax(1, fmin(by_registers, by_shared)), .busy = fmin(kernel->blocks, target->num_sms)};
  if (kernel->cluster >= 4 && kernel->blocks <= target->num_sms)
    o.resident = 1; // the planner gives each a whole multiprocessor
  o.slots = places_of(kernel, o.resident, target);
  o.waves = ceil(kernel->blocks / o.slots);
  o.full = kernel->blocks / (o.waves * o.slots);
  o.spread = fmin(1, kernel->blocks / (o.waves * target->num_sms));
  if (kernel->longest > 0)
    add_waiting(kernel, target, &o);
  return o;
}

// The share of device memory's rate that the loads can use.
static double supply_of(const CostKernel *kernel, const Occupancy *o, const MirageTarget *target) {
  double spare = target->shared_bytes_per_sm / o->resident - kernel->shared_bytes, stages = MAX_STAGES;
  if (kernel->stages > 0)
    stages = kernel->stages;
  else if (kernel->iteration_bytes > 0)
    stages = 2 + floor(spare / kernel->iteration_bytes);
  stages = fmin(MAX_STAGES, stages);
  double in_flight = fmin(fmin(kernel->blocks, o->slots) * kernel->iteration_bytes * stages, o->busy * most_bytes);
  double supply = fmin(1, o->busy / (saturating_share * target->num_sms));
  if (kernel->iterations > 1 && kernel->iteration_bytes > 0)
    supply = fmin(supply, in_flight / (target->dram_bytes_per_us * latency_us));
  if (kernel->iterations > 1 && kernel->weights && kernel->least_rows <= INSTRUCTION_M && !kernel->chain)
    supply *= staged_share;
  return supply;
}

// How long the elements of a chain of products are on their way through shared memory.
static double chain_us(const CostKernel *kernel, const Occupancy *o, const MirageTarget *target) {
  double bytes = stored_bytes * kernel->stored_elements + chain_bytes * kernel->spilled_elements;
  return kernel->chain ? bytes / (shared_bytes_per_us * target->num_sms * o->spread) : 0;
}

// What reductions of loaded tiles cost beside arithmetic: tiles that lie in shared memory are read one by one. A loop
// that streams has its operands in registers; so has a kernel without products what it does not walk in a loop.
static double reducing_us(const CostKernel *kernel, const MirageTarget *target) {
  double threads = kernel->threads > 0 ? kernel->threads : usual_threads;
  double elements = kernel->stream.columns ? 0 : kernel->reduced_elements - kernel->reduced_outside;
  if (kernel->least_rows > 0)
    elements += kernel->reduced_outside;
  return reduced_us * elements / kernel->blocks / threads * ceil(kernel->blocks / target->num_sms);
}

// Barriers, and what nothing hides.
static double fixed_us(const CostKernel *kernel, const Occupancy *o) {
  double late = kernel->least_rows < tall_rows ? outside_product_us : 0;
  double step =
      kernel->ahead ? chain_turn_us : iteration_us * (1 + kernel->waits); // what is used waits beside products
  return block_us * (o->waves - 1) + step * kernel->iterations * o->waves +
         (outside_us * kernel->outside + late * kernel->outside_products) * o->waves;
}

// Units that work beside each other: the longest is seen, and a share of the others.
static double overlapped(const double *units, size_t num, double loss) {
  double longest = 0, sum = 0;
  for (size_t i = 0; i < num; i++) {
    longest = fmax(longest, units[i]);
    sum += units[i];
  }
  return longest + loss * (sum - longest);
}

static double staged_us(const CostKernel *kernel, const MirageTarget *target) {
  const Occupancy o = occupy(kernel, target);
  double again = o.waves > 1 ? fmin(1, o.full) : 1; // the last wave takes as long as a full one
  double l2_share = fmin(1, o.busy / (saturating_share * target->num_sms));
  double units[] = {kernel->dram_bytes / (target->dram_bytes_per_us * supply_of(kernel, &o, target) * again),
                    kernel->l2_bytes / (target->l2_bytes_per_us * l2_share),
                    kernel->matmul_flops / (target->matmul_flops_per_us * fmax(o.full, o.spread)),
                    (kernel->fma_flops + 2 * staged_conversion * kernel->converted) /
                        (target->fma_flops_per_us * o.spread),
                    kernel->special / (target->exp_per_us * o.spread),
                    2 * kernel->l2_bytes / (shared_rate * target->l2_bytes_per_us * o.spread)};
  if (target->has_wgmma && kernel->least_rows >= tall_rows && !kernel->warpgroups)
    units[2] /= warp_share;
  enum { UNITS = sizeof units / sizeof *units };
  double sum = 0, loss = kernel->ahead ? chain_loss : overlap_loss;
  for (size_t i = 0; i < UNITS; i++)
    sum += units[i];
  // Nothing loads while the last iteration computes.
  double last = (sum - units[0] - units[1]) / fmax(1, kernel->iterations);
  double waiting = chain_us(kernel, &o, target) + fixed_us(kernel, &o);
  if (!kernel->chain || kernel->ahead)
    return overlapped(units, UNITS, loss) + waiting + last;
  // Products that feed each other wait for each other; meanwhile copies of later iterations come.
  double both[] = {units[0], overlapped(units + 1, UNITS - 1, loss) + waiting};
  return overlapped(both, 2, loss) + last;
}

// How long the tiles of one iteration take into a multiprocessor.
static double arriving_us(const CostKernel *kernel, const MirageTarget *target) {
  return kernel->iteration_bytes * target->num_sms / (port_share * target->l2_bytes_per_us);
}

// What nothing hides of a block with a producer: that its first tiles come, and at its end that results are computed and
// written. Blocks beside it hide some, of all tiles but one; persistent blocks begin once, and where their warpgroups take tiles in
// turn they end once.
static double ends_us(const CostKernel *kernel, double tiles, const MirageTarget *target) {
  double computing = kernel->fma_flops / target->fma_flops_per_us + kernel->special / target->exp_per_us;
  double begin = arriving_us(kernel, target), end = kernel->outside_bytes / kernel->blocks / end_bytes_per_us;
  end += (kernel->loads_outside ? late_us : 0) + computing * target->num_sms / kernel->blocks;
  end += kernel->turned_bytes / shared_bytes_per_us;
  if (kernel->beside > 1)
    return (begin + end) * (1 + beside_loss * (tiles - 1));
  if (kernel->grouped)
    return begin + end;
  double together = kernel->paired ? paired_us : kernel->cluster > 1 ? together_us : 0;
  return kernel->persistent ? begin + end * tiles : (begin + end + together) * tiles;
}

// Stages of a loop that a producer feeds, as a plan gives them (lib/layout/fit.c).
static double fed_stages(const CostKernel *kernel, const MirageTarget *target) {
  double room = floor(target->shared_bytes_per_sm / fmax(1, kernel->beside * kernel->iteration_bytes));
  double fed = kernel->beside > 1 ? 0 : 1 + ceil(MIRAGE_FED_BYTES / fmax(1, kernel->iteration_bytes));
  return fmin(room, fmax(MAX_STAGES, fmin(MIRAGE_MOST_STAGES, fed)));
}

// Iterations of which a block's copies are under way: those that have a stage, but for the one that is read.
static double copies_ahead(const CostKernel *kernel, const MirageTarget *target) {
  double stages = kernel->stages > 0 ? kernel->stages : fed_stages(kernel, target);
  if (stages >= kernel->iterations)
    return fmax(1, stages);
  return stages > 2 ? stages - 1 : half_ahead;
}

// How long copies take: all of them out of L2, those of a multiprocessor that has `tiles` blocks into it.
static double copies_us(const CostKernel *kernel, double tiles, const MirageTarget *target) {
  double bytes = kernel->l2_bytes - kernel->outside_bytes + kernel->box_excess;
  double in_flight = fmin(kernel->beside, tiles) * copies_ahead(kernel, target) * kernel->iteration_bytes;
  double port = port_share / target->num_sms * target->l2_bytes_per_us;
  double rate = in_flight / (arrival_us + arriving_us(kernel, target));
  double l2 = box_rate * (kernel->paired ? 1 : alone_rate) * target->l2_bytes_per_us;
  double share = tiles / kernel->blocks; // what a block of a pair receives is more than its share of what L2 gives
  double received = kernel->iteration_bytes * kernel->iterations * kernel->blocks + kernel->box_excess;
  return fmax(bytes / l2, share * fmax(bytes / port, received / rate));
}

// How much longer device memory takes than if all multiprocessors asked it: in the last round few may, where a block has a
// multiprocessor to itself.
static double memory_rounds(const CostKernel *kernel, double tiles, const MirageTarget *target) {
  double enough = target->dram_bytes_per_us * produced_rate / produced_bytes_per_us;
  double places = places_of(kernel, 1, target), last = kernel->blocks - places * (tiles - 1);
  if (tiles <= 1 || kernel->beside > 1)
    return 1 / fmin(1, fmin(kernel->blocks, places) / enough);
  return (places * (tiles - 1) + last / fmin(1, last / enough)) / kernel->blocks;
}

// A producer keeps tiles coming while warpgroups multiply. Of the three that may be waited for - the matrix unit, copies out
// of L2, device memory - the slowest is; a multiprocessor has as many tiles as the busiest one.
static double produced_us(const CostKernel *kernel, const MirageTarget *target) {
  double tiles = ceil(kernel->blocks / places_of(kernel, 1, target)), share = tiles / kernel->blocks;
  double copies = kernel->l2_bytes - kernel->outside_bytes;
  double crowded = fmax(0, shared_flops * (kernel->operand_bytes + copies) / kernel->matmul_flops - 1);
  double power = kernel->matmul_flops / target->matmul_flops_per_us * (1 + crowded_loss * crowded);
  double clock = kernel->matmul_flops * share * target->num_sms / (target->matmul_flops_per_us * full_clock);
  double multiply = fmax(power, clock + turn_us * kernel->iterations * tiles);
  double copy = copies_us(kernel, tiles, target);
  double memory = (kernel->dram_bytes / (target->dram_bytes_per_us * produced_rate) +
                   far_again * kernel->again_bytes / again_bytes_per_us) *
                  memory_rounds(kernel, tiles, target);
  double feed = fmax(kernel->box_us * share, fmax(copy, memory + through_l2 * copy)), longest = fmax(multiply, feed);
  double broken = kernel->broken_products > 0 ? 1 + broken_loss : 1;
  return broken * (longest + produced_loss * (multiply + feed - longest)) + ends_us(kernel, tiles, target);
}

// Whether rows are read and next to nothing is stored.
static bool only_reads(const CostKernel *kernel, double meeting_us) {
  return kernel->outside > 0 && meeting_us == 0 && kernel->written_bytes < few_stored * kernel->dram_bytes;
}

// Rows in registers that no other block has a part of. A block loads, reduces and stores; others load meanwhile, if there is room for
// them. `units`: device memory first.
static double own_rows_us(const CostKernel *kernel, const Occupancy *o, const double *units, size_t num) {
  double rounds = kernel->turns * fmax(1, kernel->blocks / o->slots), longest = units[0] / row_rate;
  double elements = kernel->fma_flops / (2 * kernel->blocks * kernel->turns);
  double block = rows_begin_us + row_reduction_us * kernel->outside + row_element_us * elements;
  double reducing = row_warp_us * kernel->outside * kernel->row_warps * kernel->blocks / o->busy;
  for (size_t i = 1; i < num; i++)
    longest = fmax(longest, units[i]);
  block = block * rounds + reducing;
  if (o->resident < 2 && rounds > 1)
    return fmax(block, longest + row_seen * block);
  return pow(pow(longest, row_overlap) + pow(block, row_overlap), 1 / row_overlap);
}

// Rows in registers: blocks of a multiprocessor load while others compute, so the units overlap, but no block is done
// before its rows have come and gone, turn by turn. Where nothing is reduced no thread waits for another.
static double thread_us(const CostKernel *kernel, double narrow_us, double meeting_us, const MirageTarget *target) {
  const Occupancy o = occupy(kernel, target);
  double share = fmin(1, o.busy / (saturating_share * target->num_sms)), spread = o.busy / target->num_sms;
  bool reads = only_reads(kernel, meeting_us);
  bool own = kernel->outside > 0 && meeting_us == 0 && !reads;
  bool follow = kernel->outside > 0 && !reads && (kernel->turns > 1 || (!own && kernel->blocks > o.slots));
  double late = follow ? fmin(most_turns_loss, few_turns * target->num_sms / (kernel->blocks * kernel->turns)) : 0;
  double rounds = kernel->turns * fmax(1, kernel->blocks / o.slots), latency = meeting_us > 0        ? met_rows_us
                                                                               : kernel->outside > 0 ? rows_us
                                                                                                     : elements_us;
  double rate = target->dram_bytes_per_us * share * (meeting_us > 0 ? met_rows_share : reads ? reading_rate : 1);
  double units[] = {(kernel->dram_bytes + new_run_bytes * kernel->runs) / rate * (1 + late),
                    kernel->l2_bytes / (target->l2_bytes_per_us * share),
                    kernel->fma_flops / (target->fma_flops_per_us * spread),
                    kernel->special / (target->exp_per_us * spread),
                    narrow_us,
                    (latency + meeting_us) * rounds};
  enum { UNITS = sizeof units / sizeof *units, WAITING = UNITS - 1 };
  double longest = 0, sum = 0;
  if (own)
    return own_rows_us(kernel, &o, units, WAITING);
  for (size_t i = 0; i < UNITS; i++) {
    longest = fmax(longest, units[i]);
    sum += i < WAITING ? units[i] : 0;
  }
  if (o.resident < 2 && rounds > 1) // nobody loads while the only block waits
    longest = fmax(longest, units[0] + units[WAITING]);
  double gathered = 1 + piece_loss * fmax(0, kernel->pieces - 1);
  double others = longest > units[WAITING] ? sum - longest : sum, beside = reads ? 0 : overlap_loss * fmax(0, others);
  return longest * gathered + beside + latency / 4 + meeting_us + next_rows_us * (kernel->turns - 1) +
         outside_us * kernel->outside;
}

// Blocks of clusters of eight occupy 128 of 132 multiprocessors: how many of so many blocks work at once.
static double long_rows_slots(const CostKernel *kernel, double resident, const MirageTarget *target) {
  double members = fmax(1, kernel->cluster);
  return floor(target->num_sms * (members > 2 ? long_rows_share : 1) / members) * members * resident;
}

// A turn's passes over its rows, one for each reduction and one for what is stored, on one multiprocessor.
static double passes_us(const CostKernel *kernel, const MirageTarget *target) {
  double elements = kernel->turn_bytes / kernel->row_bytes, of_all = kernel->turns * kernel->blocks;
  double special = kernel->special / of_all * target->num_sms / target->exp_per_us;
  return pass_us * elements * (1 + kernel->outside) + special_share * special;
}

// Which share of it is seen: while a block computes, its next rows come, and so do those of blocks beside it.
static double seen_of(const CostKernel *kernel, double resident, double meeting_us) {
  bool alone = kernel->turns <= 1 && resident <= 1;
  if (alone || meeting_us > 0)
    return alone ? 1 : seen_meeting;
  return resident > 1 ? 0 : seen_share;
}

// Rows that wait in shared memory: device memory is busy from the first turn's copies to the last turn's stores, but where all
// that a multiprocessor has come is computed. Blocks that meet again wait until what they stored has reached L2.
static double rounds_of(const CostKernel *kernel, double slots) {
  double rounds = kernel->blocks / slots;
  return kernel->cluster > 1 || rounds <= 1 ? ceil(rounds) : rounds + late_share;
}

static double rows_ahead_us(const CostKernel *kernel, double meeting_us, const MirageTarget *target) {
  const Occupancy o = occupy(kernel, target);
  double slots = long_rows_slots(kernel, o.resident, target), rounds = rounds_of(kernel, slots);
  double busy = fmin(kernel->blocks, slots) / o.resident, spread = fmin(1, busy / target->num_sms);
  double share = fmin(1, spread / long_rows_saturate) * kernel->blocks / (rounds * fmin(kernel->blocks, slots));
  double turns = kernel->turns * rounds;
  double met = meeting_us > 0 ? meeting_us * turns / o.resident + drained_us * (turns - rounds) : 0;
  bool reads =
      only_reads(kernel, meeting_us) && turns > 1 && kernel->turns == 1; // others' copies come beside a block's passes
  bool beside = o.resident > 1 && meeting_us == 0;
  double rate = target->dram_bytes_per_us * (reads ? reading_rate : beside ? row_rate * share : share);
  double units[] = {
      kernel->dram_bytes / rate,
      (kernel->l2_bytes + kernel->same_bytes * (kernel->turns - 1) * kernel->blocks) / target->l2_bytes_per_us,
      kernel->fma_flops / (target->fma_flops_per_us * spread), kernel->special / (target->exp_per_us * spread), met};
  double passes = reads ? 0 : passes_us(kernel, target) * turns * o.resident * seen_of(kernel, o.resident, meeting_us);
  double cut = cut_us * kernel->cut_elements / busy * (o.resident > 1 ? cut_beside : 1);
  double crowded = 1 + more_members * fmax(0, log2(fmax(1, kernel->cluster)) - 1) + turn_loss * log2(kernel->turns);
  return (overlapped(units, sizeof units / sizeof *units, long_rows_loss) + latency_us + passes + cut) * crowded;
}

double mirage__cost_kernel_us(const CostKernel *kernel, const MirageTarget *target) {
  if (kernel->resident && kernel->blocks > target->num_sms)
    return INFINITY;
  double narrow = kernel->narrow_elements / (narrow_per_us * fmin(kernel->blocks, target->num_sms));
  double exchange = kernel->produced && kernel->cluster == 2 ? pair_exchange : 1;
  double meeting = kernel->collective_us + exchange * kernel->exchange_us;
  if (kernel->turns > 0 && kernel->turn_bytes > 0)
    return rows_ahead_us(kernel, meeting, target);
  if (kernel->turns > 0)
    return thread_us(kernel, narrow, meeting, target);
  double us = kernel->stream.columns ? direct_us(kernel, target)
              : kernel->produced     ? produced_us(kernel, target)
                                     : staged_us(kernel, target);
  double stored = kernel->narrow_stored / (narrow_per_us * fmin(kernel->blocks, target->num_sms));
  return us + narrow + stored + meeting + reducing_us(kernel, target);
}
