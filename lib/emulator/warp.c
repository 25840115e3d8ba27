// warp.c - what the 32 lanes of a warp do together: exchange, matrix fragments, the matrix instruction.
//
// Every lane brings its operands; the last to come computes for all and leaves each its results. Fragment layouts are
// PTX's: lane 4 g + t of mma.m16n8k16 holds a: (g, 2t..), (g + 8, 2t..), (g, 2t + 8..), (g + 8, 2t + 8..) by pairs,
// b: (2t.., g), (2t + 8.., g) by pairs, c and d: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). Of bytes,
// mma.m16n8k32, four neighbours take the place of two.
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

static float e4m3_to_float(uint32_t byte) {
  uint32_t magnitude = byte & 0x7f;
  float value = magnitude == 0x7f ? as_float(0x7fc00000) : f16_to_float(magnitude << 7) * 256;
  return byte & 0x80 ? -value : value;
}

static float byte_to_float(MmaType type, uint32_t byte) {
  return type == MMA_S8 ? (float)(int8_t)byte : type == MMA_E4M3 ? e4m3_to_float(byte) : f16_to_float(byte << 8);
}

void mirage__warp_unpack(MmaType type, uint32_t word, float *out) {
  for (uint32_t i = 0; type >= MMA_S8 && i < 4; i++)
    out[i] = byte_to_float(type, word >> 8 * i & 0xff);
  for (uint32_t i = 0; type < MMA_S8 && i < 2; i++)
    out[i] = type == MMA_F16 ? f16_to_float(word >> 16 * i & 0xffff) : as_float(word >> 16 * i << 16);
}

uint32_t mirage__mma_add(MmaType type, uint32_t sum, float a, float b) {
  return type == MMA_S8 ? sum + (uint32_t)((int32_t)a * (int32_t)b) : as_bits(as_float(sum) + a * b);
}

// A register holds `per` neighbours along the contraction, of which there are 8 `per`.
static void multiply(Fibre *warp, MmaType type_a, MmaType type_b) {
  enum { MOST_DEPTH = 32 };
  float a[16][MOST_DEPTH], b[8][MOST_DEPTH];
  uint32_t c[16][8], per = mirage__mma_per_word(type_a);
  for (uint32_t l = 0; l < LANES; l++) {
    uint32_t g = l / 4, t = l % 4;
    const uint32_t *w = warp[l].words;
    for (uint32_t r = 0; r < 4; r++) {
      mirage__warp_unpack(type_a, w[r], a[g + r % 2 * 8] + (t + r / 2 * 4) * per);
      c[g + r / 2 * 8][2 * t + r % 2] = w[6 + r];
    }
    for (uint32_t r = 0; r < 2; r++)
      mirage__warp_unpack(type_b, w[4 + r], b[g] + (t + r * 4) * per);
  }
  for (uint32_t i = 0; i < 16; i++)
    for (uint32_t k = 0; k < 8 * per; k++)
      for (uint32_t j = 0; j < 8; j++)
        c[i][j] = mirage__mma_add(type_a, c[i][j], a[i][k], b[j][k]);
  for (uint32_t l = 0; l < LANES; l++) {
    uint32_t g = l / 4, t = l % 4 * 2;
    for (uint32_t r = 0; r < 4; r++)
      warp[l].words[r] = c[g + r / 2 * 8][t + r % 2];
  }
}

void mirage__warp_mma(Machine *m, uint32_t op, MmaType a, MmaType b, const uint32_t *operands, uint32_t *out) {
  static const char *const NAMES[] = {[MMA_F16] = "mma f16",
                                      [MMA_BF16] = "mma bf16",
                                      [MMA_S8] = "mma s8",
                                      [MMA_E4M3] = "mma e4m3",
                                      [MMA_E5M2] = "mma e5m2"};
  Fibre *self = m->self;
  memcpy(self->words, operands, sizeof self->words);
  if (mirage__meeting_join(m, warp_meeting(m), LANES, NAMES[a], op)) {
    multiply(warp_lanes(m), a, b);
    mirage__meeting_release(m, warp_meeting(m));
  }
  memcpy(out, self->words, 4 * sizeof *out);
}
