// codegen_staged.c - stores of resident tiles whose rows begin anywhere (lib/layout/staging.c).
//
// Eight rows at a time, of 64 columns: the lanes write the cells that they hold to the warp's part of shared memory, and
// then stand side by side in each row, where the stored value is computed and written. All of its loads are issued
// before the first of its stores.
#include "emit.h"

enum {
  LANES = 32,
  COLUMN_UNIT = 8,
  GROUP = STAGED_COLUMNS / COLUMN_UNIT,
  MAX_STAGED = STAGED_ROWS * STAGED_COLUMNS / LANES
};

typedef struct Staging {
  Emit *e;
  MirageValue from, staged;
  const MirageType *tile;
  const Access *access;
  LLVMValueRef base; // of this warp
  uint32_t width;    // neighbours that a lane writes
} Staging;

typedef struct Written {
  LLVMValueRef value, address, valid;
} Written;

static LLVMValueRef place(const Staging *s, LLVMValueRef row, LLVMValueRef column) {
  Emit *e = s->e;
  LLVMValueRef word = mirage__add(e, mirage__mul(e, row, STAGED_PITCH), column);
  return mirage__at(e, s->base, mirage__mul(e, word, 4));
}

// This lane's cells of `units` column units from `at` on.
static void put_cells(const Staging *s, CellPlace at, int32_t units) {
  Emit *e = s->e;
  const CellPlace *around = e->cell;
  e->cell = &at;
  LLVMValueRef row = mirage__div(e, e->lane, 4), pair = mirage__mul(e, mirage__mod(e, e->lane, 4), 2);
  for (int32_t u = 0; u < units; u++, at.column++) {
    LLVMValueRef values[2];
    mirage__cell_get(e, s->staged, 2, values);
    LLVMValueRef column = mirage__add(e, pair, gpu_i32(&e->gpu, (int64_t)u * COLUMN_UNIT));
    mirage__gpu_store_shared(
        &e->gpu, mirage__pack(e, values, 2, emit_type(e, s->staged)->dtype == MIRAGE_I32 ? MIRAGE_I32 : MIRAGE_F32),
        place(s, row, column));
  }
  e->cell = around;
}

// Neighbours `first` .. of a row of the group, this lane's, computed where they lie.
static Written compute(const Staging *s, const CellPlace *at, int32_t row, int32_t first, int32_t columns) {
  Emit *e = s->e;
  uint32_t last = s->tile->rank - 1;
  LLVMValueRef number = gpu_i32(&e->gpu, row), values[MAX_WIDTH];
  LLVMValueRef in_group = mirage__add(e, mirage__mul(e, e->lane, s->width), gpu_i32(&e->gpu, first)), inside = NULL;
  if (first + LANES * (int32_t)s->width > columns) {
    inside = mirage__less_than(e, in_group, columns);
    in_group = mirage__select(e, inside, in_group, gpu_i32(&e->gpu, 0));
  }
  TileCell cell;
  mirage__cell_row(e, s->tile, at, number, &cell);
  Written written = {.valid = mirage__and(e, cell.valid, inside)};
  LLVMValueRef column = mirage__add(e, cell.index[last], in_group);
  LLVMValueRef within = mirage__less_than(e, column, s->tile->shape[last]);
  written.valid = mirage__and(e, written.valid, within);
  cell.index[last] = mirage__select(e, within, column, gpu_i32(&e->gpu, 0));
  e->staged_at = place(s, number, in_group);
  mirage__element(e, s->from, cell.index, s->width, values);
  written.value = mirage__pack(e, values, s->width, s->access->tensor->dtype);
  written.valid = mirage__and(e, written.valid, mirage__access_valid(e, s->access, cell.index));
  written.address = mirage__access_address(e, s->access, cell.index);
  return written;
}

static void store_group(const Staging *s, const CellPlace *at, int32_t units) {
  Emit *e = s->e;
  Written all[MAX_STAGED];
  int32_t count = 0, columns = units * COLUMN_UNIT, step = LANES * (int32_t)s->width;
  put_cells(s, *at, units);
  GPU(&e->gpu, SYNC_WARP, gpu_i32(&e->gpu, -1));
  for (int32_t row = 0; row < STAGED_ROWS; row++) {
    mirage__forget_elements(e);
    for (int32_t first = 0; first < columns; first += step)
      all[count++] = compute(s, at, row, first, columns);
  }
  for (int32_t i = 0; i < count; i++) {
    LLVMBasicBlockRef join = mirage__begin_if(e, all[i].valid);
    mirage__gpu_store_global(&e->gpu, all[i].value, all[i].address);
    mirage__end_if(e, join);
  }
  GPU(&e->gpu, SYNC_WARP, gpu_i32(&e->gpu, -1));
}

void mirage__store_staged(Emit *e, MirageValue from, MirageValue staged, const Access *access) {
  int64_t bytes = (int64_t)STAGED_ROWS * STAGED_PITCH * 4;
  LLVMValueRef at = mirage__mul(e, e->warp, bytes);
  if (e->group)
    at = mirage__add(e, at, mirage__mul(e, e->group, e->threads / 32 * bytes));
  at = mirage__add(e, at, gpu_i32(&e->gpu, mirage__block_staging_offset(&e->block)));
  const MirageType *tile = emit_type(e, mirage__block_resolve(&e->block, from));
  Staging s = {.e = e,
               .from = from,
               .staged = staged,
               .tile = tile,
               .access = access,
               .base = mirage__at(e, e->shared, at),
               .width = access->width < 2 ? access->width : 2};
  int32_t columns = mirage__partition_columns(&e->block.partition, tile);
  const CellPlace *around = e->cell;
  e->cell = NULL;
  e->staged = staged;
  for (int32_t unit = 0; unit < e->block.partition.rows_each; unit++)
    for (int32_t half = 0; half < 2; half++)
      for (int32_t column = 0; column < columns; column += GROUP) {
        CellPlace place = {.unit = unit, .column = column, .part = 2 * half};
        store_group(&s, &place, columns - column < GROUP ? columns - column : GROUP);
      }
  mirage__forget_elements(e);
  e->staged = (MirageValue){0};
  e->cell = around;
}
