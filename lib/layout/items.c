// items.c - row-wise block graphs whose tiles stay in the threads that load them.
//
// A block graph without loops and products that reduces rows of one shape [.., n], and computes element by element
// around the reductions - a norm, a softmax, a residual update - needs no tile in shared memory: a thread keeps the
// same columns of a row from its load to its store, so each value lives in the registers of the thread that uses it
// next. A reduction then costs its shuffles, one word of shared memory a warp and row, and one barrier.
//
// Few rows are all in flight at once, each in all threads. More rows, or longer ones, are taken some at a time: as many
// threads share a row as have registers for it, from one warp, which needs no barrier, to all of the block. What is the
// same for all rows, a gain, is kept beside them where registers suffice, and otherwise loaded where it is used. Rows that no
// registers hold beside others', or that begin anywhere, come by way of shared memory (rows_ahead.c): but not short ones, of which a
// warp has one, since few of their windows lie inside of them.
//
// A row that blocks of a cluster share is theirs in the same way: a reduction's result goes to the others through shared
// memory, a word a row. What is computed from a reduction may be moved nowhere else: reshaped, transposed, cut.
#include "plan.h"

#include <string.h>

enum {
  MOST_ROWS = 8,          // at once in all threads
  REGISTERS = 96,         // of a thread, for elements
  ROW_REGISTERS = 32,     // of these for a row, where warps share it
  FULL_REGISTERS = 36,    // where a block has all the threads that there are
  HALF_REGISTERS = 80,    // and where it has half of them
  MOST_TOGETHER = 4,      // rows that a thread takes at once
  WIDEST = 8,             // columns of a piece
  MOST_TORN = 1024,       // columns of rows that begin anywhere and yet are read element by element
  MOST_REMEMBERED = 2000, // values, by code generation
  LEAST_WARPS = 8,        // of a block that takes rows in turn
  FULL_THREADS = 1024,    // all that a block may have
  OTHERS = 16,            // registers for other things
  MOST_BESIDE = 3,        // blocks of 16 warps that a multiprocessor holds
};

// One element a row, or one for all.
static bool is_narrow(const MirageType *type) { return type->rank == 0 || type->shape[type->rank - 1] == 1; }

static bool reduces_rows(const Plan *plan, const MirageNodeView *view, const MirageType **shape) {
  const MirageType *in = mirage_ugraph_type(plan->graph, view->operands[0]);
  const MirageType *out = mirage_ugraph_type(plan->graph, view->first_result);
  if (view->attrs->reduce.dim != (int32_t)in->rank - 1 || !is_narrow(out) ||
      (*shape && !mirage_type_same_shape(*shape, in)))
    return false;
  *shape = in;
  return true;
}

// What blocks of a cluster publish for a meeting must be one element a row that was computed here.
static bool meets_by_rows(const Plan *plan, const MirageNodeView *view) {
  const BlockMeeting *meeting = mirage__block_meeting_of(&plan->block, view->first_result);
  for (uint32_t i = 0; meeting->cluster && i < meeting->num_leaves; i++)
    if (!is_narrow(mirage_ugraph_type(plan->graph, meeting->leaves[i])) ||
        mirage__block_op(&plan->block, meeting->leaves[i]) == MIRAGE_OP_LOAD)
      return false;
  return meeting->cluster;
}

static bool is_movement(MirageOp op) {
  return mirage_op_info(op)->kind == MIRAGE_KIND_SHAPE && op != MIRAGE_OP_BROADCAST;
}

// Whether a step reads what reductions before it computed; `reduced` says so of each value, and learns of its results.
static bool reads_reduction(const Plan *plan, const MirageNodeView *view, bool *reduced) {
  bool reads = false;
  for (uint32_t o = 0; o < view->num_operands; o++)
    reads |= reduced[mirage__block_resolve(&plan->block, view->operands[o]).index];
  for (uint32_t r = 0; r < view->num_results; r++)
    reduced[view->first_result.index + r] = reads || mirage_op_info(view->op)->kind == MIRAGE_KIND_REDUCE;
  return reads;
}

static bool step_fits(Plan *plan, MirageNode node, const MirageType **shape, bool *reduced) {
  MirageNodeView view = mirage_ugraph_node(plan->graph, node);
  if (reads_reduction(plan, &view, reduced) && is_movement(view.op))
    return false;
  switch (view.op) {
  case MIRAGE_OP_THREAD:
  case MIRAGE_OP_YIELD:
  case MIRAGE_OP_STORE: // its tile is checked when the shape is known
    return true;
  case MIRAGE_OP_LOAD:
    return !plan->block.values[view.first_result.index].shared &&
           mirage__block_load(&plan->block, view.first_result)->by <= BY_READER;
  case MIRAGE_OP_REDUCE_SUM:
  case MIRAGE_OP_REDUCE_MAX:
  case MIRAGE_OP_REDUCE_MEAN:
    return reduces_rows(plan, &view, shape);
  case MIRAGE_OP_CLUSTER_SUM:
  case MIRAGE_OP_CLUSTER_MAX:
    return meets_by_rows(plan, &view);
  default:
    return mirage__block_can_inline(view.op) && !plan->block.values[view.first_result.index].shared;
  }
}

// Blocks that hold the same tile would share the work of storing it; what is one element a row, the first one stores.
static bool store_fits(const Plan *plan, const MirageNodeView *view, const MirageType *shape) {
  const MirageType *tile = mirage_ugraph_type(plan->graph, view->operands[0]);
  bool narrow = is_narrow(tile) && tile->rank == shape->rank, alike = false;
  for (int a = 0; a < 3; a++)
    alike |= view->attrs->access.grid[a] < 0 && mirage__block_custom(&plan->block)->grid[a] > 1;
  return narrow || (!alike && mirage_type_same_shape(tile, shape));
}

// Two pieces a thread: on the H200 rows of 4096 take 1.93 us with 8 warps, 2.00 with 16, 3.31 with 4, 2.43 with 32
// (64 rows: 2.18, 2.27, 3.45, 2.61). Where a multiprocessor has many blocks, those of eight warps are all there at once (H100, 512 rows of
// 8192: 5.88 us with 8 warps, 7.16 with 16, 8.01 with 4).
static int32_t choose_warps(int64_t columns, double beside) {
  int32_t warps = 4, most = beside > MOST_BESIDE ? 8 : 16;
  while (warps < most && columns > (int64_t)warps * 32 * 16)
    warps *= 2;
  return warps;
}

// The shape of the rows that the block reduces; NULL when its steps do not fit.
static const MirageType *common_shape(Plan *plan, const char **out_why) {
  const Block *block = &plan->block;
  bool *reduced = mirage_arena_alloc_array(block->arena, mirage_ugraph_num_values(plan->graph) + 1, sizeof *reduced);
  const MirageType *shape = NULL;
  MirageNodeView view;
  *out_why = !reduced ? "memory is short" : block->num_loops ? "it has a loop" : NULL;
  for (int32_t s = -1; !*out_why && mirage__block_next(block, &s, &view);)
    if (!step_fits(plan, block->steps[s].node, &shape, reduced))
      *out_why = mirage__plan_say(plan, "%s does not keep to columns, or is asked for elsewhere",
                                  mirage_op_info(view.op)->mnemonic);
  if (!shape && !*out_why)
    *out_why = "no rows are reduced";
  return *out_why ? NULL : shape;
}

static const MirageType *accessed(const Plan *plan, const MirageNodeView *view) {
  MirageValue tensor = view->operands[view->op == MIRAGE_OP_STORE ? 1 : 0];
  return &plan->types[mirage__block_resolve(&plan->block, tensor).index];
}

/// Accesses to rows: the first of them, and whether all are of the rows that are reduced, and lie alike, element by element.
typedef struct RowAccesses {
  const MirageType *tensor;
  const MirageAccessAttrs *access;
  bool alike, torn;
} RowAccesses;

static void note_access(const Plan *plan, const MirageNodeView *view, const MirageType *tile, const MirageType *shape,
                        RowAccesses *rows) {
  const MirageType *tensor = accessed(plan, view);
  const MirageAccessAttrs *access = &view->attrs->access, *first = rows->access;
  int64_t begin = tensor->rank ? access->begin[tensor->rank - 1] : 0;
  rows->torn |= mirage__row_is_torn(tensor, tile) || begin * mirage_dtype_bits(tensor->dtype) % (8 * ROW_WINDOW);
  if (!first) {
    rows->tensor = tensor, rows->access = access;
    rows->alike = mirage_type_same_shape(tile, shape);
    return;
  }
  MirageAccessAttrs same = *access;
  same.fill = first->fill;
  rows->alike &= mirage_type_same_shape(tile, shape) && mirage_type_same_shape(rows->tensor, tensor) &&
                 !memcmp(&same, first, sizeof same) && mirage__row_bytes(rows->tensor) == mirage__row_bytes(tensor);
}

// Where rows begin anywhere, a thread's elements are other columns of each row: nothing may ask for the column but what lies
// like the row, and what is the same in all of them.
static bool asks_for_columns(const MirageNodeView *view) {
  return mirage_op_info(view->op)->kind == MIRAGE_KIND_SHAPE || view->op == MIRAGE_OP_IOTA;
}

static RowLoads loads_of(const Plan *plan, const MirageType *shape) {
  RowLoads loads = {0};
  RowAccesses rows = {0};
  MirageNodeView view;
  int64_t reductions = 0, count = 1;
  bool columns = false;
  for (int32_t s = -1; mirage__block_next(&plan->block, &s, &view);) {
    reductions += mirage_op_info(view.op)->kind == MIRAGE_KIND_REDUCE;
    columns |= asks_for_columns(&view);
    if (view.op != MIRAGE_OP_LOAD && view.op != MIRAGE_OP_STORE)
      continue;
    MirageValue value = view.op == MIRAGE_OP_LOAD ? view.first_result : view.operands[0];
    const MirageType *type = mirage_ugraph_type(plan->graph, value);
    if (is_narrow(type))
      continue;
    bool same = !mirage__row_differs(accessed(plan, &view));
    loads.same += same && view.op == MIRAGE_OP_LOAD;
    loads.values += !same && view.op == MIRAGE_OP_LOAD;
    if (same)
      continue;
    note_access(plan, &view, type, shape, &rows);
    int64_t tensor = mirage__waiting_tensor(&plan->block, plan->block.steps[s].node);
    loads.tensors = tensor >= loads.tensors ? tensor + 1 : loads.tensors;
    count = mirage_type_elements(type) / type->shape[type->rank - 1];
  }
  loads.beside = (double)mirage__block_grid(&plan->block) / plan->target->num_sms;
  loads.torn = rows.torn;
  loads.meets = mirage__block_cluster(&plan->block) > 1;
  loads.bytes = rows.alike ? mirage__row_bytes(rows.tensor) : 0;
  loads.room = rows.torn && columns ? 0 : mirage__row_room(plan->target, count, reductions);
  return loads;
}

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t clamp(int64_t value, int64_t least, int64_t most) {
  return value > most ? most : value < least ? least : value;
}

// As wide as leaves no thread idle.
static uint32_t width_for(int64_t columns, int64_t threads) {
  uint32_t width = WIDEST;
  while (columns % width || (width > 1 && columns / width < threads))
    width /= 2;
  return width;
}

static void count_registers(ThreadRows *items, RowLoads loads) {
  int64_t of_row = (int64_t)items->pieces * items->width, same = items->late ? 0 : loads.same;
  items->registers = (int32_t)(of_row * (items->together * clamp(loads.values, 1, loads.values + 1) + same)) + OTHERS;
}

// All rows at once, each in all threads; false where the registers do not hold them.
static bool take_at_once(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items) {
  int64_t threads = warps * 32;
  uint32_t width = width_for(columns, threads);
  int64_t pieces = ceil_div(columns / width, threads);
  if (rows > MOST_ROWS || rows * pieces * width * (1 + loads.values + loads.same) > REGISTERS)
    return false;
  *out_items = (ThreadRows){.on = true,
                            .rows = (int32_t)rows,
                            .pieces = (int32_t)pieces,
                            .across = (int32_t)threads,
                            .teams = 1,
                            .together = (int32_t)rows,
                            .width = width};
  return true;
}

// Rows in turn, with as few threads to a row as have the registers for one.
static bool take_in_turn(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items) {
  int64_t threads = warps * 32, across = 32, values = loads.values ? loads.values : 1;
  int64_t limit = threads > FULL_THREADS / 2 ? FULL_REGISTERS : ROW_REGISTERS;
  uint32_t width = width_for(columns, 1);
  while (across < threads && ceil_div(columns / width, across) * width * values > limit)
    across *= 2;
  while (across > 1 && across <= 32 && columns / width <= across / 2)
    across /= 2;
  int64_t pieces = ceil_div(columns / width, across), registers = pieces * width * values;
  if (threads % across || registers > limit)
    return false;
  int64_t all = threads > FULL_THREADS / 2 ? FULL_REGISTERS : threads > FULL_THREADS / 4 ? HALF_REGISTERS : REGISTERS;
  int64_t same = pieces * width * loads.same;
  bool late = registers + same > all;
  int64_t teams = threads / across, together = (all - (late ? 0 : same)) / registers;
  int64_t turns = ceil_div(ceil_div(rows, teams), clamp(together, 1, MOST_TOGETHER));
  together = ceil_div(ceil_div(rows, teams), turns);
  *out_items = (ThreadRows){.on = true,
                            .rows = (int32_t)rows,
                            .pieces = (int32_t)pieces,
                            .across = (int32_t)across,
                            .teams = (int32_t)teams,
                            .together = (int32_t)together,
                            .late = late,
                            .width = width};
  return true;
}

// Threads without a piece are left out: 1792 pieces are four each of 14 warps, as they would be of 16.
static int32_t busy_warps(int64_t columns, int32_t warps) {
  int64_t pieces = columns / width_for(columns, 32 * warps), each = ceil_div(pieces, 32 * warps);
  return (int32_t)ceil_div(pieces, 32 * each);
}

static bool take_whole_rows(int64_t rows, int64_t columns, RowLoads loads, int32_t asked, ThreadRows *out_items,
                            int32_t *out_warps) {
  *out_warps = asked ? asked : busy_warps(columns, choose_warps(columns, loads.beside));
  if (take_at_once(rows, columns, loads, *out_warps, out_items))
    return true;
  *out_warps = asked ? asked : busy_warps(columns, choose_warps(columns, 0));
  return take_at_once(rows, columns, loads, *out_warps, out_items);
}

// Where nobody says how many warps: those of choose_warps for rows at once, else the fewest that hold a row.
bool mirage__rows_in_threads(int64_t rows, int64_t columns, RowLoads loads, int32_t warps, ThreadRows *out_items,
                             int32_t *out_warps) {
  *out_items = (ThreadRows){0};
  if (loads.torn && columns <= MOST_TORN) {
    loads.torn = false;
    loads.room = 0;
  }
  if (mirage__rows_follow(rows, loads) && mirage__rows_beside_others(rows, columns, loads, warps, out_items, out_warps))
    return true;
  bool fits = !loads.torn && take_whole_rows(rows, columns, loads, warps, out_items, out_warps);
  if (!fits && mirage__rows_ahead(rows, columns, loads, warps, out_items, out_warps))
    return true;
  fits = fits || take_whole_rows(rows, columns, loads, warps, out_items, out_warps);
  int32_t most = warps ? warps : FULL_THREADS / 32;
  for (int32_t w = warps ? warps : LEAST_WARPS; !fits && w <= most; w *= 2) {
    fits = take_in_turn(rows, columns, loads, w, out_items);
    *out_warps = w;
  }
  count_registers(out_items, loads);
  return fits;
}

int32_t mirage__rows_beside(const ThreadRows *items, int32_t threads, const MirageTarget *target) {
  enum { ROOMY = 96 }; // registers that no such block uses up
  int64_t most = target->registers_per_sm / (2 * threads);
  bool two = items->on && !items->ahead && 2 * threads <= target->max_threads_per_sm && most < ROOMY;
  return two && items->registers > 0 && items->registers + OTHERS <= most ? 2 : 1;
}

int32_t mirage__thread_turns(const ThreadRows *items) {
  int64_t each = (int64_t)items->together * items->teams;
  return (int32_t)(ceil_div(items->rows, each) * (items->apart ? ceil_div(items->pieces, items->abreast) : 1));
}

static bool divide(Plan *plan, const MirageType *shape) {
  Block *block = &plan->block;
  int64_t columns = shape->shape[shape->rank - 1], rows = mirage_type_elements(shape) / columns;
  ThreadRows items;
  int32_t warps;
  if (!mirage__rows_in_threads(rows, columns, loads_of(plan, shape), mirage__team_warps(&block->team), &items,
                               &warps) ||
      (int64_t)items.together * items.pieces * block->num_steps > MOST_REMEMBERED)
    return false;
  block->items = items;
  block->items.shape = *shape;
  mirage__team_set_warps(&block->team, warps);
  return true;
}

MirageStatus mirage__plan_items(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  const MirageType *shape = common_shape(plan, out_why);
  if (!shape)
    return MIRAGE_OK;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    if (view.op == MIRAGE_OP_STORE && !store_fits(plan, &view, shape))
      *out_why = "a store is not of such rows, or blocks share it";
  if (!*out_why && !divide(plan, shape)) {
    int64_t columns = shape->shape[shape->rank - 1];
    *out_why = mirage__plan_say(plan, "%lld rows of %lld columns are too many for the registers",
                                (long long)(mirage_type_elements(shape) / columns), (long long)columns);
  }
  for (uint32_t i = 0; i < block->num_loads && !*out_why; i++)
    block->loads[i].by = BY_READER;
  return MIRAGE_OK;
}
