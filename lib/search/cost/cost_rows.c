// cost_rows.c - predicted time of a kernel whose blocks have rows: in registers, or waiting in shared memory.
#include "search/cost/cost_time.h"
#include <math.h>

static const double new_run_bytes = 12;      // as many more could be read where a run of elements begins
static const double elements_us = 0.25;      // in registers: from their loads to their stores
static const double rows_us = 0.6;           // the same of rows
static const double row_rate = 1.08;         // of device memory's rate, that blocks with rows of their own reach
static const double rows_begin_us = 0.3;     // of a block's rows, until the first loads are there,
static const double row_reduction_us = 0.11; // for each reduction,
static const double row_element_us = 1e-5;   // and for each element of each operator
static const double row_warp_us = 6.4e-3;    // for each of them and each warp that has a part of a row
static const double row_overlap = 1.8;       // of blocks beside each other the root of the sum of such powers is seen,
static const double row_seen = 0.27;         // and a block alone hides all of its time but this
static const double met_rows_share = 0.8;    // of device memory, that they can use
static const double met_rows_us = 0.8;       // and of rows that blocks share
static const double pass_us = 8e-6;      // an element of long rows, which wait in shared memory, each time it is read
static const double special_share = 0.2; // of special functions, beside that
static const double seen_share = 0.5;    // of both, beside other turns' copies and stores
static const double seen_meeting = 0.75; // and where blocks meet; others hide each other's
static const double cut_us =
    26e-6; // an element, out of two windows that hold it (H200, norms of 20 and 50 thousand columns),
static const double cut_beside = 0.55;         // of which this is seen where blocks are beside each other
static const double long_rows_share = 0.97;    // of the multiprocessors, that clusters of such blocks can occupy
static const double long_rows_saturate = 0.95; // of the multiprocessors, at work, saturate device memory
static const double more_members = 0.15;       // longer for each doubling of a cluster beyond two
static const double late_share = 0.13;         // of a block, that the last ones of many end after the others
static const double turn_loss = 0.01;          // for each doubling of a block's turns (H100, H200: 1 to 64 turns)
static const double long_rows_loss = 0.05;     // of the units that are not the bottleneck
static const double next_rows_us = 0.3;        // of a turn of rows that nothing else hides, where another follows
static const double few_turns = 3;        // turns of a multiprocessor, of those of all its blocks, that nothing hides,
static const double piece_loss = 0.04;    // of a thread that loads several pieces before it computes (H100, chains)
static const double few_stored = 1. / 16; // of a kernel's bytes: it reads, and nothing else seen takes time
static const double reading_rate = 1.13;  // of device memory, then (H100: weights by one row, 3.05 TB/s)
static const double most_turns_loss = 0.45; // but no more of reading than this (H100, gradient of RMSNorm, 8192 rows)

// Whether rows are read and next to nothing is stored.
static bool only_reads(const CostKernel *kernel, double meeting_us) {
  return kernel->outside > 0 && meeting_us == 0 && kernel->written_bytes < few_stored * kernel->dram_bytes;
}

// Rows in registers that no other block has a part of. A block loads, reduces and stores; others load meanwhile, if there is room for
// them. `units`: device memory first.
static double own_rows_us(const CostKernel *kernel, const CostOccupancy *o, const double *units, size_t num) {
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
double mirage__cost_thread_us(const CostKernel *kernel, double narrow_us, double meeting_us,
                              const MirageTarget *target) {
  const CostOccupancy o = mirage__cost_occupy(kernel, target);
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
// that a multiprocessor has come is computed.
static double rounds_of(const CostKernel *kernel, double slots) {
  double rounds = kernel->blocks / slots;
  return kernel->cluster > 1 || rounds <= 1 ? ceil(rounds) : rounds + late_share;
}

double mirage__cost_rows_ahead_us(const CostKernel *kernel, double meeting_us, const MirageTarget *target) {
  const CostOccupancy o = mirage__cost_occupy(kernel, target);
  double slots = long_rows_slots(kernel, o.resident, target), rounds = rounds_of(kernel, slots);
  double busy = fmin(kernel->blocks, slots) / o.resident, spread = fmin(1, busy / target->num_sms);
  double share = fmin(1, spread / long_rows_saturate) * kernel->blocks / (rounds * fmin(kernel->blocks, slots));
  double turns = kernel->turns * rounds;
  double met = meeting_us * turns / o.resident;
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
  return (mirage__cost_overlapped(units, sizeof units / sizeof *units, long_rows_loss) + latency_us + passes + cut) *
         crowded;
}
