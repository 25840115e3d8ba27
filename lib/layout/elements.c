// elements.c - block graphs of element-wise operators alone: every thread finishes its elements by itself.
//
// Nothing is reduced or multiplied, so no element waits for another, and no tile needs shared memory: a thread loads its
// columns of some rows, computes all that the block stores there, each value once however many read it, and stores
// that. Example: silu(x) y and its product with z, of tiles [4, 4096] in 256 threads: threads 0 .. 255 hold 8 columns
// each of a row at a time, in two pieces.
//
// The threads follow the rows: as many as a row has pieces of up to 16 bytes, and 8 columns, stand side by side, the others take rows
// below. What depends on the column only is known for all rows of a thread. Best is a thread for each piece; and where all
// blocks together have few pieces, narrower ones, since arithmetic waits for itself and only other threads fill the time.
#include "plan.h"

enum {
  WIDEST = 8,    // columns of a piece,
  ACCESS = 16,   // and bytes: neighbours' pieces then follow each other in one instruction
  NARROWEST = 2, // that more threads make it
  MOST_WARPS = 16,
  ENOUGH_THREADS = 512, // of a multiprocessor
  REGISTERS = 48,       // of a thread, about
  MOST_STEPS = 400,     // what code generation remembers of an element
  MOST_TOGETHER = 4,    // pieces of rows that a thread loads before it computes the first
  MOST_CODE = 2048,     // operators times columns that code is written out for
};

static bool is_movement(MirageOp op) {
  return mirage_op_info(op)->kind == MIRAGE_KIND_SHAPE && op != MIRAGE_OP_BROADCAST;
}

static bool step_fits(const Plan *plan, const MirageNodeView *view) {
  const BlockValue *value = &plan->block.values[view->first_result.index];
  switch (view->op) {
  case MIRAGE_OP_THREAD:
  case MIRAGE_OP_YIELD:
  case MIRAGE_OP_STORE:
    return true;
  case MIRAGE_OP_LOAD:
    return !value->shared && mirage__block_load(&plan->block, view->first_result)->by <= BY_READER;
  default:
    return mirage__block_can_inline(view->op) && !value->shared && !is_movement(view->op);
  }
}

// Blocks that hold the same tile would share the work of storing it.
static bool is_shared_out(const Plan *plan, const MirageNodeView *store) {
  bool shared = false;
  for (int a = 0; a < 3; a++)
    shared |= store->attrs->access.grid[a] < 0 && mirage__block_custom(&plan->block)->grid[a] > 1;
  return shared;
}

// The shape of all that is stored; NULL: there are several, or a step does not fit.
static const MirageType *common_shape(const Plan *plan, const char **out_why) {
  const Block *block = &plan->block;
  const MirageType *shape = NULL;
  MirageNodeView view;
  *out_why = block->num_loops ? "it has a loop" : block->num_steps > MOST_STEPS ? "it has too many operators" : NULL;
  for (int32_t s = -1; !*out_why && mirage__block_next(block, &s, &view);) {
    if (!step_fits(plan, &view))
      *out_why = mirage__plan_say(plan, "%s is not of each element by itself, or is asked for elsewhere",
                                  mirage_op_info(view.op)->mnemonic);
    if (view.op != MIRAGE_OP_STORE)
      continue;
    const MirageType *tile = mirage_ugraph_type(plan->graph, view.operands[0]);
    if (tile->rank == 0 || (shape && !mirage_type_same_shape(shape, tile)) || is_shared_out(plan, &view))
      *out_why = "stores are of several shapes, or blocks share one";
    shape = tile;
  }
  return *out_why ? NULL : shape;
}

// Whether `threads` have something to do but for an eighth of them.
static bool are_busy(int64_t threads, int64_t pieces) { return 8 * pieces >= 7 * threads; }

static int32_t choose_warps(int64_t pieces) {
  int32_t warps = MOST_WARPS;
  while (warps > 1 && !are_busy((int64_t)warps * 32, pieces))
    warps /= 2;
  return warps;
}

// As wide as rows allow, unless that leaves threads idle: of `asked` warps, or of the multiprocessors.
static uint32_t choose_width(const ElementTiles *tiles, int32_t asked) {
  int64_t elements = tiles->rows * tiles->columns;
  uint32_t width = WIDEST;
  while (width * tiles->bytes > ACCESS)
    width /= 2;
  while (tiles->columns % width || (width > 1 && !are_busy((int64_t)asked * 32, elements / width)) ||
         (width > NARROWEST && tiles->blocks * elements / width < (double)ENOUGH_THREADS * tiles->num_sms))
    width /= 2;
  return width;
}

static int32_t least(int64_t a, int64_t b) { return (int32_t)(a < b ? a : b); }

ThreadRows mirage__elements_in_threads(const ElementTiles *tiles, int32_t asked, int32_t *out_warps) {
  int64_t rows = tiles->rows, columns = tiles->columns;
  uint32_t width = choose_width(tiles, asked);
  *out_warps = asked ? asked : choose_warps(rows * columns / width);
  int64_t threads = (int64_t)*out_warps * 32;
  int64_t vectors = columns / width;
  int32_t teams = least(vectors < threads ? threads / vectors : 1, rows);
  int32_t across = teams > 1 ? (int32_t)vectors : (int32_t)threads;
  int32_t most = least(MOST_TOGETHER, 1 + MOST_CODE / ((int64_t)width * (tiles->operators + 1)));
  int32_t together = least(most, (rows + teams - 1) / teams), pieces = (int32_t)((vectors + across - 1) / across);
  return (ThreadRows){.on = true,
                      .apart = true,
                      .rows = (int32_t)rows,
                      .pieces = pieces,
                      .across = across,
                      .teams = teams,
                      .together = together,
                      .abreast = least(most / together, pieces),
                      .registers = REGISTERS,
                      .width = width};
}

static int64_t widest_element(const Plan *plan) {
  int64_t widest = 1;
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(&plan->block, &s, &view);) {
    bool load = view.op == MIRAGE_OP_LOAD;
    if (!load && view.op != MIRAGE_OP_STORE)
      continue;
    MirageDType dtype = mirage_ugraph_type(plan->graph, view.operands[load ? 0 : 1])->dtype;
    widest = mirage_dtype_bytes(dtype) > widest ? mirage_dtype_bytes(dtype) : widest;
  }
  return widest;
}

MirageStatus mirage__plan_elements(Plan *plan, const char **out_why) {
  Block *block = &plan->block;
  if (block->items.on) {
    *out_why = "rows are in threads";
    return MIRAGE_OK;
  }
  const MirageType *shape = common_shape(plan, out_why);
  if (!shape)
    return MIRAGE_OK;
  int64_t columns = shape->shape[shape->rank - 1], rows = mirage_type_elements(shape) / columns;
  int32_t warps, asked = mirage__team_warps(&block->team);
  ElementTiles tiles = {.blocks = (double)mirage__block_grid(block),
                        .rows = rows,
                        .columns = columns,
                        .bytes = widest_element(plan),
                        .operators = block->num_steps,
                        .num_sms = plan->target->num_sms};
  block->items = mirage__elements_in_threads(&tiles, asked, &warps);
  block->items.shape = *shape;
  mirage__team_set_warps(&block->team, warps);
  for (uint32_t i = 0; i < block->num_loads; i++)
    block->loads[i].by = BY_READER;
  return MIRAGE_OK;
}
