// codegen_wgmma.c - one step of a product on the matrix instruction of a warpgroup: operands from shared memory.
//
// A warpgroup computes slabs of 64 rows; a thread's accumulators of one are those of mma.m16n8k16 for its warp's 16
// rows (Cell), so everything around the step is that of codegen_matmul.c. The operands lie in swizzled rows
// (mirage__swizzled_layout) and are named by descriptors:
//
//     contraction innermost    a row is a row of the operand; 8 rows make a core; a step of the contraction is 32 bytes further
//     rows innermost           a row is one step of k; 8 steps make a core; the next 64 rows are in the next panel
//
// The first operand may come from registers instead: what is evaluated in the cells of resident tiles is there already. Where the
// split swaps them, the instruction's first operand is the product's second.
//
// The instruction runs on by itself. A step waits for its own products, unless the loop lets them run into its next
// iteration (LoopState.lag): then the loop waits for those of the iteration before, and the end for all.
//
// In a narrow turn (codegen_turns.c) the columns that a mask rules out are not computed, nor the part of a contraction in
// which its first operand is 0 for that.
#include "emit.h"

enum { SLAB = 64, K_BYTES = 32, CORE_ROWS = 8, MOST_UNITS = 32, MOST_CELLS = 256 };

typedef struct Operand {
  const MirageType *type;
  LLVMValueRef start; // address of the tile
  bool k_inner;
  int64_t row_bytes, panel_bytes;
} Operand;

static Operand operand_of(Emit *e, const MirageNodeView *view, uint32_t which) {
  MatmulOperand operand = mirage__matmul_operand(&e->block, view, which);
  const MirageType *type = emit_type(e, operand.base);
  LLVMValueRef origin[MIRAGE_MAX_RANK];
  for (uint32_t i = 0; i < type->rank; i++)
    origin[i] = gpu_i32(&e->gpu, 0);
  Operand out = {.type = type, .k_inner = operand.k_inner};
  out.start = mirage__tile_address(e, type, mirage__current_copy(e, operand.base), origin);
  out.row_bytes = mirage__panel_width(type) * mirage_dtype_bytes(type->dtype);
  out.panel_bytes = mirage__panel_rows(type) * out.row_bytes;
  return out;
}

// Descriptor of the part whose rows (or columns) begin at `first`, a multiple of 8, or of 64 where they are innermost.
static LLVMValueRef descriptor(Emit *e, const Operand *o, LLVMValueRef first) {
  LLVMValueRef offset = o->k_inner
                            ? mirage__mul(e, first, o->row_bytes)
                            : mirage__mul(e, mirage__div(e, first, mirage__panel_width(o->type)), o->panel_bytes);
  int64_t leading = o->k_inner ? 16 : o->panel_bytes;
  return mirage__gpu_matrix_descriptor(&e->gpu, mirage__at(e, o->start, offset), leading, CORE_ROWS * o->row_bytes,
                                       o->type->layout.swizzle);
}

// How far unit `k` of the contraction lies behind the first.
static LLVMValueRef advance(Emit *e, const Operand *o, LLVMValueRef descriptor, int32_t k) {
  int64_t bytes = (int64_t)k * K_BYTES / mirage_dtype_bytes(o->type->dtype) * o->row_bytes;
  if (o->k_inner) {
    int64_t along = (int64_t)k * K_BYTES;
    bytes = along / o->row_bytes * o->panel_bytes + along % o->row_bytes;
  }
  return LLVMBuildAdd(e->gpu.builder, descriptor, gpu_i64(&e->gpu, bytes / 16), "");
}

// The accumulators of the columns that are computed: all, but in narrow turns.
typedef struct Cells {
  int32_t columns, count; // units of a slab; accumulators
  LLVMValueRef of[MOST_CELLS];
} Cells;

static Cells cells_of(const Emit *e, const Carry *carry, const MatmulSplit *split) {
  int32_t columns = mirage__narrow_columns(e, carry->node, split);
  return (Cells){.columns = columns, .count = 4 * split->rows_each * columns};
}

static LLVMValueRef variable_of(const Carry *carry, const MatmulSplit *split, const Cells *cells, int32_t i) {
  int32_t each = 4 * cells->columns;
  return carry->acc.cells[i / each * 4 * split->cols_each + i % each];
}

static void get_cells(Emit *e, const Carry *carry, const MatmulSplit *split, Cells *cells) {
  for (int32_t i = 0; i < cells->count; i++)
    cells->of[i] = mirage__get(e, variable_of(carry, split, cells, i));
}

static void set_cells(Emit *e, const Carry *carry, const MatmulSplit *split, const Cells *cells) {
  for (int32_t i = 0; i < cells->count; i++)
    mirage__set(e, variable_of(carry, split, cells, i), cells->of[i]);
}

// A sum that a loop carries in these registers. What it does not carry is stored at once.
static bool runs_on(const Emit *e, const Carry *carry) {
  const BlockValue *product = &e->block.values[mirage_ugraph_result(e->block.graph, carry->node, 0).index];
  return product->loop >= 0 && product->carried && e->loops[product->loop].lag;
}

typedef struct Step {
  Carry *carry;
  const MatmulSplit *split;
  Operand a, b;
  MirageDType a_dtype;
  int32_t depth; // units of the contraction
  Cells cells;
} Step;

// Columns [first, first + units) of slab i, in units of 8, for the whole contraction.
static void multiply_piece(Emit *e, Step *step, int32_t i, LLVMValueRef a_start, const Fragment *a_regs, int32_t first,
                           int32_t units) {
  const MatmulSplit *s = step->split;
  Worker worker = mirage__matmul_worker(e, s);
  LLVMValueRef column = mirage__add(e, mirage__mul(e, worker.col, s->cols_each * 8), gpu_i32(&e->gpu, first * 8));
  LLVMValueRef b_start = descriptor(e, &step->b, column),
               *cells = step->cells.of + 4 * (i * step->cells.columns + first);
  for (int32_t k = 0; k < step->depth; k++)
    mirage__gpu_wgmma(&e->gpu, step->a_dtype, step->b.type->dtype, units * 8,
                      a_regs ? NULL : advance(e, &step->a, a_start, k), a_regs ? a_regs[k] : NULL,
                      !a_regs && !step->a.k_inner, advance(e, &step->b, b_start, k), !step->b.k_inner, cells);
}

static void multiply_slab(Emit *e, Step *step, int32_t i, const Fragment *a_regs) {
  const MatmulSplit *s = step->split;
  LLVMValueRef a_start = NULL;
  if (!a_regs) {
    LLVMValueRef slab = mirage__mul(e, mirage__div(e, mirage__matmul_worker(e, s).row, 4), s->rows_each);
    a_start = descriptor(e, &step->a, mirage__mul(e, mirage__add(e, slab, gpu_i32(&e->gpu, i)), SLAB));
  }
  int32_t columns = step->cells.columns;
  for (int32_t first = 0; first < columns; first += MOST_UNITS)
    multiply_piece(e, step, i, a_start, a_regs, first, columns - first < MOST_UNITS ? columns - first : MOST_UNITS);
}

Fragment *mirage__warpgroup_fragments(Emit *e, Carry *carry, const MatmulSplit *split) {
  int32_t count = split->rows_each * split->depth_units;
  Fragment *fragments = mirage__emit_array(e, (size_t)count, sizeof *fragments);
  for (int32_t f = 0; fragments && f < count; f++)
    mirage__mma_cells_operand(e, carry, split, f / split->depth_units, f % split->depth_units, fragments[f]);
  return fragments;
}

// The registers that the products begin with must be as they are by now; nothing begins with registers where all are new.
static void begin_cells(Emit *e, const Carry *carry, const MatmulSplit *split, Cells *cells) {
  if (carry->fresh) {
    for (int32_t i = 0; i < cells->count; i++)
      cells->of[i] = NULL;
    GPU0(&e->gpu, WGMMA_FENCE);
    return;
  }
  get_cells(e, carry, split, cells);
  mirage__gpu_wgmma_fence(&e->gpu, (uint32_t)cells->count, cells->of);
}

void mirage__warpgroup_issue(Emit *e, Carry *carry, const MatmulSplit *split, Fragment *fragments) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  Step step = {.carry = carry, .split = split, .b = operand_of(e, &view, split->swap ? 0 : 1)};
  step.a_dtype = emit_type(e, view.operands[split->swap ? 1 : 0])->dtype;
  if (carry->acc.count > MOST_CELLS) {
    mirage__emit_fail(e, view.loc, MIRAGE_LIMIT, "matmul: a thread would own %d accumulators, at most %d are possible",
                      carry->acc.count, MOST_CELLS);
    return;
  }
  if (!fragments)
    step.a = operand_of(e, &view, split->swap ? 1 : 0);
  step.depth = mirage__narrow_depth(e, carry->node, split);
  step.cells = cells_of(e, carry, split);
  begin_cells(e, carry, split, &step.cells);
  for (int32_t i = 0; i < split->rows_each; i++)
    multiply_slab(e, &step, i, fragments ? fragments + i * split->depth_units : NULL);
  GPU0(&e->gpu, WGMMA_COMMIT);
  set_cells(e, carry, split, &step.cells);
}

void mirage__warpgroup_wait(Emit *e, Carry *carry, int32_t groups) {
  if (e->status != MIRAGE_OK)
    return;
  MatmulSplit split = mirage__split_of(e, carry->node);
  Cells cells = cells_of(e, carry, &split);
  get_cells(e, carry, &split, &cells);
  mirage__gpu_wgmma_wait(&e->gpu, groups, (uint32_t)cells.count, cells.of);
  set_cells(e, carry, &split, &cells);
}

void mirage__warpgroup_step(Emit *e, Carry *carry, const MatmulSplit *split) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  Fragment *fragments = NULL;
  if (mirage__block_operand_in_cells(&e->block, &view)) {
    fragments = mirage__warpgroup_fragments(e, carry, split);
    if (!fragments)
      return;
  }
  mirage__warpgroup_issue(e, carry, split, fragments);
  if (!runs_on(e, carry))
    mirage__warpgroup_wait(e, carry, 0);
}

void mirage__warpgroup_finish(Emit *e, Carry *carry) {
  if (runs_on(e, carry) && mirage__split_of(e, carry->node).warpgroup)
    mirage__warpgroup_wait(e, carry, 0);
}
