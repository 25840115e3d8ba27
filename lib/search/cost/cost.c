// cost.c - predicted time of a kernel: bytes, flops, special functions, waves, meetings.
//
// A kernel is summed up as a CostKernel (what it moves and computes, and how: cost_amounts.c), of a plan by cost_plan.c and of a
// structure that has none by search_cost.c; one formula turns that into microseconds, in parts: streamed weights in cost_stream.c, rows in
// cost_rows.c, tiles in shared memory here. The model and where its constants were measured: README.md. It ranks schedules; it does not
// promise times.
#include "search/cost/cost_time.h"
#include <math.h>

enum { MAX_STAGES = 4 };

static const double most_bytes = 64 * 1024;   // in flight on a multiprocessor: more gain nothing,
static const double most_fed = 160 * 1024;    // but where the copy engine brings them to few
static const double iteration_us = 0.2;       // a barrier: for the loads of an iteration, for each result used in it
static const double outside_product_us = 0.6; // a product in few rows, outside loops: its loads and it do not overlap
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
static const double shared_flops = 33;        // of a multiprocessor, in the time of a byte of shared memory
static const double half_ahead = 0.56; // stages ahead where there are two: products run on and still read the other one
static const double through_l2 = 0.25; // of the time of copies out of L2, while it fills from device memory
static const double crowded_loss = 0.45;  // of the time by which shared memory takes longer than the matrix unit
static const double produced_rate = 1.13; // of device memory's rate, that copies by a producer reach,
static const double produced_bytes_per_us = 70e3; // as long as a multiprocessor gets no more (H100, H200)
static const double far_again = 0.45;             // of what far blocks load at once comes again,
static const double again_bytes_per_us = 3.2e6;   // at this rate, whatever device memory's is (H100, H200)
static const double pair_exchange = 0.2;          // of the time of an exchange, between two blocks with producers
static const double alone_rate = 1.6;  // of L2's, where no pairs share copies: neighbours ask for the same lines
static const double full_clock = 1.25; // of a multiprocessor's share of the matrix rate, while others leave it power
static const double idle_share = 0.35; // of what multiprocessors idle in the last round, which power does not give back
static const double warp_share = 0.45; // of the matrix rate that warps reach where warpgroups have an instruction
static const double staged_conversion = 25; // instructions for an element, where tiles pass through shared memory
static const double staged_share =
    0.8; // of device memory that a loop of few rows uses whose weights pass through shared memory
static const double cluster_share = 0.9; // of the multiprocessors, that clusters of four and more can occupy
static const double shared_rate = 4;     // shared memory moves this many times the bytes of L2
static const double chain_bytes = 48;    // of shared memory an element of a chain of products moves outside registers
static const double stored_bytes = 34;   // the same for each value of such a chain that a plan puts there
static const double shared_bytes_per_us = 253e3; // of a multiprocessor: 128 bytes a cycle
static const double tall_rows = 64;              // of a tile that warpgroups can multiply
static const double tile_registers = 128;        // registers of a thread; with 256 threads, two blocks a multiprocessor
static const double least_registers = 32;        // below which more threads do not fit

// Blocks of unequal lengths: all wait for the last to end. Where there are more than find room at once, that is one of the
// shortest if the longest began first, else any; where all begin at once, multiprocessors with the longest have most to do.
static void add_waiting(const CostKernel *kernel, const MirageTarget *target, CostOccupancy *o) {
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

CostOccupancy mirage__cost_occupy(const CostKernel *kernel, const MirageTarget *target) {
  double threads = kernel->threads > 0 ? kernel->threads : usual_threads;
  double registers = kernel->registers > 0 ? fmax(least_registers, kernel->registers) : tile_registers;
  double by_registers = floor(target->registers_per_sm / (threads * registers)), by_shared = by_registers;
  if (kernel->shared_bytes > 0)
    by_shared = floor(target->shared_bytes_per_sm / kernel->shared_bytes);
  CostOccupancy o = {.resident = fmax(1, fmin(by_registers, by_shared)), .busy = fmin(kernel->blocks, target->num_sms)};
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
static double supply_of(const CostKernel *kernel, const CostOccupancy *o, const MirageTarget *target) {
  double spare = target->shared_bytes_per_sm / o->resident - kernel->shared_bytes, stages = MAX_STAGES;
  if (kernel->stages > 0)
    stages = kernel->stages;
  else if (kernel->iteration_bytes > 0)
    stages = 2 + floor(spare / kernel->iteration_bytes);
  stages = fmin(MAX_STAGES, stages);
  double in_flight = fmin(fmin(kernel->blocks, o->slots) * kernel->iteration_bytes * stages,
                          o->busy * (kernel->fed ? most_fed : most_bytes));
  double supply = fmin(1, o->busy / (saturating_share * target->num_sms));
  if (kernel->iterations > 1 && kernel->iteration_bytes > 0)
    supply = fmin(supply, in_flight / (target->dram_bytes_per_us * latency_us));
  if (kernel->iterations > 1 && kernel->weights && kernel->least_rows <= INSTRUCTION_M && !kernel->chain)
    supply *= staged_share;
  return supply;
}

// How long the elements of a chain of products are on their way through shared memory.
static double chain_us(const CostKernel *kernel, const CostOccupancy *o, const MirageTarget *target) {
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
static double fixed_us(const CostKernel *kernel, const CostOccupancy *o) {
  double late = kernel->least_rows < tall_rows ? outside_product_us : 0;
  double step =
      kernel->ahead ? chain_turn_us : iteration_us * (1 + kernel->waits); // what is used waits beside products
  return block_us * (o->waves - 1) + step * kernel->iterations * o->waves +
         (outside_us * kernel->outside + late * kernel->outside_products) * o->waves;
}

double mirage__cost_overlapped(const double *units, size_t num, double loss) {
  double longest = 0, sum = 0;
  for (size_t i = 0; i < num; i++) {
    longest = fmax(longest, units[i]);
    sum += units[i];
  }
  return longest + loss * (sum - longest);
}

static double staged_us(const CostKernel *kernel, const MirageTarget *target) {
  const CostOccupancy o = mirage__cost_occupy(kernel, target);
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
    return mirage__cost_overlapped(units, UNITS, loss) + waiting + last;
  // Products that feed each other wait for each other; meanwhile copies of later iterations come.
  double both[] = {units[0], mirage__cost_overlapped(units + 1, UNITS - 1, loss) + waiting};
  return mirage__cost_overlapped(both, 2, loss) + last;
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
  double places = places_of(kernel, 1, target);
  double tiles = ceil(kernel->blocks / places), share = tiles / kernel->blocks;
  double copies = kernel->l2_bytes - kernel->outside_bytes;
  double crowded = fmax(0, shared_flops * (kernel->operand_bytes + copies) / kernel->matmul_flops - 1);
  double power = kernel->matmul_flops / target->matmul_flops_per_us * (1 + crowded_loss * crowded) *
                 (1 + idle_share * (tiles * places / kernel->blocks - 1));
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

double mirage__cost_kernel_us(const CostKernel *kernel, const MirageTarget *target) {
  if (kernel->resident && kernel->blocks > target->num_sms)
    return INFINITY;
  double narrow = kernel->narrow_elements / (narrow_per_us * fmin(kernel->blocks, target->num_sms));
  double exchange = kernel->produced && kernel->cluster == 2 ? pair_exchange : 1;
  double meeting = kernel->collective_us + exchange * kernel->exchange_us;
  if (kernel->turns > 0 && kernel->turn_bytes > 0)
    return mirage__cost_rows_ahead_us(kernel, meeting, target);
  if (kernel->turns > 0)
    return mirage__cost_thread_us(kernel, narrow, meeting, target);
  double us = kernel->stream.columns ? mirage__cost_stream_us(kernel, target)
              : kernel->produced     ? produced_us(kernel, target)
                                     : staged_us(kernel, target);
  double stored = kernel->narrow_stored / (narrow_per_us * fmin(kernel->blocks, target->num_sms));
  return us + narrow + stored + meeting + reducing_us(kernel, target);
}
