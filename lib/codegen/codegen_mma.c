// codegen_mma.c - one step of a product on the matrix instruction: ldmatrix from shared memory, then mma.m16n8k16, of
// bytes mma.m16n8k32.
//
// A register holds two neighbours along the contraction, or four bytes: eight rows of 16 bytes are what ldmatrix reads in
// either case.
//
// The 16-row operand P and the 8-column operand Q are the product's a and b, or b and a when the schedule swaps them
// (few activation rows: the weight becomes P, and only 8 columns are computed). Either may lie in memory with the
// contraction innermost (plain ldmatrix) or outermost (.trans), so every transpose is free. Ragged edges: rows and
// columns beyond the tile are read from row 0 and their results are never stored. A contraction that
//               ends inside a unit is cut by masking the registers of both operands, so that no stray NaN survives.
#include "emit.h"

typedef struct Source {
  MatmulOperand is;
  const MirageType *type;
  bool computed; // by the element function, instead of read by ldmatrix
  LLVMValueRef copy;
} Source;

typedef struct Step {
  Carry *carry;
  const MatmulSplit *split;
  Worker worker;
  Source p, q;
  bool p_in_cells; // p is evaluated at cells of resident values
  const MirageType *result;
  bool tail; // this unit of the contraction is cut short
  LLVMValueRef k0;
  int32_t row_unit, depth_unit; // p_in_cells: this thread's row unit; units of the contraction so far
} Step;

static Source source_of(Emit *e, const MirageNodeView *view, uint32_t which) {
  Source source = {.is = mirage__matmul_operand(&e->block, view, which)};
  source.type = emit_type(e, source.is.base);
  bool bytes = mirage_dtype_bits(source.type->dtype) == 8; // of which ldmatrix turns pairs alone
  source.computed = !emit_is_shared(e, source.is.base) || (bytes && !source.is.k_inner);
  source.copy = emit_is_shared(e, source.is.base) ? mirage__current_copy(e, source.is.base) : NULL;
  return source;
}

// Index of the source's element (unit, k); both are brought back into the tile first where they may leave it.
static void source_index(Emit *e, const Step *step, const Source *source, const LLVMValueRef *batch, LLVMValueRef unit,
                         int64_t unit_reach, LLVMValueRef k, LLVMValueRef *index) {
  const MirageType *type = source->type;
  LLVMValueRef zero = gpu_i32(&e->gpu, 0);
  uint32_t result_batch = step->result->rank - 2;
  for (uint32_t i = 0; i + 2 < type->rank; i++) {
    int32_t dim = source->is.perm[i];
    index[dim] = type->shape[dim] == 1 ? zero : batch[result_batch - (type->rank - 2) + i];
  }
  int64_t extent = type->shape[source->is.unit_dim], depth = type->shape[source->is.k_dim];
  index[source->is.unit_dim] =
      unit_reach > extent ? mirage__select(e, mirage__less_than(e, unit, extent), unit, zero) : unit;
  index[source->is.k_dim] = step->tail ? mirage__select(e, mirage__less_than(e, k, depth), k, zero) : k;
}

// Address of the 16-byte row that starts at (unit, k).
static LLVMValueRef row_address(Emit *e, const Step *step, const Source *source, const LLVMValueRef *batch,
                                LLVMValueRef unit, int64_t unit_reach, LLVMValueRef k) {
  LLVMValueRef index[MIRAGE_MAX_RANK];
  source_index(e, step, source, batch, unit, unit_reach, k, index);
  return mirage__tile_address(e, source->type, source->copy, index);
}

static int32_t per_word(const Source *source) { return 32 / (int32_t)mirage_dtype_bits(source->type->dtype); }

LLVMValueRef mirage__pack_pair(Emit *e, MirageDType dtype, LLVMValueRef low, LLVMValueRef high) {
  LLVMValueRef pair = mirage__pack(e, (LLVMValueRef[]){low, high}, 2, dtype);
  return LLVMBuildBitCast(e->gpu.builder, pair, e->gpu.i32, "");
}

// Four bytes of a tile in shared memory whose contraction is not innermost: as they are, not as numbers.
static LLVMValueRef read_bytes(Emit *e, const Step *step, const Source *source, const LLVMValueRef *batch,
                               LLVMValueRef unit, int64_t unit_reach, LLVMValueRef k) {
  LLVMValueRef index[MIRAGE_MAX_RANK], word = LLVMGetUndef(LLVMVectorType(e->gpu.i8, 4));
  for (int32_t i = 0; i < 4; i++) {
    source_index(e, step, source, batch, unit, unit_reach, mirage__add(e, k, gpu_i32(&e->gpu, i)), index);
    LLVMValueRef address = mirage__tile_address(e, source->type, source->copy, index);
    LLVMValueRef byte = mirage__gpu_load_shared(&e->gpu, e->gpu.i8, address);
    word = LLVMBuildInsertElement(e->gpu.builder, word, byte, gpu_i32(&e->gpu, i), "");
  }
  return LLVMBuildBitCast(e->gpu.builder, word, e->gpu.i32, "");
}

// Elements (unit, k) and on of a computed source, as one register.
static LLVMValueRef compute_word(Emit *e, const Step *step, const Source *source, const LLVMValueRef *batch,
                                 LLVMValueRef unit, int64_t unit_reach, LLVMValueRef k) {
  LLVMValueRef index[MIRAGE_MAX_RANK], values[4];
  int32_t count = per_word(source);
  if (count == 4 && emit_is_shared(e, source->is.base))
    return read_bytes(e, step, source, batch, unit, unit_reach, k);
  source_index(e, step, source, batch, unit, unit_reach, k, index);
  if (source->is.k_inner && !step->tail) {
    mirage__element(e, source->is.base, index, (uint32_t)count, values);
  } else {
    CellPlace next = e->cell ? *e->cell : (CellPlace){0};
    for (int32_t i = 0; i < count; i++) {
      source_index(e, step, source, batch, unit, unit_reach, mirage__add(e, k, gpu_i32(&e->gpu, i)), index);
      values[i] = mirage__element1(e, source->is.base, index);
      next.part++;
      e->cell = e->cell ? &next : NULL;
    }
  }
  LLVMValueRef word = mirage__pack(e, values, (uint32_t)count, source->type->dtype);
  return LLVMBuildBitCast(e->gpu.builder, word, e->gpu.i32, "");
}

// Registers of this lane's part of a computed fragment: rows unit0 + g (+ 8), pairs from k0 + 2 t (+ 8) on, or four bytes from
// k0 + 4 t (+ 16) on.
static void compute_fragment(Emit *e, const Step *step, const Source *source, const LLVMValueRef *batch,
                             LLVMValueRef unit0, int64_t unit_reach, int registers, LLVMValueRef *out) {
  LLVMValueRef unit = mirage__add(e, unit0, mirage__div(e, e->lane, 4));
  LLVMValueRef k = mirage__add(e, step->k0, mirage__mul(e, mirage__mod(e, e->lane, 4), per_word(source)));
  for (int r = 0; r < registers; r++) {
    int lower = registers == 4 ? r % 2 : 0, half = registers == 4 ? r / 2 : r;
    LLVMValueRef row = mirage__add(e, unit, gpu_i32(&e->gpu, lower * 8)),
                 at = mirage__add(e, k, gpu_i32(&e->gpu, half * step->split->k_unit / 2));
    // Accumulators of two neighbouring column units are the operand's registers as they stand.
    CellPlace cell = {.unit = step->row_unit, .column = 2 * step->depth_unit + half, .part = 2 * lower};
    e->cell = step->p_in_cells && registers == 4 ? &cell : NULL;
    out[r] = compute_word(e, step, source, batch, row, unit_reach, at);
    e->cell = NULL;
  }
}

// The register of half `half` of a unit of the contraction, of which zero what lies beyond the end.
static LLVMValueRef mask_tail(Emit *e, const Step *step, LLVMValueRef fragment, int half) {
  if (!step->tail)
    return fragment;
  int32_t count = step->split->k_unit / 8, bits = 32 / count;
  LLVMValueRef k = mirage__add(e, step->k0, mirage__mul(e, mirage__mod(e, e->lane, 4), count));
  k = mirage__add(e, k, gpu_i32(&e->gpu, half * step->split->k_unit / 2));
  LLVMValueRef mask = gpu_i32(&e->gpu, 0);
  for (int32_t i = 0; i < count; i++) { // element i and those before it
    int64_t inside = i + 1 < count ? (INT64_C(1) << (i + 1) * bits) - 1 : -1;
    mask = mirage__select(e, mirage__less_than(e, k, step->split->k - i), gpu_i32(&e->gpu, inside), mask);
  }
  return LLVMBuildAnd(e->gpu.builder, fragment, mask, "");
}

static void load_p(Emit *e, const Step *step, const LLVMValueRef *batch, LLVMValueRef unit, LLVMValueRef *out) {
  if (step->p.computed) {
    compute_fragment(e, step, &step->p, batch, mirage__mul(e, unit, 16), (int64_t)step->split->row_units * 16, 4, out);
    for (int r = 0; r < 4; r++)
      out[r] = mask_tail(e, step, out[r], r / 2);
    return;
  }
  LLVMValueRef low = mirage__mod(e, e->lane, 8), middle = mirage__mod(e, mirage__div(e, e->lane, 8), 2);
  LLVMValueRef high = mirage__div(e, e->lane, 16), base = mirage__mul(e, unit, 16);
  LLVMValueRef i = mirage__add(e, base, mirage__mul(e, middle, 8)),
               k = mirage__add(e, step->k0, mirage__mul(e, high, step->split->k_unit / 2));
  if (step->p.is.k_inner)
    i = mirage__add(e, i, low);
  else
    k = mirage__add(e, k, low);
  LLVMValueRef address = row_address(e, step, &step->p, batch, i, (int64_t)step->split->row_units * 16, k);
  LLVMValueRef registers =
      step->p.is.k_inner ? GPU(&e->gpu, LDMATRIX_X4, address) : GPU(&e->gpu, LDMATRIX_X4_TRANS, address);
  for (unsigned r = 0; r < 4; r++)
    out[r] = mask_tail(e, step, LLVMBuildExtractValue(e->gpu.builder, registers, r, ""), r / 2);
}

// Columns of units [unit, unit + count), count 1 or 2, as (b0, b1) pairs.
static void load_q(Emit *e, const Step *step, const LLVMValueRef *batch, LLVMValueRef unit, int count,
                   LLVMValueRef *out) {
  int64_t reach = (int64_t)step->split->cols_each * step->split->by_col * 8;
  for (int j = 0; step->q.computed && j < count; j++) {
    LLVMValueRef first = mirage__mul(e, mirage__add(e, unit, gpu_i32(&e->gpu, j)), 8);
    compute_fragment(e, step, &step->q, batch, first, reach, 2, out + 2 * j);
    for (int r = 0; r < 2; r++)
      out[2 * j + r] = mask_tail(e, step, out[2 * j + r], r);
  }
  if (step->q.computed)
    return;
  LLVMValueRef low = mirage__mod(e, e->lane, 8), middle = mirage__mod(e, mirage__div(e, e->lane, 8), 2);
  LLVMValueRef high = mirage__div(e, e->lane, 16),
               k = mirage__add(e, step->k0, mirage__mul(e, middle, step->split->k_unit / 2));
  LLVMValueRef j = mirage__mul(e, count == 2 ? mirage__add(e, unit, high) : unit, 8);
  if (step->q.is.k_inner)
    j = mirage__add(e, j, low);
  else
    k = mirage__add(e, k, low);
  LLVMValueRef address = row_address(e, step, &step->q, batch, j, reach, k), registers;
  if (count == 2)
    registers = step->q.is.k_inner ? GPU(&e->gpu, LDMATRIX_X4, address) : GPU(&e->gpu, LDMATRIX_X4_TRANS, address);
  else
    registers = step->q.is.k_inner ? GPU(&e->gpu, LDMATRIX_X2, address) : GPU(&e->gpu, LDMATRIX_X2_TRANS, address);
  for (int r = 0; r < 2 * count; r++)
    out[r] = mask_tail(e, step, LLVMBuildExtractValue(e->gpu.builder, registers, (unsigned)r, ""), r % 2);
}

static MiragePrimitive instruction_of(MirageDType p, MirageDType q) {
  switch (p) {
  case MIRAGE_F16:
    return MIRAGE_PRIM_MMA_F16;
  case MIRAGE_BF16:
    return MIRAGE_PRIM_MMA_BF16;
  case MIRAGE_I8:
    return MIRAGE_PRIM_MMA_S8;
  case MIRAGE_F8E4M3FN:
    return q == MIRAGE_F8E4M3FN ? MIRAGE_PRIM_MMA_E4M3 : MIRAGE_PRIM_MMA_E4M3_E5M2;
  default:
    return q == MIRAGE_F8E4M3FN ? MIRAGE_PRIM_MMA_E5M2_E4M3 : MIRAGE_PRIM_MMA_E5M2;
  }
}

// Without an instruction for f8: as f16, which every f8 is. A unit of 32 is two of 16, of which each takes pairs of the same
// registers of either operand, so that the order of the contraction does not matter.
static void multiply_as_halves(Emit *e, MirageDType p_dtype, MirageDType q_dtype, const LLVMValueRef *p,
                               const LLVMValueRef *q, LLVMValueRef *cells) {
  for (int half = 0; half < 2; half++) {
    LLVMValueRef row[4], column[2];
    for (int pair = 0; pair < 2; pair++) {
      row[2 * pair] = mirage__halves_of_f8(e, p_dtype, p[2 * half], pair);
      row[2 * pair + 1] = mirage__halves_of_f8(e, p_dtype, p[2 * half + 1], pair);
      column[pair] = mirage__halves_of_f8(e, q_dtype, q[half], pair);
    }
    mirage__mma_multiply(e, MIRAGE_F16, MIRAGE_F16, row, column, cells);
  }
}

void mirage__mma_multiply(Emit *e, MirageDType p_dtype, MirageDType q_dtype, const LLVMValueRef *p,
                          const LLVMValueRef *q, LLVMValueRef *cells) {
  LLVMValueRef operands[10];
  LLVMTypeRef pair = LLVMVectorType(e->gpu.f16, 2);
  if (mirage_dtype_is_f8(p_dtype) && !e->target->ptx_f8) {
    multiply_as_halves(e, p_dtype, q_dtype, p, q, cells);
    return;
  }
  for (int r = 0; r < 6; r++) {
    LLVMValueRef word = r < 4 ? p[r] : q[r - 4];
    operands[r] = p_dtype == MIRAGE_F16 ? LLVMBuildBitCast(e->gpu.builder, word, pair, "") : word;
  }
  for (int r = 0; r < 4; r++)
    operands[6 + r] = mirage__get(e, cells[r]);
  LLVMValueRef sum = mirage__gpu_emit(&e->gpu, instruction_of(p_dtype, q_dtype), operands);
  for (unsigned r = 0; r < 4; r++)
    mirage__set(e, cells[r], LLVMBuildExtractValue(e->gpu.builder, sum, r, ""));
}

// One unit of the contraction: all columns are loaded, then rows one after the other.
static void depth_unit(Emit *e, Step *step, LLVMValueRef iteration, bool tail) {
  const MatmulSplit *s = step->split;
  int64_t units = s->batch * s->row_units;
  LLVMValueRef q[512], batch[MIRAGE_MAX_RANK];
  step->k0 = mirage__mul(e, mirage__add(e, step->worker.depth, mirage__mul(e, iteration, s->by_depth)), s->k_unit);
  step->tail = tail;
  for (int32_t i = 0; i < s->rows_each; i++) {
    LLVMValueRef unit = mirage__matmul_row_unit(e, s, &step->worker, i);
    if ((int64_t)s->rows_each * s->by_row > units)
      unit = mirage__select(e, mirage__less_than(e, unit, units), unit, gpu_i32(&e->gpu, 0));
    mirage__delinearize(e, mirage__div(e, unit, s->row_units), step->result->rank - 2, step->result->shape, batch);
    for (int32_t j = 0; (i == 0 || s->batch > 1) && j < s->cols_each; j += 2) {
      LLVMValueRef col = mirage__add(e, mirage__mul(e, step->worker.col, s->cols_each), gpu_i32(&e->gpu, j));
      load_q(e, step, batch, col, j + 1 < s->cols_each ? 2 : 1, q + 2 * j);
    }
    LLVMValueRef p[4];
    step->row_unit = i;
    load_p(e, step, batch, mirage__mod(e, unit, s->row_units), p);
    for (int32_t j = 0; j < s->cols_each; j++)
      mirage__mma_multiply(e, step->p.type->dtype, step->q.type->dtype, p, q + 2 * j,
                           step->carry->acc.cells + 4 * (i * s->cols_each + j));
  }
}

void mirage__mma_cells_operand(Emit *e, Carry *carry, const MatmulSplit *split, int32_t row_unit, int32_t depth_unit,
                               LLVMValueRef *out) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  LLVMValueRef batch[MIRAGE_MAX_RANK];
  Step step = {.carry = carry, .split = split, .worker = mirage__matmul_worker(e, split), .p_in_cells = true};
  step.p = source_of(e, &view, 0);
  step.p.computed = true;
  step.result = emit_type(e, carry->result);
  step.k0 = gpu_i32(&e->gpu, depth_unit * split->k_unit);
  step.row_unit = row_unit, step.depth_unit = depth_unit;
  LLVMValueRef unit = mirage__matmul_row_unit(e, split, &step.worker, row_unit);
  mirage__delinearize(e, mirage__div(e, unit, split->row_units), step.result->rank - 2, step.result->shape, batch);
  load_p(e, &step, batch, mirage__mod(e, unit, split->row_units), out);
}

void mirage__mma_step(Emit *e, Carry *carry, const MatmulSplit *split) {
  MirageNodeView view = mirage_ugraph_node(e->block.graph, carry->node);
  if (split->cols_each > 256) {
    mirage__emit_fail(e, view.loc, MIRAGE_LIMIT, "matmul: a warp would own %d columns, at most 2048 are possible",
                      split->cols_each * 8);
    return;
  }
  Step step = {.carry = carry, .split = split, .worker = mirage__matmul_worker(e, split)};
  step.p = source_of(e, &view, split->swap ? 1 : 0);
  step.q = source_of(e, &view, split->swap ? 0 : 1);
  step.result = emit_type(e, carry->result);
  step.p_in_cells = mirage__block_operand_in_cells(&e->block, &view);
  step.p.computed |= step.p_in_cells;
  int32_t count = split->depth_units / split->by_depth;
  bool cut = split->k % split->k_unit != 0;
  int32_t whole = count - cut;
  if (whole > 1 && !step.p_in_cells && (int64_t)whole * split->rows_each * split->cols_each > 128) {
    Repeat repeat = mirage__begin_repeat(e, whole);
    mirage__forget_elements(e);
    depth_unit(e, &step, repeat.index, false);
    mirage__forget_elements(e);
    mirage__end_repeat(e, &repeat);
  } else {
    for (int32_t i = 0; i < whole; i++) {
      step.depth_unit = i;
      depth_unit(e, &step, gpu_i32(&e->gpu, i), false);
    }
  }
  step.depth_unit = whole;
  if (cut)
    depth_unit(e, &step, gpu_i32(&e->gpu, whole), true);
}
