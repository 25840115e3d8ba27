// codegen_matmul.c - products: who computes which cell, and the life of their accumulators.
//
// Call order:  begin (accumulators get their initial value)  ->  step (operands of one iteration)*  ->  end
//              (accumulators go to the result's buffer; with the contraction split over workers, one copy each, then
//              summed in order). A product outside a loop's accumulator is one step. step is codegen_mma.c or
//              codegen_fma.c.
// Cells:       matrix instruction: accumulator 4 * (i * cols_each + j) + c of a lane is element (g + 8 (c / 2), 2 t + c
//              % 2) of the 16 x 8 unit (i, j), g = lane / 4, t = lane % 4. Plain: accumulator i * cols_each + j is
//              element (row + i * by_row, col + j * by_col), so that neighbouring threads meet different banks.
#include "emit.h"

#include <string.h>

MatmulSplit mirage__split_of(Emit *e, MirageNode node) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, node);
  return mirage__block_matmul_split(&e->block, &view);
}

Worker mirage__matmul_worker(Emit *e, const MatmulSplit *split) {
  if (split->tensor_core) {
    LLVMValueRef rest = mirage__div(e, e->warp, split->by_row);
    return (Worker){mirage__mod(e, e->warp, split->by_row), mirage__mod(e, rest, split->by_col),
                    mirage__div(e, rest, split->by_col)};
  }
  LLVMValueRef rest = mirage__div(e, e->thread, split->by_col);
  return (Worker){mirage__mod(e, rest, split->by_row), mirage__mod(e, e->thread, split->by_col),
                  mirage__div(e, rest, split->by_row)};
}

LLVMValueRef mirage__matmul_row_unit(Emit *e, const MatmulSplit *split, const Worker *worker, int32_t i) {
  if (!(split->resident && split->by_row % 4 == 0) && !split->warpgroup)
    return mirage__add(e, mirage__mul(e, worker->row, split->rows_each), gpu_i32(&e->gpu, i));
  LLVMValueRef slab = mirage__mul(e, mirage__div(e, worker->row, 4), split->rows_each); // of 64 rows, see Partition
  slab = mirage__add(e, slab, gpu_i32(&e->gpu, i));
  return mirage__add(e, mirage__mul(e, slab, 4), mirage__mod(e, worker->row, 4));
}

Cell mirage__matmul_cell(Emit *e, const MatmulSplit *split, const MirageType *result, int32_t index) {
  Cell cell = {.valid = NULL};
  Worker worker = mirage__matmul_worker(e, split);
  int64_t rows = split->swap ? split->n : split->m, cols = split->swap ? split->m : split->n;
  LLVMValueRef unit, row, col;
  int64_t units = split->batch * split->row_units;
  if (split->tensor_core) {
    int32_t c = index % 4, j = index / 4 % split->cols_each, i = index / 4 / split->cols_each;
    unit = mirage__matmul_row_unit(e, split, &worker, i);
    unit = mirage__clamp(e, unit, units, (int64_t)split->rows_each * split->by_row, &cell.valid);
    LLVMValueRef g = mirage__div(e, e->lane, 4);
    row = mirage__mul(e, mirage__mod(e, unit, split->row_units), 16);
    row = mirage__add(e, mirage__add(e, row, g), gpu_i32(&e->gpu, c / 2 * 8));
    row = mirage__clamp(e, row, rows, (int64_t)split->row_units * 16, &cell.valid);
    col = mirage__mul(e, mirage__add(e, mirage__mul(e, worker.col, split->cols_each), gpu_i32(&e->gpu, j)), 8);
    col = mirage__add(e, mirage__add(e, col, mirage__mul(e, mirage__mod(e, e->lane, 4), 2)), gpu_i32(&e->gpu, c % 2));
    col = mirage__clamp(e, col, cols, (int64_t)split->cols_each * split->by_col * 8, &cell.valid);
  } else {
    int32_t j = index % split->cols_each, i = index / split->cols_each;
    unit = mirage__add(e, worker.row, gpu_i32(&e->gpu, (int64_t)i * split->by_row));
    unit = mirage__clamp(e, unit, units, (int64_t)split->rows_each * split->by_row, &cell.valid);
    row = mirage__mod(e, unit, split->row_units);
    col = mirage__add(e, worker.col, gpu_i32(&e->gpu, (int64_t)j * split->by_col));
    col = mirage__clamp(e, col, cols, (int64_t)split->cols_each * split->by_col, &cell.valid);
  }
  mirage__delinearize(e, mirage__div(e, unit, split->row_units), result->rank - 2, result->shape, cell.index);
  cell.index[result->rank - 2] = split->swap ? col : row;
  cell.index[result->rank - 1] = split->swap ? row : col;
  return cell;
}

bool mirage__is_zero(const Emit *e, MirageValue value) {
  value = mirage__block_resolve(&e->block, value);
  if (emit_is_shared(e, value) || mirage__block_op(&e->block, value) != MIRAGE_OP_CONSTANT)
    return false;
  return mirage__block_def(&e->block, value).attrs->constant.value == 0;
}

void mirage__matmul_begin(Emit *e, Carry *carry) {
  MatmulSplit split = mirage__split_of(e, carry->node);
  if (split.resident && !carry->fresh) {
    mirage__cells_init(e, carry);
    return;
  }
  const MirageType *type = emit_type(e, carry->result);
  carry->acc =
      split.resident ? mirage__registers(e, carry->result) : mirage__accumulators(e, type->dtype, split.accumulators);
  if (carry->fresh)
    return;
  bool zero = !carry->init.index || mirage__is_zero(e, carry->init);
  if (!zero) {
    mirage__begin_operation(e);
    mirage__will_read(e, carry->init);
  }
  Worker worker = mirage__matmul_worker(e, &split);
  for (int32_t i = 0; i < carry->acc.count; i++) {
    LLVMValueRef start = gpu_number(&e->gpu, type->dtype, 0);
    if (!zero) { // counted once: by the workers of depth 0
      LLVMValueRef at[MIRAGE_MAX_RANK];
      Cell cell = mirage__matmul_cell(e, &split, type, i);
      mirage__broadcast_index(e, emit_type(e, carry->init), type, cell.index, at);
      LLVMValueRef first = split.by_depth > 1 ? mirage__equals(e, worker.depth, 0) : NULL;
      start = mirage__select(e, first, mirage__element1(e, carry->init, at), start);
    }
    mirage__set(e, carry->acc.cells[i], start);
  }
  mirage__forget_elements(e);
}

// acc = acc * factor, before this iteration's products are added.
static void rescale(Emit *e, Carry *carry, const MatmulSplit *split) {
  const MirageType *type = emit_type(e, carry->result);
  for (int32_t i = 0; i < carry->acc.count; i++) {
    LLVMValueRef at[MIRAGE_MAX_RANK];
    Cell cell = mirage__matmul_cell(e, split, type, i);
    mirage__broadcast_index(e, emit_type(e, carry->factor), type, cell.index, at);
    LLVMValueRef factor = mirage__element1(e, carry->factor, at);
    LLVMValueRef scaled = LLVMBuildFMul(e->gpu.builder, mirage__get(e, carry->acc.cells[i]), factor, "");
    mirage__set(e, carry->acc.cells[i], scaled);
  }
}

void mirage__matmul_step(Emit *e, Carry *carry) {
  MatmulSplit split = mirage__split_of(e, carry->node);
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  mirage__begin_operation(e);
  for (uint32_t i = 0; i < 2; i++)
    mirage__will_read(e, split.tensor_core ? mirage__matmul_operand(&e->block, &view, i).base : view.operands[i]);
  if (carry->factor.index && split.resident) {
    mirage__cells_rescale(e, carry);
  } else if (carry->factor.index) {
    mirage__will_read(e, carry->factor);
    rescale(e, carry, &split);
  }
  mirage__forget_elements(e);
  if (split.warpgroup)
    mirage__warpgroup_step(e, carry, &split);
  else if (split.tensor_core)
    mirage__mma_step(e, carry, &split);
  else
    mirage__fma_step(e, carry, &split);
  mirage__forget_elements(e);
}

void mirage__matmul_end(Emit *e, Carry *carry) {
  MatmulSplit split = mirage__split_of(e, carry->node);
  if (split.resident) {
    mirage__cells_mirror(e, carry->result);
    return;
  }
  const MirageType *type = emit_type(e, carry->result);
  LLVMValueRef copy = split.by_depth > 1 ? mirage__matmul_worker(e, &split).depth : NULL;
  mirage__begin_operation(e);
  mirage__will_write(e, carry->result);
  // Accumulators c, c + 1 of the matrix instruction are neighbours along its columns.
  bool pairs = split.tensor_core && !split.swap && split.n % 2 == 0 && mirage__tile_width(type) >= 2;
  for (int32_t i = 0; i < carry->acc.count; i += pairs ? 2 : 1) {
    Cell cell = mirage__matmul_cell(e, &split, type, i);
    LLVMValueRef values[2] = {mirage__get(e, carry->acc.cells[i]), NULL};
    if (pairs)
      values[1] = mirage__get(e, carry->acc.cells[i + 1]);
    LLVMBasicBlockRef join = mirage__begin_if(e, cell.valid);
    mirage__tile_store(e, type, copy, cell.index, pairs ? 2 : 1, values);
    mirage__end_if(e, join);
  }
  if (split.by_depth > 1)
    mirage__combine_copies(e, carry->result, false);
}
