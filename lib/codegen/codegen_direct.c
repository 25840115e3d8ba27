// codegen_direct.c - loops whose weights go straight from device memory to the matrix instruction
// (lib/layout/direct.c).
//
// The weight b [k, n] is the 16-row operand. In a step of 32 rows of b, lane 4 g + t loads lane_columns (8, 4 or 2)
// neighbouring columns of the eight rows 8 t .. 8 t + 7: with 8 columns, eight 16-byte loads in flight per lane, and
// each warp-wide load takes whole 128-byte pieces of four rows. No exchange between lanes follows, because the order of
// k and n inside a fragment is free:
//
//   fragment rows g and g + 8     columns lane_columns g + 2 u and lane_columns g + 2 u + 1, for unit u
//   contraction pairs 2 t, 2 t + 8 of product h = 0, 1     rows 8 t + 4 h + (0, 1) and 8 t + 4 h + (2, 3)
//
// so a lane needs the eight neighbouring activations x[g][8 t .. 8 t + 7] for both products: one 16-byte load.
//
// Stored weights travel as they lie in memory, and become 16-bit numbers where a fragment is put together
// (codegen_dequant.c).
//
// Order:  fetch(first) ..  (multiply, fetch(next))*  multiply ..   What a step needs travels through the back edge of the
//         loop in registers. So all its loads are issued together: inside one iteration the assembler would rather
//         spare registers and wait for the first loads before it issues the last. Where a step is few bytes, several
//         are under way (DirectLoop.ahead), each in a bank of registers of its own.
// After:  every warp leaves its partial tiles in its own copy of the results' buffers; one barrier; the copies are
//         summed in order.
#include "emit.h"

enum { STEP = 32, ROWS = 8 };

// Variables of one group: what a step adds to.
typedef struct Registers {
  LLVMValueRef *cells; // [piece][unit][column unit][4]
  LLVMValueRef *part;  // of one unit, in one step, where that is scaled before it is added; NULL: it is not
} Registers;

// A step that is under way.
typedef struct Bank {
  LLVMValueRef
      *words[MAX_DIRECT_CARRIES]; // by group, [piece][row][word]: rows 8 t .. of the weights as they lie in memory
  Tape tape;                      // what its activations are computed from
} Bank;

typedef struct Stream {
  DirectLoop plan;
  DirectPart part;
  int32_t loop;
  int64_t range;      // iterations of this block
  LLVMValueRef first; // the number of the first of them
  MirageNodeView view;
  Registers groups[MAX_DIRECT_CARRIES];
  LLVMValueRef *sums[MAX_DIRECT_CARRIES]; // by reduction: [column unit]
  Bank banks[MAX_DIRECT_AHEAD], *bank;    // the one that code is being generated for
  LLVMValueRef g, t;
} Stream;

// Steps of this warp in an iteration.
static int32_t steps_of(const Emit *e, const Stream *s) { return (int32_t)(s->plan.k / STEP) / (e->threads / 32); }

// Pairs of columns of a lane.
static int32_t units_of(const DirectGroup *group) { return group->lane_columns / 2; }

static int32_t words_of(const DirectGroup *group) { return mirage__raw_words(group->stored, group->lane_columns); }

static LLVMValueRef *variables(Emit *e, int32_t count, LLVMTypeRef type) {
  LLVMValueRef *out = mirage__emit_array(e, (size_t)count, sizeof *out);
  for (int32_t i = 0; out && i < count; i++)
    out[i] = mirage__variable(e, type);
  return out;
}

static bool is_scaled(const Stream *s, uint32_t group) {
  bool scaled = false;
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    scaled |= s->plan.products[p].group == group && s->plan.products[p].scale.index;
  return scaled;
}

static bool create_registers(Emit *e, Stream *s) {
  for (uint32_t g = 0; g < s->plan.num_groups; g++) {
    const DirectGroup *group = &s->plan.groups[g];
    Registers *r = &s->groups[g];
    for (int32_t i = 0; i < s->plan.ahead; i++)
      s->banks[i].words[g] = variables(e, group->pieces * ROWS * words_of(group), e->gpu.i32);
    r->cells = variables(e, group->accumulators, e->gpu.f32);
    if (is_scaled(s, g))
      r->part = variables(e, 4 * s->plan.col_units, e->gpu.f32);
    for (int32_t i = 0; e->status == MIRAGE_OK && i < group->accumulators; i++)
      mirage__set(e, r->cells[i], gpu_f32(&e->gpu, 0));
  }
  for (uint32_t i = 0; i < s->plan.num_reductions; i++) {
    s->sums[i] = variables(e, s->plan.col_units, e->gpu.f32);
    MirageOp op = mirage_ugraph_node(e->block.graph, s->plan.reductions[i].node).op;
    for (int32_t j = 0; e->status == MIRAGE_OK && j < s->plan.col_units; j++)
      mirage__set(e, s->sums[i][j], mirage__reduce_neutral(e, op));
  }
  return e->status == MIRAGE_OK;
}

// Index of an element of a matrix of group `group` (NULL = there is one), the last of the leading dimensions; others are 1.
static void matrix_index(Emit *e, const MirageType *type, LLVMValueRef group, LLVMValueRef row, LLVMValueRef column,
                         LLVMValueRef *index) {
  for (uint32_t d = 0; d + 2 < type->rank; d++)
    index[d] = gpu_i32(&e->gpu, 0);
  if (group)
    index[type->rank - 3] = group;
  index[type->rank - 2] = row;
  index[type->rank - 1] = column;
}

// --------------------------------------------------------------------------------------------------------------- fetch

// A step of an iteration for this warp: this lane's rows of the weights, and of each column unit the activation row.
typedef struct Place {
  LLVMValueRef group, k, row[MAX_DIRECT_UNITS]; // k in the group; group is NULL where there is one
} Place;

// Where one product's weight begins for this lane, and what of it is valid.
typedef struct Source {
  Access access;
  LLVMValueRef address; // of row k, column `first` of the lane
  LLVMValueRef column;  // in the product
  LLVMValueRef inside;  // whether the lane's columns belong to this product; NULL = always
} Source;

static Source source_of(Emit *e, const DirectProduct *product, LLVMValueRef column, const Place *at) {
  MirageNode load = e->block.values[product->weight.index].def;
  MirageNodeView view = mirage_ugraph_node(e->block.graph, load);
  Source source = {.access = mirage__access(e, load, view.operands[0], emit_type(e, product->weight), NULL)};
  LLVMBuilderRef b = e->gpu.builder;
  source.column = LLVMBuildSub(b, column, gpu_i32(&e->gpu, product->first_column), "");
  if (product->first_column)
    source.inside = LLVMBuildICmp(b, LLVMIntSGE, column, gpu_i32(&e->gpu, product->first_column), "");
  LLVMValueRef index[MIRAGE_MAX_RANK];
  matrix_index(e, source.access.tile, at->group, at->k, source.column, index);
  source.address = mirage__access_address(e, &source.access, index);
  return source;
}

// `at` columns on in row `r` of the lane: its address, and whether it is valid (NULL = yes).
static LLVMValueRef address_in(Emit *e, const Source *source, int r, int32_t at) {
  const MirageType *tensor = source->access.tensor;
  int64_t bytes = r * source->access.pitch[tensor->rank - 2] + at * mirage_dtype_bytes(tensor->dtype);
  bytes = mirage_dtype_bits(tensor->dtype) < 8 ? bytes / 2 : bytes;
  return mirage__at(e, source->address, gpu_i64(&e->gpu, bytes));
}

static LLVMValueRef valid_in(Emit *e, const Source *source, const Place *place, int r, int32_t at) {
  LLVMValueRef index[MIRAGE_MAX_RANK];
  matrix_index(e, source->access.tile, place->group, mirage__add(e, place->k, gpu_i32(&e->gpu, r)),
               mirage__add(e, source->column, gpu_i32(&e->gpu, at)), index);
  LLVMValueRef valid = mirage__access_valid(e, &source->access, index);
  return valid ? valid : LLVMConstInt(e->gpu.i1, 1, 0);
}

// Splits what was loaded into registers of two columns; single columns come in turn, `odd` the second.
static void keep_words(Emit *e, LLVMValueRef loaded, uint32_t width, bool odd, LLVMValueRef *words) {
  LLVMBuilderRef b = e->gpu.builder;
  if (width == 1) {
    LLVMTypeRef pair = LLVMVectorType(LLVMTypeOf(loaded), 2);
    LLVMValueRef before = odd ? LLVMBuildBitCast(b, mirage__get(e, words[0]), pair, "") : LLVMGetUndef(pair);
    LLVMValueRef both = LLVMBuildInsertElement(b, before, loaded, gpu_i32(&e->gpu, odd), "");
    mirage__set(e, words[0], LLVMBuildBitCast(b, both, e->gpu.i32, ""));
    return;
  }
  LLVMValueRef vector = LLVMBuildBitCast(b, loaded, LLVMVectorType(e->gpu.i32, width / 2), "");
  for (uint32_t i = 0; i < width / 2; i++)
    mirage__set(e, words[i], LLVMBuildExtractElement(b, vector, gpu_i32(&e->gpu, i), ""));
}

// A piece of less than a register, `at` columns behind the register's first.
static void keep_part(Emit *e, LLVMValueRef loaded, uint32_t bits, uint32_t shift, LLVMValueRef word) {
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef part = LLVMBuildBitCast(b, loaded, LLVMIntTypeInContext(e->gpu.context, bits), "");
  part = LLVMBuildShl(b, LLVMBuildZExt(b, part, e->gpu.i32, ""), gpu_i32(&e->gpu, shift), "");
  mirage__set(e, word, shift ? LLVMBuildOr(b, mirage__get(e, word), part, "") : part);
}

// The same for columns of a stored type.
static void keep_raw(Emit *e, LLVMValueRef loaded, uint32_t bits, uint32_t at_bits, LLVMValueRef *words) {
  if (bits < 32) {
    keep_part(e, loaded, bits, at_bits % 32, words[at_bits / 32]);
    return;
  }
  LLVMBuilderRef b = e->gpu.builder;
  LLVMValueRef vector = LLVMBuildBitCast(b, loaded, LLVMVectorType(e->gpu.i32, bits / 32), "");
  for (uint32_t i = 0; i < bits / 32; i++)
    mirage__set(e, words[at_bits / 32 + i], LLVMBuildExtractElement(b, vector, gpu_i32(&e->gpu, i), ""));
}

static LLVMValueRef fill_of(Emit *e, const Access *access, uint32_t width) {
  uint32_t bits = mirage_dtype_bits(access->tensor->dtype);
  if (mirage_dtype_is_stored(access->tensor->dtype)) // filled with zeros: lib/layout/direct.c
    return width * bits == 8 ? LLVMConstNull(e->gpu.i8) : LLVMConstNull(LLVMVectorType(e->gpu.i8, width * bits / 8));
  LLVMValueRef one = mirage__gpu_from_f32(&e->gpu, mirage__fill_value(e, access->fill), access->tensor->dtype);
  LLVMValueRef fill[MAX_WIDTH];
  for (uint32_t i = 0; i < width; i++)
    fill[i] = one;
  return width == 1 ? one : LLVMConstVector(fill, width);
}

// The lane's first column of a piece; lanes beyond the end repeat column 0.
static LLVMValueRef column_of(Emit *e, const Stream *s, const DirectGroup *g, int32_t piece) {
  LLVMValueRef column =
      mirage__add(e, mirage__mul(e, s->g, g->lane_columns), gpu_i32(&e->gpu, (int64_t)piece * 8 * g->lane_columns));
  if ((int64_t)(piece + 1) * 8 * g->lane_columns > g->columns)
    column = mirage__select(e, mirage__less_than(e, column, g->columns), column, gpu_i32(&e->gpu, 0));
  return column;
}

// The lane's eight rows of one piece of the group's columns. Later products take over from the column they begin at.
static void fetch_piece(Emit *e, Stream *s, uint32_t group, int32_t piece, const Place *place) {
  const DirectGroup *g = &s->plan.groups[group];
  LLVMValueRef column = column_of(e, s, g, piece);
  Source sources[MAX_DIRECT_CARRIES];
  uint32_t count = 0;
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    if (s->plan.products[p].group == group) {
      e->gpu.op = e->block.values[s->plan.products[p].weight.index].def.index;
      sources[count++] = source_of(e, &s->plan.products[p], column, place);
    }
  Access access = sources[0].access; // what all agree on: the narrowest piece, streaming only when all stream
  for (uint32_t i = 1; i < count; i++) {
    const Access *other = &sources[i].access;
    access.width = access.width < other->width ? access.width : other->width;
    access.stream &= other->stream;
    access.masked |= other->masked;
  }
  uint32_t width = access.width < (uint32_t)g->lane_columns ? access.width : (uint32_t)g->lane_columns;
  for (int r = 0; r < ROWS; r++)
    for (int32_t at = 0; at < g->lane_columns; at += (int32_t)width) {
      LLVMValueRef address = NULL, valid = NULL, fill = fill_of(e, &sources[0].access, width);
      for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef inside = i ? sources[i].inside : NULL;
        address = mirage__select(e, inside, address_in(e, &sources[i], r, at), address);
        if (access.masked)
          valid = mirage__select(e, inside, valid_in(e, &sources[i], place, r, at), valid);
        if (access.masked)
          fill = mirage__select(e, inside, fill_of(e, &sources[i].access, width), fill);
      }
      LLVMValueRef loaded = mirage__access_piece(e, &access, address, valid, width);
      LLVMValueRef *words = s->bank->words[group] + (piece * ROWS + r) * words_of(g);
      uint32_t bits = mirage_dtype_bits(g->stored);
      loaded = mirage__select(e, valid, loaded, fill);
      if (g->stored == g->dtype)
        keep_words(e, loaded, width, at % 2 != 0, words + at / 2);
      else
        keep_raw(e, loaded, width * bits, (uint32_t)at * bits, words);
    }
}

// The four pairs of x[row][8 t .. 8 t + 7].
static void activations(Emit *e, Stream *s, uint32_t group, const Place *at, int32_t unit, LLVMValueRef *pairs) {
  const DirectGroup *g = &s->plan.groups[group];
  MirageDType dtype = g->dtype;
  const MirageType *type = emit_type(e, g->activation);
  LLVMValueRef values[ROWS], index[MIRAGE_MAX_RANK];
  for (int r = 0; g->transposed && r < ROWS; r++) {
    matrix_index(e, type, at->group, mirage__add(e, at->k, gpu_i32(&e->gpu, r)), at->row[unit], index);
    values[r] = mirage__element1(e, g->activation, index);
  }
  if (!g->transposed) {
    matrix_index(e, type, at->group, at->row[unit], at->k, index);
    mirage__element(e, g->activation, index, ROWS, values);
  }
  for (int p = 0; p < ROWS / 2; p++)
    pairs[p] = LLVMBuildBitCast(e->gpu.builder, mirage__pack(e, values + 2 * p, 2, dtype), e->gpu.i32, "");
}

// The step's part of a row's sum (or maximum).
static LLVMValueRef reduce(Emit *e, Stream *s, uint32_t reduction, const Place *at, int32_t unit, LLVMValueRef sum) {
  const DirectReduction *r = &s->plan.reductions[reduction];
  MirageOp op = mirage_ugraph_node(e->block.graph, r->node).op;
  LLVMValueRef values[ROWS], index[MIRAGE_MAX_RANK];
  matrix_index(e, emit_type(e, r->operand), at->group, at->row[unit], at->k, index);
  mirage__element(e, r->operand, index, ROWS, values);
  for (int i = 0; i < ROWS; i++)
    sum = mirage__reduce_pair(e, op, sum, values[i]);
  return sum;
}

static Place begin_step(Emit *e, Stream *s, LLVMValueRef iteration, int32_t step) {
  Place at;
  e->loops[s->loop].iteration = iteration;
  mirage__forget_elements(e);
  LLVMValueRef unit = mirage__add(e, e->warp, gpu_i32(&e->gpu, (int64_t)step * (e->threads / 32)));
  int64_t units = s->plan.group_k / STEP;
  at.group = s->plan.group_k < s->plan.k ? mirage__div(e, unit, units) : NULL;
  unit = at.group ? mirage__mod(e, unit, units) : unit;
  at.k = mirage__add(e, mirage__mul(e, unit, STEP), mirage__mul(e, s->t, ROWS));
  for (int32_t j = 0; j < s->plan.col_units; j++) {
    at.row[j] = mirage__add(e, s->g, gpu_i32(&e->gpu, j * 8));
    if (j * 8 + 8 > s->plan.m) // lanes beyond m repeat row 0
      at.row[j] = mirage__select(e, mirage__less_than(e, at.row[j], s->plan.m), at.row[j], gpu_i32(&e->gpu, 0));
  }
  return at;
}

// What the step's share of each of this lane's cells is multiplied with, in the order of cells; cells that are none of the
// product are left out, and so is a product without scales. `out` may be NULL.
static void scales(Emit *e, Stream *s, const DirectProduct *product, const Place *at, LLVMValueRef *out) {
  const DirectGroup *g = &s->plan.groups[product->group];
  if (!product->scale.index)
    return;
  const MirageType *from = emit_type(e, product->scale);
  const MirageType *type = emit_type(e, mirage_ugraph_node(e->block.graph, product->product).first_result);
  LLVMValueRef index[MIRAGE_MAX_RANK], there[MIRAGE_MAX_RANK], values[MAX_WIDTH];
  for (int32_t piece = 0; piece < g->pieces; piece++)
    for (int32_t i = 0; i < 2 * s->plan.col_units; i++) {
      int32_t j = i / 2, odd = i % 2;
      if (s->plan.m <= 8 * j + odd)
        continue;
      LLVMValueRef row = mirage__add(e, mirage__mul(e, s->t, 2), gpu_i32(&e->gpu, 8 * j + odd));
      if (s->plan.m < 8 * j + 8)
        row = mirage__select(e, mirage__less_than(e, row, s->plan.m), row, gpu_i32(&e->gpu, 0));
      matrix_index(e, type, at->group, row, column_of(e, s, g, piece), index);
      mirage__broadcast_index(e, from, type, index, there);
      mirage__element(e, product->scale, there, (uint32_t)g->lane_columns, values);
      for (int32_t c = 0; out && c < g->lane_columns; c++)
        out[4 * ((piece * units_of(g) + c / 2) * s->plan.col_units + j) + c % 2 * 2 + odd] = values[c];
    }
}

// Loads a step into registers. The activations are computed when they are multiplied: waiting for them here would hold
// back the loads that follow.
static void fetch(Emit *e, Stream *s, LLVMValueRef iteration, int32_t step) {
  Place at = begin_step(e, s, iteration, step);
  e->in_order = s->plan.ahead > 1;
  s->bank->tape.next = 0;
  s->bank->tape.playing = false;
  e->tape = &s->bank->tape;
  for (int32_t j = 0; j < s->plan.col_units; j++) { // for what they load; LLVM drops the rest
    LLVMValueRef pairs[ROWS / 2];
    for (uint32_t g = 0; g < s->plan.num_groups; g++)
      activations(e, s, g, &at, j, pairs);
    for (uint32_t r = 0; r < s->plan.num_reductions; r++)
      reduce(e, s, r, &at, j, gpu_f32(&e->gpu, 0));
  }
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    scales(e, s, &s->plan.products[p], &at, NULL);
  e->tape = NULL;
  for (uint32_t g = 0; g < s->plan.num_groups; g++)
    for (int32_t piece = 0; piece < s->plan.groups[g].pieces; piece++)
      fetch_piece(e, s, g, piece, &at);
  e->in_order = false;
  mirage__forget_elements(e);
}

// ------------------------------------------------------------------------------------------------------------ multiply

// Registers of the 16-row operand: columns 2 u + r % 2, rows 4 h + 2 (r / 2) and the next.
static void fragment(Emit *e, const DirectGroup *g, const LLVMValueRef *words, int32_t u, int h, LLVMValueRef *out) {
  int32_t per_row = words_of(g), word = 2 * u * (int32_t)mirage_dtype_bits(g->stored) / 32;
  for (int r = 0; r < 4; r++) {
    int row = 4 * h + r / 2 * 2;
    LLVMValueRef low = mirage__get(e, words[row * per_row + word]);
    LLVMValueRef high = mirage__get(e, words[(row + 1) * per_row + word]);
    int32_t column = (2 * u + r % 2) % (32 / (int32_t)mirage_dtype_bits(g->stored));
    out[r] = mirage__dequant_pair(e, g->stored, g->dtype, &low, &high, column);
  }
}

// Adds what a step has left in `part` to the group's cells, each multiplied with its factor.
static void add_scaled(Emit *e, const LLVMValueRef *part, const LLVMValueRef *factors, const LLVMValueRef *cells) {
  for (int c = 0; c < 4; c++)
    if (factors[c])
      mirage__set(e, cells[c], GPU(&e->gpu, FMA, mirage__get(e, part[c]), factors[c], mirage__get(e, cells[c])));
}

// Where there are factors, a step's products are summed by themselves.
static void multiply_unit(Emit *e, Stream *s, uint32_t group, int32_t unit, LLVMValueRef (*pairs)[ROWS / 2],
                          const LLVMValueRef *factors) {
  const DirectGroup *g = &s->plan.groups[group];
  int32_t per_lane = units_of(g), units = s->plan.col_units;
  LLVMValueRef *cells = s->groups[group].cells + 4 * unit * units, *part = s->groups[group].part;
  for (int32_t i = 0; part && i < 4 * units; i++)
    mirage__set(e, part[i], gpu_f32(&e->gpu, 0));
  for (int h = 0; h < 2; h++) {
    LLVMValueRef p[4];
    fragment(e, g, s->bank->words[group] + unit / per_lane * ROWS * words_of(g), unit % per_lane, h, p);
    for (int32_t j = 0; j < units; j++)
      mirage__mma_multiply(e, g->dtype, p, pairs[j] + 2 * h, (part ? part : cells) + 4 * j);
  }
  for (int32_t j = 0; part && j < units; j++)
    add_scaled(e, part + 4 * j, factors + 4 * (unit * units + j), cells + 4 * j);
}

static void multiply_group(Emit *e, Stream *s, uint32_t group, LLVMValueRef (*pairs)[ROWS / 2],
                           const LLVMValueRef *factors) {
  const DirectGroup *g = &s->plan.groups[group];
  for (int32_t i = 0; i < g->pieces * units_of(g); i++)
    multiply_unit(e, s, group, i, pairs, factors);
}

// What fetch loaded for the same iteration and step.
static void multiply(Emit *e, Stream *s, LLVMValueRef iteration, int32_t step) {
  Place at = begin_step(e, s, iteration, step);
  LLVMValueRef pairs[MAX_DIRECT_CARRIES][MAX_DIRECT_UNITS][ROWS / 2], *factors[MAX_DIRECT_CARRIES] = {0};
  for (uint32_t g = 0; g < s->plan.num_groups; g++)
    factors[g] = mirage__emit_array(e, (size_t)s->plan.groups[g].accumulators, sizeof(LLVMValueRef));
  if (e->status != MIRAGE_OK)
    return;
  s->bank->tape.next = 0;
  s->bank->tape.playing = true;
  e->tape = &s->bank->tape;
  for (int32_t j = 0; j < s->plan.col_units; j++) {
    for (uint32_t g = 0; g < s->plan.num_groups; g++)
      activations(e, s, g, &at, j, pairs[g][j]);
    for (uint32_t r = 0; r < s->plan.num_reductions; r++)
      mirage__set(e, s->sums[r][j], reduce(e, s, r, &at, j, mirage__get(e, s->sums[r][j])));
  }
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    scales(e, s, &s->plan.products[p], &at, factors[s->plan.products[p].group]);
  e->tape = NULL;
  mirage__forget_elements(e);
  for (uint32_t g = 0; g < s->plan.num_groups; g++)
    multiply_group(e, s, g, pairs[g], factors[g]);
}

// Step `step` behind the first of iteration `iteration` of this block's.
static void at_step(Emit *e, Stream *s, LLVMValueRef iteration, int32_t step,
                    void (*emit)(Emit *, Stream *, LLVMValueRef, int32_t)) {
  int32_t steps = steps_of(e, s);
  s->bank = &s->banks[step % s->plan.ahead];
  emit(e, s, mirage__add(e, mirage__add(e, s->first, iteration), gpu_i32(&e->gpu, step / steps)), step % steps);
}

// Where several steps are under way, the loads of one are issued before the next is multiplied.
static void keep_order(Emit *e, const Stream *s) {
  if (s->plan.ahead > 1)
    GPU0(&e->gpu, KEEP_ORDER);
}

// What is repeated is a multiple of the steps of an iteration and of those that are under way: banks and rows are then
// known where code is generated.
static void run_loop(Emit *e, Stream *s) {
  int32_t steps = steps_of(e, s), ahead = s->plan.ahead, round = steps;
  while (round % ahead)
    round += steps;
  int64_t all = s->range * steps, rounds = all > ahead ? (all - ahead) / round : 0;
  LLVMValueRef none = gpu_i32(&e->gpu, 0), rest = gpu_i32(&e->gpu, rounds * (round / steps));
  for (int32_t i = 0; i < ahead && i < all; i++)
    at_step(e, s, none, i, fetch);
  if (rounds > 0) {
    Repeat repeat = mirage__begin_repeat(e, rounds);
    LLVMValueRef begin = mirage__mul(e, repeat.index, round / steps);
    for (int32_t i = 0; i < round; i++) {
      at_step(e, s, begin, i, multiply);
      at_step(e, s, begin, i + ahead, fetch);
      keep_order(e, s);
    }
    mirage__end_repeat(e, &repeat);
  }
  for (int32_t i = 0; i < all - rounds * round; i++) {
    at_step(e, s, rest, i, multiply);
    if (i + ahead < all - rounds * round) {
      at_step(e, s, rest, i + ahead, fetch);
      keep_order(e, s);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- results

static MirageValue result_of(Emit *e, const Stream *s, uint32_t carry) {
  return mirage_ugraph_result(e->block.graph, e->block.loops[s->loop].node, carry);
}

// This warp's partial product: a lane holds lane_columns neighbours of rows 8 j + 2 t and 8 j + 2 t + 1.
static void leave_product(Emit *e, Stream *s, const DirectProduct *product) {
  const DirectGroup *group = &s->plan.groups[product->group];
  const LLVMValueRef *cells = s->groups[product->group].cells;
  const MirageType *type = emit_type(e, result_of(e, s, product->carry));
  int32_t per_row = units_of(group), width = group->lane_columns;
  for (int32_t piece = 0; piece < group->pieces; piece++) {
    int64_t begin = (int64_t)piece * 8 * width, first = product->first_column, last = first + product->columns;
    LLVMValueRef column = mirage__add(e, mirage__mul(e, s->g, width), gpu_i32(&e->gpu, begin)), mine = NULL;
    if (begin >= last || begin + (int64_t)8 * width <= first)
      continue;
    if (begin < first)
      mine = LLVMBuildICmp(e->gpu.builder, LLVMIntSGE, column, gpu_i32(&e->gpu, first), "");
    if (begin + (int64_t)8 * width > last)
      mine = mirage__and(e, mine, mirage__less_than(e, column, last));
    column = mirage__add(e, column, gpu_i32(&e->gpu, -first));
    for (int32_t i = 0; i < 2 * s->plan.col_units; i++) {
      int32_t j = i / 2, odd = i % 2;
      LLVMValueRef row = mirage__add(e, mirage__mul(e, s->t, 2), gpu_i32(&e->gpu, 8 * j + odd));
      LLVMValueRef values[MAX_WIDTH], index[MIRAGE_MAX_RANK];
      bool ragged = s->plan.m < 8 * j + 8;
      if (s->plan.m <= 8 * j + odd)
        continue;
      for (int32_t c = 0; c < width; c++)
        values[c] = mirage__get(e, cells[4 * ((piece * per_row + c / 2) * s->plan.col_units + j) + c % 2 * 2 + odd]);
      LLVMValueRef valid = ragged ? mirage__and(e, mine, mirage__less_than(e, row, s->plan.m)) : mine;
      LLVMBasicBlockRef join = mirage__begin_if(e, valid);
      matrix_index(e, type, NULL, row, column, index);
      mirage__tile_store(e, type, e->warp, index, (uint32_t)width, values);
      mirage__end_if(e, join);
    }
  }
}

// This warp's partial sums: the four lanes t of a row exchange theirs, the first writes.
static void leave_reduction(Emit *e, Stream *s, uint32_t reduction) {
  const DirectReduction *r = &s->plan.reductions[reduction];
  const MirageType *type = emit_type(e, result_of(e, s, r->carry));
  MirageNodeView view = mirage_ugraph_node(e->block.graph, r->node);
  for (int32_t j = 0; j < s->plan.col_units; j++) {
    LLVMValueRef sum = mirage__get(e, s->sums[reduction][j]), index[MIRAGE_MAX_RANK];
    sum = mirage__reduce_lanes(e, view.op, sum, 4);
    if (view.op == MIRAGE_OP_REDUCE_MEAN)
      sum = LLVMBuildFMul(e->gpu.builder, sum, gpu_f32(&e->gpu, 1.0 / (double)s->plan.k), "");
    LLVMValueRef row = mirage__add(e, s->g, gpu_i32(&e->gpu, j * 8));
    LLVMValueRef valid = mirage__equals(e, s->t, 0);
    if (j * 8 + 8 > s->plan.m)
      valid = mirage__and(e, valid, mirage__less_than(e, row, s->plan.m));
    LLVMBasicBlockRef join = mirage__begin_if(e, valid);
    matrix_index(e, type, NULL, row, gpu_i32(&e->gpu, 0), index);
    mirage__tile_store(e, type, e->warp, index, 1, &sum);
    mirage__end_if(e, join);
  }
}

typedef struct Combine {
  const Stream *stream;
  const MirageType *type;
  MirageValue init; // {0}: counted elsewhere
  MirageOp op;      // of two partial results
  uint32_t carry;
  bool received; // the parts are those that the side blocks left
} Combine;

static LLVMValueRef part_of(Emit *e, const Combine *c, LLVMValueRef item, const LLVMValueRef *index, int32_t i) {
  LLVMValueRef part;
  if (c->received)
    return mirage__gpu_load_global(&e->gpu, e->gpu.f32, mirage__side_slot(e, c->carry, gpu_i32(&e->gpu, i), item),
                                   MIRAGE_GLOBAL_PLAIN);
  mirage__tile_load(e, c->type, gpu_i32(&e->gpu, i), index, 1, &part);
  return part;
}

static void combine_item(Emit *e, LLVMValueRef item, void *user) {
  const Combine *c = user;
  LLVMValueRef index[MIRAGE_MAX_RANK], at[MIRAGE_MAX_RANK], sum = NULL;
  mirage__delinearize(e, item, c->type->rank, c->type->shape, index);
  if (c->init.index) {
    mirage__broadcast_index(e, emit_type(e, c->init), c->type, index, at);
    sum = mirage__element1(e, c->init, at);
  }
  int32_t parts = c->received ? e->side_blocks : c->type->layout.stages;
  for (int32_t i = 0; i < parts; i++) {
    LLVMValueRef part = part_of(e, c, item, index, i);
    sum = sum ? mirage__binary(e, c->op, sum, part) : part;
  }
  if (c->stream->part == DIRECT_SIDE)
    mirage__gpu_store_global(&e->gpu, sum, mirage__side_slot(e, c->carry, e->side_id, item));
  else
    mirage__tile_store(e, c->type, NULL, index, 1, &sum);
}

static void combine(Emit *e, const Stream *s, uint32_t carry, MirageNode node, bool received) {
  Combine job = {.stream = s, .type = emit_type(e, result_of(e, s, carry)), .carry = carry, .received = received};
  job.op = s->view.attrs->loop.carries[carry].combine == MIRAGE_COMBINE_MAX ? MIRAGE_OP_MAX : MIRAGE_OP_ADD;
  e->gpu.op = node.index;
  if (s->part != DIRECT_SIDE) {
    job.init = mirage__block_resolve(&e->block, s->view.operands[carry]);
    mirage__will_read(e, job.init);
  }
  mirage__will_write(e, result_of(e, s, carry));
  mirage__for_items(e, mirage_type_elements(job.type), combine_item, &job);
}

static void leave_partials(Emit *e, Stream *s) {
  mirage__begin_operation(e);
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    mirage__will_write(e, result_of(e, s, s->plan.products[p].carry));
  for (uint32_t r = 0; r < s->plan.num_reductions; r++)
    mirage__will_write(e, result_of(e, s, s->plan.reductions[r].carry));
  for (uint32_t p = 0; p < s->plan.num_products; p++) {
    e->gpu.op = s->plan.products[p].node.index;
    leave_product(e, s, &s->plan.products[p]);
  }
  for (uint32_t r = 0; r < s->plan.num_reductions; r++) {
    e->gpu.op = s->plan.reductions[r].node.index;
    leave_reduction(e, s, r);
  }
}

static void leave_results(Emit *e, Stream *s) {
  leave_partials(e, s);
  if (s->part == DIRECT_MAIN)
    mirage__side_wait(e);
  mirage__barrier(e);
  mirage__begin_operation(e);
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    combine(e, s, s->plan.products[p].carry, s->plan.products[p].node, false);
  for (uint32_t r = 0; r < s->plan.num_reductions; r++)
    combine(e, s, s->plan.reductions[r].carry, s->plan.reductions[r].node, false);
  DirectLoop side;
  if (s->part == DIRECT_MAIN && mirage__direct_loop(&e->block, s->loop, DIRECT_SIDE, &side))
    for (uint32_t p = 0; p < side.num_products; p++)
      combine(e, s, side.products[p].carry, side.products[p].node, true);
}

static void emit_stream(Emit *e, int32_t loop, DirectPart part, LLVMValueRef first, int64_t range) {
  MirageNode node = e->block.loops[loop].node;
  Stream s = {.part = part,
              .loop = loop,
              .range = range,
              .first = first,
              .view = mirage_ugraph_node(e->block.graph, node),
              .g = mirage__div(e, e->lane, 4),
              .t = mirage__mod(e, e->lane, 4)};
  mirage__direct_loop(&e->block, loop, part, &s.plan);
  e->loops[loop] = (LoopState){0};
  mirage__begin_operation(e);
  for (uint32_t g = 0; g < s.plan.num_groups; g++)
    mirage__will_read(e, s.plan.groups[g].activation);
  for (uint32_t p = 0; p < s.plan.num_products; p++)
    if (s.plan.products[p].scale.index)
      mirage__will_read(e, s.plan.products[p].scale);
  for (uint32_t r = 0; r < s.plan.num_reductions; r++)
    mirage__will_read(e, s.plan.reductions[r].operand);
  if (!create_registers(e, &s))
    return;
  run_loop(e, &s);
  leave_results(e, &s);
}

void mirage__emit_direct_loop(Emit *e, MirageNode node) {
  int32_t loop = mirage__block_find_loop(&e->block, node);
  const BlockLoop *l = &e->block.loops[loop];
  emit_stream(e, loop, l->side ? DIRECT_MAIN : DIRECT_WHOLE, gpu_i32(&e->gpu, 0), l->range);
}

void mirage__emit_side_loop(Emit *e, int32_t loop, LLVMValueRef first, int64_t range) {
  emit_stream(e, loop, DIRECT_SIDE, first, range);
}
