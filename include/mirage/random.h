// random.h - the seeded generator that everything random is drawn from. Never seeded from time or from an index.
//
// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC '11): counter-based, so stream `s`
// of seed `k` can be drawn anywhere, in any order, at any thread count.
#ifndef MIRAGE_RANDOM_H
#define MIRAGE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageRandom {
  uint32_t key[2];
  uint64_t stream;
  uint64_t counter;
  uint32_t buffer[4];
  uint32_t used; // words of buffer already handed out
} MirageRandom;

void mirage_random_init(MirageRandom *random, uint64_t seed, uint64_t stream);
/// The seed that `purpose` ("verify", "search", "guard", ...) draws from when the user gives `seed`: different purposes
/// share no draws, whatever their streams. `purpose` is text of the program, not of a user.
uint64_t mirage_random_purpose(uint64_t seed, const char *purpose);
uint64_t mirage_random_next(MirageRandom *random);
/// Uniform in [0, bound), without bias. bound >= 1.
uint64_t mirage_random_below(MirageRandom *random, uint64_t bound);
/// Standard normal (Box-Muller on 53-bit uniforms).
double mirage_random_normal(MirageRandom *random);

#ifdef __cplusplus
}
#endif
#endif
