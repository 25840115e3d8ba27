// product_lanes.h - the inner loops of a product of matrices, once for each instruction set: product.c includes this
// with LANES (64-bit lanes of a register), EVEN and ODD (the even and odd lanes of two registers), TARGET (a function
// attribute) and NAME (a suffix) defined.
//
// The masks are no instructions: they tell the compiler that a product of 32-bit numbers will do.
//
// A sum of many 62-bit numbers is kept in two words a lane: `low`, the sum modulo 2^64, and `high`, the sum of all
// numbers' upper halves. With fewer than 2^32 numbers, low - high 2^32 (modulo 2^64) is the sum of the lower halves.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define Vector JOIN(Vector, NAME)
#define Halves JOIN(Halves, NAME)
#define Signed JOIN(Signed, NAME)

typedef uint64_t Vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef int64_t Signed __attribute__((vector_size(8 * LANES)));
typedef uint32_t Halves __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

// WIDTH columns of `count` rows, `stride` elements apart, into a panel; flags[c] |= the second words of column c.
TARGET static void JOIN(pack_, NAME)(size_t count, size_t stride, const MirageResidue *b, uint64_t *out,
                                     uint32_t *out_q, uint64_t *flags) {
  for (size_t h = 0; h < WIDTH; h += LANES) {
    Vector all = *(const Vector *)&flags[h];
    for (size_t l = 0; l < count; l++) {
      const Vector *words = (const Vector *)(b + l * stride + h);
      Vector p = __builtin_shufflevector(words[0], words[1], EVEN),
             second = __builtin_shufflevector(words[0], words[1], ODD);
      *(Vector *)&out[l * WIDTH + h] = (p & LOW_LIMB) | (p << 1 & ~LOW_HALF);
      *(Halves *)&out_q[l * WIDTH + h] = __builtin_convertvector(second, Halves);
      all |= second;
    }
    *(Vector *)&flags[h] = all;
  }
}

// sums[0..3) += the limb products of a row [count] and a panel [count][WIDTH]. count is a multiple of STEP.
TARGET static void JOIN(sum_p_, NAME)(size_t count, const Limbs *a, const uint64_t *b, Sums *sums) {
  for (size_t h = 0; h < WIDTH; h += LANES) {
    Vector low[3], high[3];
    for (int i = 0; i < 3; i++) {
      low[i] = *(const Vector *)&sums->low[i][h];
      high[i] = *(const Vector *)&sums->high[i][h];
    }
    for (size_t l = 0; l < count; l += STEP) {
      Vector s0 = {0}, s1[2] = {{0}, {0}}, s2 = {0};
#pragma clang loop unroll(full)
      for (size_t i = 0; i < STEP; i++) { // four products below 2^62 fit a lane; in the middle a term has two
        Vector y = *(const Vector *)&b[(l + i) * WIDTH + h], y0 = y & LOW_HALF, y1 = y >> 32;
        Vector x0 = ((Vector){0} + a[l + i].low) & LOW_HALF, x1 = ((Vector){0} + a[l + i].high) & LOW_HALF;
        s0 += x0 * y0;
        s1[i / 2] += x0 * y1;
        s1[i / 2] += x1 * y0;
        s2 += x1 * y1;
      }
      low[0] += s0, high[0] += s0 >> 32;
      low[1] += s1[0] + s1[1], high[1] += (s1[0] >> 32) + (s1[1] >> 32);
      low[2] += s2, high[2] += s2 >> 32;
    }
    for (int i = 0; i < 3; i++) {
      *(Vector *)&sums->low[i][h] = low[i];
      *(Vector *)&sums->high[i][h] = high[i];
    }
  }
}

// sums[3] += the same modulo q, whose residues have one limb.
TARGET static void JOIN(sum_q_, NAME)(size_t count, const Limbs *a, const uint32_t *b, Sums *sums) {
  for (size_t h = 0; h < WIDTH; h += LANES) {
    Vector low = *(const Vector *)&sums->low[3][h], high = *(const Vector *)&sums->high[3][h];
    for (size_t l = 0; l < count; l += STEP) {
      Vector s = {0};
#pragma clang loop unroll(full)
      for (size_t i = 0; i < STEP; i++)
        s += (((Vector){0} + a[l + i].q) & LOW_HALF) *
             __builtin_convertvector(*(const Halves *)&b[(l + i) * WIDTH + h], Vector);
      low += s, high += s >> 32;
    }
    *(Vector *)&sums->low[3][h] = low;
    *(Vector *)&sums->high[3][h] = high;
  }
}

// v modulo m, for v < 2 m < 2^63.
#define REDUCED(v, m) ((v) - (m) + ((m) & (Vector)((Signed)((v) - (m)) < 0)))
// The limb that makes the lowest limb of t + limb * m zero.
#define CANCEL(t, constants) (((((t) & LOW_LIMB) * ((constants)->negated_inverse & LOW_HALF)) & LOW_LIMB))

// WIDTH cells: reduced sums, mod p and, `with_q`, mod q. Montgomery reduction a limb at a time: three limbs off, times
// 2^155, two limbs off. Sums of fewer than 2^30 terms are below 2^154, so that every value here fits 64 bits.
TARGET static void JOIN(finish_, NAME)(const FieldLimbs *constants, bool with_q, const Sums *sums, uint64_t *out_p,
                                       uint64_t *out_q) {
  const LimbModulus *p = &constants->p, *q = &constants->q;
  for (size_t h = 0; h < WIDTH; h += LANES) {
    Vector limb[5] = {{0}, {0}, {0}, {0}, {0}}; // the sum = limb[0] + 2^31 limb[1] + 2^62 limb[2] + 2^93 limb[3]
    for (int i = 0; i < 3; i++) {
      Vector high = *(const Vector *)&sums->high[i][h], rest = *(const Vector *)&sums->low[i][h] - (high << 32);
      limb[i] += rest & LOW_LIMB;
      limb[i + 1] += ((high + (rest >> 32)) << 1) + (rest >> 31 & 1);
    }
    for (int i = 0; i < 3; i++) {
      Vector m = CANCEL(limb[i], p);
      limb[i + 1] += ((limb[i] + m * p->low) >> 31) + m * p->high;
    }
    Vector v = REDUCED(limb[3], p->value), v0 = v & LOW_LIMB, v1 = v >> 31;
    limb[0] = v0 * p->scale_low;
    limb[1] = v0 * p->scale_high + v1 * p->scale_low;
    limb[2] = v1 * p->scale_high;
    for (int i = 0; i < 2; i++) {
      Vector m = CANCEL(limb[i], p);
      limb[i + 1] += ((limb[i] + m * p->low) >> 31) + m * p->high;
    }
    *(Vector *)&out_p[h] = REDUCED(limb[2], p->value);
    if (!with_q)
      continue;
    Vector high = *(const Vector *)&sums->high[3][h], rest = *(const Vector *)&sums->low[3][h] - (high << 32);
    Vector low = rest & LOW_LIMB, w = ((high + (rest >> 32)) << 1) + (rest >> 31 & 1);
    w += (low + CANCEL(low, q) * q->low) >> 31;
    low = w & LOW_LIMB, w >>= 31;
    w += (low + CANCEL(low, q) * q->low) >> 31;
    w = REDUCED(w, 2 * q->value);
    w = REDUCED(w, q->value) * q->scale_low;
    w = (w + CANCEL(w, q) * q->low) >> 31;
    *(Vector *)&out_q[h] = REDUCED(w, q->value);
  }
}

#undef REDUCED
#undef CANCEL
#undef Signed
#undef Vector
#undef Halves
#undef JOIN
#undef JOIN_
#undef LANES
#undef EVEN
#undef ODD
#undef TARGET
#undef NAME
