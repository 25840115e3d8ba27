// cost.c - predicted time of a kernel: bytes, flops, special functions, waves, meetings.
//
// A kernel is summed up as a CostKernel (what it moves and computes), of a graph by cost_graph.c and of a structure
// under a schedule by search_cost.c; one formula turns that into microseconds. The model and where its constants were
// measured: README.md. It ranks schedules; it does not promise times.
#include "layout/block.h"
#include "search/cost/cost_kernel.h"
#include <math.h>
#include <string.h>

enum {
  SECTOR_BYTES = 32,
  INSTRUCTION_M = 16,
  INSTRUCTION_N = 8,
  INSTRUCTION_K = 16,
  MAX_STAGES = 4,
  OWN_TILE = 128,
  NARROW_BYTES = 4
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
static const double pipelined_us = 0.02;      // an iteration whose loads a producer of its own issues
static const double reduced_us = 0.02;     // an element that a thread reads from shared memory to reduce it, in a loop
static const double narrow_per_us = 8600;  // elements that a multiprocessor loads one by one
static const double warp_share = 0.45;     // of the matrix rate that warps reach where warpgroups have an instruction
static const double overlap_loss = 0.1;    // share of the units that are not the bottleneck
static const double pipelined_loss = 0.03; // the same with such a producer
static const double direct_latency_us = 0.5;    // of a step where every warp has one in flight, before its bytes arrive
static const double direct_bytes_per_us = 74e3; // of a step, on one multiprocessor
static const double direct_share = 0.73;        // of the multiprocessors saturate device memory
static const double direct_loss = 0.6;          // what each that is missing costs, of its own share
static const double staged_share = 0.8; // of device memory that such a loop uses where it passes through shared memory
static const double side_us = 0.3;      // to see that side blocks are done and read what they left
static const double direct_step_us = 0.6;     // for each further step of an iteration
static const double grid_meeting_us = 1.6;    // release, poll and read back: blocks that wait for each other
static const double cluster_meeting_us = 1.2; // two barriers of a cluster, reads of its other blocks' memory
static const double pair_meeting_us = 1.0;    // the same in a cluster of two
static const double grid_exchange = 60e3;     // bytes a block writes and reads in a microsecond where the grid meets
static const double cluster_exchange = 35e3;  // and where a cluster does
static const double multicast_us = 0.35;      // an iteration that blocks of a cluster begin together
static const double cluster_share = 0.9;      // of the multiprocessors, that clusters of four and more can occupy
static const double shared_rate = 4;          // shared memory moves this many times the bytes of L2
static const double chain_bytes = 48;  // of shared memory an element of a chain of products moves outside registers
static const double stored_bytes = 34; // the same for each value of such a chain that a plan puts there
static const double shared_bytes_per_us = 253e3; // of a multiprocessor: 128 bytes a cycle
static const double register_rows = 64;          // of a tile that four warps keep in registers from product to product
static const double chain_registers = 66; // of a thread, beside products: vectors of the rows, operands, addresses
static const double tile_registers = 128; // registers of a thread; with 256 threads, two blocks a multiprocessor
static const double other_registers = 40; // of a thread, beside accumulators
static const double usual_threads = 256;  // of a block

static double round_up(double value, double unit) { return ceil(value / unit) * unit; }

// ------------------------------------------------------------------------------------------ amounts

// Whether a tile's rows lie as the matrix instruction of a warpgroup reads them: lib/layout/copies.c, mirage__swizzled_layout.
static bool is_swizzled(int64_t width) { return width % 64 == 0 || width == 32 || width == 16; }

// Whether no matrix instruction of a warpgroup fits the product's tile: lib/layout/warpgroup.c.
static bool is_uneven(const MirageType *result, const MirageType *a, const MirageType *b) {
  const int64_t *out = &result->shape[result->rank - 2];
  return out[0] % 64 || out[1] % 8 || !is_swizzled(a->shape[a->rank - 1]) || !is_swizzled(b->shape[b->rank - 1]);
}

static void add_matmul(CostKernel *kernel, const MirageAttrs *attrs, const MirageType *result, const MirageType *a,
                       const MirageType *b, double times) {
  bool transposed = attrs && attrs->matmul.transpose_a;
  double n = (double)result->shape[result->rank - 1], m = (double)result->shape[result->rank - 2];
  double k = (double)a->shape[a->rank - (transposed ? 2 : 1)];
  double batch = (double)mirage_type_elements(result) / (m * n);
  // Either operand may be the instruction's A: the cheaper rounding counts.
  double plain = round_up(m, INSTRUCTION_M) * round_up(n, INSTRUCTION_N);
  double swapped = round_up(n, INSTRUCTION_M) * round_up(m, INSTRUCTION_N);
  kernel->product_elements += batch * m * n * times;
  kernel->product_columns += n;
  kernel->uneven |= is_uneven(result, a, b);
  kernel->least_rows = kernel->least_rows > 0 ? fmin(kernel->least_rows, batch * m) : batch * m;
  kernel->matmul_flops += 2 * batch * fmin(plain, swapped) * round_up(k, INSTRUCTION_K) * times;
  kernel->flops += 2 * batch * m * n * k * times;
}

void mirage__cost_operator(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *result,
                           const MirageType *a, const MirageType *b, double times) {
  double elements = (double)mirage_type_elements(result) * times;
  double operand_elements = a ? (double)mirage_type_elements(a) * times : 0;
  switch (mirage_op_info(op)->kind) {
  case MIRAGE_KIND_MATMUL:
    add_matmul(kernel, attrs, result, a, b, times);
    break;
  case MIRAGE_KIND_UNARY:
    kernel->special += elements;
    kernel->fma_flops += 2 * elements;
    kernel->flops += elements;
    break;
  case MIRAGE_KIND_BINARY:
    kernel->special += op == MIRAGE_OP_DIV ? elements : 0;
    kernel->fma_flops += 2 * elements;
    kernel->flops += elements;
    break;
  case MIRAGE_KIND_REDUCE:
    kernel->fma_flops += 2 * operand_elements;
    kernel->flops += operand_elements;
    break;
  case MIRAGE_KIND_CAST:
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

void mirage__cost_access(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times) {
  double run = run_of(tensor, tile), run_bytes = run * mirage_dtype_bytes(tile->dtype);
  double runs = (double)mirage_type_elements(tile) / run;
  double bytes = round_up(run_bytes, SECTOR_BYTES);
  if (run_bytes > SECTOR_BYTES && bytes > run_bytes)
    bytes += SECTOR_BYTES; // they begin in the middle of sectors
  kernel->l2_bytes += runs * bytes * times;
}

void mirage__cost_load(CostKernel *kernel, const MirageType *tensor, const MirageType *tile, double times) {
  double run_bytes = run_of(tensor, tile) * mirage_dtype_bytes(tile->dtype);
  double row = tensor->rank ? (double)tensor->shape[tensor->rank - 1] : 1;
  bool aligned = fmod(run_bytes, NARROW_BYTES) == 0 &&
                 (row == 1 || fmod(row * mirage_dtype_bytes(tensor->dtype), NARROW_BYTES) == 0);
  if (!aligned && mirage_type_elements(tile) > 1)
    kernel->narrow_elements += (double)mirage_type_elements(tile) * times;
  mirage__cost_access(kernel, tensor, tile, times);
}

void mirage__cost_collective(CostKernel *kernel, const MirageType *tile, double members, bool cluster) {
  // One meeting serves all tiles. Each member writes its part and finishes a share of the result, for which it reads
  // that share of every part.
  double meeting_us = !cluster ? grid_meeting_us : members > 2 ? cluster_meeting_us : pair_meeting_us;
  kernel->collective_us = fmax(kernel->collective_us, meeting_us);
  kernel->exchange_us += 2 * (double)mirage_type_bytes(tile) / (cluster ? cluster_exchange : grid_exchange);
  kernel->resident |= !cluster;
  kernel->cluster = cluster ? members : kernel->cluster;
  kernel->l2_bytes += 2 * (double)mirage_type_bytes(tile) * kernel->blocks;
  kernel->fma_flops += (double)mirage_type_elements(tile) * kernel->blocks;
}

void mirage__cost_tile(CostKernel *kernel, const MirageType *tile, double copies) {
  kernel->shared_bytes += round_up((double)mirage_type_bytes(tile), 16) * copies;
}

// ------------------------------------------------------------------------------------ streamed weights

void mirage__cost_step(CostKernel *kernel, MirageOp op, bool inside_loop) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  bool product = kind == MIRAGE_KIND_MATMUL, other = kind == MIRAGE_KIND_REDUCE || kind == MIRAGE_KIND_COLLECTIVE;
  kernel->outside += !inside_loop && (product || other);
  kernel->outside_products += !inside_loop && product;
  kernel->stream.products += inside_loop && product;
  kernel->stream.others += inside_loop && other;
}

bool mirage__cost_is_long(const MirageType *tile) {
  uint32_t long_dims = 0;
  for (uint32_t d = 0; d < tile->rank; d++)
    long_dims += tile->shape[d] > 1;
  return long_dims > 1;
}

void mirage__cost_passage(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *a,
                          bool a_of_product, bool b_of_product, bool inside_loop, double times) {
  double elements = (double)mirage_type_elements(a) * times;
  if (mirage_op_info(op)->kind == MIRAGE_KIND_REDUCE && !a_of_product) {
    kernel->reduced_elements += elements;
    kernel->reduced_outside += inside_loop ? 0 : elements;
  }
  if (!inside_loop)
    return;
  if (op == MIRAGE_OP_MATMUL)
    kernel->crossed |= b_of_product || (a_of_product && attrs && attrs->matmul.transpose_a);
  if (op != MIRAGE_OP_TRANSPOSE || !mirage__cost_is_long(a))
    return;
  kernel->crossed |= a_of_product;
  kernel->stored_elements += kernel->planned ? 0 : elements;
}

void mirage__cost_carry(CostKernel *kernel, MirageOp op, const MirageAttrs *attrs, const MirageType *a,
                        const MirageType *b, bool b_is_loaded, bool same_in_all_blocks) {
  CostStream *stream = &kernel->stream;
  stream->carries++;
  stream->product_carries += op == MIRAGE_OP_MATMUL;
  if (op != MIRAGE_OP_NONE && mirage_op_info(op)->kind == MIRAGE_KIND_REDUCE)
    stream->carried += mirage__matrix_extents(a) != NULL;
  if (op != MIRAGE_OP_MATMUL || !b_is_loaded || b->dtype == MIRAGE_F32 || (attrs && attrs->matmul.transpose_b))
    return;
  const int64_t *a_shape = mirage__matrix_extents(a), *b_shape = mirage__matrix_extents(b);
  if (!a_shape || !b_shape)
    return;
  int64_t rows = a_shape[attrs && attrs->matmul.transpose_a ? 1 : 0];
  stream->uneven |= stream->columns && (stream->rows != rows || stream->depth != b_shape[0]);
  stream->rows = rows;
  stream->depth = b_shape[0];
  stream->columns += b_shape[1];
  stream->side_columns += same_in_all_blocks ? b_shape[1] : 0;
  stream->carried++;
}

static bool is_direct(const CostKernel *kernel, const MirageTarget *target) {
  const CostStream *s = &kernel->stream;
  if ((kernel->threads > 0 && kernel->threads != 32 * DIRECT_WARPS) || !s->columns || s->uneven ||
      (kernel->planned && kernel->stored_elements > 0) || s->carried != s->carries ||
      s->products + s->others != s->carries)
    return false;
  int32_t registers = mirage__direct_registers(s->rows, s->columns);
  double weights = 2.0 * (double)(s->depth * s->columns);
  return registers && mirage__direct_fits(s->depth, registers, DIRECT_WARPS, target) &&
         2 * (kernel->iteration_bytes - weights) <= weights;
}

// One step of 32 rows in flight for each warp, no barrier. All that the loop reads, activations too, comes in at what
// is in flight over the time that it takes to arrive.
static double direct_us(const CostKernel *kernel, const MirageTarget *target) {
  const CostStream *s = &kernel->stream;
  double waves = ceil(kernel->blocks / target->num_sms), busy = kernel->blocks / waves;
  double columns = (double)s->columns, read = kernel->l2_bytes, side = 0;
  if (s->side_columns && s->side_columns < s->columns && (kernel->side_blocks || !kernel->planned) &&
      kernel->blocks + 1 <= target->num_sms && kernel->cluster <= 1 &&
      kernel->collective_us == 0) { // computed by side blocks
    columns -= (double)s->side_columns;
    read -= 2.0 * (double)(s->side_columns * s->depth) * kernel->iterations * kernel->blocks;
    side = side_us;
  }
  double step_bytes = 2.0 * 32 * DIRECT_WARPS * (columns + (double)s->rows);
  double arriving = busy * step_bytes / (direct_latency_us + step_bytes / direct_bytes_per_us);
  double supply = 1 - direct_loss * fmax(0, direct_share - busy / target->num_sms);
  double reading = fmax(kernel->dram_bytes / (target->dram_bytes_per_us * supply), read / arriving);
  double arithmetic = kernel->matmul_flops / target->matmul_flops_per_us +
                      kernel->fma_flops / target->fma_flops_per_us + kernel->special / target->exp_per_us;
  double steps = (double)s->depth / (32 * DIRECT_WARPS);
  return reading + overlap_loss * arithmetic * target->num_sms / busy + block_us * (waves - 1) +
         outside_us * kernel->outside * waves + direct_step_us * (steps - 1) + side;
}

// ------------------------------------------------------------------------------------------ one kernel

// Whether products feed each other in a loop.
static bool is_chain(const CostKernel *kernel) { return kernel->stream.products > kernel->stream.product_carries; }

// Whether their results do not stay in registers: in the cells of one product's result another finds its first operand,
// as it stands, where there is room. Warps of 16 rows hold a row's columns, four cells for eight of them.
static bool spills(const CostKernel *kernel, const MirageTarget *target) {
  double registers = fmin(255, target->registers_per_sm / (2 * kernel->least_rows)) - chain_registers;
  return kernel->crossed || kernel->least_rows < register_rows || kernel->product_columns / 2 > registers;
}

// Whether warpgroups multiply: tall tiles, straight out of what was loaded or out of registers.
static bool by_warpgroups(const CostKernel *kernel, const MirageTarget *target) {
  bool chained = is_chain(kernel) && !kernel->planned && spills(kernel, target);
  return target->has_wgmma && kernel->least_rows >= register_rows && !kernel->uneven && kernel->stored_elements == 0 &&
         !chained;
}

// How long the elements of a chain of products are on their way through shared memory.
static double chain_us(const CostKernel *kernel, const MirageTarget *target, double spread) {
  double rate = shared_bytes_per_us * target->num_sms * spread;
  if (!is_chain(kernel))
    return 0;
  double stored = stored_bytes * kernel->stored_elements / rate;
  if (kernel->planned && kernel->least_rows >= register_rows)
    return stored;
  return stored + (spills(kernel, target) ? chain_bytes * kernel->product_elements / rate : 0);
}

// What reductions of loaded tiles cost beside arithmetic: tiles that lie in shared memory are read one by one. A loop
// that streams has its operands in registers; so has a kernel without products what it does not walk in a loop.
static double reducing_us(const CostKernel *kernel, const MirageTarget *target, bool direct) {
  double threads = kernel->threads > 0 ? kernel->threads : usual_threads;
  double elements = direct ? 0 : kernel->reduced_elements - kernel->reduced_outside;
  if (kernel->stream.products + kernel->outside_products > 0)
    elements += kernel->reduced_outside;
  return reduced_us * elements / kernel->blocks / threads * ceil(kernel->blocks / target->num_sms);
}

double mirage__cost_kernel_us(const CostKernel *kernel, const MirageTarget *target) {
  double threads = kernel->threads > 0 ? kernel->threads : usual_threads;
  double registers = tile_registers; // of a thread, for accumulators
  if (kernel->threads > 0)
    registers = fmin(255, target->registers_per_sm / threads) - other_registers;
  if (kernel->accumulator_bytes > threads * registers * 4 || (kernel->resident && kernel->blocks > target->num_sms))
    return INFINITY;
  bool direct = is_direct(kernel, target);
  double streamed = direct ? 2 * 2.0 * (double)(kernel->stream.depth * kernel->stream.columns) : 0; // f16, two copies
  if (kernel->shared_bytes - streamed > target->shared_bytes_per_block)
    return INFINITY; // weights that stream are not in shared memory
  double meeting = kernel->collective_us + kernel->exchange_us;
  double narrow = kernel->narrow_elements / (narrow_per_us * fmin(kernel->blocks, target->num_sms));
  if (direct)
    return direct_us(kernel, target) + narrow + meeting + reducing_us(kernel, target, true);
  double by_registers = floor(target->registers_per_sm / (threads * tile_registers));
  double by_shared =
      kernel->shared_bytes > 0 ? floor(target->shared_bytes_per_sm / kernel->shared_bytes) : by_registers;
  double resident = fmax(1, fmin(by_registers, by_shared));
  if (kernel->cluster >= 4 && kernel->blocks <= target->num_sms)
    resident = 1; // the planner gives each a whole multiprocessor
  double slots = target->num_sms * resident;
  if (kernel->cluster >= 4)
    slots = floor(slots * cluster_share / kernel->cluster) * kernel->cluster;
  double waves = ceil(kernel->blocks / slots);
  double busy = fmin(kernel->blocks, target->num_sms);
  double full = kernel->blocks / (waves * slots);                      // share of block slots that work, over all waves
  double spread = fmin(1, kernel->blocks / (waves * target->num_sms)); // share of multiprocessors that work

  double spare = target->shared_bytes_per_sm / resident - kernel->shared_bytes;
  double stages = 2;
  if (kernel->iteration_bytes > 0)
    stages = fmin(MAX_STAGES, 2 + floor(spare / kernel->iteration_bytes));
  if (kernel->stages > 0)
    stages = fmin(MAX_STAGES, kernel->stages);
  double in_flight = fmin(fmin(kernel->blocks, slots) * kernel->iteration_bytes * stages, busy * most_bytes);
  double needed = target->dram_bytes_per_us * latency_us;
  double supply = fmin(1, busy / (saturating_share * target->num_sms));
  if (kernel->iterations > 1 && !kernel->ideal)
    supply = fmin(supply, in_flight / needed);
  if (kernel->iterations > 1 && kernel->stream.columns && kernel->least_rows <= INSTRUCTION_M && !is_chain(kernel))
    supply *= staged_share;

  const CostStream *inner = &kernel->stream;
  double chained = fmax(0, (double)(inner->products + inner->others) - (double)inner->carries);
  double again = waves > 1 ? fmin(1, full) : 1; // the last wave takes as long as a full one
  double units[] = {kernel->dram_bytes / (target->dram_bytes_per_us * supply * again),
                    kernel->l2_bytes / (target->l2_bytes_per_us * fmin(1, busy / (saturating_share * target->num_sms))),
                    kernel->matmul_flops / (target->matmul_flops_per_us * fmax(full, spread)),
                    kernel->fma_flops / (target->fma_flops_per_us * spread),
                    kernel->special / (target->exp_per_us * spread),
                    2 * kernel->l2_bytes / (shared_rate * target->l2_bytes_per_us * spread)};
  bool warpgroups = by_warpgroups(kernel, target);
  bool pipelined = warpgroups && target->has_tensor_copy && !is_chain(kernel) && (kernel->produced || !kernel->planned);
  if (target->has_wgmma && kernel->least_rows >= register_rows && !warpgroups && !kernel->ideal)
    units[2] /= warp_share;
  double longest = 0, sum = 0;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    longest = fmax(longest, units[i]);
    sum += units[i];
  }
  // Nothing loads while the last iteration computes.
  double last = kernel->ideal ? 0 : (sum - units[0] - units[1]) / fmax(1, kernel->iterations);
  double late = kernel->least_rows < register_rows ? outside_product_us : 0;
  double fixed = block_us * (waves - 1) +
                 (pipelined ? pipelined_us : iteration_us) * kernel->iterations * waves * (1 + chained) +
                 (outside_us * kernel->outside + late * kernel->outside_products) * waves;
  if (kernel->multicast)
    fixed += multicast_us * kernel->iterations * waves;
  return longest + (pipelined ? pipelined_loss : overlap_loss) * (sum - longest) + last +
         chain_us(kernel, target, spread) + fixed + narrow + meeting + reducing_us(kernel, target, false);
}

uint64_t mirage__cost_amounts(const CostKernel *k) {
  const CostStream *s = &k->stream;
  const double amounts[] = {k->blocks,
                            k->threads,
                            k->dram_bytes,
                            k->l2_bytes,
                            k->matmul_flops,
                            k->fma_flops,
                            k->special,
                            k->product_elements,
                            k->product_columns,
                            k->crossed,
                            k->reduced_elements,
                            k->reduced_outside,
                            k->narrow_elements,
                            k->stored_elements,
                            k->least_rows,
                            k->iterations,
                            k->iteration_bytes,
                            k->shared_bytes,
                            k->accumulator_bytes,
                            k->outside,
                            k->outside_products,
                            k->exchange_us,
                            k->collective_us,
                            k->cluster,
                            s->products,
                            s->others,
                            s->carries,
                            s->carried,
                            s->product_carries,
                            (double)s->rows,
                            (double)s->depth,
                            (double)s->columns,
                            (double)s->side_columns,
                            s->uneven};
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a, eight bytes at a time
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
    uint64_t bits;
    memcpy(&bits, &amounts[i], sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3;
    hash ^= hash >> 32;
  }
  return hash;
}
