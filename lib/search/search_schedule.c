// search_schedule.c - grid sizes and loop range for a block graph whose dataflow is decided.
//
// A schedule says into how many parts each axis is split: parallel axes into blocks, the loop's axis into iterations.
// Tile extents follow as ceil(extent / parts) and need not be powers of two or divisors: 6144 columns in 128 blocks are
// tiles of 48. Tail tiles are masked with zero; where zero would not be neutral (exp(0) = 1 summed over the tail) only
// exact divisions are tried. All are scored by the cost model without building a graph.
#include "search_internal.h"
#include <math.h>
#include <string.h>

enum { MAX_PARTS = 64, REFERENCE_COLUMNS = 64, REFERENCE_TILE = 64 };

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t mirage__search_tile_extent(const SearchProgram *program, const SearchSchedule *schedule, uint8_t dim) {
  uint32_t axis = mirage__search_axis_of(dim);
  int64_t extent = program->axes[axis].extent;
  return dim & SEARCH_WHOLE ? extent : ceil_div(extent, schedule->parts[axis]);
}

// ------------------------------------------------------------------------------------------------ cost

static MirageType tile_type(const SearchProgram *program, const SearchSchedule *schedule, const SearchNode *node) {
  MirageType type = {.space = MIRAGE_SPACE_TILE, .rank = node->rank, .dtype = MIRAGE_F32};
  for (uint32_t d = 0; d < node->rank; d++)
    type.shape[d] = mirage__search_tile_extent(program, schedule, node->dims[SEARCH_RANK - node->rank + d]);
  if (node->op == MIRAGE_OP_LOAD)
    type.dtype = mirage_ugraph_type(program->graph, mirage_ugraph_get_input(program->graph, node->a))->dtype;
  return type;
}

// A computed tile enters a matmul through a cast, which costs its elements and a place in shared memory.
static void add_cast(const SearchProgram *program, CostKernel *kernel, const MirageType *operand, double times) {
  if (operand->dtype == program->dtype)
    return;
  MirageType cast = *operand;
  cast.dtype = program->dtype;
  mirage__cost_operator(kernel, MIRAGE_OP_CAST, NULL, &cast, operand, NULL, times);
  mirage__cost_tile(kernel, &cast, 1);
}

double mirage__search_schedule_cost(const SearchProgram *program, const SearchStructure *structure,
                                    const SearchSchedule *schedule, const MirageTarget *target) {
  CostKernel kernel = {.blocks = 1};
  for (uint32_t i = 1; i < program->num_axes; i++)
    if (i != structure->loop_axis)
      kernel.blocks *= (double)schedule->parts[i];
  double iterations = structure->loop_axis ? (double)schedule->parts[structure->loop_axis] : 1;
  kernel.iterations = structure->loop_axis ? iterations : 0;
  MirageType types[SEARCH_MAX_NODES];
  uint64_t loaded = 0;
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    double times = kernel.blocks * (node->stage == SEARCH_INSIDE ? iterations : 1);
    types[i] = tile_type(program, schedule, node);
    if (node->op == MIRAGE_OP_LOAD) {
      mirage__cost_access(&kernel, &types[i], times);
      mirage__cost_tile(&kernel, &types[i], node->stage == SEARCH_INSIDE ? 2 : 1);
      kernel.iteration_bytes += node->stage == SEARCH_INSIDE ? (double)mirage_type_bytes(&types[i]) : 0;
      if (!(loaded >> node->a & 1))
        kernel.dram_bytes += (double)mirage_type_bytes(
            mirage_ugraph_type(program->graph, mirage_ugraph_get_input(program->graph, node->a)));
      loaded |= (uint64_t)1 << node->a;
    } else if (node->op == MIRAGE_OP_LOOP) {
      kernel.accumulator_bytes += (double)mirage_type_bytes(&types[i]);
      const SearchNode *from = &structure->nodes[node->a];
      MirageAttrs attrs = {
          .matmul = {(from->flags & SEARCH_TRANSPOSE_A) != 0, (from->flags & SEARCH_TRANSPOSE_B) != 0}};
      mirage__cost_carry(
          &kernel, (MirageOp)from->op, from->op == MIRAGE_OP_MATMUL ? &attrs : NULL, &types[from->a], &types[from->b],
          structure->nodes[from->b].op == MIRAGE_OP_LOAD && structure->nodes[from->b].stage == SEARCH_INSIDE);
      if (structure->nodes[node->a].op != MIRAGE_OP_MATMUL)
        kernel.fma_flops += 2 * (double)mirage_type_elements(&types[i]) * kernel.blocks * iterations;
    } else if (node->op != MIRAGE_OP_CONSTANT) {
      MirageAttrs attrs = {.matmul = {.transpose_a = (node->flags & SEARCH_TRANSPOSE_A) != 0}};
      if (node->op == MIRAGE_OP_MATMUL) {
        add_cast(program, &kernel, &types[node->a], times);
        add_cast(program, &kernel, &types[node->b], times);
      }
      if (node->stage == SEARCH_INSIDE)
        mirage__cost_inside(&kernel, (MirageOp)node->op);
      mirage__cost_operator(&kernel, (MirageOp)node->op, &attrs, &types[i], &types[node->a], &types[node->b], times);
    }
  }
  const MirageType *output = mirage_ugraph_type(program->graph, mirage_ugraph_get_output(program->graph, 0));
  kernel.dram_bytes += (double)mirage_type_bytes(output);
  MirageType stored = types[structure->num_nodes - 1];
  stored.dtype = output->dtype;
  mirage__cost_access(&kernel, &stored, kernel.blocks);
  return target->launch_us + mirage__cost_kernel_us(&kernel, target);
}

// ------------------------------------------------------------------------------------------ tail tiles

// Whether a node's elements past the end of the loop's axis are zero when those of its loads are. `walks`: it has such
// a dimension at all.
typedef struct Tail {
  bool walks, zero;
} Tail;

static bool walks_axis(const SearchNode *node, uint32_t axis) {
  for (uint32_t d = 0; d < SEARCH_RANK; d++)
    if (node->dims[d] == axis) // a whole dimension has no tail
      return true;
  return false;
}

static bool stays_zero(MirageOp op, Tail a, Tail b) {
  switch (op) {
  case MIRAGE_OP_MUL:
    return (a.walks && a.zero) || (b.walks && b.zero);
  case MIRAGE_OP_DIV:
    return a.walks && a.zero && !b.walks;
  case MIRAGE_OP_ADD:
  case MIRAGE_OP_SUB:
  case MIRAGE_OP_MAX:
  case MIRAGE_OP_MIN:
    return a.walks && a.zero && b.walks && b.zero;
  case MIRAGE_OP_SQRT:
  case MIRAGE_OP_ERF:
  case MIRAGE_OP_TANH:
  case MIRAGE_OP_TRANSPOSE:
    return a.zero;
  default:
    return false; // exp(0) = 1, log(0) = -inf
  }
}

// Whether masking tails of the loop's axis with zero leaves every result as it is. Quotients by something that itself
// has a tail are refused too: 0/0 would poison the sums.
static bool tails_are_neutral(const SearchStructure *structure) {
  Tail tails[SEARCH_MAX_NODES];
  for (uint32_t i = 0; i < structure->num_nodes; i++) {
    const SearchNode *node = &structure->nodes[i];
    bool leaf = node->op == MIRAGE_OP_LOAD || node->op == MIRAGE_OP_CONSTANT;
    Tail a = leaf ? (Tail){0} : tails[node->a], b = leaf ? (Tail){0} : tails[node->b];
    tails[i] = (Tail){.walks = walks_axis(node, structure->loop_axis), .zero = true};
    MirageOpKind kind = mirage_op_info((MirageOp)node->op)->kind;
    if (node->op == MIRAGE_OP_DIV && b.walks)
      return false;
    if (node->op == MIRAGE_OP_LOOP && (node->flags || (a.walks && !a.zero)))
      return false;
    if (node->op == MIRAGE_OP_MATMUL && a.walks && b.walks && !a.zero && !b.zero)
      return false;
    if (kind == MIRAGE_KIND_REDUCE && a.walks && !tails[i].walks && (!a.zero || node->op == MIRAGE_OP_REDUCE_MAX))
      return false;
    if (kind == MIRAGE_KIND_UNARY || kind == MIRAGE_KIND_BINARY || node->op == MIRAGE_OP_TRANSPOSE)
      tails[i].zero = stays_zero((MirageOp)node->op, a, b);
    else if (kind == MIRAGE_KIND_REDUCE || node->op == MIRAGE_OP_LOOP)
      tails[i].zero = a.zero;
    else if (node->op == MIRAGE_OP_MATMUL)
      tails[i].zero = (!a.walks || a.zero) && (!b.walks || b.zero);
  }
  return true;
}

// --------------------------------------------------------------------------------------------- choices

typedef struct Choices {
  uint32_t axis;
  uint32_t num;
  int64_t parts[MAX_PARTS];
} Choices;

static bool allowed(MirageInt64List list, int64_t parts) {
  for (size_t i = 0; i < list.size; i++)
    if (list.data[i] == parts)
      return true;
  return list.size == 0;
}

// Adds the number of parts whose tiles have at most `tile` elements, unless some part would be empty, or tiles would
// lose the alignment that the axis has: 8 elements are the 16 bytes of an access and the columns of an instruction.
static void add_tile(Choices *choices, MirageInt64List list, int64_t extent, int64_t tile) {
  if (tile < 1 || tile > extent || choices->num == MAX_PARTS)
    return;
  int64_t parts = ceil_div(extent, tile);
  int64_t real = ceil_div(extent, parts);
  if ((parts - 1) * real >= extent || !allowed(list, parts))
    return;
  if (!list.size && real > 8 && extent % 8 == 0 && real % 8 != 0)
    return;
  for (uint32_t i = 0; i < choices->num; i++)
    if (choices->parts[i] == parts)
      return;
  choices->parts[choices->num++] = parts;
}

static void add_listed(Choices *choices, MirageInt64List list, int64_t extent) {
  for (size_t i = 0; i < list.size; i++)
    if (list.data[i] >= 1 && list.data[i] <= extent)
      add_tile(choices, list, extent, ceil_div(extent, list.data[i]));
}

// Tiles of a parallel axis: whole, single elements and small powers of two, and multiples of the instruction's 8
// columns.
static Choices grid_choices(const SearchProgram *program, uint32_t axis, const MirageSearchOptions *options) {
  Choices choices = {.axis = axis, .num = 1, .parts = {1}}; // not a grid axis: always allowed
  int64_t extent = program->axes[axis].extent;
  if (options->griddims.size) {
    add_listed(&choices, options->griddims, extent);
    return choices;
  }
  for (int64_t tile = 1; tile < 8; tile *= 2)
    add_tile(&choices, options->griddims, extent, tile);
  for (int64_t tile = 8; tile <= 128; tile += 8)
    add_tile(&choices, options->griddims, extent, tile);
  for (int64_t tile = 160; tile <= 512; tile += tile < 256 ? 32 : 128)
    add_tile(&choices, options->griddims, extent, tile);
  return choices;
}

static Choices loop_choices(const SearchProgram *program, const SearchStructure *structure,
                            const MirageSearchOptions *options) {
  Choices choices = {.axis = structure->loop_axis}, kept = {.axis = structure->loop_axis};
  int64_t extent = program->axes[structure->loop_axis].extent;
  if (options->franges.size)
    add_listed(&choices, options->franges, extent);
  else
    for (int64_t tile = 16; tile <= 1024; tile += tile < 64 ? 16 : tile < 128 ? 32 : tile)
      add_tile(&choices, options->franges, extent, tile);
  if (!options->franges.size)
    for (int64_t tile = extent / 2; tile >= 1 && tile < 16; tile /= 2)
      add_tile(&choices, options->franges, extent, tile);
  bool neutral = tails_are_neutral(structure);
  for (uint32_t i = 0; i < choices.num; i++) // a loop of one iteration is the search without a loop
    if (choices.parts[i] > 1 && (neutral || extent % choices.parts[i] == 0))
      kept.parts[kept.num++] = choices.parts[i];
  return kept;
}

static void nothing_split(const SearchProgram *program, SearchSchedule *schedule) {
  for (uint32_t i = 0; i < program->num_axes; i++)
    schedule->parts[i] = 1;
}

void mirage__search_reference_schedule(const SearchProgram *program, const SearchStructure *structure,
                                       const MirageSearchOptions *options, SearchSchedule *out_schedule) {
  nothing_split(program, out_schedule);
  uint32_t split = 0;
  for (uint32_t i = program->num_axes; i-- > 1;) {
    const SearchAxis *axis = &program->axes[i];
    if (search_axis_is_parallel(axis) && axis->extent > 1 && split < 3) {
      out_schedule->parts[i] = axis->batch ? axis->extent : ceil_div(axis->extent, REFERENCE_COLUMNS);
      split++;
    }
  }
  if (structure->loop_axis)
    out_schedule->parts[structure->loop_axis] = ceil_div(program->axes[structure->loop_axis].extent, REFERENCE_TILE);
}

// ------------------------------------------------------------------------------------------ the search

typedef struct Scheduler {
  const SearchProgram *program;
  const SearchStructure *structure;
  const MirageSearchOptions *options;
  Choices choices[SEARCH_MAX_AXES];
  uint32_t num_choices;
  SearchCandidate *best;
  uint32_t num_best, max_best;
  uint64_t *scheduled;
} Scheduler;

static void keep_schedule(Scheduler *scheduler, const SearchSchedule *schedule) {
  double time =
      mirage__search_schedule_cost(scheduler->program, scheduler->structure, schedule, scheduler->options->target);
  ++*scheduler->scheduled;
  if (!isfinite(time))
    return;
  uint32_t at = scheduler->num_best;
  if (at == scheduler->max_best && scheduler->best[at - 1].time_us <= time)
    return;
  if (at == scheduler->max_best)
    at--;
  else
    scheduler->num_best++;
  for (; at > 0 && scheduler->best[at - 1].time_us > time; at--)
    scheduler->best[at] = scheduler->best[at - 1];
  scheduler->best[at] = (SearchCandidate){.structure = scheduler->structure, .schedule = *schedule, .time_us = time};
}

static void choose(Scheduler *scheduler, uint32_t index, uint32_t num_split, SearchSchedule *schedule) {
  if (index == scheduler->num_choices) {
    keep_schedule(scheduler, schedule);
    return;
  }
  const Choices *choices = &scheduler->choices[index];
  bool is_loop = choices->axis == scheduler->structure->loop_axis;
  for (uint32_t i = 0; i < choices->num; i++) {
    uint32_t split = num_split + (!is_loop && choices->parts[i] > 1);
    if (split > 3)
      continue; // a grid has three axes
    schedule->parts[choices->axis] = choices->parts[i];
    choose(scheduler, index + 1, split, schedule);
  }
  schedule->parts[choices->axis] = 1;
}

uint32_t mirage__search_schedules(const SearchProgram *program, const SearchStructure *structure,
                                  const MirageSearchOptions *options, uint32_t max, SearchCandidate *out_best,
                                  uint64_t *in_out_scheduled) {
  Scheduler scheduler = {.program = program,
                         .structure = structure,
                         .options = options,
                         .best = out_best,
                         .max_best = max,
                         .scheduled = in_out_scheduled};
  SearchSchedule schedule;
  nothing_split(program, &schedule);
  if (structure->loop_axis)
    scheduler.choices[scheduler.num_choices++] = loop_choices(program, structure, options);
  for (uint32_t i = 1; i < program->num_axes; i++)
    if (search_axis_is_parallel(&program->axes[i]))
      scheduler.choices[scheduler.num_choices++] = grid_choices(program, i, options);
  choose(&scheduler, 0, 0, &schedule);
  return scheduler.num_best;
}
