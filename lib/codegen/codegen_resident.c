// codegen_resident.c - tiles that live in registers: this thread's cells, piece by piece.
//
// Partition (lib/layout/block.h) says which cells of a tile a thread holds; they are the accumulators of the matrix
// instruction. Code for one piece - two neighbours in a row, or one element of a row's vector - runs the element
// function with e->cell set: a resident value is then its register, everything else is evaluated at the piece's index.
//
// Padding: rows beyond the tile repeat row 0, columns beyond it repeat column 0; they are neutral in reductions, masked
//          out of products (codegen_mma.c) and never written.
// Rows:    a row's elements lie in the four lanes of a quad (by_col == 1 wherever that matters), so a reduction ends
//          with two shuffles, and four column units of 16-bit elements exchange their words to be stored 16 bytes a
//          lane (codegen_quads.c).
#include "emit.h"

#include <string.h>

bool mirage__in_cells(const Emit *e, MirageValue value) { return mirage__block_in_cells(&e->block, value); }

Accumulators mirage__registers(Emit *e, MirageValue value) {
  value = mirage__block_buffer_of(&e->block, value);
  Accumulators *registers = &e->registers[value.index];
  const MirageType *type = emit_type(e, value);
  if (!registers->cells)
    *registers = mirage__accumulators(e, type->dtype, mirage__partition_cells(&e->block.partition, type));
  return *registers;
}

// ------------------------------------------------------------------------------------------------------------- places

static Worker worker_of(Emit *e) {
  const Partition *p = &e->block.partition;
  return (Worker){.row = mirage__mod(e, e->warp, p->by_row),
                  .col = mirage__mod(e, mirage__div(e, e->warp, p->by_row), p->by_col)};
}

// Batch indices and the row of a cell's row (row `in_half` of half 0 or 1 of its unit), and whether it is one of the tile.
static void row_index(Emit *e, const MirageType *tile, const Worker *worker, int32_t unit, int half,
                      LLVMValueRef in_half, TileCell *cell) {
  const Partition *p = &e->block.partition;
  MatmulSplit split = {.resident = true, .by_row = p->by_row, .rows_each = p->rows_each};
  int64_t units = p->batch * p->row_units;
  LLVMValueRef at = mirage__matmul_row_unit(e, &split, worker, unit);
  at = mirage__clamp(e, at, units, (int64_t)p->rows_each * p->by_row, &cell->valid);
  LLVMValueRef row = mirage__mul(e, mirage__mod(e, at, p->row_units), 16);
  row = mirage__add(e, mirage__add(e, row, in_half), gpu_i32(&e->gpu, half * 8));
  mirage__delinearize(e, mirage__div(e, at, p->row_units), tile->rank - 2, tile->shape, cell->index);
  cell->index[tile->rank - 2] = mirage__clamp(e, row, p->rows, (int64_t)p->row_units * 16, &cell->valid);
}

// Between pieces of one row only what does not depend on the column is remembered.
static void forget_columns(Emit *e) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < e->num_memo; i++) {
    uint32_t rank = e->block.types[e->memo[i].value].rank;
    if (rank == 0 || LLVMIsAConstantInt(e->memo[i].index[rank - 1]))
      e->memo[kept++] = e->memo[i];
  }
  e->num_memo = kept;
}

void mirage__run_cell(Emit *e, const TileCell *cell, CellBody body, void *user) {
  const CellPlace *around = e->cell;
  forget_columns(e);
  e->cell = &cell->place;
  body(e, cell, user);
  e->cell = around;
}

static void row_of_vector(Emit *e, const MirageType *tile, const Worker *worker, TileCell cell, CellBody body,
                          void *user) {
  LLVMValueRef zero = gpu_i32(&e->gpu, 0);
  LLVMValueRef first = mirage__equals(e, mirage__mod(e, e->lane, 4), 0);
  cell.mine = mirage__and(e, cell.valid, first);
  if (e->block.partition.by_col > 1)
    cell.mine = mirage__and(e, cell.mine, mirage__equals(e, worker->col, 0));
  cell.index[tile->rank - 1] = zero;
  cell.width = 1;
  cell.first = 2 * cell.place.unit + cell.place.part / 2;
  mirage__run_cell(e, &cell, body, user);
}

// Neighbours `c` and on of column unit j, in a row.
static TileCell cell_of(Emit *e, const MirageType *tile, const Worker *worker, const TileCell *row, int32_t j,
                        uint32_t c) {
  const Partition *p = &e->block.partition;
  int32_t columns = mirage__partition_columns(p, tile);
  int64_t extent = tile->shape[tile->rank - 1];
  TileCell cell = *row;
  LLVMValueRef lane = mirage__mul(e, mirage__mod(e, e->lane, 4), 2);
  LLVMValueRef unit = mirage__add(e, mirage__mul(e, worker->col, columns), gpu_i32(&e->gpu, j));
  LLVMValueRef column = mirage__add(e, mirage__mul(e, unit, 8), mirage__add(e, lane, gpu_i32(&e->gpu, c)));
  column = mirage__clamp(e, column, extent, (int64_t)columns * p->by_col * 8, &cell.valid);
  cell.index[tile->rank - 1] = column;
  cell.mine = cell.valid;
  cell.width = extent % 2 == 0 ? 2 : 1;
  cell.place.column = j;
  cell.place.part += (int32_t)c;
  cell.first = 4 * (row->place.unit * columns + j) + cell.place.part;
  return cell;
}

static void row_of_columns(Emit *e, const MirageType *tile, const Worker *worker, const TileCell *row, CellBody body,
                           void *user) {
  int32_t columns = mirage__partition_columns(&e->block.partition, tile);
  TileCell cell;
  for (int32_t j = 0; j < columns; j++)
    for (uint32_t c = 0; c < 2; c += cell.width) {
      cell = cell_of(e, tile, worker, row, j, c);
      mirage__run_cell(e, &cell, body, user);
    }
}

static TileCell row_of(Emit *e, const MirageType *tile, const Worker *worker, int32_t unit, int half) {
  TileCell row = {.place = {.unit = unit, .part = 2 * half}};
  row_index(e, tile, worker, unit, half, mirage__div(e, e->lane, 4), &row);
  return row;
}

TileCell mirage__cell_at(Emit *e, const MirageType *tile, const CellPlace *place) {
  Worker worker = worker_of(e);
  TileCell row = row_of(e, tile, &worker, place->unit, place->part / 2);
  return cell_of(e, tile, &worker, &row, place->column, 0);
}

void mirage__for_cells(Emit *e, const MirageType *tile, CellBody body, void *user) {
  Worker worker = worker_of(e);
  for (int32_t unit = 0; unit < e->block.partition.rows_each; unit++)
    for (int half = 0; half < 2; half++) {
      TileCell row = row_of(e, tile, &worker, unit, half);
      mirage__forget_elements(e);
      if (mirage__partition_columns(&e->block.partition, tile))
        row_of_columns(e, tile, &worker, &row, body, user);
      else
        row_of_vector(e, tile, &worker, row, body, user);
    }
  mirage__forget_elements(e);
}

void mirage__cell_row(Emit *e, const MirageType *tile, const CellPlace *place, LLVMValueRef in_half, TileCell *cell) {
  Worker worker = worker_of(e);
  *cell = (TileCell){.place = *place};
  row_index(e, tile, &worker, place->unit, place->part / 2, in_half, cell);
  int32_t columns = mirage__partition_columns(&e->block.partition, tile);
  LLVMValueRef unit = mirage__add(e, mirage__mul(e, worker.col, columns), gpu_i32(&e->gpu, place->column));
  cell->index[tile->rank - 1] = mirage__mul(e, unit, 8);
}

// ---------------------------------------------------------------------------------------------------------- registers

void mirage__cell_get(Emit *e, MirageValue value, uint32_t width, LLVMValueRef *out) {
  Accumulators registers = mirage__registers(e, value);
  bool unread = mirage__quad_asks(e);
  int32_t columns = mirage__partition_columns(&e->block.partition, emit_type(e, value));
  const CellPlace *at = e->cell;
  for (uint32_t i = 0; i < width; i++) {
    if (unread)
      out[i] = gpu_number(&e->gpu, emit_type(e, value)->dtype, 0);
    else if (columns == 0)
      out[i] = mirage__get(e, registers.cells[2 * at->unit + at->part / 2]);
    else if (at->column < columns)
      out[i] = mirage__get(e, registers.cells[4 * (at->unit * columns + at->column) + at->part + (int32_t)i]);
    else // a contraction that ends in the lower half of its last unit
      out[i] = gpu_number(&e->gpu, emit_type(e, value)->dtype, 0);
  }
}

// Registers of a resident value at a piece of its tile.
static void cell_set(Emit *e, MirageValue value, const TileCell *cell, const LLVMValueRef *values) {
  Accumulators registers = mirage__registers(e, value);
  for (uint32_t i = 0; i < cell->width; i++)
    mirage__set(e, registers.cells[cell->first + (int32_t)i], values[i]);
}

typedef struct CellJob {
  MirageValue from, to;   // `from` may have to be stretched to the shape of `to`
  bool first_lane_only;   // of a quad
  LLVMValueRef otherwise; // in the other lanes
} CellJob;

static void compute_piece(Emit *e, const TileCell *cell, void *user) {
  const CellJob *job = user;
  LLVMValueRef values[2];
  mirage__element(e, job->from, cell->index, cell->width, values);
  cell_set(e, job->to, cell, values);
}

void mirage__cells_compute(Emit *e, MirageValue value) {
  MirageNodeView def = mirage__block_def(&e->block, value);
  mirage__begin_operation(e);
  for (uint32_t i = 0; i < def.num_operands; i++)
    mirage__will_read(e, def.operands[i]);
  CellJob job = {.from = value, .to = value};
  BlockValue *v = &e->block.values[value.index];
  bool shared = v->shared;
  v->resident = v->shared = false; // compute it, do not read it
  mirage__for_cells(e, emit_type(e, value), compute_piece, &job);
  v->resident = true;
  v->shared = shared;
  mirage__cells_mirror(e, value);
}

// ------------------------------------------------------------------------------------------------------------- memory

static void buffer_piece(Emit *e, const TileCell *cell, void *user) {
  const CellJob *job = user;
  LLVMValueRef values[2];
  mirage__element(e, job->from, cell->index, cell->width, values);
  LLVMBasicBlockRef join = mirage__begin_if(e, cell->mine);
  mirage__tile_store(e, emit_type(e, job->to), NULL, cell->index, cell->width, values);
  mirage__end_if(e, join);
}

void mirage__cells_to_buffer(Emit *e, MirageValue from, MirageValue to) {
  CellJob job = {.from = from, .to = to};
  mirage__for_cells(e, emit_type(e, to), buffer_piece, &job);
}

void mirage__cells_mirror(Emit *e, MirageValue value) {
  if (!emit_is_shared(e, value))
    return;
  mirage__begin_operation(e);
  mirage__will_write(e, value);
  mirage__cells_to_buffer(e, value, value);
}

// --------------------------------------------------------------------------------- accumulators of products and carries

static void init_piece(Emit *e, const TileCell *cell, void *user) {
  const CellJob *job = user;
  LLVMValueRef values[2];
  mirage__element_broadcast(e, job->from, emit_type(e, job->to), cell->index, cell->width, values);
  for (uint32_t i = 0; job->first_lane_only && i < cell->width; i++) {
    LLVMValueRef t = mirage__mod(e, e->lane, 4);
    LLVMValueRef first = mirage__equals(e, t, 0);
    values[i] = mirage__select(e, first, values[i], job->otherwise);
  }
  cell_set(e, job->to, cell, values);
}

static void fill(Emit *e, Accumulators acc, LLVMValueRef value) {
  for (int32_t i = 0; i < acc.count; i++)
    mirage__set(e, acc.cells[i], value);
}

void mirage__cells_init(Emit *e, Carry *carry) {
  carry->acc = mirage__registers(e, carry->result);
  MirageOp op = carry->node.index ? mirage_ugraph_node(e->block.graph, carry->node).op : MIRAGE_OP_NONE;
  bool partial = op != MIRAGE_OP_NONE && mirage_op_info(op)->kind == MIRAGE_KIND_REDUCE;
  bool integers = emit_type(e, carry->result)->dtype == MIRAGE_I32;
  LLVMValueRef neutral = integers ? gpu_i32(&e->gpu, 0) : mirage__reduce_neutral(e, op);
  if (!carry->init.index || (!partial && mirage__is_zero(e, carry->init))) {
    fill(e, carry->acc, neutral);
    return;
  }
  CellJob job = {.from = carry->init,
                 .to = carry->result,
                 .first_lane_only = partial, // partial results of four lanes: counted once
                 .otherwise = neutral};
  mirage__begin_operation(e);
  mirage__will_read(e, carry->init);
  const BlockLoad *load = mirage__block_load(&e->block, carry->init);
  if (partial || !load || load->by != BY_READER ||
      !mirage__cells_in_quads(e, emit_type(e, carry->result), init_piece, &job))
    mirage__for_cells(e, emit_type(e, carry->result), init_piece, &job);
}

static void rescale_piece(Emit *e, const TileCell *cell, void *user) {
  const CellJob *job = user;
  LLVMValueRef factors[2];
  mirage__element_broadcast(e, job->from, emit_type(e, job->to), cell->index, cell->width, factors);
  for (uint32_t i = 0; i < cell->width; i++) {
    LLVMValueRef variable = mirage__registers(e, job->to).cells[cell->first + (int32_t)i];
    mirage__set(e, variable, LLVMBuildFMul(e->gpu.builder, mirage__get(e, variable), factors[i], ""));
  }
}

void mirage__cells_rescale(Emit *e, Carry *carry) {
  CellJob job = {.from = carry->factor, .to = carry->result};
  mirage__will_read(e, carry->factor);
  mirage__for_cells(e, emit_type(e, carry->result), rescale_piece, &job);
}

// --------------------------------------------------------------------------------------------------------- reductions

enum { CHAINS = 4 }; // sums that grow side by side, so that none waits for the one before

typedef struct RowJob {
  MirageValue from;
  MirageOp op;
  Accumulators acc;
  int32_t columns;
  double scale; // of each element: a mean's 1 / length, a factor of what a maximum is taken of
  LLVMValueRef chains[CHAINS];
} RowJob;

// NULL: nothing yet.
static LLVMValueRef combine(Emit *e, MirageOp op, LLVMValueRef a, LLVMValueRef b) {
  return a && b ? mirage__reduce_pair(e, op, a, b) : a ? a : b;
}

static void reduce_piece(Emit *e, const TileCell *cell, void *user) {
  RowJob *job = user;
  LLVMValueRef values[2], neutral = mirage__reduce_neutral(e, job->op), sum = NULL;
  if (job->op == MIRAGE_OP_REDUCE_MAX)
    job->scale = mirage__element_unscaled(e, job->from, cell->index, cell->width, values);
  else
    mirage__element(e, job->from, cell->index, cell->width, values);
  for (uint32_t i = 0; i < cell->width; i++)
    if (values[i] != neutral) // which is what hidden columns count as
      sum = combine(e, job->op, sum, mirage__select(e, cell->valid, values[i], neutral));
  LLVMValueRef *chain = &job->chains[cell->place.column % CHAINS];
  *chain = combine(e, job->op, *chain, sum);
  bool last = cell->place.column + 1 == job->columns && (cell->place.part % 2 || cell->width == 2);
  if (!last)
    return;
  LLVMValueRef total = NULL, variable = job->acc.cells[2 * cell->place.unit + cell->place.part / 2];
  for (int i = 0; i < CHAINS; i++) {
    total = combine(e, job->op, total, job->chains[i]);
    job->chains[i] = NULL;
  }
  if (!total)
    return;
  if (job->scale != 1)
    total = LLVMBuildFMul(e->gpu.builder, total, gpu_f32(&e->gpu, job->scale), "");
  mirage__set(e, variable, combine(e, job->op, mirage__get(e, variable), total));
}

void mirage__cells_reduce(Emit *e, Carry *carry) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  const MirageType *in = emit_type(e, view.operands[0]);
  RowJob job = {.from = view.operands[0], .op = view.op, .acc = carry->acc, .scale = 1};
  job.columns = mirage__partition_columns(&e->block.partition, in);
  if (view.op == MIRAGE_OP_REDUCE_MEAN)
    job.scale = 1.0 / (double)in->shape[in->rank - 1];
  mirage__begin_operation(e);
  mirage__will_read(e, view.operands[0]);
  if (carry->factor.index)
    mirage__cells_rescale(e, carry);
  mirage__for_cells(e, in, reduce_piece, &job);
}

void mirage__cells_reduce_end(Emit *e, Carry *carry) {
  MirageOp op = mirage_ugraph_node(e->block.graph, carry->node).op;
  for (int32_t i = 0; i < carry->acc.count; i++) {
    LLVMValueRef sum = mirage__get(e, carry->acc.cells[i]);
    for (int32_t apart = 2; apart >= 1; apart /= 2)
      sum =
          combine(e, op, sum,
                  GPU(&e->gpu, SHUFFLE_XOR, gpu_i32(&e->gpu, -1), sum, gpu_i32(&e->gpu, apart), gpu_i32(&e->gpu, 31)));
    mirage__set(e, carry->acc.cells[i], sum);
  }
  mirage__cells_mirror(e, carry->result);
}
