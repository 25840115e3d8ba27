// direct_rows.c - loops that stream weights which lie as [n, k], a row for each output (direct.c, codegen_rows.c).
//
// A lane takes `lane_k` neighbours of a row, 16 bytes where they divide it: 8 of 16-bit numbers, 16 of bytes, 32 of half bytes.
// Four lanes make a step. Steps of all iterations are divided among the warps, so a step may be long where iterations are short.
//
// The activations are what all warps need of them, and every lane needs as many as it has weights: all threads compute them once
// before the loop, into shared memory and in the order in which lanes read them, with what the loop reduces beside. The first
// steps of the weights are on their way meanwhile.
#include "block.h"

enum {
  STEP_LANES = 4,
  LEAST_LANE = 8,
  UNIT = 16,
  WORD_REGISTERS = 48,
  MOST_PREPARED = 32768,
  SCALED_AHEAD = 2,
  LANE_REGISTERS = 100,
  ROW_PAD = 64
};

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int32_t mirage__direct_lane(int64_t group_k, int64_t whole_k, uint32_t bits, int32_t warps) {
  for (int32_t lane = 128 / (int32_t)bits; lane >= LEAST_LANE; lane /= 2)
    if (group_k % (STEP_LANES * lane) == 0 && whole_k % ((int64_t)STEP_LANES * lane * warps) == 0)
      return lane;
  return 0;
}

int32_t mirage__direct_row_words(int64_t columns, uint32_t bits, int32_t lane_k) {
  return (int32_t)(2 * ceil_div(columns, UNIT) * lane_k * bits / 32);
}

// Accumulators: weights of half bytes have two kinds.
static int32_t sums_of(int64_t rows, int64_t columns, uint32_t bits) {
  return (int32_t)(4 * ceil_div(columns, UNIT) * ceil_div(rows, 8)) * (bits < 8 ? 2 : 1);
}

int32_t mirage__direct_row_registers(int64_t rows, int64_t columns, uint32_t bits, int32_t lane_k) {
  int32_t registers = mirage__direct_row_words(columns, bits, lane_k) + sums_of(rows, columns, bits);
  return rows <= 8 * MAX_DIRECT_UNITS && registers <= LANE_REGISTERS ? registers : 0;
}

// A power of two.
int32_t mirage__direct_row_ahead(int32_t words, int64_t steps) {
  int32_t ahead = 1;
  while (2 * ahead * words <= WORD_REGISTERS && 2 * ahead <= MAX_DIRECT_AHEAD && 2 * ahead <= steps)
    ahead *= 2;
  return ahead;
}

const char *mirage__direct_rows(const Block *block, int32_t loop, DirectLoop *direct) {
  int32_t warps = mirage__team_workers(&block->team) ? mirage__team_workers(&block->team) : DIRECT_WARPS;
  uint32_t narrowest = 16;
  int32_t words = 0, sums = 0;
  for (uint32_t g = 0; g < direct->num_groups; g++) {
    uint32_t bits = mirage_dtype_bits(direct->groups[g].stored);
    narrowest = bits < narrowest ? bits : narrowest;
  }
  direct->whole_k = direct->k * block->loops[loop].range;
  direct->lane_k = mirage__direct_lane(direct->group_k, direct->whole_k, narrowest, warps);
  if (!direct->lane_k)
    return "the rows of its weights are no whole steps of 32 for each warp";
  for (uint32_t g = 0; g < direct->num_groups; g++) {
    uint32_t bits = mirage_dtype_bits(direct->groups[g].stored);
    words += mirage__direct_row_words(direct->groups[g].columns, bits, direct->lane_k);
    sums += sums_of(direct->m, direct->groups[g].columns, bits);
  }
  if (words + sums > LANE_REGISTERS)
    return "its warps lack registers for so many outputs";
  direct->ahead = mirage__direct_row_ahead(words, direct->whole_k / (STEP_LANES * direct->lane_k) / warps);
  direct->prepared = true;
  return NULL;
}

// Of half bytes so many come with few bytes that a lane would compute activations for longer than it multiplies.
void mirage__direct_half_bytes(const Block *block, int32_t loop, DirectLoop *direct) {
  int32_t warps = mirage__team_workers(&block->team) ? mirage__team_workers(&block->team) : DIRECT_WARPS, words = 0;
  int64_t whole = direct->k * block->loops[loop].range;
  for (uint32_t g = 0; g < direct->num_groups; g++) {
    const DirectGroup *group = &direct->groups[g];
    if (group->stored != MIRAGE_I4)
      return;
    words += group->pieces * LEAST_LANE * (group->lane_columns < 8 ? 1 : group->lane_columns / 8);
  }
  if (whole % ((int64_t)STEP_LANES * LEAST_LANE * warps) || direct->m * whole > MOST_PREPARED)
    return;
  bool scaled = false;
  for (uint32_t p = 0; p < direct->num_products; p++) {
    if (direct->products[p].side && direct->num_products > 1)
      return;
    scaled |= direct->products[p].scale.index != 0;
  }
  direct->whole_k = whole;
  direct->lane_k = LEAST_LANE;
  direct->prepared = true;
  direct->ahead = mirage__direct_row_ahead(words, whole / (STEP_LANES * LEAST_LANE) / warps);
  if (scaled && direct->ahead > SCALED_AHEAD) // factors take registers
    direct->ahead = SCALED_AHEAD;
}

// --------------------------------------------------------------------------------------------------------- activations

static DirectPrepared prepare(int64_t rows, int64_t whole_k, int32_t lane_k, int64_t at) {
  DirectPrepared out = {.values = at, .pitch = 2 * whole_k + ROW_PAD};
  out.steps = whole_k / (STEP_LANES * lane_k);
  out.sums = at + rows * out.pitch;
  out.end = out.sums + ceil_div(rows * out.steps * 4, 16) * 16;
  return out;
}

int64_t mirage__direct_row_bytes(int64_t rows, int64_t whole_k, int32_t lane_k) {
  return prepare(rows, whole_k, lane_k, 0).end;
}

int64_t mirage__direct_prepared_bytes(const DirectLoop *direct) {
  int64_t bytes = 0;
  for (uint32_t g = 0; g < direct->num_groups && direct->prepared; g++)
    bytes = prepare(direct->m, direct->whole_k, direct->lane_k, bytes).end;
  return bytes;
}

// Of the direct loops before `end`.
static int64_t bytes_before(const Block *block, int32_t end) {
  int64_t bytes = 0;
  DirectLoop direct;
  for (int32_t l = 0; l < end; l++)
    if (block->loops[l].direct && mirage__direct_loop(block, l, DIRECT_WHOLE, &direct))
      bytes += mirage__direct_prepared_bytes(&direct);
  return bytes;
}

int64_t mirage__block_prepared_bytes(const Block *block) { return bytes_before(block, block->num_loops); }

DirectPrepared mirage__direct_prepared(const Block *block, int32_t loop, uint32_t group) {
  DirectPrepared out = {0};
  DirectLoop direct;
  int64_t at = mirage__block_staging_offset(block) + mirage__block_staging_bytes(block) + bytes_before(block, loop);
  if (mirage__direct_loop(block, loop, DIRECT_WHOLE, &direct))
    for (uint32_t g = 0; g <= group; g++, at = out.end)
      out = prepare(direct.m, direct.whole_k, direct.lane_k, at);
  return out;
}
