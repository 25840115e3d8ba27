// codegen_direct.c - one step of a product whose weight goes straight from device memory to the matrix instruction.
//
// For few rows of activations every weight element is used once, so shared memory would only delay it. The weight b [k,
// n] is the 16-row operand. In a step of 32 rows of b, lane 4 g + t loads lane_rows (8, 4 or 2) neighbouring columns of
// the eight rows 8 t .. 8 t + 7: with 8 columns, eight 16-byte loads in flight per lane, and each warp-wide load takes
// whole 128-byte pieces of four rows. No exchange between lanes follows, because the order of k and n inside a fragment
// is free:
//
//   fragment rows g and g + 8     columns lane_rows g + 2 j and lane_rows g + 2 j + 1, for unit j
//   contraction pairs 2 t, 2 t + 8 of product h = 0, 1     rows 8 t + 4 h + (0, 1) and 8 t + 4 h + (2, 3)
//
// so a lane needs the eight neighbouring activations x[g][8 t .. 8 t + 7] for both products: one 16-byte load.
#include "emit.h"

enum { DEPTH = 32, ROWS = 8 };

typedef struct Direct {
  MirageValue weight, activation;
  bool activation_transposed;
  MirageDType dtype;
  const MatmulSplit *split;
  LLVMValueRef g, k; // k: this lane's first row of the step
} Direct;

static LLVMValueRef pack(Emit *e, MirageDType dtype, LLVMValueRef low, LLVMValueRef high) {
  LLVMValueRef pair = LLVMGetUndef(LLVMVectorType(mirage__gpu_dtype(&e->gpu, dtype), 2));
  pair =
      LLVMBuildInsertElement(e->gpu.builder, pair, mirage__gpu_from_f32(&e->gpu, low, dtype), gpu_i32(&e->gpu, 0), "");
  pair =
      LLVMBuildInsertElement(e->gpu.builder, pair, mirage__gpu_from_f32(&e->gpu, high, dtype), gpu_i32(&e->gpu, 1), "");
  return LLVMBuildBitCast(e->gpu.builder, pair, e->gpu.i32, "");
}

// words[r][c]: element (8 t + r, lane_rows g + c) of the weight, from column `first` on; lanes beyond n read column 0.
static void load_weight(Emit *e, const Direct *d, int64_t first, LLVMValueRef words[ROWS][MAX_WIDTH]) {
  int32_t width = d->split->lane_rows;
  LLVMValueRef column = mirage__add(e, mirage__mul(e, d->g, width), gpu_i32(&e->gpu, first));
  if (first + 8 * width > d->split->n)
    column = mirage__select(e, mirage__less_than(e, column, d->split->n), column, gpu_i32(&e->gpu, 0));
  for (int r = 0; r < ROWS; ++r) {
    LLVMValueRef index[2] = {mirage__add(e, d->k, gpu_i32(&e->gpu, r)), column};
    mirage__element(e, d->weight, index, (uint32_t)width, words[r]);
  }
}

// The four pairs of x[8 unit + g][8 t .. 8 t + 7]; lanes beyond m read row 0.
static void load_activations(Emit *e, const Direct *d, int32_t unit, LLVMValueRef *pairs) {
  LLVMValueRef row = mirage__add(e, d->g, gpu_i32(&e->gpu, unit * 8)), values[ROWS];
  if (unit * 8 + 8 > d->split->m)
    row = mirage__select(e, mirage__less_than(e, row, d->split->m), row, gpu_i32(&e->gpu, 0));
  if (d->activation_transposed) {
    for (int r = 0; r < ROWS; ++r) {
      LLVMValueRef index[2] = {mirage__add(e, d->k, gpu_i32(&e->gpu, r)), row};
      values[r] = mirage__element1(e, d->activation, index);
    }
  } else {
    LLVMValueRef index[2] = {row, d->k};
    mirage__element(e, d->activation, index, ROWS, values);
  }
  for (int p = 0; p < ROWS / 2; ++p)
    pairs[p] = pack(e, d->dtype, values[2 * p], values[2 * p + 1]);
}

static void step_of_32(Emit *e, Carry *carry, const Direct *d) {
  const MatmulSplit *s = d->split;
  int32_t per_group = s->lane_rows / 2;
  LLVMValueRef pairs[2][ROWS / 2]; // at most 16 activation rows
  for (int32_t j = 0; j < s->cols_each; ++j)
    load_activations(e, d, j, pairs[j]);
  for (int32_t i = 0; i < s->rows_each; i += per_group) {
    LLVMValueRef words[ROWS][MAX_WIDTH];
    load_weight(e, d, (int64_t)i / per_group * 8 * s->lane_rows, words);
    for (int32_t u = 0; u < per_group; ++u)
      for (int h = 0; h < 2; ++h) {
        LLVMValueRef p[4];
        for (int r = 0; r < 4; ++r) // registers: columns 2 u + r % 2, rows 4 h + 2 (r / 2)
          p[r] =
              pack(e, d->dtype, words[4 * h + r / 2 * 2][2 * u + r % 2], words[4 * h + r / 2 * 2 + 1][2 * u + r % 2]);
        for (int32_t j = 0; j < s->cols_each; ++j)
          mirage__mma_multiply(e, d->dtype, p, pairs[j] + 2 * h, carry->acc.cells + 4 * ((i + u) * s->cols_each + j));
      }
  }
}

void mirage__direct_step(Emit *e, Carry *carry, const MatmulSplit *split) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  Worker worker = mirage__matmul_worker(e, split);
  Direct d = {.weight = mirage__block_resolve(&e->block, view.operands[1]),
              .activation = mirage__block_resolve(&e->block, view.operands[0]),
              .activation_transposed = view.attrs && view.attrs->matmul.transpose_a,
              .split = split,
              .g = mirage__div(e, e->lane, 4)};
  d.dtype = emit_type(e, d.weight)->dtype;
  LLVMValueRef lane_row = mirage__mul(e, mirage__mod(e, e->lane, 4), ROWS);
  for (int32_t i = 0; i < split->depth_units / split->by_depth; ++i) {
    mirage__forget_elements(e);
    LLVMValueRef unit = mirage__add(e, worker.depth, gpu_i32(&e->gpu, (int64_t)i * split->by_depth));
    d.k = mirage__add(e, mirage__mul(e, unit, DEPTH), lane_row);
    step_of_32(e, carry, &d);
  }
}
