// canonical_pad.c - a copy of a matrix whose rows are longer, so that tensor copies can read it.
//
// They read rows that begin at multiples of 16 bytes; a row of 4097 f16 does not. The copy costs a pass over the matrix;
// the product that reads it is three to four times as fast. It has 4160 columns, zeros in the new ones: long rows begin
// at lines of L2, so that a tile's 128 bytes of a row are one line, not two.
#include "canonical/pad.h"
#include "canonical_op.h"

enum {
  COPIED_ROW = 16, // bytes
  LINE = 128,
  LONG_ROW = 8, // lines
  TILE_ROWS = 8,
  TILE_COLUMNS = 256,
};

// Elements in `bytes` of a row.
static int64_t run_of(const MirageType *matrix, int64_t bytes) { return bytes / mirage_dtype_bytes(matrix->dtype); }

bool mirage__may_pad(const MirageType *matrix) {
  return mirage_dtype_bits(matrix->dtype) == 16 && matrix->rank >= 2 && matrix->rank <= 3 &&
         matrix->shape[matrix->rank - 1] % run_of(matrix, COPIED_ROW) != 0;
}

MirageType mirage__padded_type(const MirageType *matrix) {
  MirageType padded = *matrix;
  int64_t *columns = &padded.shape[padded.rank - 1];
  int64_t run = run_of(matrix, *columns >= run_of(matrix, LONG_ROW * LINE) ? LINE : COPIED_ROW);
  *columns = cut_ceil_div(*columns, run) * run;
  return padded;
}

MirageValue mirage__pad_rows(MirageUGraph *graph, MirageValue matrix) {
  const MirageType from = *mirage_ugraph_type(graph, matrix), to = mirage__padded_type(&from);
  uint32_t columns = from.rank - 1, rows = from.rank - 2;
  int64_t wide = to.shape[columns] < TILE_COLUMNS ? to.shape[columns] : TILE_COLUMNS;
  MirageCustomAttrs attrs = {.grid = {cut_ceil_div(to.shape[columns], wide), cut_ceil_div(to.shape[rows], TILE_ROWS),
                                      from.rank == 3 ? from.shape[0] : 1},
                             .cluster = {1, 1, 1}};
  MirageNode custom = mirage_ugraph_open_custom(graph, 1, &matrix, 1, &to, &attrs);
  MirageAccessAttrs access = no_access();
  access.grid[0] = (int8_t)columns;
  access.grid[1] = (int8_t)rows;
  access.grid[2] = from.rank == 3 ? 0 : -1;
  access.tiles[columns] = wide;
  access.tiles[rows] = from.shape[rows] % TILE_ROWS ? TILE_ROWS : 0;
  MirageValue tile = mirage_ugraph_load(graph, mirage_ugraph_argument(graph, custom, 0), &access);
  mirage_ugraph_store(graph, tile, mirage_ugraph_argument(graph, custom, 1), &access);
  mirage_ugraph_close(graph, 0, NULL);
  return mirage_ugraph_result(graph, custom, 0);
}
