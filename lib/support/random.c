// random.c - Philox 4x32-10: ten rounds of multiply, swap and add a key, on a 128-bit counter.
//
// The counter's low half counts draws, its high half is the stream, the key is the seed: all three are arguments, so
// any draw can be repeated by itself. test/unit/test_support.c checks the authors' known answers.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC '11.
#include "mirage/random.h"

#include <math.h>

enum { ROUNDS = 10, WORDS = 4 };

static const uint32_t MULTIPLIER[2] = {0xD2511F53u, 0xCD9E8D57u};
static const uint32_t WEYL[2] = {0x9E3779B9u, 0xBB67AE85u}; // golden ratio, sqrt(3) - 1

static void refill(MirageRandom *random) {
  uint32_t c[WORDS] = {(uint32_t)random->counter, (uint32_t)(random->counter >> 32), (uint32_t)random->stream,
                       (uint32_t)(random->stream >> 32)};
  uint32_t k0 = random->key[0], k1 = random->key[1];
  for (int round = 0; round < ROUNDS; round++, k0 += WEYL[0], k1 += WEYL[1]) {
    uint64_t p0 = (uint64_t)MULTIPLIER[0] * c[0], p1 = (uint64_t)MULTIPLIER[1] * c[2];
    uint32_t next[WORDS] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ k1,
                            (uint32_t)p0};
    for (int i = 0; i < WORDS; i++)
      c[i] = next[i];
  }
  for (int i = 0; i < WORDS; i++)
    random->buffer[i] = c[i];
  random->counter++;
  random->used = 0;
}

void mirage_random_init(MirageRandom *random, uint64_t seed, uint64_t stream) {
  *random = (MirageRandom){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}, .stream = stream, .used = WORDS};
}

uint64_t mirage_random_purpose(uint64_t seed, const char *purpose) {
  MirageRandom random;
  uint64_t name = UINT64_C(0xcbf29ce484222325); // FNV-1a
  for (const char *c = purpose; *c; c++)
    name = (name ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  mirage_random_init(&random, seed, name);
  return mirage_random_next(&random);
}

uint64_t mirage_random_next(MirageRandom *random) {
  if (random->used + 2 > WORDS)
    refill(random);
  uint64_t low = random->buffer[random->used], high = random->buffer[random->used + 1];
  random->used += 2;
  return low | high << 32;
}

uint64_t mirage_random_below(MirageRandom *random, uint64_t bound) {
  if (bound <= 1)
    return 0;
  uint64_t rest = (UINT64_MAX % bound + 1) % bound; // 2^64 mod bound: draws below it would favour small results
  uint64_t draw = mirage_random_next(random);
  while (draw < rest)
    draw = mirage_random_next(random);
  return draw % bound;
}

double mirage_random_normal(MirageRandom *random) {
  const double two_pi = 6.283185307179586476925;
  double radius =
      ((double)(mirage_random_next(random) >> 11) + 1.0) * 0x1p-53;    // (0, 1], so that the logarithm is finite
  double angle = (double)(mirage_random_next(random) >> 11) * 0x1p-53; // [0, 1)
  return sqrt(-2.0 * log(radius)) * cos(two_pi * angle);
}
