// banks.c - how many cycles a warp's access to shared memory takes.
//
// Shared memory has 32 banks of 4 bytes. A warp's access is served in phases - all lanes at up to 4 bytes a lane, half
// of them at 8, a quarter at 16 -, and a phase takes as many cycles as the busiest bank has different words to give.
//
// Example: eight rows of 128 bytes, 16 bytes of each: all in the same four banks, eight cycles. With rows of 144 bytes,
//          or chunk numbers swizzled by the row, one cycle.
#include "banks.h"

enum { BANKS = 32, WORD = 4, MOST_WORDS = 64 };

// The row whose number a swizzle takes: short rows share a line of 128 bytes (MirageLayout).
static int64_t row_of_swizzle(const MirageType *type, int64_t row) {
  int64_t bytes = type->layout.strides[type->rank - 2] * mirage_dtype_bytes(type->dtype);
  return bytes > 0 && bytes < 128 ? row / (128 / bytes) : row;
}

static int64_t byte_of(const MirageType *type, const int64_t *index) {
  const MirageLayout *layout = &type->layout;
  int64_t linear = 0;
  for (uint32_t d = 0; d < type->rank; d++)
    linear += index[d] * layout->strides[d];
  linear *= mirage_dtype_bytes(type->dtype);
  if (layout->swizzle && type->rank >= 2)
    linear ^= row_of_swizzle(type, index[type->rank - 2]) % ((int64_t)1 << layout->swizzle) * 16;
  return linear;
}

// Cycles of one phase: words at first[i] .. first[i] + bytes of each lane.
static int64_t cycles_of_phase(uint32_t lanes, const int64_t *first, uint32_t bytes) {
  int64_t words[BANKS][MOST_WORDS], most = 1;
  uint32_t count[BANKS] = {0};
  for (uint32_t i = 0; i < lanes; i++)
    for (int64_t word = first[i] / WORD; word <= (first[i] + bytes - 1) / WORD; word++) {
      uint32_t bank = (uint32_t)(word % BANKS), known = 0;
      while (known < count[bank] && words[bank][known] != word)
        known++;
      if (known == count[bank] && known < MOST_WORDS)
        words[bank][count[bank]++] = word;
      most = (int64_t)count[bank] > most ? (int64_t)count[bank] : most;
    }
  return most;
}

int64_t mirage__bank_conflicts(const MirageType *type, uint32_t width, uint32_t lanes, const BankIndex *index) {
  uint32_t bytes = width * mirage_dtype_bytes(type->dtype), together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  int64_t lost = 0;
  for (uint32_t begin = 0; begin < lanes; begin += together) {
    int64_t first[BANK_LANES];
    uint32_t count = lanes - begin < together ? lanes - begin : together;
    for (uint32_t i = 0; i < count; i++)
      first[i] = byte_of(type, index[begin + i]);
    lost += cycles_of_phase(count, first, bytes) - 1;
  }
  return lost;
}

int64_t mirage__bank_conflicts_of_rows(const MirageType *type, const BankIndex *index) {
  int64_t first[8];
  for (uint32_t i = 0; i < 8; i++)
    first[i] = byte_of(type, index[i]);
  return cycles_of_phase(8, first, 16) - 1;
}
