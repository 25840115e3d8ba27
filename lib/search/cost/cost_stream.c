// cost_stream.c - predicted time of a kernel that streams weights past the matrix instruction (lib/layout/direct.c).
#include "search/cost/cost_time.h"
#include <math.h>

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
static const double conversion_loss = 1.25;    // of the time of instructions that make numbers of stored weights
static const double side_us = 0.3;             // to see that side blocks are done and read what they left
static const double direct_step_us = 0.6;      // for each further step of an iteration
static const double narrow_loss = 0.1;         // of loads of 8 bytes instead of 16, of the time of reading
static const double turn_of_rows_us = 0.5e-3;  // an iteration of such a loop, whose steps are divided among the warps
static const double few_bytes = 16e3;          // of a block, which are read and stored beside a stream,
static const double apart_bytes_per_us = 30e3; // and more of them, while nothing streams
static const double prepare_us = 0.3; // to compute activations before the first step, while weights are under way

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
double mirage__cost_stream_us(const CostKernel *kernel, const MirageTarget *target) {
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
