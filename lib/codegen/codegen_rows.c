// codegen_rows.c - weights [n, k], a row for each output, that go straight from device memory to the matrix instruction
// (codegen_direct.c, lib/layout/direct_rows.c).
//
// The weight is the 16-row operand as it lies. In a step of 4 lane_k neighbours along the contraction, lane 4 g + t loads
// lane_k of rows 16 u + 2 g and 16 u + 2 g + 1, for each unit u, at lane_k t: 16 bytes a row. The order of the contraction
// inside a fragment is free, so eight neighbours of a lane, a chunk, are two products' share of that lane:
//
//   fragment rows g and g + 8     rows 16 u + 2 g and 16 u + 2 g + 1
//   pairs 2 t, 2 t + 8 of product h = 0, 1     neighbours order[4 h + (0, 1)] and order[4 h + (2, 3)] of the chunk (RowFormat)
//
// Columns of half bytes are done the same way, with chunks of eight rows as in codegen_columns.c: there lane_k is 8.
//
// Activations lie in shared memory as pairs in that order, chunk by chunk, the four lanes t side by side: a lane reads 16 bytes
// for each chunk, and lanes g of one activation row the same ones.
//
// Order:  fetch(first) ..  prepare  (multiply, fetch(next))*  multiply ..
//         What activations are computed from is loaded before the first weights, and used behind them. A step is numbered over all
//         iterations of the loop, step u of warp u % warps.
#include "stream.h"

enum { CHUNK = 8, LANES = 4, PAIRS = 4, FEW_CHUNKS = 2 };

static int32_t step_of(const Stream *s) { return LANES * s->plan.lane_k; }

static int32_t warps_of(const Emit *e) { return e->threads / 32; }

// Steps of this warp.
static int64_t steps_of(const Emit *e, const Stream *s) { return s->range * s->plan.k / step_of(s) / warps_of(e); }

static RowFormat format_of(const Stream *s, const DirectGroup *g) {
  return s->plan.rows ? mirage__row_format(g->stored, g->dtype) : mirage__column_format(g->stored, g->dtype);
}

// Of one row of a lane, of which a piece has two, or the eight of a chunk.
static int32_t row_words(const Stream *s, const DirectGroup *g) {
  return mirage__raw_words(g->stored, s->plan.rows ? s->plan.lane_k : g->lane_columns);
}

static int32_t rows_of(const Stream *s) { return s->plan.rows ? 2 : CHUNK; }

// ----------------------------------------------------------------------------------------------------------- registers

static void clear(Emit *e, LLVMValueRef *variables, int32_t count) {
  for (int32_t i = 0; e->status == MIRAGE_OK && i < count; i++)
    mirage__set(e, variables[i], gpu_f32(&e->gpu, 0));
}

bool mirage__row_registers(Emit *e, Stream *s) {
  for (uint32_t g = 0; g < s->plan.num_groups; g++) {
    const DirectGroup *group = &s->plan.groups[g];
    RowFormat format = format_of(s, group);
    Registers *r = &s->groups[g];
    bool scaled = mirage__stream_is_scaled(s, g), exact = format.factor[0] == 1 && format.offset == 0;
    for (int32_t i = 0; i < s->plan.ahead; i++)
      s->banks[i].words[g] = mirage__stream_variables(e, group->pieces * rows_of(s) * row_words(s, group), e->gpu.i32);
    r->cells = mirage__stream_zeros(e, group->accumulators);
    r->raw[0] = exact && !scaled ? r->cells : mirage__stream_zeros(e, group->accumulators);
    r->raw[1] = !s->plan.rows || format.factor[0] == format.factor[1] ? r->raw[0]
                                                                      : mirage__stream_zeros(e, group->accumulators);
    r->totals = format.offset != 0 ? mirage__stream_zeros(e, 2 * s->plan.col_units) : NULL;
  }
  for (uint32_t i = 0; i < s->plan.num_reductions; i++)
    s->sums[i] = mirage__stream_variables(e, 1, e->gpu.f32);
  return e->status == MIRAGE_OK;
}

// ------------------------------------------------------------------------------------------------------------- prepare

// Eight neighbours of an activation row, from `k` on over all iterations.
typedef struct Chunk {
  LLVMValueRef row, k;
  Place at;
} Chunk;

// The place of contraction index `k`, over all iterations, in its iteration and group.
static void go_to(Emit *e, Stream *s, LLVMValueRef k, Place *at) {
  e->loops[s->loop].iteration = mirage__add(e, s->first, mirage__div(e, k, s->plan.k));
  mirage__forget_elements(e);
  k = mirage__mod(e, k, s->plan.k);
  at->group = s->plan.group_k < s->plan.k ? mirage__div(e, k, s->plan.group_k) : NULL;
  at->k = at->group ? mirage__mod(e, k, s->plan.group_k) : k;
}

static LLVMValueRef in_prepared(Emit *e, LLVMValueRef row, int64_t pitch, LLVMValueRef at, int64_t begin) {
  LLVMValueRef offset = mirage__add(e, mirage__add(e, mirage__mul(e, row, pitch), at), gpu_i32(&e->gpu, begin));
  return mirage__at(e, e->shared, offset);
}

// Where a chunk lies in its row: step by step, chunk by chunk of a lane, lane by lane.
static LLVMValueRef chunk_offset(Emit *e, const Stream *s, LLVMValueRef k) {
  LLVMValueRef step = mirage__div(e, k, step_of(s)), in_step = mirage__mod(e, k, step_of(s));
  LLVMValueRef lane = mirage__div(e, in_step, s->plan.lane_k);
  LLVMValueRef chunk = mirage__div(e, mirage__mod(e, in_step, s->plan.lane_k), CHUNK);
  LLVMValueRef at = mirage__add(e, mirage__mul(e, chunk, LANES), lane);
  return mirage__add(e, mirage__mul(e, step, 2 * step_of(s)), mirage__mul(e, at, 2 * CHUNK));
}

// The sum of a step's activations, of which the chunks are those of neighbouring lanes.
static void leave_total(Emit *e, Stream *s, const DirectPrepared *to, MirageDType dtype, const Chunk *chunk,
                        const LLVMValueRef *values) {
  LLVMValueRef sum = mirage__round_to(e, dtype, values[0]);
  for (int i = 1; i < CHUNK; i++)
    sum = LLVMBuildFAdd(e->gpu.builder, sum, mirage__round_to(e, dtype, values[i]), "");
  sum = mirage__reduce_lanes(e, MIRAGE_OP_REDUCE_SUM, sum, step_of(s) / CHUNK);
  LLVMValueRef first = mirage__equals(e, mirage__mod(e, chunk->k, step_of(s)), 0);
  LLVMBasicBlockRef join = mirage__begin_if(e, first);
  LLVMValueRef step = mirage__mul(e, mirage__div(e, chunk->k, step_of(s)), 4);
  mirage__gpu_store_shared(&e->gpu, sum, in_prepared(e, chunk->row, 4 * to->steps, step, to->sums));
  mirage__end_if(e, join);
}

static void leave_chunk(Emit *e, Stream *s, uint32_t group, const Chunk *chunk, const LLVMValueRef *values) {
  const DirectGroup *g = &s->plan.groups[group];
  DirectPrepared to = mirage__direct_prepared(&e->block, s->loop, group);
  RowFormat format = format_of(s, g);
  LLVMValueRef words = LLVMGetUndef(LLVMVectorType(e->gpu.i32, PAIRS));
  for (int p = 0; p < PAIRS; p++) {
    LLVMValueRef pair = mirage__pack_pair(e, g->dtype, values[format.order[2 * p]], values[format.order[2 * p + 1]]);
    words = LLVMBuildInsertElement(e->gpu.builder, words, pair, gpu_i32(&e->gpu, p), "");
  }
  mirage__gpu_store_shared(&e->gpu, words,
                           in_prepared(e, chunk->row, to.pitch, chunk_offset(e, s, chunk->k), to.values));
  if (format.offset != 0)
    leave_total(e, s, &to, g->dtype, chunk, values);
}

// One chunk for each thread, and what it adds to the row's sums; `sums` NULL: only what that loads.
static void prepare_chunk(Emit *e, Stream *s, const Chunk *chunk, LLVMValueRef *sums) {
  Place at;
  go_to(e, s, chunk->k, &at);
  for (uint32_t g = 0; g < s->plan.num_groups; g++) {
    LLVMValueRef values[CHUNK];
    mirage__stream_activations(e, &s->plan.groups[g], at.group, chunk->row, at.k, values);
    if (sums)
      leave_chunk(e, s, g, chunk, values);
  }
  for (uint32_t r = 0; r < s->plan.num_reductions; r++) {
    LLVMValueRef sum = sums ? mirage__get(e, sums[r]) : gpu_f32(&e->gpu, 0);
    sum = mirage__stream_reduce(e, &s->plan.reductions[r], at.group, chunk->row, at.k, sum);
    if (sums)
      mirage__set(e, sums[r], sum);
  }
  mirage__forget_elements(e);
}

// Thread t takes chunks t, t + threads, .. of a row: whole warps do, since a row has a multiple of 32 chunks.
static void prepare_row(Emit *e, Stream *s, LLVMValueRef row, LLVMValueRef *sums) {
  int64_t chunks = s->range * s->plan.k / CHUNK, full = chunks / e->threads;
  Chunk chunk = {.row = row};
  for (int64_t i = 0; i * e->threads < chunks; i++) {
    LLVMValueRef item = mirage__add(e, e->thread, gpu_i32(&e->gpu, i * e->threads));
    LLVMBasicBlockRef join = mirage__begin_if(e, i < full ? NULL : mirage__less_than(e, item, chunks));
    chunk.k = mirage__mul(e, item, CHUNK);
    prepare_chunk(e, s, &chunk, sums);
    mirage__end_if(e, join);
  }
}

// The same with the row's sums, which lane `row` of the warp keeps.
static void sum_row(Emit *e, Stream *s, LLVMValueRef row) {
  LLVMValueRef *sums = mirage__stream_variables(e, (int32_t)s->plan.num_reductions + 1, e->gpu.f32);
  for (uint32_t r = 0; e->status == MIRAGE_OK && r < s->plan.num_reductions; r++) {
    MirageOp op = mirage_ugraph_node(e->block.graph, s->plan.reductions[r].node).op;
    mirage__set(e, sums[r], mirage__reduce_neutral(e, op));
  }
  if (e->status != MIRAGE_OK)
    return;
  prepare_row(e, s, row, sums);
  LLVMValueRef mine = LLVMBuildICmp(e->gpu.builder, LLVMIntEQ, e->lane, row, "");
  for (uint32_t r = 0; r < s->plan.num_reductions; r++) {
    MirageOp op = mirage_ugraph_node(e->block.graph, s->plan.reductions[r].node).op;
    LLVMValueRef sum = mirage__reduce_lanes(e, op, mirage__get(e, sums[r]), 32);
    mirage__set(e, s->sums[r][0], mirage__select(e, mine, sum, mirage__get(e, s->sums[r][0])));
  }
}

// Few chunks of a thread: what they are computed from is loaded ahead.
static bool is_short(const Emit *e, const Stream *s) {
  int64_t chunks = s->range * s->plan.k / CHUNK;
  return s->plan.m * ((chunks + e->threads - 1) / e->threads) <= FEW_CHUNKS;
}

static void prepare(Emit *e, Stream *s) {
  if (is_short(e, s)) {
    for (int64_t row = 0; row < s->plan.m; row++)
      sum_row(e, s, gpu_i32(&e->gpu, row));
  } else {
    Repeat repeat = mirage__begin_repeat(e, s->plan.m);
    sum_row(e, s, repeat.index);
    mirage__end_repeat(e, &repeat);
  }
}

// --------------------------------------------------------------------------------------------------------------- steps

// Step `step` of this warp among all steps of the loop.
static LLVMValueRef number_of(Emit *e, LLVMValueRef step) {
  return mirage__add(e, mirage__mul(e, step, warps_of(e)), e->warp);
}

static Place begin_step(Emit *e, Stream *s, LLVMValueRef number) {
  Place at;
  go_to(e, s, mirage__mul(e, number, step_of(s)), &at);
  at.k = mirage__add(e, at.k, mirage__mul(e, s->t, s->plan.lane_k));
  for (int32_t j = 0; j < s->plan.col_units; j++)
    at.row[j] = mirage__stream_row(e, s, j);
  return at;
}

static void find_load(void *user, MirageValue leaf) {
  const Emit *e = ((void **)user)[0];
  bool *found = ((void **)user)[1];
  *found |= mirage__block_op(&e->block, leaf) == MIRAGE_OP_LOAD && !emit_is_shared(e, leaf);
}

// Whether scales come from device memory, and not out of shared memory, where the first of them may not yet be.
static bool loads_scales(Emit *e, const DirectProduct *product) {
  bool found = false;
  void *user[] = {e, &found};
  if (product->scale.index)
    mirage__block_leaves(&e->block, product->scale, find_load, user);
  return found;
}

// Loads a step into registers.
static void fetch(Emit *e, Stream *s, LLVMValueRef step) {
  Place at = begin_step(e, s, number_of(e, step));
  e->in_order = true;
  s->bank->tape.next = 0;
  s->bank->tape.playing = false;
  e->tape = &s->bank->tape;
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    if (loads_scales(e, &s->plan.products[p]))
      mirage__stream_scales(e, s, &s->plan.products[p], &at, NULL);
  e->tape = NULL;
  mirage__stream_fetch(e, s, &at);
  e->in_order = false;
  mirage__forget_elements(e);
}

// The four pairs of a chunk, of the activation row that this lane has in column unit j.
static void pairs_of(Emit *e, const Stream *s, const DirectPrepared *from, LLVMValueRef number, const Place *at,
                     int32_t j, int32_t chunk, LLVMValueRef *pairs) {
  LLVMValueRef place = mirage__add(e, mirage__mul(e, number, 2 * step_of(s)), mirage__mul(e, s->t, 2 * CHUNK));
  int64_t begin = from->values + (int64_t)chunk * LANES * 2 * CHUNK;
  LLVMValueRef words = mirage__gpu_load_shared(&e->gpu, LLVMVectorType(e->gpu.i32, PAIRS),
                                               in_prepared(e, at->row[j], from->pitch, place, begin));
  for (int p = 0; p < PAIRS; p++)
    pairs[p] = LLVMBuildExtractElement(e->gpu.builder, words, gpu_i32(&e->gpu, p), "");
}

// One chunk of all units.
static void multiply_chunk(Emit *e, Stream *s, uint32_t group, int32_t chunk, LLVMValueRef (*pairs)[PAIRS]) {
  const DirectGroup *g = &s->plan.groups[group];
  const Registers *r = &s->groups[group];
  int32_t units = s->plan.col_units, per_row = row_words(s, g), bits = (int32_t)mirage_dtype_bits(g->stored);
  for (int32_t unit = 0; unit < g->pieces; unit++) {
    LLVMValueRef words[2][PAIRS], p[4];
    for (int row = 0; row < 2; row++)
      for (int32_t i = 0; i < CHUNK * bits / 32; i++)
        words[row][i] =
            mirage__get(e, s->bank->words[group][(2 * unit + row) * per_row + chunk * CHUNK * bits / 32 + i]);
    for (int h = 0; h < 2; h++) {
      for (int i = 0; i < 4; i++)
        p[i] = mirage__dequant_row(e, g->stored, g->dtype, words[i % 2], 2 * h + i / 2);
      for (int32_t j = 0; j < units; j++)
        mirage__mma_multiply(e, g->dtype, g->dtype, p, pairs[j] + 2 * h, r->raw[h] + 4 * (unit * units + j));
    }
  }
}

// The same of columns: eight rows of weights, the chunk of this lane.
static void multiply_columns(Emit *e, Stream *s, uint32_t group, LLVMValueRef (*pairs)[PAIRS]) {
  const DirectGroup *g = &s->plan.groups[group];
  int32_t per_row = row_words(s, g), each = stream_units(g), units = s->plan.col_units;
  for (int32_t unit = 0; unit < g->pieces * each; unit++) {
    LLVMValueRef *words = s->bank->words[group] + unit / each * CHUNK * per_row, p[4];
    int32_t column = 2 * (unit % each), word = column * (int32_t)mirage_dtype_bits(g->stored) / 32;
    for (int h = 0; h < 2; h++) {
      for (int i = 0; i < 4; i++) {
        int row = 4 * h + i / 2 * 2;
        LLVMValueRef low = mirage__get(e, words[row * per_row + word]);
        LLVMValueRef high = mirage__get(e, words[(row + 1) * per_row + word]);
        p[i] = mirage__dequant_column(e, g->dtype, low, high, (column + i % 2) % 8);
      }
      for (int32_t j = 0; j < units; j++)
        mirage__mma_multiply(e, g->dtype, g->dtype, p, pairs[j] + 2 * h,
                             s->groups[group].raw[0] + 4 * (unit * units + j));
    }
  }
}

// The sums of the step's activations, rows 8 j + 2 t and the next; of rows beyond the last that of row 0.
static void totals_of(Emit *e, const Stream *s, const DirectPrepared *from, LLVMValueRef number, LLVMValueRef *out) {
  for (int32_t i = 0; i < 2 * s->plan.col_units; i++) {
    LLVMValueRef row = mirage__add(e, mirage__mul(e, s->t, 2), gpu_i32(&e->gpu, 8 * (i / 2) + i % 2));
    if (s->plan.m < 8 * (i / 2) + 8)
      row = mirage__select(e, mirage__less_than(e, row, s->plan.m), row, gpu_i32(&e->gpu, 0));
    LLVMValueRef address = in_prepared(e, row, 4 * from->steps, mirage__mul(e, number, 4), from->sums);
    out[i] = mirage__gpu_load_shared(&e->gpu, e->gpu.f32, address);
  }
}

// What cell i of the group has summed, as it would be of the weights themselves.
static LLVMValueRef corrected(Emit *e, const Stream *s, uint32_t group, const LLVMValueRef *totals, int32_t i) {
  RowFormat format = format_of(s, &s->plan.groups[group]);
  const Registers *r = &s->groups[group];
  LLVMValueRef sum = mirage__get(e, r->raw[0][i]), odd = totals ? totals[i / 4 % s->plan.col_units * 2 + i % 2] : NULL;
  LLVMValueRef base = odd ? LLVMBuildFMul(e->gpu.builder, odd, gpu_f32(&e->gpu, -format.offset), "") : NULL;
  if (r->raw[1] != r->raw[0]) {
    LLVMValueRef second = mirage__get(e, r->raw[1][i]);
    base = GPU(&e->gpu, FMA, second, gpu_f32(&e->gpu, format.factor[1]), base);
  }
  double factor = format.factor[s->plan.rows ? 0 : i % 4 / 2]; // of columns, the even and the odd ones
  return base ? GPU(&e->gpu, FMA, sum, gpu_f32(&e->gpu, factor), base) : sum;
}

// Where there are factors, a step's products are summed by themselves.
static void multiply_group(Emit *e, Stream *s, uint32_t group, LLVMValueRef number, const Place *at,
                           const LLVMValueRef *factors) {
  const DirectGroup *g = &s->plan.groups[group];
  const Registers *r = &s->groups[group];
  DirectPrepared from = mirage__direct_prepared(&e->block, s->loop, group);
  LLVMValueRef pairs[MAX_DIRECT_UNITS][PAIRS], totals[2 * MAX_DIRECT_UNITS];
  bool scaled = mirage__stream_is_scaled(s, group);
  if (scaled) {
    clear(e, r->raw[0], g->accumulators);
    clear(e, r->raw[1], g->accumulators);
  }
  for (int32_t chunk = 0; chunk < s->plan.lane_k / CHUNK; chunk++) {
    for (int32_t j = 0; j < s->plan.col_units; j++)
      pairs_of(e, s, &from, number, at, j, chunk, pairs[j]);
    if (s->plan.rows)
      multiply_chunk(e, s, group, chunk, pairs);
    else
      multiply_columns(e, s, group, pairs);
  }
  if (r->totals)
    totals_of(e, s, &from, number, totals);
  for (int32_t i = 0; !scaled && r->totals && i < 2 * s->plan.col_units; i++)
    mirage__set(e, r->totals[i], LLVMBuildFAdd(e->gpu.builder, mirage__get(e, r->totals[i]), totals[i], ""));
  for (int32_t i = 0; scaled && i < g->accumulators; i++)
    if (factors[i]) {
      LLVMValueRef sum = corrected(e, s, group, r->totals ? totals : NULL, i);
      mirage__set(e, r->cells[i], GPU(&e->gpu, FMA, sum, factors[i], mirage__get(e, r->cells[i])));
    }
}

// What fetch loaded for the same step.
static void multiply(Emit *e, Stream *s, LLVMValueRef step) {
  LLVMValueRef number = number_of(e, step), *factors[MAX_DIRECT_CARRIES] = {0};
  Place at = begin_step(e, s, number);
  for (uint32_t g = 0; g < s->plan.num_groups; g++)
    factors[g] = mirage__emit_array(e, (size_t)s->plan.groups[g].accumulators, sizeof(LLVMValueRef));
  if (e->status != MIRAGE_OK)
    return;
  s->bank->tape.next = 0;
  s->bank->tape.playing = true;
  e->tape = &s->bank->tape;
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    mirage__stream_scales(e, s, &s->plan.products[p], &at, factors[s->plan.products[p].group]);
  e->tape = NULL;
  mirage__forget_elements(e);
  for (uint32_t g = 0; g < s->plan.num_groups; g++)
    multiply_group(e, s, g, number, &at, factors[g]);
}

// ---------------------------------------------------------------------------------------------------------------- loop

static void at_step(Emit *e, Stream *s, LLVMValueRef begin, int64_t step,
                    void (*emit)(Emit *, Stream *, LLVMValueRef)) {
  s->bank = &s->banks[step % s->plan.ahead];
  emit(e, s, mirage__add(e, begin, gpu_i32(&e->gpu, step)));
}

// Of an unscaled group the cells, when all steps are summed.
static void finish(Emit *e, Stream *s) {
  for (uint32_t g = 0; g < s->plan.num_groups; g++) {
    const Registers *r = &s->groups[g];
    LLVMValueRef totals[2 * MAX_DIRECT_UNITS];
    if (mirage__stream_is_scaled(s, g) || r->raw[0] == r->cells)
      continue;
    for (int32_t i = 0; r->totals && i < 2 * s->plan.col_units; i++)
      totals[i] = mirage__get(e, r->totals[i]);
    for (int32_t i = 0; i < s->plan.groups[g].accumulators; i++)
      mirage__set(e, r->cells[i], corrected(e, s, g, r->totals ? totals : NULL, i));
  }
}

// Step `step` of the next tile, into the bank that is free.
static void fetch_next(Emit *e, Stream *s, int64_t step) {
  NextTile next = mirage__begin_next_tile(e);
  at_step(e, s, gpu_i32(&e->gpu, 0), step, fetch);
  mirage__end_next_tile(e, &next);
}

// Where the steps divide into rounds, each of the last ones is followed by the next tile's that takes its bank.
static void run_steps(Emit *e, Stream *s) {
  int64_t all = steps_of(e, s), ahead = s->plan.ahead, rounds = (all - ahead) / ahead;
  if (rounds > 0) {
    Repeat repeat = mirage__begin_repeat(e, rounds);
    LLVMValueRef begin = mirage__mul(e, repeat.index, ahead);
    for (int64_t i = 0; i < ahead; i++) {
      at_step(e, s, begin, i, multiply);
      at_step(e, s, begin, i + ahead, fetch);
      GPU0(&e->gpu, KEEP_ORDER);
    }
    mirage__end_repeat(e, &repeat);
  }
  int64_t rest = all - rounds * ahead;
  LLVMValueRef begin = gpu_i32(&e->gpu, rounds * ahead);
  for (int64_t i = 0; i < rest; i++) {
    at_step(e, s, begin, i, multiply);
    if (i + ahead < rest) {
      at_step(e, s, begin, i + ahead, fetch);
      GPU0(&e->gpu, KEEP_ORDER);
    } else if (e->tile && rest == ahead) {
      fetch_next(e, s, i);
      GPU0(&e->gpu, KEEP_ORDER);
    }
  }
  for (int64_t i = 0; e->tile && rest != ahead && i < ahead; i++)
    fetch_next(e, s, i);
}

// Activations, and the first steps of the first tile.
static void begin(Emit *e, Stream *s) {
  LLVMValueRef none = gpu_i32(&e->gpu, 0);
  bool ahead = is_short(e, s);
  Tape tape = {0};
  for (uint32_t r = 0; r < s->plan.num_reductions; r++) {
    MirageOp op = mirage_ugraph_node(e->block.graph, s->plan.reductions[r].node).op;
    mirage__set(e, s->sums[r][0], mirage__reduce_neutral(e, op));
  }
  for (uint32_t p = 0; p < s->plan.num_products; p++)
    if (loads_scales(e, &s->plan.products[p])) // what else it reads must be there
      mirage__will_read(e, s->plan.products[p].scale);
  if (ahead) {
    e->tape = &tape;
    e->in_order = true;
    for (int64_t row = 0; row < s->plan.m; row++)
      prepare_row(e, s, gpu_i32(&e->gpu, row), NULL);
    e->in_order = false;
    e->tape = NULL;
  }
  for (int32_t i = 0; i < s->plan.ahead; i++)
    at_step(e, s, none, i, fetch);
  mirage__stream_prefetch(e, s);
  GPU0(&e->gpu, KEEP_ORDER);
  tape.next = 0;
  tape.playing = true;
  e->tape = ahead ? &tape : NULL;
  prepare(e, s);
  e->tape = NULL;
  mirage__barrier(e);
}

void mirage__stream_rows(Emit *e, Stream *s) {
  LLVMBasicBlockRef join = mirage__begin_if(e, e->tile ? mirage__equals(e, e->turn, 0) : NULL);
  begin(e, s);
  mirage__end_if(e, join);
  mirage__stream_reads(e, s, false, true); // results may lie where it reads
  run_steps(e, s);
  finish(e, s);
}
