// cost.c - predicted time of a kernel graph: bytes, flops, special functions, waves, launches.
//
// Each kernel is summed up as a CostKernel (what it moves and computes), and one formula turns that into microseconds;
// the search fills a CostKernel without building a graph and uses the same formula. The model and where its constants
// were measured: lib/search/README.md. It ranks schedules; it does not promise times.
#include "mirage/cost.h"
#include "layout/block.h"
#include "search_internal.h"
#include <math.h>
#include <string.h>

enum { SECTOR_BYTES = 32, INSTRUCTION_M = 16, INSTRUCTION_N = 8, INSTRUCTION_K = 16, MAX_STAGES = 4, OWN_TILE = 128 };

static const double saturating_share = 0.45; // of the multiprocessors, busy, saturate device memory
static const double most_bytes = 64 * 1024;  // in flight on a multiprocessor: more gain nothing
static const double latency_us = 2.0;        // of a load under load: bytes in flight = rate * latency
static const double block_us = 0.5;          // prologue and epilogue that nothing hides, for each block of an SM
static const double iteration_us = 0.12;     // a barrier: for the loads of an iteration, for each result used in it
static const double outside_us = 0.5;        // a product or reduction outside loops: it waits for all warps
static const double pipelined_us = 0.02;     // an iteration whose loads a producer of its own issues
static const double warp_share = 0.45;       // of the matrix rate that warps reach where warpgroups have an instruction
static const double overlap_loss = 0.1;      // share of the units that are not the bottleneck
static const double pipelined_loss = 0.03;   // the same with such a producer
static const double direct_latency_us = 0.4; // of a step where every warp has one in flight, before its bytes arrive
static const double direct_bytes_per_us = 74e3; // of a step, on one multiprocessor
static const double direct_share = 0.73;        // of the multiprocessors saturate device memory
static const double direct_loss = 0.6;          // what each that is missing costs, of its own share
static const double staged_share = 0.7; // of device memory that such a loop uses where it passes through shared memory
static const double side_us = 0.3;      // to see that side blocks are done and read what they left
static const double direct_step_us = 0.6;     // for each further step of an iteration
static const double grid_meeting_us = 3.5;    // release, poll and read back: blocks that wait for each other
static const double cluster_meeting_us = 3.0; // two barriers of a cluster, reads of its other blocks' memory
static const double multicast_us = 0.35;      // an iteration that blocks of a cluster begin together
static const double pair_meeting_us = 1.4;    // the same in a cluster of two
static const double cluster_share = 0.9;      // of the multiprocessors, that clusters of four and more can occupy
static const double shared_rate = 4;          // shared memory moves this many times the bytes of L2
static const double chain_bytes = 96;  // of shared memory an element of a chain of products moves outside registers
static const double stored_bytes = 64; // the same for each value of such a chain that a plan puts there
static const double shared_bytes_per_us = 253e3; // of a multiprocessor: 128 bytes a cycle
static const double register_rows = 64;          // of a tile that four warps keep in registers from product to product
static const double chain_registers = 66; // of a thread, beside products: vectors of the rows, operands, addresses
static const double tile_registers = 128; // registers of a thread; with 256 threads, two blocks a multiprocessor
static const double other_registers = 40; // of a thread, beside accumulators
static const double usual_threads = 256;  // of a block

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
  kernel->product_elements += batch * m * n * times;
  kernel->product_columns += n;
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
    add_matmul(kernel, attrs, result, a, times);
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

void mirage__cost_access(CostKernel *kernel, const MirageType *tile, double times) {
  double row = tile->rank ? (double)tile->shape[tile->rank - 1] : 1;
  double row_bytes = row * mirage_dtype_bytes(tile->dtype);
  double rows = (double)mirage_type_elements(tile) / row;
  double bytes = round_up(row_bytes, SECTOR_BYTES);
  if (row_bytes > SECTOR_BYTES && bytes > row_bytes)
    bytes += SECTOR_BYTES; // rows begin in the middle of sectors
  kernel->l2_bytes += rows * bytes * times;
}

void mirage__cost_collective(CostKernel *kernel, const MirageType *tile, double members, bool cluster) {
  // One meeting serves all tiles; each is written once and read by every member.
  double meeting_us = !cluster ? grid_meeting_us : members > 2 ? cluster_meeting_us : pair_meeting_us;
  kernel->collective_us = fmax(kernel->collective_us, meeting_us);
  kernel->resident |= !cluster;
  kernel->cluster = cluster ? members : kernel->cluster;
  kernel->l2_bytes += (double)mirage_type_elements(tile) * 4 * (1 + members) * kernel->blocks;
  kernel->fma_flops += (double)mirage_type_elements(tile) * members * kernel->blocks;
}

void mirage__cost_tile(CostKernel *kernel, const MirageType *tile, double copies) {
  kernel->shared_bytes += round_up((double)mirage_type_bytes(tile), 16) * copies;
}

// ------------------------------------------------------------------------------------ streamed weights

void mirage__cost_step(CostKernel *kernel, MirageOp op, bool inside_loop) {
  MirageOpKind kind = mirage_op_info(op)->kind;
  bool product = kind == MIRAGE_KIND_MATMUL, other = kind == MIRAGE_KIND_REDUCE || kind == MIRAGE_KIND_COLLECTIVE;
  kernel->outside += !inside_loop && (product || other);
  kernel->stream.products += inside_loop && product;
  kernel->stream.others += inside_loop && other;
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
      s->carried != s->carries || s->products + s->others != s->carries)
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
  return reading + overlap_loss * arithmetic * target->num_sms / busy + block_us * waves +
         outside_us * kernel->outside * waves + direct_step_us * (steps - 1) + side;
}

// ------------------------------------------------------------------------------------------ one kernel

// Whether products feed each other in a loop.
static bool is_chain(const CostKernel *kernel) { return kernel->stream.products > kernel->stream.product_carries; }

// Whether their results do not fit registers. Warps of 16 rows hold a row's columns, four cells for eight of them.
static bool spills(const CostKernel *kernel, const MirageTarget *target) {
  double registers = fmin(255, target->registers_per_sm / (2 * kernel->least_rows)) - chain_registers;
  return kernel->least_rows < register_rows || kernel->product_columns / 2 > registers;
}

// Whether warpgroups multiply: tall tiles, straight out of what was loaded or out of registers.
static bool by_warpgroups(const CostKernel *kernel, const MirageTarget *target) {
  bool chained = is_chain(kernel) && !kernel->planned && spills(kernel, target);
  return target->has_wgmma && kernel->least_rows >= register_rows && kernel->stored_elements == 0 && !chained;
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
  if (direct)
    return direct_us(kernel, target) + kernel->collective_us;
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
  double fixed = block_us * ceil(kernel->blocks / target->num_sms) +
                 (pipelined ? pipelined_us : iteration_us) * kernel->iterations * waves * (1 + chained) +
                 outside_us * kernel->outside * waves;
  if (kernel->multicast)
    fixed += multicast_us * kernel->iterations * waves;
  return longest + (pipelined ? pipelined_loss : overlap_loss) * (sum - longest) + last +
         chain_us(kernel, target, spread) + fixed + kernel->collective_us;
}

// -------------------------------------------------------------------------------------- custom kernels

typedef struct CostWalk {
  const MirageUGraph *graph;
  const MirageCustomAttrs *custom; // the kernel
  CostKernel kernel;
  uint32_t depth; // of loops around
  uint32_t loads; // seen
} CostWalk;

static const MirageType *operand_type(const CostWalk *walk, const MirageNodeView *node, uint32_t index) {
  return index < node->num_operands ? mirage_ugraph_type(walk->graph, node->operands[index]) : NULL;
}

static void walk_region(CostWalk *walk, MirageRegion region, double times);

// Whether blocks of the grid see different values.
static bool varies(const CostWalk *walk, MirageValue value) {
  MirageNode def = mirage_ugraph_def(walk->graph, value);
  if (!def.index)
    return true;
  MirageNodeView node = mirage_ugraph_node(walk->graph, def);
  const int8_t *axes = node.op == MIRAGE_OP_LOAD ? node.attrs->access.grid : NULL;
  if (axes)
    return axes[0] >= 0 || axes[1] >= 0 || axes[2] >= 0;
  for (uint32_t i = 0; i < node.num_operands; i++)
    if (varies(walk, node.operands[i]))
      return true;
  return false;
}

// Whether a product of the same region is behind the value.
static bool comes_of_product(const CostWalk *walk, MirageValue value, MirageRegion region) {
  MirageNode def = mirage_ugraph_def(walk->graph, value);
  if (!def.index)
    return false;
  MirageNodeView node = mirage_ugraph_node(walk->graph, def);
  bool found = node.op == MIRAGE_OP_MATMUL && node.parent.index == region.index;
  for (uint32_t i = 0; !found && i < node.num_operands && node.parent.index == region.index; i++)
    found = comes_of_product(walk, node.operands[i], region);
  return found;
}

// What passes through shared memory in a loop, but for loads and vectors: as planned, or else what is computed for a
// product from no other product's result.
static void note_stored(CostWalk *walk, const MirageNodeView *node, const MirageType *result, double times) {
  bool planned = result->space == MIRAGE_SPACE_SHARED || result->space == MIRAGE_SPACE_REGISTER;
  bool stored = planned ? result->space == MIRAGE_SPACE_SHARED
                        : node->op == MIRAGE_OP_CAST && !comes_of_product(walk, node->operands[0], node->parent);
  walk->kernel.planned |= planned;
  if (result->space == MIRAGE_SPACE_FRAGMENT)
    return; // its place is that of the tile it is yielded as
  uint32_t long_dims = 0;
  for (uint32_t d = 0; d < result->rank; d++)
    long_dims += result->shape[d] > 1;
  if (walk->depth && stored && long_dims > 1)
    walk->kernel.stored_elements += (double)mirage_type_elements(result) * times;
}

static void note_carry(CostWalk *walk, const MirageNodeView *node, uint32_t index) {
  MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
  MirageNodeView yield = mirage_ugraph_node(walk->graph, body.nodes[body.num_nodes - 1]), source = {0};
  MirageNode def = mirage_ugraph_def(walk->graph, yield.operands[index]);
  bool plain = node->attrs->loop.carries[index].combine <= MIRAGE_COMBINE_MAX, loaded = false;
  if (def.index && plain)
    source = mirage_ugraph_node(walk->graph, def);
  if (source.op == MIRAGE_OP_MATMUL) {
    MirageNode weight = mirage_ugraph_def(walk->graph, source.operands[1]);
    loaded = weight.index && mirage_ugraph_node(walk->graph, weight).op == MIRAGE_OP_LOAD &&
             mirage_ugraph_node(walk->graph, weight).parent.index == node->region.index;
  }
  bool same = loaded && !varies(walk, source.operands[0]) && !varies(walk, source.operands[1]);
  mirage__cost_carry(&walk->kernel, source.op, source.attrs, operand_type(walk, &source, 0),
                     operand_type(walk, &source, 1), loaded, same);
}

static void walk_loop(CostWalk *walk, const MirageNodeView *node, double times) {
  double range = (double)node->attrs->loop.range;
  if (walk->depth == 0)
    walk->kernel.iterations += range;
  for (uint32_t i = 0; i < node->attrs->loop.num_carries; i++) {
    note_carry(walk, node, i);
    const MirageType *carry = operand_type(walk, node, i);
    double elements = (double)mirage_type_elements(carry);
    walk->kernel.accumulator_bytes += 4 * elements;
    MirageNode yield = {0};
    MirageRegionView body = mirage_ugraph_region(walk->graph, node->region);
    if (body.num_nodes)
      yield = body.nodes[body.num_nodes - 1];
    // A sum of products is accumulated by the matrix instruction itself.
    MirageNode source = {0};
    if (yield.index && mirage_ugraph_node(walk->graph, yield).num_operands > i)
      source = mirage_ugraph_def(walk->graph, mirage_ugraph_node(walk->graph, yield).operands[i]);
    if (!source.index || mirage_ugraph_node(walk->graph, source).op != MIRAGE_OP_MATMUL)
      walk->kernel.fma_flops += 2 * elements * range * times;
  }
  walk->depth++;
  walk_region(walk, node->region, times * range);
  walk->depth--;
}

// What the schedule says of the next load; NULL = nothing.
static const MirageLoadSchedule *next_load(CostWalk *walk) {
  const MirageSchedule *schedule = walk->custom->schedule;
  uint32_t index = walk->loads++;
  return schedule && index < schedule->num_loads ? &schedule->loads[index] : NULL;
}

static void walk_access(CostWalk *walk, const MirageNodeView *node, double times) {
  const MirageType *tile =
      node->op == MIRAGE_OP_LOAD ? mirage_ugraph_type(walk->graph, node->first_result) : operand_type(walk, node, 0);
  const MirageLoadSchedule *load = node->op == MIRAGE_OP_LOAD ? next_load(walk) : NULL;
  const int64_t *cluster = walk->custom->cluster;
  if (load && load->multicast) { // one copy for all
    times /= (double)(cluster[0] * cluster[1] * cluster[2]);
    walk->kernel.multicast = true;
  }
  mirage__cost_access(&walk->kernel, tile, times);
  if (load && walk->depth && load->landing != MIRAGE_LANDING_REGISTER && load->stages)
    walk->kernel.stages = fmax(walk->kernel.stages, load->stages);
  if (node->op != MIRAGE_OP_LOAD)
    return;
  mirage__cost_tile(&walk->kernel, tile, walk->depth ? 2 : 1);
  if (walk->depth)
    walk->kernel.iteration_bytes += (double)mirage_type_bytes(tile);
}

static void walk_collective(CostWalk *walk, const MirageNodeView *node) {
  double members = 1;
  for (int axis = 0; axis < 3; axis++)
    members *= node->attrs->axes.axis[axis] ? (double)walk->custom->grid[axis] : 1;
  bool cluster = node->op == MIRAGE_OP_CLUSTER_SUM || node->op == MIRAGE_OP_CLUSTER_MAX;
  mirage__cost_collective(&walk->kernel, operand_type(walk, node, 0), members, cluster);
}

static void walk_region(CostWalk *walk, MirageRegion region, double times) {
  MirageRegionView view = mirage_ugraph_region(walk->graph, region);
  for (uint32_t i = 0; i < view.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(walk->graph, view.nodes[i]);
    if (node.op == MIRAGE_OP_LOOP) {
      walk_loop(walk, &node, times);
    } else if (node.op == MIRAGE_OP_THREAD) {
      walk_region(walk, node.region, times);
      for (uint32_t r = 0; r < node.num_results; r++)
        note_stored(walk, &node, mirage_ugraph_type(walk->graph, (MirageValue){node.first_result.index + r}), times);
    } else if (mirage_op_info(node.op)->kind == MIRAGE_KIND_ACCESS) {
      walk_access(walk, &node, times);
    } else if (mirage_op_info(node.op)->kind == MIRAGE_KIND_COLLECTIVE) {
      walk_collective(walk, &node);
    } else if (mirage_op_info(node.op)->kind != MIRAGE_KIND_TERMINATOR && node.num_results == 1) {
      const MirageType *result = mirage_ugraph_type(walk->graph, node.first_result);
      note_stored(walk, &node, result, times);
      mirage__cost_step(&walk->kernel, node.op, walk->depth > 0);
      mirage__cost_operator(&walk->kernel, node.op, node.attrs, result, operand_type(walk, &node, 0),
                            operand_type(walk, &node, 1), times);
      if (node.op == MIRAGE_OP_CAST) // what feeds a matrix instruction passes through shared memory
        mirage__cost_tile(&walk->kernel, result, 1);
    }
  }
}

static double tensor_bytes(const MirageUGraph *graph, const MirageNodeView *node) {
  double bytes = 0;
  for (uint32_t i = 0; i < node->num_operands; i++) {
    bool repeated = false;
    for (uint32_t j = 0; j < i; j++)
      repeated |= node->operands[j].index == node->operands[i].index;
    if (!repeated)
      bytes += (double)mirage_type_bytes(mirage_ugraph_type(graph, node->operands[i]));
  }
  for (uint32_t i = 0; i < node->num_results; i++)
    bytes += (double)mirage_type_bytes(mirage_ugraph_type(graph, (MirageValue){node->first_result.index + i}));
  return bytes;
}

static CostKernel custom_kernel(const MirageUGraph *graph, const MirageNodeView *node) {
  CostWalk walk = {.graph = graph, .custom = &node->attrs->custom};
  const int64_t *grid = node->attrs->custom.grid;
  walk.kernel.blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
  if (node->attrs->custom.schedule)
    walk.kernel.threads = 32.0 * node->attrs->custom.schedule->warps;
  walk.kernel.produced = node->attrs->custom.schedule && node->attrs->custom.schedule->num_roles > 0;
  walk.kernel.side_blocks = node->attrs->custom.schedule && node->attrs->custom.schedule->side_blocks > 0;
  walk.kernel.dram_bytes = tensor_bytes(graph, node);
  walk_region(&walk, node->region, walk.kernel.blocks);
  return walk.kernel;
}

// A kernel-level operator on its own: every multiprocessor busy, each byte moved once from device memory; out of L2,
// what the tiles of a product need that lib/codegen lowers by itself.
static CostKernel lone_kernel(const MirageUGraph *graph, const MirageNodeView *node, const MirageTarget *target) {
  CostKernel kernel = {.ideal = true, .blocks = target->num_sms, .dram_bytes = tensor_bytes(graph, node)};
  kernel.l2_bytes = kernel.dram_bytes;
  const MirageType *a = node->num_operands > 0 ? mirage_ugraph_type(graph, node->operands[0]) : NULL;
  const MirageType *b = node->num_operands > 1 ? mirage_ugraph_type(graph, node->operands[1]) : NULL;
  const MirageType *result = mirage_ugraph_type(graph, node->first_result);
  mirage__cost_operator(&kernel, node->op, node->attrs, result, a, b, 1);
  if (node->op == MIRAGE_OP_MATMUL) {
    double m = (double)result->shape[result->rank - 2], n = (double)result->shape[result->rank - 1];
    double down = ceil(m / OWN_TILE), across = ceil(n / OWN_TILE);
    kernel.l2_bytes += (across - 1) * (double)mirage_type_bytes(a) + (down - 1) * (double)mirage_type_bytes(b);
  }
  return kernel;
}

MirageStatus mirage_cost(const MirageUGraph *graph, const MirageTarget *target, const MirageDiag *diag,
                         MirageCost *out_cost) {
  MirageCost cost = {.present = true};
  MirageRegionView body = mirage_ugraph_region(graph, mirage_ugraph_body(graph));
  for (uint32_t i = 0; i < body.num_nodes; i++) {
    MirageNodeView node = mirage_ugraph_node(graph, body.nodes[i]);
    MirageOpKind kind = mirage_op_info(node.op)->kind;
    if (kind == MIRAGE_KIND_SUGAR)
      return mirage_diag_fail(diag, node.loc, MIRAGE_UNSUPPORTED, "%s: expand the graph before asking for its cost",
                              mirage_op_info(node.op)->mnemonic);
    if (kind == MIRAGE_KIND_TERMINATOR || kind == MIRAGE_KIND_CONSTANT || node.op == MIRAGE_OP_RESHAPE)
      continue;
    CostKernel kernel = node.op == MIRAGE_OP_CUSTOM ? custom_kernel(graph, &node) : lone_kernel(graph, &node, target);
    cost.kernels++;
    cost.bytes += kernel.dram_bytes;
    cost.flops += kernel.flops;
    cost.time_us += target->launch_us + mirage__cost_kernel_us(&kernel, target);
  }
  *out_cost = cost;
  return MIRAGE_OK;
}
