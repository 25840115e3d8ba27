// canonical_rows.c - the canonical block graphs of softmax and norms: one kernel, computed in f32, rounded once.
//
// All of them take statistics along one dimension and then a function of each element and the statistics:
//
//   softmax      top = max x;                  sum = sum exp(x - top);      exp(x - top) / sum
//   rms_norm                                   sum = sum x^2;               x / sqrt(sum / n + eps) * gain
//   layer_norm   mean = sum x / n;             sum = sum (x - mean)^2;      (x - mean) / sqrt(sum / n + eps) * gain +
//   bias
//
// The other dimensions are cut over the grid. A row of up to ROW_ELEMENTS is one tile; a longer one is walked once for
// each statistic and once more for the result, in a loop whose last tile is ragged: masked elements are bottom for a
// softmax, where they count nothing, and 0 for the norms; what they add to the centred squares, mean^2 each, is taken
// off again (fewer elements than iterations, so nothing cancels that matters).
#include "canonical_op.h"

enum { ROW_ELEMENTS = 16384, CHUNK_ELEMENTS = 4096 };

typedef struct Rows {
  const CanonicalOp *op;
  MirageUGraph *graph;
  MirageNode custom;
  Cut cut;
  int32_t dim;
  int64_t length, range, masked; // of the dimension; iterations over it; elements of the last tile that are not there
  MirageValue x;                 // the tile, where one holds a row
} Rows;

// What is reduced, or stored, of an element: a function of the tile and the statistics so far.
typedef MirageValue (*Part)(Rows *rows, MirageValue x, const MirageValue *statistics);

static MirageValue one(Rows *rows, MirageOp op, MirageValue a) {
  return mirage_ugraph_apply(rows->graph, op, 1, &a, NULL);
}

static MirageValue two(Rows *rows, MirageOp op, MirageValue a, MirageValue b) {
  return mirage_ugraph_apply(rows->graph, op, 2, (MirageValue[]){a, b}, NULL);
}

static MirageValue number(Rows *rows, double value) {
  return mirage_ugraph_constant(rows->graph, mirage_type_tile(MIRAGE_F32, 0, NULL), value);
}

// ----------------------------------------------------------------------------------------------------------------
// tiles

static MirageAccessAttrs access_of(const Rows *rows, const MirageType *operand) {
  MirageAccessAttrs access = mirage__broadcast_access(&rows->cut, operand, &rows->op->result);
  int32_t dim = rows->dim - (int32_t)(rows->op->result.rank - operand->rank);
  if (rows->range > 1 && dim >= 0 && operand->shape[dim] > 1)
    access.loop[0] = (int8_t)dim;
  return access;
}

static MirageValue load(Rows *rows, uint32_t operand) {
  MirageAccessAttrs access = access_of(rows, &rows->op->operand_types[operand]);
  access.fill = rows->op->op == MIRAGE_OP_SOFTMAX ? MIRAGE_FILL_BOTTOM : MIRAGE_FILL_ZERO;
  MirageValue tile =
      mirage_ugraph_load(rows->graph, mirage_ugraph_argument(rows->graph, rows->custom, operand), &access);
  bool scaled = operand == 0 && rows->op->op == MIRAGE_OP_SOFTMAX && rows->op->scale != 1;
  return scaled ? two(rows, MIRAGE_OP_MUL, tile, number(rows, rows->op->scale)) : tile;
}

static MirageValue reduce(Rows *rows, MirageOp op, MirageValue part) {
  MirageAttrs attrs = {.reduce = {.dim = rows->dim, .extent = 1}};
  return mirage_ugraph_apply(rows->graph, op, 1, &part, &attrs);
}

// The sum or maximum of a part over the whole dimension.
static MirageValue statistic(Rows *rows, MirageOp op, Part part, const MirageValue *statistics) {
  if (rows->range == 1)
    return reduce(rows, op, part(rows, rows->x, statistics));
  MirageType type = mirage__cut_tile(&rows->op->result, &rows->cut, MIRAGE_F32);
  type.shape[rows->dim] = 1;
  MirageAttrs bottom = {.shape = {type}};
  bool maximum = op == MIRAGE_OP_REDUCE_MAX;
  MirageValue init = maximum ? mirage_ugraph_apply(rows->graph, MIRAGE_OP_BOTTOM, 0, NULL, &bottom)
                             : mirage_ugraph_constant(rows->graph, type, 0);
  MirageCarry carry = {.combine = maximum ? MIRAGE_COMBINE_MAX : MIRAGE_COMBINE_SUM};
  MirageLoopAttrs attrs = {.range = rows->range, .num_carries = 1, .carries = &carry};
  MirageNode loop = mirage_ugraph_open_loop(rows->graph, 1, &init, &attrs);
  MirageValue share = reduce(rows, op, part(rows, load(rows, 0), statistics));
  mirage_ugraph_close(rows->graph, 1, &share);
  return mirage_ugraph_result(rows->graph, loop, 0);
}

// Stores a function of each element.
static MirageValue finish(Rows *rows, Part part, const MirageValue *statistics) {
  MirageAccessAttrs access = access_of(rows, &rows->op->result);
  if (rows->range == 1)
    return mirage__close_canonical(rows->op, rows->custom, part(rows, rows->x, statistics), &access);
  MirageLoopAttrs attrs = {.range = rows->range};
  mirage_ugraph_open_loop(rows->graph, 0, NULL, &attrs);
  MirageValue y = part(rows, load(rows, 0), statistics);
  mirage_ugraph_store(rows->graph, y, mirage_ugraph_argument(rows->graph, rows->custom, rows->op->num_operands),
                      &access);
  mirage_ugraph_close(rows->graph, 0, NULL); // the loop
  mirage_ugraph_close(rows->graph, 0, NULL);
  return mirage_ugraph_result(rows->graph, rows->custom, 0);
}

// ------------------------------------------------------------------------------------------------------------
// operators

static MirageValue itself(Rows *rows, MirageValue x, const MirageValue *statistics) { return x; }

static MirageValue weight(Rows *rows, MirageValue x, const MirageValue *statistics) {
  return one(rows, MIRAGE_OP_EXP, two(rows, MIRAGE_OP_SUB, x, statistics[0]));
}

static MirageValue share(Rows *rows, MirageValue x, const MirageValue *statistics) {
  return two(rows, MIRAGE_OP_DIV, weight(rows, x, statistics), statistics[1]);
}

static MirageValue softmax(Rows *rows) {
  MirageValue statistics[2];
  statistics[0] = statistic(rows, MIRAGE_OP_REDUCE_MAX, itself, NULL);
  statistics[1] = statistic(rows, MIRAGE_OP_REDUCE_SUM, weight, statistics);
  return finish(rows, share, statistics);
}

// Norms: statistics[0] is the root, statistics[1] the mean where there is one.
static MirageValue centred(Rows *rows, MirageValue x, const MirageValue *statistics) {
  return rows->op->op == MIRAGE_OP_LAYER_NORM ? two(rows, MIRAGE_OP_SUB, x, statistics[1]) : x;
}

static MirageValue squared(Rows *rows, MirageValue x, const MirageValue *statistics) {
  return one(rows, MIRAGE_OP_SQUARE, centred(rows, x, statistics));
}

static MirageValue normalised(Rows *rows, MirageValue x, const MirageValue *statistics) {
  MirageValue y = two(rows, MIRAGE_OP_DIV, centred(rows, x, statistics), statistics[0]);
  if (rows->op->num_operands > 1)
    y = two(rows, MIRAGE_OP_MUL, y, load(rows, 1));
  return rows->op->num_operands > 2 ? two(rows, MIRAGE_OP_ADD, y, load(rows, 2)) : y;
}

static MirageValue norm(Rows *rows) {
  MirageValue statistics[2] = {{0}}, count = number(rows, (double)rows->length);
  if (rows->op->op == MIRAGE_OP_LAYER_NORM)
    statistics[1] = two(rows, MIRAGE_OP_DIV, statistic(rows, MIRAGE_OP_REDUCE_SUM, itself, NULL), count);
  MirageValue sum = statistic(rows, MIRAGE_OP_REDUCE_SUM, squared, statistics);
  if (rows->masked && rows->op->op == MIRAGE_OP_LAYER_NORM) {
    MirageValue extra =
        two(rows, MIRAGE_OP_MUL, one(rows, MIRAGE_OP_SQUARE, statistics[1]), number(rows, (double)rows->masked));
    sum = two(rows, MIRAGE_OP_SUB, sum, extra);
  }
  MirageValue variance = two(rows, MIRAGE_OP_DIV, sum, count);
  if (rows->op->attrs->eps.eps != 0)
    variance = two(rows, MIRAGE_OP_ADD, variance, number(rows, rows->op->attrs->eps.eps));
  statistics[0] = one(rows, MIRAGE_OP_SQRT, variance);
  return finish(rows, normalised, statistics);
}

MirageValue mirage__canonical_rows(const CanonicalOp *op) {
  Rows rows = {.op = op, .graph = op->graph, .dim = (int32_t)op->result.rank - 1, .range = 1};
  if (op->op == MIRAGE_OP_SOFTMAX)
    rows.dim = op->attrs->dim.dim;
  rows.length = op->result.shape[rows.dim];
  int64_t most = rows.length > 2048 ? rows.length : 2048;
  rows.cut = mirage__cut(&op->result, rows.dim, mirage__tile_target(op, mirage_type_elements(&op->result), most));
  MirageType whole = mirage__cut_tile(&op->result, &rows.cut, MIRAGE_F32);
  if (mirage_type_elements(&whole) > ROW_ELEMENTS)
    rows.range = cut_ceil_div(mirage_type_elements(&whole), CHUNK_ELEMENTS);
  rows.range = rows.range < rows.length ? rows.range : rows.length;
  rows.masked = cut_chunk(rows.length, rows.range) * rows.range - rows.length;
  rows.custom = mirage__open_canonical(op, &rows.cut.attrs);
  if (rows.range == 1)
    rows.x = load(&rows, 0);
  return op->op == MIRAGE_OP_SOFTMAX ? softmax(&rows) : norm(&rows);
}
