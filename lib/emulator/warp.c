// warp.c - what the 32 lanes of a warp do together: exchange, matrix fragments, the matrix instruction.
//
// Every lane brings its operands; the last to come computes for all and leaves each its results. Fragment layouts are
// PTX's: lane 4 g + t of mma.m16n8k16 holds a: (g, 2t..), (g + 8, 2t..), (g, 2t + 8..), (g + 8, 2t + 8..) by pairs,
// b: (2t.., g), (2t + 8.., g) by pairs, c and d: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
#include "machine.h"

#include <string.h>

static Meeting *warp_meeting(const Machine *m) { return &m->self->block->warps[m->self->thread / LANES]; }

// The running thread's warp: fibres of a block follow each other.
static Fibre *warp_lanes(const Machine *m) { return m->self - m->self->thread % LANES; }

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// ------------------------------------------------------------------------------------------------------------ shuffles

static void check_lanes(Machine *m, uint32_t op, uint32_t lanes, uint32_t clamp) {
  if (lanes != UINT32_MAX || clamp != LANES - 1)
    mirage__machine_fail(m, op, "a shuffle of lanes 0x%x below %u: whole warps are emulated", lanes, clamp);
}

// Every lane gets the word of lane words[1], which it has chosen.
static void exchange(Machine *m, Fibre *warp) {
  uint32_t result[LANES];
  for (uint32_t i = 0; i < LANES; i++)
    result[i] = warp[warp[i].words[1]].words[0];
  for (uint32_t i = 0; i < LANES; i++)
    warp[i].words[0] = result[i];
  if (m->order)
    mirage__clock_share_outside(m, warp, LANES); // order.c says why
}

static uint32_t shuffle(Machine *m, uint32_t op, uint32_t value, uint32_t lane) {
  Fibre *self = m->self;
  self->words[0] = value;
  self->words[1] = lane;
  if (mirage__meeting_join(m, warp_meeting(m), LANES, "a shuffle", op)) {
    exchange(m, warp_lanes(m));
    mirage__meeting_release(m, warp_meeting(m));
  }
  return self->words[0];
}

float mirage__warp_shuffle_xor(Machine *m, uint32_t op, uint32_t lanes, float value, uint32_t lane_mask,
                               uint32_t clamp) {
  check_lanes(m, op, lanes, clamp);
  if (lane_mask >= LANES)
    mirage__machine_fail(m, op, "a shuffle by %u: a warp has %u lanes", lane_mask, (unsigned)LANES);
  return as_float(shuffle(m, op, as_bits(value), m->self->thread % LANES ^ lane_mask));
}

uint32_t mirage__warp_shuffle_idx(Machine *m, uint32_t op, uint32_t lanes, uint32_t value, uint32_t lane,
                                  uint32_t clamp) {
  check_lanes(m, op, lanes, clamp);
  return shuffle(m, op, value, lane % LANES);
}

uint32_t mirage__warp_vote(Machine *m, uint32_t op, uint32_t lanes, bool value) {
  Fibre *self = m->self, *warp = warp_lanes(m);
  check_lanes(m, op, lanes, LANES - 1);
  self->words[0] = value;
  if (mirage__meeting_join(m, warp_meeting(m), LANES, "a vote", op)) {
    uint32_t votes = 0;
    for (uint32_t i = 0; i < LANES; i++)
      votes |= warp[i].words[0] << i;
    for (uint32_t i = 0; i < LANES; i++)
      warp[i].words[0] = votes;
    mirage__meeting_release(m, warp_meeting(m));
  }
  return self->words[0];
}

// ------------------------------------------------------------------------------------------------------------ ldmatrix

// Matrix i of `count`: row r is at the address of lane 8 i + r. Lane l gets two neighbours of row l / 4, or,
// transposed, of column l / 4.
static void load_matrices(Machine *m, uint32_t op, Fibre *warp, uint32_t count, bool transposed) {
  for (uint32_t i = 0; i < count; i++) {
    uint16_t rows[8][8];
    for (uint32_t r = 0; r < 8; r++) {
      const Fibre *lane = &warp[8 * i + r];
      memcpy(rows[r], mirage__memory_shared_row(m, op, warp, lane, lane->address), sizeof rows[r]);
    }
    for (uint32_t l = 0; l < LANES; l++) {
      uint32_t g = l / 4, t = l % 4 * 2;
      warp[l].words[i] =
          transposed ? rows[t][g] | (uint32_t)rows[t + 1][g] << 16 : rows[g][t] | (uint32_t)rows[g][t + 1] << 16;
    }
  }
}

void mirage__warp_ldmatrix(Machine *m, uint32_t op, uint64_t address, uint32_t count, bool transposed, uint32_t *out) {
  Fibre *self = m->self;
  self->address = address;
  if (mirage__meeting_join(m, warp_meeting(m), LANES, transposed ? "ldmatrix.trans" : "ldmatrix", op)) {
    load_matrices(m, op, warp_lanes(m), count, transposed);
    mirage__meeting_release(m, warp_meeting(m));
  }
  memcpy(out, self->words, count * sizeof *out);
}

// The inverse: element (r, c) of matrix i goes where the address of lane 8 i + r says.
static void store_matrices(Machine *m, uint32_t op, Fibre *warp, uint32_t count, bool transposed) {
  for (uint32_t i = 0; i < count; i++) {
    uint16_t rows[8][8];
    for (uint32_t l = 0; l < LANES; l++) {
      uint32_t g = l / 4, t = l % 4 * 2;
      *(transposed ? &rows[t][g] : &rows[g][t]) = (uint16_t)warp[l].words[i];
      *(transposed ? &rows[t + 1][g] : &rows[g][t + 1]) = (uint16_t)(warp[l].words[i] >> 16);
    }
    for (uint32_t r = 0; r < 8; r++) {
      const Fibre *lane = &warp[8 * i + r];
      memcpy(mirage__memory_shared_write_of(m, op, lane, lane->address, sizeof rows[r]), rows[r], sizeof rows[r]);
    }
  }
}

void mirage__warp_stmatrix(Machine *m, uint32_t op, uint64_t address, uint32_t count, bool transposed,
                           const uint32_t *words) {
  Fibre *self = m->self;
  self->address = address;
  memcpy(self->words, words, count * sizeof *words);
  if (mirage__meeting_join(m, warp_meeting(m), LANES, transposed ? "stmatrix.trans" : "stmatrix", op)) {
    store_matrices(m, op, warp_lanes(m), count, transposed);
    mirage__meeting_release(m, warp_meeting(m));
  }
}

// ---------------------------------------------------------------------------------------------------------------- mma

// f16 by its bits. Normal numbers: move the exponent; subnormal ones: let the subtraction normalise.
static float f16_to_float(uint32_t h) {
  uint32_t sign = (h & 0x8000) << 16, rest = h & 0x7fff;
  if (rest >= 0x7c00)
    return as_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest >= 0x400)
    return as_float(sign | ((rest << 13) + (112u << 23)));
  return as_float(sign | as_bits((float)rest * 0x1p-24f));
}

void mirage__warp_unpack(MmaType type, uint32_t word, float *low, float *high) {
  *low = type == MMA_F16 ? f16_to_float(word & 0xffff) : as_float(word << 16);
  *high = type == MMA_F16 ? f16_to_float(word >> 16) : as_float(word & 0xffff0000);
}

static void multiply(Fibre *warp, MmaType type) {
  float a[16][16], b[16][8], c[16][8];
  for (uint32_t l = 0; l < LANES; l++) {
    uint32_t g = l / 4, t = l % 4 * 2;
    const uint32_t *w = warp[l].words;
    for (uint32_t r = 0; r < 4; r++) {
      float *row = a[g + r % 2 * 8] + t + r / 2 * 8;
      mirage__warp_unpack(type, w[r], row, row + 1);
      c[g + r / 2 * 8][t + r % 2] = as_float(w[6 + r]);
    }
    for (uint32_t r = 0; r < 2; r++)
      mirage__warp_unpack(type, w[4 + r], &b[t + r * 8][g], &b[t + r * 8 + 1][g]);
  }
  for (uint32_t i = 0; i < 16; i++)
    for (uint32_t k = 0; k < 16; k++)
      for (uint32_t j = 0; j < 8; j++)
        c[i][j] += a[i][k] * b[k][j];
  for (uint32_t l = 0; l < LANES; l++) {
    uint32_t g = l / 4, t = l % 4 * 2;
    for (uint32_t r = 0; r < 4; r++)
      warp[l].words[r] = as_bits(c[g + r / 2 * 8][t + r % 2]);
  }
}

void mirage__warp_mma(Machine *m, uint32_t op, MmaType type, const uint32_t *operands, float *out) {
  Fibre *self = m->self;
  memcpy(self->words, operands, sizeof self->words);
  if (mirage__meeting_join(m, warp_meeting(m), LANES, type == MMA_F16 ? "mma f16" : "mma bf16", op)) {
    multiply(warp_lanes(m), type);
    mirage__meeting_release(m, warp_meeting(m));
  }
  memcpy(out, self->words, 4 * sizeof *out);
}
