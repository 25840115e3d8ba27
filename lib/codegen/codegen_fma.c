// codegen_fma.c - one step of a product by plain multiply-adds, for f32 operands (and whatever else is not a matrix
// instruction's business). Operands are asked for through the element function, so they may be inline.
#include "emit.h"

// Index of element (unit, k) of operand `which`, batch taken from the cell's own index.
static void operand_index(Emit *e, MirageNodeView view, uint32_t which, const Cell *cell, const MirageType *result,
                          LLVMValueRef k, LLVMValueRef *out) {
  const MirageType *type = emit_type(e, view.operands[which]);
  bool k_last = mirage__k_is_last(&view, which);
  for (uint32_t i = 3; i <= type->rank; i++) {
    uint32_t dim = type->rank - i;
    out[dim] = type->shape[dim] == 1 ? gpu_i32(&e->gpu, 0) : cell->index[result->rank - i];
  }
  out[type->rank - (k_last ? 1 : 2)] = k;
  out[type->rank - (k_last ? 2 : 1)] = cell->index[result->rank - (which == 0 ? 2 : 1)];
}

void mirage__fma_step(Emit *e, Carry *carry, const MatmulSplit *split) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  const MirageType *result = emit_type(e, carry->result);
  Worker worker = mirage__matmul_worker(e, split);
  int32_t cells = split->rows_each * split->cols_each;
  Cell *cell = mirage__emit_array(e, (size_t)cells, sizeof *cell);
  if (!cell)
    return;
  for (int32_t i = 0; i < cells; i++)
    cell[i] = mirage__matmul_cell(e, split, result, i);
  Repeat repeat = mirage__begin_repeat(e, split->depth_units / split->by_depth);
  mirage__forget_elements(e);
  LLVMValueRef k = mirage__add(e, worker.depth, mirage__mul(e, repeat.index, split->by_depth));
  LLVMValueRef b[256];
  for (int32_t i = 0; i < split->rows_each; i++) {
    LLVMValueRef at[MIRAGE_MAX_RANK], a = NULL;
    for (int32_t j = 0; j < split->cols_each; j++) {
      const Cell *here = &cell[i * split->cols_each + j];
      if (j == 0) {
        operand_index(e, view, 0, here, result, k, at);
        a = mirage__element1(e, view.operands[0], at);
      }
      if (i == 0 || split->batch > 1) {
        operand_index(e, view, 1, here, result, k, at);
        b[j] = mirage__element1(e, view.operands[1], at);
      }
      LLVMValueRef variable = carry->acc.cells[i * split->cols_each + j];
      mirage__set(e, variable, GPU(&e->gpu, FMA, a, b[j], mirage__get(e, variable)));
    }
  }
  mirage__end_repeat(e, &repeat);
}
