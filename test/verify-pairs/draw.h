// draw.h - random numbers of the pairs: splitmix64, a stream for each pair, so that pair N is the same whoever makes
// it.
#ifndef PAIRS_DRAW_H
#define PAIRS_DRAW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Draw {
  uint64_t state;
} Draw;

static inline uint64_t draw_next(Draw *draw) {
  uint64_t z = draw->state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static inline Draw draw_of(uint64_t seed, uint64_t number, uint64_t use) {
  Draw draw = {seed * UINT64_C(0xD1342543DE82EF95) + use};
  draw.state = draw_next(&draw) + number;
  draw.state = draw_next(&draw);
  return draw;
}

/// 0 .. bound - 1; the bias of small bounds is below 2^-40.
static inline int draw_below(Draw *draw, int bound) { return (int)(draw_next(draw) % (uint64_t)bound); }
static inline bool draw_chance(Draw *draw, int percent) { return draw_below(draw, 100) < percent; }
static inline double draw_unit(Draw *draw) { return (double)(draw_next(draw) >> 11) * 0x1p-53; }

static inline double draw_normal(Draw *draw) {
  double u = draw_unit(draw) + 0x1p-54, v = draw_unit(draw);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

#define DRAW_FROM(draw, array) ((array)[draw_below((draw), (int)(sizeof(array) / sizeof *(array)))])

#endif
