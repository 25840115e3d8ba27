// codegen_columns.c - weights [k, n] that go straight from device memory to the matrix instruction (codegen_direct.c).
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
// Order:  fetch(first) ..  (multiply, fetch(next))*  multiply ..   What a step needs travels through the back edge of the
//         loop in registers. So all its loads are issued together: inside one iteration the assembler would rather
//         spare registers and wait for the first loads before it issues the last. Where a step is few bytes, several
//         are under way (DirectLoop.ahead), each in a bank of registers of its own.
#include "stream.h"

enum { STEP = 32, ROWS = 8 };

// Steps of this warp in an iteration.
static int32_t steps_of(const Emit *e, const Stream *s) { return (int32_t)(s->plan.k / STEP) / (e->threads / 32); }

bool mirage__column_registers(Emit *e, Stream *s) {
  for (uint32_t g = 0; g < s->plan.num_groups; g++) {
    const DirectGroup *group = &s->plan.groups[g];
    for (int32_t i = 0; i < s->plan.ahead; i++)
      s->banks[i].words[g] = mirage__stream_variables(e, group->pieces * ROWS * stream_words(group), e->gpu.i32);
    s->groups[g].cells = mirage__stream_zeros(e, group->accumulators);
    if (mirage__stream_is_scaled(s, g))
      s->groups[g].part = mirage__stream_variables(e, 4 * s->plan.col_units, e->gpu.f32);
  }
  for (uint32_t i = 0; i < s->plan.num_reductions; i++) {
    s->sums[i] = mirage__stream_variables(e, s->plan.col_units, e->gpu.f32);
    MirageOp op = mirage_ugraph_node(e->block.graph, s->plan.reductions[i].node).op;
    for (int32_t j = 0; e->status == MIRAGE_OK && j < s->plan.col_units; j++)
      mirage__set(e, s->sums[i][j], mirage__reduce_neutral(e, op));
  }
  return e->status == MIRAGE_OK;
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
  for (int32_t j = 0; j < s->plan.col_units; j++)
    at.row[j] = mirage__stream_row(e, s, j);
  return at;
}

// The four pairs of x[row][8 t .. 8 t + 7].
static void activations(Emit *e, Stream *s, uint32_t group, const Place *at, int32_t unit, LLVMValueRef *pairs) {
  LLVMValueRef values[ROWS];
  mirage__stream_activations(e, &s->plan.groups[group], at->group, at->row[unit], at->k, values);
  for (int p = 0; p < ROWS / 2; p++)
    pairs[p] = mirage__pack_pair(e, s->plan.groups[group].dtype, values[2 * p], values[2 * p + 1]);
}

// The step's part of a row's sum (or maximum).
static LLVMValueRef reduce(Emit *e, Stream *s, uint32_t reduction, const Place *at, int32_t unit, LLVMValueRef sum) {
  return mirage__stream_reduce(e, &s->plan.reductions[reduction], at->group, at->row[unit], at->k, sum);
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
    mirage__stream_scales(e, s, &s->plan.products[p], &at, NULL);
  e->tape = NULL;
  mirage__stream_fetch(e, s, &at);
  e->in_order = false;
  mirage__forget_elements(e);
}

// ------------------------------------------------------------------------------------------------------------ multiply

// Registers of the 16-row operand: columns 2 u + r % 2, rows 4 h + 2 (r / 2) and the next.
static void fragment(Emit *e, const DirectGroup *g, const LLVMValueRef *words, int32_t u, int h, LLVMValueRef *out) {
  int32_t per_row = stream_words(g), word = 2 * u * (int32_t)mirage_dtype_bits(g->stored) / 32;
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
  int32_t per_lane = stream_units(g), units = s->plan.col_units;
  LLVMValueRef *cells = s->groups[group].cells + 4 * unit * units, *part = s->groups[group].part;
  for (int32_t i = 0; part && i < 4 * units; i++)
    mirage__set(e, part[i], gpu_f32(&e->gpu, 0));
  for (int h = 0; h < 2; h++) {
    LLVMValueRef p[4];
    fragment(e, g, s->bank->words[group] + unit / per_lane * ROWS * stream_words(g), unit % per_lane, h, p);
    for (int32_t j = 0; j < units; j++)
      mirage__mma_multiply(e, g->dtype, g->dtype, p, pairs[j] + 2 * h, (part ? part : cells) + 4 * j);
  }
  for (int32_t j = 0; part && j < units; j++)
    add_scaled(e, part + 4 * j, factors + 4 * (unit * units + j), cells + 4 * j);
}

static void multiply_group(Emit *e, Stream *s, uint32_t group, LLVMValueRef (*pairs)[ROWS / 2],
                           const LLVMValueRef *factors) {
  const DirectGroup *g = &s->plan.groups[group];
  for (int32_t i = 0; i < g->pieces * stream_units(g); i++)
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
    mirage__stream_scales(e, s, &s->plan.products[p], &at, factors[s->plan.products[p].group]);
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
void mirage__stream_columns(Emit *e, Stream *s) {
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
