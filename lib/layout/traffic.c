// traffic.c - everything that a block graph does with a buffer, as accesses of warps, and what they cost in a layout.
//
// One access of one warp stands for all of a kind: the first in order, times their number. How lanes map to elements is
// the generator's: items of neighbouring elements dealt out to threads in order (stores, copies, element by element
// work); eight rows of 16 bytes (ldmatrix); cells of the matrix instruction; groups of a reduction; rows and columns of
// plain multiply-adds. From there an index is followed through operators that are computed where they are read, down to
// the buffer.
#include "banks.h"

#include <string.h>

static const double COPY_WEIGHT = 0.25;

typedef struct Walk {
  const Plan *plan;
  MirageValue buffer;
  const MirageType *type;
  double conflicts, swizzles;
} Walk;

typedef struct Lanes {
  uint32_t count, width; // neighbouring elements from index[i] on
  double times;
  BankIndex index[BANK_LANES];
} Lanes;

// -------------------------------------------------------------------------------------------------- through operators

// Neighbouring elements that lie side by side and aligned in the layout: as the generator cuts accesses
// (codegen_shared.c).
static uint32_t piece_of(const MirageType *type, uint32_t width) {
  uint32_t most = 16 / mirage_dtype_bytes(type->dtype);
  if (type->rank == 0 || type->layout.strides[type->rank - 1] != 1)
    return 1;
  width = width < most ? width : most;
  for (uint32_t d = 0; d < type->rank; d++) {
    int64_t step = d + 1 == type->rank ? type->shape[d] : type->shape[d] > 1 ? type->layout.strides[d] : 0;
    while (step % width)
      width /= 2;
  }
  return width;
}

static void touch(Walk *t, const Lanes *lanes) {
  uint32_t piece = piece_of(t->type, lanes->width);
  double times = lanes->times * lanes->width / piece;
  t->conflicts += times * (double)mirage__bank_conflicts(t->type, piece, lanes->count, lanes->index);
  t->swizzles += t->type->layout.swizzle ? times : 0;
}

// The lanes' index into an operand of type `from` that broadcasts to `to`.
static void broadcast(const MirageType *from, const MirageType *to, const Lanes *lanes, Lanes *out) {
  *out = *lanes;
  for (uint32_t i = 0; i < lanes->count; i++)
    for (uint32_t d = 1; d <= from->rank; d++)
      out->index[i][from->rank - d] =
          from->shape[from->rank - d] == 1 || d > to->rank ? 0 : lanes->index[i][to->rank - d];
  if (from->rank == 0 || from->shape[from->rank - 1] == 1)
    out->width = 1;
}

static void reshape(const MirageType *from, const MirageType *to, Lanes *lanes) {
  for (uint32_t i = 0; i < lanes->count; i++) {
    int64_t linear = 0;
    for (uint32_t d = 0; d < to->rank; d++)
      linear = linear * to->shape[d] + lanes->index[i][d];
    for (uint32_t d = from->rank; d-- > 0; linear /= from->shape[d])
      lanes->index[i][d] = linear % from->shape[d];
  }
}

// The lanes' index into an operand of an operator that is computed where it is read.
static void through(const MirageNodeView *view, const MirageType *from, const MirageType *to, const Lanes *lanes,
                    Lanes *out) {
  int32_t last = (int32_t)to->rank - 1;
  *out = *lanes;
  switch (view->op) {
  case MIRAGE_OP_TRANSPOSE:
    for (uint32_t i = 0; i < lanes->count; i++)
      for (uint32_t d = 0; d < to->rank; d++)
        out->index[i][view->attrs->perm.perm[d]] = lanes->index[i][d];
    if (to->rank && view->attrs->perm.perm[last] != last) {
      out->times *= lanes->width;
      out->width = 1;
    }
    break;
  case MIRAGE_OP_RESHAPE:
    reshape(from, to, out);
    break;
  case MIRAGE_OP_REPEAT:
    for (uint32_t i = 0; i < lanes->count; i++)
      out->index[i][view->attrs->repeat.dim] %= from->shape[view->attrs->repeat.dim];
    break;
  case MIRAGE_OP_SLICE:
    for (uint32_t i = 0; i < lanes->count; i++)
      out->index[i][view->attrs->slice.dim] += view->attrs->slice.begin;
    break;
  case MIRAGE_OP_CONCAT:
    for (uint32_t i = 0; i < lanes->count; i++)
      if (out->index[i][view->attrs->dim.dim] >= from->shape[view->attrs->dim.dim])
        out->index[i][view->attrs->dim.dim] = 0; // clamped, as every operand is evaluated
    break;
  default:
    broadcast(from, to, lanes, out);
  }
}

static void read_through(Walk *t, MirageValue value, const Lanes *lanes) {
  const Block *block = &t->plan->block;
  value = mirage__block_resolve(block, value);
  if (block->values[value.index].shared) {
    if (mirage__block_buffer_of(block, value).index == t->buffer.index)
      touch(t, lanes);
    return;
  }
  MirageNodeView view = mirage__block_def(block, value);
  if (!block->values[value.index].def.index || !mirage__block_can_inline(view.op))
    return;
  for (uint32_t i = 0; i < view.num_operands; i++) {
    Lanes here;
    through(&view, &block->types[mirage__block_resolve(block, view.operands[i]).index], &block->types[value.index],
            lanes, &here);
    read_through(t, view.operands[i], &here);
  }
}

// --------------------------------------------------------------------------------------------------------- lane forms

static void delinearize(const MirageType *type, int64_t linear, int64_t *index) {
  for (uint32_t d = type->rank; d-- > 0; linear /= type->shape[d])
    index[d] = linear % type->shape[d];
}

// Items of `width` elements, one a lane, in order.
static Lanes in_order(const MirageType *type, uint32_t width, double trips) {
  int64_t items = mirage_type_elements(type) / width;
  Lanes lanes = {.count = items < BANK_LANES ? (uint32_t)items : BANK_LANES, .width = width};
  lanes.times = (double)items / lanes.count * trips;
  for (uint32_t i = 0; i < lanes.count; i++)
    delinearize(type, (int64_t)i * width, lanes.index[i]);
  return lanes;
}

// Wide pieces, but not so wide that threads go idle: as the generator's stores.
static uint32_t useful_width(const Walk *t, const MirageType *type) {
  uint32_t width = 16 / mirage_dtype_bytes(type->dtype);
  while (width > 1 && (type->rank == 0 || type->shape[type->rank - 1] % width ||
                       mirage_type_elements(type) / width < mirage__team_workers(&t->plan->block.team) * BANK_LANES))
    width /= 2;
  return width;
}

static double trips_of(const Block *block, int32_t loop) { return loop < 0 ? 1 : (double)block->loops[loop].trips; }

// ldmatrix: eight rows along the dimension that is not contiguous.
static void read_fragments(Walk *t, const MirageNodeView *view, uint32_t which, double trips) {
  const Block *block = &t->plan->block;
  MatmulOperand operand = mirage__matmul_operand(block, view, which);
  bool in_cells = which == 0 && mirage__block_operand_in_cells(block, view); // straight from registers
  if (operand.base.index != t->buffer.index || t->type->rank < 2 || in_cells)
    return;
  MatmulSplit s = mirage__block_matmul_split(block, view);
  BankIndex rows[8];
  memset(rows, 0, sizeof rows);
  for (uint32_t i = 0; i < 8; i++)
    rows[i][t->type->rank - 2] = i < t->type->shape[t->type->rank - 2] ? i : 0;
  double workers = (double)s.by_row * s.by_col * s.depth_units, matrices; // workers times units of depth each
  matrices = (which == 0) != s.swap ? 4.0 * s.rows_each : 2.0 * s.cols_each * (s.batch > 1 ? s.rows_each : 1);
  double times = workers * matrices * trips;
  t->conflicts += times * (double)mirage__bank_conflicts_of_rows(t->type, (const BankIndex *)rows);
  t->swizzles += t->type->layout.swizzle ? times / 4 : 0; // one address for four matrices
}

// Plain multiply-adds: threads run along the columns, then along the rows.
static void read_plain(Walk *t, const MirageNodeView *view, uint32_t which, double trips) {
  const Block *block = &t->plan->block;
  const MirageType *a = mirage_ugraph_type(block->graph, view->operands[0]);
  const MirageType *b = mirage_ugraph_type(block->graph, view->operands[1]), *type = which ? b : a;
  MatmulSplit s = mirage__block_matmul_split(block, view);
  uint32_t unit_dim = type->rank - (mirage__k_is_last(view, which) ? 2 : 1);
  Lanes lanes = {.count = BANK_LANES, .width = 1};
  lanes.times = (double)mirage__team_workers(&block->team) * s.depth_units / s.by_depth *
                (which ? s.cols_each : s.rows_each) * trips;
  for (uint32_t i = 0; i < BANK_LANES; i++)
    lanes.index[i][unit_dim] =
        (which ? i % (uint32_t)s.by_col : i / (uint32_t)s.by_col % (uint32_t)s.by_row) % type->shape[unit_dim];
  read_through(t, view->operands[which], &lanes);
}

static void read_reduction(Walk *t, const MirageNodeView *view, double trips) {
  const Block *block = &t->plan->block;
  const MirageType *in = &block->types[mirage__block_resolve(block, view->operands[0]).index];
  const MirageType *out = mirage_ugraph_type(block->graph, view->first_result);
  int32_t dim = view->attrs->reduce.dim;
  ReduceSplit s = mirage__block_reduce_split(block, view);
  Lanes lanes = {.count = BANK_LANES, .width = (uint32_t)s.vector};
  lanes.times = (double)mirage_type_elements(in) / s.vector / BANK_LANES * trips;
  for (uint32_t i = 0; i < BANK_LANES; i++) {
    int64_t piece = i % (uint32_t)s.group % (s.length / s.vector);
    delinearize(out, i / (uint32_t)s.group % s.outputs, lanes.index[i]);
    lanes.index[i][dim] += piece * s.vector * out->shape[dim];
  }
  read_through(t, view->operands[0], &lanes);
}

// Cells of the matrix instruction on their way to the buffer: lane 4 g + t holds columns 2 t, 2 t + 1 of row g.
static void write_cells(Walk *t, const MirageNodeView *view) {
  const Block *block = &t->plan->block;
  MatmulSplit s = mirage__block_matmul_split(block, view);
  if (!s.tensor_core || t->type->rank < 2)
    return;
  uint32_t row = t->type->rank - (s.swap ? 1 : 2), col = t->type->rank - (s.swap ? 2 : 1);
  Lanes lanes = {.count = BANK_LANES, .width = s.swap ? 1 : 2};
  lanes.times = (double)mirage__team_workers(&block->team) * s.accumulators / lanes.width;
  for (uint32_t i = 0; i < BANK_LANES; i++) {
    lanes.index[i][row] = i / 4 % t->type->shape[row];
    lanes.index[i][col] = i % 4 * 2 % t->type->shape[col];
  }
  touch(t, &lanes);
}

// --------------------------------------------------------------------------------------------------------------- steps

static void read_step(Walk *t, const MirageNodeView *view, int32_t loop) {
  const Block *block = &t->plan->block;
  double trips = trips_of(block, loop);
  if (mirage__is_product(view->op)) {
    bool fragments = mirage_ugraph_type(block->graph, view->operands[0])->dtype != MIRAGE_F32;
    for (uint32_t i = 0; i < 2; i++)
      if (fragments)
        read_fragments(t, view, i, trips);
      else
        read_plain(t, view, i, trips);
    return;
  }
  if (mirage_op_info(view->op)->kind == MIRAGE_KIND_REDUCE) {
    read_reduction(t, view, trips);
    return;
  }
  if (mirage__block_can_inline(view->op) && !block->values[view->first_result.index].shared)
    return;
  for (uint32_t i = 0; i < view->num_operands; i++) {
    MirageValue operand = mirage__block_resolve(block, view->operands[i]);
    const MirageType *type = &block->types[operand.index];
    if (type->space == MIRAGE_SPACE_DEVICE)
      continue;
    bool own = mirage__block_can_inline(view->op); // stored: walked in the result's shape, through the operator
    const MirageType *walked = own ? &block->types[view->first_result.index] : type;
    Lanes lanes = in_order(walked, view->op == MIRAGE_OP_YIELD ? 1 : useful_width(t, walked), trips), here;
    here = lanes;
    if (own)
      through(view, type, walked, &lanes, &here);
    read_through(t, operand, &here);
  }
}

// What fills the buffer.
static void write_buffer(Walk *t) {
  const Block *block = &t->plan->block;
  const BlockValue *v = &block->values[t->buffer.index];
  MirageNodeView def = mirage_ugraph_node(block->graph, v->def);
  if (def.op == MIRAGE_OP_LOOP) {
    MirageValue contribution = mirage__block_resolve(block, mirage__block_yield(block, v->def).operands[v->index]);
    MirageNodeView last = mirage__block_def(block, contribution);
    CarryKind kind = mirage__block_carry_kind(block, v->def, v->index);
    if (kind == CARRY_MATMUL)
      write_cells(t, &last);
    Lanes lanes = in_order(t->type, 1, 2 * trips_of(block, mirage__block_find_loop(block, v->def)));
    if (kind == CARRY_SHARED)
      touch(t, &lanes); // read and written back in each iteration
    return;
  }
  if (mirage__is_product(def.op)) {
    write_cells(t, &def);
    return;
  }
  // Copies arrive while something else is computed: a cycle lost there is not as dear.
  double weight = def.op == MIRAGE_OP_LOAD ? COPY_WEIGHT : 1;
  Lanes lanes = in_order(t->type, useful_width(t, t->type), weight * trips_of(block, v->loop));
  touch(t, &lanes);
}

Traffic mirage__traffic(const Plan *plan, MirageValue buffer, const MirageType *type) {
  Walk t = {.plan = plan, .buffer = buffer, .type = type};
  const Block *block = &plan->block;
  write_buffer(&t);
  MirageNodeView view;
  for (int32_t s = -1; mirage__block_next(block, &s, &view);)
    read_step(&t, &view, block->steps[s].loop);
  return (Traffic){t.conflicts, t.swizzles};
}
