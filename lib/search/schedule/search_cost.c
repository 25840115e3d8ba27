// search_cost.c - predicted time of a structure under a schedule, without building a graph.
//
// Fills one CostKernel for each kernel that search_build.c would make and uses the formula of cost.c. A reduction that
// is split over blocks adds either a meeting of blocks (a collective) or a second kernel that combines the parts.
#include "canonical/pad.h"
#include "search/schedule/search_builder.h"
#include "search/schedule/search_guess.h"
#include "search/schedule/search_leading.h"
#include "search/schedule/search_narrow.h"
#include "search/schedule/search_tails.h"
#include <math.h>
#include <string.h>

typedef struct ScheduleWalk {
  const SearchProgram *program;
  const SearchStructure *structure;
  const SearchSchedule *schedule;
  const bool *wanted;                                       // by node; NULL = all
  bool masked[SEARCH_MAX_NODES], product[SEARCH_MAX_NODES]; // product: it comes of one
  double iterations;
  double shared[SEARCH_MAX_AXES]; // by axis: bytes that loops load out of L2 and that do not depend on it,
  double boxes[SEARCH_MAX_AXES];  // and what their boxes take
  double again[SEARCH_MAX_AXES];  // by axis: bytes that are not loaded again where a pair shares them along it
  double far[SEARCH_MAX_AXES];    // and of the largest tensor that blocks load which differ there and are no neighbours
  uint32_t near_axis;             // that x of the grid walks: blocks that differ in it are neighbours
  bool torn;                      // rows that loops load begin in the midst of lines of L2
  uint64_t loaded;                // inputs, as a bit set
  CostKernel kernel;
  SearchGuess guess;
  MirageType *types; // [num_nodes] of the structure
} ScheduleWalk;

static MirageType tile_type(const ScheduleWalk *walk, const SearchNode *node) {
  MirageType type = {.space = MIRAGE_SPACE_TILE, .rank = node->rank, .dtype = MIRAGE_F32};
  for (uint32_t d = 0; d < node->rank; d++)
    type.shape[d] = mirage__search_tile_extent(walk->program, walk->structure, walk->schedule,
                                               node->dims[SEARCH_RANK - node->rank + d]);
  if (node->op == MIRAGE_OP_LOAD)
    type.dtype =
        mirage_ugraph_type(walk->program->graph, mirage_ugraph_get_input(walk->program->graph, node->a))->dtype;
  return type;
}

// Which nodes come of a product in the loop, through no accumulator: operands come before what is made of them.
static void find_products(const SearchStructure *structure, bool *out_product) {
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    if (node->op == MIRAGE_OP_MATMUL)
      out_product[i] = mirage__search_is_inside(node->stage);
    else if (node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT || node->op == MIRAGE_OP_LOOP)
      out_product[i] = false;
    else
      out_product[i] = out_product[node->a] || (mirage__search_is_binary(node->op) && out_product[node->b]);
  }
}

// A computed tile enters a matmul through a cast, which costs its elements and a place in shared memory. What comes of
// another product may stay in registers.
static void add_cast(ScheduleWalk *walk, uint32_t node, bool looped, double times) {
  const MirageType *operand = &walk->types[node];
  if (operand->dtype == walk->program->dtype)
    return;
  MirageType cast = *operand;
  if (looped && !walk->product[node])
    walk->kernel.stored_elements += (double)mirage_type_elements(&cast) * times;
  cast.dtype = walk->program->dtype;
  mirage__cost_operator(&walk->kernel, MIRAGE_OP_CAST, NULL, &cast, operand, NULL, times);
  mirage__guess_tile(&walk->guess, &cast, 1);
}

static bool depends_on(const ScheduleWalk *walk, const SearchNode *node, uint32_t axis) {
  bool depends = walk->program->axes[axis].tied != axis || axis == walk->structure->loop_axis;
  for (uint32_t d = SEARCH_RANK - node->rank; d < SEARCH_RANK && !depends; d++)
    depends =
        !(node->dims[d] & SEARCH_WHOLE) && walk->program->axes[mirage__search_axis_of(node->dims[d])].tied == axis;
  return depends;
}

// What blocks that are neighbours along an axis both load: bytes, and what their boxes take.
static void note_shared(ScheduleWalk *walk, const SearchNode *node, double bytes, double box_us) {
  for (uint32_t axis = 1; axis < walk->program->num_axes; axis++)
    if (!depends_on(walk, node, axis)) {
      walk->shared[axis] += bytes;
      walk->boxes[axis] += box_us;
    }
}

// What blocks load that are no neighbours.
static void note_again(ScheduleWalk *walk, const SearchNode *node, const MirageType *tensor, const MirageType *tile) {
  double readers = 1;
  for (uint32_t axis = 1; axis < walk->program->num_axes; axis++)
    if (axis != walk->near_axis && !depends_on(walk, node, axis))
      readers *= (double)walk->schedule->parts[axis];
  CostKernel alone = {0}, paired = {0};
  mirage__cost_again(&alone, tensor, readers);
  mirage__cost_again(&paired, tensor, readers / 2);
  walk->kernel.again_bytes += alone.again_bytes;
  for (uint32_t axis = 1; axis < walk->program->num_axes; axis++)
    if (axis != walk->near_axis && !depends_on(walk, node, axis)) {
      walk->again[axis] += alone.again_bytes - paired.again_bytes;
      if (mirage__long_boxes(tile))
        walk->far[axis] = fmax(walk->far[axis], (double)mirage_type_bytes(tensor));
    }
}

static void note_outside(ScheduleWalk *walk, const MirageType *tile, double bytes) {
  walk->kernel.outside_bytes += bytes;
  walk->kernel.loads_outside |= mirage__cost_is_long(tile);
}

static bool stays_bytes(const ScheduleWalk *walk, const SearchNode *load) {
  uint32_t index = (uint32_t)(load - walk->structure->nodes);
  return mirage__search_stored_dtype(walk->program, walk->structure, index) != MIRAGE_F32;
}

static bool multiplies_bytes(const ScheduleWalk *walk, const SearchNode *product) {
  return mirage__search_multiplies_bytes(walk->program, walk->structure, (uint32_t)(product - walk->structure->nodes));
}

static void add_load(ScheduleWalk *walk, const SearchNode *node, const MirageType *tile, double times) {
  bool looped = mirage__search_is_inside(node->stage) && walk->iterations > 1;
  bool leads = mirage__search_feeds_leading(walk->program, walk->structure, walk->schedule,
                                            (uint32_t)(node - walk->structure->nodes));
  const MirageType *tensor =
      mirage_ugraph_type(walk->program->graph, mirage_ugraph_get_input(walk->program->graph, node->a));
  MirageType copied = mirage__may_pad(tensor) ? mirage__padded_type(tensor) : *tensor;
  double before = walk->kernel.l2_bytes, boxes = walk->kernel.box_us;
  mirage__cost_load(&walk->kernel, tensor, tile, times);
  if (looped || leads)
    mirage__cost_boxes(&walk->kernel, &copied, tile, times);
  else
    note_outside(walk, tile, walk->kernel.l2_bytes - before);
  if (looped) {
    note_shared(walk, node, walk->kernel.l2_bytes - before, walk->kernel.box_us - boxes);
    note_again(walk, node, tensor, tile);
  }
  walk->torn |= looped && mirage__rows_are_torn(&copied);
  mirage__guess_tile(&walk->guess, tile, looped ? 2 : 1);
  if (!looped)
    mirage__guess_load(&walk->guess, tensor, tile, walk->loaded >> node->a & 1);
  walk->kernel.iteration_bytes += looped ? (double)mirage_type_bytes(tile) : 0;
  if (mirage_dtype_is_stored(tile->dtype) && !stays_bytes(walk, node)) // cast where it is loaded: search_build.c
    walk->kernel.converted += (double)mirage_type_elements(tile) * times;
  if (!(walk->loaded >> node->a & 1))
    walk->kernel.dram_bytes += (double)mirage_type_bytes(tensor);
  walk->loaded |= (uint64_t)1 << node->a;
}

// Whether blocks of the grid see different values.
static bool varies(const ScheduleWalk *walk, const SearchNode *node) {
  for (uint32_t d = SEARCH_RANK - node->rank; d < SEARCH_RANK; d++) {
    uint32_t axis = mirage__search_axis_of(node->dims[d]);
    bool looped = axis == walk->structure->loop_axis;
    if (!(node->dims[d] & SEARCH_WHOLE) && axis && (looped ? walk->schedule->split : walk->schedule->parts[axis]) > 1)
      return true;
  }
  return false;
}

// What a sum over groups, the last of the dimensions before a matrix's, is made of: a product, perhaps scaled, or a sum over
// rows; NULL: it is none.
static const SearchNode *summed_by_group(const ScheduleWalk *walk, const SearchNode *sum) {
  const SearchNode *nodes = walk->structure->nodes, *in = &nodes[sum->a];
  if (sum->op != MIRAGE_OP_REDUCE_SUM || in->rank < 3)
    return NULL;
  bool over_groups = sum->dim == SEARCH_RANK - 3, over_rows = sum->dim == SEARCH_RANK - 1;
  if (in->op == MIRAGE_OP_REDUCE_SUM)
    return (over_groups && in->dim == SEARCH_RANK - 1) || (over_rows && in->dim == SEARCH_RANK - 3) ? in : NULL;
  if (over_groups && in->op == MIRAGE_OP_MUL)
    in = nodes[in->a].op == MIRAGE_OP_MATMUL ? &nodes[in->a] : &nodes[in->b];
  return over_groups && in->op == MIRAGE_OP_MATMUL && mirage__search_is_inside(in->stage) ? in : NULL;
}

// Whether some tile has columns past the end of a weight.
static bool reaches_past(const ScheduleWalk *walk, const SearchNode *weight, bool by_row) {
  uint8_t dim = weight->dims[SEARCH_RANK - (by_row ? 2 : 1)];
  uint32_t axis = mirage__search_axis_of(dim);
  int64_t tile = mirage__search_tile_extent(walk->program, walk->structure, walk->schedule, dim);
  return !(dim & SEARCH_WHOLE) && tile * walk->schedule->parts[axis] != walk->program->axes[axis].extent;
}

static void add_accumulator(ScheduleWalk *walk, const SearchNode *node, const MirageType *tile) {
  if (walk->iterations == 1)
    return; // no loop, no accumulator
  double elements = (double)mirage_type_elements(tile) * walk->kernel.blocks * walk->iterations;
  const SearchNode *from = &walk->structure->nodes[node->a], *grouped = summed_by_group(walk, from);
  from = grouped ? grouped : from;
  bool plain = node->flags != SEARCH_RESCALE, product = from->op == MIRAGE_OP_MATMUL;
  MirageAttrs attrs = {.matmul = {.transpose_a = (from->flags & SEARCH_TRANSPOSE_A) != 0,
                                  .transpose_b = (from->flags & SEARCH_TRANSPOSE_B) != 0}};
  const SearchNode *b = &walk->structure->nodes[from->b];
  uint32_t second = from->b;
  if (product && b->op == MIRAGE_OP_TRANSPOSE) { // of the last two dimensions
    attrs.matmul.transpose_b = !attrs.matmul.transpose_b;
    second = b->a;
    b = &walk->structure->nodes[second];
  }
  mirage__guess_carry(&walk->guess, plain ? (MirageOp)from->op : MIRAGE_OP_NONE, grouped != NULL,
                      product ? &attrs : NULL, &walk->types[from->a], &walk->types[second], walk->program->dtype,
                      b->op == MIRAGE_OP_LOAD && mirage__search_is_inside(b->stage) && !multiplies_bytes(walk, from),
                      product && !varies(walk, &walk->structure->nodes[from->a]) && !varies(walk, b));
  walk->guess.ragged |= product && reaches_past(walk, b, attrs.matmul.transpose_b);
  walk->guess.accumulator_bytes += (double)mirage_type_bytes(tile);
  if (!product)
    walk->kernel.fma_flops += 2 * elements;
  if (!product && mirage__cost_is_long(tile))
    walk->kernel.reduced_elements += elements;
  if (node->flags == SEARCH_RESCALE)
    walk->kernel.fma_flops += 2 * elements;
}

static void add_operator(ScheduleWalk *walk, const SearchNode *node, const MirageType *tile, double times) {
  const MirageType *a = &walk->types[node->a], *b = &walk->types[node->b];
  MirageAttrs attrs = {.matmul = {.transpose_a = (node->flags & SEARCH_TRANSPOSE_A) != 0}};
  bool looped = mirage__search_is_inside(node->stage) && walk->iterations > 1;
  MirageType cast = *a; // of a product's operand
  if (node->op == MIRAGE_OP_MATMUL && !multiplies_bytes(walk, node)) {
    add_cast(walk, node->a, looped, times);
    add_cast(walk, node->b, looped, times);
    cast.dtype = walk->program->dtype;
    a = &cast;
  }
  if (mirage__search_is_leading(walk->program, walk->structure, walk->schedule,
                                (uint32_t)(node - walk->structure->nodes))) { // in the sums of the loop's own product
    mirage__cost_operator(&walk->kernel, (MirageOp)node->op, &attrs, tile, a, b, times);
    return;
  }
  const bool of_product[] = {walk->product[node->a], mirage__search_is_binary(node->op) && walk->product[node->b]};
  mirage__guess_operator(&walk->guess, &walk->kernel, (MirageOp)node->op, &attrs, tile, a, b, of_product, looped,
                         times);
  SearchReciprocals by;
  if (mirage__search_reciprocals(walk->structure, node, &by)) {
    for (uint32_t f = 0; f < 2 && by.factors[f] != SEARCH_NO_FACTOR; f++) {
      const MirageType *factor = &walk->types[by.factors[f]];
      bool before = walk->structure->nodes[by.factors[f]].stage == SEARCH_BEFORE;
      mirage__cost_operator(&walk->kernel, MIRAGE_OP_DIV, NULL, factor, NULL, factor,
                            before ? walk->kernel.blocks : times);
      mirage__cost_operator(&walk->kernel, MIRAGE_OP_MUL, NULL, tile, a, factor, times);
    }
    return;
  }
  if (!looped)
    mirage__cost_outside(&walk->kernel, (MirageOp)node->op);
  mirage__cost_operator(&walk->kernel, (MirageOp)node->op, &attrs, tile, a, b, times);
}

// The tail is told from the rest by its indices: a comparison and a choice for each element.
static void add_mask(ScheduleWalk *walk, uint32_t node, double times) {
  const MirageType *tile = &walk->types[node];
  mirage__cost_operator(&walk->kernel, MIRAGE_OP_MASK, NULL, tile, tile, tile, times);
}

// Where blocks take their part at once, a later loop finds what an earlier one computed.
static bool is_known(const ScheduleWalk *walk, uint32_t node) {
  if (walk->iterations > 1 || walk->structure->nodes[node].stage <= SEARCH_AFTER)
    return false;
  for (uint32_t i = 0; i < node; i++)
    if (!walk->masked[i] && mirage__search_same_value(walk->structure, i, node))
      return true;
  return false;
}

static void add_stage(ScheduleWalk *walk, uint32_t stage) {
  for (uint32_t i = 0; i < walk->structure->num_nodes; i++) {
    const SearchNode *node = &walk->structure->nodes[i];
    bool looped_only = mirage__search_is_looped(node) && walk->iterations == 1;
    if (node->stage != stage || (walk->wanted && !walk->wanted[i]))
      continue;
    double times = walk->kernel.blocks * (mirage__search_is_inside(stage) ? walk->iterations : 1);
    walk->types[i] = tile_type(walk, node);
    if (is_known(walk, i))
      continue;
    if (node->op == MIRAGE_OP_LOAD)
      add_load(walk, node, &walk->types[i], times);
    else if (node->op == MIRAGE_OP_LOOP)
      add_accumulator(walk, node, &walk->types[i]);
    else if (node->op != MIRAGE_OP_CONSTANT && !looped_only)
      add_operator(walk, node, &walk->types[i], times);
    if (walk->masked[i])
      add_mask(walk, i, times);
  }
}

static void add_stores(ScheduleWalk *walk) {
  const SearchNode *nodes = walk->structure->nodes;
  const MirageUGraph *graph = walk->program->graph;
  for (uint32_t i = 0; i < walk->structure->num_outputs; i++) {
    const MirageType *output = mirage_ugraph_type(graph, mirage_ugraph_get_output(graph, i));
    MirageType stored = walk->types[walk->structure->outputs[i]];
    stored.dtype = output->dtype;
    walk->kernel.dram_bytes += (double)mirage_type_bytes(output);
    walk->kernel.written_bytes += (double)mirage_type_bytes(output);
    bool inside = mirage__search_is_inside(nodes[walk->structure->outputs[i]].stage);
    double before = walk->kernel.l2_bytes;
    mirage__cost_store(&walk->kernel, output, &stored, walk->kernel.blocks * (inside ? walk->iterations : 1));
    walk->kernel.outside_bytes += walk->kernel.l2_bytes - before;
  }
}

// As mirage__build_grid places the axes that are split; 0: another thing than an axis walks x.
static uint32_t find_near(const ScheduleWalk *walk) {
  const SearchStructure *structure = walk->structure;
  uint32_t seen[3] = {0}, used = 0;
  for (uint32_t i = 0; i < structure->num_outputs; i++)
    for (uint32_t d = SEARCH_RANK; d-- > 0 && used < 3;) {
      uint32_t axis = walk->program->axes[mirage__search_axis_of(structure->nodes[structure->outputs[i]].dims[d])].tied;
      if (!axis || axis == structure->loop_axis || walk->schedule->parts[axis] == 1 || axis == seen[0] ||
          axis == seen[1])
        continue;
      if (walk->schedule->order[used] == 0)
        return axis;
      seen[used++] = axis;
    }
  return 0;
}

static void begin(ScheduleWalk *walk) {
  const SearchSchedule *schedule = walk->schedule;
  uint32_t loop_axis = walk->structure->loop_axis;
  if (!mirage__search_is_ragged(walk->program, walk->structure, schedule) ||
      !mirage__search_masks(walk->structure, walk->masked))
    memset(walk->masked, 0, sizeof walk->masked);
  memset(walk->types, 0, walk->structure->num_nodes * sizeof *walk->types);
  find_products(walk->structure, walk->product);
  walk->kernel.blocks = (double)schedule->split;
  walk->kernel.threads = schedule->threads;
  walk->guess.swap = schedule->swapped;
  walk->near_axis = find_near(walk);
  for (uint32_t i = 1; i < walk->program->num_axes; i++)
    if (i != loop_axis && walk->program->axes[i].tied == i)
      walk->kernel.blocks *= (double)schedule->parts[i];
  walk->iterations = loop_axis ? (double)schedule->parts[loop_axis] : 1;
  walk->kernel.iterations = walk->iterations > 1 ? walk->iterations * walk->structure->num_loops : 0;
}

// Every accumulator of a block meets those of the others, after each loop.
static void add_collectives(ScheduleWalk *walk) {
  const SearchSchedule *schedule = walk->schedule;
  bool cluster = schedule->combine == SEARCH_BY_CLUSTER;
  uint32_t last = 0;
  for (uint32_t i = 0; i < walk->structure->num_nodes; i++)
    if (walk->structure->nodes[i].op == MIRAGE_OP_LOOP) {
      MirageType part = walk->types[i];
      uint32_t divisor;
      if (mirage__search_narrows(walk->program, walk->structure, schedule, i, &divisor))
        part.dtype = walk->program->dtype;
      mirage__cost_collective(&walk->kernel, &part, (double)schedule->split, cluster);
      last = walk->structure->nodes[i].stage > last ? walk->structure->nodes[i].stage : last;
    }
  walk->kernel.collective_us *= last / 2;
}

// Parts are written by the first kernel and read by the second, f32.
static double partial_bytes(const ScheduleWalk *walk) {
  double bytes = 0;
  for (uint32_t i = 0; i < walk->structure->num_nodes; i++)
    if (walk->structure->nodes[i].op == MIRAGE_OP_LOOP)
      bytes += (double)mirage_type_bytes(&walk->types[i]) * walk->kernel.blocks;
  return bytes;
}

// The axis of an even number of parts along which blocks share the most.
static uint32_t most_shared(const ScheduleWalk *walk, const double *shared) {
  uint32_t best = 0;
  for (uint32_t axis = 1; axis < walk->program->num_axes; axis++)
    if (walk->schedule->parts[axis] % 2 == 0 && shared[axis] > (best ? shared[best] : 0))
      best = axis;
  return best;
}

// Blocks of large products are pairs that share one operand's copies: choose_pairs in lib/layout/copies.c.
static uint32_t paired_axis(const ScheduleWalk *walk, const MirageTarget *target) {
  const CostKernel *kernel = &walk->kernel;
  double sides = kernel->least_rows + walk->guess.product_columns;
  if (!kernel->produced || kernel->beside > 1 || !target->has_cluster || walk->schedule->split > 1)
    return 0;
  if (kernel->blocks > target->num_sms)
    return most_shared(walk, walk->shared);
  if (walk->iterations < MIRAGE_PAIRED_AT_ONCE)
    return 0;
  if (mirage__pairs_at_once(kernel->blocks, sides, walk->torn, target))
    return most_shared(walk, walk->shared);
  uint32_t far = most_shared(walk, walk->far);
  return far && mirage__pairs_far(kernel->blocks, walk->far[far], target) ? far : 0;
}

static double time_of(ScheduleWalk *walk, const MirageTarget *target) {
  if (!mirage__guess_plan(&walk->guess, target, &walk->kernel))
    return INFINITY;
  uint32_t axis = paired_axis(walk, target);
  walk->kernel.paired = axis > 0;
  if (axis) {
    walk->kernel.l2_bytes -= walk->shared[axis] / 2;
    walk->kernel.again_bytes -= walk->again[axis];
    mirage__cost_share_boxes(&walk->kernel, walk->boxes[axis]);
  }
  return target->launch_us + mirage__cost_kernel_us(&walk->kernel, target);
}

// Equal where the model cannot tell kernels apart, under this schedule or another.
static uint64_t amounts_of(const ScheduleWalk *walk) {
  const CostKernel *k = &walk->kernel;
  const SearchGuess *g = &walk->guess;
  const double amounts[] = {k->blocks,
                            k->threads,
                            k->dram_bytes,
                            k->written_bytes,
                            k->l2_bytes,
                            k->outside_bytes,
                            k->matmul_flops,
                            k->again_bytes,
                            k->operand_bytes,
                            k->fma_flops,
                            k->special,
                            g->product_elements,
                            g->product_columns,
                            g->crossed,
                            k->reduced_elements,
                            k->reduced_outside,
                            k->narrow_elements,
                            k->narrow_stored,
                            k->torn_bytes,
                            k->box_us,
                            k->box_excess,
                            k->stored_elements,
                            k->least_rows,
                            k->broken_products,
                            k->iterations,
                            k->iteration_bytes,
                            g->shared_bytes,
                            g->accumulator_bytes,
                            k->outside,
                            k->outside_products,
                            k->exchange_us,
                            k->collective_us,
                            k->cluster,
                            g->products,
                            g->others,
                            g->reductions,
                            g->row_values,
                            g->row_same,
                            (double)g->row_tensors,
                            (double)g->widest_bytes,
                            (double)g->elements,
                            (double)g->row,
                            g->moved,
                            g->carries,
                            g->carried,
                            g->product_carries,
                            (double)g->rows,
                            (double)g->depth,
                            (double)g->columns,
                            (double)g->side_columns,
                            k->converted,
                            g->inner,
                            g->column_bits,
                            g->piece_bytes,
                            g->conversion,
                            g->mixed};
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a, eight bytes at a time
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
    uint64_t bits;
    memcpy(&bits, &amounts[i], sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3;
    hash ^= hash >> 32;
  }
  return hash;
}

double mirage__search_combine_cost(const SearchProgram *program, const SearchStructure *structure,
                                   const SearchSchedule *schedule, const MirageTarget *target) {
  bool wanted[SEARCH_MAX_NODES];
  mirage__search_wanted(structure, SEARCH_AFTER, wanted);
  MirageType types[SEARCH_MAX_NODES]; // begin() clears what is used of it: this runs for every schedule
  ScheduleWalk walk = {
      .program = program, .structure = structure, .schedule = schedule, .wanted = wanted, .types = types};
  begin(&walk);
  walk.kernel.blocks /= (double)schedule->split; // the parts of one tile are one block's
  walk.iterations = 1;
  walk.kernel.iterations = 0;
  add_stage(&walk, SEARCH_BEFORE);
  add_stage(&walk, SEARCH_AFTER);
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    if (structure->nodes[i].op != MIRAGE_OP_LOOP)
      continue;
    MirageType parts = walk.types[i];
    parts.shape[parts.rank++] = schedule->split;
    mirage__cost_access(&walk.kernel, NULL, &parts, walk.kernel.blocks);
    mirage__guess_tile(&walk.guess, &parts, 1);
    walk.kernel.fma_flops += 4 * (double)mirage_type_elements(&parts) * walk.kernel.blocks;
  }
  add_stores(&walk);
  return time_of(&walk, target);
}

double mirage__search_schedule_cost(const SearchProgram *program, const SearchStructure *structure,
                                    const SearchSchedule *schedule, const MirageTarget *target, uint64_t *out_amounts) {
  bool wanted[SEARCH_MAX_NODES];
  MirageType types[SEARCH_MAX_NODES];
  ScheduleWalk walk = {.program = program, .structure = structure, .schedule = schedule, .types = types};
  begin(&walk);
  if (schedule->combine == SEARCH_BY_KERNEL) {
    mirage__search_wanted(structure, SEARCH_INSIDE, wanted);
    walk.wanted = wanted;
  }
  for (uint32_t stage = SEARCH_BEFORE; stage <= 2 * structure->num_loops; stage++)
    add_stage(&walk, stage);
  if (schedule->combine == SEARCH_BY_KERNEL) {
    double bytes = partial_bytes(&walk);
    walk.kernel.l2_bytes += bytes;
    walk.kernel.outside_bytes += bytes;
  } else {
    if (schedule->split > 1)
      add_collectives(&walk);
    add_stores(&walk);
  }
  double time_us = time_of(&walk, target);
  if (out_amounts)
    *out_amounts = amounts_of(&walk);
  return time_us;
}
